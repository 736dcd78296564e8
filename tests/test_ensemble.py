"""The ensemble chapter: every statement of the notes, checked by a second route."""

import itertools
import re
from contextlib import nullcontext
from itertools import islice
from math import comb, log

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_rings,
)
from mlnotes.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    Stump,
    adaboost,
    bagged,
    bootstrap_counts,
    disagreement,
    error_bounds,
    learner,
    majority_error,
    normaliser,
    out_of_bag,
    plurality,
    random_forest,
    reweighted,
    samme,
    stumps,
    three_components,
    tie_break,
    tree_outputs,
    variance_of_mean,
    vote_weight,
    weighted_error,
    weighted_vote,
)
from mlnotes.generative import GaussianNB
from mlnotes.linear_regression import LinearRegression
from mlnotes.logistic_regression import LogisticRegression
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.perceptron import Perceptron
from mlnotes.trees import DecisionTreeClassifier, DecisionTreeRegressor, grow, leaf_of

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
LAW = np.array([0.1, 0.2, 0.3, 0.4])  # P of the values 0, 1, 3, 7, for exact enumeration
VALUES = np.array([0.0, 1.0, 3.0, 7.0])


# ---------------------------------------------------------------------------------------
# The book's way, with loops
# ---------------------------------------------------------------------------------------


def all_stumps(X):
    """The outputs of p sign(x_f - t) for every f, midpoint t and p, and of both constants."""
    n = len(X)
    outputs = [np.ones(n), -np.ones(n)]
    for x in X.T:
        values = np.unique(x)
        for a, b in itertools.pairwise(values):
            side = np.where(x > (a + b) / 2, 1.0, -1.0)
            outputs += [side, -side]
    return np.array(outputs)


def book_adaboost(X, y, T):
    """MLN's steps, over the pool of all stumps: outputs, errors, alphas and weights by round."""
    pool, w = all_stumps(X), [1 / len(y)] * len(y)
    found = []
    for _ in range(T):
        errors = [sum(w[i] for i in range(len(y)) if h[i] != y[i]) for h in pool]
        h, xi = pool[int(np.argmin(errors))], min(errors)
        alpha = 0.5 * log((1 - xi) / xi)
        raw = [w[i] * np.exp(-alpha * y[i] * h[i]) for i in range(len(y))]
        w = [r / sum(raw) for r in raw]
        found.append((xi, alpha, np.array(w)))
    return found


def boosted(X, y, T, learn=None):
    """The rounds 1 .. T."""
    return list(islice(adaboost(X, y, learn or stumps(X, y)), 1, T + 1))


def rings(seed, n=120):
    T = make_rings(n, rng=np.random.default_rng(seed))
    return T.X, T.y


def noisy(rng, n=60, d=3):
    """Labels that no stump explains."""
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.7, 1, -1)


def weighting(rng, n):
    D = rng.exponential(size=n) ** 2
    return D / D.sum()


def samples_of(n, support):
    """All sequences of n places of a support."""
    return np.array(list(itertools.product(range(support), repeat=n)))


def within(mean, draws, sigmas=4):
    """Assert that the mean of the draws is the computed one, within standard errors."""
    draws = np.asarray(draws, dtype=float)
    assert abs(draws.mean() - mean) <= sigmas * draws.std(ddof=1) / np.sqrt(len(draws))


# ---------------------------------------------------------------------------------------
# Voting
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ensemble-01")
def test_a_vote_is_the_sign_of_a_product(rng):
    H, alpha = rng.choice([-1, 1], size=(50, 7)), rng.exponential(size=7)
    loop = [1.0 if sum(a * h for a, h in zip(alpha, row, strict=True)) > 0 else -1.0 for row in H]
    assert weighted_vote(H, alpha).tolist() == loop
    assert (weighted_vote(H) == np.where((H > 0).sum(axis=1) > 3, 1, -1)).all()
    assert (weighted_vote(H, np.full(7, 0.3)) == weighted_vote(H)).all()
    assert (weighted_vote(H, 1e6 * alpha) == weighted_vote(H, alpha)).all()
    assert weighted_vote(np.array([[1, -1]])).tolist() == [-1]
    assert weighted_vote(np.array([[1, -1, -1]]), np.array([2, 0.5, 0.5])).tolist() == [1]


@pytest.mark.claims("ensemble-01")
def test_a_plurality_is_the_mode_and_in_a_tie_the_first_label(rng):
    L, alpha = rng.choice(["c", "a", "b"], size=(40, 6)), rng.exponential(size=6)
    for row, ours, weighed in zip(L, plurality(L), plurality(L, alpha), strict=True):
        votes = {c: np.sum(row == c) for c in "abc"}
        assert ours == min(c for c in "abc" if votes[c] == max(votes.values()))
        assert weighed == max("abc", key=lambda c: alpha[row == c].sum())
    signs = rng.choice([-1, 1], size=(40, 6))
    assert (plurality(signs, alpha) == weighted_vote(signs, alpha)).all()
    against = np.array([[-3.0, 1, 1], [-1, 0, 1]])  # votes may count against a label, and sum to 0
    assert [plurality(np.array([["a", "b", "c"]]), v)[0] for v in against] == ["b", "c"]


@pytest.mark.claims("ensemble-02")
def test_a_majority_of_independent_voters_errs_less(rng):
    assert majority_error(0.3, 21) == pytest.approx(0.026390, abs=5e-7)
    assert majority_error(0.45, 301) == pytest.approx(0.040864, abs=5e-7)
    for e, T in itertools.product((0.0, 0.1, 0.45, 0.5, 0.8, 1.0), (1, 3, 5, 7)):
        patterns = np.array(list(itertools.product([0, 1], repeat=T)))  # 1: the voter errs
        p = (e**patterns * (1 - e) ** (1 - patterns)).prod(axis=1)
        assert majority_error(e, T) == pytest.approx(
            p[patterns.sum(axis=1) > T / 2].sum(), abs=1e-13
        )
    by_T = {e: np.array([majority_error(e, T) for T in range(1, 60, 2)]) for e in (0.3, 0.5, 0.6)}
    assert (np.diff(by_T[0.3]) < 0).all() and by_T[0.3][1] < 0.3 and by_T[0.3][-1] < 2e-3
    np.testing.assert_allclose(by_T[0.5], 0.5)
    assert (np.diff(by_T[0.6]) > 0).all()
    assert majority_error(0.4, 2001) < 1e-15  # C(T, k) is larger than any float
    within(majority_error(0.4, 9), (rng.random((20_000, 9)) < 0.4).sum(axis=1) > 4.5)
    with pytest.raises(ValueError, match="T must be odd, so that there are no ties; got 4"):
        majority_error(0.3, 4)


@pytest.mark.claims("ensemble-03")
def test_members_must_complement_each_other(rng):
    thirds = np.ones((9, 3))
    for t in range(3):
        thirds[3 * t : 3 * t + 3, t] = -1  # a third of the samples, another for every voter
    same = np.repeat(thirds[:, :1], 3, axis=1)
    assert (thirds < 0).mean(axis=0).tolist() == (same < 0).mean(axis=0).tolist() == [1 / 3] * 3
    assert (weighted_vote(thirds) < 0).mean() == 0 and (weighted_vote(same) < 0).mean() == 1 / 3
    assert (weighted_vote(same) == same[:, 0]).all() and (disagreement(same) == 0).all()
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(disagreement(thirds)[off], 2 / 3)

    X, y = noisy(rng)
    forest = tree_outputs(random_forest(X, (y > 0).astype(int), 3, 1, rng=rng), X)
    boost = np.column_stack([state.h.predict(X) for state in boosted(X, y, 3)])
    bags = BaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    for L in (forest, boost, np.column_stack([h.predict(X) for h in bags.estimators_])):
        assert (disagreement(L)[off] > 0).all()


# ---------------------------------------------------------------------------------------
# Three components
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ensemble-04")
def test_each_component_learns_where_the_earlier_ones_do_not_help(rng):
    X, y = noisy(rng, n=200)
    for n1 in (5, 60, 199):
        ensemble = three_components(DecisionTreeClassifier(max_depth=1), X, y, n1, rng=rng)
        (h1, h2, h3), (D1, D2, D3) = ensemble
        assert len(D1) == len(set(D1)) == n1
        right = h1.predict(X[D2]) == y[D2]
        assert right.sum() == (~right).sum() and len(D2) == len(set(D2)) > 0
        assert len(D2) == 2 * min(np.sum(h1.predict(X) == y), np.sum(h1.predict(X) != y))
        assert set(D3) == set(np.flatnonzero(h1.predict(X) != h2.predict(X)))
        said = [h1.predict(x[None])[0] if h1.predict(x[None]) == h2.predict(x[None])
                else h3.predict(x[None])[0] for x in X]  # fmt: skip
        assert ensemble.predict(X).tolist() == said

    class Sign(Mean):
        """Learns nothing: every copy predicts the sign of the first feature."""

        def get_params(self, deep=True):
            return {"value": self.value}

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.where(X[:, 0] > 0, 1, -1)

    line, stump = np.arange(8.0)[:, None], DecisionTreeClassifier(max_depth=1)
    for seed in (0, 14):  # h_1 and h_2 differ on one sample, on which h_1 errs
        draws = np.random.default_rng(seed)
        k = draws.integers(2, size=8)
        (h1, _, h3), (*_, D3) = three_components(stump, line, k, 5, rng=draws)
        assert len(D3) == 1 and h1.predict(line[D3]) != k[D3] == h3.predict(line[D3])

    (h1, h2, h3), (*_, D3) = three_components(Sign(0), X, y, 60, rng=rng)
    assert len(D3) == 0 and h3 is h1 is not h2
    for n1 in (0, 200):
        with pytest.raises(
            ValueError, match=re.escape(f"n1 must be between 1 and n - 1 = 199; got {n1}")
        ):
            three_components(DecisionTreeClassifier(), X, y, n1, rng=rng)
    with pytest.raises(ValueError, match="right on some of the samples and wrong on others"):
        three_components(
            Perceptron(n_iter_no_change=100), np.arange(9.0)[:, None], np.arange(9) > 4, 8, rng=rng
        )


@pytest.mark.claims("ensemble-05")
def test_the_three_err_at_most_with_3_e2_minus_2_e3(rng):
    for h in itertools.product([-1, 1], repeat=3):
        assert tie_break(*h) == np.sign(sum(h))
    tried = 0
    for _ in range(3000):
        P, wrong = weighting(rng, 12), rng.random((3, 12)) < rng.uniform(0.1, 0.5, size=(3, 1))
        e1 = P[wrong[0]].sum()
        differ = wrong[0] != wrong[1]
        if not 0 < e1 < 1 or not differ.any():
            continue
        P2 = np.where(wrong[0], P / e1, P / (1 - e1)) / 2  # on it, h_1 is right half of the time
        assert P2[wrong[0]].sum() == pytest.approx(0.5)
        e = max(e1, P2[wrong[1]].sum(), P[differ & wrong[2]].sum() / P[differ].sum())
        if e < 1 / 2:
            tried += 1
            err = P[np.where(differ, wrong[2], wrong[0])].sum()
            assert err <= 3 * e**2 - 2 * e**3 + 1e-12 < e + 1e-12
    assert tried > 500
    assert majority_error(0.3, 3) == pytest.approx(3 * 0.3**2 - 2 * 0.3**3)  # as if independent


# ---------------------------------------------------------------------------------------
# Bagging
# ---------------------------------------------------------------------------------------


class Mean:
    """The learner of the sample mean."""

    def __init__(self, value):
        self.value = value

    def predict(self, X):
        return np.full(len(X), self.value)


@pytest.mark.claims("ensemble-06")
def test_bootstrap_sets_have_n_samples_and_the_bagged_are_a_mean(rng):
    counts = bootstrap_counts(30, 400, rng=rng)
    assert counts.shape == (400, 30) and (counts.sum(axis=1) == 30).all()
    within(1, counts[:, 3])
    within(1 - (1 - 1 / 30) ** 30, (counts > 0).mean(axis=1))
    for n in range(1, 6):
        distinct = np.mean([len(set(D)) / n for D in samples_of(n, n).tolist()])
        assert distinct == pytest.approx(1 - (1 - 1 / n) ** n)
    X, y = noisy(rng)
    members = [
        DecisionTreeRegressor(max_depth=2).fit(X, y, w) for w in bootstrap_counts(60, 9, rng=rng)
    ]
    stacked = np.array([h.predict(X) for h in members])
    np.testing.assert_allclose(bagged(members, X), stacked.mean(axis=0), rtol=1e-12, atol=1e-14)
    sample = np.array([1.0, 5.0, 6.0])
    everything = [Mean(sample[D].mean()) for D in samples_of(3, 3)]
    assert len(everything) == 27
    np.testing.assert_allclose(bagged(everything, X[:1]), sample.mean(), rtol=1e-12, atol=1e-14)


@pytest.mark.claims("ensemble-07")
def test_bagging_takes_the_variance_of_its_members_from_the_error(rng):
    X, y = noisy(rng)
    members = [DecisionTreeRegressor().fit(X, y, w) for w in bootstrap_counts(60, 8, rng=rng)]
    x, target = rng.normal(size=(40, 3)), rng.normal(size=40)
    h_b, h_bag = np.array([h.predict(x) for h in members]), bagged(members, x)
    each, whole = np.mean((h_b - target) ** 2, axis=0), (h_bag - target) ** 2
    np.testing.assert_allclose(
        each - whole, np.mean((h_b - h_bag) ** 2, axis=0), rtol=1e-12, atol=1e-12
    )
    assert (whole <= each + 1e-12).all() and (whole < each - 0.01).any()


def laws_of_the_mean(n, m):
    """For m independent sets of n: all h_1 and (1/m) sum h_b, and the probability of each."""
    D = samples_of(n * m, len(VALUES))
    p, h = LAW[D].prod(axis=1), VALUES[D].reshape(len(D), m, n).mean(axis=2)
    return h[:, 0], h.mean(axis=1), p


@pytest.mark.claims("ensemble-08", "ensemble-09")
def test_independent_sets_divide_the_variance_of_the_mean_by_m_but_of_no_member(rng):
    one, n = [], 2
    for m in (1, 2, 3):
        h_D, h_hat, p = laws_of_the_mean(n, m)
        h_bar = p @ h_D
        assert p.sum() == pytest.approx(1) and p @ h_hat == pytest.approx(h_bar)
        one.append(p @ (h_D - h_bar) ** 2)
        assert p @ (h_hat - h_bar) ** 2 == pytest.approx(one[-1] / m)
        assert variance_of_mean(one[-1], 0.0, m) == pytest.approx(one[-1] / m)
    np.testing.assert_allclose(one, one[0])  # printed: it vanishes as m grows
    assert one[0] > 1

    def tree(seed):
        X, y = noisy(np.random.default_rng(seed), n=40)
        return DecisionTreeRegressor(max_depth=3).fit(X, y).predict(np.zeros((1, 3)))[0]

    h = np.array([tree(seed) for seed in range(600)])
    means = h.reshape(-1, 4).mean(axis=1)
    within(h.var() / 4, (means - h.mean()) ** 2)


@pytest.mark.claims("ensemble-10")
def test_bagging_of_one_data_set_converges_to_a_limit_of_its_own(rng):
    n, values = 3, VALUES
    mu, sigma2 = LAW @ values, LAW @ values**2 - (LAW @ values) ** 2
    squared = {1: 0.0, 2: 0.0, np.inf: 0.0}
    for D in samples_of(n, len(values)):
        p, x = LAW[D].prod(), values[D]
        b = x[samples_of(n, n)].mean(axis=1)  # the 27 bootstrap means, equally likely
        assert b.mean() == pytest.approx(x.mean(), abs=1e-12)  # E_Q[h | D]
        squared[1] += p * np.mean((b - mu) ** 2)
        squared[2] += p * np.mean((np.add.outer(b, b) / 2 - mu) ** 2)
        squared[np.inf] += p * (x.mean() - mu) ** 2
    for m, found in squared.items():
        assert found == pytest.approx(sigma2 / n * (1 + (1 - 1 / n) / m))
    assert squared[np.inf] > 1  # no number of bags comes nearer to E h

    X, y = noisy(rng)
    x = rng.normal(size=(6, 3))

    def run(X, y):
        trees = random_forest(X, y, 150, 3, rng=rng, criterion="squared_error")
        return tree_outputs(trees, x)

    a, b, other = run(X, y), run(X, y), run(*noisy(rng))
    error = np.sqrt((a.var(axis=1) + b.var(axis=1)) / 150)
    assert (np.abs(a.mean(axis=1) - b.mean(axis=1)) < 4 * error).all()
    assert (np.abs(a.mean(axis=1) - other.mean(axis=1)) > 4 * error).any()


@pytest.mark.claims("ensemble-11", "ensemble-12")
def test_a_bootstrap_draw_is_distributed_as_the_data_but_two_draws_are_dependent():
    n = 3
    one, two = np.zeros(4), np.zeros((4, 4))
    for D in samples_of(n, 4):
        for a in D:
            one[a] += LAW[D].prod() / n
            for b in D:
                two[a, b] += LAW[D].prod() / n**2
    np.testing.assert_allclose(one, LAW, rtol=1e-12, atol=1e-15)
    for p in LAW:  # the sum over the copies of x_i in D, which the notes leave unfinished
        terms = [comb(n, k) * p**k * (1 - p) ** (n - k) * k / n for k in range(n + 1)]
        assert sum(terms) == pytest.approx(p, abs=1e-12)
    np.testing.assert_allclose(two.sum(axis=0), LAW)
    equal = LAW @ LAW
    assert np.trace(two) == pytest.approx(equal + (1 - equal) / n, abs=1e-12)
    assert np.abs(two - np.outer(LAW, LAW)).max() > 0.05  # not independent


@pytest.mark.claims("ensemble-17")
def test_the_variance_of_the_mean_of_correlated_members(rng):
    A = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6))  # outputs of 6 members, by data set
    S = np.cov(A.T, bias=True)
    variance, m = np.mean(np.diag(S)), len(S)
    covariance = (S.sum() - np.trace(S)) / (m * (m - 1))
    ours = variance_of_mean(variance, covariance / variance, m)
    assert ours == pytest.approx(A.mean(axis=1).var(), rel=1e-12)
    assert variance_of_mean(2.0, 1.0, 50) == 2 and variance_of_mean(
        2.0, 0.3, 10**9
    ) == pytest.approx(0.6)

    x, found = rng.normal(size=(12, 6)), {}
    for k in (1, 6):
        h = []
        for seed in range(50):
            draw = np.random.default_rng(seed)
            X = draw.normal(size=(40, 6))
            y = 3 * X[:, 0] + draw.normal(size=40)
            trees = random_forest(X, y, 6, k, rng=draw, criterion="squared_error")
            h.append(tree_outputs(trees, x))
        S = np.mean([np.cov(at.T) for at in np.swapaxes(h, 0, 1)], axis=0)  # over data sets
        variance = np.trace(S) / 6
        found[k] = variance, (S.sum() - np.trace(S)) / 30 / variance
    assert found[1][0] > found[6][0] and found[1][1] < found[6][1]  # noisier, but less alike


def test_out_of_bag_means_take_the_members_that_have_not_seen_the_sample(rng):
    counts, P = bootstrap_counts(20, 6, rng=rng), rng.random((6, 20, 3))
    ours = out_of_bag(iter(P), counts)
    for i in range(20):
        unseen = [P[b, i] for b in range(6) if counts[b, i] == 0]
        if unseen:
            np.testing.assert_allclose(ours[i], np.mean(unseen, axis=0))
        else:
            assert np.isnan(ours[i]).all()
    np.testing.assert_allclose(out_of_bag(iter(P[:, :, 0]), counts), ours[:, 0])


# ---------------------------------------------------------------------------------------
# Random forest
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ensemble-14")
def test_a_forest_is_trees_on_bootstrap_sets_that_vote(rng):
    X, k = rng.normal(size=(70, 4)), rng.integers(3, size=70)
    trees = random_forest(X, k, 7, 4, rng=np.random.default_rng(5))
    counts = bootstrap_counts(70, 7, rng=np.random.default_rng(5))
    for tree, count in zip(trees, counts, strict=True):  # k = d: each is the tree of its set
        rows = np.repeat(np.arange(70), count)
        alone = grow(X[rows], k[rows])
        np.testing.assert_array_equal(tree.feature, alone.feature)
        np.testing.assert_array_equal(tree.threshold, alone.threshold)
        np.testing.assert_allclose(tree.value, alone.value)
        assert tree.n_samples[0] == np.count_nonzero(count) and tree.share[0] == 1
        assert (tree.impurity[tree.feature < 0] == 0).all()  # a full tree
    (one,) = random_forest(X, k, 1, 4, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(
        one.threshold, random_forest(X, k, 1, 4, rng=np.random.default_rng(5))[0].threshold
    )
    L = tree_outputs(trees, X)
    for row, said in zip(L, plurality(L), strict=True):
        votes = np.bincount(row, minlength=3)
        assert votes[said] == votes.max() and (votes[:said] < votes[said]).all()
    of_one = random_forest(X, np.zeros(70, dtype=int), 2, 1, rng=rng)
    assert (tree_outputs(of_one, X) == 0).all()  # the only class, not its share
    P = np.mean([tree.value[leaf_of(tree, X)] for tree in trees], axis=0)
    assert (P.argmax(axis=1) == plurality(L)).all()  # all leaves are pure: shares are votes


@pytest.mark.claims("ensemble-14")
def test_each_node_takes_the_best_of_the_features_drawn_for_it(rng):
    """With k of d drawn, the r-th best feature is the root's with C(d - r, k - 1) / C(d, k)."""
    y = np.repeat([0, 1], 150)
    errors = (0.0, 0.15, 0.3, 0.48)
    X = np.column_stack([np.where(rng.random(300) < e, 1 - y, y) for e in errors])
    for k in (1, 2, 3):
        trees = random_forest(X, y, 600, k, rng=rng, max_depth=1)
        taken = np.bincount([tree.feature[0] for tree in trees], minlength=4) / 600
        p = np.array([comb(4 - r, k - 1) / comb(4, k) for r in range(1, 5)])
        assert (np.abs(taken - p) <= 4 * np.sqrt(p * (1 - p) / 600)).all()


@pytest.mark.claims("ensemble-15")
def test_no_more_features_than_there_are_can_be_drawn(rng):
    X, y = rng.normal(size=(20, 3)), rng.integers(2, size=20)
    for k in (4, 0):  # printed: k >= d
        with pytest.raises(ValueError, match=f"k must be between 1 and d = 3.*; got {k}"):
            random_forest(X, y, 2, k, rng=rng)
    with pytest.raises(ValueError, match="larger sample than population"):
        rng.choice(3, size=4, replace=False)
    bags = [grow(X, y, w) for w in bootstrap_counts(20, 4, rng=np.random.default_rng(1))]
    forest = random_forest(X, y, 4, 3, rng=np.random.default_rng(1))
    for bagged_tree, tree in zip(bags, forest, strict=True):
        np.testing.assert_array_equal(bagged_tree.threshold, tree.threshold)


# ---------------------------------------------------------------------------------------
# Weak classifiers
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ensemble-20")
def test_the_stump_is_the_best_of_them_all_under_any_weights(rng):
    X = np.column_stack([rng.integers(4, size=25), rng.normal(size=25), np.ones(25)])
    y = rng.choice([-1, 1], size=25)
    learn, pool = stumps(X, y), all_stumps(X)
    for _ in range(1000):
        D = weighting(rng, 25)
        said = learn(D).predict(X)
        error = weighted_error(y, said, D)
        book = ((pool != y) @ D).min()
        assert error == pytest.approx(book, abs=1e-12) and error <= 1 / 2
        assert weighted_error(y, -said, D) == pytest.approx(1 - error, abs=1e-14)
        assert weighted_error(y, said, 7 * D) == pytest.approx(error, abs=1e-14)
    assert weighted_error(y, said, np.ones(25)) == pytest.approx(np.mean(said != y))
    assert learn(7 * D) == learn(1e-14 * D) == learn(D)


def test_stumps_of_several_classes_and_of_constant_features(rng):
    X, y = rng.normal(size=(30, 2)), rng.choice(list("abc"), size=30)
    learn = stumps(X, y)
    for _ in range(30):
        D = weighting(rng, 30)
        best = 1.0
        for x in X.T:
            for t in x:
                for a, b in itertools.product("abc", repeat=2):
                    best = min(best, weighted_error(y, np.where(x <= t, a, b), D))
        assert weighted_error(y, learn(D).predict(X), D) == pytest.approx(best, abs=1e-12)
    mirrored = stumps(np.column_stack([X, -X]), y)  # the same errors, rounded otherwise
    assert max(mirrored(weighting(rng, 30)).feature for _ in range(100)) < 2
    assert stumps(np.zeros((3, 2)), np.array([1, 1, -1]))(np.ones(3)) == Stump(0, np.inf, 1, 1)
    assert stumps([[1.0], [np.nextafter(1, 2)]], np.array([0, 1]))(np.ones(2)).predict(
        np.array([[1.0], [np.nextafter(1, 2)]])
    ).tolist() == [0, 1]
    assert stumps([[0.0, 0], [1, 1]], np.array([0, 1]))(np.ones(2)).feature == 0  # the first


# ---------------------------------------------------------------------------------------
# AdaBoost
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ensemble-21")
def test_the_vote_is_the_minimiser_of_the_normaliser():
    assert vote_weight(0.5) == 0 and vote_weight(0.1) == pytest.approx(np.log(3))
    assert vote_weight(0.3) == pytest.approx(0.42365, abs=5e-6)
    e = np.linspace(0.02, 0.98, 49)
    alpha = vote_weight(e)
    np.testing.assert_allclose(vote_weight(1 - e), -alpha, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(1 / (1 + np.exp(2 * alpha)), e)
    np.testing.assert_allclose(np.exp(alpha), np.sqrt((1 - e) / e))
    assert (np.diff(alpha) < 0).all() and (np.sign(alpha) == np.sign(0.5 - e.round(12))).all()
    step = 1e-6
    slope = (vote_weight(e + step) - vote_weight(e - step)) / (2 * step)
    np.testing.assert_allclose(slope, -1 / (2 * e * (1 - e)), rtol=1e-6)
    grid = np.linspace(-3, 3, 60_001)
    for error, ours in zip(e, alpha, strict=True):
        Z = (1 - error) * np.exp(-grid) + error * np.exp(grid)
        assert abs(grid[Z.argmin()] - ours) <= 1e-4 and (np.diff(Z, 2) > 0).all()
        assert normaliser(error) == pytest.approx(Z.min(), abs=1e-8)


@pytest.mark.claims("ensemble-22")
def test_a_vote_is_positive_below_one_half_only_and_boosting_ends_there():
    assert vote_weight(0.6) < 0 and vote_weight(0.5) == 0 and vote_weight(0.0) == np.inf
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, 1, 1, 1, 1])
    start, only = adaboost(X, y, stumps(X, y))
    assert only.error == 0 and only.alpha == 1
    np.testing.assert_allclose(only.D, start.D)
    assert np.isfinite(only.F).all() and (np.sign(only.F) == y).all()
    assert only.h == Stump(0, 1.5, -1, 1)
    assert len(list(adaboost(*XOR, stumps(*XOR)))) == 1  # the start, and no round
    model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimators_) == 1 and model.score(X, y) == 1
    assert model.estimator_weights_[:2].tolist() == [1, 0]
    with pytest.raises(
        ValueError, match="estimator must be better than chance.*its error is 0.5 or more"
    ):
        AdaBoostClassifier().fit(*XOR)


def test_one_without_error_outvotes_all_others(rng):
    X, y = noisy(rng)
    weak, whole = stumps(X, y), learner(DecisionTreeClassifier(), X, y)
    for boost in (adaboost, samme):
        turn = iter([weak, weak, weak, whole, weak])
        rounds = list(boost(X, y, lambda D, turn=turn: next(turn)(D)))
        assert len(rounds) == 5 and rounds[-1].error == 0
        assert rounds[-1].alpha == pytest.approx(1 + sum(s.alpha for s in rounds[:-1]))
        F = rounds[-1].F
        said = np.where(F > 0, 1, -1) if F.ndim == 1 else np.array([-1, 1])[F.argmax(axis=1)]
        assert (said == y).all()


@pytest.mark.claims("ensemble-23", "ensemble-24", "ensemble-25")
def test_right_and_wrong_weigh_one_half_after_the_update(rng):
    for _ in range(200):
        D, y, h = weighting(rng, 20), rng.choice([-1, 1], size=20), rng.choice([-1, 1], size=20)
        wrong = h != y
        e = weighted_error(y, h, D)
        alpha = vote_weight(e)
        new, Z = reweighted(D, y, h, alpha)
        assert Z == pytest.approx(normaliser(e), abs=1e-14)
        raw = D * np.exp(-alpha * y * h)
        assert raw[wrong].sum() == pytest.approx(np.sqrt(e * (1 - e)), abs=1e-14)
        np.testing.assert_allclose(new, np.where(wrong, D / (2 * e), D / (2 * (1 - e))), rtol=1e-12)
        assert new.sum() == pytest.approx(1) and new[wrong].sum() == pytest.approx(0.5, abs=1e-12)
        gain = new / D
        assert (gain[wrong] > 1).all() == (gain[~wrong] < 1).all() == (e < 1 / 2)
        np.testing.assert_allclose(gain[wrong][0] / gain[~wrong][0], np.exp(2 * alpha))
        np.testing.assert_allclose(np.exp(2 * alpha), (1 - e) / e)
        doubled = D * np.exp(2 * alpha * wrong)  # REP's alpha, on the wrong ones only
        np.testing.assert_allclose(doubled / doubled.sum(), new, rtol=1e-12)
    e, alpha = 0.3, vote_weight(0.3)
    new, _ = reweighted(np.full(10, 0.1), np.ones(10), np.where(np.arange(10) < 3, -1, 1), alpha)
    np.testing.assert_allclose(new * 10, [5 / 3] * 3 + [5 / 7] * 7)
    assert np.exp(-alpha) < 1 < np.exp(alpha)
    assert normaliser(0.5) == 1 and normaliser(0.49) < 1 and normaliser(0.51) < 1


@pytest.mark.claims("ensemble-24")
def test_no_stump_is_chosen_twice_in_a_row():
    for seed in range(3):
        X, y = rings(seed)
        rounds = boosted(X, y, 30)
        for state, after in itertools.pairwise(rounds):
            assert state.D[state.h.predict(X) != y].sum() == pytest.approx(0.5, abs=1e-12)
            assert weighted_error(y, state.h.predict(X), state.D) == pytest.approx(0.5, abs=1e-12)
            assert after.error < 0.5 and (after.h.predict(X) != state.h.predict(X)).any()


@pytest.mark.claims("ensemble-26")
def test_boosting_by_the_book(rng):
    y = np.ones(10)
    three = np.where(np.arange(10) < 3, -1, 1)
    first = boosted(np.arange(10.0)[:, None], y * three, 1, lambda D: Mean(1))[0]
    assert first.error == pytest.approx(0.3) and first.alpha == pytest.approx(0.42365, abs=5e-6)
    X, y = noisy(rng)
    rounds = boosted(X, y, 25)
    for state, (xi, alpha, w) in zip(rounds, book_adaboost(X, y, 25), strict=True):
        assert state.error == pytest.approx(xi, abs=1e-10)
        assert state.alpha == pytest.approx(alpha, abs=1e-9)
        np.testing.assert_allclose(state.D, w, rtol=1e-9, atol=1e-10)
    F = sum(s.alpha * s.h.predict(X) for s in rounds)
    np.testing.assert_allclose(rounds[-1].F, F, rtol=1e-12, atol=1e-12)
    H, alpha = np.column_stack([s.h.predict(X) for s in rounds]), [s.alpha for s in rounds]
    assert (weighted_vote(H, np.array(alpha)) == np.where(F > 0, 1, -1)).all()
    product = np.cumprod([s.Z for s in rounds])
    np.testing.assert_allclose([s.objective for s in rounds], product, rtol=1e-12)
    np.testing.assert_allclose([np.mean(np.exp(-y * s.F)) for s in rounds], product, rtol=1e-12)


@pytest.mark.claims("ensemble-26")
def test_weak_voters_with_errors_above_one_fifth_end_without_error():
    for seed in range(10):
        X, y = rings(seed)
        rounds = boosted(X, y, 60)
        assert min(s.error for s in rounds) > 0.2
        assert np.sign(rounds[-1].F).tolist() == y.tolist()


@pytest.mark.claims("ensemble-26")
def test_for_two_classes_samme_is_adaboost_with_votes_twice_as_large(rng):
    X, y = noisy(rng)
    w = rng.exponential(size=60)
    ours = list(islice(adaboost(X, y, stumps(X, y), w), 20))
    theirs = list(
        islice(samme(X, y, stumps(X, y), w), 20)
    )  # alpha = ln((1 - e) / e), on wrong ones
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(b.D, a.D, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(b.F[:, 1] - b.F[:, 0], 2 * a.F, rtol=1e-10, atol=1e-11)
        assert b.objective == pytest.approx(a.objective) and b.alpha == pytest.approx(2 * a.alpha)
    np.testing.assert_allclose(ours[0].D, w / w.sum())


def test_samme_lowers_its_loss_and_ends_each_round_at_chance(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(4, size=60)
    rounds = list(islice(samme(X, y, stumps(X, y), learning_rate=0.7), 1, 16))
    wrong = np.array([s.h.predict(X) != y for s in rounds])
    alpha = np.array([s.alpha for s in rounds])
    for t, state in enumerate(rounds, start=1):
        loss = np.mean(np.exp(alpha[:t] @ (wrong[:t] - 3 / 4)))
        assert state.objective == pytest.approx(loss, rel=1e-10) and state.error < 3 / 4
        assert state.alpha == pytest.approx(0.7 * (np.log(1 / state.error - 1) + np.log(3)))
        np.testing.assert_allclose(state.F.sum(axis=1), alpha[:t].sum())
        np.testing.assert_allclose(y.size * state.D.sum(), y.size)
    assert (np.diff([1.0] + [s.objective for s in rounds]) < 0).all()
    full = list(islice(samme(X, y, stumps(X, y)), 1, 9))
    for state in full:  # with learning rate 1 the last classifier is left at chance
        assert weighted_error(y, state.h.predict(X), state.D) == pytest.approx(3 / 4)


@pytest.mark.claims("ensemble-27")
def test_the_weights_written_out_are_the_exponential_loss(rng):
    X, y = noisy(rng)
    rounds = boosted(X, y, 40)
    product = np.cumprod([normaliser(s.error) for s in rounds])
    for state, Z in zip(rounds, product, strict=True):
        np.testing.assert_allclose(state.D, np.exp(-y * state.F) / (60 * Z), rtol=1e-10)
        assert np.mean(np.where(state.F > 0, 1, -1) != y) <= np.mean(np.exp(-y * state.F)) + 1e-12
        assert np.mean(np.exp(-y * state.F)) == pytest.approx(Z, rel=1e-12)
    margin = np.linspace(-3, 3, 601)
    assert ((margin <= 0) <= np.exp(-margin)).all()


@pytest.mark.claims("ensemble-28", "ensemble-30")
def test_the_training_error_is_below_both_bounds():
    gamma = np.linspace(-0.5, 0.5, 1001)
    np.testing.assert_allclose(
        normaliser(0.5 - gamma), np.sqrt(1 - 4 * gamma**2), rtol=1e-12, atol=1e-15
    )
    slack = np.exp(-2 * gamma**2) - np.sqrt(1 - 4 * gamma**2)
    assert (slack >= 0).all() and (slack[gamma.round(6) != 0] > 0).all()
    for seed in range(10):
        X, y = rings(seed)
        rounds = boosted(X, y, 60)
        errors = np.array([s.error for s in rounds])
        wrong = np.array([np.mean(np.where(s.F > 0, 1, -1) != y) for s in rounds])
        product, bound = error_bounds(errors)
        assert (wrong <= product + 1e-12).all() and (product <= bound).all()
        assert (np.diff(product) < 0).all()  # every edge lowers it
        assert (wrong[bound < 1 / len(y)] == 0).all()
        np.testing.assert_allclose(bound, np.exp(-2 * np.cumsum((0.5 - errors) ** 2)))
        single = normaliser(errors[-1])  # printed: Z, without its product
        assert single > bound[-1] > product[-1]
    e = np.array([0.1, 0.2, 0.4])
    assert (np.diff(normaliser(e)) > 0).all()  # the smaller the error, the faster
    T, g = int(np.ceil(log(120) / (2 * 0.1**2))) + 1, 0.1  # T > ln n / (2 gamma^2)
    assert error_bounds(np.full(T, 0.5 - g))[1][-1] < 1 / 120


@pytest.mark.claims("ensemble-29")
def test_the_bound_need_not_converge_to_zero():
    gamma = 1 / (np.arange(1, 200_001) + 2)
    product, bound = error_bounds(0.5 - gamma)
    assert product[-1] == pytest.approx(1 / np.sqrt(6), abs=1e-4)
    assert bound[-1] == pytest.approx(np.exp(-2 * (np.pi**2 / 6 - 5 / 4)), abs=1e-4)
    telescope = np.cumprod(1 - 4 / np.arange(3.0, 2000) ** 2)
    assert telescope[-1] == pytest.approx(1 / 6, rel=3e-3)
    np.testing.assert_allclose(product[:1997] ** 2, telescope, rtol=1e-10)
    X, y = XOR
    assert {weighted_error(y, h, np.full(4, 0.25)) for h in all_stumps(X)} == {0.5}
    assert len(list(adaboost(X, y, stumps(X, y)))) == 1


@pytest.mark.claims("ensemble-31")
def test_the_printed_error_is_the_edge(rng):
    for _ in range(100):
        D, y, h = weighting(rng, 9), rng.choice([-1, 1], size=9), rng.choice([-1, 1], size=9)
        printed = np.sum(D * y * h) / np.sum(D)
        assert weighted_error(y, h, D) == pytest.approx((1 - printed) / 2, abs=1e-12)
    D, y = np.full(4, 0.25), np.array([1, 1, -1, -1])

    def literal(h):
        err = np.sum(D * y * h) / np.sum(D)
        with np.errstate(divide="ignore", invalid="ignore"):
            return err, np.log((1 - err) / err)

    assert literal(y) == (1, -np.inf) and weighted_error(y, y, D) == 0
    err, alpha = literal(np.array([-1, -1, -1, 1]))
    assert err == -0.5 and np.isnan(alpha)


@pytest.mark.claims("ensemble-32")
def test_the_printed_pair_of_vote_and_update_swings_to_and_fro(rng):
    for _ in range(100):
        D, y, h = weighting(rng, 15), rng.choice([-1, 1], size=15), rng.choice([-1, 1], size=15)
        e = weighted_error(y, h, D)
        half, whole = vote_weight(e), 2 * vote_weight(e)
        consistent, _ = reweighted(D, y, h, half)
        by_rep = D * np.exp(whole * (h != y))
        mixed, _ = reweighted(D, y, h, whole)
        assert weighted_error(y, h, consistent) == pytest.approx(0.5, abs=1e-12)
        assert weighted_error(y, h, by_rep / by_rep.sum()) == pytest.approx(0.5, abs=1e-12)
        assert weighted_error(y, h, mixed) == pytest.approx(1 - e, abs=1e-12)
        assert weighted_error(y, -h, mixed) == pytest.approx(e, abs=1e-12)
        back, _ = reweighted(mixed, y, -h, whole)  # -h is chosen next, with the same vote
        np.testing.assert_allclose(back, D, rtol=1e-10)
        np.testing.assert_allclose(whole * h + whole * -h, 0)


def loss_of(H, y):
    """The exponential loss of votes alpha, its gradient and Hessian."""
    A = -y[:, None] * H

    def at(alpha):
        e = np.exp(A @ alpha)
        return e.mean(), A.T @ e / len(y), (A.T * e) @ A / len(y)

    return at


@pytest.mark.claims("ensemble-34")
def test_boosting_is_stagewise_descent_on_the_exponential_loss(rng):
    X, y = noisy(rng)
    pool, rounds = all_stumps(X), boosted(X, y, 6)
    H = np.column_stack([s.h.predict(X) for s in rounds])
    at, alpha = loss_of(H, y), np.zeros(6)
    D = np.full(60, 1 / 60)
    for t, state in enumerate(rounds):
        errors = (pool != y) @ D
        assert normaliser(errors).min() == pytest.approx(state.Z, abs=1e-12)
        assert np.abs(0.5 - errors).max() == pytest.approx(0.5 - state.error, abs=1e-12)
        D, alpha[t] = state.D, state.alpha
        loss, gradient, _ = at(alpha)
        assert abs(gradient[t]) < 1e-10 and loss == pytest.approx(state.objective)
    assert np.abs(gradient[:-1]).max() > 1e-3  # the earlier votes are no longer best
    for _ in range(30):
        loss, gradient, hessian = at(alpha)
        alpha = alpha - np.linalg.lstsq(hessian, gradient)[0]
    assert np.abs(at(alpha)[1]).max() < 1e-10
    assert at(alpha)[0] < rounds[-1].objective - 1e-4


@pytest.mark.claims("ensemble-35")
def test_any_learner_can_be_boosted(rng):
    X, y = noisy(rng, n=80)
    for estimator in (
        DecisionTreeClassifier(max_depth=2),
        LogisticRegression(),
        Perceptron(max_iter=5),
    ):
        learn = learner(estimator, X, y, rng=np.random.default_rng(3))
        with (
            pytest.warns(match="Perceptron stopped")
            if isinstance(estimator, Perceptron)
            else nullcontext()
        ):
            rounds = boosted(X, y, 8, learn)
        assert len(rounds) >= 2
        product = error_bounds([s.error for s in rounds])[0]
        for state, Z in zip(rounds, product, strict=True):
            assert np.mean(np.where(state.F > 0, 1, -1) != y) <= Z + 1e-12
            assert weighted_error(y, state.h.predict(X), state.D) == pytest.approx(0.5, abs=1e-10)
    nearest = AdaBoostClassifier(KNeighborsClassifier(15), n_estimators=5, random_state=4)
    one, two = nearest.fit(X, y).decision_function(X), nearest.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(one, two)
    with pytest.raises(
        ValueError, match="rng must be given: KNeighborsClassifier takes no sample_weight"
    ):
        learner(KNeighborsClassifier(), X, y)


@pytest.mark.claims("ensemble-35")
def test_the_error_on_a_resample_is_the_weighted_error_in_expectation(rng):
    D, y, h = weighting(rng, 4), np.array([1, -1, 1, 1]), np.array([1, 1, 1, -1])
    sets = samples_of(4, 4)
    expected = D[sets].prod(axis=1) @ np.mean((h != y)[sets], axis=1)
    assert expected == pytest.approx(weighted_error(y, h, D), abs=1e-14)
    wrong, seen = h != y, []

    class Watch:
        def get_params(self, deep=True):
            return {}

        def fit(self, X, y):
            self.error = np.mean(wrong[y])
            return self

    learn = learner(Watch(), np.zeros((4, 1)), np.arange(4), rng=rng)  # the labels are the samples
    for _ in range(1500):
        fitted = learn(D)  # a stump, if all draws were of one
        seen.append(wrong[fitted.left] if isinstance(fitted, Stump) else fitted.error)
    within(expected, seen)


@pytest.mark.claims("ensemble-36")
def test_boosting_stops_at_chance_and_depth_two_solves_xor():
    X, y = XOR
    pool = all_stumps(X)
    assert len(pool) == 6 and ((pool != y).mean(axis=1) == 0.5).all()
    D, Z = reweighted(np.full(4, 0.25), y, pool[2], vote_weight(0.5))
    assert Z == 1 and (D == 0.25).all()
    assert len(list(adaboost(X, y, stumps(X, y)))) == 1
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert deep.score(X, y) == 1 and len(deep.estimators_) == 1


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

REAL = pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])


@REAL
def test_forests_and_boosts_on_real_data(load):
    T = load()
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(T.X, T.y)
    assert forest.oob_score_ > 0.92 and forest.score(T.X, T.y) > 0.99
    boost = AdaBoostClassifier(n_estimators=30).fit(T.X[::2], T.y[::2])
    assert boost.score(T.X[1::2], T.y[1::2]) > 0.88
    bags = BaggingClassifier(random_state=0).fit(T.X[::2], T.y[::2])
    assert bags.score(T.X[1::2], T.y[1::2]) > 0.88


def test_a_forest_reads_digits_better_than_a_tree():
    T = load_digits()
    train, test = (T.X[::2], T.y[::2]), (T.X[1::2], T.y[1::2])
    forest = RandomForestClassifier(30, random_state=0).fit(*train)
    tree = DecisionTreeClassifier().fit(*train)
    assert forest.score(*test) > 0.93 > tree.score(*test) + 0.05
    assert forest.max_features_ == 8


def test_a_forest_is_the_mean_of_its_trees_and_each_of_its_own_set(rng):
    X, y = rng.normal(size=(60, 4)), rng.choice(list("abc"), size=60)
    forest = RandomForestClassifier(9, min_samples_leaf=3, ccp_alpha=0.005, random_state=1).fit(
        X, y
    )
    P = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), P)
    np.testing.assert_array_equal(
        np.exp(forest.predict_log_proba(X)),
        np.exp(np.log(np.maximum(P, 0), where=P > 0, out=np.full_like(P, -np.inf))),
    )
    assert (forest.predict(X) == forest.classes_[P.argmax(axis=1)]).all()
    full = RandomForestClassifier(9, max_features=None, min_samples_leaf=3, random_state=1).fit(
        X, y
    )
    for tree, rows in zip(full.estimators_, full.estimators_samples_, strict=True):
        alone = DecisionTreeClassifier(min_samples_leaf=3).fit(
            X, y, np.bincount(rows, minlength=60)
        )
        np.testing.assert_allclose(tree.predict_proba(X), alone.predict_proba(X))
        assert tree.get_n_leaves() == alone.get_n_leaves() and len(rows) == 60
    np.testing.assert_allclose(
        full.feature_importances_,
        np.mean([tree.feature_importances_ for tree in full.estimators_], axis=0),
    )
    assert full.feature_importances_.sum() == pytest.approx(1)
    full.set_params(ccp_alpha=0.05).fit(X, y)
    for tree, rows in zip(full.estimators_, full.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=60)
        pruned, whole = (
            DecisionTreeClassifier(min_samples_leaf=3, ccp_alpha=cost).fit(X, y, counts)
            for cost in (0.05, 0.0)
        )
        np.testing.assert_allclose(tree.predict_proba(X), pruned.predict_proba(X))
        assert tree.get_n_leaves() == pruned.get_n_leaves() < whole.get_n_leaves()
    whole = RandomForestClassifier(3, max_features=None, bootstrap=False).fit(X, y)
    assert len(whole.estimators_) == len(whole.estimators_samples_) == 3
    assert all(t.get_n_leaves() == whole.estimators_[0].get_n_leaves() for t in whole.estimators_)
    assert whole.score(X, y) == 1


def test_out_of_bag_scores_use_samples_that_members_have_not_seen(rng):
    X, y = noisy(rng, n=40)
    for model in (RandomForestClassifier(25, oob_score=True, random_state=0),
                  BaggingClassifier(n_estimators=25, oob_score=True, random_state=0)):  # fmt: skip
        model.fit(X, y)
        P = np.full((40, 2), np.nan)
        for i in range(40):
            unseen = [h.predict_proba(X[i : i + 1])[0]
                      for h, rows in zip(model.estimators_, model.estimators_samples_, strict=True)
                      if i not in rows]  # fmt: skip
            P[i] = np.mean(unseen, axis=0)
        np.testing.assert_allclose(model.oob_decision_function_, P)
        assert model.oob_score_ == np.mean(model.classes_[P.argmax(axis=1)] == y)
        assert model.score(X, y) > model.oob_score_
    z = X @ [1.0, 2.0, 0.0]
    for kind in (RandomForestRegressor, BaggingRegressor):
        model = kind(n_estimators=30, oob_score=True, random_state=0).fit(X, z)
        f = model.oob_prediction_
        assert model.oob_score_ == pytest.approx(
            1 - np.sum((z - f) ** 2) / np.sum((z - z.mean()) ** 2)
        )
        np.testing.assert_allclose(model.predict(X), bagged(model.estimators_, X))
    with pytest.warns(
        UserWarning, match="samples are in every bootstrap set and have no out-of-bag"
    ):
        few = BaggingClassifier(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(few.oob_decision_function_).any() and 0 <= few.oob_score_ <= 1


def test_bags_of_any_estimator(rng):
    X, y = rng.normal(size=(50, 2)), rng.choice(list("abc"), size=50)
    nearest = BaggingClassifier(KNeighborsClassifier(3), 7, random_state=0).fit(X, y)
    shares = np.mean([(h.predict_proba(X)) for h in nearest.estimators_], axis=0)
    np.testing.assert_allclose(nearest.predict_proba(X), shares)
    np.testing.assert_allclose(nearest.decision_function(X), shares)
    for h, rows in zip(nearest.estimators_, nearest.estimators_samples_, strict=True):
        again = KNeighborsClassifier(3).fit(X[rows], y[rows])
        np.testing.assert_array_equal(h.predict(X), again.predict(X))
    two = y != "c"
    lines = BaggingClassifier(LogisticRegression(), 5, random_state=0).fit(X[two], y[two])
    f = np.mean([h.decision_function(X) for h in lines.estimators_], axis=0)
    np.testing.assert_allclose(lines.decision_function(X), f)
    nearest = BaggingClassifier(KNeighborsClassifier(3), 5, random_state=0).fit(X[two], y[two])
    p = nearest.predict_proba(X)
    np.testing.assert_allclose(
        nearest.decision_function(X), p[:, 1] - p[:, 0], rtol=1e-12, atol=1e-15
    )
    voters = BaggingClassifier(Perceptron(max_iter=500), 5, random_state=0)
    labels = np.where(X[:, 0] > 0, "b", "a")
    P = voters.fit(X + np.sign(X), labels).predict_proba(X)  # no probabilities: votes
    assert set(np.unique((5 * P).round(9))) <= set(range(6))
    for name, k in (("rare", 3), ("Rare", 0)):  # a class that is in some of the sets only
        rare = np.where(np.arange(50) == 0, name, y)
        model = BaggingClassifier(KNeighborsClassifier(1), 20, random_state=0).fit(X, rare)
        P, held = model.predict_proba(X), [0 in rows for rows in model.estimators_samples_]
        assert P.shape == (50, 4) and P[0, k] == pytest.approx(np.mean(held)) and 0 < P[0, k] < 1
        assert (P[1:, k] < P[0, k]).all()
    tiny = BaggingClassifier(KNeighborsClassifier(1), 30, random_state=0).fit(
        [[0.0], [1]], ["a", "b"]
    )
    assert tiny.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    for estimator in (GaussianNB(), DecisionTreeClassifier()):  # sets without the rare class
        few = BaggingClassifier(estimator, 20, random_state=0).fit(X, y)
        alone = [(y[rows] == 0).all() for rows in few.estimators_samples_]
        assert [isinstance(h, Stump) for h in few.estimators_] == alone and any(alone)
        assert (
            few.predict_proba(X)[0, 0] == pytest.approx(1)
            and few.predict(X).tolist()[:5] == [0] * 5
        )
    few = BaggingClassifier(LogisticRegression(), 20, random_state=0).fit(X, y)
    p = few.predict_proba(X)  # the members of one label have no score: shares for all
    assert any(isinstance(h, Stump) for h in few.estimators_)
    np.testing.assert_allclose(few.decision_function(X), p[:, 1] - p[:, 0])


def test_the_learner_of_trees_gives_fitted_trees(rng):
    X, y = np.round(rng.normal(size=(40, 3)), 1), rng.choice(["a", "b", "c"], size=40)
    for rules in ({"max_depth": 1}, {}, {"max_features": 1, "random_state": 3}):
        learn = learner(DecisionTreeClassifier(**rules), X, y)
        for D in (rng.random(40), np.arange(40) % 3 / 39):
            tree = DecisionTreeClassifier(**rules).fit(X, y, D)
            h = learn(D)
            assert vars(h).keys() == vars(tree).keys() and h.get_params() == tree.get_params()
            for ours, theirs in zip(h.tree_, tree.tree_, strict=True):
                np.testing.assert_array_equal(ours, theirs)


class Weightless(LinearRegression):
    """A regressor whose `fit` takes no weights."""

    def fit(self, X, y):
        return super().fit(X, y)


def test_a_regressor_learns_from_equal_targets_like_from_others(rng):
    X = rng.uniform(1, 2, size=(9, 1))
    for kind in (LinearRegression, Weightless):  # through the origin, equal targets or not
        for y in (np.full(9, 2.0), X[:, 0] ** 2):
            model = BaggingRegressor(kind(fit_intercept=False), 5, random_state=0).fit(X, y)
            sets = model.estimators_samples_
            slopes = [X[rows, 0] @ y[rows] / (X[rows, 0] @ X[rows, 0]) for rows in sets]
            np.testing.assert_allclose(model.predict([[0.0], [3.0]]), [0, 3 * np.mean(slopes)])


def test_members_that_draw_have_seeds_of_their_own(rng):
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    tree = DecisionTreeRegressor(max_features=1, max_depth=1)
    bag = BaggingRegressor(tree, 20, max_samples=40, bootstrap=False, random_state=0).fit(X, y)
    assert len({h.tree_.feature[0] for h in bag.estimators_}) > 1  # of one and the same set
    again = BaggingRegressor(tree, 20, max_samples=40, bootstrap=False, random_state=0).fit(X, y)
    np.testing.assert_array_equal(bag.predict(X), again.predict(X))


def test_sets_are_drawn_by_weight_and_size(rng):
    X, y, w = rng.normal(size=(30, 2)), np.arange(30) % 2, np.r_[np.zeros(10), np.ones(20)]
    for kind in (BaggingClassifier, RandomForestClassifier):
        model = kind(n_estimators=20, max_samples=0.5, random_state=0).fit(X, y, w)
        sets = np.array(model.estimators_samples_)
        assert sets.shape == (20, 15) and sets.min() == 10
        least = kind(n_estimators=2, max_samples=0.01, random_state=0).fit(X, y)
        assert [len(rows) for rows in least.estimators_samples_] == [1, 1]
        assert kind(n_estimators=2, max_samples=70, random_state=0).fit(X, y).estimators_samples_[
            0
        ].shape == (70,)
    apart = BaggingClassifier(max_samples=12, bootstrap=False, random_state=0).fit(X, y)
    assert all(len(set(rows)) == 12 for rows in apart.estimators_samples_)
    for size in (30, 1.0, None):  # all of them, once
        whole = BaggingClassifier(max_samples=size, bootstrap=False, random_state=0).fit(X, y)
        np.testing.assert_array_equal(np.sort(whole.estimators_samples_), [range(30)] * 10)
    weighted = BaggingClassifier(max_samples=20, bootstrap=False, random_state=0).fit(X, y, w)
    np.testing.assert_array_equal(np.sort(weighted.estimators_samples_), [range(10, 30)] * 10)
    with pytest.raises(ValueError, match="max_samples must be <= 20 without bootstrap, .*; got 21"):
        weighted.set_params(max_samples=21).fit(X, y, w)


def test_boosting_by_rounds_agrees_with_its_generator(rng):
    X, k = rng.normal(size=(80, 3)), rng.integers(3, size=80)
    y = np.array(["x", "y", "z"])[k]
    model = AdaBoostClassifier(n_estimators=12, learning_rate=0.8).fit(X, y)
    rounds = list(islice(samme(X, y, stumps(X, y), learning_rate=0.8), 1, 13))
    np.testing.assert_allclose(model.estimator_errors_, [s.error for s in rounds], rtol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, [s.alpha for s in rounds], rtol=1e-10)
    for h, state in zip(model.estimators_, rounds, strict=True):
        assert (h.predict(X) == state.h.predict(X)).all() and len(h.tree_.feature) in (1, 3)
    staged = zip(rounds, model.staged_decision_function(X), model.staged_predict(X), strict=True)
    for state, F, said in staged:
        total = state.F.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            F, (state.F - (total - state.F) / 2) / total, rtol=1e-9, atol=1e-10
        )
        assert (said == model.classes_[state.F.argmax(axis=1)]).all()
    assert (model.predict(X) == said).all() and list(model.staged_score(X, y))[-1] == model.score(
        X, y
    )
    P = list(model.staged_predict_proba(X))[-1]
    np.testing.assert_allclose(P, model.predict_proba(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    e = np.exp(F / 2)
    np.testing.assert_allclose(P, e / e.sum(axis=1, keepdims=True))
    shares = [h.feature_importances_ for h in model.estimators_]
    np.testing.assert_allclose(
        model.feature_importances_, np.average(shares, axis=0, weights=model.estimator_weights_)
    )
    two = AdaBoostClassifier(n_estimators=5).fit(X, np.where(k == 0, "no", "yes"))
    f = two.decision_function(X)
    assert (two.predict(X) == np.where(f > 0, "yes", "no")).all() and f.shape == (80,)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-f)))


@pytest.mark.parametrize("rate", [3.0, 30.0, 1e6, 1e300])
def test_large_learning_rates_stay_finite(rng, rate):
    for X, y in (noisy(rng), (rng.normal(size=(60, 2)), rng.integers(4, size=60))):
        model = AdaBoostClassifier(n_estimators=100, learning_rate=rate).fit(X, y)
        assert np.isfinite(model.estimator_errors_).all()
        assert np.isfinite(model.estimator_weights_).all() and model.estimator_weights_.max() <= 700
        P = model.predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
        for h, error in zip(model.estimators_, model.estimator_errors_, strict=False):
            assert error > 0 or h.score(X, y) == 1  # none is right on weights of 0 only


def test_a_weight_of_two_repeats_a_sample_and_of_zero_removes_it(rng):
    X, y = noisy(rng, n=40)
    w = rng.integers(3, size=40)
    rows = np.repeat(np.arange(40), w)
    ours = AdaBoostClassifier(n_estimators=20).fit(X, y, w)
    twice = AdaBoostClassifier(n_estimators=20).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        ours.decision_function(X), twice.decision_function(X), rtol=1e-8, atol=1e-8
    )
    forests = [RandomForestClassifier(5, bootstrap=False, max_features=None).fit(*data)
               for data in ((X, y, w), (X[rows], y[rows]))]  # fmt: skip
    np.testing.assert_allclose(*[f.predict_proba(X) for f in forests], rtol=1e-12, atol=1e-12)


def test_hyperparameters_are_refused_by_their_rule():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    share = "max_samples must be None, an integer >= 1 or a share in (0, 1]; got "
    for model, message in (
        (BaggingClassifier(n_estimators=0), "n_estimators must be an integer >= 1; got 0"),
        (BaggingClassifier(max_samples=0), share + "0"),
        (RandomForestRegressor(max_samples=1.5), share + "1.5"),
        (BaggingClassifier(max_samples=5, bootstrap=False), "max_samples must be <= 4 without"),
        (
            RandomForestClassifier(max_samples=3, bootstrap=False),
            "max_samples must be None without",
        ),
        (
            RandomForestClassifier(bootstrap=False, oob_score=True),
            "bootstrap must be True where oob_score",
        ),
        (
            RandomForestClassifier(criterion="squared_error"),
            "criterion must be one of 'gini', 'entropy'",
        ),
        (
            RandomForestRegressor(criterion="gini"),
            "criterion must be one of 'squared_error'; got 'gini'",
        ),
        (RandomForestClassifier(max_features=0), "max_features must be an integer >= 1; got 0"),
        (
            AdaBoostClassifier(learning_rate=0),
            "learning_rate must be a number > 0 and < inf; got 0",
        ),
        (
            AdaBoostClassifier(learning_rate=np.inf),
            "learning_rate must be a number > 0 and < inf; got inf",
        ),
        (
            AdaBoostClassifier(DecisionTreeClassifier),
            "estimator must be None or have fit and predict",
        ),
        (BaggingRegressor("tree"), "estimator must be None or have fit and predict; got 'tree'"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            model.fit(X, y)


def test_constant_features_and_mixed_units_are_fitted(rng):
    X = np.column_stack([np.ones(12), np.repeat([1e-12, 1e12], 6), rng.normal(size=12)])
    y = np.repeat([0, 1], 6)
    for model in (
        AdaBoostClassifier(),
        BaggingClassifier(random_state=0),
        RandomForestClassifier(random_state=0),
    ):
        assert model.fit(X, y).score(X, y) == 1
    same = RandomForestClassifier(5, random_state=0).fit(np.ones((6, 2)), [0, 0, 0, 0, 0, 1])
    assert (same.predict(np.ones((1, 2))) == 0).all() and (same.feature_importances_ == 0).all()
    wide = rng.normal(size=(6, 40))
    assert AdaBoostClassifier(n_estimators=3).fit(wide, [0, 1] * 3).score(wide, [0, 1] * 3) == 1
    constant = RandomForestRegressor(3, random_state=0).fit(wide, np.full(6, 2.5))
    assert (constant.predict(wide) == 2.5).all()


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows=1, columns=1):
    axes = Figure().subplots(rows, columns, squeeze=False).ravel()
    draw(*axes)
    return axes


@pytest.mark.claims("ensemble-18")
def test_more_trees_do_not_overfit_and_the_votes_converge():
    from figures.ensemble import KS, SEEDS, SIZES, forest, forest_errors, forest_votes

    (ax,) = panels(forest)
    assert [line.get_label() for line in ax.lines] == [f"$k = {k}$" for k in KS]
    for line, k in zip(ax.lines, KS, strict=True):
        error = np.mean([forest_errors(seed, k) for seed in SEEDS], axis=0)
        np.testing.assert_allclose(line.get_ydata(), error)
        assert line.get_xdata().tolist() == SIZES.tolist()
        assert error[-1] < error[0] and error[-1] <= error.min() + 0.01
    last = [line.get_ydata()[-1] for line in ax.lines]
    assert last[1] < last[2]  # sqrt(d) against bagging
    L, _ = forest_votes(0, 3)
    votes, m = L == 0, np.array([4, 8, 16, 32])
    rng = np.random.default_rng(0)
    shrinking = np.zeros(4)
    for _ in range(50):
        share = votes[:, rng.permutation(127)]
        shrinking += [np.mean((share[:, :a].mean(1) - share[:, : 2 * a].mean(1)) ** 2) for a in m]
    slope = np.polyfit(np.log(m), np.log(np.sqrt(shrinking)), 1)[0]
    assert slope == pytest.approx(
        -0.5, abs=0.15
    )  # like m^{-1/2}; without replacement, a bit faster


@pytest.mark.claims("ensemble-38")
def test_markers_are_as_large_as_the_weights():
    from figures.ensemble import LARGEST, rounds, toy, toy_rounds

    axes, (X, y), states = panels(rounds, 2, 3), toy(), toy_rounds()
    order = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == -1)]
    areas = [np.concatenate([c.get_sizes() for c in ax.collections]) for ax in axes[:3]]
    for t in range(3):
        np.testing.assert_allclose(areas[t], LARGEST * states[t].D[order])
    for t in range(2):
        wrong = (states[t + 1].h.predict(X) != y)[order]
        assert (areas[t + 1][wrong] > areas[t][wrong]).all()
        assert areas[t + 1][wrong].sum() == pytest.approx(areas[t + 1][~wrong].sum())
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    side = np.linspace(0.3, 9.3, 19)
    grid = np.array([(a, b) for a in side for b in side])
    for ax, said in zip(axes[3:], model.staged_predict(grid), strict=True):
        fills = [c for c in ax.collections if c.get_facecolor().size and len(c.get_paths()) == 1][
            :2
        ]
        inside = np.array([c.get_paths()[0].contains_points(grid) for c in fills])
        lines = np.array([s.h.threshold for s in states[1:]])
        clear = np.abs(grid[:, [s.h.feature for s in states[1:]]] - lines).min(axis=1) > 0.1
        assert (np.where(inside[0], 1, -1)[clear] == said[clear]).all()
        assert (inside.sum(axis=0)[clear] == 1).all()
    assert (model.predict(X) == y).all() and all(s.error > 0 for s in states[1:])


@pytest.mark.claims("ensemble-39")
def test_the_curves_of_error_and_bounds_are_ordered():
    from figures.ensemble import ROUNDS, bounds, cancer_rounds

    (ax,) = panels(bounds)
    bound, product, error = (line.get_ydata() for line in ax.lines)
    states, wrong = cancer_rounds()
    assert ax.get_yscale() == "log" and len(states) == ROUNDS == len(bound)
    np.testing.assert_allclose(product, [s.objective for s in states], rtol=1e-9)
    np.testing.assert_allclose(error[wrong > 0], wrong[wrong > 0])
    assert np.isnan(error[wrong == 0]).all() and wrong[-1] == 0
    assert (wrong <= product).all() and (product <= bound).all()
    assert (np.diff(product) < 0).all() and (np.diff(bound) < 0).all()
