"""Lecture figures of the decision theory chapter."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mlnotes.datasets import load_breast_cancer, make_fish
from mlnotes.decision_theory import (
    BayesClassifier,
    absolute,
    absolute_subdifferential,
    bayes_action,
    bayes_error,
    best_cut,
    conditional_mean,
    conditional_median,
    conditional_mode,
    conditional_risk,
    cut_errors,
    empirical_risk,
    epsilon_greedy,
    is_median,
    log_joint,
    normal_log_odds,
    posterior,
    product_rule,
    total_risk,
    with_reject,
    zero_one_matrix,
)
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SHADE,
    Take,
    draw_contours,
    draw_line,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    tint,
)
from mlnotes.probability import (
    covariance,
    gauss_legendre,
    given_x,
    multivariate_normal_log_density,
    normal_cdf,
    normal_log_density,
)

HALF = np.array([0.5, 0.5])
OVERLAP = "#bdbdbd"  # where the better decision errs


# --- Bayes' formula --------------------------------------------------------------------

LIGHTNESS, VARIANCE = np.array([6.5, 4.0]), 1.25**2  # sea bass (class 1), salmon (class 0)
PRIOR = np.array([2 / 3, 1 / 3])


def lightness_log_p(x):
    """ln p(x | 1) and ln p(x | 0) of lightness x: a column for sea bass and one for salmon."""
    return np.column_stack([normal_log_density(x, mu, VARIANCE) for mu in LIGHTNESS])


def lightness_boundary():
    """Where the decision changes."""
    w, b = normal_log_odds(LIGHTNESS[:, None], np.array([[VARIANCE]]), PRIOR)
    return float(-b / w[0])


@figure("lightness", claims=("decision_theory-10",), panels=3, size=(2.8, 2.6))
def lightness(left, middle, right):
    """Left: the densities of the lightness of salmon (dashed) and sea bass (solid). Middle: the
    same densities, weighted by the priors 1/3 and 2/3. The grey area, under the smaller of the
    two, is the Bayes error: no rule has a smaller probability of error, as the next section
    proves. Right: the posteriors. They cross at 1/2 where the weighted densities cross (black
    line). Where the densities themselves cross (dotted), the posteriors are the priors.
    """
    x = np.linspace(-0.5, 11, 461)
    log_p = lightness_log_p(x)
    weighted, q = np.exp(log_joint(log_p, PRIOR)), posterior(log_p, PRIOR)
    for ax, curves in ((left, np.exp(log_p)), (middle, weighted), (right, q)):
        for curve, color, dash in zip(curves.T, (ORANGE, BLUE), ("-", "--"), strict=True):
            ax.plot(x, curve, dash, color=color, lw=1.6)
        ax.set(xlim=(x[0], x[-1]), ylim=0, xlabel="lightness $x$", xticks=(0, 2, 4, 6, 8, 10))
    middle.fill_between(x, weighted.min(axis=1), color=OVERLAP, lw=0)
    middle.axvline(lightness_boundary(), color=INK, lw=0.8)
    middle.set(ylabel="weighted density", ylim=(0, 0.42))
    left.axvline(LIGHTNESS.mean(), color=GREY, lw=1, ls=":")
    left.set(ylabel="density", ylim=(0, 0.42))
    right.axvline(lightness_boundary(), color=INK, lw=0.8)
    right.axvline(LIGHTNESS.mean(), color=GREY, lw=1, ls=":")
    right.axhline(0.5, color=INK, lw=0.5)
    right.set(ylabel="posterior", ylim=(0, 1.02))
    right.set_yticks([0, 1 / 3, 1 / 2, 2 / 3, 1], ["0", "1/3", "1/2", "2/3", "1"])
    bass, salmon = r"$p(x \mid 1)$", r"$p(x \mid 0)$"
    for ax, label, color, place in (
        (left, f"sea bass\n{bass}", ORANGE, (6.7, 0.33)),
        (left, f"salmon\n{salmon}", BLUE, (3.8, 0.33)),
        (middle, rf"$\pi_1$ {bass}", ORANGE, (7.0, 0.222)),
        (middle, rf"$\pi_0$ {salmon}", BLUE, (2.4, 0.115)),
        (right, "$q_1(x)$", ORANGE, (8.4, 0.88)),
        (right, "$q_0(x)$", BLUE, (1.9, 0.88)),
    ):
        ax.text(*place, label, color=color, ha="center", linespacing=1.4)
    for side, decision in (("right", "salmon "), ("left", " sea bass")):
        middle.text(lightness_boundary(), 0.39, decision, ha=side, va="center")


# --- What a cut costs ------------------------------------------------------------------

CUT = 6.0


@figure("excess", claims=(), panels=2)
def excess(left, right):
    """Left: the weighted densities and a cut at 6. Sea bass below the cut and salmon above it are
    wrong. Every rule pays the grey area, under the smaller of the two densities. This cut also
    pays the hatched area, between the densities, where it decides otherwise than the Bayes
    classifier. Right: the two kinds of error and their sum, for every cut. The sum is smallest at
    4.82 (grey line), where the weighted densities cross, and it is flat near there.
    """
    x, best = np.linspace(-0.5, 11, 461), lightness_boundary()
    weighted = np.exp(log_joint(lightness_log_p(x), PRIOR))
    for curve, color, dash in zip(weighted.T, (ORANGE, BLUE), ("-", "--"), strict=True):
        left.plot(x, curve, dash, color=color, lw=1.6)
    left.fill_between(x, weighted.min(axis=1), color=OVERLAP, lw=0)
    left.fill_between(x, *weighted.T, where=(x >= best - 0.01) & (x <= CUT), hatch="////",
                      facecolor="white", edgecolor=ORANGE, lw=0)  # fmt: skip
    left.vlines(best, 0, 0.255, color=GREY, lw=0.8)
    left.axvline(CUT, color=INK, lw=1.4)
    left.set(xlim=(x[0], x[-1]), ylim=(0, 0.3), xlabel="lightness $x$", ylabel="weighted density")
    for side, decision in (("right", "salmon "), ("left", " sea bass")):
        left.text(CUT, 0.28, decision, ha=side, va="center")
    left.text(2.2, 0.115, r"$\pi_0\, p(x \mid 0)$", color=BLUE, ha="center")
    left.text(9.3, 0.15, r"$\pi_1\, p(x \mid 1)$", color=ORANGE, ha="center")
    cuts = np.linspace(2.5, 7.5, 101)
    below = normal_cdf(cuts[:, None], LIGHTNESS, VARIANCE)  # columns: sea bass, salmon
    bass, salmon = PRIOR[0] * below[:, 0], PRIOR[1] * (1 - below[:, 1])
    for errors, color, dash, name in (
        (salmon, BLUE, "--", "salmon called sea bass"),
        (bass, ORANGE, ":", "sea bass called salmon"),
        (salmon + bass, INK, "-", "both"),
    ):
        right.plot(cuts, errors, dash, color=color, lw=1.5, label=name)
    right.vlines(best, 0, 0.4, color=GREY, lw=0.8)
    right.set(xlim=(2.5, 7.5), ylim=(0, 0.65), xlabel="cut", ylabel="probability")
    right.legend(loc="upper left")


# --- Sea bass and salmon ---------------------------------------------------------------


class Fish(NamedTuple):
    """The sample of the figure."""

    length: np.ndarray  # (n,)
    lightness: np.ndarray  # (n,)
    width: np.ndarray  # (n,)
    y: np.ndarray  # (n,), 0 for salmon and 1 for sea bass


def fish_sample():
    """The lengths, lightnesses and widths of 160 fish, and what they are."""
    T = make_fish(160, rng=np.random.default_rng(21))
    return Fish(*T.X.T, np.where(T.y == "sea bass", 1, 0))


def fish_line(fish):
    """w and b of the line in the plane of lightness and width, from the means and the common
    covariance of the sample."""
    X, p = np.column_stack([fish.lightness, fish.width]), np.full(len(fish.y), 1 / len(fish.y))
    mu = np.array([X[fish.y == k].mean(axis=0) for k in (0, 1)])
    return normal_log_odds(mu, covariance(p, X - mu[fish.y]), HALF)


@figure("fish", claims=("decision_theory-16",), panels=3, size=(2.8, 2.7))
def fish(left, middle, right):
    """Left and middle: the lengths and the lightnesses of 80 salmon (filled) and 80 sea bass
    (outlined), with the cut that makes the fewest errors. By length 41 of the 160 fish are
    wrong, by lightness 23, and by width, which has no histogram here, 16. Right: a line for
    lightness and width, computed from estimated means and covariance, is wrong for 11.
    """
    sample = fish_sample()
    for ax, x, name, step in (
        (left, sample.length, "length (cm)", 6.0),
        (middle, sample.lightness, "lightness", 0.75),
    ):
        cut = best_cut(x, sample.y)
        edges = step * np.arange(np.floor(x.min() / step), np.ceil(x.max() / step) + 1)
        ax.hist(x[sample.y == 0], edges, color="#b9cbe0", label="salmon")
        ax.hist(x[sample.y == 1], edges, histtype="step", color=ORANGE, lw=1.5, label="sea bass")
        top = ax.get_ylim()[1]
        ax.vlines(cut.at, 0, 1.08 * top, color=INK, lw=1.4)
        ax.set(xlabel=name, ylabel="fish", title=f"{cut.errors} of {len(x)} wrong")
        ax.set_ylim(0, 1.28 * top)
        ax.legend(loc="upper left", ncols=2, columnspacing=1, handlelength=1.4, borderaxespad=0)
    w, b = fish_line(sample)
    X = np.column_stack([sample.lightness, sample.width])
    right.set(xlim=(0.5, 10), ylim=(7, 18.8), xlabel="lightness", ylabel="width (cm)")
    draw_regions(right, lambda points: np.where(points @ w + b > 0, 1, 0), (0, 1))
    draw_samples(right, X, sample.y, size=3.5, names=("salmon", "sea bass"))
    draw_line(right, w, b, color=INK, lw=1.2)
    wrong = int(np.sum((X @ w + b > 0) != sample.y))
    right.set_title(f"{wrong} of {len(X)} wrong")
    right.legend(loc="lower left", ncols=2, handletextpad=0, borderaxespad=0, columnspacing=0.8)


PLANES = (  # means and covariances of two classes: the fish, and a narrow class in a wide one
    (
        np.array([[4.0, 12.0], [6.5, 14.5]]),
        np.array([[[1.5625, 0.0], [0.0, 2.25]], [[1.5625, 0.0], [0.0, 2.25]]]),
    ),
    (
        np.array([[5.0, 13.0], [6.0, 14.0]]),
        np.array([[[3.5, -1.0], [-1.0, 5.0]], [[0.5, 0.35], [0.35, 0.8]]]),
    ),
)


def plane_log_p(X, mu, Sigma):
    """ln p(x | k) of both classes at points X (n, 2)."""
    laws = zip(mu, Sigma, strict=True)
    return np.column_stack([multivariate_normal_log_density(X, m, S) for m, S in laws])


def plane_error(mu, Sigma):
    """The Bayes error of two classes in the plane, by quadrature."""
    X, dx = product_rule(gauss_legendre(-8, 19, 60, 5), gauss_legendre(0, 27, 60, 5))
    return bayes_error(plane_log_p(X, mu, Sigma), HALF, dx)


@figure("plane", claims=(), panels=2)
def plane(left, right):
    """Contours of the two weighted densities and the decision boundary (black). Grey shows the
    smaller of the two densities; the volume under it is the Bayes error. Left: the fish, by
    lightness and width (salmon dashed, sea bass solid). Both classes have the same covariance,
    and the boundary is a line. Right: different covariances. The boundary is a curve, here around
    the narrow class.
    """
    left.set(xlabel="lightness", ylabel="width (cm)")
    right.set(xlabel="$x_1$", ylabel="$x_2$")
    for ax, (mu, Sigma) in zip((left, right), PLANES, strict=True):
        ax.set(xlim=(0.5, 10), ylim=(8, 19), title=f"Bayes error {plane_error(mu, Sigma):.3f}")
        overlapping(ax, mu, Sigma)


def overlapping(ax, mu, Sigma):
    """The weighted densities of two normal classes, the smaller of the two, and the boundary."""

    def scores(X):
        return log_joint(plane_log_p(X, mu, Sigma), HALF)

    x, y = np.linspace(*ax.get_xlim(), 200), np.linspace(*ax.get_ylim(), 200)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    lesser = np.exp(scores(points).min(axis=1)).reshape(200, 200)
    look = {"extent": (x[0], x[-1], y[0], y[-1]), "origin": "lower", "aspect": "auto"}
    look["interpolation"] = "none"  # its pixels as they are
    ax.imshow(lesser, vmin=0, vmax=1.6 * lesser.max(), **look)
    for k, (color, dash) in enumerate(((BLUE, "dashed"), (ORANGE, "solid"))):
        top = scores(mu[[k]])[0, k]
        look = {"colors": [color], "linestyles": dash, "linewidths": 1.2, "zorder": 2}
        draw_contours(ax, lambda X, k=k: scores(X)[:, k], top - np.array([2.0, 0.5]), **look)
    look = {"colors": [INK], "linewidths": 1.4, "zorder": 3}
    draw_contours(ax, lambda X: np.subtract(*scores(X).T), levels=[0.0], **look)


# --- Losses ----------------------------------------------------------------------------

ALARM = np.array([[0.0, 5.0], [1.0, 0.0]])  # a miss costs five times a false alarm
ASK = 0.5  # the cost of asking somebody else
DELTAS = (
    ("length", 1.0, GREY, ":"),
    ("lightness", 2.0, ORANGE, "--"),
    ("lightness, width", np.hypot(2.0, 5 / 3), BLUE, "-"),
)


def trade_off(Delta, costs):
    """The probabilities to reject, and to err, with rejection at each of the costs.

    Of two normal classes all that matters is the log-odds, which are N(-+Delta^2/2, Delta^2).
    """
    s, ds = gauss_legendre(-40, 40, 400)
    log_p = np.column_stack([normal_log_density(s, m * Delta**2 / 2, Delta**2) for m in (-1, 1)])
    q, errs, asks = posterior(log_p, HALF), with_reject(zero_one_matrix(2), 0), np.zeros((2, 2))
    actions = [bayes_action(q, with_reject(zero_one_matrix(2), c)) for c in costs]
    rejected = [total_risk(a, log_p, HALF, with_reject(asks, 1), ds) for a in actions]
    return np.array(rejected), np.array([total_risk(a, log_p, HALF, errs, ds) for a in actions])


@figure("reject", claims=(), panels=2)
def reject(left, right):
    """Left: the conditional risk of three actions, as the posterior of class 1 grows. A miss costs
    5, a false alarm 1, asking 1/2. The smallest risk (thick grey line) belongs first to "class 0",
    then to "ask", then to "class 1". Right: the fish, under 0-1 loss and with equal priors, by
    length, by lightness, and by lightness and width. Along each curve the price of a question
    falls from 1/2 at the left end, and Chow's rule asks about more fish: it leaves them aside.
    The more of the doubtful ones are left aside, the smaller is the share of errors among the
    others. The left ends are the errors printed after walk 8.
    """
    q_1 = np.linspace(0, 1, 201)
    risk = conditional_risk(np.column_stack([1 - q_1, q_1]), with_reject(ALARM, ASK))
    for line, color, dash in zip(risk.T, (BLUE, ORANGE, PURPLE), ("-", "--", "-."), strict=True):
        left.plot(q_1, line, dash, color=color, lw=1.2)
    left.plot(q_1, risk.min(axis=1), color=INK, lw=3, alpha=0.35, solid_capstyle="round")
    left.annotate("class 0", (0.235, 1.08), color=BLUE, ha="left")
    left.annotate("class 1", (0.82, 0.25), color=ORANGE, ha="left")
    left.annotate("ask", (0.9, ASK), (0, 3), textcoords="offset points", color=PURPLE)
    left.set(xlim=(0, 1), ylim=(0, 1.2), xlabel="posterior $q_1(x)$", ylabel="conditional risk")
    costs = np.linspace(0.5, 0.005, 100)
    for name, Delta, color, dash in DELTAS:
        rejected, wrong = trade_off(Delta, costs)
        right.plot(rejected, wrong / (1 - rejected), dash, color=color, lw=1.5, label=name)
    right.set(xlim=(0, 0.8), ylim=(0, 0.35), xlabel="share of fish left aside")
    right.set_ylabel("errors on the rest")
    right.legend(loc="upper right")


# --- Predicting numbers ----------------------------------------------------------------

ONE_PIXEL = np.array(  # p_i1 (not person A) and p_i2 (person A) of the grey levels i = 1, ..., 4
    [[Fraction(p, 100) for p in row] for row in ((25, 18, 9, 6), (2, 6, 14, 20))]
)


@figure("one_pixel", claims=("decision_theory-18",), panels=2)
def one_pixel(left, right):
    """Left: the joint probabilities of grey level and person, named as in IRHD. Right: the
    conditional mean of Y at each grey level. Where it is above 1/2, person A is the better guess.
    """
    level = np.arange(1, 5)
    looks = ({"color": "white", "edgecolor": BLUE, "hatch": "////"}, {"color": BLUE})
    names = "not person A, $Y = 0$", "person A, $Y = 1$"
    for column, shift, (row, look, name) in zip(
        (1, 2), (-0.2, 0.2), zip(ONE_PIXEL, looks, names, strict=True), strict=True
    ):
        p = row.astype(float)
        left.bar(level + shift, p, width=0.38, label=name, **look)
        for i, height in zip(level, p, strict=True):
            left.annotate(f"$p_{{{i}{column}}}$", (i + shift, height), (0, 3), ha="center",
                          textcoords="offset points")  # fmt: skip
    left.set(xlabel="grey level $x$", ylabel="probability", ylim=(0, 0.34), xticks=level)
    left.legend(loc="upper center", borderaxespad=0)
    mean = conditional_mean(ONE_PIXEL, np.array([0, 1])).astype(float)
    right.axhline(0.5, color=GREY, lw=1, ls="--")
    right.plot(level, mean, "-", color=INK, lw=0.8)
    for i, m, grey in zip(level, mean, ("#f2f2f2", "#b8b8b8", "#7a7a7a", "#303030"), strict=True):
        right.plot(i, m, "s", ms=15, mfc=grey, mec=INK, mew=0.8)
    right.set(xlabel="grey level $x$", ylabel="$E[Y | X = x]$", xlim=(0.5, 4.5), ylim=(0, 1))
    right.set(xticks=level, yticks=(0, 0.5, 1))


SPREAD, AT = 0.6, 0.5  # ln Y given x is N(0.2 + 1.2 x, SPREAD^2)


def skewed_table():
    """Pr(Y = y_i, X = x_j) of a skewed law of Y given x, on an even grid; x and y."""
    x, y = np.linspace(0, 1, 41), np.linspace(0.01, 39.99, 2000)
    log_p = normal_log_density(np.log(y)[:, None], 0.2 + 1.2 * x, SPREAD**2)
    joint = np.exp(log_p) / y[:, None]
    return joint / joint.sum(), x, y


@figure("best_predictions", claims=(), panels=2)
def best_predictions(left, right):
    """Left: a skewed density of Y at one x, with its mode (dotted), median (dashed) and mean
    (solid). The long tail pulls the mean to the right. Right: the same three for every x, over
    the density of Y given x.
    """
    joint, x, y = skewed_table()
    kinds = (
        ("mode", conditional_mode(joint, y), GREEN, ":"),
        ("median", conditional_median(joint, y), ORANGE, "--"),
        ("mean", conditional_mean(joint, y), BLUE, "-"),
    )
    j = int(np.flatnonzero(np.isclose(x, AT))[0])
    law = given_x(joint, j) / (y[1] - y[0])
    seen = y <= 8
    left.fill_between(y[seen], law[seen], color=SHADE, lw=0)
    left.plot(y[seen], law[seen], color=INK, lw=0.8)
    for name, f, color, dash in kinds:
        left.vlines(f[j], 0, np.interp(f[j], y, law), color=color, ls=dash, lw=2, label=name)
        right.plot(x, f, dash, color=color, lw=2, label=name)
    left.set(xlim=(0, 8), ylim=0, xlabel="$y$", ylabel=f"density given $x = {AT}$")
    left.legend(loc="upper right")
    density = joint / joint.sum(axis=0)
    right.imshow(density[seen], extent=(0, 1, 0, 8), origin="lower", aspect="auto",
                 interpolation="bilinear", vmax=1.6 * density.max())  # fmt: skip
    right.set(xlim=(0, 1), ylim=(0, 8), xlabel="$x$", ylabel="$y$")
    right.legend(loc="upper left")


SAMPLES = np.array([1.0, 2.0, 4.0, 7.0, 11.0]), np.array([1.0, 2.0, 4.0, 7.0])


@figure("median", claims=(), panels=2)
def median(left, right):
    """Left: the mean distance from c to five numbers (solid) and to the first four of them
    (dashed). For five numbers it is smallest at the middle one, for four anywhere between the
    middle two (thick). Right: the slopes of the two curves. They rise by 2/n at each number. A
    median is where they pass 0.
    """
    c = np.linspace(0, 12, 1201)
    for y, color, dash in zip(SAMPLES, (BLUE, ORANGE), ("-", "--"), strict=True):
        g = empirical_risk(absolute, c, y[:, None])
        left.plot(c, g, dash, color=color, lw=1.5, label=f"$n = {len(y)}$")
        best = is_median(y, c)
        left.plot(c[best], g[best], "-" if best.sum() > 1 else "o", color=INK, lw=3.5, ms=6)
        corners = np.repeat(np.concatenate([[0], y, [12]]), 2)[1:-1]
        slopes = np.column_stack(absolute_subdifferential(y, y)).ravel()
        slopes = np.concatenate([[-1], slopes, [1]])
        right.plot(corners, slopes, dash, color=color, lw=1.5)
    left.plot(SAMPLES[0], np.full(5, 0.25), "|", color=INK, ms=8)
    left.set(xlim=(0, 12), ylim=(0, 7.2), xlabel="$c$", ylabel="mean distance $g(c)$")
    left.legend(loc="upper center")
    right.axhline(0, color=INK, lw=0.7)
    right.set(xlim=(0, 12), ylim=(-1.1, 1.1), xlabel="$c$", ylabel="slopes of $g$ at $c$")


TUMOUR_FEATURES = ["worst perimeter", "worst smoothness"]
MISS_10 = np.array([[0.0, 10.0], [1.0, 0.0]])


@figure("regions", claims=(), panels=3, size=(2.8, 2.7))
def regions(left, middle, right):
    """All tumours, and the regions of three rules with own covariances, fitted to these tumours.
    Left: 0-1 loss. Middle: a miss costs 10, so the boundary moves into the benign tumours. Right: a
    miss costs 10, a question 0.5; in the band between the two clear regions one asks.
    """
    T = load_breast_cancer()
    X = T.X[:, [T.feature_names.index(name) for name in TUMOUR_FEATURES]]
    words = ["benign", "malignant", "ask"]
    rules = {
        "0-1 loss": zero_one_matrix(2),
        "a miss costs 10": MISS_10,
        "one may ask": with_reject(MISS_10, 0.5),
    }
    for ax, (title, L) in zip((left, middle, right), rules.items(), strict=True):
        model = BayesClassifier(loss=L, actions=words[: len(L)]).fit(X, T.y)
        ax.set(xlim=(45, 260), ylim=(0.06, 0.23), title=title, xlabel=TUMOUR_FEATURES[0])
        draw_regions(ax, model.predict, words)
        draw_samples(ax, X, T.y, size=2.5)
    left.set_ylabel(TUMOUR_FEATURES[1])
    left.legend(loc="lower right", handletextpad=0)
    right.annotate("ask", (95, 0.17), (200, 0.2), arrowprops={"arrowstyle": "-"})


# --- Films -----------------------------------------------------------------------------


PAYS = np.array([0.3, 0.45, 0.6, 0.75])


@film("bandit", epsilon_greedy, measure="reward per pull", eps=(0.1, 0.0, 0.5))
def bandit_film(eps):
    """A bandit with four arms. A bar is the share of pulls of an arm that have paid so far, and the
    number below it counts the pulls. The black marks are the true probabilities, which the learner
    does not know. The learner pulls the arm with the highest bar, or with probability eps a random
    one. The diamond marks the arm of the last pull: it is filled if the pull has paid. Without
    exploration the learner may never find out that another arm is better.
    """

    def draw(ax, state):
        pulls, wins = state.pulls[0], state.wins[0]
        ends = np.arange(4)[:, None] + [-0.42, 0.42, np.nan]
        ax.plot(ends.ravel(), np.repeat(PAYS, 3), color=INK, lw=2)
        bars = np.column_stack([np.zeros(4), wins / pulls, np.full(4, np.nan)])
        look = {"color": tint(BLUE, 0.5), "lw": 30, "solid_capstyle": "butt", "zorder": 1}
        ax.plot(np.repeat(np.arange(4), 3), bars.ravel(), **look)
        for j, pulled in enumerate(pulls):
            ax.text(j, -0.07, f"{pulled:.0f}", ha="center", va="center", fontsize=10)
        if state.arm[0] >= 0:
            fill = INK if state.reward[0] else "white"
            ax.plot(state.arm[0], 1.06, "D", mec=INK, mfc=fill, ms=7)
        ax.set(xlim=(-0.6, 3.6), ylim=(-0.13, 1.12), xticks=(), yticks=(0, 0.5, 1))
        ax.set(xlabel="arms 1 to 4, with their pulls", ylabel="share that paid")

    def words(state):
        result = "The start"
        if state.arm[0] >= 0:
            result = f"Arm {state.arm[0] + 1} pays {state.reward[0]:.0f}"
        total = state.pulls.sum()
        return f"{result}. {state.wins.sum():.0f} of {total:.0f} pulls have paid."

    states = epsilon_greedy(PAYS, eps=eps, rng=np.random.default_rng(9))
    return Take(states, draw, words)


@film("cut", cut_errors, measure="errors", feature=("lightness", "length"))
def cut_film(feature):
    """A cut moves through 48 fish from left to right. Above it a fish counts as sea bass, below it
    as salmon; rings mark the errors. Passing a salmon takes an error away, passing a sea bass adds
    one, so that one sweep through the sorted fish counts the errors of all cuts.
    """
    T = make_fish(48, rng=np.random.default_rng(21))
    x, y = T.X[:, ("length", "lightness").index(feature)], (T.y == "sea bass").astype(int)
    low, high = x.min() - 0.05 * np.ptp(x), x.max() + 0.05 * np.ptp(x)
    rows = y + 0.12 * (np.argsort(np.argsort(x)) % 3)  # so that neighbours do not overlap

    def draw(ax, state):
        at = np.clip(state[0], low, high)
        wrong = (x > at) != y
        for c, (color, fill) in enumerate(((BLUE, BLUE), (ORANGE, "white"))):
            ax.plot(x[y == c], rows[y == c], "os"[c], color=color, mfc=fill, ms=5)
        ax.plot(x[wrong], rows[wrong], "o", mfc="none", mec=INK, ms=10, mew=1)
        ax.axvline(at, color=INK, lw=1.6)
        ax.set(xlim=(low, high), ylim=(-0.5, 1.7), yticks=(), xlabel=feature)
        ax.text(high, 1.45, "sea bass", ha="right", color=ORANGE)
        ax.text(high, -0.35, "salmon", ha="right", color=BLUE)

    def words(state):
        wrong = (x > state[0]) != y
        bass = np.count_nonzero(wrong & (y == 1))
        return (
            f"{state[1]} errors: {bass} sea bass below the cut, {state[1] - bass} salmon above it."
        )

    return Take(zip(*cut_errors(x, y), strict=True), draw, words, lambda state: state[1])


@film("asking", bayes_action, measure="probability to ask", miss=(1, 5))
def asking_film(miss):
    """The risks of three actions for a fish of the lightness x: call it salmon (orange), call it
    sea bass (blue), or ask (purple). A salmon called sea bass costs 1, a sea bass called salmon
    costs 1 or 5 (miss), and the cost of asking falls. The band below shows the action of least
    risk. Watch asking pay first where the other two are equal, and then for more and more fish.
    """
    x, dx = gauss_legendre(-1, 12, 80)
    shown = np.linspace(0, 11, 111)
    L = np.array([[0.0, 1.0], [miss, 0.0]])  # actions: sea bass, salmon; classes in this order
    largest = miss / (1 + miss)
    costs = np.linspace(1.1, 0.02, 28) * largest
    states = ((c, bayes_action(lightness_posterior(shown), with_reject(L, c))) for c in costs)
    colors = (BLUE, ORANGE, PURPLE)

    def draw(ax, state):
        risk = conditional_risk(lightness_posterior(shown), with_reject(L, state[0]))
        for line, color in zip(risk.T, colors, strict=True):
            ax.plot(shown, line, color=color, lw=1.6)
        starts = np.flatnonzero(np.diff(state[1], prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(shown) - 1], strict=True):
            sides, action = shown[[start, end, end, start]], state[1][start]
            ax.fill(sides, [-0.12, -0.12, -0.03, -0.03], color=tint(colors[action], 0.7), lw=0)
        ax.set(xlim=(0, 11), ylim=(-0.14, 1.2), xlabel="lightness", ylabel="risk")

    def asked(state):
        actions = bayes_action(lightness_posterior(x), with_reject(L, state[0]))
        ask = with_reject(np.zeros((2, 2)), 1)
        return total_risk(actions, lightness_log_p(x), PRIOR, ask, dx)

    def words(state):
        return (
            f"Asking costs {state[0]:.2f}. {100 * asked(state):.0f} % of the fish are asked about."
        )

    return Take(states, draw, words, asked)


def lightness_posterior(x):
    """The posteriors of sea bass and salmon at the lightness x."""
    return posterior(lightness_log_p(x), PRIOR)


if __name__ == "__main__":
    run_script(__file__)
