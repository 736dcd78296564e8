"""The perceptron chapter: every statement of the notes, checked by a second route."""

from decimal import Decimal
from itertools import islice

import numpy as np
import pytest

from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.datasets import load_iris
from mlnotes.linear_regression import augment, lms
from mlnotes.logistic_regression import geometric_margin
from mlnotes.perceptron import (
    Adaline,
    Perceptron,
    adaline,
    classify,
    decision,
    is_mistake,
    loss,
    loss_gradient,
    margin,
    max_eta,
    mistake_bound,
    mistake_bound_from,
    perceptron,
    sweep,
    updates,
)

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
TWO_CLASSES = (  # separable, and yet least squares gets (3, -1) wrong
    np.array([[-1, 3], [2, 2], [3, -1], [5, 5], [-4, 4], [3, -2], [-3, 1], [3, -3]], dtype=float),
    np.array([1.0] * 5 + [-1.0] * 3),
)


def separable(rng, n=60, d=3, gamma=0.1):
    """Samples at least gamma from a random hyperplane through 0, their labels, its normal."""
    w_star = rng.normal(size=d)
    w_star /= np.linalg.norm(w_star)
    X = rng.normal(size=(20 * n, d)) * rng.uniform(0.5, 3, size=d)
    X = X[np.abs(X @ w_star) >= gamma][:n]
    assert len(X) == n
    return X, np.sign(X @ w_star), w_star


def by_the_book(X, y, eta=1.0, wrong=lambda yf: yf <= 0, passes=1000, w0=0.0):
    """REP's listing with its loops and conditions put back, w and b apart: all (w, b, i)."""
    w, b, path = np.zeros(X.shape[1]) + w0, 0.0, []
    for _ in range(passes):
        m = 0
        for i in range(len(X)):
            if wrong(y[i] * (sum(w * X[i]) + b)):
                w, b, m = w + eta * y[i] * X[i], b + eta * y[i], m + 1
                path.append((w, b, i))
        if m == 0:
            break
    return path


def mistakes_of(X, y, w0=None, **how):
    """All mistakes until the perceptron stops, in order."""
    return np.concatenate([state.wrong for state in perceptron(X, y, w0, **how)])


def trajectory(X, y, w0=None, **how):
    """The weights at the start and after every mistake."""
    return np.array([update.w for update in updates(X, y, w0, **how)])


# ---------------------------------------------------------------------------------------
# The linear classifier and its loss
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("perceptron-01")
def test_a_sample_is_right_iff_y_f_is_positive(rng):
    X, w, b = rng.normal(size=(200, 4)), rng.normal(size=4), 0.3
    y, f = rng.choice([-1.0, 1.0], size=200), decision(X, w, b)
    assert set(classify(X, w, b)) == {-1.0, 1.0}
    np.testing.assert_array_equal(classify(X, 7 * w, 7 * b), classify(X, w, b))
    np.testing.assert_array_equal(classify(X, w, b) == y, ~is_mistake(y, f))


@pytest.mark.claims("perceptron-01")
@pytest.mark.parametrize("label", [-1, 1])
def test_score_zero_is_a_mistake_whatever_the_label(label):
    assert is_mistake(label, 0.0)
    X, w, b = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([2.0, 1.0]), -3.0  # the first is on it
    np.testing.assert_array_equal(classify(X, w, b), [-1, -1])  # so that -1 is predicted right
    np.testing.assert_array_equal(classify(-X, -w, b), [-1, -1])


@pytest.mark.claims("perceptron-03")
def test_loss_is_piecewise_and_convex(rng):
    X, y = rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], size=50)
    u, v = rng.normal(size=(2, 100, 3))
    f = X @ u.T
    yf = y[:, None] * f
    np.testing.assert_array_equal(loss(y[:, None], f), np.where(yf > 0, 0, -yf))

    def total(w):
        return loss(y, decision(X, w)).sum()

    for a, c, t in zip(u, v, rng.uniform(size=100), strict=True):
        assert total(t * a + (1 - t) * c) <= t * total(a) + (1 - t) * total(c) + 1e-12


@pytest.mark.claims("perceptron-03", "perceptron-04")
def test_gradient_is_minus_y_x_on_mistakes_and_zero_elsewhere(rng):
    X, y = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], size=40)
    w, b, h = rng.normal(size=3), 0.2, 1e-6
    f = decision(X, w, b)
    assert np.abs(f).min() > 1e-4  # no kink within reach of h

    def difference(dw, db):
        ahead, behind = decision(X, w + h * dw, b + h * db), decision(X, w - h * dw, b - h * db)
        return (loss(y, ahead) - loss(y, behind)) / (2 * h)

    dw, db = loss_gradient(X, y, f)
    numeric = np.column_stack([difference(e, 0) for e in np.eye(3)])
    np.testing.assert_allclose(dw, numeric, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(db, difference(np.zeros(3), 1), rtol=1e-6, atol=1e-8)
    at_the_kink = loss_gradient(X, y, np.zeros(40))  # a subgradient: any t (-y x), t in [0, 1]
    np.testing.assert_array_equal(at_the_kink[0], -y[:, None] * X)
    np.testing.assert_array_equal(at_the_kink[1], -y)
    right = y * f > 0
    assert 0 < right.sum() < 40
    assert not numeric[right].any()  # where REP prints -y x
    assert (np.abs(-y[right, None] * X[right]).max(axis=1) > 0.01).all()


@pytest.mark.claims("perceptron-04")
def test_unconditional_updates_never_come_to_rest(rng):
    X, y, _ = separable(rng)
    path = by_the_book(X, y, wrong=lambda yf: True, passes=50)
    assert len(path) == 50 * len(X)
    w = np.array([w for w, _, _ in path])[len(X) - 1 :: len(X)]
    np.testing.assert_allclose(np.diff(w, axis=0), np.tile(y @ X, (49, 1)), rtol=1e-9)


@pytest.mark.claims("perceptron-05")
def test_zero_loss_does_not_mean_separated(rng):
    X, y, _ = separable(rng)
    assert loss(y, decision(X, np.zeros(3))).sum() == 0
    assert is_mistake(y, decision(X, np.zeros(3))).all()
    assert by_the_book(X, y, wrong=lambda yf: yf < 0) == []  # REP's descent: w = 0 for ever
    assert not is_mistake(y, decision(X, list(perceptron(X, y))[-1].w)).any()


# ---------------------------------------------------------------------------------------
# The algorithm
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("perceptron-06")
def test_stops_after_a_pass_without_mistakes(rng):
    X, y, _ = separable(rng)
    start, *passes = perceptron(X, y)
    m = [state.mistakes for state in passes]
    assert start.mistakes == np.inf and not start.w.any() and len(start.wrong) == 0
    assert m[-1] == 0 and min(m[:-1]) > 0
    assert not is_mistake(y, decision(X, passes[-1].w)).any()
    W = trajectory(X, y)
    assert len(W) - 1 == sum(m) == sum(len(state.wrong) for state in passes)
    np.testing.assert_allclose(W[-1], passes[-1].w, rtol=1e-12)


@pytest.mark.claims("perceptron-02", "perceptron-06")
@pytest.mark.parametrize("eta", [1.0, 0.3])
def test_one_update_of_the_augmented_weights_is_two_updates(rng, eta):
    X, y, _ = separable(rng, n=300)
    A = augment(X)
    mistakes = mistakes_of(A, y, eta=eta)
    path = by_the_book(X, y, eta)
    np.testing.assert_array_equal(mistakes, [i for _, _, i in path])
    W = trajectory(A, y, eta=eta)
    np.testing.assert_allclose(W[1:], [[b, *w] for w, b, _ in path], rtol=1e-12, atol=1e-12)
    gain = y[mistakes] * np.sum((W[1:] - W[:-1]) * A[mistakes], axis=1)
    np.testing.assert_allclose(gain, eta * (np.sum(X[mistakes] ** 2, axis=1) + 1), rtol=1e-9)


@pytest.mark.claims("perceptron-06")
def test_a_sample_still_wrong_after_its_update_waits_for_the_next_pass(rng):
    X, y, w_star = separable(rng)
    w0 = -40 * w_star  # so far off that one update mends no sample
    A, path = augment(X), by_the_book(X, y, w0=w0)
    np.testing.assert_array_equal(mistakes_of(A, y, np.array([0, *w0])), [i for _, _, i in path])
    (_, _, first), (w, b, second) = path[0], path[0][:2] + path[1][2:]
    assert y[first] * (w @ X[first] + b) <= 0 and second != first


@pytest.mark.claims("perceptron-06")
def test_mistakes_of_a_shuffled_run_are_numbered_as_the_samples_are(rng):
    X, y, _ = separable(rng)
    passes = list(perceptron(X, y, rng=np.random.default_rng(2)))
    mistakes = np.concatenate([state.wrong for state in passes])
    total = np.sum(y[mistakes, None] * X[mistakes], axis=0)  # w is the sum of its mistakes
    np.testing.assert_allclose(total, passes[-1].w, rtol=1e-12)
    start, *finer = updates(X, y, rng=np.random.default_rng(2))
    assert (start.sample, start.made) == (-1, 0) and not start.w.any()
    np.testing.assert_array_equal([update.sample for update in finer], mistakes)
    np.testing.assert_array_equal([update.made for update in finer], 1 + np.arange(len(mistakes)))
    np.testing.assert_array_equal(finer[-1].w, passes[-1].w)


@pytest.mark.claims("perceptron-02")
def test_without_the_constant_the_hyperplane_passes_through_the_origin():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), np.array([-1.0, -1.0, 1.0])
    assert min(state.mistakes for state in islice(perceptron(X, y), 500)) > 0
    assert list(perceptron(augment(X), y))[-1].mistakes == 0


@pytest.mark.claims("perceptron-06")
def test_labels_zero_and_one_run_side_by_side(rng):
    X, y, _ = separable(rng)
    y01, w, mistakes = (y + 1) / 2, np.zeros(3), []
    before = None
    while len(mistakes) != before:  # PRNN 5, as printed
        before = len(mistakes)
        for i, (x, label) in enumerate(zip(X, y01, strict=True)):
            if label == 1 and w @ x <= 0:
                w, mistakes = w + x, [*mistakes, i]
            elif label == 0 and w @ x >= 0:
                w, mistakes = w - x, [*mistakes, i]
    np.testing.assert_array_equal(mistakes, mistakes_of(X, y))
    np.testing.assert_array_equal(
        Perceptron().fit(X, y01).coef_, Perceptron().fit(X, y.astype(int)).coef_
    )


@pytest.mark.claims("perceptron-08")
@pytest.mark.parametrize("eta", [0.25, 0.01])
def test_eta_only_rescales_w_from_a_zero_start(rng, eta):
    X, y, _ = separable(rng)
    mistakes = mistakes_of(X, y)
    np.testing.assert_array_equal(mistakes_of(X, y, eta=eta), mistakes)
    w, w_eta = list(perceptron(X, y))[-1].w, list(perceptron(X, y, eta=eta))[-1].w
    np.testing.assert_allclose(w_eta, eta * w, rtol=1e-12, atol=1e-12)
    w0 = np.array([5.0, -5.0, 5.0])
    assert not np.array_equal(mistakes_of(X, y, w0, eta=eta), mistakes_of(X, y, w0))


@pytest.mark.claims("perceptron-09")
def test_never_ends_on_xor_and_says_so():
    X, y = augment(XOR[0]), XOR[1]
    passes = list(islice(perceptron(X, y), 1000))
    assert min(state.mistakes for state in passes) > 0
    assert max(np.linalg.norm(state.w) for state in passes) < 5
    message = r"Perceptron stopped after 30 iterations with mistakes = \d > 0"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = Perceptron(max_iter=30).fit(*XOR)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not model.converged_ and model.n_iter_ == 30 and len(model.history_[0]) == 31


@pytest.mark.claims("perceptron-10")
def test_flipping_the_negative_samples_changes_nothing(rng):
    X, y, w_star = separable(rng)
    flipped, ones = y[:, None] * X, np.ones(len(y))
    assert (flipped @ w_star > 0).all()
    for a, b in zip(perceptron(X, y), perceptron(flipped, ones), strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        np.testing.assert_array_equal(a.wrong, b.wrong)


# ---------------------------------------------------------------------------------------
# How many mistakes
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("perceptron-11")
def test_margin_is_the_distance_to_the_nearest_sample(rng):
    X, w, b = rng.normal(size=(30, 3)), rng.normal(size=3), 0.7
    feet = X - ((X @ w + b) / (w @ w))[:, None] * w
    np.testing.assert_allclose(feet @ w + b, 0, rtol=0, atol=1e-12)
    distances = np.linalg.norm(X - feet, axis=1)
    assert margin(X, w, b) == pytest.approx(distances.min(), rel=1e-12)


@pytest.mark.claims("perceptron-11")
def test_margin_of_a_separator_is_its_geometric_margin_and_of_others_positive(rng):
    X, y, w_star = separable(rng)
    assert margin(X, w_star) == geometric_margin(X, y, w_star) >= 0.1
    y[np.argmin(np.abs(X @ w_star))] *= -1
    assert geometric_margin(X, y, w_star) == -margin(X, w_star)
    assert str(margin(np.array([[1.0, -1.0], [5.0, 5.0]]), np.ones(2))) == "0.0"  # a sample on it


@pytest.mark.claims("perceptron-11")
def test_rescaling_into_the_unit_ball_changes_only_the_unit(rng):
    X, y, w_star = separable(rng)
    radius = np.linalg.norm(X, axis=1).max()
    unit, u_star = X / radius, 5 * w_star / np.linalg.norm(5 * w_star)
    assert margin(unit, u_star) == pytest.approx(margin(X, w_star) / radius, rel=1e-12)
    assert margin(unit, u_star) == pytest.approx(np.abs(unit @ u_star).min(), rel=1e-12)
    np.testing.assert_array_equal(classify(unit, u_star), classify(X, w_star))
    np.testing.assert_array_equal(mistakes_of(unit, y), mistakes_of(X, y))


@pytest.mark.claims("perceptron-12", "perceptron-14")
@pytest.mark.parametrize("seed", range(5))
def test_growth_inequalities_and_the_whole_chain_at_every_mistake(seed):
    X, y, w_star = separable(np.random.default_rng(seed), gamma=0.05)
    w_star = 3 * w_star
    mistakes = mistakes_of(X, y)
    W, k = trajectory(X, y), np.arange(len(mistakes) + 1)
    M, v = (X**2).sum(axis=1).max(), (y * (X @ w_star)).min()
    along, squared = W @ w_star, (W**2).sum(axis=1)
    assert (np.diff(along) >= v - 1e-12).all()
    assert (np.diff(squared) <= (X[mistakes] ** 2).sum(axis=1) + 1e-9).all()
    length, longest = np.sqrt(squared), np.sqrt(k * M)
    chain = [k * v, along, length * np.linalg.norm(w_star), longest * np.linalg.norm(w_star)]
    for smaller, larger in zip(chain, chain[1:], strict=False):
        assert (larger - smaller >= -1e-9).all()


@pytest.mark.claims("perceptron-12")
def test_length_telescopes_from_any_start(rng):
    X, y, _ = separable(rng)
    w0 = np.array([2.0, -7.0, 1.0])
    mistakes = mistakes_of(X, y, w0)
    squared = (trajectory(X, y, w0) ** 2).sum(axis=1)
    assert len(mistakes) > 3
    assert (squared[1:] <= w0 @ w0 + np.cumsum((X[mistakes] ** 2).sum(axis=1)) + 1e-9).all()


@pytest.mark.claims("perceptron-13", "perceptron-14")
def test_a_hundred_separable_sets_in_any_order_end_within_the_bound():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y, w_star = separable(rng, d=2 + seed % 4)
        passes = list(perceptron(X, y, rng=rng))
        assert not is_mistake(y, decision(X, passes[-1].w)).any()
        assert sum(len(state.wrong) for state in passes) <= mistake_bound(X, y, w_star)


@pytest.mark.claims("perceptron-14")
def test_bound_of_rep_is_the_bound_of_prnn(rng):
    X, y, w_star = separable(rng)
    M, v = max(x @ x for x in X), min(label * (x @ w_star) for x, label in zip(X, y, strict=True))
    prnn = w_star @ w_star * M / v**2
    rep = 1 / margin(X / np.sqrt(M), w_star) ** 2
    assert mistake_bound(X, y, w_star) == pytest.approx(prnn, rel=1e-12)
    assert mistake_bound(X, y, w_star) == pytest.approx(rep, rel=1e-12)
    assert mistake_bound(X, y, 1e3 * w_star) == pytest.approx(prnn, rel=1e-12)


@pytest.mark.claims("perceptron-14")
def test_widest_separator_has_the_smallest_bound(rng):
    X, y, _ = separable(rng, d=2)
    k = len(mistakes_of(X, y))
    turn = np.linspace(0, 2 * np.pi, 5000)
    separators = [w for w in np.column_stack([np.cos(turn), np.sin(turn)]) if min(y * (X @ w)) > 0]
    bounds = [mistake_bound(X, y, w) for w in separators]
    assert len(bounds) > 10 and min(bounds) >= k
    assert np.argmin(bounds) == np.argmax([margin(X, w) for w in separators])


@pytest.mark.claims("perceptron-15")
def test_bound_fails_from_another_start_and_its_correction_holds(rng):
    X, y, w_star, w0 = np.array([[1.0]]), np.array([1.0]), np.array([1.0]), np.array([-5.0])
    assert mistake_bound(X, y, w_star) == 1
    assert len(mistakes_of(X, y, w0)) == 6
    assert mistake_bound_from(X, y, w_star, w0) == 11  # (k - 5)^2 <= 25 + k
    for seed in range(20):
        X, y, w_star = separable(np.random.default_rng(seed))
        w0 = rng.normal(scale=20, size=3)
        assert len(mistakes_of(X, y, w0)) <= mistake_bound_from(X, y, w_star, w0)
        start = mistake_bound_from(X, y, w_star, np.zeros(3))
        assert start == pytest.approx(mistake_bound(X, y, w_star), rel=1e-12)


@pytest.mark.claims("perceptron-15")
@pytest.mark.parametrize("seed", range(10))
def test_corrected_inequality_holds_at_every_mistake(seed):
    rng = np.random.default_rng(seed)
    X, y, w_star = separable(rng)
    w0 = rng.normal(scale=5, size=3)
    W = trajectory(X, y, w0)
    k = np.arange(len(W))
    v, M = (y * (X @ w_star)).min(), (X**2).sum(axis=1).max()
    pulled, most = w0 @ w_star + k * v, w0 @ w0 + k * M
    assert (W @ w_star >= pulled - 1e-9).all() and ((W**2).sum(axis=1) <= most + 1e-9).all()
    assert (np.maximum(pulled, 0) ** 2 <= w_star @ w_star * most + 1e-9).all()


def test_bound_from_any_start_keeps_its_digits():
    for seed in range(50):
        X, y, w_star = separable(np.random.default_rng(seed))
        v, M = (y * (X @ w_star)).min(), (X**2).sum(axis=1).max()
        w0 = M / (2 * v) / (w_star @ w_star) * w_star  # where all terms of the root vanish
        assert mistake_bound_from(X, y, w_star, w0) == pytest.approx(0, abs=1e-6)
    X, y, w_star = np.array([[1.0, 0.0]]), np.array([1]), np.array([2.0, 0.0])
    for along, across in ((0, 3), (2, 5), (10**6, 7), (10**8, 10**4)):
        half = Decimal(2 * along - 1) / 2  # (along + k)^2 = along^2 + across^2 + k
        exact = (half**2 + across**2).sqrt() - half
        k = mistake_bound_from(X, y, w_star, np.array([along, across], dtype=float))
        assert k == pytest.approx(float(exact), rel=1e-12)


def test_no_state_is_the_start_that_was_given():
    X, y, w0 = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, -1]), np.array([3.0, 4.0])
    for states in (perceptron(X, y, w0), updates(X, y, w0)):
        first = next(states).w
        np.testing.assert_array_equal(first, w0)
        assert not np.shares_memory(first, w0)


def test_bound_wants_a_separator(rng):
    X, y, w_star = separable(rng)
    with pytest.raises(ValueError, match="w_star must separate the data"):
        mistake_bound(X, y, -w_star)
    with pytest.raises(ValueError, match="w_star must separate the data: .* > 0; got 0"):
        mistake_bound(np.eye(2), np.array([1, 1]), np.array([1.0, 0.0]))  # a sample is on it


# ---------------------------------------------------------------------------------------
# Adaline
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("perceptron-17")
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_adaline_converges_to_least_squares_below_the_largest_rate(rng, share):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    run = iterate(adaline(X, y, eta=share * max_eta(X)), "gradient_norm", 1e-9, max_iter=5000)
    assert run.converged
    np.testing.assert_allclose(run.state.x, np.linalg.solve(X.T @ X, X.T @ y), rtol=1e-9, atol=1e-9)
    assert (np.diff(run.history) <= 1e-12).all()
    assert run.state.objective == pytest.approx(np.sum((y - X @ run.state.x) ** 2) / 2)


@pytest.mark.claims("perceptron-17")
def test_adaline_diverges_above_the_largest_rate(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    costs = [step.objective for step in islice(adaline(X, y, eta=1.01 * max_eta(X)), 2000)]
    assert costs[-1] > 1e6 * costs[0]


@pytest.mark.claims("perceptron-17")
def test_lms_increments_average_to_the_descent_direction(rng):
    X, y, w, eta, h = rng.normal(size=(30, 4)), rng.normal(size=30), rng.normal(size=4), 0.1, 1e-6
    after = [list(islice(lms(X[[i]], y[[i]], w, eta=eta), 2))[1] for i in range(30)]
    steps = [state.theta - w for state in after]

    def cost(w):
        return sum((label - w @ x) ** 2 for x, label in zip(X, y, strict=True)) / 60

    gradient = [(cost(w + h * e) - cost(w - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(np.mean(steps, axis=0) / eta, np.negative(gradient), rtol=1e-6)
    _, stepped = islice(adaline(X, y, w, eta=eta), 2)
    np.testing.assert_allclose((w - stepped.x) / (30 * eta), gradient, rtol=1e-6)


@pytest.mark.claims("perceptron-17")
def test_lms_stays_near_least_squares_the_nearer_the_smaller_eta(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    exact = np.linalg.solve(X.T @ X, X.T @ y)

    def distance(eta):
        states = list(islice(lms(X, y, eta=eta, rng=np.random.default_rng(0)), 400))
        return np.mean([np.linalg.norm(state.theta - exact) for state in states[200:]])

    far, near = distance(0.04), distance(0.01)
    assert 0.001 < near < far / 1.7 < 0.2  # the radius shrinks as sqrt(eta) or faster


@pytest.mark.claims("perceptron-17")
def test_least_squares_can_miss_what_the_perceptron_separates():
    X, y = TWO_CLASSES
    neuron, rule = Adaline(tol=1e-9).fit(X, y), Perceptron().fit(X, y)
    exact = np.linalg.lstsq(augment(X), y, rcond=None)[0]
    np.testing.assert_allclose([*neuron.intercept_, *neuron.coef_[0]], exact, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(X[neuron.predict(X) != y], [[3, -1]])
    assert rule.score(X, y) == 1.0


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def test_three_classes_are_three_neurons(rng):
    centers = np.array([[0.0, 6.0], [5.0, -4.0], [-5.0, -4.0]])
    X, y = np.repeat(centers, 20, axis=0) + rng.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    model = Perceptron().fit(X, y)
    assert model.coef_.shape == (3, 2) and model.score(X, y) == 1.0
    second = Perceptron().fit(X, np.where(y == "b", 1, 0))
    np.testing.assert_array_equal(model.coef_[1], second.coef_[0])


def test_one_neuron_that_does_not_converge_is_told_though_the_others_do():
    X, y = np.array([[-1.0], [0.0], [1.0]]), ["left", "middle", "right"]
    with pytest.warns(ConvergenceWarning, match="Perceptron stopped after 20 iterations"):
        model = Perceptron(max_iter=20).fit(X, y)
    left, middle, right = (len(history) for history in model.history_)
    assert not model.converged_ and model.n_iter_ == 20 == middle - 1 > max(left, right)


def test_another_seed_is_another_order_and_no_shuffle_is_none(rng):
    X, y, _ = separable(rng)
    assert Perceptron().random_state == 0  # scikit-learn's default: the same fit every time
    first, other, plain = (
        Perceptron(**how).fit(X, y)
        for how in ({"random_state": 1}, {"random_state": 2}, {"shuffle": False})
    )
    assert not np.array_equal(first.coef_, other.coef_)
    *_, last = perceptron(augment(X), y)
    np.testing.assert_array_equal([*plain.intercept_, *plain.coef_[0]], last.w)


def test_eta0_is_the_learning_rate(rng):
    X, y, _ = separable(rng)
    np.testing.assert_array_equal(
        Perceptron(eta0=0.25).fit(X, y).coef_, Perceptron().fit(X, y).coef_ / 4
    )
    A, halved = augment(X), max_eta(augment(X)) / 2
    for eta0, eta in ((None, halved), (1e-3, 1e-3)):
        model = Adaline(eta0=eta0).fit(X, y)
        J = [state.objective for state in islice(adaline(A, y, eta=eta), len(model.history_[0]))]
        np.testing.assert_allclose(model.history_[0], J, rtol=1e-12)


def test_without_an_intercept_the_weights_are_those_of_the_samples_as_they_are(rng):
    X, y, _ = separable(rng)
    model = Perceptron(fit_intercept=False, shuffle=False).fit(X, y)
    *_, last = perceptron(X, y)
    assert model.intercept_ == 0
    np.testing.assert_array_equal(model.coef_[0], last.w)


def test_history_is_the_loss_at_the_end_of_every_pass_and_starts_at_its_minimum(rng):
    X, y, _ = separable(rng)
    model = Perceptron(fit_intercept=False, shuffle=False).fit(X, y)
    losses = [np.sum(np.maximum(0, -y * (X @ state.w))) for state in perceptron(X, y)]
    np.testing.assert_allclose(model.history_[0], losses, rtol=1e-12, atol=1e-12)
    assert losses[0] == losses[-1] == 0 < max(losses)
    assert model.converged_ and model.n_iter_ == len(losses) - 1


def test_a_mistake_is_found_wherever_it_is():
    for place in range(200):
        y = np.where(np.arange(200) == place, -1.0, 1.0)
        ((i, w),) = sweep(np.ones((200, 1)), y, np.array([9.0]))
        assert (i, w.tolist()) == (place, [8.0])


def test_sweep_over_many_samples_is_the_loop_with_the_rule_written_out(rng):
    X, y = rng.normal(size=(3000, 4)), rng.choice([-1.0, 1.0], size=3000)
    y[:2900] = np.sign(X[:2900] @ np.ones(4))  # mistakes in the last 100 alone
    wrong, weights = zip(*sweep(X, y, np.ones(4), eta=0.1), strict=True)
    literal, expected = np.ones(4), []
    for i in range(3000):
        if y[i] * (literal @ X[i]) <= 0:
            literal, expected = literal + 0.1 * y[i] * X[i], [*expected, i]
    assert list(wrong) == expected and wrong[0] >= 2900
    np.testing.assert_allclose(weights[-1], literal, rtol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1, 0.5])
def test_sweep_makes_the_updates_of_the_loop_however_dense_the_mistakes_are(rng, noise):
    X = rng.integers(-9, 10, size=(2000, 5)).astype(float)  # whole numbers: no rounding errors
    y = np.where(X @ np.arange(-2, 3) > 0, 1, -1) * rng.choice([1, -1], 2000, p=[1 - noise, noise])
    order, start = rng.permutation(2000), np.arange(-2.0, 3.0)
    literal, w = [], start
    for i in order:
        if y[i] * (w @ X[i]) <= 0:
            w = w + 2 * y[i] * X[i]
            literal.append((i, w.tolist()))
    assert [(i, w.tolist()) for i, w in sweep(X, y, start, eta=2.0, order=order)] == literal
    assert len(literal) > 0


def test_training_gives_up_where_mistakes_stay_as_many(rng):
    X, y = rng.normal(size=(3000, 5)), rng.choice(["a", "b"], size=3000)  # nothing to learn
    advice = "mistakes = .* > 0: .* or n_iter_no_change only if a hyperplane separates"
    with pytest.warns(ConvergenceWarning, match=advice):
        model = Perceptron(n_iter_no_change=4).fit(X, y)
    assert not model.converged_ and model.n_iter_ < 100
    twice = np.repeat([[1.0, 2.0]], 4, axis=0)  # equal samples with different labels
    with pytest.warns(ConvergenceWarning):
        assert Perceptron().fit(twice, ["a", "b", "a", "b"]).n_iter_ < 110


@pytest.mark.parametrize("wrong", [{"eta0": -1}, {"eta0": "1"}, {"max_iter": 0}, {"max_iter": 2.5}])
@pytest.mark.parametrize("estimator", [Perceptron, Adaline])
def test_hyperparameters_out_of_range_are_refused(estimator, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} must be .*; got {value!r}"):
        estimator(**wrong).fit(*TWO_CLASSES)


def test_four_mistakes_on_the_irises_within_the_bound():
    iris = load_iris()
    two = iris.y != "virginica"
    A, y = augment(iris.X[two][:, 2:]), np.where(iris.y[two] == "setosa", 1.0, -1.0)
    *_, last = updates(A, y)
    assert last.made == 4 and min(y * (A @ last.w)) > 0
    assert last.made <= mistake_bound(A, y, last.w)
    assert Perceptron().fit(iris.X[two], iris.y[two]).score(iris.X[two], iris.y[two]) == 1.0


# ---------------------------------------------------------------------------------------
# The lecture figure
# ---------------------------------------------------------------------------------------


@pytest.fixture
def drawn():
    from matplotlib.figure import Figure

    from figures.perceptron import lecture_set, perceptron_at_work

    left, right = Figure().subplots(1, 2)
    perceptron_at_work(left, right)
    X, y, w_star = lecture_set()
    return left, right, X, y, w_star


@pytest.mark.claims("perceptron-16")
def test_last_boundary_drawn_separates_and_the_first_does_not(drawn):
    left, _, X, y, _ = drawn
    boundaries = [line for line in left.lines if hasattr(line, "get_xy1")]

    def side(line):
        (x0, y0), (x1, y1) = line.get_xy1(), line.get_xy2()
        return np.sign((x1 - x0) * (X[:, 1] - y0) - (y1 - y0) * (X[:, 0] - x0)) * y

    assert len(boundaries) == len(mistakes_of(X, y))
    assert len(set(side(boundaries[-1]))) == 1
    assert len(set(side(boundaries[0]))) == 2
    points = [line.get_xydata() for line in left.lines if not hasattr(line, "get_xy1")]
    np.testing.assert_array_equal(np.vstack(points), np.vstack([X[y > 0], X[y < 0]]))


@pytest.mark.claims("perceptron-16")
def test_strip_drawn_is_as_wide_as_twice_the_margin_and_empty(drawn):
    left, _, X, _, w_star = drawn
    (strip,) = left.patches
    across = strip.get_xy() @ w_star / np.linalg.norm(w_star)
    assert np.ptp(across) == pytest.approx(2 * margin(X, w_star))
    assert (np.abs(X @ w_star) >= across.max() - 1e-9).all()
    assert left.get_xlim()[1] < 10  # the strip runs out of the picture without widening it


@pytest.mark.claims("perceptron-16")
def test_path_drawn_stays_in_the_lens_that_closes_at_the_bound(drawn):
    _, right, X, y, w_star = drawn
    most, least, path = right.lines[:3]
    k, squared = path.get_data()
    np.testing.assert_array_equal(k, np.arange(len(mistakes_of(X, y)) + 1))
    v, M = (y * (X @ w_star)).min(), (X**2).sum(axis=1).max()
    np.testing.assert_allclose(most.get_ydata(), most.get_xdata() * M)
    np.testing.assert_allclose(least.get_ydata(), least.get_xdata() ** 2 * v**2 / (w_star @ w_star))
    assert (squared <= k * M + 1e-9).all()
    assert (squared >= k**2 * v**2 / (w_star @ w_star) - 1e-9).all()
    (bound,) = {x for x, _ in right.collections[-1].get_segments()[0]}
    assert bound == pytest.approx(mistake_bound(X, y, w_star))
    assert bound * M == pytest.approx(bound**2 * v**2 / (w_star @ w_star))
