"""The probability chapter: every statement of the notes, checked by a second route."""

from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, erf, exp, factorial, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.datasets import joint_table, load_iris
from mlnotes.probability import (
    affine_moments,
    bayes,
    bernoulli_log_pmf,
    binomial_log_pmf,
    chebyshev,
    check_space,
    conditional_normal,
    conditional_probability,
    covariance,
    exclusive,
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
    marginal_normal,
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


def moments_by_quadrature(density, a, b, pieces=400):
    """Integral, mean and variance of a density."""
    x, w = gauss_legendre(a, b, pieces)
    p = w * density(x)
    mean = p @ x
    return p.sum(), mean, p @ (x - mean) ** 2


# ---------------------------------------------------------------------------------------
# Finite spaces
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("probability-01")
def test_the_three_axioms_hold_for_all_pairs_of_events_of_a_die():
    assert probability(DIE, set(DIE)) == 1 and probability(DIE, set()) == 0
    for A, B in product(EVENTS, repeat=2):
        union, both = probability(DIE, A | B), probability(DIE, A & B)
        assert union == probability(DIE, A) + probability(DIE, B) - both
        assert exclusive(A, B) == (union == probability(DIE, A) + probability(DIE, B))
    for A in EVENTS:
        assert probability(DIE, A) == Fraction(len(A), 6) >= 0
        assert probability(DIE, set(DIE) - A) == 1 - probability(DIE, A)


@pytest.mark.claims("probability-01")
def test_weights_that_are_not_a_probability_space_are_refused():
    assert check_space(DIE) is DIE
    with pytest.raises(ValueError, match=r"weights must be >= 0; got P\({'b'}\) = -1"):
        check_space({"a": 2, "b": -1})
    with pytest.raises(ValueError, match=r"got P\({'b'}\) = -1/8"):
        check_space({"a": Fraction(9, 8), "b": Fraction(-1, 8)})
    with pytest.raises(ValueError, match="must sum to 1; got 2"):
        check_space({"a": 1, "b": 1})
    with pytest.raises(ValueError, match=r"weights must be >= 0; got P\({'a'}\) = nan"):
        check_space({"a": float("nan"), "b": 1})


def test_outcomes_named_twice_are_one_outcome():
    assert fair("hello") == dict.fromkeys("helo", Fraction(1, 4))


def test_many_small_weights_still_sum_to_one():
    n = 100_000  # added one by one, they miss 1 by 2e-12
    assert len(check_space({i: 1 / n for i in range(n)})) == n


@pytest.mark.claims("probability-02")
def test_conditioning_on_two_dice():
    eight = {o for o in DICE if sum(o) == 8}
    first_even = {o for o in DICE if o[0] % 2 == 0}
    first_six = {o for o in DICE if o[0] == 6}
    second_odd = {o for o in DICE if o[1] % 2 == 1}
    assert conditional_probability(DICE, eight, first_even) == Fraction(1, 6)
    assert independent(DICE, first_six, second_odd)
    assert not independent(DICE, eight, first_six)


@pytest.mark.claims("probability-02")
def test_both_forms_of_independence_agree_and_the_product_form_covers_more():
    kinds = set()
    for A, B in product(EVENTS, repeat=2):
        if probability(DIE, B) > 0:
            by_condition = conditional_probability(DIE, A, B) == probability(DIE, A)
            assert independent(DIE, A, B) == by_condition
            kinds.add(by_condition)
        else:
            assert independent(DIE, A, B)
            with pytest.raises(ValueError, match=r"P\(B\) > 0 only; got P\(B\) = 0"):
                conditional_probability(DIE, A, B)
    assert kinds == {True, False}


@pytest.mark.claims("probability-03")
def test_bayes_is_the_column_of_the_joint_table_over_its_sum(rng):
    joint = random_table(rng)  # rows B_j, columns A_i
    prior = joint.sum(axis=1)
    for i in range(joint.shape[1]):
        likelihood = joint[:, i] / prior
        assert total_probability(likelihood, prior) == pytest.approx(joint[:, i].sum(), abs=1e-14)
        posterior = bayes(likelihood, prior)
        np.testing.assert_allclose(
            posterior, joint[:, i] / joint[:, i].sum(), rtol=1e-14, atol=1e-14
        )
        assert posterior.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.claims("probability-03")
def test_bayes_on_events_is_the_conditional_probability_the_other_way_round():
    evens, pieces = {2, 4, 6}, [{1}, {2, 3}, {4, 5, 6}]
    prior = np.array([probability(DIE, B) for B in pieces])
    likelihood = np.array([conditional_probability(DIE, evens, B) for B in pieces])
    exact = [conditional_probability(DIE, B, evens) for B in pieces]
    assert list(bayes(likelihood, prior)) == exact
    with pytest.raises(ValueError, match=r"got P\(A\) = 0"):
        bayes(np.zeros(2), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"got P\(A\) = nan"):
        bayes(np.array([0.5, np.nan]), np.array([0.5, 0.5]))


@pytest.mark.parametrize("likelihood", [np.array([[0.5], [1.0]]), np.array([0.5])])
def test_a_likelihood_that_is_not_one_number_per_piece_is_refused(likelihood):
    with pytest.raises(ValueError, match="size 2 is different from 1|size 1 is different from 2"):
        total_probability(likelihood, np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="size"):
        bayes(likelihood, np.array([0.5, 0.5]))


def test_log_sum_exp_is_the_logarithm_of_the_sum_and_outlives_its_terms(rng):
    a = rng.normal(size=(6, 4))
    direct = [np.log(sum(np.exp(entry) for entry in row)) for row in a]
    np.testing.assert_allclose(log_sum_exp(a), direct, rtol=1e-14)
    for shift in (-1e5, 1e5):
        np.testing.assert_allclose(log_sum_exp(a + shift), np.add(direct, shift), rtol=1e-12)
    rows = np.array([[-np.inf, 2.0], [-np.inf, -np.inf], [np.inf, 0.0], [-1000.0, 1000.0]])
    np.testing.assert_array_equal(log_sum_exp(rows), [2.0, -np.inf, np.inf, 1000.0])
    assert np.isnan(log_sum_exp(np.array([[np.nan, 0.0], [-np.inf, np.nan]]))).all()


# ---------------------------------------------------------------------------------------
# Random variables
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("probability-04")
def test_the_sum_of_two_dice_pushes_their_distribution_forward():
    law = push_forward(DICE, sum)
    assert list(law) == list(range(2, 13))
    assert [36 * p for p in law.values()] == [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    assert check_space(law) is law
    p, x = np.array(list(law.values())), np.array(list(law))
    for g in (lambda t: t, lambda t: t**2, lambda t: (t - 7) ** 3):
        assert expectation(p, g(x)) == sum(P * g(sum(o)) for o, P in DICE.items())
    primes = {2, 3, 5, 7, 11}
    assert probability(law, primes) == probability(DICE, {o for o in DICE if sum(o) in primes})
    assert probability(law, primes) + probability(law, set(law) - primes) == 1


def test_a_random_variable_is_evaluated_once_per_outcome():
    asked = []
    law = push_forward(DIE, lambda pips: asked.append(pips) or -pips)
    assert asked == list(DIE) and list(law) == [-6, -5, -4, -3, -2, -1]


@pytest.mark.claims("probability-05")
def test_narrow_normals_sift_and_integrate_to_the_number_one():
    a, errors = 0.7, []
    for eps in (0.2, 0.1, 0.05, 0.025):
        x, w = gauss_legendre(a - 12 * eps, a + 12 * eps, pieces=60)
        sifted = w @ (np.sin(x) * np.exp(normal_log_density(x, a, eps**2)))
        assert sifted == pytest.approx(np.sin(a) * np.exp(-(eps**2) / 2), abs=1e-10)
        errors.append(abs(sifted - np.sin(a)))
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4, rtol=0.02)
    x, w = gauss_legendre(-1, 1, pieces=40)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    p = np.exp(multivariate_normal_log_density(grid, np.zeros(2), 0.01 * np.eye(2)))
    total = p @ np.outer(w, w).ravel()
    assert np.ndim(total) == 0 and total == pytest.approx(1, abs=1e-8)  # not the vector of ones


def test_atoms_are_drawn_with_their_weights(rng):
    p, n = np.array([0.1, 0.0, 0.6, 0.3]), 40_000
    counts = np.bincount(sample_atoms(n, p, rng=rng), minlength=4)
    assert counts[1] == 0
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p))).all()
    exact = [Fraction(1, 3), Fraction(2, 3)]
    assert set(sample_atoms(50, exact, rng=rng)) == {0, 1}
    draws = [sample_atoms(50, scale * p, rng=np.random.default_rng(2)) for scale in (1.0, 8.0)]
    np.testing.assert_array_equal(*draws)  # of weights only the proportions count

    class Ends:
        def random(self, n):
            return np.array([0.0, np.nextafter(1.0, 0.0)])  # all that a uniform number can be

    for scale in (1.0, 1.1, 1 / 3):
        weights = scale * np.array([0.0, 0.25, 0.75, 0.0])
        assert sample_atoms(2, weights, rng=Ends()).tolist() == [1, 2]


@pytest.mark.parametrize("p", [[], [0.0, 0.0], [2.0, -1.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_atoms_are_not_drawn_with_invalid_weights(p, rng):
    with pytest.raises(ValueError, match=r"weights must be >= 0 and their sum > 0 .*; got \["):
        sample_atoms(3, p, rng=rng)


# ---------------------------------------------------------------------------------------
# Joint tables
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("probability-14")
def test_marginals_and_conditionals_of_random_tables(rng):
    joint = random_table(rng)
    p_X, p_Y = marginals(joint)
    loops_X = [sum(joint[i, j] for i in range(4)) for j in range(5)]
    np.testing.assert_allclose(p_X, loops_X, rtol=1e-15, atol=1e-15)
    assert p_X.sum() == pytest.approx(1, abs=1e-14) and p_Y.sum() == pytest.approx(1, abs=1e-14)
    averaged = sum(p_X[j] * given_x(joint, j) for j in range(5))
    np.testing.assert_allclose(averaged, p_Y, rtol=1e-14, atol=1e-14)
    averaged = sum(p_Y[i] * given_y(joint, i) for i in range(4))
    np.testing.assert_allclose(averaged, p_X, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(given_y(joint, 2) * p_Y[2], joint[2], rtol=1e-15, atol=1e-15)


@pytest.mark.claims("probability-14")
def test_conditioning_on_probability_zero_is_refused():
    joint = np.array([[0.0, 0.5], [0.0, 0.5]])
    with pytest.raises(ValueError, match=r"p_X\(x_j\) > 0 only; got p_X\(x_j\) = 0"):
        given_x(joint, 0)
    with pytest.raises(ValueError, match=r"p_Y\(y_i\) > 0 only; got p_Y\(y_i\) = 0"):
        given_y(joint.T, 0)
    with pytest.raises(ValueError, match=r"p_X\(x_j\) > 0 only; got p_X\(x_j\) = nan"):
        given_x(np.array([[np.nan, 0.5], [0.0, 0.5]]), 0)


@pytest.mark.claims("probability-14")
def test_marginal_and_conditional_of_a_bivariate_normal_on_a_grid():
    mu, S = np.array([0.5, -1.0]), np.array([[2.0, 0.9], [0.9, 1.5]])
    x, w = gauss_legendre(-12, 12, pieces=40)

    def density(points):
        return np.exp(multivariate_normal_log_density(points, mu, S))

    for at in (-1.0, 0.3, 2.0):
        column = density(np.column_stack([np.full_like(x, at), x]))  # y varies
        p_x = w @ column
        assert p_x == pytest.approx(np.exp(normal_log_density(at, mu[0], S[0, 0])), abs=1e-6)
        law = conditional_normal(mu, S, given=[0], value=np.array([at]))
        mean, variance = mu[1] + S[1, 0] / S[0, 0] * (at - mu[0]), S[1, 1] - S[1, 0] ** 2 / S[0, 0]
        assert law.mean == pytest.approx([mean]) and law.covariance == pytest.approx(variance)
        np.testing.assert_allclose(
            column / p_x, np.exp(normal_log_density(x, mean, variance)), rtol=1e-6, atol=1e-6
        )


def test_table_of_the_notes_answers_with_fractions():
    joint = joint_table()
    p_X, p_Y = marginals(joint)
    assert list(p_X) == [Fraction(1, k) for k in (2, 4, 8, 8)] and set(p_Y) == {Fraction(1, 4)}
    assert list(given_y(joint, 1)) == [Fraction(1, k) for k in (4, 2, 8, 8)]
    assert (joint != np.outer(p_Y, p_X)).any()


# ---------------------------------------------------------------------------------------
# Moments
# ---------------------------------------------------------------------------------------


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


@pytest.mark.claims("probability-09")
def test_expectations_of_the_families():
    k = np.arange(400)
    assert expectation(np.exp(binomial_log_pmf(k, 12, 0.3)), k) == pytest.approx(3.6, abs=1e-10)
    assert expectation(np.exp(poisson_log_pmf(k, 4.2)), k) == pytest.approx(4.2, abs=1e-10)
    _, mean, _ = moments_by_quadrature(lambda x: uniform_density(x, 1.0, 4.0), 1, 4)
    assert mean == pytest.approx(2.5, abs=1e-8)
    _, mean, _ = moments_by_quadrature(lambda x: np.exp(normal_log_density(x, -2, 9)), -40, 40)
    assert mean == pytest.approx(-2, abs=1e-8)


@pytest.mark.claims("probability-09")
def test_sample_means_are_near_the_expectation(rng):
    p, x, n = np.array([0.2, 0.5, 0.3]), np.array([-1.0, 0.0, 4.0]), 10_000
    mu, sigma2 = p @ x, p @ (x - p @ x) ** 2
    mean = x[sample_atoms(n, p, rng=rng)].mean()
    assert abs(mean - mu) <= 5 * sqrt(sigma2 / n)


@pytest.mark.claims("probability-10")
def test_covariance_three_ways(law):
    p, x = law
    mu = expectation(p, x)
    S = covariance(p, x)
    outer = sum(p[i] * np.outer(x[i] - mu, x[i] - mu) for i in range(7))
    pairwise = [[p @ (u * v) - (p @ u) * (p @ v) for v in x.T] for u in x.T]
    np.testing.assert_allclose(S, outer, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(S, pairwise, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.diag(S), [p @ (u - p @ u) ** 2 for u in x.T], rtol=1e-12)


@pytest.mark.claims("probability-10")
def test_covariance_of_a_sample_and_of_its_affine_image(law, rng):
    p, x = law
    sample = rng.normal(size=(30, 4)) + 1e6  # an offset that costs the moment formula its digits
    np.testing.assert_allclose(
        covariance(np.full(30, 1 / 30), sample), np.cov(sample.T, ddof=0), rtol=1e-8, atol=1e-9
    )
    A, b = rng.normal(size=(2, 3)), rng.normal(size=2)
    mean, variance = affine_moments(expectation(p, x), covariance(p, x), A, b)
    np.testing.assert_allclose(expectation(p, x @ A.T + b), mean, rtol=1e-12)
    np.testing.assert_allclose(covariance(p, x @ A.T + b), variance, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("moment", [second_moment, covariance])
def test_moments_of_pairs_need_vectors_and_a_weight_for_each(moment):
    p, x = np.array([0.5, 0.5]), np.array([0.0, 4.0])
    with pytest.raises(ValueError, match=r"p must be \(k,\) and x \(k, d\); got shapes \(2,\) and"):
        moment(p, x)
    assert moment(p, x[:, None]).shape == (1, 1)
    with pytest.raises(ValueError, match="got shapes|size"):
        moment(np.array([1.0]), x[:, None])


@pytest.mark.claims("probability-11")
def test_second_moment_is_the_variance_only_about_a_zero_mean(law):
    p, x = law
    mu = expectation(p, x)
    np.testing.assert_allclose(
        second_moment(p, x), covariance(p, x) + np.outer(mu, mu), rtol=1e-12, atol=1e-12
    )
    centred = x - mu
    np.testing.assert_allclose(
        second_moment(p, centred), covariance(p, centred), rtol=1e-13, atol=1e-13
    )
    t, w = gauss_legendre(-12, 18, pieces=100)
    q = w * np.exp(normal_log_density(t, 3, 1))
    assert second_moment(q, t[:, None]).item() == pytest.approx(10, abs=1e-8)
    assert covariance(q, t[:, None]).item() == pytest.approx(1, abs=1e-8)


@pytest.mark.claims("probability-12")
def test_every_covariance_is_symmetric_and_positive_semidefinite(rng):
    for _ in range(20):
        d = rng.integers(1, 6)
        p, x = random_table(rng, 3), rng.normal(size=(3, d))  # of rank 2 at most
        S = covariance(p, x)
        np.testing.assert_array_equal(S, S.T)
        assert np.linalg.eigvalsh(S)[0] >= -1e-12 and is_psd(S)
        a = rng.normal(size=d)
        square = p @ ((x - p @ x) @ a) ** 2
        assert a @ S @ a == pytest.approx(square, abs=1e-12)
        assert a @ S @ a == pytest.approx(covariance(p, (x @ a)[:, None]).item(), abs=1e-12)


@pytest.mark.claims("probability-13")
def test_definiteness_of_hand_cases_and_of_constants():
    for S, pd, psd in (
        (np.eye(3), True, True),
        (np.diag([1.0, 0.0]), False, True),
        (np.zeros((2, 2)), False, True),
        (np.diag([1.0, -1.0]), False, False),
        (-np.eye(2), False, False),
        (np.diag([1e-200, 1e-200]), True, True),
        (np.diag([1.0, 1e-13]), False, True),  # what rounding may make of 0
        (np.diag([1.0, -1e-13]), False, True),
        (np.diag([1.0, 1e-11]), True, True),
        (np.diag([1.0, -1e-11]), False, False),
        (1e9 * np.diag([1.0, 1e-13]), False, True),
    ):
        assert (is_pd(S), is_psd(S)) == (pd, psd)
    constants = np.tile([3.0, -7.0], (9, 1))
    np.testing.assert_array_equal(np.cov(constants.T), 0)
    np.testing.assert_allclose(covariance(np.full(9, 1 / 9), constants), 0, rtol=1e-28, atol=1e-28)
    exact = np.array([Fraction(1, 9)] * 9), constants.astype(int).astype(object)
    np.testing.assert_array_equal(covariance(*exact), 0)


@pytest.mark.claims("probability-13")
def test_eigenvalues_and_cholesky_give_the_same_verdict(rng):
    verdicts = []
    for _ in range(60):
        A = rng.normal(size=(4, 4))
        S = A + A.T + 5 * rng.random() * np.eye(4)
        try:
            np.linalg.cholesky(S)
            by_cholesky = True
        except np.linalg.LinAlgError:
            by_cholesky = False
        assert is_pd(S) == by_cholesky
        verdicts.append(by_cholesky)
    assert 5 < sum(verdicts) < 55


def test_definiteness_is_defined_for_symmetric_matrices_only():
    with pytest.raises(ValueError, match=r"S must be square; got shape \(2, 3\)"):
        is_psd(np.ones((2, 3)))
    with pytest.raises(ValueError, match="S must be symmetric"):
        is_pd(np.array([[1.0, 2.0], [0.0, 1.0]]))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="S must be finite; it contains NaN"):
            is_psd(np.array([[1.0, bad], [bad, 1.0]]))


def test_definiteness_of_fractions_and_of_single_precision(rng):
    p, x = (
        np.array([Fraction(1, 3)] * 3),
        np.array([[Fraction(i), Fraction(i * i)] for i in range(3)]),
    )
    assert is_pd(covariance(p, x)) and not is_pd(covariance(p, x[:, [0, 0]]))
    A, B = rng.normal(size=(2, 3, 3)).astype(np.float32)
    S = affine_moments(np.zeros(3), A @ A.T, B, b=0.0)[1]
    assert S.dtype == np.float32 and (S != S.T).any() and is_pd(S)  # S = S^T but for rounding
    with pytest.raises(ValueError, match="S must be symmetric"):
        is_pd(S.astype(float) + np.triu(np.full((3, 3), 1e-5), 1))


@pytest.mark.claims("probability-17")
def test_tower_property_and_total_variance(rng):
    joint, x = random_table(rng), rng.normal(size=5)
    p_X, p_Y = marginals(joint)
    means = np.array([given_y(joint, i) @ x for i in range(4)])  # E[X | Y = y_i]
    assert p_Y @ means == pytest.approx(p_X @ x, abs=1e-14)
    within = p_Y @ [given_y(joint, i) @ (x - means[i]) ** 2 for i in range(4)]
    between = p_Y @ (means - p_Y @ means) ** 2
    assert within + between == pytest.approx(p_X @ (x - p_X @ x) ** 2, abs=1e-13)


@pytest.mark.claims("probability-20")
@pytest.mark.parametrize("p", [0.5, 0.1])
def test_the_mean_of_many_draws_strays_less_than_chebyshev_allows(p):
    eps, tails = 0.1, []
    for m in range(1, 501):
        k = np.arange(m + 1)
        far = np.abs(k - m * p) > m * eps + 1e-9  # the mean is off by more than eps
        tails.append(np.exp(binomial_log_pmf(k, m, p))[far].sum())
    bounds = chebyshev(p * (1 - p), np.arange(1, 501), eps)
    assert (tails <= bounds + 1e-12).all() and max(bounds) == 1.0
    assert tails[-1] < 1e-3 < bounds[-1] == pytest.approx(p * (1 - p) / 5)


# ---------------------------------------------------------------------------------------
# Discrete families
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("probability-06")
def test_binomial_is_the_distribution_of_a_sum_of_bernoullis():
    one = np.exp(bernoulli_log_pmf(np.array([0, 1]), 0.3))
    np.testing.assert_allclose(one, [0.7, 0.3], rtol=1e-15)
    law = np.ones(1)
    for n in range(1, 13):
        law, k = np.convolve(law, one), np.arange(n + 1)
        pmf = np.exp(binomial_log_pmf(k, n, 0.3))
        np.testing.assert_allclose(pmf, law, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(
            pmf, [comb(n, i) * 0.3**i * 0.7 ** (n - i) for i in k], rtol=1e-12
        )
        assert pmf.sum() == pytest.approx(1, abs=1e-12)
        assert pmf @ k == pytest.approx(n * 0.3) and pmf @ (k - 0.3 * n) ** 2 == pytest.approx(
            n * 0.21
        )


@pytest.mark.claims("probability-06")
def test_poisson_is_the_limit_of_the_binomial_within_le_cams_bound():
    rate, k, distances = 2.5, np.arange(200), []
    poisson = np.exp(poisson_log_pmf(k, rate))
    np.testing.assert_allclose(
        poisson[:20], [exp(-rate) * rate**i / factorial(i) for i in range(20)], rtol=1e-12
    )
    assert poisson.sum() == pytest.approx(1, abs=1e-12)
    assert poisson @ k == pytest.approx(rate) and poisson @ (k - rate) ** 2 == pytest.approx(rate)
    for n in (10, 100, 1000):
        distances.append(np.abs(np.exp(binomial_log_pmf(k, n, rate / n)) - poisson).sum() / 2)
        assert distances[-1] <= rate**2 / n
    assert distances == sorted(distances, reverse=True)


@pytest.mark.claims("probability-06")
def test_impossible_events_have_probability_zero_and_certain_ones_one():
    k = np.array([-1, 0, 1, 2, 3])
    assert np.exp(binomial_log_pmf(k, 2, 0.0)).tolist() == [0, 1, 0, 0, 0]
    assert np.exp(binomial_log_pmf(k, 2, 1.0)).tolist() == [0, 0, 0, 1, 0]
    assert np.exp(poisson_log_pmf(k, 0.0)).tolist() == [0, 1, 0, 0, 0]
    assert np.exp(binomial_log_pmf(np.array([0.5]), 2, 0.5)) == 0
    assert np.exp(poisson_log_pmf(np.array([0.5]), 0.5)) == 0
    assert np.exp(poisson_log_pmf(np.array([np.inf, np.nan]), 0.5)).tolist() == [0, 0]
    assert binomial_log_pmf(10**6, 10**9, 1e-3) == pytest.approx(  # Stirling: the top of the law
        -0.5 * np.log(2 * np.pi * 10**6 * (1 - 1e-3)), rel=1e-3
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: bernoulli_log_pmf(1, 1.5), "p must be between 0 and 1; got 1.5"),
        (lambda: binomial_log_pmf(1, 3, np.array([0.5, -0.1])), "between 0 and 1; got -0.1"),
        (lambda: binomial_log_pmf(1, 3, np.nan), "p must be between 0 and 1; got nan"),
        (lambda: binomial_log_pmf(0, -1, 0.5), "n must be a count 0, 1, 2, ...; got -1"),
        (lambda: binomial_log_pmf(1, 2.5, 0.5), "n must be a count 0, 1, 2, ...; got 2.5"),
        (lambda: poisson_log_pmf(0, -1.0), "rate must be >= 0; got -1.0"),
    ],
)
def test_parameters_without_a_distribution_are_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_counts_of_any_type_are_counts():
    assert (
        is_count(np.array([0, 2, -1, 0.5, np.inf, -np.inf, np.nan])).tolist()
        == [True] * 2 + [False] * 5
    )
    for kind, k in ((np.uint8, 255), (np.int8, 127), (bool, 1), (np.float32, 9)):
        small = np.array([k], dtype=kind)  # k + 1 is none of the 256 numbers of a byte
        assert binomial_log_pmf(small, 300, 0.4) == binomial_log_pmf(k, 300, 0.4)
        assert poisson_log_pmf(small, 80.0) == poisson_log_pmf(k, 80.0)


def test_nothing_is_added_where_the_factor_is_zero():
    x = np.array([0.0, 0.0, 2.0, -1.0])
    y = np.array([0.0, np.inf, 0.0, 0.0])
    assert x_log_y(x, y).tolist() == [0, 0, -np.inf, np.inf]
    assert x_log_y(3.0, np.exp(2.0)) == pytest.approx(6.0)


# ---------------------------------------------------------------------------------------
# Continuous families
# ---------------------------------------------------------------------------------------


def test_quadrature_is_exact_for_polynomials_and_shares_out_its_pieces():
    for pieces, order in ((1, 4), (3, 4), (7, 2)):
        x, w = gauss_legendre(-1.0, 2.0, pieces, order)
        assert len(x) == len(w) == pieces * order and (np.diff(x) > 0).all()
        for m in range(2 * order):
            assert w @ x**m == pytest.approx((2.0 ** (m + 1) - (-1.0) ** (m + 1)) / (m + 1))
        assert w @ x ** (2 * order) != pytest.approx(
            (2.0 ** (2 * order + 1) + 1) / (2 * order + 1), rel=1e-12
        )
    x, w = gauss_legendre(0.0, 1.0)
    assert len(x) == 20 and w @ x**39 == pytest.approx(1 / 40, rel=1e-13)
    assert gauss_legendre(Fraction(1, 2), 1)[1].sum() == pytest.approx(0.5)


def test_intervals_without_a_length_are_refused():
    for ends in ((-np.inf, 0.0), (0.0, np.inf), (np.nan, 1.0)):
        with pytest.raises(ValueError, match=r"quadrature needs a finite interval; got \["):
            probability_between(lambda x: np.exp(normal_log_density(x, 0, 1)), *ends)
    for law in (uniform_density, uniform_cdf):
        for a in (1.0, 2.0):
            with pytest.raises(ValueError, match=f"must have a < b; got a = {a}, b = 1.0"):
                law(0.5, a, 1.0)


@pytest.mark.claims("probability-07")
def test_densities_integrate_to_one_with_their_mean_and_variance():
    a, b, mu, sigma2 = -1.5, 2.0, 0.7, 2.25
    for density, low, high, mean, variance in (
        (lambda x: uniform_density(x, a, b), a, b, (a + b) / 2, (b - a) ** 2 / 12),
        (lambda x: np.exp(normal_log_density(x, mu, sigma2)), mu - 30, mu + 30, mu, sigma2),
    ):
        found = moments_by_quadrature(density, low, high)
        assert found == pytest.approx((1, mean, variance), abs=1e-8)


@pytest.mark.claims("probability-07")
def test_probability_of_an_interval_is_the_integral_and_the_difference_of_the_cdf():
    mu, sigma = 0.7, 1.5

    def normal(x):
        return np.exp(normal_log_density(x, mu, sigma**2))

    within = probability_between(normal, mu - sigma, mu + sigma)
    assert within == pytest.approx(erf(1 / sqrt(2)), abs=1e-10)
    for low, high in ((-3.0, -1.0), (-1.0, 2.0), (4.0, 9.0)):
        difference = normal_cdf(high, mu, sigma**2) - normal_cdf(low, mu, sigma**2)
        assert probability_between(normal, low, high) == pytest.approx(difference, abs=1e-12)
    difference = uniform_cdf(1.5, 1.0, 3.0) - uniform_cdf(1.2, 1.0, 3.0)
    uniform = probability_between(lambda x: uniform_density(x, 1.0, 3.0), 1.2, 1.5)
    assert uniform == pytest.approx(difference, abs=1e-14) == pytest.approx(0.15)
    x = np.array([0.9, 1.0, 3.0, 3.1])
    assert uniform_density(x, 1.0, 3.0).tolist() == [0, 0.5, 0.5, 0]
    assert uniform_cdf(x, 1.0, 3.0).tolist() == [0, 0, 1, 1]
    narrow = probability_between(lambda t: np.exp(normal_log_density(t, 0.1, 0.01)), -9.0, 9.0)
    assert narrow == pytest.approx(1, abs=1e-12)


def test_the_tails_of_the_normal_keep_their_digits():
    x, w = gauss_legendre(10, 40, pieces=300)
    tail = w @ np.exp(normal_log_density(x, 0, 1))
    assert normal_cdf(-10.0, 0, 1) == pytest.approx(tail, rel=1e-10)
    assert normal_log_density(1e200, 0, 1e300) == pytest.approx(-0.5e100, rel=1e-9)


@pytest.mark.claims("probability-08")
def test_the_uniform_density_jumps_though_its_cdf_is_lipschitz():
    steps = 10.0 ** -np.arange(1, 13)
    jumps = uniform_density(steps, 0.0, 1.0) - uniform_density(-steps, 0.0, 1.0)
    np.testing.assert_array_equal(jumps, 1.0)  # a continuous density would let them tend to 0
    x = np.linspace(-0.5, 1.5, 401)[:, None]
    slopes = (uniform_cdf(x + steps, 0.0, 1.0) - uniform_cdf(x, 0.0, 1.0)) / steps
    assert slopes.min() >= 0 and slopes.max() <= 1 + 1e-3  # rounding, at the smallest step
    assert probability_between(lambda t: uniform_density(t, 0.0, 1.0), 0.0, 1.0) == pytest.approx(1)


# ---------------------------------------------------------------------------------------
# Multivariate normal
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("probability-18")
def test_density_by_cholesky_is_the_density_by_the_book(rng):
    for d in (1, 2, 5):
        mu, S, X = rng.normal(size=d), random_covariance(rng, d), 3 * rng.normal(size=(20, d))
        by_the_book = [
            (2 * np.pi) ** (-d / 2)
            * np.linalg.det(S) ** -0.5
            * exp(-(x - mu) @ np.linalg.inv(S) @ (x - mu) / 2)
            for x in X
        ]
        ours = multivariate_normal_log_density(X, mu, S)
        np.testing.assert_allclose(ours, np.log(by_the_book), rtol=1e-10)


@pytest.mark.claims("probability-18")
def test_density_integrates_to_one_and_factorises_where_sigma_is_diagonal(rng):
    mu, S = np.array([1.0, -0.5]), np.array([[1.0, 0.6], [0.6, 0.8]])
    x, w = gauss_legendre(-9, 9, pieces=30)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    p = np.exp(multivariate_normal_log_density(grid, mu, S)) * np.outer(w, w).ravel()
    assert p.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(expectation(p, grid), mu, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(covariance(p, grid), S, rtol=1e-6, atol=1e-6)
    sigma2, X = np.array([0.3, 2.0, 5.0]), rng.normal(size=(10, 3))
    factors = sum(normal_log_density(X[:, j], 0.5, sigma2[j]) for j in range(3))
    together = multivariate_normal_log_density(X, np.full(3, 0.5), np.diag(sigma2))
    np.testing.assert_allclose(together, factors, rtol=1e-12)


@pytest.mark.claims("probability-18")
def test_samples_are_mu_plus_l_z_and_their_projections_normal(rng):
    mu, S, n = np.array([1.0, -2.0, 0.5]), random_covariance(rng, 3), 20_000
    X = sample_multivariate_normal(n, mu, S, rng=np.random.default_rng(4))
    L = np.linalg.cholesky(S)
    np.testing.assert_allclose(L @ L.T, S, rtol=1e-12)
    Z = np.random.default_rng(4).standard_normal((n, 3))
    np.testing.assert_allclose(X[7], mu + L @ Z[7], rtol=1e-12)
    for a in rng.normal(size=(5, 3)):
        mean, variance = a @ mu, a @ S @ a
        assert abs((X @ a).mean() - mean) <= 5 * sqrt(variance / n)
        assert abs((X @ a).var() - variance) <= 5 * variance * sqrt(2 / n)
        share = np.mean(np.abs(X @ a - mean) <= sqrt(variance))
        assert abs(share - erf(1 / sqrt(2))) <= 5 * sqrt(0.25 / n)


@pytest.mark.claims("probability-18")
def test_far_points_and_a_thousand_dimensions_stay_finite():
    far = multivariate_normal_log_density(np.array([[1e6, 0.0]]), np.zeros(2), np.eye(2))
    assert far == pytest.approx(-0.5e12, rel=1e-9)
    d = 1000
    wide = multivariate_normal_log_density(np.zeros((1, d)), np.zeros(d), 1e-6 * np.eye(d))
    assert wide == pytest.approx(d * normal_log_density(0.0, 0.0, 1e-6), rel=1e-12)


@pytest.mark.parametrize(
    "Sigma, message",
    [
        (np.diag([1.0, -2.0]), "Sigma must be positive definite; its smallest eigenvalue is -2"),
        (np.diag([1.0, 0.0]), "Sigma must be positive definite; its smallest eigenvalue is 0"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "Sigma must be symmetric"),
        (np.ones((1, 2)), r"Sigma must be square; got shape \(1, 2\)"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "Sigma must be finite; it contains NaN"),
    ],
)
def test_matrices_that_are_not_covariances_are_refused(Sigma, message, rng):
    with pytest.raises(ValueError, match=message):
        multivariate_normal_log_density(np.zeros((1, 2)), np.zeros(2), Sigma)
    with pytest.raises(ValueError, match=message):
        sample_multivariate_normal(1, np.zeros(2), Sigma, rng=rng)


@pytest.mark.parametrize(
    ("X", "mu"),
    [(np.zeros((3, 1)), np.zeros(2)), (np.zeros(2), np.zeros(2)), (np.zeros((3, 2)), np.zeros(1))],
)
def test_shapes_that_numpy_would_stretch_are_refused(X, mu):
    with pytest.raises(ValueError, match=r"X must be \(n, 2\) and mu \(2,\), .*; got shapes"):
        multivariate_normal_log_density(X, mu, np.eye(2))


def test_density_with_a_covariance_in_single_precision(rng):
    A, B = rng.normal(size=(2, 3, 3)).astype(np.float32)
    S, X = B @ (A @ A.T) @ B.T, rng.normal(size=(5, 3)).astype(np.float32)
    assert (S != S.T).any()
    exact = multivariate_normal_log_density(
        X.astype(float), np.zeros(3), (S + S.T).astype(float) / 2
    )
    np.testing.assert_allclose(multivariate_normal_log_density(X, np.zeros(3), S), exact, rtol=1e-2)


@pytest.mark.claims("probability-19")
def test_the_second_parameter_is_the_covariance_and_not_sigma():
    def density(Sigma):
        return lambda x: np.exp(multivariate_normal_log_density(x[:, None], np.zeros(1), Sigma))

    sigma = 2.0
    _, _, variance = moments_by_quadrature(density(np.array([[sigma**2]])), -40, 40)
    _, _, as_printed = moments_by_quadrature(density(np.array([[sigma]])), -40, 40)
    assert variance == pytest.approx(4, abs=1e-8)
    assert as_printed == pytest.approx(2, abs=1e-8)  # and sigma = 2 means a variance of 4


@pytest.mark.parametrize("given", [[0], [2, 0], [1, 3]])
def test_joint_normal_is_marginal_times_conditional(given, rng):
    mu, S, X = rng.normal(size=4), random_covariance(rng, 4), rng.normal(size=(6, 4))
    others = [j for j in range(4) if j not in given]
    marginal = marginal_normal(mu, S, given)
    for x in X:
        conditional = conditional_normal(mu, S, given, x[given])
        product_rule = multivariate_normal_log_density(x[None, given], *marginal)
        product_rule += multivariate_normal_log_density(x[None, others], *conditional)
        assert product_rule == pytest.approx(multivariate_normal_log_density(x[None], mu, S))


def test_coordinates_given_may_be_counted_from_the_end_masked_or_none(rng):
    mu, S = rng.normal(size=3), random_covariance(rng, 3)
    law = conditional_normal(mu, S, [2], np.array([0.7]))
    assert law.mean.shape == (2,)
    for given in ([-1], np.array([False, False, True]), range(2, 3)):
        for value in (np.array([0.7]), 0.7):
            same = conditional_normal(mu, S, given, value)
            np.testing.assert_array_equal(same.mean, law.mean)
            np.testing.assert_array_equal(same.covariance, law.covariance)
    nothing = conditional_normal(mu, S, [], np.array([]))
    np.testing.assert_array_equal(nothing.mean, mu)
    np.testing.assert_array_equal(nothing.covariance, S)
    with pytest.raises(ValueError, match=r"value must be \(2,\), as given; got shape \(1,\)"):
        conditional_normal(mu, S, [0, 1], np.array([0.7]))


def test_conditional_mean_of_the_irises_is_the_line_of_least_squares():
    X = load_iris().X[:, 2:]
    n = len(X)
    p = np.full(n, 1 / n)
    law = conditional_normal(expectation(p, X), covariance(p, X), given=[0], value=np.array([4.0]))
    slope, offset = np.polyfit(X[:, 0], X[:, 1], 1)
    assert law.mean == pytest.approx([slope * 4 + offset], rel=1e-9)
    residual = X[:, 1] - slope * X[:, 0] - offset
    assert law.covariance.item() == pytest.approx(residual @ residual / n, rel=1e-9)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("probability-15")
def test_table_drawn_has_the_numbers_of_the_notes_and_its_margins_are_their_sums():
    from figures.probability import joint_table_with_margins

    ax = Figure().subplots()
    joint_table_with_margins(ax)
    written = {text.get_position(): text.get_text() for text in ax.texts}
    joint = np.array([[Fraction(written[j, i]) for j in range(4)] for i in range(4)])
    np.testing.assert_array_equal(joint * 32, [[4, 2, 1, 1], [2, 4, 1, 1], [2] * 4, [8, 0, 0, 0]])
    assert [Fraction(written[j, 4]) for j in range(4)] == list(joint.sum(axis=0))
    assert [Fraction(written[4, i]) for i in range(4)] == list(joint.sum(axis=1))
    assert written[4, 4] == "1"
    (heat,) = ax.images
    np.testing.assert_array_equal(heat.get_array()[:4, :4], joint.astype(float))
    assert heat.get_array().mask[4].all() and heat.get_array().mask[:, 4].all()
    assert ax.get_xticklabels()[4].get_text() == "$p_Y(y)$"
    assert ax.get_yticklabels()[4].get_text() == "$p_X(x)$"


def test_curves_drawn_of_the_bivariate_normal_are_its_marginal_and_conditional():
    from figures.probability import AT, MEAN, SIGMA, bivariate_normal

    left, right = Figure().subplots(1, 2)
    bivariate_normal(left, right)
    for line, law in zip(
        right.lines,
        (marginal_normal(MEAN, SIGMA, [1]), conditional_normal(MEAN, SIGMA, [0], np.array([AT]))),
        strict=True,
    ):
        y, p = line.get_data()
        expected = np.exp(normal_log_density(y, law.mean.item(), law.covariance.item()))
        np.testing.assert_allclose(p, expected, rtol=1e-12)
    ellipse = left.lines[0].get_xydata() - MEAN
    squared = np.sum(ellipse @ np.linalg.inv(SIGMA) * ellipse, axis=1)
    np.testing.assert_allclose(squared, 1, rtol=1e-9)


def test_tails_drawn_fall_and_stay_below_the_bound():
    from figures.probability import law_of_large_numbers

    left, right = Figure().subplots(1, 2)
    law_of_large_numbers(left, right)
    bound, tail = (line.get_ydata() for line in right.lines)
    assert (tail <= bound + 1e-12).all() and tail[-1] < 1e-3 < bound[-1]
    *paths, low, high, centre = left.lines
    assert len(paths) == 20
    m = paths[0].get_xdata()
    outside = [np.abs(path.get_ydata() - 0.5) > 0.1 for path in paths]
    assert not np.array(outside)[:, m == 500].any() and np.array(outside)[:, m == 5].any()
