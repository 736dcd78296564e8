"""Lecture figures of the kernel_pca chapter."""

import numpy as np

from mlnotes.datasets import load_wine, make_rings
from mlnotes.kernel_pca import (
    KernelPCA,
    kernel_pca,
)
from mlnotes.kernels import FeatureKernel, Gaussian, Linear, centre_gram, ring_map
from mlnotes.pca import PCA, standardise
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    Take,
    draw_contours,
    draw_matrix,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
)

SIGMA = 1.0  # of the Gaussian kernel: 0.7 is too small for the first component, 2 too large


PANELS = {
    "linear PCA": Linear(),
    "paraboloid": FeatureKernel(ring_map),  # x^T z + ||x||^2 ||z||^2
    f"Gaussian, $\\sigma = {SIGMA:g}$": Gaussian.of_width(SIGMA),
}


def rings():
    """Two classes on rings of the radii 1 and 3."""
    return make_rings(200, radii=(1.0, 3.0), noise=0.3, rng=np.random.default_rng(0))


def best_threshold(z, y):
    """The threshold on z with the fewest errors, for labels -1 and +1, and their number."""
    order = np.sort(z)
    between = (order[1:] + order[:-1]) / 2
    wrong = np.count_nonzero((z > between[:, None]) != (y > 0), axis=1)
    wrong = np.minimum(wrong, len(y) - wrong)
    best = np.flatnonzero(wrong == wrong.min())
    middle = best[np.argmax(np.diff(order)[best])]
    return between[middle], int(wrong.min())


def twelve():
    """Six points on each ring."""
    return make_rings(12, radii=(1.0, 3.0), noise=0.3, rng=np.random.default_rng(55))


@figure("lift", claims=(), panels=2, size=(3.2, 2.6))
def lifted_rings(plane, side):
    """Left: twelve points on two rings. Right: the same points on the paraboloid, seen from the
    side. The rings now lie at different heights. A flat cut (dashed) separates them.
    """
    T = twelve()
    draw_samples(plane, T.X, T.y)
    plane.set(xlabel="$x_1$", ylabel="$x_2$", title="inputs", aspect="equal")
    draw_samples(side, ring_map(T.X)[:, [0, 2]], T.y)
    side.axhline(5, color=GREY, ls="--")
    side.set(xlabel="$x_1$", ylabel=r"height $\|x\|^2$", title="features, from the side")


@figure("steps", claims=(), panels=4, size=(2.1, 2.3))
def four_steps(*axes):
    r"""The steps of kernel PCA on the twelve points; the first six are on the inner ring. In both
    matrices dark is large. In $K$ the darkest entries off the diagonal belong to pairs of inner
    points that are near each other: 0, 1 and 5, and 2 and 3. In the row of an outer point only
    the diagonal is dark. In $\tilde K$ every row adds up to 0. There are eleven
    positive eigenvalues; the last is too small to see. Component 1 is negative on the inner ring
    and positive on the outer one. The scores of samples 0 and 1 are so close that one square covers
    the other.
    """
    T = twelve()
    K = Gaussian.of_width(1.5)(T.X)
    mu, _, Z = kernel_pca(K)  # all with mu > 0
    for ax, title, M in zip(axes, ("1. $K$", r"2. $\tilde K$"), (K, centre_gram(K)), strict=False):
        draw_matrix(ax, M)
        ax.set(title=title, xticks=(), yticks=())
    axes[2].bar(range(1, len(mu) + 1), mu, color=BLUE)
    axes[2].set(title="3. eigenvalues", xlabel="$i$", ylabel=r"$\mu_i$")
    draw_samples(axes[3], Z[:, :2], T.y)
    axes[3].set(title="5. scores", xlabel="component 1", ylabel="component 2")


@figure("rings", claims=("kernel_pca-21",), panels=(2, 3), size=(2.4, 2.35))
def unfolded_rings(*axes):
    """Two rings of 100 points each, three times. Above: the first two scores, and the best
    threshold on component 1 (dashed). The title counts its errors. Linear PCA turns and mirrors
    the rings. The paraboloid puts one ring beside the other, and so does the Gaussian kernel of
    this width. Below: the plane of the inputs, with lines along which component 1 is constant. The
    dashed line is the threshold: straight for linear PCA, a closed curve between the rings for
    both kernels.
    """
    T = rings()
    for above, below, (name, k) in zip(axes[:3], axes[3:], PANELS.items(), strict=True):
        model = KernelPCA(n_components=2, kernel=k).fit(T.X)
        Z = model.transform(T.X)
        cut, wrong = best_threshold(Z[:, 0], T.y)
        set_view(above, Z, equal=k == Linear())
        above.axvline(cut, color=INK, lw=1.1, ls="--")
        draw_samples(above, Z, T.y, size=2.6)
        above.set(xlabel="component 1", ylabel="component 2", xticks=(), yticks=())
        above.set_title(f"{name}: {wrong} errors", fontsize=9)
        set_view(below, T.X)
        levels = np.r_[cut, np.linspace(*np.quantile(Z[:, 0], (0, 1)), 11)[1:-1]]
        levels, dashed = np.sort(levels), np.argsort(levels) == 0
        draw_contours(below, lambda x, model=model: model.transform(x)[:, 0], levels,
                      colors=np.where(dashed, INK, GREY), linewidths=np.where(dashed, 1.3, 0.7),
                      linestyles=np.where(dashed, "--", "-"))  # fmt: skip
        draw_samples(below, T.X, T.y, size=2.6)
        below.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-3, 0, 3), yticks=(-3, 0, 3))


@figure("widths", claims=(), panels=4, size=(2.2, 2.3))
def wine_maps(*axes):
    r"""The wines on two components; one symbol for each cultivar. With $\sigma = 100$ this is, up
    to signs, nearly the map of linear PCA divided by 100. With $\sigma = 5$ it is still nearly the
    linear map, up to scale and signs: both show the same arch. With $\sigma = 1$ most wines lie
    along three arms that meet at one point, an arm for each cultivar.
    """
    wine = load_wine()
    X = standardise(wine.X).Z
    maps = {"linear PCA": PCA(2).fit_transform(X)}
    for sigma in (100, 5, 1):
        maps[f"$\\sigma = {sigma}$"] = kernel_pca(Gaussian.of_width(sigma)(X), 2).Z
    for ax, (title, Z) in zip(axes, maps.items(), strict=True):
        draw_samples(ax, Z, wine.y, size=3)
        ax.set(title=title, xlabel="component 1", ylabel="component 2")
        ax.locator_params(nbins=3)


@figure("preimage", claims=(), size=(4.4, 3.0))
def no_preimage(ax):
    """Nine inputs x, drawn by their two features, x and x squared. All features lie on the curve.
    The blue line is the first axis of the features, through their mean (cross). One sample (filled
    dot) is projected on it (square). The square does not lie on the curve, so it is the feature
    vector of no input. The nearest point of the curve (triangle) belongs to one.
    """
    x = np.linspace(-1.0, 1.5, 9)
    Phi, grid = np.column_stack([x, x**2]), np.linspace(-1.2, 1.6, 400)
    mean, curve = Phi.mean(axis=0), np.column_stack([grid, grid**2])
    v = np.linalg.svd(Phi - mean)[2][0]
    foot = mean + ((Phi[4] - mean) @ v) * v  # of sample 4
    nearest = curve[np.argmin(np.sum((curve - foot) ** 2, axis=1))]
    ax.plot(*curve.T, color=GREY, lw=1.2)
    ax.plot(*np.array([mean - 3 * v, mean + 3 * v]).T, color=BLUE, lw=1.2)
    ax.plot(*np.array([Phi[4], foot, nearest]).T, color=INK, lw=0.8, ls="--")
    ax.plot(*Phi.T, "o", color=INK, mfc="white", ms=4)
    for point, marker in ((Phi[4], "o"), (mean, "x"), (foot, "s"), (nearest, "^")):
        ax.plot(*point, marker, color=INK, ms=5)
    ax.set(xlabel="$x$", ylabel="$x^2$", xlim=(-1.6, 2), ylim=(-0.3, 2.4), aspect="equal")


@figure("arc", claims=(), panels=(1, 3), size=(2.5, 1.9))
def cleaned_arc(*axes):
    """Eighty points of an arc with noise of standard deviation 0.1 (circles), and the way back from
    their scores (dots). The kernel is Gaussian with the width 1, and the penalty is 0.1. The title
    has the mean squared error per entry, from the arc without noise; that of the circles is 0.010.
    With one component PCA draws a line. Kernel PCA draws a curve, but it is too short. With two
    components PCA would change nothing, and kernel PCA removes some of the noise.
    """
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 80)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    X = arc + 0.1 * rng.normal(size=arc.shape)
    back = {"kernel": "rbf", "gamma": 0.5, "alpha": 0.1, "fit_inverse_transform": True}
    models = {"PCA, q = 1": PCA(1), "kernel, q = 1": KernelPCA(1, **back)}
    models["kernel, q = 2"] = KernelPCA(2, **back)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        cleaned = model.fit(X).inverse_transform(model.transform(X))
        ax.plot(*X.T, "o", color=GREY, mfc="white", ms=3)
        ax.plot(*cleaned.T, ".", color=BLUE, ms=5)
        ax.set_title(f"{name}: {np.mean((cleaned - arc) ** 2):.3f}", fontsize=9)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", xlim=(-1.4, 1.4), ylim=(-0.3, 1.5), aspect="equal")


# --- Films -----------------------------------------------------------------------------


@film("width", kernel_pca, measure="errors on component 1", outer=(3, 2))
def width_film(outer):
    r"""The first two scores of kernel PCA, as the width $\sigma$ of the Gaussian kernel grows. For
    a small width every sample is far from all others, and two components keep little of the
    variance. In a narrow range of middle widths the inner ring lies apart on component 1; if the
    rings are close, there is no such width. For a large width the scores are nearly those of linear
    PCA: two rings again.
    """
    T = make_rings(80, radii=(1.0, outer), noise=0.3, rng=np.random.default_rng(0))
    widths = np.geomspace(0.2, 6.0, 21)
    states = ((sigma, kernel_pca(Gaussian.of_width(sigma)(T.X))) for sigma in widths)

    def errors(state):
        return best_threshold(state[1].Z[:, 0], T.y)[1]

    def draw(ax, state):
        Z = state[1].Z[:, :2]
        draw_samples(ax, Z / np.abs(Z).max(), T.y, size=4)
        ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xticks=(), yticks=())
        ax.set(xlabel="component 1", ylabel="component 2", aspect="equal")

    def words(state):
        share = state[1].mu[:2].sum() / state[1].mu.sum()
        return (
            f"sigma = {state[0]:.2f}. The best threshold on component 1 makes {errors(state)} "
            f"errors. Two components keep {100 * share:.0f} % of the variance."
        )

    return Take(states, draw, words, errors)


if __name__ == "__main__":
    run_script(__file__)
