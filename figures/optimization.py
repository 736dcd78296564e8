"""Lecture figures of the optimization chapter."""

from itertools import islice

import numpy as np

from mlnotes.optimization import (
    Problem,
    active_set,
    box,
    closest_points,
    descent_bound,
    dual_function,
    gradient_descent,
    interior_point,
    newton,
    quadratic_dual,
    quadratic_program,
    segment,
    separating_hyperplane,
    smallest_gap,
    solve_qp,
)
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SHADE,
    draw_contours,
    draw_line,
    draw_samples,
    figure,
    run_script,
)

# ---------------------------------------------------------------------------------------
# Convexity and descent
# ---------------------------------------------------------------------------------------


def bowl(x):
    """A convex function."""
    return np.log(np.cosh(2 * x)) / 2 + x**2 / 8


def wells(x):
    """The function with two wells, x^4 - 2 x^2 + 0.3 x."""
    return x**4 - 2 * x**2 + 0.3 * x


@figure("convexity", claims=(), panels=2)
def chords(left, right):
    """A chord of a convex function (left) lies above it: the gap (orange) is nowhere negative. Of
    a function that is not convex (right) one chord below it is proof enough; this is the worst of
    a thousand tried at random.
    """
    grid = np.linspace(-1.8, 1.8, 361)
    worst = smallest_gap(wells, grid, rng=np.random.default_rng(4))
    chord(left, bowl, -1.2, 1.6, 0.4, side=1)
    chord(right, wells, *worst[1:], side=-1)
    for ax, f in ((left, bowl), (right, wells)):
        ax.plot(grid, f(grid), color=INK, lw=1.4, zorder=1)
        ax.set(xlabel="$x$", xticks=(-1, 0, 1))
    left.set(ylabel="$f(x)$", ylim=(-0.15, 2.2))
    right.set(ylim=(-1.7, 2.2))


def chord(ax, f, x1, x2, t, side):
    """The chord of f from x1 to x2, its gap at t with the word on that side of it."""
    ends, x, height = np.array([x1, x2]), segment(x1, x2, t), segment(f(x1), f(x2), t)
    ax.plot(ends, f(ends), "o-", color=BLUE, ms=4, lw=1.1)
    ax.plot([x, x], [f(x), height], color=ORANGE, lw=2.2)
    look = {"textcoords": "offset points", "va": "center"}
    align = "left" if side > 0 else "right"
    ax.annotate("gap", (x, (f(x) + height) / 2), (6 * side, 0), ha=align, **look)
    for place, name in zip(ends, ("$x_1$", "$x_2$"), strict=True):
        outward = 10 * np.sign(place - x)
        ax.annotate(name, (place, f(place)), (outward, -5), ha="center", **look)


Z = np.array([[1.0, 2.2], [-0.6, 1.8], [0.9, -2.0], [-0.4, -1.4], [1.2, 0.2], [0.3, 0.4]])
RIDGE, START = 0.02, np.array([-5.5, 1.9])


def loss(w):
    """Log-loss of six samples times their labels, Z, and a little ridge; w (2,) or many (m, 2)."""
    return np.logaddexp(0, -w @ Z.T).mean(axis=-1) + RIDGE / 2 * np.sum(w**2, axis=-1)


def loss_gradient(w):
    """Its gradient."""
    return -Z.T @ (1 / (1 + np.exp(Z @ w))) / len(Z) + RIDGE * w


def loss_hessian(w):
    """Its Hessian: at most Z^T Z / (4 n) + RIDGE."""
    p = 1 / (1 + np.exp(Z @ w))
    return (Z.T * (p * (1 - p))) @ Z / len(Z) + RIDGE * np.eye(2)


@figure("descent", claims=(), panels=2)
def valley(left, right):
    """Three ways down a log-loss. With steps of 1/M (circles) descent is sure and slow: most of the
    way is left for the direction in which f is flat. Backtracking (squares) finds longer steps.
    Newton's method (diamonds) uses the curvature of f and is done in a few. Right: how far f is
    from its minimum after k steps, and the bound (dashed) that holds for steps of 1/M on every
    convex function.
    """
    M = np.linalg.eigvalsh(Z.T @ Z / (4 * len(Z)) + RIDGE * np.eye(2))[-1]
    *_, last = newton(loss, loss_gradient, loss_hessian, START)
    left.set(xlim=(-6.2, 5), ylim=(-3.4, 3.4), xlabel="$w_1$", ylabel="$w_2$")
    left.set(xticks=(-5, 0, 5), yticks=(-2, 0, 2))
    levels = last.objective + np.array([0.03, 0.12, 0.35, 0.8, 1.4, 2.2, 3.2])
    draw_contours(left, loss, levels=levels)
    ways = (
        ("$\\eta = 1 / M$", BLUE, "o-", gradient_descent(loss, loss_gradient, START, eta=1 / M)),
        ("backtracking", ORANGE, "s-", gradient_descent(loss, loss_gradient, START)),
        ("Newton", INK, "D--", newton(loss, loss_gradient, loss_hessian, START)),
    )
    for label, color, look, states in ways:
        states = list(islice(states, 61))
        left.plot(*np.transpose([s.x for s in states]), look, color=color, ms=3, lw=1)
        above = np.array([s.objective for s in states]) - last.objective
        above = above[above > 1e-10]
        right.plot(
            above, look, color=color, ms=3, lw=1, markevery=max(1, len(above) // 10), label=label
        )
    k = np.arange(1, 61)
    right.plot(k, descent_bound(M, START, last.x, k), "--", color=GREY, lw=1.4, label="bound")
    right.set(xlabel="step $k$", ylabel=r"$f(w_k) - f(w_\star)$", yscale="log", ylim=(1e-9, 1e2))
    right.legend(loc="center right", bbox_to_anchor=(1.02, 0.57))


# ---------------------------------------------------------------------------------------
# Constraints and duality
# ---------------------------------------------------------------------------------------

ROOM = quadratic_program(
    P=np.array([[1.0, 0.2], [0.2, 0.8]]),
    q=np.array([-3.6, -3.4]),
    G=np.array([[-1.0, -0.45], [-0.35, -1.0], [1.0, 0.0], [0.0, 1.0]]),
    h=np.array([-2.75, -2.3, 0.0, 0.0]),
)


def corners(G, h):
    """The vertices of the polygon G x >= h in the plane, in order around it."""
    pairs = [(i, j) for i in range(len(G)) for j in range(i)]
    points = [np.linalg.solve(G[[i, j]], h[[i, j]]) for i, j in pairs if np.linalg.det(G[[i, j]])]
    points = np.array([x for x in points if (G @ x >= h - 1e-9).all()])
    middle = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(middle[:, 1], middle[:, 0]))]


@figure("kkt", claims=(), panels=2)
def multipliers(left, right):
    """Left: at the solution the gradient of f (black) is the sum of the gradients of the two
    active constraints, each times its multiplier (orange). Both multipliers are positive, so that
    every direction into the feasible set (grey) leads uphill. Right: the duality gap in the steps
    of the interior point method, on soft-margin programs of n variables. Many times as many
    variables take a few steps more.
    """
    solution = solve_qp(ROOM.P, ROOM.q, G=ROOM.C, h=ROOM.c)
    left.set(xlim=(-0.4, 4.1), ylim=(-0.4, 4.1), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    left.set(xticks=(0, 2, 4), yticks=(0, 2, 4))
    left.fill(*corners(ROOM.C, ROOM.c).T, color=SHADE, zorder=0)
    levels = ROOM.f(solution.x) + np.array([-1.5, -0.7, 0.0, 1.0, 2.5, 4.5])
    draw_contours(left, lambda X: np.sum(X @ ROOM.P * X, axis=1) / 2 + X @ ROOM.q, levels=levels)
    left.plot(*np.linalg.solve(ROOM.P, -ROOM.q), "x", color=GREY, ms=6)
    left.plot(*solution.x, "o", color=BLUE, ms=6, zorder=4)
    arrow = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.011, "zorder": 3}
    total = ROOM.gradient(solution.x)
    left.quiver(*solution.x, *total, color=INK, **arrow)
    for j in active_set(ROOM, solution.x):
        part = solution.lam[j] * ROOM.C[j]
        left.quiver(*solution.x, *part, color=ORANGE, **arrow)
        left.plot(*np.transpose([solution.x + part, solution.x + total]), ":", color=GREY, lw=1)
    for n, color, look in ((20, BLUE, "o-"), (80, ORANGE, "s-"), (320, INK, "D-")):
        gaps = [state.gap for state in interior_point(*soft_margin(n)) if state.gap > 1e-10]
        right.plot(gaps, look, color=color, ms=3, lw=1, label=f"$n = {n}$")
    right.set(xlabel="step", ylabel="gap", yscale="log", ylim=(1e-10, 1e6))
    right.legend()


def soft_margin(n):
    """P, q, G, h of the dual program of n samples in the plane, for a hyperplane through 0."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    A = y[:, None] * (rng.normal(size=(n, 2)) + y[:, None])
    return A @ A.T, -np.ones(n), *box(np.zeros(n), np.ones(n))


SQUARE = {"P": [[2.0]], "q": [0.0], "G": [[1.0]], "h": [1.0]}  # x^2 on x >= 1
WELLS = Problem(  # x^4 - 2 x^2 + 0.3 x on x >= 0
    f=lambda x: wells(x[0]),
    gradient=lambda x: 4 * x**3 - 4 * x + 0.3,
    inequalities=lambda x: x,
    inequality_jacobian=lambda x: np.eye(1),
)


@figure("duality", claims=(), panels=2)
def dual_functions(left, right):
    """The dual function (blue) is concave and never above the least feasible value of f (dashed).
    Left, x^2 on x >= 1, which is convex: the two meet at the multiplier of the constraint. Right,
    x^4 - 2 x^2 + 0.3 x on x >= 0, which is not: at best a gap is left. There the Lagrangian has
    two minima as deep as each other, one on either side of the constraint.
    """
    lam = np.linspace(0, 4, 201)
    convex = [quadratic_dual(np.array([each]), **SQUARE) for each in lam]
    left.plot(lam, convex, color=BLUE, lw=1.4)
    left.axhline(1.0, color=INK, lw=1, ls="--")
    left.plot(2.0, 1.0, "o", color=BLUE, ms=5)
    lam = np.linspace(0, 1.2, 241)
    points = np.linspace(-2, 2, 4001)[:, None]
    g = dual_function(WELLS, lam[:, None], points)
    value = min(WELLS.f(x) for x in points if x[0] >= 0)
    right.plot(lam, g, color=BLUE, lw=1.4)
    right.axhline(value, color=INK, lw=1, ls="--")
    best = lam[np.argmax(g)]
    right.plot([best, best], [g.max(), value], color=ORANGE, lw=2.2)
    right.annotate("gap", (best, (g.max() + value) / 2), (6, 0), textcoords="offset points")
    for ax, height in ((left, 1.0), (right, value)):
        ax.annotate(r"$p_\star$", (ax.get_xlim()[1], height), (-14, 4), textcoords="offset points")
        ax.set(xlabel=r"$\lambda$")
    left.set(ylabel=r"$g(\lambda)$", ylim=(-0.1, 1.25), xticks=(0, 2, 4))
    right.set(ylim=(-1.75, -0.55))
    right.set_xticks([0, 0.3, 1], ["0", "0.3", "1"])


# ---------------------------------------------------------------------------------------
# Two consequences
# ---------------------------------------------------------------------------------------


def regression():
    """Samples X (20, 2) with correlated features, and targets y (20,)."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2)) @ np.array([[1.0, 0.6], [0.0, 0.7]])
    return X, X @ np.array([0.6, 1.9]) + 0.3 * rng.normal(size=20)


PENALTY = 12.0


@figure("touching_the_disc", claims=("optimization-27",))
def touching_the_disc(ax):
    """Least squares with ||w||^2 at most k: the contour of the risk that touches the disc does so
    at the solution (dot). There the gradient of the risk points straight at the centre, as
    gradient + 2 lambda w = 0 has it, so that the point is the ridge solution for this lambda; the
    cross is the minimum without constraint.
    """
    X, y = regression()
    free, w = (np.linalg.solve(X.T @ X + r * np.eye(2), X.T @ y) for r in (0.0, PENALTY))

    def risk(w):
        return np.sum((y - w @ X.T) ** 2, axis=-1)

    ax.set(xlim=(-1.6, 2.2), ylim=(-1.6, 2.8), aspect="equal", xlabel="$w_1$", ylabel="$w_2$")
    ax.set(xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1, 2))
    turn = np.linspace(0, 2 * np.pi, 201)
    ax.fill(*np.linalg.norm(w) * np.array([np.cos(turn), np.sin(turn)]), color=SHADE, zorder=0)
    least, touching = risk(free), risk(w)
    levels = least + (touching - least) * np.array([0.1, 0.4, 2.0, 3.5])
    draw_contours(ax, risk, levels=levels)
    draw_contours(ax, risk, levels=[touching], colors=[BLUE], linewidths=1.4)
    gradient = 2 * X.T @ (X @ w - y)
    ax.annotate(
        "", w + 0.8 * gradient / np.linalg.norm(gradient), w, arrowprops={"arrowstyle": "->"}
    )
    ax.annotate(r"$\Vert w \Vert^2 \leq k$", (0, -0.5), ha="center")
    ax.plot(*w, "o", color=BLUE, ms=6)
    ax.plot(*free, "x", color=INK, ms=6)


def two_polytopes():
    """Two sets of points whose hulls are disjoint."""
    rng = np.random.default_rng(12)
    return rng.normal(size=(14, 2)) + [2.4, 1.6], rng.normal(size=(14, 2)) - [1.4, 0.6]


@figure("separation", claims=())
def separation(ax):
    """Two disjoint polytopes, their closest points, and the hyperplane (black) halfway between
    them and orthogonal to the segment that joins them. The dashed lines through the closest
    points bound the strip that is free of both: no hyperplane has a wider one.
    """
    X, Y = two_polytopes()
    u, v, _ = closest_points(X, Y)
    w, b = separating_hyperplane(X, Y)
    for points in (X, Y):
        outline = hull(points)
        ax.fill(*outline.T, color=SHADE, zorder=0)
        ax.plot(*np.vstack([outline, outline[:1]]).T, color=GREY, lw=0.8)
    draw_samples(ax, np.vstack([X, Y]), np.repeat([1, -1], [len(X), len(Y)]), size=4)
    ax.plot(*np.transpose([u, v]), "o-", color=INK, ms=4, lw=1.2, zorder=4)
    draw_line(ax, w, b, color=INK, lw=1.6)
    for side in (u, v):
        draw_line(ax, w, -w @ side, color=INK, lw=0.8, ls="--")
    ax.set(xlim=(-4.5, 5.5), ylim=(-4, 5), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")


def hull(points):
    """The corners of the convex hull, in order: the rows of which no other is more extreme."""
    turn = np.linspace(0, 2 * np.pi, 3601)
    extreme = np.argmax(points @ np.array([np.cos(turn), np.sin(turn)]), axis=0)
    return points[list(dict.fromkeys(extreme))]


if __name__ == "__main__":
    run_script(__file__)
