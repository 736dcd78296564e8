"""The contract of `contract.py` over everything public, and each of its checks seen to fail."""

import ast
import inspect
import re
from contextlib import suppress
from copy import deepcopy
from types import SimpleNamespace
from typing import NamedTuple

import contract
import numpy as np
import pytest

from mlnotes import base
from mlnotes.numerics import squared_distances
from mlnotes.reading import public_names

FUNCTIONS = contract.public(inspect.isfunction)
CLASSES = contract.public(inspect.isclass)


def names(found):
    return [f"{module.__name__.removeprefix('mlnotes.')}.{name}" for module, name, _ in found]


# --- Modules ---------------------------------------------------------------------------


@pytest.mark.parametrize("module", contract.modules(), ids=lambda module: module.__name__)
def test_the_contents_list_of_a_module_names_all_that_is_public(module):
    tree = ast.parse(inspect.getsource(module))
    defined = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    names = public_names(module)
    assert set(names) >= {name for name in defined if not name.startswith("_")}
    assert all(hasattr(module, name) for name in names)
    assert len(set(names)) == len(names)


# --- Functions -------------------------------------------------------------------------


def undocumented(function, module):
    """The parameters that neither the docstring nor the module's symbol table speaks of."""
    text = inspect.getdoc(function) + "\n" + (module.__doc__ or "")
    return [p for p in inspect.signature(function).parameters if not re.search(rf"\b{p}\b", text)]


@pytest.mark.parametrize("module, name, function", FUNCTIONS, ids=names(FUNCTIONS))
def test_docstring_speaks_of_every_parameter_and_of_what_is_yielded(module, name, function):
    assert not undocumented(function, module)
    if inspect.isgeneratorfunction(function):
        assert "Yields" in inspect.getdoc(function)


@pytest.mark.parametrize("module, name, function", FUNCTIONS, ids=names(FUNCTIONS))
def test_examples_call_the_function_and_respect_its_arguments(module, name, function):
    if module.__name__ == "mlnotes.plotting" and ">>>" not in inspect.getdoc(function):
        pytest.skip("a picture is no example")
    assert ">>>" in inspect.getdoc(function), "no example"
    assert contract.calls_in_examples(module, function), "its examples never call it"


def repeatable_calls(module, function):
    return filter(contract.repeatable, contract.calls_in_examples(module, function))


@pytest.mark.parametrize("module, name, function", FUNCTIONS, ids=names(FUNCTIONS))
def test_small_types_give_no_wrong_answer(module, name, function):
    calls = list(repeatable_calls(module, function))
    compared = [contract.in_small_types(function, *call) for call in calls]
    assert not any(types[False] for types in compared)
    if any(map(contract.is_array, contract.leaves(calls))):
        assert any(types[True] for types in compared) != (name in contract.NO_OTHER_NUMBERS)


def test_labels_0_and_1_are_refused_where_signs_are_meant():
    refused = 0
    for module, _, function in FUNCTIONS:
        told = [contract.with_codes(function, *call) for call in repeatable_calls(module, function)]
        assert "otherwise" not in told, function.__name__
        refused += "refused" in told
    assert refused >= 25


@pytest.mark.parametrize("module, name, thing", CLASSES, ids=names(CLASSES))
def test_classes_and_their_methods_have_docstrings(module, name, thing):
    assert thing.__doc__ and not thing.__doc__.startswith(f"{name}(")  # NamedTuple's own
    for attribute, value in vars(thing).items():
        if inspect.isfunction(value) and not attribute.startswith("_"):
            assert inspect.getdoc(value), f"{name}.{attribute}"


class State(NamedTuple):
    w: np.ndarray


def writes_into_its_argument(x):
    """Scale x.

    >>> writes_into_its_argument(np.array([2.0]))
    """
    x /= 2


def forgets_to_copy(x):
    """Count down from x.

    >>> [float(state.w[0]) for state in forgets_to_copy(np.array([2.0]))]
    [1.0, 0.0]
    """
    x = x.copy()
    while x[0] > 0:
        x -= 1
        yield State(x)


def is_random(x):
    """Move x.

    >>> is_random(np.array([2.0])).shape
    (1,)
    """
    return x + np.random.default_rng().random()


def never_called(x):
    """Do nothing.

    >>> 1 + 1
    2
    """


def adds_in_bytes(x):
    """Double x.

    >>> float(adds_in_bytes(np.array([2.0]))[0])
    4.0
    """
    return x + x


def takes_any_labels(y):
    """Sum the signs y.

    >>> takes_any_labels(np.array([1.0, -1.0, 1.0]))
    1.0
    """
    return float(np.sum(y))


@pytest.mark.parametrize(
    "function, message",
    [
        (writes_into_its_argument, "read-only"),
        (forgets_to_copy, "a state was rewritten"),
        (is_random, "does not repeat"),
    ],
)
def test_the_guard_sees_what_must_not_be(function, message):
    module = bad_module(function)
    with pytest.raises(AssertionError, match=message):
        contract.calls_in_examples(module, function)


def test_the_guard_sees_an_example_of_something_else_and_a_parameter_not_spoken_of():
    module = bad_module(never_called)
    assert contract.calls_in_examples(module, never_called) == []
    assert undocumented(never_called, module) == ["x"]


def test_overflowing_bytes_and_codes_for_signs_are_seen():
    (call,) = contract.calls_in_examples(bad_module(adds_in_bytes), adds_in_bytes)
    types = contract.in_small_types(adds_in_bytes, *call)
    assert types == {True: ["uint8", "uint8", "int8", "float16", "float16"], False: ["int8"]}
    (call,) = contract.calls_in_examples(bad_module(takes_any_labels), takes_any_labels)
    assert contract.with_codes(takes_any_labels, *call) == "otherwise"


def bad_module(function):
    import sys

    module = sys.modules[__name__]
    module.__doc__ = f"A module.\n\nContents\n    Section   {function.__name__}\n"
    return module


# --- Estimators ------------------------------------------------------------------------


@pytest.mark.parametrize("check", contract.ESTIMATOR, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", contract.estimators(), ids=repr)
def test_estimator(estimator, check):
    check(estimator)


def test_the_table_of_refusals_names_no_hyperparameter_that_is_gone():
    names = {name for e in contract.estimators() for name in e.get_params(deep=False)}
    assert contract.hyperparameters_known() == names


class Means(base.Classifier, base.Transformer):
    """The class whose mean is nearest; the samples about the mean of all. It keeps every rule.

    Parameters
    ----------
    tol : float; changes nothing

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    center_ : ndarray of shape (d,); the mean of all samples
    means_ : ndarray of shape (C, d)
    history_ : ndarray of shape (n_iter_ + 1,)
    n_iter_ : int
    converged_ : bool

    >>> Means().fit([[1.0], [3.0]], ["a", "b"]).predict([[1.8]])
    array(['a'], dtype='<U1')
    """

    def __init__(self, tol=1.0):
        self.tol = tol

    def fit(self, X, y, sample_weight=None):
        self.check_parameters()
        samples = base.check_samples(X)
        y, w = self.labels(y, len(samples)), self.weights(sample_weight, len(samples))
        kinds = [y == label for label in np.unique(y[w > 0])]
        self.classes_ = np.unique(y[w > 0])
        self.center_ = np.average(samples, axis=0, weights=w)
        self.means_ = np.array([np.average(samples[k], axis=0, weights=w[k]) for k in kinds])
        self.history_, self.n_iter_, self.converged_ = np.zeros(1), 0, True
        return self._remember(X)

    def check_parameters(self):
        base.check_number("tol", self.tol, at_least=0)

    def labels(self, y, n):
        return base.check_labels(y, n)

    def weights(self, sample_weight, n):
        w = base.check_weights(sample_weight, n)
        return w / w.max()

    def predict(self, X):
        X = self._check_fitted(X)
        return self.classes_[squared_distances(X, self.means_).argmin(axis=1)]

    def transform(self, X):
        return self._check_fitted(X) - self.center_

    def inverse_transform(self, Z):
        return Z + self.center_


class Halves(base.Clusterer):
    """Two clusters, on both sides of the mean of the first feature. It keeps every rule.

    Parameters
    ----------
    tol : float; changes nothing

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    center_ : float

    >>> Halves().fit([[1.0], [3.0]]).labels_
    array([0, 1])
    """

    def __init__(self, tol=1.0):
        self.tol = tol

    def fit(self, X, y=None):
        base.check_number("tol", self.tol, at_least=0)
        self.center_ = base.check_samples(X)[:, 0].mean()
        self._remember(X)
        self.labels_ = Halves.predict(self, X)
        return self

    def predict(self, X):
        return (self._check_fitted(X)[:, 0] > self.center_).astype(int)


@pytest.mark.parametrize("check", contract.ESTIMATOR, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", [Means(), Halves()], ids=repr)
def test_a_faultless_estimator_passes(estimator, check):
    check(estimator)


FAULTS = []  # (check, words, kind): this check alone sees the fault of this kind of estimator


def seen_by(check, words):
    def note(kind):
        FAULTS.append((check, words, kind))
        return kind

    return note


def fit_and(more):
    """A `fit` of `Means` after which it does more(self, X, y)."""

    def fit(self, X, y, sample_weight=None):
        Means.fit(self, X, y, sample_weight)
        more(self, X, y)
        return self

    return fit


@seen_by(contract.fit_returns_self_and_leaves_parameters_and_inputs_alone, "fit returns self")
class ReturnsACopy(Means):
    def fit(self, X, y, sample_weight=None):
        return deepcopy(super().fit(X, y, sample_weight))


@seen_by(contract.fit_returns_self_and_leaves_parameters_and_inputs_alone, "written into")
class WritesIntoSamples(Means):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X, np.ndarray) and X.dtype == float:
            X += 0
        return super().fit(X, y, sample_weight)


@seen_by(contract.fit_returns_self_and_leaves_parameters_and_inputs_alone, "no parameter")
class SetsItsParameter(Means):
    fit = fit_and(lambda self, X, y: self.set_params(tol=self.tol + 1))


@seen_by(contract.fit_again_is_the_same, "nothing stays of an earlier fit")
class Remembers(Means):
    def fit(self, X, y, sample_weight=None):
        earlier = hasattr(self, "classes_")
        super().fit(X, y, sample_weight)
        self.history_[:] = earlier
        return self


@seen_by(contract.equal_random_states_give_equal_results, "equal random states")
class Moody(Means):
    __doc__ = Means.__doc__.replace("tol :", "tol, random_state :")

    def __init__(self, tol=1.0, random_state=None):
        self.tol, self.random_state = tol, random_state

    def fit(self, X, y, sample_weight=None):
        base.check_random_state(self.random_state)
        super().fit(X, y, sample_weight)
        if isinstance(self.random_state, np.random.Generator):
            self.history_[:] = np.random.default_rng().random()
        return self


@seen_by(contract.answering_learns_nothing, "no answer changes")
class LearnsFromQuestions(Means):
    def predict(self, X):
        self.asked_ = True
        return super().predict(X)


@seen_by(contract.answers_are_sample_by_sample, "transform: a sample's answer is its own")
class CentersQuestions(Means):
    def transform(self, X):
        X = self._check_fitted(X)
        return X - X.mean(axis=0)


@seen_by(contract.order_of_the_samples_is_irrelevant, "transform: samples have no order")
class StartsAtTheFirst(Means):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        first = np.argmax(self.weights(sample_weight, len(X)) > 0)
        self.center_ = np.array(X[first], dtype=float)
        return self


@seen_by(contract.pickled_is_the_same, "transform: pickled it is the same")
class LosesItsCenter(Means):
    def __getstate__(self):
        return vars(self) | ({"center_": 0.0} if hasattr(self, "center_") else {})


@seen_by(contract.float32_and_lists_are_computed_in_float64, "float32 is computed in float64")
class StaysSingle(Means):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.center_ = self.center_.astype(np.result_type(X, np.float32))
        return self


@seen_by(contract.any_labels_of_two_classes_or_more_will_do, "classes_ has the labels in order")
class CountsDown(Means):
    def turn(self, X, y):
        self.classes_, self.means_ = self.classes_[::-1], self.means_[::-1]

    fit = fit_and(turn)


@seen_by(contract.weights_of_samples_are_repetitions, "transform: weights are repetitions")
class WeighsBySquares(Means):
    def weights(self, sample_weight, n):
        return super().weights(sample_weight, n) ** 2


@seen_by(
    contract.bad_input_is_refused_with_the_rule_and_what_was_got,
    "a 2-D array.*; got: X has 2 features",
)
class TakesOneSample(Means):
    def transform(self, X):
        return super().transform(np.atleast_2d(X))


@seen_by(contract.a_failed_fit_leaves_no_fitted_estimator, "not fitted yet; was accepted")
class FitsTooSoon(Means):
    def fit(self, X, y, sample_weight=None):
        self.classes_, self.means_, self.center_ = np.arange(1), np.zeros((1, 3)), np.zeros(3)
        self.n_features_in_ = 3
        return super().fit(X, y, sample_weight)


@seen_by(contract.use_before_fit_or_with_other_features_is_refused, "2 features.*was accepted")
class TakesFewerFeatures(Means):
    def transform(self, X):
        self._require_fit()
        return base._check_matrix(X) - self.center_[: np.shape(X)[1]]


@seen_by(contract.nonsense_is_refused_for_every_parameter_by_its_name, "got: wrong")
class RefusesWithoutName(Means):
    def check_parameters(self):
        if not isinstance(self.tol, float | int):
            raise ValueError("wrong")
        super().check_parameters()


@seen_by(contract.hyperparameters_out_of_range_are_refused_by_their_rule, "tol.*nan; was accepted")
class TakesNaN(Means):
    def check_parameters(self):
        if self.tol == self.tol:
            super().check_parameters()


@seen_by(contract.hyperparameters_out_of_range_are_refused_by_their_rule, "not {'new'}")
class HasANewParameter(Means):
    __doc__ = Means.__doc__.replace("tol :", "tol, new :")

    def __init__(self, tol=1.0, new=1.0):
        self.tol, self.new = tol, new

    def check_parameters(self):
        super().check_parameters()
        base.check_number("new", self.new)


@seen_by(contract.repr_is_the_call_that_makes_it, "repr is the call that makes it")
class ShowsNoParameter(Means):
    def __repr__(self):
        return f"{type(self).__name__}()"


@seen_by(
    contract.docstring_names_every_parameter_and_fitted_attribute, "extra_ is in the docstring"
)
class LearnsInSilence(Means):
    fit = fit_and(lambda self, X, y: setattr(self, "extra_", 1))


@seen_by(contract.units_do_not_matter, "transform has no unit: x times 2")
class Bends(Means):
    def transform(self, X):
        return np.arcsinh(super().transform(X))

    def inverse_transform(self, Z):
        return super().inverse_transform(np.sinh(Z))


@seen_by(contract.the_origin_does_not_matter, "predict: the origin does not matter")
class SquaresBeforeItSubtracts(Means):
    def predict(self, X):
        X = self._check_fitted(X)
        squares = np.sum(self.means_**2, axis=1) - 2 * X @ self.means_.T
        return self.classes_[squares.argmin(axis=1)]


@seen_by(contract.a_sample_of_weight_zero_is_absent, "classes_: a sample of weight 0 is absent")
class KeepsEveryClass(Means):
    def add(self, X, y):
        absent = np.setdiff1d(y, self.classes_)
        self.classes_ = np.append(self.classes_, absent)
        far = np.full((len(absent), self.n_features_in_), 1e9)
        self.means_ = np.vstack([self.means_, far])

    fit = fit_and(add)


@seen_by(contract.parameters_set_after_fit_change_no_answer, "transform: fit alone reads")
class ReadsItsParameterLate(Means):
    def transform(self, X):
        return super().transform(X) + isinstance(self.tol, contract.Nonsense)


@seen_by(contract.a_column_of_labels_is_read_as_labels, "who passes a column is told")
class TakesAColumn(Means):
    def labels(self, y, n):
        return super().labels(np.ravel(y) if np.shape(y) == (n, 1) else y, n)


@seen_by(contract.masked_entries_are_refused, "X must hold no masked entries.*was accepted")
class DropsTheMask(Means):
    def fit(self, X, y, sample_weight=None):
        return super().fit(np.asarray(X), y, sample_weight)


@seen_by(contract.score_is_its_definition, "score is its definition")
class ScoresBySquares(Means):
    def score(self, X, y, sample_weight=None):
        return super().score(X, y, sample_weight) ** 2


@seen_by(contract.fit_predict_gives_the_labels, "fit_predict gives labels_")
class SwapsItsLabels(Halves):
    def fit_predict(self, X, y=None):
        return 1 - super().fit_predict(X)


@seen_by(contract.what_was_transformed_comes_back, "it comes back")
class ForgetsTheWayBack(Means):
    def inverse_transform(self, Z):
        return Z


@seen_by(contract.training_samples_are_predicted_their_labels, "predict gives labels_")
class PredictsTheOther(Halves):
    def predict(self, X):
        return 1 - super().predict(X)


@seen_by(contract.history_has_the_objective_of_every_state, "history_ has the start and every step")
class ForgetsItsStart(Means):
    fit = fit_and(lambda self, X, y: setattr(self, "n_iter_", 1))


@seen_by(contract.a_warning_tells_once_of_a_fit_cut_short_and_of_no_other, "cut short is told once")
class StopsInSilence(Means):
    __doc__ = Means.__doc__.replace("tol :", "tol, max_iter :")

    def __init__(self, tol=1.0, max_iter=2):
        self.tol, self.max_iter = tol, max_iter

    def check_parameters(self):
        super().check_parameters()
        base.check_number("max_iter", self.max_iter, at_least=1, integer=True)

    fit = fit_and(lambda self, X, y: setattr(self, "converged_", self.max_iter > 1))


@pytest.mark.parametrize("check, words, kind", FAULTS, ids=[k.__name__ for _, _, k in FAULTS])
def test_a_fault_is_seen_by_its_check_alone(check, words, kind):
    with pytest.raises(AssertionError, match=words):
        check(kind())
    for other in set(contract.ESTIMATOR) - {check}:
        with suppress(pytest.skip.Exception):
            other(kind())


def test_every_check_sees_a_fault():
    assert {check for check, _, _ in FAULTS} == set(contract.ESTIMATOR)


def test_estimators_are_found():
    module = SimpleNamespace(Means=Means, State=State)
    module.__doc__ = "A module.\n\nContents\n    A section   Means,\n                State\n"
    assert [n for _, n, _ in contract.public(contract.is_estimator, [module])] == ["Means"]
    assert not contract.is_estimator(base.Classifier)
