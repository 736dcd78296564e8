"""The feature_selection chapter: entropies, exhaustive search and tables by hand."""

from functools import partial

import numpy as np
import pytest
from checks import panels

from mlnotes.datasets import load_breast_cancer
from mlnotes.estimation import kl_divergence
from mlnotes.feature_selection import (
    SelectKBest,
    best_features,
    best_subsets,
    bin_codes,
    correlation_scores,
    forward_selection,
    information_scores,
    joint_distribution,
    mutual_information,
    number_of_features,
    residual_sum,
    selector_matrix,
)
from mlnotes.model_selection import StratifiedKFold
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.trees import entropy


def random_distributions(rng, count, a, b):
    """Joint distributions (count, a, b) with some cells that are 0."""
    P = rng.random((count, a, b)) * (rng.random((count, a, b)) < 0.8)
    P[:, 0, 0] += 0.1
    return P / P.sum(axis=(1, 2), keepdims=True)


# --- Subsets ---------------------------------------------------------------------------


@pytest.mark.claims("feature_selection-01")
def test_selector_matrix_selects_by_a_product_with_unit_columns(rng):
    X = rng.normal(size=(6, 5))
    for J in ((0,), (3, 1), (4, 0, 2), tuple(range(5))):
        E = selector_matrix(J, 5)
        np.testing.assert_array_equal(X @ E, X[:, list(J)])
        np.testing.assert_array_equal(E.T @ E, np.eye(len(J)))


@pytest.mark.claims("feature_selection-04")
def test_searches_fit_d_squared_and_2_to_the_d_models_and_take_the_first_of_equal_risks():
    for d in (1, 5, 12):
        asked = []
        steps = list(forward_selection(lambda J, asked=asked: asked.append(J) or -sum(J), d))
        assert steps[-1].fits == len(asked) == d * (d + 1) // 2
        assert steps[0] == ((), np.inf, 0) and () not in asked
        asked.clear()
        best = best_subsets(lambda J, asked=asked: asked.append(J) or sum(J), d)
        assert best[-1].fits == len(set(asked)) == len(asked) == 2**d - 1
    subsets = (0,), (0, 1), (0, 1, 2)
    equal = zip(subsets, [1.0] * 3, (3, 6, 7), strict=True)
    assert best_subsets(lambda J: 1.0, 3) == list(equal)
    equal = zip(subsets, [1.0] * 3, (3, 5, 6), strict=True)
    assert list(forward_selection(lambda J: 1.0, 3))[1:] == list(equal)


@pytest.mark.claims("feature_selection-04")
def test_forward_selection_of_orthogonal_columns_is_exhaustive(rng):
    X = np.linalg.qr(rng.normal(size=(20, 6)))[0] * rng.uniform(1, 5, size=6)
    y = rng.normal(size=20)
    risk = partial(residual_sum, X, y)
    forward = list(forward_selection(risk, 6))[1:]
    for step, best in zip(forward, best_subsets(risk, 6), strict=True):
        assert set(step.J) == set(best.J)
        assert step.risk == pytest.approx(best.risk, rel=1e-12)
    gains = (X.T @ y) ** 2 / np.sum(X**2, axis=0)
    assert list(forward[-1].J) == np.argsort(-gains).tolist()
    assert forward[2].risk == pytest.approx(y @ y - np.sort(gains)[-3:].sum(), rel=1e-12)


@pytest.mark.claims("feature_selection-04")
def test_forward_selection_may_miss_the_best_pair():
    u, v, w, r = np.eye(4)
    y = u + v
    risk = partial(residual_sum, np.column_stack([y + 0.8 * w, u + 0.9 * r, v - 0.9 * r]), y)
    assert best_subsets(risk, 3)[1].J == (1, 2) and risk((1, 2)) == pytest.approx(0, abs=1e-12)
    pair = list(forward_selection(risk, 3))[2]
    assert pair.J[0] == 0 and pair.risk > 0.1


def test_residual_sum_has_no_unit_of_features_and_a_copy_adds_nothing(rng):
    X, y = rng.normal(size=(9, 4)), rng.normal(size=9)
    X[:, 2], X[:, 3] = 0, X[:, 0]
    Q, _ = np.linalg.qr(X[:, :2])
    for unit in (1, 1e-30, 1e30):
        ours = residual_sum(X * [1, unit, 1, 1], y, (0, 1, 2, 3))
        assert ours == pytest.approx(np.sum((y - Q @ Q.T @ y) ** 2), rel=1e-12)
    assert residual_sum(X, y, ()) == pytest.approx(y @ y, rel=1e-15)


# --- Mutual information ----------------------------------------------------------------


@pytest.mark.claims("feature_selection-02")
def test_mutual_information_by_three_routes(rng):
    for P in random_distributions(rng, 200, 4, 3):
        f_x, f_y, information = P.sum(axis=1), P.sum(axis=0), mutual_information(P)
        kl = kl_divergence(P.ravel(), np.outer(f_x, f_y).ravel())
        entropies = entropy(f_x) + entropy(f_y) - entropy(P.ravel())
        assert kl == pytest.approx(information, rel=1e-12, abs=1e-12)
        assert entropies == pytest.approx(information, rel=1e-12, abs=1e-12)
        assert -1e-15 <= information <= min(entropy(f_x), entropy(f_y)) + 1e-12
        assert mutual_information(np.outer(f_x, f_y)) == pytest.approx(0, abs=1e-14)  # independent
        assert mutual_information(np.diag(f_x)) == pytest.approx(entropy(f_x), rel=1e-13)  # a copy
    tiny = np.diag([1e-200, 1 - 1e-200])  # f(x) f(y) is below all floats
    assert mutual_information(tiny) == pytest.approx(1e-200 * 200 * np.log(10), rel=1e-9)


@pytest.mark.parametrize("P", [[[5, 10], [15, 20]], [[-0.1, 0.6], [0.2, 0.3]]])
def test_mutual_information_refuses_counts_and_what_is_below_0(P):
    with pytest.raises(ValueError, match="P must be >= 0 with the sum 1; got"):
        mutual_information(np.array(P))


def test_bin_codes_are_equal_shares_and_keep_discrete_values(rng):
    x = rng.normal(size=1000)
    codes = bin_codes(x, 8)
    np.testing.assert_array_equal(np.bincount(codes), 125)
    np.testing.assert_array_equal(bin_codes(np.exp(x), 8), codes)
    assert (np.diff(codes[np.argsort(x)]) >= 0).all()
    few = rng.choice([-3.0, 0.5, 9.0], size=50)
    np.testing.assert_array_equal(bin_codes(few), np.unique(few, return_inverse=True)[1])
    rare = np.append(np.zeros(99), 1.0)  # no quantile tells it from a constant
    assert bin_codes(rare).tolist() == [0] * 99 + [1]
    assert bin_codes(np.arange(8), 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]


def test_joint_distribution_counts(rng):
    codes, y = rng.integers(4, size=(60, 3)), rng.choice(["u", "v", "w"], size=60)
    codes[0] = 3
    P = joint_distribution(codes, y)
    for j, a, b in np.ndindex(P.shape):
        assert P[j, a, b] == np.mean((codes[:, j] == a) & (y == "uvw"[b]))
    wide = np.array([[255, 1], [0, 2]], dtype=np.uint8)
    assert joint_distribution(wide, y[:2]).shape[:2] == (2, 256)
    for other in (-1, 0.5):  # what is no code counts nowhere, and is seen
        P = joint_distribution(np.array([[other], [1]]), y[:2])[0]
        with pytest.raises(ValueError, match="with the sum 1; got .* the sum 0.5"):
            mutual_information(P)


# --- Filter ----------------------------------------------------------------------------


def table():
    """A label of two values, and features: independent, a copy, half of a copy, constant."""
    y = np.repeat([0, 1], 8)
    half = np.where(np.arange(16) % 4 < 2, y, 0)
    return np.column_stack([np.arange(16) % 2, 5 - 2 * y, half, np.ones(16)]), y


@pytest.mark.claims("feature_selection-03")
def test_scores_of_a_table_rank_its_features():
    X, y = table()
    scores = information_scores(X, y)
    H = entropy([0.75, 0.25]) - entropy([0.5, 0.5]) / 2  # of a half copy: H(x) - H(x|y)
    np.testing.assert_allclose(scores, [0, np.log(2), H, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(correlation_scores(X, y), [0, 1, 3**-0.5, 0], rtol=1e-12, atol=1e-14)
    for score_func in (information_scores, correlation_scores):
        filtered = SelectKBest(score_func, k=2).fit(X, y)
        assert filtered.get_support(indices=True).tolist() == [1, 2]
        np.testing.assert_array_equal(filtered.transform(X), X[:, [1, 2]])
        np.testing.assert_array_equal(filtered.inverse_transform(X[:, [1, 2]])[:, 1:3], X[:, 1:3])


def test_information_scores_are_those_of_the_bins_asked_for(rng):
    X, y = rng.normal(size=(90, 2)), rng.choice(["u", "v", "w"], size=90)
    for n_bins, options in ((4, {"n_bins": 4}), (10, {})):
        tables = [joint_distribution(bin_codes(x, n_bins)[:, None], y)[0] for x in X.T]
        by_hand = [mutual_information(P) for P in tables]
        np.testing.assert_allclose(information_scores(X, y, **options), by_hand, rtol=1e-12)
    assert np.ptp(by_hand) > 0.01


@pytest.mark.claims("feature_selection-03")
def test_information_scores_of_an_exclusive_or_are_0():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    y = X[:, 0] ^ X[:, 1]
    np.testing.assert_allclose(information_scores(X, y), 0, rtol=1e-12, atol=1e-15)
    both = (2 * X[:, 0] + X[:, 1])[:, None]
    assert information_scores(both, y)[0] == pytest.approx(np.log(2), rel=1e-14)


def test_correlation_scores_agree_with_numpy_and_have_no_unit(rng):
    X, y = rng.integers(9, size=(50, 4)), rng.choice(["a", "b", "c"], size=50)
    by_class = [[abs(np.corrcoef(x, y == c)[0, 1]) for c in "abc"] for x in X.T]
    np.testing.assert_allclose(correlation_scores(X, y), np.max(by_class, axis=1), rtol=1e-12)
    scaled = X * [1e140, -1e-140, 1, 3] + [0, 0, 1e15, 1e-15]
    np.testing.assert_allclose(correlation_scores(scaled, y), correlation_scores(X, y), rtol=1e-12)


@pytest.mark.claims("feature_selection-03")
def test_number_of_features_is_the_argmin_of_the_curve():
    T, model = load_breast_cancer(), KNeighborsClassifier()
    X, y, ks = T.X[:200], T.y[:200], (1, 3, 10)
    count = number_of_features(model, X, y, ks, cv=3)
    wrong = np.zeros(3)
    for train, test in StratifiedKFold(3).split(X, y):
        order = np.argsort(-information_scores(X[train], y[train]), kind="stable")
        for i, k in enumerate(ks):
            kept = model.fit(X[train][:, np.sort(order[:k])], y[train])
            wrong[i] += np.sum(kept.predict(X[test][:, np.sort(order[:k])]) != y[test])
    np.testing.assert_allclose(count.errors, wrong / 200, rtol=1e-12)
    assert count.K == ks[np.argmin(wrong)]
    fresh = KNeighborsClassifier()
    alike = number_of_features(fresh, np.repeat(X[:, :1], 3, axis=1), y, iter((3, 2, 1)), cv=3)
    assert not hasattr(fresh, "classes_")  # a copy of it is fitted
    assert alike.K == 3 and np.ptp(alike.errors) == 0  # in a tie the first
    with pytest.raises(ValueError, match="ks must hold at least one number of features; got none"):
        number_of_features(model, X, y, ())
    with pytest.raises(ValueError, match="k must be an integer >= 1; got 'all'"):
        number_of_features(model, X, y, ("all",), cv=3)


# --- Estimator -------------------------------------------------------------------------


def test_best_features_are_those_of_the_largest_counts_and_ties_go_to_the_first(rng):
    assert best_features(np.array([0, 3, 2], dtype=np.uint8), K=2).tolist() == [1, 2]
    X, y = np.repeat(rng.normal(size=(9, 1)), 4, axis=1), np.arange(9) % 2
    model = SelectKBest(k=2).fit(X, y)
    assert model.get_support().tolist() == [True, True, False, False]
    for k in ("all", 4, 10):
        np.testing.assert_array_equal(SelectKBest(k=k).fit_transform(X, y), X)
    with pytest.raises(ValueError, match="the 2 features kept; got 3"):
        model.inverse_transform(X[:, :3])


@pytest.mark.parametrize("scores", [[1.0], [np.nan] * 4])
def test_scores_that_are_no_number_for_each_feature_are_refused(scores):
    with pytest.raises(ValueError, match="score_func must give 4 finite scores; got"):
        SelectKBest(lambda X, y: scores).fit(*table())


# --- The lecture figure ----------------------------------------------------------------


@pytest.mark.claims("feature_selection-05")
def test_figure_irrelevant_rises_with_the_irrelevant_features():
    from figures.feature_selection import irrelevant

    (ax,) = panels(irrelevant)
    curve = ax.lines[0].get_xydata()
    assert curve[0, 0] == 0 and curve[-1, 0] == 50
    assert 0.08 < curve[0, 1] < 0.16 and 0.25 < curve[-1, 1] < 0.37
    assert (np.diff(curve[:, 1]) > 0).all()
    least = ax.lines[1].get_ydata()[0]
    assert 0.0786 < least < 0.0787 and (curve[:, 1] > least).all()


def test_figure_leak_is_far_below_the_honest_error():
    from figures.feature_selection import leak

    (ax,) = panels(leak)
    leaked, inside = (line.get_ydata() for line in ax.lines[:2])
    assert (inside > 0.3).all() and (leaked < inside - 0.1).all()
