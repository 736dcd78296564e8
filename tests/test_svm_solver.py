"""Support vector machines, from the hinge loss to the solvers and the estimators."""

import itertools
import os
import re
from functools import cache
from itertools import islice
from math import comb, factorial, inf
from time import perf_counter

import numpy as np
import pytest
from checks import check_gradient, differences

from mlnotes import svm
from mlnotes.base import ConvergenceWarning
from mlnotes.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_mnist,
    make_moons,
)
from mlnotes.kernels import gaussian, gram, polynomial, polynomial_map, scaled_quadratic_map
from mlnotes.optimization import UnboundedError, box, solve_qp
from mlnotes.svm import (
    L2SVC,
    SVC,
    KernelRows,
    LinearGram,
    LinearSVC,
    NuSVC,
    c_dual,
    central_path,
    certify,
    chunking,
    dual_value,
    erm_objective,
    fill,
    free_step,
    hard_margin,
    hinge,
    hinge_subgradient,
    kernel_matrix,
    kernel_parameters,
    kernel_score,
    kkt_residuals,
    nu_dual,
    nu_margin,
    offset_intervals,
    offsets,
    project_onto_sum,
    second_order,
    smo,
    smo_with_free_steps,
    soft_margin,
    solve,
    solve_dual,
    squared_slack_margin,
    steepest,
    step_bounds,
    subgradient_descent,
    support_vectors,
)

XOR = (
    np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]),
    np.array([1.0, 1.0, -1.0, -1.0]),
)
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "laplacian": {"kernel": "laplacian", "gamma": 0.4},
    "exponential": {"kernel": "exponential", "gamma": 0.9},
}
INDEFINITE = {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0}


# ---------------------------------------------------------------------------------------
# Problems, and the second routes
# ---------------------------------------------------------------------------------------


def overlapping(rng, n=(12, 12), d=2, shift=1.0):
    """Two Gaussian classes that overlap, +1 first."""
    y = np.repeat([1.0, -1.0], n)
    return rng.normal(size=(sum(n), d)) + shift * y[:, None], y


def separable(rng, n=(6, 6), d=2, gap=1.0):
    """Two classes on either side of a random hyperplane and off it, +1 first."""
    X, y = overlapping(rng, n, d, shift=0.0)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    f = X @ w
    return X + np.multiply.outer(y * (np.abs(f) + gap) - f, w), y


def objective(K, dual, beta):
    """p^T beta - 1/2 beta^T K beta, entry by entry."""
    n = len(beta)
    double = sum(beta[i] * beta[j] * K[i, j] for i in range(n) for j in range(n))
    return sum(dual.p[i] * beta[i] for i in range(n)) - double / 2


def ends(K, dual, beta):
    """The ends of the interval of offsets of every group, from the definition."""
    g = dual.p - K @ beta
    found = []
    for group in dual.groups:
        members = range(group.start, group.stop)
        low = max((g[i] for i in members if beta[i] < dual.upper[i]), default=-inf)
        high = min((g[i] for i in members if beta[i] > dual.lower[i]), default=inf)
        found.append((low, high))
    return np.array(found)


def worst_pair(K, dual, beta):
    return max(low - high for low, high in ends(K, dual, beta))


def boxes(dual):
    return float((dual.upper - dual.lower).sum())


def assert_feasible(dual, beta, atol=1e-12):
    assert (beta >= dual.lower).all() and (beta <= dual.upper).all()
    for group in dual.groups:
        assert abs(beta[group].sum() - dual.start[group].sum()) <= atol * (1 + np.abs(beta).sum())


def assert_honest(K, dual, solved, tol):
    """It met the tolerance, by numbers computed here, or says that it did not."""
    assert_feasible(dual, solved.beta)
    violation = max(0.0, worst_pair(K, dual, solved.beta))
    size = np.abs(K @ solved.beta).max() + np.abs(dual.p).max()
    assert solved.certificate.violation == pytest.approx(violation, abs=1e-12 * size)
    assert solved.run.converged == (solved.certificate.violation <= tol)
    if solved.run.converged:
        rounding = 1e-12 * (np.abs(solved.beta) @ np.abs(K) @ np.abs(solved.beta) + size)
        assert solved.certificate.gap <= tol * boxes(dual) + rounding


def by_patterns(K, dual):
    """The optimum of a `Dual`: every multiplier at its lower end, at its upper, or free.

    On each of the 3^n faces the stationary point; the best of those inside the box.
    """
    n, m = len(dual.p), len(dual.groups)
    member = np.zeros((m, n))
    for row, group in zip(member, dual.groups, strict=True):
        row[group] = 1.0
    patterns = np.array(list(itertools.product((0, 1, 2), repeat=n)))
    bounds = np.array([dual.lower, np.zeros(n), dual.upper])[patterns, np.arange(n)]
    patterns, bounds = (part[np.isfinite(bounds).all(axis=1)] for part in (patterns, bounds))
    free = patterns == 1
    system, right = np.zeros((len(free), n + m, n + m)), np.empty((len(free), n + m))
    system[:, :n, :n] = np.where(free[:, :, None], K, np.eye(n))
    system[:, :n, n:] = np.where(free[:, :, None], member.T, 0)
    system[:, n:, :n] = member
    right[:, :n] = np.where(free, dual.p, bounds)
    right[:, n:] = member @ dual.start
    z = (np.linalg.pinv(system, rcond=1e-11) @ right[:, :, None])[:, :, 0]
    beta = z[:, :n]
    solved = np.abs((system @ z[:, :, None])[:, :, 0] - right).max(axis=1) < 1e-9
    inside = ((beta >= dual.lower - 1e-9) & (beta <= dual.upper + 1e-9)).all(axis=1)
    values = beta @ dual.p - np.sum(beta @ K * beta, axis=1) / 2
    values[~(solved & inside)] = -inf
    return values.max(), beta[values.argmax()]


def random_problem(seed, kernel):
    """A small sample with a kernel matrix, a C from 0.01 to 100 and a nu, all at random."""
    rng = np.random.default_rng(seed)
    X, y = overlapping(rng, rng.integers(2, 13, size=2), rng.integers(1, 4), rng.uniform(0.2, 1.5))
    limit = 2 * min((y > 0).mean(), (y < 0).mean())
    K = gram(X, **KERNELS[kernel])
    return X, y, K, 10 ** rng.uniform(-2, 2), rng.uniform(0.3, 0.99) * limit


def duals(seed, kernel):
    """Of a random problem the three machines: name, K, dual."""
    _, y, K, C, nu = random_problem(seed, kernel)
    yield "C", K, c_dual(y, C)
    yield "nu", K, nu_dual(y, nu)
    yield "L2", K + np.eye(len(y)) / C, c_dual(y)


def soft_in_features(Phi, y, C):
    """w, b of the soft margin on the rows of Phi, and the primal objective."""
    machine = soft_margin(Phi, y, C)
    return machine.w, machine.b, machine.objective


# ---------------------------------------------------------------------------------------
# The offset where no multiplier is free
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-50")
def test_without_a_free_multiplier_every_b_of_an_interval_is_optimal():
    X, y = np.array([[0.0], [1.0], [0.5], [1.5]]), np.array([-1.0, -1.0, 1.0, 1.0])
    dual, beta = c_dual(y, C=0.1), 0.1 * y
    np.testing.assert_allclose(solve_dual(X @ X.T, dual).beta, beta, atol=1e-12)
    w = beta @ X
    np.testing.assert_allclose(w, [0.1], atol=1e-15)
    (interval,) = offset_intervals(y - X @ w, dual, beta)
    np.testing.assert_allclose(interval, [-1.0, 0.85], atol=1e-15)
    for b in np.linspace(-1.0, 0.85, 41):
        assert erm_objective(X, y, w, b, 0.1) == pytest.approx(0.395, abs=1e-12)
    for step in (0.01, 0.1, 1.0):
        assert erm_objective(X, y, w, -1.0 - step, 0.1) > 0.395 + 0.09 * step
        assert erm_objective(X, y, w, 0.85 + step, 0.1) > 0.395 + 0.09 * step
    assert offsets(y - X @ w, dual, beta) == pytest.approx([-0.075])


@pytest.mark.claims("svm-50")
@pytest.mark.parametrize("seed", range(6))
def test_the_interval_is_the_set_of_minimisers_of_the_primal(seed):
    """The objective is piecewise linear in b: its kinks tell where it is least."""
    rng = np.random.default_rng(seed)
    X, y = overlapping(rng, (5, 5) if seed < 4 else (4, 7), shift=0.4)
    C = 1e-3 if seed < 4 else 0.5
    K, dual = X @ X.T, c_dual(y, C)
    beta = solve(K, dual, 1e-10, -1).beta
    w, gradient = beta @ X, y - K @ beta
    (interval,) = offset_intervals(gradient, dual, beta)
    kinks = np.sort(gradient)
    values = np.array([erm_objective(X, y, w, b, C) for b in kinks])
    least = kinks[values <= values.min() + 1e-12]
    free = (beta > dual.lower) & (beta < dual.upper)
    assert free.any() == (seed >= 4)
    np.testing.assert_allclose(np.sort(interval), [least[0], least[-1]], atol=1e-7)
    if free.any():  # one point
        assert abs(interval[1] - interval[0]) < 1e-8
    else:
        alpha, up = np.abs(beta), y > 0
        lower = gradient[(up & (alpha == 0)) | (~up & (alpha == C))].max()
        upper = gradient[(up & (alpha == C)) | (~up & (alpha == 0))].min()
        assert tuple(interval) == (lower, upper) and upper > lower + 0.1


# ---------------------------------------------------------------------------------------
# The hinge loss
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-54")
@pytest.mark.parametrize("y", [-1, 1])
def test_hinge_is_convex_above_the_error_and_0_beyond_the_margin(y):
    s = np.linspace(-3, 3, 121)
    S, T = np.meshgrid(s, s)
    middle = hinge((S + T) / 2, y)
    assert (middle <= (hinge(S, y) + hinge(T, y)) / 2 + 1e-15).all()
    assert (hinge(s, y) >= (y * s <= 0)).all()
    np.testing.assert_array_equal(hinge(s, y) == 0, y * s >= 1)
    np.testing.assert_array_equal(hinge(s, y), [1 - y * t if y * t < 1 else 0.0 for t in s])
    assert not (np.maximum(0, -y * s) >= (y * s <= 0)).all()  # the perceptron's loss is not above


@pytest.mark.claims("svm-54")
@pytest.mark.parametrize("y", [-1, 1])
def test_hinge_subgradient_supports_it_everywhere_and_at_the_kink(y):
    s = np.linspace(-3, 3, 121)
    assert y in s
    S, T = np.meshgrid(s, s)

    def supports(g):
        return (hinge(T, y) >= hinge(S, y) + g * (T - S) - 1e-12).all()

    assert supports(hinge_subgradient(S, y))
    assert supports(np.where(y * S <= 1, -y, 0)) and supports(  # at the kink all in between
        np.where(y * S == 1, -0.3 * y, hinge_subgradient(S, y))
    )
    assert not supports(np.where(y * S == 1, -1.1 * y, hinge_subgradient(S, y)))
    assert not supports(np.where(y * S < 0, -y, 0))
    smooth = s[np.abs(y * s - 1) > 1e-3]
    check_gradient(lambda t: hinge(t, y).sum(), lambda t: hinge_subgradient(t, y), smooth)


@pytest.mark.claims("svm-55")
def test_the_best_slack_is_the_hinge_loss(rng):
    X, y = overlapping(rng)
    for _ in range(20):
        w, b, C = rng.normal(size=2), rng.normal(), rng.uniform(0.1, 3)
        above = y * (X @ w + b)
        xi = hinge(X @ w + b, y)
        assert (above >= 1 - xi - 1e-12).all() and (xi >= 0).all()
        less = xi - 1e-6  # every xi_i is the least feasible one
        assert ((above < 1 - less) | (less < 0)).all()
        value = w @ w / 2 + C * sum(max(0.0, 1 - t) for t in above)
        assert erm_objective(X, y, w, b, C) == pytest.approx(value, rel=1e-12)
        n, lam = len(y), 1 / (len(y) * C)
        mean_form = lam / 2 * w @ w + np.mean(np.maximum(0, 1 - above))
        assert n * C * mean_form == pytest.approx(value, rel=1e-12)


def mean_form_machine(X, y, lam):
    """w, b of min lam/2 ||w||^2 + mean of the slack, as a quadratic program of its own."""
    n, d = X.shape
    P = np.diag(np.concatenate([np.full(d, lam), np.zeros(n + 1)]))
    q = np.concatenate([np.zeros(d + 1), np.full(n, 1 / n)])
    rows = y[:, None] * np.column_stack([X, np.ones(n)])
    G = np.block([[rows, np.eye(n)], [np.zeros((n, d + 1)), np.eye(n)]])
    x = solve_qp(P, q, G=G, h=np.repeat([1.0, 0.0], n)).x
    return x[:d], x[d]


@pytest.mark.claims("svm-55")
def test_regularised_risk_has_the_machine_for_its_minimiser(rng):
    X, y = overlapping(rng, (15, 11))
    C = 0.7
    machine = soft_margin(X, y, C)
    assert erm_objective(X, y, machine.w, machine.b, C) == pytest.approx(machine.objective)
    w, b = mean_form_machine(X, y, 1 / (len(y) * C))
    np.testing.assert_allclose(w, machine.w, atol=1e-7)
    assert b == pytest.approx(machine.b, abs=1e-7)
    # 0 is a subgradient: alpha_i / C between the slopes of the loss
    theta, f = machine.alpha / C, y * (X @ machine.w + machine.b)
    assert theta[f < 1 - 1e-7] == pytest.approx(1) and theta[f > 1 + 1e-7] == pytest.approx(0)
    assert (theta >= -1e-12).all() and (theta <= 1 + 1e-9).all()
    np.testing.assert_allclose(machine.w - C * (theta * y) @ X, 0, atol=1e-8)
    assert abs(theta @ y) < 1e-8


@pytest.mark.claims("svm-55")
def test_subgradient_descent_comes_down_to_the_program_and_never_below(rng):
    X, y = overlapping(rng, (15, 11))
    C = 0.1
    optimum = soft_margin(X, y, C).objective
    states = list(islice(subgradient_descent(X, y, C), 4001))
    objectives = np.array([state.objective for state in states])
    assert (objectives >= optimum - 1e-9).all()
    np.testing.assert_array_equal(
        [state.best for state in states], np.minimum.accumulate(objectives)
    )
    assert states[-1].best < optimum * (1 + 1e-3) < states[5].best
    assert (np.diff(objectives) > 0).any()  # no descent method
    assert states[0].moved == inf and not states[0].w.any()
    w, b = np.zeros(2), 0.0  # the rule, sample by sample
    for t in range(1, 30):
        inside = [i for i in range(len(y)) if y[i] * (w @ X[i] + b) < 1]
        new_w = w - (w - C * sum((y[i] * X[i] for i in inside), np.zeros(2))) / t
        new_b = b + C * sum(y[i] for i in inside) / t
        moved = np.sqrt(np.sum((new_w - w) ** 2) + (new_b - b) ** 2)
        w, b = new_w, new_b
        np.testing.assert_allclose(states[t].w, w, atol=1e-12)
        assert states[t].b == pytest.approx(b, abs=1e-12)
        assert states[t].moved == pytest.approx(moved, abs=1e-12)


@pytest.mark.claims("svm-56")
def test_with_the_sum_for_the_mean_copies_of_the_data_change_the_machine(rng):
    X, y = overlapping(rng, (9, 8))
    C, k = 0.4, 3
    once = soft_margin(X, y, C)
    copies, labels = np.tile(X, (k, 1)), np.tile(y, k)
    shared = soft_margin(copies, labels, C / k)
    np.testing.assert_allclose(shared.w, once.w, atol=1e-7)
    assert shared.b == pytest.approx(once.b, abs=1e-7)
    lam = 1 / (len(y) * C)
    w, b = mean_form_machine(copies, labels, lam)
    np.testing.assert_allclose(np.append(w, b), np.append(once.w, once.b), atol=1e-7)
    printed = soft_margin(copies, labels, C)  # the sum, with the same C
    assert np.abs(printed.w - once.w).max() > 0.01
    f = X @ once.w + once.b
    means = [hinge(f, y).mean(), hinge(np.tile(f, k), labels).mean()]
    sums = [hinge(f, y).sum(), hinge(np.tile(f, k), labels).sum()]
    assert means[1] == pytest.approx(means[0]) and sums[1] == pytest.approx(k * sums[0])


# ---------------------------------------------------------------------------------------
# Squared slack
# ---------------------------------------------------------------------------------------


def l2_lagrangian(X, y, w, b, xi, alpha, C):
    """1/2 ||w||^2 + C/2 sum xi_i^2 - sum alpha_i [y_i (w^T x_i + b) - 1 + xi_i], term by term."""
    terms = [alpha[i] * (y[i] * (w @ X[i] + b) - 1 + xi[i]) for i in range(len(y))]
    return w @ w / 2 + C / 2 * sum(xi**2) - sum(terms)


def balanced(rng, y):
    """Random multipliers >= 0 with sum_i alpha_i y_i = 0."""
    alpha = rng.uniform(0.1, 1, size=len(y))
    alpha[y < 0] *= alpha[y > 0].sum() / alpha[y < 0].sum()
    return alpha


@pytest.mark.claims("svm-58")
@pytest.mark.parametrize("C", [0.2, 3.0])
def test_squared_slack_by_program_by_dual_and_by_newton(rng, C):
    X, y = overlapping(rng, (12, 9), shift=0.3)
    machine = squared_slack_margin(X, y, C)
    f = y * (X @ machine.w + machine.b)
    assert machine.objective == pytest.approx(
        machine.w @ machine.w / 2 + C / 2 * np.sum(np.maximum(0, 1 - f) ** 2), rel=1e-9
    )
    dual = solve_dual(X @ X.T + np.eye(len(y)) / C, c_dual(y))
    assert dual.objective == pytest.approx(machine.objective, rel=1e-8)
    np.testing.assert_allclose(np.abs(dual.beta), machine.alpha, atol=1e-7)
    newton = LinearSVC(C=C / 2, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(newton.coef_[0], machine.w, atol=1e-8)
    assert newton.intercept_[0] == pytest.approx(machine.b, abs=1e-8)
    # the KKT conditions
    np.testing.assert_allclose(machine.xi, machine.alpha / C, atol=1e-8)
    np.testing.assert_allclose(machine.xi, np.maximum(0, 1 - f), atol=1e-8)
    np.testing.assert_allclose(machine.w, (machine.alpha * y) @ X, atol=1e-8)
    assert abs(machine.alpha @ y) < 1e-8
    np.testing.assert_array_equal(machine.alpha > C, f < 0)  # what is misclassified
    assert 0 < (f < 0).sum() < (machine.alpha > 0).sum()


@pytest.mark.claims("svm-58")
def test_squared_slack_needs_no_sign_and_its_dual_is_the_substituted_lagrangian(rng):
    X, y = overlapping(rng, (7, 6))
    C, n = 0.8, len(y)
    machine = squared_slack_margin(X, y, C)
    P = np.diag(np.concatenate([np.ones(2), np.zeros(1), np.full(n, C)]))
    rows = np.hstack([y[:, None] * np.column_stack([X, np.ones(n)]), np.eye(n)])
    G = np.vstack([rows, np.hstack([np.zeros((n, 3)), np.eye(n)])])
    asked = solve_qp(P, np.zeros(n + 3), G=G, h=np.repeat([1.0, 0.0], n))
    assert asked.objective == pytest.approx(machine.objective, rel=1e-8)
    for _ in range(10):
        alpha = balanced(rng, y)
        w, xi = (alpha * y) @ X, alpha / C
        L = l2_lagrangian(X, y, w, rng.normal(), xi, alpha, C)
        K = X @ X.T + np.eye(n) / C
        assert L == pytest.approx(dual_value(alpha, K, y), abs=1e-10)
        assert L <= machine.objective + 1e-9
        for _ in range(5):  # and no other w, xi gives less
            away = l2_lagrangian(
                X, y, w + rng.normal(size=2), 0.3, xi + rng.normal(size=n), alpha, C
            )
            assert away > L


@pytest.mark.claims("svm-59")
def test_squared_slack_is_the_hard_margin_with_a_ridge(rng):
    X, y = overlapping(rng, (8, 6))
    C, n = 0.6, len(y)
    lifted = np.hstack([X, np.diag(y) / np.sqrt(C)])  # features with the kernel K + I / C
    np.testing.assert_allclose(lifted @ lifted.T, X @ X.T + np.eye(n) / C, atol=1e-12)
    hard, soft = hard_margin(lifted, y), squared_slack_margin(X, y, C)
    np.testing.assert_allclose(hard.alpha, soft.alpha, atol=1e-7)
    assert hard.objective == pytest.approx(soft.objective, rel=1e-8)
    Q = np.multiply.outer(y, y) * (X @ X.T + np.eye(n) / C)
    assert np.linalg.eigvalsh(Q)[0] >= 1 / C - 1e-12


@pytest.mark.claims("svm-59")
def test_squared_slack_always_has_one_solution(rng):
    X, y = XOR
    machine = squared_slack_margin(X, y, C=2.0)
    np.testing.assert_allclose(machine.alpha, 2.0, atol=1e-9)  # w = 0, xi = 1
    with pytest.raises(UnboundedError):  # no ridge, no solution
        solve_dual(X @ X.T, c_dual(y))
    # of four samples on the margin the hard machine has many alpha, this one a single one
    square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    K = square @ square.T
    for ridge, count in ((0.0, 2), (0.5, 1)):
        found = []
        for alpha in (np.array([0.5, 0, 0.5, 0]), np.array([0, 0.5, 0, 0.5])):
            K_ridge = K + ridge * np.eye(4)
            dual = c_dual(y)._replace(start=alpha * y)
            found.append(solve(K_ridge, dual, 1e-10, -1).beta.round(8) + 0.0)
        assert len({tuple(beta) for beta in found}) == count
    X, y = separable(rng)
    hard = hard_margin(X, y)
    errors = [np.abs(squared_slack_margin(X, y, C).w - hard.w).max() for C in (10, 1e3, 1e5)]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-4


@pytest.mark.claims("svm-60")
def test_the_substituted_line_of_the_squared_slack_as_printed_and_as_it_is(rng):
    X, y = overlapping(rng, (6, 5), d=3)
    C, n = 0.7, len(y)

    def line(alpha, labels, squares):
        w = (alpha * y) @ X
        if labels:  # - sum_i alpha_i y_i w^T x_i
            cross = sum(alpha[i] * y[i] * (w @ X[i]) for i in range(n))
        else:  # printed: - sum_i alpha_i (1/C) w^T x_i
            cross = sum(alpha[i] / C * (w @ X[i]) for i in range(n))
        last = sum(alpha**2) / C if squares else sum(alpha) / C
        return w @ w / 2 + C / 2 * sum((alpha / C) ** 2) - cross + sum(alpha) - last

    machine = squared_slack_margin(X, y, C)
    for alpha in (*(balanced(rng, y) for _ in range(5)), machine.alpha):
        L = l2_lagrangian(X, y, (alpha * y) @ X, 0.4, alpha / C, alpha, C)
        assert line(alpha, labels=True, squares=True) == pytest.approx(L, abs=1e-7)
        for labels, squares in ((False, False), (True, False), (False, True)):
            assert abs(line(alpha, labels, squares) - L) > 1e-2
    assert line(machine.alpha, True, True) == pytest.approx(machine.objective, rel=1e-7)


# ---------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-61")
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_a_kernel_machine_is_the_linear_one_on_its_features(rng, C):
    X, y = overlapping(rng, (12, 10), shift=0.5)
    Z = rng.normal(size=(20, 2))
    how = {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}
    K = gram(X, **how)
    phi = polynomial_map(X, p=2)
    np.testing.assert_allclose(phi @ phi.T, K, atol=1e-9)
    w, b, primal = soft_in_features(phi, y, C)
    dual = c_dual(y, C)
    solved = solve(K, dual, 1e-9, -1)
    f = kernel_score(Z, X, solved.beta, how) + solved.certificate.offsets[0]
    np.testing.assert_allclose(f, polynomial_map(Z, p=2) @ w + b, atol=1e-6)
    alpha, Q = solved.beta * y, np.multiply.outer(y, y) * K
    assert alpha @ Q @ alpha == pytest.approx(w @ w, rel=1e-7)
    np.testing.assert_allclose(solved.beta @ phi, w, atol=1e-6)
    # the objective in beta is the printed one in alpha
    printed = alpha.sum() - alpha @ Q @ alpha / 2
    assert solved.certificate.dual == pytest.approx(printed, rel=1e-12)
    assert printed == pytest.approx(primal, rel=1e-7)
    for i, j in itertools.product(range(4), repeat=2):
        assert Q[i, j] == pytest.approx(y[i] * y[j] * (1 + X[i] @ X[j]) ** 2, abs=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(Q), np.linalg.eigvalsh(K), atol=1e-9)
    assert np.linalg.eigvalsh(Q)[0] > -1e-9
    linear = solve(X @ X.T, dual, 1e-9, -1)
    np.testing.assert_allclose(linear.beta @ X, soft_margin(X, y, C).w, atol=1e-6)


@pytest.mark.claims("svm-61")
def test_the_dual_in_beta_is_that_in_alpha(rng):
    X, y = overlapping(rng, (4, 5))
    C, K = 0.3, gram(X, **KERNELS["rbf"])
    dual = c_dual(y, C)
    for _ in range(20):
        alpha = balanced(rng, y)
        assert objective(K, dual, alpha * y) == pytest.approx(dual_value(alpha, K, y))
    np.testing.assert_array_equal(y * dual.lower, np.where(y > 0, 0, C))
    np.testing.assert_array_equal(y * dual.upper, np.where(y > 0, C, 0))
    per_sample = c_dual(y, np.arange(1.0, 10.0))
    np.testing.assert_array_equal(per_sample.upper - per_sample.lower, np.arange(1.0, 10.0))


@pytest.mark.claims("svm-62")
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_machine_keeps_its_support_vectors_and_no_more(rng, kernel):
    X, y = overlapping(rng, (20, 18))
    Z, C, how = rng.normal(size=(15, 2)), 0.8, KERNELS[kernel]
    K, dual = gram(X, **how), c_dual(y, C)
    solved = solve(K, dual, 1e-9, -1)
    beta, certificate = solved.beta, solved.certificate
    b = certificate.offsets[0]
    S = support_vectors(np.abs(beta))
    assert 0 < len(S) < len(y)
    f = kernel_score(Z, X[S], beta[S], how) + b
    np.testing.assert_allclose(f, gram(Z, X, **how) @ beta + b, atol=1e-12)
    loop = [sum(beta[i] * gram(X[i : i + 1], z[None], **how)[0, 0] for i in S) + b for z in Z]
    np.testing.assert_allclose(f, loop, atol=1e-12)
    free = (np.abs(beta) > 0) & (np.abs(beta) < C)
    single = [y[i] - sum(beta[j] * K[j, i] for j in S) for i in np.flatnonzero(free)]
    assert len(single) and np.ptp(single) < 1e-6
    assert b == pytest.approx(np.mean(single), abs=1e-9)
    primal = beta @ K @ beta / 2 + C * hinge(K @ beta + b, y).sum()
    assert primal == pytest.approx(certificate.dual, rel=1e-6)
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    if kernel == "linear":
        np.testing.assert_allclose(f, Z @ (beta @ X) + b, atol=1e-12)
    model = SVC(C=C, tol=1e-9, **how).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.decision_function(Z), f, atol=1e-7)
    np.testing.assert_array_equal(model.predict(Z), np.where(f > 0, 1, -1))


@pytest.mark.claims("svm-63")
def test_monomials_are_too_many_to_write_down():
    for d, p in itertools.product(range(1, 7), range(1, 6)):
        powers = [e for e in itertools.product(range(p + 1), repeat=d) if sum(e) <= p]
        assert len(powers) == comb(d + p, p)
    for p in (2, 3, 5):
        ratios = [comb(d + p, p) / d**p for d in (10, 100, 1000, 10**6)]
        errors = np.array(ratios) * factorial(p) - 1
        assert (np.diff(errors) < 0).all() and abs(errors[-1]) < p**2 / 10**6
    assert comb(108, 8) > 10**11
    x, z = np.random.default_rng(0).integers(-2, 3, size=(2, 1, 100)).astype(float)
    assert polynomial(x, z, p=8)[0, 0] == (1 + sum(int(t) for t in x[0] * z[0])) ** 8


@pytest.mark.claims("svm-63")
def test_the_degree_2_kernel_is_the_inner_product_and_free_fits_follow_noise(rng):
    X, Z = rng.normal(size=(2, 12, 3))
    explicit = polynomial_map(X, p=2) @ polynomial_map(Z, p=2).T
    np.testing.assert_allclose(explicit, (1 + X @ Z.T) ** 2, atol=1e-12)
    assert polynomial_map(X, p=2).shape[1] == comb(5, 2)
    phi = scaled_quadratic_map(rng.normal(size=(5, 2)))
    assert np.linalg.matrix_rank(phi) == min(phi.shape)
    for _ in range(10):  # labels that mean nothing are fitted without an error
        X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], size=20)
        A = polynomial_map(X, p=3)
        assert A.shape[1] == comb(6, 3) == len(y)
        w = np.linalg.lstsq(A, y)[0]
        np.testing.assert_allclose(A @ w, y, atol=1e-6)


@pytest.mark.claims("svm-64")
@pytest.mark.parametrize("d", [2, 20, 500])
def test_the_dimension_that_the_samples_are_in_is_no_matter(rng, d):
    X, y = overlapping(rng, (14, 12))
    Z, C = rng.normal(size=(30, 2)), 0.5
    E = np.linalg.qr(rng.normal(size=(d, 2)))[0].T  # orthonormal rows: R^2 into R^d
    plain, far = SVC(C=C, kernel="linear", tol=1e-9), SVC(C=C, kernel="linear", tol=1e-9)
    plain.fit(X, y), far.fit(X @ E, y)
    assert np.linalg.norm(far.coef_) == pytest.approx(np.linalg.norm(plain.coef_), rel=1e-6)
    assert far.certificates_[0].dual == pytest.approx(plain.certificates_[0].dual, rel=1e-6)
    np.testing.assert_allclose(far.decision_function(Z @ E), plain.decision_function(Z), atol=1e-6)
    rbf, far = (SVC(gamma=0.5, C=C, tol=1e-9) for _ in range(2))
    rbf.fit(X, y), far.fit(X @ E, y)
    np.testing.assert_allclose(far.decision_function(Z @ E), rbf.decision_function(Z), atol=1e-6)


@pytest.mark.claims("svm-64")
def test_a_gaussian_machine_has_as_many_dimensions_as_samples(rng):
    for n in (5, 20, 40):
        x = np.linspace(0, n, n)[:, None]
        K = gaussian(x, sigma=0.7)
        assert np.linalg.matrix_rank(K) == n  # whatever n: phi is in no R^m
        y = rng.choice([-1.0, 1.0], size=n)
        y[:2] = 1, -1
        solved = solve(K, c_dual(y), 1e-8, -1)  # and so any labels are separated
        f = K @ solved.beta + solved.certificate.offsets[0]
        assert (y * f > 1 - 1e-6).all() and solved.run.converged


@pytest.mark.claims("svm-64")
@pytest.mark.parametrize("seed", range(3))
def test_leaving_one_out_errs_at_support_vectors_alone(seed):
    rng = np.random.default_rng(seed)
    X, y = overlapping(rng, (12, 12), shift=0.7)
    model = SVC(C=0.7, gamma=0.5, tol=1e-8).fit(X, y)
    errors = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        f = SVC(C=0.7, gamma=0.5, tol=1e-8).fit(X[rest], y[rest]).decision_function(X[i : i + 1])
        if y[i] * f[0] <= 0:
            errors.append(i)
        if i not in model.support_:  # the machine stays as it is
            assert f[0] == pytest.approx(model.decision_function(X[i : i + 1])[0], abs=1e-6)
    assert 0 < len(errors) <= len(model.support_) < len(y) and set(errors) <= set(model.support_)


@pytest.mark.claims("svm-67")
def test_with_equal_multipliers_the_score_is_a_difference_of_parzen_estimates(rng):
    X, y = overlapping(rng, (9, 16))
    Z, sigma, n = rng.normal(size=(12, 2)), 0.9, len(y)
    how = {"kernel": "rbf", "gamma": 1 / sigma**2}

    def k(a, b):
        return np.exp(-np.sum((a - b) ** 2) / sigma**2)

    def mean(z, label):
        return np.mean([k(x, z) for x in X[y == label]])

    f = kernel_score(Z, X, y / n, how)
    parzen = [9 / 25 * mean(z, 1) - 16 / 25 * mean(z, -1) for z in Z]
    np.testing.assert_allclose(f, parzen, atol=1e-12)
    unweighted = [mean(z, 1) - mean(z, -1) for z in Z]
    assert np.abs(f - unweighted).max() > 0.01
    # a small C and classes of one size: the solved machine is that, times n C
    X, y = overlapping(rng, (10, 10))
    model = SVC(C=1e-3, **how).fit(X, y)
    assert len(model.support_) == 20
    parzen = [mean(z, 1) / 2 - mean(z, -1) / 2 for z in Z]
    scores = model.decision_function(Z) - model.intercept_[0]
    np.testing.assert_allclose(scores, 20 * 1e-3 * np.array(parzen), atol=1e-15)


# ---------------------------------------------------------------------------------------
# The solvers
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-68")
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_general_solver_finds_the_best_of_all_patterns(kernel):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = overlapping(rng, (3, 3 - seed % 2), shift=0.5)
        K, C = gram(X, **KERNELS[kernel]), (0.1, 1.0, 20.0)[seed]
        nu = 0.7 * 2 * (y < 0).mean()
        for gram_matrix, dual in (
            (K, c_dual(y, C)),
            (K, nu_dual(y, nu)),
            (K + np.eye(len(y)) / C, c_dual(y)),
        ):
            best, beta = by_patterns(gram_matrix, dual)
            solution = solve_dual(gram_matrix, dual)
            assert solution.objective == pytest.approx(best, abs=1e-8 * (1 + abs(best)))
            solved = solve(gram_matrix, dual, 1e-8, -1)
            assert solved.certificate.dual == pytest.approx(best, abs=1e-7 * (1 + abs(best)))
            np.testing.assert_allclose(
                gram_matrix @ solved.beta, gram_matrix @ beta, atol=1e-5 * (1 + np.abs(K).max())
            )
            assert solution.residual < 1e-6


@pytest.mark.claims("svm-68")
def test_without_the_sum_the_box_has_another_optimum(rng):
    """A control of the second route: the patterns see a constraint that is left out."""
    X, y = overlapping(rng, (3, 2))
    K, dual = gram(X, **KERNELS["rbf"]), c_dual(y, 1.0)
    best, _ = by_patterns(K, dual)
    free, beta = by_patterns(K, dual._replace(groups=()))
    assert free > best + 0.01 and abs(beta.sum()) > 0.1


@pytest.mark.claims("svm-68", "svm-71")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(11))
def test_smo_agrees_with_the_general_solver_on_random_problems(seed, kernel):
    """55 samples, each by three machines: the objective within 1e-6, b within what KKT allows."""
    tol = 1e-6
    for name, K, dual in duals(seed, kernel):
        exact = solve_dual(K, dual)
        tolerance = tol / len(dual.p) if name == "nu" else tol
        solved = solve(K, dual, tolerance, -1)
        assert_honest(K, dual, solved, tolerance)
        assert solved.run.converged
        scale = max(abs(exact.objective), 1e-3 * K.diagonal().mean() if name == "nu" else 0)
        assert solved.certificate.dual == pytest.approx(exact.objective, abs=1e-6 * scale)
        assert solved.certificate.primal >= exact.objective - 1e-9 * (1 + scale)
        apart = solved.beta - exact.beta  # the scores are unique, beta need not be
        assert apart @ K @ apart <= 2e-6 * scale + 1e-8
        for (low, high), b in zip(
            ends(K, dual, solved.beta), solved.certificate.offsets, strict=True
        ):
            assert min(low, high) - 1e-12 <= b <= max(low, high) + 1e-12


@pytest.mark.claims("svm-68")
def test_the_general_solver_meets_the_conditions_of_kkt(rng):
    X, y = overlapping(rng, (10, 8))
    for C in (0.05, 1.0, 30.0):
        beta = solve_dual(X @ X.T, c_dual(y, C)).beta
        w, b = beta @ X, soft_margin(X, y, C).b
        xi = hinge(X @ w + b, y)
        assert max(kkt_residuals(X, y, w, b, xi, beta * y, C)) < 1e-5


@pytest.mark.claims("svm-71")
@pytest.mark.parametrize("select", [second_order, steepest])
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_step_of_smo(machine, select, seed):
    kernel = ("linear", "rbf", "poly")[seed]
    ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
    for array in (K, *dual[:4]):
        array.setflags(write=False)
    states, kept = [], []
    for state in islice(smo(K, dual, select), 60):
        states.append(state)
        kept.append((state.beta.copy(), state.gradient.copy()))
    assert len(states) > 1 and states[0].pair == ()
    for state, (beta, gradient) in zip(states, kept, strict=True):  # snapshots
        np.testing.assert_array_equal(state.beta, beta)
        np.testing.assert_array_equal(state.gradient, gradient)
        assert_feasible(dual, beta)
        scale = 1 + np.abs(K).max() * np.abs(beta).sum()
        np.testing.assert_allclose(gradient, dual.p - K @ beta, atol=1e-11 * scale)
        assert state.objective == pytest.approx(objective(K, dual, beta), abs=1e-11 * scale)
        assert state.violation == pytest.approx(worst_pair(K, dual, beta), abs=1e-10 * scale)
    for before, after in itertools.pairwise(states):
        assert_one_step(K, dual, select, before, after)


def assert_one_step(K, dual, select, before, after):
    """`after` is the best point of the segment of the pair that the rule says."""
    assert after.objective >= before.objective
    i, j = after.pair
    g = before.gradient
    group = next(group for group in dual.groups if group.start <= i < group.stop)
    members = range(group.start, group.stop)
    assert j in members
    np.testing.assert_array_equal(np.flatnonzero(after.beta != before.beta), sorted(after.pair))
    risers = [k for k in members if before.beta[k] < dual.upper[k]]
    assert g[i] == max(g[k] for k in risers)
    # no pair (i, k) of its group, nor of another group, would have served the rule better
    gains = {}
    for other in dual.groups:
        rows = range(other.start, other.stop)
        top = max((k for k in rows if before.beta[k] < dual.upper[k]), key=lambda k: g[k])
        for k in rows:
            if before.beta[k] > dual.lower[k] and g[top] > g[k]:
                eta = max(K[top, top] + K[k, k] - 2 * K[top, k], 1e-12)
                gains[k] = (g[top] - g[k]) ** 2 / eta if select is second_order else g[top] - g[k]
    assert gains[j] >= max(gains.values()) * (1 - 1e-9)
    low, high = step_bounds(dual, before.beta, i, j)
    assert low <= after.beta[i] <= high + 1e-15
    rise = after.beta[i] - before.beta[i]  # a box may be infinite
    ends_of_line = max(low, before.beta[i] - 10 * rise), min(high, before.beta[i] + 10 * rise)
    step = np.linspace(*ends_of_line, 2001) - before.beta[i]
    eta = K[i, i] + K[j, j] - 2 * K[i, j]
    values = before.objective + step * (g[i] - g[j]) - step**2 * eta / 2
    assert after.objective >= values.max() - 1e-12 * (1 + abs(after.objective))


@pytest.mark.claims("svm-71")
def test_the_line_of_a_step_is_the_dual_and_its_ends_are_those_of_the_box(rng):
    X, y = overlapping(rng, (4, 4))
    K, dual = gram(X, **KERNELS["rbf"]), c_dual(y, 0.8)
    beta = 0.4 * balanced(rng, y) * y
    for i, j in itertools.permutations(range(8), 2):
        low, high = step_bounds(dual, beta, i, j)
        inside = []
        for value in np.linspace(low - 0.1, high + 0.1, 301):
            moved = beta.copy()
            moved[i], moved[j] = value, beta[i] + beta[j] - value
            feasible = (moved >= dual.lower).all() and (moved <= dual.upper).all()
            assert feasible == (low - 1e-12 <= value <= high + 1e-12)
            inside.append(feasible)
        assert any(inside) and not all(inside)
    one = beta.copy()
    one[2] += 0.05  # one multiplier alone leaves the constraint by as much as it moves
    assert one.sum() - beta.sum() == pytest.approx(0.05)
    assert dual_value(np.abs(one), K, y) == -inf < dual_value(np.abs(beta), K, y)


def test_selection_of_the_partner():
    excess = np.array([1.0, 4.0, -inf, 3.0, -2.0])
    curvature = np.array([0.1, 2.0, 1.0, 1.0, 1e-12])
    assert steepest(excess, curvature) == 1
    assert second_order(excess, curvature) == 0  # 10, 8, -, 9, nothing for a negative excess
    assert second_order(excess, np.array([1.0, 2.0, 1.0, 1.0, 1e-12])) == 3
    assert second_order(1e200 * excess, 1e180 * curvature) == 0  # the square would overflow


@pytest.mark.claims("svm-71")
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_all_ways_to_choose_lead_to_one_optimum(kernel, machine):
    for seed in (3, 4):
        ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
        best = solve_dual(K, dual).objective
        for states in (
            smo(K, dual, second_order), smo(K, dual, steepest), smo_with_free_steps(K, dual),
        ):  # fmt: skip
            objectives = []
            for state in islice(states, 20000):
                objectives.append(state.objective)
                if state.violation <= 1e-9:
                    break
            assert state.violation <= 1e-8  # its own end, or the tolerance
            scale = abs(best) + K.diagonal().mean() * 1e-3
            assert state.objective == pytest.approx(best, abs=1e-7 * scale)
            assert (np.diff(objectives) >= -1e-13 * scale).all()


@pytest.mark.claims("svm-71")
def test_smo_on_separable_overlapping_and_curved_classes(rng):
    X, y = separable(rng, (8, 8))
    hard = hard_margin(X, y)
    solved = solve(X @ X.T, c_dual(y), 1e-8, -1)
    assert solved.run.converged
    assert solved.certificate.dual == pytest.approx(hard.objective, rel=1e-6)
    np.testing.assert_allclose(solved.beta @ X, hard.w, atol=1e-6)
    assert solved.certificate.offsets[0] == pytest.approx(hard.b, abs=1e-6)
    X, y = overlapping(rng, (20, 20), shift=0.5)
    solved = solve(X @ X.T, c_dual(y, 3.0), 1e-8, -1)
    assert solved.certificate.dual == pytest.approx(soft_margin(X, y, 3.0).objective, rel=1e-6)
    T = make_moons(60, noise=0.15, rng=rng)
    K, dual = gaussian(T.X, sigma=0.5), c_dual(T.y.astype(float), 5.0)
    solved = solve(K, dual, 1e-6, -1)
    assert solved.certificate.dual == pytest.approx(solve_dual(K, dual).objective, rel=1e-6)
    *_, own_end = smo(K, dual)  # without a tolerance: to the last digit
    assert own_end.violation < 1e-9


def test_smo_goes_on_from_a_state(rng):
    X, y = overlapping(rng)
    K, dual = gram(X, **KERNELS["rbf"]), c_dual(y, 2.0)
    states = list(islice(smo(K, dual), 25))
    again = list(islice(smo(K, dual, start=states[10]), 15))
    for one, other in zip(states[10:], again, strict=True):
        np.testing.assert_array_equal(one.beta, other.beta)
        assert one.pair == other.pair and one.objective == other.objective


@pytest.mark.claims("svm-70")
@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("machine", ["C", "nu"])
def test_chunking_climbs_to_the_optimum(rng, machine, size):
    X, y = overlapping(rng, (4, 4))
    K = gram(X, **KERNELS["rbf"])
    dual = c_dual(y, 1.5) if machine == "C" else nu_dual(y, 0.5)
    best = solve_dual(K, dual).objective
    start, states = None, []
    for state in islice(chunking(K, dual, size, rng=rng), 200):
        start = start or state
        states.append(state._replace(beta=state.beta.copy()))
        assert_feasible(dual, state.beta, atol=1e-10)
        np.testing.assert_allclose(state.gradient, dual.p - K @ state.beta, atol=1e-9)
        assert state.objective == pytest.approx(objective(K, dual, state.beta), abs=1e-9)
        assert state.violation == pytest.approx(worst_pair(K, dual, state.beta), abs=1e-9)
        if best - state.objective < 1e-6 * abs(best):
            break
    np.testing.assert_array_equal(start.beta, dual.start)
    assert (np.diff([state.objective for state in states]) >= -1e-9).all()
    assert state.objective == pytest.approx(best, rel=1e-5)
    for before, after in itertools.pairwise(states):
        assert len(set(after.pair)) == size
        assert set(np.flatnonzero(after.beta != before.beta)) <= set(after.pair)
    if size == 8:
        assert len(states) == 2  # all at once


@pytest.mark.claims("svm-70")
def test_a_chunk_of_one_cannot_move(rng):
    X, y = overlapping(rng, (4, 4))
    states = chunking(gram(X, **KERNELS["rbf"]), c_dual(y, 1.0), 1, rng=rng)
    assert all(abs(state.objective) < 1e-9 for state in islice(states, 10))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
def test_a_free_step_never_loses(kernel, machine):
    moved = 0
    for seed in range(6):
        ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
        for state in islice(smo(K, dual), 0, 40, 4):
            after = free_step(K, dual, state)
            if after is state:
                continue
            moved += 1
            assert after.violation == inf and after.objective >= state.objective
            scale = 1 + np.abs(K).max() * np.abs(after.beta).sum()
            assert_feasible(dual, after.beta, atol=1e-9)
            np.testing.assert_allclose(after.gradient, dual.p - K @ after.beta, atol=1e-8 * scale)
            value = objective(K, dual, after.beta)
            assert after.objective == pytest.approx(value, abs=1e-8 * scale)
            free = (state.beta > dual.lower) & (state.beta < dual.upper)
            assert set(np.flatnonzero(after.beta != state.beta)) <= set(np.flatnonzero(free))
    assert moved > 5


def test_a_free_step_that_meets_no_bound_is_the_optimum_among_the_free(rng):
    X, y = overlapping(rng, (5, 4))
    K, dual = gram(X, **KERNELS["laplacian"]), c_dual(y)
    alpha = balanced(rng, y)
    alpha[[0, 1]] = alpha[:2].mean()
    beta = alpha * y
    state = svm.SMOState(beta, y - K @ beta, (), objective(K, dual, beta), inf)
    after = free_step(K, dual, state)
    A = np.ones((1, 9))
    system = np.block([[K, A.T], [A, np.zeros((1, 1))]])
    d = np.linalg.solve(system, np.append(state.gradient, 0.0))[:-1]
    room = np.where(d * y < 0, alpha / np.maximum(-d * y, 1e-300), inf)
    t = min(1.0, room.min())
    np.testing.assert_allclose(after.beta, beta + t * d, atol=1e-6)
    again = after
    for _ in range(20):
        again, last = free_step(K, dual, again), again
    assert again is last  # nothing to gain: the state itself


def test_of_many_free_multipliers_some_take_part(rng):
    n = 90
    X, y = overlapping(rng, (45, 45))
    K, dual = gram(X, **KERNELS["laplacian"]) + np.eye(n), c_dual(y, 10.0)
    beta = 0.3 * y
    state = svm.SMOState(beta, y - K @ beta, (), objective(K, dual, beta), inf)
    after = free_step(K, dual, state)
    assert len(after.pair) == svm.MOST == np.count_nonzero(after.beta != beta)
    assert after.pair[0] == 0 and after.pair[-1] == n - 1  # from end to end
    assert free_step(K, dual, state, most=n).pair == tuple(range(n))
    assert after.objective > state.objective


def test_free_steps_save_steps():
    T = load_breast_cancer()
    X = (T.X - T.X.mean(axis=0)) / T.X.std(axis=0)
    y = np.where(T.y == T.y[0], 1.0, -1.0)
    K, dual = X @ X.T, c_dual(y, 10.0)
    runs = []
    for states in (smo(K, dual), smo_with_free_steps(K, dual)):
        for count, state in enumerate(states):
            if state.violation <= 1e-3 or count == 20000:
                break
        runs.append((count, state.objective))
    (plain, first), (free, second) = runs
    assert free < plain / 2
    assert second == pytest.approx(first, rel=1e-5)


def test_the_projection_onto_a_box_and_a_sum_is_the_nearest_point(rng):
    """By the general solver, over sums from the least to the most."""
    for m in (1, 2, 7):
        x, lower = 2 * rng.normal(size=m), -rng.random(m)
        upper = lower + rng.random(m)
        for share in (0.0, 0.3, 0.9, 1.0):
            total = lower.sum() + share * (upper - lower).sum()
            nearest = project_onto_sum(x, lower, upper, total)
            assert (nearest >= lower).all() and (nearest <= upper).all()
            assert nearest.sum() == pytest.approx(total, abs=1e-12)
            qp = solve_qp(np.eye(m), -x, np.ones((1, m)), [total], *box(lower, upper))
            np.testing.assert_allclose(nearest, qp.x, atol=1e-7)


def fast_duals(rng, n=40, d=3):
    """Samples and duals of a linear kernel, with boxes of different sizes among them."""
    X, y = overlapping(rng, (n // 2, n - n // 2), d, shift=0.5)
    X -= X.mean(axis=0)
    weights = rng.integers(1, 4, size=n).astype(float)
    yield X, c_dual(y, 1.0)
    yield X, c_dual(y, 0.01 * weights)
    yield X, nu_dual(y, 0.6)
    yield X, nu_dual(y, 0.8, weights)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_central_path_leads_to_the_optimum(rng, ridge):
    for X, dual in fast_duals(rng):
        K, size = X @ X.T + ridge * np.eye(len(X)), dual.upper - dual.lower
        exact = solve_dual(K, dual)
        states = list(islice(central_path(X, ridge, dual), 40))
        snapshots = [state.beta.copy() for state in states]
        for state, beta in zip(states, snapshots, strict=True):
            np.testing.assert_array_equal(state.beta, beta)
            assert (state.room > 0).all() and (state.multipliers > 0).all()
            np.testing.assert_allclose(state.room.sum(axis=0), size, rtol=1e-9)
            for group in dual.groups:
                lack = state.beta[group].sum() - dual.start[group].sum()
                assert abs(lack) < 1e-10 * size.sum()
            assert state.objective == pytest.approx(objective(K, dual, state.beta), rel=1e-9)
            # the multipliers are feasible for the dual of the dual: the gap bounds what is missing
            assert exact.objective - state.objective <= state.gap + 1e-9 * abs(exact.objective)
        last = states[-1]
        assert last.objective == pytest.approx(exact.objective, rel=1e-8)
        assert len(states) < 30 or last.gap < 1e-9 * abs(exact.objective)
        low, high = last.multipliers
        pull = dual.p - K @ last.beta + low - high
        for group, b in zip(dual.groups, last.offsets, strict=True):
            np.testing.assert_allclose(pull[group], b, atol=1e-7)


def test_a_linear_gram_matrix_is_that_of_the_samples(rng):
    X, beta = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    for ridge in (0.0, 0.5):
        K, whole = LinearGram(X, ridge), X @ X.T + ridge * np.eye(9)
        rows = np.array([4, 0, 7])
        np.testing.assert_allclose(K[3], whole[3], atol=1e-15)
        np.testing.assert_allclose(K[rows], whole[rows], atol=1e-15)
        np.testing.assert_allclose(K.block(rows), whole[np.ix_(rows, rows)], atol=1e-15)
        np.testing.assert_allclose(K.diagonal(), np.diag(whole), atol=1e-15)
        np.testing.assert_allclose(K @ beta, whole @ beta, atol=1e-14)
        np.testing.assert_allclose(K @ beta[:, 0], whole @ beta[:, 0], atol=1e-14)


def test_machines_of_a_linear_gram_matrix_are_those_of_the_array(rng):
    """And SMO, which the path leaves little to do, goes on from where it ends."""
    for shift in (0.0, 1e3):
        for X, dual in fast_duals(rng, n=120):
            X = X + shift
            fast, slow = (solve(K, dual, 1e-9, -1) for K in (LinearGram(X), X @ X.T))
            assert fast.run.converged and fast.run.n_iter < 60
            assert fast.certificate.dual == pytest.approx(slow.certificate.dual, rel=1e-8)
            assert_feasible(dual, fast.beta, atol=1e-9 * dual.upper.max())
            if shift == 0:
                assert_honest(X @ X.T, dual, fast, 1e-9)
            assert len(fast.run.history) == fast.run.n_iter + 1
            assert fast.run.history[-1] == pytest.approx(fast.certificate.dual, rel=1e-12)
            bounded = (fast.beta == dual.lower) | (fast.beta == dual.upper)
            assert bounded.sum() >= 120 - 6  # the machine of d weights needs few free ones


def test_without_a_path_a_linear_gram_matrix_is_for_smo(rng):
    X, y = separable(rng, (20, 20))
    dual = nu_dual(y, 1.0)  # all multipliers at their bounds: the sums leave no choice
    solved = solve(LinearGram(X), dual, 1e-6, -1)
    assert solved.run.converged
    np.testing.assert_allclose(np.abs(solved.beta), 1 / 40, rtol=1e-12)
    hard = solve(LinearGram(X), c_dual(y), 1e-9, -1)
    assert hard.run.converged
    exact = solve_dual(X @ X.T, c_dual(y))
    assert hard.certificate.dual == pytest.approx(exact.objective, rel=1e-7)
    half = c_dual(y, 1.0)._replace(start=np.where(y > 0, 0.5, 0.0))  # the sum is not 0
    solved = solve(LinearGram(X), half, 1e-9, -1)
    exact = solve_dual(X @ X.T, half)
    assert solved.certificate.dual == pytest.approx(exact.objective, rel=1e-7)


def test_large_costs_and_units_are_no_matter_on_the_path():
    """Samples in their own units, of which the largest are 10^4 and the smallest 10^-3."""
    T = load_breast_cancer()
    for C, tol in [(1.0, 1e-3), (1e3, 1e-3), (1e4, 1e-2)]:
        model = SVC(kernel="linear", C=C, tol=tol).fit(T.X, T.y)
        assert model.converged_ and model.n_iter_ < 10_000
        assert model.certificates_[0].gap < 1e-3 * model.certificates_[0].dual


@pytest.mark.parametrize("kind", [SVC, L2SVC, NuSVC])
def test_a_kernel_matrix_of_few_features_is_not_formed(rng, kind):
    X, y = overlapping(rng, (310, 300), 3, shift=0.7)
    path = kind(kernel="linear", tol=1e-8)
    array = kind(kernel="poly", degree=1, gamma=1.0, tol=1e-8)
    assert isinstance(path._gram(X, {"kernel": "linear"}), LinearGram)
    assert isinstance(path._gram(X[:499], {"kernel": "linear"}), np.ndarray)
    assert isinstance(path._gram(np.tile(X, 51), {"kernel": "linear"}), np.ndarray)
    path.fit(X, y), array.fit(X, y)
    assert path.converged_ and path.n_iter_ < 200
    assert path.certificates_[0].dual == pytest.approx(array.certificates_[0].dual, rel=1e-8)
    np.testing.assert_allclose(path.coef_, array.dual_coef_ @ array.support_vectors_, atol=1e-6)
    np.testing.assert_allclose(path.intercept_, array.intercept_, atol=1e-6)
    one = kind(kernel="linear", max_iter=3)
    with pytest.warns(ConvergenceWarning, match="stopped after 3 iterations"):
        one.fit(X, y)
    assert len(one.history_[0]) == 4 and (np.diff(one.history_[0]) > 0).all()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_where_many_are_free_conjugate_gradients_leave_a_hundredth(rng, scale):
    X, g = rng.normal(size=(400, 5)), scale * rng.normal(size=400)
    K, A = gram(X, **KERNELS["rbf"]), np.repeat(np.eye(2), [150, 250], axis=1)
    d, b = svm._free_solution(K, A, g, ridge=0.1)
    exact, _ = svm._free_solution(K[:299, :299], A[:, :299], g[:299], ridge=0.1)
    rest = (g - K @ d - 0.1 * d - b @ A) / scale  # the last diagonal is 1
    np.testing.assert_allclose(A @ d / scale, 0, atol=1e-12)
    np.testing.assert_allclose(A @ rest, 0, atol=1e-9)
    assert 1e-6 < np.linalg.norm(rest) <= 0.01 * np.linalg.norm(g / scale)
    few = (g[:299] - K[:299, :299] @ exact - 0.1 * exact) / scale
    for group in (slice(0, 150), slice(150, 299)):  # of few the rest is b alone
        np.testing.assert_allclose(few[group], few[group].mean(), atol=1e-6)


def test_what_conjugate_gradients_cannot_solve_is_eliminated(rng):
    g, A = rng.normal(size=400), np.ones((1, 400))
    spread = np.diag(10.0 ** rng.uniform(-8, 0, size=400))  # as many steps as eigenvalues
    for K in (-np.eye(400), spread):
        assert svm._conjugate_gradients(K, A, g - g.mean(), 1e-6) is None
        d, b = svm._free_solution(K, A, g, ridge=1e-6)
        delta = (1e-6 + svm.ROUNDING) * np.abs(K).max()
        np.testing.assert_allclose(K @ d + delta * d + b, g, atol=1e-8)
        assert d.sum() == pytest.approx(0, abs=1e-9 * np.abs(d).max())
    assert svm._conjugate_gradients(np.eye(400), A, np.zeros(400), 0.1) is None


def test_settling_many_free_multipliers_ends_at_the_same_optimum(rng, monkeypatch):
    X = rng.normal(size=(700, 20))
    f = X[:, 0] * X[:, 1] + X[:, 2]
    K, dual = gram(X[np.argsort(f)], kernel="rbf", gamma=0.05), nu_dual(np.sign(np.sort(f)), nu=0.4)
    found = solve(K, dual, tol=1e-9, max_iter=-1)
    assert np.count_nonzero((found.beta > dual.lower) & (found.beta < dual.upper)) > svm.CROWD
    monkeypatch.setattr(svm, "CROWD", inf)
    other = solve(K, dual, tol=1e-9, max_iter=-1)
    assert found.run.converged and other.run.converged
    np.testing.assert_allclose(found.beta, other.beta, atol=1e-9)


def test_boxes_of_very_different_widths_keep_the_sum():
    X, y = np.array([[0.0], [100.0], [200.0]]), np.array([1.0, -1.0, -1.0])
    found = solve(LinearGram(X), c_dual(y, np.array([1e6, 1e-4, 1.0])), 1e-6, -1)
    np.testing.assert_allclose(found.beta, [1e-4, -1e-4, 0.0], rtol=1e-9, atol=1e-12)
    assert found.certificate.dual == pytest.approx(1.5e-4) and found.run.converged


@pytest.mark.parametrize("form", [LinearGram, lambda X: X @ X.T])
def test_a_box_of_no_width_is_a_sample_left_out(form):
    X, y = np.array([[0.0], [100.0], [200.0]]), np.array([1.0, -1.0, -1.0])
    found = solve(form(X), c_dual(y, np.array([1.0, 1.0, 0.0])), 1e-6, -1)
    np.testing.assert_allclose(found.beta, [2e-4, -2e-4, 0.0], atol=1e-9)
    nothing = solve(form(X), c_dual(y, 0.0), 1e-6, -1)
    assert nothing.run.converged and not nothing.beta.any()
    assert nothing.certificate[:4] == (0.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(offsets(y, c_dual(y, 0.0), np.zeros(3)), [0.0])
    assert len(svm.in_play(y, c_dual(y, 0.0), np.zeros(3))) == 0


@pytest.mark.parametrize("far", [0.0, 1e5])
def test_separable_classes_are_told_from_others_wherever_the_origin_is(rng, far):
    X, y = separable(rng, (20, 20), gap=0.3)
    K = (X + far) @ (X + far).T
    found = solve(K, c_dual(y), 1e-3, -1)
    assert found.run.converged
    best = hard_margin(X, y).objective
    assert found.certificate.dual == pytest.approx(best, rel=1e-4)


def test_slack_that_is_dear_is_no_proof_that_nothing_separates(rng):
    X, y = overlapping(rng, (30, 30), shift=0.5)
    squared = solve(X @ X.T + np.eye(60) / 1e8, c_dual(y), 1e-3, -1)
    assert squared.run.converged  # K + I / C always has a hard margin
    C = np.full(60, 1e4)
    C[0] = inf
    mixed, dual = X @ X.T, c_dual(y, C)
    found = solve(mixed, dual, 1e-3, -1)
    assert found.run.converged
    finite = solve(mixed, c_dual(y, np.where(C == inf, 1e7, C)), 1e-3, -1)
    assert found.certificate.dual == pytest.approx(finite.certificate.dual, rel=1e-9)
    alone = solve(mixed, c_dual(y), 1e-3, -1)
    assert not alone.run.converged and alone.run.n_iter < 1000


@pytest.mark.parametrize("scale", [1e-200, 1e-50, 1e-20, 1e20, 1e200])
def test_no_unit_of_the_kernel_is_too_small(rng, scale):
    """alpha is 1 / scale times what it was."""
    X, y = separable(rng, (20, 20), gap=0.3)
    unit, other = X @ X.T, scale * (X @ X.T)
    near, far = solve(unit, c_dual(y), 1e-3, -1), solve(other, c_dual(y), 1e-3, -1)
    assert far.run.converged and far.run.n_iter < 2 * near.run.n_iter
    assert far.certificate.dual * scale == pytest.approx(near.certificate.dual, rel=1e-3)
    X, y = overlapping(rng, (30, 30), shift=0.5)
    near, far = (solve(s * (X @ X.T), c_dual(y, 1 / s), 1e-3, -1) for s in (1.0, scale))
    assert far.run.converged
    assert far.certificate.dual * scale == pytest.approx(near.certificate.dual, rel=1e-3)


@pytest.mark.parametrize("kind", [int, np.float32])
def test_states_are_in_double_precision_whatever_the_matrix(rng, kind):
    K, y = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 4]]), np.array([1.0, -1.0, -1.0])
    dual = c_dual(y, 0.3)
    for state in smo(K.astype(kind), dual):
        assert state.gradient.dtype == state.beta.dtype == float
        np.testing.assert_allclose(state.gradient, dual.p - K @ state.beta, atol=1e-15)
    whole = dual._replace(lower=-9 * np.ones(3), upper=9 * np.ones(3), start=np.array([1, -1, 0]))
    end = solve(K.astype(kind), whole, 1e-9, -1)
    assert not np.allclose(end.beta, end.beta.round()) and end.run.converged


def test_far_entries_are_projected_onto_the_sum_too():
    x = np.array([1e20, 1e20])
    np.testing.assert_allclose(project_onto_sum(x, np.zeros(2), np.ones(2), total=1.0), [0.5, 0.5])
    small = 1e-26 * np.array([1.0, 2.0, -3.0, 4.0])
    near = project_onto_sum(small, np.full(4, -1e-5), np.full(4, 1e-5), total=0.0)
    assert abs(near.sum()) <= 1e-15 * np.abs(near).sum()
    np.testing.assert_allclose(near, small - small.mean(), rtol=1e-6)


def test_chunks_of_a_factored_matrix_are_those_of_the_array(rng):
    X, y = overlapping(rng, (10, 10), shift=0.5)
    for form in (LinearGram, lambda X: KernelRows(X, {"kernel": "linear"}, capacity=5)):
        runs = [
            list(islice(chunking(K, c_dual(y, 1.0), 6, rng=np.random.default_rng(1)), 8))
            for K in (X @ X.T, form(X))
        ]
        for state, other in zip(*runs, strict=True):
            assert state.pair == other.pair
            np.testing.assert_allclose(state.beta, other.beta, atol=1e-7)
            np.testing.assert_allclose(state.gradient, other.gradient, atol=1e-6)


@pytest.mark.parametrize("C", [1e-9, 1e-3, 1.0, 1e3])
def test_the_path_ends_near_the_optimum_whatever_slack_costs(C):
    rng = np.random.default_rng(3)
    found = solve(LinearGram(rng.normal(size=(600, 3))), c_dual(rng.choice([-1.0, 1.0], 600), C),
                  1e-3, -1)  # fmt: skip
    assert found.run.converged and found.run.n_iter < 60


def test_a_settlement_leaves_multipliers_of_no_width_alone(rng):
    X, y = overlapping(rng, (30, 30), shift=0.5)
    K, C = gram(X, **KERNELS["rbf"]), np.ones(60)
    C[::3] = 0.0
    dual = c_dual(y, C)
    state = next(islice(smo(K, dual), 25, None))
    found = svm.settle(K, dual, state, 1e-9)
    assert found.violation <= 1e-9 and not found.beta[::3].any()


def test_rows_of_whole_numbers_have_their_ridge():
    K = LinearGram(np.array([[1], [2]]), 0.5)
    np.testing.assert_array_equal(K[0], [1.5, 2.0])
    np.testing.assert_array_equal(K[np.array([1])], [[2.0, 4.5]])


# ---------------------------------------------------------------------------------------
# What the solver promises
# ---------------------------------------------------------------------------------------


def ugly():
    """name, K, dual, tol: what is likely to go wrong."""
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, (10, 10), shift=0.3)
    rbf = gram(X, **KERNELS["rbf"])
    twice = np.repeat(X[[0, 0, 1, 12, 12, 13]], 2, axis=0)
    labels = np.array([1.0, 1, 1, -1, 1, -1, 1, -1, 1, -1, -1, -1])
    indefinite = gram(X, **INDEFINITE)
    assert np.linalg.eigvalsh(indefinite)[0] < -0.1
    hopeless = np.diag([1.0, -2.0, 3.0, -4.0])
    yield "duplicates of both classes", twice @ twice.T, c_dual(labels, 2.0), 1e-6
    yield "one place", np.ones((4, 4)), c_dual(np.array([1.0, 1, -1, -1]), 0.5), 1e-6
    yield "one place, nu", np.ones((4, 4)), nu_dual(np.array([1.0, 1, -1, -1]), 0.5), 1e-6
    yield "nothing", np.zeros((4, 4)), c_dual(np.array([1.0, -1, -1, -1]), 3.0), 1e-6
    yield "two samples", X[[0, 10]] @ X[[0, 10]].T, c_dual(np.array([1.0, -1.0])), 1e-9
    yield "one of a class", rbf[9:, 9:], c_dual(y[9:], 1.0), 1e-6
    yield "one of a class, nu", rbf[9:, 9:], nu_dual(y[9:], 0.1), 1e-7
    yield "nu at its limit", rbf, nu_dual(y, 1.0), 1e-6
    yield "rho = 0", X @ X.T, nu_dual(y, 0.1), 1e-7
    yield "C of 1e-12", rbf, c_dual(y, 1e-12), 1e-6
    yield "C of 1e8", rbf, c_dual(y, 1e8), 1e-3
    yield "C of 1e8, linear", X @ X.T, c_dual(y, 1e8), 1e-3
    yield "C of 0 for some", rbf, c_dual(y, np.arange(20.0) // 5), 1e-6
    yield "large entries", 1e12 * X @ X.T, c_dual(y, 1.0), 1e-3
    yield "small entries", 1e-12 * X @ X.T, c_dual(y, 1.0), 1e-6
    yield "indefinite", indefinite, c_dual(y, 5.0), 1e-6
    yield "indefinite, nu", indefinite, nu_dual(y, 0.6), 1e-6
    yield "indefinite, C = inf", indefinite, c_dual(y), 1e-3
    yield "no kernel at all", hopeless, c_dual(np.array([1.0, 1, -1, -1]), 1.0), 1e-6
    yield "C = inf, not separable", X @ X.T, c_dual(y), 1e-3
    yield "C = inf, XOR", XOR[0] @ XOR[0].T, c_dual(XOR[1]), 1e-3
    yield "unreachable", rbf, c_dual(y, 1.0), 1e-300
    yield "unreachable, nu", rbf, nu_dual(y, 0.5), 1e-300


UGLY = {name: problem for name, *problem in ugly()}


@pytest.mark.parametrize("name", UGLY)
def test_it_meets_its_tolerance_or_says_that_it_did_not(name):
    K, dual, tol = UGLY[name]
    solved = solve(K, dual, tol, 3000)
    assert_honest(K, dual, solved, tol)
    assert solved.run.n_iter <= 3000 and len(solved.run.history) == solved.run.n_iter + 1
    assert solved.run.state.beta is solved.beta
    assert solved.run.history[-1] == solved.run.state.objective  # computed afresh
    assert solved.run.state.violation == solved.certificate.violation
    if name in {"C = inf, not separable", "C = inf, XOR", "indefinite, C = inf"}:
        assert not solved.run.converged
    elif name not in {"unreachable", "unreachable, nu"}:
        assert solved.run.converged
    cut = solve(K, dual, tol, 1)
    assert_honest(K, dual, cut, tol)
    assert cut.run.n_iter <= 1


@pytest.mark.parametrize("C", [1e2, 1e6, 1e10])
def test_a_huge_c_takes_no_more_steps(rng, C):
    """Pairs move multipliers by steps of size 1; free steps carry them as far as C."""
    X, y = overlapping(rng, (10, 10), shift=0.2)
    K, dual = X @ X.T, c_dual(y, C)
    solved = solve(K, dual, 1e-3, 2000)
    assert solved.run.converged
    assert solved.certificate.dual == pytest.approx(solve_dual(K, dual).objective, rel=1e-4)


def test_it_knows_soon_that_nothing_separates():
    X, y = XOR
    began = perf_counter()
    solved = solve(X @ X.T, c_dual(y), 1e-3, -1)
    assert perf_counter() - began < 0.5
    assert not solved.run.converged and solved.run.n_iter < 1000
    with pytest.raises(UnboundedError):
        solve_dual(X @ X.T, c_dual(y))


def test_the_certificate_is_not_the_running_gradient(monkeypatch, rng):
    """Of states that claim to be optimal the certificate says what they are."""
    X, y = overlapping(rng)
    K, dual = X @ X.T, c_dual(y, 1.0)
    real = svm.smo_with_free_steps

    def liars(K, dual, start):
        yield next(smo(K, dual, start=start))._replace(gradient=np.zeros(len(y)), violation=0.0)

    monkeypatch.setattr(svm, "smo_with_free_steps", liars)
    solved = solve(K, dual, 1e-3, -1)
    assert not solved.run.converged and solved.run.state.violation == 2.0
    assert solved.certificate.violation == 2.0 and solved.certificate.gap == len(y)
    calls = itertools.count()

    def lie_once(K, dual, start):
        first = smo(K, dual, start=start)
        yield next(first)
        lie = next(first)._replace(violation=0.0)
        if next(calls):
            yield from real(K, dual, start)
        yield lie

    monkeypatch.setattr(svm, "smo_with_free_steps", lie_once)
    solved = solve(K, dual, 1e-6, -1)  # it goes on from where the lie was found out
    assert solved.run.converged
    assert_honest(K, dual, solved, 1e-6)
    assert (np.diff(solved.run.history) >= -1e-9).all()
    assert len(solved.run.history) == solved.run.n_iter + 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_certificate_bounds_the_optimum_from_both_sides(rng, kernel):
    """Of any feasible beta, by the losses as they are written."""
    X, y = overlapping(rng, (9, 7))
    K, C, nu = gram(X, **KERNELS[kernel]), 0.7, 0.6
    best = solve_dual(K, c_dual(y, C)).objective
    best_nu = solve_dual(K, nu_dual(y, nu)).objective
    for _ in range(20):
        alpha = balanced(rng, y)
        beta = C * alpha / alpha.max() * y
        found = certify(K, c_dual(y, C), beta)
        b, quadratic = found.offsets[0], beta @ K @ beta / 2
        primal = quadratic + C * sum(max(0.0, 1 - y[i] * (K[i] @ beta + b)) for i in range(16))
        assert found.primal == pytest.approx(primal) and found.gap == pytest.approx(
            primal - found.dual, abs=1e-12
        )
        assert found.dual == pytest.approx(np.abs(beta).sum() - quadratic)
        assert found.dual <= best + 1e-9 <= primal + 2e-9
        assert found.violation == pytest.approx(max(0, worst_pair(K, c_dual(y, C), beta)))
        dual = nu_dual(y, nu)
        share = balanced(rng, y)
        beta = np.where(
            y > 0, nu / 2 * share / share[y > 0].sum(), -nu / 2 * share / share[y < 0].sum()
        )
        if (beta > dual.upper).any() or (beta < dual.lower).any():
            continue
        found = certify(K, dual, beta)
        rho, b = np.diff(found.offsets)[0] / 2, found.offsets.mean()
        losses = np.maximum(0, rho - y * (K @ beta + b))
        primal = beta @ K @ beta / 2 - nu * rho + losses.mean()
        assert found.primal == pytest.approx(primal, abs=1e-12)
        assert found.dual <= best_nu + 1e-9 <= primal + 2e-9


def test_fill_and_the_start_of_nu(rng):
    np.testing.assert_array_equal(fill(np.array([1.0, 2.0, 3.0]), 4.0), [1, 2, 1])
    for _ in range(20):
        most = rng.uniform(0, 1, size=6)
        total = rng.uniform(0, most.sum())
        found = fill(most, total)
        assert found.sum() == pytest.approx(total) and (found <= most).all() and (found >= 0).all()
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    weights = np.array([2.0, 1.0, 1.0, 3.0, 1.0])
    dual = nu_dual(y, 0.9, weights)
    np.testing.assert_allclose(dual.upper - dual.lower, weights / 8)
    assert dual.start[:3].sum() == pytest.approx(0.45) == -dual.start[3:].sum()
    assert dual.groups == (slice(0, 3), slice(3, 5))


# ---------------------------------------------------------------------------------------
# Rows in a cache
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 0.25])
@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid"])
def test_cached_rows_are_the_array(rng, kernel, ridge):
    X, how = rng.normal(size=(9, 3)), (KERNELS | {"sigmoid": INDEFINITE})[kernel]
    K = gram(X, **how) + ridge * np.eye(9)
    rows = KernelRows(X, how, capacity=2, ridge=ridge)
    for i in (3, 0, 3, 8, 1, 0):
        np.testing.assert_allclose(rows[i], K[i], atol=1e-13)
        assert len(rows.rows) <= 2
    chosen = np.array([4, 4, 7, 2])
    np.testing.assert_allclose(rows[chosen], K[chosen], atol=1e-13)
    assert rows[np.array([], dtype=int)].shape == (0, 9)
    np.testing.assert_allclose(rows.diagonal(), K.diagonal(), atol=1e-13)
    for beta in (rng.normal(size=9), np.eye(9)[5], np.zeros(9)):
        np.testing.assert_allclose(rows @ beta, K @ beta, atol=1e-12)


def test_the_row_unused_for_longest_goes_first(monkeypatch, rng):
    computed = []

    def counting(Z, X, **how):
        computed.append(len(Z))
        return gram(Z, X, **how)

    monkeypatch.setattr(svm, "gram", counting)
    K = KernelRows(rng.normal(size=(5, 2)), {"kernel": "linear"}, capacity=2)
    computed.clear()  # what the diagonal took
    for i, count in [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4), (0, 4), (2, 5)]:
        K[i]
        assert len(computed) == count, i  # 0 is never evicted, being used in between
    assert set(K.rows) == {0, 2}
    assert KernelRows(np.eye(3), {"kernel": "linear"}, capacity=0).capacity == 2


def test_a_kernel_matrix_is_whole_if_there_is_room(rng):
    X, how = rng.normal(size=(40, 3)), KERNELS["rbf"]
    size = 8 * 40 * 40 / svm.MEBIBYTE
    whole = kernel_matrix(X, how, size, ridge=0.1)
    np.testing.assert_allclose(whole, gram(X, **how) + 0.1 * np.eye(40), atol=1e-14)
    rows = kernel_matrix(X, how, size * 0.5, ridge=0.1)
    assert isinstance(rows, KernelRows) and rows.capacity == 20
    np.testing.assert_allclose(rows[7], whole[7], atol=1e-14)
    message = "K must be finite; k(x, z) overflows: scale the features of X"
    for megabytes in (1, 1e-6):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            kernel_matrix(1e200 * X, {"kernel": "linear"}, megabytes)


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC])
def test_a_small_cache_gives_the_same_machine(rng, kind):
    X, y = overlapping(rng, (20, 25))
    large, small = (kind(tol=1e-7, cache_size=size).fit(X, y) for size in (800, 1e-6))
    assert small.certificates_[0].dual == pytest.approx(large.certificates_[0].dual, rel=1e-9)
    np.testing.assert_allclose(small.decision_function(X), large.decision_function(X), atol=1e-5)
    assert large.converged_ and small.converged_
    Z = np.repeat(X, 3, axis=0)
    whole = kernel_score(Z, X, y, KERNELS["rbf"])
    np.testing.assert_allclose(whole, gram(Z, X, **KERNELS["rbf"]) @ y, atol=1e-12)


def test_scores_are_computed_in_blocks(monkeypatch, rng):
    X, Z, beta = rng.normal(size=(7, 2)), rng.normal(size=(11, 2)), rng.normal(size=(7, 3))
    whole = kernel_score(Z, X, beta, KERNELS["rbf"])
    seen = []

    def counting(Z, X, **how):
        seen.append(len(Z))
        return gram(Z, X, **how)

    monkeypatch.setattr(svm, "BLOCK", 21)
    monkeypatch.setattr(svm, "gram", counting)
    np.testing.assert_allclose(kernel_score(Z, X, beta, KERNELS["rbf"]), whole, atol=1e-14)
    assert seen == [3, 3, 3, 2] and whole.shape == (11, 3)


# ---------------------------------------------------------------------------------------
# Leaving one out of a hard margin
# ---------------------------------------------------------------------------------------


def through_the_origin(X, y):
    """w and alpha of the hard margin without b."""
    n, d = X.shape
    qp = solve_qp(np.eye(d), np.zeros(d), G=y[:, None] * X, h=np.ones(n))
    return qp.x, qp.lam


def left_out_errors(X, y, machine):
    """The i that the machine of the other samples gets wrong."""
    wrong = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        if not y[i] * machine(X[rest], y[rest])(X[i]) > 0:
            wrong.append(i)
    return wrong


def with_offset(X, y):
    found = hard_margin(X, y)
    return lambda x: found.w @ x + found.b


def without_offset(X, y):
    w, _ = through_the_origin(X, y)
    return lambda x: w @ x


@pytest.mark.claims("svm-72")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_leave_one_out_errors_are_at_most_the_support_vectors_and_the_dimension(d):
    total = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = separable(rng, (5, 4), d, gap=0.01)
        alpha = hard_margin(X, y).alpha
        S = np.flatnonzero(alpha > 1e-7 * alpha.max())
        wrong = left_out_errors(X, y, with_offset)
        assert set(wrong) <= set(S) and len(wrong) <= len(S) <= d + 1
        total += len(wrong)
    assert total > 0


@pytest.mark.claims("svm-72")
@pytest.mark.parametrize("d", [2, 3, 6])
def test_leave_one_out_errors_through_the_origin_are_bounded_by_radius_and_width(d):
    total = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(10, d))
        y = np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0)
        w, alpha = through_the_origin(X, y)
        S = np.flatnonzero(alpha > 1e-7 * alpha.max())
        wrong = left_out_errors(X, y, without_offset)
        squares = np.sum(X**2, axis=1)
        assert set(wrong) <= set(S) and len(S) <= d
        assert (alpha[wrong] * squares[wrong] >= 1 - 1e-7).all()
        assert alpha.sum() == pytest.approx(w @ w, rel=1e-6)
        assert len(wrong) <= min(len(S), squares.max() * (w @ w) + 1e-9, d)
        total += len(wrong)
    assert total > 0


@pytest.mark.claims("svm-73")
def test_the_bound_is_on_the_machine_of_one_sample_less_and_in_the_mean():
    """All draws of n from a population of 5 on a line, with their probabilities."""
    population, n = np.array([-100.0, -3.0, -2.0, -1.0, 3.0]), 5
    labels = np.sign(population)

    @cache
    def machine(distinct):
        """The threshold and the support vectors; of one class alone, always that class."""
        x, y = population[list(distinct)], labels[list(distinct)]
        if abs(y.sum()) == len(y):
            return -inf * y[0], ()
        left, right = x[y < 0].max(), x[y > 0].min()
        if len(distinct) <= 3:  # as the program has it
            found = hard_margin(x[:, None], y)
            assert -found.b / found.w[0] == pytest.approx((left + right) / 2, abs=1e-6)
        return (left + right) / 2, (left, right)

    def wrong(distinct, k):
        return bool(labels[k] * (population[k] - machine(distinct)[0]) <= 0)

    left_out, next_one, bound, own, beyond = [], [], [], [], 0
    for draw in itertools.product(range(5), repeat=n):
        rests = [tuple(sorted(set(draw[:i] + draw[i + 1 :]))) for i in range(n)]
        left_out.append(np.mean([wrong(rests[i], draw[i]) for i in range(n)]))
        next_one.append(wrong(rests[-1], draw[-1]))
        distinct = tuple(sorted(set(draw)))
        s = len(machine(distinct)[1])
        bound.append(min(s, 2) / n)
        assert left_out[-1] <= bound[-1]
        own.append(np.mean([wrong(distinct, k) for k in range(5)]))
        beyond += s > 0 and own[-1] > min(s, 2) / n
    assert np.mean(left_out) == pytest.approx(np.mean(next_one), abs=1e-12)
    assert np.mean(next_one) <= np.mean(bound)
    assert beyond > 0  # s / n of a draw does not bound the error of the machine it makes


@pytest.mark.claims("svm-74")
@pytest.mark.parametrize("n", [6, 8, 10])
def test_on_a_line_more_than_one_sample_in_n_errs(n):
    """x_k = +-10^k: m / n = 1 / n, as printed, is below the mean error."""

    def threshold(x):
        return (x[x > 0].min() + x[x < 0].max()) / 2

    few = np.array([10.0, -100.0, 1000.0])
    found = hard_margin(few[:, None], np.sign(few))
    assert -found.b / found.w[0] == pytest.approx(threshold(few), rel=1e-7)
    counts = []
    for signs in itertools.product((-1.0, 1.0), repeat=n):
        x = np.array(signs) * 10.0 ** np.arange(1, n + 1)
        if min((x > 0).sum(), (x < 0).sum()) < 2:
            continue
        errors = sum(x[i] * np.sign(x[i] - threshold(np.delete(x, i))) <= 0 for i in range(n))
        assert errors == 1 + (signs[0] != signs[1])
        counts.append(errors)
    printed, right = 1, 2  # m and m + 1
    assert np.mean(counts) > 1.5 * printed and max(counts) <= right
    assert np.mean(counts) == pytest.approx({6: 1.56, 8: 1.52, 10: 1.51}[n], abs=0.005)


# ---------------------------------------------------------------------------------------
# The nu machine
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-75")
@pytest.mark.parametrize("n", [(10, 10), (5, 14)])
def test_the_nu_machine_has_no_gap_and_a_value_of_at_most_0(rng, n):
    X, y = overlapping(rng, n, shift=0.8)
    limit = 2 * min(n) / sum(n)
    for nu in np.append(np.linspace(0.1, 0.95, 4), 1.0) * limit:
        machine = nu_margin(X, y, nu)
        dual = solve_dual(X @ X.T, nu_dual(y, nu))
        assert dual.objective == pytest.approx(machine.objective, abs=1e-8)
        assert machine.objective <= 1e-9 and machine.rho >= -1e-9
        primal = machine.w @ machine.w / 2 - nu * machine.rho + machine.xi.mean()
        assert machine.objective == pytest.approx(primal, abs=1e-9)
        slack = np.maximum(0, machine.rho - y * (X @ machine.w + machine.b))
        np.testing.assert_allclose(machine.xi, slack, atol=1e-7)
        assert machine.alpha.sum() == pytest.approx(nu, abs=1e-8)
        value = -(machine.alpha * y) @ (X @ X.T) @ (machine.alpha * y) / 2
        assert value == pytest.approx(machine.objective, abs=1e-8)


@pytest.mark.claims("svm-75")
def test_nu_beyond_twice_the_smaller_class_has_no_machine(rng):
    X, y = overlapping(rng, (4, 12))
    limit = 0.5
    assert np.isfinite(nu_margin(X, y, limit).objective)
    assert np.isfinite(nu_margin(X, y, limit - 1e-6).objective)
    message = (
        "nu must be <= 2 min(n_+, n_-) / n = 0.5 here: the specified nu is infeasible; got 0.500001"
    )
    for refusing in (lambda nu: nu_margin(X, y, nu), lambda nu: nu_dual(y, nu)):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            refusing(0.500001)
    for nu, slope in ((0.6, -0.1), (0.4, 0.1)):  # along b = -t, rho = t, xi_+ = 2 t
        values = []
        for t in (1.0, 10.0, 100.0):
            b, rho, xi = -t, t, np.where(y > 0, 2 * t, 0.0)
            assert (y * b >= rho - xi - 1e-12).all()
            values.append(-nu * rho + xi.mean())
        np.testing.assert_allclose(values, slope * np.array([1, 10, 100]), atol=1e-12)


def nu_lagrangian(X, y, nu, theta, alpha, r, printed=False):
    """L at theta = (w, b, xi, rho); as printed, b is outside the bracket of y_i."""
    n, d = X.shape
    w, b, xi, rho = theta[:d], theta[d], theta[d + 1 : d + 1 + n], theta[-1]
    total = w @ w / 2 - nu * rho + sum(xi) / n - r @ xi
    for i in range(n):
        score = y[i] * (w @ X[i]) - b if printed else y[i] * (w @ X[i] + b)
        total += alpha[i] * (rho - xi[i] - score)
    return total


@pytest.mark.claims("svm-76")
def test_the_conditions_of_the_nu_machine(rng):
    X, y = overlapping(rng, (9, 8), shift=0.7)
    nu, n = 0.5, 17
    alpha, r, theta = rng.uniform(size=n), rng.uniform(size=n), rng.normal(size=2 + 1 + n + 1)

    def slope(theta):
        return np.concatenate(
            [theta[:2] - (alpha * y) @ X, [-alpha @ y], 1 / n - alpha - r, [alpha.sum() - nu]]
        )

    check_gradient(lambda t: nu_lagrangian(X, y, nu, t, alpha, r), slope, theta, atol=1e-7)
    machine = nu_margin(X, y, nu)
    alpha, f = machine.alpha, X @ machine.w + machine.b
    r = 1 / n - alpha
    theta = np.concatenate([machine.w, [machine.b], machine.xi, [machine.rho]])
    assert np.abs(slope(theta)).max() < 1e-7
    assert machine.rho > 0.1 and alpha.min() > -1e-12 and r.min() > -1e-9
    above = machine.rho - machine.xi - y * f
    assert above.max() < 1e-7 and machine.xi.min() > -1e-9
    assert np.abs(alpha * above).max() < 1e-7 and np.abs(r * machine.xi).max() < 1e-7
    assert (machine.xi > 1e-3).any() and ((alpha > 1e-4) & (r > 1e-4)).any()


@pytest.mark.claims("svm-77")
@pytest.mark.parametrize("n", [(20, 20), (12, 25)])
def test_nu_is_between_margin_errors_and_support_vectors(rng, n):
    X, y = overlapping(rng, n, shift=0.7)
    total = sum(n)
    for nu in np.linspace(0.65, 1.0, 6) * 2 * min(n) / total:
        machine = nu_margin(X, y, nu)
        assert machine.rho > 1e-3
        errors = y * (X @ machine.w + machine.b) < machine.rho - 1e-7
        vectors = machine.alpha > 1e-9
        assert errors.mean() <= nu + 1e-9 and nu <= vectors.mean() + 1e-9
        np.testing.assert_allclose(machine.alpha[errors], 1 / total, atol=1e-8)
        inner = machine.alpha[vectors & ~errors]
        assert errors.mean() + inner.sum() == pytest.approx(nu, abs=1e-7)
    reached = {nu: NuSVC(nu=nu, kernel="linear", tol=1e-6).fit(X, y) for nu in (0.3, 0.5, 0.6)}
    assert all(len(model.support_) / total >= nu for nu, model in reached.items())
    # of C the share is no simple function: the same C, another scale of the features
    shares = [len(SVC(C=0.1, kernel="linear").fit(s * X, y).support_) / total for s in (0.01, 10)]
    assert shares[0] > shares[1] + 0.2
    scaled = [len(NuSVC(nu=0.5, kernel="linear", tol=1e-7).fit(s * X, y).support_) for s in (1, 10)]
    assert abs(scaled[0] - scaled[1]) <= 1


@pytest.mark.claims("svm-78")
@pytest.mark.parametrize("nu", [0.35, 0.5, 0.7])
def test_divided_by_rho_the_nu_machine_is_the_soft_margin(rng, nu):
    X, y = overlapping(rng, (14, 12), shift=0.8)
    n, machine = len(y), nu_margin(X, y, nu)
    rho = machine.rho
    assert rho > 0.05
    C = 1 / (rho * n)
    soft = soft_margin(X, y, C)
    np.testing.assert_allclose(machine.w / rho, soft.w, atol=1e-6)
    assert machine.b / rho == pytest.approx(soft.b, abs=1e-6)
    np.testing.assert_allclose(machine.xi / rho, soft.xi, atol=1e-6)
    np.testing.assert_allclose(machine.alpha / rho, soft.alpha, atol=1e-6)
    divided = kkt_residuals(
        X, y, machine.w / rho, machine.b / rho, machine.xi / rho, machine.alpha / rho, C
    )
    assert max(divided) < 1e-6
    np.testing.assert_array_equal(X @ machine.w + machine.b > 0, X @ soft.w + soft.b > 0)


@pytest.mark.claims("svm-79")
def test_the_printed_c_of_the_nu_machine_is_wrong_and_so_is_the_same_solution(rng):
    X, y = overlapping(rng, (14, 12), shift=0.8)
    n, machine = len(y), nu_margin(X, y, 0.5)
    rho, f = machine.rho, X @ machine.w + machine.b
    printed, right = n / rho, 1 / (rho * n)
    scaled = machine.w / rho, machine.b / rho, machine.xi / rho, machine.alpha / rho
    assert max(kkt_residuals(X, y, *scaled, right)) < 1e-6
    assert kkt_residuals(X, y, *scaled, printed).at_the_bound > 1
    error = machine.xi.argmax()
    assert (printed - machine.alpha[error] / rho) * machine.xi[error] / rho > 1
    assert np.abs(soft_margin(X, y, printed).w - machine.w / rho).max() > 1e-2
    # the same classifier, and other numbers
    free = (machine.alpha > 1e-6) & (machine.alpha < 1 / n - 1e-6)
    np.testing.assert_allclose((y * f)[free], rho, atol=1e-7)
    assert abs(rho - 1) > 0.1
    undivided = kkt_residuals(X, y, machine.w, machine.b, machine.xi, machine.alpha, right)
    assert undivided.on_the_margin > 1e-3


@pytest.mark.claims("svm-80")
def test_b_belongs_into_the_bracket(rng):
    X, y = overlapping(rng, (9, 8), shift=0.7)
    nu, n = 0.5, 17
    machine = nu_margin(X, y, nu)
    theta = np.concatenate([machine.w, [machine.b], machine.xi, [machine.rho]])
    r = 1 / n - machine.alpha
    for printed, slope in ((False, 0.0), (True, nu)):

        def along_b(b, printed=printed):
            moved = theta.copy()
            moved[2] = b[0]
            return nu_lagrangian(X, y, nu, moved, machine.alpha, r, printed)

        assert differences(along_b, [machine.b])[0] == pytest.approx(slope, abs=1e-8)
        far = [along_b([b]) for b in (-1e3, -1e6)]
        assert (far[1] < far[0] - 1e5) == printed  # unbounded below
    at_solution = nu_lagrangian(X, y, nu, theta, machine.alpha, r)
    assert at_solution == pytest.approx(machine.objective, abs=1e-8)


# ---------------------------------------------------------------------------------------
# SVC
# ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    T = load_iris()
    return T.X, np.array(T.class_names)[T.y] if T.y.dtype.kind == "i" else T.y


def test_of_two_classes_the_second_is_positive():
    model = SVC(kernel="linear", C=10.0).fit([[1.0], [3.0], [9.0]], ["low", "high", "high"])
    assert list(model.classes_) == ["high", "low"]  # sorted
    np.testing.assert_array_equal(model.support_, [1, 0])
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, 0.5]])
    np.testing.assert_allclose(model.coef_, [[-1.0]])
    np.testing.assert_allclose(model.intercept_, [2.0])
    np.testing.assert_allclose(model.decision_function([[0.0], [4.0]]), [2.0, -2.0])
    assert list(model.predict([[0.0], [4.0]])) == ["low", "high"]
    assert list(model.predict([[2.0]])) == ["high"]  # f = 0 is the first class
    np.testing.assert_array_equal(model.n_support_, [1, 1])


@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid"])
def test_the_estimator_is_the_machine_of_its_certificate(rng, kernel):
    how = (KERNELS | {"sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.2}})[kernel]
    X, y = overlapping(rng, (15, 20))
    order = rng.permutation(35)
    X, y = X[order], y[order]
    model = SVC(C=0.6, tol=1e-6, **how).fit(X, y)
    K = gram(X, **how)
    beta = np.zeros(35)
    beta[model.support_] = model.dual_coef_[0]
    b = model.intercept_[0]
    assert abs(beta.sum()) < 1e-12 and (y * beta >= 0).all() and (y * beta <= 0.6).all()
    np.testing.assert_allclose(model.decision_function(X), K @ beta + b, atol=1e-10)
    primal = beta @ K @ beta / 2 + 0.6 * hinge(K @ beta + b, y).sum()
    dual = np.abs(beta).sum() - beta @ K @ beta / 2
    (certificate,) = model.certificates_
    assert certificate.primal == pytest.approx(primal, rel=1e-10)
    assert certificate.dual == pytest.approx(dual, rel=1e-10)
    assert 0 <= certificate.gap + 1e-12 and certificate.gap <= 1e-6 * 35 * 0.6
    assert model.history_[0][-1] == pytest.approx(dual) and len(model.history_) == 1
    assert model.n_iter_ == len(model.history_[0]) - 1 and model.converged_
    if kernel == "linear":
        machine = soft_margin(X, y, 0.6)
        np.testing.assert_allclose(model.coef_[0], machine.w, atol=1e-5)
        assert b == pytest.approx(machine.b, abs=1e-5)
    else:
        message = "coef_ must have kernel='linear'; other kernels have no such w"
        with pytest.raises(AttributeError, match=f"^{re.escape(message)}$"):
            _ = model.coef_


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC])
def test_several_classes_are_pairs_that_vote(iris, kind):
    X, y = iris
    _, order = np.unique(X, axis=0, return_index=True)  # equal samples may share a beta at will
    n, order = len(order), np.random.default_rng(0).permutation(order)
    X, y = X[order], y[order]
    names = np.unique(y)
    model = kind(gamma=0.2, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(model.classes_, names)
    F = model.set_params(decision_function_shape="ovo").decision_function(X)
    votes, total = np.zeros((n, 3)), np.zeros((n, 3))
    machines = {}
    for pair, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        own = (y == names[a]) | (y == names[b])
        alone = kind(gamma=0.2, tol=1e-10).fit(X[own], y[own])
        f = -alone.decision_function(X)  # positive for the first
        np.testing.assert_allclose(F[:, pair], f, atol=1e-9)
        assert model.intercept_[pair] == pytest.approx(-alone.intercept_[0], abs=1e-12)
        machines[a, b] = dict(
            zip(np.flatnonzero(own)[alone.support_], -alone.dual_coef_[0], strict=True)
        )
        for i in range(n):
            votes[i, a if f[i] >= 0 else b] += 1
            total[i, a] += f[i]
            total[i, b] -= f[i]
    assert F.shape == (n, 3) and len(model.certificates_) == 3
    model.set_params(decision_function_shape="ovr")
    G = model.decision_function(X)
    np.testing.assert_allclose(G, votes + total / (3 * (np.abs(total) + 1)), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), names[votes.argmax(axis=1)])
    # support_ by class, then place; dual_coef_ row by row the machines against the others
    k = np.searchsorted(names, y)
    assert list(model.support_) == sorted(model.support_, key=lambda i: (k[i], i))
    assert set(model.support_) == set().union(*machines.values())
    np.testing.assert_array_equal(model.n_support_, np.bincount(k[model.support_], minlength=3))
    for s, i in enumerate(model.support_):
        against = [c for c in range(3) if c != k[i]]
        for row, other in enumerate(against):
            pair = min(k[i], other), max(k[i], other)
            expected = machines[pair].get(i, 0.0)
            assert model.dual_coef_[row, s] == pytest.approx(expected, abs=1e-8)


def test_the_layout_of_the_samples_is_no_matter(iris):
    """Columns or rows in a line: the same steps, to the last digit."""
    X, y = iris
    rows, columns = (SVC().fit(order(X), y) for order in (np.ascontiguousarray, np.asfortranarray))
    np.testing.assert_array_equal(rows.dual_coef_, columns.dual_coef_)
    assert rows.n_iter_ == columns.n_iter_


def test_a_tie_of_votes_goes_to_the_first_class():
    """Three classes on a circle: its centre has a vote for each."""
    turn = 2 * np.pi * np.arange(3) / 3
    X = np.column_stack([np.cos(turn), np.sin(turn)])
    X = np.vstack([X, 1.1 * X])
    model = SVC(kernel="linear", C=100.0).fit(X, [0, 1, 2] * 2)
    F = model.set_params(decision_function_shape="ovo").decision_function([[0.01, 0.0]])[0]
    votes = model._votes(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(votes, [[1, 1, 1], [1, 1, 1], [2, 1, 0]])
    assert F[0] > 0 and model.predict([[0.01, 0.0]]) == [0]
    scores = model.set_params(decision_function_shape="ovr").decision_function(X)
    np.testing.assert_array_equal(scores.argmax(axis=1), [0, 1, 2] * 2)


def test_without_a_multiplier_there_is_still_a_machine(rng):
    X, y = overlapping(rng)
    for kind, size in itertools.product((SVC, L2SVC), (800, 1e-6)):
        model = kind(tol=3.0, cache_size=size).fit(X, y)  # the start is good enough
        assert len(model.support_) == 0 and model.n_iter_ == 0
        assert (model.decision_function(X) == model.intercept_[0]).all()
        assert np.isfinite(model.intercept_).all()


# ---------------------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SVC, NuSVC, LinearSVC])
def test_a_weight_is_a_repetition(rng, kind):
    X, y = overlapping(rng, (12, 10))
    weights = np.append(rng.integers(1, 4, size=20), [0, 2])[rng.permutation(22)]
    options = {"tol": 1e-9} if kind is LinearSVC else {"tol": 1e-8, "gamma": 0.5}
    weighted = kind(**options).fit(X, y, sample_weight=weights)
    repeated = kind(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    plain = kind(**options).fit(X, y)
    Z = rng.normal(size=(20, 2))
    f = weighted.decision_function(Z)
    np.testing.assert_allclose(f, repeated.decision_function(Z), atol=1e-5)
    assert np.abs(f - plain.decision_function(Z)).max() > 1e-2


def test_a_weight_is_a_factor_of_c(rng):
    X, y = overlapping(rng, (12, 10))
    weights = rng.uniform(0.2, 3, size=22)
    K = gram(X, **KERNELS["rbf"])
    model = SVC(C=0.5, tol=1e-8, **KERNELS["rbf"]).fit(X, y, weights)
    exact = solve_dual(K, c_dual(y, 0.5 * weights))
    assert model.certificates_[0].dual == pytest.approx(exact.objective, rel=1e-8)
    np.testing.assert_allclose(
        model.decision_function(X) - model.intercept_[0], K @ exact.beta, atol=1e-6
    )
    scaled = SVC(C=0.25, tol=1e-8, **KERNELS["rbf"]).fit(X, y, 2 * weights)
    np.testing.assert_allclose(scaled.dual_coef_, model.dual_coef_, atol=1e-12)
    shares = weights / weights.sum()
    nu = NuSVC(nu=0.4, tol=1e-8, **KERNELS["rbf"]).fit(X, y, weights)
    exact = solve_dual(K, nu_dual(y, 0.4, weights))
    assert nu.certificates_[0].dual == pytest.approx(exact.objective, rel=1e-7)
    beta = np.zeros(22)
    beta[nu.support_] = nu.dual_coef_[0] * nu.rho_[0]
    assert (np.abs(beta) <= shares + 1e-12).all()
    hard = SVC(C=inf, kernel="linear").fit([[0.0], [1.0], [4.0]], [0, 0, 1], [1, 0, 1])
    assert hard.coef_[0, 0] == pytest.approx(0.5)  # a weight of 0 is no sample
    np.testing.assert_array_equal(hard.support_, [0, 2])


# ---------------------------------------------------------------------------------------
# The other machines
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-78")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_nusvc_is_svc_with_another_parameter(rng, kernel):
    X, y = overlapping(rng, (15, 15), shift=0.8)
    n, how = 30, KERNELS[kernel]
    nu = NuSVC(nu=0.5, tol=1e-8, **how).fit(X, y)
    rho = nu.rho_[0]
    assert rho > 0
    soft = SVC(C=1 / (rho * n), tol=1e-8, **how).fit(X, y)
    np.testing.assert_allclose(nu.decision_function(X), soft.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(
        np.abs(nu.dual_coef_).sum(), np.abs(soft.dual_coef_).sum(), rtol=1e-5
    )
    f = nu.decision_function(X)
    alpha = np.zeros(n)
    alpha[nu.support_] = np.abs(nu.dual_coef_[0])
    free = (alpha > 1e-9) & (alpha < 1 / (rho * n) - 1e-9)
    np.testing.assert_allclose((y * f)[free], 1, atol=1e-5)  # divided: margins at 1
    certificate = nu.certificates_[0]  # of the undivided problem
    K = gram(X, **how)
    assert certificate.dual == pytest.approx(solve_dual(K, nu_dual(y, 0.5)).objective, rel=1e-6)
    beta = np.zeros(n)
    beta[nu.support_] = nu.dual_coef_[0] * rho
    losses = np.maximum(0, rho - y * (K @ beta + nu.intercept_[0] * rho))
    primal = beta @ K @ beta / 2 - 0.5 * rho + losses.mean()
    assert certificate.primal == pytest.approx(primal, abs=1e-9)
    assert nu.score(X, y) == soft.score(X, y)


@pytest.mark.claims("svm-58", "svm-59")
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_l2svc_is_the_program_with_squared_slack(rng, C):
    X, y = overlapping(rng, (12, 9), shift=0.6)
    machine = squared_slack_margin(X, y, C)
    model = L2SVC(C=C, kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], machine.w, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(machine.b, abs=1e-6)
    alpha = np.zeros(21)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(alpha, machine.alpha, atol=1e-6)
    (certificate,) = model.certificates_
    assert certificate.primal == pytest.approx(machine.objective, rel=1e-7)
    assert certificate.dual == pytest.approx(machine.objective, rel=1e-7)
    assert abs(certificate.gap) < 1e-6
    loose = L2SVC(C=C, kernel="linear", tol=0.3).fit(X, y)  # away from the optimum too
    w, losses = loose.coef_[0], hinge(loose.decision_function(X), y)
    primal = w @ w / 2 + C / 2 * losses @ losses
    assert loose.certificates_[0].primal == pytest.approx(primal, rel=1e-9)
    assert loose.certificates_[0].dual < machine.objective - 1e-6 < primal - 2e-6
    curved = L2SVC(C=C, tol=1e-9, **KERNELS["rbf"]).fit(X, y)
    K = gram(X, **KERNELS["rbf"])
    f = curved.decision_function(X)
    beta = np.zeros(21)
    beta[curved.support_] = curved.dual_coef_[0]
    np.testing.assert_allclose(f - curved.intercept_[0], K @ beta, atol=1e-12)  # K alone
    np.testing.assert_allclose(y * beta, C * hinge(f, y), atol=1e-6)
    primal = beta @ K @ beta / 2 + C / 2 * np.sum(hinge(f, y) ** 2)
    assert curved.certificates_[0].primal == pytest.approx(primal, rel=1e-9)


@pytest.mark.claims("svm-58")
def test_linearsvc_is_the_program_with_squared_slack_of_twice_its_c(rng):
    X, y = overlapping(rng, (12, 9), shift=0.6)
    X = X + [3.0, -2.0]
    for C in (0.05, 1.0):
        model = LinearSVC(C=C, tol=1e-9).fit(X, y)
        machine = squared_slack_margin(X, y, 2 * C)
        np.testing.assert_allclose(model.coef_[0], machine.w, atol=1e-7)
        assert model.intercept_[0] == pytest.approx(machine.b, abs=1e-7)
        assert model.history_[0][-1] == pytest.approx(machine.objective, rel=1e-9)
        assert np.abs(squared_slack_margin(X, y, C).w - machine.w).max() > 1e-3
        assert (np.diff(model.history_[0]) <= 1e-12).all() and model.n_iter_ < 12


def test_the_gradient_of_linearsvc_is_0(iris, rng):
    X, y = iris
    weights = rng.uniform(0.5, 2, size=150)
    model = LinearSVC(C=0.3, tol=1e-10).fit(X, y, weights)
    assert model.coef_.shape == (3, 4) and model.intercept_.shape == (3,)
    for w, b, name in zip(model.coef_, model.intercept_, model.classes_, strict=True):
        signs = np.where(y == name, 1.0, -1.0)

        def loss(theta, signs=signs):
            f = X @ theta[:4] + theta[4]
            return theta[:4] @ theta[:4] / 2 + 0.3 * weights @ np.maximum(0, 1 - signs * f) ** 2

        slope = differences(loss, np.append(w, b))
        assert np.abs(slope).max() < 1e-5
        assert np.abs(differences(loss, np.append(w, b + 0.1))).max() > 1e-2
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    best = (X @ model.coef_.T + model.intercept_).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])
    straight = LinearSVC(C=0.3, fit_intercept=False, tol=1e-10).fit(X[:100], y[:100])
    assert straight.intercept_ == [0.0] and straight.coef_.shape == (1, 4)
    signs = np.where(y[:100] == straight.classes_[1], 1.0, -1.0)
    slope = differences(
        lambda w: w @ w / 2 + 0.3 * np.sum(np.maximum(0, 1 - signs * (X[:100] @ w)) ** 2),
        straight.coef_[0],
    )
    assert np.abs(slope).max() < 1e-5


# ---------------------------------------------------------------------------------------
# The hard margin, and what goes wrong
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SVC, L2SVC])
def test_without_slack_it_is_the_hard_margin(rng, kind):
    X, y = separable(rng, (9, 8))
    machine = hard_margin(X, y)
    model = kind(C=inf, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], machine.w, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(machine.b, abs=1e-6)
    (certificate,) = model.certificates_
    assert certificate.dual <= machine.objective + 1e-9 <= certificate.primal + 2e-9
    assert 0 <= certificate.gap + 1e-12 < 1e-6
    large = kind(C=1e7, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(large.coef_, model.coef_, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "sigmoid"])
def test_xor_without_slack_warns_and_does_not_wait(kernel):
    X, y = XOR
    began = perf_counter()
    with pytest.warns(ConvergenceWarning, match="^SVC stopped after .* with violation = ") as told:
        model = SVC(C=inf, kernel=kernel).fit(X, y)
    assert perf_counter() - began < 0.5 and len(told) == 1
    assert not model.converged_ and model.certificates_[0].primal == inf
    rbf = SVC(C=inf).fit(X, y)
    assert rbf.converged_ and (rbf.predict(X) == y).all()


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC, LinearSVC])
def test_a_cut_run_warns_once(iris, kind):
    X, y = iris
    model = kind(max_iter=1, tol=1e-8)
    rule = "decrement" if kind is LinearSVC else "violation"
    message = rf"^{kind.__name__} stopped after 1 iterations with {rule} = .* > .*: see history_"
    with pytest.warns(ConvergenceWarning, match=message) as told:
        model.fit(X, y)
    assert len(told) == 1 and not model.converged_ and model.n_iter_ == 1
    assert len(model.history_) == 3 and all(len(h) == 2 for h in model.history_)
    assert model.predict(X).shape == (150,)


BAD = [
    (SVC, {"C": 0.0}, "C must be a number > 0; got 0.0"),
    (SVC, {"C": -1}, "C must be a number > 0; got -1"),
    (SVC, {"tol": 0.0}, "tol must be a number > 0; got 0.0"),
    (SVC, {"cache_size": 0}, "cache_size must be a number > 0; got 0"),
    (SVC, {"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
    (SVC, {"max_iter": -2}, "max_iter must be an integer >= 1; got -2"),
    (SVC, {"gamma": "wide"}, "gamma must be one of 'scale', 'auto'; got 'wide'"),
    (SVC, {"gamma": 0.0}, "gamma must be a number > 0; got 0.0"),
    (SVC, {"degree": 0}, "degree must be an integer >= 1; got 0"),
    (SVC, {"kernel": "poly", "coef0": -1.0}, "coef0 must be a number >= 0; got -1.0"),
    (
        SVC,
        {"kernel": "precomputed"},
        "kernel must be one of 'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'exponential'; "
        "got 'precomputed'",
    ),
    (
        SVC,
        {"decision_function_shape": "all"},
        "decision_function_shape must be one of 'ovr', 'ovo'; got 'all'",
    ),
    (NuSVC, {"nu": 0.0}, "nu must be a number > 0; got 0.0"),
    (
        NuSVC,
        {"nu": 0.9},
        "nu must be <= 2 min(n_+, n_-) / n = 0.8 here: the specified nu is infeasible; got 0.9",
    ),
    (L2SVC, {"C": 0.0}, "C must be a number > 0; got 0.0"),
    (LinearSVC, {"C": 0.0}, "C must be a number > 0 and < inf; got 0.0"),
    (LinearSVC, {"fit_intercept": 1}, "fit_intercept must be True or False; got 1"),
    (LinearSVC, {"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
]


@pytest.mark.parametrize(
    "kind, options, message", BAD, ids=[f"{k.__name__} {o}" for k, o, _ in BAD]
)
def test_bad_hyperparameters_are_refused(rng, kind, options, message):
    X, y = overlapping(rng, (4, 6))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind(**options).fit(X, y)


def test_bad_samples_are_refused(rng):
    X, y = overlapping(rng, (4, 6))
    with pytest.raises(ValueError, match="^sample_weight must have shape"):
        SVC().fit(X, y, np.ones(3))
    with pytest.raises(ValueError, match="^y must hold at least 2 classes"):
        SVC().fit(X, np.ones(10))
    with pytest.raises(ValueError, match="must hold at least 2 classes"):
        SVC().fit(X, y, (y > 0).astype(float))
    with pytest.raises(ValueError, match="^X has 3 features, but SVC is expecting 2"):
        SVC().fit(X, y).predict(np.ones((2, 3)))
    message = "y must hold one class after the other; it changes 2 times"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        nu_dual(np.array([1.0, -1.0, 1.0]), 0.4)


def test_kernel_parameters_are_those_of_scikit_learn(rng):
    X = rng.normal(size=(10, 3))
    assert kernel_parameters(X)["gamma"] == pytest.approx(1 / (3 * np.mean((X - X.mean()) ** 2)))
    assert kernel_parameters(X, gamma="auto")["gamma"] == pytest.approx(1 / 3)
    assert kernel_parameters(X, gamma=0.3)["gamma"] == 0.3
    assert kernel_parameters(np.ones((5, 2)))["gamma"] == 1.0  # no variance to divide by
    x, z = X[0], X[1]
    by_hand = {
        "linear": x @ z,
        "poly": (0.3 * (x @ z) + 0.5) ** 2,
        "rbf": np.exp(-0.3 * np.sum((x - z) ** 2)),
        "sigmoid": np.tanh(0.3 * (x @ z) + 0.5),
        "laplacian": np.exp(-0.3 * np.abs(x - z).sum()),
        "exponential": np.exp(-0.3 * np.sqrt(np.sum((x - z) ** 2))),
    }
    for kernel, value in by_hand.items():
        how = kernel_parameters(X, kernel, gamma=0.3, degree=2, coef0=0.5)
        assert gram(x[None], z[None], **how)[0, 0] == pytest.approx(value)


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC, LinearSVC])
def test_ugly_samples_make_machines(rng, kind):
    X, y = overlapping(rng, (8, 8))
    options = {} if kind is LinearSVC else {"gamma": 0.5}
    constant = np.column_stack([X, np.full(16, 0.0)])
    np.testing.assert_allclose(
        kind(**options).fit(constant, y).decision_function(constant),
        kind(**options).fit(X, y).decision_function(X),
        atol=1e-9,
    )
    wide = rng.normal(size=(5, 40))  # n < d
    assert kind().fit(wide, [0, 1, 0, 1, 1]).score(wide, [0, 1, 0, 1, 1]) == 1
    pair = kind().fit([[0.0], [1.0]], ["a", "b"])
    assert list(pair.predict([[-1.0], [2.0]])) == ["a", "b"]
    same = kind().fit(np.ones((4, 2)), [0, 1, 0, 1])  # nothing to tell the classes by
    assert np.abs(same.decision_function(np.ones((1, 2)))) < 1e-6
    twice = kind(**options).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.predict(X).shape == (16,)


@pytest.mark.parametrize("kind", [SVC, L2SVC])
@pytest.mark.parametrize("C", [1e-12, 1e-3, 1e6])
def test_tiny_and_huge_c(rng, kind, C):
    X, y = overlapping(rng, (10, 14), shift=0.5)
    model = kind(C=C, gamma=0.5).fit(X, y)
    (certificate,) = model.certificates_
    assert model.converged_ and certificate.violation <= 1e-3
    if kind is SVC:
        assert certificate.gap <= 1e-3 * 24 * C
    if C == 1e-12:  # the larger class has the say
        assert (model.predict(X) == -1).all()
    if C == 1e6:
        assert model.score(X, y) == 1


# ---------------------------------------------------------------------------------------
# Real samples
# ---------------------------------------------------------------------------------------


def assert_optimal(model, X, y, C, how):
    """Primal and dual of every pair from what the estimator keeps: the gap that tol promises."""
    names = model.classes_
    k = np.searchsorted(names, y)
    place = {i: s for s, i in enumerate(model.support_)}
    for pair, (a, b) in enumerate(itertools.combinations(range(len(names)), 2)):
        own = np.flatnonzero((k == a) | (k == b))
        signs = np.where(k[own] == a, 1.0, -1.0)
        beta = np.zeros(len(own))
        for m, i in enumerate(own):
            if i in place:
                row = (b if k[i] == a else a) - ((b if k[i] == a else a) > k[i])
                beta[m] = model.dual_coef_[row, place[i]]
        sign = -1.0 if len(names) == 2 else 1.0
        beta, offset = sign * beta, sign * model.intercept_[pair]
        K = gram(X[own], **how)
        product = K @ beta
        assert (
            (signs * beta >= 0).all() and (np.abs(beta) <= C).all() and abs(beta.sum()) < 1e-9 * C
        )
        dual = np.abs(beta).sum() - beta @ product / 2
        primal = beta @ product / 2 + C * np.maximum(0, 1 - signs * (product + offset)).sum()
        assert -1e-9 * primal <= primal - dual <= model.tol * C * len(own) + 1e-12 * primal
        assert model.certificates_[pair].dual == pytest.approx(dual, rel=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_iris_against_the_general_solver(iris, kernel, C):
    X, y = iris
    how = kernel_parameters(X, kernel, coef0=1.0)
    model = SVC(C=C, kernel=kernel, coef0=1.0, tol=1e-6).fit(X, y)
    assert_optimal(model, X, y, C, how)
    own = np.flatnonzero(y != model.classes_[0])
    signs = np.where(y[own] == model.classes_[1], 1.0, -1.0)
    exact = solve_dual(gram(X[own], **how), c_dual(signs, C))
    assert model.certificates_[2].dual == pytest.approx(exact.objective, rel=1e-6)
    nu = NuSVC(nu=0.3, kernel=kernel, coef0=1.0, tol=1e-6).fit(X, y)
    signs = np.sort(signs)[::-1]
    exact = solve_dual(gram(X[own], **how), nu_dual(signs, 0.3))
    assert nu.certificates_[2].dual == pytest.approx(exact.objective, rel=1e-6, abs=1e-9)


def assert_within(model, X, y, relative=1e-6):
    """Its dual objectives, against those of a run whose gap proves them."""
    optimum = type(model)(**model.get_params() | {"tol": 1e-8}).fit(X, y)
    for found, best in zip(model.certificates_, optimum.certificates_, strict=True):
        assert abs(best.gap) <= 0.1 * relative * abs(best.dual)
        assert found.dual == pytest.approx(best.dual, rel=relative)


@pytest.mark.parametrize("kernel, C", [("linear", 1.0), ("rbf", 1.0), ("rbf", 100.0)])
def test_breast_cancer(kernel, C):
    T = load_breast_cancer()
    X = (T.X - T.X.mean(axis=0)) / T.X.std(axis=0)
    model = SVC(C=C, kernel=kernel, tol=1e-6).fit(X, T.y)
    assert model.converged_ and model.score(X, T.y) > 0.97
    assert_optimal(model, X, T.y, C, kernel_parameters(X, kernel))
    assert_within(model, X, T.y)


def test_digits():
    T = load_digits()
    X, y = T.X[T.y < 5] / 16, T.y[T.y < 5]
    X, y, Z, z = X[:300], y[:300], X[300:], y[300:]
    model = SVC(C=1.0, tol=1e-6).fit(X, y)
    assert model.converged_ and len(model.certificates_) == 10
    assert_optimal(model, X, y, 1.0, kernel_parameters(X))
    assert_within(model, X, y)
    assert model.score(Z, z) > 0.95
    assert_within(L2SVC(C=1.0, tol=1e-6).fit(X, y), X, y)
    nu = NuSVC(nu=0.1, tol=1e-6).fit(X, y)
    assert (nu.rho_ > 0).all()
    assert_within(nu, X, y)


@pytest.mark.skipif("MLNOTES_DATA" not in os.environ, reason="MLNOTES_DATA does not name a folder")
def test_a_gaussian_machine_on_mnist():
    train, test = load_mnist(os.path.join(os.environ["MLNOTES_DATA"], "mnist"), n=500)
    model = SVC(C=5.0, tol=1e-6).fit(train.X, train.y)
    assert model.converged_ and len(model.certificates_) == 45
    assert_optimal(model, train.X, train.y, 5.0, kernel_parameters(train.X))
    assert model.score(train.X, train.y) == 1 and model.score(test.X, test.y) > 0.8
    few = train.y < 4
    assert_within(SVC(C=5.0, tol=1e-6).fit(train.X[few], train.y[few]), train.X[few], train.y[few])


def test_a_nu_machine_that_is_cut_short_says_how_far_off_in_the_unit_of_its_tolerance(rng):
    X, y = overlapping(rng)
    with pytest.warns(ConvergenceWarning, match="violation = ") as caught:
        model = NuSVC(nu=0.3, tol=1e-8, max_iter=1).fit(X, y)
    (certificate,) = model.certificates_
    assert f"violation = {len(y) * certificate.violation:.3g} > 1e-08" in str(caught[0].message)


# ---------------------------------------------------------------------------------------
# The steps on many multipliers, and what a pass is made of
# ---------------------------------------------------------------------------------------


def state_at(K, dual, beta):
    """The state of SMO that has reached this beta."""
    return svm.SMOState(beta, dual.p - K @ beta, (), objective(K, dual, beta), inf)


def assert_state(K, dual, state, rounding=1e-11):
    """A feasible beta, and the gradient, the objective and the violation that belong to it."""
    scale = np.abs(dual.p).max() + np.abs(K).max() * np.abs(state.beta).sum()
    assert_feasible(dual, state.beta)
    np.testing.assert_allclose(state.gradient, dual.p - K @ state.beta, atol=rounding * scale)
    value = dual.p @ state.beta - state.beta @ K @ state.beta / 2
    assert state.objective == pytest.approx(value, abs=rounding * scale * np.abs(state.beta).sum())
    if state.violation != inf:
        violation = worst_pair(K, dual, state.beta)
        assert state.violation == pytest.approx(violation, abs=2 * rounding * scale)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
def test_settlements_are_optima_or_gains(kernel, machine):
    """From where SMO is after some steps; of the linear kernel the systems are singular."""
    met = 0
    for seed in range(8):
        ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
        if machine == "L2":  # the boxes of `settle` are finite
            dual = c_dual(dual.p, 1e3)
        best = solve_dual(K, dual).objective
        for state in islice(smo(K, dual), 0, 40, 8):
            settled = svm.settle(K, dual, state, 1e-9)
            if settled is state:
                continue
            assert_state(K, dual, settled)
            assert settled.pair and settled.violation < inf
            if settled.violation <= 1e-9:
                met += 1
                scale = abs(best) + 1e-3 * K.diagonal().mean()
                assert settled.objective == pytest.approx(best, abs=1e-7 * scale)
            else:
                assert settled.objective >= state.objective
    assert met >= 8


def test_settlements_leave_and_enter_bounds(rng):
    """Some of what is at a bound becomes free, and, where all are free at first, some are not."""
    X, y = overlapping(rng, (30, 25), shift=0.7)
    K, dual = gram(X, **KERNELS["rbf"]), c_dual(y, 1.0)
    exact = solve_dual(K, dual)
    alpha = balanced(rng, y)
    starts = [next(islice(smo(K, dual), steps, None)) for steps in (0, 5, 20, 30)]
    starts.append(state_at(K, dual, 0.5 * alpha / alpha.max() * y))
    counts = []
    for state in starts:
        settled = svm.settle(K, dual, state, 1e-10)
        assert settled.violation <= 1e-10
        assert_state(K, dual, settled)
        assert settled.objective == pytest.approx(exact.objective, rel=1e-9)
        np.testing.assert_allclose(settled.beta, exact.beta, atol=1e-5)
        free = [(s.beta > dual.lower) & (s.beta < dual.upper) for s in (state, settled)]
        counts.append([free[0].sum(), free[1].sum()])
    assert counts[0][0] == 0 and counts[1][0] < counts[1][1] < counts[-1][1] + 1 < counts[-1][0]


def test_nothing_is_settled_without_a_matrix_or_a_free_multiplier_in_each_group(rng):
    X, y = overlapping(rng, (6, 5))
    K, dual = gram(X, **KERNELS["rbf"]), c_dual(y, 1.0)
    state = state_at(K, dual, 0.4 * balanced(rng, y) * y)
    rows = KernelRows(X, KERNELS["rbf"], capacity=4)
    assert svm.settle(rows, dual, state, 1e-9) is state
    nu = nu_dual(y, 0.4)
    beta = nu.start.copy()
    beta[:6] = [1 / 11, 1 / 11, 0.2 - 2 / 11, 0, 0, 0]
    beta[6:] = np.where(np.arange(5) < 2, -1 / 11, 0)
    state = state_at(K, nu._replace(start=beta), beta)
    assert svm.settle(K, nu._replace(start=beta), state, 1e-9) is state


@pytest.mark.parametrize("machine", ["C", "nu"])
def test_smo_with_free_steps_tells_the_truth_after_every_step(rng, machine):
    X, y = overlapping(rng, (45, 45), d=4, shift=0.3)
    K, dual = X @ X.T, c_dual(y, 10.0) if machine == "C" else nu_dual(y, 0.6)
    best = solve_dual(K, dual).objective
    states, kept = [], []
    for state in islice(smo_with_free_steps(K, dual), 5000):
        states.append(state)
        kept.append((state.beta.copy(), state.gradient.copy()))
    assert len(states) < 5000  # its own end
    for state, (beta, gradient) in zip(states, kept, strict=True):
        np.testing.assert_array_equal(state.beta, beta)
        np.testing.assert_array_equal(state.gradient, gradient)
        assert_state(K, dual, state, rounding=1e-9)
    many = [state for state in states if len(state.pair) > 2]
    assert inf in {state.violation for state in many} and len(many[-1].pair) <= svm.MOST
    assert {state.violation for state in many} != {inf}  # the last of a turn is SMO's start
    objectives = np.array([state.objective for state in states])
    assert (np.diff(objectives) >= -1e-12 * abs(best)).all()
    assert states[-1].objective == pytest.approx(best, rel=1e-8)
    assert states[-1].violation <= 1e-9
    one_by_one = list(islice(smo(K, dual), len(states)))
    assert one_by_one[-1].violation > states[-1].violation


@pytest.mark.parametrize("machine", ["C", "nu"])
def test_a_restricted_dual_is_the_dual_along_the_chunk(rng, machine):
    X, y = overlapping(rng, (6, 5))
    K = gram(X, **KERNELS["rbf"])
    dual = c_dual(y, 0.9) if machine == "C" else nu_dual(y, 0.6)
    beta = next(islice(smo(K, dual), 4, None)).beta
    for chunk in (np.array([1, 3, 4, 8]), np.array([0, 2]), np.array([7, 9, 10]), np.arange(11)):
        K_chunk = K[np.ix_(chunk, chunk)]
        part = svm.restrict(dual.p - K @ beta, dual, beta, chunk, K_chunk)
        np.testing.assert_array_equal(part.start, beta[chunk])
        np.testing.assert_array_equal(part.lower, dual.lower[chunk])
        np.testing.assert_array_equal(part.upper, dual.upper[chunk])
        members = [set(chunk[group]) for group in part.groups]
        own = (set(chunk) & set(range(group.start, group.stop)) for group in dual.groups)
        assert members == [group for group in own if group]
        for _ in range(5):  # the two objectives differ by a constant
            moved = beta.copy()
            moved[chunk] = rng.uniform(dual.lower[chunk], dual.upper[chunk])
            rise = objective(K, dual, moved) - objective(K, dual, beta)
            own = objective(K_chunk, part, moved[chunk]) - objective(K_chunk, part, beta[chunk])
            assert own == pytest.approx(rise, abs=1e-12)


@pytest.mark.parametrize("machine", ["C", "nu"])
def test_in_play_are_the_free_and_those_on_the_wrong_side_of_b(rng, machine):
    X, y = overlapping(rng, (15, 12), shift=0.5)
    K = gram(X, **KERNELS["rbf"])
    dual = c_dual(y, 0.5) if machine == "C" else nu_dual(y, 0.5)
    seen = set()
    for state in islice(smo(K, dual), 0, 60, 6):
        g, beta = state.gradient, state.beta
        for margin in (0.0, 0.05, 0.5):
            expected = []
            for group, (low, high) in zip(dual.groups, ends(K, dual, beta), strict=True):
                b = (low + high) / 2
                for i in range(group.start, group.stop):
                    may_rise, may_fall = beta[i] < dual.upper[i], beta[i] > dual.lower[i]
                    rises, falls = may_rise and g[i] > b - margin, may_fall and g[i] < b + margin
                    if (may_rise and may_fall) or rises or falls:
                        expected.append(i)
            found = svm.in_play(g, dual, beta, margin)
            assert list(found) == expected
            seen.add(len(found))
        np.testing.assert_array_equal(
            svm.in_play(g, dual, beta), svm.in_play(g, dual, beta, margin=0.0)
        )
    assert len(seen) > 3
    free = (dual.lower + dual.upper) / 2  # at an optimum g is b, and all of them are in play
    np.testing.assert_array_equal(svm.in_play(np.zeros(27), dual, free), np.arange(27))
    free[0] = dual.lower[0]  # but not what is at a bound there
    np.testing.assert_array_equal(svm.in_play(np.zeros(27), dual, free), np.arange(1, 27))


def test_offsets_where_one_end_is_infinite():
    """Every multiplier at its upper bound, or at its lower one: one end is all there is."""
    y, g = np.array([1.0, 1.0, -1.0, -1.0]), np.array([3.0, 1.0, 4.0, 2.0])
    dual = c_dual(y, 1.0)._replace(groups=(slice(0, 2), slice(2, 4)))
    up = np.array([1.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(offset_intervals(g, dual, up), [[-inf, 1.0], [-inf, 2.0]])
    np.testing.assert_array_equal(offsets(g, dual, up), [1.0, 2.0])
    down = np.array([0.0, 0.0, -1.0, -1.0])
    np.testing.assert_array_equal(offset_intervals(g, dual, down), [[3.0, inf], [4.0, inf]])
    np.testing.assert_array_equal(offsets(g, dual, down), [3.0, 4.0])
    assert certify(np.zeros((4, 4)), dual, up).violation == 0.0
    one = dual._replace(groups=(slice(0, 1), slice(1, 4)))  # a group of one cannot move
    free = np.array([0.5, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(offset_intervals(g, one, free)[0], [3.0, 3.0])
    np.testing.assert_array_equal(offsets(g, one, free), [3.0, 1.0])


def test_offsets_are_means_not_ends():
    """Away from the optimum the free multipliers disagree: b is their mean."""
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    dual, beta = c_dual(y, 1.0), np.array([0.5, 0.25, 0.0, -0.75, 0.0])
    g = np.array([1.0, 2.0, 99.0, 6.0, -99.0])
    np.testing.assert_allclose(offsets(g, dual, beta), [3.0])
    np.testing.assert_array_equal(offset_intervals(g, dual, beta), [[99.0, -99.0]])


@pytest.mark.parametrize("machine", ["C", "nu"])
def test_certificates_are_the_same_for_every_form_of_the_matrix(rng, machine):
    X, y = overlapping(rng, (8, 7))
    dual = c_dual(y, 0.8) if machine == "C" else nu_dual(y, 0.6)
    beta = next(islice(smo(X @ X.T, dual), 5, None)).beta
    array = certify(X @ X.T, dual, beta)
    for K in (LinearGram(X), KernelRows(X, {"kernel": "linear"}, capacity=2)):
        np.testing.assert_allclose(certify(K, dual, beta)[:4], array[:4], atol=1e-12)
        np.testing.assert_allclose(certify(K, dual, beta).offsets, array.offsets, atol=1e-12)
        *_, last = islice(smo(K, dual), 300)
        assert last.objective == pytest.approx(solve_dual(X @ X.T, dual).objective, rel=1e-6)
        state = state_at(X @ X.T, dual, beta)
        np.testing.assert_allclose(
            free_step(K, dual, state).objective, free_step(X @ X.T, dual, state).objective,
            rtol=1e-6,
        )  # fmt: skip


def test_a_missed_margin_without_slack_has_no_primal_value(rng):
    X, y = separable(rng)
    K, dual = X @ X.T, c_dual(y)
    assert certify(K, dual, dual.start).primal == inf
    exact = solve_dual(K, dual)
    longer = np.where(np.abs(exact.beta) > 1e-6, 1.001 * exact.beta, 0.0)  # no margin is missed
    found = certify(K, dual, longer)
    assert found.primal == pytest.approx(1.001**2 * exact.objective, rel=1e-6)
    assert found.dual < exact.objective < found.primal
    assert certify(K, dual, 0.999 * exact.beta).primal == inf


def test_no_steps_are_the_start(rng):
    X, y = overlapping(rng)
    for K in (X @ X.T, LinearGram(X)):
        for dual in (c_dual(y, 1.0), nu_dual(y, 0.5)):
            solved = solve(K, dual, 1e-6, 0)
            np.testing.assert_array_equal(solved.beta, dual.start)
            assert solved.run.n_iter == 0 and not solved.run.converged
            assert solved.certificate[:4] == certify(K, dual, dual.start)[:4]
            at_once = solve(K, dual, 1e3, -1)
            assert at_once.run.n_iter == 0 and at_once.run.converged


@pytest.mark.parametrize("b, most", [(0.49, 2.9), (0.67, 1.7)])
def test_a_step_to_a_bound_ends_on_it_whatever_rounding_says(b, most):
    assert b + (most - b) != most
    y, K = np.array([1.0, -1.0]), np.zeros((2, 2))  # every step goes to the box
    for C, moved in (([most, 9.0], 0), ([9.0, most], 1)):
        dual = c_dual(y, np.array(C))._replace(start=b * y)
        *_, last = smo(K, dual)
        assert last.beta[moved] == most * y[moved] and last.violation <= 0


def test_a_step_that_rounding_hides_is_the_end():
    y, K = np.array([1.0, -1.0]), np.eye(2)
    far = svm.SMOState(1e20 * y, y.copy(), (), 0.0, inf)  # a step of 1 is lost in 1e20
    (state,) = smo(K, c_dual(y), start=far)
    assert state.violation == 2.0 and (state.beta == far.beta).all()


@pytest.mark.parametrize("ridge", [0.0, 0.3, 30.0])
def test_the_central_path_begins_on_the_way_to_the_centre_and_its_gap_falls(rng, ridge):
    for X, dual in fast_duals(rng):
        K, size = X @ X.T + ridge * np.eye(len(X)), dual.upper - dual.lower
        states = list(islice(central_path(X, ridge, dual), 60))
        assert len(states) < 20 or states[-1].gap < 1e-50  # its own end, or on the way to it
        assert sum(state.gap > 1e-8 * states[0].gap for state in states) <= 12
        centre = dual.lower.copy()  # the same share of all boxes of a group
        for g in dual.groups:
            share = (dual.start[g] - dual.lower[g]).sum() / size[g].sum()
            centre[g] += share * size[g]
        t = np.linspace(svm.INTERIOR, 1.0, 2001)
        way = dual.start + t[:, None] * (centre - dual.start)
        values = way @ dual.p - np.sum(way @ K * way, axis=1) / 2
        assert states[0].objective >= values.max() - 1e-12 * np.abs(values).max()
        np.testing.assert_allclose(states[0].beta, way[values.argmax()], atol=1e-3 * size.max())
        assert (np.diff([state.gap for state in states]) < 0).all()
        for state in states:
            assert state.gap == pytest.approx((state.room * state.multipliers).sum())
            assert state.objective == pytest.approx(objective(K, dual, state.beta), rel=1e-9)
            pull = dual.p - K @ state.beta + state.multipliers[0] - state.multipliers[1]
            for group, b in zip(dual.groups, state.offsets, strict=True):
                np.testing.assert_allclose(pull[group], b, atol=1e-9 * (1 + np.abs(pull).max()))


def test_the_projection_keeps_the_sum_where_boxes_are_points_and_entries_far(rng):
    for far in (0.0, 1e3, 1e6):
        x = far * rng.normal(size=8) + rng.normal(size=8)
        lower, upper = np.zeros(8), np.repeat([0.0, 1.0, 1.0, 1e-3], 2)
        x[2] = x[3]
        for total in (0.0, 1e-6, 0.7, 3.0, upper.sum()):
            nearest = project_onto_sum(x, lower, upper, total)
            assert (nearest >= lower).all() and (nearest <= upper).all()
            assert nearest.sum() == pytest.approx(total, abs=1e-14)
            assert nearest[2] == nearest[3] and not nearest[:2].any()
            free = (nearest > lower) & (nearest < upper)
            shift = (nearest - x)[free]
            assert np.ptp(shift) <= 1e-9 * (1 + far) if free.any() else True


@pytest.mark.parametrize("n", [(30, 50), (50, 30)])
def test_a_class_without_a_choice_has_no_path(rng, n):
    """All of the smaller class at one bound: no inner point, above or below."""
    X, y = overlapping(rng, n, 3)
    solved = solve(LinearGram(X), nu_dual(y, 0.75), 1e-7, -1)
    exact = solve_dual(X @ X.T, nu_dual(y, 0.75))
    assert solved.run.converged
    assert solved.certificate.dual == pytest.approx(exact.objective, rel=1e-6)
    few = y > 0 if n[0] < n[1] else y < 0
    np.testing.assert_allclose(np.abs(solved.beta[few]), 1 / 80, rtol=1e-12)
    half = c_dual(y, 1.0)._replace(start=np.where(y > 0, 0.5, 0.0))
    assert not svm._has_path(LinearGram(X), half)  # a sum that is not 0 depends on the origin
    assert svm._has_path(LinearGram(X), c_dual(y, 1.0))


@pytest.mark.parametrize("C", [1e-9, 1e-12])
def test_sums_outlast_the_path_where_boxes_are_small(rng, C):
    """Nothing is off its bound by more than its multiplier is off 0: nothing can make up sums."""
    X, y = overlapping(rng, (50, 70), 3, shift=0.5)
    dual = c_dual(y, C)
    solved = solve(LinearGram(X), dual, 1e-6, -1)
    assert solved.run.converged
    assert abs(solved.beta.sum()) <= 1e-12 * np.abs(solved.beta).sum()
    assert solved.certificate.dual == pytest.approx(100 * C, rel=1e-6)


def test_the_history_of_the_path_begins_at_the_start(rng):
    X, y = overlapping(rng, (60, 60), 3, shift=0.5)
    solved = solve(LinearGram(X), c_dual(y, 1.0), 1e-6, -1)
    path = [s.objective for s in islice(central_path(X - X.mean(axis=0), 0.0, c_dual(y, 1.0)), 5)]
    np.testing.assert_allclose(solved.run.history[:6], [0.0, *path], rtol=1e-9)


@pytest.mark.parametrize("form", [LinearGram, lambda X: X @ X.T])
def test_some_boxes_may_be_infinite(rng, form):
    X, y = overlapping(rng, (10, 10), shift=0.3)
    dual = c_dual(y, np.where(np.arange(20) == 5, inf, 1.0))
    assert not svm._is_bounded(dual)
    solved = solve(form(X), dual, 1e-8, -1)
    exact = solve_dual(X @ X.T, dual)
    assert solved.run.converged and abs(exact.beta[5]) > 1.5
    assert solved.certificate.dual == pytest.approx(exact.objective, rel=1e-7)


FLAT = "indefinite", "indefinite, nu", "no kernel at all", "duplicates of both classes", "nothing"


@pytest.mark.parametrize("name", FLAT)
def test_steps_along_lines_that_do_not_bend_or_bend_upwards(name):
    """They go to the box, and the objective is that of the matrix as it is."""
    K, dual, _ = UGLY[name]
    states = list(islice(smo(K, dual), 60))
    for state in states:
        assert_state(K, dual, state)
    objectives = [state.objective for state in states]
    assert len(states) > 1 and (np.diff(objectives) >= -1e-12).all()
    for after in states[1:]:
        i, j = after.pair
        if K[i, i] + K[j, j] - 2 * K[i, j] <= 0:
            assert after.beta[i] == dual.upper[i] or after.beta[j] == dual.lower[j]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_free_step_ends_at_a_bound_or_where_no_free_multiplier_gains(kernel):
    cut = 0
    for seed in range(12):
        for _, K, dual in duals(seed, kernel):
            for state in islice(smo(K, dual), 2, 30, 4):
                after = free_step(K, dual, state)
                if after is state:
                    continue
                assert_state(K, dual, after, rounding=1e-10)
                pair = list(after.pair)
                met = (after.beta == dual.lower)[pair] | (after.beta == dual.upper)[pair]
                cut += met.any()
                if not met.any():
                    for group in dual.groups:
                        g = [after.gradient[i] for i in pair if group.start <= i < group.stop]
                        before = [state.gradient[i] for i in pair if group.start <= i < group.stop]
                        assert np.ptp(g or [0]) <= 1e-3 * np.ptp(before or [0]) + 1e-9
    assert cut > 5


@pytest.mark.parametrize("C", [1e-3, 0.03, 1.0])
def test_smo_with_free_steps_goes_on_where_these_gain_nothing(rng, C):
    X, y = overlapping(rng, (60, 90), shift=0.2)
    K, dual = gram(X, **KERNELS["rbf"]), c_dual(y, C)
    *_, last = islice(smo_with_free_steps(K, dual), 20000)
    assert last.violation <= 1e-9
    assert last.objective == pytest.approx(solve_dual(K, dual).objective, rel=1e-7)
