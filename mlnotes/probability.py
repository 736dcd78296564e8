"""Probability: the tools that all other chapters compute with.

On finite spaces the answers are exact fractions if the weights are (`fractions.Fraction`; arrays of
them have dtype object).

Contents
    Finite spaces         check_space, fair, probability, exclusive, conditional_probability,
                          independent, total_probability, bayes, log_sum_exp
    Random variables      push_forward, sample_atoms
    Joint tables          marginals, given_x, given_y
    Moments               expectation, second_moment, covariance, affine_moments, is_psd, is_pd,
                          chebyshev
    Discrete families     bernoulli_log_pmf, binomial_log_pmf, poisson_log_pmf, is_count, x_log_y,
                          log_gamma
    Continuous families   gauss_legendre, probability_between, uniform_density, uniform_cdf,
                          normal_log_density, normal_cdf
    Multivariate normal   multivariate_normal_log_density, sample_multivariate_normal,
                          Normal, marginal_normal, conditional_normal

Symbols
    P         dict           weight P({omega}) >= 0 of every outcome omega; the weights sum to 1
    A, B      set            events: sets of outcomes; also A (m, d), b (m,) of a map x -> A x + b
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

from fractions import Fraction
from math import erfc, fsum, isfinite, lgamma, log, pi
from typing import NamedTuple

import numpy as np

from mlnotes.base import by_rows
from mlnotes.numerics import squared_norms, symmetric

SHORT = 32  # sums over rows shorter than this are faster down the columns
ROUND_OFF = 1e-12  # the sum of weights may miss 1 by this; relatively smaller eigenvalues are 0


# ---------------------------------------------------------------------------------------
# Finite spaces
# ---------------------------------------------------------------------------------------


def check_space(P):
    """Return P if it is a probability space: P({omega}) >= 0 and P(Omega) = 1.

    Raises: ValueError if a weight is negative or the weights do not sum to 1.

    >>> check_space({"heads": 0.5, "tails": 0.6})
    Traceback (most recent call last):
    ValueError: the weights of a probability space must sum to 1; got 1.1
    """
    for outcome, weight in P.items():
        if not weight >= 0:
            raise ValueError(f"weights must be >= 0; got P({{{outcome!r}}}) = {weight}")
    total = fsum(P.values())  # exact; plain sums of a million weights are not
    if abs(total - 1) > ROUND_OFF:
        raise ValueError(f"the weights of a probability space must sum to 1; got {total}")
    return P


def fair(outcomes):
    """The space in which all distinct `outcomes` have the same weight, a Fraction.

    >>> fair(["heads", "tails"])
    {'heads': Fraction(1, 2), 'tails': Fraction(1, 2)}
    """
    outcomes = list(dict.fromkeys(outcomes))
    return check_space({omega: Fraction(1, len(outcomes)) for omega in outcomes})


def probability(P, A):
    """P(A): the sum of the weights of the outcomes in A. Other elements of A have weight 0.

    >>> probability(fair(range(1, 7)), {2, 4, 6})
    Fraction(1, 2)
    """
    return sum(weight for omega, weight in P.items() if omega in A)


def exclusive(A, B):
    """Whether A and B are mutually exclusive: no outcome is in both.

    >>> exclusive({1, 2}, {3}), exclusive({1, 2}, {2, 3})
    (True, False)
    """
    return not set(A) & set(B)


def conditional_probability(P, A, B):
    """P(A | B) = P(A and B) / P(B).

    Raises: ValueError if P(B) = 0.

    >>> conditional_probability(fair(range(1, 7)), {6}, {2, 4, 6})
    Fraction(1, 3)
    """
    p_B = probability(P, B)
    if not p_B > 0:
        raise ValueError(f"P(A | B) is defined for P(B) > 0 only; got P(B) = {p_B}")
    return probability(P, set(A) & set(B)) / p_B


def independent(P, A, B):
    """Whether P(A and B) = P(A) P(B): knowing B does not change the probability of A.

    The answer is exact if the weights are fractions. The formula also covers P(B) = 0.

    >>> independent(fair(range(1, 7)), {2, 4, 6}, {1, 2})
    True
    """
    return probability(P, set(A) & set(B)) == probability(P, A) * probability(P, B)


def total_probability(likelihood, prior):
    """P(A) = sum_j P(A | B_j) P(B_j) over the pieces B_j of a partition.

    >>> float(total_probability(np.array([0.5, 1.0]), prior=np.array([0.5, 0.5])))
    0.75
    """
    return likelihood @ prior


def bayes(likelihood, prior):
    """P(B_j | A) = P(A | B_j) P(B_j) / P(A), with P(A) by `total_probability`.

    Returns: the posterior (k,). Raises: ValueError if P(A) = 0.

    >>> bayes(likelihood=np.array([0.5, 1.0]), prior=np.array([0.5, 0.5]))
    array([0.33333333, 0.66666667])

    Errata: probability-21 (MLN's lines for the rule carry a stray factor P).
    """
    p_A = total_probability(likelihood, prior)
    if not p_A > 0:
        raise ValueError(f"P(B_j | A) is defined for P(A) > 0 only; got P(A) = {p_A}")
    return likelihood * prior / p_A


@by_rows
def log_sum_exp(a):
    """ln sum_k exp(a_ik), (n,), for every row of a (n, k): `total_probability` in logarithms.

    The largest a_ik of the row is subtracted first and added back at the end, so that exp cannot
    overflow. A row of -inf has the sum 0 and the logarithm -inf.

    >>> log_sum_exp(np.array([[-1000.0, -1000.0], [-np.inf, -np.inf]])).round(3)
    array([-999.307,     -inf])
    """
    columns = np.ascontiguousarray(a.T) if a.shape[1] < SHORT else a.T
    top = columns.max(axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return shift + np.log(np.exp(columns - shift).sum(axis=0))


# ---------------------------------------------------------------------------------------
# Random variables
# ---------------------------------------------------------------------------------------


def push_forward(P, X):
    """The distribution of X, a function of the outcomes: Pr(X = x) = P({omega : X(omega) = x}).

    Returns: a probability space on the values of X, in rising order.

    >>> push_forward(fair(range(1, 7)), lambda pips: pips % 2)
    {0: Fraction(1, 2), 1: Fraction(1, 2)}
    """
    values = [X(omega) for omega in P]
    p_X = dict.fromkeys(sorted(set(values)), 0)
    for x, weight in zip(values, P.values(), strict=True):
        p_X[x] += weight
    return p_X


def sample_atoms(n, p, *, rng):
    """n draws from the numbers 0, ..., k - 1 of k atoms with weights p.

    Each draw is the u-quantile for a uniform u in [0, 1). The weights need not sum to 1.

    Returns: (n,). Raises: ValueError if a weight is negative or their sum is not > 0 and finite.

    >>> sample_atoms(5, np.array([0.0, 1.0, 0.0]), rng=np.random.default_rng(0))
    array([1, 1, 1, 1, 1])
    """
    p = np.asarray(p, dtype=float)
    steps = np.cumsum(p)
    if not (p.size and p.min() >= 0 and 0 < steps[-1] < np.inf):
        raise ValueError(f"weights must be >= 0 and their sum > 0 and finite; got {p}")
    return np.searchsorted(steps, steps[-1] * rng.random(n), side="right")


# ---------------------------------------------------------------------------------------
# Joint tables
# ---------------------------------------------------------------------------------------


def marginals(joint):
    """p_X(x_j) = sum_i joint_ij, (k_x,), and p_Y(y_i) = sum_j joint_ij, (k_y,).

    >>> marginals(np.array([[0.25, 0.0], [0.25, 0.5]]))
    (array([0.5, 0.5]), array([0.25, 0.75]))

    Errata: probability-21 (Table 1.1 of IRHD heads them p_x(X) and p_y(Y)).
    """
    return joint.sum(axis=0), joint.sum(axis=1)


def given_x(joint, j):
    """p_{Y | X = x_j}(y_i) = joint_ij / p_X(x_j), for all i.

    Returns: (k_y,). Raises: ValueError if p_X(x_j) = 0.

    >>> given_x(np.array([[0.25, 0.0], [0.25, 0.5]]), j=0)
    array([0.5, 0.5])
    """
    return _conditional(joint[:, j], "p_X(x_j)")


def given_y(joint, i):
    """p_{X | Y = y_i}(x_j) = joint_ij / p_Y(y_i), for all j.

    Returns: (k_x,). Raises: ValueError if p_Y(y_i) = 0.

    >>> given_y(np.array([[0.25, 0.0], [0.25, 0.5]]), i=0)
    array([1., 0.])
    """
    return _conditional(joint[i], "p_Y(y_i)")


def _conditional(part, name):
    """A row or column of a joint table, divided by its sum."""
    total = part.sum()
    if not total > 0:
        raise ValueError(
            f"a conditional distribution is defined for {name} > 0 only; got {name} = {total}"
        )
    return part / total


# ---------------------------------------------------------------------------------------
# Moments
# ---------------------------------------------------------------------------------------


def expectation(p, x):
    """E[X] = sum_i p_i x_i: a number for numbers x (k,), a vector (d,) for vectors x (k, d).

    For a density, x are the nodes of `gauss_legendre`, and p its weights times the density.

    >>> expectation(np.array([0.5, 0.5]), np.array([[0.0, 2.0], [4.0, 2.0]]))
    array([2., 2.])
    """
    return p @ x


def second_moment(p, x):
    """E[X X^T] = sum_i p_i x_i x_i^T for vectors x (k, d): the second moment about the origin.

    Returns: (d, d). Raises: ValueError if x holds numbers; x[:, None] makes vectors of them.

    >>> second_moment(np.array([0.5, 0.5]), np.array([[0.0], [4.0]]))
    array([[8.]])
    """
    _check_weighted_vectors(p, x)
    S = (p[:, None] * x).T @ x
    return (S + S.T) / 2  # rounding leaves S and S^T different in the last bit


def _check_weighted_vectors(p, x):
    if x.ndim != 2 or p.shape != x.shape[:1]:
        raise ValueError(f"p must be (k,) and x (k, d); got shapes {p.shape} and {x.shape}")


def covariance(p, x):
    """Var[X] = E[(X - mu)(X - mu)^T] for vectors x (k, d); for n samples p_i = 1/n.

    Entry (i, j) is cov(X_i, X_j) = E[X_i X_j] - E[X_i] E[X_j]; the variances are on the diagonal.

    Returns: (d, d). Raises: as `second_moment`.

    >>> covariance(np.array([0.5, 0.5]), np.array([[0.0], [4.0]]))
    array([[4.]])

    Errata: probability-11 (IRHD 1.2 calls Var[X] the second moment; that is E[X X^T]).
    """
    return second_moment(p, x - expectation(p, x))


def affine_moments(mu, Sigma, A, b):
    """Of A X + b: the mean A mu + b, (m,), and the covariance A Sigma A^T, (m, m).

    >>> affine_moments(np.array([1.0]), np.eye(1), np.array([[3.0]]), b=1.0)
    (array([4.]), array([[9.]]))
    """
    return A @ mu + b, A @ Sigma @ A.T


def is_psd(S, tol=ROUND_OFF):
    """Whether x^T S x >= 0 for all x: no eigenvalue is below -tol times the largest absolute one.

    Every covariance matrix is positive semi-definite.

    Raises: ValueError if S is not square, symmetric and finite.

    >>> is_psd(np.diag([1.0, 0.0])), is_psd(np.diag([1.0, -1.0]))
    (True, False)
    """
    eigenvalues = np.linalg.eigvalsh(symmetric(S, "S"))
    return bool(eigenvalues[0] >= -tol * np.abs(eigenvalues).max())


def is_pd(S, tol=ROUND_OFF):
    """Whether x^T S x > 0 for all x != 0: all eigenvalues exceed tol times the largest one.

    Raises: as `is_psd`.

    >>> is_pd(np.eye(2)), is_pd(np.diag([1.0, 0.0]))
    (True, False)
    """
    eigenvalues = np.linalg.eigvalsh(symmetric(S, "S"))
    return bool(eigenvalues[0] > tol * np.abs(eigenvalues).max())


def chebyshev(sigma2, m, eps):
    """Chebyshev's bound: Pr(|mean of m draws - mu| > eps) <= sigma^2 / (m eps^2).

    It is capped at 1. As m grows it tends to 0: the weak law of large numbers.

    >>> float(chebyshev(0.25, m=100, eps=0.5))
    0.01
    """
    return np.minimum(1.0, sigma2 / (m * eps**2))


# ---------------------------------------------------------------------------------------
# Discrete families
# ---------------------------------------------------------------------------------------


def bernoulli_log_pmf(k, p):
    """ln Pr(K = k) = k ln p + (1 - k) ln(1 - p) for k in {0, 1}; mean p, variance p (1 - p).

    >>> np.exp(bernoulli_log_pmf(np.array([0, 1, 2]), p=0.25))
    array([0.75, 0.25, 0.  ])
    """
    return binomial_log_pmf(k, 1, p)


def binomial_log_pmf(k, n, p):
    """ln Pr(K = k) = ln C(n, k) + k ln p + (n - k) ln(1 - p): k heads in n throws.

    The mean is n p and the variance n p (1 - p). The value is -inf unless k is one of 0, ..., n.

    Raises: ValueError if n is not a count or p is not between 0 and 1.

    >>> np.exp(binomial_log_pmf(np.array([0, 1, 2, 3]), n=2, p=0.5)).round(12)
    array([0.25, 0.5 , 0.25, 0.  ])
    """
    _require(is_count(n), "n must be a count 0, 1, 2, ...", n)
    _require((p >= 0) & (p <= 1), "p must be between 0 and 1", p)
    possible = is_count(k) & (k <= n)
    k = np.where(possible, k, 0.0)  # floats, as small integers overflow in k + 1
    log_choose = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)
    return np.where(possible, log_choose + x_log_y(k, p) + x_log_y(n - k, 1 - p), -np.inf)


def poisson_log_pmf(k, rate):
    """ln Pr(K = k) = k ln(rate) - rate - ln k!; mean and variance are the rate, the notes' lambda.

    Raises: ValueError if rate < 0.

    >>> np.exp(poisson_log_pmf(np.array([-1, 0]), rate=np.log(2))).round(12)
    array([0. , 0.5])
    """
    _require(rate >= 0, "rate must be >= 0", rate)
    possible = is_count(k)
    k = np.where(possible, k, 0.0)
    return np.where(possible, x_log_y(k, rate) - rate - log_gamma(k + 1), -np.inf)


def _require(valid, rule, value):
    """Raise the rule and the first value that breaks it, unless `valid` holds everywhere."""
    if not np.all(valid):
        got = np.asarray(value)[~np.asarray(valid)][0]
        raise ValueError(f"{rule}; got {got}")


def is_count(k):
    """Whether k is one of 0, 1, 2, ...; infinity is not.

    >>> is_count(np.array([-1.0, 0.0, 0.5, 3.0]))
    array([False,  True, False,  True])
    """
    return (k >= 0) & (k < np.inf) & (k == np.floor(k))


def x_log_y(x, y):
    """x ln y, with 0 ln 0 = 0.

    >>> x_log_y(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    array([0., 0.])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == 0, 0.0, x * np.log(y))


log_gamma = np.vectorize(lgamma, otypes=[float], doc="ln Gamma(x); ln k! is log_gamma(k + 1).")


# ---------------------------------------------------------------------------------------
# Continuous families
# ---------------------------------------------------------------------------------------


def gauss_legendre(a, b, pieces=1, order=20):
    """Nodes x and weights w with sum_i w_i f(x_i) = int_a^b f(x) dx.

    [a, b] is cut into equal `pieces`. On each the sum is exact for polynomials of degree below
    2 `order`; for smooth f it is accurate to rounding.

    Returns: x and w, (pieces * order,) each. Raises: ValueError if a or b is not finite.

    >>> x, w = gauss_legendre(0, 3)
    >>> round(float(w @ x**2), 12)
    9.0
    """
    _check_finite(a, b)
    nodes, weights = np.polynomial.legendre.leggauss(order)
    edges = np.linspace(a, b, pieces + 1)
    half = (b - a) / (2 * pieces)
    middles = (edges[:-1] + edges[1:]) / 2
    return (middles[:, None] + half * nodes).ravel(), np.tile(half * weights, pieces)


def _check_finite(a, b):
    if not (isfinite(a) and isfinite(b)):
        raise ValueError(f"quadrature needs a finite interval; got [{a}, {b}]")


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

    Raises: ValueError unless a < b.

    >>> uniform_density(np.array([-1.0, 1.0, 3.0]), a=0.0, b=2.0)
    array([0. , 0.5, 0. ])

    Errata: probability-08 (IRHD 1.2 asks of a density that it be continuous; this one jumps).
    """
    _check_interval(a, b)
    return np.where((a <= x) & (x <= b), 1 / (b - a), 0.0)


def uniform_cdf(x, a, b):
    """Pr(X <= x) = (x - a) / (b - a), between 0 and 1; continuous, unlike the density.

    Raises: ValueError unless a < b.

    >>> uniform_cdf(np.array([-1.0, 0.5, 3.0]), a=0.0, b=2.0)
    array([0.  , 0.25, 1.  ])
    """
    _check_interval(a, b)
    return np.clip((x - a) / (b - a), 0.0, 1.0)


def _check_interval(a, b):
    if not np.all(a < b):
        raise ValueError(f"an interval must have a < b; got a = {a}, b = {b}")


def normal_log_density(x, mu, sigma2):
    """The log-density of N(mu, sigma^2): -1/2 ln(2 pi sigma^2) - (x - mu)^2 / (2 sigma^2).

    >>> np.exp(normal_log_density(np.array([0.0, 1.0]), mu=0.0, sigma2=1.0)).round(6)
    array([0.398942, 0.241971])
    """
    z = (x - mu) / np.sqrt(sigma2)
    return -0.5 * np.log(2 * pi * sigma2) - z**2 / 2


def normal_cdf(x, mu, sigma2):
    """Pr(X <= x) = (1 + erf((x - mu) / (sigma sqrt 2))) / 2 for X from N(mu, sigma^2).

    >>> normal_cdf(np.array([-np.inf, 0.0, 1.0]), mu=0.0, sigma2=1.0).round(6)
    array([0.      , 0.5     , 0.841345])
    """
    return _erfc(-(x - mu) / np.sqrt(2 * sigma2)) / 2


_erfc = np.vectorize(erfc, otypes=[float])  # 1 - erf; it keeps the digits of a small tail


# ---------------------------------------------------------------------------------------
# Multivariate normal
# ---------------------------------------------------------------------------------------


@by_rows
def multivariate_normal_log_density(X, mu, Sigma):
    """ln p(x) = -1/2 (d ln(2 pi) + ln |Sigma| + (x - mu)^T Sigma^{-1} (x - mu)) for every row.

    Here ln |Sigma| = 2 sum_j ln L_jj, and the last term is ||z||^2, where L z = x - mu.

    Returns: (n,). Raises: ValueError if Sigma is not positive definite or the shapes do not match.

    >>> multivariate_normal_log_density(np.array([[1.0, 0.0]]), mu=np.zeros(2), Sigma=np.eye(2))
    array([-2.33787707])

    Errata: probability-19 (MLN prints N(mu, sigma) for a density in Sigma).
    """
    L = _cholesky(Sigma)
    _check_dimensions(X, mu, L)
    Z = (X - mu) @ np.linalg.inv(L).T  # a row z = L^-1 (x - mu) per sample
    log_det = 2 * np.log(np.diag(L)).sum()
    return -0.5 * (len(L) * log(2 * pi) + log_det + squared_norms(Z))


def _check_dimensions(X, mu, L):
    if X.shape[1:] != L.shape[1:] or np.shape(mu)[-1:] not in ((), L.shape[1:]):
        rule = f"X must be (n, {len(L)}) and mu ({len(L)},), as Sigma is {L.shape}"
        raise ValueError(f"{rule}; got shapes {X.shape} and {np.shape(mu)}")


def sample_multivariate_normal(n, mu, Sigma, *, rng):
    """n draws x = mu + L z from N(mu, Sigma), with d independent N(0, 1) numbers in z.

    Returns: (n, d). Raises: ValueError if Sigma is not positive definite.

    >>> sample_multivariate_normal(5, np.zeros(2), np.eye(2), rng=np.random.default_rng(0)).shape
    (5, 2)
    """
    return mu + rng.standard_normal((n, len(mu))) @ _cholesky(Sigma).T


def _cholesky(Sigma):
    """The factor L of Sigma = L L^T; ValueError if Sigma is not positive definite."""
    try:
        return np.linalg.cholesky(symmetric(Sigma, "Sigma"))
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(Sigma)[0]
        raise ValueError(
            f"Sigma must be positive definite; its smallest eigenvalue is {least:.3g}"
        ) from None


class Normal(NamedTuple):
    """The parameters of N(mean, covariance)."""

    mean: np.ndarray  # (d,)
    covariance: np.ndarray  # (d, d)


def marginal_normal(mu, Sigma, keep):
    """The `Normal` distribution N(mu_a, Sigma_aa) of the coordinates a = `keep` of N(mu, Sigma).

    >>> marginal_normal(np.array([1.0, 2.0]), np.array([[4.0, 1.0], [1.0, 3.0]]), keep=[1])
    Normal(mean=array([2.]), covariance=array([[3.]]))
    """
    return Normal(mu[keep], Sigma[np.ix_(keep, keep)])


def conditional_normal(mu, Sigma, given, value):
    """The distribution of the other coordinates of N(mu, Sigma), if those in `given` have `value`.

    Let b be the coordinates given and a the others. The distribution is normal with

        mean        mu_a + Sigma_ab Sigma_bb^{-1} (value - mu_b) ,
        covariance  Sigma_aa - Sigma_ab Sigma_bb^{-1} Sigma_ba .

    Returns: a `Normal`. Raises: ValueError if Sigma_bb is not positive definite, or if `value` is
    neither a number nor one number for each coordinate given.

    >>> Sigma = np.array([[4.0, 1.0], [1.0, 2.0]])
    >>> conditional_normal(np.array([1.0, 2.0]), Sigma, given=[1], value=np.array([4.0]))
    Normal(mean=array([2.]), covariance=array([[3.5]]))
    """
    b = np.arange(len(mu))[given]  # numbers counted from 0, also for negative ones and masks
    _check_value(value, b)
    a = np.setdiff1d(np.arange(len(mu)), b)
    S_aa, S_ab, S_bb = Sigma[np.ix_(a, a)], Sigma[np.ix_(a, b)], Sigma[np.ix_(b, b)]
    _cholesky(S_bb)  # an error if it is not positive definite
    G = np.linalg.solve(S_bb, S_ab.T).T  # Sigma_ab Sigma_bb^{-1}
    return Normal(mu[a] + G @ (value - mu[b]), S_aa - G @ S_ab.T)


def _check_value(value, given):
    if np.shape(value) not in ((), given.shape):
        raise ValueError(f"value must be {given.shape}, as given; got shape {np.shape(value)}")
