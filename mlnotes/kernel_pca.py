"""Kernel principal component analysis: PCA of features that are known by their inner products.

PCA finds what lies near a flat subspace of the inputs. Map them by phi first, and it finds what
is flat in feature space and curved in the plane: rings, arcs. Nothing of phi is needed but the
Gram matrix. Centre that, take its top eigenvectors, divide by the roots of the eigenvalues: these
are the coefficients of the axes, and they project new points as well.

Contents
    In feature space        feature_covariance, expansion
    Through inner products  eigenpairs, coefficients, project, linear_scores
    Centring                centring_matrix
    The algorithm           kernel_pca, KernelComponents, new_scores
    Only the first few      leading_eigenpairs, EigenState
    And back                pre_image_coefficients
    Estimators              KernelPCA

Symbols
    X      (n, d)    samples x, one per row
    phi              feature map; Phi (n, D) the features of the samples, one sample per row
    C      (D, D)    covariance of features of mean 0, C v = lam v; D may be infinite
    v      (D,)      an axis, v_i = sum_j a_ji phi(x_j)
    K      (n, n)    Gram matrix, K_ij = k(x_i, x_j); K_new (m, n) the k(x, x_j) of new points x
    H      (n, n)    centring matrix, I - 1 1^T / n; H K H is the centred Gram matrix
    mu     (k,)      eigenvalues of H K H, largest first: lam = mu / n is the variance along v
    B      (n, k)    their eigenvectors b_i, of length 1, in columns
    A      (n, k)    coefficients a_i = b_i / sqrt(mu_i) of the axes, in columns
    Z      (n, k)    scores z_ij = (phi(x_i) - mean phi)^T v_j
    k      int       how many components, where it is not the kernel
    rng    Generator source of random numbers

Notes: MLN "Kernel PCA"; IRHD 7; ISML "Feature Extraction" names it. MLN has M for our D, and a_ij
for the coefficient of sample j in axis i, our a_ji. IRHD stores samples in columns: its V is our
B, its Sigma diag(sqrt(mu)), its S our Z^T, its U the axes, its kappa k, its p our d.
"""

from itertools import count
from math import isfinite, sqrt
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
    iterate,
    row_blocks,
    shared,
)
from mlnotes.kernels import NAMES, centre, centre_new, check_kernel, gram
from mlnotes.pca import signed

__all__ = [
    "feature_covariance", "expansion", "eigenpairs", "coefficients", "project", "linear_scores",
    "centring_matrix", "KernelComponents", "kernel_pca", "new_scores", "EigenState",
    "leading_eigenpairs", "pre_image_coefficients", "KernelPCA",
]  # fmt: skip

EPS = float(np.finfo(float).eps)
ROUND_OFF = 1e-12  # an eigenvalue that is this share of the largest is 0
NEGATIVE = 1e-6  # one below minus this share is no rounding error, of single precision even
CANCELLED = 1e3  # entries of K so many times those of H K H leave much of their rounding errors
ROWS = 64  # of a Gram matrix that are worked on at a time: they stay in the cache
BLOCK = 2**22  # entries of k(x, x_j) that a projection holds at a time
SPARE = 3  # directions searched beyond those asked for
WIDTH = 30  # blocks of directions that are kept before a restart
TURNS = 9  # at most, to make a block orthogonal to the basis; two do, and four of a block of 0
LOOK = 4  # steps between two looks at the eigenpairs
MANY = 200  # samples from which the whole decomposition is a waste, if the components are few
FEW = 10  # times as many samples as components are wanted for that


# ---------------------------------------------------------------------------------------
# In feature space
# ---------------------------------------------------------------------------------------


def feature_covariance(Phi):
    """C = 1/n sum_i phi(x_i) phi(x_i)^T = 1/n Phi^T Phi, for features with sum_i phi(x_i) = 0.

    k(x, z) = phi(x)^T phi(z), so that Phi Phi^T = K is as large as the samples are many, and C as
    the features are, or infinite. MLN prints C without the sum: a matrix of rank 1 (kernel_pca-03).

    >>> feature_covariance(np.array([[1.0, 2.0], [-1.0, -2.0]]))
    array([[1., 2.],
           [2., 4.]])

    Claims: kernel_pca-02
    """
    Phi = np.asarray(Phi, dtype=float)  # products of small integers would wrap
    return Phi.T @ Phi / len(Phi)


def expansion(Phi, v, lam):
    """a_j = phi(x_j)^T v / (n lam): with C v = lam v and lam > 0, v = sum_j a_j phi(x_j).

    For v = C v / lam = 1/(n lam) sum_j phi(x_j) (phi(x_j)^T v). MLN says so of all eigenvectors,
    i = 1, ..., D: of those with lam = 0 it is false, they are orthogonal to every phi(x_j). At
    most min(n, D) have lam > 0, and of centred features at most n - 1 (kernel_pca-05).

    Returns: (n,). Raises: ValueError unless lam > 0.

    >>> expansion(np.array([[2.0, 0.0], [-2.0, 0.0]]), v=np.array([1.0, 0.0]), lam=4.0)
    array([ 0.25, -0.25])
    """
    check_number("lam", lam, above=0)
    return Phi @ v / (len(Phi) * lam)


# ---------------------------------------------------------------------------------------
# Through inner products
# ---------------------------------------------------------------------------------------


def eigenpairs(K, scale=0.0):
    """K b_i = mu_i b_i: put v = sum_j a_j phi(x_j) in C v = lam v, multiply by phi(x_l)^T,

        sum_j k(x_l, x_j) sum_p a_p k(x_j, x_p) = n lam sum_p a_p k(x_l, x_p),

    that is K^2 a = n lam K a, with the matrix product K K. Every a with K a = n lam a solves it;
    other solutions differ by null vectors of K, which change no v. So lam = mu / n. K must be that
    of centred features. Eigenvalues within rounding errors of 0 are 0; `scale` is the largest entry
    of a matrix of which K is a difference, whose rounding errors it carries.

    IRHD has mu >= 0 because K is PSD: that of H K H follows, z^T H K H z = (H z)^T K (H z), but not
    the other way round (kernel_pca-19). A symmetric k with k(x, x) >= 0 is not enough for either
    (kernel_pca-20).

    Returns: mu (n,), largest first, and B (n, n).
    Raises: ValueError if K is not finite and symmetric or has a negative eigenvalue.

    >>> mu, B = eigenpairs(np.array([[2.0, -2.0], [-2.0, 2.0]]))
    >>> mu, B[:, 0].round(6)
    (array([4., 0.]), array([ 0.707107, -0.707107]))
    """
    K = _symmetric(K, scale)
    mu, B = np.linalg.eigh(K)
    return _cleared(mu[::-1], mu[0], len(K) * EPS * scale), signed(B[:, ::-1])


def _symmetric(K, scale=0.0):
    """K in double precision, unless `numpy.linalg.eigh` would read one half of it, or a NaN."""
    K = np.asarray(K, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square; got shape {K.shape}")
    with np.errstate(invalid="ignore"):  # the difference of two infinities
        skew = np.abs(K - K.T).max()
    if not isfinite(skew):
        raise ValueError("K must be finite; it contains NaN or infinity")
    if skew > NEGATIVE * max(np.abs(K).max(), scale):
        raise ValueError(f"K must be symmetric; it differs from K^T by {skew:.3g}")
    return K


def _cleared(mu, lowest, noise):
    """Eigenvalues with 0 for those that are no larger than rounding errors.

    `lowest` is the least of all eigenvalues, and `noise` how far any of them may be off.
    """
    reach = max(np.abs(mu).max(), abs(lowest))
    if lowest < -max(NEGATIVE * reach, noise):
        raise ValueError(
            f"the centred K must have no negative eigenvalue; got {lowest:.3g}, the largest in "
            f"size is {reach:.3g}: there are no features with these inner products"
        )
    return np.where(mu > max(ROUND_OFF * reach, noise), mu, 0.0)


def coefficients(mu, B):
    """a_i = b_i / sqrt(mu_i), so that 1 = v_i^T v_i = a_i^T K a_i = n lam a_i^T a_i.

    That is mu_i a_i^T a_i, and v_i^T v_j = a_i^T K a_j = 0. An eigenvalue of 0 belongs to no axis:
    it cannot be normalised, and is dropped.

    Returns: A (n, k). Raises: ValueError unless all mu > 0.

    >>> coefficients(np.array([4.0]), np.array([[0.6], [0.8]]))
    array([[0.3],
           [0.4]])

    Claims: kernel_pca-08
    """
    if not np.all(mu > 0):
        raise ValueError(f"mu must be > 0, there is no axis where it is 0; got {np.min(mu):g}")
    return B / np.sqrt(mu)


def project(K_new, A):
    """phi(x)^T v_i = sum_j a_ji k(x, x_j): the score of any x, without phi.

    It takes features for what they are. For centred ones `K_new` must be centred as well, as in
    `new_scores`.

    Returns: (m, k).

    >>> project(np.array([[1.0, 2.0]]), np.array([[0.5], [0.25]]))
    array([[1.]])

    Claims: kernel_pca-09
    """
    return K_new @ A


def linear_scores(K, K_new, k):
    """V_k^T y = S_k^{-1} P_k^T [x_1^T y, ..., x_n^T y]: linear PCA by inner products alone.

    Of centred X = P S V^T, K = X X^T = P S^2 P^T has the left singular vectors and the s_j^2. For
    any y, P_k^T X y = S_k V_k^T y; the rows of `K_new` (m, n) hold the x_j^T y. At most
    min(d, n - 1) of the s_j are not 0: X^T 1 = 0 makes 1 a null vector of K.

    IRHD calls P S^2 P^T "the" eigendecomposition: P may have other signs, and where eigenvalues
    are equal, as all that are 0, any rotation of its columns; so may the scores (kernel_pca-11).

    Returns: (m, k). Raises: ValueError if k is not between 1 and the rank of K.

    >>> X = np.array([[3.0, 4.0], [-3.0, -4.0]])
    >>> linear_scores(X @ X.T, np.array([[6.0, 8.0]]) @ X.T, 1).round(9)
    array([[10.]])

    Claims: kernel_pca-10
    """
    mu, B = _first(*eigenpairs(K), k)
    return project(K_new, coefficients(mu, B))


def _first(mu, B, k):
    """The first k eigenpairs, all that are not 0 for None."""
    rank = np.count_nonzero(mu)
    k = rank if k is None else k
    if not 1 <= k <= rank:
        raise ValueError(f"k must be between 1 and the rank of the centred K, {rank}; got {k}")
    return mu[:k], B[:, :k]


# ---------------------------------------------------------------------------------------
# Centring
# ---------------------------------------------------------------------------------------


def centring_matrix(n):
    """H = I - 1 1^T / n, symmetric, with H H = H and H 1 = 0: H X has the rows x_i - mean.

    H Phi has the rows phi(x_i) - mean phi, and their Gram matrix is H Phi Phi^T H = H K H, entry by
    entry, for n samples,

        K_jm - 1/n sum_p K_jp - 1/n sum_l K_lm + 1/n^2 sum_lp K_lp,

    which `kernels.centre` makes without a product. Centred inputs have no centred features: the
    mean of exp(-||x - z||^2 / (2 sigma^2)) is never 0, and ||mean phi||^2 = 1^T K 1 / n^2.

    >>> centring_matrix(2)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])

    Claims: kernel_pca-13
    """
    return np.eye(n) - 1 / n


# ---------------------------------------------------------------------------------------
# The algorithm
# ---------------------------------------------------------------------------------------


class KernelComponents(NamedTuple):
    """The axes in feature space, as far as they can be written down, and the scores."""

    mu: np.ndarray  # (k,), eigenvalues of H K H
    B: np.ndarray  # (n, k), their eigenvectors
    Z: np.ndarray  # (n, k), scores of the samples


def kernel_pca(K, k=None):
    """Kernel PCA: 1. K;  2. H K H;  3. H K H = B diag(mu) B^T, largest mu first;  4. of mu > 0 the
    first k;  5. Z = B_k diag(mu_1, ..., mu_k)^{1/2}.  New points (6.) have `new_scores`.

    With K = X X^T that is PCA. Z Z^T is the matrix of rank k that is nearest to H K H,
    ||H K H - Z Z^T||_F^2 = sum_{i > k} mu_i^2, and the variance lost is sum_{i > k} mu_i / n.

    Returns: `KernelComponents`, of all mu > 0 if k is not given.
    Raises: ValueError if K is not finite, symmetric and PSD up to its centring, or if k is not
    between 1 and the rank of H K H.

    >>> found = kernel_pca(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]))
    >>> found.mu.round(9), found.Z.round(9).ravel() + 0.0
    (array([2.]), array([ 1.,  0., -1.]))

    Claims: kernel_pca-15
    """
    K = _symmetric(K)
    mu, B = _first(*eigenpairs(centre(K), np.abs(K).max()), k)
    return KernelComponents(mu, B, B * np.sqrt(mu))


def new_scores(K_new, K, mu, B):
    """z = diag(mu)^{-1/2} B^T k_cent with k_cent = H (k_new - 1/n K 1), by means over the samples:

        <phi(x_j) - mean phi, phi(x) - mean phi> = k(x, x_j) - 1/n sum_l k(x, x_l)
            - 1/n sum_p K_jp + 1/n^2 sum_lp K_lp .

    B^T H = B^T makes the outer H optional. A sample given as a new point gets its own score again.
    MLN projects with the uncentred k, which is for centred features only: with these coefficients,
    which sum to 0, every score is off by 1/n 1^T K a_i (kernel_pca-17).

    Returns: (m, k).

    >>> X, x = np.array([[1.0], [2.0], [3.0]]), np.array([[7.0]])
    >>> mu, B, _ = kernel_pca(X @ X.T)
    >>> new_scores(x @ X.T, X @ X.T, mu, B).round(9)  # the axis of x points to the left
    array([[-5.]])

    Claims: kernel_pca-16
    """
    return project(centre_new(K_new, K), coefficients(mu, B))


# ---------------------------------------------------------------------------------------
# Only the first few
# ---------------------------------------------------------------------------------------


class EigenState(NamedTuple):
    """The best guess at the first eigenpairs that a subspace has to offer."""

    mu: np.ndarray  # (k,)
    B: np.ndarray  # (n, k), orthonormal
    objective: float  # mu_1 + ... + mu_k, which never falls
    residual: float  # max_i ||K b_i - mu_i b_i|| / ||K||, as far as ||K|| is known; EPS or more
    lowest: float  # b^T K b of the worst direction: the least eigenvalue is no larger


def leading_eigenpairs(K, k, *, rng):
    """The k largest eigenpairs of a symmetric K without all the others: the block Lanczos method.

    What a subspace with the orthonormal rows Q knows of K is T = Q K Q^T = S diag(mu) S^T, and its
    best guess is B = Q^T S (Rayleigh and Ritz). It begins with k + SPARE random directions, so
    that equal eigenvalues are all seen; K times the latest of them, less what Q has of it, are the
    next. That rest also tells the residuals K B - B diag(mu), since K times all others is in Q by
    then. When Q is WIDTH blocks wide, its better half goes on alone. A step takes n^2 (k + SPARE)
    multiplications, the whole decomposition some 10 n^3.

    Yields: `EigenState` after every `LOOK` steps, until the residuals are rounding errors or the
    basis is whole.
    Raises: ValueError if k is not between 1 and n, or K is not square and finite.

    >>> K = np.diag(np.arange(100.0))
    >>> states = list(leading_eigenpairs(K, 2, rng=np.random.default_rng(0)))
    >>> states[-1].mu.round(9), [state.residual < 1e-9 for state in (states[0], states[-1])]
    (array([99., 98.]), [False, True])
    """
    n = len(K)
    if np.shape(K) != (n, n):
        raise ValueError(f"K must be square; got shape {np.shape(K)}")
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and n = {n}; got {k}")
    block = min(n, k + SPARE)
    most = min(n, WIDTH * block)
    Q, T, m = np.empty((most, n)), np.empty((most, most)), 0  # of T the upper half
    new = np.linalg.qr(rng.normal(size=(n, block)))[0].T
    for step in count(1):
        at = slice(m, m + len(new))
        m = at.stop
        Q[at] = new
        with np.errstate(over="ignore", invalid="ignore"):
            images = Q[at] @ K
        if not np.isfinite(images).all():
            raise ValueError("K must be finite; a product with it is not")
        T[:m, at] = Q[:m] @ images.T
        rest = images - T[:m, at].T @ Q[:m]
        if m < n:
            new = _orthonormal(rest[: n - m], Q[:m])
        full = m == n or m + len(new) > most
        if step % LOOK and not full:
            continue
        mu, S = (part[..., ::-1] for part in np.linalg.eigh(T[:m, :m], UPLO="U"))
        reach = np.abs(mu).max() or 1.0
        miss = np.linalg.norm((rest / reach).T @ S[at, :k], axis=0).max()
        residual = max(float(miss), EPS)  # rounding hides less
        yield EigenState(mu[:k], Q[:m].T @ S[:, :k], float(mu[:k].sum()), residual, float(mu[-1]))
        if miss <= n * EPS or m == n:
            return
        if full:
            better, m = S[:, : most // 2].T, most // 2
            Q[:m], T[:m, :m] = better @ Q, np.diag(mu[:m])


def _orthonormal(block, Q):
    """Orthonormal rows of the span of the block and Q that are orthogonal to those of Q.

    A share of Q below the root of epsilon bends them by less than epsilon. A row that a block of
    lower rank lacks comes from rounding errors, and may lie in Q several times.
    """
    for _ in range(TURNS):
        block = np.linalg.qr(block.T)[0].T
        share = Q @ block.T
        block = block - share.T @ Q
        if np.abs(share).max() <= sqrt(EPS):
            break
    return block


# ---------------------------------------------------------------------------------------
# And back
# ---------------------------------------------------------------------------------------


def pre_image_coefficients(K, X, alpha):
    """The D (n, d) of least squares ||K D - X||^2 + alpha tr(D^T K D): (K + alpha I) D = X.

    A point of feature space is the image of no x, as a rule. What x would be near is learnt: kernel
    ridge regression of the samples X on their scores, whose Gram matrix is K; x^ = k(z, Z) D.

    Raises: ValueError if K + alpha I is not positive definite.

    >>> pre_image_coefficients(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[8.0], [2.0]]), 1.0)
    array([[2.],
           [1.]])
    """
    K = np.array(K, dtype=float)
    K[np.diag_indices_from(K)] += alpha
    try:
        pivots = np.linalg.cholesky(K).diagonal() ** 2
        sound = pivots.min() > len(K) * EPS * pivots.max()
    except np.linalg.LinAlgError:
        sound = False
    if not sound:
        raise ValueError(f"alpha must make K + alpha I positive definite; got {alpha!r}: raise it")
    return np.linalg.solve(K, X)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class KernelPCA(Transformer):
    """Kernel PCA: k features of the samples, uncorrelated, that are linear in feature space.

    As scikit-learn's, signs included, with these differences. Kernels are those of
    `kernels.gram` by name, "laplacian", "exponential" and "all_subsets" among them, "cosine" not,
    or a function k(X, Z) that returns the whole matrix. Negative eigenvalues of the centred Gram
    matrix are refused: there are no features then; so are samples that are all the same. Where
    scikit-learn calls ARPACK there is "lanczos", without a limit on the components.

    Parameters
    ----------
    n_components : int or None; None for all whose eigenvalue is not 0. Of more than there are, the
        scores are 0, and no more than n are kept
    kernel : str or callable; a name that `kernels.gram` knows, a function k(X, Z), or
        "precomputed": `fit` takes K (n, n) in the place of X then, `transform` the k(x, x_j) (m, n)
    gamma : float or None; of the kernel, None for 1 / d
    degree : int; of the polynomial kernel, 1 or more
    coef0 : float; of the polynomial kernel, 0 or more, and of the sigmoid
    alpha : float; penalty of the ridge regression that learns to go back
    fit_inverse_transform : bool; whether to learn it, for `inverse_transform`
    eigen_solver : "auto", "dense" or "lanczos"; "dense" finds all eigenpairs, "lanczos" the first;
        "auto" is "lanczos" of more than 200 samples, if 10 times as many as components, and of
        kernels whose eigenvalues cannot be negative: it does not look at all of them
    tol : float; of "lanczos", the residual ||K b - mu b|| / ||K|| that will do; 0 for n epsilon
    max_iter : int or None; of "lanczos", how often 4 blocks may join the subspace, None for n
    remove_zero_eig : bool; whether to leave out components whose eigenvalue is 0
    random_state : None, int or Generator; of "lanczos", its first directions

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,); mu, of the centred Gram matrix, largest first
    eigenvectors_ : ndarray of shape (n, k); B, of length 1, the largest entry of each positive
    gamma_ : float
    X_fit_ : ndarray of shape (n, d); the samples
    kernel_means_ : ndarray of shape (n,); 1/n sum_p k(x_j, x_p), which centres new points
    dual_coef_ : ndarray of shape (n, d); what goes back, if `fit_inverse_transform`
    X_transformed_fit_ : ndarray of shape (n, k); the scores, if `fit_inverse_transform`
    history_ : ndarray of shape (n_iter_ + 1,); mu_1 + ... + mu_k after each block
    n_iter_ : int; blocks added, 0 of "dense"
    converged_ : bool
    n_features_in_ : int

    >>> model = KernelPCA(kernel=lambda X, Z: X**2 @ (Z**2).T).fit([[-1.0], [1.0], [2.0]])
    >>> model.transform([[-1.0], [2.0], [3.0]]).round(9)  # phi(x) = x^2, of mean 2
    array([[-1.],
           [ 2.],
           [ 7.]])
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        remove_zero_eig=False,
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state

    def _check_parameters(self):
        """Refuse hyperparameters that make no sense."""
        names = (*NAMES, "precomputed")
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0, choices=names, function=True)
        check_number("alpha", self.alpha, at_least=0)
        check_number("tol", self.tol, at_least=0)
        for name in ("n_components", "max_iter"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), at_least=1, integer=True)
        check_choice("eigen_solver", self.eigen_solver, ("auto", "dense", "lanczos"))
        check_flag("remove_zero_eig", self.remove_zero_eig)
        if check_flag("fit_inverse_transform", self.fit_inverse_transform) and self._given:
            raise ValueError("fit_inverse_transform must be False with kernel='precomputed'")

    @property
    def _given(self):
        """Whether X is a Gram matrix already."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def fit(self, X, y=None):
        """Find the axes of samples X (n, d), or of a Gram matrix; y is not used. Return self."""
        self._check_parameters()
        rng, samples = check_random_state(self.random_state), check_samples(X)
        n, d = samples.shape
        if n < 2:
            raise ValueError(f"X must have 2 samples at least, for a variance; got n_samples = {n}")
        self.gamma_ = 1 / d if self.gamma is None else self.gamma
        K, scale = self._gram_matrix(samples)
        self.kernel_means_ = _centre(K)
        if n * scale > CANCELLED * K.trace():
            _centre(K)
        run = iterate(
            self._eigenpairs(K, rng), "residual", max(self.tol, n * EPS), self.max_iter or n
        )
        mu = _cleared(run.state.mu, run.state.lowest, n * EPS * scale)
        if mu[0] == 0:
            raise ValueError(
                "X must vary; in feature space every sample is the same, to the digits of K"
            )
        removed = self.remove_zero_eig or self.n_components is None
        kept = np.count_nonzero(mu) if removed else len(mu)
        self.eigenvalues_, self.eigenvectors_ = mu[:kept], signed(run.state.B[:, :kept])
        self.X_fit_ = samples.copy()
        self._learn_back()
        self._record(run, "residual", max(self.tol, n * EPS))
        return self._remember(X)

    def _gram_matrix(self, samples):
        """K, a matrix that may be written on, and the size of its largest entry."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._kernel(samples)
        if self._given or callable(self.kernel):
            K = np.array(K, dtype=float)
            if K.shape != (len(samples), len(samples)):
                raise ValueError(f"K must be {(len(samples),) * 2}, of all pairs; got {K.shape}")
        scale = max(K.max(), -K.min())
        if not isfinite(scale):
            raise ValueError("K must be finite; k(x, z) overflows: scale the features of X")
        if self._given or callable(self.kernel):
            _symmetric(K)
        return K, scale

    def _kernel(self, X, Z=None):
        """The k(x, z), of all pairs in X without Z."""
        if self._given:
            return X
        how = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        return gram(X, Z, self.kernel, **how)

    def _eigenpairs(self, K, rng):
        """The states of the solver; of "dense" there is one."""
        n = len(K)
        k = n if self.n_components is None else min(n, self.n_components)
        sure = isinstance(self.kernel, str) and self.kernel not in ("sigmoid", "precomputed")
        quick = sure and n > MANY and FEW * k <= n
        if self.eigen_solver == "lanczos" or (self.eigen_solver == "auto" and quick):
            return leading_eigenpairs(K, k, rng=rng)
        mu, B = np.linalg.eigh(K)
        best, total = mu[::-1][:k], float(mu[n - k :].sum())
        return iter([EigenState(best, B[:, ::-1][:, :k], total, 0.0, float(mu[0]))])

    def _learn_back(self):
        """Regression of the samples on their scores, if it is wanted."""
        for name in ("dual_coef_", "X_transformed_fit_"):
            vars(self).pop(name, None)
        if self.fit_inverse_transform:
            Z = self._training_scores()
            self.dual_coef_ = pre_image_coefficients(self._kernel(Z), self.X_fit_, self.alpha)
            self.X_transformed_fit_ = Z

    def _training_scores(self):
        """Z = B diag(mu)^{1/2}."""
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def fit_transform(self, X, y=None):
        """Fit to X and return its scores Z = B diag(mu)^{1/2}; y is not used."""
        return self.fit(X)._training_scores()

    def transform(self, X):
        """The scores of new points, diag(mu)^{-1/2} B^T (k_new - 1/n K 1): (m, k)."""
        X, mu = self._check_fitted(X), self.eigenvalues_
        A = np.zeros_like(self.eigenvectors_)
        A[:, mu > 0] = coefficients(mu[mu > 0], self.eigenvectors_[:, mu > 0])
        A -= A.mean(axis=0)  # they sum to 0: the outer H
        Z = [
            project(self._kernel(part, self.X_fit_) - self.kernel_means_, A)
            for part in _parts(X, A)
        ]
        return np.concatenate(Z)

    def inverse_transform(self, X):
        """Points whose features are near those with the scores X (m, k), as was learnt: (m, d).

        Raises: NotFittedError unless `fit_inverse_transform` was true in `fit`.
        """
        self._require_fit()
        if not hasattr(self, "dual_coef_"):
            raise shared(NotFittedError)(
                "inverse_transform needs fit_inverse_transform=True in fit"
            )
        Z, k = check_samples(X), len(self.eigenvalues_)
        if Z.shape[1] != k:
            raise ValueError(f"X must have {k} components; got {Z.shape[1]}")
        known, D = self.X_transformed_fit_, self.dual_coef_
        return np.concatenate([project(self._kernel(part, known), D) for part in _parts(Z, D)])

    def __sklearn_tags__(self):
        """Tags of a transformer, of pairs if the kernel is precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given
        return tags


def _parts(X, A):
    """The rows of X, so few at a time that their kernels with those of A make up a BLOCK."""
    return [X[rows] for rows in row_blocks(len(X), BLOCK // len(A))]


def _centre(K):
    """H K H in the place of K, symmetric, a few rows at a time. Returns: the means of its rows."""
    means = K.mean(axis=0)
    for rows in row_blocks(len(K), ROWS):
        K[rows] -= means
        K[rows] -= means[rows, None] - means.mean()
    return means
