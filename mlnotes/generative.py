"""Generative classification: learn the distribution of each class, then apply Bayes' rule.

The Bayes classifier (chapter 2) needs the prior and the density of every class. Both can be learnt
from samples, one class at a time. Normal classes are separated by conics, or by hyperplanes if they
share one covariance. Naive Bayes assumes that the features are independent given the class.

Contents
    One class at a time    GenerativeModel, learn_classes, NormalDensity, fit_normal, log_densities,
                           log_joint_density, map_classify
    Two features           bivariate_normal_density, ellipse, ellipse_probability, ellipse_radius
    Normal classes         share_covariance, shrunken_covariance, linear_scores
    Naive Bayes            NaiveDensity, fit_naive, naive_moments, naive_normal_log_density
    Discrete features      category_counts, binary_counts, smoothed_log_frequencies,
                           categorical_log_density, binary_log_density
    Estimators             QuadraticDiscriminantAnalysis, SharedCovarianceClassifier, GaussianNB,
                           CategoricalNB, BernoulliNB

Symbols
    X          (n, d)     samples x, one per row
    y          (n,)       their labels, of any kind; the K classes are those that occur, sorted
    Z          (n, K)     their labels as rows: z_ik = 1 if sample i is of class k, else 0
    n_k        (K,)       samples of each class
    prior      (K,)       pi_k = Pr(y = k)
    joint      (n, K)     ln Pr(x_i, k) = ln pi_k + ln p(x_i | k)
    means      (K, d)     mu_k; mu (d,) is the mean of one class, or (2, d) those of two classes
    covariances           Sigma_k, matrices (K, d, d); variances (K, d) alone: v_kj
    Sigma      (d, d)     covariance of one distribution, or of all classes
    counts     (..., m)   n_kc, the number of samples of class k whose feature is in category c
    alpha      float      pseudo-count, added to every count

`clustering.one_hot_labels` makes Z of the numbers of the classes. A row may be multiplied by the
weight of its sample. A sample of weight 2 counts twice in all sums.

A learnt density is an object with a method ``score_samples(X)`` that gives ln p(x_i), such as a
`NormalDensity`, a `NaiveDensity` or a `density.KernelDensity`.

Notes: REP "Generative Approch to Classification"; PRNN 1; MLN "Bayes Classifier", "Optimality".
REP writes P_j(x) for our p(x | k), PRNN p_{x/y=i}.
"""

import warnings
from dataclasses import dataclass
from math import inf, log, pi
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    DataConversionWarning,
    LinearClassifier,
    LogProbabilisticClassifier,
    bits,
    by_rows,
    check_number,
    floats,
    shared,
)
from mlnotes.clustering import one_hot_labels
from mlnotes.decision_theory import (
    bayes_classify,
    check_possible,
    chosen_prior,
    labelled_samples,
    log_joint,
    log_posterior,
    log_prior,
)
from mlnotes.numerics import symmetric
from mlnotes.probability import Normal, multivariate_normal_log_density

# =======================================================================================
# The lecture
# =======================================================================================

# --- One class at a time ---------------------------------------------------------------


class GenerativeModel(NamedTuple):
    """Priors and distributions of K classes."""

    classes: np.ndarray  # (K,), their labels, sorted
    prior: np.ndarray  # (K,)
    densities: list  # one for each class


def learn_classes(X, y, fit_density):
    """A `GenerativeModel`: pi_k = n_k / n, and p(x | k) from the samples of class k alone.

    `fit_density` takes the samples of one class to their density: `fit_normal`, `fit_naive`, or
    ``lambda X_k: KernelDensity(bandwidth=h).fit(X_k)``.

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0], [11.0]]), np.array([4, 4, 6, 6, 6])
    >>> learn_classes(X, y, fit_normal)[:2]  # classes and prior
    (array([4, 6]), array([0.4, 0.6]))
    """
    classes, n_k = np.unique(y, return_counts=True)
    densities = [fit_density(X[y == c]) for c in classes]
    return GenerativeModel(classes, n_k / len(X), densities)


class NormalDensity(Normal):
    """N(mean, covariance), with the method of a learnt density."""

    def score_samples(self, X):
        """ln N(x_i; mean, covariance): (n,)."""
        return multivariate_normal_log_density(X, self.mean, self.covariance)


def fit_normal(X):
    """The `NormalDensity` of greatest likelihood for the samples X (n, d) of one class:

        mu = 1/n sum_i x_i,    Sigma = 1/n sum_i (x_i - mu) (x_i - mu)^T

    If the samples lie in a hyperplane, Sigma is singular: there is no density.

    >>> fit_normal(np.array([[0.0], [4.0]])).covariance
    array([[4.]])
    """
    X = floats(X)
    mu = X.mean(axis=0)
    return NormalDensity(mu, (X - mu).T @ (X - mu) / len(X))


def log_densities(X, model):
    """ln p(x_i | k) of a `GenerativeModel` `model`, a column for each class: (n, K).

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> log_densities(np.array([[1.0]]), learn_classes(X, y, fit_normal)).round(4)
    array([[ -0.9189, -25.4189]])
    """
    return np.array([density.score_samples(X) for density in model.densities]).T


def log_joint_density(X, model):
    """ln Pr(x_i, k) = ln pi_k + ln p(x_i | k) of a `GenerativeModel` `model`: (n, K).

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> log_joint_density(np.array([[4.5]]), learn_classes(X, y, fit_normal)).round(4)  # halfway
    array([[-7.7371, -7.7371]])
    """
    return log_joint(log_densities(X, model), model.prior)


def map_classify(X, model):
    """Labels (n,) by Bayes' rule: the y with the largest pi_y p(x | y), for a learnt `model`.

    >>> X, y = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([4, 4, 6, 6])
    >>> map_classify(np.array([[4.0], [5.0]]), learn_classes(X, y, fit_normal))
    array([4, 6])

    Errata: generative-03 (REP describes the largest p(x | y) in words, and then uses this rule).
    """
    return model.classes[bayes_classify(log_densities(X, model), model.prior)]


# --- Two features ----------------------------------------------------------------------


def bivariate_normal_density(X, mu, Sigma):
    """p(x) = exp(-1/2 (x - mu)^T Sigma^{-1} (x - mu)) / (2 pi |Sigma|^{1/2}) for d = 2: (n,).

    >>> bivariate_normal_density(np.zeros((1, 2)), np.zeros(2), np.diag([1.0, 4.0])).round(6)
    array([0.079577])

    Errata: generative-05 (REP prints x_1 - mu_1 for both coordinates of x - mu, and no transpose).
    """
    X, mu = floats(X, mu)
    (s_11, s_12), (_, s_22) = symmetric(Sigma, "Sigma")
    determinant = s_11 * s_22 - s_12**2
    u_1, u_2 = (X - mu).T
    form = (s_22 * u_1**2 - 2 * s_12 * u_1 * u_2 + s_11 * u_2**2) / determinant
    return np.exp(-form / 2) / (2 * pi * np.sqrt(determinant))


def ellipse(mu, Sigma, radius, t):
    """The points mu + R U Lambda^{1/2} (cos t, sin t) with Sigma = U Lambda U^T, t (m,): (m, 2).

    There (x - mu)^T Sigma^{-1} (x - mu) = R^2, R = `radius`. Half-axes are R sqrt(lambda_j) u_j.

    >>> abs(ellipse(np.zeros(2), np.diag([1.0, 9.0]), 2.0, np.array([0.0])))
    array([[2., 0.]])
    """
    lengths, U = np.linalg.eigh(symmetric(Sigma, "Sigma"))
    half_axes = np.sqrt(np.maximum(lengths, 0)) * U  # rounding may leave less than 0
    return mu + radius * np.column_stack([np.cos(t), np.sin(t)]) @ half_axes.T


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


# --- Normal classes --------------------------------------------------------------------


def share_covariance(model):
    """The `GenerativeModel` of linear discriminant analysis (LDA): one covariance for all classes,

        Sigma = sum_k pi_k Sigma_k = 1/n sum_k n_k Sigma_k

    This is maximum likelihood. The `model` learnt by `fit_normal`, with a covariance for each
    class, is that of quadratic discriminant analysis (QDA).

    >>> X, y = np.array([[0.0], [2.0], [5.0], [11.0]]), np.array([0, 0, 1, 1])
    >>> share_covariance(learn_classes(X, y, fit_normal)).densities[0].covariance
    array([[5.]])
    """
    means, covariances = zip(*model.densities, strict=True)
    Sigma = np.tensordot(*floats(model.prior, covariances), 1)
    return model._replace(densities=[NormalDensity(mu, Sigma) for mu in means])


def shrunken_covariance(Sigma, r):
    """(1 - r) Sigma + r I: positive definite for 0 < r <= 1, even if it is learnt from few samples.

    It depends on the units: features with very different variances should be standardised first.

    >>> shrunken_covariance(np.array([[8.0, 8.0], [8.0, 8.0]]), r=0.25).tolist()
    [[6.25, 6.0], [6.0, 6.25]]
    """
    return (1 - r) * Sigma + r * np.eye(len(Sigma))


def linear_scores(means, Sigma, prior):
    """W (K, d) and b (K,): W x + b is ln Pr(x, k) up to terms without k, if Sigma is shared:

        w_k = Sigma^{-1} mu_k,    b_k = ln pi_k - mu_k^T Sigma^{-1} mu_k / 2

    The term -x^T Sigma^{-1} x / 2 is the same for all classes.

    >>> W, b = linear_scores(np.array([[0.0], [4.0]]), np.array([[4.0]]), np.array([0.5, 0.5]))
    >>> (W[1] - W[0]).tolist(), float(b[1] - b[0])  # the sign changes at x = 2
    ([1.0], -2.0)
    """
    means, L = floats(means), np.linalg.cholesky(symmetric(Sigma, "Sigma"))  # Sigma = L L^T
    W = np.linalg.solve(L.T, np.linalg.solve(L, means.T)).T
    return W, log_prior(prior) - np.sum(W * means, axis=1) / 2


# --- Naive Bayes -----------------------------------------------------------------------


class NaiveDensity(NamedTuple):
    """The distribution of d independent features."""

    factors: Any  # d densities of single features, samples (n, 1)

    def score_samples(self, X):
        """sum_j ln p(x_ij): (n,)."""
        return sum(density.score_samples(X[:, [j]]) for j, density in enumerate(self.factors))


def fit_naive(X, fit_factor=fit_normal):
    """The `NaiveDensity` prod_j p(x_j | k) for the samples X of one class: a density per feature.

    With it `map_classify` is naive Bayes, argmax_k ln pi_k + sum_j ln p(x_j | k). `fit_factor`
    takes one column (n_k, 1) to its density. Over all classes the features may be dependent.

    >>> density = fit_naive(np.array([[0.0, 5.0], [2.0, 9.0]]))
    >>> [(float(factor.mean[0]), float(factor.covariance[0, 0])) for factor in density.factors]
    [(1.0, 1.0), (7.0, 4.0)]

    Errata: generative-11 (PRNN calls the features independent "of each other").
    """
    return NaiveDensity(tuple(fit_factor(X[:, [j]]) for j in range(X.shape[1])))


def naive_moments(X, Z):
    """Means (K, d) and variances (K, d) of all features in all classes, with a_ik = z_ik / n_k:

        mu_kj = sum_i a_ik x_ij,    v_kj = sum_i a_ik (x_ij - mu_kj)^2

    >>> X, Z = np.array([[0.0], [2.0], [7.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> [moment.tolist() for moment in naive_moments(X, Z)]
    [[[1.0], [7.0]], [[1.0], [0.0]]]
    """
    A = (Z / Z.sum(axis=0)).T
    means = A @ X
    variances = [a @ (X - mu) ** 2 for a, mu in zip(A, means, strict=True)]
    return means, np.array(variances)


def naive_normal_log_density(X, means, variances):
    """ln p(x_i | k) = -1/2 sum_j (ln(2 pi v_kj) + (x_ij - mu_kj)^2 / v_kj), naive Bayes: (n, K).

    >>> naive_normal_log_density(np.array([[3.0]]), [[1.0], [3.0]], np.ones((2, 1))).round(4)
    array([[-2.9189, -0.9189]])
    """
    X, means, variances = floats(X, means, variances)
    log_p = []
    for mu, v in zip(means, variances, strict=True):  # one class after the other
        log_p.append(-0.5 * (np.log(2 * pi * v).sum() + (X - mu) ** 2 @ (1 / v)))
    return np.array(log_p).T


# --- Discrete features -----------------------------------------------------------------


def category_counts(x, Z, m):
    """n_kc, the samples of class k whose feature x (n,) is in category c = 0, ..., m - 1: (K, m).

    >>> category_counts(np.array([0, 2, 2]), np.array([[1, 0], [1, 0], [0, 1]]), m=3).tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    return np.array([np.bincount(x, z, minlength=m) for z in Z.T])


def binary_counts(X, Z):
    """The samples of class k in which feature j is 0, and in which it is 1: (K, d, 2).

    >>> binary_counts(np.array([[1.0, 0.0], [1.0, 1.0]]), Z=np.array([[1.0], [1.0]])).tolist()
    [[[0.0, 2.0], [1.0, 1.0]]]
    """
    X = bits(X)
    return np.stack([Z.T @ (1 - X), Z.T @ X], axis=-1)


def smoothed_log_frequencies(counts, alpha=1.0):
    """ln p_kc, p_kc = (n_kc + alpha) / (n_k + alpha m), with n_k = sum_c n_kc over the last axis.

    alpha = 0 is maximum likelihood: a category that was not seen in class k has ln 0 = -inf there,
    and excludes the class.

    >>> np.exp(smoothed_log_frequencies(np.array([3.0, 0.0, 1.0]), alpha=2.0)).round(12)
    array([0.5, 0.2, 0.3])
    """
    counts = floats(counts)
    n_k, m = counts.sum(axis=-1, keepdims=True), counts.shape[-1]
    p = (counts + alpha) / (n_k + alpha * m)
    return np.where(p > 0, np.log(p + (p == 0)), -np.inf)  # ln 0 = -inf


def categorical_log_density(X, log_p):
    """ln p(x_i | k) = sum_j ln p_j(x_ij | k), from a table `log_p[j]` (K, m_j) a feature: (n, K).

    X holds categories, integers.

    >>> log_p = [np.log([[0.5, 0.5], [0.2, 0.8]]), np.log([[0.5, 0.5], [1.0, 1.0]])]
    >>> np.exp(categorical_log_density(np.array([[1, 0]]), log_p))
    array([[0.25, 0.8 ]])
    """
    total = np.zeros((len(log_p[0]), len(X)))
    for x, table in zip(X.T, log_p, strict=True):
        total += table[:, x]
    return total.T


def binary_log_density(X, log_on, log_off):
    """ln p(x_i | k) = sum_j (ln p_kj if x_ij = 1, ln(1 - p_kj) if x_ij = 0): (n, K).

    `log_on` (K, d) are the ln p_kj and `log_off` (K, d) the ln(1 - p_kj).

    >>> np.exp(binary_log_density(np.array([[1.0]]), np.log([[0.25]]), np.log([[0.75]])))
    array([[0.25]])
    """
    X, classes = bits(X), zip(log_on, log_off, strict=True)
    return np.array([np.where(X == 1, on, off).sum(axis=1) for on, off in classes]).T


# =======================================================================================
# The estimators
# =======================================================================================


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


# --- Classifiers of normal classes -----------------------------------------------------


def _check_full_rank(mu, Sigma, whose):
    """Refuse a Sigma that is singular when every feature is divided by its standard deviation."""
    sd = np.sqrt(np.diag(Sigma))
    flat = (sd <= ROUNDING * np.abs(mu)).any()
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
        """The normal classes of the samples, their covariances shrunken, and the chosen priors."""
        r = self.reg_param
        if not (isinstance(r, Real) and 0 <= r <= 1):
            raise ValueError(f"reg_param must be a number between 0 and 1; got {r!r}")
        samples, classes, k, _ = labelled_samples(X, y)
        model = learn_classes(samples, k, fit_normal)
        laws = [NormalDensity(mu, shrunken_covariance(S, r)) for mu, S in model.densities]
        return GenerativeModel(classes, model.prior, laws), chosen_prior(self.priors, model.prior)


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticDiscriminantAnalysis(_NormalClassifier):
    """Normal classes, each with its own covariance: boundaries are conics.

    As scikit-learn's with its solver "svd" (covariances are divided by n_k), but without its
    `tol`: here a covariance that is singular up to rounding is an error.

    Parameters
    ----------
    priors : array of shape (K,) or None; None for the shares of the classes in y
    reg_param : float; between 0 and 1, the r of `shrunken_covariance`, which depends on the units

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariance_ : ndarray of shape (K, d, d); shrunken
    n_features_in_ : int

    >>> X, y = [[-3], [-1], [1], [3], [-9], [9]], ["in", "in", "in", "in", "out", "out"]
    >>> QuadraticDiscriminantAnalysis().fit(X, y).predict([[-20], [0], [20]])
    array(['out', 'in', 'out'], dtype='<U3')
    """

    def fit(self, X, y):
        """Learn the classes of samples X (n, d) with labels y (n,); return self."""
        model, prior = self._learn(X, y)
        for c, (mu, Sigma) in zip(model.classes, model.densities, strict=True):
            _check_full_rank(mu, Sigma, f"class {c}")
        self._model = model._replace(prior=prior)
        self.classes_, self.priors_ = model.classes, prior
        self.means_, self.covariance_ = map(np.array, zip(*model.densities, strict=True))
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
    reg_param : float; between 0 and 1, the r of `shrunken_covariance`, which depends on the units

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariance_ : ndarray of shape (d, d); sum_k n_k Sigma_k / n, shrunken
    coef_ : ndarray of shape (K, d), or (1, d) for two classes; the w_k of `linear_scores`
    intercept_ : ndarray of shape (K,), or (1,); the b_k
    n_features_in_ : int

    >>> X, y = [[0.0], [2.0], [4.0], [6.0]], ["low", "low", "high", "high"]
    >>> SharedCovarianceClassifier().fit(X, y).predict([[2.9], [3.1]])
    array(['low', 'high'], dtype='<U4')
    """

    def fit(self, X, y):
        """Learn the classes of samples X (n, d) with labels y (n,); return self."""
        model, prior = self._learn(X, y)
        model = share_covariance(model)
        means, Sigma = np.array([mu for mu, _ in model.densities]), model.densities[0].covariance
        _check_full_rank(np.abs(means).max(axis=0), Sigma, "the classes")
        center = prior @ means  # from it the means are small, and their squares do not cancel
        W, b = linear_scores(means - center, Sigma, prior)
        b = b - W @ center
        if len(prior) == 2:
            W, b = W[1:] - W[:1], b[1:] - b[:1]
        self._model = model._replace(prior=prior)
        self.classes_, self.priors_, self.means_ = model.classes, prior, means
        self.covariance_, self.coef_, self.intercept_ = Sigma, W, b
        return self._remember(X)

    def _scores(self, X):
        """The linear scores: far from all classes the squares of the joint would cancel."""
        F = X @ self.coef_.T + self.intercept_
        return np.minimum(np.hstack([-F, F]), 0) if len(self.classes_) == 2 else F


# --- Classifiers of naive Bayes --------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(_GenerativeClassifier):
    """Naive Bayes with a normal distribution for every feature in every class.

    Parameters
    ----------
    priors : array of shape (K,) or None; None for the shares of the classes in y
    var_smoothing : float; this times the largest variance of a feature is added to every variance,
        which drowns features of far smaller variance: standardise them, or give 0

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
        Z = w[:, None] * one_hot_labels(k, len(classes))
        n_k, (means, variances) = Z.sum(axis=0), naive_moments(samples, Z)
        prior = chosen_prior(self.priors, n_k / n_k.sum())
        epsilon = share * naive_moments(samples, w[:, None])[1].max()  # all samples as one class
        variances += epsilon
        _check_varied(classes, means, variances)
        self.classes_, self.class_count_, self.class_prior_ = classes, n_k, prior
        self.theta_, self.var_, self.epsilon_ = means, variances, epsilon
        return self._remember(X)

    def _log_joint(self, X):
        log_p = by_rows(naive_normal_log_density)(X, self.theta_, self.var_)
        return log_joint(log_p, self.class_prior_)


def _check_varied(classes, means, variances):
    """Refuse features that are constant in a class after smoothing."""
    flat = np.sqrt(variances) <= ROUNDING * np.abs(means)
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
    class_prior: Any = None

    def _learn(self, X, y, sample_weight):
        """The samples, their labels as rows Z, the classes, ln pi_k and alpha, all checked."""
        alpha = check_number("alpha", self.alpha, at_least=0, below=inf)
        samples, classes, k, w = labelled_samples(X, y, sample_weight)
        Z = w[:, None] * one_hot_labels(k, len(classes))
        prior = chosen_prior(self.class_prior, Z.sum(axis=0) / Z.sum(), "class_prior")
        return samples, Z, classes, log_prior(prior), alpha

    def __sklearn_tags__(self):
        """Tags of a classifier that does badly on amounts cut to categories."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalNB(_DiscreteNB):
    """Naive Bayes with a table of smoothed frequencies for every feature in every class.

    Features are categories 0, 1, 2, ...: number words by ``np.unique(x, return_inverse=True)[1]``.
    Fractions are cut to integers, as in scikit-learn, but with a warning. A category that `fit` has
    neither seen nor been told of is an error: in cross-validation set min_categories to
    ``X.max(axis=0) + 1`` of all samples.

    Parameters
    ----------
    alpha : float; added to every count. With 0, a category never seen in a class excludes it
    class_prior : array of shape (K,) or None; None for the shares of the classes in y
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
        samples, Z, classes, log_pi, alpha = self._learn(X, y, sample_weight)
        codes = _categories(samples)
        n_categories = self._n_categories(codes)
        counts = [category_counts(x, Z, m) for x, m in zip(codes.T, n_categories, strict=True)]
        self.classes_, self.class_count_, self.class_log_prior_ = classes, Z.sum(axis=0), log_pi
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
        codes = _categories(X)
        unknown = codes >= self.n_categories_
        if unknown.any():
            i, j = np.argwhere(unknown)[0]
            raise ValueError(
                f"feature {j} must be in a category 0, ..., {self.n_categories_[j] - 1}; got "
                f"{codes[i, j]} (min_categories makes room for categories that fit does not see)"
            )
        return categorical_log_density(codes, self.feature_log_prob_) + self.class_log_prior_

    def __sklearn_tags__(self):
        """Tags of a classifier that takes categories only."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.positive_only = True
        return tags


MOST_CATEGORIES = 1e9  # larger numbers are not categories, and a table of them does not fit


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
    class_prior : array of shape (K,) or None; None for the shares of the classes in y
    binarize : float; a feature above it is on

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

    binarize: float = 0.0

    def fit(self, X, y, sample_weight=None):
        """Learn the classes of samples X (n, d), labels y (n,) and their weights; return self."""
        at = check_number("binarize", self.binarize)
        samples, Z, classes, log_pi, alpha = self._learn(X, y, sample_weight)
        counts = binary_counts(samples > at, Z)
        log_p = smoothed_log_frequencies(counts, alpha)
        self.classes_, self.class_count_, self.class_log_prior_ = classes, Z.sum(axis=0), log_pi
        self._at, self.feature_count_ = at, counts[..., 1]
        self._log_off, self.feature_log_prob_ = log_p[..., 0], log_p[..., 1]
        return self._remember(X)

    def _log_joint(self, X):
        log_p = by_rows(binary_log_density)(X > self._at, self.feature_log_prob_, self._log_off)
        return log_p + self.class_log_prior_
