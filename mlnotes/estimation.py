"""Estimation: from samples back to the distribution that they were drawn from.

Maximum likelihood takes the parameter that makes the samples most probable. Bayesian estimation
starts from a distribution of the parameter, the prior. The samples turn it into the posterior.

Contents
    Empirical moments        empirical_mean, centre, empirical_covariance, kronecker
    More families            categorical_log_pmf, student_log_density
    Likelihood               log_likelihood, maximum_likelihood
    Closed forms             bernoulli_mle, categorical_mle, poisson_mle, normal_mle,
                             multivariate_normal_mle
    Nearest distribution     empirical_distribution, kl_divergence
    Functions of theta       profile_log_likelihood
    Accuracy of estimates    mean_squared_error, bernoulli_score, normal_score, fisher_information
    Testing a hypothesis     log_likelihood_ratio, t_statistic
    Bayesian estimation      posterior_density
    Conjugate priors         Beta, Dirichlet, Gamma, NormalMean, NormalInverseGamma,
                             log_marginal_likelihood, sequential

Symbols
    X        (n, d)  samples, one per row; x (n,) samples that are numbers, together the data D
    log_f            a family: log_f(x, *theta) is ln f(x_j | theta) of every sample
    theta            its parameters, in the order in which log_f takes them, such as
    p        float     of Bernoulli samples 0 and 1; (K,) of categories 0, ..., K - 1
    rate     float     of Poisson counts (the notes' lambda)
    mu, sigma2         mean and variance of a normal distribution; Sigma (d, d) a covariance matrix
    log_L    (m,)    log-likelihood l(theta | x) at m values of theta
    w        (m,)    weights of an integral over m points, such as those of `gauss_legendre`

All five conjugate priors have the methods ``log_density(*theta)``, ``posterior(x)``, which is of
the same class, ``mean()``, ``mode()`` (the MAP estimate) and ``log_predictive(x)``, the log-density
ln int f(x | theta) f(theta) dtheta of the next sample.

Notes: MLN "Maximum Likelihood Estimation", "Bayesian Estimation"; IRHD 1.1, 3.1, 4.1, X^T for X.
"""

from math import fsum, inf, lgamma, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import bits, distribution, floats
from mlnotes.probability import (
    Normal,
    bernoulli_log_pmf,
    is_count,
    log_gamma,
    normal_log_density,
    x_log_y,
)

# =======================================================================================
# The lecture
# =======================================================================================

# --- Empirical moments -----------------------------------------------------------------


def empirical_mean(X):
    """mu = 1/n X^T 1 = 1/n sum_i x_i, the mean of the samples: (d,).

    >>> empirical_mean(np.array([[1.0, 4.0], [3.0, 8.0]]))
    array([2., 6.])
    """
    return floats(X).mean(axis=0)


def centre(X):
    """X - 1 mu^T, the samples minus their mean: (n, d); every column sums to 0.

    >>> centre(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [[-1.0, -2.0], [1.0, 2.0]]
    """
    X_c = X - empirical_mean(X)
    return X_c - empirical_mean(X_c)  # again: a mean far from 0 has a large rounding error


def empirical_covariance(X, ddof=1):
    """S = 1/(n - 1) X_c^T X_c, with the centred samples X_c = X - 1 mu^T: (d, d).

    It is unbiased. With `ddof` = 0 it divides by n, as maximum likelihood does (estimation-02).

    >>> empirical_covariance(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """
    X_c = centre(X)
    return X_c.T @ X_c / (len(X) - ddof)


def kronecker(A, B):
    """A (x) B = (a_ij B), every entry of A (k, l) times all of B (m, n), as blocks: (k m, l n).

    >>> kronecker(np.array([[1, 10]]), np.array([[1, 2], [3, 4]])).tolist()
    [[1.0, 2.0, 10.0, 20.0], [3.0, 4.0, 30.0, 40.0]]
    """
    A, B = floats(A, B)
    (k, columns), (m, n) = A.shape, B.shape
    blocks = A[:, None, :, None] * B[None, :, None, :]
    return blocks.reshape(k * m, columns * n)


# --- More families ---------------------------------------------------------------------


def categorical_log_pmf(x, p):
    """ln Pr(X = k) = ln p_k for the categories k = 0, ..., K - 1; -inf for anything else.

    >>> np.exp(categorical_log_pmf(np.array([0, 2, 3]), p=np.array([0.25, 0.25, 0.5])))
    array([0.25, 0.5 , 0.  ])
    """
    log_p = x_log_y(1.0, distribution(p))
    possible = is_count(x) & (x < len(log_p))
    return np.where(possible, log_p[np.where(possible, x, 0).astype(int)], -np.inf)


def student_log_density(x, nu, mu, sigma2):
    """ln f(x), if z = (x - mu) / sigma has Student's t distribution with nu degrees of freedom:

        ln Gamma((nu + 1)/2) - ln Gamma(nu/2) - 1/2 ln(nu pi sigma^2) - (nu + 1)/2 ln(1 + z^2/nu) .

    >>> pi * np.exp(student_log_density(np.array([0.0, 1.0, 3.0]), nu=1, mu=0.0, sigma2=1.0))
    array([1. , 0.5, 0.1])
    """
    h, z2 = nu / 2, (floats(x) - mu) ** 2 / sigma2
    if h < 1000:
        log_ratio = lgamma(h + 1 / 2) - lgamma(h)
    else:  # the two nearly cancel; from 1000 on three terms of a series are exact to 1e-17
        log_ratio = log(h) / 2 - 1 / (8 * h) + 1 / (192 * h**3)
    return log_ratio - log(nu * pi * sigma2) / 2 - (nu + 1) / 2 * np.log1p(z2 / nu)


# --- Likelihood ------------------------------------------------------------------------


def log_likelihood(log_f, x, *theta):
    """l(theta | x) = ln L(theta | x) = sum_j ln f(x_j | theta), where L = prod_j f(x_j | theta).

    L of many samples is too small for the computer, and l is not. Both have the same maximiser.
    For m candidates theta (m,), let x be a column (n, 1); then l is (m,).

    >>> log_likelihood(bernoulli_log_pmf, np.array([[1], [0]]), np.array([0.25, 0.5])).round(3)
    array([-1.674, -1.386])
    """
    return log_f(x, *theta).sum(axis=0)


def maximum_likelihood(log_f, x, theta):
    """argmax_theta sum_i ln f(x_i | theta) over m candidates theta (m,); the first if several tie.

    >>> best = maximum_likelihood(bernoulli_log_pmf, np.array([1, 0, 0]), np.array([0.2, 0.3, 0.4]))
    >>> float(best)
    0.3
    """
    return theta[log_likelihood(log_f, x[:, None], theta).argmax()]


# --- Closed forms ----------------------------------------------------------------------


def bernoulli_mle(x):
    """p = k/n, the share of ones among samples 0 and 1.

    >>> bernoulli_mle(np.array([1, 0, 0, 0]))
    0.25
    """
    return float(bits(x).mean())


def categorical_mle(x, K):
    """p_k = n_k/n, the shares of the categories 0, ..., K - 1: (K,).

    >>> categorical_mle(np.array([0, 2, 2, 0]), K=3)
    array([0.5, 0. , 0.5])
    """
    return np.bincount(x, minlength=K) / len(x)


def poisson_mle(x):
    """rate = 1/n sum_i x_i, the mean of the counts.

    >>> poisson_mle(np.array([0, 1, 5]))
    2.0
    """
    return float(floats(x).mean())


def normal_mle(x, mu=None):
    """mu = 1/n sum_i x_i and sigma^2 = 1/n sum_i (x_i - mu)^2; a known `mu` is kept.

    If all samples equal mu, then sigma^2 is 0, and the likelihood has no maximum.

    >>> normal_mle(np.array([1.0, 3.0])), normal_mle(np.array([1.0, 3.0]), mu=0.0)
    ((2.0, 1.0), (0.0, 5.0))
    """
    errors = centre(x) if mu is None else floats(x) - mu
    mu = float(empirical_mean(x)) if mu is None else mu
    return mu, float(np.mean(errors**2))


def multivariate_normal_mle(X):
    """mu = 1/n sum_i x_i and Sigma = 1/n sum_i (x_i - mu)(x_i - mu)^T: a `Normal`.

    If the samples lie in a hyperplane, as they do for n <= d, then Sigma is singular, and the
    likelihood has no maximum.

    >>> multivariate_normal_mle(np.array([[0.0], [4.0]]))
    Normal(mean=array([2.]), covariance=array([[4.]]))
    """
    return Normal(empirical_mean(X), empirical_covariance(X, ddof=0))


# --- Nearest distribution --------------------------------------------------------------


def empirical_distribution(x):
    """The values that occur, in rising order, and the share of each: (k,) and (k,).

    >>> empirical_distribution(np.array([3, 0, 3, 1]))
    (array([0, 1, 3]), array([0.25, 0.25, 0.5 ]))
    """
    values, counts = np.unique(x, return_counts=True)
    return values, counts / counts.sum()


def kl_divergence(f, g):
    """KL(f || g) = sum_x f(x) ln(f(x) / g(x)) for distributions with the weights f and g (..., k).

    It is infinite if g(x) = 0 < f(x) for some x. The member of a family that is nearest to the
    empirical distribution has the largest likelihood (estimation-06).

    >>> kl_divergence(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([ 0., inf])
    """
    return np.sum(x_log_y(f, f) - x_log_y(f, g), axis=-1)


# --- Functions of theta ----------------------------------------------------------------


def profile_log_likelihood(log_L, g):
    """The values of g that occur, in rising order, and l*(g) = max {l(theta) : G(theta) = g}.

    Each of m candidates theta has g = G(theta), together (m,). The profile l* is largest at G of
    the maximum likelihood estimate of theta (estimation-07).

    >>> profile_log_likelihood(np.array([-7.0, -2.0, -3.0]), g=np.array([1.0, 0.0, 1.0]))
    (array([0., 1.]), array([-2., -3.]))
    """
    values, which = np.unique(g, return_inverse=True)
    best = np.full(len(values), -np.inf)
    np.maximum.at(best, which, log_L)
    return values, best


# --- Accuracy of estimates -------------------------------------------------------------


def mean_squared_error(log_p, estimates, truth):
    """MSE = E[(estimate - truth)^2] = sum_k exp(log_p_k) (estimates_k - truth)^2.

    All possible data k have the log-probabilities `log_p` (k,) and lead to the `estimates` (k,).

    Errata: estimation-09 (MLN takes MSE -> 0 for consistency; it is enough, but not necessary).

    >>> round(mean_squared_error(np.log([0.5, 0.5]), np.array([0.0, 1.0]), truth=0.5), 12)
    0.25
    """
    possible = log_p != -np.inf  # keeps nan
    log_squares = x_log_y(2.0, np.abs(floats(estimates)[possible] - truth))
    return float(np.exp(log_p[possible] + log_squares).sum())


def bernoulli_score(x, p):
    """d/dp ln f(x | p) = x/p - (1 - x)/(1 - p) of samples 0 and 1: (n,).

    >>> bernoulli_score(np.array([0, 1]), p=0.25).round(6)
    array([-1.333333,  4.      ])
    """
    x = bits(x)
    return x / p - (1 - x) / (1 - p)


def normal_score(x, mu, sigma2):
    """d/dmu and d/dsigma^2 of ln f(x): (n, 2).

    They are (x - mu)/sigma^2 and ((x - mu)^2/sigma^2 - 1)/(2 sigma^2).

    >>> normal_score(np.array([4.0]), mu=0.0, sigma2=2.0)
    array([[2.  , 1.75]])
    """
    z = (floats(x) - mu) / sigma2
    return np.column_stack([z, (z**2 - 1 / sigma2) / 2])


def fisher_information(w, score):
    """I(theta) = E[s s^T], the variance of the score s = d/dtheta ln f(x | theta), whose mean is 0.

    `score` is (m,), or (m, q) for q parameters, at m points x with weights w (m,): probabilities,
    or quadrature weights times density. For large n, the maximum likelihood estimate of one
    parameter has an error of variance near 1/(n I) (estimation-08).

    >>> float(fisher_information(np.array([0.5, 0.5]), bernoulli_score(np.array([0, 1]), p=0.5)))
    4.0
    """
    w, score = floats(w, score)
    return (w * score.T) @ score


# --- Testing a hypothesis --------------------------------------------------------------


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

    >>> t_statistic(np.array([1.0, 3.0]), mu0=4.0)
    -2.0
    """
    (mean, sigma2), n = normal_mle(x), len(x)
    return sqrt(n - 1) * (mean - mu0) / sqrt(sigma2)  # s^2 = n sigma^2 / (n - 1)


# --- Bayesian estimation ---------------------------------------------------------------


def posterior_density(log_L, log_prior, w):
    """f(theta | D) = f(D | theta) f(theta) / int f(D | theta) f(theta) dtheta, for any prior: (m,).

    `log_prior` (m,) is the logarithm of the prior density at m values of theta, and w has the
    weights of the integral. The largest joint density is divided out before exp.

    >>> log_L, w = np.log([0.25, 0.5, 0.75]), np.array([0.25, 0.5, 0.25])
    >>> posterior_density(log_L, log_prior=np.zeros(3), w=w)
    array([0.5, 1. , 1.5])
    """
    log_joint = floats(log_L) + log_prior
    joint = np.exp(log_joint - log_joint.max())
    return joint / (w @ joint)


# --- Conjugate priors ------------------------------------------------------------------


class Beta(NamedTuple):
    """f(p) = p^{a-1} (1 - p)^{b-1} / B(a, b) on [0, 1], for the p of Bernoulli samples.

    a and b count ones and zeros; `Beta(1, 1)` is the uniform distribution.

    >>> Beta(1, 1).posterior(np.array([1, 0, 0]))
    Beta(a=2.0, b=3.0)
    """

    a: float
    b: float

    def log_density(self, p):
        """(a - 1) ln p + (b - 1) ln(1 - p) - ln B(a, b); -inf outside [0, 1]."""
        inside = (0 <= p) & (p <= 1)
        p = np.clip(p, 0, 1)
        log_B = lgamma(self.a) + lgamma(self.b) - lgamma(self.a + self.b)
        kernel = x_log_y(self.a - 1, p) + x_log_y(self.b - 1, 1 - p)
        return np.where(inside, kernel - log_B, -np.inf)

    def posterior(self, x):
        """`Beta(a + k, b + n - k)` after k ones among n samples."""
        k, n = fsum(bits(x)), len(x)
        return Beta(self.a + k, self.b + n - k)

    def mean(self):
        """a / (a + b)."""
        return self.a / (self.a + self.b)

    def mode(self):
        """(a - 1) / (a + b - 2), where a number below 0 counts as 0; none if a, b <= 1."""
        ones, zeros = max(self.a - 1, 0), max(self.b - 1, 0)
        return ones / (ones + zeros)

    def log_predictive(self, x):
        """ln Pr(x): the next sample is Bernoulli with p = the mean."""
        return bernoulli_log_pmf(x, self.mean())


class Dirichlet(NamedTuple):
    """f(p) = Gamma(sum_k alpha_k) prod_k p_k^{alpha_k - 1} / Gamma(alpha_k), for categories.

    >>> Dirichlet(np.ones(3)).posterior(np.array([0, 2, 2])).alpha
    array([2., 1., 3.])
    """

    alpha: np.ndarray  # (K,), counts of the categories

    def log_density(self, p):
        """ln f at p (K,), or at points p (m, K); -inf outside the simplex."""
        inside = (np.min(p, axis=-1) >= 0) & np.isclose(np.sum(p, axis=-1), 1)
        constant = lgamma(self.alpha.sum()) - log_gamma(self.alpha).sum()
        kernel = x_log_y(self.alpha - 1, np.maximum(p, 0)).sum(axis=-1)
        return np.where(inside, constant + kernel, -np.inf)

    def posterior(self, x):
        """`Dirichlet(alpha + counts)`, with the counts (K,) of the samples in each category."""
        return Dirichlet(self.alpha + np.bincount(x, minlength=len(self.alpha)))

    def mean(self):
        """alpha_k / sum_k alpha_k: (K,)."""
        return self.alpha / self.alpha.sum()

    def mode(self):
        """(alpha_k - 1) / (sum_k alpha_k - K), where numbers below 0 count as 0: (K,)."""
        counts = np.maximum(self.alpha - 1, 0)
        return counts / counts.sum()

    def log_predictive(self, x):
        """ln Pr(x): the next sample is categorical with p = the mean."""
        return categorical_log_pmf(x, self.mean())


class Gamma(NamedTuple):
    """f(rate) = b^a rate^{a-1} e^{-b rate} / Gamma(a) on [0, inf), for the rate of Poisson counts.

    The parameters mean that a events were counted in b intervals.

    >>> Gamma(2, 1).posterior(np.array([0, 3, 1]))
    Gamma(a=6.0, b=4)
    """

    a: float
    b: float

    def log_density(self, rate):
        """a ln b - ln Gamma(a) + (a - 1) ln(rate) - b rate; -inf below 0."""
        kernel = x_log_y(self.a - 1, np.maximum(rate, 0)) - self.b * rate
        return np.where(rate >= 0, self.a * log(self.b) - lgamma(self.a) + kernel, -np.inf)

    def posterior(self, x):
        """`Gamma(a + sum_i x_i, b + n)`."""
        return Gamma(self.a + fsum(x), self.b + len(x))

    def mean(self):
        """a / b."""
        return self.a / self.b

    def mode(self):
        """(a - 1) / b; 0 if a < 1, where the density at 0 is infinite."""
        return max(self.a - 1, 0) / self.b

    def log_predictive(self, x):
        """ln of Gamma(a + x) / (Gamma(a) x!) (b / (b + 1))^a (1 / (b + 1))^x, negative binomial."""
        possible = is_count(x)
        k = np.where(possible, floats(x), 0.0)
        ways = log_gamma(self.a + k) - lgamma(self.a) - log_gamma(k + 1)
        log_p = ways - self.a * np.log1p(1 / self.b) - k * np.log1p(self.b)
        return np.where(possible, log_p, -np.inf)


class NormalMean(NamedTuple):
    """f(mu) = N(mu; m, s^2), for the mean of normal samples whose variance sigma^2 is known.

    >>> NormalMean(m=0.0, s2=1.0, sigma2=2.0).posterior(np.array([3.0, 5.0]))
    NormalMean(m=2.0, s2=0.5, sigma2=2.0)
    """

    m: float
    s2: float
    sigma2: float

    def log_density(self, mu):
        """ln N(mu; m, s^2)."""
        return normal_log_density(mu, self.m, self.s2)

    def posterior(self, x):
        """The precisions 1/s^2 and n/sigma^2 add, and weight m and the mean of the samples."""
        prior, data = 1 / self.s2, len(x) / self.sigma2  # the two precisions
        m = (prior * self.m + fsum(x) / self.sigma2) / (prior + data)
        return NormalMean(m, 1 / (prior + data), self.sigma2)

    def mean(self):
        """m."""
        return self.m

    def mode(self):
        """m."""
        return self.m

    def log_predictive(self, x):
        """ln N(x; m, s^2 + sigma^2): the variance of the mean is added to that of the noise."""
        return normal_log_density(x, self.m, self.s2 + self.sigma2)


class NormalInverseGamma(NamedTuple):
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
        x, kappa = floats(x), self.kappa + len(x)
        m = (self.kappa * self.m + float(x.sum())) / kappa
        squares = float(np.sum((x - m) ** 2)) + self.kappa * (self.m - m) ** 2
        return NormalInverseGamma(m, kappa, self.alpha + len(x) / 2, self.beta + squares / 2)

    def mean(self):
        """E[mu] = m and E[sigma^2] = beta/(alpha - 1), which is infinite for alpha <= 1."""
        return self.m, self.beta / (self.alpha - 1) if self.alpha > 1 else inf

    def mode(self):
        """The peak of the joint density: mu = m and sigma^2 = beta / (alpha + 3/2)."""
        return self.m, self.beta / (self.alpha + 3 / 2)

    def log_predictive(self, x):
        """Student's t with nu = 2 alpha, mu = m and sigma^2 = beta (1 + 1/kappa) / alpha."""
        scale2 = self.beta / self.alpha * (1 + 1 / self.kappa)
        return student_log_density(x, 2 * self.alpha, self.m, scale2)


def log_marginal_likelihood(prior, log_f, x, *theta):
    """ln f(D) = ln f(D | theta) + ln f(theta) - ln f(theta | D): the denominator in Bayes' rule.

    The right side must be the same for every theta. `prior` is conjugate to the family log_f.

    >>> round(float(log_marginal_likelihood(Beta(1, 1), bernoulli_log_pmf, np.array([1]), 0.3)), 6)
    -0.693147

    Errata: estimation-13 (MLN's "or that of data likelihood" makes every flat prior conjugate).
    """
    log_joint = log_likelihood(log_f, x, *theta) + prior.log_density(*theta)
    return log_joint - prior.posterior(x).log_density(*theta)


def sequential(prior, x):
    """Yields the conjugate `prior`, then the posterior after each sample.

    Each posterior is the prior of the next sample.

    >>> list(sequential(Beta(1, 1), np.array([1, 0])))
    [Beta(a=1, b=1), Beta(a=2.0, b=1.0), Beta(a=2.0, b=2.0)]
    """
    yield prior
    for i in range(len(x)):
        prior = prior.posterior(x[i : i + 1])
        yield prior
