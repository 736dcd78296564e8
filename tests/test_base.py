"""What the chapters share: the loop, the checks, and being an estimator."""

import warnings
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest

from mlnotes.base import (
    Clusterer,
    ConvergenceWarning,
    Estimator,
    NotFittedError,
    ProbabilisticClassifier,
    Regressor,
    Transformer,
    check_labels,
    check_number,
    check_samples,
    check_targets,
    check_weights,
    iterate,
    one_vs_rest,
)


class State(NamedTuple):
    objective: float
    gap: float


def halving(steps=None, blow_up_at=None):
    for k in count() if steps is None else range(steps + 1):
        yield State(np.inf if k == blow_up_at else 100.0 - k, 2.0**-k)


# ---------------------------------------------------------------------------------------
# The loop
# ---------------------------------------------------------------------------------------


def test_the_rule_is_the_named_field_and_the_history_starts_at_the_start():
    run = iterate(halving(), "gap", 0.125, max_iter=10)
    assert run.converged and run.n_iter == 3 and run.state.gap == 0.125
    np.testing.assert_array_equal(run.history, [100, 99, 98, 97])


def test_a_start_that_meets_the_rule_takes_no_step():
    assert iterate(halving(), "gap", 1.0, max_iter=10).n_iter == 0


def test_the_limit_is_a_number_of_steps_and_is_told_from_convergence():
    cut = iterate(halving(), "gap", 0.125, max_iter=2)
    assert not cut.converged and cut.n_iter == 2 and len(cut.history) == 3
    assert iterate(halving(), "gap", 0.125, max_iter=3).converged


def test_an_algorithm_that_ends_by_itself_has_converged():
    run = iterate(halving(steps=4), "gap", 0.0, max_iter=10)
    assert run.converged and run.n_iter == 4


def test_an_objective_that_is_not_finite_ends_the_run_unconverged():
    run = iterate(halving(blow_up_at=2), "gap", 0.0, max_iter=10)
    assert not run.converged and run.n_iter == 2


# ---------------------------------------------------------------------------------------
# Input and labels
# ---------------------------------------------------------------------------------------


class Sparse:
    def toarray(self):
        raise AssertionError("not ours to convert")


@pytest.mark.parametrize(
    "check, error, message",
    [
        (lambda: check_samples(Sparse()), TypeError, "got a sparse matrix"),
        (lambda: check_samples([[{}]]), TypeError, "not 'dict'"),
        (lambda: check_labels([np.inf, 0.0], 2), ValueError, "NaN or infinity 1 times"),
        (lambda: check_targets([1j], 1), ValueError, "Complex data not supported"),
        (lambda: check_targets([1.0, np.nan], 2), ValueError, "y must be finite"),
        (lambda: check_weights([1.0], 2), ValueError, r"shape \(2,\); got \(1,\)"),
        (lambda: check_weights([1.0, -1.0], 2), ValueError, "must be >= 0"),
        (lambda: check_weights([0.0, 0.0], 2), ValueError, "not zero everywhere"),
        (lambda: check_number("C", 0, above=0), ValueError, "C must be a number > 0; got 0"),
        (lambda: check_number("tol", "1"), ValueError, "tol must be a number; got '1'"),
        (lambda: check_number("tol", np.nan, at_least=0), ValueError, ">= 0; got nan"),
    ],
)
def test_the_message_gives_the_rule_and_what_was_got(check, error, message):
    with pytest.raises(error, match=message):
        check()


def test_numbers_whose_sum_overflows_are_finite_all_the_same():
    np.testing.assert_array_equal(check_samples([[1e308, 1e308]]), [[1e308, 1e308]])
    with pytest.raises(ValueError, match="NaN or infinity 2 times"):
        check_samples([[np.inf, -np.inf, 1.0]])


def test_a_column_of_labels_is_read_as_labels_and_said_so():
    with pytest.warns(UserWarning, match="column-vector y"):
        np.testing.assert_array_equal(check_labels([[1], [2]], 2), [1, 2])


@pytest.mark.parametrize("K", [2, 3, 5])
def test_one_vs_rest_tells_every_class_from_the_rest(K):
    y = np.random.default_rng(0).integers(K, size=40)
    columns = one_vs_rest(y, np.arange(K))
    assert columns.shape == (40, 1 if K == 2 else K)
    back = (columns[:, 0] > 0).astype(int) if K == 2 else columns.argmax(axis=1)
    np.testing.assert_array_equal(back, y)
    assert set(columns.ravel()) == {-1.0, 1.0}


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class Mean(Regressor):
    """Predicts the mean, slowly if asked to."""

    def __init__(self, *, steps=3, inner=None):
        self.steps = steps
        self.inner = inner

    def fit(self, X, y):
        self.mean_, self.n_features_in_ = np.mean(y), np.shape(X)[1]
        self._record(iterate(halving(), "gap", 0.25, self.steps), "gap", 0.25)
        return self

    def predict(self, X):
        return np.full(len(self._check_fitted(X)), self.mean_)


class Centre(Transformer, Clusterer):
    """Subtracts the mean, and puts everything into one cluster."""

    def fit(self, X, y=None):
        self.mean_, self.labels_ = np.mean(X, axis=0), np.zeros(len(X), dtype=int)
        return self

    def transform(self, X):
        return X - self.mean_


class Shares(ProbabilisticClassifier):
    """Has the probabilities of its samples for features."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), np.shape(X)[1]
        return self

    def predict_proba(self, X):
        return self._check_fitted(X)


def test_parameters_are_read_set_and_printed_also_those_of_an_inner_estimator():
    model = Mean(inner=Mean(steps=5))
    assert model.get_params()["inner__steps"] == 5
    assert set(model.get_params(deep=False)) == {"steps", "inner"}
    assert model.set_params(steps=4, inner__steps=6) is model
    assert repr(model) == "Mean(steps=4, inner=Mean(steps=6))" and repr(Mean()) == "Mean()"
    with pytest.raises(ValueError, match="Mean has no parameter 'C'; it has steps, inner"):
        model.set_params(C=1)


def test_a_run_cut_short_is_one_warning_that_names_rule_value_and_tolerance():
    with pytest.warns(ConvergenceWarning) as caught:
        model = Mean(steps=1).fit([[0.0]], [1.0])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "Mean stopped after 1 iterations with gap = 0.5 > 0.25" in str(caught[0].message)
    assert not model.converged_ and model.n_iter_ == 1
    np.testing.assert_array_equal(model.history_, [100, 99])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Mean(steps=2).fit([[0.0]], [1.0]).converged_


def test_scores_are_those_of_the_definitions():
    X, y, weights = np.zeros((4, 1)), np.array([0.0, 0.0, 1.0, 3.0]), np.array([2, 1, 1, 0])
    model = Mean().fit(X, y)
    assert model.score(X, y) == 0.0
    rows = np.repeat(np.arange(4), weights)
    assert model.score(X, y, weights) == pytest.approx(model.score(X[rows], y[rows]))


def test_label_and_logarithms_follow_from_the_probabilities():
    P = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.4, 0.2, 0.4]])
    model = Shares().fit(P, ["c", "a", "b"])
    assert model.predict(P).tolist() == ["c", "b", "a"]  # of equals, the first
    assert model.score(P, ["c", "b", "b"]) == pytest.approx(2 / 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log_p = model.predict_log_proba(P)
    np.testing.assert_allclose(np.exp(log_p), P)
    assert log_p[1].tolist() == [-np.inf, 0.0, -np.inf]


def test_a_transformer_can_be_a_clusterer_too():
    X = np.array([[1.0], [3.0]])
    np.testing.assert_array_equal(Centre().fit_transform(X), [[-1], [1]])
    np.testing.assert_array_equal(Centre().fit_predict(X), [0, 0])


def test_use_before_fit_is_refused():
    with pytest.raises(NotFittedError, match="This Mean is not fitted yet"):
        Mean().predict([[1.0]])


def test_tags_and_exceptions_are_those_of_scikit_learn_once_it_is_there():
    exceptions = pytest.importorskip("sklearn.exceptions")
    assert Mean().__sklearn_tags__().estimator_type == "regressor"
    both = Centre().__sklearn_tags__()
    assert both.estimator_type == "clusterer" and both.transformer_tags is not None
    assert Estimator().__sklearn_tags__().estimator_type is None
    for kind in (NotFittedError, exceptions.NotFittedError):
        with pytest.raises(kind):
            Mean().predict([[1.0]])
    for kind in (ConvergenceWarning, exceptions.ConvergenceWarning):
        with pytest.warns(kind):
            Mean(steps=1).fit([[0.0]], [1.0])
