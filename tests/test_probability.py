"""The probability chapter: every statement of the notes, checked by a second route."""

from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, erf, exp, factorial, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.probability import (
    bayes,
    bernoulli_log_pmf,
    binomial_log_pmf,
    chebyshev,
    conditional_normal,
    conditional_probability,
    covariance,
    expectation,
    fair,
    gauss_legendre,
    given_x,
    given_y,
    independent,
    is_count,
    is_pd,
    is_psd,
    log_sum_exp,
    marginals,
    multivariate_normal_log_density,
    normal_cdf,
    normal_log_density,
    poisson_log_pmf,
    probability,
    probability_between,
    push_forward,
    sample_atoms,
    sample_multivariate_normal,
    second_moment,
    total_probability,
    uniform_cdf,
    uniform_density,
    x_log_y,
)

DIE = fair(range(1, 7))
EVENTS = [set(A) for A in chain.from_iterable(combinations(DIE, m) for m in range(7))]
DICE = fair(product(range(1, 7), repeat=2))


def random_table(rng, shape=(4, 5)):
    joint = rng.gamma(1.0, size=shape)
    return joint / joint.sum()


def random_covariance(rng, d):
    A = rng.normal(size=(d, d + 1))
    return A @ A.T


def normal(mu, sigma2):
    return lambda x: np.exp(normal_log_density(x, mu, sigma2))


# --- Finite spaces ---------------------------------------------------------------------


@pytest.mark.claims("probability-01")
def test_probability_obeys_the_axioms_for_all_pairs_of_events():
    assert probability(DIE, set(DIE)) == 1 and probability(DIE, set()) == 0
    for A, B in product(EVENTS, repeat=2):
        union, both = probability(DIE, A | B), probability(DIE, A & B)
        assert union == probability(DIE, A) + probability(DIE, B) - both
        assert A.isdisjoint(B) == (union == probability(DIE, A) + probability(DIE, B))
    for A in EVENTS:
        assert probability(DIE, A) == Fraction(len(A), 6) >= 0
        assert probability(DIE, set(DIE) - A) == 1 - probability(DIE, A)


@pytest.mark.claims("probability-01")
@pytest.mark.parametrize("weights", [(Fraction(9, 8), Fraction(-1, 8)), (0.5, 0.6), (np.nan, 1)])
def test_weights_that_are_no_distribution_are_refused(weights, rng):
    with pytest.raises(ValueError, match="P must be >= 0 with the sum 1"):
        probability(dict(zip("ab", weights, strict=True)), {"a"})
    with pytest.raises(ValueError, match="prior must be >= 0 with the sum 1"):
        bayes(np.array([0.5, 0.5]), np.array(weights))
    with pytest.raises(ValueError, match="p must be >= 0 with the sum 1"):
        sample_atoms(3, weights, rng=rng)


def test_fair_counts_an_outcome_named_twice_once():
    assert fair("hello") == dict.fromkeys("helo", Fraction(1, 4))


@pytest.mark.claims("probability-02")
def test_independent_agrees_with_the_condition_and_covers_more():
    kinds = set()
    for A, B in product(EVENTS, repeat=2):
        if probability(DIE, B) > 0:
            by_condition = conditional_probability(DIE, A, B) == probability(DIE, A)
            assert independent(DIE, A, B) == by_condition
            kinds.add(by_condition)
        else:
            assert independent(DIE, A, B)
            with pytest.raises(ZeroDivisionError):
                conditional_probability(DIE, A, B)
    assert kinds == {True, False}
    eight, first_even = {o for o in DICE if sum(o) == 8}, {o for o in DICE if o[0] % 2 == 0}
    assert conditional_probability(DICE, eight, first_even) == Fraction(1, 6)
    assert conditional_probability(DICE, first_even, eight) == Fraction(3, 5)


def test_independent_is_not_misled_by_rounding():
    P = {o: 1 / 36 for o in DICE}
    six_first, seven = {o for o in P if o[0] == 6}, {o for o in P if sum(o) == 7}
    assert probability(P, six_first & seven) != probability(P, six_first) * probability(P, seven)
    assert independent(P, six_first, seven)
    assert not independent(P, six_first, seven | {(1, 1)})


@pytest.mark.claims("probability-03")
def test_bayes_on_events_is_the_conditional_probability_the_other_way_round():
    evens, pieces = {2, 4, 6}, [{1}, {2, 3}, {4, 5, 6}]
    prior = np.array([probability(DIE, B) for B in pieces])
    likelihood = np.array([conditional_probability(DIE, evens, B) for B in pieces])
    exact = [conditional_probability(DIE, B, evens) for B in pieces]
    assert total_probability(likelihood, prior) == probability(DIE, evens)
    assert list(bayes(likelihood, prior)) == exact != list(prior)
    with pytest.raises(ZeroDivisionError):
        bayes(0 * likelihood, prior)  # P(A) = 0


def test_log_sum_exp_is_the_logarithm_of_the_sum_and_outlives_its_terms(rng):
    a = rng.normal(size=(6, 4))
    direct = [np.log(sum(np.exp(entry) for entry in row)) for row in a]
    np.testing.assert_allclose(log_sum_exp(a), direct, rtol=1e-14)
    for shift in (-1e5, 1e5):
        np.testing.assert_allclose(log_sum_exp(a + shift), np.add(direct, shift), rtol=1e-12)
    rows = np.array([[-np.inf, 2.0], [-np.inf, -np.inf], [np.inf, 0.0], [-1000.0, 1000.0]])
    np.testing.assert_array_equal(log_sum_exp(rows), [2.0, -np.inf, np.inf, 1000.0])
    assert np.isnan(log_sum_exp(np.array([[np.nan, 0.0], [-np.inf, np.nan]]))).all()


# --- Random variables ------------------------------------------------------------------


@pytest.mark.claims("probability-04")
def test_push_forward_of_two_dice_is_the_law_of_their_sum():
    law = push_forward(DICE, sum)
    assert list(law) == list(range(2, 13))
    assert [36 * p for p in law.values()] == [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    p, x = np.array(list(law.values())), np.array(list(law))
    for g in (lambda t: t, lambda t: t**2, lambda t: (t - 7) ** 3):
        assert expectation(p, g(x)) == sum(P * g(sum(o)) for o, P in DICE.items())
    primes = {2, 3, 5, 7, 11}
    assert probability(law, primes) == probability(DICE, {o for o in DICE if sum(o) in primes})
    assert list(push_forward(DIE, lambda pips: -pips)) == [-6, -5, -4, -3, -2, -1]


@pytest.mark.claims("probability-05")
def test_narrow_normals_sift_and_integrate_to_the_number_one():
    a, errors = 0.7, []
    for eps in (0.2, 0.1, 0.05, 0.025):
        x, w = gauss_legendre(a - 12 * eps, a + 12 * eps, pieces=60)
        sifted = w @ (np.sin(x) * normal(a, eps**2)(x))
        assert sifted == pytest.approx(np.sin(a) * np.exp(-(eps**2) / 2), abs=1e-10)
        errors.append(abs(sifted - np.sin(a)))
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4, rtol=0.02)
    x, w = gauss_legendre(-1, 1, pieces=40)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    p = np.exp(multivariate_normal_log_density(grid, np.zeros(2), 0.01 * np.eye(2)))
    total = p @ np.outer(w, w).ravel()
    assert np.ndim(total) == 0 and total == pytest.approx(1, abs=1e-8)  # not the vector of ones


@pytest.mark.claims("probability-09")
def test_sample_atoms_draws_shares_near_p_and_means_near_the_expectation(rng):
    p, x, n = np.array([0.1, 0.0, 0.6, 0.3]), np.array([-1.0, 7.0, 0.0, 4.0]), 40_000
    drawn = sample_atoms(n, p, rng=rng)
    counts = np.bincount(drawn, minlength=4)
    assert counts[1] == 0
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p))).all()
    assert abs(x[drawn].mean() - expectation(p, x)) <= 5 * sqrt(covariance(p, x) / n)


def test_sample_atoms_never_draws_an_atom_of_weight_zero():
    class Ends:
        def random(self, n):
            return np.array([0.0, np.nextafter(1.0, 0.0)])  # all that a uniform number can be

    for scale in (1.0, 1 - 5e-7, 1 + 5e-7):
        weights = scale * np.array([0.0, 0.25, 0.75, 0.0])
        assert sample_atoms(2, weights, rng=Ends()).tolist() == [1, 2]


# --- Joint tables ----------------------------------------------------------------------


@pytest.mark.claims("probability-14")
def test_marginals_are_the_averages_of_conditionals(rng):
    joint = random_table(rng)
    p_X, p_Y = marginals(joint)
    np.testing.assert_allclose(p_X, [sum(joint[i, j] for i in range(4)) for j in range(5)])
    averaged = sum(p_X[j] * given_x(joint, j) for j in range(5))
    np.testing.assert_allclose(averaged, p_Y, rtol=1e-13)
    averaged = sum(p_Y[i] * given_y(joint, i) for i in range(4))
    np.testing.assert_allclose(averaged, p_X, rtol=1e-13)
    np.testing.assert_allclose(given_y(joint, 2) * p_Y[2], joint[2], rtol=1e-13)
    np.testing.assert_allclose(given_x(joint, 3) * p_X[3], joint[:, 3], rtol=1e-13)


@pytest.mark.claims("probability-14")
def test_conditional_is_defined_only_where_the_marginal_is_positive():
    joint = np.array([[Fraction(0), Fraction(1, 2)]] * 2)
    assert list(given_x(joint, 1)) == [Fraction(1, 2)] * 2
    for condition, table in ((given_x, joint), (given_y, joint.T)):
        with pytest.raises(ZeroDivisionError):
            condition(table, 0)


@pytest.mark.claims("probability-14")
def test_marginal_and_conditional_of_a_bivariate_normal_on_a_grid():
    mu, S = np.array([0.5, -1.0]), np.array([[2.0, 0.9], [0.9, 1.5]])
    y, w = gauss_legendre(-12, 12, pieces=40)
    for x in (-1.0, 0.3, 2.0):
        column = np.exp(multivariate_normal_log_density(np.c_[np.full_like(y, x), y], mu, S))
        p_x = w @ column
        assert p_x == pytest.approx(normal(mu[0], S[0, 0])(x), rel=1e-10)
        law = conditional_normal(mu, S, given=[0], value=np.array([x]))
        mean, variance = mu[1] + S[1, 0] / S[0, 0] * (x - mu[0]), S[1, 1] - S[1, 0] ** 2 / S[0, 0]
        assert law.mean == pytest.approx([mean]) and law.covariance == pytest.approx(variance)
        np.testing.assert_allclose(column / p_x, normal(mean, variance)(y), rtol=1e-9)


# --- Moments ---------------------------------------------------------------------------


@pytest.fixture
def law(rng):
    """Weights (7,) and atoms (7, 3) of a random vector."""
    return random_table(rng, 7), rng.normal(size=(7, 3)) * [1, 5, 0.2] + [10, 0, -3]


@pytest.mark.claims("probability-09")
def test_expectation_is_the_weighted_sum_and_linear(law, rng):
    p, x = law
    mu = [sum(p[i] * x[i, j] for i in range(7)) for j in range(3)]
    np.testing.assert_allclose(expectation(p, x), mu, rtol=1e-13)
    A, b = rng.normal(size=(2, 3)), rng.normal(size=2)
    np.testing.assert_allclose(expectation(p, x @ A.T + b), A @ mu + b, rtol=1e-12)


@pytest.mark.claims("probability-10")
def test_covariance_is_the_mean_outer_product_and_the_product_of_means_taken_off(law):
    p, x = law
    mu, S = expectation(p, x), covariance(p, x)
    outer = sum(p[i] * np.outer(x[i] - mu, x[i] - mu) for i in range(7))
    pairwise = [[p @ (u * v) - (p @ u) * (p @ v) for v in x.T] for u in x.T]
    np.testing.assert_allclose(S, outer, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(S, pairwise, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.diag(S), [covariance(p, u) for u in x.T], rtol=1e-12)
    far = x + 1e8  # an offset that costs E[X X^T] - mu mu^T all its digits
    np.testing.assert_allclose(covariance(p, far), S, rtol=1e-6, atol=1e-6)


@pytest.mark.claims("probability-10")
def test_covariance_of_an_affine_image(law, rng):
    (p, x), A, b = law, rng.normal(size=(2, 3)), rng.normal(size=2)
    image = A @ covariance(p, x) @ A.T
    np.testing.assert_allclose(covariance(p, x @ A.T + b), image, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("probability-11")
def test_second_moment_is_the_variance_only_about_a_zero_mean(law):
    p, x = law
    mu, S = expectation(p, x), covariance(p, x)
    np.testing.assert_allclose(second_moment(p, x), S + np.outer(mu, mu), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second_moment(p, x - mu), S, rtol=1e-13, atol=1e-13)
    t, w = gauss_legendre(-12, 18, pieces=100)
    q = w * normal(3, 1)(t)
    assert second_moment(q, t) == pytest.approx(10, abs=1e-8)
    assert covariance(q, t) == pytest.approx(1, abs=1e-8)


def test_second_moment_of_fractions_is_a_fraction():
    p, x = np.array([1, 3]) * Fraction(1, 4), np.array([0, 2])
    moments = second_moment(p, x), covariance(p, x)
    assert moments == (3, Fraction(3, 4)) and {type(m) for m in moments} == {Fraction}


@pytest.mark.claims("probability-12")
def test_every_covariance_is_symmetric_and_positive_semidefinite(rng):
    for _ in range(20):
        d = rng.integers(1, 6)
        p, x, a = random_table(rng, 3), rng.normal(size=(3, d)), rng.normal(size=d)
        S = covariance(p, x)  # of rank 2 at most
        np.testing.assert_array_equal(S, S.T)
        assert np.linalg.eigvalsh(S)[0] >= -1e-12 and is_psd(S)
        assert a @ S @ a == pytest.approx(p @ ((x - p @ x) @ a) ** 2, abs=1e-12)


@pytest.mark.claims("probability-13")
def test_is_pd_and_is_psd_of_hand_cases_and_of_constants():
    for S, pd, psd in (
        (np.eye(3), True, True),
        (np.diag([1.0, 0.0]), False, True),
        (np.zeros((2, 2)), False, True),
        (np.diag([1.0, -1.0]), False, False),
        (np.array([[2.0, 1.0], [1.0, 2.0]]), True, True),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), False, False),
        (-np.eye(2), False, False),
        (1e-200 * np.eye(2), True, True),
        (np.diag([1.0, 1e-13]), False, True),  # what rounding may make of 0
        (np.diag([1.0, -1e-13]), False, True),
        (np.diag([1.0, 1e-11]), True, True),
        (np.diag([1.0, -1e-11]), False, False),
    ):
        assert (is_pd(S), is_psd(S)) == (pd, psd)
    constants = np.tile([3, -7], (9, 1)).astype(object)
    np.testing.assert_array_equal(covariance(np.array([Fraction(1, 9)] * 9), constants), 0)


@pytest.mark.claims("probability-17")
def test_tower_property_and_total_variance(rng):
    joint, x = random_table(rng), rng.normal(size=5)
    p_X, p_Y = marginals(joint)
    means = np.array([given_y(joint, i) @ x for i in range(4)])  # E[X | Y = y_i]
    assert expectation(p_Y, means) == pytest.approx(expectation(p_X, x), rel=1e-13)
    within = p_Y @ [covariance(given_y(joint, i), x) for i in range(4)]
    assert within + covariance(p_Y, means) == pytest.approx(covariance(p_X, x), rel=1e-13)


@pytest.mark.claims("probability-20")
@pytest.mark.parametrize("p", [0.5, 0.1])
def test_chebyshev_bounds_how_often_the_mean_of_draws_strays(p):
    eps, tails = 0.1, []
    for m in range(1, 501):
        k = np.arange(m + 1)
        far = np.abs(k - m * p) > m * eps + 1e-9  # the mean is off by more than eps
        tails.append(np.exp(binomial_log_pmf(k, m, p))[far].sum())
    bounds = chebyshev(p * (1 - p), np.arange(1, 501), eps)
    assert (tails <= bounds + 1e-12).all() and max(bounds) == 1.0
    assert tails[-1] < 1e-3 < bounds[-1] == pytest.approx(p * (1 - p) / 5)


# --- Discrete families -----------------------------------------------------------------


@pytest.mark.claims("probability-06")
def test_binomial_is_the_distribution_of_a_sum_of_bernoullis():
    one = np.exp(bernoulli_log_pmf(np.array([0, 1]), 0.3))
    np.testing.assert_allclose(one, [0.7, 0.3], rtol=1e-15)
    law = np.ones(1)
    for n in range(1, 13):
        law, k = np.convolve(law, one), np.arange(n + 1)
        pmf = np.exp(binomial_log_pmf(k, n, 0.3))
        np.testing.assert_allclose(pmf, law, rtol=1e-12)
        by_the_book = [comb(n, i) * 0.3**i * 0.7 ** (n - i) for i in k]
        np.testing.assert_allclose(pmf, by_the_book, rtol=1e-12)
        moments = expectation(pmf, k), covariance(pmf, k)
        assert moments == pytest.approx((n * 0.3, n * 0.3 * 0.7))


@pytest.mark.claims("probability-06")
def test_poisson_is_the_limit_of_the_binomial_within_le_cams_bound():
    rate, k, distances = 2.5, np.arange(200), []
    poisson = np.exp(poisson_log_pmf(k, rate))
    by_the_book = [exp(-rate) * rate**i / factorial(i) for i in range(20)]
    np.testing.assert_allclose(poisson[:20], by_the_book, rtol=1e-12)
    assert (poisson.sum(), poisson @ k, covariance(poisson, k)) == pytest.approx((1, rate, rate))
    for n in (10, 100, 1000):
        distances.append(np.abs(np.exp(binomial_log_pmf(k, n, rate / n)) - poisson).sum() / 2)
        assert distances[-1] <= rate**2 / n
    assert distances == sorted(distances, reverse=True)


@pytest.mark.claims("probability-06")
def test_impossible_counts_have_probability_zero_and_certain_ones_one():
    k = np.array([-1, 0, 0.5, 1, 2, 3, np.inf, np.nan])
    assert np.exp(binomial_log_pmf(k, 2, 0.0)).tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert np.exp(binomial_log_pmf(k, 2, 1.0)).tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
    assert np.exp(poisson_log_pmf(k, 0.0)).tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert is_count(k).tolist() == [False, True, False, True, True, True, False, False]


def test_no_pmf_has_a_value_for_parameters_without_a_distribution():
    for log_pmf in (
        lambda: bernoulli_log_pmf(1, 1.5),
        lambda: bernoulli_log_pmf(0, -0.5),
        lambda: poisson_log_pmf(0, -1.0),
    ):
        with pytest.warns(RuntimeWarning, match="invalid value"):
            assert np.isnan(log_pmf())


def test_x_log_y_adds_nothing_where_the_factor_is_zero():
    x = np.array([0.0, 0.0, 2.0, -1.0])
    y = np.array([0.0, np.inf, 0.0, 0.0])
    assert x_log_y(x, y).tolist() == [0, 0, -np.inf, np.inf]
    assert x_log_y(3.0, np.exp(2.0)) == pytest.approx(6.0)


# --- Continuous families ---------------------------------------------------------------


def test_gauss_legendre_is_exact_up_to_its_degree_and_shares_out_its_pieces():
    for pieces, order in ((1, 4), (3, 4), (7, 2)):
        x, w = gauss_legendre(-1.0, 2.0, pieces, order)
        assert len(x) == len(w) == pieces * order and (np.diff(x) > 0).all()
        m = np.arange(2 * order + 1)
        sums, exact = w @ x[:, None] ** m, (2.0 ** (m + 1) - (-1.0) ** (m + 1)) / (m + 1)
        np.testing.assert_allclose(sums[:-1], exact[:-1], rtol=1e-12)
        assert sums[-1] != pytest.approx(exact[-1], rel=1e-12)
    x, w = gauss_legendre(0.0, 1.0)
    assert len(x) == 20 and w @ x**39 == pytest.approx(1 / 40, rel=1e-13)


@pytest.mark.claims("probability-07", "probability-09")
def test_densities_integrate_to_one_with_their_mean_and_variance():
    for density, low, high, mean, variance in (
        (lambda x: uniform_density(x, -1.5, 2.0), -1.5, 2.0, 0.25, 3.5**2 / 12),
        (normal(0.7, 2.25), -30, 30, 0.7, 2.25),
    ):
        x, w = gauss_legendre(low, high, pieces=400)
        p = w * density(x)
        moments = p.sum(), expectation(p, x), covariance(p, x)
        assert moments == pytest.approx((1, mean, variance), abs=1e-8)


@pytest.mark.claims("probability-07")
def test_probability_between_is_the_difference_of_the_cdf():
    for density, cdf, low, high in (
        (normal(0.7, 2.25), lambda x: normal_cdf(x, 0.7, 2.25), -1.0, 2.0),
        (lambda x: uniform_density(x, 1.0, 3.0), lambda x: uniform_cdf(x, 1.0, 3.0), 1.2, 1.5),
    ):
        between = probability_between(density, low, high)
        assert between == pytest.approx(cdf(high) - cdf(low), abs=1e-12)
    within = probability_between(normal(0.7, 2.25), 0.7 - 1.5, 0.7 + 1.5)
    assert within == pytest.approx(erf(1 / sqrt(2)), abs=1e-10)
    assert probability_between(normal(0.1, 0.01), -9.0, 9.0) == pytest.approx(1, abs=1e-12)


@pytest.mark.claims("probability-08")
def test_uniform_density_jumps_though_its_cdf_is_lipschitz():
    steps = 10.0 ** -np.arange(1, 13)
    jumps = uniform_density(steps, 0.0, 1.0) - uniform_density(-steps, 0.0, 1.0)
    np.testing.assert_array_equal(jumps, 1.0)  # a continuous density would let them tend to 0
    x = np.linspace(-0.5, 1.5, 401)[:, None]
    slopes = (uniform_cdf(x + steps, 0.0, 1.0) - uniform_cdf(x, 0.0, 1.0)) / steps
    assert slopes.min() >= 0 and slopes.max() <= 1 + 1e-3  # rounding, at the smallest step
    ends = np.array([0.9, 1.0, 3.0, 3.1])
    assert uniform_density(ends, 1.0, 3.0).tolist() == [0, 0.5, 0.5, 0]
    assert uniform_cdf(ends, 1.0, 3.0).tolist() == [0, 0, 1, 1]


def test_tails_of_the_normal_keep_their_digits():
    x, w = gauss_legendre(10, 40, pieces=300)
    assert normal_cdf(-10.0, 0, 1) == pytest.approx(w @ normal(0, 1)(x), rel=1e-10)
    assert normal_log_density(1e200, 0, 1e300) == pytest.approx(-0.5e100, rel=1e-9)


# --- Multivariate normal ---------------------------------------------------------------


@pytest.mark.claims("probability-18")
@pytest.mark.parametrize("d", [1, 2, 5])
def test_multivariate_normal_log_density_is_the_density_by_the_book(d, rng):
    mu, S, X = rng.normal(size=d), random_covariance(rng, d), 3 * rng.normal(size=(20, d))
    factor = (2 * np.pi) ** (-d / 2) * np.linalg.det(S) ** -0.5
    by_the_book = [factor * exp(-(x - mu) @ np.linalg.inv(S) @ (x - mu) / 2) for x in X]
    np.testing.assert_allclose(
        multivariate_normal_log_density(X, mu, S), np.log(by_the_book), rtol=1e-10
    )


@pytest.mark.claims("probability-18")
def test_multivariate_normal_of_many_independent_numbers_is_their_product(rng):
    X, sigma2 = rng.normal(size=(2, 500)), rng.uniform(1e-6, 0.1, size=500)
    factors = normal_log_density(X, 0.5, sigma2).sum(axis=1)
    assert np.prod(sigma2) == 0  # |Sigma| underflows, and its logarithm does not
    together = multivariate_normal_log_density(X, np.full(500, 0.5), np.diag(sigma2))
    np.testing.assert_allclose(together, factors, rtol=1e-12)


@pytest.mark.parametrize(
    "ask",
    [
        lambda S: is_pd(S) or is_psd(S),
        lambda S: multivariate_normal_log_density(S, S[0], S),
        lambda S: sample_multivariate_normal(1, S[0], S, rng=np.random.default_rng(0)),
        lambda S: conditional_normal(S[0], S, given=[0], value=1.0),
    ],
)
def test_a_matrix_that_is_not_symmetric_is_refused(ask):
    with pytest.raises(ValueError, match="must be symmetric"):
        ask(np.array([[1.0, 0.5], [0.0, 1.0]]))


@pytest.mark.claims("probability-18")
def test_samples_are_mu_plus_l_z_and_their_projections_normal(rng):
    mu, S, n = np.array([1.0, -2.0, 0.5]), random_covariance(rng, 3), 20_000
    X = sample_multivariate_normal(n, mu, S, rng=np.random.default_rng(4))
    Z = np.random.default_rng(4).standard_normal((n, 3))
    np.testing.assert_allclose(X[7], mu + np.linalg.cholesky(S) @ Z[7], rtol=1e-12)
    for a in rng.normal(size=(5, 3)):
        mean, variance = a @ mu, a @ S @ a
        assert abs((X @ a).mean() - mean) <= 5 * sqrt(variance / n)
        assert abs((X @ a).var() - variance) <= 5 * variance * sqrt(2 / n)
        share = np.mean(np.abs(X @ a - mean) <= sqrt(variance))
        assert abs(share - erf(1 / sqrt(2))) <= 5 * sqrt(0.25 / n)


@pytest.mark.claims("probability-19")
def test_second_parameter_is_the_covariance_and_not_sigma():
    x, w = gauss_legendre(-40, 40, pieces=200)
    for parameter in (4.0, 2.0):  # sigma^2 for sigma = 2, and sigma itself, as printed
        Sigma = parameter * np.eye(1)
        p = w * np.exp(multivariate_normal_log_density(x[:, None], np.zeros(1), Sigma))
        assert covariance(p, x) == pytest.approx(parameter, abs=1e-8)


@pytest.mark.parametrize("given", [[0], [2, 0], [1, 3]])
def test_joint_normal_is_marginal_times_conditional(given, rng):
    mu, S, X = rng.normal(size=4), random_covariance(rng, 4), rng.normal(size=(6, 4))
    others = [j for j in range(4) if j not in given]
    joint = multivariate_normal_log_density(X, mu, S)
    marginal = multivariate_normal_log_density(X[:, given], mu[given], S[np.ix_(given, given)])
    for x, log_p, log_marginal in zip(X, joint, marginal, strict=True):
        law = conditional_normal(mu, S, given, x[given])
        conditional = multivariate_normal_log_density(x[None, others], *law).item()
        assert log_marginal + conditional == pytest.approx(log_p)


def test_conditional_normal_counts_from_the_end_and_takes_masks(rng):
    mu, S = rng.normal(size=3), random_covariance(rng, 3)
    law = conditional_normal(mu, S, [2], np.array([0.7]))
    for given in ([-1], np.array([False, False, True])):
        same = conditional_normal(mu, S, given, np.array([0.7]))
        np.testing.assert_array_equal(same.mean, law.mean)
        np.testing.assert_array_equal(same.covariance, law.covariance)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("probability-15")
def test_table_drawn_has_the_numbers_of_the_notes_and_its_margins_are_their_sums():
    from figures.probability import joint_table_with_margins

    ax = Figure().subplots()
    joint_table_with_margins(ax)
    written = {text.get_position(): text.get_text() for text in ax.texts}
    joint = np.array([[Fraction(written[j, i]) for j in range(4)] for i in range(4)])
    np.testing.assert_array_equal(joint * 32, [[4, 2, 1, 1], [2, 4, 1, 1], [2] * 4, [8, 0, 0, 0]])
    p_X, p_Y = marginals(joint)
    assert [Fraction(written[j, 4]) for j in range(4)] == list(p_X)
    assert [Fraction(written[4, i]) for i in range(4)] == list(p_Y)
    (heat,) = ax.images
    np.testing.assert_array_equal(heat.get_array()[:4, :4], joint.astype(float))
    heads = {label.get_text() for label in ax.get_xticklabels() + ax.get_yticklabels()}
    assert heads >= {"$p_Y(y)$", "$p_X(x)$"}


def test_shares_drawn_end_within_a_tenth():
    from figures.probability import law_of_large_numbers

    left, right = Figure().subplots(1, 2)
    law_of_large_numbers(left, right)
    runs = [line.get_ydata() for line in left.lines if len(line.get_ydata()) == 500]
    assert len(runs) == 20 and all(abs(run[-1] - 0.5) <= 0.1 for run in runs)
