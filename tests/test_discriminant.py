"""The discriminant chapter, in the order of its module: each function by a second route."""

import re

import numpy as np
import pytest
from checks import check_gradient, panels

from mlnotes.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_rings
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
    project_on_line,
    projected_scatters,
    pseudo_inverse_direction,
    rayleigh_gradient,
    rayleigh_quotient,
    regularised_direction,
    threshold_rule,
    trace_criterion,
    whitening,
    within_scatter,
)
from mlnotes.generative import SharedCovarianceClassifier
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import separating_theta
from mlnotes.optimization import separating_hyperplane
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
HALF = np.array([0.5, 0.5])


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


def few(rng, n=(5, 5), d=20):
    """Two classes of fewer samples than features."""
    return rng.normal(size=(sum(n), d)) + np.repeat([0, 1], n)[:, None], np.repeat([0, 1], n)


def parts(X, y):
    """mu, S_delta and S_W of two classes."""
    mu = class_means(X, y)
    return mu, difference_scatter(mu), within_scatter(X, y)


def scatters(X, y):
    """S_B and S_W of several classes."""
    _, n_k = np.unique(y, return_counts=True)
    return between_scatter(n_k, class_means(X, y)), within_scatter(X, y)


def log_densities(X, means, Sigma):
    return np.array([multivariate_normal_log_density(X, mu, Sigma) for mu in means]).T


def by_the_book(X, y):
    """S_k of every class, one outer product at a time."""
    S = []
    for c in np.unique(y):
        mu = X[y == c].mean(axis=0)
        S.append(sum(np.outer(x - mu, x - mu) for x in X[y == c]))
    return S


def cosine(u, v):
    return abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v)


def turns(count):
    """Unit vectors of the plane, one per angle of half a turn."""
    t = np.pi * np.arange(count) / count
    return np.column_stack([np.cos(t), np.sin(t)])


def near(a, b, tol=1e-9):
    """See that a and b agree up to `tol`, relative and absolute."""
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


# --- Telling two classes apart ---------------------------------------------------------


@pytest.mark.claims("discriminant-01")
def test_discriminant_decides_as_bayes_and_as_the_line_do(rng):
    mu, prior, Sigma = rng.normal(size=(2, 3)), np.array([0.3, 0.7]), np.diag([1.0, 2.0, 4.0])
    X = 3 * rng.normal(size=(500, 3))
    log_p = log_densities(X, mu, Sigma)
    g, q = discriminant(log_p, prior), posterior(log_p, prior)
    near(g, 2 * q[:, 0] - 1, 1e-12)
    w, b = normal_log_odds(mu, Sigma, prior)  # of class 1 against class 0: affine in x
    near(np.log(q[:, 0]) - np.log(q[:, 1]), -(X @ w + b))
    np.testing.assert_array_equal(g > 0, X @ w + b < 0)
    np.testing.assert_array_equal(np.where(g > 0, 0, 1), bayes_classify(log_p, prior))
    assert 50 < (g > 0).sum() < 450


# --- Projections -----------------------------------------------------------------------


@pytest.mark.claims("discriminant-03")
def test_project_on_line_gives_signed_lengths_and_projects_means_as_samples(rng):
    X, y = several(rng)
    w = rng.normal(size=6)
    w /= np.linalg.norm(w)
    z, means = project_on_line(X, w), class_means(X, y)
    feet = z[:, None] * w
    near((X - feet) @ w, 0, 1e-12)  # orthogonal
    near(np.abs(z), np.linalg.norm(feet, axis=1), 1e-12)
    for c in range(4):
        near(means[c], X[y == c].mean(axis=0), 1e-12)
        near(z[y == c].mean(), w @ means[c], 1e-12)


@pytest.mark.claims("discriminant-04")
def test_mean_direction_has_the_largest_gap(rng):
    mu = class_means(*two_classes(rng))
    delta, best = mu[1] - mu[0], mean_direction(mu)
    w = rng.normal(size=(2000, 4))
    near((10 * w @ delta) ** 2, 100 * (w @ delta) ** 2, 1e-12)  # no maximum without a scale
    units = w / np.linalg.norm(w, axis=1)[:, None]
    assert ((units @ mu[1] - units @ mu[0]) ** 2).max() <= delta @ delta
    near([np.linalg.norm(best), best @ delta], [1, np.sqrt(delta @ delta)], 1e-12)


@pytest.mark.claims("discriminant-05")
def test_direction_error_is_larger_for_the_mean_direction():
    mu, Sigma = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 0.9], [0.9, 1.0]])
    delta, S_B = mu[1] - mu[0], difference_scatter(mu)
    fisher, naive = np.linalg.solve(Sigma, delta), mean_direction(mu)
    assert rayleigh_quotient(naive, S_B, Sigma) < 0.25 * rayleigh_quotient(fisher, S_B, Sigma)
    least = direction_error(fisher, mu, Sigma)
    assert direction_error(naive, mu, Sigma) > 10 * least
    assert min(direction_error(w, mu, Sigma) for w in turns(180)) >= least - 1e-12
    x, dx = gauss_legendre(-12, 12, pieces=200)  # the best cut, by quadrature
    w = np.array([1.0, -0.3])
    log_p = np.array([normal_log_density(x, w @ m, w @ Sigma @ w) for m in mu]).T
    assert direction_error(w, mu, Sigma) == pytest.approx(bayes_error(log_p, HALF, dx), abs=1e-4)


@pytest.mark.claims("discriminant-07", "discriminant-13")
def test_fisher_ratio_is_a_rayleigh_quotient_and_peaks_at_the_lda_direction(rng):
    X, y = two_classes(rng, d=2)
    mu, S_B, S_W = parts(X, y)
    for w in rng.normal(size=(20, 2)):
        a, b = X[y == 0] @ w, X[y == 1] @ w
        book = (a.mean() - b.mean()) ** 2 / (len(a) * a.var() + len(b) * b.var())
        near(fisher_ratio(X + [50, -9], y, -7 * w), book)  # neither length nor origin counts
        near(rayleigh_quotient(w, S_B, S_W), book)
    best, grid = fisher_direction(S_W, mu), turns(1800)
    J = [fisher_ratio(X, y, u) for u in grid]
    assert cosine(grid[np.argmax(J)], best) > np.cos(np.pi / 1800)
    assert max(J) <= fisher_ratio(X, y, best) * (1 + 1e-12)


@pytest.mark.claims("discriminant-08")
def test_difference_scatter_is_a_squared_distance_and_no_difference_of_squares(rng):
    X, y = two_classes(rng)
    w, printed = rng.normal(size=4), []
    for mu in (class_means(X, y), class_means(X + 7, y)):
        m_0, m_1 = project_on_line(mu, w)
        near(w @ difference_scatter(mu) @ w, (m_1 - m_0) ** 2)
        printed.append(m_1**2 - m_0**2)
    assert abs(printed[0] - printed[1]) > 1 and abs(printed[0] - (m_1 - m_0) ** 2) > 1e-3
    for (m_0, m_1), value in (((-3.0, 1.0), -8.0), ((-2.0, 2.0), 0.0)):
        assert m_1**2 - m_0**2 == value and difference_scatter([[m_0], [m_1]]) == 16.0


def test_functions_of_two_classes_refuse_a_third():
    X, y = np.eye(3), np.arange(3)
    for call in (lambda: fisher_ratio(X, y, np.ones(3)), lambda: threshold_rule(X, y),
                 lambda: label_regression(X, y)):  # fmt: skip
        with pytest.raises(ValueError, match="too many values to unpack"):
            call()


# --- Scatter matrices ------------------------------------------------------------------


@pytest.mark.claims("discriminant-09", "discriminant-10", "discriminant-26")
def test_scatters_of_two_classes_are_quadratic_forms_and_complete_the_total(rng):
    X, y = two_classes(rng)
    mu, S_delta, S_W = parts(X, y)
    S, (S_B, _), delta = by_the_book(X, y), scatters(X, y), mu[1] - mu[0]
    near(S_W, S[0] + S[1])
    near(S[1] / 30, np.cov(X[y == 1].T, bias=True))
    for w in rng.normal(size=(5, 4)):
        s2 = projected_scatters(X, y, w)
        near(s2, [w @ S_k @ w for S_k in S])
        near([s2.sum(), (w @ delta) ** 2], [w @ S_W @ w, w @ S_delta @ w])
    near(np.linalg.eigvalsh(S_delta), [0, 0, 0, delta @ delta], 1e-12)
    near(S_B, 12 * 30 / 42 * S_delta)
    near(len(X) * np.cov(X.T, bias=True), S_W + S_B)
    assert cosine(discriminants(S_B, S_W, 1).W[:, 0], fisher_direction(S_W, mu)) > 1 - 1e-10


@pytest.mark.claims("discriminant-11", "discriminant-12")
def test_within_scatter_is_not_that_of_one_class_and_half_of_that_of_mixed_means(rng):
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) * np.where(y[:, None] == 0, [1.0, 1.0], [6.0, 0.5]) + y[:, None]
    mu, _, S_W = parts(X, y)
    S, right = by_the_book(X, y), fisher_direction(S_W, mu)
    assert fisher_ratio(X, y, fisher_direction(S[0], mu)) < 0.5 * fisher_ratio(X, y, right)

    def mixed(samples, first, second):
        return (samples - mu[first]).T @ (samples - mu[second])

    near([mixed(X[y == 0], 0, 1), mixed(X[y == 1], 1, 0)], S)
    near(mixed(X, 0, 1) + mixed(X, 1, 0), 2 * S_W)


@pytest.mark.claims("discriminant-06", "discriminant-25")
def test_scatters_of_several_classes_add_up_and_transform(rng):
    X, y = several(rng)
    S_B, S_W = scatters(X, y)
    gaps = [(sum(y == c), X[y == c].mean(axis=0) - X.mean(axis=0)) for c in range(4)]
    near(S_B, sum(n * np.outer(gap, gap) for n, gap in gaps))
    near(S_W, sum(by_the_book(X, y)))
    near(S_B + S_W, len(X) * np.cov(X.T, bias=True))
    W = rng.normal(size=(6, 3))
    Z = project_on_line(X, W)
    near(scatters(Z, y), [W.T @ S @ W for S in (S_B, S_W)])
    counts_times_variances = [sum(y == c) * np.var(Z[y == c, 0]) for c in range(4)]
    near(projected_scatters(X + 100, y, -2 * W[:, 0]), 4 * np.array(counts_times_variances))


@pytest.mark.claims("discriminant-27")
@pytest.mark.parametrize("C, d", [(2, 5), (4, 6), (6, 3)])
def test_between_scatter_has_a_rank_of_one_less_than_the_classes(rng, C, d):
    X, y = several(rng, C=C, d=d)
    S_B, S_W = scatters(X, y)
    most = min(C - 1, d)
    near(np.bincount(y) @ (class_means(X, y) - X.mean(axis=0)), 0)
    assert np.linalg.matrix_rank(S_B, hermitian=True) == most
    values, _ = generalised_eigen(S_B, S_W)
    assert (values[most:] < 1e-8).all() and values[most - 1] > 1e-3
    assert LinearDiscriminantAnalysis().fit_transform(X, y).shape == (len(X), most)
    with pytest.raises(ValueError, match=f"n_components must be at most {most}, .* got {most + 1}"):
        LinearDiscriminantAnalysis(n_components=most + 1).fit(X, y)
    assert principal_axes(X).shape == (d, d)  # PCA is not bound by the classes


@pytest.mark.claims("discriminant-27")
@pytest.mark.parametrize("tol", [1e-4, 0.0])
@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_of_means_in_a_row_leaves_one_feature(rng, solver, tol):
    noise, y = rng.normal(size=(20, 3)), np.repeat([0, 1, 2], 20)
    X = np.vstack([noise + c * np.array([1.0, 2.0, 0.0]) for c in (0.0, 1.0, 5.0)])
    X = np.column_stack([X, X[:, 0] + 1e-4 * rng.normal(size=60)])
    X[:, 3] -= (class_means(X, y) - class_means(X, y)[0])[y, 3]  # its means, too
    model = LinearDiscriminantAnalysis(solver=solver, tol=tol).fit(X, y)
    assert model.transform(X).shape == (60, 1) and model.scalings_.shape == (4, 1)
    with pytest.raises(ValueError, match="n_components must be at most 1, the rank of S_B"):
        LinearDiscriminantAnalysis(n_components=2, tol=tol).fit(X, y)


# --- The best direction ----------------------------------------------------------------


@pytest.mark.claims("discriminant-14", "discriminant-15")
def test_rayleigh_gradient_and_with_its_terms_exchanged(rng):
    mu, S_B, S_W = parts(*two_classes(rng))
    S_B, S_W = S_B / 10, S_W / 10

    def ratio(w):
        return rayleigh_quotient(w, S_B, S_W)

    for w in rng.normal(size=(10, 4)):
        check_gradient(ratio, lambda v: rayleigh_gradient(v, S_B, S_W), w)
        g = rayleigh_gradient(w, S_B, S_W)
        near(w @ g, 0, 1e-10)
        printed = (2 * S_W @ w * (w @ S_B @ w) - 2 * S_B @ w * (w @ S_W @ w)) / (w @ S_W @ w) ** 2
        step = 1e-4 / np.linalg.norm(g)
        assert ratio(w + step * g) > ratio(w) > ratio(w + step * printed)
    best = fisher_direction(S_W, mu)
    near(rayleigh_gradient(best, S_B, S_W), 0)
    near(S_B @ best, ratio(best) * S_W @ best)


@pytest.mark.claims("discriminant-16", "discriminant-17")
def test_generalised_eigen_has_one_solution_that_counts_and_it_is_the_closed_form(rng):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    values, W = generalised_eigen(S_B, S_W)
    near(S_B @ W, S_W @ W * values, 1e-8)
    near(W.T @ S_W @ W, np.eye(4))
    delta, best = mu[1] - mu[0], fisher_direction(S_W, mu)
    near(values, [delta @ np.linalg.inv(S_W) @ delta, 0, 0, 0], 1e-10)
    near(fisher_ratio(X, y, best), values[0], 1e-10)
    assert cosine(W[:, 0], best) > 1 - 1e-10
    S_B, S_W = scatters(*several(rng))
    book = np.linalg.eigvals(np.linalg.inv(S_W) @ S_B).real  # of the unsymmetric matrix
    near(generalised_eigen(S_B, S_W).values, np.sort(book)[::-1])
    for name, pair in (("S_B", (np.triu(S_B), S_W)), ("S_W", (S_B, np.triu(S_W)))):
        with pytest.raises(ValueError, match=f"{name} must be symmetric"):
            generalised_eigen(*pair)


@pytest.mark.claims("discriminant-17")
@pytest.mark.parametrize("way", [fisher_direction, pseudo_inverse_direction])
def test_fisher_direction_solves_for_the_mean_difference_in_any_units(rng, way):
    X, y = two_classes(rng)
    mu, S_B, S_W = parts(X, y)
    delta, best, w = mu[1] - mu[0], way(S_W, mu), rng.normal(size=4)
    near(S_B @ w, (delta @ w) * delta)  # always along delta
    near(S_W @ best, delta)
    unit = np.array([1e-9, 1.0, 1e6, 1e12])
    scaled = way(within_scatter(X * unit, y), mu * unit)
    np.testing.assert_allclose(scaled * unit, best, rtol=1e-6)
    mu, _, S_W = parts(np.column_stack([X, np.full(len(X), 2.0)]), y)
    with pytest.raises(ValueError, match="S_W must be regular; got rank 4 of 5"):
        fisher_direction(S_W, mu)


@pytest.mark.claims("discriminant-18")
@pytest.mark.parametrize("n", [(12, 30), (20, 20)])
def test_label_regression_has_the_fisher_direction_and_a_zero_that_its_targets_choose(rng, n):
    X, y = two_classes(rng, n=n)
    mu, _, S_W = parts(X, y)
    for targets in (None, (-1, 1), (5, -3)):
        w, b = label_regression(X, np.where(y == 1, "b", "a"), targets)
        values = np.array(targets or (-sum(n) / n[0], sum(n) / n[1]))[y]
        near([b, *w], np.linalg.lstsq(augment(X), values, rcond=None)[0], 1e-8)
        assert cosine(w, fisher_direction(S_W, mu)) > 1 - 1e-10
        if targets == (-1, 1):  # at the midpoint only for equal classes
            assert (abs(w @ mu.mean(axis=0) + b) < 1e-10) == (n[0] == n[1])
    with pytest.raises(ValueError, match="S_W must be regular; got rank 4 of 5"):
        label_regression(np.column_stack([X, 3 * X[:, 0]]), y)


@pytest.mark.claims("discriminant-19")
@pytest.mark.parametrize("prior", [None, [0.9, 0.1]])
def test_threshold_rule_is_that_of_normal_classes_of_one_covariance_and_so_is_lda(rng, prior):
    X, y = two_classes(rng)
    new = 4 * rng.normal(size=(500, 4)) + X.mean(axis=0)
    w, b = threshold_rule(X, y, prior)
    mu, _, S_W = parts(X, y)
    pi = np.array([12, 30]) / 42 if prior is None else np.array(prior)
    log_p = log_densities(new, mu, S_W / 42)
    near(new @ w + b, np.log(pi[1] / pi[0]) + log_p[:, 1] - log_p[:, 0], 1e-8)
    near(w @ mu.mean(axis=0) + b, np.log(pi[1] / pi[0]), 1e-8)  # halfway for equal priors
    model = LinearDiscriminantAnalysis(priors=prior).fit(X, np.where(y == 1, "b", "a"))
    near(np.append(model.coef_[0], model.intercept_), [*w, b], 1e-8)
    np.testing.assert_array_equal(model.predict(new) == "b", bayes_classify(log_p, pi) == 1)
    shared = SharedCovarianceClassifier(priors=prior).fit(X, y)
    near(model.predict_proba(X / 2), shared.predict_proba(X / 2), 1e-7)
    with pytest.raises(ValueError, match="prior must be >= 0 with the sum 1; .* the sum 1.1"):
        threshold_rule(X, y, [0.5, 0.6])


@pytest.mark.claims("discriminant-21")
def test_fisher_direction_needs_no_separability_and_may_miss_it(rng):
    X, y = MISSED
    w, b = separating_hyperplane(X[y == 1], X[y == 0])
    np.testing.assert_array_equal(X @ w + b > 0, y == 1)
    assert list(perceptron(augment(X), 2 * y - 1))[-1].mistakes == 0
    mu, _, S_W = parts(X, y)
    fisher = fisher_direction(S_W, mu)
    assert best_cut(project_on_line(X, fisher), y).errors > 0
    assert fisher_ratio(X, y, w) < fisher_ratio(X, y, fisher)
    X, y = two_classes(rng, shift=0.2)
    assert separating_theta(augment(X), 2 * y - 1) is None
    mu, _, S_W = parts(X, y)
    assert np.isfinite(fisher_direction(S_W, mu)).all()


@pytest.mark.claims("discriminant-22")
def test_fisher_direction_of_the_population_is_bayes_rule(rng):
    mu, Sigma = rng.normal(size=(2, 3)), np.cov(rng.normal(size=(3, 9)))
    w = fisher_direction(Sigma, mu)
    near(w, normal_log_odds(mu, Sigma, HALF)[0])
    near(direction_error(w, mu, Sigma), normal_cdf(-np.sqrt(w @ Sigma @ w) / 2, 0, 1))


@pytest.mark.claims("discriminant-22")
def test_with_unequal_covariances_no_threshold_does_as_well_as_the_quadratic_rule():
    x, dx = gauss_legendre(-30, 30, pieces=300)
    log_p = np.array([normal_log_density(x, 0.0, 1.0), normal_log_density(x, 0.0, 9.0)]).T
    h = (4 * x**2 / 9 > np.log(3)).astype(int)  # of ln N(x; 0, 9) - ln N(x; 0, 1)
    quadratic = error_probability(h, log_p, HALF, dx)
    near(quadratic, bayes_error(log_p, HALF, dx))
    upper = [error_probability((x > t).astype(int), log_p, HALF, dx) for t in np.arange(-9, 9, 0.1)]
    linear = np.minimum(upper, 1 - np.array(upper)).min()  # either class above
    assert linear > quadratic + 0.08


@pytest.mark.claims("discriminant-23")
def test_equal_means_have_the_criterion_zero_and_no_direction(rng):
    T = make_rings(200, radii=(0.5, 2.0), rng=rng)
    y = np.where(T.y > 0, 1, 0)
    X = T.X - class_means(T.X, y)[y]
    assert max(fisher_ratio(X, y, w) for w in turns(360)) < 1e-25
    mu, S_B, S_W = parts(*XOR)
    assert not S_B.any() and not fisher_direction(S_W, mu).any()
    for samples, solver in ((X, "svd"), (X + 1e8, "eigen"), (1e-9 * X + 1e-3, "svd")):
        with pytest.raises(ValueError, match="the means of the classes must differ"):
            LinearDiscriminantAnalysis(solver=solver).fit(samples, y)
    assert LinearDiscriminantAnalysis().fit(X + 1e-7 * y[:, None], y).coef_.any()  # they differ
    assert best_cut(np.sum((X - X.mean(axis=0)) ** 2, axis=1), y).errors == 0
    assert min(best_cut(X @ w, y).errors for w in turns(90)) > 20


# --- Several classes -------------------------------------------------------------------


@pytest.mark.claims("discriminant-28", "discriminant-29", "discriminant-30")
@pytest.mark.parametrize("criterion", [determinant_criterion, trace_criterion])
def test_criteria_are_largest_at_the_discriminants(rng, criterion):
    S_B, S_W = scatters(*several(rng))
    whole = np.trace(np.linalg.solve(S_W, S_B))
    optimum = np.prod if criterion is determinant_criterion else np.sum
    for m in (1, 2, 3):
        values, W = discriminants(S_B, S_W, m)
        J = criterion(W, S_B, S_W)
        near(J, optimum(values), 1e-8)
        near(criterion(W @ rng.normal(size=(m, m)), S_B, S_W), J, 1e-8)
        others = [criterion(V, S_B, S_W) for V in rng.normal(size=(300, 6, m))]
        assert W.shape == (6, m) and max(others) < J
        if criterion is trace_criterion:  # ISML: all of them equal to the whole
            assert max(others) < 0.999 * whole and (J < whole * (1 - 1e-9)) == (m < 3)


@pytest.mark.claims("discriminant-28")
def test_criteria_of_two_classes_are_the_fisher_ratio_and_no_volume_is_left_for_more(rng):
    X, y = two_classes(rng)
    _, S_B, S_W = parts(X, y)
    W = rng.normal(size=(4, 2))
    for criterion in (determinant_criterion, trace_criterion):
        near(criterion(W[:, :1], S_B, S_W), fisher_ratio(X, y, W[:, 0]))
    near(determinant_criterion(W, S_B, S_W), 0, 1e-10)  # as many columns as classes


# --- Where S_W is singular -------------------------------------------------------------


@pytest.mark.claims("discriminant-32", "discriminant-33")
def test_few_samples_make_the_within_scatter_singular_and_remedies_exist(rng):
    X, y = few(rng)
    mu, S_B, S_W = parts(X, y)
    for call in (
        lambda: generalised_eigen(S_B, S_W),
        lambda: LinearDiscriminantAnalysis(solver="eigen").fit(X, y),
    ):
        with pytest.raises(ValueError, match="S_W must be regular; got rank 8 of 20"):
            call()
    remedies = (
        pca_lda(X, y).W[:, 0],
        pseudo_inverse_direction(S_W, mu),
        LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(X, y).coef_[0],
        LinearDiscriminantAnalysis().fit(X, y).coef_[0],
    )
    assert all(0 < fisher_ratio(X, y, w) < np.inf for w in remedies)
    ratios = [fisher_ratio(X, y, regularised_direction(S_W, mu, g)) for g in (1, 1e-2, 1e-4)]
    assert ratios[1] > 100 * ratios[0] and ratios[2] > 100 * ratios[1]  # there is no maximum
    more = [few(rng, n=(5, n - 5), d=10) for n in (10, 11, 12)] + [several(rng, C=4, d=20, n=3)]
    ranks = [np.linalg.matrix_rank(within_scatter(*each), hermitian=True) for each in more]
    assert ranks == [8, 9, 10, 18 - 4]  # n - C


def test_whitening_gives_the_same_spread_in_all_directions(rng):
    X, y = several(rng)
    X = np.column_stack([X * [1e-6, 1, 1e6, 1, 1, 1], X[:, 1], np.full(len(X), 0.5)])
    D = X - class_means(X, y)[y]
    A = whitening(D)
    assert A.shape == (8, 6)
    near(A.T @ D.T @ D @ A, np.eye(6))
    D, s = rng.normal(size=(9, 2)), 1 / np.sqrt(2)  # a correlation of 1/2 gives s^2 = 3/2 and 1/2
    D = np.linalg.qr(D)[0] @ np.array([[1, 0.5], [0, np.sqrt(0.75)]])
    assert whitening(D, s - 1e-9).shape == (2, 2) and whitening(D, s + 1e-9).shape == (2, 1)


def test_principal_axes_are_those_of_the_covariance(rng):
    X, _ = several(rng)
    _, V = np.linalg.eigh(np.cov(X.T))
    near(np.abs(principal_axes(X, 3).T @ V[:, :2:-1]), np.eye(3), 1e-8)
    flat = np.column_stack([X, X[:, 0], np.full(len(X), 0.1)])
    assert [principal_axes(unit * flat).shape[1] for unit in (1e-20, 1.0, 1e20)] == [6, 6, 6]
    far = np.column_stack([X[:11], np.full(11, 1e8 + 0.3)])
    assert principal_axes(far).shape[1] == 6  # rounding is no variation
    assert principal_axes(np.ones((4, 3))).shape == (3, 0)


@pytest.mark.claims("discriminant-34")
def test_pca_lda_makes_the_within_scatter_regular(rng):
    X, y = few(rng)
    P = principal_axes(X, 8)
    S_W = within_scatter(X @ P, y)
    assert np.linalg.matrix_rank(S_W, hermitian=True) == 8
    values, W = pca_lda(X, y)
    w = W[:, 0]
    fisher = P @ fisher_direction(S_W, class_means(X, y) @ P)
    assert W.shape == (20, 1) and cosine(w, fisher) > 1 - 1e-9
    near(values[0], fisher_ratio(X, y, w) * 5 * 5 / 10, 1e-8)  # n_0 n_1 / n
    assert fisher_ratio(X, y, pca_lda(X, y, 3).W[:, 0]) < fisher_ratio(X, y, w)
    np.testing.assert_array_equal(pca_lda(X, y, 9).W, W)  # 8 = n - C is the most
    with pytest.raises(ValueError, match="S_W must be regular"):  # no spread within the classes
        pca_lda(np.outer([0.0, 0.0, 1.0, 1.0], [1.0, 2.0]), np.array([0, 0, 1, 1]))
    X, y = several(rng)  # where PCA keeps everything
    plain, composed = discriminants(*scatters(X, y), 3), pca_lda(X, y)
    near(composed.values, plain.values, 1e-8)
    near(np.abs(composed.W.T @ within_scatter(X, y) @ plain.W), np.eye(3), 1e-8)


@pytest.mark.claims("discriminant-35")
def test_regularised_direction_leads_from_fisher_to_the_mean_difference(rng):
    X, y = two_classes(rng)
    mu, _, S_W = parts(X, y)
    delta, fisher = mu[1] - mu[0], fisher_direction(S_W, mu)
    near(regularised_direction(S_W, mu, 0.7), np.linalg.inv(S_W + 0.7 * np.eye(4)) @ delta)
    near_0, near_inf = (regularised_direction(S_W, mu, g * np.trace(S_W)) for g in (1e-12, 1e8))
    assert cosine(near_0, fisher) > 1 - 1e-9 and cosine(near_inf, delta) > 1 - 1e-9
    assert cosine(fisher, delta) < 0.99


def test_pseudo_inverse_direction_leaves_the_null_space_out(rng):
    mu, _, S_W = parts(*few(rng))
    w, null = pseudo_inverse_direction(S_W, mu), np.linalg.eigh(S_W)[1][:, :12]
    near(null.T @ w, 0)
    rest = (S_W @ w) - (mu[1] - mu[0])
    near(rest, null @ (null.T @ rest))


# --- Local scatter ---------------------------------------------------------------------


@pytest.mark.claims("discriminant-36")
def test_local_scatters_are_sums_over_pairs_and_ordinary_if_all_are_neighbours(rng):
    X, y = several(rng, C=3, d=3, n=5)
    n, n_k = len(X), np.bincount(y)
    A = np.exp(-rng.uniform(size=(n, 1)) - rng.uniform(size=n))
    A += A.T
    book = np.zeros((2, 3, 3))
    for i, j in np.ndindex(n, n):
        pair, same = np.outer(X[i] - X[j], X[i] - X[j]) / 2, y[i] == y[j]
        book[0] += (A[i, j] * (1 / n - 1 / n_k[y[i]]) if same else 1 / n) * pair
        book[1] += A[i, j] / n_k[y[i]] * same * pair
    near(local_scatters(X, y, A), book)
    near(local_scatters(X + 1e7, y, A), book, 1e-6)
    near(local_scatters(X, y, np.ones((n, n))), scatters(X, y))
    with pytest.raises(ValueError, match="affinity must be symmetric"):
        local_scatters(X, y, np.triu(A))


@pytest.mark.claims("discriminant-36")
def test_local_scatters_find_a_class_on_both_sides_of_the_other():
    from figures.discriminant import clumps, two_directions

    X, y = clumps()
    fisher, local = two_directions(X, y)
    gaps = [np.sort(np.diff(np.sort(X @ w / np.linalg.norm(w))))[-2] for w in (fisher, local)]
    assert gaps[0] < 1 < gaps[1]  # only the local direction has two gaps, between three clumps
    assert cosine(local, np.array([1.0, 0.0])) > 0.999 and cosine(fisher, local) < 0.2


# --- The estimator ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "params", [{}, {"solver": "eigen", "priors": [0.1, 0.2, 0.3, 0.4], "shrinkage": 0.3}]
)
def test_lda_scores_are_those_of_normal_classes(rng, params):
    X, y = several(rng)
    model = LinearDiscriminantAnalysis(**params).fit(X, y)
    prior, share = params.get("priors", np.bincount(y) / len(X)), params.get("shrinkage", 0.0)
    Sigma = within_scatter(X, y) / len(X)
    Sigma = (1 - share) * Sigma + share * np.trace(Sigma) / 6 * np.eye(6)
    log_p = log_densities(X, class_means(X, y), Sigma)
    joint, F = log_p + np.log(prior), model.decision_function(X)
    near(F - F[:, :1], joint - joint[:, :1], 1e-7)
    near(model.predict_log_proba(X), np.log(posterior(log_p, prior)), 1e-7)
    near(model.xbar_, prior @ class_means(X, y))


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_features_are_the_discriminants_with_unit_spread(rng, solver):
    X, y = several(rng)
    model = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    Z, (S_B, S_W) = model.transform(X), scatters(X, y)
    values, W = discriminants(S_B, S_W, 3)
    near(np.abs(model.scalings_.T @ S_W @ W) / np.sqrt(len(X)), np.eye(3))
    near(np.array(scatters(Z, y)) / len(X), [np.diag(values), np.eye(3)])
    near(Z.mean(axis=0), 0)
    near(model.explained_variance_ratio_, values / values.sum(), 1e-8)
    fewer = LinearDiscriminantAnalysis(solver=solver, n_components=2).fit(X, y)
    near(fewer.transform(X), Z[:, :2], 1e-12)
    np.testing.assert_array_equal(fewer.predict(X), model.predict(X))


@pytest.mark.claims("discriminant-32")
def test_lda_by_svd_is_the_pseudo_inverse_in_units_of_the_spread(rng):
    X, y = few(rng)
    mu, _, S_W = parts(X, y)
    sd = np.sqrt(np.diag(S_W) / len(X))
    w = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    scaled = pseudo_inverse_direction(S_W / sd / sd[:, None], mu / sd) / sd
    near(w, len(X) * scaled, 1e-8)


@pytest.mark.parametrize("tol", [1e-4, 0.0])
def test_lda_knows_no_offsets_copies_and_constants_nor_units_of_single_features(rng, tol):
    X, y = several(rng)
    q = LinearDiscriminantAnalysis(tol=tol).fit(X, y).predict_proba(X)
    constants = np.tile([0.1, 1 / 3, 1e6 / 7, 0.0], (len(X), 1))
    scaled = (X + 1e6) * [1e-8, 1e8, 1.0, 3.0, 1e-3, 1e5]
    for Z in (scaled, np.column_stack([X, X[:, 0], constants])):
        near(LinearDiscriminantAnalysis(tol=tol).fit(Z, y).predict_proba(Z), q, 1e-6)


def test_lda_of_nearly_dependent_features_keeps_its_digits(rng):
    X, y = several(rng, d=3, n=40)
    noise = rng.normal(size=len(X))
    Z = np.column_stack([X, X[:, 0] + 1e-4 * noise])
    equivalent = np.column_stack([X, noise])  # a regular linear map of Z
    a, b = (LinearDiscriminantAnalysis(tol=1e-6).fit(A, y) for A in (Z, equivalent))
    f = b.decision_function(equivalent)
    np.testing.assert_allclose(a.decision_function(Z), f, rtol=0, atol=1e-9 * np.abs(f).max())
    bound = LinearDiscriminantAnalysis(tol=1e-2).fit(Z, y)  # which leaves the noise out
    assert np.abs(a.coef_[:, -1]).max() > 20 * np.abs(bound.coef_[:, -1]).max()


@pytest.mark.parametrize("factor, kept", [(0.99, 3), (1.01, 2)])
def test_lda_leaves_out_discriminants_within_the_tolerance(rng, factor, kept):
    X, y = several(rng)
    roots = np.sqrt(LinearDiscriminantAnalysis().fit(X, y).explained_variance_ratio_)
    model = LinearDiscriminantAnalysis(solver="eigen", tol=factor * roots[2] / roots[0]).fit(X, y)
    assert model.scalings_.shape == (6, kept) and model.transform(X).shape == (66, kept)


def test_lda_refuses_parameters_by_name_and_classes_without_spread(rng):
    twice, spread = np.repeat([[0.1, 0.2], [3.3, 4.7]], 5, axis=0), "X must vary within the classes"
    X, y = several(rng, C=3, d=2)
    for samples, labels, params, message in (
        (
            X,
            y,
            {"solver": "eigen", "shrinkage": np.float64(1.5)},
            "shrinkage must be at most 1; got 1.5",
        ),
        (X, y, {"shrinkage": 0.1}, "shrinkage must be None with solver 'svd'; got 0.1"),
        (X, y, {"tol": 3.0}, f"{spread} by more than tol = 3"),
        (twice, np.repeat([0, 1], 5), {"tol": 0.0}, f"{spread} .* tol = 0"),
        (np.eye(3), [0, 1, 2], {"tol": 0.0}, f"{spread} .* tol = 0"),
    ):
        with pytest.raises(ValueError, match=message):
            LinearDiscriminantAnalysis(**params).fit(samples, labels)


@pytest.mark.parametrize(
    "load, errors", [(load_iris, 3), (load_wine, 0), (load_breast_cancer, 20), (load_digits, 65)]
)
def test_lda_errors_on_real_samples_it_was_fitted_to(load, errors):
    T = load()
    model = LinearDiscriminantAnalysis().fit(T.X, T.y)
    assert np.count_nonzero(model.predict(T.X) != T.y) == errors
    if load is load_iris:  # one feature is nearly all
        assert model.explained_variance_ratio_[0] == pytest.approx(0.991, abs=5e-4)


# --- The lecture figures ---------------------------------------------------------------


def numbers_in_titles(draw, *shape):
    """The numbers in the titles of a figure's panels, in order."""
    titles = " ".join(ax.get_title() + ax.get_title(loc="left") for ax in panels(draw, *shape))
    return [float(number) for number in re.findall(r"\d+\.\d+", titles)]


@pytest.mark.claims("discriminant-20")
def test_directions_drawn_have_the_criteria_in_their_titles():
    from figures.discriminant import directions, slanted_classes

    T = slanted_classes()
    mu, _, S_W = parts(T.X, T.y)
    delta = mu[1] - mu[0]
    naive, fisher = numbers_in_titles(directions, 2, 2)
    assert naive == pytest.approx(fisher_ratio(T.X, T.y, delta), abs=5e-4)
    assert naive < fisher == pytest.approx(delta @ np.linalg.inv(S_W) @ delta, abs=5e-4)
    cuts = [(T.X - mu.mean(axis=0)) @ w > 0 for w in (delta, np.linalg.solve(S_W, delta))]
    wrong = [np.count_nonzero(cut != (T.y == 1)) for cut in cuts]
    assert wrong[1] < wrong[0] / 2  # they overlap far less


@pytest.mark.claims("discriminant-24")
def test_failures_have_the_errors_of_their_caption():
    from figures.discriminant import error_on_lines, hard_sets

    for name, (X, y) in hard_sets().items():
        errors, t = error_on_lines(X, y), np.pi * 77 / 360
        near(errors[77], best_cut(X @ [np.cos(t), np.sin(t)], y).errors / len(y), 1e-12)
        if name == "Moons":
            near(errors.min(), 0.1, 1e-12)
        else:
            assert errors.min() >= 0.25 and max(fisher_ratio(X, y, w) for w in turns(60)) < 1e-25


@pytest.mark.claims("discriminant-31")
def test_reduction_has_the_traces_in_its_titles():
    from figures.discriminant import flat_classes, reduction, wines

    T, (X, y) = flat_classes(), wines()
    book = []
    for samples, labels, m in ((T.X, T.y, 1), (X, y, 2)):
        S_B, S_W = scatters(samples, labels)
        P = np.linalg.eigh(np.cov(samples.T))[1][:, -m:]
        after_B, after_W = scatters(samples @ P, labels)
        book += [np.trace(np.linalg.solve(A, B)) for A, B in ((after_W, after_B), (S_W, S_B))]
    np.testing.assert_allclose(numbers_in_titles(reduction, 1, 3), book, rtol=0, atol=6e-3)
    assert book[0] < 0.1 and book[1] > 1 and book[2] < book[3]
