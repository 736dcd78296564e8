"""The perceptron chapter, in the order of its module: each function by a second route."""

from itertools import islice, product

import numpy as np
import pytest
from checks import differences, panels

from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.linear_regression import augment, lms
from mlnotes.logistic_regression import geometric_margin
from mlnotes.perceptron import (
    Adaline,
    Perceptron,
    adaline,
    adaline_max_eta,
    decision,
    is_mistake,
    linear_classify,
    loss_gradient,
    margin,
    mistake_bound,
    perceptron,
    perceptron_loss,
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


def by_the_book(X, y, eta=1.0, wrong=lambda yf: yf <= 0, passes=1000, rng=None):
    """REP's listing with its loops and conditions put back, w and b apart: all (w, b, i)."""
    w, b, path = np.zeros(X.shape[1]), 0.0, []
    for _ in range(passes):
        m = 0
        for i in range(len(X)) if rng is None else rng.permutation(len(X)):
            if wrong(y[i] * (sum(w * X[i]) + b)):
                w, b, m = w + eta * y[i] * X[i], b + eta * y[i], m + 1
                path.append((w, b, i))
        if m == 0:
            break
    return path


def mistakes_of(X, y, w0=0.0, **options):
    """The samples of all mistakes, in order."""
    return np.array([update.sample for update in updates(X, y, w0, **options)][1:])


# --- The linear classifier and its loss ------------------------------------------------


@pytest.mark.claims("perceptron-01")
def test_linear_classify_is_right_iff_there_is_no_mistake(rng):
    X, w, b = rng.normal(size=(200, 4)), rng.normal(size=4), 0.3
    y, f = rng.choice([-1.0, 1.0], size=200), X @ w + b
    np.testing.assert_array_equal(linear_classify(X, w, b), np.sign(f))
    np.testing.assert_array_equal(is_mistake(y, decision(X, w, b)), np.sign(f) != y)
    on_it = np.array([[1.0, 1.0]]), np.array([2.0, 1.0]), -3.0  # a mistake for both labels
    assert linear_classify(*on_it) == -1 and is_mistake(np.array([-1, 1]), decision(*on_it)).all()


@pytest.mark.claims("perceptron-03")
def test_perceptron_loss_is_piecewise_and_convex(rng):
    X, y = rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], size=50)
    u, v, t = rng.normal(size=(3, 100)), rng.normal(size=(3, 100)), rng.uniform(size=100)

    def total(w):
        return perceptron_loss(y[:, None], decision(X, w)).sum(axis=0)

    yf = y[:, None] * (X @ u)
    losses = perceptron_loss(y[:, None], X @ u)
    np.testing.assert_array_equal(losses, np.where(yf > 0, 0.0, np.abs(yf)))
    assert (total(t * u + (1 - t) * v) <= t * total(u) + (1 - t) * total(v) + 1e-12).all()


@pytest.mark.claims("perceptron-03", "perceptron-04")
def test_loss_gradient_is_the_slope_of_the_loss_and_the_printed_one_is_not(rng):
    X, y = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], size=40)
    theta = np.array([0.2, *rng.normal(size=3)])
    f = decision(X, theta[1:], theta[0])
    assert np.abs(f).min() > 1e-4  # no kink nearby
    numeric = differences(lambda theta: perceptron_loss(y, decision(X, theta[1:], theta[0])), theta)
    dw, db = loss_gradient(X, y, f)
    np.testing.assert_allclose(np.column_stack([db, dw]).T, numeric, rtol=1e-6, atol=1e-8)
    right = y * f > 0
    assert 0 < right.sum() < 40 and not numeric[:, right].any()
    dw, db = loss_gradient(X, y, np.zeros(40))  # at the kink: REP's, printed without a condition
    np.testing.assert_array_equal(dw, -y[:, None] * X)
    np.testing.assert_array_equal(db, -y)
    path = by_the_book(X, y, wrong=lambda yf: True, passes=50)  # never comes to rest
    w = np.array([w for w, _, _ in path])[len(X) - 1 :: len(X)]
    np.testing.assert_allclose(np.diff(w, axis=0), np.tile(y @ X, (49, 1)), rtol=1e-9)


@pytest.mark.claims("perceptron-05")
def test_perceptron_loss_zero_does_not_mean_separated(rng):
    X, y, _ = separable(rng)
    f = decision(X, np.zeros(3))
    assert perceptron_loss(y, f).sum() == 0 and is_mistake(y, f).all()
    assert by_the_book(X, y, wrong=lambda yf: yf < 0) == []  # REP's descent: w = 0 for ever
    assert not is_mistake(y, decision(X, list(perceptron(X, y))[-1].w)).any()


# --- The algorithm ---------------------------------------------------------------------


@pytest.mark.claims("perceptron-02", "perceptron-06")
@pytest.mark.parametrize("eta, seed", [(1.0, None), (0.3, 5)])
def test_perceptron_on_augmented_samples_is_the_book_with_w_and_b_apart(rng, eta, seed):
    X, y, _ = separable(rng, n=300)
    A, (one, two) = augment(X), (seed and np.random.default_rng(seed) for _ in range(2))
    path, (_, *made) = by_the_book(X, y, eta, rng=one), updates(A, y, eta=eta, rng=two)
    np.testing.assert_array_equal([u.sample for u in made], [i for _, _, i in path])
    W = np.array([[b, *w] for w, b, _ in path])
    np.testing.assert_allclose([u.w for u in made], W, rtol=1e-12, atol=1e-12)
    i = [u.sample for u in made]  # an update raises y f by eta (||x||^2 + 1)
    gain = y[i] * np.sum(np.diff(W, axis=0, prepend=0) * A[i], axis=1)
    np.testing.assert_allclose(gain, eta * (np.sum(X[i] ** 2, axis=1) + 1), rtol=1e-9)


@pytest.mark.claims("perceptron-06", "perceptron-13")
def test_perceptron_and_updates_are_one_run_to_the_first_pass_without_mistakes():
    for seed in range(100):
        X, y, w_star = separable(np.random.default_rng(seed), d=2 + seed % 4)
        first, *passes = perceptron(X, y, rng=np.random.default_rng(2))
        start, *made = updates(X, y, rng=np.random.default_rng(2))
        assert (start.sample, start.made) == (-1, 0) and not start.w.any()
        assert first.mistakes == np.inf and not first.w.any() and len(first.wrong) == 0
        assert [s.mistakes == 0 for s in passes] == [False] * (len(passes) - 1) + [True]
        i = np.concatenate([state.wrong for state in passes])
        np.testing.assert_array_equal([u.sample for u in made], i)
        np.testing.assert_array_equal([u.made for u in made], 1 + np.arange(len(i)))
        np.testing.assert_array_equal(made[-1].w, passes[-1].w)
        losses = [np.sum(np.maximum(0, -y * (X @ s.w))) for s in passes]
        np.testing.assert_allclose([s.objective for s in passes], losses, rtol=1e-12)
        assert not is_mistake(y, decision(X, passes[-1].w)).any()
        assert len(i) <= mistake_bound(X, y, w_star)


@pytest.mark.claims("perceptron-02")
def test_perceptron_without_the_constant_cannot_leave_the_origin():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), np.array([-1.0, -1.0, 1.0])
    assert min(state.mistakes for state in islice(perceptron(X, y), 500)) > 0
    assert list(perceptron(augment(X), y))[-1].mistakes == 0


@pytest.mark.claims("perceptron-06")
def test_perceptron_makes_the_mistakes_of_prnn_for_labels_zero_and_one(rng):
    X, y, _ = separable(rng)
    w, mistakes, before = np.zeros(3), [], None
    while len(mistakes) != before:  # PRNN 5, as printed
        before = len(mistakes)
        for i, (x, label) in enumerate(zip(X, (y + 1) / 2, strict=True)):
            if label == 1 and w @ x <= 0:
                w, mistakes = w + x, [*mistakes, i]
            elif label == 0 and w @ x >= 0:
                w, mistakes = w - x, [*mistakes, i]
    np.testing.assert_array_equal(mistakes, mistakes_of(X, y))


@pytest.mark.claims("perceptron-08")
def test_eta_only_rescales_w_from_a_zero_start(rng):
    X, y, _ = separable(rng)
    plain, small = list(updates(X, y)), list(updates(X, y, eta=0.01))
    assert [u.sample for u in small] == [u.sample for u in plain]
    np.testing.assert_allclose(small[-1].w, 0.01 * plain[-1].w, rtol=1e-12, atol=1e-12)
    w0 = np.array([5.0, -5.0, 5.0])  # from another start it matters
    assert not np.array_equal(mistakes_of(X, y, w0, eta=0.01), mistakes_of(X, y, w0))


@pytest.mark.claims("perceptron-09")
def test_perceptron_never_ends_on_xor_and_its_weights_stay_bounded():
    passes = list(islice(perceptron(augment(XOR[0]), XOR[1]), 1000))
    assert min(state.mistakes for state in passes) > 0
    assert max(np.linalg.norm(state.w) for state in passes) < 5


@pytest.mark.claims("perceptron-10")
def test_perceptron_on_flipped_samples_makes_the_same_run(rng):
    X, y, w_star = separable(rng)
    flipped = y[:, None] * X
    assert (flipped @ w_star > 0).all()
    for a, b in zip(perceptron(X, y), perceptron(flipped, np.ones(len(y))), strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        np.testing.assert_array_equal(a.wrong, b.wrong)


# --- How many mistakes -----------------------------------------------------------------


@pytest.mark.claims("perceptron-11")
def test_margin_is_the_distance_to_the_nearest_sample_and_has_its_unit(rng):
    X, y, w = separable(rng)
    feet = X - ((X @ w + 0.7) / (w @ w))[:, None] * w
    np.testing.assert_allclose(feet @ w, -0.7, rtol=1e-12)
    distances = np.linalg.norm(X - feet, axis=1)
    assert margin(X, w, 0.7) == pytest.approx(distances.min(), rel=1e-12)
    assert margin(X, w) == geometric_margin(X, y, w) >= 0.1
    assert margin(np.eye(2), np.array([1.0, 0.0])) == 0  # a sample on the hyperplane
    radius = np.linalg.norm(X, axis=1).max()  # into the unit ball, as REP has it
    assert margin(X / radius, 5 * w) == pytest.approx(margin(X, w) / radius, rel=1e-12)
    np.testing.assert_array_equal(mistakes_of(X / radius, y), mistakes_of(X, y))


@pytest.mark.claims("perceptron-12", "perceptron-14")
@pytest.mark.parametrize("w0", [0.0, 5.0])
def test_updates_grow_along_the_separator_and_slowly_in_length(w0):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y, w_star = separable(rng, gamma=0.05)
        w_star, start = 3 * w_star, w0 * rng.normal(size=3)
        i, W = mistakes_of(X, y, start), np.array([u.w for u in updates(X, y, start)])
        v, M, k = np.min(y * (X @ w_star)), np.max(np.sum(X**2, axis=1)), np.arange(len(W))
        along, squared = W @ w_star, np.sum(W**2, axis=1)
        assert (np.diff(along) >= v - 1e-12).all()
        assert (np.diff(squared) <= np.sum(X[i] ** 2, axis=1) + 1e-9).all()
        pulled, longest = start @ w_star + k * v, start @ start + k * M
        assert (pulled <= along + 1e-9).all()
        assert (along <= np.sqrt(squared) * np.linalg.norm(w_star) + 1e-9).all()
        assert (squared <= longest + 1e-9).all()
        assert (np.maximum(pulled, 0) ** 2 <= w_star @ w_star * longest + 1e-9).all()


@pytest.mark.claims("perceptron-14")
def test_mistake_bound_is_that_of_prnn_and_that_of_rep(rng):
    X, y, w_star = separable(rng)
    M, v = max(x @ x for x in X), min(label * (x @ w_star) for x, label in zip(X, y, strict=True))
    rep = 1 / margin(X / np.sqrt(M), w_star) ** 2
    for scale in (1.0, 1e-100, 1e100):  # the bound has no unit
        for bound in (mistake_bound(scale * X, y, w_star), mistake_bound(X, y, scale * w_star)):
            assert bound == pytest.approx(w_star @ w_star * M / v**2, rel=1e-12)
            assert bound == pytest.approx(rep, rel=1e-12)


@pytest.mark.claims("perceptron-14")
def test_mistake_bound_is_smallest_for_the_widest_separator(rng):
    X, y, _ = separable(rng, d=2)
    turn = np.linspace(0, 2 * np.pi, 5000)
    separators = [w for w in np.column_stack([np.cos(turn), np.sin(turn)]) if min(y * (X @ w)) > 0]
    bounds = [mistake_bound(X, y, w) for w in separators]
    assert len(bounds) > 10 and min(bounds) >= len(mistakes_of(X, y))
    assert mistake_bound(np.eye(2), np.ones(2), np.array([1.0, 0.0])) == np.inf  # one is on it
    assert np.argmin(bounds) == np.argmax([margin(X, w) for w in separators])


@pytest.mark.claims("perceptron-15")
def test_mistake_bound_from_another_start_holds_where_the_printed_one_fails(rng):
    X, y, w_star, w0 = np.array([[1.0]]), np.array([1.0]), np.array([1.0]), np.array([-5.0])
    assert mistake_bound(X, y, w_star) == 1 and len(mistakes_of(X, y, w0)) == 6
    assert mistake_bound(X, y, w_star, w0) == 11  # (k - 5)^2 <= 25 + k
    for seed in range(20):
        X, y, w_star = separable(np.random.default_rng(seed))
        w0 = rng.normal(scale=20, size=3)
        k = mistake_bound(X, y, 2 * w_star, w0)
        assert len(mistakes_of(X, y, w0)) <= k
        v, M = np.min(y * (X @ w_star)), np.max(np.sum(X**2, axis=1))
        assert (w0 @ w_star + k * v) ** 2 == pytest.approx(w0 @ w0 + k * M, rel=1e-9)  # its root
        assert (w0 @ w_star + 2 * k * v) ** 2 > w0 @ w0 + 2 * k * M  # and the largest one


# --- Adaline ---------------------------------------------------------------------------


@pytest.mark.claims("perceptron-17")
def test_adaline_converges_to_least_squares_below_the_largest_rate_alone(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    assert len(list(adaline(np.eye(2), np.array([1.0, -1.0]), eta=1.0))) == 2  # the gradient is 0
    eta = adaline_max_eta(X)
    for share in (0.3, 0.9):
        run = iterate(adaline(X, y, eta=share * eta), "gradient_norm", 1e-9, max_iter=5000)
        assert run.converged and (np.diff(run.history) <= 1e-12).all()
        np.testing.assert_allclose(run.state.x, np.linalg.solve(X.T @ X, X.T @ y), atol=1e-9)
        assert run.state.objective == pytest.approx(np.sum((y - X @ run.state.x) ** 2) / 2)
    costs = [step.objective for step in islice(adaline(X, y, eta=1.01 * eta), 2000)]
    assert costs[-1] > 1e6 * costs[0]


@pytest.mark.claims("perceptron-17")
def test_adaline_steps_against_the_gradient_which_lms_does_on_average(rng):
    X, y, w, eta = rng.normal(size=(30, 4)), rng.normal(size=30), rng.normal(size=4), 0.1
    gradient = differences(lambda w: np.sum((y - X @ w) ** 2) / 60, w)
    steps = [list(islice(lms(X[[i]], y[[i]], w, eta=eta), 2))[1].theta - w for i in range(30)]
    np.testing.assert_allclose(np.mean(steps, axis=0) / eta, -gradient, rtol=1e-6)
    _, stepped = islice(adaline(X, y, w, eta=eta), 2)
    np.testing.assert_allclose((w - stepped.x) / (30 * eta), gradient, rtol=1e-6)


@pytest.mark.claims("perceptron-17")
def test_adaline_can_miss_what_the_perceptron_separates():
    X, y = TWO_CLASSES
    neuron = Adaline(tol=1e-9).fit(X, y)
    exact = np.linalg.lstsq(augment(X), y, rcond=None)[0]
    np.testing.assert_allclose([*neuron.intercept_, *neuron.coef_[0]], exact, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(X[neuron.predict(X) != y], [[3, -1]])
    assert Perceptron().fit(X, y).score(X, y) == 1.0


# --- Estimators ------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_perceptron_estimator_runs_the_function(rng, fit_intercept):
    X, y, _ = separable(rng)
    model = Perceptron(shuffle=False, fit_intercept=fit_intercept).fit(X, y)
    states = list(perceptron(augment(X) if fit_intercept else X, y))[:-1]  # not the last pass
    theta = [*model.intercept_, *model.coef_[0]] if fit_intercept else model.coef_[0]
    np.testing.assert_array_equal(theta, states[-1].w)
    np.testing.assert_array_equal(model.history_[0], [state.objective for state in states])
    assert model.converged_ and model.n_iter_ == len(states) - 1
    assert fit_intercept or model.intercept_ == 0


def test_perceptron_estimator_has_a_neuron_per_class_and_tells_the_one_that_fails(rng):
    centers = np.array([[0.0, 6.0], [5.0, -4.0], [-5.0, -4.0]])
    X, y = np.repeat(centers, 20, axis=0) + rng.normal(size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    model = Perceptron().fit(X, y)
    assert model.coef_.shape == (3, 2) and model.score(X, y) == 1.0
    second = Perceptron().fit(X, np.where(y == "b", 1, 0))
    np.testing.assert_array_equal(model.coef_[1], second.coef_[0])
    assert not np.array_equal(Perceptron(random_state=2).fit(X, y).coef_, model.coef_)
    with pytest.warns(ConvergenceWarning, match="Perceptron stopped after 15 iterations"):
        line = Perceptron(max_iter=15).fit([[-1.0], [0.0], [1.0]], ["left", "middle", "right"])
    left, middle, right = (len(history) for history in line.history_)
    assert not line.converged_ and line.n_iter_ == 15 == middle - 1 > max(left, right)


@pytest.mark.claims("perceptron-09")
@pytest.mark.parametrize("n, patience", [(11, 7), (300, 1)])  # 11 samples: 99 updates come first
def test_perceptron_estimator_keeps_the_best_weights_and_gives_up_in_words(rng, n, patience):
    X, y = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], size=n)  # nothing to learn
    advice = f"because {patience} passes with 100 updates .* n_iter_no_change only if a hyperplane"
    with pytest.warns(ConvergenceWarning, match=advice) as caught:
        model = Perceptron(n_iter_no_change=patience, shuffle=False).fit(X, y)
    assert len(caught) == 1 and caught[0].filename == __file__
    A = augment(X)
    states = list(islice(perceptron(A, y), model.n_iter_ + 1))
    wrong = [np.sum(y * (A @ state.w) <= 0) for state in states]
    best = int(np.argmin(wrong))  # the first of the best
    made = np.cumsum([len(state.wrong) for state in states[best + 1 :]])
    assert made[-2] < 100 <= made[-1] if n == 11 else len(made) == patience
    assert not model.converged_ and np.sum(model.predict(X) != y) == wrong[best]
    np.testing.assert_array_equal([*model.intercept_, *model.coef_[0]], states[best].w)


def test_perceptron_estimator_learns_and_with_every_seed():
    for d, seed in product((2, 3), range(50)):
        X = np.array(list(product([0.0, 1.0], repeat=d)))
        assert Perceptron(random_state=seed).fit(X, X.all(axis=1)).converged_


def test_eta0_is_the_learning_rate(rng):
    X, y, _ = separable(rng)
    np.testing.assert_array_equal(
        Perceptron(eta0=0.25).fit(X, y).coef_, Perceptron().fit(X, y).coef_ / 4
    )
    A = augment(X)
    A = A / np.sqrt(np.mean(A**2, axis=0))  # what Adaline divides its features by
    for eta0, eta in ((None, 1 / np.linalg.eigvalsh(A.T @ A)[-1]), (1e-3, 1e-3)):
        model = Adaline(eta0=eta0).fit(X, y)
        J = [state.objective for state in islice(adaline(A, y, eta=eta), len(model.history_[0]))]
        np.testing.assert_allclose(model.history_[0], J, rtol=1e-9)


def test_adaline_does_not_depend_on_the_unit_of_a_feature(rng):
    X, y, _ = separable(rng)
    units, model = 2.0 ** np.array([-60, 0, 60]), Adaline().fit(X, y)
    np.testing.assert_array_equal(Adaline().fit(X * units, y).coef_ * units, model.coef_)
    flat = np.column_stack([X, np.zeros(len(X))])
    assert model.converged_ and Adaline().fit(flat, y).coef_[0, -1] == 0


# --- The lecture figure ----------------------------------------------------------------


@pytest.mark.claims("perceptron-16")
def test_figure_has_a_boundary_per_mistake_and_a_path_that_ends_before_the_bound():
    from figures.perceptron import lecture_set, perceptron_at_work

    left, right = panels(perceptron_at_work, columns=2)
    X, y, w_star = lecture_set()
    *boundaries, last = (line for line in left.lines if hasattr(line, "get_xy1"))
    assert len(boundaries) + 1 == len(mistakes_of(X, y))
    (x0, y0), (x1, y1) = last.get_xy1(), last.get_xy2()
    sides = np.sign((x1 - x0) * (X[:, 1] - y0) - (y1 - y0) * (X[:, 0] - x0)) * y
    assert len(set(sides)) == 1  # the last boundary separates
    (strip,) = left.patches
    across = strip.get_xy() @ w_star / np.linalg.norm(w_star)
    assert np.ptp(across) == pytest.approx(2 * margin(X, w_star))
    (bound,) = {x for x, _ in right.collections[-1].get_segments()[0]}
    assert bound == pytest.approx(mistake_bound(X, y, w_star)) and bound > len(boundaries) + 1
