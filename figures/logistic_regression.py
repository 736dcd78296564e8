"""Lecture figures of the logistic regression chapter."""

from itertools import islice

import numpy as np

from mlnotes.datasets import load_breast_cancer, make_separable
from mlnotes.decision_theory import margin_zero_one
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import (
    LogisticRegression,
    functional_margins,
    geometric_margin,
    gradient_ascent,
    irls,
    log_loss,
    log_loss_curvature,
    logistic_cost,
    ray_scale,
    sigmoid,
    working_response,
)
from mlnotes.optimization import separating_hyperplane
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    Take,
    draw_contours,
    draw_line,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)

STEPS = 10_000  # of gradient ascent
TILT = 0.5  # how far the badly placed separator is turned, in radians
RADII = np.array([7.93, 13.16, 14.39, 15.20, 15.75, 16.77, 22.51, 23.23])  # of eight tumours
MALIGNANT = np.array([-1, -1, -1, 1, 1, -1, 1, 1])


@figure("losses", claims=("logistic_regression-03",), size=(3.6, 2.7))
def losses(ax):
    """Losses against the margin t; a decision is right where t is positive. The 0-1 loss (black)
    jumps from 1 to 0 and is flat elsewhere. The log-loss (blue) is smooth and convex. It falls from
    near the dotted line, -t, towards 0. At t = 0 it is ln 2 = 0.69, below the step. Divided by ln 2
    (orange, dashed) it touches the step there and is above it everywhere else.
    """
    t = np.linspace(-3, 3, 301)
    for side in (t <= 0, t > 0):
        ax.plot(t[side], margin_zero_one(t[side], 1), color=INK, lw=1.8)
    ax.plot(0, 1, "o", color=INK, ms=4)
    ax.plot(t[t <= 0], -t[t <= 0], ":", color=GREY, lw=1)
    ax.plot(t, log_loss(t), color=BLUE, lw=1.6)
    ax.plot(t, log_loss(t) / np.log(2), "--", color=ORANGE, lw=1.6)
    ax.annotate("0-1 loss", (-2.9, 0.78), color=INK)
    ax.annotate(r"$\ell(t)/\ln 2$", (-1.55, 2.75), color=ORANGE, ha="left")
    ax.annotate(r"$\ell(t)$", (-2.25, 2.42), color=BLUE, ha="left")
    ax.annotate("$-t$", (-0.66, 0.5), color=GREY, ha="right")
    ax.set(xlim=(-3, 3), ylim=(-0.05, 3.2), xlabel="margin $t = y f(x)$", ylabel="loss")
    ax.set(xticks=range(-3, 4), yticks=range(4))


@figure("sigmoid", claims=(), panels=2, size=(3.2, 2.4))
def logistic(left, right):
    """Left: the logistic function turns a score f into a probability. The score 0 becomes 1/2, and
    a score of 2 already 0.88. Turn the curve by half a turn around the black dot, and you get the
    same curve: the values at f and -f add up to 1. Right: its slope is largest at 0, where it is
    1/4 (dotted), and becomes small on both sides.
    """
    f = np.linspace(-6, 6, 241)
    for y in (0.0, 1.0):
        left.axhline(y, color=GREY, lw=0.8, ls=":")
    left.plot(f, sigmoid(f), color=BLUE, lw=1.6)
    left.plot(0, 0.5, "o", color=INK, ms=4)
    left.plot([-2, 2], sigmoid(np.array([-2, 2])), "o", color=ORANGE, ms=4)
    left.annotate("$\\sigma(2) = 0.88$", (2.3, 0.76), color=ORANGE)
    left.annotate("$\\sigma(-2) = 0.12$", (-2.3, 0.19), color=ORANGE, ha="right")
    left.set(xlabel="score $f$", ylabel="$\\sigma(f)$", xticks=range(-6, 7, 2), yticks=(0, 0.5, 1))
    right.axhline(0.25, color=GREY, lw=0.8, ls=":")
    right.plot(f, log_loss_curvature(f), color=BLUE, lw=1.6)
    right.set(xlabel="score $f$", ylabel="$\\sigma'(f)$", xticks=range(-6, 7, 2))
    right.set(yticks=(0, 0.25), yticklabels=("0", "1/4"))


@figure("working_response", claims=(), size=(3.2, 2.2))
def tangent(ax):
    """The logistic function (blue), and its tangent (dashed) at the score f = -1 of a malignant
    tumour. The tangent reaches the label 1 at the working response, r = 2.72.
    """
    f, at = np.linspace(-5, 5, 101), -1.0
    r = at + 1 / sigmoid(at)
    ax.axhline(1, color=GREY, lw=0.8, ls=":")
    ax.plot(f, sigmoid(f), color=BLUE, lw=1.6)
    ax.plot([at, r], [sigmoid(at), 1], "--", color=ORANGE)
    ax.plot(at, sigmoid(at), "o", color=INK, ms=4)
    ax.plot(r, 1, "o", color=ORANGE, ms=4)
    ax.plot([r, r], [0, 1], ":", color=ORANGE, lw=1)
    ax.set(
        xlabel="score",
        ylabel="probability",
        xlim=(-5, 5),
        ylim=(0, 1.1),
        xticks=(at, r),
        yticks=(0, 1),
    )
    ax.set(xticklabels=("$f$", "$r$"))


@figure("irls", claims=(), panels=3, size=(2.8, 2.7))
def reweighted_lines(*axes):
    """The first three Newton steps for eight tumours, as weighted least squares. Each tumour is
    drawn at its working response: above the old line (dotted) if it is malignant (full), below it
    if it is benign (open). The larger a marker, the larger its weight. The new line (solid) is
    fitted to the markers, and its height is the new score. The weights shrink at both ends, where
    the labels are in little doubt, and the line becomes steeper.
    """
    A = augment(RADII[:, None] - 16)
    states = [state.x for state, _ in zip(irls(A, MALIGNANT), axes + ("end",), strict=False)]
    view = np.array([6.0, 25.0])
    for k, ax in enumerate(axes):
        r, B = working_response(A, MALIGNANT, states[k])
        for look, x in ((":", states[k]), ("-", states[k + 1])):
            ax.plot(view, x[0] + x[1] * (view - 16), look, color=INK, lw=1.2)
        for label, color in ((1, BLUE), (-1, ORANGE)):
            of = MALIGNANT == label
            fill = color if label == 1 else "white"
            ax.scatter(RADII[of], r[of], s=240 * B[of], fc=fill, ec=color, zorder=3)
        ax.set(title=f"step {k + 1}", xlabel="worst radius", xlim=view, ylim=(-7, 7))
    axes[0].set(ylabel="score, working response")


def worst_radii():
    """The rows (1, worst radius) of all tumours, and the labels: 1 for malignant, -1 for benign."""
    T = load_breast_cancer()
    radius = T.X[:, T.feature_names.index("worst radius")]
    return augment(radius[:, None]), np.where(T.y == "malignant", 1, -1)


@figure("two_costs", claims=(), panels=2, size=(3.4, 2.3))
def two_costs(left, right):
    """Both costs as functions of the offset, with the weight fixed at 1. Left: the number of errors
    is a staircase. It is flat between its jumps, so it has no slope to follow. Right: the cost F is
    smooth and has one valley.
    """
    A, y = worst_radii()
    offsets = np.linspace(-17.8, -15.8, 800)
    margins = [functional_margins(A, y, [b, 1.0]) for b in offsets]
    errors = [np.sum(t <= 0) for t in margins]
    left.plot(offsets, errors, color=INK, lw=1, drawstyle="steps-mid")
    right.plot(offsets, [np.sum(log_loss(t)) for t in margins], color=BLUE)
    left.set(xlabel="offset $b$", ylabel="errors")
    right.set(xlabel="offset $b$", ylabel="cost $F$")


@figure("probability_curve", claims=(), size=(5.6, 2.6))
def probability_curve(ax):
    """The fitted curve (line), the tumours (grey ticks, malignant above), and the share of
    malignant tumours in ten intervals of the radius (dots). Check that the dots follow the curve,
    which was fitted to the single tumours and not to the dots.
    """
    A, y = worst_radii()
    *_, best = irls(A, y)
    radius, z = A[:, 1], (y + 1) / 2
    x = np.linspace(7, 37, 200)
    ax.plot(x, sigmoid(augment(x[:, None]) @ best.x), color=INK)
    for low in np.arange(10, 25, 1.5):
        inside = (radius >= low) & (radius < low + 1.5)
        ax.plot(radius[inside].mean(), z[inside].mean(), "o", ms=4, color=BLUE)
    ax.plot(radius, 1.06 * z - 0.03, "|", ms=6, color=GREY)
    ax.set(xlabel="worst radius", ylabel="probability of malignant", xlim=(7, 37))


@figure("map", claims=(), size=(4.6, 3.0))
def probability_map(ax):
    """Two features, with malignant tumours as squares and benign ones as dots. On each line the
    probability of malignant is constant: from left to right 1 %, 10 %, 50 %, 90 % and 99 %. The
    lines are parallel, because the score is affine. Between the outer ones lie the tumours in
    doubt.
    """
    T = load_breast_cancer()
    names = ["worst radius", "worst texture"]
    X = T.X[:, [T.feature_names.index(name) for name in names]]
    y = np.where(T.y == "malignant", 1, -1)
    *_, fit = irls(augment(X), y)
    set_view(ax, X, equal=False)
    levels = [0.01, 0.1, 0.5, 0.9, 0.99]
    draw_contours(ax, lambda x: sigmoid(augment(x) @ fit.x), levels, colors=[INK])
    draw_samples(ax, X, -y, size=3)
    ax.set(xlabel=names[0], ylabel=names[1])


def separable_set():
    """Samples (n, 2), labels, and two separators (b, w) with ||w|| = 1: the best, and a bad one."""
    T = make_separable(24, gap=0.5, rng=np.random.default_rng(5))
    X, y = T.X - T.X.mean(axis=0), T.y
    w, b = separating_hyperplane(X[y > 0], X[y < 0])
    best = np.concatenate([[b], w]) / np.linalg.norm(w)
    return X, y, (best, turned(X, y, best))


def turned(X, y, theta):
    """The separator theta turned as far as TILT, or by half as much as often as it must be."""
    angle, (b, *w) = TILT, theta
    foot = -b * np.array(w)
    while True:
        c, s = np.cos(angle), np.sin(angle)
        v = np.array([[c, -s], [s, c]]) @ w
        if geometric_margin(X, y, v, -v @ foot) > 0:
            return np.concatenate([[-v @ foot], v])
        angle = angle / 2


@figure("separable", claims=(), panels=3, size=(2.8, 2.7))
def without_a_minimum(left, middle, right):
    """Left: two lines that separate 24 samples, a well placed one (black) and a badly placed one
    (orange). Middle: the cost of both lines when their (b, w) is multiplied by a scale s. It falls
    towards 0. From the dots on, the bound of the walk promises a cost below 1e-6; both lines have a
    w of length 1 at s = 1, and the one of smaller margin needs a larger s. Right: gradient ascent
    on the same samples. The length of w (solid) keeps growing, and the cost F (dashed) keeps
    falling.
    """
    X, y, separators = separable_set()
    looks = ({"color": INK, "lw": 1.6}, {"color": ORANGE, "lw": 1.6, "ls": "--"})
    set_view(left, X)
    draw_samples(left, X, y)
    for theta, look in zip(separators, looks, strict=True):
        draw_line(left, theta[1:], theta[0], **look)
        along_the_ray(middle, X, y, theta, look)
    left.set(xlabel="feature 1", ylabel="feature 2")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, handletextpad=0)
    middle.axhline(1e-6, color=GREY, lw=0.8, ls=":")
    middle.set(yscale="log", xscale="log", xlabel="scale $s$", ylabel=r"$F(s\,\theta)$")
    middle.set(ylim=(1e-9, 100), yticks=[1e-9, 1e-6, 1e-3, 1])
    growing(right, X, y)


def along_the_ray(ax, X, y, theta, look):
    """F(s theta) and the s of the theorem for eps = 1e-6."""
    A, s = augment(X), np.geomspace(0.1, 400, 200)
    beyond = ray_scale(functional_margins(A, y, theta), 1e-6)
    ax.plot(s, [logistic_cost(A, y, scale * theta) for scale in s], **look)
    ax.plot(beyond, 1e-6, "o", color=look["color"], ms=5)


def growing(ax, X, y):
    """The norm of w and the cost over the steps of gradient ascent."""
    states = [state for state, _ in zip(gradient_ascent(augment(X), y), range(STEPS), strict=False)]
    step = np.unique(np.geomspace(1, STEPS - 1, 200).astype(int))
    ax.plot(step, [np.linalg.norm(states[k].x[1:]) for k in step], color=BLUE, lw=1.6)
    ax.plot(step, [states[k].objective for k in step], "--", color=GREEN, lw=1.6)
    ax.set(xscale="log", yscale="log", xlabel="step of gradient ascent")
    ax.annotate(r"$\Vert w \Vert$", (60, np.linalg.norm(states[60].x[1:]) * 1.7), color=BLUE)
    ax.annotate("$F$", (300, states[300].objective * 1.4), color=GREEN)


@figure("three_classes", claims=(), size=(3.6, 2.7))
def three_classes(ax):
    """Softmax for three classes of 20 samples. The tint is that of the most probable class. Every
    border is straight, because two scores are equal on it. All three are equal where the borders
    meet. On each dashed curve one class has 90 %.
    """
    rng, k = np.random.default_rng(4), np.repeat([0, 1, 2], 20)
    X = np.array([[0.0, 1.6], [-1.6, -0.8], [1.6, -0.8]])[k] + 0.9 * rng.normal(size=(60, 2))
    model = LogisticRegression().fit(X, k)
    w, b = model.coef_, model.intercept_
    meet = np.linalg.solve(w[1:] - w[0], b[0] - b[1:])
    far = []  # on the border between the two classes other than c
    for c in range(3):
        i, j = {0, 1, 2} - {c}
        along = np.array([[0, -1], [1, 0]]) @ (w[i] - w[j])
        far.append(meet + 100 * along / np.linalg.norm(along) * np.sign((w[i] - w[c]) @ along))
    set_view(ax, X)
    for c in range(3):
        ax.fill(*np.transpose([meet, *far[:c], *far[c + 1 :]]), color=tint(COLORS[c]), zorder=0)
        ax.plot(*np.transpose([meet, far[c]]), color=INK, lw=1, scalex=False, scaley=False)
    x, y = np.linspace(*ax.get_xlim(), 50), np.linspace(*ax.get_ylim(), 50)
    P = model.predict_proba(np.column_stack([np.tile(x, 50), np.repeat(y, 50)]))
    for share in P.T:
        ax.contour(x, y, share.reshape(50, 50), [0.9], colors=[GREY], linestyles="--", linewidths=1)
    draw_samples(ax, X, k, size=4)
    ax.set(xlabel="feature 1", ylabel="feature 2")


# --- Films -----------------------------------------------------------------------------


def draw_levels(ax, theta):
    """The boundary of theta = (b, w), and dashed the lines where P(+1 | x) is 0.1 and 0.9."""
    if not theta[1:].any():
        return
    draw_line(ax, theta[1:], theta[0], color=INK, lw=1.6)
    for share in (1 / 9, 9):  # P / (1 - P) at the line
        draw_line(ax, theta[1:], theta[0] - np.log(share), color=GREY, lw=1, ls="--")


@film("newton", irls, measure="F", lam=(0.0, 1.0, 10.0), start=("zero", "wrong way"))
def newton_film(lam, start):
    """IRLS on two groups that overlap: the boundary (black), and where P(+1 | x) is 0.1 and 0.9
    (dashed). From zero, the first step already turns the boundary almost to its place; the next
    ones bring the dashed lines to their distance. A penalty lam keeps w small, and so the dashed
    lines far apart.
    """
    rng = np.random.default_rng(3)
    y = np.repeat([1, -1], 30)
    X = rng.normal(size=(60, 2)) + 1.1 * y[:, None] * [1.0, 0.6]

    def draw(ax, state):
        set_view(ax, X)
        draw_samples(ax, X, y, size=4)
        draw_levels(ax, state.x)
        ax.set(xlabel="x₁", ylabel="x₂")

    def words(state):
        wrong = np.sum(functional_margins(augment(X), y, state.x) <= 0)
        length = np.linalg.norm(state.x[1:])
        if not length:
            return f"F = {state.objective:.3f}. At the start both classes have probability 1/2."
        return f"F = {state.objective:.3f}. The length of w is {length:.2f}. {wrong} errors."

    theta0 = [0.0, 0.0, 0.0] if start == "zero" else [1.0, -0.5, 0.5]
    return Take(irls(augment(X), y, theta0, lam=lam), draw, words)


DOUBLED = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)  # steps of gradient ascent


@film("separable", gradient_ascent, measure="length of w", gap=(0.5, 0.2, 1.0))
def separable_film(gap):
    """Gradient ascent on data that a line separates, with the steps doubled from frame to frame.
    There is no best w: it grows without end, and the dashed lines, where P(+1 | x) is 0.1 and 0.9,
    close in on the boundary. The boundary itself hardly moves any more; slowly it takes the middle.
    """
    T = make_separable(24, gap=gap, rng=np.random.default_rng(5))
    X, y = T.X - T.X.mean(axis=0), T.y
    states = list(islice(gradient_ascent(augment(X), y), DOUBLED[-1] + 1))

    def draw(ax, step):
        set_view(ax, X)
        draw_samples(ax, X, y, size=4)
        draw_levels(ax, states[step].x)
        ax.set(xlabel="x₁", ylabel="x₂")

    def length(step):
        return np.linalg.norm(states[step].x[1:])

    def words(step):
        closest = functional_margins(augment(X), y, states[step].x).min()
        margin = closest / length(step) if step else 0.0
        return (
            f"Step {step}: F = {states[step].objective:.3g}, the length of w is "
            f"{length(step):.2f}, the margin is {margin:.2f}."
        )

    return Take((step for step in DOUBLED), draw, words, length)


if __name__ == "__main__":
    run_script(__file__)
