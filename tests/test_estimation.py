"""The estimation chapter: closed forms against searches, posteriors against integrals."""

from fractions import Fraction
from itertools import permutations, product
from math import comb, exp, gamma, inf, log, pi, sqrt

import numpy as np
import pytest

from mlnotes.datasets import load_iris, load_wine
from mlnotes.estimation import (
    Beta,
    Dirichlet,
    Gamma,
    NormalInverseGamma,
    NormalMean,
    bernoulli_mle,
    bernoulli_score,
    categorical_log_pmf,
    categorical_mle,
    centre,
    empirical_covariance,
    empirical_distribution,
    empirical_mean,
    fisher_information,
    kl_divergence,
    kronecker,
    log_likelihood,
    log_likelihood_ratio,
    log_marginal_likelihood,
    maximum_likelihood,
    mean_squared_error,
    multivariate_normal_mle,
    normal_mle,
    normal_score,
    poisson_mle,
    posterior_density,
    profile_log_likelihood,
    sequential,
    student_log_density,
    t_statistic,
)
from mlnotes.probability import (
    bernoulli_log_pmf,
    binomial_log_pmf,
    covariance,
    expectation,
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
    poisson_log_pmf,
)

BITS = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])  # 3 of 11
COUNTS = np.array([2, 0, 3, 1, 1, 7])
REALS = np.array([1.2, -0.4, 2.7, 0.1, 3.3, 1.9, -1.0])


def golden_section(f, low, high, steps=80):
    """Where f, which rises and then falls, is largest."""
    ratio = (sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if f(left) > f(right) else (left, high)
    return (low + high) / 2


def known_variance(x, mu):
    return normal_log_density(x, mu, 2.0)


def about_half(x, sigma2):
    return normal_log_density(x, 0.5, sigma2)


# --- Empirical moments -----------------------------------------------------------------

ATOMS = np.array([[0.0, 1.0], [2.0, -1.0], [5.0, 3.0]])
WEIGHTS = np.array([1 / 2, 1 / 3, 1 / 6])


def expected_over_all_samples(n, estimate):
    """E[estimate(X)] over all 3^n samples X of the distribution above."""
    draws = [list(draw) for draw in product(range(3), repeat=n)]
    return sum(WEIGHTS[draw].prod() * estimate(ATOMS[draw]) for draw in draws)


@pytest.mark.claims("estimation-01")
def test_centre_has_three_forms_and_the_one_of_the_notes(rng):
    X = rng.normal(size=(30, 4)) * [1, 5, 0.1, 3] + [7, 0, -2, 100]
    n, mu = len(X), empirical_mean(X)
    np.testing.assert_allclose(mu, X.T @ np.ones(n) / n, rtol=1e-13)
    ones = np.ones((n, 1))
    columns = X.T - kronecker(mu[:, None], ones.T)  # IRHD: a sample per column
    forms = X - kronecker(ones, mu[None]), (np.eye(n) - ones @ ones.T / n) @ X, columns.T
    for form in forms:
        np.testing.assert_allclose(centre(X), form, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(centre(X).sum(axis=0), 0, atol=1e-12)
    S = empirical_covariance(X)
    np.testing.assert_allclose(S, columns @ columns.T / (n - 1), rtol=1e-12, atol=1e-12)


@pytest.mark.claims("estimation-01")
def test_empirical_covariance_is_numpys_whatever_the_offset(rng):
    for n, d in ((2, 1), (3, 5), (40, 3)):
        X = rng.normal(size=(n, d)) + 1e6
        S = empirical_covariance(X)
        np.testing.assert_allclose(S, np.atleast_2d(np.cov(X.T)), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(S, S.T)
        assert np.linalg.matrix_rank(S) == min(n - 1, d)
    np.testing.assert_array_equal(empirical_covariance(np.full((3, 2), 0.1)), 0)
    steps = np.array([[0, 0], [4, 12], [16, 4]])
    far = 2.0**54 + steps  # there only multiples of 4 are numbers, and the means are none
    np.testing.assert_allclose(centre(far), steps - steps.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(empirical_covariance(far), np.cov(steps.T), rtol=1e-12)
    assert normal_mle(far[:, 0])[1] == pytest.approx(np.var(steps[:, 0]), rel=1e-12)


@pytest.mark.claims("estimation-01", "estimation-02")
@pytest.mark.parametrize("n", [2, 5])
def test_empirical_covariance_is_unbiased_with_n_minus_1_and_not_with_n(n):
    Sigma = covariance(WEIGHTS, ATOMS)
    mean = expected_over_all_samples(n, empirical_mean)
    np.testing.assert_allclose(mean, WEIGHTS @ ATOMS, rtol=1e-12)
    unbiased = expected_over_all_samples(n, empirical_covariance)
    np.testing.assert_allclose(unbiased, Sigma, rtol=1e-12)
    biased = expected_over_all_samples(n, lambda X: empirical_covariance(X, ddof=0))
    np.testing.assert_allclose(biased - Sigma, -Sigma / n, rtol=1e-12)


@pytest.mark.claims("estimation-02")
def test_empirical_covariance_has_the_same_directions_with_both_divisors():
    X = load_wine().X
    n = len(X)
    by_n, unbiased = empirical_covariance(X, ddof=0), empirical_covariance(X)
    np.testing.assert_allclose(by_n, covariance(np.full(n, 1 / n), X), rtol=1e-9, atol=1e-12)
    (small, V), (large, W) = np.linalg.eigh(by_n), np.linalg.eigh(unbiased)
    np.testing.assert_allclose(small / large, (n - 1) / n, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(V * W, axis=0)), 1, rtol=1e-9)
    _, singular, directions = np.linalg.svd(centre(X), full_matrices=False)
    np.testing.assert_allclose(singular[::-1] ** 2 / n, small, rtol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(directions[::-1] * V.T, axis=1)), 1, rtol=1e-8)


@pytest.mark.claims("estimation-03")
def test_kronecker_is_made_of_blocks_and_obeys_two_rules(rng):
    A, B, C, D = (rng.normal(size=shape) for shape in ((2, 3), (4, 5), (3, 2), (5, 3)))
    AB = kronecker(A, B)
    np.testing.assert_array_equal(AB, np.block([[a * B for a in row] for row in A]))
    np.testing.assert_array_equal(AB, np.kron(A, B))
    np.testing.assert_allclose(AB @ kronecker(C, D), kronecker(A @ C, B @ D), atol=1e-12)
    M = rng.normal(size=(5, 3))
    vec = (B @ M @ A.T).ravel(order="F")  # the columns, one below the other
    np.testing.assert_allclose(vec, AB @ M.ravel(order="F"), rtol=1e-12, atol=1e-12)


# --- More families ---------------------------------------------------------------------


def test_categorical_log_pmf_is_the_logarithm_of_p_and_zero_has_no_other_value():
    p = np.array([0.2, 0.0, 0.8])
    np.testing.assert_allclose(np.exp(categorical_log_pmf(np.arange(3), p)), p)
    others = np.array([-1, 3, 0.5, np.nan])
    np.testing.assert_array_equal(categorical_log_pmf(others, p), -np.inf)
    with pytest.raises(ValueError, match="p must be >= 0 with the sum 1; .* the sum 1.5"):
        categorical_log_pmf(np.array([0]), np.array([1.0, 0.5]))


def test_student_log_density_keeps_its_digits_and_tends_to_the_normal():
    for m, tol in ((1, 1e-15), (20, 1e-13), (999, 3e-12), (1000, 1e-14), (5000, 1e-14)):
        ratio = float(Fraction(m * comb(2 * m, m), 4**m)) * sqrt(pi)  # Gamma(m + 1/2) / Gamma(m)
        exact = log(ratio) - log(2 * m * pi) / 2  # from m = 1000 on by a series
        assert student_log_density(0.0, 2 * m, 0.0, 1.0) == pytest.approx(exact, abs=tol)
    for nu in (1e8, 1e12, 1e16):
        gap = student_log_density(0.0, nu, 0.0, 1.0) - normal_log_density(0.0, 0.0, 1.0)
        assert gap == pytest.approx(-1 / (4 * nu), abs=3e-15)


# --- Likelihood ------------------------------------------------------------------------


@pytest.mark.claims("estimation-04")
def test_log_likelihood_is_that_of_the_product_and_has_the_same_maximiser():
    by_hand = sum(-log(3.0) / 2 - log(2 * pi) / 2 - (x - 1) ** 2 / 6 for x in REALS)
    assert log_likelihood(normal_log_density, REALS, 1.0, 3.0) == pytest.approx(by_hand, rel=1e-12)
    p = np.linspace(0, 1, 1001)
    L = np.prod([p if bit else 1 - p for bit in BITS], axis=0)
    l_ = log_likelihood(bernoulli_log_pmf, BITS[:, None], p)
    np.testing.assert_allclose(np.exp(l_), L, rtol=1e-12)
    assert np.argmax(L) == np.argmax(l_) == 273
    assert maximum_likelihood(bernoulli_log_pmf, BITS, p) == p[273]


# --- Closed forms ----------------------------------------------------------------------


def score_of_mean(x, mu):
    return normal_score(x, mu, 2.0)[:, 0]


def score_of_variance(x, sigma2):
    return normal_score(x, 0.5, sigma2)[:, 1]


@pytest.mark.claims("estimation-05")
@pytest.mark.parametrize(
    ("log_f", "score", "x", "closed", "low", "high"),
    [
        (bernoulli_log_pmf, bernoulli_score, BITS, bernoulli_mle(BITS), 0.01, 0.99),
        (known_variance, score_of_mean, REALS, normal_mle(REALS)[0], -5.0, 5.0),
        (about_half, score_of_variance, REALS, normal_mle(REALS, 0.5)[1], 0.1, 20.0),
        (poisson_log_pmf, lambda x, rate: x / rate - 1, COUNTS, poisson_mle(COUNTS), 0.1, 9.0),
    ],
    ids=["Bernoulli", "mean", "variance", "Poisson"],
)
def test_closed_forms_are_where_a_search_ends_and_the_score_is_0(
    log_f, score, x, closed, low, high
):
    searched = golden_section(lambda theta: log_likelihood(log_f, x, theta), low, high)
    assert closed == pytest.approx(searched, rel=1e-6)
    candidates = np.linspace(low, high, 2001)
    step = candidates[1] - candidates[0]
    assert abs(maximum_likelihood(log_f, x, candidates) - closed) <= step / 2 + 1e-12
    assert score(x, closed).sum() == pytest.approx(0, abs=1e-12)
    for theta in (0.6, 0.9):
        slopes = (log_f(x, theta + 1e-5) - log_f(x, theta - 1e-5)) / 2e-5
        np.testing.assert_allclose(score(x, theta), slopes, rtol=1e-7, atol=1e-7)


@pytest.mark.claims("estimation-05")
def test_normal_mle_is_the_best_of_both_parameters_at_once():
    mu, sigma2 = normal_mle(REALS)
    assert (mu, sigma2) == pytest.approx((np.mean(REALS), np.var(REALS)), rel=1e-12)
    np.testing.assert_allclose(normal_score(REALS, mu, sigma2).sum(axis=0), 0, atol=1e-12)


@pytest.mark.claims("estimation-05")
def test_categorical_mle_beats_every_other_point_of_the_simplex(rng):
    x = np.array([0, 3, 3, 1, 0, 3, 0, 0])
    p = categorical_mle(x, K=5)
    np.testing.assert_array_equal(p, [4 / 8, 1 / 8, 0, 3 / 8, 0])
    top = log_likelihood(categorical_log_pmf, x, p)
    for other in rng.dirichlet(np.ones(5), size=300):
        for step in (1.0, 1e-3):
            assert log_likelihood(categorical_log_pmf, x, p + step * (other - p)) < top


@pytest.mark.claims("estimation-05")
def test_multivariate_normal_mle_has_nothing_better_near_or_far(rng):
    T = load_iris()
    X = T.X[T.y == "setosa"]
    mu, Sigma = multivariate_normal_mle(X)
    np.testing.assert_allclose(mu, X.mean(axis=0))
    np.testing.assert_allclose(Sigma, np.cov(X.T, ddof=0), rtol=1e-12)

    def height(mu, Sigma):
        return log_likelihood(multivariate_normal_log_density, X, mu, Sigma)

    top = height(mu, Sigma)
    assert top == pytest.approx(-25 * (4 * log(2 * pi) + np.linalg.slogdet(Sigma)[1] + 4))
    for _ in range(100):
        dmu, A = rng.normal(size=4), rng.normal(size=(4, 4))
        near = [height(mu + h * dmu, Sigma + h * (A + A.T)) for h in (-1e-5, 1e-5)]
        assert max(near) < top and abs(near[1] - near[0]) < 0.05 * (top - min(near))
        assert height(mu + 0.1 * dmu, A @ A.T) < top


@pytest.mark.parametrize("X", [[[1.0, 2.0], [3.0, 1.0]], [[0.0, 5.0], [1.0, 5.0], [4.0, 5.0]]])
def test_multivariate_normal_mle_in_a_hyperplane_is_singular_and_no_maximum(X):
    mu, Sigma = multivariate_normal_mle(np.array(X))
    assert np.linalg.matrix_rank(Sigma) == 1
    heights = [
        log_likelihood(multivariate_normal_log_density, X, mu, Sigma + eps * np.eye(2))
        for eps in (1e-2, 1e-4, 1e-6, 1e-8)
    ]
    np.testing.assert_allclose(np.diff(heights), len(X) * log(100) / 2, atol=0.05)


def test_closed_forms_compute_in_64_bits():
    x = (10 + np.arange(1000) / 999).astype(np.float32)
    exact = [Fraction(float(value)) for value in x]
    mean = sum(exact) / 1000
    variance = float(sum((value - mean) ** 2 for value in exact) / 1000)
    assert normal_mle(x) == pytest.approx((float(mean), variance), rel=1e-13)
    assert NormalMean(0.0, 1.0, 1.0).posterior(x).m == pytest.approx(1000 * mean / 1001, rel=1e-14)
    assert normal_mle(np.array([0, 1], dtype=np.uint8), mu=20) == (20, (20**2 + 19**2) / 2)
    assert poisson_mle(np.full(300, 255, dtype=np.uint8)) == 255
    halves = np.tile([[0.0], [255.0]], (200, 1)).astype(np.float16)  # their squares are too large
    assert multivariate_normal_mle(halves).covariance.item() == 127.5**2


@pytest.mark.parametrize(
    "of", [bernoulli_mle, lambda x: bernoulli_score(x, 0.5), Beta(1, 1).posterior]
)
def test_samples_of_a_coin_are_0_and_1(of):
    with pytest.raises(ValueError, match=r"must hold labels 0 and 1; got -1.0"):
        of(np.array([-1, 1]))


# --- Nearest distribution --------------------------------------------------------------


@pytest.mark.claims("estimation-06")
def test_kl_divergence_from_the_samples_is_minus_the_likelihood_up_to_a_constant():
    values, share = empirical_distribution(COUNTS)
    assert dict(zip(values.tolist(), 6 * share, strict=True)) == {0: 1, 1: 2, 2: 1, 3: 1, 7: 1}
    rate = np.linspace(0.2, 8, 500)
    distance = kl_divergence(share, np.exp(poisson_log_pmf(values, rate[:, None])))
    log_L = log_likelihood(poisson_log_pmf, COUNTS[:, None], rate)
    constant = sum(f * log(f) for f in share)
    np.testing.assert_allclose(distance + log_L / 6, constant, rtol=1e-12, atol=1e-12)
    best = golden_section(
        lambda r: -kl_divergence(share, np.exp(poisson_log_pmf(values, r))), 0.1, 9
    )
    assert best == pytest.approx(poisson_mle(COUNTS), rel=1e-6)


@pytest.mark.claims("estimation-06")
def test_kl_divergence_is_nonnegative_and_zero_only_between_equals(rng):
    F, G = rng.dirichlet(np.ones(5), size=(2, 200))
    assert (kl_divergence(F, G) > 0).all()
    np.testing.assert_allclose(kl_divergence(F, F), 0, atol=1e-15)
    loops = [
        sum(f * log(f / g) for f, g in zip(*both, strict=True)) for both in zip(F, G, strict=True)
    ]
    np.testing.assert_allclose(kl_divergence(F, G), loops, rtol=1e-9)
    edge, inside = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.25, 0.25])
    assert kl_divergence(edge, inside) == pytest.approx(log(2) / 2)
    assert kl_divergence(inside, edge) == np.inf
    x = rng.integers(4, size=50)  # the family of all categorical distributions holds the shares
    values, share = empirical_distribution(x)
    assert kl_divergence(share, categorical_mle(x, 4)[values]) == pytest.approx(0, abs=1e-15)


# --- Functions of theta ----------------------------------------------------------------


@pytest.mark.claims("estimation-07")
@pytest.mark.parametrize(
    ("log_f", "x", "g", "low", "high"),
    [
        (lambda x, s: about_half(x, s**2), REALS, sqrt(normal_mle(REALS, 0.5)[1]), 0.1, 9),
        (
            lambda k, odds: bernoulli_log_pmf(k, odds / (1 + odds)),
            BITS, bernoulli_mle(BITS) / (1 - bernoulli_mle(BITS)), 0.01, 9,
        ),
        (
            lambda k, q: poisson_log_pmf(k, -log(q)),
            COUNTS, exp(-poisson_mle(COUNTS)), 1e-3, 0.99,
        ),
    ],
    ids=["deviation", "odds", "probability of 0"],
)  # fmt: skip
def test_estimate_of_a_function_is_the_function_of_the_estimate(log_f, x, g, low, high):
    direct = golden_section(lambda value: log_likelihood(log_f, x, value), low, high)
    assert g == pytest.approx(direct, rel=1e-6)


@pytest.mark.claims("estimation-07")
def test_profile_log_likelihood_of_a_square_peaks_at_the_square_of_the_estimate():
    x = REALS - 3.0  # of negative mean: theta^2 alone does not tell the sign
    half = np.arange(0, 6, 0.01)
    theta = np.concatenate([-half[:0:-1], half])
    log_L = log_likelihood(known_variance, x[:, None], theta)
    g, best = profile_log_likelihood(log_L, theta**2)
    assert len(g) == len(half) and x.mean() < 0
    assert sqrt(g[np.argmax(best)]) == pytest.approx(-x.mean(), abs=0.005 + 1e-9)
    literal = [max(log_L[theta**2 == value]) for value in g[::50]]
    np.testing.assert_array_equal(best[::50], literal)
    positive = log_L[theta >= 0]  # to take the root for theta itself finds the wrong maximum
    assert np.argmax(positive) == 0 != np.argmax(best)


# --- Accuracy of estimates -------------------------------------------------------------


def slope(n, error):
    """The slope of ln error against ln n, by least squares."""
    return np.polyfit(np.log(n), np.log(error), 1)[0]


def share_of_ones(n, p, G=lambda p: p):
    """Exact MSE of G(k/n) as an estimate of G(p)."""
    k = np.arange(n + 1)
    return mean_squared_error(binomial_log_pmf(k, n, p), G(k / n), G(p))


@pytest.mark.claims("estimation-08")
def test_n_mse_of_the_share_of_ones_is_one_over_the_information():
    sizes = [1, 3, 10, 100, 1000]
    for p in (0.3, 0.9):
        score = bernoulli_score(np.array([0, 1]), p)
        information = fisher_information(np.array([1 - p, p]), score)
        assert information == pytest.approx(1 / (p * (1 - p)), rel=1e-12)
        errors = [share_of_ones(n, p) for n in sizes]
        np.testing.assert_allclose(np.multiply(sizes, errors), 1 / information, rtol=1e-9)
    limit = (2 * 0.3) ** 2 * 0.3 * 0.7  # G'(p)^2 / I(p) for G(p) = p^2
    errors = [share_of_ones(n, 0.3, lambda p: p**2) for n in sizes[2:]]
    gaps = np.abs(np.multiply(sizes[2:], errors) / limit - 1)
    assert (np.diff(gaps) < 0).all() and gaps[-1] < 0.01


@pytest.mark.claims("estimation-08")
def test_n_mse_of_the_normal_variance_exactly_and_by_simulation(rng):
    sigma2, sizes, exact = 2.5, np.array([5, 20, 100, 1000]), []
    for n in sizes:
        q, w = gauss_legendre(0, n + 12 * sqrt(2 * n) + 40, pieces=100)  # chi^2 of n - 1
        log_p = np.log(w) + Gamma((n - 1) / 2, 1 / 2).log_density(q)
        exact.append(mean_squared_error(log_p, sigma2 * q / n, sigma2))
    np.testing.assert_allclose(exact, (2 * sizes - 1) * sigma2**2 / sizes**2, rtol=1e-6)
    x, w = gauss_legendre(-15, 15, pieces=60)
    density = w * np.exp(normal_log_density(x, 0.0, sigma2))
    information = fisher_information(density, normal_score(x, 0.0, sigma2))
    closed = np.diag([1 / sigma2, 1 / (2 * sigma2**2)])
    np.testing.assert_allclose(information, closed, rtol=1e-9, atol=1e-9)
    assert sizes[-1] * exact[-1] == pytest.approx(1 / information[1, 1], rel=1e-3)
    assert slope(sizes, exact) == pytest.approx(-1, abs=0.03)
    draws = [normal_mle(x)[1] for x in rng.normal(4.0, sqrt(sigma2), size=(3000, 20))]
    squares = (np.array(draws) - sigma2) ** 2
    assert abs(squares.mean() - exact[1]) <= 5 * squares.std() / sqrt(3000)


@pytest.mark.claims("estimation-09")
def test_odds_are_estimated_consistently_with_infinite_mse():
    p, g, eps = 0.3, 0.3 / 0.7, 0.05
    sizes, tails = (10, 30, 100, 300, 1000), []
    for n in sizes:
        k = np.arange(n + 1)
        odds = np.append(k[:n] / (n - k[:n]), inf)
        log_p = binomial_log_pmf(k, n, p)
        assert log_p[n] == pytest.approx(n * log(p))  # infinite odds are possible, for every n
        assert mean_squared_error(log_p, odds, g) == np.inf
        assert mean_squared_error(log_p[:n], odds[:n], g) < np.inf  # without them, it is finite
        tails.append(np.exp(log_p[np.abs(odds - g) > 0.1]).sum())
        far = np.exp(log_p[np.abs(k / n - p) > eps]).sum()  # Markov: an MSE that vanishes is enough
        assert far <= mean_squared_error(log_p, k / n, p) / eps**2
    assert (np.diff(tails[1:]) < 0).all() and tails[-1] < 2e-3
    assert bernoulli_mle(np.ones(3)) == 1  # and these odds are what maximum likelihood says


def test_mean_squared_error_leaves_impossible_data_out():
    log_p = np.array([-np.inf, np.log(0.5), np.log(0.5)])
    assert mean_squared_error(log_p, np.array([np.inf, 1.0, 3.0]), 2.0) == pytest.approx(1)
    assert mean_squared_error(log_p, np.array([0.0, 2.0, 2.0]), 2.0) == 0
    assert np.isnan(mean_squared_error(np.array([0.0, np.nan]), np.array([2.0, 9.0]), 2.0))


# --- Testing a hypothesis --------------------------------------------------------------


@pytest.mark.claims("estimation-10")
@pytest.mark.parametrize(("n", "mu0"), [(2, 0.0), (7, -0.5), (40, -20.0)])
def test_log_likelihood_ratio_of_a_mean_is_a_function_of_t(n, mu0, rng):
    for _ in range(10):
        x = rng.normal(0.5, 3.0, size=n)
        t = t_statistic(x, mu0)
        assert t == pytest.approx(sqrt(n) * (x.mean() - mu0) / x.std(ddof=1), rel=1e-12)
        best = golden_section(
            lambda s2, x=x: log_likelihood(normal_log_density, x, mu0, s2), 1e-3, 2000
        )
        theta0, theta1 = normal_mle(x, mu0), normal_mle(x)
        assert theta0 == (mu0, pytest.approx(best, rel=1e-5))
        ratio = log_likelihood_ratio(normal_log_density, x, theta0, theta1)
        assert ratio == pytest.approx(-n / 2 * log(1 + t**2 / (n - 1)), rel=1e-12, abs=1e-12)
        spoilt = log_likelihood_ratio(normal_log_density, x, (mu0, theta1[1]), theta1)
        assert spoilt < ratio  # the variance about the mean is not the estimate under mu0


def test_t_statistic_at_the_mean_is_zero_and_equal_samples_have_none():
    assert t_statistic(REALS, REALS.mean()) == 0 and t_statistic(REALS) == t_statistic(REALS, 0.0)
    with pytest.raises(ZeroDivisionError):
        t_statistic(np.full(3, 0.1), 0.1)  # numbers whose mean is rounded


# --- Bayesian estimation ---------------------------------------------------------------

P_NODES, P_WEIGHTS = gauss_legendre(0, 1, pieces=64)


def coin_posterior(x, log_prior):
    log_L = log_likelihood(bernoulli_log_pmf, x[:, None], P_NODES)
    return posterior_density(log_L, log_prior, P_WEIGHTS)


@pytest.mark.claims("estimation-11")
@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 5), (50, 50)])
def test_posterior_density_of_a_coin_is_prior_times_likelihood_over_its_integral(a, b):
    k, n = BITS.sum(), len(BITS)
    f = coin_posterior(BITS, Beta(a, b).log_density(P_NODES))
    book = P_NODES ** (a + k - 1) * (1 - P_NODES) ** (b + n - k - 1)
    book *= gamma(a + b + n) / (gamma(a + k) * gamma(b + n - k))
    np.testing.assert_allclose(f, book, rtol=1e-6, atol=1e-9)
    assert P_WEIGHTS @ f == pytest.approx(1, abs=1e-12)
    after = Beta(a, b).posterior(BITS)
    assert after == (a + k, b + n - k)
    assert after.mode() == pytest.approx((a + k - 1) / (a + b + n - 2), rel=1e-12)
    assert after.mode() == pytest.approx(P_NODES[f.argmax()], abs=np.diff(P_NODES).max())
    best = maximum_likelihood(bernoulli_log_pmf, BITS, P_NODES)
    assert (P_NODES[f.argmax()] == best) == (after.mode() == bernoulli_mle(BITS)) == (a == b == 1)
    mean = P_WEIGHTS @ (f * P_NODES)
    assert after.mean() == (a + k) / (a + b + n) == pytest.approx(mean, abs=1e-8)
    log_p = np.log(P_WEIGHTS * f)  # the mean has the least expected squared error
    least = golden_section(lambda c: -mean_squared_error(log_p, P_NODES, c), 0.0, 1.0)
    assert after.mean() == pytest.approx(least, abs=1e-6)


@pytest.mark.claims("estimation-11")
def test_posterior_density_sample_by_sample_is_that_of_all_for_any_prior():
    log_prior = -2 * np.abs(P_NODES - 0.5)  # nothing conjugate about it
    at_once = coin_posterior(BITS, log_prior)
    then = coin_posterior(BITS[4:], np.log(coin_posterior(BITS[:4], log_prior)))
    np.testing.assert_allclose(then, at_once, rtol=1e-10)
    np.testing.assert_allclose(coin_posterior(BITS, log_prior + 7), at_once, rtol=1e-12)


@pytest.mark.claims("estimation-04", "estimation-11")
def test_5000_samples_do_not_underflow():
    x = np.tile([1, 0, 0, 0, 0], 1000)
    p, w = gauss_legendre(0.16, 0.24, pieces=2)
    log_L = log_likelihood(bernoulli_log_pmf, x[:, None], p)
    np.testing.assert_allclose(log_L, 1000 * np.log(p) + 4000 * np.log(1 - p), rtol=1e-12)
    assert np.exp(log_L).max() == 0
    book = np.exp(Beta(1001, 4001).log_density(p))
    np.testing.assert_allclose(posterior_density(log_L, 0 * p, w), book, rtol=1e-6)
    far_apart, one = np.array([-3000.0, 0.0]), np.ones(2)  # nor does the quotient overflow
    assert posterior_density(far_apart, 0 * one, one).tolist() == [0, 1]


# --- Conjugate priors ------------------------------------------------------------------

# prior without poles at the rim, its family, data, values of theta
PAIRS = {
    "Beta": (Beta(2.5, 1.8), bernoulli_log_pmf, BITS, [(p,) for p in (0.01, 0.2, 0.5, 0.999)]),
    "Dirichlet": (
        Dirichlet(np.array([1.5, 2.0, 3.3])), categorical_log_pmf, np.array([0, 2, 2, 1, 2, 0]),
        [(np.array(p),) for p in ((0.2, 0.3, 0.5), (0.9, 0.05, 0.05), (0.01, 0.01, 0.98))]),
    "Gamma": (
        Gamma(2.7, 0.6), poisson_log_pmf, COUNTS, [(r,) for r in (0.05, 1.0, 2.5, 20.0)]),
    "NormalMean": (
        NormalMean(-1.0, 3.0, 2.0), known_variance, REALS, [(m,) for m in (-9.0, 0.0, 1.1, 30.0)]),
    "NormalInverseGamma": (
        NormalInverseGamma(0.5, 1.7, 3.2, 2.0), normal_log_density, REALS,
        [(-3.0, 0.5), (0.0, 1.0), (1.0, 2.0), (1.0, 30.0), (8.0, 4.0)]),
}  # fmt: skip
pairs = pytest.mark.parametrize(("prior", "log_f", "x", "thetas"), PAIRS.values(), ids=PAIRS)


def over_theta(prior):
    """Columns of theta and the weights of integrals over them, for each kind of prior."""
    ranges = {"Beta": (0, 1), "Gamma": (0, 40), "NormalMean": (-30, 30), "Dirichlet": (0, 1)}
    if isinstance(prior, NormalInverseGamma):
        (mu, a), (t, b) = gauss_legendre(-60, 62, 24), gauss_legendre(-6, 9, 10)
        mu, sigma2 = (grid.ravel() for grid in np.meshgrid(mu, np.exp(t), indexing="ij"))
        return (mu, sigma2), np.outer(a, b * np.exp(t)).ravel()
    x, w = gauss_legendre(*ranges[type(prior).__name__], pieces=10)
    if isinstance(prior, Dirichlet):  # u and (1 - u) v cover the triangle
        u, v = (grid.ravel() for grid in np.meshgrid(x, x, indexing="ij"))
        p = np.column_stack([u, (1 - u) * v, (1 - u) * (1 - v)])
        return (p,), np.outer(w * (1 - x), w).ravel()
    return (x,), w


def likelihoods_of(log_f, x, theta):
    """L at many values of theta."""
    if log_f is categorical_log_pmf:
        return theta[0][:, x].prod(axis=1)
    return np.exp(log_likelihood(log_f, x[:, None], *theta))


def assert_same(belief, other):
    np.testing.assert_allclose(np.hstack(belief), np.hstack(other), rtol=1e-12)


@pytest.mark.claims("estimation-12")
@pairs
def test_posterior_is_prior_times_likelihood_over_its_integral(prior, log_f, x, thetas):
    evidence = [log_marginal_likelihood(prior, log_f, x, *theta) for theta in thetas]
    assert np.ptp(evidence) < 1e-10
    after = prior.posterior(x)
    assert type(after) is type(prior)
    log_joint = [log_likelihood(log_f, x, *t) + prior.log_density(*t) for t in thetas]
    closed = [after.log_density(*t) for t in thetas]
    np.testing.assert_allclose(np.subtract(log_joint, closed), evidence, rtol=1e-10, atol=1e-10)
    assert np.ptp(closed) > 1  # and it is no constant itself
    spoilt = np.subtract(log_joint, [prior.posterior(x[1:]).log_density(*t) for t in thetas])
    assert np.ptp(spoilt) > 0.1  # the posterior of other data does not pass
    theta, w = over_theta(prior)
    f = w * np.exp(prior.log_density(*theta))
    assert f.sum() == pytest.approx(1, abs=2e-5)
    few = log_marginal_likelihood(prior, log_f, x[:3], *thetas[1])
    assert f @ likelihoods_of(log_f, x[:3], theta) == pytest.approx(exp(few), rel=1e-4)


@pytest.mark.claims("estimation-12")
@pairs
def test_log_predictive_is_the_likelihood_averaged_over_the_posterior(prior, log_f, x, thetas):
    after = prior.posterior(x)
    theta, w = over_theta(after)
    f = w * np.exp(after.log_density(*theta))
    for new in x[:3, None]:
        averaged = f @ likelihoods_of(log_f, new, theta)
        assert np.exp(after.log_predictive(new)) == pytest.approx(averaged, rel=1e-4)
    before = list(sequential(prior, x))[:-1]
    predictions = [b.log_predictive(new) for b, new in zip(before, x, strict=True)]
    evidence = log_marginal_likelihood(prior, log_f, x, *thetas[0])
    assert sum(predictions) == pytest.approx(evidence, rel=1e-9)
    smooth = isinstance(prior, NormalMean | NormalInverseGamma)
    at, w = gauss_legendre(-300, 300, pieces=1500) if smooth else (np.arange(-2, 300), np.ones(302))
    assert w @ np.exp(after.log_predictive(at)) == pytest.approx(1, abs=1e-6)


@pytest.mark.claims("estimation-11", "estimation-12")
@pairs
def test_sequential_updating_is_batch_updating_in_any_order(prior, log_f, x, thetas):
    beliefs = list(sequential(prior, x))
    assert len(beliefs) == len(x) + 1 and beliefs[0] is prior
    for i in (0, 1, 3, len(x)):
        assert_same(beliefs[i], prior.posterior(x[:i]))
    for order in permutations(x[:3]):
        *_, last = sequential(prior, np.array(order))
        assert_same(last, beliefs[3])


@pairs
def test_mode_is_where_the_density_peaks_and_mean_is_the_expectation(prior, log_f, x, thetas):
    after = prior.posterior(x)
    theta, w = over_theta(after)
    f = np.exp(after.log_density(*theta))
    top = after.mode() if isinstance(prior, NormalInverseGamma) else (after.mode(),)
    assert np.exp(after.log_density(*top)) >= f.max() * (1 - 1e-12)
    theta = np.column_stack(theta)
    np.testing.assert_allclose(np.ravel(top), theta[np.argmax(f)], rtol=0.25, atol=0.25)
    np.testing.assert_allclose(np.ravel(after.mean()), expectation(w * f, theta), rtol=1e-4)


@pytest.mark.claims("estimation-13")
def test_likelihood_has_the_shape_of_a_beta_density_and_is_not_a_density():
    for k, n in ((3, 11), (0, 4), (40, 50)):
        x = np.repeat([1, 0], [k, n - k])
        L = np.exp(log_likelihood(bernoulli_log_pmf, x[:, None], P_NODES))
        ratio = L / np.exp(Beta(k + 1, n - k + 1).log_density(P_NODES))
        B = 1 / ((n + 1) * comb(n, k))  # B(k + 1, n - k + 1)
        np.testing.assert_allclose(ratio, B, rtol=1e-10)
        assert P_WEIGHTS @ L == pytest.approx(B, rel=1e-10) and B < 0.5  # far from 1


@pytest.mark.claims("estimation-13")
def test_form_of_the_likelihood_would_make_every_flat_prior_conjugate():
    """Uniform on [0, 3] for a Poisson rate: the printed words hold, and it is not conjugate."""
    rate, w = gauss_legendre(0, 3, pieces=30)
    log_L = log_likelihood(poisson_log_pmf, COUNTS[:, None], rate)
    f = posterior_density(log_L, np.full(len(rate), -log(3)), w)
    assert np.ptp(np.log(f) - log_L) < 1e-10  # the form of the data likelihood
    inside = (f > 0) & (rate > 0.5)
    assert np.ptp(np.log(f[inside])) > 1  # a uniform law it is not, on any interval
    assert not np.allclose(f, np.exp(Gamma(1 + COUNTS.sum(), 6).log_density(rate)), rtol=0.01)


def test_log_density_at_the_rim_and_beyond():
    rim = np.array([-0.1, 0.0, 1.0, 1.1])
    np.testing.assert_allclose(np.exp(Beta(1, 1).log_density(rim)), [0, 1, 1, 0])
    np.testing.assert_allclose(np.exp(Beta(2, 1).log_density(rim)), [0, 0, 2, 0])
    assert Beta(0.5, 1).log_density(0.0) == np.inf
    np.testing.assert_allclose(np.exp(Gamma(1, 2).log_density(rim[:2])), [0, 2])
    points = np.array([[0.5, 0.6], [1.5, -0.5], [0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(np.exp(Dirichlet(np.ones(2)).log_density(points)), [0, 0, 1, 1])
    single = np.random.default_rng(0).dirichlet(np.ones(5), size=200).astype(np.float32)
    assert (single.sum(axis=1) != 1).any()  # but for rounding they do
    np.testing.assert_allclose(Dirichlet(np.ones(5)).log_density(single), log(24))
    sigma2 = np.array([-1.0, 0.0])
    np.testing.assert_array_equal(NormalInverseGamma(0, 1, 1, 1).log_density(0.0, sigma2), -np.inf)


def test_mode_at_the_rim_and_mean_that_is_infinite():
    assert Beta(3, 2).mode() == 2 / 3 and Beta(0.5, 1.2).mode() == 0 and Beta(1.2, 0.5).mode() == 1
    assert Gamma(3, 2).mode() == 1.0 and Gamma(0.5, 2).mode() == 0
    assert Dirichlet(np.array([3.0, 0.5, 2])).mode().tolist() == [2 / 3, 0, 1 / 3]
    for flat_or_two_peaks in (Beta(1, 1), Beta(0.5, 0.5)):
        with pytest.raises(ZeroDivisionError):
            flat_or_two_peaks.mode()
    assert NormalInverseGamma(2.0, 1, 1, 1).mean() == (2.0, inf)


def test_log_predictive_of_bytes_and_of_numbers_that_are_not_counts():
    belief = Gamma(200.0, 1.0)
    byte = np.array([255], dtype=np.uint8)
    assert belief.log_predictive(byte) == belief.log_predictive(255)
    no_counts = np.array([0.5, -1.0, np.inf, np.nan])
    np.testing.assert_array_equal(belief.log_predictive(no_counts), -np.inf)


def test_normal_inverse_gamma_keeps_its_digits_far_from_zero():
    x = 1e8 + np.array([0.5, -0.25, 1.0, 0.75])
    exact = [Fraction(float(value)) for value in x]
    mean = (2 * Fraction(10**8) + sum(exact)) / 6
    squares = sum((value - mean) ** 2 for value in exact) + 2 * (10**8 - mean) ** 2
    after = NormalInverseGamma(1e8, 2, 1, 1).posterior(x)
    assert after.m == float(mean)
    assert after.beta == pytest.approx(float(1 + squares / 2), rel=1e-7)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("estimation-08")
def test_errors_drawn_fall_as_the_caption_says():
    """The last: the end of a uniform distribution, which no Fisher information describes."""
    from figures.estimation import errors_by_size

    sizes = np.array([100, 300, 1000])
    share, variance, end = np.transpose([errors_by_size(n) for n in sizes])
    u, w = gauss_legendre(0, 1, pieces=400)
    exact = [mean_squared_error(np.log(w * n) + (n - 1) * np.log(u), u, 1.0) for n in sizes]
    np.testing.assert_allclose(end, exact, rtol=1e-6)
    assert [round(slope(sizes, error), 1) for error in (share, variance, end)] == [-1, -1, -2]


def test_normal_with_estimates_leaves_7_of_47_petals_outside_two_deviations():
    from figures.estimation import virginica

    few, others = np.split(virginica(), [3])
    mu, sigma2 = normal_mle(few)
    assert len(others) == 47 and np.sum(np.abs(others - mu) > 2 * sqrt(sigma2)) == 7
