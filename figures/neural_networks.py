"""Lecture figures of the neural-network chapter."""

from functools import cache, partial
from itertools import islice, pairwise

import numpy as np

from mlnotes.datasets import (
    load_digits,
    make_annulus,
    make_moons,
    make_quadrants,
    make_three_modes,
)
from mlnotes.decision_theory import best_cut
from mlnotes.logistic_regression import LogisticRegression
from mlnotes.model_selection import train_test_split
from mlnotes.neural_networks import (
    BINARY_CROSS_ENTROPY,
    CROSS_ENTROPY,
    IDENTITY,
    LOGISTIC,
    RELU,
    TANH,
    MLPClassifier,
    adam,
    backpropagate,
    deltas,
    forward,
    glorot_start,
    hard_limiter,
    net_input,
    network,
    normal_start,
    one_hot,
    passes,
    sgd,
    train_full_batch,
)
from mlnotes.pca import PCA
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SHADE,
    Take,
    draw_image,
    draw_line,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)

CENTRED = {"ha": "center", "va": "center"}
DASHES = ("--", "-.", ":")


# --- The neuron ------------------------------------------------------------------------

CURVES = ((hard_limiter(), GREY, "-."), (LOGISTIC, BLUE, "-"), (TANH, ORANGE, "--"),
          (RELU, PURPLE, ":"))  # fmt: skip


@figure("activations", claims=(), panels=2)
def activations(left, right):
    """Four activations (left) and their derivatives (right). The logistic function and tanh are the
    same curve up to scale and shift. Far from 0 their derivatives are nearly 0. The derivative of
    the ReLU is 1 wherever its output is positive, and 0 to the left of 0. The hard limiter has the
    derivative 0 on both sides of its jump.
    """
    a = np.linspace(-4, 4, 801)
    for activation, color, dash in CURVES:
        h = activation.f(a)
        style = {"color": color, "ls": dash, "lw": 1.6}
        left.plot(a, h, label=activation.name, **style)
        right.plot(a, activation.slope(h), **style)
    left.set(xlabel="net input $a$", ylabel=r"output $\sigma(a)$", ylim=(-1.2, 2.2))
    right.set(xlabel="net input $a$", ylabel=r"derivative $\sigma'(a)$", ylim=(-0.1, 1.2))
    left.legend(loc="upper left", fontsize=9)


# --- A linear classifier ---------------------------------------------------------------

PIXELS = np.array([2.0, 7.0, 9.0, 1.0])  # an image of 2 x 2
WEIGHTS = np.array([[1.0, -1.0, 0.0, 2.0], [0.0, 1.0, 1.0, -1.0], [-1.0, 0.0, 2.0, 1.0]])
BIASES = np.array([1.0, -8.0, 0.0])
PLANE_W = np.array([[-1.0, 0.6], [1.0, 0.4], [0.1, -1.0]])
PLANE_B = np.array([-0.3, -0.4, -0.3])


@cache
def templates():
    """The ten rows of W of a linear classifier of digits, as 8 x 8 images."""
    T = load_digits()
    model = MLPClassifier((), alpha=1.0, max_iter=100, random_state=0)
    model.set_params(learning_rate_init=0.01, tol=1e-3).fit(T.X / 16, T.y)
    return model.layers_[0][0].reshape(10, 8, 8)


@figure("linear_classifier", claims=("neural_networks-07",), panels=3, size=(3.0, 2.2))
def linear_classifier(left, middle, right):
    """A linear classifier seen in three ways. Left: an image of four pixels becomes a vector x; W x
    + b are the scores of three classes, and the largest score (grey) wins. Middle: the rows of W
    that were learnt for the ten digits, drawn as images. Dark weights are positive: ink there
    raises the score of the digit. Light weights are negative. Right: in the plane each score is 0
    on a line and grows along its arrow. In each of the three regions one of the scores is the
    largest.
    """
    pipeline(left)
    images = np.pad(templates(), ((0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    tiles = images.reshape(2, 5, 10, 10).transpose(0, 2, 1, 3).reshape(20, 50)
    top = np.abs(templates()).max()
    draw_image(middle, tiles, cmap="Greys", vmin=-top, vmax=top)
    middle.set_title("Rows of $W$: 0 to 4, 5 to 9")
    middle.set_anchor("N")
    set_view(right, np.array([[-2.0, -2.0], [2.0, 2.0]]), margin=0)
    draw_regions(right, lambda X: net_input(X, PLANE_W, PLANE_B).argmax(axis=1), range(3))
    for k, (w, b) in enumerate(zip(PLANE_W, PLANE_B, strict=True)):
        draw_line(right, w, b, color=COLORS[k], lw=1.6, ls=DASHES[k])
        foot, tip = -b * w / (w @ w), -b * w / (w @ w) + 0.6 * w
        right.annotate("", tip, foot, arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.2})
        right.text(*(tip + 0.22 * w / np.linalg.norm(w)), f"$w_{k + 1}$", **CENTRED)
    right.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    right.set_title("Lines $w_k^T x + b_k = 0$")


def pipeline(ax):
    """W x + b = scores, in numbers."""
    scores = net_input(PIXELS[None], WEIGHTS, BIASES)[0]
    ax.set_axis_off()
    ax.set(xlim=(-3.1, 9.6), ylim=(-3.8, 1.7), aspect="equal")
    shades = [str(1 - value / 18) for value in PIXELS]
    grid(ax, PIXELS.reshape(2, 2), -3.0, 0.5, np.reshape(shades, (2, 2)))
    grid(ax, WEIGHTS, 0.0, 1.0)
    grid(ax, PIXELS[:, None], 4.6, 1.5, np.reshape(shades, (4, 1)))
    grid(ax, BIASES[:, None], 6.4, 1.0)
    winner = np.where(np.arange(3) == scores.argmax(), SHADE, "white")
    grid(ax, scores[:, None], 8.2, 1.0, winner[:, None])
    for x, text in ((4.3, r"$\cdot$"), (6.0, "$+$"), (7.8, "$=$")):
        ax.text(x, -0.5, text, fontsize=13, **CENTRED)
    for x, text in ((-2.0, "image"), (2.0, "$W$"), (5.1, "$x$"), (6.9, "$b$"), (8.7, "scores")):
        ax.text(x, -3.3, text, **CENTRED)
    ax.set_title("Image to scores")
    ax.set_anchor("N")


def grid(ax, values, left, top, colors=None):
    """The values as a table of unit squares whose upper left corner is given."""
    for (i, j), value in np.ndenumerate(values):
        color = "white" if colors is None else colors[i, j]
        x, y = left + j, top - i
        ax.fill([x, x + 1, x + 1, x], [y, y, y - 1, y - 1], fc=color, ec=INK, lw=0.6)
        number = f"{value:.0f}".replace("-", "−")
        ax.text(x + 0.5, y - 0.5, number, fontsize=9, **CENTRED)


# --- Networks --------------------------------------------------------------------------

DARK_ORANGE = "#a85508"  # for small print
TINY = network((2, 2, 1), TANH)
TINY_LAYERS = [
    (np.array([[0.8, -0.5], [0.4, 1.0]]), np.array([0.1, -0.2])),
    (np.array([[1.2, -0.7]]), np.array([0.3])),
]
TINY_X, TINY_Y = np.array([1.0, 0.5]), np.array([1.0])


@figure("networks", claims=("neural_networks-11",), panels=(2, 2), size=(3.2, 2.4))
def networks(neuron, five, layered, passes):
    r"""Networks as graphs. Above: one neuron, and the network of five nodes of walk 2. Below, left:
    an input x, a hidden layer h and an output layer s; each unit feeds all units of the next layer,
    and no others. Below, right: one sample goes forward (black: the output h of each node), and
    derivatives come back over the same weights (orange: the $\delta$ of each hidden and output
    node, the subject of walk 5).
    """
    draw_neuron(neuron)
    draw_five(five)
    draw_layers(layered, (4, 5, 3))
    draw_passes(passes)


def draw_neuron(ax):
    """Three inputs, their weights, the net input and the output."""
    inputs, ((x, y),) = draw_graph(ax, (3, 1))
    for k, place in enumerate(inputs, start=1):
        ax.text(*place, f"$x_{k}$", **CENTRED)
        on_edge(ax, place, (x, y), f"$w_{k}$")
    ax.text(x, y, "$a$", **CENTRED)
    ax.annotate("", (x + 0.55, y), (x + 0.13, y), arrowprops={"arrowstyle": "->", "lw": 1.0})
    ax.text(x + 0.6, y, r"$\sigma(a)$", ha="left", va="center")
    ax.text(x, y - 0.55, "$a = w^T x + b$", **CENTRED)
    ax.set(xlim=(-0.3, 2.2), title="One neuron")


def draw_five(ax):
    """MLN's nodes 1 to 5, and the weight w_ji to j from i on each edge."""
    places = dict(enumerate(np.concatenate(draw_graph(ax, (2, 2, 1))), start=1))
    for number, place in places.items():
        ax.text(*place, f"{number}", **CENTRED)
    for i, j in ((1, 3), (2, 3), (1, 4), (2, 4), (3, 5), (4, 5)):
        crossing = (i, j) in ((2, 3), (1, 4))
        on_edge(ax, places[i], places[j], f"$w_{{{j}{i}}}$", 0.28 if crossing else 0.5)
    ax.set_title("Five nodes")


def draw_layers(ax, sizes):
    """A network of three layers of nodes, and how many weights are between them."""
    draw_graph(ax, sizes)
    for x, text in enumerate(("$x$", "$h$", "$s$")):
        ax.text(x, -1.55, text, **CENTRED)
    for k, (m, n) in enumerate(pairwise(sizes)):
        ax.text(k + 0.5, -1.55, f"$W_{k + 1}$: {n * m}", fontsize=9, **CENTRED)
    ax.set_title("Layers, with the number of weights")


def draw_passes(ax):
    """The outputs of a forward pass above the nodes, the deltas of the backward pass below."""
    delta, h = deltas(TINY, TINY_LAYERS, TINY_X, TINY_Y)
    for j, layer in enumerate(draw_graph(ax, TINY.sizes)):
        for i, (x, y) in enumerate(layer):
            ax.text(x, y + 0.37, signed(h[j][i]), fontsize=9, **CENTRED)
            if j:
                back = signed(delta[j - 1][i])
                ax.text(x, y - 0.37, back, color=DARK_ORANGE, fontsize=9, **CENTRED)
    ways = ((1.5, (0, 2), "$h$ forward", INK), (-1.5, (2, 0), r"$\delta$ back, by $W^T$", ORANGE))
    for y, (start, end), text, color in ways:
        arrow = {"arrowstyle": "->", "color": color, "lw": 1.4}
        ax.annotate("", (end, y), (start, y), arrowprops=arrow)
        ax.text(1.0, y + 0.22 * np.sign(y), text, **CENTRED)
    ax.set(ylim=(-1.9, 1.9), title="Forward and back")


def signed(value):
    """Two decimals, with a minus sign."""
    return f"{value:.2f}".replace("-", "−")


def draw_graph(ax, sizes):
    """Nodes in columns, each with an edge to all of the next column; the places of the nodes."""
    places = [
        np.column_stack([np.full(m, float(k)), (m - 1 - 2 * np.arange(m)) / max(sizes) * 1.2])
        for k, m in enumerate(sizes)
    ]
    edges = [(p, q) for left, right in pairwise(places) for p in left for q in right]
    for (x0, y0), (x1, y1) in edges:
        ax.plot([x0, x1], [y0, y1], color=GREY, lw=0.9, zorder=1)
    ax.plot(*np.concatenate(places).T, "o", ms=16, mfc="white", mec=INK, mew=1.1, zorder=2)
    ax.set(xlim=(-0.35, len(sizes) - 0.65), ylim=(-1.75, 1.4))
    ax.set_axis_off()
    return places


def on_edge(ax, start, end, text, near=0.45):
    """The text on the edge, at the share `near` of its length."""
    place = (1 - near) * np.asarray(start) + near * np.asarray(end)
    ax.text(*place, text, fontsize=9, **CENTRED,
            bbox={"fc": "white", "ec": "none", "pad": 0.8})  # fmt: skip


# --- XOR -------------------------------------------------------------------------------

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
PARITY = np.array([0, 1, 1, 0])
XOR_LAYERS = [(np.ones((2, 2)), np.array([0.0, -1.0])), (np.array([[1.0, -2.0]]), np.zeros(1))]


@figure("xor", claims=(), panels=2, size=(3.0, 2.8))
def xor(left, right):
    """XOR with two ReLUs. Left: the four corners, with the label 1 (squares) or 0 (circles). The
    first ReLU is positive above the dashed line, the second above the dotted one. In the orange
    strip f is above 1/2. Right: the same four corners as the hidden layer sees them. Two of them
    have become one point, and now a line separates the labels: f is 1/2 on it.
    """
    hidden = forward(XOR_LAYERS, (RELU, IDENTITY), CORNERS)[1]
    for ax, points, margin in ((left, CORNERS, 0.3), (right, hidden, 0.2)):
        set_view(ax, points, margin=margin, equal=False)
        for label, color, marker in ((0, BLUE, "o"), (1, ORANGE, "s")):
            ax.plot(*points[PARITY == label].T, marker, color=color, ms=8)
    left.set_autoscale_on(False)
    draw_regions(left, lambda X: forward(XOR_LAYERS, (RELU, IDENTITY), X)[-1][:, 0] > 0.5, (0, 1))
    draw_line(left, np.ones(2), 0.0, color=INK, lw=1.0, ls="--")
    draw_line(left, np.ones(2), -1.0, color=INK, lw=1.0, ls=":")
    draw_line(right, np.array([1.0, -2.0]), -0.5, color=INK, lw=1.2)
    for (x, y), (u, v) in zip(CORNERS, hidden, strict=True):
        left.text(x, y + 0.1, f"({x:.0f}, {y:.0f})", fontsize=9, **CENTRED)
        if (x, y) != (1.0, 0.0):  # it lies on the image of (0, 1)
            right.text(u, v + 0.09, f"({u:.0f}, {v:.0f})", fontsize=9, **CENTRED)
    left.set(xlabel="$x_1$", ylabel="$x_2$", title="Input", xticks=(0, 1), yticks=(0, 1))
    right.set(xlabel="$h_1$", ylabel="$h_2$", title="Hidden layer", xticks=(0, 1, 2), yticks=(0, 1))


@figure("xor_steps", claims=(), panels=4, size=(2.0, 2.1))
def xor_steps(*axes):
    """A network with two tanh units learns XOR. Blue: output below 1/2. Orange: above 1/2. Circles
    should be blue and squares orange. After 50 steps (1, 1) is still wrong. After 100 steps all
    four are right, (1, 1) only just.
    """
    net, y = network((2, 2, 1), TANH), 1.0 * PARITY[:, None]
    start = normal_start(net.sizes, rng=np.random.default_rng(0))
    states = list(islice(train_full_batch(net, start, CORNERS, y, eta=0.5), 201))

    def says_one(X, layers):
        return forward(layers, net.activations, X)[-1][:, 0] > 0.5

    for ax, k in zip(axes, (0, 50, 100, 200), strict=True):
        set_view(ax, CORNERS, margin=0.3)
        draw_regions(ax, partial(says_one, layers=states[k].x), (0, 1))
        draw_samples(ax, CORNERS, PARITY, size=7)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"step {k}: J = {states[k].objective:.4f}", fontsize=10)


# --- One sample, arrow by arrow --------------------------------------------------------


@figure("one_sample", claims=(), panels=(2, 2), size=(3.6, 2.5))
def one_sample(first, second, third, fourth):
    r"""One sample goes through a network with two tanh units. 1: inputs times weights, plus bias,
    through tanh. 2: the same for the output unit, which is linear; the target is 1. 3: the error
    0.56 - 1 goes back over the weights 1.2 and -0.7, and is multiplied by the slopes of tanh:
    $-0.44 \cdot 1.2 \cdot 0.67 = -0.35$ at the upper unit. 4: the derivative for each weight is
    the $\delta$ at its right end times the output at its left end.
    """
    (W1, b1), (W2, b2) = TINY_LAYERS
    delta, h = deltas(TINY, TINY_LAYERS, TINY_X, TINY_Y)
    gradients = [np.outer(each, h[j]) for j, each in enumerate(delta)]
    draw_stage(first, "1. Forward to the hidden layer", {0: W1}, h[:2])
    draw_stage(second, "2. Forward to the output", {1: W2}, [None, *h[1:]])
    draw_stage(third, "3. Back: the deltas", {1: W2}, [None, *delta], back=True)
    draw_stage(fourth, "4. Derivatives for the weights", dict(enumerate(gradients)), [])
    for ax, j, biases in ((first, 1, b1), (second, 2, b2)):
        for k, bias in enumerate(biases):
            x, y = stage_places(TINY.sizes)[j][k]
            ax.text(x, y - 0.42, f"bias {signed(bias)}", fontsize=9, **CENTRED)


def stage_places(sizes):
    """The places of the nodes, layer by layer."""
    return [
        np.column_stack([np.full(m, 1.6 * j), 0.8 * (m - 1 - 2 * np.arange(m))])
        for j, m in enumerate(sizes)
    ]


def draw_stage(ax, title, on_edges, at_nodes, *, back=False):
    """The graph with numbers on the edges of some layers and above the nodes of some."""
    places = stage_places(TINY.sizes)
    color = DARK_ORANGE if back else INK
    for j, (left, right) in enumerate(pairwise(places)):
        for i, start in enumerate(left):
            for k, end in enumerate(right):
                if j not in on_edges:
                    ax.plot(*zip(start, end, strict=True), color=tint(GREY, 0.5), lw=0.8, zorder=1)
                    continue
                arrow = {"arrowstyle": "->", "color": color, "lw": 1.1, "shrinkA": 9, "shrinkB": 9}
                tip, tail = (start, end) if back else (end, start)
                ax.annotate("", tip, tail, arrowprops=arrow)
                near = 0.28 if len(right) > 1 else 0.45
                on_edge(ax, start, end, signed(on_edges[j][k, i]), near)
    for place in np.concatenate(places):
        ax.plot(*place, "o", ms=13, mfc="white", mec=INK, mew=1.0, zorder=2)
    for j, values in enumerate(at_nodes):
        for place, value in zip(places[j], () if values is None else values, strict=False):
            ax.text(place[0], place[1] + 0.42, signed(value), color=color, **CENTRED)
    ax.set(xlim=(-0.5, 3.7), ylim=(-1.5, 1.5), title=title)
    ax.set_axis_off()


# --- Hard cases ------------------------------------------------------------------------

ANGLES = np.pi * np.arange(180) / 180


@cache
def hard_cases():
    """Three sets that no line separates, by their names."""
    return {
        "Quadrants": make_quadrants(300, rng=np.random.default_rng(1)),
        "Ring": make_annulus(300, rng=np.random.default_rng(2)),
        "Three modes": make_three_modes(300, rng=np.random.default_rng(3)),
    }


def best_line(X, y):
    """The w, b of the fewest errors over 180 directions and all offsets; labels -1 and +1."""
    turns = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    cuts = [best_cut(X @ w, (y > 0).astype(int)) for w in turns]
    k = int(np.argmin([cut.errors for cut in cuts]))
    sign = 1.0 if cuts[k].above else -1.0
    return sign * turns[k], -sign * cuts[k].at


@cache
def trained(name):
    """A network with one hidden layer of 32 ReLUs, trained on the set."""
    T = hard_cases()[name]
    model = MLPClassifier((32,), learning_rate_init=0.02, max_iter=2000, tol=1e-3, random_state=1)
    return model.set_params(n_iter_no_change=50).fit(*T[:])


@figure("hard_cases", claims=("neural_networks-12",), panels=(2, 3), size=(2.3, 2.4))
def hard_cases_of_a_line(*axes):
    """Three sets of 300 points that no line separates. Above: the line with the fewest errors among
    180 directions. For the ring and the three modes it lies outside: all points are on one side.
    Below: the boundary that a network with one hidden layer of 32 ReLUs has learnt. It consists of
    straight pieces. The percentages are rounded shares of the drawn points, which were used for
    training; in the quadrants the network is wrong at one point.
    """
    for k, (name, T) in enumerate(hard_cases().items()):
        above, below = axes[k], axes[3 + k]
        for ax in (above, below):
            set_view(ax, T.X, margin=0.04)
        w, b = best_line(*T[:])
        draw_regions(above, lambda X, w=w, b=b: np.where(X @ w + b > 0, 1, -1), (1, -1))
        draw_regions(below, trained(name).predict, (1, -1))
        sides = np.where(T.X @ w + b > 0, 1, -1)
        line = "line" if len(set(sides)) == 2 else "best line outside"
        above.set_title(f"{name}: {line}, {100 * np.mean(sides == T.y):.0f} %", fontsize=10)
        right = trained(name).score(*T[:])
        below.set_title(f"{name}: network, {100 * right:.0f} %", fontsize=10)
        for ax in (above, below):
            draw_samples(ax, T.X, T.y, size=2.6)
            ax.set(xticks=[], yticks=[])


# --- Starting points and descent -------------------------------------------------------


@figure("deep_start", claims=(), panels=2, size=(3.6, 2.4))
def deep_start(left, right):
    """Ten layers of 100 tanh units; the deltas of the last layer are random. With Glorot's weights
    (solid) signals and deltas stay within one power of ten. The signals fall to a quarter, because
    tanh, unlike the identity of walk 10, moves every net input towards 0. With weights ten
    times smaller (dashed) the signal has died out in the last layer, and the deltas in the first.
    With weights five times larger (dotted) most outputs are close to 1 or -1, and the deltas grow
    on their way back.
    """
    start = glorot_start((100,) * 11, rng=np.random.default_rng(0))
    for factor, color, dash in ((1, BLUE, "-"), (0.1, ORANGE, "--"), (5, PURPLE, ":")):
        layers, rng = [(factor * W, 0 * b) for W, b in start], np.random.default_rng(1)
        H = forward(layers, [TANH] * 10, rng.normal(size=(50, 100)))
        Delta = [rng.normal(size=(50, 100))]
        for j in range(10, 1, -1):
            Delta.insert(0, (Delta[0] @ layers[j - 1][0]) * TANH.slope(H[j - 1]))
        style = {"color": color, "ls": dash, "lw": 1.6}
        left.semilogy([h.std() for h in H], label=f"{factor} times Glorot's", **style)
        right.semilogy(range(1, 11), [delta.std() for delta in Delta], **style)
    left.set(xlabel="layer", ylabel="standard deviation", title="Signals $h$")
    right.set(xlabel="layer", ylabel="standard deviation", title=r"Deltas, from right to left")
    left.legend(loc="lower left", fontsize=9)


FOUR = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]])


def on_four(theta, rows):
    """J and its gradient for the linear neuron theta^T x with the targets x_1 + x_2."""
    error = FOUR[rows] @ (theta - 1)  # zero at theta = (1, 1)
    return np.mean(error**2) / 2, FOUR[rows].T @ error / len(rows)


@figure("valley", claims=(), panels=3, size=(2.8, 2.4))
def valley(*axes):
    """Sixty steps down a long valley (grey: lines of equal J) to the minimum (star). SGD, which
    with the exact gradient is gradient descent, reaches the floor in one step, and then creeps.
    Momentum swings across the valley, and gains speed along it. Adam at first moves both
    coordinates at the same speed; it overshoots, and turns back.
    """
    start, how = np.array([-1.0, -0.5]), {"n": 4, "batch_size": 4, "rng": None}
    runs = {
        r"SGD, $\eta = 1$": sgd(on_four, start, learning_rate=1.0, **how),
        r"Momentum, $\mu = 0.9$, $\eta = 0.5$": sgd(
            on_four, start, learning_rate=0.5, momentum=0.9, **how
        ),
        r"Adam, $\eta = 0.1$": adam(on_four, start, learning_rate=0.1, **how),
    }
    w1, w2 = np.meshgrid(np.linspace(-1.3, 3, 80), np.linspace(-0.8, 1.6, 80))
    J = ((w1 - 1) ** 2 + 0.01 * (w2 - 1) ** 2) / 2
    for ax, (name, states) in zip(axes, runs.items(), strict=True):
        path = np.array([state.theta for state in islice(states, 61)])
        ax.contour(w1, w2, J, levels=[0.001, 0.005, 0.02, 0.2, 1], colors=[GREY], linewidths=0.7)
        ax.plot(*path.T, ".-", ms=3, lw=0.8, color=BLUE)
        ax.plot(1, 1, "*", ms=10, color=ORANGE)
        ax.set(xlabel=r"$\theta_1$", yticks=(0, 1))
        ax.set_title(name, fontsize=10)
    axes[0].set_ylabel(r"$\theta_2$")


# --- What the hidden layer of the digits has learnt --------------------------------------


@figure("hidden_digits", claims=(), panels=2, size=(3.6, 2.9))
def hidden_digits(left, right):
    """Eight new images of each digit, even ones blue and odd ones orange. To the right of the line
    the answer is "odd". Left: the pixels x. The horizontal axis is the one linear score, the
    vertical axis the direction in which the images vary most. Six of the 80 images are on the wrong
    side. Right: the same images as the 50 hidden ReLUs see them. The horizontal axis is the net
    input of the output unit: again one linear score, but of the hidden outputs h, and the vertical
    axis the direction in which these vary most. One image is on the wrong side. All 450 new images
    have nearly the same shares of errors.
    """
    T = load_digits()
    X, odd = T.X / 16, T.y % 2
    train, test = train_test_split(np.arange(len(odd)), random_state=9, stratify=T.y)
    net = MLPClassifier((50,), learning_rate_init=0.02, tol=3e-3, random_state=9)
    (W1, b1), (W2, b2) = net.fit(X[train], odd[train]).layers_
    H = RELU.f(net_input(X, W1, b1))
    line = LogisticRegression().fit(X[train], odd[train])
    scores = (line.decision_function(X), net_input(H, W2, b2)[:, 0])
    shown = np.concatenate([test[T.y[test] == k][-8:] for k in range(10)])
    for ax, score, points in zip((left, right), scores, (X, H), strict=True):
        height = PCA(1).fit(points[test]).transform(points)[:, 0]
        for k, rows in enumerate(shown.reshape(10, 8)):
            color = (BLUE, ORANGE)[k % 2]
            ax.plot(score[rows], height[rows], marker=f"${k}$", ms=5, mew=0, ls="", color=color)
        ax.axvline(0, color=INK, lw=1.0)
        ax.set(xticks=[], yticks=[])
    left.set_title("$x$")
    right.set_title("$h$")


# --- How long to train -----------------------------------------------------------------


@figure("overfitting", claims=(), size=(4.6, 2.3))
def overfitting(ax):
    """Three of the networks with 30 % of the labels replaced, after each pass. Dashed: the share of
    their 269 training labels that they name. It rises to nearly 1. Solid: the share right on the
    450 new digits. It is largest within the first ten passes, and then falls.
    """
    T = load_digits()
    train, test = train_test_split(np.arange(len(T.y)), random_state=9, stratify=T.y)
    net = network((64, 50, 10), RELU, CROSS_ENTROPY)
    for k, color in enumerate((BLUE, ORANGE, PURPLE)):
        own, rng = train[269 * k : 269 * (k + 1)], np.random.default_rng(k)
        labels = np.where(rng.random(269) < 0.3, rng.integers(10, size=269), T.y[own])
        X, Y, rng = T.X[own] / 16, one_hot(labels, range(10)), np.random.default_rng(k)

        def f(layers, rows, X=X, Y=Y):
            return backpropagate(net, layers, X[rows], Y[rows], alpha=1e-4)

        start, params = glorot_start(net.sizes, rng=rng), {"batch_size": 200, "rng": rng}
        states = islice(adam(f, start, len(X), learning_rate=0.02, **params), 101)
        layers = [state.theta for state in states]
        for images, wanted, dash in ((X, labels, "--"), (T.X[test] / 16, T.y[test], "-")):
            right = [
                np.mean(forward(each, net.activations, images)[-1].argmax(axis=1) == wanted)
                for each in layers
            ]
            ax.plot(right, dash, lw=1.2, color=color)
    ax.set(xlabel="passes over the training samples", ylabel="share right", ylim=(0, 1.03))


# --- Films -----------------------------------------------------------------------------


@film("moons", passes, measure="mean loss J", units=(4, 2))
def moons_film(units):
    """Stochastic gradient descent on two moons, with a state after each pass over the samples. The
    network has one hidden layer of tanh. Solid is the boundary, where f = 1/2; dashed are the lines
    where the hidden units change their sign. Watch the boundary bend as the lines move.
    """
    T = make_moons(80, noise=0.15, rng=np.random.default_rng(2))
    net = network((2, units, 1), TANH, BINARY_CROSS_ENTROPY)
    Y, rng = T.y > 0, np.random.default_rng(3)
    start = glorot_start(net.sizes, rng=rng)
    params = {"batch_size": 10, "learning_rate": 0.1, "momentum": 0.9, "rng": rng}

    def f(layers, rows):
        return backpropagate(net, layers, T.X[rows], 1.0 * Y[rows, None])

    def outputs(layers, X):
        return forward(layers, net.activations, X)[-1][:, 0]

    def draw(ax, state):
        draw_samples(ax, T.X, T.y, size=4)
        set_view(ax, T.X, margin=0.15)
        draw_level(ax, lambda X: outputs(state.theta, X), 0.5)
        draw_units(ax, *state.theta[0])

    def words(state):
        wrong = np.count_nonzero((outputs(state.theta, T.X) > 0.5) != Y)
        return f"J = {state.objective:.3f}. {wrong} of {len(Y)} samples are on the wrong side."

    return Take(sgd(f, start, len(Y), **params), draw, words)


def draw_level(ax, f, level, points=25):
    """The contour of f at the level over the view, from a coarse grid."""
    x, y = np.linspace(*ax.get_xlim(), points), np.linspace(*ax.get_ylim(), points)
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    Z = f(plane.reshape(-1, 2)).reshape(points, points)
    if Z.min() < level < Z.max():
        ax.contour(x, y, Z, levels=[level], colors=[INK], linewidths=1.6)


def draw_units(ax, W, b):
    """The lines on which the net inputs of the hidden units are 0."""
    for k in range(len(W)):
        draw_line(ax, W[k], b[k], color=GREY, lw=0.8, ls="--", zorder=1)
    ax.set(xlabel="x₁", ylabel="x₂")


@film("xor_learnt", passes, measure="mean loss J", start=(3, 1, 4))
def xor_film(start):
    """XOR learnt by gradient descent on all four corners, with a hidden layer of two units (tanh).
    Solid is where f = 1/2, dashed are the lines of the hidden units. Watch the lines turn until the
    orange corners lie between them. Start 1 ends on a plateau, with the output 1/2 at two corners;
    start 4 leaves one at last.
    """
    X, Y = CORNERS, PARITY[:, None] * 1.0
    net = network((2, 2, 1), TANH, BINARY_CROSS_ENTROPY)
    rng = np.random.default_rng(start)
    layers = normal_start(net.sizes, rng=rng)
    params = {"batch_size": 4, "learning_rate": 1.0, "momentum": 0.9, "rng": rng}

    def f(layers, rows):
        return backpropagate(net, layers, X[rows], Y[rows])

    def outputs(layers, X):
        return forward(layers, net.activations, X)[-1][:, 0]

    def draw(ax, state):
        for label, color, marker in ((0, BLUE, "o"), (1, ORANGE, "s")):
            ax.plot(*X[PARITY == label].T, marker, color=color, ms=9, zorder=3)
        set_view(ax, X, margin=0.5)
        draw_level(ax, lambda X: outputs(state.theta, X), 0.5)
        draw_units(ax, *state.theta[0])

    def words(state):
        f = ", ".join(f"{each:.2f}" for each in outputs(state.theta, X))
        return f"J = {state.objective:.3f}. Outputs {f}."

    return Take(sgd(f, layers, 4, **params), draw, words)


@film("adam", adam, measure="f", learning_rate=(0.3, 0.1, 1.0))
def adam_film(learning_rate):
    """Adam in a long valley, from the upper left. Every coordinate has its own step length, so the
    first steps are as long along the flat direction as along the steep one. Descent with one step
    size for both would go almost straight down first. A large learning rate overshoots.
    """
    curvatures, way = np.array([1.0, 25.0]), []

    def f(theta):
        return (theta**2 @ curvatures) / 2

    def f_and_gradient(theta, rows):
        return f(theta), curvatures * theta

    def draw(ax, state):
        way.append(state.theta)
        ax.set(xlim=(-3.4, 1.6), ylim=(-1.2, 1.6), xlabel="x₁", ylabel="x₂")
        x, y = np.linspace(-3.4, 1.6, 50), np.linspace(-1.2, 1.6, 50)
        heights = f(np.stack(np.meshgrid(x, y), axis=-1))
        ax.contour(x, y, heights, levels=[0.3, 1, 3, 6, 12, 20], colors=[GREY], linewidths=0.8)
        ax.plot(*np.transpose(way), "o-", color=BLUE, lw=1, ms=3, zorder=3)
        ax.plot(*state.theta, "o", ms=6, color=ORANGE, zorder=4)

    def words(state):
        return f"Step {len(way) - 1}: f = {state.objective:.4f}."

    params = {"batch_size": 1, "learning_rate": learning_rate, "rng": None}
    states = adam(f_and_gradient, np.array([-3.0, 1.0]), 1, **params)
    return Take(states, draw, words, length=41)


if __name__ == "__main__":
    run_script(__file__)
