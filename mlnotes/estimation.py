"""Estimation: from samples back to the distribution that they were drawn from.

Maximum likelihood takes the parameter that makes the samples most probable. Bayesian estimation
starts from a distribution of the parameter, the prior. The samples turn it into the posterior.

Contents
    Empirical moments        empirical_mean, centre, empirical_covariance, kronecker
    More families            categorical_log_pmf, uniform_log_density, exponential_log_density,
                             student_log_density
    Likelihood               likelihood, log_likelihood, maximum_likelihood
    Closed forms             bernoulli_mle, categorical_mle, poisson_mle, uniform_mle,
                             exponential_mle, normal_mle, multivariate_normal_mle
    Nearest distribution     empirical_distribution, kl_divergence
    Functions of theta       profile_log_likelihood
    Accuracy of estimates    mean_squared_error, bernoulli_score, poisson_score,
                             exponential_score, normal_score, fisher_information
    Testing a hypothesis     log_likelihood_ratio, t_statistic
    Bayesian estimation      posterior, point_estimates, PointEstimates
    Conjugate priors         Beta, Dirichlet, Gamma, NormalMean, NormalInverseGamma, log_evidence,
                             sequential

Symbols
    X        (n, d)  samples, one per row; x (n,) samples that are numbers, together the data D
    log_f            a family: log_f(x, *theta) is ln f(x_j | theta) of every sample
    theta            its parameters, in the order in which log_f takes them, such as
    p        float     of Bernoulli samples 0 and 1; (K,) of categories 0, ..., K - 1
    rate     float     of Poisson counts (the notes' lambda), of exponential waiting times
    a, b     float     ends of a uniform distribution
    mu, sigma2         mean and variance of a normal distribution; Sigma (d, d) a covariance matrix
    log_L    (m,)    log-likelihood l(theta | x) at m values of theta
    w        (m,)    weights of an integral over m points, such as those of `gauss_legendre`

All five conjugate priors have the methods ``log_density(*theta)``, ``posterior(x)``, which is of
the same class, ``mean()``, ``mode()`` (the MAP estimate) and ``log_predictive(x)``, the log-density
ln int f(x | theta) f(theta) dtheta of the next sample.

Notes: MLN "Maximum Likelihood Estimation", "Bayesian Estimation"; IRHD 1.1, 3.1, 4.1, X^T for X.
"""

from dataclasses import dataclass
from math import lgamma, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import check_number
from mlnotes.probability import (
    Normal,
    bernoulli_log_pmf,
    expectation,
    is_count,
    log_gamma,
    normal_log_density,
    uniform_density,
    x_log_y,
)

ROUND_OFF = 1e-6  # the sum of probabilities may miss 1 by this, as in single precision
SERIES = 1e3  # from this h on a series gives ln Gamma(h + 1/2) - ln Gamma(h) to all digits


# ---------------------------------------------------------------------------------------
# Empirical moments
# ---------------------------------------------------------------------------------------


def empirical_mean(X):
    """mu = 1/n X^T 1 = 1/n sum_i x_i: (d,).

    >>> empirical_mean(np.array([[1.0, 4.0], [3.0, 8.0]]))
    array([2., 6.])
    """
    return X.mean(axis=0)


def centre(X):
    """X - 1 mu^T: the samples minus their mean, so that every column sums to 0.

    Returns: (n, d).

    >>> centre(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [[-1.0, -2.0], [1.0, 2.0]]
    """
    X_c = X - empirical_mean(X)
    return X_c - empirical_mean(X_c)  # again: a mean far from 0 has a large rounding error


def empirical_covariance(X, ddof=1):
    """S = 1/(n - 1) X_c^T X_c, with the centred samples X_c = X - 1 mu^T.

    It is unbiased. With `ddof` = 0 it divides by n, as maximum likelihood does (estimation-02).

    Returns: (d, d). Raises: ValueError unless n > ddof.

    >>> empirical_covariance(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """
    if len(X) <= ddof:
        raise ValueError(f"a covariance needs n > {ddof} samples; got n = {len(X)}")
    X_c = centre(X)
    return X_c.T @ X_c / (len(X) - ddof)


def kronecker(A, B):
    """A (x) B = (a_ij B): every entry of A (k, l) times all of B (m, n), as blocks.

    Returns: (k m, l n).

    >>> kronecker(np.array([[1, 10]]), np.array([[1, 2], [3, 4]])).tolist()
    [[1, 2, 10, 20], [3, 4, 30, 40]]
    """
    (k, columns), (m, n) = A.shape, B.shape
    blocks = A[:, None, :, None] * B[None, :, None, :]
    return blocks.reshape(k * m, columns * n)


# ---------------------------------------------------------------------------------------
# More families
# ---------------------------------------------------------------------------------------


def categorical_log_pmf(x, p):
    """ln Pr(X = k) = ln p_k for the categories k = 0, ..., K - 1; -inf for anything else.

    >>> np.exp(categorical_log_pmf(np.array([0, 2, 3]), p=np.array([0.25, 0.25, 0.5])))
    array([0.25, 0.5 , 0.  ])
    """
    possible = _is_category(x, len(p))
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    return np.where(possible, log_p[np.where(possible, x, 0).astype(int)], -np.inf)


def uniform_log_density(x, a, b):
    """ln f(x) = -ln(b - a) for a <= x <= b; -inf elsewhere.

    >>> uniform_log_density(np.array([0.5, 3.0]), a=0.0, b=1.0)
    array([  0., -inf])
    """
    with np.errstate(divide="ignore"):
        return np.log(uniform_density(x, a, b))


def exponential_log_density(x, rate):
    """ln f(x) = ln(rate) - rate x for x >= 0; -inf below. Mean 1/rate, variance 1/rate^2.

    >>> np.exp(exponential_log_density(np.array([-1.0, 0.0, np.log(2)]), rate=1.0))
    array([0. , 1. , 0.5])
    """
    return np.where(x >= 0, np.log(rate) - rate * x, -np.inf)


def student_log_density(x, nu, mu, sigma2):
    """ln f(x), if z = (x - mu) / sigma has Student's t distribution with nu degrees of freedom:

        ln Gamma((nu + 1)/2) - ln Gamma(nu/2) - 1/2 ln(nu pi sigma^2) - (nu + 1)/2 ln(1 + z^2/nu) .

    >>> pi * np.exp(student_log_density(np.array([0.0, 1.0, 3.0]), nu=1, mu=0.0, sigma2=1.0))
    array([1. , 0.5, 0.1])
    """
    z2 = (x - mu) ** 2 / sigma2
    constant = _log_gamma_ratio(nu / 2) - log(nu * pi * sigma2) / 2
    return constant - (nu + 1) / 2 * np.log1p(z2 / nu)


def _log_gamma_ratio(h):
    """ln Gamma(h + 1/2) - ln Gamma(h); for large h a series, as the two nearly cancel."""
    if h < SERIES:
        return lgamma(h + 1 / 2) - lgamma(h)
    return log(h) / 2 - 1 / (8 * h) + 1 / (192 * h**3)


def _is_category(x, K):
    return is_count(x) & (x < K)


# ---------------------------------------------------------------------------------------
# Likelihood
# ---------------------------------------------------------------------------------------


def likelihood(log_f, x, *theta):
    """L(theta | x) = prod_j f(x_j | theta): the probability of the samples, as a function of theta.

    For many samples it is too small for the computer and becomes 0: use `log_likelihood`.

    >>> float(likelihood(bernoulli_log_pmf, np.array([1, 0, 0]), 0.5))
    0.125
    """
    return np.exp(log_f(x, *theta)).prod(axis=0)


def log_likelihood(log_f, x, *theta):
    """l(theta | x) = ln L(theta | x) = sum_j ln f(x_j | theta).

    For m candidates theta (m,), let x be a column (n, 1); then l is (m,).

    >>> log_likelihood(bernoulli_log_pmf, np.array([[1], [0]]), np.array([0.25, 0.5])).round(3)
    array([-1.674, -1.386])
    """
    return log_f(x, *theta).sum(axis=0)


def maximum_likelihood(log_f, x, theta):
    """argmax_theta sum_i ln f(x_i | theta) over m candidates theta (m,); the first if several tie.

    Raises: ValueError if the samples are impossible under all of them, or l is nan at one.

    >>> maximum_likelihood(bernoulli_log_pmf, np.array([1, 0, 0]), np.array([0.2, 0.3, 0.4]))
    0.3
    """
    log_L = log_likelihood(log_f, x[:, None], theta)
    best = np.argmax(log_L)  # the place of a nan, if there is one
    _check_likelihood(log_L[best], theta[best])
    return float(theta[best])


def _check_likelihood(largest, theta):
    if not largest > -np.inf:
        got = f"l = {largest} at theta = {theta}"
        raise ValueError(f"the samples are impossible under all candidates; got {got}")


# ---------------------------------------------------------------------------------------
# Closed forms
# ---------------------------------------------------------------------------------------


def bernoulli_mle(x):
    """p = k/n, the share of ones.

    Raises: ValueError if x is empty or holds anything but 0 and 1.

    >>> bernoulli_mle(np.array([1, 0, 0, 0]))
    0.25
    """
    return float(_some(_bits(x)).mean())


def categorical_mle(x, K):
    """p_k = n_k/n, the share of every category.

    Returns: p (K,). Raises: ValueError if x is empty or holds anything else.

    >>> categorical_mle(np.array([0, 2, 2, 0]), K=3)
    array([0.5, 0. , 0.5])
    """
    return np.bincount(_some(_categories(x, K)).astype(int), minlength=K) / len(x)


def poisson_mle(x):
    """rate = 1/n sum_i x_i, the mean.

    Raises: ValueError if x is empty or holds anything but counts.

    >>> poisson_mle(np.array([0, 1, 5]))
    2.0
    """
    return float(_some(_counts(x)).mean())


def exponential_mle(x):
    """rate = n / sum_i x_i, one over the mean.

    Raises: ValueError if x is empty or has entries < 0, or if all are 0: then l has no maximum.

    >>> exponential_mle(np.array([1.0, 3.0]))
    0.5
    """
    x = _some(_checked(x, lambda x: (x >= 0) & np.isfinite(x), "numbers >= 0"))
    if not x.any():
        raise ValueError("the exponential likelihood has no maximum: all samples are 0")
    return float(1 / x.mean())


def uniform_mle(x):
    """a = min_i x_i and b = max_i x_i: L = (b - a)^{-n} if [a, b] holds all samples, else 0.

    Returns: a and b. Raises: ValueError if all samples are equal: then L has no maximum.

    >>> uniform_mle(np.array([2.0, 5.0, 3.0]))
    (2.0, 5.0)
    """
    x = _some(_numbers(x))
    if x.min() == x.max():
        raise ValueError(f"the uniform likelihood has no maximum: all samples are {x[0]}")
    return float(x.min()), float(x.max())


def normal_mle(x, mu=None):
    """mu = 1/n sum_i x_i and sigma^2 = 1/n sum_i (x_i - mu)^2; a known `mu` is kept.

    Returns: mu and sigma^2. Raises: ValueError if all samples equal mu: then l has no maximum.

    >>> normal_mle(np.array([1.0, 3.0])), normal_mle(np.array([1.0, 3.0]), mu=0.0)
    ((2.0, 1.0), (0.0, 5.0))
    """
    x = _some(_numbers(x))
    point = x[0] if mu is None else mu
    if (x == point).all():
        raise ValueError(f"the normal likelihood has no maximum: all samples are {point}")
    errors = centre(x) if mu is None else x - mu
    mu = float(x.mean()) if mu is None else mu
    sigma2 = float(np.mean(errors**2))
    if not 0 < sigma2 < np.inf:
        raise ValueError(f"the variance of the samples must be a number > 0; got {sigma2}")
    return mu, sigma2


def multivariate_normal_mle(X):
    """mu = 1/n sum_i x_i and Sigma = 1/n sum_i (x_i - mu)(x_i - mu)^T.

    Returns: a `Normal`, mean and covariance. Raises: ValueError if the samples lie in a hyperplane,
    as they do for n <= d: then l has no maximum.

    >>> multivariate_normal_mle(np.array([[0.0], [4.0]]))
    Normal(mean=array([2.]), covariance=array([[4.]]))
    """
    X = _numbers(X, ndim=2)
    Sigma, (n, d) = empirical_covariance(X, ddof=0), X.shape
    scale = np.sqrt(np.diag(Sigma))  # so that the units of the features do not matter
    constant = (X == X[0]).all(axis=0).any()
    if constant or np.linalg.matrix_rank(Sigma / scale / scale[:, None], hermitian=True) < d:
        raise ValueError(
            f"the normal likelihood has no maximum: the {n} samples lie in a hyperplane of R^{d}"
        )
    return Normal(empirical_mean(X), Sigma)


def _checked(x, valid, rule, ndim=1):
    """x in double precision, if it has `ndim` axes and all of its entries are `valid`."""
    x = np.asarray(x)
    if x.ndim != ndim:
        shape = "(n,)" if ndim == 1 else "(n, d)"
        raise ValueError(f"samples must be an array {shape}; got shape {x.shape}")
    bad = ~valid(x)
    if bad.any():
        raise ValueError(f"x must hold {rule}; got {x[bad][0]}")
    return x.astype(float, casting="same_kind", copy=False)


def _numbers(x, ndim=1):
    return _checked(x, np.isfinite, "finite numbers", ndim)


def _bits(x):
    return _checked(x, lambda x: (x == 0) | (x == 1), "0 and 1 only")


def _counts(x):
    return _checked(x, is_count, "counts 0, 1, 2, ...")


def _categories(x, K):
    return _checked(x, lambda x: _is_category(x, K), f"categories 0, ..., {K - 1}")


def _some(x):
    if len(x) == 0:
        raise ValueError("an estimate needs at least one sample; got none")
    return x


def _check_alike(**rows):
    """Refuse shapes that differ: numpy would make a table of a row and a column."""
    shapes = {name: np.shape(row) for name, row in rows.items()}
    if len(set(shapes.values())) > 1:
        got = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes must be the same; got {got}")


# ---------------------------------------------------------------------------------------
# Nearest distribution
# ---------------------------------------------------------------------------------------


def empirical_distribution(x):
    """The empirical distribution f_data: the values that occur, and the share of each.

    Returns: the values (k,) in rising order, their weights (k,). Raises: ValueError if x is empty.

    >>> empirical_distribution(np.array([3, 0, 3, 1]))
    (array([0, 1, 3]), array([0.25, 0.25, 0.5 ]))
    """
    values, counts = np.unique(_some(x), return_counts=True)
    return values, counts / counts.sum()


def kl_divergence(f, g):
    """KL(f || g) = sum_x f(x) ln(f(x) / g(x)) for distributions with the weights f and g (..., k).

    It is infinite if g(x) = 0 < f(x) for some x. The member of a family that is nearest to the
    empirical distribution has the largest likelihood (estimation-06).

    Raises: ValueError if f and g have different numbers of weights.

    >>> kl_divergence(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([ 0., inf])
    """
    if np.shape(f)[-1:] != np.shape(g)[-1:]:
        raise ValueError(f"f and g must have k weights each; got {np.shape(f)} and {np.shape(g)}")
    return np.sum(x_log_y(f, f) - x_log_y(f, g), axis=-1)


# ---------------------------------------------------------------------------------------
# Functions of theta
# ---------------------------------------------------------------------------------------


def profile_log_likelihood(log_L, g):
    """l*(g) = max {l(theta) : G(theta) = g}, with g = G(theta) (m,) for each of m candidates.

    It is largest at G of the maximum likelihood estimate of theta (estimation-07).

    Returns: the values of g that occur, in rising order, and l* of each.

    >>> profile_log_likelihood(np.array([-7.0, -2.0, -3.0]), g=np.array([1.0, 0.0, 1.0]))
    (array([0., 1.]), array([-2., -3.]))
    """
    values, which = np.unique(g, return_inverse=True)
    best = np.full(len(values), -np.inf)
    np.maximum.at(best, which, log_L)
    return values, best


# ---------------------------------------------------------------------------------------
# Accuracy of estimates
# ---------------------------------------------------------------------------------------


def mean_squared_error(log_p, estimates, truth):
    """MSE = E[(estimate - truth)^2] = sum_k exp(log_p_k) (estimates_k - truth)^2.

    All possible data k have the log-probabilities `log_p` (k,) and lead to the `estimates` (k,).

    Raises: ValueError if there is not one estimate for each log_p_k.

    Errata: estimation-09 (MLN takes MSE -> 0 for consistency; it is enough, but not necessary).

    >>> round(mean_squared_error(np.log([0.5, 0.5]), np.array([0.0, 1.0]), truth=0.5), 12)
    0.25
    """
    _check_alike(log_p=log_p, estimates=estimates)
    possible = log_p != -np.inf  # keeps nan
    with np.errstate(divide="ignore"):
        log_error = np.log(np.abs(estimates[possible] - truth))
    return float(np.exp(log_p[possible] + 2 * log_error).sum())


def bernoulli_score(x, p):
    """d/dp ln f(x | p) = x/p - (1 - x)/(1 - p).

    >>> bernoulli_score(np.array([0, 1]), p=0.25).round(6)
    array([-1.333333,  4.      ])
    """
    return x / p - (1 - x) / (1 - p)


def poisson_score(x, rate):
    """d/d rate ln f(x | rate) = x/rate - 1.

    >>> poisson_score(np.array([0, 2, 4]), rate=2.0)
    array([-1.,  0.,  1.])
    """
    return x / rate - 1


def exponential_score(x, rate):
    """d/d rate ln f(x | rate) = 1/rate - x.

    >>> exponential_score(np.array([0.0, 0.5]), rate=2.0)
    array([0.5, 0. ])
    """
    return 1 / rate - x


def normal_score(x, mu, sigma2):
    """d/dmu and d/dsigma^2 of ln f(x): (x - mu)/sigma^2 and ((x - mu)^2/sigma^2 - 1)/(2 sigma^2).

    Returns: (n, 2).

    >>> normal_score(np.array([4.0]), mu=0.0, sigma2=2.0)
    array([[2.  , 1.75]])
    """
    z = (x - mu) / sigma2
    return np.column_stack([z, (z**2 - 1 / sigma2) / 2])


def fisher_information(w, score):
    """I(theta) = E[s s^T]: the variance of the score s = d/dtheta ln f(x | theta), whose mean is 0.

    `score` is (m,), or (m, q) for q parameters, at m points x with weights w (m,): probabilities,
    or quadrature weights times density. For large n, the maximum likelihood estimate of one
    parameter has an error of variance near 1/(n I) (estimation-08).

    Returns: a number, or (q, q). Raises: ValueError if there is not one weight for each point.

    >>> float(fisher_information(np.array([0.5, 0.5]), bernoulli_score(np.array([0, 1]), p=0.5)))
    4.0
    """
    if w.shape != score.shape[:1]:
        raise ValueError(f"w must be (m,) and score (m, ...); got {w.shape} and {score.shape}")
    return (w * score.T) @ score


# ---------------------------------------------------------------------------------------
# Testing a hypothesis
# ---------------------------------------------------------------------------------------


def log_likelihood_ratio(log_f, x, theta0, theta1):
    """ln Lambda = l(theta_0 | x) - l(theta_1 | x), for two tuples of parameters.

    Let `theta0` be the maximum likelihood estimate under the hypothesis, and `theta1` the estimate
    without it. Then a Lambda near 0 is evidence against the hypothesis, and Lambda is at most 1.

    >>> round(float(log_likelihood_ratio(bernoulli_log_pmf, np.array([1]), (0.5,), (1.0,))), 6)
    -0.693147
    """
    return log_likelihood(log_f, x, *theta0) - log_likelihood(log_f, x, *theta1)


def t_statistic(x, mu0=0.0):
    """t = sqrt(n) (mean - mu_0) / s, with s^2 = 1/(n - 1) sum_i (x_i - mean)^2.

    The likelihood ratio for mu = `mu0` is Lambda = (1 + t^2/(n - 1))^{-n/2} (estimation-10).

    Raises: ValueError if all samples are equal, as `normal_mle`.

    >>> t_statistic(np.array([1.0, 3.0]), mu0=4.0)
    -2.0
    """
    mean, sigma2 = normal_mle(x)
    n = len(x)
    return sqrt(n - 1) * (mean - mu0) / sqrt(sigma2)


# ---------------------------------------------------------------------------------------
# Bayesian estimation
# ---------------------------------------------------------------------------------------


def posterior(log_L, log_prior, w):
    """f(theta | D) = f(D | theta) f(theta) / int f(D | theta) f(theta) dtheta, for any prior.

    It is computed at m values of theta; `log_prior` (m,) is the logarithm of the prior density at
    these, and w the weights of the integral. The largest joint value is divided out before exp.

    Returns: (m,). Raises: ValueError if the joint density is 0 at all values, or inf or nan at one.

    >>> posterior(np.log([0.25, 0.5, 0.75]), log_prior=np.zeros(3), w=np.array([0.25, 0.5, 0.25]))
    array([0.5, 1. , 1.5])
    """
    log_joint = log_L + log_prior
    _check_log_joint(log_joint, w)
    joint = np.exp(log_joint - log_joint.max())
    return joint / (w @ joint)


def _check_log_joint(log_joint, w):
    _check_alike(log_joint=log_joint, w=w)
    top = log_joint.max()  # nan, if there is one
    if top == -np.inf:
        raise ValueError("the data are impossible at every theta that the prior allows")
    if not top < np.inf:
        raise ValueError(f"log_L + log_prior must be finite or -inf at every theta; got {top}")


class PointEstimates(NamedTuple):
    """Two ways to sum up a posterior in one number."""

    mode: float  # argmax f(theta | D): the maximum a posteriori (MAP) estimate
    mean: float  # int theta f(theta | D) dtheta


def point_estimates(theta, density, w):
    """The MAP estimate argmax_theta f(theta | D) and the mean int theta f(theta | D) dtheta.

    `density` (m,) is the posterior at the values theta (m,), with the weights w (m,).

    Returns: `PointEstimates`. Raises: ValueError if the shapes differ or a density is inf or nan.

    >>> theta, w = np.array([0.25, 0.5, 0.75]), np.array([0.25, 0.5, 0.25])
    >>> point_estimates(theta, np.array([0.5, 1.0, 1.5]), w)
    PointEstimates(mode=0.75, mean=0.5625)
    """
    _check_alike(theta=theta, density=density, w=w)
    peak = np.argmax(density)  # the place of a nan, if there is one
    if not density[peak] < np.inf:
        raise ValueError(f"the density must be finite at every theta; got {density[peak]}")
    return PointEstimates(float(theta[peak]), float(expectation(w * density, theta)))


# ---------------------------------------------------------------------------------------
# Conjugate priors
# ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beta:
    """f(p) = p^{a-1} (1 - p)^{b-1} / B(a, b) on [0, 1], for the p of Bernoulli samples.

    a and b count ones and zeros; `Beta(1, 1)` is the uniform distribution.

    >>> Beta(1, 1).posterior(np.array([1, 0, 0]))
    Beta(a=2.0, b=3.0)
    """

    a: float
    b: float

    def __post_init__(self):
        _check_parameters(a=self.a, b=self.b)

    def log_density(self, p):
        """(a - 1) ln p + (b - 1) ln(1 - p) - ln B(a, b); -inf outside [0, 1]."""
        inside = (0 <= p) & (p <= 1)
        p = np.clip(p, 0, 1)
        log_B = lgamma(self.a) + lgamma(self.b) - lgamma(self.a + self.b)
        kernel = x_log_y(self.a - 1, p) + x_log_y(self.b - 1, 1 - p)
        return np.where(inside, kernel - log_B, -np.inf)

    def posterior(self, x):
        """`Beta(a + k, b + n - k)` after k ones among n samples."""
        k = float(_bits(x).sum())
        return Beta(self.a + k, self.b + len(x) - k)

    def mean(self):
        """a / (a + b)."""
        return self.a / (self.a + self.b)

    def mode(self):
        """(a - 1) / (a + b - 2). Raises: ValueError unless a, b >= 1 and not both are 1."""
        _check_mode([self.a, self.b], "a, b")
        return (self.a - 1) / (self.a + self.b - 2)

    def log_predictive(self, x):
        """ln Pr(x): the next sample is Bernoulli with p = the mean."""
        return bernoulli_log_pmf(x, self.mean())


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """f(p) = Gamma(sum_k alpha_k) prod_k p_k^{alpha_k - 1} / Gamma(alpha_k), for categories.

    >>> Dirichlet(np.ones(3)).posterior(np.array([0, 2, 2])).alpha
    array([2., 1., 3.])
    """

    alpha: np.ndarray  # (K,), counts of the categories

    def __post_init__(self):
        alpha = np.array(self.alpha, dtype=float)
        if alpha.ndim != 1 or len(alpha) < 2 or not ((alpha > 0) & (alpha < np.inf)).all():
            rule = "alpha must be two numbers or more, all > 0 and finite"
            raise ValueError(f"{rule}; got {self.alpha}")
        object.__setattr__(self, "alpha", alpha)

    def log_density(self, p):
        """ln f at p (K,), or at points p (m, K); -inf outside the simplex."""
        inside = (np.min(p, axis=-1) >= 0) & (np.abs(np.sum(p, axis=-1) - 1) <= ROUND_OFF)
        constant = lgamma(self.alpha.sum()) - log_gamma(self.alpha).sum()
        kernel = x_log_y(self.alpha - 1, np.maximum(p, 0)).sum(axis=-1)
        return np.where(inside, constant + kernel, -np.inf)

    def posterior(self, x):
        """`Dirichlet(alpha + counts)`, with the counts (K,) of the samples in each category."""
        K = len(self.alpha)
        return Dirichlet(self.alpha + np.bincount(_categories(x, K).astype(int), minlength=K))

    def mean(self):
        """alpha_k / sum_k alpha_k: (K,)."""
        return self.alpha / self.alpha.sum()

    def mode(self):
        """(alpha_k - 1) / (sum_k alpha_k - K). Raises: ValueError unless all >= 1, not all 1."""
        _check_mode(self.alpha, "all of alpha")
        return (self.alpha - 1) / (self.alpha - 1).sum()

    def log_predictive(self, x):
        """ln Pr(x): the next sample is categorical with p = the mean."""
        return categorical_log_pmf(x, self.mean())


@dataclass(frozen=True)
class Gamma:
    """f(rate) = b^a rate^{a-1} e^{-b rate} / Gamma(a) on [0, inf), for the rate of Poisson counts.

    The parameters mean that a events were counted in b intervals.

    >>> Gamma(2, 1).posterior(np.array([0, 3, 1]))
    Gamma(a=6.0, b=4)
    """

    a: float
    b: float

    def __post_init__(self):
        _check_parameters(a=self.a, b=self.b)

    def log_density(self, rate):
        """a ln b - ln Gamma(a) + (a - 1) ln(rate) - b rate; -inf below 0."""
        kernel = x_log_y(self.a - 1, np.maximum(rate, 0)) - self.b * rate
        return np.where(rate >= 0, self.a * log(self.b) - lgamma(self.a) + kernel, -np.inf)

    def posterior(self, x):
        """`Gamma(a + sum_i x_i, b + n)`."""
        return Gamma(self.a + float(_counts(x).sum()), self.b + len(x))

    def mean(self):
        """a / b."""
        return self.a / self.b

    def mode(self):
        """(a - 1) / b. Raises: ValueError if a < 1, where the density at 0 is infinite."""
        if self.a < 1:
            raise ValueError(f"a mode is defined for a >= 1 only; got {self.a}")
        return (self.a - 1) / self.b

    def log_predictive(self, x):
        """ln of Gamma(a + x) / (Gamma(a) x!) (b / (b + 1))^a (1 / (b + 1))^x, negative binomial."""
        possible = is_count(x)
        k = np.where(possible, x, 0.0)  # floats, as small integers overflow in k + 1
        ways = log_gamma(self.a + k) - lgamma(self.a) - log_gamma(k + 1)
        log_p = ways - self.a * np.log1p(1 / self.b) - k * np.log1p(self.b)
        return np.where(possible, log_p, -np.inf)


@dataclass(frozen=True)
class NormalMean:
    """f(mu) = N(mu; m, s^2), for the mean of normal samples whose variance sigma^2 is known.

    >>> NormalMean(m=0.0, s2=1.0, sigma2=2.0).posterior(np.array([3.0, 5.0]))
    NormalMean(m=2.0, s2=0.5, sigma2=2.0)
    """

    m: float
    s2: float
    sigma2: float

    def __post_init__(self):
        _check_parameters(self.m, s2=self.s2, sigma2=self.sigma2)

    def log_density(self, mu):
        """ln N(mu; m, s^2)."""
        return normal_log_density(mu, self.m, self.s2)

    def posterior(self, x):
        """m_n = s_n^2 (m/s^2 + sum_i x_i/sigma^2), with precision 1/s_n^2 = 1/s^2 + n/sigma^2."""
        s2 = 1 / (1 / self.s2 + len(x) / self.sigma2)
        m = s2 * (self.m / self.s2 + float(_numbers(x).sum()) / self.sigma2)
        return NormalMean(m, s2, self.sigma2)

    def mean(self):
        """m."""
        return self.m

    def mode(self):
        """m."""
        return self.m

    def log_predictive(self, x):
        """ln N(x; m, s^2 + sigma^2): the variance of the mean is added to that of the noise."""
        return normal_log_density(x, self.m, self.s2 + self.sigma2)


@dataclass(frozen=True)
class NormalInverseGamma:
    """For mean and variance of normal samples: mu is N(m, sigma^2/kappa) given sigma^2, and

        f(sigma^2) = beta^alpha (sigma^2)^{-alpha-1} e^{-beta/sigma^2} / Gamma(alpha).

    m has the weight of kappa samples, the prior variance beta/alpha that of 2 alpha samples.

    >>> NormalInverseGamma(m=0.0, kappa=1, alpha=1, beta=1).posterior(np.array([2.0, 4.0]))
    NormalInverseGamma(m=2.0, kappa=3, alpha=2.0, beta=5.0)
    """

    m: float
    kappa: float
    alpha: float
    beta: float

    def __post_init__(self):
        _check_parameters(self.m, kappa=self.kappa, alpha=self.alpha, beta=self.beta)

    def log_density(self, mu, sigma2):
        """ln f(mu, sigma^2); -inf for sigma^2 <= 0."""
        inside, sigma2 = sigma2 > 0, np.where(sigma2 > 0, sigma2, 1.0)
        constant = self.alpha * log(self.beta) - lgamma(self.alpha)
        log_f_sigma2 = constant - (self.alpha + 1) * np.log(sigma2) - self.beta / sigma2
        log_f_mu = normal_log_density(mu, self.m, sigma2 / self.kappa)
        return np.where(inside, log_f_mu + log_f_sigma2, -np.inf)

    def posterior(self, x):
        """kappa_n = kappa + n, m_n = (kappa m + sum_i x_i) / kappa_n, alpha_n = alpha + n/2 and

        beta_n = beta + 1/2 sum_i (x_i - m_n)^2 + kappa/2 (m - m_n)^2.
        """
        x, kappa = _numbers(x), self.kappa + len(x)
        m = (self.kappa * self.m + float(x.sum())) / kappa
        squares = float(np.sum((x - m) ** 2)) + self.kappa * (self.m - m) ** 2
        return NormalInverseGamma(m, kappa, self.alpha + len(x) / 2, self.beta + squares / 2)

    def mean(self):
        """E[mu] = m and E[sigma^2] = beta/(alpha - 1). Raises: ValueError unless alpha > 1."""
        if self.alpha <= 1:
            raise ValueError(f"a mean of sigma^2 exists for alpha > 1 only; got {self.alpha}")
        return self.m, self.beta / (self.alpha - 1)

    def mode(self):
        """The peak of the joint density: mu = m and sigma^2 = beta / (alpha + 3/2)."""
        return self.m, self.beta / (self.alpha + 3 / 2)

    def log_predictive(self, x):
        """Student's t with nu = 2 alpha, mu = m and sigma^2 = beta (1 + 1/kappa) / alpha."""
        scale2 = self.beta / self.alpha * (1 + 1 / self.kappa)
        return student_log_density(x, 2 * self.alpha, self.m, scale2)


def log_evidence(prior, log_f, x, *theta):
    """ln f(D) = ln f(D | theta) + ln f(theta) - ln f(theta | D): the denominator in Bayes' rule.

    The right side must be the same for every theta. `prior` is conjugate to the family log_f.

    >>> round(float(log_evidence(Beta(1, 1), bernoulli_log_pmf, np.array([1, 0]), 0.3)), 6)
    -1.791759

    Errata: estimation-13 (MLN's "or that of data likelihood" makes every flat prior conjugate).
    """
    after = prior.posterior(x)
    log_joint = log_likelihood(log_f, x, *theta) + prior.log_density(*theta)
    return log_joint - after.log_density(*theta)


def sequential(prior, x):
    """Learning sample by sample: each posterior is the prior of the next sample.

    Yields: the conjugate `prior`, then the posterior after each sample.

    >>> list(sequential(Beta(1, 1), np.array([1, 0])))
    [Beta(a=1, b=1), Beta(a=2.0, b=1.0), Beta(a=2.0, b=2.0)]
    """
    yield prior
    for i in range(len(x)):
        prior = prior.posterior(x[i : i + 1])
        yield prior


def _check_parameters(m=0.0, **positive):
    """Refuse a mean m that is not finite, and other parameters that are not finite and > 0."""
    check_number("m", m)
    for name, value in positive.items():
        check_number(name, value, above=0)
    for name, value in {"m": m, **positive}.items():
        if value == np.inf:
            raise ValueError(f"{name} must be finite; got {value}")


def _check_mode(counts, names):
    """Refuse `counts` (exponents plus 1) whose density does not have a single peak."""
    if min(counts) < 1 or max(counts) == 1:
        got = ", ".join(f"{count:g}" for count in counts)
        raise ValueError(f"a mode is defined for {names} >= 1, not all 1; got {got}")
