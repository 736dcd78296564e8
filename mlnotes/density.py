"""Density estimation without a form: histogram, Parzen window, Gaussian kernel, k-NN.

If k of n samples fall into a small region of volume V, the density there is about k / (n V). The
histogram and the Parzen window fix the volume, nearest neighbours the count.

Contents
    From counts to densities   count_density, relative_deviation
    The histogram              histogram_density
    Parzen windows             hypercube, gaussian_window, parzen
    Balls                      log_unit_ball, ball_volume, exact_squared_distances
    Round windows              Window, WINDOWS, log_positive, log_cosine_integral, cosine_lengths,
                               sample_kernel
    The kernel estimate        kernel_log_density, window_log_density
    The error of an estimate   NormalMixture, mixture_inner_product, normal_mise
    Choosing the bandwidth     scott, silverman, leave_one_out, best_bandwidth
    Nearest neighbours         nearest_samples, knn_density, class_counts, knn_posterior
    Estimators                 KernelDensity

Symbols
    X       (n, d)     samples x_i, one per row
    x       (m, d)     points at which the density is taken
    y       (n,)       labels of the samples; a column for each of the K classes, in sorted order
    h       float      bandwidth: the side of a cube, the standard deviation of a Gaussian
    u       (..., d)   the argument of a window, (x - x_i) / h
    t       (m, n)     squared lengths ||u||^2; a round window depends on nothing else
    kernel  str        name of a round window, one of WINDOWS
    V, P    float      volume and probability of a region; k (int) of the n samples are in it
    r       (m,)       radius of the ball about x that holds k samples
    p, q               densities; where they are arguments, each a `NormalMixture`
    rng     Generator  source of random numbers

Notes: PRNN 6 to 6.2; MLN "Parzen Window" and "Bayes Classifier"; IRHD 2.3. PRNN writes P_n and
P_x for our p, script V for V, h_n for h; MLN has f for p and u_0 for the centre of a cube.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    BLOCK,
    LARGEST,
    SMALLEST_SPREAD,
    DensityEstimator,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    floats,
    row_blocks,
)
from mlnotes.numerics import squared_distances
from mlnotes.probability import gauss_legendre, log_sum_exp, normal_log_density

# =======================================================================================
# The lecture
# =======================================================================================

# --- From counts to densities ----------------------------------------------------------


def count_density(k, n, V):
    """The density p = k / (n V) of k among n samples in a region of volume V.

    The region has the probability P = p V, which k / n estimates.

    >>> count_density(k=3, n=12, V=0.5)
    0.5

    Errata: density-15 (PRNN announces this formula and does not print it).
    """
    return k / (n * V)


def relative_deviation(n, P):
    """The standard deviation of k / n divided by its mean P: sqrt((1 - P) / (n P)).

    In a grid of m cells per axis P = m^{-d}: for the same accuracy n has to grow like m^d.

    >>> relative_deviation(100, P=0.5), relative_deviation(300, P=0.25)
    (0.1, 0.1)
    """
    return ((1 - P) / (n * P)) ** 0.5


# --- The histogram ---------------------------------------------------------------------


def histogram_density(x, X, h, origin=0.0):
    """p(x) = k / (n h^d) (m,), where k samples are in the cell of x: a cube of side h.

    A cell has its lower corner at `origin`, a number or a point (d,), and no cell contains its
    upper faces.

    >>> histogram_density(np.array([[0.25], [9.0]]), np.array([[0.1], [0.2], [0.7], [1.3]]), h=0.5)
    array([1., 0.])
    """
    n, d = X.shape
    cells = np.floor((floats(X) - origin) / h)
    k = [np.all(cells == cell, axis=1).sum() for cell in np.floor((floats(x) - origin) / h)]
    return count_density(np.array(k), n, h**d)


# --- Parzen windows --------------------------------------------------------------------


def hypercube(u):
    """phi(u) = 1 if |u_j| <= 1/2 for j = 1, ..., d, else 0: the unit cube about the origin.

    >>> hypercube(np.array([[0.5, -0.5], [0.2, 0.6]]))
    array([1., 0.])
    """
    return (np.abs(floats(u)).max(axis=-1) <= 0.5).astype(float)


def gaussian_window(u):
    """phi(u) = (2 pi)^{-d/2} exp(-||u||^2 / 2), the standard normal density.

    >>> gaussian_window(np.array([[0.0, 0.0]])) * (2 * np.pi)
    array([1.])

    Errata: density-07 (PRNN prints exp(-||u - u_0||^2): shifted, and its integral is pi^{d/2}).
    """
    u = floats(u)
    return (2 * pi) ** (-u.shape[-1] / 2) * np.exp(-np.sum(u**2, axis=-1) / 2)


def parzen(x, X, h, window=hypercube):
    """p(x) = 1/n sum_i h^{-d} phi((x - x_i) / h) (m,), for phi the `window`.

    With the cube this is k / (n h^d), with a cell centred at x. If phi is a density, so is p.

    >>> parzen(np.array([[0.5], [3.0]]), np.array([[0.0], [1.0], [5.0], [6.0]]), h=2.0)
    array([0.25, 0.  ])
    """
    x, X = floats(x, X)
    n, d = X.shape
    k = sum(window((x - x_i) / h) for x_i in X)
    return count_density(k, n, h**d)


# --- Balls -----------------------------------------------------------------------------


def log_unit_ball(d):
    """ln V_d of the volume V_d = pi^{d/2} / Gamma(d/2 + 1) of the unit ball in d dimensions.

    >>> round(log_unit_ball(1), 12) == round(log(2), 12)
    True
    """
    return d / 2 * log(pi) - lgamma(d / 2 + 1)


def ball_volume(r, d):
    """The volume V = V_d r^d of a ball of radius r: 2 r, pi r^2, 4/3 pi r^3, ...

    V_d^{1/d} r is raised to the power d: in many dimensions V_d and r^d would leave the range.

    >>> round(ball_volume(1.0, d=2) / np.pi, 12), round(ball_volume(3.0, d=1), 12)
    (1.0, 6.0)
    """
    return (exp(log_unit_ball(d) / d) * r) ** d


def exact_squared_distances(x, X):
    """||x - x_i||^2 = sum_j (x_j - x_ij)^2 of every point and sample (m, n).

    No digits cancel, so rounding does not decide whether a sample is inside a ball.

    >>> exact_squared_distances(np.array([[1e9, 3.0]]), np.array([[1e9, 3.0], [1e9, 5.0]]))
    array([[0., 4.]])
    """
    x, X = floats(x, X)
    return sum((a[:, None] - b) ** 2 for a, b in zip(x.T, X.T, strict=True))


# --- Round windows ---------------------------------------------------------------------


class Window(NamedTuple):
    """A window K(u) that depends on the length of u alone, without its normalising factor."""

    reach: float  # K(u) = 0 for ||u|| >= reach
    log_sum: Callable  # t (m, n) -> ln sum_i K(u_i) of ||u_i||^2 = t (m,)
    log_integral: Callable  # d -> ln of the integral of K over R^d
    lengths: Callable  # (n, d, rng) -> n draws of ||u||, where u has the density K / integral


def log_positive(a):
    """ln max(0, a), which is -inf where a <= 0.

    >>> log_positive(np.array([1.0, 0.0, -2.0]))
    array([  0., -inf, -inf])
    """
    a = floats(a)
    return np.where(a > 0, np.log(np.where(a > 0, a, 1.0)), -inf)


def log_cosine_integral(d):
    """ln of d V_d int_0^1 r^{d-1} cos(pi r / 2) dr, by quadrature: its closed form cancels.

    >>> round(exp(log_cosine_integral(1)), 12) == round(4 / pi, 12)
    True
    """
    r, w = gauss_legendre(0.0, 1.0, pieces=d)
    return log_unit_ball(d) + log(d * (w @ (r ** (d - 1) * np.cos(pi / 2 * r))))


def cosine_lengths(n, d, rng):
    """n lengths (n,) with a density proportional to r^{d-1} cos(pi r / 2), by rejection.

    Draws from r^{d-1} (1 - r) are kept with probability cos(pi r / 2) / (pi/2 (1 - r)) <= 1.

    >>> cosine_lengths(5, 2, np.random.default_rng(0)).shape
    (5,)
    """
    kept = np.empty(0)
    while len(kept) < n:
        r = rng.beta(d, 2, size=n)
        below = rng.random(n) * pi / 2 * (1 - r) < np.cos(pi / 2 * r)
        kept = np.append(kept, r[below])
    return kept[:n]


WINDOWS = {
    "gaussian": Window(  # exp(-||u||^2 / 2)
        reach=inf,
        log_sum=lambda t: log_sum_exp(-t / 2),
        log_integral=lambda d: d / 2 * log(2 * pi),
        lengths=lambda n, d, rng: np.sqrt(rng.chisquare(d, n)),
    ),
    "tophat": Window(  # 1
        reach=1.0,
        log_sum=lambda t: log_positive((t < 1).sum(axis=1)),
        log_integral=log_unit_ball,
        lengths=lambda n, d, rng: rng.beta(d, 1, n),
    ),
    "epanechnikov": Window(  # 1 - ||u||^2
        reach=1.0,
        log_sum=lambda t: log_positive(np.maximum(1 - t, 0).sum(axis=1)),
        log_integral=lambda d: log_unit_ball(d) + log(2 / (d + 2)),
        lengths=lambda n, d, rng: np.sqrt(rng.beta(d / 2, 2, n)),
    ),
    "exponential": Window(  # exp(-||u||)
        reach=inf,
        log_sum=lambda t: log_sum_exp(-np.sqrt(t)),
        log_integral=lambda d: log_unit_ball(d) + lgamma(d + 1),
        lengths=lambda n, d, rng: rng.gamma(d, size=n),
    ),
    "linear": Window(  # 1 - ||u||
        reach=1.0,
        log_sum=lambda t: log_positive(np.maximum(1 - np.sqrt(t), 0).sum(axis=1)),
        log_integral=lambda d: log_unit_ball(d) - log(d + 1),
        lengths=lambda n, d, rng: rng.beta(d, 2, n),
    ),
    "cosine": Window(  # cos(pi ||u|| / 2)
        reach=1.0,
        log_sum=lambda t: log_positive(np.sum(np.cos(pi / 2 * np.sqrt(t)) * (t < 1), axis=1)),
        log_integral=log_cosine_integral,
        lengths=cosine_lengths,
    ),
}


def sample_kernel(n, d, kernel="gaussian", *, rng):
    """n draws of u (n, d) from the density K(u) / int K: random directions times lengths.

    >>> sample_kernel(5, 3, "tophat", rng=np.random.default_rng(0)).shape
    (5, 3)
    """
    z = rng.standard_normal((n, d))
    lengths = WINDOWS[kernel].lengths(n, d, rng)
    return z * (lengths / np.linalg.norm(z, axis=1))[:, None]


# --- The kernel estimate ---------------------------------------------------------------


def kernel_log_density(x, X, h):
    """ln p(x) (m,), p(x) = 1/n sum_i (h sqrt(2 pi))^{-d} exp(-||x - x_i||^2 / (2 h^2)).

    With log-sum-exp it is finite even where every term underflows.

    >>> X, x = np.array([[0.0], [1.0]]), np.array([[0.5], [1000.0]])
    >>> kernel_log_density(x, X, h=0.5) + np.log(0.5 * np.sqrt(2 * np.pi))
    array([-5.00000000e-01, -1.99600269e+06])

    Errata: density-06 (MLN prints the normaliser (h sqrt(2) pi)^{-d}).
    """
    n, d = X.shape
    log_K = -squared_distances(x, X) / (2 * h**2)
    return log_sum_exp(log_K) - log(n) - d * log(h * sqrt(2 * pi))


def window_log_density(x, X, h, kernel):
    """ln p(x) (m,), p(x) = 1/n sum_i K(u_i) / (h^d int K), for K a round window of `WINDOWS`.

    >>> window_log_density(np.array([[0.5], [9.0]]), np.array([[0.0], [1.0]]), 1.0, "tophat")
    array([-0.69314718,        -inf])
    """
    n, d = X.shape
    K = WINDOWS[kernel]
    squares = squared_distances if K.reach == inf else exact_squared_distances  # exact at a rim
    t = squares(x, X) / h**2
    return K.log_sum(t) - log(n) - d * log(h) - K.log_integral(d)


# --- The error of an estimate ----------------------------------------------------------


class NormalMixture(NamedTuple):
    """The density sum_i w_i N(x; mu_i, sigma_i^2) of a number, given by its parameters."""

    weights: np.ndarray  # (k,), they sum to 1
    means: np.ndarray  # (k,)
    variances: np.ndarray  # (k,)


def mixture_inner_product(p, q):
    """int p q = sum_ij v_i w_j N(mu_i; nu_j, sigma_i^2 + tau_j^2), exact for normal mixtures.

    >>> p = NormalMixture(np.ones(1), np.zeros(1), np.ones(1))
    >>> round(float(mixture_inner_product(p, p) * 2 * np.sqrt(np.pi)), 12)
    1.0
    """
    (v, mu, sigma2), (w, nu, tau2) = floats(*p), floats(*q)
    return v @ np.exp(normal_log_density(mu[:, None], nu, sigma2[:, None] + tau2)) @ w


def normal_mise(h, n):
    """E int (p - N(0, 1))^2 for the Gaussian kernel estimate p from n samples of N(0, 1):

        [1/(n h) + (1 - 1/n) / sqrt(1 + h^2) - 2 sqrt(2) / sqrt(2 + h^2) + 1] / (2 sqrt(pi)).

    >>> round(float(normal_mise(np.inf, n=10) * 2 * np.sqrt(np.pi)), 12)  # p = 0 everywhere
    1.0
    """
    h = floats(h)
    terms = 1 / (n * h) + (1 - 1 / n) / np.sqrt(1 + h**2) - 2 * np.sqrt(2) / np.sqrt(2 + h**2) + 1
    return terms / (2 * np.sqrt(pi))


# --- Choosing the bandwidth ------------------------------------------------------------


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


def leave_one_out(X, h):
    """ln p_{-i}(x_i) (n,): the Gaussian kernel estimate at each sample from the other n - 1.

    With the sample itself among them, as with duplicates of all, the best h would be 0.

    >>> leave_one_out(np.array([[0.0], [1.0]]), h=0.5) + np.log(0.5 * np.sqrt(2 * np.pi))
    array([-2., -2.])
    """
    n, d = X.shape
    log_K = -squared_distances(X) / (2 * h**2)
    np.fill_diagonal(log_K, -inf)  # K = 0 between a sample and itself
    return log_sum_exp(log_K) - log(n - 1) - d * log(h * sqrt(2 * pi))


def best_bandwidth(X, bandwidths):
    """argmax_h sum_i ln p_{-i}(x_i) over the `bandwidths`; of several, the first.

    >>> best_bandwidth(np.array([[0.0], [1.0], [2.0]]), [0.01, 1.0, 100.0])
    1.0
    """
    return max(bandwidths, key=lambda h: leave_one_out(X, h).sum())


# --- Nearest neighbours ----------------------------------------------------------------


def nearest_samples(x, X, k):
    """The k nearest samples of x, (m, k) in rising order, and the distance r (m,) to the farthest.

    Of samples at the same distance the first in X are taken.

    >>> nearest_samples(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0]]), k=2)
    (array([[1, 2]]), array([2.]))
    """
    D = exact_squared_distances(x, X)
    order = np.argsort(D, axis=1, kind="stable")  # nearest first
    r = np.sqrt(D[np.arange(len(D)), order[:, k - 1]])
    return np.sort(order[:, :k], axis=1), r


def knn_density(x, X, k):
    """p(x) = k / (n V_d r^d) (m,), r the distance to the k-th nearest sample; inf for r = 0.

    It is no density: far away it falls like ||x||^{-d}, and its integral diverges (density-10).

    >>> knn_density(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0], [8.0]]), k=2)
    array([0.125])
    """
    n, d = X.shape
    distances = np.sqrt(exact_squared_distances(x, X))
    r = np.sort(distances, axis=1)[:, k - 1]  # to the k-th nearest sample
    V = ball_volume(np.where(r > 0, r, 1.0), d)
    return np.where(r > 0, count_density(k, n, V), inf)  # infinite if k samples are at x


def class_counts(x, X, y, k):
    """k_i, the number of samples of class i among the k nearest samples of x: (m, K).

    >>> class_counts(np.array([[4.0]]), np.array([[0.0], [1.0], [5.0]]), np.array([7, 8, 8]), k=2)
    array([[0, 2]])
    """
    index, _ = nearest_samples(x, X, k)
    labels = y[index]  # for every point a row of k labels
    return np.stack([(labels == name).sum(axis=1) for name in np.unique(y)], axis=1)


def knn_posterior(x, X, y, k):
    """P(i | x) = p(x, i) / sum_j p(x, j) = k_i / k: n and V cancel, (m, K).

    So the vote of the k nearest neighbours is the Bayes classifier with these densities.

    >>> knn_posterior(np.array([[0.4]]), np.array([[0.0], [1.0], [5.0]]), np.array([7, 8, 8]), k=2)
    array([[0.5, 0.5]])
    """
    return class_counts(x, X, y, k) / k


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False, kw_only=True)
class KernelDensity(DensityEstimator):
    """Kernel density estimate, as in scikit-learn, by the Euclidean distances of all pairs.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", rules for features with variance 1; see also
        `best_bandwidth`
    kernel : "gaussian", "tophat", "epanechnikov", "exponential", "linear" or "cosine"

    Attributes
    ----------
    bandwidth_ : float; h
    kernel_ : str; the `kernel` of the fit
    samples_ : ndarray of shape (n, d)
    n_features_in_ : int

    >>> model = KernelDensity(kernel="tophat").fit([[0.0], [1.0]])
    >>> np.exp(model.score_samples([[0.5], [9.0]])).round(12)
    array([0.5, 0. ])
    """

    bandwidth: float | str = 1.0
    kernel: str = "gaussian"

    def fit(self, X, y=None):
        """Keep the samples X (n, d); y is not used."""
        samples, h = check_samples(X), self.bandwidth
        self.kernel_ = check_choice("kernel", self.kernel, tuple(WINDOWS))
        if isinstance(h, str):
            rules = {"scott": scott, "silverman": silverman}
            h = rules[check_choice("bandwidth", h, tuple(rules))](*samples.shape)
        self.bandwidth_ = float(check_number("bandwidth", h, above=SMALLEST_SPREAD, below=LARGEST))
        self.samples_ = np.array(samples, order="C")
        return self._remember(X)

    def score_samples(self, X):
        """ln p (m,) at the points X (m, d)."""
        X, samples = self._check_fitted(X), self.samples_
        blocks = row_blocks(len(X), BLOCK // len(samples))
        with np.errstate(over="ignore"):  # a length of inf has the density 0
            params = samples, self.bandwidth_, self.kernel_
            return np.concatenate([window_log_density(X[b], *params) for b in blocks])

    def score(self, X, y=None):
        """The log-likelihood of X, sum_i ln p(x_i); y is not used."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples=1, random_state=None):
        """Draw from p: random samples x_i, each moved by h u with u from K, (n_samples, d)."""
        self._require_fit()
        n = check_number("n_samples", n_samples, at_least=1, integer=True)
        samples, rng = self.samples_, check_random_state(random_state)
        moved = self.bandwidth_ * sample_kernel(n, samples.shape[1], self.kernel_, rng=rng)
        return samples[rng.integers(len(samples), size=n)] + moved
