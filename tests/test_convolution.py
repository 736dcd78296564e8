"""The convolution chapter: every statement of the notes, checked by a second route."""

import os
import re
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from checks import check_gradient, differences
from matplotlib.figure import Figure
from numpy.lib.stride_tricks import sliding_window_view

from mlnotes import convolution, neural_networks
from mlnotes.convolution import (
    Conv,
    ConvNet,
    Dense,
    Layer,
    MaxPool,
    MeanPool,
    Relu,
    compose,
    conv,
    conv_backward,
    convolve,
    correlate,
    correlate_backward,
    correlate_by_loops,
    correlation_matrix,
    counts,
    dense,
    dense_backward,
    describe,
    forward,
    initial_parameters,
    loss_and_gradient,
    max_pool,
    max_pool_backward,
    mean_pool,
    mean_pool_backward,
    output_size,
    propagate,
    receptive_field,
    typical_layers,
    unpack,
    windows,
)
from mlnotes.datasets import load_digits, load_mnist
from mlnotes.logistic_regression import softmax
from mlnotes.neural_networks import adam

PIECE = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4.0]])  # printed in the notes
LENET = typical_layers(1, (6, 16), (120, 84), 10, size=5, padding=0)
SETTINGS = list(product((1, 2, 3), (1, 2), (0, 1, 2)))  # window, stride, padding


def volume(rng, n=2, H=6, W=8, D=3):
    return rng.normal(size=(n, H, W, D))


def filters(rng, K=4, F=3, D=3):
    return rng.normal(size=(K, F, F, D)), rng.normal(size=K)


def padded(V, P, value=0.0):
    return np.pad(V, ((0, 0), (P, P), (P, P), (0, 0)), constant_values=value)


def fits(N, F, S, P):
    return (N + 2 * P - F) % S == 0 and N + 2 * P >= F


def conv_by_loops(V, W, b, S=1, P=0):
    """The layer as the notes define it: a dot product for every number of the output."""
    V, (K, F, E, _) = padded(V, P), W.shape
    rows, columns = (
        range(0, N - size + 1, S) for N, size in zip(V.shape[1:3], (F, E), strict=True)
    )
    return np.array([
        [[[np.sum(v[i : i + F, j : j + E] * W[d]) + b[d] for d in range(K)] for j in columns]
         for i in rows]
        for v in V
    ])  # fmt: skip


def conv_by_fourier(V, W, b, P=0):
    """Products of transforms, the kernel flipped: correlation at stride 1."""
    V, (K, F, E, D) = padded(V, P), W.shape
    sides = [V.shape[1] + F - 1, V.shape[2] + E - 1]
    out = np.zeros((len(V), V.shape[1] - F + 1, V.shape[2] - E + 1, K))
    for s, d in np.ndindex(len(V), K):
        for c in range(D):
            product = np.fft.rfft2(V[s, :, :, c], sides) * np.fft.rfft2(W[d, ::-1, ::-1, c], sides)
            full = np.fft.irfft2(product, sides)
            out[s, :, :, d] += full[F - 1 : V.shape[1], E - 1 : V.shape[2]]
    return out + b


# ---------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("convolution-03")
def test_output_sizes_count_the_places_where_a_window_fits(rng):
    for N, F, S, P in product(range(1, 21), range(1, 8), range(1, 5), range(4)):
        if fits(N, F, S, P):
            assert output_size(N, F, S, P) == len(range(0, N + 2 * P - F + 1, S))
        else:
            with pytest.raises(ValueError, match="windows must fit"):
                output_size(N, F, S, P)
    assert [output_size(7, 3, S) for S in (1, 2)] == [5, 3]
    message = "(N - F + 2 P) / S + 1 = (7 - 3 + 2 * 0) / 3 + 1 = 7/3"
    with pytest.raises(ValueError, match=re.escape(message)):
        output_size(7, 3, 3)
    assert all(output_size(N, F, 1, (F - 1) // 2) == N for N in range(1, 9) for F in (1, 3, 5, 7))
    assert Conv(10, 5, padding=2).output_shape((32, 32, 3)) == (32, 32, 10)
    W, b = filters(rng, K=10, F=5)
    assert conv(volume(rng, 1, 32, 32), W, b, padding=2).shape == (1, 32, 32, 10)
    for F, S, P in SETTINGS:
        shape = (output_size(7, F, S, P), output_size(9, F, S, P)) if fits(7, F, S, P) else None
        if shape:
            Y = conv(volume(rng, 2, 7, 9), *filters(rng, 5, F), stride=S, padding=P)
            assert Y.shape == (2, *shape, 5)
            assert Conv(5, F, stride=S, padding=P).output_shape((7, 9, 3)) == (*shape, 5)


@pytest.mark.claims("convolution-03")
def test_filters_have_the_full_depth_of_their_input(rng):
    message = "filters must have the depth of the volume, D = 3; got 2"
    with pytest.raises(ValueError, match=re.escape(message)):
        conv(volume(rng), *filters(rng, D=2))
    with pytest.raises(ValueError, match="windows must fit"):
        conv(volume(rng), *filters(rng, F=7))


@pytest.mark.parametrize("wrong", [np.zeros(1), np.zeros((4, 1)), 0.0], ids=np.shape)
def test_biases_that_would_only_broadcast_are_refused(rng, wrong):
    V, (W, _) = volume(rng), filters(rng)
    message = f"b must have shape (4,), a number per filter; got {np.shape(wrong)}"
    with pytest.raises(ValueError, match=re.escape(message)):
        conv(V, W, wrong)
    message = f"b must have shape (4,), a number per output; got {np.shape(wrong)}"
    with pytest.raises(ValueError, match=re.escape(message)):
        dense(V, np.ones((4, V[0].size)), wrong)
    with pytest.raises(ValueError, match=re.escape("got shapes (6, 8, 3) and (4, 3, 3, 3)")):
        conv(V[0], W, np.zeros(4))
    with pytest.raises(ValueError, match=re.escape("got shapes (2, 6, 8, 3) and (3, 3, 3)")):
        conv(V, W[0], np.zeros(4))


@pytest.mark.parametrize(
    "sizes, message",
    [
        ((7.5, 3), "length of the input must be an integer >= 1; got 7.5"),
        ((-1, 1, 1, 3), "length of the input must be an integer >= 1; got -1"),
        ((7, 0), "size of a window must be an integer >= 1; got 0"),
        ((7, 3, 0), "stride must be an integer >= 1; got 0"),
        ((7, 3, 1.0), "stride must be an integer >= 1; got 1.0"),
        ((7, 3, 1, -1), "padding must be an integer >= 0; got -1"),
        ((2, 3), "(2 - 3 + 2 * 0) / 1 + 1 = 0"),
    ],
)
def test_invalid_sizes_are_refused(sizes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        output_size(*sizes)


@pytest.mark.claims("convolution-06")
def test_parameters_are_counted_as_the_arrays_hold_them(rng):
    for F, D, K in ((5, 3, 10), (5, 6, 10), (3, 1, 4), (1, 7, 2)):
        W, b = filters(rng, K, F, D)
        assert counts(F, D, K) == (W.size, b.size)
        layer = Conv(K, F)
        assert layer.parameter_shapes((9, 9, D)) == (W.shape, b.shape)
        H2, W2, _ = layer.output_shape((9, 8, D))
        assert counts(F, D, K, places=H2 * W2) == (H2 * W2 * W.size, H2 * W2 * b.size)
    assert sum(counts(5, 3, 1)) == 76
    assert [sum(counts(5, *depths)) for depths in ((3, 6), (6, 10))] == [456, 1510]


@pytest.mark.claims("convolution-07")
def test_ten_filters_of_76_have_760_parameters_and_not_761(rng):
    W, b = (np.zeros(shape) for shape in Conv(10, 5, padding=2).parameter_shapes((32, 32, 3)))
    assert W.size + b.size == sum(counts(5, 3, 10)) == 76 * 10 == 760
    assert b.size == 10 and W.size == 750
    assert W.size + b.size != 76 * 10 + 1


@pytest.mark.claims("convolution-14")
def test_three_small_layers_see_what_a_large_one_sees_with_fewer_weights():
    stacks = {
        (Conv(2, 3), Conv(2, 3), Conv(2, 3)): (9, 7),
        (Conv(2, 7),): (9, 7),
        (Conv(2, 5), Relu(), MeanPool(2), Conv(2, 3)): (12, 10),
        (Conv(2, 3, stride=2), Conv(2, 3, stride=2), MeanPool(3, stride=1)): (19, 15),
    }
    for layers, (N, seen) in stacks.items():
        slope = slope_of_first_output(layers, np.ones((1, N, N, 1)))[0, :, :, 0]
        np.testing.assert_array_equal(slope != 0, np.add.outer(*2 * [np.arange(N) >= seen]) == 0)
        windowed = [layer for layer in layers if layer != Relu()]
        jumps = np.cumprod([1, *(layer.step for layer in windowed)])
        assert receptive_field(layers) == seen
        assert seen == 1 + sum((f.size - 1) * s for f, s in zip(windowed, jumps, strict=False))
    assert [receptive_field(k * (Conv(8, 3),)) for k in range(1, 6)] == [3, 5, 7, 9, 11]
    assert receptive_field((Conv(2, 5), MaxPool(2), Conv(2, 3))) == 10
    C = 8
    weights = [np.zeros(Conv(C, F).parameter_shapes((9, 9, C))[0]).size for F in (3, 7)]
    assert (3 * weights[0], weights[1]) == (27 * C**2, 49 * C**2)


def slope_of_first_output(layers, V):
    """The gradient of the first output number; all weights are 1, so that nothing cancels."""
    steps, shapes = [], propagate(layers, V.shape[1:])
    for layer, before in zip(layers, shapes, strict=False):
        own = [np.ones(shape) for shape in layer.parameter_shapes(before)]
        steps.append((layer, V, own))
        V = layer.forward(V, *own)
    G = np.zeros_like(V)
    G[0, 0, 0, 0] = 1
    for layer, V, own in reversed(steps):
        G, *_ = layer.backward(G, V, *own)
    return G


# ---------------------------------------------------------------------------------------
# Correlation
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("convolution-01")
def test_a_layer_of_one_dimension_is_a_banded_matrix_of_three_weights(rng):
    x, (a, b, c) = rng.normal(size=5), rng.normal(size=3)
    M = correlation_matrix(np.array([a, b, c]), (5,), stride=2)
    np.testing.assert_array_equal(M, [[a, b, c, 0, 0], [0, 0, a, b, c]])
    np.testing.assert_allclose(
        correlate(x, np.array([a, b, c]), stride=2), M @ x, rtol=0, atol=1e-12
    )
    as_dense = dense(x.reshape(1, 1, 5, 1), M, np.zeros(2))
    np.testing.assert_allclose(as_dense.ravel(), M @ x, rtol=1e-12, atol=1e-12)
    full, shared = Dense(2).parameter_shapes((1, 5, 1))[0], np.unique(M[M != 0])
    assert np.prod(full) == M.size == 10
    assert len(shared) == 3 and np.count_nonzero(M) == 6 and len(M) == output_size(5, 3, 2) == 2


@pytest.mark.parametrize("shape, size", [((9,), (3,)), ((7, 9), (3, 3)), ((5, 7, 3), (3, 5, 3))])
def test_loops_windows_and_the_matrix_agree(rng, shape, size):
    x, k = rng.normal(size=shape), rng.normal(size=size)
    for S, P in product((1, 2), (0, 1, 2)):
        M = correlation_matrix(k, shape, stride=S, padding=P)
        expected = correlate_by_loops(x, k, stride=S, padding=P)
        np.testing.assert_allclose(
            correlate(x, k, stride=S, padding=P), expected, rtol=1e-12, atol=1e-12
        )
        np.testing.assert_allclose(
            (M @ x.ravel()).reshape(expected.shape), expected, rtol=1e-12, atol=1e-12
        )
        flipped = correlate_by_loops(x, k[(slice(None, None, -1),) * k.ndim], stride=S, padding=P)
        np.testing.assert_allclose(
            convolve(x, k, stride=S, padding=P), flipped, rtol=1e-12, atol=1e-12
        )


def test_loops_of_two_indices_are_the_sum_of_the_notes(rng):
    x, k = rng.normal(size=(4, 6)), rng.normal(size=(2, 3))
    for i, j in np.ndindex(3, 4):
        by_hand = sum(k[p, q] * x[i + p, j + q] for p in range(2) for q in range(3))
        assert correlate_by_loops(x, k)[i, j] == pytest.approx(by_hand)
    np.testing.assert_array_equal(windows(x, (2, 3))[1, 2], x[1:3, 2:5])


def test_strides_and_paddings_may_differ_from_axis_to_axis(rng):
    x, k = rng.normal(size=(5, 6)), rng.normal(size=(3, 2))
    found = correlate(x, k, stride=(2, 1), padding=(0, 1))
    every = correlate(np.pad(x, ((0, 0), (1, 1))), k)
    np.testing.assert_allclose(found, every[::2], rtol=1e-12, atol=1e-12)


def test_kernels_of_other_axes_are_refused(rng):
    x, k = np.ones((4, 4)), np.ones(2)
    with pytest.raises(ValueError, match="windows must have the 2 axes of x; got 1"):
        correlate(x, k)
    with pytest.raises(ValueError, match="k must have the 2 axes of x; got 1"):
        correlate_by_loops(x, k)
    message = "G must have the output's shape (3,); got "
    for G in (np.ones(2), np.ones((3, 1)), np.array(1.0)):
        with pytest.raises(ValueError, match=re.escape(message + str(G.shape))):
            correlate_backward(G, x[0], k)
    with pytest.raises(ValueError, match=re.escape("padding must be an integer >= 0; got (0, 1)")):
        correlate_by_loops(x, x, padding=(0, 1))  # np.pad would read it as (before, after)


def test_pixels_of_eight_bits_do_not_overflow():
    """Integers keep the fractions that a kernel gives them, too."""
    x, k = np.array([200, 100, 50], dtype=np.uint8), np.array([2, 3], dtype=np.uint8)
    for found in (correlate(x, k), correlate_by_loops(x, k)):
        np.testing.assert_array_equal(found, [700, 350])
    np.testing.assert_array_equal(convolve(x, k), [800, 400])
    np.testing.assert_array_equal(correlate(x > 60, k > 0), [2, 1])
    dx, dk = correlate_backward(k, x, k)
    np.testing.assert_array_equal(dx, [4, 12, 9])
    np.testing.assert_array_equal(dk, [700, 350])
    dx, dk = correlate_backward(np.array([1, 10]), np.array([1, 2, 3]), np.array([0.5, 0.7]))
    np.testing.assert_allclose(dx, [0.5, 5.7, 7.0])
    np.testing.assert_allclose(dk, [21, 32])
    V = np.full((1, 2, 2, 1), 200, dtype=np.uint8)
    assert mean_pool(V, 2).item() == 200 == max_pool(V, 2).item()
    assert mean_pool(V > 0, 2).item() == 1
    assert mean_pool(V.astype(np.float32) + 1e-3, 2).dtype == np.float64
    assert conv(V, V, np.zeros(1)).item() == 4 * 200**2


@pytest.mark.claims("convolution-02")
def test_connections_are_local_weights_shared_and_shifts_carried_through(rng):
    x, k = rng.normal(size=12), rng.normal(size=4)
    J = differences(lambda x: correlate(x, k), x).T
    for i, row in enumerate(J):
        np.testing.assert_allclose(row[i : i + 4], k, rtol=1e-8, atol=1e-8)  # the same in every row
        assert not np.delete(row, range(i, i + 4)).any()  # exactly 0 outside of the window
    other = x + np.where((np.arange(12) >= 3) & (np.arange(12) < 7), 0.0, rng.normal(size=12))
    assert correlate(other, k)[3] == correlate(x, k)[3]
    assert correlate(other, k)[2] != correlate(x, k)[2]
    shifted = np.roll(x, 1)
    np.testing.assert_allclose(
        correlate(shifted, k)[1:], correlate(x, k)[:-1], rtol=1e-12, atol=1e-12
    )
    V, (W, b) = volume(rng), filters(rng)
    moved = conv(np.roll(V, (1, 2), axis=(1, 2)), W, b)
    np.testing.assert_allclose(moved[:, 1:, 2:], conv(V, W, b)[:, :-1, :-2], rtol=1e-12, atol=1e-12)
    by_two = correlate(np.pad(shifted, (0, 1)), k[:3], stride=2)  # a shift by less than the stride
    assert np.abs(by_two[1:] - correlate(np.pad(x, (0, 1)), k[:3], stride=2)[:-1]).min() > 1e-3


@pytest.mark.claims("convolution-05")
def test_a_layer_correlates_and_valid_means_the_padded_input(rng):
    x, k, zero = rng.normal(size=8), np.array([1.0, 2.0, 4.0]), np.zeros(1)
    layer = conv(x.reshape(1, 1, 8, 1), k.reshape(1, 1, 3, 1), zero).ravel()
    np.testing.assert_allclose(layer, np.correlate(x, k, "valid"), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(layer, np.convolve(x, k[::-1], "valid"), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(correlate(x, k), layer, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(convolve(x, k), np.convolve(x, k, "valid"), rtol=1e-12, atol=1e-12)
    assert np.abs(layer - np.convolve(x, k, "valid")).max() > 0.1  # as the notes print it
    for P in (1, 2):
        assert len(correlate(x, k, padding=P)) == output_size(8, 3, padding=P) == 8 - 3 + 2 * P + 1
        assert len(np.convolve(x, k, "valid")) == 8 - 3 + 1 != output_size(8, 3, padding=P)


@pytest.mark.parametrize("shape, size", [((9,), (3,)), ((5, 7), (3, 3))])
def test_backward_correlation_is_the_transposed_matrix_and_the_true_gradient(rng, shape, size):
    x, k = rng.normal(size=shape), rng.normal(size=size)
    for S, P in product((1, 2), (0, 1)):
        how = {"stride": S, "padding": P}
        G = rng.normal(size=correlate(x, k, **how).shape)
        dx, dk = correlate_backward(G, x, k, **how)
        M = correlation_matrix(k, shape, **how)
        np.testing.assert_allclose(dx.ravel(), M.T @ G.ravel(), rtol=1e-12, atol=1e-12)
        check_gradient(lambda x: np.vdot(G, correlate(x, k, **how)), lambda _: dx, x)  # noqa: B023
        check_gradient(lambda k: np.vdot(G, correlate(x, k, **how)), lambda _: dk, k)  # noqa: B023
    if len(shape) == 1:
        G = rng.normal(size=7)
        np.testing.assert_allclose(
            correlate_backward(G, x, k)[0], np.convolve(G, k), rtol=1e-12, atol=1e-12
        )


# ---------------------------------------------------------------------------------------
# Convolution layers
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("convolution-04")
def test_the_layer_equals_its_loops_and_the_product_of_transforms(rng):
    for F, S, P in SETTINGS:
        if fits(6, F, S, P):
            V, (W, b) = volume(rng), filters(rng, F=F)
            found = conv(V, W, b, stride=S, padding=P)
            np.testing.assert_allclose(found, conv_by_loops(V, W, b, S, P), rtol=1e-10, atol=1e-10)
            if S == 1:
                np.testing.assert_allclose(
                    found, conv_by_fourier(V, W, b, P), rtol=1e-10, atol=1e-10
                )
    V, (W, b) = volume(rng), (rng.normal(size=(2, 2, 5, 3)), np.zeros(2))  # windows of 2 x 5
    np.testing.assert_allclose(conv(V, W, b), conv_by_loops(V, W, b), rtol=1e-10, atol=1e-10)
    column_major = np.asfortranarray(V)
    np.testing.assert_array_equal(conv(column_major, W, b), conv(V, W, b))


@pytest.mark.claims("convolution-04")
def test_a_map_depends_on_its_own_filter_only(rng):
    V, (W, b), order = volume(rng, 1, 32, 32), filters(rng, 6, 5), rng.permutation(6)
    Y = conv(V, W, b)
    assert Y.shape == (1, 28, 28, 6)
    np.testing.assert_allclose(conv(V, W[order], b[order]), Y[..., order], rtol=1e-12, atol=1e-12)
    W[2] += 1
    changed = np.abs(conv(V, W, b) - Y).max(axis=(0, 1, 2)) > 0
    np.testing.assert_array_equal(changed, np.arange(6) == 2)
    summed = sum(correlate(V[0, :, :, c], W[2, :, :, c]) for c in range(3)) + b[2]
    np.testing.assert_allclose(conv(V, W, b)[0, :, :, 2], summed, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("convolution-04")
@pytest.mark.parametrize("F, S, P", [s for s in SETTINGS if fits(5, *s) and fits(7, *s)])
def test_gradients_of_the_layer_are_those_of_differences(rng, F, S, P):
    V, (W, b), how = volume(rng, 2, 5, 7), filters(rng, 4, F), {"stride": S, "padding": P}
    G = rng.normal(size=conv(V, W, b, **how).shape)
    dV, dW, db = conv_backward(G, V, W, **how)
    check_gradient(lambda V: np.vdot(G, conv(V, W, b, **how)), lambda _: dV, V)
    check_gradient(lambda W: np.vdot(G, conv(V, W, b, **how)), lambda _: dW, W)
    check_gradient(lambda b: np.vdot(G, conv(V, W, b, **how)), lambda _: db, b)


@pytest.mark.claims("convolution-08")
def test_an_output_is_a_neuron_that_sees_a_chunk_of_75_numbers(rng):
    V, (W, b) = volume(rng, 1, 32, 32), filters(rng, 5, 5)
    Y = conv(V, W, b)
    assert Y.shape == (1, 28, 28, 5)
    chunk = V[0, 10:15, 4:9]
    assert chunk.size == 75
    np.testing.assert_allclose(
        Y[0, 10, 4], [w.ravel() @ chunk.ravel() + each for w, each in zip(W, b, strict=True)],
        rtol=0, atol=1e-12,
    )  # fmt: skip
    M = correlation_matrix(W[0], (32, 32, 3))
    assert M.shape == (784, 3072)
    np.testing.assert_allclose(M @ V.ravel() + b[0], Y[0, :, :, 0].ravel(), rtol=1e-10, atol=1e-10)
    assert (np.count_nonzero(M, axis=1) == 75).all()
    np.testing.assert_array_equal(np.sort(M, axis=1), np.sort(M[:1], axis=1).repeat(784, axis=0))


@pytest.mark.claims("convolution-08")
def test_five_neurons_look_at_the_same_region_with_different_weights(rng):
    V, (W, b) = volume(rng, 1, 32, 32), filters(rng, 5, 5)
    inside = np.zeros((32, 32, 3), dtype=bool)
    inside[10:15, 4:9] = True
    slopes = []
    for d in range(5):
        G = np.zeros((1, 28, 28, 5))
        G[0, 10, 4, d] = 1
        slopes.append(conv_backward(G, V, W)[0][0])
        np.testing.assert_array_equal(slopes[-1] != 0, inside)
        np.testing.assert_array_equal(slopes[-1][10:15, 4:9], W[d])
    assert len(np.unique(conv(V, W, b)[0, 10, 4])) == 5


@pytest.mark.claims("convolution-09")
def test_two_layers_are_one_unless_an_activation_is_between_them(rng):
    layers = (Conv(6, 5), Relu(), Conv(10, 5), Relu())
    assert propagate(layers, (32, 32, 3))[1::2] == [(28, 28, 6), (24, 24, 10)]
    V, (W, b), (W2, b2) = volume(rng, 2, 12, 11), filters(rng, 6, 5), filters(rng, 10, 5, 6)
    W12, b12 = compose(W, b, W2, b2)
    assert W12.shape == (10, 9, 9, 3)
    one = conv(V, W12, b12)
    np.testing.assert_allclose(conv(conv(V, W, b), W2, b2), one, rtol=1e-10, atol=1e-10)
    bent = conv(np.maximum(conv(V, W, b), 0), W2, b2)
    assert np.abs(bent - one).max() > 1
    by_hand = sum(full_convolution(W2[7, :, :, m], W[m, :, :, 1]) for m in range(6))
    np.testing.assert_allclose(W12[7, :, :, 1], by_hand, rtol=1e-12, atol=1e-12)


def full_convolution(k, k2):
    """The product of every pair of entries, added at the sum of their places."""
    out = np.zeros(np.add(k.shape, k2.shape) - 1)
    for (i, j), (p, q) in product(np.ndindex(k.shape), np.ndindex(k2.shape)):
        out[i + p, j + q] += k[i, j] * k2[p, q]
    return out


# ---------------------------------------------------------------------------------------
# Pooling
# ---------------------------------------------------------------------------------------


def pool_by_loops(V, F, S, f):
    """f of every window of every map."""
    seen = sliding_window_view(V, (F, F), axis=(1, 2))[:, ::S, ::S]
    out = np.zeros(seen.shape[:4])
    for place in np.ndindex(out.shape):
        out[place] = f(seen[place])
    return out


@pytest.mark.claims("convolution-10")
def test_pools_are_the_maxima_and_means_of_windows(rng):
    V = PIECE.reshape(1, 4, 4, 1)
    np.testing.assert_array_equal(max_pool(V, 2)[0, :, :, 0], [[6, 8], [3, 4]])
    np.testing.assert_array_equal(mean_pool(V, 2)[0, :, :, 0], [[3.25, 5.25], [2, 2]])
    assert max_pool(np.zeros((1, 224, 224, 64)), 2).shape == (1, 112, 112, 64)
    for F, S in product((1, 2, 3), (1, 2, 3)):
        V = volume(rng, 2, F + 2 * S, F + S)
        for pool, f, layer in ((max_pool, np.max, MaxPool), (mean_pool, np.mean, MeanPool)):
            found = pool(V, F, stride=S)
            assert found.shape == (2, *layer(F, S).output_shape(V.shape[1:])) == (2, 3, 2, 3)
            np.testing.assert_allclose(found, pool_by_loops(V, F, S, f), rtol=1e-12, atol=1e-12)
            order = rng.permutation(3)
            again = pool(V[..., order], F, stride=S)
            np.testing.assert_allclose(again, found[..., order], rtol=1e-13, atol=1e-15)
    V = volume(rng, 3, 6, 8)
    blocks = V.reshape(3, 3, 2, 4, 2, 3)
    np.testing.assert_array_equal(max_pool(V, 2), blocks.max(axis=(2, 4)))
    np.testing.assert_allclose(mean_pool(V, 2), blocks.mean(axis=(2, 4)), rtol=1e-12, atol=1e-12)
    for pool in (max_pool, mean_pool):
        with pytest.raises(ValueError, match=re.escape("= (5 - 2 + 2 * 0) / 2 + 1 = 5/2")):
            pool(volume(rng, H=6, W=5), 2)


@pytest.mark.claims("convolution-12")
def test_pools_have_no_parameters_and_the_maximum_alone_has_a_slope(rng):
    V = rng.permutation(2 * 7 * 7 * 3).reshape(2, 7, 7, 3).astype(float)  # no two alike
    for F, S in ((3, 2), (7, 1), (1, 3), (3, 4)):
        layer = MaxPool(F, S)
        assert layer.parameter_shapes(V.shape[1:]) == ()
        G = 1 + rng.random(layer.forward(V).shape)
        dV = max_pool_backward(G, V, F, stride=S)
        check_gradient(lambda V: np.vdot(G, max_pool(V, F, stride=S)), lambda _: dV, V)  # noqa: B023
        (found,) = layer.backward(G, V)  # a gradient in V, and none in parameters
        np.testing.assert_array_equal(found, dV)
        if S >= F:
            slopes = sliding_window_view(dV, (F, F), axis=(1, 2))[:, ::S, ::S]
            assert (np.count_nonzero(slopes, axis=(4, 5)) == 1).all()
            np.testing.assert_array_equal(slopes.sum(axis=(4, 5)), G)


@pytest.mark.claims("convolution-12")
def test_zero_padding_of_a_pool_creates_false_maxima(rng):
    V = -1 - rng.random((1, 4, 4, 1))
    inner = max_pool(V, 2, stride=1)
    zeros, none = (max_pool(padded(V, 1, value), 2, stride=1) for value in (0.0, -np.inf))
    border = np.ones((1, 5, 5, 1), dtype=bool)
    border[:, 1:-1, 1:-1] = False
    assert (zeros[border] == 0).all() and (V < 0).all()
    np.testing.assert_array_equal(none[0, 0, 1:-1, 0], np.maximum(V[0, 0, 1:], V[0, 0, :-1])[:, 0])
    assert none[0, 0, 0, 0] == V[0, 0, 0, 0] and (none < 0).all()
    for found in (zeros, none):
        np.testing.assert_array_equal(found[:, 1:-1, 1:-1], inner)


def test_the_first_of_equal_maxima_gets_all_of_the_gradient():
    V, G = np.zeros((1, 4, 4, 1)), np.arange(1.0, 5.0).reshape(1, 2, 2, 1)
    dV = max_pool_backward(G, V, 2)
    np.testing.assert_array_equal(dV[:, ::2, ::2], G)
    assert dV.sum() == G.sum()


def test_mean_pooling_shares_its_gradient(rng):
    V = volume(rng, 2, 5, 7)
    for F, S in ((3, 2), (1, 1), (5, 2), (3, 1)):
        G = rng.normal(size=mean_pool(V, F, stride=S).shape)
        dV = mean_pool_backward(G, V, F, stride=S)
        check_gradient(lambda V: np.vdot(G, mean_pool(V, F, stride=S)), lambda _: dV, V)  # noqa: B023
        layer = MeanPool(F, S)
        (found,) = layer.backward(G, V)
        np.testing.assert_array_equal(found, dV)


# ---------------------------------------------------------------------------------------
# Full connection
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("convolution-13")
def test_a_dense_layer_is_a_convolution_as_large_as_its_input(rng):
    V, A, b = volume(rng, 4, 5, 7), rng.normal(size=(6, 5 * 7 * 3)), rng.normal(size=6)
    Y = dense(V, A, b)
    np.testing.assert_allclose(Y, conv(V, A.reshape(6, 5, 7, 3), b), rtol=0, atol=1e-12)
    np.testing.assert_allclose(Y[1, 0, 0], A @ V[1].ravel() + b, rtol=1e-12, atol=1e-12)
    assert Dense(6).output_shape(V.shape[1:]) == Y.shape[1:] == (1, 1, 6)
    shapes = Dense(10).parameter_shapes((32, 32, 3))
    assert sum(int(np.prod(shape)) for shape in shapes) == 30730 == (32 * 32 * 3 + 1) * 10
    for N in range(2, 33, 2):
        halved = Conv(4, 2, stride=2).output_shape((N, N, 4))
        assert halved == MaxPool(2).output_shape((N, N, 4)) == (N // 2, N // 2, 4)


def test_gradients_of_a_dense_layer_are_those_of_differences(rng):
    V, A, b = volume(rng, 3, 2, 3, 2), rng.normal(size=(4, 12)), rng.normal(size=4)
    G = rng.normal(size=(3, 1, 1, 4))
    dV, dA, db = dense_backward(G, V, A)
    check_gradient(lambda V: np.vdot(G, dense(V, A, b)), lambda _: dV, V)
    check_gradient(lambda A: np.vdot(G, dense(V, A, b)), lambda _: dA, A)
    check_gradient(lambda b: np.vdot(G, dense(V, A, b)), lambda _: db, b)


# ---------------------------------------------------------------------------------------
# Networks
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("convolution-15")
def test_the_typical_pattern_has_its_layers_and_its_sizes():
    for N, M, K in product((0, 1, 3), (0, 1, 2), (0, 1, 2)):
        layers = typical_layers(N, (4, 8)[:M], (20, 30)[:K], 10)
        assert len(layers) == M * (2 * N + 1) + 2 * K + 1
        assert propagate(layers, (8, 8, 1))[-1] == (1, 1, 10)
        assert layers[: 2 * N * (M > 0) : 2] == N * (M > 0) * (Conv(4, 3, padding=1),)
        assert set(layers[1 : 2 * N * (M > 0) : 2]) <= {Relu()}
        assert layers.count(MaxPool(2)) == M and layers[-1] == Dense(10)
    (conv_1, relu, pool), other = (
        typical_layers(1, (4,), ()),
        typical_layers(1, (4,), (), pool=None),
    )
    assert (conv_1, relu) == other and pool == MaxPool(2)
    for size, kept in ((1, 8), (2, 7), (3, 8), (4, 7), (5, 8)):
        layers = typical_layers(2, (4,), (), size=size, pool=None)
        assert propagate(layers[:2], (8, 8, 1))[-1] == (kept, kept, 4)
    message = "MaxPool(size=2) on a volume of shape (7, 7, 4): windows must fit"
    with pytest.raises(ValueError, match=re.escape(message)):
        propagate(typical_layers(1, (4,), ()), (7, 7, 1))


@pytest.mark.claims("convolution-15")
def test_lenet_has_the_sizes_and_the_parameters_of_the_books(rng):
    shapes = propagate(LENET, (32, 32, 1))
    reduced = [shapes[0]] + [b for a, b in zip(shapes, shapes[1:], strict=False) if a != b]
    assert reduced == [
        (32, 32, 1), (28, 28, 6), (14, 14, 6), (10, 10, 16), (5, 5, 16), (1, 1, 120), (1, 1, 84),
        (1, 1, 10),
    ]  # fmt: skip
    theta = initial_parameters(LENET, (32, 32, 1), rng=rng)
    by_layer = [sum(p.size for p in own) for own in unpack(theta, LENET, (32, 32, 1))]
    assert [p for p in by_layer if p] == [156, 2416, 48120, 10164, 850]
    assert theta.size == 61706
    assert describe(LENET, (32, 32, 1)).endswith("61,706")
    V = rng.normal(size=(3, 32, 32, 1))
    f = forward(theta, LENET, V)
    assert f.shape == (3, 1, 1, 10)
    np.testing.assert_allclose(softmax(f[:, 0, 0]).sum(axis=1), 1, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("convolution-16")
def test_without_a_layer_of_scores_the_pattern_does_not_end_in_classes(rng):
    V, C = rng.normal(size=(40, 8, 8, 1)), 10
    volume_left = typical_layers(1, (4,), ())
    assert propagate(volume_left, (8, 8, 1))[-1] == (4, 4, 4) != (1, 1, C)
    bent = typical_layers(1, (4,), (C,))  # (FC-RELU) last, as printed
    assert bent[-1] == Relu()
    theta = initial_parameters(bent, (8, 8, 1), rng=rng)
    P = softmax(forward(theta, bent, V)[:, 0, 0])
    inactive = forward(theta, bent[:-1], V)[:, 0, 0] < 0
    assert (inactive.sum(axis=1) > 1).any()
    for p, off in zip(P, inactive, strict=True):
        assert len(np.unique(p[off])) <= 1
    scored = typical_layers(1, (4,), (), C)
    P = softmax(forward(initial_parameters(scored, (8, 8, 1), rng=rng), scored, V)[:, 0, 0])
    assert all(len(np.unique(p)) == C for p in P)
    no_pool = typical_layers(2, (4,), (), C, pool=None)
    assert MaxPool(2) not in no_pool
    theta = initial_parameters(no_pool, (7, 9, 2), rng=rng)  # no pool of 2 fits
    assert forward(theta, no_pool, rng.normal(size=(2, 7, 9, 2))).shape == (2, 1, 1, C)


EVERY_LAYER = (
    Conv(3, 3, padding=1), Relu(), MaxPool(2), Conv(4, 2, stride=2), Relu(), MeanPool(2, stride=1),
    Dense(5), Relu(), Dense(3),
)  # fmt: skip


def small_task(rng, n=6):
    """Images 8 x 12 x 2 of three classes, and parameters for EVERY_LAYER, biases too."""
    V, Y = rng.normal(size=(n, 8, 12, 2)), np.eye(3)[rng.integers(3, size=n)]
    theta = initial_parameters(EVERY_LAYER, V.shape[1:], rng=rng)
    return theta + 0.1 * rng.normal(size=theta.shape), V, Y


def test_the_gradient_of_a_network_is_that_of_differences(rng):
    theta, V, Y = small_task(rng)
    check_gradient(
        lambda theta: loss_and_gradient(theta, EVERY_LAYER, V, Y)[0],
        lambda theta: loss_and_gradient(theta, EVERY_LAYER, V, Y)[1],
        theta,
    )
    for start in (1, 2, 6):  # the first layers may have no parameters
        layers = EVERY_LAYER[start:]
        W = forward(theta, EVERY_LAYER[:start], V)
        own = theta[-len(initial_parameters(layers, W.shape[1:], rng=rng)) :]
        check_gradient(
            lambda own: loss_and_gradient(own, layers, W, Y)[0],  # noqa: B023
            lambda own: loss_and_gradient(own, layers, W, Y)[1],  # noqa: B023
            own,
        )


def test_outputs_that_are_not_scores_are_refused(rng):
    V, Y, layers = rng.normal(size=(3, 5, 5, 1)), np.eye(3), (Conv(3, 3), Relu())
    theta = initial_parameters(layers, (5, 5, 1), rng=rng)
    message = "scores must be (n, 1, 1, C) for T (n, C); got shapes (3, 3, 3, 3) and (3, 3)"
    with pytest.raises(ValueError, match=re.escape(message)):  # maps, not scores
        loss_and_gradient(theta, layers, V, Y)
    layers = (Dense(3),)
    theta = initial_parameters(layers, (5, 5, 1), rng=rng)
    with pytest.raises(ValueError, match=re.escape("got shapes (3, 1, 1, 3) and (3,)")):
        loss_and_gradient(theta, layers, V, np.arange(3.0))
    for wrong in (Y[:1], np.vstack([Y, Y])):
        message = f"V and T must have as many samples; got 3 and {len(wrong)}"
        with pytest.raises(ValueError, match=message):
            loss_and_gradient(theta, layers, V, wrong)
    for wrong in (theta[1:], np.append(theta, 0.0)):
        message = f"theta must hold the 78 parameters of the layers; got {len(wrong)}"
        with pytest.raises(ValueError, match=message):
            loss_and_gradient(wrong, layers, V, Y)


def test_the_cost_is_the_mean_of_minus_log_probability(rng):
    theta, V, Y = small_task(rng)
    P = softmax(forward(theta, EVERY_LAYER, V)[:, 0, 0])
    L, _ = loss_and_gradient(theta, EVERY_LAYER, V, Y)
    assert L == pytest.approx(-np.mean(np.log(P[Y == 1])), rel=1e-12)


def test_layers_one_by_one_make_up_the_network(rng):
    theta, V, _ = small_task(rng)
    (W, b), _, _, (W2, b2), _, _, (A, c), _, (A2, c2) = unpack(theta, EVERY_LAYER, V.shape[1:])
    assert np.shares_memory(W, theta) and np.shares_memory(c2, theta)
    np.testing.assert_array_equal(np.concatenate([W.ravel(), b]), theta[: W.size + b.size])
    V1 = max_pool(np.maximum(conv(V, W, b, padding=1), 0), 2)
    V2 = mean_pool(np.maximum(conv(V1, W2, b2, stride=2), 0), 2, stride=1)
    f = np.maximum(V2.reshape(6, -1) @ A.T + c, 0) @ A2.T + c2
    np.testing.assert_allclose(forward(theta, EVERY_LAYER, V)[:, 0, 0], f, rtol=1e-12, atol=1e-12)


def test_a_network_of_dense_layers_is_that_of_chapter_16(rng):
    layers = (Dense(7), Relu(), Dense(5), Relu(), Dense(3))
    X, Y = rng.normal(size=(20, 6)), np.eye(3)[rng.integers(3, size=20)]
    theta = initial_parameters(layers, (2, 3, 1), rng=rng)
    net = neural_networks.network((6, 7, 5, 3), loss=neural_networks.CROSS_ENTROPY)
    J, slope = neural_networks.backpropagate(net, neural_networks.unpack(theta, net.sizes), X, Y)
    L, gradient = loss_and_gradient(theta, layers, X.reshape(20, 2, 3, 1), Y)
    assert L == pytest.approx(J, rel=1e-12)
    np.testing.assert_allclose(gradient, neural_networks.pack(slope), rtol=1e-12, atol=1e-12)


def test_predictions_by_blocks_of_images_are_the_same(model, monkeypatch):
    X = digits()[2][:7]
    whole = model.predict_proba(X)
    monkeypatch.setattr(convolution, "BLOCK", 3)
    np.testing.assert_allclose(model.predict_proba(X), whole, rtol=1e-10, atol=1e-14)


def test_first_weights_keep_the_scale_of_what_they_are_given(rng):
    layers = (Conv(32, 3), Relu(), Conv(32, 3), Relu(), Dense(400))
    theta, V = initial_parameters(layers, (8, 8, 16), rng=rng), rng.normal(size=(50, 8, 8, 16))
    for (W, b), fan_in in zip(unpack(theta, layers, (8, 8, 16))[::2], (144, 288, 512), strict=True):
        assert not b.any()
        assert W.var() == pytest.approx(2 / fan_in, rel=0.05) and abs(W.mean()) < 0.01
    sizes = [np.mean(forward(theta, layers[:k], V) ** 2) for k in (1, 3, 5)]
    np.testing.assert_allclose(sizes, 2, rtol=0.3)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

TWO_BLOCKS = typical_layers(1, (8, 16), (32,))


def digits():
    """Two digits of three to learn from, the others to test, pixels scaled to [0, 1]."""
    T = load_digits()
    test = np.random.default_rng(0).random(len(T)) < 1 / 3
    return T.X[~test] / 16, T.y[~test], T.X[test] / 16, T.y[test]


@pytest.fixture(scope="module")
def model():
    X, y, _, _ = digits()
    with pytest.warns(UserWarning, match="ConvNet stopped after 12 iterations"):
        return ConvNet(TWO_BLOCKS, max_iter=12, learning_rate_init=0.003, random_state=0).fit(X, y)


def test_digits_are_recognised(model):
    _, _, X, y = digits()
    assert model.score(X, y) > 0.94
    assert model.image_shape_ == (8, 8, 1) and model.layers_ == (*TWO_BLOCKS, Dense(10))
    assert model.n_iter_ == 12 and not model.converged_ and len(model.history_) == 13
    assert model.history_[-1] < 0.15 < 2 < model.history_[0]
    f = forward(model.theta_, model.layers_, X.reshape(-1, 8, 8, 1))[:, 0, 0]
    np.testing.assert_allclose(model.predict_proba(X), softmax(f), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(X)), softmax(f), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(X), f.argmax(axis=1))
    far = model.predict_log_proba(1e4 * X)
    assert np.isfinite(far).all() and (model.predict_proba(1e4 * X) == 0).any()
    np.testing.assert_array_equal(far.max(axis=1).round(9), 0)


def test_fit_is_adam_on_the_cost_of_mini_batches():
    X, y, _, _ = digits()
    with pytest.warns(UserWarning, match="stopped after 2 iterations"):
        model = ConvNet(TWO_BLOCKS, max_iter=2, random_state=3).fit(X, y)
    layers, rng = (*TWO_BLOCKS, Dense(10)), np.random.default_rng(3)
    theta, V, Y = (
        initial_parameters(layers, (8, 8, 1), rng=rng),
        X.reshape(-1, 8, 8, 1),
        np.eye(10)[y],
    )
    states = adam(
        lambda theta, rows: loss_and_gradient(theta, layers, V[rows], Y[rows]),
        theta, len(X), batch_size=32, learning_rate=0.001, rng=rng,
    )  # fmt: skip
    *_, last = islice(states, 3)
    np.testing.assert_array_equal(model.theta_, last.theta)
    start, _ = loss_and_gradient(theta, layers, V, Y)
    assert model.history_[0] == pytest.approx(start, rel=1e-10)


def test_training_ends_where_the_cost_no_longer_falls():
    X, y = np.eye(6), np.array([0, 1, 0, 1, 0, 1])
    how = {"tol": 1e-2, "n_iter_no_change": 3, "learning_rate_init": 0.01, "random_state": 0}
    model = ConvNet(**how).fit(X, y)
    assert model.converged_ and model.n_iter_ < 200
    lowest = np.minimum.accumulate(model.history_)
    gains = lowest[:-1] - model.history_[1:]
    assert (gains[-4:] <= 1e-2).all() and gains[-5] > 1e-2  # four in a row, not five
    assert not any((gains[i : i + 4] <= 1e-2).all() for i in range(len(gains) - 4))


def test_momentum_learns_too_and_its_parameters_matter():
    X, y, X_test, y_test = digits()
    how = {"solver": "sgd", "max_iter": 4, "learning_rate_init": 0.02, "random_state": 0}
    fitted = []
    for change in ({}, {"nesterovs_momentum": False}, {"momentum": 0.0}):
        with pytest.warns(UserWarning, match="stopped after 4 iterations"):
            fitted.append(ConvNet(TWO_BLOCKS, **(how | change)).fit(X, y))
    assert fitted[0].score(X_test, y_test) > 0.8
    assert len({model.theta_.tobytes() for model in fitted}) == 3


def test_images_of_any_form_are_rows(rng):
    for given, d, shape in (
        (None, 9, (3, 3, 1)), (None, 6, (1, 6, 1)), (None, 1, (1, 1, 1)), ((2, 3), 6, (2, 3, 1)),
        ([2, 1, 3], 6, (2, 1, 3)),
    ):  # fmt: skip
        X, y = rng.normal(size=(10, d)), np.arange(10) % 2
        with pytest.warns(UserWarning, match="stopped after 1 iteration"):
            model = ConvNet(image_shape=given, max_iter=1).fit(X, y)
        assert model.image_shape_ == shape
        f = forward(model.theta_, model.layers_, X.reshape(10, *shape))
        np.testing.assert_array_equal(model.predict(X), f[:, 0, 0].argmax(axis=1))


@pytest.mark.parametrize(
    "how, message",
    [
        ({"image_shape": (2, 4)}, "of product 6, the number of features; got (2, 4)"),
        ({"image_shape": (6,)}, "image_shape must be None, (height, width) or"),
        ({"image_shape": (-2, -3)}, "image_shape must be None, (height, width) or"),
        ({"layers": (Conv(4, 3), "relu")}, "layers must be a tuple of layers, as (Conv(6, 5)"),
        (
            {"layers": (Conv(4, 3),)},
            "Conv(filters=4, size=3) on a volume of shape (1, 6, 1): windo",
        ),
        ({"layers": (Conv(0, 1),)}, "filters must be an integer >= 1; got 0"),
        ({"layers": (Dense(0),)}, "units must be an integer >= 1; got 0"),
        ({"solver": "lbfgs"}, "solver must be one of 'adam', 'sgd'; got 'lbfgs'"),
        ({"momentum": 1.0}, "momentum must be a number >= 0 and < 1; got 1.0"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
        ({"tol": np.inf}, "tol must be a number >= 0 and < inf; got inf"),
        ({"learning_rate_init": np.inf}, "learning_rate_init must be a number > 0 and < inf; got"),
    ],
)
def test_invalid_hyperparameters_are_refused(how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ConvNet(**how).fit(np.ones((4, 6)), [0, 1, 0, 1])


def test_steps_that_are_too_long_are_reported(rng):
    X, y = 100 * rng.normal(size=(20, 4)), np.arange(20) % 2
    with pytest.raises(ValueError, match="must lie within .*lower the learning rate"):
        ConvNet(solver="sgd", learning_rate_init=1e90, random_state=0).fit(X, y)


def test_layers_print_the_call_that_makes_them():
    for layer in (*EVERY_LAYER, Conv(2, 3, stride=2, padding=1), MaxPool(3, 2)):
        assert eval(repr(layer), vars(convolution)) == layer
    assert repr(Conv(6, 5, padding=2)) == "Conv(filters=6, size=5, padding=2)"
    assert MaxPool(2) != MeanPool(2)
    for missing in (lambda: Layer().forward(PIECE), lambda: Layer().backward(PIECE, PIECE)):
        with pytest.raises(NotImplementedError):
            missing()


@pytest.mark.skipif("MLNOTES_DATA" not in os.environ, reason="MLNOTES_DATA is not set")
def test_lenet_learns_mnist_from_a_few_images():
    train, test = load_mnist(Path(os.environ["MLNOTES_DATA"]) / "mnist", n=600)
    lenet = (Conv(6, 5, padding=2), *typical_layers(1, (6, 16), (120, 84), size=5, padding=0)[1:])
    with pytest.warns(UserWarning, match="stopped after 4 iterations"):
        model = ConvNet(lenet, max_iter=4, learning_rate_init=0.003, random_state=0)
        model.fit(train.X, train.y)
    assert model.score(test.X, test.y) > 0.8


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows=1, columns=1):
    """The axes that a figure was drawn on, row by row."""
    axes = list(Figure().subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


def words_of(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def edges_of(ax):
    return [line for line in ax.lines if line.get_linestyle() != "None"]


@pytest.mark.claims("convolution-17")
def test_edges_are_those_of_the_full_and_of_the_banded_matrix():
    from figures.convolution import sharing

    left, right = panels(sharing, columns=2)
    assert len(edges_of(left)) == 10 and len(edges_of(right)) == 6
    assert title_of(left) == "Fully connected: 10 weights"
    assert title_of(right) == "Convolution: 6 edges, 3 weights"
    M = correlation_matrix(np.array([1, 2, 3]), (5,), stride=2)
    height = {n: (n - 1) / 2 - np.arange(n) for n in (2, 5)}
    found = {}
    for line in edges_of(right):
        start, end = line.get_ydata()
        i, j = list(height[2]).index(end), list(height[5]).index(start)
        found[i, j] = line.get_linestyle(), line.get_color()
    assert set(found) == set(zip(*np.nonzero(M), strict=True))
    styles = {M[place]: look[0] for place, look in found.items()}
    assert len(set(styles.values())) == 3
    assert all(look[0] == styles[M[place]] for place, look in found.items())
    colors = [{look[1] for (i, _), look in found.items() if i == k} for k in (0, 1)]
    assert [len(c) for c in colors] == [1, 1] and colors[0] != colors[1]


@pytest.mark.claims("convolution-17")
def test_windows_are_as_many_as_the_rule_says_and_the_third_stride_leaves_a_rim():
    from figures.convolution import strides

    axes = panels(strides, columns=3)
    for S, ax in enumerate(axes, start=1):
        (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
        starts = len(range(0, 7 - 3 + 1, S))
        assert len(dots.get_xdata()) == starts**2
        unseen = [patch for patch in ax.patches if patch.get_label() == "unseen"]
        if S < 3:
            assert output_size(7, 3, S) == starts and not unseen
            assert title_of(ax) == f"$S = {S}$: {starts} x {starts}"
        else:
            assert "?" in title_of(ax)
            corners = unseen[0].get_xy()[:-1]
            assert area(corners) == 7**2 - 6**2
        outlines = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) == 5]
        assert all(area(each[:-1]) == 9 for each in outlines) and len(outlines) == 2
        assert outlines[1].min(axis=0)[0] == S


def area(corners):
    x, y = np.transpose(corners)
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


def test_the_film_shows_the_window_and_the_numbers_so_far():
    from figures.convolution import CORNER, FRAMES, RISE, sliding

    expected = [str(int(number)) for number in correlate(CORNER, RISE).ravel()]
    for ax, steps in zip(panels(sliding, columns=4), FRAMES, strict=True):
        texts = words_of(ax)
        assert texts[:25] == [str(entry) for entry in CORNER.ravel()]
        assert texts[25:] == expected[:steps]
        (window,) = [patch.get_xy()[:-1] for patch in ax.patches if patch.get_label() == "window"]
        i, j = divmod(steps - 1, 3)
        assert area(window) == 9
        assert (window[:, 0].min(), window[:, 1].max()) == (j, 8 - i)


def test_orange_inputs_are_the_receptive_field():
    from figures.convolution import THREE, WITH_POOL, fields

    for ax, layers in zip(panels(fields, columns=2), (THREE, WITH_POOL), strict=True):
        r = receptive_field(layers)
        assert title_of(ax) == f"sees {r} of 12 inputs"
        inputs = ax.collections[-1]
        orange = [c for c in inputs.get_facecolors().tolist() if c != [1, 1, 1, 1]]
        assert len(inputs.get_offsets()) == 12 and len(orange) == r
        for dots, layer in zip(ax.collections[:3], layers[::-1], strict=True):
            edges = len(dots.get_offsets()) * layer.size
            level = dots.get_offsets()[0][1]
            assert edges == sum(line.get_ydata()[0] == level for line in ax.lines)


@pytest.mark.claims("convolution-18")
def test_the_chunk_and_its_neurons_are_at_the_place_that_they_share():
    from figures.convolution import PLACE, Box, layer

    (ax,) = panels(layer)
    shapes = propagate((Conv(6, 5),), (32, 32, 3))
    assert {" x ".join(map(str, shape)) for shape in shapes} <= set(words_of(ax))
    assert any("75 weights" in text for text in words_of(ax))
    (chunk,) = [patch.get_xy()[:-1] for patch in ax.patches if patch.get_label() == "chunk"]
    (neurons,) = [line for line in ax.lines if line.get_label() == "neurons"]
    i, j = PLACE
    left, right = Box(0, 0, shapes[0], 5.5), Box(46, 0, shapes[1], 5.5)
    np.testing.assert_allclose(chunk, left.face((i, i + 5), (j, j + 5), 3))
    assert len(neurons.get_xdata()) == 6
    for d, point in enumerate(neurons.get_xydata()):
        np.testing.assert_allclose(point, right.at(i + 0.5, j + 0.5, d + 0.5))
    assert np.ptp(neurons.get_ydata()) == 0  # one place, six depths
    W = np.ones((1, 5, 5, 3))
    G = np.zeros((1, 28, 28, 1))
    G[0, i, j] = 1
    seen = conv_backward(G, np.zeros((1, 32, 32, 3)), W)[0][0]
    assert seen[i : i + 5, j : j + 5].all() and seen.sum() == 75


@pytest.mark.claims("convolution-18")
def test_the_six_maps_are_what_the_layer_makes_of_the_image():
    from figures.convolution import PLACE, coloured_digit, maps, six_filters

    axes = panels(maps, 2, 4)
    image = axes[0].images[0].get_array()
    np.testing.assert_allclose(image, coloured_digit())
    found = conv_by_loops(coloured_digit()[None], six_filters(), np.zeros(6))[0]
    shown = [*axes[1:4], *axes[5:8]]
    for d, ax in enumerate(shown):
        np.testing.assert_allclose(ax.images[0].get_array(), found[:, :, d], rtol=1e-12, atol=1e-12)
        assert tuple(ax.lines[0].get_xydata()[0][::-1]) == PLACE
        low, high = ax.images[0].get_clim()
        assert low == -high
    square = axes[0].lines[0].get_xydata()[:-1]
    np.testing.assert_array_equal(square.min(axis=0), np.array(PLACE)[::-1] - 0.5)
    np.testing.assert_array_equal(np.ptp(square, axis=0), [5, 5])
    assert title_of(axes[0]) == "32 x 32 x 3" and words_of(axes[4]) == ["28 x 28 x 6"]


@pytest.mark.claims("convolution-19")
def test_every_volume_of_the_architectures_is_named_by_propagation():
    from figures.convolution import PREVIEW, architectures, flattening

    above, below = panels(architectures, 2)
    sizes = [text for text in words_of(above) if "x" in text and "conv" not in text]
    assert sizes == ["32 x 32 x 3", "28 x 28 x 6", "24 x 24 x 10"]
    assert sizes == [" x ".join(map(str, s)) for s in propagate(PREVIEW, (32, 32, 3))[::2]]
    assert words_of(above).count("conv\n5 x 5\nReLU") == 2
    shapes = dict.fromkeys(propagate(LENET, (32, 32, 1)))
    named = [str(s[2]) if s[:2] == (1, 1) else " x ".join(map(str, s)) for s in shapes]
    drawn = [text for text in words_of(below) if text[0].isdigit()]
    assert drawn == named == [
        "32 x 32 x 1", "28 x 28 x 6", "14 x 14 x 6", "10 x 10 x 16", "5 x 5 x 16",
        "120", "84", "10",
    ]  # fmt: skip
    (ax,) = panels(flattening)
    assert {"5 x 5 x 16", str(5 * 5 * 16), "120"} <= set(words_of(ax))
    assert "48,000 weights\n120 biases" in words_of(ax)


@pytest.mark.claims("convolution-20")
def test_pooled_numbers_and_sizes_are_those_of_max_pool():
    from figures.convolution import pooling, six_maps

    left, middle, right = panels(pooling, columns=3)
    V = six_maps()[None]
    for ax, drawn in ((left, V), (middle, max_pool(V, 2))):
        np.testing.assert_array_equal(ax.images[0].get_array(), drawn[0, :, :, 5])
        assert title_of(ax) == " x ".join(map(str, drawn.shape[1:]))
        assert ax.get_xlim() == (-0.5, 27.5)
    assert middle.images[0].get_array().shape == (14, 14)
    entries = [float(text) for text in words_of(right) if text.isdigit()]
    pooled = max_pool(PIECE.reshape(1, 4, 4, 1), 2)
    assert entries == [*PIECE.ravel(), *pooled.ravel()] and entries[-4:] == [6, 8, 3, 4]
    fills = [patch.get_facecolor() for patch in right.patches if patch.get_fill()]
    blocks = np.array(fills[:16]).reshape(2, 2, 2, 2, 4).swapaxes(1, 2)
    assert (blocks == blocks[:, :, :1, :1]).all() and len({tuple(f) for f in fills[:16]}) == 4
    np.testing.assert_array_equal(blocks[:, :, 0, 0].reshape(4, 4), fills[16:20])
