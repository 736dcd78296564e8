"""Lecture figures of the trees chapter."""

import numpy as np

from mlnotes.datasets import make_moons, to_bits
from mlnotes.plotting import (
    BLUE,
    INK,
    ORANGE,
    Take,
    draw_line,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
)
from mlnotes.trees import (
    DecisionTreeClassifier,
    Rules,
    grow,
    leaf_boxes,
    leaf_of,
    oblique_split,
    prune,
)

PAIRS = 5
DEPTHS = np.arange(1, 13)
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
    ax.set(xlim=view, ylim=view, xlabel="$x_1$", ylabel="$x_2$")
    draw_regions(ax, lambda Z: tree.value[leaf_of(tree, Z)].argmax(axis=1), [0, 1])
    for cut in boundaries(tree, view).values():
        ax.plot(*cut.T, color=INK, lw=1.2)
    draw_samples(ax, X, y, size=5)


def oblique(ax, X, y, view):
    """The two half-planes of the best oblique split."""
    u, t, _ = oblique_split(X, y)
    right = np.bincount(y[X @ u > t], minlength=2).argmax()
    ax.set(xlim=view, ylim=view, xlabel="$x_1$", ylabel="$x_2$")
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
    model.draw(tree, ["$x_1$", "$x_2$"], number=".2f", fontsize=8)
    tree.set_title("Questions")
    reach = np.abs(X).max() + 0.2
    partition(map_of_it, model.tree_, X, y, (-reach, reach))
    map_of_it.set_title("Boxes")
    oblique(cut, X, y, (-reach, reach))
    cut.set_title("One oblique cut")


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
    test samples; the mean of twelve runs. The training error falls towards zero. The test error is
    lowest after a few levels and then rises, because the deeper questions follow the noise.
    """
    train, test, _ = np.mean([errors_by_depth(seed) for seed in SEEDS], axis=0)
    ax.plot(DEPTHS, train, "o-", color=BLUE, ms=4, label="training")
    ax.plot(DEPTHS, test, "s--", color=ORANGE, ms=4, label="test")
    ax.set(xlabel="largest depth", ylabel="error", ylim=(0, None), xticks=DEPTHS[::2])
    ax.legend()


# --- Films -----------------------------------------------------------------------------


def moons():
    """Two noisy half moons with the labels 0 and 1, for the films of a tree."""
    T = make_moons(80, noise=0.25, rng=np.random.default_rng(1))
    return T.X, to_bits(T.y)


def draw_boxes(ax, X, y, tree):
    """The samples, and the borders that the nodes of the tree draw."""
    draw_samples(ax, X, y, size=4)
    view = np.array([[-1.8, -1.3], [2.8, 1.9]])
    for ends in boundaries(tree, view).values():
        ax.plot(*np.transpose(ends), color=INK, lw=1)
    ax.set(xlim=view[:, 0], ylim=view[:, 1], xlabel="x₁", ylabel="x₂")


@film("growing", grow, measure="impurity", criterion=("gini", "entropy"))
def growing_film(criterion):
    """A tree grows. Each step gives one more level to the tree, and every line is the question of a
    node. The impurity is that of all leaves together. The last lines cut off single samples.
    """
    X, y = moons()
    trees = (grow(X, y, rules=Rules(criterion=criterion, max_depth=depth)) for depth in range(11))

    def words(tree):
        leaves = np.sum(tree.feature < 0)
        wrong = np.sum(tree.value[leaf_of(tree, X)].argmax(axis=1) != y)
        return f"Depth {tree.depth.max()}: {leaves} leaves. {wrong} of 80 samples are wrong."

    return Take(trees, lambda ax, tree: draw_boxes(ax, X, y, tree), words, impurity)


@film("pruning", prune, measure="impurity", criterion=("gini", "entropy"))
def pruning_film(criterion):
    """A full tree is pruned. The price of a leaf rises from step to step, and the questions that
    are not worth it go, the last ones first. At the end nothing is left but the root.
    """
    X, y = moons()
    full = grow(X, y, rules=Rules(criterion=criterion))
    pruned = ((alpha, prune(full, alpha)) for alpha in np.linspace(0, 0.36, 25) ** 1.5)

    def words(state):
        alpha, tree = state
        return f"Price of a leaf {alpha:.3f}: {np.sum(tree.feature < 0)} leaves are left."

    return Take(pruned, lambda ax, s: draw_boxes(ax, X, y, s[1]), words, lambda s: impurity(s[1]))


def impurity(tree):
    """The impurity of all leaves, each with the share of the samples in it."""
    leaf = tree.feature < 0
    return float(tree.share[leaf] @ tree.impurity[leaf])


if __name__ == "__main__":
    run_script(__file__)
