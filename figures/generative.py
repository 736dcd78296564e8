"""Lecture figures of the generative chapter."""

from functools import partial

import numpy as np

from mlnotes.datasets import load_wine, make_blobs, make_emails
from mlnotes.decision_theory import (
    error_probability,
    excess_error,
    log_joint,
    log_posterior,
    normal_log_odds,
    product_rule,
)
from mlnotes.density import KernelDensity, silverman
from mlnotes.generative import (
    BernoulliNB,
    GaussianNB,
    QuadraticDiscriminantAnalysis,
    SharedCovarianceClassifier,
    ellipse,
    ellipse_probability,
    ellipse_radius,
    fit_normal,
    learn_classes,
    log_densities,
    log_joint_density,
    map_classify,
)
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREY,
    INK,
    ORANGE,
    draw_regions,
    draw_samples,
    figure,
    run_script,
    set_view,
)
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_cdf,
    normal_log_density,
    sample_multivariate_normal,
)

TURN = np.linspace(0, 2 * np.pi, 201)
OVERLAP = "#bdbdbd"  # where a rule errs


# --- Two features ----------------------------------------------------------------------

MU, SIGMA = np.array([2.0, 1.0]), np.array([[2.25, 0.9], [0.9, 0.81]])


@figure("bivariate", claims=(), panels=2)
def bivariate(left, right):
    """Left: 400 draws from a bivariate normal distribution. On each ellipse the density is
    constant; the radii R are 1, 2 and 3. The dashed axes are eigenvectors of the covariance. Right:
    the probability within the ellipse of radius R (solid). Look at R = 1: a single normal number is
    within one standard deviation in 68 % of the cases (dashed), a pair is inside in only 39 %.
    """
    draws = sample_multivariate_normal(400, MU, SIGMA, rng=np.random.default_rng(4))
    left.plot(*draws.T, "o", ms=2.2, color=GREY, mew=0)
    for radius in (1, 2, 3):
        left.plot(*ellipse(MU, SIGMA, radius, TURN).T, color=BLUE, lw=1.3)
    for quarter in (0.0, np.pi / 2):
        axis = ellipse(MU, SIGMA, 3, np.array([quarter, quarter + np.pi]))
        left.plot(*axis.T, "--", color=INK, lw=0.8)
    set_view(left, ellipse(MU, SIGMA, 3.2, TURN))
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    c = np.linspace(0, 4, 161)
    right.plot(c, ellipse_probability(c), color=BLUE, lw=1.8)
    one = normal_cdf(c, 0.0, 1.0) - normal_cdf(-c, 0.0, 1.0)
    right.plot(c, one, "--", color=ORANGE, lw=1.5)
    for radius in (1, 2, 3):
        p = ellipse_probability(radius)
        right.plot([radius, radius], [0, p], color=GREY, lw=0.8)
        right.plot(radius, p, "o", color=BLUE, ms=4)
        right.annotate(f"{p:.1%}", (radius, p), (5, -9), textcoords="offset points", fontsize=9)
    right.text(0.1, 0.84, "one number", color=ORANGE)
    right.text(1.75, 0.6, "two numbers", color=BLUE)
    right.set(xlim=(0, 4), ylim=(0, 1.02), xlabel="radius $R$", ylabel="probability within")


# --- Wine ------------------------------------------------------------------------------

FEATURES = [0, 6]  # alcohol and flavanoids
BOTTLES = np.array([[13.0, 2.5], [12.4, 1.0]])  # without labels
WITHIN = 0.5, 0.95


@figure("winery", claims=("generative-07",), panels=2)
def winery(left, right):
    """178 wines of three cultivars, by two of their thirteen measurements. Left: a bivariate normal
    distribution for each cultivar. The inner ellipse should contain half of its wines, the outer
    one 95 %. Right: every point is tinted with the cultivar of the largest weighted density. The
    boundaries are curved, and both bottles without labels (stars) lie near one. The title counts
    errors on the wines that were learnt from.
    """
    wine = load_wine()
    X, names = wine.X[:, FEATURES], ("cultivar 1", "cultivar 2", "cultivar 3")
    model = QuadraticDiscriminantAnalysis().fit(X, wine.y)
    for ax in (left, right):
        set_view(ax, X, margin=0.14, equal=False)
        ax.set(xlabel="alcohol (%)", ylabel="flavanoids (mg/ml)")
    draw_samples(left, X, wine.y, size=3, names=names)
    laws = zip(model.means_, model.covariance_, COLORS, strict=False)
    for mu, Sigma, color in laws:
        for p, width in zip(WITHIN, (1.8, 1.0), strict=True):
            rim = ellipse(mu, Sigma, ellipse_radius(p), TURN)
            left.plot(*rim.T, color=color, lw=width, zorder=2)
    draw_regions(right, model.predict, model.classes_)
    draw_samples(right, X, wine.y, size=3, names=names)
    right.plot(*BOTTLES.T, "*", ms=11, color=INK, mec="white", zorder=5)
    look = {"handletextpad": 0, "columnspacing": 0.6, "borderaxespad": 0}
    left.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=3, **look)
    right.set_title(f"{1 - model.score(X, wine.y):.1%} wrong")


@figure("eight_wines", claims=(), panels=3, size=(2.8, 2.4))
def eight_wines(*axes):
    """Learning from eight wines (ticks); dotted, the unknown wine. Left: one normal density for
    each class. Middle: the densities times the priors 5/8 and 3/8. Right: divided by their sum,
    they are the posterior probabilities. Look at both sides of the peak: cultivar 2 has the larger
    variance, and it wins on the left and on the right.
    """
    wine = load_wine()
    eight = np.concatenate([np.flatnonzero(wine.y == 2)[:5], np.flatnonzero(wine.y == 3)[:3]])
    x, y, grid = wine.X[eight, 6:7], wine.y[eight], np.linspace(0, 4, 801)[:, None]
    model = learn_classes(x, y, fit_normal)
    joint = log_joint_density(grid, model)
    names = "1. learn $p(x \\mid k)$", "2. weight by $\\pi_k$", "3. divide by the sum"
    curves = log_densities(grid, model), joint, log_posterior(joint)
    for ax, curve, name in zip(axes, curves, names, strict=True):
        for c, style in ((0, "-"), (1, "--")):
            ax.plot(grid, np.exp(curve[:, c]), style, color=COLORS[c], label=f"cultivar {c + 2}")
            ax.plot(x[y == c + 2], np.zeros(5 - 2 * c), "|", ms=12, color=COLORS[c])
        ax.axvline(1.3, color=GREY, lw=0.9, ls=":")
        ax.set(title=name, xlabel="flavanoids")
    axes[0].legend()


@figure("straight", claims=(), panels=3, size=(2.8, 2.5))
def straight(*axes):
    """Q–Q plots of the flavanoids. The line is the normal distribution with the mean and the
    standard deviation of the wines. The points of cultivar 1 follow the line. In cultivar 2 one
    wine lies far above it. The points of cultivar 3 bend: they are above the line at both ends,
    with a long tail of large values and a short one of small values.
    """
    wine, rng = load_wine(), np.random.default_rng(0)
    for c, ax in enumerate(axes, start=1):
        own = np.sort(wine.X[wine.y == c, 6])
        q = np.sort(rng.standard_normal((10_000, len(own))), axis=1).mean(axis=0)
        ax.axline((0, own.mean()), slope=own.std() / q.std(), color=INK, lw=0.9)
        ax.plot(q, own, "o", ms=3, mew=0, color=COLORS[c - 1])
        ax.set(title=f"cultivar {c}", xlabel="normal sample", ylim=(0, 5.4))
    axes[0].set_ylabel("flavanoids (mg/ml)")


def errors_of_few(make, size, draws=40):
    """The errors on 30 wines in draws of `size` wines of each cultivar, standardised by these."""
    wine = load_wine()
    for s in range(draws):
        rng = np.random.default_rng(s)
        drawn = [rng.choice(np.flatnonzero(wine.y == c), size, replace=False) for c in (1, 2, 3)]
        train = np.concatenate(drawn)
        test = rng.choice(np.setdiff1d(np.arange(len(wine.X)), train), 30, replace=False)
        Z = (wine.X - wine.X[train].mean(axis=0)) / wine.X[train].std(axis=0)
        yield 1 - make().fit(Z[train], wine.y[train]).score(Z[test], wine.y[test])


@figure("shrinkage", claims=(), panels=2, size=(3.6, 2.9))
def shrinkage(left, right):
    """Errors on wines without labels, means of 40 draws of the labelled ones. Left: QDA with
    shrunken covariances, against the share r of the identity matrix. With 8 or 15 wines of each
    cultivar the error falls over most of the range, with 40 it rises. Right: against the number of
    labelled wines. Plain QDA starts far above the others, and cannot be learnt from 8.
    """
    shares = [0.002, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1]
    for size, style, color in ((8, "o-", BLUE), (15, "s--", ORANGE), (40, "^:", INK)):
        makers = [partial(QuadraticDiscriminantAnalysis, reg_param=r) for r in shares]
        error = [np.mean(list(errors_of_few(make, size))) for make in makers]
        left.semilogx(shares, error, style, color=color, ms=4, label=f"{size} of each cultivar")
    for make, sizes, style, color, name in (
        (QuadraticDiscriminantAnalysis, (15, 20, 30, 40), "o-", BLUE, "QDA"),
        (makers[5], (8, 15, 20, 30, 40), "s--", ORANGE, "QDA, r = 0.3"),
        (SharedCovarianceClassifier, (8, 15, 20, 30, 40), "^:", INK, "LDA"),
        (GaussianNB, (8, 15, 20, 30, 40), "D-.", GREY, "naive Bayes"),
    ):
        error = [np.mean(list(errors_of_few(make, size))) for size in sizes]
        right.plot(sizes, error, style, color=color, ms=4, label=name)
    left.set(xlabel="share $r$ of the identity matrix", ylabel="error")
    right.set(xlabel="labelled wines of each cultivar")
    for ax in (left, right):
        ax.set_ylim(0, 0.25)
        ax.legend()


# --- The rule --------------------------------------------------------------------------

LINE_MU, LINE_PRIOR = np.array([0.0, 2.0]), np.array([0.9, 0.1])


@figure("prior", claims=(), panels=2)
def prior(left, right):
    """Left: the densities of two classes cross at x = 1. Right: the same densities, weighted by the
    priors 0.9 and 0.1, cross at x = 2.1. A rule that cuts at 1 (dotted) makes more errors than the
    rule that cuts at 2.1. The shaded area is the difference of the two errors.
    """
    x = np.linspace(-3, 5, 401)
    log_p = np.column_stack([normal_log_density(x, mu, 1.0) for mu in LINE_MU])
    weighted = np.exp(log_joint(log_p, LINE_PRIOR))
    w, b = normal_log_odds(LINE_MU[:, None], np.eye(1), LINE_PRIOR)
    at, middle = -b / w[0], LINE_MU.mean()
    for ax, curves in ((left, np.exp(log_p)), (right, weighted)):
        for curve, color, dash in zip(curves.T, (BLUE, ORANGE), ("-", "--"), strict=True):
            ax.plot(x, curve, dash, color=color, lw=1.6)
        ax.axvline(middle, color=INK, lw=0.9, ls=":" if ax is right else "-")
        ax.set(xlim=(-3, 5), ylim=(0, 0.45), xlabel="$x$")
    needless = (x >= middle) & (x <= at)
    right.fill_between(x, weighted[:, 1], weighted[:, 0], where=needless, color=OVERLAP, lw=0)
    right.axvline(at, color=INK, lw=0.9)
    left.set_ylabel("density")
    right.set_ylabel("weighted density")
    for ax, place, text, color in (
        (left, (-0.4, 0.41), r"$p(x \mid 0)$", BLUE),
        (left, (2.4, 0.41), r"$p(x \mid 1)$", ORANGE),
        (right, (-0.4, 0.37), r"$0.9\; p(x \mid 0)$", BLUE),
        (right, (3.3, 0.055), r"$0.1\; p(x \mid 1)$", ORANGE),
    ):
        ax.text(*place, text, color=color, ha="center")


HALF = np.array([0.5, 0.5])


def fit_kernels(X):
    """A kernel estimate, of a bandwidth that suits samples of variance 1."""
    return KernelDensity(bandwidth=silverman(*X.shape)).fit(X)


def excess_errors(fit_density, n, times):
    """Excess errors of the rules learnt from `times` training sets, n / 2 of each class.

    The nodes are dense between the means, where the rules differ.
    """
    rules = [gauss_legendre(*ends) for ends in ((-8, 0, 3), (0, 2, 20), (2, 10, 3))]
    x, dx = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    log_p = np.column_stack([normal_log_density(x, mu, 1.0) for mu in LINE_MU])
    rng = np.random.default_rng(n)
    for _ in range(times):
        T = make_blobs([n // 2, n // 2], LINE_MU[:, None], rng=rng)
        h = map_classify(x[:, None], learn_classes(T.X, T.y, fit_density))
        yield excess_error(h, log_p, HALF, dx)


@figure("plug_in", claims=(), size=(4.2, 2.9))
def plug_in(ax):
    """The price of learning the classes N(0, 1) and N(2, 1) from n samples: the error beyond the
    Bayes error of 15.9 %, averaged over 50 training sets. Both axes are logarithmic. With normal
    distributions it falls like 1/n (the dotted line). With kernel estimates it is larger at every
    n.
    """
    sizes = np.array([30, 100, 300, 1000, 3000])
    for fit_density, color, style, name in (
        (fit_normal, BLUE, "o-", "normal distributions"),
        (fit_kernels, ORANGE, "s--", "kernel estimates"),
    ):
        excess = [np.mean(list(excess_errors(fit_density, n, times=50))) for n in sizes]
        ax.loglog(sizes, excess, style, color=color, lw=1.4, ms=4.5, label=name)
    ax.loglog(sizes, 0.6 / sizes, ":", color=GREY, lw=1.2)
    ax.set(xlabel="training samples $n$", ylabel="excess error")
    ax.legend(loc="upper right")


# --- Three families --------------------------------------------------------------------

PLANE_MU = np.array([[0.0, 0.0], [2.0, 1.2]])
PLANE_SIGMA = np.array([[[1.6, 1.1], [1.1, 1.2]], [[0.7, -0.45], [-0.45, 0.8]]])


def plane_error(predict):
    """The probability of error of a rule, under the classes of the plane, by quadrature."""
    X, dx = product_rule(gauss_legendre(-7, 8, 60, 5), gauss_legendre(-7, 8, 60, 5))
    laws = zip(PLANE_MU, PLANE_SIGMA, strict=True)
    log_p = np.column_stack([multivariate_normal_log_density(X, mu, S) for mu, S in laws])
    return error_probability(predict(X), log_p, HALF, dx)


@figure("families", claims=(), panels=3, size=(2.8, 2.8))
def families(left, middle, right):
    """The same 300 samples, learnt in three ways. The ellipses have the radii 1 and 2; the titles
    give the probability of error. Left: quadratic discriminant analysis. Each class has its own
    covariance, and the boundary is curved. Middle: linear discriminant analysis. Both ellipses have
    the same shape, and the boundary is straight. Right: naive Bayes. The axes of the ellipses are
    parallel to the axes of the plane.
    """
    T = make_blobs([150, 150], PLANE_MU, PLANE_SIGMA, rng=np.random.default_rng(8))
    for ax, name, model in (
        (left, "QDA", QuadraticDiscriminantAnalysis()),
        (middle, "LDA", SharedCovarianceClassifier()),
        (right, "naive Bayes", GaussianNB()),
    ):
        model.fit(T.X, T.y)
        ax.set(xlim=(-4.5, 5), ylim=(-4.5, 5), aspect="equal", xlabel="$x_1$", xticks=(-2, 0, 2, 4))
        ax.set(yticks=(-2, 0, 2, 4), title=f"{name}: {plane_error(model.predict):.1%}")
        draw_regions(ax, model.predict, model.classes_)
        draw_samples(ax, T.X, T.y, size=2.2)
        for mu, Sigma in laws_of(model):
            for radius in (1, 2):
                ax.plot(*ellipse(mu, Sigma, radius, TURN).T, color=INK, lw=1.1, zorder=4)
    left.set_ylabel("$x_2$")


def laws_of(model):
    """Mean and covariance matrix of each class, whatever the family."""
    if isinstance(model, GaussianNB):
        return zip(model.theta_, map(np.diag, model.var_), strict=True)
    Sigma = np.broadcast_to(model.covariance_, (len(model.classes_), 2, 2))
    return zip(model.means_, Sigma, strict=True)


# --- Naive Bayes -----------------------------------------------------------------------

APART = np.array([[-1.5, -1.5], [1.5, 1.5]]), np.eye(2)
TILTED = np.array([[-0.8, 0.8], [0.8, -0.8]]), np.array([[1.0, 0.64], [0.64, 1.0]])


@figure("independence", claims=(), panels=2)
def independence(left, right):
    """Left: in each class (coloured ellipses) the features are independent. Over all samples
    (dashed ellipse) they are correlated, because both means of the orange class are larger. Right:
    the reverse. In each class the features are correlated, and over all samples they are not. The
    means cancel the correlation.
    """
    left.set_title("independent given the class")
    right.set_title("uncorrelated as a whole")
    for ax, (mu, Sigma), seed in ((left, APART, 1), (right, TILTED, 2)):
        T = make_blobs([150, 150], mu, Sigma, rng=np.random.default_rng(seed))
        draw_samples(ax, T.X, T.y, size=2.6)
        for center, color in zip(mu, COLORS, strict=False):
            ax.plot(*ellipse(center, Sigma, 2, TURN).T, color=color, lw=1.6, zorder=4)
        total = Sigma + np.cov(mu.T, ddof=0)
        ax.plot(*ellipse(mu.mean(axis=0), total, 2, TURN).T, "--", color=INK, lw=1.3, zorder=4)
        ax.set(xlim=(-5, 5), ylim=(-5, 5), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
        ax.set(xticks=(-4, -2, 0, 2, 4), yticks=(-4, -2, 0, 2, 4))


@figure("emails", claims=(), panels=2)
def emails(left, right):
    r"""Left: how often five words occur in ham and in spam, estimated from 200 e-mails with
    $\alpha = 1$ (bars). The short black lines are the true probabilities with which the e-mails
    were made. Right: what each word adds to the log-odds of spam if it is there (black bars) and if
    it is not (white bars). The sum of five bars and the log-odds of the priors decides.
    """
    T = make_emails(200, rng=np.random.default_rng(6))
    model = BernoulliNB().fit(T.X, T.y)
    p, place = np.exp(model.feature_log_prob_), np.arange(len(T.feature_names))
    looks = ({"color": "white", "edgecolor": BLUE, "hatch": "////"}, {"color": ORANGE})
    for shift, row, truth, name, look in zip(
        (0.2, -0.2), p, T.truth.p, model.classes_, looks, strict=True
    ):
        left.barh(place + shift, row, height=0.36, label=name, **look)
        left.vlines(truth, place + shift - 0.18, place + shift + 0.18, color=INK, lw=2)
    adds = np.log([p[1] / p[0], (1 - p[1]) / (1 - p[0])])
    right.barh(place - 0.2, adds[0], height=0.36, color=INK, label="there")
    right.barh(place + 0.2, adds[1], height=0.36, color="white", edgecolor=INK, label="not there")
    right.axvline(0, color=INK, lw=0.8)
    for ax in (left, right):
        ax.set_yticks(place, T.feature_names)
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)
    left.set(xlabel="probability of the word", xlim=(0, 0.8))
    right.set(xlabel="added to the log-odds of spam", xlim=(-3.3, 2.4))
    left.legend(loc="lower right")
    right.legend(loc="upper left")


if __name__ == "__main__":
    run_script(__file__)
