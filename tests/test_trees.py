"""The trees chapter: every statement of the notes, checked by a second route."""

import itertools
from functools import cache

import numpy as np
import pytest
from checks import panels
from matplotlib.figure import Figure

from mlnotes.datasets import load_iris
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Rules,
    best_split,
    class_fractions,
    collapse,
    contributions,
    count_splits,
    cut_impurities,
    data_thresholds,
    entropy,
    feature_importances,
    gini,
    grow,
    growth,
    id3,
    id3_predict,
    leaf_boxes,
    leaf_of,
    leaves_below,
    multiway_impurity,
    oblique_split,
    prune,
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


# --- The book's way, with loops and recursion ------------------------------------------


def impurity_of(y, criterion, w=None):
    """I(S), from the definitions."""
    w = np.ones(len(y)) if w is None else w
    if criterion == "squared_error":
        return np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    p = np.array([w[y == c].sum() for c in set(y.tolist())]) / w.sum()
    entropy = -sum(a * np.log(a) for a in p)
    return {"gini": 1 - sum(a * a for a in p), "entropy": entropy, "error": 1 - max(p)}[criterion]


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
        J = after(y, left, criterion)
        if best is None or J < best[2] - 1e-12:
            best = f, t, J
    return best


def book_tree(X, y, criterion):
    """(f, t, left, right), or the label of a leaf."""
    if (y == y[0]).all() or (X == X[0]).all():
        return int(np.bincount(y).argmax())
    f, t, _ = book_split(X, y, criterion)
    left = X[:, f] <= t
    return f, t, book_tree(X[left], y[left], criterion), book_tree(X[~left], y[~left], criterion)


def nested(tree, v=0):
    """The grown tree in that form."""
    if tree.feature[v] < 0:
        return int(tree.value[v].argmax())
    down = nested(tree, tree.left[v]), nested(tree, tree.right[v])
    return (int(tree.feature[v]), float(tree.threshold[v]), *down)


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
        at = np.array(rows)
        if (y[at] == y[at[0]]).all():
            return 0
        sides = [(tuple(at[left]), tuple(at[~left])) for _, _, left in all_splits(X[at])]
        return min(1 + needed(L) + needed(R) for L, R in sides)

    return needed(tuple(range(len(y))))


def tied(rng, n=40, d=3, C=3):
    """Samples with ties and duplicates, labels at random."""
    return rng.integers(4, size=(n, d)).astype(float), rng.integers(C, size=n)


def inner(tree):
    return np.flatnonzero(tree.feature >= 0)


# --- Impurity --------------------------------------------------------------------------


@pytest.mark.claims("trees-04", "trees-05")
def test_gini_is_the_probability_of_two_labels_and_entropy_has_its_extremes(rng):
    y = rng.integers(4, size=23)
    p = class_fractions(y)
    np.testing.assert_allclose(p, [np.mean(y == c) for c in range(4)])
    assert gini(p) == pytest.approx(impurity_of(y, "gini"), abs=1e-15)
    assert gini(p) == pytest.approx(np.mean([a != b for a in y for b in y]), abs=1e-12)
    assert entropy(p) == pytest.approx(impurity_of(y, "entropy"), abs=1e-15)
    assert entropy([1.0, 0.0]) == 0 and entropy([0, 0, 1]) == 0
    assert entropy(np.full(5, 1 / 5)) == pytest.approx(np.log(5), abs=1e-15)


@BOTH
@pytest.mark.claims("trees-06")
def test_tree_impurity_is_that_of_the_leaves(rng, criterion):
    X, y = tied(rng)
    left = X[:, 0] <= 1.5
    assert split_impurity(y, left, criterion) == pytest.approx(after(y, left, criterion))
    w = rng.integers(1, 4, size=len(y))
    for depth in (1, 2, 3, None):  # with impure leaves on the way
        tree = grow(X, y, w, Rules(criterion=criterion, min_samples_leaf=4, max_depth=depth))
        sets = [leaf_of(tree, X) == v for v in np.flatnonzero(tree.feature < 0)]
        book = sum(w[S].sum() * impurity_of(y[S], criterion, w[S]) for S in sets) / w.sum()
        assert tree_impurity(tree)[0] == pytest.approx(book, abs=1e-12)
        assert leaves_below(tree)[0] == len(sets)


@BOTH
@pytest.mark.claims("trees-07")
def test_split_impurity_is_never_above_that_of_the_parent(rng, criterion):
    X, y = tied(rng)
    for _, _, left in all_splits(X):
        gain = impurity_of(y, criterion) - split_impurity(y, left, criterion)
        assert gain >= -1e-12
        if criterion == "entropy":  # the mutual information of side and label
            joint = np.array([[np.mean((left == s) & (y == c)) for c in range(3)] for s in (0, 1)])
            apart = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
            terms = joint[joint > 0] * np.log(joint[joint > 0] / apart[joint > 0])
            assert gain == pytest.approx(terms.sum(), abs=1e-12)
    same = np.array([0, 1, 1] * 4), np.repeat([True, False], 6)
    assert split_impurity(*same, criterion) == pytest.approx(impurity_of(same[0], criterion))
    other = np.array([0, 0, 1] + [0, 1, 1] * 3), np.repeat([True, False], [3, 9])
    assert split_impurity(*other, criterion) < impurity_of(other[0], criterion) - 1e-3


@BOTH
@pytest.mark.claims("trees-03")
def test_multiway_impurity_is_that_of_a_chain_of_binary_questions(criterion):
    x, y = np.array([0, 1, 2, 0, 1, 2, 2]), np.array([0, 1, 0, 0, 0, 1, 1])
    tree = grow(x[:, None], y, rules=Rules(criterion=criterion))
    said, leaf = id3_predict(id3(x[:, None], y), x[:, None])[:, 1], leaf_of(tree, x[:, None])
    np.testing.assert_allclose(said, [np.mean(y[leaf == v]) for v in leaf])
    np.testing.assert_array_equal(leaf[:, None] == leaf, x[:, None] == x)
    first = x <= 0
    rest = split_impurity(y[~first], x[~first] <= 1, criterion)
    book = first.mean() * impurity_of(y[first], criterion) + (~first).mean() * rest
    assert multiway_impurity(x, y, criterion) == pytest.approx(book, abs=1e-15)
    assert tree_impurity(tree)[0] == pytest.approx(book, abs=1e-15)


# --- The best split --------------------------------------------------------------------


@pytest.mark.claims("trees-08")
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error"])
@pytest.mark.parametrize("n, d", [(40, 3), (4000, 20)])  # the larger one in blocks of features
def test_cut_impurities_are_those_of_the_two_sides(rng, criterion, n, d):
    X, y = tied(rng, n, d)
    w = rng.uniform(0.5, 2, size=n)
    J, order = cut_impurities(X.T, contributions(y, w, criterion), criterion), np.argsort(X, axis=0)
    for f in range(d):
        ends = np.diff(X[order[:, f], f]) > 0
        assert (J[f, ~ends] == np.inf).all()
        for r in np.flatnonzero(ends) + 1:
            sides = order[:r, f], order[r:, f]
            book = sum(w[S].sum() * impurity_of(y[S], criterion, w[S]) for S in sides) / w.sum()
            assert J[f, r - 1] == pytest.approx(book, rel=1e-10, abs=1e-12)
    assert np.isfinite(J).sum() == count_splits(X)  # with ties, and without them
    assert count_splits(rng.normal(size=(n, d))) == (n - 1) * d


@BOTH
@pytest.mark.claims("trees-08", "trees-12")
def test_best_split_is_that_of_brute_force(rng, criterion):
    for C in (2, 3, 5):
        for X, y in (tied(rng, C=C), (rng.normal(size=(30, 4)), rng.integers(C, size=30))):
            f, t, least = best_split(X, y, criterion=criterion)
            book = book_split(X, y, criterion)
            assert (f, t) == book[:2] and least == pytest.approx(book[2], abs=1e-12)
    assert best_split(np.ones((4, 2)), np.array([0, 1, 0, 1]), criterion=criterion) is None
    pure = np.array([[1.0, 9.0], [1.0, 5.0], [1.0, 3.0]]), np.zeros(3, dtype=int)
    assert best_split(*pure, criterion=criterion) == (1, 4.0, 0.0)  # the first


def test_best_split_takes_the_first_feature_and_the_lowest_threshold_of_equal_ones():
    y = np.array([0, 1, 1, 0])
    X = np.array([[0.0, 3], [1, 2], [2, 1], [3, 0]])  # cuts after 1 and after 3 samples are equal
    assert best_split(X, y)[:2] == best_split(X[:, ::-1], y)[:2] == (0, 0.5)
    assert best_split(X, y, np.array([1, 1, 1, 1 + 1e-6]))[:2] == (0, 2.5)
    assert best_split(X, y, min_samples_leaf=2)[:2] == (0, 1.5)
    assert best_split(X, y, min_samples_leaf=3) is None
    least = np.arange(5.0)[:, None], np.array([0, 1, 1, 1, 1])
    assert best_split(*least, min_samples_leaf=2)[:2] == (0, 1.5)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_best_split_takes_the_first_of_mirrored_features(rng, criterion):
    X, y = tied(rng, n=60)
    w = rng.uniform(0.5, 2, size=60)
    both = np.column_stack([X, -X])  # the same splits, with sums that are rounded otherwise
    for offset in (0, 1e5) if criterion == "squared_error" else (0,):
        tree = grow(both, offset + y, w, Rules(criterion=criterion))
        assert tree.feature.max() < X.shape[1]


@pytest.mark.parametrize("low, high", [(1.0, 1 + 2**-52), (1 + 2**-52, 1 + 2**-51), (-1e150, 1e150),
                                       (0.0, 1e-150)])  # fmt: skip
def test_best_split_has_a_threshold_below_the_larger_value(low, high):
    X, y = np.array([[low], [high]]), [0, 1]
    assert low <= best_split(X, np.array(y)).threshold < high
    assert DecisionTreeClassifier().fit(X, y).predict(X).tolist() == y


@BOTH
@pytest.mark.claims("trees-13")
def test_best_split_may_be_one_against_all(criterion):
    X, y = np.arange(100.0)[:, None], (np.arange(100) == 99).astype(int)
    assert best_split(X, y, criterion=criterion) == (0, 98.5, 0.0)
    half = split_impurity(y, X[:, 0] < 50, criterion)
    assert half > 0.015 and grow(X, y).n_samples.tolist() == [100, 99, 1]


@BOTH
@pytest.mark.claims("trees-14")
def test_best_split_is_one_of_many_that_gain(rng, criterion):
    X, y = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    J = np.array([split_impurity(y, left, criterion) for _, _, left in all_splits(X)])
    printed = J < impurity_of(y, criterion) - 1e-12  # "less than the parent"
    assert printed.sum() > 50
    assert np.sum(J <= best_split(X, y, criterion=criterion).impurity + 1e-12) == 1


@pytest.mark.claims("trees-17")
def test_best_split_of_targets_is_least_squares(rng):
    X, y = rng.integers(6, size=(25, 3)).astype(float), 1e6 + rng.normal(size=25)
    w = rng.uniform(0.5, 2, size=25)

    def spread(rows):
        return w[rows].sum() * impurity_of(y[rows], "squared_error", w[rows])

    book = min(spread(left) + spread(~left) for _, _, left in all_splits(X))
    f, t, J = best_split(X, y, w, "squared_error")
    left = X[:, f] <= t
    assert spread(left) + spread(~left) == pytest.approx(book, rel=1e-9)
    assert J == pytest.approx(book / w.sum(), rel=1e-6)
    tree = grow(X, y, w, Rules(criterion="squared_error", max_depth=3))
    leaf = leaf_of(tree, X)
    for v in set(leaf.tolist()):
        rows = leaf == v
        mean = tree.value[v, 0]
        assert mean == pytest.approx(np.average(y[rows], weights=w[rows]), rel=1e-12)
        assert tree.impurity[v] == pytest.approx(spread(rows) / w[rows].sum(), rel=1e-6, abs=1e-9)
        for shift in (-0.3, 0.3):  # any other value costs more, by exactly so much
            rise = w[rows] @ ((y[rows] - mean - shift) ** 2 - (y[rows] - mean) ** 2)
            assert rise == pytest.approx(w[rows].sum() * shift**2, rel=1e-6)


def test_oblique_split_is_an_axis_or_the_fisher_direction_of_a_class(rng):
    X, y = rng.normal(size=(300, 2)) @ [[1, 0.9], [0, 0.3]], np.repeat([0, 1], 150)
    X[y == 1, 1] += 1.5
    u, t, J = oblique_split(X, y)
    assert split_impurity(y, X @ u <= t) == pytest.approx(J) and J < best_split(X, y).impurity
    m = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    fisher = np.linalg.solve((X - m[y]).T @ (X - m[y]), m[1] - m[0])
    assert abs(u @ fisher) / np.linalg.norm(fisher) == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(oblique_split(1e-6 * X, y).u, u, rtol=1e-9)
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])  # all class means are equal
    u, t, J = oblique_split(corners, np.array([0, 1, 1, 0]))
    assert u.tolist() == [1, 0] and (t, J) == (0.5, 0.5)
    flat = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]])  # no scatter within the classes
    assert oblique_split(flat, np.array([0, 0, 1]))[1:] == (1.0, 0.0)


# --- Trees -----------------------------------------------------------------------------


@pytest.mark.claims("trees-01")
def test_leaf_of_answers_nested_questions_and_leaves_are_boxes(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    tree = grow(X, y, rules=Rules(max_depth=4))
    Z = 2 * rng.normal(size=(10_000, 3))
    leaf, node = leaf_of(tree, Z), nested(tree)
    said = tree.value[leaf].argmax(axis=1)
    np.testing.assert_array_equal(said, [ask(node, z) for z in Z])
    low, high = leaf_boxes(tree, 3)
    ends = np.flatnonzero(tree.feature < 0)
    inside = np.array([((low[v] < Z) & (high[v] >= Z)).all(axis=1) for v in ends])
    np.testing.assert_array_equal(inside, leaf == ends[:, None])  # one box each
    on = np.tile(tree.threshold[0], (1, 3))  # x_f = t goes left
    assert leaf_of(tree, on, 1)[0] == tree.left[0]


@pytest.mark.claims("trees-20")
def test_data_thresholds_follow_increasing_maps_of_features(rng):
    X, Z, y = rng.normal(size=(60, 2)), rng.normal(size=(500, 2)), rng.integers(2, size=60)
    tree = grow(X, y)
    on = data_thresholds(tree, X)
    np.testing.assert_array_equal(leaf_of(on, X), leaf_of(tree, X))
    for bend in (np.exp, lambda x: x**3):
        bent = grow(bend(X), y)
        np.testing.assert_array_equal(bent.feature, tree.feature)
        np.testing.assert_array_equal(bent.left, tree.left)
        np.testing.assert_array_equal(leaf_of(bent, bend(X)), leaf_of(tree, X))
        bent_on = data_thresholds(bent, bend(X))
        np.testing.assert_array_equal(leaf_of(bent_on, bend(Z)), leaf_of(on, Z))
        assert (leaf_of(bent, bend(Z)) != leaf_of(tree, Z)).any()  # halves between do not follow
    line, labels, query = np.array([[0.0], [2.5]]), [0, 1], np.array([[1.5]])
    near = KNeighborsClassifier(n_neighbors=1)
    assert near.fit(line, labels).predict(query)[0] == 1
    assert near.fit(np.exp(line), labels).predict(np.exp(query))[0] == 0


# --- Growing ---------------------------------------------------------------------------


@BOTH
@pytest.mark.claims("trees-09", "trees-15")
def test_growth_is_the_recursion_of_the_book(rng, criterion):
    for C in (2, 3, 4):
        X, y = tied(rng, C=C)
        tree = grow(X, y, rules=Rules(criterion=criterion))
        assert nested(tree) == book_tree(X, y, criterion)
        nodes = growth(X, y, rules=Rules(criterion=criterion))
        for v, node in enumerate(sorted(nodes)):
            S = np.flatnonzero(leaf_of(tree, X, node.depth) == v)  # those that come so far
            np.testing.assert_array_equal(node.samples, S)
            assert tree.n_samples[v] == len(S) and tree.share[v] == len(S) / len(y)
            np.testing.assert_array_equal(tree.value[v], np.bincount(y[S], minlength=y.max() + 1)
                                          / len(S))  # fmt: skip
            assert tree.impurity[v] == pytest.approx(impurity_of(y[S], criterion), abs=1e-12)
            if node.feature >= 0:
                assert (node.feature, node.threshold) == book_split(X[S], y[S], criterion)[:2]


@pytest.mark.claims("trees-09")
def test_growth_ends_at_the_base_cases():
    same = grow(np.ones((3, 2)), np.array([0, 0, 1]))
    assert len(same.feature) == 1 and same.value[0].argmax() == 0
    one_class = grow(np.eye(3), np.zeros(3, dtype=int))
    assert one_class.value.tolist() == [[1, 0]]  # the class, and not its share alone
    tree = grow(np.arange(600.0)[:, None], np.arange(600) % 2)  # a comb; deep, and no recursion
    assert np.sum(tree.feature < 0) == 600
    chain = grow(np.exp2(np.arange(300.0))[:, None], 3.0 ** np.arange(300),
                 rules=Rules(criterion="squared_error"))  # fmt: skip
    assert chain.depth.max() > 250


@pytest.mark.claims("trees-10")
def test_growth_is_pure_but_for_conflicting_duplicates(rng):
    X, y = rng.normal(size=(50, 2)), rng.integers(3, size=50)
    model = DecisionTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1 and (model.tree_.impurity[model.tree_.feature < 0] == 0).all()
    X, y = tied(rng, n=60, d=2)
    wrong = np.count_nonzero(DecisionTreeClassifier().fit(X, y).predict(X) != y)
    groups = {tuple(x): np.bincount(y[(X == x).all(axis=1)]) for x in X}
    assert wrong == sum(count.sum() - count.max() for count in groups.values()) > 0


@BOTH
@pytest.mark.claims("trees-11", "trees-12")
def test_growth_misses_the_smallest_tree(criterion):
    X, y = DECOY
    assert smallest(X, y) == 3
    tree = grow(X, y, rules=Rules(criterion=criterion))
    assert len(inner(tree)) == 5


def test_growth_of_several_trees_is_that_of_each(rng):
    X, y, w = rng.normal(size=(40, 2)), rng.integers(3, size=40), rng.integers(3, size=(4, 40))
    together = list(growth(X, y, w))
    for b in range(4):
        ours = sorted(node[:1] + node[2:4] for node in together if node.tree == b)
        assert repr(ours) == repr(sorted(node[:1] + node[2:4] for node in growth(X, y, w[b])))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_growth_keeps_its_rules(rng, kind):
    X, y = rng.normal(size=(120, 3)), rng.integers(2, size=120)
    whole = kind().fit(X, y).tree_
    assert kind(max_depth=3).fit(X, y).get_depth() == 3
    assert kind(min_samples_leaf=7).fit(X, y).tree_.n_samples.min() == 7
    for least in (whole.n_samples[1].item(), whole.n_samples[1].item() + 1):
        tree = kind(min_samples_split=least).fit(X, y).tree_
        assert tree.feature.tolist() == collapse(whole, whole.n_samples < least).feature.tolist()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error"])
def test_growth_leaves_no_training_error_under_weights_of_any_ratio(rng, criterion):
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    row = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0])
    cases = [(*corners, [1, big, big, 1]) for big in (1e9, 1e17, 1e20)]  # at first no gain
    cases += [(*row, np.roll([big, 1, 1], i)) for big in (1e5, 1e16, 1e20) for i in range(3)]
    X, y = rng.normal(size=(50, 2)), rng.integers(2, size=50)
    cases += [(X, y, 10.0 ** rng.uniform(-18, 18, size=50)) for _ in range(9)]
    kind = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    for X, y, w in cases:
        assert (kind(criterion=criterion).fit(X, y, w).predict(X) == y).all()


def test_growth_draws_features_that_vary(rng):
    X = np.column_stack([np.zeros((80, 4)), rng.normal(size=80), np.zeros(80)])
    y = rng.integers(2, size=80)
    model = DecisionTreeClassifier(max_features=1, random_state=0).fit(X, y)
    assert model.score(X, y) == 1 and set(model.tree_.feature.tolist()) == {-1, 4}
    X = rng.normal(size=(80, 6))
    stump = Rules(max_depth=1)
    draws = [np.random.default_rng(seed) for seed in range(40)]
    assert {int(grow(X, y, None, stump, 1, draw).feature[0]) for draw in draws} == set(range(6))
    same = np.repeat(X[:, :1], 4, axis=1)
    roots = {int(grow(same, y, None, stump, 3, draw).feature[0]) for draw in draws}
    assert roots == {0, 1}  # of those that are drawn, the first
    once = [grow(X, y, None, Rules(max_depth=2), 1, draw).feature[1:3] for draw in draws]
    assert any(a != b for a, b in once if min(a, b) >= 0)  # every node draws its own


def test_feature_importances_are_shares_of_the_decrease(rng):
    X, y = rng.normal(size=(80, 3)), rng.integers(2, size=80)
    tree = grow(X, y, rules=Rules(max_depth=3))
    book = np.zeros(len(tree.feature))
    for v in inner(tree):
        S = leaf_of(tree, X, tree.depth[v]) == v
        left = X[S, tree.feature[v]] <= tree.threshold[v]
        book[v] = S.mean() * (impurity_of(y[S], "gini") - after(y[S], left, "gini"))

    shares = [book[tree.feature == f].sum() / book.sum() for f in range(3)]
    np.testing.assert_allclose(feature_importances(tree, 3), shares, rtol=1e-12, atol=1e-12)
    assert feature_importances(grow(X, np.zeros(80, dtype=int)), 3).tolist() == [0, 0, 0]


# --- Pruning, categories, layout -------------------------------------------------------


def prunings(tree, v=0):
    """All prunings below v, each as the set of its leaves."""
    below = [{v}]
    if tree.feature[v] >= 0:
        sides = prunings(tree, tree.left[v]), prunings(tree, tree.right[v])
        below += [a | b for a, b in itertools.product(*sides)]
    return below


def test_prune_is_the_cheapest_of_all_subtrees(rng):
    X, y = rng.normal(size=(20, 2)), rng.integers(2, size=20)
    tree = grow(X, y, rules=Rules(max_depth=4))
    R = tree.share * tree.impurity
    for alpha in (0.0, 0.01, 0.03, 0.06, 0.2):
        cost = {frozenset(S): sum(R[v] + alpha for v in S) for S in prunings(tree)}
        least = min(cost.values())
        best = min((S for S in cost if cost[S] <= least + 1e-12), key=len)
        pruned = prune(tree, alpha)
        assert np.sum(pruned.feature < 0) == len(best)
        assert tree_impurity(pruned)[0] + alpha * len(best) == pytest.approx(least, abs=1e-12)


def test_weakest_links_are_the_prunings_of_all_prices(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    tree = grow(X, y)
    path = list(weakest_links(tree))
    sizes = [np.sum(step.tree.feature < 0) for step in path]
    assert path[0].alpha == 0 and sizes[-1] == 1 and (np.diff(sizes) < 0).all()
    alphas = [step.alpha for step in path]
    for alpha in [*alphas, *(np.add(alphas[1:], alphas[:-1]) / 2)]:
        on_path = [step for step in path if step.alpha <= alpha][-1]
        assert nested(prune(tree, alpha)) == nested(on_path.tree)
        assert on_path.objective == pytest.approx(tree_impurity(on_path.tree)[0])
    for w in (None, np.array([6, 8, 72, 96])):  # with these, the gain is rounded to less than 0
        no_gain = grow(np.array([[0.0], [0], [1], [1]]), np.array([0, 1, 0, 1]), w)
        assert len(no_gain.feature) == 3 and len(prune(no_gain, 0.0).feature) == 1
        steps = [(len(step.tree.feature), step.alpha) for step in weakest_links(no_gain)]
        assert steps == [(3, 0.0), (1, 0.0)]


def test_id3_asks_each_attribute_once_to_its_depth_and_gets_it_right(rng):
    X = rng.integers(3, size=(60, 5))
    y = (X[:, 1] == 2) * 1 + (X[:, 3] == 0)
    root = id3(X, y)
    waiting = [(root, set())]
    while waiting:
        node, asked = waiting.pop()
        assert node.feature not in asked
        assert node.feature == -1 or node.p.max() < 1  # a pure node asks nothing
        waiting += [(child, asked | {node.feature}) for child in node.children.values()]
    assert (id3_predict(root, X).argmax(axis=1) == y).all()
    assert root.feature == np.argmin([multiway_impurity(x, y, "entropy") for x in X.T])
    assert id3(X[:, [1, 1]], y).feature == 0  # of equal ones the first
    fresh = X[:1] + 10 * (np.arange(5) == root.feature)  # a new value: the root is where it ends
    np.testing.assert_allclose(id3_predict(root, fresh), [np.bincount(y) / len(y)])
    level = [id3(X, y, max_depth=2)]
    for _ in range(2):
        assert any(node.feature >= 0 for node in level)
        level = [child for node in level for child in node.children.values()]
    assert level and all(node.feature == -1 for node in level)
    child = id3(np.array([[0], [0], [1]]), np.array([0, 0, 2])).children[0]
    assert child.p.tolist() == [1, 0, 0]  # of all three classes


def test_tree_layout_has_parents_above_the_middle_of_their_children(rng):
    tree = grow(rng.normal(size=(40, 2)), rng.integers(2, size=40), rules=Rules(max_depth=3))
    place = tree_layout(tree)
    ends = tree.feature < 0
    assert sorted(place[ends, 0]) == list(range(ends.sum()))
    for v in inner(tree):
        left, right = place[[tree.left[v], tree.right[v]], 0]
        assert left < right and place[v, 0] == (left + right) / 2
    np.testing.assert_array_equal(place[:, 1], -tree.depth)


# --- Estimators ------------------------------------------------------------------------


@pytest.mark.claims("trees-19")
def test_predict_takes_few_comparisons_and_no_training_data(rng):
    X = rng.normal(size=(200, 2)) + 12 * np.repeat([[0, 0], [1, 0]], 100, axis=0)
    model, near = DecisionTreeClassifier(max_depth=5), KNeighborsClassifier(n_neighbors=1)
    y, labels, Z = np.repeat([0, 1], 100), rng.integers(3, size=200), X + 0.1
    np.testing.assert_array_equal(model.fit(X, y).predict(Z), near.fit(X, y).predict(Z))
    assert model.get_depth() == 1  # one comparison, where 1-NN takes 200 distances
    leaf, said = model.fit(X, labels).apply(X), model.predict(X)
    for v in set(leaf.tolist()):
        assert (said[leaf == v] == np.bincount(labels[leaf == v]).argmax()).all()
    for steps, there in ((model.get_depth(), True), (model.get_depth() - 1, False)):
        assert (leaf_of(model.tree_, X, steps) == leaf).all() == there
    assert max(np.size(column) for column in model.tree_) < len(X)  # nodes, no samples
    X[:] = 0
    np.testing.assert_array_equal(model.predict(Z - 0.1), said)
    board = rng.uniform(0, 20, size=(2, 300, 2))
    dark = np.floor(board).sum(axis=-1) % 2
    for kind in (DecisionTreeClassifier(), near):
        assert kind.fit(board[0], dark[0]).score(board[1], dark[1]) < 0.7  # cells without samples


def test_predict_of_equal_targets_is_exact(rng):
    X, y = np.repeat([[0.0], [1.0]], 30, axis=0), np.repeat([0.1, 1e9 + 0.1], 30)
    model = DecisionTreeRegressor().fit(X, y, rng.uniform(0.1, 3, size=60))
    assert (model.predict(X) == y).all() and model.get_n_leaves() == 2
    far = DecisionTreeRegressor().fit(X, np.full(60, 1e150))
    assert far.get_n_leaves() == 1 and (far.predict(X) == 1e150).all()
    third = np.array([0.3, 0.3, 0.1 + 0.2, 0.1 + 0.2])  # two numbers, one unit of rounding apart
    assert DecisionTreeRegressor().fit(np.arange(4.0)[:, None], third).tree_.threshold[0] == 1.5


@pytest.mark.parametrize("unit, weight", [(1e149, 1e149), (1e-149, 1e-9)])
def test_fit_of_a_regressor_does_not_depend_on_the_units(unit, weight):
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1, 9, 9, 8, 8])
    model = DecisionTreeRegressor(max_depth=2).fit(X, y * unit, np.full(6, weight))
    assert model.tree_.threshold[:3].tolist() == [1.5, 0.5, 3.5]
    np.testing.assert_allclose(model.predict(X), y * unit, rtol=1e-12, atol=1e-12 * unit)


def test_fit_draws_as_many_features_as_it_is_told(rng):
    X, y = rng.normal(size=(55, 9)), np.arange(55) % 2
    for value, k in ((None, 9), ("sqrt", 3), (4, 4), (12, 9)):
        models = [DecisionTreeClassifier(max_features=value, random_state=s) for s in (0, 0, 1)]
        first, again, other = (model.fit(X, y).tree_.threshold for model in models)
        assert models[0].max_features_ == k
        np.testing.assert_array_equal(first, again)
        assert np.array_equal(first, other, equal_nan=True) == (k == 9)
    assert DecisionTreeClassifier(ccp_alpha=1.0).fit(X, y).get_n_leaves() == 1


def test_a_criterion_for_targets_is_refused_for_classes():
    with pytest.raises(ValueError, match="criterion must be one of 'gini', 'entropy', 'error'"):
        DecisionTreeClassifier(criterion="squared_error").fit(np.eye(4), [0, 1, 0, 1])


def test_draw_says_questions_and_leaves():
    ax = Figure().subplots()
    model = DecisionTreeRegressor().fit([[-3.0], [-2.0], [4.0]], [-7.0, -7.0, 0.5])
    said = [text.get_text() for text in model.draw(ax)]
    assert said == ["x_0 ≤ 1", "−7\nn = 2", "0.5\nn = 1"]
    model = DecisionTreeClassifier().fit([[-3.0], [-2.0]], ["low", "high"])
    ax = Figure().subplots()
    said = [text.get_text() for text in model.draw(ax, ["length"], number=".2f")]
    assert said == ["length ≤ −2.50", "low\nn = 1", "high\nn = 1"]
    place = {text.get_text(): text.get_position() for text in ax.texts}
    assert place[" yes "] == (0.25, -0.5) and place[" no "] == (0.75, -0.5)  # between the nodes


# --- The lecture figures ---------------------------------------------------------------


def cuts_of(ax):
    """The ends of the solid segments that are drawn."""
    return [line.get_xydata() for line in ax.lines
            if line.get_linestyle() == "-" and not hasattr(line, "get_xy1")]  # fmt: skip


def tint_at(ax, point):
    """The number of the region of a point."""
    fills = [c for c in ax.collections if c.get_facecolor().size]
    (k,) = [k for k, c in enumerate(fills) if any(p.contains_point(point) for p in c.get_paths())]
    return k


@pytest.mark.claims("trees-02")
def test_staircase_has_a_leaf_for_each_sample_or_one_oblique_cut():
    from figures.trees import PAIRS, beside_the_diagonal, staircase

    for m in range(1, 5):
        X, y = beside_the_diagonal(m)
        assert np.sum(grow(X, y).feature < 0) == smallest(X, y) + 1 == 2 * m
        u, t, J = oblique_split(X, y)
        sides = X @ u > t
        assert J == 0 and (y[sides] == y[sides][0]).all()
    left, right = panels(staircase, 1, 2)
    X, y = beside_the_diagonal(PAIRS)
    assert len(cuts_of(left)) == 2 * PAIRS - 1
    for ax in (left, right):
        assert [tint_at(ax, x) for x in X] == y.tolist()


@pytest.mark.claims("trees-21")
def test_diagram_has_a_cut_in_the_map_for_each_question():
    from figures.trees import diagram, two_moons

    questions, boxes, _ = panels(diagram, 1, 3)
    X, y, model = two_moons()
    tree = model.tree_
    said = {text.get_text() for text in questions.texts}
    for v, f in enumerate(tree.feature):
        label = f"{model.classes_[tree.value[v].argmax()]}\nn = {tree.n_samples[v]}"
        question = f"$x_{f}$ ≤ {tree.threshold[v]:.2f}".replace("-", "−")
        assert (label if f < 0 else question) in said
    assert said >= {" yes ", " no "} and len(inner(tree)) == 4
    drawn = {(f, float(cut[0, f])) for cut in cuts_of(boxes) for f in (0, 1)
             if np.ptp(cut[:, f]) == 0}  # fmt: skip
    assert drawn == {(int(tree.feature[v]), float(tree.threshold[v])) for v in inner(tree)}
    side = np.linspace(*np.array(boxes.get_xlim()) * 0.97, 23)
    grid = np.array([(a, b) for a in side for b in side])
    near = np.abs(grid[:, tree.feature[inner(tree)]] - tree.threshold[inner(tree)]).min(axis=1)
    clear = grid[near > 0.03]
    kinds = np.searchsorted(model.classes_, model.predict(clear))
    assert [tint_at(boxes, x) for x in clear] == kinds.tolist()


def test_halves_of_the_tumours_grow_different_trees():
    from figures.trees import halves

    roots, questions = [], []
    for ax in panels(halves, 1, 2):
        said = [text.get_text().replace("\n", " ") for text in ax.texts]
        roots.append(said[0])
        questions.append({text.split(" ≤ ")[0] for text in said if "≤" in text})
    assert roots == ["worst perimeter ≤ 112", "mean concave points ≤ 0.0559"]
    assert questions[0] & questions[1] == {"worst perimeter"}


@pytest.mark.claims("trees-18")
def test_stopping_training_error_falls_with_depth_and_test_error_does_not():
    from figures.trees import SEEDS, errors_by_depth

    errors = np.array([errors_by_depth(seed) for seed in SEEDS])
    assert (np.diff(errors[:, 0]) <= 0).all() and (np.diff(errors[:, 2]) >= 0).all()
    train, test = errors[:, 0].mean(axis=0), errors[:, 1].mean(axis=0)
    assert train[-1] < 0.02 and test[-1] > test.min() + 0.02 and test[0] > test.min()
    T = load_iris()
    pruned = [DecisionTreeClassifier(ccp_alpha=a).fit(T.X, T.y) for a in (0.0, 0.01, 0.1, 1.0)]
    assert (np.diff([model.get_n_leaves() for model in pruned]) < 0).all()
    assert (np.diff([model.score(T.X, T.y) for model in pruned]) <= 0).all()
