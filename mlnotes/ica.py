"""Independent component analysis: the directions along which mixed sources are independent.

From mixtures x = A s, ICA recovers independent sources s up to order, sign and scale. It whitens x
and turns it to be as far from normal as possible. Normal sources cannot be separated.

Contents
    Distance from normal     kurtosis, rotation, rotated_kurtosis, best_rotation, contrast, Contrast
    The fixed point          orthonormal_rows, fixed_point, Unmixing
    Quality of an unmixing   amari_index
    Estimators               FastICA

Symbols
    X          (n, d)    samples x = A s + mean, one per row
    A          (d, k)    mixing matrix, one column for each source
    S          (n, k)    sources s, independent, of variance 1
    Z          (n, k)    white samples z: mean 0 and covariance I
    W          (k, k)    orthonormal directions w_j in rows: a rotation, or a reflection
    Y          (n, k)    components y = W z
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
    floats,
    iterate,
)
from mlnotes.pca import check_varies, pca_whitening

# =======================================================================================
# The lecture
# =======================================================================================

# --- Distance from normal --------------------------------------------------------------


def kurtosis(Y):
    """kappa_j = E[y_j^4] / E[y_j^2]^2 - 3 of components y with mean 0: (k,).

    It is 0 for a normal y_j, and does not depend on the unit of y_j.

    >>> kurtosis(np.array([[1.0, 2.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, -2.0]]))
    array([-2., -1.])
    """
    Y = floats(Y)
    squares = (Y / np.abs(Y).max(axis=0)) ** 2
    return np.mean(squares**2, axis=0) / np.mean(squares, axis=0) ** 2 - 3


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
    """The rotation W (2, 2) whose components y = W z have the largest |kappa_1| + |kappa_2|.

    For white Z (n, 2) it tries `steps` angles below a right angle, which exchanges y_1 and y_2.

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> best_rotation(Z @ rotation(np.pi / 9)).round(3).tolist()  # turns it back
    [[0.94, 0.342], [-0.342, 0.94]]
    """
    angles = np.linspace(0, np.pi / 2, steps, endpoint=False)
    size = [np.sum(np.abs(kurtosis(Z @ rotation(t).T))) for t in angles]
    return rotation(angles[np.argmax(size)])


NORMAL = {"logcosh": 0.3745672074914, "exp": -1 / np.sqrt(2), "cube": 3 / 4}  # E[G(nu)]


class Contrast(NamedTuple):
    """The quantities that a step of the fixed point needs from G, g = G' and g'."""

    distance: np.ndarray  # (k,), E[G(y_j)] - E[G(nu)], which is 0 if y_j is normal
    g: np.ndarray  # (n, k), g(y)
    slope: np.ndarray  # (k,), E[g'(y_j)]


def contrast(Y, fun="logcosh"):
    """G, g = G' and g' at the components Y, each of variance 1: a `Contrast`.

        "logcosh"   G = log cosh y        g = tanh y            g' = 1 - tanh^2 y
        "exp"       G = -exp(-y^2 / 2)    g = y exp(-y^2 / 2)   g' = (1 - y^2) exp(-y^2 / 2)
        "cube"      G = y^4 / 4           g = y^3               g' = 3 y^2

    "cube" is kurtosis, which a few outliers can dominate. In the other two they count less.

    >>> contrast(np.array([[1.0]]), "cube")
    Contrast(distance=array([-0.5]), g=array([[1.]]), slope=array([3.]))
    """
    Y = floats(Y)
    if fun == "logcosh":
        g = np.tanh(Y)
        G = np.abs(Y) - np.log1p(np.abs(g))  # cosh y = e^|y| / (1 + |tanh y|) cannot overflow
        slope = 1 - np.mean(g**2, axis=0)
    elif fun == "exp":
        bell = np.exp(-(Y**2) / 2)
        G, g, slope = -bell, Y * bell, np.mean((1 - Y**2) * bell, axis=0)
    else:
        G, g, slope = Y**4 / 4, Y**3, 3 * np.mean(Y**2, axis=0)
    return Contrast(G.mean(axis=0) - NORMAL[fun], g, slope)


# --- The fixed point -------------------------------------------------------------------


def orthonormal_rows(W):
    """(W W^T)^{-1/2} W = U V^T (k, k), where W = U Delta V^T: the nearest W with orthonormal rows.

    The order of the rows plays no part; a longer row is turned less.

    >>> orthonormal_rows(np.array([[0.0, 2.0], [3.0, 0.0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    U, _, Vt = np.linalg.svd(floats(W))
    return U @ Vt


class Unmixing(NamedTuple):
    """Directions after a step of the fixed point iteration."""

    W: np.ndarray  # (k, k)
    objective: float  # sum_j (E[G(y_j)] - E[G(nu)])^2, the distance from normal
    moved: float  # max_j 1 - |w_j^T w_j before|; inf at the start


def fixed_point(Z, W, fun="logcosh"):
    """w <- E[z g(w^T z)] - E[g'(w^T z)] w for every row of W; then orthonormal rows again.

    The step is Newton's method for a stationary E[G(w^T z)] with w^T w = 1. It has no step size.
    Yields: `Unmixing`, the orthonormal start first, without end; the caller stops it.

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> states = fixed_point(Z, rotation(0.5), fun="cube")
    >>> [float(state.W[0, 0].round(3)) for state, _ in zip(states, range(3))]
    [0.878, -0.987, 1.0]
    """
    W, moved = orthonormal_rows(W), np.inf
    while True:
        Y = Z @ W.T  # y = W z
        distance, g, slope = contrast(Y, fun)
        yield Unmixing(W, distance @ distance, moved)
        before = W
        W = orthonormal_rows(g.T @ Z / len(Z) - slope[:, None] * W)
        cosines = np.sum(W * before, axis=1)  # of the angles between new and old directions
        moved = np.max(np.abs(1 - np.abs(cosines)))


# --- Quality of an unmixing ------------------------------------------------------------


def amari_index(P):
    """The error of an unmixing C of x = A s, from P = C A (k, k), k > 1: between 0 and 1.

    sum_i (sum_j |p_ij| / max_j |p_ij| - 1), plus the same by columns, over 2 k (k - 1). It is 0 if
    every source is found. Above 0 it depends on the scale of the rows: give them equal variance.

    >>> float(amari_index(np.array([[0, -2], [3, 0]]))), float(amari_index(np.ones((2, 2))))
    (0.0, 1.0)
    """
    size, k = np.abs(floats(P)), len(P)
    shares = size / size.max(axis=1, keepdims=True) + (size / size.max(axis=0)).T  # by row, column
    return (shares.sum() - 2 * k) / (2 * k * (k - 1))  # all but the largest entries


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False)
class FastICA(Transformer):
    """Independent components s = C (x - mean), with C = W K: K whitens and W rotates.

    All sources are found at once.

    Parameters
    ----------
    n_components : int or None; how many, in the span of so many principal axes; None for the rank
    fun : "logcosh", "exp" or "cube"; the contrast
    max_iter : int; the largest number of steps
    tol : float; training stops when 1 - |cos(old, new)| is at most this for every direction
    random_state : None, int or Generator; for the first directions

    Attributes
    ----------
    components_ : ndarray of shape (k, d); C
    mixing_ : ndarray of shape (d, k); the pseudo-inverse of C, the estimate of A
    mean_ : ndarray of shape (d,)
    whitening_ : ndarray of shape (k, d); K, so that K (x - mean) is white
    n_iter_ : int
    converged_ : bool
    history_ : ndarray of shape (n_iter_ + 1,); the objective of the start and of every step
    n_features_in_ : int

    >>> X = [[3, 1], [1, -1], [-1, 1], [-3, -1]]  # s_1 + 2 s_2 and s_1, with +1 and -1
    >>> abs(FastICA(fun="cube", random_state=0).fit_transform(X)[0]).round(6)
    array([1., 1.])
    """

    n_components: int | None = None
    _: KW_ONLY
    fun: str = "logcosh"
    max_iter: int = 200
    tol: float = 1e-4
    random_state: int | np.random.Generator | None = None

    def fit(self, X, y=None):
        """Find the components of samples X (n, d); y is not used. Return self."""
        samples = check_samples(X)
        fun = check_choice("fun", self.fun, tuple(NORMAL))
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        tol = check_number("tol", self.tol, at_least=0, below=np.inf)
        rng = check_random_state(self.random_state)
        self.mean_, self.whitening_ = self._whitening(samples)
        Z, k = (samples - self.mean_) @ self.whitening_.T, len(self.whitening_)
        states = fixed_point(Z, rng.normal(size=(k, k)), fun)
        run = iterate(states, "moved", tol, max_iter)
        self.components_ = run.state.W @ self.whitening_
        self.mixing_ = np.linalg.pinv(self.components_)
        self._record(run, "moved", tol)
        return self._remember(X)

    def _whitening(self, X):
        """The mean (d,) and the first k rows of the whitening matrix (k, d)."""
        check_varies(X)
        mean = X.mean(axis=0)
        rest, K = pca_whitening(X - mean)  # of a mean far from 0 the rounding is left
        mean = mean + rest
        if self.n_components is None:
            return mean, K
        k = check_number("n_components", self.n_components, at_least=1, integer=True)
        if k > len(K):
            raise ValueError(f"n_components must be at most the rank {len(K)} of X_c; got {k}")
        return mean, K[:k]

    def transform(self, X):
        """The components s = C (x - mean) of samples X (n, d): (n, k)."""
        return (self._check_fitted(X) - self.mean_) @ self.components_.T

    def inverse_transform(self, X):
        """The samples A s + mean of components X (n, k): (n, d)."""
        self._require_fit()
        S, k = check_samples(X), len(self.components_)
        if S.shape[1] != k:
            raise ValueError(f"X must have {k} components; got {S.shape[1]}")
        return S @ self.mixing_.T + self.mean_
