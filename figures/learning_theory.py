"""Lecture figures of the learning_theory chapter."""

import numpy as np

from mlnotes.datasets import make_fish
from mlnotes.decision_theory import best_cut, cut_rule
from mlnotes.learning_theory import (
    Box,
    Setting,
    all_labellings,
    best_threshold,
    box_error,
    box_realises,
    constant,
    deviation_probability,
    dichotomies,
    draw,
    erm,
    expected_errors,
    half_space_realises,
    hoeffding,
    inside,
    majority,
    memoriser,
    nearest_neighbor,
    radon_labels,
    risk,
    threshold_realises,
    threshold_risk,
    tightest_box,
    uniform_gap,
)
from mlnotes.linear_regression import augment
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SHADE,
    Take,
    draw_matrix,
    draw_samples,
    figure,
    film,
    run_script,
)
from mlnotes.probability import binomial_log_pmf

# --- Concepts --------------------------------------------------------------------------

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
    """The target rectangle $C^*$ (dashed) and the learnt one, $C_n$ (solid), which is the tightest
    rectangle around the positive examples, from 15 examples (left) and from 60 (right). $C_n$ lies
    within $C^*$. They differ on the shaded frame, and the probability of the frame is the error.
    With more examples three of its sides are thinner; the left one is as wide as before.
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


@figure("strips", claims=(), panels=2)
def strips(missed, reached):
    """The four strips along the sides of the target $C^*$ (dashed), each of probability 0.05. Blue
    dots are examples in $C^*$, squares are the others. Left: $C_n$ (solid) does not reach into the
    strips at the bottom and at the top. Right: $C_n$ reaches into each strip. Then all of $C^*$
    outside of $C_n$ lies in the strips, and the error is at most 4 (0.05) = 0.2.
    """
    (x0, y0), (x1, y1) = TARGET
    wide, high = 0.05 / (y1 - y0), 0.05 / (x1 - x0)
    bars = (
        (x0, x0 + wide, y0, y1),
        (x1 - wide, x1, y0, y1),
        (x0, x1, y0, y0 + high),
        (x0, x1, y1 - high, y1),
    )
    for ax, n in (missed, 15), (reached, 20):
        X, y = examples(n)
        for a, b, c, d in bars:
            ax.fill([a, b, b, a], [c, c, d, d], color=ORANGE, alpha=0.25, lw=0, zorder=0)
        for box, style in (TARGET, "--"), (tightest_box(X, y), "-"):
            ax.fill(*corners(box).T, fill=False, ec=INK, ls=style, lw=1.3)
        draw_samples(ax, X, 1 - y, size=4)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=(0, 1), yticks=(0, 1))
        ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"$n = {n}$")
        ax.set_aspect("equal")


# --- The design of a recognition system ------------------------------------------------

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
    """Above: the five steps in the design of a recognition system. If the evaluation is not good
    enough, one goes back (dashed) to the model, the features or the data. Below: what the trained
    system does with three new fish. A threshold on the lightness predicts the category, and each
    category has its action.
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


# --- Concentration ---------------------------------------------------------------------

RISK, STRAY = 0.3, 0.1


@figure("concentration", claims=(), panels=2)
def concentration(narrowing, tails):
    """One fixed rule with the risk 0.3. Left: the exact distribution of its empirical risk for
    samples of 20, 100 and 500, each scaled to the same height. Its width shrinks as 1 / sqrt(n).
    Right: the probability that the empirical risk is off by more than 0.1, and two bounds for it.
    The probability has teeth, because R_n takes only the multiples of 1 / n. Chebyshev's bound is
    drawn with the variance 0.21 of this rule's loss. From n = 124 on Hoeffding's is the smaller
    one.
    """
    for n, color, style in (20, GREY, "o-"), (100, ORANGE, "-."), (500, BLUE, "-"):
        k = np.arange(n + 1)
        pmf = np.exp(binomial_log_pmf(k, n, RISK))
        narrowing.plot(k / n, pmf / pmf.max(), style, color=color, ms=3, lw=1.4, label=f"$n = {n}$")
    narrowing.axvline(RISK, color=INK, lw=1, ls=":")
    narrowing.set(xlim=(0, 0.8), ylim=(0, 1.05), yticks=(), xlabel="empirical risk $R_n$")
    narrowing.set(ylabel="probability (scaled)", title="One rule, risk 0.3")
    narrowing.legend()
    n = np.arange(10, 501)
    exact = [deviation_probability(i, RISK, STRAY) for i in n]
    tails.semilogy(n, [hoeffding(i, STRAY) for i in n], "--", color=ORANGE, label="Hoeffding")
    chebyshev = RISK * (1 - RISK) / (n * STRAY**2)
    tails.semilogy(n, chebyshev, "-.", color=PURPLE, label="Chebyshev")
    tails.semilogy(n, exact, color=BLUE, lw=0.8, label="exact")
    tails.set(xlim=(0, 500), ylim=(1e-6, 3), xlabel="pairs $n$")
    tails.set(ylabel=r"Pr($|R_n - R| > 0.1$)", title="Off by more than 0.1")
    tails.legend(loc="lower left")


# --- Uniform gap -----------------------------------------------------------------------


@figure("band", claims=(), size=(4.6, 2.6))
def band(ax):
    r"""The line of 21 points, with a sample of 20 pairs. The shaded band holds all values within
    $\Delta_n$ of the risk, so the empirical risk never leaves it. At the threshold 7 it touches the
    rim. Three steps lead from the risk of $\hat h$ (right dot) to that of $h^*$ (left dot): down to
    the right square by at most $\Delta_n$, up to the left square, and down by at most $\Delta_n$
    again.
    """
    right = np.arange(21) >= 10
    H = (np.arange(21) >= np.arange(22)[:, None]).astype(int)
    line = Setting(np.where([~right, right], 0.8, 0.2) / 21, np.array([0, 1]), H, np.not_equal)
    counts = draw(line, 20, rng=np.random.default_rng(108))[0]
    R, found, gap = risk(line), risk(line, counts), uniform_gap(line, counts)
    ax.fill_between(range(22), R - gap, R + gap, color=SHADE, lw=0)
    ax.plot(R, color=BLUE, lw=1.4, label="risk $R$")
    ax.plot(found, "--", color=ORANGE, lw=1.2, label="empirical risk $R_n$")
    for at, name in (int(erm(line, counts)), r"$\hat{h}$"), (int(R.argmin()), "$h^*$"):
        ax.plot([at, at], [R[at], found[at]], color=INK, lw=1, ls=":")
        ax.plot(at, R[at], "o", color=BLUE, ms=6)
        ax.plot(at, found[at], "s", color=ORANGE, ms=6)
        ax.text(at, 0.005, name, ha="center", va="bottom")
    far = int(np.abs(found - R).argmax())
    ax.annotate("", (far, R[far]), (far, found[far]), arrowprops={"arrowstyle": "<->"})
    ax.text(far - 0.2, R[far] + 0.6 * gap, r"$\Delta_n$", ha="right", va="center")
    ax.set(xlabel=r"threshold $\theta$", ylabel="risk", ylim=(0, 0.75), xticks=range(0, 22, 5))
    ax.legend(loc="upper center")


# --- Consistency and its failure -------------------------------------------------------

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
    """Labels of a threshold, of which one in five is flipped, so that no rule has a risk below
    0.2 (dotted). Shown are means over 200 samples. Left: the best threshold. Its empirical risk
    rises towards 0.2, and its true risk falls towards it. Right: the nearest neighbour, which can
    reproduce any labels. Its empirical risk is 0 for every n, and its true risk falls to
    2 (0.2)(0.8) = 0.32, the value of walk 5. For few points it is larger, because here q jumps from
    0.2 to 0.8 at the border.
    """
    for ax, learner in (poor, of_thresholds), (rich, of_neighbors):
        R_n, R = mean_risks(learner)
        ax.semilogx(SIZES, R, "o-", color=BLUE, ms=4, label=r"true risk $R(\hat{h})$")
        ax.semilogx(SIZES, R_n, "s--", color=ORANGE, ms=4, label=r"empirical $R_n(\hat{h})$")
        ax.axhline(NOISE, color=INK, lw=1, ls=":")
        ax.set(ylim=(-0.02, 0.5), yticks=(0, 0.2, 0.4), xlabel="pairs $n$")
        ax.set_xticks((5, 50, 500), ("5", "50", "500"))
    poor.set(ylabel="mean over samples", title="Thresholds")
    rich.set_title("Nearest neighbour")
    poor.legend()


# --- Shattering ------------------------------------------------------------------------


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


def separating_lines(X):
    """All labellings y of d + 1 points in general position, each with an f(x) = w^T x + b that has
    it: A (b, w) = 2 y - 1, where the rows of A are (1, x_i).
    """
    A = augment(X)
    for y in all_labellings(len(X)):
        yield y, np.linalg.solve(A, 2 * y - 1)


@figure("eight_labellings", claims=(), panels=(2, 4), size=(1.6, 1.5))
def eight_labellings(*axes):
    """Three points of the plane, and a half plane (shaded) for each of their eight labellings. It
    holds the points with label 1 (blue dots) and none with label 0 (squares). So half planes
    shatter these three points. In the first panel nothing is shaded and in the last everything, as
    if the line were far away.
    """
    X = np.array([[0.2, 0.25], [0.8, 0.35], [0.45, 0.8]])
    grid = np.array([0.0, 1.0])  # f is linear: its values at the corners are enough
    G = np.stack(np.meshgrid(grid, grid), axis=-1)
    for ax, (y, (b, *w)) in zip(axes, separating_lines(X), strict=True):
        f = G @ w + b
        ax.contourf(grid, grid, f, levels=[0, 100], colors=[SHADE])
        if f.min() < 0 < f.max():
            ax.contour(grid, grid, f, levels=[0], colors=INK, linewidths=1)
        ax.plot(*X[y == 1].T, "o", color=BLUE, ms=7, ls="")
        ax.plot(*X[y == 0].T, "s", mec=ORANGE, mfc="white", ms=7, mew=1.4, ls="")
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=(), yticks=(), aspect="equal")
        ax.set_title(" ".join(map(str, y)))


@figure("shattering", claims=(), panels=2)
def shattering(growth, four):
    """Left: how many labellings of n random points of the plane four classes realise (thresholds
    and intervals use the first coordinate). All 2^n labellings lie on the dotted line. Thresholds
    leave it after 1 point, intervals after 2, half planes and rectangles after 3. Up to n = 4 the
    rectangles lie under the half planes. They shatter some sets of 4 points, but not the first four
    of these. Right: a labelling of four points that no half plane realises, with blue dots for the
    label 1. The two segments cross, and the crossing would have to lie on both sides of the line.
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
    for c, color in (1, BLUE), (0, ORANGE):
        four.plot(*X[y == c].T, color=color, lw=1.2, ls="-" if c == 1 else "--", zorder=1)
    draw_samples(four, X, 1 - y, size=8)
    four.set(xlim=(0, 1), ylim=(0, 1), xticks=(), yticks=(), aspect="equal")
    four.set(xlabel="$x_1$", ylabel="$x_2$", title="No half plane has these labels")


# --- The ghost sample ------------------------------------------------------------------

LOSSES = np.array([[1, 0, 1, 0, 1], [0, 0, 1, 1, 0]])  # of a sample, and of its ghost
COINS = np.array([1, -1, 1, -1, -1])


@figure("ghost", claims=(), panels=2, size=(3.2, 2.0))
def ghost(line, table):
    r"""Left: the mean losses of one rule. $R_n'$ of the ghost sample is probably in the shaded
    band, within $t/2$ of the risk $R$. If $R_n$ is farther than $t$ from $R$, then $R_n$ and $R_n'$
    are probably more than $t/2$ apart. Right: the losses of one rule on five pairs of each sample,
    1 (filled) or 0, and the upper loss minus the lower one, $z$. Lines join the losses that change
    places: there the coin $\sigma$ shows $-1$. After that the difference is $\sigma z$.
    """
    R, t, other, far = 0.3, 0.36, 0.4, 0.78
    line.axvspan(R - t / 2, R + t / 2, color=SHADE, lw=0)
    line.axvline(R, color=INK, lw=1, ls=":")
    line.plot(R, 3, "o", color=INK, ms=7)
    line.plot(other, 2, "D", color=BLUE, ms=7)
    line.plot(far, 1, "s", color=ORANGE, ms=7)
    for x, y, name in (R, 3, "$R$"), (other, 2, "$R_n'$"), (far, 1, "$R_n$"):
        line.text(x + 0.04, y, name, va="center")
    for y, low, high, name in (3.6, R, R + t, "$t$"), (0.4, R + t / 2, far, "$> t/2$"):
        line.plot([low, high], [y, y], "|-", color=INK, lw=1)
        line.text(high + 0.03, y, name, va="center")
    line.set(xlim=(0, 1), ylim=(0, 4), xticks=(), yticks=())
    line.spines["left"].set_visible(False)
    swap, z = COINS < 0, LOSSES[0] - LOSSES[1]
    pair, row = np.arange(5), np.array([3, 2])
    table.vlines(pair[swap], 2, 3, color=ORANGE, lw=2, zorder=1)
    for loss, fill in (1, BLUE), (0, "white"):
        where = np.nonzero(loss == LOSSES)
        table.plot(pair[where[1]], row[where[0]], "s", ms=9, mec=INK, mfc=fill, ls="")
    for i in pair:
        for y, value in (1, z[i]), (0, COINS[i] * z[i]):
            table.text(i, y, ("0", "1", "−1")[value], ha="center", va="center")
    table.set(xlim=(-0.6, 4.6), ylim=(-0.5, 3.5), xticks=())
    table.set_yticks((3, 2, 1, 0), ("sample", "ghost", "$z$", r"$\sigma z$"))
    table.tick_params(length=0)
    table.spines[["left", "bottom"]].set_visible(False)


# --- No free lunch ---------------------------------------------------------------------

LEARNERS = {
    memoriser: "memoriser",
    constant: "constant",
    majority: "majority",
    nearest_neighbor: "nearest neighbour",
}


@figure("no_free_lunch", claims=(), panels=(2, 1), size=(6.4, 1.75))
def no_free_lunch(unseen, seen):
    """The expected error of four learners that saw two draws, for each of the 16 targets on four
    points. The darker a cell, the larger the error. Above: errors at the points that were not
    drawn. Each learner has targets that are easy for it and others that are hard, and all rows have
    the same mean. Below: errors at the points that were drawn. Here not all rows have the same
    mean.
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


# --- Films -----------------------------------------------------------------------------


@film("thresholds", erm, measure="excess risk", noise=(0.2, 0.4), seed=(0, 1))
def thresholds_film(noise, seed):
    """Empirical risk minimisation as the sample grows. A rule says 1 above its threshold; labels
    are 1 above 0.5, but flipped with the probability of the noise. Black is the risk of each of 21
    rules, blue its empirical risk, and the large marks belong to the rule of least empirical risk.
    Watch the blue curve approach the black one, and the marks approach the best threshold.
    """
    at = (np.arange(20) + 0.5) / 20
    likely = np.where(at > 0.5, 1 - noise, noise)
    P, cuts = np.array([1 - likely, likely]) / 20, np.arange(21) / 20
    setting = Setting(P, np.array([0, 1]), (at > cuts[:, None]).astype(int), np.not_equal)
    draws = np.random.default_rng(seed).choice(40, size=1000, p=P.ravel())
    sizes = np.unique(np.geomspace(2, 1000, 38).round().astype(int))
    counts = [np.bincount(draws[:n], minlength=40).reshape(2, 20) for n in sizes]
    states = ((each, int(erm(setting, each))) for each in counts)
    R = risk(setting)

    def draw(ax, state):
        found, best = risk(setting, state[0]), state[1]
        ax.plot(cuts, R, color=INK, lw=1.4)
        ax.plot(cuts, found, color=BLUE, lw=1.2)
        ax.plot(cuts[best], R[best], "o", color=INK, ms=8, mec="white", zorder=4)
        ax.plot(cuts[best], found[best], "o", color=BLUE, ms=8, mec="white", zorder=5)
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.0), xlabel="threshold", ylabel="risk")

    def words(state):
        n, found, best = state[0].sum(), risk(setting, state[0]), state[1]
        return (
            f"{n} samples. The chosen threshold {cuts[best]:.2f} has the empirical risk "
            f"{found[best]:.2f} and the risk {R[best]:.2f}."
        )

    return Take(states, draw, words, lambda state: R[state[1]] - R.min())


@film("rectangle", tightest_box, measure="error", target=("wide", "small"))
def rectangle_film(target):
    """The tightest rectangle around the positive examples (solid), as examples arrive. The target
    (dashed) labels them: blue is inside. The learnt rectangle lies within the target and only ever
    grows, so that the error, the area between the two, never rises. A small target is seldom hit.
    """
    goal = {"wide": TARGET, "small": Box(np.array([0.55, 0.5]), np.array([0.85, 0.7]))}[target]
    X = np.random.default_rng(3).random((120, 2))
    y = inside(goal, X).astype(int)
    start = int(np.argmax(y)) + 1  # the first positive example
    states = ((n, tightest_box(X[:n], y[:n])) for n in range(start, 121, 3))

    def draw(ax, state):
        n, learnt = state
        for rim, dash in (corners(goal), "--"), (corners(learnt), "-"):
            ax.plot(*np.vstack([rim, rim[:1]]).T, dash, color=INK, lw=1.4)
        ax.plot(*X[:n][y[:n] == 0].T, "o", color=GREY, ms=3, mew=0)
        ax.plot(*X[:n][y[:n] == 1].T, "o", color=BLUE, ms=4, mew=0)
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 1), yticks=(0, 1), aspect="equal")
        ax.set(xlabel="x₁", ylabel="x₂")

    def words(state):
        n, learnt = state
        error = box_error(learnt, goal)
        return f"{n} examples, {y[:n].sum()} of them inside. The error is {error:.3f}."

    return Take(states, draw, words, lambda state: box_error(state[1], goal))


if __name__ == "__main__":
    run_script(__file__)
