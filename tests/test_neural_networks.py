"""The neural-network chapter: every statement of the notes, checked by a second route."""

import re
import warnings
from itertools import islice, pairwise

import numpy as np
import pytest
from checks import check_gradient, differences, panels

from mlnotes import perceptron
from mlnotes.base import ConvergenceWarning
from mlnotes.datasets import load_digits
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import softmax
from mlnotes.model_selection import train_test_split
from mlnotes.neural_networks import (
    BINARY_CROSS_ENTROPY,
    CROSS_ENTROPY,
    IDENTITY,
    LOGISTIC,
    RELU,
    SOFTMAX,
    SQUARED_ERROR,
    TANH,
    MLPClassifier,
    MLPRegressor,
    activation_jacobian,
    adam,
    backpropagate,
    cross_entropy,
    deltas,
    forward,
    glorot_start,
    hard_limiter,
    jacobian_rows,
    logistic,
    mini_batches,
    mult_jacobian,
    net_input,
    network,
    network_risk,
    neuron,
    normal_start,
    one_hot,
    pack,
    scaled_tanh,
    sgd,
    softmax_cross_entropy,
    train_full_batch,
    tree_map,
    unpack,
)

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
PARITY = np.array([0.0, 1.0, 1.0, 0.0])
# relu(x1 + x2) - 2 relu(x1 + x2 - 1)
XOR_LAYERS = [(np.ones((2, 2)), np.array([0.0, -1.0])), (np.array([[1.0, -2.0]]), np.zeros(1))]


def close(actual, expected, tol=1e-12):
    """Equal up to rounding."""
    np.testing.assert_allclose(actual, expected, rtol=tol, atol=tol)


def drawn(sizes, hidden=TANH, loss=SQUARED_ERROR, output=None, n=6, seed=0):
    """A network, layers with biases, samples and targets that suit the loss."""
    rng, o = np.random.default_rng(seed), sizes[-1]
    layers = unpack(rng.normal(size=sum((m + 1) * k for m, k in pairwise(sizes))), sizes)
    X, Y = rng.normal(size=(n, sizes[0])), rng.normal(size=(n, o))
    if loss is CROSS_ENTROPY:
        Y = np.eye(o)[rng.integers(o, size=n)]
    if loss is BINARY_CROSS_ENTROPY:
        Y = rng.integers(2, size=(n, o)).astype(float)
    return network(sizes, hidden, loss, output), layers, X, Y


networks = pytest.mark.parametrize(
    "hidden, loss, output",
    [
        pytest.param(LOGISTIC, SQUARED_ERROR, None, id="squared of logistic"),
        pytest.param(RELU, CROSS_ENTROPY, None, id="softmax of relu"),
        pytest.param(scaled_tanh(1.7, 0.6), BINARY_CROSS_ENTROPY, None, id="logistic of tanh"),
        pytest.param(TANH, SQUARED_ERROR, RELU, id="squared of relu outputs"),
        pytest.param(TANH, BINARY_CROSS_ENTROPY, logistic(0.7), id="flat logistic outputs"),
    ],
)


# --- The neuron ------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-01")
def test_neuron_is_an_activation_of_its_net_input(rng):
    X, w, b = rng.normal(size=(9, 4)), rng.normal(size=4), rng.normal()
    close(neuron(X, w, b, TANH), [np.tanh(sum(x[i] * w[i] for i in range(4)) + b) for x in X])
    close(neuron(X, w, b, IDENTITY), perceptron.decision(X, w, b))
    labels = perceptron.linear_classify(X, w, b)
    np.testing.assert_array_equal(2 * neuron(X, w, b, hard_limiter()) - 1, labels)
    np.testing.assert_array_equal(neuron(X, w, 0.0, hard_limiter(-b)), (labels + 1) / 2)
    assert set(labels) == {-1, 1}


@pytest.mark.claims("neural_networks-02")
@pytest.mark.parametrize(
    "activation, formula",
    [
        (hard_limiter(0.4), lambda a: a > 0.4),
        (logistic(1.7), lambda a: 1 / (1 + np.exp(-1.7 * a))),
        (scaled_tanh(2.5, 0.6), lambda a: 5 / (1 + np.exp(-1.2 * a)) - 2.5),
        (RELU, lambda a: (a + np.abs(a)) / 2),
        (IDENTITY, lambda a: a),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_activations_are_their_formulas_and_slopes_their_derivatives(activation, formula):
    a = np.random.default_rng(0).normal(size=50)
    a = a[(np.abs(a) > 1e-3) & (np.abs(a - 0.4) > 1e-3)]  # away from the kinks
    close(activation.f(a), formula(a))
    numeric = differences(activation.f, a)
    close(activation.slope(activation.f(a)), np.diag(numeric), 1e-7)
    assert (numeric[~np.eye(len(a), dtype=bool)] == 0).all()  # component by component
    kinks = np.array([0.0, 0.4])
    close(activation.f(kinks), formula(kinks))
    assert activation is not RELU or activation.slope(0.0) == 0
    with np.errstate(over="raise"):
        assert np.isfinite(activation.f(np.array([-1000.0, 1000.0]))).all()


# --- A layer ---------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-04")
def test_net_input_is_affine_and_a_constant_feature_absorbs_its_bias(rng):
    W, b, X = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=(5, 4))
    close(net_input(X, W, b), [[W[k] @ x + b[k] for k in range(3)] for x in X])
    close(augment(X) @ np.column_stack([b, W]).T, net_input(X, W, b))
    assert len(pack([(np.zeros((10, 32 * 32 * 3)), np.zeros(10))])) == 30720 + 10


@pytest.mark.claims("neural_networks-05")
def test_forward_without_biases_gives_one_label_along_a_ray():
    rng, x = np.random.default_rng(0), np.array([[1.0], [3.0]])
    for _ in range(100):
        layers = [(rng.normal(size=(4, 1)), np.zeros(4)), (rng.normal(size=(3, 4)), np.zeros(3))]
        near, far = forward(layers, [RELU, IDENTITY], x)[-1]
        close(far, 3 * near)
    W, b = np.array([[-1.0], [1.0]]), np.array([2.0, -2.0])  # with biases one layer is enough
    assert net_input(x, W, b).argmax(axis=1).tolist() == [0, 1]
    assert net_input(x, W, 0 * b).argmax(axis=1).tolist() == [1, 1]


@pytest.mark.claims("neural_networks-06")
def test_net_input_has_convex_regions_and_a_network_need_not(rng):
    W, b = rng.normal(size=(4, 2)), 0.3 * rng.normal(size=4)
    (X, Z), t = rng.normal(size=(2, 4000, 2)), rng.uniform(size=(4000, 1))
    label, other, between = (
        net_input(points, W, b).argmax(axis=1) for points in (X, Z, t * X + (1 - t) * Z)
    )
    same = label == other
    assert same.sum() > 1000 and (between[same] == label[same]).all() and len(set(label)) == 4
    normal, offset = W[0] - W[1], b[0] - b[1]
    tie = -offset * normal / (normal @ normal) + 5 * np.array([-normal[1], normal[0]])
    scores = net_input(tie[None], W, b)[0]  # on the hyperplane between classes 0 and 1
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    line = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    assert forward(XOR_LAYERS, [RELU, IDENTITY], line)[-1].ravel().tolist() == [0, 1, 0]


# --- Losses ----------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-28")
def test_cross_entropy_is_entropy_and_divergence():
    P, Q = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 1000))
    H, KL = -np.sum(P * np.log(P), axis=1), np.sum(P * np.log(P / Q), axis=1)
    close(cross_entropy(P, Q), H + KL)
    close(cross_entropy(P, P), H)
    assert (cross_entropy(P, Q) > H).all()
    certain = np.eye(3)
    np.testing.assert_array_equal(cross_entropy(certain[1], certain), [np.inf, 0, np.inf])


@pytest.mark.claims("neural_networks-29")
def test_softmax_cross_entropy_is_minus_log_s_c_with_the_slope_s_minus_e_c(rng):
    A, c = 3 * rng.normal(size=(9, 4)), rng.integers(4, size=9)
    Y, S = np.eye(4)[c], softmax(A)
    close(softmax_cross_entropy(A, Y), -np.log(S[np.arange(9), c]))
    close(softmax_cross_entropy(A, Y), cross_entropy(Y, S))
    check_gradient(lambda A: softmax_cross_entropy(A, Y).sum(), lambda A: softmax(A) - Y, A)
    far = softmax_cross_entropy(np.array([[2000.0, 0.0]]), np.array([[0.0, 1.0]]))
    np.testing.assert_array_equal(far, [2000])
    shifted = softmax_cross_entropy(np.array([[3.0, 0.0, -1.0]]) + 1e8, np.eye(3)[:1])
    np.testing.assert_allclose(shifted, np.log1p(np.exp(-3) + np.exp(-4)), rtol=1e-14)


@pytest.mark.claims("neural_networks-30")
def test_cross_entropy_takes_the_entry_of_the_class_and_no_product_with_it(rng):
    S, c = rng.dirichlet(np.ones(3), size=8), rng.integers(3, size=8)
    indexed = -np.log(S[np.arange(8), c])
    close(cross_entropy(one_hot(c, range(3)), S), indexed)
    close(cross_entropy(one_hot(c + 1, [1, 2, 3]), S), indexed)  # other names, the same loss
    printed = [-np.mean(np.log(S) * labels[:, None]) for labels in (c, c + 1)]
    assert printed[0] != pytest.approx(printed[1]) and printed[0] != pytest.approx(indexed.mean())


@pytest.mark.claims("neural_networks-25")
def test_one_hot_has_a_unit_vector_per_label_and_softmax_a_distribution():
    y, classes = np.array(list("bacab")), ["a", "b", "c"]
    np.testing.assert_array_equal(one_hot(y, classes), [[x == c for c in classes] for x in y])
    with pytest.raises(KeyError, match="z"):
        one_hot(["a", "z"], classes)
    A = np.random.default_rng(0).normal(size=(20, 4))
    close(SOFTMAX.f(A), np.exp(A) / np.exp(A).sum(axis=1, keepdims=True))
    assert np.isfinite(SOFTMAX.f(1000 * A)).all()


# --- The network -----------------------------------------------------------------------


@pytest.mark.claims("neural_networks-08")
def test_forward_of_five_nodes_is_their_formula(rng):
    w13, w23, w14, w24, w35, w45 = rng.normal(size=6)
    layers = [(np.array([[w13, w23], [w14, w24]]), np.zeros(2)), (np.array([[w35, w45]]), [0.0])]
    for y1, y2 in rng.normal(size=(20, 2)):
        f3 = f4 = np.tanh
        inner = w35 * f3(w13 * y1 + w23 * y2) + w45 * f4(w14 * y1 + w24 * y2)
        y5 = forward(layers, [TANH, LOGISTIC], np.array([[y1, y2]]))[-1].item()
        assert y5 == pytest.approx(1 / (1 + np.exp(-inner)), abs=1e-14)


@pytest.mark.claims("neural_networks-09")
@pytest.mark.parametrize("sizes", [(3, 2), (3, 5, 4, 1), (2, 3, 4, 5, 3)], ids=str)
def test_forward_is_the_nested_composition(sizes):
    net, layers, X, _ = drawn(sizes)
    H = forward(layers, net.activations, X)
    assert [h.shape for h in H] == [(len(X), m) for m in sizes]
    for i, x in enumerate(X):
        h = x
        for (W, b), sigma in zip(layers, net.activations, strict=True):
            h = sigma.f(np.array([sum(W[k] * h) + b[k] for k in range(len(b))]))
        close(H[-1][i], h)


@pytest.mark.claims("neural_networks-10")
def test_forward_of_linear_layers_collapses_to_one_and_two_relus_compute_xor(rng):
    net, layers, X, _ = drawn((4, 6, 5, 3), IDENTITY)
    (W1, b1), (W2, b2), (W3, b3) = layers
    f = forward(layers, net.activations, X)[-1]
    close(f, X @ (W3 @ W2 @ W1).T + W3 @ (W2 @ b1 + b2) + b3)
    assert not np.allclose(forward(layers, (RELU, RELU, IDENTITY), X)[-1], f)
    f = net_input(XOR, rng.normal(size=(50, 2)), rng.normal(size=50))
    close(f[0] + f[3], f[1] + f[2])  # opposite corners: the signs of XOR contradict it
    np.testing.assert_array_equal(forward(XOR_LAYERS, [RELU, IDENTITY], XOR)[-1].ravel(), PARITY)


def test_output_loss_takes_a_column_as_one_output_and_refuses_what_would_broadcast():
    net, layers, X, Y = drawn((3, 4, 1))
    J, gradient = backpropagate(net, layers, X, Y[:, 0])
    assert (J, gradient[1][0].shape) == (backpropagate(net, layers, X, Y)[0], (1, 4))
    for function in (network_risk, backpropagate):
        with pytest.raises(ValueError, match="cannot reshape"):
            function(net, layers, X, Y[:1])
    net, layers, X, Y = drawn((1, 1), loss=BINARY_CROSS_ENTROPY)
    for y, got in ((-1.0, "convert labels -1"), (0.3, "got 0.3")):
        with pytest.raises(ValueError, match=got):
            network_risk(net, layers, X, np.full(Y.shape, y))


@pytest.mark.claims("neural_networks-14")
@networks
def test_network_risk_is_the_mean_loss_and_half_the_squared_weights(hidden, loss, output):
    net, layers, X, Y = drawn((3, 4, 2), hidden, loss, output)
    H = forward(layers, net.activations, X)[-1]
    squares = sum(np.sum(W**2) for W, _ in layers)
    by_hand = np.mean(loss.f(H, Y)) + 0.7 / 12 * squares
    assert network_risk(net, layers, X, Y, alpha=0.7) == pytest.approx(by_hand, rel=1e-12)
    if loss is SQUARED_ERROR:  # IRHD's is twice ours
        irhd = np.mean(np.linalg.norm(H - Y, axis=1) ** 2)
        assert irhd / network_risk(net, layers, X, Y) == pytest.approx(2, rel=1e-12)


# --- Jacobians -------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-17")
@pytest.mark.parametrize("sigma", [TANH, RELU], ids=lambda sigma: sigma.name)
def test_activation_jacobian_times_w_is_the_jacobian_of_a_layer(rng, sigma):
    W, V, x = rng.normal(size=(4, 3)), rng.normal(size=(2, 4)), rng.normal(size=3)
    assert np.abs(W @ x).min() > 1e-3
    D = activation_jacobian(sigma, sigma.f(W @ x))
    close(D, differences(sigma.f, W @ x).T, 1e-6)
    close(V @ D @ W, differences(lambda x: V @ sigma.f(W @ x), x).T, 1e-6)  # the chain rule


@pytest.mark.claims("neural_networks-18")
def test_mult_jacobian_is_that_of_the_product_with_a_vector(rng):
    x, W = rng.normal(size=3), rng.normal(size=(4, 3))
    D = mult_jacobian(x, 4)
    close(D @ pack([(W, np.zeros(4))])[:12], W @ x)
    close(D, differences(lambda w: w.reshape(4, 3) @ x, W.ravel()).T, 1e-9)


@pytest.mark.claims("neural_networks-27")
def test_softmax_jacobian_is_full():
    a = np.random.default_rng(0).normal(size=4)
    s = softmax(a[None])[0]
    D = activation_jacobian(SOFTMAX, s)
    close(D, differences(lambda a: softmax(a[None])[0], a).T, 1e-8)
    y = np.eye(4)[1]
    slope, numeric = CROSS_ENTROPY.slope(s, y), s - y
    close(slope @ D, numeric)
    assert not np.allclose(slope @ np.diag(np.diag(D)), numeric, rtol=0.1)  # as printed


@pytest.mark.claims("neural_networks-20")
@pytest.mark.parametrize("sizes", [(3, 4, 5, 2), (4, 4, 4, 4)], ids=["differing", "equal"])
def test_jacobian_rows_hold_the_weights_that_the_printed_product_lacks(sizes):
    net, layers, X, Y = drawn(sizes)
    h = [H[0] for H in forward(layers, net.activations, X[:1])]
    pairs = zip(net.activations, h[1:], strict=True)
    D = [None, *(activation_jacobian(sigma, out) for sigma, out in pairs)]
    start = net.loss.slope(h[3], Y[0]) @ D[3] @ layers[2][0] @ D[2]
    right = start @ layers[1][0] @ D[1] @ mult_jacobian(h[0], sizes[1])
    close(right, jacobian_rows(net, layers, X[0], Y[0], 1)[0])
    if sizes[1] != sizes[2]:
        with pytest.raises(ValueError, match="matmul"):
            start @ D[1]
    else:
        assert not np.allclose(start @ D[1] @ mult_jacobian(h[0], sizes[1]), right, rtol=0.1)


# --- Backpropagation -------------------------------------------------------------------


def nudged(net, layers, x, y, j, nudge):
    """J, where `nudge` has been added to the net inputs of layer j + 1."""
    layers = [(W, b + nudge if k == j else b) for k, (W, b) in enumerate(layers)]
    return network_risk(net, layers, x[None], y[None])


@pytest.mark.claims("neural_networks-21", "neural_networks-22")
@pytest.mark.parametrize("hidden", [LOGISTIC, RELU], ids=lambda f: f.name)
def test_deltas_are_the_derivatives_by_the_net_inputs(hidden):
    net, layers, X, Y = drawn((3, 5, 2, 2), hidden, SQUARED_ERROR, LOGISTIC, seed=2)
    x, y = X[0], Y[0]
    delta, h = deltas(net, layers, x, y)
    for j in range(3):
        assert np.abs(net_input(h[j][None], *layers[j])).min() > 1e-3
        numeric = differences(lambda a, j=j: nudged(net, layers, x, y, j, a), 0 * delta[j])
        close(delta[j], numeric, 1e-6)
    close(delta[2], (h[3] - y) * h[3] * (1 - h[3]))
    printed = (h[2] - y) * hidden.slope(h[2])  # that formula for a hidden layer
    assert not np.allclose(delta[1], printed, rtol=0.1)
    for j in (1, 0):
        close(delta[j], (layers[j + 1][0].T @ delta[j + 1]) * hidden.slope(h[j + 1]))


@pytest.mark.claims("neural_networks-14", "neural_networks-19", "neural_networks-23")
@networks
def test_backpropagate_jacobian_rows_and_deltas_are_three_routes_to_one_gradient(
    hidden, loss, output
):
    net, layers, X, Y = drawn((3, 4, 5, 3, 2), hidden, loss, output)
    J, gradient = backpropagate(net, layers, X, Y)
    samples = []
    for x, y in zip(X, Y, strict=True):
        literal = pack([jacobian_rows(net, layers, x, y, j) for j in (1, 2, 3, 4)])
        delta, h = deltas(net, layers, x, y)
        close(pack([(np.outer(d, h[j]), d) for j, d in enumerate(delta)]), literal, 1e-10)
        close(pack(backpropagate(net, layers, x[None], y[None])[1]), literal, 1e-10)
        samples.append(literal)
    close(pack(gradient), np.mean(samples, axis=0), 1e-11)
    assert J == network_risk(net, layers, X, Y)
    J, gradient = backpropagate(net, layers, X, Y, alpha=0.7)

    def penalised(theta):
        return network_risk(net, unpack(theta, net.sizes), X, Y, alpha=0.7)

    assert J == penalised(pack(layers))
    check_gradient(penalised, lambda _: pack(gradient), pack(layers))


@pytest.mark.claims("neural_networks-21")
def test_backpropagate_is_the_two_layer_formula():
    net, layers, X, Y = drawn((3, 6, 4), RELU, CROSS_ENTROPY, n=1)
    (W1, b1), (W2, b2) = layers
    a1 = W1 @ X[0] + b1
    h = np.maximum(0, a1)
    delta_2 = softmax((W2 @ h + b2)[None])[0] - Y[0]
    delta_1 = (W2.T @ delta_2) * (a1 > 0)
    by_hand = [(np.outer(delta_1, X[0]), delta_1), (np.outer(delta_2, h), delta_2)]
    close(pack(backpropagate(net, layers, X, Y)[1]), pack(by_hand))


@pytest.mark.parametrize("loss, o", [(CROSS_ENTROPY, 2), (BINARY_CROSS_ENTROPY, 1)])
def test_backpropagate_of_saturated_outputs_is_exact(loss, o):
    net, X = network((1, o), loss=loss), np.ones((1, 1))
    layers = [(np.array([[900.0], [0.0]])[:o], np.zeros(o))]
    for Y, expected in ((np.eye(2)[:1, :o], 0), (np.eye(2)[1:, :o], 900)):  # right, wrong
        J, gradient = backpropagate(net, layers, X, Y)
        assert (J, pack(gradient)[0]) == (expected, expected > 0)
    y = np.eye(2)[0, :o]  # 0 / 0 in the slope of the loss counts as 0
    np.testing.assert_array_equal(pack([jacobian_rows(net, layers, X[0], y, 1)]), 0)
    np.testing.assert_array_equal(deltas(net, layers, X[0], y)[0][0], 0)


@pytest.mark.parametrize("kind", [np.uint8, bool])
def test_losses_of_small_integers_are_those_of_the_numbers(kind):
    for loss, o in ((CROSS_ENTROPY, 3), (BINARY_CROSS_ENTROPY, 1)):  # -1 was 255
        net, layers, X, Y = drawn((2, o), loss=loss)
        J, gradient = backpropagate(net, layers, X, Y.astype(kind))
        assert J == network_risk(net, layers, X, Y)
        rows = [jacobian_rows(net, layers, x, y, 1) for x, y in zip(X, Y.astype(kind), strict=True)]
        close(np.mean([pack([row]) for row in rows], axis=0), pack(gradient))


# --- The gradient check ----------------------------------------------------------------


def test_unpack_is_the_inverse_of_pack_row_by_row():
    theta = np.arange(13.0)
    layers = unpack(theta, (2, 3, 1))
    np.testing.assert_array_equal(layers[0][0], [[0, 1], [2, 3], [4, 5]])
    np.testing.assert_array_equal(layers[0][1], [6, 7, 8])
    np.testing.assert_array_equal(pack(layers), theta)
    with pytest.raises(ValueError):
        unpack(theta[:11], (2, 3, 1))


# --- Starting points -------------------------------------------------------------------


@pytest.mark.claims("neural_networks-24")
def test_equal_units_stay_equal_zeros_do_not_move_and_random_units_learn():
    net, Y = network((2, 4, 1), TANH), PARITY[:, None]
    zero = tree_map(np.zeros_like, normal_start(net.sizes, rng=np.random.default_rng(0)))
    for hidden in (RELU, TANH):
        gradient = backpropagate(network(net.sizes, hidden), zero, XOR, Y)[1]
        assert not pack(gradient)[:-1].any()  # only the last bias moves
    alike = [(np.tile([0.3, -0.2], (4, 1)), np.zeros(4)), (np.full((1, 4), 0.5), np.zeros(1))]
    for hidden in (RELU, TANH):
        states = train_full_batch(network(net.sizes, hidden), alike, XOR, Y, eta=0.1)
        (W1, b1), (W2, _) = list(islice(states, 101))[-1].x
        close(W1, np.tile(W1[0], (4, 1)))
        close(b1, b1[0])
        close(W2, W2[0, 0])
        assert not np.allclose(W1[0], [0.3, -0.2])  # they have moved
    net, rng = network((2, 8, 1), TANH), np.random.default_rng(0)
    *_, last = islice(
        train_full_batch(net, normal_start(net.sizes, rng=rng), XOR, Y, eta=0.3), 1500
    )
    assert len(np.unique(last.x[0][0].round(2), axis=0)) == 8
    close(forward(last.x, net.activations, XOR)[-1].ravel(), PARITY, 0.05)


def test_starts_have_the_documented_spread():
    rng, sizes = np.random.default_rng(0), (300, 200, 50)
    for W, b in normal_start(sizes, rng=rng):
        assert W.std() == pytest.approx(1, rel=0.02) and (b == 0).all()
    for factor in (6.0, 2.0):
        for W, b in glorot_start(sizes, factor=factor, rng=rng):
            bound = np.sqrt(factor / sum(W.shape))
            assert 0.98 * bound < np.abs(W).max() <= bound
            assert W.std() == pytest.approx(bound / np.sqrt(3), rel=0.02)
            assert 0.8 * bound < np.abs(b).max() <= bound


# --- Descent ---------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-23")
def test_train_full_batch_steps_against_the_gradient():
    net, layers, X, Y = drawn((3, 4, 2))
    J, gradient = backpropagate(net, layers, X, Y, alpha=0.3)
    g = pack(gradient)
    start, after = islice(train_full_batch(net, layers, X, Y, eta=0.01, alpha=0.3), 2)
    close(pack(after.x), pack(layers) - 0.01 * g)
    assert (start.objective, start.gradient_norm) == (J, pytest.approx(np.sqrt(g @ g)))
    assert after.objective == network_risk(net, after.x, X, Y, alpha=0.3) < J


@pytest.mark.claims("neural_networks-15")
def test_train_full_batch_on_the_squared_error_finds_the_conditional_mean(rng):
    group, Y = rng.integers(3, size=40), rng.normal(size=(40, 2))
    X, net = one_hot(group, range(3)), network((3, 2))
    start = tree_map(np.zeros_like, normal_start(net.sizes, rng=rng))
    *_, last = islice(train_full_batch(net, start, X, Y, eta=1.0), 800)
    m = np.array([Y[group == g].mean(axis=0) for g in group])
    close(forward(last.x, net.activations, X)[-1], m, 1e-8)


def test_mini_batches_are_a_partition_in_a_new_order(rng):
    once, twice = (list(mini_batches(10, 4, rng)) for _ in "ab")
    assert [len(rows) for rows in once] == [4, 4, 2]
    assert sorted(np.concatenate(once)) == list(range(10)) == sorted(np.concatenate(twice))
    assert not np.array_equal(np.concatenate(once), np.concatenate(twice))


def problem():
    """A small network on mini-batches: J and its gradient, a start and n."""
    net, layers, X, Y = drawn((3, 4, 2), TANH, CROSS_ENTROPY, n=11)
    return lambda layers, rows: backpropagate(net, layers, X[rows], Y[rows], alpha=0.3), layers, 11


def by_the_book(update):
    """Theta and the mean loss of three passes: plain loops, moved by ``update(gradient, t)``."""
    f, layers, n = problem()
    theta, rng, t = pack(layers), np.random.default_rng(5), 0
    for _ in range(3):
        losses = []
        for rows in mini_batches(n, 4, rng):
            J, gradient = f(unpack(theta, (3, 4, 2)), rows)
            t += 1
            losses += [J] * len(rows)
            theta = theta + update(pack(gradient), t)
        yield theta, np.mean(losses)


def compare(states, book):
    """See that the passes are those of the book, and that states are not changed later."""
    (f, layers, n), (start, *states) = problem(), list(islice(states, 4))
    lowest = sum(len(rows) * f(layers, rows)[0] for rows in mini_batches(n, 4, None)) / n
    assert (start.objective, start.improvement) == (pytest.approx(lowest, rel=1e-12), np.inf)
    close(pack(start.theta), pack(layers), 0)
    for state, (theta, objective) in zip(states, book, strict=True):
        close(pack(state.theta), theta)
        assert state.objective == pytest.approx(objective, rel=1e-12)
        assert state.improvement == pytest.approx(lowest - objective, abs=1e-14)
        lowest = min(lowest, state.objective)


@pytest.mark.parametrize("momentum, nesterov", [(0.0, False), (0.8, False), (0.8, True)])
def test_sgd_takes_the_steps_of_its_formula(momentum, nesterov):
    u = 0.0

    def update(g, t):
        nonlocal u
        u = momentum * u - 0.1 * g
        return momentum * u - 0.1 * g if nesterov else u

    params = {"batch_size": 4, "learning_rate": 0.1, "momentum": momentum, "nesterov": nesterov}
    compare(sgd(*problem(), rng=np.random.default_rng(5), **params), by_the_book(update))


def test_adam_takes_the_steps_of_its_authors():
    m, v, b1, b2, eta, epsilon = 0.0, 0.0, 0.8, 0.9, 0.05, 0.01

    def update(g, t):
        nonlocal m, v
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
        # the authors add epsilon to sqrt(v_hat); scikit-learn and this chapter, to sqrt(v)
        return -eta * m_hat / (np.sqrt(v_hat) + epsilon / np.sqrt(1 - b2**t))

    params = {"batch_size": 4, "learning_rate": eta, "beta_1": b1, "beta_2": b2, "epsilon": epsilon}
    compare(adam(*problem(), rng=np.random.default_rng(5), **params), by_the_book(update))


# --- The estimators --------------------------------------------------------------------


def digits(n=200):
    T = load_digits()
    return T.X[:n] / 16, T.y[:n]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


ADAM = {"beta_1": 0.5, "beta_2": 0.8, "epsilon": 0.1}
RUNS = [
    (adam, {"solver": "adam"} | ADAM, ADAM, RELU, 6.0),
    (sgd, {"solver": "sgd", "momentum": 0.5, "nesterovs_momentum": False, "shuffle": False},
     {"momentum": 0.5, "nesterov": False, "rng": None}, LOGISTIC, 2.0),
    (sgd, {"solver": "sgd"}, {"momentum": 0.9, "nesterov": True}, TANH, 6.0),
]  # fmt: skip


@pytest.mark.parametrize("algorithm, hyper, params, hidden, factor", RUNS, ids=range(3))
def test_fit_runs_its_generator_from_a_glorot_start(algorithm, hyper, params, hidden, factor):
    X, y = digits(250)
    model = MLPClassifier((30, 20), hidden.name, alpha=0.1, max_iter=4, random_state=3)
    fitted(model.set_params(learning_rate_init=0.01, **hyper), X, y)
    rng, Y = np.random.default_rng(3), one_hot(y, range(10))
    net = network((64, 30, 20, 10), hidden, CROSS_ENTROPY)

    def f(layers, rows):
        return backpropagate(net, layers, X[rows], Y[rows], alpha=0.1)

    start = glorot_start(net.sizes, factor=factor, rng=rng)
    params = {"batch_size": 200, "learning_rate": 0.01, "rng": rng} | params
    states = list(islice(algorithm(f, start, 250, **params), 5))
    np.testing.assert_array_equal(model.history_, [state.objective for state in states])
    assert model.loss_curve_ == model.history_[1:].tolist()
    assert (model.loss_, model.n_iter_, model.converged_) == (model.loss_curve_[-1], 4, False)
    layers = states[-1].theta
    np.testing.assert_array_equal(pack(model.layers_), pack(layers))
    for (W, b), V, c in zip(layers, model.coefs_, model.intercepts_, strict=True):
        np.testing.assert_array_equal(W.T, V)
        np.testing.assert_array_equal(b, c)
    P = forward(layers, net.activations, X)[-1]
    close(model.predict_proba(X), P)
    close(model.predict_log_proba(X), np.log(P), 1e-10)
    np.testing.assert_array_equal(model.predict(X), P.argmax(axis=1))


def test_fit_to_two_classes_has_one_logistic_output():
    X, y = digits(400)
    X, y = X[y < 2], np.array(["zero", "one"])[y[y < 2]]
    model = fitted(MLPClassifier((10,), "tanh", random_state=0, max_iter=50), X, y)
    assert model.coefs_[-1].shape == (10, 1) and list(model.classes_) == ["one", "zero"]
    H = np.tanh(X @ model.coefs_[0] + model.intercepts_[0])
    p = 1 / (1 + np.exp(-(H @ model.coefs_[1] + model.intercepts_[1])))
    close(model.predict_proba(X), np.hstack([1 - p, p]))
    np.testing.assert_array_equal(model.predict(X), np.where(p[:, 0] > 0.5, "zero", "one"))
    close(model.predict_log_proba(X), np.log(np.hstack([1 - p, p])), 1e-9)


@pytest.mark.parametrize("classes", [2, 10])
def test_predict_log_proba_is_finite_where_a_probability_is_0(classes):
    X, y = digits()
    model = fitted(MLPClassifier((), max_iter=20, random_state=0), X, y % classes)
    logs, P = model.predict_log_proba(1e5 * X), model.predict_proba(1e5 * X)
    assert np.isfinite(logs).all() and logs.min() < -1000 and (P == 0).any()
    close(np.exp(logs), P)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_training_stops_after_passes_without_improvement(early_stopping):
    X, y = digits(300)
    model = MLPClassifier((20,), tol=0.02, n_iter_no_change=3, random_state=0)
    model.set_params(early_stopping=early_stopping, learning_rate_init=0.01).fit(X, y)
    values = np.array(model.validation_scores_) if early_stopping else -model.history_
    waits = (values[1:] <= np.maximum.accumulate(values)[:-1] + 0.02).tolist()
    assert model.converged_ and len(model.history_) == model.n_iter_ + 1 < 201
    assert all(waits[-4:]) and not any(all(waits[k : k + 4]) for k in range(len(waits) - 4))


def test_early_stopping_keeps_the_best_pass_though_the_score_recovers_later():
    """After the best pass the score falls, and rises again to less than the best."""
    X, y = digits(400)
    params = {"learning_rate_init": 0.1, "batch_size": 20, "tol": 0.0, "random_state": 0}
    model = MLPClassifier((20,), early_stopping=True, n_iter_no_change=8, **params).fit(X, y)
    scores, best = model.validation_scores_, int(np.argmax(model.validation_scores_))
    assert len(scores) == model.n_iter_ > best + 1 and (np.diff(scores[best:]) > 0).any()
    until = MLPClassifier((20,), early_stopping=True, max_iter=best + 1, **params)
    np.testing.assert_array_equal(pack(fitted(until, X, y).layers_), pack(model.layers_))
    plain = fitted(MLPClassifier((20,), max_iter=15, **params), X, y)
    assert plain.validation_scores_ is None and plain.loss_ > min(plain.loss_curve_)  # the last


def test_early_stopping_of_a_regressor_scores_samples_held_out():
    X, y = digits(100)[0], digits(100)[0][:, 20]
    model = MLPRegressor(early_stopping=True, max_iter=5, learning_rate_init=0.01, random_state=0)
    rng = np.random.default_rng(0)
    glorot_start((64, 100, 1), rng=rng)  # drawn before the split
    _, test = train_test_split(np.arange(100), test_size=0.1, random_state=rng)
    assert fitted(model, X, y).score(X[test], y[test]) == max(model.validation_scores_)


def test_validation_samples_too_few_for_the_classes_are_refused():
    message = "with validation_fraction = 0.1, stratify must have 2 samples"
    with pytest.raises(ValueError, match=message):
        MLPClassifier(early_stopping=True).fit(XOR, PARITY)


@pytest.mark.parametrize(
    "scale, params, number",
    [
        (100.0, {"learning_rate_init": 1e6, "early_stopping": True}, "[2-9]"),  # it diverges
        (100.0, {"learning_rate_init": 1e308, "max_iter": 1}, "1"),  # in the last step
        (1e100, {"solver": "adam"}, "0"),  # squares of gradients overflow: it would stand still
    ],
    ids=["diverging", "last step", "squares"],
)
def test_losses_and_weights_beyond_the_range_are_an_error(scale, params, number):
    X, y = digits(100)
    model = MLPRegressor(random_state=0, **{"solver": "sgd"} | params)
    message = rf"must lie within 1e\+150; got .* in pass {number}: lower the learning rate"
    with pytest.raises(ValueError, match=message):
        model.fit(scale * X, 1.0 * y)
    assert not hasattr(model, "coefs_")


def test_too_few_passes_are_warned_of_in_words():
    X, y = digits(100)
    words = "MLPClassifier stopped after 2 iterations, before 11 in a row had failed to "
    for early_stopping, aim in ((False, "lower the loss"), (True, "raise the score on held-out")):
        model = MLPClassifier((5,), max_iter=2, early_stopping=early_stopping, random_state=0)
        with pytest.warns(ConvergenceWarning, match=re.escape(words + aim)) as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__


# --- The lecture figures ---------------------------------------------------------------


def numbers_of(ax, pattern):
    """The texts of a panel that match the pattern, with a plain minus."""
    texts = [text.get_text().replace("−", "-") for text in ax.texts]
    return [text for text in texts if re.fullmatch(pattern, text)]


@pytest.mark.claims("neural_networks-07")
def test_linear_classifier_drawn_is_computed_by_its_numbers():
    from figures.neural_networks import PLANE_B, PLANE_W, linear_classifier, templates

    left, middle, right = panels(linear_classifier, 1, 3)
    numbers = np.array([float(text) for text in numbers_of(left, r"-?\d+")])
    image, W, x, b, f = np.split(numbers, [4, 16, 20, 23])
    np.testing.assert_array_equal(image, x)
    np.testing.assert_array_equal(W.reshape(3, 4) @ x + b, f)
    model = MLPClassifier((), alpha=1.0, max_iter=100, learning_rate_init=0.01, tol=1e-3)
    T = load_digits()
    (W, _), *_ = model.set_params(random_state=0).fit(T.X / 16, T.y).layers_
    np.testing.assert_array_equal(templates().reshape(10, 64), W)
    (drawn,) = middle.images
    tiles = np.asarray(drawn.get_array().filled(np.nan))
    for k, template in enumerate(templates()):
        row, column = 10 * (k // 5) + 1, 10 * (k % 5) + 1
        np.testing.assert_array_equal(tiles[row : row + 8, column : column + 8], template)
    lines = [line for line in right.lines if hasattr(line, "get_xy1")]
    arrows = [(a.xy, a.xyann) for a in right.texts if hasattr(a, "xyann")]
    for line, (tip, foot), w, b in zip(lines, arrows, PLANE_W, PLANE_B, strict=True):
        for place in (line.get_xy1(), line.get_xy2(), foot):
            assert w @ place + b == pytest.approx(0, abs=1e-12)
        close(np.subtract(tip, foot), 0.6 * w)


@pytest.mark.claims("neural_networks-11")
def test_graphs_have_the_nodes_and_edges_of_their_networks():
    from figures.neural_networks import TINY, TINY_LAYERS, TINY_X, TINY_Y, networks

    axes = panels(networks, 2, 2)
    for ax, sizes in zip(axes, ((3, 1), (2, 2, 1), (4, 5, 3), (2, 2, 1)), strict=True):
        *edges, nodes = (line.get_xydata() for line in ax.lines)
        assert len(nodes) == sum(sizes) and len(edges) == sum(m * k for m, k in pairwise(sizes))
        places = {tuple(place) for place in nodes}
        for start, end in edges:
            assert {tuple(start), tuple(end)} <= places and end[0] == start[0] + 1  # no skips
    delta, h = deltas(TINY, TINY_LAYERS, TINY_X, TINY_Y)
    expected = [*h[0], h[1][0], delta[0][0], h[1][1], delta[0][1], h[2][0], delta[1][0]]
    assert numbers_of(axes[3], r"-?\d\.\d\d") == [f"{value:.2f}" for value in expected]


@pytest.mark.claims("neural_networks-12")
def test_hard_cases_are_labelled_with_the_accuracies_of_what_is_drawn():
    from figures.neural_networks import best_line, hard_cases, hard_cases_of_a_line, trained

    axes = panels(hard_cases_of_a_line, 2, 3)
    turns = np.linspace(0, 2 * np.pi, 90)
    directions = np.column_stack([np.cos(turns), np.sin(turns)])
    for k, (name, T) in enumerate(hard_cases().items()):
        w, b = best_line(*T[:])
        above = T.X @ w + b > 0
        line = np.mean(np.where(above, 1, -1) == T.y)
        net = np.mean(trained(name).predict(T.X) == T.y)
        kind = "line" if 0 < above.sum() < len(above) else "best line outside"
        assert axes[k].get_title() == f"{name}: {kind}, {100 * line:.0f} %"
        assert axes[3 + k].get_title() == f"{name}: network, {100 * net:.0f} %"
        assert line < 0.75 and net > 0.95
        f = (T.X @ directions.T)[:, :, None] > np.linspace(-2, 2, 41)
        others = np.mean(np.where(f, 1, -1) == T.y[:, None, None], axis=0)
        assert others.max() <= line + 0.01
