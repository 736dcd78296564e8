"""Lecture figures of the ensemble chapter."""

from functools import cache
from itertools import islice

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from mlnotes.datasets import load_breast_cancer, load_wine, make_curve, make_moons, to_bits
from mlnotes.ensemble import (
    adaboost,
    bag,
    error_bounds,
    majority_error,
    plurality,
    random_forest,
    stumps,
    tree_outputs,
    weighted_vote,
)
from mlnotes.model_selection import bootstrap_indices
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    Take,
    counted,
    draw_regions,
    figure,
    film,
    run_script,
    tint,
)
from mlnotes.trees import DecisionTreeRegressor

SEEDS = range(10)
KS = (1, 3, 13)
SIZES = 2 ** np.arange(1, 8) - 1  # 1, 3, ..., 127 trees: odd, so that two classes cannot tie
ROUNDS = 60
VOTES = LinearSegmentedColormap.from_list("", [tint(ORANGE, 0.5), "white", tint(BLUE, 0.5)])
LARGEST = 1500  # square points of a marker whose sample has all the weight


# --- Votes and means ---------------------------------------------------------------------


@figure("majority", claims=("ensemble-02",), size=(4.4, 2.7))
def majority(ax):
    """The error of the majority against the number of independent voters, for four errors of a
    voter. Below one half the majority gets better with each two voters, fast for 0.3 and slowly for
    0.45. Above one half it gets worse.
    """
    T = np.arange(1, 102, 2)
    for error, look in ((0.3, "-"), (0.45, "--"), (0.5, ":"), (0.55, "-.")):
        M = [majority_error(error, size) for size in T]
        ax.plot(T, M, look, color=INK, label=f"$\\epsilon = {error}$")
    ax.set(xlabel="voters $T$", ylabel="error of the majority $M_T$", ylim=(0, 1.1))
    ax.legend(ncols=2)


def truth(x):
    """The curve that the bagged trees learn."""
    return np.sin(6 * x)


@cache
def bagged_trees():
    """Forty noisy samples of the curve, a grid, and what 50 bagged trees say there (50, 201)."""
    curve = make_curve(40, truth, sigma=0.4, rng=np.random.default_rng(7))
    at = np.linspace(0, 1, 201)
    sets = bootstrap_indices(40, 50, rng=np.random.default_rng(2))
    members = bag(DecisionTreeRegressor(), curve.X, curve.y, sets)
    return curve, at, np.array([h.predict(at[:, None]) for h in members])


@figure("bagging", claims=("ensemble-07",), panels=2, size=(3.8, 2.7))
def bagging(left, right):
    """One of the twenty sets. Left: its forty samples (dots), five of fifty bagged trees (grey),
    the mean of the fifty (blue) and the truth (dashed). Each tree follows the noise of its own
    bootstrap set, the mean does so less. Right: the squared distance of the mean of the first m
    trees from the truth. The dashed line is the mean squared distance of a single tree on a
    bootstrap set, the dotted line that of the one tree on all forty samples. The first ten trees
    bring most of the gain.
    """
    curve, at, outputs = bagged_trees()
    left.plot(at, outputs[:5].T, color=GREY, lw=0.7)
    left.plot(at, outputs.mean(axis=0), color=BLUE, lw=1.8, label="mean of 50")
    left.plot(at, truth(at), "--", color=INK, label="truth")
    left.plot(curve.X, curve.y, ".", color=ORANGE, ms=4)
    left.set(xlabel="$x$", ylabel="$y$")
    left.legend()
    m = np.arange(1, 51)
    means = np.cumsum(outputs, axis=0) / m[:, None]
    right.plot(m, np.mean((means - truth(at)) ** 2, axis=1), color=BLUE)
    right.axhline(np.mean((outputs - truth(at)) ** 2), color=GREY, ls="--", lw=1)
    one = DecisionTreeRegressor().fit(curve.X, curve.y).predict(at[:, None])
    right.axhline(np.mean((one - truth(at)) ** 2), color=INK, ls=":", lw=1)
    right.set(xlabel="trees $m$", ylabel="squared distance", ylim=(0, None))


@figure("rows", claims=(), size=(4.4, 2.3))
def rows(ax):
    """What bagged trees say about the curve at x = 0.5. A row for each of eight training sets S, a
    dot for each of its ten trees, darker where several give one answer. The bar is the mean of the
    row, the dashed line that of all rows. Within a row only the bootstrap varies. The bars differ
    too: the trees of a row share its S.
    """
    said = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        S = make_curve(40, truth, sigma=0.4, rng=rng)
        members = bag(DecisionTreeRegressor(), S.X, S.y, rng.integers(40, size=(10, 40)))
        said.append([h.predict(np.array([[0.5]]))[0] for h in members])
    said, S = np.array(said), np.arange(8)
    ax.plot(said.ravel(), np.repeat(S, 10), "o", color=BLUE, ms=5, mew=0, alpha=0.4)
    ax.plot(said.mean(axis=1), S, "|", color=INK, ms=11, mew=2)
    ax.axvline(said.mean(), color=INK, ls="--", lw=0.8)
    ax.set(xlabel="answer $h$", ylabel="set $S$", yticks=[], xticks=[-0.5, 0, 0.5])


# --- Random forests --------------------------------------------------------------------


@cache
def forest_votes(seed, k):
    """The votes of each tree for the half of the wines that it has not seen, and their labels."""
    wine, rng = load_wine(), np.random.default_rng(seed)
    X, y = wine.X, np.unique(wine.y, return_inverse=True)[1]
    order = rng.permutation(len(y))
    train, test = np.array_split(order, 2)
    trees = random_forest(X[train], y[train], SIZES[-1], k, rng=rng)
    return tree_outputs(trees, X[test]), y[test]


def forest_errors(seed, k):
    """The test error of the votes of the first m trees, for each m of SIZES."""
    L, y = forest_votes(seed, k)
    return np.array([np.mean(plurality(L[:, :m]) != y) for m in SIZES])


@figure("forest", claims=("ensemble-18",), size=(4.4, 2.9))
def forest(ax):
    """Forests that learn from half of the 178 wines, and their error on the other half; the mean of
    ten random halves. k of the 13 features are drawn in each node; k = 13 is bagging. All curves
    fall and then stay nearly flat: here more trees do no harm. Printed is how many more of 100
    wines k = 13 gets wrong than k = 3, both with 127 trees, and its standard error by the rule of
    chapter 15 for overlapping splits. It is not settled which k is best.
    """
    looks = zip(KS, ("o:", "s-", "^--"), (PURPLE, BLUE, ORANGE), strict=True)
    errors = {k: np.array([forest_errors(seed, k) for seed in SEEDS]) for k in KS}
    for k, style, color in looks:
        ax.plot(SIZES, errors[k].mean(axis=0), style, color=color, ms=4, label=f"$k = {k}$")
    gap = 100 * (errors[13] - errors[3])[:, -1]  # with all trees, in each half
    se = np.sqrt((1 / len(gap) + 1) * gap.var(ddof=1))
    words = f"$k = 13$ minus $k = 3$:\n{gap.mean():.1f} $\\pm$ {se:.1f} of 100"
    ax.text(SIZES[-1], 0.08, words, ha="right")
    ax.set(xlabel="number of trees $m$", ylabel="test error", xscale="log", ylim=(0, None))
    ax.set_xticks(SIZES, SIZES)
    ax.minorticks_off()
    ax.legend()


@cache
def tumour_answers(k):
    """What 20 trees of each of 40 forests say of 169 tumours: (40, 169, 20).

    The training sets are independent draws of 100 tumours from a pool of the other 400.
    """
    T = load_breast_cancer()
    y = (T.y == "malignant").astype(int)
    pool, new = np.split(np.random.default_rng(0).permutation(569), [400])
    said = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.choice(pool, 100)
        said.append(tree_outputs(random_forest(T.X[rows], y[rows], 20, k, rng=rng), T.X[new]))
    return np.array(said)


@figure("correlation", claims=("ensemble-17",), size=(4.4, 2.7))
def correlation(ax):
    """The variance of the mean of m trees, for three values of k. Dots: measured over 40 training
    sets. Lines: the formula for the variance of a mean, with the variance and correlation of the
    first ten trees. So the dots at 10 lie on the lines by construction, but those at 20 could miss
    them. The line for k = 30, which is bagging, starts lowest and ends highest.
    """
    sizes, m = np.array([1, 2, 5, 10, 20]), np.arange(1, 21)
    for k, marker, color in ((1, "^", PURPLE), (5, "s", BLUE), (30, "o", ORANGE)):
        said = tumour_answers(k)
        C = np.mean([np.cov(said[:, i, :10].T) for i in range(169)], axis=0)
        s2 = np.mean(np.diag(C))
        shared = np.mean(C[~np.eye(10, dtype=bool)])  # rho s^2
        direct = [said[:, :, :size].mean(axis=2).var(axis=0, ddof=1).mean() for size in sizes]
        ax.plot(m, shared + (s2 - shared) / m, color=color)
        ax.plot(sizes, direct, marker, color=color, label=f"$k = {k}$")
    ax.set(xlabel="trees $m$", ylabel="variance of the mean", ylim=(0, None), xticks=sizes)
    ax.legend()


# --- AdaBoost --------------------------------------------------------------------------


def toy():
    """Ten samples in the plane, plus and minus, that no stump separates."""
    plus = [[1.0, 4.5], [1.6, 1.6], [4.2, 8.4], [2.6, 6.2], [6.0, 7.6]]
    minus = [[4.8, 1.8], [4.0, 3.3], [7.4, 5.4], [8.4, 8.6], [8.0, 1.4]]
    return np.array(plus + minus), np.repeat([1, -1], 5)


def toy_rounds():
    """The start and three rounds of AdaBoost on them."""
    X, y = toy()
    return list(islice(adaboost(X, y, stumps(X, y)), 4))


def draw_weighted(ax, X, y, D):
    """The samples, the areas of their markers in proportion to the weights."""
    for label, marker, color in ((1, "o", BLUE), (-1, "s", ORANGE)):
        own = y == label
        face = color if label == 1 else "white"
        ax.scatter(
            *X[own].T, s=LARGEST * D[own], marker=marker, fc=face, ec=color, lw=1.2, zorder=3
        )


def draw_stump(ax, stump, view):
    """Its threshold, and the label that it predicts on either side."""
    line = ax.axvline if stump.feature == 0 else ax.axhline
    line(stump.threshold, color=INK, lw=1.4)
    for side, label in ((-1, stump.left), (1, stump.right)):
        at = [view[1] - 0.5, view[1] - 0.5]
        at[stump.feature] = stump.threshold + 0.45 * side
        ax.text(*at, "$+$" if label > 0 else "$-$", ha="center", va="center", fontsize=13)


@figure("rounds", claims=("ensemble-38",), panels=(2, 3), size=(2.3, 2.2))
def rounds(*axes):
    """Three rounds of AdaBoost. Above: the samples (circles +, squares -) when a stump is sought;
    the area of a marker is the weight of the sample. The line is the stump, with its two labels.
    The samples that it gets wrong are larger in the next panel. Below: the vote of the stumps so
    far. After three rounds no sample is wrong.
    """
    X, y = toy()
    states, view = toy_rounds(), (0.0, 9.6)
    votes = zip(axes[:3], axes[3:], states[:-1], states[1:], strict=True)
    for t, (above, below, before, state) in enumerate(votes, start=1):
        members = [s.h for s in states[1 : t + 1]]
        alpha = np.array([s.alpha for s in states[1 : t + 1]])

        def vote(Z, members=members, alpha=alpha):
            return weighted_vote(np.column_stack([h.predict(Z) for h in members]), alpha)

        for ax in (above, below):
            ax.set(xlim=view, ylim=view, xticks=[], yticks=[])
        draw_weighted(above, X, y, before.D)
        draw_stump(above, state.h, view)
        above.set_title(f"$\\epsilon_{t} = {state.error:.3f}$, $\\alpha_{t} = {state.alpha:.3f}$")
        draw_regions(below, vote, [1, -1])
        draw_weighted(below, X, y, np.full(len(X), 0.03))
        below.set_title(f"sign $F_{t}$: {np.sum(vote(X) != y)} wrong")


@figure("charges", claims=("ensemble-27",), size=(4.4, 2.7))
def charges(ax):
    """What a sample is charged, against y F. The exponential charge (blue) lies nowhere below the
    count of errors (black, a step), and both are 1 at 0. A sample that is wrong with a large vote
    is charged very much. For comparison the log-loss of chapter 11, divided by ln 2 (dashed),
    which grows only linearly on the left.
    """
    yF = np.linspace(-2, 2, 401)
    ax.plot(yF, np.exp(-yF), color=BLUE, label="$e^{-y F}$")
    ax.plot(yF, np.log2(1 + np.exp(-yF)), "--", color=ORANGE, label="$\\log_2(1 + e^{-y F})$")
    ax.step([-2, 0, 2], [1, 1, 0], where="pre", color=INK, label="1 if wrong")
    ax.set(xlabel="$y F$", ylabel="charge", ylim=(0, 5))
    ax.legend()


def cancer_rounds():
    """The rounds of AdaBoost with stumps, and the training error after each."""
    T = load_breast_cancer()
    y = np.where(T.y == "malignant", 1, -1)
    states = list(islice(adaboost(T.X, y, stumps(T.X, y)), 1, ROUNDS + 1))
    return states, np.array([np.mean(np.where(s.F > 0, 1, -1) != y) for s in states])


@figure("bounds", claims=("ensemble-39",), size=(4.4, 2.9))
def bounds(ax):
    """AdaBoost with stumps on all 569 tumours: the training error and its two bounds. The error
    goes up and down, but stays below the bounds, which fall in every round. A logarithmic axis
    cannot show an error of 0, so there are no dots where the error is 0.
    """
    states, wrong = cancer_rounds()
    product, bound = error_bounds([s.error for s in states])
    t = np.arange(1, ROUNDS + 1)
    ax.plot(t, bound, "--", color=ORANGE, label="$\\exp(-2\\, \\Sigma\\, \\gamma_t^2)$")
    ax.plot(t, product, color=INK, label="$\\Pi\\, Z_t$")
    ax.plot(t, np.where(wrong > 0, wrong, np.nan), "o-", color=BLUE, ms=3.5, label="training error")
    ax.set(xlabel="round $t$", ylabel="error and bounds", yscale="log", xlim=(0, ROUNDS))
    ax.legend()


@cache
def moons_wrong(noise, exchanged):
    """Percent after each of 100 rounds, the mean of 12 sets: wrong of the training labels, of the
    new samples; the weight of the exchanged labels, and how many of them the vote fits.
    """
    percent = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        train, new = (make_moons(size, noise=noise, rng=rng) for size in (200, 2000))
        flipped = rng.random(200) < exchanged
        labels = np.where(flipped, -train.y, train.y)
        F, measured = np.zeros(2000), []
        for state in islice(adaboost(train.X, labels, stumps(train.X, labels)), 1, 101):
            F = F + state.alpha * state.h.predict(new.X)
            fits = state.F * labels > 0
            share = np.sum(fits & flipped) / max(flipped.sum(), 1)
            weight = state.D[flipped].sum()
            measured.append([1 - fits.mean(), np.mean(F * new.y <= 0), weight, share])
        percent.append(measured)
    return 100 * np.mean(percent, axis=0).T


@figure("rounds_too_many", claims=("ensemble-37",), panels=(2, 2), size=(3.2, 2.2))
def rounds_too_many(*axes):
    """Boosted stumps on two half moons, the mean of 12 training sets. Above left: little overlap.
    Above right: much overlap. Below left: exchanged training labels. On the whole the training
    error falls in all three. Dots: the least error on new samples. It comes before round 50.
    Afterwards this error rises slowly above right and below left. Below right: the exchanged
    labels, their share of the weight and the percentage of them that the vote fits.
    """
    for ax, noise, exchanged in zip(axes[:3], (0.2, 0.4, 0.2), (0.0, 0.0, 0.1), strict=True):
        on_train, on_new, weight, fits = moons_wrong(noise, exchanged)
        ax.plot(range(1, 101), on_train, "--", color=GREY, label="training labels")
        ax.plot(range(1, 101), on_new, color=BLUE, label="new samples")
        ax.plot(on_new.argmin() + 1, on_new.min(), "o", color=BLUE, ms=4)
        title = f"noise {noise}, {exchanged:.0%} exchanged"
        ax.set(title=title, xlabel="round $t$", ylabel="% wrong", ylim=(0, 25))
    axes[0].legend()
    axes[3].plot(range(1, 101), weight, color=INK, label="share of the weight")  # of the last
    axes[3].plot(range(1, 101), fits, "--", color=PURPLE, label="fitted by the vote")
    axes[3].set(title="the exchanged labels", xlabel="round $t$", ylabel="%", ylim=(0, 60))
    axes[3].legend()


@cache
def shares_of_votes():
    """200 half moons, and the share of the votes for +1 in the plane: tree, forest, boosting."""
    T, (points, _) = make_moons(200, noise=0.3, rng=np.random.default_rng(4)), plane_of_moons(4)
    X, plus, rng = T.X, to_bits(T.y), np.random.default_rng(0)
    tree = random_forest(X, plus, 1, 2, rng=rng, counts=np.ones((1, 200), dtype=int))
    trees = random_forest(X, plus, 101, 1, rng=rng)
    states = list(islice(adaboost(X, T.y, stumps(X, T.y)), 1, 41))
    alpha = np.array([state.alpha for state in states])
    said = np.column_stack([state.h.predict(points) for state in states])
    grown = [tree_outputs(each, points).mean(axis=1) for each in (tree, trees)]
    return T, [*grown, (said > 0) @ alpha / alpha.sum()]


@figure("moons", claims=(), panels=3, size=(2.8, 2.4))
def moons(*axes):
    """The same 200 half moons, three learners. The shade is the share of the votes, for boosting
    weighted by alpha; the line is where the answer changes. Left: one tree cuts narrow strips for a
    few samples. Middle: in a forest of 101 trees with k = 1 such strips are paler, because only
    some of the trees have them. Right: forty boosted stumps, each a horizontal or vertical cut, add
    up to a bent border.
    """
    T, shares = shares_of_votes()
    points, view = plane_of_moons(4)
    titles = ("one tree", "forest of 101 trees", "40 boosted stumps")
    for ax, share, title in zip(axes, shares, titles, strict=True):
        draw_shares(ax, share, view)
        x1, x2, Z = (each.reshape(120, 172) for each in (*points.T, share))
        ax.contour(x1, x2, Z, levels=[0.5], colors=[INK], linewidths=0.9)
        draw_samples_of(ax, T.X, to_bits(-T.y), 2.5)
        ax.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")


# --- Films -----------------------------------------------------------------------------


def plane_of_moons(fine=1):
    """The points of a grid over two moons, coarse or `fine` times as fine, and the view."""
    x1, x2 = np.linspace(-1.6, 2.6, 43 * fine), np.linspace(-1.2, 1.7, 30 * fine)
    return np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2), (-1.6, 2.6, -1.2, 1.7)


def draw_shares(ax, share, view):
    """The share of the votes for the first class over the grid, orange to blue."""
    fine = round((len(share) / (30 * 43)) ** 0.5)
    pixels = share.reshape(30 * fine, 43 * fine)
    look = {"cmap": VOTES, "vmin": 0, "vmax": 1, "interpolation": "none"}  # its pixels as they are
    ax.imshow(pixels, origin="lower", extent=view, aspect="auto", **look)
    ax.set(xlim=view[:2], ylim=view[2:], xlabel="x₁", ylabel="x₂")


@film("adaboost", adaboost, measure="exponential loss", noise=(0.2, 0.4))
def adaboost_film(noise):
    """AdaBoost with stumps. The size of a sample is its weight: those that the last stump had
    wrong grow. The background is the weighted vote of all stumps so far. Watch how horizontal and
    vertical cuts add up to a curved border.
    """
    T = make_moons(40, noise=noise, rng=np.random.default_rng(4))
    y = T.y
    points, view = plane_of_moons()
    votes = [np.zeros(len(points))]

    def draw(ax, state):
        if state.h is not None:
            votes.append(votes[-1] + state.alpha * state.h.predict(points))
        draw_shares(ax, 0.5 + 0.5 * np.sign(votes[-1]) * (1 - np.exp(-np.abs(votes[-1]))), view)
        for x, label, weight in zip(T.X, y, state.D, strict=True):
            marker, color = ("o", BLUE) if label > 0 else ("s", ORANGE)
            ax.plot(*x, marker, ms=np.sqrt(800 * weight), mfc=color, mec="white", mew=0.5)

    def words(state):
        wrong = np.sum(np.sign(state.F) != y)
        if state.h is None:
            return "All samples have the same weight."
        said = f"The stump has error {state.error:.2f} and vote {state.alpha:.2f}. "
        return said + f"The vote of all is wrong for {counted(wrong, 'sample')}."

    return Take(adaboost(T.X, y, stumps(T.X, y)), draw, words, length=17)


@film("forest", random_forest, measure="training error", k=(1, 2))
def forest_film(k):
    """A forest votes. Each step adds a tree. The shade is the share of the trees that vote for the
    class. One tree has a ragged border with certain votes. Many trees have a smoother one, and near
    the border their votes are divided. k features are drawn for each split.
    """
    T = make_moons(80, noise=0.3, rng=np.random.default_rng(4))
    points, view = plane_of_moons()
    y = to_bits(T.y)
    trees = random_forest(T.X, y, 25, k, rng=np.random.default_rng(0))
    forests = (trees[: m + 1] for m in range(25))

    def draw(ax, forest):
        draw_shares(ax, 1 - tree_outputs(forest, points).mean(axis=1), view)
        draw_samples_of(ax, T.X, y)

    def error(forest):
        return float(np.mean((tree_outputs(forest, T.X).mean(axis=1) > 0.5) != y))

    def words(forest):
        share = tree_outputs(forest, points).mean(axis=1)
        divided = np.mean((share > 0.1) & (share < 0.9))
        said = f"{counted(len(forest), 'tree')}. "
        return said + f"Over {divided:.0%} of the plane the votes are divided."

    return Take(forests, draw, words, error)


def draw_samples_of(ax, X, y, size=4):
    """The samples of two classes 0 and 1, blue and orange."""
    for label, marker, color in ((0, "o", BLUE), (1, "s", ORANGE)):
        ax.plot(*X[y == label].T, marker, ms=size, color=color, mec="white", mew=0.4)


if __name__ == "__main__":
    run_script(__file__)
