"""Independent component analysis: the directions along which mixed sources are independent.

From mixtures x = A s, ICA recovers independent sources s up to order, sign and scale. It whitens x
and turns it to be as far from normal as possible. Normal sources cannot be separated.

Contents
    Distance from normal     kurtosis, rotation, rotated_kurtosis, best_rotation, contrast, Contrast
    The fixed point          fixed_point, Unmixing
    Quality of an unmixing   amari_index
    Estimators               FastICA

Symbols
    X          (n, d)    samples x = A s + mean, one per row
    A          (d, k)    mixing matrix, one column for each source
    S          (n, k)    sources s, independent, of variance 1
    Z          (n, k)    white samples z: mean 0 and covariance I
    W          (m, k)    orthonormal directions w_j in rows; m = k is a rotation (or reflection)
    Y          (n, m)    components y = W z
    G, g       function  contrast and its derivative, the choice `fun`
    fun        str       "logcosh": G = log cosh y, "exp": G = -exp(-y^2 / 2), "cube": G = y^4 / 4
    nu         float     a random number from N(0, 1)

Notes: ISML "Feature Extraction" 5.6, which compares ICA with PCA in three lines each.
"""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Transformer,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    iterate,
)
from mlnotes.pca import pca_whitening

EPS = float(np.finfo(float).eps)


# ---------------------------------------------------------------------------------------
# Distance from normal
# ---------------------------------------------------------------------------------------


def kurtosis(Y):
    """kappa_j = E[y_j^4] / E[y_j^2]^2 - 3, for components y with mean 0: it is 0 for a normal y_j.

    Returns: (m,). Raises: ValueError if a component is 0 throughout or not finite.

    >>> kurtosis(np.array([[1.0, 2.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, -2.0]]))
    array([-2., -1.])
    """
    Y = np.asarray(Y, dtype=float)
    _check_varies(Y)
    squares = Y**2
    return np.mean(squares**2, axis=0) / np.mean(squares, axis=0) ** 2 - 3


def _check_varies(Y):
    size = np.abs(Y).max(axis=0)
    if not np.all((size > 0) & (size < np.inf)):
        raise ValueError(f"components must be finite and not 0 throughout; got sizes up to {size}")


def rotation(angle):
    """R = [[cos t, sin t], [-sin t, cos t]]: its rows are the axes turned by the `angle` t.

    >>> (rotation(np.pi / 2).round(12) + 0.0).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, sin], [-sin, cos]])


def rotated_kurtosis(Z, angles):
    """kappa of y = z^T (cos t, sin t) for white samples Z (n, 2), at each t of `angles` (a,): (a,).

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> rotated_kurtosis(Z, np.array([0.0, np.pi / 4])).round(12)
    array([-2., -1.])
    """
    return kurtosis(Z @ np.array([np.cos(angles), np.sin(angles)]))


def best_rotation(Z, steps=180):
    """The rotation W whose components y = W z have the largest |kappa_1| + |kappa_2|.

    For white Z (n, 2) it tries `steps` angles below a right angle, which exchanges y_1 and y_2.

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> best_rotation(Z @ rotation(np.pi / 9)).round(3).tolist()  # turns it back
    [[0.94, 0.342], [-0.342, 0.94]]
    """
    angles = np.linspace(0, np.pi / 2, steps, endpoint=False)
    size = [np.sum(np.abs(kurtosis(Z @ rotation(t).T))) for t in angles]
    return rotation(angles[np.argmax(size)])


class Contrast(NamedTuple):
    """The quantities that a step of the fixed point needs from G, g = G' and g'."""

    distance: np.ndarray  # (m,), E[G(y_j)] - E[G(nu)], which is 0 if y_j is normal
    g: np.ndarray  # (n, m), g(y)
    slope: np.ndarray  # (m,), E[g'(y_j)]


def contrast(Y, fun="logcosh"):
    """G, g = G' and g' at the components Y, each of variance 1.

        "logcosh"   G = log cosh y        g = tanh y            g' = 1 - tanh^2 y
        "exp"       G = -exp(-y^2 / 2)    g = y exp(-y^2 / 2)   g' = (1 - y^2) exp(-y^2 / 2)
        "cube"      G = y^4 / 4           g = y^3               g' = 3 y^2

    "cube" is kurtosis, which a few outliers can dominate. In the other two they count less.

    Returns: `Contrast`. Raises: ValueError for another `fun`.

    >>> contrast(np.array([[1.0]]), "cube")
    Contrast(distance=array([-0.5]), g=array([[1.]]), slope=array([3.]))
    """
    check_choice("fun", fun, tuple(NORMAL))
    Y = np.asarray(Y, dtype=float)
    p = np.full(len(Y), 1 / len(Y))  # E[.] is p @ (.)
    if fun == "logcosh":
        g = np.tanh(Y)
        G = np.abs(Y) - np.log(1 + np.abs(g))  # cosh y = e^|y| / (1 + |tanh y|) cannot overflow
        slope = 1 - p @ g**2
    elif fun == "exp":
        bell = np.exp(-(Y**2) / 2)
        G, g, slope = -bell, Y * bell, p @ ((1 - Y**2) * bell)
    else:
        G, g, slope = Y**4 / 4, Y**3, 3 * p @ Y**2
    return Contrast(p @ G - NORMAL[fun], g, slope)


NORMAL = {"logcosh": 0.3745672074914, "exp": -1 / np.sqrt(2), "cube": 3 / 4}  # E[G(nu)]


# ---------------------------------------------------------------------------------------
# The fixed point
# ---------------------------------------------------------------------------------------


class Unmixing(NamedTuple):
    """Directions after a step of the fixed point iteration."""

    W: np.ndarray  # (m, k)
    objective: float  # sum_j (E[G(y_j)] - E[G(nu)])^2, the distance from normal
    moved: float  # max_j 1 - |w_j^T w_j before|; inf at the start


def fixed_point(Z, W, fun="logcosh", found=None):
    """w <- E[z g(w^T z)] - E[g'(w^T z)] w for every row of W; then orthonormal rows again.

    The step is Newton's method for a stationary E[G(w^T z)] with w^T w = 1; it has no step size.
    Then W <- (W W^T)^{-1/2} W makes the rows orthonormal without preferring one of them.

    All sources at once ("parallel") are W (k, k). One after the other ("deflation") is W (1, k),
    orthogonal to the rows `found` (r, k) of earlier sources.

    Yields: `Unmixing`, the orthonormal start first, without end; the caller stops it.
    Raises: ValueError if the rows of W and those `found` are linearly dependent.

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> states = fixed_point(Z, rotation(0.5), fun="cube")
    >>> [float(state.W[0, 0].round(3)) for state, _ in zip(states, range(3))]
    [0.878, -0.987, 1.0]
    """
    found = np.empty((0, Z.shape[1])) if found is None else found  # no earlier sources
    _check_independent(np.asarray(W, dtype=float), found)
    W, moved = _orthonormal(W, found), np.inf
    while True:
        Y = Z @ W.T  # components
        distance, g, slope = contrast(Y, fun)
        yield Unmixing(W, float(distance @ distance), moved)
        step = g.T @ Z / len(Z) - slope[:, None] * W  # E[z g(y)] - E[g'(y)] w in every row
        W_before, W = W, _orthonormal(step, found)
        cosines = np.sum(W * W_before, axis=1)  # of the angles between new and old directions
        moved = float(np.max(np.abs(1 - np.abs(cosines))))


def _orthonormal(W, found):
    """(W W^T)^{-1/2} W = U V^T with W = U Delta V^T, after its part along `found` is removed."""
    W = W - W @ found.T @ found
    U, _, Vt = np.linalg.svd(W, full_matrices=False)
    return U @ Vt


def _check_independent(W, found):
    rest = W - W @ found.T @ found
    if np.linalg.matrix_rank(rest, tol=W.shape[1] * EPS * np.linalg.norm(W, 2)) < len(W):
        raise ValueError(f"the rows of W must be independent, also of those found; got {W}")


# ---------------------------------------------------------------------------------------
# Quality of an unmixing
# ---------------------------------------------------------------------------------------


def amari_index(P):
    """The error of an unmixing C of x = A s, from P = C A (k, k): between 0 and 1.

    sum_i (sum_j |p_ij| / max_j |p_ij| - 1), plus the same by columns, over 2 k (k - 1). It is 0 if
    every source is found. Above 0 it depends on the scale of the rows: give them equal variance.

    Raises: ValueError if P is not square or finite, has a row or column of zeros, or for k = 1.

    >>> amari_index(np.array([[0.0, -2.0], [3.0, 0.0]])), amari_index(np.ones((2, 2)))
    (0.0, 1.0)
    """
    size = np.abs(np.asarray(P, dtype=float))
    _check_no_empty_row(size)
    k = len(size)
    rows = np.sum(size / size.max(axis=1, keepdims=True)) - k  # what is beside the largest entry
    columns = np.sum(size / size.max(axis=0)) - k
    return float((rows + columns) / (2 * k * (k - 1)))


def _check_no_empty_row(size):
    k = len(size)
    if size.shape != (k, k) or k < 2:
        raise ValueError(f"P must be square, of 2 rows or more; got shape {size.shape}")
    if not (np.isfinite(size).all() and size.any(axis=0).all() and size.any(axis=1).all()):
        raise ValueError(f"P must be finite, with no row or column of zeros; got sizes {size}")


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class FastICA(Transformer):
    """Independent components s = C (x - mean), with C = W K: K whitens and W rotates.

    Parameters
    ----------
    n_components : int or None; how many, in the span of so many principal axes; None for the rank
    algorithm : "parallel", all sources at once, or "deflation", one after the other
    whiten : "unit-variance", or False for samples that are white already
    fun : "logcosh", "exp" or "cube"; the contrast
    max_iter : int; the largest number of steps, for each source in a deflation
    tol : float; training stops when 1 - |cos(old, new)| is at most this for every direction
    w_init : ndarray of shape (k, k) and rank k, or None; the first directions, drawn for None
    random_state : None, int or Generator; for the first directions

    Attributes
    ----------
    components_ : ndarray of shape (k, d); C
    mixing_ : ndarray of shape (d, k); the pseudo-inverse of C, the estimate of A
    mean_ : ndarray of shape (d,); unless whiten is False
    whitening_ : ndarray of shape (k, d); K, so that K (x - mean) is white; unless whiten is False
    n_iter_ : int; in a deflation, the steps of the source that took most
    converged_ : bool
    history_ : ndarray of shape (n_iter + 1,); the objectives; in a deflation a list of such arrays
    n_features_in_ : int

    >>> X = [[3, 1], [1, -1], [-1, 1], [-3, -1]]  # s_1 + 2 s_2 and s_1, with +1 and -1
    >>> abs(FastICA(fun="cube", random_state=0).fit_transform(X)[0]).round(6)
    array([1., 1.])
    """

    n_components: int | None = None
    _: KW_ONLY
    algorithm: str = "parallel"
    whiten: str | bool = "unit-variance"
    fun: str = "logcosh"
    max_iter: int = 200
    tol: float = 1e-4
    w_init: np.ndarray | None = None
    random_state: int | np.random.Generator | None = None

    def fit(self, X, y=None):
        """Find the components of samples X (n, d); y is not used. Return self."""
        rng = self._check_parameters()
        samples = check_samples(X)
        if len(samples) < 2:
            raise ValueError("X must have 2 samples at least, for a variance; got n_samples = 1")
        for name in ("mean_", "whitening_"):
            vars(self).pop(name, None)
        if self.whiten is False:
            Z, d = samples, samples.shape[1]
            if self.n_components not in (None, d):
                raise ValueError(
                    f"n_components must be None or n_features = {d} without whitening; "
                    f"got {self.n_components}"
                )
        else:
            self.mean_, K = pca_whitening(samples)
            k = len(K) if self.n_components is None else self.n_components
            if k > len(K):
                raise ValueError(f"n_components must be at most the rank {len(K)} of X_c; got {k}")
            self.whitening_, Z = K[:k], (samples - self.mean_) @ K[:k].T
        W = self._first_directions(Z.shape[1], rng)
        if self.algorithm == "parallel":
            runs = iterate(fixed_point(Z, W, self.fun), "moved", self.tol, self.max_iter)
            W = runs.state.W
        else:
            W, runs = self._deflate(Z, W)
        self.components_ = W if self.whiten is False else W @ self.whitening_
        self.mixing_ = np.linalg.pinv(self.components_)
        self._record(runs, "moved", self.tol)
        return self._remember(X)

    def _check_parameters(self):
        if self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, integer=True)
        check_choice("algorithm", self.algorithm, ("parallel", "deflation"))
        if self.whiten is not False and not (
            isinstance(self.whiten, str) and self.whiten == "unit-variance"
        ):
            raise ValueError(f"whiten must be 'unit-variance' or False; got {self.whiten!r}")
        check_choice("fun", self.fun, tuple(NORMAL))
        check_number("max_iter", self.max_iter, at_least=1, integer=True)
        check_number("tol", self.tol, at_least=0, below=np.inf)
        return check_random_state(self.random_state)

    def _first_directions(self, k, rng):
        """The k directions given, or drawn ones."""
        if self.w_init is None:
            return rng.normal(size=(k, k))
        try:
            W = check_samples(self.w_init)
        except (TypeError, ValueError):
            W = np.empty((0, 0))
        if W.shape != (k, k) or np.linalg.matrix_rank(W) < k:
            raise ValueError(
                f"w_init must be ({k}, {k}) finite numbers of rank {k}; got {self.w_init!r}"
            )
        return W

    def _deflate(self, Z, W):
        """One direction after the other: they and a `Run` for each."""
        found, runs = np.empty((0, Z.shape[1])), []
        for w in W[:, None]:
            states = fixed_point(Z, w, self.fun, found)
            runs.append(iterate(states, "moved", self.tol, self.max_iter))
            found = np.vstack([found, runs[-1].state.W])
        return found, runs

    def transform(self, X):
        """The components s = C (x - mean) of samples X (n, d): (n, k)."""
        return (self._check_fitted(X) - getattr(self, "mean_", 0)) @ self.components_.T

    def inverse_transform(self, X):
        """The samples A s + mean of components X (n, k): (n, d)."""
        self._require_fit()
        S, k = check_samples(X), len(self.components_)
        if S.shape[1] != k:
            raise ValueError(f"X must have {k} components; got {S.shape[1]}")
        return S @ self.mixing_.T + getattr(self, "mean_", 0)
