"""Lecture figures of the perceptron chapter."""

from functools import partial
from itertools import islice

import numpy as np

from mlnotes import datasets
from mlnotes.linear_regression import augment
from mlnotes.perceptron import (
    adaline,
    adaline_max_eta,
    decision,
    is_mistake,
    linear_classify,
    margin,
    mistake_bound,
    perceptron,
    perceptron_loss,
    sweep,
    updates,
)
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SHADE,
    Take,
    counted,
    draw_line,
    draw_regions,
    draw_samples,
    draw_strip,
    figure,
    film,
    number_samples,
    run_script,
)


def lecture_set():
    """Twenty samples in a disc, at least 0.6 from a line through its centre; its normal w*."""
    rng = np.random.default_rng(2026)
    w_star = np.array([np.cos(0.9), np.sin(0.9)])
    X = rng.uniform(-3, 3, size=(300, 2))
    X = X[(np.abs(X @ w_star) >= 0.6) & (np.linalg.norm(X, axis=1) < 3)][:20]
    return X, linear_classify(X, w_star), w_star


@figure("loss", claims=(), size=(4.2, 2.2))
def loss(ax):
    """The perceptron loss (solid) has a slope wherever y f < 0, so it tells in which direction to
    go. The count of mistakes (dashed) is flat on both sides of 0. At 0 the loss has a kink. The
    grey lines through it have the slopes -s. None of them lies above the loss anywhere.
    """
    yf = np.linspace(-3, 3, 301)  # with y = 1, f is y f
    ax.plot(yf, perceptron_loss(1, yf), color=BLUE, lw=1.6, label="perceptron loss")
    for side in (yf <= 0, yf > 0):
        ax.plot(yf[side], is_mistake(1, yf[side]), "--", color=INK, lw=1.2)
    ax.plot([], "--", color=INK, lw=1.2, label="mistake: 1, none: 0")
    for s in (0, 0.5, 1):
        ax.plot((-3, 3), (3 * s, -3 * s), color=GREY, lw=0.7, zorder=1)
    for s, at in (("0", (-2.9, 0.12)), ("0.5", (1.2, -0.5)), ("1", (0.1, -0.85))):
        ax.annotate(f"s = {s}", at, color=GREY)
    ax.set(xlabel="$y f$", ylabel="loss", xticks=range(-3, 4), yticks=range(4), ylim=(-1, 3.1))
    ax.legend(loc="upper right")


@figure("weight_space", claims=(), size=(3.4, 2.9))
def weight_space(ax):
    """The plane of the weights for two samples, without an offset. Each z has a line through 0, at
    right angles to it. The weights that are right about z lie on the side to which z points. The
    separators, right about both, fill the shaded cone. The path is the run from 0: at each mistake,
    numbered 1 to 5, the step is the z that is wrong. It ends in the cone.
    """
    Z = np.array([[3.0, 0.7], [-2.0, 0.9]])
    W = np.array([u.w for u in updates(Z, np.ones(2))])
    ax.set(xlim=(-2.6, 3.6), ylim=(-0.6, 4.7), aspect="equal")
    ax.set(xlabel="first weight", ylabel="second weight", xticks=(-2, 0, 2), yticks=(0, 2, 4))
    sides = 9 * np.array([[-Z[0, 1], Z[0, 0]], [0, 0], [Z[1, 1], -Z[1, 0]]])
    ax.fill(*sides.T, color=SHADE, lw=0, zorder=0)
    for z, color, name, beside in zip(
        Z, (BLUE, ORANGE), ("$z_1$", "$z_2$"), ((4, -9), (-4, 5)), strict=True
    ):
        draw_line(ax, z, color=color, lw=1)
        arrow = {"arrowstyle": "->", "color": color, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", z, (0, 0), arrowprops=arrow, zorder=5)
        ax.annotate(name, z, beside, textcoords="offset points", color=color)
    ax.plot(*W.T, "o-", color=INK, ms=3.5, lw=1)
    for k, w in enumerate(W[1:], start=1):
        ax.annotate(f"{k}", w, (4, 4), textcoords="offset points", color=INK)


@figure("four_mistakes", claims=(), panels=4, size=(2.1, 2.3))
def four_mistakes(*axes):
    """The flowers (setosa filled, versicolor open), and the prediction after each mistake as the
    colour of the background. The black ring marks the flower of the mistake. After the first
    mistake everything is called setosa, after the second everything versicolor. The third boundary
    lies left of both groups, so every flower is called versicolor again. The fourth separates them.
    """
    iris = datasets.load_iris()
    petals, y = iris.X[:100, 2:], np.where(iris.y[:100] == "setosa", 1, -1)
    run = list(updates(np.round(10 * augment(petals)), y))
    for ax, u in zip(axes, run[1:], strict=True):
        ax.set(xlim=(0, 6), ylim=(0, 2.2), title=f"mistake {u.made}", xlabel="length (cm)")
        draw_samples(ax, petals, y, size=3)
        ax.plot(*petals[u.sample], "o", ms=12, mfc="none", mec=INK, mew=1.5, zorder=4)
        draw_regions(ax, partial(linear_classify, w=u.w[1:], b=u.w[0]), [1, -1])
    axes[0].set_ylabel("width (cm)")


@figure("pocket", claims=(), size=(4.8, 2.3))
def pocket(ax):
    """Versicolor against virginica: how many of the 100 flowers are wrong after each pass (grey),
    and how many with the weights in the pocket (black). At the start all scores are 0, so all
    flowers count as wrong.
    """
    iris = datasets.load_iris()
    rows, y = np.round(10 * augment(iris.X[50:, 2:])), np.where(iris.y[50:] == "virginica", 1, -1)
    states = islice(perceptron(rows, y, rng=np.random.default_rng(0)), 61)
    wrong = [np.sum(is_mistake(y, rows @ state.w)) for state in states]
    ax.plot(wrong, color=GREY, lw=1, label="after each pass")
    ax.step(range(61), np.minimum.accumulate(wrong), color=INK, where="post", label="pocket")
    ax.set(xlabel="passes", ylabel="flowers wrong")
    ax.legend()


@figure("pulls", claims=(), size=(4.4, 2.6))
def pulls(ax):
    """How strongly a sample pulls at the weights. Right of 1 Adaline's pull is negative: it draws
    back samples that are right. The logistic rule never does that. It is a smooth form of the
    perceptron's step.
    """
    yf = np.linspace(-2, 3, 301)
    for side in (yf <= 0, yf > 0):
        ax.plot(yf[side], is_mistake(1, yf[side]), color=INK, lw=1.6)
    ax.plot([], color=INK, lw=1.6, label=r"perceptron: 1 if $y f \leq 0$")
    ax.plot(yf, 1 - yf, "--", color=BLUE, lw=1.6, label="Adaline: $1 - y f$")
    logistic = 1 / (1 + np.exp(yf))
    ax.plot(yf, logistic, ":", color=ORANGE, lw=1.8, label="logistic: $1 / (1 + e^{y f})$")
    ax.axhline(0, color=GREY, lw=0.6)
    ax.set(xlabel="$y f$", ylabel="pull $q$", xticks=range(-2, 4), yticks=range(-2, 4))
    ax.legend(loc="upper right")


def threes_and_eights():
    """The digits 3 and 8 with a constant 1 before their pixels, and the labels 1 and -1."""
    T = datasets.load_digits()
    chosen = (T.y == 3) | (T.y == 8)
    return augment(T.X[chosen]), np.where(T.y[chosen] == 3, 1, -1)


@figure("first_pass", claims=(), size=(4.2, 2.2))
def first_pass(ax):
    """The mistakes of the first pass over the pictures, in the order of the file (black) and on
    average over 20 random orders (grey). Both rise most in the first quarter: the machine learns
    while it goes. A machine that guesses would follow the dashed line, with half of the pictures
    wrong.
    """
    X, y = threes_and_eights()
    seen = np.arange(0, len(X) + 1, 7)  # 357 is 51 times 7

    def made(order):
        wrong = [i for i, _ in sweep(X[order], y[order], np.zeros(X.shape[1]))]
        return np.searchsorted(wrong, seen)  # how many of them are among those seen

    orders = [np.random.default_rng(seed).permutation(len(X)) for seed in range(20)]
    ax.plot(seen, np.mean([made(order) for order in orders], axis=0), color=GREY, lw=1.4)
    ax.plot(seen, made(np.arange(len(X))), color=INK, lw=1.4)
    ax.plot((0, 90), (0, 45), "--", color=INK, lw=0.8)
    ax.set(xlabel="pictures seen", ylabel="mistakes", xlim=(0, 357), ylim=(0, 42))
    ax.set(xticks=(0, 89, 178, 268, 357), yticks=(0, 20, 40))


@figure("weights", claims=(), panels=5, size=(1.4, 1.7))
def weights(*axes):
    """The weights of the pixels after k mistakes. Blue pixels speak for a 3 and red ones for an 8.
    After one mistake the weights are the first picture. Each picture has its own scale. At the end
    of this run there is a red patch left of the middle, where an 8 closes its loops and a 3 is
    open.
    """
    run = list(updates(*threes_and_eights()))
    for ax, k in zip(axes, (1, 2, 5, 20, 67), strict=True):
        W = run[k].w[1:].reshape(8, 8)  # without b
        ax.imshow(W, cmap="RdBu", vmin=-np.abs(W).max(), vmax=np.abs(W).max())
        ax.set(title=f"k = {k}", xticks=[], yticks=[])


@figure("one_mistake", claims=(), size=(3.6, 2.5))
def one_mistake(ax):
    """A mistake, for lines through the origin. The vector z is not in front of the boundary of w
    (dotted), so the angle between w and z is at least 90 degrees. At 90 degrees w + z would end on
    the dashed circle: by Pythagoras its squared radius is |w|² + |z|². So w + z ends on or inside
    it: w grows slowly. The boundary of w + z (solid) has turned: here z is in front of it.
    """
    w, z = np.array([2.0, 1.0]), np.array([-1.0, 1.5])
    ax.set(xlim=(-3.1, 3.1), ylim=(-1.1, 3.1), aspect="equal")
    ax.axis("off")
    draw_line(ax, w, color=GREY, lw=1.2, ls=":")
    draw_line(ax, w + z, color=INK, lw=1.2)
    turn = np.linspace(0, 2 * np.pi, 200)
    reach = np.sqrt(w @ w + z @ z)
    ax.plot(reach * np.cos(turn), reach * np.sin(turn), "--", color=GREY, lw=0.8)
    ax.plot(*np.transpose([w, w + z]), color=ORANGE, lw=0.8)
    names = (
        (w, BLUE, "$w$", (8, -3)),
        (z, ORANGE, "$z$", (-10, 2)),
        (w + z, INK, "$w + z$", (-36, -4)),
    )
    for tip, color, name, beside in names:
        arrow = {"arrowstyle": "->", "color": color, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tip, (0, 0), arrowprops=arrow)
        ax.annotate(name, tip, beside, textcoords="offset points", color=color)


@figure("at_work", claims=("perceptron-16",), panels=2)
def perceptron_at_work(left, right):
    """Left: twenty samples, and the boundary after each mistake, the later the darker. The last
    one (black) separates the classes. The grey strip is the empty space around another separator
    w*, whose boundary is dashed. The black one does not run along it. Right: the squared length of
    w after k mistakes (dots). It is never above the dashed line and never below the parabola. The
    two meet again at the mistake bound, so the run cannot go beyond it.
    """
    X, y, w_star = lecture_set()
    W = np.array([update.w for update in updates(X, y)])
    tilting(left, X, y, w_star, W)
    closing(right, X, y, w_star, W)


def tilting(ax, X, y, w_star, W):
    """The boundaries of the weights W on the samples and the strip of w_star."""
    ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
    ax.set(xlabel="first feature", ylabel="second feature")
    ax.set(xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    draw_strip(ax, w_star, gamma=margin(X, w_star))
    for k, w in enumerate(W[1:-1], start=1):
        draw_line(ax, w, color=GREY, lw=0.8, alpha=0.25 + 0.75 * k / len(W))
    draw_line(ax, W[-1], color=INK, lw=1.8)
    ends = np.outer([-5, 5], [-w_star[1], w_star[0]])  # of the boundary of w*
    view = ax.axis()
    ax.plot(*ends.T, color=INK, lw=0.9, ls="--")
    ax.axis(view)
    draw_samples(ax, X, y)
    ax.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, handletextpad=0, columnspacing=1
    )


def closing(ax, X, y, w_star, W):
    """The squared lengths of the weights W in the lens between their two bounds."""
    bound, M = mistake_bound(X, y, w_star), np.max(np.sum(X**2, axis=1))
    k = np.linspace(0, 1.12 * bound, 200)
    most, least = k * M, k**2 * M / bound  # v^2 / ||w*||^2 = M / bound
    ax.fill_between(k, least, most, where=k <= bound, color=SHADE, lw=0)
    ax.plot(k, most, "--", color=BLUE, lw=1.4)
    ax.plot(k, least, "-", color=ORANGE, lw=1.4)
    ax.plot(np.sum(W**2, axis=1), "o-", color=INK, ms=3.5, lw=1)
    ax.vlines(bound, 0, bound * M, color=GREY, lw=0.8, ls=":")
    ax.annotate("$k M$", (0.55 * bound, 0.6 * bound * M), color=BLUE, ha="right")
    label = r"$k^2 v^2 / \Vert w_\star \Vert^2$"
    ax.annotate(label, (0.68 * bound, 0.3 * bound * M), color=ORANGE, ha="left")
    last = len(W) - 1, np.sum(W[-1] ** 2)
    ax.annotate(r"$\Vert w_k \Vert^2$", last, (2, 8), textcoords="offset points", ha="center")
    ax.set(xlim=(0, k[-1]), ylim=(0, k[-1] * M), xlabel="mistakes $k$", ylabel="squared length")
    ax.set_xticks([0, last[0], bound], ["0", f"{last[0]} made", f"bound {bound:.1f}"])


# --- Films -----------------------------------------------------------------------------


@film(
    "updates", updates, after=perceptron, measure="wrong",
    order=("as given", "shuffled 1", "shuffled 2"),
)  # fmt: skip
def updates_film(order):
    """The perceptron, mistake by mistake, on twenty samples around the origin. The sample with a
    ring was a mistake. It is added to w (diamond) or taken from it, so that the boundary turns from
    the dotted line to the black one. An update may break other samples, so the number of wrong ones
    does not always fall.
    """
    X, y, _ = lecture_set()
    rng = None if order == "as given" else np.random.default_rng(int(order.split()[1]))
    before = []

    def draw(ax, update):
        before.append(update.w)
        for w, look in ((before[-2:][0], ":"), (update.w, "-")):
            if w.any():
                draw_line(ax, w, color=INK, ls=look, lw=1.6 if look == "-" else 1)
        if update.made:
            ax.plot(*X[update.sample], "o", ms=12, mfc="none", mec=INK, mew=1.2)
            ax.plot(*np.transpose([[0, 0], update.w]), color=GREY, lw=2)
            ax.plot(*update.w, "D", color=GREY, ms=5)
            number_samples(ax, X, [update.sample])
        draw_samples(ax, X, y, size=4)
        ax.set(xlim=(-5.2, 5.2), ylim=(-5.2, 5.2), aspect="equal", xlabel="x₁", ylabel="x₂")

    def wrong(update):
        return int(np.sum(is_mistake(y, decision(X, update.w))))

    def words(update):
        if not update.made:
            return "At the start w = 0, and every sample counts as a mistake."
        left = counted(wrong(update), "sample is", "samples are")
        return (
            f"Mistake {update.made} is sample {update.sample}. {left} wrong after it; "
            f"the length of w is {np.linalg.norm(update.w):.2f}."
        )

    return Take(updates(X, y, rng=rng), draw, words, wrong)


@film("adaline", adaline, measure="J", share=(0.2, 0.05, 0.9, 1.02))
def adaline_film(share):
    """Adaline, step by step, for step sizes that are a share of the largest allowed. The boundary
    is black; the dashed lines are where the net input is -1 and +1, the labels. Samples beyond
    their line count as errors as well. A large step size swings to and fro. Above 1 the swings
    grow.
    """
    X, y, _ = lecture_set()
    made = []

    def draw(ax, state):
        made.append(state.x)
        if state.x.any():
            draw_line(ax, state.x, color=INK, lw=1.6)
            for label in (-1, 1):
                draw_line(ax, state.x, -label, color=GREY, lw=1, ls="--")
        draw_samples(ax, X, y)
        ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal", xlabel="x₁", ylabel="x₂")

    def words(state):
        wrong = int(np.sum(is_mistake(y, decision(X, state.x))))
        left = counted(wrong, "sample is", "samples are")
        return f"Step {len(made) - 1}: J = {state.objective:.3f}. {left} wrong."

    states = adaline(X, y, [-0.6, 0.4], eta=share * adaline_max_eta(X))
    return Take(states, draw, words, length=21)


if __name__ == "__main__":
    run_script(__file__)
