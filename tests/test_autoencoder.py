"""The autoencoder chapter, in the order of its module: each function by a second route."""

import os
from itertools import combinations, islice, pairwise, product

import numpy as np
import pytest
from checks import check_gradient, panels

from mlnotes.autoencoder import (
    SPARSITY,
    Autoencoder,
    Reconstruction,
    active_units,
    autoencoder_network,
    corrupt,
    corrupted_moments,
    decode,
    denoising_error,
    descend_linear,
    encode,
    encoder,
    linear_denoiser,
    linear_error,
    linear_gradient,
    linear_optimum,
    reconstruction_risk,
    relu_identity,
    shrunk,
    start_at_mean,
)
from mlnotes.datasets import load_digits, load_iris, load_mnist
from mlnotes.linear_regression import ridge
from mlnotes.neural_networks import (
    ACTIVATIONS,
    IDENTITY,
    LOGISTIC,
    RELU,
    TANH,
    adam,
    forward,
    glorot_start,
    pack,
    sgd,
    unpack,
)
from mlnotes.pca import (
    PCA,
    low_rank,
    principal_components,
    sample_covariance,
)

DATA = os.environ.get("MLNOTES_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="MLNOTES_DATA names no folder with the data")
quiet = pytest.mark.filterwarnings("ignore::mlnotes.base.ConvergenceWarning")
FOUR = 4.0  # standard errors


def samples(rng, n=40, d=5):
    """Correlated features of unequal spread, not centred."""
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


def close(actual, expected, tol=1e-12):
    """Equal up to rounding."""
    np.testing.assert_allclose(actual, expected, rtol=tol, atol=tol)


def second_moment(X):
    return X.T @ X / len(X)


def tail(X, k):
    """s_{k+1}^2 + s_{k+2}^2 + ..."""
    return np.sum(np.linalg.svd(X, compute_uv=False)[k:] ** 2)


# --- Linear units ----------------------------------------------------------------------


@pytest.mark.claims("autoencoder-02")
@pytest.mark.parametrize("n, d, k", [(40, 5, 2), (3, 6, 2), (5, 2, 3)])
def test_linear_gradient_is_that_of_the_sum_over_samples(rng, n, d, k):
    X, W, V = samples(rng, n, d), rng.normal(size=(d, k)), rng.normal(size=(k, d))
    loop = sum(np.linalg.norm(x - W @ (V @ x)) ** 2 for x in X)
    assert linear_error(X, W, V) == pytest.approx(loop, rel=1e-12)
    dW, dV = linear_gradient(X, W, V)
    M, E = X.T @ X, W @ V - np.eye(d)
    np.testing.assert_allclose(dW, 2 * E @ M @ V.T, rtol=1e-9, atol=1e-9 * np.abs(M).max())
    np.testing.assert_allclose(dV, 2 * W.T @ E @ M, rtol=1e-9, atol=1e-9 * np.abs(M).max())
    check_gradient(lambda W: linear_error(X, W, V), lambda W: linear_gradient(X, W, V)[0], W)
    check_gradient(lambda V: linear_error(X, W, V), lambda V: linear_gradient(X, W, V)[1], V)


@pytest.mark.claims("autoencoder-03")
@pytest.mark.parametrize("n, d", [(40, 5), (4, 7)])
def test_linear_optimum_attains_a_bound_that_no_pair_passes(rng, n, d):
    X = samples(rng, n, d)
    for k in range(1, min(n, d) + 1):
        W, V = linear_optimum(X, k)
        assert W.shape == (d, k)
        np.testing.assert_array_equal(W, V.T)
        close(V @ W, np.eye(k))
        close(X @ (W @ V).T, low_rank(X, k), 1e-10)
        assert linear_error(X, W, V) == pytest.approx(tail(X, k), rel=1e-10, abs=1e-10)
    for _ in range(1000):
        V = rng.normal(size=(2, d))
        best = np.linalg.lstsq(X @ V.T, X, rcond=None)[0].T  # the best decoder for this encoder
        assert linear_error(X, best, V) >= tail(X, 2) * (1 - 1e-12)
    random = np.linalg.qr(rng.normal(size=(d, 2)))[0]  # orthonormal, but not the right ones
    assert linear_error(X, random, random.T) > 1.01 * tail(X, 2)


@pytest.mark.claims("autoencoder-03", "autoencoder-04")
def test_descend_linear_ends_at_the_principal_subspace_and_not_at_its_components(rng):
    X = rng.normal(size=(30, 5)) * [3.0, 2.0, 1.0, 0.5, 0.3]
    Q = linear_optimum(X, 2).W
    for _ in range(3):
        W, V = 0.3 * rng.normal(size=(5, 2)), 0.3 * rng.normal(size=(2, 5))
        states = list(islice(descend_linear(X, W, V, eta=1e-3), 4000))
        J = [state.objective for state in states]
        assert J[0] == pytest.approx(linear_error(X, W, V))
        assert all(after <= (1 + 1e-12) * before for before, after in pairwise(J))
        W, V = states[-1][:2]
        assert J[-1] == pytest.approx(tail(X, 2), rel=1e-6)
        close(W @ V, Q @ Q.T, 1e-4)
        norms = [np.linalg.norm(slope) for slope in linear_gradient(X, W, V)]
        assert states[-1].gradient_norm == pytest.approx(np.hypot(*norms))
        assert np.abs(V @ Q).min() > 0.01  # every unit mixes both components
    (rest,) = islice(descend_linear(X, 0 * W, 0 * V, eta=1e-3), 5)  # at the saddle point
    assert rest.gradient_norm == 0 and rest.objective == pytest.approx(np.sum(X**2))


@pytest.mark.claims("autoencoder-04")
def test_linear_error_of_recoded_pairs_is_that_of_the_optimum(rng):
    X = samples(rng, d=6)
    W, V = linear_optimum(X, 3)
    for _ in range(20):
        A = rng.normal(size=(3, 3))
        other = W @ A, np.linalg.inv(A) @ V
        assert linear_error(X, *other) == pytest.approx(linear_error(X, W, V), rel=1e-9)
        assert np.abs(other[0] - W).max() > 1e-2
    singular = np.diag([1.0, 1.0, 0.0])  # not invertible: a direction is lost
    assert linear_error(X, W @ singular, V) > 1.01 * linear_error(X, W, V)


# --- Any units -------------------------------------------------------------------------

NETWORKS = [
    ((4, 2), IDENTITY, {}, False),
    ((4, 2), TANH, {"alpha": 0.7}, True),
    ((4, 2), RELU, {"beta": 0.3}, False),
    ((4, 6), LOGISTIC, {"beta": 0.3, "alpha": 0.7}, True),
    ((4, 5, 3), RELU, {"alpha": 0.1, "beta": 0.2}, True),
]


@pytest.mark.claims("autoencoder-01", "autoencoder-06", "autoencoder-09")
@pytest.mark.parametrize("sizes, activation, params, spoil", NETWORKS, ids=range(5))
def test_reconstruction_risk_has_the_gradient_of_its_value(rng, sizes, activation, params, spoil):
    net, X = autoencoder_network(sizes, activation), samples(rng, 6, 4)
    corrupted = corrupt(X, "masking", 0.4, rng=rng) if spoil else None

    def risk(theta):
        return reconstruction_risk(net, unpack(theta, net.sizes), X, corrupted, **params)

    theta = pack(glorot_start(net.sizes, rng=rng))
    check_gradient(lambda theta: risk(theta)[0], lambda theta: pack(risk(theta)[1]), theta)


@pytest.mark.claims("autoencoder-01")
@pytest.mark.parametrize("sizes", [(5, 4, 2), (5, 9)], ids=str)
def test_encode_and_decode_are_the_halves_of_the_network(rng, sizes):
    net, X = autoencoder_network(sizes, TANH), rng.normal(size=(7, sizes[0]))
    assert net.sizes == (*sizes, *sizes[::-1][1:])
    layers = glorot_start(net.sizes, rng=rng)
    H = forward(layers, net.activations, X)
    Z = H[len(sizes) - 1]
    close(encode(layers, net.activations, X), Z)
    close(decode(layers, net.activations, Z), H[-1])
    half = encoder(net)
    assert half.sizes == sizes and half.activations == (TANH,) * (len(sizes) - 1)
    assert half.loss is SPARSITY


@pytest.mark.claims("autoencoder-01", "neural_networks-14")
def test_linear_units_with_biases_cannot_do_better_than_pca(rng):
    """The biases take the mean; what is left is the linear autoencoder of centred samples."""
    X = samples(rng, 30, 4)
    mean, lam = X.mean(axis=0), principal_components(X).lam
    for k in range(1, 5):
        W, V = linear_optimum(X - mean, k)
        layers, net = [(V, -V @ mean), (W, mean)], autoencoder_network((4, k), IDENTITY)
        J, slope = reconstruction_risk(net, layers, X)
        assert 2 * J == pytest.approx(lam[k:].sum(), rel=1e-9, abs=1e-9)
        assert np.abs(pack(slope)).max() < 1e-10
        for _ in range(50):
            other = [(A + 0.3 * rng.normal(size=A.shape), a) for A, a in layers]
            assert reconstruction_risk(net, other, X)[0] >= J


@quiet
@pytest.mark.claims("autoencoder-01")
@pytest.mark.parametrize("k", [1, 2])
def test_trained_linear_autoencoder_finds_the_principal_subspace(k):
    X = load_iris().X
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 1.0
    params = {"alpha": 0, "solver": "sgd", "learning_rate_init": 0.01, "max_iter": 3000, "tol": 0}
    model = Autoencoder(k, activation="identity", n_iter_no_change=100, random_state=0, **params)
    pca, score = PCA(k).fit(X), model.fit(X).score(X)
    share = pca.explained_variance_ratio_.sum()
    assert score <= share + 1e-12 and score == pytest.approx(share, abs=1e-5)
    overlap = pca.components_ @ np.linalg.qr(model.coefs_[0])[0]
    cosines = np.linalg.svd(overlap, compute_uv=False)  # of the angles between both subspaces
    close(cosines, 1, 1e-3)


@pytest.mark.claims("autoencoder-06")
@pytest.mark.parametrize("d", [1, 5])
def test_relu_identity_loses_nothing_and_half_of_it_does(rng, d):
    A, X, activations = rng.normal(size=(d, d)), 10 * rng.normal(size=(50, d)), [RELU, IDENTITY]
    layers = relu_identity(A)
    (V, b), (W, a) = layers
    assert V.shape == (2 * d, d) and W.shape == (d, 2 * d) and not b.any() and not a.any()
    Z = encode(layers, activations, X)
    np.testing.assert_array_equal(Z, np.maximum(0, X @ V.T))
    size = np.linalg.cond(A) * np.abs(X).max()
    np.testing.assert_allclose(decode(layers, activations, Z), X, rtol=0, atol=1e-14 * size + 1e-12)
    half = [(V[:d], b[:d]), (W[:, :d], a)]  # A alone loses the negative parts
    assert np.abs(decode(half, activations, encode(half, activations, X)) - X).max() > 1


# --- Corruption ------------------------------------------------------------------------


@pytest.mark.claims("autoencoder-07")
@pytest.mark.parametrize("q", [0.0, 0.1, 0.9])
def test_corrupt_by_masking_zeroes_a_share_of_the_entries_and_no_others(rng, q):
    X = rng.normal(size=(400, 25)) + 10
    corrupted = corrupt(X, "masking", q, rng=rng)
    zero = corrupted == 0
    np.testing.assert_array_equal(corrupted[~zero], X[~zero])
    assert abs(zero.mean() - q) <= FOUR * np.sqrt(q * (1 - q) / X.size)
    assert np.abs(zero.mean(axis=0) - q).max() <= FOUR * np.sqrt(q * (1 - q) / len(X))
    both = np.mean(zero[:, 0] & zero[:, 1])  # independent: together as often as by chance
    assert abs(both - q**2) <= FOUR * np.sqrt(q**2 * (1 - q**2) / len(X))


@pytest.mark.claims("autoencoder-07")
def test_corrupt_by_gaussian_noise_adds_independent_components(rng):
    X, n, sigma = rng.normal(size=(20_000, 3)), 20_000, 0.7
    E = corrupt(X, "gaussian", sigma, rng=np.random.default_rng(1)) - X
    deviation = sigma**2 * np.sqrt((1 + np.eye(3)) / n)  # of e_i e_j, and 2 sigma^4 of e_i^2
    assert (np.abs(second_moment(E) - sigma**2 * np.eye(3)) <= FOUR * deviation).all()
    assert np.abs(E.mean(axis=0)).max() <= FOUR * sigma / np.sqrt(n)
    assert np.abs(E.T @ X / n).max() <= FOUR * sigma * np.abs(X).std() * 2 / np.sqrt(n)


def test_a_misspelt_noise_is_refused(rng):
    for call in (lambda: corrupt(np.eye(2), "mask", 0.5, rng=rng),
                 lambda: corrupted_moments(np.eye(2), "mask", 0.5)):  # fmt: skip
        with pytest.raises(ValueError, match="noise must be 'masking' or 'gaussian'; got 'mask'"):
            call()


@pytest.mark.claims("autoencoder-08")
@pytest.mark.parametrize("d, q", [(2, 0.3), (8, 0.2)])
def test_linear_denoiser_of_masking_by_enumeration_of_all_masks(rng, d, q):
    X, masks = samples(rng, 30, d), np.array(list(product([0.0, 1.0], repeat=d)))
    p = np.prod(np.where(masks > 0, 1 - q, q), axis=1)  # of each of the 2^d masks
    S, corrupted = second_moment(X), X[None] * masks[:, None]  # (2^d, n, d)
    A = np.einsum("m,mni,mnj->ij", p, corrupted, corrupted) / len(X)
    C = np.einsum("m,ni,mnj->ij", p, X, corrupted) / len(X)
    for given, found in zip(corrupted_moments(S, "masking", q), (A, C), strict=True):
        close(given, found, 1e-10)
    M = linear_denoiser(S, "masking", q)
    close(M, C @ np.linalg.inv(A), 1e-8)
    for trial in (M, np.eye(d), rng.normal(size=(d, d))):
        error = np.einsum("m,mni->", p, (corrupted @ trial.T - X) ** 2) / len(X)
        assert denoising_error(trial, S, "masking", q) == pytest.approx(error, rel=1e-9)
    assert_minimal(M, S, "masking", q, rng)


def assert_minimal(M, S, noise, level, rng):
    least = denoising_error(M, S, noise, level)
    for step in (1e-3, 0.1, 1.0):
        for _ in range(20):
            other = M + step * rng.normal(size=M.shape)
            assert denoising_error(other, S, noise, level) > least


@pytest.mark.claims("autoencoder-08")
@pytest.mark.parametrize("sigma", [0.1, 5.0])
def test_linear_denoiser_of_gaussian_noise_is_ridge_regression(rng, sigma):
    X = samples(rng, 50, 4)
    S = second_moment(X)
    M = linear_denoiser(S, "gaussian", sigma)
    by_ridge = np.array([ridge(X, x, len(X) * sigma**2) for x in X.T])
    close(M, by_ridge, 1e-10)
    error = denoising_error(M, S, "gaussian", sigma)
    assert error == pytest.approx(sigma**2 * np.trace(M), rel=1e-9)
    assert_minimal(M, S, "gaussian", sigma, rng)
    many = np.repeat(X, 4000, axis=0)  # and by simulation
    corrupted = corrupt(many, "gaussian", sigma, rng=rng)
    lost = np.sum((corrupted @ M.T - many) ** 2, axis=1)
    assert abs(lost.mean() - error) <= FOUR * lost.std() / np.sqrt(len(many))


@pytest.mark.parametrize("noise, level", [("masking", 0.4), ("gaussian", 0.0)])
def test_linear_denoiser_has_no_unit_of_features(rng, noise, level):
    S = second_moment(samples(rng, 30, 4))
    units = np.array([1.0, 1e-7, 1e8, 1e-3])
    M = linear_denoiser(S * np.outer(units, units), noise, level)
    close(M * units / units[:, None], linear_denoiser(S, noise, level), 1e-9)  # fmt: skip
    np.testing.assert_allclose(
        linear_denoiser(np.diag([1.0, 1e-14]), "gaussian", 1e-7), np.diag([1, 0.5]), rtol=1e-9
    )


@pytest.mark.parametrize("level", [1e-3, 1e-9, 1e-12])
def test_denoising_error_keeps_the_digits_of_small_errors(level):
    S = np.array([[1.0, 0.3], [0.3, 2.0]])
    assert denoising_error(np.eye(2), S, "gaussian", level) == pytest.approx(2 * level**2)
    assert denoising_error(np.eye(2), S, "masking", level) == pytest.approx(3 * level)
    M = linear_denoiser(S, "gaussian", level)
    assert denoising_error(M, S, "gaussian", level) == pytest.approx(level**2 * np.trace(M))


@pytest.mark.claims("autoencoder-08")
@pytest.mark.parametrize("noise, level", [("masking", 0.4), ("gaussian", 0.8)])
def test_linear_denoiser_is_diagonal_iff_features_are_uncorrelated(noise, level):
    plain = linear_denoiser(np.diag([1.0, 2.0, 5.0]), noise, level)
    np.testing.assert_allclose(plain, np.diag(np.diag(plain)), rtol=1e-13, atol=1e-14)
    S = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, 0.0], [0.0, 0.0, 5.0]])
    M = linear_denoiser(S, noise, level)
    assert abs(M[0, 1]) > 0.04 and abs(M[1, 0]) > 0.04
    np.testing.assert_allclose(M[[0, 1, 2, 2], [2, 2, 0, 1]], 0, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("noise, level", [("masking", 0.4), ("gaussian", 0.8)])
def test_linear_denoiser_of_singular_moments_is_the_best(rng, noise, level):
    X = np.column_stack([rng.normal(size=20), np.zeros((20, 2))])
    X[:, 2] = 3 * X[:, 0]
    S = second_moment(X)
    M = linear_denoiser(S, noise, level)
    close([*M[1], *M[:, 1]], 0)
    least = denoising_error(M, S, noise, level)
    for other in M + 0.1 * rng.normal(size=(50, 3, 3)):
        assert denoising_error(other, S, noise, level) >= least - 1e-12


@pytest.mark.claims("autoencoder-08")
@pytest.mark.parametrize("noise, level", [("masking", 0.4), ("gaussian", 1.0)])
def test_training_with_clean_targets_finds_the_denoiser(noise, level):
    rng = np.random.default_rng(5)
    X = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.8], [0.8, 1.0]], size=400)
    X -= X.mean(axis=0)
    S, net = sample_covariance(X), autoencoder_network((2, 2), IDENTITY)
    f = Reconstruction(net, X, noise=noise, level=level, rng=rng)
    states = adam(
        f, start_at_mean(net, X, rng=rng), 400, batch_size=200, learning_rate=0.01, rng=rng
    )
    late = [state.theta for state in islice(states, 400, 800, 10)]
    M = np.mean([W @ V for (V, _), (W, _) in late], axis=0)
    np.testing.assert_allclose(M, linear_denoiser(S, noise, level), rtol=0, atol=0.05)
    assert np.abs(M - np.eye(2)).max() > 0.2  # corrupted targets would have given the identity
    lost = np.mean([state.objective for state in islice(states, 50)])
    assert 2 * lost == pytest.approx(denoising_error(M, S, noise, level), rel=0.05)


def test_a_denoising_objective_is_that_of_the_samples_it_draws(rng):
    X, net = samples(rng, 9, 3), autoencoder_network((3, 2), TANH)
    layers, rows = glorot_start(net.sizes, rng=rng), np.array([5, 1, 7])
    f = Reconstruction(net, X, 0.3, 0.2, "masking", 0.5, np.random.default_rng(1))
    J, slope = f(layers, rows)
    corrupted = corrupt(X[rows], "masking", 0.5, rng=np.random.default_rng(1))
    again = reconstruction_risk(net, layers, X[rows], corrupted, alpha=0.3, beta=0.2)
    assert again[0] == J
    np.testing.assert_array_equal(pack(again[1]), pack(slope))
    assert f(layers, rows)[0] != J  # each call draws new noise
    inside = encode(layers, net.activations, corrupted)
    outside = decode(layers, net.activations, inside)
    weights = sum(np.sum(W**2) for W, _ in layers)
    errors = np.sum((outside - X[rows]) ** 2, axis=1) / 2 + 0.2 * np.abs(inside).sum(axis=1)
    assert np.mean(errors) + 0.3 / 6 * weights == pytest.approx(J)


# --- Sparse codes ----------------------------------------------------------------------


@quiet
@pytest.mark.claims("autoencoder-06", "autoencoder-09")
def test_the_penalty_makes_codes_sparse_without_a_bottleneck():
    X = load_digits().X[:400] / 16
    params = {"alpha": 0.1, "max_iter": 60, "learning_rate_init": 0.005, "random_state": 0}
    codes, scores = [], []
    for beta in (0.0, 0.03, 0.3):
        model = Autoencoder(80, activation="relu", sparsity=beta, **params).fit(X)
        codes.append(model.transform(X))
        scores.append(model.score(X))
    penalty = [np.abs(Z).sum(axis=1).mean() for Z in codes]
    active = [active_units(Z) for Z in codes]
    assert active == pytest.approx([np.count_nonzero(Z) / 400 for Z in codes])
    assert penalty == sorted(penalty, reverse=True) and penalty[-1] < penalty[0] / 5
    assert active == sorted(active, reverse=True) and active[-1] < active[0] / 3
    assert scores == sorted(scores, reverse=True) and scores[1] > 0.8
    assert active[1] < 64 < 80 == codes[1].shape[1]


@pytest.mark.parametrize("sizes", [(3, 5), (3, 4, 2)], ids=str)
@pytest.mark.parametrize("activation", [RELU, TANH], ids=lambda f: f.name)
def test_without_decay_of_the_weights_the_penalty_has_no_minimum(rng, sizes, activation):
    """With units that are homogeneous: half the code, twice the decoder, and the same error."""
    X, net = samples(rng, 10, 3), autoencoder_network(sizes, activation)
    layers = glorot_start(net.sizes, rng=rng)  # with biases
    less = shrunk(layers, 1 / 8)
    plain, smaller = (reconstruction_risk(net, t, X)[0] for t in (layers, less))
    with_penalty = [reconstruction_risk(net, t, X, beta=1.0)[0] for t in (layers, less)]
    homogeneous = activation is not TANH
    assert np.isclose(plain, smaller, rtol=1e-10) == homogeneous
    if homogeneous:
        ratio = (with_penalty[1] - smaller) / (with_penalty[0] - plain)
        assert ratio == pytest.approx(1 / 8)
    for c in (1e-6, 1e6):
        far = shrunk(layers, c)
        assert reconstruction_risk(net, far, X, alpha=1, beta=1)[0] > 1e6


# --- The estimator ---------------------------------------------------------------------


@quiet
@pytest.mark.parametrize(
    "activation, hidden", [("tanh", ()), ("relu", 7), ("logistic", [6, 5]), ("identity", (7,))]
)
def test_transform_gives_codes_of_clean_inputs_and_inverse_transform_decodes(
    rng, activation, hidden
):
    X, widths = samples(rng, 30, 4), [hidden] if isinstance(hidden, int) else list(hidden)
    model = Autoencoder(3, hidden_layer_sizes=hidden, activation=activation, noise="masking")
    Z = model.set_params(max_iter=3, random_state=0).fit_transform(X)
    sizes = [4, *widths, 3, *widths[::-1], 4]
    assert [W.shape[::-1] for W, _ in model.layers_] == list(pairwise(sizes))
    hidden_layers = [ACTIVATIONS[activation]] * (len(sizes) - 2)
    H = forward(model.layers_, [*hidden_layers, IDENTITY], X)
    close(Z, H[len(widths) + 1])
    close(model.inverse_transform(Z), H[-1])


@quiet
def test_score_is_the_share_of_the_variance_that_the_code_keeps(rng):
    X, new = samples(rng), samples(rng, 10)
    model = Autoencoder(2, max_iter=50, random_state=0, learning_rate_init=0.01).fit(X)
    lost = np.sum((new - model.inverse_transform(model.transform(new))) ** 2)
    share = model.score(new)
    assert share == pytest.approx(1 - lost / np.sum((new - new.mean(axis=0)) ** 2))

    same = np.tile(new[0], (3, 1))
    assert model.score(same) == 0  # equal samples that are not reconstructed exactly
    model.layers_ = [(np.zeros((2, 5)), np.zeros(2)), (np.zeros((5, 2)), new[0])]
    assert model.score(same) == 1


def test_start_at_mean_is_a_glorot_start_with_the_mean_as_last_bias():
    x, sizes = np.array([[3.0, -1.0, 2.0]]), (3, 2, 3)
    for activation, factor in ((TANH, 6.0), (LOGISTIC, 2.0)):
        net, draws = autoencoder_network((3, 2), activation), np.random.default_rng(0)
        start = start_at_mean(net, x, rng=np.random.default_rng(0))
        theta = pack(glorot_start(sizes, factor=factor, rng=draws))
        np.testing.assert_array_equal(pack(start), [*theta[:-3], *x[0]])


@quiet
def test_fit_is_the_solver_on_the_objective(rng):
    """The steps of `sgd` on J with all its terms, in batches of 200, with the same draws."""
    X, model = samples(rng, 230, 4), Autoencoder(3, solver="sgd", max_iter=3, random_state=4)
    model.set_params(alpha=0.5, sparsity=0.1, noise="gaussian", noise_level=0.2).fit(X)
    net, rng = autoencoder_network((4, 3), TANH), np.random.default_rng(4)
    start, f = (
        start_at_mean(net, X, rng=rng),
        Reconstruction(net, X, 0.5, 0.1, "gaussian", 0.2, rng),
    )
    params = {"batch_size": 200, "learning_rate": 0.001, "momentum": 0.9, "nesterov": True}
    states = list(islice(sgd(f, start, 230, rng=rng, **params), 4))
    np.testing.assert_array_equal(pack(model.layers_), pack(states[-1].theta))
    assert model.history_.tolist() == [state.objective for state in states]


@quiet
def test_fit_to_few_equal_or_constant_features_is_finite(rng):
    flat = np.column_stack([rng.normal(size=(3, 4)), np.full(3, 7.0)])  # n < d, a constant feature
    for X in (flat, np.repeat(flat, 4, axis=0), np.full((5, 2), 3.0)):
        model = Autoencoder(6, max_iter=30, random_state=0).fit(X)
        assert np.isfinite(model.transform(X)).all() and model.score(X) <= 1


@quiet
def test_codes_of_wrong_width_and_the_masking_of_all_inputs_are_refused(rng):
    X = samples(rng)
    model = Autoencoder(2, max_iter=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X must have 2 components; got 5"):
        model.inverse_transform(X)
    with pytest.raises(ValueError, match="noise_level must be below 1 for masking; got 1"):
        Autoencoder(noise="masking", noise_level=1).fit(X)


# --- Real data -------------------------------------------------------------------------


@quiet
@needs_data
@pytest.mark.claims("autoencoder-06")
def test_mnist_in_two_numbers_better_than_by_pca():
    X = load_mnist(os.path.join(DATA, "mnist"), n=800).train.X
    params = {"activation": "relu", "batch_size": 50, "max_iter": 20, "alpha": 0}
    model = Autoencoder(2, hidden_layer_sizes=(64, 16), random_state=0, **params).fit(X)
    assert model.score(X) > PCA(2).fit(X).explained_variance_ratio_.sum() + 0.05


# --- The lecture figures ---------------------------------------------------------------


def points(line):
    return np.column_stack(line.get_data())


@pytest.mark.claims("autoencoder-10")
def test_figure_has_an_output_for_every_input_and_one_narrow_code():
    from figures.autoencoder import ACTIVE, LOST, networks

    narrow, denoising, sparse = panels(networks, columns=3)
    for ax, (d, k) in ((narrow, (5, 2)), (denoising, (5, 6)), (sparse, (4, 6))):
        nodes, edges = points(ax.lines[2 * d * k]), [points(line) for line in ax.lines[: 2 * d * k]]
        x, count = np.unique(nodes[:, 0], return_counts=True)
        assert x.tolist() == [0, 1, 2] and count.tolist() == [d, k, d]
        assert (k < d) == (ax is narrow)
        drawn = {tuple(map(tuple, edge)) for edge in edges}
        layers = [nodes[nodes[:, 0] == j].tolist() for j in range(3)]
        full = {(tuple(p), tuple(q)) for j in (0, 1) for p in layers[j] for q in layers[j + 1]}
        assert drawn == full and len(edges) == 2 * d * k  # each to all of the next, once
        words = {text.get_text(): text.get_position()[0] for text in ax.texts}
        assert words["$V$"] == 0.5 and words["$W$"] == 1.5 and words["$z$"] == 1
        assert words[r"$\hat{x}$"] == 2
    crossed, active = points(denoising.lines[-1]), points(sparse.lines[-1])
    assert len(crossed) == len(LOST) and (crossed[:, 0] == 0).all()
    assert len(active) == len(ACTIVE) < 6 and (active[:, 0] == 1).all()


def test_figure_shows_a_landscape_with_a_saddle_and_a_curve_of_minima():
    from figures.autoencoder import STARTS, landscape

    (ax,) = panels(landscape, columns=1)
    *curves, _, _ = [line for line in ax.lines if line.get_marker() == "None"]
    for line in curves:
        v, w = points(line).T
        error = (1 - v * w) ** 2
        close(error, error[0])
        assert (line.get_linestyle() == ":") == (error[0] > 1)
        assert (line.get_color() == "#1f5a99") == (error[0] < 1e-12)
    paths = [points(line) for line in ax.lines if line.get_marker() == "."]
    assert len(paths) == len(STARTS)
    for path, start in zip(paths, STARTS, strict=True):
        close(path[0], start)
        v, w = path[:-1].T
        r = 1 - v * w
        close(path[1:], np.transpose([v + 0.2 * r * w, w + 0.2 * r * v]))
        assert abs(1 - path[-1].prod()) < 0.1
    assert np.sum(np.prod(paths[0], axis=1) < 0.1) > len(paths[0]) / 3  # it stays near 0
    ends = np.array([path[-1] for path in paths])
    assert min(np.linalg.norm(a - b) for a, b in combinations(ends, 2)) > 0.5


@pytest.mark.claims("autoencoder-03", "autoencoder-04")
def test_figure_shows_descent_ending_at_the_bound_and_codes_of_the_same_subspace():
    from figures.autoencoder import iris, linear

    left, middle, right = panels(linear, columns=3)
    X, _ = iris()
    *runs, dotted, upper = left.lines
    assert dotted.get_ydata()[0] == pytest.approx(tail(X, 2))
    assert upper.get_ydata()[0] == pytest.approx(tail(X, 1))
    for line in runs:
        J = line.get_ydata()
        assert np.sum(np.abs(J / tail(X, 1) - 1) < 0.02) >= 5  # it rests there
        assert J[0] > 20 * tail(X, 2) and J[-1] == pytest.approx(tail(X, 2), rel=5e-3)
    pca, trained = (np.vstack([points(line) for line in ax.lines]) for ax in (middle, right))
    assert abs(np.corrcoef(pca.T)[0, 1]) < 1e-10 < 0.1 < abs(np.corrcoef(trained.T)[0, 1])
    A = np.linalg.lstsq(pca, trained, rcond=None)[0]
    np.testing.assert_allclose(pca @ A, trained, rtol=0, atol=0.05)
    assert np.linalg.matrix_rank(A) == 2


def test_figure_shows_that_training_rests_at_the_level_of_pca():
    from figures.autoencoder import digits, plateau

    (ax,) = panels(plateau, columns=1)
    train, _ = digits()
    *runs, two, three = ax.lines
    for k, line in ((2, two), (3, three)):
        level = tail(train - train.mean(axis=0), k) / (2 * len(train))
        assert line.get_ydata()[0] == pytest.approx(level)
    for line in runs:
        F = line.get_ydata()
        assert len(F) == 150
        assert np.sum(np.abs(F / two.get_ydata()[0] - 1) <= 0.02) >= 25
        assert F[-1] < three.get_ydata()[0]


@pytest.mark.claims("autoencoder-08")
def test_figure_shows_lost_entries_put_back():
    from figures.autoencoder import (
        COVARIANCE,
        ROWS,
        SHOWN,
        Q,
        denoising,
        digits,
        restorations,
        wide_network,
    )

    left, right = panels(denoising, columns=2)
    cloud, *lines, corrupted, restored, guessed = left.lines
    corrupted, restored, guessed = points(corrupted), points(restored), points(guessed)
    assert (np.count_nonzero(corrupted, axis=1) == 1).all() and len(lines) == len(corrupted) == 12
    S, kept = COVARIANCE, 1 - Q
    M = kept * S @ np.linalg.inv(kept**2 * S + Q * kept * np.diag(np.diag(S)))
    close(restored, corrupted @ M.T)
    rho = COVARIANCE[0, 1]  # the conditional mean keeps one entry, and the other is rho times it
    close(guessed, [(a, rho * a) if b == 0 else (rho * b, b) for a, b in corrupted])
    for line, start, end in zip(lines, corrupted, restored, strict=True):
        np.testing.assert_allclose(points(line), [start, end])
    precision = np.linalg.inv(COVARIANCE)  # nearer to the middle of the cloud in its own units
    far, near = (np.einsum("ni,ij,nj->n", P, precision, P) for P in (corrupted, restored))
    assert (near < far / 2).all()
    clean, masked, linear, copying, restoring = restorations()
    lost = [np.sum((each - clean) ** 2) for each in (masked, copying, linear, restoring)]
    assert lost == sorted(lost, reverse=True)
    train, test = digits()
    corrupted = corrupt(test, "masking", Q, rng=np.random.default_rng(1))
    M = linear_denoiser(second_moment(train), "masking", Q)
    plain, taught = wide_network(None), wide_network("masking")
    restored = [corrupted, corrupted @ M.T]
    restored += [m.inverse_transform(m.transform(corrupted)) for m in (plain, taught)]
    errors = np.sum((np.array(restored) - test) ** 2, axis=(1, 2))
    assert errors[1] < 0.5 * errors[0] and errors[2] > 0.7 * errors[0]
    assert errors[3] < 0.9 * errors[1]
    assert plain.score(test) > 0.95 > taught.score(test)  # the wide plain one has learnt to copy
    sheet = right.images[0].get_array()
    assert sheet.shape == (5 * 9 - 1, 9 * len(SHOWN) - 1)
    np.testing.assert_allclose(sheet[:8, :8], clean[0].reshape(8, 8))
    np.testing.assert_allclose(sheet[9:17, 9:17], masked[1].reshape(8, 8))
    assert [text.get_text() for text in right.texts] == list(ROWS)


@pytest.mark.claims("autoencoder-09")
def test_figure_shows_few_active_units_with_the_penalty():
    from figures.autoencoder import BETA, busiest, codes, sparse

    left, middle, right = panels(sparse, columns=3)
    plain, penalised = (active_units(codes(beta)[1]) for beta in (0.0, BETA))
    assert penalised < 0.4 * plain
    for line, mean in zip(right.lines, (plain, penalised), strict=True):
        shares = line.get_ydata()
        assert len(shares) == 100 and (np.diff(shares) <= 0).all()
        assert np.sum(shares / 100) == pytest.approx(mean)
    assert [text.get_text()[-2:-1] for text in right.texts] == ["0", "1"]
    assert right.lines[0].get_ydata()[62] > 95 > 90 > right.lines[1].get_ydata()[0]
    for ax, beta in ((left, 0.0), (middle, BETA)):
        sheet = ax.images[0].get_array()
        assert sheet.shape == (26, 26)
        np.testing.assert_allclose(sheet[:8, :8], busiest(beta)[0].reshape(8, 8))
        np.testing.assert_allclose(sheet[18:, 18:], busiest(beta)[8].reshape(8, 8))
