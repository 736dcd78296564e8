"""What everything public keeps, whatever it computes; `test_contract.py` applies it to all.

Functions    `calls_in_examples` runs a docstring's examples with each array they pass made
             read-only, and sees that nothing passed changes, that the same call gives the same
             answer, and that a state once yielded is never written again. `in_small_types` repeats
             a call with small integers, booleans and half precision, `with_codes` with labels 0
             and 1 in place of -1 and +1.
Estimators   the checks listed in ESTIMATOR, each of which takes an unfitted estimator.
"""

import doctest
import importlib
import inspect
import pickle
import re
import warnings
from copy import deepcopy
from functools import cache, partial, wraps
from itertools import islice, product
from math import inf, nan
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


@cache
def calls_in_examples(module, function):
    """Run the examples of a function's docstring, each public function of its module guarded.

    Returns: the calls of the function in them, (args, kwargs) each. Raises: AssertionError with
    what failed.
    """
    calls = []
    names = {n: guarded(f, calls) for _, n, f in public(inspect.isfunction, [module])}
    examples = doctest.DocTestFinder().find(
        function, function.__name__, module=module, globs=vars(module) | names
    )
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
    for example in examples:  # functions in the calls need their globals later
        runner.run(example, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)
    return [(args, kwargs) for called, args, kwargs in calls if called is function]


def guarded(function, calls):
    """The function, keeping its calls and watch over its arguments and over what it yields."""

    @wraps(function)
    def call(*args, **kwargs):
        given = freeze((args, kwargs))
        calls.append((function, *given))
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
NO_OTHER_NUMBERS = {
    "cut_dendrogram": "a table of merges is none with other numbers",
    "impute": "its mask must be boolean",
    **dict.fromkeys(["semidefinite", "nearly_definite", "check_varies"], "it says no"),
}  # functions that are not compared in small types, and why


def in_small_types(function, args, kwargs):
    """The small types in which a call was compared with the same numbers in float64.

    The numbers are those of the call if they are whole, and larger ones of which sums, differences
    and squares leave the range of a byte. Where float64 has no answer, there is nothing to compare.

    Returns: the names of the types by whether the answers are alike.
    """
    compared = {True: [], False: []}
    for small, change in product(SMALL_TYPES, (np.asarray, larger)):
        narrow = [in_type(given, small, change) for given in (args, kwargs)]
        if not any(is_array(value) and value.dtype == small for value in leaves(narrow)):
            continue
        wide = [np.float64, np.int64] if small in (np.uint8, np.int8) else [np.float64]
        references = (outcome(function, *rebuilt(narrow, partial(widen, kind=k))) for k in wide)
        reference = next((one for one in references if one is not None), None)  # int64: indices
        if reference is not None:
            result = outcome(function, *narrow)
            right = result is not None and alike(result, reference)
            compared[right].append(np.dtype(small).name)
    return compared


def larger(a):
    """Numbers up to 119, of which few are equal."""
    return np.round(37 * np.abs(a)) % 120


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
            return first_states(function(*args, **kwargs))
        except Exception:  # a wrong number of any kind may end in any error
            return None


def first_states(result):
    """The first states of an algorithm; another result as it is."""
    return list(islice(result, 3)) if hasattr(result, "__next__") else result


def alike(ours, theirs, rtol=1e-9, atol=1e-12):
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
            if not np.allclose(one, other, rtol, atol, equal_nan=True):
                return False
    return True


LABELS_OF_ANY_KIND = {"weighted_error", "best_stump"}  # compared with predictions, not multiplied


def with_codes(function, args, kwargs):
    """What a call with labels y = -1 and +1 gives if the labels are 0 and 1.

    Returns: "refused", "alike" or "otherwise"; None for a call without such labels.
    """
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    labels = given.get("y")
    if function.__name__ in LABELS_OF_ANY_KIND:
        return None
    if not (is_array(labels) and set(labels.flat) == {-1, 1}):
        return None
    before = outcome(function, (), given)
    assert before is not None, "a call of the examples fails"
    try:
        after = first_states(function(**given | {"y": (labels + 1) / 2}))
    except ValueError as refusal:
        assert re.search(r"labels (must be )?-1 (and \+|or )1", str(refusal)), refusal
        return "refused"
    return "alike" if alike(before, after) else "otherwise"


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


def same(ours, theirs, rule, **tolerance):
    """Assert that two sets of answers agree, as the rule says: numbers closely, labels exactly."""
    assert ours.keys() == theirs.keys(), rule
    for name, value in ours.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, theirs[name], err_msg=f"{name}: {rule}", **tolerance)
        else:
            np.testing.assert_array_equal(value, theirs[name], err_msg=f"{name}: {rule}")


def refused(words, call, *args, error=(ValueError, TypeError), **kwargs):
    """Assert that a call is refused in words in which the regular expression is found."""
    rule = "to be refused as: " + words.replace("\\", "")
    try:
        call(*args, **kwargs)
    except error as refusal:
        assert re.search(words, str(refusal)), f"{rule}; got: {refusal}"
        assert "np." not in str(refusal), f"a message for people; got: {refusal}"
    else:
        raise AssertionError(f"{rule}; was accepted")


def fitted(model):
    """The fitted attributes, comparable."""
    return pickle.dumps({k: v for k, v in sorted(vars(model).items()) if k.endswith("_")})


def exact(estimator):
    """A copy that stops late, so that only rounding is left."""
    return deepcopy(estimator).set_params(**{"tol": 1e-9} if hasattr(estimator, "tol") else {})


def asks_for_labels(estimator):
    return isinstance(estimator, base.Classifier)


def asks_for_targets(estimator):
    return isinstance(estimator, base.Classifier | base.Regressor)


def takes_weights(estimator):
    return "sample_weight" in inspect.signature(estimator.fit).parameters


# --- Estimators ------------------------------------------------------------------------


def fit_returns_self_and_leaves_parameters_and_inputs_alone(estimator):
    X, y = sample(estimator)
    X.setflags(write=False)
    y.setflags(write=False)
    before, model = estimator.get_params(), deepcopy(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert model.fit(X, y) is model, "fit returns self"
            answers(model, X)
        except ValueError as error:
            raise AssertionError(f"no argument is written into; got {error}") from error
    assert model.get_params() == before, "no parameter is changed by fit"


def fit_again_is_the_same(estimator):
    X, y = sample(estimator)
    once, twice = fit(estimator, X, y), fit(estimator, *sample(estimator, seed=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice.fit(X, y)
    assert fitted(once) == fitted(twice), "nothing stays of an earlier fit"


def equal_random_states_give_equal_results(estimator):
    if not hasattr(estimator, "random_state"):
        pytest.skip("it draws nothing")
    X, y = sample(estimator)
    sources = [np.random.default_rng(7) for _ in "ab"]
    one, other = (fit(deepcopy(estimator).set_params(random_state=s), X, y) for s in sources)
    assert fitted(one) == fitted(other), "equal random states give equal results"


def answering_learns_nothing(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    before = pickle.dumps(vars(model))
    answers(model, X[:7])
    assert pickle.dumps(vars(model)) == before, "no answer changes the estimator"


def answers_are_sample_by_sample(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    each = [answers(model, x[None]) for x in X]
    stacked = {name: np.concatenate([a[name] for a in each]) for name in each[0]} if each else {}
    same(answers(model, X), stacked, "a sample's answer is its own", rtol=1e-9, atol=1e-9)


def order_of_the_samples_is_irrelevant(estimator):
    if hasattr(estimator, "random_state"):
        pytest.skip("it draws samples by their number")
    X, y = sample(estimator)
    order, rule = np.random.default_rng(3).permutation(len(X)), "samples have no order"
    model, shuffled = (fit(exact(estimator), X[i], y[i]) for i in (np.arange(60), order))
    if isinstance(estimator, base.Clusterer):
        pairs = model.labels_[order][:, None] == model.labels_[order]
        assert (pairs == (shuffled.labels_[:, None] == shuffled.labels_)).all(), rule
    else:
        same(answers(model, X), answers(shuffled, X), rule, rtol=1e-5, atol=1e-6)


def pickled_is_the_same(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    again = pickle.loads(pickle.dumps(model))
    same(answers(model, X), answers(again, X), "pickled it is the same", rtol=0, atol=0)
    assert repr(again) == repr(model), "pickled it is the same"


def float32_and_lists_are_computed_in_float64(estimator):
    X, y = sample(estimator)
    single = X.astype(np.float32)
    double = fit(estimator, single.astype(float), y)
    assert fitted(fit(estimator, single, y)) == fitted(double), "float32 is computed in float64"
    lists = fit(estimator, single.tolist(), y.tolist())
    ours, theirs = answers(lists, single.tolist()), answers(double, single)
    same(ours, theirs, "lists are computed in float64", rtol=1e-12)


def any_labels_of_two_classes_or_more_will_do(estimator):
    if not asks_for_labels(estimator):
        pytest.skip("it takes no labels")
    X, y = sample(estimator)
    for K in (2, 3):
        rows = np.isin(y, NAMES[:K])
        words = fit(estimator, X[rows], y[rows])
        assert list(words.classes_) == list(NAMES[:K]), "classes_ has the labels in order"
        assert words.score(X[rows], y[rows]) > 0.9, "labels are learnt"
        numbers = fit(estimator, X[rows], np.searchsorted(NAMES, y[rows]) * 7 - 3)
        named = NAMES[(numbers.predict(X) + 3) // 7]
        assert (named == words.predict(X)).all(), "numbers are as good as words"


def weights_of_samples_are_repetitions(estimator):
    """A weight of 2 is the sample twice, one of 0 is its absence; also without an offset."""
    if not takes_weights(estimator):
        pytest.skip("it takes no sample_weight")
    X, y = sample(estimator)
    for bad, words in (
        (np.ones(3), r"sample_weight must have shape \(60,\); got \(3,\)"),
        (-np.ones(60), "sample_weight must be >= 0"),
        (np.zeros(60), "sample_weight must .* not zero everywhere"),
        (np.full(60, np.nan), "sample_weight must be finite"),
    ):
        refused(words, fit, estimator, X, y, sample_weight=bad)
    estimator, tolerance = exact(estimator), {"rtol": 1e-7, "atol": 1e-9}
    ones = fit(estimator, X, y, sample_weight=np.ones(60))
    same(answers(ones, X), answers(fit(estimator, X, y), X), "no weight is weight 1", **tolerance)
    if hasattr(estimator, "bootstrap"):  # a draw is of samples, whatever their weights
        estimator.set_params(bootstrap=False)
    weights, rule = np.arange(60) % 3, "weights are repetitions"
    rows = np.repeat(np.arange(60), weights)
    cases = [(estimator, X)]
    if hasattr(estimator, "fit_intercept"):  # and with more features than samples
        wide = np.hstack([X, np.random.default_rng(1).normal(size=(60, 90))])
        cases += [(deepcopy(estimator).set_params(fit_intercept=False), X), (estimator, wide)]
    for model, X in cases:
        weighted, repeated = fit(model, X, y, sample_weight=weights), fit(model, X[rows], y[rows])
        same(answers(weighted, X), answers(repeated, X), rule, **tolerance)
        score, expected = weighted.score(X, y, weights), repeated.score(X[rows], y[rows])
        assert score == pytest.approx(expected, rel=1e-9), f"score: {rule}"
        for name in {k for k in vars(weighted) if k.endswith("_")} - COUNTS_OF_SAMPLES:
            ours, theirs = getattr(weighted, name), getattr(repeated, name)
            assert alike(ours, theirs, **tolerance), f"{name}: {rule}"


COUNTS_OF_SAMPLES = set(
    """certificate_ certificates_ dual_coef_ estimators_samples_ history_ n_iter_ n_support_
    support_ support_vectors_ tree_""".split()
)  # fitted attributes that tell samples apart, or the steps of an algorithm that does

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
        refused(re.escape(message), fit, estimator, bad, labels)
        for name in answers(model, X):
            refused(re.escape(message), getattr(model, name), bad)
    bad_y = BAD_Y * asks_for_targets(estimator) + BAD_LABELS * asks_for_labels(estimator)
    for bad, message in bad_y:
        refused(re.escape(message), fit, estimator, X, bad)


def a_failed_fit_leaves_no_fitted_estimator(estimator):
    X, y = sample(estimator)
    model = deepcopy(estimator)
    refused("X must be finite", model.fit, np.full_like(X, np.nan), y)
    for name in QUERIES:
        if hasattr(model, name):
            refused("is not fitted yet", getattr(model, name), X, error=base.NotFittedError)


def use_before_fit_or_with_other_features_is_refused(estimator):
    X, y = sample(estimator)
    model, name = fit(estimator, X, y), type(estimator).__name__
    for method in answers(model, X):
        unfitted, words = getattr(deepcopy(estimator), method), f"This {name} is not fitted yet"
        refused(words, unfitted, X, error=base.NotFittedError)
        words = f"X has 2 features, but {name} is expecting 3"
        refused(words, getattr(model, method), X[:, :2])


class Nonsense:
    """Not a value of any hyperparameter."""

    def __repr__(self):
        return "nonsense"


def nonsense_is_refused_for_every_parameter_by_its_name(estimator):
    X, y = sample(estimator)
    for name in estimator.get_params(deep=False):
        nonsense = deepcopy(estimator).set_params(**{name: Nonsense()})
        refused(rf"\b{name} must .*nonsense", fit, nonsense, X, y)


REFUSED = {  # what a refusal says: bad values, and the hyperparameters of which it says so
    "an integer >= 1": ((0, 2.5, True), """batch_size degree k max_depth max_features max_iter
        min_samples_leaf n_clusters n_estimators n_init n_iter_no_change
        n_neighbors"""),
    "an integer >= 2": ((1, 2.5), "min_samples_split"),
    "integers >= 1": (((5, 0), (2.5,), 2.5), "hidden_layer_sizes"),
    "None, an integer >= 1": ((0, [0, 2, 2], [1, 2]), "min_categories"),
    "(None, )?an integer (>= 1|from 1)": ((0, -1, 1.0, 2.5, True, nan, "mle"), "n_components"),
    "at most": ((61,), "n_clusters"),
    "a number": ((nan,), "binarize"),
    "a number > 0": ((0, nan), "C cache_size eta0 nu reg_covar"),
    "a number > 0 and < inf": ((0, nan, inf), "gamma learning_rate_init"),
    "(a number > 0|one of 'scale', 'auto', None)": (("another",), "gamma"),
    "a number > 0 and < 1": ((0, 1, nan), "validation_fraction"),
    "a number > 0 and < 1e.150": ((0, 1e150, nan), "learning_rate"),
    "a number > 1e-150 and < 1e.150": ((0, -1.0, inf, nan, None), "bandwidth"),
    "a number >= 0": ((-1e-9, nan), "ccp_alpha shrinkage var_smoothing"),
    "a number >= 0 and < inf": ((-1e-9, inf, nan), "alpha coef0 noise_level sparsity"),
    "a number >= 0 and < 1": ((-1e-9, 1, nan), "beta_1 beta_2 momentum"),
    "a number >=? 0": ((-1e-9, nan), "tol"),
    "a number >=? 0 and < inf": ((-1e-9, inf, nan), "epsilon"),
    "a number >= 1": ((0.9, nan), "p"),
    "a number between 0 and 1": ((-0.1, 1.1, nan), "reg_param"),
    ">= 0 with the sum 1": (([-0.1, 0.6, 0.5], [0.5, 0.5, 0.1]), "class_prior priors"),
    "True or False": ((1, "yes"), """bootstrap early_stopping fit_intercept fit_inverse_transform
        nesterovs_momentum normalized oob_score shuffle whiten with_mean with_std"""),
    "one of '.*'": (("another", ("another",)), """activation covariance_type criterion
        decision_function_shape fun init_params kernel linkage metric solver svd_solver weights"""),
    "(one of )?'.*'": (("another",), "bandwidth init"),
    "one of None, '.*'": (("another",), "max_features noise"),
    ">= 0": ((-1,), "random_state"),
    "None, an int or a numpy Generator": (("another", 1.5), "random_state"),
    "None or have fit and predict": ((KeyError,), "estimator"),
    "a function of X and y": (("another",), "score_func"),
    "a tuple such as": ((("relu",), "relu"), "layers"),
    "None, .height, width. or": (((6,), (2, 4)), "image_shape"),
}  # fmt: skip
REFUSED_IN_ITS_CHAPTER = {"actions", "log_densities", "loss"}


def hyperparameters_known():
    return {
        name for _, names in REFUSED.values() for name in names.split()
    } | REFUSED_IN_ITS_CHAPTER


def hyperparameters_out_of_range_are_refused_by_their_rule(estimator):
    X, y = sample(estimator)
    names = {*estimator.get_params(deep=False)}
    unknown = names - hyperparameters_known()
    assert not unknown, f"REFUSED has every hyperparameter; not {unknown}"
    for rule, (values, of) in REFUSED.items():
        for name, bad in product(names.intersection(of.split()), values):
            got = "" if isinstance(bad, list) else re.escape(repr(bad))
            wrong = deepcopy(estimator).set_params(**{name: bad})
            refused(f"^{name} must be {rule}.*; got {got}", fit, wrong, X, y)


def repr_is_the_call_that_makes_it(estimator):
    kind = type(estimator)
    assert repr(kind()) == f"{kind.__name__}()", "repr leaves defaults out"
    changed = kind(**{name: f"another {name}" for name in estimator.get_params(deep=False)})
    made = eval(repr(changed), {kind.__name__: kind})
    assert made.get_params() == changed.get_params(), "repr is the call that makes it"


def docstring_names_every_parameter_and_fitted_attribute(estimator):
    text = inspect.getdoc(type(estimator))
    module = inspect.getmodule(type(estimator))
    for relative in re.findall(r"Those of `(\w+)`", text):
        text += "\n" + inspect.getdoc(getattr(module, relative))
    model = fit(estimator, *sample(estimator))
    attributes = [k for k in vars(model) if k.endswith("_") and not k.startswith("_")]
    optional = {"n_features_in_", "feature_names_in_"}  # every estimator has them
    for name in {*estimator.get_params(), *attributes} - optional:
        named = re.search(rf"^(\w+, )*{name}(, \w+)* : ", text, flags=re.M)
        assert named, f"{name} is in the docstring"
    for section in ("Parameters", "Attributes"):
        assert re.search(rf"^{section}\n-+$", text, flags=re.M), f"{section} has its section"
    assert ">>> " in text, "the docstring has an example"


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
EACH = set(
    """AdaBoostClassifier BaggingClassifier BaggingRegressor BayesClassifier DecisionTreeClassifier
    DecisionTreeRegressor LinearDiscriminantAnalysis LinearRegression
    QuadraticDiscriminantAnalysis RandomForestClassifier RandomForestRegressor
    SharedCovarianceClassifier StandardScaler""".split()
)  # each feature may have a unit of its own
POWERS = (-490, -60, 60, 490)


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
    model, powers = in_units(estimator), [*product(axes, POWERS)]
    powers += [("x", np.array([300, -60, 0]))] * (name in EACH)
    for axis, power in powers:  # none is refused: squares stay finite
        other, told = in_units(estimator, **{axis: 2.0**power}), f"{axis} times 2^{power}"
        for key, value in model.items():
            np.testing.assert_allclose(
                other[key], value, rtol=1e-6, atol=1e-6, err_msg=f"{key} has no unit: {told}"
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


ORIGIN = {"Perceptron", "Adaline", "KernelRidge", "SelectKBest", *TRAINED}  # where it matters
FAR = 2.0**30


def the_origin_does_not_matter(estimator):
    """Where X is measured from: samples of ten binary places, so that none is rounded far away."""
    if type(estimator).__name__ in ORIGIN or getattr(estimator, "takes_codes", False):
        pytest.skip("its answers hang on the origin")
    X, y = sample(estimator)
    X, rule = np.round(X * 2**10) / 2**10, "the origin does not matter"
    near, far = (fit(exact(estimator), X + shift, y) for shift in (0.0, FAR))
    same(answers(far, X + FAR), answers(near, X), rule, rtol=1e-6, atol=1e-6)
    if isinstance(estimator, base.Clusterer):
        assert (far.labels_ == near.labels_).all(), f"labels_: {rule}"


def a_sample_of_weight_zero_is_absent(estimator):
    """Even far from the others, with a target of another size or a label of its own."""
    if not takes_weights(estimator):
        pytest.skip("it takes no weights")
    X, y = sample(estimator)
    strange = X[:7] if getattr(estimator, "takes_codes", False) else 50 * X[:7]
    labels = (
        1e4 if isinstance(estimator, base.Regressor) else np.repeat(["cedar", "willow"], [5, 2])
    )
    X_all, y_all = np.vstack([X, strange]), np.append(y, np.broadcast_to(labels, 7))
    weights, rule = np.append(np.ones(60), np.zeros(7)), "a sample of weight 0 is absent"
    model, full = fit(estimator, X, y), fit(estimator, X_all, y_all, sample_weight=weights)
    same(answers(full, X), answers(model, X), rule, rtol=1e-6, atol=1e-8)
    score = full.score(X_all, y_all, weights)
    assert score == pytest.approx(model.score(X, y), rel=1e-9), f"score: {rule}"
    if asks_for_labels(estimator):
        assert list(full.classes_) == list(model.classes_), f"classes_: {rule}"


def parameters_set_after_fit_change_no_answer(estimator):
    X, y = sample(estimator)
    model = fit(estimator, X, y)
    before = answers(model, X)
    model.set_params(**dict.fromkeys(model.get_params(deep=False), Nonsense()))
    same(answers(model, X), before, "fit alone reads parameters", rtol=0, atol=0)


def a_column_of_labels_is_read_as_labels(estimator):
    if not asks_for_targets(estimator):
        pytest.skip("it takes no labels")
    X, y = sample(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        column = deepcopy(estimator).fit(X, y[:, None])
    told = any(issubclass(one.category, base.DataConversionWarning) for one in caught)
    assert told, "who passes a column is told"
    ours, theirs = answers(column, X), answers(fit(estimator, X, y), X)
    same(ours, theirs, "a column is read as labels", rtol=0, atol=0)


def masked_entries_are_refused(estimator):
    X, y = sample(estimator)
    masked = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 4)
    model, words = fit(estimator, X, y), "X must hold no masked entries; got 1"
    refused(words, fit, estimator, masked, y)
    for name in answers(model, X):
        refused(words, getattr(model, name), masked)
    if asks_for_targets(estimator):
        hidden = np.ma.masked_array(y, mask=np.arange(60) < 2)
        refused("y must hold no masked entries; got 2", fit, estimator, X, hidden)


def score_is_its_definition(estimator):
    if not asks_for_targets(estimator):
        pytest.skip("it is not scored by labels or targets")
    X, y = sample(estimator)
    model, weights = fit(estimator, X, y), 1.0 + np.arange(60) % 3
    y, f = np.roll(y, 5), model.predict(X)  # some are wrong
    for w, given in ((np.ones(60), {}), (weights, {"sample_weight": weights})):
        if asks_for_labels(estimator):
            expected = w @ (f == y) / w.sum()
        else:
            expected = 1 - w @ (y - f) ** 2 / (w @ (y - w @ y / w.sum()) ** 2)
        told = "score is its definition, with weights" if given else "score is its definition"
        assert model.score(X, y, **given) == pytest.approx(expected, rel=1e-12), told


def fit_predict_gives_the_labels(estimator):
    if not isinstance(estimator, base.Clusterer):
        pytest.skip("it finds no clusters")
    X, _ = sample(estimator)
    labels = deepcopy(estimator).fit_predict(X)
    assert (labels == fit(estimator, X, None).labels_).all(), "fit_predict gives labels_"


def what_was_transformed_comes_back(estimator):
    if not hasattr(estimator, "inverse_transform") or type(estimator).__name__ == "Autoencoder":
        pytest.skip("it has no way back, or an approximate one")
    if hasattr(estimator, "fit_inverse_transform"):
        estimator = deepcopy(estimator).set_params(fit_inverse_transform=True, alpha=1e-9)
    X, y = sample(estimator)
    for shift in (0.0, 2.0**20):
        model = fit(estimator, X + shift, y)
        back = model.inverse_transform(model.transform(X + shift))
        np.testing.assert_allclose(back - shift, X, atol=1e-6, err_msg="it comes back")


def training_samples_are_predicted_their_labels(estimator):
    if not (isinstance(estimator, base.Clusterer) and hasattr(estimator, "predict")):
        pytest.skip("it predicts no clusters")
    for scale in (2.0**-450, 1.0, 2.0**450):
        for shift in (0.0, 2.0**30):  # far from 0
            X = scale * (sample(estimator)[0] + shift)
            model = fit(estimator, X, None)
            assert (model.predict(X) == model.labels_).all(), "predict gives labels_"


def history_has_the_objective_of_every_state(estimator):
    model = fit(estimator, *sample(estimator))
    if not hasattr(model, "history_"):
        pytest.skip("it does not iterate")
    several = model.history_ if isinstance(model.history_, list) else [model.history_]
    length = max(len(history) for history in several)
    assert length == model.n_iter_ + 1, "history_ has the start and every step"
    assert all(np.isfinite(history).all() for history in several), "history_ is finite"
    assert isinstance(model.converged_, bool), "converged_ is True or False"


WHY_CUT = r"(because max_iter = 1 is reached; \w+ = \S+, .* <=? \S+: |before \d+ in a row)"


def a_warning_tells_once_of_a_fit_cut_short_and_of_no_other(estimator):
    parameters = estimator.get_params(deep=False)
    if "max_iter" not in parameters:
        pytest.skip("it does not iterate")
    short = {"max_iter": 1} | ({"tol": 1e-12} if "tol" in parameters else {})
    for how in (short, {}):
        model = deepcopy(estimator).set_params(**how)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(*sample(estimator))
        told = [(one.category, one.filename) for one in caught]  # of the line that called fit
        cut = [] if model.converged_ else [(base.shared(base.ConvergenceWarning), __file__)]
        assert told == cut, "a fit cut short is told once"
        words = rf"^{type(model).__name__} stopped after {np.max(model.n_iter_)} iterations, {{}}"
        for one in caught:
            assert re.search(words.format(WHY_CUT), str(one.message)), one.message


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
    hyperparameters_out_of_range_are_refused_by_their_rule,
    repr_is_the_call_that_makes_it,
    docstring_names_every_parameter_and_fitted_attribute,
    units_do_not_matter,
    the_origin_does_not_matter,
    a_sample_of_weight_zero_is_absent,
    parameters_set_after_fit_change_no_answer,
    a_column_of_labels_is_read_as_labels,
    masked_entries_are_refused,
    score_is_its_definition,
    fit_predict_gives_the_labels,
    what_was_transformed_comes_back,
    training_samples_are_predicted_their_labels,
    history_has_the_objective_of_every_state,
    a_warning_tells_once_of_a_fit_cut_short_and_of_no_other,
]
