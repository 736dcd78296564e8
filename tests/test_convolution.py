"""The convolution chapter: every statement of the notes, checked by a second route."""

import re
from itertools import islice, product

import numpy as np
import pytest
from checks import check_gradient, differences, panels
from numpy.lib.stride_tricks import sliding_window_view

from mlnotes.convolution import (
    Conv,
    ConvNet,
    Dense,
    MaxPool,
    Relu,
    cnn_forward,
    compose,
    conv,
    conv_backward,
    convolve,
    correlate,
    correlate_backward,
    correlate_by_loops,
    correlation_matrix,
    dense,
    dense_backward,
    describe,
    initial_parameters,
    loss_and_gradient,
    max_pool,
    max_pool_backward,
    mean_pool,
    output_size,
    parameter_counts,
    propagate,
    receptive_field,
    typical_layers,
)
from mlnotes.datasets import load_digits
from mlnotes.logistic_regression import softmax
from mlnotes.neural_networks import pack, sgd, tree_map

PIECE = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4.0]])  # printed in the notes
quiet = pytest.mark.filterwarnings("ignore::mlnotes.base.ConvergenceWarning")
LENET = typical_layers(1, (6, 16), (120, 84), 10, size=5, padding=0)


def volume(rng, n=2, H=6, W=8, D=3):
    return rng.normal(size=(n, H, W, D))


def filters(rng, K=4, F=3, D=3):
    return rng.normal(size=(K, F, F, D)), rng.normal(size=K)


def settings(*sizes):
    """The F, S and P whose windows fit inputs of these sizes."""
    for F, S, P in product((1, 2, 3), (1, 2), (0, 1, 2)):
        if all((N + 2 * P - F) % S == 0 for N in sizes):
            yield F, {"stride": S, "padding": P}


def padded(V, P, value=0.0):
    return np.pad(V, ((0, 0), (P, P), (P, P), (0, 0)), constant_values=value)


def conv_by_loops(V, W, b, *, stride=1, padding=0):
    """The layer as the notes define it: each filter slides over each padded image."""
    maps = [
        [correlate_by_loops(v, w, stride=stride)[..., 0] for w in W] for v in padded(V, padding)
    ]
    return np.moveaxis(maps, 1, -1) + b


def close(actual, expected, tol=1e-10):
    """Equal, up to sums of some hundred products of numbers about 1."""
    np.testing.assert_allclose(actual, expected, rtol=tol, atol=tol)


# --- Sizes -----------------------------------------------------------------------------


@pytest.mark.claims("convolution-03")
def test_output_size_counts_the_places_where_a_window_fits(rng):
    for N, F, S, P in product(range(1, 21), range(1, 8), range(1, 5), range(4)):
        if (N + 2 * P - F) % S == 0 and N + 2 * P >= F:
            assert output_size(N, F, S, P) == len(range(0, N + 2 * P - F + 1, S))
        else:
            with pytest.raises(ValueError, match="windows must fit"):
                output_size(N, F, S, P)
    message = "(N - F + 2 P) / S + 1 = (7 - 3 + 2 * 0) / 3 + 1 = 7/3"
    with pytest.raises(ValueError, match=re.escape(message)):
        output_size(7, 3, 3)
    assert all(output_size(N, F, 1, (F - 1) // 2) == N for N in range(1, 9) for F in (1, 3, 5, 7))
    for F, how in settings(7, 9):
        shape = (output_size(7, F, **how), output_size(9, F, **how), 5)
        assert conv(volume(rng, 2, 7, 9), *filters(rng, 5, F), **how).shape == (2, *shape)
        assert Conv(5, F, **how).output_shape((7, 9, 3)) == shape
    with pytest.raises(ValueError, match="mismatch"):  # filters have the full depth
        conv(volume(rng), *filters(rng, D=2))


@pytest.mark.claims("convolution-06", "convolution-07")
def test_parameter_counts_are_what_the_arrays_hold(rng):
    for F, D, K in ((5, 3, 10), (5, 6, 10), (3, 1, 4), (1, 7, 2)):
        W, b = filters(rng, K, F, D)
        layer, sizes = Conv(K, F), (W.size, b.size)
        assert parameter_counts(F, D, K) == sizes
        assert layer.parameter_shapes((9, 9, D)) == (W.shape, b.shape)
        H2, W2, _ = layer.output_shape((9, 8, D))
        places = H2 * W2
        assert parameter_counts(F, D, K, places=places) == tuple(places * m for m in sizes)
    each = [sum(parameter_counts(5, *depths)) for depths in ((3, 1), (3, 6), (6, 10), (3, 10))]
    assert each == [76, 456, 1510, 760] and 760 == 76 * 10 != 76 * 10 + 1


# --- Correlation -----------------------------------------------------------------------


@pytest.mark.claims("convolution-01")
def test_correlation_matrix_is_banded_with_three_weights(rng):
    x, (a, b, c) = rng.normal(size=5), rng.normal(size=3)
    M = correlation_matrix(np.array([a, b, c]), (5,), stride=2)
    np.testing.assert_array_equal(M, [[a, b, c, 0, 0], [0, 0, a, b, c]])
    close(correlate(x, np.array([a, b, c]), stride=2), M @ x)
    close(dense(x.reshape(1, 1, 5, 1), M, np.zeros(2)).ravel(), M @ x)
    assert np.prod(Dense(2).parameter_shapes((1, 5, 1))[0]) == M.size == 10


@pytest.mark.parametrize("shape, size", [((9,), (3,)), ((7, 9), (3, 3)), ((5, 7, 3), (3, 5, 3))])
def test_correlate_agrees_with_loops_matrix_and_differences(rng, shape, size):
    x, k = rng.normal(size=shape), rng.normal(size=size)
    for S, P in product((1, 2), (0, 1, 2)):
        how = {"stride": S, "padding": P}
        expected = correlate_by_loops(x, k, **how)
        close(correlate(x, k, **how), expected)
        M = correlation_matrix(k, shape, **how)
        close((M @ x.ravel()).reshape(expected.shape), expected)
        flipped = correlate_by_loops(x, k[(slice(None, None, -1),) * k.ndim], **how)
        close(convolve(x, k, **how), flipped)
        G = rng.normal(size=expected.shape)
        dx, dk = correlate_backward(G, x, k, **how)
        check_gradient(lambda x: np.vdot(G, correlate(x, k, **how)), lambda _: dx, x)  # noqa: B023
        check_gradient(lambda k: np.vdot(G, correlate(x, k, **how)), lambda _: dk, k)  # noqa: B023


@pytest.mark.claims("convolution-02")
def test_correlate_is_local_shares_its_weights_and_carries_shifts_through(rng):
    x, k = rng.normal(size=12), rng.normal(size=4)
    J = differences(lambda x: correlate(x, k), x).T
    for i, row in enumerate(J):
        close(row[i : i + 4], k, 1e-8)  # the same in every row
        assert not np.delete(row, range(i, i + 4)).any()  # exactly 0 outside of the window
    shifted = np.roll(x, 1)
    close(correlate(shifted, k)[1:], correlate(x, k)[:-1])
    V, (W, b) = volume(rng), filters(rng)
    moved = conv(np.roll(V, (1, 2), axis=(1, 2)), W, b)
    close(moved[:, 1:, 2:], conv(V, W, b)[:, :-1, :-2])
    by_two = correlate(np.pad(shifted, (0, 1)), k[:3], stride=2)  # a shift by less than the stride
    assert np.abs(by_two[1:] - correlate(np.pad(x, (0, 1)), k[:3], stride=2)[:-1]).min() > 1e-3


@pytest.mark.claims("convolution-05")
def test_conv_correlates_and_valid_means_the_padded_input(rng):
    x, k = rng.normal(size=8), np.array([1.0, 2.0, 4.0])
    layer = conv(x.reshape(1, 1, 8, 1), k.reshape(1, 1, 3, 1), np.zeros(1)).ravel()
    close(layer, np.convolve(x, k[::-1], "valid"))
    close(convolve(x, k), np.convolve(x, k, "valid"))
    assert np.abs(layer - np.convolve(x, k, "valid")).max() > 0.1  # as the notes print it
    for P in (1, 2):
        assert len(correlate(x, k, padding=P)) == 8 - 3 + 2 * P + 1 > len(layer)


# --- Convolution layers ----------------------------------------------------------------


@pytest.mark.claims("convolution-04")
def test_conv_equals_its_loops_and_its_gradient_differences(rng):
    for F, how in settings(5, 7):
        V, (W, b) = volume(rng, 2, 5, 7, 2), filters(rng, 3, F, 2)
        Y = conv(V, W, b, **how)
        close(Y, conv_by_loops(V, W, b, **how))
        G = rng.normal(size=Y.shape)
        dV, dW, db = conv_backward(G, V, W, **how)
        check_gradient(lambda V: np.vdot(G, conv(V, W, b, **how)), lambda _: dV, V)  # noqa: B023
        check_gradient(lambda W: np.vdot(G, conv(V, W, b, **how)), lambda _: dW, W)  # noqa: B023
        close(db, G.sum(axis=(0, 1, 2)))
    V, (W, b) = volume(rng), (rng.normal(size=(2, 2, 5, 3)), np.zeros(2))  # windows of 2 x 5
    close(conv(V, W, b), conv_by_loops(V, W, b))


@pytest.mark.claims("convolution-04", "convolution-08")
def test_conv_is_a_sheet_of_neurons_that_see_chunks_of_75_numbers(rng):
    V, (W, b) = volume(rng, 1, 32, 32), filters(rng, 5, 5)
    Y, chunk = conv(V, W, b), V[0, 10:15, 4:9]
    assert Y.shape == (1, 28, 28, 5) and chunk.size == 75
    neurons = [w.ravel() @ chunk.ravel() + each for w, each in zip(W, b, strict=True)]
    close(Y[0, 10, 4], neurons)
    M = correlation_matrix(W[0], (32, 32, 3))
    assert M.shape == (784, 3072) and (np.count_nonzero(M, axis=1) == 75).all()
    close(M @ V.ravel() + b[0], Y[0, :, :, 0].ravel())
    np.testing.assert_array_equal(np.sort(M, axis=1), np.sort(M[:1], axis=1).repeat(784, axis=0))
    W[2] += 1  # a map depends on its own filter only
    changed = np.abs(conv(V, W, b) - Y).max(axis=(0, 1, 2)) > 0
    np.testing.assert_array_equal(changed, np.arange(5) == 2)


@pytest.mark.claims("convolution-09")
def test_compose_makes_one_layer_of_two_without_an_activation(rng):
    layers = (Conv(6, 5), Relu(), Conv(10, 5), Relu())
    assert propagate(layers, (32, 32, 3))[1::2] == [(28, 28, 6), (24, 24, 10)]
    V, (W, b), (W2, b2) = volume(rng, 2, 12, 11), filters(rng, 6, 5), filters(rng, 10, 5, 6)
    W12, b12 = compose(W, b, W2, b2)
    assert W12.shape == (10, 9, 9, 3)
    one = conv(V, W12, b12)
    close(conv(conv(V, W, b), W2, b2), one, 1e-9)
    bent = conv(np.maximum(conv(V, W, b), 0), W2, b2)
    assert np.abs(bent - one).max() > 1


# --- Pooling ---------------------------------------------------------------------------


@pytest.mark.claims("convolution-10")
@pytest.mark.parametrize("pool, f", [(max_pool, np.max), (mean_pool, np.mean)])
def test_pools_are_the_maxima_and_means_of_windows(rng, pool, f):
    printed = {max_pool: [[6, 8], [3, 4]], mean_pool: [[3.25, 5.25], [2, 2]]}
    np.testing.assert_array_equal(pool(PIECE.reshape(1, 4, 4, 1), 2)[0, :, :, 0], printed[pool])
    assert MaxPool(2).output_shape((224, 224, 64)) == (112, 112, 64)
    for F, S in product((1, 2, 3), (1, 2, 3)):
        V = volume(rng, 2, F + 2 * S, F + S)
        Y = pool(V, F, stride=S)
        assert Y.shape == (2, *MaxPool(F, S).output_shape(V.shape[1:])) == (2, 3, 2, 3)
        seen = sliding_window_view(V, (F, F), axis=(1, 2))[:, ::S, ::S]
        close(Y, f(seen, axis=(4, 5)))
    with pytest.raises(ValueError, match=re.escape("= (5 - 2 + 2 * 0) / 2 + 1 = 5/2")):
        pool(volume(rng, H=6, W=5), 2)


@pytest.mark.claims("convolution-12")
def test_max_pool_has_no_parameters_and_gives_all_to_the_first_maximum(rng):
    V = rng.permutation(2 * 7 * 7 * 3).reshape(2, 7, 7, 3).astype(float)  # no two alike
    for layer in (MaxPool(3, 2), MaxPool(7), MaxPool(1, 3), MaxPool(3, 4)):
        F, S = layer.size, layer.stride
        assert layer.parameter_shapes(V.shape[1:]) == ()
        G = 1 + rng.random(layer.forward(V).shape)
        (dV,) = layer.backward(G, V)  # a gradient in V, and none in parameters
        check_gradient(lambda V: np.vdot(G, layer.forward(V)), lambda _: dV, V)  # noqa: B023
        if S >= F:
            slopes = sliding_window_view(dV, (F, F), axis=(1, 2))[:, ::S, ::S]
            assert (np.count_nonzero(slopes, axis=(4, 5)) == 1).all()
    G = np.arange(1.0, 5.0).reshape(1, 2, 2, 1)
    dV = max_pool_backward(G, np.zeros((1, 4, 4, 1)), 2)
    np.testing.assert_array_equal(dV[:, ::2, ::2], G)
    assert dV.sum() == G.sum()


@pytest.mark.claims("convolution-12")
def test_zero_padding_of_a_pool_creates_false_maxima(rng):
    V, border = -1 - rng.random((1, 4, 4, 1)), np.pad(np.zeros((3, 3)), 1, constant_values=1) > 0
    zeros, none = (max_pool(padded(V, 1, value), 2, stride=1) for value in (0.0, -np.inf))
    assert (zeros[0, border] == 0).all() and (none < 0).all()
    for pooled in (zeros, none):
        np.testing.assert_array_equal(pooled[:, 1:-1, 1:-1], max_pool(V, 2, stride=1))


# --- Full connection -------------------------------------------------------------------


@pytest.mark.claims("convolution-13")
def test_dense_is_a_convolution_as_large_as_its_input(rng):
    V, A, b = volume(rng, 4, 5, 7), rng.normal(size=(6, 5 * 7 * 3)), rng.normal(size=6)
    Y, G = dense(V, A, b), rng.normal(size=(4, 1, 1, 6))
    close(Y, conv(V, A.reshape(6, 5, 7, 3), b))
    pairs = zip(dense_backward(G, V, A), conv_backward(G, V, A.reshape(6, 5, 7, 3)), strict=True)
    for slope, of_conv in pairs:
        close(slope, of_conv.reshape(slope.shape))
    assert Dense(6).output_shape(V.shape[1:]) == Y.shape[1:] == (1, 1, 6)
    shapes = Dense(10).parameter_shapes((32, 32, 3))
    assert sum(int(np.prod(shape)) for shape in shapes) == 30730 == (32 * 32 * 3 + 1) * 10
    for N in range(2, 33, 2):
        halved = Conv(4, 2, stride=2).output_shape((N, N, 4))
        assert halved == MaxPool(2).output_shape((N, N, 4)) == (N // 2, N // 2, 4)


# --- Networks --------------------------------------------------------------------------


@pytest.mark.claims("convolution-15")
def test_typical_layers_have_the_pattern_and_the_sizes_of_lenet(rng):
    for N, M, K in product((0, 1, 3), (0, 1, 2), (0, 1, 2)):
        block = [f for f in (4, 8)[:M] for f in (*N * (Conv(f, 3, padding=1), Relu()), MaxPool(2))]
        hidden = [f for m in (20, 30)[:K] for f in (Dense(m), Relu())]
        layers = typical_layers(N, (4, 8)[:M], (20, 30)[:K], 10)
        assert layers == (*block, *hidden, Dense(10))
        assert propagate(layers, (8, 8, 1))[-1] == (1, 1, 10)
    assert typical_layers(1, (4,), ())[:-1] == typical_layers(1, (4,), (), pool=None)
    for size, kept in ((1, 8), (2, 7), (3, 8), (4, 7), (5, 8)):
        layers = typical_layers(2, (4,), (), size=size, pool=None)
        assert propagate(layers[:2], (8, 8, 1))[-1] == (kept, kept, 4)
    params = initial_parameters(LENET, (32, 32, 1), rng=rng)
    assert [W.size + b.size for W, b in filter(None, params)] == [156, 2416, 48120, 10164, 850]
    assert describe(LENET, (32, 32, 1)).endswith("61,706")


@pytest.mark.claims("convolution-16")
def test_typical_layers_without_scores_do_not_end_in_classes(rng):
    V, C = rng.normal(size=(40, 8, 8, 1)), 10
    bent, scored = typical_layers(1, (4,), (C,)), typical_layers(1, (4,), (), C)
    assert bent[-1] == Relu()  # (FC-RELU) last, as printed
    *_, before, Y = cnn_forward(initial_parameters(bent, (8, 8, 1), rng=rng), bent, V)
    inactive = before[:, 0, 0] < 0
    assert (inactive.sum(axis=1) > 1).any()
    for p, off in zip(softmax(Y[:, 0, 0]), inactive, strict=True):
        assert len(np.unique(p[off])) <= 1
    Y = cnn_forward(initial_parameters(scored, (8, 8, 1), rng=rng), scored, V)[-1]
    assert all(len(np.unique(p)) == C for p in softmax(Y[:, 0, 0]))
    no_pool = typical_layers(2, (4,), (), C, pool=None)
    assert propagate(no_pool, (7, 9, 2))[-1] == (1, 1, C)  # no pool of 2 fits


@pytest.mark.claims("convolution-14")
@pytest.mark.parametrize(
    "layers, N, seen",
    [
        (3 * (Conv(2, 3),), 9, 7),
        ((Conv(2, 5), Relu(), MaxPool(2), Conv(2, 3)), 12, 10),
        ((Conv(2, 3, stride=2), Conv(2, 3, stride=2), MaxPool(3, stride=1)), 19, 15),
    ],
    ids=["stack", "pooled", "strided"],
)
def test_receptive_field_is_what_the_first_output_depends_on(rng, layers, N, seen):
    params, V = initial_parameters(layers, (N, N, 1), rng=rng), np.ones((3, N, N, 1))
    V[0, seen:] = V[1, :, seen:] = V[2, seen - 1, seen - 1] = np.nan
    first = cnn_forward(params, layers, V)[-1][:, 0, 0, 0]
    assert np.isnan(first).tolist() == [False, False, True]  # what it sees, it hands on
    assert receptive_field(layers) == seen
    assert [receptive_field(k * (Conv(8, 3),)) for k in range(1, 6)] == [3, 5, 7, 9, 11]
    small, large = (np.prod(Conv(8, F).parameter_shapes((9, 9, 8))[0]) for F in (3, 7))
    assert (3 * small, large) == (27 * 8**2, 49 * 8**2)


def test_initial_parameters_keep_the_scale_of_what_they_are_given(rng):
    layers = (Conv(32, 3), Relu(), Conv(32, 3), Relu(), Dense(400))
    params, V = initial_parameters(layers, (8, 8, 16), rng=rng), rng.normal(size=(50, 8, 8, 16))
    for (W, b), fan_in in zip(filter(None, params), (144, 288, 512), strict=True):
        assert not b.any()
        assert W.var() == pytest.approx(2 / fan_in, rel=0.05) and abs(W.mean()) < 0.01
    volumes = cnn_forward(params, layers, V)
    np.testing.assert_allclose([np.mean(Y**2) for Y in volumes[1::2]], 2, rtol=0.3)


EVERY_LAYER = (
    Conv(3, 3, padding=1), Relu(), MaxPool(2), Conv(4, 2, stride=2), Relu(),
    MaxPool(2, stride=1), Dense(5), Relu(), Dense(3),
)  # fmt: skip


def test_loss_and_gradient_is_that_of_the_layers_one_by_one_and_of_differences(rng):
    V, T = rng.normal(size=(6, 8, 12, 2)), np.eye(3)[rng.integers(3, size=6)]
    params = initial_parameters(EVERY_LAYER, V.shape[1:], rng=rng)
    params = tree_map(lambda w: w + 0.1 * rng.normal(size=w.shape), params)  # biases, too
    (W, b), _, _, (W2, b2), _, _, (A, c), _, (A2, c2) = params
    V1 = max_pool(np.maximum(conv(V, W, b, padding=1), 0), 2)
    V2 = max_pool(np.maximum(conv(V1, W2, b2, stride=2), 0), 2, stride=1)
    f = np.maximum(V2.reshape(6, -1) @ A.T + c, 0) @ A2.T + c2
    volumes = cnn_forward(params, EVERY_LAYER, V)
    assert [Y.shape[1:] for Y in volumes] == propagate(EVERY_LAYER, (8, 12, 2))
    close(volumes[-1][:, 0, 0], f)
    L, gradient = loss_and_gradient(params, EVERY_LAYER, V, T)
    assert L == pytest.approx(-np.mean(np.log(softmax(f)[T == 1])), rel=1e-12)
    assert Relu().backward(np.ones(3), np.array([-1.0, 0.0, 1.0]))[0].tolist() == [0, 0, 1]
    assert [len(slopes) for slopes in gradient] == [len(Wb) for Wb in params]

    def loss(theta):
        numbers = iter(theta)
        return loss_and_gradient(
            tree_map(lambda w: np.reshape(list(islice(numbers, w.size)), w.shape), params),
            EVERY_LAYER, V, T,
        )[0]  # fmt: skip

    check_gradient(loss, lambda _: pack(gradient), pack(params))
    for wrong in (T[:1], T[:, :2], T.argmax(axis=1)):  # would broadcast
        with pytest.raises(ValueError, match="cannot reshape"):
            loss_and_gradient(params, EVERY_LAYER, V, wrong)


# --- Estimators ------------------------------------------------------------------------

TWO_BLOCKS = typical_layers(1, (8, 16), (32,))


def digits():
    """Two digits of three to learn from, the others to test, pixels scaled to [0, 1]."""
    T = load_digits()
    test = np.random.default_rng(0).random(len(T)) < 1 / 3
    return T.X[~test] / 16, T.y[~test], T.X[test] / 16, T.y[test]


@quiet
def test_convnet_recognises_digits():
    X_train, y_train, X, y = digits()
    model = ConvNet(TWO_BLOCKS, max_iter=8, learning_rate_init=0.005, random_state=0)
    model.fit(X_train, y_train)
    assert model.score(X, y) > 0.94
    f = cnn_forward(model.params_, model.layers_, X.reshape(-1, 8, 8, 1))[-1][:, 0, 0]
    close(model.predict_proba(X), softmax(f))
    np.testing.assert_array_equal(model.predict(X), f.argmax(axis=1))
    many = np.tile(X, (3, 1))  # more than one block of rows
    close(model.predict_log_proba(many)[-len(X) :], np.log(softmax(f)))


@quiet
def test_convnet_fit_is_its_solver_on_the_cost_of_mini_batches():
    X, y = (each[:200] for each in digits()[:2])
    model = ConvNet(TWO_BLOCKS, solver="sgd", momentum=0.5, max_iter=2, random_state=3)
    model.fit(X, y)
    layers, rng = (*TWO_BLOCKS, Dense(10)), np.random.default_rng(3)
    start, V, T = initial_parameters(layers, (8, 8, 1), rng=rng), X.reshape(-1, 8, 8, 1), np.eye(10)

    def cost(params, rows):
        return loss_and_gradient(params, layers, V[rows], T[y][rows])

    how = {"batch_size": 32, "learning_rate": 0.001, "momentum": 0.5, "nesterov": True}
    *_, last = islice(sgd(cost, start, len(X), rng=rng, **how), 3)
    np.testing.assert_array_equal(pack(model.params_), pack(last.theta))
    assert model.history_[0] == pytest.approx(cost(start, slice(None))[0])


@quiet
@pytest.mark.parametrize(
    "image_shape, d, shape",
    [(None, 9, (3, 3, 1)), (None, 6, (1, 6, 1)), ((2, 3), 6, (2, 3, 1)), ([2, 1, 3], 6, (2, 1, 3))],
)
def test_convnet_reads_rows_as_images(rng, image_shape, d, shape):
    X, y = rng.normal(size=(10, d)), np.arange(10) % 2
    model = ConvNet(image_shape=image_shape, max_iter=1).fit(X, y)
    assert model.image_shape_ == shape
    f = cnn_forward(model.params_, model.layers_, X.reshape(10, *shape))[-1][:, 0, 0]
    np.testing.assert_array_equal(model.predict(X), f.argmax(axis=1))


@pytest.mark.parametrize(
    "how, message",
    [
        ({"image_shape": (-2, -3)}, "image_shape must be an integer >= 1; got -2"),
        ({"layers": (Conv(4, 1, padding=-1),)}, "padding must be an integer >= 0; got -1"),
        ({"layers": (MaxPool(1, stride=0),)}, "stride must be an integer >= 1; got 0"),
        ({"layers": (Dense(0),)}, "units must be an integer >= 1; got 0"),
    ],
)
def test_convnet_refuses_shapes_and_layers_of_invalid_numbers(how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ConvNet(**how).fit(np.ones((4, 6)), [0, 1, 0, 1])


# --- The lecture figures ---------------------------------------------------------------


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


def words_of(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def area(corners):
    x, y = np.transpose(corners)
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


@pytest.mark.claims("convolution-17")
def test_figure_sharing_has_the_edges_of_both_matrices():
    from figures.convolution import sharing

    axes = panels(sharing, columns=2)
    left, right = ([line for line in ax.lines if line.get_linestyle() != "None"] for ax in axes)
    titles = ["Fully connected: 10 weights", "Convolution: 6 edges, 3 weights"]
    assert [title_of(ax) for ax in axes] == titles and len(left) == 10
    drawn, height = {}, {n: list((n - 1) / 2 - np.arange(n)) for n in (2, 5)}
    for line in right:
        start, end = line.get_ydata()
        drawn[height[2].index(end), height[5].index(start)] = line
    M = correlation_matrix(np.array([1, 2, 3]), (5,), stride=2)
    assert set(drawn) == set(zip(*np.nonzero(M), strict=True)) and len(right) == 6
    assert len({(M[place], line.get_linestyle()) for place, line in drawn.items()}) == 3
    assert len({(place[0], line.get_color()) for place, line in drawn.items()}) == 2


@pytest.mark.claims("convolution-17")
def test_figure_strides_has_a_dot_at_every_start_and_an_unseen_rim():
    from figures.convolution import strides

    for S, ax in enumerate(panels(strides, columns=3), start=1):
        (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
        starts = len(range(0, 7 - 3 + 1, S))
        assert len(dots.get_xdata()) == starts**2
        rim = [area(patch.get_xy()) for patch in ax.patches if patch.get_label() == "unseen"]
        if S < 3:
            assert output_size(7, 3, S) == starts and not rim
            assert title_of(ax) == f"$S = {S}$: {starts} × {starts}"
        else:
            assert "?" in title_of(ax) and rim == [7**2 - 6**2]
        squares = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) == 5]
        assert [area(square) for square in squares] == [9, 9]
        assert sorted(square[:, 0].min() for square in squares) == [0, S]


@pytest.mark.claims("convolution-18")
def test_figure_layer_shows_the_chunk_of_six_neurons_at_one_place():
    from figures.convolution import PLACE, Box, layer

    (ax,) = panels(layer)
    assert {"32 × 32 × 3", "28 × 28 × 6"} <= set(words_of(ax))
    assert any("75 weights" in text for text in words_of(ax))
    (chunk,) = [patch.get_xy()[:-1] for patch in ax.patches if patch.get_label() == "chunk"]
    (neurons,) = [line for line in ax.lines if line.get_label() == "neurons"]
    (i, j), shapes = PLACE, propagate((Conv(6, 5),), (32, 32, 3))
    left, right = Box(0, 0, shapes[0], 5.5), Box(46, 0, shapes[1], 5.5)
    np.testing.assert_allclose(chunk, left.face((i, i + 5), (j, j + 5), 3))
    at = [right.at(i + 0.5, j + 0.5, d + 0.5) for d in range(6)]
    np.testing.assert_allclose(neurons.get_xydata(), at)


@pytest.mark.claims("convolution-18")
def test_figure_maps_shows_what_the_layer_makes_of_the_image():
    from figures.convolution import PLACE, coloured_digit, maps, six_filters

    axes = panels(maps, 2, 4)
    first, *shown = (ax for ax in axes if ax.images)
    (between,) = (ax for ax in axes if not ax.images)
    np.testing.assert_allclose(first.images[0].get_array(), coloured_digit())
    Y = conv(coloured_digit()[None], six_filters(), np.zeros(6))[0]
    assert len(shown) == Y.shape[2] == 6
    for d, ax in enumerate(shown):
        np.testing.assert_allclose(ax.images[0].get_array(), Y[:, :, d], rtol=1e-12, atol=1e-12)
        assert tuple(ax.lines[0].get_xydata()[0][::-1]) == PLACE
    square = first.lines[0].get_xydata()[:-1]
    np.testing.assert_array_equal(square.min(axis=0), np.array(PLACE)[::-1] - 0.5)
    np.testing.assert_array_equal(np.ptp(square, axis=0), [5, 5])
    assert title_of(first) == "32 × 32 × 3" and words_of(between) == ["28 × 28 × 6"]


@pytest.mark.claims("convolution-19")
def test_figure_architectures_names_every_volume_as_propagated():
    from figures.convolution import architectures, flattening

    above, below = panels(architectures, 2)
    sizes = [text for text in words_of(above) if text[0].isdigit()]
    assert sizes == ["32 × 32 × 3", "28 × 28 × 6", "24 × 24 × 10"]
    assert words_of(above).count("conv\n5 × 5\nReLU") == 2
    shapes = dict.fromkeys(propagate(LENET, (32, 32, 1)))
    named = [str(s[2]) if s[:2] == (1, 1) else " × ".join(map(str, s)) for s in shapes]
    assert [text for text in words_of(below) if text[0].isdigit()] == named
    assert named[4:] == ["5 × 5 × 16", "120", "84", "10"]
    (ax,) = panels(flattening)
    assert {"5 × 5 × 16", str(5 * 5 * 16), "120"} <= set(words_of(ax))
    assert "48,000 weights\n120 biases" in words_of(ax)


@pytest.mark.claims("convolution-20")
def test_figure_pooling_shows_the_numbers_and_sizes_of_max_pool():
    from figures.convolution import pooling, six_maps

    left, middle, right = panels(pooling, columns=3)
    V = six_maps()[None]
    for ax, drawn in ((left, V), (middle, max_pool(V, 2))):
        np.testing.assert_array_equal(ax.images[0].get_array(), drawn[0, :, :, 5])
        assert title_of(ax) == " × ".join(map(str, drawn.shape[1:]))
        assert ax.get_xlim() == (-0.5, 27.5)
    assert middle.images[0].get_array().shape == (14, 14)
    entries = [float(text) for text in words_of(right) if text.isdigit()]
    pooled = max_pool(PIECE.reshape(1, 4, 4, 1), 2)
    assert entries == [*PIECE.ravel(), *pooled.ravel()] and entries[-4:] == [6, 8, 3, 4]
    fills = [patch.get_facecolor() for patch in right.patches if patch.get_fill()]
    blocks = np.array(fills[:16]).reshape(2, 2, 2, 2, 4).swapaxes(1, 2)
    assert (blocks == blocks[:, :, :1, :1]).all() and len({tuple(f) for f in fills[:16]}) == 4
    np.testing.assert_array_equal(blocks[:, :, 0, 0].reshape(4, 4), fills[16:20])
