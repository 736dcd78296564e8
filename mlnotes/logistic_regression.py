"""Logistic regression: a line between two classes, and how sure one may be on either side.

The number of errors is a cost without slopes. The log-loss is a smooth, convex one in its place,
and it comes with a meaning: its minimum is the maximum likelihood of a model in which the log-odds
of the classes are affine. Gradients and Newton's method, here iterated weighted least squares,
find it if it exists. On separable data it does not, which a penalty mends.

Contents
    The log-loss             log_loss, log_loss_slope, log_loss_curvature, sigmoid
    The posterior            class_0_log_odds, normal_model
    The model                label_probability, likelihood, cross_entropy
    The cost                 cost, gradient, hessian
    The algorithms           gradient_ascent, max_eta, stochastic_gradient_ascent, irls,
                             working_response
    Separable data           functional_margins, geometric_margin, ray_scale, SeparableError,
                             separator
    Several classes          softmax, truncated_newton, TruncatedNewtonState
    Estimators               LogisticRegression

Symbols
    X       (n, d)       samples x, one per row
    w, b    (d,), float  weights and offset of the scores f(x) = w^T x + b
    A       (n, m)       the rows (1, x), m = d + 1; or X itself, with no offset
    theta   (m,)         (b, w), so that f(x) = theta^T (1, x); theta0 a start (0 if not given)
    f, a    (n,)         scores A theta; a in the notes where the labels are z
    y       (n,)         labels, -1 or +1
    z       (n,)         the same labels as 0 or 1: y = 2 z - 1
    t       (n,)         functional margins t = y f; xi those of a separator
    h       (n,)         probabilities sigma(f) of label 1
    F       float        the cost sum_i log(1 + exp(-t_i)), and P_i = h_i (1 - h_i) its weights
    lam     float        lambda >= 0: lam ||theta||^2 is added to the cost
    eta     float        learning rate
    prior   (2,)         probabilities of class 0 and class 1
    rng     Generator    draws the order of the samples in every pass

Notes: REP "Logistic Regression"; MLN "Logistic Regression"; IRHD 3, 3.1 and 3.2. REP and MLN have
labels 0 and 1, and so has IRHD 3.1; IRHD's X holds a sample per column, its g is our sigma, and
in 3.1 its L is our F.
"""

import warnings
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    ConvergenceWarning,
    LinearClassifier,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    check_weights,
    iterate,
    one_vs_rest,
    shared,
)
from mlnotes.decision_theory import log_joint, normal_log_odds
from mlnotes.linear_regression import initial
from mlnotes.optimization import (
    backtrack,
    gradient_descent,
    newton,
    stochastic_gradient_descent,
)
from mlnotes.probability import log_sum_exp

__all__ = [
    "log_loss", "log_loss_slope", "log_loss_curvature", "sigmoid", "class_0_log_odds",
    "normal_model", "label_probability", "likelihood", "cross_entropy", "cost", "gradient",
    "hessian", "gradient_ascent", "max_eta", "stochastic_gradient_ascent", "irls",
    "working_response", "functional_margins", "geometric_margin", "ray_scale", "SeparableError",
    "separator", "softmax", "truncated_newton", "TruncatedNewtonState", "LogisticRegression",
]  # fmt: skip

EPS = np.finfo(np.float64).eps


# ---------------------------------------------------------------------------------------
# The log-loss
# ---------------------------------------------------------------------------------------


def log_loss(t):
    """l(t) = log(1 + e^{-t}) of the margin t = y f(x): convex, falling, never 0.

    It takes the place of the 0-1 loss, but is no upper bound of it: l(0) = log 2 < 1. l / log 2
    is one, and touches it at t = 0 (logistic_regression-04). As f is affine, l(y f(x)) is convex
    in (w, b).

    >>> log_loss([0.0, 1000.0, -1000.0]).round(1).tolist()
    [0.7, 0.0, 1000.0]

    Claims: logistic_regression-02
    """
    return np.logaddexp(0.0, -np.asarray(t))


def log_loss_slope(t):
    """l'(t) = -1 / (1 + e^t) = -sigma(-t): minus the probability that the model is wrong.

    >>> log_loss_slope(np.array([0.0, -1000.0]))
    array([-0.5, -1. ])
    """
    return -sigmoid(-np.asarray(t))


def log_loss_curvature(t):
    """l''(t) = sigma(t) (1 - sigma(t)) > 0, the same for t and -t.

    >>> log_loss_curvature(np.array([0.0, 1000.0]))
    array([0.25, 0.  ])
    """
    return sigmoid(t) * sigmoid(-np.asarray(t))


def sigmoid(a):
    """sigma(a) = 1 / (1 + e^{-a}), the logistic function, from the real line to (0, 1).

        sigma(-a) = 1 - sigma(a),   sigma' = sigma (1 - sigma),   log sigma(a) = -l(a),
        sigma(a) = (1 + tanh(a / 2)) / 2

    Neither 0 nor 1 is attained, though REP and IRHD write [0, 1] (logistic_regression-34); in
    floating point 1 is, from a = 37 on, so that 1 - sigma(a) is better computed as sigma(-a).

    >>> sigmoid(np.array([0.0, np.log(3), -1000.0]))
    array([0.5 , 0.75, 0.  ])

    Claims: logistic_regression-05
    """
    a = np.asarray(a, dtype=np.float64)
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1.0, e) / (1 + e)


# ---------------------------------------------------------------------------------------
# The posterior
# ---------------------------------------------------------------------------------------


def class_0_log_odds(log_p, prior):
    """xi = ln(f_0 p_0 / (f_1 p_1)) = ln(q_0 / q_1): the posterior is a logistic, whatever f_k,

        q_0 = f_0 p_0 / (f_0 p_0 + f_1 p_1) = sigma(xi),   q_1 = E[y | x] = sigma(-xi).

    MLN derives this, and then models q_1 as sigma(w^T x): the linear score is -xi, and to take
    it for xi swaps the labels (logistic_regression-07). `log_p` (n, 2) are the log-densities
    ln f_k(x). Where both classes are impossible there are no odds: NaN.

    >>> class_0_log_odds(np.log([[0.5, 0.25]]), prior=np.array([0.5, 0.5])).round(4)  # log 2
    array([0.6931])

    Claims: logistic_regression-06
    """
    joint = log_joint(log_p, prior)
    with np.errstate(invalid="ignore"):  # inf - inf is the NaN that is meant
        return joint[:, 0] - joint[:, 1]


def normal_model(mu, Sigma, prior):
    """theta of two normal classes of one covariance, for which the model holds exactly:

        ln(q_1 / q_0) = w^T x + b,   w = Sigma^{-1} (mu_1 - mu_0),
        b = -1/2 (mu_1^T Sigma^{-1} mu_1 - mu_0^T Sigma^{-1} mu_0) + ln(p_1 / p_0)

    With two covariances squares of x are left: see `generative.quadratic_log_odds`. `mu` (2, d)
    are the means, `Sigma` (d, d) the covariance.

    Returns: theta = (b, w). Raises: ValueError if Sigma is not positive definite.

    >>> normal_model(np.array([[0.0], [4.0]]), np.array([[4.0]]), np.array([0.5, 0.5]))
    array([-2.,  1.])

    Claims: logistic_regression-08
    """
    w, b = normal_log_odds(mu, Sigma, prior)
    return np.concatenate([[b], w])


# ---------------------------------------------------------------------------------------
# The model
# ---------------------------------------------------------------------------------------


def label_probability(y, f):
    """P(y|x) = exp(-l(y f)) = 1 / (1 + exp(-y f)), for y in {-1, +1}.

    That is P(y=1|x) = sigma(f) and 1 - sigma(f) = sigma(-f) for the other label. That the two
    sum to 1 is particular to l: exp(-loss) of another loss is no probability.

    >>> label_probability(np.array([1, -1, 1]), np.array([np.log(3), np.log(3), 0.0]))
    array([0.75, 0.25, 0.5 ])

    Claims: logistic_regression-09
    """
    return sigmoid(y * f)


def likelihood(z, h):
    """L = prod_i h_i^{z_i} (1 - h_i)^{1 - z_i}: independent z_i ~ Bernoulli(h_i).

    >>> likelihood(np.array([1, 0]), h=np.array([0.5, 0.25]))
    0.375

    Claims: logistic_regression-11
    """
    return float(np.prod(np.where(z == 1, h, 1 - h)))


def cross_entropy(z, a):
    """-log L of h = sigma(a), which is smallest where L is largest:

        -sum_i [ z_i log h_i + (1 - z_i) log(1 - h_i) ] = sum_i [ log(1 + e^{a_i}) - z_i a_i ]

    IRHD 3.7 and 3.11 have lost the brackets: the minus would belong to the first term alone, and
    the cost be unbounded below (logistic_regression-13).

    >>> round(cross_entropy(np.array([1, 0]), a=np.array([0.0, -1000.0])), 4)  # log 2
    0.6931

    Claims: logistic_regression-12
    """
    return float(np.sum(_cross_entropies(z, a, np.exp(-np.abs(a)))))


def _cross_entropies(z, a, e):
    """log(1 + e^a) - z a of each sample, given e = exp(-|a|): no overflow, no cancellation."""
    return np.maximum(a, 0.0) - z * a + np.log1p(e)


# ---------------------------------------------------------------------------------------
# The cost
# ---------------------------------------------------------------------------------------


def cost(A, y, theta, lam=0.0):
    """F(theta) = sum_i log(1 + exp(-y_i theta^T a_i)) + lam ||theta||^2.

    With z = (y + 1) / 2 and lam = 0 it is `cross_entropy`, the negative log-likelihood, and n times
    the mean cost of IRHD 3.3. It is convex and positive. With lam > 0 (IRHD 3.23) it is strongly
    convex: one minimiser exists on any data, and ||theta||^2 <= n log(2) / lam there.

    >>> A, y = np.array([[1.0, 2.0], [1.0, -2.0]]), np.array([1, -1])
    >>> round(cost(A, y, theta=np.zeros(2)), 4), round(cost(A, y, np.array([0.0, 9.0]), lam=1.0), 4)
    (1.3863, 81.0)

    Claims: logistic_regression-15, logistic_regression-33
    """
    return float(np.sum(log_loss(functional_margins(A, y, theta))) + lam * np.dot(theta, theta))


def gradient(A, y, theta, lam=0.0):
    """dF/dtheta = -sum_i y_i a_i / (1 + e^{t_i}) = A^T (h - z), and 2 lam theta of the penalty.

    The factor 1 / (1 + e^{t_i}) = 1 - P(y_i|x_i) is the probability of the wrong label: mistakes
    drive the descent. Split by class, IRHD prints it as 1 / (1 + exp(-w^T x_i + b)) for y_i = -1;
    the minus belongs to b too, 1 / (1 + exp(-(w^T x_i + b))) (logistic_regression-19).

    >>> gradient(np.array([[1.0, 2.0], [1.0, 6.0]]), np.array([1, -1]), theta=np.zeros(2))
    array([0., 2.])

    Claims: logistic_regression-17
    """
    wrong = sigmoid(-functional_margins(A, y, theta))
    return A.T @ (-y * wrong) + 2 * lam * theta


def hessian(A, theta, lam=0.0):
    """H = A^T B A = sum_i P_i a_i a_i^T with B = diag(P_i), and 2 lam I of the penalty.

    The labels do not enter, as y_i^2 = 1. v^T H v = ||B^{1/2} A v||^2 >= 0, so that F is convex;
    H is positive definite iff A has full column rank.

    >>> hessian(np.array([[1.0, 2.0], [1.0, -2.0]]), theta=np.zeros(2))
    array([[0.5, 0. ],
           [0. , 2. ]])

    Claims: logistic_regression-21
    """
    P = log_loss_curvature(A @ theta)
    return A.T @ (P[:, None] * A) + 2 * lam * np.eye(A.shape[1])


# ---------------------------------------------------------------------------------------
# The algorithms
# ---------------------------------------------------------------------------------------


def gradient_ascent(A, y, theta0=None, *, eta=None):
    """Ascent on the log-likelihood, descent on F: theta <- theta + eta A^T (z - h).

    REP says "descent to maximise" for it (logistic_regression-34). F falls at every step for
    eta < `max_eta`; half of that is taken if eta is not given.

    Yields: the start, then an `optimization.DescentState` per step, whose objective is F.

    >>> states = gradient_ascent(np.array([[1.0], [1.0]]), np.array([1, -1]), [2.0])
    >>> [round(next(states).objective, 3) for _ in range(3)]  # to 2 log 2
    [2.254, 1.443, 1.386]

    Claims: logistic_regression-23
    """
    eta = max_eta(A) / 2 if eta is None else eta
    return gradient_descent(
        lambda theta: cost(A, y, theta),
        lambda theta: gradient(A, y, theta),
        initial(A, theta0),
        eta=eta,
    )


def max_eta(A):
    """2 / M with M = lambda_max(A^T A) / 4, which no curvature of F exceeds as P_i <= 1/4.

    >>> max_eta(np.array([[2.0, 0.0], [0.0, 1.0]]))
    2.0
    """
    return float(8 / np.linalg.norm(A, ord=2) ** 2)


def stochastic_gradient_ascent(A, y, theta0=None, *, eta, rng):
    """One sample at a time: theta <- theta + eta (z_i - h_i) a_i.

    At a fixed theta the steps of all samples add up to one of `gradient_ascent`. For eta a number
    or a function of the number of the step see `optimization.stochastic_gradient_descent`.

    Yields: the start, then an `optimization.StochasticState` per pass, whose objective is F / n.

    >>> rng = np.random.default_rng(0)
    >>> states = stochastic_gradient_ascent(np.array([[2.0]]), np.array([1]), eta=0.5, rng=rng)
    >>> [next(states).x.round(3).tolist() for _ in range(2)]  # z - h = 1/2 at the start
    [[0.0], [0.5]]

    Claims: logistic_regression-24
    """
    n = len(A)
    return stochastic_gradient_descent(
        lambda theta: cost(A, y, theta) / n,
        lambda theta, rows: gradient(A[rows], y[rows], theta) / len(rows),
        initial(A, theta0),
        n,
        eta=eta,
        rng=rng,
    )


def irls(A, y, theta0=None, *, lam=0.0):
    """Newton's method: theta <- theta - H^{-1} gradient, for MLN's open end, the fit itself.

    For lam = 0 a step is `working_response`'s least-squares problem with weights P_i, whence
    iteratively reweighted least squares. Far from the minimum a part of it may be taken
    (`optimization.newton`).

    Yields: the start, then an `optimization.NewtonState` per step.

    Raises: SeparableError if lam = 0, from the first theta on that separates the data: no minimum.

    >>> *_, last = irls(np.ones((4, 1)), np.array([1, 1, 1, -1]))
    >>> sigmoid(last.x).round(12)
    array([0.75])

    Claims: logistic_regression-25
    """
    states = newton(
        lambda theta: cost(A, y, theta, lam),
        lambda theta: gradient(A, y, theta, lam),
        lambda theta: hessian(A, theta, lam),
        initial(A, theta0),
    )
    for state in states:
        if lam == 0 and functional_margins(A, y, state.x).min() > 0:
            raise SeparableError(state.x)
        yield state


def working_response(A, y, theta):
    """r = A theta - B^{-1} (h - z) and the weights P, so that a Newton step minimises

        sum_i P_i (r_i - theta^T a_i)^2,   theta_new = (A^T B A)^{-1} A^T B r .

    IRHD 3.10 has sigma(X^T w) where w_t is meant (logistic_regression-34). By labels, the response
    is r_i = f_i + y_i / P(y_i|x_i).

    Returns: r and P, both (n,).

    >>> working_response(np.array([[1.0]]), np.array([1]), theta=np.array([0.0]))
    (array([2.]), array([0.25]))
    """
    f = A @ theta
    return f + y / label_probability(y, f), log_loss_curvature(f)


# ---------------------------------------------------------------------------------------
# Separable data
# ---------------------------------------------------------------------------------------


def functional_margins(A, y, theta):
    """t_i = y_i theta^T a_i, positive where the label is right.

    >>> functional_margins(np.array([[1.0, 3.0]]), np.array([-1]), theta=np.array([1.0, -1.0]))
    array([2.])
    """
    return y * (A @ theta)


def geometric_margin(X, y, w, b=0.0):
    """min_i y_i (w^T x_i + b) / ||w||: the distance from the hyperplane to a separated set.

    It is negative if the label of a sample is wrong.

    >>> X, y = np.array([[5.0, 0.0], [0.0, -10.0]]), np.array([1, -1])
    >>> geometric_margin(X, y, w=np.array([3.0, 4.0]))
    3.0
    """
    return float(np.min(y * (X @ w + b)) / np.linalg.norm(w))


def ray_scale(xi, eps):
    """-log(e^{eps / n} - 1) / min_i xi_i, or 0: for all h beyond it, F(h theta_s) < eps.

    On the ray through a separator theta_s of margins xi the cost is sum_i log(1 + e^{-h xi_i}),
    for h >= 0 at most n times the term of the least xi_i, and goes to 0; F > 0 never is. So F has
    no minimum (IRHD's theorem 3.4), whichever separator it is, well placed or not. 0 is returned
    for eps >= n log 2, which is F(0).

    Raises: ValueError if xi are not the margins of a separator, all positive.

    >>> ray_scale(np.array([2.0, 5.0]), eps=2 * np.log(2)), ray_scale(np.array([1.0]), 0.01) > 4.6
    (0.0, True)
    """
    if not np.min(xi) > 0:
        raise ValueError(f"xi must be positive, as the margins of a separator are; got {min(xi):g}")
    return max(0.0, float(-np.log(np.expm1(eps / len(xi))) / np.min(xi)))


class SeparableError(ValueError):
    """The data are linearly separable: the cost has no minimum.

    `separator` (m,) proves it: y_i separator^T a_i > 0 for all i; see `ray_scale`.
    """

    def __init__(self, separator):
        super().__init__(
            "the data must not be linearly separable for the cost to have a minimum; the error's "
            "separator has a positive margin on every sample: give lam > 0"
        )
        self.separator = separator


def separator(A, y, tol=1e-9):
    """theta with y_i theta^T a_i > 0 for all i, if the data are separable; else None.

    Newton's method on F tells. On separable data F falls below log 2, and then theta separates.
    Otherwise the gradient vanishes, and its weights 1 - P(y_i|x_i) are the proof that there is no
    separator v: of margin v^T a_i y_i / ||v|| >= gamma for all i it would make

        ||gradient|| >= gamma sum_i (1 - P(y_i|x_i)) >= gamma / 2   as long as F >= log 2 .

    So None says: none of margin over 2 `tol` in units of the largest ||a_i||.

    >>> b, w = separator(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([-1, 1]))
    >>> bool(b < 0 < b + 2 * w)
    True
    >>> separator(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([-1, 1])) is None
    True

    Claims: logistic_regression-29
    """
    small = tol * np.linalg.norm(A, axis=1).max()
    try:
        for state in irls(A, y):
            if np.linalg.norm(gradient(A, y, state.x)) <= small:
                return None
    except SeparableError as error:
        return error.separator
    return None


# ---------------------------------------------------------------------------------------
# Several classes
# ---------------------------------------------------------------------------------------

FORCING = 0.25  # share of the gradient that an early Newton step may leave
ROUNDING = 8 * EPS  # relative change of a cost that is none
FAR = 1e-10  # share of a column's mean square: with less variance it is centred first


def softmax(F):
    """P(k|x) = exp(f_k) / sum_j exp(f_j) of scores F (n, K); sigma(f) for the scores (0, f).

    A number added to all scores of a sample changes nothing; the largest is taken out first.

    >>> softmax(np.array([[0.0, np.log(3)], [1000.0, 0.0]]))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    E = np.exp(F - F.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


class TruncatedNewtonState(NamedTuple):
    """Truncated Newton after a step."""

    theta: np.ndarray  # (d + 1, K): the offsets b, then W^T
    objective: float  # J
    gradient_norm: float  # the largest entry of its gradient
    products: int  # of the Hessian with a vector, so far


class _Task(NamedTuple):
    """The cost J: what `truncated_newton` minimises."""

    X: np.ndarray  # (n, d), less the mean
    mean: np.ndarray  # (d,), 0 unless a column is so far from 0 that its variance would be lost
    moments: np.ndarray  # (d + 1, d + 1), the mean of (1, x) (1, x)^T
    Z: np.ndarray  # (n, K), 0 or 1
    s: np.ndarray  # (n, 1), weights of sum 1
    lam: np.ndarray  # (d + 1, 1), 0 for b
    free: np.ndarray  # (d + 1, 1), 0 for b where there is no offset


def truncated_newton(X, Z, *, lam=0.0, weights=None, fit_intercept=True):
    """Minimise the penalised mean cost for K classes at once, or K = 1 column of two classes:

        J(W, b) = sum_i s_i l_i + lam / 2 ||W||^2,   sum_i s_i = 1,
        l_i = -log P(y_i|x_i),   P = softmax(X W^T + b)   or   P = sigma(X w + b) .

    `Z` (n, K) has a 1 at the class of each sample; `weights` (n,) are equal if not given; b is
    free, or 0 without `fit_intercept`. The Hessian is never formed: its product with V costs as
    little as a gradient g,

        H V = X^T (s dP) + lam V,   dP = P (U - sum_k P_k U_k)   or   P (1 - P) U,   U = X V,

    and Newton's equations are solved by conjugate gradients, to a residual of no more than
    min(1/4, sqrt(||g|| / ||g_0||)) ||g||. They run in the metric of the Hessian at 0,

        H_0 = X^T diag(s) X / K + lam I   (one column: over 4 instead of K),

    the same matrix for every class, on the columns of sum 0 in which all iterates stay. Where an
    x_j is so far from 0 that rounding would hide how it varies, all are centred inside.

    Yields: the start, then a `TruncatedNewtonState` per step. It ends where the gradient is 0 or
    rounding hides whether a step goes down.

    >>> X, Z = np.zeros((4, 1)), np.array([[1.0], [1.0], [1.0], [0.0]])
    >>> *_, last = truncated_newton(X, Z)
    >>> sigmoid(last.theta[0]).round(9)
    array([0.75])
    """
    task = _task(X, Z, lam, weights, fit_intercept)
    inverse, theta = _inverse_at_zero(task), np.zeros((X.shape[1] + 1, Z.shape[1]))
    f, products, first, before = np.zeros(Z.shape), 0, None, np.inf
    while True:
        J, P = _objective(task, theta, f)
        g = _pull(task, P - Z) + task.lam * theta
        norm = float(np.abs(_slopes_as_given(task, g)).max())
        yield TruncatedNewtonState(_theta_as_given(task, theta), J, norm, products)
        size = float(np.vdot(g, inverse @ g))
        if first is None:  # at 0, where H_0 is the Hessian
            first, step, used = size, -inverse @ g, 0
            ahead = _scores(task, step)
        else:
            enough = min(FORCING**2, np.sqrt(size / first)) * size
            step, ahead, used = _conjugate_gradients(task, P, -g, inverse, enough)
        slope = float(np.vdot(g, step))
        if slope >= 0 or (norm >= before and -slope <= ROUNDING * J):
            return
        # t = 1 is where we are: so that the halving of eta ends, where 1 + eta = 1
        eta, *_ = backtrack(_along(task, theta, f, step, ahead), 1.0, J, 1.0, slope)
        if eta == 0:
            return
        theta, f = theta + eta * step, f + eta * ahead
        products, before = products + used, norm


def _task(X, Z, lam, weights, fit_intercept):
    n, d = X.shape
    s = (np.full(n, 1 / n) if weights is None else weights / weights.sum())[:, None]
    free, penalty = np.ones((d + 1, 1)), np.full((d + 1, 1), lam)
    free[0], penalty[0] = fit_intercept, 0.0
    mean, moments = np.zeros(d), _moments(X, s)
    first, second = moments[0, 1:], np.diag(moments)[1:]
    if fit_intercept and np.any(second - first**2 < FAR * second):
        mean, X = first, X - first
        moments = _moments(X, s)
    return _Task(X, mean, moments, Z, s, penalty, free)


def _moments(X, s):
    """sum_i s_i (1, x_i) (1, x_i)^T."""
    M = np.ones((X.shape[1] + 1,) * 2)
    M[0, 1:] = M[1:, 0] = X.T @ s[:, 0]
    Xs = X if np.ptp(s) == 0 else np.sqrt(s) * X
    M[1:, 1:] = Xs.T @ Xs * (s[0] if Xs is X else 1.0)
    return M


def _theta_as_given(task, theta):
    """theta for the columns as they were given: f = w^T (x - mean) + b."""
    return np.vstack([theta[0] - task.mean @ theta[1:], theta[1:]])


def _slopes_as_given(task, g):
    """The gradient in that theta."""
    return np.vstack([g[0], g[1:] + np.outer(task.mean, g[0])])


def _scores(task, theta):
    return task.X @ theta[1:] + theta[0]


def _pull(task, R):
    """The transposed of `_scores`: sum_i s_i (1, x_i) R_i. For K > 1 the rows of R have sum 0."""
    R = task.s * R
    G = task.free * np.vstack([R.sum(axis=0), task.X.T @ R])
    # and those of G: what rounding leaves would run off along b, which nothing holds
    return G if G.shape[1] == 1 else G - G.mean(axis=1, keepdims=True)


def _losses(f, Z):
    """-log P(y_i|x_i) as (n, 1), and P (n, K)."""
    if Z.shape[1] == 1:
        e = np.exp(-np.abs(f))
        return _cross_entropies(Z, f, e), np.where(f >= 0, 1.0, e) / (1 + e)
    top = f.max(axis=1, keepdims=True)
    E = np.exp(f - top)
    total = E.sum(axis=1, keepdims=True)
    return np.sum(Z * (top - f), axis=1, keepdims=True) + np.log(total), E / total


def _objective(task, theta, f):
    """J and P, given the scores f of theta."""
    losses, P = _losses(f, task.Z)
    return float(np.vdot(task.s, losses) + np.sum(task.lam * theta**2) / 2), P


def _along(task, theta, f, step, ahead):
    """J on the line theta + (t - 1) step, whose scores are f + (t - 1) ahead."""
    return lambda t: _objective(task, theta + (t - 1) * step, f + (t - 1) * ahead)[0]


def _times_hessian(task, P, V, U):
    """H V, given the scores U of V."""
    if P.shape[1] == 1:
        dP = P * (1 - P) * U
    else:
        dP = P * (U - np.sum(P * U, axis=1, keepdims=True))
    return _pull(task, dP) + task.lam * V


def _inverse_at_zero(task):
    """H_0^{-1}, or on the directions alone that rounding can tell from singular ones."""
    K = task.Z.shape[1]
    share = 1 / 4 if K == 1 else 1 / K
    H = share * (task.free * task.moments * task.free.T) + np.diag(task.lam[:, 0])
    scale = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), 1.0))
    values, V = np.linalg.eigh(H / np.outer(scale, scale))
    kept = values > len(values) * EPS * values[-1]
    V = V[:, kept] / scale[:, None]
    return (V / values[kept]) @ V.T


def _conjugate_gradients(task, P, r, inverse, enough):
    """V with H V = r, nearly: until the residual has r^T H_0^{-1} r <= `enough`.

    Returns: V, its scores, and how many products with H it took.
    """
    V, U, z = np.zeros_like(r), np.zeros_like(P), inverse @ r
    p, size = z, float(np.vdot(r, z))
    for k in range(r.size):
        Up = _scores(task, p)
        Hp = _times_hessian(task, P, p, Up)
        curvature = float(np.vdot(p, Hp))
        if curvature <= EPS * size:  # flat, as far as rounding lets one see
            return (V, U, k + 1) if k else (p, Up, 1)
        eta = size / curvature
        V, U, r = V + eta * p, U + eta * Up, r - eta * Hp
        z = inverse @ r
        size, before = float(np.vdot(r, z)), size
        if size <= enough:
            break
        p = z + size / before * p
    return V, U, k + 1


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class LogisticRegression(LinearClassifier):
    """Logistic regression with the penalty ||w||^2, two classes or more (softmax).

    It minimises C sum_i l_i + 1/2 ||w||^2, as scikit-learn does, over w and the free offset b: with
    IRHD's lambda, C = 1 / (2 lambda), but there b is penalised too. REP, MLN and IRHD fit without
    a penalty, C = inf: then separable data have no minimum, which `fit` reports. (Nor have classes
    that only touch, y f(x) >= 0 for some f. That shows in coef_, which tol alone keeps finite.)
    The algorithm is `truncated_newton`, whatever the data: there is no choice of a solver.

    Parameters
    ----------
    C : float; inverse strength of the penalty, inf for none
    fit_intercept : bool; whether there are offsets b
    tol : float; stops where no entry of the gradient of the objective over n C exceeds it
    max_iter : int; largest number of Newton steps

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_ : ndarray of shape (1, d) for two classes, for the second; (K, d) for K > 2
    intercept_ : ndarray of shape (1,), or (K,)
    n_iter_ : ndarray of shape (1,); Newton steps
    history_ : ndarray of shape (n_iter_[0] + 1,); the objective over n C of every state
    converged_ : bool; whether the gradient became that small and the minimum exists
    n_features_in_ : int

    With weights, n is their sum.

    >>> model = LogisticRegression().fit([[-1.0], [0.0], [1.0]], ["no", "no", "yes"])
    >>> model.predict([[-2.0], [2.0]]), bool(model.predict_proba([[2.0]])[0, 1] > 0.5)
    (array(['no', 'yes'], dtype='<U3'), True)

    Claims: logistic_regression-10
    """

    def __init__(self, *, C=1.0, fit_intercept=True, tol=1e-4, max_iter=100):
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with labels y (n,) of the given weights; return self."""
        samples = check_samples(X)
        y, weights = check_labels(y, len(samples)), check_weights(sample_weight, len(samples))
        C = check_number("C", self.C, above=0)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        how = {"weights": weights, "fit_intercept": check_flag("fit_intercept", self.fit_intercept)}
        classes = np.unique(y)
        Z = (one_vs_rest(y, classes) + 1) / 2
        states = truncated_newton(samples, Z, lam=1 / (C * weights.sum()), **how)
        run = iterate(states, "gradient_norm", tol, max_iter)
        self.classes_, theta = classes, run.state.theta
        self.intercept_, self.coef_ = theta[0].copy(), theta[1:].T.copy()
        xi = np.inf if C < np.inf else _smallest_margin(samples @ theta[1:] + theta[0], Z, weights)
        if 0 < xi < np.inf:
            self._report_separable(run, xi)
        else:
            self._record(run, "gradient_norm", tol)
        self.n_iter_ = np.array([run.n_iter])
        return self._remember(X)

    def _report_separable(self, run, xi):
        """The scores are right on every sample, by xi or more: there is no minimum."""
        self.history_, self.converged_ = run.history, False
        warnings.warn(
            "LogisticRegression found the classes linearly separable: without a penalty the cost "
            f"has no minimum, and h > 1 times coef_ and intercept_, of margin {xi:.3g}, lowers it "
            "further, to 0 as h grows; choose a finite C",
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


def _smallest_margin(f, Z, weights):
    """By how much the score of the right class is above all others, at least; if weights > 0."""
    f, Z = f[weights > 0], Z[weights > 0]
    if Z.shape[1] == 1:
        return float(np.min((2 * Z - 1) * f))
    others = np.where(Z == 1, -np.inf, f).max(axis=1)
    return float(np.min(np.sum(Z * f, axis=1) - others))
