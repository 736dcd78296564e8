"""What everything public keeps, whatever it computes; `test_contract.py` applies it to all.

Functions    `run_doctest` runs a docstring's examples with each array they pass made read-only,
             and sees that nothing passed changes, that the same call gives the same answer, and
             that a state once yielded is never written again. `wrong_for_small_types` calls it
             again with small integers, booleans and half precision, `takes_codes_for_signs` with
             labels 0 and 1 in place of -1 and +1.
Estimators   the checks listed in ESTIMATOR, each of which takes an unfitted estimator.
"""

import doctest
import importlib
import inspect
import pickle
import re
import warnings
from copy import deepcopy
from functools import partial, wraps
from itertools import islice, product
from numbers import Number
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
    run_examples(module, function, guarded, calls)
    return [called.__name__ for called, _, _ in calls].count(function.__name__)


def recorded_calls(module, function):
    """The calls of the function in its examples: (args, kwargs) each."""
    calls = []
    run_examples(module, function, recorded, calls)
    return [(args, kwargs) for called, args, kwargs in calls if called is function]


def run_examples(module, function, wrapper, calls):
    """Run the examples of a function's docstring, each public function wrapped."""
    names = {n: wrapper(f, calls) for _, n, f in public(inspect.isfunction, [module])}
    examples = doctest.DocTestFinder().find(
        function, function.__name__, module=module, globs=vars(module) | names
    )
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
    for example in examples:
        runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)


def recorded(function, calls):
    """The function, keeping a copy of what it is passed, unless that is used up."""

    @wraps(function)
    def call(*args, **kwargs):
        if repeatable((args, kwargs)):
            calls.append((function, *freeze((args, kwargs))))
        return function(*args, **kwargs)

    return call


def guarded(function, calls):
    """The function, keeping watch over its arguments and over what it yields."""

    @wraps(function)
    def call(*args, **kwargs):
        calls.append((function, args, kwargs))
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


SMALL_TYPES = (np.uint8, np.int8, np.bool_, np.float16)


def wrong_for_small_types(function, args, kwargs):
    """The small types for which a call does not give what the same numbers give in float64.

    The numbers are those of the call if they are whole, and larger ones of which sums, differences
    and squares leave the range of a byte.
    """
    wrong = []
    for small in SMALL_TYPES:
        for change in (np.asarray, lambda a: np.round(37 * np.abs(a)) % 120):
            narrow = [in_type(given, small, change) for given in (args, kwargs)]
            if not any(is_array(value) for value in leaves(narrow)):
                continue
            reference = outcome(function, *rebuilt(narrow, partial(widen, kind=np.float64)))
            if reference is None and small in (np.uint8, np.int8):  # indices and counts
                reference = outcome(function, *rebuilt(narrow, partial(widen, kind=np.int64)))
            if reference is None:
                continue
            result = outcome(function, *narrow)
            if result is None or not alike(result, reference):
                wrong.append(np.dtype(small).name)
    return wrong


def is_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub"


def leaves(thing):
    """What nested tuples, lists and dicts hold."""
    if isinstance(thing, tuple | list):
        return [leaf for each in thing for leaf in leaves(each)]
    if isinstance(thing, dict):
        return leaves(list(thing.values()))
    return [thing]


def in_type(thing, small, change):
    """The same call with its arrays changed and in a small type, if they are of whole numbers."""
    if not is_array(thing):
        return rebuilt(thing, lambda each: in_type(each, small, change))
    with np.errstate(all="ignore"):
        changed = np.asarray(change(thing), dtype=np.float64)
        narrow = changed.astype(small)
    return narrow if np.array_equal(narrow.astype(np.float64), changed) else thing


def widen(thing, kind):
    """The same call with its arrays of small types in double precision, or in whole numbers."""
    if not is_array(thing):
        return rebuilt(thing, partial(widen, kind=kind))
    return thing.astype(kind) if thing.dtype in SMALL_TYPES else thing


def outcome(function, args, kwargs):
    """What a call gives, of an algorithm its first states; None for an error or nonsense."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*args, **kwargs)
            return list(islice(result, 3)) if hasattr(result, "__next__") else result
        except Exception:  # a wrong number of any kind may end in any error
            return None


def alike(ours, theirs):
    """Whether two results hold the same numbers."""
    ours, theirs = leaves([ours]), leaves([theirs])
    if len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, np.ndarray | Number) and isinstance(other, np.ndarray | Number):
            one, other = np.asarray(one), np.asarray(other)
            if one.dtype.kind in "OUS":
                continue
            if one.shape != other.shape:
                return False
            if not np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True):
                return False
    return True


LABELS_OF_ANY_KIND = {"weighted_error", "best_stump"}  # compared with predictions, not multiplied


def takes_codes_for_signs(function, args, kwargs):
    """Whether a call with labels -1 and +1 is answered for labels 0 and 1 as well, otherwise."""
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    labels = given.get("y")
    if function.__name__ in LABELS_OF_ANY_KIND:
        return False
    if not (is_array(labels) and set(labels.flat) == {-1, 1}):
        return False
    codes = given | {"y": (labels + 1) / 2}
    before, after = (outcome(function, (), values) for values in (given, codes))
    return after is not None and before is not None and not alike(before, after)


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
        with pytest.raises((ValueError, TypeError), match=re.escape(message)) as refusal:
            fit(estimator, bad, labels)
        assert "np." not in str(refusal.value)
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


UNITS = {
    "KernelDensity": lambda x, y, w: {"bandwidth": x},
    "SpectralClustering": lambda x, y, w: {"gamma": x**-2},
    "GaussianMixture": lambda x, y, w: {"reg_covar": x**2},
    "BernoulliNB": lambda x, y, w: {"alpha": w},
    "CategoricalNB": lambda x, y, w: {"alpha": w},
    "Ridge": lambda x, y, w: {"alpha": x**2 * w},
    "Lasso": lambda x, y, w: {"alpha": x * y},
    "LogisticRegression": lambda x, y, w: {"C": x**-2 / w},
    "KernelRidge": lambda x, y, w: {"alpha": x**2},
    "SVC": lambda x, y, w: {"C": 1 / w},
    "L2SVC": lambda x, y, w: {"C": 1 / w},
    "LinearSVC": lambda x, y, w: {"C": x**-2 / w},
    "SVR": lambda x, y, w: {"C": y / w, "epsilon": y, "tol": y},
    "L2SVR": lambda x, y, w: {"C": 1 / w, "epsilon": y, "tol": y},
    "NuSVR": lambda x, y, w: {"C": y / w},
}  # how the parameters that have a unit change with the units of X, y and the weights
BIASED = ("Perceptron", "Adaline")  # a constant input of 1 stands beside the features
TRAINED = ("MLPClassifier", "MLPRegressor", "ConvNet", "Autoencoder")  # X has to be scaled first
POWERS = (-490, -60, 60, 490)


def takes_weights(estimator):
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def units_do_not_matter(estimator):
    name = type(estimator).__name__
    if name in TRAINED:
        pytest.skip("the unit of its weights is set by their random start")
    axes = "x" * (not getattr(estimator, "takes_codes", False))
    axes += "y" * isinstance(estimator, base.Regressor) + "w" * takes_weights(estimator)
    if name in BIASED:
        estimator = deepcopy(estimator).set_params(fit_intercept=False)
    if getattr(estimator, "max_iter", 0) == -1:
        estimator = deepcopy(estimator).set_params(max_iter=10_000)
    model = in_units(estimator)
    for axis, power in product(axes, POWERS):
        try:
            other = in_units(estimator, **{axis: 2.0**power})
        except ValueError as refusal:
            assert re.search("must lie within|use another unit", str(refusal))
            continue
        for key, value in model.items():
            np.testing.assert_allclose(
                other[key], value, rtol=1e-6, atol=1e-6, err_msg=f"{key}, {axis} times 2^{power}"
            )


def in_units(estimator, x=1.0, y=1.0, w=1.0):
    """What an estimator finds in data of other units, in terms that have no unit."""
    parameters = UNITS.get(type(estimator).__name__, lambda x, y, w: {})(x, y, w)
    scaled = {k: getattr(estimator, k) * factor for k, factor in parameters.items()}
    X, targets = sample(estimator)
    X = x * X
    targets = y * targets if isinstance(estimator, base.Regressor) else targets
    weights = {"sample_weight": w * (1 + np.arange(60) % 3)} if takes_weights(estimator) else {}
    model = fit(deepcopy(estimator).set_params(**scaled), X, targets, **weights)
    found = {"converged": getattr(model, "converged_", True)}
    if hasattr(model, "labels_"):
        found["labels"] = model.labels_[:, None] == model.labels_
    if asks_for_targets(model):
        found["score"] = model.score(X, targets, *weights.values())
    for key, value in answers(model, X).items():
        if key == "predict" and isinstance(model, base.Regressor):
            found[key] = value / y
        elif key == "predict":
            found[key] = value[:, None] == value
        elif key == "score_samples":
            found[key] = value - value[0]  # the unit of a density is a constant in its logarithm
        elif key == "transform":
            found[key] = value / np.max(np.abs(value))
        elif key == "predict_proba":
            found[key] = value
    return found


def a_sample_of_weight_zero_is_absent(estimator):
    if not takes_weights(estimator) or hasattr(estimator, "bootstrap"):
        pytest.skip("it takes no weights, or draws samples by their number")
    X, y = sample(estimator)
    strange = X[:7] if getattr(estimator, "takes_codes", False) else 50 * X[:7]
    labels = (
        1e4 if isinstance(estimator, base.Regressor) else np.repeat(["cedar", "willow"], [5, 2])
    )
    X_all, y_all = np.vstack([X, strange]), np.append(y, np.broadcast_to(labels, 7))
    weights = np.append(np.ones(60), np.zeros(7))
    model, full = fit(estimator, X, y), fit(estimator, X_all, y_all, sample_weight=weights)
    same(answers(full, X), answers(model, X), rtol=1e-6, atol=1e-8)
    assert full.score(X_all, y_all, weights) == pytest.approx(model.score(X, y), rel=1e-9)


def parameters_set_after_fit_change_no_answer(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    before = answers(model, X)
    model.set_params(**dict.fromkeys(model.get_params(deep=False), Nonsense()))
    same(answers(model, X), before, rtol=0, atol=0)


def a_column_of_labels_is_read_as_labels(estimator):
    if not asks_for_targets(estimator):
        pytest.skip("it takes no labels")
    X, y = sample(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        column = deepcopy(estimator).fit(X, y[:, None])
    assert any(issubclass(one.category, base.DataConversionWarning) for one in caught)
    same(answers(column, X), answers(fit(estimator, X, y), X), rtol=0, atol=0)


def masked_entries_are_refused(estimator):
    X, y = sample(estimator)
    masked = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 4)
    model = fit(estimator, X, y)
    for call in (lambda: fit(estimator, masked, y), lambda: answers(model, masked)):
        if answers(model, X):
            with pytest.raises(ValueError, match="X must hold no masked entries; got 1"):
                call()
    if asks_for_targets(estimator):
        with pytest.raises(ValueError, match="y must hold no masked entries; got 2"):
            fit(estimator, X, np.ma.masked_array(y, mask=np.arange(60) < 2))


def score_is_its_definition(estimator):
    X, y = sample(estimator)
    model, weights = fit(estimator, X, y), 1.0 + np.arange(60) % 3
    if asks_for_labels(estimator):
        y = np.roll(y, 5)  # so that some are wrong
        assert model.score(X, y) == np.mean(model.predict(X) == y)
        expected = weights @ (model.predict(X) == y) / weights.sum()
    elif asks_for_targets(estimator):
        mean, f = weights @ y / weights.sum(), model.predict(X)
        expected = 1 - weights @ (y - f) ** 2 / (weights @ (y - mean) ** 2)
    else:
        pytest.skip("it is not scored by labels or targets")
    assert model.score(X, y, weights) == pytest.approx(expected, rel=1e-12)


def fit_predict_gives_the_labels(estimator):
    if not isinstance(estimator, base.Clusterer):
        pytest.skip("it finds no clusters")
    X, _ = sample(estimator)
    np.testing.assert_array_equal(
        deepcopy(estimator).fit_predict(X), fit(estimator, X, None).labels_
    )


def what_was_transformed_comes_back(estimator):
    if not hasattr(estimator, "inverse_transform") or type(estimator).__name__ == "Autoencoder":
        pytest.skip("it has no way back, or an approximate one")
    if hasattr(estimator, "fit_inverse_transform"):
        estimator = deepcopy(estimator).set_params(fit_inverse_transform=True, alpha=1e-9)
    X, y = sample(estimator)
    for shift in (0.0, 2.0**20):
        model = fit(estimator, X + shift, y)
        back = model.inverse_transform(model.transform(X + shift))
        np.testing.assert_allclose(back - shift, X, atol=1e-6)


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
    units_do_not_matter,
    a_sample_of_weight_zero_is_absent,
    parameters_set_after_fit_change_no_answer,
    a_column_of_labels_is_read_as_labels,
    masked_entries_are_refused,
    score_is_its_definition,
    fit_predict_gives_the_labels,
    what_was_transformed_comes_back,
    training_samples_are_predicted_their_labels,
    history_has_the_objective_of_every_state,
]
