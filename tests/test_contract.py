"""The contract of `contract.py` over everything public, and each of its checks seen to fail."""

import ast
import inspect
import re
from types import SimpleNamespace
from typing import NamedTuple

import contract
import numpy as np
import pytest

from mlnotes import base
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
    assert contract.run_doctest(module, function) > 0, "its examples never call it"


@pytest.mark.parametrize("module, name, function", FUNCTIONS, ids=names(FUNCTIONS))
def test_small_types_and_other_labels_give_no_wrong_answer(module, name, function):
    for args, kwargs in contract.recorded_calls(module, function):
        assert not contract.wrong_for_small_types(function, args, kwargs)
        assert not contract.takes_codes_for_signs(function, args, kwargs)


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
        contract.run_doctest(module, function)


def test_the_guard_sees_an_example_of_something_else_and_a_parameter_not_spoken_of():
    module = bad_module(never_called)
    assert contract.run_doctest(module, never_called) == 0
    assert undocumented(never_called, module) == ["x"]


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


class Careless(base.Regressor, base.Transformer):
    """Keeps none of the contract.

    Parameters
    ----------
    scale : float
    """

    def __init__(self, scale=2.0):
        self.scale = scale

    def fit(self, X, y):
        X = np.asarray(X)
        self.history_, self.n_iter_, self.converged_ = np.zeros(len(X)), getattr(self, "n_", 0), 1
        self.n_ = self.n_iter_ + 1
        self.first_ = X[0]
        self.scale = float(self.scale) + 1
        X[0] = 0
        return self._remember(X)

    def predict(self, X):
        self.last_ = np.mean(X)
        return np.asarray(X)[:, 0] - self.last_ + self.first_[0]

    def transform(self, X):
        return np.asarray(X) + np.random.default_rng().random()

    def __repr__(self):
        return "Careless(1)"


class Moody(Careless):
    """Learns something else every time, whatever the random state."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.mood_ = np.random.default_rng().random()
        return self._remember(X)


@pytest.mark.parametrize(
    "check",
    [
        contract.fit_returns_self_and_leaves_parameters_and_inputs_alone,
        contract.fit_again_is_the_same,
        contract.answering_learns_nothing,
        contract.answers_are_sample_by_sample,
        contract.order_of_the_samples_is_irrelevant,
        contract.pickled_is_the_same,
        contract.float32_and_lists_are_computed_in_float64,
        contract.bad_input_is_refused_with_the_rule_and_what_was_got,
        contract.a_failed_fit_leaves_no_fitted_estimator,
        contract.use_before_fit_or_with_other_features_is_refused,
        contract.nonsense_is_refused_for_every_parameter_by_its_name,
        contract.docstring_names_every_parameter_and_fitted_attribute,
        contract.history_has_the_objective_of_every_state,
    ],
    ids=lambda check: check.__name__,
)
def test_each_check_can_fail(check):
    with pytest.raises(BaseException) as failure:  # noqa: B017 whatever way it fails, it must
        check(Careless())
    assert not isinstance(failure.value, pytest.skip.Exception)


def test_the_check_of_random_states_can_fail():
    with pytest.raises(AssertionError):
        contract.equal_random_states_give_equal_results(Moody())


def test_estimators_are_found():
    module = SimpleNamespace(Careless=Careless, State=State)
    module.__doc__ = "A module.\n\nContents\n    A section   Careless,\n                State\n"
    assert [n for _, n, _ in contract.public(contract.is_estimator, [module])] == ["Careless"]
    assert not contract.is_estimator(base.Classifier)
