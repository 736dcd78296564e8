"""The trees chapter: every statement of the notes, checked by a second route."""

import itertools
import re
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes import trees
from mlnotes.datasets import load_iris
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.trees import (
    ID3,
    IMPURITY,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    best_split,
    class_fractions,
    contributions,
    count_splits,
    data_thresholds,
    descend,
    entropy,
    error_rate,
    export_text,
    feature_importances,
    feature_order,
    gini,
    grow,
    grow_all,
    id3,
    id3_predict,
    leaf_boxes,
    midpoint,
    multiway_impurity,
    oblique_split,
    order_among,
    prune,
    split_costs,
    split_impurity,
    tree_impurity,
    tree_layout,
    weakest_links,
)

DECOY = (  # XOR of the first two features; the third looks better at first
    np.array([[0, 0, 1], [0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 1], [1, 1, 0],
              [1, 1, 0]], dtype=float),
    np.array([0, 0, 1, 1, 1, 1, 0, 0]),
)  # fmt: skip
BOTH = pytest.mark.parametrize("criterion", ["gini", "entropy"])


# ---------------------------------------------------------------------------------------
# The book's way, with loops and recursion
# ---------------------------------------------------------------------------------------


def impurity_of(y, criterion):
    """I(S), from the definitions."""
    p = [np.mean(y == c) for c in set(y.tolist())]
    if criterion == "gini":
        return 1 - sum(a * a for a in p)
    return -sum(a * np.log(a) for a in p)


def all_splits(X):
    """Every (f, t, left) between consecutive distinct values."""
    for f in range(X.shape[1]):
        values = np.unique(X[:, f])
        for a, b in itertools.pairwise(values):
            yield f, (a + b) / 2, X[:, f] <= a


def after(y, left, criterion):
    """The weighted impurity of both sides."""
    share = left.mean()
    right = impurity_of(y[~left], criterion)
    return share * impurity_of(y[left], criterion) + (1 - share) * right


def book_split(X, y, criterion):
    """The first of the best splits, one after the other."""
    best = None
    for f, t, left in all_splits(X):
        found = after(y, left, criterion)
        if best is None or found < best[2] - 1e-12:
            best = f, t, found
    return best


def book_tree(X, y, criterion):
    """(f, t, left, right), or the label of a leaf."""
    if (y == y[0]).all() or (X == X[0]).all():
        return int(np.bincount(y).argmax())
    f, t, _ = book_split(X, y, criterion)
    left = X[:, f] <= t
    return f, t, book_tree(X[left], y[left], criterion), book_tree(X[~left], y[~left], criterion)


def nested(tree, i=0):
    """The grown tree in that form."""
    if tree.feature[i] < 0:
        return int(tree.value[i].argmax())
    down = nested(tree, tree.left[i]), nested(tree, tree.right[i])
    return (int(tree.feature[i]), float(tree.threshold[i]), *down)


def ask(node, x):
    """Nested if and else."""
    if isinstance(node, int):
        return node
    f, t, left, right = node
    return ask(left, x) if x[f] <= t else ask(right, x)


def smallest(X, y):
    """The fewest internal nodes of a tree without error, by trying all trees."""

    @cache
    def needed(rows):
        at = list(rows)
        if len(set(y[at].tolist())) == 1:
            return 0
        sides = {
            (tuple(np.array(at)[left]), tuple(np.array(at)[~left]))
            for _, _, left in all_splits(X[at])
        }
        return min(1 + needed(a) + needed(b) for a, b in sides)

    return needed(tuple(range(len(y))))


def tied(rng, n=40, d=3, C=3):
    """Samples with ties and duplicates, labels at random."""
    return rng.integers(4, size=(n, d)).astype(float), rng.integers(C, size=n)


def inner(tree):
    return np.flatnonzero(tree.feature >= 0)


# ---------------------------------------------------------------------------------------
# Impurity
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("trees-04")
def test_gini_is_the_probability_of_two_labels(rng):
    y = rng.integers(4, size=23)
    p = class_fractions(y)
    np.testing.assert_allclose(p, [np.mean(y == c) for c in range(4)])
    assert gini(p) == pytest.approx(1 - np.sum(p**2), abs=1e-15)
    assert gini(p) == pytest.approx(np.mean([a != b for a in y for b in y]), abs=1e-12)
    assert gini([0, 1, 0]) == 0 and gini([1.0]) == 0
    for C in (2, 3, 7):
        assert gini(np.full(C, 1 / C)) == pytest.approx(1 - 1 / C, abs=1e-15)
        assert (gini(rng.dirichlet(np.ones(C), size=200)) < 1 - 1 / C).all()
    np.testing.assert_allclose(class_fractions([0, 1, 1], [2.0, 1.0, 1.0]), [0.5, 0.5])


@pytest.mark.claims("trees-05")
def test_entropy_has_its_extremes_and_any_base_gives_the_same_splits(rng):
    assert entropy([1.0, 0.0]) == 0 and entropy([0, 0, 1]) == 0
    for C in (2, 5):
        assert entropy(np.full(C, 1 / C)) == pytest.approx(np.log(C), abs=1e-15)
        assert (entropy(rng.dirichlet(np.ones(C), size=200)) < np.log(C)).all()
    p = rng.dirichlet(np.ones(4))
    bits = -np.sum(p * np.log2(p))
    assert entropy(p) == pytest.approx(np.log(2) * bits, abs=1e-14)
    X, y = tied(rng)
    ours = best_split(X, y, criterion="entropy")

    def in_bits(left):
        sides = y[left], y[~left]
        return sum(
            len(s) * -np.sum(class_fractions(s) * np.log2(class_fractions(s))) for s in sides
        )

    least = min(in_bits(left) for _, _, left in all_splits(X)) / len(y)
    assert in_bits(X[:, ours.feature] <= ours.threshold) / len(y) == pytest.approx(least)
    assert ours.impurity == pytest.approx(np.log(2) * least, abs=1e-12)


@BOTH
@pytest.mark.claims("trees-06")
def test_impurity_of_a_tree_is_that_of_its_leaves(rng, criterion):
    for _ in range(5):
        X, y = tied(rng)
        tree = grow(X, y, criterion=criterion, max_depth=3)
        leaf = descend(tree, X)
        book = sum(
            np.mean(leaf == i) * impurity_of(y[leaf == i], criterion) for i in set(leaf.tolist())
        )
        assert tree_impurity(tree)[0] == pytest.approx(book, abs=1e-12)
        left = X[:, 0] <= 1.5
        assert split_impurity(y, left, criterion) == pytest.approx(after(y, left, criterion))
        rules = {"criterion": criterion, "min_samples_leaf": 4}  # with impure leaves on the way
        w = rng.integers(1, 4, size=len(y))
        for depth in (1, 2, 3, None):
            shallow = grow(X, y, w, **rules, max_depth=depth)
            leaf = np.repeat(descend(shallow, X), w)
            book = [np.mean(leaf == i) * impurity_of(np.repeat(y, w)[leaf == i], criterion)
                    for i in set(leaf.tolist())]  # fmt: skip
            assert tree_impurity(shallow)[0] == pytest.approx(sum(book), abs=1e-12)
    for side in (np.ones, np.zeros):
        message = "left must send samples to both sides; got all on one"
        with pytest.raises(ValueError, match=message):
            split_impurity(y, side(len(y), dtype=bool), criterion)


@pytest.mark.claims("trees-03")
def test_a_multiway_node_is_a_chain_of_binary_ones():
    x, y = np.array([0, 1, 2, 0, 1, 2, 2]), np.array([0, 1, 0, 0, 0, 1, 1])
    chain = np.where(x <= 0, 0, np.where(x <= 1, 1, 2))  # two questions, one below the other
    root = id3(x[:, None], y)
    np.testing.assert_allclose(id3_predict(root, x[:, None])[:, 1], [np.mean(y[chain == c])
                               for c in chain])  # fmt: skip
    tree = grow(x[:, None].astype(float), y)
    leaf = descend(tree, x[:, None].astype(float))
    np.testing.assert_array_equal(leaf[:, None] == leaf, x[:, None] == x)
    for criterion in ("gini", "entropy"):
        first = x <= 0
        rest = split_impurity(y[~first], x[~first] <= 1, criterion)
        book = first.mean() * impurity_of(y[first], criterion) + (~first).mean() * rest
        assert multiway_impurity(x, y, criterion) == pytest.approx(book, abs=1e-15)
    assert tree_impurity(tree)[0] == pytest.approx(multiway_impurity(x, y), abs=1e-15)


@BOTH
@pytest.mark.claims("trees-07")
def test_no_split_raises_the_impurity(rng, criterion):
    X, y = tied(rng)
    gains = [impurity_of(y, criterion) - split_impurity(y, left, criterion)
             for _, _, left in all_splits(X)]  # fmt: skip
    assert min(gains) >= -1e-12 and max(gains) > 1e-3
    same = np.array([0, 1, 1] * 4), np.repeat([True, False], 6)
    assert split_impurity(*same, criterion) == pytest.approx(impurity_of(same[0], criterion))
    other = np.array([0, 0, 1] + [0, 1, 1] * 3), np.repeat([True, False], [3, 9])
    assert split_impurity(*other, criterion) < impurity_of(other[0], criterion) - 1e-3


@pytest.mark.claims("trees-07")
def test_entropy_gain_is_mutual_information(rng):
    X, y = tied(rng)
    for _, _, left in all_splits(X):
        joint = np.array([[np.mean((left == s) & (y == c)) for c in range(3)] for s in (0, 1)])
        apart = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
        some = joint > 0
        information = np.sum(joint[some] * np.log(joint[some] / apart[some]))
        gain = impurity_of(y, "entropy") - split_impurity(y, left, "entropy")
        assert gain == pytest.approx(information, abs=1e-12)


# ---------------------------------------------------------------------------------------
# The best split
# ---------------------------------------------------------------------------------------


@BOTH
@pytest.mark.claims("trees-08", "trees-12")
def test_the_sweep_finds_what_brute_force_finds(rng, criterion):
    for C in (2, 3, 5):
        for X, y in (tied(rng, C=C), (rng.normal(size=(30, 4)), rng.integers(C, size=30))):
            f, t, least = best_split(X, y, criterion=criterion)
            book = book_split(X, y, criterion)
            assert (f, t) == book[:2] and least == pytest.approx(book[2], abs=1e-12)
    assert best_split(np.ones((4, 2)), np.array([0, 1, 0, 1]), criterion=criterion) is None
    pure = np.array([[1.0, 9.0], [1.0, 5.0], [1.0, 3.0]]), np.zeros(3)
    assert best_split(*pure, criterion=criterion) == (1, 4.0, 0.0)  # the first


@pytest.mark.claims("trees-08")
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_every_cut_of_the_sweep_has_the_impurity_of_its_two_sides(rng, criterion, monkeypatch):
    X, y = tied(rng, n=40)
    w = rng.uniform(0.5, 2, size=40)
    S = contributions(y, w)
    np.testing.assert_allclose(S.sum(axis=1), [w[y == c].sum() for c in range(3)], rtol=1e-12)
    cost = split_costs(X, S, criterion)
    order = np.argsort(X, axis=0)
    for f, r in itertools.product(range(3), range(1, 40)):
        left, right = order[:r, f], order[r:, f]
        if X[left[-1], f] == X[right[0], f]:
            assert cost[r - 1, f] == np.inf
            continue
        sides = [w[side].sum() * IMPURITY[criterion](class_fractions(y[side], w[side]))
                 for side in (left, right)]  # fmt: skip
        assert cost[r - 1, f] == pytest.approx(sum(sides), rel=1e-10, abs=1e-12)
    assert np.isfinite(cost).sum() == count_splits(X)
    whole = best_split(X, y, w, criterion)
    monkeypatch.setattr(trees, "BLOCK", 1)  # feature by feature
    assert best_split(X, y, w, criterion) == whole


def test_among_equally_good_splits_the_first_feature_and_lowest_threshold_are_taken():
    y = np.array([0, 1, 1, 0])
    X = np.array([[0.0, 3], [1, 2], [2, 1], [3, 0]])  # cuts after 1 and after 3 samples are equal
    assert best_split(X, y)[:2] == best_split(X[:, ::-1], y)[:2] == (0, 0.5)
    assert best_split(X, y, np.array([1, 1, 1, 1 + 1e-6]))[:2] == (0, 2.5)
    assert best_split(X, y, min_samples_leaf=2)[:2] == (0, 1.5)
    assert best_split(X, y, min_samples_leaf=3) is None


def test_parts_of_a_sorted_set_are_sorted(rng):
    X = rng.normal(size=(40, 5))
    order, chosen = feature_order(X), rng.random(40) < 0.5
    np.testing.assert_array_equal(order.T, np.argsort(X, axis=0))
    np.testing.assert_array_equal(order_among(order, chosen), feature_order(X[chosen]))
    y, w = rng.integers(2, size=40), rng.integers(3, size=40)
    known, sorted_anew = best_split(X, y, w, order=order), best_split(X[w > 0], y[w > 0], w[w > 0])
    assert known == sorted_anew
    for ours, theirs in zip(grow(X, y, w, order=order), grow(X, y, w), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_error_rate_misses_a_difference_that_gini_sees():
    y = np.repeat([0, 1], 400)
    even = np.r_[np.ones(300), np.zeros(400), np.ones(100)].astype(bool)  # (300, 100), (100, 300)
    pure = np.r_[np.ones(200), np.zeros(600)].astype(bool)  # (200, 0), (200, 400)
    assert split_impurity(y, even, "error") == split_impurity(y, pure, "error") == 0.25
    assert split_impurity(y, even) == 0.375 and split_impurity(y, pure) == pytest.approx(1 / 3)
    assert error_rate([0.5, 0.2, 0.3]) == 0.5


@pytest.mark.claims("trees-08")
def test_splits_are_counted_as_partitions(rng):
    X = rng.normal(size=(12, 3))
    assert count_splits(X) == 11 * 3 == len(list(all_splits(X)))
    X, _ = tied(rng)
    assert count_splits(X) == sum(len(set(x.tolist())) - 1 for x in X.T) == len(list(all_splits(X)))
    sides = [{tuple(x <= t) for t in np.linspace(-1, 5, 61)} for x in X.T]
    assert count_splits(X) == sum(len(each) - 2 for each in sides)  # none left, none right


@pytest.mark.claims("trees-12")
@pytest.mark.claims("trees-11")
@BOTH
def test_greedy_misses_the_smallest_tree(criterion):
    X, y = DECOY
    assert smallest(X, y) == 3
    tree = grow(X, y, criterion=criterion)
    assert len(inner(tree)) == 5
    assert best_split(X, y, criterion=criterion)[:2] == book_split(X, y, criterion)[:2]


@BOTH
@pytest.mark.claims("trees-13")
def test_the_best_split_may_be_one_against_all(criterion):
    X, y = np.arange(100.0)[:, None], (np.arange(100) == 99).astype(int)
    assert best_split(X, y, criterion=criterion) == (0, 98.5, 0.0)
    half = split_impurity(y, X[:, 0] < 50, criterion)
    assert half > 0.015 and grow(X, y).n_samples.tolist() == [100, 99, 1]


@BOTH
@pytest.mark.claims("trees-14")
def test_many_splits_gain_and_one_is_best(rng, criterion):
    X, y = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    found = np.array([split_impurity(y, left, criterion) for _, _, left in all_splits(X)])
    printed = found < impurity_of(y, criterion) - 1e-12  # "less than the parent"
    assert printed.sum() > 50
    least = best_split(X, y, criterion=criterion).impurity
    assert np.sum(found <= least + 1e-12) == 1


@pytest.mark.claims("trees-17")
def test_the_best_split_of_targets_is_least_squares(rng):
    X, y = rng.integers(6, size=(25, 3)).astype(float), 1e6 + rng.normal(size=25)
    w = rng.uniform(0.5, 2, size=25)

    def spread(rows):
        return np.sum(w[rows] * (y[rows] - np.average(y[rows], weights=w[rows])) ** 2)

    book = min(spread(left) + spread(~left) for _, _, left in all_splits(X))
    f, t, impurity = best_split(X, y, w, "squared_error")
    left = X[:, f] <= t
    assert spread(left) + spread(~left) == pytest.approx(book, rel=1e-9)
    assert impurity == pytest.approx(book / w.sum(), rel=1e-6)
    tree = grow(X, y, w, criterion="squared_error", max_depth=3)
    leaf = descend(tree, X)
    for i in set(leaf.tolist()):
        rows = leaf == i
        mean = tree.value[i, 0]
        assert mean == pytest.approx(np.average(y[rows], weights=w[rows]), rel=1e-12)
        for shift in (-0.3, 0.3):  # any other value costs more, by exactly so much
            more = w[rows] @ ((y[rows] - mean - shift) ** 2 - (y[rows] - mean) ** 2)
            assert more == pytest.approx(w[rows].sum() * shift**2, rel=1e-6)


def test_oblique_directions_without_a_difference_of_means_are_left_out(rng):
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    w, t, impurity = oblique_split(corners, np.array([0, 1, 1, 0]))
    assert w.tolist() == [1, 0] and (t, impurity) == (0.5, 0.5)
    w, t, impurity = oblique_split(corners, np.zeros(4))  # one class, and any split will do
    assert w.tolist() == [1, 0] and (t, impurity) == (0.5, 0.0)
    flat = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]])  # no scatter within the classes
    w, t, impurity = oblique_split(flat, np.array([0, 0, 1]))
    assert w.tolist() == [1, 0] and (t, impurity) == (1.0, 0.0)
    with pytest.raises(ValueError, match="X must hold samples that differ; all are equal"):
        oblique_split(corners[[0, 0]], np.array([0, 1]))


# ---------------------------------------------------------------------------------------
# Trees
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("trees-01")
def test_a_tree_is_nested_questions_and_its_leaves_are_boxes(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    tree = grow(X, y, max_depth=4)
    Z = 2 * rng.normal(size=(10_000, 3))
    leaf, node = descend(tree, Z), nested(tree)
    said = tree.value[leaf].argmax(axis=1)
    np.testing.assert_array_equal(said, [ask(node, z) for z in Z])
    low, high = leaf_boxes(tree, 3)
    ends = np.flatnonzero(tree.feature < 0)
    inside = np.array([((low[i] < Z) & (high[i] >= Z)).all(axis=1) for i in ends])
    assert (inside.sum(axis=0) == 1).all()
    np.testing.assert_array_equal(inside, leaf == ends[:, None])
    on = np.tile(tree.threshold[0], (1, 3))  # x_f = t goes left
    assert descend(tree, on, 1)[0] == tree.left[0]


@BOTH
@pytest.mark.claims("trees-09")
def test_the_queue_grows_the_tree_of_the_recursion(rng, criterion):
    for trial in range(6):
        X, y = tied(rng, C=2 + trial % 3)
        tree = grow(X, y, criterion=criterion)
        assert nested(tree) == book_tree(X, y, criterion)
        ends = tree.feature < 0
        assert tree.n_samples[ends].sum() == len(y)
        at = [descend(tree, X, k) for k in range(tree.depth.max() + 1)]
        for i in inner(tree):
            rows = at[tree.depth[i]] == i
            f, t, _ = book_split(X[rows], y[rows], criterion)
            assert (tree.feature[i], tree.threshold[i]) == (f, t)
            sizes = tree.n_samples[[tree.left[i], tree.right[i]]]
            assert (sizes > 0).all() and sizes.sum() == tree.n_samples[i] == rows.sum()


@pytest.mark.claims("trees-09")
def test_the_base_cases_end_the_growth():
    same = grow(np.ones((3, 2)), np.array([0, 0, 1]))
    assert len(same.feature) == 1 and same.value[0].argmax() == 0
    assert len(grow(np.eye(3), np.ones(3, dtype=int)).feature) == 1
    tree = grow(np.arange(600.0)[:, None], np.arange(600) % 2)  # a comb; deep, and no recursion
    assert np.sum(tree.feature < 0) == 600
    chain = grow(
        np.exp2(np.arange(300.0))[:, None], 3.0 ** np.arange(300), criterion="squared_error"
    )
    assert chain.depth.max() > 250


@pytest.mark.claims("trees-10")
def test_only_conflicting_duplicates_keep_a_tree_from_being_pure(rng):
    X, y = rng.normal(size=(50, 2)), rng.integers(3, size=50)
    model = DecisionTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1 and (model.tree_.impurity[model.tree_.feature < 0] == 0).all()
    X, y = tied(rng, n=60, d=2)
    wrong = np.count_nonzero(DecisionTreeClassifier().fit(X, y).predict(X) != y)
    groups = {tuple(x): np.bincount(y[(X == x).all(axis=1)]) for x in X}
    assert wrong == sum(count.sum() - count.max() for count in groups.values()) > 0


@pytest.mark.claims("trees-15")
def test_the_printed_block_does_not_return_a_tree(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2

    def printed(X, y):
        if (y == y[0]).all() or (X == X[0]).all():
            return int(np.bincount(y).argmax())
        f, t, _ = book_split(X, y, "gini")
        left = X[:, f] <= t
        printed(X[left], y[left]), printed(X[~left], y[~left])
        return None  # the block only defines S_L and S_R

    assert printed(X, y) is None and printed(X[:1], y[:1]) == y[0]
    tree = nested(grow(X, y))
    assert [ask(tree, x) for x in X] == y.tolist()


@pytest.mark.claims("trees-19")
def test_a_walk_takes_few_comparisons_and_no_training_data(rng):
    X = rng.normal(size=(200, 2)) + 12 * np.repeat([[0, 0], [1, 0]], 100, axis=0)
    y = np.repeat([0, 1], 100)
    model = DecisionTreeClassifier().fit(X, y)
    Z = X + 0.1
    near = KNeighborsClassifier(n_neighbors=1).fit(X, y).predict(Z)
    np.testing.assert_array_equal(model.predict(Z), near)
    assert model.get_depth() == 1  # one comparison, where 1-NN takes 200 distances
    labels = rng.integers(3, size=200)
    deep = DecisionTreeClassifier(max_depth=5).fit(X, labels)
    for steps, there in ((deep.get_depth(), True), (deep.get_depth() - 1, False)):
        assert (descend(deep.tree_, Z, steps) == deep.apply(Z)).all() == there
    leaf, said = deep.apply(X), deep.predict(X)
    for i in set(leaf.tolist()):
        assert (said[leaf == i] == np.bincount(labels[leaf == i]).argmax()).all()
    assert max(np.size(part) for part in deep.tree_) < len(X)  # nodes, no samples
    before = deep.predict(Z)
    X[:] = 0
    np.testing.assert_array_equal(deep.predict(Z), before)
    board = rng.uniform(0, 20, size=(2, 300, 2))
    dark = np.floor(board).sum(axis=-1) % 2
    for kind in (DecisionTreeClassifier(), KNeighborsClassifier(n_neighbors=1)):
        assert kind.fit(board[0], dark[0]).score(board[1], dark[1]) < 0.7  # cells without samples


@pytest.mark.claims("trees-20")
def test_increasing_maps_of_features_keep_the_tree(rng):
    X, Z, y = rng.normal(size=(60, 2)), rng.normal(size=(500, 2)), rng.integers(2, size=60)
    tree = grow(X, y)

    for bend in (np.exp, lambda x: x**3):
        bent = grow(bend(X), y)
        np.testing.assert_array_equal(bent.feature, tree.feature)
        np.testing.assert_array_equal(bent.left, tree.left)
        np.testing.assert_array_equal(descend(bent, bend(X)), descend(tree, X))
        on, bent_on = data_thresholds(tree, X), data_thresholds(bent, bend(X))
        np.testing.assert_array_equal(descend(bent_on, bend(Z)), descend(on, Z))
        np.testing.assert_array_equal(descend(on, X), descend(tree, X))
        assert (descend(bent, bend(Z)) != descend(tree, Z)).any()  # halves between do not follow
    three, labels, query = np.array([[0.0], [2.5]]), [0, 1], np.array([[1.5]])
    near = KNeighborsClassifier(n_neighbors=1)
    assert near.fit(three, labels).predict(query)[0] == 1
    assert near.fit(np.exp(three), labels).predict(np.exp(query))[0] == 0


# ---------------------------------------------------------------------------------------
# Rules, weights, pruning
# ---------------------------------------------------------------------------------------


def test_stopping_rules_are_kept(rng):
    X, y = rng.normal(size=(120, 3)), rng.integers(2, size=120)
    for kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        assert kind(max_depth=3).fit(X, y).get_depth() == 3
        tree = kind(min_samples_leaf=7).fit(X, y).tree_
        assert tree.n_samples.min() >= 7
        tree = kind(min_samples_split=0.25).fit(X, y).tree_
        assert tree.n_samples[inner(tree)].min() >= 30
        tree = kind(min_impurity_decrease=0.01).fit(X, y).tree_
        i = inner(tree)
        cost = tree.weight * tree.impurity / 120
        assert (cost[i] - cost[tree.left[i]] - cost[tree.right[i]] >= 0.01 - 1e-12).all()
        assert 0 < len(i) < 30


def test_integer_weights_act_as_repetitions(rng):
    X, y = tied(rng, n=50)
    w = rng.integers(0, 4, size=50)
    for criterion, labels in (("gini", y), ("entropy", y), ("squared_error", y + 0.5)):
        ours = grow(X, labels, w, criterion=criterion)
        twice = grow(np.repeat(X, w, axis=0), np.repeat(labels, w), criterion=criterion)
        np.testing.assert_array_equal(ours.feature, twice.feature)
        np.testing.assert_allclose(ours.value, twice.value, rtol=1e-12, atol=1e-12)
        kind = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
        model = kind(criterion=criterion, max_depth=3).fit(X, labels, w)
        cut = grow(X, labels, w, criterion=criterion, max_depth=3)
        np.testing.assert_array_equal(model.tree_.weight, cut.weight)
        np.testing.assert_array_equal(model.tree_.threshold, cut.threshold)


def test_a_row_of_weights_may_leave_out_a_class(rng):
    X, y = rng.normal(size=(12, 2)), np.repeat([0, 1, 2], 4)
    W = np.array([y < 2, y > 0, y == 2], dtype=float)
    assert [tree.value.shape[1] for tree in grow_all(X, y, W)] == [3, 3, 3]
    assert [len(tree.feature) for tree in grow_all(X, y, W[2:])] == [1]
    with pytest.raises(ValueError, match="sample_weight must be >= 0 and not zero everywhere"):
        grow_all(X, y, np.zeros((1, 12)))


def test_the_rules_are_those_of_the_hyperparameters():
    model = DecisionTreeRegressor(max_features="sqrt", min_samples_split=0.25, max_depth=3)
    rules = model.growth_rules(40, 9)
    assert rules["criterion"] == "squared_error" and rules["max_features"] == 3
    assert rules["min_samples_split"] == 10 and rules["max_depth"] == 3
    rules = DecisionTreeClassifier(min_samples_split=0.01, max_features=12).growth_rules(55, 9)
    assert rules["min_samples_split"] == 2 and rules["max_features"] == 9
    shares = DecisionTreeClassifier(min_samples_leaf=0.1, max_features="log2")
    rules = shares.growth_rules(55, 64)
    assert rules["min_samples_leaf"] == 6 and rules["max_features"] == 6


def test_a_midpoint_is_below_the_larger_value():
    odd = np.nextafter(1.0, 2)  # the middle of it and the next is rounded up, to the next
    for a, b in ((1.0, 2.0), (1.0, odd), (odd, np.nextafter(odd, 2)), (-1e150, 1e150)):
        assert a <= midpoint(a, b) < b


def test_drawn_features_are_those_that_vary(rng):
    X = np.column_stack([np.zeros((80, 4)), rng.normal(size=80), np.zeros(80)])
    y = rng.integers(2, size=80)
    model = DecisionTreeClassifier(max_features=1, random_state=0).fit(X, y)
    assert model.score(X, y) == 1 and set(model.tree_.feature.tolist()) == {-1, 4}
    X = rng.normal(size=(80, 6))
    roots = {
        int(DecisionTreeClassifier(max_features=1, random_state=s).fit(X, y).tree_.feature[0])
        for s in range(40)
    }
    assert roots == set(range(6))
    same = np.repeat(X[:, :1], 4, axis=1)
    roots = {int(grow(same, y, max_features=3, max_depth=1, rng=s).feature[0]) for s in range(40)}
    assert roots == {0, 1}  # of those that are drawn, the first
    once = [grow(X, y, max_features=1, max_depth=2, rng=s).feature[1:3] for s in range(20)]
    assert any(a != b for a, b in once if min(a, b) >= 0)  # every node draws its own
    assert DecisionTreeClassifier(max_features="sqrt").fit(X, y).max_features_ == 2
    assert DecisionTreeClassifier(max_features=0.4).fit(X, y).max_features_ == 2


def test_pruning_finds_the_cheapest_subtree_of_the_path(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    tree = grow(X, y)
    path = list(weakest_links(tree))
    sizes = [np.sum(step.tree.feature < 0) for step in path]
    assert sizes[-1] == 1 and (np.diff(sizes) < 0).all()
    assert (np.diff([step.objective for step in path]) >= -1e-15).all()
    for alpha in np.linspace(0.0005, path[-1].alpha * 1.1, 15):
        on_path = [step for step in path if step.alpha <= alpha][-1].tree
        cut = prune(tree, alpha)
        assert nested(cut) == nested(on_path)
        cost = [s.objective + alpha * size for s, size in zip(path, sizes, strict=True)]
        ours = tree_impurity(cut)[0] + alpha * np.sum(cut.feature < 0)
        assert ours == pytest.approx(min(cost), abs=1e-12)
    for alpha in (-1, np.nan):
        with pytest.raises(ValueError, match=f"alpha must be >= 0; got {alpha}"):
            prune(tree, alpha)
    for w in (None, [6, 8, 72, 96]):  # with these, the gain is rounded to less than 0
        no_gain = grow(np.array([[0.0], [0], [1], [1]]), np.array([0, 1, 0, 1]), w)
        assert len(no_gain.feature) == 3 and len(prune(no_gain, 0.0).feature) == 1
        path = list(itertools.islice(weakest_links(no_gain), 3))
        assert [(len(step.tree.feature), step.alpha) for step in path] == [(3, 0.0), (1, 0.0)]
    assert DecisionTreeClassifier(ccp_alpha=1.0).fit(X, y).get_n_leaves() == 1


def test_neighbouring_numbers_and_the_ends_of_the_range_split():
    for a, b in ((1.0, 1 + 1e-15), (-1e150, 1e150), (0.0, 1e-150)):
        model = DecisionTreeClassifier().fit([[a], [b]], [0, 1])
        assert model.predict([[a], [b]]).tolist() == [0, 1]


def test_targets_within_the_range_split_and_others_are_refused():
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1, 9, 9, 8, 8])
    for size in (1e-140, 1e-6, 1e6, 1e140):
        tree = DecisionTreeRegressor(max_depth=1).fit(X, size * y).tree_
        assert tree.threshold[0] == 1.5
        np.testing.assert_allclose(tree.value[1:, 0], [0.5 * size, 8.5 * size], rtol=1e-12)
    with pytest.raises(ValueError, match="y must have values that are equal or differ by 1e-150"):
        DecisionTreeRegressor().fit(X, 1e-200 * y)
    with pytest.raises(ValueError, match=r"y must lie within -1e\+150 and 1e\+150"):
        DecisionTreeRegressor().fit(X, 1e160 * y)
    assert DecisionTreeRegressor().fit(X, np.full(6, 1e150)).predict(X[:1]) == 1e150


def test_the_value_of_equal_targets_is_exact(rng):
    X, y = np.repeat([[0.0], [1.0]], 30, axis=0), np.repeat([0.1, 1e9 + 0.1], 30)
    model = DecisionTreeRegressor().fit(X, y, rng.uniform(0.1, 3, size=60))
    assert (model.predict(X) == y).all() and model.get_n_leaves() == 2


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_mirrored_features_tie_and_the_first_is_taken(rng, criterion, monkeypatch):
    X, y = tied(rng, n=60)
    w = rng.uniform(0.5, 2, size=60)
    both = np.column_stack([X, -X])  # the same splits, with costs that are rounded otherwise
    for block in (trees.BLOCK, 1):  # all features at once, or one by one
        monkeypatch.setattr(trees, "BLOCK", block)
        assert grow(both, y, w, criterion=criterion).feature.max() < X.shape[1]


@BOTH
def test_weights_of_any_ratio_leave_no_training_error(criterion):
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    row = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0])
    for big in (1e3, 1e5, 1e7, 1e9, 1e16, 1e17, 1e20):
        for (X, y), weights in (
            (corners, [1, big, big, 1]),  # no first question gains anything
            (row, [big, 1, 1]),
            (row, [1, big, 1]),
            (row, [1, 1, big]),
        ):
            model = DecisionTreeClassifier(criterion=criterion).fit(X, y, weights)
            assert model.score(X, y) == 1


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_light_samples_count_on_either_side_of_a_heavy_one(criterion):
    X, y, w = np.array([[0.0], [1.0], [2.0]]), np.array([1, 1, 0]), np.array([1, 1e-10, 1e-10])
    for sign in (1, -1):
        assert best_split(sign * X, y, w, criterion).threshold == sign * 1.5


def test_samples_without_weight_do_not_matter_to_the_best_split():
    X, w = np.array([[1.0], [1.0], [2.0]]), [1, 1, 0]
    assert best_split(X, np.array([0, 1, 0]), w) is None  # those that weigh something are equal
    X = np.array([[1.0], [3.0], [2.0]])
    assert best_split(X, np.array([0, 0, 1]), w) == (0, 2.0, 0.0)


def test_importances_are_shares_of_the_decrease(rng):
    X, y = rng.normal(size=(80, 3)), rng.integers(2, size=80)
    tree = grow(X, y, max_depth=3)
    book = np.zeros(3)
    for i in inner(tree):
        rows = descend(tree, X, tree.depth[i]) == i
        left = X[rows, tree.feature[i]] <= tree.threshold[i]
        gain = impurity_of(y[rows], "gini") - after(y[rows], left, "gini")
        book[tree.feature[i]] += rows.sum() * gain
    np.testing.assert_allclose(
        feature_importances(tree, 3), book / book.sum(), rtol=1e-12, atol=1e-12
    )


def test_hyperparameters_are_refused_by_their_rule():
    X, y = np.eye(4), [0, 1, 0, 1]
    for params, message in (
        ({"max_depth": 0}, "max_depth must be None or an integer >= 1; got 0"),
        ({"min_samples_split": 1}, "min_samples_split must be an integer >= 2 or a share"),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf must be an integer >= 1 or a share"),
        ({"min_samples_leaf": True}, "min_samples_leaf must be an integer >= 1 or a share"),
        ({"max_features": 0}, "max_features must be None, 'sqrt', 'log2', an integer >= 1"),
        ({"ccp_alpha": -1.0}, "ccp_alpha must be a number >= 0; got -1.0"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            DecisionTreeClassifier(**params).fit(X, y)


# ---------------------------------------------------------------------------------------
# Categories, text and layout
# ---------------------------------------------------------------------------------------


def test_id3_asks_each_attribute_once_and_gets_it_right(rng):
    X = rng.integers(3, size=(60, 5))
    y = (X[:, 1] == 2) * 1 + (X[:, 3] == 0)
    root = id3(X, y)
    waiting = [(root, set())]
    while waiting:
        node, asked = waiting.pop()
        assert node.feature not in asked
        waiting += [(child, asked | {node.feature}) for child in node.children.values()]
    assert (id3_predict(root, X).argmax(axis=1) == y).all()
    gains = [multiway_impurity(x, y, "entropy") for x in X.T]
    assert root.feature == np.argmin(gains)
    assert ID3(max_depth=1).fit(X, y).root_.children[0].feature == -1
    fresh = X[:1] + 10 * (np.arange(5) == root.feature)  # a new value: the root is where it ends
    np.testing.assert_allclose(id3_predict(root, fresh), [np.bincount(y) / len(y)])
    message = "X must hold categories that equal themselves; got NaN"
    with pytest.raises(ValueError, match=message):  # a node of NaN would ask for ever
        id3(np.array([[np.nan], [np.nan]]), np.array([0, 1]))


def test_text_and_layout_have_every_node(rng):
    X, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    tree = grow(X, y, max_depth=3)
    text = export_text(tree)
    assert text.count("<=") == text.count(">") == len(inner(tree))
    stump = grow(np.array([[1.0], [2.0], [4.0]]), np.array([1, 1, 0]))
    assert export_text(stump) == "x_0 <= 3\n|   1 (2)\nx_0 > 3\n|   0 (1)"
    one_class = grow(np.ones((3, 1)), np.zeros(3))
    assert one_class.value.tolist() == [[1, 0]] and export_text(one_class) == "0 (3)"
    steps = grow(np.array([[1.0], [2.0]]), np.array([0.25, 7.0]), criterion="squared_error")
    assert export_text(steps) == "x_0 <= 1.5\n|   0.25 (1)\nx_0 > 1.5\n|   7 (1)"
    place = tree_layout(tree)
    ends = tree.feature < 0
    assert sorted(place[ends, 0]) == list(range(ends.sum()))
    for i in inner(tree):
        left, right = place[[tree.left[i], tree.right[i]], 0]
        assert left < right and place[i, 0] == (left + right) / 2
    np.testing.assert_array_equal(place[:, 1], -tree.depth)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, count):
    axes = Figure().subplots(1, count, squeeze=False)[0]
    draw(*axes)
    return axes


def cuts_of(ax):
    """The ends of the solid segments that are drawn."""
    return [line.get_xydata() for line in ax.lines
            if line.get_linestyle() == "-" and not hasattr(line, "get_xy1")]  # fmt: skip


def tint_at(ax, point):
    """The number of the region of a point."""
    fills = [c for c in ax.collections if c.get_facecolor().size]
    (found,) = [
        k for k, c in enumerate(fills) if any(p.contains_point(point) for p in c.get_paths())
    ]
    return found


@pytest.mark.claims("trees-02")
def test_a_diagonal_takes_a_staircase_or_one_oblique_cut():
    from figures.trees import PAIRS, beside_the_diagonal, boundaries, staircase

    for m in range(1, 5):
        X, y = beside_the_diagonal(m)
        assert np.sum(grow(X, y).feature < 0) == smallest(X, y) + 1 == 2 * m
        w, t, impurity = oblique_split(X, y)
        assert impurity == 0
        sides = X @ w > t
        assert (y[sides] == y[sides][0]).all() and (y[~sides] == 1 - y[sides][0]).all()
    left, right = panels(staircase, 2)
    X, y = beside_the_diagonal(PAIRS)
    assert len(cuts_of(left)) == len(boundaries(grow(X, y), (0, 9))) == 2 * PAIRS - 1
    assert left.get_title() + left.get_title(loc="left") == f"Axis-parallel: {2 * PAIRS} leaves"
    for ax in (left, right):
        assert [tint_at(ax, x) for x in X] == y.tolist()
    (line,) = [line for line in right.lines if hasattr(line, "get_xy1")]
    (a, b), (c, d) = line.get_xy1(), line.get_xy2()
    assert (d - b) / (c - a) == pytest.approx(1, abs=0.1)


@pytest.mark.claims("trees-21")
def test_every_cut_of_the_map_is_a_node_of_the_diagram():
    from figures.trees import diagram, two_moons

    questions, boxes, _ = panels(diagram, 3)
    X, y, model = two_moons()
    tree = model.tree_
    *nodes, yes, no = questions.texts
    assert len(nodes) == len(tree.feature) and (yes.get_text(), no.get_text()) == (" yes ", " no ")
    assert yes.get_position()[0] < nodes[0].get_position()[0] < no.get_position()[0]
    for i, text in enumerate(nodes):
        said = text.get_text()
        if tree.feature[i] < 0:
            label = model.classes_[tree.value[i].argmax()]
            assert said == f"{label}\n{tree.n_samples[i]}"
        else:
            assert f"x_{tree.feature[i]}" in said and f"{tree.threshold[i]:.3g}" in said
    drawn = {
        (f, float(cut[0, f])) for cut in cuts_of(boxes) for f in (0, 1) if np.ptp(cut[:, f]) == 0
    }
    assert drawn == {(int(tree.feature[i]), float(tree.threshold[i])) for i in inner(tree)}
    assert len(cuts_of(boxes)) == len(inner(tree))
    side = np.linspace(*np.array(boxes.get_xlim()) * 0.97, 23)
    grid = np.array([(a, b) for a in side for b in side])
    near = np.abs(grid[:, tree.feature[inner(tree)]] - tree.threshold[inner(tree)]).min(axis=1)
    clear = grid[near > 0.03]
    assert [tint_at(boxes, x) for x in clear] == model.predict(clear).tolist()


@pytest.mark.claims("trees-18")
def test_training_error_falls_with_depth_and_test_error_does_not():
    from figures.trees import SEEDS, errors_by_depth, stopping

    found = np.array([errors_by_depth(seed) for seed in SEEDS])
    assert (np.diff(found[:, 0]) <= 0).all() and (np.diff(found[:, 2]) >= 0).all()
    (ax,) = panels(stopping, 1)
    train, test = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(train, found[:, 0].mean(axis=0))
    np.testing.assert_allclose(test, found[:, 1].mean(axis=0))
    assert train[-1] < 0.02 and test[-1] > test.min() + 0.02 and test[0] > test.min()
    T = load_iris()
    pruned = [DecisionTreeClassifier(ccp_alpha=a).fit(T.X, T.y) for a in (0.0, 0.01, 0.1, 1.0)]
    assert (np.diff([model.get_n_leaves() for model in pruned]) < 0).all()
    assert (np.diff([model.score(T.X, T.y) for model in pruned]) <= 0).all()
