"""The generative chapter: every statement of the notes, checked by a second route."""

import re
from functools import partial
from itertools import product
from math import erf, exp, log, pi, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.datasets import load_digits, load_iris, load_wine, make_blobs, make_emails
from mlnotes.decision_theory import (
    BayesClassifier,
    bayes_error,
    error_probability,
    excess_error,
    log_evidence,
    log_posterior,
    normal_log_odds,
    posterior,
    product_rule,
)
from mlnotes.density import KernelDensity
from mlnotes.estimation import Dirichlet
from mlnotes.generative import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    GenerativeModel,
    NormalDensity,
    QuadraticDiscriminantAnalysis,
    SharedCovarianceClassifier,
    binary_counts,
    binary_log_density,
    binary_log_odds,
    bivariate_normal_density,
    categorical_log_density,
    category_counts,
    class_moments,
    classify,
    ellipse,
    ellipse_probability,
    ellipse_radius,
    fit_naive,
    fit_normal,
    learn_classes,
    likeliest,
    linear_scores,
    log_densities,
    log_joint_density,
    naive_normal_log_density,
    normal_densities,
    pooled_covariance,
    quadratic_log_odds,
    regularised,
    smoothed_log_frequencies,
)
from mlnotes.mixture import GaussianMixture
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
    sample_multivariate_normal,
)

HALF = np.array([0.5, 0.5])
TURN = np.linspace(0, 2 * np.pi, 101)


def random_covariance(rng, d):
    A = rng.normal(size=(d, d + 2))
    return A @ A.T / d


def three_classes(rng, d=3, sizes=(40, 25, 35)):
    """Normal classes of different covariances, their rows mixed."""
    K = len(sizes)
    covariances = np.array([random_covariance(rng, d) for _ in range(K)])
    T = make_blobs(sizes, rng.normal(scale=1.5, size=(K, d)), covariances, rng=rng)
    order = rng.permutation(len(T))
    return T.X[order], np.array(["ash", "birch", "cedar"])[T.y[order]]


def fit_kernels(X):
    return KernelDensity(bandwidth=0.5).fit(X)


def fit_mixture(X):
    return GaussianMixture(2, random_state=0, reg_covar=0.1, tol=1.0).fit(X)


LAWS = [fit_normal, fit_naive, partial(fit_naive, fit_factor=fit_kernels), fit_kernels, fit_mixture]


def literal_joint(X, Z, y):
    """ln pi_k + ln N(z; mu_k, Sigma_k) of points Z by inverse and determinant, class by class."""
    columns = []
    for c in np.unique(y):
        X_c = X[y == c]
        mu, Sigma = X_c.mean(axis=0), np.atleast_2d(np.cov(X_c.T, ddof=0))
        P, norm = np.linalg.inv(Sigma), (2 * pi) ** len(mu) * np.linalg.det(Sigma)
        forms = [(z - mu) @ P @ (z - mu) for z in Z]
        columns.append([log(len(X_c) / len(X)) - (log(norm) + form) / 2 for form in forms])
    return np.array(columns).T


# ---------------------------------------------------------------------------------------
# One class at a time
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("generative-01")
def test_priors_are_the_shares_and_maximise_the_multinomial_likelihood(rng):
    X, y = three_classes(rng)
    prior, n_k = learn_classes(X, y, fit_normal).prior, np.array([40, 25, 35])
    np.testing.assert_array_equal(prior, n_k / 100)
    np.testing.assert_allclose(n_k / prior, 100)  # Lagrange: the same for every class
    steps = np.arange(1, 100) / 100
    simplex = [(a, b, 1 - a - b) for a, b in product(steps, steps) if a + b < 1 - 1e-9]
    on_grid = np.log(simplex) @ n_k
    best = simplex[int(np.argmax(on_grid))]
    np.testing.assert_allclose(best, prior)  # 0.4, 0.25, 0.35 are on the grid
    assert np.sort(on_grid)[-2] < n_k @ np.log(prior)


@pytest.mark.claims("generative-01")
@pytest.mark.parametrize("fit_density", LAWS)
def test_a_class_is_learnt_from_its_own_samples_alone(rng, fit_density):
    X, y = three_classes(rng)
    others = np.where((y == "birch")[:, None], X, 5 + 3 * X)
    densities = [learn_classes(A, y, fit_density).densities for A in (X, others)]
    own, same = (density[1].score_samples(X) for density in densities)
    np.testing.assert_array_equal(own, same)
    ash, moved = (density[0].score_samples(X) for density in densities)
    assert not np.allclose(ash, moved)


@pytest.mark.claims("generative-01")
def test_estimators_too_learn_each_class_by_itself_unless_classes_share_a_covariance(rng):
    X, y = three_classes(rng)
    others = np.where((y == "birch")[:, None], X, 5 + 3 * X)
    for model, alone in (
        (QuadraticDiscriminantAnalysis(), True),
        (GaussianNB(var_smoothing=0), True),
        (SharedCovarianceClassifier(), False),
    ):
        a, b = (model.fit(A, y).predict_joint_log_proba(X)[:, 1] for A in (X, others))
        assert np.array_equal(a, b) == alone


@pytest.mark.claims("generative-01")
def test_likelihood_of_the_pairs_falls_into_priors_and_classes(rng):
    X, y = three_classes(rng)
    model = learn_classes(X, y, fit_normal)
    number = np.searchsorted(model.classes, y)
    whole = log_joint_density(X, model)[np.arange(100), number].sum()
    n_k = np.bincount(number)
    parts = [
        density.score_samples(X[number == k]).sum() for k, density in enumerate(model.densities)
    ]
    assert whole == pytest.approx(n_k @ np.log(model.prior) + sum(parts), rel=1e-12)
    for k, density in enumerate(model.densities):  # and any other mean or covariance is less likely
        own = X[number == k]
        for mean, covariance in (
            (density.mean + 0.1, density.covariance),
            (density.mean, 1.2 * density.covariance),
        ):
            assert NormalDensity(mean, covariance).score_samples(own).sum() < parts[k]


@pytest.mark.claims("generative-02")
@pytest.mark.parametrize("fit_density", LAWS)
def test_argmax_of_the_joint_is_that_of_the_posterior(rng, fit_density):
    X, y = three_classes(rng, d=2)
    model = learn_classes(X, y, fit_density)
    grid, _ = product_rule(gauss_legendre(-6, 6, 3), gauss_legendre(-6, 6, 3))
    joint = log_joint_density(grid, model)
    log_p = np.column_stack([density.score_samples(grid) for density in model.densities])
    q = posterior(log_p, model.prior)
    np.testing.assert_array_equal(classify(grid, model), model.classes[q.argmax(axis=1)])
    np.testing.assert_array_equal(classify(grid, model), model.classes[joint.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(log_posterior(joint)), q, rtol=1e-12, atol=1e-12)
    evidence = np.exp(joint).sum(axis=1)
    np.testing.assert_allclose(evidence, np.exp(log_evidence(log_p, model.prior)), rtol=1e-10)


@pytest.mark.claims("generative-02")
@pytest.mark.parametrize("fit_density", LAWS)
def test_joint_integrates_to_one_and_each_class_to_its_prior(rng, fit_density):
    X, y = three_classes(rng, d=2)
    model = learn_classes(X, y, fit_density)
    side = gauss_legendre(-25, 25, 60, 6)
    grid, dx = product_rule(side, side)
    mass = dx @ np.exp(log_joint_density(grid, model))
    np.testing.assert_allclose(mass, [0.4, 0.25, 0.35], rtol=1e-6, atol=1e-6)


def plug_in_errors(fit_density, n, times=20):
    """Error and excess error of plug-in rules for N(0, 1) and N(2, 1), equally likely."""
    rules = [gauss_legendre(*ends) for ends in ((-8, 0, 3), (0, 2, 20), (2, 10, 3))]
    x, dx = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    log_p = np.column_stack([normal_log_density(x, mu, 1.0) for mu in (0.0, 2.0)])
    best, rng = bayes_error(log_p, HALF, dx), np.random.default_rng(n)
    for _ in range(times):
        T = make_blobs([n // 2, n // 2], [[0.0], [2.0]], rng=rng)
        h = classify(x[:, None], learn_classes(T.X, T.y, fit_density))
        excess = excess_error(h, log_p, HALF, dx)
        assert error_probability(h, log_p, HALF, dx) == pytest.approx(best + excess, abs=1e-12)
        yield excess


@pytest.mark.claims("generative-02")
@pytest.mark.parametrize("fit_density", [fit_normal, lambda X: KernelDensity(bandwidth=0.4).fit(X)])
def test_plug_in_rule_errs_more_than_bayes_and_less_so_the_more_it_has_seen(fit_density):
    few, many = list(plug_in_errors(fit_density, 100)), list(plug_in_errors(fit_density, 10_000))
    assert min(few) >= 0 and min(many) >= 0
    assert np.mean(many) < np.mean(few) / 5
    assert max(few) > 1e-4  # it is not the Bayes rule


@pytest.mark.claims("generative-03")
def test_likeliest_class_and_largest_joint_are_two_rules_unless_priors_agree():
    densities = [NormalDensity(np.array([m]), np.eye(1)) for m in (0.0, 2.0)]
    model = GenerativeModel(np.array([0, 1]), np.array([0.9, 0.1]), densities)
    bayes = 1 + log(9) / 2
    for rule, at in ((likeliest, 1.0), (classify, bayes)):
        around = np.array([[at - 1e-10], [at + 1e-10]])
        np.testing.assert_array_equal(rule(around, model), [0, 1])
    w, b = normal_log_odds(np.array([[0.0], [2.0]]), np.eye(1), model.prior)
    assert -b / w[0] == pytest.approx(bayes, abs=1e-12)

    def error(cut):
        return 0.9 * (1 - Phi(cut)) + 0.1 * Phi(cut - 2)

    assert error(bayes) < error(1.0) - 0.05
    equal = model._replace(prior=HALF)
    x = np.linspace(-3, 5, 801)[:, None] + 1e-3
    np.testing.assert_array_equal(likeliest(x, equal), classify(x, equal))
    x, dx = gauss_legendre(-10, 12, 400)
    log_p = np.column_stack([density.score_samples(x[:, None]) for density in densities])
    for rule, at in ((likeliest, 1.0), (classify, bayes)):
        measured = error_probability(rule(x[:, None], model), log_p, model.prior, dx)
        assert measured == pytest.approx(error(at), abs=0.01)


def Phi(z):  # noqa: N802 the notes' name
    return (1 + erf(z / sqrt(2))) / 2


# ---------------------------------------------------------------------------------------
# Two features
# ---------------------------------------------------------------------------------------

MU, SIGMA = np.array([1.0, -0.5]), np.array([[2.0, 0.8], [0.8, 1.0]])


def box(L):
    """Quadrature over [-L, L]^2 about the mean."""
    return product_rule(*(gauss_legendre(m - L, m + L, 40, 8) for m in MU))


@pytest.mark.claims("generative-04")
def test_bivariate_density_has_integral_one_and_the_mean_and_covariance_given():
    X, dx = box(12)
    p = dx * bivariate_normal_density(X, MU, SIGMA)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(p @ X, MU, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((p[:, None] * (X - MU)).T @ (X - MU), SIGMA, rtol=1e-8, atol=1e-8)


@pytest.mark.claims("generative-04")
def test_bivariate_density_is_the_textbook_formula_with_rho(rng):
    X = rng.normal(scale=3, size=(50, 2))
    s_1, s_2 = np.sqrt(np.diag(SIGMA))
    rho = SIGMA[0, 1] / (s_1 * s_2)
    z_1, z_2 = (X - MU).T / [[s_1], [s_2]]
    form = (z_1**2 - 2 * rho * z_1 * z_2 + z_2**2) / (1 - rho**2)
    textbook = np.exp(-form / 2) / (2 * pi * s_1 * s_2 * sqrt(1 - rho**2))
    np.testing.assert_allclose(bivariate_normal_density(X, MU, SIGMA), textbook, rtol=1e-12)
    general = multivariate_normal_log_density(X, MU, SIGMA)
    np.testing.assert_allclose(np.log(textbook), general, rtol=1e-12)


@pytest.mark.claims("generative-04")
def test_diagonal_covariance_factorises_and_any_other_does_not(rng):
    X = rng.normal(scale=2, size=(50, 2))
    of_one = [normal_log_density(x, m, s) for x, m, s in zip(X.T, MU, np.diag(SIGMA), strict=True)]
    diagonal = bivariate_normal_density(X, MU, np.diag(np.diag(SIGMA)))
    np.testing.assert_allclose(diagonal, np.exp(sum(of_one)), rtol=1e-12)
    assert not np.allclose(bivariate_normal_density(X, MU, SIGMA), diagonal, rtol=0.1)


def printed_density(X, mu, Sigma):
    """REP's, with x_1 - mu_1 in both places, the first read as a row."""
    u = np.column_stack([X[:, 0] - mu[0], X[:, 0] - mu[0]])
    form = np.einsum("ij,jk,ik->i", u, np.linalg.inv(Sigma), u)
    return np.exp(-form / 2) / (2 * pi * sqrt(np.linalg.det(Sigma)))


@pytest.mark.claims("generative-05")
def test_printed_density_does_not_depend_on_the_second_feature_and_has_no_integral():
    along = np.column_stack([np.full(9, 0.3), np.linspace(-50, 50, 9)])
    assert np.ptp(printed_density(along, MU, SIGMA)) == 0
    assert np.ptp(bivariate_normal_density(along, MU, SIGMA)) > 0.01
    printed, correct = [], []
    for L in (10, 20, 40):
        X, dx = box(L)
        printed.append(dx @ printed_density(X, MU, SIGMA))
        correct.append(dx @ bivariate_normal_density(X, MU, SIGMA))
    np.testing.assert_allclose(np.diff(printed) / [10, 20], printed[0] / 10, rtol=1e-5)
    np.testing.assert_allclose(correct, 1, rtol=1e-6, atol=1e-6)


@pytest.mark.claims("generative-06")
def test_density_is_highest_at_the_mean_and_constant_along_each_ellipse(rng):
    def log_p(X):
        return multivariate_normal_log_density(X, MU, SIGMA)

    top = log_p(MU[None])[0]
    assert (log_p(rng.normal(scale=4, size=(200, 2))) < top).all()
    for radius in (0.5, 1.0, 3.0):
        rim = ellipse(MU, SIGMA, radius, TURN)
        np.testing.assert_allclose(log_p(rim), top - radius**2 / 2, rtol=1e-12)
    circle = MU + np.column_stack([np.cos(TURN), np.sin(TURN)])
    assert np.ptp(log_p(circle)) > 0.5  # and along no other closed curve


@pytest.mark.claims("generative-06")
def test_axes_of_the_ellipse_are_the_eigenvectors():
    lengths, U = np.linalg.eigh(SIGMA)
    rim = ellipse(MU, SIGMA, 2.0, np.linspace(0, 2 * pi, 10_001)) - MU
    distance = np.linalg.norm(rim, axis=1)
    for at, length, axis in ((distance.argmin(), lengths[0], U[:, 0]),
                             (distance.argmax(), lengths[1], U[:, 1])):  # fmt: skip
        assert distance[at] == pytest.approx(2 * sqrt(length), rel=1e-6)
        assert abs(rim[at] @ axis) == pytest.approx(distance[at], rel=1e-6)


@pytest.mark.claims("generative-06")
def test_probability_within_the_ellipse(rng):
    for radius in (0.5, 1.0, 2.0, 3.0):
        r, dr = gauss_legendre(0, radius, 20)
        turn = np.linspace(0, 2 * pi, 64, endpoint=False)
        rings = np.array([ellipse(MU, SIGMA, at, turn) for at in r])
        p = bivariate_normal_density(rings.reshape(-1, 2), MU, SIGMA).reshape(len(r), 64)
        area = r * sqrt(np.linalg.det(SIGMA))  # |dx| = |Sigma|^{1/2} r dr dt
        within = (dr * area) @ p.mean(axis=1) * 2 * pi
        assert ellipse_probability(radius) == pytest.approx(within, abs=1e-10)
        assert ellipse_radius(ellipse_probability(radius)) == pytest.approx(radius, rel=1e-12)
    X = sample_multivariate_normal(20_000, MU, SIGMA, rng=rng) - MU
    inside = np.einsum("ij,jk,ik->i", X, np.linalg.inv(SIGMA), X) <= 1
    assert inside.mean() == pytest.approx(1 - exp(-0.5), abs=0.015)


def test_what_is_no_covariance_is_refused():
    with pytest.raises(ValueError, match="Sigma must be positive definite; got"):
        bivariate_normal_density(np.zeros((1, 2)), MU, np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="Sigma must be positive definite; got"):
        bivariate_normal_density(np.zeros((1, 2)), MU, -np.eye(2))
    with pytest.raises(ValueError, match="S must be symmetric; it differs from its transpose"):
        bivariate_normal_density(np.zeros((1, 2)), MU, np.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="Sigma must be positive semidefinite; got"):
        ellipse(MU, np.array([[1.0, 2.0], [2.0, 1.0]]), 1.0, TURN)
    flat = ellipse(MU, np.array([[1.0, 1.0], [1.0, 1.0]]), 1.0, TURN) - MU
    np.testing.assert_allclose(flat[:, 0], flat[:, 1], rtol=1e-7, atol=1e-7)
    nearly = np.array([[4.0, 10.0], [10.0, 25.0]])  # of rank 1, with an eigenvalue of -4e-16
    flat = ellipse(MU, nearly, 1.0, TURN) - MU
    np.testing.assert_allclose(flat @ [5.0, -2.0], 0, rtol=1e-6, atol=1e-6)


# ---------------------------------------------------------------------------------------
# Normal classes
# ---------------------------------------------------------------------------------------


def test_moments_are_those_of_each_class(rng):
    X, y = three_classes(rng)
    k = np.searchsorted(np.unique(y), y)
    n_k, means, covariances = class_moments(X, k)
    variances = class_moments(X, k, "diag").covariances
    np.testing.assert_array_equal(n_k, [40, 25, 35])
    for c in range(3):
        np.testing.assert_allclose(means[c], X[k == c].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(covariances[c], np.cov(X[k == c].T, ddof=0), rtol=1e-12)
        np.testing.assert_allclose(variances[c], X[k == c].var(axis=0), rtol=1e-12)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_weights_are_repetitions(rng, kind):
    X, y = three_classes(rng)
    k, times = np.searchsorted(np.unique(y), y), rng.integers(1, 4, size=100)
    weighted = class_moments(X, k, kind, times)
    repeated = class_moments(np.repeat(X, times, axis=0), np.repeat(k, times), kind)
    for ours, theirs in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_class_without_samples_is_refused():
    with pytest.raises(ValueError, match="every class must have samples; their weights are"):
        class_moments(np.eye(2), np.array([0, 2]))


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_the_largest_samples_that_are_accepted_have_finite_covariances(kind):
    X, k = np.array([[0.0], [1.0], [0.5], [0.7]]), np.array([0, 0, 1, 1])
    covariances = class_moments(1e150 * X, k, kind).covariances.ravel()
    np.testing.assert_allclose(covariances, [0.25e300, 0.01e300], rtol=1e-12)
    for model in (QuadraticDiscriminantAnalysis(), SharedCovarianceClassifier(), GaussianNB()):
        assert np.isfinite(model.fit(1e150 * X, k).predict_log_proba(1e150 * X)).all()
        with pytest.raises(ValueError, match="X must lie within .* so that squares are finite"):
            model.fit(1e160 * X, k)


def test_pooled_covariance_maximises_the_likelihood_of_all_classes_together(rng):
    X, y = three_classes(rng)
    k = np.searchsorted(np.unique(y), y)
    n_k, means, covariances = class_moments(X, k)
    Sigma = pooled_covariance(n_k, covariances)
    within = X - means[k]
    np.testing.assert_allclose(Sigma, within.T @ within / 100, rtol=1e-12)

    def likelihood(S):
        return multivariate_normal_log_density(within, np.zeros(3), S).sum()

    for _ in range(20):
        change = rng.normal(scale=0.05, size=(3, 3))
        assert likelihood(Sigma + change + change.T) < likelihood(Sigma)
    assert likelihood(covariances.mean(axis=0)) < likelihood(Sigma)  # weights matter


def test_normal_distributions_have_their_own_or_the_pooled_covariance_regularised(rng):
    X, y = three_classes(rng)
    moments = class_moments(X, np.searchsorted(np.unique(y), y))
    pooled = pooled_covariance(moments.n_k, moments.covariances)
    for r in (0.0, 0.3):
        own, shared = normal_densities(moments, reg_param=r), normal_densities(moments, True, r)
        for c in range(3):
            np.testing.assert_array_equal(own[c].mean, moments.means[c])
            np.testing.assert_array_equal(shared[c].mean, moments.means[c])
            np.testing.assert_array_equal(own[c].covariance, regularised(moments.covariances[c], r))
            np.testing.assert_array_equal(shared[c].covariance, regularised(pooled, r))


def test_densities_of_a_model_are_those_of_its_distributions_and_the_joint_adds_the_prior(rng):
    X, y = three_classes(rng)
    model = learn_classes(X, y, fit_normal)
    log_p = log_densities(X, model)
    for c, density in enumerate(model.densities):
        expected = multivariate_normal_log_density(X, density.mean, density.covariance)
        np.testing.assert_allclose(log_p[:, c], expected, rtol=1e-12)
    np.testing.assert_allclose(log_joint_density(X, model), log_p + np.log(model.prior), rtol=1e-12)


def test_regularisation_moves_every_eigenvalue_towards_one(rng):
    S = random_covariance(rng, 4)
    before, U = np.linalg.eigh(S)
    shrunk = regularised(S, 0.3)
    np.testing.assert_allclose(
        U.T @ shrunk @ U, np.diag(0.7 * before + 0.3), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(regularised(S, 0), S)
    np.testing.assert_array_equal(regularised(S, 1), np.eye(4))


def test_log_odds_of_two_normal_classes_are_quadratic(rng):
    mu = rng.normal(size=(2, 3))
    covariances = np.array([random_covariance(rng, 3) for _ in range(2)])
    prior, X = np.array([0.3, 0.7]), rng.normal(scale=3, size=(20, 3))
    A, w, b = quadratic_log_odds(mu, covariances, prior)
    densities = zip(mu, covariances, strict=True)
    log_p = [multivariate_normal_log_density(X, m, S) for m, S in densities]
    joint = np.log(prior) + np.column_stack(log_p)
    conic = np.einsum("ij,jk,ik->i", X, A, X) + X @ w + b
    np.testing.assert_allclose(conic, joint[:, 1] - joint[:, 0], rtol=1e-9)
    same = np.repeat(covariances[:1], 2, axis=0)
    A, w, b = quadratic_log_odds(mu, same, prior)
    w_line, b_line = normal_log_odds(mu, same[0], prior)
    np.testing.assert_array_equal(A, 0)
    np.testing.assert_allclose([*w, b], [*w_line, b_line], rtol=1e-9)
    with pytest.raises(ValueError, match="positive definite"):
        quadratic_log_odds(mu, np.array([np.diag([1.0, -1.0, -1.0]), same[0]]), prior)


@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.5, -0.5]])
def test_functions_refuse_what_is_no_prior(prior):
    mu, prior, p = np.array([[0.0], [1.0]]), np.array(prior), np.array([[0.5], [0.2]])
    for function, of in (
        (quadratic_log_odds, (mu, np.ones((2, 1, 1)))),
        (linear_scores, (mu, np.eye(1))),
        (binary_log_odds, (p,)),
    ):
        with pytest.raises(ValueError, match="prior must be >= 0 with the sum 1; got"):
            function(*of, prior)


def test_linear_scores_differ_from_the_joint_by_what_classes_share(rng):
    means, Sigma = rng.normal(size=(4, 3)), random_covariance(rng, 3)
    prior, X = np.array([0.1, 0.2, 0.3, 0.4]), rng.normal(scale=3, size=(20, 3))
    W, b = linear_scores(means, Sigma, prior)
    joint = np.column_stack([multivariate_normal_log_density(X, m, Sigma) for m in means])
    joint += np.log(prior)
    shared = joint - X @ W.T - b
    np.testing.assert_allclose(shared, np.repeat(shared[:, :1], 4, axis=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(prior @ W, 0, rtol=1e-12, atol=1e-12)
    w, b_line = normal_log_odds(means[:2], Sigma, prior[:2] / 0.3)
    np.testing.assert_allclose(W[1] - W[0], w, rtol=1e-10)
    assert b[1] - b[0] == pytest.approx(b_line, rel=1e-10)


# ---------------------------------------------------------------------------------------
# Naive Bayes
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("generative-09")
def test_naive_bayes_is_the_normal_classifier_with_diagonal_covariances(rng):
    X, y = three_classes(rng)
    model = learn_classes(X, y, fit_naive)
    diagonal = [
        NormalDensity(X[y == c].mean(axis=0), np.diag(X[y == c].var(axis=0))) for c in model.classes
    ]
    full = model._replace(densities=diagonal)
    log_q = [log_posterior(log_joint_density(X, m)) for m in (model, full)]
    np.testing.assert_allclose(*log_q, rtol=1e-12, atol=1e-12)
    by_estimator = GaussianNB(var_smoothing=0).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(by_estimator, log_q[0], rtol=1e-11, atol=1e-11)
    correlated = learn_classes(X, y, fit_normal)
    assert not np.allclose(log_posterior(log_joint_density(X, correlated)), log_q[0], atol=0.1)


@pytest.mark.claims("generative-09")
def test_sum_of_logarithms_is_the_product_of_densities_and_has_the_same_argmax(rng):
    X, y = three_classes(rng)
    model = learn_classes(X, y, partial(fit_naive, fit_factor=fit_kernels))
    products = np.empty((100, 3))
    for i, k in product(range(100), range(3)):
        p = model.prior[k]
        for j in range(3):
            p *= np.exp(-((X[i, j] - X[y == model.classes[k], j]) ** 2) / 0.5).mean()
        products[i, k] = p / (0.5 * sqrt(2 * pi)) ** 3
    np.testing.assert_allclose(np.exp(log_joint_density(X, model)), products, rtol=1e-10)
    np.testing.assert_array_equal(classify(X, model), model.classes[products.argmax(axis=1)])


@pytest.mark.claims("generative-09")
def test_log_odds_of_binary_features_are_linear(rng):
    p, prior = rng.uniform(0.05, 0.95, size=(2, 5)), np.array([0.3, 0.7])
    X = np.array(list(product([0.0, 1.0], repeat=5)))
    products = prior * np.prod(np.where(X[:, None] == 1, p, 1 - p), axis=2)
    w, b = binary_log_odds(p, prior)
    np.testing.assert_allclose(
        X @ w + b, np.log(products[:, 1] / products[:, 0]), rtol=1e-12, atol=1e-12
    )
    odds = p / (1 - p)
    np.testing.assert_allclose(w, np.log(odds[1] / odds[0]), rtol=1e-12, atol=1e-12)


@pytest.mark.claims("generative-09")
def test_fitted_bernoulli_classifier_has_those_log_odds(rng):
    T = make_emails(300, rng=rng)
    model = BernoulliNB(alpha=0.5).fit(T.X, T.y)
    w, b = binary_log_odds(np.exp(model.feature_log_prob_), np.exp(model.class_log_prior_))
    log_q = model.predict_log_proba(T.X)
    np.testing.assert_allclose(log_q[:, 1] - log_q[:, 0], T.X @ w + b, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("generative-10")
@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_naive_bayes_has_fewer_parameters(rng, d):
    X, y = three_classes(rng, d)
    naive = learn_classes(X, y, fit_naive).densities[0]
    full = learn_classes(X, y, fit_normal).densities[0]
    assert sum(f.mean.size + f.covariance.size for f in naive.factors) == 2 * d
    np.testing.assert_allclose(full.covariance, full.covariance.T)
    free = len(np.triu_indices(d)[0])  # one number for each pair j <= l
    assert full.mean.size + free == d + d * (d + 1) // 2
    model = GaussianNB().fit(X, y)
    assert model.theta_.size + model.var_.size == 3 * 2 * d


@pytest.mark.claims("generative-10")
@pytest.mark.parametrize("n_k", [2, 3, 5, 6])
def test_few_samples_leave_the_full_covariance_singular_and_the_naive_one_not(rng, n_k):
    d = 6
    X, y = rng.normal(size=(2 * n_k, d)), np.repeat(["a", "b"], n_k)
    covariances = class_moments(X, np.repeat([0, 1], n_k)).covariances
    assert [np.linalg.matrix_rank(S, hermitian=True) for S in covariances] == [n_k - 1] * 2
    variances = class_moments(X, np.repeat([0, 1], n_k), "diag").covariances
    assert variances.min() > 0
    assert GaussianNB().fit(X, y).score(X, y) > 0.5
    with pytest.raises(ValueError, match="the covariance of class a must have full rank 6"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    assert QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y).score(X, y) > 0.5
    if n_k > 3:  # n - K = 2 n_k - 2 rows are enough for one covariance of both
        SharedCovarianceClassifier().fit(X, y)
    enough = rng.normal(size=(2 * d + 2, d))
    QuadraticDiscriminantAnalysis().fit(enough, np.repeat(["a", "b"], d + 1))


@pytest.mark.claims("generative-11")
def test_features_independent_given_the_class_are_correlated_in_the_whole(rng):
    pi_1, d, n = 0.3, 3, 400_000
    mu, variances = rng.normal(size=(2, d)), rng.uniform(0.5, 2, size=(2, d))
    y = (rng.random(n) < pi_1).astype(int)
    X = mu[y] + np.sqrt(variances[y]) * rng.standard_normal((n, d))
    n_k, means, covariances = class_moments(X, y)
    off = ~np.eye(d, dtype=bool)
    np.testing.assert_allclose(covariances[:, off], 0, atol=0.02)
    delta = mu[1] - mu[0]
    exact = pi_1 * (1 - pi_1) * np.outer(delta, delta)[off]
    np.testing.assert_allclose(np.cov(X.T)[off], exact, atol=0.02)
    assert np.abs(exact).min() > 0.02
    shares = n_k / n  # total = within + between, exactly, in the sample
    delta = means[1] - means[0]
    total = np.tensordot(shares, covariances, 1) + shares.prod() * np.outer(delta, delta)
    np.testing.assert_allclose(np.cov(X.T, ddof=0), total, rtol=1e-10, atol=1e-10)


@pytest.mark.claims("generative-11")
def test_naive_bayes_is_the_bayes_rule_though_features_are_dependent(rng):
    """All that its rule needs is the distribution of each feature given the class."""
    mu, variances = np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([[1.0, 0.5], [0.5, 1.5]])
    T = make_blobs([4000, 4000], mu, [np.diag(v) for v in variances], rng=rng)
    assert abs(np.corrcoef(T.X.T)[0, 1]) > 0.4
    model = learn_classes(T.X, T.y, fit_naive)
    side = gauss_legendre(-6, 9, 60, 4)
    X, dx = product_rule(side, side)
    densities = zip(mu, variances, strict=True)
    log_p = [multivariate_normal_log_density(X, m, np.diag(v)) for m, v in densities]
    log_p = np.column_stack(log_p)
    assert excess_error(classify(X, model), log_p, HALF, dx) < 1e-3


@pytest.mark.claims("generative-11")
def test_product_of_the_marginals_is_the_density_given_the_class_and_not_of_the_whole(rng):
    mu, variances, X = np.array([[0.0, 0.0], [2.0, 2.0]]), np.ones((2, 2)), rng.normal(size=(50, 2))
    of_one = np.exp([[normal_log_density(X[:, j], mu[k, j], variances[k, j]) for j in (0, 1)]
                     for k in (0, 1)])  # fmt: skip
    given = np.exp([multivariate_normal_log_density(X, mu[k], np.eye(2)) for k in (0, 1)])
    np.testing.assert_allclose(of_one.prod(axis=1), given, rtol=1e-12)
    whole, printed = HALF @ given, np.tensordot(HALF, of_one, 1).prod(axis=0)
    assert np.abs(printed / whole - 1).max() > 0.5


# ---------------------------------------------------------------------------------------
# Discrete features
# ---------------------------------------------------------------------------------------


def test_categories_are_counted_by_class(rng):
    x, k, w = rng.integers(4, size=50), rng.integers(3, size=50), rng.uniform(size=50)
    counts = category_counts(x, k, m=5, sample_weight=w)
    for c, category in product(range(3), range(5)):
        assert counts[c, category] == pytest.approx(w[(k == c) & (x == category)].sum())
    assert counts.shape == (3, 5) and (counts[:, 4] == 0).all()
    for wrong in ([3, 0], [-1, 0]):  # counted, it would be one of the next class, or the last
        message = f"x must be in a category 0, ..., 2; got from {min(wrong)} to {max(wrong)}"
        with pytest.raises(ValueError, match=re.escape(message)):
            category_counts(np.array(wrong), np.array([0, 1]), m=3)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.0])
def test_smoothing_is_the_posterior_mean_of_a_dirichlet_prior(rng, alpha):
    x = rng.integers(3, size=20)
    counts = np.bincount(x, minlength=4)
    bayes = Dirichlet(np.full(4, alpha)).posterior(x).mean()
    p = np.exp(smoothed_log_frequencies(counts, alpha))
    np.testing.assert_allclose(p, bayes, rtol=1e-12)
    assert p.sum() == pytest.approx(1, abs=1e-12) and p.min() > 0


def test_without_smoothing_what_was_not_seen_is_impossible():
    log_p = smoothed_log_frequencies(np.array([[3.0, 0.0, 1.0]]), alpha=0)
    assert log_p[0, 1] == -np.inf
    np.testing.assert_allclose(np.exp(log_p), [[0.75, 0.0, 0.25]], rtol=1e-12)


def test_smoothing_that_leaves_no_probabilities_is_refused():
    counts = np.array([[3.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(np.exp(smoothed_log_frequencies(counts, 1e300))[1], HALF)
    with pytest.raises(ValueError, match="alpha must be finite and >= 0"):
        smoothed_log_frequencies(counts[:1], -0.5)
    for alpha in (0.0, -0.5, np.inf, np.nan):
        message = f"alpha must be finite and >= 0, and > 0 without counts; got {alpha}"
        with pytest.raises(ValueError, match=re.escape(message)):
            smoothed_log_frequencies(counts, alpha)
    for kind in (BernoulliNB, CategoricalNB):
        with pytest.raises(ValueError, match="alpha must be finite"):
            kind(alpha=np.inf).fit([[0], [1]], ["a", "b"])


def test_categorical_density_is_the_product_over_the_tables(rng):
    X = np.column_stack([rng.integers(m, size=30) for m in (2, 5, 3)])
    tables = [rng.dirichlet(np.ones(m), size=4) for m in (2, 5, 3)]
    literal = [[np.prod([t[c, v] for t, v in zip(tables, x, strict=True)]) for c in range(4)]
               for x in X]  # fmt: skip
    log_p = categorical_log_density(X, [np.log(t) for t in tables])
    np.testing.assert_allclose(np.exp(log_p), literal, rtol=1e-12)


def test_binary_counts_are_those_of_two_categories(rng):
    X, k = rng.integers(2, size=(60, 4)), np.append(rng.integers(3, size=57), [0, 1, 2])
    for w in (None, rng.uniform(0.5, 2, size=60)):
        counts = binary_counts(X.astype(float), k, w)
        for j in range(4):
            expected = category_counts(X[:, j], k, 2, w)
            np.testing.assert_allclose(counts[:, j], expected, rtol=1e-12, atol=1e-12)


def test_binary_density_is_the_categorical_one_of_two_categories(rng):
    X, counts = rng.integers(2, size=(40, 6)), rng.integers(0, 5, size=(3, 6, 2)).astype(float)
    counts[:, :, 0] += 1  # some class has never seen some feature on
    counts[0, 0, 0], counts[0, 0, 1] = 0, 3  # or off
    assert (counts[..., 1] == 0).any()
    always_on = counts + [0, 1]
    for each, alpha in product((counts, counts[..., ::-1], always_on), (0.0, 1e-30, 1.0)):
        log_p = smoothed_log_frequencies(each, alpha)
        tables = [log_p[:, j] for j in range(6)]
        binary = binary_log_density(X.astype(float), log_p[..., 1], log_p[..., 0])
        np.testing.assert_allclose(binary, categorical_log_density(X, tables), rtol=1e-12)


def test_a_category_outside_the_tables_is_refused():
    tables = [np.log(np.full((2, 3), 1 / 3))]
    message = "feature 0 must be in a category 0, ..., 2; got {}"
    for wrong in (3, -1):
        with pytest.raises(ValueError, match=re.escape(message.format(wrong))):
            categorical_log_density(np.array([[1], [wrong]]), tables)


# ---------------------------------------------------------------------------------------
# Estimators: normal classes
# ---------------------------------------------------------------------------------------


def test_quadratic_analysis_is_the_joint_of_the_classes_learnt_one_by_one(rng):
    X, y = three_classes(rng)
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    Z = rng.normal(scale=3, size=(20, 3))
    joint = literal_joint(X, Z, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(Z), joint, rtol=1e-10)
    by_classes = log_joint_density(Z, learn_classes(X, y, fit_normal))
    np.testing.assert_allclose(by_classes, joint, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(Z), model.classes_[joint.argmax(axis=1)])
    q = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(Z), q, rtol=1e-12, atol=1e-12)
    shifted = model.decision_function(Z) - joint
    np.testing.assert_allclose(shifted, 1.5 * log(2 * pi), rtol=1e-9, atol=1e-9)
    other = BayesClassifier(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(Z), other.predict_proba(Z), rtol=1e-10, atol=1e-10
    )


def test_axes_and_variances_of_the_quadratic_analysis_make_up_its_covariances(rng):
    X, y = three_classes(rng)
    model = QuadraticDiscriminantAnalysis(store_covariance=True, reg_param=0.2).fit(X, y)
    for c, Sigma, U, s in zip(
        model.classes_, model.covariance_, model.rotations_, model.scalings_, strict=True
    ):
        np.testing.assert_allclose(Sigma, 0.8 * np.cov(X[y == c].T, ddof=0) + 0.2 * np.eye(3))
        np.testing.assert_allclose(U * s @ U.T, Sigma, rtol=1e-12, atol=1e-12)
        assert (np.diff(s) < 0).all()
    model.set_params(store_covariance=False).fit(X, y)
    assert not hasattr(model, "covariance_")


def test_decision_functions_of_two_classes_are_log_odds(rng):
    X, y = three_classes(rng)
    X, y = X[y != "cedar"], y[y != "cedar"]
    for model in (QuadraticDiscriminantAnalysis(), SharedCovarianceClassifier()):
        f, log_q = model.fit(X, y).decision_function(X), model.predict_log_proba(X)
        np.testing.assert_allclose(f, log_q[:, 1] - log_q[:, 0], rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), model.classes_[(f > 0).astype(int)])


def test_shared_covariance_has_straight_boundaries_and_the_joint_of_its_distribution(rng):
    X, y = three_classes(rng)
    model, Z = SharedCovarianceClassifier().fit(X, y), rng.normal(scale=3, size=(20, 3))
    joint = model.predict_joint_log_proba(Z)
    for k, mu in enumerate(model.means_):
        np.testing.assert_allclose(mu, X[y == model.classes_[k]].mean(axis=0), rtol=1e-12)
        density = multivariate_normal_log_density(Z, mu, model.covariance_)
        np.testing.assert_allclose(joint[:, k], np.log(model.priors_[k]) + density, rtol=1e-10)
    np.testing.assert_allclose(
        model.predict_log_proba(Z), log_posterior(joint), rtol=1e-9, atol=1e-9
    )
    f = model.decision_function(Z)
    np.testing.assert_allclose(f, Z @ model.coef_.T + model.intercept_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.diff(f, axis=1), np.diff(joint, axis=1), rtol=1e-9, atol=1e-9)
    a, b = rng.normal(size=(2, 3))
    on_a_line = model.decision_function(np.array([a, (a + b) / 2, b]))
    np.testing.assert_allclose(on_a_line[1], on_a_line[[0, 2]].mean(axis=0), rtol=1e-9, atol=1e-9)


def test_one_covariance_for_all_is_the_quadratic_analysis_where_they_are_equal(rng):
    within = rng.normal(size=(30, 3))
    centers = rng.normal(scale=2, size=(3, 3))
    X, y = np.vstack([c + within for c in centers]), np.repeat(["a", "b", "c"], 30)
    Z = rng.normal(scale=3, size=(20, 3))
    shared, own = SharedCovarianceClassifier().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(shared.predict_proba(Z), own.predict_proba(Z), rtol=1e-9, atol=1e-9)
    with_three, _ = three_classes(rng)
    assert not np.allclose(
        SharedCovarianceClassifier().fit(with_three[:90], y).predict_proba(Z),
        QuadraticDiscriminantAnalysis().fit(with_three[:90], y).predict_proba(Z),
        atol=0.01,
    )


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, SharedCovarianceClassifier])
def test_posteriors_do_not_depend_on_the_coordinates(rng, kind):
    X, y = three_classes(rng)
    A, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    extreme = np.diag([1e9, 1.0, 1e-9])
    q = kind().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(
        kind().fit(X @ A + b, y).predict_proba(X @ A + b), q, rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(
        kind().fit(X @ extreme, y).predict_proba(X @ extreme), q, rtol=1e-8, atol=1e-8
    )
    far = X + 1e6
    np.testing.assert_allclose(kind().fit(far, y).predict_proba(far), q, rtol=1e-6, atol=1e-6)


def test_naive_posteriors_depend_on_rotation_but_not_on_units(rng):
    X, y = three_classes(rng)
    model = GaussianNB(var_smoothing=0)
    q, scale = model.fit(X, y).predict_proba(X), np.array([1e9, 1.0, 1e-9])
    np.testing.assert_allclose(
        model.fit(X * scale, y).predict_proba(X * scale), q, rtol=1e-9, atol=1e-9
    )
    A, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    assert not np.allclose(model.fit(X @ A, y).predict_proba(X @ A), q, atol=0.05)


def test_gaussian_naive_bayes_smooths_by_a_share_of_the_largest_variance(rng):
    X, y = three_classes(rng)
    model = GaussianNB(var_smoothing=0.01).fit(X, y)
    assert model.epsilon_ == pytest.approx(0.01 * X.var(axis=0).max(), rel=1e-12)
    for k, c in enumerate(model.classes_):
        np.testing.assert_allclose(model.theta_[k], X[y == c].mean(axis=0), rtol=1e-12)
        smoothed = X[y == c].var(axis=0) + model.epsilon_
        np.testing.assert_allclose(model.var_[k], smoothed, rtol=1e-12)
    np.testing.assert_array_equal(model.class_count_, [40, 25, 35])
    np.testing.assert_allclose(model.class_prior_, [0.4, 0.25, 0.35])


def test_gaussian_naive_bayes_by_hand():
    model = GaussianNB(var_smoothing=0).fit([[0.0], [2.0], [3.0], [7.0]], ["a", "a", "b", "b"])
    np.testing.assert_array_equal(model.theta_.ravel(), [1, 5])
    np.testing.assert_array_equal(model.var_.ravel(), [1, 4])
    odds = (exp(-2) / 1) / (exp(-0.5) / 2)  # at 3: two deviations from a, one from b
    assert model.predict_proba([[3.0]])[0, 0] == pytest.approx(odds / (1 + odds), rel=1e-12)


def test_normal_naive_bayes_of_all_classes_is_the_naive_distribution_of_each(rng):
    X, y = three_classes(rng)
    k = np.searchsorted(np.unique(y), y)
    _, means, variances = class_moments(X, k, "diag")
    densities = [fit_naive(X[k == c]) for c in range(3)]
    expected = np.array([density.score_samples(X) for density in densities]).T
    found = naive_normal_log_density(X, means, variances)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, SharedCovarianceClassifier])
def test_regularisation_depends_on_the_units_and_no_regularisation_does_not(rng, kind):
    X, y = three_classes(rng)
    for share, same in ((0.0, True), (0.5, False)):
        answers = [kind(reg_param=share).fit(u * X, y).predict_proba(u * X) for u in (1.0, 1e-6)]
        assert np.allclose(*answers, rtol=1e-6, atol=1e-6) == same


def test_categories_that_a_fold_lacks_are_told_by_min_categories():
    X, y = np.array([[0, 1], [1, 0], [0, 0], [2, 1]]), np.array(["a", "b", "a", "b"])
    with pytest.raises(ValueError, match="feature 0 must be in a category .*min_categories"):
        CategoricalNB().fit(X[:3], y[:3]).predict(X[3:])
    model = CategoricalNB(min_categories=X.max(axis=0) + 1).fit(X[:3], y[:3])
    assert list(model.n_categories_) == [3, 2] and len(model.predict(X[3:])) == 1


def test_a_feature_that_does_not_vary_is_refused_or_smoothed():
    X, y = np.array([[0.1, 1.0], [0.1, 2.0], [0.3, 1.0], [0.4, 5.0]] * 5), ["a", "a", "b", "b"] * 5
    message = "every feature must vary in every class; feature 0 is constant in class a"
    with pytest.raises(ValueError, match=message):
        GaussianNB(var_smoothing=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        GaussianNB(var_smoothing=0).fit(X - [0.1, 0.0], y)  # it is 0 there
    assert GaussianNB().fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="the covariance of class a must have full rank 2"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.raises(ValueError, match="every feature must vary in every class"):
        GaussianNB().fit(np.ones((4, 2)), ["a", "a", "b", "b"])  # nor over all samples


def test_rounding_does_not_make_a_constant_vary(rng):
    for n in range(4, 40):
        X, y = rng.normal(size=(2 * n, 2)), np.repeat(["a", "b"], n)
        X[:n, 0] = 0.1  # its mean, summed up, may be another number
        for model in (GaussianNB(var_smoothing=0), QuadraticDiscriminantAnalysis()):
            with pytest.raises(ValueError, match="feature 0 is constant in|must have full rank"):
                model.fit(X, y)
        X[n:, 0] = 0.1
        with pytest.raises(ValueError, match="must have full rank"):
            SharedCovarianceClassifier().fit(X, y)


def test_a_collinear_feature_and_a_duplicate_are_refused(rng):
    X, y = three_classes(rng)
    for extra in (X[:, 0], X[:, 0] - 3 * X[:, 1] + 1e5, 1e6 * X[:, 2]):
        for kind in (QuadraticDiscriminantAnalysis, SharedCovarianceClassifier):
            with pytest.raises(ValueError, match="must have full rank 4: its samples lie in a hyp"):
                kind().fit(np.column_stack([X, extra]), y)


def test_one_sample_in_a_class(rng):
    X, y = rng.normal(size=(9, 2)), ["a"] * 8 + ["b"]
    with pytest.raises(ValueError, match="the covariance of class b must have full rank 2"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    model = QuadraticDiscriminantAnalysis(reg_param=0.5, store_covariance=True).fit(X, y)
    np.testing.assert_array_equal(model.covariance_[1], 0.5 * np.eye(2))
    assert GaussianNB().fit(X, y).predict(X[8:]) == ["b"]
    assert SharedCovarianceClassifier().fit(X, y).predict(X[8:]) == ["b"]


@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminantAnalysis(reg_param=0.5),
        SharedCovarianceClassifier(reg_param=0.5),
        GaussianNB(),
    ],
    ids=repr,
)
def test_log_posteriors_in_a_thousand_dimensions(rng, model):
    X, y = rng.normal(size=(300, 1000)), np.repeat([0, 1, 2], 100)
    X[y == 1] += 0.5
    log_q = model.fit(X, y).predict_log_proba(X)
    assert np.isfinite(log_q).all() and (log_q <= 0).all()
    np.testing.assert_allclose(np.exp(log_q).sum(axis=1), 1, rtol=1e-12)
    joint = model.predict_joint_log_proba(X)
    assert (np.exp(joint) == 0).all()  # the product of the densities is no number
    np.testing.assert_allclose(np.diff(log_q, axis=1), np.diff(joint, axis=1), rtol=1e-8, atol=1e-8)
    assert model.score(X, y) > 0.6


def test_log_posteriors_of_a_thousand_words(rng):
    p = rng.uniform(0.2, 0.8, size=(2, 1000))
    y = rng.integers(2, size=400)
    X = (rng.random((400, 1000)) < p[y]).astype(float)
    for model in (BernoulliNB(), CategoricalNB()):
        log_q = model.fit(X, y).predict_log_proba(X)
        assert np.isfinite(log_q).all() and log_q.min() < -100
        np.testing.assert_allclose(np.exp(log_q).sum(axis=1), 1, rtol=1e-12)
        w, b = binary_log_odds((1 + np.array([X[y == k].sum(axis=0) for k in (0, 1)]))
                               / (2 + np.bincount(y))[:, None], np.bincount(y) / 400)  # fmt: skip
        np.testing.assert_allclose(log_q[:, 1] - log_q[:, 0], X @ w + b, rtol=1e-9, atol=1e-9)
        assert model.score(X, y) == 1


@pytest.mark.parametrize("prior", [[1.0, 0.0], [0.0, 1.0]])
def test_a_class_of_prior_zero_is_never_the_answer(rng, prior):
    X, y = three_classes(rng)
    X, y = X[y != "cedar"], y[y != "cedar"]
    for kind in (QuadraticDiscriminantAnalysis, SharedCovarianceClassifier, GaussianNB):
        model = kind(priors=prior).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), np.tile(prior, (65, 1)))
    np.testing.assert_array_equal(
        SharedCovarianceClassifier(priors=prior).fit(X, y).decision_function(X),
        np.full(65, np.inf if prior[1] else -np.inf),
    )


def test_far_from_all_classes_a_line_still_decides(rng):
    X, y = three_classes(rng)
    model = SharedCovarianceClassifier().fit(X, y)
    z = 1e9 * rng.normal(size=(5, 3))
    np.testing.assert_array_equal(model.predict(z), model.classes_[(z @ model.coef_.T).argmax(1)])
    np.testing.assert_array_equal(model.predict(z * 1e3), model.predict(z))


@pytest.mark.parametrize("name", ["priors", "class_prior"])
def test_given_priors_move_the_joint_and_nothing_else(rng, name):
    X, y = three_classes(rng)
    prior = np.array([0.2, 0.5, 0.3])
    kinds = {
        "priors": (QuadraticDiscriminantAnalysis, SharedCovarianceClassifier, GaussianNB),
        "class_prior": (BernoulliNB,),
    }
    for kind in kinds[name]:
        plain, given = kind().fit(X, y), kind(**{name: prior}).fit(X, y)
        moved = given.predict_joint_log_proba(X) - plain.predict_joint_log_proba(X)
        np.testing.assert_allclose(
            moved - np.log(prior / [0.4, 0.25, 0.35]), 0, rtol=1e-9, atol=1e-9
        )
        none = kind(**{name: [0.5, 0.0, 0.5]}).fit(X, y)
        assert "birch" not in none.predict(X) and (none.predict_proba(X)[:, 1] == 0).all()
        for wrong in ([0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.2, 0.2], "even", [[0.2, 0.5, 0.3]]):
            with pytest.raises(ValueError, match=f"{name} must (hold|be)"):
                kind(**{name: wrong}).fit(X, y)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "much", None, np.nan])
@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, SharedCovarianceClassifier])
def test_regularisation_is_a_share(rng, kind, wrong):
    message = f"reg_param must be a number between 0 and 1; got {wrong!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(reg_param=wrong).fit(*three_classes(rng))


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, SharedCovarianceClassifier])
def test_regularised_altogether_the_nearest_mean_decides(rng, kind):
    X, y = three_classes(rng)
    model = kind(reg_param=1, priors=np.full(3, 1 / 3)).fit(X, y)
    D = np.linalg.norm(X[:, None] - model.means_, axis=2)
    np.testing.assert_array_equal(model.predict(X), model.classes_[D.argmin(axis=1)])


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), BernoulliNB(), CategoricalNB(min_categories=9)],
    ids=lambda model: type(model).__name__,
)
def test_weighted_samples_are_repeated_or_left_out(rng, model):
    X, y = three_classes(rng)
    X, times = np.floor(X - X.min()).clip(0, 8), rng.integers(0, 4, size=100)
    if isinstance(model, BernoulliNB):
        model.set_params(binarize=4.0)
    weighted = model.fit(X, y, sample_weight=times).predict_log_proba(X)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_log_proba(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)
    with pytest.raises(ValueError, match="y must hold at least 2 classes; got 1 class"):
        model.fit(X, y, sample_weight=(y == "ash").astype(float))


# ---------------------------------------------------------------------------------------
# Estimators: discrete features
# ---------------------------------------------------------------------------------------


def test_categorical_classifier_counts_and_smooths(rng):
    X = np.column_stack([rng.integers(m, size=60) for m in (2, 4)]).astype(float)
    y = rng.choice(["no", "yes"], size=60)
    model = CategoricalNB(alpha=0.5, min_categories=[3, 1]).fit(X, y)
    np.testing.assert_array_equal(model.n_categories_, [3, 4])
    for k, c in enumerate(model.classes_):
        for j, m in enumerate(model.n_categories_):
            counts = [np.sum((y == c) & (X[:, j] == v)) for v in range(m)]
            np.testing.assert_array_equal(model.category_count_[j][k], counts)
            p = (np.array(counts) + 0.5) / (np.sum(y == c) + 0.5 * m)
            np.testing.assert_allclose(np.exp(model.feature_log_prob_[j][k]), p, rtol=1e-12)
    joint = model.predict_joint_log_proba(X)
    for x, row in zip(X.astype(int), joint, strict=True):
        terms = [model.feature_log_prob_[j][:, v] for j, v in enumerate(x)]
        np.testing.assert_allclose(row, model.class_log_prior_ + sum(terms), rtol=1e-12)


def test_joint_of_a_discrete_classifier_sums_to_one(rng):
    X = rng.integers(3, size=(40, 3)).astype(float)
    y = rng.integers(2, size=40)
    every = np.array(list(product(range(3), repeat=3)), dtype=float)
    joint = CategoricalNB().fit(X, y).predict_joint_log_proba(every)
    assert np.exp(joint).sum() == pytest.approx(1, abs=1e-12)
    bits = np.array(list(product([0.0, 1.0], repeat=3)))
    joint = BernoulliNB().fit(X, y).predict_joint_log_proba(bits)
    assert np.exp(joint).sum() == pytest.approx(1, abs=1e-12)


def test_both_discrete_classifiers_agree_on_bits(rng):
    T = make_emails(200, rng=rng)
    for alpha in (0.0, 0.3, 1.0):
        bernoulli = BernoulliNB(alpha=alpha).fit(T.X, T.y)
        categorical = CategoricalNB(alpha=alpha).fit(T.X, T.y)
        np.testing.assert_allclose(
            bernoulli.predict_joint_log_proba(T.X),
            categorical.predict_joint_log_proba(T.X),
            rtol=1e-12,
        )
        on = [table[:, 1] for table in categorical.category_count_]
        np.testing.assert_array_equal(bernoulli.feature_count_.T, on)


@pytest.mark.parametrize("kind", [BernoulliNB, CategoricalNB])
def test_without_smoothing_one_new_word_decides_alone_and_two_leave_nothing(kind):
    X, y = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]], ["a", "a", "b", "b"]
    bare = kind(alpha=0).fit(X, y)
    np.testing.assert_array_equal(bare.predict_proba([[1, 0, 1]]), [[1, 0]])
    with pytest.raises(ValueError, match=re.escape("X[1] must be possible in some class")):
        bare.predict_log_proba([[1, 0, 0], [1, 1, 0]])
    with pytest.raises(ValueError, match=re.escape("X[0] must be possible in some class")):
        bare.predict([[1, 1, 0]])
    smooth = kind().fit(X, y)
    np.testing.assert_allclose(smooth.predict_proba([[1, 1, 0]]), [HALF])
    assert 0.5 < smooth.predict_proba([[1, 0, 1]])[0, 0] < 1
    nearly = kind(alpha=1e-9).fit(X, y).predict_proba([[1, 0, 1]])
    np.testing.assert_allclose(nearly, [[1, 0]], rtol=1e-8, atol=1e-8)


def test_naive_bayes_on_emails_approaches_the_rule_that_made_them(rng):
    few, many, test = (make_emails(n, rng=rng) for n in (50, 20_000, 20_000))
    w, b = binary_log_odds(test.truth.p, test.truth.weights)
    bayes = np.where(test.X @ w + b > 0, "spam", "ham")
    best = np.mean(bayes != test.y)
    errors = [1 - BernoulliNB().fit(T.X, T.y).score(test.X, test.y) for T in (few, many)]
    assert best - 0.005 < errors[1] < best + 0.005 and errors[0] > errors[1] - 0.005
    learnt = np.exp(BernoulliNB().fit(many.X, many.y).feature_log_prob_)
    np.testing.assert_allclose(learnt, test.truth.p, atol=0.02)


def test_fit_prior_takes_shares_or_none(rng):
    T = make_emails(60, rng=rng)
    some = T.X[:45], T.y[:45]
    for kind in (BernoulliNB, CategoricalNB):
        shares = np.exp(kind().fit(*some).class_log_prior_)
        np.testing.assert_allclose(shares, np.unique(some[1], return_counts=True)[1] / 45)
        even = kind(fit_prior=False).fit(*some)
        np.testing.assert_allclose(np.exp(even.class_log_prior_), 0.5)


def test_binarize_says_what_is_on():
    X, y = np.array([[0.2], [0.9], [0.4], [0.8]]), ["a", "b", "a", "b"]
    model = BernoulliNB(binarize=0.5).fit(X, y)
    np.testing.assert_array_equal(model.feature_count_, [[0], [2]])
    np.testing.assert_array_equal(model.predict([[0.5], [0.51]]), ["a", "b"])
    with pytest.raises(ValueError, match="X must hold 0 and 1 only, unless binarize says"):
        BernoulliNB(binarize=None).fit(X, y)
    bits = BernoulliNB(binarize=None).fit(X > 0.5, y)
    np.testing.assert_array_equal(bits.feature_log_prob_, model.feature_log_prob_)
    with pytest.raises(ValueError, match="binarize must be a number or None; got 'half'"):
        BernoulliNB(binarize="half").fit(X, y)
    with pytest.raises(ValueError, match="binarize must be a number or None; got nan"):
        BernoulliNB(binarize=np.nan).fit(X, y)  # nothing is above it


def test_categories_must_be_categories_that_are_known():
    X, y = [[0, 2], [1, 0]], ["a", "b"]
    model = CategoricalNB().fit(X, y)
    with pytest.raises(ValueError, match=re.escape("feature 0 must be in a category 0, ..., 1")):
        model.predict([[2, 0]])
    assert CategoricalNB(min_categories=3).fit(X, y).predict([[2, 0]]) == ["b"]
    message = "Negative values in data: X must hold categories 0, 1, 2, ...; got -1"
    with pytest.raises(ValueError, match=re.escape(message)):
        CategoricalNB().fit([[0, -1], [1, 0]], y)
    with pytest.raises(ValueError, match=re.escape("categories 0, 1, 2, ...; got 1e+19")):
        CategoricalNB().fit([[0, 1e19], [1, 0]], y)
    for wrong in (0, 2.5, "three", [1, 2, 3], [[1, 2]]):
        message = "min_categories must be None, an integer >= 1 or one for each of the 2 features"
        with pytest.raises(ValueError, match=re.escape(f"{message}; got {wrong!r}")):
            CategoricalNB(min_categories=wrong).fit(X, y)


def test_fractions_are_cut_to_categories_and_that_is_told():
    X, y = [[0, 2], [1, 0]], ["a", "b"]
    message = r"X should hold categories 0, 1, 2, \.\.\.; got 2\.7: fractions are cut to int"
    with pytest.warns(UserWarning, match=message):
        model = CategoricalNB().fit([[0, 2.7], [1, 0]], y)
    whole = CategoricalNB().fit(X, y)
    for ours, theirs in zip(model.feature_log_prob_, whole.feature_log_prob_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.warns(UserWarning, match="fractions are cut to integers"):
        np.testing.assert_array_equal(model.predict_proba([[0.5, 2.5]]), whole.predict_proba(X[:1]))


@pytest.mark.parametrize("wrong", [-1, "one", None])
@pytest.mark.parametrize("kind", [BernoulliNB, CategoricalNB])
def test_smoothing_is_a_number_from_zero(kind, wrong):
    with pytest.raises(ValueError, match=re.escape(f"alpha must be a number >= 0; got {wrong!r}")):
        kind(alpha=wrong).fit([[0], [1]], ["a", "b"])


# ---------------------------------------------------------------------------------------
# Real data
# ---------------------------------------------------------------------------------------


def test_predictions_on_wine_are_those_of_a_loop_over_densities():
    wine = load_wine()
    model = QuadraticDiscriminantAnalysis().fit(wine.X[::2], wine.y[::2])
    np.testing.assert_allclose(model.priors_, np.bincount(wine.y[::2])[1:] / 89)
    joint = literal_joint(wine.X[::2], wine.X[1::2], wine.y[::2])
    np.testing.assert_array_equal(model.predict(wine.X[1::2]), joint.argmax(axis=1) + 1)


def test_digits_have_pixels_that_never_vary():
    digits = load_digits()
    half = digits.X[::2], digits.y[::2]
    with pytest.raises(ValueError, match="the covariance of class 0 must have full rank 64"):
        QuadraticDiscriminantAnalysis().fit(*half)
    regular = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(*half)
    naive = GaussianNB().fit(*half)
    rest = digits.X[1::2], digits.y[1::2]
    assert regular.score(*rest) > 0.95 > naive.score(*rest) > 0.7


def test_three_families_on_iris():
    iris = load_iris()
    for model, at_least in (
        (QuadraticDiscriminantAnalysis(), 0.97),
        (SharedCovarianceClassifier(), 0.97),
        (GaussianNB(), 0.95),
    ):
        assert model.fit(iris.X, iris.y).score(iris.X, iris.y) >= at_least


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def drawn(draw, panels):
    axes = Figure().subplots(1, panels, squeeze=False)[0]
    draw(*axes)
    return axes


def curves(ax, n=201):
    """What was drawn of as many points as an ellipse has."""
    return [line for line in ax.lines if len(line.get_xydata()) == n]


@pytest.mark.claims("generative-07")
def test_ellipses_drawn_on_the_wine_are_contours_of_the_distribution_of_each_cultivar():
    from figures.generative import FEATURES, winery

    left, right = drawn(winery, 2)
    wine = load_wine()
    X, rims = wine.X[:, FEATURES], curves(left)
    assert len(rims) == 6
    for c, color, inner, outer in zip((1, 2, 3), left.lines, rims[::2], rims[1::2], strict=False):
        own = X[wine.y == c]
        mu, Sigma = own.mean(axis=0), np.cov(own.T, ddof=0)
        lengths, U = np.linalg.eigh(Sigma)
        for line, p in ((inner, 0.5), (outer, 0.95)):
            assert line.get_color() == color.get_markeredgecolor()
            z = (line.get_xydata() - mu) @ U
            form = (z**2 / lengths).sum(axis=1)
            np.testing.assert_allclose(form, -2 * log(1 - p), rtol=1e-8)
            np.testing.assert_allclose(np.ptp(z, axis=0) / 2, np.sqrt(lengths * form[0]), rtol=1e-3)
            np.testing.assert_allclose(line.get_xydata()[:-1].mean(axis=0), mu, rtol=1e-8)
        np.testing.assert_array_equal(color.get_xydata(), own)
    for ax in (left, right):
        seen = np.vstack([line.get_xydata() for line in ax.lines[:3]])
        np.testing.assert_array_equal(seen, np.vstack([X[wine.y == c] for c in (1, 2, 3)]))
    wrong = np.mean(literal_joint(X, X, wine.y).argmax(axis=1) + 1 != wine.y)
    assert right.get_title() == f"{wrong:.1%} wrong"


def test_ellipses_drawn_of_the_bivariate_distribution_and_what_is_within():
    from figures.generative import MU, SIGMA, bivariate

    left, right = drawn(bivariate, 2)
    for radius, line in zip((1, 2, 3), curves(left), strict=True):
        log_p = multivariate_normal_log_density(line.get_xydata(), MU, SIGMA)
        (top,) = multivariate_normal_log_density(MU[None], MU, SIGMA)
        np.testing.assert_allclose(log_p, top - radius**2 / 2, rtol=1e-9)
    axes = [np.diff(line.get_xydata(), axis=0)[0] for line in left.lines if line.get_ls() == "--"]
    assert abs(axes[0] @ axes[1]) < 1e-9
    np.testing.assert_allclose(
        sorted(np.linalg.norm(axes, axis=1)), 6 * np.sqrt(np.linalg.eigvalsh(SIGMA)), rtol=1e-9
    )
    c, within = right.lines[0].get_data()
    np.testing.assert_allclose(within, 1 - np.exp(-(c**2) / 2), rtol=1e-9)
    np.testing.assert_allclose(
        right.lines[1].get_ydata(), [erf(x / sqrt(2)) for x in c], rtol=1e-9, atol=1e-9
    )


def test_cuts_drawn_are_where_densities_and_weighted_densities_cross():
    from figures.generative import prior

    left, right = drawn(prior, 2)
    (middle,) = [line for line in left.lines if len(line.get_xydata()) == 2]
    assert middle.get_xdata()[0] == 1
    dotted, at = [line.get_xdata()[0] for line in right.lines if len(line.get_xydata()) == 2]
    assert dotted == 1 and at == pytest.approx(1 + log(9) / 2, abs=1e-12)
    x, (of_0, of_1) = left.lines[0].get_xdata(), (line.get_ydata() for line in right.lines[:2])
    np.testing.assert_array_equal(of_0 > of_1, x < at)
    np.testing.assert_allclose(right.lines[0].get_ydata(), 0.9 * left.lines[0].get_ydata())
    (needless,) = right.collections
    corners = needless.get_paths()[0].vertices
    assert corners[:, 0].min() >= 1 and corners[:, 0].max() <= at


def test_excess_errors_drawn_fall_and_the_normal_distributions_are_below():
    from figures.generative import plug_in

    (ax,) = drawn(plug_in, 1)
    normal, kernel, slope = (line.get_ydata() for line in ax.lines)
    assert (np.diff(normal) < 0).all() and (np.diff(kernel) < 0).all()
    assert (normal < kernel).all()
    n = ax.lines[0].get_xdata()
    np.testing.assert_allclose(slope * n, slope[0] * n[0])
    assert -1.25 < np.polyfit(np.log(n), np.log(normal), 1)[0] < -0.8


def test_families_drawn_have_the_boundaries_and_errors_they_are_said_to():
    from figures.generative import PLANE_MU, PLANE_SIGMA, families, plane_error

    axes = drawn(families, 3)
    errors = [float(ax.get_title().split()[-1].rstrip("%")) / 100 for ax in axes]
    assert errors[0] < errors[1] < errors[2]
    truth = [NormalDensity(mu, S) for mu, S in zip(PLANE_MU, PLANE_SIGMA, strict=True)]
    best = plane_error(lambda X: classify(X, GenerativeModel(np.array([0, 1]), HALF, truth)))
    assert best < errors[0] < best + 0.01
    for ax, kind in zip(axes, ("own", "shared", "naive"), strict=True):
        shapes = []
        for line in curves(ax)[1::2]:
            rim = line.get_xydata()
            shapes.append((rim - rim[:-1].mean(axis=0)).T @ (rim - rim[:-1].mean(axis=0)))
        same = np.allclose(*shapes, rtol=1e-6)
        upright = abs(shapes[0][0, 1]) < 1e-2 * shapes[0][0, 0]
        assert (same, upright) == (kind == "shared", kind == "naive")


def test_ellipses_of_the_independence_figure_are_upright_where_they_are_said_to_be():
    from figures.generative import independence

    left, right = drawn(independence, 2)

    def tilt(line):
        rim = line.get_xydata()[:-1]
        return np.corrcoef(rim.T)[0, 1]

    tilts = [[tilt(line) for line in curves(ax)] for ax in (left, right)]
    np.testing.assert_allclose(tilts[0][:2], 0, rtol=1e-9, atol=1e-9)
    assert tilts[0][2] == pytest.approx(2.25 / 3.25, abs=1e-3)
    np.testing.assert_allclose(tilts[1][:2], 0.64, atol=1e-3)
    assert abs(tilts[1][2]) < 1e-9
    for ax in (left, right):
        points = np.vstack([line.get_xydata() for line in ax.lines[:2]])
        assert abs(np.corrcoef(points.T)[0, 1] - tilt(curves(ax)[2])) < 0.15


def test_bars_of_the_emails_are_smoothed_shares_and_log_odds_of_each_word():
    from figures.generative import emails

    left, right = drawn(emails, 2)
    T = make_emails(200, rng=np.random.default_rng(6))
    ham, spam = T.X[T.y == "ham"], T.X[T.y == "spam"]
    p = np.array([(1 + X.sum(axis=0)) / (2 + len(X)) for X in (ham, spam)])
    widths = np.array([bar.get_width() for bar in left.patches]).reshape(2, 5)
    np.testing.assert_allclose(widths, p, rtol=1e-9)
    lines = [segment[0, 0] for group in left.collections for segment in group.get_segments()]
    np.testing.assert_allclose(np.reshape(lines, (2, 5)), T.truth.p)
    there, absent = np.array([bar.get_width() for bar in right.patches]).reshape(2, 5)
    w, b = binary_log_odds(p, np.array([0.5, 0.5]))
    np.testing.assert_allclose(there - absent, w, rtol=1e-9)
    assert absent.sum() == pytest.approx(b, rel=1e-9)
