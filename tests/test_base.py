"""What the chapters share: the loop, the checks, and being an estimator."""

import pickle
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from fractions import Fraction
from itertools import count
from multiprocessing import get_context
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from mlnotes.base import (
    BLOCK,
    Classifier,
    Clusterer,
    ConvergenceWarning,
    DataConversionWarning,
    Estimator,
    LinearClassifier,
    NotFittedError,
    ProbabilisticClassifier,
    Regressor,
    Transformer,
    bits,
    by_rows,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    check_targets,
    check_weights,
    distribution,
    exact,
    floats,
    iterate,
    one_vs_rest,
    row_blocks,
    shared,
    signs,
)


class State(NamedTuple):
    objective: float
    gap: float


def halving(steps=None, blow_up_at=None):
    for k in count() if steps is None else range(steps + 1):
        yield State(np.inf if k == blow_up_at else 100.0 - k, 2.0**-k)


# --- The loop --------------------------------------------------------------------------


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


def test_the_run_ends_unconverged_where_the_rule_does_not_fall_for_some_steps():
    gaps = [np.inf, 5.0, 4.0, 4.0, 4.5, 3.0, 3.0, 3.0, 3.0, 1.0]

    def run(patience):
        return iterate((State(0.0, gap) for gap in gaps), "gap", 1.0, 20, patience)

    assert (run(2).n_iter, run(2).converged) == (4, False)
    assert (run(3).n_iter, run(3).converged) == (8, False)
    assert (run(4).n_iter, run(4).converged) == (9, True)


@pytest.mark.parametrize("tol", [np.inf, np.nan])
def test_a_tolerance_that_any_start_or_none_would_meet_is_refused(tol):
    with pytest.raises(ValueError, match=f"tol must be < inf; got {tol}"):
        iterate(halving(), "gap", tol, max_iter=10)


def test_blocks_share_out_the_rows():
    for n, step in ((5, 2), (6, 3), (1, 9), (3, 0), (0, 4)):
        blocks = row_blocks(n, step)
        assert [i for rows in blocks for i in range(n)[rows]] == list(range(n))
        assert all(1 <= rows.stop - rows.start <= max(step, 1) for rows in blocks)
        assert all(rows.stop <= n for rows in blocks)


def test_a_function_by_rows_sees_blocks_of_all_rows_in_order(rng):
    sizes = []

    @by_rows
    def shifted(X, by, *, factor=1.0):
        """X times a factor, and more."""
        sizes.append(X.size)
        return factor * X + by

    assert shifted.__doc__ == "X times a factor, and more."
    for shape in ((3 * BLOCK // 10, 7), (BLOCK, 1), (BLOCK + 1, 1), (3, BLOCK), (1, 2 * BLOCK)):
        sizes.clear()
        X = rng.normal(size=shape)
        np.testing.assert_array_equal(shifted(X, 2.0, factor=3.0), 3.0 * X + 2.0)
        assert sum(sizes) == X.size and max(sizes) <= max(BLOCK, shape[1])
        assert (len(sizes) == 1) == (X.size <= BLOCK or len(X) == 1)


def test_the_spread_of_tiny_columns_is_checked_wherever_they_start():
    big = np.array([1.0, 1.0 + 2**-52, -3.0])
    for tiny in ([0.0, 1e-151, 0.0], [1e-151, 0.0, 0.0], [1e-135, 1e-135 + 1e-151, 1e-135]):
        X = np.column_stack([big, tiny])
        if np.ptp(tiny) > 0:
            with pytest.raises(ValueError, match="must have values that are equal or differ by"):
                check_samples(X)
    for fine in ([0.0, 0.0, 0.0], [1e-151] * 3, [0.0, 1e-149, 0.0], [1e-100, 1e-100, 0.0]):
        assert check_samples(np.column_stack([big, fine])).shape == (3, 2)


def test_an_objective_that_is_not_finite_ends_the_run_unconverged():
    run = iterate(halving(blow_up_at=2), "gap", 0.0, max_iter=10)
    assert not run.converged and run.n_iter == 2


# --- Rules -----------------------------------------------------------------------------


def test_floats_are_one_array_or_a_list_and_hold_what_small_types_would_lose():
    one = floats(np.array([200, 100], dtype=np.uint8))
    assert one.dtype == np.float64 and one.sum() == 300
    flags, halves = floats(np.array([True, True]), np.array([0.5], dtype=np.float16))
    assert flags.sum() == 2 and halves.dtype == np.float64


def test_exact_keeps_fractions_and_widens_small_types():
    third, count = exact(np.array([Fraction(1, 3)]), np.array([3], dtype=np.int8))
    assert (third * count).sum() == 1 and isinstance(third[0], Fraction)
    assert exact(np.array([200, 100], dtype=np.uint8)).sum() == 300
    assert exact(np.array([0.5], dtype=np.float16)).dtype == np.float64


@pytest.mark.parametrize(
    "rule, right, wrong, advice",
    [
        (signs, [-1, 1, 1], [0, 1, 1], "got 0.0: convert labels 0 and 1 by 2 \\* y - 1"),
        (bits, [0, 1, 1], [-1, 1, 1], "got -1.0: convert labels -1 and \\+1 by \\(z \\+ 1\\) / 2"),
    ],
)
def test_labels_of_another_coding_are_refused_with_the_conversion(rule, right, wrong, advice):
    np.testing.assert_array_equal(rule(right), right)
    with pytest.raises(ValueError, match=advice):
        rule(wrong)
    for other in ([1, 2], [1, np.nan]):
        with pytest.raises(ValueError, match="labels .* and .*; got [^:]*$"):
            rule(other)


@pytest.mark.parametrize("p", [[0.5, 0.6], [-0.5, 1.5], [0.5, np.nan], []])
def test_what_is_no_distribution_is_refused(p):
    with pytest.raises(ValueError, match="prior must be >= 0 with the sum 1"):
        distribution(p, "prior")
    assert distribution(np.float32([0.1] * 10)).dtype == np.float64


# --- Input and labels ------------------------------------------------------------------


class Sparse:
    def toarray(self):
        raise AssertionError("not ours to convert")


@pytest.mark.parametrize(
    "check, error, message",
    [
        (lambda: check_samples(Sparse()), TypeError, "got a sparse matrix"),
        (lambda: check_samples([[{}]]), TypeError, "not 'dict'"),
        (
            lambda: check_samples(np.array([[b"1"]])),
            TypeError,
            r"numbers; got the text b'1' in column 0",
        ),
        (lambda: check_samples(np.ones((1, 1, 1))), ValueError, "2-D array, .*; got 3-D of shape"),
        (lambda: check_samples(np.ones((0, 2))), ValueError, "X has no sample"),
        (lambda: check_samples(np.ones((2, 0))), ValueError, "X has no feature"),
        (lambda: check_labels(["a", "a"], 2), ValueError, "at least 2 classes; got 1 class"),
        (lambda: check_labels(["a", "b", "a"], 2), ValueError, "got 2 samples, 3 of y"),
        (lambda: check_labels(["a"], 2), ValueError, "got 2 samples, 1 of y"),
        (lambda: check_labels(np.ones((2, 2)), 2), ValueError, r"1d array; got shape \(2, 2\)"),
        (lambda: check_choice("init", "best", ("a", "b")), ValueError, "one of 'a', 'b'; got 'b"),
        (lambda: check_choice("init", None, ("a", "b")), ValueError, "one of 'a', 'b'; got None"),
        (lambda: check_flag("bias", 1), ValueError, "bias must be True or False; got 1"),
        (lambda: check_labels([np.inf, 0.0], 2), ValueError, "NaN or infinity 1 times"),
        (lambda: check_labels([1j, 2.0], 2), ValueError, "Complex data not supported: y"),
        (lambda: check_labels([0.0, 1.5], 2), ValueError, "got numbers as 1.5$"),
        (lambda: check_targets([1j], 1), ValueError, "Complex data not supported"),
        (lambda: check_targets([1.0, np.nan], 2), ValueError, "y must be finite"),
        (
            lambda: check_targets(["1", "2"], 2),
            TypeError,
            "y must hold numbers; got the text '1': encode",
        ),
        (lambda: check_weights([1.0], 2), ValueError, r"shape \(2,\); got \(1,\)"),
        (lambda: check_weights([1.0, -1.0], 2), ValueError, "must be >= 0"),
        (lambda: check_weights([0.0, 0.0], 2), ValueError, "not zero everywhere; got 0 to 0"),
        (
            lambda: check_weights([1e308, 1e308], 2),
            ValueError,
            r"sample_weight must lie within .*; got 1e\+308",
        ),
        (lambda: check_weights(["1", "2"], 2), TypeError, "must hold numbers; got the text '1'"),
        (lambda: check_weights(np.array([1j]), 1), ValueError, "sample_weight must be real"),
        (lambda: check_weights([np.nan, 1.0], 2), ValueError, "sample_weight must be finite"),
        (lambda: check_number("C", 0, above=0), ValueError, "C must be a number > 0; got 0"),
        (lambda: check_number("tol", "1"), ValueError, "tol must be a number; got '1'"),
        (lambda: check_number("tol", True), ValueError, "tol must be a number; got True"),
        (lambda: check_number("k", True, integer=True), ValueError, "k must be an integer; got T"),
        (
            lambda: check_number("k", np.int8(-1), above=0),
            ValueError,
            "k must be a number > 0; got -1$",
        ),
        (lambda: check_number("k", 1.0, integer=True), ValueError, "k must be an integer; got 1.0"),
        (lambda: check_number("p", 1, above=0, below=1), ValueError, "> 0 and < 1; got 1"),
        (lambda: check_number("p", np.inf, above=0, below=np.inf), ValueError, "< inf; got inf"),
        (lambda: check_number("t", np.nan, below=np.inf), ValueError, "t must be a number < inf;"),
        (lambda: check_random_state(-1), ValueError, "random_state must be >= 0; got -1"),
        (lambda: check_number("tol", np.nan, at_least=0), ValueError, ">= 0; got nan"),
    ],
)
def test_the_message_gives_the_rule_and_what_was_got(check, error, message):
    with pytest.raises(error, match=message):
        check()


def test_check_samples_counts_what_is_not_finite_and_names_the_first_column():
    message = "X must be finite; it contains NaN or infinity 3 times, first in column 1$"
    with pytest.raises(ValueError, match=message):
        check_samples([[1.0, -np.inf, np.inf, np.nan]])


class Table(list):
    """A list of rows whose columns have names, as a data frame has."""

    columns = ["age", "sex"]


@pytest.mark.parametrize(
    "rows, error, message",
    [
        ([[1, "m"]], TypeError, "got the text 'm' in column 'sex': encode categories as numbers"),
        ([[1, 2], [np.nan, 3]], ValueError, "NaN or infinity 1 times, in column 'age'$"),
    ],
)
def test_check_samples_names_the_column_of_a_table(rows, error, message):
    with pytest.raises(error, match=message):
        check_samples(Table(np.array(rows, dtype=object)))


@pytest.mark.parametrize("check", [check_samples, lambda X: check_labels(X[0], 3), floats])
def test_masked_entries_are_refused_and_masks_without_any_are_not(check):
    X = np.ma.masked_array([[0.0, 1.0, 2.0]], mask=False)
    check(X)
    X.mask = [[False, True, True]]
    with pytest.raises(ValueError, match="must hold no masked entries; got 2"):
        check(X)


@pytest.mark.parametrize(
    "labels, error, message",
    [
        (["a", 1, "b"], TypeError, "y must hold labels of one kind; got int and str"),
        (["a", None, "b"], ValueError, "y must not hold None or NaN; got 1 missing"),
        (["a", np.nan, np.nan], ValueError, "y must not hold None or NaN; got 2 missing"),
        (["a", "a", "a"], ValueError, "at least 2 classes; got 1 class: 'a'$"),
    ],
)
def test_check_labels_refuses_mixed_and_missing_labels(labels, error, message):
    with pytest.raises(error, match=message):
        check_labels(np.array(labels, dtype=object), 3)


@pytest.mark.parametrize("check", [check_samples, lambda X: check_targets(X.ravel(), 4)])
def test_numbers_whose_squares_leave_the_range_are_refused_and_others_are_not(check):
    X = np.array([[0.0], [1.0], [3.0], [-4.0]])
    for unit in (1e-150, 1e-100, 1.0, 1e100, 2e149):
        np.testing.assert_array_equal(check(X * unit).ravel(), X.ravel() * unit)
    with pytest.raises(ValueError, match=r"within -1e\+150 and 1e\+150, .*; got -4e\+160"):
        check(X * 1e160)
    with pytest.raises(ValueError, match="differ by 1e-150 or more, .*; got a range of 7e-160"):
        check(X * 1e-160)
    np.testing.assert_array_equal(check(X * 0 + 1e-160).ravel(), np.full(4, 1e-160))  # constant


def test_one_column_of_too_small_a_spread_is_seen_beside_others():
    X = np.column_stack([np.arange(3.0), 1e-170 * np.arange(3.0), np.ones(3)])
    with pytest.raises(ValueError, match="got a range of 2e-170: use another unit"):
        check_samples(X)


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_an_integer_beyond_the_floats_is_refused_by_name(huge):
    checks = {
        "X": lambda: check_samples(np.array([[huge, 1]], dtype=object)),
        "y": lambda: check_targets(np.array([huge, 1], dtype=object), 2),
        "sample_weight": lambda: check_weights(np.array([huge, 1], dtype=object), 2),
    }
    for name, check in checks.items():
        with pytest.raises(ValueError, match=rf"^{name} must lie within .*; got an integer beyond"):
            check()


def test_numbers_at_the_ends_of_their_range_pass():
    assert check_number("C", np.inf, above=0) == np.inf  # a hard margin
    assert check_number("tol", 0, at_least=0) == 0
    assert check_flag("bias", np.True_) is True
    assert check_choice("init", None, ("a", None)) is None
    assert check_number("k", np.int8(1), at_least=1, integer=True) == 1
    np.testing.assert_array_equal(check_weights([0, 1e150], 2), [0, 1e150])
    assert check_random_state(0).random() == np.random.default_rng(0).random()


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


# --- Estimators ------------------------------------------------------------------------


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

    def fit(self, X, y=None, shift=0):
        self.mean_, self.labels_ = np.mean(X, axis=0), np.zeros(len(X), dtype=int) + shift
        self.mean_ = self.mean_ + (0 if y is None else np.mean(y))
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


class Linear(LinearClassifier):
    """Has its scores set by hand."""

    def fit(self, W, b):
        self.coef_, self.intercept_ = np.array(W), np.array(b)
        self.classes_ = np.array(["u", "v", "w"])[: max(2, len(W))]
        return self._remember(self.coef_)


class Frame:
    """What of a data frame counts."""

    def __init__(self, columns):
        self.columns = columns

    def __array__(self, dtype=None, copy=None):
        return np.ones((2, len(self.columns)))


class Same(Classifier):
    """Predicts the first feature."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_parameters_are_read_set_and_printed_also_those_of_an_inner_estimator():
    model = Mean(inner=Mean(steps=5))
    assert model.get_params()["inner__steps"] == 5
    assert set(model.get_params(deep=False)) == {"steps", "inner"}
    assert model.set_params(steps=4, inner__steps=6) is model
    assert repr(model) == "Mean(steps=4, inner=Mean(steps=6))" and repr(Mean()) == "Mean()"
    with pytest.raises(ValueError, match="Mean has no parameter 'C'; it has steps, inner"):
        model.set_params(C=1)
    model.set_params(inner__steps=9, inner=Mean())  # the estimator is set before its parameters
    assert model.inner.steps == 9


def test_a_run_cut_short_is_one_warning_that_names_rule_value_and_tolerance():
    with pytest.warns(ConvergenceWarning) as caught:
        model = Mean(steps=1).fit([[0.0]], [1.0])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).startswith(
        "Mean stopped after 1 iterations, because max_iter = 1 is reached; "
        "gap = 0.5, and should be <= 0.25: see history_"
    )
    assert not model.converged_ and model.n_iter_ == 1
    np.testing.assert_array_equal(model.history_, [100, 99])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Mean(steps=2).fit([[0.0]], [1.0]).converged_


def test_of_several_runs_the_worst_is_told():
    model, runs = Mean(), [iterate(halving(), "gap", 0.25, steps) for steps in (5, 1, 0)]
    with pytest.warns(
        ConvergenceWarning, match="Mean stopped after 0 iterations, .*; gap = 1, and"
    ):
        model._record(runs, "gap", 0.25)
    assert model.n_iter_ == 2 and not model.converged_
    assert [len(objectives) for objectives in model.history_] == [3, 2, 1]


def test_scores_are_linear_and_0_is_the_first_of_two_classes():
    two, X = Linear().fit([[1.0, -2.0]], [3.0]), np.array([[1.0, 1.0], [1.0, 2.0], [0.0, 2.0]])
    np.testing.assert_array_equal(two.decision_function(X), [2, 0, -1])
    assert two.predict(X).tolist() == ["v", "u", "u"]
    three = Linear().fit([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 1.5])
    np.testing.assert_array_equal(
        three.decision_function(X), [[1, 1, 1.5], [1, 2, 1.5], [0, 2, 1.5]]
    )
    assert three.predict(X).tolist() == ["w", "v", "v"]


def test_names_and_number_of_features_are_those_of_the_last_fit():
    model = Estimator()._remember(Frame(["a", "b"]))
    assert model.n_features_in_ == 2 and model.feature_names_in_.tolist() == ["a", "b"]
    model._check_fitted(Frame(["a", "b"]))
    with pytest.raises(ValueError, match=r"should match .*\['a', 'b'\]; got \['b', 'a'\]"):
        model._check_fitted(Frame(["b", "a"]))
    for d in (1, 3):
        message = f"X has {d} features, but Estimator is expecting 2 features as input"
        with pytest.raises(ValueError, match=message):
            model._check_fitted(np.ones((2, d)))
    for unnamed in (np.ones((2, 2)), Frame(["a", 1])):
        assert not hasattr(model._remember(unnamed), "feature_names_in_")


def test_scores_are_those_of_the_definitions():
    X, y, weights = np.zeros((4, 1)), np.array([0.0, 0.0, 1.0, 3.0]), np.array([2, 1, 1, 0])
    model = Mean().fit(X, y)
    assert model.score(X, y) == 0.0
    rows = np.repeat(np.arange(4), weights)
    assert model.score(X, y, weights) == pytest.approx(model.score(X[rows], y[rows]))


def test_outputs_that_do_not_match_the_predictions_are_not_scored():
    X, y = np.array([[1.0], [2.0], [2.0]]), np.array([1.0, 2.0, 4.0])
    for model in (Same(), Mean().fit(X, y)):
        assert model.score(X, y[:, None]) == model.score(X, y)  # a column is no (3, 3) table
        for bad in (y[:1], y[:2], np.tile(y, (2, 1)), 1.0):
            with pytest.raises(ValueError, match=r"value per prediction, \(3,\); got"):
                model.score(X, bad)
        with pytest.raises(ValueError, match="sample_weight must be >= 0"):
            model.score(X, y, [2.0, -1.0, 1.0])
    assert Same().score(X, y) == 2 / 3
    for unit in (1e-300, 1.0, 3e149):
        assert Same().score(X, y, unit * np.array([1, 0, 3])) == 1 / 4


@pytest.mark.parametrize("unit", [1e-149, 1.0, 1e149])
def test_shares_of_variance_have_no_unit(unit):
    X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 1.0, 3.0])
    model = Mean().fit(X, 2 * y * unit)  # f = 2, the mean of y is 1: 1 - 10 / 6
    assert model.score(X, y * unit) == pytest.approx(-2 / 3, rel=1e-14)


def test_targets_whose_squares_leave_the_range_are_not_scored():
    model = Mean().fit(np.zeros((2, 1)), [0.0, 1.0])
    with pytest.raises(ValueError, match="y must lie within"):
        model.score(np.zeros((2, 1)), [0.0, 1e160])


def test_constant_outputs_are_met_or_not():
    X, y = np.zeros((10, 1)), np.full(10, 0.1)  # of which the mean is not 0.1
    right, wrong = Mean().fit(X, [0.1]), Mean().fit(X, [0.2])
    assert right.score(X, y) == 1 and wrong.score(X, y) == 0
    y[0], weights = 7.0, np.arange(10)
    assert right.score(X, y, weights) == 1 and wrong.score(X, y, weights) == 0


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
    np.testing.assert_array_equal(Centre().fit_transform(X, [4, 6]), [[-6], [-4]])
    np.testing.assert_array_equal(Centre().fit_predict(X, shift=2), [2, 2])


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


# --- Other processes -------------------------------------------------------------------


def refuse():
    raise shared(NotFittedError)("call fit first")


class NamesakeError(Exception):
    """Stands for scikit-learn's exception of the same name."""


@pytest.mark.parametrize("kind", [NotFittedError, ConvergenceWarning, DataConversionWarning])
@pytest.mark.parametrize("loaded", [True, False])
def test_exceptions_can_be_pickled_whether_scikit_learn_is_loaded_or_not(monkeypatch, kind, loaded):
    module = SimpleNamespace(**{kind.__name__: NamesakeError}) if loaded else None
    monkeypatch.setitem(sys.modules, "sklearn.exceptions", module)
    error = shared(kind)("a reason")
    assert isinstance(error, NamesakeError) == loaded
    for again in (pickle.loads(pickle.dumps(error)), deepcopy(error)):
        assert type(again) is type(error) and again.args == ("a reason",)


def test_an_exception_crosses_processes():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(NotFittedError, match="call fit first"):
            pool.submit(refuse).result()
