"""Decision theory: what the best prediction is when the probabilities are known.

A learner only ever approaches what this chapter computes. If the law of (X, Y) is known, then the
best class, the best action under any losses and the best number are all found point by point,
from what x tells about y; and what they lose on average, nobody can do without.

Contents
    Losses                  task_type, zero_one, margin_zero_one, squared, absolute,
                            empirical_risk, estimate, Estimate
    Bayes' formula          check_prior, chosen_prior, log_joint, log_evidence, check_possible,
                            log_posterior, posterior
    The Bayes classifier    bayes_classify, likelihood_ratio_rule, normal_log_odds,
                            normal_bayes_error
    Probability of error    product_rule, decision_regions, error_probability, conditional_error,
                            bayes_error, excess_error
    Actions and losses      zero_one_matrix, with_reject, conditional_risk, bayes_action,
                            total_risk
    One feature, one cut    Cut, cut_errors, best_cut, cut_rule
    Predicting numbers      expected_prediction_error, conditional_mean, conditional_variance,
                            weighted_median, conditional_median, conditional_mode
    Why the median          absolute_subdifferential, is_median
    Learning from rewards   BanditState, epsilon_greedy
    Estimators              BayesClassifier

Symbols
    X       (n, d)      points x, one per row: samples, or the nodes of a quadrature
    dx      (n,)        how much of space each point stands for: its weight in a quadrature; 1 for
                        the atoms of a finite space, of which the densities are probabilities
    y       (n,)        classes 0, ..., K - 1, or numbers; in tables (k_y,), the values of Y
    f       (n,)        predictions; in tables (k_x,), that of every x_j
    loss    function    loss(f, y) >= 0, prediction first
    prior   (K,)        pi_k, the probability of class k; they sum to 1
    log_p   (n, K)      ln p(x_i | k), the log-densities of the classes
    q       (n, K)      q_k(x_i), the posterior probabilities of the classes
    h       (n,)        decisions h(x_i), numbers of classes
    L       (m, K)      loss L[a, k] of action a where the class is k
    a       (n,)        actions a(x_i), numbers of rows of L
    mu      (2, d)      means of two normal classes; Sigma (d, d): their common covariance
    joint   (k_y, k_x)  table of Pr(Y = y_i, X = x_j); in Bayes' formula (n, K), ln p(x_i, k)
    p       (k,)        weights of atoms, or probabilities of winning
    c       float       a constant to predict, or a cost
    rng     Generator   source of random numbers

Notes: MLN "Statistical Learning Framework", "Bayes Classifier", "Optimality"; ISML 0/01 "Basic" and
"Bayesian Decision Theory"; IRHD 2; PRNN 1 and 4; REP "Supervised Learning". MLN writes p_k for
our pi_k and f_k(x) for p(x | k), ISML P(omega_k | x) for q_k(x); IRHD puts y before f in a loss.
"""

from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Classifier,
    check_labels,
    check_number,
    check_samples,
    check_weights,
)
from mlnotes.probability import (
    covariance,
    expectation,
    given_x,
    log_sum_exp,
    multivariate_normal_log_density,
    normal_cdf,
)

__all__ = [
    "task_type", "zero_one", "margin_zero_one", "squared", "absolute", "empirical_risk",
    "estimate", "Estimate", "check_prior", "chosen_prior", "log_joint", "log_evidence",
    "check_possible", "log_posterior", "posterior", "bayes_classify", "likelihood_ratio_rule",
    "normal_log_odds", "normal_bayes_error", "product_rule", "decision_regions",
    "error_probability", "conditional_error", "bayes_error", "excess_error", "zero_one_matrix",
    "with_reject", "conditional_risk", "bayes_action", "total_risk", "Cut", "cut_errors",
    "best_cut", "cut_rule", "expected_prediction_error", "conditional_mean",
    "conditional_variance", "weighted_median", "conditional_median", "conditional_mode",
    "absolute_subdifferential", "is_median", "BanditState", "epsilon_greedy", "BayesClassifier",
]  # fmt: skip

ROUND_OFF = 1e-9  # by how much given priors may miss 1


# ---------------------------------------------------------------------------------------
# Losses
# ---------------------------------------------------------------------------------------


def task_type(y):
    """What to learn from outputs y: "regression" of amounts, or "classification" into kinds.

    Text and whole numbers, such as the codes -1 and +1, are taken for names of classes; a single
    fraction makes all of them amounts. Counts and years are amounts as well, which no look at
    the numbers can tell.

    >>> task_type(["spam", "ham"]), task_type([-1.0, 1.0]), task_type([4.9, 5.0])
    ('classification', 'classification', 'regression')
    """
    y = np.asarray(y)
    amounts = y.dtype.kind == "f" and not np.array_equal(y, np.round(y))
    return "regression" if amounts else "classification"


def zero_one(f, y):
    """l(f, y) = 1 if f is not y, else 0.

    >>> zero_one(np.array(["ham", "spam"]), np.array(["ham", "ham"]))
    array([0, 1])
    """
    return np.not_equal(f, y).astype(int)


def margin_zero_one(f, y):
    """l(f, y) = 1 if y f <= 0, else 0, of a score f and a label y in {-1, +1}.

    A score of 0 is an error for both labels, whichever of them is then predicted.

    >>> margin_zero_one(np.array([0.3, -2.0, 0.0]), np.array([1, 1, -1]))
    array([0, 1, 1])
    """
    return np.less_equal(y * f, 0).astype(int)


def squared(f, y):
    """l(f, y) = (y - f)^2.

    >>> squared(np.array([1.0, 5.0]), 3.0)
    array([4., 4.])
    """
    return (y - f) ** 2


def absolute(f, y):
    """l(f, y) = |y - f|.

    >>> absolute(np.array([1.0, 5.0]), 3.0)
    array([2., 2.])
    """
    return np.abs(y - f)


def empirical_risk(loss, f, y):
    """The training error 1/n sum_i l(f(x_i), y_i), of predictions and outputs of one shape (n,).

    Raises: ValueError if their shapes differ (a row less a column would be a table).

    >>> empirical_risk(absolute, f=np.array([1.0, 2.0]), y=np.array([1.0, 5.0]))
    1.5

    Claims: decision_theory-02
    """
    if np.shape(f) != np.shape(y):
        raise ValueError(f"f and y must have one shape; got {np.shape(f)} and {np.shape(y)}")
    return float(np.mean(loss(f, y)))


class Estimate(NamedTuple):
    """A mean over random draws, and how far it is off, in the root mean square."""

    value: float
    standard_error: float


def estimate(losses):
    """E[loss] from `losses` (n,) of independent draws: their mean, with s / sqrt(n) for its error.

    s^2 = 1/(n - 1) sum_i (loss_i - mean)^2. Returns: an `Estimate`.

    Raises: ValueError for fewer than two.

    >>> estimate(np.array([0, 0, 1, 1, 0, 1, 0, 0, 0]))
    Estimate(value=0.3333333333333333, standard_error=0.16666666666666666)
    """
    n = len(losses)
    if n < 2:
        raise ValueError(f"a standard error needs 2 draws at least; got {n}")
    return Estimate(float(np.mean(losses)), float(np.std(losses, ddof=1) / np.sqrt(n)))


# ---------------------------------------------------------------------------------------
# Bayes' formula
# ---------------------------------------------------------------------------------------


def check_prior(prior):
    """The `prior`, if pi_k >= 0 and sum_k pi_k = 1.

    Raises: ValueError if not.

    >>> check_prior(np.array([0.5, 0.6]))
    Traceback (most recent call last):
    ValueError: priors must be >= 0 and sum to 1; got [0.5 0.6]
    """
    if not np.all(prior >= 0) or abs(np.sum(prior) - 1) > ROUND_OFF:
        raise ValueError(f"priors must be >= 0 and sum to 1; got {prior}")
    return prior


def chosen_prior(given, shares, name="priors", positive=False):
    """The pi_k `given` as the hyperparameter `name` of a classifier, or the `shares` (K,) for None.

    A sum that misses 1 by what five digits or single precision lose is made 1.

    Raises: ValueError unless there are K numbers >= 0, or > 0 if `positive`, with the sum 1.

    >>> chosen_prior([0.5, 0.5], shares=np.array([0.25, 0.75]))
    array([0.5, 0.5])
    """
    if given is None:
        return shares
    prior = _numbers(given)
    law = prior is not None and prior.shape == shares.shape
    law = law and (prior.min() > 0 if positive else prior.min() >= 0)
    if not (law and np.isclose(prior.sum(), 1)):
        raise ValueError(
            f"{name} must be a number {'>' if positive else '>='} 0 for each of the {len(shares)} "
            f"classes, with the sum 1; got {given!r}"
        )
    return prior / prior.sum()


def _numbers(given):
    """The array of floats that was given, or None; text and complex numbers are none."""
    try:
        array = np.asarray(given)
        return None if array.dtype.kind in "USc" else array.astype(float)
    except (TypeError, ValueError):
        return None


def log_joint(log_p, prior):
    """ln pi_k + ln p(x_i | k) = ln p(x_i, k), the logarithm of the weighted densities.

    Raises: ValueError if the prior is none, or has not one number for each column of log_p.

    >>> np.exp(log_joint(np.log([[0.2, 0.6]]), prior=np.array([0.75, 0.25]))).round(12)
    array([[0.15, 0.15]])
    """
    if np.shape(log_p)[1:] != np.shape(prior):
        raise ValueError(
            "log_p must have shape (n, K) and the prior (K,); "
            f"got {np.shape(log_p)} and {np.shape(prior)}"
        )
    return _log_prior(prior) + log_p


def _log_prior(prior):
    with np.errstate(divide="ignore"):  # a class without weight: ln 0 = -inf
        return np.log(check_prior(prior))


def log_evidence(log_p, prior):
    """ln p(x_i), with p(x) = sum_k pi_k p(x | k), by `probability.log_sum_exp`.

    Returns: (n,), -inf where no class has any density.

    >>> np.exp(log_evidence(np.log([[0.2, 0.6]]), prior=np.array([0.75, 0.25]))).round(12)
    array([0.3])
    """
    return log_sum_exp(log_joint(log_p, prior))


def check_possible(joint):
    """The `joint`, if every x_i has a density under some class.

    Raises: ValueError if not: nothing follows from what cannot be seen.

    >>> check_possible(np.log([[0.5, 0.25], [1.0, 0.125]])).shape
    (2, 2)
    """
    impossible = joint.max(axis=1) == -np.inf
    if impossible.any():
        i = impossible.argmax()
        raise ValueError(f"X[{i}] must be possible in some class; got Pr(x, k) = 0 for all k")
    return joint


def log_posterior(joint):
    """ln q_k(x_i) = ln p(x_i, k) - ln sum_j p(x_i, j), whatever their size: (n, K).

    A product of 1000 densities is below the smallest number that there is, and its logarithm
    quite ordinary. Raises: ValueError where p(x) = 0, as `check_possible` does.

    >>> log_posterior(np.array([[-5000.0, -5000.0 + np.log(3)]])).round(3)
    array([[-1.386, -0.288]])
    """
    evidence = log_sum_exp(joint)
    if (evidence == -np.inf).any():
        check_possible(joint)  # which says where
    return joint - evidence[:, None]


def posterior(log_p, prior):
    """q_k(x_i) = pi_k p(x_i | k) / p(x_i): prior times likelihood over evidence.

    Returns: (n, K), rows that sum to 1. Raises: ValueError where p(x) = 0.

    Equally likely at x, the two classes keep the odds that they had before:

    >>> posterior(np.log([[0.3, 0.3], [0.1, 0.3]]), prior=np.array([0.75, 0.25]))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])

    Claims: decision_theory-03
    """
    return np.exp(log_posterior(log_joint(log_p, prior)))


# ---------------------------------------------------------------------------------------
# The Bayes classifier
# ---------------------------------------------------------------------------------------


def bayes_classify(log_p, prior):
    """h_B(x) = argmax_k q_k(x) = argmax_k pi_k p(x | k), which does not need p(x).

    Of classes that tie, the first is taken. PRNN breaks a tie for class 0 in its section 1 and
    for class 1 in section 4, MLN for 1: one rule must be kept, and any does, since at a tie the
    error is the same (decision_theory-06).

    >>> log_p = np.log([[0.3, 0.3], [0.1, 0.3], [0.1, 0.4]])
    >>> bayes_classify(log_p, prior=np.array([0.75, 0.25]))
    array([0, 0, 1])

    Claims: decision_theory-05
    """
    return log_joint(log_p, prior).argmax(axis=1)


def likelihood_ratio_rule(log_p, prior):
    """Class 0 of two where p(x | 0) / p(x | 1) >= pi_1 / pi_0, else class 1.

    The data are on the left, what was known before is on the right.

    >>> log_p = np.log([[0.3, 0.3], [0.1, 0.3], [0.1, 0.4]])
    >>> likelihood_ratio_rule(log_p, prior=np.array([0.75, 0.25]))
    array([0, 0, 1])
    """
    log_0, log_1 = _log_prior(prior)
    return np.where(log_p[:, 0] - log_p[:, 1] >= log_1 - log_0, 0, 1)


def normal_log_odds(mu, Sigma, prior):
    """The line of two normal classes of one covariance: w^T x + b = ln q_1(x) - ln q_0(x).

        w = Sigma^{-1} (mu_1 - mu_0),    b = -w^T (mu_0 + mu_1) / 2 + ln(pi_1 / pi_0)

    The squares of x cancel. In one dimension the decision changes at

        x* = -b / w = (mu_0 + mu_1) / 2 + sigma^2 ln(pi_0 / pi_1) / (mu_1 - mu_0).

    Returns: w (d,) and b. Raises: ValueError if Sigma is not positive definite.

    >>> mu, prior = np.array([[0.0], [4.0]]), np.array([0.5, 0.5])
    >>> w, b = normal_log_odds(mu, np.array([[4.0]]), prior)
    >>> w, float(b)
    (array([1.]), -2.0)
    """
    L = np.linalg.cholesky(Sigma)  # numpy's error is a ValueError, and says what is wrong
    w = np.linalg.solve(L.T, np.linalg.solve(L, mu[1] - mu[0]))
    log_0, log_1 = _log_prior(prior)
    return w, -w @ (mu[0] + mu[1]) / 2 + log_1 - log_0


def normal_bayes_error(mu, Sigma, prior):
    """The error of that line: with t = ln(pi_1 / pi_0) and Delta^2 = w^T (mu_1 - mu_0),

        pi_0 Phi((t - Delta^2 / 2) / Delta) + pi_1 Phi((-t - Delta^2 / 2) / Delta),

    since the log-odds are N(t -+ Delta^2 / 2, Delta^2) in the classes. That is Phi(-Delta / 2) for
    equal priors, and min(pi_0, pi_1) where the means coincide and the prior decides.

    >>> mu, prior = np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([0.5, 0.5])
    >>> round(normal_bayes_error(mu, np.eye(2), prior), 4)
    0.1587
    """
    w, b = normal_log_odds(mu, Sigma, prior)
    Delta2 = w @ (mu[1] - mu[0])
    if Delta2 == 0:
        return float(min(prior))
    score = mu @ w + b  # the means of the log-odds in class 0 and in class 1
    return float(prior @ normal_cdf(score * [1, -1], 0.0, Delta2))


# ---------------------------------------------------------------------------------------
# Probability of error
# ---------------------------------------------------------------------------------------


def product_rule(*rules):
    """Nodes and weights for an integral over a box, from the `rules` (x, dx) of its sides.

    Returns: X (n, d) and dx (n,), with as many nodes as there are combinations.

    >>> side = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> X, dx = product_rule(side, side)
    >>> X.tolist(), dx
    ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], array([0.25, 0.25, 0.25, 0.25]))
    """
    sides = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    X = np.stack(sides, axis=-1).reshape(-1, len(rules))
    return X, reduce(np.multiply.outer, (dx for _, dx in rules)).ravel()


def decision_regions(h, K):
    """R_k(h) = {x : h(x) = k}: which of the points are in which of the K regions.

    Returns: (n, K) of bool, exactly one True per row.

    >>> decision_regions(np.array([0, 0, 2]), K=3).astype(int)
    array([[1, 0, 0],
           [1, 0, 0],
           [0, 0, 1]])
    """
    return np.asarray(h)[:, None] == np.arange(K)


def error_probability(h, log_p, prior, dx):
    """F(h) = sum_k pi_k int_{not R_k(h)} p(x | k) dx: whatever of a class lies in other regions.

    For two classes that is pi_0 int_{R_1} p(x | 0) dx + pi_1 int_{R_0} p(x | 1) dx.

    >>> log_p, dx = np.log([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]]), np.ones(3)
    >>> h, prior = np.array([0, 1, 1]), np.array([0.5, 0.5])
    >>> round(error_probability(h, log_p, prior, dx), 12)  # (0.3 + 0.2) / 2 + 0.1 / 2
    0.3

    Claims: decision_theory-07
    """
    outside = ~decision_regions(h, len(prior))
    return float(dx @ np.where(outside, np.exp(log_joint(log_p, prior)), 0.0).sum(axis=1))


def conditional_error(h, q):
    """P(error | x) = 1 - q_{h(x)}(x); the Bayes classifier makes it 1 - max_k q_k(x).

    Its mean over draws of x estimates the probability of error, with less noise than the share
    of wrong decisions does.

    >>> conditional_error(np.array([0, 0]), q=np.array([[0.75, 0.25], [0.25, 0.75]]))
    array([0.25, 0.75])
    """
    return 1 - np.take_along_axis(q, np.asarray(h)[:, None], axis=1)[:, 0]


def bayes_error(log_p, prior, dx):
    """F(h_B) = int p(x) - max_k pi_k p(x | k) dx: no classifier errs less.

    Everything but the largest weighted density; of two classes the smaller one is left,

        F(h_B) = int min(pi_0 p(x | 0), pi_1 p(x | 1)) dx,

    the area in which they overlap. A quadrature is the better the nearer its pieces end to where
    the classes change.

    >>> log_p, dx = np.log([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]]), np.ones(3)
    >>> round(bayes_error(log_p, np.array([0.5, 0.5]), dx), 12)  # (0.1 + 0.3 + 0.2) / 2
    0.3

    Claims: decision_theory-08
    """
    ranked = np.sort(np.exp(log_joint(log_p, prior)), axis=1)
    return float(dx @ ranked[:, :-1].sum(axis=1))


def excess_error(h, log_p, prior, dx):
    """F(h) - F(h_B) = int max_k pi_k p(x | k) - pi_{h(x)} p(x | h(x)) dx >= 0.

    Of two classes, int |pi_0 p(x | 0) - pi_1 p(x | 1)| dx over the points where h is not h_B: what
    a wrong idea of the densities costs is paid there only, and where the two are close it is cheap.

    >>> log_p, dx = np.log([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]]), np.ones(3)
    >>> prior = np.array([0.5, 0.5])
    >>> round(excess_error(np.array([1, 1, 1]), log_p, prior, dx), 12)  # (0.5 - 0.1) / 2
    0.2
    """
    weighted = np.exp(log_joint(log_p, prior))
    chosen = np.take_along_axis(weighted, np.asarray(h)[:, None], axis=1)[:, 0]
    return float(dx @ (weighted.max(axis=1) - chosen))


# ---------------------------------------------------------------------------------------
# Actions and losses
# ---------------------------------------------------------------------------------------


def zero_one_matrix(K):
    """L = 1 - I: action k decides for class k, and every error costs 1.

    >>> zero_one_matrix(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return 1 - np.eye(K)


def with_reject(L, c):
    """L with one more action, to decide for none of the classes at the cost c.

    With L = 1 - I it is taken where even the likeliest class has max_k q_k(x) < 1 - c, so that
    c >= 1 - 1/K rejects nothing.

    >>> with_reject(zero_one_matrix(2), c=0.25)
    array([[0.  , 1.  ],
           [1.  , 0.  ],
           [0.25, 0.25]])
    """
    return np.vstack([L, np.full(L.shape[1], c)])


def conditional_risk(q, L):
    """R(a | x) = sum_k L(a, k) q_k(x), the loss to be expected of each action.

    Returns: (n, m).

    >>> conditional_risk(q=np.array([[0.75, 0.25]]), L=np.array([[0.0, 8.0], [1.0, 0.0]]))
    array([[2.  , 0.75]])
    """
    return q @ L.T


def bayes_action(q, L):
    """a(x) = argmin_a R(a | x), the first of those that tie.

    With L = 1 - I the risk is 1 - q_a(x), and this the Bayes classifier. A miss that costs eight
    times a false alarm is worth an alarm although three to one nothing is the matter:

    >>> bayes_action(q=np.array([[0.75, 0.25]]), L=np.array([[0.0, 8.0], [1.0, 0.0]]))
    array([1])

    Claims: decision_theory-12
    """
    return conditional_risk(q, L).argmin(axis=1)


def total_risk(a, log_p, prior, L, dx):
    """R(a) = int sum_k L(a(x), k) pi_k p(x | k) dx, which `bayes_action` makes least.

    With L = 1 - I it is the probability of error.

    >>> log_p, dx = np.log([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]]), np.ones(3)
    >>> a, prior = np.array([0, 2, 1]), np.array([0.5, 0.5])
    >>> L = with_reject(zero_one_matrix(2), c=0.25)
    >>> round(total_risk(a, log_p, prior, L, dx), 12)  # (0.1 + 0.2) / 2 + 0.25 (0.3 + 0.3) / 2
    0.225
    """
    return float(dx @ np.sum(L[a] * np.exp(log_joint(log_p, prior)), axis=1))


# ---------------------------------------------------------------------------------------
# One feature, one cut
# ---------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """A rule on one feature: class `above` where x > at, the other of 0 and 1 elsewhere."""

    at: float
    above: int
    errors: int  # on the training samples


def cut_errors(x, y):
    """How many samples the rule "class 1 above the cut" gets wrong, for every cut that matters.

    x (n,) is the feature, y the class, 0 or 1. Between two samples the error does not change, so
    that one cut halfway will do; -inf and inf have all samples on one side. In sorted order, each
    cut passes the samples of one value: errors rise by those of class 1, fall by those of class 0.

    Returns: the cuts in rising order, and the errors at each. Raises: ValueError if y holds
    anything but 0 and 1, or x is not finite.

    >>> cut_errors(x=np.array([1.0, 4.0, 2.0]), y=np.array([0, 1, 1]))
    (array([-inf,  1.5,  3. ,  inf]), array([1, 0, 1, 2]))
    """
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"y must hold the classes 0 and 1; got {np.unique(y)}")
    if not np.isfinite(x).all():
        raise ValueError("x must be finite; it contains NaN or infinity")
    order = np.argsort(x)
    x, y = np.asarray(x, dtype=float)[order], np.asarray(y)[order]
    passed = np.concatenate([[0], np.cumsum(np.where(y == 1, 1, -1))])
    middle = x[:-1] / 2 + x[1:] / 2
    middle = np.where(middle < x[1:], middle, x[:-1])  # of neighbouring floats none is between
    cuts = np.concatenate([[-np.inf], middle, [np.inf]])
    apart = np.concatenate([[True], x[:-1] < x[1:], [True]])
    return cuts[apart], (np.count_nonzero(y == 0) + passed)[apart]


def best_cut(x, y):
    """The cut with the fewest training errors, in O(n log n): one sort and one sweep.

    Either class may be the one above: n - errors is the count of the opposite rule. Of equals the
    lowest cut is taken. x (n,) is the feature, y the class, 0 or 1.

    Returns: a `Cut`. Raises: ValueError as `cut_errors` does.

    >>> best_cut(x=np.array([1.0, 4.0, 2.0, 3.0, 5.0]), y=np.array([1, 0, 1, 0, 1]))
    Cut(at=2.5, above=0, errors=1)

    Claims: decision_theory-15
    """
    cuts, errors = cut_errors(x, y)
    both = np.stack([len(y) - errors, errors])  # class 0 above, class 1 above
    i = both.min(axis=0).argmin()
    above = both[:, i].argmin()
    return Cut(float(cuts[i]), int(above), int(both[above, i]))


def cut_rule(x, cut):
    """The classes that the `Cut` gives to x.

    >>> cut_rule(np.array([1.0, 2.5, 3.0]), Cut(at=2.5, above=0, errors=1))
    array([1, 1, 0])
    """
    return np.where(x > cut.at, cut.above, 1 - cut.above)


# ---------------------------------------------------------------------------------------
# Predicting numbers
# ---------------------------------------------------------------------------------------


def expected_prediction_error(joint, y, f, loss):
    """EPE(f) = E[L(Y, f(X))] = sum_ij joint_ij loss(f_j, y_i).

    It is E_X E_{Y | X}[L(Y, f(X))], in which every x has a term of its own: f(x) may be chosen for
    each x alone. For a density, take joint_ij = p(x_j, y_i) dx_j dy_i at the nodes of a quadrature.

    >>> joint, y = np.array([[0.25, 0.0], [0.25, 0.5]]), np.array([0.0, 2.0])
    >>> float(expected_prediction_error(joint, y, f=np.array([1.0, 2.0]), loss=squared))
    0.5

    Claims: decision_theory-19
    """
    return np.sum(joint * loss(f, y[:, None]))


def conditional_mean(joint, y):
    """f(x) = E[Y | X = x], the regression function: the best prediction under squared loss.

    E[(Y - c)^2 | x] = E[Y^2 | x] - 2 c E[Y | x] + c^2 is a parabola in c. Any other f has an
    expected prediction error that is larger by E[(f(X) - E[Y | X])^2]. IRHD writes f(X) for the
    minimiser, of an expression in x; f(X) is what comes of putting X for x (decision_theory-27).

    Returns: (k_x,). Raises: ValueError if some x_j has probability 0.

    >>> conditional_mean(np.array([[0.25, 0.0], [0.25, 0.5]]), y=np.array([0.0, 2.0]))
    array([1., 2.])

    Claims: decision_theory-20
    """
    return np.array([expectation(p, y) for p in _laws_given_x(joint)])


def conditional_variance(joint, y):
    """Var(Y | X = x), what squared loss is left with at x; its mean is the least EPE there is.

    Returns: (k_x,). Raises: ValueError if some x_j has probability 0.

    >>> conditional_variance(np.array([[0.25, 0.0], [0.25, 0.5]]), y=np.array([0.0, 2.0]))
    array([1., 0.])
    """
    laws, means = _laws_given_x(joint), conditional_mean(joint, y)
    return np.array([expectation(p, (y - m) ** 2) for p, m in zip(laws, means, strict=True)])


def weighted_median(p, y):
    """The smallest y_i with Pr(Y <= y_i) >= 1/2, of the weights p of the values y.

    Raises: ValueError if weights are negative or all 0.

    >>> float(weighted_median(np.array([0.2, 0.2, 0.6]), y=np.array([9.0, 1.0, 4.0])))
    4.0
    """
    if not np.all(p >= 0) or not np.any(p):
        raise ValueError(f"weights must be >= 0 and not all 0; got {p}")
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(p[order])
    return y[order][np.argmax(2 * reached >= reached[-1])]


def conditional_median(joint, y):
    """f(x) = median of Y given X = x: the best prediction under absolute loss.

    The smallest, where several numbers are medians; all of them lose the same.

    Returns: (k_x,). Raises: ValueError if some x_j has probability 0.

    >>> joint = np.array([[0.25, 0.0], [0.125, 0.0], [0.125, 0.5]])
    >>> conditional_median(joint, y=np.array([0.0, 1.0, 9.0]))
    array([0., 9.])

    Claims: decision_theory-21
    """
    return np.array([weighted_median(p, y) for p in _laws_given_x(joint)])


def conditional_mode(joint, y):
    """f(x) = argmax_i Pr(Y = y_i | X = x): the best prediction under 0-1 loss.

    The Bayes classifier of a table; the first where several tie.

    Returns: (k_x,). Raises: ValueError if some x_j has probability 0.

    >>> conditional_mode(np.array([[0.3, 0.0], [0.2, 0.5]]), y=np.array([0.0, 2.0]))
    array([0., 2.])
    """
    return y[_laws_given_x(joint).argmax(axis=1)]


def _laws_given_x(joint):
    """The laws of Y given x_j, a row for each j."""
    return np.array([given_x(joint, j) for j in range(joint.shape[1])])


# ---------------------------------------------------------------------------------------
# Why the median
# ---------------------------------------------------------------------------------------


def absolute_subdifferential(y, c):
    """All slopes of g(c) = 1/n sum_i |y_i - c| at c, from the least to the largest.

    With n_<, n_> and n_= the numbers of y_i below, above and at c they are

        [(n_< - n_> - n_=) / n, (n_< - n_> + n_=) / n],

    the slopes to the left and to the right. IRHD prints the opposite sign, with which a descent
    would climb (decision_theory-23), and leaves the kink's part, n_=, undivided by n, with which 0
    would be a slope at every sample (decision_theory-24).

    c may be an array. Returns: the two ends, of its shape.

    >>> absolute_subdifferential(np.array([1.0, 2.0, 4.0, 7.0]), c=np.array([0.0, 2.0, 3.0]))
    (array([-1. , -0.5,  0. ]), array([-1.,  0.,  0.]))

    Claims: decision_theory-22
    """
    y, n = np.sort(y), len(y)
    below = np.searchsorted(y, c, side="left")
    above = n - np.searchsorted(y, c, side="right")
    equal = n - below - above
    return (below - above - equal) / n, (below - above + equal) / n


def is_median(y, c):
    """Whether c minimises 1/n sum_i |y_i - c|: 0 is a slope there, |n_< - n_>| <= n_=.

    IRHD asks for n_< = n_>. That is too much where samples coincide with c: 2 and 4 are medians of
    1, 2, 4, 7, as everything between them is (decision_theory-25).

    >>> is_median(np.array([1.0, 2.0, 4.0, 7.0]), c=np.array([1.0, 2.0, 3.0, 4.0, 7.0]))
    array([False,  True,  True,  True, False])
    """
    low, high = absolute_subdifferential(y, c)
    return (low <= 0) & (high >= 0)


# ---------------------------------------------------------------------------------------
# Learning from rewards
# ---------------------------------------------------------------------------------------


class BanditState(NamedTuple):
    """Several runs of a bandit after a pull in each."""

    pulls: np.ndarray  # (runs, arms), how often each arm was pulled
    wins: np.ndarray  # (runs, arms), how often it paid
    reward: np.ndarray  # (runs,), 0 or 1 for the last pull; nan at the start
    objective: float  # reward per pull so far, over all runs


def epsilon_greedy(p, *, eps, runs=1, rng):
    """Learn which arm pays best by pulling: arm j pays 1 with probability p_j, else 0.

    No right answer is ever shown. After one pull of each, the arm with the best mean so far is
    pulled (exploitation; the first of those that tie), or, with probability `eps`, any arm
    (exploration). Without exploration a run may stay with a bad arm for ever; with it the reward
    per pull tends to (1 - eps) max_j p_j + eps mean_j p_j. `runs` independent runs go side by side.

    Yields: the start, then a `BanditState` per pull, without end.

    >>> states = epsilon_greedy(np.array([0.0, 1.0]), eps=0.0, rng=np.random.default_rng(0))
    >>> [next(states).pulls.tolist() for _ in range(3)]
    [[[1.0, 1.0]], [[1.0, 2.0]], [[1.0, 3.0]]]
    """
    everyone = np.arange(runs)
    pulls = np.ones((runs, len(p)))
    wins = (rng.random(pulls.shape) < p).astype(float)
    reward = np.full(runs, np.nan)
    while True:
        yield BanditState(pulls, wins, reward, float(wins.sum() / pulls.sum()))
        best = (wins / pulls).argmax(axis=1)
        explore = rng.random(runs) < eps
        arm = np.where(explore, rng.integers(len(p), size=runs), best)
        reward = (rng.random(runs) < p[arm]).astype(float)
        pulls, wins = pulls.copy(), wins.copy()
        pulls[everyone, arm] += 1
        wins[everyone, arm] += reward


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class BayesClassifier(Classifier):
    """The action of least expected loss, from densities of the classes, priors and losses.

    What is given is taken as it is, and what is not is estimated: priors as the shares of the
    classes, densities as the normal laws with their means and covariances (divided by n_k). With
    estimates in place of the truth it is no longer optimal: a plug-in rule.

    Parameters
    ----------
    log_densities : sequence of K functions, or None
        The k-th maps X (n, d) to ln p(x | k) (n,), the classes in sorted order; the method
        ``score_samples`` of a density estimator is such a function. None for normal laws.
    priors : array of shape (K,), or None for the shares of the classes in y
    loss : array of shape (m, K), or None for 0-1 loss
        loss[a, k] is the cost of action a where the class is k.
    actions : sequence of m labels, or None for the classes
        What ``predict`` answers. Losses with more rows than classes, as `with_reject` makes them,
        want a name for each; to ``score``, an answer that is no class is an error.
    var_smoothing : float
        This share of each feature's variance over all samples (of 1, where it is constant) is
        added to its variance in every class, so that few samples have a density too.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    log_densities_ : list of K functions; the densities in use
    priors_ : ndarray of shape (K,)
    loss_ : ndarray of shape (m, K)
    actions_ : ndarray of shape (m,)
    n_features_in_ : int

    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["low"] * 3 + ["high"] * 3
    >>> loss = with_reject(zero_one_matrix(2), c=0.1)
    >>> model = BayesClassifier(loss=loss, actions=["high", "low", "?"]).fit(X, y)
    >>> model.predict([[1.0], [2.9], [3.3], [5.0]])
    array(['low', '?', '?', 'high'], dtype='<U4')
    """

    def __init__(
        self, log_densities=None, *, priors=None, loss=None, actions=None, var_smoothing=1e-9
    ):
        self.log_densities = log_densities
        self.priors = priors
        self.loss = loss
        self.actions = actions
        self.var_smoothing = var_smoothing

    def fit(self, X, y, sample_weight=None):
        """Estimate what is not given from samples X (n, d), labels y (n,) and their weights.

        A sample of weight 0 counts as none. Returns self.
        """
        share = check_number("var_smoothing", self.var_smoothing, at_least=0)
        samples = check_samples(X)
        y, weights = check_labels(y, len(samples)), check_weights(sample_weight, len(samples))
        samples, y, weights = samples[weights > 0], y[weights > 0], weights[weights > 0]
        classes, k = np.unique(check_labels(y, len(y)), return_inverse=True)
        priors = chosen_prior(self.priors, np.bincount(k, weights) / weights.sum())
        loss = self._loss(len(classes))
        actions = self._actions(classes, len(loss))
        if self.log_densities is None:
            laws = _normal_laws(samples, k, weights, share)
        else:
            laws = _given_laws(self.log_densities, len(classes))
        self.classes_, self.log_densities_, self.priors_ = classes, laws, priors
        self.loss_, self.actions_ = loss, actions
        return self._remember(X)

    def _loss(self, K):
        """The matrix given, or 1 - I."""
        if self.loss is None:
            return zero_one_matrix(K)
        L = _numbers(self.loss)
        if L is None or L.ndim != 2 or L.shape[1] != K or not np.isfinite(L).all():
            raise ValueError(
                "loss must be a matrix of finite numbers, a row for each action and a column for "
                f"each of the {K} classes; got {self.loss!r}"
            )
        return L

    def _actions(self, classes, m):
        """The labels given, or the classes."""
        actions = classes if self.actions is None else np.asarray(self.actions)
        if actions.shape != (m,):
            raise ValueError(
                f"actions must hold a label for each of the {m} rows of the loss; "
                f"got {self.actions!r}"
            )
        return actions

    def _scores(self, X):
        """ln pi_k + ln p(x | k) of samples X, (n, K)."""
        X = self._check_fitted(X)
        log_p = [np.asarray(density(X)) for density in self.log_densities_]
        for column in log_p:
            if column.shape != (len(X),) or np.isnan(column).any():
                raise ValueError(
                    f"log_densities must give a number for each of {len(X)} samples; got "
                    f"shape {column.shape} with {np.isnan(column).sum()} NaN"
                )
        return log_joint(np.column_stack(log_p), self.priors_)

    def predict_log_proba(self, X):
        """ln q_k of every sample, (n, K)."""
        return log_posterior(self._scores(X))

    def predict_proba(self, X):
        """The posterior probabilities q_k of every sample, (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def conditional_risk(self, X):
        """The loss to be expected of each action at every sample, (n, m)."""
        q = self.predict_proba(X)
        return conditional_risk(q, self.loss_)

    def predict(self, X):
        """The action of least expected loss for every sample, (n,)."""
        q = self.predict_proba(X)
        return self.actions_[bayes_action(q, self.loss_)]


def _given_laws(functions, K):
    """The list of log-densities that was given, one for each of K classes."""
    several = isinstance(functions, list | tuple) and all(map(callable, functions))
    if not several or len(functions) != K:
        raise ValueError(
            f"log_densities must be a list of functions, one for each of the {K} classes; "
            f"got {functions!r}"
        )
    return list(functions)


def _normal_laws(X, k, weights, share):
    """ln N(x; mu_k, Sigma_k + S) for each class k, S the `share` of the variances of all X."""
    p = weights / weights.sum()
    spread = expectation(p, (X - expectation(p, X)) ** 2)
    S = np.diag(share * np.where(np.ptp(X, axis=0) > 0, spread, 1.0))
    laws = []
    for X_k, w_k in [(X[k == c], weights[k == c]) for c in range(k.max() + 1)]:
        p = w_k / w_k.sum()
        mu, Sigma = expectation(p, X_k), covariance(p, X_k) + S
        laws.append(partial(multivariate_normal_log_density, mu=mu, Sigma=Sigma))
        laws[-1](X_k[:1])  # a singular Sigma is refused here, not at the first prediction
    return laws
