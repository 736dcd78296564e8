"""Lecture figures of the kernels chapter."""

import numpy as np

from mlnotes.datasets import load_digits, make_moons, make_rings
from mlnotes.discriminant import threshold_rule
from mlnotes.kernels import (
    AllSubsets,
    Gaussian,
    Linear,
    Polynomial,
    kernel_descent,
    kernel_ridge,
    ring_map,
)
from mlnotes.optimization import separating_hyperplane
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SHADE,
    Take,
    draw_contours,
    draw_line,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
)
from mlnotes.svm import SVC

# --- Rings -----------------------------------------------------------------------------


def rings():
    """Two classes on rings around the origin."""
    return make_rings(120, radii=(0.7, 1.6), noise=0.25, rng=np.random.default_rng(6))


def ring_plane():
    """w and b of a plane that separates the rings on the paraboloid."""
    T = rings()
    P = ring_map(T.X)
    return separating_hyperplane(P[T.y > 0], P[T.y < 0])


def from_the_side(P):
    """Points (n, 3) of space as they look from a little above: (n, 2)."""
    return np.column_stack([P[:, 0] + 0.35 * P[:, 1], P[:, 2] + 0.3 * P[:, 1]])


@figure("rings", claims=("kernels-05",), panels=3, size=(2.5, 2.7))
def lifted_rings(left, middle, right):
    """Left: no line separates the two rings; the dashed one is Fisher's (chapter 13). Middle: with
    the third feature $x_3 = x_1^2 + x_2^2$ the rings lie on a bowl at different heights, and a
    plane (grey) goes between them. Right: seen from above, the plane cuts the bowl in a circle.
    """
    T = rings()
    line, (w, b) = threshold_rule(T.X, (T.y > 0).astype(int)), ring_plane()
    for ax in (left, right):
        set_view(ax, T.X)
        draw_samples(ax, T.X, T.y, size=3.5)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    draw_line(left, *line, color=INK, lw=1.4, ls="--")
    wrong = np.count_nonzero(np.sign(T.X @ line[0] + line[1]) != T.y)
    left.set_title(f"line: {wrong} errors")
    corners = 2 * np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    heights = -(corners @ w[:2] + b) / w[2]
    plane = from_the_side(np.column_stack([corners, heights]))
    middle.fill(*plane.T, fc=SHADE, ec=GREY, lw=0.8, zorder=0)
    draw_samples(middle, from_the_side(ring_map(T.X)), T.y, size=3.5)
    middle.set(xlabel="$x_1$ (and $x_2$, into the page)", ylabel="$x_3 = x_1^2 + x_2^2$",
               xticks=(), yticks=(), title="plane: 0 errors")  # fmt: skip
    draw_contours(right, lambda X: ring_map(X) @ w + b, [0], colors=[INK], linewidths=1.6)
    right.set_title("conic: 0 errors")


# --- The kernel trick ------------------------------------------------------------------


@figure("trick", claims=("kernels-22",), size=(5.6, 1.2))
def kernel_trick(ax):
    """Left: a method that uses its samples in inner products only. Right: the same method in
    feature space. Each inner product is replaced by a value of a kernel.
    """
    ax.set(xlim=(0, 10), ylim=(0, 2))
    ax.set_axis_off()
    box = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": INK, "lw": 1.2}
    for x, text in (
        (1.7, "algorithm that uses only\n$x_i^\\top x_l$"),
        (8.3, "kernel algorithm,\nuses only $k(x_i, x_l)$"),
    ):
        ax.text(x, 1, text, ha="center", va="center", bbox=box, color=INK)
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.4}
    ax.annotate("", xy=(6.9, 1), xytext=(3.2, 1), arrowprops=arrow)
    ax.text(5.05, 1.15, "replace $x_i^\\top x_l$\nby $k(x_i, x_l)$", ha="center",
            va="bottom", color=INK)  # fmt: skip


# --- All products of subsets -----------------------------------------------------------


def degree_shares(X, most=32):
    """How much of a kernel value comes from products of m inputs: means over all pairs of rows."""
    E = np.zeros((most + 1, len(X), len(X)))  # m of up to `most`
    E[0] = 1
    for x_j in X.T:
        E[1:] += np.multiply.outer(x_j, x_j) * E[:-1]
    return (E / AllSubsets()(X)).mean(axis=(1, 2))


@figure("degrees", claims=(), size=(5.6, 1.8))
def degrees(ax):
    """How much of $k(x, z)$ comes from the products of m pixels, for three scales s: mean shares
    over all pairs of 60 digits. The larger the scale, the more pixels have the products that count:
    0.6, 2.2 and 13 in the mean.
    """
    X = load_digits().X[:60] / 16
    for s, color in ((0.25, GREY), (0.5, BLUE), (2.0, ORANGE)):
        share = degree_shares(s * X)
        mean = np.arange(33) @ share
        ax.step(np.arange(33), share, where="mid", color=color, label=f"s = {s:g}: mean {mean:.2g}")
    ax.set(xlabel="m", ylabel="share", xlim=(-0.5, 30), xticks=(0, 10, 20, 30), ylim=(0, 0.6))
    ax.set_yticks((0, 0.5))
    ax.legend(frameon=False)


# --- Kernel ridge regression -----------------------------------------------------------


def noisy_sine():
    """40 samples x, y of sin 2x with noise, those of the notebook."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(-3, 3, size=40))
    return x, np.sin(2 * x) + 0.3 * rng.normal(size=40)


@figure("bells", claims=(), panels=3, size=(2.4, 2.1))
def bells(*axes):
    """Kernel ridge regression with bells of width 0.5: samples, truth (dotted), the fit (blue) and
    the 40 bells whose sum it is (thin), for three penalties. On the left the fit is too flat, in
    the middle it is close to the truth. On the right it runs after the noise. There the
    largest bell has the size 4,191, and the bells cancel each other almost wholly.
    """
    (x, y), k, grid = noisy_sine(), Gaussian.of_width(0.5), np.linspace(-3, 3, 301)
    K, K_grid = k(x[:, None]), k(grid[:, None], x[:, None])
    for ax, lam in zip(axes, (30, 0.3, 0.0001), strict=True):
        alpha = kernel_ridge(K, y, lam)
        ax.plot(grid, K_grid * alpha, color=ORANGE, lw=0.5)
        ax.plot(grid, np.sin(2 * grid), ":", color=INK)
        ax.plot(x, y, "o", ms=3, color=GREY)
        ax.plot(grid, K_grid @ alpha, color=BLUE)
        ax.set(title=f"$\\lambda$ = {lam}", xlabel="$x$", ylim=(-2, 2), xticks=(-2, 0, 2))


# --- Eigenvectors ----------------------------------------------------------------------


@figure("eigenvectors", claims=(), panels=4, size=(1.9, 2.0))
def eigenvectors(*axes):
    r"""The Gram matrix of 40 points on a line, for bells of width 0.5. First three panels: the
    eigenvectors of its largest, its 5th and its 12th eigenvalue, drawn over the points. The first
    is a hump where the samples are densest; the later ones are wavier. Last panel: the share of the
    part of y along eigenvector m that the fit keeps, for three penalties. With $\lambda = 30$ even
    the first part is shrunk to about a fifth, and with 0.00001 some twenty parts stay nearly whole.
    """
    x, _ = noisy_sine()
    mu, V = np.linalg.eigh(Gaussian.of_width(0.5)(x[:, None]))
    mu, V = mu[::-1], V[:, ::-1]
    *shapes, shares = axes
    for ax, m in zip(shapes, (1, 5, 12), strict=True):
        v = V[:, m - 1] * np.sign(V[0, m - 1])  # the sign is arbitrary
        ax.axhline(0, color=GREY, lw=0.6)
        ax.plot(x, v, ".-", color=INK, lw=1, ms=4)
        ax.set(title=f"eigenvector {m}", xlabel="$x$", xticks=(-2, 0, 2), yticks=())
    for lam, style in ((0.00001, ":"), (0.3, "-"), (30, "--")):
        label = f"$\\lambda$ = {np.format_float_positional(lam, trim='-')}"
        shares.plot(np.arange(1, 41), mu / (mu + lam), style, color=INK, lw=1.4, label=label)
    shares.set(title="share kept", xlabel="$m$", ylim=(-0.05, 1.05), xticks=(1, 20, 40))
    shares.legend(fontsize=6, loc="upper right")


# --- Machines --------------------------------------------------------------------------

WIDE = 30.0  # a sigma far beyond the distances of the moons
MACHINES = {  # a kernel and the box of each panel
    "linear": (Linear(), 10.0),
    "$(1 + x^T z)^3$": (Polynomial(p=3), 10.0),
    "Gaussian, $\\sigma = 0.03$": (Gaussian.of_width(0.03), 10.0),
    "Gaussian, $\\sigma = 0.5$": (Gaussian.of_width(0.5), 10.0),
    "Gaussian, $\\sigma = 2$": (Gaussian.of_width(2.0), 10.0),
    "Gaussian, $\\sigma = 30$": (Gaussian.of_width(WIDE), 10 * WIDE**2),
}


def moons():
    """Two classes that no line separates."""
    return make_moons(80, noise=0.2, rng=np.random.default_rng(2))


def machine(name):
    """The decision function f(X) of a panel's machine."""
    T, (k, C) = moons(), MACHINES[name]
    return SVC(C=C, kernel=k, tol=1e-8).fit(T.X, T.y).decision_function


@figure("machines", claims=("kernels-49",), panels=(2, 3), size=(2.3, 1.55))
def machines(*axes):
    r"""Support vector machines (chapter 19) with six kernels, on the same 80 samples. Their loss is
    another one, and 1/C plays the part of the penalty $\lambda$. Here C = 10. A line is too stiff,
    a cubic does better, and the Gaussian kernel with $\sigma = 0.5$ follows the moons. With
    $\sigma = 0.03$ it puts islands around single samples and groups of one class, and has no
    error on them. With $\sigma = 2$ it is smoother than the cubic. With $\sigma = 30$ it is almost
    the line again; for this C was raised to 10 $\sigma$ squared.
    """
    T = moons()
    for ax, name in zip(axes, MACHINES, strict=True):
        f = machine(name)
        set_view(ax, T.X)
        draw_regions(ax, lambda X, f=f: np.where(f(X) > 0, 1, -1), [1, -1])
        draw_samples(ax, T.X, T.y, size=2.8)
        wrong = np.count_nonzero(np.sign(f(T.X)) != T.y)
        ax.set(xticks=(), yticks=())
        ax.set_title(f"{name}: {wrong} errors")
    for ax in axes[3:]:
        ax.set_xlabel("$x_1$")
    for ax in axes[::3]:
        ax.set_ylabel("$x_2$")


# --- Films -----------------------------------------------------------------------------


@film("descent", kernel_descent, measure="squared error", sigma=(0.1, 0.03, 0.4))
def descent_film(sigma):
    r"""Gradient descent in the feature space of the Gaussian kernel of width $\sigma$. The curve is
    a sum of one bell for each sample. It starts at 0 (flat) and is pulled towards the samples, the
    broad shape first and the details later. A narrow bell reaches each sample alone and leaves the
    gaps near 0; a wide one stays smooth and takes long for the details.
    """
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(20))[:, None]
    y = np.sin(2 * np.pi * x[:, 0]) + 0.2 * rng.normal(size=20)
    dense = np.linspace(0, 1, 36)[:, None]
    k = Gaussian.of_width(sigma)
    K, across = k(x), k(dense, x)
    eta = 0.4 / np.linalg.eigvalsh(K)[-1]

    def draw(ax, state):
        ax.axhline(0, color=GREY, lw=0.6)
        ax.plot(dense[:, 0], across @ state.alpha, color=INK, lw=1.6)
        ax.plot(x[:, 0], y, "o", color=ORANGE, ms=5, mew=0)
        ax.set(xlim=(0, 1), ylim=(-1.6, 1.6), xlabel="x", ylabel="y")

    def words(state):
        furthest = np.abs(K @ state.alpha - y).max()
        return f"Squared error {state.objective:.2f}, at most {furthest**2:.2f} for one sample."

    return Take(kernel_descent(K, y, eta=eta), draw, words)


if __name__ == "__main__":
    run_script(__file__)
