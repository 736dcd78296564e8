"""Logistic regression: a line between two classes, and a probability on either side of it.

The log-odds of the classes are affine in x. Gradient descent and Newton's method find the least
log-loss if it exists. On separable data it does not; a penalty mends that.

Contents
    The log-loss             log_loss, log_loss_curvature, sigmoid
    The model                class_0_log_odds, label_probability, bernoulli_likelihood,
                             binary_cross_entropy
    The cost                 functional_margins, logistic_cost, logistic_gradient, logistic_hessian
    The algorithms           gradient_ascent, logistic_max_eta, stochastic_gradient_ascent, irls,
                             working_response
    Separable data           geometric_margin, ray_scale, SeparableError, separating_theta
    Several classes          softmax, softmax_cost, softmax_gradient, softmax_hessian_product,
                             softmax_newton
    Conjugate gradients      conjugate_gradients
    Estimators               LogisticRegression

Symbols
    X       (n, d)       samples x, one per row
    w, b    (d,), float  weights and offset of the scores f(x) = w^T x + b
    A       (n, m)       the rows (1, x), m = d + 1; or X itself, with no offset
    theta   (m,)         (b, w), so that f(x) = theta^T (1, x); theta0 a start (0 if not given)
    f       (n,)         scores A theta
    y       (n,)         labels, -1 or +1
    z       (n,)         the same labels as 0 or 1: y = 2 z - 1
    t       (n,)         functional margins t = y f
    h       (n,)         probabilities sigma(f) of label 1
    F       float        the cost sum_i log(1 + exp(-t_i))
    B       (n,)         the diagonal of a matrix: B_i = h_i (1 - h_i), the slope of h_i in f_i
    lam     float        lambda >= 0: lam ||theta||^2 is added to the cost; (m,): one per weight
    weights (n,)         how often each sample counts; once if not given
    Z       (n, K)       for K classes: how often sample i has label k; for one label a row with a
                         single 1, else 0
    theta   (m, K)       for K classes: a column for each; P (n, K) are the probabilities
    eta     float        learning rate
    prior   (2,)         probabilities of class 0 and class 1
    rng     Generator    draws the order of the samples in every pass

Notes: REP "Logistic Regression"; MLN "Logistic Regression"; IRHD 3, 3.1 and 3.2. REP, MLN and IRHD
3.1 have labels 0 and 1. IRHD's X holds a sample per column, its g is our sigma, its P_i our B_i.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlnotes.base import (
    ROUNDING,
    ConvergenceWarning,
    LinearClassifier,
    bits,
    check_flag,
    check_number,
    check_random_state,
    floats,
    iterate,
    shared,
    signs,
)
from mlnotes.decision_theory import labelled_samples, log_joint
from mlnotes.linear_regression import augment
from mlnotes.optimization import DescentState, StochasticState, newton
from mlnotes.probability import log_sum_exp

# =======================================================================================
# The lecture
# =======================================================================================

# --- The log-loss ----------------------------------------------------------------------


def log_loss(t):
    """l(t) = log(1 + e^{-t}) of the margins t = y f(x), in their shape: convex, falling, never 0.

    The log-loss replaces the 0-1 loss. Divided by log 2 it is an upper bound of that loss.

    >>> log_loss([0.0, 1000.0, -1000.0]).round(1).tolist()
    [0.7, 0.0, 1000.0]

    Errata: logistic_regression-04 (l itself is not an upper bound: l(0) = log 2 < 1).
    """
    t = floats(t)
    return np.maximum(-t, 0.0) + np.log1p(np.exp(-np.abs(t)))  # exp is at most 1


def log_loss_curvature(t):
    """l''(t) = sigma(t) (1 - sigma(t)) = e^{-|t|} / (1 + e^{-|t|})^2 > 0, in the shape of t.

    The values at t and -t are equal. The slope of the log-loss is l'(t) = -sigma(-t).

    >>> log_loss_curvature(np.array([0.0, 1000.0]))
    array([0.25, 0.  ])
    """
    e = np.exp(-np.abs(floats(t)))
    return e / (1 + e) ** 2


def sigmoid(f):
    """sigma(f) = 1 / (1 + e^{-f}) in the shape of f: the logistic function, with values in (0, 1).

        sigma(-f) = 1 - sigma(f),   sigma' = sigma (1 - sigma),   log sigma(f) = -l(f),
        sigma(f) = (1 + tanh(f / 2)) / 2

    In floating point, sigma(f) is 1 from f = 37 on: compute 1 - sigma(f) as sigma(-f).

    >>> sigmoid(np.array([0.0, np.log(3), -1000.0]))
    array([0.5 , 0.75, 0.  ])

    Errata: logistic_regression-34 (REP and IRHD give the range as [0, 1]).
    """
    f = floats(f)
    e = np.exp(-np.abs(f))  # at most 1, so it cannot overflow
    return np.where(f >= 0, 1.0, e) / (1 + e)


# --- The model -------------------------------------------------------------------------


def class_0_log_odds(log_p, prior):
    """xi = ln(q_0 / q_1) (n,) of the posterior q_k = P(k|x), which is a logistic of xi:

        q_0 = p(x|0) pi_0 / (p(x|0) pi_0 + p(x|1) pi_1) = sigma(xi),   q_1 = sigma(-xi).

    `log_p` (n, 2) holds ln p(x|k), for any two densities.

    >>> class_0_log_odds(np.log([[0.5, 0.25]]), prior=np.array([0.5, 0.5])).round(4)  # log 2
    array([0.6931])

    Errata: logistic_regression-07 (MLN derives xi and models q_1 with it; that swaps the labels).
    """
    joint = log_joint(log_p, prior)
    return joint[:, 0] - joint[:, 1]


def label_probability(y, f):
    """P(y|x) = exp(-l(y f)) = 1 / (1 + exp(-y f)) for y in {-1, +1}: (n,).

    >>> label_probability(np.array([1, -1, 1]), np.array([np.log(3), np.log(3), 0.0]))
    array([0.75, 0.25, 0.5 ])
    """
    return sigmoid(signs(y) * f)


def bernoulli_likelihood(z, h):
    """L = prod_i h_i^{z_i} (1 - h_i)^{1 - z_i}, for independent z_i ~ Bernoulli(h_i): a number.

    >>> bernoulli_likelihood(np.array([1, 0]), h=np.array([0.5, 0.25]))
    np.float64(0.375)
    """
    return np.prod(np.where(bits(z) == 1, h, 1 - h))


def binary_cross_entropy(z, f):
    """-log L for h = sigma(f), which is smallest where L is largest: a number,

        -sum_i [ z_i log h_i + (1 - z_i) log(1 - h_i) ] = sum_i [ log(1 + e^{f_i}) - z_i f_i ]

    >>> binary_cross_entropy(np.array([1, 0]), f=np.array([0.0, -1000.0])).round(4)  # log 2
    np.float64(0.6931)

    Errata: logistic_regression-13 (IRHD 3.7 and 3.11 omit the brackets after the minus).
    """
    z, f = bits(z), floats(f)
    return np.sum(z * log_loss(f) + (1 - z) * log_loss(-f))


# --- The cost --------------------------------------------------------------------------


def functional_margins(A, y, theta):
    """t_i = y_i theta^T a_i, positive where the decision is right: (n,).

    >>> functional_margins(np.array([[1.0, 3.0]]), np.array([-1]), theta=np.array([1.0, -1.0]))
    array([2.])
    """
    return signs(y) * (A @ floats(theta))


def logistic_cost(A, y, theta, lam=0.0, weights=1.0):
    """F(theta) = sum_i log(1 + exp(-y_i theta^T a_i)) + lam ||theta||^2: a number.

    For lam = 0 it is `binary_cross_entropy`, and n times IRHD 3.3. For lam > 0 the minimiser is
    unique.

    >>> logistic_cost(np.array([[1.0, 2.0], [1.0, -2.0]]), np.array([1, -1]), np.zeros(2)).round(4)
    np.float64(1.3863)
    """
    losses = log_loss(functional_margins(A, y, theta))
    return np.sum(weights * losses) + np.sum(lam * floats(theta) ** 2)


def logistic_gradient(A, y, theta, lam=0.0, weights=1.0):
    """dF/dtheta = -sum_i y_i a_i / (1 + e^{t_i}) = A^T (h - z), plus 2 lam theta: (m,).

    >>> logistic_gradient(np.array([[1.0, 2.0], [1.0, 6.0]]), np.array([1, -1]), theta=np.zeros(2))
    array([0., 2.])

    Errata: logistic_regression-19 (IRHD prints exp(-w^T x + b) for exp(-(w^T x + b))).
    """
    wrong = sigmoid(-functional_margins(A, y, theta))  # probabilities of the wrong labels
    return A.T @ (y * -wrong * weights) + 2 * lam * floats(theta)


def logistic_hessian(A, theta, lam=0.0, weights=1.0):
    """H = A^T B A = sum_i B_i a_i a_i^T with B = diag(B_i), plus 2 lam I: (m, m).

    >>> logistic_hessian(np.array([[1.0, 2.0], [1.0, -2.0]]), theta=np.zeros(2))
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    B = weights * log_loss_curvature(A @ floats(theta))
    return A.T @ (B[:, None] * A) + 2 * lam * np.eye(A.shape[1])


# --- The algorithms --------------------------------------------------------------------


def gradient_ascent(A, y, theta0=0.0, *, eta=None):
    """Ascent on the log-likelihood, descent on F: theta <- theta + eta A^T (z - h).

    F falls at every step if eta < `logistic_max_eta`; the default is half of that.

    Yields: the start, then an `optimization.DescentState` per step, whose objective is F.

    >>> states = gradient_ascent(np.array([[1.0], [1.0]]), np.array([1, -1]), [2.0])
    >>> [float(next(states).objective.round(3)) for _ in range(3)]  # to 2 log 2
    [2.254, 1.443, 1.386]

    Errata: logistic_regression-34 (REP calls it "descent to maximise").
    """
    A, z = floats(A), (signs(y) + 1) / 2
    theta, step = np.zeros(A.shape[1]) + theta0, np.nan
    eta = logistic_max_eta(A) / 2 if eta is None else eta
    while True:
        h = sigmoid(A @ theta)
        pull = A.T @ (z - h)  # minus the gradient of F
        yield DescentState(theta, logistic_cost(A, y, theta), np.linalg.norm(pull), step)
        theta, step = theta + eta * pull, eta


def logistic_max_eta(A):
    """2 / M with M = lambda_max(A^T A) / 4, an upper bound of the curvature of F, as B_i <= 1/4.

    >>> logistic_max_eta(np.array([[2.0, 0.0], [0.0, 1.0]]))
    np.float64(2.0)
    """
    return 8 / np.linalg.norm(floats(A), ord=2) ** 2


def stochastic_gradient_ascent(A, y, theta0=0.0, *, eta, rng):
    """One sample at a time: theta <- theta + eta (z_i - h_i) a_i.

    eta is a number or a function of the number of the step.

    Yields: the start, then an `optimization.StochasticState` per pass, whose objective is F / n.

    >>> rng = np.random.default_rng(0)
    >>> states = stochastic_gradient_ascent(np.array([[2.0]]), np.array([1]), eta=0.5, rng=rng)
    >>> [next(states).x.round(3).tolist() for _ in range(2)]  # z - h = 1/2 at the start
    [[0.0], [0.5]]
    """
    theta, z, n = np.zeros(A.shape[1]) + theta0, (signs(y) + 1) / 2, len(A)
    count, moved = 0, np.inf  # steps so far; no pass yet
    while True:
        yield StochasticState(theta, logistic_cost(A, y, theta) / n, moved)
        before = theta
        for i in rng.permutation(n):  # a pass: every sample once
            count += 1
            step = eta(count) if callable(eta) else eta
            h_i = sigmoid(A[i] @ theta)
            theta = theta + step * (z[i] - h_i) * A[i]
        moved = np.linalg.norm(theta - before)


def irls(A, y, theta0=0.0, *, lam=0.0, weights=1.0, hessian=logistic_hessian, solve=None):
    """Newton's method on F: theta <- theta - H^{-1} gradient.

    For lam = 0 each step solves the weighted least-squares problem of `working_response`.
    With ``solve(H, gradient)`` = H^{-1} gradient, `hessian` may return what `solve` takes for H.

    Yields: the start, then an `optimization.NewtonState` per step.
    Raises: SeparableError if lam = 0, at the first theta that separates the data: no minimum.

    >>> *_, last = irls(np.ones((4, 1)), np.array([1, 1, 1, -1]))
    >>> sigmoid(last.x).round(12)
    array([0.75])
    """
    states = newton(
        lambda theta: logistic_cost(A, y, theta, lam, weights),
        lambda theta: logistic_gradient(A, y, theta, lam, weights),
        lambda theta: hessian(A, theta, lam, weights),
        np.zeros(A.shape[1]) + theta0,
        solve=solve,
    )
    for state in states:
        wrong = weights * (functional_margins(A, y, state.x) <= 0)
        if not np.any(lam) and not np.any(wrong):
            raise SeparableError(state)
        yield state


def working_response(A, y, theta):
    """r = A theta - B^{-1} (h - z) and the weights B of a Newton step, which minimises

        sum_i B_i (r_i - theta^T a_i)^2,   theta_new = (A^T B A)^{-1} A^T B r .

    In terms of the labels r_i = f_i + y_i / P(y_i|x_i). Returns: r and B, both (n,).

    >>> working_response(np.array([[1.0]]), np.array([1]), theta=np.array([0.0]))
    (array([2.]), array([0.25]))

    Errata: logistic_regression-34 (IRHD 3.10 prints sigma(X^T w) for sigma(X^T w_t)).
    """
    f = A @ floats(theta)
    return f + y / label_probability(y, f), log_loss_curvature(f)


# --- Separable data --------------------------------------------------------------------


def geometric_margin(X, y, w, b=0.0):
    """min_i y_i (w^T x_i + b) / ||w||: the distance of the nearest sample, < 0 if a label is wrong.

    >>> geometric_margin(np.array([[5.0, 0.0], [0.0, -10.0]]), np.array([1, -1]), np.array([3, 4]))
    np.float64(3.0)
    """
    return np.min(signs(y) * (X @ floats(w) + b)) / np.linalg.norm(w)


def ray_scale(t, eps):
    """s_0 = -log(e^{eps / n} - 1) / min_i t_i, or 0: for all s > s_0, F(s theta) < eps.

    So F has no minimum (IRHD's theorem 3.4). `t` (n,) are the margins of theta. Unless theta
    separates, with all t > 0, there is no such s_0, and inf is returned.

    >>> ray_scale(np.array([2.0, 5.0]), eps=2 * np.log(2)), ray_scale(np.array([1.0, -1.0]), 0.01)
    (0.0, inf)
    """
    least = np.min(t)
    return max(0.0, float(-np.log(np.expm1(eps / len(t))) / least)) if least > 0 else np.inf


class SeparableError(ValueError):
    """The data are linearly separable: the cost has no minimum.

    `separator` (m,), the x of `state`, proves it: y_i separator^T a_i > 0 for all i that count.
    """

    def __init__(self, state):
        super().__init__(state)
        self.state, self.separator = state, state.x

    def __str__(self):
        return (
            "the data must not be linearly separable for the cost to have a minimum; the error's "
            "separator has a positive margin on every sample that counts: give lam > 0"
        )


def separating_theta(A, y, tol=1e-9):
    """theta (m,) with y_i theta^T a_i > 0 for all i, if the data are separable; else None.

    On separable data Newton's method brings F below log 2, and then theta separates. Otherwise the
    gradient goes to 0, and no separator has a margin above twice the gradient's length. So None
    means: none above 2 `tol`, in units of the largest ||a_i||.

    >>> b, w = separating_theta(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([-1, 1]))
    >>> bool(b < 0 < b + 2 * w)
    True
    """
    small = tol * np.linalg.norm(A, axis=1).max()
    try:
        for state in irls(A, y):
            if np.linalg.norm(logistic_gradient(A, y, state.x)) <= small:
                return None
    except SeparableError as error:
        return error.separator
    return None


# --- Several classes -------------------------------------------------------------------


def softmax(scores):
    """P(k|x) = exp(f_k) / sum_j exp(f_j) of scores (n, K): (n, K); sigma(f) for the scores (0, f).

    >>> softmax(np.array([[0.0, np.log(3)], [1000.0, 0.0]]))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    scores = floats(scores)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))  # at most 1
    return powers / powers.sum(axis=1, keepdims=True)


def softmax_cost(A, Z, theta, lam=0.0):
    """F(theta) = -sum_i log P(y_i|x_i) + lam ||theta||^2 for K classes, P = softmax(A theta).

    >>> softmax_cost(np.ones((3, 1)), np.eye(3), theta=np.zeros((1, 3))).round(4)  # 3 log 3
    np.float64(3.2958)
    """
    theta = floats(theta)
    scores = A @ theta
    losses = Z.sum(axis=1) * log_sum_exp(scores) - np.sum(Z * scores, axis=1)
    return np.sum(losses) + np.sum(lam * theta**2)


def softmax_gradient(A, Z, theta, lam=0.0):
    """dF/dtheta = A^T (P - Z), plus 2 lam theta: (m, K).

    The row of P for a sample of several labels is multiplied by their number.

    >>> softmax_gradient(np.ones((2, 1)), np.eye(2), theta=np.array([[np.log(3), 0.0]])).round(12)
    array([[ 0.5, -0.5]])
    """
    P = softmax(A @ floats(theta))
    return A.T @ (Z.sum(axis=1, keepdims=True) * P - Z) + 2 * lam * theta


def softmax_hessian_product(A, Z, P, V, lam=0.0):
    """H V = A^T dP, plus 2 lam V: how the gradient changes along V, (m, K).

    Along V the scores change by U = A V, and the probabilities P (n, K) by

        dP = P (U - sum_k P_k U_k), times the number of labels of the sample.

    >>> V = np.array([[1.0, -1.0]])
    >>> softmax_hessian_product(np.ones((2, 1)), np.eye(2), np.full((2, 2), 0.5), V)
    array([[ 1., -1.]])
    """
    Z, P, V = floats(Z, P, V)
    U = A @ V
    dP = P * (U - np.vecdot(P, U)[:, None])
    return A.T @ (Z.sum(axis=1, keepdims=True) * dP) + 2 * lam * V


def softmax_newton(A, Z, *, lam=0.0):
    """Newton's method for K classes, from theta = 0, as `irls` for two.

    The Hessian (m K, m K) is not formed: see `conjugate_gradients`. Separable classes are not
    refused: for lam = 0 their F goes to 0, and has no minimum.

    Yields: the start, then an `optimization.NewtonState` per step; its x (m K,) is theta.ravel().

    >>> A, Z = np.ones((4, 1)), np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    >>> *_, last = softmax_newton(A, Z)
    >>> softmax(last.x[None]).round(9)
    array([[0.75, 0.25]])
    """
    m, K = A.shape[1], Z.shape[1]

    def curvature(x):
        P = softmax(A @ x.reshape(m, K))
        return lambda v: softmax_hessian_product(A, Z, P, v.reshape(m, K), lam).ravel()

    return newton(
        lambda x: softmax_cost(A, Z, x.reshape(m, K), lam),
        lambda x: softmax_gradient(A, Z, x.reshape(m, K), lam).ravel(),
        curvature,
        np.zeros(m * K),
        solve=conjugate_gradients,
    )


# --- Conjugate gradients ---------------------------------------------------------------


def conjugate_gradients(product, g):
    """p (m,) with H p = g, nearly, for a positive semi-definite H known by ``product(p)`` = H p.

    Each step goes to the minimum of p^T H p / 2 - g^T p along a direction, conjugate to those
    before. The residual r = g - H p is reduced to min(1/4, ||g||^(1/2)) ||g||: then Newton's method
    still converges faster than linearly.

    >>> conjugate_gradients(lambda p: 2 * p, np.array([2.0, 8.0]))
    array([1., 4.])
    """
    g = floats(g)
    p, r, direction, size = np.zeros(len(g)), g, g, g @ g  # size is ||r||^2
    enough = min(1 / 16, np.sqrt(size)) * size
    for _ in range(len(g)):
        if size <= enough:
            break
        ahead = product(direction)
        curvature = direction @ ahead
        if curvature <= ROUNDING * size:  # flat: only rounding is left
            break
        eta = size / curvature
        p, r, before = p + eta * direction, r - eta * ahead, size
        size = r @ r
        direction = r + size / before * direction
    return p


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(LinearClassifier):
    """Logistic regression with the penalty ||w||^2: `irls`, or `softmax_newton` for more classes.

    It minimises C sum_i l_i + 1/2 ||w||^2, as scikit-learn does; the offset b is not penalised.
    IRHD penalises b, too, with lambda = 1 / (2 C). For C = inf separable data have no minimum, and
    `fit` warns. If classes only touch, there is none either, and `tol` alone keeps coef_ finite.

    Parameters
    ----------
    C : float; inverse strength of the penalty, inf for none
    fit_intercept : bool; whether there are offsets b
    tol : float; largest Newton decrement of objective / (n C) at the end, n the sum of the weights:
        theta is then within tol sqrt(n) standard errors of the minimum
    max_iter : int; largest number of Newton steps
    random_state : None, int or Generator; as in scikit-learn, here nothing is random

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (1, d) for two classes, for the second; (K, d) for K > 2
    intercept_ : ndarray of shape (1,), or (K,)
    n_iter_ : ndarray of shape (1,); Newton steps
    history_ : ndarray of shape (n_iter_[0] + 1,); the objective over n C of every state
    converged_ : bool; whether the decrement became that small and the minimum exists
    n_features_in_ : int

    >>> model = LogisticRegression().fit([[-1.0], [0.0], [1.0]], ["no", "no", "yes"])
    >>> model.predict([[-2.0], [2.0]]), bool(model.predict_proba([[2.0]])[0, 1] > 0.5)
    (array(['no', 'yes'], dtype='<U3'), True)
    """

    C: float = 1.0
    fit_intercept: bool = True
    tol: float = 1e-8  # at 1e-4 theta of nearly separable data is still off in the fourth digit
    max_iter: int = 100
    random_state: Any = None

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d), labels y (n,) and weights (n,), 0 if absent; return self."""
        C = check_number("C", self.C, above=0)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        free = check_flag("fit_intercept", self.fit_intercept)
        check_random_state(self.random_state)
        samples, self.classes_, k, weights = labelled_samples(X, y, sample_weight)
        A, lam, unit, mean = _design(samples, weights, free, C)
        run = iterate(_newton_states(A, lam, k, weights), "decrement", tol, max_iter)
        theta = run.state.x.reshape(len(unit), -1) / unit[:, None]
        self.coef_ = theta[free:].T
        self.intercept_ = theta[:free].sum(axis=0) - self.coef_ @ mean
        if C == np.inf and _separates(samples @ self.coef_.T + self.intercept_, k):
            self._warn_separable(run)
        else:
            self._record(run, "decrement", tol)
        self.n_iter_ = np.array([run.n_iter])
        return self._remember(X)

    def _warn_separable(self, run):
        """Warn that every sample has the largest score at its class: there is no minimum."""
        self.history_, self.converged_ = run.history, False
        warnings.warn(
            "LogisticRegression found the classes linearly separable: without a penalty the cost "
            "has no minimum, and multiplying coef_ and intercept_ by s > 1 lowers it further, to 0 "
            "as s grows; choose a finite C",
            shared(ConvergenceWarning),
            stacklevel=3,
        )

    def predict_proba(self, X):
        """Probabilities (n, K) of the classes; that of the predicted of two is sigma(|f|)."""
        f = self.decision_function(X)
        return np.column_stack([sigmoid(-f), sigmoid(f)]) if f.ndim == 1 else softmax(f)

    def predict_log_proba(self, X):
        """Their logarithms, finite where the probability itself is 0 in floating point."""
        f = self.decision_function(X)
        if f.ndim == 1:
            return -np.column_stack([log_loss(-f), log_loss(f)])
        return f - log_sum_exp(f)[:, None]


def _design(X, weights, free, C):
    """The columns (1, x - mean) over their units, and the penalties of their theta: as fit uses.

    In these units H has ones on its diagonal at theta = 0, which suits conjugate gradients.

    Returns: A (n, m), lam (m,), unit (m,), mean (d,).
    """
    n, origin = weights.sum(), X[0] * free
    mean = origin + weights @ (X - origin) / n * free  # exact for a constant column
    A = augment(X - mean)[:, not free :]
    lam = np.full(A.shape[1], 1 / (2 * C * n))
    lam[:free] = 0.0  # b is not penalised
    unit = np.sqrt(np.einsum("ij,ij,i->j", A, A, weights / n) / 4 + 2 * lam)
    unit[free:][unit[free:] <= ROUNDING * np.abs(mean)] = 1.0  # constant columns
    A /= unit
    return A, lam / unit**2, unit, mean


def _newton_states(A, lam, k, weights):
    """The states of `irls` for two classes, to the first that separates; of `softmax_newton` for K.

    The weights are divided by their sum. For K classes theta sums to 0 over the classes, which
    changes no probability.
    """
    weights, K = weights / weights.sum(), k.max() + 1
    if K > 2:
        Z = weights[:, None] * (k[:, None] == np.arange(K))
        for state in softmax_newton(A, Z, lam=lam[:, None]):
            theta = state.x.reshape(-1, K)
            yield state._replace(x=(theta - theta.mean(axis=1, keepdims=True)).ravel())
        return
    products = {"hessian": _hessian_product, "solve": conjugate_gradients}
    try:
        yield from irls(A, 2 * k - 1, lam=lam, weights=weights, **products)
    except SeparableError as error:
        yield error.state


def _hessian_product(A, theta, lam, weights):
    """The function v -> H v = A^T (B (A v)) + 2 lam v, which does not form H (m, m)."""
    B = weights * log_loss_curvature(A @ theta)
    return lambda v: A.T @ (B * (A @ v)) + 2 * lam * v


def _separates(scores, k):
    """Whether every sample has its largest score, and no other as large, at its class."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    right = np.take_along_axis(scores, k[:, None], axis=1)
    return np.count_nonzero(scores >= right) == len(k)
