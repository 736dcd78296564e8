"""Lecture figures of the mixture chapter."""

from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from matplotlib.colors import to_rgb

from mlnotes.base import iterate
from mlnotes.clustering import KMeans
from mlnotes.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from mlnotes.decision_theory import log_joint
from mlnotes.mixture import (
    GaussianMixture,
    assignment_entropy,
    e_step,
    em,
    gaussians,
    generate,
    maximise,
    mixture_density,
    mixture_log_likelihood,
)
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    PURPLE,
    SHADE,
    Take,
    draw_contours,
    draw_ellipse,
    draw_image,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)
from mlnotes.probability import log_sum_exp

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


def draw_shares(ax, X, R, size=16, rim=0.25):
    """The samples, each in the colours of its components, mixed as its responsibilities are."""
    return ax.scatter(*X.T, s=size, c=blend(R), edgecolors=INK, linewidths=rim, zorder=3)


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
    """Three made-up groups in the plane. Left: the samples, each in the colour of the component
    that it was drawn from. Middle: what is observed. Right: what can be said about the choices
    afterwards. Deep inside a group the colour is pure; where groups meet, it is mixed. The grey
    lines are contour lines of the density of the mixture.
    """
    weights, components = three_groups()
    X, Z = generate(300, weights, components, rng=np.random.default_rng(3))
    draw_samples(complete, X, Z.argmax(axis=1), size=3.5)
    draw_samples(incomplete, X, size=5)
    draw_shares(inferred, X, e_step(X, weights, components)[0])
    axes, titles = (complete, incomplete, inferred), ("$x, z$", "$x$", "$x$ and what it tells")
    for ax, title in zip(axes, titles, strict=True):
        set_view(ax, X)
        ax.set(title=title, xticks=[], yticks=[], xlabel="$x_1$", ylabel="$x_2$")
        draw_contours(ax, lambda x: mixture_density(x, weights, components), levels=4)


@figure("bound", claims=(), panels=3, size=(3.0, 2.7))
def bound(jensen, one_sample, one_mean):
    r"""Left: the logarithm bends down, so the mean of two logarithms lies below the logarithm of
    the mean (Jensen's inequality). The two are $\ln (a_k / r_k)$, with the weights $r_k$: their
    mean lies on the chord (blue). The logarithm of the mean is the orange square, and the short
    orange line is the loss. Middle: the bound for a score of 12, for every choice of $r_1$. It
    touches $\ln p(x)$ where $r$ is the posterior; this is the E-step. Right: the log-likelihood of
    all tumours as a function of the second mean alone (black), the other parameters as guessed by
    eye. EM for this mean stands at the blue dot. The bound that touches there (blue) is a parabola,
    as walk 6 will show, and the M-step goes to its top (triangle). The next bound (orange) touches
    at the new place.
    """
    x = dent_scores()
    weights, means, variances = np.array([0.6, 0.4]), np.array([7.0, 17.0]), np.array([9.0, 25.0])
    components = gaussians(means[:, None], variances)
    a = np.exp(log_joint(components.log_density(np.array([[12.0]])), weights))[0]
    chord(jensen, a, r=np.array([0.1, 0.9]))
    touching(one_sample, a)
    climbing(one_mean, x, weights, means, variances, at=24.5)


def dent_scores():
    """The dent score of every tumour: (n, 1)."""
    tumours = load_breast_cancer()
    return 100 * tumours.X[:, [tumours.feature_names.index("worst concave points")]]


def chord(ax, a, r):
    """ln of a_k / r_k, the chord between, and what lies above each other at their mean, p."""
    u, p = a / r, a.sum()
    grid = np.linspace(0.35 * u.min(), 1.15 * u.max(), 200)
    ax.plot(grid, np.log(grid), color=INK, lw=1.4)
    ax.plot(u, np.log(u), "o-", color=BLUE, ms=5)
    ax.plot([p, p], [r @ np.log(u), np.log(p)], color=ORANGE, lw=2)
    ax.plot(p, np.log(p), "s", color=ORANGE, ms=5)
    for k, side in ((0, "right"), (1, "left")):
        name = f"$a_{k + 1}/r_{k + 1}$"
        shift = (4, -13) if side == "left" else (-4, 5)
        ax.annotate(name, (u[k], np.log(u[k])), shift, textcoords="offset points", ha=side)
    ax.annotate(r"$\ln p(x)$", (p, np.log(p)), (-6, 4), textcoords="offset points", ha="right")
    ax.annotate("bound", (p, r @ np.log(u)), (6, -11), textcoords="offset points")
    ax.set(xlabel="ratio", ylabel="its logarithm", title="Jensen", xticks=[], yticks=[])
    ax.set_xlim(-0.15 * u.max(), 1.2 * u.max())


def touching(ax, a):
    """sum_k r_k ln(a_k / r_k) of two components as a function of r_1, below ln sum_k a_k."""
    r = np.linspace(0.001, 0.999, 400)
    value = r * np.log(a[0] / r) + (1 - r) * np.log(a[1] / (1 - r))
    ax.axhline(np.log(a.sum()), color=ORANGE, lw=1.4, ls="--")
    ax.plot(r, value, color=BLUE, lw=1.4)
    ax.plot(a[0] / a.sum(), np.log(a.sum()), "s", color=ORANGE, ms=6)
    ax.text(0.98, np.log(a.sum()) + 0.02, r"$\ln p(x)$", ha="right", va="bottom")
    ax.set(xlabel="$r_1$", ylabel="bound", title="E-step: a score of 12", xlim=(0, 1))
    ax.set(ylim=(np.log(a.sum()) - 1.0, np.log(a.sum()) + 0.15))


def climbing(ax, x, weights, means, variances, at, steps=2):
    """l as a function of the last mean, and the bounds of the first EM steps from `at`."""
    grid = np.linspace(10, 26, 161)

    def joint_at(m):  # ln pi_k p_k(x_i), where the last mean is m
        return log_joint(gaussians([[means[0]], [m]], variances).log_density(x), weights)

    log_joints = [joint_at(m) for m in grid]
    ax.plot(grid, [log_sum_exp(joint).sum() for joint in log_joints], color=INK, lw=1.4)
    for color in (BLUE, ORANGE)[:steps]:
        here = gaussians([[means[0]], [at]], variances)
        R, log_p = e_step(x, weights, here)
        ax.plot(
            grid,
            [(R * joint).sum() + assignment_entropy(R) for joint in log_joints],
            color=color,
            lw=1.1,
        )
        ax.plot(at, log_p.sum(), "o", color=color, ms=6, zorder=4)
        at = (R[:, 1] @ x[:, 0]) / R[:, 1].sum()
        ax.plot(
            at, (R * joint_at(at)).sum() + assignment_entropy(R), "^", color=color, ms=6, zorder=4
        )
    ax.set(xlabel=r"$\mu_2$", ylabel="$l$", title="M-step: all tumours")
    ax.set(xlim=(10, 26), ylim=(-2150, -1815))


@figure("landscape", claims=(), size=(4.6, 4.2))
def landscape(ax):
    """The log-likelihood of the two means alone; both weights are 1/2 and both variances 16. Swap
    the means, and the mixture is the same, so there are two peaks of the same height. From the blue
    and the orange start EM climbs to different peaks (stars). The purple start has two equal means.
    It ends on the pass between the peaks and stays there for ever.
    """
    x, grid = dent_scores(), np.linspace(-1, 27, 71)
    l_of = np.array(
        [[mixture_log_likelihood(x, HALVES, of_means(a, b)) for a in grid] for b in grid]
    )
    levels = l_of.max() - np.array([2000, 1300, 800, 500, 300, 170, 90, 40, 15, 3])
    ax.contour(grid, grid, l_of, levels=levels, colors=[GREY], linewidths=0.8)
    for start, color, marker in zip(STARTS, (BLUE, ORANGE, PURPLE), MARKERS, strict=False):
        path = means_only(x, start)
        ax.plot(*path.T, marker + "-", color=color, ms=4, lw=1, mec="white", mew=0.5, zorder=4)
        ax.plot(*path[-1], "*", color=color, ms=13, mec="white", zorder=5)
    ax.set(aspect="equal", xlabel=r"$\mu_1$", ylabel=r"$\mu_2$", xticks=(0, 10, 20))
    ax.set(yticks=(0, 10, 20))


HALVES = np.array([0.5, 0.5])
STARTS = ((2.0, 6.0), (25.0, 21.0), (24.0, 24.0))  # of EM in the landscape


def of_means(a, b):
    """Two components of variance 16 with these means."""
    return gaussians([[a], [b]], [16.0, 16.0])


def means_only(x, means, steps=40):
    """The means after each step of an EM that leaves weights and variances as they are."""
    path = [np.array(means)]
    for _ in range(steps):
        R, _ = e_step(x, HALVES, of_means(*path[-1]))
        path.append(R.T @ x[:, 0] / R.sum(axis=0))
    return np.array(path)


@figure("collapse", claims=(), panels=2, size=(3.4, 2.7))
def collapse(left, right):
    """Left: the mixture of the dent scores with a third component on the 13 zeros, at three widths.
    Right: the log-likelihood as this component shrinks. Once the component is narrow, it rises by
    about 30 with each factor of 10, without end. The floor forbids widths below its root, 0.5
    (grey). Soon below it the curve is above the best fit that we found among three components that
    keep the floor (dashed).
    """
    x, widths = dent_scores(), np.geomspace(1e-6, 3, 200)
    weights, spiked = with_spike(x)
    grid = np.linspace(-2, 30, 2001)
    left.hist(x[:, 0], bins=30, range=(0, 30), density=True, color=tint(GREY, 0.4))
    for width, color, style in ((0.5, BLUE, "-"), (0.2, ORANGE, "--"), (0.05, PURPLE, ":")):
        p = mixture_density(grid[:, None], weights, spiked(width))
        left.plot(grid, p, color=color, ls=style, lw=1.3, label=rf"$\sigma_3 = {width:g}$")
    left.set(xlabel="dent score", ylabel="density", xlim=(-2, 30), ylim=(0, 0.24))
    left.legend()
    l_of = [mixture_log_likelihood(x, weights, spiked(width)) for width in widths]
    right.semilogx(widths, l_of, color=INK, lw=1.4)
    best = best_with_floor(x)
    right.axhline(best, color=BLUE, lw=1.2, ls="--")
    right.axvspan(widths[0], FLOOR, color=SHADE, lw=0)
    right.text(2e-6, best - 6, "best fit found with a floor", color=BLUE, va="top")
    right.text(2e-6, -1868, "below the floor", color=INK)
    right.set(xlabel=r"width $\sigma_3$", ylabel="log-likelihood $l$", xlim=(1e-6, 3))
    right.set(ylim=(-1880, None), xticks=[1e-6, 1e-4, 1e-2, 1])


FLOOR = 0.5  # smallest width of a component of the dent scores; its square is the floor c


def with_spike(x):
    """The best two components and a third on the zeros: weights, and components by its width."""
    fit = GaussianMixture(2, tol=1e-9, max_iter=500, random_state=0).fit(x)
    share = np.mean(x == 0)
    sd = np.sqrt(fit.covariances_.ravel())

    def spiked(width):
        return gaussians([*fit.means_, [0.0]], np.append(sd, width) ** 2)

    return np.append((1 - share) * fit.weights_, share), spiked


def best_with_floor(x):
    """The largest l found of three components with a floor: from the spike, or from k-means."""
    how = {"tol": 1e-9, "max_iter": 3000, "reg_covar": FLOOR**2, "random_state": 0}
    weights, spiked = with_spike(x)
    states = em(x, weights, spiked(FLOOR), partial(maximise, floor=FLOOR**2))
    from_spike = iterate(states, "gain", 1e-9, 3000).state.objective
    return len(x) * max(from_spike, GaussianMixture(3, **how).fit(x).score(x))


@figure("em_progress", claims=("mixture-18",), panels=(2, 3), size=SMALL)
def em_progress(*axes):
    """A film strip of EM on the tumours. Every third tumour is drawn, in the colours of the two
    components, mixed by its responsibilities; the ellipses reach two standard deviations from the
    means. The two circles at the start, drawn as ellipses because the scales of the axes differ,
    have nothing to do with the groups. One step later each ellipse covers most of the tumours.
    Then they move apart: blue takes the compact group at the lower left, orange the rest. The
    log-likelihood $l$ (in the titles) rises all the way.
    """
    X, start = em_start()
    states = list(islice(em(X, *start), STEPS[-1] + 1))
    for ax, t in zip(axes, STEPS, strict=True):
        _, components, R, objective, _ = states[t]
        draw_shares(ax, X[::3], R[::3], size=10, rim=0)
        draw_components(ax, components)
        ax.set(xlim=(-4, 32), ylim=(-3, 39), xticks=(0, 10, 20, 30), yticks=(0, 10, 20, 30))
        ax.set_title(f"step {t}: $l = {len(X) * objective:.0f}$")
    label(axes, 3, "dent score", "radius")


STEPS = (0, 1, 4, 8, 16, 60)  # of EM, drawn


def em_start():
    """Dent scores and radii, and the weights and components that EM starts from."""
    tumours = load_breast_cancer()
    X = np.column_stack([dent_scores(), tumours.X[:, tumours.feature_names.index("worst radius")]])
    return X, (HALVES, gaussians([[18.0, 9.0], [8.0, 24.0]], [25 * np.eye(2)] * 2))


@figure("kmeans_and_gmm", claims=("mixture-20",), panels=2, size=(3.2, 2.2))
def kmeans_and_gmm(left, right):
    """Two small groups above and below a large and long one. Left: k-means cuts the long group into
    pieces with straight borders. Right: the Gaussian mixture, started from these pieces, finds the
    groups. The ellipses reach two standard deviations from the means, and where groups meet the
    colours of the samples are mixed.
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
    any_three = gaussians(np.zeros((3, 2)), [np.eye(2)] * 3)  # the M-step replaces them
    start = maximise(X, np.eye(3)[clusters.labels_], any_three)
    return X, clusters, iterate(em(X, *start), "gain", 1e-9, 1000).state


@figure("kinds", claims=(), panels=2, size=(3.2, 1.9))
def kinds(*axes):
    """Both kinds of covariance with three components each, on the petals of 150 irises: any ellipse
    for each component, or ellipses along the axes. In the titles: the number of free parameters,
    and the criterion BIC, which should be low.
    """
    petals = load_iris().X[:, 2:]
    for ax, kind in zip(axes, ("full", "diag"), strict=True):
        model = GaussianMixture(3, covariance_type=kind, tol=1e-6, max_iter=1000, random_state=0)
        components = gaussians(model.fit(petals).means_, model.covariances_)
        draw_shares(ax, petals, model.predict_proba(petals), size=12)
        draw_components(ax, components)
        set_view(ax, petals)
        free = 3 * 2 + 2 + (9 if kind == "full" else 6)  # means, weights, covariances
        ax.set_title(f"{kind}: {free} parameters, BIC {model.bic(petals):.0f}", fontsize=10)
        ax.set(xticks=(2, 4, 6), yticks=(0, 1, 2))
    label(axes, 2, "petal length (cm)", "width (cm)")


@figure("digits", claims=(), panels=(2, 5), size=(1.25, 1.4))
def digits(*axes):
    """Ten components of 64 pixels each, fitted to 1797 handwritten digits without their labels: the
    darker a pixel, the likelier it is on. The numbers are the weights. Most of the images look like
    a digit.
    """
    X = (load_digits().X > 7).astype(float)
    grey = np.random.default_rng(2).uniform(0.3, 0.7, size=(10, 64))
    states = em(X, np.full(10, 0.1), Pixels(grey), update_pixels)
    last = iterate(states, "gain", 1e-4, 200).state
    for ax, k in zip(axes, np.argsort(-last.weights), strict=True):
        draw_image(ax, last.components.means[k].reshape(8, 8), cmap="Greys", vmin=0, vmax=1)
        ax.set_title(f"{last.weights[k]:.0%}", fontsize=9)


class Pixels(NamedTuple):
    """Components of binary x, p_k(x) = prod_j mu_kj^{x_j} (1 - mu_kj)^{1 - x_j}."""

    means: np.ndarray  # (K, d)

    def log_density(self, X):
        """ln p_k(x_i): (n, K)."""
        return X @ np.log(self.means).T + (1 - X) @ np.log(1 - self.means).T


def update_pixels(X, R, components):
    """The M-step of `Pixels`: weights, and weighted means, kept between 0.001 and 0.999."""
    n_k = R.sum(axis=0)
    return n_k / len(X), Pixels(np.clip(R.T @ X / n_k[:, None], 0.001, 0.999))


# --- Films -----------------------------------------------------------------------------


PASSES = (0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 130, 190, 270)  # steps of EM, shown


@film("em", em, measure="log-likelihood", K=(3, 2), start=(0, 1))
def em_film(K, start):
    """EM at work, from circles around K random samples; ellipses reach two standard deviations far.
    The E-step shares each sample among the components (its mark is that of the largest share), and
    the M-step fits each component to its shares. The log-likelihood never falls, and most of its
    rise comes early.
    """
    X, _ = generate(120, *three_groups(), rng=np.random.default_rng(3))
    means = X[np.random.default_rng(start).choice(len(X), K, replace=False)]
    states = list(
        islice(em(X, np.full(K, 1 / K), gaussians(means, [np.eye(2)] * K)), PASSES[-1] + 1)
    )

    def draw(ax, t):
        components, R = states[t].components, states[t].responsibilities
        for k in np.unique(R.argmax(axis=1)):
            color, of = COLORS[k], R.argmax(axis=1) == k
            fill = color if k % 2 == 0 else "white"
            ax.plot(*X[of].T, MARKERS[k], ms=3.5, mfc=fill, mec=color, mew=0.9)
        for mu, Sigma, color in zip(components.means, components.matrices, COLORS, strict=False):
            (rim,) = draw_ellipse(ax, mu, Sigma, color=color, lw=1.8, zorder=5)
            rim.set_data(rim.get_data()[0][::5], rim.get_data()[1][::5])  # a shorter recording
            ax.plot(*mu, "P", color=color, mec="white", ms=9, zorder=6)
        set_view(ax, X, margin=0.15)

    def words(t):
        weights = ", ".join(f"{weight:.2f}" for weight in states[t].weights)
        return (
            f"Step {t}: the mean log-likelihood is {states[t].objective:.3f}. Weights: {weights}."
        )

    steps = (t for t in PASSES if t < len(states))
    return Take(steps, draw, words, lambda t: states[t].objective, number=int)


@film("dents", em, measure="log-likelihood", means=("7 and 17", "2 and 3", "25 and 26"))
def dents_film(means):
    """EM in one dimension: two components (blue and orange, times their weights) and their sum, the
    mixture (black), on the dent scores of the tumours (bars). Watch how the sum comes to fit the
    bars. A start with means close together takes many more steps before they part.
    """
    x, grid = dent_scores(), np.linspace(-2, 32, 120)[:, None]
    counts, edges = np.histogram(x, bins=30, range=(0, 30), density=True)
    first = gaussians([[float(each)] for each in means.split(" and ")], [16.0, 16.0])
    states = list(islice(em(x, HALVES, first), PASSES[-1] + 1))

    def draw(ax, t):
        weights, components = states[t].weights, states[t].components
        ax.stairs(counts, edges, fill=True, color=SHADE, zorder=0)
        joint = np.exp(log_joint(components.log_density(grid), weights))
        for part, color, dash in zip(joint.T, (BLUE, ORANGE), ("-", "--"), strict=True):
            ax.plot(grid[:, 0], part, dash, color=color, lw=1.6)
        ax.plot(grid[:, 0], mixture_density(grid, weights, components), color=INK, lw=1)
        ax.set(xlim=(-2, 32), ylim=(0, 0.12), xlabel="dent score", ylabel="density")

    def words(t):
        a, b = states[t].components.means.ravel()
        return (
            f"Step {t}: the means are {a:.1f} and {b:.1f}, and the weight of the first is "
            f"{states[t].weights[0]:.2f}."
        )

    steps = (t for t in PASSES if t < len(states))
    return Take(steps, draw, words, lambda t: states[t].objective, number=int)


if __name__ == "__main__":
    run_script(__file__)
