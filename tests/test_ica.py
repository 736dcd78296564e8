"""The ica chapter: every statement of the notes, checked by a second route."""

import re
from itertools import islice

import numpy as np
import pytest
from checks import check_gradient

from mlnotes.datasets import load_wine
from mlnotes.ica import (
    FastICA,
    amari_index,
    best_rotation,
    contrast,
    fixed_point,
    kurtosis,
    rotated_kurtosis,
    rotation,
)
from mlnotes.pca import PCA, covariance, pca_whitening

SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
FUNS = ("logcosh", "exp", "cube")


def product_grid(values):
    """Every pair of the values: two sources that are exactly independent, of variance 1."""
    values = (values - values.mean()) / values.std()
    return np.stack(np.meshgrid(values, values, indexing="ij"), axis=-1).reshape(-1, 2)


def uniform_grid(m=21):
    return product_grid(np.arange(m) / 1.0)


def slanted(c):
    """Unit columns with cosine c, neither along an axis of the features."""
    other = np.arccos(c)
    return np.array([[np.cos(0.3), np.cos(0.3 + other)], [np.sin(0.3), np.sin(0.3 + other)]])


def cosine(A):
    return A[:, 0] @ A[:, 1] / np.prod(np.linalg.norm(A, axis=0))


def exact(**parameters):
    return FastICA(tol=1e-13, random_state=0, **parameters)


# ---------------------------------------------------------------------------------------
# The angle by trial
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ica-01")
@pytest.mark.parametrize("t", [0.0, 0.4, 1.1, 2.5])
def test_the_best_of_all_angles_undoes_the_rotation(t):
    for S in (uniform_grid(), product_grid(np.linspace(-1, 1, 15) ** 5)):
        P = best_rotation(S @ rotation(t).T) @ rotation(t)
        assert amari_index(P) < np.tan(np.pi / 720) + 1e-9  # at most half a step off
        finer = best_rotation(S @ rotation(t).T, steps=1800) @ rotation(t)
        assert amari_index(finer) < np.tan(np.pi / 7200) + 1e-9


@pytest.mark.claims("ica-01")
def test_the_best_angle_separates_a_flat_source_from_a_peaked_one():
    flat, peaked = np.linspace(-1, 1, 21), np.linspace(-1, 1, 21) ** 5
    S = np.array([(a, b) for a in flat / flat.std() for b in peaked / peaked.std()])
    kappa = kurtosis(S)
    assert kappa[0] < -1 < 1 < kappa[1]
    for t in (0.2, 0.9, 1.4):
        W = best_rotation(S @ rotation(t).T)
        assert amari_index(W @ rotation(t)) < np.tan(np.pi / 720) + 1e-9
        sizes = np.abs(kurtosis(S @ rotation(t).T @ W.T)).sum()
        assert sizes == pytest.approx(np.abs(kappa).sum(), rel=1e-3)


# ---------------------------------------------------------------------------------------
# The components
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ica-01")
def test_the_rotation_is_that_of_largest_kurtosis(rng):
    S = rng.uniform(-1, 1, size=(20_000, 2))
    X = S @ slanted(0.5).T + 4
    W = pca_whitening(X)
    Z = (X - W.mean) @ W.W.T
    step = np.pi / 800
    angles = np.arange(0, np.pi / 2, step)
    both = np.abs(rotated_kurtosis(Z, angles)) + np.abs(rotated_kurtosis(Z, angles + np.pi / 2))
    best = angles[both.argmax()]
    *_, state = islice(fixed_point(Z, rng.normal(size=(2, 2)), "cube"), 30)
    chosen = np.arctan2(state.W[0, 1], state.W[0, 0]) % (np.pi / 2)
    apart = abs(chosen - best)
    assert min(apart, np.pi / 2 - apart) <= step
    assert np.ptp(both) > 0.5  # the angle matters
    P = FastICA(random_state=0).fit(X).components_ @ slanted(0.5)
    assert amari_index(P) < 3 / np.sqrt(len(X))
    assert amari_index(PCA().fit(X).components_ @ slanted(0.5)) > 0.3


@pytest.mark.claims("ica-01")
@pytest.mark.parametrize("fun", FUNS)
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_independent_sources_come_back_up_to_order_and_sign(fun, algorithm):
    S = uniform_grid()
    model = exact(fun=fun, algorithm=algorithm).fit(S @ slanted(0.5).T - 7)
    P = model.components_ @ slanted(0.5)
    which = np.abs(P).argmax(axis=1)
    assert sorted(which) == [0, 1]
    np.testing.assert_allclose(np.abs(P), np.eye(2)[which], rtol=0, atol=1e-6)
    back = model.transform(S @ slanted(0.5).T - 7)
    np.testing.assert_allclose(np.abs(back), np.abs(S[:, which]), rtol=0, atol=1e-6)


@pytest.mark.claims("ica-01")
def test_a_step_is_the_formula_sample_by_sample(rng):
    Z = uniform_grid(5) @ rotation(0.4).T
    w = np.array([0.6, 0.8])
    y = [w @ z for z in Z]
    new = sum(z * np.tanh(a) for z, a in zip(Z, y, strict=True)) / len(Z)
    new = new - sum(1 / np.cosh(a) ** 2 for a in y) / len(Z) * w
    start, state = islice(fixed_point(Z, w[None]), 2)
    np.testing.assert_allclose(state.W[0], new / np.linalg.norm(new), rtol=0, atol=1e-12)
    assert start.moved == np.inf
    assert state.moved == pytest.approx(1 - abs(w @ state.W[0]), abs=1e-12)
    pair = rng.normal(size=(2, 2))
    start, state = islice(fixed_point(Z, pair, "cube"), 2)
    values, V = np.linalg.eigh(pair @ pair.T)
    np.testing.assert_allclose(start.W, V / np.sqrt(values) @ V.T @ pair, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.W @ state.W.T, np.eye(2), rtol=0, atol=1e-12)
    expected = np.sum((np.mean((Z @ start.W.T) ** 4, axis=0) / 4 - 3 / 4) ** 2)
    assert start.objective == pytest.approx(expected, rel=1e-12)


def test_moved_measures_the_direction_that_turned_most(rng):
    Z = rng.laplace(size=(200, 3))
    start, state = islice(fixed_point(Z, rng.normal(size=(3, 3))), 2)
    cosines = [abs(new @ old) for new, old in zip(state.W, start.W, strict=True)]
    assert state.moved == pytest.approx(1 - min(cosines), rel=1e-12) and np.ptp(cosines) > 1e-3


def test_states_are_snapshots_and_found_rows_are_avoided(rng):
    Z = uniform_grid() @ rotation(0.4).T
    found = np.array([[0.6, 0.8]])
    states = fixed_point(Z, rng.normal(size=(1, 2)), found=found)
    first = next(states)
    kept = first.W.copy()
    for state in islice(states, 3):
        assert abs(found @ state.W.T).item() < 1e-12
    np.testing.assert_array_equal(first.W, kept)


@pytest.mark.parametrize(
    "W", [np.zeros((1, 2)), [[-1.2, -1.6]], rotation(0.3), [[1.0, 1.0], [2.0, 2.0]]]
)
def test_linearly_dependent_first_directions_are_refused(W):
    found = np.array([[0.6, 0.8]])
    with pytest.raises(ValueError, match="the rows of W must be independent, also of those found"):
        next(fixed_point(uniform_grid(), W, found=found))
    tiny = next(fixed_point(uniform_grid(), [[1e-300, 0.0]], found=found)).W
    np.testing.assert_allclose(tiny, [[0.8, -0.6]], rtol=1e-12)


# ---------------------------------------------------------------------------------------
# Not orthogonal
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ica-02")
@pytest.mark.parametrize("c", [-0.8, -0.3, 0.3, 0.6, 0.9])
def test_mixing_columns_keep_their_angle_and_principal_axes_are_perpendicular(c):
    X = uniform_grid() @ slanted(c).T
    model = exact().fit(X)
    assert abs(cosine(model.mixing_)) == pytest.approx(abs(c), abs=1e-6)
    assert abs(cosine(PCA().fit(X).components_.T)) < 1e-12
    parallel = np.abs(model.mixing_.T @ slanted(c)) / np.linalg.norm(model.mixing_, axis=0)[:, None]
    np.testing.assert_allclose(np.sort(parallel.max(axis=1)), [1, 1], rtol=0, atol=1e-9)


@pytest.mark.claims("ica-02")
def test_an_orthogonal_mixing_of_equal_variances_is_found_orthogonal():
    model = exact().fit(uniform_grid() @ rotation(0.7).T)
    np.testing.assert_allclose(model.mixing_.T @ model.mixing_, np.eye(2), rtol=0, atol=1e-6)
    unequal = exact().fit(uniform_grid() @ np.diag([1.0, 3.0]) @ rotation(0.7).T)
    assert abs(cosine(unequal.mixing_)) < 1e-6


# ---------------------------------------------------------------------------------------
# More than covariances
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("ica-03")
def test_second_moments_cannot_tell_rotations_apart_and_fourth_moments_can():
    for values in (np.arange(21) / 1.0, np.array([0.0, 1.0]), np.linspace(-1, 1, 15) ** 3):
        S = product_grid(values)
        kappa = kurtosis(S)[0]
        angles = np.arange(9) * np.pi / 16
        for t in angles:
            np.testing.assert_allclose(covariance(S @ rotation(t).T), np.eye(2), rtol=0, atol=1e-12)
        found = rotated_kurtosis(S, angles)
        expected = kappa * (np.cos(angles) ** 4 + np.sin(angles) ** 4)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        assert set(np.flatnonzero(np.abs(found) > np.abs(found).max() - 1e-9)) == {0, 8}
        assert abs(kappa) > 0.1


@pytest.mark.claims("ica-03")
def test_normal_sources_look_the_same_at_every_angle(rng):
    n = 40_000
    Z = rng.normal(size=(n, 2))
    white = pca_whitening(Z @ slanted(0.5).T)
    Z = (Z @ slanted(0.5).T - white.mean) @ white.W.T
    angles = np.arange(0, np.pi, np.pi / 50)
    error = np.sqrt(24 / n)
    assert np.abs(rotated_kurtosis(Z, angles)).max() < 4 * error
    for t in angles:  # E[y^6] = 15, and Var(y^6) = 11!! - 15^2
        sixth = np.mean((Z @ [np.cos(t), np.sin(t)]) ** 6)
        assert abs(sixth - 15) < 4 * np.sqrt(10_170 / n)
    U = rng.uniform(-1, 1, size=(n, 2)) * np.sqrt(3)
    assert np.abs(rotated_kurtosis(U, angles)).min() > 20 * error


@pytest.mark.claims("ica-03")
@pytest.mark.filterwarnings("ignore:FastICA stopped")
def test_normal_sources_are_not_found(rng):
    A, error, size = slanted(0.5), {}, (20_000, 2)
    for name, S in {"uniform": rng.uniform(-1, 1, size), "normal": rng.normal(size=size)}.items():
        parts = np.split(S @ A.T, 10)
        models = [FastICA(random_state=0, max_iter=50).fit(part) for part in parts]
        error[name] = np.mean([amari_index(model.components_ @ A) for model in models])
    assert error["uniform"] < 0.05 and error["normal"] > 0.2


# ---------------------------------------------------------------------------------------
# Contrasts
# ---------------------------------------------------------------------------------------


def test_kurtosis_of_known_densities(rng):
    middles = (np.arange(20_000) + 0.5) / 20_000 - 0.5
    laplace = -np.sign(middles) * np.log1p(-2 * np.abs(middles))
    flat, peaked = kurtosis(np.column_stack([middles, laplace]))
    assert flat == pytest.approx(-6 / 5, abs=1e-6) and peaked == pytest.approx(3, abs=0.1)
    Y = rng.normal(size=(50, 1))
    for unit in (5, 1e-70, 1e70):
        np.testing.assert_allclose(kurtosis(unit * Y), kurtosis(Y), rtol=1e-12)
    whole = np.array([[100], [-100], [50], [-128]])
    for kind in (np.int8, np.int64, np.float32):
        np.testing.assert_array_equal(kurtosis(whole.astype(kind)), kurtosis(whole * 1.0))
    for bad in ([[0.0, 1.0], [0.0, -1.0]], [[np.nan], [1.0]], [[np.inf], [1.0]]):
        with pytest.raises(ValueError, match="components must be finite and not 0 throughout; got"):
            kurtosis(np.array(bad))


@pytest.mark.parametrize("fun", FUNS)
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_objectives_are_the_distances_of_the_components(fun, algorithm, rng):
    S = np.column_stack([rng.laplace(size=900), rng.uniform(size=900), rng.exponential(size=900)])
    X = S @ rng.normal(size=(3, 3))
    model = FastICA(algorithm=algorithm, fun=fun, random_state=0).fit(X)
    apart = contrast(model.transform(X), fun).distance ** 2
    if algorithm == "parallel":
        assert model.history_[-1] == pytest.approx(apart.sum(), rel=1e-9)
    else:  # in the order in which they were found
        np.testing.assert_allclose([run[-1] for run in model.history_], apart, rtol=1e-9)


@pytest.mark.parametrize("fun", FUNS)
def test_contrasts_of_integers_and_single_precision_are_computed_in_double(fun, rng):
    Y = np.array([[3], [-7], [11]])
    for values in (Y.astype(np.int8), rng.normal(size=(9, 2)).astype(np.float32)):
        for found, expected in zip(
            contrast(values, fun), contrast(values.astype(float), fun), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == float


@pytest.mark.parametrize("fun", FUNS)
def test_contrasts_are_derivatives_of_each_other_and_0_for_a_normal_distribution(fun, rng):
    y = rng.normal(size=7)

    def at(a):
        return contrast(np.array([[a]]), fun)

    for a in y:
        check_gradient(lambda a: at(a).distance[0], lambda a: at(a).g[0, 0], a)
        check_gradient(lambda a: at(a).g[0, 0], lambda a: at(a).slope[0], a)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    density = 10 * weights * np.exp(-50 * nodes**2) / np.sqrt(2 * np.pi)
    mean = sum(p * at(10 * x).distance[0] for p, x in zip(density, nodes, strict=True))
    assert mean == pytest.approx(0, abs=1e-12)
    together = contrast(y[:, None], fun)
    assert together.distance[0] == pytest.approx(np.mean([at(a).distance[0] for a in y]))
    assert together.slope[0] == pytest.approx(np.mean([at(a).slope[0] for a in y]))


def test_rows_of_a_rotation_are_the_turned_axes():
    for t in (0.3, -2.0):
        along = np.array([np.cos(t), np.sin(t)])
        np.testing.assert_allclose(rotation(t) @ along, [1, 0], rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.linalg.det(rotation(t)), 1, rtol=1e-15)


def test_large_components_do_not_overflow():
    found = contrast(np.array([[1e5], [-1e5]]))
    assert found.distance[0] == pytest.approx(1e5, rel=1e-4)
    np.testing.assert_array_equal(found.g.ravel(), [1, -1])
    with pytest.raises(ValueError, match="fun must be one of 'logcosh', 'exp', 'cube'; got 'tanh'"):
        contrast(SQUARE, "tanh")


def test_amari_index_ignores_order_sign_and_scale_only(rng):
    P = np.eye(4)[[2, 0, 3, 1]] * [[-3.0], [0.5], [1.0], [-7.0]]
    assert amari_index(P) == 0
    assert amari_index(P + 0.01) > 0
    assert amari_index(-np.ones((3, 3))) == pytest.approx(1)
    assert 0 < amari_index(rng.normal(size=(4, 4))) < 1
    P = np.array([[-128, 1], [64, 2]])
    by_hand = (1 / 128 + 2 / 64 + 64 / 128 + 1 / 2) / 4
    for same in (P.astype(np.int8), P.tolist(), P * 1e306, P * 1e-306):
        assert amari_index(same) == pytest.approx(by_hand, rel=1e-14)
    for bad in (np.ones((1, 2)), np.ones((1, 1)), np.ones(2)):
        with pytest.raises(ValueError, match="P must be square, of 2 rows or more; got shape"):
            amari_index(bad)
    for bad in ([[1, 0], [1, 0]], [[1, 1], [0, 0]], [[1, np.nan], [0, 1]], [[1, np.inf], [0, 1]]):
        with pytest.raises(ValueError, match="P must be finite, with no row or column of zeros"):
            amari_index(np.array(bad))


# ---------------------------------------------------------------------------------------
# FastICA
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_attributes_fit_together(algorithm, rng):
    X = rng.uniform(size=(500, 3)) @ rng.normal(size=(3, 5)) + 3
    model = FastICA(algorithm=algorithm, random_state=1).fit(X)
    S = model.transform(X)
    assert model.components_.shape == (3, 5)  # the rank, not the features
    np.testing.assert_allclose(covariance(S), np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(covariance(X @ model.whitening_.T), np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(S), X, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.components_ @ model.mixing_, np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    with pytest.raises(ValueError, match="X must have 3 components; got 5"):
        model.inverse_transform(X)


def test_white_samples_are_left_as_they_are():
    Z = uniform_grid() @ rotation(0.6).T
    model = exact().fit(Z)
    bare = model.set_params(whiten=False).fit(Z)
    assert not hasattr(bare, "mean_") and not hasattr(bare, "whitening_")
    P = bare.components_ @ rotation(0.6)
    np.testing.assert_allclose(np.sort(np.abs(P)), [[0, 1], [0, 1]], rtol=0, atol=1e-6)
    np.testing.assert_allclose(bare.inverse_transform(bare.transform(Z)), Z, rtol=0, atol=1e-12)


def test_fewer_components_live_on_the_first_axes():
    X = load_wine().X
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = FastICA(3, random_state=0, max_iter=1000).fit(X)
    axes = PCA(3).fit(X).components_
    np.testing.assert_allclose(
        model.components_ @ axes.T @ axes, model.components_, rtol=0, atol=1e-10
    )
    pca = PCA(3, whiten=True).fit_transform(X)
    ours = np.sum((np.log(np.cosh(model.transform(X))).mean(axis=0) - 0.3745672074914) ** 2)
    assert ours == pytest.approx(model.history_[-1], rel=1e-9)
    assert ours > np.sum((np.log(np.cosh(pca)).mean(axis=0) - 0.3745672074914) ** 2)


REFUSED = [
    ({"n_components": 0}, "n_components must be an integer >= 1; got 0"),
    ({"n_components": 3}, "n_components must be at most the rank 2 of X_c; got 3"),
    ({"n_components": 1, "whiten": False}, "n_components must be None or n_features = 2 without"),
    ({"algorithm": "serial"}, "algorithm must be one of 'parallel', 'deflation'; got 'serial'"),
    ({"whiten": True}, "whiten must be 'unit-variance' or False; got True"),
    ({"whiten": np.zeros(2)}, "whiten must be 'unit-variance' or False; got array([0., 0.])"),
    ({"whiten": str}, "whiten must be 'unit-variance' or False; got <class 'str'>"),
    ({"whiten": 0}, "whiten must be 'unit-variance' or False; got 0"),
    ({"fun": "tanh"}, "fun must be one of 'logcosh', 'exp', 'cube'; got 'tanh'"),
    ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
    ({"tol": -1}, "tol must be a number >= 0 and < inf; got -1"),
    ({"tol": np.inf}, "tol must be a number >= 0 and < inf; got inf"),
]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        FastICA(**parameters).fit(SQUARE)


def test_ugly_samples():
    with pytest.raises(ValueError, match="X must vary; every sample is the same"):
        FastICA().fit(np.full((5, 2), 0.1))
    with pytest.raises(ValueError, match="2 samples at least"):
        FastICA().fit([[1.0, 2.0]])
    P = exact().fit(np.repeat(uniform_grid(5), 3, axis=0) * [1e-2, 1e3]).components_
    assert amari_index(P * [1e-2, 1e3]) < 1e-6
    for unit in (1e-12, 1e12):  # the rank has none
        model = exact().fit(uniform_grid(5) @ slanted(0.5).T * unit + 3 * unit)
        assert amari_index(model.components_ @ slanted(0.5) * unit) < 1e-6
    one = FastICA(random_state=0).fit([[1.0], [3.0]])
    np.testing.assert_allclose(np.abs(one.transform([[5.0]])), [[3]], rtol=0, atol=1e-12)


def test_defaults_are_those_of_scikit_learn():
    assert FastICA().get_params() == {
        "n_components": None, "algorithm": "parallel", "whiten": "unit-variance",
        "fun": "logcosh", "max_iter": 200, "tol": 1e-4, "w_init": None, "random_state": None,
    }  # fmt: skip


def test_a_run_that_is_cut_short_warns(rng):
    X = rng.uniform(size=(300, 3)) @ rng.normal(size=(3, 3))
    with pytest.warns(UserWarning, match="FastICA stopped after 1 iterations with moved"):
        model = FastICA(max_iter=1, tol=0, random_state=0).fit(X)
    assert not model.converged_


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def test_four_views_are_a_square_a_parallelogram_a_turned_square_and_the_square_again():
    from matplotlib.figure import Figure

    from figures.ica import MIXING, four_views

    panels = Figure().subplots(1, 4)
    four_views(*panels)
    S, X, Z, Y = (np.vstack([line.get_xydata() for line in ax.lines]) for ax in panels)
    assert np.abs(S).max() <= np.sqrt(3) and np.abs(S).max(axis=0).min() > 1.7
    np.testing.assert_allclose(X, S @ MIXING.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(covariance(Z), np.eye(2), rtol=0, atol=1e-9)
    assert np.abs(Z).max() > 2  # turned: corners stick out
    P, *_ = np.linalg.lstsq(S - S.mean(axis=0), Y, rcond=None)
    assert amari_index(P) < 0.05


@pytest.mark.claims("ica-04")
def test_ica_axes_lie_along_the_sides_and_principal_axes_are_perpendicular():
    from matplotlib.figure import Figure

    from figures.ica import MIXING, axes_and_angles, mixed

    left, right = Figure().subplots(1, 2)
    axes_and_angles(left, right)
    drawn, *arrows = [line.get_xydata() for line in left.lines]
    np.testing.assert_array_equal(drawn, mixed())
    first, second, *sides = [np.diff(ends, axis=0)[0] for ends in arrows]
    assert first @ second == pytest.approx(0, abs=1e-9)
    parallel = [np.abs(MIXING.T @ side) / np.linalg.norm(side) for side in sides]
    parallel = np.array(parallel) / np.linalg.norm(MIXING, axis=0)
    assert sorted(parallel.argmax(axis=1)) == [0, 1]
    assert parallel.max(axis=1).min() > 0.999
    curve, chosen = right.lines[0].get_xydata(), right.lines[-1].get_xydata()
    formula = right.lines[1].get_xydata()
    assert np.abs(formula[:, 1] - curve[:, 1]).max() < 0.2 and np.ptp(formula[:, 1]) > 0.4
    for angle, value in chosen:
        near = curve[np.abs(curve[:, 0] - angle) < 30]
        lowest = near[near[:, 1].argmin()]
        assert abs(lowest[0] - angle) < 5
        assert value == pytest.approx(lowest[1], abs=0.02)
    assert len(chosen) == 2 and curve[:, 1].max() > chosen[:, 1].max() + 0.3


# ---------------------------------------------------------------------------------------
# Where it starts
# ---------------------------------------------------------------------------------------


def test_given_first_directions_are_where_it_starts(rng):
    X = rng.laplace(size=(500, 2)) @ np.array([[1.0, 2.0], [0.0, 1.0]])
    first = rng.normal(size=(2, 2))
    model = FastICA(w_init=first).fit(X)
    again = FastICA(w_init=first.tolist(), random_state=5).fit(X)
    np.testing.assert_array_equal(model.components_, again.components_)
    solved = FastICA(w_init=model.components_ @ np.linalg.pinv(model.whitening_), tol=1e-3).fit(X)
    assert solved.n_iter_ == 1 < model.n_iter_


@pytest.mark.parametrize(
    "w_init", [np.eye(3), "eye", [[1.0, np.nan], [0.0, 1.0]], np.ones((2, 2)), np.zeros((2, 2))]
)
def test_first_directions_of_another_shape_are_refused(rng, w_init):
    with pytest.raises(ValueError, match="^w_init must "):
        FastICA(w_init=w_init).fit(rng.normal(size=(9, 2)))
