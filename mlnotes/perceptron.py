"""The perceptron: a hyperplane learnt from mistakes alone.

The perceptron adds every mistake, times its label, to the weights. Adaline uses least squares.

Contents
    The linear classifier    decision, linear_classify, is_mistake
    The perceptron loss      perceptron_loss, loss_gradient
    The algorithm            sweep, perceptron, PerceptronState, updates, Update
    How many mistakes        margin, mistake_bound
    Adaline                  adaline, adaline_max_eta
    Estimators               Perceptron, Adaline

Symbols
    X       (n, d)    samples x, one per row
    y       (n,)      labels, -1 or +1
    w       (d,)      weights, normal to the hyperplane; w0 is the start (0 if not given)
    b       float     offset; functions without one have a hyperplane through the origin
    theta   (d + 1,)  weights (b, w) of the augmented samples (1, x): their hyperplanes all contain
                      the origin; the algorithm and its theorem are stated for them
    f       (n,)      scores f = w^T x + b
    eta     float     learning rate
    rng     Generator draws a new order for every pass; None keeps the order of the rows
    m, k    int       mistakes in one pass, mistakes so far; every mistake is an update
    w_star  (d,)      any separator: y_i w_star^T x_i > 0 for all i
    v, M    float     min_i y_i w_star^T x_i and max_i ||x_i||^2
    gamma   float     margin, min_i |w^T x_i + b| / ||w||

Notes: REP "The Perceptron"; PRNN 5; MLN "Single Neuron Models". PRNN has the labels 0 and 1 and
flips the samples of class 0, so that its x is our y x. REP writes M for our k.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    LinearClassifier,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    floats,
    iterate,
    one_vs_rest,
    signs,
)
from mlnotes.linear_regression import augment
from mlnotes.optimization import DescentState

# =======================================================================================
# The lecture
# =======================================================================================

# --- The linear classifier -------------------------------------------------------------


def decision(X, w, b=0.0):
    """Scores f = w^T x + b (n,): positive on one side of the hyperplane, negative on the other.

    >>> decision(np.array([[3.0, 1.0], [1.0, 3.0]]), w=np.array([1.0, -1.0]), b=5.0)
    array([7., 3.])
    """
    return X @ floats(w) + b


def linear_classify(X, w, b=0.0):
    """Labels sign(w^T x + b) (n,), with sign(0) = -1.

    A sample on the hyperplane counts as a mistake all the same: see `is_mistake`.

    >>> linear_classify(np.array([[3.0, 1.0], [1.0, 3.0]]), w=np.array([1.0, -1.0]))
    array([ 1., -1.])
    """
    return np.where(decision(X, w, b) > 0, 1.0, -1.0)


def is_mistake(y, f):
    """Whether y f <= 0 (n,): the sample is on the wrong side, or on the hyperplane.

    Errata: perceptron-05 (with the printed condition y f < 0 the perceptron never leaves w = 0).

    >>> is_mistake(np.array([1, 1, -1]), np.array([2.0, 0.0, -3.0]))
    array([False,  True, False])
    """
    return signs(y) * f <= 0


# --- The perceptron loss ---------------------------------------------------------------


def perceptron_loss(y, f):
    """L = max(0, -y f) of each sample (n,): 0 on the right side, |f| on the wrong one.

    >>> perceptron_loss(np.array([1, 1, -1]), np.array([2.0, -3.0, 0.5]))
    array([0. , 3. , 0.5])

    Errata: perceptron-05 (REP descends it to find a separator; but w = 0, b = 0 has the loss 0).
    """
    return np.maximum(0.0, -signs(y) * f)


def loss_gradient(X, y, f):
    """dL/dw = -y x (n, d) and dL/db = -y (n,) for a mistake; both are 0 for any other sample.

    Errata: perceptron-04 (REP prints both without the condition: right samples would count, too).

    >>> dw, db = loss_gradient(np.array([[2.0], [5.0]]), np.array([-1, 1]), np.array([1.0, 1.0]))
    >>> dw.tolist(), db.tolist()
    ([[2.0], [0.0]], [1.0, 0.0])
    """
    db = np.where(is_mistake(y, f), -signs(y), 0.0)
    return db[:, None] * X, db


# --- The algorithm ---------------------------------------------------------------------


def sweep(X, y, w, *, eta=1.0, rng=None):
    """One pass over the samples: if y_i w^T x_i <= 0, then w <- w + eta y_i x_i.

    Yields: i, w (d,) for every mistake: its sample, and the weights after it.

    >>> list(sweep(np.array([[1.0], [2.0], [-3.0]]), np.array([1, 1, -1]), w=np.array([-1.5])))
    [(0, array([-0.5])), (1, array([1.5]))]
    """
    order = np.arange(len(X)) if rng is None else rng.permutation(len(X))
    Z = signs(y)[:, None] * X  # z = y x: w^T z <= 0 is a mistake
    for i, z in zip(order.tolist(), Z[order], strict=True):
        if w.dot(z) <= 0:
            w = w + eta * z
            yield i, w


class PerceptronState(NamedTuple):
    """The perceptron after a pass over the data."""

    w: np.ndarray  # (d,)
    wrong: np.ndarray  # (m,), the samples that were mistakes in this pass, in their order
    objective: float  # sum_i L_i at w
    mistakes: float  # m; inf at the start, before any pass


def perceptron(X, y, w0=0.0, *, eta=1.0, rng=None):
    """Pass over the data, w <- w + eta y x at every mistake, until a pass has none.

    If no hyperplane through the origin separates the data, the passes never end.
    Yields: the start, then a `PerceptronState` per pass; the last has no mistake.

    >>> states = list(perceptron(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1])))
    >>> states[-1].w, [state.mistakes for state in states]
    (array([ 1., -1.]), [inf, 2, 0])
    """
    w, wrong, mistakes = np.zeros(X.shape[1]) + w0, [], np.inf
    while True:
        objective = perceptron_loss(y, decision(X, w)).sum()
        yield PerceptronState(w, np.array(wrong, dtype=int), objective, mistakes)
        if mistakes == 0:
            return
        wrong = []
        for i, w_k in sweep(X, y, w, eta=eta, rng=rng):
            wrong.append(i)
            w = w_k
        mistakes = len(wrong)


class Update(NamedTuple):
    """The perceptron after a mistake."""

    w: np.ndarray  # (d,)
    sample: int  # the one that was a mistake; -1 at the start
    made: int  # k, the mistakes so far


def updates(X, y, w0=0.0, *, eta=1.0, rng=None):
    """The same run as `perceptron`, mistake by mistake: w_k = w_{k-1} + eta y x.

    Yields: the start, then an `Update` per mistake, until a pass has none.

    >>> [u.w.tolist() for u in updates(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1]))]
    [[0.0, 0.0], [2.0, 1.0], [1.0, -1.0]]
    """
    last, made_before = Update(np.zeros(X.shape[1]) + w0, -1, 0), -1
    yield last
    while last.made > made_before:
        made_before = last.made
        for i, w in sweep(X, y, last.w, eta=eta, rng=rng):
            last = Update(w, i, last.made + 1)
            yield last


# --- How many mistakes -----------------------------------------------------------------


def margin(X, w, b=0.0):
    """gamma = min_i |w^T x_i + b| / ||w||: the distance from the hyperplane to the closest sample.

    >>> margin(np.array([[5.0, 0.0], [0.0, 10.0]]), w=np.array([3.0, 4.0]))
    np.float64(3.0)
    """
    return np.min(np.abs(decision(X, w, b))) / np.linalg.norm(floats(w))


def mistake_bound(X, y, w_star, w0=0.0):
    """Novikoff's bound ||w_star||^2 M / v^2 on a perceptron's mistakes k from w_0 = 0: a float.

    From another start, with the learning rate 1, it is the largest k with

        (w_0^T w_star + k v)^2 <= ||w_star||^2 (||w_0||^2 + k M) .

    The bound is smallest for the separator of largest margin. With REP's scaling it is 1 / gamma^2.
    It is inf for a w_star that does not separate the data.

    >>> X, y = np.array([[2.0, 1.0], [-2.0, 1.0]]), np.array([1, -1])
    >>> mistake_bound(X, y, np.array([1.0, 0.0])), mistake_bound(X, y, np.array([-1.0, 0.0]))
    (1.25, inf)

    Errata: perceptron-15 (PRNN takes w_0 = 0 "without loss of generality"; the bound changes).
    """
    X, u = floats(X), w_star / np.linalg.norm(floats(w_star))  # its length changes no bound
    v, M = np.min(signs(y) * decision(X, u)), np.max(np.sum(X**2, axis=1))
    along = np.sum(w0 * u)
    p, across = M / 2 - along * v, np.linalg.norm(w0 - along * u)  # v^2 k^2 - 2 p k <= across^2
    return float((p + np.hypot(p, v * across)) / v**2) if v > 0 else np.inf


# --- Adaline ---------------------------------------------------------------------------


def adaline(X, y, w0=0.0, *, eta):
    """Gradient descent on J(w) = 1/2 sum_i (y_i - w^T x_i)^2: least squares for the labels.

        w <- w + eta sum_i (y_i - w^T x_i) x_i

    For 0 < eta < `adaline_max_eta` it converges to the least-squares solution on any data.
    Yields: the start, then an `optimization.DescentState` per step.

    >>> states = adaline(np.array([[1.0], [1.0]]), np.array([1.0, 1.0]), eta=0.25)
    >>> [float(next(states).objective) for _ in range(3)]
    [1.0, 0.25, 0.0625]
    """
    w, step = np.zeros(X.shape[1]) + w0, np.nan  # no step has led to the start
    while True:
        residuals = y - X @ w
        downhill = X.T @ residuals  # sum_i (y_i - w^T x_i) x_i = -grad J
        slope = np.linalg.norm(downhill)
        yield DescentState(w, residuals @ residuals / 2, slope, step)
        if slope == 0:
            return
        w, step = w + eta * downhill, eta


def adaline_max_eta(X):
    """2 / lambda_max(X^T X): `adaline` converges for every smaller learning rate.

    >>> float(adaline_max_eta(np.array([[2.0, 0.0], [0.0, 1.0]])))
    0.5
    """
    return 2 / np.linalg.norm(floats(X), ord=2) ** 2


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False, kw_only=True)
class _Neuron(LinearClassifier):
    """One neuron for two classes; for more, one neuron per class against the rest.

    Its ``_run(X, y)`` trains one on the labels -1 and +1, and returns the weights and the `Run`.
    """

    fit_intercept: bool = True
    max_iter: int = 1000

    def fit(self, X, y):
        """Train on samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        check_flag("fit_intercept", self.fit_intercept)
        check_number("max_iter", self.max_iter, at_least=1, integer=True)
        classes, A = np.unique(y), augment(samples) if self.fit_intercept else samples
        trained = [self._run(A, column) for column in one_vs_rest(y, classes).T]
        theta, d = np.array([w for w, _ in trained]), samples.shape[1]
        self.classes_, self.coef_ = classes, theta[:, -d:]
        self.intercept_ = theta[:, 0] if self.fit_intercept else np.zeros(len(theta))
        self._record([run for _, run in trained], self._rule, self.tol)
        return self._remember(X)


class _Pocket(NamedTuple):
    """The best weights so far: they are kept in the pocket while the perceptron goes on."""

    w: np.ndarray  # (d,)
    objective: float  # the perceptron's loss after this pass
    mistakes: int  # how many samples w gets wrong


UPDATES = 100  # a few passes over a few samples make too few updates to judge by


def _pocket(X, y, states, patience):
    """The weights with the fewest mistakes among the `states` of a perceptron so far.

    Yields: a `_Pocket` per state, until `patience` passes with UPDATES updates have no fewer.
    """
    fewest = np.inf
    for state in states:
        mistakes = np.count_nonzero(is_mistake(y, decision(X, state.w)))
        if mistakes < fewest:
            best, fewest, passes, updates = state.w, mistakes, 0, 0
        else:
            passes, updates = passes + 1, updates + len(state.wrong)
        yield _Pocket(best, state.objective, fewest)
        if passes >= patience and updates >= UPDATES:
            return


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(_Neuron):
    """Linear classifier trained by the perceptron rule.

    The weights with the fewest mistakes are kept. Training stops after the pass that leaves none.
    Otherwise it stops, with a warning, after `max_iter` passes, or after `n_iter_no_change` passes
    with 100 updates or more that brought no fewer mistakes. Samples of tiny margin may need more.
    Features should have a size of about 1, which is that of the constant one.

    Parameters
    ----------
    fit_intercept : bool
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new random order in every pass
    eta0 : float; learning rate, which only rescales the weights (they start at 0)
    n_iter_no_change : int; passes without fewer mistakes after which training stops, see above
    random_state : int, Generator or None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (1, d), or (K, d) for K > 2
    intercept_ : ndarray of shape (1,), or (K,)
    history_ : list of ndarray; the loss of each neuron, at the start and after every pass
    n_iter_ : int; the largest number of passes of a neuron
    converged_ : bool; whether the weights of every neuron make no mistake
    n_features_in_ : int

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> model = Perceptron().fit(X, y)
    >>> model.predict([[1, 1], [0, 1]]), model.converged_
    (array(['yes', 'no'], dtype='<U3'), True)
    """

    shuffle: bool = True
    eta0: float = 1.0
    n_iter_no_change: int = 5
    random_state: int | np.random.Generator | None = 0

    _rule, tol = "mistakes", 0  # not hyperparameters: training ends where no mistake is left
    _advice = "and raise {limits} only if a hyperplane separates the classes"

    def _run(self, X, y):
        eta = check_number("eta0", self.eta0, above=0)
        rng = check_random_state(self.random_state)
        patience = check_number("n_iter_no_change", self.n_iter_no_change, at_least=1, integer=True)
        states = perceptron(X, y, eta=eta, rng=rng if check_flag("shuffle", self.shuffle) else None)
        run = iterate(_pocket(X, y, states, patience), self._rule, self.tol, self.max_iter)
        if run.converged and run.state.mistakes > 0:
            reason = f"{patience} passes with {UPDATES} updates or more brought no fewer mistakes"
            run = run._replace(converged=False, reason=reason)
        return run.state.w, run


@dataclass(eq=False, repr=False, kw_only=True)
class Adaline(_Neuron):
    """Linear classifier trained by gradient descent on the squared error of the labels -1 and +1.

    Every feature is divided by its root mean square, so that no unit of a feature matters.

    Parameters
    ----------
    fit_intercept : bool
    max_iter : int; largest number of descent steps, each on all samples
    tol : float; stops at a gradient of this norm, which takes long for features far from 0
    eta0 : float or None; learning rate for the divided features, None for half of `adaline_max_eta`

    Attributes
    ----------
    Those of `Perceptron`; history_ has the squared error after every step.

    >>> Adaline().fit([[-2.0], [1.0]], ["left", "right"]).predict([[-3.0], [2.0]])
    array(['left', 'right'], dtype='<U5')
    """

    tol: float = 1e-4
    eta0: float | None = None

    _rule = "gradient_norm"

    def _run(self, X, y):
        tol = check_number("tol", self.tol, at_least=0)
        size = np.sqrt(np.mean(X**2, axis=0))
        size[size == 0] = 1.0
        X = X / size
        eta = adaline_max_eta(X) / 2
        eta = eta if self.eta0 is None else check_number("eta0", self.eta0, above=0)
        run = iterate(adaline(X, y, eta=eta), self._rule, tol, self.max_iter)
        return run.state.x / size, run
