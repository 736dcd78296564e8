"""The estimation chapter: closed forms against searches, posteriors against integrals."""

from fractions import Fraction
from itertools import permutations, product
from math import comb, exp, gamma, log, pi, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

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
    exponential_log_density,
    exponential_mle,
    exponential_score,
    fisher_information,
    kl_divergence,
    kronecker,
    likelihood,
    log_evidence,
    log_likelihood,
    log_likelihood_ratio,
    maximum_likelihood,
    mean_squared_error,
    multivariate_normal_mle,
    normal_mle,
    normal_score,
    point_estimates,
    poisson_mle,
    poisson_score,
    posterior,
    profile_log_likelihood,
    sequential,
    student_log_density,
    t_statistic,
    uniform_log_density,
    uniform_mle,
)
from mlnotes.probability import (
    bernoulli_log_pmf,
    binomial_log_pmf,
    conditional_normal,
    covariance,
    expectation,
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
    poisson_log_pmf,
)

BITS = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])  # 3 of 11
COUNTS = np.array([2, 0, 3, 1, 1, 7])
WAITS = np.array([0.3, 2.1, 0.7, 0.05, 1.4])
REALS = np.array([1.2, -0.4, 2.7, 0.1, 3.3, 1.9, -1.0])


def golden_section(f, low, high, steps=80):
    """Where f, which rises and then falls, is largest."""
    ratio = (sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if f(left) > f(right) else (left, high)
    return (low + high) / 2


def newton(slope, theta, steps=60, h=1e-6):
    """Where the slope is 0, by Newton's method with a numerical second derivative."""
    for _ in range(steps):
        theta -= slope(theta) * 2 * h / (slope(theta + h) - slope(theta - h))
    return theta


def derivative(f, theta, h=1e-5):
    return (f(theta + h) - f(theta - h)) / (2 * h)


# ---------------------------------------------------------------------------------------
# Empirical moments
# ---------------------------------------------------------------------------------------

ATOMS = np.array([[Fraction(x) for x in row] for row in ((0, 1), (2, -1), (5, 3))])
WEIGHTS = np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])


def expected_over_all_samples(n, estimate):
    """E[estimate(X)] over all 3^n samples X of the distribution above, in fractions."""
    draws = [list(draw) for draw in product(range(3), repeat=n)]
    return sum(WEIGHTS[draw].prod() * estimate(ATOMS[draw]) for draw in draws)


@pytest.mark.claims("estimation-01")
def test_three_forms_of_centring_and_the_one_of_the_notes(rng):
    X = rng.normal(size=(30, 4)) * [1, 5, 0.1, 3] + [7, 0, -2, 100]
    n, mu = len(X), empirical_mean(X)
    np.testing.assert_allclose(mu, X.T @ np.ones(n) / n, rtol=1e-13)
    X_c = centre(X)
    ones = np.ones((n, 1))
    np.testing.assert_allclose(X_c, X - kronecker(ones, mu[None]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(X_c, (np.eye(n) - ones @ ones.T / n) @ X, rtol=1e-12, atol=1e-12)
    columns = X.T - kronecker(mu[:, None], ones.T)  # IRHD: a sample per column
    np.testing.assert_allclose(X_c, columns.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(X_c.sum(axis=0), 0, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        empirical_covariance(X), columns @ columns.T / (n - 1), rtol=1e-12, atol=1e-12
    )


@pytest.mark.claims("estimation-01")
def test_covariance_is_that_of_numpy_whatever_the_offset(rng):
    for n, d in ((2, 1), (3, 5), (40, 3)):
        X = rng.normal(size=(n, d)) + 1e6
        S = empirical_covariance(X)
        np.testing.assert_allclose(S, np.atleast_2d(np.cov(X.T)), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(S, S.T)
        assert np.linalg.matrix_rank(S) == min(n - 1, d)
    constant = np.full((5, 2), 3.0)
    np.testing.assert_array_equal(empirical_covariance(constant), 0)


def test_covariance_of_whole_numbers_far_from_zero_is_exact():
    steps = np.array([[0, 0], [4, 12], [16, 4]])
    far = 2.0**54 + steps  # there only multiples of 4 are numbers, and the means are none
    np.testing.assert_allclose(centre(far), steps - steps.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(empirical_covariance(far), np.cov(steps.T), rtol=1e-12)
    mu, sigma2 = normal_mle(far[:, 0])
    assert sigma2 == pytest.approx(np.var(steps[:, 0]), rel=1e-12)
    assert mu in (2.0**54 + 4, 2.0**54 + 8)


@pytest.mark.claims("estimation-01", "estimation-02")
@pytest.mark.parametrize("n", [2, 3, 5])
def test_dividing_by_n_minus_1_is_unbiased_and_by_n_is_not(n):
    Sigma = covariance(WEIGHTS, ATOMS)
    np.testing.assert_array_equal(expected_over_all_samples(n, empirical_mean), WEIGHTS @ ATOMS)
    np.testing.assert_array_equal(expected_over_all_samples(n, empirical_covariance), Sigma)
    biased = expected_over_all_samples(n, lambda X: empirical_covariance(X, ddof=0))
    np.testing.assert_array_equal(biased - Sigma, -Sigma / n)


@pytest.mark.claims("estimation-02")
def test_both_divisors_give_the_same_directions_and_a_factor_between_the_variances():
    X = load_wine().X
    n = len(X)
    by_n, unbiased = empirical_covariance(X, ddof=0), empirical_covariance(X)
    np.testing.assert_allclose(by_n, (n - 1) / n * unbiased, rtol=1e-12)
    np.testing.assert_allclose(by_n, covariance(np.full(n, 1 / n), X), rtol=1e-9, atol=1e-12)
    (small, V), (large, W) = np.linalg.eigh(by_n), np.linalg.eigh(unbiased)
    np.testing.assert_allclose(small / large, (n - 1) / n, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(V * W, axis=0)), 1, rtol=1e-9)
    _, singular, directions = np.linalg.svd(centre(X), full_matrices=False)
    np.testing.assert_allclose(singular[::-1] ** 2 / n, small, rtol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(directions[::-1] * V.T, axis=1)), 1, rtol=1e-8)


@pytest.mark.parametrize(("n", "ddof"), [(1, 1), (0, 0), (3, 3)])
def test_a_covariance_needs_more_samples_than_ddof(n, ddof):
    with pytest.raises(ValueError, match=f"a covariance needs n > {ddof} samples; got n = {n}"):
        empirical_covariance(np.ones((n, 2)), ddof=ddof)


@pytest.mark.claims("estimation-03")
def test_kronecker_product_block_by_block_and_by_its_two_rules(rng):
    A, B, C, D = (rng.normal(size=shape) for shape in ((2, 3), (4, 5), (3, 2), (5, 3)))
    product_ = kronecker(A, B)
    assert product_.shape == (2 * 4, 3 * 5)
    np.testing.assert_array_equal(product_, np.block([[a * B for a in row] for row in A]))
    np.testing.assert_array_equal(product_, np.kron(A, B))
    np.testing.assert_allclose(
        product_ @ kronecker(C, D), kronecker(A @ C, B @ D), rtol=1e-12, atol=1e-12
    )
    M = rng.normal(size=(5, 3))

    def vec(M):
        return M.ravel(order="F")  # the columns, one below the other

    np.testing.assert_allclose(vec(B @ M @ A.T), product_ @ vec(M), rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------------
# More families
# ---------------------------------------------------------------------------------------


def test_families_sum_and_integrate_to_one_with_their_mean_and_variance():
    x, w = gauss_legendre(0, 60, pieces=200)
    f = w * np.exp(exponential_log_density(x, 0.8))
    assert (f.sum(), f @ x, f @ (x - 1.25) ** 2) == pytest.approx((1, 1.25, 1.25**2), abs=1e-10)
    x, w = gauss_legendre(-400, 410, pieces=4000)
    f = w * np.exp(student_log_density(x, 7.0, 5.0, 4.0))
    assert (f.sum(), f @ x, f @ (x - 5) ** 2) == pytest.approx((1, 5, 4 * 7 / 5), abs=1e-6)
    x, w = gauss_legendre(-1, 4)
    assert w @ np.exp(uniform_log_density(x, -1.0, 4.0)) == pytest.approx(1)
    assert np.exp(categorical_log_pmf(np.arange(3), np.array([0.2, 0, 0.8]))).tolist() == [
        pytest.approx(0.2), 0, pytest.approx(0.8)
    ]  # fmt: skip


def test_values_outside_the_support_have_density_zero():
    p = np.array([0.5, 0.5])
    np.testing.assert_array_equal(categorical_log_pmf(np.array([-1, 2, 0.5]), p), -np.inf)
    np.testing.assert_array_equal(uniform_log_density(np.array([-0.1, 1.1]), 0.0, 1.0), -np.inf)
    assert exponential_log_density(-1e-9, 2.0) == -np.inf
    assert exponential_log_density(0.0, 2.0) == log(2)


def test_students_t_tends_to_the_normal_distribution():
    x = np.linspace(-4, 6, 50)
    gaps = [
        np.abs(student_log_density(x, nu, 1.0, 2.0) - normal_log_density(x, 1.0, 2.0)).max()
        for nu in (1e2, 1e3, 1e4)
    ]
    np.testing.assert_allclose(np.divide(gaps[:-1], gaps[1:]), 10, rtol=0.1)


def test_students_t_keeps_its_digits_for_any_degrees_of_freedom():
    for m, tol in (
        (1, 1e-15),
        (20, 1e-13),
        (999, 3e-12),
        (1000, 1e-14),
        (1001, 1e-14),
        (5000, 1e-14),
    ):
        ratio = float(Fraction(m * comb(2 * m, m), 4**m)) * sqrt(pi)  # Gamma(m + 1/2) / Gamma(m)
        exact = log(ratio) - log(2 * m * pi) / 2  # beyond m = 1000 a series takes over
        assert student_log_density(0.0, 2 * m, 0.0, 1.0) == pytest.approx(exact, abs=tol)
    for nu in (1e8, 1e12, 1e16):
        gap = student_log_density(0.0, nu, 0.0, 1.0) - normal_log_density(0.0, 0.0, 1.0)
        assert gap == pytest.approx(-1 / (4 * nu), abs=3e-15)


# ---------------------------------------------------------------------------------------
# Likelihood
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("estimation-04")
def test_likelihood_is_the_product_and_its_logarithm_the_sum():
    for p in (0.1, 0.5, 0.77):
        L = p**3 * (1 - p) ** 8
        assert likelihood(bernoulli_log_pmf, BITS, p) == pytest.approx(L, rel=1e-12)
        assert np.exp(log_likelihood(bernoulli_log_pmf, BITS, p)) == pytest.approx(L, rel=1e-12)
    by_hand = sum(-log(3.0) / 2 - log(2 * pi) / 2 - (x - 1) ** 2 / 6 for x in REALS)
    assert log_likelihood(normal_log_density, REALS, 1.0, 3.0) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.claims("estimation-04")
def test_likelihood_and_its_logarithm_have_the_same_maximiser():
    p = np.linspace(0, 1, 1001)
    L = likelihood(bernoulli_log_pmf, BITS[:, None], p)
    assert np.argmax(L) == np.argmax(log_likelihood(bernoulli_log_pmf, BITS[:, None], p)) == 273
    assert likelihood(bernoulli_log_pmf, BITS[:, None], p)[[0, -1]].tolist() == [0, 0]


@pytest.mark.claims("estimation-04")
def test_the_likelihood_of_5000_samples_underflows_and_its_logarithm_does_not():
    x = np.tile([1, 0, 0, 0, 0], 1000)
    assert likelihood(bernoulli_log_pmf, x, 0.2) == 0
    exact = 1000 * log(0.2) + 4000 * log(0.8)
    assert log_likelihood(bernoulli_log_pmf, x, 0.2) == pytest.approx(exact, rel=1e-12)


@pytest.mark.claims("estimation-05")
@pytest.mark.parametrize(
    ("log_f", "x", "closed", "low", "high"),
    [
        (bernoulli_log_pmf, BITS, bernoulli_mle(BITS), 0.01, 0.99),
        (poisson_log_pmf, COUNTS, poisson_mle(COUNTS), 0.1, 9.0),
        (exponential_log_density, WAITS, exponential_mle(WAITS), 0.01, 9.0),
        (lambda x, mu: normal_log_density(x, mu, 2.0), REALS, normal_mle(REALS)[0], -5.0, 5.0),
        (
            lambda x, s2: normal_log_density(x, REALS.mean(), s2),
            REALS, normal_mle(REALS)[1], 0.1, 20.0,
        ),
        (lambda x, s2: normal_log_density(x, 0.5, s2), REALS, normal_mle(REALS, 0.5)[1], 0.1, 20.0),
    ],
    ids=["Bernoulli", "Poisson", "exponential", "mean", "variance", "variance about 0.5"],
)  # fmt: skip
def test_closed_forms_are_where_a_search_ends(log_f, x, closed, low, high):
    searched = golden_section(lambda theta: log_likelihood(log_f, x, theta), low, high)
    assert closed == pytest.approx(searched, rel=1e-6)
    candidates = np.linspace(low, high, 2001)
    step = candidates[1] - candidates[0]
    assert abs(maximum_likelihood(log_f, x, candidates) - closed) <= step / 2 + 1e-12


def test_candidates_that_cannot_have_given_the_samples_do_not_win():
    with pytest.raises(
        ValueError, match="the samples are impossible .*; got l = -inf at theta = 0.2"
    ):
        maximum_likelihood(bernoulli_log_pmf, np.array([1, 2]), np.array([0.2, 0.3]))
    with pytest.raises(ValueError, match="got l = nan at theta = 3.0"):
        maximum_likelihood(
            lambda x, t: np.where(t == 3, np.nan, -np.abs(x - t)), REALS, np.array([1.0, 3.0, 2.0])
        )


@pytest.mark.claims("estimation-05")
@pytest.mark.parametrize(
    ("score", "log_f", "x", "closed", "start"),
    [
        (bernoulli_score, bernoulli_log_pmf, BITS, bernoulli_mle(BITS), 0.5),
        (poisson_score, poisson_log_pmf, COUNTS, poisson_mle(COUNTS), 1.0),
        (exponential_score, exponential_log_density, WAITS, exponential_mle(WAITS), 0.1),
        (
            lambda x, mu: normal_score(x, mu, 2.0)[:, 0],
            lambda x, mu: normal_log_density(x, mu, 2.0), REALS, normal_mle(REALS)[0], 0.0,
        ),
        (
            lambda x, s2: normal_score(x, 0.5, s2)[:, 1],
            lambda x, s2: normal_log_density(x, 0.5, s2), REALS, normal_mle(REALS, 0.5)[1], 0.5,
        ),
    ],
    ids=["Bernoulli", "Poisson", "exponential", "mean", "variance"],
)  # fmt: skip
def test_score_is_the_slope_and_newton_on_it_finds_the_closed_form(score, log_f, x, closed, start):
    for theta in (closed, 0.6, 0.9):
        slopes = derivative(lambda t: log_f(x, t), theta)
        np.testing.assert_allclose(score(x, theta), slopes, rtol=1e-7, atol=1e-7)
    assert score(x, closed).sum() == pytest.approx(0, abs=1e-12)
    assert newton(lambda t: score(x, t).sum(), start) == pytest.approx(closed, rel=1e-9)


@pytest.mark.claims("estimation-05")
def test_both_parameters_of_a_normal_distribution_at_once():
    mu, sigma2 = normal_mle(REALS)
    assert (mu, sigma2) == pytest.approx((np.mean(REALS), np.var(REALS)), rel=1e-12)
    np.testing.assert_allclose(
        normal_score(REALS, mu, sigma2).sum(axis=0), 0, rtol=1e-12, atol=1e-12
    )
    around = [(mu + a, sigma2 * (1 + b)) for a, b in product((-0.01, 0, 0.01), repeat=2)]
    values = [log_likelihood(normal_log_density, REALS, *theta) for theta in around]
    assert np.argmax(values) == 4


@pytest.mark.claims("estimation-05")
def test_shares_of_the_categories_beat_every_other_point_of_the_simplex(rng):
    x = np.array([0, 3, 3, 1, 0, 3, 0, 0])
    p = categorical_mle(x, K=5)
    np.testing.assert_array_equal(p, [4 / 8, 1 / 8, 0, 3 / 8, 0])
    top = log_likelihood(categorical_log_pmf, x, p)
    for other in rng.dirichlet(np.ones(5), size=300):
        for step in (1.0, 1e-3):
            assert log_likelihood(categorical_log_pmf, x, p + step * (other - p)) < top
    inside = categorical_mle(x[x != 2], K=4)[[0, 1, 3]]  # softmax coordinates have a free gradient
    slopes = [
        derivative(
            lambda t, e=e: log_likelihood(
                categorical_log_pmf, np.searchsorted([0, 1, 3], x), softmax(np.log(inside) + t * e)
            ),
            0.0,
        )
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(slopes, 0, rtol=1e-8, atol=1e-8)


def softmax(a):
    return np.exp(a) / np.exp(a).sum()


@pytest.mark.claims("estimation-05")
def test_likelihood_of_a_uniform_distribution_is_largest_on_the_shortest_interval(rng):
    a, b = uniform_mle(REALS)
    assert (a, b) == (-1.0, 3.3)
    top = log_likelihood(uniform_log_density, REALS, a, b)
    assert top == pytest.approx(-7 * log(4.3), rel=1e-12)
    for da, db in rng.uniform(-0.5, 0.5, size=(200, 2)):
        other = log_likelihood(uniform_log_density, REALS, a + da, b + db)
        assert other == (-np.inf if da > 0 or db < 0 else pytest.approx(-7 * log(4.3 + db - da)))
        assert other < top


@pytest.mark.claims("estimation-05")
def test_multivariate_normal_is_where_coordinate_ascent_from_afar_ends(rng):
    X = rng.normal(size=(25, 2)) @ np.array([[1.0, 0.7], [0.0, 0.6]]) + [2.0, -1.0]
    law = multivariate_normal_mle(X)

    def height(theta):
        B = np.array([[theta[2], 0], [theta[3], theta[4]]])  # Sigma^{-1} = B^T B
        return np.log(np.diag(B)).sum() * 25 - np.sum(((X - theta[:2]) @ B.T) ** 2) / 2

    theta = np.array([0.0, 0.0, 1.0, 0.0, 1.0])
    for _ in range(40):
        for j, (low, high) in enumerate(((-9, 9), (-9, 9), (1e-3, 9), (-9, 9), (1e-3, 9))):
            at = theta.copy()

            def along(value, at=at, j=j):
                at[j] = value
                return height(at)

            theta[j] = golden_section(along, low, high, steps=45)
    B = np.array([[theta[2], 0], [theta[3], theta[4]]])
    np.testing.assert_allclose(theta[:2], law.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.linalg.inv(B.T @ B), law.covariance, rtol=1e-5, atol=1e-5)
    top = log_likelihood(multivariate_normal_log_density, X, *law)
    assert top == pytest.approx(height(theta) - 25 * log(2 * pi), rel=1e-9)


@pytest.mark.claims("estimation-05")
def test_multivariate_normal_in_four_dimensions_has_no_better_neighbour(rng):
    T = load_iris()
    X = T.X[T.y == "setosa"]
    law = multivariate_normal_mle(X)
    np.testing.assert_allclose(law.mean, X.mean(axis=0))
    np.testing.assert_allclose(law.covariance, np.cov(X.T, ddof=0), rtol=1e-12)
    top = log_likelihood(multivariate_normal_log_density, X, *law)
    for _ in range(100):
        dmu, A = rng.normal(size=4), rng.normal(size=(4, 4))
        slopes = [
            log_likelihood(
                multivariate_normal_log_density, X, law.mean + h * dmu,
                law.covariance + h * (A + A.T),
            )
            for h in (-1e-5, 1e-5)
        ]  # fmt: skip
        assert max(slopes) < top and abs(slopes[1] - slopes[0]) < 0.05 * (top - min(slopes))


@pytest.mark.claims("estimation-05")
def test_one_weight_of_a_logistic_model_by_candidates_and_by_newton():
    t = np.array([-2.0, -1.0, -0.5, 0.3, 0.8, 1.5, 2.2])
    y = np.array([0, 1, 0, 0, 1, 0, 1])

    def log_f(y, w):
        return bernoulli_log_pmf(y, 1 / (1 + np.exp(-w * (t[:, None] if y.ndim == 2 else t))))

    by_newton = newton(lambda w: np.sum((y - 1 / (1 + np.exp(-w * t))) * t), 0.0, h=1e-4)
    candidates = np.linspace(-2, 4, 601)
    assert abs(maximum_likelihood(log_f, y, candidates) - by_newton) <= 0.005 + 1e-9
    assert 0.1 < by_newton < 2


# ---------------------------------------------------------------------------------------
# Samples without an estimate
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimate", "x", "message"),
    [
        (bernoulli_mle, [0, 2], "x must hold 0 and 1 only; got 2"),
        (bernoulli_mle, [], "an estimate needs at least one sample; got none"),
        (lambda x: categorical_mle(x, 3), [0, 3], r"categories 0, \.\.\., 2; got 3"),
        (lambda x: categorical_mle(x, 3), [0, -1], r"categories 0, \.\.\., 2; got -1"),
        (lambda x: categorical_mle(x, 3), [], "at least one sample"),
        (poisson_mle, [1, 2.5], r"counts 0, 1, 2, \.\.\.; got 2.5"),
        (poisson_mle, [1, -1], "got -1"),
        (poisson_mle, [1.0, np.inf], "got inf"),
        (poisson_mle, [1.0, np.nan], "got nan"),
        (poisson_mle, [], "at least one sample"),
        (exponential_mle, [1.0, -0.5], "x must hold numbers >= 0; got -0.5"),
        (exponential_mle, [0.0, 0.0], "exponential likelihood has no maximum: all samples are 0"),
        (exponential_mle, [], "at least one sample"),
        (uniform_mle, [0.1, 0.1, 0.1], "uniform likelihood has no maximum: all samples are 0.1"),
        (uniform_mle, [1.0, np.nan], "x must hold finite numbers; got nan"),
        (uniform_mle, [], "at least one sample"),
        (normal_mle, [0.1, 0.1, 0.1], "normal likelihood has no maximum: all samples are 0.1"),
        (lambda x: normal_mle(x, mu=2.0), [2.0], "no maximum: all samples are 2.0"),
        (normal_mle, [1.0, np.inf], "x must hold finite numbers; got inf"),
        (normal_mle, [], "at least one sample"),
        (t_statistic, [4.0, 4.0], "no maximum: all samples are 4.0"),
        (t_statistic, [1e-200, 3e-200], "variance of the samples must be a number > 0; got 0.0"),
        (normal_mle, [[1.0], [2.0]], r"samples must be an array \(n,\); got shape \(2, 1\)"),
        (bernoulli_mle, [[0, 0, 1]], r"samples must be an array \(n,\); got shape \(1, 3\)"),
        (poisson_mle, 3, r"samples must be an array \(n,\); got shape \(\)"),
        (multivariate_normal_mle, [1.0, 2.0], r"samples must be an array \(n, d\); got shape"),
        (empirical_distribution, [], "at least one sample"),
    ],
)
def test_samples_that_have_no_estimate_are_refused_with_the_reason(estimate, x, message):
    with pytest.raises(ValueError, match=message):
        estimate(np.array(x))


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0]]),
        np.array([[1.0, 2.0], [3.0, 1.0]]),  # n = d
        np.column_stack([np.arange(9.0), np.full(9, 0.1)]),  # a constant whose mean is rounded
        np.column_stack([np.arange(9.0) ** 2, np.arange(9.0) ** 2 / 2.54]),
        np.column_stack([np.arange(9.0), 1e-9 * np.arange(9.0) ** 2, np.arange(9.0) + 5]),
    ],
)
def test_normal_likelihood_of_samples_in_a_hyperplane_has_no_maximum(X):
    n, d = X.shape
    with pytest.raises(ValueError, match=rf"the {n} samples lie in a hyperplane of R\^{d}"):
        multivariate_normal_mle(X)
    S = empirical_covariance(X, ddof=0)
    ridge = np.diag(np.diag(S)) + 1e-6 * (np.trace(S) or 1.0) * np.eye(d)
    heights = [
        log_likelihood(multivariate_normal_log_density, X, empirical_mean(X), S + eps * ridge)
        for eps in (1e-2, 1e-4, 1e-6)
    ]
    assert heights == sorted(heights) and heights[-1] > heights[0] + n / 2


def test_a_hyperplane_is_one_far_from_zero_too(rng):
    line = 2.0**54 + np.array([[0.0, 0.0], [4.0, 12.0], [16.0, 48.0]])
    few = [10.0**power + rng.normal(size=(3, 3)) for power in range(4, 13) for _ in range(5)]
    for X in (line, *few):
        with pytest.raises(ValueError, match="samples lie in a hyperplane"):
            multivariate_normal_mle(X)
    many = 1e8 + rng.normal(size=(50, 3))
    exact = np.cov((many - 1e8).T, ddof=0)
    np.testing.assert_allclose(multivariate_normal_mle(many).covariance, exact, rtol=1e-12)


def test_the_units_of_the_features_do_not_matter(rng):
    X = rng.normal(size=(30, 3))
    scaled = X * [1e-9, 1.0, 1e9]
    law, other = multivariate_normal_mle(X), multivariate_normal_mle(scaled)
    np.testing.assert_allclose(other.mean, law.mean * [1e-9, 1, 1e9], rtol=1e-9)
    with pytest.raises(ValueError, match="finite numbers; got nan"):
        multivariate_normal_mle(np.array([[1.0], [np.nan], [2.0]]))


def test_samples_in_few_bits_are_computed_in_64():
    x = (10 + np.arange(1000) / 999).astype(np.float32)
    exact = [Fraction(float(value)) for value in x]
    mean = sum(exact) / 1000
    variance = sum((value - mean) ** 2 for value in exact) / 1000
    assert normal_mle(x) == pytest.approx((float(mean), float(variance)), rel=1e-13)
    assert exponential_mle(x) == pytest.approx(float(1 / mean), rel=1e-14)
    assert multivariate_normal_mle(x[:, None]).covariance.item() == pytest.approx(float(variance))
    after = NormalMean(0.0, 1.0, 1.0).posterior(x)
    assert after.m == pytest.approx(float(1000 * mean / 1001), rel=1e-14)
    byte = np.array([0, 1], dtype=np.uint8)
    assert normal_mle(byte, mu=20) == (20, (20**2 + 19**2) / 2)  # 0 - 20 is no number of a byte
    assert poisson_mle(np.full(300, 255, dtype=np.uint8)) == 255


def test_estimates_at_the_edge_are_still_estimates():
    assert (bernoulli_mle(np.ones(4)), poisson_mle(np.zeros(3))) == (1.0, 0.0)
    assert log_likelihood(bernoulli_log_pmf, np.ones(4), 1.0) == 0
    assert log_likelihood(poisson_log_pmf, np.zeros(3), 0.0) == 0
    assert normal_mle(np.array([5.0]), mu=2.0) == (2.0, 9.0)
    assert exponential_mle(np.array([0.0, 2.0])) == 1.0


# ---------------------------------------------------------------------------------------
# The nearest law
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("estimation-06")
def test_distance_from_what_was_observed_is_the_likelihood_up_to_a_constant():
    values, share = empirical_distribution(COUNTS)
    assert dict(zip(values.tolist(), 6 * share, strict=True)) == {0: 1, 1: 2, 2: 1, 3: 1, 7: 1}
    rate = np.linspace(0.2, 8, 500)
    distance = kl_divergence(share, np.exp(poisson_log_pmf(values, rate[:, None])))
    log_L = log_likelihood(poisson_log_pmf, COUNTS[:, None], rate)
    constant = sum(f * log(f) for f in share)
    np.testing.assert_allclose(distance + log_L / 6, constant, rtol=1e-12, atol=1e-12)
    assert np.argmin(distance) == np.argmax(log_L)
    best = golden_section(
        lambda r: -kl_divergence(share, np.exp(poisson_log_pmf(values, r))), 0.1, 9
    )
    assert best == pytest.approx(poisson_mle(COUNTS), rel=1e-6)


@pytest.mark.claims("estimation-06")
def test_distinct_samples_weigh_1_over_n_and_the_constant_is_minus_ln_n():
    values, share = empirical_distribution(np.array([7, 0, 4, 2]))
    np.testing.assert_array_equal(share, 0.25)
    for rate in (0.5, 3.0, 11.0):
        f = poisson_log_pmf(values, rate)
        assert kl_divergence(share, np.exp(f)) + f.mean() == pytest.approx(-log(4), abs=1e-12)


@pytest.mark.claims("estimation-06")
def test_divergence_is_nonnegative_and_zero_only_between_equals(rng):
    F, G = rng.dirichlet(np.ones(5), size=(2, 200))
    assert (kl_divergence(F, G) > 0).all()
    np.testing.assert_allclose(kl_divergence(F, F), 0, rtol=1e-15, atol=1e-15)
    assert not np.allclose(kl_divergence(F, G), kl_divergence(G, F))
    loops = [
        sum(f * log(f / g) for f, g in zip(*pair, strict=True)) for pair in zip(F, G, strict=True)
    ]
    np.testing.assert_allclose(kl_divergence(F, G), loops, rtol=1e-9)
    edge = np.array([0.5, 0.5, 0.0])
    assert kl_divergence(edge, np.array([0.5, 0.25, 0.25])) == pytest.approx(log(2) / 2)
    assert kl_divergence(np.array([0.5, 0.25, 0.25]), edge) == np.inf


def test_shares_sum_to_one_whatever_the_shape_of_the_samples():
    values, share = empirical_distribution(np.array([[1, 2], [1, 3]]))
    assert values.tolist() == [1, 2, 3] and share.tolist() == [0.5, 0.25, 0.25]
    assert empirical_distribution(["b", "a", "b"])[1].tolist() == [1 / 3, 2 / 3]


def test_distributions_of_different_sizes_have_no_divergence():
    with pytest.raises(ValueError, match=r"must have k weights each; got \(3,\) and \(1,\)"):
        kl_divergence(np.array([0.2, 0.3, 0.5]), np.array([0.5]))


@pytest.mark.claims("estimation-06")
def test_a_family_that_holds_the_empirical_distribution_is_at_distance_zero(rng):
    x = rng.integers(4, size=50)
    values, share = empirical_distribution(x)
    assert kl_divergence(share, categorical_mle(x, 4)[values]) == pytest.approx(0, abs=1e-15)


# ---------------------------------------------------------------------------------------
# Functions of theta
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("estimation-07")
def test_estimate_of_a_function_is_the_function_of_the_estimate():
    for log_f, x, closed, G, low, high in (
        (lambda x, m: exponential_log_density(x, 1 / m), WAITS, exponential_mle(WAITS),
         lambda rate: 1 / rate, 0.1, 9),
        (lambda x, s: normal_log_density(x, REALS.mean(), s**2), REALS, normal_mle(REALS)[1],
         sqrt, 0.1, 9),
        (lambda k, odds: bernoulli_log_pmf(k, odds / (1 + odds)), BITS, bernoulli_mle(BITS),
         lambda p: p / (1 - p), 0.01, 9),
        (lambda k, q: poisson_log_pmf(k, -log(q)), COUNTS, poisson_mle(COUNTS),
         lambda rate: exp(-rate), 1e-3, 0.99),
    ):  # fmt: skip
        direct = golden_section(lambda g, log_f=log_f, x=x: log_likelihood(log_f, x, g), low, high)
        assert G(closed) == pytest.approx(direct, rel=1e-6)


@pytest.mark.claims("estimation-07")
def test_profile_likelihood_of_a_square_peaks_at_the_square_of_the_estimate():
    x = REALS - 3.0  # of negative mean: theta^2 alone does not tell the sign
    mean = x.mean()
    half = np.arange(0, 6, 0.01)
    theta = np.concatenate([-half[:0:-1], half])
    log_L = log_likelihood(lambda x, mu: normal_log_density(x, mu, 1.0), x[:, None], theta)
    g, best = profile_log_likelihood(log_L, theta**2)
    assert len(g) == len(half) and mean < 0
    assert sqrt(g[np.argmax(best)]) == pytest.approx(-mean, abs=0.005 + 1e-9)
    literal = [max(log_L[theta**2 == value]) for value in g[::50]]
    np.testing.assert_array_equal(best[::50], literal)
    positive = log_L[theta >= 0]  # to take the root for theta itself finds the wrong maximum
    assert np.argmax(positive) == 0 != np.argmax(best)


@pytest.mark.claims("estimation-07")
def test_lack_of_bias_is_not_invariant():
    x = ATOMS[:, 0]
    mu, sigma2 = WEIGHTS @ x, WEIGHTS @ (x - WEIGHTS @ x) ** 2
    for n in (2, 4):
        squared_mean = expected_over_all_samples(n, lambda X: X[:, 0].mean() ** 2)
        assert squared_mean == mu**2 + sigma2 / n


# ---------------------------------------------------------------------------------------
# How far off
# ---------------------------------------------------------------------------------------


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
        law = np.array([1 - p, p])
        information = fisher_information(law, bernoulli_score(np.array([0, 1]), p))
        assert information == pytest.approx(1 / (p * (1 - p)), rel=1e-12)
        errors = [share_of_ones(n, p) for n in sizes]
        np.testing.assert_allclose(np.multiply(sizes, errors), 1 / information, rtol=1e-9)
        assert slope(sizes, errors) == pytest.approx(-1, abs=1e-9)


@pytest.mark.claims("estimation-08")
def test_n_mse_of_a_function_of_it_tends_to_the_information_about_the_function():
    p, sizes = 0.3, [10, 100, 1000, 10_000]
    limit = (2 * p) ** 2 * p * (1 - p)  # G'(p)^2 / I(p) for G(p) = p^2
    errors = [share_of_ones(n, p, lambda p: p**2) for n in sizes]
    gaps = np.abs(np.multiply(sizes, errors) / limit - 1)
    assert (np.diff(gaps) < 0).all() and gaps[2] < 0.01
    assert slope(sizes[1:], errors[1:]) == pytest.approx(-1, abs=0.01)


@pytest.mark.claims("estimation-08")
def test_mse_of_the_normal_variance_exactly_and_by_simulation(rng):
    sigma2, sizes, exact = 2.5, np.array([5, 20, 100, 1000]), []
    for n in sizes:
        q, w = gauss_legendre(0, n + 12 * sqrt(2 * n) + 40, pieces=600)  # chi^2 of n - 1
        log_p = np.log(w) + Gamma((n - 1) / 2, 1 / 2).log_density(q)
        exact.append(mean_squared_error(log_p, sigma2 * q / n, sigma2))
    np.testing.assert_allclose(exact, (2 * sizes - 1) * sigma2**2 / sizes**2, rtol=1e-6)
    x, w = gauss_legendre(-15, 15, pieces=60)
    density = w * np.exp(normal_log_density(x, 0.0, sigma2))
    information = fisher_information(density, normal_score(x, 0.0, sigma2))
    np.testing.assert_allclose(
        information, np.diag([1 / sigma2, 1 / (2 * sigma2**2)]), rtol=1e-9, atol=1e-9
    )
    assert sizes[-1] * exact[-1] == pytest.approx(1 / information[1, 1], rel=1e-3)
    assert slope(sizes, exact) == pytest.approx(-1, abs=0.03)
    draws = [normal_mle(x)[1] for x in rng.normal(4.0, sqrt(sigma2), size=(3000, 20))]
    squares = (np.array(draws) - sigma2) ** 2
    assert abs(squares.mean() - exact[1]) <= 5 * squares.std() / sqrt(3000)


@pytest.mark.claims("estimation-08")
def test_where_nothing_is_smooth_the_error_falls_faster(rng):
    """The end of a uniform distribution: n MSE tends to 0, and no Fisher information says so."""
    u, w = gauss_legendre(0, 1, pieces=400)
    sizes = np.array([10, 100, 1000])
    errors = [mean_squared_error(np.log(w * n) + (n - 1) * np.log(u), u, 1.0) for n in sizes]
    np.testing.assert_allclose(errors, 2 / ((sizes + 1) * (sizes + 2)), rtol=1e-6)
    assert slope(sizes, errors) == pytest.approx(-2, abs=0.1)
    ends = np.array([uniform_mle(x)[1] for x in rng.uniform(0, 1, size=(3000, 10))])
    squares = (ends - 1) ** 2
    assert abs(squares.mean() - errors[0]) <= 5 * squares.std() / sqrt(3000)
    assert (ends < 1).all()


@pytest.mark.claims("estimation-08")
def test_information_is_the_variance_of_a_score_of_mean_zero_and_the_mean_curvature():
    k = np.arange(200)
    x, w = gauss_legendre(0, 40, pieces=200)
    for law, at, score, theta, expected in (
        (np.exp(poisson_log_pmf(k, 2.5)), k, poisson_score, 2.5, 1 / 2.5),
        (w * np.exp(exponential_log_density(x, 1.7)), x, exponential_score, 1.7, 1 / 1.7**2),
    ):
        assert law @ score(at, theta) == pytest.approx(0, abs=1e-9)
        information = fisher_information(law, score(at, theta))
        assert information == pytest.approx(expected, rel=1e-9)
        curvature = -law @ derivative(lambda t, at=at, s=score: s(at, t), theta)
        assert information == pytest.approx(curvature, rel=1e-6)


@pytest.mark.claims("estimation-09")
def test_odds_are_estimated_consistently_with_infinite_mse():
    p, g = 0.3, 0.3 / 0.7
    sizes, tails = (10, 30, 100, 300, 1000), []
    for n in sizes:
        k = np.arange(n + 1)
        with np.errstate(divide="ignore"):
            odds = k / (n - k)
        log_p = binomial_log_pmf(k, n, p)
        assert odds[n] == np.inf and log_p[n] == pytest.approx(n * log(p))  # possible, for every n
        assert mean_squared_error(log_p, odds, g) == np.inf
        assert mean_squared_error(log_p[:n], odds[:n], g) < np.inf  # without it, it is finite
        tails.append(np.exp(log_p[np.abs(odds - g) > 0.1]).sum())
    assert (np.diff(tails[1:]) < 0).all() and tails[-1] < 2e-3
    assert bernoulli_mle(np.ones(3)) == 1  # and these odds are what maximum likelihood says


@pytest.mark.claims("estimation-09")
def test_an_mse_that_vanishes_does_imply_consistency():
    p, eps = 0.3, 0.05
    for n in (10, 100, 1000):
        k = np.arange(n + 1)
        log_p = binomial_log_pmf(k, n, p)
        far = np.exp(log_p[np.abs(k / n - p) > eps]).sum()
        assert far <= mean_squared_error(log_p, k / n, p) / eps**2  # Markov's inequality


def test_mse_leaves_impossible_data_out():
    log_p = np.array([-np.inf, np.log(0.5), np.log(0.5)])
    assert mean_squared_error(log_p, np.array([np.inf, 1.0, 3.0]), 2.0) == pytest.approx(1)
    assert mean_squared_error(log_p, np.array([0.0, 2.0, 2.0]), 2.0) == 0
    assert np.isnan(mean_squared_error(np.array([0.0, np.nan]), np.array([2.0, 9.0]), 2.0))


def test_a_row_and_a_column_are_not_made_a_table():
    row, column = np.array([0.5, 0.5]), np.array([[0.0], [1.0]])
    with pytest.raises(ValueError, match=r"same; got log_p \(2,\), estimates \(2, 1\)"):
        mean_squared_error(np.log(row), column, 0.5)
    with pytest.raises(ValueError, match=r"same; got log_joint \(2, 2\), w \(2,\)"):
        posterior(np.log(row), column, row)
    with pytest.raises(ValueError, match=r"theta \(2, 1\), density \(2,\), w \(2,\)"):
        point_estimates(column, row, row)
    for w in (column, np.ones(1)):
        with pytest.raises(ValueError, match=r"w must be \(m,\) and score \(m, ...\); got"):
            fisher_information(w, row)


# ---------------------------------------------------------------------------------------
# Testing a hypothesis
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("estimation-10")
def test_likelihood_ratio_of_a_mean_is_a_function_of_t(rng):
    pairs = []
    for n, mu0 in ((2, 0.0), (7, 0.0), (40, 1.5), (40, -20.0)):
        for _ in range(10):
            x = rng.normal(0.5, 3.0, size=n)
            t = t_statistic(x, mu0)
            literal = sqrt(n) * (x.mean() - mu0) / x.std(ddof=1)
            assert t == pytest.approx(literal, rel=1e-12)
            theta0, theta1 = normal_mle(x, mu0), normal_mle(x)
            ratio = log_likelihood_ratio(normal_log_density, x, theta0, theta1)
            assert ratio == pytest.approx(-n / 2 * log(1 + t**2 / (n - 1)), rel=1e-12, abs=1e-12)
            assert ratio <= 0
            if n == 40:
                pairs.append((abs(t), ratio))
    assert [r for _, r in sorted(pairs)] == sorted((r for _, r in pairs), reverse=True)


@pytest.mark.claims("estimation-10")
def test_each_estimate_is_the_best_of_its_hypothesis():
    mu0 = -0.5
    theta0 = normal_mle(REALS, mu0)
    searched = golden_section(
        lambda s2: log_likelihood(normal_log_density, REALS, mu0, s2), 0.1, 20
    )
    assert theta0 == (mu0, pytest.approx(searched, rel=1e-6))
    exact = log_likelihood_ratio(normal_log_density, REALS, theta0, normal_mle(REALS))
    about_the_mean = mu0, np.var(REALS)
    spoilt = log_likelihood_ratio(normal_log_density, REALS, about_the_mean, normal_mle(REALS))
    n, t = len(REALS), t_statistic(REALS, mu0)
    of_t = -n / 2 * log(1 + t**2 / (n - 1))
    assert exact == pytest.approx(of_t, rel=1e-12) and spoilt < of_t - 1e-3
    assert t_statistic(REALS, REALS.mean()) == 0
    assert t_statistic(REALS) == t_statistic(REALS, 0.0)


def test_likelihood_ratio_of_a_coin_by_hand():
    x = np.repeat([1, 0], [9, 1])
    ratio = log_likelihood_ratio(bernoulli_log_pmf, x, (0.5,), (bernoulli_mle(x),))
    assert ratio == pytest.approx(10 * log(0.5) - 9 * log(0.9) - log(0.1), rel=1e-12)


# ---------------------------------------------------------------------------------------
# Bayesian estimation
# ---------------------------------------------------------------------------------------

P_NODES, P_WEIGHTS = gauss_legendre(0, 1, pieces=64)


def coin_posterior(x, log_prior):
    log_L = log_likelihood(bernoulli_log_pmf, x[:, None], P_NODES)
    return posterior(log_L, log_prior, P_WEIGHTS)


@pytest.mark.claims("estimation-11")
@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 5), (7, 2)])
def test_posterior_of_a_coin_is_prior_times_likelihood_over_its_integral(a, b):
    k, n = BITS.sum(), len(BITS)
    prior = Beta(a, b)
    f = coin_posterior(BITS, prior.log_density(P_NODES))
    book = P_NODES ** (a + k - 1) * (1 - P_NODES) ** (b + n - k - 1)
    book *= gamma(a + b + n) / (gamma(a + k) * gamma(b + n - k))
    np.testing.assert_allclose(f, book, rtol=1e-6, atol=1e-9)
    assert P_WEIGHTS @ f == pytest.approx(1, abs=1e-12)
    estimates = point_estimates(P_NODES, f, P_WEIGHTS)
    spacing = np.diff(P_NODES).max()
    assert estimates.mode == pytest.approx((a + k - 1) / (a + b + n - 2), abs=spacing)
    assert estimates.mean == pytest.approx((a + k) / (a + b + n), abs=1e-8)
    after = prior.posterior(BITS)
    assert (after.a, after.b) == (a + k, b + n - k)
    assert after.mode() == pytest.approx((a + k - 1) / (a + b + n - 2), rel=1e-12)
    assert after.mean() == pytest.approx((a + k) / (a + b + n), rel=1e-12)


@pytest.mark.claims("estimation-11")
def test_sequential_updating_is_batch_updating_for_any_prior():
    log_prior = -2 * np.abs(P_NODES - 0.5)  # nothing conjugate about it
    first = coin_posterior(BITS[:4], log_prior)
    then = coin_posterior(BITS[4:], np.log(first))
    np.testing.assert_allclose(then, coin_posterior(BITS, log_prior), rtol=1e-10)
    np.testing.assert_allclose(
        coin_posterior(BITS, log_prior + 7), coin_posterior(BITS, log_prior), rtol=1e-12
    )  # the constant of the prior cancels


@pytest.mark.claims("estimation-11")
def test_a_flat_prior_makes_map_maximum_likelihood_and_a_strong_one_does_not():
    grid = np.linspace(0, 1, 1101)
    log_L = log_likelihood(bernoulli_log_pmf, BITS[:, None], grid)
    w = np.full(len(grid), grid[1])
    flat = point_estimates(grid, posterior(log_L, np.zeros_like(grid), w), w)
    assert flat.mode == maximum_likelihood(bernoulli_log_pmf, BITS, grid) == pytest.approx(3 / 11)
    assert Beta(1, 1).posterior(BITS).mode() == bernoulli_mle(BITS)
    strong = point_estimates(grid, posterior(log_L, Beta(50, 50).log_density(grid), w), w)
    assert 0.4 < strong.mode < 0.5 and flat.mean != pytest.approx(flat.mode, abs=0.01)


@pytest.mark.claims("estimation-11")
def test_posterior_mean_has_the_least_expected_squared_error():
    f = P_WEIGHTS * coin_posterior(BITS, Beta(2, 2).log_density(P_NODES))
    mean = point_estimates(P_NODES, f / P_WEIGHTS, P_WEIGHTS).mean
    searched = golden_section(lambda c: -mean_squared_error(np.log(f), P_NODES, c), 0.0, 1.0)
    assert searched == pytest.approx(mean, abs=1e-6)
    at_mean = mean_squared_error(np.log(f), P_NODES, mean)
    assert mean_squared_error(np.log(f), P_NODES, mean + 0.1) == pytest.approx(at_mean + 0.01)


@pytest.mark.claims("estimation-11")
def test_posterior_of_5000_samples_does_not_underflow():
    x = np.tile([1, 0, 0, 0, 0], 1000)
    log_L = log_likelihood(bernoulli_log_pmf, x[:, None], P_NODES)
    assert np.exp(log_L).max() == 0
    f = posterior(log_L, np.zeros_like(P_NODES), P_WEIGHTS)
    book = np.exp(Beta(1001, 4001).log_density(P_NODES))
    np.testing.assert_allclose(f, book, rtol=1e-6, atol=1e-9)


def test_impossible_data_have_no_posterior():
    with pytest.raises(ValueError, match="the data are impossible at every theta"):
        posterior(np.array([-np.inf, 0.0]), np.array([0.0, -np.inf]), np.ones(2))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=f"finite or -inf at every theta; got {bad}"):
            posterior(np.array([0.0, bad]), np.zeros(2), np.ones(2))
        with pytest.raises(ValueError, match=f"must be finite at every theta; got {bad}"):
            point_estimates(np.array([0.0, 1.0]), np.array([1.0, bad]), np.ones(2))


def test_map_is_not_invariant_while_maximum_likelihood_is():
    after = Beta(1, 1).posterior(BITS)

    def density_of_log_odds(t):
        p = 1 / (1 + np.exp(-t))
        return after.log_density(p) + np.log(p * (1 - p))  # |dp/dt|

    mode = golden_section(density_of_log_odds, -5, 5)
    assert 1 / (1 + exp(-mode)) == pytest.approx(after.mean(), rel=1e-6)  # a/(a + b), by chance
    assert after.mode() == pytest.approx(3 / 11) != pytest.approx(after.mean(), rel=1e-2)


# ---------------------------------------------------------------------------------------
# Conjugate priors
# ---------------------------------------------------------------------------------------

CATEGORIES = np.array([0, 2, 2, 1, 2, 0])


def known_variance(x, mu):
    return normal_log_density(x, mu, 2.0)


# prior, its family, data, values of theta
PAIRS = {
    "Beta": (
        Beta(2.5, 0.8), bernoulli_log_pmf, BITS, [(p,) for p in (0.01, 0.2, 0.5, 0.9, 0.999)]),
    "Dirichlet": (
        Dirichlet([0.5, 2.0, 3.3]), categorical_log_pmf, CATEGORIES,
        [(np.array(p),) for p in ((0.2, 0.3, 0.5), (0.9, 0.05, 0.05), (0.01, 0.01, 0.98))]),
    "Gamma": (
        Gamma(1.7, 0.6), poisson_log_pmf, COUNTS, [(r,) for r in (0.05, 1.0, 2.5, 20.0)]),
    "NormalMean": (
        NormalMean(-1.0, 3.0, 2.0), known_variance, REALS, [(m,) for m in (-9.0, 0.0, 1.1, 30.0)]),
    "NormalInverseGamma": (
        NormalInverseGamma(0.5, 0.7, 1.2, 2.0), normal_log_density, REALS,
        [(-3.0, 0.5), (0.0, 1.0), (1.0, 2.0), (1.0, 30.0), (8.0, 4.0)]),
}  # fmt: skip
pairs = pytest.mark.parametrize(("prior", "log_f", "x", "thetas"), PAIRS.values(), ids=PAIRS.keys())


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
    return likelihood(log_f, x[:, None], *theta)


def smoother(prior):
    """The prior without poles at the edge, which the quadrature would not resolve."""
    return {
        "Beta": Beta(2.5, 1.8), "Dirichlet": Dirichlet([1.5, 2.0, 3.3]), "Gamma": Gamma(2.7, 0.6),
        "NormalInverseGamma": NormalInverseGamma(0.5, 1.7, 3.2, 2.0),
    }.get(type(prior).__name__, prior)  # fmt: skip


@pytest.mark.claims("estimation-12")
@pairs
def test_prior_times_likelihood_is_the_posterior_up_to_a_constant(prior, log_f, x, thetas):
    evidence = [log_evidence(prior, log_f, x, *theta) for theta in thetas]
    assert np.ptp(evidence) < 1e-10
    after = prior.posterior(x)
    assert type(after) is type(prior)
    log_joint = [log_likelihood(log_f, x, *t) + prior.log_density(*t) for t in thetas]
    closed = [after.log_density(*t) for t in thetas]
    np.testing.assert_allclose(np.subtract(log_joint, closed), evidence[0], rtol=1e-10, atol=1e-10)
    assert np.ptp(closed) > 1  # and it is no constant itself
    spoilt = np.subtract(log_joint, [prior.posterior(x[1:]).log_density(*t) for t in thetas])
    assert np.ptp(spoilt) > 0.1  # the posterior of other data does not pass


@pytest.mark.claims("estimation-12")
@pairs
def test_evidence_is_the_integral_over_all_theta(prior, log_f, x, thetas):
    prior = smoother(prior)
    theta, w = over_theta(prior)
    f = w * np.exp(prior.log_density(*theta))
    assert f.sum() == pytest.approx(1, abs=2e-5)
    evidence = log_evidence(prior, log_f, x[:3], *thetas[1])
    assert f @ likelihoods_of(log_f, x[:3], theta) == pytest.approx(exp(evidence), rel=1e-4)


@pytest.mark.claims("estimation-12")
@pairs
def test_predictive_distribution_is_the_likelihood_averaged_over_the_posterior(
    prior, log_f, x, thetas
):
    prior = smoother(prior).posterior(x)
    theta, w = over_theta(prior)
    f = w * np.exp(prior.log_density(*theta))
    for new in x[:3, None]:
        averaged = f @ likelihoods_of(log_f, new, theta)
        assert np.exp(prior.log_predictive(new)) == pytest.approx(averaged, rel=1e-4)
        evidence = log_evidence(prior, log_f, new, *thetas[1])
        assert prior.log_predictive(new) == pytest.approx(evidence, rel=1e-9)


@pairs
def test_predictive_distributions_sum_to_one(prior, log_f, x, thetas):
    after = prior.posterior(x)
    if isinstance(prior, NormalMean | NormalInverseGamma):
        at, w = gauss_legendre(-300, 300, pieces=1500)
    else:
        at = np.arange(-2, 300)
        w = np.ones(len(at))
    assert w @ np.exp(after.log_predictive(at)) == pytest.approx(1, abs=1e-6)


@pytest.mark.claims("estimation-11", "estimation-12")
@pairs
def test_sequential_updating_is_batch_updating_in_any_order(prior, log_f, x, thetas):
    beliefs = list(sequential(prior, x))
    assert len(beliefs) == len(x) + 1 and beliefs[0] is prior
    for i in (1, 3, len(x)):
        assert numbers(beliefs[i]) == pytest.approx(numbers(prior.posterior(x[:i])), rel=1e-12)
    *_, last = sequential(prior, x[::-1])
    assert numbers(last) == pytest.approx(numbers(beliefs[-1]), rel=1e-12)
    for order in list(permutations(x[:4]))[:6]:
        again = prior.posterior(np.array(order))
        assert numbers(again) == pytest.approx(numbers(beliefs[4]), rel=1e-12)


@pairs
def test_evidence_is_the_product_of_the_predictions(prior, log_f, x, thetas):
    before = list(sequential(prior, x))[:-1]
    predictions = [b.log_predictive(new) for b, new in zip(before, x, strict=True)]
    assert sum(predictions) == pytest.approx(log_evidence(prior, log_f, x, *thetas[0]), rel=1e-9)


@pairs
def test_without_data_the_posterior_is_the_prior(prior, log_f, x, thetas):
    assert numbers(prior.posterior(x[:0])) == pytest.approx(numbers(prior), rel=1e-14)


def numbers(belief):
    """The parameters of a belief in one row."""
    return np.concatenate([np.atleast_1d(value) for value in vars(belief).values()]).tolist()


def test_predictions_of_bytes_and_of_numbers_that_are_not_counts():
    belief = Gamma(200.0, 1.0)
    byte = np.array([255], dtype=np.uint8)
    assert belief.log_predictive(byte) == belief.log_predictive(255)
    no_counts = np.array([0.5, -1.0, np.inf, np.nan])
    np.testing.assert_array_equal(belief.log_predictive(no_counts), -np.inf)


@pytest.mark.claims("estimation-12")
def test_a_laplace_prior_is_not_conjugate_to_the_normal():
    mu = np.linspace(-3, 3, 61)
    log_L = log_likelihood(known_variance, REALS[:, None], mu)
    with_normal = log_L + NormalMean(0.2, 1.0, 2.0).log_density(mu)
    with_laplace = log_L - np.abs(mu)
    assert np.ptp(np.diff(with_normal, 2)) < 1e-12  # a parabola: a normal density again
    assert np.ptp(np.diff(with_laplace, 2)) > 0.1
    one_side = np.diff(with_laplace[mu < 0])
    assert np.ptp(one_side) > 0.1  # nor is it Laplace's: that has one slope on either side


@pytest.mark.claims("estimation-13")
def test_likelihood_has_the_shape_of_a_beta_density_and_is_not_a_density():
    for k, n in ((3, 11), (0, 4), (40, 50)):
        x = np.repeat([1, 0], [k, n - k])
        L = likelihood(bernoulli_log_pmf, x[:, None], P_NODES)
        ratio = L / np.exp(Beta(k + 1, n - k + 1).log_density(P_NODES))
        B = 1 / ((n + 1) * comb(n, k))  # B(k + 1, n - k + 1)
        np.testing.assert_allclose(ratio, B, rtol=1e-10)
        assert P_WEIGHTS @ L == pytest.approx(B, rel=1e-10) and B < 0.5  # far from 1


@pytest.mark.claims("estimation-13")
def test_to_have_the_form_of_the_likelihood_would_make_every_flat_prior_conjugate():
    """Uniform on [0, 3] for a Poisson rate: the printed words hold, and it is not conjugate."""
    rate, w = gauss_legendre(0, 3, pieces=30)
    log_L = log_likelihood(poisson_log_pmf, COUNTS[:, None], rate)
    f = posterior(log_L, uniform_log_density(rate, 0.0, 3.0), w)
    assert np.ptp(np.log(f) - log_L) < 1e-10  # the form of the data likelihood
    inside = (f > 0) & (rate > 0.5)
    assert np.ptp(np.log(f[inside])) > 1  # a uniform law it is not, on any interval
    assert not np.allclose(f, np.exp(Gamma(1 + COUNTS.sum(), 6).log_density(rate)), rtol=0.01)


# ---------------------------------------------------------------------------------------
# Each prior by hand
# ---------------------------------------------------------------------------------------


def test_densities_of_the_priors_by_the_book():
    p, r = 0.3, 1.4
    assert np.exp(Beta(3, 2).log_density(p)) == pytest.approx(12 * p**2 * (1 - p))
    assert np.exp(Gamma(3, 2).log_density(r)) == pytest.approx(8 * r**2 * exp(-2 * r) / 2)
    point = np.array([0.2, 0.3, 0.5])
    book = gamma(6) / (gamma(2) * gamma(1) * gamma(3)) * 0.2 * 0.5**2
    assert np.exp(Dirichlet([2.0, 1, 3]).log_density(point)) == pytest.approx(book)
    book = exp(-2.0 * (r - 1) ** 2 / (2 * p)) / sqrt(2 * pi * p / 2)  # N(r; 1, p/2)
    book *= 5**3 / gamma(3) * p**-4 * exp(-5 / p)
    assert np.exp(NormalInverseGamma(1, 2, 3, 5).log_density(r, p)) == pytest.approx(book)
    two = Dirichlet([2.5, 0.8]).log_density(np.column_stack([P_NODES, 1 - P_NODES]))
    np.testing.assert_allclose(two, Beta(2.5, 0.8).log_density(P_NODES), rtol=1e-9, atol=1e-12)


def test_densities_of_the_priors_at_the_edge_and_beyond():
    edge = np.array([-0.1, 0.0, 1.0, 1.1])
    np.testing.assert_array_equal(np.exp(Beta(1, 1).log_density(edge)), [0, 1, 1, 0])
    np.testing.assert_array_equal(np.exp(Beta(2, 1).log_density(edge)).round(9), [0, 0, 2, 0])
    assert Beta(0.5, 1).log_density(0.0) == np.inf
    np.testing.assert_array_equal(np.exp(Gamma(1, 2).log_density(edge[:2])).round(9), [0, 2])
    off = np.array([[0.5, 0.6], [1.5, -0.5], [0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_array_equal(
        np.exp(Dirichlet([1.0, 1.0]).log_density(off)).round(9), [0, 0, 1, 1]
    )
    single = np.random.default_rng(0).dirichlet(np.ones(5), size=200).astype(np.float32)
    assert (single.sum(axis=1) != 1).any()  # but for rounding they do
    np.testing.assert_allclose(Dirichlet(np.ones(5)).log_density(single), log(24))
    sigma2 = np.array([-1.0, 0.0])
    np.testing.assert_array_equal(NormalInverseGamma(0, 1, 1, 1).log_density(0.0, sigma2), -np.inf)


@pairs
def test_modes_are_where_the_density_peaks_and_means_are_expectations(prior, log_f, x, thetas):
    after = smoother(prior).posterior(x)
    theta, w = over_theta(after)
    f = np.exp(after.log_density(*theta))
    top = after.mode() if isinstance(after.mode(), tuple) else (after.mode(),)
    assert np.exp(after.log_density(*top)) >= f.max() * (1 - 1e-12)
    theta = np.column_stack(theta)
    np.testing.assert_allclose(np.ravel(top), theta[np.argmax(f)], rtol=0.25, atol=0.25)
    np.testing.assert_allclose(np.ravel(after.mean()), expectation(w * f, theta), rtol=1e-4)


def test_modes_by_hand():
    assert Beta(3, 2).mode() == 2 / 3 and Beta(1, 3).mode() == 0 and Gamma(1, 2).mode() == 0
    assert Gamma(3, 2).mode() == 1.0 and NormalMean(4.0, 1.0, 1.0).mode() == 4.0
    assert Dirichlet([3.0, 1, 2]).mode().tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    assert NormalInverseGamma(1.0, 2, 3, 9).mode() == (1.0, 2.0)  # not beta / (alpha + 1)
    sigma2 = golden_section(lambda s: NormalInverseGamma(1.0, 2, 3, 9).log_density(1.0, s), 0.1, 9)
    assert sigma2 == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        (Beta(1, 1), "a mode is defined for a, b >= 1, not all 1; got 1, 1"),
        (Beta(0.5, 3), "a, b >= 1, not all 1; got 0.5, 3"),
        (Dirichlet([1.0, 1, 1]), "all of alpha >= 1, not all 1; got 1, 1, 1"),
        (Gamma(0.5, 1), "a mode is defined for a >= 1 only; got 0.5"),
    ],
)
def test_posteriors_without_a_single_mode_say_so(belief, message):
    with pytest.raises(ValueError, match=message):
        belief.mode()


def test_mean_of_the_variance_may_not_exist():
    with pytest.raises(ValueError, match=r"mean of sigma\^2 exists for alpha > 1 only; got 1"):
        NormalInverseGamma(0, 1, 1, 1).mean()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Beta(0, 1), "a must be a number > 0; got 0"),
        (lambda: Beta(1, float("nan")), "b must be a number > 0; got nan"),
        (lambda: Beta(np.inf, 1), "a must be finite; got inf"),
        (lambda: NormalMean(np.inf, 1, 1), "m must be finite; got inf"),
        (lambda: NormalMean(-np.inf, 1, 1), "m must be a number; got -inf"),
        (lambda: NormalInverseGamma(0, 1, 1, np.inf), "beta must be finite; got inf"),
        (lambda: Dirichlet([np.inf, 1.0]), "all > 0 and finite; got .inf, 1.0."),
        (lambda: Beta(1, 1).posterior(np.zeros((2, 3))), r"array \(n,\); got shape \(2, 3\)"),
        (lambda: Gamma(1, -2.0), "b must be a number > 0; got -2.0"),
        (lambda: NormalMean("0", 1, 1), "m must be a number; got '0'"),
        (lambda: NormalMean(0, 0, 1), "s2 must be a number > 0; got 0"),
        (lambda: NormalMean(0, 1, -1), "sigma2 must be a number > 0; got -1"),
        (lambda: NormalInverseGamma(0, 0, 1, 1), "kappa must be a number > 0; got 0"),
        (lambda: NormalInverseGamma(0, 1, 0, 1), "alpha must be a number > 0; got 0"),
        (lambda: NormalInverseGamma(0, 1, 1, 0), "beta must be a number > 0; got 0"),
        (lambda: Dirichlet([1.0, 0.0]), "two numbers or more, all > 0"),
        (lambda: Dirichlet([1.0]), "two numbers or more, all > 0"),
        (lambda: Dirichlet([[1.0, 2.0]]), "two numbers or more, all > 0"),
        (lambda: Beta(1, 1).posterior(np.array([0.5])), "0 and 1 only; got 0.5"),
        (lambda: Gamma(1, 1).posterior(np.array([-1])), "counts 0, 1, 2, .*; got -1"),
        (lambda: Dirichlet(np.ones(2)).posterior(np.array([2])), "categories 0, .*, 1; got 2"),
        (lambda: NormalMean(0, 1, 1).posterior(np.array([np.nan])), "finite numbers; got nan"),
        (lambda: NormalInverseGamma(0, 1, 1, 1).posterior(np.array([np.inf])), "got inf"),
    ],
)
def test_invalid_priors_and_invalid_data_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_posterior_mean_lies_between_prior_mean_and_estimate():
    for prior, x, estimate, worth in (
        (Beta(2, 6), BITS, bernoulli_mle(BITS), 8),
        (Gamma(9, 3), COUNTS, poisson_mle(COUNTS), 3),
        (NormalMean(5.0, 0.5, 2.0), REALS, REALS.mean(), 4),
        (NormalInverseGamma(5.0, 2.0, 3, 4), REALS, REALS.mean(), 2),
    ):
        share = worth / (worth + len(x))  # the prior counts as `worth` samples
        before, after = np.ravel(prior.mean())[0], np.ravel(prior.posterior(x).mean())[0]
        assert after == pytest.approx(share * before + (1 - share) * estimate, rel=1e-12)


def test_a_vague_prior_and_many_samples_leave_the_data_alone(rng):
    vague = NormalInverseGamma(0.0, 1e-9, 1e-9, 1e-9).posterior(REALS)
    assert vague.m == pytest.approx(REALS.mean(), rel=1e-8)
    assert vague.beta / vague.alpha == pytest.approx(REALS.var(), rel=1e-8)
    x = rng.normal(3.0, 1.5, size=100_000)
    mu, sigma2 = NormalInverseGamma(-50.0, 1, 2, 7).posterior(x).mean()
    assert mu == pytest.approx(x.mean(), abs=1e-3) and sigma2 == pytest.approx(x.var(), abs=0.1)
    shift = abs(mu - x.mean())  # kappa (x.mean() - m) / (kappa + n)
    assert shift == pytest.approx(53 / 100_001, rel=0.01)


def test_normal_posterior_keeps_its_digits_far_from_zero():
    x = 1e8 + np.array([0.5, -0.25, 1.0, 0.75])
    prior = NormalInverseGamma(1e8, 2, 1, 1)
    exact = [Fraction(float(value)) for value in x]
    mean = (2 * Fraction(10**8) + sum(exact)) / 6
    squares = sum((value - mean) ** 2 for value in exact) + 2 * (10**8 - mean) ** 2
    after = prior.posterior(x)
    assert after.m == float(mean)
    assert after.beta == pytest.approx(float(1 + squares / 2), rel=1e-7)


def test_normal_posterior_is_the_conditional_distribution_of_the_mean_given_the_samples():
    """(mu, x_1, ..., x_n) is one normal vector: Var[x_i] = s^2 + sigma^2, all covariances s^2."""
    m, s2, sigma2, n = -1.0, 3.0, 2.0, len(REALS)
    Sigma = np.full((n + 1, n + 1), s2) + np.diag([0.0] + n * [sigma2])
    law = conditional_normal(np.full(n + 1, m), Sigma, given=range(1, n + 1), value=REALS)
    after = NormalMean(m, s2, sigma2).posterior(REALS)
    assert (after.m, after.s2) == pytest.approx((law.mean.item(), law.covariance.item()), rel=1e-10)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def drawn(draw):
    left, right = Figure().subplots(1, 2)
    draw(left, right)
    return left, right


def test_likelihoods_drawn_are_sharper_the_more_samples_and_least_far_where_likeliest():
    from figures.estimation import likelihoods

    left, right = drawn(likelihoods)
    curves = [line.get_xydata() for line in left.lines[:3]]
    for p, height in (curve.T for curve in curves):
        assert p[np.argmax(height)] == pytest.approx(0.3, abs=0.002)
        assert height.max() == pytest.approx(0, abs=1e-3)
    for (_, wide), (_, narrow) in zip(
        (c.T for c in curves), (c.T for c in curves[1:]), strict=False
    ):
        np.testing.assert_allclose(narrow, 4 * wide, rtol=1e-9, atol=1e-9)
    distance, minus_l = (line.get_ydata() for line in right.lines[:2])
    assert np.ptp(minus_l - distance) < 1e-12 and np.argmin(distance) == np.argmin(minus_l)


def test_errors_drawn_fall_with_the_slopes_that_the_caption_says():
    from figures.estimation import how_far_off

    left, right = drawn(how_far_off)
    variance, share, end, *limits = (line.get_xydata() for line in left.lines)
    late = variance[:, 0] > 100
    assert [round(slope(*c[late].T), 1) for c in (variance, share, end)] == [-1, -1, -2]
    np.testing.assert_allclose(limits[0], share, rtol=1e-9)
    np.testing.assert_allclose(limits[1][late], variance[late], rtol=0.01)
    far, infinite = (line.get_xydata() for line in right.lines)
    assert far[-1, 1] < 2e-3 and (infinite[infinite[:, 0] < 500, 1] > 0).all()
    n, chance = infinite.T
    np.testing.assert_allclose(np.log(chance[n < 500]), n[n < 500] * log(0.3), rtol=1e-9)


def test_modes_drawn_agree_in_p_and_not_in_the_log_odds():
    from figures.estimation import other_parameter

    for ax, same in zip(drawn(other_parameter), (True, False), strict=True):
        likely, density, *marks = ax.lines
        peaks = [line.get_xdata()[np.argmax(line.get_ydata())] for line in (likely, density)]
        assert [mark.get_xdata()[0] for mark in marks] == peaks
        assert (peaks[0] == peaks[1]) == same
    assert 1 / (1 + exp(-peaks[0])) == pytest.approx(2 / 8, abs=0.005)
    assert 1 / (1 + exp(-peaks[1])) == pytest.approx(3 / 10, abs=0.005)


def test_beliefs_drawn_come_together():
    from figures.estimation import learning, throws

    ends = []
    for ax, prior in zip(drawn(learning), (Beta(1, 1), Beta(20, 20)), strict=True):
        *beliefs, truth = ax.lines
        for n, line in zip((0, 5, 50, 500), beliefs, strict=True):
            after = prior.posterior(throws()[:n])
            p, density = line.get_data()
            np.testing.assert_allclose(density, np.exp(after.log_density(p)), rtol=1e-9)
        assert truth.get_xdata()[0] == 0.3
        ends.append(
            [line.get_xdata() @ line.get_ydata() / line.get_ydata().sum() for line in beliefs]
        )
    gaps = np.abs(np.subtract(*ends))[1:]
    assert (np.diff(gaps) < 0).all() and gaps[-1] < 0.02


def test_predictive_drawn_has_more_room_than_the_estimates():
    from figures.estimation import normal, virginica

    left, right = drawn(normal)
    prior, likely, after, _ = left.lines
    np.testing.assert_allclose(
        after.get_ydata() / after.get_ydata().max(),
        prior.get_ydata() * likely.get_ydata() / (prior.get_ydata() * likely.get_ydata()).max(),
        rtol=1e-9,
        atol=1e-9,
    )
    plug_in, predictive, others, few = right.lines
    x, room = plug_in.get_xdata(), [line.get_ydata() for line in (plug_in, predictive)]
    tails = np.abs(x - 5.6) > 1
    assert (room[1][tails] > room[0][tails]).all() and room[0].max() > room[1].max()
    together = np.concatenate([few.get_xdata(), others.get_xdata()])
    np.testing.assert_array_equal(together, virginica())
