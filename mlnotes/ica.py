"""Independent component analysis: the axes along which mixed sources come apart.

Principal components are uncorrelated, and at right angles. Independent components are more: of
x = A s with independent sources s, ICA finds s again, whatever the angles between the columns of
A. Whitening does what covariances can do, and leaves a rotation; of all rotations the right one
makes every component as far from normal as it can be, for a mixture is nearer to normal than
what it is made of. Normal sources stay mixed for ever, and order, sign and scale stay unknown.

Contents
    Far from normal            kurtosis, rotation, rotated_kurtosis, contrast, Contrast
    The fixed point            fixed_point, Unmixing
    Found or not               amari_index
    Estimators                 FastICA

Symbols
    X          (n, d)    samples x = A s + mean, one per row
    A          (d, k)    mixing matrix, one column for each source
    S          (n, k)    sources s, independent, of variance 1
    Z          (n, k)    white samples z: mean 0 and covariance I
    W          (m, k)    orthonormal directions w_j in rows; m = k is a rotation (or reflection)
    Y          (n, m)    components y = W z
    G, g       function  contrast and its derivative, the choice `fun`
    fun        str       "logcosh": G = log cosh y, "exp": G = -exp(-y^2 / 2), "cube": G = y^4 / 4

Notes: ISML "Feature Extraction" 5.6, which sets ICA against PCA in three lines each.
"""

from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Transformer,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    iterate,
    row_blocks,
)
from mlnotes.pca import PCA, ROUND_OFF

__all__ = [
    "kurtosis", "rotation", "rotated_kurtosis", "Contrast", "contrast", "Unmixing", "fixed_point",
    "amari_index", "FastICA",
]  # fmt: skip

BLOCK = 2**16  # numbers at once: what they need stays in the cache
FACTORS = 64  # of a product that a logarithm is taken of
EPS = np.finfo(float).eps


# ---------------------------------------------------------------------------------------
# Far from normal
# ---------------------------------------------------------------------------------------


def kurtosis(Y):
    """kappa_j = E[y_j^4] / E[y_j^2]^2 - 3, of components y with mean 0: 0 if they are normal.

    It is below 0 for flat densities (uniform: -6/5), above for peaked ones (Laplace: 3), and the
    same in all units.

    Returns: (m,). Raises: ValueError if a component is 0 throughout or not finite.

    >>> kurtosis(np.array([[1.0, 2.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, -2.0]]))
    array([-2., -1.])
    """
    Y = np.asarray(Y, dtype=float)
    size = np.abs(Y).max(axis=0)
    if not np.all((size > 0) & (size < np.inf)):
        raise ValueError(f"components must be finite and not 0 throughout; got sizes up to {size}")
    squares = (Y / np.ldexp(0.5, np.frexp(size)[1])) ** 2  # an exact division
    return np.mean(squares**2, axis=0) / np.mean(squares, axis=0) ** 2 - 3


def rotation(angle):
    """R = [[cos t, sin t], [-sin t, cos t]]: its rows are the axes, turned by the `angle` t.

    >>> rotation(np.pi / 2).round(12) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def rotated_kurtosis(Z, angles):
    """kappa of z^T (cos t, sin t), for every t of the `angles` (a,), of white samples Z (n, 2).

    E[y^2] = 1 at every angle: second moments do not know it. Of independent sources, both with
    kurtosis kappa, it is kappa (cos^4 t + sin^4 t), largest in size at the sources and half of
    that between them; of normal ones it is 0 throughout.

    Returns: (a,).

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> rotated_kurtosis(Z, np.array([0.0, np.pi / 4])).round(12)
    array([-2., -1.])
    """
    return kurtosis(Z @ np.array([np.cos(angles), np.sin(angles)]))


class Contrast(NamedTuple):
    """What the fixed point asks of a contrast."""

    distance: np.ndarray  # (m,), E[G(y_j)] - E[G(nu)] with nu normal: 0 if y_j is normal, too
    g: np.ndarray  # (n, m), g(y)
    slope: np.ndarray  # (m,), E[g'(y_j)]


def contrast(Y, fun="logcosh"):
    """G, g = G' and g' of the components, each of variance 1.

    log cosh grows as |y|, exp not at all, and neither minds outliers, as y^4 / 4 ("cube", which
    is kurtosis) does.

    Returns: `Contrast`. Raises: ValueError for another `fun`.

    >>> distance, g, slope = contrast(np.array([[1.0], [-1.0]]), "cube")
    >>> distance, g.ravel(), slope
    (array([-0.5]), array([ 1., -1.]), array([3.]))
    """
    moments, normal = _CONTRASTS[check_choice("fun", fun, tuple(_CONTRASTS))]
    mean, g, slope = moments(np.asarray(Y, dtype=float))
    return Contrast(mean - normal, g, slope)


def _logcosh(Y):
    g = np.tanh(Y)  # cosh y = e^|y| / (1 + |tanh y|), without overflow
    G = np.ones(len(Y)) @ np.abs(Y) / len(Y) - _mean_log(1 + np.abs(g))
    return G, g, 1 - np.ones(len(g)) @ g**2 / len(g)


def _mean_log(V):
    """The mean of the logarithms of each column of V (n, m), entries from 1 to 2.

    A logarithm takes longer than many products, and `FACTORS` of them stay below 2^FACTORS.
    """
    rows = len(V) // FACTORS * FACTORS
    products = V[:rows].reshape(FACTORS, -1, V.shape[1]).prod(axis=0)
    return (np.log(products).sum(axis=0) + np.log(V[rows:]).sum(axis=0)) / len(V)


def _exp(Y):
    squares = Y**2
    bell = np.exp(-squares / 2)
    return -bell.mean(axis=0), Y * bell, np.mean((1 - squares) * bell, axis=0)


def _cube(Y):
    squares = Y**2
    return np.mean(squares**2, axis=0) / 4, Y * squares, 3 * squares.mean(axis=0)


_CONTRASTS = {  # E[G(y)], g(y), E[g'(y)]; and E[G(nu)] of the standard normal nu
    "logcosh": (_logcosh, 0.3745672074914),
    "exp": (_exp, -1 / np.sqrt(2)),
    "cube": (_cube, 3 / 4),
}


# ---------------------------------------------------------------------------------------
# The fixed point
# ---------------------------------------------------------------------------------------


class Unmixing(NamedTuple):
    """Directions on their way to the sources."""

    W: np.ndarray  # (m, k)
    objective: float  # sum_j (E[G(y_j)] - E[G(nu)])^2, the distance from normal
    moved: float  # max_j 1 - |w_j^T w_j before|; inf at the start


def fixed_point(Z, W, fun="logcosh", found=None):
    """w <- E[z g(w^T z)] - E[g'(w^T z)] w for every row of W; then orthonormal rows again.

    The components should be independent, so uncorrelated: of white samples that is W W^T = I, and
    only a rotation R = W is left to choose. Where E[G(w^T z)] is stationary under w^T w = 1, by
    Lagrange E[z g(w^T z)] = beta w; this is Newton's step for it, if E[z z^T g'] is taken for
    E[g'] I. It needs no step size. W becomes (W W^T)^{-1/2} W, which prefers no row. All sources at
    once ("parallel") are W (k, k); one after the other ("deflation"), W (1, k) and the rows
    `found` (r, k) so far, which are taken out of it. For ever; the caller stops it.

    Yields: `Unmixing`, the start, made orthonormal, first. Raises: ValueError if the rows of W
    depend on each other or on those `found`.

    >>> Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> states = fixed_point(Z, rotation(0.5), fun="cube")
    >>> [float(state.W[0, 0].round(3)) for state, _ in zip(states, range(3))]
    [0.878, -0.987, 1.0]

    Claims: ica-01
    """
    found = np.empty((0, Z.shape[1])) if found is None else found
    W, moved = _first(np.asarray(W, dtype=float), found), np.inf
    while True:
        distance, pull, slope = _averages(Z, W, fun)
        yield Unmixing(W, float(distance @ distance), moved)
        step = _orthonormal(pull - slope[:, None] * W, found)
        moved = float(np.max(np.abs(1 - np.abs(np.sum(step * W, axis=1)))))
        W = step


def _averages(Z, W, fun):
    """E[G(y)] - E[G(nu)] (m,), E[g(y) z^T] (m, k) and E[g'(y)] (m,), in blocks of samples."""
    distance, pull, slope = 0.0, 0.0, 0.0
    for rows in row_blocks(len(Z), BLOCK // Z.shape[1]):
        block = Z[rows]
        part, share = contrast(block @ W.T, fun), len(block) / len(Z)
        distance = distance + share * part.distance
        pull = pull + part.g.T @ block / len(Z)
        slope = slope + share * part.slope
    return distance, pull, slope


def _first(W, found):
    """The directions to start from, orthonormal."""
    rest, least = W - W @ found.T @ found, W.shape[1] * EPS * np.linalg.norm(W, 2)
    if np.linalg.matrix_rank(rest, tol=least) < len(W):
        raise ValueError(f"the rows of W must be independent, also of those found; got {W}")
    return _orthonormal(W, found)


def _orthonormal(W, found):
    """(W W^T)^{-1/2} W, after what W has along the rows `found` is taken out."""
    P, _, Q = np.linalg.svd(W - W @ found.T @ found, full_matrices=False)
    return P @ Q


# ---------------------------------------------------------------------------------------
# Found or not
# ---------------------------------------------------------------------------------------


def amari_index(P):
    """0 if P = (unmixing) (mixing), (k, k), is a scaled permutation: every source found; at most 1.

    sum_i (sum_j |p_ij| / max_j |p_ij| - 1), and the same by columns, over 2 k (k - 1). Order, sign
    and scale of the sources cannot be known: x = A s = (A D^{-1}) (D s), and none of them counts.

    Raises: ValueError if P is not square or finite, has a row or column of zeros, or for k = 1.

    >>> amari_index(np.array([[0.0, -2.0], [3.0, 0.0]])), amari_index(np.ones((2, 2)))
    (0.0, 1.0)
    """
    size = np.abs(np.asarray(P, dtype=float))
    k = len(size)
    if size.shape != (k, k) or k < 2:
        raise ValueError(f"P must be square, of 2 rows or more; got shape {size.shape}")
    if not (np.isfinite(size).all() and size.any(axis=0).all() and size.any(axis=1).all()):
        raise ValueError(f"P must be finite, with no row or column of zeros; got {P}")
    excess = [np.sum(size / size.max(axis=axis, keepdims=True)) - k for axis in (0, 1)]
    return float(sum(excess) / (2 * k * (k - 1)))


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class FastICA(Transformer):
    """Independent components s = C (x - mean), with C = W K, K whitening and W a rotation.

    Parameters
    ----------
    n_components : int; how many, on that many principal axes; None for the rank of X
    algorithm : "parallel", all sources at once, or "deflation", one after the other
    whiten : "unit-variance", or False for samples that are white already, left as they are
    fun : "logcosh", "exp" or "cube"; the contrast
    max_iter : int; the most steps, in a deflation of each source
    tol : float; stop when no direction moves by more, as 1 - |cos| of the angle
    w_init : ndarray of shape (k, k) and rank k, or None; the first directions, drawn for None
    random_state : None, int or Generator; for the first directions

    Attributes
    ----------
    components_ : ndarray of shape (k, d); C
    mixing_ : ndarray of shape (d, k); the pseudo-inverse of C, the estimate of A
    mean_ : ndarray of shape (d,); only if samples are whitened
    whitening_ : ndarray of shape (k, d); K, with K (x - mean) of covariance I; only if whitened
    n_iter_ : int; in a deflation, of the source that took most
    converged_ : bool
    history_ : ndarray of shape (n_iter + 1,); the objectives, a list of such in a deflation
    n_features_in_ : int

    >>> X = [[3, 1], [1, -1], [-1, 1], [-3, -1]]  # s_1 + 2 s_2 and s_1, with +1 and -1
    >>> model = FastICA(fun="cube", random_state=0).fit(X)
    >>> abs(model.transform(X)).round(6)[0], np.sort(abs(model.mixing_).round(6))
    (array([1., 1.]), array([[1., 2.],
           [0., 1.]]))
    """

    def __init__(
        self,
        n_components=None,
        *,
        algorithm="parallel",
        whiten="unit-variance",
        fun="logcosh",
        max_iter=200,
        tol=1e-4,
        w_init=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the components of samples X (n, d); y is not used. Return self."""
        rng = self._check_parameters()
        samples = check_samples(X)
        white, mean, K = self._whitened(samples)
        W0 = self._first_directions(white.shape[1], rng)
        W, runs = (self._parallel if self.algorithm == "parallel" else self._deflate)(white, W0)
        self.components_ = W if K is None else W @ K
        self.mixing_ = np.linalg.pinv(self.components_)
        vars(self).pop("mean_", None), vars(self).pop("whitening_", None)
        if K is not None:
            self.mean_, self.whitening_ = mean, K
        self._record(runs, "moved", self.tol)
        return self._remember(X)

    def _check_parameters(self):
        if self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, integer=True)
        check_choice("algorithm", self.algorithm, ("parallel", "deflation"))
        if self.whiten is not False and self.whiten != "unit-variance":
            raise ValueError(f"whiten must be 'unit-variance' or False; got {self.whiten!r}")
        check_choice("fun", self.fun, tuple(_CONTRASTS))
        check_number("max_iter", self.max_iter, at_least=1, integer=True)
        check_number("tol", self.tol, at_least=0)
        return check_random_state(self.random_state)

    def _whitened(self, X):
        """White samples, the mean and K; the samples themselves, None and None if not asked to."""
        if self.whiten is False:
            if self.n_components not in (None, X.shape[1]):
                raise ValueError(
                    f"n_components must be None or n_features = {X.shape[1]} without whitening; "
                    f"got {self.n_components}"
                )
            return X, None, None
        pca = PCA().fit(X)
        lam = pca.explained_variance_ * (len(X) - 1) / len(X)
        rank = int(np.count_nonzero(lam > ROUND_OFF * lam[0]))
        k = self.n_components or rank
        if k > rank:
            raise ValueError(f"n_components must be at most the rank {rank} of X_c; got {k}")
        K = pca.components_[:k] / np.sqrt(lam[:k, None])
        return (X - pca.mean_) @ K.T, pca.mean_, K

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

    def _parallel(self, Z, W):
        run = iterate(fixed_point(Z, W, self.fun), "moved", self.tol, self.max_iter)
        return run.state.W, run

    def _deflate(self, Z, W):
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
