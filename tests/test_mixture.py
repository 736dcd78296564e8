"""The mixture chapter, in the order of its module: each statement by a second route."""

from functools import partial
from itertools import islice, pairwise, product

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.base import ROUNDING, iterate
from mlnotes.clustering import KMeans, cluster_means, nearest
from mlnotes.datasets import load_iris, make_blobs
from mlnotes.decision_theory import log_joint
from mlnotes.mixture import (
    GaussianMixture,
    assignment_entropy,
    complete_log_likelihood,
    e_step,
    em,
    gaussians,
    generate,
    lift_eigenvalues,
    maximise,
    mixture_density,
    mixture_log_likelihood,
    mixture_moments,
)
from mlnotes.probability import gauss_legendre

KINDS = ("full", "diag")
HALVES = np.array([0.5, 0.5])


def unit(kind, K, d):
    """Covariances I."""
    return np.tile(np.eye(d), (K, 1, 1)) if kind == "full" else np.ones((K, d))


def random_mixture(rng, K=3, d=2, kind="full"):
    """Weights, and components a few widths apart."""
    A = rng.normal(size=(K, d, d))
    full = A @ A.mT + 0.3 * np.eye(d)
    covariances = full if kind == "full" else rng.uniform(0.3, 3, size=(K, d))
    return rng.dirichlet(np.full(K, 3.0)), gaussians(3 * rng.normal(size=(K, d)), covariances)


def table_by_the_book(X, components):
    """N(x_i | mu_k, Sigma_k) as the notes print it, one number after the other."""

    def density(x, mu, S):
        norm = (2 * np.pi) ** (len(mu) / 2) * np.linalg.det(S) ** 0.5
        return np.exp(-0.5 * (x - mu) @ np.linalg.inv(S) @ (x - mu)) / norm

    pairs = list(zip(components.means, components.matrices, strict=True))
    return np.array([[density(x, *pair) for pair in pairs] for x in X])


def plane(components, reach=18.0):
    """Nodes and weights of a quadrature over the plane around the components."""
    low, high = components.means.min(axis=0) - reach, components.means.max(axis=0) + reach
    (x, u), (y, v) = (gauss_legendre(a, b, 12) for a, b in zip(low, high, strict=True))
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), np.outer(v, u).ravel()


def assignments(n, K):
    """All K^n one-hot Z."""
    return [np.eye(K)[list(k)] for k in product(range(K), repeat=n)]


def first_m_step(X, R, kind="full", floor=0.0):
    """The weights and components of the first M-step."""
    K, d = R.shape[1], X.shape[1]
    return maximise(X, R, gaussians(np.zeros((K, d)), unit(kind, K, d)), floor)


def states(X, start, steps, floor=0.0):
    """The start and the states after each of `steps` steps."""
    return list(islice(em(X, *start, partial(maximise, floor=floor)), steps + 1))


def converged(X, start, tol=1e-12, floor=0.0):
    run = iterate(em(X, *start, partial(maximise, floor=floor)), "gain", tol, 5000)
    assert run.converged
    return run.state


def two_bumps(rng, n=60):
    """One feature, two groups: n samples about -3 and n about 3; and their one-hot groups."""
    X = np.concatenate([rng.normal(-3, 1, size=n), rng.normal(3, 1, size=n)])[:, None]
    return X, np.repeat(np.eye(2), n, axis=0)


# --- The mixture -----------------------------------------------------------------------


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize("kind", KINDS)
def test_mixture_density_is_the_weighted_sum_of_normal_densities(rng, kind):
    weights, components = random_mixture(rng, K=4, kind=kind)
    X = 3 * rng.normal(size=(30, 2))
    table = table_by_the_book(X, components)
    np.testing.assert_allclose(np.exp(components.log_density(X)), table, rtol=1e-10)
    np.testing.assert_allclose(mixture_density(X, weights, components), table @ weights, rtol=1e-10)
    alone = mixture_density(X, np.eye(4)[2], components)
    np.testing.assert_allclose(alone, table[:, 2], rtol=1e-10)


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize(
    "weights, covariances, message",
    [
        ([0.5, 0.4], np.eye(2), "prior must be >= 0 with the sum 1"),
        ([0.5, 0.5], [[1.0, 2.0], [2.0, 1.0]], "positive definite"),
        ([0.5, 0.5], [[1.0, 0.5], [0.0, 1.0]], "must be symmetric"),
    ],
)
def test_mixture_density_refuses_what_is_none(weights, covariances, message):
    components = gaussians(np.zeros((2, 2)), [covariances] * 2)
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=message):
        mixture_density(np.zeros((1, 2)), np.array(weights), components)


@pytest.mark.claims("mixture-01")
@pytest.mark.parametrize("kind", KINDS)
def test_mixture_moments_are_those_of_the_density_by_quadrature(rng, kind):
    weights, components = random_mixture(rng, kind=kind)
    points, w = plane(components)
    p = mixture_density(points, weights, components)
    assert (p >= 0).all() and w @ p == pytest.approx(1, abs=1e-9)
    mean, covariance = mixture_moments(weights, components)
    np.testing.assert_allclose(mean, (w * p) @ points, rtol=0, atol=1e-8)
    by_quadrature = (points - mean).T @ ((w * p)[:, None] * (points - mean))
    np.testing.assert_allclose(covariance, by_quadrature, rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="weights must be >= 0 with the sum 1"):
        mixture_moments(10 * weights, components)


@pytest.mark.claims("mixture-02")
@pytest.mark.parametrize("kind", KINDS)
def test_generate_draws_from_the_mixture_and_tells_the_component(rng, kind):
    n, K = 40_000, 3
    weights, components = random_mixture(rng, K, kind=kind)
    X, Z = generate(n, weights, components, rng=rng)
    assert set(Z.ravel()) == {0, 1} and (Z.sum(axis=1) == 1).all()
    assert (np.abs(Z.mean(axis=0) - weights) < 5 * np.sqrt(weights * (1 - weights) / n)).all()
    laws = [(X, *mixture_moments(weights, components))]
    laws += [(X[Z[:, k] == 1], components.means[k], components.matrices[k]) for k in range(K)]
    for sample, mean, Sigma in laws:
        D = sample - mean
        products = D[:, :, None] * D[:, None, :]
        for values, expected in ((D, np.zeros(2)), (products, Sigma)):
            error = 5 * values.std(axis=0) / np.sqrt(len(sample))
            assert (np.abs(values.mean(axis=0) - expected) < error).all()


@pytest.mark.claims("mixture-03")
def test_printed_distribution_of_z_is_one_for_every_z(rng):
    weights, components = random_mixture(rng, K=5)
    _, Z = generate(40_000, weights, components, rng=rng)
    choices = np.eye(5)
    shares = [(Z == z).all(axis=1).mean() for z in choices]
    np.testing.assert_allclose(np.prod(weights**choices, axis=1), shares, rtol=0, atol=0.015)
    printed = np.array([weights.sum() for _ in choices])
    assert printed.sum() == pytest.approx(5) and np.sum(shares) == 1


@pytest.mark.claims("mixture-04")
def test_printed_density_given_z_integrates_to_the_number_of_components(rng):
    weights, components = random_mixture(rng, K=3)
    points, w = plane(components)
    densities = np.exp(components.log_density(points))
    assert w @ densities.sum(axis=1) == pytest.approx(3, abs=1e-8)  # printed, for every z
    given = [np.prod(densities**z, axis=1) for z in np.eye(3)]
    np.testing.assert_allclose(w @ np.transpose(given), 1, rtol=0, atol=1e-8)
    p = mixture_density(points, weights, components)
    np.testing.assert_allclose(np.prod(weights ** np.eye(3), axis=1) @ given, p, rtol=1e-12)


# --- The likelihood --------------------------------------------------------------------


@pytest.mark.claims("mixture-05")
@pytest.mark.parametrize("kind", KINDS)
def test_mixture_log_likelihood_is_the_log_of_the_product(rng, kind):
    weights, components = random_mixture(rng, kind=kind)
    X = 3 * rng.normal(size=(8, 2))
    direct = np.prod(table_by_the_book(X, components) @ weights)
    log_L = mixture_log_likelihood(X, weights, components)
    assert log_L == pytest.approx(np.log(direct), rel=1e-10)


@pytest.mark.claims("mixture-05")
def test_mixture_log_likelihood_is_finite_where_the_product_underflows():
    components, X = gaussians([[0.0], [1.0]], [1.0, 1.0]), np.array([[101.0], [-100.0]])
    assert not (table_by_the_book(X, components) @ HALVES).any()
    nearer = np.log(0.5 / np.sqrt(2 * np.pi)) - 5000  # the nearer component alone, at 100 sigma
    log_L = mixture_log_likelihood(X, HALVES, components)
    assert log_L == pytest.approx(2 * nearer, rel=1e-12)


@pytest.mark.claims("mixture-05")
def test_likelihood_its_log_and_the_negative_agree_on_the_best_mean(rng):
    X, grid = two_bumps(rng, n=4)[0], np.linspace(-5, 5, 201)
    mixtures = [gaussians([[-3.0], [m]], [1.0, 1.0]) for m in grid]
    L = [np.prod(table_by_the_book(X, components) @ HALVES) for components in mixtures]
    log_L = [mixture_log_likelihood(X, HALVES, components) for components in mixtures]
    assert np.argmax(L) == np.argmax(log_L) == np.argmin(np.negative(log_L))
    assert grid[np.argmax(L)] == pytest.approx(X[4:].mean(), abs=0.3)


@pytest.mark.claims("mixture-06")
def test_printed_loss_has_no_minimiser_and_the_corrected_one_falls(rng):
    X, _ = two_bumps(rng)
    weights, components = np.array([0.4, 0.6]), gaussians([[-1.0], [2.0]], [1.0, 4.0])
    t = np.array([0, 1e2, 1e3, 1e4])
    moved = [components._replace(means=components.means + far) for far in t]
    printed = np.array([mixture_log_likelihood(X, weights, c) for c in moved])
    assert (np.diff(printed) < 0).all()
    assert printed[-1] / t[-1] ** 2 == pytest.approx(-len(X) / (2 * 4), rel=1e-2)  # the wider leads
    corrected = [
        -mixture_log_likelihood(X, s.weights, s.components)
        for s in states(X, (weights, components), 30)
    ]
    assert (np.diff(corrected) < 1e-9).all() and corrected[-1] < corrected[0] - 50


@pytest.mark.claims("mixture-07")
def test_swapped_optima_are_equal_and_the_point_between_them_is_worse(rng):
    X, Z = two_bumps(rng)
    best = converged(X, first_m_step(X, Z))
    pi, c = best.weights, best.components
    swapped = gaussians(c.means[::-1], c.covariances[::-1])
    l_best = mixture_log_likelihood(X, pi, c)
    assert mixture_log_likelihood(X, pi[::-1], swapped) == pytest.approx(l_best, rel=1e-12)
    middle = gaussians((c.means + swapped.means) / 2, (c.covariances + swapped.covariances) / 2)
    l_middle = mixture_log_likelihood(X, (pi + pi[::-1]) / 2, middle)
    assert -l_middle > -l_best + 10  # above the chord between two equal values: not convex


@pytest.mark.claims("mixture-08")
@pytest.mark.parametrize("d, first", [(1, 14), (3, 8)])  # p_2(x_1) counts for less and less
def test_likelihood_has_no_maximum_unless_the_covariances_have_a_floor(rng, d, first):
    X = rng.normal(size=(20, d))

    def loss(eps):
        return -mixture_log_likelihood(X, HALVES, gaussians([X[0], np.zeros(d)], [eps, 1.0]))

    losses = [loss(10.0**-k) for k in range(first, 31)]
    np.testing.assert_allclose(np.diff(losses), -d / 2 * np.log(10), rtol=0, atol=1e-6)
    floor = 1e-3
    bound = -d / 2 * np.log(2 * np.pi * floor)  # no density is above (2 pi floor)^(-d/2)
    start = HALVES, gaussians([X[0], np.zeros(d)], [floor, 1.0])
    last = states(X, start, 200, floor)[-1]
    assert last.components.covariances.min() >= floor and last.objective < bound


@pytest.mark.claims("mixture-09")
def test_complete_log_likelihood_is_a_product_and_sums_to_the_incomplete_one(rng):
    weights, components = random_mixture(rng, K=2)
    X = 3 * rng.normal(size=(5, 2))
    table, total = table_by_the_book(X, components), 0
    for Z in assignments(5, 2):
        literal = np.prod([weights[k] * table[i, k] for i, k in enumerate(Z.argmax(axis=1))])
        l_c = complete_log_likelihood(X, Z, weights, components)
        assert l_c == pytest.approx(np.log(literal), rel=1e-12)
        total += np.exp(l_c)
    assert np.log(total) == pytest.approx(mixture_log_likelihood(X, weights, components), rel=1e-12)
    alone, Z = np.array([1.0, 0.0]), np.tile([1.0, 0.0], (5, 1))  # 0 ln 0 = 0
    expected = mixture_log_likelihood(X, alone, components)
    assert complete_log_likelihood(X, Z, alone, components) == pytest.approx(expected)
    assert complete_log_likelihood(X, 1 - Z, alone, components) == -np.inf


@pytest.mark.claims("mixture-13")
def test_q_is_the_mean_of_the_complete_log_likelihood_over_all_assignments(rng):
    (weights, new), (old_weights, old) = (random_mixture(rng, K=2) for _ in range(2))
    X = 2 * rng.normal(size=(6, 2))
    every = assignments(6, 2)
    p = np.exp([complete_log_likelihood(X, Z, old_weights, old) for Z in every])
    l_c = [complete_log_likelihood(X, Z, weights, new) for Z in every]
    R, _ = e_step(X, old_weights, old)
    Q = complete_log_likelihood(X, R, weights, new)
    assert Q == pytest.approx(p @ l_c / p.sum(), rel=1e-10)


# --- E-step ----------------------------------------------------------------------------


@pytest.mark.claims("mixture-10")
def test_e_step_gives_the_marginals_of_the_posterior_over_all_assignments(rng):
    weights, components = random_mixture(rng, K=3)
    X = 2 * rng.normal(size=(4, 2))
    R, log_p = e_step(X, weights, components)
    every = assignments(4, 3)
    p = np.exp([complete_log_likelihood(X, Z, weights, components) for Z in every])
    np.testing.assert_allclose(R, np.tensordot(p / p.sum(), every, axes=1), rtol=1e-10)
    assert log_p.sum() == pytest.approx(np.log(p.sum()), rel=1e-12)


@pytest.mark.claims("mixture-10")
@pytest.mark.parametrize("kind", KINDS)
def test_e_step_of_far_samples_has_rows_that_sum_to_one(rng, kind):
    weights, components = random_mixture(rng, kind=kind)
    X = np.vstack([np.eye(2), -np.eye(2)])[:, None] * np.array([1e3, 1e8, 1e150])[:, None]
    R, _ = e_step(X.reshape(-1, 2), weights, components)
    np.testing.assert_allclose(R.sum(axis=1), 1, rtol=1e-12)
    equal = gaussians([[0.0], [0.0]], [1.0, 1.0])
    R, log_p = e_step(np.array([[1e9]]), np.array([0.2, 0.8]), equal)
    np.testing.assert_allclose(R, [[0.5, 0.5]])  # ln p = -5e17 has no decimals left
    assert log_p == pytest.approx(-5e17, rel=1e-12)


@pytest.mark.claims("mixture-11")
def test_printed_denominator_leaves_rows_and_weights_below_one(rng):
    weights, components = random_mixture(rng, K=3)
    X, _ = generate(50, weights, components, rng=rng)
    P = table_by_the_book(X, components)
    printed = weights * P / P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(printed.sum(axis=1), P @ weights / P.sum(axis=1), rtol=1e-12)
    assert (printed.sum(axis=1) < 1).all()
    assert maximise(X, printed, components)[0].sum() < 0.9
    correct, _ = e_step(X, weights, components)
    np.testing.assert_allclose(correct, weights * P / (P @ weights)[:, None], rtol=1e-10)
    assert maximise(X, correct, components)[0].sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.claims("mixture-12")
def test_the_mean_of_the_posterior_is_the_prior_but_the_posterior_is_not(rng):
    weights, components = random_mixture(rng, K=3)
    components = components._replace(means=np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]]))
    points, w = plane(components)
    R, log_p = e_step(points, weights, components)
    np.testing.assert_allclose((w * np.exp(log_p)) @ R, weights, rtol=0, atol=1e-8)
    at_means, _ = e_step(components.means, weights, components)
    np.testing.assert_allclose(at_means, np.eye(3), rtol=0, atol=1e-3)


@pytest.mark.claims("mixture-13")
def test_likelihood_is_q_plus_entropy_and_for_other_responsibilities_plus_kl(rng):
    weights, components = random_mixture(rng, K=3)
    X = 2 * rng.normal(size=(20, 2))
    exact, log_p = e_step(X, weights, components)
    R = rng.dirichlet(np.ones(3), size=20)
    R[0] = [1, 0, 0]  # 0 ln 0 = 0
    for r in (exact, R):
        positive = r > 0
        kl = np.sum(r[positive] * np.log(r[positive] / exact[positive]))
        Q = complete_log_likelihood(X, r, weights, components)
        assert Q + assignment_entropy(r) + kl == pytest.approx(log_p.sum(), rel=1e-10)
    assert kl > 1


# --- M-step ----------------------------------------------------------------------------


@pytest.mark.claims("mixture-14")
def test_maximise_is_weighted_maximum_likelihood(rng):
    X, R = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(2), size=40)
    weights, new = first_m_step(X, R)
    for k in range(2):
        np.testing.assert_allclose(new.means[k], np.average(X, axis=0, weights=R[:, k]))
        by_numpy = np.cov(X.T, aweights=R[:, k], ddof=0)
        np.testing.assert_allclose(new.covariances[k], by_numpy, rtol=1e-10)
    np.testing.assert_allclose(R.sum(axis=0) / weights, 40, rtol=1e-12)  # the multiplier is n
    _, diagonal = first_m_step(X, R, "diag")
    np.testing.assert_allclose(diagonal.means, new.means, rtol=1e-12)
    of_full = np.diagonal(new.covariances, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal.covariances, of_full, rtol=1e-12)
    np.testing.assert_array_equal(diagonal.matrices[1], np.diag(diagonal.covariances[1]))


@pytest.mark.claims("mixture-14")
@pytest.mark.parametrize("kind", KINDS)
def test_maximise_has_the_largest_q_and_a_gradient_of_zero(rng, kind):
    X, R, h = rng.normal(size=(40, 2)), rng.dirichlet(np.ones(3), size=40), 1e-5
    weights, best = first_m_step(X, R, kind)
    m, S = best.means, best.covariances

    def q(means, covariances, pi=weights):
        return complete_log_likelihood(X, R, pi, gaussians(means, covariances))

    for _ in range(20):
        D, E, u = rng.normal(size=m.shape), rng.normal(size=S.shape), rng.normal(size=3)
        E = E + E.mT if kind == "full" else E
        assert (q(m + h * D, S) - q(m - h * D, S)) / (2 * h) == pytest.approx(0, abs=1e-5)
        assert (q(m, S + h * E) - q(m, S - h * E)) / (2 * h) == pytest.approx(0, abs=1e-5)
        other_weights = weights * np.exp(0.1 * u)
        other = q(m + 0.1 * D, S * np.exp(0.1 * u[0]), other_weights / other_weights.sum())
        assert other < q(m, S)
    X_old = X[:, None] - np.zeros((3, 2))  # the covariance about the old means, which were 0
    about_old = np.einsum("ik,ikj,ikl->kjl", R / R.sum(axis=0), X_old, X_old)
    if kind == "diag":
        about_old = np.diagonal(about_old, axis1=1, axis2=2)
    assert q(m, about_old) < q(m, S)


@pytest.mark.parametrize("kind", KINDS)
def test_maximise_keeps_the_digits_of_samples_far_from_the_origin(rng, kind):
    near = np.round(rng.normal(size=(500, 3)) * 2**10) / 2**10
    far = near + 2.0**27  # exact
    R = rng.dirichlet([1, 1], size=500)
    (_, a), (_, b) = (first_m_step(X, R, kind) for X in (near, far))
    np.testing.assert_allclose(a.covariances, b.covariances, rtol=0, atol=1e-7)
    r = R[:, 0] / R[:, 0].sum()
    cancelled = (r * far.T) @ far - np.outer(r @ far, r @ far)
    assert np.abs(cancelled - a.matrices[0]).max() > 0.1  # what E[x x^T] - mu mu^T is worth there


@pytest.mark.parametrize("kind", KINDS)
def test_maximise_leaves_a_component_without_samples_as_it_was(rng, kind):
    X, R = rng.normal(size=(20, 2)), np.tile([0.4, 0.6, 0.0], (20, 1))
    R[:10, :2] = [1, 0]
    _, before = random_mixture(rng, K=3, kind=kind)
    weights, after = maximise(X, R, before)
    assert weights[2] == 0 and not (after.means[:2] == before.means[:2]).any()
    for state in states(X, (weights, after), 3, floor=1e-3):
        assert state.weights[2] == 0 and not state.responsibilities[:, 2].any()
        np.testing.assert_array_equal(state.components.means[2], before.means[2])
        np.testing.assert_array_equal(state.components.covariances[2], before.covariances[2])


def test_lift_eigenvalues_is_certified_the_likeliest(rng):
    """Concave in P = Sigma^{-1}: Sigma - S = M >= 0 and M (I / c - P) = 0 suffice."""
    with pytest.raises(ValueError, match="S must be symmetric"):
        lift_eigenvalues(np.array([[1.0, 2.0], [0.0, 1.0]]), 0.5)
    for rank, c in ((1, 0.2), (2, 2.0), (4, 1.0)):
        A = rng.normal(size=(4, rank))
        S = A @ A.T
        Sigma = lift_eigenvalues(S, c)
        M, P = Sigma - S, np.linalg.inv(Sigma)
        assert np.linalg.eigvalsh(Sigma).min() > c - 1e-10
        assert np.linalg.eigvalsh(M).min() > -1e-10 and np.abs(M).max() > 0.01
        np.testing.assert_allclose(M @ (np.eye(4) / c - P), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(lift_eigenvalues(S, 1e-9), S, rtol=0, atol=1e-12)  # none to lift
    np.testing.assert_array_equal(lift_eigenvalues(np.array([3.0, 0.1]), 0.5), [3.0, 0.5])


# --- EM --------------------------------------------------------------------------------


@pytest.mark.claims("mixture-15")
def test_em_recovers_the_mixture_the_samples_are_from(rng):
    n, weights = 3000, np.array([0.2, 0.3, 0.5])
    means = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    covariances = np.array([[[1.0, 0.5], [0.5, 1.0]], [[2.0, 0.0], [0.0, 0.5]], np.eye(2)])
    X, _ = generate(n, weights, gaussians(means, covariances), rng=rng)
    last = converged(X, (np.full(3, 1 / 3), gaussians(means + 1, unit("full", 3, 2))))
    n_k, variances = n * weights[:, None], np.diagonal(covariances, axis1=1, axis2=2)
    squares = variances[:, :, None] * variances[:, None, :] + covariances**2
    for estimate, truth, variance in (
        (last.weights, weights, weights * (1 - weights) / n),
        (last.components.means, means, variances / n_k),
        (last.components.covariances, covariances, squares / n_k[:, None]),
    ):
        assert (np.abs(estimate - truth) < 5 * np.sqrt(variance)).all()


@pytest.mark.claims("mixture-15")
@pytest.mark.parametrize("kind", KINDS)
def test_em_stays_at_a_fixed_point(kind):
    X = np.array([[-1.0], [1.0], [9.0], [11.0]])  # so far apart that r is 0 or 1 to rounding
    start, after = states(X, (HALVES, gaussians([[0.0], [10.0]], unit(kind, 2, 1))), 1)
    np.testing.assert_allclose(after.weights, start.weights, rtol=1e-10)
    np.testing.assert_allclose(after.components.means, start.components.means, rtol=0, atol=1e-10)
    np.testing.assert_allclose(after.components.covariances, unit(kind, 2, 1), rtol=1e-10)
    assert start.gain == np.inf and after.gain == pytest.approx(0, abs=1e-12)


@pytest.mark.claims("mixture-07")
def test_em_keeps_equal_components_equal_though_others_are_better(rng):
    X, _ = two_bumps(rng)
    pi, one = np.array([0.3, 0.7]), X.mean()
    for state in states(X, (pi, gaussians([[one]] * 2, [X.var()] * 2)), 50):
        np.testing.assert_allclose(state.responsibilities, np.tile(pi, (len(X), 1)), rtol=1e-10)
        np.testing.assert_allclose(state.components.means, one, rtol=0, atol=1e-10)
    apart = converged(X, (pi, gaussians([[-1.0], [1.0]], [1.0, 1.0])))
    assert apart.objective > state.objective + 0.1


@pytest.mark.claims("mixture-16")
@pytest.mark.parametrize("kind", KINDS)
def test_em_raises_the_likelihood_by_at_least_the_rise_of_q(kind):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = make_blobs([15, 15, 15], 3 * rng.normal(size=(3, 2)), rng=rng).X
        start = first_m_step(X, rng.dirichlet(np.ones(3), size=45), kind, floor=1e-3)
        for old, new in pairwise(states(X, start, 20, floor=1e-3)):
            Q_old, Q_new = (
                complete_log_likelihood(X, old.responsibilities, *state[:2]) for state in (old, new)
            )
            l_old, l_new = (mixture_log_likelihood(X, *state[:2]) for state in (old, new))
            assert l_new - l_old + 1e-9 >= Q_new - Q_old >= -1e-9
            assert new.gain == pytest.approx((l_new - l_old) / len(X), abs=1e-10)
            assert new.objective == pytest.approx(l_new / len(X), rel=1e-12)
            np.testing.assert_allclose(new.responsibilities, e_step(X, *new[:2])[0], rtol=1e-12)


@pytest.mark.claims("mixture-16")
def test_em_ends_where_the_gradient_vanishes(rng):
    X, Z = two_bumps(rng)
    h, last = 1e-5, converged(X, first_m_step(X, Z), tol=0)
    theta = last.weights, last.components.means, last.components.covariances

    def slope(*direction):
        sides = [[p + s * q for p, q in zip(theta, direction, strict=True)] for s in (h, -h)]
        ahead, behind = (
            mixture_log_likelihood(X, w, gaussians(m, S)) / len(X) for w, m, S in sides
        )
        return (ahead - behind) / (2 * h)

    for e in np.eye(2):
        assert slope(0, e[:, None], 0) == pytest.approx(0, abs=1e-6)
        assert slope(0, 0, e[:, None, None]) == pytest.approx(0, abs=1e-6)
    assert slope(np.array([1, -1]), 0, 0) == pytest.approx(0, abs=1e-6)


@pytest.mark.claims("mixture-16")
def test_em_may_end_at_different_local_optima(rng):
    X = make_blobs([30, 30, 30, 30], [[0, 0], [6, 0], [0, 6], [20, 20]], rng=rng).X
    good = np.repeat(np.eye(4), 30, axis=0)
    bad = np.repeat(np.eye(4)[[0, 0, 1, 2]], 30, axis=0)
    bad[-15:] = np.eye(4)[3]
    starts = [first_m_step(X, R, "diag", floor=0.01) for R in (good, bad)]
    ends = [converged(X, start, floor=0.01) for start in starts]
    assert ends[0].objective > ends[1].objective + 0.1


@pytest.mark.claims("mixture-17")
def test_responsibilities_harden_into_those_of_k_means(rng):
    X, centers = 3 * rng.normal(size=(100, 2)), 3 * rng.normal(size=(4, 2))
    quarter = np.full(4, 0.25)
    D = np.sum((X[:, None] - centers) ** 2, axis=2)
    gap = D - D.min(axis=1, keepdims=True)
    hard, worst = np.eye(4)[nearest(X, centers)[0]], []
    for sigma2 in (4.0, 1.0, 0.25, 1e-2, 1e-4):
        components = gaussians(centers, np.full(4, sigma2))
        R, log_p = e_step(X, quarter, components)
        log_R = log_joint(components.log_density(X), quarter) - log_p[:, None]
        assert (log_R <= -gap / (2 * sigma2) + 1e-8).all()
        worst.append(np.abs(R - hard).max())
    assert (np.diff(worst) <= 0).all() and worst[0] > 0.3 and worst[-1] < 1e-12


@pytest.mark.claims("mixture-17")
def test_m_step_on_hard_assignments_is_the_update_of_k_means(rng):
    X, labels = rng.normal(size=(60, 2)), np.arange(60) % 3
    weights, components = first_m_step(X, np.eye(3)[labels])
    np.testing.assert_allclose(components.means, cluster_means(X, labels, 3), rtol=0, atol=1e-12)
    for k in range(3):
        of_cluster = np.cov(X[labels == k].T, ddof=0)
        np.testing.assert_allclose(components.covariances[k], of_cluster, rtol=1e-11)
    np.testing.assert_allclose(weights, 1 / 3, rtol=1e-12)


# --- GaussianMixture -------------------------------------------------------------------


@pytest.fixture(scope="module")
def petals():
    return load_iris().X[:, 2:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["kmeans", "random_from_data"])
def test_fit_is_em_from_the_first_clusters(petals, kind, start):
    rng = np.random.default_rng(4)
    if start == "kmeans":
        labels = KMeans(3, random_state=rng).fit(petals).labels_
    else:
        labels, _ = nearest(petals, petals[rng.choice(150, 3, replace=False)])
    first = first_m_step(petals, np.eye(3)[labels], kind)
    run = iterate(em(petals, *first), "gain", 1e-5, 500)
    how = {"covariance_type": kind, "init_params": start, "tol": 1e-5, "max_iter": 500}
    model = GaussianMixture(3, **how, random_state=np.random.default_rng(4)).fit(petals)
    for value, expected in (
        (model.weights_, run.state.weights),
        (model.means_, run.state.components.means),
        (model.covariances_, run.state.components.covariances),
        (model.history_, run.history),
        (model.score(petals), run.history[-1]),
    ):
        np.testing.assert_allclose(value, expected, rtol=1e-9)
    assert model.converged_ and model.n_iter_ == run.n_iter
    assert model.lower_bound_ == model.history_[-1]


@pytest.mark.parametrize("kind, free", [("full", 17), ("diag", 14)])
def test_fitted_attributes_and_answers_fit_together(petals, kind, free):
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(petals)
    components = gaussians(model.means_, model.covariances_)
    pairs = zip(model.precisions_, model.precisions_cholesky_, components.matrices, strict=True)
    for P, U, Sigma in pairs:
        P, U = (np.diag(A) if kind == "diag" else A for A in (P, U))
        np.testing.assert_allclose(P @ Sigma, np.eye(2), rtol=0, atol=1e-10)
        np.testing.assert_allclose(U @ U.T, P, rtol=1e-10)
        assert (U == np.triu(U)).all() and (np.diag(U) > 0).all()
    R, log_p = e_step(petals, model.weights_, components)
    np.testing.assert_allclose(model.predict_proba(petals), R, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.predict(petals), R.argmax(axis=1))
    np.testing.assert_allclose(model.score_samples(petals), log_p, rtol=1e-10)
    assert model.aic(petals) == pytest.approx(2 * free - 2 * log_p.sum(), rel=1e-12)
    assert model.bic(petals) == pytest.approx(np.log(150) * free - 2 * log_p.sum(), rel=1e-12)


def test_sample_draws_from_the_fitted_density(petals):
    model = GaussianMixture(3, random_state=0).fit(petals)
    X, labels = model.sample(20_000)
    mean, covariance = mixture_moments(model.weights_, gaussians(model.means_, model.covariances_))
    np.testing.assert_allclose(X.mean(axis=0), mean, rtol=0, atol=0.08)
    np.testing.assert_allclose(np.cov(X.T), covariance, rtol=0, atol=0.15)
    nearest_mean = np.sum((X[:, None] - model.means_) ** 2, axis=2).argmin(axis=1)
    assert np.mean(labels == nearest_mean) > 0.9
    np.testing.assert_array_equal(X, model.sample(20_000)[0])
    assert model.sample()[0].shape == (1, 2)
    for asked, n, message in ((model, 0, "n_samples .*; got 0"), (GaussianMixture(), 1, "not fit")):
        with pytest.raises(ValueError, match=message):
            asked.sample(n)


def test_the_best_of_several_runs_is_kept_and_of_equal_ones_the_first():
    centers = [[0, 0], [6, 0], [0, 6], [20, 20]]
    X = make_blobs([30] * 4, centers, rng=np.random.default_rng(0)).X
    how = {"covariance_type": "diag", "init_params": "random_from_data"}
    draws = np.random.default_rng(5)
    single = [GaussianMixture(4, **how, random_state=draws).fit(X) for _ in range(3)]
    several = GaussianMixture(4, **how, n_init=3, random_state=np.random.default_rng(5)).fit(X)
    scores = [model.lower_bound_ for model in single]
    assert scores[2] > scores[1] + 0.01 > max(model.history_[1] for model in single)
    assert several.lower_bound_ == pytest.approx(scores[2], rel=ROUNDING)
    X = np.array([[-1.0], [1.0], [9.0], [11.0]])  # every start from k-means ends here
    first, many = (GaussianMixture(2, n_init=k, random_state=0).fit(X) for k in (1, 9))
    np.testing.assert_array_equal(first.means_, many.means_)


def test_more_components_than_samples_and_an_infinite_floor_are_refused():
    for model, message in (
        (GaussianMixture(7), "n_components must be <= the number of samples 6; got 7"),
        (GaussianMixture(reg_covar=np.inf), "reg_covar must be a number > 0 and < inf; got inf"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(np.arange(12.0).reshape(6, 2))


UGLY = {
    "one sample": lambda rng: np.zeros((1, 1)),
    "zeros": lambda rng: np.zeros((5, 3)),
    "n < d": lambda rng: rng.normal(size=(6, 9)),
    "duplicates": lambda rng: np.repeat(rng.normal(size=(5, 3)), 6, axis=0) * 1e8,
    "far, one constant": lambda rng: rng.normal(size=(30, 3)) * [1, 0, 1] + 1e8,
    "different scales": lambda rng: rng.normal(size=(40, 3)) * [1e140, 1, 1e-140],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", UGLY)
def test_likelihood_never_falls_on_any_data(case, kind):
    for seed in range(3):
        X = UGLY[case](np.random.default_rng(seed))
        how = {"covariance_type": kind, "init_params": "random_from_data", "random_state": seed}
        model = GaussianMixture(min(3, len(X)), **how, tol=1e-9, max_iter=1000).fit(X)
        rises = np.diff(model.history_)
        assert (rises >= -1e-8 * np.maximum(1, np.abs(model.history_[1:]))).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert model.score(X) == pytest.approx(model.lower_bound_, rel=1e-5)


def test_a_component_is_no_thinner_than_the_floor_and_a_millionth_of_the_range():
    X = np.repeat([[0.0, 0.0], [1e9, 1.0]], 3, axis=0)
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    np.testing.assert_allclose(model.covariances_, [[1e6, 1e-6]] * 2, rtol=1e-9)
    assert model.history_[0] == pytest.approx(model.history_[-1])  # and so from the start on


def test_a_shift_of_the_samples_shifts_the_means_and_nothing_else(petals):
    near = GaussianMixture(3, random_state=0).fit(petals)
    far = GaussianMixture(3, random_state=0).fit(petals + 2.0**23)  # rounds to 1e-9
    np.testing.assert_allclose(far.means_ - 2.0**23, near.means_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=0, atol=1e-6)
    assert far.lower_bound_ == pytest.approx(near.lower_bound_, abs=1e-6)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("mixture-18")
def test_progress_of_em_is_drawn_as_it_is():
    from figures.mixture import STEPS, em_progress, em_start

    axes = Figure().subplots(2, 3).ravel()
    em_progress(*axes)
    X, start = em_start()
    run = states(X, start, STEPS[-1])
    for ax, t in zip(axes, STEPS, strict=True):
        components = run[t].components
        rims = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) > 100]
        for mu, Sigma in zip(components.means, components.matrices, strict=True):
            two_sigma = [
                np.allclose(np.sum(np.linalg.solve(Sigma, (rim - mu).T).T * (rim - mu), 1), 4)
                for rim in rims
            ]
            assert sum(two_sigma) == 2  # a rim in black, and a colour upon it
        (x_low, x_high), (y_low, y_high) = ax.get_xlim(), ax.get_ylim()
        low, high = np.min(rims, axis=(0, 1)), np.max(rims, axis=(0, 1))
        assert (low > [x_low, y_low]).all() and (high < [x_high, y_high]).all()
        assert ax.get_title() == f"step {t}: $l = {len(X) * run[t].objective:.0f}$"


@pytest.mark.claims("mixture-20")
def test_k_means_cuts_the_long_group_and_the_mixture_finds_the_groups():
    from figures.mixture import both_fits

    X, clusters, last = both_fits()
    labels = np.repeat([0, 1, 2], [300, 60, 60])  # how the samples were made
    soft = last.responsibilities.argmax(axis=1)
    hard = sum(np.bincount(labels[clusters.labels_ == k]).max() for k in range(3))
    pure = sum(np.bincount(labels[soft == k]).max() for k in range(3))
    assert len(set(clusters.labels_[labels == 0])) > 1
    assert pure > 0.98 * len(X) > hard
    assert np.mean(last.responsibilities.max(axis=1) < 0.99) > 0.01  # shares, not labels


def test_the_collapsing_component_passes_the_best_fit_with_a_floor():
    from figures.mixture import FLOOR, best_with_floor, dent_scores, with_spike

    x = dent_scores()
    weights, spiked = with_spike(x)
    l_of = {w: mixture_log_likelihood(x, weights, spiked(w)) for w in (1e-5, 1e-4, 0.3, FLOOR)}
    assert l_of[1e-5] - l_of[1e-4] == pytest.approx(13 * np.log(10), rel=1e-3)  # 13 zeros; 30
    assert np.count_nonzero(x == 0) == 13
    assert l_of[0.3] > best_with_floor(x) > l_of[FLOOR]
