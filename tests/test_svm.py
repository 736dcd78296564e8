"""The svm chapter: every statement by a second route, its solver, and its estimators."""

import itertools
import os
import re
from functools import cache
from itertools import islice, product
from math import comb, factorial, inf
from time import perf_counter

import numpy as np
import pytest
from checks import check_gradient, differences

from mlnotes import (
    svm,
)
from mlnotes.base import (
    ConvergenceWarning,
    NotFittedError,
)
from mlnotes.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_mnist,
    make_moons,
    make_separable,
)
from mlnotes.kernels import (
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    make_kernel,
    polynomial_map,
    scaled_quadratic_map,
)
from mlnotes.linear_regression import (
    augment,
)
from mlnotes.numerics import (
    GramRows,
)
from mlnotes.optimization import (
    InfeasibleError,
    UnboundedError,
    closest_points,
    lagrangian,
    quadratic_program,
    solve_qp,
)
from mlnotes.perceptron import (
    decision,
    perceptron,
)
from mlnotes.svm import (
    L2SVC,
    SVC,
    HullsMeet,
    LinearSVC,
    NuSVC,
    Separator,
    c_dual,
    canonical,
    certify,
    chunking,
    dual_value,
    erm_objective,
    fill,
    geometric_margin,
    hard_lagrangian,
    hard_lagrangian_gradients,
    hard_margin,
    hinge,
    hinge_subgradient,
    kernel_matrix,
    kernel_score,
    kkt_residuals,
    label,
    newton_on_free,
    newton_step,
    nu_dual,
    nu_margin,
    offset_intervals,
    offsets,
    pair_votes,
    project,
    recover,
    separate,
    signed_distance,
    slack,
    smo,
    smo_with_newton,
    soft_lagrangian,
    soft_margin,
    solve,
    solve_dual,
    squared_slack_margin,
    step_bounds,
    subgradient_descent,
    support_vectors,
)

XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1, -1, -1])
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([1.0, 1, -1, -1])
SQUARE_ALPHAS = np.array([[1, 1, 1, 1], [2, 0, 2, 0], [0, 2, 0, 2]]) / 4


def separable(rng, n=24, d=3):
    """Two classes that a hyperplane separates, not through the origin."""
    T = make_separable(n, d, gap=0.3, rng=rng)
    return T.X + rng.normal(size=d), T.y


def overlapping(rng, n=(26, 17), d=2):
    """Two classes that overlap, of unequal sizes, away from the origin."""
    y = np.repeat([1.0, -1.0], n)
    return rng.normal(size=(sum(n), d)) * 1.2 + 0.8 * y[:, None] + 1.5, y


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


def balanced_alpha(y, rng, most=inf):
    """Random alpha with 0 <= alpha <= most and alpha^T y = 0."""
    alpha = rng.uniform(size=len(y))
    for sign in (-1, 1):
        alpha[y == sign] /= alpha[y == sign].sum()
    return alpha * (min(most, 3.0) / alpha.max())


def points_and_segments(A, B):
    """The distance of two convex hulls in the plane that do not meet, by brute force.

    One of the closest points is a corner, the other lies on a segment of two samples.
    """
    best = inf
    for P, Q in ((A, B), (B, A)):
        for p, u, v in product(P, Q, Q):
            length = (v - u) @ (v - u)
            t = np.clip((p - u) @ (v - u) / length, 0, 1) if length > 0 else 0.0
            best = min(best, np.linalg.norm(p - u - t * (v - u)))
    return best


def active_sets(X, y, C):
    """alpha, w, b of the soft margin: all 3^n ways to be 0, free or C, until one meets KKT."""
    Q = (X @ X.T) * np.outer(y, y)
    for status in product((0.0, np.nan, C), repeat=len(y)):
        alpha = np.array(status)
        F = np.isnan(alpha)
        if not F.any():
            continue
        alpha[F] = 0.0
        system = np.block([[Q[np.ix_(F, F)], y[F, None]], [y[F], np.zeros(1)]])
        right = np.append(1 - Q[F] @ alpha, -alpha @ y)
        *free, b = np.linalg.lstsq(system, right, rcond=None)[0]
        alpha[F] = free
        excess = Q @ alpha + b * y - 1
        met = np.where(alpha == 0, excess >= -1e-9, np.where(alpha == C, excess <= 1e-9, True))
        inside = ((alpha >= 0) & (alpha <= C)).all() and np.abs(excess[F]).max() < 1e-9
        if met.all() and inside and abs(alpha @ y) < 1e-9:
            return alpha, X.T @ (alpha * y), b
    raise AssertionError("no free support vector")


def message(text):
    """The whole message, and no other."""
    return f"^{re.escape(text)}$"


# ---------------------------------------------------------------------------------------
# Hyperplanes
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-01")
def test_w_is_normal_and_the_label_is_the_side(rng):
    w, b = rng.normal(size=4), 0.7
    H = in_hyperplane(rng, w, b)
    np.testing.assert_allclose(decision(H, w, b), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose((H[1:] - H[:-1]) @ w, 0, rtol=0, atol=1e-12)
    t = np.array([-2.0, -1e-3, 1e-3, 5.0])
    for x in H:
        np.testing.assert_array_equal(label(decision(x + t[:, None] * w, w, b)), np.sign(t))


@pytest.mark.claims("svm-01")
def test_labels_do_not_depend_on_the_scale_or_the_sign_convention(rng):
    X, w, b = rng.normal(size=(200, 4)), rng.normal(size=4), 0.7
    h = label(decision(X, w, b))
    assert set(h) == {-1.0, 1.0}
    np.testing.assert_array_equal(label(decision(X, 7 * w, 7 * b)), h)
    b_irhd = -b  # which writes w^T x - b
    np.testing.assert_array_equal(label(X @ w - b_irhd), h)
    assert (label(decision(X, w, b_irhd)) != h).any()
    np.testing.assert_array_equal(label(np.array([0.0, -0.0])), [-1.0, -1.0])


@pytest.mark.claims("svm-02")
def test_the_projection_is_the_nearest_point(rng):
    X, w, b = rng.normal(size=(30, 4)), rng.normal(size=4), -1.3
    feet, f = project(X, w, b), decision(X, w, b)
    np.testing.assert_allclose(decision(feet, w, b), 0, rtol=0, atol=1e-12)
    r = feet - X
    shortest = (np.linalg.pinv(w[None]) @ -f[None]).T  # of all r with w^T r = -f
    np.testing.assert_allclose(r, shortest, rtol=0, atol=1e-12)
    along = in_hyperplane(rng, w, 0.0, len(X))  # orthogonal to w
    longer = ((r + along) ** 2).sum(axis=1)
    np.testing.assert_allclose(longer, (r**2).sum(axis=1) + (along**2).sum(axis=1))
    np.testing.assert_allclose(decision(X + r + along, w, b), 0, rtol=0, atol=1e-12)


@pytest.mark.claims("svm-02")
def test_the_signed_distance_is_measured_along_the_normal(rng):
    w, b = rng.normal(size=4), -1.3
    for x, t in zip(in_hyperplane(rng, w, b), np.linspace(-3, 3, 20), strict=True):
        there = (x + t * w / np.linalg.norm(w))[None]
        assert signed_distance(there, w, b)[0] == pytest.approx(t, abs=1e-12)
        assert np.linalg.norm(project(there, w, b) - there) == pytest.approx(abs(t), abs=1e-12)
    X = rng.normal(size=(30, 4))
    delta = signed_distance(X, w, b)
    np.testing.assert_allclose(signed_distance(X, 5 * w, 5 * b), delta, rtol=1e-12)
    np.testing.assert_allclose(signed_distance(X, -5 * w, -5 * b), -delta, rtol=1e-12)


@pytest.mark.claims("svm-03")
def test_it_is_pythagoras_and_not_the_triangle_inequality(rng):
    w = rng.normal(size=3)
    along = rng.normal(size=(100, 1)) * w
    perp = in_hyperplane(rng, w, 0.0, 100)
    squares = [(v**2).sum(axis=1) for v in (along + perp, along, perp)]
    np.testing.assert_allclose(squares[0] - squares[1], squares[2], rtol=0, atol=1e-12)
    assert (squares[0] > squares[1]).all()
    split = np.array([2.0, 0.0]), np.array([-1.0, 0.5])  # r = lambda w + s, s not orthogonal
    r = sum(split)
    assert np.linalg.norm(r) <= sum(map(np.linalg.norm, split))  # the triangle inequality
    assert np.linalg.norm(r) < np.linalg.norm(split[0])  # what it is said to forbid


@pytest.mark.claims("svm-04")
def test_the_offset_may_have_either_sign():
    X, y = np.array([[-3.0], [-1.0]]), np.array([-1.0, 1.0])
    machine = hard_margin(X, y)
    assert machine.w == pytest.approx(1, abs=1e-8) and machine.b == pytest.approx(2, abs=1e-8)
    # y (w x - b') >= 1 says -w - b' >= 1 and 3 w + b' >= 1; their sum is w >= 1, the first then
    # b' <= -2
    w, b_irhd = np.meshgrid(np.linspace(-20, 20, 401), np.linspace(-20, 20, 401))
    separates = (-w - b_irhd >= 1 - 1e-12) & (3 * w + b_irhd >= 1 - 1e-12)
    assert separates.sum() > 100 and b_irhd[separates].max() == pytest.approx(-2)
    opposite = (w + b_irhd >= 1) & (-3 * w - b_irhd >= 1)  # the same set, oriented by the labels
    assert b_irhd[opposite].min() >= 2


@pytest.mark.claims("svm-08")
def test_canonical_scaling_puts_the_closest_sample_on_f_1(rng):
    X, y = separable(rng)
    _, w, b = by_smo(X, y)
    for scale in (0.01, 3.0):
        v, c = canonical(X, y, scale * w + 1e-3, scale * b)
        yf = y * decision(X, v, c)
        assert yf.min() == pytest.approx(1, abs=1e-12)
        assert geometric_margin(X, v, c) == pytest.approx(1 / np.linalg.norm(v), rel=1e-12)
        np.testing.assert_array_equal(label(decision(X, v, c)), y)
        np.testing.assert_allclose(
            np.cross(v, scale * w + 1e-3), 0, rtol=0, atol=1e-12
        )  # same direction
        assert type(c) is float


@pytest.mark.claims("svm-08")
def test_one_inequality_for_both_classes_and_a_finite_sample(rng):
    held = []
    for _ in range(300):
        f, y = rng.normal(size=4) * 4, rng.choice([-1.0, 1.0], size=4)
        y = np.sign(f) if rng.uniform() < 0.5 else y
        both = (f[y > 0] >= 1).all() and (f[y < 0] <= -1).all()
        assert both == (y * f >= 1).all()
        held.append(both)
    assert 20 < sum(held) < 280
    for K in (1, 10, 100):  # 1/k against 0: separable for every K, and with all k not at all
        X = np.append(1 / np.arange(1, K + 1), 0.0)[:, None]
        y = np.append(np.ones(K), -1.0)
        w, b = canonical(X, y, np.ones(1), -1 / (2 * K))
        assert w == pytest.approx(2 * K) == pytest.approx(hard_margin(X, y).w)
        assert (y * decision(X, np.ones(1), -1 / (2 * K))).min() == pytest.approx(1 / (2 * K))


@pytest.mark.claims("svm-09")
def test_strict_margins_exclude_the_optimum(rng):
    X, y = separable(rng)
    machine = hard_margin(X, y)
    yf = y * decision(X, machine.w, machine.b)
    for sign in (-1, 1):
        assert yf[y == sign].min() == pytest.approx(1, abs=1e-7)
    assert not (yf > 1 + 1e-7).all() and (yf >= 1 - 1e-9).all()
    values = []
    for t in 1 + 10.0 ** -np.arange(1, 8):  # strictly feasible, and each better than the last
        assert (t * yf > 1).all()
        values.append(t**2 * machine.objective)
    assert (np.diff(values) < 0).all() and values[-1] > machine.objective
    assert values[-1] == pytest.approx(machine.objective, rel=1e-6)


@pytest.mark.claims("svm-09")
def test_on_the_hyperplane_a_sample_is_not_yet_right(rng):
    X, y = rng.normal(size=(20, 2)), rng.choice([-1.0, 1.0], size=20)
    f = decision(X, np.zeros(2), 0.0)
    assert (y * f >= 0).all() and not (y * f > 0).any()  # the printed rule calls this perfect
    assert set(label(f)) == {-1.0} and (label(f) != y).any()
    on = decision(np.array([[2.0]]), np.array([1.0]), -2.0)
    assert on >= 0 and on <= 0 and label(on) == -1.0  # + and -, as printed; here it is one
    machine = SVC(kernel="linear", C=10.0).fit([[1.0], [3.0]], [-1, 1])
    assert machine.predict([[2.0]]) == [-1]


@pytest.mark.claims("svm-10")
def test_the_margin_is_the_distance_of_the_closest_sample(rng):
    X, w, b = rng.normal(size=(25, 3)), rng.normal(size=3), 0.4
    walks = [np.linalg.norm(x - project(x[None], w, b)[0]) for x in X]
    assert geometric_margin(X, w, b) == pytest.approx(min(walks), rel=1e-12)
    for beta in (-3.0, -0.1, 2.0, 100.0):
        assert geometric_margin(X, beta * w, beta * b) == pytest.approx(min(walks), rel=1e-12)


@pytest.mark.claims("svm-11")
def test_a_negative_factor_swaps_the_labels(rng):
    X, y = separable(rng)
    w, b, *_ = hard_margin(X, y)
    Z = 3 * rng.normal(size=(200, 3))
    for beta in (-1.0, -0.2, 0.2, 5.0):
        swapped = label(decision(Z, beta * w, beta * b))
        np.testing.assert_array_equal(swapped, np.sign(beta) * label(decision(Z, w, b)))
    np.testing.assert_array_equal(label(decision(X, w, b)), y)
    assert (label(decision(X, -w, -b)) != y).all()  # every sample wrong
    assert geometric_margin(X, -w, -b) == pytest.approx(geometric_margin(X, w, b))


@pytest.mark.claims("svm-12")
def test_the_slab_is_2_over_norm_w_wide(rng):
    w, b = rng.normal(size=4), 0.9
    norm = np.linalg.norm(w)
    above, below = in_hyperplane(rng, w, b - 1), in_hyperplane(rng, w, b + 1)
    np.testing.assert_allclose(signed_distance(above, w, b), 1 / norm, rtol=1e-12)
    np.testing.assert_allclose(signed_distance(below, w, b), -1 / norm, rtol=1e-12)
    across = (above[:, None] - below) @ (w / norm)
    np.testing.assert_allclose(across, 2 / norm, rtol=1e-11)
    t = rng.uniform(size=(20, 1))
    between = decision(t * above + (1 - t) * below, w, b)
    np.testing.assert_allclose(between, 2 * t[:, 0] - 1, rtol=0, atol=1e-12)
    X = in_hyperplane(rng, w, b) + rng.uniform(-1, 1, size=(20, 1)) * w / norm**2  # of the slab
    t = (1 + decision(X, w, b)[:, None]) / 2
    assert ((t >= 0) & (t <= 1)).all()
    rebuilt = t * project(X, w, b - 1) + (1 - t) * project(X, w, b + 1)
    np.testing.assert_allclose(rebuilt, X, rtol=0, atol=1e-12)


@pytest.mark.claims("svm-12")
def test_hyperplanes_are_parallel_iff_their_normals_are(rng):
    w, b = rng.normal(size=4), 0.9
    H = in_hyperplane(rng, w, b)
    for v, rank in ((-2.5 * w, 1), (w + 0.1 * rng.normal(size=4), 2)):
        assert np.linalg.matrix_rank(np.array([w, v])) == rank
        spread = np.ptp(signed_distance(H, v, 0.3))
        assert (spread < 1e-12) == (rank == 1)


@pytest.mark.claims("svm-12")
def test_a_canonical_separator_has_an_empty_slab(rng):
    X, y = separable(rng)
    *_, state = perceptron(augment(X), y)
    w, b = canonical(X, y, state.w[1:], state.w[0])
    f = decision(X, w, b)
    assert (np.abs(f) < 1 - 1e-12).sum() == 0
    assert np.abs(signed_distance(X, w, b)).min() == pytest.approx(1 / np.linalg.norm(w))
    assert (np.abs(f / 2) < 1 - 1e-12).any()  # not canonical, not empty


@pytest.mark.claims("svm-13")
def test_the_other_printed_widths_are_wrong():
    X = np.array([[2.0, 0.0], [2.0, 3.0], [5.0, 1.0], [-2.0, 1.0], [-2.0, 2.0], [-3.0, 0.0]])
    y = np.array([1.0, 1, 1, -1, -1, -1])
    R2_w2 = []
    for c in (1.0, 0.1, 7.0):
        w, b, *_ = hard_margin(c * X, y)
        np.testing.assert_allclose(w, [1 / (2 * c), 0], rtol=0, atol=1e-9)
        width = points_and_segments(c * X[y > 0], c * X[y < 0])
        assert width == pytest.approx(4 * c) and width == pytest.approx(2 / np.linalg.norm(w))
        assert geometric_margin(c * X, w, b) == pytest.approx(2 * c)  # "smallest distance"
        assert 2 / (w @ w) == pytest.approx(8 * c**2)  # "maximise 2 / ||w||^2"
        assert 1 / (w @ w) == pytest.approx(4 * c**2)  # the width for c = 1 by accident
        R2_w2.append(((c * X) ** 2).sum(axis=1).max() * (w @ w))
    np.testing.assert_allclose(R2_w2, R2_w2[0], rtol=1e-9)


@pytest.mark.claims("svm-14")
def test_without_labels_the_margin_grows_for_ever(rng):
    X, y = separable(rng)
    w = rng.normal(size=3)
    for k in range(2, 8):
        b = 10.0**k
        assert geometric_margin(X, w, b) == pytest.approx(
            b / np.linalg.norm(w), rel=10 ** (1.0 - k)
        )
        assert set(label(decision(X, w, b))) == {1.0}
        assert np.mean(label(decision(X, w, b)) != y) == np.mean(y < 0)


def test_only_a_separator_can_be_canonical():
    X, y = XOR
    text = "w and b must separate the classes; got min_i y_i f(x_i) = -2"
    with pytest.raises(ValueError, match=message(text)):
        canonical(X, y, np.ones(2), 0.0)
    with pytest.raises(ValueError, match=message(text.replace("-2", "0"))):
        canonical(np.array([[0.0], [1.0]]), np.array([1, -1]), -np.ones(1), 0.0)


# ---------------------------------------------------------------------------------------
# Separability
# ---------------------------------------------------------------------------------------


def check_answer(X, y):
    """The answer of `separate` with its proof checked; whether it is a separator."""
    answer = separate(X, y)
    if isinstance(answer, Separator):
        assert (y * decision(X, answer.w, answer.b) > 0).all()
        return True
    u, v = answer
    assert (u >= 0).all() and (v >= 0).all() and len(u) + len(v) == len(y)
    assert u.sum() == pytest.approx(1) and v.sum() == pytest.approx(1)
    size = np.abs(X).max(initial=1e-300)
    np.testing.assert_allclose(X[y > 0].T @ u / size, X[y < 0].T @ v / size, rtol=0, atol=1e-9)
    return False


@pytest.mark.claims("svm-05")
def test_on_a_square_all_labellings_but_xor_are_separable():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    refused = [s for s in product([-1.0, 1.0], repeat=4) if not check_answer(X, np.array(s))]
    assert refused == [(-1.0, 1.0, 1.0, -1.0), (1.0, -1.0, -1.0, 1.0)]


@pytest.mark.claims("svm-05")
def test_the_answer_is_a_separator_iff_the_hulls_are_apart(rng):
    answers = []
    for _ in range(40):
        X, y = rng.normal(size=(10, 2)), rng.permutation(np.repeat([-1.0, 1.0], 5))
        X += rng.uniform(0, 2.5) * y[:, None]
        answers.append(check_answer(X, y))
        assert answers[-1] == (closest_points(X[y > 0], X[y < 0]).distance > 0)
    assert 5 < sum(answers) < 35


def test_touching_classes_equal_samples_and_single_samples():
    touching = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([-1.0, -1, 1, 1])
    assert isinstance(separate(*touching), HullsMeet) and not check_answer(*touching)
    assert not check_answer(np.ones((5, 2)), np.array([1.0, 1, 1, -1, -1]))  # all samples equal
    assert check_answer(np.array([[0.0], [1.0], [1.1], [2.0]]), touching[1])
    for sign in (-1, 1):  # one class: every sample is on its side of w = 0, b = y
        answer = separate(np.array([[1.0, 2.0], [3.0, 1.0]]), np.full(2, sign))
        assert check_answer(np.array([[1.0, 2.0], [3.0, 1.0]]), np.full(2, sign))
        np.testing.assert_allclose(answer.w, 0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_separability_has_no_unit(rng, scale):
    X, y = rng.normal(size=(20, 2)), np.repeat([-1.0, 1.0], 10)
    assert not check_answer(scale * X, y)
    assert check_answer(scale * (X + 4 * y[:, None]), y)
    assert not check_answer(scale * XOR[0], XOR[1])


@pytest.mark.claims("svm-06")
@pytest.mark.parametrize("N", [3, 4, 5, 6])
def test_in_enough_dimensions_every_labelling_is_separable(rng, N):
    for d in {2, N - 1}:
        X = rng.normal(size=(N, d))
        labellings = [np.array(s) for s in product([-1.0, 1.0], repeat=N)]
        count = sum(check_answer(X, y) for y in labellings if y[0] > 0) * 2  # y or -y
        assert count == 2 * sum(comb(N - 1, k) for k in range(d + 1))
        assert (count == 2**N) == (d >= N - 1)
    assert {4: 14, 5: 22, 6: 32}.get(N, 8) == 2 * sum(comb(N - 1, k) for k in range(3))


@pytest.mark.claims("svm-07")
def test_around_a_separator_there_are_others(rng):
    X, y = separable(rng)
    w, b = separate(X, y)
    m, reach = (y * decision(X, w, b)).min(), np.linalg.norm(X, axis=1).max()
    for _ in range(500):
        dw, share = rng.normal(size=3), rng.uniform()
        dw *= 0.999999 * share * m / reach / np.linalg.norm(dw)
        db = 0.999999 * (1 - share) * m * rng.choice([-1, 1])
        assert (y * decision(X, w + dw, b + db) > 0).all()
    # the closest sample is also the longest: no larger radius would do
    pair = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    assert not (pair[1] * decision(pair[0], np.array([1.0 - 1.0001]), 0.0) > 0).any()


@pytest.mark.claims("svm-07")
def test_the_perceptron_finds_one_of_them_of_no_larger_margin(rng):
    X, y = separable(rng)
    most = geometric_margin(X, *separate(X, y))
    found = set()
    for _ in range(10):
        order = rng.permutation(len(y))
        *_, state = perceptron(augment(X[order]), y[order])
        b, *w = state.w
        assert (y * decision(X, np.array(w), b) > 0).all()
        found.add(round(geometric_margin(X, np.array(w), b), 9))
    assert len(found) > 1 and max(found) <= most + 1e-9


# ---------------------------------------------------------------------------------------
# Hard margin
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-15")
def test_no_direction_of_the_plane_has_a_larger_margin(rng):
    X, y = separable(rng, d=2)
    w, b, xi, alpha, objective = hard_margin(X, y)

    def half_gap(t):
        z = X @ [np.cos(t), np.sin(t)]
        return (z[y > 0].min() - z[y < 0].max()) / 2

    grid = np.linspace(0, 2 * np.pi, 2001)
    k = np.argmax([half_gap(t) for t in grid])
    low, high, golden = grid[k - 1], grid[k + 1], (np.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if half_gap(left) > half_gap(right) else (left, high)
    assert half_gap(low) == pytest.approx(1 / np.linalg.norm(w), rel=1e-6)
    np.testing.assert_allclose(w / np.linalg.norm(w), [np.cos(low), np.sin(low)], rtol=0, atol=1e-6)
    assert (y * decision(X, w, b)).min() == pytest.approx(1, abs=1e-9)
    assert objective == pytest.approx(w @ w / 2) and not xi.any() and (alpha >= 0).all()


@pytest.mark.claims("svm-15")
def test_the_program_is_convex(rng):
    X, y = separable(rng)
    w, b, *_, objective = hard_margin(X, y)
    machines = list(feasible_hard(X, y, w, b, rng))
    assert len(machines) > 10
    for (v, c), (u, a) in zip(machines[1:], machines, strict=False):
        middle, offset = (v + u) / 2, (c + a) / 2
        assert (y * decision(X, middle, offset) >= 1 - 1e-12).all()
        assert middle @ middle <= (v @ v + u @ u) / 2 + 1e-12
        assert v @ v / 2 >= objective - 1e-9


@pytest.mark.claims("svm-15")
def test_three_samples_by_hand():
    X, y = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), np.array([-1, 1, 1])
    w, b, *_ = hard_margin(X, y)
    np.testing.assert_allclose([*w, b], [1, 0, -1], rtol=0, atol=1e-9)


@pytest.mark.claims("svm-16")
def test_the_same_solution_has_other_values(rng):
    X, y = separable(rng)
    w, b, *_ = hard_margin(X, y)
    norms = [np.linalg.norm(v) for v, _ in feasible_hard(X, y, w, b, rng)]
    norms.append(np.linalg.norm(w))
    values = [1 / np.array(norms), np.array(norms), np.square(norms)]
    assert values[0].argmax() == values[1].argmin() == values[2].argmin() == len(norms) - 1
    v1, v2, v3 = values[0].max(), values[1].min(), values[2].min()
    assert v1 == pytest.approx(1 / v2) and v3 == pytest.approx(v2**2)
    assert abs(v2 - 1) > 0.1 and abs(v1 - v2) > 0.1 and abs(v3 - v2) > 0.1  # printed as equal


@pytest.mark.claims("svm-16")
def test_only_both_conditions_together_make_a_margin(rng):
    X, y = separable(rng)
    w, b, *_ = hard_margin(X, y)

    def conditions(w, b):
        f = decision(X, w, b)
        return (y * f >= 0).all(), np.abs(f).min() == pytest.approx(1), (y * f >= 1 - 1e-9).all()

    assert conditions(w, b) == (True, True, True)
    assert conditions(10 * w, 10 * b) == (True, False, True)  # right side, wrong scale
    assert conditions(w / 10, b / 10) == (True, False, False)
    v = rng.normal(size=3)
    smallest = np.abs(decision(X, v, b)).min()
    assert conditions(v / smallest, b / smallest) == (False, True, False)
    for _ in range(100):
        v, c = w + 0.5 * rng.normal(size=3), b + 0.5 * rng.normal()
        smallest = np.abs(decision(X, v, c)).min()
        right, scaled, margins = conditions(v / smallest, c / smallest)
        assert scaled and right == margins


@pytest.mark.claims("svm-17")
def test_the_hyperplane_lies_midway(rng):
    X, y = separable(rng)
    w, b, *_ = hard_margin(X, y)
    delta = y * signed_distance(X, w, b)
    gamma = 1 / np.linalg.norm(w)
    for sign in (-1, 1):
        assert delta[y == sign].min() == pytest.approx(gamma, abs=1e-7)
    for t in (-0.9, -0.2, 0.2, 0.9):
        moved = geometric_margin(X, w, b + t)
        assert moved == pytest.approx(gamma - abs(t) * gamma, rel=1e-6)
    for v, c in feasible_hard(X, y, w, b, rng):  # y f >= m > 1 can be divided by m
        m = (y * decision(X, v, c)).min()
        assert m > 1 and np.linalg.norm(canonical(X, y, v, c)[0]) == pytest.approx(
            np.linalg.norm(v) / m
        )


@pytest.mark.claims("svm-18")
@pytest.mark.parametrize("d", [2, 5])
def test_the_width_is_the_distance_of_the_hulls(rng, d):
    X, y = separable(rng, d=d)
    w, b, _, alpha, _ = hard_margin(X, y)
    width = 2 / np.linalg.norm(w)
    A = alpha[y > 0].sum()
    assert A == pytest.approx(w @ w / 2) and alpha[y < 0].sum() == pytest.approx(A)
    p, q = (alpha[y == sign] / A @ X[y == sign] for sign in (1, -1))  # points of the hulls
    np.testing.assert_allclose(p - q, 2 * w / (w @ w), rtol=0, atol=1e-6)
    assert np.linalg.norm(p - q) == pytest.approx(width, rel=1e-6)
    assert decision(((p + q) / 2)[None], w, b)[0] == pytest.approx(0, abs=1e-6)
    u, v = (rng.dirichlet(np.full((y == s).sum(), 0.2), size=3000) @ X[y == s] for s in (1, -1))
    assert np.linalg.norm(u - v, axis=1).min() >= width - 1e-9  # and no others are closer
    assert closest_points(X[y > 0], X[y < 0]).distance == pytest.approx(width, rel=1e-6)


@pytest.mark.claims("svm-18")
def test_the_width_is_the_distance_of_corners_and_segments(rng):
    for _ in range(5):
        X, y = separable(rng, n=10, d=2)
        width = points_and_segments(X[y > 0], X[y < 0])
        assert 2 / np.linalg.norm(hard_margin(X, y).w) == pytest.approx(width, rel=1e-9)


@pytest.mark.claims("svm-19")
def test_two_samples_in_closed_form(rng):
    for d in range(1, 6):
        X, y = 3 * rng.normal(size=(2, d)) + 1, np.array([1.0, -1.0])
        gap = X[0] - X[1]
        w, share = 2 * gap / (gap @ gap), 2 / (gap @ gap)
        b = -w @ (X[0] + X[1]) / 2
        machine = hard_margin(X, y)
        np.testing.assert_allclose(machine.w, w, rtol=0, atol=1e-8)
        np.testing.assert_allclose(
            [machine.b, *machine.alpha], [b, share, share], rtol=0, atol=1e-8
        )
        np.testing.assert_allclose(by_smo(X, y)[0], share, rtol=1e-9)
        assert max(kkt_residuals(X, y, w, b, np.zeros(2), np.full(2, share))) < 1e-12
    machine = hard_margin(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]))
    np.testing.assert_allclose(
        [*machine.w, machine.b, *machine.alpha], [1, 0, 0.5, 0.5], rtol=0, atol=1e-9
    )


@pytest.mark.claims("svm-21")
def test_the_lagrangian_in_three_forms(rng):
    X, y = separable(rng)
    G = y[:, None] * np.column_stack([X, np.ones(len(y))])
    problem = quadratic_program(np.diag([1.0, 1, 1, 0]), np.zeros(4), G=G, h=np.ones(len(y)))
    for _ in range(10):
        w, b, alpha = rng.normal(size=3), rng.normal(), rng.exponential(size=len(y))
        L = hard_lagrangian(X, y, w, b, alpha)
        assert L == pytest.approx(lagrangian(problem, np.append(w, b), alpha), rel=1e-12)
        expanded = w @ w / 2 - w @ (X.T @ (alpha * y)) - b * (alpha @ y) + alpha.sum()
        assert L == pytest.approx(expanded, rel=1e-12)
        in_w, in_b = hard_lagrangian_gradients(X, y, w, alpha)
        check_gradient(lambda v: hard_lagrangian(X, y, v, b, alpha), lambda _: in_w, w)  # noqa: B023
        check_gradient(lambda c: hard_lagrangian(X, y, w, c, alpha), lambda _: in_b, b)  # noqa: B023


@pytest.mark.claims("svm-21")
def test_the_largest_lagrangian_is_the_cost_or_infinite(rng):
    X, y = separable(rng)
    w, b, *_ = hard_margin(X, y)
    w, b = 1.3 * w, 1.3 * b
    assert hard_lagrangian(X, y, w, b, np.zeros(len(y))) == pytest.approx(w @ w / 2)
    for alpha in rng.exponential(size=(100, len(y))):
        assert hard_lagrangian(X, y, w, b, alpha) <= w @ w / 2
    i = (y * decision(X, w / 2, b / 2)).argmin()  # infeasible, at i most of all
    unit = np.arange(len(y)) == i
    values = [hard_lagrangian(X, y, w / 2, b / 2, t * unit) for t in (0.0, 1e3, 2e3)]
    short = 1 - (y * decision(X, w / 2, b / 2))[i]
    assert short > 0
    np.testing.assert_allclose(np.diff(values), 1e3 * short, rtol=1e-9)


@pytest.mark.claims("svm-22")
def test_the_optimum_is_a_saddle_point(rng):
    X, y = separable(rng)
    w, b, _, alpha, objective = hard_margin(X, y)
    L = hard_lagrangian(X, y, w, b, alpha)
    assert L == pytest.approx(objective, rel=1e-9)
    assert L == pytest.approx(dual_value(alpha, X @ X.T, y), rel=1e-9)  # min over w, b
    for other in rng.exponential(size=(100, len(y))):
        assert hard_lagrangian(X, y, w, b, other) <= L + 1e-9
    for v in rng.normal(size=(100, 3)):
        assert hard_lagrangian(X, y, w + v, b + rng.normal(), alpha) >= L - 1e-9
    t = np.array([1e2, 1e4, 1e6])
    strict = [hard_lagrangian(X, y, 2 * w, 2 * b, alpha + k) for k in t]
    assert strict[0] > strict[1] > strict[2] and strict[2] < -1e6  # "min over alpha too"
    long = [hard_lagrangian(X, y, k * w, b, alpha) for k in t]
    assert long[0] < long[1] < long[2] and long[2] > 1e10  # "max L"
    uneven = alpha + np.eye(len(y))[0]  # nothing bars it, but its minimum over b is -inf
    far = [hard_lagrangian(X, y, w, k * np.sign(uneven @ y), uneven) for k in t]
    assert far[2] < -1e5 and dual_value(uneven, X @ X.T, y) == -inf


@pytest.mark.claims("svm-23")
def test_the_kkt_conditions_hold_at_the_optimum(rng):
    X, y = separable(rng)
    w, b, xi, alpha, _ = hard_margin(X, y)
    assert max(kkt_residuals(X, y, w, b, xi, alpha)) < 1e-7
    above = y * decision(X, w, b)
    by_hand = [
        np.abs(w - sum(a * s * x for a, s, x in zip(alpha, y, X, strict=True))).max(),
        abs(alpha[y > 0].sum() - alpha[y < 0].sum()),
        max(0, 1 - above.min()), max(0, -alpha.min()), np.abs(alpha * (above - 1)).max(),
    ]  # fmt: skip
    assert max(by_hand) < 1e-7
    S = alpha > 1e-8
    np.testing.assert_allclose(above[S], 1, rtol=0, atol=1e-6)
    assert above.min() == pytest.approx(1, abs=1e-7) and 2 <= S.sum() < len(y) / 2
    for alpha, w, b in [(SQUARE_ALPHAS[0], [1.0, 0.0], 0.0), (SQUARE_ALPHAS[1], [1.0, 0.0], 0.0)]:
        assert max(kkt_residuals(*SQUARE, np.array(w), b, np.zeros(4), alpha)) == 0
        K = SQUARE[0] @ SQUARE[0].T
        assert dual_value(alpha, K, SQUARE[1]) == np.array(w) @ w / 2  # then the gap is 0


@pytest.mark.claims("svm-23")
def test_each_residual_sees_its_own_condition(rng):
    X, y = overlapping(rng)
    C = 0.8
    w, b, xi, alpha, _ = soft_margin(X, y, C)
    assert max(kkt_residuals(X, y, w, b, xi, alpha, C)) < 1e-7
    free = np.argmax(np.minimum(alpha, C - alpha))
    bound, zero = np.argmax(xi), np.argmax(y * decision(X, w, b))
    unit = np.eye(len(y))

    def hit(**changed):
        how = {"w": w, "b": b, "xi": xi, "alpha": alpha, "C": C, **changed}
        found = kkt_residuals(X, y, **how)
        return {name for name, value in found._asdict().items() if value > 1e-6}

    assert hit(w=2 * w) >= {"weights"}
    assert hit(alpha=alpha + 0.01 * unit[free]) == {"weights", "balance"}
    assert hit(b=b + 0.1) == {"margins", "on_the_margin"}
    assert hit(xi=xi - 0.1 * unit[zero]) == {"slack", "at_the_bound"}
    assert hit(xi=xi - 0.1 * unit[bound]) == {"margins", "on_the_margin"}
    assert hit(alpha=alpha + 0.1 * unit[bound]) >= {"box", "balance", "at_the_bound"}
    assert hit(alpha=alpha - 0.1 * unit[zero]) >= {"box", "on_the_margin"}
    assert hit(xi=xi + 0.1 * unit[zero]) == {"at_the_bound"}
    assert hit(C=inf) == {"at_the_bound"}  # no slack in a hard margin


@pytest.mark.claims("svm-24")
def test_the_support_vectors_alone_determine_the_machine(rng):
    X, y = separable(rng)
    w, b, _, alpha, _ = hard_margin(X, y)
    S = support_vectors(alpha)
    assert list(S) == [i for i in range(len(y)) if alpha[i] > 0]
    f = decision(X[S], w, b)
    np.testing.assert_allclose(np.abs(f), 1, rtol=0, atol=1e-7)
    assert set(np.round(f)) == {-1.0, 1.0}  # both classes
    np.testing.assert_allclose((alpha[S] * y[S]) @ X[S], w, rtol=0, atol=1e-9)
    others = np.setdiff1d(np.arange(len(y)), S)
    moved = X.copy()
    for i in others:
        on_the_line = project(4 * rng.normal(size=(1, 3)), w, b - y[i])[0]
        moved[i] = on_the_line + y[i] * rng.exponential() * w
    assert (y * decision(moved, w, b) >= 1 - 1e-9).all() and np.abs(moved - X).max() > 1
    for again in (hard_margin(X[S], y[S]), hard_margin(moved, y),
                  *(hard_margin(np.delete(X, i, 0), np.delete(y, i)) for i in others)):  # fmt: skip
        np.testing.assert_allclose([*again.w, again.b], [*w, b], rtol=0, atol=1e-6)
    less = hard_margin(np.delete(X, S[0], 0), np.delete(y, S[0]))  # a support vector matters
    assert less.objective < hard_margin(X, y).objective * (1 - 1e-3)


@pytest.mark.claims("svm-25")
def test_the_dual_function_is_the_least_lagrangian(rng):
    X, y = separable(rng)
    K = X @ X.T
    for _ in range(10):
        alpha = balanced_alpha(y, rng)
        q = dual_value(alpha, K, y)
        written = alpha.sum() - sum(
            alpha[i] * alpha[j] * y[i] * y[j] * (X[i] @ X[j])
            for i in range(len(y)) for j in range(len(y))
        ) / 2  # fmt: skip
        assert q == pytest.approx(written, rel=1e-10)
        w = X.T @ (alpha * y)
        for b in (-50.0, 0.0, 3.0):
            assert hard_lagrangian(X, y, w, b, alpha) == pytest.approx(q, abs=1e-10)
            for v in rng.normal(size=(20, 3)):
                assert hard_lagrangian(X, y, w + v, b, alpha) >= q - 1e-9
    Q = K * np.outer(y, y)
    assert np.linalg.eigvalsh(Q).min() >= -1e-10


@pytest.mark.claims("svm-25")
def test_out_of_balance_it_is_minus_infinity(rng):
    X, y = separable(rng)
    alpha = balanced_alpha(y, rng) + 0.01 * (y > 0)
    values = [hard_lagrangian(X, y, np.zeros(3), b, alpha) for b in (0.0, 1e6, 2e6)]
    np.testing.assert_allclose(np.diff(values), -1e6 * (alpha @ y), rtol=1e-9)
    assert dual_value(alpha, X @ X.T, y) == -inf
    for scale in (1e-12, 1.0, 1e8):  # out of balance or not has no unit
        assert dual_value(scale * alpha, X @ X.T, y) == -inf
        assert dual_value(scale * balanced_alpha(y, rng), X @ X.T, y) > -inf
    assert dual_value(np.zeros(len(y)), X @ X.T, y) == 0.0


@pytest.mark.claims("svm-26")
def test_weak_and_strong_duality_of_the_hard_margin(rng):
    X, y = separable(rng)
    K = X @ X.T
    w, b, *_, objective = hard_margin(X, y)
    dual = solve_dual(K, c_dual(y))
    alpha = dual.beta * y
    assert dual.objective == pytest.approx(objective, rel=1e-6)
    assert dual_value(alpha, K, y) == pytest.approx(dual.objective, rel=1e-9)
    assert alpha.sum() == pytest.approx(w @ w, rel=1e-6)
    assert alpha.sum() == pytest.approx(1 / geometric_margin(X, w, b) ** 2, rel=1e-6)
    np.testing.assert_allclose(by_smo(X, y)[1], w, rtol=0, atol=1e-6)
    costs = [v @ v / 2 for v, _ in feasible_hard(X, y, w, b, rng)]
    for _ in range(100):
        bound = dual_value(rng.uniform(0.1, 3) * balanced_alpha(y, rng), K, y)
        assert bound <= objective + 1e-9 <= min(costs) + 2e-9


@pytest.mark.claims("svm-27")
def test_the_machine_comes_back_from_its_multipliers(rng):
    X, y = separable(rng)
    machine = hard_margin(X, y)
    alpha, *_ = by_smo(X, y)
    w, b = recover(X, y, alpha)
    np.testing.assert_allclose([*w, b], [*machine.w, machine.b], rtol=0, atol=1e-5)
    each = [y[j] - w @ X[j] for j in support_vectors(alpha)]
    assert len(each) > 1
    np.testing.assert_allclose(each, b, rtol=0, atol=1e-6)
    wrong = [1 / y[j] + w @ X[j] for j in support_vectors(alpha)]  # the sign of w^T x matters
    assert np.abs(np.array(wrong) - b).max() > 0.1


def test_without_support_vectors_there_is_nothing_to_recover():
    with pytest.raises(ValueError, match=message("alpha must have entries > 0; got none")):
        recover(*XOR, np.zeros(4))


@pytest.mark.claims("svm-28")
def test_the_weights_are_unique_and_the_multipliers_are_not():
    X, y = SQUARE
    w, b, *_, objective = hard_margin(X, y)
    np.testing.assert_allclose([*w, b], [1, 0, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(y * decision(X, w, b), 1, rtol=0, atol=1e-9)  # all on the margin
    for alpha in SQUARE_ALPHAS:
        assert max(kkt_residuals(X, y, np.array([1.0, 0]), 0.0, np.zeros(4), alpha)) == 0
        assert dual_value(alpha, X @ X.T, y) == 0.5 == pytest.approx(objective)
        v, c = recover(X, y, alpha)
        np.testing.assert_allclose([*v, c], [1, 0, 0], rtol=0, atol=1e-12)
        beta = alpha * y
        ends = offset_intervals(y - X @ X.T @ beta, c_dual(y), beta)
        np.testing.assert_array_equal(ends, [[0.0, 0.0]])  # one b
    assert (SQUARE_ALPHAS == 0).any()  # on the margin, and no support vector
    # strictly convex would mean below the chord between any two (w, b): it is level in b
    assert np.linalg.eigvalsh(np.diag([1.0, 1.0, 0.0])).min() == 0
    assert erm_objective(X, y, w, 5.0, C=0.0) == erm_objective(X, y, w, -5.0, C=0.0)


@pytest.mark.claims("svm-28")
def test_no_other_machine_has_the_least_norm(rng):
    X, y = separable(rng)
    w, b, *_ = hard_margin(X, y)
    for v, c in feasible_hard(X, y, w, b, rng):
        assert v @ v > w @ w * (1 + 1e-9) or np.allclose([*v, c], [*w, b], atol=1e-6)
    for t in (-1e-4, 1e-4):  # the same w with another b is infeasible
        assert (y * decision(X, w, b + t)).min() < 1 - 5e-5


@pytest.mark.claims("svm-29")
def test_the_dual_sees_inner_products_alone(rng):
    X, y = separable(rng, n=20)
    alpha, w, b = by_smo(X, y)
    machine = hard_margin(X, y)
    np.testing.assert_allclose([*w, b], [*machine.w, machine.b], rtol=0, atol=1e-6)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    isometry = np.linalg.qr(rng.normal(size=(10_000, 3)))[0].T
    padded = np.hstack([X, np.zeros((20, 4))])
    for Z in (X @ R, padded, X @ isometry):
        np.testing.assert_allclose(Z @ Z.T, X @ X.T, rtol=0, atol=1e-9)
        again, v, c = by_smo(Z, y)
        assert again.sum() == pytest.approx(alpha.sum(), rel=1e-8)
        np.testing.assert_allclose(decision(Z, v, c), decision(X, w, b), rtol=0, atol=1e-8)
    stretched = by_smo(X * [1, 1, 3], y)  # no isometry: another machine
    assert abs(stretched[0].sum() - alpha.sum()) > 1e-3


@pytest.mark.claims("svm-32")
def test_where_nothing_separates_the_dual_has_no_maximum():
    X, y = XOR
    K = X @ X.T
    for t in (1.0, 1e3, 1e6):
        alpha = np.full(4, t)
        assert not (X.T @ (alpha * y)).any() and dual_value(alpha, K, y) == 4 * t
    with pytest.raises(InfeasibleError, match="the constraints must have a common point"):
        hard_margin(X, y)
    with pytest.raises(UnboundedError, match="the objective must be bounded below"):
        solve_dual(K, c_dual(y))
    assert isinstance(separate(X, y), HullsMeet) and not check_answer(X, y)
    machine = soft_margin(X, y, C=3.0)
    assert machine.objective == pytest.approx(12) and np.isfinite([*machine.w, machine.b]).all()


# ---------------------------------------------------------------------------------------
# Soft margin
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-33")
def test_the_slack_is_the_least_feasible(rng):
    X, y = overlapping(rng)
    w, b = rng.normal(size=2), -0.6
    f = decision(X, w, b)
    xi = slack(f, y)
    assert (y * f >= 1 - xi - 1e-12).all() and (xi >= 0).all()
    for i in np.flatnonzero(xi > 0):
        assert y[i] * f[i] < 1 - 0.999 * xi[i]  # any less, and the margin is missed
    assert (xi > 1).sum() == (label(f) != y).sum() and 0 < (xi > 1).sum() < len(y)
    inside = (xi > 0) & (xi < 1)
    np.testing.assert_array_equal(label(f)[inside], y[inside])
    assert inside.any() and slack(np.zeros(2), np.array([-1, 1])).tolist() == [1.0, 1.0]
    own_line = np.array([project(x[None], w, b - s)[0] for x, s in zip(X, y, strict=True)])
    walks = np.linalg.norm(X - own_line, axis=1)
    np.testing.assert_allclose(walks[xi > 0], xi[xi > 0] / np.linalg.norm(w), rtol=1e-10)
    np.testing.assert_array_equal(xi, np.where(y * f >= 1, 0, 1 - y * f))


@pytest.mark.claims("svm-34")
@pytest.mark.parametrize("C", [0.05, 0.7, 20.0])
def test_the_soft_margin_by_hinge_dual_and_neighbours(rng, C):
    X, y = overlapping(rng)
    w, b, xi, alpha, objective = soft_margin(X, y, C)
    np.testing.assert_allclose(xi, np.maximum(0, 1 - y * (X @ w + b)), rtol=0, atol=1e-6)
    assert objective == pytest.approx(w @ w / 2 + C * xi.sum(), rel=1e-9)
    dual = solve_dual(X @ X.T, c_dual(y, C))
    assert dual.objective == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(X.T @ dual.beta, w, rtol=0, atol=1e-6)
    np.testing.assert_allclose(X.T @ (alpha * y), w, rtol=0, atol=1e-6)
    for scale in (1e-3, 1e-1, 1.0):
        for step in rng.normal(size=(50, 3)) * scale:
            assert erm_objective(X, y, w + step[:2], b + step[2], C) >= objective - 1e-9


@pytest.mark.claims("svm-34")
def test_the_soft_margin_by_all_active_sets(rng):
    free, bound = 0, 0
    for C in (0.3, 1.0, 4.0, 4.0, 20.0):
        X, y = rng.normal(size=(5, 2)) + 0.3, np.array([1.0, 1, -1, -1, 1])
        alpha, w, b = active_sets(X, y, C)
        machine = soft_margin(X, y, C)
        np.testing.assert_allclose(machine.w, w, rtol=0, atol=1e-7)
        assert machine.objective == pytest.approx(erm_objective(X, y, w, b, C), rel=1e-8)
        assert machine.objective == pytest.approx(dual_value(alpha, X @ X.T, y), rel=1e-8)
        if ((alpha > 1e-6) & (alpha < C - 1e-6)).any():  # one b
            assert machine.b == pytest.approx(b, abs=1e-7)
            np.testing.assert_allclose(machine.alpha, alpha, rtol=0, atol=1e-7)
            free += 1
        bound += np.sum(alpha == C)
    assert free > 2 and bound > 3


@pytest.mark.claims("svm-35")
def test_rep_counts_slack_half(rng):
    X, y = overlapping(rng)
    n, C = len(y), 0.1
    ours = soft_margin(X, y, C)

    def rep(C_rep):
        """min w^T w + C_rep sum xi, as it stands."""
        P = np.diag([2.0, 2.0, 0.0] + [0.0] * n)
        margins = np.column_stack([y[:, None] * X, y, np.eye(n)])
        G = np.vstack([margins, np.column_stack([np.zeros((n, 3)), np.eye(n)])])
        return solve_qp(P, [0.0] * 3 + [C_rep] * n, G=G, h=[1.0] * n + [0.0] * n)

    same, other = rep(2 * C), rep(C)
    np.testing.assert_allclose(same.x, [*ours.w, ours.b, *ours.xi], rtol=0, atol=1e-6)
    assert same.objective == pytest.approx(2 * ours.objective, rel=1e-6)
    assert np.abs(other.x[:3] - [*ours.w, ours.b]).max() > 1e-3


@pytest.mark.claims("svm-36")
def test_free_slack_is_not_no_slack(rng):
    X, y = overlapping(rng, n=(7, 3))
    for C, near in ((1e-3, 0.1), (1e-6, 1e-4)):
        machine = soft_margin(X, y, C)
        assert np.linalg.norm(machine.w) < near
        assert machine.objective / C == pytest.approx(2 * 3, rel=near)
        assert machine.xi.sum() > 5.5  # printed as 0
    grid = np.linspace(-3, 3, 601)
    sums = [slack(np.full(10, b), y).sum() for b in grid]
    assert min(sums) == pytest.approx(6) and grid[np.argmin(sums)] == pytest.approx(1)
    for b in (-2.0, 0.0, 9.0):  # any b is optimal: the penalty is 0, the slack is not
        assert erm_objective(X, y, np.zeros(2), b, C=0.0) == 0.0
        assert slack(np.full(10, b), y).sum() >= 6


@pytest.mark.claims("svm-37")
def test_from_the_largest_multiplier_on_c_does_not_matter(rng):
    X, y = separable(rng)
    hard = hard_margin(X, y)
    largest = hard.alpha.max()
    for C in (1.01 * largest, 100 * largest, inf):
        soft = soft_margin(X, y, C)
        np.testing.assert_allclose([*soft.w, soft.b], [*hard.w, hard.b], rtol=0, atol=1e-6)
        np.testing.assert_allclose(soft.alpha, hard.alpha, rtol=0, atol=1e-6)
        assert soft.xi.sum() < 1e-7
    assert soft_margin(X, y, 0.9 * largest).xi.sum() > 1e-3
    np.testing.assert_allclose(by_smo(X, y, 1.01 * largest)[1], hard.w, rtol=0, atol=1e-6)


@pytest.mark.claims("svm-37")
def test_the_threshold_of_two_samples():
    X, y = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([1.0, -1.0])
    threshold = 2 / 25
    for C, held in ((threshold * (1 + 1e-6), True), (threshold * (1 - 1e-6), False)):
        assert (soft_margin(X, y, C).xi.sum() < 1e-9) == held


@pytest.mark.claims("svm-38")
def test_c_trades_width_against_slack(rng):
    X, y = overlapping(rng)
    C = np.geomspace(1e-4, 1e2, 13)
    machines = [soft_margin(X, y, c) for c in C]
    S = np.array([machine.xi.sum() for machine in machines])
    norm = np.array([np.linalg.norm(machine.w) for machine in machines])
    value = np.array([machine.objective for machine in machines])
    assert (np.diff(S) <= 1e-7).all() and (np.diff(norm) >= -1e-7).all()
    assert S[0] > S[-1] + 1 and norm[-1] > 10 * norm[0] and (np.diff(value) >= 0).all()
    assert ((C[1:] - C[:-1]) * (S[:-1] - S[1:]) >= -1e-7).all()
    for a, c in ((1e-3, 1e-1), (0.1, 3.0), (1.0, 100.0)):
        ends = (soft_margin(X, y, a).objective + soft_margin(X, y, c).objective) / 2
        assert soft_margin(X, y, (a + c) / 2).objective > ends


@pytest.mark.claims("svm-38")
def test_training_errors_may_rise_with_c():
    X = np.array([[3.0, -4], [-3, -2], [-3, 3], [3, 1], [-4, -4], [-2, -1], [1, 0]])
    y = np.array([1.0, -1, 1, 1, -1, 1, -1])
    errors = []
    for C in (0.2, 3.0):
        alpha, w, b = by_smo(X, y, C)
        assert ((alpha > 0) & (alpha < C)).any()  # one b
        f = decision(X, w, b)
        assert np.abs(f).min() > 1e-2
        errors.append(int((label(f) != y).sum()))
    assert errors == [1, 2]


@pytest.mark.claims("svm-38")
def test_an_outlier_is_given_up_for_small_c_alone():
    X = np.array([[1.0], [2.0], [3.0], [-1.0], [-2.0], [-3.0], [0.9]])
    y = np.array([1.0, 1, 1, -1, -1, -1, -1])  # the last lies among the others, still separable
    for C, right in ((0.1, False), (1000.0, True)):
        w, b, *_ = soft_margin(X, y, C)
        f = decision(X, w, b)
        np.testing.assert_array_equal(label(f)[:6], y[:6])
        assert (f[6] < 0) == right


@pytest.mark.claims("svm-39")
def test_the_gradients_of_the_soft_lagrangian(rng):
    X, y = overlapping(rng, n=(5, 4))
    w, b, C = rng.normal(size=2), 0.3, 1.7
    xi, alpha, r = rng.exponential(size=(3, 9))

    def value(w=w, b=b, xi=xi):
        return soft_lagrangian(X, y, w, b, xi, alpha, r, C)

    sums = w @ w / 2
    for i in range(9):
        sums += C * xi[i] - alpha[i] * (y[i] * (w @ X[i] + b) - 1 + xi[i]) - r[i] * xi[i]
    assert value() == pytest.approx(sums, rel=1e-12)
    in_w, in_b = hard_lagrangian_gradients(X, y, w, alpha)
    check_gradient(lambda v: value(w=v), lambda _: in_w, w)
    check_gradient(lambda c: value(b=c), lambda _: in_b, b)
    check_gradient(lambda s: value(xi=s), lambda _: C - alpha - r, xi)


@pytest.mark.claims("svm-39")
def test_the_soft_lagrangian_is_below_the_cost_and_equal_at_the_optimum(rng):
    X, y = overlapping(rng)
    C = 0.8
    w, b, xi, alpha, objective = soft_margin(X, y, C)
    assert max(kkt_residuals(X, y, w, b, xi, alpha, C)) < 1e-6
    L = soft_lagrangian(X, y, w, b, xi, alpha, C - alpha, C)
    assert L == pytest.approx(objective, rel=1e-9)
    for _ in range(200):
        v, c = rng.normal(size=2), rng.normal()
        more = slack(decision(X, v, c), y) + rng.exponential(size=len(y))  # feasible
        some, r = rng.exponential(size=(2, len(y)))
        assert soft_lagrangian(X, y, v, c, more, some, r, C) <= v @ v / 2 + C * more.sum()
        assert soft_lagrangian(X, y, v, c, more, alpha, C - alpha, C) >= L - 1e-9


@pytest.mark.claims("svm-40")
def test_the_signs_of_the_expanded_lagrangian(rng):
    X, y = overlapping(rng)
    n, C = len(y), 0.8
    for _ in range(10):
        w, b = rng.normal(size=2), rng.normal()
        xi, alpha, r = rng.exponential(size=(3, n))
        L = soft_lagrangian(X, y, w, b, xi, alpha, r, C)
        common = w @ w / 2 + C * xi.sum() - alpha @ (y * (X @ w + b)) - alpha @ xi
        assert L == pytest.approx(common + alpha.sum() - r @ xi, abs=1e-10)
        assert L - (common - alpha.sum() - r @ xi) == pytest.approx(2 * alpha.sum())  # ISML
        assert common + alpha.sum() + r @ xi - L == pytest.approx(2 * (r @ xi))  # PRNN, read as +
    # then dL/dxi = C - alpha + r, which is not 0 for alpha + r = C and any r > 0
    alpha = rng.uniform(0, C, size=n)
    r = C - alpha
    assert not (C - alpha - r).any() and (C - alpha + r > 0).all()
    check_gradient(lambda s: soft_lagrangian(X, y, w, b, s, alpha, r, C), lambda _: np.zeros(n), xi)


@pytest.mark.claims("svm-41")
def test_the_slack_cancels_and_leaves_the_box(rng):
    X, y = overlapping(rng)
    K, C = X @ X.T, 0.8
    for _ in range(10):
        alpha = balanced_alpha(y, rng, most=C)
        w = X.T @ (alpha * y)
        for xi in 5 * rng.normal(size=(5, len(y))):  # of any sign
            L = soft_lagrangian(X, y, w, rng.normal(), xi, alpha, C - alpha, C)
            assert L == pytest.approx(dual_value(alpha, K, y), abs=1e-10)
    machine, dual = soft_margin(X, y, C), c_dual(y, C)
    assert solve_dual(K, dual).objective == pytest.approx(machine.objective, rel=1e-6)
    solved = solve(K, dual, tol=1e-9, max_iter=-1)
    alpha = solved.beta * y
    assert solved.run.state.objective == pytest.approx(machine.objective, rel=1e-6)
    assert dual_value(alpha, K, y) == pytest.approx(machine.objective, rel=1e-6)
    assert alpha.min() == 0.0 and alpha.max() == C
    for _ in range(100):
        assert dual_value(balanced_alpha(y, rng, most=C), K, y) <= machine.objective


@pytest.mark.claims("svm-41")
def test_the_box_in_signed_multipliers(rng):
    y = np.array([1.0, -1.0, 1.0])
    p, lower, upper, start, groups = c_dual(y, C=2.0)
    for beta in product((-2.5, -2.0, -1.0, 0.0, 1.0, 2.0, 2.5), repeat=3):
        alpha = y * beta
        inside = ((alpha >= 0) & (alpha <= 2)).all()
        assert inside == ((lower <= beta) & (beta <= upper)).all()
        assert p @ beta == alpha.sum()
    assert not start.any() and len(groups) == 1 and len(range(3)[groups[0]]) == 3
    bounds = c_dual(y, C=np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal([bounds.lower, bounds.upper], [[0, -2, 0], [1, 0, 3]])
    np.testing.assert_array_equal(c_dual(y).upper, [inf, 0, inf])


@pytest.mark.claims("svm-42")
def test_free_slack_makes_the_lagrangian_unbounded_for_either_sign(rng):
    X, y = overlapping(rng)
    n, C = len(y), 0.8
    alpha = balanced_alpha(y, rng, most=C)
    w, q = X.T @ (alpha * y), dual_value(alpha, X @ X.T, y)

    def along(r, t):
        return np.array([soft_lagrangian(X, y, w, 0.0, np.full(n, s), alpha, r, C) for s in t])

    t = np.array([0.0, 1e3, 1e6])
    for r, sign in ((0.5 * (C - alpha), -1), (C - alpha + 1, 1)):  # C - alpha - r > 0, and < 0
        slope = (C - alpha - r).sum()
        np.testing.assert_allclose(along(r, sign * t) - q, -np.abs(slope) * t, rtol=1e-9, atol=1e-9)
        assert along(r, -sign * t)[-1] > q  # "xi -> 0 is the minimiser": only to this side
    np.testing.assert_allclose(along(C - alpha, [-1e3, 0, 1e3]), q, rtol=1e-9)
    zero = np.zeros(n)  # xi >= 0 kept, and no r: the same dual
    for xi in np.vstack([zero, rng.exponential(size=(50, n))]):
        value = soft_lagrangian(X, y, w, 0.0, xi, alpha, zero, C)
        assert value >= q - 1e-9 and (xi.any() or value == pytest.approx(q))
    unit = np.arange(n) == 0
    above = soft_lagrangian(X, y, w, 0.0, 1e6 * unit, alpha + 2 * C * unit, zero, C)
    assert above < -1e5


@pytest.mark.claims("svm-43")
def test_without_the_sum_one_solves_the_machine_without_offset(rng):
    X, y = overlapping(rng)
    X += 2.0  # off-centre: it needs its b
    n, C, K = len(y), 0.3, X @ X.T
    optimum = soft_margin(X, y, C)
    box_only = solve_dual(K, c_dual(y, C)._replace(groups=()))
    P = np.diag([1.0, 1.0] + [0.0] * n)
    margins = np.column_stack([y[:, None] * X, np.eye(n)])
    G = np.vstack([margins, np.column_stack([np.zeros((n, 2)), np.eye(n)])])
    no_offset = solve_qp(P, [0.0] * 2 + [C] * n, G=G, h=[1.0] * n + [0.0] * n)
    assert box_only.objective == pytest.approx(no_offset.objective, rel=1e-6)
    np.testing.assert_allclose(X.T @ box_only.beta, no_offset.x[:2], rtol=0, atol=1e-6)
    assert box_only.objective > optimum.objective * 1.05  # no lower bound of the problem meant
    assert abs(box_only.beta.sum()) > 0.1
    assert solve_dual(K, c_dual(y, C)).objective == pytest.approx(optimum.objective, rel=1e-6)
    # and one sum over i, with j nowhere, is not even quadratic in all of alpha
    alpha = box_only.beta * y
    assert alpha.sum() - (alpha**2 * K.diagonal()).sum() / 2 != pytest.approx(box_only.objective)


@pytest.mark.claims("svm-44")
def test_a_multiplier_tells_where_its_sample_lies(rng):
    X, y = overlapping(rng)
    C = 0.8
    alpha, w, b = by_smo(X, y, C)
    yf = y * decision(X, w, b)
    xi = slack(yf, np.ones(len(y)))
    zero, bound = alpha == 0, alpha == C
    free = ~zero & ~bound
    assert min(zero.sum(), free.sum(), bound.sum()) > 1 and (alpha >= 0).all() and max(alpha) <= C
    assert (yf[zero] >= 1 - 1e-6).all() and (xi[zero] < 1e-6).all()
    np.testing.assert_allclose(yf[free], 1, rtol=0, atol=1e-6)
    assert (yf[bound] <= 1 + 1e-6).all() and bound[xi > 1e-6].all() and (xi[~bound] < 1e-6).all()
    wrong = label(decision(X, w, b)) != y
    np.testing.assert_array_equal(wrong, xi > 1)
    assert wrong.any() and bound[wrong].all()
    near = ~(yf > 1 + 1e-6)
    again = soft_margin(X[near], y[near], C)
    assert near.sum() < len(y)
    np.testing.assert_allclose([*again.w, again.b], [*w, b], rtol=0, atol=1e-5)


@pytest.mark.claims("svm-45")
def test_at_the_bound_a_sample_need_not_be_wrong(rng):
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    alpha, w, b = by_smo(X, y, C=0.5)
    assert alpha.tolist() == [0.5, 0.5]  # both at C
    assert (y * decision(X, w, b)).tolist() == [1.0, 1.0]  # and on the margin: xi = 0
    assert max(kkt_residuals(X, y, w, b, np.zeros(2), alpha, C=0.5)) == 0
    X, y = overlapping(rng)
    alpha, w, b = by_smo(X, y, C=0.8)
    yf = (y * decision(X, w, b))[alpha == 0.8]
    assert (yf <= 1 + 1e-9).all() and np.sum(yf > 0) > np.sum(yf < 0) > 0  # most are right


@pytest.mark.claims("svm-46")
def test_support_vectors_at_the_bound_are_off_the_margin(rng):
    X, y = overlapping(rng)
    alpha, w, b = by_smo(X, y, C=0.8)
    f = decision(X, w, b)
    S, bound = support_vectors(alpha), np.flatnonzero(alpha == 0.8)
    assert set(bound) < set(S)
    xi = slack(f, y)[bound]
    np.testing.assert_allclose((y * f)[bound] - 1, -xi, rtol=0, atol=1e-7)
    assert (xi > 1e-3).sum() > 3  # where y f = 1 is printed
    free = np.setdiff1d(S, bound)
    np.testing.assert_allclose((y * f)[free], 1, rtol=0, atol=1e-7)
    np.testing.assert_allclose((alpha[S] * y[S]) @ X[S], w, rtol=0, atol=1e-9)
    assert np.abs((alpha[free] * y[free]) @ X[free] - w).max() > 0.1  # they build w too


@pytest.mark.claims("svm-47")
def test_the_margin_is_at_y_f_1_and_not_minus_1(rng):
    X, y = overlapping(rng)
    alpha, w, b = by_smo(X, y, C=0.8)
    free = (alpha > 0) & (alpha < 0.8)
    yf = (y * decision(X, w, b))[free]
    np.testing.assert_allclose(yf - 1, 0, rtol=0, atol=1e-7)
    np.testing.assert_allclose(yf + 1, 2, rtol=0, atol=1e-7)  # printed as 0
    printed = -y[free] - X[free] @ w  # the offset with which it would be
    np.testing.assert_allclose(b - printed, 2 * y[free], rtol=0, atol=1e-7)
    for each in printed:
        assert erm_objective(X, y, w, each, C=0.8) > erm_objective(X, y, w, b, C=0.8) + 1


@pytest.mark.claims("svm-48")
def test_the_offset_is_that_of_the_free_support_vectors(rng):
    X, y = overlapping(rng)
    C = 0.8
    dual, machine = c_dual(y, C), soft_margin(X, y, C)
    alpha, w, _ = by_smo(X, y, C)
    free = (alpha > 0) & (alpha < C)
    each = [y[j] - w @ X[j] for j in np.flatnonzero(free)]
    (b,) = offsets(y - X @ w, dual, alpha * y)
    np.testing.assert_allclose(each, b, rtol=0, atol=1e-6)
    assert len(each) > 1 and b == pytest.approx(np.mean(each)) == pytest.approx(machine.b, abs=1e-6)
    kinks = y - X @ w  # of the primal in b, piecewise linear: its minimum is at one of them
    values = [erm_objective(X, y, w, kink, C) for kink in kinks]
    assert erm_objective(X, y, w, b, C) == pytest.approx(min(values), rel=1e-9)
    assert kinks[np.argmin(values)] == pytest.approx(b, abs=1e-6)


@pytest.mark.claims("svm-48")
def test_the_mean_offset_is_at_least_as_accurate_as_its_terms(rng):
    X, y = overlapping(rng)
    dual, b = c_dual(y, C=0.8), soft_margin(X, y, C=0.8).b
    spread = 0.0
    for state in smo(X @ X.T, dual):
        beta = state.beta
        free = (beta > dual.lower) & (beta < dual.upper)
        if state.violation < 0.2 and free.sum() > 1:
            each, (mean,) = state.gradient[free], offsets(state.gradient, dual, beta)
            assert mean == pytest.approx(each.mean())
            assert abs(mean - b) <= np.mean(np.abs(each - b)) + 1e-12
            spread = max(spread, np.ptp(each))
    assert spread > 1e-3  # not solved to the end: they differ


@pytest.mark.claims("svm-49")
def test_support_vectors_at_the_bound_spoil_the_offset(rng):
    X, y = overlapping(rng, n=(30, 12))
    C, K = 0.8, X @ X.T
    alpha, w, b = by_smo(X, y, C)
    each = y - X @ w  # the inner sum runs over all support vectors
    bound = alpha == C
    xi = slack(decision(X, w, b), y)
    np.testing.assert_allclose(each[bound] - b, (y * xi)[bound], rtol=0, atol=1e-6)
    assert np.abs(each[bound] - b).max() > 0.5
    value = dual_value(alpha, K, y)
    assert erm_objective(X, y, w, b, C) == pytest.approx(value, rel=1e-9)
    printed = each[alpha > 0].mean()
    assert abs(printed - b) > 1e-2 and erm_objective(X, y, w, printed, C) > value * (1 + 1e-5)
    (ours,) = offsets(each, c_dual(y, C), alpha * y)
    assert ours == pytest.approx(each[(alpha > 0) & ~bound].mean(), rel=1e-12)


def test_the_hinge_and_its_slope_to_either_side(rng):
    f, y = rng.normal(size=50) * 2, rng.choice([-1.0, 1.0], size=50)
    np.testing.assert_array_equal(hinge(f, y), slack(f, y))
    check_gradient(lambda s: hinge(s, y).sum(), lambda s: hinge_subgradient(s, y), f)
    np.testing.assert_array_equal(hinge_subgradient(y, y), np.zeros(50))  # at the kink


# ---------------------------------------------------------------------------------------
# Ugly samples
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 10.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_machines_do_not_depend_on_unit_and_origin(rng, scale, shift):
    """w ~ 1 / scale and alpha, C ~ 1 / scale^2: f, xi and who supports stay."""
    X, y = separable(rng)
    Z = scale * (X + shift)

    def check(machine, moved):
        np.testing.assert_allclose(moved.w * scale, machine.w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(
            decision(Z, *moved[:2]), decision(X, *machine[:2]), rtol=0, atol=1e-6
        )
        np.testing.assert_allclose(moved.alpha * scale**2, machine.alpha, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(moved.xi, machine.xi, rtol=0, atol=1e-8)
        assert moved.objective * scale**2 == pytest.approx(machine.objective, rel=1e-7)
        support = machine.alpha > 1e-6 * machine.alpha.max()
        np.testing.assert_array_equal(moved.alpha > 1e-6 * moved.alpha.max(), support)

    check(hard_margin(X, y), hard_margin(Z, y))
    X, y = overlapping(rng, n=(9, 7))  # with free multipliers, so that b is unique
    Z = scale * (X + shift)
    for train in (soft_margin, squared_slack_margin):
        check(train(X, y, 0.5), train(Z, y, 0.5 / scale**2))


@pytest.mark.parametrize("shift", [0.0, 10.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_nu_machine_grows_with_its_samples(rng, scale, shift):
    X, y = overlapping(rng, n=(9, 6))
    Z = scale * (X + shift)
    machine, moved = nu_margin(X, y, 0.5), nu_margin(Z, y, 0.5)
    np.testing.assert_allclose(moved.w / scale, machine.w, rtol=1e-6)
    f = decision(X, machine.w, machine.b)
    np.testing.assert_allclose(decision(Z, moved.w, moved.b) / scale**2, f, rtol=0, atol=1e-6)
    np.testing.assert_allclose(moved.xi / scale**2, machine.xi, rtol=0, atol=1e-8)
    np.testing.assert_allclose(moved.alpha, machine.alpha, rtol=0, atol=1e-9)
    assert moved.rho / scale**2 == pytest.approx(machine.rho, rel=1e-6) and machine.rho > 0.01
    assert moved.objective / scale**2 == pytest.approx(machine.objective, rel=1e-7)
    assert machine.alpha.sum() == pytest.approx(0.5)
    np.testing.assert_allclose(X.T @ (machine.alpha * y), machine.w, rtol=0, atol=1e-9)


@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_extreme_costs(rng, C):
    X, y = overlapping(rng)
    w, b, xi, alpha, objective = soft_margin(X, y, C)
    dual = solve_dual(X @ X.T, c_dual(y, C))
    assert objective == pytest.approx(dual.objective, rel=1e-6)
    assert erm_objective(X, y, w, b, C) == pytest.approx(objective, rel=1e-6)
    assert alpha.min() >= -1e-9 * C and alpha.max() <= C * (1 + 1e-9)


def test_repeated_samples_share_their_multiplier(rng):
    X, y = separable(rng)
    once, twice = hard_margin(X, y), hard_margin(np.vstack([X, X]), np.append(y, y))
    np.testing.assert_allclose([*twice.w, twice.b], [*once.w, once.b], rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        twice.alpha.reshape(2, -1).sum(axis=0), once.alpha, rtol=0, atol=1e-8
    )
    X, y = overlapping(rng, n=(9, 6))
    once, twice = soft_margin(X, y, 0.8), soft_margin(np.vstack([X, X]), np.append(y, y), 0.4)
    np.testing.assert_allclose([*twice.w, twice.b], [*once.w, once.b], rtol=0, atol=1e-8)


def test_fewer_samples_than_features(rng):
    X, y = rng.normal(size=(6, 40)), np.array([1.0, 1, -1, -1, -1, 1])
    machine = hard_margin(X, y)
    assert max(kkt_residuals(X, y, *machine[:4])) < 1e-9
    np.testing.assert_allclose(by_smo(X, y)[1], machine.w, rtol=0, atol=1e-8)
    soft = soft_margin(X, y, 1e-3)
    assert max(kkt_residuals(X, y, *soft[:4], 1e-3)) < 1e-9 and soft.xi.max() > 0.1


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_constant_feature_is_not_used(rng, value):
    X, y = separable(rng)
    with_it = np.column_stack([X, np.full(len(y), value)])
    for train in (hard_margin, lambda X, y: soft_margin(X, y, 0.1)):
        plain, more = train(X, y), train(with_it, y)
        np.testing.assert_allclose([*more.w, more.b], [*plain.w, 0, plain.b], rtol=0, atol=1e-8)


def test_equal_samples_of_both_classes_pay_for_the_smaller():
    X, y = np.full((5, 2), 3.0), np.array([1.0, 1, 1, -1, -1])
    with pytest.raises(InfeasibleError, match="the constraints must have a common point"):
        hard_margin(X, y)
    for train, objective in ((soft_margin, 2.0 * 4), (squared_slack_margin, 2.0 / 2 * 4.8)):
        machine = train(X, y, 2.0)
        np.testing.assert_allclose(machine.w, 0, rtol=0, atol=1e-8)
        assert machine.objective == pytest.approx(objective)
    # squared: (3 (1 - b)^2 + 2 (1 + b)^2) is least at b = 1/5, where it is 4.8
    assert squared_slack_margin(X, y, 2.0).b == pytest.approx(0.2)
    assert soft_margin(X, y, 2.0).b == pytest.approx(1)


def test_one_class_needs_no_weights():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
    for sign in (-1.0, 1.0):
        y = np.full(3, sign)
        for machine in (hard_margin(X, y), soft_margin(X, y, 2.0)):
            np.testing.assert_allclose(machine.w, 0, rtol=0, atol=1e-9)
            assert sign * machine.b >= 1 - 1e-9 and machine.objective == pytest.approx(0, abs=1e-12)


def test_integer_labels_do(rng):
    X, y = overlapping(rng, n=(9, 6))
    for train in (soft_margin, squared_slack_margin, nu_margin):
        np.testing.assert_array_equal(train(X, y.astype(int), 0.5).w, train(X, y, 0.5).w)


@pytest.mark.parametrize("C", [1e-4, 1e-6])
def test_cheap_slack_in_the_limit(rng, C):
    """w / C tends to sum_i xi_i y_i x_i at w = 0, where b is the mean of y if slack is squared."""
    X, y = overlapping(rng, n=(9, 6))
    squared, soft = squared_slack_margin(X, y, C), soft_margin(X, y, C)
    near = 1e3 * C
    assert squared.b == pytest.approx(y.mean(), abs=near) and soft.b == pytest.approx(1, abs=near)
    xi = 1 - y * y.mean()
    np.testing.assert_allclose(squared.w / C, X.T @ (xi * y), rtol=near, atol=near)
    np.testing.assert_allclose(squared.alpha / C, xi, rtol=near)
    assert squared.objective / C == pytest.approx(xi @ xi / 2, rel=near)
    assert soft.objective / C == pytest.approx(2 * 6, rel=near)


def test_squared_slack_of_infinite_cost_is_the_hard_margin(rng):
    X, y = separable(rng)
    hard, squared = hard_margin(X, y), squared_slack_margin(X, y, inf)
    np.testing.assert_array_equal([*squared.w, squared.b], [*hard.w, hard.b])
    assert not squared.xi.any()


# ---------------------------------------------------------------------------------------
# Estimators far out
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("far", [1e6, 1e8])
@pytest.mark.parametrize(("n", "size"), [((26, 17), 800), ((26, 17), 1e-3)])
def test_linear_machines_do_not_depend_on_the_origin(rng, far, n, size):
    """As an array and by rows: the products of far samples have lost their digits."""
    X, y = overlapping(rng, n=n)
    center = np.array([far, -far])
    for kind in (SVC, NuSVC, L2SVC, LinearSVC):
        how = {} if kind is LinearSVC else {"kernel": "linear", "cache_size": size}
        how |= {"nu": 0.7} if kind is NuSVC else {}
        near, moved = kind(tol=1e-6, **how).fit(X, y), kind(tol=1e-6, **how).fit(X + center, y)
        assert moved.converged_
        f = near.decision_function(X)
        np.testing.assert_allclose(moved.decision_function(X + center), f, rtol=0, atol=1e-4)
        np.testing.assert_allclose(moved.coef_, near.coef_, rtol=0, atol=1e-4)
        scores = (X + center) @ moved.coef_[0] + moved.intercept_[0]  # the two belong together
        np.testing.assert_allclose(scores, f, rtol=0, atol=1e-4)
        if kind is not LinearSVC:
            rho = moved.rho_[0] if kind is NuSVC else 1.0
            b = -moved.certificates_[0].offsets.mean() / rho  # the second class is the positive one
            assert b == pytest.approx(moved.intercept_[0])
        if kind in (NuSVC, LinearSVC):
            continue
        (certificate,), (exact,) = moved.certificates_, near.certificates_
        assert certificate.dual == pytest.approx(exact.dual, rel=1e-6)
        K = X @ X.T + (np.eye(len(y)) if kind is L2SVC else 0)
        best = solve_dual(K, c_dual(y, 1.0 if kind is SVC else 1e3)).objective
        assert certificate.dual <= best * (1 + 1e-6) <= certificate.primal * (1 + 2e-6)


def test_several_far_classes_are_told_apart_as_near_ones(rng):
    y = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 2)) + 2.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 20, axis=0)
    weights = rng.integers(0, 3, size=60)
    for shape in ("ovr", "ovo"):
        model = SVC(kernel="linear", tol=1e-6, decision_function_shape=shape)
        F = model.fit(X, y, weights).decision_function(X)
        moved = model.fit(X + 1e7, y, weights)
        np.testing.assert_allclose(moved.decision_function(X + 1e7), F, rtol=0, atol=1e-4)
        if shape == "ovo":
            scores = (X + 1e7) @ moved.coef_.T + moved.intercept_
            np.testing.assert_allclose(scores, F, rtol=0, atol=1e-4)
        assert moved.coef_.shape == (3, 2) and moved.intercept_.shape == (3,)


def test_rows_of_far_samples_equal_those_of_the_array(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    X[:30] += 1e8  # two groups: the norms have no digits for what is within one
    for gamma, scale in ((1.0, 1.0), (1e14, 1e-7)):
        k = Gaussian(gamma)
        rows = kernel_matrix(scale * X, k, megabytes=1e-3)
        K = k(scale * X)
        np.testing.assert_allclose([rows[i] for i in range(60)], K, rtol=0, atol=1e-12)
    whole, cached = (SVC(gamma=1.0, cache_size=size, tol=1e-6).fit(X, y) for size in (800, 1e-3))
    assert cached.converged_
    np.testing.assert_allclose(
        cached.decision_function(X), whole.decision_function(X), rtol=0, atol=1e-4
    )


def test_products_that_overflow_are_refused_whether_kept_or_in_rows():
    X = np.array([[1e140, 1e140], [1e140, -1e140], [0.0, 1.0]])
    for megabytes in (800, 1e-9):
        with np.errstate(over="ignore", invalid="ignore"):
            with pytest.raises(
                ValueError,
                match=message("K must be finite; k(x, z) overflows: scale the features of X"),
            ):
                kernel_matrix(X, Polynomial(p=3), megabytes)
    for kernel in (Gaussian(1.0), Laplacian(1.0), Exponential(1.0)):
        K = kernel_matrix(X, kernel, 800)
        np.testing.assert_array_equal(K, np.eye(3))


def test_equal_samples_are_soon_found_to_have_no_hard_margin():
    X, y = np.full((6, 2), 3.0), [0, 1] * 3
    with pytest.warns(ConvergenceWarning):
        model = SVC(C=inf, kernel="linear").fit(X, y)
    assert model.n_iter_ < 10 and model.certificates_[0].gap == inf


def test_a_variance_from_rounding_does_not_count():
    X = np.full((6, 2), 0.1)
    assert X.var() > 0
    assert kernel_of(X) == Gaussian(1.0)
    model = L2SVC(kernel="poly").fit(X, [0, 1] * 3)
    (certificate,) = model.certificates_
    assert certificate.dual == pytest.approx(3) and certificate.primal == pytest.approx(3)


def test_before_fit_there_are_no_weights():
    for model, name in ((SVC(kernel="linear"), "coef_"), (SVC(), "coef_"), (NuSVC(), "rho_")):
        text = f"This {type(model).__name__} is not fitted yet: call fit first"
        with pytest.raises(NotFittedError, match=message(text)):
            getattr(model, name)
    model = SVC(kernel="linear").fit(*SQUARE).set_params(kernel="rbf")  # for the next fit
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], rtol=0, atol=1e-3)
    assert not hasattr(SVC().fit(*SQUARE).set_params(kernel="linear"), "coef_")


def test_a_margin_of_0_is_not_divided_by():
    """Both classes at the same places: rho = 0 and w = 0 for every nu."""
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = NuSVC(kernel="linear").fit(X, [0, 0, 1, 1])
    assert model.rho_[0] == pytest.approx(0, abs=1e-12)
    assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("tol", [0.5, 0.1])
def test_a_loose_tolerance_of_nu_is_in_the_unit_of_the_box(rng, tol):
    X, y = overlapping(rng)
    model = NuSVC(gamma=0.5, tol=tol).fit(X, y)
    assert model.converged_ and len(y) * model.certificates_[0].violation <= tol


def test_a_loose_hard_margin_is_certified_by_its_canonical_form(rng):
    X, y = separable(rng)
    model = SVC(C=inf, kernel="linear", tol=0.3).fit(X, y)
    w, b, (certificate,) = model.coef_[0], model.intercept_[0], model.certificates_
    v, _ = canonical(X, y, w, b)
    assert abs((y * decision(X, w, b)).min() - 1) > 0.01  # not there yet
    assert certificate.primal == pytest.approx(v @ v / 2, rel=1e-9)
    assert certificate.dual <= hard_margin(X, y).objective <= certificate.primal


def test_data_without_a_machine_are_refused():
    X, y = SQUARE
    with pytest.raises(ValueError, match=message("C must be a number > 0 and < inf; got inf")):
        LinearSVC(C=inf).fit(X, y)
    text = "y must hold at least 2 classes; got 1 class: 'b'"
    for kind in (SVC, NuSVC):
        with pytest.raises(ValueError, match="^" + text.replace("'b'", r"(np\.str_\()?'b'\)?$")):
            kind().fit(X, np.array(list("abab")), [0, 1, 0, 1])


def test_a_class_without_weight_is_left_out(rng):
    y = np.repeat(["a", "b", "c"], 10)
    X = rng.normal(size=(30, 2)) + 3.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 10, axis=0)
    weights = (y != "b").astype(float)
    alone = y != "b"
    for kind in (SVC, NuSVC):
        model, two = (
            kind().fit(X, y, weights),
            kind(gamma=1 / (2 * X.var())).fit(X[alone], y[alone]),
        )
        assert list(model.classes_) == ["a", "c"] and (y[model.support_] != "b").all()
        np.testing.assert_allclose(
            model.decision_function(X), two.decision_function(X), rtol=0, atol=1e-9
        )
        np.testing.assert_array_equal(np.flatnonzero(alone)[two.support_], model.support_)
        assert model.support_.dtype == model.n_support_.dtype == np.int32


# ---------------------------------------------------------------------------------------
# Refused
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("train", [soft_margin, squared_slack_margin])
@pytest.mark.parametrize("C", [0, -1.0, np.nan, "large"])
def test_costs_are_positive(train, C):
    with pytest.raises(ValueError, match=message(f"C must be a number > 0; got {C!r}")):
        train(*SQUARE, C)


@pytest.mark.parametrize("nu", [0, -0.5, np.nan, None])
def test_nu_is_positive(nu):
    with pytest.raises(ValueError, match=message(f"nu must be a number > 0; got {nu!r}")):
        nu_margin(*SQUARE, nu)


@pytest.mark.parametrize(
    ("y", "nu", "limit"), [([1, 1, -1, -1], 1.01, 1), ([1, 1, 1, -1], 0.6, 0.5), ([1] * 4, 0.1, 0)]
)
def test_nu_is_at_most_what_the_smaller_class_can_carry(y, nu, limit):
    text = f"nu must be <= 2 min(n_+, n_-) / n = {limit} here: the specified nu is infeasible; "
    with pytest.raises(ValueError, match=message(f"{text}got {nu}")):
        nu_margin(SQUARE[0], np.array(y), nu)
    if limit:
        assert nu_margin(SQUARE[0], np.array(y), limit).alpha.sum() == pytest.approx(limit)


def test_without_a_hard_margin_there_is_a_proof():
    X, y = XOR
    with pytest.raises(InfeasibleError) as caught:
        hard_margin(X, y)
    lam = caught.value.certificate  # sum_i lam_i y_i (x_i, 1) = 0 and sum_i lam_i > 0
    assert (lam >= 0).all() and lam.sum() > 0
    np.testing.assert_allclose(augment(X).T @ (lam * y) / lam.sum(), 0, rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows, columns):
    """The axes that a figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure(layout="constrained").subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


def numbers_in(text):
    return [float(number) for number in re.findall(r"\d+\.?\d*", text)]


def axlines(ax):
    """The endless lines of a panel, each as two of its points: (2, 2)."""
    found = [line for line in ax.lines if hasattr(line, "get_xy1")]
    return [np.array([line.get_xy1(), line.get_xy2()]) for line in found]


def equation_of(line):
    """The unit normal u and the offset c of u^T x + c = 0, the normal to the side of x_1."""
    along = np.subtract(*line)
    u = np.array([along[1], -along[0]]) / np.linalg.norm(along)
    u = u if u[0] > 0 else -u
    return u, -u @ line[0]


def markers(ax, marker, size=None):
    """The places of the points drawn with that marker, and of that size in points."""
    found = [
        line.get_xydata()
        for line in ax.lines
        if line.get_marker() == marker and size in (None, line.get_markersize())
    ]
    return np.concatenate(found) if found else np.empty((0, 2))


def as_set(points):
    return {tuple(np.round(point, 9)) for point in points}


@pytest.mark.claims("svm-30")
def test_every_line_drawn_separates_and_the_last_has_the_largest_margin():
    from figures.svm import separable_set, separators

    left, right = panels(separators, 1, 2)
    X, y = separable_set()[:]
    several, (middle, *sides) = axlines(left), axlines(right)
    assert len(several) == 4
    margins = []
    for line in (*several, middle):
        u, c = equation_of(line)
        sides_of = y * (X @ u + c)
        assert np.all(sides_of > 0) or np.all(sides_of < 0)
        margins.append(np.abs(sides_of).min())
    legends = [text.get_text() for ax in (left, right) for text in ax.get_legend().get_texts()]
    assert [numbers_in(text)[0] for text in legends[:5]] == pytest.approx(margins, abs=5e-4)
    assert max(margins[:4]) < 0.75 * margins[4]
    u, c = equation_of(middle)
    distance = X @ u + c
    offsets = [equation_of(line)[1] - c for line in sides]
    assert sorted(offsets) == pytest.approx([-margins[4], margins[4]], abs=1e-9)
    touching = np.abs(np.abs(distance) - margins[4]) < 1e-6
    assert as_set(markers(right, "o", 10)) == as_set(X[touching])
    assert np.all(np.abs(distance[~touching]) > 1.05 * margins[4])
    assert len(np.unique(y[touching])) == 2
    assert geometric_margin(X, u, c) == pytest.approx(margins[4], abs=1e-12)


@pytest.mark.claims("svm-31")
def test_the_arrows_of_the_geometry_are_as_long_and_as_directed_as_it_says():
    from figures.svm import geometry, geometry_points

    (ax,) = panels(geometry, 1, 1)
    w, b, x, x_plus, x_minus = geometry_points()
    length = np.linalg.norm(w)
    for f, line in zip((0, 1, -1), axlines(ax), strict=True):
        assert line @ w + b == pytest.approx([f, f], abs=1e-9)
    ends = [
        (np.array(text.xyann), np.array(text.xy))
        for text in ax.texts
        if getattr(text, "arrow_patch", None) is not None
    ]
    d, across_margin, projected, gap, normal = (end - start for start, end in ends)
    on_H, at_x = ends[0]
    assert on_H @ w + b == pytest.approx(0, abs=1e-12)
    assert at_x == pytest.approx(x)
    assert abs(d[0] * w[1] - d[1] * w[0]) < 1e-12
    assert np.linalg.norm(d) == pytest.approx(abs(w @ x + b) / length, abs=1e-12)
    assert ends[1][0] == pytest.approx(x_minus) and ends[1][1] == pytest.approx(x_plus)
    assert x_plus @ w + b == pytest.approx(1) and x_minus @ w + b == pytest.approx(-1)
    assert projected == pytest.approx((across_margin @ w) * w / length**2, abs=1e-12)
    assert np.linalg.norm(across_margin) > 1.1 * 2 / length  # the vector is longer
    for vector in (projected, gap):
        assert np.linalg.norm(vector) == pytest.approx(2 / length, abs=1e-12)
        assert abs(vector[0] * w[1] - vector[1] * w[0]) < 1e-12
    assert [end @ w + b for end in ends[3]] == pytest.approx([-1, 1])
    assert normal == pytest.approx(w)


@pytest.mark.claims("svm-51")
def test_slack_is_drawn_to_length_and_samples_in_the_look_of_their_kind():
    from figures.svm import KINDS, overlapping_set, soft

    axes, (X, y) = panels(soft, 1, 3), overlapping_set()
    widths, seen = [], set()
    for ax in axes:
        (C,) = numbers_in(title_of(ax))
        middle, plus, _ = axlines(ax)
        u, c = equation_of(middle)
        half = abs(equation_of(plus)[1] - c)
        widths.append(2 * half)
        f = (X @ u + c) / half
        f = f if np.sum(y * f > 0) > len(y) / 2 else -f
        xi = np.maximum(0, 1 - y * f)
        segments = [line.get_xydata() for line in ax.lines if line.get_zorder() == 1]
        late = xi > 1e-6
        lengths = [np.linalg.norm(np.diff(each, axis=0)) for each in segments]
        assert lengths == pytest.approx(xi[late] * half, abs=1e-6)
        assert as_set(each[0] for each in segments) == as_set(X[late])
        for each in segments:  # to its own margin line, at a right angle
            assert abs(abs(each[1] @ u + c) - half) < 1e-6
            assert abs(np.diff(each, axis=0)[0] @ [-u[1], u[0]]) < 1e-6
        if "Medium" not in title_of(ax):
            machine = soft_margin(X, y, C)  # of the rounded C: the kinds are the same
            assert 2 / np.linalg.norm(machine.w) == pytest.approx(widths[-1], rel=0.02)
        where = dict(zip(("free", "late", "on", "wrong"), KINDS.values(), strict=True))
        drawn = {name: as_set(markers(ax, k["marker"], k["ms"])) for name, k in where.items()}
        assert drawn["late"] == as_set(X[(xi < 1 - 1e-5) & late])
        assert drawn["on"] == as_set(X[np.abs(xi - 1) < 1e-5])
        assert drawn["wrong"] == as_set(X[xi > 1 + 1e-5])
        on_lines = np.abs(y * f - 1) < 1e-6
        assert drawn["free"] <= as_set(X[on_lines])
        seen |= {name for name, places in drawn.items() if places}
    assert widths[0] > widths[1] > widths[2]
    assert seen == {"free", "late", "on", "wrong"}


@pytest.mark.claims("svm-51")
def test_the_kinds_are_those_of_the_multipliers():
    from figures.svm import TURNING, crossing_cost, kind_of, overlapping_set

    X, y = overlapping_set()
    C = crossing_cost(X, y, TURNING)
    machine = soft_margin(X, y, C)
    kind = kind_of(machine.alpha, machine.xi, C)
    alpha, yf = machine.alpha / C, y * (X @ machine.w + machine.b)
    assert np.all((alpha[kind == 0] > 0) & (alpha[kind == 0] < 1))
    assert alpha[kind > 0] == pytest.approx(1, abs=1e-6)
    assert alpha[kind == -1] == pytest.approx(0, abs=1e-6)
    assert np.all((yf[kind == 1] > 0) & (yf[kind == 1] <= 1 + 1e-6)) and np.all(yf[kind == 3] < 0)
    assert yf[kind == 2] == pytest.approx(0, abs=1e-6) and np.any(kind == 2)


@pytest.mark.claims("svm-52")
def test_the_outlier_turns_and_narrows_the_hard_margin_far_more_than_the_soft_one():
    from figures.svm import MODERATE, outlier, outlier_set

    hard, soft = panels(outlier, 1, 2)
    X, y = outlier_set()
    changes = []
    for ax, fit in ((hard, hard_margin), (soft, lambda X, y: soft_margin(X, y, MODERATE))):
        machines = [fit(X[:-1], y[:-1]), fit(X, y)]
        lines = [equation_of(line) for line in axlines(ax)]
        widths = [abs(lines[4][1] - lines[3][1]), abs(lines[2][1] - lines[1][1])]
        before, after, angle = numbers_in(title_of(ax))[-3:]
        assert [before, after] == pytest.approx(widths, abs=5e-3)
        assert widths == pytest.approx([2 / np.linalg.norm(m.w) for m in machines], rel=1e-6)
        w, v = (m.w / np.linalg.norm(m.w) for m in machines)
        assert angle == pytest.approx(
            np.degrees(np.arcsin(abs(w[0] * v[1] - w[1] * v[0]))), abs=0.06
        )
        changes.append((abs(1 - widths[1] / widths[0]), angle))
    assert machines[0].w @ X[-1] + machines[0].b > -1  # it violates the margin, and yet
    assert np.all(y * (X @ hard_margin(X, y).w + hard_margin(X, y).b) > 1 - 1e-6)
    assert changes[0][0] > 0.5 and changes[1][0] < 0.1
    assert changes[0][1] > 3 * changes[1][1]


@pytest.mark.claims("svm-57")
def test_the_surrogates_lie_above_the_0_1_loss():
    from figures.svm import losses

    (ax,) = panels(losses, 1, 1)
    curves = {line.get_label(): line.get_xydata().T for line in ax.lines}
    for name in ("hinge", "squared hinge"):
        m, loss = curves[name]
        assert np.all(loss >= np.where(m <= 0, 1.0, 0.0) - 1e-12)
        assert loss[np.isclose(m, 0)] == pytest.approx(1)
    m, loss = curves["hinge"]
    slopes = np.diff(loss) / np.diff(m)
    assert slopes[m[1:] <= 1 + 1e-9] == pytest.approx(-1)
    assert slopes[m[:-1] >= 1 - 1e-9] == pytest.approx(0)
    assert curves["squared hinge"][1] == pytest.approx(loss**2)
    m, steps = np.hstack([line.get_xydata().T for line in ax.lines if line.get_ls() == "-."])
    assert steps.tolist() == [1, 1, 0, 0] and m.tolist() == [-1.5, 0, 0, 2.5]


@pytest.mark.claims("svm-66")
def test_the_lifted_plane_separates_and_its_trace_is_the_boundary_of_the_kernel_machine():
    from figures.svm import LINE, LINE_Y, lifting, rings, seen_aslant

    line, paraboloid, trace, bumps = panels(lifting, 2, 2)
    middle = equation_of(axlines(line)[0])
    for lifted in (markers(line, "o", 4.5), markers(line, "s", 4.5)):
        side = np.sign(lifted @ middle[0] + middle[1])
        assert lifted[:, 1] == pytest.approx(lifted[:, 0] ** 2) and len(set(side)) == 1
    cuts = [path.vertices for path in line.collections[-1].get_paths()]
    for (x, foot), (_, height) in cuts:
        assert (foot, height) == pytest.approx((0, x**2))
        assert middle[0] @ [x, height] + middle[1] == pytest.approx(0, abs=1e-9)
    (left, _), (right, _) = (cut[0] for cut in cuts)
    assert set(LINE[(LINE > left) & (LINE < right)]) == set(LINE[LINE_Y == -1])

    X, y = rings()
    height = np.sum(X**2, axis=1)
    K = X @ X.T + np.outer(height, height)  # the kernel of the paraboloid
    solved = solve(K, c_dual(y, C=100.0), tol=1e-9, max_iter=-1)
    (b,) = solved.certificate.offsets

    def f(Z):
        return (Z @ X.T + np.outer(np.sum(Z**2, axis=1), height)) @ solved.beta + b

    assert np.all(y * f(X) > 0)
    for ax, levels in ((trace, f), (bumps, None)):
        (contours,) = ax.collections
        paths = contours.get_paths()
        assert len(paths) == 3
        if levels is not None:
            for value, path in zip((-1, 0, 1), paths, strict=True):
                assert levels(path.vertices) == pytest.approx(value, abs=2e-3)
        inside = paths[1].contains_points(X)
        assert set(y[inside]) == {-1} and set(y[~inside]) == {1}
    assert as_set(markers(trace, "o", 9)) == as_set(X[np.abs(solved.beta) > 1e-9])

    lifted = np.column_stack([X, height])
    shown = as_set(seen_aslant(lifted))
    assert as_set([*markers(paraboloid, "o", 4), *markers(paraboloid, "s", 4)]) == shown
    (cut,) = (line.get_xydata() for line in paraboloid.lines if line.get_zorder() == 2.5)
    circle = paths_circle(trace.collections[0].get_paths()[1].vertices)
    turn = np.linspace(0, 2 * np.pi, len(cut))
    rim = circle[:2] + circle[2] * np.column_stack([np.cos(turn), np.sin(turn)])
    assert cut == pytest.approx(
        seen_aslant(np.column_stack([rim, np.sum(rim**2, axis=1)])), abs=5e-3
    )


def paths_circle(points):
    """The centre and the radius of the circle through the points, by least squares."""
    A = np.column_stack([2 * points, np.ones(len(points))])
    (c_1, c_2, rest), *_ = np.linalg.lstsq(A, np.sum(points**2, axis=1), rcond=None)
    return np.array([c_1, c_2, np.sqrt(rest + c_1**2 + c_2**2)])


@pytest.mark.claims("svm-67")
def test_with_equal_weights_the_kernel_score_is_a_difference_of_parzen_estimates():
    from figures.svm import BELL, moons, moons_machine, parzen, parzen_difference

    machine, density = panels(parzen, 1, 2)
    X, y = moons()
    Z = np.random.default_rng(0).normal(size=(50, 2))

    def bumps(Z, X):
        return np.exp(-np.sum((Z[:, None] - X) ** 2, axis=2) * BELL.gamma)

    shares = [np.mean(y == c) * bumps(Z, X[y == c]).mean(axis=1) for c in (1, -1)]
    assert parzen_difference(Z, X, y) == pytest.approx(shares[0] - shares[1], abs=1e-12)
    model = moons_machine(X, y)
    score = bumps(Z, model.support_vectors_) @ model.dual_coef_[0] + model.intercept_
    assert model.decision_function(Z) == pytest.approx(score, abs=1e-10)
    used = len(model.support_)
    assert numbers_in(title_of(machine)) == [used, len(X)] and used < len(X) / 2
    for ax, f in (
        (machine, model.decision_function),
        (density, lambda Z: parzen_difference(Z, X, y)),
    ):
        (boundary,) = ax.collections[-1].get_paths()
        assert f(boundary.vertices) == pytest.approx(0, abs=2e-3)
    sizes = {
        tuple(np.round(ring.get_xydata()[0], 9)): ring.get_markersize()
        for ring in machine.lines[2:]
    }
    assert sizes.keys() == as_set(X[model.support_])
    weight = np.abs(model.dual_coef_[0])
    assert [sizes[tuple(np.round(x, 9))] for x in X[model.support_]] == pytest.approx(
        4.5 + 6 * weight
    )


@pytest.mark.claims("svm-69")
def test_the_step_drawn_ends_at_the_top_of_the_segment_that_the_box_leaves():
    from figures.svm import SHOWN, dual_problem, dual_slice
    from mlnotes.svm import smo

    K, y, dual = dual_problem()
    states = list(smo(K, dual))
    signs = []
    for ax, k in zip(panels(dual_slice, 1, 2), SHOWN, strict=True):
        before, after = states[k], states[k + 1]
        i, j = after.pair
        signs.append(y[i] * y[j])
        drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
        alpha, pair = before.beta * y, [i, j]

        def q(point, alpha=alpha, pair=pair):
            moved = alpha.copy()
            moved[pair] = point
            return moved.sum() - (moved * y) @ K @ (moved * y) / 2

        (start,), (end,), ends = drawn["start"], drawn["end of the step"], drawn["segment"]
        assert start == pytest.approx(alpha[pair]) and end == pytest.approx((after.beta * y)[pair])
        total = y[i] * start[0] + y[j] * start[1]
        reach = np.linspace(0, 1, 100001)  # of alpha_i; the box cuts what alpha_j may be
        partner = (total - y[i] * reach) * y[j]
        inside = reach[(partner >= -1e-9) & (partner <= 1 + 1e-9)]
        assert sorted(ends[:, 0]) == pytest.approx([inside[0], inside[-1]], abs=2e-5)
        assert ends @ [y[i], y[j]] == pytest.approx(total, abs=1e-12)
        dense = ends[0] + np.linspace(0, 1, 2001)[:, None] * (ends[1] - ends[0])
        heights = [q(point) for point in dense]
        assert q(end) >= max(heights) - 1e-12
        assert q(end) == pytest.approx(max(heights), abs=1e-6)
        (top,) = drawn["top of the line"]
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        assert q(top) > max(q(top + 0.01 * along), q(top - 0.01 * along))
        cut = np.linalg.norm(top - end) > 1e-9
        assert cut == ("Equal" in title_of(ax))
        contours = ax.collections[0]
        (touching,) = np.flatnonzero(np.array(contours.get_linewidths()) > 1)
        assert contours.levels[touching] == pytest.approx(q(top))
    assert signs == [1, -1]


KERNELS = {
    "linear": Linear(),
    "poly": Polynomial(p=3, gamma=0.5, c=1.0),
    "rbf": Gaussian(0.7),
    "laplacian": Laplacian(0.4),
    "exponential": Exponential(0.9),
}
INDEFINITE = Sigmoid(gamma=2.0, c=-1.0)


def kernel_of(X, kernel="rbf", gamma="scale", degree=3, coef0=0.0):
    """The kernel of a machine fitted to X, with its defaults."""
    return make_kernel(kernel, gamma, degree, coef0, X)


# ---------------------------------------------------------------------------------------
# Problems, and the second routes
# ---------------------------------------------------------------------------------------


def two_classes(rng, n=(12, 12), d=2, shift=1.0):
    """Two Gaussian classes that overlap, +1 first."""
    y = np.repeat([1.0, -1.0], n)
    return rng.normal(size=(sum(n), d)) + shift * y[:, None], y


def two_separable(rng, n=(6, 6), d=2, gap=1.0):
    """Two classes on either side of a random hyperplane and off it, +1 first."""
    X, y = two_classes(rng, n, d, shift=0.0)
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
    patterns = np.array(list(product((0, 1, 2), repeat=n)))
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
    X, y = two_classes(rng, rng.integers(2, 13, size=2), rng.integers(1, 4), rng.uniform(0.2, 1.5))
    limit = 2 * min((y > 0).mean(), (y < 0).mean())
    K = KERNELS[kernel](X)
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
    np.testing.assert_allclose(solve_dual(X @ X.T, dual).beta, beta, rtol=0, atol=1e-12)
    w = beta @ X
    np.testing.assert_allclose(w, [0.1], rtol=0, atol=1e-15)
    (interval,) = offset_intervals(y - X @ w, dual, beta)
    np.testing.assert_allclose(interval, [-1.0, 0.85], rtol=0, atol=1e-15)
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
    X, y = two_classes(rng, (5, 5) if seed < 4 else (4, 7), shift=0.4)
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
    np.testing.assert_allclose(np.sort(interval), [least[0], least[-1]], rtol=0, atol=1e-7)
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
    X, y = two_classes(rng)
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
    X, y = two_classes(rng, (15, 11))
    C = 0.7
    machine = soft_margin(X, y, C)
    assert erm_objective(X, y, machine.w, machine.b, C) == pytest.approx(machine.objective)
    w, b = mean_form_machine(X, y, 1 / (len(y) * C))
    np.testing.assert_allclose(w, machine.w, rtol=0, atol=1e-7)
    assert b == pytest.approx(machine.b, abs=1e-7)
    # 0 is a subgradient: alpha_i / C between the slopes of the loss
    theta, f = machine.alpha / C, y * (X @ machine.w + machine.b)
    assert theta[f < 1 - 1e-7] == pytest.approx(1) and theta[f > 1 + 1e-7] == pytest.approx(0)
    assert (theta >= -1e-12).all() and (theta <= 1 + 1e-9).all()
    np.testing.assert_allclose(machine.w - C * (theta * y) @ X, 0, rtol=0, atol=1e-8)
    assert abs(theta @ y) < 1e-8


@pytest.mark.claims("svm-55")
def test_subgradient_descent_comes_down_to_the_program_and_never_below(rng):
    X, y = two_classes(rng, (15, 11))
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
        np.testing.assert_allclose(states[t].w, w, rtol=0, atol=1e-12)
        assert states[t].b == pytest.approx(b, abs=1e-12)
        assert states[t].moved == pytest.approx(moved, abs=1e-12)


@pytest.mark.claims("svm-56")
def test_with_the_sum_for_the_mean_copies_of_the_data_change_the_machine(rng):
    X, y = two_classes(rng, (9, 8))
    C, k = 0.4, 3
    once = soft_margin(X, y, C)
    copies, labels = np.tile(X, (k, 1)), np.tile(y, k)
    shared = soft_margin(copies, labels, C / k)
    np.testing.assert_allclose(shared.w, once.w, rtol=0, atol=1e-7)
    assert shared.b == pytest.approx(once.b, abs=1e-7)
    lam = 1 / (len(y) * C)
    w, b = mean_form_machine(copies, labels, lam)
    np.testing.assert_allclose(np.append(w, b), np.append(once.w, once.b), rtol=0, atol=1e-7)
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
    X, y = two_classes(rng, (12, 9), shift=0.3)
    machine = squared_slack_margin(X, y, C)
    f = y * (X @ machine.w + machine.b)
    assert machine.objective == pytest.approx(
        machine.w @ machine.w / 2 + C / 2 * np.sum(np.maximum(0, 1 - f) ** 2), rel=1e-9
    )
    dual = solve_dual(X @ X.T + np.eye(len(y)) / C, c_dual(y))
    assert dual.objective == pytest.approx(machine.objective, rel=1e-8)
    np.testing.assert_allclose(np.abs(dual.beta), machine.alpha, rtol=0, atol=1e-7)
    newton = LinearSVC(C=C / 2, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(newton.coef_[0], machine.w, rtol=0, atol=1e-8)
    assert newton.intercept_[0] == pytest.approx(machine.b, abs=1e-8)
    # the KKT conditions
    np.testing.assert_allclose(machine.xi, machine.alpha / C, rtol=0, atol=1e-8)
    np.testing.assert_allclose(machine.xi, np.maximum(0, 1 - f), rtol=0, atol=1e-8)
    np.testing.assert_allclose(machine.w, (machine.alpha * y) @ X, rtol=0, atol=1e-8)
    assert abs(machine.alpha @ y) < 1e-8
    np.testing.assert_array_equal(machine.alpha > C, f < 0)  # what is misclassified
    assert 0 < (f < 0).sum() < (machine.alpha > 0).sum()


@pytest.mark.claims("svm-58")
def test_squared_slack_needs_no_sign_and_its_dual_is_the_substituted_lagrangian(rng):
    X, y = two_classes(rng, (7, 6))
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
    X, y = two_classes(rng, (8, 6))
    C, n = 0.6, len(y)
    lifted = np.hstack([X, np.diag(y) / np.sqrt(C)])  # features with the kernel K + I / C
    np.testing.assert_allclose(lifted @ lifted.T, X @ X.T + np.eye(n) / C, rtol=0, atol=1e-12)
    hard, soft = hard_margin(lifted, y), squared_slack_margin(X, y, C)
    np.testing.assert_allclose(hard.alpha, soft.alpha, rtol=0, atol=1e-7)
    assert hard.objective == pytest.approx(soft.objective, rel=1e-8)
    Q = np.multiply.outer(y, y) * (X @ X.T + np.eye(n) / C)
    assert np.linalg.eigvalsh(Q)[0] >= 1 / C - 1e-12


@pytest.mark.claims("svm-59")
def test_squared_slack_always_has_one_solution(rng):
    X, y = XOR
    machine = squared_slack_margin(X, y, C=2.0)
    np.testing.assert_allclose(machine.alpha, 2.0, rtol=0, atol=1e-9)  # w = 0, xi = 1
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
    X, y = two_separable(rng)
    hard = hard_margin(X, y)
    errors = [np.abs(squared_slack_margin(X, y, C).w - hard.w).max() for C in (10, 1e3, 1e5)]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-4


@pytest.mark.claims("svm-60")
def test_the_substituted_line_of_the_squared_slack_as_printed_and_as_it_is(rng):
    X, y = two_classes(rng, (6, 5), d=3)
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
    X, y = two_classes(rng, (12, 10), shift=0.5)
    Z = rng.normal(size=(20, 2))
    k = Polynomial(p=2)
    K = k(X)
    phi = polynomial_map(X, p=2)
    np.testing.assert_allclose(phi @ phi.T, K, rtol=0, atol=1e-9)
    w, b, primal = soft_in_features(phi, y, C)
    dual = c_dual(y, C)
    solved = solve(K, dual, 1e-9, -1)
    f = kernel_score(Z, X, solved.beta, k) + solved.certificate.offsets[0]
    np.testing.assert_allclose(f, polynomial_map(Z, p=2) @ w + b, rtol=0, atol=1e-6)
    alpha, Q = solved.beta * y, np.multiply.outer(y, y) * K
    assert alpha @ Q @ alpha == pytest.approx(w @ w, rel=1e-7)
    np.testing.assert_allclose(solved.beta @ phi, w, rtol=0, atol=1e-6)
    # the objective in beta is the printed one in alpha
    printed = alpha.sum() - alpha @ Q @ alpha / 2
    assert solved.certificate.dual == pytest.approx(printed, rel=1e-12)
    assert printed == pytest.approx(primal, rel=1e-7)
    for i, j in product(range(4), repeat=2):
        assert Q[i, j] == pytest.approx(y[i] * y[j] * (1 + X[i] @ X[j]) ** 2, abs=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(Q), np.linalg.eigvalsh(K), rtol=0, atol=1e-9)
    assert np.linalg.eigvalsh(Q)[0] > -1e-9
    linear = solve(X @ X.T, dual, 1e-9, -1)
    np.testing.assert_allclose(linear.beta @ X, soft_margin(X, y, C).w, rtol=0, atol=1e-6)


@pytest.mark.claims("svm-61")
def test_the_dual_in_beta_is_that_in_alpha(rng):
    X, y = two_classes(rng, (4, 5))
    C, K = 0.3, KERNELS["rbf"](X)
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
    X, y = two_classes(rng, (20, 18))
    Z, C, k = rng.normal(size=(15, 2)), 0.8, KERNELS[kernel]
    K, dual = k(X), c_dual(y, C)
    solved = solve(K, dual, 1e-9, -1)
    beta, certificate = solved.beta, solved.certificate
    b = certificate.offsets[0]
    S = support_vectors(np.abs(beta))
    assert 0 < len(S) < len(y)
    f = kernel_score(Z, X[S], beta[S], k) + b
    np.testing.assert_allclose(f, k(Z, X) @ beta + b, rtol=0, atol=1e-12)
    loop = [sum(beta[i] * k(X[i : i + 1], z[None])[0, 0] for i in S) + b for z in Z]
    np.testing.assert_allclose(f, loop, rtol=0, atol=1e-12)
    free = (np.abs(beta) > 0) & (np.abs(beta) < C)
    single = [y[i] - sum(beta[j] * K[j, i] for j in S) for i in np.flatnonzero(free)]
    assert len(single) and np.ptp(single) < 1e-6
    assert b == pytest.approx(np.mean(single), abs=1e-9)
    primal = beta @ K @ beta / 2 + C * hinge(K @ beta + b, y).sum()
    assert primal == pytest.approx(certificate.dual, rel=1e-6)
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    if kernel == "linear":
        np.testing.assert_allclose(f, Z @ (beta @ X) + b, rtol=0, atol=1e-12)
    model = SVC(C=C, tol=1e-9, kernel=k).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.decision_function(Z), f, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(model.predict(Z), np.where(f > 0, 1, -1))


@pytest.mark.claims("svm-63")
def test_monomials_are_too_many_to_write_down():
    for d, p in product(range(1, 7), range(1, 6)):
        powers = [e for e in product(range(p + 1), repeat=d) if sum(e) <= p]
        assert len(powers) == comb(d + p, p)
    for p in (2, 3, 5):
        ratios = [comb(d + p, p) / d**p for d in (10, 100, 1000, 10**6)]
        errors = np.array(ratios) * factorial(p) - 1
        assert (np.diff(errors) < 0).all() and abs(errors[-1]) < p**2 / 10**6
    assert comb(108, 8) > 10**11
    x, z = np.random.default_rng(0).integers(-2, 3, size=(2, 1, 100)).astype(float)
    assert Polynomial(p=8)(x, z)[0, 0] == (1 + sum(int(t) for t in x[0] * z[0])) ** 8


@pytest.mark.claims("svm-63")
def test_the_degree_2_kernel_is_the_inner_product_and_free_fits_follow_noise(rng):
    X, Z = rng.normal(size=(2, 12, 3))
    explicit = polynomial_map(X, p=2) @ polynomial_map(Z, p=2).T
    np.testing.assert_allclose(explicit, (1 + X @ Z.T) ** 2, rtol=0, atol=1e-12)
    assert polynomial_map(X, p=2).shape[1] == comb(5, 2)
    phi = scaled_quadratic_map(rng.normal(size=(5, 2)))
    assert np.linalg.matrix_rank(phi) == min(phi.shape)
    for _ in range(10):  # labels that mean nothing are fitted without an error
        X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], size=20)
        A = polynomial_map(X, p=3)
        assert A.shape[1] == comb(6, 3) == len(y)
        w = np.linalg.lstsq(A, y)[0]
        np.testing.assert_allclose(A @ w, y, rtol=0, atol=1e-6)


@pytest.mark.claims("svm-64")
@pytest.mark.parametrize("d", [2, 20, 500])
def test_the_dimension_of_the_samples_does_not_matter(rng, d):
    X, y = two_classes(rng, (14, 12))
    Z, C = rng.normal(size=(30, 2)), 0.5
    E = np.linalg.qr(rng.normal(size=(d, 2)))[0].T  # orthonormal rows: R^2 into R^d
    plain, far = SVC(C=C, kernel="linear", tol=1e-9), SVC(C=C, kernel="linear", tol=1e-9)
    plain.fit(X, y), far.fit(X @ E, y)
    assert np.linalg.norm(far.coef_) == pytest.approx(np.linalg.norm(plain.coef_), rel=1e-6)
    assert far.certificates_[0].dual == pytest.approx(plain.certificates_[0].dual, rel=1e-6)
    np.testing.assert_allclose(
        far.decision_function(Z @ E), plain.decision_function(Z), rtol=0, atol=1e-6
    )
    rbf, far = (SVC(gamma=0.5, C=C, tol=1e-9) for _ in range(2))
    rbf.fit(X, y), far.fit(X @ E, y)
    np.testing.assert_allclose(
        far.decision_function(Z @ E), rbf.decision_function(Z), rtol=0, atol=1e-6
    )


@pytest.mark.claims("svm-64")
def test_a_gaussian_machine_has_as_many_dimensions_as_samples(rng):
    for n in (5, 20, 40):
        x = np.linspace(0, n, n)[:, None]
        K = Gaussian.of_width(0.7)(x)
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
    X, y = two_classes(rng, (12, 12), shift=0.7)
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
    X, y = two_classes(rng, (9, 16))
    Z, sigma, n = rng.normal(size=(12, 2)), 0.9, len(y)
    bell = Gaussian(1 / sigma**2)

    def k(a, b):
        return np.exp(-np.sum((a - b) ** 2) / sigma**2)

    def mean(z, label):
        return np.mean([k(x, z) for x in X[y == label]])

    f = kernel_score(Z, X, y / n, bell)
    parzen = [9 / 25 * mean(z, 1) - 16 / 25 * mean(z, -1) for z in Z]
    np.testing.assert_allclose(f, parzen, rtol=0, atol=1e-12)
    unweighted = [mean(z, 1) - mean(z, -1) for z in Z]
    assert np.abs(f - unweighted).max() > 0.01
    # a small C and classes of one size: the solved machine is that, times n C
    X, y = two_classes(rng, (10, 10))
    model = SVC(C=1e-3, kernel=bell).fit(X, y)
    assert len(model.support_) == 20
    parzen = [mean(z, 1) / 2 - mean(z, -1) / 2 for z in Z]
    scores = model.decision_function(Z) - model.intercept_[0]
    np.testing.assert_allclose(scores, 20 * 1e-3 * np.array(parzen), rtol=0, atol=1e-15)


# ---------------------------------------------------------------------------------------
# The solvers
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svm-68")
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_general_solver_finds_the_best_of_all_patterns(kernel):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, (3, 3 - seed % 2), shift=0.5)
        K, C = KERNELS[kernel](X), (0.1, 1.0, 20.0)[seed]
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
                gram_matrix @ solved.beta,
                gram_matrix @ beta,
                rtol=0,
                atol=1e-5 * (1 + np.abs(K).max()),
            )
            assert solution.residual < 1e-6


@pytest.mark.claims("svm-68")
def test_without_the_sum_the_box_has_another_optimum(rng):
    """A control of the second route: the patterns see a constraint that is left out."""
    X, y = two_classes(rng, (3, 2))
    K, dual = KERNELS["rbf"](X), c_dual(y, 1.0)
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
    X, y = two_classes(rng, (10, 8))
    for C in (0.05, 1.0, 30.0):
        beta = solve_dual(X @ X.T, c_dual(y, C)).beta
        w, b = beta @ X, soft_margin(X, y, C).b
        xi = hinge(X @ w + b, y)
        assert max(kkt_residuals(X, y, w, b, xi, beta * y, C)) < 1e-5


@pytest.mark.claims("svm-71")
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5])
def test_every_step_of_smo(machine, seed):
    kernel = ("linear", "rbf", "poly")[seed % 3]
    ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
    for array in (K, *dual[:4]):
        array.setflags(write=False)
    states, kept = [], []
    for state in islice(smo(K, dual), 60):
        states.append(state)
        kept.append((state.beta.copy(), state.gradient.copy()))
    assert len(states) > 1 and states[0].pair == ()
    for state, (beta, gradient) in zip(states, kept, strict=True):  # snapshots
        np.testing.assert_array_equal(state.beta, beta)
        np.testing.assert_array_equal(state.gradient, gradient)
        assert_feasible(dual, beta)
        scale = 1 + np.abs(K).max() * np.abs(beta).sum()
        np.testing.assert_allclose(gradient, dual.p - K @ beta, rtol=0, atol=1e-11 * scale)
        assert state.objective == pytest.approx(objective(K, dual, beta), abs=1e-11 * scale)
        assert state.violation == pytest.approx(worst_pair(K, dual, beta), abs=1e-10 * scale)
    for before, after in itertools.pairwise(states):
        assert_one_step(K, dual, before, after)


def assert_one_step(K, dual, before, after):
    """`after` is the best point of the segment of the pair that the rule says."""
    assert after.objective >= before.objective
    i, j = after.pair
    g = before.gradient
    group = next(group for group in dual.groups if group.start <= i < group.stop)
    members = range(group.start, group.stop)
    assert j in members
    moved = set(np.flatnonzero(after.beta != before.beta).tolist())
    step = np.abs(after.beta - before.beta).max()
    hidden = {k for k in after.pair if step <= np.spacing(abs(before.beta[k]))}  # by rounding
    assert moved and moved <= set(after.pair) <= moved | hidden
    risers = [k for k in members if before.beta[k] < dual.upper[k]]
    assert g[i] == max(g[k] for k in risers)
    fallers = [k for k in members if before.beta[k] > dual.lower[k]]
    assert g[j] == min(g[k] for k in fallers)
    assert before.violation == g[i] - g[j]  # the largest of all groups: no other pair is worse
    low, high = step_bounds(dual, before.beta, i, j)
    assert low <= after.beta[i] <= high + 1e-15
    rise = after.beta[i] - before.beta[i]  # a box may be infinite
    ends_of_line = max(low, before.beta[i] - 10 * rise), min(high, before.beta[i] + 10 * rise)
    step = np.linspace(*ends_of_line, 2001) - before.beta[i]
    eta = K[i, i] + K[j, j] - 2 * K[i, j]
    values = before.objective + step * (g[i] - g[j]) - step**2 * eta / 2
    assert after.objective >= values.max() - 1e-12 * (1 + abs(after.objective))


@pytest.mark.claims("svm-71")
def test_a_step_stays_on_a_line_that_ends_at_the_box(rng):
    X, y = two_classes(rng, (4, 4))
    K, dual = KERNELS["rbf"](X), c_dual(y, 0.8)
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


def second_order_smo(K, dual):
    """SMO by another rule: with the largest g_i goes the j of the largest (g_i - g_j)^2 / eta."""
    beta = dual.start.copy()
    while True:
        g = dual.p - K @ beta
        violation, best = -inf, (0.0, 0, 0)
        for group in dual.groups:
            members = range(group.start, group.stop)
            up = [k for k in members if beta[k] < dual.upper[k]]
            i = max(up, key=lambda k: g[k], default=None)
            for j in members:
                if up and beta[j] > dual.lower[j]:
                    eta = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
                    violation = max(violation, g[i] - g[j])
                    best = max(best, (max(g[i] - g[j], 0.0) ** 2 / eta, i, j))
        yield svm.SMOState(beta, g, (), objective(K, dual, beta), violation)
        _, i, j = best
        eta = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        t = min((g[i] - g[j]) / eta, dual.upper[i] - beta[i], beta[j] - dual.lower[j])
        beta = beta.copy()
        beta[i] = min(beta[i] + t, dual.upper[i])
        beta[j] = max(beta[j] - t, dual.lower[j])


@pytest.mark.claims("svm-71")
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_all_ways_to_choose_lead_to_one_optimum(kernel, machine):
    for seed in (3, 4):
        ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
        best = solve_dual(K, dual).objective
        for states in (smo(K, dual), smo_with_newton(K, dual), second_order_smo(K, dual)):
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
    X, y = two_separable(rng, (8, 8))
    hard = hard_margin(X, y)
    solved = solve(X @ X.T, c_dual(y), 1e-8, -1)
    assert solved.run.converged
    assert solved.certificate.dual == pytest.approx(hard.objective, rel=1e-6)
    np.testing.assert_allclose(solved.beta @ X, hard.w, rtol=0, atol=1e-6)
    assert solved.certificate.offsets[0] == pytest.approx(hard.b, abs=1e-6)
    X, y = two_classes(rng, (20, 20), shift=0.5)
    solved = solve(X @ X.T, c_dual(y, 3.0), 1e-8, -1)
    assert solved.certificate.dual == pytest.approx(soft_margin(X, y, 3.0).objective, rel=1e-6)
    T = make_moons(60, noise=0.15, rng=rng)
    K, dual = Gaussian.of_width(0.5)(T.X), c_dual(T.y.astype(float), 5.0)
    solved = solve(K, dual, 1e-6, -1)
    assert solved.certificate.dual == pytest.approx(solve_dual(K, dual).objective, rel=1e-6)
    *_, own_end = smo(K, dual)  # without a tolerance: to the last digit
    assert own_end.violation < 1e-9


def test_smo_goes_on_from_a_state(rng):
    X, y = two_classes(rng)
    K, dual = KERNELS["rbf"](X), c_dual(y, 2.0)
    states = list(islice(smo(K, dual), 25))
    again = list(islice(smo(K, dual, start=states[10]), 15))
    for one, other in zip(states[10:], again, strict=True):
        np.testing.assert_array_equal(one.beta, other.beta)
        assert one.pair == other.pair and one.objective == other.objective


@pytest.mark.claims("svm-70")
@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("machine", ["C", "nu"])
def test_chunking_climbs_to_the_optimum(rng, machine, size):
    X, y = two_classes(rng, (4, 4))
    K = KERNELS["rbf"](X)
    dual = c_dual(y, 1.5) if machine == "C" else nu_dual(y, 0.5)
    best = solve_dual(K, dual).objective
    start, states = None, []
    for state in islice(chunking(K, dual, size, rng=rng), 200):
        start = start or state
        states.append(state._replace(beta=state.beta.copy()))
        assert_feasible(dual, state.beta, atol=1e-10)
        np.testing.assert_allclose(state.gradient, dual.p - K @ state.beta, rtol=0, atol=1e-9)
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
    X, y = two_classes(rng, (4, 4))
    states = chunking(KERNELS["rbf"](X), c_dual(y, 1.0), 1, rng=rng)
    assert all(abs(state.objective) < 1e-9 for state in islice(states, 10))


def test_raw_features_with_a_linear_kernel():
    """Features in their own units: the largest spread by 10^4 and the smallest by 10^-3."""
    T = load_breast_cancer()
    for C, tol in [(1.0, 1e-3), (1e2, 1e-3), (1.0, 1e-6)]:
        model = SVC(kernel="linear", C=C, tol=tol).fit(T.X, T.y)
        assert model.converged_
        assert model.certificates_[0].gap < 1e-3 * model.certificates_[0].dual


def test_boxes_of_very_different_widths_keep_the_sum():
    X, y = np.array([[0.0], [100.0], [200.0]]), np.array([1.0, -1.0, -1.0])
    found = solve(X @ X.T, c_dual(y, np.array([1e6, 1e-4, 1.0])), 1e-6, -1)
    np.testing.assert_allclose(found.beta, [1e-4, -1e-4, 0.0], rtol=1e-9, atol=1e-12)
    assert found.certificate.dual == pytest.approx(1.5e-4) and found.run.converged


def test_a_box_of_no_width_is_a_sample_left_out():
    X, y = np.array([[0.0], [100.0], [200.0]]), np.array([1.0, -1.0, -1.0])
    found = solve(X @ X.T, c_dual(y, np.array([1.0, 1.0, 0.0])), 1e-6, -1)
    np.testing.assert_allclose(found.beta, [2e-4, -2e-4, 0.0], rtol=1e-9, atol=1e-12)
    nothing = solve(X @ X.T, c_dual(y, 0.0), 1e-6, -1)
    assert nothing.run.converged and not nothing.beta.any()
    assert nothing.certificate[:4] == (0.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(offsets(y, c_dual(y, 0.0), np.zeros(3)), [0.0])


def test_costly_slack_does_not_prove_that_nothing_separates(rng):
    X, y = two_classes(rng, (30, 30), shift=0.5)
    squared = solve(X @ X.T + np.eye(60) / 1e8, c_dual(y), 1e-3, -1)
    assert squared.run.converged  # K + I / C always has a hard margin
    alone = solve(X @ X.T, c_dual(y), 1e-3, -1)
    assert not alone.run.converged and alone.run.n_iter < 1000


def test_chunking_is_the_same_for_a_matrix_in_rows(rng):
    X, y = two_classes(rng, (10, 10), shift=0.5)
    runs = [
        list(islice(chunking(K, c_dual(y, 1.0), 6, rng=np.random.default_rng(1)), 8))
        for K in (X @ X.T, GramRows(X, Linear(), capacity=5))
    ]
    for state, other in zip(*runs, strict=True):
        assert state.pair == other.pair
        np.testing.assert_allclose(state.beta, other.beta, rtol=0, atol=1e-7)
        np.testing.assert_allclose(state.gradient, other.gradient, rtol=0, atol=1e-6)


# ---------------------------------------------------------------------------------------
# What the solver promises
# ---------------------------------------------------------------------------------------


def ugly():
    """name, K, dual, tol: what is likely to go wrong."""
    rng = np.random.default_rng(0)
    X, y = two_classes(rng, (10, 10), shift=0.3)
    rbf = KERNELS["rbf"](X)
    twice = np.repeat(X[[0, 0, 1, 12, 12, 13]], 2, axis=0)
    labels = np.array([1.0, 1, 1, -1, 1, -1, 1, -1, 1, -1, -1, -1])
    indefinite = INDEFINITE(X)
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
    yield "C of 1e6, linear", X @ X.T, c_dual(y, 1e6), 1e-3
    yield "C of 0 for some", rbf, c_dual(y, np.arange(20.0) // 5), 1e-6
    yield "large entries", 1e4 * X @ X.T, c_dual(y, 1.0), 1e-3
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


@pytest.mark.parametrize("kind", ["C", "weights", "nu"])
def test_a_kernel_of_low_rank_starts_near_the_optimum_of_smo(rng, kind, monkeypatch):
    X, y = two_classes(rng, (600, 600), shift=0.5)
    K = (X @ X.T + 1) ** 2  # the polynomial kernel of degree 2: a feature for each product
    dual = {
        "C": c_dual(y, 1.0),
        "weights": c_dual(y, rng.integers(1, 4, size=1200) * 0.5),
        "nu": nu_dual(y, 0.6),
    }[kind]
    tol = 1e-6 if kind != "nu" else 1e-9
    near = svm.first_state(K, dual)
    solved = solve(K, dual, tol, -1)
    assert_honest(K, dual, solved, tol)
    monkeypatch.setattr(svm, "low_rank_start", lambda *problem: dual.start)
    far = solve(K, dual, tol, 20_000)
    assert near.objective > svm.first_state(K, dual).objective
    assert solved.run.converged and solved.run.n_iter < 100 < far.run.n_iter
    assert solved.certificate.dual == pytest.approx(far.certificate.dual, rel=1e-6)
    assert solved.certificate.gap <= 1e-6 * abs(solved.certificate.dual)


@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
def test_a_huge_c_takes_no_more_steps(rng, C):
    """Pairs move multipliers by steps of size 1; free steps carry them as far as C."""
    X, y = two_classes(rng, (10, 10), shift=0.2)
    K, dual = X @ X.T, c_dual(y, C)
    solved = solve(K, dual, 1e-3, 2000)
    assert solved.run.converged
    assert solved.certificate.dual == pytest.approx(solve_dual(K, dual).objective, rel=1e-4)


def test_the_solver_soon_finds_that_nothing_separates():
    X, y = XOR
    began = perf_counter()
    solved = solve(X @ X.T, c_dual(y), 1e-3, -1)
    assert perf_counter() - began < 0.5
    assert not solved.run.converged and solved.run.n_iter < 1000
    with pytest.raises(UnboundedError):
        solve_dual(X @ X.T, c_dual(y))


def test_the_certificate_is_not_the_running_gradient(monkeypatch, rng):
    """Of states that claim to be optimal the certificate says what they are."""
    X, y = two_classes(rng)
    K, dual = X @ X.T, c_dual(y, 1.0)
    real = svm.smo_with_newton

    def liars(K, dual, start):
        yield next(smo(K, dual, start=start))._replace(gradient=np.zeros(len(y)), violation=0.0)

    monkeypatch.setattr(svm, "smo_with_newton", liars)
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

    monkeypatch.setattr(svm, "smo_with_newton", lie_once)
    solved = solve(K, dual, 1e-6, -1)  # it goes on from where the lie was found out
    assert solved.run.converged
    assert_honest(K, dual, solved, 1e-6)
    assert (np.diff(solved.run.history) >= -1e-9).all()
    assert len(solved.run.history) == solved.run.n_iter + 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_certificate_bounds_the_optimum_from_both_sides(rng, kernel):
    """Of any feasible beta, by the losses as they are written."""
    X, y = two_classes(rng, (9, 7))
    K, C, nu = KERNELS[kernel](X), 0.7, 0.6
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


def test_a_kernel_matrix_is_whole_if_there_is_room(rng):
    X, k = rng.normal(size=(40, 3)), KERNELS["rbf"]
    size = 8 * 40 * 40 / svm.MEBIBYTE
    whole = kernel_matrix(X, k, size, ridge=0.1)
    np.testing.assert_allclose(whole, k(X) + 0.1 * np.eye(40), rtol=0, atol=1e-14)
    rows = kernel_matrix(X, k, size * 0.5, ridge=0.1)
    assert isinstance(rows, GramRows) and rows.capacity == 20
    np.testing.assert_allclose(rows[7], whole[7], rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC])
def test_a_small_cache_gives_the_same_machine(rng, kind):
    X, y = two_classes(rng, (20, 25))
    large, small = (kind(tol=1e-7, cache_size=size).fit(X, y) for size in (800, 1e-6))
    assert small.certificates_[0].dual == pytest.approx(large.certificates_[0].dual, rel=1e-9)
    np.testing.assert_allclose(
        small.decision_function(X), large.decision_function(X), rtol=0, atol=1e-5
    )
    assert large.converged_ and small.converged_
    Z = np.repeat(X, 3, axis=0)
    whole = kernel_score(Z, X, y, KERNELS["rbf"])
    np.testing.assert_allclose(whole, KERNELS["rbf"](Z, X) @ y, rtol=0, atol=1e-12)


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
        X, y = two_separable(rng, (5, 4), d, gap=0.01)
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
    for draw in product(range(5), repeat=n):
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
    for signs in product((-1.0, 1.0), repeat=n):
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
    X, y = two_classes(rng, n, shift=0.8)
    limit = 2 * min(n) / sum(n)
    for nu in np.append(np.linspace(0.1, 0.95, 4), 1.0) * limit:
        machine = nu_margin(X, y, nu)
        dual = solve_dual(X @ X.T, nu_dual(y, nu))
        assert dual.objective == pytest.approx(machine.objective, abs=1e-8)
        assert machine.objective <= 1e-9 and machine.rho >= -1e-9
        primal = machine.w @ machine.w / 2 - nu * machine.rho + machine.xi.mean()
        assert machine.objective == pytest.approx(primal, abs=1e-9)
        slack = np.maximum(0, machine.rho - y * (X @ machine.w + machine.b))
        np.testing.assert_allclose(machine.xi, slack, rtol=0, atol=1e-7)
        assert machine.alpha.sum() == pytest.approx(nu, abs=1e-8)
        value = -(machine.alpha * y) @ (X @ X.T) @ (machine.alpha * y) / 2
        assert value == pytest.approx(machine.objective, abs=1e-8)


@pytest.mark.claims("svm-75")
def test_nu_beyond_twice_the_smaller_class_has_no_machine(rng):
    X, y = two_classes(rng, (4, 12))
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
        np.testing.assert_allclose(values, slope * np.array([1, 10, 100]), rtol=0, atol=1e-12)


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
    X, y = two_classes(rng, (9, 8), shift=0.7)
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
    X, y = two_classes(rng, n, shift=0.7)
    total = sum(n)
    for nu in np.linspace(0.65, 1.0, 6) * 2 * min(n) / total:
        machine = nu_margin(X, y, nu)
        assert machine.rho > 1e-3
        errors = y * (X @ machine.w + machine.b) < machine.rho - 1e-7
        vectors = machine.alpha > 1e-9
        assert errors.mean() <= nu + 1e-9 and nu <= vectors.mean() + 1e-9
        np.testing.assert_allclose(machine.alpha[errors], 1 / total, rtol=0, atol=1e-8)
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
    X, y = two_classes(rng, (14, 12), shift=0.8)
    n, machine = len(y), nu_margin(X, y, nu)
    rho = machine.rho
    assert rho > 0.05
    C = 1 / (rho * n)
    soft = soft_margin(X, y, C)
    np.testing.assert_allclose(machine.w / rho, soft.w, rtol=0, atol=1e-6)
    assert machine.b / rho == pytest.approx(soft.b, abs=1e-6)
    np.testing.assert_allclose(machine.xi / rho, soft.xi, rtol=0, atol=1e-6)
    np.testing.assert_allclose(machine.alpha / rho, soft.alpha, rtol=0, atol=1e-6)
    divided = kkt_residuals(
        X, y, machine.w / rho, machine.b / rho, machine.xi / rho, machine.alpha / rho, C
    )
    assert max(divided) < 1e-6
    np.testing.assert_array_equal(X @ machine.w + machine.b > 0, X @ soft.w + soft.b > 0)


@pytest.mark.claims("svm-79")
def test_the_printed_c_of_the_nu_machine_is_wrong_and_so_is_the_same_solution(rng):
    X, y = two_classes(rng, (14, 12), shift=0.8)
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
    np.testing.assert_allclose((y * f)[free], rho, rtol=0, atol=1e-7)
    assert abs(rho - 1) > 0.1
    undivided = kkt_residuals(X, y, machine.w, machine.b, machine.xi, machine.alpha, right)
    assert undivided.on_the_margin > 1e-3


@pytest.mark.claims("svm-80")
def test_b_belongs_into_the_bracket(rng):
    X, y = two_classes(rng, (9, 8), shift=0.7)
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
    k = (KERNELS | {"sigmoid": Sigmoid(0.1, 0.2)})[kernel]
    X, y = two_classes(rng, (15, 20))
    order = rng.permutation(35)
    X, y = X[order], y[order]
    model = SVC(C=0.6, tol=1e-6, kernel=k).fit(X, y)
    K = k(X)
    beta = np.zeros(35)
    beta[model.support_] = model.dual_coef_[0]
    b = model.intercept_[0]
    assert abs(beta.sum()) < 1e-12 and (y * beta >= 0).all() and (y * beta <= 0.6).all()
    np.testing.assert_allclose(model.decision_function(X), K @ beta + b, rtol=0, atol=1e-10)
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
        np.testing.assert_allclose(model.coef_[0], machine.w, rtol=0, atol=1e-5)
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
        np.testing.assert_allclose(F[:, pair], f, rtol=0, atol=1e-9)
        assert model.intercept_[pair] == pytest.approx(-alone.intercept_[0], abs=1e-9)  # 10 tol
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
    np.testing.assert_allclose(G, votes + total / (3 * (np.abs(total) + 1)), rtol=0, atol=1e-9)
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


def test_the_memory_layout_of_the_samples_does_not_matter(iris):
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
    votes = pair_votes(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]), 3)
    np.testing.assert_array_equal(votes, [[1, 1, 1], [1, 1, 1], [2, 1, 0]])
    assert F[0] > 0 and model.predict([[0.01, 0.0]]) == [0]
    scores = model.set_params(decision_function_shape="ovr").decision_function(X)
    np.testing.assert_array_equal(scores.argmax(axis=1), [0, 1, 2] * 2)


def test_a_machine_without_support_vectors_predicts_its_offset(rng):
    X, y = two_classes(rng)
    for kind, size in product((SVC, L2SVC), (800, 1e-6)):
        model = kind(tol=3.0, cache_size=size).fit(X, y)  # the start is good enough
        assert len(model.support_) == 0 and model.n_iter_ == 0
        assert (model.decision_function(X) == model.intercept_[0]).all()
        assert np.isfinite(model.intercept_).all()


# ---------------------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SVC, NuSVC, LinearSVC])
def test_a_weight_is_a_repetition(rng, kind):
    X, y = two_classes(rng, (12, 10))
    weights = np.append(rng.integers(1, 4, size=20), [0, 2])[rng.permutation(22)]
    options = {"tol": 1e-9} if kind is LinearSVC else {"tol": 1e-8, "gamma": 0.5}
    weighted = kind(**options).fit(X, y, sample_weight=weights)
    repeated = kind(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    plain = kind(**options).fit(X, y)
    Z = rng.normal(size=(20, 2))
    f = weighted.decision_function(Z)
    np.testing.assert_allclose(f, repeated.decision_function(Z), rtol=0, atol=1e-5)
    assert np.abs(f - plain.decision_function(Z)).max() > 1e-2


def test_a_weight_is_a_factor_of_c(rng):
    X, y = two_classes(rng, (12, 10))
    weights = rng.uniform(0.2, 3, size=22)
    K = KERNELS["rbf"](X)
    model = SVC(C=0.5, tol=1e-8, kernel=KERNELS["rbf"]).fit(X, y, weights)
    exact = solve_dual(K, c_dual(y, 0.5 * weights))
    assert model.certificates_[0].dual == pytest.approx(exact.objective, rel=1e-8)
    np.testing.assert_allclose(
        model.decision_function(X) - model.intercept_[0], K @ exact.beta, rtol=0, atol=1e-6
    )
    scaled = SVC(C=0.25, tol=1e-8, kernel=KERNELS["rbf"]).fit(X, y, 2 * weights)
    np.testing.assert_allclose(scaled.dual_coef_, model.dual_coef_, rtol=0, atol=1e-12)
    shares = weights / weights.sum()
    nu = NuSVC(nu=0.4, tol=1e-8, kernel=KERNELS["rbf"]).fit(X, y, weights)
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
    X, y = two_classes(rng, (15, 15), shift=0.8)
    n, k = 30, KERNELS[kernel]
    nu = NuSVC(nu=0.5, tol=1e-8, kernel=k).fit(X, y)
    rho = nu.rho_[0]
    assert rho > 0
    soft = SVC(C=1 / (rho * n), tol=1e-8, kernel=k).fit(X, y)
    np.testing.assert_allclose(
        nu.decision_function(X), soft.decision_function(X), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        np.abs(nu.dual_coef_).sum(), np.abs(soft.dual_coef_).sum(), rtol=1e-5
    )
    f = nu.decision_function(X)
    alpha = np.zeros(n)
    alpha[nu.support_] = np.abs(nu.dual_coef_[0])
    free = (alpha > 1e-9) & (alpha < 1 / (rho * n) - 1e-9)
    np.testing.assert_allclose((y * f)[free], 1, rtol=0, atol=1e-5)  # divided: margins at 1
    certificate = nu.certificates_[0]  # of the undivided problem
    K = k(X)
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
    X, y = two_classes(rng, (12, 9), shift=0.6)
    machine = squared_slack_margin(X, y, C)
    model = L2SVC(C=C, kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], machine.w, rtol=0, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(machine.b, abs=1e-6)
    alpha = np.zeros(21)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(alpha, machine.alpha, rtol=0, atol=1e-6)
    (certificate,) = model.certificates_
    assert certificate.primal == pytest.approx(machine.objective, rel=1e-7)
    assert certificate.dual == pytest.approx(machine.objective, rel=1e-7)
    assert abs(certificate.gap) < 1e-6
    loose = L2SVC(C=C, kernel="linear", tol=0.3).fit(X, y)  # away from the optimum too
    w, losses = loose.coef_[0], hinge(loose.decision_function(X), y)
    primal = w @ w / 2 + C / 2 * losses @ losses
    assert loose.certificates_[0].primal == pytest.approx(primal, rel=1e-9)
    assert loose.certificates_[0].dual < machine.objective - 1e-6 < primal - 2e-6
    curved = L2SVC(C=C, tol=1e-9, kernel=KERNELS["rbf"]).fit(X, y)
    K = KERNELS["rbf"](X)
    f = curved.decision_function(X)
    beta = np.zeros(21)
    beta[curved.support_] = curved.dual_coef_[0]
    np.testing.assert_allclose(f - curved.intercept_[0], K @ beta, rtol=0, atol=1e-12)  # K alone
    np.testing.assert_allclose(y * beta, C * hinge(f, y), rtol=0, atol=1e-6)
    primal = beta @ K @ beta / 2 + C / 2 * np.sum(hinge(f, y) ** 2)
    assert curved.certificates_[0].primal == pytest.approx(primal, rel=1e-9)


@pytest.mark.claims("svm-58")
def test_linearsvc_is_the_program_with_squared_slack_of_twice_its_c(rng):
    X, y = two_classes(rng, (12, 9), shift=0.6)
    X = X + [3.0, -2.0]
    for C in (0.05, 1.0):
        model = LinearSVC(C=C, tol=1e-9).fit(X, y)
        machine = squared_slack_margin(X, y, 2 * C)
        np.testing.assert_allclose(model.coef_[0], machine.w, rtol=0, atol=1e-7)
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


@pytest.mark.parametrize("seed", range(6))
def test_a_class_without_a_free_multiplier_has_the_middle_of_its_interval(seed):
    """nu n / 2 is whole, so that all multipliers may be at their bounds; the sums are not exact."""
    rng = np.random.default_rng(seed)
    n = 10 * (seed + 1)
    X, y = two_classes(rng, (n, n), shift=0.1)
    K, dual = X @ X.T, nu_dual(y, 0.8)
    found = solve(K, dual, 1e-9, -1)
    alpha = 2 * n * np.abs(found.beta)
    inside = (alpha > 1e-9) & (alpha < 1 - 1e-9)
    np.testing.assert_array_equal((found.beta > dual.lower) & (found.beta < dual.upper), inside)
    intervals = offset_intervals(dual.p - K @ found.beta, dual, found.beta)
    for group, b, (low, high) in zip(
        dual.groups, found.certificate.offsets, intervals, strict=True
    ):
        if not inside[group].any():
            assert b == pytest.approx((low + high) / 2, rel=1e-12)


def test_what_is_within_rounding_of_a_bound_is_at_the_bound():
    most = np.full(7, 1 / 7)
    for k in range(1, 8):
        assert set(fill(most, sum([1 / 7] * k))) <= {0.0, 1 / 7}
    K, y = np.diag([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, -1.0, -1.0])
    dual = c_dual(y, 0.3)._replace(
        start=np.array([0.1 + 0.2, 0.0, -0.3, 0.0])
    )  # 0.30000000000000004
    for state in islice(smo(1e-3 * K, dual), 1, None):
        near = np.minimum(np.abs(state.beta - dual.lower), np.abs(state.beta - dual.upper))
        assert ((near == 0) | (near > 1e-9)).all()
    assert (state.beta == [0.3, 0.3, -0.3, -0.3]).all()


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("machine", ["C", "nu", "L2"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_newton_step_never_loses(kernel, machine, clip):
    moved = 0
    for seed in range(6):
        ((_, K, dual),) = (found for found in duals(seed, kernel) if found[0] == machine)
        for state in islice(smo(K, dual), 0, 40, 4):
            F = np.flatnonzero((state.beta > dual.lower) & (state.beta < dual.upper))
            after = newton_step(K, dual, state, F, clip) if len(F) else state
            if after is state:
                continue
            moved += 1
            assert after.violation == inf and after.objective >= state.objective
            scale = 1 + np.abs(K).max() * np.abs(after.beta).sum()
            assert_feasible(dual, after.beta, atol=1e-9)
            g = dual.p - K @ after.beta
            np.testing.assert_allclose(after.gradient, g, rtol=0, atol=1e-8 * scale)
            value = objective(K, dual, after.beta)
            assert after.objective == pytest.approx(value, abs=1e-8 * scale)
            assert set(np.flatnonzero(after.beta != state.beta)) <= set(F)
    assert moved > 5


def test_a_newton_step_that_meets_no_bound_is_the_optimum_among_the_free(rng):
    X, y = two_classes(rng, (5, 4))
    K, dual = KERNELS["laplacian"](X), c_dual(y)
    solution = solve_dual(K, dual).beta
    S = np.flatnonzero(np.abs(solution) > 1e-6)
    beta = solution.copy()
    beta[np.abs(beta) <= 1e-6] = 0.0
    beta[S] *= 0.9
    beta[S[0]] -= beta.sum()
    state = svm.SMOState(beta, y - K @ beta, (), objective(K, dual, beta), inf)
    after = newton_step(K, dual, state, S)
    np.testing.assert_allclose(after.beta, solution, rtol=1e-6, atol=1e-6)
    again = newton_step(K, dual, after, S)
    assert again.objective == pytest.approx(after.objective, rel=1e-12)


def test_a_clipped_newton_step_lets_several_multipliers_stop_at_their_bounds(rng):
    X, y = two_classes(rng, (30, 30))
    K, dual = KERNELS["laplacian"](X) + np.eye(60), c_dual(y, 0.5)
    beta = 0.4 * y
    state = svm.SMOState(beta, y - K @ beta, (), objective(K, dual, beta), inf)
    cut, clipped = (newton_step(K, dual, state, np.arange(60), clip) for clip in (False, True))
    at_bound = [np.count_nonzero(~svm.is_free(dual, after.beta)) for after in (cut, clipped)]
    assert at_bound[0] == 1 < at_bound[1] and cut.objective < clipped.objective
    free = svm.is_free(dual, clipped.beta)
    np.testing.assert_allclose(clipped.gradient[free], clipped.gradient[free].mean(), rtol=1e-6)
    assert clipped.objective <= solve_dual(K, dual).objective * (1 + 1e-9)


def test_newton_steps_are_on_all_free_multipliers_that_have_settled_and_else_on_some(rng):
    X, y = two_classes(rng, (45, 45))
    K, dual = KERNELS["laplacian"](X) + np.eye(90), c_dual(y, 10.0)
    beta = 0.3 * y
    state = svm.SMOState(beta, y - K @ beta, (), objective(K, dual, beta), inf)
    nothing, all_of_them = np.zeros(90), np.ones(90)
    some = newton_on_free(K, dual, state, nothing)
    assert len(some.pair) <= svm.FEW and some.objective > state.objective
    assert newton_step(K, dual, some, np.array(some.pair)).objective == pytest.approx(
        some.objective
    )
    settled = newton_on_free(K, dual, state, all_of_them)
    assert settled.objective > some.objective > state.objective
    assert np.count_nonzero(settled.beta != beta) == 90
    edge = c_dual(y, 0.3)._replace(start=beta)  # nothing is free
    assert newton_on_free(K, edge, state, nothing) is state


def test_newton_steps_save_steps():
    T = load_breast_cancer()
    X = (T.X - T.X.mean(axis=0)) / T.X.std(axis=0)
    y = np.where(T.y == T.y[0], 1.0, -1.0)
    K, dual = X @ X.T, c_dual(y, 10.0)
    runs = []
    for states in (smo(K, dual), smo_with_newton(K, dual)):
        for count, state in enumerate(states):
            if state.violation <= 1e-3 or count == 100_000:
                break
        runs.append((count, state.objective))
    (plain, first), (newton, second) = runs
    assert newton < plain / 2
    assert second == pytest.approx(first, rel=1e-5)


@pytest.mark.parametrize("kind", [SVC, L2SVC])
def test_without_slack_it_is_the_hard_margin(rng, kind):
    X, y = two_separable(rng, (9, 8))
    machine = hard_margin(X, y)
    model = kind(C=inf, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], machine.w, rtol=0, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(machine.b, abs=1e-6)
    (certificate,) = model.certificates_
    assert certificate.dual <= machine.objective + 1e-9 <= certificate.primal + 2e-9
    assert 0 <= certificate.gap + 1e-12 < 1e-6
    large = kind(C=1e7, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(large.coef_, model.coef_, rtol=0, atol=1e-5)


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
    (SVC, {"gamma": "wide"}, "gamma must be one of 'scale', 'auto', None; got 'wide'"),
    (SVC, {"gamma": 0.0}, "gamma must be a number > 0 and < inf; got 0.0"),
    (SVC, {"degree": 0}, "degree must be an integer >= 1; got 0"),
    (SVC, {"gamma": [0.1]}, "gamma must be a number > 0 and < inf; got [0.1]"),
    (SVC, {"gamma": np.ones(1)}, "gamma must be a number > 0 and < inf; got array([1.])"),
    (SVC, {"C": np.ones(1)}, "C must be a number > 0; got array([1.])"),
    (
        NuSVC,
        {"kernel": dict},
        "kernel must be one of 'linear', 'poly', 'polynomial', 'rbf', 'sigmoid', 'laplacian', "
        "'exponential'; got <class 'dict'>",
    ),
    (SVC, {"kernel": "poly", "coef0": -1.0}, "coef0 must be a number >= 0 and < inf; got -1.0"),
    (
        SVC,
        {"kernel": "precomputed"},
        "kernel must be one of 'linear', 'poly', 'polynomial', 'rbf', 'sigmoid', 'laplacian', "
        "'exponential'; got 'precomputed'",
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
    X, y = two_classes(rng, (4, 6))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind(**options).fit(X, y)


def test_bad_samples_are_refused(rng):
    X, y = two_classes(rng, (4, 6))
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


def test_kernel_parameters_mean_what_scikit_learn_means(rng):
    X = rng.normal(size=(10, 3))
    assert kernel_of(X).gamma == pytest.approx(1 / (3 * np.mean((X - X.mean()) ** 2)))
    assert kernel_of(X, gamma="auto").gamma == pytest.approx(1 / 3)
    assert kernel_of(X, gamma=0.3).gamma == 0.3
    assert kernel_of(np.ones((5, 2))).gamma == 1.0  # no variance to divide by
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
        k = kernel_of(X, kernel, gamma=0.3, degree=2, coef0=0.5)
        assert k(x[None], z[None])[0, 0] == pytest.approx(value)


@pytest.mark.parametrize("kind", [SVC, NuSVC, L2SVC, LinearSVC])
def test_ugly_samples_make_machines(rng, kind):
    X, y = two_classes(rng, (8, 8))
    options = {} if kind is LinearSVC else {"gamma": 0.5}
    constant = np.column_stack([X, np.full(16, 0.0)])
    np.testing.assert_allclose(
        kind(**options).fit(constant, y).decision_function(constant),
        kind(**options).fit(X, y).decision_function(X),
        rtol=0,
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
    X, y = two_classes(rng, (10, 14), shift=0.5)
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


def assert_optimal(model, X, y, C, kernel):
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
        K = kernel(X[own])
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
    k = kernel_of(X, kernel, coef0=1.0)
    model = SVC(C=C, kernel=kernel, coef0=1.0, tol=1e-6).fit(X, y)
    assert_optimal(model, X, y, C, k)
    own = np.flatnonzero(y != model.classes_[0])
    signs = np.where(y[own] == model.classes_[1], 1.0, -1.0)
    exact = solve_dual(k(X[own]), c_dual(signs, C))
    assert model.certificates_[2].dual == pytest.approx(exact.objective, rel=1e-6)
    nu = NuSVC(nu=0.3, kernel=kernel, coef0=1.0, tol=1e-6).fit(X, y)
    signs = np.sort(signs)[::-1]
    exact = solve_dual(k(X[own]), nu_dual(signs, 0.3))
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
    assert_optimal(model, X, T.y, C, kernel_of(X, kernel))
    assert_within(model, X, T.y)


def test_digits():
    T = load_digits()
    X, y = T.X[T.y < 5] / 16, T.y[T.y < 5]
    X, y, Z, z = X[:300], y[:300], X[300:], y[300:]
    model = SVC(C=1.0, tol=1e-6).fit(X, y)
    assert model.converged_ and len(model.certificates_) == 10
    assert_optimal(model, X, y, 1.0, kernel_of(X))
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
    assert_optimal(model, train.X, train.y, 5.0, kernel_of(train.X))
    assert model.score(train.X, train.y) == 1 and model.score(test.X, test.y) > 0.8
    few = train.y < 4
    assert_within(SVC(C=5.0, tol=1e-6).fit(train.X[few], train.y[few]), train.X[few], train.y[few])


def test_a_nu_machine_that_is_cut_short_gives_its_violation_in_the_unit_of_tol(rng):
    X, y = two_classes(rng)
    with pytest.warns(ConvergenceWarning, match="violation = ") as caught:
        model = NuSVC(nu=0.3, tol=1e-8, max_iter=1).fit(X, y)
    (certificate,) = model.certificates_
    assert f"violation = {len(y) * certificate.violation:.3g} > 1e-08" in str(caught[0].message)


# ---------------------------------------------------------------------------------------
# The steps on many multipliers, and what a pass is made of
# ---------------------------------------------------------------------------------------


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
    X, y = two_classes(rng, (8, 7))
    dual = c_dual(y, 0.8) if machine == "C" else nu_dual(y, 0.6)
    beta = next(islice(smo(X @ X.T, dual), 5, None)).beta
    array = certify(X @ X.T, dual, beta)
    K = GramRows(X, Linear(), capacity=2)
    np.testing.assert_allclose(certify(K, dual, beta)[:4], array[:4], rtol=0, atol=1e-12)
    np.testing.assert_allclose(certify(K, dual, beta).offsets, array.offsets, rtol=0, atol=1e-12)
    *_, last = islice(smo(K, dual), 300)
    assert last.objective == pytest.approx(solve_dual(X @ X.T, dual).objective, rel=1e-6)
    state = svm.SMOState(beta, dual.p - X @ X.T @ beta, (), array.dual, inf)
    F = np.flatnonzero((beta > dual.lower) & (beta < dual.upper))
    steps = [newton_step(form, dual, state, F) for form in (X @ X.T, K)]
    assert steps[0].objective == pytest.approx(steps[1].objective, rel=1e-6)


def test_a_missed_margin_without_slack_has_no_primal_value(rng):
    X, y = two_separable(rng)
    K, dual = X @ X.T, c_dual(y)
    assert certify(K, dual, dual.start).primal == inf
    exact = solve_dual(K, dual)
    longer = np.where(np.abs(exact.beta) > 1e-6, 1.001 * exact.beta, 0.0)  # no margin is missed
    found = certify(K, dual, longer)
    assert found.primal == pytest.approx(1.001**2 * exact.objective, rel=1e-6)
    assert found.dual < exact.objective < found.primal
    assert certify(K, dual, 0.999 * exact.beta).primal == inf


def test_no_steps_are_the_start(rng):
    X, y = two_classes(rng)
    for K in (X @ X.T, GramRows(X, Linear(), capacity=5)):
        for dual in (c_dual(y, 1.0), nu_dual(y, 0.5)):
            solved = solve(K, dual, 1e-6, 0)
            np.testing.assert_array_equal(solved.beta, dual.start)
            assert solved.run.n_iter == 0 and not solved.run.converged
            assert solved.certificate[:4] == certify(K, dual, dual.start)[:4]
            at_once = solve(K, dual, 1e3, -1)
            assert at_once.run.n_iter == 0 and at_once.run.converged


@pytest.mark.parametrize("b, most", [(0.49, 2.9), (0.67, 1.7)])
def test_a_step_to_a_bound_ends_exactly_on_it(b, most):
    assert b + (most - b) != most
    y, K = np.array([1.0, -1.0]), np.zeros((2, 2))  # every step goes to the box
    for C, moved in (([most, 9.0], 0), ([9.0, most], 1)):
        dual = c_dual(y, np.array(C))._replace(start=b * y)
        *_, last = smo(K, dual)
        assert last.beta[moved] == most * y[moved] and last.violation <= 0


def test_smo_ends_where_rounding_hides_the_step():
    y, K = np.array([1.0, -1.0]), np.eye(2)
    far = svm.SMOState(1e20 * y, y.copy(), (), 0.0, inf)  # a step of 1 is lost in 1e20
    (state,) = smo(K, c_dual(y), start=far)
    assert state.violation == 2.0 and (state.beta == far.beta).all()


def test_some_boxes_may_be_infinite(rng):
    X, y = two_classes(rng, (10, 10), shift=0.3)
    dual = c_dual(y, np.where(np.arange(20) == 5, inf, 1.0))
    solved = solve(X @ X.T, dual, 1e-8, -1)
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
        assert_feasible(dual, state.beta)
        scale = 1 + np.abs(K).max() * np.abs(state.beta).sum()
        np.testing.assert_allclose(
            state.gradient, dual.p - K @ state.beta, rtol=0, atol=1e-11 * scale
        )
        assert state.objective == pytest.approx(objective(K, dual, state.beta), abs=1e-11 * scale)
    objectives = [state.objective for state in states]
    assert len(states) > 1 and (np.diff(objectives) >= -1e-12).all()
    for after in states[1:]:
        i, j = after.pair
        if K[i, i] + K[j, j] - 2 * K[i, j] <= 0:
            assert after.beta[i] == dual.upper[i] or after.beta[j] == dual.lower[j]
