"""Kernels: inner products in a space of features that nobody has to visit.

A linear method on features phi(x) is a nonlinear one on x. Where the method asks for nothing but
inner products, a function k(x, z) = phi(x)^T phi(z) is all it takes, and its values on the samples,
the Gram matrix, are all it ever sees of them. Which functions will do, how to prove of one that it
will not, what space of functions belongs to one that does, and least squares in that space.

Contents
    Feature maps            linear_in_features, subset_products, quadratic_map, ring_map,
                            scaled_quadratic_map, polynomial_map, gaussian_map,
                            gaussian_frequencies, fourier_features
    Kernels                 linear, polynomial, power_series, all_subsets, gaussian, laplacian,
                            exponential, sigmoid, gram, check_kernel
    Is it a kernel?         screen, psd_certificate, Certificate, refute, Refutation,
                            empirical_feature_map
    New kernels from old    Kernel
    Distances and means     kernel_squared_distances, centre, centre_new
    Functions               RKHSFunction
    Mercer                  apply_operator, eigenfunctions, Eigenfunctions, mercer_sum
    Least squares           sample_coefficients, coefficient_loss, kernel_descent, KernelState,
                            iteration_costs, kernel_ridge
    Support vectors         kernel_svm, KernelSVM
    Estimators              KernelRidge

Symbols
    X      (n, d)    samples x, one per row; Z (m, d) others, X itself for None
    y      (n,)      targets; of two classes -1 and +1
    k                a function of two sets of samples, k(X, Z) the (n, m) matrix of its values
    K      (n, n)    Gram matrix, K_ij = k(x_i, x_j)
    phi              feature map, phi(X) (n, D)
    w      (D,)      weights; b the offset, f(x) = w^T phi(x) + b
    alpha  (n,)      coefficients, w = sum_i alpha_i phi(x_i), f(x) = sum_i alpha_i k(x_i, x);
                     of the polynomial kernel a number
    eta    float     learning rate
    sigma  float     width; s = sqrt(2) sigma

The kernels, what the notes call their parameters, and gamma as scikit-learn means it:

    polynomial   (alpha x^T z + c)^p           IRHD 6 d for p, IRHD 8.49 beta for c and gamma for p,
                                               MLN, PRNN, REP alpha = c = 1    gamma = alpha
    Gaussian     exp(-||x-z||^2 / (2 sigma^2)) MLN, PRNN, REP exp(-||x-z||^2 / sigma^2), that is
                                               our s = sqrt(2) sigma     gamma = 1 / (2 sigma^2)
    exponential  exp(-||x-z|| / (2 sigma^2))   IRHD 6, REP               gamma = 1 / (2 sigma^2)
    Laplacian    exp(-||x-z||_q / sigma)       REP, q not said           gamma = 1 / sigma, q = 1
    sigmoid      tanh(gamma x^T z + c)         REP, PRNN a and c or b; IRHD 8.51 c = -delta

Notes: MLN "Kernel function", "Mercer Theorem", "Positive definite kernels"; REP "Kernels"; PRNN 9
and 10; ISML "Regression" 3.3, "SVM"; IRHD 6, 7.2 and 8.4. IRHD writes kappa for k and p for d.
"""

from itertools import combinations_with_replacement
from math import factorial, inf, prod, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Regressor,
    check_choice,
    check_number,
    check_samples,
    check_targets,
    check_weights,
    row_blocks,
)
from mlnotes.numerics import squared_distances, squared_norms
from mlnotes.optimization import box, solve_qp
from mlnotes.probability import log_gamma, x_log_y

__all__ = [
    "linear_in_features", "subset_products", "quadratic_map", "ring_map", "scaled_quadratic_map",
    "polynomial_map", "gaussian_map", "gaussian_frequencies", "fourier_features", "linear",
    "polynomial", "power_series", "all_subsets", "gaussian", "laplacian", "exponential", "sigmoid",
    "gram", "check_kernel", "screen", "psd_certificate", "Certificate", "refute", "Refutation",
    "empirical_feature_map", "Kernel", "kernel_squared_distances", "centre", "centre_new",
    "RKHSFunction", "apply_operator", "eigenfunctions", "Eigenfunctions", "mercer_sum",
    "sample_coefficients", "coefficient_loss", "kernel_descent", "KernelState", "iteration_costs",
    "kernel_ridge", "kernel_svm", "KernelSVM", "KernelRidge",
]  # fmt: skip

ROUND_OFF = 1e-10  # an eigenvalue that is this share of the largest is 0
ROWS = 128  # of a Gram matrix that are worked on at a time: they stay in the cache
PLAIN = 1e3  # a sum of exponents in whose difference rounding is less than 1e-12
RATES = float(np.finfo(float).tiny), float(np.finfo(float).max)  # 0 times infinity is no exponent
BLOCK = 2**22  # entries of k(X, Z) that a prediction holds at a time
PANEL = 128  # unknowns that a triangular system is solved for at a time
INSIDE = 1e-6  # a multiplier this share of C away from both ends of its interval is free


# ---------------------------------------------------------------------------------------
# Feature maps
# ---------------------------------------------------------------------------------------


def linear_in_features(X, phi, w, b=0.0):
    """f(x) = w^T phi(x) + b: linear in the features, and in w, whatever it is in x.

    What trains a linear model trains this one, on phi(X) in the place of X: a loss that is convex
    stays so in w.

    >>> XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    >>> linear_in_features(XOR, subset_products, w=np.array([0.0, 0.0, 0.0, 1.0]))
    array([ 1.,  1., -1., -1.])

    Claims: kernels-01
    """
    return phi(X) @ w + b


def subset_products(X):
    """The products of all subsets of the features: 1, x_1, x_2, x_1 x_2, x_3, ..., x_1 ... x_d.

    There are C(d, j) of j factors, sum_j C(d, j) = 2^d in all: one feature more doubles them.

    Returns: (n, 2^d).

    >>> subset_products(np.array([[2.0, 3.0, 5.0]]))
    array([[ 1.,  2.,  3.,  6.,  5., 10., 15., 30.]])

    Claims: kernels-02
    """
    products = np.ones((len(X), 1))
    for x in X.T:
        products = np.hstack([products, products * x[:, None]])
    return products


def quadratic_map(X):
    """phi(x) = (1, x_1, x_2, x_1 x_2, x_1^2, x_2^2): every conic w^T phi(x) = 0 is a plane here.

    For a x_1 + b x_2 + c x_1 x_2 + d x_1^2 + e x_2^2 + f the weights are w = (f, a, b, c, d, e).
    Its inner product is not (1 + x^T z)^2: see `scaled_quadratic_map`.

    Returns: (n, 6).

    >>> quadratic_map(np.array([[2.0, 3.0]]))
    array([[1., 2., 3., 6., 4., 9.]])

    Claims: kernels-03
    """
    x_1, x_2 = np.asarray(X, dtype=float).T
    return np.column_stack([np.ones(len(X)), x_1, x_2, x_1 * x_2, x_1**2, x_2**2])


def ring_map(X):
    """phi(x) = (x_1, x_2, x_1^2 + x_2^2): lifts the plane on a paraboloid, and circles to a height.

    Its kernel is x^T z + ||x||^2 ||z||^2, and the plane x_3 = r^2 cuts out the circle of radius r.

    Returns: (n, 3).

    >>> ring_map(np.array([[2.0, 3.0]]))
    array([[ 2.,  3., 13.]])

    Claims: kernels-04
    """
    return np.column_stack([X, squared_norms(X)])


def scaled_quadratic_map(X):
    """phi(x) = (1, x_1^2, x_2^2, sqrt2 x_1, sqrt2 x_2, sqrt2 x_1 x_2), with

        phi(x)^T phi(z) = 1 + x_1^2 z_1^2 + x_2^2 z_2^2 + 2 x_1 z_1 + 2 x_2 z_2 + 2 x_1 x_2 z_1 z_2
                        = (1 + x^T z)^2 .

    MLN prints (1 + phi(x)^T phi(z))^2 for it, which is of degree 4 (kernels-11). Without the
    sqrt2, as in `quadratic_map`, the functions w^T phi are the same, but not their norms.

    Returns: (n, 6).

    >>> phi = scaled_quadratic_map(np.array([[1.0, 1.0]]))
    >>> round(float(phi[0] @ phi[0]), 12)
    9.0

    Claims: kernels-10
    """
    x_1, x_2 = np.asarray(X, dtype=float).T
    root = np.sqrt(2)
    return np.column_stack([np.ones(len(X)), x_1**2, x_2**2, root * x_1, root * x_2,
                            root * x_1 * x_2])  # fmt: skip


def polynomial_map(X, p, alpha=1.0, c=1.0):
    """The features of (alpha x^T z + c)^p, a whole p: all monomials of x up to degree p, weighted,

        sqrt(p! / (j_0! j_1! ... j_d!) c^j_0 alpha^(p - j_0)) x_1^j_1 ... x_d^j_d,

    where j_0 + j_1 + ... + j_d = p. There are C(d + p, p); those with j_0 > 0 vanish if c = 0.

    Returns: (n, C(d + p, p)). Raises: ValueError for parameters that `polynomial` does not take.

    >>> polynomial_map(np.array([[3.0]]), p=2).round(6)
    array([[1.      , 4.242641, 9.      ]])
    """
    _check_polynomial(p, alpha, c)
    X, columns = np.asarray(X, dtype=float), []
    for factors in combinations_with_replacement(range(X.shape[1] + 1), p):
        j = np.bincount(factors, minlength=X.shape[1] + 1)
        many = factorial(p) / prod(factorial(each) for each in j.tolist())
        weight = np.sqrt(many * float(c) ** j[0] * float(alpha) ** (p - j[0]))
        columns.append(weight * np.prod(X ** j[1:], axis=1))
    return np.column_stack(columns)


def gaussian_map(x, s, terms):
    """The first `terms` features of exp(-(x - z)^2 / s^2) of numbers x (n,), of infinitely many:

        phi_j(x) = exp(-x^2 / s^2) sqrt((2 / s^2)^j / j!) x^j,   j = 0, 1, 2, ...

    It is the power series of exp(2 x z / s^2). On d features the kernel is a product of d of
    these. The Gram matrix of n different points has the rank n, however large n is.

    Returns: (n, terms). Raises: ValueError unless s > 0 and terms >= 1.

    >>> gaussian_map(np.array([0.0]), s=1.0, terms=3)
    array([[1., 0., 0.]])

    Claims: kernels-16
    """
    check_number("s", s, above=0)
    check_number("terms", terms, at_least=1, integer=True)
    t, j = np.asarray(x, dtype=float)[:, None] / s, np.arange(terms)
    logs = -(t**2) + x_log_y(j, np.sqrt(2) * np.abs(t)) - log_gamma(j + 1) / 2
    return np.sign(t) ** j * np.exp(logs)  # the powers alone would leave the range


def gaussian_frequencies(D, d, sigma, *, rng):
    """D frequencies of d entries each, normal with the covariance I / sigma^2: (D, d).

    With s in the place of sigma the covariance is 2 I / s^2.

    >>> gaussian_frequencies(5, 3, sigma=2.0, rng=np.random.default_rng(0)).shape
    (5, 3)
    """
    return rng.normal(size=(D, d)) / sigma


def fourier_features(X, W):
    """z(x) = (cos(w_1^T x), ..., cos(w_D^T x), sin(w_1^T x), ..., sin(w_D^T x)) / sqrt(D).

    For the frequencies W (D, d) of `gaussian_frequencies` the inner product z(x)^T z(x') has the
    mean k(x, x') of the Gaussian kernel and the variance (1 - k^2)^2 / (2 D); z(x)^T z(x) = 1.

    Returns: (n, 2 D).

    >>> fourier_features(np.array([[0.0]]), np.array([[3.0]]))
    array([[1., 0.]])

    Claims: kernels-17
    """
    phase = X @ W.T
    return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(len(W))


# ---------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------


def linear(X, Z=None, *, c=0.0):
    """k(x, z) = x^T z + c, of which the features are x and sqrt(c), for c >= 0.

    A linear model again, in n^2 numbers in the place of n d: a gain for d > n alone.

    Returns: (n, m). Raises: ValueError if c < 0, which makes the Gram matrix of x = 0 negative.

    >>> linear(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), c=1.0)
    array([[12.]])

    Claims: kernels-09
    """
    return polynomial(X, Z, p=1, c=c)


def polynomial(X, Z=None, *, p, alpha=1.0, c=1.0):
    """k(x, z) = (alpha x^T z + c)^p, for alpha, c >= 0 and a whole p >= 0.

    IRHD 6 prints it for all real exponents >= 0, but a negative base has no real power then, and
    on positive bases it is no kernel either (kernels-39). IRHD 8.4 gives the dimension of its
    features as C(p + d, d) in letters that do not occur: it is C(d + p, p) for features x (d,),
    and for c = 0 only C(d + p - 1, p) (kernels-14).

    Returns: (n, m). Raises: ValueError for other parameters.

    >>> polynomial(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]), p=2)
    array([[9.]])

    Claims: kernels-12
    """
    _check_polynomial(p, alpha, c)
    K = _products(X, Z, alpha, c)
    return K if p == 1 else K**p


def _check_polynomial(p, alpha, c):
    check_number("p", p, at_least=0, integer=True)
    check_number("alpha", alpha, at_least=0)
    check_number("c", c, at_least=0)


def _pair(X, Z):
    """X and Z in double precision, X itself where there is no other; of one width, or refused."""
    one = Z is None or Z is X
    X = np.asanyarray(X, dtype=float)
    Z = X if one else np.asanyarray(Z, dtype=float)
    if X.ndim != 2 or Z.ndim != 2 or X.shape[1] != Z.shape[1]:
        raise ValueError(f"X and Z must be (n, d) and (m, d); got {X.shape} and {Z.shape}")
    return X, Z


def _products(X, Z, alpha, c):
    """alpha x^T z + c: (n, m)."""
    X, Z = _pair(X, Z)
    K = X @ Z.T
    if alpha != 1:
        K *= alpha
    if c != 0:
        K += c
    return K


def power_series(X, Z=None, *, a):
    """sum_j a_j (x^T z)^j, a kernel if all a_j >= 0; a (p + 1,). (1 + x^T z)^p has a_j = C(p, j).

    On all of R^d one negative a_j destroys it, whatever the others are.

    Returns: (n, m).

    >>> power_series(np.array([[3.0]]), np.array([[2.0]]), a=[1.0, 2.0, 1.0])
    array([[49.]])
    """
    return np.polynomial.polynomial.polyval(_products(X, Z, 1, 0), a)


def all_subsets(X, Z=None):
    """k(x, z) = prod_j (1 + x_j z_j), of which the features are the 2^d `subset_products`.

    d multiplications in the place of 2^d.

    Returns: (n, m).

    >>> all_subsets(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[36.]])

    Claims: kernels-08
    """
    X, Z = _pair(X, Z)
    K = np.ones((len(X), len(Z)))
    for x, z in zip(X.T, Z.T, strict=True):
        K *= 1 + np.multiply.outer(x, z)
    return K


def gaussian(X, Z=None, *, sigma):
    """k(x, z) = exp(-||x - z||^2 / (2 sigma^2)), the Gaussian or radial basis function kernel.

    MLN, PRNN and REP have exp(-||x - z||^2 / s^2): their s is our sqrt(2) sigma. It is 1 at x = z
    and in (0, 1] everywhere; Gram matrices of different points are positive definite.

    Returns: (n, m). Raises: ValueError unless sigma > 0.

    >>> gaussian(np.array([[0.0]]), np.array([[0.0], [2.0]]), sigma=1.0).round(6)
    array([[1.      , 0.135335]])

    Claims: kernels-15
    """
    check_number("sigma", sigma, above=0)
    return _gaussian(X, Z, _rate(sigma))


def _rate(sigma):
    """1 / (2 sigma^2), which may be 0 or infinite in floating point."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(1 / (2 * np.float64(sigma) ** 2))


def laplacian(X, Z=None, *, sigma, q=1):
    """k(x, z) = exp(-||x - z||_q / sigma) with q = 1 or 2; REP does not say which.

    With q = 1 it is the product of the kernels of the single features, and scikit-learn's; with
    q = 2 and 2 sigma^2 for sigma it is the `exponential` one. Both are kernels.

    Returns: (n, m). Raises: ValueError unless sigma > 0 and q is 1 or 2.

    >>> X, Z = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    >>> np.log(laplacian(X, Z, sigma=1.0)), np.log(laplacian(X, Z, sigma=1.0, q=2))
    (array([[-7.]]), array([[-5.]]))

    Claims: kernels-19
    """
    check_number("sigma", sigma, above=0)
    if q not in (1, 2):
        raise ValueError(f"q must be 1 or 2; got {q!r}")
    rate = 1 / float(sigma)
    return _decay(_euclidean(X, Z) if q == 2 else _city_block(X, Z), rate)


def exponential(X, Z=None, *, sigma):
    """k(x, z) = exp(-||x - z|| / (2 sigma^2)), with the Euclidean norm: (n, m).

    Raises: ValueError unless sigma > 0.

    >>> np.log(exponential(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), sigma=0.5))
    array([[-10.]])
    """
    check_number("sigma", sigma, above=0)
    return _decay(_euclidean(X, Z), _rate(sigma))


def _euclidean(X, Z):
    """||x - z||: (n, m)."""
    return np.sqrt(squared_distances(*_pair(X, Z)))


def _city_block(X, Z):
    """||x - z||_1, one feature after the other: (n, m)."""
    X, Z = _pair(X, Z)
    D, step = np.zeros((len(X), len(Z))), np.empty((len(X), len(Z)))
    for x, z in zip(X.T, np.ascontiguousarray(Z.T), strict=True):
        np.subtract(x[:, None], z, out=step)
        D += np.abs(step, out=step)
    return D


def _gaussian(X, Z, gamma):
    """exp(-gamma ||x - z||^2); of one set, Z = None or X, half is computed, and mirrored.

    From x^T z - (||x||^2 + ||z||^2) / 2 of points times sqrt(2 gamma), about the mean of Z, if
    rounding changes that by less than 1e-12; else from `squared_distances`.
    """
    X, Y = _pair(X, Z)
    alone, scale = Y is X, sqrt(2 * float(gamma))
    if not (len(X) and len(Y)):
        return np.empty((len(X), len(Y)))
    with np.errstate(over="ignore", invalid="ignore"):
        origin = Y.mean(axis=0)
        A = (X - origin) * scale
        B = A if alone else (Y - origin) * scale
        a, b = -squared_norms(A) / 2, -squared_norms(B) / 2
    if not -(a.min() + b.min()) <= PLAIN:  # NaN, too
        return _decay(squared_distances(X, Y), gamma)
    K = np.empty((len(A), len(B)))
    for rows in row_blocks(len(A), ROWS):
        others = slice(rows.start if alone else 0, None)
        block = A[rows] @ B[others].T
        block += a[rows, None]
        block += b[others]
        np.minimum(block, 0.0, out=block)
        K[rows, others] = np.exp(block, out=block)
        if alone:
            K[others, rows] = block.T
            K[rows, rows] = np.maximum(K[rows, rows], K[rows, rows].T)  # alike to the last bit
    if alone:
        np.fill_diagonal(K, 1.0)
    return K


def _decay(D, gamma):
    """exp(-gamma D), in the place of D."""
    rate = min(max(gamma, RATES[0]), RATES[1])
    with np.errstate(over="ignore"):
        for rows in row_blocks(len(D), ROWS):
            block = D[rows]
            block *= -rate
            np.exp(block, out=block)
    return D


def sigmoid(X, Z=None, *, gamma=1.0, c=0.0):
    """tanh(gamma x^T z + c), which the notes list among the kernels, and which is none.

    Symmetric and within [-1, 1] it is. But for gamma > 0 there are Gram matrices with negative
    eigenvalues for every c, also on any circle, where IRHD 8.4 would have it safe (kernels-40):
    c < 0 fails at the single point 0, and c >= 0 at two points of a line. An algorithm that needs
    a kernel should ask `psd_certificate` first.

    Returns: (n, m).

    >>> sigmoid(np.array([[0.0]]), np.array([[0.0]]), gamma=1.0, c=-1.0).round(6)
    array([[-0.761594]])

    Claims: kernels-20
    """
    K = _products(X, Z, gamma, c)
    return np.tanh(K, out=K)


def _by_name(kernel, gamma, degree, coef0):
    """The function k(X, Z) that a kernel's name and scikit-learn's parameters stand for."""
    return {
        "linear": linear,
        "poly": lambda X, Z: _products(X, Z, gamma, coef0) ** degree,
        "polynomial": lambda X, Z: _products(X, Z, gamma, coef0) ** degree,
        "rbf": lambda X, Z: _gaussian(X, Z, gamma),
        "laplacian": lambda X, Z: _decay(_city_block(X, Z), gamma),
        "exponential": lambda X, Z: _decay(_euclidean(X, Z), gamma),
        "sigmoid": lambda X, Z: sigmoid(X, Z, gamma=gamma, c=coef0),
        "all_subsets": all_subsets,
    }[kernel]


NAMES = (
    "linear", "poly", "polynomial", "rbf", "laplacian", "exponential", "sigmoid", "all_subsets",
)  # fmt: skip


def gram(X, Z=None, kernel="rbf", *, gamma=None, degree=3, coef0=1.0):
    """The matrix of k(x_i, z_j): the Gram matrix K of one sample for Z = None.

    `kernel` is a function k(X, Z), or a name, with the parameters that scikit-learn gives it:
    "linear", "poly" or "polynomial" (gamma x^T z + coef0)^degree, "rbf" exp(-gamma ||x - z||^2),
    "laplacian" exp(-gamma ||x - z||_1), "sigmoid" tanh(gamma x^T z + coef0); besides, "exponential"
    exp(-gamma ||x - z||) and "all_subsets". None for gamma is 1 / d.

    Returns: (n, m). Raises: ValueError for another name, or unless gamma > 0, coef0 >= 0 (but for
    "sigmoid") and the degree is whole and >= 1.

    >>> gram(np.array([[0.0], [2.0]]), kernel="linear")
    array([[0., 0.],
           [0., 4.]])

    Claims: kernels-07
    """
    how = check_kernel(kernel, gamma, degree, coef0, function=True)
    if callable(kernel):
        return kernel(X, X if Z is None else Z)
    X, Z = _pair(X, Z)
    if gamma is None:
        how["gamma"] = 1 / X.shape[1]
    return _by_name(**how)(X, None if Z is X else Z)


def check_kernel(kernel, gamma=None, degree=3, coef0=1.0, *, choices=NAMES, function=False):
    """The parameters of `gram`, checked: the one place that every kernel machine asks.

    `kernel` must be one of the names in `choices`; with `function` it may also be a function
    k(X, Z). A gamma of None stands for 1 / d, and is left as it is.

    Returns: a dict of kernel, gamma, degree and coef0. Raises: ValueError for any other kernel, a
    class or an array for instance, and unless gamma > 0, coef0 >= 0 (any number for "sigmoid") and
    the degree is whole and >= 1.

    >>> check_kernel("rbf", gamma=0.5)
    {'kernel': 'rbf', 'gamma': 0.5, 'degree': 3, 'coef0': 1.0}
    >>> check_kernel("poly", degree=2.5)
    Traceback (most recent call last):
    ValueError: degree must be an integer >= 1; got 2.5
    """
    if isinstance(kernel, type) or not (function and callable(kernel)):
        check_choice("kernel", kernel, choices)
    if gamma is not None:
        check_number("gamma", gamma, above=0, below=inf)
    check_number("degree", degree, at_least=1, integer=True)
    check_number("coef0", coef0, at_least=-inf if kernel == "sigmoid" else 0, below=inf)
    return {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}


# ---------------------------------------------------------------------------------------
# Is it a kernel?
# ---------------------------------------------------------------------------------------


def screen(K, tol=ROUND_OFF):
    """Which of the easy necessary conditions a matrix K of values k(x_i, x_j) fails, as text:

        k(x, z) = k(z, x),   k(x, x) >= 0,   k(x, z)^2 <= k(x, x) k(z, z),

    each but for `tol` times the largest entry (or square of it). Passing all three proves nothing.

    Returns: a sentence, or None if it passes. Raises: ValueError if K is not square and finite.

    >>> screen(np.array([[1.0, 2.0], [2.0, 1.0]]))
    'k(x, z)^2 > k(x, x) k(z, z) for samples 0 and 1'
    >>> print(screen(np.array([[1.0, -0.9, -0.9], [-0.9, 1.0, -0.9], [-0.9, -0.9, 1.0]])))
    None

    Claims: kernels-35
    """
    K = _square(K)
    K = K / (np.abs(K).max() or 1.0)
    k = np.diag(K)
    for name, wrong in (
        ("k(x, z) differs from k(z, x)", np.abs(K - K.T) > tol),
        ("k(x, x) < 0", np.diag(k < -tol)),
        ("k(x, z)^2 > k(x, x) k(z, z)", K**2 - np.outer(k, k) > tol),
    ):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            return f"{name} for samples {i} and {j}" if i != j else f"{name} for sample {i}"
    return None


def _square(K):
    """K in double precision, if it is square and finite: no comparison would find a NaN."""
    K = np.asarray(K, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square; got shape {K.shape}")
    bad = np.count_nonzero(~np.isfinite(K))
    if bad:
        raise ValueError(f"K must be finite; it contains NaN or infinity {bad} times")
    return K


class Certificate(NamedTuple):
    """Whether a symmetric matrix is positive semidefinite, with the direction that tells."""

    holds: bool
    smallest: float  # eigenvalue
    q: np.ndarray  # (n,), its eigenvector of length 1: q^T K q = smallest
    largest: float  # eigenvalue, by absolute value


def psd_certificate(K, tol=ROUND_OFF):
    """Whether q^T K q >= 0 for all q: the smallest eigenvalue is >= -tol ||K||, of a symmetric K.

    A kernel is a function for which this holds on *all* finite sets of points; MLN and IRHD also
    say it of one matrix, and of any continuous symmetric function (kernels-32). REP and PRNN leave
    symmetry out: without it K is no Gram matrix, whatever q^T K q (kernels-34).

    Returns: a `Certificate`. Raises: ValueError if K is not square, finite and symmetric.

    >>> verdict = psd_certificate(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> verdict.holds, round(verdict.smallest, 12), np.abs(verdict.q).round(6)
    (False, -1.0, array([0.707107, 0.707107]))

    Claims: kernels-31
    """
    K = _square(K)
    skew = np.abs(K - K.T).max()
    if skew > tol * np.abs(K).max():
        raise ValueError(f"K must be symmetric; it differs from K^T by {skew:.3g}")
    values, vectors = np.linalg.eigh(K)
    largest = float(np.abs(values).max())
    holds = bool(values[0] >= -tol * largest)
    return Certificate(holds, float(values[0]), vectors[:, 0], largest)


class Refutation(NamedTuple):
    """Points and coefficients that prove a function to be no kernel: q^T K q < 0."""

    X: np.ndarray  # (n, d)
    q: np.ndarray  # (n,)
    form: float  # q^T K q


def refute(k, sets, tol=ROUND_OFF):
    """The first of the point `sets`, arrays (n, d), on which the Gram matrix of k is not PSD.

    That is, up to `tol`, as `psd_certificate` has it. Finding none proves nothing: a function may
    pass on these sets and fail on others.

    Returns: a `Refutation`, or None.
    Raises: ValueError if a Gram matrix is not finite or not symmetric.

    >>> found = refute(sigmoid, [np.array([[1.0]]), np.array([[1.0], [4.0]])])
    >>> found.X.ravel(), round(found.form, 4)
    (array([1., 4.]), -0.1256)
    """
    for X in sets:
        verdict = psd_certificate(k(X, X), tol)
        if not verdict.holds:
            return Refutation(X, verdict.q, verdict.smallest)
    return None


def empirical_feature_map(K, tol=ROUND_OFF):
    """Features of the samples with phi(x_i)^T phi(x_j) = K_ij: row i of V sqrt(Lambda).

    K = V Lambda V^T; eigenvalues up to `tol` times the largest count as 0 and get no feature. So
    every symmetric PSD matrix is a Gram matrix, and conversely q^T Phi Phi^T q = ||Phi^T q||^2.
    That a function with PSD Gram matrices on all sets has features for all x is the theorem of
    Moore and Aronszajn, which PRNN gives to Mercer (kernels-34).

    Returns: (n, r), r the rank of K. Raises: ValueError if K is not symmetric or not PSD.

    >>> phi = empirical_feature_map(np.array([[4.0, 4.0], [4.0, 4.0]]))
    >>> phi.shape, (phi @ phi.T).round(9)
    ((2, 1), array([[4., 4.],
           [4., 4.]]))

    Claims: kernels-33
    """
    verdict = psd_certificate(K, tol)
    if not verdict.holds:
        raise ValueError(f"K must have no negative eigenvalue; got {verdict.smallest:.3g}")
    values, V = np.linalg.eigh(np.asarray(K, dtype=float))
    kept = values > tol * verdict.largest
    return V[:, kept] * np.sqrt(values[kept])


# ---------------------------------------------------------------------------------------
# New kernels from old
# ---------------------------------------------------------------------------------------


class Kernel:
    """A kernel k(X, Z) with which c k, c + k, k + k' and k k' are kernels, c > 0.

    Its features are sqrt(c) phi for c k, (phi, sqrt(c)) for c + k, (phi, phi') for k + k', and all
    products phi_i phi'_j for k k', whose Gram matrix is the product of the two, entry by entry.

    >>> k = 2 * Kernel(linear) * Kernel(linear) + 1
    >>> k(np.array([[3.0]]), np.array([[5.0]]))
    array([[451.]])

    Claims: kernels-37
    """

    def __init__(self, k):
        self.k = k

    @classmethod
    def of(cls, f):
        """k(x, z) = f(x) f(z) for a function f(X) (n,): of rank one, or 0 where f vanishes."""
        return cls(lambda X, Z: np.multiply.outer(f(X), f(Z)))

    def __call__(self, X, Z=None):
        """The matrix of k(x_i, z_j): (n, m)."""
        return self.k(X, X if Z is None else Z)

    def __add__(self, other):
        """k + k', or k + c."""
        if isinstance(other, Kernel):
            return Kernel(lambda X, Z: self(X, Z) + other(X, Z))
        check_number("c", other, at_least=0)
        return Kernel(lambda X, Z: self(X, Z) + other)

    def __mul__(self, other):
        """k k', entry by entry, or c k."""
        if isinstance(other, Kernel):
            return Kernel(lambda X, Z: self(X, Z) * other(X, Z))
        check_number("c", other, at_least=0)
        return Kernel(lambda X, Z: self(X, Z) * other)

    __radd__, __rmul__ = __add__, __mul__


# ---------------------------------------------------------------------------------------
# Distances and means
# ---------------------------------------------------------------------------------------


def kernel_squared_distances(K, k_x, k_z):
    """||phi(x) - phi(z)||^2 = k(x, x) - 2 k(x, z) + k(z, z), never below 0: (n, m).

    The kernel trick at its smallest. K (n, m) holds the k(x_i, z_j), `k_x` (n,) the k(x_i, x_i)
    and `k_z` (m,) the k(z_j, z_j). Any method that needs distances alone, or inner products alone,
    is run in feature space in this way. Raises: ValueError if the shapes do not fit.

    >>> kernel_squared_distances(np.array([[3.0 * 5.0]]), np.array([9.0]), np.array([25.0]))
    array([[4.]])

    Claims: kernels-21
    """
    if np.shape(k_x) + np.shape(k_z) != np.shape(K):
        raise ValueError(
            "K, k_x and k_z must be (n, m), (n,) and (m,); "
            f"got {np.shape(K)}, {np.shape(k_x)} and {np.shape(k_z)}"
        )
    K, k_x = np.asarray(K, dtype=float), np.asarray(k_x, dtype=float)
    return np.maximum(k_x[:, None] - 2 * K + k_z, 0)


def centre(K):
    """The Gram matrix of phi(x_i) - mean phi: H K H with H = I - 1 1^T / n.

    H H = H, and what rounding leaves of a mean far from 0 goes when H is applied again.

    >>> centre(np.array([[1.0, 3.0], [3.0, 9.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K_c = centre_new(K, K)
    return centre_new(K_c, K_c)


def centre_new(K_new, K):
    """(phi(z_i) - mean phi)^T (phi(x_j) - mean phi) of new points z, with the mean of the samples.

    `K_new` (m, n) holds the k(z_i, x_j), K (n, n) the k(x_i, x_j). Returns: (m, n).
    Raises: ValueError if the shapes do not fit.

    >>> centre_new(np.array([[5.0, 15.0]]), np.array([[1.0, 3.0], [3.0, 9.0]]))
    array([[-3.,  3.]])
    """
    K_new, K = np.asarray(K_new, dtype=float), np.asarray(K, dtype=float)
    if K.shape != (K_new.shape[-1],) * 2:
        raise ValueError(f"K_new and K must be (m, n) and (n, n); got {K_new.shape} and {K.shape}")
    means = K.mean(axis=0)
    return K_new - K_new.mean(axis=1, keepdims=True) - means + means.mean()


# ---------------------------------------------------------------------------------------
# Functions
# ---------------------------------------------------------------------------------------


def _check_one_per_sample(name, values, X):
    """Of a column and a row numpy would make a table."""
    if np.shape(values) != (len(X),):
        raise ValueError(f"{name} must have shape ({len(X)},); got {np.shape(values)}")


class RKHSFunction:
    """f = sum_i alpha_i k(., x_i), a member of the reproducing kernel Hilbert space of k.

    <f, g> = sum_ij alpha_i beta_j k(x_i, z_j) = sum_j beta_j f(z_j) = sum_i alpha_i g(x_i) does not
    depend on how f and g are written; <f, k(., x)> = f(x), and so f(x)^2 <= k(x, x) <f, f>. Of two
    kernels there are two spaces: sums and products of f and g of both are refused.

    >>> f = RKHSFunction(linear, np.array([[1.0], [2.0]]), np.array([1.0, 3.0]))
    >>> f(np.array([[10.0]])), f.norm()
    (array([70.]), 7.0)

    Claims: kernels-41
    """

    def __init__(self, k, X, alpha):
        _check_one_per_sample("alpha", alpha, X)
        self.k, self.X, self.alpha = k, X, alpha

    def _check_space(self, g):
        if g.k != self.k:
            raise ValueError(f"f and g must have one kernel; got {self.k!r} and {g.k!r}")

    def __call__(self, points):
        """f at the points (m, d): (m,)."""
        return self.k(points, self.X) @ self.alpha

    def __add__(self, g):
        """f + g, by the one expansion after the other."""
        self._check_space(g)
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
        self._check_space(g)
        return float(self.alpha @ self.k(self.X, g.X) @ g.alpha)

    def norm(self):
        """sqrt(<f, f>)."""
        return float(np.sqrt(max(self.inner(self), 0.0)))


# ---------------------------------------------------------------------------------------
# Mercer
# ---------------------------------------------------------------------------------------


def apply_operator(k, f, x, weights):
    """(T f)(x_i) = int k(x_i, y) f(y) dy = sum_j weights_j k(x_i, x_j) f(x_j), at the nodes x (n,).

    f (n,) holds the f(x_j); nodes and weights are those of a quadrature, `weights` (n,) or a
    number h. <f, T f> >= 0 for all f is Mercer's condition on a continuous k. That T is linear is
    not enough for eigenvalues, as IRHD 6 has it: for k(x, y) = 1 if y < x, and else 0, it has none
    at all (kernels-48). k must be symmetric, and square integrable.

    Returns: (n,). Raises: ValueError if f has another shape.

    >>> x = (np.arange(1000) + 0.5) / 1000
    >>> Tf = apply_operator(np.minimum.outer, np.ones(1000), x, 1e-3)
    >>> bool(np.allclose(Tf, x - x**2 / 2, atol=1e-6))
    True
    """
    _check_one_per_sample("f", f, x)
    return k(x, x) @ (weights * f)


class Eigenfunctions(NamedTuple):
    """Solutions of int k(x, y) phi_i(y) dy = lambda_i phi_i(x), the largest lambda_i first."""

    values: np.ndarray  # (r,), lambda_i
    functions: np.ndarray  # (n, r), phi_i at the nodes: sum_j h phi_i(x_j) phi_l(x_j) = delta_il


def eigenfunctions(k, x, h, r=None):
    """The first r eigenvalues and eigenfunctions of the integral operator of k, at nodes x (n,).

    With equal weights h the operator is the matrix h K; its eigenvectors are divided by sqrt(h),
    which makes the functions orthonormal. All n without r. Midpoints are wrong by O(h^2).

    Returns: `Eigenfunctions`. Raises: ValueError if k is not symmetric.

    >>> x = (np.arange(400) + 0.5) / 400
    >>> values, _ = eigenfunctions(np.minimum.outer, x, h=1 / 400, r=3)
    >>> (1 / np.sqrt(values) / np.pi).round(3)  # exactly i - 1/2
    array([0.5, 1.5, 2.5])

    Claims: kernels-44
    """
    K = k(x, x)
    if not np.allclose(K, K.T, rtol=ROUND_OFF, atol=ROUND_OFF * np.abs(K).max()):
        raise ValueError("k must be symmetric: else it need not have any eigenvalue")
    values, vectors = np.linalg.eigh(h * K)
    return Eigenfunctions(values[::-1][:r], vectors[:, ::-1][:, :r] / np.sqrt(h))


def mercer_sum(values, left, right):
    """sum_i lambda_i phi_i(x) phi_i(z), all summed k(x, z); and sum_i lambda_i = int k(x, x) dx.

    `values` (r,) are the lambda_i, `left` (n, r) the phi_i(x), `right` (m, r) the phi_i(z). The
    equality holds for all x and z if k is continuous and its domain compact. IRHD 6 asks for
    square integrable only: k = 1 if x = z, and else 0, has all lambda_i = 0 (kernels-47).

    Returns: (n, m).

    >>> mercer_sum(np.array([2.0, 1.0]), np.array([[1.0, 3.0]]), np.array([[5.0, 1.0]]))
    array([[13.]])

    Claims: kernels-46
    """
    return (left * values) @ right.T


# ---------------------------------------------------------------------------------------
# Least squares
# ---------------------------------------------------------------------------------------


def sample_coefficients(X, y, w):
    """gamma_i = 2 (w^T x_i - y_i): the gradient of sum_i (w^T x_i - y_i)^2 is sum_i gamma_i x_i.

    The gradient of every loss sum_i l(w^T x_i, y_i) is such a combination of the samples, and so
    steps from w = 0 never leave their span: w = sum_i alpha_i x_i with alpha <- alpha - eta gamma.
    REP says that the start does not matter, the loss being convex: only if its minimum is at one
    place. For d > n the part of the start orthogonal to the samples stays for ever (kernels-24).

    Returns: (n,). Raises: ValueError if y has another shape.

    >>> sample_coefficients(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]), np.array([3.0]))
    array([ 4., 10.])

    Claims: kernels-23
    """
    _check_one_per_sample("y", y, X)
    return 2 * (X @ w - y)


def coefficient_loss(K, y, alpha):
    """||K alpha - y||^2, the squared loss of w = sum_i alpha_i phi(x_i), with f(x_i) = (K alpha)_i.

    Raises: ValueError if y is not (n,).

    >>> coefficient_loss(np.array([[2.0]]), np.array([1.0]), np.array([3.0]))
    25.0

    Claims: kernels-25
    """
    _check_one_per_sample("y", y, K)
    residual = K @ alpha - y
    return float(residual @ residual)


class KernelState(NamedTuple):
    """Gradient descent in coefficients after a step."""

    alpha: np.ndarray  # (n,)
    objective: float  # ||K alpha - y||^2
    gradient_norm: float  # of the gradient in w, sqrt(gamma^T K gamma)


def kernel_descent(K, y, *, eta):
    """alpha_i <- alpha_i - 2 eta (sum_j K_ij alpha_j - y_i) from alpha = 0: w <- w - eta gradient.

    It is gradient descent in w, in feature space, and not in alpha, where the gradient of the loss
    is 2 K (K alpha - y). The residual after t steps is (I - 2 eta K)^t times that at the start: it
    vanishes for a regular K and eta < 1 / lambda_max(K). REP closes a parenthesis too early, which
    doubles K alpha but not y, and leads to y / 2 (kernels-27).

    Yields: the start, then a `KernelState` per step, without end; the caller bounds them.
    Raises: ValueError if y is not (n,).

    >>> states = kernel_descent(np.array([[2.0]]), np.array([4.0]), eta=0.125)
    >>> [float(next(states).alpha[0]) for _ in range(3)]
    [0.0, 1.0, 1.5]

    Claims: kernels-26
    """
    _check_one_per_sample("y", y, K)
    alpha = np.zeros(len(y))
    while True:
        residual = K @ alpha - y
        norm = 2 * np.sqrt(max(residual @ K @ residual, 0.0))
        yield KernelState(alpha, float(residual @ residual), float(norm))
        alpha = alpha - 2 * eta * residual


def iteration_costs(n, d):
    """Multiplications of one step of descent on the subset products: n^2 by K, n 2^d by features.

    The kernel wins if, and only if, n < 2^d; K takes 8 n^2 bytes.

    >>> iteration_costs(n=1000, d=20)
    (1000000, 1048576000)
    """
    return n**2, n * 2**d


def kernel_ridge(K, y, alpha, weights=None):
    """The coefficients a of least squares ||K a - y||^2 + alpha a^T K a: (K + alpha I) a = y.

    With weights, of sum_i weights_i ((K a)_i - y_i)^2 + alpha a^T K a: a = r u with r_i =
    sqrt(weights_i) and (r K r + alpha I) u = r y. By Cholesky; where K is singular and alpha is 0,
    the u of least norm.

    Returns: (n,). Raises: ValueError if K + alpha I has a negative eigenvalue: k is no kernel then;
    or if K is not square and finite, or y or the weights are not (n,).

    >>> kernel_ridge(np.array([[2.0, 0.0], [0.0, 6.0]]), np.array([3.0, 8.0]), alpha=2.0)
    array([0.75, 1.  ])
    """
    _check_one_per_sample("y", y, K)
    if weights is not None:
        _check_one_per_sample("weights", weights, K)
    return _ridge(_square(K).copy(), y, alpha, weights)


def _ridge(K, y, alpha, weights=None):
    """The coefficients of `kernel_ridge`, in the place of K."""
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    if weights is not None:
        K *= root
        K *= root[:, None]
    K[np.diag_indices_from(K)] += alpha
    try:
        L = np.linalg.cholesky(K)
        pivots = L.diagonal() ** 2
        sound = pivots.min() > _noise(pivots)
    except np.linalg.LinAlgError:
        sound = False
    return root * (_solve(L, root * y) if sound else _shortest(K, root * y))


def _noise(values):
    """What rounding may make of a pivot or an eigenvalue that is 0, beside these `values`."""
    return len(values) * np.finfo(float).eps * np.abs(values).max()


def _solve(L, y):
    """The solution of L L^T a = y, L lower triangular, a PANEL of unknowns at a time."""
    a = y.copy()
    starts = range(0, len(y), PANEL)
    for start in starts:
        some = slice(start, start + PANEL)
        a[some] = np.linalg.solve(L[some, some], a[some] - L[some, :start] @ a[:start])
    for start in reversed(starts):
        some, rest = slice(start, start + PANEL), slice(start + PANEL, None)
        a[some] = np.linalg.solve(L[some, some].T, a[some] - L[rest, some].T @ a[rest])
    return a


def _shortest(M, y):
    """The solution of M a = y of least norm, or of least squares if there is none."""
    values, V = np.linalg.eigh(M)
    small = _noise(values)
    if values[0] < -small:
        raise ValueError(
            f"K + alpha I must have no negative eigenvalue; got {values[0]:.3g}: raise alpha, or "
            "take a kernel"
        )
    kept = values > small
    return V[:, kept] @ (V[:, kept].T @ y / values[kept])


# ---------------------------------------------------------------------------------------
# Support vectors
# ---------------------------------------------------------------------------------------


class KernelSVM(NamedTuple):
    """The solution of the dual of a kernel support vector machine."""

    alpha: np.ndarray  # (n,), the multipliers, in [0, C]
    b: float  # f(x) = sum_i alpha_i y_i k(x_i, x) + b
    objective: float  # of the dual
    residual: float  # the largest violation of a KKT condition, relative to its terms


def kernel_svm(K, y, C):
    """max sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij over

        0 <= alpha_i <= C,   sum_i alpha_i y_i = 0 .

    The dual of the linear machine on phi(x_i), by `optimization.solve_qp`: for a hundred samples,
    and a hint of what k is good for. PRNN 9 prints the bounds alone; without y^T alpha = 0 it is
    the machine without b (kernels-30). b is the mean over free alpha_i, or amid what is allowed.

    Returns: a `KernelSVM`. Raises: ValueError unless C > 0 and y (n,) holds both -1 and +1.

    >>> machine = kernel_svm(linear(np.array([[1.0], [3.0]])), np.array([-1.0, 1.0]), C=1.0)
    >>> machine.alpha.round(6), round(machine.b, 6)
    (array([0.5, 0.5]), -2.0)
    """
    check_number("C", C, above=0)
    _check_one_per_sample("y", y, K)
    n, labels = len(y), np.unique(y)
    if not np.array_equal(labels, [-1, 1]):
        raise ValueError(f"y must hold -1 and +1, and both; got {labels}")
    G, h = box(np.zeros(n), np.full(n, C))
    qp = solve_qp(K * np.multiply.outer(y, y), -np.ones(n), y[None], [0.0], G, h)
    return KernelSVM(qp.x, _offset(qp.x, K @ (qp.x * y), y, C), -qp.objective, qp.residual)


def _offset(alpha, f, y, C):
    """b with y_i (f_i + b) = 1 for free alpha_i, >= 1 where alpha_i = 0, <= 1 where alpha_i = C."""
    low, high = alpha <= INSIDE * C, alpha >= (1 - INSIDE) * C
    free = ~(low | high)
    if free.any():
        return float(np.mean((y - f)[free]))
    below = (low & (y > 0)) | (high & (y < 0))  # b >= y_i - f_i
    return float(((y - f)[below].max() + (y - f)[~below].min()) / 2)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class KernelRidge(Regressor):
    """Least squares in feature space with the penalty alpha ||w||^2, and without an offset.

    f(x) = sum_i a_i k(x_i, x) with (K + alpha I) a = y: where descent in coefficients goes to with
    that penalty. As scikit-learn's, with these differences: kernels are those of `gram` by name,
    "exponential" and "all_subsets" among them; alpha is one number, and y has one target per
    sample; a matrix K + alpha I that is not positive semidefinite is refused, not solved.

    Parameters
    ----------
    alpha : float; strength of the penalty, 0 for none
    kernel : str; a name that `gram` knows
    gamma : float or None; of the kernel, None for 1 / d
    degree : int; of the polynomial kernel, 1 or more
    coef0 : float; of the polynomial kernel, 0 or more, and of the sigmoid

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,); the coefficients a
    X_fit_ : ndarray of shape (n, d); the samples
    n_features_in_ : int

    >>> model = KernelRidge(alpha=1.0).fit([[1.0], [2.0]], [6.0, 12.0])
    >>> model.predict([[10.0]]).round(9)
    array([50.])
    """

    def __init__(self, alpha=1, *, kernel="linear", gamma=None, degree=3, coef0=1):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _kernel(self):
        """What `gram` needs to know."""
        return check_kernel(self.kernel, self.gamma, self.degree, self.coef0)

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) of the given weights; return self."""
        alpha = check_number("alpha", self.alpha, at_least=0)
        how, samples = self._kernel(), check_samples(X)
        y = check_targets(y, len(samples))
        weights = None if sample_weight is None else check_weights(sample_weight, len(samples))
        with np.errstate(over="ignore", invalid="ignore"):
            K = gram(samples, **how)
        if not np.isfinite(K).all():
            raise ValueError("K must be finite; k(x, z) overflows: scale the features of X")
        self.dual_coef_ = _ridge(K, y, alpha, weights)
        self.X_fit_ = samples.copy()
        return self._remember(X)

    def predict(self, X):
        """f(x) of every sample: (n,)."""
        X, how = self._check_fitted(X), self._kernel()
        blocks = row_blocks(len(X), BLOCK // len(self.X_fit_))
        return np.concatenate([gram(X[b], self.X_fit_, **how) @ self.dual_coef_ for b in blocks])
