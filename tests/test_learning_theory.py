"""The learning_theory chapter, in the order of its module: each statement by a second route."""

import re
from collections import Counter
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from checks import panels

from mlnotes.datasets import make_independent_labels
from mlnotes.decision_theory import absolute, empirical_risk, squared, zero_one
from mlnotes.learning_theory import (
    Box,
    Setting,
    all_labellings,
    best_threshold,
    box_error,
    box_realises,
    box_volume,
    concept_error,
    constant,
    deviation_probability,
    dichotomies,
    draw,
    erm,
    errors_on_targets,
    every_sample,
    expected_errors,
    generalisation_gap,
    half_space_realises,
    hoeffding,
    hoeffding_sample_size,
    inside,
    learn_conjunction,
    losses,
    majority,
    memoriser,
    nearest_neighbor,
    off_training_error,
    pac_sample_size,
    radon_labels,
    risk,
    satisfies,
    sauer_bound,
    shatters,
    sine_frequency,
    smallest_positive,
    threshold_realises,
    threshold_risk,
    tightest_box,
    uniform_gap,
    uniform_radius,
    vc_dimension,
    vc_radius,
    vc_sample_size,
)
from mlnotes.linear_regression import augment
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.optimization import closest_points

BITS = np.array([0, 1])
LEARNERS = memoriser, constant, majority, nearest_neighbor


def a_setting(rng, k=3, m=5, loss=zero_one):
    """A distribution without zeros on 2 x k pairs, and m functions to choose from."""
    P = rng.dirichlet(np.ones(2 * k)).reshape(2, k)
    return Setting(P, BITS, rng.integers(2, size=(m, k)), loss)


def thresholds_on_a_grid(k=21, noise=0.2, at=10):
    """The labels of x_j >= x_at on k equally likely points, flipped with probability `noise`."""
    right = (np.arange(k) >= at).astype(int)
    P = np.where(BITS[:, None] == right, 1 - noise, noise) / k
    return Setting(P, BITS, (np.arange(k) >= np.arange(k + 1)[:, None]).astype(int), zero_one)


def constants(values, grid, loss, P=None):
    """The class of constants, for a Y with these probabilities, or equal ones."""
    P = np.full(len(values), 1 / len(values)) if P is None else np.array(P)
    return Setting(P[:, None], np.asarray(values), np.asarray(grid)[:, None], loss)


def coin(q):
    """One function that errs with probability q."""
    return constants(BITS, [0], zero_one, [1 - q, q])


def within(frequency, probability, trials):
    """Whether a frequency in so many trials is within five standard errors of a probability."""
    return abs(frequency - probability) <= 5 * np.sqrt(probability * (1 - probability) / trials)


# --- The setting -----------------------------------------------------------------------


@pytest.mark.claims("learning_theory-03")
def test_losses_have_the_prediction_first():
    L = np.array([[0, 3], [1, 0]])  # L[prediction, target]: c_10 = 1, c_01 = 3
    threshold = L[1, 0] / (L[1, 0] + L[0, 1])

    def decides(f, y, L=L):
        return L[f, y]

    swapped = partial(decides, L=L.T)  # as L(y, h(x)) reads the same table
    for q in np.linspace(0.02, 0.98, 25):
        for loss, cut in (decides, threshold), (swapped, 1 - threshold), (zero_one, 0.5):
            assert risk(constants(BITS, BITS, loss, [1 - q, q])).argmin() == (q > cut)
    np.testing.assert_array_equal(losses(constants(BITS, BITS, decides))[:, :, 0], L)


@pytest.mark.claims("learning_theory-01")
def test_draw_gives_independent_samples_that_stand_in_for_the_distribution(rng):
    setting, n = a_setting(rng), 40_000
    counts = draw(setting._replace(P=setting.P * (1 + 5e-7)), n, size=3, rng=rng)  # a quadrature's
    assert (counts.sum(axis=(1, 2)) == n).all() and within(counts / n, setting.P, n).all()
    assert not np.array_equal(counts[0], counts[1])


def test_every_sample_is_there_with_its_probability(rng):
    setting, by_hand = a_setting(rng, k=2), Counter()
    counts, probability = every_sample(setting, 3)
    for pairs in product(range(4), repeat=3):  # in order, one pair after the other
        by_hand[tuple(np.bincount(pairs, minlength=4))] += np.prod(setting.P.ravel()[list(pairs)])
    assert len(counts) == len(by_hand) == 20
    for table, p in zip(counts, probability, strict=True):
        assert p == pytest.approx(by_hand[tuple(table.ravel())], abs=1e-14)
    counts, probability = every_sample(constants([7], [7], zero_one), 3)  # a single pair
    np.testing.assert_array_equal([counts.ravel(), probability], [[3], [1]])


def test_what_is_no_distribution_is_refused(rng):
    short = coin(0.5)._replace(P=np.array([[0.5], [0.49]]))
    for f in (risk, lambda s: draw(s, 2, rng=rng), lambda s: every_sample(s, 2)):
        with pytest.raises(ValueError, match="P must be >= 0 with the sum 1; .* the sum 0.99"):
            f(short)


# --- Risk and its estimate -------------------------------------------------------------


@pytest.mark.claims("learning_theory-02")
def test_risk_of_counts_is_the_mean_loss_of_the_sample(rng):
    setting = a_setting(rng)
    i, j = rng.integers(2, size=50), rng.integers(3, size=50)
    counts = np.zeros((2, 3), dtype=int)
    np.add.at(counts, (i, j), 1)
    by_sample = [empirical_risk(zero_one, h[j], i) for h in setting.H]
    empirical = risk(setting._replace(P=counts / 50))  # the risk under the empirical distribution
    many = risk(setting, np.stack([10 * counts, counts, counts[::-1]]))
    for R_n in (risk(setting, counts), empirical, *many[:2]):
        np.testing.assert_allclose(R_n, by_sample, rtol=1e-13, atol=1e-15)


@pytest.mark.claims("learning_theory-01", "learning_theory-05")
def test_erm_is_the_first_of_the_best_by_its_loss(rng):
    y = np.array([0.0, 1.0, 1.0, 4.0, 9.0])
    grid = np.linspace(0, 9, 901)
    for loss, best in (squared, y.mean()), (absolute, np.median(y)):
        assert grid[erm(constants(y, grid, loss), np.ones((5, 1)))] == pytest.approx(best)
    names = constants([0, 1, 2], BITS, zero_one)  # categories through the same code
    assert erm(names, np.array([[2], [3], [4]])) == 1
    x, y = rng.normal(size=12), rng.normal(size=12)
    slopes = np.linspace(-3, 3, 6001)
    lines = Setting(np.eye(12) / 12, y, slopes[:, None] * x, squared)  # sample i is at point i
    assert slopes[erm(lines, np.eye(12))] == pytest.approx(x @ y / (x @ x), abs=5.1e-4)
    H = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0]])  # 1 + 2 errors, 3 and 6
    counts = np.array([[1, 2, 3, 4], [0, 0, 0, 0]])  # 1/10 + 2/10 > 3/10 in floats
    for first in (H, H[[1, 0, 2]]):
        assert erm(Setting(np.full((2, 4), 1 / 8), BITS, first, zero_one), counts) == 0


@pytest.mark.claims("learning_theory-04", "learning_theory-06")
@pytest.mark.parametrize("n", [1, 4])
def test_generalisation_gap_has_mean_zero_for_a_fixed_rule_and_not_for_the_chosen_one(rng, n):
    table = np.array([[0.1, 0.8], [0.7, 0.2]])
    setting = a_setting(rng, k=2, loss=lambda f, y: table[f, y])._replace(H=all_labellings(2))
    counts, probability = every_sample(setting, n)
    G, R = generalisation_gap(setting, counts), risk(setting)
    np.testing.assert_allclose(G, R - risk(setting, counts), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(probability @ G, 0, atol=1e-13)  # R_n is unbiased
    variance = losses(setting).reshape(4, -1) ** 2 @ setting.P.ravel() - R**2
    np.testing.assert_allclose(probability @ G**2, variance / n, rtol=1e-13, atol=1e-13)
    assert probability @ G[np.arange(len(G)), erm(setting, counts)] > 0.01


@pytest.mark.claims("learning_theory-08")
def test_generalisation_gap_of_what_was_learnt_does_not_vanish(rng):
    for n in (10, 100, 1000):
        T = make_independent_labels(n, rng=rng)
        learnt = KNeighborsClassifier(n_neighbors=1).fit(T.X, T.y)
        x = rng.normal(size=(200, 2))  # each label is -1 or +1 with probability 1/2
        R = np.mean([zero_one(learnt.predict(x), label) for label in (-1, 1)])
        assert learnt.score(T.X, T.y) == 1 and R == 0.5  # the gap, printed to vanish, is 1/2
    fixed = [deviation_probability(n, 0.5, 0.1) for n in (10, 1000)]
    assert fixed[1] < 1e-9 < fixed[0]
    mean_gap = []
    for k, n in ((1, 4), (2, 4), (3, 4), (3, 2), (3, 1)):  # all 2^k functions, fair labels
        setting = Setting(np.full((2, k), 0.5 / k), BITS, all_labellings(k), zero_one)
        counts, probability = every_sample(setting, n)
        mean_gap.append(probability @ generalisation_gap(setting, counts).max(axis=1))
    assert mean_gap == sorted(mean_gap)  # it shrinks only once n outgrows the domain
    assert mean_gap[-1] == pytest.approx(0.5)
    assert mean_gap[0] == pytest.approx(0.5 - (2 * 0 + 8 * 1 / 4 + 6 * 2 / 4) / 16)


@pytest.mark.claims("learning_theory-09")
def test_generalisation_gap_vanishes_at_a_rate_that_depends_on_the_distribution():
    N, strayed = 40, []
    for q in (0.5, 1 / N):  # a loss of 1/q with probability q: mean 1 for every q
        rare = constants([0, 1 / q], [0.0], absolute, [1 - q, q])
        assert risk(rare)[0] == pytest.approx(1)
        counts, probability = every_sample(rare, N)
        G = generalisation_gap(rare, counts)[:, 0]
        assert probability @ G**2 == pytest.approx((1 - q) / q / N)
        assert probability[np.isclose(G, 1)].sum() == pytest.approx((1 - q) ** N, abs=1e-12)
        strayed.append(probability[np.abs(G) > 0.5].sum())
    assert strayed[0] < 0.002 and strayed[1] > 0.6


@pytest.mark.claims("learning_theory-16")
def test_uniform_gap_bounds_both_errors_of_erm_which_is_consistent_over_thresholds_alone(rng):
    setting, noise = thresholds_on_a_grid(noise=0.2), 0.2
    R, learnt, believed = risk(setting), [], []
    for n in (20, 200, 2000, 20_000):
        counts = draw(setting, n, size=300, rng=rng)
        sup, one = uniform_gap(setting, counts), np.abs(generalisation_gap(setting, counts))[:, 0]
        excess = R[erm(setting, counts)] - noise
        error = np.abs(risk(setting, counts).min(axis=1) - noise)
        assert (excess <= 2 * sup + 1e-12).all() and (error <= sup + 1e-12).all()
        assert n > 200 or (excess > 2 * one + 1e-12).any()  # one function's gap is not a bound
        learnt.append(np.quantile(excess, 0.95))
        believed.append(np.quantile(error, 0.95))
    assert learnt == sorted(learnt, reverse=True) and learnt[0] > 0.1 > 1e-9 > learnt[-1]
    assert believed == sorted(believed, reverse=True) and believed[-1] < 0.01 < 0.1 < believed[0]
    x = rng.random((2000, 1))  # the class of all functions has a member without errors
    y = (x[:, 0] >= 0.5) ^ (rng.random(2000) < noise)
    memory = KNeighborsClassifier(n_neighbors=1).fit(x, y.astype(int))
    assert memory.score(x, y.astype(int)) == 1  # R_n = 0 for every n, and R(h*) = 0.2
    grid = np.linspace(0, 1, 4001)[:, None]
    wrong = np.mean(memory.predict(grid) != (grid[:, 0] >= 0.5))
    assert noise + (1 - 2 * noise) * wrong == pytest.approx(2 * noise * (1 - noise), abs=0.03)


# --- Deviations of a mean --------------------------------------------------------------


@pytest.mark.claims("learning_theory-07")
def test_deviation_probability_of_a_fixed_rule_vanishes():
    for n, p, t in ((1, 0.3, 0.1), (16, 0.3, 0.1), (100, 0.29, 0.01)):  # 100 p is rounded below 29
        counts, probability = every_sample(coin(p), n)
        G = generalisation_gap(coin(p), counts)[:, 0]
        assert np.sqrt(probability @ G**2) == pytest.approx(np.sqrt(p * (1 - p) / n), rel=1e-11)
        strayed = np.abs(counts[:, 1, 0] - n * p) > n * t + 1e-9
        exact = probability[strayed].sum()
        assert deviation_probability(n, p, t) == pytest.approx(exact, abs=1e-12)
    beyond = [deviation_probability(n, 0.3, 0.05) for n in (100, 400, 1600, 6400)]
    assert (np.diff(beyond) < 0).all() and beyond[-1] < 1e-15 and beyond[0] > 0.2
    assert deviation_probability(10, 0.0, 0.1) == 0 and deviation_probability(3, 0.5, 1.0) == 0


@pytest.mark.claims("learning_theory-10")
def test_hoeffding_is_never_exceeded_by_a_loss_between_0_and_1():
    tighter = 0
    for n, p, t in product(range(1, 201, 3), np.arange(0.1, 0.95, 0.1), (0.05, 0.1, 0.2)):
        exact = deviation_probability(n, p, t)
        assert exact <= hoeffding(n, t)
        tighter += exact > 2 * np.exp(-4 * n * t**2)  # a bound without the right constant fails
    assert tighter > 100
    assert hoeffding(50, 0.1) == pytest.approx(2 * np.exp(-1))

    def stray(top, n=10, t=0.4):  # a loss of 0 or `top`, each half of the time
        setting = constants([0, top], [0.0], absolute)
        counts, probability = every_sample(setting, n)
        return probability[np.abs(generalisation_gap(setting, counts)[:, 0]) > t].sum()

    assert stray(0.5) == 0 < stray(1.0) <= hoeffding(10, 0.4) < stray(4.0)


def test_hoeffding_sample_size_and_uniform_radius_invert_the_bound_of_a_class(rng):
    setting = a_setting(rng, k=3, m=6)
    counts, probability = every_sample(setting, 8)
    each = [probability @ (np.abs(generalisation_gap(setting, counts)) > t) for t in (0.1, 0.6)]
    for t, alone in zip((0.1, 0.6), each, strict=True):
        together = probability[uniform_gap(setting, counts) > t].sum()
        assert alone.max() <= together <= alone.sum() + 1e-12
        assert together <= hoeffding(8, t, m=6) == 6 * hoeffding(8, t)
    for t, delta, m in product((0.05, 0.2), (0.01, 0.3), (1, 7, 10**6)):
        n = hoeffding_sample_size(t, delta, m)
        assert hoeffding(n, t, m) <= delta < hoeffding(n - 1, t, m)
        assert hoeffding(n, uniform_radius(n, delta, m), m) == pytest.approx(delta)
    n = hoeffding_sample_size(0.1, 0.05, 2**2000)  # more functions than a float can hold
    assert n == np.ceil((2001 * np.log(2) - np.log(0.05)) / 0.02)
    assert uniform_radius(n, 0.05, 2**2000) == pytest.approx(0.1, rel=1e-4)


@pytest.mark.claims("learning_theory-11")
def test_nearest_neighbor_tuned_to_the_sample_errs_more_than_a_constant():
    q, n, points = 0.2, 5, 9  # nine places on a line, five of them in the sample
    x, expected = np.array([0, 2, 3, 6, 8]), 0.0
    for y in all_labellings(n):
        h = nearest_neighbor(x, y, points)
        assert (h[x] == y).all()  # no training error
        error = np.mean(np.where(h == 1, 1 - q, q))
        expected += error * q ** y.sum() * (1 - q) ** (n - y.sum())
    assert expected == pytest.approx(2 * q * (1 - q)) and expected > q


# --- Concepts --------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-12", "datasets-07")
def test_concept_error_is_the_probability_of_the_symmetric_difference(rng):
    p = np.array([0.1, 0.2, 0.3, 0.4])
    C, C_star = np.array([[1, 0, 1, 0], [1, 1, 0, 0]]), np.array([1, 1, 0, 0])
    np.testing.assert_allclose(concept_error(C, C_star, p), [0.5, 0.0])
    for _ in range(20):
        A, B = (Box(*np.sort(rng.random((2, 2)), axis=0)) for _ in range(2))
        X = rng.random((4000, 2))
        C, C_star = inside(A, X), inside(B, X)
        sets = ((C & ~C_star) | (~C & C_star)).mean()
        assert concept_error(C, C_star, np.full(4000, 1 / 4000)) == pytest.approx(sets)
        assert within(sets, box_error(A, B), 4000)
        assert box_error(A, B) == box_error(B, A) and box_error(A, A) == 0
    X, even = rng.uniform(-1, 1, size=(200, 2)), np.full(200, 1 / 200)
    y = inside(Box(np.array([-0.5, -0.5]), np.array([0.5, 0.7])), X)
    by_hand = [-0.5 <= x_1 <= 0.5 and -0.5 <= x_2 <= 0.7 for x_1, x_2 in X]
    np.testing.assert_array_equal(y, by_hand)
    assert concept_error(inside(tightest_box(X, y), X), y, even) == 0  # there is no noise
    assert concept_error(y, y ^ (rng.random(200) < 0.2), even) > 0.1


def test_labels_of_other_signs_are_refused():
    x, bits, signs = np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1]), np.array([-1, 1, 1])
    several, even = np.array([[0, 1], [1, 1], [1, 0]]), np.full(3, 1 / 3)
    for f in (
        lambda y: best_threshold(x, y),
        lambda y: threshold_realises(x[:, None], y),
        lambda y: box_realises(x[:, None], y),
        lambda y: half_space_realises(x[:, None], y),
        lambda y: learn_conjunction(several, y),
        lambda y: learn_conjunction(y[:, None], bits),
        lambda y: concept_error(bits, y, even),
        lambda y: concept_error(y, bits, even),
        lambda y: satisfies(np.ones((2, 1), dtype=bool), y[:, None]),
        lambda y: majority(np.arange(3), y, 4),
        sine_frequency,
    ):
        f(bits)
        with pytest.raises(ValueError, match="must hold labels 0 and 1; got -1"):
            f(signs)


def test_box_error_of_one_and_three_dimensions_and_of_the_empty_box(rng):
    none = tightest_box(rng.random((5, 3)), np.zeros(5))
    assert box_volume(none) == 0 and not inside(none, rng.random((9, 3))).any()
    assert box_error(none, Box(np.full(3, 0.2), np.full(3, 0.7))) == pytest.approx(0.125)
    assert box_volume(Box(np.full(3, -9.0), np.full(3, 9.0))) == 1
    interval = tightest_box(np.array([[3], [5], [4], [9]]), np.array([1, 1, 1, 0]))
    X = np.array([[2.9], [3.0], [5.0], [5.1]])
    np.testing.assert_array_equal(inside(interval, X), [False, True, True, False])
    apart = Box(np.zeros(2), np.array([0.3, 1.0])), Box(np.array([0.5, 0.0]), np.ones(2))
    assert box_error(*apart) == pytest.approx(0.8)


# --- Learners of concepts --------------------------------------------------------------

QUANTILES = {
    "uniform": lambda u: u,
    "exponential": lambda u: -np.log1p(-u),
    "steep": lambda u: u**9 - 5,
}


@pytest.mark.claims("learning_theory-14")
@pytest.mark.parametrize("name", QUANTILES)
def test_smallest_positive_and_interval_fail_alike_for_every_distribution(rng, name):
    n, runs, eps = 25, 2000, 0.15
    threshold, interval = np.zeros(runs), np.zeros(runs)
    for run, u in enumerate(rng.random((runs, n))):  # u is uniform, x = quantile(u)
        x = QUANTILES[name](u)
        least = u[x >= smallest_positive(x, u >= 0.4)]
        threshold[run] = least.min(initial=1) - 0.4
        inner = u[inside(tightest_box(x[:, None], (u >= 0.3) & (u <= 0.8)), x[:, None])]
        interval[run] = 0.5 - np.ptp(inner) if len(inner) else 0.5
    assert within(np.mean(threshold > eps), (1 - eps) ** n, runs)
    exact = (1 - eps) ** n + n * eps * (1 - eps) ** (n - 1)
    assert within(np.mean(interval > eps), exact, runs)
    assert smallest_positive(x, np.zeros(n)) == np.inf


@pytest.mark.claims("learning_theory-14")
def test_tightest_box_learns_from_one_number_of_examples_for_every_distribution(rng):
    for eps, delta, s in product((0.01, 0.5), (0.001, 0.05), (1, 4, 20)):
        N = pac_sample_size(eps, delta, s)
        assert N == np.ceil(s / eps * np.log(s / delta)) and s * (1 - eps / s) ** (N + 1) < delta
    eps, delta, runs = 0.2, 0.2, 300
    n = pac_sample_size(eps, delta, s=4)
    target = Box(np.array([0.2, 0.3]), np.array([0.9, 0.8]))
    atoms, p = rng.random((9, 2)), rng.dirichlet(np.ones(9))
    failed = {"uniform": 0, "narrow": 0, "atoms": 0}
    narrow = Box(target.low**3, target.high**3)  # the target in terms of u, where x = u^(1/3)
    for _ in range(runs):
        U = rng.random((n, 2))
        failed["uniform"] += box_error(tightest_box(U, inside(target, U)), target) > eps
        learnt = tightest_box(U ** (1 / 3), inside(target, U ** (1 / 3)))
        failed["narrow"] += box_error(Box(learnt.low**3, learnt.high**3), narrow) > eps
        X = atoms[rng.choice(9, size=n, p=p)]
        learnt = tightest_box(X, inside(target, X))
        failed["atoms"] += concept_error(inside(learnt, atoms), inside(target, atoms), p) > eps
    assert max(failed.values()) / runs <= 4 * (1 - eps / 4) ** n <= delta
    few = [box_error(tightest_box(U, inside(target, U)), target) for U in rng.random((200, 8, 2))]
    assert np.mean(np.array(few) > eps) > 0.5  # with few examples it does fail


def test_learn_conjunction_strikes_out_what_a_positive_contradicts(rng):
    domain = all_labellings(6)
    for _ in range(30):
        target = np.zeros((2, 6), dtype=bool)
        target[rng.integers(2, size=3), rng.choice(6, size=3, replace=False)] = True
        X, sides = rng.integers(2, size=(25, 6)), list(zip(*np.nonzero(target), strict=True))
        y = satisfies(target, X)
        np.testing.assert_array_equal(y, [all(x[j] == 1 - side for side, j in sides) for x in X])
        learnt = learn_conjunction(X, y)
        np.testing.assert_array_equal(learnt, [X[y].all(axis=0), (1 - X[y]).all(axis=0)])
        assert not (satisfies(learnt, domain) & ~satisfies(target, domain)).any()
    assert learn_conjunction(X, np.zeros(25)).all()  # nothing satisfies x and not x
    assert not satisfies(np.ones((2, 6), dtype=bool), domain).any()


# --- With noise ------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-15")
def test_noise_ruins_the_smallest_positive_and_not_erm(rng):
    theta_star, noise, runs = 0.6, 0.1, 400
    least, excess = [], []
    for n in (30, 100, 1000):
        X = rng.random((runs, n))
        Y = (X >= theta_star) ^ (rng.random((runs, n)) < noise)
        theta = np.array([smallest_positive(x, y) for x, y in zip(X, Y, strict=True)])
        for a in (0.05, 0.2):  # no noisy positive among the samples below a
            assert within(np.mean(theta > a), (1 - noise * a) ** n, runs)
        least.append(np.mean(np.abs(theta - theta_star)))
        chosen = [best_threshold(x, y) for x, y in zip(X[:60], Y[:60], strict=True)]
        excess.append(np.mean(threshold_risk(chosen, theta_star, noise)) - noise)
    assert least == sorted(least) and least[-1] == pytest.approx(theta_star, abs=0.03)
    assert excess == sorted(excess, reverse=True) and 0 <= excess[-1] < 0.005
    clean = [smallest_positive(x, x >= theta_star) - theta_star for x in X[:50]]
    assert 0 < np.mean(clean) < 0.003


def test_best_threshold_has_the_fewest_errors(rng):
    for _ in range(40):
        x, y = rng.integers(6, size=9).astype(float), rng.integers(2, size=9)
        everywhere = [np.sum((x >= s) != y) for s in (*np.unique(x), np.inf)]
        assert np.sum((x >= best_threshold(x, y)) != y) == min(everywhere)
    x, y = np.arange(1.0, 7.0), np.array([0, 1, 0, 1, 0, 1])
    assert best_threshold(x, y) == 1.5  # the first of three with two errors
    assert best_threshold(x, np.zeros(6, dtype=int)) == np.inf


def test_threshold_risk_is_the_share_of_wrong_labels():
    theta_star, noise = 0.4, 0.15
    x = (np.arange(10_000) + 0.5) / 10_000
    for theta in (-1.0, 0.1, 0.4, 0.77, np.inf):
        missed = (x >= theta) != (x >= theta_star)
        exact = np.mean(np.where(missed, 1 - noise, noise))
        assert threshold_risk(theta, theta_star, noise) == pytest.approx(exact, abs=1e-12)


# --- Labellings ------------------------------------------------------------------------


def half_space_count(n, d):
    """The labellings of n points of R^d in general position by half spaces (Cover, 1965)."""
    return 2 * sauer_bound(n - 1, d)


@pytest.mark.claims("learning_theory-17")
@pytest.mark.parametrize("n", [1, 2, 8])
def test_dichotomies_of_thresholds_and_intervals(rng, n):
    X = rng.normal(size=(n, 1))
    H = dichotomies(X, threshold_realises)
    cuts = np.concatenate([X[:, 0], [np.inf]])
    np.testing.assert_array_equal(np.unique(H, axis=0), np.unique(X[:, 0] >= cuts[:, None], axis=0))
    assert len(H) == n + 1 == sauer_bound(n, 1) and vc_dimension(H) == 1
    H = dichotomies(X, box_realises)
    assert len(H) == 1 + n * (n + 1) // 2 == sauer_bound(n, 2) and vc_dimension(H) == min(n, 2)


def test_dichotomies_of_special_points_and_of_conjunctions(rng):
    diamond = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
    H = dichotomies(np.vstack([diamond, 0.5 * rng.normal(size=(4, 2))]), box_realises)
    assert vc_dimension(H) == 4 and shatters(H, range(4)) and len(H) <= sauer_bound(8, 4)
    assert vc_dimension(dichotomies(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), box_realises)) == 2
    for d in (2, 3):
        every = [np.array(bits).reshape(2, d) for bits in product((False, True), repeat=2 * d)]
        H = np.unique([satisfies(literals, all_labellings(d)) for literals in every], axis=0)
        assert len(H) == 3**d + 1 and vc_dimension(H) == d
    line = np.column_stack([np.arange(4.0), 2 * np.arange(4.0)])
    assert vc_dimension(dichotomies(line, half_space_realises)) == 2
    twins = np.array([[1.0], [1.0], [2.0]])
    assert len(dichotomies(twins, threshold_realises)) == 3
    assert len(dichotomies(twins, box_realises)) == 4
    assert dichotomies(twins[:0], box_realises).shape == (1, 0)


@pytest.mark.claims("learning_theory-17")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_half_spaces_shatter_d_plus_1_points_and_never_d_plus_2(rng, d):
    X = rng.normal(size=(d + 3, d))
    H = dichotomies(X, half_space_realises)
    assert len(H) == half_space_count(d + 3, d) <= sauer_bound(d + 3, d + 1)
    assert vc_dimension(H) == d + 1 and shatters(H, np.arange(d + 1))
    for y in all_labellings(d + 1):  # a linear system has the labels for its right side
        b, *w = np.linalg.solve(augment(X[: d + 1]), 2 * y - 1)
        np.testing.assert_allclose(X[: d + 1] @ w + b, 2 * y - 1, rtol=1e-9, atol=1e-9)


@pytest.mark.claims("learning_theory-17")
def test_sine_frequency_has_every_labelling(rng):
    for Y in (*map(all_labellings, (1, 6, 10)), rng.integers(2, size=(200, 14))):
        x = 10.0 ** -np.arange(1, Y.shape[1] + 1)
        for y in Y:
            np.testing.assert_array_equal(np.sin(sine_frequency(y) * x) > 0, y == 1)
    assert sine_frequency(np.array([0, 1, 1, 0])) == pytest.approx(np.pi * (1 + 10 + 10**4))


@pytest.mark.claims("learning_theory-17")
@pytest.mark.parametrize("d", [1, 3, 10])
def test_radon_labels_are_of_no_half_space(rng, d):
    X = rng.normal(size=(d + 2, d))
    y = radon_labels(X)
    assert 0 < y.sum() < d + 2
    assert not half_space_realises(X, y) and not half_space_realises(X, 1 - y)
    u, v, distance = closest_points(X[y == 1], X[y == 0])
    assert distance == 0 and np.allclose(u, v)  # a point of both convex hulls


# --- VC dimension ----------------------------------------------------------------------


def test_shatters_is_what_the_definition_says(rng):
    H, sizes = rng.integers(2, size=(12, 6)), [0]
    for size in range(1, 5):
        for points in combinations(range(6), size):
            there = {tuple(h[list(points)]) for h in H} == set(product((0, 1), repeat=size))
            assert shatters(H, points) == there
            sizes += [size] * there
    assert vc_dimension(H) == vc_dimension(2 * H - 1) == max(sizes)
    assert vc_dimension(all_labellings(4)) == 4 and vc_dimension(H[:1]) == 0
    assert len(np.unique(H, axis=0)) <= sauer_bound(6, vc_dimension(H))


@pytest.mark.claims("learning_theory-17")
def test_vc_radius_bounds_the_uniform_gap_of_thresholds(rng):
    for n, t in (12, 0.9), (5000, 0.1):
        bound = 4 * (2 * n + 1) * np.exp(-n * t**2 / 8)
        assert vc_radius(n, bound, v=1) == pytest.approx(t)
    theta_star, noise, largest = 0.4, 0.1, []
    for n in (100, 1000, 10_000):
        gaps = []
        for _ in range(30):
            x = np.sort(rng.random(n))
            y = (x >= theta_star) ^ (rng.random(n) < noise)
            wrong = np.concatenate([[np.sum(~y)], np.sum(~y) + np.cumsum(np.where(y, 1, -1))]) / n
            rims = np.concatenate([[0], x, [1]])  # R is linear between theta* and the samples
            R = threshold_risk(np.stack([rims[:-1], rims[1:]], 1), theta_star, noise)
            gaps.append(np.abs(wrong[:, None] - R).max())
        largest.append(max(gaps))
        assert largest[-1] <= vc_radius(n, 0.1, v=1)
    assert largest == sorted(largest, reverse=True) and largest[-1] < 0.03


@pytest.mark.claims("learning_theory-17")
def test_vc_sample_size_is_the_least_and_grows_with_the_dimension():
    needed = [vc_sample_size(0.1, 0.05, d) for d in (1, 2, 4, 8, 16)]
    assert needed == sorted(needed) and 10 < needed[-1] / needed[0] < 16
    for t, delta, d in product((0.1, 0.4), (0.01, 0.3), (0, 1, 5)):
        n = vc_sample_size(t, delta, d)
        assert vc_radius(n, delta, d) <= t < vc_radius(n - 1, delta, d)
    assert [vc_sample_size(vc_radius(n, 0.1, 1), 0.1, 1) for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert vc_sample_size(0.1, 0.05, v=60) > 400_000  # S(2n) is beyond the floats
    wide = np.sqrt(8 / 600 * (1202 * np.log(2) - np.log(0.05)))  # S(2n) = 2^(2n), beyond the floats
    assert vc_radius(600, 0.05, v=1200) == pytest.approx(wide)


# --- No free lunch ---------------------------------------------------------------------


def odd(x, y, k):
    """A senseless learner: it flips the labels that it has seen and alternates elsewhere."""
    h = (np.arange(k) + np.sum(y)) % 2
    h[x] = 1 - y
    return h


def literal_error(F, H, q, p, x):
    """J(F, D) as it is written: over hypotheses, over points not in D."""
    J = 0.0
    for h, weight in zip(H, q, strict=True):
        for point in range(len(p)):
            if point not in x:
                J += p[point] * (1 - (F[point] == h[point])) * weight
    return J


def test_learners_predict_as_described():
    x, y = np.array([0, 3, 0]), np.array([1, 0, 1])
    assert memoriser(x, y, 4).tolist() == [1, 0, 0, 0]
    assert constant(x, y, 4).tolist() == [0, 0, 0, 0]
    assert majority(x, y, 4).tolist() == [1, 1, 1, 1]
    assert majority(x[:2], y[:2], 4).tolist() == [0, 0, 0, 0]
    assert nearest_neighbor(x, y, 5).tolist() == [1, 1, 0, 0, 0]
    assert nearest_neighbor(np.array([3, 1]), np.array([0, 1]), 4).tolist() == [1, 1, 0, 0]


@pytest.mark.claims("learning_theory-18")
def test_off_training_error_counts_unseen_points_only(rng):
    p, x = rng.dirichlet(np.ones(4)), np.array([1, 3])
    H, q = rng.integers(2, size=(5, 4)), rng.dirichlet(np.ones(5))
    targets = all_labellings(4)
    by_hand = [literal_error(F, H, q, p, x) for F in targets]
    np.testing.assert_allclose(off_training_error(targets, H, q, p, x), by_hand, atol=1e-14)
    by_hand = [literal_error(F, H, q, p, [0, 2]) for F in targets]  # what is unseen here
    seen = off_training_error(targets, H, q, p, x, seen=True)
    np.testing.assert_allclose(seen, by_hand, atol=1e-14)


@pytest.mark.claims("learning_theory-19")
def test_errors_on_targets_with_the_printed_sum_make_the_theorem_false():
    p, x = np.full(4, 0.25), np.array([0, 2])
    assert [errors_on_targets(a, x, p, seen=True).sum() for a in LEARNERS[:3]] == [0, 4, 2]
    assert [errors_on_targets(a, x, p).sum() for a in (*LEARNERS, odd)] == [4, 4, 4, 4, 4]
    totals = [expected_errors(a, 2, p, seen=True).sum() for a in LEARNERS[:3]]
    assert totals[0] == 0 and len({round(total, 9) for total in totals}) == 3


@pytest.mark.claims("learning_theory-20")
@pytest.mark.parametrize("n", [1, 3])
def test_expected_errors_give_no_free_lunch(rng, n):
    learners = (*LEARNERS, odd)
    for p in (np.full(4, 0.25), rng.dirichlet(np.ones(4))):
        J = np.array([expected_errors(a, n, p) for a in learners])
        np.testing.assert_allclose(J.sum(axis=1), J[0].sum(), rtol=1e-13, atol=1e-13)
        for i, j in ((0, 2), (1, 3), (3, 4)):
            assert np.min(J[i] - J[j]) < 0 < np.max(J[i] - J[j])  # better here, worse there
    for x in combinations(range(4), n):  # for fixed training inputs too
        sums = [errors_on_targets(a, np.array(x), p).sum() for a in learners]
        np.testing.assert_allclose(sums, 8 * (1 - p[list(x)].sum()), rtol=1e-13, atol=1e-13)
    x, y, one = np.array([0, 3]), np.array([1, 0]), np.ones(1)  # and for a fixed training set
    agree = np.array([F for F in all_labellings(4) if (F[x] == y).all()])
    for a in learners:
        J = off_training_error(agree, a(x, y, 4)[None], one, np.full(4, 0.25), x)
        assert J.sum() == 1 and J.min() < J.max()


@pytest.mark.parametrize("learner", LEARNERS)
def test_expected_errors_go_through_all_draws(rng, learner):
    p, draws = rng.dirichlet(np.ones(3)), [np.array(x) for x in product(range(3), repeat=2)]
    for F, J in zip(all_labellings(3), expected_errors(learner, 2, p), strict=True):
        each = [literal_error(F, [learner(x, F[x], 3)], [1.0], p, x) for x in draws]
        assert J == pytest.approx(sum(p[x].prod() * e for x, e in zip(draws, each, strict=True)))


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("learning_theory-13")
def test_the_shaded_frame_is_the_error_of_the_learnt_concept():
    from figures.learning_theory import TARGET, concept, examples

    def area(polygon):
        x, y = np.transpose(polygon)
        return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2

    for ax, n in zip(panels(concept, 1, 2), (15, 60), strict=True):
        X, y = examples(n)
        (frame,) = ax.patches
        drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
        np.testing.assert_array_equal(drawn["in $C^*$"], X[y == 1])
        np.testing.assert_array_equal(drawn["outside"], X[y == 0])
        corners = (drawn["$C^*$"], drawn["$C_n$"])
        C_star, C_n = (Box(each.min(axis=0), each.max(axis=0)) for each in corners)
        np.testing.assert_array_equal(C_star, TARGET)
        np.testing.assert_array_equal(C_n, tightest_box(X, y))
        assert not inside(C_star, X[y == 0]).any()
        shaded = area(frame.get_xy())
        assert shaded == pytest.approx(box_volume(C_star) - box_volume(C_n), abs=1e-12)
        assert shaded == pytest.approx(box_error(C_n, TARGET), abs=1e-12)
        title = ax.get_title() + ax.get_title(loc="left")
        assert float(re.search(r"\d\.\d+", title)[0]) == pytest.approx(shaded, abs=5e-4)


@pytest.mark.claims("learning_theory-21")
def test_the_design_runs_in_order_and_ends_in_actions():
    from figures.learning_theory import ACTIONS, STEPS, new_fish, recognition_system

    (ax,) = panels(recognition_system, 1, 1)
    drawn = [t.get_text() for t in ax.texts]
    at = {t.get_text(): t.get_position() for t in ax.texts if t.get_text()}
    links = [(a.xyann, a.xy, a.arrow_patch.get_linestyle()) for a in ax.texts if not a.get_text()]

    def steps(style):  # the pairs of steps that arrows of a style join
        ends = [(a[0], b[0]) for a, b, drawn_as in links if a[1] > 2 and drawn_as == style]
        return {tuple(min(STEPS, key=lambda s: abs(at[s][0] - x)) for x in pair) for pair in ends}

    assert " ".join(STEPS).replace("\n", " ") == (
        "collect data choose features choose model train evaluate"
    )
    assert sorted(STEPS, key=lambda s: at[s][0]) == list(STEPS)
    assert steps("-") == set(pairwise(STEPS))
    assert steps("--") == {(STEPS[4], STEPS[j]) for j in (0, 1, 2)}  # feedback closes the circle
    for value, category, action in new_fish():
        i = drawn.index(f"lightness {value}")
        assert drawn[i + 1 : i + 3] == [category, action] and ACTIONS[category] == action
    below = [link for link in links if link[0][1] < 2]
    assert len(below) == 2 * len(new_fish()) and {c for _, c, _ in new_fish()} == set(ACTIONS)
    assert all(a[1] == b[1] and a[0] < b[0] for a, b, _ in below)


def test_hoeffding_falls_below_chebyshev_where_the_caption_says():
    from figures.learning_theory import RISK, STRAY

    chebyshev = [RISK * (1 - RISK) / (n * STRAY**2) for n in range(1, 501)]
    better = [hoeffding(n, STRAY) < chebyshev[n - 1] <= 1 for n in range(1, 501)]
    assert 1 + better.index(True) == 124 and all(better[123:])


def test_the_drawn_risk_of_the_nearest_neighbour_falls_where_the_caption_says():
    from figures.learning_theory import SIZES, mean_risks, of_neighbors

    R_n, R = mean_risks(of_neighbors)
    assert (R_n == 0).all() and R[SIZES.index(500)] == pytest.approx(2 * 0.2 * 0.8, abs=0.005)
    assert R[SIZES.index(5)] > 0.34  # near the border the neighbours' labels differ more often


def test_the_drawn_growth_leaves_the_power_at_the_vc_dimension():
    from figures.learning_theory import growths

    counts = {name: np.array(each) for name, each in growths(range(1, 8)).items()}
    full = 2 ** np.arange(1, 8)
    for name, d in ("half planes", 3), ("rectangles", 3), ("intervals", 2), ("thresholds", 1):
        assert (counts[name][:d] == full[:d]).all() and (counts[name][d:] < full[d:]).all()
    assert list(counts["half planes"]) == [half_space_count(n, 2) for n in range(1, 8)]


def test_the_drawn_rows_have_one_mean_at_unseen_points_alone():
    from figures.learning_theory import no_free_lunch

    unseen, seen = (
        [t.get_text() for t in ax.texts if t.get_text() != "mean"]
        for ax in panels(no_free_lunch, 2, 1)
    )
    assert unseen == ["9/32"] * 4 and seen == ["0", "7/32", "3/32", "0"]
