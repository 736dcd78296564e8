"""Kernels: inner products of features that are never computed.

A linear method on features phi(x) is a nonlinear method on x. If it uses inner products only, a
function k(x, z) = phi(x)^T phi(z) is all it needs.

Contents
    Feature maps            linear_in_features, subset_products, quadratic_map, ring_map,
                            scaled_quadratic_map, polynomial_map, gaussian_map,
                            gaussian_frequencies, fourier_features
    Kernels                 Kernel, Constant, Sum, Product, FeatureKernel, Linear, Polynomial,
                            PowerSeries, AllSubsets, Gaussian, Laplacian, Sigmoid
    Is it a kernel?         screen, psd_certificate, PSDCertificate, is_definite, semidefinite,
                            refute, Refutation, empirical_feature_map
    Distances and means     kernel_squared_distances, centre_gram, centre_new
    Least squares           sample_coefficients, coefficient_loss, kernel_descent, KernelState,
                            kernel_ridge, solve_semidefinite
    Functions               RKHSFunction
    Mercer                  apply_operator, eigenfunctions, Eigenfunctions, mercer_sum
    Estimators              make_kernel, FunctionKernel, KernelRidge

Symbols
    X      (n, d)    samples x, one per row, with targets y (n,); Z (m, d) other samples
    k                a kernel, as `Gaussian(gamma=0.5)`: k(X, Z) is the (n, m) matrix of its values
    K      (n, n)    Gram matrix, K_ij = k(x_i, x_j)
    phi              feature map, phi(X) (n, D); f(x) = w^T phi(x) + b with weights w (D,)
    alpha  (n,)      coefficients, w = sum_i alpha_i phi(x_i), f(x) = sum_i alpha_i k(x_i, x);
                     for the estimator `KernelRidge` it is the penalty, as in scikit-learn
    lam    float     penalty of kernel ridge regression
    gamma  float     factor of x^T z in the polynomial (IRHD alpha) and the sigmoid (REP, PRNN a);
                     of the distance 1 / (2 sigma^2) (Gaussian, exponential), 1 / sigma (Laplacian)
    p      int       degree; d in IRHD 6, gamma in 8.49. MLN, PRNN and REP have (x^T z + 1)^p
    c      float     constant of these kernels; beta in IRHD 8.49, -delta in 8.51, b in PRNN
    q      (n,)      a vector; if q^T K q < 0, the proof that K comes from no kernel
    mu     (r,)      eigenvalues of K, or of an integral operator; `values` in the code
    sigma  float     width; MLN, PRNN and REP have exp(-||x-z||^2 / s^2), s = sqrt(2) sigma

Notes: MLN "Kernel function", "Mercer Theorem", "Positive definite kernels"; REP "Kernels"; PRNN 9
and 10; ISML "Regression" 3.3, "SVM"; IRHD 6, 7.2 and 8.4. IRHD writes kappa for k and p for d.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import combinations_with_replacement
from math import factorial, inf, prod
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Regressor,
    check_choice,
    check_number,
    check_samples,
    check_targets,
    floats,
)
from mlnotes.clustering import euclidean, manhattan
from mlnotes.numerics import (
    kernel_product,
    leading_eigenpairs,
    squared_distances,
    squared_norms,
    symmetric,
)
from mlnotes.probability import log_gamma, x_log_y

# =======================================================================================
# The lecture
# =======================================================================================

# --- Feature maps ----------------------------------------------------------------------


def linear_in_features(X, phi, w, b=0.0):
    """The values f(x) = w^T phi(x) + b (n,): linear in the features and in w, usually not in x.

    >>> linear_in_features(np.array([[2.0, 3.0]]), subset_products, w=np.array([0, 0, 0, 1]))
    array([6.])
    """
    return phi(X) @ w + b


def subset_products(X):
    """The products of all subsets of the features, 1, x_1, x_2, x_1 x_2, x_3, ...: (n, 2^d).

    >>> subset_products(np.array([[2.0, 3.0, 5.0]]))
    array([[ 1.,  2.,  3.,  6.,  5., 10., 15., 30.]])
    """
    products = np.ones((len(X), 1))
    for x_j in X.T:
        products = np.hstack([products, products * x_j[:, None]])
    return products


def quadratic_map(X):
    """The features (1, x_1, x_2, x_1 x_2, x_1^2, x_2^2) of points of the plane: (n, 6).

    Conics become planes w^T phi(x) = 0. `scaled_quadratic_map` has (1 + x^T z)^2; this one has not.

    >>> quadratic_map(np.array([[2.0, 3.0]]))
    array([[1., 2., 3., 6., 4., 9.]])
    """
    x_1, x_2 = floats(X).T
    return np.column_stack([np.ones(len(X)), x_1, x_2, x_1 * x_2, x_1**2, x_2**2])


def ring_map(X):
    """The features (x_1, x_2, x_1^2 + x_2^2) of points of the plane, on a paraboloid: (n, 3).

    A plane can then separate rings. The kernel is x^T z + ||x||^2 ||z||^2.

    >>> ring_map(np.array([[2.0, 3.0]]))
    array([[ 2.,  3., 13.]])
    """
    return np.column_stack([X, squared_norms(X)])


def scaled_quadratic_map(X):
    """The features (1, x_1^2, x_2^2, sqrt2 x_1, sqrt2 x_2, sqrt2 x_1 x_2) of (1 + x^T z)^2: (n, 6).

    >>> scaled_quadratic_map(np.array([[1.0, 2.0]])).round(3)
    array([[1.   , 1.   , 4.   , 1.414, 2.828, 2.828]])

    Errata: kernels-11 (MLN prints (1 + phi(x)^T phi(z))^2, a polynomial of degree 4).
    """
    x_1, x_2 = floats(X).T
    mixed = np.sqrt(2) * np.array([x_1, x_2, x_1 * x_2])
    return np.column_stack([np.ones(len(X)), x_1**2, x_2**2, *mixed])


def polynomial_map(X, p, gamma=1.0, c=1.0):
    """The features of (gamma x^T z + c)^p for gamma, c >= 0, C(d + p, p) weighted monomials:

        sqrt(p! / (p_0! p_1! ... p_d!) c^p_0 gamma^(p - p_0)) x_1^p_1 ... x_d^p_d

    for all p_0 + p_1 + ... + p_d = p. Those with p_0 > 0 vanish if c = 0.

    >>> polynomial_map(np.array([[3.0]]), p=2).round(6)
    array([[1.      , 4.242641, 9.      ]])
    """
    X, features = floats(X), []
    for factors in combinations_with_replacement(range(X.shape[1] + 1), p):
        powers = np.bincount(factors, minlength=X.shape[1] + 1)  # p_0, p_1, ..., p_d
        orders = factorial(p) / prod(map(factorial, powers.tolist()))
        weight = np.sqrt(orders * float(c) ** powers[0] * float(gamma) ** (p - powers[0]))
        features.append(weight * np.prod(X ** powers[1:], axis=1))
    return np.column_stack(features)


def gaussian_map(x, sigma, terms):
    """The first of infinitely many features of exp(-(x - z)^2 / (2 sigma^2)): (n, terms).

        phi_j(x) = exp(-t^2 / 2) t^j / sqrt(j!),   t = x / sigma,   j = 0, 1, 2, ...

    >>> gaussian_map(np.array([0.0]), sigma=1.0, terms=3)
    array([[1., 0., 0.]])
    """
    t, j = floats(x)[:, None] / sigma, np.arange(terms)
    logs = -(t**2) / 2 + x_log_y(j, np.abs(t)) - log_gamma(j + 1) / 2
    return np.sign(t) ** j * np.exp(logs)  # logarithms: powers and factorials would overflow


def gaussian_frequencies(F, d, sigma, *, rng):
    """Random frequencies (F, d) from the normal distribution N(0, I / sigma^2).

    >>> gaussian_frequencies(5, 3, sigma=2.0, rng=np.random.default_rng(0)).shape
    (5, 3)
    """
    return rng.normal(size=(F, d)) / sigma


def fourier_features(X, W):
    """The features (cos(w_1^T x), ..., cos(w_F^T x), sin(w_1^T x), ...) / sqrt(F): (n, 2 F).

    With frequencies W (F, d) from `gaussian_frequencies`, their inner product is an unbiased
    estimate of the Gaussian kernel k, with variance (1 - k^2)^2 / (2 F).

    >>> fourier_features(np.array([[0.0]]), np.array([[3.0]]))
    array([[1., 0.]])
    """
    angles = X @ W.T
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(W))


# --- Kernels ---------------------------------------------------------------------------


class Kernel:
    """A kernel k: k(X, Z) is the matrix of all k(x_i, z_j), and k(X) the Gram matrix of X.

    Kernels can be scaled, added and multiplied, which gives kernels again, for c >= 0:

        c k       has the features sqrt(c) phi
        c + k     has the features (phi, sqrt(c))
        k + k'    has the features (phi, phi')
        k k'      has all products phi_i phi'_j; its Gram matrix is the entrywise product

    A new kernel is a class with a method `matrix`, or `FeatureKernel`, or `FunctionKernel`.

    >>> (2 * Linear() * Linear() + 1)(np.array([[3.0]]), np.array([[5.0]]))
    array([[451.]])
    """

    def __call__(self, X, Z=None):
        """The matrix of all k(x_i, z_j), with Z = X for None: (n, m)."""
        X = floats(X)
        return self.matrix(X, X if Z is None else floats(Z))

    def matrix(self, X, Z):
        """The matrix of all k(x_i, z_j): (n, m)."""
        raise NotImplementedError

    def __add__(self, other):
        """k + k', or k + c."""
        return Sum(self, other if isinstance(other, Kernel) else Constant(other))

    def __mul__(self, other):
        """k k', or c k."""
        return Product(self, other if isinstance(other, Kernel) else Constant(other))

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, z) = c, with the one feature sqrt(c), for c >= 0."""

    c: float

    def matrix(self, X, Z):
        """c everywhere."""
        return np.full((len(X), len(Z)), float(self.c))


@dataclass(frozen=True)
class Sum(Kernel):
    """k(x, z) + k'(x, z)."""

    left: Kernel
    right: Kernel

    def matrix(self, X, Z):
        """The sum of both matrices."""
        return self.left(X, Z) + self.right(X, Z)


@dataclass(frozen=True)
class Product(Kernel):
    """k(x, z) k'(x, z)."""

    left: Kernel
    right: Kernel

    def matrix(self, X, Z):
        """The entrywise product of both matrices."""
        return self.left(X, Z) * self.right(X, Z)


@dataclass(frozen=True)
class FeatureKernel(Kernel):
    """k(x, z) = phi(x)^T phi(z), for a feature map phi(X) (n, D).

    >>> FeatureKernel(ring_map)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[136.]])
    """

    phi: Callable

    def matrix(self, X, Z):
        """The inner products of the rows of phi(X) and phi(Z)."""
        return self.phi(X) @ self.phi(Z).T


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = x^T z + c, with the features x and sqrt(c), for c >= 0.

    >>> Linear(c=1.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[12.]])
    """

    c: float = 0.0

    def matrix(self, X, Z):
        """X Z^T + c."""
        return X @ Z.T + self.c


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (gamma x^T z + c)^p, for gamma, c >= 0 and a whole number p >= 0.

    `polynomial_map` gives its features. For a fractional p it is not a kernel.

    >>> Polynomial(p=2)(np.array([[1.0, 1.0]]))
    array([[9.]])

    Errata: kernels-14 (IRHD 8.4 counts C(p + d, d) features for every c, and has no d in its
    kernel), kernels-39 (IRHD 6 allows all real exponents >= 0).
    """

    p: int
    gamma: float = 1.0
    c: float = 1.0

    def matrix(self, X, Z):
        """Powers of gamma X Z^T + c, entry by entry."""
        return (self.gamma * (X @ Z.T) + self.c) ** self.p


@dataclass(frozen=True)
class PowerSeries(Kernel):
    """k(x, z) = sum_j a_j (x^T z)^j, for coefficients a (p + 1,): a kernel if all a_j >= 0."""

    a: tuple

    def matrix(self, X, Z):
        """The polynomial with coefficients a at every entry of X Z^T."""
        return np.polynomial.polynomial.polyval(X @ Z.T, self.a)


@dataclass(frozen=True)
class AllSubsets(Kernel):
    """k(x, z) = prod_j (1 + x_j z_j), with the 2^d features `subset_products`."""

    def matrix(self, X, Z):
        """One factor per feature."""
        K = np.ones((len(X), len(Z)))
        for x_j, z_j in zip(X.T, Z.T, strict=True):
            K = K * (1 + np.multiply.outer(x_j, z_j))
        return K


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(x, z) = exp(-gamma ||x - z||^2), the Gaussian or radial basis function kernel.

    gamma = 1 / (2 sigma^2) for the width sigma: see `of_width`.

    >>> Gaussian(gamma=0.5)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(6)
    array([[1.      , 0.135335]])
    """

    gamma: float

    @classmethod
    def of_width(cls, sigma):
        """k(x, z) = exp(-||x - z||^2 / (2 sigma^2))."""
        return cls(1 / (2 * sigma**2))

    def matrix(self, X, Z):
        """By the squared distances of all pairs."""
        return np.exp(-self.gamma * squared_distances(X, Z))


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(-gamma ||x - z||_q), with gamma = 1 / sigma and q = 1 or 2.

    REP does not say which q. Both give kernels. scikit-learn means q = 1. With q = 2 and
    gamma = 1 / (2 sigma^2) it is the exponential kernel.
    """

    gamma: float
    q: int = 1

    def matrix(self, X, Z):
        """By the distances of all pairs in this norm."""
        distance = {1: manhattan, 2: euclidean}[self.q]
        return np.exp(-self.gamma * distance(X, Z))


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(gamma x^T z + c), listed among the kernels in the notes, though it is none.

    Some of its Gram matrices are not PSD. Ask `psd_certificate` before using it as a kernel.

    Errata: kernels-40 (IRHD 8.4 calls it a kernel for samples on a circle; it is not one there).
    """

    gamma: float = 1.0
    c: float = 0.0

    def matrix(self, X, Z):
        """The tanh of gamma X Z^T + c, entry by entry."""
        return np.tanh(self.gamma * (X @ Z.T) + self.c)


# --- Is it a kernel? -------------------------------------------------------------------


def screen(K):
    """The first of three necessary conditions that K = (k(x_i, x_j)) violates, or None:

        k(x, z) = k(z, x),   k(x, x) >= 0,   k(x, z)^2 <= k(x, x) k(z, z) .

    A K that passes need not be PSD.

    >>> screen(np.array([[1.0, 2.0], [2.0, 1.0]]))
    'k(x, z)^2 <= k(x, x) k(z, z)'
    """
    K = floats(K)
    K = K / (np.abs(K).max() or 1.0)
    k = K.diagonal()
    conditions = {
        "k(x, z) = k(z, x)": np.abs(K - K.T) <= ROUNDING,
        "k(x, x) >= 0": k >= -ROUNDING,
        "k(x, z)^2 <= k(x, x) k(z, z)": K**2 <= np.outer(k, k) + ROUNDING,
    }
    return next((name for name, holds in conditions.items() if not holds.all()), None)


class PSDCertificate(NamedTuple):
    """Whether a symmetric matrix is positive semidefinite, and the direction that shows it."""

    holds: bool
    smallest: float  # the smallest eigenvalue
    q: np.ndarray  # (n,), its eigenvector of length 1: q^T K q = smallest


def psd_certificate(K):
    """Whether q^T K q >= 0 for all q, or no eigenvalue of K is < 0 by more than rounding.

    A symmetric function is a kernel if this holds for its matrices on *all* finite sets of points.
    Returns: a `PSDCertificate`. Raises: ValueError if K is not square, finite and symmetric.

    >>> psd_certificate(np.array([[1.0, 2.0], [2.0, 1.0]])).smallest.round(12)
    np.float64(-1.0)

    Errata: kernels-32 (MLN and IRHD are content with one matrix, or with a continuous symmetric
    function), kernels-34 (REP and PRNN leave out symmetry, without which K is not a Gram matrix).
    """
    values, V = np.linalg.eigh(symmetric(K))
    holds = values[0] >= -ROUNDING * np.abs(values).max()
    return PSDCertificate(holds, values[0], V[:, 0])


def is_definite(M):
    """Whether the symmetric M (n, n) is positive definite by more than rounding.

    The diagonal of its Cholesky factor shows it, in a tenth of the time of its eigenvalues.

    >>> is_definite(np.array([[4.0]])), is_definite(np.ones((2, 2)))
    (True, False)
    """
    try:
        pivots = np.linalg.cholesky(floats(M)).diagonal() ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min() > ROUNDING * pivots.max())


def semidefinite(K, name="K"):
    """The matrix K itself (n, n), if it is symmetric and positive semidefinite, up to rounding.

    Raises: ValueError if it is not; `name` is that of messages.

    >>> semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
    ValueError: K must have no negative eigenvalue; got -1
    """
    verdict = psd_certificate(K)
    if not verdict.holds:
        raise ValueError(f"{name} must have no negative eigenvalue; got {verdict.smallest:.3g}")
    return floats(K)


class Refutation(NamedTuple):
    """Points and coefficients with q^T K q < 0: they prove that a function is not a kernel."""

    X: np.ndarray  # (n, d)
    q: np.ndarray  # (n,)
    form: float  # q^T K q


def refute(k, sets):
    """The first of the point `sets`, arrays (n, d), on which k has a matrix that is not PSD.

    Returns: a `Refutation`, or None; then k may still fail on other points.
    Raises: ValueError if a Gram matrix is not finite or not symmetric.

    >>> refute(Sigmoid(), [np.array([[1.0]]), np.array([[1.0], [4.0]])]).form.round(4)
    np.float64(-0.1256)
    """
    for X in sets:
        verdict = psd_certificate(k(X, X))
        if not verdict.holds:
            return Refutation(X, verdict.q, verdict.smallest)
    return None


def empirical_feature_map(K):
    """Features of the samples with phi(x_i)^T phi(x_j) = K_ij, the rows of V sqrt(Lambda): (n, r).

    K = V Lambda V^T has the rank r. Raises: ValueError if K is not symmetric or not PSD.

    >>> abs(empirical_feature_map(np.array([[9.0, 9.0], [9.0, 9.0]])).round(9)).tolist()
    [[3.0], [3.0]]

    Errata: kernels-34 (PRNN attributes the theorem of Moore and Aronszajn to Mercer).
    """
    values, V = np.linalg.eigh(semidefinite(K))
    kept = values > ROUNDING * values[-1]
    return V[:, kept] * np.sqrt(values[kept])


# --- Distances and means ---------------------------------------------------------------


def kernel_squared_distances(K, k_x, k_z):
    """The ||phi(x) - phi(z)||^2 = k(x, x) - 2 k(x, z) + k(z, z) of all pairs, never < 0: (n, m).

    K (n, m) holds the k(x_i, z_j), `k_x` (n,) the k(x_i, x_i) and `k_z` (m,) the k(z_j, z_j).

    >>> kernel_squared_distances(np.array([[3.0 * 5.0]]), np.array([9.0]), np.array([25.0]))
    array([[4.]])
    """
    K, k_x, k_z = floats(K, k_x, k_z)
    return np.maximum(k_x[:, None] - 2 * K + k_z, 0)


def centre_gram(K):
    """The Gram matrix (n, n) of phi(x_i) - mean phi: K_c = H K H with H = I - 1 1^T / n.

    K is symmetric. Each entry loses the means of its row and its column, and gains that of all.

    >>> centre_gram(np.array([[1.0, 3.0], [3.0, 9.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    means = floats(K).mean(axis=0)
    m = means - means.mean() / 2
    return K - (m[:, None] + m)


def centre_new(K_new, K):
    """The (phi(z_i) - mean phi)^T (phi(x_j) - mean phi) of new points z, with the samples' mean.

    `K_new` (m, n) holds the k(z_i, x_j). K (n, n) is that of the samples, or its column means (n,).
    Returns: (m, n).

    >>> centre_new(np.array([[5.0, 15.0]]), np.array([[1.0, 3.0], [3.0, 9.0]]))
    array([[-3.,  3.]])
    """
    K_new, K = floats(K_new, K)
    means = np.atleast_2d(K).mean(axis=0)
    return K_new - np.mean(K_new, axis=1, keepdims=True) - means + means.mean()


# --- Least squares ---------------------------------------------------------------------


def sample_coefficients(X, y, w):
    """The factors delta_i = 2 (w^T x_i - y_i) (n,) in the gradient sum_i delta_i x_i of the loss.

    The loss is sum_i (w^T x_i - y_i)^2. For w = sum_i alpha_i x_i a step is -eta delta in alpha.

    >>> sample_coefficients(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]), np.array([3.0]))
    array([ 4., 10.])

    Errata: kernels-24 (REP: the start does not matter; its part orthogonal to the samples stays).
    """
    X, y, w = floats(X, y, w)
    return 2 * (X @ w - y)


def coefficient_loss(K, y, alpha):
    """The squared loss ||K alpha - y||^2 of w = sum_i alpha_i phi(x_i): f(x_i) = (K alpha)_i.

    >>> coefficient_loss(np.array([[2.0]]), np.array([1.0]), np.array([3.0]))
    np.float64(25.0)
    """
    K, y, alpha = floats(K, y, alpha)
    return np.sum((K @ alpha - y) ** 2)


class KernelState(NamedTuple):
    """The coefficients after a step of gradient descent."""

    alpha: np.ndarray  # (n,)
    objective: float  # ||K alpha - y||^2
    gradient_norm: float  # of the gradient in w, 2 sqrt(r^T K r) for the residual r = K alpha - y


def kernel_descent(K, y, *, eta):
    """Gradient descent from w = 0: alpha_i <- alpha_i - 2 eta (sum_j K_ij alpha_j - y_i).

    These are the steps w <- w - eta gradient in feature space, not those of descent in alpha. The
    residual K alpha - y tends to 0 for a regular K and eta < 1 / lambda_max(K).
    Yields: the start, then a `KernelState` per step, without end; the caller stops it.

    >>> states = kernel_descent(np.array([[2.0]]), np.array([4.0]), eta=0.125)
    >>> [float(next(states).alpha[0]) for _ in range(3)]
    [0.0, 1.0, 1.5]

    Errata: kernels-27 (REP closes a parenthesis too early: K alpha is doubled, y is not).
    """
    alpha = np.zeros(len(y))
    while True:
        residual = K @ alpha - y
        slope = 2 * np.sqrt(np.maximum(residual @ K @ residual, 0))
        yield KernelState(alpha, residual @ residual, slope)
        alpha = alpha - 2 * eta * residual


def solve_semidefinite(M, y):
    """The alpha (n,) with M alpha = y for a PSD M (n, n); the one of least norm if M is singular.

    If M is singular and no alpha solves it, M alpha is as near to y as possible.
    Raises: ValueError if M has a negative eigenvalue; its message is that of `kernel_ridge`.

    >>> solve_semidefinite(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([3.0, 0.0]))
    array([1.5, 0. ])
    """
    M, y = symmetric(M), floats(y)
    if is_definite(M):
        return np.linalg.solve(M, y)
    return np.linalg.pinv(semidefinite(M, "K + alpha I"), ROUNDING, hermitian=True) @ y


def kernel_ridge(K, y, lam):
    """The alpha (n,) that minimises ||K alpha - y||^2 + lam alpha^T K alpha: (K + lam I) alpha = y.

    If the matrix is singular up to rounding (lam is 0 or tiny), it is the one of least norm.
    Raises: ValueError if K is not symmetric, or K + lam I not PSD: then K comes from no kernel.

    >>> kernel_ridge(np.array([[2.0, 0.0], [0.0, 6.0]]), np.array([3.0, 8.0]), lam=2.0)
    array([0.75, 1.  ])
    """
    M = symmetric(K) + lam * np.eye(len(K))
    return solve_semidefinite(M, floats(y))


# --- Functions -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RKHSFunction:
    """f = sum_i alpha_i k(., x_i), a function in the reproducing kernel Hilbert space of k.

    <f, g> = sum_ij alpha_i beta_j k(x_i, z_j), and so <f, k(., x)> = f(x). Each kernel has its own
    space: sums and inner products are those of two functions with one k.

    >>> RKHSFunction(Linear(), np.array([[1.0], [2.0]]), np.array([1.0, 3.0])).norm()
    np.float64(7.0)
    """

    k: Kernel
    X: np.ndarray  # (n, d)
    alpha: np.ndarray  # (n,)

    def __call__(self, Z):
        """The values f(z) = sum_i alpha_i k(z, x_i): (m,)."""
        return self.k(Z, self.X) @ self.alpha

    def __add__(self, g):
        """f + g, whose sum has the terms of both."""
        X, alpha = np.vstack([self.X, g.X]), np.concatenate([self.alpha, g.alpha])
        return RKHSFunction(self.k, X, alpha)

    def __rmul__(self, a):
        """a f."""
        return RKHSFunction(self.k, self.X, a * self.alpha)

    def __sub__(self, g):
        """f - g."""
        return self + -1.0 * g

    def inner(self, g):
        """<f, g>."""
        return self.alpha @ self.k(self.X, g.X) @ g.alpha

    def norm(self):
        """sqrt(<f, f>)."""
        return np.sqrt(np.maximum(self.inner(self), 0))


# --- Mercer ----------------------------------------------------------------------------


def apply_operator(k, f, x, weights):
    """The values (T f)(x_i) = int k(x_i, y) f(y) dy = sum_j weights_j k(x_i, x_j) f(x_j): (n,).

    f (n,) holds the f(x_j) at the nodes x (n,). `weights` are (n,), or one number for all nodes.

    >>> apply_operator(np.minimum.outer, np.ones(2), np.array([0.25, 0.75]), 0.5)
    array([0.25, 0.5 ])

    Errata: kernels-48 (IRHD 6 infers eigenvalues from linearity alone; it needs a symmetric k).
    """
    return k(x, x) @ (weights * f)


class Eigenfunctions(NamedTuple):
    """Solutions of int k(x, y) phi_i(y) dy = lambda_i phi_i(x), the largest lambda_i first."""

    values: np.ndarray  # (r,), lambda_i
    functions: np.ndarray  # (n, r), phi_i at the nodes: sum_j h phi_i(x_j) phi_l(x_j) = delta_il


def eigenfunctions(k, x, h, leading=None):
    """The eigenvalues and eigenfunctions of the integral operator of k at nodes x, largest first.

    With the weight h of each node the operator is h K. For midpoints the error is O(h^2).
    Returns: `Eigenfunctions`, as many as `leading`, or one per node (n,) if that is not given.
    Raises: ValueError if k is not symmetric: then it need not have any eigenvalue.

    >>> eigenfunctions(np.minimum.outer, np.array([0.25, 0.75]), h=0.5, leading=1).values.round(4)
    array([0.4268])
    """
    K = symmetric(k(x, x), "k")
    values, V = leading_eigenpairs(h * K, len(K) if leading is None else leading)
    return Eigenfunctions(values, V / np.sqrt(h))


def mercer_sum(values, left, right):
    """The sums sum_i lambda_i phi_i(x) phi_i(z) (n, m): over all i, k(x, z) by Mercer's theorem.

    `values` (r,) are the lambda_i, `left` (n, r) the phi_i(x), `right` (m, r) the phi_i(z).

    >>> mercer_sum(np.array([2.0, 1.0]), np.array([[1.0, 3.0]]), np.array([[5.0, 1.0]]))
    array([[13.]])

    Errata: kernels-47 (IRHD 6 asks only for a square integrable k, not for a continuous one).
    """
    values, left, right = floats(values, left, right)
    return (left * values) @ right.T


# =======================================================================================
# The estimators
# =======================================================================================


def make_kernel(kernel, gamma, degree, coef0, X, weights=None):
    """The `Kernel` that scikit-learn's hyperparameters mean for samples X.

        "linear"    x^T z                           "sigmoid"      tanh(gamma x^T z + coef0)
        "poly"      (gamma x^T z + coef0)^degree    "laplacian"    exp(-gamma ||x - z||_1)
        "rbf"       exp(-gamma ||x - z||^2)         "exponential"  exp(-gamma ||x - z||)

    "polynomial" is another word for "poly". A `Kernel` stays as it is, and another function k(X, Z)
    becomes a `FunctionKernel`. gamma "scale" is 1 / (d Var X), with the variance of all entries of
    X, or 1 for a constant X. The `weights` (n,) of samples count in it; None is the same for all.
    "auto" and None stand for 1 / d.

    Raises: ValueError for any other kernel or word, and unless gamma > 0, coef0 >= 0 but for
    "sigmoid", and degree is a whole number >= 1.

    >>> make_kernel("rbf", "scale", degree=3, coef0=0.0, X=np.array([[0.0, 2.0]]))
    Gaussian(gamma=0.5)
    """
    if gamma is None or isinstance(gamma, str):
        word, d = check_choice("gamma", gamma, ("scale", "auto", None)), X.shape[1]
        mean = np.average(X.mean(axis=1), weights=weights)
        variance = np.average(np.mean((X - mean) ** 2, axis=1), weights=weights)
        scale = float(1 / (d * variance)) if np.ptp(X) > 0 else 1.0  # rounding may leave a variance
        gamma = scale if word == "scale" else 1 / d
    check_number("gamma", gamma, above=0, below=inf)
    check_number("degree", degree, at_least=1, integer=True)
    any_sign = isinstance(kernel, str) and kernel == "sigmoid"
    check_number("coef0", coef0, at_least=-inf if any_sign else 0, below=inf)
    if callable(kernel) and not isinstance(kernel, type):
        return kernel if isinstance(kernel, Kernel) else FunctionKernel(kernel)
    meant = {
        "linear": Linear(),
        "poly": Polynomial(degree, gamma, coef0),
        "polynomial": Polynomial(degree, gamma, coef0),
        "rbf": Gaussian(gamma),
        "sigmoid": Sigmoid(gamma, coef0),
        "laplacian": Laplacian(gamma),
        "exponential": Laplacian(gamma, q=2),
    }
    return meant[check_choice("kernel", kernel, tuple(meant))]


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """k(x, z) by a function k(X, Z) (n, m) of two sets of samples."""

    function: Callable

    def matrix(self, X, Z):
        """The function's matrix, in double precision; refused unless it is (n, m)."""
        K = np.array(self.function(X, Z), dtype=float)  # a copy: who gets it may write into it
        if K.shape != (len(X), len(Z)):
            raise ValueError(f"k(X, Z) must be {(len(X), len(Z))}, of all pairs; got {K.shape}")
        return K


@dataclass(eq=False, repr=False)
class KernelRidge(Regressor):
    """Least squares in feature space with the penalty alpha ||w||^2, and without an offset.

    f(x) = sum_i a_i k(x_i, x) with (K + alpha I) a = y. The differences from scikit-learn: kernels
    are those of `make_kernel`; alpha is one number, y has one target per sample, and there are no
    weights of samples; a matrix K + alpha I with a negative eigenvalue is refused.

    Parameters
    ----------
    alpha : float; strength of the penalty, 0 for none
    kernel : str, `Kernel` or function k(X, Z); see `make_kernel`
    gamma : float, None, "auto" or "scale"; parameter of the kernel, None and "auto" for 1 / d
    degree : int; degree of the polynomial kernel, 1 or more
    coef0 : float; constant of the polynomial kernel, 0 or more, and of the sigmoid

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,); the coefficients a
    X_fit_ : ndarray of shape (n, d); the samples
    n_features_in_ : int

    >>> KernelRidge(alpha=1.0).fit([[1.0], [2.0]], [6.0, 12.0]).predict([[10.0]]).round(9)
    array([50.])
    """

    alpha: float = 1
    _: KW_ONLY
    kernel: str | Callable = "linear"
    gamma: float | str | None = None
    degree: int = 3
    coef0: float = 1

    def fit(self, X, y):
        """Fit to samples X (n, d) with targets y (n,); return self."""
        alpha = check_number("alpha", self.alpha, at_least=0, below=inf)
        samples = check_samples(X)
        y = check_targets(y, len(samples))
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, samples)
        self.dual_coef_ = kernel_ridge(kernel(samples), y, alpha)
        self.X_fit_, self._kernel = samples.copy(), kernel
        return self._remember(X)

    def predict(self, X):
        """f(x) of every sample: (n,)."""
        X = self._check_fitted(X)
        return kernel_product(self._kernel, X, self.X_fit_, self.dual_coef_)
