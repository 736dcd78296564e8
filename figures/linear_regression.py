"""Lecture figures of the linear regression chapter."""

from itertools import islice

import numpy as np

from mlnotes.clustering import KMeans
from mlnotes.datasets import load_wine, make_blobs, make_linear
from mlnotes.linear_regression import (
    LinearRegression,
    augment,
    coordinate_descent,
    lasso_bound,
    lasso_objective,
    lasso_path,
    least_squares_cost,
    least_squares_gradient,
    least_squares_hessian,
    lms,
    powers,
    predict,
    qr_solution,
    ridge_path,
    soft_threshold,
)
from mlnotes.optimization import gradient_descent
from mlnotes.plotting import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    Take,
    draw_ellipse,
    draw_line,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
)

METHODS = {  # ISML's map of methods: where the package has each of them, or will
    "clustering": {"k-means": "clustering.KMeans"},
    "classification": {
        "decision tree": "trees.DecisionTreeClassifier",
        "LDA": "discriminant.LinearDiscriminantAnalysis",
        "neural network": "neural_networks.MLPClassifier",
        "SVM": "svm.SVC",
        "boosting": "ensemble.AdaBoostClassifier",
    },
    "regression": {
        "linear regression": "linear_regression.LinearRegression",
        "SVR": "svr.SVR",
    },
}


# --- What regression is ----------------------------------------------------------------


def two_groups():
    """Two elongated groups of 25 samples in the plane, whose labels are -1 and +1."""
    stretched = [[0.9, 0.35], [0.35, 0.45]]
    return make_blobs(
        [25, 25],
        [[-1.6, -0.9], [1.6, 0.9]],
        [stretched, stretched],
        rng=np.random.default_rng(10),
    )


@figure("overview", claims=("linear_regression-33",), panels=3, size=(2.5, 2.55))
def three_tasks(left, middle, right):
    """The same fifty samples and three questions. Clustering: which samples belong together? There
    are no labels, and k-means finds two groups with their centers (+). Classification: the labels
    are known, and a line separates them. Regression: the horizontal coordinate is given, and the
    line predicts the vertical one. Below each panel stand methods of this book, most of them from
    later chapters.
    """
    T = two_groups()
    signs = 2.0 * T.y - 1
    groups = KMeans(n_clusters=2, n_init=10, random_state=0).fit(T.X)
    first = groups.labels_ == groups.labels_[0]
    draw_samples(left, T.X, np.where(first, -1, 1), size=4)
    left.plot(*np.sort(groups.cluster_centers_, axis=0).T, "+", color=INK, ms=11, mew=1.6)
    draw_samples(middle, T.X, signs, size=4)
    theta = qr_solution(augment(T.X), signs)
    draw_line(middle, theta[1:], theta[0], color=INK, lw=1.6)
    x, y = T.X[:, :1], T.X[:, 1]
    draw_samples(right, T.X)
    right.axline((0, LinearRegression().fit(x, y).intercept_), slope=slope_of(x, y), color=INK)
    for ax, (task, methods) in zip((left, middle, right), METHODS.items(), strict=True):
        set_view(ax, T.X)
        ax.set(title=task.capitalize(), xticks=(), yticks=())
        ax.set_xlabel(listed(methods), fontsize=9, linespacing=1.5)


def listed(names):
    """The names, two to a line."""
    names = [*names]
    return ",\n".join(", ".join(names[k : k + 2]) for k in range(0, len(names), 2))


def slope_of(x, y):
    """The slope of the least-squares line through samples of one feature."""
    return LinearRegression().fit(x, y).coef_[0]


def few_samples():
    """Twelve samples of a line with noise: x, y."""
    T = make_linear(12, [0.8], b=1.0, sigma=0.6, rng=np.random.default_rng(3))
    return T.X, T.y


@figure("residuals", claims=("linear_regression-34",), panels=2)
def residuals_and_the_bowl(left, right):
    """Left: twelve samples, the line with the least cost, and its errors, which are vertical. The
    line passes through the mean of the samples (cross). Right: every line is a point (b, w). On an
    ellipse all lines have the same cost. Gradient descent (dots) goes down the steep side first,
    and then more slowly in the other direction towards the minimum (cross).
    """
    X, y = few_samples()
    theta = qr_solution(augment(X), y)
    left.axline((0, theta[0]), slope=theta[1], color=BLUE, lw=1.6)
    left.vlines(X[:, 0], y, predict(X, theta), color=ORANGE, lw=1.4)
    left.plot(X[:, 0], y, "o", color=INK, ms=4)
    left.plot(X.mean(), y.mean(), "P", color="white", mec=INK, ms=7.5, mew=1.1)
    error = 2 * least_squares_cost(augment(X), y, theta)
    left.set(title=f"sum of squares {error:.2f}", xlabel="$x$", ylabel="$y$")
    bowl(right, augment(X), y, theta)


def draw_levels(ax, A, y, best, levels):
    """The theta of costs J(best) + 1/2 ||A (theta - best)||^2 = level: ellipses around the best."""
    for level in levels:
        radius = np.sqrt(2 * (level - least_squares_cost(A, y, best)))
        draw_ellipse(ax, best, np.linalg.inv(A.T @ A), radius, color=GREY, lw=0.8)


def bowl(ax, A, y, theta):
    """Contours of the sum of squares over (b, w), and the path of gradient descent."""
    states = gradient_descent(
        lambda theta: least_squares_cost(A, y, theta),
        lambda theta: least_squares_gradient(A, y, theta),
        theta + [-1.7, -1.5],
        eta=1 / np.linalg.norm(least_squares_hessian(A), ord=2),
    )
    steps = np.array([state.x for state in islice(states, 12)])
    ax.set(xlim=theta[0] + [-2, 2], ylim=theta[1] + [-2, 2], xlabel="$b$", ylabel="$w$")

    levels = least_squares_cost(A, y, theta) * np.array([1.5, 3, 6, 12, 24])
    draw_levels(ax, A, y, theta, levels)
    ax.plot(*steps.T, "o-", color=BLUE, ms=3.5, lw=1)
    ax.plot(*theta, "P", color="white", mec=INK, ms=7.5, mew=1.1)


THREE_X = np.array([-1.0, 0.0, 1.0])
THREE_Y = np.array([1.0, 3.5, 2.0])


def seen(points):
    """Points of R^3 as one sees them from above the plane spanned by (1, 1, 1) and THREE_X."""
    along = np.array([np.ones(3) / np.sqrt(3), THREE_X / np.sqrt(2), [1.0, -2.0, 1.0] / np.sqrt(6)])
    p, q, up = along @ np.asarray(points, dtype=float).T  # coordinates in the plane, and above it
    turn, tilt = np.radians(35), np.radians(28)  # the view
    across, away = np.cos(turn) * p + np.sin(turn) * q, np.cos(turn) * q - np.sin(turn) * p
    return np.stack([across, np.sin(tilt) * away - np.cos(tilt) * up], axis=-1)


@figure("projection", claims=("linear_regression-06",), panels=2)
def projection(left, right):
    """The same fit seen in two ways. Left: three samples and their line; the errors are vertical.
    Right: all three targets are one point y of three-dimensional space. The predictions of all
    lines form the plane (blue) through 0 that is spanned by the two columns of A. The best
    prediction is the point of the plane that is nearest to y, so the error (orange) stands
    perpendicular on the plane.
    """
    A = augment(THREE_X[:, None])
    theta = qr_solution(A, THREE_Y)
    fitted = A @ theta
    left.axline((0, theta[0]), slope=theta[1], color=BLUE, lw=1.6)
    left.vlines(THREE_X, THREE_Y, fitted, color=ORANGE, lw=1.6)
    left.plot(THREE_X, THREE_Y, "o", color=INK, ms=5)
    left.set(xlim=(-1.4, 1.4), ylim=(0, 4), xlabel="$x$", ylabel="$y$", xticks=(-1, 0, 1))

    corners_of_plane = [[-0.5, -2.0], [3.4, -2.0], [3.4, 2.0], [-0.5, 2.0]]
    right.fill(*seen(corners_of_plane @ A.T).T, facecolor="#dbe5f0", edgecolor=BLUE, lw=0.8)
    origin, y, foot = seen([0, 0, 0]), seen(THREE_Y), seen(fitted)
    for end, name, shift in ((A[:, 0], "$(1, 1, 1)$", (0.1, -0.5)), (A[:, 1], "$x$", (0, 0.2))):
        right.annotate("", seen(end), origin, arrowprops={"arrowstyle": "->", "color": INK})
        right.text(*(seen(end) + shift), name, fontsize=9, color=INK)
    right.plot(*np.array([foot, y]).T, "-", color=ORANGE, lw=1.8)
    right.plot(*np.array([origin, foot]).T, "--", color=BLUE, lw=1.2)
    up, side = 0.2 * (THREE_Y - fitted) / np.linalg.norm(THREE_Y - fitted), 0.1 * fitted
    angle = seen([fitted + up, fitted + up - side, fitted - side])
    right.plot(*angle.T, "-", color=INK, lw=0.8)
    right.plot(*y, "o", color=INK, ms=5)
    right.plot(*foot, "o", color=BLUE, ms=5)
    right.plot(*origin, "o", color=INK, ms=3)
    right.text(*(y + [0.22, -0.05]), "$y$", fontsize=10)
    right.text(*(foot + [0.2, -0.45]), r"$A\hat\theta$", fontsize=10, color=BLUE)
    right.text(*(origin + [-0.3, -0.1]), "0", fontsize=9)
    right.set(aspect="equal", xticks=(), yticks=())
    right.axis("off")


def wine(*names):
    """The named features of 178 wines, their alcohol, and their cultivars."""
    T = load_wine()
    columns = [list(T.feature_names).index(name) for name in ("alcohol", *names)]
    return T.X[:, columns[1:]], T.X[:, columns[0]], T.y


def standardised(X):
    """Every column less its mean, divided by its standard deviation."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


@figure("residual_plot", claims=(), panels=2, size=(3.8, 2.8))
def residual_plot(left, right):
    """The residuals of 178 wines from the plane over colour and proline. Left: against its
    predictions of the alcohol, with the least-squares line of each cultivar. Taken together the
    residuals have no slope. Taken apart, those of each cultivar fall from left to right. Right:
    against the colour. The means of its four quarters (black bars) are an arch.
    """
    X, y, cultivars = wine("color_intensity", "proline")
    colour, fitted = X[:, 0], LinearRegression().fit(X, y).predict(X)
    residuals = y - fitted
    for cultivar, mark, color in zip((1, 2, 3), "o^s", (BLUE, ORANGE, GREEN), strict=True):
        here = cultivars == cultivar
        x, r = fitted[here], residuals[here]
        left.plot(x, r, mark, color=color, ms=3.5)
        ends = np.array([[x.min()], [x.max()]])
        left.plot(ends, LinearRegression().fit(x[:, None], r).predict(ends), color=color, lw=1.6)
        right.plot(colour[here], r, mark, color=color, ms=3.5, label=f"cultivar {cultivar}")
    edges = np.quantile(colour, [0, 0.25, 0.5, 0.75, 1])
    quarter = np.searchsorted(edges[1:4], colour)
    means = [residuals[quarter == k].mean() for k in range(4)]
    right.hlines(means, edges[:4], edges[1:], color=INK, lw=2.5, zorder=4)
    for ax, label in ((left, "predicted alcohol (%)"), (right, "colour intensity")):
        ax.axhline(0, color=GREY, lw=0.8)
        ax.set(xlabel=label, ylabel="residual")
    right.legend(fontsize=8, loc="upper right")


@figure("leverage", claims=(), panels=2)
def leverage(left, right):
    """Twelve samples and their line (dashed). One target is raised by 3 (orange), and the line is
    fitted again (blue). The orange segment is what the line rises by at this sample: 3 times its
    leverage h. Left: the sample nearest to the mean. Right: the one farthest from it pulls the line
    to itself much more.
    """
    X, y = few_samples()
    A, x = augment(X), X[:, 0]
    H = A @ np.linalg.inv(A.T @ A) @ A.T
    before, distance = qr_solution(A, y), np.abs(x - x.mean())
    for ax, i in ((left, distance.argmin()), (right, distance.argmax())):
        raised = y + 3 * (np.arange(12) == i)
        after = qr_solution(A, raised)
        ax.axline((0, before[0]), slope=before[1], color=GREY, lw=1.4, ls="--")
        ax.axline((0, after[0]), slope=after[1], color=BLUE, lw=1.6)
        ax.plot(x, y, "o", color=INK, ms=4, zorder=4)
        ax.plot(x[i], raised[i], "o", color=ORANGE, ms=6)
        ax.annotate(
            "",
            (x[i], raised[i] - 0.15),
            (x[i], y[i] + 0.15),
            arrowprops={"arrowstyle": "->", "color": ORANGE},
        )
        ax.vlines(x[i], A[i] @ before, A[i] @ after, color=ORANGE, lw=3)
        ax.set(title=f"h = {H[i, i]:.2f}: the line rises by {A[i] @ (after - before):.2f}")
        ax.set(xlim=(-4, 5), ylim=(-3, 9), xlabel="$x$", ylabel="$y$")


@figure("band", claims=(), size=(4.6, 2.7))
def band(ax):
    """Twelve samples, their least-squares line, and two standard deviations to either side of it.
    Dark: of the line alone. Light: of the error at a new sample. Both bands are narrowest at the
    mean of the samples (cross) and widen away from it.
    """
    X, y = few_samples()
    A, x = augment(X), np.linspace(-5, 6, 221)
    theta, rows = qr_solution(A, y), augment(x[:, None])
    sigma = np.sqrt(2 * least_squares_cost(A, y, theta) / (len(y) - 2))
    quadratic = np.sum(rows @ np.linalg.inv(A.T @ A) * rows, axis=1)
    for own, color in ((1, "#dbe5f0"), (0, "#a9c1da")):
        width = 2 * sigma * np.sqrt(own + quadratic)
        ax.fill_between(x, rows @ theta - width, rows @ theta + width, color=color, lw=0)
    ax.plot(x, rows @ theta, color=BLUE, lw=1.6)
    ax.plot(X[:, 0], y, "o", color=INK, ms=3.5)
    ax.plot(X.mean(), y.mean(), "P", color="white", mec=INK, ms=7.5, mew=1.1)
    ax.set(xlim=(-5, 6), xlabel="$x$", ylabel="$y$")


# --- Ridge and LASSO -------------------------------------------------------------------


def two_weights():
    """Twenty centred samples of two correlated features, and targets that need mostly the first."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2)) @ [[1.0, 0.35], [0.0, 0.8]]
    y = X @ [1.6, 0.5] + 0.5 * rng.normal(size=20)
    return X - X.mean(axis=0), y - y.mean()


def sine_draws():
    """Twelve points, and the targets of a sine with 30 draws of the noise."""
    x = np.linspace(0, 1, 12)
    noise = [np.random.default_rng(seed).normal(size=12) for seed in range(30)]
    return x, np.sin(2 * np.pi * x) + 0.3 * np.array(noise)


@figure("polynomials", claims=(), panels=3, size=(2.9, 2.6))
def polynomials(left, middle, right):
    """Polynomials of degree 9 for 30 draws of the noise (blue), and the sine (dashed). Left:
    without a penalty the curves swing widely, most of all near the ends. Middle: with a small
    penalty they stay together. Right: their mean squared distance from the sine (black) against
    the penalty. It is the sum of the variance (blue, dashed) and the squared bias (orange, dotted).
    With too small a penalty the curves follow the noise; with too large a one they cannot bend.
    """
    x, targets = sine_draws()
    ends = (1 - np.cos(np.linspace(0, np.pi, 61))) / 2  # dense near the ends
    grid = np.append(ends, np.linspace(0, 1, 200))
    X, sine = powers(x, 9), np.sin(2 * np.pi * grid)
    lam = np.array([0, 1e-4, *np.geomspace(1e-14, 1, 43)])
    W = np.array([ridge_path(X, y, lam) for y in targets])  # draws, lambdas, weights
    curves = targets.mean(axis=1)[:, None, None] + W @ (powers(grid, 9) - X.mean(axis=0)).T
    for k, ax, name in ((0, left, "0"), (1, middle, "0.0001")):
        ax.plot(ends, curves[:, k, :61].T, color=BLUE, lw=0.5)
        ax.plot(ends, sine[:61], "--", color=ORANGE, lw=2)
        ax.set(title=rf"$\lambda$ = {name}", xlabel="$x$", ylabel="$y$", ylim=(-2.2, 2.2))
        ax.set(xticks=(0, 0.5, 1), yticks=(-2, 0, 2))
    curves, sine, lam = curves[:, 2:, 61:], sine[61:], lam[2:]
    bias = np.mean((curves.mean(axis=0) - sine) ** 2, axis=1)
    variance = curves.var(axis=0).mean(axis=1)
    right.semilogx(lam, bias + variance, color=INK, lw=2, label="sum")
    right.semilogx(lam, variance, "--", color=BLUE, label="variance")
    right.semilogx(lam, bias, ":", color=ORANGE, lw=2, label="squared bias")
    right.axvline(1e-4, color=GREY, lw=0.8)
    right.set(title="distance from the sine", xlabel=r"$\lambda$", xticks=(1e-12, 1e-8, 1e-4, 1))
    right.minorticks_off()
    right.set(ylim=(0, 0.26), yticks=(0, 0.1, 0.2))
    right.legend(fontsize=8, loc="upper center")


@figure("corners", claims=(), panels=2)
def corners(left, right):
    """The sum of squares (contours) over the two weights, and the region that a budget for the
    penalty allows (blue). The minimum (cross) is outside; the solution (dot) is where the lowest
    contour that reaches the region touches it. The diamond of LASSO is touched at a corner, where
    the second weight is 0. At an edge the contour must have exactly the slope of the edge; at a
    corner a whole range of slopes will do. The disc of ridge has no corners, and both weights stay.
    """
    X, y = two_weights()
    best = qr_solution(X, y)
    by_lasso = lasso_path(X, y, [0.62 * lasso_bound(X, y)])[0]
    by_ridge = ridge_path(X, y, [14.0])[0]
    turn = np.linspace(0, 2 * np.pi, 201)
    disc = np.linalg.norm(by_ridge) * np.column_stack([np.cos(turn), np.sin(turn)])
    diamond = np.abs(by_lasso).sum() * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    for ax, w, allowed, name in (
        (left, by_lasso, diamond, r"LASSO, $\Vert w \Vert_1 \leq$ budget"),
        (right, by_ridge, disc, r"ridge, $\Vert w \Vert_2 \leq$ budget"),
    ):
        ax.set(xlim=(-1.1, 2.3), ylim=(-1.1, 1.5), aspect="equal", title=name)
        ax.set(xlabel="$w_1$", ylabel="$w_2$", xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1))
        lowest, touching = least_squares_cost(X, y, best), least_squares_cost(X, y, w)
        levels = lowest + (touching - lowest) * np.array([0.2, 0.55, 1, 1.6])
        draw_levels(ax, X, y, best, levels)
        ax.fill(*allowed.T, facecolor="#dbe5f0", edgecolor=BLUE, lw=1.2)
        ax.plot(*best, "P", color="white", mec=INK, ms=7.5, mew=1.1)
        ax.plot(*w, "o", color=INK, ms=6)


@figure("kink", claims=(), panels=3, size=(2.8, 2.2))
def kink(left, middle, right):
    r"""Left and middle: the LASSO objective F for a single weight, that of the colour of the wines,
    for two values of C, and its minimum (dot). F has a kink at 0, and at C = 200 the minimum sits
    there. Right: the best weight as a function of $\rho_j$, for a column of length 1. Ridge with
    lambda = 1 halves every weight. The LASSO with C = 1 takes 1/2 from each, and sets those
    up to 1/2 to 0.
    """
    X, y, _ = wine("color_intensity")
    x, w = standardised(X)[:, 0], np.linspace(-0.3, 0.9, 49)
    for ax, C in ((left, 80.0), (middle, 200.0)):
        best = lasso_path(x[:, None], y, [C])[0, 0]
        heights = [objective_of_one(x, y - y.mean(), each, C) for each in w]
        ax.plot(w, heights, color=BLUE, lw=1.6)
        ax.plot(best, objective_of_one(x, y - y.mean(), best, C), "o", color=ORANGE)
        ax.set(title=f"C = {C:.0f}", xlabel="$w_j$", ylabel="$F$", xticks=(0, 0.5), yticks=())
    rho = np.array([-2, -0.5, 0.5, 2])
    right.plot(rho, rho, ":", color=GREY, lw=1.8)
    right.plot(rho, rho / 2, "--", color=INK, lw=1.4)
    right.plot(rho, soft_threshold(rho, 0.5), color=BLUE, lw=1.6)
    for height, name in ((2, "least squares"), (1.5, "LASSO"), (1, "ridge")):
        right.text(2.1, height, name, fontsize=9, va="center")
    right.set(xlabel=r"$\rho_j$", ylabel="best $w_j$", xlim=(-2.1, 4.2), ylim=(-2.2, 2.2))
    right.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    right.axhline(0, color=GREY, lw=0.5)


def objective_of_one(x, y, w, C):
    """The LASSO objective for one feature."""
    return lasso_objective(x[:, None], y, np.array([0.0, w]), C)


@figure("staircase", claims=(), panels=2)
def staircase(left, right):
    """The LASSO objective over the weights of colour and hue (contours), and the steps of
    coordinate descent from 0, along one axis at a time. Left: a staircase to the minimum. Right:
    with a larger C the weight of the hue stays at 0, and one step is enough.
    """
    X, y, _ = wine("color_intensity", "hue")
    X, y = standardised(X), y - y.mean()
    first, second = np.meshgrid(np.linspace(-0.1, 0.7, 81), np.linspace(-0.15, 0.35, 81))
    fits = np.stack([first, second], axis=-1) @ X.T
    for ax, C in ((left, 16.0), (right, 48.0)):
        way = np.array([state.w for state in islice(coordinate_descent(X, y, C), 5)])
        F = np.sum((y - fits) ** 2, axis=-1) + C * (np.abs(first) + np.abs(second))
        levels = F.min() + np.ptp(F) * np.array([0.01, 0.03, 0.06, 0.1, 0.16, 0.24, 0.34, 0.5])
        ax.contour(first, second, F, levels=levels, colors=GREY, linewidths=0.7)
        steps = np.repeat(way, 2, axis=0)  # each state twice: one weight moves, then the other
        ax.plot(steps[1:, 0], steps[:-1, 1], "o-", ms=3.5, color=BLUE, lw=1.2)
        ax.set(title=f"$C$ = {C:.0f}", xlabel="weight of colour", ylabel="weight of hue")


SHOWN = ("proline", "color_intensity", "flavanoids", "ash", "alcalinity_of_ash")


@figure("paths", claims=("linear_regression-35",), panels=2, size=(3.4, 3.0))
def coefficient_paths(left, right):
    """The weights of five standardised features that predict the alcohol of 178 wines, as the
    penalty C grows (the axis is linear up to 10, then logarithmic). At C = 0 both methods are least
    squares. LASSO sets the weights to exactly 0: two of them before C = 20, and the last one at
    C_max (dotted). Its weight of proline even grows at first. Ridge with lambda = C sets none to 0;
    two of its weights also grow at first, and in the end all shrink.
    """
    X, y, _ = wine(*SHOWN)
    X = standardised(X)
    top = lasso_bound(X, y)
    best = qr_solution(augment(X), y)[1:]  # for C = 0
    C = np.sort([0, top, *np.geomspace(1, 30 * top, 160)])
    dashes = ("-", "--", "-.", (0, (4, 1, 1, 1, 1, 1)), ":")
    colors = (BLUE, ORANGE, INK, PURPLE, GREEN)
    for ax, path in ((left, lasso_path), (right, ridge_path)):
        W = np.vstack([best, path(X, y, C[1:])])
        ax.axhline(0, color=GREY, lw=0.6)
        for w, dash, color, feature in zip(W.T, dashes, colors, SHOWN, strict=True):
            ax.plot(C, w, ls=dash, color=color, lw=1.5, label=feature.replace("_", " "))
        ax.axvline(top, color=GREY, lw=0.8, ls=":")
        ax.set_xscale("symlog", linthresh=10, linscale=0.4)
        ax.set(xlabel="$C$", xlim=(0, C[-1]), ylabel="weight")
        ax.set_xticks([0, 10, top, 1000], ["0", "10", r"$C_{\max}$", "1000"], minor=False)
        ax.set_xticks([], minor=True)
    left.set_title("LASSO")
    right.set_title("ridge")
    left.legend(fontsize=8, loc="upper right", handlelength=2.2, borderaxespad=0)


# --- Films -----------------------------------------------------------------------------


@film("coordinate_descent", coordinate_descent, measure="objective", share=(0.2, 0.0, 0.5, 0.8))
def coordinate_descent_film(share):
    """Coordinate descent for the LASSO, for a penalty C that is a share of C_max. Each pass moves
    one weight to the lowest point along its axis, then the other: the way is made of right angles.
    The contours have kinks where a weight is 0. With a large penalty the way stops on the axis, and
    the second weight is exactly 0.
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2)) @ [[1.0, 0.85], [0.0, 0.5]]
    y = X @ [1.5, 0.3] + 0.5 * rng.normal(size=20)
    X, y = X - X.mean(axis=0), y - y.mean()
    C, way = share * lasso_bound(X, y), []
    view = np.linspace(-1.2, 2.2, 60), np.linspace(-1.0, 1.6, 60)
    W = np.stack(np.meshgrid(*view), axis=-1).reshape(-1, 2)
    heights = np.array([lasso_objective(X, y, np.append(0.0, w), C) for w in W]).reshape(60, 60)
    levels = heights.min() + np.ptp(heights) * np.array([0.003, 0.015, 0.04, 0.09, 0.18, 0.35])

    def draw(ax, state):
        if way:
            way.append(np.array([state.w[0], way[-1][1]]))
        way.append(state.w)
        ax.contour(*view, heights, levels=levels, colors=[GREY], linewidths=0.8)
        ax.axhline(0, color=INK, lw=0.5)
        ax.axvline(0, color=INK, lw=0.5)
        ax.plot(*np.transpose(way), color=BLUE, lw=1.2)
        ax.plot(*np.transpose(way[::2]), "o", ms=3.5, mfc="white", mec=BLUE)
        ax.plot(*way[-1], "o", ms=6, color=BLUE, zorder=5)
        ax.set(xlim=(-1.2, 2.2), ylim=(-1.0, 1.6), xlabel="w₁", ylabel="w₂")
        ax.set(xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1))

    def words(state):
        a, b = state.w
        return f"Pass {len(way) // 2}: w = ({a:.3f}, {b:.3f}), objective {state.objective:.3f}."

    start = [-0.8, 1.4]
    return Take(coordinate_descent(X, y, C, start), draw, words, length=16)


@film("lms", lms, measure="J", eta=(0.05, 0.01, 0.15, 0.3))
def lms_film(eta):
    """LMS, sample by sample: the line after each pass (blue) and the one before (dotted). Least
    squares is the grey line. With a small eta the line comes slowly and stays close. With a large
    one it is soon near, but every pass ends beside least squares. With too large an eta it swings.
    """
    X, y = few_samples()
    A, best, before = augment(X), qr_solution(augment(X), y), []
    ends = np.array([[X.min() - 1], [X.max() + 1]])

    def draw(ax, state):
        before.append(state.theta)
        ax.plot(ends[:, 0], predict(ends, best), color=GREY, lw=2.2)
        for theta, look in ((before[-2:][0], ":"), (state.theta, "-")):
            ax.plot(ends[:, 0], predict(ends, theta), look, color=BLUE, lw=1.6)
        ax.plot(X[:, 0], y, "o", color=INK, ms=4)
        ax.set(xlim=ends[:, 0], ylim=(y.min() - 1.5, y.max() + 1.5), xlabel="x", ylabel="y")

    def words(state):
        b, w = state.theta
        return f"Pass {len(before) - 1}: f(x) = {b:.3f} + {w:.3f} x. J = {state.objective:.3f}."

    states = lms(A, y, best + [2.0, -1.5], eta=eta, rng=np.random.default_rng(0))
    return Take(states, draw, words, length=25)


if __name__ == "__main__":
    run_script(__file__)
