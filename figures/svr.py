"""Lecture figures of the svr chapter."""

import numpy as np

from mlnotes.datasets import load_wine, make_curve
from mlnotes.perceptron import decision
from mlnotes.plotting import BLUE, GREY, INK, ORANGE, SHADE, Take, figure, film, run_script
from mlnotes.svr import L2SVR, SVR, hard_tube, insensitive_loss, soft_tube, tube_slack

EPSILON = 0.5  # of the tubes around lines
C = 1.0  # of the soft tube
ON_THE_EDGE = 1e-6  # a residual that is epsilon but for rounding


# --- The wines -------------------------------------------------------------------------


def wines():
    """The light ratio (178, 1) and the flavanoids (178,) of all wines."""
    wine = load_wine()
    names = list(wine.feature_names)
    light = wine.X[:, [names.index("od280/od315_of_diluted_wines")]]
    return light, wine.X[:, names.index("flavanoids")]


@figure("cloud", claims=(), size=(4.8, 2.6))
def cloud(ax):
    """All 178 wines in grey, every twelfth in blue. On the whole, a larger ratio goes with more
    flavanoids. The relation is loose: wines of nearly the same ratio can differ by more than 1. And
    it bends: most of the rise lies between the ratios 2 and 2.8.
    """
    X, y = wines()
    ax.plot(X[:, 0], y, ".", color=GREY, label="178 wines")
    ax.plot(X[::12, 0], y[::12], "o", color=BLUE, label="every twelfth, 15 wines")
    ax.set(xlabel="light ratio $x$", ylabel="flavanoids $y$")
    ax.legend()


# --- The tube --------------------------------------------------------------------------


def near_a_line(far=()):
    """Samples within a tube around a line, and those of the places `far` moved out of it."""
    rng = np.random.default_rng(6)
    T = make_curve(16, lambda x: 0.6 * x + 0.5, low=0.0, high=5.0, sigma=0.0, rng=rng)
    y = T.y + 0.9 * EPSILON * rng.uniform(-1, 1, size=len(T))
    for i, shift in far:
        y[i] += shift
    return T.X, y


def draw_tube(ax, x, f, epsilon):
    """f over x (m,), the edges f + epsilon and f - epsilon, and what is between them."""
    ax.fill_between(x, f - epsilon, f + epsilon, color=SHADE, lw=0, zorder=0)
    ax.plot(x, f, color=INK, lw=1.6)
    for edge in (f + epsilon, f - epsilon):
        ax.plot(x, edge, color=INK, lw=0.9, ls="--")


def draw_supported(ax, X, y, on_or_outside):
    """The samples, those `on_or_outside` the tube circled."""
    ax.plot(X[:, 0], y, "o", ms=4, color=BLUE, zorder=3)
    held = X[on_or_outside, 0], y[on_or_outside]
    ax.plot(*held, "o", ms=9, mfc="none", mec=INK, mew=1.0, zorder=4)


def supporting(f, y, epsilon):
    """The samples on the tube or outside."""
    return np.abs(y - f) >= epsilon - ON_THE_EDGE


@figure("tube", claims=("svr-28",), panels=3, size=(2.5, 2.4))
def tube(left, middle, right):
    r"""Left: the flattest line whose tube, of half width epsilon, holds all samples. The circled
    samples on its edges keep it from becoming flatter. Middle: three samples lie outside. Their
    distance from the tube is the slack, $\xi$ above and $\xi'$ below. They are circled, too. Right:
    the loss is 0 in the tube, and outside it is the distance from the tube (solid). The dotted line
    is the absolute error.
    """
    ends = np.array([-0.2, 5.2])
    X, y = near_a_line()
    hard = hard_tube(X, y, EPSILON)
    draw_tube(left, ends, decision(ends[:, None], hard.w, hard.b), EPSILON)
    draw_supported(left, X, y, supporting(decision(X, hard.w, hard.b), y, EPSILON))
    foot = decision(np.array([[0.95]]), hard.w, hard.b)[0]
    arrow = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
    left.annotate("", (0.95, foot), (0.95, foot + EPSILON), arrowprops=arrow)
    left.text(1.05, foot + EPSILON / 2, "$\\epsilon$", va="center")
    X, y = near_a_line(far=((3, 1.4), (7, -1.5), (12, 1.2)))
    soft = soft_tube(X, y, EPSILON, C)
    f = decision(X, soft.w, soft.b)
    draw_tube(middle, ends, decision(ends[:, None], soft.w, soft.b), EPSILON)
    for i in np.flatnonzero(insensitive_loss(f, y, EPSILON) > 0.1):
        edge = f[i] + EPSILON * np.sign(y[i] - f[i])
        middle.plot([X[i, 0], X[i, 0]], [edge, y[i]], color=ORANGE, lw=1.6, zorder=2)
        above, below = tube_slack(f[i], y[i], EPSILON)
        name = "$\\xi$" if above > below else "$\\xi'$"
        middle.text(X[i, 0] + 0.12, (edge + y[i]) / 2, name, va="center")
    draw_supported(middle, X, y, supporting(f, y, EPSILON))
    for ax, title in ((left, "hard tube"), (middle, "soft tube")):
        ax.set(xlabel="$x$", title=title, xlim=ends, ylim=(-0.6, 5.0), xticks=(), yticks=())
    left.set_ylabel("$y$")
    draw_loss(right)


def draw_loss(ax):
    """The loss against the residual in units of epsilon, and |y - f| with it."""
    z = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    ax.plot(z, np.abs(z), color=GREY, lw=1.0, ls=":", label="$|y - f|$")
    ax.plot(z, insensitive_loss(0.0, z, 1.0), color=BLUE, lw=1.8, label="$\\ell_\\epsilon$")
    ax.set(xlabel="$y - f$", title="loss", xlim=(-3, 3), ylim=(-0.1, 3), yticks=())
    ax.set_xticks((-1, 0, 1), ("$-\\epsilon$", "0", "$\\epsilon$"))
    ax.legend(loc="upper center")


# --- Losses and pulls ------------------------------------------------------------------


@figure("losses", claims=(), panels=4, size=(2.1, 2.3))
def losses(left, its_pull, right, their_pull):
    """Five losses and their slopes, the pulls, for C = 1. The two panels on the left: two losses
    whose pull grows with the error. The two on the right: three losses whose pull never exceeds 1.
    A tube, the flat part in the middle, occurs on the left and on the right.
    """
    z = np.linspace(-2, 2, 401)
    outside, sign = insensitive_loss(0.0, z, EPSILON), np.sign(z)
    slope = np.clip(z / EPSILON, -1, 1)  # of Huber's loss
    huber = slope * z - EPSILON * slope**2 / 2
    for name, loss, pull, style in (
        ("squared", z**2 / 2, z, "--"),
        ("squared tube", outside**2 / 2, sign * outside, ":"),
    ):
        left.plot(z, loss, style, label=name)
        its_pull.plot(z, pull, style)
    for name, loss, pull, style in (
        ("absolute", np.abs(z), sign, "--"),
        ("Huber", huber, slope, ":"),
        ("tube", outside, sign * (outside > 0), "-"),
    ):
        right.plot(z, loss, style, label=name)
        their_pull.plot(z, pull, style)
    for ax, title in zip((left, its_pull, right, their_pull), 2 * ("loss", "pull"), strict=True):
        ax.set(xlabel="residual $z$", title=title, ylim=(-2.1, 2.1))
    for ax in (left, right):
        ax.legend(loc="lower center")


@figure("pulls", claims=(), size=(5.4, 3.0))
def pulls(ax):
    """The soft tube of 15 wines, and the pulls of its six support vectors. An arrow starts at the
    line, and its length on the axis of y is the pull. Two arrows upward stand side by side. The
    four wines outside pull with the force C = 1, however far they are: of the two above, one is
    outside by 0.03 and the other by 0.30. The two on the edges pull with 0.376. The nine wines
    inside do not pull.
    """
    X, y = wines()
    X, y = X[::12], y[::12]
    soft = soft_tube(X, y, EPSILON, C)
    f, ends = decision(X, soft.w, soft.b), np.array([1.2, 4.1])
    draw_tube(ax, ends, decision(ends[:, None], soft.w, soft.b), EPSILON)
    ax.plot(X[:, 0], y, "o", color=BLUE, zorder=5)
    arrow = {"arrowstyle": "->", "color": ORANGE, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
    for x_i, f_i, pull in zip(X[:, 0], f, soft.alpha[0] - soft.alpha[1], strict=True):
        if abs(pull) > ON_THE_EDGE:
            ax.annotate("", (x_i, f_i + pull), (x_i, f_i), arrowprops=arrow)
    ax.set(xlabel="light ratio $x$", ylabel="flavanoids $y$", ylim=(0, 4))


# --- A tube that bends -----------------------------------------------------------------

WIDTH = 0.2  # epsilon of the sine


def sine():
    """A noisy sine."""
    rng = np.random.default_rng(1)
    return make_curve(60, lambda x: np.sin(2 * np.pi * x), sigma=0.15, rng=rng)


def fits():
    """The two machines of the figure, fitted to the sine."""
    T = sine()
    machines = {
        "linear": SVR(kernel="linear", C=10.0, epsilon=WIDTH, tol=1e-7),
        "Gaussian": SVR(kernel="rbf", gamma=10.0, C=10.0, epsilon=WIDTH, tol=1e-7),
    }
    return {name: machine.fit(T.X, T.y) for name, machine in machines.items()}


@figure("sine", claims=("svr-29",), panels=2, size=(3.4, 2.4))
def bent_tube(left, right):
    r"""A noisy sine, and tubes with $\epsilon$ = 0.2 and C = 10. Left: no straight tube of this
    width holds it, and most samples are on an edge or outside (circled). Right: with the Gaussian
    kernel, $\gamma$ = 10, the tube bends. Only ten samples are circled, and without the others the
    solution would be the same. The error in the titles is the root of the mean squared residual.
    """
    T, x = sine(), np.linspace(0, 1, 201)
    for ax, (name, model) in zip((left, right), fits().items(), strict=True):
        draw_tube(ax, x, model.predict(x[:, None]), WIDTH)
        draw_supported(ax, T.X, T.y, supporting(model.predict(T.X), T.y, WIDTH))
        error = np.sqrt(np.mean((T.y - model.predict(T.X)) ** 2))
        ax.set(xlabel="$x$", xlim=(0, 1), ylim=(-1.6, 1.6), yticks=(-1, 0, 1))
        ax.set_title(f"{name}: error {error:.2f}, {len(model.support_)} circled")
    left.set_ylabel("$y$")


# --- Wrong targets ---------------------------------------------------------------------


def two_curves(wrong):
    """118 wines, the first `wrong` targets ten times too large: X, y, and two machines for them."""
    light, flavanoids = wines()
    train = np.random.default_rng(0).permutation(len(light))[:118]
    X, y = light[train], flavanoids[train].copy()
    y[:wrong] *= 10
    ridge, tube = L2SVR(epsilon=0.0).fit(X, y), SVR().fit(X, y)
    return X, y, ridge.predict, tube.predict


@figure("wrong", claims=(), panels=2, size=(3.6, 2.8))
def wrong_targets(left, right):
    """118 wines, and two curves with the same Gaussian kernel and C = 1. Ten of the targets are ten
    times too large (orange). Left: all targets. Right: the same curves, enlarged, and the curve
    that SVR learns from the right numbers (dotted). The curve of the squared loss (dashed) rises
    towards the wrong targets. That of SVR (solid) stays among the right ones.
    """
    X, y, ridge, tube = two_curves(wrong=10)
    x = np.linspace(X.min(), X.max(), 201)[:, None]
    for ax in (left, right):
        ax.plot(X[10:, 0], y[10:], ".", color=GREY)
        ax.plot(X[:10, 0], y[:10], "o", ms=5, color=ORANGE)
        ax.plot(x[:, 0], ridge(x), "--", color=INK, lw=1.8, label="squared loss")
        ax.plot(x[:, 0], tube(x), color=BLUE, lw=2.2, label="SVR")
        ax.set(xlabel="light ratio $x$")
    left.legend()
    dotted = {"ls": ":", "color": BLUE, "lw": 1.8, "label": "SVR, right numbers"}
    right.legend(
        handles=right.plot(x[:, 0], two_curves(wrong=0)[3](x), **dotted), loc="upper right"
    )
    left.set(ylabel="flavanoids $y$", title="all targets")
    right.set(ylim=(0, 7), title="enlarged")


# --- Films -----------------------------------------------------------------------------


@film("tube", soft_tube, measure="objective", C=(1.0, 0.1, 10.0))
def tube_film(C):
    """The soft tube around a line, as it becomes wider. Samples inside the tube cost nothing and do
    not matter. Those on its edge or outside are circled: only they hold the line. A wide tube needs
    few of them, and its line becomes flat.
    """
    X, y = near_a_line(far=((3, 1.5), (11, -1.5)))
    x = np.linspace(0, 5, 2)
    tubes = ((epsilon, soft_tube(X, y, epsilon, C)) for epsilon in np.linspace(0, 2, 21))

    def draw(ax, state):
        epsilon, tube = state
        draw_tube(ax, x, tube.w[0] * x + tube.b, epsilon)
        draw_supported(ax, X, y, tube.alpha.sum(axis=0) > ON_THE_EDGE)
        ax.set(xlim=(-0.2, 5.2), ylim=(-1.5, 5.5), xlabel="x", ylabel="y")

    def words(state):
        epsilon, tube = state
        held = np.sum(tube.alpha.sum(axis=0) > ON_THE_EDGE)
        return f"ε = {epsilon:.1f}. The slope is {tube.w[0]:.2f}. {held} samples hold the line."

    return Take(tubes, draw, words, lambda state: max(0.0, state[1].objective))  # rounding


if __name__ == "__main__":
    run_script(__file__)
