"""Lecture figures of the model selection chapter."""

import numpy as np

from mlnotes.datasets import make_curve, make_fish
from mlnotes.decision_theory import squared
from mlnotes.linear_regression import (
    LinearRegression,
    augment,
    powers,
)
from mlnotes.model_selection import (
    KFold,
    StandardScaler,
    cross_validation_error,
    linear_decomposition,
    regularised_least_squares,
    smoother_matrix,
    train_test_split,
    validation_curve,
)
from mlnotes.neighbors import KNeighborsClassifier, KNeighborsRegressor
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    Take,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)

DEGREES = np.arange(13)
NEIGHBORS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48])
SMOOTH = 41  # neighbours of the smooth boundary
N, FOLDS = 20, 5
CURVATURE, NOISE = 2.0, 0.3  # a of the six points; the standard deviation of eps
PENALTIES = (0.001, 0.1, 3.0)


# --- Complexity ------------------------------------------------------------------------


def noisy_sine(n, seed):
    """Samples of a sine."""
    T = make_curve(n, lambda x: np.sin(4 * x), low=-1, sigma=0.4, rng=np.random.default_rng(seed))
    return T.X, T.y


def polynomial(x, degree):
    """The rows (1, x, ..., x^degree)."""
    return augment(powers(x, degree))


def errors_by_degree():
    """Mean squared errors (2, 13) on 25 samples, and on 400 others, of least squares."""
    (X, y), (Z, z) = noisy_sine(25, 3), noisy_sine(400, 4)
    x, new = X[:, 0], Z[:, 0]
    A = [polynomial(x, degree) for degree in DEGREES]
    B = [polynomial(new, degree) for degree in DEGREES]
    training = [np.mean(squared(smoother_matrix(a) @ y, y)) for a in A]
    validation = [np.mean(squared(smoother_matrix(a, b) @ y, z)) for a, b in zip(A, B, strict=True)]
    return np.array([training, validation])


def errors_by_neighbors():
    """Mean squared errors (2, 11) of k-NN regression: training, and cross-validation."""
    X, y = noisy_sine(100, 6)

    def error(model, X, y):
        return np.mean(squared(model.predict(X), y))

    params = {"param_name": "n_neighbors", "param_range": NEIGHBORS.tolist(), "scoring": error}
    cv = KFold(5, shuffle=True, random_state=0)
    return np.mean(validation_curve(KNeighborsRegressor(), X, y, cv=cv, **params), axis=2)


def draw_selection(ax, complexity, errors):
    """Training and validation error, with the minimum of the latter marked."""
    training, validation = errors
    best = validation.argmin()
    ax.plot(complexity, training, "s--", color=BLUE, ms=3.5, lw=1.2, label="training")
    ax.plot(complexity, validation, "o-", color=ORANGE, ms=3.5, lw=1.4, label="validation")
    ax.plot(complexity[best], validation[best], "o", ms=11, mfc="none", mec=INK, mew=1.2,
            label="best")  # fmt: skip
    ax.axvline(complexity[best], color=GREY, lw=0.8, ls=":", zorder=0)
    for place, word in ((0.04, "underfit"), (0.96, "overfit")):
        ax.text(place, 0.94, word, transform=ax.transAxes, color=INK, fontsize=8, va="top",
                ha="left" if place < 0.5 else "right")  # fmt: skip
    ax.set_ylabel("mean squared error")


@figure("three_fits", claims=("model_selection-08",), panels=3, size=(2.8, 2.5))
def three_fits(*axes):
    """Fifteen samples (orange), the truth (grey) and polynomials fitted by least squares. The line
    cannot follow the wave. Degree 5 comes close to the truth. Degree 13 comes close to the samples,
    and pays for it between them, most of all near the ends.
    """
    x, grid = np.linspace(-1, 1, 15), np.linspace(-1, 1, 400)
    y = np.sin(4 * x) + NOISE * np.random.default_rng(1).normal(size=15)
    for ax, degree in zip(axes, (1, 5, 13), strict=True):
        S = smoother_matrix(polynomial(x, degree), polynomial(grid, degree))
        ax.plot(grid, np.sin(4 * grid), color=GREY, lw=3, alpha=0.5)
        ax.plot(grid, S @ y, color=BLUE)
        ax.plot(x, y, "o", ms=4, color=ORANGE)
        ax.set(title=f"degree {degree}", xlabel="x", ylim=(-4.1, 2.5))
        ax.label_outer()
    axes[0].set_ylabel("y")


@figure("curves", claims=("model_selection-14",), panels=2, size=(3.2, 2.4))
def curves(by_degree, by_k):
    """Error against richness; models become richer to the right. Left: polynomials fitted to 25
    samples of a noisy sine. Right: k-NN regression on 100 samples. The training error (dashed)
    falls all the way, to 0 for one neighbour. The validation error is that on samples that the
    model has not seen: left on 400 others, right by 5-fold cross-validation. On the whole it falls
    and then rises. Far to the left both errors are large; right of the minimum (circle) the gap
    between them opens.
    """
    draw_selection(by_degree, DEGREES, errors_by_degree())
    by_degree.set(xlabel="degree of the polynomial", ylim=(0, 1.2), xticks=(0, 3, 6, 9, 12))
    by_degree.legend(loc="upper center", fontsize=8, bbox_to_anchor=(0.5, 0.9))
    draw_selection(by_k, NEIGHBORS, errors_by_neighbors())
    by_k.set_xscale("log")
    by_k.set(xlabel="neighbours $k$ of k-NN", ylim=(0, 0.7), xlim=(60, 0.8))
    by_k.set_xticks((48, 16, 4, 1), ("48", "16", "4", "1"))
    by_k.minorticks_off()


def fish_samples():
    """Length and lightness of 150 fish, and of 2000 others, in the units of the 150."""
    rng = np.random.default_rng(1)
    T, new = make_fish(150, rng=rng), make_fish(2000, rng=rng)
    scaler = StandardScaler().fit(T.X[:, :2])
    return (scaler.transform(T.X[:, :2]), T.y), (scaler.transform(new.X[:, :2]), new.y)


@figure("fish", claims=("model_selection-15",), panels=2, size=(3.2, 2.9))
def fish(wiggly, smooth):
    """150 salmon and sea bass, by length and lightness. Left: the boundary of 1-NN bends around
    single fish. It makes no error on these fish, and many on 2000 new ones (numbers above
    the panels). Right: the boundary of the vote of 41 neighbours is smooth. It gives up some of
    the training fish, and errs less on new ones.
    """
    T, new = fish_samples()
    for ax, k, name in ((wiggly, 1, "1-NN"), (smooth, SMOOTH, f"{SMOOTH}-NN")):
        model = KNeighborsClassifier(k).fit(*T)
        set_view(ax, T[0])
        draw_regions(ax, model.predict, model.classes_)
        draw_samples(ax, *T, size=3.5)
        training, test = (100 * (1 - model.score(*samples)) for samples in (T, new))
        ax.set(title=f"{name}: training {training:.0f} %, new {test:.0f} %")
        ax.set(xlabel="length (standardised)", ylabel="lightness (standardised)")


# --- Bias and variance -----------------------------------------------------------------


@figure("bias_variance", claims=("model_selection-07",), panels=2, size=(3.6, 2.5))
def bias_variance(few, many):
    """Noise, squared bias, variance and their sum, averaged over the samples. The bias falls at odd
    degrees only, because the sine is an odd function and the points lie symmetrically. The sum has
    its minimum at degree 5. With four times as many samples (right) the variance is a quarter, and
    the bias of each degree looks much the same.
    """
    for ax, n in ((few, 15), (many, 60)):
        x = np.linspace(-1, 1, n)
        matrices = [smoother_matrix(polynomial(x, degree)) for degree in DEGREES[:11]]
        found = [linear_decomposition(S, np.sin(4 * x), NOISE) for S in matrices]
        ax.plot([np.mean(f.bias**2) for f in found], "s--", color=BLUE, ms=4, label="bias²")
        ax.plot([f.variance.mean() for f in found], "^-.", color=ORANGE, ms=4, label="variance")
        ax.plot([f.error.mean() for f in found], "o-", color=INK, ms=4, label="error")
        ax.axhline(NOISE**2, color=GREY, ls=":", label="noise")
        ax.set(title=f"n = {n}", xlabel="degree", ylim=(0, 0.6))
    many.legend(fontsize=8)


@figure("between", claims=(), size=(4.6, 2.6))
def between(ax):
    """The variance of the prediction at each x; each step of the scale is a factor of 10. At the 15
    samples (dots) neither curve is above the variance of the noise (dotted line). Between the
    outer ones degree 13 rises, to above 50 in both end gaps.
    """
    x = np.linspace(-1, 1, 15)

    def variance(places, degree):
        S = smoother_matrix(polynomial(x, degree), polynomial(places, degree))
        return NOISE**2 * np.sum(S**2, axis=1)

    fine, coarse = np.linspace(-1, 1, 127), np.linspace(-1, 1, 43)
    ax.plot(fine, variance(fine, 13), color=ORANGE, label="degree 13")
    ax.plot(x, variance(x, 13), "o", ms=3.5, color=ORANGE)
    ax.plot(coarse, variance(coarse, 5), "--", color=BLUE, label="degree 5")
    ax.axhline(NOISE**2, color=GREY, ls=":")
    ax.set_yscale("log")
    ax.set(xlabel="x", ylabel="variance", ylim=(0.01, 100), xticks=(-1, 0, 1))
    ax.set_yticks((0.01, 0.1, 1, 10, 100), ("0.01", "0.1", "1", "10", "100"))
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="upper center")


# --- Parts -----------------------------------------------------------------------------


def three_parts():
    """Indices of N samples to train on, to choose by, and to test on."""
    rest, test = train_test_split(np.arange(N), test_size=0.2, random_state=0)
    train, valid = train_test_split(rest, test_size=0.25, random_state=0)
    return train, valid, test


def box(ax, x, y, width, color, hatch=None):
    """A rectangle of height 0.8 about y."""
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((x, y - 0.4), width, 0.8, fc=color, ec=INK, lw=0.8, hatch=hatch))


@figure("splits", claims=("model_selection-19",), panels=2, size=(3.2, 2.2))
def splits(parts, folds):
    """Two ways to test on unseen samples. Left: 20 samples in three parts, to fit the models, to
    choose between them, and to measure the error of the chosen one, once. Right: 5-fold
    cross-validation. Each row is a model, fitted to the plain parts and tested on the hatched
    one. So every part is tested once.
    """
    start = 0
    looks = (tint(BLUE), None), (tint(ORANGE, 0.5), "//"), (GREY, "xx")
    for index, name, look in zip(three_parts(), ("train", "valid", "test"), looks, strict=True):
        box(parts, start, 0, len(index), *look)
        parts.text(start + len(index) / 2, 0.6, f"{name}\n{len(index)}", ha="center", va="bottom")
        start += len(index)
    parts.set(xlim=(-0.5, N + 0.5), ylim=(-2, 2.2), yticks=(), xlabel="samples, shuffled")
    for k, (_, test) in enumerate(KFold(FOLDS).split(np.arange(N))):
        for part in range(FOLDS):
            tested = test[0] * FOLDS // N == part
            box(folds, part, k, 1, *((tint(ORANGE, 0.6), "//") if tested else (tint(BLUE), None)))
    folds.set(xlim=(-0.1, FOLDS + 0.1), ylim=(FOLDS - 0.4, -0.6), xlabel="part", ylabel="model")
    folds.set_xticks(np.arange(FOLDS) + 0.5, range(1, FOLDS + 1))
    folds.set_yticks(range(FOLDS), range(1, FOLDS + 1))
    for ax in (parts, folds):
        ax.tick_params(length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
    parts.set_xticks(())


@figure("fold_steps", claims=(), panels=3, size=(2.8, 2.4))
def fold_steps(*axes):
    """Cross-validation, step by step. In each panel the line is fitted to the round points only.
    The squares are the part that was left out, and the dotted gaps are its residuals.
    """
    x, y = np.arange(7.0), np.array([1.0, 2.0, 2.0, 4.0, 2.0, 6.0, 5.0])
    rho, A = KFold(3, shuffle=True, random_state=0).folds(x), polynomial(x, 1)
    for j, ax in enumerate(axes):
        part = rho == j
        line = smoother_matrix(A[~part], A) @ y[~part]
        ax.plot(x, line, color=BLUE)
        ax.plot(x[~part], y[~part], "o", color=BLUE)
        ax.plot(x[part], y[part], "s", ms=7, color=ORANGE)
        ax.vlines(x[part], line[part], y[part], color=ORANGE, ls=":")
        ax.set(title=f"part {j + 1}: error {np.mean((y - line)[part] ** 2):.2f}", xlabel="x")
        ax.set_ylim(0.5, 6.5)
    axes[0].set_ylabel("y")


# --- A penalty -------------------------------------------------------------------------


def six_points():
    """Six samples of y = a x^2 + eps, eps ~ N(0, NOISE^2), at even distances over [-1, 1]."""
    rng = np.random.default_rng(11)
    x = np.linspace(-1, 1, 6)
    return x, CURVATURE * x**2 + NOISE * rng.normal(size=6)


@figure("penalty", claims=("model_selection-29",), panels=2, size=(3.4, 2.5))
def penalty(curves, path):
    r"""Six samples of a parabola, and polynomials of degree 6 fitted with a penalty. Left: without
    penalty (black) the curve passes through all samples. It is the one with the shortest weight
    vector; seven weights can fit six points in many ways. The larger $\lambda$, the flatter the
    curve. Right: as $\lambda$ grows, the sum of squares rises and the size of the weights falls.
    """
    x, y = six_points()
    dense = np.linspace(-1.1, 1.1, 221)
    curves.plot(dense, CURVATURE * dense**2, color=GREY, lw=3, alpha=0.5, label="truth")
    looks = zip((0.0, *PENALTIES), (INK, BLUE, GREEN, PURPLE), ("-", "--", "-.", ":"), strict=True)
    for lam, color, dash in looks:
        theta = regularised_least_squares(polynomial(x, 6), y, lam).theta
        curve = polynomial(dense, 6) @ theta
        curves.plot(dense, curve, color=color, ls=dash, lw=1.4, label=rf"$\lambda = {lam:g}$")
    curves.plot(x, y, "o", color=ORANGE, ms=6, zorder=4, label="samples")
    curves.set(xlabel="$x$", ylabel="$y$", xlim=(-1.1, 1.1), ylim=(-0.6, 3.2))
    curves.legend(fontsize=7, ncols=2, loc="upper center")
    grid = np.logspace(-4, 2, 49)
    found = [regularised_least_squares(polynomial(x, 6), y, lam) for lam in grid]
    path.plot(grid, [f.risk for f in found], color=COLORS[1], lw=1.4, label="residual")
    path.plot(grid, [f.penalty for f in found], color=COLORS[0], ls="--", lw=1.4, label="size")
    path.set_xscale("log")
    path.set(xlabel=r"$\lambda$", ylim=(0, None), xticks=(1e-4, 1e-2, 1, 100))
    path.minorticks_off()
    path.legend(
        [r"$\Vert y - A\theta \Vert^2$", r"$\Vert \theta \Vert^2$"], fontsize=8, loc="upper center"
    )


# --- Films -----------------------------------------------------------------------------


@film("degree", cross_validation_error, measure="log₁₀ of the error", n=(40, 20, 100))
def degree_film(n):
    """Polynomials of rising degree are fitted to n samples of a noisy sine (dashed). Each light
    curve is fitted to four of five parts of the samples and tested on the fifth; black is the curve
    of all samples. Low degrees miss the shape. For high degrees the five curves disagree, most of
    all at the ends, and the cross-validation error rises; with more samples it rises later.
    """
    X, y = noisy_sine(n, 3)
    x, dense = X[:, 0], np.linspace(-1, 1, 51)
    rho, line = KFold(FOLDS, shuffle=True, random_state=0).folds(X), LinearRegression()
    states = (
        (degree, cross_validation_error(line, powers(x, degree), y, squared, rho))
        for degree in range(1, 11)
    )

    def curve(rows, degree):
        fitted = LinearRegression().fit(powers(x[rows], degree), y[rows])
        return fitted.predict(powers(dense, degree))

    def draw(ax, state):
        degree, _ = state
        ax.plot(dense, np.sin(4 * dense), "--", color=GREY, lw=1)
        for k in range(FOLDS):
            ax.plot(dense, curve(rho != k, degree), color=tint(BLUE, 0.5), lw=1)
        ax.plot(dense, curve(np.arange(n), degree), color=INK, lw=1.6)
        ax.plot(x, y, "o", color=ORANGE, ms=4, mew=0)
        ax.set(xlim=(-1, 1), ylim=(-2.5, 2.5), xlabel="x", ylabel="y")

    def words(state):
        degree, found = state
        folds = found.fold_errors
        return (
            f"Degree {degree}: the cross-validation error is {found.error:.3g}. "
            f"The parts have errors from {folds.min():.2g} to {folds.max():.2g}."
        )

    return Take(states, draw, words, lambda state: np.log10(state[1].error))


@film("penalty", regularised_least_squares, measure="sum of squares", degree=(6, 3))
def penalty_film(degree):
    """Six samples of a parabola, and a polynomial with the penalty λ on its squared weights. Right:
    the weights, from the constant up to the highest power. As λ falls from 100 to 0.0001 the
    weights grow and the curve comes closer to the samples, at last also to their noise.
    """
    x, y = six_points()
    A, dense = polynomial(x, degree), np.linspace(-1.1, 1.1, 67)
    states = ((lam, regularised_least_squares(A, y, lam)) for lam in np.geomspace(100, 1e-4, 37))

    def draw(ax, state):
        ax.plot(dense, CURVATURE * dense**2, "--", color=GREY, lw=1)
        ax.plot(dense, polynomial(dense, degree) @ state[1].theta, color=BLUE, lw=1.8)
        ax.plot(x, y, "o", color=ORANGE, ms=6)
        ax.plot((1.3, 2.4), (1, 1), color=GREY, lw=0.6)
        for j, weight in enumerate(state[1].theta):
            ax.plot(
                [1.4 + 0.15 * j] * 2, [1, 1 + 0.4 * weight], color=INK, lw=5, solid_capstyle="butt"
            )
        ax.text(1.3, -0.4, "weights", fontsize=9)
        ax.set(xlim=(-1.1, 2.45), ylim=(-0.6, 3.2), xlabel="x", ylabel="y", xticks=(-1, 0, 1))

    def words(state):
        lam, found = state
        return (
            f"λ = {lam:.2g}: the sum of squares is {found.risk:.3f}, "
            f"the squared length of the weights {found.penalty:.2f}."
        )

    return Take(states, draw, words, lambda state: state[1].risk)


if __name__ == "__main__":
    run_script(__file__)
