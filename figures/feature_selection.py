"""Lecture figures of the feature selection chapter."""

import numpy as np
from matplotlib.colors import to_rgb

from mlnotes.datasets import (
    load_digits,
    make_blobs,
)
from mlnotes.decision_theory import zero_one
from mlnotes.discriminant import LinearDiscriminantAnalysis
from mlnotes.feature_selection import (
    SelectKBest,
    best_features,
    correlation_scores,
    forward_selection,
    information_scores,
    number_of_features,
    residual_sum,
)
from mlnotes.linear_regression import (
    LinearRegression,
    lasso_bound,
    lasso_path,
)
from mlnotes.model_selection import cross_validation_error
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Take,
    counted,
    draw_image,
    draw_samples,
    figure,
    film,
    run_script,
)
from mlnotes.probability import normal_cdf

IRRELEVANT = (0, 1, 2, 5, 10, 20, 35, 50)
CENTERS = np.array([[-1.0, -1.0], [1.0, 1.0]])
DRAWS, TRAIN, TEST = 20, 40, 400
KEPT = (1, 2, 5, 10, 20, 50, 100)


def two_classes(n, rng):
    """Normal classes in two dimensions, and the 50 features that have nothing to do with them."""
    T = make_blobs((n // 2, n // 2), CENTERS, rng=rng)
    return np.column_stack([T.X, rng.normal(size=(n, max(IRRELEVANT)))]), T.y


def errors_with_irrelevant():
    """Test errors (200, 8) of 1-NN: a row per draw, a column per number of irrelevant features."""
    rng = np.random.default_rng(0)
    errors = np.empty((200, len(IRRELEVANT)))
    for row in errors:
        (X, y), (Z, z) = two_classes(TRAIN, rng), two_classes(TEST, rng)
        for i, m in enumerate(IRRELEVANT):
            nearest = KNeighborsClassifier(n_neighbors=1).fit(X[:, : 2 + m], y)
            row[i] = np.mean(zero_one(nearest.predict(Z[:, : 2 + m]), z))
    return errors


def errors_of_noise():
    """Cross-validation errors where nothing can be learnt, means over 20 draws: features chosen
    before, in the folds.
    """
    rng, y, model = np.random.default_rng(2), np.arange(60) % 2, KNeighborsClassifier()
    before, inside = np.empty((2, DRAWS, len(KEPT)))
    for i in range(DRAWS):
        X = rng.normal(size=(60, 500))
        for c, k in enumerate(KEPT):
            chosen = SelectKBest(correlation_scores, k=k).fit_transform(X, y)
            parts = np.arange(60) // 12
            before[i, c] = cross_validation_error(model, chosen, y, zero_one, parts).error
        inside[i] = number_of_features(model, X, y, KEPT, score_func=correlation_scores).errors
    return before.mean(axis=0), inside.mean(axis=0)


def threes_and_eights():
    """The digits 3 and 8 as samples of pixels, with the labels 1 and -1."""
    T = load_digits()
    of_two = np.isin(T.y, (3, 8))
    return T.X[of_two].astype(float), np.where(T.y[of_two] == 3, 1, -1)


@figure("irrelevant", claims=("feature_selection-05",))
def irrelevant(ax):
    """Two normal classes in two features, 40 samples to learn from, and further features of pure
    noise. The error of the nearest neighbour on new samples rises with the number of noise
    features (dots: mean of 200 draws; band: the middle half of the draws). Dotted: the least error
    that any rule can have.
    """
    errors = errors_with_irrelevant()
    ax.plot(IRRELEVANT, errors.mean(axis=0), "o-", color=BLUE, ms=4)
    low, high = np.quantile(errors, (0.25, 0.75), axis=0)
    ax.fill_between(IRRELEVANT, low, high, color=BLUE, alpha=0.2, lw=0)
    ax.axhline(normal_cdf(-np.sqrt(2), 0.0, 1.0), color=INK, ls=":", lw=1)
    ax.set(xlabel="irrelevant features", ylabel="test error of 1-NN", ylim=(0, 0.5))


@figure("sensors", claims=(), panels=(2, 6), size=(0.95, 1.0))
def sensors(*axes):
    """Top: the mean of all 3s and of all 8s, and the first two of each in the file. White is ink.
    The clearest difference of the means is on the left, where the 8 closes its two loops. The
    pixels 43 and 52, below, carry their numbers. Bottom: the same through ten sensors, those that
    the filter below keeps (blue: not seen).
    """
    X, y = threes_and_eights()
    of_3, of_8 = X[y > 0], X[y < 0]
    hidden = np.setdiff1d(np.arange(64), best_features(information_scores(X, y), 10))
    shown = (of_3.mean(axis=0), of_8.mean(axis=0), of_3[0], of_3[1], of_8[0], of_8[1])
    titles = ("mean 3", "mean 8", "a 3", "a 3", "an 8", "an 8")
    for whole, ten, x, title in zip(axes[:6], axes[6:], shown, titles, strict=True):
        draw_image(whole, x.reshape(8, 8), vmin=0, vmax=16)
        whole.set_title(title, fontsize=9)
        colors = np.repeat(x[:, None] / 16, 3, axis=1)
        colors[hidden] = to_rgb("#a9bfd6")
        draw_image(ten, colors.reshape(8, 8, 3))
    for j, color in ((43, "white"), (52, INK)):
        axes[0].text(j % 8, j // 8, str(j), color=color, fontsize=7, ha="center", va="center")


@figure("uncertainty", claims=("feature_selection-02",), size=(5.0, 1.7))
def uncertainty(ax):
    """The uncertainty about the label, 3 or 8, as a bar of the length H(y). Each feature cuts the
    bar in two: what the feature tells (blue), and what is left when we know it, H(y | x) (grey).
    Pixel 52 tells nearly nothing, though it has ink in most pictures. Pixel 43 tells about half, a
    copy of the label all. The ink is counted in ten bins.
    """
    X, y = threes_and_eights()
    told = information_scores(np.column_stack([X[:, [52, 43]], y]), y)
    ax.barh(range(3), told, color=BLUE, height=0.6)
    ax.barh(range(3), told[2] - told, left=told, color=GREY, alpha=0.4, height=0.6)
    ax.text(told[1] / 2, 1, "told", color="white", ha="center", va="center")
    for i, left in enumerate((told[0], told[1])):
        ax.text((left + told[2]) / 2, i, "H(y | x)", color=INK, ha="center", va="center")
    ax.text(told[2] / 2, 2, "told: H(y)", color="white", ha="center", va="center")
    ax.set(yticks=range(3), yticklabels=("pixel 52", "pixel 43", "copy of the label"))
    ax.set(ylim=(2.5, -0.5), xlim=(0, 0.72), xlabel="nats")


def score_map(ax, scores, chosen=()):
    """The scores of the 64 pixels, the darker the larger, and rings around the chosen ones."""
    row, column = np.divmod(chosen, 8)
    ax.imshow(scores.reshape(8, 8), cmap="Greys")
    ax.plot(column, row, "o", mfc="none", mec=ORANGE, ms=11)


@figure("maps", claims=("feature_selection-03",), panels=2, size=(2.6, 2.4))
def maps(of_information, of_correlation):
    """The score of each of the 64 pixels, as a map, the darker the larger. Left: mutual
    information, with rings around the ten best. Right: absolute correlation, 0 for a constant
    pixel. Both scores are largest on the left of the rows 2 to 5, where the 8 has much more ink
    than the 3, and smaller on the right of the rows 4 to 6, where the 3 has more. The ring at
    the top, pixel 2, is the tenth, and two others score nearly as much.
    """
    X, y = threes_and_eights()
    scores = information_scores(X, y)
    score_map(of_information, scores, best_features(scores, 10))
    score_map(of_correlation, correlation_scores(X, y))
    for ax, name in ((of_information, "MI"), (of_correlation, "correlation")):
        ax.set(title=name, xticks=(0, 2, 4, 6), yticks=(0, 2, 4, 6))


@figure("found", claims=("feature_selection-04",), size=(2.7, 2.5))
def found(ax):
    """The ten pixels of forward selection (rings), on the map of the mutual information. They are
    spread out, and some have a low score by themselves.
    """
    X, y = threes_and_eights()
    A = np.column_stack([X, np.ones(len(X))])  # with a constant
    search = forward_selection(lambda J: residual_sum(A, y, (*J, 64)), 64)
    J = np.array([next(search) for _ in range(11)][-1].J)
    score_map(ax, information_scores(X, y), J)
    ax.set(xticks=range(8), yticks=range(8))


@figure("leak", claims=("feature_selection-03",))
def leak(ax):
    """Sixty samples with 500 features of pure noise, and labels that depend on none of them: the
    true error of every rule is 0.5. If the best features are chosen from all samples before
    cross-validation (dashed), the estimated error of five nearest neighbours falls below 0.2. If
    they are chosen anew in each fold, from its training part (solid), it stays near 0.5. Both lines
    are means of 20 draws.
    """
    before, inside = errors_of_noise()
    ax.plot(KEPT, before, "s--", color=ORANGE, ms=4, label="chosen before")
    ax.plot(KEPT, inside, "o-", color=BLUE, ms=4, label="chosen in each fold")
    ax.axhline(0.5, color=GREY, lw=0.8)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(KEPT, KEPT)
    ax.set(xlabel="features kept, of 500", ylabel="cross-validation error", ylim=(0, 0.8))
    ax.legend(fontsize=8, loc="upper right")


@figure("teams", claims=("feature_selection-03",), panels=2, size=(2.9, 2.8))
def teams(exclusive, helper):
    """Two features and two classes. The curves at the edges are the densities of each class in one
    feature. Left: XOR. In each feature alone the classes have the same density; the four groups
    show that both together decide. Right: the vertical feature alone says nothing about the class,
    as both densities agree. Yet it helps: at one height (dotted) the classes hardly overlap.
    """
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(200, 2))
    y = np.where(bits[:, 0] ^ bits[:, 1], 1, -1)
    along, across = np.linspace(-3.2, 3.2, 200), np.linspace(-3.2, 3.2, 200)

    def bump(t, mean, s):
        return np.exp(-(((t - mean) / s) ** 2) / 2) / s

    def edges(ax, left, below):
        for c, (one, other), style in ((1, left, "-"), (-1, below, "--")):
            color = BLUE if c == 1 else ORANGE
            ax.plot(along, -4.6 + 0.7 * one(along), style, color=color, lw=1.4)
            ax.plot(-4.6 + 0.7 * other(across), across, style, color=color, lw=1.4)

    def two(t):
        return bump(t, -1.5, 0.5) / 2 + bump(t, 1.5, 0.5) / 2

    draw_samples(exclusive, 3 * bits - 1.5 + 0.5 * rng.normal(size=(200, 2)), y, size=3.5)
    edges(exclusive, (two, two), (two, two))
    u, z = rng.normal(size=200), np.repeat([1, -1], 100)
    draw_samples(
        helper, np.column_stack([0.6 * z + 0.2 * rng.normal(size=200) + u, u]), z, size=3.5
    )
    s = np.sqrt(1.04)

    def unit(t):
        return bump(t, 0, 1)

    edges(helper, (lambda t: bump(t, 0.6, s), unit), (lambda t: bump(t, -0.6, s), unit))
    helper.plot((-3.2, 3.2), (0.5, 0.5), ":", color=INK, lw=1)
    for ax, title in ((exclusive, "XOR"), (helper, "a useless feature that helps")):
        ax.set(xlim=(-4.8, 3.4), ylim=(-4.8, 3.4), xticks=[], yticks=[], title=title)
        ax.set(xlabel="$x_0$", ylabel="$x_1$")
        ax.set_aspect("equal")


@figure("gain", claims=("feature_selection-04",), panels=2, size=(2.9, 1.9))
def gain(much, little):
    """The residual r of the target and the residual z of a further feature, what is new in it. The
    gain is the squared length of the thick arrow, the projection of r on z. Left: z is at a
    small angle to r, and the gain is large. Right: z is as long, so as much is new, but nearly at a
    right angle to r, and the gain is small.
    """
    z = np.array([2.6, 0.0])
    for ax, degrees in ((much, 30), (little, 78)):
        phi = np.radians(degrees)
        r = 2 * np.array([np.cos(phi), np.sin(phi)])
        for v, color, width in ((z, GREY, 1.4), ((r[0], 0), ORANGE, 4), (r, BLUE, 1.6)):
            ax.annotate("", v, (0, 0),
                        arrowprops={"arrowstyle": "-|>", "color": color, "lw": width,
                                    "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        ax.plot((r[0], r[0]), (0, r[1]), ":", color=INK, lw=1)
        arc = np.linspace(0, phi, 40)
        ax.plot(0.6 * np.cos(arc), 0.6 * np.sin(arc), color=INK, lw=0.8)
        ax.text(
            0.8 * np.cos(phi / 2), 0.8 * np.sin(phi / 2), r"$\varphi$", ha="center", va="center"
        )
        ax.text(r[0] - 0.12, r[1] + 0.02, "$r$", color=BLUE, ha="right")
        ax.text(z[0] - 0.05, 0.12, "$z$", color=INK, ha="center")
        ax.text(r[0] / 2, -0.34, "$t z$", color=ORANGE, ha="center")
        ax.set(xlim=(-0.3, 2.8), ylim=(-0.5, 2.2))
        ax.set_aspect("equal")
        ax.set_axis_off()


@figure("missed_pair", claims=("feature_selection-04",), panels=2, size=(2.9, 2.4))
def missed_pair(above, beside):
    """Three features and a target as vectors in space. Each is drawn in a coordinate plane in which
    it lies, and y in both planes. Left: the plane of the first two coordinates. The target y is
    half the sum of x1 and x2, but each of the two points far away from it. Right: the plane of the
    first and the third coordinate. The vector x0 points out of the plane on the left, and yet its
    angle with y is the smallest. Forward selection takes x0 first.
    """
    x0, x1, x2, y = np.array([[2, 0, 1], [1, 2, 0], [1, -2, 0], [1, 0, 0]])
    for ax, axis, shown in (
        (above, 1, ((x1, "$x_1$", BLUE), (x2, "$x_2$", BLUE), (y, "$y$", ORANGE))),
        (beside, 2, ((x0, "$x_0$", BLUE), (y, "$y$", ORANGE))),
    ):
        for v, name, color in shown:
            ax.annotate("", (v[0], v[axis]), (0, 0),
                        arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.6,
                                    "shrinkA": 0, "shrinkB": 0})  # fmt: skip
            ax.text(
                v[0] + 0.12, v[axis] + (0.3 if name == "$y$" else 0), name, va="center", color=color
            )
        ax.axhline(0, color=GREY, lw=0.6, zorder=0)
        ax.axvline(0, color=GREY, lw=0.6, zorder=0)
        ax.set(xlim=(-0.6, 2.8), ylim=(-2.4, 2.4), xlabel="coordinate 1", xticks=(0, 1, 2))
        ax.set(ylabel=f"coordinate {axis + 1}", yticks=(-2, 0, 2))
        ax.set_aspect("equal")


def with_noise(n, rng):
    """n samples of two classes: two features that tell the class, and 200 that do not."""
    side = np.arange(n) % 2 * 2 - 1
    useful = side[:, None] + rng.normal(size=(n, 2))
    return np.column_stack([useful, rng.normal(size=(n, 200))]), side


@figure("path", claims=("feature_selection-04",), size=(3.6, 2.3))
def path(ax):
    """The weights of the LASSO for one draw of 40 samples, as the charge C falls from its bound to
    a tenth of it. The two features that tell the class (blue) get weights first, and unequal ones.
    The 200 others (grey) stay at 0 while C is above a quarter of the bound. Then some join.
    """
    A, side = with_noise(40, np.random.default_rng(0))
    parts = np.linspace(1, 0.1, 19)
    W = lasso_path(A, side, parts * lasso_bound(A, side), tol=1e-6).round(4)
    for w in W.T[2:]:
        if np.any(w):
            i = np.flatnonzero(w)[0]
            ax.plot(parts[i - 1 :], w[i - 1 :], color=GREY, lw=0.7)
    for w, style in zip(W.T, ("-", "--"), strict=False):
        ax.plot(parts, w, style, color=BLUE)
    ax.axhline(0, color=GREY, lw=0.7)
    ax.set(xlim=(1, 0.1), xticks=(1, 0.6, 0.4, 0.2))
    ax.set(xlabel="part of the bound", ylabel="weight", yticks=(0, 0.1, 0.2, 0.3))


@figure("number", claims=("feature_selection-05",), size=(3.8, 2.5))
def number(ax):
    """The test error against the number of features kept, of 202, where two tell the class. Line:
    the filter, then LDA. Squares: the LASSO with 0.6, 0.4 and 0.2 of the bound, from left to right.
    Open squares: LDA on the features that the LASSO keeps. All are means of 20 draws. Dotted: the
    least error that any rule can have.
    """
    sizes, parts = (1, 2, 3, 5, 10, 20, 50, 202), np.array([0.2, 0.4, 0.6])
    model, errors, kept = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.9), [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        (A, side), (B, truth) = with_noise(TRAIN, rng), with_noise(TEST, rng)
        W = lasso_path(A, side, parts * lasso_bound(A, side), tol=1e-4)
        ranked = best_features(correlation_scores(A, side), 202)
        sets = [ranked[:k] for k in sizes] + [np.flatnonzero(w) for w in W]
        guesses = [model.fit(A[:, J], side).predict(B[:, J]) for J in sets]
        guesses += [np.sign((B - A.mean(axis=0)) @ w) for w in W]
        errors.append([np.mean(zero_one(guess, truth)) for guess in guesses])
        kept.append(np.count_nonzero(W, axis=1))
    by_filter, again, by_lasso = np.split(100 * np.mean(errors, axis=0), [8, 11])
    ax.semilogx(sizes, by_filter, "o-", color=BLUE, ms=4)
    ax.plot(np.mean(kept, axis=0), by_lasso, "s", color=ORANGE, ms=5)
    ax.plot(np.mean(kept, axis=0), again, "s", color=ORANGE, mfc="none", ms=5)
    ax.axhline(100 * normal_cdf(-np.sqrt(2), 0.0, 1.0), color=INK, ls=":", lw=1)
    ax.minorticks_off()
    ax.set_xticks(sizes, sizes)
    ax.set(xlabel="features kept", ylabel="error in %", ylim=(0, 25), yticks=(0, 5, 10, 20))


# --- Films -----------------------------------------------------------------------------


@film("pixels", forward_selection, measure="residual sum of squares", digits=("3, 8", "1, 7"))
def pixels_film(digits):
    """Forward selection of pixels for telling two digits apart by least squares. The image is the
    mean of the second digit minus that of the first: dark pixels have more ink in the second. The
    candidates are the 30 darkest or lightest pixels, and the numbers show the order in which they
    are chosen: not by their difference alone, but by what they add to the pixels chosen before.
    Watch how early the residual sum of squares, and the errors on other digits, stop falling much.
    """
    T, pair = load_digits(), [int(each) for each in digits.split(", ")]
    rows = np.isin(T.y, pair)
    X, y = T.X[rows] / 16, np.where(T.y[rows] == pair[1], 1.0, -1.0)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    image = (X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)).reshape(8, 8)
    pixels = best_features(np.abs(image).ravel(), 30)
    A = np.column_stack([X[train][:, pixels], np.ones(len(train))])

    def left(J):
        return residual_sum(A, y[train], (*J, 30))  # with a constant

    def draw(ax, step):
        draw_image(ax, image, cmap="Greys", vmin=-1.2, vmax=1.2)
        for order, j in enumerate(pixels[list(step.J)] if step.J else (), start=1):
            i, k = divmod(j, 8)
            ax.fill(k + 0.5 * np.array([-1, 1, 1, -1]), i + 0.5 * np.array([-1, -1, 1, 1]),
                    fc="none", ec=ORANGE, lw=1.6)  # fmt: skip
            ax.text(k, i, str(order), ha="center", va="center", fontsize=8, color=INK)
        ax.set(xlim=(-0.6, 7.6), ylim=(7.6, -0.6))

    def words(step):
        if not step.J:
            return "No pixel is chosen yet."
        J = pixels[list(step.J)]
        fitted = LinearRegression().fit(X[train][:, J], y[train])
        wrong = np.count_nonzero(fitted.predict(X[test][:, J]) * y[test] <= 0)
        return (
            f"{counted(len(J), 'pixel')}, after {step.fits} fits. "
            f"{wrong} of {len(test)} other digits are on the wrong side."
        )

    return Take(forward_selection(left, 30), draw, words, lambda step: left(step.J))


if __name__ == "__main__":
    run_script(__file__)
