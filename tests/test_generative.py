"""The generative chapter: every statement of the notes, checked by a second route."""

from functools import partial
from itertools import product
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from checks import panels

from mlnotes.clustering import one_hot_labels
from mlnotes.datasets import load_wine, make_blobs
from mlnotes.decision_theory import (
    BayesClassifier,
    error_probability,
    excess_error,
    log_posterior,
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
    bivariate_normal_density,
    categorical_log_density,
    category_counts,
    ellipse,
    ellipse_probability,
    ellipse_radius,
    fit_naive,
    fit_normal,
    learn_classes,
    linear_scores,
    log_densities,
    log_joint_density,
    map_classify,
    naive_moments,
    naive_normal_log_density,
    share_covariance,
    smoothed_log_frequencies,
)
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_cdf,
    normal_log_density,
)

HALF = np.array([0.5, 0.5])
TURN = np.linspace(0, 2 * np.pi, 101)
QDA, LDA = QuadraticDiscriminantAnalysis, SharedCovarianceClassifier
NORMAL = pytest.mark.parametrize("kind", [QDA, LDA])


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


LAWS = pytest.mark.parametrize("fit_density", [fit_normal, fit_naive, fit_kernels])


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


# --- One class at a time ---------------------------------------------------------------


@pytest.mark.claims("generative-01")
@LAWS
def test_learn_classes_learns_a_class_from_its_samples_alone(rng, fit_density):
    X, y = three_classes(rng)
    others = np.where((y == "birch")[:, None], X, 5 + 3 * X)
    for k, same in ((0, False), (1, True)):
        laws = [learn_classes(A, y, fit_density).densities[k].score_samples(X) for A in (X, others)]
        assert np.array_equal(*laws) == same


@pytest.mark.claims("generative-01")
def test_learn_classes_maximises_a_likelihood_that_splits_by_class(rng):
    X, y = three_classes(rng)
    model = learn_classes(X, y, fit_normal)
    number = np.searchsorted(model.classes, y)
    whole = log_joint_density(X, model)[np.arange(100), number].sum()
    by_class = np.log(model.prior) @ np.bincount(number)
    for c, (mu, Sigma) in enumerate(model.densities):
        members = X[number == c]
        best = NormalDensity(mu, Sigma).score_samples(members).sum()
        by_class += best
        for other in ((mu + 0.1, Sigma), (mu, 1.1 * Sigma), (mu, 0.9 * Sigma)):
            assert NormalDensity(*other).score_samples(members).sum() < best
    assert whole == pytest.approx(by_class, rel=1e-12)


@pytest.mark.claims("generative-02")
@LAWS
def test_map_classify_takes_the_largest_joint_and_so_the_largest_posterior(rng, fit_density):
    X, y = three_classes(rng, d=2)
    model, side = learn_classes(X, y, fit_density), gauss_legendre(-25, 25, 60, 6)
    grid, dx = product_rule(side, side)
    log_p = np.column_stack([density.score_samples(grid) for density in model.densities])
    np.testing.assert_array_equal(log_densities(grid, model), log_p)
    joint = log_joint_density(grid, model)
    np.testing.assert_allclose(joint, np.log([0.4, 0.25, 0.35]) + log_p, rtol=1e-12)
    np.testing.assert_allclose(dx @ np.exp(joint), [0.4, 0.25, 0.35], rtol=1e-6, atol=1e-6)
    near = np.abs(grid).max(axis=1) < 6
    h, q = map_classify(grid[near], model), posterior(log_p[near], model.prior)
    np.testing.assert_array_equal(h, model.classes[joint[near].argmax(axis=1)])
    np.testing.assert_array_equal(h, model.classes[q.argmax(axis=1)])


@pytest.mark.claims("generative-02")
@pytest.mark.parametrize("fit_density", [fit_normal, fit_kernels])
def test_map_classify_errs_more_than_bayes_and_less_so_the_more_it_has_seen(fit_density):
    """The classes are N(0, 1) and N(2, 1), equally likely."""
    rules = [gauss_legendre(*ends) for ends in ((-8, 0, 3), (0, 2, 20), (2, 10, 3))]
    x, dx = (np.concatenate(nodes) for nodes in zip(*rules, strict=True))
    log_p = np.column_stack([normal_log_density(x, mu, 1.0) for mu in (0.0, 2.0)])
    excess = {}
    for n in (100, 3000):
        rng, excess[n] = np.random.default_rng(n), []
        for _ in range(12):
            T = make_blobs([n // 2, n // 2], [[0.0], [2.0]], rng=rng)
            h = map_classify(x[:, None], learn_classes(T.X, T.y, fit_density))
            excess[n].append(excess_error(h, log_p, HALF, dx))
    assert min(excess[100] + excess[3000]) >= 0 and max(excess[100]) > 1e-4
    assert np.mean(excess[3000]) < np.mean(excess[100]) / 5


@pytest.mark.claims("generative-03")
def test_map_classify_is_not_the_likeliest_class_unless_priors_agree():
    densities = [NormalDensity(np.array([m]), np.eye(1)) for m in (0.0, 2.0)]
    model = GenerativeModel(np.array([0, 1]), np.array([0.9, 0.1]), densities)
    x, dx = gauss_legendre(-10, 12, 400)
    log_p = log_densities(x[:, None], model)
    rules = {1.0: log_p.argmax(axis=1), 1 + log(9) / 2: map_classify(x[:, None], model)}
    errors = []
    for cut, h in rules.items():  # the likeliest class, and the most probable one
        np.testing.assert_array_equal(h, x > cut)
        errors.append(0.9 * normal_cdf(-cut, 0.0, 1.0) + 0.1 * normal_cdf(cut - 2, 0.0, 1.0))
        measured = error_probability(h, log_p, model.prior, dx)
        assert measured == pytest.approx(errors[-1], abs=0.01)
    assert errors[1] < errors[0] - 0.05
    even = map_classify(x[:, None], model._replace(prior=HALF))
    np.testing.assert_array_equal(log_p.argmax(axis=1), even)


# --- Two features ----------------------------------------------------------------------

MU, SIGMA = np.array([1.0, -0.5]), np.array([[2.0, 0.8], [0.8, 0.8]])


def box(L):
    """Quadrature over [-L, L]^2 about the mean."""
    return product_rule(*(gauss_legendre(m - L, m + L, 40, 8) for m in MU))


@pytest.mark.claims("generative-04")
def test_bivariate_normal_density_has_integral_one_and_the_mean_and_covariance_given():
    X, dx = box(12)
    p = dx * bivariate_normal_density(X, MU, SIGMA)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(p @ X, MU, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((p[:, None] * (X - MU)).T @ (X - MU), SIGMA, rtol=1e-8, atol=1e-8)


@pytest.mark.claims("generative-04")
def test_bivariate_normal_density_is_the_textbook_formula_with_rho(rng):
    X = rng.normal(scale=3, size=(50, 2))
    s_1, s_2 = np.sqrt(np.diag(SIGMA))
    rho = SIGMA[0, 1] / (s_1 * s_2)
    z_1, z_2 = (X - MU).T / [[s_1], [s_2]]
    form = (z_1**2 - 2 * rho * z_1 * z_2 + z_2**2) / (1 - rho**2)
    textbook = np.exp(-form / 2) / (2 * pi * s_1 * s_2 * sqrt(1 - rho**2))
    np.testing.assert_allclose(bivariate_normal_density(X, MU, SIGMA), textbook, rtol=1e-12)
    with pytest.raises(ValueError, match="Sigma must be symmetric"):
        bivariate_normal_density(X, MU, np.array([[1.0, 0.5], [0.0, 1.0]]))


@pytest.mark.claims("generative-05")
def test_bivariate_normal_density_as_printed_has_no_integral():
    """REP has x_1 - mu_1 in both places: it is the density at (x_1, mu_2 + x_1 - mu_1)."""
    integrals = []
    for L in (10, 20, 40):
        X, dx = box(L)
        printed = bivariate_normal_density(MU + (X[:, [0, 0]] - MU[0]), MU, SIGMA)
        integrals.append([dx @ printed, dx @ bivariate_normal_density(X, MU, SIGMA)])
    as_printed, correct = np.transpose(integrals)
    np.testing.assert_allclose(as_printed, as_printed[0] * np.array([1, 2, 4]), rtol=1e-5)
    np.testing.assert_allclose(correct, 1, rtol=1e-6)


@pytest.mark.claims("generative-06")
def test_ellipse_is_a_contour_of_the_density_which_peaks_at_the_mean(rng):
    top = bivariate_normal_density(MU[None], MU, SIGMA)[0]
    others = bivariate_normal_density(rng.normal(scale=4, size=(200, 2)), MU, SIGMA)
    assert (others < top).all()
    for radius in (0.5, 1.0, 3.0):
        p = bivariate_normal_density(ellipse(MU, SIGMA, radius, TURN), MU, SIGMA)
        np.testing.assert_allclose(p, top * exp(-(radius**2) / 2), rtol=1e-12)
    circle = bivariate_normal_density(ellipse(MU, np.eye(2), 1.0, TURN), MU, SIGMA)
    assert np.ptp(np.log(circle)) > 0.5  # no contour
    lengths, U = np.linalg.eigh(SIGMA)
    axes = ellipse(MU, SIGMA, 2.0, np.array([0, pi / 2])) - MU
    np.testing.assert_allclose(np.abs(axes @ U), np.diag(2 * np.sqrt(lengths)), atol=1e-12)
    flat = np.array([[4.0, 10.0], [10.0, 25.0]])  # a segment; one eigenvalue is -4e-16
    np.testing.assert_allclose((ellipse(MU, flat, 1.0, TURN) - MU) @ [5.0, -2.0], 0, atol=1e-6)


@pytest.mark.claims("generative-06")
@pytest.mark.parametrize("radius", [0.5, 3.0])
def test_ellipse_probability_is_the_integral_over_the_ellipse(radius):
    r, dr = gauss_legendre(0, radius, 20)
    turn = np.linspace(0, 2 * pi, 64, endpoint=False)
    rings = np.array([ellipse(MU, SIGMA, at, turn) for at in r])
    p = bivariate_normal_density(rings.reshape(-1, 2), MU, SIGMA).reshape(len(r), 64)
    area = r * sqrt(np.linalg.det(SIGMA))  # |dx| = |Sigma|^{1/2} r dr dt
    within = (dr * area) @ p.mean(axis=1) * 2 * pi
    assert ellipse_probability(radius) == pytest.approx(within, abs=1e-10)
    assert ellipse_radius(within) == pytest.approx(radius, rel=1e-8)


# --- Normal classes --------------------------------------------------------------------


def test_share_covariance_maximises_the_likelihood_of_all_classes_together(rng):
    X, y = three_classes(rng)
    separate = learn_classes(X, y, fit_normal)
    within = (
        X - np.array([mu for mu, _ in separate.densities])[np.unique(y, return_inverse=True)[1]]
    )
    laws = share_covariance(separate).densities
    for (mu, Sigma), (mu_k, _) in zip(laws, separate.densities, strict=True):
        np.testing.assert_array_equal(mu, mu_k)
        np.testing.assert_allclose(Sigma, within.T @ within / 100, rtol=1e-12)

    def likelihood(S):
        return multivariate_normal_log_density(within, np.zeros(3), S).sum()

    best = likelihood(laws[0].covariance)
    for change in rng.normal(scale=0.05, size=(20, 3, 3)):
        assert likelihood(laws[0].covariance + change + change.T) < best
    assert likelihood(np.mean([Sigma for _, Sigma in separate.densities], axis=0)) < best


def test_linear_scores_differ_from_the_joint_by_what_classes_share(rng):
    means, Sigma = rng.normal(size=(4, 3)), random_covariance(rng, 3)
    prior, X = np.array([0.1, 0.2, 0.3, 0.4]), rng.normal(scale=3, size=(20, 3))
    W, b = linear_scores(means, Sigma, prior)
    laws = [NormalDensity(mu, Sigma) for mu in means]
    shared = log_joint_density(X, GenerativeModel(np.arange(4), prior, laws)) - X @ W.T - b
    np.testing.assert_allclose(shared, np.repeat(shared[:, :1], 4, axis=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(W @ Sigma, means, rtol=1e-9)


@pytest.mark.parametrize("Sigma", [[[1.0, 0.5], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]])
def test_linear_scores_refuse_what_is_no_covariance(Sigma):
    with pytest.raises(ValueError, match="symmetric|positive definite"):
        linear_scores(np.eye(2), np.array(Sigma), HALF)


# --- Naive Bayes -----------------------------------------------------------------------


@pytest.mark.claims("generative-09")
def test_fit_naive_multiplies_the_densities_of_the_features(rng):
    X, y = three_classes(rng)
    model = learn_classes(X, y, partial(fit_naive, fit_factor=fit_kernels))
    products = np.empty((100, 3))
    for i, k in product(range(100), range(3)):
        p = model.prior[k]
        for j in range(3):
            p *= np.exp(-((X[i, j] - X[y == model.classes[k], j]) ** 2) / 0.5).mean()
        products[i, k] = p / (0.5 * sqrt(2 * pi)) ** 3
    np.testing.assert_allclose(np.exp(log_joint_density(X, model)), products, rtol=1e-10)
    np.testing.assert_array_equal(map_classify(X, model), model.classes[products.argmax(axis=1)])


@pytest.mark.claims("generative-10")
@pytest.mark.parametrize("d", [1, 12])
def test_fit_naive_has_fewer_parameters(rng, d):
    X, y = three_classes(rng, d)
    naive = learn_classes(X, y, fit_naive).densities[0]
    full = learn_classes(X, y, fit_normal).densities[0]
    assert sum(f.mean.size + f.covariance.size for f in naive.factors) == 2 * d
    np.testing.assert_allclose(full.covariance, full.covariance.T)
    free = len(np.triu_indices(d)[0])  # one number for each pair j <= l
    assert full.mean.size + free == d + d * (d + 1) // 2


@pytest.mark.claims("generative-11")
def test_fit_naive_gives_the_bayes_rule_though_features_are_dependent(rng):
    """All that its rule needs is the distribution of each feature given the class."""
    mu, variances = np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([[1.0, 0.5], [0.5, 1.5]])
    T = make_blobs([4000, 4000], mu, [np.diag(v) for v in variances], rng=rng)
    assert abs(np.corrcoef(T.X.T)[0, 1]) > 0.4
    model = learn_classes(T.X, T.y, fit_naive)
    side = gauss_legendre(-6, 9, 40, 4)
    X, dx = product_rule(side, side)
    log_p = naive_normal_log_density(X, mu, variances)
    assert excess_error(map_classify(X, model), log_p, HALF, dx) < 1e-3


@pytest.mark.claims("generative-11")
def test_naive_normal_log_density_is_a_product_given_the_class_and_not_over_all_classes(rng):
    mu, variances, X = np.array([[0.0, 0.0], [2.0, 2.0]]), np.ones((2, 2)), rng.normal(size=(50, 2))
    naive = np.exp(naive_normal_log_density(X, mu, variances))
    given = np.exp([multivariate_normal_log_density(X, mu[k], np.eye(2)) for k in (0, 1)]).T
    np.testing.assert_allclose(naive, given, rtol=1e-12)
    marginals = [np.exp(naive_normal_log_density(X[:, [j]], mu[:, [j]], variances[:, [j]])) @ HALF
                 for j in (0, 1)]  # fmt: skip
    assert np.abs(np.prod(marginals, axis=0) / (naive @ HALF) - 1).max() > 0.5


def test_naive_moments_are_those_of_each_class_and_weights_are_repetitions(rng):
    X, y = three_classes(rng)
    k, times = np.searchsorted(np.unique(y), y), rng.integers(1, 4, size=100)
    means, variances = naive_moments(X, times[:, None] * one_hot_labels(k, 3))
    for c in range(3):
        repeated = np.repeat(X[k == c], times[k == c], axis=0)
        np.testing.assert_allclose(means[c], repeated.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(variances[c], repeated.var(axis=0), rtol=1e-12)


# --- Discrete features -----------------------------------------------------------------


def test_counts_of_categories_add_weights_cell_by_cell(rng):
    x, k, w = rng.integers(4, size=50), rng.integers(3, size=50), rng.uniform(size=50)
    Z = w[:, None] * one_hot_labels(k, 3)
    counts = category_counts(x, Z, m=5)
    for c, category in product(range(3), range(5)):
        assert counts[c, category] == pytest.approx(w[(k == c) & (x == category)].sum())
    X = rng.integers(2, size=(50, 4))
    for j, binary in enumerate(binary_counts(X, Z).swapaxes(0, 1)):
        np.testing.assert_allclose(binary, category_counts(X[:, j], Z, 2), rtol=1e-12)
    with pytest.raises(ValueError, match="0 and 1; got -1"):
        binary_counts(2 * X - 1, Z)


@pytest.mark.parametrize("alpha", [0.1, 7.0])
def test_smoothed_log_frequencies_are_the_posterior_mean_of_a_dirichlet_prior(rng, alpha):
    x = rng.integers(3, size=20)
    p = np.exp(smoothed_log_frequencies(np.bincount(x, minlength=4), alpha))
    np.testing.assert_allclose(p, Dirichlet(np.full(4, alpha)).posterior(x).mean(), rtol=1e-12)


def test_categorical_log_density_is_the_product_over_the_tables(rng):
    X = np.column_stack([rng.integers(m, size=30) for m in (2, 5, 3)])
    tables = [rng.dirichlet(np.ones(m), size=4) for m in (2, 5, 3)]
    literal = [[np.prod([t[c, v] for t, v in zip(tables, x, strict=True)]) for c in range(4)]
               for x in X]  # fmt: skip
    log_p = categorical_log_density(X, [np.log(t) for t in tables])
    np.testing.assert_allclose(np.exp(log_p), literal, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_binary_log_density_is_the_categorical_one_of_two_categories(rng, alpha):
    X, counts = rng.integers(2, size=(40, 6)), rng.integers(1, 5, size=(3, 6, 2)).astype(float)
    counts[1, 2, 1] = counts[0, 0, 0] = 0  # a word never seen in a class, and one always seen
    log_p = smoothed_log_frequencies(counts, alpha)
    binary = binary_log_density(X.astype(float), log_p[..., 1], log_p[..., 0])
    tables = [log_p[:, j] for j in range(6)]
    np.testing.assert_allclose(binary, categorical_log_density(X, tables), rtol=1e-12)
    assert np.isinf(binary).any() == (alpha == 0)
    with pytest.raises(ValueError, match="must hold labels 0 and 1; got 2.0"):
        binary_log_density(2 * X, log_p[..., 1], log_p[..., 0])  # how often, not whether


# --- Normal classes: estimators --------------------------------------------------------


def test_quadratic_analysis_is_the_joint_by_inverse_and_determinant(rng):
    X, y = three_classes(rng)
    model, Z = QDA().fit(X, y), rng.normal(scale=3, size=(20, 3))
    joint = literal_joint(X, Z, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(Z), joint, rtol=1e-10)
    np.testing.assert_allclose(model.decision_function(Z) - joint, 1.5 * log(2 * pi), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(Z), model.classes_[joint.argmax(axis=1)])
    other = BayesClassifier(var_smoothing=0).fit(X, y).predict_proba(Z)
    np.testing.assert_allclose(model.predict_proba(Z), other, rtol=1e-10, atol=1e-10)
    shrunken = QDA(reg_param=0.2).fit(X, y)
    for c, Sigma in zip(model.classes_, shrunken.covariance_, strict=True):
        np.testing.assert_allclose(Sigma, 0.8 * np.cov(X[y == c].T, ddof=0) + 0.2 * np.eye(3))


def test_shared_covariance_has_straight_boundaries_and_the_joint_of_its_distribution(rng):
    X, y = three_classes(rng)
    model, Z = LDA().fit(X, y), rng.normal(scale=3, size=(20, 3))
    laws = share_covariance(learn_classes(X, y, fit_normal))
    joint = log_joint_density(Z, laws)
    np.testing.assert_allclose(model.predict_joint_log_proba(Z), joint, rtol=1e-10)
    np.testing.assert_allclose(model.covariance_, laws.densities[0].covariance, rtol=1e-12)
    np.testing.assert_array_equal(model.means_, [density.mean for density in laws.densities])
    f = model.decision_function(Z)
    np.testing.assert_allclose(np.diff(f, axis=1), np.diff(joint, axis=1), rtol=1e-9, atol=1e-9)
    log_q = model.predict_log_proba(Z)
    np.testing.assert_allclose(log_q, log_posterior(joint), rtol=1e-9, atol=1e-9)


@NORMAL
def test_posteriors_do_not_depend_on_the_coordinates(rng, kind):
    X, y = three_classes(rng)
    q = kind().fit(X, y).predict_proba(X)
    turned = X @ rng.normal(size=(3, 3)) + rng.normal(size=3)
    for other, tol in ((turned, 1e-8), (X * [1e9, 1.0, 1e-9], 1e-8), (X + 1e6, 1e-6)):
        again = kind().fit(other, y).predict_proba(other)
        np.testing.assert_allclose(again, q, rtol=tol, atol=tol)
    answers = [kind(reg_param=0.5).fit(u * X, y).predict_proba(u * X) for u in (1.0, 1e-6)]
    assert not np.allclose(*answers, atol=0.01)  # shrunken covariances do
    X, y = X[y != "cedar"], y[y != "cedar"]
    model = kind().fit(X, y)
    f, log_q = model.decision_function(X), model.predict_log_proba(X)
    np.testing.assert_allclose(f, log_q[:, 1] - log_q[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(f > 0).astype(int)])


def test_far_from_all_classes_a_line_still_decides(rng):
    X, y = three_classes(rng)
    model = LDA().fit(X, y)
    far = 1e12 * rng.normal(size=(5, 3))
    nearest = (far @ model.coef_.T).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(far), model.classes_[nearest])
    np.testing.assert_array_equal(model.predict_proba(far).argmax(axis=1), nearest)


@pytest.mark.claims("generative-10")
@pytest.mark.parametrize("n_k", [2, 6])
def test_few_samples_leave_the_full_covariance_singular_and_the_naive_one_not(rng, n_k):
    X, y = rng.normal(size=(2 * n_k, 6)), np.repeat(["a", "b"], n_k)
    for density in learn_classes(X, y, fit_normal).densities:
        assert np.linalg.matrix_rank(density.covariance, hermitian=True) == n_k - 1
    assert GaussianNB().fit(X, y).score(X, y) > 0.5
    with pytest.raises(ValueError, match="the covariance of class a must have full rank 6"):
        QDA().fit(X, y)
    assert QDA(reg_param=0.1).fit(X, y).score(X, y) > 0.5
    if n_k == 6:  # n - K = 10 rows are enough for one covariance of both
        LDA().fit(X, y)
    X, y = three_classes(rng)
    for extra, kind in product((X[:, 0] - 3 * X[:, 1] + 1e5, 1e6 * X[:, 2]), (QDA, LDA)):
        with pytest.raises(ValueError, match="must have full rank 4: its samples lie in a hyp"):
            kind().fit(np.column_stack([X, extra]), y)


def test_rounding_does_not_make_a_constant_vary(rng):
    for n in range(4, 20):
        X, y = rng.normal(size=(2 * n, 2)), np.repeat(["a", "b"], n)
        X[:n, 0] = 0.1  # its mean, summed up, may be another number
        for model in (GaussianNB(var_smoothing=0), QDA()):
            with pytest.raises(ValueError, match="feature 0 is constant in|must have full rank"):
                model.fit(X, y)
        X[n:, 0] = 0.1
        with pytest.raises(ValueError, match="must have full rank"):
            LDA().fit(X, y)


def test_log_posteriors_in_800_dimensions(rng):
    X, y = rng.normal(size=(300, 800)), np.repeat([0, 1, 2], 100)
    X[y == 1] += 0.5
    for model in (LDA(reg_param=0.5), GaussianNB()):
        log_q, joint = model.fit(X, y).predict_log_proba(X), model.predict_joint_log_proba(X)
        np.testing.assert_allclose(np.exp(log_q).sum(axis=1), 1, rtol=1e-12)
        assert (np.exp(joint) == 0).all()  # the product of the densities is no number
        near = {"rtol": 1e-8, "atol": 1e-8}
        np.testing.assert_allclose(np.diff(log_q), np.diff(joint), **near)


@pytest.mark.parametrize("kind", [QDA, LDA, GaussianNB, BernoulliNB])
def test_given_priors_move_the_joint_and_nothing_else(rng, kind):
    X, y = three_classes(rng)
    name, prior = "class_prior" if kind is BernoulliNB else "priors", np.array([0.2, 0.5, 0.3])
    plain, given = kind().fit(X, y), kind(**{name: prior}).fit(X, y)
    moved = given.predict_joint_log_proba(X) - plain.predict_joint_log_proba(X)
    np.testing.assert_allclose(moved - np.log(prior / [0.4, 0.25, 0.35]), 0, atol=1e-9)
    for keep, zero in ((y > "a", [0.5, 0.0, 0.5]), (y < "c", [1.0, 0.0])):  # of three, of two
        model = kind(**{name: zero}).fit(X[keep], y[keep])
        assert "birch" not in model.predict(X) and (model.predict_proba(X)[:, 1] == 0).all()
    with pytest.raises(ValueError, match=f"{name} must be >= 0 with the sum 1"):
        kind(**{name: [0.5, 0.6, -0.1]}).fit(X, y)


# --- Naive Bayes: estimators -----------------------------------------------------------


def test_gaussian_naive_bayes_is_fit_naive_smoothed_by_a_share_of_the_largest_variance(rng):
    X, y = three_classes(rng)
    model = GaussianNB(var_smoothing=0.01).fit(X, y)
    assert model.epsilon_ == pytest.approx(0.01 * X.var(axis=0).max(), rel=1e-12)
    for mean, variance, c in zip(model.theta_, model.var_, model.classes_, strict=True):
        np.testing.assert_allclose(mean, X[y == c].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(variance, X[y == c].var(axis=0) + model.epsilon_, rtol=1e-12)
    np.testing.assert_array_equal(model.class_count_, [40, 25, 35])
    bare, naive = GaussianNB(var_smoothing=0).fit(X, y), learn_classes(X, y, fit_naive)
    joint = log_joint_density(X, naive)
    np.testing.assert_allclose(bare.predict_joint_log_proba(X), joint, rtol=1e-10)


def test_gaussian_naive_bayes_refuses_a_feature_that_is_constant_in_a_class():
    X, y = np.array([[0.1, 1.0], [0.1, 2.0], [0.3, 1.0], [0.4, 5.0]] * 5), ["a", "a", "b", "b"] * 5
    for data in (X, X - [0.1, 0.0]):  # it is 0 there
        with pytest.raises(ValueError, match="feature 0 is constant in class a"):
            GaussianNB(var_smoothing=0).fit(data, y)
    assert GaussianNB().fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="feature 0 is constant in class a"):
        GaussianNB().fit(np.ones((4, 2)), ["a", "a", "b", "b"])  # nor over all samples


def test_categorical_classifier_counts_and_smooths(rng):
    X = np.column_stack([rng.integers(m, size=60) for m in (2, 4)])
    y = rng.choice(["no", "yes"], size=60)
    model = CategoricalNB(alpha=0.5, min_categories=[3, 1]).fit(X, y)
    np.testing.assert_array_equal(model.n_categories_, [3, 4])
    joint = np.tile(np.log(np.unique(y, return_counts=True)[1] / 60), (60, 1))
    for i, k, j in product(range(60), range(2), range(2)):
        members = X[y == model.classes_[k], j]
        p = (np.sum(members == X[i, j]) + 0.5) / (len(members) + 0.5 * model.n_categories_[j])
        joint[i, k] += log(p)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)


def test_categories_must_be_categories_that_are_known():
    X, y = [[0, 2], [1, 0]], ["a", "b"]
    with pytest.raises(ValueError, match=r"feature 0 .* 0, ..., 1; got 2 \(min_categories"):
        CategoricalNB().fit(X, y).predict([[1, 0], [2, 0]])
    assert CategoricalNB(min_categories=3).fit(X, y).predict([[2, 0]]) == ["b"]
    for wrong in (-1, 1e19):
        with pytest.raises(ValueError, match=r"categories 0, 1, 2, ...; got (-1|1e\+19)"):
            CategoricalNB().fit([[0, wrong], [1, 0]], y)
    with pytest.warns(UserWarning, match="got 2.7: fractions are cut to integers"):
        model = CategoricalNB().fit([[0, 2.7], [1, 0]], y)
    np.testing.assert_array_equal(
        model.predict_proba(X), CategoricalNB().fit(X, y).predict_proba(X)
    )


@pytest.mark.claims("generative-09")
def test_bernoulli_classifier_has_the_binary_log_odds_of_the_smoothed_shares(rng):
    p, y = rng.uniform(0.2, 0.8, size=(2, 1000)), rng.integers(2, size=400)
    X = (rng.random((400, 1000)) < p[y]).astype(float)
    shares = [(0.5 + X[y == k].sum(axis=0)) / (1 + np.sum(y == k)) for k in (0, 1)]
    p_0, p_1 = shares
    w = np.log(p_1 * (1 - p_0) / (p_0 * (1 - p_1)))
    b = np.log(np.mean(y == 1) / np.mean(y == 0)) + np.sum(np.log((1 - p_1) / (1 - p_0)))
    for model, on in ((BernoulliNB(alpha=0.5, binarize=2.0), X + 2), (CategoricalNB(alpha=0.5), X)):
        log_q = model.fit(on, y).predict_log_proba(on)
        assert log_q.min() < -100  # a product of probabilities would be 0
        np.testing.assert_allclose(np.diff(log_q)[:, 0], X @ w + b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [BernoulliNB, CategoricalNB])
def test_without_smoothing_one_new_word_decides_alone_and_two_leave_nothing(kind):
    X, y = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]], ["a", "a", "b", "b"]
    bare = kind(alpha=0).fit(X, y)
    np.testing.assert_array_equal(bare.predict_proba([[1, 0, 1]]), [[1, 0]])
    for ask in (bare.predict, bare.predict_log_proba):
        with pytest.raises(ValueError, match=r"X\[1\] must be possible in some class"):
            ask([[1, 0, 0], [1, 1, 0]])
    np.testing.assert_allclose(kind().fit(X, y).predict_proba([[1, 1, 0]]), [HALF])


# --- Real data -------------------------------------------------------------------------


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("generative-07")
def test_winery_draws_the_contours_of_half_and_95_percent_of_each_cultivar():
    from figures.generative import FEATURES, winery

    left, right = panels(winery, columns=2)
    wine = load_wine()
    X = wine.X[:, FEATURES]
    colors = {len(line.get_xydata()): line.get_markeredgecolor() for line in left.lines}
    rims = [line for line in left.lines if len(line.get_xydata()) == 201]
    seen = set()
    for rim, (c, p) in product(rims, product((1, 2, 3), (0.5, 0.95))):
        members = X[wine.y == c]
        D, Sigma = rim.get_xydata() - members.mean(axis=0), np.cov(members.T, ddof=0)
        form = np.sum(D @ np.linalg.inv(Sigma) * D, axis=1)
        if np.allclose(1 - np.exp(-form / 2), p, rtol=1e-8):
            assert rim.get_color() == colors[len(members)]
            assert len(np.unique(np.sign(D[:-1]), axis=0)) >= 4  # all around
            seen.add((c, p))
    assert len(rims) == len(seen) == 6
    wrong = np.mean(literal_joint(X, X, wine.y).argmax(axis=1) + 1 != wine.y)
    assert right.get_title() == f"{wrong:.1%} wrong"
