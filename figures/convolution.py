"""Lecture figures of the convolution chapter."""

from math import prod
from typing import NamedTuple

import numpy as np

from mlnotes.convolution import (
    Conv,
    Dense,
    MaxPool,
    Relu,
    conv,
    correlate,
    correlate_by_loops,
    correlation_matrix,
    max_pool,
    output_size,
    propagate,
    receptive_field,
    typical_layers,
)
from mlnotes.datasets import load_digits, place
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    Take,
    draw_image,
    figure,
    film,
    run_script,
    tint,
)

PIECE = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4.0]])  # of the notes
DASHES = ("-", "--", ":")  # of the three weights
COLORS_OF_WINDOWS = (BLUE, ORANGE)


def empty(ax, view=None):
    """No axes, equal units."""
    ax.set_axis_off()
    ax.set_aspect("equal")
    if view is not None:
        left, right, bottom, top = view
        ax.set(xlim=(left, right), ylim=(bottom, top))


def times(*sizes):
    """Sizes as one reads them, height × width × depth."""
    return " × ".join(map(str, sizes))


# --- Fewer weights ---------------------------------------------------------------------


def neurons(ax, inputs, outputs):
    """Two columns of neurons; where they are."""
    columns = []
    for x, n, name in ((0.0, inputs, "x"), (3.0, outputs, "h")):
        places = np.column_stack([np.full(n, x), (n - 1) / 2 - np.arange(n)])
        ax.plot(*places.T, "o", ms=17, mfc="white", mec=INK, mew=1.1, zorder=3)
        for i, place_ in enumerate(places):
            ax.text(*place_, f"${name}_{i}$", ha="center", va="center", zorder=4)
        columns.append(places)
    empty(ax, (-0.6, 3.6, -2.6, 2.6))
    return columns


@figure("sharing", claims=("convolution-17",), panels=2, size=(2.9, 2.7))
def sharing(left, right):
    """Five inputs and two outputs. Left: a dense layer, in which every edge has a weight of its
    own. Right: a kernel of three weights (solid, dashed, dotted). Each output sees a window of
    three inputs, one blue and one orange. Both windows use the same three weights.
    """
    inputs, outputs = neurons(left, 5, 2)
    for end in outputs:
        for start in inputs:
            left.plot(*zip(start, end, strict=True), color=GREY, lw=1)
    left.set_title(f"Fully connected: {len(inputs) * len(outputs)} weights")
    inputs, outputs = neurons(right, 5, output_size(5, 3, 2))
    M = correlation_matrix(np.arange(1, 4), (5,), stride=2)
    for (i, j), weight in np.ndenumerate(M.astype(int)):
        if weight:
            ends = zip(inputs[j], outputs[i], strict=True)
            right.plot(*ends, color=COLORS_OF_WINDOWS[i], lw=1.6, ls=DASHES[weight - 1])
    shared = len(np.unique(M[M != 0]))
    right.set_title(f"Convolution: {np.count_nonzero(M)} edges, {shared} weights")


@figure("matrices", claims=(), panels=3, size=(2.2, 2.3))
def matrices(dense, one, two):
    """Three layers with 11 inputs as matrices: a row per output, a column per input. Left: a dense
    layer. Each of its 99 entries is a weight of its own (shades of grey). Middle and right: a
    kernel of three weights at strides 1 and 2. A cell with the number m holds the weight k_m, and
    white cells are 0. Each row holds the kernel, S places further right than the row above.
    """
    N, F = 11, 3
    for S, ax in ((1, one), (2, two)):
        M = correlation_matrix(np.arange(1, F + 1), (N,), stride=S).astype(int)
        for (i, p), weight in np.ndenumerate(M):
            fill = tint((BLUE, ORANGE, GREEN)[weight - 1], 0.5) if weight else "white"
            cell(ax, (p, -i - 1), str(weight - 1) if weight else "", fill)
        ax.set_title(f"$S = {S}$: {F} weights", fontsize=10)
    outputs = output_size(N, F)
    shades = np.random.default_rng(0).uniform(0.1, 0.9, size=(outputs, N))
    for (i, p), shade in np.ndenumerate(shades):
        cell(dense, (p, -i - 1), "", tint(INK, shade))
    dense.set_title(f"dense: {shades.size} weights", fontsize=10)
    for ax in (dense, one, two):
        empty(ax, (-0.2, N + 0.2, -outputs - 0.2, 0.2))


@figure("strides", claims=("convolution-17",), panels=3, size=(2.1, 2.3))
def strides(*axes):
    """A 3x3 window on a 7x7 input, at strides 1, 2 and 3. A dot marks the corner where a window
    starts; the first two windows of the first row are outlined. Count the dots: 5x5, 3x3 and 2x2.
    At stride 3 the windows do not fit: the last row and column (hatched) are never seen.
    """
    N, F = 7, 3
    for S, ax in enumerate(axes, start=1):
        starts = np.arange(0, N - F + 1, S)
        reach = starts[-1] + F
        for k in range(N + 1):
            ax.plot((0, N), (k, k), color=GREY, lw=0.6)
            ax.plot((k, k), (0, N), color=GREY, lw=0.6)
        if reach < N:
            unseen = np.array([(reach, 0), (N, 0), (N, N), (0, N), (0, reach), (reach, reach)])
            ax.fill(*unseen.T, fc="none", ec=INK, hatch="////", lw=0, label="unseen")
        ax.plot(*np.array(np.meshgrid(starts, starts)).reshape(2, -1) + 0.5, "o", ms=3.5, color=INK)
        for start, color, dash in zip(starts[:2], COLORS_OF_WINDOWS, ("-", "--"), strict=True):
            x, y = np.array([(0, 0), (F, 0), (F, F), (0, F), (0, 0)]).T
            ax.plot(x + start, y, color=color, lw=2, ls=dash, zorder=3)
        ax.set_title(f"$S = {S}$: {size_or_reason(N, F, S)}")
        empty(ax, (-0.2, N + 0.2, N + 0.2, -0.2))


def size_or_reason(N, F, S):
    """The sizes of the output, or that there is none."""
    try:
        return times(output_size(N, F, S), output_size(N, F, S))
    except ValueError:
        return f"$({N} - {F}) / {S} + 1$?"


CORNER = np.array([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0, 0, 1, 0, 0], [0] * 5])
RISE = np.array([[-1, 0, 1]] * 3)  # what is right of the middle against what is left of it
FRAMES = (1, 2, 4, 9)  # how many windows have been visited


@figure("sliding", claims=(), panels=4, size=(1.7, 3.0))
def sliding(*axes):
    """A window slides over an image. The kernel has the rows (-1, 0, 1): it compares the right with
    the left column of its window. The window (orange) visits the 3x3 places of the image above, row
    by row, and writes one number for each into the output below. Four of the nine places are shown.
    The largest numbers stand where the numbers of the image grow from left to right.
    """
    found = correlate_by_loops(CORNER, RISE).astype(int)
    F, places = len(RISE), list(np.ndindex(found.shape))
    for ax, steps in zip(axes, FRAMES, strict=True):
        i, j = places[steps - 1]
        for (row, column), entry in np.ndenumerate(CORNER):
            cell(ax, (column, 7 - row), str(entry), tint(BLUE, 0.4) if entry else "white")
        x, y = np.array([(j, 8 - i), (j + F, 8 - i), (j + F, 8 - i - F), (j, 8 - i - F)]).T
        ax.fill(x, y, fc="none", ec=ORANGE, lw=2.5, label="window", zorder=3)
        for seen, (row, column) in enumerate(places, start=1):
            entry = str(found[row, column]) if seen <= steps else ""
            fill = tint(ORANGE, 0.6) if seen == steps else "white"
            cell(ax, (column + 1, 2 - row - 0.6), entry, fill)
        ax.set_title(f"place {steps} of {len(places)}", fontsize=10)
        empty(ax, (-0.2, 5.2, -0.8, 8.2))


def cell(ax, corner, text, fill):
    """A square of side 1 with its lower left corner, and a number in it."""
    x, y = corner
    ax.fill((x, x + 1, x + 1, x), (y, y, y + 1, y + 1), fc=fill, ec=INK, lw=0.7)
    ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=9)


@figure("fields", claims=(), panels=2, size=(3.1, 2.4))
def fields(left, right):
    """Receptive fields, in one dimension. The inputs are below, and each row is the output of one
    layer. Orange: one number of the last layer and all that it depends on. Left: three layers with
    windows of 3 see 7 inputs. Right: windows of 3, a pool of 2 at stride 2, windows of 3 see 8. The
    stride makes the windows above it reach further.
    """
    for ax, layers in ((left, THREE), (right, WITH_POOL)):
        draw_fields(ax, layers, inputs=12)
        ax.set_title(f"sees {receptive_field(layers)} of 12 inputs", fontsize=10)


THREE = (Conv(1, 3), Conv(1, 3), Conv(1, 3))
WITH_POOL = (Conv(1, 3), MaxPool(2), Conv(1, 3))


def draw_fields(ax, layers, inputs):
    """Rows of dots, each over the middle of its field; orange is what the top second sees."""
    rows, J = [np.arange(inputs, dtype=float)], 1
    for count, layer in enumerate(layers, start=1):
        n = output_size(len(rows[-1]), layer.size, layer.stride)
        J = J * layer.stride
        rows.append((receptive_field(layers[:count]) - 1) / 2 + J * np.arange(n))
    seen = {1}
    for level in range(len(layers), -1, -1):
        row, colors = (
            rows[level],
            [ORANGE if i in seen else "white" for i in range(len(rows[level]))],
        )
        ax.scatter(row, np.full(len(row), level), s=45, c=colors, ec=INK, lw=0.8, zorder=3)
        if level:
            layer, below = layers[level - 1], rows[level - 1]
            for i, m in np.ndindex(len(row), layer.size):
                look = {"color": ORANGE, "lw": 1.4} if i in seen else {"color": GREY, "lw": 0.4}
                start = below[layer.stride * i + m]
                ax.plot((row[i], start), (level, level - 1), zorder=1 + (i in seen), **look)
            seen = {layer.stride * i + m for i in seen for m in range(layer.size)}
            name = "pool 2" if isinstance(layer, MaxPool) else f"windows of {layer.size}"
        ax.text(inputs - 0.2, level, name if level else "inputs", va="center", fontsize=8)
    ax.set_axis_off()
    ax.set(xlim=(-0.6, inputs + 3.4), ylim=(-0.4, len(layers) + 0.4))


# --- Volumes ---------------------------------------------------------------------------

SLANT = np.array([0.42, 0.30])  # how one column to the right is drawn, in rows
THICK = 1.3  # how a volume of depth 1 is drawn, in rows; others by the root of their depth


class Box(NamedTuple):
    """A volume as it is drawn: rows downwards, columns into the page, depth to the right."""

    x: float
    y: float
    shape: tuple
    thick: float = THICK

    def at(self, row, column, depth):
        """The point of the drawing where an entry starts."""
        (H, _, D), share = self.shape, depth / self.shape[2]
        right = share * self.thick * np.sqrt(D)
        return np.array([self.x + right, self.y + H / 2 - row]) + column * SLANT

    def face(self, rows, columns, depth):
        """The corners of a piece of the slice at that depth."""
        (a, b), (c, d) = rows, columns
        return np.array([self.at(i, j, depth) for i, j in ((a, c), (a, d), (b, d), (b, c))])

    @property
    def right(self):
        """Where the drawing ends."""
        return self.at(0, self.shape[1], self.shape[2])[0]


def draw_box(ax, box, color, **style):
    """The three faces that one sees, and the sizes below."""
    H, W, D = box.shape
    top = [box.at(0, 0, 0), box.at(0, W, 0), box.at(0, W, D), box.at(0, 0, D)]
    front = [box.at(0, 0, 0), box.at(0, 0, D), box.at(H, 0, D), box.at(H, 0, 0)]
    look = {"ec": INK, "lw": 0.7} | style
    ax.fill(*np.transpose(top), fc=tint(color, 0.15), **look)
    ax.fill(*np.transpose(front), fc=tint(color, 0.55), **look)
    ax.fill(*box.face((0, H), (0, W), D).T, fc=tint(color, 0.3), **look)
    return box


def name_box(ax, box, drop=1.5):
    """The sizes of a volume, below it."""
    middle = (box.x + box.right) / 2
    ax.text(
        middle,
        box.y - box.shape[0] / 2 - drop,
        times(*box.shape),
        ha="center",
        va="top",
        fontsize=9,
    )


def coloured_digit():
    """A 3 of 32 x 32 pixels, light on blue, and its three colours."""
    pixels = place(load_digits().images[3:4] / 16, shape=(32, 32), zoom=3.6)[0]
    ground, ink = np.array([0.12, 0.28, 0.52]), np.array([1.0, 0.72, 0.30])
    return ground + pixels[:, :, None] * (ink - ground)


def six_filters():
    """Edges in four directions, a spot, and orange against blue: (6, 5, 5, 3)."""
    t = np.arange(-2.0, 3.0)
    bump = np.exp(-(t**2) / 2)
    slope = -t * bump
    flat = [np.outer(slope, bump), np.outer(bump, slope)]
    flat += [flat[0] + flat[1], flat[0] - flat[1]]
    wide = np.outer(np.exp(-(t**2) / 8), np.exp(-(t**2) / 8))
    flat.append(np.outer(bump, bump) / bump.sum() ** 2 - wide / wide.sum())
    grey = np.stack([each[:, :, None] * np.ones(3) for each in flat])
    colour = np.outer(bump, bump)[:, :, None] * np.array([1.0, 0.0, -1.0])
    return np.concatenate([grey, colour[None]])


def six_maps():
    """The maps of the digit by the six filters, (28, 28, 6), with 0 where only rounding is left."""
    found = conv(coloured_digit()[None], six_filters(), np.zeros(6))[0]
    return np.where(np.abs(found) > 1e-12, found, 0.0)


PLACE = (9, 14)  # row and column of the neurons that are shown


@figure("layer", claims=("convolution-18",), size=(6.4, 2.9))
def layer(ax):
    """A layer of six 5x5x3 filters. A neuron sees a 5x5 window of the input through its whole depth
    (orange). Six neurons (dots) see the same 75 numbers, each with the weights of another filter.
    Each gives one number of one map. The six maps together are a volume again.
    """
    six = Conv(6, 5)
    before, after = propagate((six,), (32, 32, 3))
    left, right = Box(0, 0, before, 5.5), Box(46, 0, after, 5.5)
    draw_box(ax, left, BLUE, alpha=0.6)
    draw_box(ax, right, GREEN, alpha=0.6)
    (i, j), F = PLACE, six.size
    near, far = (left.face((i, i + F), (j, j + F), depth) for depth in (before[2], 0))
    neurons_ = np.array([right.at(i + 0.5, j + 0.5, d + 0.5) for d in range(after[2])])
    for a, b in zip(near, far, strict=True):
        ax.plot(*zip(a, b, strict=True), color=ORANGE, lw=1, ls=":", zorder=3)
    ax.plot(*np.vstack([far, far[:1]]).T, color=ORANGE, lw=1, ls=":", zorder=3)
    ax.fill(*near.T, fc=tint(ORANGE, 0.8), ec=INK, lw=0.7, label="chunk", zorder=3)
    for corner in near[1:3]:
        ax.plot(*zip(corner, neurons_[0], strict=True), color=ORANGE, lw=1, zorder=3)
    ax.plot(*neurons_.T, "o", ms=5, mfc=ORANGE, mec=INK, mew=0.6, label="neurons", zorder=4)
    for box, title in ((left, "input"), (right, "six maps")):
        (H, W, D), look = box.shape, {"ha": "right", "va": "center", "fontsize": 8}
        ax.text(*(box.at(H / 2, 0, 0) - (0.6, 0)), f"height {H}", rotation=90, **look)
        ax.text(*(box.at(0, W / 2, 0) - (0.8, -0.6)), f"width {W}", **look)
        middle = box.at(H, 0, D / 2) - (0, 0.8)
        ax.text(*middle, f"depth {D}", ha="center", va="top", fontsize=8)
        name_box(ax, box, drop=4.5)
        ax.text((box.x + box.right) / 2, 27, title, ha="center", va="bottom", fontsize=10)
    weights = prod(six.parameter_shapes(before)[0][1:])
    note = f"a map: {weights} weights\nand a bias"
    ax.text(34.5, -9, note, ha="center", va="top", fontsize=9)
    empty(ax, (-4, 72, -24, 30))


@figure("maps", claims=("convolution-18",), panels=(2, 4), size=(1.6, 1.65))
def maps(*axes):
    """A coloured image and the six maps that one layer makes of it (mid grey is 0, white positive,
    black negative). The small squares are the filters. Four filters find edges: "from above" is
    white where the image is brighter above than below, at the lower rims of the stroke, and black
    at its upper rims. The fifth is large where a spot is brighter than its surroundings, the sixth
    where orange is more than blue. The window (large square) gives the one number of each map that
    has a dot.
    """
    i, j = PLACE
    image, found, F = coloured_digit(), six_maps(), 5
    shown = [axes[0], *axes[1:4], *axes[5:8]]
    draw_image(axes[0], image)
    axes[0].set_title(times(*image.shape), fontsize=10)
    axes[4].set_axis_off()
    axes[4].text(0.5, 0.5, times(*found.shape), ha="center", va="center")
    axes[4].annotate("", (1.0, 0.4), (0.0, 0.4), arrowprops={"arrowstyle": "->", "color": INK})
    axes[4].set(xlim=(0, 1), ylim=(0, 1))
    square = np.array([(j, i), (j + F, i), (j + F, i + F), (j, i + F), (j, i)]) - 0.5
    axes[0].plot(*square.T, color="white", lw=1.4)
    names = ("from above", "from left", "diagonal", "other diagonal", "spot", "orange or blue")
    for d, (ax, name) in enumerate(zip(shown[1:], names, strict=True)):
        most = np.abs(found[:, :, d]).max()
        draw_image(ax, found[:, :, d], vmin=-most, vmax=most)
        ax.plot(j, i, "o", ms=5, mfc=ORANGE, mec="white", mew=1)
        ax.set_title(name, fontsize=10)
        W, corner = six_filters()[d], ax.inset_axes((0.0, 0.0, 0.26, 0.26))
        draw_image(corner, 0.5 + W / (2 * np.abs(W).max()))
        corner.plot((-0.5, 4.5, 4.5, -0.5, -0.5), (-0.5, -0.5, 4.5, 4.5, -0.5), color="white", lw=1)


# --- Networks --------------------------------------------------------------------------

PREVIEW = (Conv(6, 5), Relu(), Conv(10, 5), Relu())
LENET = typical_layers(1, (6, 16), (120, 84), 10, size=5, padding=0)


def arrows(layers):
    """What is written over each arrow; a ReLU goes with the layer before it."""
    words = []
    for layer in layers:
        if layer == Relu():
            words[-1] += "\nReLU"
        elif isinstance(layer, Dense):
            words.append("dense")
        else:
            name = "conv" if isinstance(layer, Conv) else "pool"
            words.append(f"{name}\n{times(layer.size, layer.size)}")
    return words


def drawn_shapes(layers, shape):
    """The input and the output of every layer but ReLU, which leaves the shape as it is."""
    shapes = propagate(layers, shape)
    after = zip(layers, shapes[1:], strict=True)
    return [shapes[0], *(each for layer, each in after if layer != Relu())]


def draw_network(ax, layers, shape, *, gap):
    """Volume after volume, with an arrow for every layer; vectors stand upright."""
    x, words = 0.0, arrows(layers)
    for each, text in zip(drawn_shapes(layers, shape), ["", *words], strict=True):
        if text:
            ax.annotate("", (x - 0.8, 0), (x - gap + 0.8, 0),
                        arrowprops={"arrowstyle": "->", "color": INK})  # fmt: skip
            ax.text(x - gap / 2 - 0.3, 1.2, text, ha="center", va="bottom", fontsize=7.5)
        box = draw_vector(ax, x, each[2]) if each[:2] == (1, 1) else Box(x, 0.0, each)
        if each[:2] != (1, 1):
            draw_box(ax, box, GREEN if x else BLUE)
            name_box(ax, box)
        x = box.right + gap
    empty(ax, (-2, box.right + 3, -21, 27))


def draw_vector(ax, x, length):
    """A volume 1 x 1 x length, upright, and its length."""
    box = draw_box(ax, Box(x, 0.0, (np.sqrt(8 * length), 1, 1)), PURPLE)
    ax.text(x + 0.8, -box.shape[0] / 2 - 1.5, f"{length}", ha="center", va="top", fontsize=9)
    return box


@figure("architectures", claims=("convolution-19",), panels=(2, 1), size=(6.4, 2.2))
def architectures(above, below):
    """Two networks, drawn as their volumes. Above: two convolution layers, each with its ReLU. From
    left to right height and width shrink, and depth grows. Below: LeNet. Two blocks of convolution,
    ReLU and pooling are followed by three dense layers. The ten numbers at the end are the scores.
    """
    draw_network(above, PREVIEW, (32, 32, 3), gap=14.0)
    draw_network(below, LENET, (32, 32, 1), gap=11.0)


@figure("flattening", claims=("convolution-19",), size=(6.4, 2.3))
def flattening(ax):
    """The first dense layer of LeNet. The last volume is flattened: read row by row, it becomes a
    vector of 400 numbers. Each of the 120 neurons (five are drawn) sees all of them.
    """
    shape, (first, *_) = (5, 5, 16), (layer for layer in LENET if isinstance(layer, Dense))
    box, length = Box(0, 0, shape), prod(shape)
    draw_box(ax, box, GREEN)
    name_box(ax, box, drop=1.0)
    vector = Box(16, 0, (20, 1, 1))
    draw_box(ax, vector, GREEN)
    ax.text(16.8, -11.2, f"{length}", ha="center", va="top", fontsize=9)
    arrow = {"arrowstyle": "->", "color": INK}
    ax.annotate("", (14.8, 0), (box.right + 0.8, 0), arrowprops=arrow)
    ax.text((box.right + 15.6) / 2, 0.5, "flatten", ha="center", va="bottom", fontsize=9)
    ends = np.linspace(-9.5, 9.5, 9)
    for y in np.linspace(-7.0, 7.0, 5):
        for end in ends:
            ax.plot((18.4, 33), (end, y), color=GREY, lw=0.4, zorder=0)
        ax.plot(33, y, "o", ms=9, mfc=tint(PURPLE, 0.5), mec=INK, mew=0.8)
    ax.text(33, 9.0, r"$\vdots$", ha="center", va="bottom")
    ax.text(33, -11.2, f"{first.units}", ha="center", va="top", fontsize=9)
    (weights, biases) = (prod(each) for each in first.parameter_shapes(shape))
    ax.text(36, 0, f"{weights:,d} weights\n{biases} biases", va="center", fontsize=9)
    empty(ax, (-1, 50, -14, 13))


# --- Pooling ---------------------------------------------------------------------------


@figure("pooling", claims=("convolution-20",), panels=3, size=(2.1, 2.4))
def pooling(left, middle, right):
    """Max pooling with windows of 2x2 at stride 2. Left and middle: the sixth map of the digit
    before and after, drawn to the same scale. Height and width are halved, the depth stays. Right:
    a map of 4x4 numbers and the largest of each coloured block.
    """
    volume = six_maps()[None]
    pooled = max_pool(volume, 2)
    for ax, each in ((left, volume), (middle, pooled)):
        draw_image(ax, each[0, :, :, 5], vmin=volume[..., 5].min(), vmax=volume[..., 5].max())
        ax.set(xlim=(-0.5, 27.5), ylim=(27.5, -0.5))
        ax.set_title(times(*each.shape[1:]), fontsize=10)
    numbers(right, PIECE, (0, 2.6), 1.0)
    numbers(right, max_pool(PIECE[None, :, :, None], 2)[0, :, :, 0], (1, -0.6), 2.0)
    right.annotate("", (2, 1.75), (2, 2.45), arrowprops={"arrowstyle": "->", "color": INK})
    right.text(2.25, 2.1, f"max, {times(2, 2)}, stride 2", va="center", fontsize=8.5)
    empty(right, (-0.1, 5.1, -0.7, 6.8))


def numbers(ax, table, corner, cells):
    """A table as coloured cells; blocks of 4 / `cells` are of one colour."""
    block = 2 if cells == 1.0 else 1
    fills = [tint(c, 0.45) for c in (BLUE, ORANGE, GREEN, PURPLE)]
    for (i, j), entry in np.ndenumerate(table):
        x, y = corner[0] + j, corner[1] + len(table) - 1 - i
        fill = fills[2 * (i // block) + j // block]
        ax.fill((x, x + 1, x + 1, x), (y, y, y + 1, y + 1), fc=fill, ec=INK, lw=0.7)
        ax.text(x + 0.5, y + 0.5, f"{entry:g}", ha="center", va="center")


# --- Films -----------------------------------------------------------------------------


KERNELS = {
    "left to right": RISE,
    "top to bottom": RISE.T,
    "mean": np.full((3, 3), 1 / 9),
}


@film("window", correlate_by_loops, after=correlate, size=(4.4, 2.6), kernel=tuple(KERNELS))
def window_film(kernel):
    """A kernel slides over a digit. At each place the nine weights are multiplied by the nine
    numbers of the window (left), and the sum is written into the map (right). Purple is positive
    there, orange is negative. From left to right the weights of each row are -1, 0, 1; from top to
    bottom those of each column are; for the mean each is 1/9. Watch where the map is large: a
    kernel answers to one kind of edge.
    """
    image, k = load_digits().images[3], KERNELS[kernel]
    found, F = correlate_by_loops(image, k), len(k)
    most = np.abs(found).max()

    def draw(ax, place):
        i, j = place
        draw_numbers(ax, image, 0, np.s_[i : i + F, j : j + F], vmin=0, vmax=24, cmap="Greys")
        ax.fill(*rim(j, 8 - i, F), fc="none", ec=ORANGE, lw=2.5, zorder=3)
        look = {"vmin": -1.5 * most, "vmax": 1.5 * most, "cmap": "PuOr"}
        draw_numbers(ax, written(found, place), 9, np.s_[:], **look)
        ax.fill(*rim(9 + j, 8 - i, 1), fc="none", ec=ORANGE, lw=2, zorder=3)
        empty(ax, (-0.2, 15.2, -0.2, 8.2))

    def words(place):
        return f"Row {place[0] + 1}, column {place[1] + 1}: the sum is {found[place]:.1f}."

    return Take(np.ndindex(found.shape), draw, words)


def rim(left, top, side):
    """The corners of a square: x and y."""
    x, y = np.array([0, side, side, 0]), np.array([0, 0, -side, -side])
    return left + x, top + y


def written(found, place):
    """The map up to this place, masked after it."""
    count = np.ravel_multi_index(place, found.shape) + 1
    return np.ma.array(found, mask=np.arange(found.size).reshape(found.shape) >= count)


def draw_numbers(ax, table, left, shown, **style):
    """A table as an image with its upper left corner at (left, 8), and the numbers of a part."""
    rows, columns = table.shape
    ax.imshow(table, extent=(left, left + columns, 8 - rows, 8), **style)
    ax.fill((left, left + columns, left + columns, left), (8, 8, 8 - rows, 8 - rows), fc="none",
            ec=GREY, lw=0.8)  # fmt: skip
    part = np.ma.masked_all(table.shape)
    part[shown] = table[shown]
    for row, column in np.argwhere(~np.ma.getmaskarray(part)):
        ax.text(left + column + 0.5, 7.5 - row, f"{table[row, column]:.0f}", ha="center",
                va="center", fontsize=7)  # fmt: skip


ROW_KERNELS = {
    "difference": np.array([-1.0, 0.0, 1.0]),
    "mean": np.full(3, 1 / 3),
    "second difference": np.array([1.0, -2.0, 1.0]),
}


@film("row", correlate, measure="h", size=(3.6, 2.9), kernel=tuple(ROW_KERNELS), stride=(1, 3))
def row_film(kernel, stride):
    """A kernel of three weights slides over a row of 24 numbers. Each place of the window (above)
    gives one output (below). The difference answers where the row rises or falls, the mean smooths
    the row, and the second difference answers where it bends. With stride 3 the windows do not
    overlap, and there are 8 outputs instead of 22.
    """
    noise = 0.1 * np.random.default_rng(0).normal(size=24)
    x, k = np.repeat([0.0, 1.0, 1.5, 0.5], [7, 6, 5, 6]) + noise, ROW_KERNELS[kernel]
    seen = (correlate(x[: stride * i + 3], k, stride=stride) for i in range(21 // stride + 1))

    def draw(ax, h):
        start = stride * (len(h) - 1)
        left, right = start - 0.5, start + 2.5
        ax.fill((left, right, right, left), (1.6, 1.6, 4.0, 4.0), color=tint(ORANGE, 0.3), lw=0)
        ax.plot(x + 2, "o-", color=BLUE, ms=4, lw=0.8)
        for m in range(3):
            ax.text(start + m, 4.1, f"{k[m]:.2g}", ha="center", fontsize=7)
        ax.plot((-0.5, 23.5), (0, 0), color=GREY, lw=0.6)
        ax.plot(1 + stride * np.arange(len(h)), h, "s-", color=ORANGE, ms=4, lw=0.8)
        ax.plot(1 + start, h[-1], "s", color=INK, ms=5)
        ax.set(xlim=(-0.8, 23.8), ylim=(-2.0, 4.6), xlabel="place", yticks=())
        ax.text(23.5, 3.1, "row x", ha="right", fontsize=9)
        ax.text(23.5, -1.8, "outputs h", ha="right", fontsize=9)

    def words(h):
        start = stride * (len(h) - 1)
        terms = " + ".join(f"{k[m]:.2g} · {x[start + m]:.2f}" for m in range(3))
        return f"Output {len(h)}: {terms} = {h[-1]:.2f}."

    return Take(seen, draw, words, lambda h: h[-1])


WINDOWS = {"2 x 2, stride 2": (2, 2), "2 x 2, stride 1": (2, 1), "4 x 4, stride 2": (4, 2)}


@film("pool", max_pool, size=(4.4, 2.6), window=tuple(WINDOWS))
def pool_film(window):
    """Max pooling of a map of 8x8 numbers. The window (orange) slides over the map on the left, and
    the largest of its numbers is written on the right. Windows that overlap write the same large
    number several times. Where it lies in the window does not matter.
    """
    F, S = WINDOWS[window]
    table = load_digits().images[7]
    found = max_pool(table[None, :, :, None], F, stride=S)[0, :, :, 0]

    def draw(ax, place):
        i, j = place
        part = np.s_[S * i : S * i + F, S * j : S * j + F]
        draw_numbers(ax, table, 0, part, vmin=0, vmax=24, cmap="Greys")
        ax.fill(*rim(S * j, 8 - S * i, F), fc="none", ec=ORANGE, lw=2.5, zorder=3)
        draw_numbers(ax, written(found, place), 9, np.s_[:], vmin=0, vmax=24, cmap="Greys")
        ax.fill(*rim(9 + j, 8 - i, 1), fc="none", ec=ORANGE, lw=2, zorder=3)
        empty(ax, (-0.2, 16.2, -0.2, 8.2))

    def words(place):
        i, j = place
        return f"Row {i + 1}, column {j + 1}: the largest of {F * F} numbers is {found[place]:.0f}."

    return Take(np.ndindex(found.shape), draw, words)


if __name__ == "__main__":
    run_script(__file__)
