"""Logistic regression: a line between two classes, and a probability on either side of it.

The log-odds of the classes are affine in x. Gradient descent and Newton's method find the least
log-loss if it exists. On separable data it does not; a penalty mends that.

Contents
    The log-loss             log_loss, log_loss_slope, log_loss_curvature, sigmoid
    The posterior            class_0_log_odds, normal_model
    The model                label_probability, likelihood, cross_entropy
    The cost                 cost, gradient, hessian, hessian_product
    The algorithms           gradient_ascent, max_eta, stochastic_gradient_ascent, irls,
                             working_response
    Separable data           functional_margins, geometric_margin, ray_scale, SeparableError,
                             separator
    Several classes          softmax, softmax_cost, softmax_gradient, softmax_hessian_product,
                             softmax_newton
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
    weights (n,)         weights of the samples, 1 if not given
    Z       (n, K)       for K classes: 1 at the class of each sample, else 0; then theta (m, K) has
                         a column for each class, and P (n, K) are the probabilities
    eta     float        learning rate
    prior   (2,)         probabilities of class 0 and class 1
    rng     Generator    draws the order of the samples in every pass

Notes: REP "Logistic Regression"; MLN "Logistic Regression"; IRHD 3, 3.1 and 3.2. REP, MLN and IRHD
3.1 have labels 0 and 1. IRHD's X holds a sample per column, its g is our sigma, its P_i our B_i.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from mlnotes.base import (
    ConvergenceWarning,
    LinearClassifier,
    check_flag,
    check_number,
    iterate,
    shared,
)
from mlnotes.decision_theory import check_possible, labelled_samples, log_joint, normal_log_odds
from mlnotes.linear_regression import augment
from mlnotes.numerics import conjugate_gradients
from mlnotes.optimization import DescentState, StochasticState, newton
from mlnotes.probability import log_sum_exp

# ---------------------------------------------------------------------------------------
# The log-loss
# ---------------------------------------------------------------------------------------


def log_loss(t):
    """l(t) = log(1 + e^{-t}) of the margin t = y f(x): convex, falling, never 0.

    It replaces the 0-1 loss. Divided by log 2 it is an upper bound of it.

    >>> log_loss([0.0, 1000.0, -1000.0]).round(1).tolist()
    [0.7, 0.0, 1000.0]

    Errata: logistic_regression-04 (l itself is not an upper bound: l(0) = log 2 < 1).
    """
    t = np.asarray(t, dtype=float)
    return np.maximum(-t, 0.0) + np.log1p(np.exp(-np.abs(t)))  # exp is at most 1


def log_loss_slope(t):
    """l'(t) = -1 / (1 + e^t) = -sigma(-t): minus the probability of the wrong label.

    >>> log_loss_slope(np.array([0.0, -1000.0]))
    array([-0.5, -1. ])
    """
    return -sigmoid(-np.asarray(t))


def log_loss_curvature(t):
    """l''(t) = sigma(t) (1 - sigma(t)) = e^{-|t|} / (1 + e^{-|t|})^2 > 0, the same for t and -t.

    >>> log_loss_curvature(np.array([0.0, 1000.0]))
    array([0.25, 0.  ])
    """
    e = np.exp(-np.abs(np.asarray(t, dtype=float)))
    return e / (1 + e) ** 2


def sigmoid(f):
    """sigma(f) = 1 / (1 + e^{-f}), the logistic function, from the real line to (0, 1).

        sigma(-f) = 1 - sigma(f),   sigma' = sigma (1 - sigma),   log sigma(f) = -l(f),
        sigma(f) = (1 + tanh(f / 2)) / 2

    In floating point, sigma(f) is 1 from f = 37 on: compute 1 - sigma(f) as sigma(-f).

    >>> sigmoid(np.array([0.0, np.log(3), -1000.0]))
    array([0.5 , 0.75, 0.  ])

    Errata: logistic_regression-34 (REP and IRHD give the range as [0, 1]).
    """
    f = np.asarray(f, dtype=np.float64)
    e = np.exp(-np.abs(f))  # at most 1, so it cannot overflow
    return np.where(f >= 0, 1.0, e) / (1 + e)


# ---------------------------------------------------------------------------------------
# The posterior
# ---------------------------------------------------------------------------------------


def class_0_log_odds(log_p, prior):
    """xi = ln(q_0 / q_1) of the posterior q_k = P(k|x): for any densities it is a logistic of xi,

        q_0 = p(x|0) pi_0 / (p(x|0) pi_0 + p(x|1) pi_1) = sigma(xi),   q_1 = sigma(-xi).

    `log_p` (n, 2) holds ln p(x|k). Raises: ValueError if both classes are impossible at a sample.

    >>> class_0_log_odds(np.log([[0.5, 0.25]]), prior=np.array([0.5, 0.5])).round(4)  # log 2
    array([0.6931])

    Errata: logistic_regression-07 (MLN derives xi and models q_1 with it; that swaps the labels).
    """
    joint = check_possible(log_joint(log_p, prior))
    return joint[:, 0] - joint[:, 1]


def normal_model(mu, Sigma, prior):
    """theta for two normal classes with the same covariance, for which the model is exact:

        ln(q_1 / q_0) = w^T x + b,   w = Sigma^{-1} (mu_1 - mu_0),
        b = -1/2 (mu_1^T Sigma^{-1} mu_1 - mu_0^T Sigma^{-1} mu_0) + ln(pi_1 / pi_0)

    `mu` (2, d) are the means, `Sigma` (d, d) is the covariance. Returns: theta = (b, w).
    Raises: ValueError if Sigma is not positive definite.

    >>> normal_model(np.array([[0.0], [4.0]]), np.array([[4.0]]), np.array([0.5, 0.5]))
    array([-2.,  1.])
    """
    w, b = normal_log_odds(mu, Sigma, prior)
    return np.concatenate([[b], w])


# ---------------------------------------------------------------------------------------
# The model
# ---------------------------------------------------------------------------------------


def label_probability(y, f):
    """P(y|x) = exp(-l(y f)) = 1 / (1 + exp(-y f)), for y in {-1, +1}.

    >>> label_probability(np.array([1, -1, 1]), np.array([np.log(3), np.log(3), 0.0]))
    array([0.75, 0.25, 0.5 ])
    """
    return sigmoid(y * f)


def likelihood(z, h):
    """L = prod_i h_i^{z_i} (1 - h_i)^{1 - z_i}: independent z_i ~ Bernoulli(h_i).

    >>> likelihood(np.array([1, 0]), h=np.array([0.5, 0.25]))
    0.375
    """
    return float(np.prod(np.where(z == 1, h, 1 - h)))


def cross_entropy(z, f):
    """-log L for h = sigma(f), which is smallest where L is largest:

        -sum_i [ z_i log h_i + (1 - z_i) log(1 - h_i) ] = sum_i [ log(1 + e^{f_i}) - z_i f_i ]

    >>> round(cross_entropy(np.array([1, 0]), f=np.array([0.0, -1000.0])), 4)  # log 2
    0.6931

    Errata: logistic_regression-13 (IRHD 3.7 and 3.11 omit the brackets after the minus).
    """
    return float(np.sum(np.maximum(f, 0.0) - z * f + np.log1p(np.exp(-np.abs(f)))))


# ---------------------------------------------------------------------------------------
# The cost
# ---------------------------------------------------------------------------------------


def cost(A, y, theta, lam=0.0, weights=1.0):
    """F(theta) = sum_i log(1 + exp(-y_i theta^T a_i)) + lam ||theta||^2.

    For lam = 0 it is `cross_entropy`, and n times IRHD 3.3. For lam > 0 the minimiser is unique.

    >>> round(cost(np.array([[1.0, 2.0], [1.0, -2.0]]), np.array([1, -1]), np.zeros(2)), 4)
    1.3863
    """
    losses = log_loss(functional_margins(A, y, theta))
    penalty = np.sum(lam * np.square(theta))
    return float(np.sum(weights * losses) + penalty)


def gradient(A, y, theta, lam=0.0, weights=1.0):
    """dF/dtheta = -sum_i y_i a_i / (1 + e^{t_i}) = A^T (h - z), plus 2 lam theta for the penalty.

    >>> gradient(np.array([[1.0, 2.0], [1.0, 6.0]]), np.array([1, -1]), theta=np.zeros(2))
    array([0., 2.])

    Errata: logistic_regression-19 (IRHD prints exp(-w^T x + b) for exp(-(w^T x + b))).
    """
    wrong = sigmoid(-functional_margins(A, y, theta))
    return A.T @ (-y * wrong * weights) + 2 * lam * theta


def hessian(A, theta, lam=0.0, weights=1.0):
    """H = A^T B A = sum_i B_i a_i a_i^T with B = diag(B_i), plus 2 lam I for the penalty.

    >>> hessian(np.array([[1.0, 2.0], [1.0, -2.0]]), theta=np.zeros(2))
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    B = weights * log_loss_curvature(A @ theta)
    return A.T @ (B[:, None] * A) + 2 * lam * np.eye(A.shape[1])


def hessian_product(A, B, v, lam=0.0):
    """H v = A^T (B (A v)) + 2 lam v, which does not form H = A^T B A + 2 lam I.

    >>> hessian_product(np.array([[1.0, 2.0], [1.0, -2.0]]), B=np.full(2, 0.25), v=np.ones(2))
    array([0.5, 2. ])
    """
    return A.T @ (B * (A @ v)) + 2 * lam * v


def _hessian_products(A, theta, lam, weights):
    """The function v -> H v."""
    B = weights * log_loss_curvature(A @ theta)
    return lambda v: hessian_product(A, B, v, lam)


# ---------------------------------------------------------------------------------------
# The algorithms
# ---------------------------------------------------------------------------------------


def gradient_ascent(A, y, theta0=0.0, *, eta=None):
    """Ascent on the log-likelihood, descent on F: theta <- theta + eta A^T (z - h).

    F falls at every step if eta < `max_eta`; the default is half of that.

    Yields: the start, then an `optimization.DescentState` per step, whose objective is F.

    >>> states = gradient_ascent(np.array([[1.0], [1.0]]), np.array([1, -1]), [2.0])
    >>> [round(next(states).objective, 3) for _ in range(3)]  # to 2 log 2
    [2.254, 1.443, 1.386]

    Errata: logistic_regression-34 (REP calls it "descent to maximise").
    """
    theta, z = np.zeros(A.shape[1]) + theta0, (y + 1) / 2
    if eta is None:
        eta = max_eta(A) / 2
    step = np.nan  # no step has led to the start
    while True:
        h = sigmoid(A @ theta)
        pull = A.T @ (z - h)  # minus the gradient of F
        norm = float(np.linalg.norm(pull))
        yield DescentState(theta, cost(A, y, theta), norm, step)
        theta, step = theta + eta * pull, eta


def max_eta(A):
    """2 / M with M = lambda_max(A^T A) / 4, an upper bound of the curvature of F, as B_i <= 1/4.

    >>> max_eta(np.array([[2.0, 0.0], [0.0, 1.0]]))
    2.0
    """
    return float(8 / np.linalg.norm(A, ord=2) ** 2)


def stochastic_gradient_ascent(A, y, theta0=0.0, *, eta, rng):
    """One sample at a time: theta <- theta + eta (z_i - h_i) a_i.

    eta is a number or a function of the number of the step.

    Yields: the start, then an `optimization.StochasticState` per pass, whose objective is F / n.

    >>> rng = np.random.default_rng(0)
    >>> states = stochastic_gradient_ascent(np.array([[2.0]]), np.array([1]), eta=0.5, rng=rng)
    >>> [next(states).x.round(3).tolist() for _ in range(2)]  # z - h = 1/2 at the start
    [[0.0], [0.5]]
    """
    theta, z, n = np.zeros(A.shape[1]) + theta0, (y + 1) / 2, len(A)
    count = 0  # of the steps
    moved = np.inf  # no pass yet
    while True:
        yield StochasticState(theta, cost(A, y, theta) / n, moved)
        before = theta
        for i in rng.permutation(n):  # a pass: every sample once
            count += 1
            step = eta(count) if callable(eta) else eta
            h_i = sigmoid(A[i] @ theta)
            theta = theta + step * (z[i] - h_i) * A[i]
        moved = float(np.linalg.norm(theta - before))


def irls(A, y, theta0=0.0, *, lam=0.0, weights=1.0, solve=None):
    """Newton's method on F: theta <- theta - H^{-1} gradient.

    For lam = 0 each step solves the weighted least-squares problem of `working_response`.

    ``solve(product, g)`` may solve H p = g with products v -> H v alone, instead of elimination.

    Yields: the start, then an `optimization.NewtonState` per step.
    Raises: SeparableError if lam = 0, at the first theta that separates the data: no minimum.

    >>> *_, last = irls(np.ones((4, 1)), np.array([1, 1, 1, -1]))
    >>> sigmoid(last.x).round(12)
    array([0.75])
    """
    form = hessian if solve is None else _hessian_products

    def value(theta):  # F
        return cost(A, y, theta, lam, weights)

    def slope(theta):  # its gradient
        return gradient(A, y, theta, lam, weights)

    def curvature(theta):  # its Hessian
        return form(A, theta, lam, weights)

    start = np.zeros(A.shape[1]) + theta0
    for state in newton(value, slope, curvature, start, solve=solve):
        if not np.any(lam) and functional_margins(A, y, state.x).min() > 0:
            raise SeparableError(state)  # every label is right
        yield state


def working_response(A, y, theta):
    """r = A theta - B^{-1} (h - z) and the weights B, with which a Newton step minimises

        sum_i B_i (r_i - theta^T a_i)^2,   theta_new = (A^T B A)^{-1} A^T B r .

    In terms of the labels r_i = f_i + y_i / P(y_i|x_i). Returns: r and B, both (n,).

    >>> working_response(np.array([[1.0]]), np.array([1]), theta=np.array([0.0]))
    (array([2.]), array([0.25]))

    Errata: logistic_regression-34 (IRHD 3.10 prints sigma(X^T w) for sigma(X^T w_t)).
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
    """min_i y_i (w^T x_i + b) / ||w||: the distance of the nearest sample, < 0 if a label is wrong.

    >>> geometric_margin(np.array([[5.0, 0.0], [0.0, -10.0]]), np.array([1, -1]), np.array([3, 4]))
    3.0
    """
    return float(np.min(y * (X @ w + b)) / np.linalg.norm(w))


def ray_scale(t, eps):
    """s_0 = -log(e^{eps / n} - 1) / min_i t_i, or 0: for all s > s_0, F(s theta) < eps.

    So F has no minimum (IRHD's theorem 3.4). Raises: ValueError unless all t > 0: theta separates.

    >>> ray_scale(np.array([2.0, 5.0]), eps=2 * np.log(2)), ray_scale(np.array([1.0]), 0.01) > 4.6
    (0.0, True)
    """
    if not np.min(t) > 0:
        raise ValueError(f"t must be positive, as the margins of a separator are; got {min(t):g}")
    return max(0.0, float(-np.log(np.expm1(eps / len(t))) / np.min(t)))


class SeparableError(ValueError):
    """The data are linearly separable: the cost has no minimum.

    `separator` (m,) proves it: y_i separator^T a_i > 0 for all i. It is the x of `state`.
    """

    def __init__(self, state):
        super().__init__(state)
        self.state, self.separator = state, state.x

    def __str__(self):
        return (
            "the data must not be linearly separable for the cost to have a minimum; the error's "
            "separator has a positive margin on every sample: give lam > 0"
        )


def separator(A, y, tol=1e-9):
    """theta with y_i theta^T a_i > 0 for all i, if the data are separable; else None.

    On separable data Newton's method brings F below log 2, and then theta separates. Otherwise the
    gradient goes to 0, and no separator has a margin above twice its length. So None means: none
    above 2 `tol`, in units of the largest ||a_i||.

    >>> b, w = separator(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([-1, 1]))
    >>> bool(b < 0 < b + 2 * w)
    True
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


def softmax(scores):
    """P(k|x) = exp(f_k) / sum_j exp(f_j) of scores (n, K); sigma(f) for the scores (0, f).

    >>> softmax(np.array([[0.0, np.log(3)], [1000.0, 0.0]]))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    largest = scores.max(axis=1, keepdims=True)  # of every row
    powers = np.exp(scores - largest)  # at most 1
    return powers / powers.sum(axis=1, keepdims=True)


def softmax_cost(A, Z, theta, lam=0.0, weights=1.0):
    """F(theta) = -sum_i log P(y_i|x_i) + lam ||theta||^2 for K classes, P = softmax(A theta).

    >>> round(softmax_cost(np.ones((3, 1)), np.eye(3), theta=np.zeros((1, 3))), 4)  # 3 log 3
    3.2958
    """
    scores = A @ theta
    losses = log_sum_exp(scores) - np.sum(Z * scores, axis=1)
    return float(np.sum(weights * losses) + np.sum(np.square(theta).T * lam))


def softmax_gradient(A, Z, theta, lam=0.0, weights=1.0):
    """dF/dtheta = A^T (P - Z), plus 2 lam theta for the penalty.

    Returns: (m, K).

    >>> softmax_gradient(np.ones((2, 1)), np.eye(2), theta=np.array([[np.log(3), 0.0]])).round(12)
    array([[ 0.5, -0.5]])
    """
    error = softmax(A @ theta) - Z
    return A.T @ (error.T * weights).T + 2 * (theta.T * lam).T


def softmax_hessian_product(A, P, V, lam=0.0, weights=1.0):
    """H V = A^T dP, plus 2 lam V for the penalty: how the gradient changes along V (m, K).

    Along V the scores change by U = A V, and the probabilities P (n, K) by

        dP = P (U - sum_k P_k U_k) .

    >>> softmax_hessian_product(np.ones((2, 1)), np.full((2, 2), 0.5), np.array([[1.0, -1.0]]))
    array([[ 1., -1.]])
    """
    U = A @ V
    dP = P * (U - np.vecdot(P, U)[:, None])
    return A.T @ (dP.T * weights).T + 2 * (V.T * lam).T


def softmax_newton(A, Z, *, lam=0.0, weights=1.0, solve):
    """Newton's method for K classes, from theta = 0, as `irls` for two.

    ``solve(product, g)`` solves H p = g with products p -> H p alone, p and g (m K,).

    Yields: the start, then an `optimization.NewtonState` per step; its x (m K,) is theta.ravel().

    >>> A, Z = np.ones((4, 1)), np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    >>> *_, last = softmax_newton(A, Z, solve=conjugate_gradients)
    >>> softmax(last.x[None]).round(9)
    array([[0.75, 0.25]])
    """
    shape = (A.shape[1], Z.shape[1])

    def product(x):
        P = softmax(A @ x.reshape(shape))
        return lambda v: softmax_hessian_product(A, P, v.reshape(shape), lam, weights).ravel()

    return newton(
        lambda x: softmax_cost(A, Z, x.reshape(shape), lam, weights),
        lambda x: softmax_gradient(A, Z, x.reshape(shape), lam, weights).ravel(),
        product,
        np.zeros(A.shape[1] * Z.shape[1]),
        solve=solve,
    )


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


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
    tol : float; largest Newton decrement of objective / (n C) at the end, n the sum of the weights
    max_iter : int; largest number of Newton steps

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
    tol: float = 1e-4
    max_iter: int = 100

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d), labels y (n,) and weights (n,), 0 if absent; return self."""
        C = check_number("C", self.C, above=0)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        free = check_flag("fit_intercept", self.fit_intercept)
        samples, classes, k, weights = labelled_samples(X, y, sample_weight)
        n = weights.sum()
        mean = weights @ samples / n * free
        A = augment(samples - mean)[:, not free :]  # centred, so that b is well determined
        lam = np.full(A.shape[1], 1 / (2 * C * n))
        lam[:free] = 0.0
        Z = (k[:, None] == np.arange(len(classes))).astype(float)
        how = {"lam": lam, "weights": weights / n, "solve": _solver(A, lam, weights / n)}
        if len(classes) == 2:
            states = _until_separated(irls(A, 2.0 * k - 1, **how))
        else:
            states = softmax_newton(A, Z, **how)
        run = iterate(states, "decrement", tol, max_iter)
        theta = run.state.x.reshape(A.shape[1], -1)
        if len(classes) > 2:
            theta = theta - theta.mean(axis=1, keepdims=True)  # which changes no probability
        W = theta[free:].T
        self.classes_, self.coef_ = classes, W
        self.intercept_ = (theta[0] if free else np.zeros(len(W))) - W @ mean
        margin = _smallest_margin(A @ theta, Z) if C == np.inf else -np.inf
        if margin > 0:
            self._report_separable(run, margin)
        else:
            self._record(run, "decrement", tol)
        self.n_iter_ = np.array([run.n_iter])
        return self._remember(X)

    def _report_separable(self, run, margin):
        """Warn that every sample has the largest score at its class: there is no minimum."""
        self.history_, self.converged_ = run.history, False
        warnings.warn(
            "LogisticRegression found the classes linearly separable: without a penalty the cost "
            f"has no minimum, and multiplying coef_ and intercept_, of margin {margin:.3g}, by "
            "s > 1 lowers it further, to 0 as s grows; choose a finite C",
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


def _solver(A, lam, weights):
    """Conjugate gradients for Newton's equations, in units that bring all features to one scale."""
    scale = np.einsum("ij,ij,i->j", A, A, weights) / 4 + 2 * lam  # the diagonal of H at 0
    scale[scale == 0] = 1.0

    def solve(product, g):
        unit = np.sqrt(np.repeat(scale, len(g) // len(scale)))
        return conjugate_gradients(lambda p: product(p / unit) / unit, g / unit) / unit

    return solve


def _until_separated(states):
    """The states of `irls`; the last is the first that separates the data, if one does."""
    try:
        yield from states
    except SeparableError as error:
        yield error.state


def _smallest_margin(scores, Z):
    """min_i of the score of the right class less the largest other score."""
    if scores.shape[1] == 1:
        scores = np.column_stack([-scores / 2, scores / 2])
    others = np.where(Z == 1, -np.inf, scores).max(axis=1)
    return float(np.min(np.sum(Z * scores, axis=1) - others))
