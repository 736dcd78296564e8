"""The learning_theory chapter: every statement of the notes, checked by a second route."""

import re
from functools import partial
from graphlib import TopologicalSorter
from itertools import combinations, product

import numpy as np
import pytest

from mlnotes.datasets import Box as SignedBox
from mlnotes.datasets import make_concept, make_independent_labels
from mlnotes.decision_theory import absolute, bayes_error, empirical_risk, squared, zero_one
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
    exact_failure,
    excess_risk,
    expected_errors,
    failure_bound,
    finite_class_sample_size,
    generalisation_gap,
    half_space_realises,
    hoeffding,
    hoeffding_sample_size,
    inside,
    learn_conjunction,
    loss_variance,
    losses,
    majority,
    matrix_loss,
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
    vc_bound,
    vc_dimension,
    vc_radius,
    vc_sample_size,
)
from mlnotes.linear_regression import augment
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.optimization import closest_points
from mlnotes.probability import binomial_log_pmf, gauss_legendre, normal_cdf, normal_log_density

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


def constants(values, grid, loss):
    """The class of constants, for a Y that takes the `values` equally often."""
    P = np.full((len(values), 1), 1 / len(values))
    return Setting(P, np.asarray(values), np.asarray(grid)[:, None], loss)


def within(frequency, probability, trials, errors=5):
    """Whether a frequency in so many trials is within standard errors of a probability."""
    error = np.sqrt(probability * (1 - probability) / trials)
    return abs(frequency - probability) <= errors * error


# ---------------------------------------------------------------------------------------
# The setting
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-01")
def test_a_sample_stands_in_for_the_distribution(rng):
    setting, n = a_setting(rng), 40_000
    counts = draw(setting, n, size=3, rng=rng)
    assert counts.shape == (3, 2, 3) and (counts.sum(axis=(1, 2)) == n).all()
    for sample in counts:
        error = np.sqrt(setting.P * (1 - setting.P) / n)
        assert (np.abs(sample / n - setting.P) <= 5 * error).all()
    assert not np.array_equal(counts[0], counts[1])


@pytest.mark.claims("learning_theory-01", "learning_theory-05")
def test_the_loss_says_which_constant_fits_best():
    y = np.array([0.0, 1.0, 1.0, 4.0, 9.0])
    grid = np.linspace(0, 9, 901)
    best = {
        loss: grid[erm(constants(y, grid, loss), np.ones((5, 1)))] for loss in (squared, absolute)
    }
    assert best[squared] == pytest.approx(y.mean()) and best[absolute] == np.median(y)
    assert best[squared] != best[absolute]
    names = constants([0, 1, 2], BITS, zero_one)  # categories through the same code
    assert erm(names, np.array([[2], [3], [4]])) == 1


@pytest.mark.claims("learning_theory-03")
def test_the_prediction_comes_first_in_a_loss(rng):
    L = np.array([[0, 3], [1, 0]])  # L[prediction, target]: c_10 = 1, c_01 = 3
    threshold = L[1, 0] / (L[1, 0] + L[0, 1])
    decides = partial(matrix_loss, L=L)
    swapped = partial(matrix_loss, L=L.T)  # as L(y, h(x)) reads the same table
    for q in np.linspace(0.02, 0.98, 25):
        P, H = np.array([[1 - q], [q]]), np.array([[0], [1]])
        assert risk(Setting(P, BITS, H, decides)).argmin() == (q > threshold)
        assert risk(Setting(P, BITS, H, swapped)).argmin() == (q > 1 - threshold)
        assert risk(Setting(P, BITS, H, zero_one)).argmin() == (q > 0.5)
    asymmetric = Setting(np.array([[0.5], [0.5]]), BITS, np.array([[0], [1]]), decides)
    np.testing.assert_array_equal(losses(asymmetric)[:, :, 0], [[0, 3], [1, 0]])
    L = rng.random((3, 3))
    table = losses(Setting(np.full((3, 1), 1 / 3), np.arange(3), np.arange(3)[:, None],
                           lambda f, y: L[f, y]))  # fmt: skip
    np.testing.assert_array_equal(table[:, :, 0], L)


def test_invalid_settings_are_refused():
    H = np.array([[0, 1]])
    with pytest.raises(ValueError, match=re.escape("P must be (2, 2), a row for each value of Y")):
        losses(Setting(np.full((2, 3), 1 / 6), BITS, H, zero_one))
    for short in (0.99, 1.00001):  # more than a quadrature would miss
        with pytest.raises(ValueError, match=f"P must be >= 0 and sum to 1; got the sum {short}"):
            losses(Setting(np.full((2, 2), short / 4), BITS, H, zero_one))
    with pytest.raises(ValueError, match="P must be >= 0 and sum to 1; got the sum 4"):
        losses(Setting(np.ones((2, 2)), BITS, H, zero_one))
    for bad in (-0.5, np.nan):
        no_distribution = Setting(np.array([[1 - bad, bad], [0, 0]]), BITS, H, zero_one)
        for f in (losses, risk, partial(every_sample, n=2), partial(draw, n=2, rng=None)):
            with pytest.raises(ValueError, match=f"P must be >= 0 and .*, the least {bad}"):
                f(no_distribution)
    with pytest.raises(ValueError, match="a loss must be finite and >= 0; got -1 to 1"):
        losses(Setting(np.full((2, 2), 0.25), BITS, H, np.subtract))
    for bad in (np.nan, np.inf):  # also where the probability is 0
        spoilt = Setting(np.full((2, 2), 0.25), BITS, H, lambda f, y, bad=bad: np.where(f, bad, y))
        with pytest.raises(ValueError, match=f"a loss must be finite and >= 0; got .*{bad}"):
            erm(spoilt, np.array([[1, 0], [1, 0]]))


def test_classes_count_from_zero():
    L = np.array([[0, 8], [1, 0]])
    for f, y in ((BITS - 1, BITS), (BITS, 2 * BITS - 1)):
        with pytest.raises(
            ValueError, match=re.escape("classes must be numbered 0, 1, ...; got -1")
        ):
            matrix_loss(f, y, L)


def test_counts_are_those_of_the_pairs(rng):
    setting = a_setting(rng)
    for f in (risk, erm, generalisation_gap):
        message = "counts must be (..., k_y, k) as P (2, 3); got (3, 2)"
        with pytest.raises(ValueError, match=re.escape(message)):  # a wrong shape
            f(setting, np.ones((3, 2)))
        for bad in (0, np.nan):
            with pytest.raises(ValueError, match=f"must hold a pair at least; got .* of {bad}"):
                f(setting, np.concatenate([np.ones((3, 2, 3)), np.full((1, 2, 3), bad)]))


def test_the_nodes_of_a_density_are_drawn_though_their_weights_miss_1(rng):
    p = np.exp(-(np.linspace(-4, 4, 24) ** 2))
    P = np.stack([p, p]) / (2 * p.sum()) * (1 + 5e-7)
    setting = Setting(P, BITS, np.zeros((1, 24), dtype=int), zero_one)
    assert risk(setting)[0] == pytest.approx(0.5, abs=1e-6)
    counts = draw(setting, 10_000, rng=rng)
    assert counts.sum() == 10_000 and within(counts[0, 1].sum() / 10_000, 0.5, 10_000)


def test_every_sample_is_there_with_its_probability(rng):
    setting, n = a_setting(rng, k=2), 3
    counts, probability = every_sample(setting, n)
    assert probability.sum() == pytest.approx(1, abs=1e-12)
    by_hand = {}
    for pairs in product(range(4), repeat=n):  # in order, one pair after the other
        key = tuple(np.bincount(pairs, minlength=4))
        by_hand[key] = by_hand.get(key, 0) + np.prod(setting.P.ravel()[list(pairs)])
    assert len(counts) == len(by_hand) == 20
    for table, p in zip(counts, probability, strict=True):
        assert p == pytest.approx(by_hand[tuple(table.ravel())], abs=1e-14)


# ---------------------------------------------------------------------------------------
# Risk and its estimate
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-02")
def test_the_empirical_risk_is_the_risk_under_the_empirical_distribution(rng):
    setting = a_setting(rng)
    i, j = rng.integers(2, size=50), rng.integers(3, size=50)
    counts = np.zeros((2, 3))
    np.add.at(counts, (i, j), 1)
    sample_by_sample = [empirical_risk(zero_one, h[j], i) for h in setting.H]
    np.testing.assert_allclose(risk(setting, counts), sample_by_sample, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(
        risk(setting._replace(P=counts / 50)), sample_by_sample, rtol=1e-13, atol=1e-15
    )
    many = np.stack([counts, 2 * counts, counts[::-1]])
    assert risk(setting, many).shape == (3, 5)
    np.testing.assert_allclose(
        risk(setting, many)[1], risk(setting, counts), rtol=1e-13, atol=1e-15
    )


@pytest.mark.claims("learning_theory-02")
def test_the_risk_of_a_cut_between_normal_classes():
    halves = gauss_legendre(-10, 0.4, 50), gauss_legendre(0.4, 12, 50)  # the rule jumps at the cut
    x, dx = (np.concatenate(pair) for pair in zip(*halves, strict=True))
    prior, mu = np.array([0.3, 0.7]), np.array([-1.0, 1.5])
    P = prior[:, None] * np.exp(normal_log_density(x, mu[:, None], 1.0)) * dx
    cuts = np.array([0.4])
    setting = Setting(P, BITS, (x > cuts[:, None]).astype(int), zero_one)
    exact = prior[0] * normal_cdf(-(0.4 - mu[0]), 0.0, 1.0) + prior[1] * normal_cdf(
        0.4 - mu[1], 0.0, 1.0
    )
    assert risk(setting)[0] == pytest.approx(exact, abs=1e-8)
    log_p = np.stack([normal_log_density(x, m, 1.0) for m in mu], axis=1)
    grid = np.linspace(-2, 2, 81)
    R = risk(setting._replace(H=(x > grid[:, None]).astype(int)))
    bayes = bayes_error(log_p, prior, dx)
    assert R.min() >= bayes - 1e-12 and R.min() == pytest.approx(bayes, abs=2e-3)
    best = (mu.sum() / 2) - np.log(prior[1] / prior[0]) / (mu[1] - mu[0])
    assert abs(grid[R.argmin()] - best) <= 0.05


@pytest.mark.claims("learning_theory-04")
@pytest.mark.parametrize("n", [1, 2, 4])
def test_for_a_fixed_function_the_empirical_risk_is_an_unbiased_mean(rng, n):
    L = rng.random((2, 2))
    setting = a_setting(rng, k=2, loss=partial(matrix_loss, L=L))
    counts, probability = every_sample(setting, n)
    R_n, R = risk(setting, counts), risk(setting)
    np.testing.assert_allclose(probability @ R_n, R, rtol=1e-13, atol=1e-13)
    table = losses(setting).reshape(5, -1)
    variance = table**2 @ setting.P.ravel() - R**2
    np.testing.assert_allclose(probability @ (R_n - R) ** 2, variance / n, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(loss_variance(setting), variance, rtol=1e-13, atol=1e-13)


@pytest.mark.claims("learning_theory-05")
def test_erm_is_the_best_of_the_class_on_the_sample_but_not_on_the_distribution(rng):
    setting = a_setting(rng, k=4, m=9)
    counts = draw(setting, 15, size=200, rng=rng)
    chosen, R_n, R = erm(setting, counts), risk(setting, counts), risk(setting)
    for c, r in zip(chosen, R_n, strict=True):
        assert all(r[c] <= r[h] for h in range(9)) and all(r[c] < r[h] for h in range(c))
    star = R.argmin()
    assert (R_n[np.arange(200), chosen] <= R_n[:, star]).all()
    np.testing.assert_allclose(excess_risk(setting, counts), R[chosen] - R[star])
    assert (excess_risk(setting, counts) >= 0).all() and excess_risk(setting, counts).max() > 0


@pytest.mark.claims("learning_theory-05")
def test_erm_takes_the_first_of_equally_good_functions():
    H = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0]])  # 1 + 2 errors, 3 and 6
    setting = Setting(np.full((2, 4), 1 / 8), BITS, H, zero_one)
    for first in (H, H[[1, 0, 2]]):
        counts = np.array([[1, 2, 3, 4], [0, 0, 0, 0]])  # 1/10 + 2/10 > 3/10 in floats
        assert erm(setting._replace(H=first), counts) == 0
    assert 1 / 10 + 2 / 10 > 3 / 10


@pytest.mark.claims("learning_theory-05")
def test_erm_over_slopes_is_least_squares(rng):
    x, y = rng.normal(size=12), rng.normal(size=12)
    slopes = np.linspace(-3, 3, 6001)
    P = np.eye(12) / 12  # sample i is at point i and has the i-th value
    setting = Setting(P, y, slopes[:, None] * x, squared)
    assert slopes[erm(setting, np.eye(12))] == pytest.approx(x @ y / (x @ x), abs=5.1e-4)


@pytest.mark.claims("learning_theory-06")
def test_the_gap_is_zero_on_average_for_a_fixed_rule_and_positive_for_the_chosen_one(rng):
    setting = a_setting(rng, k=2)._replace(H=all_labellings(2))
    counts, probability = every_sample(setting, 5)
    G = generalisation_gap(setting, counts)
    np.testing.assert_allclose(G, risk(setting) - risk(setting, counts), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(probability @ G, 0, rtol=1e-13, atol=1e-13)
    assert np.abs(G).max() > 0.1
    chosen = G[np.arange(len(G)), erm(setting, counts)]
    assert probability @ chosen > 0.01
    one = setting._replace(H=setting.H[:1])  # a class of one function leaves no choice
    assert probability @ generalisation_gap(one, counts)[:, 0] == pytest.approx(0, abs=1e-13)


# ---------------------------------------------------------------------------------------
# Deviations of a mean
# ---------------------------------------------------------------------------------------


def coin(q):
    """One function that errs with probability q."""
    return Setting(np.array([[1 - q], [q]]), BITS, np.array([[0]]), zero_one)


@pytest.mark.claims("learning_theory-07")
def test_the_gap_of_a_fixed_rule_vanishes_as_one_over_root_n():
    sizes, deviations = np.array([1, 4, 16, 64, 256]), []
    for n in sizes:
        counts, probability = every_sample(coin(0.3), int(n))
        G = generalisation_gap(coin(0.3), counts)[:, 0]
        deviations.append(np.sqrt(probability @ G**2))
    slopes = np.diff(np.log(deviations)) / np.diff(np.log(sizes))
    np.testing.assert_allclose(slopes, -0.5, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(deviations, np.sqrt(loss_variance(coin(0.3)) / sizes), rtol=1e-11)
    beyond = [deviation_probability(n, 0.3, 0.05) for n in (100, 400, 1600, 6400)]
    assert (np.diff(beyond) < 0).all() and beyond[-1] < 1e-15 and beyond[0] > 0.2


def test_deviations_are_counted_exactly():
    for n, p, t in ((5, 0.3, 0.1), (10, 0.5, 0.1), (7, 0.9, 0.2), (20, 0.25, 0.05)):
        counts, probability = every_sample(coin(p), n)
        strayed = np.abs(counts[:, 1, 0] / n - p) > t + 1e-12
        assert deviation_probability(n, p, t) == pytest.approx(
            probability[strayed].sum(), abs=1e-12
        )
    assert deviation_probability(10, 0.3, 0.1) == pytest.approx(  # 2, 3 and 4 are within
        1 - sum(np.prod([0.3**k, 0.7 ** (10 - k), c]) for k, c in ((2, 45), (3, 120), (4, 210)))
    )
    assert deviation_probability(100, 0.29, 0.01) == pytest.approx(  # 100 p is rounded below 29
        1 - np.exp(binomial_log_pmf(np.arange(28, 31), 100, 0.29)).sum()
    )
    assert deviation_probability(10, 0.0, 0.1) == 0 and deviation_probability(3, 0.5, 1.0) == 0
    for bad in (-0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match=f"p must be between 0 and 1; got {bad}"):
            deviation_probability(10, bad, 0.1)


@pytest.mark.claims("learning_theory-08")
def test_the_law_of_large_numbers_does_not_reach_what_was_learnt(rng):
    for n in (10, 100, 1000):
        T = make_independent_labels(n, rng=rng)
        learnt = KNeighborsClassifier(n_neighbors=1).fit(T.X, T.y)
        R_n = 1 - learnt.score(T.X, T.y)
        x = rng.normal(size=(200, 2))  # each label is -1 or +1 with probability 1/2
        R = np.mean([zero_one(learnt.predict(x), label) for label in (-1, 1)])
        assert R_n == 0 and R == 0.5  # the gap, printed to vanish, is 1/2 for every n
    fixed = [deviation_probability(n, 0.5, 0.1) for n in (10, 100, 1000)]
    assert fixed[-1] < 1e-9 < fixed[0]


@pytest.mark.claims("learning_theory-08")
def test_the_gap_of_the_richest_class_shrinks_only_once_n_outgrows_the_domain():
    """Fair labels on k points and all 2^k functions: E G_n(h_hat) by going through all samples."""
    mean_gap = {}
    for k, n in ((1, 4), (2, 4), (3, 4), (3, 2), (3, 1)):
        setting = Setting(np.full((2, k), 0.5 / k), BITS, all_labellings(k), zero_one)
        np.testing.assert_allclose(risk(setting), 0.5)
        counts, probability = every_sample(setting, n)
        mean_gap[k, n] = probability @ generalisation_gap(setting, counts).max(axis=1)
    assert mean_gap[1, 4] < mean_gap[2, 4] < mean_gap[3, 4] < mean_gap[3, 2] < mean_gap[3, 1]
    assert mean_gap[3, 1] == pytest.approx(0.5)
    assert mean_gap[1, 4] == pytest.approx(0.5 - (2 * 0 + 8 * 1 / 4 + 6 * 2 / 4) / 16)


@pytest.mark.claims("learning_theory-09")
def test_the_rate_of_convergence_depends_on_the_distribution():
    N = 40

    def rare(q):  # a loss of 1/q with probability q: mean 1 for every q
        return Setting(np.array([[1 - q], [q]]), np.array([0, 1 / q]), np.array([[0.0]]), absolute)

    strayed = {}
    for q in (0.5, 1 / N):
        assert risk(rare(q))[0] == pytest.approx(1)
        assert loss_variance(rare(q))[0] == pytest.approx((1 - q) / q)
        counts, probability = every_sample(rare(q), N)
        G = generalisation_gap(rare(q), counts)[:, 0]
        nothing_seen = np.isclose(G, 1)
        assert probability[nothing_seen].sum() == pytest.approx((1 - q) ** N, abs=1e-12)
        strayed[q] = probability[np.abs(G) > 0.5].sum()
    assert strayed[0.5] < 0.002 and strayed[1 / N] > 0.6


@pytest.mark.claims("learning_theory-10")
def test_hoeffding_is_never_exceeded():
    grid = product(range(1, 201, 3), np.arange(0.1, 0.95, 0.1), (0.05, 0.1, 0.2))
    tighter = 0
    for n, p, t in grid:
        exact = deviation_probability(n, p, t)
        assert exact <= hoeffding(n, t)
        tighter += exact > 2 * np.exp(-4 * n * t**2)  # a bound without the right constant fails
    assert tighter > 100
    assert hoeffding(50, 0.1) == pytest.approx(2 * np.exp(-1))


@pytest.mark.claims("learning_theory-10")
def test_hoeffding_holds_for_every_loss_between_0_and_1_and_not_beyond():
    def stray(top, n=10, t=0.4):  # a loss of 0 or `top`, each half of the time
        setting = Setting(np.full((2, 1), 0.5), np.array([0, top]), np.array([[0.0]]), absolute)
        counts, probability = every_sample(setting, n)
        return probability[np.abs(generalisation_gap(setting, counts)[:, 0]) > t].sum()

    assert stray(1.0) <= hoeffding(10, 0.4) and stray(0.5) == 0
    assert stray(4.0) > hoeffding(10, 0.4)


def test_a_finite_class_deviates_at_most_m_times_as_often(rng):
    setting = a_setting(rng, k=3, m=6)
    counts, probability = every_sample(setting, 8)
    for t in (0.1, 0.3, 0.45, 0.6):
        one_by_one = [
            probability[np.abs(g) > t].sum() for g in generalisation_gap(setting, counts).T
        ]
        together = probability[uniform_gap(setting, counts) > t].sum()
        assert max(one_by_one) <= together <= sum(one_by_one) + 1e-12
        assert together <= hoeffding(8, t, m=6)


def test_sample_sizes_and_radii_invert_the_bound():
    for t, delta, m in product((0.05, 0.2), (0.01, 0.3), (1, 7, 10**6)):
        n = hoeffding_sample_size(t, delta, m)
        assert hoeffding(n, t, m) <= delta < hoeffding(n - 1, t, m)
        assert hoeffding(n, uniform_radius(n, delta, m), m) == pytest.approx(delta)
    m = 2**2000  # all labellings of 2000 points: more than a float can hold
    n = hoeffding_sample_size(0.1, 0.05, m)
    assert hoeffding(n, 0.1, m) <= 0.05 < hoeffding(n - 1, 0.1, m)
    assert uniform_radius(n, 0.05, m) == pytest.approx(0.1, rel=1e-4)
    assert n == np.ceil((2001 * np.log(2) - np.log(0.05)) / 0.02)
    for bad in (0, 1, -0.1, float("nan")):
        with pytest.raises(ValueError, match="t must be between 0 and 1; got"):
            hoeffding_sample_size(bad, 0.1)
        with pytest.raises(ValueError, match="delta must be between 0 and 1; got"):
            uniform_radius(10, bad)


@pytest.mark.claims("learning_theory-11")
def test_a_boundary_tuned_to_the_sample_errs_more_than_a_constant(rng):
    q, n, points = 0.2, 5, 9  # nine places on a line, five of them in the sample
    x, expected = np.array([0, 2, 3, 6, 8]), 0.0
    for y in all_labellings(n):
        h = nearest_neighbor(x, y, points)
        assert (h[x] == y).all()  # no training error
        error = np.mean(np.where(h == 1, 1 - q, q))
        expected += error * q ** y.sum() * (1 - q) ** (n - y.sum())
    assert expected == pytest.approx(2 * q * (1 - q)) and expected > q
    X, y = rng.normal(size=(4000, 2)), (rng.random(4000) < q).astype(int)
    learnt = KNeighborsClassifier(n_neighbors=1).fit(X, y)
    new, label = rng.normal(size=(4000, 2)), (rng.random(4000) < q).astype(int)
    assert learnt.score(X, y) == 1
    # each of the 4000 samples is the neighbour of few: twice the binomial variance suffices
    assert within(1 - learnt.score(new, label), 2 * q * (1 - q), 2000)
    assert within(np.mean(label == 1), q, 4000)


# ---------------------------------------------------------------------------------------
# Concepts
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-12")
def test_the_error_is_the_probability_of_the_symmetric_difference(rng):
    for _ in range(20):
        A, B = (Box(*np.sort(rng.random((2, 2)), axis=0)) for _ in range(2))
        X = rng.random((4000, 2))
        C, C_star = inside(A, X), inside(B, X)
        sets = (C & ~C_star) | (~C & C_star)
        np.testing.assert_array_equal(sets, C != C_star)
        assert concept_error(C, C_star) == sets.mean()
        assert within(sets.mean(), box_error(A, B), 4000)
        assert box_error(A, B) == box_error(B, A) and box_error(A, A) == 0
        assert concept_error(C_star, C_star) == 0


@pytest.mark.claims("learning_theory-12")
def test_examples_of_a_concept_have_no_noise(rng):
    T = make_concept(200, SignedBox(low=(-0.5, -0.5), high=(0.5, 0.7)), rng=rng)
    y, target = T.y == 1, Box(np.array([-0.5, -0.5]), np.array([0.5, 0.7]))
    np.testing.assert_array_equal(inside(target, T.X), y)
    C_n = inside(tightest_box(T.X, y), T.X)
    assert concept_error(C_n, y) == 0  # no training error either
    flipped = y ^ (rng.random(200) < 0.2)
    assert concept_error(y, flipped) > 0.1


def test_labels_of_other_signs_and_shapes_are_refused():
    X, bits, signs = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 1]), np.array([-1, 1, 1])
    x, several = X[:, 0], np.array([[0, 1], [1, 1], [1, 0]])
    learners = [partial(f, x) for f in (smallest_positive, best_threshold)]
    learners += [partial(f, X) for f in (tightest_box, threshold_realises, box_realises)]
    learners += [partial(learn_conjunction, several), partial(half_space_realises, X)]
    for f in learners:
        f(bits)
        with pytest.raises(ValueError, match="y must hold 0 and 1 alone; got -1"):
            f(signs)
        for bad in (bits[:1], bits[:, None], bits[[0, 1, 2, 0]]):  # some would be broadcast
            shapes = f"y must have shape (3,), a label a sample; got {bad.shape}"
            with pytest.raises(ValueError, match=re.escape(shapes)):
                f(bad)
    for f in (partial(learn_conjunction, y=bits), partial(satisfies, several.T[:, :2] == 1)):
        with pytest.raises(ValueError, match="X must hold 0 and 1 alone; got -1"):
            f(2 * several - 1)
    with pytest.raises(ValueError, match="C must hold 0 and 1 alone; got -1"):
        concept_error(signs, bits)
    with pytest.raises(ValueError, match="C_star must hold 0 and 1 alone; got -1"):
        concept_error(bits, signs)
    with pytest.raises(ValueError, match="H must hold 0 and 1 alone; got -1"):
        vc_dimension(2 * all_labellings(3) - 1)
    with pytest.raises(ValueError, match="y must hold 0 and 1 alone; got -1"):
        sine_frequency(signs)


def test_concepts_and_points_of_different_dimensions_are_refused(rng):
    square, interval = Box(np.zeros(2), np.ones(2)), Box(np.zeros(1), np.ones(1))
    for f in (
        partial(inside, interval, rng.random((5, 2))),
        partial(box_error, interval, square),
    ):
        message = "a box must have a side for each feature; got (1,) for (2,)"
        with pytest.raises(ValueError, match=re.escape(message)):
            f()
    with pytest.raises(ValueError, match=re.escape("literals must be (2, 1); got (2, 2)")):
        satisfies(np.ones((2, 2), dtype=bool), np.ones((4, 1)))
    message = "concepts must be of the same k points; got (4, 3) and (1,)"
    with pytest.raises(ValueError, match=re.escape(message)):
        concept_error(np.ones((4, 3)), np.ones(1))


def test_the_error_of_concepts_weighs_their_points():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    C_star = np.array([1, 1, 0, 0])
    np.testing.assert_allclose(
        concept_error(np.array([[1, 0, 1, 0], [1, 1, 0, 0]]), C_star, p), [0.5, 0.0]
    )


def test_boxes_of_one_and_three_dimensions_and_empty_ones(rng):
    none = tightest_box(rng.random((5, 3)), np.zeros(5))
    assert box_volume(none) == 0 and not inside(none, rng.random((9, 3))).any()
    target = Box(np.full(3, 0.2), np.full(3, 0.7))
    assert box_error(none, target) == pytest.approx(0.125)
    assert box_volume(Box(np.full(3, -9.0), np.full(3, 9.0))) == 1
    interval = tightest_box(np.array([[3], [5], [4], [9]]), np.array([1, 1, 1, 0]))
    assert (interval.low[0], interval.high[0]) == (3, 5)
    np.testing.assert_array_equal(inside(interval, np.array([[2.9], [3.0], [5.0], [5.1]])),
                                  [False, True, True, False])  # fmt: skip
    apart = Box(np.zeros(2), np.array([0.3, 1.0])), Box(np.array([0.5, 0.0]), np.ones(2))
    assert box_error(*apart) == pytest.approx(0.8)


def test_the_smallest_positive_is_the_least_concept():
    assert smallest_positive(np.array([3, 1, 2]), np.array([1, 0, 1])) == 2
    assert smallest_positive(np.array([3, 1, 2]), np.zeros(3)) == np.inf


def test_conjunctions_are_learnt_from_their_positives(rng):
    for _ in range(30):
        target = np.zeros((2, 6), dtype=bool)
        chosen = rng.choice(6, size=3, replace=False)
        target[rng.integers(2, size=3), chosen] = True
        X = rng.integers(2, size=(25, 6))
        y = satisfies(target, X)
        by_hand = [
            all(x[j] == 1 - side for side, j in zip(*np.nonzero(target), strict=True)) for x in X
        ]
        np.testing.assert_array_equal(y, by_hand)
        learnt = learn_conjunction(X, y)
        assert (learnt | ~target).all()  # no literal of the target is struck out
        domain = all_labellings(6)
        assert not (satisfies(learnt, domain) & ~satisfies(target, domain)).any()
        np.testing.assert_array_equal(satisfies(learnt, X), y)
    assert learn_conjunction(X, np.zeros(25)).all()  # nothing satisfies x and not x
    assert not satisfies(np.ones((2, 6), dtype=bool), domain).any()
    assert satisfies(np.zeros((2, 6), dtype=bool), domain).all()


# ---------------------------------------------------------------------------------------
# Numbers of examples
# ---------------------------------------------------------------------------------------


def errors_of_the_least(rng, n, runs, quantile, t_star=None, ends=None):
    """err of the tightest threshold or interval in each of `runs` samples of size n.

    `quantile` maps [0, 1] to the distribution of x. In [0, 1] the concept is u >= `t_star`, or lies
    between the two `ends`.
    """
    errors = []
    for u in rng.random((runs, n)):
        low, high = (t_star, 1.0) if ends is None else ends
        x, y = quantile(u), (u >= low) & (u <= high)
        if ends is None:
            learnt = smallest_positive(x, y)
            errors.append((1 - low) if learnt == np.inf else u[x == learnt].min() - low)
        else:
            box = tightest_box(x[:, None], y)
            into = [u[x == end].min() for end in (*box.low, *box.high) if np.isfinite(end)]
            errors.append(high - low - (into[1] - into[0] if into else 0.0))
    return np.array(errors)


QUANTILES = {
    "uniform": lambda u: u,
    "exponential": lambda u: -np.log1p(-u),
    "steep": lambda u: u**9 - 5,
}


@pytest.mark.claims("learning_theory-14")
@pytest.mark.parametrize("name", QUANTILES)
def test_the_failure_of_the_least_threshold_does_not_depend_on_the_distribution(rng, name):
    n, runs, eps = 20, 3000, 0.1
    errors = errors_of_the_least(rng, n, runs, QUANTILES[name], t_star=0.4)
    exact = exact_failure(n, eps)
    assert exact == pytest.approx((1 - eps) ** n)
    assert within(np.mean(errors > eps), exact, runs)
    enough = pac_sample_size(eps, 0.05)
    assert exact_failure(enough + 1, eps) < 0.05 and np.log(1 / 0.05) / eps <= enough
    assert exact_failure(n, eps, mass=0.1) == 0  # the error of the empty concept is its mass


@pytest.mark.claims("learning_theory-14")
@pytest.mark.parametrize("name", QUANTILES)
def test_the_least_interval_fails_with_the_probability_of_two_ends(rng, name):
    n, runs, eps = 25, 2000, 0.15
    errors = errors_of_the_least(rng, n, runs, QUANTILES[name], ends=(0.3, 0.8))
    exact = exact_failure(n, eps, ends=2)
    assert exact == pytest.approx((1 - eps) ** n + n * eps * (1 - eps) ** (n - 1))
    assert within(np.mean(errors > eps), exact, runs)
    assert exact <= failure_bound(n, eps, parts=2)
    # second route: the gaps a, b at the ends have Pr(A > a, B > b) = (1 - a - b)^n
    s, ds = gauss_legendre(0.0, eps)
    density = n * (n - 1) * s * (1 - s) ** (n - 2)
    assert 1 - ds @ density == pytest.approx(exact, abs=1e-12)


@pytest.mark.claims("learning_theory-14")
def test_one_sample_size_serves_every_distribution_of_rectangles(rng):
    eps, delta, runs = 0.2, 0.2, 300
    n = pac_sample_size(eps, delta, parts=4)
    assert n == int(np.ceil(4 / eps * np.log(4 / delta)))
    target = Box(np.array([0.2, 0.3]), np.array([0.9, 0.8]))
    atoms = rng.random((9, 2)), rng.dirichlet(np.ones(9))
    failed = {"uniform": 0, "narrow": 0, "atoms": 0}
    narrow = Box(target.low**3, target.high**3)  # the target in terms of u, where x = u^(1/3)
    for _ in range(runs):
        U = rng.random((n, 2))
        failed["uniform"] += box_error(tightest_box(U, inside(target, U)), target) > eps
        X = U ** (1 / 3)
        learnt = tightest_box(X, inside(target, X))
        failed["narrow"] += box_error(Box(learnt.low**3, learnt.high**3), narrow) > eps
        X = atoms[0][rng.choice(9, size=n, p=atoms[1])]
        learnt = tightest_box(X, inside(target, X))
        failed["atoms"] += (
            concept_error(*(inside(b, atoms[0]) for b in (learnt, target)), atoms[1]) > eps
        )
    bound = failure_bound(n, eps, parts=4)
    assert bound <= delta
    assert max(failed.values()) / runs <= bound
    few = [box_error(tightest_box(U, inside(target, U)), target) for U in rng.random((200, 8, 2))]
    assert np.mean(np.array(few) > eps) > 0.5  # with few examples it does fail


@pytest.mark.claims("learning_theory-14")
def test_beyond_n_the_failure_is_below_delta_for_every_number_of_parts():
    for eps, delta, parts in product((0.01, 0.1, 0.5), (0.001, 0.05, 0.5), (1, 2, 4, 20)):
        N = pac_sample_size(eps, delta, parts)
        for n in range(N + 1, N + 4):
            assert failure_bound(n, eps, parts) < delta
        assert N < 3 or failure_bound(N // 3, eps, parts) > delta  # and it is not far too large
    assert pac_sample_size(0.05, 0.05) > pac_sample_size(0.1, 0.05) > pac_sample_size(0.1, 0.1)
    least = 1e-310  # its inverse is beyond the floats, as m below
    assert pac_sample_size(0.1, least, 4) == np.ceil(40 * (np.log(4) - np.log(least)))
    n = finite_class_sample_size(0.1, least, m=2**2000)
    assert n == np.ceil(10 * (2000 * np.log(2) - np.log(least)))
    for name, arguments in (("eps", (1.0, 0.1)), ("delta", (0.1, 0.0))):
        with pytest.raises(ValueError, match=f"{name} must be between 0 and 1; got"):
            pac_sample_size(*arguments)
        with pytest.raises(ValueError, match=f"{name} must be between 0 and 1; got"):
            finite_class_sample_size(*arguments, m=3)


@pytest.mark.claims("learning_theory-14")
def test_conjunctions_and_finite_classes_are_learnt_from_the_stated_numbers(rng):
    d, eps, delta, runs = 4, 0.2, 0.1, 400
    n = pac_sample_size(eps, delta, parts=2 * d)
    target, domain = np.zeros((2, d), dtype=bool), all_labellings(d)
    target[0, 0] = target[1, 2] = True
    p = rng.dirichlet(np.full(2**d, 0.3))
    wrong = []
    for _ in range(runs):
        X = domain[rng.choice(2**d, size=n, p=p)]
        learnt = learn_conjunction(X, satisfies(target, X))
        wrong.append(concept_error(satisfies(learnt, domain), satisfies(target, domain), p))
    assert np.mean(np.array(wrong) > eps) <= failure_bound(n, eps, parts=2 * d) <= delta
    clean = thresholds_on_a_grid(k=5, noise=0.0, at=2)
    counts, probability = every_sample(clean, 6)
    seen = probability > 0
    R = risk(clean)[erm(clean, counts[seen])]
    assert (risk(clean, counts[seen]).min(axis=1) == 0).all()
    assert 0 < probability[seen] @ (R > 0.3) <= 6 * (1 - 0.3) ** 6
    N = finite_class_sample_size(0.3, 0.05, m=6)
    assert 6 * (1 - 0.3) ** N <= 0.05 and N < hoeffding_sample_size(0.3 / 2, 0.05, m=6)


# ---------------------------------------------------------------------------------------
# With noise
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-15")
def test_noise_ruins_the_least_concept_and_not_erm(rng):
    t_star, noise, runs = 0.6, 0.1, 400
    least, excess = {}, {}
    for n in (30, 100, 1000):
        X = rng.random((runs, n))
        Y = (X >= t_star) ^ (rng.random((runs, n)) < noise)
        t = np.array([smallest_positive(x, y) for x, y in zip(X, Y, strict=True)])
        for s in (0.05, 0.2):  # no noisy positive among the samples below s
            assert within(np.mean(t > s), (1 - noise * s) ** n, runs)
        least[n] = np.mean(np.abs(t - t_star))
        chosen = [best_threshold(x, y.astype(int)) for x, y in zip(X[:60], Y[:60], strict=True)]
        excess[n] = np.mean(threshold_risk(chosen, t_star, noise)) - noise
    assert least[30] < least[100] < least[1000] and least[1000] == pytest.approx(t_star, abs=0.03)
    assert excess[30] > excess[100] > excess[1000] >= 0 and excess[1000] < 0.005
    assert np.mean(np.abs(errors_of_the_least(rng, 1000, 50, QUANTILES["uniform"], t_star))) < 0.003


def test_the_risk_of_a_threshold_under_noise(rng):
    t_star, noise = 0.4, 0.15
    x = (np.arange(10_000) + 0.5) / 10_000
    right = x >= t_star
    for t in (-1.0, 0.0, 0.1, 0.4, 0.77, 1.0, np.inf):
        missed = (x >= t) != right
        exact = np.mean(np.where(missed, 1 - noise, noise))
        assert threshold_risk(t, t_star, noise) == pytest.approx(exact, abs=1e-12)
    assert threshold_risk(0.9, t_star) == pytest.approx(0.5)


def test_the_best_threshold_has_the_fewest_errors(rng):
    for _ in range(40):
        x, y = rng.integers(6, size=9).astype(float), rng.integers(2, size=9)
        t = best_threshold(x, y)
        everywhere = [np.sum((x >= s) != y) for s in (*np.unique(x), np.inf)]
        assert np.sum((x >= t) != y) == min(everywhere)
    x, y = np.arange(1.0, 7.0), np.array([0, 1, 0, 1, 0, 1])
    assert best_threshold(x, y) == 1.5  # the first of three with two errors
    assert best_threshold(x, np.zeros(6, dtype=int)) == np.inf


# ---------------------------------------------------------------------------------------
# Consistency
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("learning_theory-16")
def test_uniform_convergence_bounds_both_errors_of_erm(rng):
    for setting in (a_setting(rng, k=6, m=30), thresholds_on_a_grid()):
        R = risk(setting)
        for n in (5, 50):
            counts = draw(setting, n, size=300, rng=rng)
            sup, excess = uniform_gap(setting, counts), excess_risk(setting, counts)
            assert (excess >= 0).all() and (excess <= 2 * sup + 1e-12).all()
            assert (np.abs(risk(setting, counts).min(axis=1) - R.min()) <= sup + 1e-12).all()
            one = np.abs(generalisation_gap(setting, counts))[:, 0]
            assert (excess > 2 * one + 1e-12).any()  # the gap of one function is not a bound


@pytest.mark.claims("learning_theory-16")
def test_erm_is_consistent_over_thresholds_and_not_over_all_functions(rng):
    setting, noise = thresholds_on_a_grid(noise=0.2), 0.2
    assert risk(setting).min() == pytest.approx(noise)
    learnt, believed = [], []
    for n in (20, 200, 2000, 20_000):
        counts = draw(setting, n, size=300, rng=rng)
        learnt.append(np.quantile(excess_risk(setting, counts), 0.95))
        believed.append(np.quantile(np.abs(risk(setting, counts).min(axis=1) - noise), 0.95))
    assert learnt == sorted(learnt, reverse=True) and learnt[0] > 0.1 and learnt[-1] == 0
    assert believed == sorted(believed, reverse=True) and believed[-1] < 0.01 < 0.1 < believed[0]
    for n in (20, 200, 2000):  # the class of all functions has a member without errors
        x = rng.random((n, 1))
        y = (x[:, 0] >= 0.5) ^ (rng.random(n) < noise)
        memory = KNeighborsClassifier(n_neighbors=1).fit(x, y.astype(int))
        assert memory.score(x, y.astype(int)) == 1  # R_n = 0 for every n, and R(h*) = 0.2
        grid = np.linspace(0, 1, 4001)[:, None]
        wrong = np.mean(memory.predict(grid) != (grid[:, 0] >= 0.5))
        R = noise + (1 - 2 * noise) * wrong
    assert R == pytest.approx(2 * noise * (1 - noise), abs=0.03)


# ---------------------------------------------------------------------------------------
# Labellings and the VC dimension
# ---------------------------------------------------------------------------------------


def half_space_count(n, d):
    """The labellings of n points of R^d in general position by half spaces (Cover, 1965)."""
    return 2 * sauer_bound(n - 1, d)


@pytest.mark.claims("learning_theory-17")
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_thresholds_and_intervals_have_the_stated_growth(rng, n):
    X = rng.normal(size=(n, 1))
    H = dichotomies(X, threshold_realises)
    cuts = np.concatenate([X[:, 0], [np.inf]])
    np.testing.assert_array_equal(np.unique(H, axis=0), np.unique(X[:, 0] >= cuts[:, None], axis=0))
    assert len(H) == n + 1 == sauer_bound(n, 1) and vc_dimension(H) == 1
    H = dichotomies(X, box_realises)
    assert len(H) == 1 + n * (n + 1) // 2 == sauer_bound(n, 2) and vc_dimension(H) == min(n, 2)


@pytest.mark.claims("learning_theory-17")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_half_spaces_shatter_d_plus_1_points_and_never_d_plus_2(rng, d):
    X = rng.normal(size=(d + 3, d))
    H = dichotomies(X, half_space_realises)
    assert len(H) == half_space_count(d + 3, d) <= sauer_bound(d + 3, d + 1)
    assert vc_dimension(H) == d + 1
    for y in all_labellings(d + 1):  # a linear system has the labels for its right side
        b, *w = np.linalg.solve(augment(X[: d + 1]), 2 * y - 1)
        np.testing.assert_allclose(X[: d + 1] @ w + b, 2 * y - 1, rtol=1e-9, atol=1e-9)
    assert shatters(H, np.arange(d + 1))


@pytest.mark.claims("learning_theory-17")
@pytest.mark.parametrize("d", [1, 2, 3, 6, 10])
def test_no_half_space_has_the_labels_of_radon(rng, d):
    X = rng.normal(size=(d + 2, d))
    y = radon_labels(X)
    assert 0 < y.sum() < d + 2
    assert not half_space_realises(X, y) and not half_space_realises(X, 1 - y)
    a = np.linalg.svd(augment(X).T)[2][-1]
    for theta in rng.normal(size=(200, d + 1)):
        f = augment(X) @ theta
        assert abs(a @ f) < 1e-9 and not np.array_equal(f > 0, y == 1)
    u, v, distance = closest_points(X[y == 1], X[y == 0])
    assert distance == 0 and np.allclose(u, v)
    with pytest.raises(ValueError, match=re.escape(f"X must be (d + 2, d); got ({d + 1}, {d})")):
        radon_labels(X[1:])


@pytest.mark.claims("learning_theory-17")
def test_one_sine_has_every_labelling():
    for n in (1, 6, 10):
        x = 10.0 ** -np.arange(1, n + 1)
        for y in all_labellings(n):
            np.testing.assert_array_equal(np.sin(sine_frequency(y) * x) > 0, y == 1)
    long = np.random.default_rng(0).integers(2, size=(200, 14))
    x = 10.0 ** -np.arange(1, 15)
    for y in long:
        np.testing.assert_array_equal(np.sin(sine_frequency(y) * x) > 0, y == 1)
    signs = np.array([-1, 1, 1, -1])  # in the labels -1 and +1: w = pi (1 + sum 10^i (1 - y_i) / 2)
    w = np.pi * (1 + np.sum(10.0 ** np.arange(1, 5) * (1 - signs) / 2))
    assert sine_frequency((signs + 1) // 2) == pytest.approx(w)
    with pytest.raises(ValueError, match="y must have at most 14 labels; got 15"):
        sine_frequency(np.zeros(15))


@pytest.mark.claims("learning_theory-17")
def test_the_uniform_gap_of_thresholds_vanishes_and_that_of_sines_does_not(rng):
    t_star, noise, delta = 0.4, 0.1, 0.1
    largest = {}
    for n in (100, 1000, 10_000):
        gaps = []
        for _ in range(30):
            x = np.sort(rng.random(n))
            y = (x >= t_star) ^ (rng.random(n) < noise)
            wrong = np.concatenate([[np.sum(~y)], np.sum(~y) + np.cumsum(np.where(y, 1, -1))]) / n
            rims = np.concatenate([[0], x, [1]])  # R is linear between t* and the samples
            ends = np.abs(
                wrong[:, None] - threshold_risk(np.stack([rims[:-1], rims[1:]], 1), t_star, noise)
            )
            gaps.append(ends.max())
        largest[n] = max(gaps)
        assert largest[n] <= vc_radius(n, delta, v=1)
    assert largest[100] > largest[1000] > largest[10_000] and largest[10_000] < 0.03
    y = rng.integers(2, size=14)  # fair labels: every sine has risk 1/2, one of them R_n = 0
    fitted = np.sin(sine_frequency(y) * 10.0 ** -np.arange(1, 15)) > 0
    assert np.mean(fitted != y) == 0


@pytest.mark.claims("learning_theory-17")
def test_a_larger_vc_dimension_needs_more_samples():
    needed = [vc_sample_size(0.1, 0.05, d) for d in (1, 2, 4, 8, 16)]
    assert needed == sorted(needed) and 10 < needed[-1] / needed[0] < 16
    for t, delta, d in product((0.1, 0.4), (0.01, 0.3), (0, 1, 5)):
        n = vc_sample_size(t, delta, d)
        assert vc_bound(n, t, d) <= delta * (1 + 1e-9) and vc_bound(n - 1, t, d) > delta
        assert vc_bound(n, vc_radius(n, delta, d), d) == pytest.approx(delta)
    assert vc_sample_size(0.1, 0.05, v=60) > 400_000  # S(2n) is beyond the floats
    wide = np.sqrt(8 / 600 * (1202 * np.log(2) - np.log(0.05)))  # S(2n) = 2^(2n), beyond the floats
    assert vc_radius(600, 0.05, v=1200) == pytest.approx(wide)
    assert np.isnan(vc_bound(100, np.nan, v=1))
    assert vc_bound(10, 0.1, v=3) == 1 and vc_bound(10**6, 0.01, v=1000) == 1
    for bad in (0.0, 1.0):
        with pytest.raises(ValueError, match="t must be between 0 and 1"):
            vc_sample_size(bad, 0.1, 1)
        with pytest.raises(ValueError, match="delta must be between 0 and 1"):
            vc_sample_size(0.1, bad, 1)


def test_the_vc_bound_holds_where_everything_can_be_enumerated():
    setting = thresholds_on_a_grid(k=3, at=1)
    counts, probability = every_sample(setting, 12)
    gap = uniform_gap(setting, counts)
    for t in np.arange(0.05, 1, 0.05):
        assert probability[gap > t].sum() <= vc_bound(12, t, v=1) + 1e-12


def test_rectangles_shatter_four_points_and_never_five(rng):
    diamond = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
    assert vc_dimension(dichotomies(diamond, box_realises)) == 4
    assert (
        vc_dimension(dichotomies(np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]]), box_realises)) == 2
    )
    X = np.vstack([diamond, 0.5 * rng.normal(size=(4, 2))])
    H = dichotomies(X, box_realises)
    assert vc_dimension(H) == 4 and len(H) <= sauer_bound(8, 4)
    three = np.vstack([np.eye(3), -np.eye(3)])  # 2d points of d features
    assert vc_dimension(dichotomies(three, box_realises)) == 6


def test_conjunctions_on_a_cube_have_vc_dimension_d():
    for d in (2, 3):
        domain = all_labellings(d)
        every = [np.array(bits).reshape(2, d) for bits in product((False, True), repeat=2 * d)]
        H = np.unique([satisfies(literals, domain) for literals in every], axis=0).astype(int)
        assert len(H) == 3**d + 1 and vc_dimension(H) == d


def test_shattering_is_what_the_definition_says(rng):
    H = rng.integers(2, size=(12, 6))
    for size in range(1, 5):
        for points in combinations(range(6), size):
            every = product((0, 1), repeat=size)
            found = all(any(tuple(h[list(points)]) == y for h in H) for y in every)
            assert shatters(H, points) == found
    sizes = [s for s in range(1, 7) for c in combinations(range(6), s) if shatters(H, c)]
    assert vc_dimension(H) == max(sizes)
    assert vc_dimension(all_labellings(4)) == 4 and vc_dimension(H[:1]) == 0
    assert len(np.unique(H, axis=0)) <= sauer_bound(6, vc_dimension(H))


def test_coinciding_and_collinear_points_lower_what_can_be_shattered():
    line = np.column_stack([np.arange(4.0), 2 * np.arange(4.0)])
    assert vc_dimension(dichotomies(line, half_space_realises)) == 2
    twins = np.array([[1.0], [1.0], [2.0]])
    assert len(dichotomies(twins, threshold_realises)) == 3
    assert len(dichotomies(twins, box_realises)) == 4


def test_a_class_may_hold_numbers_and_have_no_points():
    X = np.array([[3.0], [7.0]])
    H = dichotomies(X, lambda X, y: int(threshold_realises(X, y)))
    np.testing.assert_array_equal(H, dichotomies(X, threshold_realises))
    assert vc_dimension(H.astype(float)) == vc_dimension(H == 1) == 1
    for f in (threshold_realises, box_realises, half_space_realises):
        assert dichotomies(X[:0], f).shape == (1, 0)


def test_sauers_sum():
    assert [sauer_bound(n, 5) for n in range(6)] == [2**n for n in range(6)]
    for n, d in product(range(1, 12), range(1, 6)):
        assert sauer_bound(n, d) == sauer_bound(n - 1, d) + sauer_bound(n - 1, d - 1)
    assert sauer_bound(200, 2) == 1 + 200 + 19900


def test_all_labellings_are_different_and_complete():
    for n in (0, 1, 5):
        Y = all_labellings(n)
        assert Y.shape == (2**n, n) and len({tuple(y) for y in Y}) == 2**n
        assert [int("0" + "".join(map(str, y)), 2) for y in Y] == list(range(2**n))


# ---------------------------------------------------------------------------------------
# No free lunch
# ---------------------------------------------------------------------------------------


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


@pytest.mark.claims("learning_theory-18")
def test_the_off_training_error_counts_unseen_points_only(rng):
    p, x = rng.dirichlet(np.ones(4)), np.array([1, 3])
    H, q = rng.integers(2, size=(5, 4)), rng.dirichlet(np.ones(5))
    targets = all_labellings(4)
    J = off_training_error(targets, H, p, x, q)
    assert J.shape == (16,)
    for F, value in zip(targets, J, strict=True):
        assert value == pytest.approx(literal_error(F, H, q, p, x), abs=1e-15)
    parts = np.array([off_training_error(targets, h[None], p, x) for h in H])
    np.testing.assert_allclose(
        J, q @ parts, rtol=1e-13, atol=1e-15
    )  # a random learner averages deterministic ones
    np.testing.assert_allclose(
        off_training_error(targets, H, p, x), parts.mean(axis=0), rtol=1e-13, atol=1e-15
    )
    even, F, h = np.full(4, 0.25), np.array([0, 1, 1, 0]), np.array([1, 0, 1, 1])
    assert off_training_error(F, h[None], even, x) == np.mean([1, 0]) / 2  # points 0 and 2
    assert off_training_error(F, h[None], even, x, seen=True) == np.mean([1, 1]) / 2
    assert off_training_error(F, F[None], even, x) == 0
    assert off_training_error(F, h[None], even, np.arange(4)) == 0  # nothing is unseen


@pytest.mark.claims("learning_theory-19")
def test_the_printed_sum_over_training_points_makes_the_theorem_false():
    p, x = np.full(4, 0.25), np.array([0, 2])
    printed = [errors_on_targets(a, x, p, seen=True).sum() for a in LEARNERS[:3]]
    correct = [errors_on_targets(a, x, p).sum() for a in (*LEARNERS, odd)]
    assert printed == [0, 4, 2]
    assert correct == [4, 4, 4, 4, 4]
    totals = [expected_errors(a, 2, p, seen=True).sum() for a in LEARNERS[:3]]
    assert totals[0] == 0 and len({round(total, 9) for total in totals}) == 3


@pytest.mark.claims("learning_theory-20")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_there_is_no_free_lunch(rng, n):
    for p in (np.full(4, 0.25), rng.dirichlet(np.ones(4))):
        J = np.array([expected_errors(a, n, p) for a in (*LEARNERS, odd)])
        np.testing.assert_allclose(J.sum(axis=1), J[0].sum(), rtol=1e-13, atol=1e-13)
        for i, j in ((0, 2), (1, 3), (3, 4)):
            difference = J[i] - J[j]
            assert difference.min() < 0 < difference.max()  # better here, worse there
            assert difference.mean() == pytest.approx(0, abs=1e-14)
        for x in product(range(4), repeat=n):  # for fixed training inputs too
            sums = [errors_on_targets(a, np.array(x), p).sum() for a in (*LEARNERS, odd)]
            unseen = 1 - p[list(set(x))].sum()
            np.testing.assert_allclose(sums, 8 * unseen, rtol=1e-13, atol=1e-13)


@pytest.mark.claims("learning_theory-20")
def test_no_free_lunch_holds_for_a_fixed_labelled_training_set():
    p, x, y = np.full(4, 0.25), np.array([0, 3]), np.array([1, 0])
    targets = all_labellings(4)
    agree = targets[(targets[:, x] == y).all(axis=1)]
    assert len(agree) == 4
    for a in (*LEARNERS, odd):
        h = a(x, y, 4)[None]
        assert off_training_error(targets, h, p, x).sum() == 4
        assert off_training_error(agree, h, p, x).sum() == 1
    few = agree[agree[:, 1] == 1]  # a world in which some targets do not occur has better learners
    assert off_training_error(few, np.ones((1, 4), dtype=int), p, x).sum() == 0.25
    assert off_training_error(few, np.zeros((1, 4), dtype=int), p, x).sum() == 0.75


def test_expected_errors_go_through_all_draws(rng):
    p, k = rng.dirichlet(np.ones(3)), 3
    for a in LEARNERS:
        J = expected_errors(a, 2, p)
        for number, F in enumerate(all_labellings(k)):
            by_hand = 0.0
            for x in product(range(k), repeat=2):
                x = np.array(x)
                h = a(x, F[x], k)
                by_hand += p[x].prod() * literal_error(F, [h], [1.0], p, x)
            assert J[number] == pytest.approx(by_hand, abs=1e-14)


def test_the_learners_predict_as_described():
    x, y = np.array([0, 3, 0]), np.array([1, 0, 1])
    assert memoriser(x, y, 4).tolist() == [1, 0, 0, 0]
    assert constant(x, y, 4).tolist() == [0, 0, 0, 0]
    assert majority(x, y, 4).tolist() == [1, 1, 1, 1]
    assert majority(x[:2], y[:2], 4).tolist() == [0, 0, 0, 0]
    assert nearest_neighbor(x, y, 5).tolist() == [1, 1, 0, 0, 0]
    assert nearest_neighbor(np.array([3, 1]), np.array([0, 1]), 4).tolist() == [1, 1, 0, 0]


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows, columns):
    """The axes that a figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure(layout="constrained").subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def area(corners):
    """The area of a polygon, by its corners in order."""
    x, y = np.transpose(corners)
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@pytest.mark.claims("learning_theory-13")
def test_the_shaded_frame_is_the_error_of_the_learnt_concept():
    from figures.learning_theory import TARGET, concept, examples

    for ax, n in zip(panels(concept, 1, 2), (15, 60), strict=True):
        X, y = examples(n)
        (frame,) = ax.patches
        target, learnt, positive, negative = (line.get_xydata() for line in ax.lines)
        np.testing.assert_array_equal(positive, X[y == 1])
        np.testing.assert_array_equal(negative, X[y == 0])
        assert len(positive) > 4 and len(negative) > 4
        C_n = Box(learnt.min(axis=0), learnt.max(axis=0))
        C_star = Box(target.min(axis=0), target.max(axis=0))
        np.testing.assert_array_equal(C_star, TARGET)
        assert (C_star.low <= C_n.low).all() and (C_n.high <= C_star.high).all()
        assert inside(C_n, positive).all() and not inside(C_star, negative).any()
        shaded = area(frame.get_xy())
        assert shaded == pytest.approx(area(target) - area(learnt), abs=1e-12)
        assert shaded == pytest.approx(box_error(C_n, TARGET), abs=1e-12)
        title = ax.get_title() + ax.get_title(loc="left")
        assert float(re.search(r"\d\.\d+", title)[0]) == pytest.approx(shaded, abs=5e-4)


@pytest.mark.claims("learning_theory-21")
def test_the_design_runs_in_order_and_ends_in_actions():
    from figures.learning_theory import ACTIONS, STEPS, new_fish, recognition_system

    (ax,) = panels(recognition_system, 1, 1)
    at = {t.get_text(): t.get_position() for t in ax.texts if t.get_text()}
    links = [(a.xyann, a.xy, a.arrow_patch.get_linestyle()) for a in ax.texts if not a.get_text()]

    def step(point):  # the step nearest to the end of an arrow
        return min(STEPS, key=lambda s: abs(at[s][0] - point[0]))

    above = [link for link in links if link[0][1] > 2]
    forward = {(step(a), step(b)) for a, b, style in above if style == "-"}
    back = {(step(a), step(b)) for a, b, style in above if style == "--"}
    graph = {s: {a for a, b in forward if b == s} for s in STEPS}
    assert list(TopologicalSorter(graph).static_order()) == list(STEPS)
    assert [s.replace("\n", " ") for s in STEPS] == [
        "collect data", "choose features", "choose model", "train", "evaluate",
    ]  # fmt: skip
    assert sorted(STEPS, key=lambda s: at[s][0]) == list(STEPS)
    assert back == {(STEPS[4], STEPS[j]) for j in (0, 1, 2)}  # the feedback closes the circle
    rows = new_fish()
    assert {category for _, category, _ in rows} == set(ACTIONS)
    drawn = [t.get_text() for t in ax.texts]
    for value, category, action in rows:
        assert ACTIONS[category] == action
        i = drawn.index(f"lightness {value}")
        assert drawn[i + 1 : i + 3] == [category, action]
    below = [link for link in links if link[0][1] < 2]
    assert len(below) == 2 * len(rows) and all(a[1] == b[1] and a[0] < b[0] for a, b, _ in below)


def test_the_drawn_distributions_narrow_and_the_bounds_are_above():
    from figures.learning_theory import concentration

    distributions, tails = panels(concentration, 1, 2)
    widths = []
    for n, line in zip((20, 100, 500), distributions.lines, strict=False):
        x, height = line.get_data()
        weight = height / height.sum()
        assert len(x) == n + 1 and weight @ x == pytest.approx(0.3)
        widths.append(np.sqrt(weight @ (x - 0.3) ** 2))
    np.testing.assert_allclose(widths, np.sqrt(0.21 / np.array([20, 100, 500])), rtol=1e-9)
    bound, chebyshev, exact = (line.get_ydata() for line in tails.lines)
    assert (exact < bound).all() and (exact < chebyshev).all()


def test_the_drawn_risks_meet_for_thresholds_alone():
    from figures.learning_theory import consistency

    poor, rich = panels(consistency, 1, 2)
    R, R_n = (line.get_ydata() for line in poor.lines[:2])
    assert (R >= 0.2).all() and (R > R_n).all() and R[-1] - R_n[-1] < 0.01
    R, R_n = (line.get_ydata() for line in rich.lines[:2])
    assert (R_n == 0).all() and R[-1] == pytest.approx(2 * 0.2 * 0.8, abs=0.005)


def test_the_nearest_neighbour_of_the_figure_is_the_estimator(rng):
    from figures.learning_theory import AT, NOISE, noisy_sample, of_neighbors

    x, y = noisy_sample(40, rng)
    R_n, R = of_neighbors(x, y)
    learnt = KNeighborsClassifier(n_neighbors=1).fit(x[:, None], y)
    grid = (np.arange(20_000) + 0.5) / 20_000
    wrong = np.mean(learnt.predict(grid[:, None]) != (grid >= AT))
    assert R == pytest.approx(NOISE + (1 - 2 * NOISE) * wrong, abs=2e-3)
    assert R_n == 1 - learnt.score(x[:, None], y)


def test_each_drawn_half_plane_has_its_labels():
    from figures.learning_theory import eight_labellings, separating_lines

    seen = []
    for ax in panels(eight_labellings, 2, 4):
        circles, squares = (line.get_xydata() for line in ax.lines)
        shaded = [path.contains_points for c in ax.collections[:1] for path in c.get_paths()]
        assert all(any(within(squares[[i]]) for within in shaded) for i in range(len(squares)))
        assert not any(within(circles).any() for within in shaded)
        y = [int(c) for c in ax.get_title().split()]
        assert len(circles) == y.count(0) and len(squares) == y.count(1)
        seen.append(y)
    assert seen == all_labellings(3).tolist()
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for y, (b, *w) in separating_lines(X):
        np.testing.assert_array_equal(X @ w + b > 0, y == 1)


def test_the_drawn_growth_leaves_the_power_at_the_vc_dimension():
    from figures.learning_theory import shattering

    growth, four = panels(shattering, 1, 2)
    full, _, planes, intervals, thresholds = (line.get_ydata() for line in growth.lines)
    assert list(full) == [2**n for n in range(1, 8)]
    for counts, d in (planes, 3), (intervals, 2), (thresholds, 1):
        assert (counts[:d] == full[:d]).all() and (counts[d:] < full[d:]).all()
    assert list(planes) == [half_space_count(n, 2) for n in range(1, 8)]
    ends = [line.get_xydata() for line in four.lines[:2]]
    (a, b), (c, d) = ends  # the segments cross
    s, t = np.linalg.solve(np.column_stack([b - a, c - d]), c - a)
    assert 0 < s < 1 and 0 < t < 1


def test_the_drawn_rows_have_one_mean_at_unseen_points_alone():
    from figures.learning_theory import no_free_lunch

    unseen, seen = panels(no_free_lunch, 2, 1)
    J = unseen.images[0].get_array()
    assert J.shape == (4, 16)
    np.testing.assert_allclose(J.mean(axis=1), 9 / 32)
    np.testing.assert_allclose(
        seen.images[0].get_array().mean(axis=1) * 32, [0, 7, 3, 0], rtol=1e-9, atol=1e-9
    )
    assert [t.get_text() for t in unseen.texts[:4]] == ["9/32"] * 4
