"""Mixtures: densities with a hidden choice in them, and the algorithm that estimates both.

Each sample is from one of K components, but which one is hidden. EM replaces this choice by its
expectation, estimates again, and so on. The likelihood of the observed samples never falls.

Contents
    The mixture           log_joint, mixture_log_density, mixture_density, generate, mixture_moments
    The likelihood        log_likelihood, complete_log_likelihood
    E-step                e_step, responsibilities, expected_log_likelihood, entropy
    M-step                maximise
    EM                    em, EMState
    Gaussian components   gaussians, Gaussians, initialise, weighted_scatter, least_variances,
                          floored
    Bernoulli components  bernoullis, Bernoullis
    Estimator             GaussianMixture

Symbols
    X            (n, d)     samples x, one per row
    weights      (K,)       pi: pi_k >= 0, sum_k pi_k = 1
    components              the K densities p_k, all of one family; theta = (weights, components)
    means        (K, d)     mu_k
    covariances             Sigma_k of the kind "full" (K, d, d); "tied" (d, d), the same for all;
                            "diag" (K, d), variances; "spherical" (K,), Sigma_k = sigma_k^2 I
    Z            (n, K)     which component each sample is from: one-hot rows z
    R            (n, K)     responsibilities, r_ik = P(z_ik = 1 | x_i); their rows sum to 1
    n_k          (K,)       sum_i r_ik: the samples of component k, counted in fractions
    joint        (n, K)     ln pi_k p_k(x_i)
    rng          Generator  source of random numbers

A family is any class with three methods: ``log_density(X)`` gives ln p_k(x_i), (n, K);
``maximised(X, R)`` gives the components of the family that maximise sum_ik r_ik ln p_k(x_i);
``draw(k, rng)`` gives a sample of component k[i] for every i, (n, d).

Notes: MLN "Mixture density Estimate and EM algorithm"; REP "Clustering with mixtures of Gaussian";
ISML "Clustering" 4. MLN writes lambda_k for our pi_k and phi(x|theta_j) for p_k; REP has P_j for
p_k and w_ij for r_ik.
"""

from dataclasses import KW_ONLY, dataclass
from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    DensityEstimator,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    iterate,
    row_blocks,
)
from mlnotes.clustering import kmeans_plus_plus, lloyd, nearest, one_hot_labels
from mlnotes.decision_theory import check_possible
from mlnotes.decision_theory import log_joint as log_weighted_densities
from mlnotes.numerics import squared_norms, symmetric
from mlnotes.probability import log_sum_exp

KINDS = ("full", "tied", "diag", "spherical")
MATRICES = ("full", "tied")  # the kinds that are more than a diagonal
STARTS = ("kmeans", "k-means++", "random_from_data", "random")
BLOCK = 4096  # samples worked on at a time: their temporaries stay in the cache
THIN = 1e-7  # smallest width of a component, as a share of the range of X: less would be rounding
EQUAL = 1e-9  # results of several runs are equal up to this gap of the mean l: the first is kept
KMEANS_TOL, KMEANS_STEPS = 1e-4, 300  # tol and max_iter of `clustering.KMeans`, for the start


# ---------------------------------------------------------------------------------------
# The mixture
# ---------------------------------------------------------------------------------------


def log_joint(X, weights, components):
    """ln P(z_k = 1) p(x_i | z_k = 1) = ln pi_k + ln p_k(x_i), -inf where pi_k = 0: (n, K).

    Raises: ValueError unless the weights are >= 0, sum to 1, and are one for each component.

    >>> components = gaussians([[0.0], [1.0]], [1 / (2 * np.pi)] * 2, "spherical")  # height 1
    >>> np.exp(log_joint(np.array([[0.0]]), np.array([1.0, 0.0]), components)).round(12)
    array([[1., 0.]])
    """
    return log_weighted_densities(components.log_density(X), np.asarray(weights))


def mixture_log_density(X, weights, components):
    """ln p(x_i) = ln sum_k pi_k p_k(x_i), by log-sum-exp: (n,).

    >>> components = gaussians([[0.0], [0.0]], [1 / (2 * np.pi)] * 2, "spherical")  # height 1
    >>> mixture_log_density(np.array([[1000.0]]), np.array([0.5, 0.5]), components).round(3)
    array([-3141592.654])
    """
    return log_sum_exp(log_joint(X, weights, components))


def mixture_density(X, weights, components):
    """p(x) = sum_k pi_k p_k(x), with pi_k >= 0 and sum_k pi_k = 1.

    >>> components = gaussians([[0.0], [0.0]], np.array([1, 4]) / (2 * np.pi), "spherical")
    >>> mixture_density(np.array([[0.0]]), np.array([0.5, 0.5]), components).round(12)
    array([0.75])
    """
    return np.exp(mixture_log_density(X, weights, components))


def generate(n, weights, components, *, rng):
    """Draw z with P(z_k = 1) = pi_k, then x from p_k: the x alone have the mixture density.

    For one-hot z, P(z) = prod_k pi_k^{z_k} and p(x|z) = prod_k p_k(x)^{z_k}. Returns: X (n, d) and
    the one-hot Z (n, K).

    >>> components = gaussians([[0.0], [100.0]], [1.0, 1.0], "spherical")
    >>> X, Z = generate(5, np.array([0.0, 1.0]), components, rng=np.random.default_rng(0))
    >>> Z.sum(axis=0), bool((abs(X - 100) < 10).all())
    (array([0., 5.]), True)

    Errata: mixture-03 (ISML prints P(z) = sum_k pi_k, which is 1 for every z), mixture-04 (ISML
    prints p(x|z) = sum_k p_k(x), which does not depend on z and integrates to K).
    """
    k = rng.choice(len(weights), size=n, p=weights)  # the hidden choices
    X = components.draw(k, rng)  # x_i from component k[i]
    Z = np.eye(len(weights))[k]  # the choices as one-hot rows
    return X, Z


def mixture_moments(weights, means, covariances):
    """E[x] = sum_k pi_k mu_k and Var[x] = sum_k pi_k (Sigma_k + mu_k mu_k^T) - E[x] E[x]^T.

    Returns: the mean (d,) and the covariance (d, d), for covariances (K, d, d) of any family.

    >>> means, covariances = np.array([[-1.0], [1.0]]), np.array([[[1.0]], [[1.0]]])
    >>> mixture_moments(np.array([0.5, 0.5]), means, covariances)
    (array([0.]), array([[2.]]))
    """
    mean = weights @ means
    within = np.tensordot(weights, covariances, axes=1)
    return mean, within + weighted_scatter(means, mean, weights)  # about E[x]: no digits cancel


# ---------------------------------------------------------------------------------------
# The likelihood
# ---------------------------------------------------------------------------------------


def log_likelihood(X, weights, components):
    """l(theta) = ln prod_i p(x_i) = sum_i ln sum_k pi_k p_k(x_i).

    With free covariances l has no maximum. A floor under the eigenvalues of Sigma_k gives it one.

    >>> components = gaussians([[0.0]], [1 / (2 * np.pi)], "spherical")  # height 1
    >>> round(log_likelihood(np.array([[0.0], [1.0]]), np.array([1.0]), components) / np.pi, 12)
    -1.0

    Errata: mixture-06 (REP minimises "L = sum_i ln {...}" without the minus sign), mixture-08 (REP
    says that the global minimum of -l is NP-hard to find; there is none).
    """
    return float(mixture_log_density(X, weights, components).sum())


def complete_log_likelihood(X, Z, weights, components):
    """l_c(theta) = ln prod_i p(x_i, z_i) = sum_ik z_ik (ln pi_k + ln p_k(x_i)).

    Z is one-hot. Where z_ik = 0 the term is 0, also for pi_k = 0.

    >>> X, Z = np.array([[0.0], [9.0]]), np.array([[1, 0], [0, 1]])
    >>> components = gaussians([[0.0], [9.0]], [1 / (2 * np.pi)] * 2, "spherical")  # height 1
    >>> round(np.exp(complete_log_likelihood(X, Z, np.array([0.25, 0.75]), components)), 12)
    np.float64(0.1875)
    """
    joint = log_joint(X, weights, components)
    return float(np.sum(Z * np.where(Z > 0, joint, 0.0)))


# ---------------------------------------------------------------------------------------
# E-step
# ---------------------------------------------------------------------------------------


def e_step(X, weights, components):
    """r_ik = pi_k p_k(x_i) / p(x_i) and ln p(x_i), where p(x_i) = sum_j pi_j p_j(x_i).

    It is computed by logarithms, since far from all components densities are 0 in floating point.

    Returns: R (n, K) and ln p(x_i) (n,). Raises: ValueError if p(x_i) = 0 for a sample.

    >>> components = gaussians([[0.0], [2.0]], [1 / (2 * np.pi)] * 2, "spherical")
    >>> R, log_p = e_step(np.array([[1.0]]), np.array([0.25, 0.75]), components)
    >>> R.round(12), log_p.round(12) / np.pi
    (array([[0.25, 0.75]]), array([-1.]))
    """
    joint = check_possible(log_joint(X, weights, components))  # ln pi_k p_k(x_i)
    log_p = log_sum_exp(joint)  # ln p(x_i)
    R = np.exp(joint - log_p[:, None])
    return R / R.sum(axis=1, keepdims=True), log_p  # the sum is 1, except for rounding


def responsibilities(X, weights, components):
    """r_ik = E[z_ik | x_i] = pi_k p_k(x_i) / sum_j pi_j p_j(x_i): Bayes' rule for z_i, (n, K).

    >>> components = gaussians([[-1.0], [1.0]], [1.0, 1.0], "spherical")
    >>> responsibilities(np.array([[0.5]]), np.array([0.5, 0.5]), components).round(3)
    array([[0.269, 0.731]])

    Errata: mixture-11 (REP leaves pi_j out of the denominator, so that rows do not sum to 1),
    mixture-12 (ISML 4.1 calls r_ik a likelihood, and writes E(z_ik), which is pi_k).
    """
    return e_step(X, weights, components)[0]


def expected_log_likelihood(X, R, weights, components):
    """Q(theta, theta_old) = E[l_c(theta) | X, theta_old] = sum_ik r_ik (ln pi_k + ln p_k(x_i)).

    R are the responsibilities of theta_old. With those of theta, l(theta) = Q + entropy(R).

    >>> components = gaussians([[0.0], [1.0]], [1 / (2 * np.pi)] * 2, "spherical")  # height 1
    >>> X, R, weights = np.array([[0.0]]), np.array([[0.25, 0.75]]), np.array([0.5, 0.5])
    >>> round(expected_log_likelihood(X, R, weights, components), 6)  # ln 0.5 - 0.75 pi
    -3.049342
    """
    return complete_log_likelihood(X, R, weights, components)


def entropy(R):
    """H(R) = -sum_ik r_ik ln r_ik, with 0 ln 0 = 0: the uncertainty of the assignment.

    >>> bool(entropy(np.array([[1.0, 0.0], [0.5, 0.5]])) == np.log(2))
    True
    """
    return float(-np.sum(R * np.log(np.where(R > 0, R, 1.0))))


# ---------------------------------------------------------------------------------------
# M-step
# ---------------------------------------------------------------------------------------


def maximise(X, R, components):
    """The weights (K,) and components that maximise Q = sum_ik r_ik (ln pi_k + ln p_k(x_i)).

    For every family pi_k = n_k / n with n_k = sum_i r_ik. For normal densities

        mu_k = sum_i r_ik x_i / n_k,    Sigma_k = sum_i r_ik (x_i - mu_k) (x_i - mu_k)^T / n_k

    A component with n_k = 0 keeps its parameters, and its weight becomes 0.

    >>> X, R = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> weights, new = maximise(X, R, gaussians([[0], [0]], [1, 1], "spherical", floor=0.25))
    >>> weights.round(3), new.means.ravel(), new.covariances
    (array([0.667, 0.333]), array([1., 9.]), array([1.  , 0.25]))
    """
    n_k = R.sum(axis=0)  # the samples of each component, counted in fractions
    return n_k / len(X), components.maximised(X, R)


# ---------------------------------------------------------------------------------------
# EM
# ---------------------------------------------------------------------------------------


class EMState(NamedTuple):
    """A mixture, after a step of EM."""

    weights: np.ndarray  # (K,)
    components: Any  # of their family
    responsibilities: np.ndarray  # R (n, K) of these weights and components
    objective: float  # their mean log-likelihood, l / n
    gain: float  # its rise in the last step, >= 0 except for rounding; inf at the start


def em(X, weights, components):
    """EM: alternate `e_step` and `maximise` (the M-step).

    l never falls, once the components keep their floor (mixture-16). Where EM ends depends on the
    start, and need not be the largest l. Components that are all equal stay equal (mixture-07).

    Yields: the start, then an `EMState` per step, without end.

    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> states = em(X, np.array([0.5, 0.5]), gaussians([[0.0], [10.0]], [1.0, 1.0], "spherical"))
    >>> _, state = next(states), next(states)
    >>> state.components.means.ravel().round(6), state.components.covariances.round(6)
    (array([0.5, 9.5]), array([0.25, 0.25]))
    """
    before = -np.inf
    while True:
        R, log_p = e_step(X, weights, components)  # E-step
        objective = float(log_p.mean())  # l / n
        yield EMState(weights, components, R, objective, objective - before)
        weights, components = maximise(X, R, components)  # M-step
        before = objective


# ---------------------------------------------------------------------------------------
# Gaussian components
# ---------------------------------------------------------------------------------------


class Gaussians(NamedTuple):
    """K normal densities N(mu_k, Sigma_k), made by `gaussians` from means and covariances."""

    means: np.ndarray  # (K, d)
    covariances: np.ndarray  # of the shape that belongs to the kind
    factors: np.ndarray  # of that shape too: U with Sigma^{-1} = U U^T, upper triangular
    kind: str  # "full", "tied", "diag" or "spherical"
    floor: float  # lower bound of the eigenvalues of every Sigma_k in the M-step

    @property
    def matrices(self):
        """The Sigma_k as matrices, whatever the kind: (K, d, d)."""
        d = self.means.shape[1]
        return np.array([_matrix(Sigma, d) for Sigma in self._each(self.covariances)])

    @property
    def n_parameters(self):
        """The number of free parameters in the means and the (symmetric) covariances."""
        K, d = self.means.shape
        triangle = d * (d + 1) // 2
        count = {"full": K * triangle, "tied": triangle, "diag": K * d, "spherical": K}
        return K * d + count[self.kind]

    def log_density(self, X):
        """ln N(x_i | mu_k, Sigma_k): (n, K), one column after the other in memory."""
        if X.shape[1] != self.means.shape[1]:
            raise ValueError(f"X must have {self.means.shape[1]} features; got {X.shape[1]}")
        each = zip(self.means, self._each(self.factors), strict=True)
        return np.array([_log_normal(X, mu, U) for mu, U in each]).T

    def maximised(self, X, R):
        """The M-step: weighted means, and weighted covariances with eigenvalues above the floor."""
        n_k = R.sum(axis=0)
        means, S = self.means.copy(), []
        used = np.flatnonzero(n_k)  # a component without any sample keeps its parameters
        for k in used:
            a = R[:, k] / n_k[k]  # weights of the samples, with the sum 1
            means[k] = a @ X
            S.append(weighted_scatter(X, means[k], a, self.kind))  # about the new mean
        return self._with(X, means, used, np.array(S), n_k[used])

    def draw(self, k, rng):
        """x_i = mu_k + U_k^{-T} e_i with e_i from N(0, I) and k = k[i]: Var[x_i] = Sigma_k."""
        X = self.means[k]
        noise = rng.standard_normal(X.shape)
        for j, U in enumerate(self._each(self.factors)):
            root = _matrix(U, X.shape[1]).T
            X[k == j] += np.linalg.solve(root, noise[k == j].T).T
        return X

    def _with(self, X, means, used, S, n_k):
        """These components with new means, and the covariances S of those in use, with floor."""
        if self.kind == "tied":
            used, S = ..., np.average(S, axis=0, weights=n_k)
        covariances, factors = self.covariances.copy(), self.factors.copy()
        least = least_variances(X, self.floor)
        covariances[used], factors[used] = _with_floor(S, self.kind, self.floor, least)
        return self._replace(means=means, covariances=covariances, factors=factors)

    def _each(self, values):
        """The values of components 1, ..., K; for the tied kind, K times the same."""
        return [values] * len(self.means) if self.kind == "tied" else values


def gaussians(means, covariances, kind="full", floor=0.0):
    """The components N(mu_k, Sigma_k), with covariances of one `kind`, as `Gaussians`.

    Their M-step keeps all eigenvalues of every Sigma_k at `floor` or above: see `floored`.

    Raises: ValueError if the shapes do not fit or a Sigma_k is not symmetric positive definite.

    >>> gaussians([[0.0], [5.0]], [4.0, 1.0], "spherical").matrices.ravel()
    array([4., 1.])
    """
    means, covariances = np.array(means, dtype=float), np.array(covariances, dtype=float)
    if means.ndim != 2:
        raise ValueError(f"means must have shape (K, d); got {means.shape}")
    shape = _shape(kind, *means.shape)
    if covariances.shape != shape:
        raise ValueError(f"{kind} covariances must have shape {shape}; got {covariances.shape}")
    return Gaussians(means, covariances, _factors(covariances, kind), kind, floor)


def initialise(X, R, kind="full", floor=0.0):
    """The first M-step: weights and `gaussians` from first responsibilities R.

    `kind` and `floor` are those of the components. If n_k = 0, component k is N(mean of X, I),
    with weight 0.

    >>> X, R = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> initialise(X, R, floor=0.25)[1].covariances.ravel()
    array([1.  , 0.25])
    """
    shape = _shape(kind, R.shape[1], X.shape[1])
    unit = np.broadcast_to(np.eye(shape[-1]) if kind in MATRICES else 1.0, shape)
    center = np.tile(X.mean(axis=0), (R.shape[1], 1))
    return maximise(X, R, gaussians(center, unit, kind, floor))


def _shape(kind, K, d):
    """The shape of the covariances of K components in d dimensions."""
    check_choice("kind", kind, KINDS)
    return {"full": (K, d, d), "tied": (d, d), "diag": (K, d), "spherical": (K,)}[kind]


def _matrix(values, d):
    """The matrix (d, d) itself, or the diagonal matrix of these diagonal entries (d,) or ()."""
    return values if np.ndim(values) == 2 else values * np.eye(d)


def _factors(covariances, kind, name="covariances"):
    """U with Sigma^{-1} = U U^T for every covariance."""
    if kind not in MATRICES:
        if not covariances.min() > 0:
            raise ValueError(f"{kind} {name} must be > 0; the smallest is {covariances.min():g}")
        return 1 / np.sqrt(covariances)
    for Sigma in covariances.reshape(-1, *covariances.shape[-2:]):
        symmetric(Sigma, name)
    try:
        L = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(covariances).min()
        raise ValueError(
            f"{name} must be positive definite; the smallest eigenvalue is {least:g}"
        ) from None
    return np.linalg.inv(L.mT)  # Sigma^{-1} = L^{-T} L^{-1}


def _squared(U, kind):
    """U U^T for every factor U."""
    return U @ U.mT if kind in MATRICES else U**2


def _log_normal(X, mu, U):
    """ln N(x_i | mu, Sigma) = ln |U| - 1/2 (d ln(2 pi) + ||U^T (x_i - mu)||^2), (n,)."""
    d = X.shape[1]
    U = U if U.ndim == 2 else np.broadcast_to(U, d)  # or the diagonal of U
    squares = []
    for rows in row_blocks(len(X), BLOCK):
        D = X[rows] - mu
        squares.append(squared_norms(D @ U) if U.ndim == 2 else D**2 @ U**2)
    diagonal = np.diagonal(U) if U.ndim == 2 else U
    return np.log(diagonal).sum() - 0.5 * (d * log(2 * pi) + np.concatenate(squares))


def weighted_scatter(X, mu, a, kind="full"):
    """S = sum_i a_i (x_i - mu) (x_i - mu)^T, (d, d), for weights a (n,) of the samples.

    For the `kind` "diag" it is the diagonal of S, for "spherical" the mean of the diagonal.

    >>> weighted_scatter(np.array([[1.0], [3.0]]), mu=np.array([2.0]), a=np.array([0.5, 0.5]))
    array([[1.]])
    """
    # Centred first: far from the origin, sum_i a_i x_i x_i^T - mu mu^T would cancel.
    blocks = ((X[rows].T - mu[:, None], a[rows]) for rows in row_blocks(len(X), BLOCK))
    if kind in MATRICES:
        roots = (np.sqrt(a) * D for D, a in blocks)
        return sum(B @ B.T for B in roots)
    variances = sum(D**2 @ a for D, a in blocks)
    return variances if kind == "diag" else variances.mean()


def least_variances(X, floor):
    """max(floor, (THIN (max_i x_ij - min_i x_ij))^2): the lower bound of the variances, (d,).

    >>> least_variances(np.array([[0.0, 0.0], [1.0, 1e7]]), floor=1e-6).round(6)
    array([1.e-06, 1.e+00])
    """
    return np.maximum(floor, (THIN * np.ptp(X, axis=0)) ** 2)


def floored(S, least):
    """The most likely Sigma >= diag(least) for samples of covariance S, and its factor.

    With features divided by sqrt(least), and S = sum_j lambda_j v_j v_j^T, it is

        Sigma = sum_j max(lambda_j, 1) v_j v_j^T,    and features multiplied by sqrt(least) again.

    S (..., d, d) and least (d,). Returns: Sigma, and U upper triangular with Sigma^{-1} = U U^T.

    >>> floored(np.array([[2.0, 2.0], [2.0, 2.0]]), least=np.array([1.0, 1.0]))[0].round(12)
    array([[2.5, 1.5],
           [1.5, 2.5]])
    """
    root = np.sqrt(least)
    values, V = np.linalg.eigh(S / np.outer(root, root))
    lengths = np.sqrt(np.maximum(values, 1.0))[..., None, :]
    B = root[:, None] * V * lengths
    return B @ B.mT, _upper(V / root[:, None] / lengths)


def _upper(B):
    """The upper triangular U with U U^T = B B^T and a positive diagonal."""
    R = np.linalg.qr(B[..., ::-1, :].mT, mode="r")
    U = R.mT[..., ::-1, ::-1]
    return U * np.sign(np.diagonal(U, axis1=-2, axis2=-1))[..., None, :]


def _with_floor(S, kind, floor, least):
    """The most likely covariances of the kind above `least`, and their factors."""
    least = least.max() if kind == "spherical" else least
    if floor == 0 and _is_singular(S, kind, least):  # no floor was asked for: do not set one
        raise ValueError(
            "a component has shrunk to a singular covariance, of infinite likelihood: "
            "give a floor > 0 (reg_covar), fewer components or a simpler kind of covariance"
        )
    if kind in MATRICES:
        return floored(S, least)
    Sigma = np.maximum(S, least)  # one variance at a time: ln s + S / s falls up to s = S
    return Sigma, 1 / np.sqrt(Sigma)


def _is_singular(S, kind, least):
    """Whether a feature is constant, or a covariance is not above diag(least)."""
    if not np.all(least):
        return True
    if kind in MATRICES:
        root = np.sqrt(least)
        return np.linalg.eigvalsh(S / np.outer(root, root)).min() <= 1
    return np.any(S <= least)


# ---------------------------------------------------------------------------------------
# Bernoulli components
# ---------------------------------------------------------------------------------------


class Bernoullis(NamedTuple):
    """K distributions of binary x, p_k(x) = prod_j mu_kj^{x_j} (1 - mu_kj)^{1 - x_j}."""

    means: np.ndarray  # (K, d), strictly between 0 and 1
    floor: float  # the M-step keeps the means between this and 1 - floor

    def log_density(self, X):
        """sum_j x_ij ln mu_kj + (1 - x_ij) ln(1 - mu_kj): (n, K)."""
        if not ((X == 0) | (X == 1)).all():
            raise ValueError("samples of Bernoulli components must be 0 or 1 in every feature")
        log_odds = np.log(self.means) - np.log1p(-self.means)
        return X @ log_odds.T + np.log1p(-self.means).sum(axis=1)

    def maximised(self, X, R):
        """The M-step: mu_k = sum_i r_ik x_i / n_k, clipped to [floor, 1 - floor]."""
        n_k = R.sum(axis=0)
        used = np.flatnonzero(n_k)
        means = self.means.copy()
        means[used] = np.clip(R.T[used] / n_k[used, None] @ X, self.floor, 1 - self.floor)
        return self._replace(means=means)

    def draw(self, k, rng):
        """A sample of 0 and 1 from component k[i] for every i."""
        p = self.means[k]
        return (rng.random(p.shape) < p).astype(float)


def bernoullis(means, floor=1e-6):
    """The components prod_j mu_kj^{x_j} (1 - mu_kj)^{1 - x_j} of binary samples, as `Bernoullis`.

    Their M-step keeps the means between `floor` and 1 - floor.

    Raises: ValueError unless 0 < mean < 1 for all means, and 0 < floor < 1/2.

    >>> components = bernoullis([[0.5, 0.25]])
    >>> np.exp(components.log_density(np.array([[1, 1], [1, 0]]))).ravel()
    array([0.125, 0.375])
    """
    means = np.array(means, dtype=float)
    if not (means.min() > 0 and means.max() < 1):
        raise ValueError(f"means must be > 0 and < 1; got {means.min():g} to {means.max():g}")
    return Bernoullis(means, check_number("floor", floor, above=0, below=0.5))


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class GaussianMixture(DensityEstimator):
    """Gaussian mixture fitted by EM from the clusters of k-means.

    In scikit-learn, `reg_covar` is added to the diagonal of every covariance. Here it is a lower
    bound of their eigenvalues (`floored`), so that the likelihood never falls. With "k-means++" and
    "random_from_data" every sample starts with the nearest center (in scikit-learn, a component
    starts from its center alone). There is no `warm_start` and no `verbose`.

    Parameters
    ----------
    n_components : int; K
    covariance_type : "full", "tied", "diag" or "spherical"
    tol : float; stops when a step raises the mean log-likelihood by this or less
    reg_covar : float; lower bound of the eigenvalues of every covariance, and at least 1e-14 times
        the square of a feature's range; with 0, a covariance below that limit is an error
    max_iter : int; largest number of EM steps of a run
    n_init : int; number of runs; the run of highest likelihood is kept, the first of equal ones
    init_params : "kmeans", "k-means++", "random_from_data" or "random"; the first responsibilities
        are the clusters of k-means, the nearest of K centers, or random
    weights_init : array of shape (K,) or None; the first weights
    means_init : array of shape (K, d) or None; the first means
    precisions_init : array or None; inverses of the first covariances, shaped like `covariances_`
    random_state : int, Generator or None; of the start, and of `sample`

    Attributes
    ----------
    weights_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariances_ : ndarray; of shape (K, d, d), (d, d), (K, d) or (K,), by covariance_type
    precisions_ : ndarray; their inverses
    precisions_cholesky_ : ndarray; upper triangular U with precision U U^T
    history_ : ndarray of shape (n_iter_ + 1,); mean log-likelihood at the start and after each step
    lower_bounds_ : ndarray of shape (n_iter_,); that after each step
    lower_bound_ : float; the last of them, ``score(X)``; scikit-learn's is one step older
    n_iter_ : int; steps of the run that was kept
    converged_ : bool; whether its last step raised the mean log-likelihood by tol or less
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> model = GaussianMixture(n_components=2, random_state=0).fit([[1.0], [2.0], [8.0], [9.0]])
    >>> sorted(model.means_.ravel().round(6).tolist())
    [1.5, 8.5]
    """

    n_components: int = 1
    _: KW_ONLY
    covariance_type: str = "full"
    tol: float = 1e-3
    reg_covar: float = 1e-6
    max_iter: int = 100
    n_init: int = 1
    init_params: str = "kmeans"
    weights_init: Any = None
    means_init: Any = None
    precisions_init: Any = None
    random_state: Any = None

    def fit(self, X, y=None):
        """Fit to samples X (n, d); y is not used. Return self."""
        given, X = X, check_samples(X)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        n_init = check_number("n_init", self.n_init, at_least=1, integer=True)
        self._check(X)
        rng = check_random_state(self.random_state)
        X = np.asfortranarray(X)  # features one after the other in memory: twice as fast
        starts = (self._start(X, rng) for _ in range(n_init))
        runs = (iterate(em(X, *start), "gain", tol, max_iter) for start in starts)
        best = next(runs)
        for run in runs:
            if run.history[-1] > best.history[-1] + EQUAL:
                best = run
        self._keep(best.state)
        self._record(best, "gain", tol)
        self.lower_bounds_, self.lower_bound_ = self.history_[1:], float(self.history_[-1])
        return self._remember(given)

    def fit_predict(self, X, y=None):
        """Fit to X and return the most responsible component of each sample; y is not used."""
        return self.fit(X).predict(X)

    def predict(self, X):
        """argmax_k r_ik: (n,)."""
        return self._log_joint(X).argmax(axis=1)

    def predict_proba(self, X):
        """The responsibilities r_ik: (n, K)."""
        return responsibilities(self._check_fitted(X), *self._theta())

    def score_samples(self, X):
        """ln p(x_i): (n,)."""
        return log_sum_exp(self._log_joint(X))

    def score(self, X, y=None):
        """The mean log-likelihood l / n; y is not used."""
        return float(self.score_samples(X).mean())

    def aic(self, X):
        """Akaike's criterion, -2 l + 2 (number of free parameters): the lower the better."""
        return float(2 * self._n_parameters() - 2 * self.score_samples(X).sum())

    def bic(self, X):
        """The Bayesian criterion, -2 l + ln n (number of free parameters): the lower the better."""
        log_p = self.score_samples(X)
        return float(log(len(log_p)) * self._n_parameters() - 2 * log_p.sum())

    def sample(self, n_samples=1):
        """Draw from the fitted density: samples (n_samples, d), and the component of each."""
        self._require_fit()
        n = check_number("n_samples", n_samples, at_least=1, integer=True)
        rng = check_random_state(self.random_state)
        X, Z = generate(n, *self._theta(), rng=rng)
        return X, Z.argmax(axis=1)

    def _check(self, X):
        """Check the hyperparameters that define the model, and that X has enough samples."""
        K = check_number("n_components", self.n_components, at_least=1, integer=True)
        check_number("reg_covar", self.reg_covar, at_least=0)
        check_choice("covariance_type", self.covariance_type, KINDS)
        check_choice("init_params", self.init_params, STARTS)
        if len(X) < K:
            raise ValueError(f"n_components must be <= the number of samples {len(X)}; got {K}")

    def _start(self, X, rng):
        """The first weights and components: those given, and `initialise` for the others."""
        K, d, kind = self.n_components, X.shape[1], self.covariance_type
        weights, means = self._given("weights_init", (K,)), self._given("means_init", (K, d))
        if weights is not None and not (weights.min() >= 0 and np.isclose(weights.sum(), 1)):
            raise ValueError(f"weights_init must be >= 0 and sum to 1; got {weights}")
        precisions = self._given("precisions_init", _shape(kind, K, d))
        if weights is None or means is None or precisions is None:
            first, components = initialise(X, self._first(X, rng), kind, self.reg_covar)
            weights = first if weights is None else weights
            means = components.means if means is None else means
        if precisions is None:
            return weights, components._replace(means=means)
        covariances = _squared(_factors(precisions, kind, "precisions_init"), kind)
        return weights, gaussians(means, covariances, kind, self.reg_covar)

    def _given(self, name, shape):
        """The hyperparameter `name` as an array of that shape, or None."""
        value = getattr(self, name)
        if value is None:
            return None
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be None or numbers of shape {shape}; got {value!r}")
        return array.astype(float)

    def _first(self, X, rng):
        """The first responsibilities."""
        if self.init_params == "random":
            R = rng.random((len(X), self.n_components))
            return R / R.sum(axis=1, keepdims=True)
        X = X - X.mean(axis=0)  # of numbers far from 0, `nearest` would lose digits
        labels, _ = nearest(X, self._centers(X, rng))
        return one_hot_labels(labels, self.n_components)

    def _centers(self, X, rng):
        """The centers whose nearest samples the components start from: (K, d)."""
        if self.init_params == "random_from_data":
            return X[rng.choice(len(X), self.n_components, replace=False)]
        K = self.n_components
        centers = kmeans_plus_plus(X, K, rng, trials=2 + int(np.log(K)))
        if self.init_params == "k-means++":
            return centers
        tol = KMEANS_TOL * X.var(axis=0).mean()
        return iterate(lloyd(X, centers), "moved", tol, KMEANS_STEPS).state.centers

    def _keep(self, state):
        """The fitted attributes of an `EMState`."""
        self.weights_, components = state.weights, state.components
        self.means_, self.covariances_ = components.means, components.covariances
        self.precisions_cholesky_ = components.factors
        self.precisions_ = _squared(components.factors, components.kind)

    def _theta(self):
        """The fitted weights and components."""
        parameters = self.means_, self.covariances_, self.precisions_cholesky_
        return self.weights_, Gaussians(*parameters, self.covariance_type, self.reg_covar)

    def _log_joint(self, X):
        X = self._check_fitted(X)
        return log_joint(X, *self._theta())

    def _n_parameters(self):
        """The free parameters of the components, and K - 1 weights (they sum to 1)."""
        weights, components = self._theta()
        return components.n_parameters + len(weights) - 1
