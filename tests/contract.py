"""What everything public keeps, whatever it computes; `test_contract.py` applies it to all.

Functions    `run_doctest` runs a docstring's examples with each array they pass made read-only,
             and sees that nothing passed changes, that the same call gives the same answer, and
             that a state once yielded is never written again.
Estimators   the checks listed in ESTIMATOR, each of which takes an unfitted estimator.
"""

import doctest
import importlib
import inspect
import pickle
import re
import warnings
from copy import deepcopy
from functools import wraps
from pathlib import Path

import numpy as np
import pytest

import mlnotes
from mlnotes import base
from mlnotes.reading import public_names

NAMES = np.array(["ash", "birch", "cedar"])
SHARED = ("base", "numerics", "plotting", "datasets")  # modules that are no chapters
QUERIES = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform",
    "score_samples",
)  # fmt: skip


# --- What there is ---------------------------------------------------------------------


def modules():
    """Every module of the package that exists, in reading order."""
    folder = Path(mlnotes.__file__).parent
    names = [name for name in (*SHARED, *mlnotes.CHAPTERS) if (folder / f"{name}.py").exists()]
    return [importlib.import_module(f"mlnotes.{name}") for name in names]


def public(kind, among=None):
    """(module, name, object) of the public names for which `kind` holds."""
    found = [(m, n, getattr(m, n, None)) for m in among or modules() for n in public_names(m)]
    return [(m, n, thing) for m, n, thing in found if kind(thing)]


def is_estimator(thing):
    """Whether it is an estimator to use: one with a `fit`, which the classes of base lack."""
    return inspect.isclass(thing) and issubclass(thing, base.Estimator) and hasattr(thing, "fit")


def estimators():
    """One of each public estimator, reproducible."""
    made = [thing() for _, _, thing in public(is_estimator)]
    return [m.set_params(random_state=0) if hasattr(m, "random_state") else m for m in made]


# --- Functions -------------------------------------------------------------------------


def run_doctest(module, function):
    """Run the examples of a function's docstring under guard.

    Returns: how many calls of the function they made. Raises: AssertionError with what failed.
    """
    calls = []
    names = {n: guarded(f, calls) for _, n, f in public(inspect.isfunction, [module])}
    examples = doctest.DocTestFinder().find(
        function, function.__name__, module=module, globs=vars(module) | names
    )
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
    for example in examples:
        runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)
    return calls.count(function.__name__)


def guarded(function, calls):
    """The function, keeping watch over its arguments and over what it yields."""

    @wraps(function)
    def call(*args, **kwargs):
        calls.append(function.__name__)
        given = freeze((args, kwargs))
        before = snapshot(given)
        result = function(*given[0], **given[1])
        if inspect.isgenerator(result):
            return watched(result, given, before)
        assert snapshot(given) == before, f"{function.__name__} changed what it was passed"
        if repeatable(given):
            again = function(*given[0], **given[1])
            assert snapshot(again) == snapshot(result), f"{function.__name__} does not repeat"
        return result

    return call


def watched(states, given, before):
    """The states of an algorithm, each compared with what it was at every later step."""
    kept = []
    for state in states:
        kept.append((state, snapshot(state)))
        yield state
        assert all(snapshot(old) == as_yielded for old, as_yielded in kept), "a state was rewritten"
        assert snapshot(given) == before, "an algorithm changed what it was passed"


def freeze(thing):
    """The same thing with read-only copies of the arrays in it."""
    if isinstance(thing, np.ndarray):
        copy = thing.copy(order="K")
        copy.setflags(write=False)
        return copy
    return rebuilt(thing, freeze)


def snapshot(thing):
    """What is in it, comparable with ==."""
    if isinstance(thing, np.ndarray):
        return (
            thing.shape,
            thing.dtype.str,
            thing.tolist() if thing.dtype == object else (thing.tobytes()),
        )
    if isinstance(thing, float) and np.isnan(thing):
        return "nan"
    if isinstance(thing, np.random.Generator):
        return "a source of random numbers, which using it changes"
    if inspect.isfunction(thing):
        return thing.__code__  # of a function that a function returns
    if hasattr(thing, "__dict__") and not callable(thing):
        return type(thing), snapshot(vars(thing))
    return rebuilt(thing, snapshot)


def rebuilt(thing, each):
    """Tuples, lists and dicts with `each` applied to what they hold; anything else as it is."""
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return type(thing)(*map(each, thing))
    if isinstance(thing, tuple | list):
        return type(thing)(map(each, thing))
    if isinstance(thing, dict):
        return {key: each(value) for key, value in thing.items()}
    return thing


def repeatable(given):
    """Whether a second call with the same arguments must give the same: none is used up."""
    if isinstance(given, tuple | list):
        return all(map(repeatable, given))
    if isinstance(given, dict):
        return all(map(repeatable, given.values()))
    return not isinstance(given, np.random.Generator) and not hasattr(given, "__next__")


# --- Data for an estimator of any kind -------------------------------------------------


def sample(estimator, seed=0):
    """Three groups of 20 samples in three dimensions, and y as the kind of estimator wants it.

    One that says it ``takes_codes`` gets categories, 0 and 1, in place of amounts.
    """
    rng = np.random.default_rng(seed)
    if getattr(estimator, "takes_codes", False):
        flipped = rng.random((60, 3)) < 0.03
        return (np.repeat(np.eye(3), 20, axis=0) != flipped).astype(float), np.repeat(NAMES, 20)
    centers = 4 * np.array([[1.0, 0, 0], [-1, 1, 0], [0, -1, 1]])
    X = np.repeat(centers, 20, axis=0) + rng.normal(size=(60, 3))
    if isinstance(estimator, base.Regressor):
        return X, X @ [1.0, -2.0, 0.5] + 3 + 0.1 * rng.normal(size=60)
    return X, np.repeat(NAMES, 20)


def fit(estimator, X, y, **how):
    """A fitted copy; what it warns of is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return deepcopy(estimator).fit(X, y, **how)


def answers(model, X):
    """What the fitted model says of X, by method."""
    return {name: getattr(model, name)(X) for name in QUERIES if hasattr(model, name)}


def same(ours, theirs, **tolerance):
    """Assert that two sets of answers agree: numbers closely, labels exactly."""
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, theirs[name], err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(value, theirs[name], err_msg=name)


def fitted(model):
    """The fitted attributes, comparable."""
    return pickle.dumps({k: v for k, v in sorted(vars(model).items()) if k.endswith("_")})


def asks_for_labels(estimator):
    return isinstance(estimator, base.Classifier)


def asks_for_targets(estimator):
    return isinstance(estimator, base.Classifier | base.Regressor)


# --- Estimators ------------------------------------------------------------------------


def fit_returns_self_and_leaves_parameters_and_inputs_alone(estimator):
    X, y = sample(estimator)
    X.setflags(write=False)
    y.setflags(write=False)
    before, model = estimator.get_params(), deepcopy(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, y) is model
    assert model.get_params() == before
    answers(model, X)


def fit_again_is_the_same(estimator):
    X, y = sample(estimator)
    once, twice = fit(estimator, X, y), fit(estimator, *sample(estimator, seed=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice.fit(X, y)
    assert fitted(once) == fitted(twice)


def equal_random_states_give_equal_results(estimator):
    X, y = sample(estimator)
    if hasattr(estimator, "random_state"):
        seeded = [
            deepcopy(estimator).set_params(random_state=np.random.default_rng(7)) for _ in "ab"
        ]
        assert fitted(fit(seeded[0], X, y)) == fitted(fit(seeded[1], X, y))
    assert fitted(fit(estimator, X, y)) == fitted(fit(estimator, X, y))


def answering_learns_nothing(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    before = pickle.dumps(vars(model))
    answers(model, X[:7])
    assert pickle.dumps(vars(model)) == before


def answers_are_sample_by_sample(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    each = [answers(model, x[None]) for x in X]
    stacked = {name: np.concatenate([a[name] for a in each]) for name in each[0]} if each else {}
    same(answers(model, X), stacked, rtol=1e-9, atol=1e-9)


def order_of_the_samples_is_irrelevant(estimator):
    if hasattr(estimator, "random_state"):
        pytest.skip("it draws samples by their number")
    if hasattr(estimator, "tol"):
        estimator = deepcopy(estimator).set_params(tol=1e-9)
    X, y = sample(estimator)
    order = np.random.default_rng(3).permutation(len(X))
    model, shuffled = fit(estimator, X, y), fit(estimator, X[order], y[order])
    if isinstance(estimator, base.Clusterer):
        pairs = model.labels_[order][:, None] == model.labels_[order]
        assert (pairs == (shuffled.labels_[:, None] == shuffled.labels_)).all()
    else:
        same(answers(model, X), answers(shuffled, X), rtol=1e-5, atol=1e-6)


def pickled_is_the_same(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    again = pickle.loads(pickle.dumps(model))
    same(answers(model, X), answers(again, X), rtol=0, atol=0)
    assert repr(again) == repr(model)


def float32_and_lists_are_computed_in_float64(estimator):
    X, y = sample(estimator)
    single = X.astype(np.float32)
    double = fit(estimator, single.astype(float), y)
    assert fitted(fit(estimator, single, y)) == fitted(double)
    from_lists = fit(estimator, single.tolist(), y.tolist())
    same(answers(from_lists, single.tolist()), answers(double, single), rtol=1e-12)


def any_labels_of_two_classes_or_more_will_do(estimator):
    if not asks_for_labels(estimator):
        pytest.skip("it takes no labels")
    X, y = sample(estimator)
    for K in (2, 3):
        rows = np.isin(y, NAMES[:K])
        words = fit(estimator, X[rows], y[rows])
        assert list(words.classes_) == list(NAMES[:K]) and words.score(X[rows], y[rows]) > 0.9
        numbers = fit(estimator, X[rows], np.searchsorted(NAMES, y[rows]) * 7 - 3)
        np.testing.assert_array_equal(NAMES[(numbers.predict(X) + 3) // 7], words.predict(X))


def weights_of_samples_are_repetitions(estimator):
    if "sample_weight" not in inspect.signature(estimator.fit).parameters:
        pytest.skip("it takes no sample_weight")
    X, y = sample(estimator)
    same(
        answers(fit(estimator, X, y, sample_weight=np.ones(len(X))), X),
        answers(fit(estimator, X, y), X),
        rtol=1e-7,
        atol=1e-9,
    )
    for bad, message in (
        (np.ones(3), "sample_weight must have shape (60,); got (3,)"),
        (-np.ones(60), "sample_weight must be >= 0"),
        (np.zeros(60), "not zero everywhere"),
        (np.full(60, np.nan), "sample_weight must be finite"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            fit(estimator, X, y, sample_weight=bad)


BAD_X = (
    ([[1.0, 2.0], [np.nan, 1.0]], "X must be finite; it contains NaN or infinity 1 time"),
    ([[1.0, 2.0], [np.inf, 1.0]], "X must be finite; it contains NaN or infinity 1 time"),
    ([1.0, 2.0], "X must be a 2-D array, a sample per row; got 1-D of shape (2,)"),
    (3.0, "X must be a 2-D array, a sample per row; got 0-D"),
    (np.ones((2, 2, 2)), "X must be a 2-D array, a sample per row; got 3-D of shape (2, 2, 2)"),
    (np.empty((0, 2)), "X has no sample"),
    (np.empty((2, 0)), "X has no feature"),
    ([["a"], ["b"]], "X must hold numbers; got the text 'a' in column 0"),
    ([[1j], [2.0]], "Complex data not supported"),
)
BAD_Y = (
    (np.zeros((60, 2)), "y should be a 1d array; got shape (60, 2)"),
    (np.zeros(59), "same length; got 60 samples, 59 of y"),
    (np.full(60, np.nan), "y must be finite"),
    (None, "requires y"),
)
BAD_LABELS = (
    (np.ones(60), "y must hold at least 2 classes; got 1 class"),
    (np.linspace(0, 1, 60), "Unknown label type"),
)


def bad_input_is_refused_with_the_rule_and_what_was_got(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    for bad, message in BAD_X:
        labels = y[: np.shape(bad)[0]] if np.ndim(bad) else y[:1]
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            fit(estimator, bad, labels)
        for name in answers(model, X):
            with pytest.raises((ValueError, TypeError), match=re.escape(message)):
                getattr(model, name)(bad)
    bad_y = BAD_Y * asks_for_targets(estimator) + BAD_LABELS * asks_for_labels(estimator)
    for bad, message in bad_y:
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            fit(estimator, X, bad)


def a_failed_fit_leaves_no_fitted_estimator(estimator):
    X, y = sample(estimator)
    model = deepcopy(estimator)
    with pytest.raises((ValueError, TypeError)):
        model.fit(np.full_like(X, np.nan), y)
    for name in QUERIES:
        if hasattr(model, name):
            with pytest.raises(base.NotFittedError, match="is not fitted yet"):
                getattr(model, name)(X)


def use_before_fit_or_with_other_features_is_refused(estimator):
    X, y = sample(estimator)
    model, name = fit(estimator, X, y), type(estimator).__name__
    for method in answers(model, X):
        with pytest.raises(base.NotFittedError, match=f"This {name} is not fitted yet"):
            getattr(deepcopy(estimator), method)(X)
        with pytest.raises(ValueError, match=f"X has 2 features, but {name} is expecting 3"):
            getattr(model, method)(X[:, :2])


class Nonsense:
    """Not a value of any hyperparameter."""

    def __repr__(self):
        return "nonsense"


def nonsense_is_refused_for_every_parameter_by_its_name(estimator):
    X, y = sample(estimator)
    for name in estimator.get_params(deep=False):
        with pytest.raises((ValueError, TypeError), match=rf"\b{name} must .*nonsense"):
            fit(deepcopy(estimator).set_params(**{name: Nonsense()}), X, y)


def repr_is_the_call_that_makes_it(estimator):
    made = eval(repr(estimator), {type(estimator).__name__: type(estimator)})
    assert repr(made) == repr(estimator)
    assert type(estimator)().get_params().keys() == estimator.get_params().keys()


def docstring_names_every_parameter_and_fitted_attribute(estimator):
    text = inspect.getdoc(type(estimator))
    module = inspect.getmodule(type(estimator))
    for relative in re.findall(r"Those of `(\w+)`", text):
        text += "\n" + inspect.getdoc(getattr(module, relative))
    model = fit(estimator, *sample(estimator))
    attributes = [k for k in vars(model) if k.endswith("_") and not k.startswith("_")]
    optional = {"n_features_in_", "feature_names_in_"}  # every estimator has them
    for name in {*estimator.get_params(), *attributes} - optional:
        assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", text, flags=re.M), name
    for section in ("Parameters", "Attributes"):
        assert re.search(rf"^{section}\n-+$", text, flags=re.M), section
    assert ">>> " in text


def training_samples_are_predicted_their_labels(estimator):
    if not (isinstance(estimator, base.Clusterer) and hasattr(estimator, "predict")):
        pytest.skip("it predicts no clusters")
    for scale in (2.0**-450, 1.0, 2.0**450):
        for shift in (0.0, 2.0**30):  # far from 0
            X = scale * (sample(estimator)[0] + shift)
            model = fit(estimator, X, None)
            np.testing.assert_array_equal(model.predict(X), model.labels_)


def history_has_the_objective_of_every_state(estimator):
    model = fit(estimator, *sample(estimator))
    if not hasattr(model, "history_"):
        pytest.skip("it does not iterate")
    several = model.history_ if isinstance(model.history_, list) else [model.history_]
    assert max(len(history) for history in several) == model.n_iter_ + 1
    assert all(np.isfinite(history).all() for history in several)
    assert isinstance(model.converged_, bool)


ESTIMATOR = [
    fit_returns_self_and_leaves_parameters_and_inputs_alone,
    fit_again_is_the_same,
    equal_random_states_give_equal_results,
    answering_learns_nothing,
    answers_are_sample_by_sample,
    order_of_the_samples_is_irrelevant,
    pickled_is_the_same,
    float32_and_lists_are_computed_in_float64,
    any_labels_of_two_classes_or_more_will_do,
    weights_of_samples_are_repetitions,
    bad_input_is_refused_with_the_rule_and_what_was_got,
    a_failed_fit_leaves_no_fitted_estimator,
    use_before_fit_or_with_other_features_is_refused,
    nonsense_is_refused_for_every_parameter_by_its_name,
    repr_is_the_call_that_makes_it,
    docstring_names_every_parameter_and_fitted_attribute,
    training_samples_are_predicted_their_labels,
    history_has_the_objective_of_every_state,
]
