"""The ensemble chapter: every statement of the notes, checked by a second route."""

import itertools
from itertools import islice
from math import comb, log

import numpy as np
import pytest
from checks import panels

from mlnotes.datasets import make_rings
from mlnotes.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    Stump,
    adaboost,
    bag,
    bagged,
    best_stump,
    bootstrap_counts,
    disagreement,
    error_bounds,
    fitted_copy,
    learner,
    majority_error,
    normaliser,
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
from mlnotes.model_selection import clone
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.perceptron import Perceptron
from mlnotes.trees import DecisionTreeClassifier, DecisionTreeRegressor, Rules, grow, leaf_of

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
LAW = np.array([0.1, 0.2, 0.3, 0.4])  # P of the values 0, 1, 3, 7, for exact enumeration
VALUES = np.array([0.0, 1.0, 3.0, 7.0])
SQUARES = Rules(criterion="squared_error")


# --- The book's way, with loops --------------------------------------------------------


def all_stumps(X):
    """The outputs of p sign(x_f - t) for every f, midpoint t and p, and of both constants."""
    outputs = [np.ones(len(X)), -np.ones(len(X))]
    for x in X.T:
        for a, b in itertools.pairwise(np.unique(x)):
            side = np.where(x > (a + b) / 2, 1.0, -1.0)
            outputs += [side, -side]
    return np.array(outputs)


def book_adaboost(X, y, T):
    """MLN's steps over the pool of all stumps: the error, alpha and weights of each round."""
    pool, w = all_stumps(X), [1 / len(y)] * len(y)
    rounds = []
    for _ in range(T):
        errors = [sum(w[i] for i in range(len(y)) if h[i] != y[i]) for h in pool]
        h, xi = pool[int(np.argmin(errors))], min(errors)
        alpha = 0.5 * log((1 - xi) / xi)
        raw = [w[i] * np.exp(-alpha * y[i] * h[i]) for i in range(len(y))]
        w = [r / sum(raw) for r in raw]
        rounds.append((xi, alpha, np.array(w)))
    return rounds


def boosted(X, y, T, learn=None):
    """The rounds 1 .. T."""
    return list(islice(adaboost(X, y, learn or stumps(X, y)), 1, T + 1))


def noisy(rng, n=60):
    """Labels that no stump explains."""
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.7, 1, -1)


def weighting(rng, n):
    D = rng.exponential(size=n) ** 2
    return D / D.sum()


def coins(rng, n):
    """Weights, labels and the outputs of a classifier, all at random."""
    return weighting(rng, n), rng.choice([-1, 1], size=n), rng.choice([-1, 1], size=n)


def samples_of(n, support):
    """All sequences of n places of a support."""
    return np.array(list(itertools.product(range(support), repeat=n)))


def within(mean, draws, sigmas=4):
    """Assert that the mean of the draws is the computed one, within standard errors."""
    draws = np.asarray(draws, dtype=float)
    assert abs(draws.mean() - mean) <= sigmas * draws.std(ddof=1) / np.sqrt(len(draws))


class Mean:
    """A classifier that learns nothing and says one label."""

    def __init__(self, value):
        self.value = value

    def get_params(self, deep=True):
        return {"value": self.value}

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


# --- Voting ----------------------------------------------------------------------------


@pytest.mark.claims("ensemble-01")
def test_plurality_is_the_mode_and_in_a_tie_the_first_label_and_of_two_a_weighted_vote(rng):
    L, alpha = rng.choice(["c", "a", "b"], size=(40, 6)), rng.exponential(size=6)
    for row, ours, weighed in zip(L, plurality(L), plurality(L, alpha), strict=True):
        assert ours == max("abc", key=lambda c: np.sum(row == c))  # of equals the first
        assert weighed == max("abc", key=lambda c: alpha[row == c].sum())
    H = rng.choice([-1, 1], size=(40, 6))
    for weights in (None, alpha):
        assert (weighted_vote(H, weights) == plurality(H, weights)).all()
    assert weighted_vote(np.array([[1, -1]])).tolist() == [-1]


@pytest.mark.claims("ensemble-02")
def test_majority_error_falls_with_independent_voters():
    assert majority_error(0.3, 21) == pytest.approx(0.026390, abs=5e-7)
    for e, T in itertools.product((0.0, 0.1, 0.5, 0.8, 1.0), (1, 3, 7)):
        patterns = np.array(list(itertools.product([0, 1], repeat=T)))  # 1: the voter errs
        p = (e**patterns * (1 - e) ** (1 - patterns)).prod(axis=1)
        book = p[patterns.sum(axis=1) > T / 2].sum()
        assert majority_error(e, T) == pytest.approx(book, abs=1e-13)
    by_T = [[majority_error(e, T) for T in range(1, 60, 2)] for e in (0.3, 0.5, 0.6)]
    falls, stays, rises = np.diff(by_T)
    assert (falls < 0).all() and np.abs(stays).max() < 1e-13 and (rises > 0).all()
    assert majority_error(0.4, 2001) < 1e-15  # C(T, k) is larger than any float


@pytest.mark.claims("ensemble-03")
def test_disagreement_is_what_a_vote_gains_from(rng):
    thirds = np.ones((9, 3))
    for t in range(3):
        thirds[3 * t : 3 * t + 3, t] = -1  # a third of the samples, another for every voter
    same, off = np.repeat(thirds[:, :1], 3, axis=1), ~np.eye(3, dtype=bool)
    assert (weighted_vote(thirds) < 0).mean() == 0 and (weighted_vote(same) < 0).mean() == 1 / 3
    assert (weighted_vote(same) == same[:, 0]).all() and (disagreement(same) == 0).all()
    np.testing.assert_allclose(disagreement(thirds)[off], 2 / 3)
    X, y = noisy(rng)
    forest = tree_outputs(random_forest(X, (y > 0).astype(int), 3, 1, rng=rng), X)
    boost = np.column_stack([state.h.predict(X) for state in boosted(X, y, 3)])
    bags = BaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    for L in (forest, boost, np.column_stack([h.predict(X) for h in bags.estimators_])):
        assert (disagreement(L)[off] > 0).all()


# --- Members ---------------------------------------------------------------------------


def test_fitted_copy_gives_members_that_draw_seeds_of_their_own(rng):
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    tree = DecisionTreeRegressor(max_features=1, max_depth=1, random_state=7)
    bags = [BaggingRegressor(tree, 20, bootstrap=False, random_state=0).fit(X, y) for _ in "ab"]
    assert len({h.tree_.feature[0] for h in bags[0].estimators_}) > 1  # of one and the same set
    np.testing.assert_array_equal(bags[0].predict(X), bags[1].predict(X))
    assert fitted_copy(tree, X, y).random_state == tree.random_state == 7


def test_fitted_copy_is_a_stump_for_one_label_but_not_for_one_target(rng):
    X = rng.uniform(1, 2, size=(9, 1))
    assert fitted_copy(GaussianNB(), X, np.repeat("a", 9)) == Stump(0, np.inf, "a", "a")
    line = LinearRegression(fit_intercept=False)  # through the origin, equal targets or not
    for y in (np.full(9, 2.0), X[:, 0] ** 2):
        slope = X[:, 0] @ y / (X[:, 0] @ X[:, 0])
        said = fitted_copy(line, X, y, rng).predict(np.array([[0.0], [3.0]]))
        np.testing.assert_allclose(said, [0, 3 * slope], atol=1e-12)
    assert not hasattr(line, "coef_")


# --- Three components ------------------------------------------------------------------


@pytest.mark.claims("ensemble-04")
@pytest.mark.parametrize("n1", [5, 199])
def test_three_components_learn_where_the_earlier_ones_do_not_help(rng, n1):
    X, y = noisy(rng, n=200)
    ensemble = three_components(DecisionTreeClassifier(max_depth=1), X, y, n1, rng=rng)
    (h1, h2, h3), (S1, S2, S3) = ensemble
    assert len(S1) == len(set(S1)) == n1
    right = h1.predict(X) == y
    assert right[S2].sum() == (~right[S2]).sum() == min(right.sum(), (~right).sum()) > 0
    assert len(set(S2)) == len(S2)
    assert set(S3) == set(np.flatnonzero(h1.predict(X) != h2.predict(X)))
    again = fitted_copy(DecisionTreeClassifier(max_depth=1), X[S3], y[S3])
    assert (h3.predict(X) == again.predict(X)).all()
    votes = np.sign([h.predict(X) for h in ensemble.members]).sum(axis=0)
    assert (ensemble.predict(X) == np.sign(votes)).all()


@pytest.mark.claims("ensemble-04")
def test_three_components_with_one_sample_or_none_to_disagree_on(rng):
    line, stump = np.arange(8.0)[:, None], DecisionTreeClassifier(max_depth=1)
    for seed in (0, 14):  # h_1 and h_2 differ on one sample, on which h_1 errs
        draws = np.random.default_rng(seed)
        k = draws.integers(2, size=8)
        (h1, _, h3), (*_, S3) = three_components(stump, line, k, 5, rng=draws)
        assert len(S3) == 1 and h1.predict(line[S3]) != k[S3] == h3.predict(line[S3])

    (h1, h2, h3), (*_, S3) = three_components(Mean(1), *noisy(rng), 30, rng=rng)
    assert len(S3) == 0 and h3 is h1 is not h2


@pytest.mark.claims("ensemble-04")
def test_three_components_are_one_if_the_first_makes_no_error(rng):
    line, k = np.array([0.0, 1, 2, 3, 10, 11, 12, 13])[:, None], np.repeat([0, 1], 4)
    ensemble = three_components(DecisionTreeClassifier(max_depth=1), line, k, 7, rng=rng)
    (h1, h2, h3), (_, S2, S3) = ensemble
    assert len(S2) == len(S3) == 0 and h1 is h2 is h3
    assert (ensemble.predict(line) == k).all()


@pytest.mark.claims("ensemble-05")
def test_tie_break_errs_at_most_with_3_e2_minus_2_e3(rng):
    for h in itertools.product([-1, 1], repeat=3):
        assert tie_break(*h) == np.sign(sum(h))
    tried = 0
    for _ in range(3000):
        P, wrong = weighting(rng, 12), rng.random((3, 12)) < rng.uniform(0.1, 0.5, size=(3, 1))
        e1, differ = P[wrong[0]].sum(), wrong[0] != wrong[1]
        if not 0 < e1 < 1 or not differ.any():
            continue
        P2 = np.where(wrong[0], P / e1, P / (1 - e1)) / 2  # on it, h_1 is right half of the time
        e = max(e1, P2[wrong[1]].sum(), P[differ & wrong[2]].sum() / P[differ].sum())
        if e < 1 / 2:
            tried += 1
            err = P[tie_break(*wrong)].sum()
            assert err <= majority_error(e, 3) + 1e-12 < e + 1e-12  # 3 e^2 - 2 e^3
    assert tried > 500


# --- Bagging ---------------------------------------------------------------------------


@pytest.mark.claims("ensemble-06")
def test_bootstrap_counts_have_n_samples_and_the_bagged_are_a_mean(rng):
    counts = bootstrap_counts(30, 400, rng=rng)
    assert counts.shape == (400, 30) and (counts.sum(axis=1) == 30).all()
    within(1, counts[:, 3])
    sample = np.array([1.0, 5.0, 6.0])
    everything = [Mean(sample[D].mean()) for D in samples_of(3, 3)]  # all 27 bootstrap sets
    np.testing.assert_allclose(bagged(everything, sample), sample.mean(), rtol=1e-12)


@pytest.mark.claims("ensemble-07")
def test_bagged_error_is_that_of_the_members_less_their_variance(rng):
    X, y = noisy(rng)
    members = bag(DecisionTreeRegressor(), X, y, rng.integers(60, size=(8, 60)))
    x, target = rng.normal(size=(40, 3)), rng.normal(size=40)
    h_b, h_bag = np.array([h.predict(x) for h in members]), bagged(members, x)
    each, whole = np.mean((h_b - target) ** 2, axis=0), (h_bag - target) ** 2
    np.testing.assert_allclose(each - whole, h_b.var(axis=0), rtol=1e-12, atol=1e-12)
    assert (whole <= each + 1e-12).all() and (whole < each - 0.01).any()


@pytest.mark.claims("ensemble-08", "ensemble-09")
def test_variance_of_mean_of_independent_sets_falls_but_that_of_a_member_does_not():
    one, n = [], 2
    for m in (1, 2, 3):
        D = samples_of(n * m, len(VALUES))  # m independent sets of n
        p, h = LAW[D].prod(axis=1), VALUES[D].reshape(len(D), m, n).mean(axis=2)
        h_bar, h_hat = p @ h[:, 0], bagged([Mean(h[:, b]) for b in range(m)], D)
        assert p @ h_hat == pytest.approx(h_bar)
        one.append(p @ (h[:, 0] - h_bar) ** 2)
        direct = p @ (h_hat - h_bar) ** 2
        assert variance_of_mean(one[-1], 0.0, m) == pytest.approx(direct)
        assert direct == pytest.approx(one[-1] / m)
    np.testing.assert_allclose(one, one[0])  # printed: it vanishes as m grows
    assert one[0] > 1


@pytest.mark.claims("ensemble-10")
def test_bagged_trees_of_one_data_set_converge_to_a_limit_of_their_own(rng):
    X, y = noisy(rng)
    x = rng.normal(size=(6, 3))
    a, b, other = (
        tree_outputs(random_forest(*data, 150, 3, rng=rng, rules=SQUARES), x)
        for data in ((X, y), (X, y), noisy(rng))
    )
    error = np.sqrt((a.var(axis=1) + b.var(axis=1)) / 150)
    assert (np.abs(a.mean(axis=1) - b.mean(axis=1)) < 4 * error).all()
    assert (np.abs(a.mean(axis=1) - other.mean(axis=1)) > 4 * error).any()


@pytest.mark.claims("ensemble-11", "ensemble-12")
def test_bootstrap_draws_are_distributed_as_the_data_but_two_of_a_set_are_dependent(rng):
    n, one, two = 3, np.zeros(4), np.zeros((4, 4))
    for D in samples_of(n, 4):
        share = np.bincount(D, minlength=4) / n
        one += LAW[D].prod() * share
        two += LAW[D].prod() * np.outer(share, share)
    np.testing.assert_allclose(one, LAW, rtol=1e-12)
    for p in LAW:  # the sum over the copies of x_i in D, which the notes leave unfinished
        terms = [comb(n, k) * p**k * (1 - p) ** (n - k) * k / n for k in range(n + 1)]
        assert sum(terms) == pytest.approx(p, abs=1e-12)
    equal = LAW @ LAW + (1 - LAW @ LAW) / n
    assert np.trace(two) == pytest.approx(equal, abs=1e-12)
    assert np.abs(two - np.outer(LAW, LAW)).max() > 0.05  # not independent
    pairs = []  # the same by the package's draws: of a bootstrap set of n, two draws
    for D in rng.choice(4, size=(4000, n), p=LAW):
        share = np.bincount(D, bootstrap_counts(n, 1, rng=rng)[0], 4) / n
        pairs.append((n * share @ share - 1) / (n - 1))
    within(equal, pairs)


@pytest.mark.claims("ensemble-17")
def test_variance_of_mean_of_correlated_members(rng):
    A = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6))  # outputs of 6 members, by data set
    S = np.cov(A.T, bias=True)
    variance = np.mean(np.diag(S))
    covariance = (S.sum() - np.trace(S)) / 30
    ours = variance_of_mean(variance, covariance / variance, 6)
    assert ours == pytest.approx(A.mean(axis=1).var(), rel=1e-12)


# --- Random forest ---------------------------------------------------------------------


@pytest.mark.claims("ensemble-14", "ensemble-15")
def test_random_forest_is_trees_on_bootstrap_sets_that_vote_and_with_all_features_bagging(rng):
    X, k = rng.normal(size=(70, 4)), rng.integers(3, size=70)
    trees, few = (random_forest(X, k, 7, m, rng=np.random.default_rng(5)) for m in (4, 1))
    counts = bootstrap_counts(70, 7, rng=np.random.default_rng(5))
    for tree, other, count in zip(trees, few, counts, strict=True):
        rows = np.repeat(np.arange(70), count)
        for alone in (grow(X[rows], k[rows]), grow(X, k, count)):  # k = d: the tree of its set
            np.testing.assert_array_equal(tree.threshold, alone.threshold)
            np.testing.assert_allclose(tree.value, alone.value)
        assert not np.array_equal(tree.threshold, other.threshold, equal_nan=True)
        assert (tree.impurity[tree.feature < 0] == 0).all()  # a full tree
    L = tree_outputs(trees, X)
    P = np.mean([tree.value[leaf_of(tree, X)] for tree in trees], axis=0)
    assert (P.argmax(axis=1) == plurality(L)).all()  # all leaves are pure: shares are votes
    of_one = random_forest(X, np.zeros(70, dtype=int), 2, 1, rng=rng)
    assert (tree_outputs(of_one, X) == 0).all()  # the only class, not its share
    with pytest.raises(ValueError, match="larger sample than population"):
        rng.choice(4, size=5, replace=False)  # printed: k >= d


@pytest.mark.claims("ensemble-14")
def test_random_forest_takes_the_best_of_the_features_drawn_for_a_node(rng):
    """With k of d drawn, the r-th best feature is the root's with C(d - r, k - 1) / C(d, k)."""
    y = np.repeat([0, 1], 150)
    errors = (0.0, 0.15, 0.3, 0.48)
    X = np.column_stack([np.where(rng.random(300) < e, 1 - y, y) for e in errors])
    for k in (1, 2, 3):
        trees = random_forest(X, y, 600, k, rng=rng, rules=Rules(max_depth=1))
        taken = np.bincount([tree.feature[0] for tree in trees], minlength=4) / 600
        p = np.array([comb(4 - r, k - 1) / comb(4, k) for r in range(1, 5)])
        assert (np.abs(taken - p) <= 4 * np.sqrt(p * (1 - p) / 600)).all()


# --- Weak learners ---------------------------------------------------------------------


@pytest.mark.claims("ensemble-20")
def test_best_stump_is_the_best_of_them_all_under_any_weights(rng):
    X = np.column_stack([rng.integers(4, size=25), rng.normal(size=25), np.ones(25)])
    y = rng.choice([-1, 1], size=25)
    learn, pool = stumps(X, y), all_stumps(X)
    for _ in range(300):
        D = weighting(rng, 25)
        said = learn(D).predict(X)
        error = weighted_error(y, said, D)
        assert error == pytest.approx(((pool != y) @ D).min(), abs=1e-12) and error <= 1 / 2
        assert weighted_error(y, -said, D) == pytest.approx(1 - error, abs=1e-14)
    assert weighted_error(y, said, np.full(25, 7)) == pytest.approx(np.mean(said != y))
    assert learn(7 * D) == learn(1e-14 * D) == learn(D)


def test_best_stump_of_several_classes_and_of_constant_features(rng):
    X, y = rng.normal(size=(30, 2)), rng.choice(list("abc"), size=30)
    for _ in range(10):
        D, best = weighting(rng, 30), 1.0
        for x in X.T:
            for t in x:
                for a, b in itertools.product("abc", repeat=2):
                    best = min(best, weighted_error(y, np.where(x <= t, a, b), D))
        error = weighted_error(y, best_stump(X, y, D).predict(X), D)
        assert error == pytest.approx(best, abs=1e-12)
    constant = best_stump(np.zeros((3, 2)), np.array([1, 1, -1]), np.ones(3))
    assert (constant.threshold, constant.left) == (np.inf, 1)  # it says 1 everywhere
    near = np.array([[1.0], [np.nextafter(1, 2)], [5.0]])  # the last one has no weight
    ours = best_stump(near, np.array([0, 1, 0]), np.array([1.0, 1.0, 0.0]))
    assert ours.predict(near).tolist() == [0, 1, 1]


@pytest.mark.claims("ensemble-35")
def test_learner_boosts_any_estimator_and_passes_it_the_weights(rng):
    X, y = noisy(rng, n=80)
    for estimator in (DecisionTreeClassifier(max_depth=2), LogisticRegression()):
        rounds = boosted(X, y, 8, learner(estimator, X, y, rng=rng))
        assert len(rounds) >= 2
        for state in rounds:
            assert np.mean(np.where(state.F > 0, 1, -1) != y) <= state.objective + 1e-12
            assert weighted_error(y, state.h.predict(X), state.D) == pytest.approx(0.5, abs=1e-10)
    nearest = AdaBoostClassifier(KNeighborsClassifier(15), n_estimators=5, random_state=4)
    one, two = nearest.fit(X, y).decision_function(X), nearest.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(one, two)
    D = rng.random(80)
    for tree in (DecisionTreeClassifier(), DecisionTreeClassifier(max_features=1, random_state=3)):
        h, alone = learner(tree, X, y)(D), clone(tree).fit(X, y, D)
        np.testing.assert_array_equal(h.tree_.threshold, alone.tree_.threshold)


@pytest.mark.claims("ensemble-35")
def test_learner_without_weights_sees_the_weighted_error_in_expectation(rng):
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
        model = learn(5 * D)  # a stump, if all draws were of one
        seen.append(wrong[model.left] if isinstance(model, Stump) else model.error)
    within(expected, seen)


# --- AdaBoost --------------------------------------------------------------------------


@pytest.mark.claims("ensemble-21")
def test_vote_weight_is_the_minimiser_of_the_normaliser():
    assert vote_weight(0.3) == pytest.approx(0.42365, abs=5e-6)
    e = np.linspace(0.02, 0.98, 49)
    alpha = vote_weight(e)
    np.testing.assert_allclose(vote_weight(1 - e), -alpha, rtol=1e-12, atol=1e-14)
    grid = np.linspace(-3, 3, 6001)
    for error, ours in zip(e, alpha, strict=True):
        Z = (1 - error) * np.exp(-grid) + error * np.exp(grid)
        assert abs(grid[Z.argmin()] - ours) <= 1e-3 and (np.diff(Z, 2) > 0).all()
        assert normaliser(error) == pytest.approx(Z.min(), abs=1e-6)


@pytest.mark.claims("ensemble-22")
def test_vote_weight_is_positive_below_one_half_only_and_without_error_boosting_ends():
    assert vote_weight(0.6) < 0 == vote_weight(0.5) < vote_weight(0.4)
    with np.errstate(divide="ignore"):
        assert vote_weight(0.0) == np.inf
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, 1, 1, 1, 1])
    start, only = adaboost(X, y, stumps(X, y))
    assert only.h == Stump(0, 1.5, -1, 1) and only.error == 0 and only.alpha == 1
    np.testing.assert_allclose(only.D, start.D)
    assert (np.sign(only.F) == y).all()


@pytest.mark.claims("ensemble-36")
def test_boosting_ends_where_no_classifier_beats_one_half():
    X, y = XOR
    pool = all_stumps(X)
    assert len(pool) == 6 and ((pool != y).mean(axis=1) == 0.5).all()
    D, Z = reweighted(np.full(4, 0.25), y, pool[2], vote_weight(0.5))
    assert Z == 1 and (D == 0.25).all()
    assert len(list(adaboost(X, y, stumps(X, y)))) == 1  # the start, and no round
    with pytest.raises(ValueError, match="better than chance.*its error is 0.5 or more"):
        AdaBoostClassifier().fit(X, y)
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert deep.score(X, y) == 1 and len(deep.estimators_) == 1


@pytest.mark.claims("ensemble-23", "ensemble-24", "ensemble-25")
def test_reweighted_right_and_wrong_samples_weigh_one_half(rng):
    for _ in range(100):
        D, y, h = coins(rng, 20)
        wrong, e = h != y, weighted_error(y, h, D)
        alpha = vote_weight(e)
        new, Z = reweighted(D, y, h, alpha)
        assert Z == pytest.approx(normaliser(e), abs=1e-14)
        raw = D * np.exp(-alpha * y * h)
        assert raw[wrong].sum() == pytest.approx(np.sqrt(e * (1 - e)), abs=1e-14)
        np.testing.assert_allclose(new, np.where(wrong, D / (2 * e), D / (2 * (1 - e))), rtol=1e-12)
        assert new.sum() == pytest.approx(1) and new[wrong].sum() == pytest.approx(0.5, abs=1e-12)
        gain = new / D
        assert (gain[wrong] > 1).all() == (gain[~wrong] < 1).all() == (e < 1 / 2)
        doubled = D * np.exp(2 * alpha * wrong)  # REP's alpha, on the wrong ones only
        np.testing.assert_allclose(doubled / doubled.sum(), new, rtol=1e-12)
    assert normaliser(0.5) == 1 and normaliser(0.49) < 1 and normaliser(0.51) < 1


@pytest.mark.claims("ensemble-24", "ensemble-26", "ensemble-27")
def test_adaboost_by_the_book_whose_weights_written_out_are_the_exponential_loss(rng):
    X, y = noisy(rng)
    rounds = boosted(X, y, 25)
    product = np.cumprod([normaliser(s.error) for s in rounds])
    for state, book, Z in zip(rounds, book_adaboost(X, y, 25), product, strict=True):
        xi, alpha, w = book
        assert state.error == pytest.approx(xi, abs=1e-10)
        assert state.alpha == pytest.approx(alpha, abs=1e-9)
        np.testing.assert_allclose(state.D, w, rtol=1e-9, atol=1e-10)
        loss = np.exp(-y * state.F)
        np.testing.assert_allclose(state.D, loss / (60 * Z), rtol=1e-10)
        assert state.objective == pytest.approx(Z, rel=1e-12)
        assert np.mean(loss) == pytest.approx(Z, rel=1e-12)
        assert ((np.where(state.F > 0, 1, -1) != y) <= loss).all()
    assert all(a.h != b.h for a, b in itertools.pairwise(rounds))  # none twice in a row
    H, alpha = np.column_stack([s.h.predict(X) for s in rounds]), [s.alpha for s in rounds]
    F = rounds[-1].F
    np.testing.assert_allclose(F, H @ alpha, rtol=1e-12, atol=1e-12)
    assert (weighted_vote(H, np.array(alpha)) == np.where(F > 0, 1, -1)).all()


def test_one_without_error_outvotes_all_others(rng):
    X, y = noisy(rng)
    weak, whole = stumps(X, y), learner(DecisionTreeClassifier(), X, y)
    for boost in (adaboost, samme):
        turn = iter([weak, weak, weak, whole, weak])
        rounds = list(boost(X, y, lambda D, turn=turn: next(turn)(D)))
        assert len(rounds) == 5 and rounds[-1].error == 0
        assert rounds[-1].alpha == pytest.approx(1 + sum(s.alpha for s in rounds[:-1]))
        np.testing.assert_allclose(rounds[-1].D, rounds[-2].D)
        F = rounds[-1].F
        said = np.where(F > 0, 1, -1) if F.ndim == 1 else np.array([-1, 1])[F.argmax(axis=1)]
        assert (said == y).all()


@pytest.mark.claims("ensemble-26")
def test_samme_of_two_classes_is_adaboost_with_votes_twice_as_large(rng):
    X, y = noisy(rng)
    ours = islice(adaboost(X, y, stumps(X, y)), 20)
    theirs = islice(samme(X, y, stumps(X, y)), 20)  # alpha = ln((1 - e) / e), on wrong ones
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(b.D, a.D, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(b.F[:, 1] - b.F[:, 0], 2 * a.F, rtol=1e-10, atol=1e-11)
        assert b.objective == pytest.approx(a.objective) and b.alpha == pytest.approx(2 * a.alpha)


def test_samme_lowers_its_loss_and_ends_each_round_at_chance(rng):
    X, y, w = rng.normal(size=(60, 3)), rng.integers(4, size=60), rng.exponential(size=60)
    start, *rounds = islice(samme(X, y, stumps(X, y), w, eta=0.7), 16)
    np.testing.assert_allclose(start.D, w / w.sum())
    wrong = np.array([s.h.predict(X) != y for s in rounds])
    alpha = np.array([s.alpha for s in rounds])
    for t, state in enumerate(rounds, start=1):
        loss = start.D @ np.exp(alpha[:t] @ (wrong[:t] - 3 / 4))
        assert state.objective == pytest.approx(loss, rel=1e-10) and state.error < 3 / 4
        assert state.alpha == pytest.approx(0.7 * (np.log(1 / state.error - 1) + np.log(3)))
        said = np.array([s.h.predict(X) for s in rounds[:t]])
        votes = [alpha[:t] @ (said == c) for c in range(4)]
        np.testing.assert_allclose(state.F.T, votes)
        assert state.D.sum() == pytest.approx(1)
    assert (np.diff([1.0] + [s.objective for s in rounds]) < 0).all()
    for state in islice(samme(X, y, stumps(X, y)), 1, 9):  # eta = 1
        assert weighted_error(y, state.h.predict(X), state.D) == pytest.approx(3 / 4)


@pytest.mark.claims("ensemble-28", "ensemble-30")
def test_error_bounds_are_above_the_training_error():
    gamma = np.linspace(-0.5, 0.5, 1001)
    root = np.sqrt(1 - 4 * gamma**2)
    np.testing.assert_allclose(normaliser(0.5 - gamma), root, rtol=1e-12, atol=1e-15)
    assert (np.exp(-2 * gamma**2) >= root).all()
    for seed in range(5):
        rings = make_rings(120, rng=np.random.default_rng(seed))
        X, y = rings.X, rings.y
        rounds = boosted(X, y, 60)
        errors = np.array([s.error for s in rounds])
        wrong = np.array([np.mean(np.where(s.F > 0, 1, -1) != y) for s in rounds])
        product, bound = error_bounds(errors)
        assert (wrong <= product + 1e-12).all() and (product <= bound).all()
        assert (np.diff(product) < 0).all()  # every edge lowers it
        assert (wrong[bound < 1 / len(y)] == 0).all()
        np.testing.assert_allclose(bound, np.exp(-2 * np.cumsum((0.5 - errors) ** 2)))
        assert normaliser(errors[-1]) > bound[-1] > product[-1]  # printed: Z, without its product
    T, g = int(np.ceil(log(120) / (2 * 0.1**2))) + 1, 0.1  # T > ln n / (2 gamma^2)
    assert error_bounds(np.full(T, 0.5 - g))[1][-1] < 1 / 120


@pytest.mark.claims("ensemble-29")
def test_error_bounds_need_not_converge_to_zero():
    gamma = 1 / (np.arange(1, 200_001) + 2)
    product, bound = error_bounds(0.5 - gamma)
    assert product[-1] == pytest.approx(1 / np.sqrt(6), abs=1e-4)
    assert bound[-1] == pytest.approx(np.exp(-2 * (np.pi**2 / 6 - 5 / 4)), abs=1e-4)


@pytest.mark.claims("ensemble-31", "ensemble-32")
def test_weighted_error_is_not_the_printed_edge_and_the_printed_vote_swings_to_and_fro(rng):
    for _ in range(50):
        D, y, h = coins(rng, 15)
        e = weighted_error(y, h, D)
        assert 1 - 2 * e == pytest.approx(np.sum(D * y * h) / np.sum(D), abs=1e-12)  # as printed
        whole = 2 * vote_weight(e)
        by_rep = D * np.exp(whole * (h != y))
        mixed, _ = reweighted(D, y, h, whole)
        assert weighted_error(y, h, by_rep / by_rep.sum()) == pytest.approx(0.5, abs=1e-12)
        assert weighted_error(y, h, mixed) == pytest.approx(1 - e, abs=1e-12)
        back, _ = reweighted(mixed, y, -h, whole)  # -h is chosen next, with the same vote
        np.testing.assert_allclose(back, D, rtol=1e-10)


@pytest.mark.claims("ensemble-34")
def test_adaboost_is_stagewise_descent_on_the_exponential_loss(rng):
    X, y = noisy(rng)
    pool, rounds = all_stumps(X), boosted(X, y, 6)
    A = -y[:, None] * np.column_stack([s.h.predict(X) for s in rounds])
    alpha, D = np.zeros(6), np.full(60, 1 / 60)

    def slopes(alpha):
        e = np.exp(A @ alpha)
        return e.mean(), A.T @ e / 60

    for t, state in enumerate(rounds):
        errors = (pool != y) @ D
        assert normaliser(errors).min() == pytest.approx(normaliser(state.error), abs=1e-12)
        D, alpha[t] = state.D, state.alpha
        loss, gradient = slopes(alpha)
        assert abs(gradient[t]) < 1e-10 and loss == pytest.approx(state.objective)
    assert np.abs(gradient[:-1]).max() > 1e-3  # the earlier votes are no longer best
    assert slopes(alpha - gradient)[0] < rounds[-1].objective - 1e-4


# --- The estimators: bagging and forests -----------------------------------------------


def test_a_forest_is_the_mean_of_its_trees_and_each_of_its_own_set(rng):
    X, y = rng.normal(size=(60, 4)), rng.choice(list("abc"), size=60)
    rules = {"min_samples_leaf": 3, "ccp_alpha": 0.02}
    forest = RandomForestClassifier(9, max_features=None, random_state=1, **rules).fit(X, y)
    P = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), P)
    assert (forest.predict(X) == forest.classes_[P.argmax(axis=1)]).all()
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        alone = DecisionTreeClassifier(**rules).fit(X, y, np.bincount(rows, minlength=60))
        np.testing.assert_allclose(tree.predict_proba(X), alone.predict_proba(X))
        assert tree.get_params() == alone.get_params() and len(rows) == 60
    mean = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.feature_importances_, mean / mean.sum())
    same = RandomForestClassifier(5, random_state=0).fit(np.ones((6, 2)), [0, 0, 0, 0, 0, 1])
    assert (same.predict(np.ones((1, 2))) == 0).all() and (same.feature_importances_ == 0).all()


def test_a_forest_without_bootstrap_grows_each_tree_on_all_samples_and_weights(rng):
    X, y, w = rng.normal(size=(40, 3)), rng.normal(size=40), rng.integers(3, size=40)
    forest = RandomForestRegressor(3, max_features=None, bootstrap=False).fit(X, y, w)
    alone = DecisionTreeRegressor().fit(X, y, w)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        np.testing.assert_allclose(tree.predict(X), alone.predict(X))
        assert rows.tolist() == np.flatnonzero(w).tolist()


FORESTS = [RandomForestClassifier, BaggingClassifier, RandomForestRegressor, BaggingRegressor]


@pytest.mark.parametrize("kind", FORESTS)
def test_out_of_bag_scores_use_samples_that_members_have_not_seen(rng, kind):
    X, w, labels = rng.normal(size=(40, 3)), rng.integers(4, size=40), kind in FORESTS[:2]
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=40)
    y = np.sign(y) if labels else y
    for weights in (np.ones(40), w):
        model = kind(n_estimators=40, oob_score=True, random_state=0).fit(X, y, weights)
        members = list(zip(model.estimators_, model.estimators_samples_, strict=True))
        said = [h.predict_proba(X) if labels else h.predict(X) for h, _ in members]
        absent = [[b for b, (_, S) in enumerate(members) if i not in S] for i in range(40)]
        f = np.array(
            [np.mean([said[b][i] for b in lacks], axis=0) for i, lacks in enumerate(absent)]
        )
        if labels:
            np.testing.assert_allclose(model.oob_decision_function_, f)
            score = np.average(model.classes_[f.argmax(axis=1)] == y, weights=weights)
        else:
            np.testing.assert_allclose(model.oob_prediction_, f)
            np.testing.assert_allclose(model.predict(X), np.mean(said, axis=0))
            center = np.average(y, weights=weights)
            score = 1 - weights @ (y - f) ** 2 / (weights @ (y - center) ** 2)
        assert model.oob_score_ == pytest.approx(score)
    assert model.score(X, y) > model.oob_score_


def test_samples_in_every_set_have_no_prediction_out_of_bag_and_a_warning(rng):
    X, y = noisy(rng, n=40)
    with pytest.warns(UserWarning, match="samples are in every training set") as caught:
        few = BaggingClassifier(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    unknown = np.isnan(few.oob_decision_function_[:, 0])
    assert caught[0].filename == __file__ and f"{unknown.sum()} samples" in str(caught[0].message)
    right = few.classes_[few.oob_decision_function_.argmax(axis=1)] == y
    assert few.oob_score_ == pytest.approx(right[~unknown].mean()) and 0 < unknown.mean() < 1
    for kind in (RandomForestClassifier, RandomForestRegressor):
        with pytest.warns(UserWarning, match="40 samples are in every"):
            assert np.isnan(kind(2, bootstrap=False, oob_score=True).fit(X, y).oob_score_)


@pytest.mark.parametrize("name, k", [("rare", 3), ("Rare", 0)])
def test_bags_of_any_classifier_also_know_a_class_that_is_in_some_of_the_sets_only(rng, name, k):
    X, y = rng.normal(size=(50, 2)), rng.choice(list("abc"), size=50)
    y = np.where(np.arange(50) == 0, name, y)
    model = BaggingClassifier(KNeighborsClassifier(1), 20, random_state=0).fit(X, y)
    P = np.zeros((50, 4))
    for h, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        again = KNeighborsClassifier(1).fit(X[rows], y[rows])
        np.testing.assert_array_equal(h.predict(X), again.predict(X))
        P += (again.predict(X)[:, None] == model.classes_) / 20
    np.testing.assert_allclose(model.predict_proba(X), P)
    assert model.classes_[k] == name and 0 < P[0, k] < 1
    voters = BaggingClassifier(Perceptron(max_iter=500), 5, random_state=0)
    P = voters.fit(X + np.sign(X), np.where(X[:, 0] > 0, "b", "a")).predict_proba(X)
    assert set(np.unique((5 * P).round(9))) <= set(range(6))  # no probabilities: votes


def test_bags_have_stumps_for_sets_of_one_label():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    for estimator in (GaussianNB(), DecisionTreeClassifier()):
        few = BaggingClassifier(estimator, 20, random_state=0).fit(X, y)
        alone = [(y[rows] == 0).all() for rows in few.estimators_samples_]
        assert [isinstance(h, Stump) for h in few.estimators_] == alone and any(alone)
        assert few.predict_proba(X)[0, 0] == pytest.approx(1)
        assert few.predict(X).tolist()[:5] == [0] * 5


def test_sets_are_drawn_by_weight(rng):
    X, y, w = rng.normal(size=(30, 2)), np.arange(30) % 2, np.r_[np.zeros(10), 1, np.full(19, 2)]
    for kind in (BaggingClassifier, RandomForestClassifier):
        sets = np.array(kind(n_estimators=150, random_state=0).fit(X, y, w).estimators_samples_)
        assert sets.shape == (150, 20) and sets.min() == 10  # as many as have a weight
        within(20 / 39, (sets == 10).sum(axis=1))
    whole = BaggingClassifier(bootstrap=False, random_state=0).fit(X, y, w)
    np.testing.assert_array_equal(whole.estimators_samples_, [range(10, 30)] * 10)


# --- The estimators: AdaBoost ----------------------------------------------------------


def test_adaboost_classifier_runs_samme(rng):
    X, k = rng.normal(size=(80, 3)), rng.integers(3, size=80)
    y = np.array(["x", "y", "z"])[k]
    model = AdaBoostClassifier(n_estimators=12, learning_rate=0.8).fit(X, y)
    rounds = list(islice(samme(X, y, stumps(X, y), eta=0.8), 1, 13))
    np.testing.assert_allclose(model.estimator_errors_, [s.error for s in rounds], rtol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, [s.alpha for s in rounds], rtol=1e-10)
    for h, state, said in zip(model.estimators_, rounds, model.staged_predict(X), strict=True):
        assert (h.predict(X) == state.h.predict(X)).all()
        assert (said == model.classes_[state.F.argmax(axis=1)]).all()
    total = state.F.sum(axis=1, keepdims=True)
    F = model.decision_function(X)
    np.testing.assert_allclose(F, (state.F - (total - state.F) / 2) / total, rtol=1e-9, atol=1e-10)
    assert (model.predict(X) == said).all()
    scores = [np.mean(labels == y) for labels in model.staged_predict(X)]
    assert list(model.staged_score(X, y[:, None])) == scores and scores[-1] == model.score(X, y)
    e = np.exp(F / 2)
    np.testing.assert_allclose(model.predict_proba(X), e / e.sum(axis=1, keepdims=True))


def test_adaboost_classifier_of_two_classes_has_one_score(rng):
    X, y = noisy(rng)
    model = AdaBoostClassifier(n_estimators=5).fit(X, np.where(y > 0, "yes", "no"))
    f = model.decision_function(X)
    np.testing.assert_allclose(f, 4 * boosted(X, y, 5)[-1].F / sum(model.estimator_weights_))
    assert (model.predict(X) == np.where(f > 0, "yes", "no")).all()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-f)))


@pytest.mark.parametrize("rate", [30.0, 1e100])
def test_adaboost_classifier_stays_finite_at_large_learning_rates(rng, rate):
    for X, y in (noisy(rng), (rng.normal(size=(60, 2)), rng.integers(4, size=60))):
        model = AdaBoostClassifier(n_estimators=100, learning_rate=rate).fit(X, y)
        assert np.isfinite([model.estimator_errors_, model.estimator_weights_]).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
        for h, error in zip(model.estimators_, model.estimator_errors_, strict=True):
            assert error > 0 or np.mean(h.predict(X) == y) == 1  # not on weights of 0 only


def test_a_criterion_for_classes_is_refused_for_targets():
    with pytest.raises(ValueError, match="criterion must be one of 'squared_error'; got 'gini'"):
        RandomForestRegressor(criterion="gini").fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("ensemble-18")
def test_figure_forest_does_not_overfit(monkeypatch):
    from figures.ensemble import KS, forest

    monkeypatch.setattr("figures.ensemble.SEEDS", range(2))  # of the figure's ten
    (ax,) = panels(forest)
    curves = {line.get_label(): line.get_ydata() for line in ax.lines}
    _, root, all_d = errors = [curves[f"$k = {k}$"] for k in KS]
    for error in errors:
        assert error[-1] < error[0] and error[-1] <= error.min() + 0.01
    assert root[-1] < all_d[-1]  # bagging


@pytest.mark.claims("ensemble-07")
def test_figure_bagging_compares_with_the_tree_on_all_samples():
    from figures.ensemble import bagging

    curve, member, one = (line.get_ydata() for line in panels(bagging, 2)[1].lines)
    assert curve[-1] < 0.5 * one[0] and one[0] < member[0]


@pytest.mark.claims("ensemble-17")
def test_figure_correlation_foretells_twenty_trees_from_ten():
    from figures.ensemble import correlation

    (ax,), laws = panels(correlation), []
    for line, dots in zip(ax.lines[::2], ax.lines[1::2], strict=True):
        formula, measured = line.get_ydata(), dots.get_ydata()
        assert measured[3] == pytest.approx(formula[9])  # ten trees gave both
        assert measured[4] == pytest.approx(formula[19], rel=0.05)
        laws.append((formula[0], (20 * formula[19] / formula[0] - 1) / 19))
    variance, rho = np.transpose(laws)  # for k = 1, 5 and 30 features
    assert (np.diff(variance) < 0).all() and (np.diff(rho) > 0).all()


@pytest.mark.claims("ensemble-38")
def test_figure_rounds_has_markers_as_large_as_the_weights():
    from figures.ensemble import LARGEST, rounds, toy, toy_rounds

    axes, (X, y), states = panels(rounds, 2, 3), toy(), toy_rounds()
    order = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == -1)]
    areas = [np.concatenate([c.get_sizes() for c in ax.collections]) for ax in axes[:3]]
    for area, state in zip(areas, states, strict=False):
        np.testing.assert_allclose(area, LARGEST * state.D[order])
    for t in range(2):
        wrong = (states[t + 1].h.predict(X) != y)[order]
        assert (areas[t + 1][wrong] > areas[t][wrong]).all()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    grid = np.array(list(itertools.product(np.linspace(0.3, 9.3, 19), repeat=2)))
    cuts, used = ([getattr(s.h, name) for s in states[1:]] for name in ("threshold", "feature"))
    clear = np.abs(grid[:, used] - cuts).min(axis=1) > 0.1
    for ax, said in zip(axes[3:], model.staged_predict(grid), strict=True):
        fills = [c for c in ax.collections if c.get_facecolor().size and len(c.get_paths()) == 1]
        inside = [c.get_paths()[0].contains_points(grid)[clear] for c in fills[:2]]
        assert (inside[0] == (said[clear] == 1)).all() and (inside[0] != inside[1]).all()
    assert (model.predict(X) == y).all()


@pytest.mark.claims("ensemble-39")
def test_figure_bounds_orders_error_and_bounds():
    from figures.ensemble import ROUNDS, bounds, cancer_rounds

    (ax,) = panels(bounds)
    bound, product, error = (line.get_ydata() for line in ax.lines)
    states, wrong = cancer_rounds()
    assert len(states) == ROUNDS == len(bound)
    np.testing.assert_allclose(product, [s.objective for s in states], rtol=1e-9)
    np.testing.assert_allclose(error[wrong > 0], wrong[wrong > 0])
    assert np.isnan(error[wrong == 0]).all() and wrong[-1] == 0
    assert (wrong <= product).all() and (product <= bound).all()
    assert (np.diff(product) < 0).all() and (np.diff(bound) < 0).all()
