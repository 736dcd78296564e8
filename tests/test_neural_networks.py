"""The neural-network chapter: every statement of the notes, checked by a second route."""

import re
import warnings
from itertools import islice, pairwise, product

import numpy as np
import pytest
from checks import check_gradient, differences

from mlnotes import perceptron
from mlnotes.base import ConvergenceWarning
from mlnotes.datasets import load_digits
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import (
    separator,
    sigmoid,
    softmax,
    softmax_cost,
    softmax_gradient,
    softmax_newton,
)
from mlnotes.neural_networks import (
    ACTIVATIONS,
    BINARY_CROSS_ENTROPY,
    CROSS_ENTROPY,
    IDENTITY,
    LOGISTIC,
    RELU,
    SOFTMAX,
    SQUARED_ERROR,
    TANH,
    HardLimiter,
    Logistic,
    MLPClassifier,
    MLPRegressor,
    Objective,
    Pass,
    ReLU,
    Tanh,
    adam,
    backpropagate,
    cross_entropy,
    delta_gradient,
    deltas,
    descend,
    forward,
    glorot_start,
    homogeneous,
    is_deep,
    jacobian_gradient,
    jacobian_rows,
    keep_best,
    mini_batches,
    mult_jacobian,
    n_parameters,
    network,
    neuron,
    normal_start,
    one_hot,
    output_loss,
    pack,
    passes,
    risk,
    scores,
    sgd,
    softmax_cross_entropy,
    softmax_jacobian,
    unpack,
    within_range,
)
from mlnotes.numerics import conjugate_gradients

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
PARITY = np.array([0.0, 1.0, 1.0, 0.0])
# relu(x1 + x2) - 2 relu(x1 + x2 - 1)
XOR_LAYERS = [(np.ones((2, 2)), np.array([0.0, -1.0])), (np.array([[1.0, -2.0]]), np.zeros(1))]
LOSSES = {"squared": SQUARED_ERROR, "softmax": CROSS_ENTROPY, "logistic": BINARY_CROSS_ENTROPY}
BENT = {"logistic": LOGISTIC, "tanh": TANH, "relu": RELU, "steep": Tanh(1.7, 0.6)}


def drawn(sizes, hidden=TANH, loss=SQUARED_ERROR, output=None, n=6, seed=0):
    """A network, its parameters, samples and targets that suit the loss."""
    rng = np.random.default_rng(seed)
    net = network(sizes, hidden, loss, output)
    theta = rng.normal(size=n_parameters(sizes))
    X, o = rng.normal(size=(n, sizes[0])), sizes[-1]
    Y = rng.normal(size=(n, o))
    if loss is CROSS_ENTROPY:
        Y = np.eye(o)[rng.integers(o, size=n)]
    if loss is BINARY_CROSS_ENTROPY:
        Y = rng.integers(2, size=(n, o)).astype(float)
    return net, theta, X, Y


def combinations():
    """Every pair of a hidden activation and a loss, and outputs that do not match their loss."""
    for hidden, loss in product(BENT.values(), LOSSES.values()):
        yield hidden, loss, None
    for output in (TANH, LOGISTIC, RELU, SOFTMAX, Logistic(0.7)):
        yield TANH, SQUARED_ERROR, output
    yield TANH, BINARY_CROSS_ENTROPY, Logistic(0.7)  # a logistic output, but delta is not h - y


every_network = pytest.mark.parametrize(
    "hidden, loss, output",
    list(combinations()),
    ids=[f"{h.name}-{w.name}-{o and o.name}" for h, w, o in combinations()],
)


# ---------------------------------------------------------------------------------------
# The neuron
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-01")
def test_neuron_is_an_activation_of_its_net_input():
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(9, 4)), rng.normal(size=4), rng.normal()
    by_hand = [np.tanh(sum(x[i] * w[i] for i in range(4)) + b) for x in X]
    np.testing.assert_allclose(neuron(X, w, b, TANH), by_hand, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(neuron(X, w, b, IDENTITY), perceptron.decision(X, w, b))
    labels = perceptron.classify(X, w, b)
    np.testing.assert_array_equal(2 * neuron(X, w, b, HardLimiter()) - 1, labels)
    assert set(labels) == {-1, 1}
    np.testing.assert_array_equal(neuron(X, w, 0.0, HardLimiter(-b)), (labels + 1) / 2)


@pytest.mark.claims("neural_networks-02")
@pytest.mark.parametrize(
    "activation",
    [*ACTIVATIONS.values(), HardLimiter(0.4), Logistic(1.7), Tanh(2.5, 0.6)],
    ids=repr,
)
def test_slopes_of_activations_are_their_derivatives(activation):
    a = np.random.default_rng(0).normal(size=50)
    a = a[(np.abs(a) > 1e-3) & (np.abs(a - 0.4) > 1e-3)]  # away from the kinks
    numeric = np.diag(differences(activation.f, a))
    np.testing.assert_allclose(activation.slope(activation.f(a)), numeric, rtol=1e-7, atol=1e-7)
    order = np.random.default_rng(1).permutation(len(a))
    np.testing.assert_array_equal(activation.f(a)[order], activation.f(a[order]))
    np.testing.assert_array_equal([activation.f(each) for each in a], activation.f(a))
    far = np.array([-1000.0, 1000.0])
    assert (
        np.isfinite(activation.f(far)).all()
        and np.isfinite(activation.slope(activation.f(far))).all()
    )


@pytest.mark.claims("neural_networks-02")
def test_identities_of_the_activations():
    a, b, a0 = np.linspace(-4, 4, 33), 1.3, 2.2
    s, t = Logistic(b), Tanh(a0, b)
    assert s.f(0.0) == 0.5
    np.testing.assert_allclose(s.f(-a), 1 - s.f(a), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(s.f(a), 1 / (1 + np.exp(-b * a)), rtol=1e-14)
    np.testing.assert_array_equal(t.f(-a), -t.f(a))
    np.testing.assert_allclose(t.f(a), 2 * a0 * Logistic(2 * b).f(a) - a0, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(ReLU().f(a), (a + np.abs(a)) / 2)
    np.testing.assert_array_equal(RELU.f(RELU.f(a)), RELU.f(a))
    np.testing.assert_allclose(RELU.f(3 * a), 3 * RELU.f(a))
    np.testing.assert_array_equal(HardLimiter(0.5).f(np.array([0.4, 0.5, 0.6])), [0, 0, 1])
    np.testing.assert_array_equal(HardLimiter(0.5).f(a), a > 0.5)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_amplitude_and_steepness_are_above_0_and_finite(wrong):
    for make, name in ((Logistic, "b"), (Tanh, "a0"), (Tanh, "b")):
        message = f"{name} must be a number > 0 and < inf; got {wrong}"
        with pytest.raises(ValueError, match=re.escape(message)):
            make(**{name: wrong})


def test_identity_returns_an_array_of_its_own():
    a = np.arange(3.0)
    assert not np.shares_memory(IDENTITY.f(a), a)


# ---------------------------------------------------------------------------------------
# A layer
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-04")
def test_layer_is_affine_and_a_constant_feature_absorbs_its_bias():
    rng = np.random.default_rng(0)
    W, b, X, Z = (rng.normal(size=shape) for shape in ((3, 4), 3, (5, 4), (5, 4)))
    none = np.zeros(3)
    np.testing.assert_allclose(
        scores(2.5 * X + Z, W, none), 2.5 * scores(X, W, none) + scores(Z, W, none)
    )
    by_hand = [[W[k] @ x + b[k] for k in range(3)] for x in X]
    np.testing.assert_allclose(scores(X, W, b), by_hand, rtol=1e-12, atol=1e-12)
    (V,) = homogeneous([(W, b)])
    np.testing.assert_allclose(augment(X) @ V.T, by_hand, rtol=1e-12, atol=1e-12)
    assert n_parameters((32 * 32 * 3, 10)) == 30720 + 10


def test_layer_takes_numbers_of_any_kind_and_a_bias_per_output():
    X, W, b = np.array([[1, 2]]), np.array([[3, 4], [0, 1]]), np.array([0.5, 0.0])
    np.testing.assert_array_equal(scores(X, W, b), [[11.5, 2.0]])
    single = scores(X.astype(np.float32), W.astype(np.float32), b + 1e-9)
    assert single.dtype == np.float64 and single[0, 1] == 2 + 1e-9
    for wrong in (np.ones(1), np.ones((2, 1)), 1.0):
        message = f"b must have shape (2,), a number per output; got {np.shape(wrong)}"
        with pytest.raises(ValueError, match=re.escape(message)):
            scores(np.ones((2, 2)), W, wrong)


@pytest.mark.claims("neural_networks-04")
@pytest.mark.parametrize("hidden", [RELU, IDENTITY, TANH, LOGISTIC], ids=lambda f: f.name)
def test_absorbing_biases_in_every_layer_needs_an_activation_that_keeps_the_1(hidden):
    net, theta, X, _ = drawn((3, 4, 5, 2), hidden)
    layers = unpack(theta, net.sizes)
    with_biases = forward(layers, net.activations, X)[-1]
    *inner, last = homogeneous(layers)
    assert all(np.array_equal(V[0], np.eye(1, V.shape[1])[0]) for V in inner)
    H = augment(X)
    for V in inner:
        H = hidden.f(H @ V.T)
    keeps = hidden.f(np.ones(1))[0] == 1
    assert np.allclose(H @ last.T, with_biases, atol=1e-12) == keeps
    assert keeps == (hidden in (RELU, IDENTITY))


@pytest.mark.claims("neural_networks-05")
def test_without_biases_labels_are_constant_along_rays():
    rng, x = np.random.default_rng(0), np.array([[1.0], [3.0]])
    for _ in range(1000):
        layers = [(rng.normal(size=(4, 1)), np.zeros(4)), (rng.normal(size=(3, 4)), np.zeros(3))]
        near, far = forward(layers, [RELU, IDENTITY], x)[-1]
        np.testing.assert_allclose(far, 3 * near, rtol=1e-12, atol=1e-12)
        assert near.argmax() == far.argmax()
    X = rng.normal(size=(20, 5))
    net, theta, *_ = drawn((5, 6, 2), TANH)
    layers = [(W, 0 * b) for W, b in unpack(theta, net.sizes)]
    odd = forward(layers, net.activations, -X)[-1]
    np.testing.assert_allclose(
        odd, -forward(layers, net.activations, X)[-1], rtol=1e-12, atol=1e-12
    )
    with_b = [(np.eye(1), np.array([-2.0])), (np.array([[0.0], [1.0]]), np.array([0.5, 0.0]))]
    assert forward(with_b, [RELU, IDENTITY], x)[-1].argmax(axis=1).tolist() == [0, 1]
    W, b = np.array([[-1.0], [1.0]]), np.array([2.0, -2.0])  # one layer is enough
    assert scores(x, W, b).argmax(axis=1).tolist() == [0, 1]
    assert scores(x, W, 0 * b).argmax(axis=1).tolist() == [1, 1]


@pytest.mark.claims("neural_networks-06")
def test_regions_of_a_linear_classifier_are_convex_and_those_of_a_network_need_not_be():
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(4, 2)), 0.3 * rng.normal(size=4)
    X, Z, t = rng.normal(size=(3000, 2)), rng.normal(size=(3000, 2)), rng.uniform(size=(3000, 1))
    label = scores(X, W, b).argmax(axis=1)
    same = label == scores(Z, W, b).argmax(axis=1)
    between = scores(t * X + (1 - t) * Z, W, b).argmax(axis=1)
    assert same.sum() > 1000 and (between[same] == label[same]).all() and len(set(label)) == 4
    k, j = 0, 1
    normal, offset = W[k] - W[j], b[k] - b[j]
    x = -offset * normal / (normal @ normal)
    tie = scores((x + 5 * np.array([-normal[1], normal[0]]))[None], W, b)[0]
    assert tie[k] == pytest.approx(tie[j], abs=1e-12)
    ends, middle = XOR[[0, 3]], XOR[[0, 3]].mean(axis=0, keepdims=True)
    network_f = [forward(XOR_LAYERS, [RELU, IDENTITY], Z)[-1].ravel() for Z in (ends, middle)]
    np.testing.assert_allclose(network_f[0], 0.0)
    np.testing.assert_allclose(network_f[1], 1.0)  # between the two, at (1/2, 1/2)


# ---------------------------------------------------------------------------------------
# The network
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-08")
def test_five_nodes_are_a_layered_network():
    rng = np.random.default_rng(0)
    w13, w23, w14, w24, w35, w45 = rng.normal(size=6)
    layers = [(np.array([[w13, w23], [w14, w24]]), np.zeros(2)), (np.array([[w35, w45]]), [0.0])]
    for y1, y2 in rng.normal(size=(20, 2)):
        f3 = f4 = np.tanh
        inner = w35 * f3(w13 * y1 + w23 * y2) + w45 * f4(w14 * y1 + w24 * y2)
        y5 = forward(layers, [TANH, LOGISTIC], np.array([[y1, y2]]))[-1].item()
        assert y5 == pytest.approx(1 / (1 + np.exp(-inner)), abs=1e-14)
    step = HardLimiter()
    either_not_both = [
        (np.ones((2, 2)), np.array([-0.5, -1.5])),
        (np.array([[1.0, -1.0]]), np.array([-0.5])),
    ]
    np.testing.assert_array_equal(forward(either_not_both, [step, step], XOR)[-1].ravel(), PARITY)


@pytest.mark.claims("neural_networks-09")
@pytest.mark.parametrize("sizes", [(3, 2), (3, 4, 2), (3, 5, 4, 1), (2, 3, 4, 5, 3)], ids=str)
def test_forward_pass_is_the_nested_composition(sizes):
    net, theta, X, _ = drawn(sizes, TANH)
    layers = unpack(theta, sizes)
    H = forward(layers, net.activations, X)
    assert [h.shape for h in H] == [(len(X), m) for m in sizes]
    for i, x in enumerate(X):
        h = x
        for (W, b), activation in zip(layers, net.activations, strict=True):
            a = [sum(W[s, k] * h[k] for k in range(len(h))) + b[s] for s in range(len(b))]
            h = activation.f(np.array(a))
        np.testing.assert_allclose(H[-1][i], h, rtol=1e-13, atol=1e-13)
    assert n_parameters(sizes) == len(theta) == sum(W.size + b.size for W, b in layers)
    assert is_deep(net) == (len(sizes) - 1 > 3)


@pytest.mark.claims("neural_networks-09")
def test_two_relu_layers_are_one_linear_map_where_all_units_are_active():
    rng = np.random.default_rng(0)
    W1, W2 = rng.uniform(size=(5, 3)), rng.normal(size=(2, 5))
    layers = [(W1, np.zeros(5)), (W2, np.zeros(2))]
    X = rng.uniform(size=(8, 3))  # W1 x > 0
    f = forward(layers, [RELU, IDENTITY], X)[-1]
    np.testing.assert_allclose(f, X @ (W2 @ W1).T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(f, [W2 @ np.maximum(0, W1 @ x) for x in X], rtol=1e-12, atol=1e-12)
    assert not np.allclose(forward(layers, [RELU, IDENTITY], -X)[-1], -f)


@pytest.mark.claims("neural_networks-09")
@pytest.mark.parametrize(
    "sizes, how, message",
    [
        ((3,), {}, "sizes must be 2 integers >= 1 or more; got (3,)"),
        ((3, 0, 1), {}, "sizes must be 2 integers >= 1 or more; got (3, 0, 1)"),
        ((3, 2.5), {}, "sizes must be 2 integers >= 1 or more; got (3, 2.5)"),
        (
            (3, 2),
            {"loss": CROSS_ENTROPY, "output": IDENTITY},
            "the cross-entropy must have softmax outputs; got identity",
        ),
        (
            (3, 2),
            {"loss": BINARY_CROSS_ENTROPY, "output": SOFTMAX},
            "the binary cross-entropy must have logistic outputs; got softmax",
        ),
        ((3, 1), {"loss": CROSS_ENTROPY}, "a softmax must have 2 outputs or more; got 1"),
        ((3, 4, 2), {"hidden": SOFTMAX}, "hidden activations must be component by component"),
    ],
)
def test_networks_that_make_no_sense_are_refused(sizes, how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        network(sizes, **how)


def test_layers_that_do_not_fit_are_refused():
    layers = [(np.ones((4, 3)), np.zeros(4)), (np.ones((1, 5)), np.zeros(1))]
    with pytest.raises(ValueError):
        forward(layers, [RELU, IDENTITY], np.ones((2, 3)))
    with pytest.raises(ValueError):
        forward(layers, [RELU], np.ones((2, 3)))


def test_theta_is_packed_row_by_row_and_unpacked_as_views():
    sizes = (2, 3, 1)
    theta = np.arange(float(n_parameters(sizes)))
    layers = unpack(theta, sizes)
    np.testing.assert_array_equal(layers[0][0], [[0, 1], [2, 3], [4, 5]])
    np.testing.assert_array_equal(layers[0][1], [6, 7, 8])
    np.testing.assert_array_equal(pack(layers), theta)
    assert all(np.shares_memory(part, theta) for layer in layers for part in layer)
    assert not np.shares_memory(pack(layers), theta)


@pytest.mark.parametrize("p", [8, 10, 0])
def test_theta_of_another_length_is_refused(p):
    message = f"theta must hold 9 parameters for the widths (2, 2, 1); got {p}"
    net, X, Y = network((2, 2, 1)), np.ones((3, 2)), np.ones((3, 1))
    for call in (
        lambda theta: unpack(theta, net.sizes),
        lambda theta: risk(net, theta, X, Y),
        lambda theta: backpropagate(net, theta, X, Y),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(np.zeros(p))


@pytest.mark.claims("neural_networks-10")
def test_linear_layers_collapse_to_one():
    net, theta, X, _ = drawn((4, 6, 5, 3), IDENTITY)
    (W1, b1), (W2, b2), (W3, b3) = layers = unpack(theta, net.sizes)
    f = forward(layers, net.activations, X)[-1]
    np.testing.assert_allclose(
        f, X @ (W3 @ W2 @ W1).T + W3 @ (W2 @ b1 + b2) + b3, rtol=1e-12, atol=1e-12
    )
    no_biases = [(W, 0 * b) for W, b in layers]
    product_of_all = forward(no_biases, net.activations, X)[-1]
    np.testing.assert_allclose(product_of_all, X @ (W3 @ W2 @ W1).T, rtol=1e-12, atol=1e-12)
    bent = forward(layers, (RELU, RELU, IDENTITY), X)[-1]
    assert not np.allclose(bent, f)


@pytest.mark.claims("neural_networks-10")
def test_no_line_computes_xor_and_two_relus_do():
    labelings = [np.array(y) for y in product((-1, 1), repeat=4)]
    lines = [
        np.sign(XOR @ [w1, w2] + b)
        for w1, w2 in product((-1, 0, 1), repeat=2)
        for b in (-1.5, -0.5, 0.5, 1.5)
    ]
    found = [any(np.array_equal(y, line) for line in lines) for y in labelings]
    xor = [
        np.array_equal(y, 2 * PARITY - 1) or np.array_equal(y, 1 - 2 * PARITY) for y in labelings
    ]
    assert sum(found) == 14 and [not f for f in found] == xor
    right = [np.sum(np.sign(line) == 2 * PARITY - 1) for line in lines]
    assert max(right) == 3
    assert separator(augment(XOR), 2 * PARITY - 1) is None
    w, b = np.random.default_rng(0).normal(size=(50, 2)), np.random.default_rng(1).normal(size=50)
    f = XOR @ w.T + b  # opposite corners have the same sum, which four strict signs contradict
    np.testing.assert_allclose(f[0] + f[3], f[1] + f[2], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(forward(XOR_LAYERS, [RELU, IDENTITY], XOR)[-1].ravel(), PARITY)


# ---------------------------------------------------------------------------------------
# What is minimised
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neural_networks-14")
@every_network
def test_risk_and_its_gradient_are_means_over_the_samples(hidden, loss, output):
    net, theta, X, Y = drawn((3, 4, 2), hidden, loss, output)
    parts = [backpropagate(net, theta, X[i : i + 1], Y[i : i + 1]) for i in range(len(X))]
    J, gradient = backpropagate(net, theta, X, Y)
    assert risk(net, theta, X, Y) == J == pytest.approx(np.mean([p[0] for p in parts]), rel=1e-12)
    np.testing.assert_allclose(
        gradient, np.mean([p[1] for p in parts], axis=0), rtol=1e-12, atol=1e-12
    )
    H = forward(unpack(theta, net.sizes), net.activations, X)[-1]
    assert pytest.approx(np.mean(loss.of_output(H, Y)), rel=1e-12) == J


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
@pytest.mark.parametrize("shape", [(6,), (1, 2), (6, 1), (5, 2), ()], ids=str)
def test_targets_that_would_only_broadcast_are_refused(loss, shape):
    net, theta, X, _ = drawn((3, 4, 2), TANH, loss)
    message = f"Y must have the shape of the outputs, (6, 2); got {shape}"
    for call in (risk, backpropagate):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(net, theta, X, np.ones(shape))


@pytest.mark.parametrize("shape", [(1,), (6, 1), (5,)], ids=str)
def test_weights_must_be_one_for_each_sample(shape):
    net, theta, X, Y = drawn((3, 4, 2))
    for call in (risk, backpropagate):
        with pytest.raises(ValueError):
            call(net, theta, X, Y, weights=np.ones(shape))


@pytest.mark.parametrize("hidden, loss, output", list(combinations())[:3])
def test_delta_of_the_output_is_h_minus_y_or_the_product_with_the_jacobian(hidden, loss, output):
    net, _, _, Y = drawn((3, 4, 2), hidden, loss, output)
    A = np.random.default_rng(1).normal(size=Y.shape)
    L, delta = output_loss(net, A, Y)
    H = net.activations[-1].f(A)
    np.testing.assert_allclose(L, loss.of_output(H, Y), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(delta, H - Y, rtol=1e-14, atol=1e-15)
    chain = net.activations[-1].pull(H, loss.slope(H, Y))
    np.testing.assert_allclose(delta, chain, rtol=1e-10, atol=1e-12)


@pytest.mark.claims("neural_networks-14")
def test_squared_loss_has_the_error_as_slope_and_irhds_loss_is_twice_ours():
    net, theta, X, Y = drawn((3, 4, 2))
    h, y = np.random.default_rng(3).normal(size=(2, 5))
    np.testing.assert_allclose(
        differences(lambda h: SQUARED_ERROR.of_output(h, y), h), h - y, rtol=1e-8, atol=1e-8
    )
    f = forward(unpack(theta, net.sizes), net.activations, X)[-1]
    irhd = np.mean(np.linalg.norm(f - Y, axis=1) ** 2)
    assert irhd / risk(net, theta, X, Y) == pytest.approx(2, rel=1e-12)


@pytest.mark.claims("neural_networks-14")
def test_reconstruction_by_principal_directions_is_a_minimum():
    rng, k = np.random.default_rng(0), 2
    X = rng.normal(size=(30, 5)) * [4.0, 3.0, 2.0, 1.0, 0.5]
    X -= X.mean(axis=0)
    _, values, Vt = np.linalg.svd(X, full_matrices=False)
    net = network((5, k, 5), IDENTITY)
    theta = pack([(Vt[:k], np.zeros(k)), (Vt[:k].T, np.zeros(5))])
    J, gradient = backpropagate(net, theta, X, X)
    assert 2 * len(X) * J == pytest.approx(np.sum(values[k:] ** 2), rel=1e-12)
    np.testing.assert_allclose(gradient, 0, rtol=1e-8, atol=1e-8)
    others = pack([(Vt[1 : k + 1], np.zeros(k)), (Vt[1 : k + 1].T, np.zeros(5))])
    assert risk(net, others, X, X) > J


@pytest.mark.claims("neural_networks-15")
def test_minimiser_of_the_squared_error_is_the_conditional_mean():
    rng = np.random.default_rng(0)
    group, Y = rng.integers(3, size=40), rng.normal(size=(40, 2))
    X, net = one_hot(group, range(3)), network((3, 2))
    *_, last = islice(descend(net, np.zeros(8), X, Y, eta=1.0), 800)
    f = forward(unpack(last.x, net.sizes), net.activations, X)[-1]
    m = np.array([Y[group == g].mean(axis=0) for g in group])
    np.testing.assert_allclose(f, m, rtol=1e-8, atol=1e-8)
    other = f + rng.normal(size=f.shape)[group]  # any function of x
    total = np.sum((other - Y) ** 2)
    assert total == pytest.approx(np.sum((other - m) ** 2) + np.sum((m - Y) ** 2), rel=1e-12)
    dependent = f + 0.1 * Y  # the cross term remains
    assert np.sum((dependent - Y) ** 2) != pytest.approx(
        np.sum((dependent - m) ** 2) + np.sum((m - Y) ** 2)
    )


@pytest.mark.claims("neural_networks-28")
def test_cross_entropy_is_entropy_and_divergence():
    rng = np.random.default_rng(0)
    P, Q = rng.dirichlet(np.ones(4), size=(2, 1000))
    H, KL = -np.sum(P * np.log(P), axis=1), np.sum(P * np.log(P / Q), axis=1)
    np.testing.assert_allclose(cross_entropy(P, Q), H + KL, rtol=1e-12, atol=1e-12)
    assert (cross_entropy(P, Q) > cross_entropy(P, P)).all()
    np.testing.assert_allclose(cross_entropy(P, P), H, rtol=1e-12, atol=1e-12)
    assert not np.allclose(cross_entropy(P, Q), cross_entropy(Q, P))
    certain = np.array([0.0, 1.0, 0.0])
    assert cross_entropy(certain, certain) == 0
    assert cross_entropy(certain, certain[::-1].copy()) == 0
    assert cross_entropy(certain, np.array([1.0, 0.0, 0.0])) == np.inf


@pytest.mark.claims("neural_networks-25")
def test_one_hot_codes_and_softmax():
    rng = np.random.default_rng(0)
    y, classes = np.array(list("bacab")), ["a", "b", "c"]
    E = one_hot(y, classes)
    np.testing.assert_array_equal(E.sum(axis=1), 1)
    np.testing.assert_array_equal(np.array(classes)[E.argmax(axis=1)], y)
    np.testing.assert_allclose(E.mean(axis=0), [np.mean(y == c) for c in classes])
    A = rng.normal(size=(20, 4))
    S = SOFTMAX.f(A)
    assert (S > 0).all()
    np.testing.assert_allclose(S.sum(axis=1), 1)
    np.testing.assert_allclose(S, np.exp(A) / np.exp(A).sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(SOFTMAX.f(A + 7), S, rtol=1e-12)
    assert np.isfinite(SOFTMAX.f(1000 * A)).all()
    two = A[:, :2]
    np.testing.assert_allclose(
        SOFTMAX.f(two)[:, 0], sigmoid(two[:, 0] - two[:, 1]), rtol=1e-12, atol=1e-12
    )


def test_codes_of_unknown_classes_are_refused():
    message = "y must hold one of the classes ['a' 'b']; got 'z'"
    with pytest.raises(ValueError, match=re.escape(message)):
        one_hot(np.array(["a", "z", "b"]), ["a", "b"])
    with pytest.raises(ValueError, match=re.escape("one of the classes [1 1]; got 1")):
        one_hot(np.array([1]), [1, 1])
    with pytest.raises(ValueError, match=re.escape("y must have shape (n,); got (2, 1)")):
        one_hot(np.array([["a"], ["b"]]), ["a", "b"])


def test_loss_of_scores_with_a_large_common_part_keeps_its_digits():
    A = np.array([[3.0, 0.0, -1.0]])
    for shift in (1e8, -1e12):
        loss = softmax_cross_entropy(A + shift, np.eye(3)[:1])
        np.testing.assert_allclose(loss, np.log1p(np.exp(-3) + np.exp(-4)), rtol=1e-14)


@pytest.mark.claims("neural_networks-29")
def test_cross_entropy_of_a_certain_class_through_the_softmax():
    rng = np.random.default_rng(0)
    A, c = 3 * rng.normal(size=(9, 4)), rng.integers(4, size=9)
    Y, S = np.eye(4)[c], softmax(A)
    losses = softmax_cross_entropy(A, Y)
    np.testing.assert_allclose(losses, -np.log(S[np.arange(9), c]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(losses, cross_entropy(Y, S), rtol=1e-12, atol=1e-12)
    for a, y, s in zip(A, Y, S, strict=True):
        row = CROSS_ENTROPY.slope(s, y) @ softmax_jacobian(s)
        np.testing.assert_allclose(row, s - y, rtol=1e-12, atol=1e-12)
        check_gradient(
            lambda a, y=y: softmax_cross_entropy(a[None], y[None])[0],
            lambda a, y=y: softmax(a[None])[0] - y,
            a,
        )
    np.testing.assert_allclose(softmax_cross_entropy(np.zeros((1, 4)), Y[:1]), np.log(4))
    huge = softmax_cross_entropy(np.array([[2000.0, 0.0]]), np.array([[0.0, 1.0]]))
    np.testing.assert_array_equal(huge, [2000])


@pytest.mark.claims("neural_networks-29")
def test_one_layer_is_logistic_regression():
    T = load_digits()
    X, Y = T.X[:200] / 16, one_hot(T.y[:200], range(10))
    net = network((64, 10), loss=CROSS_ENTROPY)
    A, lam = augment(X), np.append(0.0, np.full(64, 0.005))  # b is not penalised
    how = {"lam": lam, "weights": np.full(200, 1 / 200)}
    for state in islice(softmax_newton(A, Y, solve=conjugate_gradients, **how), 4):
        rows = state.x.reshape(65, 10)
        theta = pack([(rows[1:].T, rows[0])])
        J, gradient = backpropagate(net, theta, X, Y, alpha=0.01 * len(X))
        assert pytest.approx(softmax_cost(A, Y, rows, **how), abs=1e-10) == J
        assert state.objective == pytest.approx(J, abs=1e-10)
        slope = softmax_gradient(A, Y, rows, **how)
        np.testing.assert_allclose(gradient, pack([(slope[1:].T, slope[0])]), rtol=0, atol=1e-10)
    zero = np.zeros(len(theta))
    assert risk(net, zero, X, Y) == pytest.approx(np.log(10))


@pytest.mark.claims("neural_networks-30")
def test_loss_is_indexed_by_the_class_not_multiplied_by_it():
    rng = np.random.default_rng(0)
    S, c = rng.dirichlet(np.ones(3), size=8), rng.integers(3, size=8)
    indexed = -np.log(S[np.arange(8), c])
    np.testing.assert_allclose(
        cross_entropy(one_hot(c, range(3)), S), indexed, rtol=1e-12, atol=1e-12
    )
    renumbered = c + 1  # the classes are called 1, 2, 3: the same loss, by position
    np.testing.assert_allclose(cross_entropy(one_hot(renumbered, [1, 2, 3]), S), indexed)

    def printed(labels):
        return -np.mean(np.log(S) * labels[:, None])

    assert printed(c) != pytest.approx(printed(renumbered))
    assert printed(c) != pytest.approx(indexed.mean())


# ---------------------------------------------------------------------------------------
# Jacobians
# ---------------------------------------------------------------------------------------


def numeric_jacobian(f, x):
    """df_i/dx_j, (m, k)."""
    return differences(f, x).T


@pytest.mark.claims("neural_networks-17")
def test_chain_rule_and_the_jacobians_of_layers():
    rng = np.random.default_rng(0)
    W, V, x = rng.normal(size=(4, 3)), rng.normal(size=(2, 4)), rng.normal(size=3)

    def g(x):
        return np.sin(W @ x)

    def h(a):
        return V @ a**2

    J_g, J_h = numeric_jacobian(g, x), numeric_jacobian(h, g(x))
    assert J_g.shape == (4, 3) and J_h.shape == (2, 4)
    np.testing.assert_allclose(
        numeric_jacobian(lambda x: h(g(x)), x), J_h @ J_g, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        numeric_jacobian(lambda x: V @ g(x), x), V @ J_g, rtol=1e-6, atol=1e-6
    )
    for activation in BENT.values():
        a = rng.normal(size=5)
        assert np.abs(a).min() > 1e-3
        J = activation.jacobian(activation.f(a))
        np.testing.assert_allclose(J, numeric_jacobian(activation.f, a), rtol=1e-6, atol=1e-6)
        assert (J[~np.eye(5, dtype=bool)] == 0).all()


@pytest.mark.claims("neural_networks-18")
def test_jacobian_of_the_product_with_a_vector():
    rng = np.random.default_rng(0)
    x, W, V = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    J = mult_jacobian(x, 4)
    assert J.shape == (4, 12)
    np.testing.assert_allclose(J @ W.reshape(-1), W @ x, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(J, np.kron(np.eye(4), x))
    for M in (W, V):
        numeric = numeric_jacobian(lambda w: w.reshape(4, 3) @ x, M.reshape(-1))
        np.testing.assert_allclose(numeric, J, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(W.reshape(-1), W.T.reshape(-1, order="F"))
    np.testing.assert_array_equal(W.reshape(-1).reshape(4, 3), W)
    theta = pack([(W, np.zeros(4))])
    np.testing.assert_array_equal(theta[:12], np.concatenate(list(W)))


def literal_gradient(net, theta, x, y):
    return np.concatenate(
        [part for j in range(1, len(net.sizes)) for part in jacobian_rows(net, theta, x, y, j)]
    )


@pytest.mark.claims("neural_networks-19", "neural_networks-23")
@every_network
def test_three_routes_to_the_gradient_agree(hidden, loss, output):
    net, theta, X, Y = drawn((3, 4, 5, 3, 2), hidden, loss, output)
    if hidden is RELU or output is RELU:
        A = [a for h in forward(unpack(theta, net.sizes), net.activations, X)[1:] for a in h]
        assert any(a.any() for a in A)
    routes = []
    for x, y in zip(X, Y, strict=True):
        literal = jacobian_gradient(net, theta, x, y)
        by_index = delta_gradient(net, theta, x, y)
        batched = backpropagate(net, theta, x[None], y[None])[1]
        np.testing.assert_allclose(by_index, literal, atol=1e-12, rtol=1e-10)
        np.testing.assert_allclose(batched, literal, atol=1e-12, rtol=1e-10)
        np.testing.assert_array_equal(literal, literal_gradient(net, theta, x, y))
        routes.append(literal)
    np.testing.assert_allclose(
        backpropagate(net, theta, X, Y)[1], np.mean(routes, axis=0), rtol=1e-11, atol=1e-11
    )
    check_gradient(
        lambda theta: risk(net, theta, X, Y),
        lambda theta: backpropagate(net, theta, X, Y)[1],
        theta,
    )


@pytest.mark.claims("neural_networks-19")
def test_literal_rows_are_the_derivatives_of_each_layer():
    net, theta, X, Y = drawn((3, 4, 5, 3, 2), LOGISTIC)
    x, y, layers = X[0], Y[0], unpack(theta, net.sizes)
    for j in range(1, 5):
        row, b_row = jacobian_rows(net, theta, x, y, j)
        assert row.shape == (net.sizes[j] * net.sizes[j - 1],) and b_row.shape == (net.sizes[j],)

        def with_weights(w, j=j):
            changed = [(W.copy(), b) for W, b in layers]
            changed[j - 1] = (w.reshape(layers[j - 1][0].shape), layers[j - 1][1])
            return risk(net, pack(changed), x[None], y[None])

        numeric = differences(with_weights, layers[j - 1][0].reshape(-1))
        np.testing.assert_allclose(row, numeric, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("j", [-1, 0, 3])
def test_jacobian_rows_refuse_a_layer_that_does_not_exist(j):
    net, theta, X, Y = drawn((3, 4, 2))
    with pytest.raises(ValueError, match=f"j must be between 1 and l = 2; got {j}"):
        jacobian_rows(net, theta, X[0], Y[0], j)


@pytest.mark.claims("neural_networks-20")
@pytest.mark.parametrize("sizes", [(3, 4, 5, 2), (4, 4, 4, 4)], ids=["differing", "equal"])
def test_printed_jacobian_product_lacks_the_weights_of_the_layer_below(sizes):
    net, theta, X, Y = drawn(sizes, TANH)
    x, y, layers = X[0], Y[0], unpack(theta, sizes)
    h = [H[0] for H in forward(layers, net.activations, x[None])]
    J = [None, *(f.jacobian(out) for f, out in zip(net.activations, h[1:], strict=True))]
    start = net.loss.slope(h[3], y) @ J[3] @ layers[2][0] @ J[2]
    right = start @ layers[1][0] @ J[1] @ mult_jacobian(h[0], sizes[1])
    numeric = differences(lambda t: risk(net, t, x[None], y[None]), theta)[: right.size]
    np.testing.assert_allclose(right, numeric, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(right, jacobian_rows(net, theta, x, y, 1)[0], rtol=1e-12, atol=1e-12)
    if sizes[1] != sizes[2]:
        with pytest.raises(ValueError, match="matmul"):
            start @ J[1] @ mult_jacobian(h[0], sizes[1])
    else:
        printed = start @ J[1] @ mult_jacobian(h[0], sizes[1])
        assert not np.allclose(printed, numeric, rtol=0.1)


@pytest.mark.claims("neural_networks-27")
def test_jacobian_of_the_softmax_is_full():
    rng = np.random.default_rng(0)
    a = rng.normal(size=4)
    s = softmax(a[None])[0]
    J = SOFTMAX.jacobian(s)
    np.testing.assert_allclose(
        J, numeric_jacobian(lambda a: softmax(a[None])[0], a), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(
        J - np.diag(np.diag(J)), np.diag(s**2) - np.outer(s, s), rtol=1e-13, atol=1e-15
    )
    assert np.linalg.eigvalsh(J).min() > -1e-15 and np.linalg.matrix_rank(J) == 3
    np.testing.assert_allclose(J @ np.ones(4), 0, rtol=1e-13, atol=1e-15)
    net, theta, X, Y = drawn((3, 4, 3), TANH, CROSS_ENTROPY)
    x, y = X[0], Y[0]
    h = forward(unpack(theta, net.sizes), net.activations, x[None])
    s, before = h[-1][0], h[-2][0]
    numeric = differences(lambda t: risk(net, t, x[None], y[None]), theta)[-15:-3]
    full = CROSS_ENTROPY.slope(s, y) @ softmax_jacobian(s)
    np.testing.assert_allclose(np.outer(full, before).ravel(), numeric, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(full, s - y, rtol=1e-12, atol=1e-12)
    diagonal = CROSS_ENTROPY.slope(s, y) @ np.diag(s * (1 - s))
    assert not np.allclose(np.outer(diagonal, before).ravel(), numeric, rtol=0.1)


def test_pull_is_the_product_with_the_transposed_jacobian():
    rng = np.random.default_rng(0)
    G = rng.normal(size=(6, 4))
    for activation in (*BENT.values(), SOFTMAX):
        H = activation.f(rng.normal(size=(6, 4)))
        by_hand = [activation.jacobian(h).T @ g for h, g in zip(H, G, strict=True)]
        np.testing.assert_allclose(activation.pull(H, G), by_hand, rtol=1e-13, atol=1e-14)


# ---------------------------------------------------------------------------------------
# Backpropagation
# ---------------------------------------------------------------------------------------


def nudged(net, theta, x, y, j, nudge):
    """J, where `nudge` has been added to the net inputs of layer j."""
    h = x[None]
    for k, ((W, b), f) in enumerate(zip(unpack(theta, net.sizes), net.activations, strict=True)):
        h = f.f(scores(h, W, b) + (nudge if k == j else 0))
    return net.loss.of_output(h, y[None])[0]


@pytest.mark.claims("neural_networks-21")
@pytest.mark.parametrize("hidden", [LOGISTIC, TANH, RELU], ids=lambda f: f.name)
def test_deltas_are_the_derivatives_by_the_net_inputs(hidden):
    net, theta, X, Y = drawn((3, 5, 4, 2), hidden, SQUARED_ERROR, LOGISTIC, seed=2)
    layers, x, y = unpack(theta, net.sizes), X[0], Y[0]
    found, h = deltas(net, theta, x, y)
    for j in range(3):
        assert np.abs(scores(h[j][None], *layers[j])).min() > 1e-3
        numeric = differences(
            lambda a, j=j: nudged(net, theta, x, y, j, a), np.zeros(len(found[j]))
        )
        np.testing.assert_allclose(found[j], numeric, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[-1], (h[-1] - y) * h[-1] * (1 - h[-1]), rtol=1e-12, atol=1e-12)
    for j in (1, 0):
        by_matrix = (layers[j + 1][0].T @ found[j + 1]) * hidden.slope(h[j + 1])
        np.testing.assert_allclose(found[j], by_matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("neural_networks-21")
def test_a_weight_is_in_one_net_input_alone():
    net, theta, X, _ = drawn((3, 5, 2))
    W, b = unpack(theta, net.sizes)[0]
    changed = W.copy()
    changed[3, 1] += 0.5
    moved = scores(X, changed, b) - scores(X, W, b)
    assert (np.delete(moved, 3, axis=1) == 0).all()
    np.testing.assert_allclose(moved[:, 3], 0.5 * X[:, 1])


@pytest.mark.claims("neural_networks-21")
@pytest.mark.parametrize("loss", [SQUARED_ERROR, CROSS_ENTROPY], ids=lambda loss: loss.name)
def test_two_layer_formulas_are_the_general_ones(loss):
    net, theta, X, Y = drawn((3, 6, 4), RELU, loss, n=1)
    (W1, b1), (W2, b2) = unpack(theta, net.sizes)
    x, y = X[0], Y[0]
    a1 = W1 @ x + b1
    h = np.maximum(0, a1)
    a2 = W2 @ h + b2
    delta_2 = (softmax(a2[None])[0] if loss is CROSS_ENTROPY else a2) - y
    delta_1 = (W2.T @ delta_2) * (a1 > 0)
    by_hand = pack([(np.outer(delta_1, x), delta_1), (np.outer(delta_2, h), delta_2)])
    np.testing.assert_allclose(backpropagate(net, theta, X, Y)[1], by_hand, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("neural_networks-22")
def test_printed_output_delta_is_wrong_in_a_hidden_layer():
    net, theta, X, Y = drawn((3, 2, 2), LOGISTIC)  # as many hidden units as targets
    x, y = X[0], Y[0]
    found, h = deltas(net, theta, x, y)
    numeric = differences(lambda a: nudged(net, theta, x, y, 0, a), np.zeros(2))
    np.testing.assert_allclose(found[0], numeric, rtol=1e-6, atol=1e-6)
    printed = (h[1] - y) * h[1] * (1 - h[1])
    assert not np.allclose(printed, numeric, rtol=0.1)


@pytest.mark.claims("neural_networks-23")
def test_a_small_step_lowers_the_risk_by_eta_times_the_squared_gradient():
    net, theta, X, Y = drawn((3, 4, 2), TANH)
    J, gradient = backpropagate(net, theta, X, Y)
    ratios = []
    for eta in (1e-2, 1e-3, 1e-4):
        _, after = islice(descend(net, theta, X, Y, eta=eta), 2)
        np.testing.assert_allclose(after.x, theta - eta * gradient, rtol=1e-13, atol=1e-15)
        ratios.append((J - after.objective) / (eta * gradient @ gradient))
    errors = np.abs(np.array(ratios) - 1)
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(errors[:-1] / errors[1:], 10, rtol=0.2)  # O(eta)


@pytest.mark.claims("neural_networks-23")
def test_descent_with_backtracking_never_goes_up():
    net, theta, X, Y = drawn((3, 8, 2), TANH, CROSS_ENTROPY, n=30)
    J = [state.objective for state in islice(descend(net, theta, X, Y, alpha=0.1), 50)]
    assert all(after <= before for before, after in pairwise(J)) and J[-1] < J[0] / 2
    assert J[0] == risk(net, theta, X, Y, alpha=0.1) != risk(net, theta, X, Y)


@every_network
def test_penalty_and_weights_have_the_gradient_of_their_value(hidden, loss, output):
    net, theta, X, Y = drawn((3, 4, 2), hidden, loss, output)
    weights = np.array([1.0, 2.0, 0.0, 0.5, 3.0, 1.5])
    how = {"alpha": 0.7, "weights": weights}
    check_gradient(
        lambda t: risk(net, t, X, Y, **how), lambda t: backpropagate(net, t, X, Y, **how)[1], theta
    )
    H = forward(unpack(theta, net.sizes), net.activations, X)[-1]
    squares = sum(np.sum(W**2) for W, _ in unpack(theta, net.sizes))
    by_hand = (weights @ loss.of_output(H, Y) + 0.7 / 2 * squares) / weights.sum()
    assert risk(net, theta, X, Y, **how) == pytest.approx(by_hand, rel=1e-12)
    counts = np.array([1, 2, 0, 3, 1, 1])
    repeated = np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
    for ours, theirs in zip(
        backpropagate(net, theta, X, Y, alpha=0.7, weights=counts.astype(float)),
        backpropagate(net, theta, *repeated, alpha=0.7),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss, o", [(CROSS_ENTROPY, 2), (BINARY_CROSS_ENTROPY, 1)])
@pytest.mark.parametrize("a", [900.0, -900.0])
def test_outputs_that_are_certain_and_right_have_no_gradient_by_any_route(loss, o, a):
    net, theta = network((1, o), loss=loss), np.zeros(2 * o)
    theta[0], x = a, np.ones(1)
    y = np.array([1.0, 0.0] if a > 0 else [0.0, 1.0])[:o]
    slope = loss.slope(forward(unpack(theta, net.sizes), net.activations, x[None])[-1][0], y)
    np.testing.assert_array_equal(np.abs(slope), y if o == 2 else [1])  # -y / h, 0 / 0 being 0
    for route in (jacobian_gradient, delta_gradient):
        np.testing.assert_array_equal(route(net, theta, x, y), 0)
    assert backpropagate(net, theta, x[None], y[None])[0] == 0


def test_saturated_outputs_keep_their_gradient():
    for loss, o in ((CROSS_ENTROPY, 2), (BINARY_CROSS_ENTROPY, 1)):
        net = network((1, o), loss=loss)
        theta = pack([(np.array([[900.0], [0.0]])[:o], np.zeros(o))])
        y = np.array([[0.0, 1.0]])[:, :o]
        J, gradient = backpropagate(net, theta, np.ones((1, 1)), y)
        assert J == 900 and gradient[0] == 1


# ---------------------------------------------------------------------------------------
# Starting points
# ---------------------------------------------------------------------------------------


def without_biases(net, theta, X, Y, steps, eta=0.5):
    """Gradient descent on the weights alone."""
    for _ in range(steps):
        step = unpack(backpropagate(net, theta, X, Y)[1], net.sizes)
        theta = pack([(W - eta * dW, b) for (W, b), (dW, _) in zip(
            unpack(theta, net.sizes), step, strict=True)])  # fmt: skip
    return theta


@pytest.mark.claims("neural_networks-24")
@pytest.mark.parametrize("hidden", [RELU, TANH], ids=lambda f: f.name)
def test_from_zero_nothing_moves_and_equal_units_stay_equal(hidden):
    net, Y = network((2, 4, 1), hidden), PARITY[:, None]
    W1, W2 = (dW for dW, _ in unpack(backpropagate(net, np.zeros(17), XOR, Y)[1], net.sizes))
    assert (W1 == 0).all() and (W2 == 0).all()
    alike = pack([(np.tile([0.3, -0.2], (4, 1)), np.zeros(4)), (np.full((1, 4), 0.5), np.zeros(1))])
    (W1, _), (W2, _) = unpack(without_biases(net, alike, XOR, Y, 100, eta=0.1), net.sizes)
    np.testing.assert_allclose(W1, W1[:1].repeat(4, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(W2, W2[0, 0], rtol=1e-12, atol=1e-12)
    assert not np.allclose(W1[0], [0.3, -0.2])  # they have moved


@pytest.mark.claims("neural_networks-24")
def test_random_starts_break_the_symmetry():
    net, Y = network((2, 8, 1), TANH), PARITY[:, None]
    theta = normal_start(net.sizes, rng=np.random.default_rng(0))
    *_, last = islice(descend(net, theta, XOR, Y, eta=0.3), 1500)
    W1, _ = unpack(last.x, net.sizes)[0]
    gaps = np.linalg.norm(W1[:, None] - W1, axis=2)[~np.eye(8, dtype=bool)]
    f = forward(unpack(last.x, net.sizes), net.activations, XOR)[-1].ravel()
    assert gaps.min() > 0.01
    np.testing.assert_allclose(f, PARITY, rtol=0, atol=0.05)


def test_starting_points_have_the_documented_spread():
    rng = np.random.default_rng(0)
    sizes = (300, 200, 50)
    for W, b in unpack(normal_start(sizes, sigma=0.3, rng=rng), sizes):
        assert W.std() == pytest.approx(0.3, rel=0.02) and (b == 0).all()
    for factor in (6.0, 2.0):
        for W, b in unpack(glorot_start(sizes, factor=factor, rng=rng), sizes):
            bound = np.sqrt(factor / sum(W.shape))
            assert 0.98 * bound < np.abs(W).max() <= bound
            assert W.std() == pytest.approx(bound / np.sqrt(3), rel=0.02)
            assert 0 < np.abs(b).max() <= bound


# ---------------------------------------------------------------------------------------
# Descent
# ---------------------------------------------------------------------------------------


def test_mini_batches_are_a_partition_in_a_new_order():
    rng = np.random.default_rng(0)
    once, twice = (list(mini_batches(10, 4, rng)) for _ in "ab")
    assert [len(rows) for rows in once] == [4, 4, 2]
    assert sorted(np.concatenate(once)) == list(range(10)) == sorted(np.concatenate(twice))
    assert not np.array_equal(np.concatenate(once), np.concatenate(twice))
    assert [rows.tolist() for rows in mini_batches(3, 5, None)] == [[0, 1, 2]]


@pytest.mark.parametrize("size", [0, -2, 2.0])
def test_mini_batches_have_a_size_of_at_least_1(size):
    message = f"batch_size must be an integer >= 1; got {size}"
    with pytest.raises(ValueError, match=re.escape(message)):
        next(mini_batches(5, size, None))
    with pytest.raises(ValueError, match=re.escape(message)):
        next(sgd(*problem(), batch_size=size, learning_rate=0.1, rng=None))


def problem():
    """A small network on mini-batches: the objective, a start and n."""
    net, theta, X, Y = drawn((3, 4, 2), TANH, CROSS_ENTROPY, n=11)
    return Objective(net, X, Y, 0.3), theta, 11


def by_the_book(update, batch_size, passes):
    """Plain loops over the mini-batches, the parameters moved by ``update(gradient, t)``."""
    f, theta, n = problem()
    rng, t, found = np.random.default_rng(5), 0, []
    for _ in range(passes):
        values = []
        for rows in mini_batches(n, batch_size, rng):
            J, gradient = f(theta, rows)
            t += 1
            values += [J] * len(rows)
            theta = theta + update(gradient, t)
        found.append((theta, np.mean(values)))
    return found


def compare(states, book):
    next(states)
    for state, (theta, objective) in zip(states, book, strict=False):
        np.testing.assert_allclose(state.theta, theta, rtol=1e-12, atol=1e-12)
        assert state.objective == pytest.approx(objective, rel=1e-12)


def test_passes_apply_the_step_to_every_mini_batch_in_turn():
    visited = []

    def count(theta, rows):
        visited.append(rows.tolist())
        return float(theta[0]), np.full(1, float(len(rows)))

    start, first, second = islice(passes(count, np.zeros(1), 5, 2, None, np.add), 3)
    batches = [[0, 1], [2, 3], [4]]
    assert visited == 3 * batches  # once for the objective of the start
    assert (start.theta, first.theta, second.theta) == (0, 5, 10)
    assert (start.objective, first.objective) == (0, (2 * 0 + 2 * 2 + 4) / 5)


def test_keep_best_goes_back_to_the_best_parameters():
    values = np.array([0.0, 0.5, 0.3, 0.5, 0.9, 0.1])
    states = [Pass(np.array([float(k)]), 1.0, 0.0) for k in range(len(values))]
    found = list(keep_best(iter(states), lambda theta: values[int(theta[0])]))
    assert [int(state.theta[0]) for state in found] == [0, 1, 1, 1, 4, 4]
    gains = [state.improvement for state in found[2:]]
    np.testing.assert_allclose(gains, [-0.2, 0.0, 0.4, -0.8], rtol=1e-12, atol=1e-15)
    assert found[1].improvement == np.inf


@pytest.mark.parametrize("momentum, nesterov", [(0.0, False), (0.8, False), (0.8, True)])
def test_sgd_takes_the_steps_of_its_formula(momentum, nesterov):
    v = 0.0

    def update(gradient, t):
        nonlocal v
        v = momentum * v - 0.1 * gradient
        return momentum * v - 0.1 * gradient if nesterov else v

    rng = np.random.default_rng(5)
    how = {"batch_size": 4, "learning_rate": 0.1, "momentum": momentum, "rng": rng}
    compare(sgd(*problem(), nesterov=nesterov, **how), by_the_book(update, 4, 3))


def test_adam_takes_the_steps_of_its_authors():
    m, v, b1, b2, eta, epsilon = 0.0, 0.0, 0.8, 0.9, 0.05, 1e-8

    def update(g, t):
        nonlocal m, v
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
        # the authors add epsilon to sqrt(v_hat); scikit-learn and this chapter, to sqrt(v)
        return -eta * m_hat / (np.sqrt(v_hat) + epsilon / np.sqrt(1 - b2**t))

    rng = np.random.default_rng(5)
    how = {"batch_size": 4, "learning_rate": eta, "beta_1": b1, "beta_2": b2, "rng": rng}
    compare(adam(*problem(), **how), by_the_book(update, 4, 3))


@pytest.mark.parametrize("solver", [sgd, adam])
def test_passes_yield_the_exact_start_and_then_the_mean_of_their_batches(solver):
    f, theta, n = problem()
    states = solver(f, theta, n, batch_size=4, learning_rate=0.02, rng=np.random.default_rng(0))
    start, *rest = islice(states, 6)
    batches = mini_batches(n, 4, None)
    assert start.objective == pytest.approx(sum(len(r) * f(theta, r)[0] for r in batches) / n)
    no_penalty = f._replace(alpha=0.0)
    first = next(solver(no_penalty, theta, n, batch_size=4, learning_rate=0.1, rng=None))
    assert first.objective == pytest.approx(no_penalty(theta, np.arange(n))[0])
    np.testing.assert_array_equal(start.theta, theta)
    assert start.improvement == np.inf and not np.shares_memory(start.theta, theta)
    lowest = start.objective
    for state in rest:
        assert state.improvement == pytest.approx(lowest - state.objective, abs=1e-15)
        lowest = min(lowest, state.objective)
    assert rest[-1].objective < start.objective


@pytest.mark.parametrize("solver", [sgd, adam])
def test_states_are_snapshots_and_full_batches_are_gradient_descent(solver):
    f, theta, n = problem()
    theta.setflags(write=False)
    states = solver(f, theta, n, batch_size=n, learning_rate=0.1, rng=None)
    kept = [(state, state.theta.copy()) for state in islice(states, 5)]
    for state, then in kept:
        np.testing.assert_array_equal(state.theta, then)
    assert all(not np.array_equal(a, b) for (_, a), (_, b) in pairwise(kept))
    if solver is sgd:
        steps = islice(descend(f.net, theta, f.X, f.Y, eta=0.1, alpha=f.alpha), 5)
        for (_, ours), step in zip(kept, steps, strict=True):
            np.testing.assert_allclose(ours, step.x, rtol=1e-12, atol=1e-12)


def test_samples_of_weight_0_do_not_move_theta():
    f, theta, _ = problem()
    weighted = f._replace(weights=np.repeat([0.0, 1.0], [4, 7]))
    J, gradient = weighted(theta, np.arange(4))
    assert J == 0 and (gradient == 0).all()
    rows = np.array([1, 6, 9])
    two = f._replace(alpha=0.3)(theta, rows[1:])  # n of the penalty is the weight, 2
    assert weighted(theta, rows)[0] == pytest.approx(two[0])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def digits(n=400):
    T = load_digits()
    return T.X[:n] / 16, T.y[:n]


def fitted(model, X, y, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **how)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_fit_runs_its_generator_from_a_glorot_start(solver):
    X, y = digits()
    model = MLPClassifier(
        (30, 20), solver=solver, alpha=0.1, max_iter=4, random_state=3, learning_rate_init=0.01
    )
    fitted(model, X, y)
    rng = np.random.default_rng(3)
    net = network((64, 30, 20, 10), RELU, CROSS_ENTROPY)
    f, theta = Objective(net, X, one_hot(y, range(10)), 0.1), glorot_start(net.sizes, rng=rng)
    run, how = {"adam": (adam, {}), "sgd": (sgd, {"momentum": 0.9, "nesterov": True})}[solver]
    states = list(islice(run(f, theta, 400, batch_size=200, learning_rate=0.01, rng=rng, **how), 5))
    np.testing.assert_array_equal(model.history_, [state.objective for state in states])
    assert model.loss_curve_ == model.history_[1:].tolist() and model.n_iter_ == 4
    assert model.loss_ == model.loss_curve_[-1] and model.best_loss_ == min(model.loss_curve_)
    layers = unpack(states[-1].theta, net.sizes)
    for (W, b), V, c in zip(layers, model.coefs_, model.intercepts_, strict=True):
        np.testing.assert_array_equal(W.T, V)
        np.testing.assert_array_equal(b, c)
    P = forward(layers, net.activations, X)[-1]
    np.testing.assert_allclose(model.predict_proba(X), P, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), P.argmax(axis=1))
    assert (model.n_layers_, model.n_outputs_, model.out_activation_) == (4, 10, "softmax")
    assert not model.converged_


def test_two_classes_have_one_logistic_output():
    X, y = digits()
    X, y = X[y < 2], np.array(["zero", "one"])[y[y < 2]]
    model = fitted(MLPClassifier((10,), "tanh", random_state=0, max_iter=50), X, y)
    assert (model.n_outputs_, model.out_activation_) == (1, "logistic")
    assert model.coefs_[-1].shape == (10, 1) and list(model.classes_) == ["one", "zero"]
    H = np.tanh(X @ model.coefs_[0] + model.intercepts_[0])
    p = 1 / (1 + np.exp(-(H @ model.coefs_[1] + model.intercepts_[1])))
    np.testing.assert_allclose(
        model.predict_proba(X), np.hstack([1 - p, p]), rtol=1e-13, atol=1e-14
    )
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[(p[:, 0] > 0.5).astype(int)])
    assert model.score(X, y) > 0.98
    model.coefs_[1] *= 20  # 1 - sigma(a) would lose its digits, sigma(-a) keeps them
    np.testing.assert_allclose(model.predict_proba(X), np.exp(model.predict_log_proba(X)))
    model.coefs_[1] *= 1e6  # scores of this size have probabilities of 0, and their logarithms
    logs, P = model.predict_log_proba(X), model.predict_proba(X)
    assert np.isfinite(logs).all() and (logs.min(axis=0) < -1000).all() and (P == 0).any()
    np.testing.assert_allclose(np.exp(logs), P, rtol=1e-12, atol=1e-12)


def test_digits_are_classified():
    T = load_digits()
    X = T.X / 16
    model = fitted(
        MLPClassifier((50,), max_iter=40, learning_rate_init=0.01, random_state=0),
        X[:1400],
        T.y[:1400],
    )
    assert model.score(X[:1400], T.y[:1400]) > 0.99
    assert model.score(X[1400:], T.y[1400:]) > 0.9
    assert model.history_[0] == pytest.approx(np.log(10), abs=0.3)
    assert np.isfinite(model.predict_log_proba(1e4 * X)).all()
    assert (model.predict_proba(1e4 * X) == 0).any()


def test_regression_fits_a_curve_and_a_linear_network_the_line():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = np.sin(3 * X[:, 0])
    curve = MLPRegressor(learning_rate_init=0.01, max_iter=300, random_state=0).fit(X, y)
    assert curve.score(X, y) > 0.99 and curve.out_activation_ == "identity"
    line = MLPRegressor(
        hidden_layer_sizes=(),
        solver="sgd",
        momentum=0,
        alpha=0,
        learning_rate_init=0.1,
        tol=0,
        random_state=0,
    )
    fitted(line, X, y)
    slope, offset = np.polyfit(X[:, 0], y, 1)
    np.testing.assert_allclose([*line.coefs_[0].ravel(), *line.intercepts_[0]], [slope, offset],
                               rtol=1e-3, atol=1e-3)  # fmt: skip
    assert line.score(X, y) < curve.score(X, y)


def test_training_stops_after_passes_without_improvement():
    X, y = digits()
    model = MLPClassifier((20,), tol=0.05, n_iter_no_change=3, random_state=0).fit(X, y)
    best, idle = model.history_[0], []
    for loss in model.loss_curve_:
        idle.append(best - loss <= 0.05)
        best = min(best, loss)
    assert model.converged_ and model.n_iter_ == len(idle) < 200
    assert all(idle[-4:])
    assert not any(all(idle[k : k + 4]) for k in range(len(idle) - 4))


def test_early_stopping_keeps_the_best_pass():
    X, y = digits()
    how = {"random_state": 0, "early_stopping": True, "n_iter_no_change": 4, "tol": 0.0}
    model = fitted(MLPClassifier((20,), learning_rate_init=0.02, **how), X, y)
    assert len(model.validation_scores_) == model.n_iter_ == len(model.loss_curve_)
    assert model.best_validation_score_ == max(model.validation_scores_)
    assert model.best_loss_ is None and model.converged_
    best = int(np.argmax(model.validation_scores_)) + 1
    assert best < model.n_iter_
    again = fitted(MLPClassifier((20,), learning_rate_init=0.02, **how | {"max_iter": best}), X, y)
    for ours, theirs in zip(model.coefs_, again.coefs_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert again.validation_scores_ == model.validation_scores_[:best]
    regressor = fitted(MLPRegressor(max_iter=30, **how), X, X[:, 20])
    assert len(regressor.validation_scores_) == regressor.n_iter_
    plain = fitted(MLPClassifier((5,), max_iter=2, random_state=0), X, y)
    assert plain.validation_scores_ is None and plain.best_validation_score_ is None


def test_early_stopping_keeps_the_best_pass_when_the_score_recovers_later():
    """After the best pass the score falls, and rises again to less than the best."""
    X, y = digits()
    how = {"learning_rate_init": 0.1, "batch_size": 20, "tol": 0.0, "random_state": 0}
    model = MLPClassifier((20,), early_stopping=True, n_iter_no_change=8, **how).fit(X, y)
    scores_of_passes = np.array(model.validation_scores_)
    best = int(np.argmax(scores_of_passes))
    assert (np.diff(scores_of_passes[best:]) > 0).any()
    until = MLPClassifier((20,), early_stopping=True, max_iter=best + 1, **how)
    for ours, theirs in zip(model.coefs_, fitted(until, X, y).coefs_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    plain = fitted(MLPClassifier((20,), max_iter=15, **how), X, y)
    assert plain.best_loss_ == min(plain.loss_curve_) < plain.loss_


def test_moments_and_epsilon_of_adam_are_those_given():
    X, y = digits(100)
    how = {"beta_1": 0.5, "beta_2": 0.8, "epsilon": 0.1}
    model = fitted(MLPClassifier((5,), max_iter=3, random_state=1, **how), X, y)
    rng, net = np.random.default_rng(1), network((64, 5, 10), RELU, CROSS_ENTROPY)
    f, theta = Objective(net, X, one_hot(y, range(10)), 1e-4), glorot_start(net.sizes, rng=rng)
    *_, last = islice(adam(f, theta, 100, batch_size=100, learning_rate=1e-3, rng=rng, **how), 4)
    np.testing.assert_array_equal(model.coefs_[0], unpack(last.theta, net.sizes)[0][0].T)


def test_weights_of_samples_count_as_repetitions_where_the_batch_is_everything():
    X, y = digits(60)
    counts = np.random.default_rng(0).integers(1, 4, size=60)
    how = {"hidden_layer_sizes": (8,), "max_iter": 20, "random_state": 0, "alpha": 0.5}
    whole = fitted(MLPClassifier(batch_size=60, **how), X, y, sample_weight=counts)
    many = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    repeated = fitted(MLPClassifier(batch_size=len(many[0]), **how), *many)
    np.testing.assert_allclose(
        whole.predict_proba(X), repeated.predict_proba(X), rtol=1e-6, atol=1e-6
    )
    plain = fitted(MLPClassifier(batch_size=60, **how), X, y)
    assert not np.allclose(whole.predict_proba(X), plain.predict_proba(X), atol=1e-3)


def test_alpha_shrinks_the_weights_and_batches_are_no_larger_than_the_data():
    X, y = digits(100)
    norms = []
    for alpha in (0.0, 10.0, 1000.0):
        model = MLPClassifier((10,), alpha=alpha, batch_size=10_000, max_iter=100, random_state=0)
        norms.append(sum(np.sum(V**2) for V in fitted(model, X, y).coefs_))
    assert norms[0] > norms[1] > norms[2]


def test_logistic_units_start_smaller():
    X, y = digits(50)
    for activation, factor in (("logistic", 2.0), ("tanh", 6.0)):
        model = MLPClassifier((10,), activation, max_iter=1, learning_rate_init=1e-12,
                              random_state=0)  # fmt: skip
        start = glorot_start((64, 10, 10), factor=factor, rng=np.random.default_rng(0))
        W = unpack(start, (64, 10, 10))[0][0]
        np.testing.assert_allclose(fitted(model, X, y).coefs_[0], W.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "how, message",
    [
        ({"hidden_layer_sizes": (5, 0)}, "hidden_layer_sizes must be integers >= 1; got (5, 0)"),
        ({"hidden_layer_sizes": 2.5}, "hidden_layer_sizes must be integers >= 1; got 2.5"),
        (
            {"activation": "softmax"},
            "activation must be one of 'identity', 'logistic', 'tanh', 'relu'; got 'softmax'",
        ),
        ({"solver": "lbfgs"}, "solver must be one of 'adam', 'sgd'; got 'lbfgs'"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
        ({"batch_size": "all"}, "batch_size must be an integer >= 1; got 'all'"),
        ({"momentum": 1}, "momentum must be a number >= 0 and < 1; got 1"),
        ({"beta_1": -0.1}, "beta_1 must be a number >= 0 and < 1; got -0.1"),
        ({"alpha": -1}, "alpha must be a number >= 0 and < inf; got -1"),
        ({"learning_rate_init": 0}, "learning_rate_init must be a number > 0 and < inf; got 0"),
        ({"tol": np.inf}, "tol must be a number >= 0 and < inf; got inf"),
        ({"epsilon": np.inf}, "epsilon must be a number > 0 and < inf; got inf"),
        ({"early_stopping": True, "validation_fraction": 0}, "must be a number > 0 and < 1; got 0"),
        (
            {"early_stopping": True},
            "with validation_fraction = 0.1, stratify must have 2 samples of each class",
        ),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be an integer >= 1; got 0"),
    ],
)
def test_parameters_out_of_range_are_refused(how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MLPClassifier(**how).fit(XOR, PARITY)


def test_divergence_is_an_error_and_too_few_passes_a_warning():
    X, y = digits(100)
    model = MLPRegressor(solver="sgd", learning_rate_init=1e6, random_state=0)
    for early_stopping in (False, True):
        model.set_params(early_stopping=early_stopping)
        with pytest.raises(ValueError, match="gradients must lie within .*lower the learning rate"):
            model.fit(100 * X, 100.0 * y)
        assert not hasattr(model, "coefs_")  # early stopping scores a copy
    model.set_params(early_stopping=False, learning_rate_init=1e308, max_iter=1)
    with pytest.raises(ValueError, match="weights must stay finite; infinite in pass 1"):
        model.fit(100 * X, 100.0 * y)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 iterations with improvement = "):
        MLPClassifier((5,), max_iter=2, random_state=0).fit(X, y)


def test_gradients_whose_squares_overflow_are_an_error():
    """Adam divides by them: theta would stand still, as if it had converged."""
    X, y = digits(50)
    with pytest.raises(ValueError, match="gradients must lie within"):
        MLPRegressor(hidden_layer_sizes=(5,), random_state=0).fit(1e100 * X, 1.0 * y)
    for wrong in (1e151, -np.inf, np.nan):
        with pytest.raises(ValueError, match="gradients must lie within"):
            within_range(1.0, np.array([1.0, wrong]))
    assert within_range(1.0, np.array([1.0, -1e150]))[0] == 1.0


def test_early_stopping_needs_a_positive_weight_in_both_parts():
    X, y = digits(100)
    weights = np.zeros(100)
    weights[7] = 2.0
    message = "sample_weight must be >= 0 and not zero everywhere; got 0 to 0"
    for model in (MLPClassifier, MLPRegressor):
        with pytest.raises(ValueError, match=re.escape(message)):
            model(early_stopping=True, random_state=0).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must lie within"):
        MLPClassifier(random_state=0).fit(X, y, sample_weight=np.full(100, 1e308))


def test_hidden_widths_may_be_one_number_or_none():
    X, y = digits(100)
    assert fitted(MLPClassifier(7, max_iter=2), X, y).coefs_[0].shape == (64, 7)
    linear = fitted(MLPClassifier((), max_iter=2), X, y)
    assert [V.shape for V in linear.coefs_] == [(64, 10)] and linear.n_layers_ == 2


def test_ugly_data_are_fitted():
    X = np.array([[1.0, 5.0], [1.0, 5.0], [1.0, 5.0], [1.0, -5.0]])  # duplicates, a constant
    y = np.array(["a", "b", "a", "b"])
    model = fitted(MLPClassifier((9,), max_iter=300, learning_rate_init=0.05, random_state=0), X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p[0], [2 / 3, 1 / 3], rtol=0, atol=0.05)
    assert p[3, 1] > 0.9
    one = fitted(MLPRegressor(max_iter=5), np.ones((1, 3)), np.array([2.0]))
    assert np.isfinite(one.predict(np.ones((1, 3)))).all()


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows, columns):
    """The axes that a figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure().subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def texts(ax):
    return [text.get_text().replace("−", "-") for text in ax.texts]


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


@pytest.mark.claims("neural_networks-07")
def test_linear_classifier_drawn_is_computed_by_its_numbers():
    from figures.neural_networks import PLANE_B, PLANE_W, linear_classifier, templates

    left, middle, right = panels(linear_classifier, 1, 3)
    numbers = [float(text) for text in texts(left) if re.fullmatch(r"-?\d+", text)]
    image, W, x, b, f = np.split(np.array(numbers), [4, 16, 20, 23])
    np.testing.assert_array_equal(image, x)
    np.testing.assert_array_equal(W.reshape(3, 4) @ x + b, f)
    (drawn,) = middle.images
    tiles = np.asarray(drawn.get_array().filled(np.nan))
    for k, template in enumerate(templates()):
        row, column = 10 * (k // 5) + 1, 10 * (k % 5) + 1
        np.testing.assert_array_equal(tiles[row : row + 8, column : column + 8], template)
    T = load_digits()
    model = MLPClassifier((), alpha=1.0, max_iter=100, learning_rate_init=0.01, tol=1e-3)
    rows = model.set_params(random_state=0).fit(T.X / 16, T.y).coefs_[0].T
    np.testing.assert_array_equal(templates().reshape(10, 64), rows)
    lines = [line for line in right.lines if hasattr(line, "get_xy1")]
    for line, w, b in zip(lines, PLANE_W, PLANE_B, strict=True):
        for end in (line.get_xy1(), line.get_xy2()):
            assert w @ end + b == pytest.approx(0, abs=1e-12)
    arrows = [(a.xy, a.xyann) for a in right.texts if hasattr(a, "xyann")]
    for (tip, foot), w, b in zip(arrows, PLANE_W, PLANE_B, strict=True):
        assert w @ foot + b == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(np.subtract(tip, foot), 0.6 * w, rtol=1e-12, atol=1e-12)
    for region in right.collections[:0:-2]:  # the boundary of every region, drawn as a contour
        for path in region.get_paths():
            F = np.sort(scores(path.vertices, PLANE_W, PLANE_B), axis=1)
            assert np.abs(F[:, -1] - F[:, -2]).max() < 0.05


@pytest.mark.claims("neural_networks-11")
def test_graphs_have_the_nodes_and_edges_of_their_networks():
    from figures.neural_networks import TINY, TINY_THETA, TINY_X, TINY_Y, networks

    axes = panels(networks, 2, 2)
    for ax, sizes in zip(axes, ((3, 1), (2, 2, 1), (4, 5, 3), (2, 2, 1)), strict=True):
        *edges, nodes = (line.get_xydata() for line in ax.lines)
        assert len(nodes) == sum(sizes) and len(edges) == sum(m * k for m, k in pairwise(sizes))
        assert len({tuple(edge.ravel()) for edge in edges}) == len(edges)
        places = {tuple(place) for place in nodes}
        for start, end in edges:
            assert {tuple(start), tuple(end)} <= places and end[0] == start[0] + 1  # no skips
    assert [len(ax.lines) - 1 for ax in axes[1:3]] == [6, 35]
    five, layered, passes = axes[1:]
    named = {text.get_text(): text.get_position() for text in five.texts}
    for i, j in ((1, 3), (2, 3), (1, 4), (2, 4), (3, 5), (4, 5)):
        (x0, y0), (x1, y1), (x, y) = named[f"{i}"], named[f"{j}"], named[f"$w_{{{i}{j}}}$"]
        assert (x - x0) * (y1 - y0) == pytest.approx((y - y0) * (x1 - x0), abs=1e-12)
    assert {"$W_1$: 20", "$W_2$: 15"} <= set(texts(layered))
    h = forward(unpack(TINY_THETA, TINY.sizes), TINY.activations, TINY_X[None])
    W2 = unpack(TINY_THETA, TINY.sizes)[1][0]
    delta_2 = h[2][0] - TINY_Y
    delta_1 = (W2.T @ delta_2) * (1 - h[1][0] ** 2)
    numbers = [t for t in texts(passes) if re.fullmatch(r"-?\d\.\d\d", t)]
    expected = [h[0][0, 0], h[0][0, 1], h[1][0, 0], delta_1[0], h[1][0, 1], delta_1[1],
                h[2][0, 0], delta_2[0]]  # fmt: skip
    assert numbers == [f"{value:.2f}" for value in expected]


@pytest.mark.claims("neural_networks-12")
def test_hard_cases_are_labelled_with_the_accuracies_of_what_is_drawn():
    from figures.neural_networks import best_line, hard_cases, hard_cases_of_a_line, trained

    axes = panels(hard_cases_of_a_line, 2, 3)
    turns = np.linspace(0, 2 * np.pi, 90)
    for k, (name, T) in enumerate(hard_cases().items()):
        w, b = best_line(*T[:])
        line = np.mean(np.where(T.X @ w + b > 0, 1, -1) == T.y)
        net = np.mean(trained(name).predict(T.X) == T.y)
        assert title_of(axes[k]) == f"{name}: line {100 * line:.0f} %"
        assert title_of(axes[3 + k]) == f"network {100 * net:.0f} %"
        assert line < 0.75 and net > 0.95
        others = [
            np.mean(np.where(T.X @ [np.cos(t), np.sin(t)] > c, 1, -1) == T.y)
            for t in turns
            for c in np.linspace(-2, 2, 41)
        ]
        assert max(others) <= line + 0.01
        for ax in (axes[k], axes[3 + k]):
            for drawn, c in zip(ax.lines, (1, -1), strict=True):
                np.testing.assert_array_equal(drawn.get_xydata(), T.X[T.y == c])
        edge = np.vstack([p.vertices for p in axes[3 + k].collections[-1].get_paths()])
        A = trained(name).predict_log_proba(edge)
        assert np.median(np.abs(A[:, 1] - A[:, 0])) < 0.5  # f = 0 there, up to the drawing


def test_curves_of_the_activations_are_theirs():
    from figures.neural_networks import activations

    left, right = panels(activations, 1, 2)
    for curve, slope in zip(left.lines, right.lines, strict=True):
        a, h = curve.get_data()
        interior = np.abs(a) > 0.05
        numeric = np.gradient(h, a)
        np.testing.assert_allclose(
            slope.get_ydata()[interior], numeric[interior], rtol=5e-3, atol=5e-3
        )
    assert [line.get_label() for line in left.lines] == ["hard limiter", "logistic", "tanh", "relu"]


def test_xor_is_drawn_with_the_corners_and_what_the_hidden_layer_makes_of_them():
    from figures.neural_networks import xor

    left, right = panels(xor, 1, 2)
    for ax, sides in ((left, XOR), (right, forward(XOR_LAYERS, [RELU, IDENTITY], XOR)[1])):
        zero, one = ax.lines[:2]
        np.testing.assert_array_equal(zero.get_xydata(), sides[PARITY == 0])
        np.testing.assert_array_equal(one.get_xydata(), sides[PARITY == 1])
    for line, offset in zip(left.lines[2:], (0, 1), strict=True):  # where each ReLU switches on
        for end in (line.get_xy1(), line.get_xy2()):
            assert sum(end) == pytest.approx(offset, abs=1e-12)
    (line,) = right.lines[2:]
    for end in (line.get_xy1(), line.get_xy2()):
        assert end[0] - 2 * end[1] == pytest.approx(0.5, abs=1e-12)
    for region in left.collections[1::2]:  # the boundary of the strip, drawn as a contour
        for path in region.get_paths():
            f = forward(XOR_LAYERS, [RELU, IDENTITY], path.vertices)[-1][:, 0]
            assert np.abs(f - 0.5).max() < 0.02


def test_one_sample_is_drawn_with_the_numbers_of_its_network():
    from figures.neural_networks import TINY, TINY_THETA, TINY_X, TINY_Y, one_sample

    axes = panels(one_sample, 2, 2)
    (W1, b1), (W2, b2) = unpack(TINY_THETA, TINY.sizes)
    _, h1, h2 = (H[0] for H in forward([(W1, b1), (W2, b2)], TINY.activations, TINY_X[None]))
    delta_2 = h2 - TINY_Y
    delta_1 = (W2.T @ delta_2) * (1 - h1**2)
    gradient = backpropagate(TINY, TINY_THETA, TINY_X[None], TINY_Y[None])[1]
    (dW1, _), (dW2, _) = unpack(gradient, TINY.sizes)
    expected = [
        [*W1.T.ravel(), *TINY_X, *h1, *b1],
        [*W2.ravel(), *h1, *h2, *b2],
        [*W2.ravel(), *delta_1, *delta_2],
        [*dW1.T.ravel(), *dW2.ravel()],
    ]
    for ax, values in zip(axes, expected, strict=True):
        numbers = [text.removeprefix("bias ") for text in texts(ax) if text]
        assert numbers == [f"{value:.2f}" for value in values]
