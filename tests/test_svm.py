"""The svm chapter, in the order of its module: statements and functions by a second route."""

import itertools
import re
from functools import cache
from itertools import islice, product
from math import comb, factorial, inf

import numpy as np
import pytest
from checks import check_gradient, differences, panels

from figures import svm as drawn
from mlnotes import svm
from mlnotes.base import ConvergenceWarning, NotFittedError, iterate
from mlnotes.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    make_moons,
    make_separable,
)
from mlnotes.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid, polynomial_map
from mlnotes.linear_regression import augment
from mlnotes.numerics import kernel_product
from mlnotes.optimization import InfeasibleError, UnboundedError, closest_points, solve_qp
from mlnotes.perceptron import decision, linear_classify, margin, perceptron
from mlnotes.svm import (
    L2SVC,
    SVC,
    GramRows,
    HullsMeet,
    LinearSVC,
    Machine,
    NuSVC,
    c_dual,
    canonical,
    certify,
    chunking,
    erm_objective,
    fill,
    hard_lagrangian,
    hard_margin,
    hinge,
    kernel_matrix,
    newton_on_free,
    newton_step,
    nu_dual,
    nu_margin,
    offset_intervals,
    offsets,
    on_bounds,
    pair_votes,
    project_on_hyperplane,
    recover,
    separate,
    signed_distance,
    smo,
    smo_with_newton,
    soft_lagrangian,
    soft_margin,
    soft_margin_dual,
    soft_margin_kkt,
    solve,
    solve_dual,
    squared_slack_margin,
    state_at,
    subgradient_descent,
    support_vectors,
)

XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1, -1, -1])
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([1.0, 1, -1, -1])
SQUARE_ALPHAS = np.array([[1, 1, 1, 1], [2, 0, 2, 0], [0, 2, 0, 2]]) / 4
KERNELS = {
    "linear": Linear(),
    "poly": Polynomial(p=3, gamma=0.5, c=1.0),
    "rbf": Gaussian(0.7),
    "laplacian": Laplacian(0.4),
}


def close(actual, expected, atol=1e-9):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def separable(rng, n=24, d=3):
    """Two classes that a hyperplane separates, not through the origin."""
    T = make_separable(n, d, gap=0.3, rng=rng)
    return T.X + rng.normal(size=d), T.y


@pytest.fixture
def hard(rng):
    """Separable samples, their labels and their hard margin."""
    X, y = separable(rng)
    return X, y, hard_margin(X, y)


def two_classes(rng, n=(12, 12), d=2, shift=1.0):
    """Two Gaussian classes about the origin, +1 first."""
    y = np.repeat([1.0, -1.0], n)
    return rng.normal(size=(sum(n), d)) + shift * y[:, None], y


def overlapping(rng, n=(26, 17)):
    """Two classes that overlap, of unequal sizes, away from the origin; +1 first."""
    X, y = two_classes(rng, n, shift=2 / 3)
    return 1.2 * X + 1.5, y


def by_smo(X, y, C=inf):
    """alpha, w and b from the Gram matrix alone; the bounds of alpha are met exactly."""
    solved = solve(X @ X.T, c_dual(y, C), tol=1e-10, max_iter=-1)
    assert solved.run.converged
    return solved.beta * y, X.T @ solved.beta, float(solved.certificate.offsets[0])


def in_hyperplane(rng, w, b, size=20):
    """Random points of f = 0."""
    w_unit = w / np.linalg.norm(w)
    X = 3 * rng.normal(size=(size, len(w)))
    return X - np.outer(X @ w_unit, w_unit) - b * w / (w @ w)


def feasible_hard(X, y, w, b, rng, size=50):
    """Separators near (w, b), scaled so that y f >= 1, equality or not."""
    for _ in range(size):
        u, c = w + 0.3 * rng.normal(size=len(w)), b + 0.3 * rng.normal()
        smallest = (y * (X @ u + c)).min()
        if smallest > 0:
            scale = rng.uniform(1, 2) / smallest
            yield scale * u, scale * c


def balanced(rng, y, most=3.0):
    """Random multipliers from 0 to `most` with sum_i alpha_i y_i = 0."""
    alpha = rng.uniform(0.1, 1, size=len(y))
    alpha[y < 0] *= alpha[y > 0].sum() / alpha[y < 0].sum()
    return alpha * (most / alpha.max())


# --- Hyperplanes -----------------------------------------------------------------------


@pytest.mark.claims("svm-01")
def test_w_is_normal_and_the_label_is_the_side(rng):
    w, b = rng.normal(size=4), 0.7
    H, t = in_hyperplane(rng, w, b), np.array([-2.0, -1e-3, 1e-3, 5.0])
    close(decision(H, w, b), 0, 1e-12)
    for x in H:
        np.testing.assert_array_equal(linear_classify(x + t[:, None] * w, w, b), np.sign(t))
    assert linear_classify(np.array([[0.0], [-0.0]]), np.ones(1)).tolist() == [-1, -1]  # f = 0
    close((H + 0.1) @ w - -b, decision(H + 0.1, w, b), 1e-12)  # IRHD writes w^T x - b


@pytest.mark.claims("svm-02", "svm-03")
def test_project_on_hyperplane_goes_the_shortest_way_by_pythagoras(rng):
    X, w, b = rng.normal(size=(30, 4)), rng.normal(size=4), -1.3
    r, f = project_on_hyperplane(X, w, b) - X, decision(X, w, b)
    close(r, (np.linalg.pinv(w[None]) @ -f[None]).T, 1e-12)  # the shortest with w^T r = -f
    close(np.linalg.norm(r, axis=1) * np.sign(f), signed_distance(X, w, b), 1e-12)
    close(signed_distance(X, -5 * w, -5 * b), -signed_distance(X, w, b), 1e-12)
    s = in_hyperplane(rng, w, 0.0, 30)  # r = lambda w is orthogonal to it
    squares = [(v**2).sum(axis=1) for v in (r + s, r, s)]
    close(squares[0] - squares[1], squares[2], 1e-12)
    assert np.linalg.norm([2.0 - 1.0, 0.5]) < 2.0  # not orthogonal: the triangle forbids nothing


@pytest.mark.claims("svm-04")
def test_hard_margin_offset_may_have_either_sign():
    machine = hard_margin(np.array([[-3.0], [-1.0]]), np.array([-1, 1]))
    close([machine.w[0], machine.b], [1, 2], 1e-8)
    # y (w x - b') >= 1 says -w - b' >= 1 and 3 w + b' >= 1: then w >= 1 and b' <= -2
    w, b_irhd = np.meshgrid(np.linspace(-20, 20, 401), np.linspace(-20, 20, 401))
    separates = (-w - b_irhd >= 1 - 1e-12) & (3 * w + b_irhd >= 1 - 1e-12)
    assert separates.sum() > 100 and b_irhd[separates].max() == pytest.approx(-2)


@pytest.mark.claims("svm-08")
def test_canonical_puts_the_closest_sample_on_f_1(hard):
    X, y, (w, b, *_) = hard
    for scale in (0.01, 3.0):
        v, c = canonical(X, y, scale * w + 1e-3, scale * b)
        assert (y * decision(X, v, c)).min() == pytest.approx(1, abs=1e-12)
        assert margin(X, v, c) == pytest.approx(1 / np.linalg.norm(v), rel=1e-12)
        np.testing.assert_array_equal(linear_classify(X, v, c), y)
        close(np.cross(v, scale * w + 1e-3), 0, 1e-12)  # the same direction
    for K in (1, 10, 100):  # 1/k against 0: separable for every K, and with all k not at all
        X, y = np.append(1 / np.arange(1, K + 1), 0.0)[:, None], np.append(np.ones(K), -1.0)
        assert canonical(X, y, np.ones(1), -1 / (2 * K))[0] == pytest.approx(2 * K)
    for X, y, w in ((*XOR, np.ones(2)), (np.array([[0.0], [1.0]]), np.array([1, -1]), -np.ones(1))):
        assert np.isnan([*canonical(X, y, w, 0.0)[0], canonical(X, y, w, 0.0)[1]]).all()


@pytest.mark.claims("svm-10", "svm-11")
def test_margin_has_no_scale_but_a_negative_factor_swaps_the_labels(hard, rng):
    X, y, (w, b, *_) = hard
    walks = [np.linalg.norm(x - project_on_hyperplane(x[None], w, b)[0]) for x in X]
    Z = 3 * rng.normal(size=(200, 3))
    for beta in (-3.0, -0.1, 2.0, 100.0):
        assert margin(X, beta * w, beta * b) == pytest.approx(min(walks), rel=1e-12)
        swapped = linear_classify(Z, beta * w, beta * b)
        np.testing.assert_array_equal(swapped, np.sign(beta) * linear_classify(Z, w, b))
    assert (linear_classify(X, -w, -b) != y).all()  # every sample wrong, at the same margin


@pytest.mark.claims("svm-12")
def test_the_slab_is_2_over_norm_w_wide_and_empty(hard, rng):
    w, b = rng.normal(size=4), 0.9
    norm = np.linalg.norm(w)
    above, below = in_hyperplane(rng, w, b - 1), in_hyperplane(rng, w, b + 1)
    close(signed_distance(above, w, b), 1 / norm, 1e-12)  # the same everywhere: parallel
    close(signed_distance(below, w, b), -1 / norm, 1e-12)
    t = rng.uniform(size=(20, 1))
    close(decision(t * above + (1 - t) * below, w, b), 2 * t[:, 0] - 1, 1e-12)
    X, y, _ = hard
    *_, state = perceptron(augment(X), y)
    w, b = canonical(X, y, state.w[1:], state.w[0])
    assert (np.abs(decision(X, w, b)) >= 1 - 1e-12).all()
    assert np.abs(signed_distance(X, w, b)).min() == pytest.approx(1 / np.linalg.norm(w))
    assert (np.abs(decision(X, w / 2, b / 2)) < 1 - 1e-12).any()  # not canonical, not empty


@pytest.mark.claims("svm-14")
def test_margin_without_labels_grows_for_ever(rng):
    X, y = separable(rng)
    w = rng.normal(size=3)
    for k in range(2, 8):
        b, size = 10.0**k, np.linalg.norm(w)
        assert margin(X, w, b) == pytest.approx(b / size, rel=10 ** (1.0 - k))
        assert np.mean(linear_classify(X, w, b) != y) == np.mean(y < 0)


# --- Separability ----------------------------------------------------------------------


def separates(X, y):
    """Whether `separate` finds a separator, its proof checked; the unit of X does not matter."""
    answers = [separate(unit * X, y) for unit in (1.0, 1e-9, 1e9)]
    for unit, answer in zip((1.0, 1e-9, 1e9), answers, strict=True):
        if isinstance(answer, Machine):
            assert (y * decision(unit * X, answer.w, answer.b) > 0).all()
            continue
        u, v = answer
        assert (u >= 0).all() and (v >= 0).all() and len(u) + len(v) == len(y)
        close([u.sum(), v.sum()], 1)
        close(X[y > 0].T @ u, X[y < 0].T @ v)
    (kind,) = set(map(type, answers))
    return {Machine: True, HullsMeet: False}[kind]


@pytest.mark.claims("svm-05")
def test_separate_gives_a_separator_iff_the_hulls_are_apart(rng):
    answers = []
    for _ in range(25):
        X, y = rng.normal(size=(10, 2)), rng.permutation(np.repeat([-1.0, 1.0], 5))
        X += rng.uniform(0, 2.5) * y[:, None]
        answers.append(separates(X, y))
        assert answers[-1] == (closest_points(X[y > 0], X[y < 0]).distance > 0)
    assert 3 < sum(answers) < 23
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    refused = [s for s in product([-1.0, 1.0], repeat=4) if not separates(X, np.array(s))]
    assert refused == [(-1.0, 1.0, 1.0, -1.0), (1.0, -1.0, -1.0, 1.0)]  # XOR alone
    for sign in (-1, 1):  # one class is on its side of w = 0
        close(separate(X, np.full(4, sign)).w, 0)
    for x, apart in ((0.9, True), (1.0, False), (1.1, False)):  # nearly, just, and well touching
        assert separates(np.array([[0.0], [x], [1.0], [2.0]]), np.array([-1, -1, 1, 1])) == apart
    assert not separates(np.full((4, 1), 3.0), np.array([-1, -1, 1, 1]))


@pytest.mark.claims("svm-06")
@pytest.mark.parametrize("N", [3, 4, 5])
def test_separate_counts_as_cover_does(rng, N):
    for d in {2, N - 1}:
        X = rng.normal(size=(N, d))
        labellings = [np.array(s) for s in product([-1.0, 1.0], repeat=N)]
        count = 2 * sum(separates(X, y) for y in labellings if y[0] > 0)  # y or -y
        assert count == 2 * sum(comb(N - 1, k) for k in range(d + 1))
        assert (count == 2**N) == (d >= N - 1)


@pytest.mark.claims("svm-07")
def test_around_a_separator_there_are_others_and_the_perceptron_finds_one(hard, rng):
    X, y, _ = hard
    w, b, *_ = separate(X, y)
    m, reach = (y * decision(X, w, b)).min(), np.linalg.norm(X, axis=1).max()
    for _ in range(200):
        dw, share = rng.normal(size=3), rng.uniform()
        dw *= 0.999999 * share * m / reach / np.linalg.norm(dw)
        db = 0.999999 * (1 - share) * m * rng.choice([-1, 1])
        assert (y * decision(X, w + dw, b + db) > 0).all()
    margins = set()
    for _ in range(10):
        order = rng.permutation(len(y))
        *_, state = perceptron(augment(X[order]), y[order])
        assert (y * decision(X, state.w[1:], state.w[0]) > 0).all()
        margins.add(round(margin(X, state.w[1:], state.w[0]), 9))
    assert len(margins) > 1 and max(margins) <= margin(X, w, b) + 1e-9


# --- Hard margin -----------------------------------------------------------------------


@pytest.mark.claims("svm-15")
def test_hard_margin_beats_every_direction_of_the_plane(rng):
    X, y = separable(rng, d=2)
    w, b, xi, alpha, objective = hard_margin(X, y)
    norm, turn = np.linalg.norm(w), np.linspace(0, 2 * np.pi, 20_001)
    turn = np.append(turn, np.arctan2(w[1], w[0]))
    z = X @ [np.cos(turn), np.sin(turn)]
    half_gaps = (z[y > 0].min(axis=0) - z[y < 0].max(axis=0)) / 2
    assert 0.999 / norm < half_gaps[:-1].max() <= (1 + 1e-9) / norm
    assert half_gaps[-1] == pytest.approx(1 / norm, rel=1e-9)  # that of w
    assert (y * decision(X, w, b)).min() == pytest.approx(1, abs=1e-9)
    assert objective == pytest.approx(w @ w / 2) and not xi.any() and (alpha >= 0).all()


@pytest.mark.claims("svm-16")
def test_the_same_solution_has_other_values_and_both_conditions_are_needed(hard, rng):
    X, y, (w, b, *_) = hard
    norms = np.array([np.linalg.norm(v) for v, _ in feasible_hard(X, y, w, b, rng)])
    a = np.linalg.norm(w)
    assert (1 / norms).max() <= 1 / a and norms.min() >= a and (norms**2).min() >= a**2
    assert min(abs(a - 1), abs(1 / a - a), abs(a**2 - a)) > 0.1  # printed as equal
    cases = (1, (True, True, True)), (10, (True, False, True)), (0.1, (True, False, False))
    for times, expected in cases:  # right side, right scale, and what both together mean
        f = decision(X, times * w, times * b)
        right, scaled = (y * f >= 0).all(), np.abs(f).min() == pytest.approx(1)
        assert (right, scaled, (y * f >= 1 - 1e-9).all()) == expected


@pytest.mark.claims("svm-09", "svm-17")
def test_hard_margin_lies_midway_and_strict_margins_exclude_it(hard, rng):
    X, y, (w, b, *_, best) = hard
    yf, gamma = y * decision(X, w, b), 1 / np.linalg.norm(w)
    close([yf[y == sign].min() for sign in (-1, 1)], 1, 1e-7)
    for t in (-0.9, -0.2, 0.2, 0.9):
        assert margin(X, w, b + t) == pytest.approx((1 - abs(t)) * gamma, rel=1e-6)
    for v, c in feasible_hard(X, y, w, b, rng):  # y f >= m > 1 can be divided by m
        m = (y * decision(X, v, c)).min()
        assert m > 1 and canonical(X, y, v, c)[0] == pytest.approx(v / m)
    t = 1 + 10.0 ** -np.arange(1, 8)  # strictly feasible, and each better than the last
    values = t**2 * best
    assert (t[:, None] * yf > 1).all() and (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(best, rel=1e-6)
    f = decision(X, np.zeros(3), 0.0)  # w = 0: printed as perfect, since y f >= 0
    assert (y * f >= 0).all() and set(linear_classify(X, np.zeros(3))) == {-1.0}


@pytest.mark.claims("svm-13", "svm-18")
@pytest.mark.parametrize("d", [2, 5])
def test_hard_margin_is_as_wide_as_the_distance_of_the_hulls(rng, d):
    Z, y = separable(rng, d=d)
    for X in (Z, 0.1 * Z, 7 * Z):
        w, b, _, alpha, _ = hard_margin(X, y)
        width, A = 2 / np.linalg.norm(w), alpha[y > 0].sum()
        assert A == pytest.approx(w @ w / 2) and alpha[y < 0].sum() == pytest.approx(A)
        p, q = (alpha[y == sign] / A @ X[y == sign] for sign in (1, -1))  # points of the hulls
        close(p - q, 2 * w / (w @ w), 1e-6)
        assert decision((p + q) / 2, w, b) == pytest.approx(0, abs=1e-6)
        u, v = (rng.dirichlet(np.full((y == s).sum(), 0.2), 3000) @ X[y == s] for s in (1, -1))
        assert np.linalg.norm(u - v, axis=1).min() >= width - 1e-9  # and no others are closer
        assert closest_points(X[y > 0], X[y < 0]).distance == pytest.approx(width, rel=1e-6)
        assert margin(X, w, b) == pytest.approx(width / 2, rel=1e-6)  # "smallest distance"
        assert abs(2 / (w @ w) / width - 1) > 0.01 < abs(1 / (w @ w) / width - 1)  # are no widths


@pytest.mark.claims("svm-19")
def test_hard_margin_of_two_samples_in_closed_form(rng):
    y = np.array([1.0, -1.0])
    for X in (*(3 * rng.normal(size=(2, d)) + 1 for d in (1, 2, 5)), np.array([[1.0], [-1.0]])):
        gap = X[0] - X[1]
        w, share = 2 * gap / (gap @ gap), 2 / (gap @ gap)
        b = -w @ (X[0] + X[1]) / 2
        machine = hard_margin(X, y)
        close(machine.w, w, 1e-8)
        close([machine.b, *machine.alpha], [b, share, share], 1e-8)
        np.testing.assert_allclose(by_smo(X, y)[0], share, rtol=1e-9)
        assert max(soft_margin_kkt(X, y, w, b, np.zeros(2), np.full(2, share))) < 1e-12
    close([*machine.w, machine.b, *machine.alpha], [1, 0, 0.5, 0.5])


@pytest.mark.claims("svm-21", "svm-39", "svm-40")
def test_lagrangians_by_sums_and_their_gradients(rng):
    X, y = overlapping(rng, n=(5, 4))
    C, theta, (xi, alpha, r) = 1.7, rng.normal(size=3), rng.exponential(size=(3, 9))
    w, b, u = *np.split(theta, [2]), X.T @ (alpha * y)

    def hard(theta):
        return hard_lagrangian(X, y, theta[:2], theta[2], alpha)

    def soft(theta, xi=xi):
        return soft_lagrangian(X, y, theta[:2], theta[2], xi, alpha, r, C)

    sums = w @ w / 2
    for i in range(9):
        sums += C * xi[i] - alpha[i] * (y[i] * (w @ X[i] + b[0]) - 1 + xi[i]) - r[i] * xi[i]
    assert soft(theta) == pytest.approx(sums, rel=1e-12)
    expanded = w @ w / 2 - w @ u - b[0] * (alpha @ y) + alpha.sum()
    assert hard(theta) == pytest.approx(expanded, rel=1e-12)
    for value in (hard, soft):
        check_gradient(value, lambda theta: np.append(theta[:2] - u, -alpha @ y), theta)
    check_gradient(lambda s: soft(theta, s), lambda _: C - alpha - r, xi)
    common = expanded - alpha.sum() + C * xi.sum() - alpha @ xi
    value, a, s = soft(theta), alpha.sum(), r @ xi
    close([common + a - s, common - a - s, common + a + s], [value, value - 2 * a, value + 2 * s])
    # the second is ISML's, and the third PRNN's with + where no sign is printed


@pytest.mark.claims("svm-22")
def test_hard_lagrangian_has_a_saddle_at_the_optimum(hard, rng):
    X, y, (w, b, _, alpha, objective) = hard
    L = hard_lagrangian(X, y, w, b, alpha)
    assert L == pytest.approx(objective, rel=1e-9)
    assert L == pytest.approx(soft_margin_dual(alpha, X @ X.T, y), rel=1e-9)  # min over w, b
    for other in rng.exponential(size=(100, len(y))):
        assert hard_lagrangian(X, y, w, b, other) <= L + 1e-9
    for v in rng.normal(size=(100, 3)):
        assert hard_lagrangian(X, y, w + v, b + rng.normal(), alpha) >= L - 1e-9
    t = 1e6
    assert hard_lagrangian(X, y, 2 * w, 2 * b, alpha + t) < -1e6  # "min over alpha"
    assert hard_lagrangian(X, y, t * w, b, alpha) > 1e10  # "max L"
    uneven = alpha + np.eye(len(y))[0]  # nothing bars it, but its minimum over b is -inf
    assert hard_lagrangian(X, y, w, t * np.sign(uneven @ y), uneven) < -1e5
    assert soft_margin_dual(uneven, X @ X.T, y) == -inf


@pytest.mark.claims("svm-23", "svm-24", "svm-27")
def test_support_vectors_lie_on_the_margins_and_alone_determine_the_machine(hard, rng):
    X, y, (w, b, xi, alpha, objective) = hard
    assert max(soft_margin_kkt(X, y, w, b, xi, alpha)) < 1e-7
    above, S = y * decision(X, w, b), support_vectors(alpha)
    assert list(S) == [i for i in range(len(y)) if alpha[i] > 0] and 2 <= len(S) < len(y) / 2
    close(w, sum(alpha[i] * y[i] * X[i] for i in S))
    close(alpha[y > 0].sum(), alpha[y < 0].sum(), 1e-7)
    assert above.min() > 1 - 1e-7 and alpha.min() > -1e-7 and alpha @ np.abs(above - 1) < 1e-6
    assert set(np.round(decision(X[S], w, b), 6)) == {-1.0, 1.0}  # on the margins of both classes
    by_dual = by_smo(X, y)[0]
    v, c = recover(X, y, by_dual)
    close([*v, c], [*w, b], 1e-5)
    close([y[j] - v @ X[j] for j in support_vectors(by_dual)], c, 1e-6)
    others, moved = np.setdiff1d(np.arange(len(y)), S), X.copy()
    for i in others:
        on_the_line = project_on_hyperplane(4 * rng.normal(size=(1, 3)), w, b - y[i])[0]
        moved[i] = on_the_line + y[i] * rng.exponential() * w
    assert np.abs(moved - X).max() > 1
    for again in (hard_margin(X[S], y[S]), hard_margin(moved, y)):
        close([*again.w, again.b], [*w, b], 1e-6)
    less = hard_margin(np.delete(X, S[0], 0), np.delete(y, S[0]))  # a support vector matters
    assert less.objective < objective * (1 - 1e-3)


@pytest.mark.claims("svm-25", "svm-71")
def test_soft_margin_dual_is_the_least_lagrangian(rng):
    X, y = separable(rng)
    K = X @ X.T
    for _ in range(5):
        alpha = balanced(rng, y)
        q, beta = soft_margin_dual(alpha, K, y), alpha * y
        double = sum(beta[i] * beta[j] * (X[i] @ X[j]) for i, j in np.ndindex(K.shape))
        assert q == pytest.approx(alpha.sum() - double / 2, rel=1e-10)
        for b in (-50.0, 3.0):
            assert hard_lagrangian(X, y, X.T @ beta, b, alpha) == pytest.approx(q, abs=1e-10)
            for v in rng.normal(size=(20, 3)):
                assert hard_lagrangian(X, y, X.T @ beta + v, b, alpha) >= q - 1e-9
    assert np.linalg.eigvalsh(K * np.outer(y, y)).min() >= -1e-10
    uneven = balanced(rng, y) + 0.01 * (y > 0)  # L is linear in b
    values = [hard_lagrangian(X, y, np.zeros(3), b, uneven) for b in (0.0, 1e6, 2e6)]
    np.testing.assert_allclose(np.diff(values), -1e6 * (uneven @ y), rtol=1e-9)
    for one in 0.05 * np.eye(len(y)):  # SMO takes two, since one alone breaks the sum
        assert soft_margin_dual(alpha + one, K, y) == -inf
    for scale in (1e-12, 1.0, 1e8):  # out of balance or not has no unit
        assert soft_margin_dual(scale * uneven, K, y) == -inf
        assert soft_margin_dual(scale * balanced(rng, y), K, y) > -inf
    assert soft_margin_dual(np.zeros(len(y)), K, y) == 0.0


@pytest.mark.claims("svm-26")
def test_c_dual_has_weak_and_strong_duality(hard, rng):
    X, y, (w, b, *_, best) = hard
    K = X @ X.T
    beta, value = solve_dual(K, c_dual(y))
    alpha = beta * y
    assert value == pytest.approx(best, rel=1e-6)
    assert soft_margin_dual(alpha, K, y) == pytest.approx(value, rel=1e-9)
    assert alpha.sum() == pytest.approx(w @ w, rel=1e-6)
    costs = [v @ v / 2 for v, _ in feasible_hard(X, y, w, b, rng)]
    for _ in range(100):
        bound = soft_margin_dual(balanced(rng, y, most=rng.uniform(0.1, 9)), K, y)
        assert bound <= best + 1e-9 <= min(costs) + 2e-9


@pytest.mark.claims("svm-28")
def test_hard_margin_weights_are_unique_and_multipliers_are_not(hard, rng):
    X, y, (w, b, *_) = hard
    for v, c in feasible_hard(X, y, w, b, rng):
        assert v @ v > w @ w * (1 + 1e-9) or np.allclose([*v, c], [*w, b], atol=1e-6)
    X, y = SQUARE
    w, b, *_, best = hard_margin(X, y)
    close([*w, b], [1, 0, 0])
    for alpha in SQUARE_ALPHAS:  # all four on the margin, and not all support vectors
        assert max(soft_margin_kkt(X, y, np.array([1.0, 0]), 0.0, np.zeros(4), alpha)) == 0
        assert soft_margin_dual(alpha, X @ X.T, y) == 0.5 == pytest.approx(best)
        v, c = recover(X, y, alpha)
        close([*v, c], [1, 0, 0], 1e-12)
        ends = offset_intervals(y - X @ X.T @ (alpha * y), c_dual(y), alpha * y)
        np.testing.assert_array_equal(ends, [[0.0, 0.0]])  # one b
    # strictly convex would mean below the chord between any two (w, b): it is level in b
    assert erm_objective(X, y, w, 5.0, C=0.0) == erm_objective(X, y, w, -5.0, C=0.0)


@pytest.mark.claims("svm-32")
def test_hard_margin_refuses_what_nothing_separates_and_its_dual_has_no_maximum():
    X, y = XOR
    for t in (1.0, 1e3, 1e6):
        assert soft_margin_dual(np.full(4, t), X @ X.T, y) == 4 * t
    with pytest.raises(UnboundedError, match="bounded below"):
        solve_dual(X @ X.T, c_dual(y))
    with pytest.raises(InfeasibleError, match="common point") as caught:
        hard_margin(X, y)
    lam = caught.value.certificate  # sum_i lam_i y_i (x_i, 1) = 0 and sum_i lam_i > 0
    assert (lam >= 0).all() and lam.sum() > 0
    close(augment(X).T @ (lam * y) / lam.sum(), 0, 1e-12)
    assert soft_margin(X, y, C=3.0).objective == pytest.approx(12)


# --- Soft margin -----------------------------------------------------------------------


def program(X, y, norm, cost, offset=True):
    """min norm/2 ||w||^2 + cost sum_i xi_i over (w, b, xi) as a quadratic program of its own."""
    n, d = X.shape
    P, q = np.diag(np.repeat([norm, 0.0], [d, n + 1])), np.repeat([0.0, cost], [d + 1, n])
    margins = np.column_stack([y[:, None] * X, y, np.eye(n)])
    slacks = np.column_stack([np.zeros((n, d + 1)), np.eye(n)])
    A = np.eye(1, d + 1 + n, d)[: not offset]  # b = 0
    return solve_qp(P, q, A, np.zeros(len(A)), np.vstack([margins, slacks]), np.repeat([1.0, 0], n))


@pytest.mark.claims("svm-33")
def test_hinge_is_the_least_feasible_slack(rng):
    X, y = overlapping(rng)
    w, b = rng.normal(size=2), -0.6
    f = decision(X, w, b)
    xi = hinge(f, y)
    assert (y * f >= 1 - xi - 1e-12).all() and (xi >= 0).all()
    assert (y * f < 1 - 0.999 * xi)[xi > 0].all()  # any less, and the margin is missed
    np.testing.assert_array_equal(xi > 1, np.sign(f) != y)
    assert 0 < (xi > 1).sum() < len(y) and ((xi > 0) & (xi < 1)).any()
    walks = np.abs(signed_distance(X, w, b - y))  # to the margin line of the sample's class
    np.testing.assert_allclose(walks[xi > 0], xi[xi > 0] / np.linalg.norm(w), rtol=1e-10)


@pytest.mark.claims("svm-34", "svm-41")
@pytest.mark.parametrize("C", [1e-6, 0.7, 1e6])
def test_soft_margin_by_hinge_dual_and_neighbours(rng, C):
    X, y = overlapping(rng)
    w, b, xi, alpha, best = soft_margin(X, y, C)
    close(xi, np.maximum(0, 1 - y * (X @ w + b)), 1e-6)
    assert best == pytest.approx(w @ w / 2 + C * xi.sum(), rel=1e-9)
    K = X @ X.T
    dual = solve_dual(K, c_dual(y, C))
    assert dual.objective == pytest.approx(best, rel=1e-6)
    assert soft_margin_dual(dual.beta * y, K, y) == pytest.approx(best, rel=1e-6)
    for beta in (dual.beta, alpha * y):
        close(X.T @ beta, w, 1e-6 * max(1, C**0.5))
    for scale in (1e-3, 1.0):
        for step in rng.normal(size=(50, 3)) * scale:
            assert erm_objective(X, y, w + step[:2], b + step[2], C) >= best * (1 - 1e-9)
    for _ in range(100):
        assert soft_margin_dual(balanced(rng, y, most=C), K, y) <= best


@pytest.mark.claims("svm-35")
def test_soft_margin_of_rep_counts_slack_half(rng):
    X, y = overlapping(rng)
    C = 0.1
    ours, rep = soft_margin(X, y, C), program(X, y, 2.0, 2 * C)  # min w^T w + 2 C sum xi
    close(rep.x, [*ours.w, ours.b, *ours.xi], 1e-6)
    assert rep.objective == pytest.approx(2 * ours.objective, rel=1e-6)
    assert np.abs(program(X, y, 2.0, C).x[:3] - [*ours.w, ours.b]).max() > 1e-3


@pytest.mark.claims("svm-36")
def test_soft_margin_of_free_slack_is_not_one_without_slack(rng):
    X, y = overlapping(rng, n=(7, 3))
    for C, near in ((1e-3, 0.1), (1e-6, 1e-4)):
        machine = soft_margin(X, y, C)
        assert np.linalg.norm(machine.w) < near
        assert machine.objective / C == pytest.approx(2 * 3, rel=near)
        assert machine.xi.sum() > 5.5  # printed as 0
    sums = [hinge(np.full(10, b), y).sum() for b in np.linspace(-3, 3, 601)]
    assert min(sums) == pytest.approx(2 * 3)
    for b in (-2.0, 0.0, 9.0):  # any b is optimal: the penalty is 0, the slack is not
        assert erm_objective(X, y, np.zeros(2), b, C=0.0) == 0.0


@pytest.mark.claims("svm-37")
def test_soft_margin_is_hard_from_the_largest_multiplier_on(hard):
    X, y, hard = hard
    largest = hard.alpha.max()
    for C in (1.01 * largest, 100 * largest, inf):
        soft = soft_margin(X, y, C)
        close([*soft.w, soft.b], [*hard.w, hard.b], 1e-6)
        assert soft.xi.sum() < 1e-7
    assert soft_margin(X, y, 0.9 * largest).xi.sum() > 1e-3
    X, y = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([1.0, -1.0])  # alpha = 2 / 5^2
    for C, held in ((2 / 25 * (1 + 1e-6), True), (2 / 25 * (1 - 1e-6), False)):
        assert (soft_margin(X, y, C).xi.sum() < 1e-9) == held


@pytest.mark.claims("svm-38")
def test_soft_margin_trades_width_against_slack_but_errors_may_rise(rng):
    X, y = overlapping(rng, n=(13, 9))
    machines = [soft_margin(X, y, C) for C in np.geomspace(1e-4, 1e2, 9)]
    S = np.array([machine.xi.sum() for machine in machines])
    norm = np.array([np.linalg.norm(machine.w) for machine in machines])
    assert (np.diff(S) <= 1e-7).all() and (np.diff(norm) >= -1e-7).all()
    assert S[0] > S[-1] + 1 and norm[-1] > 10 * norm[0]
    assert (np.diff([machine.objective for machine in machines]) >= 0).all()
    for a, c in ((1e-3, 1e-1), (1.0, 100.0)):  # concave in C
        low, middle, high = (soft_margin(X, y, C).objective for C in (a, (a + c) / 2, c))
        assert middle > (low + high) / 2
    X = np.array([[3.0, -4], [-3, -2], [-3, 3], [3, 1], [-4, -4], [-2, -1], [1, 0]])
    y = np.array([1.0, -1, 1, 1, -1, 1, -1])
    errors = []
    for C in (0.2, 3.0):
        alpha, w, b = by_smo(X, y, C)
        assert ((alpha > 0) & (alpha < C)).any()  # one b
        errors.append(int((linear_classify(X, w, b) != y).sum()))
    assert errors == [1, 2]


@pytest.mark.claims("svm-41", "svm-42")
def test_soft_lagrangian_loses_its_slack_iff_alpha_and_r_sum_to_c(rng):
    X, y = overlapping(rng)
    K, C, n = X @ X.T, 0.8, len(y)
    alpha = balanced(rng, y, most=C)
    w, q = X.T @ (alpha * y), soft_margin_dual(alpha, K, y)

    def value(xi, r, b=0.0):
        return soft_lagrangian(X, y, w, b, xi, alpha, r, C)

    for xi in 5 * rng.normal(size=(5, n)):  # of any sign
        assert value(xi, C - alpha, rng.normal()) == pytest.approx(q, abs=1e-10)
    for r, sign in ((0.5 * (C - alpha), -1), (C - alpha + 1, 1)):  # C - alpha - r > 0, and < 0
        slope = (C - alpha - r).sum()
        for t in (0.0, 1e3, 1e6):
            fall = abs(slope) * t
            assert value(np.full(n, sign * t), r) - q == pytest.approx(-fall, rel=1e-9, abs=1e-9)
        assert value(np.full(n, -sign * 1e6), r) > q  # xi -> 0 is best on this side only
    for xi in rng.exponential(size=(50, n)):  # xi >= 0 kept, and no r: the same dual
        assert value(xi, np.zeros(n)) >= q - 1e-9


@pytest.mark.claims("svm-41", "svm-61")
def test_c_dual_is_the_box_in_signed_multipliers():
    y = np.array([1.0, -1.0, 1.0])
    p, lower, upper, start, groups = c_dual(y, C=2.0)
    for beta in product((-2.5, -2.0, -1.0, 0.0, 1.0, 2.0, 2.5), repeat=3):
        alpha = y * beta
        inside = ((alpha >= 0) & (alpha <= 2)).all()
        assert inside == ((lower <= beta) & (beta <= upper)).all()
        assert p @ beta == alpha.sum()
    assert not start.any() and groups.tolist() == [[True] * 3]
    bounds = c_dual(y, C=np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal([bounds.lower, bounds.upper], [[0, -2, 0], [1, 0, 3]])
    np.testing.assert_array_equal(c_dual(y).upper, [inf, 0, inf])


@pytest.mark.claims("svm-43")
def test_c_dual_without_the_sum_is_the_machine_without_offset(rng):
    X, y = overlapping(rng)
    X += 2.0  # off-centre: it needs its b
    C, K = 0.3, X @ X.T
    dual, no_offset = c_dual(y, C), program(X, y, 1.0, C, offset=False)
    box_only = solve_dual(K, dual._replace(groups=dual.groups[:0]))
    assert box_only.objective == pytest.approx(no_offset.objective, rel=1e-6)
    close(X.T @ box_only.beta, no_offset.x[:2], 1e-6)
    best = soft_margin(X, y, C).objective
    assert box_only.objective > 1.05 * best and abs(box_only.beta.sum()) > 0.1
    assert solve_dual(K, dual).objective == pytest.approx(best, rel=1e-6)


@pytest.mark.claims("svm-39")
def test_soft_margin_kkt_sees_each_condition(rng):
    X, y = overlapping(rng)
    C = 0.8
    w, b, xi, alpha, _ = soft_margin(X, y, C)
    free = np.argmax(np.minimum(alpha, C - alpha))
    bound, zero = np.argmax(xi), np.argmax(y * decision(X, w, b))
    unit = np.eye(len(y))

    def hit(**changed):
        values = {"w": w, "b": b, "xi": xi, "alpha": alpha, "C": C, **changed}
        residuals = soft_margin_kkt(X, y, **values)
        return {name for name, value in residuals._asdict().items() if value > 1e-6}

    assert hit() == set()
    assert hit(w=w + [0.1, 0.0]) >= {"weights"} <= hit(w=2 * w)
    assert hit(alpha=alpha + 0.01 * unit[free]) == {"weights", "balance"}
    assert hit(b=b + 0.1) == {"margins", "on_the_margin"}
    assert hit(xi=xi - 0.1 * unit[zero]) == {"slack", "at_the_bound"}
    assert hit(xi=xi - 0.1 * unit[bound]) == {"margins", "on_the_margin"}
    assert hit(alpha=alpha + 0.1 * unit[bound]) >= {"box", "balance", "at_the_bound"}
    assert hit(alpha=alpha - 0.1 * unit[zero]) >= {"box", "on_the_margin"}
    assert hit(xi=xi + 0.1 * unit[zero]) == {"at_the_bound"}
    assert hit(C=inf) == {"at_the_bound"}  # no slack in a hard margin
    small = [np.array(each, dtype=np.int8) for each in ([[99], [-99]], [1, -1], [99, 99])]
    assert soft_margin_kkt(*small[:2], np.zeros(1), 0.0, np.zeros(2), small[2]).weights == 2 * 99**2


@pytest.mark.claims("svm-44", "svm-45", "svm-46", "svm-47")
def test_a_multiplier_tells_where_its_sample_lies(rng):
    X, y = overlapping(rng)
    C = 0.8
    alpha, w, b = by_smo(X, y, C)
    f = decision(X, w, b)
    xi, zero, bound = hinge(f, y), alpha == 0, alpha == C
    free = ~zero & ~bound
    assert min(zero.sum(), free.sum(), bound.sum()) > 1 and (alpha >= 0).all() and max(alpha) <= C
    assert ((y * f)[zero] >= 1 - 1e-6).all() and (xi[~bound] < 1e-6).all()
    close((y * f)[free], 1, 1e-6)  # so that y f - 1 = 0, and not y f + 1 as printed
    close((y * f)[bound], 1 - xi[bound], 1e-7)
    assert (xi[bound] > 1e-3).sum() > 3  # support vectors, where y f = 1 is printed
    wrong = np.sign(f) != y
    np.testing.assert_array_equal(wrong, xi > 1)
    assert bound[wrong].all() and 0 < wrong.sum() < (bound & ~wrong).sum()  # most are right
    assert np.abs((alpha[free] * y[free]) @ X[free] - w).max() > 0.1  # the bound ones build w too
    again = soft_margin(X[y * f <= 1 + 1e-6], y[y * f <= 1 + 1e-6], C)
    close([*again.w, again.b], [*w, b], 1e-5)  # the others do not matter
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    alpha, w, b = by_smo(X, y, C=0.5)  # both at C, and on the margin: xi = 0
    assert alpha.tolist() == [0.5, 0.5] and (y * decision(X, w, b)).tolist() == [1.0, 1.0]


# --- Squared slack ---------------------------------------------------------------------


@pytest.mark.claims("svm-58")
@pytest.mark.parametrize("C", [0.2, 3.0])
def test_squared_slack_margin_by_its_dual_and_its_conditions(rng, C):
    X, y = two_classes(rng, (12, 9), shift=0.3)
    w, b, xi, alpha, best = squared_slack_margin(X, y, C)
    f = y * (X @ w + b)
    loss = C / 2 * np.sum(np.maximum(0, 1 - f) ** 2)  # xi >= 0 without being asked
    assert best == pytest.approx(w @ w / 2 + loss, rel=1e-9)
    K = X @ X.T + np.eye(len(y)) / C
    dual = solve_dual(K, c_dual(y))
    assert dual.objective == pytest.approx(best, rel=1e-8)
    close(np.abs(dual.beta), alpha, 1e-7)
    close([xi, xi], [alpha / C, np.maximum(0, 1 - f)], 1e-8)
    close(w, (alpha * y) @ X, 1e-8)
    assert abs(alpha @ y) < 1e-8 and alpha.max() > C
    np.testing.assert_array_equal(alpha > C, f < 0)  # what is misclassified


@pytest.mark.claims("svm-59")
def test_squared_slack_margin_is_the_hard_margin_with_a_ridge_and_always_unique(rng):
    X, y = two_classes(rng, (8, 6))
    C, n = 0.6, len(y)
    lifted = np.hstack([X, np.diag(y) / np.sqrt(C)])  # features with the kernel K + I / C
    hard, soft = hard_margin(lifted, y), squared_slack_margin(X, y, C)
    close(hard.alpha, soft.alpha, 1e-7)
    assert hard.objective == pytest.approx(soft.objective, rel=1e-8)
    assert np.linalg.eigvalsh(X @ X.T + np.eye(n) / C)[0] >= 1 / C - 1e-12
    close(squared_slack_margin(*XOR, C=2.0).alpha, 2.0)  # w = 0, xi = 1: it always exists
    # of four samples on the margin the hard machine has many alpha, this one a single one
    X, y = SQUARE
    starts = [c_dual(y)._replace(start=alpha * y) for alpha in SQUARE_ALPHAS[1:]]
    for ridge, count in ((0.0, 2), (0.5, 1)):
        K = X @ X.T + ridge * np.eye(4)
        betas = [solve(K, dual, 1e-10, -1).beta.round(8) + 0.0 for dual in starts]
        assert len(np.unique(betas, axis=0)) == count


@pytest.mark.claims("svm-60")
def test_squared_slack_line_as_printed_and_as_it_is(rng):
    X, y = two_classes(rng, (6, 5), d=3)
    C, n, alpha = 0.7, len(y), balanced(rng, y)
    w = (alpha * y) @ X
    q = soft_margin_dual(alpha, X @ X.T + np.eye(n) / C, y)
    crosses = alpha @ (y * (X @ w)), alpha @ (X @ w) / C  # right; printed without labels
    lasts = alpha @ alpha / C, alpha.sum() / C  # right; printed without squares
    start = w @ w / 2 + alpha @ alpha / (2 * C) + alpha.sum()
    lines = np.array([start - cross - last for cross, last in product(crosses, lasts)])
    assert lines[0] == pytest.approx(q, abs=1e-9) and np.abs(lines[1:] - q).min() > 1e-2


# --- The primal ------------------------------------------------------------------------


@pytest.mark.claims("svm-54")
@pytest.mark.parametrize("y", [-1, 1])
def test_hinge_is_convex_above_the_error_and_has_the_subgradient_minus_y(y):
    s = np.linspace(-3, 3, 121)
    S, T = np.meshgrid(s, s)
    assert (hinge((S + T) / 2, y) <= (hinge(S, y) + hinge(T, y)) / 2 + 1e-15).all()
    assert (hinge(s, y) >= (y * s <= 0)).all()
    np.testing.assert_array_equal(hinge(s, y) == 0, y * s >= 1)
    assert not (np.maximum(0, -y * s) >= (y * s <= 0)).all()  # the perceptron's loss is not above

    def supports(at_kink, beyond=1):
        g = np.where(y * S < beyond, -y, np.where(y * S == beyond, at_kink * -y, 0))
        return (hinge(T, y) >= hinge(S, y) + g * (T - S) - 1e-12).all()

    assert y in s and all(supports(share) for share in (0, 0.3, 1))
    assert not supports(1.1) and not supports(0, beyond=0)


@pytest.mark.claims("svm-55", "svm-56")
def test_erm_objective_has_the_machine_for_its_minimiser_and_the_mean_for_its_risk(rng):
    X, y = two_classes(rng, (15, 11))
    C, n, v, c = 0.7, len(y), rng.normal(size=2), 0.3
    by_hand = v @ v / 2 + C * sum(max(0.0, 1 - t) for t in y * (X @ v + c))
    assert erm_objective(X, y, v, c, C) == pytest.approx(by_hand, rel=1e-12)
    w, b, _, alpha, best = soft_margin(X, y, C)
    assert erm_objective(X, y, w, b, C) == pytest.approx(best)
    # 0 is a subgradient: alpha_i / C between the slopes of the loss
    theta, f = alpha / C, y * (X @ w + b)
    assert theta[f < 1 - 1e-7] == pytest.approx(1) and theta[f > 1 + 1e-7] == pytest.approx(0)
    close([*(w - C * (theta * y) @ X), theta @ y], 0, 1e-8)
    copies, labels = np.tile(X, (3, 1)), np.tile(y, 3)  # under the mean they change nothing
    for Z, t in ((X, y), (copies, labels)):
        close(program(Z, t, 1 / (n * C), 1 / len(t)).x[:3], [*w, b], 1e-7)
    shared = soft_margin(copies, labels, C / 3)
    close([*shared.w, shared.b], [*w, b], 1e-7)
    assert np.abs(soft_margin(copies, labels, C).w - w).max() > 0.01  # the printed sum


@pytest.mark.claims("svm-55")
def test_subgradient_descent_comes_down_to_the_optimum_and_never_below(rng):
    X, y = two_classes(rng, (15, 11))
    C = 0.1
    optimum = soft_margin(X, y, C).objective
    states = list(islice(subgradient_descent(X, y, C), 2001))
    values = np.array([state.objective for state in states])
    assert (values >= optimum - 1e-9).all() and (np.diff(values) > 0).any()  # no descent method
    np.testing.assert_array_equal([s.best for s in states], np.minimum.accumulate(values))
    assert states[-1].best < optimum * (1 + 1e-3) < states[5].best
    assert states[0].moved == inf and not states[0].w.any()
    w, b = np.zeros(2), 0.0  # the rule, sample by sample
    for t in range(1, 30):
        inside = [i for i in range(len(y)) if y[i] * (w @ X[i] + b) < 1]
        new_w = w - (w - C * sum((y[i] * X[i] for i in inside), np.zeros(2))) / t
        new_b = b + C * sum(y[i] for i in inside) / t
        moved = np.sqrt(np.sum((new_w - w) ** 2) + (new_b - b) ** 2)
        w, b = new_w, new_b
        close([*states[t].w, states[t].b, states[t].moved], [*w, b, moved], 1e-12)


# --- The nu machine --------------------------------------------------------------------


@pytest.mark.claims("svm-75")
def test_nu_margin_has_no_gap_up_to_twice_the_smaller_class_and_is_unbounded_beyond(rng):
    X, y = two_classes(rng, (4, 12), shift=0.8)
    for nu in (0.05, 0.25, 0.5):
        w, b, rho, xi, alpha, best = nu_margin(X, y, nu)
        assert solve_dual(X @ X.T, nu_dual(y, nu)).objective == pytest.approx(best, abs=1e-8)
        assert best <= 1e-9 and rho >= -1e-9
        assert best == pytest.approx(w @ w / 2 - nu * rho + xi.mean(), abs=1e-9)
        close(xi, np.maximum(0, rho - y * (X @ w + b)), 1e-7)
        assert alpha.sum() == pytest.approx(nu, abs=1e-8)
    for infeasible in (0.51, -0.1):
        with pytest.raises(UnboundedError):
            nu_margin(X, y, infeasible)
    assert nu_dual(y, 0.6).upper.sum() < 0.6 / 2  # nor does the dual have a feasible point
    t = np.array([1.0, 10.0, 100.0])  # along b = -t, rho = t, xi_+ = 2 t
    xi = np.outer(t, 2 * (y > 0))
    assert (np.outer(-t, y) >= t[:, None] - xi - 1e-12).all()
    for nu, slope in ((0.6, -0.1), (0.4, 0.1)):
        assert -nu * t + xi.mean(axis=1) == pytest.approx(slope * t)


def nu_lagrangian(X, y, nu, theta, alpha, r, printed=False):
    """L at theta = (w, b, xi, rho); as printed, b is outside the bracket of y_i."""
    n, d = X.shape
    w, b, xi, rho = theta[:d], theta[d], theta[d + 1 : d + 1 + n], theta[-1]
    scores = y * (X @ w) + b if printed else y * (X @ w + b)
    return w @ w / 2 - nu * rho + xi.mean() - r @ xi + alpha @ (rho - xi - scores)


@pytest.mark.claims("svm-76", "svm-80")
def test_nu_margin_meets_its_conditions_with_b_inside_the_bracket(rng):
    X, y = two_classes(rng, (9, 8), shift=0.7)
    nu, n = 0.5, 17
    machine = nu_margin(X, y, nu)
    alpha, f = machine.alpha, X @ machine.w + machine.b
    theta, r = np.concatenate([machine.w, [machine.b], machine.xi, [machine.rho]]), 1 / n - alpha
    slope = differences(lambda t: nu_lagrangian(X, y, nu, t, alpha, r), theta)
    assert np.abs(slope).max() < 1e-7  # in w, b, xi and rho
    assert machine.rho > 0.1 and alpha.min() > -1e-12 and r.min() > -1e-9
    above = machine.rho - machine.xi - y * f
    assert above.max() < 1e-7 and machine.xi.min() > -1e-9
    assert np.abs(alpha * above).max() < 1e-7 and np.abs(r * machine.xi).max() < 1e-7
    value = nu_lagrangian(X, y, nu, theta, alpha, r)
    assert value == pytest.approx(machine.objective, abs=1e-8)
    moved = theta + np.eye(n + 4)[2]  # by 1 in b
    as_printed = [nu_lagrangian(X, y, nu, t, alpha, r, printed=True) for t in (theta, moved)]
    assert np.diff(as_printed)[0] == pytest.approx(-nu)  # a slope, so that L is unbounded below


@pytest.mark.claims("svm-77")
@pytest.mark.parametrize("n", [(20, 20), (12, 25)])
def test_nu_is_between_margin_errors_and_support_vectors(rng, n):
    X, y = two_classes(rng, n, shift=0.7)
    total = sum(n)
    for nu in np.linspace(0.65, 1.0, 4) * 2 * min(n) / total:
        machine = nu_margin(X, y, nu)
        assert machine.rho > 1e-3
        errors = y * (X @ machine.w + machine.b) < machine.rho - 1e-7
        vectors = machine.alpha > 1e-9
        assert errors.mean() <= nu + 1e-9 and nu <= vectors.mean() + 1e-9
        close(machine.alpha[errors], 1 / total, 1e-8)
    # of C the share is no simple function: the same C, another scale of the features
    shares = [len(SVC(C=0.1, kernel="linear").fit(s * X, y).support_) / total for s in (0.01, 10)]
    assert shares[0] > shares[1] + 0.2
    scaled = [len(NuSVC(nu=0.5, kernel="linear", tol=1e-7).fit(s * X, y).support_) for s in (1, 10)]
    assert abs(scaled[0] - scaled[1]) <= 1


@pytest.mark.claims("svm-78", "svm-79")
@pytest.mark.parametrize("nu", [0.35, 0.5])
def test_nu_margin_divided_by_rho_is_the_soft_margin(rng, nu):
    X, y = two_classes(rng, (14, 12), shift=0.8)
    w, b, rho, xi, alpha, _ = nu_margin(X, y, nu)
    C, printed = 1 / (rho * len(y)), len(y) / rho
    assert rho > 0.05 and abs(rho - 1) > 0.1
    soft = soft_margin(X, y, C)
    close([*w / rho, b / rho], [*soft.w, soft.b], 1e-6)
    close([xi / rho, alpha / rho], [soft.xi, soft.alpha], 1e-6)
    scaled = w / rho, b / rho, xi / rho, alpha / rho
    assert max(soft_margin_kkt(X, y, *scaled, C)) < 1e-6
    assert soft_margin_kkt(X, y, *scaled, printed).at_the_bound > 1
    assert np.abs(soft_margin(X, y, printed).w - w / rho).max() > 1e-2
    undivided = soft_margin_kkt(X, y, w, b, xi, alpha, C)  # the same classifier, other numbers
    assert undivided.on_the_margin > 1e-3


# --- The dual problem ------------------------------------------------------------------


def objective(K, dual, beta):
    """p^T beta - 1/2 beta^T K beta, entry by entry."""
    n = len(beta)
    double = sum(beta[i] * beta[j] * K[i, j] for i in range(n) for j in range(n))
    return sum(dual.p[i] * beta[i] for i in range(n)) - double / 2


def ends(K, dual, beta):
    """The ends of the interval of offsets of every group, from the definition."""
    g, intervals = dual.p - K @ beta, []
    for members in map(np.flatnonzero, dual.groups):
        low = max((g[i] for i in members if beta[i] < dual.upper[i]), default=-inf)
        high = min((g[i] for i in members if beta[i] > dual.lower[i]), default=inf)
        intervals.append((low, high))
    return np.array(intervals)


def worst_pair(K, dual, beta):
    return max(low - high for low, high in ends(K, dual, beta))


def assert_feasible(dual, beta, atol=1e-12):
    assert (beta >= dual.lower).all() and (beta <= dual.upper).all()
    off = dual.groups @ beta - dual.groups @ dual.start
    assert (np.abs(off) <= atol * (1 + np.abs(beta).sum())).all()


def duals(seed, kernel):
    """Three machines of a small random sample, with C from 0.01 to 100: name -> K, dual."""
    rng = np.random.default_rng(seed)
    X, y = two_classes(rng, rng.integers(2, 13, size=2), rng.integers(1, 4), rng.uniform(0.2, 1.5))
    C, limit = 10 ** rng.uniform(-2, 2), 2 * min((y > 0).mean(), (y < 0).mean())
    K, nu = KERNELS[kernel](X), rng.uniform(0.3, 0.99) * limit
    ridged = K + np.eye(len(y)) / C
    return {"C": (K, c_dual(y, C)), "nu": (K, nu_dual(y, nu)), "L2": (ridged, c_dual(y))}


def test_fill_keeps_the_sum_and_the_bounds(rng):
    for most in rng.uniform(size=(20, 6)):
        total = rng.uniform() * most.sum()
        filled = fill(most, total)
        assert filled.sum() == pytest.approx(total)
        assert (filled >= 0).all() and (filled <= most).all()


def test_nu_dual_has_a_group_for_each_class_and_shares_for_bounds():
    y, shares = np.array([-1.0, 1.0, -1.0, 1.0, 1.0]), np.array([3.0, 2.0, 1.0, 1.0, 1.0]) / 8
    dual = nu_dual(y, 0.9, shares)
    np.testing.assert_array_equal(dual.groups, [y > 0, y < 0])
    np.testing.assert_array_equal(dual.upper, np.where(y > 0, shares, 0))
    np.testing.assert_array_equal(dual.lower, np.where(y < 0, -shares, 0))
    np.testing.assert_allclose(dual.groups @ dual.start, [0.45, -0.45])
    assert not dual.p.any()


# --- Offset and certificate ------------------------------------------------------------


@pytest.mark.claims("svm-48", "svm-49")
def test_offsets_are_those_of_the_free_support_vectors_alone(rng):
    X, y = overlapping(rng, n=(30, 12))
    C, dual, K = 0.8, c_dual(y, 0.8), X @ X.T
    alpha, w, b = by_smo(X, y, C)
    each, free, bound = y - X @ w, (alpha > 0) & (alpha < C), alpha == C
    assert free.sum() > 1 and b == pytest.approx(soft_margin(X, y, C).b, abs=1e-6)
    close(each[free], b, 1e-6)
    value = soft_margin_dual(alpha, K, y)
    values = [erm_objective(X, y, w, kink, C) for kink in each]  # the primal is linear between
    assert erm_objective(X, y, w, b, C) == pytest.approx(min(values)) == pytest.approx(value)
    xi = hinge(decision(X, w, b), y)
    close(each[bound] - b, (y * xi)[bound], 1e-6)  # not b
    printed = each[alpha > 0].mean()
    assert erm_objective(X, y, w, printed, C) > value * (1 + 1e-5)
    (ours,) = offsets(each, dual, alpha * y)
    assert ours == pytest.approx(each[free].mean(), rel=1e-12)
    spread = 0.0
    for state in smo(K, dual):  # before the end they differ, and their mean is no worse
        free = dual.free(state.beta)
        if state.violation < 0.2 and free.sum() > 1:
            each, (mean,) = state.gradient[free], offsets(state.gradient, dual, state.beta)
            assert abs(mean - b) <= np.mean(np.abs(each - b)) + 1e-12
            spread = max(spread, np.ptp(each))
    assert spread > 1e-3


@pytest.mark.claims("svm-50")
def test_offset_intervals_hold_every_optimal_b_if_none_is_free():
    X, y = np.array([[0.0], [1.0], [0.5], [1.5]]), np.array([-1.0, -1.0, 1.0, 1.0])
    dual, beta = c_dual(y, C=0.1), 0.1 * y
    close(solve_dual(X @ X.T, dual).beta, beta, 1e-12)
    w = beta @ X
    close(offset_intervals(y - X @ w, dual, beta), [[-1.0, 0.85]], 1e-15)
    for b in np.linspace(-1.0, 0.85, 41):
        assert erm_objective(X, y, w, b, 0.1) == pytest.approx(0.395, abs=1e-12)
    for step in (0.01, 1.0):
        assert erm_objective(X, y, w, -1.0 - step, 0.1) > 0.395 + 0.09 * step
        assert erm_objective(X, y, w, 0.85 + step, 0.1) > 0.395 + 0.09 * step
    assert offsets(y - X @ w, dual, beta) == pytest.approx([-0.075])


def test_offsets_with_one_infinite_end_and_away_from_the_optimum():
    y, g = np.array([1.0, 1.0, -1.0, -1.0]), np.array([3.0, 1.0, 4.0, 2.0])
    dual = c_dual(y, 1.0)._replace(groups=np.repeat(np.eye(2, dtype=bool), 2, axis=1))
    up, down = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, -1.0, -1.0])
    np.testing.assert_array_equal(offset_intervals(g, dual, up), [[-inf, 1.0], [-inf, 2.0]])
    np.testing.assert_array_equal(offsets(g, dual, up), [1.0, 2.0])
    np.testing.assert_array_equal(offsets(g, dual, down), [3.0, 4.0])
    assert certify(np.zeros((4, 4)), dual, up).violation == 0.0
    np.testing.assert_array_equal(offsets(y, c_dual(y, 0.0), 0 * y), [0.0])  # no end at all
    whole, beta = c_dual(y, 1.0), np.array([0.5, 0.25, -0.75, 0.0])
    close(offsets(g, whole, beta), [8 / 3])  # the mean of the free, away from the optimum too
    np.testing.assert_array_equal(offset_intervals(g, whole, beta), [[4.0, 1.0]])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_certify_bounds_the_optimum_by_the_losses_as_they_are_written(rng, kernel):
    X, y = two_classes(rng, (9, 7))
    K, C, soft, nu = KERNELS[kernel](X), 0.7, c_dual(y, 0.7), nu_dual(y, 0.6)
    optimum, best = solve_dual(K, soft).objective, solve_dual(K, nu)
    for share in rng.uniform(size=20):
        beta = balanced(rng, y, most=C) * y
        bounds, f, square = certify(K, soft, beta), K @ beta, beta @ K @ beta / 2
        primal = square + C * np.maximum(0, 1 - y * (f + bounds.offsets[0])).sum()
        assert bounds.primal == pytest.approx(primal)
        assert bounds.gap == pytest.approx(primal - bounds.dual, abs=1e-12)
        assert bounds.dual == pytest.approx(np.abs(beta).sum() - square)
        assert bounds.dual <= optimum + 1e-9 <= primal + 2e-9
        assert bounds.violation == pytest.approx(max(0, worst_pair(K, soft, beta)))
        assert certify(K, c_dual(y), 1e-3 * beta).primal == inf  # a hard margin is missed
        beta = nu.start + share * (best.beta - nu.start)
        bounds = certify(K, nu, beta)
        rho, b = np.diff(bounds.offsets)[0] / 2, bounds.offsets.mean()
        losses = np.maximum(0, rho - y * (K @ beta + b))
        primal = beta @ K @ beta / 2 - 0.6 * rho + losses.mean()
        assert bounds.primal == pytest.approx(primal, abs=1e-12)
        assert bounds.dual <= best.objective + 1e-9 <= primal + 2e-9


# --- SMO -------------------------------------------------------------------------------


def assert_fits(K, dual, state, atol):
    """A state is feasible, and its gradient, objective and violation are those of its beta."""
    assert_feasible(dual, state.beta, atol)
    scale = 1 + np.abs(K).max() * np.abs(state.beta).sum()
    close(state.gradient, dual.p - K @ state.beta, atol * scale)
    assert state.objective == pytest.approx(objective(K, dual, state.beta), abs=atol * scale)
    if state.violation < inf:
        worst = worst_pair(K, dual, state.beta)
        assert state.violation == pytest.approx(worst, abs=10 * atol * scale)


@pytest.mark.claims("svm-71")
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
def test_smo_makes_the_best_step_on_the_worst_pair(machine):
    for seed, kernel in product(range(3), ("linear", "rbf")):
        K, dual = duals(seed, kernel)[machine]
        states = list(islice(smo(K, dual), 60))
        assert len(states) > 1 and states[0].pair == ()
        for state in states:  # snapshots: what they hold still fits together at the end
            assert_fits(K, dual, state, atol=1e-11)
        for before, after in itertools.pairwise(states):
            assert_one_step(K, dual, before, after)
        middle = states[len(states) // 2]  # from which it goes on
        start, *then = islice(smo(K, dual, start=middle), 2)
        assert start.beta is middle.beta and start.objective == middle.objective
        for after in then:
            assert_one_step(K, dual, middle, after)
            assert_fits(K, dual, after, atol=1e-11)


def assert_one_step(K, dual, before, after):
    """`after` is the best point of the segment of the pair that the rule says."""
    assert after.objective >= before.objective
    (i, j), g, scale = after.pair, before.gradient, 1e-12 * np.abs(before.beta).max(initial=1.0)
    group = next(group for group in dual.groups if group[i])
    members = np.flatnonzero(group)
    assert j in members and set(np.flatnonzero(after.beta != before.beta)) <= {i, j}
    assert g[i] == max(g[k] for k in members if before.beta[k] < dual.upper[k])
    assert g[j] == min(g[k] for k in members if before.beta[k] > dual.lower[k])
    assert before.violation == g[i] - g[j]  # the largest of all groups: no other pair is worse
    room = min(dual.upper[i] - before.beta[i], before.beta[j] - dual.lower[j])
    t, eta = after.beta[i] - before.beta[i], K[i, i] + K[j, j] - 2 * K[i, j]
    best = min(room, (g[i] - g[j]) / eta if eta > 1e-12 * np.abs(K).max() else inf)
    assert t == pytest.approx(best, rel=1e-6, abs=scale)
    if best == room:  # exactly at a bound
        assert after.beta[i] == dual.upper[i] or after.beta[j] == dual.lower[j]


@pytest.mark.parametrize("b, most", [(0.49, 2.9), (0.67, 1.7)])
def test_smo_steps_to_a_bound_end_exactly_on_it(b, most):
    assert b + (most - b) != most
    y, K = np.array([1.0, -1.0]), np.zeros((2, 2))  # every step goes to the box
    for C, moved in (([most, 9.0], 0), ([9.0, most], 1)):
        dual = c_dual(y, np.array(C))._replace(start=b * y)
        *_, last = smo(K, dual)
        assert last.beta[moved] == most * y[moved] and last.violation <= 0


def test_smo_ends_where_rounding_hides_the_step_and_where_the_step_has_no_end():
    y, K = np.array([1.0, -1.0]), np.eye(2)
    far = svm.SMOState(1e20 * y, y.copy(), (), 0.0, inf)  # a step of 1 is lost in 1e20
    (state,) = smo(K, c_dual(y), start=far)
    assert state.violation == 2.0 and (state.beta == far.beta).all()
    (state,) = smo(np.ones((2, 2)), c_dual(y))  # equal samples of both classes, without slack
    assert state.violation == 2.0 and not state.beta.any()


def test_smo_goes_to_the_box_where_the_objective_bends_upwards(rng):
    """Matrices of no kernel; the objective is that of the matrix as it is."""
    X, y = two_classes(rng, (10, 10), shift=0.3)
    sigmoid, K, upwards = Sigmoid(gamma=2.0, c=-1.0)(X), np.diag([1.0, -2.0, 3.0, -4.0]), 0
    assert np.linalg.eigvalsh(sigmoid)[0] < -0.1
    small = c_dual(np.array([1.0, 1.0, -1.0, -1.0]), 1.0)
    for M, dual in ((K, small), (-K, small), (sigmoid, c_dual(y, 5.0)), (sigmoid, nu_dual(y, 0.6))):
        for before, after in itertools.pairwise(islice(smo(M, dual), 60)):
            assert_one_step(M, dual, before, after)
            value = objective(M, dual, after.beta)
            assert after.objective == pytest.approx(value, abs=1e-10 * (1 + np.abs(M).sum()))
            i, j = after.pair
            upwards += M[i, i] + M[j, j] - 2 * M[i, j] <= 0
    assert upwards > 0


# --- More than two multipliers at a time -----------------------------------------------


@pytest.mark.claims("svm-70")
@pytest.mark.parametrize("size", [4, 8])
def test_chunking_climbs_to_the_optimum(rng, size):
    X, y = two_classes(rng, (4, 4))
    K = KERNELS["rbf"](X)
    for dual in (c_dual(y, 1.5), nu_dual(y, 0.5)):
        best, states = solve_dual(K, dual).objective, []
        for state in islice(chunking(K, dual, size, rng=rng), 200):
            states.append(state)
            assert_fits(K, dual, state, atol=1e-9)
            if best - state.objective < 1e-6 * abs(best):
                break
        np.testing.assert_array_equal(states[0].beta, dual.start)
        assert state.objective == pytest.approx(best, rel=1e-5)
        assert len(states) == 2 or size < 8  # all at once
        for before, after in itertools.pairwise(states):
            assert len(set(after.pair)) == size and after.objective >= before.objective - 1e-9
            assert set(np.flatnonzero(after.beta != before.beta)) <= set(after.pair)


@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
def test_newton_on_free_moves_free_multipliers_alone_and_never_loses(machine):
    moved = 0
    for seed, most, kernel in product(range(5), (5, 99), ("linear", "rbf")):
        K, dual = duals(seed, kernel)[machine]
        for state in islice(smo(K, dual), 0, 40, 4):
            after, F = newton_on_free(K, dual, state, most), np.flatnonzero(dual.free(state.beta))
            rounding = 1e-12 * (1 + abs(state.objective))
            assert after.violation == inf and after.objective >= state.objective - rounding
            assert set(np.flatnonzero(after.beta != state.beta)) <= set(after.pair) <= set(F)
            assert_fits(K, dual, after, atol=1e-9)
            moved += len(after.pair) > 1
    assert moved > 10


def test_newton_step_is_cut_at_the_first_bound_and_newton_on_free_goes_on(rng):
    X, y = two_classes(rng, (30, 30))
    K, dual = KERNELS["laplacian"](X) + np.eye(60), c_dual(y, 0.5)
    state = state_at(K, dual, 0.4 * y)
    cut = state_at(K, dual, newton_step(K, dual, state.beta))
    last, few = (newton_on_free(K, dual, state, most) for most in (60, 10))
    at_bound = [np.count_nonzero(~dual.free(after.beta)) for after in (cut, last)]
    assert at_bound[0] == 1 < at_bound[1] and state.objective < cut.objective < last.objective
    free = dual.free(last.beta)
    np.testing.assert_allclose(last.gradient[free], last.gradient[free].mean(), rtol=1e-6)
    assert np.count_nonzero(few.beta != state.beta) == len(few.pair) == 10
    assert np.ptp(few.pair) == 59  # evenly spread
    assert state.objective < few.objective < last.objective
    edge = c_dual(y, 0.4)._replace(start=0.4 * y)  # nothing is free
    np.testing.assert_array_equal(newton_step(K, edge, state.beta), state.beta)
    np.testing.assert_array_equal(newton_on_free(K, edge, state, most=10).beta, state.beta)


def test_newton_step_moves_far_along_a_flat_direction(rng):
    """More samples than features: K_FF is singular, and the dual rises until a bound is met."""
    X, y = two_classes(rng, (10, 10), shift=0.2)
    K, dual = X @ X.T, c_dual(y, 1e4)
    after = newton_step(K, dual, 0.5 * y)
    assert objective(K, dual, after) > 100 * objective(K, dual, 0.5 * y)
    assert np.count_nonzero(~dual.free(after)) == 1
    assert abs(after.sum()) <= 1e-12 * np.abs(after).sum()


def test_on_bounds_moves_what_only_rounding_keeps_from_a_bound():
    dual = c_dual(np.array([1.0, 1.0, 1.0, -1.0]), np.array([3.0, 3.0, inf, 3.0]))
    near, off = 1e-14, 1e-9
    beta = on_bounds(dual, np.array([3 - near, near, 3.0, off - 3]))
    np.testing.assert_array_equal(beta, [3.0, 0.0, 3.0, off - 3])


@pytest.fixture(scope="module")
def tumours():
    """The features, scaled, and labels of breast cancer."""
    T = load_breast_cancer()
    return (T.X - T.X.mean(axis=0)) / T.X.std(axis=0), np.where(T.y == T.y[0], 1.0, -1.0)


def test_smo_with_newton_begins_as_smo_and_takes_fewer_steps(tumours):
    X, y = tumours
    K, dual = X @ X.T, c_dual(y, 10.0)
    plain, faster = list(islice(smo(K, dual), 130)), list(islice(smo_with_newton(K, dual), 130))
    np.testing.assert_array_equal(*[[s.beta for s in way[:129]] for way in (plain, faster)])
    assert 2 < len(faster[129].pair) <= 50 and faster[129].violation < inf
    assert faster[129].objective > plain[129].objective
    run = iterate(smo_with_newton(K, dual), "violation", 1e-3, 3000)
    assert run.converged  # plain SMO takes some 27,000 steps
    assert certify(K, dual, run.state.beta).gap <= 1e-5 * run.state.objective


def test_smo_with_newton_takes_more_multipliers_while_they_are_settled(monkeypatch, tumours):
    K, dual, asked = Gaussian(1 / 30)(tumours[0]), c_dual(tumours[1], 10.0), []
    step = svm.newton_on_free

    def watched(K, dual, state, most):
        after = step(K, dual, state, most)
        count = [np.count_nonzero(dual.free(each.beta)) for each in (state, after)]
        asked.append((most, count[0] == count[1]))
        return after

    monkeypatch.setattr(svm, "newton_on_free", watched)
    iterate(smo_with_newton(K, dual), "violation", 1e-11, 6000)
    assert asked[0][0] == 50 and len({settled for _, settled in asked}) == 2
    for (most, settled), (after, _) in itertools.pairwise(asked):
        assert after == (min(2 * most, 800) if settled else 50)


# --- Solving to a tolerance ------------------------------------------------------------


def assert_honest(K, dual, solved, tol):
    """It met the tolerance, by numbers computed here, or says that it did not."""
    run, (value, _, violation, _) = solved
    assert_feasible(dual, solved.beta)
    size = np.abs(K @ solved.beta).max() + np.abs(dual.p).max()
    worst = max(0.0, worst_pair(K, dual, solved.beta))
    assert violation == pytest.approx(worst, abs=1e-12 * size) and run.state.violation == violation
    assert run.converged == (violation <= tol) and run.history[-1] == value
    assert len(run.history) == run.n_iter + 1
    if run.converged:
        rounding = 1e-12 * (np.abs(solved.beta) @ np.abs(K) @ np.abs(solved.beta) + size)
        assert solved.certificate.gap <= tol * float((dual.upper - dual.lower).sum()) + rounding


@pytest.mark.claims("svm-68", "svm-71")
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
def test_solve_agrees_with_the_general_solver(machine):
    """The objective within 1e-6, relative, and b within what the KKT conditions allow."""
    for seed, kernel in product(range(6), KERNELS):
        K, dual = duals(seed, kernel)[machine]
        exact, tol = solve_dual(K, dual), 1e-6 / (len(dual.p) if machine == "nu" else 1)
        solved = solve(K, dual, tol, -1)
        assert_honest(K, dual, solved, tol)
        assert solved.run.converged
        scale = max(abs(exact.objective), 1e-3 * K.diagonal().mean() if machine == "nu" else 0)
        assert solved.certificate.dual == pytest.approx(exact.objective, abs=1e-6 * scale)
        assert solved.certificate.primal >= exact.objective - 1e-9 * (1 + scale)
        intervals = ends(K, dual, solved.beta)
        for (low, high), b in zip(intervals, solved.certificate.offsets, strict=True):
            assert min(low, high) - 1e-12 <= b <= max(low, high) + 1e-12


def ugly():
    """name, K, dual, tol: what is likely to go wrong."""
    rng = np.random.default_rng(0)
    X, y = two_classes(rng, (10, 10), shift=0.3)
    K, rbf, indefinite = X @ X.T, KERNELS["rbf"](X), Sigmoid(gamma=2.0, c=-1.0)(X)
    twice = np.repeat(X[[0, 0, 1, 12, 12, 13]], 2, axis=0)
    labels = np.array([1.0, 1, 1, -1, 1, -1, 1, -1, 1, -1, -1, -1])
    yield "duplicates of both classes", twice @ twice.T, c_dual(labels, 2.0), 1e-6
    yield "one place, nu", np.ones((4, 4)), nu_dual(np.array([1.0, 1, -1, -1]), 0.5), 1e-6
    yield "nothing", np.zeros((4, 4)), c_dual(np.array([1.0, -1, -1, -1]), 3.0), 1e-6
    yield "one of a class, nu", rbf[9:, 9:], nu_dual(y[9:], 0.1), 1e-7
    yield "nu at its limit", rbf, nu_dual(y, 1.0), 1e-6
    yield "rho = 0", K, nu_dual(y, 0.1), 1e-7
    yield "C of 1e-12", rbf, c_dual(y, 1e-12), 1e-6
    yield "C of 1e6, linear", K, c_dual(y, 1e6), 1e-3
    yield "C of 0 for some", rbf, c_dual(y, np.arange(20.0) // 5), 1e-6
    yield "small entries", 1e-12 * K, c_dual(y, 1.0), 1e-6
    yield "one box is infinite", K, c_dual(y, np.where(np.arange(20) == 5, inf, 1.0)), 1e-8
    yield "indefinite", indefinite, c_dual(y, 5.0), 1e-6
    yield "endless: not separable", K, c_dual(y), 1e-3
    yield "endless: indefinite", indefinite, c_dual(y), 1e-3
    yield "unreachable", rbf, c_dual(y, 1.0), 1e-300


UGLY = {name: problem for name, *problem in ugly()}


@pytest.mark.parametrize("name", UGLY)
def test_solve_meets_its_tolerance_or_says_that_it_did_not(name):
    K, dual, tol = UGLY[name]
    solved, cut = solve(K, dual, tol, 3000), solve(K, dual, tol, 1)
    assert_honest(K, dual, solved, tol)
    assert_honest(K, dual, cut, tol)
    assert solved.run.n_iter <= 3000 and cut.run.n_iter <= 1
    if not name.startswith("unreachable"):
        assert solved.run.converged == (not name.startswith("endless"))
    if name.startswith("endless"):
        assert solved.run.n_iter < 1000  # soon found out
    start = solve(K, dual, 1e9, -1)  # no step is needed
    close(start.beta, dual.start, 1e-15)
    assert start.run.n_iter == 0 and start.run.converged


def test_solve_certifies_afresh_and_goes_on(monkeypatch, rng):
    """Of states that claim to be optimal the certificate says what they are."""
    X, y = two_classes(rng)
    K, dual, real, calls = X @ X.T, c_dual(y, 1.0), svm.smo_with_newton, itertools.count()

    def lie_once(K, dual, start):
        first = smo(K, dual, start=start)
        yield next(first)
        lie = next(first)._replace(violation=0.0)
        if next(calls):
            yield from real(K, dual, start)
        yield lie

    monkeypatch.setattr(svm, "smo_with_newton", lie_once)
    solved = solve(K, dual, 1e-6, -1)  # it goes on from where the lie was found out
    assert solved.run.converged
    assert_honest(K, dual, solved, 1e-6)
    assert solved.run.history[0] == 0 and (np.diff(solved.run.history) >= -1e-9).all()


def test_solve_keeps_the_sum_in_boxes_of_very_different_widths(rng):
    X, y = np.array([[0.0], [100.0], [200.0]]), np.array([1.0, -1.0, -1.0])
    solved = solve(X @ X.T, c_dual(y, np.array([1e6, 1e-4, 1.0])), 1e-6, -1)
    np.testing.assert_allclose(solved.beta, [1e-4, -1e-4, 0.0], rtol=1e-9, atol=1e-12)
    left_out = solve(X @ X.T, c_dual(y, np.array([1.0, 1.0, 0.0])), 1e-6, -1)
    np.testing.assert_allclose(left_out.beta, [2e-4, -2e-4, 0.0], rtol=1e-9, atol=1e-12)
    X, y = two_classes(rng, (30, 30), shift=0.5)
    assert solve(X @ X.T + np.eye(60) / 1e8, c_dual(y), 1e-3, -1).run.converged  # separable


@pytest.mark.parametrize("n", [10, 20, 40])
def test_solve_leaves_no_multiplier_within_rounding_of_a_bound(rng, n):
    """nu n / 2 is whole, so that all multipliers may be at their bounds; the sums are not exact."""
    X, y = two_classes(rng, (n, n), shift=0.1)
    K, dual = X @ X.T, nu_dual(y, 0.8)
    solved = solve(K, dual, 1e-9, -1)
    alpha = 2 * n * np.abs(solved.beta)
    inside = (alpha > 1e-9) & (alpha < 1 - 1e-9)
    np.testing.assert_array_equal(dual.free(solved.beta), inside)
    groups = zip(dual.groups, solved.certificate.offsets, ends(K, dual, solved.beta), strict=True)
    for group, b, interval in groups:
        assert inside[group].any() or b == pytest.approx(interval.mean(), rel=1e-12)


# --- Kernels ---------------------------------------------------------------------------


@pytest.mark.claims("svm-61")
def test_a_kernel_machine_is_the_linear_one_on_its_features(rng):
    X, y = two_classes(rng, (12, 10), shift=0.5)
    Z, k, C = rng.normal(size=(20, 2)), Polynomial(p=2), 2.0
    K, phi, dual = k(X), polynomial_map(X, p=2), c_dual(y, C)
    machine, solved = soft_margin(phi, y, C), solve(K, dual, 1e-9, -1)
    f = kernel_product(k, Z, X, solved.beta) + solved.certificate.offsets[0]
    close(f, decision(polynomial_map(Z, p=2), machine.w, machine.b), 1e-6)
    alpha, Q = solved.beta * y, np.multiply.outer(y, y) * K
    assert alpha @ Q @ alpha == pytest.approx(machine.w @ machine.w, rel=1e-7)
    printed = alpha.sum() - alpha @ Q @ alpha / 2
    assert solved.certificate.dual == pytest.approx(printed, rel=1e-12)
    assert printed == pytest.approx(machine.objective, rel=1e-7)
    for i, j in product(range(4), repeat=2):
        assert Q[i, j] == pytest.approx(y[i] * y[j] * (1 + X[i] @ X[j]) ** 2, abs=1e-12)
    assert np.linalg.eigvalsh(Q)[0] > -1e-9


@pytest.mark.claims("svm-62")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_svc_keeps_its_support_vectors_and_no_more(rng, kernel):
    X, y = two_classes(rng, (20, 18))
    Z, C, k = rng.normal(size=(15, 2)), 0.8, KERNELS[kernel]
    solved = solve(k(X), c_dual(y, C), 1e-9, -1)
    beta, b = solved.beta, solved.certificate.offsets[0]
    S = support_vectors(np.abs(beta))
    assert 0 < len(S) < len(y)
    f = np.array([sum(beta[i] * k(X[i : i + 1], z[None])[0, 0] for i in S) + b for z in Z])
    free = np.flatnonzero(c_dual(y, C).free(beta))
    single = [y[i] - sum(beta[j] * k(X[j : j + 1], X[i : i + 1])[0, 0] for j in S) for i in free]
    assert b == pytest.approx(np.mean(single), abs=1e-9) and np.ptp(single) < 1e-6
    model = SVC(C=C, tol=1e-9, kernel=k).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    close(model.decision_function(Z), f, 1e-7)
    np.testing.assert_array_equal(model.predict(Z), np.where(f > 0, 1, -1))


@pytest.mark.claims("svm-63")
def test_monomials_are_too_many_to_write_down_and_free_fits_follow_noise(rng):
    for d, p in product(range(1, 6), range(1, 5)):
        powers = [e for e in product(range(p + 1), repeat=d) if sum(e) <= p]
        assert len(powers) == comb(d + p, p)
    assert comb(108, 8) > 10**11 and abs(comb(10**6 + 5, 5) * factorial(5) / 10**30 - 1) < 1e-4
    x, z = rng.integers(-2, 3, size=(2, 1, 100)).astype(float)
    assert Polynomial(p=8)(x, z)[0, 0] == (1 + sum(int(t) for t in x[0] * z[0])) ** 8
    phi = polynomial_map(rng.normal(size=(20, 3)), p=3)
    assert phi.shape[1] == comb(6, 3) == 20
    for _ in range(5):  # labels that mean nothing are fitted without an error
        y = rng.choice([-1.0, 1.0], size=20)
        close(phi @ np.linalg.lstsq(phi, y)[0], y, 1e-6)


@pytest.mark.claims("svm-29", "svm-64")
def test_svc_sees_inner_products_alone_and_not_the_dimension_of_the_samples(rng):
    X, y = two_classes(rng, (14, 12))
    Z, turn = rng.normal(size=(30, 2)), np.linalg.qr(rng.normal(size=(2, 2)))[0]
    E = np.linalg.qr(rng.normal(size=(10_000, 2)))[0].T  # orthonormal rows: R^2 into R^10000
    for options in ({"kernel": "linear"}, {"gamma": 0.5}):
        maps = np.eye(2), turn, E, np.diag([1, 3])
        models = [SVC(C=0.5, tol=1e-10, **options).fit(X @ M, y) for M in maps]
        same, *optima, other = [model.certificates_[0].dual for model in models]
        assert optima == pytest.approx([same] * 2, rel=1e-8) and abs(other - same) > 1e-3
        for model, M in zip(models[1:3], maps[1:3], strict=True):
            close(model.decision_function(Z @ M), models[0].decision_function(Z), 1e-8)
    for n in (5, 20, 40):  # phi of a Gaussian kernel is in no R^m
        x, y = np.linspace(0, n, n)[:, None], rng.choice([-1.0, 1.0], size=n)
        y[:2] = 1, -1
        K = Gaussian.of_width(0.7)(x)
        assert np.linalg.matrix_rank(K) == n
        solved = solve(K, c_dual(y), 1e-8, -1)  # and so any labels are separated
        assert (y * (K @ solved.beta + solved.certificate.offsets[0]) > 1 - 1e-6).all()


@pytest.mark.claims("svm-67")
def test_with_equal_multipliers_the_score_is_a_difference_of_parzen_estimates(rng):
    X, y = two_classes(rng, (9, 16))
    Z, sigma = rng.normal(size=(12, 2)), 0.9
    bell = Gaussian(1 / sigma**2)
    parts = np.exp(-np.sum((Z[:, None] - X) ** 2, axis=2) / sigma**2)
    means = [parts[:, y == sign].mean(axis=1) for sign in (1, -1)]
    f = kernel_product(bell, Z, X, y / 25)
    close(f, 9 / 25 * means[0] - 16 / 25 * means[1], 1e-12)
    assert np.abs(f - (means[0] - means[1])).max() > 0.01
    X, y = two_classes(rng, (10, 10))  # a small C: the solved machine is that, times n C
    model = SVC(C=1e-3, kernel=bell).fit(X, y)
    assert len(model.support_) == 20
    scores = model.decision_function(Z) - model.intercept_[0]
    close(scores, 1e-3 * kernel_product(bell, Z, X, y), 1e-15)


@np.errstate(over="ignore", invalid="ignore")
def test_kernel_matrix_is_whole_if_there_is_room_and_refuses_overflow(rng):
    X, k, ridge = rng.normal(size=(40, 3)), KERNELS["rbf"], rng.uniform(size=40)
    size = 8 * 40 * 40 / 2**20
    whole, rows = kernel_matrix(X, k, size, ridge), kernel_matrix(X, k, size * 0.5, ridge)
    close(whole, k(X) + np.diag(ridge), 1e-14)
    assert isinstance(rows, GramRows) and rows.capacity == 20
    close(rows[np.arange(40)], whole, 1e-14)
    far = np.array([[1e140, 1e140], [1e140, -1e140], [0.0, 1.0]])
    for megabytes in (800, 1e-9):
        with pytest.raises(ValueError, match="K must be finite; k.x, z. overflows"):
            kernel_matrix(far, Polynomial(p=3), megabytes)
    np.testing.assert_array_equal(kernel_matrix(far, Laplacian(1.0), 800), np.eye(3))


def test_functions_that_are_no_kernels_are_refused(rng):
    X, y = overlapping(rng)
    for k, rule in (
        (lambda X, Z: X @ [[1.0, 2.0], [0.0, 1.0]] @ Z.T, "symmetric; it differs from its transp"),
        (lambda X, Z: np.where(X @ Z.T < 0, inf, X @ Z.T), "finite; it contains NaN or infinity"),
    ):
        for kind in (SVC, NuSVC):
            with pytest.raises(ValueError, match=f"K must be {rule}"):
                kind(kernel=k).fit(X, y)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.7), Sigmoid(2.0, -1.0)], ids=repr)
def test_gram_rows_are_those_of_the_array(rng, kernel):
    X, ridge = rng.normal(size=(9, 3)), rng.uniform(size=9)
    K, rows = kernel(X) + np.diag(ridge), GramRows(X, kernel, capacity=2, ridge=ridge)
    for i in (3, 0, 3, 8, 1, 0, np.array([4, 7, 2]), np.array([], dtype=int)):
        np.testing.assert_allclose(rows[i], K[i], rtol=1e-12, atol=1e-13)
        assert len(rows.rows) <= 2
    np.testing.assert_allclose(rows.diagonal(), K.diagonal(), rtol=1e-13)
    for beta in (rng.normal(size=9), np.eye(9)[5], np.zeros(9)):
        np.testing.assert_allclose(rows @ beta, K @ beta, rtol=1e-12, atol=1e-12)


def test_gram_rows_drop_the_row_unused_for_longest(rng):
    computed = []

    def counting(Z, X):
        computed.append(len(Z))
        return Z @ X.T

    K = GramRows(rng.normal(size=(5, 2)), counting, capacity=2)
    computed.clear()  # what the diagonal took
    for i, count in [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4), (0, 4), (2, 5)]:
        K[i]
        assert len(computed) == count, i  # 0 is never dropped, because it is used in between
    assert set(K.rows) == {0, 2}
    assert GramRows(np.eye(3), counting, capacity=0).capacity == 2


@pytest.mark.parametrize(
    "scale, shift, gamma, by_norms",
    [(1.0, 1e6, 0.5, True), (1.0, 0.0, 1e4, False), (100.0, 0.0, 0.5, False)],
)
def test_gram_rows_use_norms_where_they_are_exact(rng, scale, shift, gamma, by_norms):
    Z = scale * rng.normal(size=(40, 2)) + shift
    K = GramRows(Z, Gaussian(gamma), capacity=2)
    assert K.by_norms == by_norms
    exact = np.exp(-gamma * np.sum((Z[3] - Z) ** 2, axis=1))
    np.testing.assert_allclose(K[3], exact, rtol=0, atol=1e-12)


# --- Leaving one out of a hard margin --------------------------------------------------


def left_out_errors(X, y, machine):
    """The i that the machine of the other samples gets wrong; `machine` gives w and b."""
    wrong = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        w, b = machine(X[rest], y[rest])
        if not y[i] * (w @ X[i] + b) > 0:
            wrong.append(i)
    return wrong


@pytest.mark.claims("svm-72")
@pytest.mark.parametrize("d", [1, 3])
def test_leave_one_out_errors_are_at_most_the_support_vectors_radius_and_dimension(d):
    def through_0(X, y):
        return solve_qp(np.eye(d), np.zeros(d), G=y[:, None] * X, h=np.ones(len(y)))

    total = 0
    for seed in range(4):
        T = make_separable(9, d, gap=0.01, rng=np.random.default_rng(seed))
        alpha = hard_margin(T.X, T.y).alpha
        S = np.flatnonzero(alpha > 1e-7 * alpha.max())
        wrong = left_out_errors(T.X, T.y, lambda X, y: hard_margin(X, y)[:2])
        assert set(wrong) <= set(S) and len(wrong) <= len(S) <= d + 1
        X = T.X + T.truth.b * T.truth.w  # now a hyperplane through 0 separates them
        qp, squares = through_0(X, T.y), np.sum(X**2, axis=1)
        S = np.flatnonzero(qp.lam > 1e-7 * qp.lam.max())
        again = left_out_errors(X, T.y, lambda X, y: (through_0(X, y).x, 0.0))
        assert set(again) <= set(S) and (qp.lam[again] * squares[again] >= 1 - 1e-7).all()
        assert len(again) <= min(len(S), squares.max() * (qp.x @ qp.x) + 1e-9, d)
        total += len(wrong) + len(again)
    assert total > 0


@pytest.mark.claims("svm-73")
def test_the_bound_is_on_the_machine_of_one_sample_less_and_in_the_mean():
    """All draws of n from a population of 5 on a line, with their probabilities."""
    population, n = np.array([-100.0, -3.0, -2.0, -1.0, 3.0]), 5

    @cache
    def machine(distinct):
        """The threshold, and how many support vectors; of one class alone, always that class."""
        x = population[list(distinct)]
        if (x > 0).all() or (x < 0).all():
            return -inf * x[0], 0
        machine = hard_margin(x[:, None], np.sign(x))
        return -machine.b / machine.w[0], np.count_nonzero(machine.alpha > 1e-9)

    def wrong(draw, k):
        return np.sign(population[k]) * (population[k] - machine(tuple(sorted(set(draw))))[0]) <= 0

    left_out, next_one, bound, beyond = [], [], [], 0
    for draw in product(range(5), repeat=n):
        left_out.append(np.mean([wrong(draw[:i] + draw[i + 1 :], draw[i]) for i in range(n)]))
        next_one.append(wrong(draw[:-1], draw[-1]))
        bound.append(min(machine(tuple(sorted(set(draw))))[1], 2) / n)
        assert left_out[-1] <= bound[-1]
        beyond += bound[-1] > 0 and np.mean([wrong(draw, k) for k in range(5)]) > bound[-1]
    assert np.mean(left_out) == pytest.approx(np.mean(next_one), abs=1e-12)
    assert np.mean(next_one) <= np.mean(bound)
    assert beyond > 0  # s / n of a draw does not bound the error of the machine it makes


@pytest.mark.claims("svm-74")
def test_on_a_line_more_than_one_sample_in_n_errs():
    """x_k = +-4^k: m / n = 1 / n, as printed, is below the mean error."""

    def midway(X, y):
        return np.ones(1), -(X[y > 0].min() + X[y < 0].max()) / 2

    few = np.array([[4.0], [-16.0], [64.0]])
    w, b, *_ = hard_margin(few, np.sign(few[:, 0]))
    assert b / w[0] == pytest.approx(midway(few[:, 0], np.sign(few[:, 0]))[1], rel=1e-7)
    counts = []
    for signs in product((-1.0, 1.0), repeat=6):
        if abs(sum(signs)) <= 2:  # two of each class or more
            x = np.array(signs) * 4.0 ** np.arange(1, 7)
            counts.append(len(left_out_errors(x[:, None], np.sign(x), midway)))
            assert counts[-1] == 1 + (signs[0] != signs[1])
    assert np.mean(counts) == pytest.approx(1.56, abs=0.005)
    assert 1 < np.mean(counts) and max(counts) <= 2  # printed m, right m + 1


# --- The estimators --------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    T = load_iris()
    return T.X, T.y


def test_svc_takes_the_second_of_two_classes_as_positive():
    model = SVC(kernel="linear", C=10.0).fit([[1.0], [3.0], [9.0]], ["low", "high", "high"])
    assert list(model.classes_) == ["high", "low"]  # sorted
    np.testing.assert_array_equal([model.support_, model.n_support_], [[1, 0], [1, 1]])
    close(np.hstack([model.dual_coef_, model.coef_]), [[-0.5, 0.5, -1.0]])
    close([*model.intercept_, *model.decision_function([[0.0], [4.0]])], [2.0, 2.0, -2.0])
    assert list(model.predict([[0.0], [4.0], [2.0]])) == ["low", "high", "high"]  # f = 0: the first
    assert model.support_.dtype == model.n_support_.dtype == np.int32


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC])
def test_several_classes_are_pairs_that_vote(iris, kind):
    """Each pair alone, of a matrix in memory; all pairs together, of matrices by rows."""
    X, y = iris
    _, order = np.unique(X, axis=0, return_index=True)  # equal samples may share a beta at will
    order = np.random.default_rng(0).permutation(order)
    X, y = X[order], y[order]
    names, k = np.unique(y, return_inverse=True)
    model = kind(gamma=0.2, tol=1e-8, decision_function_shape="ovo", cache_size=1e-6).fit(X, y)
    F, total, machines = model.decision_function(X), np.zeros((len(y), 3)), {}
    for pair, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.flatnonzero((k == a) | (k == b))
        alone = kind(gamma=0.2, tol=1e-8).fit(X[rows], y[rows])
        f = -alone.decision_function(X)  # positive for the first
        close(F[:, pair], f, 1e-7)
        assert model.intercept_[pair] == pytest.approx(-alone.intercept_[0], abs=1e-7)
        machines[a, b] = dict(zip(rows[alone.support_], -alone.dual_coef_[0], strict=True))
        total[:, a] += f
        total[:, b] -= f
    votes = pair_votes(F, 3)
    ovr = model.set_params(decision_function_shape="ovr").decision_function(X)
    close(ovr, votes + total / (3 * (np.abs(total) + 1)), 1e-7)
    np.testing.assert_array_equal(model.predict(X), names[votes.argmax(axis=1)])
    # support_ by class, then place; dual_coef_ row by row the machines against the others
    assert list(model.support_) == sorted(set().union(*machines.values()), key=lambda i: (k[i], i))
    np.testing.assert_array_equal(model.n_support_, np.bincount(k[model.support_], minlength=3))
    for s, i in enumerate(model.support_):
        for row, other in enumerate(c for c in range(3) if c != k[i]):
            expected = machines[min(k[i], other), max(k[i], other)].get(i, 0.0)
            assert model.dual_coef_[row, s] == pytest.approx(expected, abs=1e-7)


def test_pair_votes_and_a_tie_that_goes_to_the_first_class():
    votes = pair_votes(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]), 3)
    np.testing.assert_array_equal(votes, [[1, 1, 1], [1, 1, 1], [2, 1, 0]])
    turn = 2 * np.pi * np.arange(3) / 3
    X = np.column_stack([np.cos(turn), np.sin(turn)])  # the centre has a vote for each
    model = SVC(kernel="linear", C=100.0).fit(np.vstack([X, 1.1 * X]), [0, 1, 2] * 2)
    assert model.predict([[0.01, 0.0]]) == [0]


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.7)], ids=repr)
def test_linear_machines_do_not_depend_on_the_origin(rng, model):
    """The products of far samples have lost their digits, in memory or by rows."""
    X, y = overlapping(rng)
    model.set_params(kernel="linear", tol=1e-6).fit(X, y)
    f, (near,) = model.decision_function(X), model.certificates_
    for far, megabytes in ((np.array([1e6, -1e6]), 800), (np.array([1e8, -1e8]), 1e-3)):
        model.set_params(cache_size=megabytes).fit(X + far, y)
        assert model.converged_
        close(model.decision_function(X + far), f, 1e-4)
        close(decision(X + far, model.coef_[0], model.intercept_[0]), f, 1e-4)
        rho, (bounds,) = getattr(model, "rho_", [1.0])[0], model.certificates_
        assert -bounds.offsets.mean() / rho == pytest.approx(model.intercept_[0])
        assert bounds.dual == pytest.approx(near.dual, rel=1e-6)


@pytest.mark.claims("svm-78")
def test_nusvc_is_svc_with_another_parameter(rng):
    X, y = two_classes(rng, (15, 15), shift=0.8)
    n, k = 30, KERNELS["rbf"]
    nu = NuSVC(nu=0.5, tol=1e-8, kernel=k).fit(X, y)
    rho, (bounds,), K, beta = nu.rho_[0], nu.certificates_, k(X), np.zeros(n)
    soft = SVC(C=1 / (rho * n), tol=1e-8, kernel=k).fit(X, y)
    close(nu.decision_function(X), soft.decision_function(X), 1e-5)
    beta[nu.support_] = nu.dual_coef_[0]
    free = (np.abs(beta) > 1e-9) & (np.abs(beta) < 1 / (rho * n) - 1e-9)
    close((y * nu.decision_function(X))[free], 1, 1e-5)  # divided: margins at 1
    exact = solve_dual(K, nu_dual(y, 0.5))  # the certificate is of the undivided problem
    assert bounds.dual == pytest.approx(exact.objective, rel=1e-6)
    losses = np.maximum(0, rho - y * (K @ beta + nu.intercept_[0]) * rho)
    primal = rho**2 * beta @ K @ beta / 2 - 0.5 * rho + losses.mean()
    assert bounds.primal == pytest.approx(primal, abs=1e-9)
    assert NuSVC(nu=1.0, kernel=k).fit(X, y).converged_  # at its limit
    shut = NuSVC(kernel="linear").fit([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1])
    assert shut.rho_[0] == pytest.approx(0, abs=1e-12)  # not divided by
    assert np.isfinite(shut.dual_coef_).all() and np.isfinite(shut.intercept_).all()


def test_nusvc_gives_its_violation_in_the_unit_of_tol(rng):
    X, y = overlapping(rng)
    for kernel in (Gaussian(0.5), Linear()):
        unit = kernel(X - X.mean(axis=0)).diagonal().max() / len(y)
        model = NuSVC(kernel=kernel, tol=0.1).fit(X, y)
        assert model.converged_ and model.certificates_[0].violation <= 0.1 * unit
        with pytest.warns(ConvergenceWarning, match="violation = ") as caught:
            model = NuSVC(kernel=kernel, nu=0.3, tol=1e-8, max_iter=1).fit(X, y)
        told = f"violation = {model.certificates_[0].violation / unit:.3g}, and should be <= 1e-08"
        assert told in str(caught[0].message)


@pytest.mark.claims("svm-58", "svm-59")
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_l2svc_and_linearsvc_are_the_program_with_squared_slack(rng, C):
    X, y = two_classes(rng, (12, 9), shift=0.6)
    X += [3.0, -2.0]
    machine = squared_slack_margin(X, y, C)
    model = L2SVC(C=C, kernel="linear", tol=1e-9).fit(X, y)
    close([*model.coef_[0], model.intercept_[0]], [*machine.w, machine.b], 1e-6)
    alpha, (bounds,) = np.zeros(21), model.certificates_
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    close(alpha, machine.alpha, 1e-6)
    assert bounds.primal == pytest.approx(machine.objective, rel=1e-7)
    assert bounds.dual == pytest.approx(machine.objective, rel=1e-7)
    loose = L2SVC(C=C, kernel="linear", tol=0.3).fit(X, y)  # away from the optimum too
    w, losses = loose.coef_[0], hinge(loose.decision_function(X), y)
    primal = w @ w / 2 + C / 2 * losses @ losses
    assert loose.certificates_[0].primal == pytest.approx(primal, rel=1e-9)
    assert loose.certificates_[0].dual < machine.objective - 1e-6 < primal - 2e-6
    newton = LinearSVC(C=C / 2, tol=1e-10).fit(X, y)
    close([*newton.coef_[0], newton.intercept_[0]], [*machine.w, machine.b], 1e-7)
    assert newton.history_[0][-1] == pytest.approx(machine.objective, rel=1e-9)
    assert (np.diff(newton.history_[0]) <= 1e-12).all() and newton.n_iter_ < 12


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linearsvc_has_the_gradient_0(iris, rng, fit_intercept):
    X, y = iris
    weights, A = rng.uniform(0.5, 2, size=150), augment(X)
    model = LinearSVC(C=0.3, fit_intercept=fit_intercept, tol=1e-10).fit(X, y, weights)
    assert fit_intercept or (model.intercept_ == np.zeros(3)).all()
    assert model.n_iter_ < 12  # with another Hessian it takes some 80
    for w, b, name in zip(model.coef_, model.intercept_, model.classes_, strict=True):
        signs = np.where(y == name, 1.0, -1.0)

        def loss(theta, signs=signs):
            losses = np.maximum(0, 1 - signs * (A @ theta))
            return theta[1:] @ theta[1:] / 2 + 0.3 * weights @ losses**2

        slope = differences(loss, np.append(b, w))
        assert np.abs(slope[not fit_intercept :]).max() < 1e-5
        assert np.abs(differences(loss, np.append(b + 0.1, w))).max() > 1e-2
    best = (X @ model.coef_.T + model.intercept_).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])


@pytest.mark.parametrize("kind", [SVC, L2SVC])
def test_without_slack_it_is_the_hard_margin_certified_by_its_canonical_form(rng, kind):
    X, y = separable(rng)
    machine = hard_margin(X, y)
    model = kind(C=inf, kernel="linear", tol=1e-8).fit(X, y)
    close([*model.coef_[0], model.intercept_[0]], [*machine.w, machine.b], 1e-6)
    (bounds,) = model.certificates_
    assert bounds.dual <= machine.objective + 1e-9 <= bounds.primal + 2e-9
    assert -1e-12 <= bounds.gap < 1e-6
    loose = kind(C=inf, kernel="linear", tol=0.3).fit(X, y)
    w, b, (bounds,) = loose.coef_[0], loose.intercept_[0], loose.certificates_
    assert abs((y * decision(X, w, b)).min() - 1) > 0.01  # not there yet
    assert bounds.primal == pytest.approx(np.sum(canonical(X, y, w, b)[0] ** 2) / 2, rel=1e-9)
    assert bounds.dual <= machine.objective <= bounds.primal


@pytest.mark.parametrize("kernel", ["linear", "sigmoid"])
def test_svc_without_slack_warns_where_nothing_separates_and_does_not_wait(kernel):
    for X, y in (XOR, (np.full((6, 2), 3.0), np.array([0, 1] * 3))):
        with pytest.warns(ConvergenceWarning, match="nothing separates the classes; viol") as told:
            model = SVC(C=inf, kernel=kernel).fit(X, y)
        assert len(told) == 1 and model.n_iter_ < 1000
        assert not model.converged_ and model.certificates_[0].primal == inf
    assert SVC(C=inf).fit(*XOR).score(*XOR) == 1


def test_what_has_no_machine_is_refused(rng):
    X, y = two_classes(rng, (4, 6))
    for model, message in (
        (NuSVC(nu=0.9), "nu must be <= 2 min(n_+, n_-) / n = 0.8 here"),
        (LinearSVC(C=inf), "C must be a number > 0 and < inf; got inf"),
        (LinearSVC(tol=0), "tol must be a number > 0; got 0"),
        (SVC(tol=0), "tol must be a number > 0; got 0"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            model.fit(X, y)
    for kind in (SVC, LinearSVC):  # a class of weight 0 is none
        with pytest.raises(ValueError, match="must hold at least 2 classes"):
            kind().fit(X, y, (y > 0).astype(float))


def test_properties_ask_for_a_fit():
    for name in ("coef_", "rho_", "dual_coef_"):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(NuSVC(), name)


# --- Real samples ----------------------------------------------------------------------


def test_real_samples_are_solved_within_a_millionth(tumours):
    """Raw: features in units of their own, the largest spread 10^4 and the smallest 10^-3."""
    (scaled, y), T = tumours, load_digits()
    machines = SVC(kernel="linear"), SVC(C=100.0)
    tumours = [(X, y, X, y, 0.93) for X in (load_breast_cancer().X, scaled)]
    X, y = T.X[T.y < 4] / 16, T.y[T.y < 4]
    digits = X[:200], y[:200], X[200:], y[200:], 0.95
    tasks = [(model, *task) for model in machines for task in tumours]
    tasks += [(model, *digits) for model in (SVC(), L2SVC(), NuSVC(nu=0.1))]
    for model, X, y, new, labels, least in tasks:
        model.set_params(tol=1e-6).fit(X, y)
        assert model.converged_ and model.score(new, labels) > least
        assert len(model.certificates_) == comb(len(model.classes_), 2)
        for bounds in model.certificates_:
            assert abs(bounds.gap) <= 1e-6 * abs(bounds.dual)


# --- The lecture figures ---------------------------------------------------------------


def numbers_in(text):
    return [float(number) for number in re.findall(r"\d+\.?\d*", text)]


@pytest.mark.claims("svm-30")
def test_figure_separators_prints_the_margins_of_lines_that_separate():
    X, y = drawn.separable_set()[:]
    lines = [drawn.perceptron_line(X, y, seed) for seed in drawn.ORDERS] + [hard_margin(X, y)[:2]]
    assert all((y * decision(X, w, b) > 0).all() for w, b in lines)
    legends = [ax.get_legend() for ax in panels(drawn.separators, 1, 2)]
    texts = [text.get_text() for legend in legends for text in legend.get_texts()]
    margins = [margin(X, w, b) for w, b in lines]
    assert [numbers_in(text)[0] for text in texts[:5]] == pytest.approx(margins, abs=5e-4)
    assert max(margins[:4]) < 0.75 * margins[4]


@pytest.mark.claims("svm-31")
def test_figure_geometry_has_points_where_it_says():
    w, b, x, x_plus, x_minus = drawn.geometry_points()
    close([x_plus @ w + b, x_minus @ w + b], [1, -1], 1e-12)
    way = x_plus - x_minus
    assert way @ w / np.linalg.norm(w) == pytest.approx(2 / np.linalg.norm(w))
    assert np.linalg.norm(way) > 1.1 * 2 / np.linalg.norm(w)  # the vector is longer
    assert x @ w + b > 1


@pytest.mark.claims("svm-51")
def test_figure_soft_shows_each_kind_of_multiplier():
    X, y = drawn.overlapping_set()
    seen, widths = set(), []
    for C in drawn.COSTS:
        machine = soft_margin(X, y, C)
        kind, alpha = drawn.kind_of(machine.alpha, machine.xi, C), machine.alpha / C
        yf = y * decision(X, machine.w, machine.b)
        assert ((alpha[kind == 0] > 0) & (alpha[kind == 0] < 1)).all()
        close(yf[kind == 0], 1, 1e-6)
        close(alpha[kind > 0], 1, 1e-6)
        close(alpha[kind == -1], 0, 1e-6)
        assert ((yf[kind == 1] > 0) & (yf[kind == 1] <= 1 + 1e-6)).all()
        close(yf[kind == 2], 0, 1e-6)
        assert (yf[kind == 3] < 0).all()
        seen |= set(kind)
        widths.append(2 / np.linalg.norm(machine.w))
    assert seen == {-1, 0, 1, 2, 3} and widths[0] > widths[1] > widths[2]


@pytest.mark.claims("svm-52")
def test_figure_outlier_turns_and_narrows_the_hard_margin_far_more():
    X, y = drawn.outlier_set()
    changes = []
    fits = hard_margin, lambda X, y: soft_margin(X, y, drawn.MODERATE)
    for ax, fit in zip(panels(drawn.outlier, 1, 2), fits, strict=True):
        w, v = fit(X[:-1], y[:-1]).w, fit(X, y).w
        widths = [2 / np.linalg.norm(w), 2 / np.linalg.norm(v)]
        title = ax.get_title() + ax.get_title(loc="left")
        assert numbers_in(title)[-3:-1] == pytest.approx(widths, abs=5e-3)
        angle = np.degrees(np.arcsin(abs(w[0] * v[1] - w[1] * v[0]) / np.sqrt(w @ w * (v @ v))))
        assert numbers_in(title)[-1] == pytest.approx(angle, abs=0.06) and angle < 90
        assert drawn.turned(w, v) == pytest.approx(angle)
        changes.append((abs(1 - widths[1] / widths[0]), angle))
    assert changes[0][0] > 0.5 and changes[1][0] < 0.1 and changes[0][1] > 3 * changes[1][1]


@pytest.mark.claims("svm-66")
def test_figure_lifting_has_a_plane_and_a_machine_that_separate():
    x, y = drawn.LINE, drawn.LINE_Y
    machine = hard_margin(np.column_stack([x, x**2]), y)
    low, high = np.sort(np.roots([machine.w[1], machine.w[0], machine.b]))
    np.testing.assert_array_equal((low < x) & (x < high), y == -1)
    X, y = drawn.rings()
    height = np.sum(X**2, axis=1)
    K = X @ X.T + np.outer(height, height)  # the kernel of the paraboloid
    solved = solve(K, c_dual(y, C=100.0), tol=1e-9, max_iter=-1)
    assert (y * (K @ solved.beta + solved.certificate.offsets[0]) > 0).all()


@pytest.mark.claims("svm-66")
def test_figure_widths_has_islands_a_bend_and_nearly_a_line():
    X, y = drawn.moons()
    models = [drawn.of_width(X, y, sigma) for sigma in drawn.WIDTHS]
    new = make_moons(100_000, noise=0.2, rng=np.random.default_rng(0))
    errors = [100 * (1 - model.score(new.X, new.y)) for model in models]
    titles = [ax.get_title() for ax in panels(drawn.widths, 1, 3)]
    assert [numbers_in(title)[0] for title in titles] == list(drawn.WIDTHS)
    assert [numbers_in(title)[1] for title in titles] == pytest.approx(errors, abs=1.0)
    assert errors[1] < errors[0] / 4 and errors[1] < errors[2] / 3
    assert len(models[0].support_) > 0.9 * len(X)  # a bump at nearly every sample
    grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 2.0, 61)] * 2), axis=-1).reshape(-1, 2)
    f = models[2].decision_function(grid)
    w = np.linalg.lstsq(augment(grid), f, rcond=None)[0]
    assert np.mean(np.sign(f) == np.sign(augment(grid) @ w)) > 0.97


@pytest.mark.claims("svm-69")
def test_figure_dual_slice_shows_steps_that_end_at_the_top_or_at_the_box():
    K, y, dual = drawn.dual_problem()
    states, signs = list(smo(K, dual)), []
    for k in drawn.SHOWN:
        before, after = states[k], states[k + 1]
        pair = list(after.pair)
        ends = drawn.segment_ends(dual, y, before.beta, pair)
        assert ends.min() >= 0 and ends.max() <= 1 and np.isin(ends, [0, 1]).any(axis=1).all()
        close(ends @ y[pair], before.beta[pair].sum(), 1e-12)  # on the line
        dense = ends[0] + np.linspace(0, 1, 2001)[:, None] * (ends[1] - ends[0])
        heights = drawn.dual_over_pair(dense, K, y, before.beta, pair)
        end = (after.beta * y)[pair]
        assert drawn.dual_over_pair(end[None], K, y, before.beta, pair) >= heights.max() - 1e-12
        top = drawn.end_without_box(K, y, before, pair)
        signs.append((y[pair].prod(), np.linalg.norm(top - end) > 1e-9))
    assert signs == [(1, True), (-1, False)]  # equal labels: cut; opposite ones: not


@pytest.mark.claims("svm-57")
def test_figure_losses_draws_surrogates_above_the_0_1_loss():
    (ax,) = panels(drawn.losses, 1, 1)
    curves = {line.get_label(): line.get_xydata().T for line in ax.lines}
    for name, power in (("hinge", 1), ("squared hinge", 2)):
        m, loss = curves[name]
        close(loss, [max(0.0, 1 - t) ** power for t in m])
        assert (loss >= np.where(m <= 0, 1.0, 0.0) - 1e-12).all()
    m, steps = np.hstack([line.get_xydata().T for line in ax.lines if line.get_ls() == "-."])
    assert steps.tolist() == [1, 1, 0, 0] and m.tolist() == [-1.5, 0, 0, 2.5]
