"""The discriminant chapter: every statement of the notes, checked by a second route."""

import re
from itertools import product

import numpy as np
import pytest
from checks import check_gradient, differences

from mlnotes.clustering import rbf_affinity, scatter
from mlnotes.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_rings,
)
from mlnotes.decision_theory import (
    bayes_classify,
    bayes_error,
    best_cut,
    error_probability,
    normal_log_odds,
    posterior,
)
from mlnotes.discriminant import (
    LinearDiscriminantAnalysis,
    between_scatter,
    class_means,
    determinant_criterion,
    difference_scatter,
    direction_error,
    discriminant,
    discriminants,
    fisher_direction,
    fisher_ratio,
    generalised_eigen,
    label_regression,
    local_scatters,
    mean_direction,
    pca_lda,
    principal_axes,
    project,
    projected_scatters,
    pseudo_inverse_direction,
    rayleigh_gradient,
    rayleigh_quotient,
    regularised_direction,
    separator,
    threshold_rule,
    trace_criterion,
    whitening,
    within_scatter,
)
from mlnotes.generative import SharedCovarianceClassifier, quadratic_log_odds
from mlnotes.linear_regression import augment
from mlnotes.perceptron import perceptron
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_cdf,
    normal_log_density,
)

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
MISSED = (  # separable by x_1 + 2 x_2 > 0, and yet not along the Fisher direction
    np.array([[3, -2], [-3, 1], [3, -3], [-1, 3], [2, 2], [3, -1], [5, 5], [-4, 4]], dtype=float),
    np.array([0] * 3 + [1] * 5),
)


def two_classes(rng, n=(12, 30), d=4, shift=1.0):
    """Two classes of unequal sizes, stretched and correlated, far from the origin."""
    A = rng.normal(size=(d, d))
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(sum(n), d)) @ A + 3 + shift * y[:, None] * rng.normal(size=d)
    return X, y


def several(rng, C=4, d=6, n=15):
    """C classes of n, n + 1, ... samples."""
    y = np.repeat(np.arange(C), n + np.arange(C))
    A = np.eye(d) + 0.4 * rng.normal(size=(d, d))
    return rng.normal(size=(len(y), d)) @ A + 2 * rng.normal(size=(C, d))[y] - 5, y


def parts(X, y):
    """mu, S_B of the difference and S_W of two classes."""
    _, mu = class_means(X, y)
    return mu, difference_scatter(mu), within_scatter(X, y)


def scatters(X, y):
    """S_B and S_W of several classes."""
    return between_scatter(*class_means(X, y)), within_scatter(X, y)


def by_the_book(X, y):
    """S_k of every class, one outer product at a time."""
    found = []
    for c in np.unique(y):
        mu = X[y == c].mean(axis=0)
        found.append(sum(np.outer(x - mu, x - mu) for x in X[y == c]))
    return found


def cosine(u, v):
    return abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v)


def turns(count):
    """Unit vectors of the plane, one per angle of half a turn."""
    t = np.pi * np.arange(count) / count
    return np.column_stack([np.cos(t), np.sin(t)])


# ---------------------------------------------------------------------------------------
# Telling two classes apart
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-01")
def test_the_difference_of_posteriors_decides_as_bayes_and_as_the_line_do(rng):
    mu, prior = rng.normal(size=(2, 3)), np.array([0.3, 0.7])
    A = rng.normal(size=(3, 3))
    Sigma, X = A @ A.T + np.eye(3), 3 * rng.normal(size=(500, 3))
    log_p = np.array([multivariate_normal_log_density(X, each, Sigma) for each in mu]).T
    g, q = discriminant(log_p, prior), posterior(log_p, prior)
    np.testing.assert_allclose(g, 2 * q[:, 0] - 1, rtol=1e-12, atol=1e-12)
    log_odds = np.log(q[:, 0]) - np.log(q[:, 1])
    w, b = normal_log_odds(mu, Sigma, prior)  # of class 1 against class 0
    np.testing.assert_allclose(log_odds, -(X @ w + b), rtol=1e-9, atol=1e-9)  # affine in x
    np.testing.assert_array_equal(np.sign(g), np.sign(log_odds))
    assert 50 < (g > 0).sum() < 450 and (np.abs(g) > 0).all()
    np.testing.assert_array_equal(np.where(g > 0, 0, 1), bayes_classify(log_p, prior))
    np.testing.assert_allclose(
        discriminant(log_p[:, ::-1], prior[::-1]), -g, rtol=1e-12, atol=1e-12
    )


@pytest.mark.claims("discriminant-01")
def test_at_a_tie_the_difference_is_zero():
    log_p = np.log([[0.3, 0.1]])
    assert discriminant(log_p, np.array([0.25, 0.75]))[0] == pytest.approx(0, abs=1e-15)


@pytest.mark.claims("discriminant-02")
def test_separability_is_decided_with_a_certificate(rng):
    X = np.vstack([rng.normal(size=(15, 3)), rng.normal(size=(12, 3)) + [9, 0, 0]])
    y = np.repeat(["near", "far"], (15, 12))
    w, b = separator(X, y)  # far is class 0
    assert (X[y == "near"] @ w + b > 0).all() and (X[y == "far"] @ w + b < 0).all()
    theta = np.array([b, *w])  # with the offset among the weights
    assert (np.where(y == "near", 1, -1) * (augment(X) @ theta) > 0).all()
    w_swapped, b_swapped = separator(X, np.where(y == "near", 0, 1))
    np.testing.assert_allclose([*w_swapped, b_swapped], [*-w, -b], rtol=1e-6)


@pytest.mark.claims("discriminant-02")
def test_xor_touching_and_overlapping_classes_are_not_separable(rng):
    assert separator(*XOR) is None and separator(XOR[0], 1 - XOR[1]) is None
    assert separator(np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])) is None
    assert separator(np.array([[0.0], [1.0], [1.1], [2.0]]), np.array([0, 0, 1, 1])) is not None
    X = rng.normal(size=(40, 2))
    assert separator(X, np.repeat([0, 1], 20)) is None


def test_two_classes_are_asked_for():
    for function in (separator, label_regression, threshold_rule):
        with pytest.raises(ValueError, match="y must hold 2 classes here; got 3"):
            function(np.eye(3), np.arange(3))
    with pytest.raises(ValueError, match="y must hold 2 classes here; got 1"):
        fisher_ratio(np.eye(3), np.zeros(3), np.ones(3))


# ---------------------------------------------------------------------------------------
# Projections
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-03")
def test_means_are_projected_as_samples_are(rng):
    X, y = several(rng)
    w = rng.normal(size=6)
    z = project(X, w)
    np.testing.assert_allclose(z, [sum(a * b for a, b in zip(w, x, strict=True)) for x in X])
    n_k, means = class_means(X, y)
    assert n_k.sum() == len(X) and list(n_k) == [sum(y == c) for c in range(4)]
    for c in range(4):
        np.testing.assert_allclose(means[c], X[y == c].sum(axis=0) / n_k[c], rtol=1e-12)
        assert z[y == c].mean() == pytest.approx(w @ means[c], abs=1e-12)


@pytest.mark.claims("discriminant-03")
def test_a_unit_vector_gives_signed_lengths_of_orthogonal_projections(rng):
    X, w = rng.normal(size=(20, 3)), rng.normal(size=3)
    w /= np.linalg.norm(w)
    z = project(X, w)
    feet = z[:, None] * w
    np.testing.assert_allclose((X - feet) @ w, 0, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.abs(z), np.linalg.norm(feet, axis=1), rtol=1e-12, atol=1e-12)
    assert (np.abs(project(X, 2 * w)) > np.linalg.norm(feet, axis=1)).all()


@pytest.mark.claims("discriminant-04")
def test_the_gap_of_the_means_is_largest_along_their_difference(rng):
    X, y = two_classes(rng)
    _, mu = class_means(X, y)
    delta = mu[1] - mu[0]

    def gap(w):
        return (w @ mu[1] - w @ mu[0]) ** 2

    w = rng.normal(size=4)
    assert gap(10 * w) == pytest.approx(100 * gap(w), rel=1e-12)  # no maximum without a scale
    units = rng.normal(size=(2000, 4))
    units /= np.linalg.norm(units, axis=1)[:, None]
    assert max(map(gap, units)) <= delta @ delta
    best = mean_direction(mu)
    assert np.linalg.norm(best) == pytest.approx(1, abs=1e-12)
    assert gap(best) == pytest.approx(delta @ delta, rel=1e-12)
    assert best @ delta > 0
    np.testing.assert_allclose(mean_direction(1e-100 * mu), best, rtol=1e-12)
    for same in (mu[[0, 0]], np.array([[0.3], [0.1 + 0.2]])):  # the second pair but for rounding
        with pytest.raises(ValueError, match="the means of the classes must differ; got"):
            mean_direction(same)


@pytest.mark.claims("discriminant-05")
def test_the_mean_difference_ignores_the_spread():
    mu, Sigma = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 0.9], [0.9, 1.0]])
    delta = mu[1] - mu[0]
    fisher, naive = np.linalg.solve(Sigma, delta), mean_direction(mu)
    S_B = np.outer(delta, delta)
    assert rayleigh_quotient(naive, S_B, Sigma) < 0.25 * rayleigh_quotient(fisher, S_B, Sigma)
    Delta = np.sqrt(delta @ np.linalg.inv(Sigma) @ delta)
    assert direction_error(fisher, mu, Sigma) == pytest.approx(normal_cdf(-Delta / 2, 0, 1))
    assert direction_error(naive, mu, Sigma) == pytest.approx(normal_cdf(-1, 0, 1))
    assert direction_error(naive, mu, Sigma) > 10 * direction_error(fisher, mu, Sigma)
    for w in turns(180):
        assert direction_error(w, mu, Sigma) >= direction_error(fisher, mu, Sigma) - 1e-12
    same = np.eye(2)  # without correlation there is nothing to ignore
    assert direction_error(naive, mu, same) == pytest.approx(direction_error(delta, mu, same))


@pytest.mark.claims("discriminant-05")
def test_the_error_in_closed_form_is_that_of_the_best_cut_by_quadrature():
    mu, Sigma = np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 0.5], [0.5, 2.0]])
    w = np.array([1.0, -0.3])
    x, dx = gauss_legendre(-12, 12, pieces=200)
    log_p = np.array([normal_log_density(x, w @ each, w @ Sigma @ w) for each in mu]).T
    quadrature = bayes_error(log_p, np.array([0.5, 0.5]), dx)
    assert direction_error(w, mu, Sigma) == pytest.approx(quadrature, abs=1e-4)


@pytest.mark.claims("discriminant-06")
def test_projected_scatter_is_count_times_variance(rng):
    X, y = several(rng)
    w = rng.normal(size=6)
    z = X @ w
    book = [len(z[y == c]) * np.var(z[y == c]) for c in range(4)]
    np.testing.assert_allclose(projected_scatters(X, y, w), book, rtol=1e-10)
    np.testing.assert_allclose(projected_scatters(X + 100, y, -2 * w), 4 * np.array(book))


@pytest.mark.claims("discriminant-07")
def test_the_criterion_knows_neither_length_nor_origin_and_peaks_at_the_lda_direction(rng):
    X, y = two_classes(rng, d=2)
    w = rng.normal(size=2)
    z = X @ w
    a, b = z[y == 0], z[y == 1]
    book = (a.mean() - b.mean()) ** 2 / (len(a) * a.var() + len(b) * b.var())
    assert fisher_ratio(X, y, w) == pytest.approx(book, rel=1e-12)
    assert fisher_ratio(X, y, -7 * w) == pytest.approx(book, rel=1e-12)
    assert fisher_ratio(X + [50, -9], y, w) == pytest.approx(book, rel=1e-10)
    mu, _, S_W = parts(X, y)
    best = fisher_direction(S_W, mu)
    grid = turns(1800)
    J = [fisher_ratio(X, y, u) for u in grid]
    assert cosine(grid[np.argmax(J)], best) > np.cos(np.pi / 1800)
    assert max(J) <= fisher_ratio(X, y, best) * (1 + 1e-12)


@pytest.mark.claims("discriminant-07")
def test_no_random_direction_exceeds_the_best(rng):
    X, y = two_classes(rng, d=5)
    mu, _, S_W = parts(X, y)
    most = fisher_ratio(X, y, fisher_direction(S_W, mu))
    assert all(fisher_ratio(X, y, w) < most for w in rng.normal(size=(500, 5)))
    with pytest.raises(ValueError, match="the projected classes must have some spread"):
        fisher_ratio(np.column_stack([X, y]), y, np.array([0, 0, 0, 0, 0, 1.0]))
    thirds = np.repeat([0.1, 0.7], 3)  # the mean of three times 0.1 is another number
    assert thirds[:3].mean() != 0.1
    with pytest.raises(ValueError, match="the projected classes must have some spread"):
        fisher_ratio(thirds[:, None], thirds > 0.5, np.ones(1))
    assert fisher_ratio(1e-9 * X + 1, y, np.ones(5)) > 0


@pytest.mark.claims("discriminant-08")
def test_a_difference_of_squares_is_no_separation(rng):
    X, y = two_classes(rng)
    w = rng.normal(size=4)

    def numerators(X):
        mu, S_B, _ = parts(X, y)
        m_0, m_1 = mu @ w
        assert w @ S_B @ w == pytest.approx((m_1 - m_0) ** 2, rel=1e-12)
        return m_1**2 - m_0**2, (m_1 - m_0) ** 2

    (printed, correct), (printed_moved, correct_moved) = numerators(X), numerators(X + 7)
    assert correct_moved == pytest.approx(correct, rel=1e-9)
    assert abs(printed_moved - printed) > 1
    assert abs(printed - correct) > 1e-3
    for mu, value in (([[-3.0], [1.0]], -8.0), ([[-2.0], [2.0]], 0.0)):
        m_0, m_1 = np.array(mu)[:, 0]
        assert m_1**2 - m_0**2 == value and difference_scatter(np.array(mu))[0, 0] == 16.0


# ---------------------------------------------------------------------------------------
# Scatter matrices
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-09")
def test_between_scatter_of_two_has_one_direction(rng):
    mu = rng.normal(size=(2, 5))
    S_B, delta = difference_scatter(mu), mu[0] - mu[1]
    np.testing.assert_array_equal(S_B, S_B.T)
    for w in rng.normal(size=(20, 5)):
        assert w @ S_B @ w == pytest.approx((w @ mu[0] - w @ mu[1]) ** 2, rel=1e-12)
    values, V = np.linalg.eigh(S_B)
    assert np.linalg.matrix_rank(S_B) == 1
    assert values[-1] == pytest.approx(delta @ delta) and cosine(V[:, -1], delta) > 1 - 1e-12
    np.testing.assert_allclose(values[:-1], 0, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("discriminant-10")
def test_within_scatter_sums_the_classes_and_completes_the_total(rng):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    S = by_the_book(X, y)
    np.testing.assert_allclose(S_W, S[0] + S[1], rtol=1e-10, atol=1e-10)
    for w in rng.normal(size=(10, 4)):
        s2 = projected_scatters(X, y, w)
        np.testing.assert_allclose(s2, [w @ S_k @ w for S_k in S], rtol=1e-10)
        assert s2.sum() == pytest.approx(w @ S_W @ w, rel=1e-10)
        total = len(X) * np.var(X @ w)
        assert total == pytest.approx(w @ S_W @ w + 12 * 30 / 42 * (w @ S_B @ w), rel=1e-9)
    np.testing.assert_allclose(S[1] / 30, np.cov(X[y == 1].T, bias=True), rtol=1e-9)
    S_T = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    np.testing.assert_allclose(S_T, S_W + 12 * 30 / 42 * S_B, rtol=1e-9, atol=1e-9)


@pytest.mark.claims("discriminant-11")
def test_one_class_is_not_the_within_scatter(rng):
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) * np.where(y[:, None] == 0, [1.0, 1.0], [6.0, 0.5]) + y[:, None]
    mu, _, S_W = parts(X, y)
    printed, w = by_the_book(X, y)[0], rng.normal(size=2)
    s2 = projected_scatters(X, y, w)
    assert w @ printed @ w == pytest.approx(s2[0]) and w @ printed @ w < 0.9 * s2.sum()
    wrong, right = fisher_direction(printed, mu), fisher_direction(S_W, mu)
    assert fisher_ratio(X, y, wrong) < 0.5 * fisher_ratio(X, y, right)


@pytest.mark.claims("discriminant-12")
def test_mixed_means_are_right_over_their_class_and_double_over_all(rng):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    S = by_the_book(X, y)

    def mixed(samples, first, second):
        return (samples - mu[first]).T @ (samples - mu[second])

    np.testing.assert_allclose(mixed(X[y == 0], 0, 1), S[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mixed(X[y == 1], 1, 0), S[1], rtol=1e-9, atol=1e-9)
    total = mixed(X, 0, 1) + mixed(X, 1, 0)
    np.testing.assert_allclose(total, 2 * S_W, rtol=1e-9, atol=1e-9)
    printed, right = fisher_direction(total, mu), fisher_direction(S_W, mu)
    assert cosine(printed, right) == pytest.approx(1, abs=1e-12)
    half = rayleigh_quotient(right, S_B, total)
    assert half == pytest.approx(fisher_ratio(X, y, right) / 2, rel=1e-9)


@pytest.mark.claims("discriminant-25")
def test_scatters_of_several_classes_add_up_and_transform(rng):
    X, y = several(rng)
    S_B, S_W = scatters(X, y)
    n_k, means = class_means(X, y)
    mu = sum(n * m for n, m in zip(n_k, means, strict=True)) / n_k.sum()
    np.testing.assert_allclose(mu, X.mean(axis=0), rtol=1e-12)
    book = sum(n * np.outer(m - mu, m - mu) for n, m in zip(n_k, means, strict=True))
    np.testing.assert_allclose(S_B, book, rtol=1e-9, atol=1e-9)
    S = by_the_book(X, y)
    np.testing.assert_allclose(S_W, sum(S), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(S[2] / n_k[2], np.cov(X[y == 2].T, bias=True), rtol=1e-9)
    total = len(X) * np.cov(X.T, bias=True)
    np.testing.assert_allclose(S_B + S_W, total, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(S_B, scatter(X, y).between, rtol=1e-9, atol=1e-9)
    W = rng.normal(size=(6, 3))
    after_B, after_W = scatters(project(X, W), y)
    np.testing.assert_allclose(after_B, W.T @ S_B @ W, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after_W, W.T @ S_W @ W, rtol=1e-9, atol=1e-9)


@pytest.mark.claims("discriminant-26")
def test_for_two_classes_only_a_factor_is_different(rng):
    X, y = two_classes(rng)
    mu, S_2, S_W = parts(X, y)
    S_B, _ = scatters(X, y)
    np.testing.assert_allclose(S_B, 12 * 30 / 42 * S_2, rtol=1e-10, atol=1e-12)
    several_way, two_way = discriminants(S_B, S_W, 1), fisher_direction(S_W, mu)
    assert cosine(several_way.W[:, 0], two_way) > 1 - 1e-10


@pytest.mark.claims("discriminant-27")
@pytest.mark.parametrize("C, d", [(2, 5), (4, 6), (6, 3)])
def test_rank_is_one_less_than_the_classes(rng, C, d):
    X, y = several(rng, C=C, d=d)
    S_B, S_W = scatters(X, y)
    n_k, means = class_means(X, y)
    np.testing.assert_allclose(n_k @ (means - X.mean(axis=0)), 0, rtol=1e-9, atol=1e-9)
    most = min(C - 1, d)
    assert np.linalg.matrix_rank(S_B, hermitian=True) == most
    values, _ = generalised_eigen(S_B, S_W)
    assert (values[most:] < 1e-8).all() and values[most - 1] > 1e-3
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert model.transform(X).shape == (len(X), most)
    message = rf"n_components must be at most min\(C - 1, d\) = {most}; got {most + 1}"
    with pytest.raises(ValueError, match=message):
        LinearDiscriminantAnalysis(n_components=most + 1).fit(X, y)
    with pytest.raises(ValueError, match=f"m must be between 1 and the rank of S_B, {most}; got"):
        discriminants(S_B, S_W, most + 1)
    assert principal_axes(X).shape == (d, d)  # PCA is not bound by the classes


@pytest.mark.claims("discriminant-27")
def test_means_in_a_row_leave_one_feature(rng):
    noise = rng.normal(size=(20, 3))
    X = np.vstack([noise + c * np.array([1.0, 2.0, 0.0]) for c in (0.0, 1.0, 5.0)])
    y = np.repeat([0, 1, 2], 20)
    assert np.linalg.matrix_rank(scatters(X, y)[0], hermitian=True) == 1
    for tol in (1e-4, 0.0):
        model = LinearDiscriminantAnalysis(tol=tol).fit(X, y)
        assert model.transform(X).shape == (60, 1) and model.scalings_.shape == (3, 1)
    with pytest.raises(ValueError, match="n_components must be at most the rank of S_B, 1"):
        LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    means = 1e11 + np.outer([0.0, 10.0, 30.0], rng.normal(size=3))  # in a row but for rounding
    S_B = between_scatter(np.array([5, 7, 4]), means)
    assert discriminants(S_B, np.eye(3)).W.shape == (3, 1)


# ---------------------------------------------------------------------------------------
# The best direction
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-13")
def test_the_criterion_is_a_rayleigh_quotient(rng):
    X, y = two_classes(rng)
    _, S_B, S_W = parts(X, y)
    for w in rng.normal(size=(50, 4)):
        assert rayleigh_quotient(w, S_B, S_W) == pytest.approx(fisher_ratio(X, y, w), rel=1e-10)


@pytest.mark.claims("discriminant-14", "discriminant-15")
def test_gradient_by_the_quotient_rule_and_with_its_terms_exchanged(rng):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    S_B, S_W = S_B / 10, S_W / 10
    for w in rng.normal(size=(10, 4)):
        check_gradient(
            lambda v: rayleigh_quotient(v, S_B, S_W), lambda v: rayleigh_gradient(v, S_B, S_W), w
        )
        g = rayleigh_gradient(w, S_B, S_W)
        assert w @ g == pytest.approx(0, abs=1e-10)
        printed = (2 * S_W @ w * (w @ S_B @ w) - 2 * S_B @ w * (w @ S_W @ w)) / (w @ S_W @ w) ** 2
        numeric = differences(lambda v: rayleigh_quotient(v, S_B, S_W), w)
        np.testing.assert_allclose(numeric, -printed, rtol=1e-5, atol=1e-8)
        J = rayleigh_quotient(w, S_B, S_W)
        step = 1e-4 / np.linalg.norm(g)
        assert rayleigh_quotient(w + step * g, S_B, S_W) > J
        assert rayleigh_quotient(w + step * printed, S_B, S_W) < J
    best = fisher_direction(S_W, mu)
    np.testing.assert_allclose(rayleigh_gradient(best, S_B, S_W), 0, rtol=1e-9, atol=1e-9)
    J = rayleigh_quotient(best, S_B, S_W)
    np.testing.assert_allclose(S_B @ best, J * S_W @ best, rtol=1e-9)


@pytest.mark.claims("discriminant-16", "discriminant-17")
def test_the_eigenproblem_has_one_solution_that_counts_and_it_is_the_closed_form(rng):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    values, W = generalised_eigen(S_B, S_W)
    np.testing.assert_allclose(S_B @ W, S_W @ W * values, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(W.T @ S_W @ W, np.eye(4), rtol=1e-9, atol=1e-9)
    delta = mu[1] - mu[0]
    most = delta @ np.linalg.inv(S_W) @ delta
    assert values[0] == pytest.approx(most, rel=1e-10)
    np.testing.assert_allclose(values[1:], 0, rtol=1e-10, atol=1e-10)
    best = fisher_direction(S_W, mu)
    assert fisher_ratio(X, y, best) == pytest.approx(most, rel=1e-10)
    assert cosine(W[:, 0], best) > 1 - 1e-10
    s, V = np.linalg.eigh(S_W)  # the symmetric route, by S_W^{-1/2}
    root = V / np.sqrt(s) @ V.T
    half_values, half = np.linalg.eigh(root @ S_B @ root)
    np.testing.assert_allclose(half_values[::-1], values, rtol=1e-10, atol=1e-10)
    assert cosine(root @ half[:, -1], best) > 1 - 1e-10


@pytest.mark.claims("discriminant-16")
def test_eigenvalues_are_those_of_the_unsymmetric_matrix_largest_first(rng):
    S_B, S_W = scatters(*several(rng))
    values, _ = generalised_eigen(S_B, S_W)
    book = np.sort(np.linalg.eigvals(np.linalg.inv(S_W) @ S_B).real)[::-1]
    np.testing.assert_allclose(values, book, rtol=1e-9, atol=1e-9)


@pytest.mark.claims("discriminant-17")
def test_between_scatter_turns_everything_towards_the_mean_difference(rng):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    delta = mu[1] - mu[0]
    for w in rng.normal(size=(20, 4)):
        np.testing.assert_allclose(S_B @ w, (delta @ w) * delta, rtol=1e-10)
    np.testing.assert_allclose(S_W @ fisher_direction(S_W, mu), delta, rtol=1e-9)
    assert fisher_direction(S_W, mu) @ delta > 0
    np.testing.assert_allclose(fisher_direction(4 * S_W, mu), fisher_direction(S_W, mu) / 4)


@pytest.mark.claims("discriminant-17")
def test_features_of_very_different_units_are_no_trouble(rng):
    X, y = two_classes(rng)
    unit = np.array([1e-9, 1.0, 1e6, 1e12])
    mu, _, S_W = parts(X, y)
    scaled = fisher_direction(within_scatter(X * unit, y), mu * unit)
    np.testing.assert_allclose(scaled * unit, fisher_direction(S_W, mu), rtol=1e-6)
    constant = np.column_stack([X, np.full(len(X), 2.0)])
    mu, _, S_W = parts(constant, y)
    with pytest.raises(ValueError, match="S_W must be regular; got rank 4 of 5"):
        fisher_direction(S_W, mu)


@pytest.mark.claims("discriminant-18")
@pytest.mark.parametrize("targets", [None, (-1, 1), (0, 1), (5, -3)])
def test_least_squares_on_labels_finds_the_same_direction(rng, targets):
    X, y = two_classes(rng)
    mu, _, S_W = parts(X, y)
    w, b = label_regression(X, y, targets)
    values = np.array((-42 / 12, 42 / 30) if targets is None else targets, dtype=float)[y]
    theta, *_ = np.linalg.lstsq(augment(X), values, rcond=None)
    np.testing.assert_allclose([b, *w], theta, rtol=1e-7, atol=1e-9)
    assert cosine(w, fisher_direction(S_W, mu)) > 1 - 1e-10


@pytest.mark.claims("discriminant-18")
def test_where_the_fit_is_zero_depends_on_the_coding(rng):
    for n, equal in (((12, 30), False), ((20, 20), True)):
        X, y = two_classes(rng, n=n)
        _, mu = class_means(X, y)
        w, b = label_regression(X, y)
        assert w @ X.mean(axis=0) + b == pytest.approx(0, abs=1e-10)
        w, b = label_regression(X, y, (-1, 1))
        at_midpoint = w @ mu.mean(axis=0) + b
        assert (abs(at_midpoint) < 1e-10) == equal
    with pytest.raises(ValueError, match=r"targets must differ between the classes; got \[1. 1.\]"):
        label_regression(X, y, (1, 1))


@pytest.mark.claims("discriminant-19")
@pytest.mark.parametrize("prior", [None, np.array([0.5, 0.5]), np.array([0.9, 0.1])])
def test_the_threshold_is_that_of_normal_classes_of_one_covariance(rng, prior):
    X, y = two_classes(rng)
    new = 4 * rng.normal(size=(2000, 4)) + X.mean(axis=0)
    w, b = threshold_rule(X, y, prior)
    mu, _, S_W = parts(X, y)
    pi = np.array([12, 30]) / 42 if prior is None else prior
    log_p = np.array([multivariate_normal_log_density(new, each, S_W / 42) for each in mu]).T
    log_odds = np.log(pi[1] / pi[0]) + log_p[:, 1] - log_p[:, 0]
    np.testing.assert_allclose(new @ w + b, log_odds, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(new @ w + b > 0, bayes_classify(log_p, pi) == 1)
    assert cosine(w, fisher_direction(S_W, mu)) > 1 - 1e-10
    shift = np.log(pi[1] / pi[0])
    assert w @ mu.mean(axis=0) + b == pytest.approx(shift, abs=1e-8)  # halfway for equal priors


@pytest.mark.parametrize("prior", [[0.0, 1.0], [1.0, 0.0], [0.5, 0.6], [1.5, -0.5], [1.0]])
def test_the_threshold_rule_refuses_a_prior_without_a_threshold(rng, prior):
    X, y = two_classes(rng)
    with pytest.raises(ValueError, match="^prior must"):
        threshold_rule(X, y, np.array(prior))


@pytest.mark.claims("discriminant-21")
def test_the_fisher_direction_may_miss_a_separable_set():
    X, y = MISSED
    assert ((X @ [1.0, 2.0] > 0) == (y == 1)).all()
    assert separator(X, y) is not None
    assert list(perceptron(augment(X), 2 * y - 1))[-1].mistakes == 0
    mu, _, S_W = parts(X, y)
    z = project(X, fisher_direction(S_W, mu))
    assert z[y == 1].min() < z[y == 0].max() and best_cut(z, y).errors > 0
    assert fisher_ratio(X, y, np.array([1.0, 2.0])) < fisher_ratio(X, y, fisher_direction(S_W, mu))


@pytest.mark.claims("discriminant-21")
def test_overlapping_classes_have_a_direction_all_the_same(rng):
    X, y = two_classes(rng, shift=0.2)
    assert separator(X, y) is None
    mu, _, S_W = parts(X, y)
    assert np.isfinite(fisher_direction(S_W, mu)).all()


@pytest.mark.claims("discriminant-22")
def test_with_the_moments_of_the_population_it_is_bayes_rule(rng):
    mu, A, half = rng.normal(size=(2, 3)), rng.normal(size=(3, 3)), np.array([0.5, 0.5])
    Sigma = A @ A.T + 0.2 * np.eye(3)
    w = fisher_direction(1000 * Sigma, mu)
    bayes, _ = normal_log_odds(mu, Sigma, half)
    np.testing.assert_allclose(1000 * w, np.linalg.inv(Sigma) @ (mu[1] - mu[0]), rtol=1e-9)
    assert cosine(w, bayes) > 1 - 1e-10
    Delta = np.sqrt((mu[1] - mu[0]) @ np.linalg.inv(Sigma) @ (mu[1] - mu[0]))
    assert direction_error(w, mu, Sigma) == pytest.approx(normal_cdf(-Delta / 2, 0, 1), rel=1e-9)


@pytest.mark.claims("discriminant-22")
def test_with_unequal_covariances_no_threshold_does_as_well_as_the_quadratic_rule():
    x, dx = gauss_legendre(-30, 30, pieces=300)
    log_p = np.array([normal_log_density(x, 0.0, 1.0), normal_log_density(x, 0.0, 9.0)]).T
    half = np.array([0.5, 0.5])
    A, w, b = quadratic_log_odds(np.zeros((2, 1)), np.array([[[1.0]], [[9.0]]]), half)
    h = (A[0, 0] * x**2 + w[0] * x + b > 0).astype(int)
    quadratic = error_probability(h, log_p, half, dx)
    assert quadratic == pytest.approx(bayes_error(log_p, half, dx), abs=1e-9)
    thresholds = np.linspace(-10, 10, 401)
    upper = [error_probability((x > t).astype(int), log_p, half, dx) for t in thresholds]
    linear = np.minimum(upper, 1 - np.array(upper)).min()  # either class above
    assert linear > quadratic + 0.08


@pytest.mark.claims("discriminant-23")
def test_with_equal_means_the_criterion_is_zero_and_no_direction_is_returned(rng):
    T = make_rings(200, radii=(0.5, 2.0), rng=rng)
    X, y = T.X.copy(), np.where(T.y > 0, 1, 0)
    for c in (0, 1):
        X[y == c] -= X[y == c].mean(axis=0)
    mu, S_B, S_W = parts(X, y)
    assert max(fisher_ratio(X, y, w) for w in turns(360)) < 1e-25
    message = "the means of the classes must differ: where they coincide, S_B = 0"
    calls = (
        lambda: fisher_direction(S_W, mu),
        lambda: discriminants(S_B, S_W, 1),
        lambda: threshold_rule(X, y),
        lambda: LinearDiscriminantAnalysis().fit(X, y),
        lambda: LinearDiscriminantAnalysis(solver="eigen").fit(X, y),
    )
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()
    quadratic = np.sum((X - X.mean(axis=0)) ** 2, axis=1)
    assert best_cut(quadratic, y).errors == 0
    assert min(best_cut(X @ w, y).errors for w in turns(90)) > 20


@pytest.mark.claims("discriminant-23")
def test_equal_means_are_reported_on_the_corners_of_xor():
    mu, S_B, S_W = parts(*XOR)
    assert not S_B.any()
    with pytest.raises(ValueError, match="the means of the classes must differ"):
        fisher_direction(S_W, mu)


# ---------------------------------------------------------------------------------------
# Several classes
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-28")
def test_determinants_are_largest_at_the_eigenvectors(rng):
    S_B, S_W = scatters(*several(rng))
    with pytest.raises(ValueError, match="m must be between 1 and the rank of S_B, 3; got 0"):
        discriminants(S_B, S_W, 0)
    assert determinant_criterion(np.eye(2), np.diag([-8.0, 3.0]), np.eye(2)) == pytest.approx(-24)
    for m in (1, 2, 3):
        values, W = discriminants(S_B, S_W, m)
        J = determinant_criterion(W, S_B, S_W)
        assert J == pytest.approx(values.prod(), rel=1e-8)
        others = [determinant_criterion(V, S_B, S_W) for V in rng.normal(size=(300, 6, m))]
        assert max(others) < J
        M = rng.normal(size=(m, m))
        assert determinant_criterion(W @ M, S_B, S_W) == pytest.approx(J, rel=1e-8)
    V = rng.normal(size=(6, 2))
    book = np.linalg.det(V.T @ S_B @ V) / np.linalg.det(V.T @ S_W @ V)
    assert determinant_criterion(V, S_B, S_W) == pytest.approx(book, rel=1e-10)
    V = rng.normal(size=(6, 4))
    assert determinant_criterion(V, S_B, S_W) == pytest.approx(0, abs=1e-10)
    with pytest.raises(ValueError, match="W.T S_W W must be regular; its determinant is 0"):
        determinant_criterion(np.eye(6)[:, [0, 0]], S_B, S_W)


@pytest.mark.claims("discriminant-28")
def test_for_two_classes_both_criteria_are_the_fisher_ratio(rng):
    X, y = two_classes(rng)
    _, S_B, S_W = parts(X, y)
    w = rng.normal(size=(4, 1))
    J = fisher_ratio(X, y, w[:, 0])
    assert determinant_criterion(w, S_B, S_W) == pytest.approx(J, rel=1e-10)
    assert trace_criterion(w, S_B, S_W) == pytest.approx(J, rel=1e-10)


@pytest.mark.claims("discriminant-29", "discriminant-30")
def test_traces_are_largest_at_the_eigenvectors_and_depend_on_them(rng):
    S_B, S_W = scatters(*several(rng))
    whole, best = np.trace(np.linalg.solve(S_W, S_B)), []
    for m in (1, 2, 3):
        values, W = discriminants(S_B, S_W, m)
        J = trace_criterion(W, S_B, S_W)
        best.append(J)
        assert J == pytest.approx(values.sum(), rel=1e-8)
        others = [trace_criterion(V, S_B, S_W) for V in rng.normal(size=(300, 6, m))]
        assert max(others) < J and max(others) < 0.999 * whole  # ISML: all of them equal to it
        M = rng.normal(size=(m, m))
        assert trace_criterion(W @ M, S_B, S_W) == pytest.approx(J, rel=1e-8)
    assert best[0] < best[1] < best[2] == pytest.approx(whole, rel=1e-8)


# ---------------------------------------------------------------------------------------
# Where S_W is singular
# ---------------------------------------------------------------------------------------


def few(rng, n=(5, 5), d=20):
    """Two classes of fewer samples than features."""
    return rng.normal(size=(sum(n), d)) + np.repeat([0, 1], n)[:, None], np.repeat([0, 1], n)


@pytest.mark.claims("discriminant-32")
def test_few_samples_make_the_within_scatter_singular_and_remedies_exist(rng):
    X, y = few(rng)
    mu, S_B, S_W = parts(X, y)
    assert np.linalg.matrix_rank(S_W, hermitian=True) == 8
    message = re.escape("S_W must be regular; got rank 8 of 20 (it is at most n - C): reduce")
    for call in (
        lambda: fisher_direction(S_W, mu),
        lambda: generalised_eigen(S_B, S_W),
        lambda: threshold_rule(X, y),
        lambda: LinearDiscriminantAnalysis(solver="eigen").fit(X, y),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    remedies = (
        regularised_direction(S_W, mu, 0.1),
        pca_lda(X, y).W[:, 0],
        pseudo_inverse_direction(S_W, mu),
        LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(X, y).coef_[0],
        LinearDiscriminantAnalysis().fit(X, y).coef_[0],
    )
    for w in remedies:
        assert np.isfinite(w).all() and fisher_ratio(X, y, w) > 0


@pytest.mark.claims("discriminant-32")
def test_in_the_null_space_of_the_within_scatter_the_criterion_is_unbounded(rng):
    X, y = few(rng)
    mu, _, S_W = parts(X, y)
    _, V = np.linalg.eigh(S_W)
    null = V[:, :12]
    w = null @ (null.T @ (mu[1] - mu[0]))
    np.testing.assert_allclose(projected_scatters(X, y, w), 0, rtol=1e-13, atol=1e-20)
    assert (w @ (mu[1] - mu[0])) ** 2 > 1
    ratios = [fisher_ratio(X, y, regularised_direction(S_W, mu, g)) for g in (1, 1e-2, 1e-4)]
    assert ratios[1] > 100 * ratios[0] and ratios[2] > 100 * ratios[1]  # no end to it


@pytest.mark.claims("discriminant-33")
def test_the_rank_is_samples_less_classes(rng):
    for n, rank in ((10, 8), (11, 9), (12, 10)):
        X, y = few(rng, n=(5, n - 5), d=10)
        S_W = within_scatter(X, y)
        assert np.linalg.matrix_rank(S_W, hermitian=True) == rank
    X, y = several(rng, C=4, d=20, n=3)  # 3 + 4 + 5 + 6 = 18
    assert np.linalg.matrix_rank(within_scatter(X, y), hermitian=True) == 18 - 4


@pytest.mark.claims("discriminant-34")
def test_pca_first_makes_the_within_scatter_regular(rng):
    X, y = few(rng)
    P = principal_axes(X, 8)
    np.testing.assert_allclose(P.T @ P, np.eye(8), rtol=1e-12, atol=1e-12)
    S_W = within_scatter(X @ P, y)
    assert np.linalg.matrix_rank(S_W, hermitian=True) == 8
    values, W = pca_lda(X, y)
    assert W.shape == (20, 1)
    w = W[:, 0]
    _, _, Vt = np.linalg.svd(X - X.mean(axis=0))
    np.testing.assert_allclose(
        Vt[9:] @ w, 0, rtol=1e-10, atol=1e-10
    )  # in the span of the centred samples
    in_pca = np.linalg.solve(S_W, P.T @ (X[5:].mean(axis=0) - X[:5].mean(axis=0)))
    assert cosine(w, P @ in_pca) > 1 - 1e-9
    ratio = fisher_ratio(X, y, w)
    assert values[0] == pytest.approx(ratio * 5 * 5 / 10, rel=1e-8)  # n_0 n_1 / n
    assert fisher_ratio(X, y, pca_lda(X, y, 3).W[:, 0]) < ratio
    with pytest.raises(ValueError, match="m must be at most n - C = 8, the rank of S_W; got 9"):
        pca_lda(X, y, 9)
    with pytest.raises(ValueError, match="X must have more samples than classes; got 2 of both"):
        pca_lda(X[4:6], y[4:6])


@pytest.mark.claims("discriminant-34")
def test_pca_that_keeps_everything_changes_nothing(rng):
    X, y = several(rng)
    plain, composed = discriminants(*scatters(X, y)), pca_lda(X, y)
    np.testing.assert_allclose(composed.values, plain.values, rtol=1e-8)
    for u, v in zip(composed.W.T, plain.W.T, strict=True):
        assert cosine(u, v) > 1 - 1e-8
    spread = composed.W.T @ within_scatter(X, y) @ composed.W
    np.testing.assert_allclose(spread, np.eye(3), rtol=1e-10, atol=1e-10)


@pytest.mark.claims("discriminant-27")
@pytest.mark.parametrize("noise", [1e-3, 1e-4, 1e-5, 1e-6])
def test_rounding_in_nearly_dependent_features_adds_no_discriminants(rng, noise):
    X, y = two_classes(rng, n=(20, 20))
    for _ in range(5):
        Z = np.column_stack([X, X[:, 0] + noise * rng.normal(size=40)])
        assert discriminants(*scatters(Z, y)).W.shape == pca_lda(Z, y).W.shape == (5, 1)


def test_principal_axes_are_those_of_the_covariance(rng):
    X, _ = several(rng)
    values, V = np.linalg.eigh(np.cov(X.T))
    for u, v in zip(principal_axes(X, 3).T, V[:, ::-1].T, strict=False):
        assert cosine(u, v) > 1 - 1e-10
    with pytest.raises(ValueError, match="m must be between 1 and the rank of the centred X, 1"):
        principal_axes(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), 2)
    constant = np.full((7, 1), 0.1)
    assert constant.mean() != 0.1
    with pytest.raises(ValueError, match="m must be between 1 and the rank of the centred X, 0"):
        principal_axes(constant)
    axes = principal_axes(np.column_stack([np.full(66, 1e15 / 7), X]))
    np.testing.assert_allclose(abs(axes[1:].T @ principal_axes(X)), np.eye(6), rtol=1e-9, atol=1e-9)
    assert not axes[0].any()


@pytest.mark.claims("discriminant-35")
def test_regularisation_leads_from_the_fisher_direction_to_the_mean_difference(rng):
    X, y = two_classes(rng)
    mu, _, S_W = parts(X, y)
    delta, fisher = mu[1] - mu[0], fisher_direction(S_W, mu)
    gamma = 0.7
    book = np.linalg.inv(S_W + gamma * np.eye(4)) @ delta
    np.testing.assert_allclose(regularised_direction(S_W, mu, gamma), book, rtol=1e-9)
    size = np.trace(S_W)
    ends = [regularised_direction(S_W, mu, g * size) for g in (1e-12, 1e8)]
    assert cosine(ends[0], fisher) > 1 - 1e-9 and cosine(ends[1], delta) > 1 - 1e-9
    assert cosine(fisher, delta) < 0.99
    X, y = few(rng)
    mu, _, S_W = parts(X, y)
    np.linalg.cholesky(S_W + 1e-6 * np.eye(20))  # positive definite
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="gamma must be > 0 and finite; got"):
            regularised_direction(S_W, mu, bad)


def test_pseudo_inverse_is_the_inverse_where_there_is_one(rng):
    X, y = two_classes(rng)
    mu, _, S_W = parts(X, y)
    w = pseudo_inverse_direction(S_W, mu)
    np.testing.assert_allclose(w, fisher_direction(S_W, mu), rtol=1e-8)
    X, y = few(rng)
    mu, _, S_W = parts(X, y)
    _, V = np.linalg.eigh(S_W)
    np.testing.assert_allclose(
        V[:, :12].T @ pseudo_inverse_direction(S_W, mu), 0, rtol=1e-9, atol=1e-9
    )


# ---------------------------------------------------------------------------------------
# Local scatter
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-36")
def test_local_scatters_are_sums_over_pairs_and_ordinary_if_all_are_neighbours(rng):
    X, y = several(rng, C=3, d=3, n=5)
    A = rng.uniform(size=(len(X), len(X)))
    A = (A + A.T) / 2
    n, n_k = len(X), np.bincount(y)
    book_B, book_W = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(n):
        for j in range(n):
            pair = np.outer(X[i] - X[j], X[i] - X[j]) / 2
            if y[i] == y[j]:
                book_W += A[i, j] / n_k[y[i]] * pair
                book_B += A[i, j] * (1 / n - 1 / n_k[y[i]]) * pair
            else:
                book_B += pair / n
    S_B, S_W = local_scatters(X, y, A)
    np.testing.assert_allclose(S_B, book_B, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(S_W, book_W, rtol=1e-9, atol=1e-9)
    for far, near in zip(local_scatters(X + 1e7, y, A), (S_B, S_W), strict=True):
        np.testing.assert_allclose(far, near, rtol=1e-6, atol=1e-6)
    for ours, ordinary in zip(local_scatters(X, y, np.ones((n, n))), scatters(X, y), strict=True):
        np.testing.assert_allclose(ours, ordinary, rtol=1e-10, atol=1e-10)


def clumps(rng):
    """Class 0 in two clumps on both sides of class 1, with a wide direction across."""
    X = rng.normal(size=(120, 2)) * [0.4, 2.0] + np.repeat([-4.0, 4.0, 0.0], 40)[:, None] * [1, 0]
    y = np.repeat([0, 0, 1], 40)
    for c in (0, 1):
        X[y == c] -= X[y == c].mean(axis=0)
    X[y == 1] += [0.0, 0.6]
    return X, y


@pytest.mark.claims("discriminant-36")
def test_a_class_on_both_sides_of_the_other_is_found_by_local_scatter(rng):
    X, y = clumps(rng)
    mu, _, S_W = parts(X, y)
    fisher = fisher_direction(S_W, mu)
    assert fisher_ratio(X, y, np.array([1.0, 0.0])) < 1e-20  # what it sees of the right direction
    local = discriminants(*local_scatters(X, y, rbf_affinity(X, gamma=0.5)), 1).W[:, 0]
    z, order = project(X, local), np.repeat([0, 2, 1], 40)
    z = z * np.sign(z[order == 2].mean())
    low, middle, high = (z[order == c] for c in (0, 1, 2))
    assert low.max() < middle.min() and middle.max() < high.min()
    z = project(X, fisher)
    low, middle, high = (z[order == c] for c in (0, 1, 2))
    assert max(low.min(), middle.min(), high.min()) < min(low.max(), middle.max(), high.max())


# ---------------------------------------------------------------------------------------
# Where PCA is better
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("discriminant-37")
def test_with_few_samples_the_first_principal_axis_beats_the_pseudo_inverse():
    d, gaps = 20, []
    mu, Sigma = np.zeros((2, d)), np.diag([4.0] + [1.0] * (d - 1))
    mu[:, 0] = -3, 3
    for n_k in (11, 1000):
        errors = []
        for seed in range(50 if n_k == 11 else 10):
            T = make_blobs((n_k, n_k), mu, Sigma, rng=np.random.default_rng(seed))
            estimated, _, S_W = parts(T.X, T.y)
            w = pseudo_inverse_direction(S_W, estimated)
            errors.append(
                [direction_error(v, mu, Sigma) for v in (principal_axes(T.X, 1)[:, 0], w)]
            )
        pca, lda = np.mean(errors, axis=0)
        gaps.append(lda - pca)
    assert gaps[0] > 0.1 and abs(gaps[1]) < 2e-3


@pytest.mark.claims("discriminant-37")
def test_samples_that_are_not_spread_as_their_class_mislead_lda():
    left = np.array([[-5, -0.5], [-1, 0.5], [-3, 0.05], [-3, -0.05]])
    X, y = np.vstack([left, left + [6, 0]]), np.repeat([0, 1], 4)
    truth, Sigma = np.array([[-3.0, 0.0], [3.0, 0.0]]), np.diag([4.0, 1.0])
    mu, _, S_W = parts(X, y)
    np.testing.assert_allclose(mu, truth, rtol=1e-12, atol=1e-12)
    lda, pca = fisher_direction(S_W, mu), principal_axes(X, 1)[:, 0]
    assert direction_error(lda, truth, Sigma) == pytest.approx(0.249, abs=5e-4)
    assert direction_error(pca, truth, Sigma) == pytest.approx(0.067, abs=5e-4)
    best = direction_error(np.array([1.0, 0.0]), truth, Sigma)
    assert best == pytest.approx(normal_cdf(-1.5, 0, 1)) and best < 0.0669


# ---------------------------------------------------------------------------------------
# The estimator
# ---------------------------------------------------------------------------------------


def by_the_formula(X, y, prior=None, shrinkage=0.0):
    """ln pi_k + ln p(x | k), the covariance S_W / n inverted."""
    n_k, means = class_means(X, y)
    Sigma = within_scatter(X, y) / len(X)
    Sigma = (1 - shrinkage) * Sigma + shrinkage * np.trace(Sigma) / len(Sigma) * np.eye(len(Sigma))
    log_p = np.array([multivariate_normal_log_density(X, each, Sigma) for each in means]).T
    return log_p + np.log(n_k / len(X) if prior is None else prior)


@pytest.mark.parametrize(
    "params, shrinkage",
    [
        ({}, 0.0),
        ({"solver": "eigen"}, 0.0),
        ({"solver": "eigen", "shrinkage": 0.3}, 0.3),
        ({"priors": [0.1, 0.2, 0.3, 0.4]}, 0.0),
        ({"solver": "eigen", "priors": [0.1, 0.2, 0.3, 0.4], "shrinkage": 1.0}, 1.0),
    ],
)
def test_scores_and_posteriors_are_those_of_normal_classes(rng, params, shrinkage):
    X, y = several(rng)
    model = LinearDiscriminantAnalysis(**params).fit(X, y)
    joint = by_the_formula(X, y, params.get("priors"), shrinkage)
    F = model.decision_function(X)
    expected = joint - joint[:, :1]
    np.testing.assert_allclose(F - F[:, :1], expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    q = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), q, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), q, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.priors_.sum(), 1)
    np.testing.assert_allclose(model.xbar_, model.priors_ @ model.means_)


@pytest.mark.claims("discriminant-19")
@pytest.mark.parametrize("priors", [None, [0.5, 0.5], [0.2, 0.8]])
def test_two_classes_have_one_row_of_weights_the_threshold_rule(rng, priors):
    X, y = two_classes(rng)
    model = LinearDiscriminantAnalysis(priors=priors).fit(X, np.where(y == 1, "b", "a"))
    w, b = threshold_rule(X, y, None if priors is None else np.array(priors))
    np.testing.assert_allclose(model.coef_, [w], rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, [b], rtol=1e-8)
    np.testing.assert_array_equal(model.predict(X) == "b", X @ w + b > 0)
    shared = SharedCovarianceClassifier(priors=priors).fit(X, y)
    score = np.linspace(-3, 3, len(X))  # log-odds of class 1, of samples moved along w
    Z = X + np.outer(score - X @ w - b, w) / (w @ w)
    p = 1 / (1 + np.exp(-score))
    np.testing.assert_allclose(
        model.predict_proba(Z), np.column_stack([1 - p, p]), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        model.predict_proba(Z), shared.predict_proba(Z), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_features_are_the_discriminants_with_unit_spread(rng, solver):
    X, y = several(rng)
    model = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    Z = model.transform(X)
    S_B, S_W = scatters(X, y)
    values, W = discriminants(S_B, S_W)
    for u, v in zip(model.scalings_.T, W.T, strict=True):
        assert cosine(u, v) > 1 - 1e-9
    np.testing.assert_allclose(within_scatter(Z, y) / len(X), np.eye(3), rtol=1e-9, atol=1e-9)
    between = between_scatter(*class_means(Z, y)) / len(X)
    np.testing.assert_allclose(between, np.diag(values), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, values / values.sum(), rtol=1e-8)
    fewer = LinearDiscriminantAnalysis(solver=solver, n_components=2).fit(X, y)
    np.testing.assert_allclose(fewer.transform(X), Z[:, :2], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(fewer.predict(X), model.predict(X))
    assert len(fewer.explained_variance_ratio_) == 2


def test_covariance_is_kept_where_it_is_asked_for(rng):
    X, y = several(rng)
    Sigma = within_scatter(X, y) / len(X)
    assert not hasattr(LinearDiscriminantAnalysis().fit(X, y), "covariance_")
    for params in ({"store_covariance": True}, {"solver": "eigen"}):
        model = LinearDiscriminantAnalysis(**params).fit(X, y)
        np.testing.assert_allclose(model.covariance_, Sigma, rtol=1e-9, atol=1e-9)
    model.set_params(solver="svd").fit(X, y)
    assert not hasattr(model, "covariance_")


@pytest.mark.claims("discriminant-32")
def test_svd_is_the_pseudo_inverse_in_units_of_the_spread(rng):
    X, y = few(rng)
    mu, _, S_W = parts(X, y)
    sd = np.sqrt(np.diag(S_W) / len(X))
    w = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    scaled = pseudo_inverse_direction(S_W / sd / sd[:, None], mu / sd) / sd
    np.testing.assert_allclose(w, len(X) * scaled, rtol=1e-8)


@pytest.mark.parametrize("tol", [0.0, 1e-4])
def test_whitened_samples_have_the_same_spread_in_all_directions(rng, tol):
    X, y = several(rng)
    X = np.column_stack([X * [1e-6, 1, 1e6, 1, 1, 1], X[:, 1], np.full(len(X), 0.1)])
    S = within_scatter(X, y)
    S[7] = S[:, 7] = 0.0
    A = whitening(S, tol)
    assert A.shape == (8, 6)
    np.testing.assert_allclose(A.T @ S @ A, np.eye(6), rtol=0, atol=1e-9)
    regular = S[:6, :6]
    B = whitening(regular)
    unit = np.sqrt(np.diag(regular))
    np.testing.assert_allclose(
        B @ B.T * np.outer(unit, unit), np.linalg.inv(regular / np.outer(unit, unit)), rtol=1e-8
    )


def test_units_offsets_copies_and_constants_do_not_matter(rng):
    X, y = several(rng)
    model = LinearDiscriminantAnalysis().fit(X, y)
    q = model.predict_proba(X)
    unit = np.array([1e-8, 1e8, 1.0, 3.0, 1e-3, 1e5])
    changed = (
        X * unit,
        X + 1e6,
        np.column_stack([X, X[:, 0]]),
        np.column_stack([X, np.tile([0.1, 1 / 3, 1e6 / 7, 0.0], (len(X), 1))]),
    )
    for Z, tol in product(changed, (1e-4, 0.0)):
        found = LinearDiscriminantAnalysis(tol=tol).fit(Z, y).predict_proba(Z)
        np.testing.assert_allclose(found, q, rtol=1e-6, atol=1e-6)


def test_nearly_dependent_features_keep_half_of_their_digits(rng):
    X, y = several(rng, d=3, n=40)
    noise = rng.normal(size=len(X))
    Z = np.column_stack([X, X[:, 0] + 1e-3 * noise])
    equivalent = np.column_stack([X, noise])  # a regular linear map of Z
    found, expected = (
        LinearDiscriminantAnalysis(tol=1e-5).fit(A, y).decision_function(A) for A in (Z, equivalent)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("size", [1e-145, 1e145])
def test_the_unit_of_the_samples_does_not_matter(rng, size):
    X, y = several(rng)
    q = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    scaled = LinearDiscriminantAnalysis().fit(size * X, y).predict_proba(size * X)
    np.testing.assert_allclose(scaled, q, rtol=1e-7, atol=1e-9)


def test_directions_and_discriminants_within_the_tolerance_are_left_out(rng):
    X, y = several(rng)
    Z = np.column_stack([X, X[:, 0] + 1e-3 * rng.normal(size=len(X))])
    free, bound = (LinearDiscriminantAnalysis(tol=tol).fit(Z, y) for tol in (1e-5, 1e-2))
    assert np.abs(free.coef_[:, -1]).max() > 20 * np.abs(bound.coef_[:, -1]).max()
    one, k = Z[:6, :1], [0, 0, 0, 1, 1, 1]  # a single feature has the spread 1 in its own unit
    assert LinearDiscriminantAnalysis(tol=0.99).fit(one, k).coef_.shape == (1, 1)
    with pytest.raises(ValueError, match=r"X must vary .* than tol = 1\.01, .*; got 1$"):
        LinearDiscriminantAnalysis(tol=1.01).fit(one, k)
    roots = np.sqrt(LinearDiscriminantAnalysis().fit(X, y).explained_variance_ratio_)
    for tol, kept in ((0.99, 3), (1.01, 2)):
        tol *= roots[2] / roots[0]
        model = LinearDiscriminantAnalysis(solver="eigen", tol=tol).fit(X, y)
        assert model.scalings_.shape == (6, kept) and model.transform(X).shape == (66, kept)


def test_what_cannot_be_learnt_is_refused(rng):
    X, y = several(rng, C=3, d=2)
    made = LinearDiscriminantAnalysis
    with pytest.raises(ValueError, match="X must have more samples than classes; got n = 3 and C"):
        made().fit(X[:3], [0, 1, 2])
    for tol in (1e-4, 0.0):
        with pytest.raises(ValueError, match=rf"X must vary .* than tol = {tol:g}, .*; got 0$"):
            made(tol=tol).fit(np.repeat([[0.1, 0.2], [3.3, 4.7]], 5, axis=0), np.repeat([0, 1], 5))
    for bad in ([0.5, 0.5], [0.5, 0.5, 0.5], [1.0, 0.0, 0.0], "equal"):
        with pytest.raises(ValueError, match="priors must (hold a number for each|be >)"):
            made(priors=bad).fit(X, y)
    for bad in (-0.1, 1.5, "auto", np.nan):
        with pytest.raises(ValueError, match="shrinkage must be None or a number from 0 to 1; got"):
            made(solver="eigen", shrinkage=bad).fit(X, y)
    with pytest.raises(ValueError, match="shrinkage must be None with the solver 'svd'; got 0.1"):
        made(shrinkage=0.1).fit(X, y)
    with pytest.raises(ValueError, match="solver must be one of 'svd', 'eigen'; got 'lsqr'"):
        made(solver="lsqr").fit(X, y)
    with pytest.raises(ValueError, match="n_components must be an integer >= 1; got 0"):
        made(n_components=0).fit(X, y)


# ---------------------------------------------------------------------------------------
# Real data
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "load, errors", [(load_iris, 3), (load_wine, 0), (load_breast_cancer, 20), (load_digits, 65)]
)
def test_errors_on_the_samples_it_was_fitted_to(load, errors):
    T = load()
    model = LinearDiscriminantAnalysis().fit(T.X, T.y)
    assert np.count_nonzero(model.predict(T.X) != T.y) == errors


def test_fishers_flowers_need_one_feature():
    T = load_iris()
    model = LinearDiscriminantAnalysis(n_components=1).fit(T.X, T.y)
    assert model.explained_variance_ratio_[0] == pytest.approx(0.991, abs=5e-4)
    z, wrong = model.transform(T.X)[:, 0], model.predict(T.X) != T.y
    assert set(T.y[wrong]) == {"versicolor", "virginica"}
    setosa = z[T.y == "setosa"]
    assert setosa.min() > z[T.y != "setosa"].max() or setosa.max() < z[T.y != "setosa"].min()


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows, columns):
    """The axes that a figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure().subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


def numbers_in(title):
    return [float(number) for number in re.findall(r"\d+\.\d+", title)]


def line_ends(line):
    return np.array([line.get_xy1(), line.get_xy2()])


def lines_of(ax):
    return [line for line in ax.lines if hasattr(line, "get_xy1")]


def points_of(ax):
    return [line.get_xydata() for line in ax.lines if not hasattr(line, "get_xy1")]


@pytest.mark.claims("discriminant-20")
def test_fisher_panel_has_the_larger_criterion_and_lines_at_right_angles():
    from figures.discriminant import directions, slanted_classes

    left, right, below_left, below_right = panels(directions, 2, 2)
    T = slanted_classes()
    mu, _, S_W = parts(T.X, T.y)
    (J_naive,), (J,) = numbers_in(title_of(left)), numbers_in(title_of(right))
    delta = mu[1] - mu[0]
    assert J_naive < J == pytest.approx(delta @ np.linalg.inv(S_W) @ delta, abs=5e-4)
    assert J_naive == pytest.approx(fisher_ratio(T.X, T.y, delta), abs=5e-4)
    for ax, w in ((left, delta), (right, np.linalg.solve(S_W, delta))):
        decision, dashed = map(line_ends, lines_of(ax))
        assert (decision[1] - decision[0]) @ w == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(
            decision @ w, w @ mu.mean(axis=0), rtol=1e-9, atol=1e-9
        )  # the threshold
        assert cosine(dashed[1] - dashed[0], w) == pytest.approx(1, abs=1e-9)
        for drawn, c in zip(points_of(ax), (0, 1), strict=True):
            np.testing.assert_array_equal(drawn, T.X[T.y == c])
    wrong = []
    for ax, w in ((below_left, delta), (below_right, np.linalg.solve(S_W, delta))):
        (cut,) = set(ax.lines[0].get_xdata())
        assert cut == 0
        z = (T.X - mu.mean(axis=0)) @ w / np.linalg.norm(w)
        wrong.append(np.count_nonzero((z > 0) != (T.y == 1)))
        heights = [patch.get_xy()[:, 1].max() for patch in ax.patches]
        edges = np.linspace(-np.abs(z).max(), np.abs(z).max(), 25)
        assert heights == [np.histogram(z[T.y == c], edges)[0].max() for c in (0, 1)]
    assert wrong[1] < wrong[0] / 2


@pytest.mark.claims("discriminant-24")
def test_on_every_line_drawn_the_classes_overlap():
    from figures.discriminant import failures, hard_sets

    axes, sets = panels(failures, 2, 4), hard_sets()
    for k, (name, (X, y)) in enumerate(sets.items()):
        for drawn, c in zip(points_of(axes[k])[:2], (0, 1), strict=True):
            np.testing.assert_array_equal(drawn, X[y == c])
        turn, error = axes[4 + k].lines[0].get_data()
        assert len(turn) == 360
        for i in (0, 77, 250):
            t = np.radians(turn[i])
            z = X @ [np.cos(t), np.sin(t)]
            cuts = [np.mean((z > c) == (y == 1)) for c in np.append(z, -np.inf)]
            assert error[i] == pytest.approx(1 - max(*cuts, 1 - min(cuts)), abs=1e-12)
        assert error.min() == pytest.approx(0.1) if name == "Moons" else error.min() >= 0.25
        if name in ("Ring", "Cross", "XOR"):
            _, mu = class_means(X, y)
            np.testing.assert_allclose(mu[1], mu[0], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(points_of(axes[k])[2], mu, rtol=1e-12, atol=1e-12)
            assert max(fisher_ratio(X, y, w) for w in turns(60)) < 1e-25
            assert "J = 0" in title_of(axes[k])
    X, y = sets["XOR"]
    np.testing.assert_array_equal(X[:40] + X[40:80], X[80:120] + X[120:])  # squares of corners
    assert axes[6].lines[0].get_ydata().min() == 0.25


@pytest.mark.claims("discriminant-31")
def test_axes_drawn_are_of_the_largest_variance_and_of_the_largest_criterion():
    from figures.discriminant import flat_classes, reduction, wines

    plane, by_pca, by_lda = panels(reduction, 1, 3)
    titles = [title_of(ax) for ax in (plane, by_pca, by_lda)]
    pca, lda = numbers_in(titles[0])
    T = flat_classes()
    S_B, S_W = scatters(T.X, T.y)
    dashed, solid = (np.diff(line_ends(line), axis=0)[0] for line in lines_of(plane))
    assert pca == pytest.approx(rayleigh_quotient(dashed, S_B, S_W), abs=5e-3) and pca < 0.1
    assert lda == pytest.approx(np.trace(np.linalg.solve(S_W, S_B)), abs=5e-3) and lda > 1
    assert rayleigh_quotient(solid, S_B, S_W) == pytest.approx(lda, abs=5e-3)
    variances = [np.var(T.X @ w / np.linalg.norm(w)) for w in (*turns(180), dashed)]
    assert np.argmax(variances) == 180
    X, y = wines()
    S_B, S_W = scatters(X, y)
    values = []
    for ax, title in ((by_pca, titles[1]), (by_lda, titles[2])):
        Z = np.empty((len(y), 2))
        for drawn, c in zip(points_of(ax), np.unique(y), strict=True):
            Z[y == c] = drawn
        after_B, after_W = scatters(Z, y)
        values.append(np.trace(np.linalg.solve(after_W, after_B)))
        assert values[-1] == pytest.approx(numbers_in(title)[0], abs=6e-3)
    assert values[0] < values[1] == pytest.approx(np.trace(np.linalg.solve(S_W, S_B)), rel=1e-9)


@pytest.mark.claims("discriminant-17")
def test_whitened_the_decision_line_is_orthogonal_to_the_line_of_the_means():
    from figures.discriminant import slanted_classes, whitened

    left, right = panels(whitened, 1, 2)
    T = slanted_classes()
    mu, _, S_W = parts(T.X, T.y)
    for ax, orthogonal in ((left, False), (right, True)):
        dashed, decision = (np.diff(line_ends(line), axis=0)[0] for line in lines_of(ax))
        assert (cosine(dashed, decision) < 1e-9) == orthogonal
        *drawn, means = points_of(ax)
        assert cosine(means[1] - means[0], dashed) == pytest.approx(1, abs=1e-9)
        Z = np.vstack(drawn)
        spread = within_scatter(Z, np.repeat([0, 1], 60))
        assert np.allclose(spread, np.eye(2), rtol=0, atol=1e-9) == orthogonal
    z = points_of(left)[0] @ np.linalg.solve(S_W, mu[1] - mu[0])
    middle = points_of(right)[0] @ (points_of(right)[2][1] - points_of(right)[2][0])
    np.testing.assert_allclose(z, middle, rtol=1e-8, atol=1e-8)


@pytest.mark.claims("discriminant-36")
def test_local_direction_drawn_separates_three_clumps_and_fishers_none():
    from figures.discriminant import clumps, two_clumps

    plane, *below = panels(two_clumps, 1, 3)
    X, y = clumps()
    for drawn, c in zip(points_of(plane), (0, 1), strict=True):
        np.testing.assert_array_equal(drawn, X[y == c])
    wrong = []
    for line, ax in zip(lines_of(plane), below, strict=True):
        u = np.diff(line_ends(line), axis=0)[0]
        z = X @ u / np.linalg.norm(u)
        wrong.append(best_cut(z, y).errors)
        gaps = np.diff(np.sort(z))
        assert (np.sort(gaps)[-2] > 1) == (ax.get_title() == "local" or title_of(ax) == "local")
        heights = [patch.get_xy()[:, 1].max() for patch in ax.patches]
        assert sum(height > 0 for height in heights) == 2
    fisher, local = (np.diff(line_ends(line), axis=0)[0] for line in lines_of(plane))
    assert cosine(local, np.array([1.0, 0.0])) > 0.999 and cosine(fisher, local) < 0.2
