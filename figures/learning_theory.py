"""Lecture figures of the learning_theory chapter."""

import numpy as np

from mlnotes.datasets import make_fish
from mlnotes.decision_theory import best_cut, cut_rule
from mlnotes.learning_theory import (
    Box,
    best_threshold,
    box_error,
    box_realises,
    constant,
    deviation_probability,
    dichotomies,
    expected_errors,
    half_space_realises,
    hoeffding,
    inside,
    majority,
    memoriser,
    nearest_neighbor,
    radon_labels,
    threshold_realises,
    threshold_risk,
    tightest_box,
)
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SHADE,
    draw_matrix,
    draw_samples,
    figure,
    run_script,
)
from mlnotes.probability import binomial_log_pmf

# ---------------------------------------------------------------------------------------
# Concepts
# ---------------------------------------------------------------------------------------

TARGET = Box(np.array([0.25, 0.2]), np.array([0.85, 0.75]))


def examples(n):
    """The first n of a sequence of points of the unit square, labelled by TARGET."""
    X = np.random.default_rng(3).random((200, 2))[:n]
    return X, inside(TARGET, X).astype(int)


def corners(box):
    """The rim of a rectangle."""
    (x0, y0), (x1, y1) = box
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


@figure("concept", claims=("learning_theory-13",), panels=2)
def concept(few, many):
    """A target C* (dashed) and what is learnt from its noise-free examples, C_n (solid): the
    tightest rectangle around the positive ones. It lies within C*, and the shaded frame between
    them, where the two differ, is the error. More examples make the frame thin.
    """
    for ax, n in (few, 15), (many, 60):
        X, y = examples(n)
        learnt = tightest_box(X, y)
        outer, inner = corners(TARGET), corners(learnt)
        ring = [*outer, outer[0], inner[0], *inner[::-1], outer[0]]
        ax.fill(*np.transpose(ring), fc=SHADE, ec=GREY, lw=0, hatch="////", zorder=0)
        for rim, style, name in (outer, "--", "$C^*$"), (inner, "-", "$C_n$"):
            ax.plot(*np.vstack([rim, rim[:1]]).T, style, color=INK, lw=1.3, label=name)
        draw_samples(ax, X, 1 - y, size=4, names=["in $C^*$", "outside"])
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=(0, 1), yticks=(0, 1))
        ax.set(title=rf"$n = {n}$, $\mathrm{{err}} = {box_error(learnt, TARGET):.3f}$")
        ax.set_aspect("equal")
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
    handles = few.get_legend_handles_labels()
    few.figure.legend(*handles, loc="outside lower center", ncols=4)


# ---------------------------------------------------------------------------------------
# The design of a recognition system
# ---------------------------------------------------------------------------------------

STEPS = ("collect\ndata", "choose\nfeatures", "choose\nmodel", "train", "evaluate")
FEEDBACK = (4, 0), (4, 1), (4, 2)  # from the evaluation back to every choice
ACTIONS = {"salmon": "belt A", "sea bass": "belt B"}


def new_fish():
    """The lightness of three new fish, with the category and the action that each leads to."""
    T = make_fish(200, rng=np.random.default_rng(0))
    names = sorted(ACTIONS)
    cut = best_cut(T.X[:, 1], (T.y == names[1]).astype(int))
    lightness = np.array([3.1, 4.6, 7.2])
    categories = [names[k] for k in cut_rule(lightness, cut)]
    return [(x, c, ACTIONS[c]) for x, c in zip(lightness, categories, strict=True)]


def node(ax, x, y, text, color=INK, width=1.0):
    """A text in a box."""
    from matplotlib.patches import FancyBboxPatch

    look = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": color, "lw": 1.2}
    ax.add_patch(FancyBboxPatch((x - width / 2 + 0.1, y - 0.22), width - 0.2, 0.44, **look))
    ax.text(x, y, text, ha="center", va="center", fontsize=9, linespacing=0.95)


def arrow(ax, start, end, bend=0.0, dash="-", color=INK):
    """An arrow from one point to another."""
    look = {"arrowstyle": "-|>", "color": color, "lw": 1.1, "ls": dash,
            "connectionstyle": f"arc3,rad={bend}", "shrinkA": 0, "shrinkB": 0}  # fmt: skip
    ax.annotate("", xy=end, xytext=start, arrowprops=look)


@figure("recognition_system", claims=("learning_theory-21",), size=(6.4, 3.0))
def recognition_system(ax):
    """Above: how a recognition system is designed, from left to right. Where the evaluation is
    not good enough (dashed), one goes back to the model, the features or the data. Below: what
    the trained system does with new samples, here fish that a threshold on the lightness tells
    apart: the prediction names a category, and the category an action.
    """
    place = [(1.35 * i, 2.6) for i in range(len(STEPS))]
    for (x, y), text in zip(place, STEPS, strict=True):
        node(ax, x, y, text)
    for (x0, y), (x1, _) in zip(place, place[1:], strict=False):
        arrow(ax, (x0 + 0.5, y), (x1 - 0.5, y))
    for i, j in FEEDBACK:
        (x0, y), (x1, _) = place[i], place[j]
        arrow(ax, (x0, y + 0.33), (x1, y + 0.33), bend=0.22, dash="--", color=GREY)
    ax.text(place[2][0] + 1.0, 4.02, "not good enough", ha="center", fontsize=9, color=GREY)
    heads = "new sample", "category", "action"
    for x, head in zip((0.6, 2.7, 4.8), heads, strict=True):
        ax.text(x, 1.62, head, ha="center", fontsize=10, style="italic")
    for row, (value, category, action) in enumerate(new_fish()):
        y, color = 1.15 - 0.78 * row, BLUE if action == "belt A" else ORANGE
        for x, text in zip((0.6, 2.7, 4.8), (f"lightness {value}", category, action), strict=True):
            node(ax, x, y, text, color=color, width=1.4)
        for x in (0.6, 2.7):
            arrow(ax, (x + 0.7, y), (x + 1.4, y), color=color)
    ax.set(xlim=(-0.6, 6.0), ylim=(-0.8, 4.25), xticks=(), yticks=())
    ax.set_axis_off()


# ---------------------------------------------------------------------------------------
# Concentration
# ---------------------------------------------------------------------------------------

RISK, STRAY = 0.3, 0.1


@figure("concentration", claims=(), panels=2)
def concentration(laws, tails):
    """Left: the exact law of the empirical risk of one fixed function whose risk is 0.3 (dotted),
    for samples of 20, 100 and 500, each scaled to the same height: it narrows as 1 / sqrt(n).
    Right: how probable it is to stray by more than t = 0.1, beside the bounds of Hoeffding, which
    knows only that losses are in [0, 1], and of Chebyshev, which knows their variance.
    """
    for n, color, style in (20, GREY, "o-"), (100, ORANGE, "-."), (500, BLUE, "-"):
        k = np.arange(n + 1)
        pmf = np.exp(binomial_log_pmf(k, n, RISK))
        laws.plot(k / n, pmf / pmf.max(), style, color=color, ms=3, lw=1.4, label=f"$n = {n}$")
    laws.axvline(RISK, color=INK, lw=1, ls=":")
    laws.set(xlim=(0, 0.8), ylim=(0, 1.05), yticks=(), xlabel="empirical risk $R_n$")
    laws.set(ylabel="probability (scaled)", title="One function, risk 0.3")
    laws.legend()
    n = np.arange(10, 501, 10)
    exact = [deviation_probability(i, RISK, STRAY) for i in n]
    tails.semilogy(n, [hoeffding(i, STRAY) for i in n], "--", color=ORANGE, label="Hoeffding")
    chebyshev = RISK * (1 - RISK) / (n * STRAY**2)
    tails.semilogy(n, chebyshev, "-.", color=PURPLE, label="Chebyshev")
    tails.semilogy(n, exact, color=BLUE, label="exact")
    tails.set(xlim=(0, 500), ylim=(1e-6, 3), xlabel="samples $n$")
    tails.set(ylabel=r"Pr($|R_n - R| > 0.1$)", title="Straying by more than 0.1")
    tails.legend(loc="lower left")


# ---------------------------------------------------------------------------------------
# Consistency and its failure
# ---------------------------------------------------------------------------------------

NOISE, AT, SIZES = 0.2, 0.5, (5, 10, 20, 50, 100, 200, 500)


def noisy_sample(n, rng):
    """x uniform on [0, 1], labels of x >= AT flipped with probability NOISE."""
    x = rng.random(n)
    return x, ((x >= AT) ^ (rng.random(n) < NOISE)).astype(int)


def of_thresholds(x, y):
    """R_n and R of the best threshold."""
    t = best_threshold(x, y)
    return np.mean((x > t) != y), threshold_risk(t, AT, NOISE)


def of_neighbors(x, y):
    """R_n and R of the nearest neighbour: exactly, cell by cell of the line."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    rims = np.concatenate([[0], (x[:-1] + x[1:]) / 2, [1]])
    above = np.clip(rims[1:], AT, 1) - np.clip(rims[:-1], AT, 1)  # of each cell, beyond AT
    below = np.diff(rims) - above
    wrong = np.where(y == 1, below, above).sum()  # against the labels without noise
    return 0.0, NOISE + (1 - 2 * NOISE) * wrong


def mean_risks(learner, repeats=200):
    """The mean R_n and R of a learner for each of SIZES."""
    rng = np.random.default_rng(0)
    draws = [[learner(*noisy_sample(n, rng)) for _ in range(repeats)] for n in SIZES]
    return np.mean(draws, axis=1).T


@figure("consistency", claims=(), panels=2)
def consistency(poor, rich):
    """Labels of a threshold, one in five flipped: no rule errs less than 0.2 (dotted). Left: over
    thresholds, the risk that is minimised and the true one meet there. Right: the nearest
    neighbour can take on any labels. Its error on the sample is 0 for every n, and its true one
    stays at 2 (0.2)(0.8) = 0.32: what is minimised says nothing.
    """
    for ax, learner in (poor, of_thresholds), (rich, of_neighbors):
        R_n, R = mean_risks(learner)
        ax.semilogx(SIZES, R, "o-", color=BLUE, ms=4, label=r"true risk $R(\hat{h})$")
        ax.semilogx(SIZES, R_n, "s--", color=ORANGE, ms=4, label=r"empirical $R_n(\hat{h})$")
        ax.axhline(NOISE, color=INK, lw=1, ls=":")
        ax.set(ylim=(-0.02, 0.5), yticks=(0, 0.2, 0.4), xlabel="samples $n$")
        ax.set_xticks((5, 50, 500), ("5", "50", "500"))
    poor.set(ylabel="mean over samples", title="Thresholds")
    rich.set_title("Nearest neighbour")
    poor.legend()


# ---------------------------------------------------------------------------------------
# Shattering
# ---------------------------------------------------------------------------------------


def spread_points(n):
    """n points of the plane in general position, on no line or grid."""
    return np.random.default_rng(1).random((8, 2))[:n]


def growths(sizes):
    """How many labellings of n points each class has, by its name."""
    classes = {
        "all $2^n$": None,
        "rectangles": box_realises,
        "half planes": half_space_realises,
        "intervals": lambda X, y: box_realises(X[:, :1], y),
        "thresholds": threshold_realises,
    }
    return {
        name: [2**n if f is None else len(dichotomies(spread_points(n), f)) for n in sizes]
        for name, f in classes.items()
    }


@figure("shattering", claims=(), panels=2)
def shattering(growth, four):
    """Left: how many labellings of n points of the plane a class has (intervals and thresholds:
    of their first coordinate). Of few points it has all; from its VC dimension on it falls behind
    2^n (dotted), and for good: 1 for thresholds, 2 for intervals, 3 for half planes. Rectangles
    shatter 4 points, though not these. Right: why half planes stop at three. The segments of the
    two classes cross, and no line has the crossing on both of its sides.
    """
    sizes = range(1, 8)
    looks = zip(growths(sizes).items(), (INK, PURPLE, BLUE, ORANGE, GREEN), ":os^D", strict=True)
    for (name, counts), color, mark in looks:
        style = ":" if mark == ":" else f"{mark}-"
        growth.semilogy(sizes, counts, style, base=2, color=color, ms=4, label=name)
    growth.set(xlabel="points $n$", xticks=sizes, ylabel="labellings", title="Growth of a class")
    growth.set_yticks([2**i for i in range(8)], [str(2**i) for i in range(8)])
    growth.minorticks_off()
    growth.legend()
    X = np.array([[0.1, 0.2], [0.9, 0.15], [0.8, 0.9], [0.15, 0.75]])
    y = radon_labels(X)
    for c, color in (0, BLUE), (1, ORANGE):
        four.plot(*X[y == c].T, color=color, lw=1.2, ls="-" if c == 0 else "--", zorder=1)
    draw_samples(four, X, y, size=8)
    four.set(xlim=(0, 1), ylim=(0, 1), xticks=(), yticks=(), aspect="equal")
    four.set(xlabel="$x_1$", ylabel="$x_2$", title="Not for half planes")


# ---------------------------------------------------------------------------------------
# No free lunch
# ---------------------------------------------------------------------------------------

LEARNERS = {
    memoriser: "memoriser",
    constant: "constant",
    majority: "majority",
    nearest_neighbor: "nearest neighbour",
}


@figure("no_free_lunch", claims=(), panels=(2, 1), size=(6.4, 1.75))
def no_free_lunch(unseen, seen):
    """The expected error of four learners for each of the 16 targets on four points, from two
    draws: the darker, the more. Above: at the points that were not drawn. Every learner has its
    easy targets and pays for them at others; all rows have one mean. Below: at the points that
    were drawn, as MLN prints it; there the memoriser never errs, and the rows differ.
    """
    p = np.full(4, 0.25)
    for ax, inside_D in (unseen, False), (seen, True):
        J = np.array([expected_errors(a, 2, p, seen=inside_D) for a in LEARNERS])
        draw_matrix(ax, J, vmin=0, vmax=0.6, aspect="auto")
        ax.set_yticks(range(4), LEARNERS.values())
        for row, mean in enumerate(J.mean(axis=1)):
            ax.axhline(row + 0.5, color="white", lw=3)
            ax.text(15.8, row, f"{32 * mean:g}/32" if mean > 0 else "0", va="center", fontsize=9)
        ax.text(15.8, -0.85, "mean", va="center", fontsize=9, style="italic")
        ax.spines[["left", "bottom"]].set_visible(False)
    unseen.set_xticks(())
    unseen.set_title("Errors at unseen points")
    seen.set_title("Errors at training points")
    seen.set_xticks(range(16), [f"{i:04b}" for i in range(16)], fontsize=7)
    seen.set_xlabel("target: the labels of the four points")


if __name__ == "__main__":
    run_script(__file__)
