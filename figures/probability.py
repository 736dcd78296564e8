"""Lecture figures of the probability chapter."""

import numpy as np

from mlnotes.datasets import joint_table
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Take,
    draw_contours,
    draw_ellipse,
    draw_matrix,
    figure,
    film,
    run_script,
)
from mlnotes.probability import (
    Normal,
    binomial_log_pmf,
    chebyshev,
    conditional_normal,
    marginals,
    multivariate_normal_log_density,
    normal_log_density,
    poisson_log_pmf,
    sample_atoms,
)


@figure("joint_table", claims=("probability-15",), size=(3.6, 3.3))
def joint_table_with_margins(ax):
    """The joint distribution of X (columns) and Y (rows). The darker a cell, the more probable.
    The last column and the last row are sums over the table: the marginal distributions of Y
    and of X. In row y_4 all probability is on x_1. In row y_3 it is spread evenly.
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
