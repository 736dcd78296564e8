"""Lecture figures of the probability chapter."""

import numpy as np

from mlnotes.datasets import joint_table, load_iris
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Take,
    draw_contours,
    draw_ellipse,
    draw_matrix,
    draw_samples,
    figure,
    film,
    run_script,
    tint,
)
from mlnotes.probability import (
    Normal,
    bayes,
    binomial_log_pmf,
    chebyshev,
    conditional_normal,
    covariance,
    marginals,
    multivariate_normal_log_density,
    normal_log_density,
    poisson_log_pmf,
    sample_atoms,
    sample_multivariate_normal,
)

SPECIES = ("setosa", "versicolor", "virginica")


def petals():
    """Length and width of the petals of 150 irises in centimetres, and their species."""
    iris = load_iris()
    return iris.X[:, 2:], iris.y


@figure("bayes_square", claims=(), panels=2, size=(3.2, 2.6))
def bayes_square(left, right):
    """Bayes' rule as areas. The width of a column is the prior of a species, and the dark height is
    the likelihood: the share of its petals that are near 5 cm. So a dark area is the probability of
    both. The posterior, written above it, is its share of all dark area. Left: equal priors. Right:
    a meadow with four versicolors for each virginica. The heights stay, and the answer turns round.
    """
    X, species = petals()
    near = np.abs(X[:, 0] - 5) <= 0.25
    likelihood = np.array([near[species == name].mean() for name in SPECIES])
    for ax, prior in ((left, np.full(3, 1 / 3)), (right, np.array([0.0, 0.8, 0.2]))):
        edges = np.concatenate([[0], np.cumsum(prior)])
        for k, posterior in enumerate(bayes(likelihood, prior)):
            look = {"width": prior[k], "align": "edge", "edgecolor": INK, "lw": 0.8}
            ax.bar(edges[k], 1, color=tint(BLUE, 0.1), **look)
            ax.bar(edges[k], likelihood[k], color=tint(BLUE, 0.7), **look)
            if prior[k] > 0:
                middle = (edges[k] + edges[k + 1]) / 2
                ax.text(middle, likelihood[k] + 0.03, f"{posterior:.2f}", ha="center")
                ax.text(middle, 0.93, SPECIES[k], ha="center", fontsize=7)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="prior", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    left.set_ylabel("likelihood of a petal near 5 cm")


@figure("joint_table", claims=("probability-15",), size=(3.6, 3.3))
def joint_table_with_margins(ax):
    """The joint distribution of X (columns) and Y (rows). The darker a cell, the more probable. The
    last column and the last row are sums over the table: the marginal distributions of Y and of X.
    In row $y_4$ all probability is on $x_1$. In row $y_3$ it is spread evenly.
    """
    joint = joint_table()
    p_X, p_Y = marginals(joint)
    text = np.full((5, 5), "1", dtype=object)
    text[:4, :4], text[4, :4], text[:4, 4] = joint.astype(str), p_X.astype(str), p_Y.astype(str)
    heat = np.ma.masked_all((5, 5))
    heat[:4, :4] = joint.astype(float)
    draw_matrix(ax, heat, vmin=0, vmax=0.3)
    for (i, j), entry in np.ndenumerate(text):
        dark = i < 4 and j < 4 and heat[i, j] > 0.2
        ax.text(j, i, entry, ha="center", va="center", color="white" if dark else INK)
    ax.axhline(3.5, color=INK, lw=0.8)
    ax.axvline(3.5, color=INK, lw=0.8)
    ax.set_xticks(range(5), [*(f"$x_{j}$" for j in range(1, 5)), "$p_Y(y)$"])
    ax.set_yticks(range(5), [*(f"$y_{i}$" for i in range(1, 5)), "$p_X(x)$"])
    ax.xaxis.tick_top()
    ax.spines[:].set_visible(False)


@figure("families", claims=(), panels=2)
def families(left, right):
    """Left: the number of successes in n trials with n q = 4. As n grows (darker bars), the
    binomial distribution tends to the Poisson distribution (circles). Right: two normal
    densities. Both enclose the area 1, so the wider one is lower.
    """
    k = np.arange(13)
    for n, shade, shift in ((8, "#d5d5d5", -0.27), (20, "#a5a5a5", 0), (100, "#6a6a6a", 0.27)):
        pmf = np.exp(binomial_log_pmf(k, n, 4 / n))
        left.bar(k + shift, pmf, width=0.27, color=shade, label=f"$n = {n}$")
    left.plot(k, np.exp(poisson_log_pmf(k, 4.0)), "o", color=BLUE, ms=4, label="Poisson(4)")
    left.set(xlabel="$k$", ylabel="probability", xticks=range(0, 13, 4))
    left.legend()
    x = np.linspace(-5, 6, 300)
    for mu, sigma, color, dash in ((0, 1, BLUE, "-"), (1, 2, ORANGE, "--")):
        p = np.exp(normal_log_density(x, mu, sigma**2))
        right.plot(x, p, dash, color=color, label=rf"$\mu = {mu}$, $\sigma = {sigma}$")
    right.set(xlabel="$x$", ylabel="density", ylim=(0, 0.49), xticks=(-4, -2, 0, 2, 4, 6))
    right.legend(loc="upper right")


MEAN, SIGMA, AT = np.array([1.0, 2.0]), np.array([[2.0, 1.2], [1.2, 1.5]]), 3.0


@figure("bivariate_normal", claims=(), panels=2)
def bivariate_normal(left, right):
    """Left: a normal density in the plane, with its contours at 1 (black), 2 and 3 standard
    deviations, and the line x = 3. Right: the density of Y before anything is known (dashed),
    and after X = 3 was seen (solid). It has moved, and it is narrower. How much narrower does
    not depend on the value of X.
    """
    left.set(xlim=(-3.5, 5.5), ylim=(-2, 6), aspect="equal", xlabel="$x$", ylabel="$y$")
    top = multivariate_normal_log_density(MEAN[None], MEAN, SIGMA).item()
    levels = top - np.array([3.0, 2.0]) ** 2 / 2  # rising, as contours want them
    draw_contours(left, lambda X: multivariate_normal_log_density(X, MEAN, SIGMA), levels)
    draw_ellipse(left, MEAN, SIGMA, radius=1)
    left.axvline(AT, color=BLUE, lw=1.4)
    y = np.linspace(-2.5, 7, 300)
    before = Normal(MEAN[1:], SIGMA[1:, 1:])
    after = conditional_normal(MEAN, SIGMA, given=[0], value=np.array([AT]))
    for law, look, label in (
        (before, {"color": GREY, "ls": "--"}, "$p_Y(y)$"),
        (after, {"color": BLUE}, f"$p_{{Y | X = {AT:g}}}(y)$"),
    ):
        p = np.exp(normal_log_density(y, law.mean.item(), law.covariance.item()))
        right.plot(y, p, label=label, **look)
    right.set(xlabel="$y$", ylabel="density", ylim=(0, 0.62))
    right.legend(loc="upper left")


@figure("large_numbers", claims=(), panels=2)
def law_of_large_numbers(left, right):
    """Left: the share of heads in the first m throws of a fair coin, in twenty runs. All of them
    end between the dashed lines, 0.1 above and below 1/2. Right: the exact probability to be
    more than 0.1 off after m throws (solid), and Chebyshev's bound, cut off at 1 (dashed). The
    bound holds for every distribution with this variance, and is generous for this one.
    """
    m, eps = np.arange(1, 501), 0.1
    rng = np.random.default_rng(8)
    heads = sample_atoms(20 * 500, [0.5, 0.5], rng=rng).reshape(20, 500)
    left.plot(m, np.cumsum(heads, axis=1).T / m[:, None], color=GREY, lw=0.6)
    for level, dash in ((0.5 - eps, "--"), (0.5 + eps, "--"), (0.5, "-")):
        left.axhline(level, color=INK, lw=1, ls=dash)
    left.set(xlabel="throws $m$", ylabel="share of heads", ylim=(0, 1), xscale="log")
    tail = []
    for n in m:
        k = np.arange(n + 1)
        outside = np.abs(k - n / 2) > n * eps + 1e-9  # k = 0.6 n is not outside, rounded or not
        tail.append(np.exp(binomial_log_pmf(k, n, 0.5))[outside].sum())
    bound = r"$\min(1, \sigma^2 / (m \epsilon^2))$"
    right.plot(m, chebyshev(0.25, m, eps), "--", color=ORANGE, label=bound)
    right.plot(m, tail, color=BLUE, lw=0.8, label=r"Pr(|mean $- \mu| > \epsilon$)")
    right.set(xlabel="throws $m$", ylabel="probability", yscale="log", ylim=(1e-6, 2))
    right.legend(loc="lower left")


@figure("dice_sums", claims=(), panels=3, size=(2.7, 2.2))
def dice_sums(*axes):
    """The sum of 1, 2 and 6 dice (bars), and the normal density with the same mean and variance
    (line). One die is far from normal. Two dice make a triangle, because there is one way to get 2
    and there are six ways to get 7. With six dice the bars follow the line closely.
    """
    die = np.full(6, 1 / 6)
    for ax, dice in zip(axes, (1, 2, 6), strict=True):
        total = die
        for _ in range(dice - 1):
            total = np.convolve(total, die)
        ax.bar(np.arange(dice, 6 * dice + 1), total, color=tint(BLUE, 0.5))
        x = np.linspace(dice - 1, 6 * dice + 1, 200)
        ax.plot(x, np.exp(normal_log_density(x, 3.5 * dice, 35 / 12 * dice)), color=ORANGE)
        ax.set(title=f"{dice} dice" if dice > 1 else "1 die", xlabel="sum")
    axes[0].set_ylabel("probability")


@figure("normal_map", claims=(), panels=3, size=(2.8, 2.8))
def normal_map(left, middle, right):
    r"""Left: 150 draws of a pair z of independent standard normal numbers, circles of radius 1, 2
    and 3, and a square. Middle: $x = \mu + L z$ makes ellipses of the circles and a slanted box of
    the square. Right: the 150 petals, whose mean and covariance are $\mu$ and $L L^\top$. The
    ellipses have the right direction and size. But the petals lie in two clumps, and no normal
    density has two.
    """
    X, _ = petals()
    weights = np.full(len(X), 1 / len(X))
    mu, Sigma = X.mean(axis=0), covariance(weights, X)
    L = np.linalg.cholesky(Sigma)
    z = sample_multivariate_normal(150, np.zeros(2), np.eye(2), rng=np.random.default_rng(3))
    box = np.array([[0, -1], [1, -1], [1, 0], [0, 0]])
    views = (
        (left, z, np.zeros(2), np.eye(2)),
        (middle, mu + z @ L.T, mu, Sigma),
        (right, X, mu, Sigma),
    )
    for ax, points, center, spread in views:
        draw_samples(ax, points, size=4)
        for radius in (1, 2, 3):
            draw_ellipse(ax, center, spread, radius, color=BLUE, lw=0.9)
    left.fill(*box.T, color=ORANGE, alpha=0.7, lw=0, zorder=4)
    middle.fill(*(mu + box @ L.T).T, color=ORANGE, alpha=0.7, lw=0, zorder=4)
    left.set(title="$z$", xlabel="$z_1$", ylabel="$z_2$", aspect="equal")
    for ax, title in ((middle, r"$\mu + L z$"), (right, "150 petals")):
        ax.set(title=title, xlabel="length (cm)", xlim=(-2.2, 9.7), ylim=(-1.5, 3.9))
    middle.set_ylabel("width (cm)")


@figure("petal_width", claims=(), panels=2, size=(3.6, 3.0))
def petal_width(left, right):
    """Left: the petals of three species, the prediction from one normal distribution of all of them
    (line), and its interval of two standard deviations (grey). The dotted line is our petal. Only
    triangles lie outside of the interval. Right: the density of the width of a petal that is 5 cm
    long, from one cloud (dashed) and from three (solid). The dotted curves are the parts of two of
    the three: versicolor is narrow and virginica is wide.
    """
    X, species = petals()

    def law(rows, length):
        mu, Sigma = rows.mean(axis=0), covariance(np.full(len(rows), 1 / len(rows)), rows)
        density = np.exp(normal_log_density(length, mu[0], Sigma[0, 0]))
        given = conditional_normal(mu, Sigma, given=[0], value=np.array([length]))
        return density, given.mean.item(), given.covariance.item()

    x = np.linspace(0.8, 7.1, 50)
    mean, variance = np.array([law(X, length)[1:] for length in x]).T
    spread = 2 * np.sqrt(variance)
    left.fill_between(x, mean - spread, mean + spread, color=tint(GREY), lw=0)
    left.plot(x, mean, color=INK, lw=1.2)
    draw_samples(left, X, species, size=4)
    left.axvline(5, color=INK, lw=0.8, ls=":")
    left.set(xlabel="petal length (cm)", ylabel="petal width (cm)", ylim=(-0.3, 2.9))
    left.legend(loc="upper left")
    width = np.linspace(0.9, 3.1, 300)
    _, mean, variance = law(X, 5.0)
    right.plot(width, np.exp(normal_log_density(width, mean, variance)), "--", color=GREY)
    laws = [law(X[species == name], 5.0) for name in SPECIES]
    weights = bayes([density for density, *_ in laws], np.full(3, 1 / 3))
    parts = [
        weight * np.exp(normal_log_density(width, mean, variance))
        for weight, (_, mean, variance) in zip(weights, laws, strict=True)
    ]
    right.plot(width, sum(parts), color=BLUE)
    for part in parts[1:]:
        right.plot(width, part, color=BLUE, lw=0.7, ls=":")
    right.set(xlabel="width (cm) of a petal of 5 cm", ylabel="density", ylim=(0, None))


# --- Films -----------------------------------------------------------------------------


@film("given", conditional_normal, measure="mean of Y", correlation=(0.7, 0.0, -0.9))
def given_film(correlation):
    """Two normal numbers with the chosen correlation: contours at 1 and 2 standard deviations. The
    value of X (orange line) moves to the right. The blue curve on this line is the density of Y
    once X is known, the grey one at the left that of Y before. Watch its mean follow a straight
    line (dashed), while its width never changes.
    """
    mu, Sigma = np.zeros(2), np.array([[1.0, correlation], [correlation, 1.0]])
    y, values = np.linspace(-3, 3, 61), np.linspace(-2.5, 2.5, 31)
    laws = [conditional_normal(mu, Sigma, given=[0], value=np.array([x])) for x in values]
    before = Normal(mu[1:], Sigma[1:, 1:])

    def density(law):
        return np.exp(normal_log_density(y, law.mean.item(), law.covariance.item()))

    def draw(ax, state):
        x, law = state
        for radius in (1, 2):
            draw_ellipse(ax, mu, Sigma, radius=radius, color=GREY, lw=1)
        ax.plot(values, [law.mean.item() for law in laws], "--", color=GREY, lw=0.9)
        ax.plot(-3 + 0.9 * density(before), y, color=GREY, lw=1.4)
        ax.axvline(x, color=ORANGE, lw=1.2)
        ax.plot(x + 0.9 * density(law), y, color=BLUE, lw=1.8)
        ax.plot(x, law.mean.item(), "o", color=BLUE, ms=5)
        ax.set(xlim=(-3, 3.6), ylim=(-3, 3), xlabel="x", ylabel="y", aspect="equal")

    def words(state):
        x, law = state
        deviation = law.covariance.item() ** 0.5
        return (
            f"X = {x:.2f}: Y has the mean {law.mean.item():.2f} and the deviation {deviation:.2f}."
        )

    return Take(zip(values, laws, strict=True), draw, words, lambda state: state[1].mean.item())


if __name__ == "__main__":
    run_script(__file__)
