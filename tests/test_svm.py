"""The svm chapter, from hyperplanes to the soft margin: every statement by a second route."""

import re
from itertools import product
from math import comb, inf

import numpy as np
import pytest
from checks import check_gradient

from mlnotes.base import ConvergenceWarning, NotFittedError
from mlnotes.datasets import make_separable
from mlnotes.kernels import gram
from mlnotes.linear_regression import augment
from mlnotes.optimization import (
    InfeasibleError,
    UnboundedError,
    closest_points,
    lagrangian,
    quadratic_program,
    solve_qp,
)
from mlnotes.perceptron import decision, perceptron
from mlnotes.svm import (
    L2SVC,
    SVC,
    HullsMeet,
    KernelRows,
    LinearSVC,
    NuSVC,
    Separator,
    c_dual,
    canonical,
    dual_value,
    erm_objective,
    geometric_margin,
    hard_lagrangian,
    hard_lagrangian_gradients,
    hard_margin,
    hinge,
    hinge_subgradient,
    kernel_matrix,
    kernel_parameters,
    kkt_residuals,
    label,
    nu_margin,
    offset_intervals,
    offsets,
    project,
    recover,
    separate,
    signed_distance,
    slack,
    smo,
    soft_lagrangian,
    soft_margin,
    solve,
    solve_dual,
    squared_slack_margin,
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
    np.testing.assert_allclose(decision(H, w, b), 0, atol=1e-12)
    np.testing.assert_allclose((H[1:] - H[:-1]) @ w, 0, atol=1e-12)
    t = np.array([-2.0, -1e-3, 1e-3, 5.0])
    for x in H:
        np.testing.assert_array_equal(label(decision(x + t[:, None] * w, w, b)), np.sign(t))


@pytest.mark.claims("svm-01")
def test_a_label_is_one_of_two_and_knows_neither_scale_nor_sign_convention(rng):
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
    np.testing.assert_allclose(decision(feet, w, b), 0, atol=1e-12)
    r = feet - X
    shortest = (np.linalg.pinv(w[None]) @ -f[None]).T  # of all r with w^T r = -f
    np.testing.assert_allclose(r, shortest, atol=1e-12)
    along = in_hyperplane(rng, w, 0.0, len(X))  # orthogonal to w
    longer = ((r + along) ** 2).sum(axis=1)
    np.testing.assert_allclose(longer, (r**2).sum(axis=1) + (along**2).sum(axis=1))
    np.testing.assert_allclose(decision(X + r + along, w, b), 0, atol=1e-12)


@pytest.mark.claims("svm-02")
def test_the_signed_distance_is_how_far_one_goes_along_the_normal(rng):
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
    np.testing.assert_allclose(squares[0] - squares[1], squares[2], atol=1e-12)
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
        np.testing.assert_allclose(np.cross(v, scale * w + 1e-3), 0, atol=1e-12)  # same direction
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
    np.testing.assert_allclose(between, 2 * t[:, 0] - 1, atol=1e-12)
    X = in_hyperplane(rng, w, b) + rng.uniform(-1, 1, size=(20, 1)) * w / norm**2  # of the slab
    t = (1 + decision(X, w, b)[:, None]) / 2
    assert ((t >= 0) & (t <= 1)).all()
    rebuilt = t * project(X, w, b - 1) + (1 - t) * project(X, w, b + 1)
    np.testing.assert_allclose(rebuilt, X, atol=1e-12)


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
def test_the_width_is_no_other_of_the_printed_numbers():
    X = np.array([[2.0, 0.0], [2.0, 3.0], [5.0, 1.0], [-2.0, 1.0], [-2.0, 2.0], [-3.0, 0.0]])
    y = np.array([1.0, 1, 1, -1, -1, -1])
    R2_w2 = []
    for c in (1.0, 0.1, 7.0):
        w, b, *_ = hard_margin(c * X, y)
        np.testing.assert_allclose(w, [1 / (2 * c), 0], atol=1e-9)
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
    np.testing.assert_allclose(X[y > 0].T @ u / size, X[y < 0].T @ v / size, atol=1e-9)
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


def test_touching_equal_and_lonely_samples():
    touching = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([-1.0, -1, 1, 1])
    assert isinstance(separate(*touching), HullsMeet) and not check_answer(*touching)
    assert not check_answer(np.ones((5, 2)), np.array([1.0, 1, 1, -1, -1]))  # all samples equal
    assert check_answer(np.array([[0.0], [1.0], [1.1], [2.0]]), touching[1])
    for sign in (-1, 1):  # one class: every sample is on its side of w = 0, b = y
        answer = separate(np.array([[1.0, 2.0], [3.0, 1.0]]), np.full(2, sign))
        assert check_answer(np.array([[1.0, 2.0], [3.0, 1.0]]), np.full(2, sign))
        np.testing.assert_allclose(answer.w, 0, atol=1e-9)


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
    np.testing.assert_allclose(w / np.linalg.norm(w), [np.cos(low), np.sin(low)], atol=1e-6)
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
    np.testing.assert_allclose([*w, b], [1, 0, -1], atol=1e-9)


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
    np.testing.assert_allclose(p - q, 2 * w / (w @ w), atol=1e-6)
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
        np.testing.assert_allclose(machine.w, w, atol=1e-8)
        np.testing.assert_allclose([machine.b, *machine.alpha], [b, share, share], atol=1e-8)
        np.testing.assert_allclose(by_smo(X, y)[0], share, rtol=1e-9)
        assert max(kkt_residuals(X, y, w, b, np.zeros(2), np.full(2, share))) < 1e-12
    machine = hard_margin(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]))
    np.testing.assert_allclose([*machine.w, machine.b, *machine.alpha], [1, 0, 0.5, 0.5], atol=1e-9)


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
    np.testing.assert_allclose(above[S], 1, atol=1e-6)
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
    np.testing.assert_allclose(np.abs(f), 1, atol=1e-7)
    assert set(np.round(f)) == {-1.0, 1.0}  # both classes
    np.testing.assert_allclose((alpha[S] * y[S]) @ X[S], w, atol=1e-9)
    others = np.setdiff1d(np.arange(len(y)), S)
    moved = X.copy()
    for i in others:
        on_the_line = project(4 * rng.normal(size=(1, 3)), w, b - y[i])[0]
        moved[i] = on_the_line + y[i] * rng.exponential() * w
    assert (y * decision(moved, w, b) >= 1 - 1e-9).all() and np.abs(moved - X).max() > 1
    for again in (hard_margin(X[S], y[S]), hard_margin(moved, y),
                  *(hard_margin(np.delete(X, i, 0), np.delete(y, i)) for i in others)):  # fmt: skip
        np.testing.assert_allclose([*again.w, again.b], [*w, b], atol=1e-6)
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
    np.testing.assert_allclose(by_smo(X, y)[1], w, atol=1e-6)
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
    np.testing.assert_allclose([*w, b], [*machine.w, machine.b], atol=1e-5)
    each = [y[j] - w @ X[j] for j in support_vectors(alpha)]
    assert len(each) > 1
    np.testing.assert_allclose(each, b, atol=1e-6)
    wrong = [1 / y[j] + w @ X[j] for j in support_vectors(alpha)]  # the sign of w^T x matters
    assert np.abs(np.array(wrong) - b).max() > 0.1


def test_without_support_vectors_there_is_nothing_to_recover():
    with pytest.raises(ValueError, match=message("alpha must have entries > 0; got none")):
        recover(*XOR, np.zeros(4))


@pytest.mark.claims("svm-28")
def test_the_weights_are_unique_and_the_multipliers_are_not():
    X, y = SQUARE
    w, b, *_, objective = hard_margin(X, y)
    np.testing.assert_allclose([*w, b], [1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(y * decision(X, w, b), 1, atol=1e-9)  # all on the margin
    for alpha in SQUARE_ALPHAS:
        assert max(kkt_residuals(X, y, np.array([1.0, 0]), 0.0, np.zeros(4), alpha)) == 0
        assert dual_value(alpha, X @ X.T, y) == 0.5 == pytest.approx(objective)
        v, c = recover(X, y, alpha)
        np.testing.assert_allclose([*v, c], [1, 0, 0], atol=1e-12)
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
    np.testing.assert_allclose([*w, b], [*machine.w, machine.b], atol=1e-6)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    isometry = np.linalg.qr(rng.normal(size=(10_000, 3)))[0].T
    padded = np.hstack([X, np.zeros((20, 4))])
    for Z in (X @ R, padded, X @ isometry):
        np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-9)
        again, v, c = by_smo(Z, y)
        assert again.sum() == pytest.approx(alpha.sum(), rel=1e-8)
        np.testing.assert_allclose(decision(Z, v, c), decision(X, w, b), atol=1e-8)
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
    np.testing.assert_allclose(xi, np.maximum(0, 1 - y * (X @ w + b)), atol=1e-6)
    assert objective == pytest.approx(w @ w / 2 + C * xi.sum(), rel=1e-9)
    dual = solve_dual(X @ X.T, c_dual(y, C))
    assert dual.objective == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(X.T @ dual.beta, w, atol=1e-6)
    np.testing.assert_allclose(X.T @ (alpha * y), w, atol=1e-6)
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
        np.testing.assert_allclose(machine.w, w, atol=1e-7)
        assert machine.objective == pytest.approx(erm_objective(X, y, w, b, C), rel=1e-8)
        assert machine.objective == pytest.approx(dual_value(alpha, X @ X.T, y), rel=1e-8)
        if ((alpha > 1e-6) & (alpha < C - 1e-6)).any():  # one b
            assert machine.b == pytest.approx(b, abs=1e-7)
            np.testing.assert_allclose(machine.alpha, alpha, atol=1e-7)
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
    np.testing.assert_allclose(same.x, [*ours.w, ours.b, *ours.xi], atol=1e-6)
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
        np.testing.assert_allclose([*soft.w, soft.b], [*hard.w, hard.b], atol=1e-6)
        np.testing.assert_allclose(soft.alpha, hard.alpha, atol=1e-6)
        assert soft.xi.sum() < 1e-7
    assert soft_margin(X, y, 0.9 * largest).xi.sum() > 1e-3
    np.testing.assert_allclose(by_smo(X, y, 1.01 * largest)[1], hard.w, atol=1e-6)


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
    np.testing.assert_allclose(X.T @ box_only.beta, no_offset.x[:2], atol=1e-6)
    assert box_only.objective > optimum.objective * 1.05  # no lower bound of the problem meant
    assert abs(box_only.beta.sum()) > 0.1
    assert solve_dual(K, c_dual(y, C)).objective == pytest.approx(optimum.objective, rel=1e-6)
    # and one sum over i, with j nowhere, is not even quadratic in all of alpha
    alpha = box_only.beta * y
    assert alpha.sum() - (alpha**2 * K.diagonal()).sum() / 2 != pytest.approx(box_only.objective)


@pytest.mark.claims("svm-44")
def test_what_a_multiplier_tells_of_its_sample(rng):
    X, y = overlapping(rng)
    C = 0.8
    alpha, w, b = by_smo(X, y, C)
    yf = y * decision(X, w, b)
    xi = slack(yf, np.ones(len(y)))
    zero, bound = alpha == 0, alpha == C
    free = ~zero & ~bound
    assert min(zero.sum(), free.sum(), bound.sum()) > 1 and (alpha >= 0).all() and max(alpha) <= C
    assert (yf[zero] >= 1 - 1e-6).all() and (xi[zero] < 1e-6).all()
    np.testing.assert_allclose(yf[free], 1, atol=1e-6)
    assert (yf[bound] <= 1 + 1e-6).all() and bound[xi > 1e-6].all() and (xi[~bound] < 1e-6).all()
    wrong = label(decision(X, w, b)) != y
    np.testing.assert_array_equal(wrong, xi > 1)
    assert wrong.any() and bound[wrong].all()
    near = ~(yf > 1 + 1e-6)
    again = soft_margin(X[near], y[near], C)
    assert near.sum() < len(y)
    np.testing.assert_allclose([*again.w, again.b], [*w, b], atol=1e-5)


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
    np.testing.assert_allclose((y * f)[bound] - 1, -xi, atol=1e-7)
    assert (xi > 1e-3).sum() > 3  # where y f = 1 is printed
    free = np.setdiff1d(S, bound)
    np.testing.assert_allclose((y * f)[free], 1, atol=1e-7)
    np.testing.assert_allclose((alpha[S] * y[S]) @ X[S], w, atol=1e-9)
    assert np.abs((alpha[free] * y[free]) @ X[free] - w).max() > 0.1  # they build w too


@pytest.mark.claims("svm-47")
def test_the_margin_is_at_y_f_1_and_not_minus_1(rng):
    X, y = overlapping(rng)
    alpha, w, b = by_smo(X, y, C=0.8)
    free = (alpha > 0) & (alpha < 0.8)
    yf = (y * decision(X, w, b))[free]
    np.testing.assert_allclose(yf - 1, 0, atol=1e-7)
    np.testing.assert_allclose(yf + 1, 2, atol=1e-7)  # printed as 0
    printed = -y[free] - X[free] @ w  # the offset with which it would be
    np.testing.assert_allclose(b - printed, 2 * y[free], atol=1e-7)
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
    np.testing.assert_allclose(each, b, atol=1e-6)
    assert len(each) > 1 and b == pytest.approx(np.mean(each)) == pytest.approx(machine.b, abs=1e-6)
    kinks = y - X @ w  # of the primal in b, piecewise linear: its minimum is at one of them
    values = [erm_objective(X, y, w, kink, C) for kink in kinks]
    assert erm_objective(X, y, w, b, C) == pytest.approx(min(values), rel=1e-9)
    assert kinks[np.argmin(values)] == pytest.approx(b, abs=1e-6)


@pytest.mark.claims("svm-48")
def test_the_mean_is_no_worse_than_its_terms(rng):
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
    np.testing.assert_allclose(each[bound] - b, (y * xi)[bound], atol=1e-6)
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


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_machines_have_no_unit_and_no_origin(rng, scale, shift):
    """w ~ 1 / scale and alpha, C ~ 1 / scale^2: f, xi and who supports stay."""
    X, y = separable(rng)
    Z = scale * (X + shift)

    def check(machine, moved):
        np.testing.assert_allclose(moved.w * scale, machine.w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(decision(Z, *moved[:2]), decision(X, *machine[:2]), atol=1e-6)
        np.testing.assert_allclose(moved.alpha * scale**2, machine.alpha, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(moved.xi, machine.xi, atol=1e-8)
        assert moved.objective * scale**2 == pytest.approx(machine.objective, rel=1e-7)
        S = support_vectors(machine.alpha)
        np.testing.assert_array_equal(support_vectors(moved.alpha), S)

    check(hard_margin(X, y), hard_margin(Z, y))
    assert len(support_vectors(hard_margin(Z, y).alpha)) <= X.shape[1] + 1 < len(y)
    X, y = overlapping(rng, n=(9, 6))
    Z = scale * (X + shift)
    for train in (soft_margin, squared_slack_margin):
        check(train(X, y, 0.5), train(Z, y, 0.5 / scale**2))


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_nu_machine_grows_with_its_samples(rng, scale, shift):
    X, y = overlapping(rng, n=(9, 6))
    Z = scale * (X + shift)
    machine, moved = nu_margin(X, y, 0.5), nu_margin(Z, y, 0.5)
    np.testing.assert_allclose(moved.w / scale, machine.w, rtol=1e-6)
    f = decision(X, machine.w, machine.b)
    np.testing.assert_allclose(decision(Z, moved.w, moved.b) / scale**2, f, atol=1e-6)
    np.testing.assert_allclose(moved.xi / scale**2, machine.xi, atol=1e-8)
    np.testing.assert_allclose(moved.alpha, machine.alpha, atol=1e-9)
    assert moved.rho / scale**2 == pytest.approx(machine.rho, rel=1e-6) and machine.rho > 0.01
    assert moved.objective / scale**2 == pytest.approx(machine.objective, rel=1e-7)
    assert machine.alpha.sum() == pytest.approx(0.5)
    np.testing.assert_allclose(X.T @ (machine.alpha * y), machine.w, atol=1e-9)


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
    np.testing.assert_allclose([*twice.w, twice.b], [*once.w, once.b], atol=1e-8)
    np.testing.assert_allclose(twice.alpha.reshape(2, -1).sum(axis=0), once.alpha, atol=1e-8)
    X, y = overlapping(rng, n=(9, 6))
    once, twice = soft_margin(X, y, 0.8), soft_margin(np.vstack([X, X]), np.append(y, y), 0.4)
    np.testing.assert_allclose([*twice.w, twice.b], [*once.w, once.b], atol=1e-8)


def test_fewer_samples_than_features(rng):
    X, y = rng.normal(size=(6, 40)), np.array([1.0, 1, -1, -1, -1, 1])
    machine = hard_margin(X, y)
    assert max(kkt_residuals(X, y, *machine[:4])) < 1e-9
    np.testing.assert_allclose(by_smo(X, y)[1], machine.w, atol=1e-8)
    soft = soft_margin(X, y, 1e-3)
    assert max(kkt_residuals(X, y, *soft[:4], 1e-3)) < 1e-9 and soft.xi.max() > 0.1


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_constant_feature_is_not_used(rng, value):
    X, y = separable(rng)
    with_it = np.column_stack([X, np.full(len(y), value)])
    for train in (hard_margin, lambda X, y: soft_margin(X, y, 0.1)):
        plain, more = train(X, y), train(with_it, y)
        np.testing.assert_allclose([*more.w, more.b], [*plain.w, 0, plain.b], atol=1e-8)


def test_equal_samples_of_both_classes_pay_for_the_smaller():
    X, y = np.full((5, 2), 3.0), np.array([1.0, 1, 1, -1, -1])
    with pytest.raises(InfeasibleError, match="the constraints must have a common point"):
        hard_margin(X, y)
    for train, objective in ((soft_margin, 2.0 * 4), (squared_slack_margin, 2.0 / 2 * 4.8)):
        machine = train(X, y, 2.0)
        np.testing.assert_allclose(machine.w, 0, atol=1e-8)
        assert machine.objective == pytest.approx(objective)
    # squared: (3 (1 - b)^2 + 2 (1 + b)^2) is least at b = 1/5, where it is 4.8
    assert squared_slack_margin(X, y, 2.0).b == pytest.approx(0.2)
    assert soft_margin(X, y, 2.0).b == pytest.approx(1)


def test_one_class_needs_no_weights():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])
    for sign in (-1.0, 1.0):
        y = np.full(3, sign)
        for machine in (hard_margin(X, y), soft_margin(X, y, 2.0)):
            np.testing.assert_allclose(machine.w, 0, atol=1e-9)
            assert sign * machine.b >= 1 - 1e-9 and machine.objective == pytest.approx(0, abs=1e-12)


def test_integer_labels_do(rng):
    X, y = overlapping(rng, n=(9, 6))
    for train in (soft_margin, squared_slack_margin, nu_margin):
        np.testing.assert_array_equal(train(X, y.astype(int), 0.5).w, train(X, y, 0.5).w)


@pytest.mark.parametrize("train", [hard_margin, separate, lambda X, y: soft_margin(X, y, 1.0),
                                   lambda X, y: squared_slack_margin(X, y, 1.0),
                                   lambda X, y: nu_margin(X, y, 0.5)])  # fmt: skip
@pytest.mark.parametrize(("scale", "spread"), [(1e-200, "1.0e-200"), (1e200, "1.0e+200")])
def test_a_spread_whose_square_is_no_number_is_refused(train, scale, spread):
    text = f"X must spread by 1.5e-154 to 6.7e+153; got {spread}: scale the features of X"
    with pytest.raises(ValueError, match=message(text)):
        train(scale * SQUARE[0], SQUARE[1])
    with pytest.raises(ValueError, match="^X must spread by .* got inf: scale the features of X$"):
        train(np.array([[1.7e308], [1.7e308], [-1.7e308]]), np.array([1, 1, -1]))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_a_far_unit_is_still_a_unit(rng, scale):
    X, y = separable(rng)
    machine, moved = hard_margin(X, y), hard_margin(scale * X, y)
    np.testing.assert_allclose(moved.w * scale, machine.w, rtol=1e-7)
    assert moved.b == pytest.approx(machine.b, rel=1e-7)


@pytest.mark.parametrize("train", [soft_margin, squared_slack_margin])
def test_a_cost_beside_which_the_weights_are_rounding_is_refused(train):
    for C in (1e25, 1e-41):
        text = f"C must be 1e-40 to 1e+24 times 1.0e+00 for this X, or inf; got {C!r}"
        with pytest.raises(ValueError, match=message(text)):
            train(*SQUARE, C)
    text = "C must be 1e-40 to 1e+24 times 1.0e-10 for this X, or inf; got 1e+20"
    with pytest.raises(ValueError, match=message(text)):  # C in units of X
        train(1e5 * SQUARE[0], SQUARE[1], 1e20)


@pytest.mark.parametrize("C", [1e-10, 1e-20, 1e-38])
def test_cheap_slack_in_the_limit(rng, C):
    """w / C tends to sum_i xi_i y_i x_i at w = 0, where b is the mean of y if slack is squared."""
    X, y = overlapping(rng, n=(9, 6))
    squared, soft = squared_slack_margin(X, y, C), soft_margin(X, y, C)
    assert squared.b == pytest.approx(y.mean()) and soft.b == pytest.approx(1, abs=1e-6)
    xi = 1 - y * y.mean()
    np.testing.assert_allclose(squared.w / C, X.T @ (xi * y), rtol=1e-6)
    np.testing.assert_allclose(squared.alpha / C, xi, rtol=1e-6)
    assert squared.objective / C == pytest.approx(xi @ xi / 2) and soft.objective / C == (
        pytest.approx(2 * 6)
    )


def test_squared_slack_of_infinite_cost_is_the_hard_margin(rng):
    X, y = separable(rng)
    hard, squared = hard_margin(X, y), squared_slack_margin(X, y, inf)
    np.testing.assert_array_equal([*squared.w, squared.b], [*hard.w, hard.b])
    assert not squared.xi.any()


# ---------------------------------------------------------------------------------------
# Estimators far out
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("far", [1e6, 1e8])
@pytest.mark.parametrize(("n", "size"), [((26, 17), 800), ((26, 17), 1e-3), ((300, 260), 800)])
def test_the_origin_of_linear_machines_is_no_matter(rng, far, n, size):
    """As an array, by rows, and as a `LinearGram`: the products of far samples have no digits."""
    X, y = overlapping(rng, n=n)
    center = np.array([far, -far])
    for kind in (SVC, NuSVC, L2SVC, LinearSVC):
        how = {} if kind is LinearSVC else {"kernel": "linear", "cache_size": size}
        how |= {"nu": 0.7} if kind is NuSVC else {}
        near, moved = kind(tol=1e-6, **how).fit(X, y), kind(tol=1e-6, **how).fit(X + center, y)
        assert moved.converged_
        f = near.decision_function(X)
        np.testing.assert_allclose(moved.decision_function(X + center), f, atol=1e-4)
        np.testing.assert_allclose(moved.coef_, near.coef_, atol=1e-4)
        scores = (X + center) @ moved.coef_[0] + moved.intercept_[0]  # the two belong together
        np.testing.assert_allclose(scores, f, atol=1e-4)
        if kind is not LinearSVC:
            rho = moved.rho_[0] if kind is NuSVC else 1.0
            b = -moved.certificates_[0].offsets.mean() / rho  # the second class is the positive one
            assert b == pytest.approx(moved.intercept_[0])
        if kind in (NuSVC, LinearSVC):
            continue
        (certificate,), (exact,) = moved.certificates_, near.certificates_
        assert certificate.dual == pytest.approx(exact.dual, rel=1e-6)
        K = X @ X.T + (np.eye(len(y)) if kind is L2SVC else 0)
        if len(y) < 100:  # no proof of more than there is to have
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
        np.testing.assert_allclose(moved.decision_function(X + 1e7), F, atol=1e-4)
        if shape == "ovo":
            scores = (X + 1e7) @ moved.coef_.T + moved.intercept_
            np.testing.assert_allclose(scores, F, atol=1e-4)
        assert moved.coef_.shape == (3, 2) and moved.intercept_.shape == (3,)


def test_rows_of_far_samples_are_those_of_the_array(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    X[:30] += 1e8  # two groups: the norms have no digits for what is within one
    for gamma, scale in ((1.0, 1.0), (1e-3, 1e160), (1e14, 1e-7)):
        how = {"kernel": "rbf", "gamma": gamma}
        rows = KernelRows(scale * X, how, capacity=2)
        np.testing.assert_allclose([rows[i] for i in range(60)], gram(scale * X, **how), atol=1e-12)
    whole, cached = (SVC(gamma=1.0, cache_size=size, tol=1e-6).fit(X, y) for size in (800, 1e-3))
    assert cached.converged_
    np.testing.assert_allclose(cached.decision_function(X), whole.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(("scale", "got"), [(1e-200, "0"), (1e-158, "1e-316"), (1e160, "inf")])
def test_a_variance_out_of_range_is_no_scale(scale, got):
    X, y = scale * SQUARE[0], SQUARE[1]
    text = (
        "gamma='scale' must find a variance of X in the range of floating point; "
        f"got {got}: scale the features of X"
    )
    for kernel in ("rbf", "poly", "laplacian", "exponential", "sigmoid"):
        with pytest.raises(ValueError, match=message(text)):
            kernel_parameters(X, kernel)
    assert kernel_parameters(X, "linear")["gamma"] == 1.0  # which has none
    assert kernel_parameters(X, gamma="auto")["gamma"] == 0.5
    if scale > 1:
        with pytest.raises(ValueError, match=r"^K must be finite; k\(x, z\) overflows: scale the "):
            SVC(kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="got inf: scale"):
        kernel_parameters(np.array([[1.7e308, 1.7e308], [-1.7e308, 0.0]]))


def test_products_that_overflow_are_refused_whether_kept_or_in_rows():
    X = np.array([[1e200, 1e200], [1e200, -1e200], [0.0, 1.0]])
    for kernel, megabytes in product(("linear", "poly", "sigmoid"), (800, 1e-9)):
        how = kernel_parameters(X, kernel, gamma=1.0)  # of the sigmoid only inf - inf is not finite
        with pytest.raises(ValueError, match="^K must be finite"):
            kernel_matrix(X, how, megabytes)
    for kernel in ("rbf", "laplacian", "exponential"):
        K = kernel_matrix(X, kernel_parameters(X, kernel, gamma=1.0), 800)
        np.testing.assert_array_equal(K, np.eye(3))


def test_equal_samples_are_soon_found_to_have_no_hard_margin():
    X, y = np.full((6, 2), 3.0), [0, 1] * 3
    with pytest.warns(ConvergenceWarning):
        model = SVC(C=inf, kernel="linear").fit(X, y)
    assert model.n_iter_ < 10 and model.certificates_[0].gap == inf


def test_rounding_is_no_variance():
    X = np.full((6, 2), 0.1)
    assert X.var() > 0
    assert kernel_parameters(X)["gamma"] == 1.0
    model = L2SVC(kernel="poly").fit(X, [0, 1] * 3)
    (certificate,) = model.certificates_
    assert certificate.dual == pytest.approx(3) and certificate.primal == pytest.approx(3)


def test_before_fit_there_are_no_weights():
    for model, name in ((SVC(kernel="linear"), "coef_"), (SVC(), "coef_"), (NuSVC(), "rho_")):
        text = f"This {type(model).__name__} is not fitted yet: call fit first"
        with pytest.raises(NotFittedError, match=message(text)):
            getattr(model, name)
    model = SVC(kernel="linear").fit(*SQUARE).set_params(kernel="rbf")  # for the next fit
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=1e-3)
    assert not hasattr(SVC().fit(*SQUARE).set_params(kernel="linear"), "coef_")


def test_a_margin_too_small_to_divide_by_counts_as_none():
    X, y = 1e-160 * SQUARE[0], SQUARE[1]
    for model in (NuSVC(kernel="linear").fit(X, y), NuSVC(nu=1e-320).fit(*SQUARE)):
        assert 0 < model.rho_[0] < np.finfo(float).tiny
        assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()
        assert np.abs(model.dual_coef_).max() <= 0.25


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


def test_what_no_machine_can_be_made_of():
    X, y = SQUARE
    text = "C must be a number >= 2.2250738585072014e-308; got 1e-310"
    with pytest.raises(ValueError, match=message(text)):
        L2SVC(C=1e-310).fit(X, y)
    with pytest.raises(ValueError, match=message("C must be a number > 0 and < inf; got inf")):
        LinearSVC(C=inf).fit(X, y)
    text = "C ||x||^2 must have a finite sum; scale the features of X"
    for scale in (1e160, 1e308):
        with pytest.raises(ValueError, match=message(text)):
            LinearSVC().fit(scale * X, y)
    text = "y must hold at least 2 classes of weight > 0; got 1 class: 'b'"
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
        np.testing.assert_allclose(model.decision_function(X), two.decision_function(X), atol=1e-9)
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
def test_nu_is_no_more_than_the_smaller_class_can_carry(y, nu, limit):
    text = f"nu must be <= 2 min(n_+, n_-) / n = {limit} here: the specified nu is infeasible; "
    with pytest.raises(ValueError, match=message(f"{text}got {nu}")):
        nu_margin(SQUARE[0], np.array(y), nu)
    if limit:
        assert nu_margin(SQUARE[0], np.array(y), limit).alpha.sum() == pytest.approx(limit)


def test_a_hard_margin_comes_with_the_proof_that_there_is_none():
    X, y = XOR
    with pytest.raises(InfeasibleError) as caught:
        hard_margin(X, y)
    lam = caught.value.certificate  # sum_i lam_i y_i (x_i, 1) = 0 and sum_i lam_i > 0
    assert (lam >= 0).all() and lam.sum() > 0
    np.testing.assert_allclose(augment(X).T @ (lam * y) / lam.sum(), 0, atol=1e-12)


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
    from figures.svm import SIGMA, moons, moons_machine, parzen, parzen_difference

    machine, density = panels(parzen, 1, 2)
    X, y = moons()
    Z = np.random.default_rng(0).normal(size=(50, 2))

    def bumps(Z, X):
        return np.exp(-np.sum((Z[:, None] - X) ** 2, axis=2) / (2 * SIGMA**2))

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
