"""Lecture figures of the logistic regression chapter."""

import numpy as np

from mlnotes.datasets import make_separable
from mlnotes.decision_theory import margin_zero_one
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import (
    cost,
    functional_margins,
    geometric_margin,
    gradient_ascent,
    log_loss,
    ray_scale,
)
from mlnotes.optimization import separating_hyperplane
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    draw_line,
    draw_samples,
    figure,
    run_script,
    set_view,
)

STEPS = 10_000  # of gradient ascent
TILT = 0.5  # how far the badly placed separator is turned, in radians


@figure("losses", claims=("logistic_regression-03",), size=(3.6, 2.7))
def losses(ax):
    """The 0-1 loss jumps from 1 to 0 where the score gets the right sign, and has no slope to
    follow. The log-loss, smooth and convex, falls from the line -t to 0; being log 2 at t = 0 it
    lies below the step there. Divided by log 2 it touches the step, and is a bound.
    """
    t = np.linspace(-3, 3, 301)
    for side in (t <= 0, t > 0):
        ax.plot(t[side], margin_zero_one(t[side], 1), color=INK, lw=1.8)
    ax.plot(0, 1, "o", color=INK, ms=4)
    ax.plot(t[t <= 0], -t[t <= 0], ":", color=GREY, lw=1)
    ax.plot(t, log_loss(t), color=BLUE, lw=1.6)
    ax.plot(t, log_loss(t) / np.log(2), "--", color=ORANGE, lw=1.6)
    ax.annotate("0-1 loss", (-2.9, 0.78), color=INK)
    ax.annotate(r"$\ell(t)/\log 2$", (-1.55, 2.75), color=ORANGE, ha="left")
    ax.annotate(r"$\ell(t)$", (-2.25, 2.42), color=BLUE, ha="left")
    ax.annotate("$-t$", (-0.66, 0.5), color=GREY, ha="right")
    ax.set(xlim=(-3, 3), ylim=(-0.05, 3.2), xlabel="$t = y f(x)$", ylabel="loss")
    ax.set(xticks=range(-3, 4), yticks=range(4))


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
    """Left: two separators, one in the middle and one that is badly placed. Middle: both, scaled
    by h, take the cost below any eps, from the h of the theorem on (dots, for eps = 1e-6); the one
    of smaller margin only needs a larger h. Right: gradient ascent does the same, ever more
    slowly. Its ||w|| grows without levelling off, while the cost goes to 0.
    """
    X, y, separators = separable_set()
    looks = ({"color": INK, "lw": 1.6}, {"color": ORANGE, "lw": 1.6, "ls": "--"})
    set_view(left, X)
    draw_samples(left, X, y)
    for theta, look in zip(separators, looks, strict=True):
        draw_line(left, theta[1:], theta[0], **look)
        along_the_ray(middle, X, y, theta, look)
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, handletextpad=0)
    middle.axhline(1e-6, color=GREY, lw=0.8, ls=":")
    middle.set(yscale="log", xscale="log", xlabel="scale $h$", ylabel=r"$F(h w_s, h b_s)$")
    middle.set(ylim=(1e-9, 100), yticks=[1e-9, 1e-6, 1e-3, 1])
    growing(right, X, y)


def along_the_ray(ax, X, y, theta, look):
    """F(h theta) and the h of the theorem for eps = 1e-6."""
    A, h = augment(X), np.geomspace(0.1, 400, 200)
    beyond = ray_scale(functional_margins(A, y, theta), 1e-6)
    ax.plot(h, [cost(A, y, scale * theta) for scale in h], **look)
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


if __name__ == "__main__":
    run_script(__file__)
