"""Lecture figures of the trees chapter."""

import numpy as np

from mlnotes.datasets import load_breast_cancer, load_iris, make_curve, make_moons, to_bits
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREY,
    INK,
    ORANGE,
    Take,
    counted,
    draw_line,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    tint,
)
from mlnotes.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Rules,
    class_fractions,
    contributions,
    cut_impurities,
    entropy,
    error_rate,
    gini,
    grow,
    leaf_boxes,
    leaf_of,
    oblique_split,
    prune,
    weakest_links,
)

PAIRS = 5
DEPTHS = np.arange(1, 13)
PRICES = np.append(0.5 ** np.arange(1, 10), 0)
SEEDS = range(12)


# --- What a split cuts -----------------------------------------------------------------


def beside_the_diagonal(m):
    """The points (i, i - 1/4) and (i, i + 1/4), i = 1 .. m, of the classes 0 and 1."""
    i = np.repeat(np.arange(1.0, m + 1), 2)
    y = np.tile([0, 1], m)
    return np.column_stack([i, i + (2 * y - 1) / 4]), y


def boundaries(tree, view):
    """Both ends of the cut of every node that asks, inside its box and the view."""
    low, high = (np.clip(box, *view) for box in leaf_boxes(tree, 2))
    ends = {}
    for i in np.flatnonzero(tree.left > 0):
        f = tree.feature[i]
        cut = np.array([low[i], high[i]])
        cut[:, f] = tree.threshold[i]
        ends[int(i)] = cut
    return ends


def partition(ax, tree, X, y, view):
    """The regions of the leaves, the cuts of the other nodes, the samples."""
    ax.set(xlim=view, ylim=view, xlabel="$x_0$", ylabel="$x_1$")
    draw_regions(ax, lambda Z: tree.value[leaf_of(tree, Z)].argmax(axis=1), [0, 1])
    for cut in boundaries(tree, view).values():
        ax.plot(*cut.T, color=INK, lw=1.2)
    draw_samples(ax, X, y, size=5)


def oblique(ax, X, y, view):
    """The two half-planes of the best oblique split."""
    u, t, _ = oblique_split(X, y)
    right = np.bincount(y[X @ u > t], minlength=2).argmax()
    ax.set(xlim=view, ylim=view, xlabel="$x_0$", ylabel="$x_1$")
    draw_regions(ax, lambda Z: np.where(Z @ u > t, right, 1 - right), [0, 1])
    draw_line(ax, u, -t, color=INK, lw=1.2)
    draw_samples(ax, X, y, size=5)


@figure("staircase", claims=("trees-02",), panels=2)
def staircase(left, right):
    """Two classes on the two sides of a diagonal. Left: questions about one feature need a
    staircase, with a leaf for every sample. Right: one oblique question separates the classes.
    """
    X, y = beside_the_diagonal(PAIRS)
    tree, view = grow(X, y), (0.3, PAIRS + 0.7)
    partition(left, tree, X, y, view)
    left.set_title(f"Axis-parallel: {np.sum(tree.left < 0)} leaves")
    oblique(right, X, y, view)
    right.set_title("Oblique: 2 leaves")


# --- The tree and its map --------------------------------------------------------------


def two_moons():
    """Two classes in the plane, and their tree of three levels."""
    T = make_moons(80, noise=0.15, rng=np.random.default_rng(40))
    X, y = T.X * [1, 2] - 0.5, (T.y == np.unique(T.y)[1]).astype(int)
    kinds = np.array(["dots", "squares"])
    return X, y, DecisionTreeClassifier(max_depth=3).fit(X, kinds[y])


@figure("diagram", claims=("trees-21",), panels=3)
def diagram(tree, map_of_it, cut):
    """Two half-moons, one of dots and one of squares. Left: a tree of four questions. Go left where
    the answer is yes. A leaf says the class that it predicts; n is the number of training samples
    in it. Middle: the leaves are boxes, and each line belongs to one question. Right: the best
    oblique question that was tried, about a weighted sum of the two features; its boundary is a
    slanted line.
    """
    X, y, model = two_moons()
    model.draw(tree, ["$x_0$", "$x_1$"], number=".2f", fontsize=8)
    tree.set_title("Questions")
    reach = np.abs(X).max() + 0.2
    partition(map_of_it, model.tree_, X, y, (-reach, reach))
    map_of_it.set_title("Boxes")
    oblique(cut, X, y, (-reach, reach))
    cut.set_title("One oblique cut")


# --- Petals of irises ------------------------------------------------------------------


def petals():
    """Length and width of 150 petals in cm, and the numbers 0, 1, 2 of their species."""
    iris = load_iris()
    return iris.X[:, 2:], np.unique(iris.y, return_inverse=True)[1]


@figure("chords", claims=("trees-07",), panels=3, size=(2.9, 2.5))
def chords(*axes):
    """Three impurities of two classes, and a chord for each of two questions. Look at the share
    1/2: an arrow leads from J on the chord up to the impurity before, and its length, below, is the
    gain. Under the curved hills B gains more than A. Under the roof both gain the same.
    """
    share = np.linspace(0, 1, 201)
    questions = (
        ("A", [1 / 4, 3 / 4], BLUE, "o-", -1, "right"),
        ("B", [1 / 3, 1], ORANGE, "s-", 1, "left"),
    )
    for ax, impurity in zip(axes, (gini, entropy, error_rate), strict=True):
        ax.plot(share, impurity([share, 1 - share]), color=INK, lw=1)
        before = impurity([0.5, 0.5])
        for name, sides, color, look, way, to in questions:
            p = np.array(sides)
            heights = impurity([p, 1 - p])
            ax.plot(p, heights, look, ms=4, color=color, label=name)
            J = np.interp(0.5, p, heights)
            arrow = {"arrowstyle": "->", "color": color, "shrinkA": 0, "shrinkB": 0}
            x = 0.5 + 0.02 * way
            ax.annotate("", (x, before), (x, J), arrowprops=arrow)
            said = f"{name}: {before - J:.3f}"
            ax.text(0.5 + 0.03 * way, 0.04, said, color=color, fontsize=8, ha=to)
        ax.axvline(0.5, color=GREY, ls=":", lw=0.8)
        ax.set(xlabel="share $p_1$", title=impurity.__name__.replace("_", " "), ylim=(-0.02, 0.72))
    axes[0].legend()


@figure("cuts", claims=("trees-08",), panels=2, size=(3.6, 2.5))
def cuts(*axes):
    """The impurity J after each possible cut of the petals. The dashed line is the impurity before.
    No dot lies above it. Each panel has a valley where setosa ends, and a second one between the
    other two species.
    """
    X, y = petals()
    J = cut_impurities(X.T, contributions(y, np.ones(len(y))))
    for f, (ax, name) in enumerate(zip(axes, ("length", "width"), strict=True)):
        values = np.sort(X[:, f])
        ax.plot((values[:-1] + values[1:]) / 2, J[f], "o", ms=3, color=BLUE)
        ax.axhline(gini(class_fractions(y)), color=GREY, ls="--", lw=0.8)
        ax.set(xlabel=f"threshold for the {name} (cm)", ylabel="impurity J", ylim=(0.3, 0.69))


@figure("questions", claims=("trees-01",), panels=2, size=(3.8, 2.9))
def questions(left, right):
    """A tree of two questions about the petals. Left: go left where the answer is yes. A leaf names
    a species; n is the number of flowers that end there. Right: the same tree as a map. Each leaf
    is a box.
    """
    X, species = load_iris().X[:, 2:], load_iris().y
    model = DecisionTreeClassifier(max_depth=2).fit(X, species)
    model.draw(left, ["length", "width"], fontsize=8)
    right.set(xlim=(0.5, 7.5), ylim=(0, 2.7), xlabel="length (cm)", ylabel="width (cm)")
    draw_samples(right, X, species, size=4)
    draw_regions(right, model.predict, np.unique(species))
    right.legend(fontsize=8)


@figure("levels", claims=("trees-09",), panels=4, size=(2.3, 2.4))
def levels(*axes):
    """The tree of the petals, grown to the depths 1, 2, 3 and 5. At depth 3 the box at the upper
    right has been cut, although both parts are called virginica: the impurity falls, the prediction
    stays. At depth 5 the tree is whole, and some thin boxes hold only one or two flowers.
    """
    X, y = petals()
    for ax, depth in zip(axes, (1, 2, 3, 5), strict=True):
        tree = grow(X, y, rules=Rules(max_depth=depth))
        low, high = (np.clip(corner, 0, 8) for corner in leaf_boxes(tree, 2))
        for v in np.flatnonzero(tree.left < 0):
            color = tint(COLORS[tree.value[v].argmax()])
            (x, bottom), (far, top) = low[v], high[v]
            ax.fill([x, far, far, x], [bottom, bottom, top, top], fc=color, ec=INK, lw=0.7)
        draw_samples(ax, X, y, size=2.5)
        ax.set(xlim=(0.5, 7.5), ylim=(0, 2.7), xlabel="length (cm)", title=f"depth {depth}")
    axes[0].set_ylabel("width (cm)")


@figure("prices", claims=("trees-18",), size=(5.6, 3.2))
def prices(ax):
    """The cost of five trees of the pruning path against the price of a leaf. More leaves: a lower
    start and a steeper line. The thick line is the cost of the tree that pruning at this price
    leaves. It runs along the lowest of the lines, and changes from one to the next at the dots.
    """
    alpha = np.array([0, 0.05])
    path = list(weakest_links(grow(*petals())))[:5]
    leaves = np.array([np.sum(step.tree.feature < 0) for step in path])
    R = np.array([step.objective for step in path])
    for line in zip(R, leaves, strict=True):
        ax.plot(alpha, line[0] + alpha * line[1], color=GREY, lw=1)
        ax.text(0.0505, line[0] + 0.05 * line[1], f"{line[1]} leaves", fontsize=8, va="center")
    ends = np.array([step.alpha for step in path] + [0.05])
    ax.plot(ends, np.append(R, R[-1]) + ends * np.append(leaves, leaves[-1]), color=BLUE, lw=2)
    ax.plot(ends[1:-1], R[1:] + ends[1:-1] * leaves[1:], "o", ms=4, color=BLUE)
    ax.set(xlabel=r"price $\alpha$ of a leaf", ylabel=r"cost $F_\alpha$", xlim=(0, 0.058), ylim=0)


@figure("decoy", claims=("trees-11",), panels=2, size=(3.6, 2.7))
def decoy(left, right):
    """Two trees of the eight samples. Left: the greedy tree, which starts with the decoy. Right:
    the tree that is grown if the decoy is taken away. Its first question gains nothing, but then
    one more question on each side makes all leaves pure. A leaf says the label, and below it the
    number of samples.
    """
    y = np.array([0, 0, 1, 1, 1, 1, 0, 0])
    X = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1], [1, 0, 0, 1, 1, 1, 0, 0]]).T
    for ax, d in ((left, 3), (right, 2)):
        model = DecisionTreeClassifier().fit(X[:, :d], y)
        model.draw(ax, ["$x_0$", "$x_1$", "$x_2$"][:d], fontsize=8)
        ax.set_title(f"{np.sum(model.tree_.feature >= 0)} questions")


@figure("steps", claims=("trees-17",), size=(6.0, 2.6))
def steps(ax):
    """Two regression trees of 80 points near a sine. The tree of depth 2 has four steps. The tree
    of depth 7 follows single points. Both are constant left of 0 and right of 1, where there are
    no data: a tree does not extrapolate.
    """
    T = make_curve(80, lambda x: np.sin(6 * x), sigma=0.2, rng=np.random.default_rng(1))
    at = np.linspace(-0.2, 1.2, 500)[:, None]
    ax.plot(T.X, T.y, "o", ms=3, color=GREY)
    for depth, look, color in ((2, "-", BLUE), (7, ":", INK)):
        fitted = DecisionTreeRegressor(max_depth=depth).fit(T.X, T.y)
        ax.plot(at, fitted.predict(at), look, color=color, label=f"depth {depth}")
    ax.set(xlabel="$x$", ylabel="$y$")
    ax.legend()


# --- When to stop ----------------------------------------------------------------------


def errors_by_depth(seed):
    """Training and test error and the number of leaves for each depth."""
    rng = np.random.default_rng(seed)
    train, test = make_moons(200, noise=0.35, rng=rng), make_moons(1000, noise=0.35, rng=rng)
    found = []
    for depth in DEPTHS:
        model = DecisionTreeClassifier(max_depth=int(depth)).fit(train.X, train.y)
        errors = 1 - model.score(train.X, train.y), 1 - model.score(test.X, test.y)
        found.append((*errors, model.get_n_leaves()))
    return np.array(found).T


@figure("stopping", claims=("trees-18",), size=(4.4, 2.9))
def stopping(ax):
    """Errors of trees of growing depth on two overlapping half-moons, with 200 training and 1000
    test samples; means of twelve runs, with a standard error of the test error. The training error
    falls towards zero. The test error is lowest at depths 2 and 3 and higher at each larger depth.
    """
    runs = np.array([errors_by_depth(seed) for seed in SEEDS])
    (train, test, _), error = runs.mean(axis=0), runs[:, 1].std(axis=0, ddof=1) / len(SEEDS) ** 0.5
    ax.plot(DEPTHS, train, "o-", color=BLUE, ms=4, label="training")
    ax.errorbar(DEPTHS, test, error, fmt="s--", color=ORANGE, ms=4, capsize=2, label="test")
    ax.set(xlabel="largest depth", ylabel="error", ylim=(0, None), xticks=DEPTHS[::2])
    ax.legend()


def errors_by_price(seed):
    """The shares of wrong answers at each price: training, five folds, new tumours."""
    tumours, rng = load_breast_cancer(), np.random.default_rng(seed)
    malignant = (tumours.y == "malignant").astype(int)
    order, mistake = rng.permutation(569), rng.random(569) < 0.1
    noted = np.where(mistake, 1 - malignant, malignant)

    def wrong(train, test, labels):
        tree = grow(tumours.X[train], noted[train])
        leaves = (
            (small, leaf_of(small, tumours.X[test])) for small in map(prune, [tree] * 10, PRICES)
        )
        return [np.sum(small.value[leaf].argmax(axis=1) != labels[test]) for small, leaf in leaves]

    train, new, fold = order[:379], order[379:], np.arange(379) % 5
    folds = np.sum([wrong(train[fold != k], train[fold == k], noted) for k in range(5)], axis=0)
    found = wrong(train, train, noted), folds, wrong(train, new, malignant)
    return np.array(found) / [[379], [379], [190]]


@figure("valley", claims=(), size=(4.4, 2.7))
def valley(ax):
    """Mistakes of the pruned tree as the price of a leaf falls, for records with 10 % mistakes;
    means of the 20 splits. Training and folds are judged by the wrong records, the new tumours by
    the true diagnoses. So the folds lie higher than the new tumours. But both have their valley at
    about the same prices.
    """
    lines = 100 * np.mean([errors_by_price(seed) for seed in range(20)], axis=0)
    looks = ("-", BLUE, "training"), (":", INK, "folds"), ("--", ORANGE, "new")
    for line, (look, color, name) in zip(lines, looks, strict=True):
        ax.plot(line, look, color=color, label=name)
    ax.set_xticks([0, 2, 5, 9], ["1/2", "1/8", "1/64", "0"])
    ax.set(xlabel="price", ylabel="% wrong", ylim=(0, None), yticks=[0, 20, 40])
    ax.legend()


# --- Other samples, another tree --------------------------------------------------------


@figure("halves", claims=(), panels=2, size=(4.3, 2.7))
def halves(*axes):
    """Two trees of depth 2 for the same task, each grown from one half of the 569 tumours. Only the
    worst perimeter occurs in both, and with another threshold. A leaf says its class, and below it
    the number of its training samples.
    """
    tumours = load_breast_cancer()
    names = [name.replace("concave points", "concave\npoints") for name in tumours.feature_names]
    order = np.random.default_rng(0).permutation(len(tumours.y))
    parts = order[:284], order[284:]
    for ax, half, name in zip(axes, parts, ("One half", "The other half"), strict=True):
        model = DecisionTreeClassifier(max_depth=2).fit(tumours.X[half], tumours.y[half])
        model.draw(ax, names, fontsize=8)
        ax.set_title(name)


# --- Films -----------------------------------------------------------------------------


def moons():
    """Two noisy half moons with the labels 0 and 1, for the films of a tree."""
    T = make_moons(80, noise=0.25, rng=np.random.default_rng(1))
    return T.X, to_bits(T.y)


def draw_boxes(ax, X, y, tree):
    """The samples, the borders that the nodes of the tree draw, and what the leaves say."""
    view = np.array([[-1.8, -1.3], [2.8, 1.9]])
    low, high = (np.clip(box, *view) for box in leaf_boxes(tree, 2))
    for i in np.flatnonzero(tree.feature < 0):
        (x_0, y_0), (x_1, y_1) = low[i], high[i]
        color = tint(COLORS[tree.value[i].argmax()])
        ax.fill((x_0, x_1, x_1, x_0), (y_0, y_0, y_1, y_1), color=color, lw=0, zorder=0)
    draw_samples(ax, X, y, size=4)
    for ends in boundaries(tree, view).values():
        ax.plot(*np.transpose(ends), color=INK, lw=1)
    ax.set(xlim=view[:, 0], ylim=view[:, 1], xlabel="x₁", ylabel="x₂")


@film("growing", grow, measure="impurity", criterion=("gini", "entropy"))
def growing_film(criterion):
    """A tree grows. Each step gives one more level to the tree, and every line is the question of a
    node. The shade of a leaf is that of its class. The impurity is that of all leaves together. The
    last lines cut off single samples.
    """
    X, y = moons()
    trees = (grow(X, y, rules=Rules(criterion=criterion, max_depth=depth)) for depth in range(11))

    def words(tree):
        leaves = np.sum(tree.feature < 0)
        wrong = np.sum(tree.value[leaf_of(tree, X)].argmax(axis=1) != y)
        said = f"Depth {tree.depth.max()}: {counted(leaves, 'leaf', 'leaves')}. "
        return said + f"The tree is wrong for {wrong} of 80 samples."

    return Take(trees, lambda ax, tree: draw_boxes(ax, X, y, tree), words, impurity)


@film("pruning", prune, measure="impurity", criterion=("gini", "entropy"))
def pruning_film(criterion):
    """A full tree is pruned. The price of a leaf rises from step to step, and the questions that
    are not worth it go, the last ones first. At the end nothing is left but the root.
    """
    X, y = moons()
    full = grow(X, y, rules=Rules(criterion=criterion))
    pruned = ((alpha, prune(full, alpha)) for alpha in np.linspace(0, 0.64, 25) ** 1.5)

    def words(state):
        alpha, tree = state
        left = counted(np.sum(tree.feature < 0), "leaf is", "leaves are")
        return f"Price of a leaf {alpha:.3f}: {left} left."

    return Take(pruned, lambda ax, s: draw_boxes(ax, X, y, s[1]), words, lambda s: impurity(s[1]))


def impurity(tree):
    """The impurity of all leaves, each with the share of the samples in it."""
    leaf = tree.feature < 0
    return float(tree.share[leaf] @ tree.impurity[leaf])


if __name__ == "__main__":
    run_script(__file__)
