"""Kernel principal component analysis: PCA of features that are known by inner products only.

PCA finds a flat subspace near the samples. Kernel PCA finds one near their features phi(x), which
may be a curve in the space of inputs, such as a ring. The axes come from the eigenvectors of the
centred Gram matrix.

Contents
    In feature space        feature_covariance, expansion
    Through inner products  eigenpairs, coefficients, kernel_scores, dual_pca_scores
    Centring                centring_matrix
    The algorithm           kernel_pca, KernelComponents, nearly_definite, new_scores
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
    W      (n, d)    coefficients of the way back, x^ = mean x + sum_j k(z, z_j) w_j
    alpha  float     penalty of the regression that finds W

Notes: MLN "Kernel PCA"; IRHD 7; ISML "Feature Extraction" names it. MLN has M for our D, and a_ij
for the coefficient of sample j in axis i, our a_ji. IRHD stores samples in columns: its V is our
B, its Sigma diag(sqrt(mu)), its S our Z^T, its U the axes, its kappa k, its p our d, its k our q.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    BLOCK,
    ROUNDING,
    NotFittedError,
    Transformer,
    check_flag,
    check_number,
    check_samples,
    floats,
    row_blocks,
    shared,
)
from mlnotes.kernels import (
    centre_gram,
    centre_new,
    is_definite,
    kernel_ridge,
    make_kernel,
    psd_certificate,
)
from mlnotes.numerics import kernel_product, leading_eigenpairs, symmetric
from mlnotes.pca import signed
from mlnotes.svm import about_mean

# =======================================================================================
# The lecture
# =======================================================================================

# --- In feature space ------------------------------------------------------------------


def feature_covariance(Phi):
    """C = 1/n sum_i phi(x_i) phi(x_i)^T = 1/n Phi^T Phi, (D, D), for sum_i phi(x_i) = 0.

    >>> feature_covariance(np.array([[1.0, 2.0], [-1.0, -2.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]

    Errata: kernel_pca-03 (MLN prints C without the sum: a matrix of rank 1).
    """
    Phi = floats(Phi)
    return Phi.T @ Phi / len(Phi)


def expansion(Phi, v, lam):
    """a_j = phi(x_j)^T v / (n lam), (n,): with C v = lam v and lam > 0, v = sum_j a_j phi(x_j).

    >>> expansion(np.array([[2.0, 0.0], [-2.0, 0.0]]), v=np.array([1.0, 0.0]), lam=4.0)
    array([ 0.25, -0.25])

    Errata: kernel_pca-05 (MLN expands all D eigenvectors, also those with lam = 0).
    """
    Phi, v = floats(Phi, v)
    return Phi @ v / (len(Phi) * lam)


# --- Through inner products ------------------------------------------------------------


def eigenpairs(K, q=None):
    """The q largest mu (q,), largest first, and B (n, q) with K b_i = mu_i b_i, for a symmetric K.

    Without q they are all n. Each b_i has the length 1, and its largest entry is positive.

    If K is the Gram matrix of centred features, the variances are lam_i = mu_i / n.

    >>> mu, B = eigenpairs(np.array([[2.0, -2.0], [-2.0, 2.0]]))
    >>> mu.round(9) + 0.0, B[:, 0].round(6)
    (array([4., 0.]), array([ 0.707107, -0.707107]))

    Errata: kernel_pca-19 (IRHD has mu >= 0 because K is PSD; it is K_c that must be), kernel_pca-20
    (a symmetric k with k(x, x) >= 0 need not be a kernel).
    """
    mu, B = leading_eigenpairs(symmetric(K), len(K) if q is None else q)
    return mu, signed(B)


def coefficients(mu, B):
    """a_i = b_i / sqrt(mu_i), A (n, q): the axes v_i = sum_j a_ji phi(x_j) get the length 1.

    For mu_i = 0 there is no axis: a_i = 0.

    >>> coefficients(np.array([4.0]), np.array([[0.6], [0.8]])).tolist()
    [[0.3], [0.4]]
    """
    mu, B = floats(mu, B)
    return B / np.sqrt(np.where(mu > 0, mu, np.inf))  # column by column


def kernel_scores(K_new, A):
    """phi(x)^T v_i = sum_j a_ji k(x, x_j): the scores of any points x, without phi, (m, q).

    It does not centre: centred axes need a centred `K_new`, as in `new_scores`.

    >>> kernel_scores(np.array([[1.0, 2.0]]), np.array([[0.5], [0.25]]))
    array([[1.]])
    """
    K_new, A = floats(K_new, A)
    return K_new @ A


def dual_pca_scores(K, K_new, q):
    """V_q^T x = S_q^{-1} U_q^T [x_1^T x, ..., x_n^T x]: PCA by inner products alone, (m, q).

    X = U S V^T is centred, and K = X X^T = U S^2 U^T. `K_new` (m, n) holds the x_j^T x. q is at
    most the rank of K.

    >>> X = np.array([[3.0, 4.0], [-3.0, -4.0]])
    >>> dual_pca_scores(X @ X.T, np.array([[6.0, 8.0]]) @ X.T, 1).round(9)
    array([[10.]])

    Errata: kernel_pca-11 (IRHD calls U S^2 U^T "the" eigendecomposition; it is not unique).
    """
    return kernel_scores(K_new, coefficients(*eigenpairs(K, q)))


# --- Centring --------------------------------------------------------------------------


def centring_matrix(n):
    """H = I - 1 1^T / n, symmetric, with H H = H and H 1 = 0: H X has the rows x_i - mean, (n, n).

    H K H is the Gram matrix of the phi(x_i) - mean phi; `kernels.centre_gram` computes it without a
    matrix product. Centring the inputs does not centre the features.

    >>> centring_matrix(2).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    return np.eye(n) - 1 / n


# --- The algorithm ---------------------------------------------------------------------


class KernelComponents(NamedTuple):
    """The axes in feature space, given by eigenpairs of K_c, and the scores of the samples."""

    mu: np.ndarray  # (q,), eigenvalues of K_c
    B: np.ndarray  # (n, q), their eigenvectors
    Z: np.ndarray  # (n, q), scores


def kernel_pca(K, q=None):
    """Kernel PCA in six steps, the first and the last of which are the caller's:

        1. K_jl = k(x_j, x_l)    2. K_c = H K H    3. K_c = B diag(mu) B^T, largest mu first
        4. the first q    5. Z = B_q diag(mu_1, ..., mu_q)^{1/2}    6. `new_scores` of new points

    The variance lost is sum_{i > q} mu_i / n. An eigenvalue that is 0 up to rounding of K becomes
    0: there is no axis, and the scores are 0. Returns: `KernelComponents`, for all mu > 0 if q is
    not given. Raises: ValueError if K_c has a negative eigenvalue; then there are no features.

    >>> axes = kernel_pca(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]))
    >>> axes.mu.round(9), axes.Z.round(9).ravel() + 0.0
    (array([2.]), array([ 1.,  0., -1.]))
    """
    size = np.abs(K).max() or 1.0
    K_c = centre_gram(symmetric(K))  # step 2: H K H
    mu, B = eigenpairs(nearly_definite(K_c, 1e-6 * size), q)  # steps 3, 4: the first q
    mu = np.where(mu > ROUNDING * max(mu[0], size), mu, 0.0)
    if q is None:
        mu, B = mu[mu > 0], B[:, mu > 0]
    Z = B * np.sqrt(mu)  # step 5: sqrt(mu_i) b_i
    return KernelComponents(mu, B, Z)


def nearly_definite(K_c, error):
    """The centred K_c (n, n) itself, if K_c + error I is positive definite.

    A millionth of the largest entry of K as `error` is more than single precision explains.

    Raises: ValueError if it is not: no features have these inner products.

    >>> nearly_definite(np.array([[1.0, -2.0], [-2.0, 1.0]]), error=1e-6)
    Traceback (most recent call last):
    ValueError: the centred K must have no negative eigenvalue; got -1
    """
    if not is_definite(K_c + error * np.eye(len(K_c))):
        smallest = psd_certificate(K_c).smallest
        raise ValueError(f"the centred K must have no negative eigenvalue; got {smallest:.3g}")
    return K_c


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
    return kernel_scores(K_new, coefficients(mu, B))


# =======================================================================================
# The estimators
# =======================================================================================


def _precomputed(K, X=None):
    """The k(x, z) that the caller has computed: K as it is."""
    return K


@dataclass(eq=False, repr=False)
class KernelPCA(Transformer):
    """Kernel PCA: q uncorrelated features of the samples, linear in feature space.

    Names and results are scikit-learn's, signs included. The differences: kernels are those of
    `kernels.make_kernel`, without "cosine"; a function k(X, Z) returns the whole matrix; a centred
    Gram matrix with a negative eigenvalue is refused, and so are samples that are all the same; the
    way back is a regression of x - mean. The eigenvectors are always those of `eigenpairs`.

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

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (q,); mu, of the centred Gram matrix, largest first
    eigenvectors_ : ndarray of shape (n, q); B, of length 1, the largest entry of each positive
    gamma_ : float; gamma of the kernel, 1 / d if it has none
    X_fit_ : ndarray of shape (n, d); the samples
    kernel_means_ : ndarray of shape (n,); 1/n sum_p k(x_j, x_p), which centres new points
    X_transformed_fit_ : ndarray of shape (n, q); the scores Z of the samples
    dual_coef_ : ndarray of shape (n, d) or None; W of the way back, (K + alpha I) W = X - mean by
        `kernels.kernel_ridge` with the Gram matrix K of the scores, if it was learnt
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

    def fit(self, X, y=None):
        """Find the axes of samples X (n, d), or of a Gram matrix; y is not used. Return self."""
        samples, q, alpha = check_samples(X), self.n_components, self._penalty()
        if q is not None:
            check_number("n_components", q, at_least=1, integer=True)
        self._kernel = self._make_kernel(samples)
        self.gamma_ = getattr(self._kernel, "gamma", 1 / samples.shape[1])
        A, self._mean = about_mean(samples, self._kernel)
        K = self._gram_matrix(X, A)
        mu, B, Z = kernel_pca(K, q)
        if not mu.any():
            raise ValueError(f"X must have samples that vary; got n_samples = {len(samples)}")
        self.eigenvalues_, self.eigenvectors_, self.X_transformed_fit_ = mu, B, Z
        self.kernel_means_, self.X_fit_ = K.mean(axis=0), samples.copy()
        self.dual_coef_, self._centre = None, samples.mean(axis=0)
        if alpha is not None:
            self.dual_coef_ = kernel_ridge(self._kernel(Z), samples - self._centre, alpha)
        return self._remember(X)

    def _penalty(self):
        """The penalty of the way back, None if it is not to be learnt."""
        alpha = check_number("alpha", self.alpha, at_least=0, below=np.inf)
        back = check_flag("fit_inverse_transform", self.fit_inverse_transform)
        if back and self._is_precomputed():
            raise ValueError("fit_inverse_transform must be False with kernel='precomputed'")
        return alpha if back else None

    def _is_precomputed(self):
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _make_kernel(self, X):
        if self._is_precomputed():
            return _precomputed
        return make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)

    def _gram_matrix(self, X, samples):
        """K of the `samples`; one from outside may have the rounding of single precision."""
        if not self._is_precomputed():
            return self._kernel(samples)
        K, n = np.asarray(X), len(samples)
        if K.shape != (n, n):
            raise ValueError(f"K must be {(n, n)}, of all pairs; got {K.shape}")
        return (symmetric(K) + K.T) / 2

    def fit_transform(self, X, y=None):
        """Fit to X and return its scores Z = B diag(mu)^{1/2}; y is not used."""
        return self.fit(X).X_transformed_fit_

    def transform(self, X):
        """The scores of new points, see `new_scores`: (m, q)."""
        X, mu, B = self._check_fitted(X) - self._mean, self.eigenvalues_, self.eigenvectors_
        blocks = row_blocks(len(X), 64 * BLOCK // len(B))  # of bounded memory
        samples, means = self.X_fit_ - self._mean, self.kernel_means_
        parts = [new_scores(self._kernel(X[rows], samples), means, mu, B) for rows in blocks]
        return np.concatenate(parts)

    def inverse_transform(self, X):
        """The points x^ = mean x + sum_j k(z, z_j) w_j for scores z, the rows of X (m, q): (m, d).

        Raises: NotFittedError unless `fit_inverse_transform` was True in `fit`.
        """
        self._require_fit()
        if self.dual_coef_ is None:
            raise shared(NotFittedError)(
                "inverse_transform needs fit_inverse_transform=True in fit"
            )
        Z, q = check_samples(X), len(self.eigenvalues_)
        if Z.shape[1] != q:
            raise ValueError(f"X must have {q} components; got {Z.shape[1]}")
        back = kernel_product(self._kernel, Z, self.X_transformed_fit_, self.dual_coef_)
        return back + self._centre

    def __sklearn_tags__(self):
        """Tags of a transformer, of pairs if the kernel is precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
