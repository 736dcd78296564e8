"""The mixture chapter: every statement of the notes, checked by a second route."""

from functools import partial
from itertools import islice, pairwise, product
from typing import NamedTuple

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mlnotes.base import ConvergenceWarning, NotFittedError, iterate
from mlnotes.clustering import KMeans, kmeans_plus_plus
from mlnotes.datasets import load_digits, load_iris, make_blobs
from mlnotes.mixture import (
    KINDS,
    MATRICES,
    STARTS,
    GaussianMixture,
    Gaussians,
    bernoullis,
    complete_log_likelihood,
    e_step,
    em,
    entropy,
    expected_log_likelihood,
    floored,
    gaussians,
    generate,
    initialise,
    least_variances,
    log_joint,
    log_likelihood,
    maximise,
    mixture_density,
    mixture_log_density,
    mixture_moments,
    responsibilities,
    weighted_scatter,
)
from mlnotes.probability import gauss_legendre, multivariate_normal_log_density


def random_mixture(rng, K=3, d=2, kind="full", floor=0.0):
    """Weights, and components of any shape the kind allows, a few widths apart."""
    A = rng.normal(size=(K, d, d))
    full = A @ np.swapaxes(A, 1, 2) + 0.3 * np.eye(d)
    variances = rng.uniform(0.3, 3, size=(K, d))
    covariances = {"full": full, "tied": full[0], "diag": variances, "spherical": variances[:, 0]}
    means = 3 * rng.normal(size=(K, d))
    return rng.dirichlet(np.full(K, 3.0)), gaussians(means, covariances[kind], kind, floor)


def density_by_the_book(x, mu, Sigma):
    """N(x | mu, Sigma) as the notes print it: inverse, determinant, exponential."""
    d = len(mu)
    norm = (2 * np.pi) ** (d / 2) * np.linalg.det(Sigma) ** 0.5
    return np.exp(-0.5 * (x - mu) @ np.linalg.inv(Sigma) @ (x - mu)) / norm


def table_by_the_book(X, components):
    """N(x_i | mu_k, Sigma_k), one number after the other."""
    pairs = list(zip(components.means, components.matrices, strict=True))
    return np.array([[density_by_the_book(x, *pair) for pair in pairs] for x in X])


def plane(components, reach=9.0):
    """Nodes and weights of a quadrature over the plane around the components."""
    low = components.means.min(axis=0) - reach * 2
    high = components.means.max(axis=0) + reach * 2
    (x, u), (y, v) = (gauss_legendre(a, b, 12) for a, b in zip(low, high, strict=True))
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), np.outer(v, u).ravel()


def assignments(n, K):
    """All K^n one-hot Z."""
    return [np.eye(K)[list(k)] for k in product(range(K), repeat=n)]


def states(X, weights, components, steps):
    """The start and the states after each of `steps` steps."""
    return list(islice(em(X, weights, components), steps + 1))


def converged(X, weights, components, tol=1e-12, max_iter=5000):
    run = iterate(em(X, weights, components), "gain", tol, max_iter)
    assert run.converged
    return run.state


def two_bumps(rng, n=60):
    """One feature, two groups: n samples about -3 and n about 3."""
    return np.concatenate([rng.normal(-3, 1, size=n), rng.normal(3, 1, size=n)])[:, None]


# ---------------------------------------------------------------------------------------
# The mixture
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize("kind", KINDS)
def test_density_integrates_to_one_and_has_the_moments_of_the_formula(rng, kind):
    weights, components = random_mixture(rng, kind=kind)
    points, w = plane(components)
    p = mixture_density(points, weights, components)
    assert (p >= 0).all() and w @ p == pytest.approx(1, abs=1e-9)
    mean, covariance = mixture_moments(weights, components.means, components.matrices)
    np.testing.assert_allclose(mean, (w * p) @ points, rtol=0, atol=1e-8)
    by_quadrature = (points - mean).T @ ((w * p)[:, None] * (points - mean))
    np.testing.assert_allclose(covariance, by_quadrature, rtol=0, atol=1e-7)
    second = sum(
        p * (S + np.outer(mu, mu))
        for p, mu, S in zip(weights, components.means, components.matrices, strict=True)
    )
    np.testing.assert_allclose(covariance, second - np.outer(mean, mean), rtol=1e-10)


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3])
def test_one_component_is_the_normal_density_and_several_are_the_weighted_sum(rng, kind, d):
    weights, components = random_mixture(rng, K=4, d=d, kind=kind)
    X = 3 * rng.normal(size=(50, d))
    normals = [
        multivariate_normal_log_density(X, mu, Sigma)
        for mu, Sigma in zip(components.means, components.matrices, strict=True)
    ]
    np.testing.assert_allclose(components.log_density(X), np.transpose(normals), rtol=1e-10)
    by_the_book = np.exp(normals).T @ weights
    np.testing.assert_allclose(mixture_density(X, weights, components), by_the_book, rtol=1e-10)
    alone = mixture_log_density(X, np.eye(4)[2], components)
    np.testing.assert_allclose(alone, normals[2], rtol=1e-10)


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize("weights", [[0.5, 0.4], [1.2, -0.2], [0.5, 0.5 + 1e-5], [np.nan, 1.0]])
def test_weights_off_the_simplex_are_refused(weights):
    components = gaussians([[0.0], [1.0]], [1.0, 1.0], "spherical")
    with pytest.raises(ValueError, match="prior must be >= 0 with the sum 1; got"):
        mixture_density(np.array([[0.0]]), np.array(weights), components)


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize(
    "covariances, kind, message",
    [
        ([[[1.0, 2.0], [2.0, 1.0]]], "full", "positive definite; the smallest eigenvalue is -1"),
        ([[1.0, 0.0], [0.0, 0.0]], "tied", "positive definite; the smallest eigenvalue is 0"),
        (
            [[[1.0, 0.5], [0.0, 1.0]]],
            "full",
            "covariances must be symmetric; it differs from its transpose by 0.5",
        ),
        ([[1.0, 0.0]], "diag", "variances must be > 0; the smallest is 0"),
        ([-2.0], "spherical", "variances must be > 0; the smallest is -2"),
        ([np.nan], "spherical", "variances must be > 0; the smallest is nan"),
        (
            [[[np.nan, 0.0], [0.0, 1.0]]],
            "full",
            "covariances must be finite; it contains NaN or infinity 1 times",
        ),
        ([[1.0, 1.0]], "full", r"full covariances must have shape \(1, 2, 2\); got \(1, 2\)"),
        ([1.0, 2.0], "spherical", r"spherical covariances must have shape \(1,\); got \(2,\)"),
        ([1.0], "round", "kind must be one of 'full', 'tied', 'diag', 'spherical'; got 'round'"),
    ],
)
def test_covariances_that_are_none_are_refused(covariances, kind, message):
    with pytest.raises(ValueError, match=message):
        gaussians([[0.0, 0.0]], covariances, kind)


@pytest.mark.claims("mixture-01")
def test_weights_are_one_for_each_component():
    components = gaussians([[0.0], [1.0]], [1.0, 1.0], "spherical")
    with pytest.raises(ValueError, match="could not be broadcast"):
        mixture_density(np.array([[0.0]]), np.array([0.5, 0.25, 0.25]), components)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_covariances_are_symmetric_in_any_unit(unit):
    nearly = np.array([[[2.0, 0.5 + 1e-11], [0.5, 1.0]]])
    np.testing.assert_allclose(gaussians([[0.0, 0.0]], nearly * unit).matrices, nearly * unit)
    with pytest.raises(ValueError, match="covariances must be symmetric; it differs"):
        gaussians([[0.0, 0.0]], (nearly + [[0, 1e-6], [0, 0]]) * unit)


def test_shapes_that_numpy_would_stretch_are_refused():
    with pytest.raises(ValueError, match=r"means must have shape \(K, d\); got \(2,\)"):
        gaussians([0.0, 1.0], [1.0, 1.0], "spherical")
    for kind in KINDS:
        components = gaussians(np.zeros((2, 3)), _like(kind, 1.0, 2, 3), kind)
        with pytest.raises(ValueError, match="X must have 3 features; got 1"):
            components.log_density(np.zeros((4, 1)))


@pytest.mark.claims("mixture-02")
@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_distribution_of_the_formula(rng, kind):
    n, K = 40_000, 3
    weights, components = random_mixture(rng, K=K, d=2, kind=kind)
    X, Z = generate(n, weights, components, rng=rng)
    assert set(Z.ravel()) == {0, 1} and (Z.sum(axis=1) == 1).all()
    standard_error = np.sqrt(weights * (1 - weights) / n)
    assert (np.abs(Z.mean(axis=0) - weights) < 5 * standard_error).all()
    laws = [(X, *mixture_moments(weights, components.means, components.matrices))]
    for k in range(K):
        laws.append((X[Z[:, k] == 1], components.means[k], components.matrices[k]))
    for sample, mean, Sigma in laws:
        D = sample - mean
        products = D[:, :, None] * D[:, None, :]
        for values, expected in ((D, np.zeros(2)), (products, Sigma)):
            error = 5 * values.std(axis=0) / np.sqrt(len(sample))
            assert (np.abs(values.mean(axis=0) - expected) < error).all()


@pytest.mark.claims("mixture-02")
def test_marginalising_the_hidden_choice_gives_the_mixture(rng):
    weights, components = random_mixture(rng, K=4)
    X = 3 * rng.normal(size=(30, 2))
    table = table_by_the_book(X, components)
    np.testing.assert_allclose(np.exp(log_joint(X, weights, components)), weights * table)
    summed = sum(weights[k] * table[:, k] for k in range(4))
    np.testing.assert_allclose(mixture_density(X, weights, components), summed, rtol=1e-12)


@pytest.mark.claims("mixture-03")
def test_printed_distribution_of_z_is_one_for_every_z(rng):
    weights = rng.dirichlet(np.ones(5))
    Z = np.eye(5)
    correct = np.prod(weights**Z, axis=1)
    np.testing.assert_array_equal(correct, weights)
    assert correct.sum() == pytest.approx(1)
    printed = np.array([weights.sum() for _ in Z])
    np.testing.assert_allclose(printed, 1)
    assert printed.sum() == pytest.approx(5)


@pytest.mark.claims("mixture-04")
def test_printed_density_given_z_integrates_to_the_number_of_components(rng):
    weights, components = random_mixture(rng, K=3)
    points, w = plane(components)
    densities = np.exp(components.log_density(points))
    printed = densities.sum(axis=1)  # the same for every z
    assert w @ printed == pytest.approx(3, abs=1e-8)
    given = [np.prod(densities**z, axis=1) for z in np.eye(3)]
    np.testing.assert_allclose(w @ np.transpose(given), 1, rtol=0, atol=1e-8)
    prior = np.prod(weights ** np.eye(3), axis=1)
    np.testing.assert_allclose(
        prior @ given, mixture_density(points, weights, components), rtol=1e-12
    )


# ---------------------------------------------------------------------------------------
# The likelihood
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("mixture-05")
@pytest.mark.parametrize("kind", KINDS)
def test_log_likelihood_is_the_log_of_the_product(rng, kind):
    weights, components = random_mixture(rng, kind=kind)
    X = 3 * rng.normal(size=(8, 2))
    direct = np.prod(table_by_the_book(X, components) @ weights)
    assert log_likelihood(X, weights, components) == pytest.approx(np.log(direct), rel=1e-10)


@pytest.mark.claims("mixture-05")
def test_log_sum_exp_is_finite_where_the_product_underflows():
    components = gaussians([[0.0], [1.0]], [1.0, 1.0], "spherical")
    X, weights = np.array([[101.0], [-100.0]]), np.array([0.5, 0.5])
    assert not (table_by_the_book(X, components) @ weights).any()
    half = np.log(0.5 / np.sqrt(2 * np.pi))  # the nearer component alone, at 100 sigma
    assert log_likelihood(X, weights, components) == pytest.approx(2 * (half - 5000), rel=1e-12)


@pytest.mark.claims("mixture-05")
def test_likelihood_its_log_and_the_negative_agree_on_the_best_mean(rng):
    X, grid = two_bumps(rng, n=4), np.linspace(-5, 5, 201)
    mixtures = [gaussians([[-3.0], [m]], [1.0, 1.0], "spherical") for m in grid]
    weights = np.array([0.5, 0.5])
    L = [np.prod(table_by_the_book(X, components) @ weights) for components in mixtures]
    log_L = [log_likelihood(X, weights, components) for components in mixtures]
    assert np.argmax(L) == np.argmax(log_L) == np.argmin(np.negative(log_L))
    assert grid[np.argmax(L)] == pytest.approx(X[4:].mean(), abs=0.3)


@pytest.mark.claims("mixture-06")
def test_printed_loss_has_no_minimiser_and_the_corrected_one_falls(rng):
    X = two_bumps(rng)
    weights, components = np.array([0.4, 0.6]), gaussians([[-1.0], [2.0]], [1.0, 4.0], "spherical")

    def printed(t):
        return log_likelihood(X, weights, components._replace(means=components.means + t))

    t = np.array([1e2, 1e3, 1e4])
    L = np.array([printed(far) for far in t])
    assert (np.diff([printed(0), *L]) < 0).all()
    np.testing.assert_allclose(L / t**2, -len(X) / (2 * 4), rtol=0.2)  # the wider one leads
    np.testing.assert_allclose(L[-1] / t[-1] ** 2, -len(X) / (2 * 4), rtol=1e-2)
    run = states(X, weights, components, 30)
    corrected = -np.array([log_likelihood(X, s.weights, s.components) for s in run])
    assert (np.diff(corrected) < 1e-9).all() and corrected[-1] < corrected[0] - 50


@pytest.mark.claims("mixture-07")
def test_swapped_optima_are_equal_and_the_point_between_them_is_worse(rng):
    X = two_bumps(rng)
    best = converged(X, *initialise(X, np.repeat(np.eye(2), 60, axis=0)))
    pi, c = best.weights, best.components
    swapped = gaussians(c.means[::-1], c.covariances[::-1])
    l_best = log_likelihood(X, pi, c)
    assert log_likelihood(X, pi[::-1], swapped) == pytest.approx(l_best, rel=1e-12)
    middle = gaussians((c.means + swapped.means) / 2, (c.covariances + swapped.covariances) / 2)
    l_middle = log_likelihood(X, (pi + pi[::-1]) / 2, middle)
    assert -l_middle > -l_best + 10  # above the chord between two equal values: not convex


@pytest.mark.claims("mixture-07")
def test_equal_components_stay_for_ever_though_others_are_better(rng):
    X = two_bumps(rng)
    one = np.array([X.mean()]), X.var()
    pi = np.array([0.3, 0.7])
    start = gaussians([one[0]] * 2, [one[1]] * 2, "spherical")
    for state in states(X, pi, start, 50):
        np.testing.assert_allclose(state.responsibilities, np.tile(pi, (len(X), 1)), rtol=1e-10)
        np.testing.assert_allclose(state.components.means, [one[0]] * 2, rtol=0, atol=1e-10)
        np.testing.assert_allclose(state.components.covariances, one[1], rtol=1e-10)
    apart = converged(X, pi, gaussians([[-1.0], [1.0]], [1.0, 1.0], "spherical"))
    assert apart.objective > state.objective + 0.1


@pytest.mark.claims("mixture-08")
@pytest.mark.parametrize("d, first", [(1, 14), (3, 8)])  # p_2(x_1) counts for less and less
def test_likelihood_has_no_maximum_unless_the_covariances_have_a_floor(rng, d, first):
    X, pi = rng.normal(size=(20, d)), np.array([0.5, 0.5])

    def loss(eps):
        components = gaussians([X[0], np.zeros(d)], [eps, 1.0], "spherical")
        return -log_likelihood(X, pi, components)

    losses = [loss(10.0**-k) for k in range(first, 31)]
    np.testing.assert_allclose(np.diff(losses), -d / 2 * np.log(10), rtol=0, atol=1e-6)
    floor = 1e-3
    bound = -len(X) * d / 2 * np.log(2 * np.pi * floor)  # no density is above (2 pi floor)^(-d/2)
    narrow = gaussians([X[0], np.zeros(d)], [floor, 1.0], "spherical", floor)
    last = states(X, pi, narrow, 200)[-1]
    assert last.components.covariances.min() >= floor
    assert log_likelihood(X, last.weights, last.components) < bound


@pytest.mark.claims("mixture-09")
def test_complete_likelihood_is_a_product_and_sums_to_the_incomplete_one(rng):
    weights, components = random_mixture(rng, K=2)
    X = 3 * rng.normal(size=(5, 2))
    table = table_by_the_book(X, components)
    total = 0
    for Z in assignments(5, 2):
        literal = np.prod([weights[k] * table[i, k] for i, k in enumerate(Z.argmax(axis=1))])
        l_c = complete_log_likelihood(X, Z, weights, components)
        assert l_c == pytest.approx(np.log(literal), rel=1e-12)
        total += np.exp(l_c)
    incomplete = np.exp(log_likelihood(X, weights, components))
    assert total == pytest.approx(incomplete, rel=1e-12)


def test_a_component_of_weight_zero_counts_for_nothing_in_the_complete_likelihood(rng):
    weights, components = random_mixture(rng, K=2)
    X = rng.normal(size=(4, 2))
    none, all_first = np.array([1.0, 0.0]), np.tile([1.0, 0.0], (4, 1))
    expected = log_likelihood(X, none, components)
    assert complete_log_likelihood(X, all_first, none, components) == pytest.approx(expected)
    assert complete_log_likelihood(X, 1 - all_first, none, components) == -np.inf


# ---------------------------------------------------------------------------------------
# E-step
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("mixture-10")
def test_responsibilities_are_the_marginals_of_the_posterior_over_all_assignments(rng):
    weights, components = random_mixture(rng, K=3)
    X = 2 * rng.normal(size=(4, 2))
    R = responsibilities(X, weights, components)
    np.testing.assert_allclose(R.sum(axis=1), 1, rtol=1e-12)
    every = assignments(4, 3)
    p = np.exp([complete_log_likelihood(X, Z, weights, components) for Z in every])
    np.testing.assert_allclose(R, np.tensordot(p / p.sum(), every, axes=1), rtol=1e-10)


@pytest.mark.claims("mixture-10")
def test_two_components_of_equal_covariance_make_a_logistic_sigmoid(rng):
    (p0, p1), c = random_mixture(rng, K=2, d=3, kind="tied")
    X = 3 * rng.normal(size=(40, 3))
    P = np.linalg.inv(c.covariances)
    w = P @ (c.means[1] - c.means[0])
    b = np.log(p1 / p0) + (c.means[0] @ P @ c.means[0] - c.means[1] @ P @ c.means[1]) / 2
    sigmoid = 1 / (1 + np.exp(-(X @ w + b)))
    R = responsibilities(X, np.array([p0, p1]), c)
    np.testing.assert_allclose(R[:, 1], sigmoid, rtol=1e-10)


@pytest.mark.claims("mixture-10")
@pytest.mark.parametrize("kind", KINDS)
def test_far_samples_have_responsibilities_too(rng, kind):
    weights, components = random_mixture(rng, kind=kind)
    X = np.vstack([np.eye(2), -np.eye(2)])[:, None] * np.array([1e3, 1e8, 1e150])[:, None]
    R = responsibilities(X.reshape(-1, 2), weights, components)
    assert np.isfinite(R).all()
    np.testing.assert_allclose(R.sum(axis=1), 1, rtol=1e-12)


def test_responsibilities_are_right_where_the_log_density_has_lost_its_decimals():
    components = gaussians([[0.0], [0.0]], [1.0, 1.0], "spherical")
    x = np.array([[1e9]])  # ln p = -5e17, whose neighbours are 64 away
    assert responsibilities(x, np.array([0.2, 0.8]), components)[0] == pytest.approx([0.5, 0.5])
    R, log_p = e_step(x, np.array([0.2, 0.8]), components)
    np.testing.assert_allclose(R.sum(axis=1), 1, rtol=1e-15)
    assert log_p == pytest.approx(-5e17, rel=1e-12)


class Uniform:
    """One density: 1 on the unit interval."""

    def log_density(self, X):
        return np.where((X > 0) & (X < 1), 0.0, -np.inf)


def test_a_sample_without_any_density_is_told():
    with pytest.raises(ValueError, match=r"X\[1\] must be possible in some class"):
        e_step(np.array([[0.5], [2.0]]), np.ones(1), Uniform())


@pytest.mark.claims("mixture-11")
def test_printed_denominator_leaves_rows_and_weights_below_one(rng):
    weights, components = random_mixture(rng, K=3)
    X, _ = generate(50, weights, components, rng=rng)
    P = table_by_the_book(X, components)
    printed = weights * P / P.sum(axis=1, keepdims=True)
    rows = printed.sum(axis=1)
    np.testing.assert_allclose(rows, P @ weights / P.sum(axis=1), rtol=1e-12)
    assert (rows < 1).all()
    assert printed.mean(axis=0).sum() < 0.9  # the weights after one M-step
    correct = responsibilities(X, weights, components)
    np.testing.assert_allclose(correct, weights * P / (P @ weights)[:, None], rtol=1e-10)
    assert maximise(X, correct, components)[0].sum() == pytest.approx(1, rel=1e-12)
    alone = np.eye(3)[0] * P / P.sum(axis=1, keepdims=True)
    assert (alone.sum(axis=1) < 1).any()  # even with one weight that is 1


@pytest.mark.claims("mixture-12")
def test_the_mean_of_the_posterior_is_the_prior_but_the_posterior_is_not(rng):
    weights, components = random_mixture(rng, K=3)
    components = components._replace(means=np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]]))
    points, w = plane(components)
    p = mixture_density(points, weights, components)
    R = responsibilities(points, weights, components)
    np.testing.assert_allclose((w * p) @ R, weights, rtol=0, atol=1e-8)
    at_means = responsibilities(components.means, weights, components)
    np.testing.assert_allclose(at_means, np.eye(3), rtol=0, atol=1e-3)


@pytest.mark.claims("mixture-13")
def test_expected_log_likelihood_is_the_sum_over_all_assignments(rng):
    (weights, new), (old_weights, old) = (random_mixture(rng, K=2) for _ in range(2))
    X = 2 * rng.normal(size=(6, 2))
    every = assignments(6, 2)
    p = np.exp([complete_log_likelihood(X, Z, old_weights, old) for Z in every])
    l_c = [complete_log_likelihood(X, Z, weights, new) for Z in every]
    R = responsibilities(X, old_weights, old)
    Q = expected_log_likelihood(X, R, weights, new)
    assert Q == pytest.approx(p @ l_c / p.sum(), rel=1e-10)


@pytest.mark.claims("mixture-13")
def test_likelihood_is_q_plus_entropy_and_for_other_responsibilities_plus_kl(rng):
    weights, components = random_mixture(rng, K=3)
    X = 2 * rng.normal(size=(20, 2))
    l = log_likelihood(X, weights, components)  # noqa: E741 the notes' symbol
    exact = responsibilities(X, weights, components)
    Q = expected_log_likelihood(X, exact, weights, components)
    assert Q + entropy(exact) == pytest.approx(l, rel=1e-10)
    R = rng.dirichlet(np.ones(3), size=20)
    R[0] = [1, 0, 0]  # 0 ln 0 = 0
    positive = R > 0
    kl = np.sum(R[positive] * np.log(R[positive] / exact[positive]))
    Q = expected_log_likelihood(X, R, weights, components)
    assert kl > 1
    assert Q + entropy(R) + kl == pytest.approx(l, rel=1e-10)


# ---------------------------------------------------------------------------------------
# M-step
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("mixture-14")
def test_m_step_is_weighted_maximum_likelihood(rng):
    X, R = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(2), size=40)
    weights, new = initialise(X, R)
    for k in range(2):
        np.testing.assert_allclose(new.means[k], np.average(X, axis=0, weights=R[:, k]))
        np.testing.assert_allclose(
            new.covariances[k], np.cov(X.T, aweights=R[:, k], ddof=0), rtol=1e-10
        )
        precision = new.factors[k] @ new.factors[k].T
        np.testing.assert_allclose(precision @ new.covariances[k], np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(weights, R.sum(axis=0) / 40, rtol=1e-14)
    n_k_over_pi_k = R.sum(axis=0) / weights  # the Lagrange multiplier of sum pi_k = 1
    np.testing.assert_allclose(n_k_over_pi_k, 40, rtol=1e-12)


@pytest.mark.claims("mixture-14")
def test_gradient_of_q_vanishes_at_the_m_step(rng):
    X, R, h = rng.normal(size=(40, 2)), rng.dirichlet(np.ones(2), size=40), 1e-5
    weights, best = initialise(X, R)

    def q(means, covariances):
        return expected_log_likelihood(X, R, weights, gaussians(means, covariances))

    for _ in range(20):
        D, E = rng.normal(size=best.means.shape), rng.normal(size=best.covariances.shape)
        E = (E + np.swapaxes(E, 1, 2)) / 2
        m, S = best.means, best.covariances
        assert (q(m + h * D, S) - q(m - h * D, S)) / (2 * h) == pytest.approx(0, abs=1e-5)
        assert (q(m, S + h * E) - q(m, S - h * E)) / (2 * h) == pytest.approx(0, abs=1e-5)


@pytest.mark.claims("mixture-14")
@pytest.mark.parametrize("kind", KINDS)
def test_every_other_parameter_has_a_lower_q(rng, kind):
    X, R = rng.normal(size=(40, 2)), rng.dirichlet(np.ones(3), size=40)
    weights, best = initialise(X, R, kind)
    top = expected_log_likelihood(X, R, weights, best)
    for _ in range(100):
        other_weights = weights * np.exp(0.1 * rng.normal(size=3))
        S = best.covariances * np.exp(0.1 * rng.normal())
        other = gaussians(best.means + 0.1 * rng.normal(size=(3, 2)), S, kind)
        Q = expected_log_likelihood(X, R, other_weights / other_weights.sum(), other)
        assert Q < top
    old = rng.normal(size=(3, 2))  # the covariance about the old means is no maximum
    S = [weighted_scatter(X, mu, r / r.sum(), kind) for mu, r in zip(old, R.T, strict=True)]
    S = np.average(S, axis=0, weights=weights) if kind == "tied" else np.array(S)
    assert expected_log_likelihood(X, R, weights, best._replace(means=old)) < top
    assert expected_log_likelihood(X, R, weights, gaussians(best.means, S, kind)) < top


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_covariance_are_those_of_the_full_one(rng, kind):
    X, R = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(2), size=40)
    weights, full = initialise(X, R)
    expected = {
        "full": full.covariances,
        "tied": np.tensordot(weights, full.covariances, axes=1),
        "diag": np.diagonal(full.covariances, axis1=1, axis2=2),
        "spherical": np.trace(full.covariances, axis1=1, axis2=2) / 3,
    }
    components = initialise(X, R, kind)[1]
    np.testing.assert_allclose(components.covariances, expected[kind], rtol=1e-12)
    count = {"full": 2 * 6, "tied": 6, "diag": 2 * 3, "spherical": 2}
    assert components.n_parameters == 2 * 3 + count[kind]


def test_scatter_over_several_blocks_keeps_the_digits_far_from_the_origin(rng):
    X, a = rng.normal(size=(5000, 3)), rng.dirichlet(np.ones(5000))
    mu = a @ X
    literal = sum(w * np.outer(x - mu, x - mu) for w, x in zip(a, X, strict=True))
    np.testing.assert_allclose(weighted_scatter(X, mu, a), literal, rtol=1e-12)
    np.testing.assert_array_equal(weighted_scatter(X, mu, a), weighted_scatter(X, mu, a).T)
    np.testing.assert_allclose(weighted_scatter(X, mu, a, "diag"), np.diagonal(literal), rtol=1e-12)
    far = np.round(X * 2**10) / 2**10 + 2.0**27  # exact
    near = far - 2.0**27
    np.testing.assert_allclose(
        weighted_scatter(far, a @ far, a), weighted_scatter(near, a @ near, a), rtol=1e-7, atol=1e-9
    )
    cancelled = (a * far.T) @ far - np.outer(a @ far, a @ far)
    assert np.abs(cancelled - literal).max() > 0.1  # what E[x x^T] - mu mu^T is worth there


# ---------------------------------------------------------------------------------------
# The floor
# ---------------------------------------------------------------------------------------


def test_floored_is_certified_the_likeliest(rng):
    """Concave in P = Sigma^{-1}: Sigma - S = M >= 0 and M (diag(least)^{-1} - P) = 0 suffice."""
    for rank in (1, 2, 4):
        A = rng.normal(size=(4, rank))
        S, least = A @ A.T, rng.uniform(0.2, 2, size=4)
        Sigma, U = floored(S, least)
        M, P = Sigma - S, np.linalg.inv(Sigma)
        assert np.linalg.eigvalsh(Sigma - np.diag(least)).min() > -1e-10
        assert np.linalg.eigvalsh(M).min() > -1e-10
        np.testing.assert_allclose(M @ (np.diag(1 / least) - P), 0, rtol=0, atol=1e-10)
        np.testing.assert_allclose(U @ U.T, P, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(U, np.triu(U))
        assert (np.diagonal(U) > 0).all()


def test_floored_beats_every_covariance_that_keeps_the_floor():
    S, least = np.array([[2.0, 1.9], [1.9, 2.0]]), np.array([0.5, 0.5])

    def log_likelihood_of(Sigma):
        inverse_S = np.linalg.solve(Sigma, np.broadcast_to(S, Sigma.shape))
        return -np.linalg.slogdet(Sigma)[1] - np.trace(inverse_S, axis1=-2, axis2=-1)

    best = log_likelihood_of(floored(S, least)[0])
    turn, s, t = np.meshgrid(np.linspace(0, np.pi, 60), *[np.geomspace(0.5, 10, 60)] * 2)
    first, second = [np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]
    others = s * np.einsum("i...,j...->ij...", first, first)
    others += t * np.einsum("i...,j...->ij...", second, second)
    assert log_likelihood_of(np.moveaxis(others, (0, 1), (-2, -1))).max() < best + 1e-12
    assert log_likelihood_of(S + 0.5 * np.eye(2)) < best - 0.1
    np.testing.assert_allclose(floored(S, least / 100)[0], S, rtol=1e-12)  # nothing to lift


def test_least_variance_is_the_floor_or_the_limit_of_the_arithmetic():
    X = np.array([[0.0, 5.0, 1e9], [10.0, 5.0, -1e9]])
    np.testing.assert_allclose(least_variances(X, 1e-6), [1e-6, 1e-6, 4e4])
    np.testing.assert_allclose(least_variances(X, 0.0), [1e-12, 0, 4e4])


def test_a_spherical_component_is_no_thinner_than_the_widest_feature_allows():
    X = np.repeat([[0.0, 0.0], [1e9, 1.0]], 3, axis=0)
    components = initialise(X, np.repeat(np.eye(2), 3, axis=0), "spherical", floor=1e-6)[1]
    np.testing.assert_allclose(components.covariances, 1e4, rtol=1e-12)


UGLY = {
    "plain": lambda rng: rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4)),
    "n < d": lambda rng: rng.normal(size=(6, 9)),
    "duplicates": lambda rng: np.repeat(rng.normal(size=(5, 3)), 6, axis=0),
    "a constant feature": lambda rng: rng.normal(size=(30, 3)) * [1, 0, 1] + 3.3,
    "far from the origin": lambda rng: rng.normal(size=(30, 3)) + 1e8,
    "large": lambda rng: np.repeat(rng.normal(size=(4, 6)), 5, axis=0) * 1e8,
    "small": lambda rng: rng.normal(size=(30, 3)) * 1e-8,
    "columns of different scales": lambda rng: rng.normal(size=(40, 3)) * [1e6, 1, 1e-5],
    "integers": lambda rng: np.round(rng.normal(size=(40, 2))),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", UGLY)
def test_likelihood_never_falls_on_any_data(case, kind):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = UGLY[case](rng)
        R = rng.dirichlet(np.full(3, 0.3), size=len(X))
        start = initialise(X, R, kind, floor=1e-6)
        l_n = np.array([s.objective for s in states(X, *start, 40)])
        assert (np.diff(l_n) >= -1e-8 * np.maximum(1, np.abs(l_n[1:]))).all()


class AddedToDiagonal(NamedTuple):
    """Components whose M-step adds a constant to the diagonal, as others do."""

    components: Gaussians
    constant: float

    def log_density(self, X):
        return self.components.log_density(X)

    def maximised(self, X, R):
        best = self.components.maximised(X, R)
        d = X.shape[1]
        added = self.constant * (np.eye(d) if best.kind in MATRICES else 1.0)
        return self._replace(
            components=gaussians(best.means, best.covariances + added, best.kind, best.floor)
        )


@pytest.mark.parametrize("kind", KINDS)
def test_the_floor_keeps_the_promise_that_a_larger_diagonal_breaks(kind):
    fell = {"floor": 0, "added": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = make_blobs([20, 20, 20], 2 * rng.normal(size=(3, 2)), rng=rng).X
        pi, start = initialise(X, rng.dirichlet(np.ones(3), size=60), kind, floor=1.0)
        added = AddedToDiagonal(start._replace(floor=1e-9), 1.0)
        for name, components in (("floor", start), ("added", added)):
            l_n = [s.objective for s in states(X, pi, components, 60)]
            fell[name] += np.diff(l_n)[1:].min() < -1e-6
    assert fell["floor"] == 0 and fell["added"] >= 5


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_floor_a_component_that_collapses_is_an_error(kind):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [4.0, 5.0], [5.0, 4.0], [5.0, 6.0], [7.0, 7.0]])
    R = np.repeat(np.eye(2), [2, 4], axis=0)
    if kind == "tied":
        X = np.column_stack([X[:, 0], 2 * X[:, 0]])
    with pytest.raises(ValueError, match=r"a component has shrunk to a singular covariance"):
        initialise(X, R, kind)
    initialise(X, R, kind, floor=1e-9)


def test_a_constant_feature_is_singular_unless_the_kind_mixes_the_features():
    X, R = np.array([[0.3, 1.0], [0.3, 2.0], [0.3, 4.0]]), np.ones((3, 1))
    for kind in ("full", "tied", "diag"):
        with pytest.raises(ValueError, match="singular covariance"):
            initialise(X, R, kind)
    assert initialise(X, R, "spherical")[1].covariances == pytest.approx(X[:, 1].var() / 2)


def test_badly_scaled_columns_keep_their_own_variances(rng):
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) * [1e8, 1, 1]
    components = initialise(X, np.ones((200, 1)), floor=1e-6)[1]
    np.testing.assert_allclose(components.covariances[0], np.cov(X.T, ddof=0), rtol=1e-6)
    np.testing.assert_allclose(
        components.log_density(X)[:, 0],
        multivariate_normal_log_density(X, X.mean(axis=0), np.cov(X.T, ddof=0)),
        rtol=1e-5,
    )


# ---------------------------------------------------------------------------------------
# EM
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("mixture-15")
def test_em_recovers_the_mixture_the_samples_are_from(rng):
    weights = np.array([0.2, 0.3, 0.5])
    means = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    covariances = np.array([[[1.0, 0.5], [0.5, 1.0]], [[2.0, 0.0], [0.0, 0.5]], np.eye(2)])
    n = 3000
    X, _ = generate(n, weights, gaussians(means, covariances), rng=rng)
    start = gaussians(means + 1, np.tile(np.eye(2), (3, 1, 1)))
    last = converged(X, np.full(3, 1 / 3), start)
    n_k = n * weights
    pi_error = np.sqrt(weights * (1 - weights) / n)
    assert (np.abs(last.weights - weights) < 5 * pi_error).all()
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    mean_error = np.sqrt(variances / n_k[:, None])
    assert (np.abs(last.components.means - means) < 5 * mean_error).all()
    products = variances[:, :, None] * variances[:, None, :] + covariances**2
    covariance_error = np.sqrt(products / n_k[:, None, None])
    assert (np.abs(last.components.covariances - covariances) < 5 * covariance_error).all()


@pytest.mark.claims("mixture-15")
@pytest.mark.parametrize("kind", KINDS)
def test_em_stays_at_a_fixed_point(rng, kind):
    X = two_bumps(rng)
    R = np.repeat(np.eye(2), 60, axis=0)
    fixed = converged(X, *initialise(X, R, kind), tol=0)
    start, after = states(X, fixed.weights, fixed.components, 1)
    np.testing.assert_allclose(after.weights, start.weights, rtol=1e-6)
    np.testing.assert_allclose(after.components.means, start.components.means, rtol=1e-6)
    exact = np.array([[-1.0], [1.0], [9.0], [11.0]])  # so far apart that r is 0 or 1 to rounding
    components = gaussians([[0.0], [10.0]], _like(kind, 1.0, 2, 1), kind)
    start, after = states(exact, np.array([0.5, 0.5]), components, 1)
    np.testing.assert_allclose(after.weights, start.weights, rtol=1e-10)
    np.testing.assert_allclose(after.components.means, start.components.means, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        after.components.covariances, start.components.covariances, rtol=1e-10
    )


def _like(kind, variance, K, d):
    """Covariances `variance` I of any kind."""
    eye = variance * np.eye(d)
    return {
        "full": np.tile(eye, (K, 1, 1)),
        "tied": eye,
        "diag": np.full((K, d), variance),
        "spherical": np.full(K, variance),
    }[kind]


@pytest.mark.claims("mixture-15")
def test_one_component_is_done_after_one_step(rng):
    X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)) + 5
    start, after, again = states(X, np.ones(1), gaussians(np.zeros((1, 3)), [np.eye(3)]), 2)
    np.testing.assert_allclose(after.components.means[0], X.mean(axis=0))
    np.testing.assert_allclose(after.components.covariances[0], np.cov(X.T, ddof=0), rtol=1e-10)
    assert after.gain > 0.1 and again.gain == pytest.approx(0, abs=1e-12)
    assert start.gain == np.inf


@pytest.mark.claims("mixture-16")
@pytest.mark.parametrize("seed", range(50))
def test_each_step_raises_the_likelihood_by_at_least_the_rise_of_q(seed):
    rng = np.random.default_rng(seed)
    X = make_blobs([15, 15, 15], 3 * rng.normal(size=(3, 2)), rng=rng).X
    kind = KINDS[seed % 4]
    start = initialise(X, rng.dirichlet(np.ones(3), size=45), kind, floor=1e-3)
    for old, new in pairwise(states(X, *start, 30)):
        R = old.responsibilities
        rise_of_q = expected_log_likelihood(
            X, R, new.weights, new.components
        ) - expected_log_likelihood(X, R, old.weights, old.components)
        rise = log_likelihood(X, new.weights, new.components) - log_likelihood(
            X, old.weights, old.components
        )
        assert rise_of_q >= -1e-9 and rise >= rise_of_q - 1e-9
        assert new.gain == pytest.approx(rise / len(X), abs=1e-10)


@pytest.mark.claims("mixture-16")
def test_gradient_vanishes_where_em_ends(rng):
    X, h = two_bumps(rng), 1e-5
    last = converged(X, *initialise(X, np.repeat(np.eye(2), 60, axis=0)), tol=0)
    pi, m, S = last.weights, last.components.means, last.components.covariances

    def l_n(weights, means, covariances):
        return log_likelihood(X, weights, gaussians(means, covariances)) / len(X)

    def slope(*direction):
        ahead = (p + h * q for p, q in zip((pi, m, S), direction, strict=True))
        behind = (p - h * q for p, q in zip((pi, m, S), direction, strict=True))
        return (l_n(*ahead) - l_n(*behind)) / (2 * h)

    for e in np.eye(2):
        assert slope(0, e[:, None], 0) == pytest.approx(0, abs=1e-6)
        assert slope(0, 0, e[:, None, None]) == pytest.approx(0, abs=1e-6)
    assert slope(np.array([1, -1]), 0, 0) == pytest.approx(0, abs=1e-6)
    assert abs(slope(0, np.ones((2, 1)), np.ones((2, 1, 1)))) < 1e-6


@pytest.mark.claims("mixture-16")
def test_different_starts_may_end_at_different_local_optima(rng):
    X = make_blobs([30, 30, 30, 30], [[0, 0], [6, 0], [0, 6], [20, 20]], rng=rng).X
    good = np.repeat(np.eye(4), 30, axis=0)
    bad = np.repeat(np.eye(4)[[0, 0, 1, 2]], 30, axis=0)
    bad[-15:] = np.eye(4)[3]
    ends = [converged(X, *initialise(X, R, "spherical", floor=0.01)) for R in (good, bad)]
    assert ends[0].objective > ends[1].objective + 0.1


@pytest.mark.claims("mixture-17")
def test_responsibilities_harden_into_those_of_k_means(rng):
    X, centers = 3 * rng.normal(size=(100, 2)), 3 * rng.normal(size=(4, 2))
    D = np.sum((X[:, None] - centers) ** 2, axis=2)
    nearest = np.eye(4)[D.argmin(axis=1)]
    gap = D - D.min(axis=1, keepdims=True)
    worst = []
    for sigma2 in (4.0, 1.0, 0.25, 1e-2, 1e-4):
        components = gaussians(centers, np.full(4, sigma2), "spherical")
        joint = log_joint(X, np.full(4, 0.25), components)
        R, log_p = e_step(X, np.full(4, 0.25), components)
        assert (joint - log_p[:, None] <= -gap / (2 * sigma2) + 1e-8).all()
        worst.append(np.abs(R - nearest).max())
    assert (np.diff(worst) <= 0).all() and worst[0] > 0.3 and worst[-1] < 1e-12


@pytest.mark.claims("mixture-17")
def test_m_step_on_hard_assignments_is_the_update_of_k_means(rng):
    X, labels = rng.normal(size=(60, 2)), np.arange(60) % 3
    weights, components = initialise(X, np.eye(3)[labels])
    for k in range(3):
        own = X[labels == k]
        np.testing.assert_allclose(components.means[k], own.mean(axis=0), rtol=0, atol=1e-12)
        np.testing.assert_allclose(components.covariances[k], np.cov(own.T, ddof=0), rtol=1e-11)
    np.testing.assert_allclose(weights, 1 / 3, rtol=1e-12)


def test_states_are_snapshots_and_describe_themselves(rng):
    X = two_bumps(rng)
    kept = []
    for state in islice(em(X, *initialise(X, rng.dirichlet([1, 1], size=120))), 10):
        arrays = [state.weights, *state.components[:3], state.responsibilities]
        kept.append((state, [a.copy() for a in arrays]))
    for state, copies in kept:
        arrays = [state.weights, *state.components[:3], state.responsibilities]
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)
        mean = log_likelihood(X, state.weights, state.components) / len(X)
        assert state.objective == pytest.approx(mean, rel=1e-12)
        R = responsibilities(X, state.weights, state.components)
        np.testing.assert_allclose(state.responsibilities, R, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_component_keeps_its_parameters_at_weight_zero(rng, kind):
    X, R = rng.normal(size=(20, 2)), np.tile([0.4, 0.6, 0.0], (20, 1))
    R[:10, :2] = [1, 0]
    pi, before = random_mixture(rng, K=3, kind=kind)
    weights, after = maximise(X, R, before)
    assert weights[2] == 0
    np.testing.assert_array_equal(after.means[2], before.means[2])
    if kind != "tied":
        np.testing.assert_array_equal(after.covariances[2], before.covariances[2])
        np.testing.assert_array_equal(after.factors[2], before.factors[2])
    for state in states(X, weights, after._replace(floor=1e-3), 5):
        assert state.weights[2] == 0 and not state.responsibilities[:, 2].any()
        assert np.isfinite(state.objective)
        np.testing.assert_array_equal(state.components.means[2], before.means[2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_component_that_starts_without_a_share_is_a_unit_normal_at_the_mean(rng, kind):
    X, R = rng.normal(size=(20, 3)) + 5, np.repeat(np.eye(3)[[0, 2]], 10, axis=0)
    weights, components = initialise(X, R, kind)
    np.testing.assert_array_equal(weights, [0.5, 0, 0.5])
    np.testing.assert_allclose(components.means[1], X.mean(axis=0), rtol=1e-14)
    if kind != "tied":
        np.testing.assert_array_equal(components.matrices[1], np.eye(3))


def test_shares_as_small_as_numbers_get_are_weights_all_the_same(rng):
    X, tiny = rng.normal(size=(6, 2)), 5e-324
    R = np.column_stack([np.ones(6), np.array([0, 0, 0, tiny, 0, tiny])])
    weights, components = initialise(X, R, "spherical", floor=1e-3)
    np.testing.assert_allclose(components.means[1], X[[3, 5]].mean(axis=0))
    assert components.covariances[1] == pytest.approx(max(1e-3, X[[3, 5]].var(axis=0).mean()))


@pytest.mark.parametrize("seed", [5, 6])
def test_of_runs_that_are_equal_to_rounding_the_first_is_kept(seed):
    """So that the order of the components does not depend on the processor."""
    centers = [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]
    X = make_blobs([30, 30, 30], centers, rng=np.random.default_rng(seed)).X
    how = {"random_state": 1, "tol": 1e-10, "max_iter": 5000}
    first, many = (GaussianMixture(3, n_init=n, **how).fit(X) for n in (1, 9))
    assert many.lower_bound_ == pytest.approx(first.lower_bound_, abs=1e-9)
    np.testing.assert_array_equal(first.means_, many.means_)


# ---------------------------------------------------------------------------------------
# Another family
# ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def binary_digits():
    T = load_digits()
    return (T.X > 7).astype(float), T.y


def test_bernoulli_density_is_the_product_over_the_features(rng):
    components = bernoullis(rng.uniform(0.1, 0.9, size=(2, 4)))
    X = np.array(list(product((0, 1), repeat=4)))
    literal = [
        [np.prod([m if x else 1 - m for x, m in zip(row, mu, strict=True)]) for mu in components[0]]
        for row in X
    ]
    np.testing.assert_allclose(np.exp(components.log_density(X)), literal, rtol=1e-12)
    np.testing.assert_allclose(np.sum(literal, axis=0), 1)
    draws, Z = generate(20_000, np.array([0.3, 0.7]), components, rng=rng)
    assert set(draws.ravel()) == {0, 1}
    for k in range(2):
        own = draws[Z[:, k] == 1]
        error = 5 * own.std(axis=0) / np.sqrt(len(own))
        assert (np.abs(own.mean(axis=0) - components.means[k]) < error).all()


def test_bernoulli_m_step_is_weighted_maximum_likelihood_within_its_bounds(rng):
    X, R = (rng.random((30, 3)) < [0.01, 0.5, 0.9]) * 1.0, rng.dirichlet([1, 1], size=30)
    X[:, 0] = 0
    new = bernoullis(np.full((2, 3), 0.5), floor=0.02).maximised(X, R)
    grid = np.linspace(0.02, 0.98, 4001)
    for k, j in product(range(2), range(3)):
        r, x = R[:, [k]], X[:, [j]]
        Q = np.sum(r * (x * np.log(grid) + (1 - x) * np.log(1 - grid)), axis=0)
        assert new.means[k, j] == pytest.approx(grid[Q.argmax()], abs=1e-3)
    assert new.means[0, 0] == 0.02
    kept = bernoullis(np.full((2, 3), 0.3)).maximised(X, np.tile([1.0, 0.0], (30, 1)))
    np.testing.assert_array_equal(kept.means[1], 0.3)


def test_em_runs_on_any_family_binary_digits_as_bernoullis(binary_digits):
    X, y = binary_digits
    rng = np.random.default_rng(0)
    start = bernoullis(rng.uniform(0.3, 0.7, size=(10, 64)), floor=1e-3)
    run = iterate(em(X, np.full(10, 0.1), start), "gain", 1e-4, 200)
    assert run.converged and (np.diff(run.history) > -1e-10).all()
    assert run.history[-1] > run.history[1] + 3
    labels = run.state.responsibilities.argmax(axis=1)
    majority = sum(np.bincount(y[labels == k]).max() for k in np.unique(labels))
    assert majority > 0.6 * len(y)  # no digit was told


def test_bernoulli_components_refuse_what_is_not_binary():
    with pytest.raises(ValueError, match="must be 0 or 1 in every feature"):
        bernoullis([[0.5]]).log_density(np.array([[2.0]]))
    for bad in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="means must be > 0 and < 1; got"):
            bernoullis([[bad]])
    for floor in (0, 0.5, -1e-6):  # 0 would let a mean be 0; 1/2 lets none differ
        with pytest.raises(ValueError, match=f"floor must be a number > 0 and < 0.5; got {floor}"):
            bernoullis([[0.5]], floor)


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def petals():
    return load_iris().X[:, 2:]


@pytest.mark.parametrize("kind", KINDS)
def test_fit_is_em_from_the_clusters_of_k_means(petals, kind):
    how = {"n_components": 3, "covariance_type": kind, "random_state": 4, "tol": 1e-5}
    model = GaussianMixture(**how).fit(petals)
    centers = kmeans_plus_plus(petals, 3, rng=np.random.default_rng(4))
    labels = KMeans(3, init=centers).fit(petals).labels_
    start = initialise(petals, np.eye(3)[labels], kind, floor=1e-6)
    run = iterate(em(petals, *start), "gain", 1e-5, 100)
    close = partial(np.testing.assert_allclose, rtol=1e-9)
    close(model.means_, run.state.components.means)
    close(model.covariances_, run.state.components.covariances)
    close(model.weights_, run.state.weights)
    close(model.history_, run.history)
    assert model.converged_ and model.n_iter_ == run.n_iter == len(model.lower_bounds_)
    assert model.lower_bound_ == model.lower_bounds_[-1] == model.history_[-1]
    assert model.score(petals) == pytest.approx(model.lower_bound_, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_attributes_and_answers_fit_together(petals, kind):
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(petals)
    components = gaussians(model.means_, model.covariances_, kind)
    np.testing.assert_allclose(model.precisions_cholesky_, components.factors, rtol=1e-8)
    P = {"diag": np.reciprocal, "spherical": np.reciprocal}.get(kind, np.linalg.inv)
    np.testing.assert_allclose(model.precisions_, P(model.covariances_), rtol=1e-8)
    R = responsibilities(petals, model.weights_, components)
    np.testing.assert_allclose(model.predict_proba(petals), R, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(model.predict(petals), R.argmax(axis=1))
    log_p = mixture_log_density(petals, model.weights_, components)
    np.testing.assert_allclose(model.score_samples(petals), log_p, rtol=1e-8)
    again = GaussianMixture(3, covariance_type=kind, random_state=0).fit_predict(petals)
    np.testing.assert_array_equal(again, model.predict(petals))


@pytest.mark.parametrize(
    "kind, free", [("full", 17), ("tied", 11), ("diag", 14), ("spherical", 11)]
)
def test_criteria_count_the_free_parameters(petals, kind, free):
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(petals)
    l2 = 2 * log_likelihood(petals, *model._theta())
    assert model.aic(petals) == pytest.approx(2 * free - l2, rel=1e-12)
    assert model.bic(petals) == pytest.approx(np.log(150) * free - l2, rel=1e-12)


def test_bic_finds_the_number_of_groups(rng):
    X = make_blobs([80, 80, 80], [[0, 0], [9, 0], [0, 9]], rng=rng).X
    bic = [GaussianMixture(K, n_init=2, random_state=0).fit(X).bic(X) for K in range(1, 6)]
    assert np.argmin(bic) + 1 == 3


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_a_model_are_drawn_from_its_density(petals, kind):
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(petals)
    X, labels = model.sample(20_000)
    assert X.shape == (20_000, 2) and set(labels) == {0, 1, 2}
    mean, covariance = mixture_moments(model.weights_, model.means_, model._theta()[1].matrices)
    np.testing.assert_allclose(X.mean(axis=0), mean, rtol=0, atol=0.08)
    np.testing.assert_allclose(np.cov(X.T), covariance, rtol=0, atol=0.15)
    np.testing.assert_array_equal(X, model.sample(20_000)[0])
    assert model.sample()[0].shape == (1, 2)
    other = model.set_params(random_state=1).sample(20_000)[0]
    assert not np.array_equal(other, X)
    for n in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_samples must be an integer >= 1; got {n}"):
            model.sample(n)
    with pytest.raises(NotFittedError, match="This GaussianMixture is not fitted yet"):
        GaussianMixture().sample()


@pytest.mark.parametrize("start", STARTS)
def test_every_start_leads_to_the_groups(rng, start):
    T = make_blobs([50, 50], [[0, 0], [9, 9]], rng=rng)
    model = GaussianMixture(2, init_params=start, tol=1e-9, max_iter=500, random_state=0).fit(T.X)
    labels = model.predict(T.X)
    assert len(set(zip(labels, T.y, strict=True))) == 2


@pytest.mark.parametrize("start", STARTS)
def test_first_responsibilities_are_those_of_the_start(start):
    n, K = 3000, 9  # enough for k-means to stop before its centers rest
    X = np.random.default_rng(1).normal(size=(n, 2))
    how = {"init_params": start, "tol": 1e9}
    model = GaussianMixture(K, random_state=np.random.default_rng(2), **how).fit(X)
    rng = np.random.default_rng(2)
    if start == "random":
        R = rng.random((n, K))
        R /= R.sum(axis=1, keepdims=True)
    else:
        centers = {
            "kmeans": lambda: (
                KMeans(K, init=kmeans_plus_plus(X, K, rng, trials=4)).fit(X).cluster_centers_
            ),
            "k-means++": lambda: kmeans_plus_plus(X, K, rng, trials=4),
            "random_from_data": lambda: X[rng.choice(n, K, replace=False)],
        }[start]()
        R = np.eye(K)[np.sum((X[:, None] - centers) ** 2, axis=2).argmin(axis=1)]
    first = states(X, *initialise(X, R, floor=1e-6), 0)[0]
    assert model.history_[0] == pytest.approx(first.objective, rel=1e-12)


def test_the_best_of_several_runs_is_kept(rng):
    X = make_blobs([30] * 4, [[0, 0], [6, 0], [0, 6], [20, 20]], rng=rng).X
    how = {"n_components": 4, "covariance_type": "spherical", "init_params": "random_from_data"}
    draws = np.random.default_rng(1)
    single = [GaussianMixture(**how, random_state=draws).fit(X) for _ in range(8)]
    several = GaussianMixture(**how, n_init=8, random_state=np.random.default_rng(1)).fit(X)
    scores = [model.lower_bound_ for model in single]
    assert max(scores) > min(scores) + 0.01
    assert several.lower_bound_ == max(scores)


@pytest.mark.parametrize("kind", KINDS)
def test_given_parameters_are_where_em_starts(petals, kind):
    weights, means = np.array([0.2, 0.3, 0.5]), petals[[0, 60, 120]]
    precisions = _like(kind, 4.0, 3, 2)
    given = {"weights_init": weights, "means_init": means, "precisions_init": precisions}
    how = {"n_components": 3, "covariance_type": kind, "random_state": 0, "max_iter": 500}
    model = GaussianMixture(**how, **given).fit(petals)
    start = gaussians(means, _like(kind, 0.25, 3, 2), kind, 1e-6)
    run = iterate(em(petals, weights, start), "gain", 1e-3, 500)
    np.testing.assert_allclose(model.history_, run.history, rtol=1e-12)
    np.testing.assert_allclose(model.means_, run.state.components.means, rtol=1e-10)
    free = GaussianMixture(**how).fit(petals)
    for name, value in given.items():
        first = GaussianMixture(**how, **{name: value}).fit(petals).history_[0]
        assert first != free.history_[0]


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"n_components": 0}, "n_components must be an integer >= 1; got 0"),
        ({"n_components": 7}, "n_components must be <= the number of samples 6; got 7"),
        ({"covariance_type": "round"}, "covariance_type must be one of 'full', 'tied'"),
        ({"tol": -1}, "tol must be a number >= 0; got -1"),
        ({"reg_covar": -1e-6}, "reg_covar must be a number >= 0; got -1e-06"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"n_init": 0}, "n_init must be an integer >= 1; got 0"),
        ({"init_params": "best"}, "init_params must be one of 'kmeans', .*; got 'best'"),
        ({"weights_init": [1.0]}, r"weights_init must be None or numbers of shape \(2,\); got \[1"),
        ({"weights_init": [0.5, 0.6]}, "weights_init must be >= 0 and sum to 1; got"),
        ({"means_init": [[0.0, np.nan]] * 2}, r"means_init must be .* \(2, 2\); got"),
        ({"precisions_init": np.eye(2)}, r"precisions_init must be .* \(2, 2, 2\); got"),
        ({"precisions_init": [-np.eye(2)] * 2}, "precisions_init must be positive definite"),
        ({"precisions_init": np.zeros((2, 2, 2))}, "definite; the smallest eigenvalue is 0"),
        ({"precisions_init": [[[1, 0.5], [0, 1]]] * 2}, "precisions_init must be symmetric"),
        (
            {"precisions_init": [[0.0, 1.0]] * 2, "covariance_type": "diag"},
            "diag precisions_init must be > 0; the smallest is 0",
        ),
    ],
)
def test_hyperparameters_out_of_range_are_refused(wrong, message):
    X = np.arange(12.0).reshape(6, 2) ** 2
    with pytest.raises(ValueError, match=message):
        GaussianMixture(**{"n_components": 2} | wrong).fit(X)


def test_samples_of_any_size_are_fitted_or_refused_by_name(rng):
    X = rng.normal(size=(30, 2))
    for scale in (1e-140, 1e140):
        model = GaussianMixture(2, random_state=0).fit(X * scale)
        assert np.isfinite(model.history_).all()
    with pytest.raises(ValueError, match=r"X must lie within -1e\+150 and 1e\+150"):
        GaussianMixture().fit([[0.0], [1e151]])


def test_a_shift_of_the_samples_shifts_the_means_and_nothing_else(petals):
    near = GaussianMixture(3, random_state=0).fit(petals)
    far = GaussianMixture(3, random_state=0).fit(petals + 2.0**23)  # rounds to 1e-9
    np.testing.assert_allclose(far.means_ - 2.0**23, near.means_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=0, atol=1e-6)
    assert far.lower_bound_ == pytest.approx(near.lower_bound_, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_samples_are_fitted(rng, kind):
    for X in (
        np.zeros((1, 1)),
        np.zeros((5, 3)),
        np.repeat(rng.normal(size=(2, 3)), 4, axis=0),
        rng.normal(size=(4, 10)),
    ):
        K = min(3, len(X))
        model = GaussianMixture(K, covariance_type=kind, random_state=0).fit(X)
        assert np.isfinite(model.history_).all() and (np.diff(model.history_) > -1e-9).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="singular covariance"):
        GaussianMixture(covariance_type=kind, reg_covar=0).fit(np.zeros((5, 3)))


def test_a_run_cut_short_is_told(petals):
    message = r"GaussianMixture stopped after 2 iterations with gain = .* > 1e-09"
    with pytest.warns(ConvergenceWarning, match=message):
        model = GaussianMixture(3, tol=1e-9, max_iter=2, random_state=0).fit(petals)
    assert not model.converged_ and len(model.history_) == 3


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def ellipses(ax):
    """The closed curves on the axes, each drawn twice: a rim in black and a colour upon it."""
    rims = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) > 100]
    np.testing.assert_array_equal(rims[::2], rims[1::2])
    return rims[::2]


def assert_two_sigma(ax, components):
    for rim, mu, Sigma in zip(ellipses(ax), components.means, components.covariances, strict=True):
        squared = np.einsum("ij,jk,ik->i", rim - mu, np.linalg.inv(Sigma), rim - mu)
        np.testing.assert_allclose(squared, 4, rtol=1e-9)
        np.testing.assert_allclose(
            rim[:200].mean(axis=0), mu, rtol=0, atol=1e-12
        )  # all the way round


def assert_colours_are_shares(ax, X, R):
    (dots,) = ax.collections
    np.testing.assert_array_equal(dots.get_offsets(), X)
    palette = [to_rgb(line.get_color()) for line in ax.lines if len(line.get_xydata()) == 1]
    assert len(palette) == R.shape[1] == len(set(palette))
    np.testing.assert_allclose(dots.get_facecolors()[:, :3], R @ palette, rtol=0, atol=1e-12)


@pytest.mark.claims("mixture-18")
def test_progress_of_em_is_drawn_as_it_is():
    from figures.mixture import STEPS, em_progress, em_start

    axes = Figure().subplots(2, 3).ravel()
    em_progress(*axes)
    X, start = em_start()
    run = states(X, *start, STEPS[-1])
    for ax, t in zip(axes, STEPS, strict=True):
        assert_two_sigma(ax, run[t].components)
        assert_colours_are_shares(ax, X, run[t].responsibilities)
    titles = [ax.get_title() for ax in axes]
    shown = [float(title.split("= ")[1].rstrip("$")) for title in titles]
    l_of = [len(X) * run[t].objective for t in STEPS]
    np.testing.assert_allclose(shown, l_of, rtol=0, atol=0.5)
    assert (np.diff(shown) > 0).all()
    assert [title.split(":")[0] for title in titles] == [f"step {t}" for t in STEPS]


@pytest.mark.claims("mixture-20")
def test_k_means_is_drawn_hard_and_the_mixture_in_shares():
    from figures.mixture import both_fits, kmeans_and_gmm

    left, right = Figure().subplots(1, 2)
    kmeans_and_gmm(left, right)
    X, clusters, last = both_fits()
    *groups, marks = left.lines
    centers = marks.get_xydata()
    np.testing.assert_array_equal(centers, clusters.cluster_centers_)
    distances = np.sum((X[:, None] - centers) ** 2, axis=2)
    cells = [each for each in left.collections if each.filled]
    for k, (group, cell) in enumerate(zip(groups, cells, strict=True)):
        np.testing.assert_array_equal(group.get_xydata(), X[distances.argmin(axis=1) == k])
        others = np.delete(distances, k, axis=1).min(axis=1)
        inside = [path.contains_points(X) for path in cell.get_paths()]
        clear = np.abs(distances[:, k] - others) > 0.3  # the border is drawn on a grid
        nearest = distances[:, k] < others
        np.testing.assert_array_equal(np.any(inside, axis=0)[clear], nearest[clear])
    assert_two_sigma(right, last.components)
    assert_colours_are_shares(right, X, last.responsibilities)
    labels = np.repeat([0, 1, 2], [300, 60, 60])  # how the samples were made
    hard = [len(set(labels[clusters.labels_ == k])) for k in range(3)]
    soft = last.responsibilities.argmax(axis=1)
    pure = sum(np.bincount(labels[soft == k]).max() for k in range(3))
    assert max(hard) > 1 and pure > 0.98 * len(X)


def test_the_bounds_are_drawn_below_the_likelihood_and_touch_it():
    from figures.mixture import bound

    jensen, one_sample, one_mean = Figure().subplots(1, 3)
    bound(jensen, one_sample, one_mean)
    _, chord, gap, mean = jensen.lines
    ends, ((x, low), (_, high)) = np.sort(chord.get_xydata(), axis=0), gap.get_xydata()
    assert low == pytest.approx(np.interp(x, *ends.T)) and low < high
    np.testing.assert_allclose(mean.get_xydata(), [[x, np.log(x)]])
    top, curve, square = one_sample.lines
    assert curve.get_ydata().max() == pytest.approx(top.get_ydata()[0], abs=1e-4)
    assert curve.get_xdata()[curve.get_ydata().argmax()] == pytest.approx(
        square.get_xdata()[0], abs=3e-3
    )
    l_of, *steps = one_mean.lines
    for parabola, start, end in zip(steps[::3], steps[1::3], steps[2::3], strict=True):
        assert (parabola.get_ydata() <= l_of.get_ydata() + 1e-9).all()
        np.testing.assert_allclose(np.diff(parabola.get_ydata(), 3), 0, rtol=0, atol=1e-8)
        assert end.get_ydata()[0] >= parabola.get_ydata().max()
        at = np.interp(start.get_xdata()[0], l_of.get_xdata(), l_of.get_ydata())
        assert start.get_ydata()[0] == pytest.approx(at, abs=0.5)
    assert steps[2].get_xdata()[0] == steps[4].get_xdata()[0]  # the M-step leads to the next dot


def test_the_paths_of_the_landscape_climb_to_two_peaks_and_to_the_pass():
    from figures.mixture import HALVES, STARTS, dent_scores, landscape, of_means

    ax = Figure().subplots()
    landscape(ax)
    x = dent_scores()
    paths, ends = ax.lines[::2], ax.lines[1::2]
    for path, end, start in zip(paths, ends, STARTS, strict=True):
        np.testing.assert_array_equal(path.get_xydata()[[0, -1]], [start, end.get_xydata()[0]])
        l_of = [log_likelihood(x, HALVES, of_means(*means)) for means in path.get_xydata()]
        assert (np.diff(l_of) >= -1e-9).all()
    blue, orange, purple = (end.get_xydata()[0] for end in ends)
    np.testing.assert_allclose(blue, orange[::-1], rtol=0, atol=1e-3)
    assert purple[0] == purple[1] == pytest.approx(x.mean())


def test_the_collapsing_component_passes_the_best_fit_with_a_floor():
    from figures.mixture import collapse, dent_scores

    left, right = Figure().subplots(1, 2)
    collapse(left, right)
    curve, best = right.lines
    widths, l_of = curve.get_xydata().T
    thin = widths < 1e-3
    slope = np.polyfit(np.log10(widths[thin]), l_of[thin], 1)[0]
    assert slope == pytest.approx(-np.count_nonzero(dent_scores() == 0) * np.log(10), rel=1e-3)
    assert l_of[widths < 0.3].min() > best.get_ydata()[0] > l_of[widths > 0.4].max()
