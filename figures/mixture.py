"""Lecture figures of the mixture chapter."""

from itertools import islice

import numpy as np
from matplotlib.colors import to_rgb

from mlnotes.base import iterate
from mlnotes.clustering import KMeans
from mlnotes.datasets import load_digits, load_iris, make_blobs
from mlnotes.mixture import (
    KINDS,
    GaussianMixture,
    bernoullis,
    em,
    gaussians,
    generate,
    initialise,
    log_likelihood,
    mixture_density,
    responsibilities,
)
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    SHADE,
    draw_contours,
    draw_ellipse,
    draw_image,
    draw_regions,
    draw_samples,
    figure,
    run_script,
    set_view,
)

PALETTE = np.array([to_rgb(color) for color in COLORS[:3]])
SMALL = (2.5, 2.3)  # inches of a panel where there are many


def three_groups():
    """Weights and components: three groups, two of which cross each other's way."""
    means = [[-2.0, 0.0], [2.0, 0.5], [0.5, 3.5]]
    covariances = [[[0.5, 0.6], [0.6, 1.6]], [[0.5, -0.5], [-0.5, 1.5]], [[2.0, 0.0], [0.0, 0.3]]]
    return np.array([0.4, 0.35, 0.25]), gaussians(means, covariances)


def blend(R):
    """The colours of the components mixed in the shares R (n, K): (n, 3)."""
    return R @ PALETTE[: R.shape[1]]


def draw_shares(ax, X, R, size=16):
    """The samples, each in the colours of its components, mixed as its responsibilities are."""
    return ax.scatter(*X.T, s=size, c=blend(R), edgecolors=INK, linewidths=0.25, zorder=3)


def draw_components(ax, components, **style):
    """The 2-sigma ellipse of each component and its mean, in its colour, with its marker."""
    looks = zip(components.means, components.matrices, COLORS, MARKERS, strict=False)
    for mu, Sigma, color, marker in looks:
        draw_ellipse(ax, mu, Sigma, color=INK, lw=2.6, zorder=4, **style)
        draw_ellipse(ax, mu, Sigma, color=color, lw=1.4, zorder=5, **style)
        ax.plot(*mu, marker, color=color, mec="white", mew=1.2, ms=9, zorder=6)


def label(axes, columns, x, y):
    """Name the axes of a grid once: at its lower and at its left edge."""
    for ax in axes[-columns:]:
        ax.set_xlabel(x)
    for ax in axes[::columns]:
        ax.set_ylabel(y)


@figure("hidden_choice", claims=(), panels=3, size=SMALL)
def hidden_choice(complete, incomplete, inferred):
    """Left: the complete data, each sample with the component that it was drawn from. Middle:
    what is observed. Right: what Bayes' rule gives back, the responsibilities, as mixtures of the
    three colours: pure inside the groups and mixed where they meet.
    """
    weights, components = three_groups()
    X, Z = generate(300, weights, components, rng=np.random.default_rng(3))
    draw_samples(complete, X, Z.argmax(axis=1), size=3.5)
    draw_samples(incomplete, X, size=5)
    draw_shares(inferred, X, responsibilities(X, weights, components))
    axes, titles = (complete, incomplete, inferred), ("$x, z$", "$x$", "$x, r$")
    for ax, title in zip(axes, titles, strict=True):
        set_view(ax, X)
        ax.set(title=title, xticks=[], yticks=[], xlabel="$x_1$", ylabel="$x_2$")
        draw_contours(ax, lambda x: mixture_density(x, weights, components), levels=4)


@figure("likelihood", claims=(), panels=2)
def likelihood(left, right):
    """Left: the log-likelihood as a function of the two means alone. Swapped means are as good, so
    that there are two maxima (crosses), and the point halfway between them (dot) is lower: -l is
    not convex. Right: one component sits on a sample and shrinks. In the end l grows by ln 10
    with every tenth of its width, past the best honest fit and without bound. A floor under the
    width (dotted) puts an end to that.
    """
    X = np.random.default_rng(5).normal(size=(80, 1)) + np.repeat([[-1.5], [1.5]], 40, axis=0)
    surface(left, X)
    collapse(right, X)


def surface(ax, X):
    """l over the means of two components of variance 1 and weight 1/2."""
    grid = np.linspace(-4, 4, 81)
    l_of = np.array([[fit_of(X, [a, b], [1.0, 1.0]) for a in grid] for b in grid])
    levels = l_of.max() - np.array([220, 160, 115, 80, 54, 34, 20, 10, 4, 1])
    ax.contour(grid, grid, l_of, levels=levels, colors=[GREY], linewidths=0.8)
    best = grid[[*np.unravel_index(l_of.argmax(), l_of.shape)]]
    ax.plot([best[0], best[1]], [best[1], best[0]], "P", color=BLUE, ms=9, mec="white")
    ax.plot(*[best.mean()] * 2, "o", color=ORANGE, ms=6, mec="white")
    ax.set(
        aspect="equal", xlabel=r"$\mu_1$", ylabel=r"$\mu_2$", xticks=(-3, 0, 3), yticks=(-3, 0, 3)
    )


def collapse(ax, X, floor=0.01):
    """l as the component that sits on the sample nearest to 0 shrinks."""
    sigma, x = np.geomspace(1e-30, 5, 300), X[np.abs(X).argmin(), 0]
    l_of = [fit_of(X, [x, X.mean()], [s**2, X.var()]) for s in sigma]
    ax.semilogx(sigma, l_of, color=INK, lw=1.4)
    ax.axvspan(sigma[0], floor, color=SHADE, lw=0)
    ax.axvline(floor, color=GREY, lw=1, ls=":")
    ax.text(1e-28, -210, "below the floor", color=INK)
    ax.set(xlabel=r"width $\sigma_1$ of the component", ylabel="log-likelihood $l$")
    ax.set(xlim=(1e-30, 5), xticks=[1e-30, 1e-20, 1e-10, 1])


def fit_of(X, means, variances):
    """l of two components of weight 1/2 in one dimension."""
    components = gaussians(np.reshape(means, (2, 1)), variances, "spherical")
    return log_likelihood(X, np.array([0.5, 0.5]), components)


@figure("em_progress", claims=("mixture-18",), panels=(2, 3), size=SMALL)
def em_progress(*axes):
    """EM from three equal circles. Each sample is drawn in the colours of the components, mixed in
    the shares r_ik that they take in it; the ellipses are two standard deviations wide. The
    components first find out what is where, then turn and shrink to fit; the mean log-likelihood
    (in the titles) rises with every step, by less and less in the end.
    """
    X, start = em_start()
    states = list(islice(em(X, *start), STEPS[-1] + 1))
    for ax, t in zip(axes, STEPS, strict=True):
        _, components, R, objective, _ = states[t]
        draw_shares(ax, X, R)
        draw_components(ax, components)
        set_view(ax, X, margin=0.15)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"step {t}: $l/n = {objective:.3f}$")
    label(axes, 3, "$x_1$", "$x_2$")


STEPS = (0, 1, 2, 4, 8, 40)  # of EM, drawn


def em_start():
    """The samples, and the weights and components that EM starts from."""
    X, _ = generate(300, *three_groups(), rng=np.random.default_rng(3))
    means = [[-0.5, 1.0], [0.5, 1.0], [0.0, 2.0]]
    return X, (np.full(3, 1 / 3), gaussians(means, np.tile(np.eye(2), (3, 1, 1))))


@figure("kmeans_and_gmm", claims=("mixture-20",), panels=2, size=(3.2, 2.2))
def kmeans_and_gmm(left, right):
    """Two small groups above and below a large and long one. Left: k-means takes the nearest
    center, and so cuts the long group into pieces (hard colours, straight borders). Right: the
    Gaussian mixture started from these pieces finds the groups: it has weights, shapes (ellipses
    of two standard deviations), and shares (mixed colours) where groups meet.
    """
    X, clusters, (_, components, R, _, _) = both_fits()
    for ax in (left, right):
        set_view(ax, X)
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
    draw_regions(left, clusters.predict, range(3))
    draw_samples(left, X, clusters.labels_, size=3.5)
    left.plot(*clusters.cluster_centers_.T, "P", color=INK, mec="white", mew=0.8, ms=9, zorder=6)
    draw_shares(right, X, R)
    draw_components(right, components)


def both_fits():
    """Samples, k-means fitted to them, and the last state of EM started from its clusters."""
    sizes, centers = [300, 60, 60], [[0.0, 0.0], [-2.0, 2.6], [2.0, -2.6]]
    covariances = [[[6.0, 0.6], [0.6, 0.3]], 0.3 * np.eye(2), 0.3 * np.eye(2)]
    X = make_blobs(sizes, centers, covariances, rng=np.random.default_rng(1)).X
    clusters = KMeans(3, random_state=0).fit(X)
    start = initialise(X, np.eye(3)[clusters.labels_])
    return X, clusters, iterate(em(X, *start), "gain", 1e-9, 1000).state


@figure("kinds", claims=(), panels=(2, 2), size=(3.2, 1.75))
def kinds(*axes):
    """Three components of each kind of covariance on the petals of the irises: any ellipses; one
    ellipse for all; ellipses along the axes; circles. In the titles the number of free parameters
    and the criterion BIC, the lower the better: the parameters of the first earn their keep.
    """
    petals = load_iris().X[:, 2:]
    for ax, kind in zip(axes, KINDS, strict=True):
        model = GaussianMixture(3, covariance_type=kind, tol=1e-6, max_iter=1000, random_state=0)
        components = gaussians(model.fit(petals).means_, model.covariances_, kind)
        draw_shares(ax, petals, model.predict_proba(petals), size=12)
        draw_components(ax, components)
        set_view(ax, petals)
        free = components.n_parameters + 2
        ax.set_title(f"{kind}: {free} parameters, BIC {model.bic(petals):.0f}", fontsize=10)
        ax.set(xticks=(2, 4, 6), yticks=(0, 1, 2))
    label(axes, 2, "petal length (cm)", "width (cm)")


@figure("digits", claims=(), panels=(2, 5), size=(1.25, 1.4))
def digits(*axes):
    """EM with another family: ten components of 64 Bernoulli laws each, on 1797 handwritten digits
    whose pixels are on or off. No label was told. Each image shows the probabilities of a
    component, the darker the likelier to be on; above it its weight.
    """
    X = (load_digits().X > 7).astype(float)
    grey = np.random.default_rng(2).uniform(0.3, 0.7, size=(10, 64))
    start = np.full(10, 0.1), bernoullis(grey, floor=1e-3)
    last = iterate(em(X, *start), "gain", 1e-4, 200).state
    for ax, k in zip(axes, np.argsort(-last.weights), strict=True):
        draw_image(ax, last.components.means[k].reshape(8, 8), cmap="Greys", vmin=0, vmax=1)
        ax.set_title(f"{last.weights[k]:.0%}", fontsize=9)


if __name__ == "__main__":
    run_script(__file__)
