"""Lecture figures of the optimization chapter."""

from itertools import islice

import numpy as np

from mlnotes.base import iterate
from mlnotes.datasets import load_iris
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
    project_ball,
    projected_gradient,
    quadratic_dual,
    quadratic_program,
    segment,
    separating_hyperplane,
    smallest_gap,
    solve_qp,
    stochastic_gradient_descent,
)
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    SHADE,
    Take,
    draw_contours,
    draw_line,
    draw_samples,
    figure,
    film,
    run_script,
)

# --- Convexity and descent -------------------------------------------------------------


def bowl(x):
    """A convex function."""
    return np.log(np.cosh(2 * x)) / 2 + x**2 / 8


def wells(x):
    """The function with two wells, x^4 - 2 x^2 + 0.3 x."""
    return x**4 - 2 * x**2 + 0.3 * x


@figure("convexity", claims=(), panels=2)
def chords(left, right):
    """Left: a convex function. Every chord lies above it, like the blue one, so the gap (orange) is
    never negative. Right: a function that is not convex. One chord that passes below the function
    proves it.
    """
    grid = np.linspace(-1.8, 1.8, 361)
    worst = smallest_gap(wells, grid, rng=np.random.default_rng(4))
    chord(left, bowl, -1.2, 1.6, 0.4, side=1)
    chord(right, wells, worst.x2, worst.x1, 1 - worst.t, side=-1)  # named from left to right
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


def widths():
    """Z (100, 2) of the wide and narrow petals of two irises: rows y_i (1, width in cm)."""
    iris = load_iris()
    two = iris.y != "setosa"
    y = np.where(iris.y[two] == "virginica", 1.0, -1.0)
    return y[:, None] * np.column_stack([np.ones(len(y)), iris.X[two, 3]])


Z, START = widths(), np.zeros(2)


def loss(w, rows=Z):
    """The mean log-loss of the rows z_i; w (2,) or many (m, 2)."""
    return np.logaddexp(0, -w @ rows.T).mean(axis=-1)


def loss_gradient(w, rows=Z):
    """Its gradient."""
    return -rows.T @ (1 / (1 + np.exp(rows @ w))) / len(rows)


def loss_hessian(w, rows=Z):
    """Its Hessian: at most rows^T rows / (4 n)."""
    p = 1 / (1 + np.exp(rows @ w))
    return (rows.T * (p * (1 - p))) @ rows / len(rows)


def least_loss(rows):
    """The weights with the least loss on the rows; steep ones where there is no minimum."""
    way = newton(*(lambda w, f=f: f(w, rows) for f in (loss, loss_gradient, loss_hessian)), START)
    return iterate(way, "decrement", 1e-6, 50).state.x


@figure("curves", claims=(), panels=2)
def curves(left, right):
    """Marks: the widths that occur among 50 versicolors (below) and 50 virginicas (above). Left:
    three curves for the probability of virginica. The steep one has the smallest loss of the three.
    Right: the best of all curves, and its probability at 1.7 cm (dot). Grey at each width, and the
    bar at 1.7 cm: the middle 95 % of the curves found for 1000 samples of 100 flowers, drawn with
    repetition from these.
    """
    for w, look in (([0, 0], ":"), ([-3, 2], "--"), ([-16, 10], "-")):
        left.plot(GRID, chance(GRID, *w), look, color=INK, label=f"$w = ({w[0]}, {w[1]})$")
    best, rng = least_loss(Z), np.random.default_rng(0)
    others = np.array([least_loss(Z[rng.integers(100, size=100)]) for _ in range(1000)])
    band = np.quantile(chance(GRID, *others.T[:, :, None]), (0.025, 0.975), axis=0)
    right.plot(GRID, chance(GRID, *best), color=INK, label=f"$w = ({best[0]:.1f}, {best[1]:.1f})$")
    right.fill_between(GRID, *band, color=SHADE, lw=0, label="middle 95 %")
    right.plot([1.7, 1.7], [np.interp(1.7, GRID, edge) for edge in band], color=INK, lw=1)
    right.plot(1.7, chance(1.7, *best), "o", color=INK, ms=5)
    for ax in (left, right):
        for label, color, name in ((1, BLUE, "virginica"), (-1, ORANGE, "versicolor")):
            width = Z[Z[:, 0] == label, 1] * label
            there = np.full(50, (label + 1) / 2)
            ax.plot(width, there, "|", ms=9, color=color, label=name if ax is left else None)
        ax.set(xlabel="petal width (cm)", yticks=(0, 0.5, 1), xlim=(0.9, 2.6))
        ax.legend(fontsize=8, loc="lower right", bbox_to_anchor=(1, 0.06))
    left.set(ylabel="probability of virginica")


GRID = np.linspace(0.9, 2.6, 171)


def chance(x, w0, w1):
    """The probability of virginica at the width x."""
    return 1 / (1 + np.exp(-(w0 + w1 * x)))


@figure("step_sizes", claims=(), panels=3)
def step_sizes(*axes):
    """Ten steps of gradient descent in a valley that is 25 times as curved across as along, from
    the same start with three step sizes. Left: safe for the direction across, and slow along the
    valley. Middle: the constant step size that is best in the long run; it zigzags and is faster.
    Right: 5 % above the limit 2/25; it diverges.
    """
    curvatures = np.array([1.0, 25.0])
    for ax, (name, eta) in zip(axes, STEPS, strict=True):
        states = gradient_descent(
            lambda x: x @ (curvatures * x) / 2, lambda x: curvatures * x, [9.0, 1.0], eta=eta
        )
        ax.set(xlim=(-3, 10), ylim=(-3.2, 3.2), xlabel="$x_1$", title=name, xticks=(0, 5, 10))
        ax.set(aspect="equal", yticks=(-3, 0, 3))
        levels = np.array([0.5, 4.0, 12.0, 26.0, 52.0, 100.0])
        draw_contours(ax, lambda X: np.sum(curvatures * X**2, axis=1) / 2, levels=levels)
        ax.plot(*np.transpose([s.x for s in islice(states, 11)]), "o-", color=BLUE, ms=3, lw=1)
        ax.plot(0, 0, "x", color=INK, ms=6)
    axes[0].set(ylabel="$x_2$")


STEPS = (("$\\eta = 1/25$", 1 / 25), ("$\\eta = 2/26$", 2 / 26), ("$\\eta = 2.1/25$", 2.1 / 25))


@figure("standardised", claims=(), panels=2)
def remedy(*axes):
    """The same flowers and the same method: from the start (square) the places after 1, 10 and 100
    steps of size $1/M$ (dots). Only the origin and the unit of the width differ. Left: in
    centimetres, the steps end far from the minimiser (cross). Right: standardised, they end close
    to it. The contours are at the same heights in both.
    """
    y, width = Z[:, 0], np.abs(Z[:, 1])
    scaled = (width - width.mean()) / width.std()
    views = ((-27, 3), (-1, 17)), ((-5.5, 6.5), (-1, 8.5))
    names = "width in cm", "width standardised"
    for ax, x, (across, up), name in zip(axes, (width, scaled), views, names, strict=True):
        rows = y[:, None] * np.column_stack([np.ones(100), x])
        M, best = np.linalg.eigvalsh(rows.T @ rows / 400)[-1], least_loss(rows)
        ax.set(xlim=across, ylim=up, xlabel="$w_0$", title=name)
        levels = loss(best, rows) + np.array([0.01, 0.03, 0.12, 0.35, 0.8, 1.6])
        draw_contours(ax, lambda W, rows=rows: loss(W, rows), levels=levels)
        f, gradient = (lambda w, g=g, rows=rows: g(w, rows) for g in (loss, loss_gradient))
        way = np.array([s.x for s in islice(gradient_descent(f, gradient, START, eta=1 / M), 101)])
        ax.plot(*way.T, color=BLUE, lw=1.4)
        ax.plot(*way[[1, 10, 100]].T, "o", color=BLUE, ms=4)
        ax.plot(*START, "s", color=BLUE, ms=5)
        ax.plot(*best, "x", color=INK, ms=6)
    axes[0].set(ylabel="$w_1$")


@figure("armijo", claims=())
def armijo(ax):
    r"""The loss of the petals on the way of the tenth step of backtracking (black), its tangent
    (dashed), and the line that falls a quarter as fast (blue). The rule asks for a place not above
    the blue line. $\eta = 16$ and 8, beyond the right edge, and 4 (square) fail, so the step size
    is 2 (dot).
    """
    w = next(islice(gradient_descent(loss, loss_gradient, START), 9, None)).x
    slope, eta = loss_gradient(w), np.linspace(0, 6, 121)
    ax.plot(eta, loss(w - eta[:, None] * slope), color=INK, lw=1.4)
    ax.plot(eta, loss(w) - eta * (slope @ slope), "--", color=INK, lw=1)
    ax.plot(eta, loss(w) - eta / 4 * (slope @ slope), color=BLUE, lw=1.4)
    for tried, marker in ((4, "s"), (2, "o")):
        ax.plot(tried, loss(w - tried * slope), marker, color=ORANGE, ms=6, zorder=3)
    ax.set(xlabel=r"$\eta$", ylabel=r"$f(w + \eta p)$", xlim=(0, 6), ylim=(0.45, 0.56))
    ax.set(xticks=(0, 2, 4, 6), yticks=(0.46, 0.5, 0.54))


@figure("newton_step", claims=(), panels=2)
def newton_steps(*axes):
    r"""Newton's step (dot to diamond) on $f(x) = \ln \cosh x$ (black). It goes to the $x$ at which
    the parabola (blue) that fits $f$ at the dot is lowest. The dotted line joins this lowest point
    to $f$ at the same $x$. Left: from 0.8 the step leads to $-0.39$, nearer to the minimiser.
    Right: from 1.2 it leads to $-1.53$, farther away. Backtracking takes half of it (square).
    """
    grid = np.linspace(-2.2, 2.2, 221)
    for ax, x in zip(axes, (0.8, 1.2), strict=True):
        value, slope, curvature = np.log(np.cosh(x)), np.tanh(x), 1 / np.cosh(x) ** 2
        p = -slope / curvature
        ax.plot(grid, np.log(np.cosh(grid)), color=INK, lw=1.4)
        ax.plot(grid, value + slope * (grid - x) + curvature / 2 * (grid - x) ** 2, color=BLUE)
        ax.plot(
            [x + p, x + p],
            [value - slope**2 / curvature / 2, np.log(np.cosh(x + p))],
            ":",
            color=GREY,
        )
        for place, mark in ((x, "o"), (x + p, "D"), (x + p / 2, "s"))[: 2 + (x > 1)]:
            ax.plot(place, np.log(np.cosh(place)), mark, color=ORANGE, ms=6, zorder=3)
        ax.set(xlabel="$x$", xticks=(-2, -1, 0, 1, 2), ylim=(-0.7, 1.6))
    axes[0].set(ylabel="$f(x)$")


@figure("descent", claims=(), panels=2)
def valley(left, right):
    """Ways down the log-loss of the petals. Left: its contours, a long narrow valley, the start
    (square) and the minimiser (cross). The circles are the places of gradient descent after 10, 100
    and 1000 steps of size $1/M$, the diamonds those of Newton's method after 1 to 5 steps. Right:
    the height above the minimum after $k$ steps, and an upper bound for steps of size $1/M$
    (dotted).
    """
    M = np.linalg.eigvalsh(Z.T @ Z / (4 * len(Z)))[-1]
    *_, last = newton(loss, loss_gradient, loss_hessian, START)
    ways = (
        ("$\\eta = 1 / M$", BLUE, "-", gradient_descent(loss, loss_gradient, START, eta=1 / M)),
        ("backtracking", ORANGE, "--", gradient_descent(loss, loss_gradient, START)),
        ("Newton", INK, "D-", newton(loss, loss_gradient, loss_hessian, START)),
    )
    ways = [(*look, list(islice(states, 10_001))) for *look, states in ways]
    left.set(xlim=(-27, 3), ylim=(-1, 17), xlabel="$w_0$", ylabel="$w_1$")
    levels = last.objective + np.array([0.03, 0.12, 0.35, 0.8, 1.6, 3.2])
    draw_contours(left, loss, levels=levels)
    left.plot(*START, "s", color=INK, ms=5)
    left.plot(*last.x, "x", color=INK, ms=7, zorder=5)
    for k in (10, 100, 1000):
        place(left, ways[0][3][k].x, k, "o", BLUE, side=1)
    for k in range(1, 6):
        place(left, ways[2][3][k].x, k, "D", INK, side=-1)
    for label, color, look, states in ways:
        above = np.array([s.objective for s in states])[1:] - last.objective
        above = above[above > 1e-10]
        right.plot(np.arange(1, len(above) + 1), above, look, color=color, ms=3, lw=1, label=label)
    k = np.geomspace(1, 10_000, 50)
    right.plot(k, descent_bound(M, START, last.x, k), ":", color=GREY, lw=1.4, label="bound")
    right.set(xlabel="step $k$", ylabel=r"$f(w_k) - f(w_\star)$")
    right.set(xscale="log", yscale="log", ylim=(1e-9, 1e6), yticks=(1e-8, 1e-4, 1))
    right.legend(loc="upper center", ncol=2, columnspacing=1.0)


def place(ax, w, k, marker, color, side):
    """A marker at w with the number k of the step on that side of it."""
    ax.plot(*w, marker, color=color, ms=4)
    align = "left" if side > 0 else "right"
    look = {"textcoords": "offset points", "ha": align, "va": "center", "color": color}
    ax.annotate(str(k), w, (6 * side, 5 * side), fontsize=8, **look)


@figure("noise", claims=(), panels=2)
def noise(*axes):
    r"""200 steps of stochastic gradient descent on the five numbers. Left: with the step size
    $\frac12$ the noise stays. Right: with $\frac1k$ it dies out. Dashed: the minimiser, 5. Grey:
    one standard deviation to each side of it, by walks 25 and 26; left the one of the long run,
    right the one of $x_k$.
    """
    numbers, k = np.array([1.0, 2.0, 4.0, 7.0, 11.0]), np.arange(1, 201)
    draws = np.random.default_rng(1).choice(numbers, size=200)
    ways = (("$\\eta = 1/2$", np.full(200, 0.5), 0.5 / 1.5), ("$\\eta_k = 1/k$", 1 / k, 1 / k))
    for ax, (name, eta, share) in zip(axes, ways, strict=True):
        x = [0.0]
        for step, y in zip(eta, draws, strict=True):
            x.append(x[-1] - step * (x[-1] - y))
        away = np.sqrt(share * numbers.var()) * np.ones(200)
        ax.fill_between(k, 5 - away, 5 + away, color=SHADE, lw=0, zorder=0)
        ax.axhline(5, color=INK, lw=0.8, ls="--")
        ax.plot(x, color=BLUE, lw=1)
        ax.set(title=name, xlabel="step $k$", xlim=(0, 200), ylim=(0, 11), yticks=(0, 5, 10))
    axes[0].set(ylabel="$x_k$")


# --- Constraints and duality -----------------------------------------------------------

ROOM = quadratic_program(
    P=np.array([[1.0, 0.2], [0.2, 0.8]]),
    q=np.array([-3.6, -3.4]),
    G=np.array([[-1.0, -0.45], [-0.35, -1.0], [1.0, 0.0], [0.0, 1.0]]),
    h=np.array([-2.75, -2.3, 0.0, 0.0]),
)


@figure("tangent", claims=())
def tangent(ax):
    """The least $x_1^2 + x_2^2$ on the line $x_1 + x_2 = 1$ (blue). Circles are contours. At the
    solution (dot) a contour touches the line, and the gradient (black) is orthogonal to it. At
    another point (square) the gradient has a part along the line (orange). A short step against
    that part stays on the line and goes down.
    """
    ax.set(xlim=(-1, 3.5), ylim=(-1.5, 1.8), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    ax.set(xticks=(0, 1, 2, 3), yticks=(-1, 0, 1))
    levels = np.array([0.1, 0.25, 0.5, 0.9, 1.5, 2.5])
    draw_contours(ax, lambda X: np.sum(X**2, axis=1), levels=levels)
    ax.plot([-0.8, 2.5], [1.8, -1.5], color=BLUE, lw=1.4)
    arrow = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.011, "zorder": 3}
    for x, marker in (([0.5, 0.5], "o"), ([1.1, -0.1], "s")):
        slope = 2 * np.array(x)
        along = (slope[0] - slope[1]) / 2 * np.array([1, -1])
        ax.quiver(*x, *slope, color=INK, **arrow)
        ax.quiver(*x, *along, color=ORANGE, **arrow)
        ax.plot(*x, marker, color=BLUE, ms=6, zorder=4)


def corners(G, h):
    """The vertices of the polygon G x >= h in the plane, in order around it."""
    pairs = [(i, j) for i in range(len(G)) for j in range(i)]
    points = [np.linalg.solve(G[[i, j]], h[[i, j]]) for i, j in pairs if np.linalg.det(G[[i, j]])]
    points = np.array([x for x in points if (G @ x >= h - 1e-9).all()])
    middle = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(middle[:, 1], middle[:, 0]))]


TRIANGLE = quadratic_program(
    P=np.eye(2),
    q=np.array([0.0, -4.0]),
    G=np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]),
    h=np.array([1.0, 1.0, -4.0]),
)


@figure("triangle", claims=())
def triangle(ax):
    r"""The point of the triangle (grey) nearest to $(0, 4)$ (cross). Circles are contours of $f$.
    At the solution (dot) the gradient of $f$ (black) is the sum of the pushes of the two walls that
    it touches (orange): $2 \cdot (1, 0)$ from the left wall and $1 \cdot (-1, -1)$ from the sloping
    one.
    """
    x, lam = solve_qp(*TRIANGLE)[:2]
    ax.set(xlim=(-0.6, 4), ylim=(0.4, 4.6), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    ax.fill(*corners(TRIANGLE.G, TRIANGLE.h).T, color=SHADE, zorder=0)
    levels = np.array([0.25, 1.0, 2.5, 4.5]) - 8
    draw_contours(ax, lambda X: np.sum(X**2, axis=1) / 2 - 4 * X[:, 1], levels=levels)
    arrow = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.012, "zorder": 3}
    ax.quiver(*x, *TRIANGLE.gradient(x), color=INK, **arrow)
    for j in (0, 2):
        ax.quiver(*x, *(lam[j] * TRIANGLE.G[j]), color=ORANGE, **arrow)
    ax.plot(0, 4, "x", color=INK)
    ax.plot(*x, "o", color=BLUE, ms=6, zorder=4)


@figure("central_path", claims=())
def central_path(ax):
    r"""The central path (orange) in a feasible set (grey). At each of its points all products
    $\lambda_j s_j$ are equal to one number $\mu$. For large $\mu$ the point is deep inside, for
    $\mu$ towards 0 it goes to the solution. Blue: the steps of the interior point method. The cross
    is the minimiser without constraints.
    """
    ax.set(xlim=(-0.3, 3.9), ylim=(-0.3, 2.6), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    ax.set(xticks=(0, 1, 2, 3), yticks=(0, 1, 2))
    P, G, h = ROOM.P, ROOM.G, ROOM.h
    free = np.array([3.5, 0.6])
    q = -P @ free
    ax.fill(*corners(G, h).T, color=SHADE, zorder=0)
    levels = -free @ P @ free / 2 + np.array([0.05, 0.25, 0.6, 1.1, 2.0, 3.5])
    draw_contours(ax, lambda X: np.sum(X @ P * X, axis=1) / 2 + X @ q, levels=levels)
    ax.plot(*free, "x", color=GREY, ms=6)
    look = {"textcoords": "offset points", "color": ORANGE, "fontsize": 8}
    x, path = np.array([0.9, 0.9]), []
    for mu in np.geomspace(100, 1e-5, 71):

        def barrier(x, mu=mu):
            s = G @ x - h
            return x @ P @ x / 2 + q @ x - mu * np.log(s).sum() if s.min() > 0 else np.inf

        *_, state = newton(
            barrier,
            lambda x, mu=mu: P @ x + q - G.T @ (mu / (G @ x - h)),  # lambda_j = mu / s_j
            lambda x, mu=mu: P + (G.T * (mu / (G @ x - h) ** 2)) @ G,
            x,
        )
        x = state.x
        path.append(x)
        if np.isclose(mu, [100, 1, 0.1]).any():
            ax.plot(*x, "o", color=ORANGE, ms=4)
            ax.annotate(rf"$\mu = {mu:.3g}$", x, (4, -11), ha="right", **look)
    ax.plot(*np.transpose(path), color=ORANGE, lw=2)
    steps = np.array([state.x for state in islice(interior_point(P, q, G, h), 9)])
    ax.plot(*steps.T, "o-", color=BLUE, ms=3.5, lw=1, zorder=4)


@figure("kkt", claims=(), panels=2)
def multipliers(left, right):
    r"""Left: the feasible set (grey), contours of $f$ and the solution (dot). There the gradient of
    $f$ (black arrow) is the sum of the gradients of the two active constraints, each times its
    multiplier (orange arrows). The cross is the minimiser without constraints. Right: the gap (the
    sum of all $\lambda_j s_j$) after each step of the interior point method, for random programs
    with $n$ variables, of the kind that chapter 19 solves.
    """
    solution = solve_qp(*ROOM)
    left.set(xlim=(-0.4, 4.1), ylim=(-0.4, 4.1), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    left.set(xticks=(0, 2, 4), yticks=(0, 2, 4))
    left.fill(*corners(ROOM.G, ROOM.h).T, color=SHADE, zorder=0)
    levels = ROOM.f(solution.x) + np.array([-1.5, -0.7, 0.0, 1.0, 2.5, 4.5])
    draw_contours(left, lambda X: np.sum(X @ ROOM.P * X, axis=1) / 2 + X @ ROOM.q, levels=levels)
    left.plot(*np.linalg.solve(ROOM.P, -ROOM.q), "x", color=GREY, ms=6)
    left.plot(*solution.x, "o", color=BLUE, ms=6, zorder=4)
    arrow = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.011, "zorder": 3}
    total = ROOM.gradient(solution.x)
    left.quiver(*solution.x, *total, color=INK, **arrow)
    look = {"textcoords": "offset points", "va": "center"}
    left.annotate(r"$\nabla f$", solution.x + total, (-5, 4), ha="right", **look)
    for j, place in zip(active_set(ROOM, solution.x), ((-28, 7), (3, -4)), strict=True):
        part = solution.lam[j] * ROOM.G[j]
        left.quiver(*solution.x, *part, color=ORANGE, **arrow)
        name = rf"$\lambda_{j + 1} \nabla c_{j + 1}$"
        left.annotate(name, solution.x + part, place, color=ORANGE, **look)
        left.plot(*np.transpose([solution.x + part, solution.x + total]), ":", color=GREY, lw=1)
    left.set_title("Two active constraints")
    for n, color, look in ((20, BLUE, "o-"), (80, ORANGE, "s-"), (320, GREEN, "^-")):
        gaps = [state.gap for state in interior_point(*soft_margin(n)) if state.gap > 1e-10]
        right.plot(gaps, look, color=color, ms=3, lw=1, label=f"$n = {n}$")
    right.set(
        title="Interior point method", xlabel="step", ylabel="gap", yscale="log", ylim=(1e-10, 1e6)
    )
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
    c=lambda x: x,
    jacobian=lambda x: np.eye(1),
)


@figure("duality", claims=(), panels=2)
def dual_functions(left, right):
    r"""Left: $x^2$ on $x \ge 1$, a convex problem. The dual function $g$ (blue) is never above the
    least feasible value $f_\star$ (dashed). The two meet at the multiplier of the constraint.
    Right: $x^4 - 2 x^2 + 0.3 x$ on $x \ge 0$, which is not convex. Black: the points $(c(x),
    f(x))$, the feasible ones on grey. Blue: of the lines below them, the one that meets $c = 0$
    highest, at $g_\star$. It rests on both wells, so it leaves a gap (orange) to the height
    $f_\star$ of the lowest feasible point (dot).
    """
    lam = np.linspace(0, 4, 201)
    convex = [quadratic_dual(np.array([each]), **SQUARE) for each in lam]
    left.plot(lam, convex, color=BLUE, lw=1.4)
    left.axhline(1.0, color=INK, lw=1, ls="--")
    left.plot(2.0, 1.0, "o", color=BLUE, ms=5)
    left.annotate(r"$f_\star$", (0, 1), (0, 4), textcoords="offset points")
    left.set(xlabel=r"$\lambda$", ylabel=r"$g(\lambda)$", ylim=(-0.1, 1.25), xticks=(0, 2, 4))
    line_below(right, wells, 0.3, -1)
    right.plot([0, 0], [-1, WELLS_LEAST], color=ORANGE, lw=2.2)
    right.annotate(r"$g_\star$", (0, -1), (5, -12), textcoords="offset points")
    right.annotate("gap", (0, (WELLS_LEAST - 1) / 2), (5, 1), textcoords="offset points")
    right.set(ylabel="$f(x)$", ylim=(-1.7, 0.5))


def line_below(ax, f, slope, height):
    """The points (x, f(x)), the feasible ones on grey, and the line of that slope and height."""
    x = np.linspace(-1.7, 1.7, 341)
    lowest = x[x >= 0][np.argmin(f(x[x >= 0]))]
    ax.axvspan(0, 2, color=SHADE, zorder=0)
    ax.plot(x, f(x), color=INK, lw=1.4)
    ax.plot(x, height + slope * x, color=BLUE, lw=1.4)
    ax.axhline(f(lowest), color=INK, lw=0.8, ls="--")
    ax.plot(lowest, f(lowest), "o", color=BLUE, ms=5)
    ax.set(xlabel="$c(x)$", xlim=(-1.7, 1.7), xticks=(-1, 0, 1))
    ax.annotate(r"$f_\star$", (0, f(lowest)), (-15, 3), textcoords="offset points")


WELLS_GRID = np.linspace(-2, 2, 4001)
WELLS_LEAST = wells(WELLS_GRID[WELLS_GRID >= 0]).min()


@figure("lines_below", claims=(), panels=2)
def lines_below(left, right):
    r"""The two examples again. Left: the points $(c(x), f(x))$ of $x^2$ on $x \ge 1$ (black), the
    feasible ones on grey. The highest line below them (blue) touches them at the lowest feasible
    point (dot), at $c = 0$, so $g_\star = f_\star$. Right: the dual function (blue) of $x^4 - 2 x^2
    + 0.3 x$ on $x \ge 0$. Even the best bound leaves a gap (orange) to $f_\star$ (dashed).
    """
    line_below(left, lambda c: (c + 1) ** 2, 2, 1)
    left.set(ylabel="$f(x)$", ylim=(-1, 5))
    lam = np.linspace(0, 1.2, 241)
    g = dual_function(WELLS, lam[:, None], WELLS_GRID[:, None])
    right.plot(lam, g, color=BLUE, lw=1.4)
    right.axhline(WELLS_LEAST, color=INK, lw=1, ls="--")
    best = lam[np.argmax(g)]
    right.plot([best, best], [g.max(), WELLS_LEAST], color=ORANGE, lw=2.2)
    right.annotate("gap", (best, (g.max() + WELLS_LEAST) / 2), (6, 0), textcoords="offset points")
    right.annotate(r"$f_\star$", (1.1, WELLS_LEAST), (0, 4), textcoords="offset points")
    right.set(xlabel=r"$\lambda$", ylabel=r"$g(\lambda)$", ylim=(-1.75, -0.55))
    right.set_xticks([0, 0.3, 1], ["0", "0.3", "1"])


@figure("strip", claims=(), size=(3.2, 2.4))
def strip(ax):
    """The petals of 50 setosas and 50 versicolors, the widest strip between them (grey) with its
    rims (dashed), and the line in its middle. One flower of each species lies on a rim (ring). The
    segment between these two goes straight across the strip.
    """
    X, y = load_iris().X[:100, 2:], np.repeat([1.0, -1.0], 50)
    G = y[:, None] * np.column_stack([np.ones(100), X])
    (b, *w), lam = solve_qp(np.diag([0.0, 1.0, 1.0]), np.zeros(3), G=G, h=np.ones(100))[:2]
    w, length = np.array(w), np.array([0.8, 5.4])
    rims = [(side - b - w[0] * length) / w[1] for side in (-1, 1)]
    ax.fill_between(length, *rims, color=SHADE, lw=0, zorder=0)
    draw_line(ax, w, b, color=INK, lw=1.4, zorder=1)
    for rim in rims:
        ax.plot(length, rim, "--", color=INK, lw=0.8)
    draw_samples(ax, X, np.repeat(["setosa", "versicolor"], 50), size=3)
    ax.plot(*X[lam > 1e-6].T, "o-", color=INK, mfc="none", ms=9, lw=0.8)
    ax.set(xlim=length, ylim=(-0.6, 2.4), aspect="equal")
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    for name, place in (("setosa", (0.9, -0.3)), ("versicolor", (4.0, 0.6))):
        ax.annotate(name, place)


# --- Two consequences ------------------------------------------------------------------


def regression():
    """Samples X (20, 2) with correlated features, and targets y (20,)."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2)) @ np.array([[1.0, 0.6], [0.0, 0.7]])
    return X, X @ np.array([0.6, 1.9]) + 0.3 * rng.normal(size=20)


PENALTY = 12.0


@figure("touching_the_disc", claims=("optimization-27",))
def touching_the_disc(ax):
    r"""Least squares with the constraint that $\lVert w \rVert^2$ is at most $\tau$ (grey disc). At
    the solution (dot) a contour of the risk (blue) touches the disc. The arrow is the direction of
    the gradient of the risk there: it points straight into the disc. The cross is the minimiser
    without the constraint.
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
    ax.annotate(r"$\Vert w \Vert^2 \leq \tau$", (0, -0.5), ha="center")
    ax.plot(*w, "o", color=BLUE, ms=6)
    ax.plot(*free, "x", color=INK, ms=6)


def two_polytopes():
    """Two sets of points whose hulls are disjoint."""
    rng = np.random.default_rng(12)
    return rng.normal(size=(14, 2)) + [2.4, 1.6], rng.normal(size=(14, 2)) - [1.4, 0.6]


@figure("separation", claims=())
def separation(ax):
    """The convex hulls (grey) of two groups of points, their closest points $u$ and $v$, and the
    line halfway between $u$ and $v$ that is orthogonal to the segment from $v$ to $u$. The
    dashed lines through $u$ and $v$ are the rims of the strip.
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
    for name, place, away in (("$u$", u, u - v), ("$v$", v, v - u)):
        away = 11 * away / np.linalg.norm(away)
        ax.annotate(name, place, away, textcoords="offset points", ha="center", va="center")
    ax.set(xlim=(-4.5, 5.5), ylim=(-4, 5), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")


def hull(points):
    """The corners of the convex hull, in order: the rows of which no other is more extreme."""
    turn = np.linspace(0, 2 * np.pi, 3601)
    extreme = np.argmax(points @ np.array([np.cos(turn), np.sin(turn)]), axis=0)
    return points[list(dict.fromkeys(extreme))]


# --- Films -----------------------------------------------------------------------------


def draw_way(ax, way):
    """The places x of the steps so far; the last one is filled."""
    ax.plot(*np.transpose(way), "-", color=BLUE, lw=1, zorder=3)
    ax.plot(*np.transpose(way), "o", ms=3.5, mfc="white", mec=BLUE, zorder=4)
    ax.plot(*way[-1], "o", ms=6, color=BLUE, zorder=5)


def draw_heights(ax, f, levels):
    """The contours of f over the view, on a coarse grid."""
    x, y = np.linspace(*ax.get_xlim(), 60), np.linspace(*ax.get_ylim(), 60)
    heights = f(np.stack(np.meshgrid(x, y), axis=-1))
    ax.contour(x, y, heights, levels=levels, colors=[GREY], linewidths=0.8, zorder=1)


VALLEY = np.array([1.0, 25.0])  # the curvatures along and across


@film("gradient_descent", gradient_descent, measure="f", eta=("2/26", "1/25", "2.1/25", "search"))
def gradient_descent_film(eta):
    """Gradient descent in a valley that is 25 times as curved across as along. A small step size is
    safe across the valley, and slow along it. The one that is best in the long run, 2/26,
    zigzags. Beyond 2/25 every step overshoots by more than the one before. The search halves the
    step until f falls enough.
    """
    sizes = {"2/26": 2 / 26, "1/25": 1 / 25, "2.1/25": 2.1 / 25, "search": None}
    way = []

    def f(x):
        return np.sum(VALLEY * x**2, axis=-1) / 2

    def draw(ax, state):
        way.append(state.x)
        ax.set(xlim=(-3, 10), ylim=(-3.2, 3.2), xlabel="x₁", ylabel="x₂", xticks=(0, 5, 10))
        draw_heights(ax, f, [0.5, 4.0, 12.0, 26.0, 52.0, 100.0])
        ax.plot(0, 0, "x", color=INK, ms=6)
        draw_way(ax, way)

    def words(state):
        step = "The start" if len(way) == 1 else f"Step {len(way) - 1} of size {state.eta:.3g}"
        slope = state.gradient_norm
        return f"{step}: f = {state.objective:.3g}. The gradient has length {slope:.3g}."

    start = [9.0, 1.0]
    states = gradient_descent(f, lambda x: VALLEY * x, start, eta=sizes[eta])
    return Take(states, draw, words, length=16)


@film("newton", newton, measure="f", start=("0, 0", "-28, 17", "-12, 6"))
def newton_film(start):
    """Newton's method on the log-loss of the petals, a long narrow valley. Each step goes to the
    minimum of the quadratic function that fits f at x, or part of the way where that would be too
    far. A handful of steps is enough, where gradient descent takes thousands.
    """
    way = []

    def draw(ax, state):
        way.append(state.x)
        ax.set(xlim=(-31, 5), ylim=(-3, 19), xlabel="w₀", ylabel="w₁", xticks=(-30, -20, -10, 0))
        draw_heights(ax, loss, [0.18, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
        draw_way(ax, way)

    def words(state):
        if len(way) == 1:
            return f"The start: f = {state.objective:.4g}."
        share = "The full step" if state.eta == 1 else f"{state.eta:.3g} of the step"
        return f"{share} is taken: f = {state.objective:.4g}."

    states = newton(loss, loss_gradient, loss_hessian, [float(each) for each in start.split(",")])
    return Take(states, draw, words)


@film("sgd", stochastic_gradient_descent, measure="f", eta=("0.3", "1/k"), batch=(1, 5))
def sgd_film(eta, batch):
    """Stochastic gradient descent for least squares: a pass over 20 samples for each point of the
    way, one or five samples per step. With a constant step size the way ends in wandering about the
    minimum (cross). A batch calms the wandering. Steps of size 1/k come to rest, but slowly.
    """
    X, y = regression()
    best, way = np.linalg.lstsq(X, y, rcond=None)[0], []

    def f(w):
        return np.mean((y - w @ X.T) ** 2, axis=-1) / 2

    def gradient(w, rows):
        return X[rows].T @ (X[rows] @ w - y[rows]) / len(rows)

    def draw(ax, state):
        way.append(state.x)
        ax.set(xlim=(-0.6, 1.4), ylim=(-0.4, 2.6), xlabel="w₁", ylabel="w₂")
        draw_heights(ax, f, f(best) + np.array([0.01, 0.05, 0.2, 0.5, 1.0, 2.0]))
        ax.plot(*best, "x", color=INK, ms=7, zorder=6)
        draw_way(ax, way)

    def words(state):
        away = np.linalg.norm(state.x - best)
        return f"Pass {len(way) - 1}: f = {state.objective:.4f}, {away:.3f} from the minimum."

    size = (lambda k: 1 / k) if eta == "1/k" else float(eta)
    rng = np.random.default_rng(0)
    states = stochastic_gradient_descent(f, gradient, START, len(y), eta=size, batch=batch, rng=rng)
    return Take(states, draw, words, length=25)


@film("projected", projected_gradient, measure="f", eta=(0.01, 0.03, 0.002))
def projected_film(eta):
    """Projected gradient descent for least squares with w in the disc (grey). Each step goes
    downhill (dashed), and then back to the nearest point of the disc. It ends where a contour
    touches the disc: downhill then points straight out of it. The cross is the minimum without the
    disc.
    """
    X, y = regression()
    best, way = np.linalg.lstsq(X, y, rcond=None)[0], []

    def f(w):
        return np.sum((y - w @ X.T) ** 2, axis=-1) / 2

    def gradient(w):
        return X.T @ (X @ w - y)

    def draw(ax, state):
        way.append(state.x)
        ax.set(xlim=(-1.4, 1.8), ylim=(-1.2, 2.4), aspect="equal", xlabel="w₁", ylabel="w₂")
        turn = np.linspace(0, 2 * np.pi, 61)
        ax.fill(np.cos(turn), np.sin(turn), color=SHADE, zorder=0)
        draw_heights(ax, f, f(best) + np.array([1.0, 4.0, 10.0, 20.0, 40.0]))
        ax.plot(*best, "x", color=INK, ms=7)
        ahead = state.x - eta * gradient(state.x)
        back = project_ball(ahead)
        ax.plot(*np.transpose([state.x, ahead, back]), "--", color=ORANGE, lw=1.2, zorder=3)
        draw_way(ax, way)

    def words(state):
        return f"Step {len(way) - 1}: f = {state.objective:.3f}, ||w|| = {np.hypot(*state.x):.3f}."

    states = projected_gradient(f, gradient, project_ball, [-0.7, 0.3], eta=eta)
    return Take(states, draw, words, length=25)


@film("interior_point", interior_point, measure="gap", beyond=("a corner", "an edge"))
def interior_point_film(beyond):
    """The interior point method for a quadratic program: the feasible set (grey), the contours of
    the objective, and its minimum without constraints (cross), beyond a corner or an edge. The way
    need not start in the set. It comes as near to the cross as the set allows, while the gap falls
    towards 0.
    """
    P, way = ROOM.P, []
    q = ROOM.q if beyond == "a corner" else -P @ [3.4, 1.2]
    free = np.linalg.solve(P, -q)

    def f(x):
        return np.sum(x @ P * x, axis=-1) / 2 + x @ q

    def draw(ax, state):
        way.append(state.x)
        ax.set(xlim=(-0.4, 4.1), ylim=(-0.4, 4.1), aspect="equal", xlabel="x₁", ylabel="x₂")
        ax.fill(*corners(ROOM.G, ROOM.h).T, color=SHADE, zorder=0)
        draw_heights(ax, f, f(free) + np.array([0.1, 0.4, 1.0, 2.0, 4.0, 7.0]))
        ax.plot(*free, "x", color=INK, ms=7)
        draw_way(ax, way)

    def words(state):
        slack = state.slack.min()
        return f"The gap is {state.gap:.2g}. The smallest slack is {slack:.2g}."

    return Take(interior_point(P, q, ROOM.G, ROOM.h), draw, words, lambda state: state.gap)


if __name__ == "__main__":
    run_script(__file__)
