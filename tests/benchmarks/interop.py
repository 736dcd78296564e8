"""Every public estimator among scikit-learn's tools (`make interop`; needs the extra `bench`).

The estimators are found: each `Estimator` in the contents list of a chapter that can be fitted.
What needs pandas is skipped where it is not installed.
"""

import importlib
import inspect
import os
import pickle
import re
from importlib.util import find_spec
from itertools import takewhile
from numbers import Real

os.environ["SCIPY_ARRAY_API"] = "1"  # without it scikit-learn skips some of its checks

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.utils import all_estimators, estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlnotes import CHAPTERS
from mlnotes.base import Estimator, NotFittedError
from mlnotes.reading import public_names

pytestmark = pytest.mark.filterwarnings("ignore")

MACHINES = "SVC", "NuSVC", "SVR", "NuSVR"
FORESTS = "RandomForestClassifier", "RandomForestRegressor"
# class: hyperparameters for what scikit-learn feeds it, and why the defaults refuse that
CHECKED_WITH = {
    # samples in a hyperplane, whose normal law has no density
    "QuadraticDiscriminantAnalysis": {"reg_param": 0.1},
    "SharedCovarianceClassifier": {"reg_param": 0.1},
    # one check asks for the way back, which is learnt on demand
    "KernelPCA": {"fit_inverse_transform": True},
    # with bootstrap sets a weighted sample is drawn more often, and a repeated one otherwise; and
    # repeated samples make other nodes the largest, which draw their features first
    **{kind: {"bootstrap": False, "max_features": None} for kind in FORESTS},
    # weights and repetitions, compared to more digits than their default tolerance gives; and
    # nu = 1/2 is too much for some unequal classes
    **{kind: {"tol": 1e-9} for kind in ("SVC", "L2SVC", "SVR", "NuSVR", "L2SVR")},
    "NuSVC": {"tol": 1e-9, "nu": 0.2},
}
UNWEIGHTED = (
    "KMeans", "KernelDensity", "KernelRidge", "MLPClassifier", "MLPRegressor", "StandardScaler",
)  # fmt: skip
# class: scikit-learn's checks that it cannot pass, and why
FAILS = {
    kind: {"check_sample_weight_equivalence_on_dense_data": "the draws differ: see the forests"}
    for kind in ("BaggingClassifier", "BaggingRegressor")
} | {"PCA": {"check_array_api_input": "fewer samples than features leave C singular: no density"}}
# (class, parameter): why its default is not that of scikit-learn's class of the same name
OTHER_DEFAULTS = {
    ("Lasso", "tol"): "the duality gap is then no larger than where theirs stops",
    ("LogisticRegression", "tol"): "at 1e-4 theta is still off in the fourth digit",
    ("SelectKBest", "score_func"): "mutual information, as in the notes, and not an F-test",
    ("RandomForestRegressor", "max_features"): "None for all, where scikit-learn has the share 1.0",
    **{(kind, "cache_size"): "enough for 10,000 samples" for kind in MACHINES},
}
# (class, method): why it is missing, or does not take what scikit-learn's takes
NOT_THERE = {
    ("BaggingClassifier", "decision_function"): "a vote has probabilities",
    ("KMeans", "score"): "neither the notes nor a course weights its samples",
    ("Perceptron", "fit"): "a repeated sample may be a mistake twice in a pass, a weighted one not",
    **{(kind, "predict_proba"): "a machine has scores" for kind in ("SVC", "NuSVC")},
    **{
        (kind, fit): "neither the notes nor a course weights its samples"
        for kind in UNWEIGHTED
        for fit in ("fit", "fit_predict", "fit_transform")
    },
}
# (class, attribute): why its shape is not that of scikit-learn's
OTHER_SHAPES = {
    ("DecisionTreeClassifier", "tree_"): "arrays to read, where scikit-learn has an object",
    ("DecisionTreeRegressor", "tree_"): "arrays to read, where scikit-learn has an object",
    **{(kind, "n_iter_"): "that of the longest run, as everywhere" for kind in ("SVC", "NuSVC")},
}

ROUNDING = 1e-9
PER_STEP = {"lower_bounds_", "loss_curve_"}  # as long as the run, which may differ
METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
MORE_METHODS = (
    "fit_predict",
    "fit_transform",
    "inverse_transform",
    "score",
    "sample",
    "aic",
    "bic",
)


def public_estimators():
    """An estimator of every kind that the chapters offer, with its defaults and a fixed seed."""
    for chapter in CHAPTERS:
        if find_spec(f"mlnotes.{chapter}"):
            module = importlib.import_module(f"mlnotes.{chapter}")
            named = (getattr(module, name) for name in public_names(module))
            yield from (seeded(kind) for kind in named if is_estimator(kind))


def is_estimator(kind):
    return inspect.isclass(kind) and issubclass(kind, Estimator) and hasattr(kind, "fit")


def seeded(kind):
    return kind(random_state=0) if "random_state" in defaults(kind) else kind()


def defaults(kind):
    """The parameters of an estimator as ``__init__`` declares them."""
    return dict(list(inspect.signature(kind.__init__).parameters.items())[1:])


ESTIMATORS = list(public_estimators())
NAMESAKES = [(e, dict(all_estimators()).get(type(e).__name__)) for e in ESTIMATORS]
NAMESAKES = [(ours, theirs) for ours, theirs in NAMESAKES if theirs is not None]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
with_a_namesake = pytest.mark.parametrize(
    ("ours", "theirs"), NAMESAKES, ids=[type(ours).__name__ for ours, _ in NAMESAKES]
)


def kind_of(estimator):
    """The kind that scikit-learn sees in its tags; what has none must transform."""
    kind = get_tags(estimator).estimator_type
    assert kind or hasattr(estimator, "transform"), f"{estimator} is of no kind"
    return kind or "transformer"


def data_for(estimator):
    """Samples and labels, or targets for a regressor."""
    load = load_diabetes if kind_of(estimator) == "regressor" else load_iris
    return load(return_X_y=True)


def fitted(estimator):
    return clone(estimator).fit(*data_for(estimator))


def results(model, X):
    """What the model says of the samples, by every method that it has."""
    return {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}


def assert_same_results(model, other, X, X_other=None):
    ours, others = results(model, X), results(other, X if X_other is None else X_other)
    assert ours.keys() == others.keys()
    for name, mine in ours.items():
        if mine.dtype.kind == "f":  # the layout of an array may change the order of a sum
            np.testing.assert_allclose(mine, others[name], rtol=ROUNDING, atol=ROUNDING)
        else:
            np.testing.assert_array_equal(mine, others[name])


# --- scikit-learn's own checks ---------------------------------------------------------


@parametrize_with_checks(
    [clone(e).set_params(**CHECKED_WITH.get(type(e).__name__, {})) for e in ESTIMATORS],
    expected_failed_checks=lambda estimator: FAILS.get(type(estimator).__name__, {}),
)
def test_check_estimator(estimator, check):
    check(estimator)


def more_checks(estimator):
    """What scikit-learn runs on its own estimators only."""
    yield "n_features_in_after_fitting"
    if kind_of(estimator) == "clusterer":
        yield from ("clustering", "clusterer_compute_labels_predict")
        yield "non_transformer_estimators_n_iter"


@pytest.mark.parametrize(
    ("estimator", "check"), [(e, check) for e in ESTIMATORS for check in more_checks(e)], ids=str
)
def test_more_checks(estimator, check):
    getattr(estimator_checks, f"check_{check}")(type(estimator).__name__, clone(estimator))


# --- Parameters, copies, data frames ---------------------------------------------------


@every
def test_clone_keeps_the_parameters_and_forgets_the_fit(estimator):
    model = fitted(estimator)
    copy = clone(model)
    assert copy is not model and copy.get_params() == estimator.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    for method in METHODS:
        if hasattr(copy, method):
            with pytest.raises(NotFittedError):
                getattr(copy, method)(data_for(estimator)[0])


@every
def test_repr_is_the_call_that_makes_it(estimator):
    kind = type(estimator)
    for model in (kind(), clone(estimator).set_params(**changed(estimator))):
        again = eval(repr(model), {kind.__name__: kind})
        assert again.get_params() == model.get_params()
    assert repr(kind()) == f"{kind.__name__}()"
    assert kind.__name__ in repr(make_pipeline(StandardScaler(), estimator))
    assert kind.__name__ in make_pipeline(StandardScaler(), estimator)._repr_html_()


@every
def test_parameters_round_trip(estimator):
    params = estimator.get_params()
    model = clone(estimator)
    assert set(params) == set(defaults(type(estimator)))
    assert model.set_params(**params) is model and model.get_params() == params
    pipeline = make_pipeline(StandardScaler(), model)
    for name in params:
        mark = object()
        pipeline.set_params(**{f"{pipeline.steps[-1][0]}__{name}": mark})
        assert model.get_params()[name] is mark and getattr(model, name) is mark
    with pytest.raises(ValueError, match=f"{type(model).__name__} has no parameter 'no_such'"):
        model.set_params(no_such=1)


@every
def test_a_pickled_model_says_the_same(estimator):
    X, _ = data_for(estimator)
    model = fitted(estimator)
    again = pickle.loads(pickle.dumps(model))
    assert vars(again).keys() == vars(model).keys()
    assert_same_results(model, again, X)


@every
def test_data_frames_are_read_and_their_columns_remembered(estimator):
    pandas = pytest.importorskip("pandas")
    X, y = data_for(estimator)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    model, plain = clone(estimator).fit(frame, pandas.Series(y)), fitted(estimator)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert not hasattr(plain, "feature_names_in_")
    assert_same_results(model, plain, frame, X)
    for method in results(model, X):
        with pytest.raises(ValueError, match="feature names should match"):
            getattr(model, method)(frame[frame.columns[::-1]])


# --- Pipelines and searches ------------------------------------------------------------


def changed(estimator):
    """Another value for the first hyperparameter that is a number or a switch, if there is one."""
    for name, value in estimator.get_params().items():
        if isinstance(value, bool):
            return {name: not value}
        if isinstance(value, Real) and name != "random_state":
            return {name: value + 1 if isinstance(value, int) else value / 2}
    return {}


def takes_codes(estimator):
    """Whether features are categories to it, of which amounts lose much."""
    return getattr(estimator, "takes_codes", False)


def preparation(estimator):
    """What comes before the estimator: a scaler, or bins where it takes categories."""
    bins = KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf")
    return bins if takes_codes(estimator) else StandardScaler()


def pipeline_of(estimator):
    """The estimator behind its preparation; a transformer is followed by a classifier."""
    last = [LogisticRegression()] if kind_of(estimator) == "transformer" else []
    return make_pipeline(preparation(estimator), clone(estimator), *last)


@every
def test_a_pipeline_is_its_steps_one_by_one(estimator):
    X, y = data_for(estimator)
    scaled = preparation(estimator).fit_transform(X)
    pipeline = make_pipeline(preparation(estimator), clone(estimator))
    if kind_of(estimator) == "clusterer":
        labels = pipeline.fit_predict(X)
        np.testing.assert_array_equal(labels, clone(estimator).fit_predict(scaled))
    assert_same_results(pipeline.fit(X, y), clone(estimator).fit(scaled, y), X, scaled)


@every
def test_cross_validation_and_grid_search(estimator):
    X, y = data_for(estimator)
    pipeline = pipeline_of(estimator)
    if not hasattr(pipeline, "score"):
        pytest.skip("no score: it cannot judge samples that it was not fitted to")
    scores = cross_val_score(pipeline, X, y, error_score="raise")
    assert np.isfinite(scores).all()
    scoring = {"classifier": "accuracy", "regressor": "r2"}.get(kind_of(estimator))
    if scoring:
        np.testing.assert_allclose(cross_val_score(pipeline, X, y, scoring=scoring), scores)
    if kind_of(estimator) == "classifier":
        assert scores.mean() > (0.6 if takes_codes(estimator) else 0.8)

    step = pipeline.steps[1][0]
    grid = {
        f"{step}__{name}": [getattr(estimator, name), other]
        for name, other in changed(estimator).items()
    }
    search = GridSearchCV(pipeline, grid, error_score="raise").fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(scores.mean())
    assert_same_results(search, clone(pipeline).set_params(**search.best_params_).fit(X, y), X)


# --- In the place of scikit-learn's class of the same name -----------------------------


@with_a_namesake
def test_parameters_have_the_defaults_of_the_namesake(ours, theirs):
    name, mine, known = type(ours).__name__, defaults(type(ours)), defaults(theirs)
    for parameter in mine.keys() & known.keys():
        same = repr(mine[parameter].default) == repr(known[parameter].default)
        assert same != ((name, parameter) in OTHER_DEFAULTS), (
            f"{mine[parameter]}, scikit-learn has {known[parameter]}"
        )


@with_a_namesake
def test_positional_arguments_are_those_of_the_namesake(ours, theirs):
    """Of scikit-learn's all that come before the first one we do not have."""

    def positional(kind):
        return [p.name for p in defaults(kind).values() if p.kind is p.POSITIONAL_OR_KEYWORD]

    mine = defaults(type(ours))
    assert positional(type(ours)) == list(takewhile(mine.__contains__, positional(theirs)))


@with_a_namesake
def test_methods_are_there_and_take_the_arguments_of_the_namesake(ours, theirs):
    name, kind = type(ours).__name__, type(ours)
    for method in ("fit", *METHODS, *MORE_METHODS):
        if not hasattr(theirs, method) or (name, method) in NOT_THERE:
            continue
        assert hasattr(kind, method), f"scikit-learn's has {method}"
        mine, known = arguments(getattr(kind, method)), arguments(getattr(theirs, method))
        assert mine == [argument for argument in known if argument in mine], method
        if method in ("fit_predict", "fit_transform"):
            mine = arguments(kind.fit)  # to which they pass on what they are given
        assert "sample_weight" in mine or "sample_weight" not in known, method


def arguments(method):
    """The names of a method's arguments, self aside."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]


def shapes(value):
    """The shape of an array, or those of a list of arrays that differ."""
    try:
        return np.shape(value)
    except ValueError:
        return list(map(np.shape, value))


@with_a_namesake
def test_fitted_attributes_have_the_shapes_of_the_namesake(ours, theirs):
    name = type(ours).__name__
    params = {k: v for k, v in ours.get_params().items() if k in defaults(theirs)}
    model, known = fitted(ours), theirs(**params).fit(*data_for(ours))
    shared = [k for k in vars(model) if re.search(r"[^_]_$", k) and hasattr(known, k)]
    assert shared
    for attribute in shared:
        mine, other = shapes(getattr(model, attribute)), shapes(getattr(known, attribute))
        if attribute in PER_STEP:
            mine, other = len(mine), len(other)
        assert (mine == other) != ((name, attribute) in OTHER_SHAPES), (attribute, mine, other)
