"""Density estimation without a form: histogram, Parzen window, Gaussian kernel, k-NN.

A density is what a small region holds of the probability, over its volume. Of n samples k fall
into the region, and k / (n V) is the whole idea of the chapter. Fix the volume and count the
samples: histogram and Parzen window; fix the count and let the volume grow: the nearest
neighbours. How large to make the region is the one choice, and all of the difficulty.

Contents
    From counts to densities   count_density, relative_deviation
    The histogram              histogram_density
    Parzen windows             hypercube, gaussian_window, parzen
    Balls                      ball_volume
    Kernels                    KERNELS, Kernel, log_kernel, log_kernel_integral, sample_kernel,
                               kernel_log_density
    How far from the truth     NormalMixture, kernel_mixture, inner_product,
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
    u       (..., d)   what a window is a function of, (x - x_i) / h
    t       any        squared lengths ||u||^2, all that a kernel depends on
    kernel  str        its name, one of KERNELS
    V, P    float      volume and probability of a region; k (int) of the n samples are in it
    r       (m,)       radius of the ball about x that holds k samples
    p, q               densities; where they are arguments, each a `NormalMixture`
    rng     Generator  source of random numbers

Notes: PRNN 6 to 6.2; MLN "Parzen Window" and "Bayes Classifier"; IRHD 2.3. PRNN writes P_n and
P_x for our p, script V for V, h_n for h; MLN has f for p and u_0 for the centre of a cube.
"""

from collections.abc import Callable
from math import exp, frexp, inf, lgamma, log, pi
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
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

__all__ = [
    "count_density", "relative_deviation", "histogram_density", "hypercube", "gaussian_window",
    "parzen", "ball_volume",
    "KERNELS", "Kernel", "log_kernel", "log_kernel_integral", "sample_kernel",
    "kernel_log_density", "NormalMixture", "kernel_mixture", "inner_product",
    "integrated_squared_error", "normal_mise", "scott", "silverman", "leave_one_out",
    "best_bandwidth", "nearest_samples", "knn_density", "class_counts", "knn_joint_density",
    "knn_posterior", "KernelDensity",
]  # fmt: skip

BLOCK = 2**17  # numbers held at a time: a megabyte, which stays in a processor's cache


# ---------------------------------------------------------------------------------------
# From counts to densities
# ---------------------------------------------------------------------------------------


def count_density(k, n, V):
    """p = k / (n V): the region of volume V has the probability P = p V, and k / n estimates it.

    The number of samples in the region is Binomial(n, P), C(n, k) P^k (1 - P)^(n - k), largest
    at P = k / n. PRNN has lost this formula (density-15).

    >>> count_density(k=3, n=12, V=0.5)
    0.5
    """
    return k / (n * V)


def relative_deviation(n, P):
    """sqrt((1 - P) / (n P)): the standard deviation of k / n over its mean P.

    A grid of m cells per axis has m^d of them, P = m^{-d}: what n samples do in one dimension
    takes m^{d-1} n in d. (IRHD: n^d, as it is for one sample per cell.)

    >>> relative_deviation(100, P=0.5), relative_deviation(300, P=0.25)
    (0.1, 0.1)
    """
    return ((1 - P) / (n * P)) ** 0.5


# ---------------------------------------------------------------------------------------
# The histogram
# ---------------------------------------------------------------------------------------


def histogram_density(x, X, h, origin=0.0):
    """p(x) = k / (n h^d), k the samples in the cell of x: cubes of side h, one of them at `origin`.

    A cell contains its lower faces and not its upper ones; `origin` is a number or a point (d,).

    Raises: ValueError if x, X or `origin` do not fit each other, or h is no width.

    >>> X = np.array([[0.1], [0.2], [0.7], [1.3]])
    >>> histogram_density(np.array([[0.25], [0.75], [9.0]]), X, h=0.5)
    array([1. , 0.5, 0. ])
    """
    _check_bandwidth("h", h)
    x, X = _points_and_samples(x, X)
    n, d = X.shape
    if np.shape(origin) not in ((), (d,)):
        raise ValueError(f"origin must be a number or a point ({d},); got {np.shape(origin)}")
    cells = np.floor((np.vstack([X, x]) - origin) / h)
    number = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    k = np.bincount(number[:n], minlength=number.max() + 1)
    return _in_cubes(k[number[n:]], n, h, d)


def _in_cubes(k, n, h, d):
    """k / (n h^d), 0 where k is 0, also where h^d is beyond the range of floating point."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.where(k == 0, 0.0, count_density(k, n, np.float64(h) ** d))


# ---------------------------------------------------------------------------------------
# Parzen windows
# ---------------------------------------------------------------------------------------


def hypercube(u):
    """phi(u) = 1 if |u_j| <= 1/2 for j = 1, ..., d, else 0: the unit cube about the origin.

    phi((x - x_i) / h) says whether x_i is in the cube of side h about x, of volume h^d.

    >>> hypercube(np.array([[0.5, -0.5], [0.2, 0.6]]))
    array([1., 0.])

    Claims: density-02
    """
    return (np.abs(u).max(axis=-1) <= 0.5).astype(float)


def gaussian_window(u):
    """phi(u) = (2 pi)^{-d/2} exp(-||u||^2 / 2), the standard normal density.

    PRNN prints exp(-||u - u_0||^2): without the factor the estimate integrates to pi^{d/2}, and
    with the shift it is off by h u_0 (density-07).

    >>> gaussian_window(np.array([[0.0, 0.0]])) * (2 * np.pi)
    array([1.])
    """
    return (2 * pi) ** (-u.shape[-1] / 2) * np.exp(-np.sum(u**2, axis=-1) / 2)


def parzen(x, X, h, window=hypercube):
    """p(x) = 1/n sum_i h^{-d} phi((x - x_i) / h), for phi the `window`.

    With the cube this is k / (n h^d), the histogram whose cell is centred at x. With any density
    for phi it is a density, the law of a sample drawn at random and moved by h u, u from phi.

    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> parzen(np.array([[0.5], [3.0]]), X, h=2.0)
    array([0.25, 0.  ])

    Claims: density-03
    """
    _check_bandwidth("h", h)
    x, X = _points_and_samples(x, X)
    n, d = X.shape
    k = np.empty(len(x))
    for rows in _blocks(x, X, each=d):
        k[rows] = window((x[rows, None] - X) / h).sum(axis=1)
    return _in_cubes(k, n, h, d)


def _blocks(x, X, each=1):
    """Slices of x, so short that `each` numbers for each point and sample make up one BLOCK."""
    return row_blocks(len(x), BLOCK // (each * len(X)))


def _points_and_samples(x, X):
    """x (m, d) and X (n, d) in double precision: no NaN among the points, finite samples."""
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
    """A window that depends on the length of u alone, up to its normaliser."""

    reach: float  # K(u) = 0 for ||u|| >= reach
    log_value: Callable  # t -> ln K(u) of ||u||^2 = t, within reach
    log_integral: Callable  # d -> ln of the integral of K over u in R^d, less ln V_d
    lengths: Callable  # (n, d, rng) -> n draws of ||u||, u with the density K / integral


def _log_cosine_integral(d):
    """ln of d int_0^1 r^{d-1} cos(pi r / 2) dr, by quadrature: its closed form cancels badly."""
    r, w = gauss_legendre(0.0, 1.0, pieces=d)
    return log(d * (w @ (r ** (d - 1) * np.cos(pi / 2 * r))))


def _cosine_lengths(n, d, rng):
    """Lengths of density ~ r^{d-1} cos(pi r / 2), some of those of ~ r^{d-1} (1 - r).

    As cos(pi r / 2) <= pi/2 (1 - r), a draw is kept with the ratio of the two as probability.
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


def log_kernel(t, kernel="gaussian"):
    """ln K(u) of squared lengths t = ||u||^2, without the normaliser; -inf out of reach.

    >>> np.exp(log_kernel(np.array([0.0, 0.25, 1.0]), "epanechnikov")).round(12)
    array([1.  , 0.75, 0.  ])
    """
    K = _kernel(kernel)
    if K.reach == inf:
        return K.log_value(t)
    log_K, inside = np.full(t.shape, -inf), t < K.reach**2
    log_K[inside] = K.log_value(t[inside])
    return log_K


def log_kernel_integral(d, kernel="gaussian"):
    """ln of the integral of K(u) over u in R^d: d/2 ln(2 pi) of the Gaussian.

    In polar coordinates it is V_d d int_0^inf r^{d-1} K(r) dr, V_d of `ball_volume`.

    >>> float(np.exp(log_kernel_integral(2, "tophat")).round(12))
    3.14159265359
    """
    return _log_unit_ball(d) + _kernel(kernel).log_integral(d)


def sample_kernel(n, d, kernel="gaussian", *, rng):
    """n draws of u in d dimensions, of density K(u) over its integral: directions times lengths.

    >>> u = sample_kernel(5, 3, "tophat", rng=np.random.default_rng(0))
    >>> u.shape, bool((np.linalg.norm(u, axis=1) < 1).all())
    ((5, 3), True)
    """
    z = rng.standard_normal((n, d))
    lengths = _kernel(kernel).lengths(n, d, rng)
    return z * (lengths / np.linalg.norm(z, axis=1))[:, None]


def _kernel(kernel):
    return KERNELS[check_choice("kernel", kernel, tuple(KERNELS))]


def kernel_log_density(x, X, h, kernel="gaussian", sample_weight=None):
    """ln p(x), p(x) = 1/n sum_i (h sqrt(2 pi))^{-d} exp(-||x - x_i||^2 / (2 h^2)).

    That is the estimate of `parzen` by a smooth window; another `kernel` takes the place of the
    Gaussian, weights w_i / sum_j w_j (`sample_weight`) that of 1/n. MLN prints the normaliser as
    (h sqrt(2) pi)^{-d}, with which p integrates to pi^{-d/2} (density-06).

    The mean of p is that of the samples, its covariance theirs (by n) plus h^2 I. The sum is
    taken relative to its largest term, so that no point is too far for it.

    >>> X, x = np.array([[0.0], [1.0]]), np.array([[0.5], [1000.0]])
    >>> kernel_log_density(x, X, h=0.5) + np.log(0.5 * np.sqrt(2 * np.pi))
    array([-5.00000000e-01, -1.99600269e+06])

    Claims: density-05
    """
    x, X = _points_and_samples(x, X)
    w, d = check_weights(sample_weight, len(X)), X.shape[1]
    with np.errstate(divide="ignore"):
        log_w = np.log(w / w.sum())
    log_p = np.empty(len(x))
    for rows, log_K in _log_kernels(x, X, h, kernel):
        log_K += log_w
        log_p[rows] = log_sum_exp(log_K)
    return log_p - d * log(h) - log_kernel_integral(d, kernel)


def _log_kernels(x, X, h, kernel):
    """The rows of a block of x and ln K((x - x_i) / h) of them, an array to write into.

    A window has a rim, where distances must not be rounded: what is at h from a sample is out.
    So of h = c 2^e, points are divided by 2^e, which is exact, and c waits for the distances.
    """
    _check_bandwidth("h", h)
    distances = squared_distances if _kernel(kernel).reach == inf else exact_squared_distances
    c, e = frexp(h)
    x, X = np.ldexp(x, -e), np.ldexp(X, -e)
    for rows in _blocks(x, X):
        t = distances(x[rows], X)
        t /= c**2
        yield rows, log_kernel(t, kernel)


# ---------------------------------------------------------------------------------------
# How far from the truth
# ---------------------------------------------------------------------------------------


class NormalMixture(NamedTuple):
    """The density sum_i w_i N(x; mu_i, sigma_i^2) of a number, given by its parameters."""

    weights: np.ndarray  # (k,), they sum to 1
    means: np.ndarray  # (k,)
    variances: np.ndarray  # (k,)


def kernel_mixture(X, h):
    """The Gaussian kernel estimate from samples X (n, 1) as the mixture of n normals that it is.

    Raises: ValueError if X has not one column, or h is no width.

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

    >>> p = NormalMixture(np.array([1.0]), np.array([0.0]), np.array([1.0]))
    >>> round(float(inner_product(p, p) * 2 * np.sqrt(np.pi)), 12)
    1.0
    """
    w, nu, tau2 = q
    return sum(
        v * (w @ np.exp(normal_log_density(mu, nu, sigma2 + tau2)))
        for v, mu, sigma2 in zip(*p, strict=True)
    )


def integrated_squared_error(p, q):
    """int (p - q)^2 = int p^2 - 2 int p q + int q^2, of two normal mixtures.

    >>> left, right = (NormalMixture(np.ones(1), np.array([m]), np.ones(1)) for m in (0.0, 99.0))
    >>> round(float(integrated_squared_error(left, right) * np.sqrt(np.pi)), 12)
    1.0
    """
    error = inner_product(p, p) - 2 * inner_product(p, q) + inner_product(q, q)
    return np.maximum(0.0, error)  # rounding may leave less than 0 of nothing


def normal_mise(h, n):
    """E int (p - N(0, 1))^2 over samples of N(0, 1), p their Gaussian kernel estimate: exactly

        [1/(n h) + (1 - 1/n) / sqrt(1 + h^2) - 2 sqrt(2) / sqrt(2 + h^2) + 1] / (2 sqrt(pi)).

    The first term is the price of a small h, the others that of a large one.

    >>> round(float(normal_mise(np.inf, n=10) * 2 * np.sqrt(np.pi)), 12)  # p = 0 everywhere
    1.0
    """
    terms = 1 / (n * h) + (1 - 1 / n) / np.sqrt(1 + h**2) - 2 * np.sqrt(2) / np.sqrt(2 + h**2) + 1
    return terms / (2 * np.sqrt(pi))


# ---------------------------------------------------------------------------------------
# Choosing the bandwidth
# ---------------------------------------------------------------------------------------


def scott(n, d):
    """h = n^{-1/(d+4)}, a rule for features of variance 1.

    >>> scott(32, d=1)
    0.5
    """
    return n ** (-1 / (d + 4))


def silverman(n, d):
    """h = (n (d + 2) / 4)^{-1/(d+4)}: best for samples of N(0, I), as n grows.

    >>> silverman(32, d=2) == scott(32, d=2)
    True
    """
    return (n * (d + 2) / 4) ** (-1 / (d + 4))


def leave_one_out(X, h, kernel="gaussian"):
    """ln p_{-i}(x_i), the density at each sample as the other n - 1 estimate it.

    With the sample itself among them the likelihood would be largest at h = 0, each sample a
    spike; left out, it tells how well the estimate foresees what it has not seen. (Samples that
    all have a duplicate still ask for h = 0.)

    Returns: (n,). Raises: ValueError for fewer than two samples.

    >>> leave_one_out(np.array([[0.0], [1.0]]), h=0.5) + np.log(0.5 * np.sqrt(2 * np.pi))
    array([-2., -2.])
    """
    X = check_samples(X)
    n, d = X.shape
    if n < 2:
        raise ValueError(f"to leave one out takes at least 2 samples; got {n}")
    log_p = np.empty(n)
    for rows, log_K in _log_kernels(X, X, h, kernel):
        np.fill_diagonal(log_K[:, rows], -inf)
        log_p[rows] = log_sum_exp(log_K)
    return log_p - log(n - 1) - d * log(h) - log_kernel_integral(d, kernel)


def best_bandwidth(X, bandwidths, kernel="gaussian"):
    """argmax_h sum_i ln p_{-i}(x_i) over the `bandwidths`, the first of several.

    Raises: ValueError if each of them leaves some sample without a neighbour in its window, or
    there is none.

    >>> best_bandwidth(np.array([[0.0], [1.0], [2.0]]), [0.01, 1.0, 100.0])
    1.0
    """
    totals = [leave_one_out(X, h, kernel).sum() for h in bandwidths]
    if max(totals, default=-inf) == -inf:
        raise ValueError(f"a bandwidth must reach every sample from another; got {bandwidths}")
    return bandwidths[int(np.argmax(totals))]


# ---------------------------------------------------------------------------------------
# Nearest neighbours
# ---------------------------------------------------------------------------------------


def nearest_samples(x, X, k):
    """The k samples in the ball about x that grows until it holds them, and its radius r.

    Of samples equally far, at the rim, the first in X are taken.

    Returns: their numbers (m, k), in rising order, and r (m,). Raises: ValueError unless k is
    an integer with 1 <= k <= n, and x and X fit each other.

    >>> index, r = nearest_samples(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0]]), k=2)
    >>> index, r
    (array([[1, 2]]), array([2.]))
    """
    x, X = _points_and_samples(x, X)
    if not (isinstance(k, Integral) and 1 <= k <= len(X)):
        raise ValueError(f"k must be an integer between 1 and the {len(X)} samples; got {k}")
    index, r = np.empty((len(x), k), dtype=np.intp), np.empty(len(x))
    for rows in _blocks(x, X):
        D = exact_squared_distances(x[rows], X)
        rim = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
        inside, on_rim = D < rim, D == rim
        room = k - inside.sum(axis=1, keepdims=True)
        inside |= on_rim & (np.cumsum(on_rim, axis=1) <= room)
        index[rows] = np.nonzero(inside)[1].reshape(-1, k)
        r[rows] = np.sqrt(rim[:, 0])
    return index, r


def knn_density(x, X, k):
    """p(x) = k / (n V_d r^d), r the distance to the k-th nearest sample; inf where it is 0.

    Fine where samples are dense, coarse where they are rare. But it is no density: far out it
    falls like ||x||^{-d}, and its integral diverges (density-10).

    >>> knn_density(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0], [8.0]]), k=2)
    array([0.125])

    Claims: density-09
    """
    n, d = X.shape
    _, r = nearest_samples(x, X, k)
    with np.errstate(over="ignore", divide="ignore"):
        return np.divide(k, n * ball_volume(r, d))


def class_counts(x, X, y, k):
    """k_i, how many of the k samples in the ball about x are of class i: (m, K).

    Raises: ValueError unless y is (n,), or as `nearest_samples` does.

    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array(["a", "b", "b"])
    >>> class_counts(np.array([[0.4], [4.0]]), X, y, k=2)
    array([[1, 1],
           [0, 2]])
    """
    if np.shape(y) != (len(X),):
        raise ValueError(f"y must have shape ({len(X)},), a label a sample; got {np.shape(y)}")
    classes, number = np.unique(y, return_inverse=True)
    index, _ = nearest_samples(x, X, k)
    K = len(classes)
    cells = np.arange(len(x))[:, None] * K + number[index]
    return np.bincount(cells.ravel(), minlength=len(x) * K).reshape(len(x), K)


def knn_joint_density(x, X, y, k):
    """p(x, i) = k_i / (n V) for every class i, which sum to the density k / (n V): (m, K).

    >>> X, y = np.array([[0.0], [3.0], [4.0]]), np.array(["a", "b", "b"])
    >>> knn_joint_density(np.array([[1.0]]), X, y, k=2) * 12
    array([[1., 1.]])
    """
    counts, (_, r) = class_counts(x, X, y, k), nearest_samples(x, X, k)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        V = ball_volume(r, X.shape[1])[:, None]
        return np.where(counts > 0, count_density(counts, len(X), V), 0.0)


def knn_posterior(x, X, y, k):
    """P(i | x) = p(x, i) / sum_j p(x, j) = k_i / k: n and V cancel, (m, K).

    What the k nearest neighbours say, put to the vote, is Bayes' rule with these densities.

    >>> X, y = np.array([[0.0], [1.0], [5.0]]), np.array(["a", "b", "b"])
    >>> knn_posterior(np.array([[0.4], [4.0]]), X, y, k=2)
    array([[0.5, 0.5],
           [0. , 1. ]])

    Claims: density-11
    """
    return class_counts(x, X, y, k) / k


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


class KernelDensity(DensityEstimator):
    """Kernel density estimate; scikit-learn's, by Euclidean distances and without its tree.

    All pairs are visited, a block of them at a time.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman"; the rules count samples, not their weights, and
        take features of variance 1 for granted. `best_bandwidth` chooses by the data.
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

    def __init__(self, *, bandwidth=1.0, kernel="gaussian"):
        self.bandwidth = bandwidth
        self.kernel = kernel

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
        """Draw n_samples (n_samples, d) of p: samples x_i at random, each moved by h u, u of K."""
        self._require_fit()
        n = check_number("n_samples", n_samples, at_least=1, integer=True)
        X, rng = self.samples_, check_random_state(random_state)
        moved = self.bandwidth_ * sample_kernel(n, X.shape[1], self.kernel, rng=rng)
        return X[sample_atoms(n, self.weights_, rng=rng)] + moved
