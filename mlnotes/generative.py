"""Generative classification: learn the distribution of each class, then apply Bayes' rule.

The Bayes classifier (chapter 2) needs the prior and the density of every class. Both can be learnt
from samples, one class at a time. Normal classes are separated by conics, or by hyperplanes if they
share one covariance. Naive Bayes assumes that the features are independent given the class.

Contents
    One class at a time    learn_classes, GenerativeModel, fit_normal, NormalDensity,
                           log_densities, log_joint_density, classify, likeliest
    Two features           bivariate_normal_density, ellipse, ellipse_probability, ellipse_radius
    Normal classes         class_moments, ClassMoments, normal_densities, pooled_covariance,
                           regularised, quadratic_log_odds, linear_scores
    Naive Bayes            fit_naive, NaiveDensity, naive_normal_log_density
    Discrete features      category_counts, binary_counts, smoothed_log_frequencies,
                           categorical_log_density, binary_log_density, binary_log_odds
    Estimators             QuadraticDiscriminantAnalysis, SharedCovarianceClassifier, GaussianNB,
                           CategoricalNB, BernoulliNB

Symbols
    X          (n, d)     samples x, one per row
    y          (n,)       their labels, of any kind; the K classes are those that occur, sorted
    k          (n,)       the numbers 0, ..., K - 1 of their classes
    n_k        (K,)       samples of each class, or the sums of their weights
    prior      (K,)       pi_k = Pr(y = k)
    joint      (n, K)     ln Pr(x_i, k) = ln pi_k + ln p(x_i | k)
    means      (K, d)     mu_k; mu (d,) is the mean of one class, or (2, d) those of two classes
    covariances           Sigma_k: matrices (K, d, d), or variances alone (K, d)
    Sigma      (d, d)     covariance of one distribution, or of all classes
    counts     (..., m)   n_kc, the number of samples of class k whose feature is in category c
    alpha      float      pseudo-count, added to every count

A learnt density is an object with a method ``score_samples(X)`` that gives ln p(x_i), such as a
`NormalDensity`, a `NaiveDensity` or a `density.KernelDensity`.

Notes: REP "Generative Approch to Classification"; PRNN 1; MLN "Bayes Classifier", "Optimality".
REP writes P_j(x) for our p(x | k), PRNN p_{x/y=i}.
"""

import warnings
from dataclasses import dataclass
from math import inf, isnan, log, pi
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    DataConversionWarning,
    LinearClassifier,
    LogProbabilisticClassifier,
    by_rows,
    check_flag,
    check_number,
    check_weights,
    shared,
)
from mlnotes.decision_theory import (
    bayes_classify,
    check_possible,
    chosen_prior,
    labelled_samples,
    log_joint,
    log_posterior,
    log_prior,
)
from mlnotes.estimation import categorical_mle, multivariate_normal_mle
from mlnotes.probability import (
    Normal,
    expectation,
    is_psd,
    multivariate_normal_log_density,
)

MOST_CATEGORIES = 1e9  # larger numbers are not categories, and a table of them does not fit
FLAT = 1e-13  # a feature that differs from its mean by at most this share of it is constant


# ---------------------------------------------------------------------------------------
# One class at a time
# ---------------------------------------------------------------------------------------


class GenerativeModel(NamedTuple):
    """Priors and distributions of K classes."""

    classes: np.ndarray  # (K,), their labels, sorted
    prior: np.ndarray  # (K,)
    densities: list  # one for each class


def learn_classes(X, y, fit_density):
    """Learn each class by itself: pi_k = n_k / n, and p(x | k) from the samples of class k alone.

    `fit_density` takes the samples of one class to their density: `fit_normal`, `fit_naive`, or
    ``lambda X_k: KernelDensity(bandwidth=h).fit(X_k)``.

    Returns: a `GenerativeModel`.

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0], [11.0]]), np.array([4, 4, 6, 6, 6])
    >>> learn_classes(X, y, fit_normal)[:2]  # classes and prior
    (array([4, 6]), array([0.4, 0.6]))
    """
    classes, k = np.unique(y, return_inverse=True)
    densities = [fit_density(X[k == c]) for c in range(len(classes))]
    return GenerativeModel(classes, categorical_mle(k, len(classes)), densities)


class NormalDensity(Normal):
    """N(mean, covariance), with the method of a learnt density."""

    def score_samples(self, X):
        """ln N(x_i; mean, covariance): (n,)."""
        return multivariate_normal_log_density(X, self.mean, self.covariance)


def fit_normal(X):
    """The normal distribution of greatest likelihood for the samples X of one class.

    Returns: a `NormalDensity`. Raises: ValueError if X lies in a hyperplane: there is none.

    >>> fit_normal(np.array([[0.0], [4.0]])).covariance
    array([[4.]])
    """
    return NormalDensity(*multivariate_normal_mle(X))


def log_densities(X, model):
    """ln p(x_i | k) for a `GenerativeModel` `model`: (n, K), a column for each class.

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> log_densities(np.array([[1.0]]), learn_classes(X, y, fit_normal)).round(4)
    array([[ -0.9189, -25.4189]])
    """
    return np.array([density.score_samples(X) for density in model.densities]).T


def log_joint_density(X, model):
    """ln Pr(x_i, k) = ln pi_k + ln p(x_i | k) for a `GenerativeModel` `model`: (n, K).

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> log_joint_density(np.array([[4.5]]), learn_classes(X, y, fit_normal)).round(4)  # halfway
    array([[-7.7371, -7.7371]])
    """
    return log_joint(log_densities(X, model), model.prior)


def classify(X, model):
    """The label y with the largest pi_y p(x | y) for a `GenerativeModel` `model`: Bayes' rule.

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> classify(np.array([[4.0], [5.0]]), learn_classes(X, y, fit_normal))
    array([4, 6])
    """
    return model.classes[bayes_classify(log_densities(X, model), model.prior)]


def likeliest(X, model):
    """The label y with the largest p(x | y) for a `GenerativeModel` `model`: it ignores the priors.

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> likeliest(np.array([[4.0], [5.0]]), learn_classes(X, y, fit_normal))
    array([4, 6])

    Errata: generative-03 (REP describes this rule in words, and then uses pi_y p(x | y)).
    """
    return model.classes[log_densities(X, model).argmax(axis=1)]


# ---------------------------------------------------------------------------------------
# Two features
# ---------------------------------------------------------------------------------------


def bivariate_normal_density(X, mu, Sigma):
    """p(x) = exp(-1/2 (x - mu)^T Sigma^{-1} (x - mu)) / (2 pi |Sigma|^{1/2}), for d = 2.

    Returns: (n,). Raises: ValueError if Sigma is not symmetric and positive definite.

    >>> bivariate_normal_density(np.zeros((1, 2)), np.zeros(2), np.diag([1.0, 4.0])).round(6)
    array([0.079577])

    Errata: generative-05 (REP prints x_1 - mu_1 for both coordinates of x - mu, and no transpose).
    """
    (s_11, s_12), (_, s_22) = Sigma
    determinant = s_11 * s_22 - s_12**2
    if not (is_psd(np.asarray(Sigma)) and determinant > 0):
        raise ValueError(f"Sigma must be positive definite; got {np.asarray(Sigma).tolist()}")
    u_1, u_2 = (X - mu).T
    form = (s_22 * u_1**2 - 2 * s_12 * u_1 * u_2 + s_11 * u_2**2) / determinant
    return np.exp(-form / 2) / (2 * pi * np.sqrt(determinant))


def ellipse(mu, Sigma, radius, t):
    """The points mu + R U Lambda^{1/2} (cos t, sin t) with Sigma = U Lambda U^T, at angles t (m,).

    There (x - mu)^T Sigma^{-1} (x - mu) = R^2, R = `radius`. Half-axes are R sqrt(lambda_j) u_j.

    Returns: (m, 2). Raises: ValueError if Sigma is not positive semidefinite.

    >>> abs(ellipse(np.zeros(2), np.diag([1.0, 9.0]), 2.0, np.array([0.0])))
    array([[2., 0.]])
    """
    if not is_psd(Sigma):
        raise ValueError(f"Sigma must be positive semidefinite; got {Sigma.tolist()}")
    lengths, U = np.linalg.eigh(Sigma)
    circle = np.column_stack([np.cos(t), np.sin(t)])
    return mu + radius * circle * np.sqrt(np.maximum(lengths, 0)) @ U.T


def ellipse_probability(radius):
    """1 - exp(-R^2 / 2): the probability of the ellipse of `radius` R, for a bivariate normal x.

    >>> [round(float(ellipse_probability(R)), 3) for R in (1, 2, 3)]
    [0.393, 0.865, 0.989]
    """
    return -np.expm1(-(radius**2) / 2)


def ellipse_radius(p):
    """The radius R = sqrt(-2 ln(1 - p)) of the ellipse that has the probability p.

    >>> round(float(ellipse_radius(0.95)), 3)
    2.448
    """
    return np.sqrt(-2 * np.log1p(-p))


# ---------------------------------------------------------------------------------------
# Normal classes
# ---------------------------------------------------------------------------------------


class ClassMoments(NamedTuple):
    """Counts, means and covariances of K classes."""

    n_k: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    covariances: np.ndarray  # (K, d, d), or (K, d) for the kind "diag"


def class_moments(X, k, kind="full", sample_weight=None):
    """n_k, mu_k = 1/n_k sum x_i and Sigma_k = 1/n_k sum (x_i - mu_k)(x_i - mu_k)^T over class k.

    The `kind` "diag" computes variances only. A sample with `sample_weight` w_i counts w_i times.

    Returns: `ClassMoments`. Raises: ValueError if a class of 0, ..., K - 1 has no weight.

    >>> class_moments(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1])).means.tolist()
    [[1.0], [7.0]]
    """
    w = check_weights(sample_weight, len(X))  # all 1 if there are none
    n_k = _check_present(np.bincount(k, w))
    means, covariances = [], []
    for c in range(len(n_k)):
        members = np.flatnonzero(k == c)
        X_c, shares = X.take(members, axis=0), w[members] / n_k[c]
        means.append(shares @ X_c)
        D = X_c - means[c]
        covariances.append((shares * D.T) @ D if kind == "full" else shares @ D**2)
    return ClassMoments(n_k, np.array(means), np.array(covariances))


def _check_present(n_k):
    """Refuse classes without samples."""
    if not n_k.all():
        raise ValueError(f"every class must have samples; their weights are {n_k}")
    return n_k


def normal_densities(moments, shared_covariance=False, reg_param=0.0):
    """A normal distribution for each class: with its own covariance, or with one for all classes.

    It is quadratic discriminant analysis (QDA), with `shared_covariance` the linear one (LDA).
    `moments` are `ClassMoments`, and `reg_param` is the r of `regularised`.

    Returns: a list of K `NormalDensity`.

    >>> X, k = np.array([[0.0], [2.0], [5.0], [11.0]]), np.array([0, 0, 1, 1])
    >>> [density.covariance.round(9).item() for density in normal_densities(class_moments(X, k))]
    [1.0, 9.0]
    """
    n_k, means, covariances = moments
    if shared_covariance:
        covariances = [pooled_covariance(n_k, covariances)] * len(n_k)
    pairs = zip(means, covariances, strict=True)
    return [NormalDensity(mu, regularised(Sigma, reg_param)) for mu, Sigma in pairs]


def pooled_covariance(n_k, covariances):
    """Sigma = sum_k n_k Sigma_k / n: maximum likelihood if all classes have the same covariance.

    >>> pooled_covariance(np.array([1, 3]), np.array([[[8.0]], [[4.0]]]))
    array([[5.]])
    """
    return np.average(covariances, axis=0, weights=n_k)


def regularised(covariances, reg_param):
    """(1 - r) Sigma_k + r I, r = `reg_param`: positive definite for r > 0, even for few samples.

    It depends on the units: features with very different variances should be standardised first.

    >>> regularised(np.array([[[8.0, 8.0], [8.0, 8.0]]]), reg_param=0.25).tolist()
    [[[6.25, 6.0], [6.0, 6.25]]]
    """
    return (1 - reg_param) * covariances + reg_param * np.eye(covariances.shape[-1])


def quadratic_log_odds(mu, covariances, prior):
    """The conic of two normal classes: x^T A x + w^T x + b = ln Pr(1 | x) - ln Pr(0 | x).

    With the precisions P_k = Sigma_k^{-1},

        A = (P_0 - P_1) / 2,    w = P_1 mu_1 - P_0 mu_0,
        b = ln(pi_1 / pi_0) + (ln |Sigma_0| - ln |Sigma_1| + mu_0^T P_0 mu_0 - mu_1^T P_1 mu_1) / 2.

    Returns: A (d, d), w (d,) and b. Raises: ValueError if a covariance is not positive definite,
    or `prior` is not a prior.

    >>> variances, prior = np.array([[[1.0]], [[4.0]]]), np.array([0.5, 0.5])
    >>> quadratic_log_odds(np.zeros((2, 1)), variances, prior)[:2]  # class 1 is the wide one
    (array([[0.375]]), array([0.]))
    """
    L = np.linalg.cholesky(covariances)
    log_det = 2 * np.log(np.einsum("kjj->kj", L)).sum(axis=1)
    P = np.linalg.inv(covariances)
    w = np.einsum("kij,kj->ki", P, mu)
    terms = log_prior(prior) - (log_det + np.einsum("ki,ki->k", w, mu)) / 2
    return (P[0] - P[1]) / 2, w[1] - w[0], terms[1] - terms[0]


def linear_scores(means, Sigma, prior):
    """W and b with W x + b = ln Pr(x, k) up to terms without k, for classes of one covariance.

    The term -x^T Sigma^{-1} x / 2 is the same for all classes. With mu' = sum_k pi_k mu_k,

        w_k = Sigma^{-1} (mu_k - mu'),    b_k = ln pi_k - w_k^T (mu_k + mu') / 2.

    Returns: W (K, d) and b (K,). Raises: ValueError if Sigma is not positive definite, or `prior`
    is not a prior.

    >>> W, b = linear_scores(np.array([[0.0], [4.0]]), np.array([[4.0]]), np.array([0.5, 0.5]))
    >>> (W[1] - W[0]).tolist(), float(b[1] - b[0])  # the sign changes at x = 2
    ([1.0], -2.0)
    """
    overall = expectation(prior, means)
    L = np.linalg.cholesky(Sigma)
    W = np.linalg.solve(L.T, np.linalg.solve(L, (means - overall).T)).T
    b = log_prior(prior) - np.sum(W * (means + overall), axis=1) / 2
    return W, b


def _log(p):
    """ln p, with ln 0 = -inf for an impossible class or category."""
    with np.errstate(divide="ignore"):
        return np.log(p)


# ---------------------------------------------------------------------------------------
# Naive Bayes
# ---------------------------------------------------------------------------------------


class NaiveDensity(NamedTuple):
    """The distribution of d independent features."""

    factors: Any  # d densities of single features, samples (n, 1)

    def score_samples(self, X):
        """sum_j ln p(x_ij): (n,)."""
        return sum(density.score_samples(X[:, [j]]) for j, density in enumerate(self.factors))


def fit_naive(X, fit_factor=fit_normal):
    """p(x | k) = prod_j p(x_j | k) for the samples X of one class: one density per feature.

    With it `classify` is naive Bayes, argmax_k ln pi_k + sum_j ln p(x_j | k). `fit_factor` takes
    one column (n_k, 1) to its density. In the whole population the features may be dependent.

    Returns: a `NaiveDensity`.

    >>> density = fit_naive(np.array([[0.0, 5.0], [2.0, 9.0]]))
    >>> [(float(factor.mean[0]), float(factor.covariance[0, 0])) for factor in density.factors]
    [(1.0, 1.0), (7.0, 4.0)]

    Errata: generative-11 (PRNN calls the features independent "of each other").
    """
    return NaiveDensity(tuple(fit_factor(X[:, [j]]) for j in range(X.shape[1])))


@by_rows
def naive_normal_log_density(X, means, variances):
    """ln p(x_i | k) = -1/2 sum_j (ln(2 pi v_kj) + (x_ij - mu_kj)^2 / v_kj), (n, K): naive Bayes.

    >>> naive_normal_log_density(np.array([[3.0]]), [[1.0], [3.0]], np.ones((2, 1))).round(4)
    array([[-2.9189, -0.9189]])
    """
    log_p = []
    for mu, v in zip(means, variances, strict=True):  # one class after the other
        log_p.append(-0.5 * (np.log(2 * pi * v).sum() + (X - mu) ** 2 @ (1 / v)))
    return np.array(log_p).T


# ---------------------------------------------------------------------------------------
# Discrete features
# ---------------------------------------------------------------------------------------


def category_counts(x, k, m, sample_weight=None):
    """n_kc, the number of samples of class k whose feature x (n,) is in category c: (K, m).

    The categories are c = 0, ..., m - 1. A sample with the `sample_weight` w_i counts w_i times.

    Raises: ValueError if x has another category.

    >>> category_counts(np.array([0, 2, 2]), np.array([0, 0, 1]), m=3).tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    w, K = check_weights(sample_weight, len(x)), k.max() + 1
    if not 0 <= x.min() <= x.max() < m:
        raise ValueError(
            f"x must be in a category 0, ..., {m - 1}; got from {x.min()} to {x.max()}"
        )
    cells = k * m + x  # the number of each sample's cell in the table (K, m)
    return np.bincount(cells, w, minlength=K * m).reshape(K, m)


def binary_counts(X, k, sample_weight=None):
    """In how many samples of class k feature j is 0, and in how many it is 1: (K, d, 2).

    X (n, d) holds 0 and 1. A sample with the `sample_weight` w_i counts w_i times.

    >>> binary_counts(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([0, 0])).tolist()
    [[[0.0, 2.0], [1.0, 1.0]]]
    """
    w = check_weights(sample_weight, len(X))  # all 1 if there are none
    n_k = np.bincount(k, w)
    on = np.array([w[k == c] @ X[k == c] for c in range(len(n_k))])
    off = np.maximum(n_k[:, None] - on, 0)  # sums of weights may be rounded to less than 0
    return np.stack([off, on], axis=-1)


def smoothed_log_frequencies(counts, alpha=1.0):
    """ln p_kc, p_kc = (n_kc + alpha) / (n_k + alpha m), with n_k = sum_c n_kc over the last axis.

    alpha = 0 is maximum likelihood: a category that was not seen in class k then excludes class k.

    Raises: ValueError unless 0 <= alpha < inf, and for alpha = 0 if a class was never seen.

    >>> np.exp(smoothed_log_frequencies(np.array([3.0, 0.0, 1.0]), alpha=2.0)).round(12)
    array([0.5, 0.2, 0.3])
    """
    m = counts.shape[-1]
    total = counts.sum(axis=-1, keepdims=True) + alpha * m
    _check_alpha(alpha, total)
    return _log(counts + alpha) - np.log(total)


def _check_alpha(alpha, total):
    """Refuse pseudo-counts that leave a class without shares."""
    if not (alpha >= 0 and ((total > 0) & (total < inf)).all()):
        raise ValueError(f"alpha must be finite and >= 0, and > 0 without counts; got {alpha}")


def categorical_log_density(X, log_p):
    """ln p(x_i | k) = sum_j ln p_j(x_ij | k), with a table `log_p[j]` (K, m_j) for each feature.

    X holds categories, integers. Returns: (n, K). Raises: ValueError if one is in no table.

    >>> log_p = [np.log([[0.5, 0.5], [0.2, 0.8]]), np.log([[0.5, 0.5], [1.0, 1.0]])]
    >>> np.exp(categorical_log_density(np.array([[1, 0]]), log_p))
    array([[0.25, 0.8 ]])
    """
    _check_known(X, [table.shape[1] for table in log_p])
    total = np.zeros((len(log_p[0]), len(X)))
    for x, table in zip(X.T, log_p, strict=True):
        total += table[:, x]
    return total.T


def _check_known(X, n_categories):
    """Refuse samples with x_ij < 0 or x_ij >= n_categories[j]."""
    unknown = (X < 0) | (X >= np.asarray(n_categories))
    if unknown.any():
        i, j = np.argwhere(unknown)[0]
        raise ValueError(
            f"feature {j} must be in a category 0, ..., {n_categories[j] - 1}; got {X[i, j]} "
            "(min_categories makes room for categories that fit does not see)"
        )


def binary_log_density(X, log_on, log_off):
    """ln p(x_i | k) = sum_j x_ij ln p_kj + (1 - x_ij) ln(1 - p_kj), for features 0 and 1: (n, K).

    `log_on` (K, d) are the ln p_kj and `log_off` (K, d) the ln(1 - p_kj). 0 ln 0 is 0 here.

    >>> np.exp(binary_log_density(np.array([[1.0]]), np.log([[0.25]]), np.log([[0.75]])))
    array([[0.25]])
    """
    excluded = _excluded(X, log_on, log_off)  # where a factor of the product is 0
    log_on, log_off = _finite(log_on), _finite(log_off)
    log_p = log_off.sum(axis=1) + X @ (log_on - log_off).T
    return np.where(excluded, -np.inf, log_p)


def _finite(log_p):
    """log_p with 0 in the place of -inf, which times 0 is not a number."""
    return np.where(log_p == -np.inf, 0.0, log_p)


def _excluded(X, log_on, log_off):
    """Whether a sample has a value of probability 0 in the class: (n, K), or False for none."""
    never_on, never_off = log_on == -np.inf, log_off == -np.inf
    if never_on.any() or never_off.any():
        return X @ never_on.T + (1 - X) @ never_off.T > 0
    return False


def binary_log_odds(p, prior):
    """The hyperplane of naive Bayes for binary features: w^T x + b = ln Pr(1 | x) - ln Pr(0 | x).

        w_j = ln [p_1j (1 - p_0j)] / [p_0j (1 - p_1j)],
        b = ln(pi_1 / pi_0) + sum_j ln [(1 - p_1j) / (1 - p_0j)]

    p (2, d) holds Pr(x_j = 1 | k), strictly between 0 and 1.

    Returns: w (d,) and b. Raises: ValueError if `prior` is not a prior.

    >>> w, b = binary_log_odds(np.array([[0.5, 0.2], [0.5, 0.8]]), prior=np.array([0.5, 0.5]))
    >>> np.exp(w).round(12), round(float(np.exp(b)), 12)
    (array([ 1., 16.]), 0.25)
    """
    log_odds, log_off = np.log(p) - np.log1p(-p), np.log1p(-p).sum(axis=1)
    terms = log_prior(prior) + log_off
    return log_odds[1] - log_odds[0], terms[1] - terms[0]


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class _GenerativeClassifier(LogProbabilisticClassifier):
    """The label of the largest joint Pr(x, k)."""

    def _log_joint(self, X):
        """ln Pr(x_i, k) of checked samples, (n, K)."""
        return log_joint_density(X, self._model)

    def _scores(self, X):
        """The same up to terms that all classes share."""
        return self._log_joint(X)

    def predict_joint_log_proba(self, X):
        """ln Pr(x_i, k) = ln pi_k + ln p(x_i | k): (n, K)."""
        X = self._check_fitted(X)
        return self._log_joint(X)

    def predict_log_proba(self, X):
        """ln Pr(k | x_i): (n, K)."""
        X = self._check_fitted(X)
        return log_posterior(check_possible(self._scores(X)))

    def predict(self, X):
        """The most probable class of every sample, the first of those that tie: (n,)."""
        X = self._check_fitted(X)
        return self.classes_[check_possible(self._scores(X)).argmax(axis=1)]


def _check_full_rank(mu, Sigma, whose):
    """Refuse a Sigma that is singular when every feature is divided by its standard deviation."""
    sd = np.sqrt(np.diag(Sigma))
    flat = (sd <= FLAT * np.abs(mu)).any()
    if flat or np.linalg.matrix_rank(Sigma / sd / sd[:, None], hermitian=True) < len(sd):
        raise ValueError(
            f"the covariance of {whose} must have full rank {len(sd)}: its samples lie in a "
            "hyperplane; give reg_param > 0, leave out features that the others determine, or "
            "take GaussianNB"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class _NormalClassifier(_GenerativeClassifier):
    """What the two classifiers with normal classes share."""

    priors: Any = None
    reg_param: float = 0.0

    def _learn(self, X, y):
        """The classes, their numbers, priors and moments, with the share reg_param checked."""
        if not (isinstance(self.reg_param, Real) and 0 <= self.reg_param <= 1):
            raise ValueError(f"reg_param must be a number between 0 and 1; got {self.reg_param!r}")
        samples, classes, k, _ = labelled_samples(X, y)
        moments = class_moments(samples, k)
        prior = chosen_prior(self.priors, moments.n_k / len(samples))
        return classes, prior, moments


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticDiscriminantAnalysis(_NormalClassifier):
    """Normal classes, each with its own covariance: boundaries are conics.

    As scikit-learn's with its solver "svd" (covariances are divided by n_k), but without its
    `tol`: here a covariance that is singular up to rounding is an error.

    Parameters
    ----------
    priors : array of shape (K,) or None; None for the shares of the classes in y
    reg_param : float; between 0 and 1, the r of `regularised`, whose effect depends on the units
    store_covariance : bool; whether to keep `covariance_`

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariance_ : ndarray of shape (K, d, d); regularised, if store_covariance
    rotations_ : ndarray of shape (K, d, d); the principal axes of each class, in columns
    scalings_ : ndarray of shape (K, d); the variances along them, the largest first
    n_features_in_ : int

    >>> X, y = [[-3], [-1], [1], [3], [-9], [9]], ["in", "in", "in", "in", "out", "out"]
    >>> QuadraticDiscriminantAnalysis().fit(X, y).predict([[-20], [0], [20]])
    array(['out', 'in', 'out'], dtype='<U3')
    """

    store_covariance: bool = False

    def fit(self, X, y):
        """Learn the classes of samples X (n, d) with labels y (n,); return self."""
        store = check_flag("store_covariance", self.store_covariance)
        classes, prior, moments = self._learn(X, y)
        densities = normal_densities(moments, reg_param=self.reg_param)
        for c, density in zip(classes, densities, strict=True):
            _check_full_rank(density.mean, density.covariance, f"class {c}")
        self._model = GenerativeModel(classes, prior, densities)
        covariances = np.array([density.covariance for density in densities])
        variances, axes = np.linalg.eigh(covariances)
        self.classes_, self.priors_, self.means_ = classes, prior, moments.means
        self.scalings_, self.rotations_ = variances[:, ::-1], axes[:, :, ::-1]
        vars(self).pop("covariance_", None)
        if store:
            self.covariance_ = covariances
        return self._remember(X)

    def decision_function(self, X):
        """ln pi_k - 1/2 (ln |Sigma_k| + (x - mu_k)^T Sigma_k^{-1} (x - mu_k)): (n, K).

        For two classes the log-odds of the second, (n,).
        """
        joint = self.predict_joint_log_proba(X)
        if len(self.classes_) == 2:
            return joint[:, 1] - joint[:, 0]
        return joint + self.n_features_in_ / 2 * log(2 * pi)


@dataclass(eq=False, repr=False, kw_only=True)
class SharedCovarianceClassifier(LinearClassifier, _NormalClassifier):
    """Linear discriminant analysis: normal classes with one covariance, separated by hyperplanes.

    Parameters
    ----------
    priors : array of shape (K,) or None; None for the shares of the classes in y
    reg_param : float; between 0 and 1, the r of `regularised`, whose effect depends on the units

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariance_ : ndarray of shape (d, d); sum_k n_k Sigma_k / n, regularised
    coef_ : ndarray of shape (K, d), or (1, d) for two classes; the w_k of `linear_scores`
    intercept_ : ndarray of shape (K,), or (1,); the b_k
    n_features_in_ : int

    >>> X, y = [[0.0], [2.0], [4.0], [6.0]], ["low", "low", "high", "high"]
    >>> SharedCovarianceClassifier().fit(X, y).predict([[2.9], [3.1]])
    array(['low', 'high'], dtype='<U4')
    """

    def fit(self, X, y):
        """Learn the classes of samples X (n, d) with labels y (n,); return self."""
        classes, prior, moments = self._learn(X, y)
        densities = normal_densities(moments, shared_covariance=True, reg_param=self.reg_param)
        means, Sigma = moments.means, densities[0].covariance
        _check_full_rank(np.abs(means).max(axis=0), Sigma, "the classes")
        self._model = GenerativeModel(classes, prior, densities)
        W, b = linear_scores(means, Sigma, prior)
        if len(classes) == 2:
            W, b = W[1:] - W[:1], b[1:] - b[:1]
        self.classes_, self.priors_, self.means_ = classes, prior, means
        self.covariance_, self.coef_, self.intercept_ = Sigma, W, b
        return self._remember(X)

    def _scores(self, X):
        """The linear scores: far from all classes the squares of the joint would cancel."""
        F = X @ self.coef_.T + self.intercept_
        return np.minimum(np.hstack([-F, F]), 0) if len(self.classes_) == 2 else F


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(_GenerativeClassifier):
    """Naive Bayes with a normal distribution for every feature in every class.

    Parameters
    ----------
    priors : array of shape (K,) or None; None for the shares of the classes in y
    var_smoothing : float; this times the largest variance of a feature is added to every variance

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_count_ : ndarray of shape (K,); n_k, or the sums of the weights
    class_prior_ : ndarray of shape (K,)
    theta_ : ndarray of shape (K, d); mean of each feature in each class
    var_ : ndarray of shape (K, d); its variance (by n_k), with `epsilon_` added
    epsilon_ : float
    n_features_in_ : int

    >>> X, y = [[0.0, 5.0], [2.0, 9.0], [7.0, 5.0], [9.0, 9.0]], ["a", "a", "b", "b"]
    >>> GaussianNB().fit(X, y).predict([[1.0, 0.0], [8.0, 0.0]])
    array(['a', 'b'], dtype='<U1')
    """

    priors: Any = None
    var_smoothing: float = 1e-9

    def fit(self, X, y, sample_weight=None):
        """Learn the classes of samples X (n, d), labels y (n,) and their weights; return self."""
        share = check_number("var_smoothing", self.var_smoothing, at_least=0)
        samples, classes, k, w = labelled_samples(X, y, sample_weight)
        n_k, means, variances = class_moments(samples, k, "diag", w)
        p = n_k / n_k.sum()
        prior = chosen_prior(self.priors, p)
        between = expectation(p, (means - expectation(p, means)) ** 2)  # variance between classes
        epsilon = float(share * (expectation(p, variances) + between).max())
        variances = variances + epsilon
        _check_varied(classes, means, variances)
        self.classes_, self.class_count_, self.class_prior_ = classes, n_k, prior
        self.theta_, self.var_, self.epsilon_ = means, variances, epsilon
        return self._remember(X)

    def _log_joint(self, X):
        log_p = naive_normal_log_density(X, self.theta_, self.var_)
        return log_joint(log_p, self.class_prior_)


def _check_varied(classes, means, variances):
    """Refuse features that are constant in a class after smoothing."""
    flat = np.sqrt(variances) <= FLAT * np.abs(means)
    if flat.any():
        c, j = np.argwhere(flat)[0]
        raise ValueError(
            f"every feature must vary in every class; feature {j} is constant in class "
            f"{classes[c]}: give var_smoothing > 0, or leave out what is constant in all of them"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class _DiscreteNB(_GenerativeClassifier):
    """Naive Bayes on counts of categories."""

    takes_codes = True  # features are categories, not amounts

    alpha: float = 1.0
    fit_prior: bool = True
    class_prior: Any = None

    def _log_prior(self, n_k):
        """ln pi_k: as given, from the shares of the classes, or uniform."""
        fit_prior, K = check_flag("fit_prior", self.fit_prior), len(n_k)
        shares = n_k / n_k.sum() if fit_prior else np.full(K, 1 / K)
        return _log(chosen_prior(self.class_prior, shares, "class_prior"))

    def __sklearn_tags__(self):
        """Tags of a classifier that does badly on amounts cut to categories."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalNB(_DiscreteNB):
    """Naive Bayes with a table of smoothed frequencies for every feature in every class.

    Features are categories 0, 1, 2, ...; fractions are cut to integers, as in scikit-learn, but
    with a warning. A category that `fit` has neither seen nor been told of is an error: in
    cross-validation set min_categories to ``X.max(axis=0) + 1`` of all samples.

    Parameters
    ----------
    alpha : float; added to every count. With 0, a category never seen in a class excludes it
    fit_prior : bool; True for the shares of the classes as priors, False for equal priors
    class_prior : array of shape (K,) or None; the priors, whatever fit_prior is
    min_categories : int, array of shape (d,) or None; the least number of categories per feature

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_count_ : ndarray of shape (K,); n_k, or the sums of the weights
    class_log_prior_ : ndarray of shape (K,)
    n_categories_ : ndarray of shape (d,); m_j
    category_count_ : list of d ndarrays of shape (K, m_j); n_kc
    feature_log_prob_ : list of d ndarrays of shape (K, m_j); ln p_kc
    n_features_in_ : int

    >>> X, y = [[0, 2], [0, 1], [1, 2], [1, 1]], ["a", "a", "b", "b"]
    >>> CategoricalNB().fit(X, y).predict([[0, 0], [1, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    min_categories: Any = None

    def fit(self, X, y, sample_weight=None):
        """Learn the classes of samples X (n, d), labels y (n,) and their weights; return self."""
        alpha = check_number("alpha", self.alpha, at_least=0)
        samples, classes, k, w = labelled_samples(X, y, sample_weight)
        n_k = np.bincount(k, w)
        log_prior, codes = self._log_prior(n_k), _categories(samples)
        n_categories = self._n_categories(codes)
        columns = zip(codes.T, n_categories, strict=True)
        counts = [category_counts(x, k, m, w) for x, m in columns]
        self.classes_, self.class_count_, self.class_log_prior_ = classes, n_k, log_prior
        self.n_categories_, self.category_count_ = n_categories, counts
        self.feature_log_prob_ = [smoothed_log_frequencies(table, alpha) for table in counts]
        return self._remember(X)

    def _n_categories(self, codes):
        """m_j: the number seen in X, but at least min_categories."""
        seen = codes.max(axis=0) + 1
        least = np.asarray(1 if self.min_categories is None else self.min_categories)
        if least.dtype.kind not in "iu" or least.shape not in ((), seen.shape) or least.min() < 1:
            raise ValueError(
                f"min_categories must be None, an integer >= 1 or one for each of the {len(seen)} "
                f"features; got {self.min_categories!r}"
            )
        return np.maximum(seen, least)

    def _log_joint(self, X):
        log_p = categorical_log_density(_categories(X), self.feature_log_prob_)
        return log_p + self.class_log_prior_

    def __sklearn_tags__(self):
        """Tags of a classifier that takes categories only."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.positive_only = True
        return tags


def _categories(X):
    """X as integers, if it holds categories 0, 1, 2, ..."""
    if X.min() < 0:
        raise ValueError(
            f"Negative values in data: X must hold categories 0, 1, 2, ...; got {X.min():g}"
        )
    if X.max() > MOST_CATEGORIES:
        raise ValueError(f"X must hold categories 0, 1, 2, ...; got {X.max():g}")
    codes = X.astype(np.intp)
    if (codes != X).any():
        warnings.warn(
            f"X should hold categories 0, 1, 2, ...; got {X[codes != X][0]:g}: fractions are cut "
            "to integers",
            shared(DataConversionWarning),
            stacklevel=4,
        )
    return codes


@dataclass(eq=False, repr=False, kw_only=True)
class BernoulliNB(_DiscreteNB):
    """Naive Bayes on features that are on or off: the log-odds are linear in them.

    Parameters
    ----------
    alpha : float; added to every count. With 0, a value never seen in a class excludes it
    binarize : float or None; a feature above it is on. None for features that are 0 or 1 already
    fit_prior : bool; True for the shares of the classes as priors, False for equal priors
    class_prior : array of shape (K,) or None; the priors, whatever fit_prior is

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_count_ : ndarray of shape (K,); n_k, or the sums of the weights
    class_log_prior_ : ndarray of shape (K,)
    feature_count_ : ndarray of shape (K, d); the number of samples in which a feature is on
    feature_log_prob_ : ndarray of shape (K, d); ln p_kj that it is on
    n_features_in_ : int

    >>> X, y = [[1, 1], [1, 0], [0, 1], [0, 0]], ["a", "a", "b", "b"]
    >>> BernoulliNB().fit(X, y).predict([[1, 0], [0, 0]])
    array(['a', 'b'], dtype='<U1')
    """

    binarize: float | None = 0.0

    def fit(self, X, y, sample_weight=None):
        """Learn the classes of samples X (n, d), labels y (n,) and their weights; return self."""
        alpha = check_number("alpha", self.alpha, at_least=0)
        samples, classes, k, w = labelled_samples(X, y, sample_weight)
        n_k, counts = np.bincount(k, w), binary_counts(self._bits(samples), k, w)
        log_p = smoothed_log_frequencies(counts, alpha)
        self.class_log_prior_ = self._log_prior(n_k)
        self.classes_, self.class_count_, self.feature_count_ = classes, n_k, counts[..., 1]
        self._log_off, self.feature_log_prob_ = log_p[..., 0], log_p[..., 1]
        return self._remember(X)

    def _bits(self, X):
        """1 where a feature is on, else 0."""
        if self.binarize is None:
            if not ((X == 0) | (X == 1)).all():
                raise ValueError("X must hold 0 and 1 only, unless binarize says what is on")
            return X
        if not isinstance(self.binarize, Real) or isnan(self.binarize):
            raise ValueError(f"binarize must be a number or None; got {self.binarize!r}")
        return (X > self.binarize).astype(float)

    def _log_joint(self, X):
        log_p = binary_log_density(self._bits(X), self.feature_log_prob_, self._log_off)
        return log_p + self.class_log_prior_
