"""Lecture figures of the estimation chapter."""

import numpy as np

from mlnotes.datasets import load_iris
from mlnotes.estimation import (
    Beta,
    Gamma,
    NormalInverseGamma,
    NormalMean,
    bernoulli_mle,
    empirical_distribution,
    fisher_information,
    kl_divergence,
    log_likelihood,
    mean_squared_error,
    normal_mle,
    normal_score,
    poisson_mle,
    sequential,
)
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    Take,
    counted,
    figure,
    film,
    run_script,
)
from mlnotes.probability import (
    bernoulli_log_pmf,
    binomial_log_pmf,
    gauss_legendre,
    normal_log_density,
    poisson_log_pmf,
    sample_atoms,
)

DARKER = ("#c4c4c4", "#9a9a9a", "#6a6a6a", INK)  # the more samples, the darker


@figure("likelihood", claims=(), panels=2)
def likelihoods(left, right):
    """Left: the log-likelihood of p for 10, 40 and 160 throws (darker), of which three in ten are
    heads, each minus its maximum. The more throws, the sharper. Right: twenty counts. The
    divergence of the Poisson distribution from the observed shares (solid) and minus the mean
    log-likelihood (dashed) differ by a constant. So both are smallest at the same rate.
    """
    p = np.linspace(0.005, 0.8, 400)
    for n, shade in zip((10, 40, 160), DARKER[1:], strict=True):
        x = np.repeat([1, 0], [3 * n // 10, 7 * n // 10])
        log_L = log_likelihood(bernoulli_log_pmf, x[:, None], p)
        top = log_likelihood(bernoulli_log_pmf, x, bernoulli_mle(x))
        left.plot(p, log_L - top, color=shade, label=f"$n = {n}$")
    left.axvline(0.3, ymax=0.85, color=INK, lw=0.7, ls=":")
    left.set(xlabel="$p$", ylabel=r"$l(p) - l(\hat p)$", ylim=(-12, 2.2), xlim=(0, 0.8))
    left.set_yticks(range(-12, 1, 3))
    left.legend(loc="upper center", ncols=3, handlelength=1, columnspacing=1)
    x, rate = np.random.default_rng(2).poisson(2.5, size=20), np.linspace(0.8, 6, 300)
    values, share = empirical_distribution(x)
    distance = kl_divergence(share, np.exp(poisson_log_pmf(values, rate[:, None])))
    minus_l = -log_likelihood(poisson_log_pmf, x[:, None], rate) / len(x)
    right.plot(rate, distance, color=BLUE, label=r"KL$(f_{\rm data} \,\|\, f_\lambda)$")
    right.plot(rate, minus_l, "--", color=ORANGE, label=r"$-l(\lambda) / n$")
    right.axvline(poisson_mle(x), ymax=0.8, color=INK, lw=0.7, ls=":")
    right.set(xlabel=r"rate $\lambda$", ylim=(0, 3.6), xticks=range(1, 7))
    right.legend(loc="upper center")


RATE, MEAN_WAIT = 2.0, 0.4


@figure("error_of_a_rate", claims=(), panels=2)
def error_of_a_rate(left, right):
    """Left: the slope of l, divided by n, for waiting times with the mean 0.4 (solid). It is 0 at
    the estimate 2.5. Its tangent at the true rate 2 (dashed) is 0 at 2.4. The step from 2 to 2.4 is
    the mean score divided by the information. Right: the density of the error times the root of n
    I, for 3, 10 and 100 waiting times (darker), and the standard normal density (dotted). The more
    waiting times, the closer the two.
    """
    rate = np.linspace(1.5, 3.1, 200)
    score, information = 1 / RATE - MEAN_WAIT, 1 / RATE**2
    left.axhline(0, color=GREY, lw=0.7)
    left.plot(rate, 1 / rate - MEAN_WAIT, color=BLUE, label="slope of $l / n$")
    left.plot(rate, score - information * (rate - RATE), "--", color=ORANGE, label="tangent")
    left.plot([RATE, RATE], [0, score], ":", color=INK, lw=0.9)
    left.plot([1 / MEAN_WAIT, RATE + score / information], [0, 0], "o", color=INK, ms=4)
    left.set(xlabel=r"rate $\lambda$", xlim=(1.5, 3.1))
    left.legend(loc="upper right")
    z = np.linspace(-3.5, 4.5, 500)
    for n, shade in zip((3, 10, 100), DARKER[1:], strict=True):
        ratio = 1 + z / np.sqrt(n)  # the estimate, divided by the rate: n / (total of the waits)
        inside, ratio = ratio > 0.01, np.maximum(ratio, 0.01)
        density = np.exp(Gamma(n, 1).log_density(n / ratio)) * np.sqrt(n) / ratio**2
        right.plot(z, np.where(inside, density, 0), color=shade, label=f"$n = {n}$")
    right.plot(z, np.exp(normal_log_density(z, 0.0, 1.0)), ":", color=BLUE, lw=2, label="normal")
    right.set(xlabel=r"error $\times \sqrt{n \mathcal{I}}$", ylabel="density", ylim=(0, 0.62))
    right.legend(loc="upper right")


COIN, ODDS, SIGMA2 = 0.3, 3 / 7, 1.0


def errors_by_size(n):
    """MSE of the share of ones, by summation; of a normal variance and a uniform end by formula."""
    k = np.arange(n + 1)
    share = mean_squared_error(binomial_log_pmf(k, n, COIN), k / n, COIN)
    variance = (2 * n - 1) * SIGMA2**2 / n**2
    end = 2 / ((n + 1) * (n + 2))
    return share, variance, end


@figure("how_far_off", claims=(), panels=2)
def how_far_off(left, right):
    """Left: mean squared errors for n samples, and 1/(n I) with the Fisher information
    I (dotted). For the share of heads (solid) they are equal; for a normal variance (dash-dotted)
    they approach each other. Both errors fall like 1/n; that of the largest of uniform samples
    (dashed) falls like 1/n^2: their range depends on the parameter, and there is no such formula.
    Right: the odds of a coin with p = 0.3, estimated by k/(n - k). The probability of an error
    above 0.1 tends to 0 (solid), as it must for a consistent estimate. The probability of an
    infinite estimate (dashed) is never 0, so the mean squared error is infinite.
    """
    n = np.unique(np.geomspace(2, 1000, 60).round().astype(int))
    errors = np.array([errors_by_size(m) for m in n]).T
    looks = (
        (GREEN, "-.", "normal variance"),
        (BLUE, "-", "share of heads"),
        (ORANGE, "--", "largest, uniform"),
    )
    for mse, (color, dash, label) in zip(errors[[1, 0, 2]], looks, strict=True):
        left.plot(n, mse, dash, color=color, label=label)
    x, w = gauss_legendre(-10, 10, pieces=20)
    score = normal_score(x, 0.0, SIGMA2)[:, 1]
    of_variance = fisher_information(w * np.exp(normal_log_density(x, 0.0, SIGMA2)), score)
    for information in (1 / (COIN * (1 - COIN)), of_variance):
        left.plot(n, 1 / (n * information), ":", color=INK, lw=0.9)
    left.set(xlabel="samples $n$", ylabel="MSE", xscale="log", yscale="log")
    left.legend(loc="lower left")
    far, all_heads = [], binomial_log_pmf(n, n, COIN)
    for m in n:
        k = np.arange(m)
        close = np.abs(k / (m - k) - ODDS) <= 0.1
        far.append(1 - np.exp(binomial_log_pmf(k[close], m, COIN)).sum())
    right.plot(n, far, color=BLUE, label="off by more than 0.1")
    right.plot(n, np.exp(all_heads), "--", color=ORANGE, label="infinite: $p^n$")
    right.set(xlabel="throws $n$", ylabel="probability", xscale="log", yscale="log", ylim=(1e-6, 3))
    right.legend(loc="lower right")


ONES, ZEROS = 2, 6


@figure("other_parameter", claims=(), panels=2)
def other_parameter(left, right):
    """Two heads in eight throws, with a flat prior for p. Left: the likelihood (grey) and the
    posterior density (dashed) as functions of p; they have the same shape. Right: both as
    functions of the log-odds. The likelihood has its maximum at the same coin as before. The
    posterior density has its maximum at another one.
    """
    x = np.repeat([1, 0], [ONES, ZEROS])
    odds = np.linspace(-5, 3, 400)
    at_odds = 1 / (1 + np.exp(-odds))
    after = Beta(1, 1).posterior(x)
    for ax, theta, p, slope in (
        (left, at_odds, at_odds, 1.0),
        (right, odds, at_odds, at_odds * (1 - at_odds)),  # dp / d log-odds
    ):
        log_L = log_likelihood(bernoulli_log_pmf, x[:, None], p)
        density = np.exp(after.log_density(p)) * slope
        ax.plot(theta, np.exp(log_L - log_L.max()), color=GREY, lw=3, label="likelihood")
        ax.plot(theta, density / density.max(), "--", color=BLUE, label="posterior density")
        ax.axvline(theta[np.argmax(log_L)], color=GREY, lw=0.8)
        ax.axvline(theta[np.argmax(density)], color=BLUE, lw=0.8, ls="--")
        ax.set(ylim=(0, 1.35), yticks=(0, 1))
    left.set(xlabel="$p$", ylabel="largest = 1", xlim=(0, 1))
    right.set(xlabel=r"$\ln\,(p / (1 - p))$")
    left.legend(loc="upper right")


SIZES = (0, 5, 50, 500)


def throws():
    """500 throws of a coin that shows heads with probability 0.3."""
    return sample_atoms(SIZES[-1], [1 - COIN, COIN], rng=np.random.default_rng(19))


@figure("learning", claims=(), panels=2)
def learning(left, right):
    """The posterior density of p after 0, 5, 50 and 500 throws (darker) of a coin with p = 0.3
    (dotted line). Left: a flat prior follows the data at once. Right: a prior that is sure of a
    fair coin, with 40 pseudo-counts, takes longer. After 500 throws, their means differ by less
    than one standard deviation.
    """
    p = np.linspace(0, 1, 400)
    for ax, prior in ((left, Beta(1, 1)), (right, Beta(20, 20))):
        beliefs = list(sequential(prior, throws()))
        for n, shade in zip(SIZES, DARKER, strict=True):
            ax.plot(p, np.exp(beliefs[n].log_density(p)), color=shade, label=f"$n = {n}$")
        ax.axvline(COIN, color=BLUE, lw=1, ls=":")
        ax.set(xlabel="$p$", ylim=(0, 21), xlim=(0, 1), title=f"prior Beta({prior.a}, {prior.b})")
    left.set(ylabel="density")
    left.legend()


def virginica():
    """The petal lengths of the 50 irises of that species."""
    T = load_iris()
    return T.X[T.y == "virginica", 2]


@figure("normal", claims=(), panels=2)
def normal(left, right):
    """Petals of virginica; the first three of fifty are the thick ticks. Left: the density of the
    mean length before the three, N(5, 0.25), a surer prior than that of walk 14 (dotted), and
    after them (solid), with known variance,
    and the likelihood (dashed), scaled. Right: the next length. The normal density with the two
    estimates plugged in (dashed) leaves 7 of the other 47 petals (thin ticks) outside two of its
    standard deviations. The predictive density, with a prior on the variance too (solid; a Student
    t density), is wider.
    """
    x = virginica()
    mu, few = np.linspace(3.2, 7.8, 400), x[:3]
    prior = NormalMean(m=5.0, s2=0.25, sigma2=0.3)
    before, after = (np.exp(b.log_density(mu)) for b in (prior, prior.posterior(few)))
    log_L = log_likelihood(normal_log_density, few[:, None], mu, 0.3)
    left.plot(mu, before, ":", color=INK, label="prior")
    left.plot(mu, np.exp(log_L - log_L.max()), "--", color=ORANGE, label="likelihood")
    left.plot(mu, after, color=BLUE, label="posterior")
    left.set(xlabel=r"mean $\mu$ (cm)", ylabel="density", ylim=(0, 2.2))
    belief = NormalInverseGamma(m=5.0, kappa=0.1, alpha=0.5, beta=0.15).posterior(few)
    plug_in = np.exp(normal_log_density(mu, *normal_mle(few)))
    right.plot(mu, plug_in, "--", color=ORANGE, label="with estimates")
    right.plot(mu, np.exp(belief.log_predictive(mu)), color=BLUE, label="predictive")
    right.set(xlabel="length (cm)", ylim=(0, 1.4))
    right.plot(x[3:], np.full(47, 0.05), "|", color=GREY, ms=9, mew=0.8)
    for ax in (left, right):
        ax.plot(few, np.full(3, 0.05), "|", color=INK, ms=12, mew=1.8)
        ax.legend(loc="upper left")


# --- Films -----------------------------------------------------------------------------


PRIORS = {"flat": Beta(1, 1), "sure of a fair coin": Beta(20, 20), "expects tails": Beta(2, 8)}


@film("tosses", sequential, measure="posterior mean of p", prior=tuple(PRIORS))
def tosses_film(prior):
    """The density of the probability p of heads, as the tosses of a coin arrive one by one. The
    coin has p = 0.3 (dotted); the grey curve is the prior. Heads move the curve to the right and
    tails to the left, by less and less, and in the end it is narrow. A prior that is sure of a fair
    coin moves slowly.
    """
    x, p, first = throws()[:45], np.linspace(0, 1, 81), PRIORS[prior]

    def tossed(belief):
        return int(belief.a + belief.b - first.a - first.b)

    def draw(ax, belief):
        ax.axvline(COIN, color=ORANGE, lw=1.2, ls=":")
        ax.plot(p, np.exp(first.log_density(p)), color=GREY, lw=1.2)
        ax.plot(p, np.exp(belief.log_density(p)), color=BLUE, lw=1.8)
        n = tossed(belief)
        ax.text(0.98, 7.3, "".join("TH"[each] for each in x[max(n - 12, 0) : n]), ha="right")
        ax.set(xlim=(0, 1), ylim=(0, 8), xlabel="p", ylabel="density")

    def words(belief):
        n, heads = tossed(belief), int(belief.a - first.a)
        law = f"Beta({belief.a:g}, {belief.b:g})"
        return f"{heads} heads in {counted(n, 'toss', 'tosses')}: {law}, mean {belief.mean():.3f}."

    return Take(sequential(first, x), draw, words, lambda belief: belief.mean())


@film("petals", sequential, measure="posterior mean of μ", prior_deviation=(0.5, 0.1, 3.0))
def petals_film(prior_deviation):
    """The density of the mean petal length of virginica, as fifty petals (ticks) are measured one
    by one. The grey curve is the prior, N(5, s²) with the chosen s; the dotted line is the mean of
    all fifty. Each petal adds the same precision, whatever its length. A narrow prior gives way
    only slowly.
    """
    x, mu = virginica(), np.linspace(4, 7, 91)
    first = NormalMean(m=5.0, s2=prior_deviation**2, sigma2=0.3)

    def seen(belief):
        return round((1 / belief.s2 - 1 / first.s2) * first.sigma2)

    def draw(ax, belief):
        n = seen(belief)
        ax.axvline(x.mean(), color=ORANGE, lw=1.2, ls=":")
        ax.plot(mu, np.exp(first.log_density(mu)), color=GREY, lw=1.2)
        ax.plot(mu, np.exp(belief.log_density(mu)), color=BLUE, lw=1.8)
        ax.plot(x[:n], np.full(n, 0.1), "|", color=GREY, ms=8, mew=1)
        ax.plot(x[:n][-1:], np.full(min(n, 1), 0.1), "|", color=INK, ms=13, mew=2)
        ax.set(xlim=(4, 7), ylim=(0, 6.5), xlabel="mean length μ (cm)", ylabel="density")

    def words(belief):
        n = seen(belief)
        last = f"Petal {n} has {x[n - 1]:.1f} cm. " if n else "The prior. "
        return f"{last}μ is about {belief.m:.2f}, give or take {belief.s2**0.5:.2f}."

    return Take(sequential(first, x), draw, words, lambda belief: belief.m)


if __name__ == "__main__":
    run_script(__file__)
