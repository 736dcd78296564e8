"""The perceptron: a hyperplane learnt from mistakes alone.

The oldest learning algorithm looks at one sample at a time and does nothing while it is right;
when it is wrong it adds the sample, with the sign of its label, to its weights. That this ends,
and after how many mistakes, is the theorem of the chapter. Where it does not end, Adaline
trains the same neuron by least squares instead.

Contents
    The linear classifier    decision, classify, is_mistake
    The perceptron loss      loss, loss_gradient
    The algorithm            perceptron, PerceptronState, sweep, updates, Update
    How many mistakes        margin, mistake_bound, mistake_bound_from
    Adaline                  adaline, max_eta
    Estimators               Perceptron, Adaline

Symbols
    X       (n, d)    samples x, one per row
    y       (n,)      labels, -1 or +1
    w       (d,)      weights, normal to the hyperplane; w0 where they start (0 if not given)
    b       float     offset; where a function has none, its hyperplane contains the origin
    theta   (d + 1,)  weights (b, w) of the augmented samples (1, x), for which every hyperplane
                      contains the origin: what the algorithm and its theorem are stated for
    f       (n,)      scores f = w^T x + b
    eta     float     learning rate
    rng     Generator visits the samples in a new order in every pass (None: as they come)
    m, k    int       mistakes in one pass, mistakes so far; every mistake is an update
    w_star  (d,)      any separator: y_i w_star^T x_i > 0 for all i
    v, M    float     min_i y_i w_star^T x_i and max_i ||x_i||^2
    gamma   float     margin, min_i |w^T x_i + b| / ||w||

Notes: REP "The Perceptron"; PRNN 5; MLN "Single Neuron Models". PRNN has labels {0, 1} and
then flips the samples of class 0, so that our y x is its x; REP writes M for our k.
"""

from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    LinearClassifier,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    iterate,
    one_vs_rest,
)
from mlnotes.linear_regression import augment, cost, gradient, initial
from mlnotes.logistic_regression import geometric_margin
from mlnotes.optimization import gradient_descent

__all__ = [
    "decision", "classify", "is_mistake", "loss", "loss_gradient", "perceptron",
    "PerceptronState", "sweep", "updates", "Update", "margin", "mistake_bound",
    "mistake_bound_from", "adaline", "max_eta", "Perceptron", "Adaline",
]  # fmt: skip

FIRST_BLOCK, LAST_BLOCK = 32, 1024  # samples scored together after a mistake; they double


# ---------------------------------------------------------------------------------------
# The linear classifier
# ---------------------------------------------------------------------------------------


def decision(X, w, b=0.0):
    """Scores f = w^T x + b: positive on one side of the hyperplane, negative on the other.

    >>> decision(np.array([[3.0, 1.0], [1.0, 3.0]]), w=np.array([1.0, -1.0]), b=5.0)
    array([7., 3.])
    """
    return X @ w + b


def classify(X, w, b=0.0):
    """Labels sign(w^T x + b), with sign(0) = -1.

    A sample is right if y f > 0: on the hyperplane, none is, though label -1 is predicted.

    >>> classify(np.array([[3.0, 1.0], [1.0, 3.0]]), w=np.array([1.0, -1.0]))
    array([ 1., -1.])

    Claims: perceptron-01
    """
    return np.where(decision(X, w, b) > 0, 1.0, -1.0)


def is_mistake(y, f):
    """Whether y f <= 0: the score is on the wrong side, or on the hyperplane.

    The equality matters: at w = 0 every score is 0, and if that were no mistake the perceptron
    would never move (perceptron-05).

    >>> is_mistake(np.array([1, 1, -1]), np.array([2.0, 0.0, 0.0]))
    array([False,  True,  True])
    """
    return y * f <= 0


# ---------------------------------------------------------------------------------------
# The perceptron loss
# ---------------------------------------------------------------------------------------


def loss(y, f):
    """L = max(0, -y f) of each sample: how far on the wrong side it is.

    Its sum is convex in (w, b), and 0 at w = 0, b = 0 whatever the data: REP's descent on it need
    not find a separator. The perceptron does, stepping where y f = 0 too (perceptron-05).

    >>> loss(np.array([1, 1, -1]), np.array([2.0, -3.0, 0.5]))
    array([0. , 3. , 0.5])

    Claims: perceptron-03
    """
    return np.maximum(0.0, -y * f)


def loss_gradient(X, y, f):
    """dL/dw = -y x and dL/db = -y of each sample that is a mistake; 0 of the others.

    REP prints both without the condition, which would move the weights on right samples too
    (perceptron-04). At the kink y f = 0 any t (-y x) with t in [0, 1] is a subgradient; t = 1
    is taken, as the perceptron does. Returns dL/dw (n, d) and dL/db (n,).

    >>> dw, db = loss_gradient(np.array([[2.0], [5.0]]), np.array([1, 1]), np.array([-1.0, 1.0]))
    >>> dw.ravel(), db
    (array([-2.,  0.]), array([-1.,  0.]))
    """
    db = np.where(is_mistake(y, f), -y, 0.0)
    return db[:, None] * X, db


# ---------------------------------------------------------------------------------------
# The algorithm
# ---------------------------------------------------------------------------------------


class PerceptronState(NamedTuple):
    """The perceptron after a pass over the data."""

    w: np.ndarray  # (d,)
    wrong: np.ndarray  # (m,), the samples that were mistakes in this pass, in their order
    mistakes: float  # m; inf at the start, before any pass
    objective: float  # sum_i L_i at w


def perceptron(X, y, w0=None, *, eta=1.0, rng=None):
    """Sweep the data, w <- w + eta y x at every mistake, until a pass has none.

    On data that no hyperplane through the origin separates, the passes go on for ever, with
    weights that stay bounded. From w0 = 0 the objective starts at its minimum, 0, and cannot
    fall (perceptron-05).

    Yields: the start, then a `PerceptronState` per pass; the last has no mistake.

    >>> X, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1])
    >>> for state in perceptron(X, y):
    ...     print(state.w, state.mistakes)
    [0. 0.] inf
    [ 1. -1.] 2
    [ 1. -1.] 0

    Claims: perceptron-06
    """
    w, wrong, mistakes = initial(X, w0), np.arange(0), np.inf
    while True:
        f = decision(X, w)
        yield PerceptronState(w, wrong, mistakes, float(loss(y, f).sum()))
        if mistakes == 0:
            return
        order = _order(len(X), rng)
        rest = order[_first(is_mistake(y, f)[order]) :]  # before it w stands still
        w, wrong = sweep(X, y, w, eta=eta, order=rest)
        mistakes = len(wrong)


def _first(hits):
    """Where the first of the hits is; behind the last place if there is none."""
    return int(hits.argmax()) if hits.any() else len(hits)


def sweep(X, y, w, *, eta=1.0, order=None):
    """One pass: for i in `order`, if y_i w^T x_i <= 0 then w <- w + eta y_i x_i.

    A sample that its own update leaves wrong waits for the next pass, as x = 1 does here. None
    stands for the order 1, ..., n.

    Returns: w (d,), and the m samples (m,) that were mistakes when their turn came.

    >>> sweep(np.array([[1.0], [2.0], [3.0]]), np.array([1, 1, 1]), w=np.array([-1.5]))
    (array([1.5]), array([0, 1]))
    """
    wrong = []
    for i, after in _mistakes(X, y, w, eta, np.arange(len(X)) if order is None else order):
        wrong.append(i)
        w = after
    return w, np.array(wrong, dtype=int)


def _mistakes(X, y, w, eta, order):
    """The mistakes of one pass, each with the weights after it."""
    place = -1
    while (place := _next_mistake(X, y, w, order, place + 1)) < len(order):
        i = int(order[place])
        w = w + eta * y[i] * X[i]
        yield i, w


def _next_mistake(X, y, w, order, start, block=FIRST_BLOCK):
    """The place in `order`, from `start` on, of the first mistake of w; its length without one.

    Until then w stands still, so that one product scores a whole block; the blocks double, as
    long as they stay in the cache.
    """
    while start < len(order):
        rows = order[start : start + block]
        place = _first(is_mistake(y[rows], decision(X[rows], w)))
        if place < len(rows):
            return start + place
        start, block = start + block, min(2 * block, LAST_BLOCK)
    return len(order)


def _order(n, rng):
    return np.arange(n) if rng is None else rng.permutation(n)


class Update(NamedTuple):
    """The perceptron after a mistake."""

    w: np.ndarray  # (d,)
    sample: int  # the one that was a mistake; -1 at the start
    made: int  # k, the mistakes so far


def updates(X, y, w0=None, *, eta=1.0, rng=None):
    """The same run as `perceptron`, mistake by mistake: w_k = w_{k-1} + eta y x.

    The perceptron is the sum of its mistakes: w_k = w_0 + eta (y_1 x_1 + ... + y_k x_k).

    Yields: the start, then an `Update` per mistake, until a pass has none.

    >>> for update in updates(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1])):
    ...     print(update.made, update.sample, update.w)
    0 -1 [0. 0.]
    1 0 [2. 1.]
    2 1 [ 1. -1.]
    """
    w, made, before = initial(X, w0), 0, -1
    yield Update(w, -1, made)
    while made > before:
        before, order = made, _order(len(X), rng)
        for i, after in _mistakes(X, y, w, eta, order):
            w, made = after, made + 1
            yield Update(w, i, made)


# ---------------------------------------------------------------------------------------
# How many mistakes
# ---------------------------------------------------------------------------------------


def margin(X, w, b=0.0):
    """gamma = min_i |w^T x_i + b| / ||w||: the distance from the hyperplane to the samples.

    It is the `geometric_margin` of the labels that the hyperplane gives. The theorem below speaks
    of ``margin(augment(X), theta)``: ||w|| / ||theta|| times as much.

    >>> margin(np.array([[5.0, 0.0], [0.0, 10.0]]), w=np.array([3.0, 4.0]))
    3.0

    Claims: perceptron-11
    """
    return geometric_margin(X, np.sign(decision(X, w, b)), w, b)


def mistake_bound(X, y, w_star):
    """Novikoff: from w_0 = 0 the perceptron makes k <= ||w_star||^2 M / v^2 mistakes.

    Each of them pulls w towards the separator by at least v and lengthens ||w||^2 by at most M:

        k v <= w_k^T w_star <= ||w_k|| ||w_star|| <= sqrt(k M) ||w_star||

    REP scales the data so that the bound reads 1 / gamma^2. It holds for every separator and is
    smallest for the one of largest margin; w_star that separates nothing is a ValueError.

    >>> mistake_bound(np.array([[2.0, 1.0], [-2.0, 1.0]]), np.array([1, -1]), np.array([1.0, 0]))
    1.25

    Claims: perceptron-14
    """
    v, M = _pull_and_length(X, y, w_star)
    return float(w_star @ w_star * M / v**2)


def mistake_bound_from(X, y, w_star, w0):
    """The largest k with (w_0^T w_star + k v)^2 <= ||w_star||^2 (||w_0||^2 + k M).

    PRNN takes w_0 = 0 "without loss of generality". From another start the perceptron still
    ends, but not within that bound; within this one it does (perceptron-15). One sample, x = 1:

    >>> X, y, w_star, w0 = np.array([[1.0]]), np.array([1]), np.array([1.0]), np.array([-5.0])
    >>> made = sum(len(state.wrong) for state in perceptron(X, y, w0))
    >>> mistake_bound(X, y, w_star), made, mistake_bound_from(X, y, w_star, w0)
    (1.0, 6, 11.0)
    """
    v, M = _pull_and_length(X, y, w_star)
    p, W = w0 @ w_star, w_star @ w_star
    aside = w0 - p / W * w_star  # the part of w_0 that is orthogonal to w_star
    # v^2 k^2 + 2 half k - rest = 0, where rest = W ||w_0||^2 - p^2 >= 0 without cancellation
    half, rest = p * v - W * M / 2, W * (aside @ aside)
    root = np.sqrt(half**2 + v**2 * rest)
    return float((root - half) / v**2 if half <= 0 else rest / (root + half))


def _pull_and_length(X, y, w_star):
    """The v and M of a separator."""
    v = np.min(y * decision(X, w_star))
    if v <= 0:
        raise ValueError(f"w_star must separate the data: min_i y_i w_star^T x_i > 0; got {v:g}")
    return v, np.max(np.sum(X**2, axis=1))


# ---------------------------------------------------------------------------------------
# Adaline
# ---------------------------------------------------------------------------------------


def adaline(X, y, w0=None, *, eta):
    """Adaline: descent on J(w) = 1/2 sum_i (y_i - w^T x_i)^2, the net input fitted to the labels.

        w <- w + eta sum_i (y_i - w^T x_i) x_i

    The perceptron asks whether the output is right, this rule how far the net input is from y: it
    moves on right samples too, and converges on any data, to least squares for
    0 < eta < `max_eta`. Sample by sample it is `linear_regression.lms`, which never quite rests.

    Yields: the start, then an `optimization.DescentState` per step.

    >>> states = adaline(np.array([[1.0], [1.0]]), np.array([1.0, 1.0]), eta=0.25)
    >>> [next(states).objective for _ in range(3)]
    [1.0, 0.25, 0.0625]

    Claims: perceptron-17
    """
    return gradient_descent(
        lambda w: cost(X, y, w), lambda w: gradient(X, y, w), initial(X, w0), eta=eta
    )


def max_eta(X):
    """The learning rate 2 / lambda_max(X^T X) from which `adaline` no longer converges.

    >>> max_eta(np.array([[2.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    return float(2 / np.linalg.norm(X, ord=2) ** 2)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class _Neuron(LinearClassifier):
    """One neuron for two classes; for more, one per class against the rest."""

    def _states(self, X, y):
        """The iterates of one neuron on labels -1 and +1; `_rule` and `tol` stop them."""
        raise NotImplementedError

    def _weights(self, state):
        """The weights of a state."""
        return state.w

    def fit(self, X, y):
        """Train on samples X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        check_flag("fit_intercept", self.fit_intercept)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        classes, A = np.unique(y), augment(samples) if self.fit_intercept else samples
        columns = one_vs_rest(y, classes).T
        runs = [iterate(self._states(A, c), self._rule, tol, max_iter) for c in columns]
        self.classes_, d = classes, samples.shape[1]
        theta = np.array([self._weights(run.state) for run in runs])
        self.coef_ = theta[:, -d:]
        self.intercept_ = theta[:, 0] if self.fit_intercept else np.zeros(len(theta))
        self._record(runs, self._rule, tol)
        return self._remember(X)


class Perceptron(_Neuron):
    """Linear classifier trained by the perceptron rule.

    As scikit-learn's, but it stops as the notes do, after a pass without a mistake: there is
    no `tol`, and data that are not separable run to `max_iter`.

    Parameters
    ----------
    fit_intercept : bool
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new random order in every pass
    eta0 : float; learning rate, which only rescales the weights (they start at 0)
    random_state : int, Generator or None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (1, d), or (K, d) for K > 2
    intercept_ : ndarray of shape (1,), or (K,)
    history_ : list of ndarray; the loss of each neuron, at the start and after every pass
    n_iter_ : int; passes of the neuron that took most
    converged_ : bool; whether every neuron had a pass without a mistake
    n_features_in_ : int

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> model = Perceptron().fit(X, y)
    >>> model.predict([[1, 1], [0, 1]]), model.converged_
    (array(['yes', 'no'], dtype='<U3'), True)
    """

    _rule, tol = "mistakes", 0  # a pass without a mistake; not a hyperparameter

    def __init__(
        self, *, fit_intercept=True, max_iter=1000, shuffle=True, eta0=1.0, random_state=0
    ):
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state

    def _states(self, X, y):
        eta = check_number("eta0", self.eta0, above=0)
        rng = check_random_state(self.random_state)
        return perceptron(X, y, eta=eta, rng=rng if check_flag("shuffle", self.shuffle) else None)


class Adaline(_Neuron):
    """Linear classifier whose net input is fitted to the labels -1 and +1 by least squares.

    Parameters
    ----------
    fit_intercept : bool
    max_iter : int; largest number of descent steps, each on all samples
    tol : float; stops where the gradient of the squared error is at most this long
        (features of very different scales make for many steps: standardise them)
    eta0 : float or None; learning rate, None for half of `max_eta`: every step lowers the error

    Attributes
    ----------
    Those of `Perceptron`, with steps for passes and the squared error for the loss.

    >>> Adaline().fit([[-2.0], [1.0]], ["left", "right"]).predict([[-3.0], [2.0]])
    array(['left', 'right'], dtype='<U5')
    """

    _rule = "gradient_norm"

    def __init__(self, *, fit_intercept=True, max_iter=1000, tol=1e-4, eta0=None):
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.eta0 = eta0

    def _weights(self, state):
        return state.x

    def _states(self, X, y):
        eta = max_eta(X) / 2 if self.eta0 is None else check_number("eta0", self.eta0, above=0)
        return adaline(X, y, eta=eta)
