"""Lecture figures of the autoencoder chapter."""

import warnings
from functools import cache
from itertools import islice, pairwise

import numpy as np

from mlnotes.autoencoder import (
    Autoencoder,
    corrupt,
    descend_linear,
    linear_denoiser,
    linear_error,
    linear_optimum,
)
from mlnotes.datasets import load_digits, load_iris
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SHADE,
    Take,
    draw_image,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
)

CENTRED = {"ha": "center", "va": "center"}


# --- Three ways ------------------------------------------------------------------------

LOST = (1, 3)  # inputs that are masked
ACTIVE = (1, 4)  # units of the wide code that are not 0


@figure("networks", claims=("autoencoder-10",), panels=3, size=(2.4, 2.6))
def networks(narrow, denoising, sparse):
    """Three networks that have to return their input and cannot simply copy it. Each circle is a
    number, each line a weight: V holds those before the code, W those after it. Left: the code z
    has fewer units than the input. Middle: some inputs are set to 0 (crossed out), and the target
    is the whole x; the code may be wide. Right: the code has more units than the input, but for
    each sample only a few of them are active (black).
    """
    draw_network(narrow, (5, 2, 5))
    narrow.set_title("Narrow code")
    inputs, *_ = draw_network(denoising, (5, 6, 5), first=r"$\tilde{x}$")
    denoising.plot(*inputs[list(LOST)].T, "x", ms=7, color=INK, mew=1.3, zorder=3)
    denoising.set_title("Corrupted input")
    _, code, _ = draw_network(sparse, (4, 6, 4))
    sparse.plot(*code[list(ACTIVE)].T, "o", ms=13, mfc=INK, mec=INK, zorder=3)
    sparse.set_title("Sparse code")


def draw_network(ax, sizes, first="$x$"):
    """Layers from left to right, with V and W between them; the places of the nodes."""
    places = [
        np.column_stack([np.full(m, float(j)), (m - 1) / 2 - np.arange(m)])
        for j, m in enumerate(sizes)
    ]
    for left, right in pairwise(places):
        for (x0, y0), (x1, y1) in ((p, q) for p in left for q in right):
            ax.plot([x0, x1], [y0, y1], color=GREY, lw=0.8, zorder=1)
    ax.plot(*np.concatenate(places).T, "o", ms=13, mfc="white", mec=INK, mew=1.1, zorder=2)
    for j, text in enumerate((first, "$z$", r"$\hat{x}$")):
        ax.text(j, -3.4, text, fontsize=12, **CENTRED)
    for j, text in enumerate(("$V$", "$W$")):
        ax.text(j + 0.5, -3.4, text, fontsize=12, **CENTRED)
    ax.set(xlim=(-0.3, 2.3), ylim=(-3.8, 2.9))
    ax.set_axis_off()
    return places


# --- Linear units ----------------------------------------------------------------------

STEPS = 60
DASHES = ("-", "--", "-.")


@cache
def iris():
    """The iris, standardised: samples and species."""
    X, y = load_iris()[:]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@cache
def trained_pairs():
    """Descent on J from three starts, with two units of code."""
    X, _ = iris()
    runs = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        start = 0.01 * rng.normal(size=(4, 2)), 0.01 * rng.normal(size=(2, 4))
        runs.append(list(islice(descend_linear(X, *start, eta=5e-4), STEPS + 1)))
    return runs


STARTS = (-0.02, 0.05), (0.05, 1.8), (0.6, -0.9)  # of v and w
EDGE = 2.2


def hyperbola(ax, product, **style):
    """Both branches of w v = product in the view."""
    v = np.geomspace(abs(product) / EDGE, EDGE, 13)
    for branch in (v, -v):
        ax.plot(branch, product / branch, **style)


@figure("landscape", claims=(), size=(3.2, 3.0))
def landscape(ax):
    """The error (1 - w v)² of one linear unit for one feature with second moment 1. Each grey line
    joins pairs (v, w) of equal error, and dotted lines are above 1. On the blue curve w v = 1 the
    error is 0. At 0 the ground falls along w = v, and rises along w = -v. Descents from three
    starts (one dot per step) end at different points of the curve. The one that starts near 0 stays
    there long.
    """
    for product in (0.3, 0.6, 1.5, 2.2):
        hyperbola(ax, product, color=GREY, lw=0.8, ls="-" if product < 2 else ":")
    for product in (-0.3, -0.8, -1.5):
        hyperbola(ax, product, color=GREY, lw=0.8, ls=":")
    hyperbola(ax, 1.0, color=BLUE, lw=2)
    for line in (ax.axhline, ax.axvline):  # here w v = 0
        line(0, color=GREY, lw=0.8)
    for start in STARTS:
        v, w = np.array(start)[:, None, None]
        states = islice(descend_linear(np.eye(1), w, v, eta=0.1), 41)
        path = np.array([(state.V.item(), state.W.item()) for state in states])
        moved = np.linalg.norm(path - path[-1], axis=1) > 0.03  # then the dots hide one another
        ax.plot(*path[moved].T, ".", color=ORANGE, ms=4)
    view = {"xlim": (-EDGE, EDGE), "ylim": (-EDGE, EDGE), "aspect": "equal"}
    ax.set(xlabel="$v$", ylabel="$w$", xticks=(-1, 0, 1), yticks=(-1, 0, 1), **view)


@figure("linear", claims=(), panels=3, size=(2.4, 2.4))
def linear(left, middle, right):
    """A linear autoencoder with two code units finds the subspace of PCA, not its axes. Left: the
    error J on the irises during gradient descent from three starts. Each curve rests for a while
    near the error of the first axis alone (upper dotted line): the descent passes near a saddle
    point. All three end at the error of PCA (lower dotted line). Middle: the scores of PCA, which
    are uncorrelated, with one mark per species. Right: the codes after a descent from a larger
    start: the same picture, turned and stretched by an invertible matrix.
    """
    X, y = iris()
    for k, states in enumerate(trained_pairs()):
        J = [state.objective for state in states]
        left.plot(J, color=(INK, BLUE, ORANGE)[k], ls=DASHES[k], lw=1.4)
    best = linear_optimum(X, 2)
    for level in (linear_error(X, *best), linear_error(X, *linear_optimum(X, 1))):
        left.axhline(level, color=GREY, ls=":", lw=1.4, zorder=0)
    left.set(xlabel="step", ylabel="$J(W, V)$", xlim=(0, STEPS), ylim=(0, None), title="Descent")
    start = np.random.default_rng(0).normal(size=(4, 2)), np.zeros((2, 4))
    *_, end = islice(descend_linear(X, *start, eta=5e-4), 3000)
    ends = {"PCA": (middle, best.V), "Trained code": (right, end.V)}
    for title, (ax, V) in ends.items():
        Z = X @ V.T
        draw_samples(ax, Z, y, size=2.8)
        set_view(ax, Z)
        ax.set(xlabel="$z_1$", ylabel="$z_2$", title=title, xticks=(-2, 0, 2), yticks=(-2, 0, 2))
        ax.set_anchor("N")


# --- Two numbers for a digit -----------------------------------------------------------


@figure("plateau", claims=(), size=(4.4, 2.3))
def plateau(ax):
    """The objective F on the training pictures during 150 passes, for three starts. The dotted
    lines are half of the mean squared error of PCA, with two axes (upper) and with three. Each
    curve falls quickly to the upper line and stays within 2 % of it for 25 passes or more. Then the
    network finds a curved surface.
    """
    train, _ = digits()
    for seed, style in enumerate(DASHES):
        model = Autoencoder(2, hidden_layer_sizes=(32,), batch_size=100, random_state=seed)
        model.set_params(learning_rate_init=0.008, max_iter=150, tol=0, n_iter_no_change=150)
        ax.plot(range(1, 151), trained(model, train).loss_curve_, style, color=BLUE, lw=1)
    s = np.linalg.svd(train - train.mean(axis=0), compute_uv=False)
    for k in (2, 3):
        ax.axhline(np.sum(s[k:] ** 2) / (2 * len(train)), color=GREY, ls=":")
    ax.set(xlabel="pass", ylabel="objective F", xlim=(0, 150), ylim=(0, None))


# --- Corrupted inputs ------------------------------------------------------------------

Q = 0.5
KEPT = np.array([-1.8, -1.2, -0.6, 0.6, 1.2, 1.8])
COVARIANCE = np.array([[1.0, 0.85], [0.85, 1.0]])
SHOWN = (3, 14, 25, 60, 71, 86)  # of the digits that were not trained on
ROWS = ("clean", "corrupted", "linear map", "net, clean", "net, corrupted")


@cache
def digits():
    """Grey levels in [0, 1], for training and for testing."""
    X = load_digits().X / 16
    return X[:1200], X[1200:]


@cache
def wide_network(noise):
    """A wide code, trained on clean digits (None) or on digits that lost half of their pixels."""
    model = Autoencoder(100, activation="relu", noise=noise, noise_level=Q, alpha=0.01)
    model.set_params(learning_rate_init=0.003, max_iter=100, random_state=0)
    return trained(model, digits()[0])


def trained(model, X):
    """Fitted for as many passes as it has; that more would do better is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def restorations():
    """Digits: clean and corrupted; restored by the best linear map and by two networks, of which
    the first was trained on clean digits and the second on corrupted ones.
    """
    train, test = digits()
    X = test[list(SHOWN)]
    corrupted = corrupt(test, "masking", Q, rng=np.random.default_rng(0))[list(SHOWN)]
    M = linear_denoiser(train.T @ train / len(train), "masking", Q)
    networks = [wide_network(noise) for noise in (None, "masking")]
    by_network = [model.inverse_transform(model.transform(corrupted)) for model in networks]
    return X, corrupted, corrupted @ M.T, *by_network


@figure("denoising", claims=(), panels=2, size=(3.6, 3.4))
def denoising(left, right):
    """A lost entry can be guessed as far as the features depend on one another. Left: two
    correlated features, and twelve samples that have lost one of them (open circles). The best
    linear map (black dots) moves them towards the place where the samples are (cloud). The
    conditional mean (blue crosses) keeps the surviving entry and guesses only the lost one. Right:
    six test digits, the same digits after each pixel was lost with probability 1/2, and three
    restorations. The best linear map blurs. The network that was trained on clean digits mostly
    copies the damage. The network that was trained on corrupted digits fills in strokes.
    """
    rng = np.random.default_rng(3)
    X = rng.multivariate_normal(np.zeros(2), COVARIANCE, size=300)
    M = linear_denoiser(COVARIANCE, "masking", Q)
    set_view(left, X)
    draw_samples(left, X, size=4)
    corrupted = np.kron(np.eye(2), KEPT[:, None])  # only x_1 left, and only x_2
    for start, end in zip(corrupted, corrupted @ M.T, strict=True):
        left.plot(*zip(start, end, strict=True), color=INK, lw=0.7, zorder=2)
    left.plot(*corrupted.T, "o", ms=4, mfc="white", mec=ORANGE, mew=1.2, zorder=3)
    left.plot(*(corrupted @ M.T).T, "o", ms=3.2, color=INK, zorder=3)
    guessed = np.where(corrupted == 0, corrupted @ COVARIANCE, corrupted)  # 0.85 times the other
    left.plot(*guessed.T, "x", ms=5, mew=1.4, color=BLUE, zorder=3)
    left.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    left.set_title("One of two features lost")
    rows = restorations()
    draw_mosaic(right, np.concatenate(rows), len(SHOWN))
    for k, name in enumerate(ROWS):
        right.text(-1.5, 4 + 9 * k, name, ha="right", va="center")
    right.set_title("Half of the pixels lost")


def draw_mosaic(ax, X, columns, **style):
    """The rows of X (n, 64) as 8 x 8 images, black on white, so many beside one another."""
    images = X.reshape(-1, columns, 8, 8)
    framed = np.pad(images, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
    sheet = framed.swapaxes(1, 2).reshape(9 * len(images), 9 * columns)[:-1, :-1]
    return draw_image(ax, sheet, **({"cmap": "Greys", "vmin": 0, "vmax": 1} | style))


NOISE = 0.25


@figure("arrows", claims=(), panels=2, size=(3.4, 2.6))
def arrows(left, right):
    """Samples from an arc (grey) got noise (open circles). Arrows lead from them to their
    restorations. Left: the best linear map shrinks all of them towards the centre, most along the
    short axis. Right: a network that was trained to take the noise away moves nearly all of them
    back towards the arc.
    """
    angles = np.linspace(0, np.pi, 200)
    arc = np.column_stack([np.cos(angles), np.sin(angles)])
    arc = arc - arc.mean(axis=0)
    noisy = corrupt(arc, "gaussian", NOISE, rng=np.random.default_rng(3))[::4]
    M = linear_denoiser(arc.T @ arc / len(arc), "gaussian", NOISE)
    model = Autoencoder(32, hidden_layer_sizes=(32,), noise="gaussian", noise_level=NOISE, alpha=0)
    model.set_params(learning_rate_init=0.01, batch_size=50, max_iter=400, random_state=0)
    trained(model.set_params(tol=0, n_iter_no_change=400), arc)
    by_network = model.inverse_transform(model.transform(noisy))
    panels = (left, "Linear map", noisy @ M.T), (right, "Network", by_network)
    for ax, title, restored in panels:
        ax.plot(*arc.T, color=SHADE, lw=5, solid_capstyle="round", zorder=1)
        style = {"arrowstyle": "->", "color": INK, "lw": 0.8, "shrinkA": 2, "shrinkB": 0}
        for start, end in zip(noisy, restored, strict=True):
            ax.annotate("", end, start, arrowprops=style)
        ax.plot(*noisy.T, "o", ms=3.2, mfc="white", mec=ORANGE, mew=1, zorder=3)
        ax.set(xlim=(-1.6, 1.6), ylim=(-1.35, 1), aspect="equal", xticks=(), yticks=(), title=title)


# --- Sparse codes ----------------------------------------------------------------------

BETA = 0.1


@cache
def codes(beta):
    """A code of 100 ReLUs for 64 pixels, trained with the penalty beta: model and test codes."""
    model = Autoencoder(100, activation="relu", sparsity=beta, alpha=0.1)
    model.set_params(learning_rate_init=0.003, max_iter=150, random_state=0)
    return trained(model, digits()[0]), model.transform(digits()[1])


def busiest(beta, n=9):
    """The images that the n units of the largest mean activity add to a reconstruction."""
    model, Z = codes(beta)
    units = np.argsort(-Z.mean(axis=0))[:n]
    atoms = model.coefs_[1][units]
    return atoms / np.abs(atoms).max(axis=1, keepdims=True)


@figure("sparse", claims=(), panels=3, size=(2.4, 2.4))
def sparse(left, middle, right):
    """A code of 100 ReLUs for digits of 64 pixels. Left and middle: what each of the nine units
    with the largest mean activity adds to the image (black: ink, grey: nothing, white: ink is taken
    away), without and with the penalty. Each is scaled to its own largest entry. Look for shapes.
    Without it most units are patchworks, and a digit is a sum of some sixty of them. With it some
    units are a stroke, an arc or a ring. Right: the share of the test digits for which a unit is
    active, from the most used unit to the least.
    """
    panels = (left, 0.0, r"$\beta = 0$"), (middle, BETA, rf"$\beta = {BETA}$")
    for ax, beta, title in panels:
        draw_mosaic(ax, busiest(beta), 3, vmin=-1, vmax=1)
        ax.set_title(title)
    for beta, style in ((0.0, "--"), (BETA, "-")):
        shares = 100 * np.sort(np.mean(codes(beta)[1] > 0, axis=0))[::-1]
        right.plot(range(1, 101), shares, style, color=BLUE)
        right.text(np.sum(shares > 50) + 4, 60, rf"$\beta = {beta:g}$")
    right.set(xlabel="unit", ylabel="% of the digits", xlim=(0, 100), ylim=(0, 105))


# --- Films -----------------------------------------------------------------------------


@film("linear_descent", descend_linear, measure="J", start=("small", "across"))
def descent_film(start):
    """Gradient descent on a linear autoencoder with one unit of code. A sample has the code z = v ·
    x and the reconstruction z w, on the black line. Grey lines join the two; J is the sum of their
    squared lengths. The dotted line is the first principal axis. A small start leaves the saddle
    point 0 slowly; a start across has to turn first.
    """
    X = np.random.default_rng(5).multivariate_normal([0, 0], COVARIANCE, size=24)
    X = X - X.mean(axis=0)
    vector = {
        "small": np.array([0.02, -0.01]),
        "across": np.array([0.6, -0.7]),
    }[start]
    best = linear_optimum(X, 1)

    def draw(ax, state):
        found = X @ state.V.T @ state.W.T
        pairs = np.stack([X, found, np.full_like(X, np.nan)], axis=1).reshape(-1, 2)
        ax.plot(*pairs.T, color=GREY, lw=0.7)
        ax.plot(*(3 * best.W @ [[-1, 1]]), ":", color=ORANGE, lw=1.4)
        ax.plot(*X.T, "o", color=BLUE, ms=4, mew=0)
        ends = state.W @ (state.V @ X.T)
        ax.plot(*ends[:, np.argsort(X @ state.V[0])[[0, -1]]], color=INK, lw=2)
        ax.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), xlabel="x₁", ylabel="x₂", aspect="equal")

    def words(state):
        (w, u), (v, t) = state.W[:, 0], state.V[0]
        return f"J = {state.objective:.2f}, w = ({w:.2f}, {u:.2f}), v = ({v:.2f}, {t:.2f})."

    return Take(descend_linear(X, vector[:, None], vector[None], eta=0.006), draw, words)


if __name__ == "__main__":
    run_script(__file__)
