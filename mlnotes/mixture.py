"""Mixtures: densities with a hidden choice in them, and EM, the algorithm that estimates both.

Each sample is from one of K components, but which one is hidden. EM replaces this choice by its
expectation, estimates again, and so on. The likelihood of the observed samples never falls.

Contents
    The mixture      gaussians, Gaussians, mixture_density, generate, mixture_moments
    The likelihood   mixture_log_likelihood, complete_log_likelihood
    E-step           e_step, assignment_entropy
    M-step           maximise, lift_eigenvalues
    EM               em, EMState
    Estimators       GaussianMixture

Symbols
    X            (n, d)     samples x, one per row
    weights      (K,)       pi: pi_k >= 0, sum_k pi_k = 1
    components              the K densities p_k, as `Gaussians`; theta = (weights, components)
    means        (K, d)     mu_k
    covariances  (K, d, d)  Sigma_k; or (K, d), the variances of diagonal ones
    floor        float      c, the smallest eigenvalue that the M-step gives to a Sigma_k
    Z            (n, K)     which component each sample is from: one-hot rows z
    R            (n, K)     responsibilities, r_ik = P(z_ik = 1 | x_i); their rows sum to 1
    n_k          (K,)       sum_i r_ik: the samples of component k, counted in fractions
    rng          Generator  source of random numbers

Notes: MLN "Mixture density Estimate and EM algorithm"; REP "Clustering with mixtures of Gaussian";
ISML "Clustering" 4. MLN writes lambda_k for our pi_k and phi(x|theta_j) for p_k; REP has P_j for
p_k and w_ij for r_ik.
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    DensityEstimator,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    distribution,
    floats,
    iterate,
)
from mlnotes.clustering import kmeans_plus_plus, lloyd, nearest
from mlnotes.decision_theory import log_evidence, log_joint
from mlnotes.numerics import symmetric
from mlnotes.probability import log_sum_exp, multivariate_normal_log_density

# =======================================================================================
# The lecture
# =======================================================================================

# --- The mixture -----------------------------------------------------------------------


class Gaussians(NamedTuple):
    """The K normal densities N(mu_k, Sigma_k), made by `gaussians`."""

    means: np.ndarray  # (K, d)
    covariances: np.ndarray  # (K, d, d), or (K, d)

    @property
    def matrices(self):
        """The covariances Sigma_k as matrices, diagonal ones too: (K, d, d)."""
        return np.array([np.diag(S) if S.ndim == 1 else S for S in floats(self.covariances)])

    def log_density(self, X):
        """The log-densities ln N(x_i | mu_k, Sigma_k): (n, K)."""
        pairs = list(zip(*floats(*self), strict=True))
        if self.covariances.ndim == 3:
            return np.array([multivariate_normal_log_density(X, mu, S) for mu, S in pairs]).T
        logs = [np.log(2 * pi * v).sum() + (X - mu) ** 2 @ (1 / v) for mu, v in pairs]
        return -0.5 * np.array(logs).T


def gaussians(means, covariances):
    """The components N(mu_k, Sigma_k) of a mixture, as `Gaussians`.

    `covariances` may also be (K,), if all features of a component have the same variance.

    >>> gaussians([[0.0, 0.0], [5.0, 0.0]], [4.0, 1.0]).covariances
    array([[4., 4.],
           [1., 1.]])
    """
    means, covariances = floats(means, covariances)
    if covariances.ndim == 1:
        covariances = np.repeat(covariances[:, None], means.shape[1], axis=1)
    return Gaussians(means, covariances)


def mixture_density(X, weights, components):
    """The density p(x_i) = sum_k pi_k p_k(x_i), with pi_k >= 0 and sum_k pi_k = 1: (n,).

    >>> components = gaussians([[0.0], [0.0]], np.array([1, 4]) / (2 * np.pi))  # heights 1, 1/2
    >>> mixture_density(np.array([[0.0]]), np.array([0.5, 0.5]), components).round(12)
    array([0.75])
    """
    return np.exp(log_evidence(components.log_density(X), weights))


def generate(n, weights, components, *, rng):
    """Draws of z with P(z_k = 1) = pi_k, and then of x from p_k: X (n, d) and one-hot Z (n, K).

    For one-hot z, P(z) = prod_k pi_k^{z_k} and p(x|z) = prod_k p_k(x)^{z_k}. The x alone have the
    mixture density.

    >>> X, Z = generate(5, [0.0, 1.0], gaussians([[0], [99]], [1, 1]), rng=np.random.default_rng(0))
    >>> Z.sum(axis=0), bool((abs(X - 99) < 10).all())
    (array([0., 5.]), True)

    Errata: mixture-03 (ISML prints P(z) = sum_k pi_k, which is 1 for every z), mixture-04 (ISML
    prints p(x|z) = sum_k p_k(x), which does not depend on z and integrates to K).
    """
    k = rng.choice(len(weights), size=n, p=weights)  # the hidden choices
    X = rng.standard_normal((n, components.means.shape[1]))
    for j, Sigma in enumerate(components.matrices):
        C = np.linalg.cholesky(Sigma)  # Sigma_j = C C^T; C times a standard normal vector
        X[k == j] = components.means[j] + X[k == j] @ C.T
    return X, np.eye(len(weights))[k]


def mixture_moments(weights, components):
    """The mean E[x] = sum_k pi_k mu_k (d,) and the covariance (d, d) of a mixture:

        Var[x] = sum_k pi_k Sigma_k + sum_k pi_k (mu_k - E[x]) (mu_k - E[x])^T

    >>> mixture_moments(np.array([0.5, 0.5]), gaussians([[-1.0], [1.0]], [1.0, 1.0]))
    (array([0.]), array([[2.]]))
    """
    weights, means = distribution(weights, "weights"), floats(components.means)
    mean = weights @ means
    D = means - mean
    return mean, np.tensordot(weights, components.matrices, axes=1) + (weights * D.T) @ D


# --- The likelihood --------------------------------------------------------------------


def mixture_log_likelihood(X, weights, components):
    """The log-likelihood l(theta) = ln prod_i p(x_i) = sum_i ln sum_k pi_k p_k(x_i).

    With free covariances l has no maximum. A floor under the eigenvalues of Sigma_k gives it one.

    >>> components = gaussians([[0.0]], [1 / (2 * np.pi)])  # of height 1
    >>> X, weights = np.array([[0.0], [1.0]]), np.array([1.0])
    >>> round(float(mixture_log_likelihood(X, weights, components)) / np.pi, 12)
    -1.0

    Errata: mixture-06 (REP minimises "L = sum_i ln {...}" without the minus sign), mixture-08 (REP
    says that the global minimum of -l is NP-hard to find; there is none).
    """
    return np.sum(log_evidence(components.log_density(X), weights))


def complete_log_likelihood(X, Z, weights, components):
    """The log-likelihood l_c(theta) = ln prod_i p(x_i, z_i) = sum_ik z_ik (ln pi_k + ln p_k(x_i)).

    The responsibilities R of theta_old in place of Z give the expected one, E[l_c(theta) | X] =
    Q(theta, theta_old). A term with z_ik = 0 is 0, also for pi_k = 0.

    >>> X, Z = np.array([[0.0], [9.0]]), np.array([[1, 0], [0, 1]])
    >>> components = gaussians([[0.0], [9.0]], [1 / (2 * np.pi)] * 2)  # of height 1
    >>> float(np.exp(complete_log_likelihood(X, Z, [0.25, 0.75], components)).round(12))
    0.1875
    """
    joint = log_joint(components.log_density(X), weights)  # ln pi_k p_k(x_i)
    return np.sum(Z * np.where(Z > 0, joint, 0))


# --- E-step ----------------------------------------------------------------------------


def e_step(X, weights, components):
    """The responsibilities r_ik = pi_k p_k(x_i) / sum_j pi_j p_j(x_i) (n, K), and ln p(x_i) (n,).

    By Bayes' rule r_ik = P(z_ik = 1 | x_i) = E[z_ik | x_i]. Far from all components the densities
    are 0 in floating point: each is divided by the largest of its row first.

    >>> components = gaussians([[0.0], [2.0]], [1 / (2 * np.pi)] * 2)  # of height 1
    >>> R, log_p = e_step(np.array([[1.0]]), np.array([0.25, 0.75]), components)
    >>> R.round(12), log_p.round(12) / np.pi
    (array([[0.25, 0.75]]), array([-1.]))

    Errata: mixture-11 (REP leaves pi_j out of the denominator, so that rows do not sum to 1),
    mixture-12 (ISML 4.1 calls r_ik a likelihood, and writes E(z_ik), which is pi_k).
    """
    joint = log_joint(components.log_density(X), weights)  # ln pi_k p_k(x_i)
    a = np.exp(joint - joint.max(axis=1, keepdims=True))
    return a / a.sum(axis=1, keepdims=True), log_sum_exp(joint)


def assignment_entropy(R):
    """The entropy H(R) = -sum_ik r_ik ln r_ik of the assignment, where 0 ln 0 = 0.

    With the responsibilities R of theta, l(theta) = Q(theta, theta) + H(R).

    >>> bool(assignment_entropy(np.array([[1.0, 0.0], [0.5, 0.5]])) == np.log(2))
    True
    """
    R = floats(R)
    return -np.sum(R * np.log(np.where(R > 0, R, 1)))


# --- M-step ----------------------------------------------------------------------------


def maximise(X, R, components, floor=0.0):
    """The weights (K,) and normal components that maximise Q = sum_ik r_ik (ln pi_k + ln p_k(x_i)):

        pi_k = n_k / n,    mu_k = sum_i s_i x_i,    Sigma_k = sum_i s_i (x_i - mu_k) (x_i - mu_k)^T

    with s_i = r_ik / n_k, the new mu_k, and eigenvalues of Sigma_k lifted to the `floor`. One of
    the old `components` whose n_k is 0 stays as it was.

    >>> X, R = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> weights, new = maximise(X, R, gaussians([[0], [0]], [1, 1]), floor=0.25)
    >>> weights.round(3), new.means.ravel(), new.covariances.ravel()
    (array([0.667, 0.333]), array([1., 9.]), array([1.  , 0.25]))
    """
    X, R = floats(X, R)
    means, covariances = (old.copy() for old in floats(*components))
    diagonal = covariances.ndim == 2
    n_k = R.sum(axis=0)  # the samples of each component, counted in fractions
    for k in np.flatnonzero(n_k):
        share = R[:, k] / n_k[k]  # of each sample in component k; their sum is 1
        means[k] = share @ X
        D = X - means[k]
        S = share @ D**2 if diagonal else (share * D.T) @ D
        covariances[k] = lift_eigenvalues(S, floor)
    return n_k / len(X), Gaussians(means, covariances)


def lift_eigenvalues(S, floor):
    """The most likely Sigma with eigenvalues >= c, the `floor`, for samples of covariance S (d, d):

        S = sum_j s_j v_j v_j^T,    Sigma = sum_j max(s_j, c) v_j v_j^T

    The variances (d,) of a diagonal S are its eigenvalues.

    >>> lift_eigenvalues(np.array([[2.0, 2.0], [2.0, 2.0]]), floor=1.0).round(12)
    array([[2.5, 1.5],
           [1.5, 2.5]])
    """
    if S.ndim == 1:
        return np.maximum(S, floor)
    values, V = np.linalg.eigh(symmetric(S, "S"))
    return (V * np.maximum(values, floor)) @ V.T


# --- EM --------------------------------------------------------------------------------


class EMState(NamedTuple):
    """A mixture, after a step of EM."""

    weights: np.ndarray  # (K,)
    components: Any  # of their family
    responsibilities: np.ndarray  # R (n, K) of these weights and components
    objective: float  # their mean log-likelihood, l / n
    gain: float  # its rise in the last step, >= 0 except for rounding; inf at the start


def em(X, weights, components, update=maximise):
    """EM: the E-step and the M-step (`update`), in turns; l never falls (mixture-16).

    Where EM ends depends on the start, and need not be the largest l. Components that are all equal
    stay equal (mixture-07). Another family has a ``log_density(X)`` and an `update` of its own.

    Yields: the start, then an `EMState` per step, without end.

    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> states = em(X, np.array([0.5, 0.5]), gaussians([[0.0], [10.0]], [1.0, 1.0]))
    >>> _, state = next(states), next(states)
    >>> state.components.means.ravel().round(6), state.components.covariances.ravel().round(6)
    (array([0.5, 9.5]), array([0.25, 0.25]))
    """
    before = -np.inf
    while True:
        R, log_p = e_step(X, weights, components)  # E-step
        objective = log_p.mean()  # l / n
        yield EMState(weights, components, R, objective, objective - before)
        weights, components = update(X, R, components)  # M-step
        before = objective


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False)
class GaussianMixture(DensityEstimator):
    """Gaussian mixture fitted by EM, from the clusters of k-means.

    In scikit-learn, `reg_covar` is added to the diagonal of every covariance. Here it is a lower
    bound of their eigenvalues (`lift_eigenvalues`), so that the likelihood never falls.

    Parameters
    ----------
    n_components : int; K
    covariance_type : "full" or "diag"
    tol : float; stops when a step raises the mean log-likelihood by this or less
    reg_covar : float > 0; lower bound of the eigenvalues of every covariance. The variances of a
        feature are also at least 1e-12 times the square of its range
    max_iter : int; largest number of EM steps of a run
    n_init : int; number of runs; the run of highest likelihood is kept, the first of equal ones
    init_params : "kmeans" or "random_from_data"; the first responsibilities are the clusters of
        k-means, or each sample belongs to the nearest of K samples drawn at random
    random_state : int, Generator or None; of the start, and of `sample`

    Attributes
    ----------
    weights_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
    covariances_ : ndarray of shape (K, d, d), or (K, d) for "diag"
    precisions_ : ndarray; their inverses
    precisions_cholesky_ : ndarray; upper triangular U with precision U U^T
    history_ : ndarray of shape (n_iter_ + 1,); mean log-likelihood at the start and after each step
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
    random_state: Any = None

    def fit(self, X, y=None):
        """Fit to samples X (n, d); y is not used. Return self."""
        given, X = X, check_samples(X)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        n_init = check_number("n_init", self.n_init, at_least=1, integer=True)
        rng = check_random_state(self.random_state)
        m, unit = X.mean(axis=0), self._unit(X)
        X = np.asfortranarray((X - m) / unit)  # long columns are faster
        starts = [self._start(X, unit, rng) for _ in range(n_init)]
        update = partial(maximise, floor=1.0)
        runs = [iterate(em(X, *start, update), "gain", tol, max_iter) for start in starts]
        best = max(run.history[-1] for run in runs)
        least = best - ROUNDING * abs(best)
        run = next(run for run in runs if run.history[-1] >= least)  # of equals the first
        self._keep(run.state, m, unit)
        run = run._replace(history=run.history - np.log(unit).sum())
        self._record(run, "gain", tol)
        self.lower_bound_ = float(run.history[-1])
        return self._remember(given)

    def _unit(self, X):
        """The smallest width of a component in every feature: in this unit the floor is 1."""
        reg_covar = check_number("reg_covar", self.reg_covar, above=0, below=np.inf)
        return np.sqrt(np.maximum(reg_covar, ROUNDING * np.ptp(X, axis=0) ** 2))

    def _start(self, X, unit, rng):
        """The first weights and components, for centred samples X measured in `unit`."""
        (n, d), plain = X.shape, X * unit
        K = check_number("n_components", self.n_components, at_least=1, integer=True)
        if n < K:
            raise ValueError(f"n_components must be <= the number of samples {n}; got {K}")
        full = check_choice("covariance_type", self.covariance_type, ("full", "diag")) == "full"
        check_choice("init_params", self.init_params, ("kmeans", "random_from_data"))
        if self.init_params == "kmeans":
            centers = kmeans_plus_plus(plain, K, rng, trials=2 + int(np.log(K)))  # as in KMeans
            tol = 1e-4 * plain.var(axis=0).mean()
            labels = iterate(lloyd(plain, centers), "moved", tol, max_iter=300).state.labels
        else:
            labels, _ = nearest(plain, plain[rng.choice(n, K, replace=False)])
        ones = np.tile(np.eye(d), (K, 1, 1)) if full else np.ones((K, d))
        return maximise(X, np.eye(K)[labels], gaussians(np.zeros((K, d)), ones), floor=1.0)

    def _keep(self, state, m, unit):
        """The fitted attributes of an `EMState` of samples measured from m in `unit`."""
        means, covariances = state.components
        squares = np.outer(unit, unit) if covariances.ndim == 3 else unit**2
        self.weights_, self.means_ = state.weights, m + unit * means
        self.covariances_ = covariances * squares

    @property
    def precisions_(self):
        """The inverses of the covariances: (K, d, d), or (K, d) for "diag"."""
        S = self.covariances_
        return np.linalg.inv(S) if S.ndim == 3 else 1 / S

    @property
    def precisions_cholesky_(self):
        """U upper triangular with Sigma_k^{-1} = U U^T: (K, d, d), or its diagonals (K, d)."""
        S = self.covariances_
        return np.linalg.inv(np.linalg.cholesky(S)).mT if S.ndim == 3 else 1 / np.sqrt(S)

    def fit_predict(self, X, y=None):
        """Fit to X and return the most responsible component of each sample; y is not used."""
        return self.fit(X).predict(X)

    def predict(self, X):
        """The most responsible component argmax_k r_ik: (n,)."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        """The responsibilities r_ik: (n, K)."""
        return e_step(self._check_fitted(X), *self._theta())[0]

    def score_samples(self, X):
        """The log-density ln p(x_i): (n,)."""
        return e_step(self._check_fitted(X), *self._theta())[1]

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
        X, Z = generate(n, *self._theta(), rng=check_random_state(self.random_state))
        return X, Z.argmax(axis=1)

    def _theta(self):
        """The fitted weights and components."""
        return self.weights_, gaussians(self.means_, self.covariances_)

    def _n_parameters(self):
        """The free parameters: K - 1 weights (their sum is 1), means, symmetric covariances."""
        K, d = self.means_.shape
        return K - 1 + K * d + K * (d * (d + 1) // 2 if self.covariances_.ndim == 3 else d)
