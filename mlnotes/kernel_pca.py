"""Kernel principal component analysis: PCA of features that are known by inner products only.

PCA finds a flat subspace near the samples. Kernel PCA finds one near their features phi(x), which
may be a curve in the space of inputs, such as a ring. The axes come from the eigenvectors of the
centred Gram matrix.

Contents
    In feature space        feature_covariance, expansion
    Through inner products  eigenpairs, first_eigenpairs, coefficients, project, linear_scores
    Centring                centring_matrix
    The algorithm           kernel_pca, KernelComponents, new_scores
    And back                pre_image_coefficients
    Estimators              KernelPCA

Symbols
    X      (n, d)    samples x, one per row
    phi              feature map; Phi (n, D) the features of the samples, one sample per row
    C      (D, D)    covariance of features of mean 0, C v = lam v; D may be infinite
    v      (D,)      an axis, v_i = sum_j a_ji phi(x_j)
    K      (n, n)    Gram matrix, K_ij = k(x_i, x_j); K_new (m, n) the k(x, x_j) of new points x
    H      (n, n)    centring matrix, I - 1 1^T / n; K_c = H K H is the centred Gram matrix
    q      int       how many components are kept
    mu     (q,)      eigenvalues of K_c, largest first: lam = mu / n is the variance along v
    B      (n, q)    their eigenvectors b_i, of length 1, in columns
    A      (n, q)    coefficients a_i = b_i / sqrt(mu_i) of the axes, in columns
    Z      (n, q)    scores z_ji = (phi(x_j) - mean phi)^T v_i
    W      (n, d)    coefficients of the way back, x^ = sum_j k(z, z_j) w_j
    alpha  float     penalty of the regression that finds W
    noise  float     rounding error of an eigenvalue: smaller ones count as 0
    rng    Generator source of random numbers

Notes: MLN "Kernel PCA"; IRHD 7; ISML "Feature Extraction" names it. MLN has M for our D, and a_ij
for the coefficient of sample j in axis i, our a_ji. IRHD stores samples in columns: its V is our
B, its Sigma diag(sqrt(mu)), its S our Z^T, its U the axes, its kappa k, its p our d, its k our q.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    NotFittedError,
    Transformer,
    check_choice,
    check_flag,
    check_number,
    check_random_state,
    check_samples,
    row_blocks,
    shared,
)
from mlnotes.kernels import (
    AllSubsets,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    centre_gram,
    centre_new,
    make_kernel,
)
from mlnotes.numerics import cholesky_solve, leading_eigenpairs, positive_cholesky, symmetric
from mlnotes.pca import signed

EPS = float(np.finfo(float).eps)
ROUND_OFF = 1e-12  # an eigenvalue below this share of the largest counts as 0
NEGATIVE = 1e-6  # one below minus this share is negative, even if K is in single precision
BLOCK = 2**22  # entries of k(x, x_j) that a projection holds at a time
MANY = 200  # samples from which on "auto" finds the first components only
FEW = 10  # ... if there are this many times as many samples as components


# ---------------------------------------------------------------------------------------
# In feature space
# ---------------------------------------------------------------------------------------


def feature_covariance(Phi):
    """C = 1/n sum_i phi(x_i) phi(x_i)^T = 1/n Phi^T Phi, (D, D), for sum_i phi(x_i) = 0.

    >>> feature_covariance(np.array([[1.0, 2.0], [-1.0, -2.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]

    Errata: kernel_pca-03 (MLN prints C without the sum: a matrix of rank 1).
    """
    Phi = np.asarray(Phi, dtype=float)  # no integers
    return Phi.T @ Phi / len(Phi)


def expansion(Phi, v, lam):
    """a_j = phi(x_j)^T v / (n lam): with C v = lam v and lam > 0, v = sum_j a_j phi(x_j).

    Returns: (n,). Raises: ValueError unless lam > 0.

    >>> expansion(np.array([[2.0, 0.0], [-2.0, 0.0]]), v=np.array([1.0, 0.0]), lam=4.0)
    array([ 0.25, -0.25])

    Errata: kernel_pca-05 (MLN expands all D eigenvectors, also those with lam = 0).
    """
    check_number("lam", lam, above=0)
    return Phi @ v / (len(Phi) * lam)


# ---------------------------------------------------------------------------------------
# Through inner products
# ---------------------------------------------------------------------------------------


def eigenpairs(K, noise=0.0):
    """K b_i = mu_i b_i, the eigenvectors of the Gram matrix of centred features.

    Eigenvalues within rounding of 0, or below `noise`, become 0. Variances are lam_i = mu_i / n.

    Returns: mu (n,), largest first, and B (n, n).
    Raises: ValueError if K is not finite and symmetric or has a negative eigenvalue.

    >>> mu, B = eigenpairs(np.array([[2.0, -2.0], [-2.0, 2.0]]))
    >>> mu, B[:, 0].round(6)
    (array([4., 0.]), array([ 0.707107, -0.707107]))

    Errata: kernel_pca-19 (IRHD has mu >= 0 because K is PSD; it is K_c that must be), kernel_pca-20
    (a symmetric k with k(x, x) >= 0 need not be a kernel).
    """
    mu, B = np.linalg.eigh(symmetric(K))
    mu, B = mu[::-1], B[:, ::-1]  # largest first
    return _without_rounding(mu, noise), signed(B)


def first_eigenpairs(K, noise=0.0, *, q, tol=0.0, rng):
    """The first q of the `eigenpairs`, without the others, by the block Lanczos method.

    It runs `numerics.leading_eigenpairs`; `tol` bounds the residual ||K b - mu b|| / ||K||.

    Returns: mu (q,), largest first, and B (n, q).
    Raises: ValueError as for `eigenpairs`, if the method meets a negative eigenvalue.

    >>> mu, B = first_eigenpairs(np.diag([3.0, 1.0, 2.0]), q=2, rng=np.random.default_rng(0))
    >>> mu.round(9)
    array([3., 2.])
    """
    mu, B, _ = leading_eigenpairs(symmetric(K), q, tol=tol, rng=rng)
    return _without_rounding(mu, noise)[:q], signed(B)


def _without_rounding(mu, noise):
    """Eigenvalues, largest first, with 0 for those that are rounding errors; none is negative."""
    largest = np.abs(mu).max()
    if mu[-1] < -max(NEGATIVE * largest, noise):
        raise ValueError(
            f"the centred K must have no negative eigenvalue; got {mu[-1]:.3g}, the largest in "
            f"size is {largest:.3g}: there are no features with these inner products"
        )
    return np.where(mu > max(ROUND_OFF * largest, noise), mu, 0.0)


def coefficients(mu, B):
    """a_i = b_i / sqrt(mu_i): the axes v_i = sum_j a_ji phi(x_j) get the length 1.

    Returns: A (n, q). Raises: ValueError unless all mu > 0.

    >>> coefficients(np.array([4.0]), np.array([[0.6], [0.8]])).tolist()
    [[0.3], [0.4]]
    """
    _check_positive(mu)
    return B / np.sqrt(mu)  # column by column


def _check_positive(mu):
    if not np.all(mu > 0):
        raise ValueError(f"mu must be > 0, there is no axis where it is 0; got {np.min(mu):g}")


def project(K_new, A):
    """phi(x)^T v_i = sum_j a_ji k(x, x_j): the scores of any points x, without phi, (m, q).

    It does not centre: centred axes need a centred `K_new`, as in `new_scores`.

    >>> project(np.array([[1.0, 2.0]]), np.array([[0.5], [0.25]]))
    array([[1.]])
    """
    return K_new @ A


def linear_scores(K, K_new, q):
    """V_q^T x = S_q^{-1} U_q^T [x_1^T x, ..., x_n^T x]: linear PCA by inner products alone.

    X = U S V^T is centred, and K = X X^T = U S^2 U^T. `K_new` (m, n) holds the x_j^T x.

    Returns: (m, q). Raises: ValueError if q is not between 1 and the rank of K.

    >>> X = np.array([[3.0, 4.0], [-3.0, -4.0]])
    >>> linear_scores(X @ X.T, np.array([[6.0, 8.0]]) @ X.T, 1).round(9)
    array([[10.]])

    Errata: kernel_pca-11 (IRHD calls U S^2 U^T "the" eigendecomposition; it is not unique).
    """
    mu, B = eigenpairs(K)
    _check_count(q, np.count_nonzero(mu), "the rank of K")
    return project(K_new, coefficients(mu[:q], B[:, :q]))


def _check_count(q, most, name):
    if not 1 <= q <= most:
        raise ValueError(f"q must be between 1 and {name}, {most}; got {q}")


# ---------------------------------------------------------------------------------------
# Centring
# ---------------------------------------------------------------------------------------


def centring_matrix(n):
    """H = I - 1 1^T / n, symmetric, with H H = H and H 1 = 0: H X has the rows x_i - mean.

    H K H is the Gram matrix of the phi(x_i) - mean phi; `kernels.centre_gram` computes it without a
    matrix product. Centring the inputs does not centre the features.

    >>> centring_matrix(2).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    return np.eye(n) - 1 / n


# ---------------------------------------------------------------------------------------
# The algorithm
# ---------------------------------------------------------------------------------------


class KernelComponents(NamedTuple):
    """The axes in feature space, given by eigenpairs of K_c, and the scores of the samples."""

    mu: np.ndarray  # (q,), eigenvalues of K_c
    B: np.ndarray  # (n, q), their eigenvectors
    Z: np.ndarray  # (n, q), scores


def kernel_pca(K, q=None, solver=eigenpairs):
    """Kernel PCA in six steps, the first and the last of which are the caller's:

        1. K_jl = k(x_j, x_l)    2. K_c = H K H    3. K_c = B diag(mu) B^T, largest mu first
        4. the first q    5. Z = B_q diag(mu_1, ..., mu_q)^{1/2}    6. `new_scores` of new points

    The variance lost is sum_{i > q} mu_i / n. Where mu_i = 0 there is no axis, and the scores are
    0. `solver` is `eigenpairs`, or a function solver(K_c, noise) that returns the first q at least.

    Returns: `KernelComponents`, for all mu > 0 if q is not given.
    Raises: ValueError if K is not finite and symmetric, if K_c has a negative eigenvalue or is 0,
    or if q is not between 1 and n.

    >>> found = kernel_pca(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]))
    >>> found.mu.round(9), found.Z.round(9).ravel() + 0.0
    (array([2.]), array([ 1.,  0., -1.]))
    """
    K_c = centre_gram(centre_gram(symmetric(K)))  # step 2: H K H; again, for rounding
    mu, B = solver(K_c, _rounding(K))  # step 3: the largest mu first
    q = _check_wanted(q, mu, len(K))  # all with mu > 0, if q is None
    mu, B = mu[:q], B[:, :q]  # step 4: the first q
    Z = B * np.sqrt(mu)  # step 5: sqrt(mu_i) b_i
    return KernelComponents(mu, B, Z)


def _rounding(K):
    """The rounding errors of K that centring leaves in the eigenvalues."""
    return len(K) * EPS * max(K.max(), -K.min())


def _check_wanted(q, mu, n):
    """The number of components that is wanted: q, or all with mu > 0."""
    if mu[0] == 0:
        raise ValueError("K must vary: every sample has the same features, to the digits of K")
    q = np.count_nonzero(mu) if q is None else q
    _check_count(q, n, "n")
    return q


def new_scores(K_new, K, mu, B):
    """z = diag(mu)^{-1/2} B^T k_c with k_c = H (k_new - 1/n K 1): the scores of new points, (m, q).

    `K_new` (m, n) holds the k(x, x_j), not centred. For K its row means 1/n K 1 (n,) are enough.

    >>> X, x = np.array([[1.0], [2.0], [3.0]]), np.array([[7.0]])
    >>> mu, B, _ = kernel_pca(X @ X.T)
    >>> new_scores(x @ X.T, X @ X.T, mu, B).round(9)  # the axis of x points to the left
    array([[-5.]])

    Errata: kernel_pca-17 (MLN projects the uncentred k_new).
    """
    K_new = centre_new(K_new, K)  # the mean of the samples
    return project(K_new, coefficients(mu, B))


# ---------------------------------------------------------------------------------------
# And back
# ---------------------------------------------------------------------------------------


def pre_image_coefficients(K, X, alpha):
    """The W (n, d) that minimises ||K W - X||^2 + alpha tr(W^T K W): (K + alpha I) W = X.

    It is kernel ridge regression of the samples X on their scores Z, with the Gram matrix K of the
    scores. For a score z the estimate is x^ = k(z, Z) W.

    Raises: ValueError if K + alpha I is not positive definite.

    >>> pre_image_coefficients(np.array([[3.0]]), np.array([[8.0]]), alpha=1.0)
    array([[2.]])
    """
    L = _root(K + alpha * np.eye(len(K)), alpha)  # L L^T
    return cholesky_solve(L, X)  # the W with L L^T W = X


def _root(M, alpha):
    """The lower triangular L with L L^T = M, if M is positive definite."""
    L = positive_cholesky(M)
    if L is None:
        raise ValueError(f"alpha must make K + alpha I positive definite; got {alpha!r}: raise it")
    return L


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


PSD = (Linear, Polynomial, AllSubsets, Gaussian, Laplacian, Exponential)  # kernels for certain


def _precomputed(K, X=None):
    """The k(x, z) that the caller has computed: K as it is."""
    return K


@dataclass(eq=False, repr=False)
class KernelPCA(Transformer):
    """Kernel PCA: q uncorrelated features of the samples, linear in feature space.

    Names and results are scikit-learn's, signs included. The differences: kernels are those of
    `kernels.make_kernel`, without "cosine"; a function k(X, Z) returns the whole matrix; a centred
    Gram matrix with a negative eigenvalue is refused, and so are samples that are all the same. In
    the place of ARPACK there is "lanczos", without `max_iter`.

    Parameters
    ----------
    n_components : int or None; None for all whose eigenvalue is not 0. Components beyond the rank
        have scores 0; there are at most n
    kernel : str, `kernels.Kernel` or function k(X, Z); see `kernels.make_kernel`. With
        "precomputed" `fit` takes K (n, n) in the place of X, and `transform` the k(x, x_j) (m, n)
    gamma : float, None, "auto" or "scale"; parameter of the kernel, None and "auto" for 1 / d
    degree : int; degree of the polynomial kernel, 1 or more
    coef0 : float; constant of the polynomial kernel, 0 or more, and of the sigmoid
    alpha : float; penalty of the ridge regression that learns the way back
    fit_inverse_transform : bool; whether to learn the way back, for `inverse_transform`
    eigen_solver : "auto", "dense" or "lanczos"; `eigenpairs` or `first_eigenpairs`. "auto" is
        "lanczos" for more than 200 samples, if they are 10 times as many as the components and the
        kernel cannot have a negative eigenvalue, which only "dense" is certain to see
    tol : float; for "lanczos", the residual ||K b - mu b|| / ||K|| at which it stops; it stops at n
        times the machine epsilon in any case
    remove_zero_eig : bool; whether to leave out components whose eigenvalue is 0
    random_state : None, int or Generator; for the first directions of "lanczos"

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (q,); mu, of the centred Gram matrix, largest first
    eigenvectors_ : ndarray of shape (n, q); B, of length 1, the largest entry of each positive
    gamma_ : float; gamma of the kernel, 1 / d if it has none
    X_fit_ : ndarray of shape (n, d); the samples
    kernel_means_ : ndarray of shape (n,); 1/n sum_p k(x_j, x_p), which centres new points
    dual_coef_ : ndarray of shape (n, d); the coefficients of the way back, if it was learnt
    X_transformed_fit_ : ndarray of shape (n, q); the scores, if the way back was learnt
    n_features_in_ : int

    >>> model = KernelPCA(kernel=lambda X, Z: X**2 @ (Z**2).T).fit([[-1.0], [1.0], [2.0]])
    >>> model.transform([[-1.0], [2.0], [3.0]]).round(9).ravel()  # phi(x) = x^2, of mean 2
    array([-1.,  2.,  7.])
    """

    n_components: int | None = None
    _: KW_ONLY
    kernel: str | Callable = "linear"
    gamma: float | str | None = None
    degree: int = 3
    coef0: float = 1
    alpha: float = 1.0
    fit_inverse_transform: bool = False
    eigen_solver: str = "auto"
    tol: float = 0
    remove_zero_eig: bool = False
    random_state: int | np.random.Generator | None = None

    def fit(self, X, y=None):
        """Find the axes of samples X (n, d), or of a Gram matrix; y is not used. Return self."""
        self._check_parameters()
        samples = check_samples(X)
        n, d = samples.shape
        if n < 2:
            raise ValueError(f"X must have 2 samples at least, for a variance; got n_samples = {n}")
        parameters = self.gamma, self.degree, self.coef0
        given = self._precomputed()
        self._kernel = _precomputed if given else make_kernel(self.kernel, *parameters, samples)
        self.gamma_ = getattr(self._kernel, "gamma", 1 / d)
        K = self._gram_matrix(X, samples)
        q = None if self.n_components is None else min(n, self.n_components)
        mu, B, Z = kernel_pca(K, q, self._solver(n, q))
        kept = np.count_nonzero(mu) if self.remove_zero_eig else len(mu)
        self.eigenvalues_, self.eigenvectors_ = mu[:kept], B[:, :kept]
        self.kernel_means_ = K.mean(axis=0)
        self.X_fit_ = samples.copy()
        self._learn_back(Z[:, :kept])
        return self._remember(X)

    def _check_parameters(self):
        check_number("alpha", self.alpha, at_least=0, below=np.inf)
        check_number("tol", self.tol, at_least=0, below=np.inf)
        if self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, integer=True)
        check_choice("eigen_solver", self.eigen_solver, ("auto", "dense", "lanczos"))
        check_flag("remove_zero_eig", self.remove_zero_eig)
        if check_flag("fit_inverse_transform", self.fit_inverse_transform) and self._precomputed():
            raise ValueError("fit_inverse_transform must be False with kernel='precomputed'")

    def _precomputed(self):
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _gram_matrix(self, X, samples):
        """K of the samples; one from outside may be symmetric up to rounding only."""
        if isinstance(self._kernel, PSD):
            return self._kernel(samples)
        K, n = np.asarray(X) if self._precomputed() else self._kernel(samples), len(samples)
        if np.shape(K) != (n, n):
            raise ValueError(f"K must be {(n, n)}, of all pairs; got {np.shape(K)}")
        K = symmetric(K)
        return (K + K.T) / 2

    def _solver(self, n, q):
        """All eigenpairs, or the first q alone."""
        rng = check_random_state(self.random_state)
        psd = isinstance(self._kernel, PSD)
        auto = "lanczos" if q is not None and n > max(MANY, FEW * q) and psd else "dense"
        solver = auto if self.eigen_solver == "auto" else self.eigen_solver
        if solver == "dense":
            return eigenpairs
        return partial(first_eigenpairs, q=n if q is None else q, tol=self.tol, rng=rng)

    def _learn_back(self, Z):
        """Regression of the samples on their scores Z, if it is wanted."""
        for name in ("dual_coef_", "X_transformed_fit_"):
            vars(self).pop(name, None)
        if self.fit_inverse_transform:
            self.dual_coef_ = pre_image_coefficients(self._kernel(Z), self.X_fit_, self.alpha)
            self.X_transformed_fit_ = Z

    def fit_transform(self, X, y=None):
        """Fit to X and return its scores Z = B diag(mu)^{1/2}; y is not used."""
        self.fit(X)
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def transform(self, X):
        """The scores of new points, see `new_scores`: (m, q)."""
        X = self._check_fitted(X)
        r, q = np.count_nonzero(self.eigenvalues_), len(self.eigenvalues_)
        mu, B, Z = self.eigenvalues_[:r], self.eigenvectors_[:, :r], np.zeros((len(X), q))
        for rows in row_blocks(len(X), BLOCK // len(B)):
            K_new = self._kernel(X[rows], self.X_fit_)
            Z[rows, :r] = new_scores(K_new, self.kernel_means_, mu, B)
        return Z

    def inverse_transform(self, X):
        """Points whose features are near those with the scores X (m, q): (m, d).

        Raises: NotFittedError unless `fit_inverse_transform` was True in `fit`.
        """
        self._require_fit()
        if not hasattr(self, "dual_coef_"):
            raise shared(NotFittedError)(
                "inverse_transform needs fit_inverse_transform=True in fit"
            )
        Z, q = check_samples(X), len(self.eigenvalues_)
        if Z.shape[1] != q:
            raise ValueError(f"X must have {q} components; got {Z.shape[1]}")
        known, W = self.X_transformed_fit_, self.dual_coef_
        blocks = row_blocks(len(Z), BLOCK // len(W))
        return np.concatenate([project(self._kernel(Z[rows], known), W) for rows in blocks])

    def __sklearn_tags__(self):
        """Tags of a transformer, of pairs if the kernel is precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed()
        return tags
