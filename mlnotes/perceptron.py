"""The perceptron: a hyperplane learnt from mistakes alone.

The perceptron adds every mistake, times its label, to the weights. Adaline uses least squares.

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
    w       (d,)      weights, normal to the hyperplane; w0 is the start (0 if not given)
    b       float     offset; functions without one have a hyperplane through the origin
    theta   (d + 1,)  weights (b, w) of the augmented samples (1, x): their hyperplanes all contain
                      the origin; the algorithm and its theorem are stated for them
    f       (n,)      scores f = w^T x + b
    eta     float     learning rate
    order   (n,)      the samples' numbers in the order of a pass; None for 0, 1, ..., n - 1
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
    BLOCK,
    LinearClassifier,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    iterate,
    one_vs_rest,
)
from mlnotes.linear_regression import augment, initial
from mlnotes.logistic_regression import geometric_margin
from mlnotes.optimization import DescentState

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

    On the hyperplane every sample counts as a mistake all the same: see `is_mistake`.

    >>> classify(np.array([[3.0, 1.0], [1.0, 3.0]]), w=np.array([1.0, -1.0]))
    array([ 1., -1.])
    """
    return np.where(decision(X, w, b) > 0, 1.0, -1.0)


def is_mistake(y, f):
    """Whether y f <= 0: the sample is on the wrong side, or on the hyperplane.

    Errata: perceptron-05 (with the printed condition y f < 0 the perceptron never leaves w = 0).

    >>> is_mistake(np.array([1, 1, -1]), np.array([2.0, 0.0, 0.0]))
    array([False,  True,  True])
    """
    return y * f <= 0


# ---------------------------------------------------------------------------------------
# The perceptron loss
# ---------------------------------------------------------------------------------------


def loss(y, f):
    """L = max(0, -y f) of each sample: 0 on the right side, |f| on the wrong one.

    Returns: (n,).

    >>> loss(np.array([1, 1, -1]), np.array([2.0, -3.0, 0.5]))
    array([0. , 3. , 0.5])

    Errata: perceptron-05 (REP descends it to find a separator; but w = 0, b = 0 has the loss 0).
    """
    return np.maximum(0.0, -y * f)


def loss_gradient(X, y, f):
    """dL/dw = -y x and dL/db = -y for a mistake, 0 for any other sample.

    Returns: dL/dw (n, d) and dL/db (n,).

    Errata: perceptron-04 (REP prints both without the condition: right samples would count, too).

    >>> loss_gradient(np.array([[2.0, 5.0]]), np.array([1]), np.array([-1.0]))
    (array([[-2., -5.]]), array([-1.]))
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
    """Pass over the data, w <- w + eta y x at every mistake, until a pass has none.

    If no hyperplane through the origin separates the data, the passes never end.

    Yields: the start, then a `PerceptronState` per pass; the last has no mistake.

    >>> states = list(perceptron(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1])))
    >>> states[-1].w, [state.mistakes for state in states]
    (array([ 1., -1.]), [inf, 2, 0])
    """
    w, wrong, mistakes = initial(X, w0), [], np.inf  # inf: no pass has been made yet
    while True:
        objective = float(loss(y, decision(X, w)).sum())
        yield PerceptronState(w, np.array(wrong, dtype=int), mistakes, objective)
        if mistakes == 0:
            return
        wrong = []
        for i, new_w in sweep(X, y, w, eta=eta, order=_new_order(len(X), rng)):
            w = new_w
            wrong.append(i)
        mistakes = len(wrong)


def sweep(X, y, w, *, eta=1.0, order=None):
    """One pass: for each i in `order`, if y_i w^T x_i <= 0 then w <- w + eta y_i x_i.

    Between two mistakes w stays the same, so one product gives the scores up to the next one.

    Yields: i, w (d,) for every mistake: its sample, and the weights after it.

    >>> list(sweep(np.array([[1.0], [2.0], [3.0]]), np.array([1, 1, 1]), w=np.array([-1.5])))
    [(0, array([-0.5])), (1, array([1.5]))]
    """
    order = np.arange(len(X)) if order is None else order
    start, ahead = 0, 1  # the place to go on from, and how many samples to look at
    most = max(1, BLOCK // X.shape[1])
    while start < len(order):
        seen = order[start : start + ahead]
        wrong = is_mistake(y[seen], X.take(seen, axis=0) @ w)
        first = int(wrong.argmax())  # the first mistake, if there is one
        if wrong[first]:
            i = int(seen[first])
            w = w + eta * y[i] * X[i]  # a new array, not w changed in place
            yield i, w
            start, ahead = start + first + 1, 1
        else:
            start, ahead = start + ahead, min(2 * ahead, most)


def _new_order(n, rng):
    """The order of a pass: a random one, or that of the rows (None) if there is no `rng`."""
    return None if rng is None else rng.permutation(n)


class Update(NamedTuple):
    """The perceptron after a mistake."""

    w: np.ndarray  # (d,)
    sample: int  # the one that was a mistake; -1 at the start
    made: int  # k, the mistakes so far


def updates(X, y, w0=None, *, eta=1.0, rng=None):
    """The same run as `perceptron`, mistake by mistake: w_k = w_{k-1} + eta y x.

    Yields: the start, then an `Update` per mistake, until a pass has none.

    >>> [u.w.tolist() for u in updates(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1]))]
    [[0.0, 0.0], [2.0, 1.0], [1.0, -1.0]]
    """
    update, made_before = Update(initial(X, w0), -1, 0), -1
    yield update
    while update.made > made_before:
        made_before = update.made
        for i, w in sweep(X, y, update.w, eta=eta, order=_new_order(len(X), rng)):
            update = Update(w, i, update.made + 1)
            yield update


# ---------------------------------------------------------------------------------------
# How many mistakes
# ---------------------------------------------------------------------------------------


def margin(X, w, b=0.0):
    """gamma = min_i |w^T x_i + b| / ||w||: the distance from the hyperplane to the closest sample.

    >>> margin(np.array([[5.0, 0.0], [0.0, 10.0]]), w=np.array([3.0, 4.0]))
    3.0
    """
    return geometric_margin(X, np.sign(decision(X, w, b)), w, b)


def mistake_bound(X, y, w_star):
    """Novikoff: from w_0 = 0 the perceptron makes k <= ||w_star||^2 M / v^2 mistakes.

    The bound is smallest for the separator of largest margin. With REP's scaling it is 1 / gamma^2.

    Raises: ValueError if w_star does not separate the data.

    >>> mistake_bound(np.array([[2.0, 1.0], [-2.0, 1.0]]), np.array([1, -1]), np.array([1.0, 0]))
    1.25
    """
    v, M = _pull_and_length(X, y, w_star)
    return float(w_star @ w_star * M / v**2)


def mistake_bound_from(X, y, w_star, w0):
    """The bound for any start: the largest k with

        (w_0^T w_star + k v)^2 <= ||w_star||^2 (||w_0||^2 + k M) .

    >>> mistake_bound_from(np.array([[1.0]]), np.array([1]), np.array([1.0]), w0=np.array([-5.0]))
    11.0

    Errata: perceptron-15 (PRNN takes w_0 = 0 "without loss of generality"; the bound changes).
    """
    v, M = _pull_and_length(X, y, w_star)
    p, W = w0 @ w_star, w_star @ w_star
    aside = w0 - p / W * w_star  # the part of w_0 that is orthogonal to w_star
    # v^2 k^2 + 2 half k - rest = 0, where rest = W ||w_0||^2 - p^2 >= 0 without cancellation
    half, rest = p * v - W * M / 2, W * (aside @ aside)
    root = np.sqrt(half**2 + v**2 * rest)
    return float((root - half) / v**2 if half <= 0 else rest / (root + half))


def _pull_and_length(X, y, w_star):
    """v = min_i y_i w_star^T x_i and M = max_i ||x_i||^2."""
    v = np.min(y * decision(X, w_star))
    if v <= 0:
        raise ValueError(f"w_star must separate the data: min_i y_i w_star^T x_i > 0; got {v:g}")
    return v, np.max(np.sum(X**2, axis=1))


# ---------------------------------------------------------------------------------------
# Adaline
# ---------------------------------------------------------------------------------------


def adaline(X, y, w0=None, *, eta):
    """Gradient descent on J(w) = 1/2 sum_i (y_i - w^T x_i)^2: least squares for the labels.

        w <- w + eta sum_i (y_i - w^T x_i) x_i

    For 0 < eta < `max_eta` it converges to the least-squares solution on any data.

    Yields: the start, then an `optimization.DescentState` per step.

    >>> states = adaline(np.array([[1.0], [1.0]]), np.array([1.0, 1.0]), eta=0.25)
    >>> [next(states).objective for _ in range(3)]
    [1.0, 0.25, 0.0625]
    """
    w, step = initial(X, w0), np.nan  # no step has led to the start
    while True:
        lacking = y - X @ w  # what the net inputs lack to the labels
        downhill = X.T @ lacking  # sum_i (y_i - w^T x_i) x_i = -grad J
        slope = float(np.linalg.norm(downhill))
        yield DescentState(w, float(lacking @ lacking / 2), slope, step)
        if slope == 0:
            return
        w, step = w + eta * downhill, eta


def max_eta(X):
    """2 / lambda_max(X^T X): `adaline` converges for every smaller learning rate.

    >>> max_eta(np.array([[2.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    return float(2 / np.linalg.norm(X, ord=2) ** 2)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class _Neuron(LinearClassifier):
    """One neuron for two classes; for more, one neuron per class against the rest."""

    fit_intercept: bool = True
    max_iter: int = 1000

    def _run(self, X, y):
        """Train one neuron on the labels -1 and +1: its weights, and the `Run`."""
        raise NotImplementedError

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


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(_Neuron):
    """Linear classifier trained by the perceptron rule.

    Training stops after a pass without a mistake. Otherwise it stops, with a warning, after
    `max_iter` passes, or after `n_iter_no_change` passes without fewer mistakes than in the best
    pass before; data of tiny margin may need more. scikit-learn compares losses instead.

    Parameters
    ----------
    fit_intercept : bool
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new random order in every pass
    eta0 : float; learning rate, which only rescales the weights (they start at 0)
    n_iter_no_change : int; passes without fewer mistakes after which training stops
    random_state : int, Generator or None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (1, d), or (K, d) for K > 2
    intercept_ : ndarray of shape (1,), or (K,)
    history_ : list of ndarray; the loss of each neuron, at the start and after every pass
    n_iter_ : int; the largest number of passes of a neuron
    converged_ : bool; whether every neuron had a pass without a mistake
    n_features_in_ : int

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> model = Perceptron().fit(X, y)
    >>> model.predict([[1, 1], [0, 1]]), model.converged_
    (array(['yes', 'no'], dtype='<U3'), True)
    """

    shuffle: bool = True
    eta0: float = 1.0
    n_iter_no_change: int = 100
    random_state: int | np.random.Generator | None = 0

    _rule, tol = "mistakes", 0  # not hyperparameters: training ends with a pass without a mistake
    _advice = "and raise {limits} only if a hyperplane separates the classes"

    def _run(self, X, y):
        eta = check_number("eta0", self.eta0, above=0)
        rng = check_random_state(self.random_state)
        patience = check_number("n_iter_no_change", self.n_iter_no_change, at_least=1, integer=True)
        states = perceptron(X, y, eta=eta, rng=rng if check_flag("shuffle", self.shuffle) else None)
        run = iterate(states, self._rule, self.tol, self.max_iter, patience)
        return run.state.w, run


@dataclass(eq=False, repr=False, kw_only=True)
class Adaline(_Neuron):
    """Linear classifier trained by gradient descent on the squared error of the labels -1 and +1.

    Parameters
    ----------
    fit_intercept : bool
    max_iter : int; largest number of descent steps, each on all samples
    tol : float; stops at a gradient of this norm, which takes long unless features have one scale
    eta0 : float or None; learning rate, None for half of `max_eta`

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
        eta = max_eta(X) / 2 if self.eta0 is None else check_number("eta0", self.eta0, above=0)
        run = iterate(adaline(X, y, eta=eta), self._rule, tol, self.max_iter)
        return run.state.x, run
