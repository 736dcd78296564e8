"""Probability: the tools that all other chapters compute with.

On finite spaces the answers are exact fractions if the weights are (`fractions.Fraction`; arrays of
them have dtype object).

Contents
    Finite spaces         fair, probability, conditional_probability, independent,
                          total_probability, bayes, log_sum_exp
    Random variables      push_forward, sample_atoms
    Joint tables          marginals, given_x, given_y
    Moments               expectation, second_moment, covariance, is_psd, is_pd, chebyshev
    Discrete families     bernoulli_log_pmf, binomial_log_pmf, poisson_log_pmf, is_count, x_log_y,
                          log_gamma
    Continuous families   gauss_legendre, probability_between, uniform_density, uniform_cdf,
                          normal_log_density, normal_cdf, erfc
    Multivariate normal   multivariate_normal_log_density, sample_multivariate_normal,
                          Normal, conditional_normal

Symbols
    P         dict           weight P({omega}) >= 0 of every outcome omega; the weights sum to 1
    A, B      set            events: sets of outcomes
    p         (k,)           weights of the k atoms of a discrete distribution
    x         (k,), (k, d)   its atoms, numbers or vectors; for a density any points
    joint     (k_y, k_x)     table of Pr(Y = y_i, X = x_j): a row per y, a column per x
    prior     (k,)           P(B_j) of the pieces of a partition; likelihood (k,): P(A | B_j)
    X         (n, d)         samples, one per row
    mu        (d,)           mean
    Sigma     (d, d)         covariance matrix, Sigma = L L^T with L lower triangular
    sigma2    float          variance sigma^2 of a number
    S         (d, d)         any symmetric matrix
    rng       Generator      source of random numbers

Notes: MLN "Probability and Statistics" to "Multivariate Normal Distribution"; IRHD 1.1 and 1.2;
REP "Bagging" (the law of large numbers). MLN writes R for our Sigma and n for our d; IRHD has
p for our d, and Dirac deltas for the atoms of a discrete distribution.
"""

import math
from fractions import Fraction
from math import log, pi
from typing import NamedTuple

import numpy as np

from mlnotes.base import ROUNDING, by_rows, distribution, exact, floats
from mlnotes.numerics import squared_norms, symmetric

# =======================================================================================
# The lecture
# =======================================================================================

# --- Finite spaces ---------------------------------------------------------------------


def fair(outcomes):
    """The space in which all distinct `outcomes` have the same weight, a Fraction.

    >>> fair(["heads", "tails"])
    {'heads': Fraction(1, 2), 'tails': Fraction(1, 2)}
    """
    distinct = dict.fromkeys(outcomes)
    return {omega: Fraction(1, len(distinct)) for omega in distinct}


def probability(P, A):
    """P(A), the sum of the weights of the outcomes in A.

    Elements of A that are not outcomes count as 0.

    >>> probability(fair(range(1, 7)), {2, 4, 6})
    Fraction(1, 2)
    """
    distribution([*P.values()], "P")
    return sum(weight for omega, weight in P.items() if omega in A)


def conditional_probability(P, A, B):
    """P(A | B) = P(A and B) / P(B), for P(B) > 0.

    >>> conditional_probability(fair(range(1, 7)), {6}, {2, 4, 6})
    Fraction(1, 3)
    """
    return probability(P, A & B) / probability(P, B)


def independent(P, A, B):
    """Whether P(A and B) = P(A) P(B), up to rounding: B does not change the probability of A.

    The formula also covers P(B) = 0.

    >>> independent(fair(range(1, 7)), {2, 4, 6}, {1, 2})
    True
    """
    both, product = probability(P, A & B), probability(P, A) * probability(P, B)
    return math.isclose(both, product, rel_tol=ROUNDING)


def total_probability(likelihood, prior):
    """P(A) = sum_j P(A | B_j) P(B_j), over the pieces B_j of a partition.

    >>> float(total_probability(np.array([0.5, 1.0]), prior=np.array([0.5, 0.5])))
    0.75
    """
    distribution(prior, "prior")
    return np.dot(*exact(likelihood, prior))


def bayes(likelihood, prior):
    """The posterior P(B_j | A) = P(A | B_j) P(B_j) / P(A): (k,), for P(A) > 0.

    >>> bayes(likelihood=np.array([0.5, 1.0]), prior=np.array([0.5, 0.5]))
    array([0.33333333, 0.66666667])

    Errata: probability-21 (MLN's lines for the rule carry a stray factor P).
    """
    likelihood, prior = exact(likelihood, prior)
    return likelihood * prior / total_probability(likelihood, prior)


@by_rows
def log_sum_exp(a):
    """ln sum_k exp(a_ik) of every row of a (n, k): (n,); `total_probability` in logarithms.

    The largest a_ik of the row is subtracted first and added at the end: exp cannot overflow.
    Its term is exp(0) = 1, so the sum is at least 1. A row of -inf has the logarithm -inf.

    >>> log_sum_exp(np.array([[-1000.0, -1000.0], [-np.inf, -np.inf]])).round(3)
    array([-999.307,     -inf])
    """
    columns = np.ascontiguousarray(floats(a).T)
    top = columns.max(axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    return top + np.log(np.maximum(np.exp(columns - shift).sum(axis=0), 1.0))


# --- Random variables ------------------------------------------------------------------


def push_forward(P, X):
    """The distribution Pr(X = x) = P({omega : X(omega) = x}) of X, a function of the outcomes.

    It is a probability space on the values of X, in rising order.

    >>> push_forward(fair(range(1, 7)), lambda pips: pips % 2)
    {0: Fraction(1, 2), 1: Fraction(1, 2)}
    """
    values = [X(omega) for omega in P]
    p_X = dict.fromkeys(sorted(set(values)), 0)
    for x, weight in zip(values, P.values(), strict=True):
        p_X[x] += weight
    return p_X


def sample_atoms(n, p, *, rng):
    """n draws of the numbers 0, ..., k - 1 with probabilities p: (n,).

    A draw is the first j with p_0 + ... + p_j > u, for a uniform number u in [0, 1).

    >>> sample_atoms(5, np.array([0.0, 1.0, 0.0]), rng=np.random.default_rng(0))
    array([1, 1, 1, 1, 1])
    """
    steps = np.cumsum(distribution(p))
    return np.searchsorted(steps / steps[-1], rng.random(n), side="right")


# --- Joint tables ----------------------------------------------------------------------


def marginals(joint):
    """p_X(x_j) = sum_i joint_ij, (k_x,), and p_Y(y_i) = sum_j joint_ij, (k_y,).

    >>> marginals(np.array([[0.25, 0.0], [0.25, 0.5]]))
    (array([0.5, 0.5]), array([0.25, 0.75]))

    Errata: probability-21 (Table 1.1 of IRHD heads them p_x(X) and p_y(Y)).
    """
    return joint.sum(axis=0), joint.sum(axis=1)


def given_x(joint, j):
    """p_{Y | X = x_j}(y_i) = joint_ij / p_X(x_j), for all i: (k_y,), for p_X(x_j) > 0.

    >>> given_x(np.array([[0.25, 0.0], [0.25, 0.5]]), j=0)
    array([0.5, 0.5])
    """
    return joint[:, j] / joint[:, j].sum()


def given_y(joint, i):
    """p_{X | Y = y_i}(x_j) = joint_ij / p_Y(y_i), for all j: (k_x,), for p_Y(y_i) > 0.

    >>> given_y(np.array([[0.25, 0.0], [0.25, 0.5]]), i=0)
    array([1., 0.])
    """
    return joint[i] / joint[i].sum()


# --- Moments ---------------------------------------------------------------------------


def expectation(p, x):
    """E[X] = sum_i p_i x_i: a number for numbers x (k,), a vector (d,) for vectors x (k, d).

    For a density, x are the nodes of `gauss_legendre`, and p its weights times the density.

    >>> expectation(np.array([0.5, 0.5]), np.array([[0.0, 2.0], [4.0, 2.0]]))
    array([2., 2.])
    """
    return np.dot(*exact(p, x))


def second_moment(p, x):
    """E[X X^T] = sum_i p_i x_i x_i^T, about the origin: (d, d), or E[X^2] for numbers x (k,).

    >>> second_moment(np.array([0.5, 0.5]), np.array([[0.0], [4.0]]))
    array([[8.]])
    """
    p, x = exact(p, x)
    S = x.T * p @ x
    return (S + np.transpose(S)) / 2  # rounding leaves S and S^T different in the last bit


def covariance(p, x):
    """Var[X] = E[(X - mu)(X - mu)^T], with mu = E[X]: (d, d), or the variance of numbers x (k,).

    Entry (i, j) is cov(X_i, X_j) = E[X_i X_j] - E[X_i] E[X_j]; the variances are on the diagonal.
    The covariance of n samples has p_i = 1/n.

    >>> covariance(np.array([0.5, 0.5]), np.array([[0.0], [4.0]]))
    array([[4.]])

    Errata: probability-11 (IRHD 1.2 calls Var[X] the second moment; that is E[X X^T]).
    """
    p, x = exact(p, x)
    return second_moment(p, x - expectation(p, x))


def is_psd(S, tol=ROUNDING):
    """Whether x^T S x >= 0 for all x: no eigenvalue is below -tol times the largest absolute one.

    Every covariance matrix is positive semidefinite.

    >>> is_psd(np.diag([1.0, 0.0])), is_psd(np.diag([1.0, -1.0]))
    (True, False)
    """
    eigenvalues = np.linalg.eigvalsh(symmetric(S, "S"))
    return bool(eigenvalues[0] >= -tol * np.abs(eigenvalues).max())


def is_pd(S):
    """Whether x^T S x > 0 for all x != 0: all eigenvalues are > 0, by more than rounding.

    >>> is_pd(np.eye(2)), is_pd(np.diag([1.0, 0.0]))
    (True, False)
    """
    eigenvalues = np.linalg.eigvalsh(symmetric(S, "S"))
    return bool(eigenvalues[0] > ROUNDING * eigenvalues[-1])


def chebyshev(sigma2, m, eps):
    """Chebyshev's bound sigma^2 / (m eps^2) on Pr(|mean of m draws - mu| > eps), at most 1.

    As m grows it tends to 0: the weak law of large numbers.

    >>> float(chebyshev(0.25, m=100, eps=0.5))
    0.01
    """
    return np.minimum(1.0, sigma2 / (m * eps**2))


# --- Discrete families -----------------------------------------------------------------


def bernoulli_log_pmf(k, p):
    """ln Pr(K = k) = k ln p + (1 - k) ln(1 - p) for k in {0, 1}; mean p, variance p (1 - p).

    >>> np.exp(bernoulli_log_pmf(np.array([0, 1, 2]), p=0.25))
    array([0.75, 0.25, 0.  ])
    """
    return binomial_log_pmf(k, 1, p)


def binomial_log_pmf(k, n, p):
    """ln Pr(K = k) = ln C(n, k) + k ln p + (n - k) ln(1 - p): k heads in n throws.

    The mean is n p and the variance n p (1 - p). The value is -inf unless k is one of 0, ..., n.

    >>> np.exp(binomial_log_pmf(np.array([0, 1, 2, 3]), n=2, p=0.5)).round(12)
    array([0.25, 0.5 , 0.25, 0.  ])
    """
    k, n, p = floats(k, n, p)
    possible = is_count(k) & (k <= n)
    k = np.where(possible, k, 0.0)
    log_choose = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)
    return np.where(possible, log_choose + x_log_y(k, p) + x_log_y(n - k, 1 - p), -np.inf)


def poisson_log_pmf(k, rate):
    """ln Pr(K = k) = k ln(rate) - rate - ln k!; mean and variance are the rate, the notes' lambda.

    >>> np.exp(poisson_log_pmf(np.array([-1, 0]), rate=np.log(2))).round(12)
    array([0. , 0.5])
    """
    possible = is_count(k)
    k = np.where(possible, floats(k), 0.0)
    return np.where(possible, x_log_y(k, rate) - rate - log_gamma(k + 1), -np.inf)


def is_count(k):
    """Whether k is one of 0, 1, 2, ...; infinity is not.

    >>> is_count(np.array([-1.0, 0.0, 0.5, 3.0]))
    array([False,  True, False,  True])
    """
    return (k >= 0) & (k < np.inf) & (k == np.floor(k))


def x_log_y(x, y):
    """x ln y for y >= 0, with 0 ln 0 = 0 and ln 0 = -inf.

    >>> x_log_y(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    array([0., 0.])
    """
    x, y = floats(x, y)
    y = np.where((x == 0) & (y >= 0), 1.0, y)
    return x * np.where(y == 0, -np.inf, np.log(np.where(y == 0, 1.0, y)))


log_gamma = np.vectorize(math.lgamma, otypes=[float], doc="ln Gamma(x); ln k! = log_gamma(k + 1).")


# --- Continuous families ---------------------------------------------------------------


def gauss_legendre(a, b, pieces=1, order=20):
    """Nodes x and weights w with sum_i w_i f(x_i) = int_a^b f(x) dx: (pieces * order,) each.

    [a, b] is cut into equal `pieces`. On each the sum is exact for polynomials of degree below
    2 `order`; for smooth f it is accurate to rounding.

    >>> x, w = gauss_legendre(0, 3)
    >>> round(float(w @ x**2), 12)
    9.0
    """
    nodes, weights = np.polynomial.legendre.leggauss(order)
    edges = np.linspace(a, b, pieces + 1)
    half = (b - a) / (2 * pieces)
    middles = (edges[:-1] + edges[1:]) / 2
    return (middles[:, None] + half * nodes).ravel(), np.tile(half * weights, pieces)


def probability_between(density, a, b, pieces=64):
    """Pr(a <= X <= b) = int_a^b p_X(x) dx by quadrature; `density` is the function p_X.

    Cut an infinite interval where the density is negligible.

    >>> round(float(probability_between(lambda x: 2 * x, 0.0, 0.5)), 12)
    0.25
    """
    x, w = gauss_legendre(a, b, pieces)
    return w @ density(x)


def uniform_density(x, a, b):
    """p(x) = 1 / (b - a) for a <= x <= b and 0 elsewhere; mean (a + b)/2, variance (b - a)^2/12.

    >>> uniform_density(np.array([-1.0, 1.0, 3.0]), a=0.0, b=2.0)
    array([0. , 0.5, 0. ])

    Errata: probability-08 (IRHD 1.2 asks of a density that it be continuous; this one jumps).
    """
    return np.where((a <= x) & (x <= b), 1 / (b - a), 0.0)


def uniform_cdf(x, a, b):
    """Pr(X <= x) = (x - a) / (b - a), between 0 and 1; continuous, unlike the density.

    >>> uniform_cdf(np.array([-1.0, 0.5, 3.0]), a=0.0, b=2.0)
    array([0.  , 0.25, 1.  ])
    """
    return np.clip((floats(x) - a) / (b - a), 0.0, 1.0)


def normal_log_density(x, mu, sigma2):
    """The log-density of N(mu, sigma^2): -1/2 ln(2 pi sigma^2) - (x - mu)^2 / (2 sigma^2).

    >>> np.exp(normal_log_density(np.array([0.0, 1.0]), mu=0.0, sigma2=1.0)).round(6)
    array([0.398942, 0.241971])
    """
    z = (floats(x) - mu) / np.sqrt(sigma2)
    return -0.5 * np.log(2 * pi * sigma2) - z**2 / 2


def normal_cdf(x, mu, sigma2):
    """Pr(X <= x) = (1 + erf((x - mu) / (sigma sqrt 2))) / 2 for X from N(mu, sigma^2).

    In the code 1 + erf(t) is erfc(-t), which keeps the digits of a small tail.

    >>> normal_cdf(np.array([-np.inf, 0.0, 1.0]), mu=0.0, sigma2=1.0).round(6)
    array([0.      , 0.5     , 0.841345])
    """
    return erfc((mu - floats(x)) / np.sqrt(2 * sigma2)) / 2


erfc = np.vectorize(math.erfc, otypes=[float], doc="1 - erf(x).")


# --- Multivariate normal ---------------------------------------------------------------


def multivariate_normal_log_density(X, mu, Sigma):
    """ln p(x) = -1/2 (d ln(2 pi) + ln |Sigma| + (x - mu)^T Sigma^{-1} (x - mu)) of rows x: (n,).

    Here ln |Sigma| = 2 sum_j ln L_jj, and the last term is ||z||^2, where L z = x - mu.

    >>> multivariate_normal_log_density(np.array([[1.0, 0.0]]), mu=np.zeros(2), Sigma=np.eye(2))
    array([-2.33787707])

    Errata: probability-19 (MLN prints N(mu, sigma) for a density in Sigma).
    """
    L = np.linalg.cholesky(symmetric(Sigma, "Sigma"))
    Z = (floats(X) - mu) @ np.linalg.inv(L).T  # a row z = L^{-1} (x - mu) per sample
    log_det = 2 * np.log(np.diag(L)).sum()
    return -0.5 * (len(L) * log(2 * pi) + log_det + squared_norms(Z))


def sample_multivariate_normal(n, mu, Sigma, *, rng):
    """n draws x = mu + L z from N(mu, Sigma), with d independent N(0, 1) numbers in z: (n, d).

    >>> sample_multivariate_normal(5, np.zeros(2), np.eye(2), rng=np.random.default_rng(0)).shape
    (5, 2)
    """
    L = np.linalg.cholesky(symmetric(Sigma, "Sigma"))
    return mu + rng.standard_normal((n, len(mu))) @ L.T


class Normal(NamedTuple):
    """The parameters of N(mean, covariance)."""

    mean: np.ndarray  # (d,)
    covariance: np.ndarray  # (d, d)


def conditional_normal(mu, Sigma, given, value):
    """The distribution of x_a if x_b = `value`, for x from N(mu, Sigma): a `Normal`.

    b are the coordinates `given`, a the others. The mean is mu_a + G (value - mu_b) and the
    covariance Sigma_aa - G Sigma_ba, with G = Sigma_ab Sigma_bb^{-1}.

    >>> Sigma = np.array([[4.0, 1.0], [1.0, 2.0]])
    >>> conditional_normal(np.array([1.0, 2.0]), Sigma, given=[1], value=np.array([4.0]))
    Normal(mean=array([2.]), covariance=array([[3.5]]))
    """
    a, b = np.delete(np.arange(len(mu)), given), given
    mu, S = floats(mu), symmetric(Sigma, "Sigma")
    S_aa, S_ab, S_bb = S[np.ix_(a, a)], S[np.ix_(a, b)], S[np.ix_(b, b)]
    G = np.linalg.solve(S_bb, S_ab.T).T  # Sigma_ab Sigma_bb^{-1}
    return Normal(mu[a] + G @ (value - mu[b]), S_aa - G @ S_ab.T)
