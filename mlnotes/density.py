"""Density estimation without a form: histogram, Parzen window, Gaussian kernel, k-NN.

If k of n samples fall into a small region of volume V, the density there is about k / (n V). The
histogram and the Parzen window fix the volume and count the samples. Nearest neighbours fix the
count and let the volume grow.

Contents
    From counts to densities   count_density, relative_deviation
    The histogram              histogram_density
    Parzen windows             hypercube, gaussian_window, parzen
    Balls                      ball_volume
    Kernels                    KERNELS, Kernel, squared_lengths, log_kernel_sum,
                               log_kernel_integral, sample_kernel, kernel_log_density
    The error of an estimate   NormalMixture, kernel_mixture, inner_product,
                               integrated_squared_error, normal_mise
    Choosing the bandwidth     scott, silverman, leave_one_out, best_bandwidth
    Nearest neighbours         nearest_samples, knn_density, class_counts, knn_joint_density,
                               knn_posterior
    Estimator                  KernelDensity

Symbols
    X       (n, d)     samples x_i, one per row
    x       (m, d)     points at which the density is taken
    y       (n,)       labels of the samples; a column for each of the K classes, in sorted order
    h       float      bandwidth: the side of a cube, the standard deviation of a Gaussian
    u       (..., d)   the argument of a window, (x - x_i) / h
    t       any        squared lengths ||u||^2; a kernel depends on nothing else
    kernel  str        its name, one of KERNELS
    V, P    float      volume and probability of a region; k (int) of the n samples are in it
    r       (m,)       radius of the ball about x that holds k samples
    p, q               densities; where they are arguments, each a `NormalMixture`
    rng     Generator  source of random numbers

Notes: PRNN 6 to 6.2; MLN "Parzen Window" and "Bayes Classifier"; IRHD 2.3. PRNN writes P_n and
P_x for our p, script V for V, h_n for h; MLN has f for p and u_0 for the centre of a cube.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma, log, pi
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    BLOCK,
    LARGEST,
    DensityEstimator,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    check_weights,
    row_blocks,
)
from mlnotes.numerics import exact_squared_distances, squared_distances
from mlnotes.probability import gauss_legendre, log_sum_exp, normal_log_density, sample_atoms

RIM = 1e-9  # squared lengths so near 1 are computed again, without cancellation

# ---------------------------------------------------------------------------------------
# From counts to densities
# ---------------------------------------------------------------------------------------


def count_density(k, n, V):
    """p = k / (n V): the region of volume V has the probability P = p V, and k / n estimates P.

    >>> count_density(k=3, n=12, V=0.5)
    0.5

    Errata: density-15 (PRNN announces this formula and does not print it).
    """
    return k / (n * V)


def relative_deviation(n, P):
    """sqrt((1 - P) / (n P)): the standard deviation of k / n, divided by its mean P.

    In a grid of m cells per axis P = m^{-d}: for the same accuracy n has to grow like m^d.

    >>> relative_deviation(100, P=0.5), relative_deviation(300, P=0.25)
    (0.1, 0.1)
    """
    return ((1 - P) / (n * P)) ** 0.5


# ---------------------------------------------------------------------------------------
# The histogram
# ---------------------------------------------------------------------------------------


def histogram_density(x, X, h, origin=0.0):
    """p(x) = k / (n h^d), where k samples are in the cell of x: a cube of side h.

    One of the cells has its lower corner at `origin`, a number or a point (d,). A cell contains
    its lower faces, but not its upper faces.

    Raises: ValueError if x, X or `origin` do not fit each other, or if h is not a number > 0.

    >>> histogram_density(np.array([[0.25], [9.0]]), np.array([[0.1], [0.2], [0.7], [1.3]]), h=0.5)
    array([1., 0.])
    """
    x, X = _check_points_and_samples(x, X, h)
    n, d = X.shape
    _check_origin(origin, d)
    everything = np.vstack([X, x])  # first the samples, then the points
    cells = np.floor((everything - origin) / h)  # whole steps of length h
    _, number = np.unique(cells, axis=0, return_inverse=True)
    number = number.ravel()  # the same number for the same cell
    counts = np.bincount(number[:n], minlength=number.max() + 1)
    k = counts[number[n:]]  # samples in the cell of each point
    return _density_in_cubes(k, n, h, d)  # k / (n h^d)


def _check_origin(origin, d):
    if np.shape(origin) not in ((), (d,)):
        raise ValueError(f"origin must be a number or a point ({d},); got {np.shape(origin)}")


def _density_in_cubes(k, n, h, d):
    """k / (n h^d), and 0 where k is 0. In many dimensions h^d may be 0 or inf in floating point."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.where(k == 0, 0.0, count_density(k, n, np.float64(h) ** d))


# ---------------------------------------------------------------------------------------
# Parzen windows
# ---------------------------------------------------------------------------------------


def hypercube(u):
    """phi(u) = 1 if |u_j| <= 1/2 for j = 1, ..., d, else 0: the unit cube about the origin.

    >>> hypercube(np.array([[0.5, -0.5], [0.2, 0.6]]))
    array([1., 0.])
    """
    return (np.abs(u).max(axis=-1) <= 0.5).astype(float)


def gaussian_window(u):
    """phi(u) = (2 pi)^{-d/2} exp(-||u||^2 / 2), the standard normal density.

    >>> gaussian_window(np.array([[0.0, 0.0]])) * (2 * np.pi)
    array([1.])

    Errata: density-07 (PRNN prints exp(-||u - u_0||^2): shifted, and its integral is pi^{d/2}).
    """
    return (2 * pi) ** (-u.shape[-1] / 2) * np.exp(-np.sum(u**2, axis=-1) / 2)


def parzen(x, X, h, window=hypercube):
    """p(x) = 1/n sum_i h^{-d} phi((x - x_i) / h), for phi the `window`.

    With the cube this is k / (n h^d), with a cell centred at x. If phi is a density, so is p.

    >>> parzen(np.array([[0.5], [3.0]]), np.array([[0.0], [1.0], [5.0], [6.0]]), h=2.0)
    array([0.25, 0.  ])
    """
    x, X = _check_points_and_samples(x, X, h)
    n, d = X.shape
    k = np.empty(len(x))
    for rows in _blocks(x, X, each=d):  # a part at a time, to save memory
        u = (x[rows, None, :] - X) / h  # (points, n, d)
        k[rows] = window(u).sum(axis=1)
    return _density_in_cubes(k, n, h, d)  # k / (n h^d)


def _blocks(x, X, each=1):
    """Slices of x: `each` numbers for every pair of a point and a sample fill one BLOCK."""
    return row_blocks(len(x), BLOCK // (each * len(X)))


def _check_points_and_samples(x, X, h=1.0):
    """x (m, d) and X (n, d) in double precision: finite samples, and no NaN among the points."""
    _check_bandwidth("h", h)
    x, X = _same_columns(x, check_samples(X))
    if np.isnan(x).any():
        raise ValueError(f"x must hold points; it contains NaN {np.isnan(x).sum()} times")
    return x, X


def _same_columns(x, X):
    """x (m, d) and X (n, d) in double precision; differences of small integers would wrap."""
    x, X = np.asarray(x, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if x.ndim != 2 or X.ndim != 2 or x.shape[1] != X.shape[1]:
        raise ValueError(
            f"points and samples must be (m, d) and (n, d); got {x.shape} and {X.shape}"
        )
    return x, X


def _check_bandwidth(name, h, also=""):
    if not (isinstance(h, Real) and 0 < h < inf):
        raise ValueError(f"{name} must be a finite number > 0{also}; got {h!r}")


# ---------------------------------------------------------------------------------------
# Balls
# ---------------------------------------------------------------------------------------


def ball_volume(r, d):
    """V = V_d r^d with V_d = pi^{d/2} / Gamma(d/2 + 1): 2 r, pi r^2, 4/3 pi r^3, ...

    >>> round(ball_volume(1.0, d=2) / np.pi, 12), round(ball_volume(3.0, d=1), 12)
    (1.0, 6.0)
    """
    return (exp(_log_unit_ball(d) / d) * r) ** d  # V_d and r^d alone would leave the range


def _log_unit_ball(d):
    return d / 2 * log(pi) - lgamma(d / 2 + 1)


# ---------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------


class Kernel(NamedTuple):
    """A window that depends on the length of u alone, without its normalising factor."""

    reach: float  # K(u) = 0 for ||u|| >= reach
    log_value: Callable  # t -> ln K(u) of ||u||^2 = t, within reach
    log_integral: Callable  # d -> ln of the integral of K over u in R^d, less ln V_d
    lengths: Callable  # (n, d, rng) -> n draws of ||u||, u with the density K / integral


def _log_cosine_integral(d):
    """ln of d int_0^1 r^{d-1} cos(pi r / 2) dr, by quadrature: digits cancel in its closed form."""
    r, w = gauss_legendre(0.0, 1.0, pieces=d)
    return log(d * (w @ (r ** (d - 1) * np.cos(pi / 2 * r))))


def _cosine_lengths(n, d, rng):
    """n lengths with a density proportional to r^{d-1} cos(pi r / 2), by rejection.

    Draws from a density proportional to r^{d-1} (1 - r) are kept with the probability
    cos(pi r / 2) / (pi/2 (1 - r)) <= 1.
    """
    kept = np.empty(0)
    while len(kept) < n:
        r = rng.beta(d, 2, size=n)
        below = rng.random(n) * pi / 2 * (1 - r) < np.cos(pi / 2 * r)
        kept = np.append(kept, r[below])
    return kept[:n]


KERNELS = {
    "gaussian": Kernel(  # exp(-||u||^2 / 2)
        inf,
        lambda t: -0.5 * t,
        lambda d: d / 2 * log(2 * pi) - _log_unit_ball(d),
        lambda n, d, rng: np.sqrt(rng.chisquare(d, n)),
    ),
    "tophat": Kernel(  # 1
        1.0,
        lambda t: np.zeros(t.shape),
        lambda d: 0.0,
        lambda n, d, rng: rng.beta(d, 1, n),
    ),
    "epanechnikov": Kernel(  # 1 - ||u||^2
        1.0,
        lambda t: np.log1p(-t),
        lambda d: log(2 / (d + 2)),
        lambda n, d, rng: np.sqrt(rng.beta(d / 2, 2, n)),
    ),
    "exponential": Kernel(  # exp(-||u||)
        inf,
        lambda t: -np.sqrt(t),
        lambda d: lgamma(d + 1),
        lambda n, d, rng: rng.gamma(d, size=n),
    ),
    "linear": Kernel(  # 1 - ||u||
        1.0,
        lambda t: np.log1p(-np.sqrt(t)),
        lambda d: log(1 / (d + 1)),
        lambda n, d, rng: rng.beta(d, 2, n),
    ),
    "cosine": Kernel(  # cos(pi ||u|| / 2)
        1.0,
        lambda t: np.log(np.cos(pi / 2 * np.sqrt(t))),
        _log_cosine_integral,
        _cosine_lengths,
    ),
}


def squared_lengths(x, X, h, kernel="gaussian"):
    """t = ||u||^2, (m, n), of u = (x - x_i) / h for every point x and every sample x_i.

    A window with a rim needs exact distances there: a sample at the distance h is outside.

    >>> squared_lengths(np.array([[0.5]]), np.array([[0.0], [1.0], [2.5]]), h=0.5)
    array([[ 1.,  1., 16.]])
    """
    far = (np.abs(x) > LARGEST).any(axis=1)
    x = np.where(far[:, None], 0.0, x)
    t = squared_distances(x, X) / h**2
    if _kernel(kernel).reach < inf:  # who is outside must not depend on rounding
        near = np.flatnonzero((t > 1 - RIM) & (t < 1 + RIM))
        i, j = np.divmod(near, len(X))
        t[i, j] = sum((a[i] - b[j]) ** 2 for a, b in zip(x.T, X.T, strict=True)) / h**2
    t[far] = inf  # computed with the others, it would be NaN, and might make them NaN
    return t


def log_kernel_sum(t, w, kernel="gaussian"):
    """ln sum_i w_i K(u_i), (m,), for squared lengths t = ||u_i||^2 (m, n) and weights w (n,).

    Without a rim log-sum-exp takes the sum: ln p is finite even where every term underflows.

    >>> np.exp(log_kernel_sum(np.array([[0.0, 0.5, 1.0]]), np.array([1.0, 2.0, 4.0]), "tophat"))
    array([3.])
    """
    K = _kernel(kernel)
    with np.errstate(divide="ignore"):  # ln 0 = -inf
        if K.reach == inf:
            return log_sum_exp(np.log(w) + K.log_value(t))
        values, inside = np.zeros(t.shape), t < K.reach**2
        values[inside] = np.exp(K.log_value(t[inside]))
        return np.log(values @ w)


def log_kernel_integral(d, kernel="gaussian"):
    """ln of the integral of K(u) over u in R^d, ln(d V_d int_0^inf r^{d-1} K(r) dr).

    >>> float(np.exp(log_kernel_integral(2, "tophat")).round(12))
    3.14159265359
    """
    return _log_unit_ball(d) + _kernel(kernel).log_integral(d)


def sample_kernel(n, d, kernel="gaussian", *, rng):
    """n draws of u, (n, d), from the density K(u) / integral: directions times lengths.

    >>> sample_kernel(5, 3, "tophat", rng=np.random.default_rng(0)).shape
    (5, 3)
    """
    z = rng.standard_normal((n, d))
    lengths = _kernel(kernel).lengths(n, d, rng)
    return z * (lengths / np.linalg.norm(z, axis=1))[:, None]


def _kernel(kernel):
    return KERNELS[check_choice("kernel", kernel, tuple(KERNELS))]


def kernel_log_density(x, X, h, kernel="gaussian", sample_weight=None):
    """ln p(x), p(x) = 1/n sum_i (h sqrt(2 pi))^{-d} exp(-||x - x_i||^2 / (2 h^2)).

    Another `kernel` may take the place of the Gaussian, and weights w_i / sum_j w_j
    (`sample_weight`) the place of 1/n.

    >>> X, x = np.array([[0.0], [1.0]]), np.array([[0.5], [1000.0]])
    >>> kernel_log_density(x, X, h=0.5) + np.log(0.5 * np.sqrt(2 * np.pi))
    array([-5.00000000e-01, -1.99600269e+06])

    Errata: density-06 (MLN prints the normaliser (h sqrt(2) pi)^{-d}).
    """
    x, X = _check_points_and_samples(x, X, h)
    n, d = X.shape
    w = check_weights(sample_weight, n)
    w = w / w.sum()  # 1/n each without weights
    log_p = np.empty(len(x))
    for rows in _blocks(x, X):  # a part at a time, to save memory
        t = squared_lengths(x[rows], X, h, kernel)
        log_p[rows] = log_kernel_sum(t, w, kernel)
    return log_p - d * log(h) - log_kernel_integral(d, kernel)


# ---------------------------------------------------------------------------------------
# The error of an estimate
# ---------------------------------------------------------------------------------------


class NormalMixture(NamedTuple):
    """The density sum_i w_i N(x; mu_i, sigma_i^2) of a number, given by its parameters."""

    weights: np.ndarray  # (k,), they sum to 1
    means: np.ndarray  # (k,)
    variances: np.ndarray  # (k,)


def kernel_mixture(X, h):
    """The Gaussian kernel estimate from samples X (n, 1), written as a mixture of n normals.

    Raises: ValueError if X does not have one column, or if h is not a number > 0.

    >>> kernel_mixture(np.array([[0.0], [4.0]]), h=0.5)
    NormalMixture(weights=array([0.5, 0.5]), means=array([0., 4.]), variances=array([0.25, 0.25]))
    """
    _check_bandwidth("h", h)
    n, d = X.shape
    if d != 1:
        raise ValueError(f"X must have one column; got shape {X.shape}")
    return NormalMixture(np.full(n, 1 / n), X[:, 0], np.full(n, h**2))


def inner_product(p, q):
    """int p q = sum_ij v_i w_j N(mu_i; nu_j, sigma_i^2 + tau_j^2), exact for normal mixtures.

    >>> p = NormalMixture(np.ones(1), np.zeros(1), np.ones(1))
    >>> round(float(inner_product(p, p) * 2 * np.sqrt(np.pi)), 12)
    1.0
    """
    w, nu, tau2 = q
    return sum(
        v * (w @ np.exp(normal_log_density(mu, nu, sigma2 + tau2)))
        for v, mu, sigma2 in zip(*p, strict=True)
    )


def integrated_squared_error(p, q):
    """int (p - q)^2 = int p^2 - 2 int p q + int q^2, for two normal mixtures.

    >>> left, right = (NormalMixture(np.ones(1), np.array([m]), np.ones(1)) for m in (0.0, 99.0))
    >>> round(float(integrated_squared_error(left, right) * np.sqrt(np.pi)), 12)
    1.0
    """
    error = inner_product(p, p) - 2 * inner_product(p, q) + inner_product(q, q)
    return np.maximum(0.0, error)  # rounding may make it negative


def normal_mise(h, n):
    """E int (p - N(0, 1))^2 for the Gaussian kernel estimate p from n samples of N(0, 1):

        [1/(n h) + (1 - 1/n) / sqrt(1 + h^2) - 2 sqrt(2) / sqrt(2 + h^2) + 1] / (2 sqrt(pi)).

    >>> round(float(normal_mise(np.inf, n=10) * 2 * np.sqrt(np.pi)), 12)  # p = 0 everywhere
    1.0
    """
    terms = 1 / (n * h) + (1 - 1 / n) / np.sqrt(1 + h**2) - 2 * np.sqrt(2) / np.sqrt(2 + h**2) + 1
    return terms / (2 * np.sqrt(pi))


# ---------------------------------------------------------------------------------------
# Choosing the bandwidth
# ---------------------------------------------------------------------------------------


def scott(n, d):
    """h = n^{-1/(d+4)}, a rule for features with variance 1.

    >>> scott(32, d=1)
    0.5
    """
    return n ** (-1 / (d + 4))


def silverman(n, d):
    """h = (n (d + 2) / 4)^{-1/(d+4)}: the best bandwidth for samples of N(0, I) and large n.

    >>> silverman(32, d=2) == scott(32, d=2)
    True
    """
    return (n * (d + 2) / 4) ** (-1 / (d + 4))


def leave_one_out(X, h, kernel="gaussian"):
    """ln p_{-i}(x_i), the density at each sample, estimated from the other n - 1.

    With the sample itself among them, the likelihood would be largest for h = 0. If every sample
    has a duplicate, it still is.

    Returns: (n,). Raises: ValueError for fewer than two samples.

    >>> leave_one_out(np.array([[0.0], [1.0]]), h=0.5) + np.log(0.5 * np.sqrt(2 * np.pi))
    array([-2., -2.])
    """
    X = _check_two_samples(X, h)
    n, d = X.shape
    log_p = np.empty(n)
    for rows in _blocks(X, X):  # a part at a time, to save memory
        t = squared_lengths(X[rows], X, h, kernel)
        np.fill_diagonal(t[:, rows], inf)  # K = 0 to itself
        log_p[rows] = log_kernel_sum(t, np.ones(n), kernel)
    log_p = log_p - log(n - 1)
    return log_p - d * log(h) - log_kernel_integral(d, kernel)


def _check_two_samples(X, h):
    _check_bandwidth("h", h)
    X = check_samples(X)
    if len(X) < 2:
        raise ValueError(f"to leave one out takes at least 2 samples; got {len(X)}")
    return X


def best_bandwidth(X, bandwidths, kernel="gaussian"):
    """argmax_h sum_i ln p_{-i}(x_i) over the `bandwidths`; of several, the first.

    Raises: ValueError if there is no bandwidth, or if each of them leaves some sample without a
    neighbour in its window.

    >>> best_bandwidth(np.array([[0.0], [1.0], [2.0]]), [0.01, 1.0, 100.0])
    1.0
    """
    log_likelihoods = [leave_one_out(X, h, kernel).sum() for h in bandwidths]
    _check_reach(log_likelihoods, bandwidths)
    return bandwidths[int(np.argmax(log_likelihoods))]


def _check_reach(log_likelihoods, bandwidths):
    if max(log_likelihoods, default=-inf) == -inf:
        raise ValueError(f"a bandwidth must reach every sample from another; got {bandwidths}")


# ---------------------------------------------------------------------------------------
# Nearest neighbours
# ---------------------------------------------------------------------------------------


def nearest_samples(x, X, k):
    """The k samples in the smallest ball about x that holds k samples, and its radius r.

    Of samples at the same distance, at the rim, the first in X are taken.

    Returns: their numbers (m, k), in rising order, and r (m,). Raises: ValueError unless k is
    an integer with 1 <= k <= n, and x and X fit each other.

    >>> nearest_samples(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0]]), k=2)
    (array([[1, 2]]), array([2.]))
    """
    x, X = _check_points_and_samples(x, X)
    _check_neighbours(k, X)
    index, r = np.empty((len(x), k), dtype=np.intp), np.empty(len(x))
    for rows in _blocks(x, X):  # a part at a time, to save memory
        D = exact_squared_distances(x[rows], X)
        order = np.argsort(D, axis=1, kind="stable")  # nearest first
        index[rows] = np.sort(order[:, :k], axis=1)
        r[rows] = np.sqrt(np.sort(D, axis=1)[:, k - 1])
    return index, r


def _check_neighbours(k, X):
    if not (isinstance(k, Integral) and 1 <= k <= len(X)):
        raise ValueError(f"k must be an integer between 1 and the {len(X)} samples; got {k}")


def knn_density(x, X, k):
    """p(x) = k / (n V_d r^d), r the distance to the k-th nearest sample; inf where it is 0.

    It is not a density: far away it falls like ||x||^{-d}, and its integral diverges (density-10).

    >>> knn_density(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0], [8.0]]), k=2)
    array([0.125])
    """
    n, d = X.shape
    _, r = nearest_samples(x, X, k)
    with np.errstate(over="ignore", divide="ignore"):  # V may be 0
        V = ball_volume(r, d)
        return k / (n * V)


def class_counts(x, X, y, k):
    """k_i, the number of samples of class i among the k in the ball about x: (m, K).

    Raises: ValueError unless y is (n,), or as `nearest_samples` does.

    >>> class_counts(np.array([[4.0]]), np.array([[0.0], [1.0], [5.0]]), np.array([7, 8, 8]), k=2)
    array([[0, 2]])
    """
    y = _check_labels(y, X)
    index, _ = nearest_samples(x, X, k)
    labels = y[index]  # for every point a row of k labels
    counts = [(labels == name).sum(axis=1) for name in np.unique(y)]
    return np.stack(counts, axis=1)


def _check_labels(y, X):
    if np.shape(y) != (len(X),):
        raise ValueError(f"y must have shape ({len(X)},), a label a sample; got {np.shape(y)}")
    return np.asarray(y)


def knn_joint_density(x, X, y, k):
    """p(x, i) = k_i / (n V) for every class i; their sum is the density k / (n V): (m, K).

    >>> knn_joint_density(np.array([[1.0]]), np.array([[0.0], [2.0]]), np.array([7, 8]), k=2)
    array([[0.25, 0.25]])
    """
    counts, (_, r) = class_counts(x, X, y, k), nearest_samples(x, X, k)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        V = ball_volume(r, X.shape[1])[:, None]
        return np.where(counts > 0, count_density(counts, len(X), V), 0.0)


def knn_posterior(x, X, y, k):
    """P(i | x) = p(x, i) / sum_j p(x, j) = k_i / k: n and V cancel, (m, K).

    So the majority vote of the k nearest neighbours is the Bayes classifier with these densities.

    >>> knn_posterior(np.array([[0.4]]), np.array([[0.0], [1.0], [5.0]]), np.array([7, 8, 8]), k=2)
    array([[0.5, 0.5]])
    """
    return class_counts(x, X, y, k) / k


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class KernelDensity(DensityEstimator):
    """Kernel density estimate, as in scikit-learn, by the Euclidean distances of all pairs.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman"; the rules count samples, not their weights, and
        assume features with variance 1. `best_bandwidth` chooses a bandwidth from the data.
    kernel : "gaussian", "tophat", "epanechnikov", "exponential", "linear" or "cosine"

    Attributes
    ----------
    bandwidth_ : float; h
    samples_ : ndarray of shape (n, d)
    weights_ : ndarray of shape (n,); they sum to 1
    n_features_in_ : int

    >>> model = KernelDensity(kernel="tophat").fit([[0.0], [1.0]])
    >>> np.exp(model.score_samples([[0.5], [9.0]])).round(12)
    array([0.5, 0. ])
    """

    bandwidth: float | str = 1.0
    kernel: str = "gaussian"

    def fit(self, X, y=None, sample_weight=None):
        """Keep the samples X (n, d), weighted by sample_weight (n,); y is not used."""
        given, X = X, check_samples(X)
        w = check_weights(sample_weight, len(X))
        check_choice("kernel", self.kernel, tuple(KERNELS))
        self.bandwidth_ = self._choose(*X.shape)
        self.samples_, self.weights_ = np.array(X, order="C"), w / w.sum()
        return self._remember(given)

    def _choose(self, n, d):
        """The bandwidth for n samples in d dimensions."""
        rules = {"scott": scott, "silverman": silverman}
        if isinstance(self.bandwidth, str) and self.bandwidth in rules:
            return rules[self.bandwidth](n, d)
        _check_bandwidth("bandwidth", self.bandwidth, also=", 'scott' or 'silverman'")
        return float(self.bandwidth)

    def score_samples(self, X):
        """ln p (m,) at the points X (m, d)."""
        X = self._check_fitted(X)
        return kernel_log_density(X, self.samples_, self.bandwidth_, self.kernel, self.weights_)

    def score(self, X, y=None):
        """The log-likelihood of X, sum_i ln p(x_i); y is not used."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples=1, random_state=None):
        """Draw from p: random samples x_i, each moved by h u with u from K, (n_samples, d)."""
        self._require_fit()
        n = check_number("n_samples", n_samples, at_least=1, integer=True)
        X, rng = self.samples_, check_random_state(random_state)
        moved = self.bandwidth_ * sample_kernel(n, X.shape[1], self.kernel, rng=rng)
        return X[sample_atoms(n, self.weights_, rng=rng)] + moved
