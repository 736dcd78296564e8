"""Decision theory: the best prediction when the probabilities are known.

If the distribution of (X, Y) is known, we can compute the best class, the best action under any
losses and the best number. Each is found point by point, from the distribution of y given x.

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
    Estimators              labelled_samples, BayesClassifier

Symbols
    X       (n, d)      points x, one per row: samples, or the nodes of a quadrature
    dx      (n,)        the weight of each point in a quadrature; 1 for atoms of a finite space
    y       (n,)        classes 0, ..., K - 1, or numbers; in tables (k_y,), the values of Y
    f       (n,)        predictions; in tables (k_x,), one for every x_j
    loss    function    loss(f, y) >= 0, prediction first
    prior   (K,)        pi_k, the probability of class k; they sum to 1
    log_p   (n, K)      ln p(x_i | k), the log-densities of the classes
    q       (n, K)      q_k(x_i), the posterior probabilities of the classes
    h       (n,)        decisions h(x_i), numbers of classes
    L       (m, K)      loss L[a, k] of action a if the class is k
    a       (n,)        actions a(x_i), numbers of rows of L
    mu      (2, d)      means of two normal classes; Sigma (d, d): their common covariance
    joint   (k_y, k_x)  table of Pr(Y = y_i, X = x_j); in Bayes' formula (n, K), ln p(x_i, k)
    p       (k,)        weights of atoms
    c       float       a constant to predict; cost is the loss of an action, e.g. to reject
    theta   (k,)        theta_j, the probability that arm j of a bandit pays
    rng     Generator   source of random numbers

Notes: MLN "Statistical Learning Framework", "Bayes Classifier", "Optimality"; ISML 0/01 "Basic" and
"Bayesian Decision Theory"; IRHD 2; PRNN 1 and 4; REP "Supervised Learning". IRHD writes l(y, f).
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    LogProbabilisticClassifier,
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

ROUND_OFF = 1e-9  # the sum of given priors may miss 1 by this


# ---------------------------------------------------------------------------------------
# Losses
# ---------------------------------------------------------------------------------------


def task_type(y):
    """The task that outputs y suggest: "regression" of amounts or "classification" into kinds.

    Text and whole numbers, even counts and years, are taken for classes; all else for amounts.

    >>> task_type(["spam", "ham"]), task_type([-1.0, 1.0]), task_type([4.9, 5.0])
    ('classification', 'classification', 'regression')
    """
    y = np.asarray(y)
    amounts = y.dtype.kind == "f" and not np.array_equal(y, np.round(y))
    return "regression" if amounts else "classification"


def zero_one(f, y):
    """l(f, y) = 1 if f differs from y, else 0.

    >>> zero_one(np.array(["ham", "spam"]), np.array(["ham", "ham"]))
    array([0, 1])
    """
    return np.not_equal(f, y).astype(int)


def margin_zero_one(f, y):
    """l(f, y) = 1 if y f <= 0, else 0, for a score f and a label y in {-1, +1}.

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
    """The training error 1/n sum_i l(f(x_i), y_i), for predictions and outputs of shape (n,).

    Raises: ValueError if their shapes differ (the difference of a row and a column is a table).

    >>> empirical_risk(absolute, f=np.array([1.0, 2.0]), y=np.array([1.0, 5.0]))
    1.5
    """
    if np.shape(f) != np.shape(y):
        raise ValueError(f"f and y must have one shape; got {np.shape(f)} and {np.shape(y)}")
    return float(np.mean(loss(f, y)))


class Estimate(NamedTuple):
    """A mean over random draws, and its standard error."""

    value: float
    standard_error: float


def estimate(losses):
    """E[loss] from the `losses` (n,) of independent draws: their mean, and its error s / sqrt(n).

    Returns: an `Estimate`; s^2 = 1/(n - 1) sum_i (loss_i - mean)^2. Raises: ValueError for n < 2.

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
    """Return the `prior` if pi_k >= 0 and sum_k pi_k = 1.

    Raises: ValueError otherwise.

    >>> check_prior(np.array([0.5, 0.6]))
    Traceback (most recent call last):
    ValueError: priors must be >= 0 and sum to 1; got [0.5 0.6]
    """
    if not np.all(prior >= 0) or abs(np.sum(prior) - 1) > ROUND_OFF:
        raise ValueError(f"priors must be >= 0 and sum to 1; got {prior}")
    return prior


def chosen_prior(given, shares, name="priors", positive=False):
    """The pi_k `given` as a classifier's hyperparameter `name`; the `shares` (K,) if it is None.

    If the sum is 1 up to five digits or single precision, the numbers are divided by it.

    Raises: ValueError unless there are K numbers >= 0, or > 0 if `positive`, with the sum 1.

    >>> chosen_prior([0.5, 0.5], shares=np.array([0.25, 0.75]))
    array([0.5, 0.5])
    """
    if given is None:
        return shares
    prior = _numbers(given)
    valid = prior is not None and prior.shape == shares.shape
    valid = valid and (prior.min() > 0 if positive else prior.min() >= 0)
    if not (valid and np.isclose(prior.sum(), 1)):
        raise ValueError(
            f"{name} must be a number {'>' if positive else '>='} 0 for each of the {len(shares)} "
            f"classes, with the sum 1; got {given!r}"
        )
    return prior / prior.sum()


def _numbers(given):
    """What was given as an array of floats; None if it is text, complex or not an array."""
    try:
        array = np.asarray(given)
        return None if array.dtype.kind in "USc" else array.astype(float)
    except (TypeError, ValueError):
        return None


def log_joint(log_p, prior):
    """ln p(x_i, k) = ln pi_k + ln p(x_i | k): the logarithms of the weighted densities.

    Returns: (n, K). Raises: ValueError if the prior is not valid or not of shape (K,).

    >>> np.exp(log_joint(np.log([[0.2, 0.6]]), prior=np.array([0.75, 0.25]))).round(12)
    array([[0.15, 0.15]])
    """
    _check_shapes(log_p, prior)
    return _log_prior(prior) + log_p


def _check_shapes(log_p, prior):
    if np.shape(log_p)[1:] != np.shape(prior):
        raise ValueError(
            "log_p must have shape (n, K) and the prior (K,); "
            f"got {np.shape(log_p)} and {np.shape(prior)}"
        )


def _log_prior(prior):
    with np.errstate(divide="ignore"):  # ln 0 = -inf for a class of probability 0
        return np.log(check_prior(prior))


def log_evidence(log_p, prior):
    """ln p(x_i), with p(x) = sum_k pi_k p(x | k), by `probability.log_sum_exp`.

    Returns: (n,); -inf where p(x | k) = 0 for all classes.

    >>> np.exp(log_evidence(np.log([[0.2, 0.6]]), prior=np.array([0.75, 0.25]))).round(12)
    array([0.3])
    """
    return log_sum_exp(log_joint(log_p, prior))


def check_possible(joint):
    """Return the `joint` (n, K) if p(x_i, k) > 0 for some k, for every x_i.

    Raises: ValueError otherwise: an x_i of probability 0 has no posterior.

    >>> check_possible(np.log([[0.5, 0.25], [1.0, 0.125]])).shape
    (2, 2)
    """
    impossible = joint.max(axis=1) == -np.inf
    if impossible.any():
        i = impossible.argmax()
        raise ValueError(f"X[{i}] must be possible in some class; got Pr(x, k) = 0 for all k")
    return joint


def log_posterior(joint):
    """ln q_k(x_i) = ln p(x_i, k) - ln sum_j p(x_i, j), from the logarithms of the joint.

    Returns: (n, K). Raises: ValueError where p(x) = 0, as `check_possible` does.

    >>> log_posterior(np.array([[-5000.0, -5000.0 + np.log(3)]])).round(3)
    array([[-1.386, -0.288]])
    """
    evidence = log_sum_exp(joint)
    if (evidence == -np.inf).any():
        check_possible(joint)  # names the sample
    return joint - evidence[:, None]


def posterior(log_p, prior):
    """q_k(x_i) = pi_k p(x_i | k) / p(x_i): prior times likelihood over evidence.

    Returns: (n, K), rows that sum to 1. Raises: ValueError where p(x) = 0.

    >>> posterior(np.log([[0.3, 0.3]]), prior=np.array([0.75, 0.25]))
    array([[0.75, 0.25]])
    """
    return np.exp(log_posterior(log_joint(log_p, prior)))


# ---------------------------------------------------------------------------------------
# The Bayes classifier
# ---------------------------------------------------------------------------------------


def bayes_classify(log_p, prior):
    """h_B(x) = argmax_k q_k(x) = argmax_k pi_k p(x | k), without the division by p(x).

    Returns: (n,); the first class if several tie.

    Errata: decision_theory-06 (PRNN gives a tie to class 0 in section 1, to class 1 in section 4).

    >>> bayes_classify(np.log([[0.1, 0.3], [0.1, 0.4]]), prior=np.array([0.75, 0.25]))
    array([0, 1])
    """
    return log_joint(log_p, prior).argmax(axis=1)


def likelihood_ratio_rule(log_p, prior):
    """For two classes: class 0 where p(x | 0) / p(x | 1) >= pi_1 / pi_0, else class 1.

    >>> likelihood_ratio_rule(np.log([[0.1, 0.3], [0.1, 0.4]]), prior=np.array([0.75, 0.25]))
    array([0, 1])
    """
    log_0, log_1 = _log_prior(prior)
    return np.where(log_p[:, 0] - log_p[:, 1] >= log_1 - log_0, 0, 1)


def normal_log_odds(mu, Sigma, prior):
    """w^T x + b = ln q_1(x) - ln q_0(x), for two normal classes with the same covariance:

        w = Sigma^{-1} (mu_1 - mu_0),    b = -w^T (mu_0 + mu_1) / 2 + ln(pi_1 / pi_0)

    Returns: w (d,) and b. Raises: ValueError if Sigma is not positive definite.

    >>> w, b = normal_log_odds(np.array([[0.0], [4.0]]), np.array([[4.0]]), np.array([0.5, 0.5]))
    >>> w, float(b)
    (array([1.]), -2.0)
    """
    L = np.linalg.cholesky(Sigma)  # raises LinAlgError, a ValueError
    w = np.linalg.solve(L.T, np.linalg.solve(L, mu[1] - mu[0]))
    log_0, log_1 = _log_prior(prior)
    return w, -w @ (mu[0] + mu[1]) / 2 + log_1 - log_0


def normal_bayes_error(mu, Sigma, prior):
    """The Bayes error of two normal classes with the same covariance:

        pi_0 Phi((t - Delta^2 / 2) / Delta) + pi_1 Phi((-t - Delta^2 / 2) / Delta),

    with t = ln(pi_1 / pi_0) and Delta^2 = w^T (mu_1 - mu_0), w from `normal_log_odds`.

    >>> round(normal_bayes_error(np.array([[0.0], [2.0]]), np.eye(1), np.array([0.5, 0.5])), 4)
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

    Returns: X (n, d) and dx (n,), a node for each combination.

    >>> X, dx = product_rule(([0.0, 1.0], [0.5, 0.5]), ([2.0], [3.0]))
    >>> X.tolist(), dx
    ([[0.0, 2.0], [1.0, 2.0]], array([1.5, 1.5]))
    """
    sides = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    X = np.stack(sides, axis=-1).reshape(-1, len(rules))
    return X, reduce(np.multiply.outer, (dx for _, dx in rules)).ravel()


def decision_regions(h, K):
    """R_k(h) = {x : h(x) = k}: whether each point is in each of the K regions.

    Returns: (n, K) of bool, exactly one True per row.

    >>> decision_regions(np.array([0, 2]), K=3).astype(int)
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    return np.asarray(h)[:, None] == np.arange(K)


def error_probability(h, log_p, prior, dx):
    """F(h) = sum_k pi_k int_{not R_k(h)} p(x | k) dx: the part of each class outside its region.

    >>> h, log_p = np.array([0, 1]), np.log([[0.5, 0.1], [0.5, 0.9]])
    >>> round(error_probability(h, log_p, np.array([0.5, 0.5]), dx=np.ones(2)), 12)
    0.3
    """
    outside = ~decision_regions(h, len(prior))
    return float(dx @ np.where(outside, np.exp(log_joint(log_p, prior)), 0.0).sum(axis=1))


def conditional_error(h, q):
    """P(error | x) = 1 - q_{h(x)}(x); for the Bayes classifier it is 1 - max_k q_k(x).

    Its mean over draws of x is a less noisy estimate of the error than a count of wrong decisions.

    >>> conditional_error(np.array([0, 0]), q=np.array([[0.75, 0.25], [0.25, 0.75]]))
    array([0.25, 0.75])
    """
    return 1 - np.take_along_axis(q, np.asarray(h)[:, None], axis=1)[:, 0]


def bayes_error(log_p, prior, dx):
    """F(h_B) = int p(x) - max_k pi_k p(x | k) dx: no classifier has a smaller error.

    A quadrature is most accurate if its pieces end where the decision changes.

    >>> log_p = np.log([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]])
    >>> round(bayes_error(log_p, np.array([0.5, 0.5]), dx=np.ones(3)), 12)  # (0.1 + 0.3 + 0.2) / 2
    0.3
    """
    ranked = np.sort(np.exp(log_joint(log_p, prior)), axis=1)
    return float(dx @ ranked[:, :-1].sum(axis=1))


def excess_error(h, log_p, prior, dx):
    """F(h) - F(h_B) = int max_k pi_k p(x | k) - pi_{h(x)} p(x | h(x)) dx >= 0.

    >>> h, log_p = np.array([1, 1]), np.log([[0.5, 0.1], [0.5, 0.9]])
    >>> round(excess_error(h, log_p, np.array([0.5, 0.5]), dx=np.ones(2)), 12)  # (0.5 - 0.1) / 2
    0.2
    """
    weighted = np.exp(log_joint(log_p, prior))
    chosen = np.take_along_axis(weighted, np.asarray(h)[:, None], axis=1)[:, 0]
    return float(dx @ (weighted.max(axis=1) - chosen))


# ---------------------------------------------------------------------------------------
# Actions and losses
# ---------------------------------------------------------------------------------------


def zero_one_matrix(K):
    """L = 1 - I: action k decides for class k, and an error costs 1.

    >>> zero_one_matrix(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return 1 - np.eye(K)


def with_reject(L, cost):
    """L with one more action: reject, that is decide for none of the classes, at this `cost`.

    With L = 1 - I the best action is to reject where max_k q_k(x) < 1 - cost.

    >>> with_reject(zero_one_matrix(2), cost=0.25).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.25, 0.25]]
    """
    return np.vstack([L, np.full(L.shape[1], cost)])


def conditional_risk(q, L):
    """r(a | x) = sum_k L(a, k) q_k(x), the expected loss of each action.

    Returns: (n, m).

    >>> conditional_risk(q=np.array([[0.75, 0.25]]), L=np.array([[0.0, 8.0], [1.0, 0.0]]))
    array([[2.  , 0.75]])
    """
    return q @ L.T


def bayes_action(q, L):
    """a(x) = argmin_a r(a | x), the first if several tie.

    Returns: (n,).

    >>> bayes_action(q=np.array([[0.75, 0.25]]), L=np.array([[0.0, 8.0], [1.0, 0.0]]))
    array([1])
    """
    return conditional_risk(q, L).argmin(axis=1)


def total_risk(a, log_p, prior, L, dx):
    """R(a) = int sum_k L(a(x), k) pi_k p(x | k) dx, which `bayes_action` minimises.

    >>> a, log_p = np.array([0, 2]), np.log([[0.5, 0.1], [0.5, 0.9]])
    >>> L = with_reject(zero_one_matrix(2), cost=0.25)
    >>> round(total_risk(a, log_p, np.array([0.5, 0.5]), L, dx=np.ones(2)), 12)
    0.225
    """
    return float(dx @ np.sum(L[a] * np.exp(log_joint(log_p, prior)), axis=1))


# ---------------------------------------------------------------------------------------
# One feature, one cut
# ---------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """A rule on one feature: the class `above` (0 or 1) where x > at, the other one elsewhere."""

    at: float
    above: int
    errors: int  # on the training samples


def cut_errors(x, y):
    """The number of errors of the rule "class 1 above the cut", for every cut that matters.

    x (n,) is the feature, y the class, 0 or 1. The cuts lie halfway between neighbouring values, or
    are -inf and inf.

    Returns: the cuts in rising order, and the errors at each. Raises: ValueError if y holds
    anything but 0 and 1, or x is not finite.

    >>> cut_errors(x=np.array([1.0, 4.0, 2.0]), y=np.array([0, 1, 1]))
    (array([-inf,  1.5,  3. ,  inf]), array([1, 0, 1, 2]))
    """
    x, y = _sorted_classes(x, y)
    cuts = np.concatenate([[-np.inf], _halfway(x[:-1], x[1:]), [np.inf]])
    change = np.where(y == 1, 1, -1)  # by each sample that the cut passes
    errors = np.sum(y == 0) + np.concatenate([[0], np.cumsum(change)])
    apart = np.concatenate([[True], x[:-1] < x[1:], [True]])  # no cut between equal samples
    return cuts[apart], errors[apart]


def _sorted_classes(x, y):
    """The feature x in rising order, and the classes y, 0 or 1, in the same order."""
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"y must hold the classes 0 and 1; got {np.unique(y)}")
    if not np.isfinite(x).all():
        raise ValueError("x must be finite; it contains NaN or infinity")
    order = np.argsort(x)
    return np.asarray(x, dtype=float)[order], np.asarray(y)[order]


def _halfway(low, high):
    """The middle of two numbers, or `low` where rounding would make it `high`."""
    middle = low / 2 + high / 2
    return np.where(middle < high, middle, low)


def best_cut(x, y):
    """The cut with the fewest training errors, in O(n log n): one sort and one sweep.

    x (n,) is the feature, y the class, 0 or 1. Either class may be the one above the cut.

    Returns: a `Cut`, the lowest if several tie. Raises: ValueError as `cut_errors` does.

    >>> best_cut(x=np.array([1.0, 4.0, 2.0, 3.0, 5.0]), y=np.array([1, 0, 1, 0, 1]))
    Cut(at=2.5, above=0, errors=1)
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

    For a density, joint_ij = p(x_j, y_i) dx_j dy_i at the nodes of a quadrature.

    >>> joint, y = np.array([[0.25, 0.0], [0.25, 0.5]]), np.array([0.0, 2.0])
    >>> float(expected_prediction_error(joint, y, f=np.array([1.0, 2.0]), loss=squared))
    0.5
    """
    return np.sum(joint * loss(f, y[:, None]))


def conditional_mean(joint, y):
    """f(x) = E[Y | X = x], the regression function: the best prediction under squared loss.

    The expected prediction error of any other f is larger by E[(f(X) - E[Y | X])^2].

    Returns: (k_x,). Raises: ValueError if some x_j has probability 0.

    Errata: decision_theory-27 (IRHD writes f(X) for the minimiser at x, which is f(x)).

    >>> conditional_mean(np.array([[0.25, 0.0], [0.25, 0.5]]), y=np.array([0.0, 2.0]))
    array([1., 2.])
    """
    return np.array([expectation(p, y) for p in _distributions_given_x(joint)])


def conditional_variance(joint, y):
    """Var(Y | X = x): the squared loss that remains at x. Its mean is the smallest possible EPE.

    Returns: (k_x,). Raises: ValueError if some x_j has probability 0.

    >>> conditional_variance(np.array([[0.25, 0.0], [0.25, 0.5]]), y=np.array([0.0, 2.0]))
    array([1., 0.])
    """
    rows = zip(_distributions_given_x(joint), conditional_mean(joint, y), strict=True)
    return np.array([expectation(p, (y - mean) ** 2) for p, mean in rows])


def weighted_median(p, y):
    """The smallest y_i with Pr(Y <= y_i) >= 1/2, for values y with weights p.

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

    Returns: (k_x,), the smallest of several. Raises: ValueError if some x_j has probability 0.

    >>> conditional_median(np.array([[0.25, 0.0], [0.25, 0.5]]), y=np.array([0.0, 2.0]))
    array([0., 2.])
    """
    return np.array([weighted_median(p, y) for p in _distributions_given_x(joint)])


def conditional_mode(joint, y):
    """f(x) = argmax_i Pr(Y = y_i | X = x): the best prediction under 0-1 loss.

    Returns: (k_x,), the first of equal ones. Raises: ValueError if some x_j has probability 0.

    >>> conditional_mode(np.array([[0.3, 0.0], [0.2, 0.5]]), y=np.array([0.0, 2.0]))
    array([0., 2.])
    """
    return y[_distributions_given_x(joint).argmax(axis=1)]


def _distributions_given_x(joint):
    """The distribution of Y given x_j, a row for each j."""
    return np.array([given_x(joint, j) for j in range(joint.shape[1])])


# ---------------------------------------------------------------------------------------
# Why the median
# ---------------------------------------------------------------------------------------


def absolute_subdifferential(y, c):
    """The subdifferential of g(c) = 1/n sum_i |y_i - c| at c: all slopes between the two sides.

    With n_<, n_> and n_= the numbers of y_i below, above and at c it is the interval

        [(n_< - n_> - n_=) / n, (n_< - n_> + n_=) / n]

    Returns: the two ends, in the shape of c, which may be an array.

    Errata: decision_theory-23 (IRHD has the opposite sign), decision_theory-24 (n_= without 1/n).

    >>> absolute_subdifferential(np.array([1.0, 2.0, 4.0, 7.0]), c=np.array([0.0, 2.0, 3.0]))
    (array([-1. , -0.5,  0. ]), array([-1.,  0.,  0.]))
    """
    y, n = np.sort(y), len(y)
    below = np.searchsorted(y, c, side="left")
    above = n - np.searchsorted(y, c, side="right")
    equal = n - below - above
    return (below - above - equal) / n, (below - above + equal) / n


def is_median(y, c):
    """Whether c minimises 1/n sum_i |y_i - c|: 0 is a subgradient there, |n_< - n_>| <= n_=.

    Errata: decision_theory-25 (IRHD asks for n_< = n_>, which excludes 2 and 4 in the example).

    >>> is_median(np.array([1.0, 2.0, 4.0, 7.0]), c=np.array([1.0, 2.0, 3.0, 4.0, 7.0]))
    array([False,  True,  True,  True, False])
    """
    low, high = absolute_subdifferential(y, c)
    return (low <= 0) & (high >= 0)


# ---------------------------------------------------------------------------------------
# Learning from rewards
# ---------------------------------------------------------------------------------------


class BanditState(NamedTuple):
    """Several games against a bandit, after a pull in each."""

    pulls: np.ndarray  # (runs, arms), how often each arm was pulled
    wins: np.ndarray  # (runs, arms), how often it paid
    reward: np.ndarray  # (runs,), 0 or 1 for the last pull; nan at the start
    objective: float  # reward per pull so far, over all runs


def epsilon_greedy(theta, *, eps, runs=1, rng):
    """Learn by trying which arm pays best: arm j pays 1 with probability theta_j, else 0.

    Each arm is pulled once. Then the learner pulls the arm with the best mean (exploitation), or
    with probability `eps` a random arm (exploration). For eps > 0 the reward per pull tends to
    (1 - eps) max_j theta_j + eps mean_j theta_j. The `runs` are independent games.

    Yields: the start, then a `BanditState` per pull, without end.

    >>> states = epsilon_greedy(np.array([0.0, 1.0]), eps=0.0, rng=np.random.default_rng(0))
    >>> [next(states).pulls.tolist() for _ in range(3)]
    [[[1.0, 1.0]], [[1.0, 2.0]], [[1.0, 3.0]]]
    """
    games = np.arange(runs)
    pulls = np.ones((runs, len(theta)))
    wins = (rng.random(pulls.shape) < theta).astype(float)
    reward = np.full(runs, np.nan)
    while True:
        yield BanditState(pulls, wins, reward, float(wins.sum() / pulls.sum()))
        best = (wins / pulls).argmax(axis=1)
        explore = rng.random(runs) < eps
        arm = np.where(explore, rng.integers(len(theta), size=runs), best)
        reward = (rng.random(runs) < theta[arm]).astype(float)
        pulls, wins = pulls.copy(), wins.copy()
        pulls[games, arm] += 1
        wins[games, arm] += reward


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def labelled_samples(X, y, sample_weight=None):
    """The samples with sample_weight > 0 and the numbers of their classes: where a fit begins.

    Returns: X (n, d), the sorted classes (K,), k (n,) with y = classes[k], weights (n,), 1 if None.

    Raises: what the checks of `base` raise; ValueError if fewer than two classes have a weight.

    >>> X, classes, k, weights = labelled_samples([[1.0], [2.0], [3.0]], ["b", "a", "b"], [1, 2, 0])
    >>> X.tolist(), classes.tolist(), k.tolist(), weights.tolist()
    ([[1.0], [2.0]], ['a', 'b'], [1, 0], [1.0, 2.0])
    """
    X = check_samples(X)
    y, weights = check_labels(y, len(X)), check_weights(sample_weight, len(X))
    if not weights.all():
        present = weights > 0
        X, y, weights = X[present], y[present], weights[present]
        check_labels(y, len(y))
    classes = np.unique(y)
    return X, classes, np.searchsorted(classes, y), weights


@dataclass(eq=False, repr=False)
class BayesClassifier(LogProbabilisticClassifier):
    """The action with the smallest expected loss, from densities of the classes, priors and losses.

    Densities and priors that are not given are estimated: the priors as the shares of the classes,
    the densities as normal densities with mean and covariance (divided by n_k) of each class.

    Parameters
    ----------
    log_densities : sequence of K functions, in the order of classes_, or None for normal densities
        The k-th maps X (n, d) to ln p(x | k) (n,), as ``score_samples`` of a density estimator.
    priors : array of shape (K,), or None for the shares of the classes in y
    loss : array of shape (m, K), loss[a, k] of action a if the class is k, or None for 0-1 loss
    actions : sequence of m labels, the answers of ``predict``, or None for the classes
        ``score`` counts an answer that is not a class as an error.
    var_smoothing : float; the share of each feature's variance (of 1 if it is constant) that is
        added to its variance in every class, so that a class with few samples has a density

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    log_densities_ : list of K functions; the densities in use
    priors_ : ndarray of shape (K,)
    loss_ : ndarray of shape (m, K)
    actions_ : ndarray of shape (m,)
    n_features_in_ : int

    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["low"] * 3 + ["high"] * 3
    >>> model = BayesClassifier(loss=[[0, 1], [1, 0], [0.1, 0.1]], actions=["high", "low", "?"])
    >>> model.fit(X, y).predict([[1.0], [2.9], [3.3], [5.0]])
    array(['low', '?', '?', 'high'], dtype='<U4')
    """

    log_densities: Any = None
    _: KW_ONLY
    priors: Any = None
    loss: Any = None
    actions: Any = None
    var_smoothing: float = 1e-9

    def fit(self, X, y, sample_weight=None):
        """Estimate what is not given from X (n, d), y (n,) and sample weights (n,); return self."""
        share = check_number("var_smoothing", self.var_smoothing, at_least=0)
        samples, classes, k, weights = labelled_samples(X, y, sample_weight)
        priors = chosen_prior(self.priors, np.bincount(k, weights) / weights.sum())
        loss = self._loss(len(classes))
        actions = self._actions(classes, len(loss))
        if self.log_densities is None:
            densities = _normal_densities(samples, k, weights, share)
        else:
            densities = _given_densities(self.log_densities, len(classes))
        self.classes_, self.log_densities_, self.priors_ = classes, densities, priors
        self.loss_, self.actions_ = loss, actions
        return self._remember(X)

    def _loss(self, K):
        """The matrix that was given; by default 1 - I."""
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
        """The labels that were given; by default the classes."""
        actions = classes if self.actions is None else np.asarray(self.actions)
        if actions.shape != (m,):
            raise ValueError(
                f"actions must hold a label for each of the {m} rows of the loss; "
                f"got {self.actions!r}"
            )
        return actions

    def _scores(self, X):
        """ln pi_k + ln p(x | k) for samples X, (n, K)."""
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

    def conditional_risk(self, X):
        """The expected loss of each action at every sample, (n, m)."""
        q = self.predict_proba(X)
        return conditional_risk(q, self.loss_)

    def predict(self, X):
        """The action with the smallest expected loss for every sample, (n,)."""
        q = self.predict_proba(X)
        return self.actions_[bayes_action(q, self.loss_)]


def _given_densities(functions, K):
    """The list of log-densities that was given, one for each of K classes."""
    several = isinstance(functions, list | tuple) and all(map(callable, functions))
    if not several or len(functions) != K:
        raise ValueError(
            f"log_densities must be a list of functions, one for each of the {K} classes; "
            f"got {functions!r}"
        )
    return list(functions)


def _normal_densities(X, k, weights, share):
    """ln N(x; mu_k, Sigma_k + S) for each class k; S is the `share` of the variances of all X."""
    p = weights / weights.sum()
    spread = expectation(p, (X - expectation(p, X)) ** 2)
    S = np.diag(share * np.where((X != X[0]).any(axis=0), spread, 1.0))
    densities = []
    for c in range(k.max() + 1):
        members = np.flatnonzero(k == c)
        X_c, w = X.take(members, axis=0), weights[members]
        p = w / w.sum()
        mu, Sigma = expectation(p, X_c), covariance(p, X_c) + S
        densities.append(partial(multivariate_normal_log_density, mu=mu, Sigma=Sigma))
        densities[c](X_c[:1])  # refuses a singular Sigma here, and not at the first prediction
    return densities
