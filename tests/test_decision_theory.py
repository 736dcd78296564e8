"""The decision theory chapter: every statement of the notes, checked by a second route."""

import re
from copy import deepcopy
from fractions import Fraction
from itertools import islice, pairwise, product
from math import erf, erfc, log, pi, sqrt

import contract
import numpy as np
import pytest
from checks import panels

from mlnotes.base import Classifier, Regressor
from mlnotes.datasets import make_fish
from mlnotes.decision_theory import (
    BayesClassifier,
    absolute,
    absolute_subdifferential,
    bayes_action,
    bayes_classify,
    bayes_error,
    best_cut,
    check_possible,
    chosen_prior,
    conditional_mean,
    conditional_median,
    conditional_mode,
    conditional_risk,
    cut_errors,
    cut_rule,
    decision_regions,
    empirical_risk,
    epsilon_greedy,
    error_probability,
    estimate,
    excess_error,
    expected_prediction_error,
    is_median,
    labelled_samples,
    log_evidence,
    log_joint,
    margin_zero_one,
    normal_log_odds,
    posterior,
    squared,
    total_risk,
    with_reject,
    zero_one,
    zero_one_matrix,
)
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
)

HALF = np.array([0.5, 0.5])


def Phi(z):  # noqa: N802 the notes' name
    return (1 + erf(z / sqrt(2))) / 2


def random_simplex(rng, *shape):
    p = rng.gamma(1.0, size=shape)
    return p / p.sum(axis=-1, keepdims=True)


def finite_classes(rng, m, K):
    """ln p(x | k) (m, K) of K random distributions on m points, and random priors."""
    return np.log(random_simplex(rng, K, m)).T, random_simplex(rng, K)


def normal_classes(x, mu, sigma2):
    """ln p(x | k) of normal classes on the line."""
    return np.column_stack([normal_log_density(x, m, s) for m, s in zip(mu, sigma2, strict=True)])


def normal_error(mu, Sigma, prior):
    """The Bayes error of two normal classes of one covariance, by walk 9."""
    gap = mu[1] - mu[0]
    Delta, t = sqrt(gap @ np.linalg.inv(Sigma) @ gap), log(prior[1] / prior[0])
    tails = Phi((t - Delta**2 / 2) / Delta), Phi((-t - Delta**2 / 2) / Delta)
    return prior @ tails


def by_loops(h, log_p, prior, dx):
    """The probability of error as a double sum: the parts of the classes in the wrong regions."""
    p, cells = dx[:, None] * prior * np.exp(log_p), product(range(len(dx)), range(len(prior)))
    return sum(p[i, k] for i, k in cells if h[i] != k)


# --- Losses ----------------------------------------------------------------------------


@pytest.mark.claims("decision_theory-01")
def test_supervised_estimators_learn_from_pairs_of_samples_and_kinds_or_amounts():
    supervised = [e for e in contract.estimators() if isinstance(e, Classifier | Regressor)]
    assert {isinstance(e, Classifier) for e in supervised} == {True, False}
    for estimator in supervised:
        X, y = contract.sample(estimator)
        quantitative, qualitative = np.linspace(0.1, 0.9, len(y)), np.repeat(["a", "b"], len(y))
        wrong = quantitative if isinstance(estimator, Classifier) else qualitative[: len(y)]
        with pytest.raises((ValueError, TypeError), match=r"\by must hold"):
            deepcopy(estimator).fit(X, wrong)


@pytest.mark.claims("decision_theory-02")
@pytest.mark.parametrize(
    "loss, losses, wide", [(zero_one, [1, 0], 1), (squared, [9, 0], 4e4), (absolute, [3, 0], 200)]
)
def test_losses_and_empirical_risks_by_hand(loss, losses, wide):
    f, y = np.array([1.0, -3.0]), np.array([4.0, -3.0])
    assert loss(f, y).tolist() == loss(y, f).tolist() == losses
    assert empirical_risk(loss, f, y) == sum(losses) / 2
    of_constants = [empirical_risk(loss, np.full(2, c), y) for c in f]
    assert empirical_risk(loss, f, y[:, None]).tolist() == of_constants
    assert loss(np.uint8([0]), np.uint8([200])) == loss(np.int8([-100]), np.int8([100])) == wide
    assert loss(np.array([True, True]), np.array([False, True])).tolist() == [1, 0]


@pytest.mark.claims("decision_theory-02")
def test_margin_zero_one_counts_the_errors_of_the_sign_and_every_zero(rng):
    f, y = rng.normal(size=501), rng.choice([-1, 1], size=501)
    assert empirical_risk(margin_zero_one, f, y) == empirical_risk(zero_one, np.sign(f), y)
    assert margin_zero_one(0.0, 1) == margin_zero_one(0.0, -1) == 1
    with pytest.raises(ValueError, match=r"labels -1 and \+1; got 0"):
        margin_zero_one(f, (y + 1) / 2)


def test_standard_error_is_that_of_the_mean(rng):
    estimates = [estimate(row) for row in rng.uniform(size=(4000, 4))]
    assert np.std([e.value for e in estimates]) == pytest.approx(sqrt(1 / 12 / 4), rel=0.05)
    mean_square = np.mean([e.standard_error**2 for e in estimates])
    assert mean_square == pytest.approx(1 / 12 / 4, rel=0.05)  # unbiased: s^2 has n - 1 below


# --- Bayes' formula --------------------------------------------------------------------


@pytest.mark.claims("decision_theory-03")
def test_evidence_and_posteriors_integrate_to_one_and_to_the_priors():
    x, dx = gauss_legendre(-20, 20, 200)
    log_p, prior = normal_classes(x, (-1.0, 0.5, 3.0), (1.0, 0.3, 2.0)), np.array([0.2, 0.5, 0.3])
    q, p = posterior(log_p, prior), np.exp(log_evidence(log_p, prior))
    assert dx @ p == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose((dx * p) @ q, prior, rtol=1e-8)
    weighted = np.array([prior[k] * np.exp(log_p[:, k]) for k in range(3)])
    np.testing.assert_allclose(p, weighted.sum(axis=0), rtol=1e-12)
    near = np.abs(x) < 6
    literal = weighted[:, near] / weighted[:, near].sum(axis=0)
    np.testing.assert_allclose(q[near].T, literal, rtol=1e-13)


@pytest.mark.claims("decision_theory-03")
def test_posteriors_where_densities_underflow_or_classes_are_impossible():
    log_p = np.array([[-2e5, log(3) - 2e5], [-np.inf, -1e9]])  # the formula would divide 0 by 0
    np.testing.assert_allclose(posterior(log_p, HALF), [[0.25, 0.75], [0, 1]], rtol=1e-9)
    assert posterior(log_p, np.array([0.0, 1.0])).tolist() == [[0, 1], [0, 1]]
    assert log_evidence(log_p, HALF)[0] == pytest.approx(log(2) - 2e5, rel=1e-15)
    assert np.isnan(posterior(np.full((1, 2), -np.inf), HALF)).all()  # and no warning


@pytest.mark.claims("decision_theory-03")
@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.5, -0.5], [0.5, np.nan]])
def test_priors_off_the_simplex_are_refused(prior):
    for function in (log_joint, log_evidence, posterior, bayes_classify):
        with pytest.raises(ValueError, match="prior must be >= 0 with the sum 1; got"):
            function(np.zeros((1, 2)), np.array(prior))


# --- The Bayes classifier --------------------------------------------------------------


@pytest.mark.claims("decision_theory-04")
@pytest.mark.parametrize("pi_1", [2 / 3, 1 / 2, 1 / 10])
def test_without_features_the_larger_prior_wins_and_errs_as_often_as_the_other_comes(pi_1, rng):
    prior = np.array([pi_1, 1 - pi_1])
    (a,) = bayes_action(prior[None], zero_one_matrix(2))
    assert a == (pi_1 < 1 / 2)  # at equal priors the first; ISML takes the second
    log_p, dx = finite_classes(rng, 6, 2)[0], np.ones(6)
    always = [error_probability(np.full(6, k), log_p, prior, dx) for k in (0, 1)]
    assert always == pytest.approx([1 - pi_1, pi_1], abs=1e-14)
    for r in np.linspace(0, 1, 21):  # class 0 with probability r, whatever x
        assert r * always[0] + (1 - r) * always[1] >= always[a] - 1e-14


@pytest.mark.claims("decision_theory-05")
def test_three_forms_of_the_rule_decide_alike(rng):
    for _ in range(5):
        mu, sigma2, prior = rng.normal(size=2), rng.gamma(2.0, size=2), random_simplex(rng, 2)
        log_p = normal_classes(np.linspace(-8, 8, 2001), mu, sigma2)
        h, p = bayes_classify(log_p, prior), np.exp(log_p)
        np.testing.assert_array_equal(h, posterior(log_p, prior).argmax(axis=1))
        np.testing.assert_array_equal(h == 0, p[:, 0] / p[:, 1] > prior[1] / prior[0])
        np.testing.assert_array_equal(h == 0, p[:, 0] * prior[0] > p[:, 1] * prior[1])


@pytest.mark.claims("decision_theory-05")
def test_log_odds_of_normal_classes_of_one_covariance_are_affine(rng):
    A, mu, prior = rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), np.array([0.3, 0.7])
    Sigma, X = A @ A.T, 2 * rng.normal(size=(50, 3))
    log_p = np.column_stack([multivariate_normal_log_density(X, m, Sigma) for m in mu])
    w, b = normal_log_odds(mu, Sigma, prior)
    s = log_joint(log_p, prior)
    np.testing.assert_allclose(X @ w + b, s[:, 1] - s[:, 0], rtol=1e-9, atol=1e-9)
    for wrong, rule in ((np.diag([1.0, -1.0]), "positive definite"), ([[1, 2], [0, 1]], "symm")):
        with pytest.raises(ValueError, match=rule):
            normal_log_odds(mu[:, :2], wrong, prior)


@pytest.mark.claims("decision_theory-06")
def test_two_tie_rules_differ_at_the_tie_only_and_err_alike():
    log_p, dx = np.log(np.array([[2, 1], [1, 1], [1, 2]]) / 4), np.ones(3)
    to_0, to_1 = np.array([0, 0, 1]), np.array([0, 1, 1])  # PRNN 1; PRNN 4 and MLN
    F = [error_probability(h, log_p, HALF, dx) for h in (to_0, to_1, 1 - to_0)]
    assert F == pytest.approx([3 / 8, 3 / 8, 5 / 8])
    np.testing.assert_array_equal(bayes_classify(log_p, HALF), to_0)
    np.testing.assert_array_equal(bayes_action(posterior(log_p, HALF), zero_one_matrix(2)), to_0)


# --- Probability of error --------------------------------------------------------------


@pytest.mark.claims("decision_theory-07", "decision_theory-09")
def test_error_and_excess_of_several_classes_are_double_sums(rng):
    (log_p, prior), dx = finite_classes(rng, 7, 4), rng.random(7)
    for h in rng.integers(4, size=(20, 7)):
        np.testing.assert_array_equal(decision_regions(h, 4), np.eye(4)[h])
        F = by_loops(h, log_p, prior, dx)
        assert error_probability(h, log_p, prior, dx) == pytest.approx(F, abs=1e-14)
        excess = F - bayes_error(log_p, prior, dx)
        assert excess_error(h, log_p, prior, dx) == pytest.approx(excess, abs=1e-14)
        assert excess >= -1e-15


@pytest.mark.claims("decision_theory-08")
@pytest.mark.parametrize("K", [2, 5])
def test_bayes_error_three_ways_and_to_the_last_digit(K, rng):
    x, dx = gauss_legendre(-25, 25, 300)
    mu, sigma2, prior = 3 * rng.normal(size=K), rng.gamma(2.0, size=K), random_simplex(rng, K)
    log_p = normal_classes(x, mu, sigma2)
    weighted, h = prior * np.exp(log_p), bayes_classify(log_p, prior)
    least = bayes_error(log_p, prior, dx)
    assert least == pytest.approx(error_probability(h, log_p, prior, dx), abs=1e-10)
    if K == 2:
        assert least == pytest.approx(dx @ weighted.min(axis=1), abs=1e-14)
    q, p = posterior(log_p, prior), np.exp(log_evidence(log_p, prior))
    conditional_error = 1 - q[np.arange(len(x)), h]
    np.testing.assert_allclose(conditional_error, (1 - q).min(axis=1), rtol=1e-15, atol=1e-15)
    assert (dx * p) @ conditional_error == pytest.approx(least, abs=1e-10)
    far = normal_classes(x, (-10.0, 10.0), (1.0, 1.0))  # 1 minus the largest would leave no digit
    assert bayes_error(far, HALF, dx) == pytest.approx(erfc(10 / sqrt(2)) / 2, rel=1e-9, abs=0)


@pytest.mark.claims("decision_theory-09")
def test_all_classifiers_on_eight_cells_have_the_bayes_error_plus_their_excess(rng):
    (log_p, prior), dx = finite_classes(rng, 8, 2), np.ones(8)
    gap = np.abs(prior[0] * np.exp(log_p[:, 0]) - prior[1] * np.exp(log_p[:, 1]))
    best, least, errors = bayes_classify(log_p, prior), bayes_error(log_p, prior, dx), {}
    for h in product((0, 1), repeat=8):
        errors[h] = error_probability(np.array(h), log_p, prior, dx)
        excess = excess_error(np.array(h), log_p, prior, dx)
        assert errors[h] - least == pytest.approx(excess, abs=1e-14)
        assert excess == pytest.approx(gap[h != best].sum(), abs=1e-14)
    assert min(errors, key=errors.get) == tuple(best)


@pytest.mark.claims("decision_theory-13")
def test_excess_of_a_plug_in_rule_and_its_bound(rng):
    log_p, prior = finite_classes(rng, 10, 2)
    dx, p = np.ones(10), np.exp(log_evidence(log_p, prior))
    q_1 = posterior(log_p, prior)[:, 1]
    best, ratios = bayes_classify(log_p, prior), []
    for estimated in rng.random(size=(1000, 10)):
        h = np.where(estimated > 0.5, 1, 0)
        excess = excess_error(h, log_p, prior, dx)
        differs = np.abs(2 * q_1 - 1) * (h != best)  # |q_1 - q_0| where the rules differ
        assert excess == pytest.approx(p @ differs, abs=1e-14)
        ratios.append(excess / (2 * p @ np.abs(estimated - q_1)))
    assert min(ratios) >= 0 and 0.3 < max(ratios) <= 1 + 1e-12
    wrong = np.log([[0.4, 0.02], [0.3, 0.45], [0.3, 0.53]])  # everywhere, and it decides the same
    log_p = np.log([[0.8, 0.2], [0.15, 0.3], [0.05, 0.5]])
    assert excess_error(bayes_classify(wrong, HALF), log_p, HALF, np.ones(3)) == 0


# --- Actions and losses ----------------------------------------------------------------


@pytest.mark.claims("decision_theory-12")
def test_no_rule_has_a_smaller_risk(rng):
    (log_p, prior), dx = finite_classes(rng, 5, 3), rng.random(5)
    L, joint = rng.normal(size=(4, 3)), prior * np.exp(log_p)  # losses may be gains
    risks = {
        rule: sum(dx[i] * L[rule[i], k] * joint[i, k] for i in range(5) for k in range(3))
        for rule in product(range(4), repeat=5)
    }
    q, p = posterior(log_p, prior), np.exp(log_evidence(log_p, prior))
    a = bayes_action(q, L)
    assert min(risks, key=risks.get) == tuple(a)
    for rule in (tuple(a), (0, 1, 2, 3, 0)):
        assert total_risk(np.array(rule), log_p, prior, L, dx) == pytest.approx(risks[rule])
    assert (dx * p) @ conditional_risk(q, L).min(axis=1) == pytest.approx(risks[tuple(a)])
    L = zero_one_matrix(3)
    np.testing.assert_array_equal(bayes_action(q, L), bayes_classify(log_p, prior))
    np.testing.assert_allclose(conditional_risk(q, L).min(axis=1), 1 - q.max(axis=1), atol=1e-15)


@pytest.mark.claims("decision_theory-12")
def test_doubtful_points_are_rejected_and_no_others(rng):
    q = random_simplex(rng, 500, 3)
    for c in (0.0, 0.3, 0.7):
        a = bayes_action(q, with_reject(zero_one_matrix(3), c))
        np.testing.assert_array_equal(a, np.where(q.max(axis=1) < 1 - c, 3, q.argmax(axis=1)))
        assert (a == 3).all() == (c == 0) and (a == 3).any() == (c < 2 / 3)


@pytest.mark.claims("decision_theory-12")
def test_unequal_losses_move_the_threshold_to_the_ratio():
    q_1 = np.linspace(0, 1, 10_001)
    q, L = np.column_stack([1 - q_1, q_1]), np.array([[0.0, 5.0], [1.0, 0.0]])
    for losses, threshold in ((L, 1 / 6), (L.T, 5 / 6)):  # (class, action) would be another rule
        a = bayes_action(q, losses)
        assert q_1[a == 1].min() == pytest.approx(threshold, abs=1e-4) and (np.diff(a) >= 0).all()


# --- One feature, one cut --------------------------------------------------------------


def brute_cut(x, y):
    """The fewest errors over all midpoints, the outsides and both directions."""
    values = np.unique(x)
    middles = (values[:-1] + values[1:]) / 2
    return min(
        np.sum(np.where(x > t, above, 1 - above) != y)
        for t in (-np.inf, *middles, np.inf)
        for above in (0, 1)
    )


@pytest.mark.claims("decision_theory-15")
@pytest.mark.parametrize("ties", [True, False])
def test_best_cut_is_as_good_as_trying_all_cuts_and_the_lowest(ties, rng):
    for n in range(1, 30):
        x, y = rng.integers(8, size=n) if ties else rng.normal(size=n), rng.integers(2, size=n)
        cut = best_cut(x, y)
        assert cut.errors == brute_cut(x, y) == np.sum(cut_rule(x, cut) != y)
        assert best_cut(-x, y).errors == cut.errors == best_cut(x, 1 - y).errors
    assert best_cut(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1])) == (-np.inf, 1, 1)
    b = np.nextafter(1.0, 2)
    for pair in ([1.0, b], [b, np.nextafter(b, 2)]):  # the middle is rounded down, then up
        cut = best_cut(np.array(pair), np.array([0, 1]))
        assert cut.errors == 0 and cut_rule(np.array(pair), cut).tolist() == [0, 1]
    with pytest.raises(ValueError, match="labels 0 and 1; got -1"):
        best_cut(np.array(pair), np.array([-1, 1]))


@pytest.mark.claims("decision_theory-15")
def test_cut_errors_step_at_the_samples_only(rng):
    x, y = rng.integers(10, size=30).astype(np.uint8), rng.integers(2, size=30)
    values = np.unique(x).astype(float)
    cuts, errors = cut_errors(x * np.uint8(25), y)  # sums of two would wrap
    np.testing.assert_array_equal(cuts[1:-1], 25 * (values[:-1] + values[1:]) / 2)
    assert (cuts[0], cuts[-1]) == (-np.inf, np.inf)
    edges = np.concatenate([[-1], values, [10]])
    for low, high, count in zip(edges[:-1], edges[1:], errors, strict=True):
        for t in (low, low + 0.1 * (high - low), low + 0.9 * (high - low)):
            assert np.sum((x > t) != y) == count


@pytest.mark.claims("decision_theory-14")
def test_fish_err_as_their_closed_forms_say():
    T = make_fish(20_000, rng=np.random.default_rng(4))
    y, mu, Sigma = np.where(T.y == "sea bass", 1, 0), T.truth.centers, T.truth.covariances[0]
    errors = {}
    for features in ((0,), (1,), (2,), (1, 2)):
        means, part = mu[:, features], Sigma[np.ix_(features, features)]
        w, b = normal_log_odds(means, part, HALF)
        simulated = estimate(zero_one(np.where(T.X[:, features] @ w + b > 0, 1, 0), y))
        errors[features] = normal_error(means, part, HALF)
        assert abs(simulated.value - errors[features]) <= 5 * simulated.standard_error
    assert errors[1, 2] < errors[1,] < errors[2,] < errors[0,]


# --- Predicting numbers ----------------------------------------------------------------


def random_table(rng, k_y=6, k_x=4):
    joint = rng.gamma(0.7, size=(k_y, k_x))
    return joint / joint.sum(), rng.normal(scale=3, size=k_y)


@pytest.mark.claims("decision_theory-17")
def test_dark_clothes_make_the_regression_function_rise(rng):
    for _ in range(20):
        table = np.array([np.sort(rng.random(4))[::-1], np.sort(rng.random(4))])  # Y = 0, Y = 1
        joint, y = table / table.sum(), np.array([0, 1])
        assert (np.diff(joint[1]) > 0).all() and (np.diff(joint[0]) < 0).all()
        mean = conditional_mean(joint, y)
        assert (np.diff(mean) > 0).all()
        np.testing.assert_array_equal(mean > 0.5, joint[1] > joint[0])
        np.testing.assert_array_equal(mean > 0.5, conditional_mode(joint, y))


@pytest.mark.claims("decision_theory-19")
@pytest.mark.parametrize("loss", [zero_one, squared])
def test_expected_prediction_error_is_the_nested_mean(loss, rng):
    joint, y = random_table(rng)
    f, p_X = rng.choice(y, size=4), joint.sum(axis=0)
    nested = [sum(joint[i, j] / p_X[j] * loss(f[j], y[i]) for i in range(6)) for j in range(4)]
    error = expected_prediction_error(joint, y, f, loss)
    assert error == pytest.approx(p_X @ nested, abs=1e-13)


@pytest.mark.claims("decision_theory-20", "linear_regression-13")
def test_excess_over_the_conditional_mean_is_its_distance(rng):
    joint, y = random_table(rng)
    best, p_X = conditional_mean(joint, y), joint.sum(axis=0)
    least = expected_prediction_error(joint, y, best, squared)
    variance = y**2 @ joint / p_X - best**2  # of Y, given each x
    assert least == pytest.approx(p_X @ variance, abs=1e-13)
    for f in best + rng.normal(scale=2, size=(100, 4)):
        excess = expected_prediction_error(joint, y, f, squared) - least
        assert excess == pytest.approx(p_X @ (f - best) ** 2, abs=1e-12)


def test_moments_of_fractions_are_fractions():
    joint, y = np.array([[1, 0], [1, 2]]) * Fraction(1, 4), np.array([0, 1]) * Fraction(1, 3)
    assert conditional_mean(joint, y).tolist() == [Fraction(1, 6), Fraction(1, 3)]


@pytest.mark.claims("decision_theory-21")
def test_conditional_median_is_the_best_prediction_under_absolute_loss(rng):
    for _ in range(20):
        joint, y = random_table(rng)
        f = conditional_median(joint, y)
        least = np.min([joint.T @ np.abs(y - c) for c in y], axis=0)  # a value is best at each x
        assert expected_prediction_error(joint, y, f, absolute) == pytest.approx(least.sum())
    p, y = np.array([[0.05], [0.35], [0.4]]), np.array([1.0, 2.0, 3.0])
    assert conditional_median(p, y) == 2  # the lower of two, though 2 (0.05 + 0.35) < 0.8 here
    assert conditional_median(p - [[0.0], [1e-9], [0.0]], y) == 3


@pytest.mark.claims("decision_theory-21")
@pytest.mark.parametrize("n", [1, 8, 41])
def test_sample_median_solves_the_empirical_problem(n, rng):
    y = rng.normal(size=n)
    (median,) = conditional_median(np.full((n, 1), 1 / n), y)
    assert median == np.sort(y)[(n + 1) // 2 - 1]  # the lower of two
    least = empirical_risk(absolute, y, y[:, None]).min()  # piecewise linear: a sample is best
    best = empirical_risk(absolute, np.array([median, np.median(y)]), y[:, None])
    assert best == pytest.approx(least, abs=1e-14)
    if n % 2:
        others = median + np.array([-1e-3, 1e-3, -2, 2])
        assert empirical_risk(absolute, others, y[:, None]).min() > least + 1e-12


# --- Why the median --------------------------------------------------------------------


def mean_distance(y, c):
    return np.abs(y[:, None] - c).mean(axis=0)


@pytest.mark.claims("decision_theory-22")
def test_absolute_subdifferential_has_the_difference_quotients_of_both_sides(rng):
    for _ in range(20):
        y = rng.integers(6, size=rng.integers(1, 12)).astype(float)
        c = np.unique(np.concatenate([y, y + 0.5, [-2.0, 9.0]]))  # at samples, ties and gaps
        low, high = absolute_subdifferential(y, c)
        left = (mean_distance(y, c) - mean_distance(y, c - 0.25)) / 0.25
        right = (mean_distance(y, c + 0.25) - mean_distance(y, c)) / 0.25
        np.testing.assert_allclose(low, left, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(high, right, rtol=1e-9, atol=1e-9)
        assert absolute_subdifferential(y, float(c[0])) == (low[0], high[0])


@pytest.mark.claims("decision_theory-22", "decision_theory-25")
def test_zero_is_a_slope_exactly_at_the_minimisers(rng):
    printed_misses = 0
    for _ in range(200):
        y = rng.integers(8, size=rng.integers(1, 10)).astype(float)
        best = y[mean_distance(y, y) <= mean_distance(y, y).min() + 1e-12]
        c = np.unique(np.concatenate([y, y - 0.5, y + 0.5]))
        within = (best.min() <= c) & (c <= best.max())
        np.testing.assert_array_equal(is_median(y, c), within)
        below, above = (y[:, None] < c).sum(axis=0), (y[:, None] > c).sum(axis=0)
        printed_misses += np.any((below == above) != within)
    assert printed_misses > 20
    assert is_median(np.array([1.0, 2.0, 4.0, 7.0]), np.array([2.0, 4.0])).all()


FIVE = np.array([1.0, 2.0, 4.0, 7.0, 11.0])


@pytest.mark.claims("decision_theory-23")
def test_printed_sign_of_the_slope_climbs():
    printed = np.mean(np.sign(FIVE - 3.0))
    low, high = absolute_subdifferential(FIVE, 3.0)
    assert low == high == pytest.approx(-1 / 5) == -printed
    here, eta = mean_distance(FIVE, 3.0), 0.5
    assert mean_distance(FIVE, 3.0 - eta * printed) > here > mean_distance(FIVE, 3.0 - eta * low)


@pytest.mark.claims("decision_theory-24")
def test_printed_kink_makes_every_sample_a_median():
    for j, c in enumerate(FIVE):
        others = np.sum(np.sign(c - np.delete(FIVE, j)))
        assert -others / 5 - 1 <= 0 <= -others / 5 + 1  # IRHD's set, with t in [-1, 1]
        corrected = (others - 1) / 5, (others + 1) / 5
        assert absolute_subdifferential(FIVE, c) == pytest.approx(corrected)
    assert is_median(FIVE, FIVE).tolist() == [False, False, True, False, False]


# --- Learning from rewards -------------------------------------------------------------


@pytest.mark.claims("decision_theory-26")
def test_a_greedy_run_that_starts_with_bad_luck_never_recovers():
    p, runs = np.array([0.4, 0.6]), 4000
    states = list(islice(epsilon_greedy(p, eps=0.0, runs=runs, rng=np.random.default_rng(1)), 300))
    unlucky = (states[0].wins == [1, 0]).all(axis=1)
    assert (states[-1].pulls[unlucky, 1] == 1).all()
    assert abs(unlucky.mean() - 0.16) <= 5 * sqrt(0.16 * 0.84 / runs)
    stuck = estimate(states[-1].pulls[:, 1] == 1)  # walk 16
    assert stuck.value >= 0.4 - 5 * stuck.standard_error


@pytest.mark.claims("decision_theory-26")
@pytest.mark.parametrize("eps", [0.1, 0.4])
def test_exploration_pays_what_its_formula_says(eps):
    states = epsilon_greedy(np.array([0.3, 0.8]), eps=eps, runs=2000, rng=np.random.default_rng(2))
    late = estimate(np.mean([state.reward for state in islice(states, 400, 500)], axis=0))
    assert abs(late.value - ((1 - eps / 2) * 0.8 + eps / 2 * 0.3)) <= 5 * late.standard_error


@pytest.mark.claims("decision_theory-26")
def test_states_of_a_bandit_add_up(rng):
    states = list(islice(epsilon_greedy(np.array([0.2, 0.5, 0.9]), eps=0.3, runs=7, rng=rng), 40))
    for t, state in enumerate(states):
        assert (state.pulls.sum(axis=1) == 3 + t).all() and (state.wins <= state.pulls).all()
        assert state.objective == pytest.approx(state.wins.sum() / state.pulls.sum())
    for before, after in pairwise(states):
        np.testing.assert_array_equal(after.pulls - before.pulls, np.eye(3)[after.arm])
        np.testing.assert_array_equal((after.wins - before.wins).sum(axis=1), after.reward)
    assert (states[0].arm == -1).all() and np.isnan(states[0].reward).all()


# --- The estimators --------------------------------------------------------------------


SHARES = np.array([0.25, 0.75])


@pytest.mark.parametrize(
    "check, arguments, rule",
    [
        (labelled_samples, ([[1], [2], [3]], ["b", "a", "b"], [1, 0, 1]), "got 1 class"),
        (chosen_prior, ([0.5, 0.501], SHARES), "priors must be >= 0 with the sum 1"),
        (chosen_prior, ([0, 1], SHARES, "priors", True), "priors must be > 0"),
        (check_possible, (np.array([[0, 0], [0, np.nan]]),), r"X\[1\] must be possible in some"),
    ],
    ids=["class of weight 0", "sum", "prior 0", "nan"],
)
def test_what_no_classifier_can_learn_from_is_refused(check, arguments, rule):
    with pytest.raises(ValueError, match=rule):
        check(*arguments)


def blobs(rng, n=60):
    X = np.vstack([rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) @ [[2, 1], [0, 1]] + [3, 0]])
    return X, np.repeat(["b", "a"], [n, n])


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_bayes_classifier_fits_a_normal_density_per_class_and_the_shares(share, rng):
    X, y = (each[:100] for each in blobs(rng))
    X = X / 100  # no range is as large as 1
    model, scores = BayesClassifier(var_smoothing=share).fit(X, y), []
    for label, prior in (("a", 0.4), ("b", 0.6)):
        of_class = X[y == label]
        S = np.cov(of_class.T, ddof=0) + share * np.diag(X.var(axis=0))
        D = X - of_class.mean(axis=0)
        quadratic = np.sum(D @ np.linalg.inv(S) * D, axis=1)
        scores.append(prior * np.exp(-quadratic / 2) / (2 * pi * np.sqrt(np.linalg.det(S))))
    q = np.transpose(scores) / np.sum(scores, axis=0)[:, None]
    np.testing.assert_allclose(model.priors_, [0.4, 0.6])
    np.testing.assert_allclose(model.predict_proba(X), q, rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(model.predict(X), np.where(q[:, 0] > q[:, 1], "a", "b"))


def test_bayes_classifier_uses_given_densities_and_priors_unchanged(rng):
    def never(X):
        return np.full(len(X), -np.inf)

    mu, prior = np.array([-1.0, 2.0]), np.array([0.9, 0.1])
    laws = [lambda X, m=m: normal_log_density(X[:, 0], m, 1.0) for m in mu]
    X, y = rng.normal(size=(30, 1)), rng.integers(2, size=30)
    q = BayesClassifier(laws, priors=np.float32(prior)).fit(X, y).predict_proba(X)
    expected = posterior(normal_classes(X[:, 0], mu, (1.0, 1.0)), prior)
    np.testing.assert_allclose(q, expected, rtol=1e-6)
    assert BayesClassifier([never, laws[1]]).fit(X, y).predict(X).all()
    with pytest.raises(ValueError, match=re.escape("X[0] must be possible in some class")):
        BayesClassifier([never, never]).fit(X, y).predict(X)


def test_bayes_classifier_decides_by_losses_and_rejects(rng):
    X, y = blobs(rng)
    L = with_reject(np.array([[0.0, 4.0], [1.0, 0.0]]), 0.4)
    model = BayesClassifier(loss=L, actions=["a", "b", "neither"]).fit(X, y)
    plain = BayesClassifier().fit(X, y)
    risk = plain.predict_proba(X) @ L.T
    np.testing.assert_allclose(model.conditional_risk(X), risk, rtol=1e-12)
    answers = np.array(["a", "b", "neither"])[risk.argmin(axis=1)]
    np.testing.assert_array_equal(model.predict(X), answers)
    assert set(answers) == {"a", "b", "neither"} and model.score(X, y) == np.mean(answers == y)
    kept = answers != "neither"
    assert np.mean(answers[kept] == y[kept]) > plain.score(X, y)


def test_bayes_classifier_of_constant_features_and_single_samples(rng):
    X, y = np.array([[0.1, 5.0], [0.1, 5.0], [0.1, 7.0]]), ["one", "one", "other"]
    assert BayesClassifier().fit(X, y).predict(X).tolist() == y
    with pytest.raises(ValueError, match="not positive definite"):
        BayesClassifier(var_smoothing=0.0).fit(X, y)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 300)) + y[:, None]  # more features than samples
    assert BayesClassifier().fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    "wrong, rule",
    [
        ({"priors": [1.0]}, "priors must hold a number for each of the 2 classes"),
        ({"loss": [[0, np.inf], [1, 0]]}, "loss must be finite, with a column for each of 2"),
        ({"loss": np.ones((3, 2))}, "actions must hold a label for each of 3 rows"),
        ({"log_densities": [1, 2]}, "log_densities must hold 2 functions"),
    ],
)
def test_bayes_classifier_refuses_parameters_and_keeps_what_it_learnt(wrong, rule, rng):
    X, y = blobs(rng)
    model = BayesClassifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=rule):
        model.set_params(**wrong).fit(X[:90] + 1, y[:90])
    np.testing.assert_array_equal(model.predict_proba(X), before)


# --- The lecture figures ---------------------------------------------------------------


def curves(ax):
    """The points of the lines that have many."""
    lines = [line.get_data() for line in ax.lines]
    return [(x, y) for x, y in lines if len(x) > 2]


def area(x, y):
    return float(np.sum((y[1:] + y[:-1]) / 2 * np.diff(x)))


@pytest.mark.claims("decision_theory-10")
def test_lightness_shows_densities_their_overlap_and_the_posteriors():
    from figures.decision_theory import LIGHTNESS, PRIOR, VARIANCE, lightness, lightness_boundary

    left, middle, right = panels(lightness, columns=3)
    assert [area(*curve) for curve in curves(left)] == pytest.approx([1, 1], abs=1e-3)
    assert sorted(area(*curve) for curve in curves(middle)) == pytest.approx([1 / 3, 2 / 3], 1e-3)
    (shade,) = middle.collections
    x, y = shade.get_paths().pop().vertices.T
    shaded = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    exact = normal_error(LIGHTNESS[:, None], np.array([[VARIANCE]]), PRIOR)
    assert shaded == pytest.approx(exact, abs=1e-4)
    at = lightness_boundary(), LIGHTNESS.mean()  # where the weighted densities cross, the densities
    posteriors = np.sort([np.interp(at, x, y) for x, y in curves(right)], axis=0)
    np.testing.assert_allclose(posteriors.T, [[1 / 2, 1 / 2], [1 / 3, 2 / 3]], 1e-3)


@pytest.mark.claims("decision_theory-16")
def test_fish_shows_histograms_the_best_cuts_and_the_line():
    from figures.decision_theory import fish, fish_line, fish_sample

    left, middle, right = panels(fish, columns=3)
    sample, wrong = fish_sample(), []
    for ax, x in ((left, sample.length), (middle, sample.lightness)):
        bars = [patch.get_height() for patch in ax.patches if hasattr(patch, "get_height")]
        assert sum(bars) == np.sum(sample.y == 0) == np.sum(sample.y == 1) == 80
        (cut,) = ax.collections
        ((at, _), _) = cut.get_segments().pop()
        wrong.append(min(np.sum((x > at) != sample.y), np.sum((x <= at) != sample.y)))
        assert wrong[-1] == brute_cut(x, sample.y)
    w, b = fish_line(sample)
    (line,) = [line for line in right.lines if hasattr(line, "get_xy1")]
    np.testing.assert_allclose([line.get_xy1() @ w, line.get_xy2() @ w], -b, rtol=1e-9)
    X = np.column_stack([sample.lightness, sample.width])
    wrong.append(np.sum((X @ w + b > 0) != sample.y))
    assert [ax.get_title() for ax in (left, middle, right)] == [f"{k} of 160 wrong" for k in wrong]
    assert [*wrong, brute_cut(sample.width, sample.y)] == [41, 23, 11, 16]  # as in the caption


@pytest.mark.claims("decision_theory-18")
def test_one_pixel_shows_the_eight_probabilities_of_the_example():
    from figures.decision_theory import one_pixel

    left, right = panels(one_pixel, columns=2)
    bars = sorted(left.patches, key=lambda bar: bar.get_x())
    heights = np.array([bar.get_height() for bar in bars]).reshape(4, 2)
    assert heights.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(heights[:, 0]) < 0).all() and (np.diff(heights[:, 1]) > 0).all()
    names = {text.get_text(): text.xy for text in left.texts}
    for (i, k), height in np.ndenumerate(heights):
        x, y = names[f"$p_{{{i + 1}{k + 1}}}$"]
        assert y == pytest.approx(height) and abs(x - i - 1) < 0.5 and (x > i + 1) == (k == 1)
    (mean,) = [y for _, y in curves(right)]
    np.testing.assert_allclose(mean, heights[:, 1] / heights.sum(axis=1))
