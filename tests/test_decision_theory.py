"""The decision theory chapter: every statement of the notes, checked by a second route."""

import inspect
import re
from fractions import Fraction
from itertools import islice, product
from math import erf, erfc, exp, log, pi, sqrt

import contract
import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.base import Classifier, Regressor
from mlnotes.datasets import load_iris, make_fish
from mlnotes.decision_theory import (
    BayesClassifier,
    absolute,
    absolute_subdifferential,
    bayes_action,
    bayes_classify,
    bayes_error,
    best_cut,
    check_possible,
    check_prior,
    chosen_prior,
    conditional_error,
    conditional_mean,
    conditional_median,
    conditional_mode,
    conditional_risk,
    conditional_variance,
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
    likelihood_ratio_rule,
    log_evidence,
    log_joint,
    log_posterior,
    margin_zero_one,
    normal_bayes_error,
    normal_log_odds,
    posterior,
    product_rule,
    squared,
    task_type,
    total_risk,
    weighted_median,
    with_reject,
    zero_one,
    zero_one_matrix,
)
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
    sample_atoms,
)

HALF = np.array([0.5, 0.5])
LOSSES = {"zero_one": zero_one, "squared": squared, "absolute": absolute}


def Phi(z):  # noqa: N802 the notes' name
    return (1 + erf(z / sqrt(2))) / 2


def random_simplex(rng, *shape):
    p = rng.gamma(1.0, size=shape)
    return p / p.sum(axis=-1, keepdims=True)


def finite_classes(rng, m, K):
    """log p(x | k) (m, K) of K random distributions on m points, and random priors."""
    return np.log(random_simplex(rng, K, m)).T, random_simplex(rng, K)


def normal_classes(x, mu, sigma2):
    """ln p(x | k) of normal classes on the line."""
    return np.column_stack([normal_log_density(x, m, s) for m, s in zip(mu, sigma2, strict=True)])


def by_loops(h, log_p, prior, dx):
    """The probability of error as a double sum: the parts of the classes in the wrong regions."""
    p = np.exp(log_p)
    return sum(
        dx[i] * prior[k] * p[i, k] for i in range(len(p)) for k in range(len(prior)) if h[i] != k
    )


# ---------------------------------------------------------------------------------------
# Losses
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("decision_theory-01")
def test_every_supervised_estimator_learns_from_pairs_and_is_asked_about_samples():
    supervised = [e for e in contract.estimators() if isinstance(e, Classifier | Regressor)]
    assert supervised
    for estimator in supervised:
        assert list(inspect.signature(estimator.fit).parameters)[:2] == ["X", "y"]
        assert next(iter(inspect.signature(estimator.predict).parameters)) == "X"
        kind = "classification" if isinstance(estimator, Classifier) else "regression"
        assert task_type(contract.sample(estimator)[1]) == kind


@pytest.mark.claims("decision_theory-01")
def test_a_learned_function_answers_unseen_samples_one_by_one(rng):
    iris = load_iris()
    model = BayesClassifier().fit(iris.X[::2], iris.y[::2])
    unseen = iris.X[1::2]
    np.testing.assert_array_equal(
        model.predict(unseen), [model.predict(x[None])[0] for x in unseen]
    )
    rows = [model.predict_proba(x[None])[0] for x in unseen]
    np.testing.assert_allclose(model.predict_proba(unseen), rows, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("decision_theory-01")
@pytest.mark.parametrize("y", [["a", "b"], [-1, 1], [0.0, 1.0, 2.0], [True, False]])
def test_codes_and_names_are_qualitative(y):
    assert task_type(y) == "classification"


@pytest.mark.claims("decision_theory-01")
def test_amounts_are_quantitative(rng):
    assert task_type(rng.normal(size=5)) == "regression"
    assert task_type([1.0, 2.0, 2.5]) == "regression"


@pytest.mark.claims("decision_theory-02")
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_losses_vanish_on_the_diagonal_only_and_broadcast(loss):
    values = np.array([-2.0, 0.0, 0.5, 3.0])
    table = loss(values, values[:, None])
    assert table.shape == (4, 4)
    np.testing.assert_array_equal(table == 0, np.eye(4, dtype=bool))
    assert table.min() >= 0
    for (i, j), entry in np.ndenumerate(table):
        assert entry == loss(values[j], values[i])


@pytest.mark.claims("decision_theory-02")
def test_losses_of_hand():
    f, y = np.array([1.0, -3.0]), np.array([4.0, -3.0])
    assert zero_one(f, y).tolist() == [1, 0]
    assert squared(f, y).tolist() == [9, 0]
    assert absolute(f, y).tolist() == [3, 0]
    assert empirical_risk(squared, f, y) == 4.5 and empirical_risk(zero_one, f, y) == 0.5


@pytest.mark.claims("decision_theory-02")
def test_margin_form_counts_the_errors_of_the_sign_and_every_zero(rng):
    f, y = rng.normal(size=501), rng.choice([-1, 1], size=501)
    assert empirical_risk(margin_zero_one, f, y) == empirical_risk(zero_one, np.sign(f), y)
    errors = len(y) * empirical_risk(margin_zero_one, f, y)
    assert errors == pytest.approx(round(errors), abs=1e-9)
    assert margin_zero_one(0.0, 1) == margin_zero_one(0.0, -1) == 1


@pytest.mark.claims("decision_theory-02")
def test_a_row_less_a_column_is_refused():
    with pytest.raises(ValueError, match=r"one shape; got \(3,\) and \(3, 1\)"):
        empirical_risk(squared, np.ones(3), np.ones((3, 1)))


def test_standard_error_is_that_of_the_mean(rng):
    draws = rng.uniform(size=(4000, 4))
    found = [estimate(row) for row in draws]
    assert np.std([e.value for e in found]) == pytest.approx(sqrt(1 / 12 / 4), rel=0.05)
    mean_square = np.mean([e.standard_error**2 for e in found])
    assert mean_square == pytest.approx(1 / 12 / 4, rel=0.05)  # unbiased: s^2 has n - 1 below
    with pytest.raises(ValueError, match="2 draws at least; got 1"):
        estimate(np.ones(1))


# ---------------------------------------------------------------------------------------
# Bayes' formula
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("decision_theory-03")
def test_evidence_and_posteriors_integrate_to_one_and_to_the_priors():
    mu, sigma2, prior = (-1.0, 0.5, 3.0), (1.0, 0.3, 2.0), np.array([0.2, 0.5, 0.3])
    x, dx = gauss_legendre(-20, 20, 200)
    log_p = normal_classes(x, mu, sigma2)
    q, p = posterior(log_p, prior), np.exp(log_evidence(log_p, prior))
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-14, atol=1e-14)
    assert dx @ p == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose((dx * p) @ q, prior, rtol=1e-8, atol=1e-8)
    weighted = [prior[k] * np.exp(log_p[:, k]) for k in range(3)]
    np.testing.assert_allclose(p, sum(weighted), rtol=1e-12)
    near = np.abs(x) < 6
    literal = [w[near] / sum(weighted)[near] for w in weighted]
    np.testing.assert_allclose(q[near].T, literal, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(q.argmax(axis=1), np.argmax(weighted, axis=0))  # p(x) dropped


@pytest.mark.claims("decision_theory-03")
def test_posteriors_a_hundred_sigma_away_where_densities_underflow():
    x = np.array([-100.0, 99.0, 100.0])
    log_p = normal_classes(x, (0.0, 1.0), (1.0, 1.0))
    assert (np.exp(log_p) == 0).all()  # the formula as it stands would divide 0 by 0
    q = posterior(log_p, HALF)
    assert np.isfinite(q).all() and q.argmax(axis=1).tolist() == [0, 1, 1]
    assert q[0, 1] == pytest.approx(exp(-100.5), rel=1e-9, abs=0)  # ln q_1 / q_0 = x - 1/2
    assert log_evidence(log_p, HALF)[1] == pytest.approx(log(0.5) - log(2 * pi) / 2 - 98**2 / 2)


@pytest.mark.claims("decision_theory-03")
def test_a_class_without_prior_or_without_density_has_no_posterior():
    log_p = np.array([[0.0, -1.0], [-np.inf, -1.0]])
    assert posterior(log_p, HALF)[1].tolist() == [0, 1]
    assert posterior(log_p[:1], np.array([0.0, 1.0])).tolist() == [[0, 1]]
    assert log_evidence(np.full((1, 2), -np.inf), HALF) == -np.inf
    message = re.escape("X[1] must be possible in some class; got Pr(x, k) = 0 for all k")
    with pytest.raises(ValueError, match=message):
        posterior(log_p, np.array([1.0, 0.0]))


@pytest.mark.claims("decision_theory-03")
@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.5, -0.5], [0.5, np.nan], [0.2, 0.3]])
def test_priors_off_the_simplex_are_refused(prior):
    with pytest.raises(ValueError, match=r"priors must be >= 0 and sum to 1; got \["):
        posterior(np.zeros((1, 2)), np.array(prior))


def test_log_posterior_outlives_its_terms_and_refuses_the_impossible():
    joint = np.array([[-2e5, -2e5 + log(3)], [-np.inf, -1e9]])
    np.testing.assert_allclose(log_posterior(joint)[0], np.log([0.25, 0.75]), rtol=1e-9)
    np.testing.assert_array_equal(log_posterior(joint)[1], [-np.inf, 0])
    assert check_possible(joint) is joint
    impossible = np.array([[0.0, -1.0], [-np.inf, -np.inf]])
    for function in (log_posterior, check_possible):
        with pytest.raises(ValueError, match=re.escape("X[1] must be possible in some class")):
            function(impossible)


def test_priors_given_to_a_classifier():
    shares = np.array([0.25, 0.75])
    assert chosen_prior(None, shares) is shares
    assert chosen_prior([0, 1], shares).tolist() == [0, 1]
    thirds = np.full(3, 1 / 3)
    for rounded in (np.float32(thirds), [0.33333] * 3):
        prior = chosen_prior(rounded, thirds, positive=True)
        np.testing.assert_allclose(prior, thirds, rtol=1e-15)
        assert check_prior(prior) is prior
    wrong = ([0.5], 0.5, [[0.5, 0.5]], [1.5, -0.5], [0.5, 0.501], "even", [np.nan, 1], [np.inf, 0])
    for given in (*wrong, [np.inf, -np.inf], ["0.5", "0.5"], np.array([0.5 + 1j, 0.5 - 1j])):
        message = "prior must be a number >= 0 for each of the 2 classes, with the sum 1; got "
        with pytest.raises(ValueError, match=re.escape(f"{message}{given!r}")):
            chosen_prior(given, shares, "prior")
    message = "priors must be a number > 0 for each of the 2 classes, with the sum 1; got [0, 1]"
    with pytest.raises(ValueError, match=re.escape(message)):
        chosen_prior([0, 1], shares, positive=True)


def test_a_prior_for_each_column_or_none():
    assert check_prior(np.full(3, 1 / 3)).sum() == pytest.approx(1)
    for log_p in (np.zeros((2, 1)), np.zeros(2), np.zeros((2, 3))):  # the first would broadcast
        with pytest.raises(
            ValueError, match=r"log_p must have shape \(n, K\) and the prior \(K,\)"
        ):
            log_joint(log_p, HALF)


# ---------------------------------------------------------------------------------------
# The Bayes classifier
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("decision_theory-04")
@pytest.mark.parametrize("pi_1", [Fraction(2, 3), Fraction(1, 2), Fraction(1, 10)])
def test_without_features_the_larger_prior_wins_and_errs_as_often_as_the_other_comes(pi_1, rng):
    prior = np.array([float(pi_1), float(1 - pi_1)])
    (a,) = bayes_action(prior[None], zero_one_matrix(2))
    log_p, dx = finite_classes(rng, 6, 2)[0], np.ones(6)
    error = error_probability(np.full(6, a), log_p, prior, dx)
    assert error == pytest.approx(float(min(1 - pi_1, pi_1)), abs=1e-14)
    for r in [Fraction(k, 20) for k in range(21)]:  # class 0 with probability r, whatever x
        randomised = pi_1 * (1 - r) + (1 - pi_1) * r
        assert randomised >= min(1 - pi_1, pi_1)
        both = [error_probability(np.full(6, k), log_p, prior, dx) for k in (0, 1)]
        mixed = float(r) * both[0] + float(1 - r) * both[1]
        assert mixed == pytest.approx(float(randomised), abs=1e-14)


@pytest.mark.claims("decision_theory-04")
def test_at_equal_priors_either_class_errs_on_half():
    (a,) = bayes_action(HALF[None], zero_one_matrix(2))
    assert a == 0  # ISML takes the second
    assert [conditional_error(np.array([k]), HALF[None])[0] for k in (0, 1)] == [0.5, 0.5]


@pytest.mark.claims("decision_theory-05")
@pytest.mark.parametrize("seed", range(5))
def test_three_forms_of_the_rule_decide_alike(seed):
    rng = np.random.default_rng(seed)
    mu, sigma2, prior = rng.normal(size=2), rng.gamma(2.0, size=2), random_simplex(rng, 2)
    log_p = normal_classes(np.linspace(-8, 8, 2001), mu, sigma2)
    h = bayes_classify(log_p, prior)
    assert set(h) == {0, 1}
    np.testing.assert_array_equal(h, posterior(log_p, prior).argmax(axis=1))
    np.testing.assert_array_equal(h, likelihood_ratio_rule(log_p, prior))
    p = np.exp(log_p)
    np.testing.assert_array_equal(h == 0, p[:, 0] * prior[0] > p[:, 1] * prior[1])


@pytest.mark.claims("decision_theory-05")
@pytest.mark.parametrize("prior", [(0.5, 0.5), (0.9, 0.1), (0.2, 0.8)])
def test_normal_classes_of_one_variance_change_at_the_shifted_midpoint(prior):
    mu, sigma2, prior = np.array([1.0, 4.0]), 2.25, np.array(prior)
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        (h,) = bayes_classify(normal_classes(np.array([middle]), mu, [sigma2] * 2), prior)
        low, high = (middle, high) if h == 0 else (low, middle)
    x_star = (mu[0] + mu[1]) / 2 + sigma2 * log(prior[0] / prior[1]) / (mu[1] - mu[0])
    assert low == pytest.approx(x_star, abs=1e-10)
    w, b = normal_log_odds(mu[:, None], np.array([[sigma2]]), prior)
    assert -b / w[0] == pytest.approx(x_star, abs=1e-12)


@pytest.mark.claims("decision_theory-05")
def test_log_odds_of_normal_classes_of_one_covariance_are_affine(rng):
    A, mu, prior = rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), np.array([0.3, 0.7])
    Sigma, X = A @ A.T, 2 * rng.normal(size=(50, 3))
    log_p = np.column_stack([multivariate_normal_log_density(X, m, Sigma) for m in mu])
    w, b = normal_log_odds(mu, Sigma, prior)
    s = log_joint(log_p, prior)
    np.testing.assert_allclose(X @ w + b, s[:, 1] - s[:, 0], rtol=1e-9, atol=1e-9)
    assert normal_log_odds(mu, Sigma, np.array([1.0, 0.0]))[1] == -np.inf
    with pytest.raises(ValueError, match="not positive definite"):
        normal_log_odds(mu[:, :2], np.diag([1.0, -1.0]), prior)


@pytest.mark.claims("decision_theory-06")
def test_two_tie_rules_differ_at_the_tie_only_and_err_alike():
    p = [
        [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)],
        [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)],
    ]
    prior = [Fraction(1, 2)] * 2
    joint = [[prior[k] * p[k][i] for k in (0, 1)] for i in range(3)]
    to_0 = [1 if q_1 > q_0 else 0 for q_0, q_1 in joint]  # PRNN 1
    to_1 = [0 if q_0 - q_1 > 0 else 1 for q_0, q_1 in joint]  # PRNN 4, MLN
    assert to_0 == [0, 0, 1] and to_1 == [0, 1, 1]
    error = {
        rule: sum(joint[i][1 - h] for i, h in enumerate(rule))
        for rule in (tuple(to_0), tuple(to_1))
    }
    assert set(error.values()) == {Fraction(3, 8)}
    log_p = np.log(np.array(p, dtype=float)).T
    assert (
        bayes_classify(log_p, HALF).tolist() == to_0 == likelihood_ratio_rule(log_p, HALF).tolist()
    )
    assert bayes_action(posterior(log_p, HALF), zero_one_matrix(2)).tolist() == to_0


# ---------------------------------------------------------------------------------------
# Probability of error
# ---------------------------------------------------------------------------------------


def test_nodes_of_a_box_integrate_products():
    sides = gauss_legendre(0, 1, 2, 3), gauss_legendre(-1, 2, 1, 5), gauss_legendre(0, 3, 2, 4)
    X, dx = product_rule(*sides)
    assert X.shape == (6 * 5 * 8, 3) and dx.shape == (6 * 5 * 8,)
    assert dx.sum() == pytest.approx(9)
    integral = dx @ (X[:, 0] * X[:, 1] ** 2 * np.exp(-X[:, 2]))
    assert integral == pytest.approx(0.5 * 3 * (1 - exp(-3)), rel=1e-7)


@pytest.mark.claims("decision_theory-07")
def test_regions_are_disjoint_and_cover(rng):
    h = rng.integers(4, size=100)
    R = decision_regions(h, 5)
    assert (R.sum(axis=1) == 1).all() and not R[:, 4].any()
    np.testing.assert_array_equal(R @ np.arange(5), h)


@pytest.mark.claims("decision_theory-07")
@pytest.mark.parametrize("t", [-1.0, 0.4, 3.0])
def test_error_of_a_threshold_is_two_tails(t):
    mu, s, prior = (0.0, 2.0), 1.3, np.array([0.7, 0.3])
    parts = gauss_legendre(-15, t, 40), gauss_legendre(t, 18, 40)  # split where the decision is
    x, dx = (np.concatenate(part) for part in zip(*parts, strict=True))
    F = error_probability(np.where(x > t, 1, 0), normal_classes(x, mu, [s**2] * 2), prior, dx)
    tails = prior[0] * (1 - Phi((t - mu[0]) / s)) + prior[1] * Phi((t - mu[1]) / s)
    assert F == pytest.approx(tails, abs=1e-10)


@pytest.mark.claims("decision_theory-07")
def test_error_of_several_classes_is_the_double_sum(rng):
    log_p, prior = finite_classes(rng, 7, 4)
    dx = rng.random(7)
    for h in rng.integers(4, size=(20, 7)):
        F = error_probability(h, log_p, prior, dx)
        assert F == pytest.approx(by_loops(h, log_p, prior, dx), abs=1e-14)
        L = zero_one_matrix(4)
        assert total_risk(h, log_p, prior, L, dx) == pytest.approx(F, abs=1e-14)


@pytest.mark.claims("decision_theory-08")
@pytest.mark.parametrize("K", [2, 5])
def test_bayes_error_three_ways(K, rng):
    x, dx = gauss_legendre(-25, 25, 300)
    mu, sigma2, prior = 3 * rng.normal(size=K), rng.gamma(2.0, size=K), random_simplex(rng, K)
    log_p = normal_classes(x, mu, sigma2)
    weighted, h = prior * np.exp(log_p), bayes_classify(log_p, prior)
    least = bayes_error(log_p, prior, dx)
    assert least == pytest.approx(1 - dx @ weighted.max(axis=1), abs=1e-10)
    assert least == pytest.approx(error_probability(h, log_p, prior, dx), abs=1e-10)
    if K == 2:
        assert least == pytest.approx(dx @ weighted.min(axis=1), abs=1e-14)
    assert least <= 1 - prior.max() + 1e-12
    q = posterior(log_p, prior)
    np.testing.assert_allclose(conditional_error(h, q), (1 - q).min(axis=1), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(conditional_error(h, q), 1 - q.max(axis=1), rtol=1e-15, atol=1e-15)
    p = np.exp(log_evidence(log_p, prior))
    assert (dx * p) @ conditional_error(h, q) == pytest.approx(least, abs=1e-10)


@pytest.mark.claims("decision_theory-08")
@pytest.mark.parametrize("delta", [0.0, 1.0, 2.6, 5.0])
def test_bayes_error_of_two_normals_is_a_tail(delta):
    x, dx = gauss_legendre(-20, 20, 200)
    log_p = normal_classes(x, (-delta / 2, delta / 2), (1.0, 1.0))
    assert bayes_error(log_p, HALF, dx) == pytest.approx(Phi(-delta / 2), abs=1e-10)


@pytest.mark.claims("decision_theory-08")
def test_a_tiny_bayes_error_keeps_its_digits():
    x, dx = gauss_legendre(-40, 40, 400)
    log_p = normal_classes(x, (-10.0, 10.0), (1.0, 1.0))
    tail = erfc(10 / sqrt(2)) / 2
    assert bayes_error(log_p, HALF, dx) == pytest.approx(tail, rel=1e-9, abs=0)
    rounding = 1 - dx @ np.exp(log_p).max(axis=1) / 2
    assert rounding != pytest.approx(tail, rel=0.5, abs=0)


@pytest.mark.claims("decision_theory-08")
def test_errors_of_the_two_decisions_at_a_point_sum_to_one(rng):
    q = random_simplex(rng, 30, 2)
    both = [conditional_error(np.full(30, k), q) for k in (0, 1)]
    np.testing.assert_allclose(np.sum(both, axis=0), 1, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(both[0], q[:, 1], rtol=1e-15, atol=1e-15)


@pytest.mark.claims("decision_theory-08")
@pytest.mark.parametrize("prior", [(0.5, 0.5), (0.85, 0.15)])
def test_closed_form_of_normal_classes_in_the_plane_and_on_the_line(prior):
    mu, prior = np.array([[0.0, 0.0], [2.0, 1.0]]), np.array(prior)
    Sigma = np.array([[1.5, 0.6], [0.6, 1.0]])
    exact = normal_bayes_error(mu, Sigma, prior)
    gaps = []
    for pieces in (20, 40, 80):
        X, dx = product_rule(*[gauss_legendre(-10, 12, pieces, 5)] * 2)
        log_p = np.column_stack([multivariate_normal_log_density(X, m, Sigma) for m in mu])
        gaps.append(abs(bayes_error(log_p, prior, dx) - exact))
    assert gaps[-1] < 1e-5 and gaps[-1] < gaps[0]
    on_a_line = normal_bayes_error(mu[:, :1], Sigma[:1, :1], prior)
    x_star = 1 + 0.75 * log(prior[0] / prior[1])
    s = sqrt(1.5)
    tails = prior[0] * Phi(-x_star / s) + prior[1] * Phi((x_star - 2) / s)
    assert exact < on_a_line == pytest.approx(tails, abs=1e-12)


@pytest.mark.claims("decision_theory-08")
def test_closed_form_where_one_class_has_it_all():
    mu = np.array([[0.0], [3.0]])
    assert normal_bayes_error(mu, np.eye(1), np.array([0.0, 1.0])) == 0
    assert normal_bayes_error(mu[[0, 0]], np.eye(1), np.array([0.8, 0.2])) == 0.2
    assert normal_bayes_error(1e-3 * mu, np.eye(1), np.array([0.8, 0.2])) == pytest.approx(0.2)


@pytest.mark.claims("decision_theory-08")
def test_simulated_error_is_within_its_standard_error(rng):
    mu, sigma2, prior, n = np.array([0.0, 1.5]), np.array([1.0, 2.0]), np.array([0.6, 0.4]), 40_000
    y = sample_atoms(n, prior, rng=rng)
    log_p = normal_classes(mu[y] + np.sqrt(sigma2[y]) * rng.normal(size=n), mu, sigma2)
    h = bayes_classify(log_p, prior)
    t, dt = gauss_legendre(-15, 15, 300)
    exact = bayes_error(normal_classes(t, mu, sigma2), prior, dt)
    counted = estimate(zero_one(h, y))
    averaged = estimate(conditional_error(h, posterior(log_p, prior)))
    for found in (counted, averaged):
        assert abs(found.value - exact) <= 5 * found.standard_error
    binomial = sqrt(exact * (1 - exact) / n)
    assert counted.standard_error == pytest.approx(binomial, rel=0.02)
    assert averaged.standard_error < 0.5 * counted.standard_error


@pytest.mark.claims("decision_theory-09")
@pytest.mark.parametrize("seed", range(4))
def test_all_classifiers_on_eight_cells_have_the_bayes_error_plus_their_excess(seed):
    rng = np.random.default_rng(seed)
    log_p, prior = finite_classes(rng, 8, 2)
    dx, weighted = np.ones(8), prior * np.exp(log_p)
    best = bayes_classify(log_p, prior)
    F_best = error_probability(best, log_p, prior, dx)
    errors = {}
    for h in product((0, 1), repeat=8):
        errors[h] = error_probability(np.array(h), log_p, prior, dx)
        given_away = sum(
            abs(a - b) for (a, b), i, j in zip(weighted, h, best, strict=True) if i != j
        )
        assert errors[h] - F_best == pytest.approx(given_away, abs=1e-14)
        excess = excess_error(np.array(h), log_p, prior, dx)
        assert excess == pytest.approx(given_away, abs=1e-14)
    assert min(errors, key=errors.get) == tuple(best)
    assert F_best == pytest.approx(bayes_error(log_p, prior, dx), abs=1e-15)


@pytest.mark.claims("decision_theory-09")
def test_excess_of_several_classes(rng):
    log_p, prior = finite_classes(rng, 6, 4)
    dx = rng.random(6)
    for h in rng.integers(4, size=(30, 6)):
        difference = by_loops(h, log_p, prior, dx) - bayes_error(log_p, prior, dx)
        assert excess_error(h, log_p, prior, dx) == pytest.approx(difference, abs=1e-14)
        assert difference >= -1e-15


@pytest.mark.claims("decision_theory-13")
def test_excess_of_a_plug_in_rule_and_its_bound(rng):
    log_p, prior = finite_classes(rng, 10, 2)
    dx, p = np.ones(10), np.exp(log_evidence(log_p, prior))
    q_1 = posterior(log_p, prior)[:, 1]
    best, tight = bayes_classify(log_p, prior), 0.0
    for estimated in rng.random(size=(1000, 10)):
        h = np.where(estimated > 0.5, 1, 0)
        excess = excess_error(h, log_p, prior, dx)
        differs = np.abs(2 * q_1 - 1) * (h != best)  # |q_1 - q_0| where the rules differ
        assert excess == pytest.approx(p @ differs, abs=1e-14)
        bound = 2 * p @ np.abs(estimated - q_1)
        assert excess <= bound + 1e-14
        tight = max(tight, excess / bound)
    assert tight > 0.3


@pytest.mark.claims("decision_theory-13")
def test_a_large_density_error_may_be_harmless_and_a_small_one_not():
    log_p, dx = np.log([[0.8, 0.2], [0.15, 0.3], [0.05, 0.5]]), np.ones(3)
    truth = posterior(log_p, HALF)
    far = np.log([[0.4, 0.02], [0.3, 0.45], [0.3, 0.53]])  # wrong everywhere, decides the same
    near = np.log([[0.8, 0.2], [0.15, 0.14], [0.05, 0.66]])  # right but for a little mass
    harm = [excess_error(bayes_classify(wrong, HALF), log_p, HALF, dx) for wrong in (far, near)]
    off = [np.abs(np.exp(wrong) - np.exp(log_p)).sum() for wrong in (far, near)]
    assert off[0] > 2 * off[1]
    assert harm[0] == 0 < harm[1] == pytest.approx((0.3 - 0.15) / 2)
    assert truth[1].argmax() == 1


# ---------------------------------------------------------------------------------------
# Actions and losses
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("decision_theory-12")
@pytest.mark.parametrize("seed", range(4))
def test_no_rule_has_a_smaller_risk(seed):
    rng = np.random.default_rng(seed)
    log_p, prior = finite_classes(rng, 5, 4)
    L, dx = 10 * rng.random(size=(4, 4)), np.ones(5)
    a = bayes_action(posterior(log_p, prior), L)
    joint = prior * np.exp(log_p)
    risks = {
        rule: sum(L[rule[i], k] * joint[i, k] for i in range(5) for k in range(4))
        for rule in product(range(4), repeat=5)
    }
    assert min(risks, key=risks.get) == tuple(a)
    for rule in (tuple(a), (0, 1, 2, 3, 0)):
        assert total_risk(np.array(rule), log_p, prior, L, dx) == pytest.approx(risks[rule])


@pytest.mark.claims("decision_theory-12")
def test_conditional_risks_average_to_the_total(rng):
    log_p, prior = finite_classes(rng, 9, 3)
    L = rng.normal(size=(4, 3))  # four actions for three classes; losses may be gains
    q, p = posterior(log_p, prior), np.exp(log_evidence(log_p, prior))
    R = conditional_risk(q, L)
    assert R.shape == (9, 4)
    literal = [[sum(L[a, k] * row[k] for k in range(3)) for a in range(4)] for row in q]
    np.testing.assert_allclose(R, literal, rtol=1e-14, atol=1e-14)
    a = rng.integers(4, size=9)
    total = total_risk(a, log_p, prior, L, np.ones(9))
    assert p @ R[np.arange(9), a] == pytest.approx(total, abs=1e-14)


@pytest.mark.claims("decision_theory-12")
def test_zero_one_loss_is_the_bayes_classifier_with_risk_one_minus_the_largest(rng):
    log_p, prior = finite_classes(rng, 200, 5)
    q = posterior(log_p, prior)
    L = zero_one_matrix(5)
    assert L.trace() == 0 and L.sum() == 20
    a = bayes_action(q, L)
    np.testing.assert_array_equal(a, bayes_classify(log_p, prior))
    np.testing.assert_allclose(
        conditional_risk(q, L).min(axis=1), 1 - q.max(axis=1), rtol=1e-15, atol=1e-15
    )


@pytest.mark.claims("decision_theory-12")
@pytest.mark.parametrize("c", [0.0, 0.1, 0.3, 0.6, 0.7])
def test_doubtful_points_are_rejected_and_no_others(c, rng):
    q = random_simplex(rng, 500, 3)
    a = bayes_action(q, with_reject(zero_one_matrix(3), c))
    np.testing.assert_array_equal(a == 3, q.max(axis=1) < 1 - c)
    np.testing.assert_array_equal(a[a < 3], q.argmax(axis=1)[a < 3])
    assert (a == 3).all() == (c == 0) and (a == 3).any() == (c < 2 / 3)


@pytest.mark.claims("decision_theory-12")
def test_unequal_losses_move_the_threshold_to_the_ratio():
    q_1 = np.linspace(0, 1, 10_001)
    L = np.array([[0.0, 5.0], [1.0, 0.0]])  # act against class 1 from q_1 > 1 / (1 + 5) on
    a = bayes_action(np.column_stack([1 - q_1, q_1]), L)
    assert q_1[a == 1].min() == pytest.approx(1 / 6, abs=1e-4) and (np.diff(a) >= 0).all()
    swapped = bayes_action(np.column_stack([1 - q_1, q_1]), L.T)  # (class, action): another rule
    assert q_1[swapped == 1].min() == pytest.approx(5 / 6, abs=1e-4)


# ---------------------------------------------------------------------------------------
# One feature, one cut
# ---------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("seed", range(40))
def test_sweep_finds_what_trying_all_cuts_finds(seed):
    rng = np.random.default_rng(seed)
    n = 1 + seed
    x = rng.integers(8, size=n).astype(float) if seed % 2 else rng.normal(size=n)  # ties or none
    y = rng.integers(2, size=n)
    cut = best_cut(x, y)
    assert cut.errors == brute_cut(x, y) == np.sum(cut_rule(x, cut) != y)
    assert cut.errors <= min(y.sum(), n - y.sum())
    mirrored = best_cut(-x, y)
    assert mirrored.errors == cut.errors == best_cut(x, 1 - y).errors


@pytest.mark.claims("decision_theory-15")
def test_errors_step_at_the_samples_only(rng):
    x, y = rng.integers(10, size=30).astype(float), rng.integers(2, size=30)
    cuts, errors = cut_errors(x, y)
    values = np.unique(x)
    np.testing.assert_array_equal(cuts[1:-1], (values[:-1] + values[1:]) / 2)
    assert (cuts[0], cuts[-1]) == (-np.inf, np.inf)
    assert (errors[0], errors[-1]) == (np.sum(y == 0), np.sum(y == 1))
    edges = np.concatenate([[-1], values, [10]])
    for low, high, count in zip(edges[:-1], edges[1:], errors, strict=True):
        for t in (low, low + 0.1 * (high - low), low + 0.9 * (high - low)):
            assert np.sum((x > t) != y) == count


@pytest.mark.claims("decision_theory-15")
def test_cuts_of_constants_neighbouring_floats_and_extreme_scales():
    assert best_cut(np.full(5, 3.0), np.array([0, 1, 1, 1, 0])).errors == 2
    a = 1.0
    b = np.nextafter(a, 2)
    for pair in ([a, b], [b, np.nextafter(b, 2)]):  # (a + b) / 2 is rounded down, then up
        cut = best_cut(np.array(pair), np.array([0, 1]))
        assert cut.errors == 0 and cut_rule(np.array(pair), cut).tolist() == [0, 1]
    cut = best_cut(np.array([1e308, 1.7e308]), np.array([1, 0]))
    assert np.isfinite(cut.at) and cut.errors == 0 and cut.above == 0


@pytest.mark.claims("decision_theory-15")
def test_only_classes_zero_and_one_are_cut():
    with pytest.raises(ValueError, match=r"y must hold the classes 0 and 1; got \[-1  1\]"):
        best_cut(np.zeros(2), np.array([-1, 1]))
    with pytest.raises(ValueError, match="x must be finite; it contains NaN or infinity"):
        best_cut(np.array([0.0, np.nan]), np.array([0, 1]))


@pytest.mark.claims("decision_theory-14")
def test_fish_err_as_their_closed_forms_say():
    n = 20_000
    T = make_fish(n, rng=np.random.default_rng(4))
    y = np.where(T.y == "sea bass", 1, 0)
    mu, Sigma = T.truth.centers, T.truth.covariances[0]
    errors = {}
    for features in ([0], [1], [2], [1, 2]):
        part = np.ix_(features, features)
        w, b = normal_log_odds(mu[:, features], Sigma[part], HALF)
        exact = normal_bayes_error(mu[:, features], Sigma[part], HALF)
        found = estimate(zero_one(np.where(T.X[:, features] @ w + b > 0, 1, 0), y))
        assert abs(found.value - exact) <= 5 * found.standard_error
        errors[tuple(features)] = exact
    delta = (mu[1] - mu[0]) / np.sqrt(np.diag(Sigma))
    for j in range(3):
        assert errors[j,] == pytest.approx(Phi(-delta[j] / 2), abs=1e-12)
    together = Phi(-sqrt(delta[1] ** 2 + delta[2] ** 2) / 2)  # lightness and width: independent
    assert errors[1, 2] == pytest.approx(together, abs=1e-12)
    assert errors[1, 2] < errors[1,] < errors[2,] < errors[0,]


# ---------------------------------------------------------------------------------------
# Predicting numbers
# ---------------------------------------------------------------------------------------


def random_table(rng, k_y=6, k_x=4):
    joint = rng.gamma(0.7, size=(k_y, k_x))
    return joint / joint.sum(), rng.normal(scale=3, size=k_y)


@pytest.mark.claims("decision_theory-17")
def test_dark_clothes_make_the_regression_function_rise(rng):
    for _ in range(50):
        table = np.array([np.sort(rng.random(4))[::-1], np.sort(rng.random(4))])  # Y = 0, Y = 1
        joint, y = table / table.sum(), np.array([0, 1])
        assert (np.diff(joint[1]) > 0).all() and (np.diff(joint[0]) < 0).all()
        mean = conditional_mean(joint, y)
        assert (np.diff(mean) > 0).all()
        np.testing.assert_array_equal(mean > 0.5, joint[1] > joint[0])
        np.testing.assert_array_equal(np.where(mean > 0.5, 1, 0), conditional_mode(joint, y))


@pytest.mark.claims("decision_theory-19")
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_expected_prediction_error_is_the_nested_mean(loss, rng):
    joint, y = random_table(rng)
    for f in (rng.normal(size=4), rng.choice(y, size=4)):
        nested = sum(
            joint[:, j].sum()
            * sum(joint[i, j] / joint[:, j].sum() * loss(f[j], y[i]) for i in range(6))
            for j in range(4)
        )
        assert expected_prediction_error(joint, y, f, loss) == pytest.approx(nested, abs=1e-13)


@pytest.mark.claims("decision_theory-19")
def test_expected_prediction_error_of_any_loss_and_of_fractions():
    joint = np.array([[Fraction(1, 4), Fraction(0)], [Fraction(1, 4), Fraction(1, 2)]])
    y, f = np.array([0, 2]), np.array([Fraction(1), Fraction(3, 2)])
    assert expected_prediction_error(joint, y, f, squared) == Fraction(5, 8)
    assert expected_prediction_error(joint, y, f, absolute) == Fraction(3, 4)
    assert expected_prediction_error(joint, y, f, lambda f, y: f * (y > f)) == Fraction(1)


@pytest.mark.claims("decision_theory-20")
def test_excess_over_the_conditional_mean_is_its_distance(rng):
    joint, y = random_table(rng)
    best, p_X = conditional_mean(joint, y), joint.sum(axis=0)
    least = expected_prediction_error(joint, y, best, squared)
    assert least == pytest.approx(p_X @ conditional_variance(joint, y), abs=1e-13)
    for f in best + rng.normal(scale=2, size=(1000, 4)):
        excess = expected_prediction_error(joint, y, f, squared) - least
        assert excess == pytest.approx(p_X @ (f - best) ** 2, abs=1e-12)


@pytest.mark.claims("decision_theory-20")
def test_the_parabola_and_its_minimiser_on_a_grid(rng):
    joint, y = random_table(rng)
    grid = np.linspace(-10, 10, 4001)
    for j in range(4):
        p = joint[:, j] / joint[:, j].sum()
        literal = np.array([sum(p * (y - c) ** 2) for c in grid])
        parabola = p @ y**2 - 2 * grid * (p @ y) + grid**2
        np.testing.assert_allclose(literal, parabola, rtol=1e-10, atol=1e-10)
        assert grid[literal.argmin()] == pytest.approx(conditional_mean(joint, y)[j], abs=0.0026)


@pytest.mark.claims("decision_theory-20")
def test_moments_of_fractions_are_fractions():
    joint = np.array([[Fraction(1, 4), Fraction(0)], [Fraction(1, 4), Fraction(1, 2)]])
    assert conditional_mean(joint, np.array([0, 2])).tolist() == [1, 2]
    assert conditional_variance(joint, np.array([0, 2])).tolist() == [1, 0]
    assert conditional_median(joint, np.array([0, 2])).tolist() == [0, 2]


@pytest.mark.claims("decision_theory-20")
def test_regression_function_of_a_bivariate_normal_is_a_line():
    mu, S = np.array([0.5, -1.0]), np.array([[2.0, 0.9], [0.9, 1.5]])
    x, (y, dy) = np.array([-1.0, 0.5, 2.0]), gauss_legendre(-13, 11, 60)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    p = np.exp(multivariate_normal_log_density(points, mu, S)).reshape(len(y), 3)
    line = mu[1] + S[0, 1] / S[0, 0] * (x - mu[0])
    np.testing.assert_allclose(conditional_mean(dy[:, None] * p, y), line, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(conditional_median(dy[:, None] * p, y), line, rtol=0.02, atol=0.02)
    spread = S[1, 1] - S[0, 1] ** 2 / S[0, 0]
    np.testing.assert_allclose(
        conditional_variance(dy[:, None] * p, y), spread, rtol=1e-10, atol=1e-10
    )


@pytest.mark.claims("decision_theory-21")
def test_conditional_median_is_the_best_of_all_support_points(rng):
    for _ in range(20):
        joint, y = random_table(rng)
        f = conditional_median(joint, y)
        for j in range(4):
            costs = {c: sum(joint[:, j] * np.abs(y - c)) for c in y}
            assert costs[f[j]] == pytest.approx(min(costs.values()), abs=1e-14)
        best = expected_prediction_error(joint, y, f, absolute)
        for other in f + rng.normal(size=(50, 4)):
            assert expected_prediction_error(joint, y, other, absolute) >= best - 1e-14


@pytest.mark.claims("decision_theory-21")
@pytest.mark.parametrize("n", [1, 2, 7, 8, 41])
def test_sample_median_solves_the_empirical_problem(n, rng):
    y = rng.normal(size=n)

    def g(c):
        return np.mean(np.abs(y - c))

    least = min(g(c) for c in y)  # piecewise linear: some sample attains the minimum
    assert g(np.median(y)) == pytest.approx(least, abs=1e-14)
    assert g(weighted_median(np.full(n, 1 / n), y)) == pytest.approx(least, abs=1e-14)
    if n % 2:
        middle = np.sort(y)[(n + 1) // 2 - 1]
        assert weighted_median(np.ones(n), y) == middle == np.median(y)
        assert all(g(c) > least + 1e-12 for c in middle + np.array([-1e-3, 1e-3, -2, 2]))


@pytest.mark.claims("decision_theory-21")
def test_weighted_median_is_the_median_of_repetitions(rng):
    for _ in range(30):
        y, counts = rng.integers(10, size=6).astype(float), rng.integers(0, 4, size=6)
        if counts.sum():
            repeated = np.sort(np.repeat(y, counts))
            lower = repeated[(len(repeated) - 1) // 2]
            assert weighted_median(counts / counts.sum(), y) == lower
    with pytest.raises(ValueError, match=r"weights must be >= 0 and not all 0; got \[0. 0.\]"):
        weighted_median(np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="weights must be >= 0"):
        weighted_median(np.array([2.0, -1.0]), np.ones(2))


def test_mode_is_the_best_prediction_under_zero_one_loss(rng):
    joint, y = random_table(rng, 3, 4)
    costs = {
        f: expected_prediction_error(joint, y, np.array(f), zero_one) for f in product(y, repeat=4)
    }
    assert min(costs, key=costs.get) == tuple(conditional_mode(joint, y))


def test_nothing_is_predicted_where_x_cannot_be():
    joint, y = np.array([[0.0, 0.5], [0.0, 0.5]]), np.array([0.0, 1.0])
    for predict in (conditional_mean, conditional_median, conditional_mode, conditional_variance):
        with pytest.raises(ValueError, match=r"p_X\(x_j\) = 0"):
            predict(joint, y)


# ---------------------------------------------------------------------------------------
# Why the median
# ---------------------------------------------------------------------------------------


def mean_distance(y, c):
    return np.abs(y[:, None] - c).mean(axis=0)


@pytest.mark.claims("decision_theory-22")
def test_slopes_are_the_difference_quotients_on_both_sides(rng):
    for _ in range(20):
        y = rng.integers(6, size=rng.integers(1, 12)).astype(float)
        c = np.unique(np.concatenate([y, y + 0.5, [-2.0, 9.0]]))  # at samples, ties and gaps
        low, high = absolute_subdifferential(y, c)
        step = 0.25
        left = (mean_distance(y, c) - mean_distance(y, c - step)) / step
        right = (mean_distance(y, c + step) - mean_distance(y, c)) / step
        np.testing.assert_allclose(low, left, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(high, right, rtol=1e-9, atol=1e-9)
        scalar = absolute_subdifferential(y, float(c[0]))
        assert scalar == (low[0], high[0])


@pytest.mark.claims("decision_theory-22", "decision_theory-25")
def test_zero_is_a_slope_exactly_at_the_minimisers(rng):
    printed_misses = 0
    for _ in range(500):
        y = rng.integers(8, size=rng.integers(1, 10)).astype(float)
        least = mean_distance(y, y).min()
        best = y[mean_distance(y, y) <= least + 1e-12]
        c = np.unique(np.concatenate([y, y - 0.5, y + 0.5]))
        within = (best.min() <= c) & (c <= best.max())
        np.testing.assert_array_equal(is_median(y, c), within)
        below, above = (y[:, None] < c).sum(axis=0), (y[:, None] > c).sum(axis=0)
        printed_misses += np.any((below == above) != within)
    assert printed_misses > 50


FIVE, FOUR = np.array([1.0, 2.0, 4.0, 7.0, 11.0]), np.array([1.0, 2.0, 4.0, 7.0])


@pytest.mark.claims("decision_theory-23")
def test_printed_sign_of_the_slope_climbs():
    printed = np.mean(np.sign(FIVE - 3.0))
    low, high = absolute_subdifferential(FIVE, 3.0)
    quotient = (mean_distance(FIVE, 3.5) - mean_distance(FIVE, 2.5)).item()
    assert low == high == pytest.approx(-1 / 5) == pytest.approx(quotient)
    assert printed == pytest.approx(1 / 5)
    here, eta = mean_distance(FIVE, 3.0), 0.5
    assert mean_distance(FIVE, 3.0 - eta * printed) > here > mean_distance(FIVE, 3.0 - eta * low)


def printed_slopes(y, j):
    """The ends of IRHD's set at c = y_j: (1/n) sum_{i != j} sign(y_i - c) + t, |t| <= 1."""
    mean = np.sum(np.sign(y - y[j])) / len(y)
    return mean - 1, mean + 1


@pytest.mark.claims("decision_theory-24")
def test_printed_kink_makes_every_sample_a_median(rng):
    assert all(low <= 0 <= high for low, high in (printed_slopes(FIVE, j) for j in range(5)))
    assert is_median(FIVE, FIVE).tolist() == [False, False, True, False, False]
    for j in range(5):  # the corrected set, term by term
        others = np.sum(np.sign(FIVE[j] - np.delete(FIVE, j)))
        ends = absolute_subdifferential(FIVE, FIVE[j])
        assert ends == pytest.approx(((others - 1) / 5, (others + 1) / 5))
    for _ in range(100):
        y = rng.normal(size=rng.integers(2, 20))
        for j in range(len(y)):
            low, high = printed_slopes(y, j)
            assert low < 0 < high


@pytest.mark.claims("decision_theory-25")
def test_as_many_below_as_above_is_not_needed_at_a_sample():
    np.testing.assert_allclose(mean_distance(FOUR, np.array([2.0, 3.0, 4.0])), 2)
    assert mean_distance(FOUR, np.linspace(-1, 9, 1001)).min() >= 2 - 1e-12
    counts = [(np.sum(c > FOUR), np.sum(c < FOUR)) for c in (2.0, 4.0)]
    assert counts == [(1, 2), (2, 1)]
    assert is_median(FOUR, np.array([2.0, 4.0])).all()
    assert not is_median(FOUR, np.array([1.9, 4.1])).any()


# ---------------------------------------------------------------------------------------
# Learning from rewards
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("decision_theory-26")
def test_a_greedy_run_that_starts_with_bad_luck_never_recovers():
    p, runs = np.array([0.4, 0.6]), 4000
    states = list(islice(epsilon_greedy(p, eps=0.0, runs=runs, rng=np.random.default_rng(1)), 300))
    unlucky = (states[0].wins == [1, 0]).all(axis=1)
    assert (states[-1].pulls[unlucky, 1] == 1).all()
    chance = p[0] * (1 - p[1])
    stuck = np.mean(states[-1].pulls[:, 1] == 1)
    assert stuck >= chance - 5 * sqrt(chance * (1 - chance) / runs)
    assert abs(unlucky.mean() - chance) <= 5 * sqrt(chance * (1 - chance) / runs)


@pytest.mark.claims("decision_theory-26")
@pytest.mark.parametrize("eps", [0.1, 0.4])
def test_exploration_pays_what_its_formula_says(eps):
    p, runs = np.array([0.3, 0.8]), 2000
    states = epsilon_greedy(p, eps=eps, runs=runs, rng=np.random.default_rng(2))
    late = np.array([state.reward for state in islice(states, 400, 500)]).mean(axis=0)
    found = estimate(late)
    assert abs(found.value - ((1 - eps / 2) * 0.8 + eps / 2 * 0.3)) <= 5 * found.standard_error


def test_states_of_a_bandit_are_snapshots_that_add_up(rng):
    states = []
    for state in islice(epsilon_greedy(np.array([0.2, 0.5, 0.9]), eps=0.3, runs=7, rng=rng), 40):
        states.append((state, state.pulls.copy(), state.wins.copy()))
    for t, (state, pulls, wins) in enumerate(states):
        np.testing.assert_array_equal(state.pulls, pulls)
        np.testing.assert_array_equal(state.wins, wins)
        assert (pulls.sum(axis=1) == 3 + t).all() and (wins <= pulls).all()
        assert state.objective == pytest.approx(wins.sum() / pulls.sum())
    for (before, *_), (after, *_) in zip(states[:-1], states[1:], strict=True):
        assert (np.abs(after.pulls - before.pulls).sum(axis=1) == 1).all()
        np.testing.assert_array_equal((after.wins - before.wins).sum(axis=1), after.reward)
    assert np.isnan(states[0][0].reward).all()


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def blobs(rng, n=60):
    X = np.vstack([rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) @ [[2, 1], [0, 1]] + [3, 0]])
    return X, np.repeat(["b", "a"], [n, n])


def test_defaults_are_a_normal_density_per_class_and_the_shares_as_priors(rng):
    X, y = blobs(rng)
    X, y = X[:100], y[:100]
    model = BayesClassifier(var_smoothing=0.0).fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(model.priors_, [0.4, 0.6])
    scores = []
    for label, share in (("a", 0.4), ("b", 0.6)):
        own = X[y == label]
        mu, S = own.mean(axis=0), np.cov(own.T, ddof=0)
        D = X - mu
        quadratic = np.sum(D @ np.linalg.inv(S) * D, axis=1)
        scores.append(share * np.exp(-quadratic / 2) / (2 * pi * np.sqrt(np.linalg.det(S))))
    q = np.transpose(scores) / np.sum(scores, axis=0)[:, None]
    np.testing.assert_allclose(model.predict_proba(X), q, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(q), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.where(q[:, 0] > q[:, 1], "a", "b"))


def test_given_densities_and_priors_are_used_unchanged(rng):
    mu, prior = np.array([-1.0, 2.0]), np.array([0.9, 0.1])
    laws = [lambda X, m=m: normal_log_density(X[:, 0], m, 1.0) for m in mu]
    X, y = rng.normal(size=(30, 1)), rng.integers(2, size=30)
    model = BayesClassifier(laws, priors=prior).fit(X, y)
    x = np.linspace(-4, 5, 200)[:, None]
    expected = bayes_classify(normal_classes(x[:, 0], mu, (1.0, 1.0)), prior)
    np.testing.assert_array_equal(model.predict(x), expected)
    assert x[expected == 1].min() == pytest.approx(0.5 + log(9) / 3, abs=0.05)
    again = BayesClassifier(laws, priors=prior).fit(X[::-1], rng.permutation(y))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))


def test_losses_and_rejection_decide(rng):
    X, y = blobs(rng)
    L = with_reject(np.array([[0.0, 4.0], [1.0, 0.0]]), 0.4)
    model = BayesClassifier(loss=L, actions=["a", "b", "neither"]).fit(X, y)
    q = BayesClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.conditional_risk(X), q @ L.T, rtol=1e-12, atol=1e-12)
    expected = np.array(["a", "b", "neither"])[np.argmin(q @ L.T, axis=1)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert set(expected) == {"a", "b", "neither"}
    assert model.score(X, y) == np.mean(expected == y)
    kept = expected != "neither"
    plain = BayesClassifier().fit(X, y)
    assert np.mean(expected[kept] == y[kept]) > plain.score(X, y)


def test_excess_of_the_plug_in_rule_falls_with_the_samples():
    x, dx = gauss_legendre(-15, 15, 300)
    mu, sigma2, prior = np.array([0.0, 1.0]), np.array([1.0, 4.0]), np.array([0.6, 0.4])
    log_p, excess = normal_classes(x, mu, sigma2), []
    for n in (20, 200, 20_000):
        rng = np.random.default_rng(5)
        y = sample_atoms(n, prior, rng=rng)
        X = (mu[y] + np.sqrt(sigma2[y]) * rng.normal(size=n))[:, None]
        h = BayesClassifier().fit(X, y).predict(x[:, None])
        excess.append(excess_error(h, log_p, prior, dx))
    assert excess[0] > excess[1] > excess[2] > 0 and excess[2] < 1e-4


def test_far_away_and_in_many_dimensions_nothing_underflows(rng):
    X, y = blobs(rng)
    far = BayesClassifier().fit(X, y).predict_log_proba(np.array([[1e5, 0.0], [0.0, -1e7]]))
    assert np.isfinite(far).all() and (far.max(axis=1) <= 0).all()
    X = rng.normal(size=(40, 300))  # more features than samples
    X[20:] += 1.0
    y = np.repeat([0, 1], 20)
    model = BayesClassifier().fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all() and model.score(X, y) == 1.0


def test_constant_features_duplicates_and_single_samples_have_a_density_too():
    X = np.array([[0.1, 5.0], [0.1, 5.0], [0.1, 7.0]])
    model = BayesClassifier().fit(X, ["one", "one", "other"])
    assert model.predict(X).tolist() == ["one", "one", "other"]
    with pytest.raises(ValueError, match="Sigma must be positive definite"):
        BayesClassifier(var_smoothing=0.0).fit(X, ["one", "one", "other"])


def test_units_of_the_features_do_not_matter(rng):
    X, y = blobs(rng)
    q = BayesClassifier(var_smoothing=1e-3).fit(X, y).predict_proba(X)
    unit = np.array([1e-9, 1e9])
    scaled = BayesClassifier(var_smoothing=1e-3).fit(X * unit, y).predict_proba(X * unit)
    np.testing.assert_allclose(scaled, q, rtol=1e-7, atol=1e-12)


def test_smoothing_adds_its_share_of_the_variance_of_all(rng):
    X, y = blobs(rng)
    smooth = BayesClassifier(var_smoothing=0.5).fit(X, y)
    own = X[y == "a"]
    S = np.cov(own.T, ddof=0) + 0.5 * np.diag(X.var(axis=0))
    expected = multivariate_normal_log_density(X, own.mean(axis=0), S)
    np.testing.assert_allclose(smooth.log_densities_[0](X), expected, rtol=1e-12)


def test_weights_count_samples(rng):
    X, y = blobs(rng)
    counts = rng.integers(0, 4, size=len(X))
    weighted = BayesClassifier().fit(X, y, sample_weight=counts)
    repeated = BayesClassifier().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.priors_, repeated.priors_)
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-10, atol=1e-10
    )
    with pytest.raises(ValueError, match="at least 2 classes; got 1 class"):
        BayesClassifier().fit(X, y, sample_weight=(y == "a").astype(float))


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"priors": [1.0]}, "a number >= 0 for each of the 2 classes, with the sum 1; got [1.0]"),
        ({"priors": [0.7, 0.7]}, "priors must be a number >= 0 for each of the 2 classes, with"),
        ({"loss": [[0, 1, 1]]}, "a column for each of the 2 classes; got [[0, 1, 1]]"),
        ({"loss": [0, 1]}, "loss must be a matrix of finite numbers"),
        ({"loss": [[0, np.inf], [1, 0]]}, "loss must be a matrix of finite numbers"),
        ({"loss": np.ones((3, 2))}, "actions must hold a label for each of the 3 rows"),
        ({"actions": ["a"]}, "actions must hold a label for each of the 2 rows of the loss"),
        ({"log_densities": [len]}, "log_densities must be a list of functions, one for each of"),
        ({"log_densities": [1, 2]}, "log_densities must be a list of functions, one for each of"),
        ({"var_smoothing": -1}, "var_smoothing must be a number >= 0; got -1"),
    ],
)
def test_parameters_that_do_not_fit_the_classes_are_refused(wrong, message, rng):
    with pytest.raises(ValueError, match=re.escape(message)):
        BayesClassifier(**wrong).fit(*blobs(rng))


@pytest.mark.parametrize(
    "density, message",
    [
        (lambda X: X, "a number for each of 120 samples; got shape (120, 2) with 0 NaN"),
        (lambda X: np.full(len(X), np.nan), "got shape (120,) with 120 NaN"),
    ],
)
def test_a_density_that_gives_something_else_is_refused(density, message, rng):
    X, y = blobs(rng)
    model = BayesClassifier([density] * 2).fit(X, y)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.predict(X)


def test_fit_again_after_a_failure_keeps_what_was_learnt(rng):
    X, y = blobs(rng)
    model = BayesClassifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="priors must"):
        model.set_params(priors=[2.0, -1.0]).fit(X[:30] + 1, y[:30].tolist()[:-1] + ["a"])
    np.testing.assert_array_equal(model.predict_proba(X), before)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def drawn(draw, panels):
    """The axes on which a figure function has drawn."""
    axes = Figure().subplots(1, panels)
    draw(*axes)
    return axes


def area(x, y):
    return float(np.sum((y[1:] + y[:-1]) / 2 * np.diff(x)))


@pytest.mark.claims("decision_theory-10")
def test_curves_drawn_are_densities_their_overlap_the_bayes_error_and_the_posteriors():
    from figures.decision_theory import LIGHTNESS, PRIOR, VARIANCE, lightness

    left, middle, right = drawn(lightness, 3)
    for line in left.lines[:2]:
        assert area(*line.get_data()) == pytest.approx(1, abs=1e-3)
    weighted = [line.get_data() for line in middle.lines[:2]]
    assert [area(*curve) for curve in weighted] == pytest.approx(PRIOR, abs=1e-3)
    (shade,) = middle.collections
    x, y = shade.get_paths()[0].vertices.T
    shaded = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    mu = LIGHTNESS[:, None]
    exact = normal_bayes_error(mu, np.array([[VARIANCE]]), PRIOR)
    assert shaded == pytest.approx(exact, abs=1e-4)
    (x, q_1), (_, q_2) = (line.get_data() for line in right.lines[:2])
    np.testing.assert_allclose(q_1 + q_2, 1, rtol=1e-14, atol=1e-14)
    (x_star,) = {line.get_xdata()[0] for line in middle.lines[2:]}
    assert right.lines[2].get_xdata()[0] == x_star
    assert np.interp(x_star, x, q_1) == pytest.approx(1 / 2, abs=1e-3)
    p_1, p_2 = (np.interp(x_star, *line.get_data()) for line in left.lines[:2])
    assert (
        p_1 / p_2 == pytest.approx(PRIOR[1] / PRIOR[0], abs=1e-2) == pytest.approx(1 / 2, abs=1e-2)
    )
    even = left.lines[2].get_xdata()[0]
    assert np.interp(even, x, q_1) == pytest.approx(2 / 3, abs=1e-3)


@pytest.fixture
def fish_axes():
    from figures.decision_theory import fish, fish_sample

    return *drawn(fish, 3), fish_sample()


@pytest.mark.claims("decision_theory-16")
def test_bars_and_cuts_drawn_of_the_fish(fish_axes):
    left, middle, _, sample = fish_axes
    overlaps = []
    for ax, x in ((left, sample.length), (middle, sample.lightness)):
        bars = [patch for patch in ax.patches if hasattr(patch, "get_height")]
        (outline,) = [patch for patch in ax.patches if not hasattr(patch, "get_height")]
        heights = np.array([bar.get_height() for bar in bars])
        edges = np.array([bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()])
        assert heights.sum() == np.sum(sample.y == 0) == 80
        np.testing.assert_array_equal(heights, np.histogram(x[sample.y == 0], edges)[0])
        others = np.histogram(x[sample.y == 1], edges)[0]
        assert others.sum() == 80
        assert set(others) <= set(outline.get_xy()[:, 1])
        overlaps.append(np.minimum(heights, others).sum() / 80)
        ((at, _), (same, _)) = ax.collections[0].get_segments()[0]
        errors = min(np.sum((x > at) != sample.y), np.sum((x <= at) != sample.y))
        assert at == same and errors == brute_cut(x, sample.y)
        assert ax.get_title() == f"{errors} of 160 wrong"
    assert overlaps[0] > 1.5 * overlaps[1]


@pytest.mark.claims("decision_theory-16")
def test_line_drawn_through_the_fish_parts_the_plane(fish_axes):
    from figures.decision_theory import fish_line

    _, middle, right, sample = fish_axes
    w, b = fish_line(sample)
    (line,) = [line for line in right.lines if hasattr(line, "get_xy1")]
    for point in (line.get_xy1(), line.get_xy2()):
        assert abs(w @ np.array(point) + b) < 1e-9
    X = np.column_stack([sample.lightness, sample.width])
    mu = np.array([X[sample.y == k].mean(axis=0) for k in (0, 1)])
    pooled = sum(np.cov(X[sample.y == k].T, ddof=0) for k in (0, 1)) / 2
    np.testing.assert_allclose(w, np.linalg.inv(pooled) @ (mu[1] - mu[0]), rtol=1e-9)
    wrong = np.sum((X @ w + b > 0) != sample.y)
    assert right.get_title() == f"{wrong} of 160 wrong"
    assert wrong < int(middle.get_title().split()[0])
    fills = [c for c in right.collections if c.get_facecolor().size]
    corners = np.array([[0.6, 7.1], [9.9, 18.7]])  # the salmon's and the sea bass's
    inside = np.array([[fill.get_paths()[0].contains_point(p) for p in corners] for fill in fills])
    np.testing.assert_array_equal(inside, np.eye(2, dtype=bool))
    drawn_points = np.vstack(
        [line.get_xydata() for line in right.lines if line is not line_of(right)]
    )
    np.testing.assert_array_equal(drawn_points, np.vstack([X[sample.y == 0], X[sample.y == 1]]))


def line_of(ax):
    return next(line for line in ax.lines if hasattr(line, "get_xy1"))


@pytest.mark.claims("decision_theory-18")
def test_bars_drawn_of_one_pixel_are_the_eight_probabilities_of_the_example():
    from figures.decision_theory import one_pixel

    left, right = drawn(one_pixel, 2)
    bars = sorted(left.patches, key=lambda bar: bar.get_x())
    heights = np.array([bar.get_height() for bar in bars]).reshape(4, 2)
    assert heights.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(heights[:, 0]) < 0).all() and (np.diff(heights[:, 1]) > 0).all()
    for i, (of_0, of_1) in enumerate(heights, start=1):
        for column, height in ((1, of_0), (2, of_1)):
            (label,) = [t for t in left.texts if t.get_text() == f"$p_{{{i}{column}}}$"]
            x, y = label.xy
            assert y == pytest.approx(height) and abs(x - i) < 0.5 and (x > i) == (column == 2)
    assert len(left.texts) == 8
    mean = right.lines[1].get_ydata()
    np.testing.assert_allclose(mean, heights[:, 1] / heights.sum(axis=1))
    np.testing.assert_array_equal(mean > 0.5, heights[:, 1] > heights[:, 0])


def test_errors_in_the_titles_of_the_plane_are_the_volume_shaded():
    from figures.decision_theory import PLANES, plane

    axes = drawn(plane, 2)
    for ax in axes:
        left, right, bottom, top = ax.images[0].get_extent()
        pixels = np.asarray(ax.images[0].get_array())
        volume = pixels.mean() * (right - left) * (top - bottom)
        title = float(ax.get_title().split()[-1])
        assert volume == pytest.approx(title, abs=4e-3)
    same = normal_bayes_error(PLANES[0][0], PLANES[0][1][0], HALF)
    assert float(axes[0].get_title().split()[-1]) == pytest.approx(same, abs=5e-4)
    fish = make_fish(2, rng=np.random.default_rng(0)).truth
    np.testing.assert_array_equal(PLANES[0][0], fish.centers[:, 1:])
    np.testing.assert_array_equal(PLANES[0][1][0], fish.covariances[0][1:, 1:])


def test_risks_drawn_and_the_trade_off_of_rejection():
    from figures.decision_theory import reject

    left, right = drawn(reject, 2)
    q_1 = left.lines[0].get_xdata()
    np.testing.assert_allclose(left.lines[0].get_ydata(), 5 * q_1)
    np.testing.assert_allclose(left.lines[1].get_ydata(), 1 - q_1)
    least = np.minimum(np.minimum(5 * q_1, 1 - q_1), 0.5)
    np.testing.assert_allclose(left.lines[3].get_ydata(), least)
    for line, Delta in zip(right.lines, (1.0, 2.0, 2.6), strict=True):
        rejected, errors = line.get_data()
        assert rejected[0] == 0 and errors[0] == pytest.approx(Phi(-Delta / 2), abs=1e-6)
        assert (np.diff(rejected) >= 0).all() and (np.diff(errors) <= 1e-9).all()
        c = 0.25  # rejected where |log-odds| < ln 3, of two normal laws
        i = np.argmin(np.abs(np.linspace(0.5, 0.005, 100) - c))
        a, half = log((1 - c) / c), Delta**2 / 2
        inside = Phi((a - half) / Delta) - Phi((-a - half) / Delta)
        assert rejected[i] == pytest.approx(inside, abs=0.01)


def test_predictions_drawn_are_those_of_the_lognormal_distribution():
    from figures.decision_theory import SPREAD, best_predictions

    _, right = drawn(best_predictions, 2)
    mode, median, mean = (line.get_ydata() for line in right.lines)
    m = 0.2 + 1.2 * right.lines[0].get_xdata()
    np.testing.assert_allclose(
        mode, np.exp(m - SPREAD**2), rtol=0.011, atol=0.011
    )  # half a step of the grid
    np.testing.assert_allclose(median, np.exp(m), rtol=0.021, atol=0.021)
    np.testing.assert_allclose(mean, np.exp(m + SPREAD**2 / 2), rtol=1e-3)


def test_thick_parts_of_the_median_figure_are_the_minima_and_slopes_cross_there():
    from figures.decision_theory import SAMPLES, median

    left, right = drawn(median, 2)
    for i, y in enumerate(SAMPLES):
        c, g = left.lines[2 * i].get_data()
        best, least = left.lines[2 * i + 1].get_data()
        np.testing.assert_allclose(g, mean_distance(y, c), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(least, g.min(), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(best, c[g <= g.min() + 1e-9])
        at, slopes = right.lines[i].get_data()
        steps = np.concatenate([slopes[:-1][np.diff(at) > 0], slopes[-1:]])
        np.testing.assert_allclose(area(at, slopes), g[-1] - g[0], rtol=1e-9, atol=1e-9)
        assert len(steps) == len(y) + 2
