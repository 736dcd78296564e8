"""Lecture figures of the svm chapter."""

import numpy as np
from matplotlib.patheffects import withStroke

from mlnotes.datasets import (
    load_iris,
    make_blobs,
    make_moons,
    make_rings,
    make_separable,
    to_signs,
)
from mlnotes.kernels import Gaussian, ring_map
from mlnotes.linear_regression import augment
from mlnotes.perceptron import decision, margin, perceptron
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    Take,
    counted,
    draw_contours,
    draw_line,
    draw_regions,
    draw_samples,
    draw_strip,
    figure,
    film,
    number_samples,
    run_script,
    set_view,
    tint,
)
from mlnotes.svm import (
    SVC,
    c_dual,
    hard_margin,
    hinge,
    offsets,
    project_on_hyperplane,
    smo,
    soft_margin,
    violating_pair,
)

ARROW = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "lw": 1.3}
ENDS = ARROW | {"arrowstyle": "<|-|>"}


def plane(ax, X, **labels):
    """The view of the samples X in units of equal length, without numbers on the axes."""
    set_view(ax, X)
    ax.set(**({"xlabel": "$x_1$", "ylabel": "$x_2$", "xticks": (), "yticks": ()} | labels))


def ring(ax, X, **style):
    """A ring around each of the samples X."""
    look = {"marker": "o", "ms": 10, "mfc": "none", "mec": INK, "mew": 1.0, "zorder": 4}
    ax.plot(*X.T, ls="", **(look | style))


def draw_margin(ax, w, b):
    """The hyperplane f = 0, the margin lines f = 1 and f = -1, and the strip between them."""
    draw_strip(ax, w, b, gamma=1 / np.linalg.norm(w))
    draw_line(ax, w, b, color=INK, lw=1.8)
    for side in (1, -1):
        draw_line(ax, w, b - side, color=INK, lw=0.9, ls="--")


def on_margin(X, y, w, b):
    """Which samples have y f = 1."""
    return np.isclose(y * decision(X, w, b), 1, atol=1e-6)


# --- Which hyperplane? -----------------------------------------------------------------

ORDERS = (1, 2, 3, 6)  # seeds of the orders in which the perceptron meets the samples
DASHES = ("-", "--", "-.", ":")


def separable_set():
    """Thirty samples of two classes that a line separates, with the labels -1 and +1."""
    return make_separable(30, gap=0.5, rng=np.random.default_rng(95))


def perceptron_line(X, y, seed):
    """The w and b that the perceptron ends with, the samples in an order of that seed."""
    *_, last = perceptron(augment(X), y, rng=np.random.default_rng(seed))
    return last.w[1:], last.w[0]


@figure("separators", claims=("svm-30",), panels=2, size=(3.2, 3.4))
def separators(left, right):
    """Thirty other samples. Left: four lines that the perceptron found, the samples taken in four
    orders; all of them are right on every sample, and some pass one closely. Right: the line of the
    largest margin. It lies in the middle of the widest empty strip. The samples on the rim of the
    strip are ringed. A margin is the distance from the line to the closest sample.
    """
    T = separable_set()
    for ax in (left, right):
        plane(ax, T.X)
        draw_samples(ax, T.X, T.y)
    lines = [perceptron_line(T.X, T.y, seed) for seed in ORDERS]
    for (w, b), dash in zip(lines, DASHES, strict=True):
        name = f"margin {margin(T.X, w, b):.3f}"
        draw_line(left, w, b, color=INK, lw=1.2, ls=dash, label=name)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.1), "ncols": 2, "handlelength": 1.6}
    left.legend(handles=left.lines[2:], **below)
    machine = hard_margin(T.X, T.y)
    draw_margin(right, machine.w, machine.b)
    right.lines[2].set_label(f"margin {margin(T.X, machine.w, machine.b):.3f}")
    ring(right, T.X[on_margin(T.X, T.y, machine.w, machine.b)])
    right.lines[-1].set_label("on the rim")
    right.legend(handles=[right.lines[2], right.lines[-1]], **below)


@figure("strip", claims=(), size=(4.6, 2.6))
def strip(ax):
    """The widest empty strip between setosa (orange squares, label -1) and versicolor (blue discs,
    label +1). Only the two ringed flowers touch it, one on each side. The line runs midway.
    """
    iris = load_iris()
    two = iris.y != "virginica"
    X, y = iris.X[two][:, 2:], np.where(iris.y[two] == "setosa", -1, 1)
    machine = hard_margin(X, y)
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)", xlim=(0.8, 5.3), ylim=(0, 2))
    draw_margin(ax, machine.w, machine.b)
    draw_samples(ax, X, y, size=4)
    ring(ax, X[on_margin(X, y, machine.w, machine.b)])


def geometry_points():
    """The hyperplane of the picture, w and b, and the points x, x_+ and x_- in it."""
    w, b = np.array([0.45, 0.6]), -1.8
    x_plus, x_minus = np.array([4.4, 1.3667]), np.array([0.6, 0.8833])
    return w, b, np.array([3.6, 3.7]), _onto(x_plus, w, b - 1), _onto(x_minus, w, b + 1)


def _onto(x, w, b):
    """The point of the hyperplane that is nearest to the point x."""
    return project_on_hyperplane(x[None], w, b)[0]


@figure("geometry", claims=("svm-31",), size=(5.0, 3.9))
def geometry(ax):
    """The hyperplane H, where f = 0, and the margin lines f = 1 and f = -1. The shortest shift v
    from a point x to H leads along w to its projection $x_P$. From any point $x_-$ of the one
    margin line to any point $x_+$ of the other, the vector is as long along w as the strip is wide.
    """
    w, b, x, x_plus, x_minus = geometry_points()
    unit = w / np.linalg.norm(w)
    ax.set(xlim=(-1.4, 5.4), ylim=(-0.5, 4.6), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    ax.set(xticks=(), yticks=())
    draw_margin(ax, w, b)
    foot = _onto(x, w, b)
    across = x_minus + ((x_plus - x_minus) @ unit) * unit
    gap = [_onto(np.array([-0.4, 3.3]), w, b - side) for side in (-1, 1)]
    for start, end, color, how in (
        (x, foot, BLUE, ARROW),
        (x_minus, x_plus, PURPLE, ARROW),
        (x_minus, across, ORANGE, ARROW),
        (*gap, INK, ENDS),
        (_onto(np.array([3.7, 0.2]), w, b), _onto(np.array([3.7, 0.2]), w, b) + w, INK, ARROW),
    ):
        ax.annotate("", end, start, arrowprops=how | {"color": color})
    for point in (x, foot, x_plus, x_minus):
        ax.plot(*point, "o", color=INK, ms=4.5, zorder=5)
    for text, place, shift in (
        ("$x$", x, (6, 4)),
        ("$x_P$", foot, (-16, -11)),
        ("$x_{{+}}$", x_plus, (7, 3)),
        ("$x_{{-}}$", x_minus, (-8, -14)),
        (r"$v = -f(x)\, w\, /\, \Vert w \Vert^2$", (x + foot) / 2, (12, 2)),
        ("$x_{{+}} - x_{{-}}$", (x_minus + 2 * x_plus) / 3, (-16, -13)),
        ("along $w$", (3 * x_minus + across) / 4, (-54, 4)),
        (r"$2\, /\, \Vert w \Vert$", gap[0] + 0.75 * (gap[1] - gap[0]), (8, -6)),
        ("$w$", np.array([3.95, 0.45]), (6, -4)),
    ):
        ax.annotate(text, place, shift, textcoords="offset points")
    for side, x_1 in ((1, 4.85), (0, 0.65), (-1, 1.6)):  # along the line f = side, above it
        on_line = np.array([x_1, (side - b - x_1 * w[0]) / w[1]]) + 0.12 * unit
        ax.text(*on_line, f"$f = {side}$", rotation=np.degrees(np.arctan2(-w[0], w[1])),
                rotation_mode="anchor", ha="center")  # fmt: skip


# --- Soft margin -----------------------------------------------------------------------

KINDS = {
    "free, $0 < \\alpha < C$": {"marker": "o", "ms": 9, "mec": INK, "mew": 1.2},
    "bound, $0 \\leq \\xi < 1$": {"marker": "s", "ms": 9.5, "mec": GREEN, "mew": 1.5},
    "bound, $\\xi = 1$": {"marker": "D", "ms": 9.5, "mec": PURPLE, "mew": 1.8},
    "bound, $\\xi > 1$": {"marker": "x", "ms": 9, "mec": INK, "mew": 1.2},
}
COSTS = (0.04, 0.2, 20.0)  # a small, a medium and a large C
TURNING = 18  # a sample that changes sides at the medium C, where b is unique


def overlapping_set():
    """Twenty-eight samples of two classes that overlap, with the labels -1 and +1.

    Their unit is such that sample TURNING is on the hyperplane for the medium C.
    """
    T = make_blobs((14, 14), [(-1.0, -0.4), (1.0, 0.4)], np.diag([0.9, 1.3]),
                   rng=np.random.default_rng(53))  # fmt: skip
    y = to_signs(T.y)
    return T.X * np.sqrt(crossing_cost(T.X, y, TURNING) / COSTS[1]), y


def crossing_cost(X, y, i, low=0.19, high=0.25):
    """The C between `low` and `high` at which sample i is on the hyperplane, by bisection."""
    side = np.sign(score_at(X, y, low, i))
    while high / low > 1 + 1e-12:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if score_at(X, y, middle, i) * side > 0 else (low, middle)
    return low


def score_at(X, y, C, i):
    """f(x_i) of the soft margin with that C."""
    machine = soft_margin(X, y, C)
    return X[i] @ machine.w + machine.b


def kind_of(alpha, xi, C):
    """The place of each sample among the `KINDS`; -1 for those with alpha = 0: (n,)."""
    bound, on_H = alpha > (1 - 1e-6) * C, np.isclose(xi, 1, atol=1e-6)
    kind = np.where(on_H, 2, np.where(xi > 1, 3, 1))
    return np.where(bound, kind, np.where(alpha > 1e-6 * C, 0, -1))


@figure("soft", claims=("svm-51",), panels=3, size=(2.5, 2.5))
def soft(*axes):
    r"""The same samples (class +1: blue discs, class -1: orange squares) with a small, a medium and
    a large C. A sample that misses its margin line has slack, the thin segment of length $\xi /
    \lVert w \rVert$. As slack becomes dearer the strip narrows and fewer samples are in it. Free
    support vectors are on the margin lines; at the bound $\alpha = C$ are those inside the strip,
    and those on the wrong side. With the medium C one sample is just about to change sides.
    """
    X, y = overlapping_set()
    for ax, C, name in zip(axes, COSTS, ("Small", "Medium", "Large"), strict=True):
        one_soft(ax, X, y, C)
        ax.set_title(f"{name}, $C = {C:g}$")
    handles = [axes[0].plot([], [], ls="", **({"mfc": "none"} | look | {"ms": 8}))[0]
               for look in KINDS.values()]  # fmt: skip
    axes[0].figure.legend(handles, KINDS, loc="outside lower center", ncols=4, handletextpad=0.2)


def one_soft(ax, X, y, C):
    """The soft margin with its slack, and the samples by their kind."""
    machine = soft_margin(X, y, C)
    w, b, norm = machine.w, machine.b, np.linalg.norm(machine.w)
    plane(ax, X)
    draw_margin(ax, w, b)
    draw_samples(ax, X, y, size=4.5)
    kind = kind_of(machine.alpha, machine.xi, C)
    for k, look in enumerate(KINDS.values()):
        ring(ax, X[kind == k], **look)
    late = machine.xi > 1e-6
    feet = X[late] + np.outer(y[late] * machine.xi[late] / norm, w / norm)
    ax.plot(*np.stack([X[late], feet]).transpose(2, 0, 1), color=GREY, lw=0.8, zorder=1)


def outlier_set():
    """Separable samples, to which the last one, of class -1 and near to class +1, was added."""
    T = make_separable(30, gap=0.8, rng=np.random.default_rng(3))
    return np.vstack([T.X, OUTLIER]), np.append(T.y, -1)


OUTLIER = (0.1, -0.1)
MODERATE = 0.2  # C of the soft margin in that picture


@figure("outlier", claims=("svm-52",), panels=2)
def outlier(hard, soft):
    """One sample more (arrow), and the classes are still separable. The dotted lines
    bound the strip as it was before. The hard margin has to turn and to narrow. The soft margin
    lets the sample be wrong and stays nearly what it was.
    """
    X, y = outlier_set()
    for ax, name, fit in (
        (hard, "Hard", hard_margin),
        (soft, f"Soft, $C = {MODERATE:g}$", lambda X, y: soft_margin(X, y, MODERATE)),
    ):
        before, after = fit(X[:-1], y[:-1]), fit(X, y)
        plane(ax, X)
        draw_margin(ax, after.w, after.b)
        for side in (1, -1):
            draw_line(ax, before.w, before.b - side, color=GREY, lw=1.2, ls=":")
        draw_samples(ax, X, y, size=4.5)
        ax.annotate("", X[-1], (24, -20), textcoords="offset points",
                    arrowprops=ARROW | {"shrinkB": 5, "color": INK})  # fmt: skip
        widths = [2 / np.linalg.norm(machine.w) for machine in (before, after)]
        ax.set_title(f"{name}: width {widths[0]:.2f} to {widths[1]:.2f},\n"
                     f"turned by {turned(before.w, after.w):.1f}°")  # fmt: skip


def turned(w, v):
    """The angle between two directions, in degrees."""
    cosine = w @ v / np.linalg.norm(w) / np.linalg.norm(v)
    return np.degrees(np.arccos(np.minimum(cosine, 1)))


@figure("losses", claims=("svm-57",), size=(4.2, 2.8))
def losses(ax):
    """Four losses of a score f. The hinge is 0 from the margin y f = 1 on, and before it grows in
    proportion to what is missing. The log-loss, divided by ln 2 so that it is 1 at y f = 0, is
    never 0. The squared hinge is milder near the margin and harsher far from it. These three are
    convex, and nowhere below the 0-1 loss, which counts mistakes.
    """
    m = np.linspace(-1.5, 2.5, 401)
    ax.plot(m, hinge(m, 1) ** 2, color=ORANGE, lw=1.6, ls="--", label="squared hinge")
    ax.plot(m, hinge(m, 1), color=BLUE, lw=1.9, label="hinge")
    ax.plot(
        m, np.log2(1 + np.exp(-m)), color=PURPLE, lw=1.6, ls=(0, (4, 1, 1, 1)), label="log-loss"
    )
    ax.plot([m[0], 0], [1, 1], color=INK, lw=1.6, ls="-.", label="0-1 loss")
    ax.plot([0, m[-1]], [0, 0], color=INK, lw=1.6, ls="-.")
    ax.plot([0, 0], [0, 1], color=GREY, lw=0.8, ls=":")
    ax.set(xlim=(m[0], m[-1]), ylim=(-0.08, 4), xlabel="$y f(x)$", ylabel="loss")
    ax.set(xticks=(-1, 0, 1, 2), yticks=(0, 1, 2, 3, 4))
    ax.legend()


# --- Kernels ---------------------------------------------------------------------------

LINE = np.array([-2.3, -1.9, -1.55, -0.8, -0.35, 0.1, 0.55, 1.0, 1.75, 2.1])
LINE_Y = np.where((LINE > -1.2) & (LINE < 1.4), -1, 1)


def rings():
    """Samples of a ring, class +1, and of a disc in it."""
    T = make_rings(60, radii=(0.5, 1.45), noise=0.3, rng=np.random.default_rng(2))
    return T.X + [0.15, 0.0], T.y


def seen_aslant(P):
    """Points (x_1, x_2, z) as one sees them turned by 25 degrees and from 20 above: (n, 2)."""
    turn, rise = np.radians(25), np.radians(20)
    right, depth = (P[:, :2] @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]).T
    return np.column_stack([right, 0.8 * np.cos(rise) * P[:, 2] + np.sin(rise) * depth])


@figure("lifting", claims=("svm-66",), panels=3, size=(2.6, 2.6))
def lifting(line, paraboloid, trace):
    """Left: no point separates the classes on the line, but after x -> (x, x^2) a line does, and
    its crossings with the parabola are the two boundary points. Middle: in the same way, with
    $x_1^2 + x_2^2$ as height, a paraboloid lifts a ring above the disc inside it, and a plane
    passes between them. It cuts the paraboloid in the thick curve. Right: that curve, seen from
    above. Support vectors are ringed.
    """
    lifted_line(line)
    X, y = rings()
    model = SVC(kernel="linear", C=100.0, tol=1e-10).fit(ring_map(X), y)
    lifted_rings(paraboloid, X, y, model)
    seen_from_above(trace, X, y, model, lambda Z: model.decision_function(ring_map(Z)))
    trace.set_title("The plane's trace")


def lifted_line(ax):
    """The samples on the line and on the parabola, and the hard margin there."""
    lifted = np.column_stack([LINE, LINE**2])
    machine = hard_margin(lifted, LINE_Y)
    (w_1, w_2), b = machine.w, machine.b
    ax.set(xlim=(-2.7, 2.7), ylim=(-0.4, 6), xlabel="$x$", ylabel="$x^2$", yticks=(0, 2, 4, 6))
    draw_margin(ax, machine.w, b)
    x = np.linspace(-2.7, 2.7, 201)
    ax.plot(x, x**2, color=GREY, lw=0.8, zorder=1)
    ax.axhline(0, color=GREY, lw=0.8, zorder=1)
    cuts = np.sort(np.roots([w_2, w_1, b]))
    ax.vlines(cuts, 0, cuts**2, color=INK, lw=0.9, ls=":")
    draw_samples(ax, np.column_stack([LINE, 0 * LINE]), LINE_Y, size=4)
    draw_samples(ax, lifted, LINE_Y, size=4.5)
    ring(ax, lifted[on_margin(lifted, LINE_Y, machine.w, b)])
    ax.set_title("A line, lifted")


def lifted_rings(ax, X, y, model):
    """The samples on the paraboloid, and the plane of the model between the classes."""
    ax.set(aspect="equal", title="A plane, lifted")
    ax.set_axis_off()
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    for radius in (0.5, 1.0, 1.5, 1.85):
        ax.plot(*seen_aslant(ring_map(radius * circle)).T, color=GREY, lw=0.6, zorder=1)
    for spoke in circle[:180:15]:
        meridian = np.linspace(0, 1.85, 41)[:, None] * spoke
        ax.plot(*seen_aslant(ring_map(meridian)).T, color=GREY, lw=0.4, zorder=1)
    (w,), b = model.coef_, model.intercept_[0]
    corners = 1.9 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    height = -(b + corners @ w[:2]) / w[2]
    ax.fill(*seen_aslant(np.column_stack([corners, height])).T, fc=(*tint(INK, 0.2), 0.55),
            ec=GREY, lw=0.8, zorder=2)  # fmt: skip
    centre = -w[:2] / (2 * w[2])
    cut = centre + np.sqrt(centre @ centre - b / w[2]) * circle
    ax.plot(*seen_aslant(ring_map(cut)).T, color=INK, lw=1.8, zorder=2.5)
    draw_samples(ax, seen_aslant(ring_map(X)), y, size=4)
    ring(ax, seen_aslant(ring_map(X[model.support_])), ms=9)


def seen_from_above(ax, X, y, model, f):
    """The input plane with the levels f = -1, 0, 1, and the support vectors ringed."""
    plane(ax, X)
    drawn = draw_contours(ax, f, levels=[-1, 0, 1], colors=[INK], linewidths=[0.9, 1.8, 0.9],
                          linestyles=["--", "-", "--"])  # fmt: skip
    for path in drawn.get_paths():  # of a loop, the last digits would decide what is left out
        path.should_simplify = False  # as straight, and whether the end is taken for the start
        path.codes = np.where(path.codes == path.CLOSEPOLY, path.LINETO, path.codes)
    draw_samples(ax, X, y, size=4)
    ring(ax, X[model.support_], ms=9)


def moons():
    """Two moons that touch, with the labels -1 and +1."""
    T = make_moons(80, noise=0.2, rng=np.random.default_rng(6))
    return T.X, T.y


WIDTHS = (0.05, 0.6, 5.0)


def of_width(X, y, sigma):
    """The soft margin with C = 10 and a Gaussian kernel of width sigma."""
    return SVC(C=10.0, kernel=Gaussian.of_width(sigma), tol=1e-9).fit(X, y)


@figure("widths", claims=("svm-66",), panels=3, size=(2.6, 2.1))
def widths(*axes):
    """The boundary f = 0 of a machine with a Gaussian kernel of three widths, for the same samples
    and C = 10. Class +1: blue discs, class -1: orange squares; support vectors are ringed. Left:
    narrow bumps make islands around the samples of one class. Middle: the boundary follows both
    moons. Right: wide bumps leave nearly a straight line. Each title says how many percent of
    10,000 new samples are wrong.
    """
    (X, y), new = moons(), make_moons(10000, noise=0.2, rng=np.random.default_rng(7))
    for ax, sigma in zip(axes, WIDTHS, strict=True):
        model = of_width(X, y, sigma)
        plane(ax, X)
        draw_contours(ax, model.decision_function, levels=[0], colors=[INK], linewidths=1.3)
        draw_samples(ax, X, y, size=3.5)
        ring(ax, X[model.support_], ms=6.5, mew=0.7)
        ax.set_title(f"$\\sigma = {sigma:g}$: {1 - model.score(new.X, new.y):.0%} wrong")


BELL = Gaussian.of_width(0.35)  # the kernel in the next picture


def moons_machine(X, y):
    """The soft margin with C = 1 and the kernel BELL."""
    return SVC(kernel=BELL, tol=1e-9).fit(X, y)


def parzen_difference(Z, X, y):
    """What the kernel score at points Z is with alpha_i = 1/n for every sample, and b = 0."""
    return BELL(Z, X) @ (y / len(y))


@figure("parzen", claims=("svm-67",), panels=2, size=(3.2, 2.4))
def parzen(machine, density):
    """Two scores, sums of bumps, one at every ringed sample, up for class +1 and down for class -1;
    the line is where the score is 0, and the tint tells its sign. Left: the support vector machine,
    with an offset, needs a part of the samples; the larger a ring, the larger the multiplier.
    Right: with the same weight for all samples and no offset the score is the difference of the
    Parzen estimates of the classes, each times the share of its class.
    """
    X, y = moons()
    model = moons_machine(X, y)
    weight = np.abs(model.dual_coef_[0]) / model.C
    for ax, f in (
        (machine, model.decision_function),
        (density, lambda Z: parzen_difference(Z, X, y)),
    ):
        plane(ax, X)
        draw_regions(ax, lambda Z, f=f: np.where(f(Z) > 0, 1, -1), (1, -1))
        draw_contours(ax, f, levels=[0], colors=[INK], linewidths=1.8)
        draw_samples(ax, X, y, size=3.5)
    for x, share in zip(X[model.support_], weight, strict=True):
        ring(machine, x[:, None].T, ms=4.5 + 6 * share, mew=0.9)
    ring(density, X, ms=6.5, mew=0.7)
    machine.set_title(f"Support vectors: {len(model.support_)} of {len(X)}")
    density.set_title(f"Parzen estimates: {len(X)} of {len(X)}")


# --- The dual --------------------------------------------------------------------------


def dual_problem():
    """A Gram matrix (10, 10), the labels, and their dual with C = 1."""
    T = make_blobs((5, 5), [(-0.7, 0.0), (0.7, 0.4)], rng=np.random.default_rng(161))
    y = to_signs(T.y)
    return T.X @ T.X.T, y, c_dual(y, C=1.0)


STEPS = np.arange(-8, 8)  # of the contours, from the one that touches the line
SHOWN = (3, 4)  # steps of SMO there: on equal labels, cut, and on opposite ones


@figure("dual_slice", claims=("svm-69",), panels=2, size=(3.4, 2.6))
def dual_slice(equal, opposite):
    r"""The step of SMO from the white dot to the orange one, in the plane of its two multipliers.
    The sum of $\beta_i$ and $\beta_j$ stays, so they move on a line, and the box leaves its thick
    segment. Left: both labels are -1, and $\alpha_i = -\beta_i$ falls while $\alpha_j$ rises.
    Right: the labels are +1 and -1, and both multipliers rise. The darker a contour, the higher the
    dual. On the line it is highest at the cross, where a contour touches the line. The step ends
    there, or at the bound that it meets before (left).
    """
    K, y, dual = dual_problem()
    states = list(smo(K, dual))
    for ax, k, name in zip((equal, opposite), SHOWN, ("Equal", "Opposite"), strict=True):
        one_step(ax, K, y, dual, states[k], states[k + 1])
        ax.set_title(f"{name} labels")
    opposite.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def one_step(ax, K, y, dual, before, after):
    """The dual over the two multipliers that the step moves, and the step."""
    pair = list(after.pair)
    start, end = ((y * state.beta)[pair] for state in (before, after))
    ax.set(xlim=(-0.45, 1.45), ylim=(-0.45, 1.45), aspect="equal")
    ax.set(xlabel=r"$\alpha_i$", ylabel=r"$\alpha_j$")
    ax.set_xticks((0, 1), ("0", "$C$"))
    ax.set_yticks((0, 1), ("0", "$C$"))

    def q(points):
        return dual_over_pair(points, K, y, before.beta, pair)

    top = end_without_box(K, y, before, pair)
    (height,) = q(top[None])
    spread = np.ptp(q(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])))
    shades = [tint(INK, share) for share in np.linspace(0.15, 0.8, len(STEPS))]
    widths = np.where(STEPS == 0, 1.6, 0.8)
    draw_contours(ax, q, levels=height + spread * STEPS / 6, linewidths=widths, colors=shades)
    ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color=INK, lw=1.0)
    line = np.array([y[pair[0]], y[pair[1]]])
    draw_line(ax, line, -line @ start, color=GREY, lw=1.2)
    ends = segment_ends(dual, y, before.beta, pair)
    ax.plot(*ends.T, color=BLUE, lw=3.0, solid_capstyle="butt", label="segment")
    ax.plot(*top, "x", color=INK, ms=10, mew=1.8, ls="", zorder=5, label="top of the line")
    ax.plot(*start, "o", mfc="white", mec=INK, ms=7, mew=1.3, ls="", label="start", zorder=4)
    ax.plot(*end, "o", color=ORANGE, mec=INK, ms=7, ls="", label="end of the step", zorder=3)


def dual_over_pair(points, K, y, beta, pair):
    """The dual objective with alpha_i and alpha_j at the points (m, 2), the others as in beta."""
    B = np.tile(beta, (len(points), 1))
    B[:, pair] = points * y[pair]
    return B @ y - np.einsum("mi,ij,mj->m", B, K, B) / 2


def end_without_box(K, y, state, pair):
    """Where a step on the pair would end without the bounds: alpha_i, alpha_j."""
    i, j = pair
    t = (state.gradient[i] - state.gradient[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])
    return (state.beta[pair] + t * np.array([1, -1])) * y[pair]


def segment_ends(dual, y, beta, pair):
    """The ends of the segment in the box that a step on the pair may move on: (2, 2)."""
    i, j = pair
    total = beta[i] + beta[j]
    low = max(dual.lower[i], total - dual.upper[j])
    high = min(dual.upper[i], total - dual.lower[j])
    return np.array([[low, total - low], [high, total - high]]) * y[pair]


@figure("smo_steps", claims=(), panels=4, size=(2.1, 2.3))
def smo_steps(*axes):
    """The four steps. Blue discs have the label +1, orange squares -1. The area of a grey ring is
    proportional to the multiplier. The line is f = 0 for the current multipliers. Its b is the
    middle between the largest $g_i$ that can rise and the smallest $g_j$ that can fall.
    """
    X, y = np.array([[0.0, 0.0], [2.0, 1.0], [2.0, 2.0], [3.0, 1.0]]), np.array([-1, -1, 1, 1])
    dual = c_dual(y, C=2.0)
    for step, (ax, state) in enumerate(zip(axes, list(smo(X @ X.T, dual))[1:], strict=True)):
        _, i, j = violating_pair(state.gradient, dual, state.beta)
        ax.set(xlim=(-0.7, 3.7), ylim=(-0.9, 2.9), aspect="equal", title=f"after step {step + 1}")
        ax.set(xticks=(), yticks=())
        b = (state.gradient[i] + state.gradient[j]) / 2
        draw_line(ax, state.beta @ X, b, color=INK)
        draw_samples(ax, X, y, size=4)
        ax.scatter(*X.T, s=450 * np.abs(state.beta), facecolors="none", edgecolors=GREY)
        number_samples(ax, X, range(4))
        for number in ax.texts:  # readable where a ring or the line crosses it
            number.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


# --- Films -----------------------------------------------------------------------------


@film("smo", smo, measure="dual objective", C=(1.0, 0.1, 10.0))
def smo_film(C):
    """Sequential minimal optimisation. Each step moves two multipliers (thick rings). A thin ring
    is a multiplier between 0 and C, a grey disc is one at C. The line is where f is 0, the dashed
    lines are where f is 1 and -1. Watch the dual rise quickly at first, and then slowly.
    """
    T = make_moons(36, noise=0.15, rng=np.random.default_rng(3))
    bell, dual = Gaussian.of_width(0.6), c_dual(T.y, C)
    K = bell(T.X)
    x1, x2 = np.linspace(-1.6, 2.6, 29), np.linspace(-1.1, 1.6, 19)
    points = np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2)
    k = bell(points, T.X)

    def draw(ax, state):
        f = (k @ state.beta + offsets(state.gradient, dual, state.beta)[0]).reshape(19, 29)
        for level in (-1, 0, 1):
            if f.min() < level < f.max():
                style = {"colors": [INK], "linestyles": "--" if level else "-"}
                ax.contour(x1, x2, f, levels=[level], linewidths=0.6 if level else 1.2, **style)
        alpha = np.abs(state.beta)
        ax.plot(*T.X[alpha == C].T, "o", ms=9, color=GREY, mew=0)
        ax.plot(*T.X[(alpha > 0) & (alpha < C)].T, "o", ms=9, mfc="none", mec=GREY, mew=1)
        draw_samples(ax, T.X, T.y, size=4)
        ax.plot(*T.X[list(state.pair)].T, "o", ms=12, mfc="none", mec=INK, mew=1.6)
        number_samples(ax, T.X, state.pair)
        ax.set(xlim=(-1.6, 2.6), ylim=(-1.1, 1.6), xlabel="x₁", ylabel="x₂")

    def words(state):
        moved = f"Samples {state.pair[0]} and {state.pair[1]} moved. " if state.pair else ""
        held = counted(np.count_nonzero(state.beta), "multiplier is", "multipliers are")
        return f"{moved}{held} not 0. The worst violation is {max(state.violation, 0):.3f}."

    return Take(smo(K, dual), draw, words, length=41)


if __name__ == "__main__":
    run_script(__file__)
