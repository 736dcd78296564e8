"""The ica chapter, in the order of its module: each function by a second route."""

from itertools import islice

import numpy as np
import pytest
from checks import check_gradient, panels

from mlnotes.datasets import load_wine
from mlnotes.ica import (
    FastICA,
    amari_index,
    best_rotation,
    contrast,
    fixed_point,
    kurtosis,
    orthonormal_rows,
    rotated_kurtosis,
    rotation,
)
from mlnotes.pca import PCA, pca_whitening, sample_covariance

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


# --- Distance from normal --------------------------------------------------------------


def test_kurtosis_of_known_densities_in_any_unit(rng):
    middles = (np.arange(20_000) + 0.5) / 20_000 - 0.5
    laplace = -np.sign(middles) * np.log1p(-2 * np.abs(middles))
    flat, peaked = kurtosis(np.column_stack([middles, laplace]))
    assert flat == pytest.approx(-6 / 5, abs=1e-6) and peaked == pytest.approx(3, abs=0.1)
    Y = rng.normal(size=(50, 2))
    np.testing.assert_allclose(kurtosis(Y * [1e-140, 1e140]), kurtosis(Y), rtol=1e-12)


@pytest.mark.claims("ica-03")
def test_rotated_kurtosis_sees_the_angle_that_second_moments_do_not():
    for values in (np.arange(21.0), np.array([0.0, 1.0]), np.linspace(-1, 1, 15) ** 3):
        S = product_grid(values)
        kappa, angles = kurtosis(S)[0], np.arange(9) * np.pi / 16
        for t in angles:
            np.testing.assert_allclose(sample_covariance(S @ rotation(t).T), np.eye(2), atol=1e-12)
        turned = rotated_kurtosis(S, angles)
        expected = kappa * (np.cos(angles) ** 4 + np.sin(angles) ** 4)
        np.testing.assert_allclose(turned, expected, rtol=0, atol=1e-10)
        assert set(np.flatnonzero(np.abs(turned) > np.abs(turned).max() - 1e-9)) == {0, 8}
        assert abs(kappa) > 0.1


@pytest.mark.claims("ica-03")
def test_rotated_kurtosis_of_normal_sources_is_the_same_at_every_angle(rng):
    n = 40_000
    X = rng.normal(size=(n, 2)) @ slanted(0.5).T
    mean, K = pca_whitening(X)
    Z, angles, error = (X - mean) @ K.T, np.arange(0, np.pi, np.pi / 50), np.sqrt(24 / n)
    assert np.abs(rotated_kurtosis(Z, angles)).max() < 4 * error
    for t in angles:  # E[y^6] = 15, and Var(y^6) = 11!! - 15^2
        sixth = np.mean((Z @ rotation(t)[0]) ** 6)
        assert abs(sixth - 15) < 4 * np.sqrt(10_170 / n)
    U = rng.uniform(-1, 1, size=(n, 2)) * np.sqrt(3)
    assert np.abs(rotated_kurtosis(U, angles)).min() > 20 * error


@pytest.mark.claims("ica-01")
@pytest.mark.parametrize("t", [0.0, 0.4, 2.5])
def test_best_rotation_undoes_the_rotation(t):
    flat, peaked = np.linspace(-1, 1, 21), np.linspace(-1, 1, 21) ** 5
    mixed = np.array([(a, b) for a in flat / flat.std() for b in peaked / peaked.std()])
    for S in (uniform_grid(), product_grid(peaked), mixed):
        for steps in (180, 1800):  # at most half a step off
            P = best_rotation(S @ rotation(t).T, steps=steps) @ rotation(t)
            assert amari_index(P) < np.tan(np.pi / 4 / steps) + 1e-9


@pytest.mark.parametrize("fun", FUNS)
def test_contrast_has_derivatives_of_each_other_and_is_0_for_a_normal_distribution(fun, rng):
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
    assert contrast(np.array([[1e5]])).distance[0] == pytest.approx(1e5, rel=1e-4)  # no overflow
    together = contrast(y[:, None], fun)
    assert together.distance[0] == pytest.approx(np.mean([at(a).distance[0] for a in y]))
    assert together.slope[0] == pytest.approx(np.mean([at(a).slope[0] for a in y]))


# --- The fixed point -------------------------------------------------------------------


def test_orthonormal_rows_are_the_nearest_and_prefer_no_row(rng):
    W = rng.normal(size=(3, 3))
    nearest = orthonormal_rows(W)
    values, V = np.linalg.eigh(W @ W.T)
    np.testing.assert_allclose(nearest, V / np.sqrt(values) @ V.T @ W, atol=1e-12)
    np.testing.assert_allclose(nearest @ nearest.T, np.eye(3), atol=1e-12)
    others = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(50)]
    least = min(np.linalg.norm(W - B) for B in others)
    assert np.linalg.norm(W - nearest) < least
    np.testing.assert_allclose(orthonormal_rows(W[::-1]), nearest[::-1], atol=1e-12)


@pytest.mark.claims("ica-01")
def test_a_step_of_fixed_point_is_the_formula_sample_by_sample(rng):
    Z = rng.laplace(size=(200, 2))
    start, state = islice(fixed_point(Z, rng.normal(size=(2, 2))), 2)
    new = []
    for w in start.W:
        y = [w @ z for z in Z]
        mean = sum(z * np.tanh(a) for z, a in zip(Z, y, strict=True)) / len(Z)
        new.append(mean - sum(1 / np.cosh(a) ** 2 for a in y) / len(Z) * w)
    np.testing.assert_allclose(state.W, orthonormal_rows(np.array(new)), atol=1e-12)
    cosines = [abs(new @ old) for new, old in zip(state.W, start.W, strict=True)]
    assert start.moved == np.inf
    assert state.moved == pytest.approx(1 - min(cosines), rel=1e-9)
    distances = np.log(np.cosh(Z @ state.W.T)).mean(axis=0) - 0.3745672074914
    assert state.objective == pytest.approx(distances @ distances, rel=1e-9)


@pytest.mark.claims("ica-01")
def test_fixed_point_ends_at_the_rotation_of_largest_kurtosis(rng):
    X = rng.uniform(-1, 1, size=(20_000, 2)) @ slanted(0.5).T + 4
    mean, K = pca_whitening(X)
    Z, step = (X - mean) @ K.T, np.pi / 800
    angles = np.arange(0, np.pi / 2, step)
    both = np.abs(rotated_kurtosis(Z, angles)) + np.abs(rotated_kurtosis(Z, angles + np.pi / 2))
    *_, state = islice(fixed_point(Z, rng.normal(size=(2, 2)), "cube"), 30)
    apart = abs(np.arctan2(state.W[0, 1], state.W[0, 0]) % (np.pi / 2) - angles[both.argmax()])
    assert min(apart, np.pi / 2 - apart) <= step and np.ptp(both) > 0.5
    P = FastICA(random_state=0).fit(X).components_ @ slanted(0.5)
    assert amari_index(P) < 3 / np.sqrt(len(X))
    assert amari_index(PCA().fit(X).components_ @ slanted(0.5)) > 0.3


# --- Quality of an unmixing ------------------------------------------------------------


def test_amari_index_ignores_order_sign_and_scale_only():
    P = np.eye(4)[[2, 0, 3, 1]] * [[-3.0], [0.5], [1.0], [-7.0]]
    assert amari_index(P) == 0 and amari_index(P + 0.01) > 0
    assert amari_index(-np.ones((3, 3))) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"shapes \(2,3\) \(3,2\)"):  # more sources than components
        amari_index(np.ones((2, 3)))
    P = np.array([[-128, 1], [64, 2]])
    by_hand = (1 / 128 + 2 / 64 + 64 / 128 + 1 / 2) / 4
    for same in (P.astype(np.int8), P.tolist(), P * 1e306, P * 1e-306):
        assert amari_index(same) == pytest.approx(by_hand, rel=1e-14)


# --- Estimators ------------------------------------------------------------------------


@pytest.mark.claims("ica-01")
@pytest.mark.parametrize("fun", FUNS)
def test_fast_ica_finds_independent_sources_up_to_order_and_sign(fun):
    S = uniform_grid()
    X = S @ slanted(0.5).T - 7
    model = exact(fun=fun).fit(X)
    P = model.components_ @ slanted(0.5)
    which = np.abs(P).argmax(axis=1)
    assert sorted(which) == [0, 1]
    np.testing.assert_allclose(np.abs(P), np.eye(2)[which], rtol=0, atol=1e-6)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(S[:, which]), rtol=0, atol=1e-6)
    objective = np.sum(contrast(model.transform(X), fun).distance ** 2)
    assert model.history_[-1] == pytest.approx(objective, rel=1e-9)


@pytest.mark.claims("ica-02")
@pytest.mark.parametrize("c", [-0.8, 0.0, 0.9])
def test_mixing_columns_keep_their_angle_and_principal_axes_are_perpendicular(c):
    X = uniform_grid() @ slanted(c).T
    model = exact().fit(X)
    assert abs(cosine(model.mixing_)) == pytest.approx(abs(c), abs=1e-6)
    assert abs(cosine(PCA().fit(X).components_.T)) < 1e-12
    parallel = np.abs(model.mixing_.T @ slanted(c)) / np.linalg.norm(model.mixing_, axis=0)[:, None]
    np.testing.assert_allclose(np.sort(parallel.max(axis=1)), [1, 1], rtol=0, atol=1e-9)


@pytest.mark.claims("ica-03")
@pytest.mark.filterwarnings("ignore:FastICA stopped")
def test_normal_sources_are_not_found(rng):
    A, error, size = slanted(0.5), {}, (20_000, 2)
    for name, S in {"uniform": rng.uniform(-1, 1, size), "normal": rng.normal(size=size)}.items():
        parts = np.split(S @ A.T, 10)
        models = [FastICA(random_state=0, max_iter=50).fit(part) for part in parts]
        error[name] = np.mean([amari_index(model.components_ @ A) for model in models])
    assert error["uniform"] < 0.05 and error["normal"] > 0.2


def test_fast_ica_attributes_fit_together(rng):
    X = rng.uniform(size=(500, 3)) @ rng.normal(size=(3, 5)) + 3
    model = FastICA(random_state=1).fit(X)
    S = model.transform(X)
    assert model.components_.shape == (3, 5)  # the rank, not the features
    for white in (S, X @ model.whitening_.T):
        np.testing.assert_allclose(sample_covariance(white), np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(S), X, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.components_ @ model.mixing_, np.eye(3), rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match="X must have 3 components; got 5"):
        model.inverse_transform(X)


def test_fewer_components_live_on_the_first_axes_and_are_farther_from_normal():
    X = load_wine().X
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = FastICA(3, random_state=0, max_iter=1000).fit(X)
    C, axes = model.components_, PCA(3).fit(X).components_
    np.testing.assert_allclose(C @ axes.T @ axes, C, rtol=0, atol=1e-10)
    pca = PCA(3, whiten=True).fit_transform(X)
    assert model.history_[-1] > np.sum(contrast(pca).distance ** 2)


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_sources_are_found_in_any_unit_far_from_0_and_with_repeated_samples(unit):
    X = np.repeat(uniform_grid(5), 3, axis=0) @ slanted(0.5).T + 3
    C = exact().fit(X * unit * [1e-2, 1e3]).components_ * unit * [1e-2, 1e3]
    assert amari_index(C @ slanted(0.5)) < 1e-6


def test_more_components_than_the_rank_are_refused_and_one_feature_is_whitened():
    with pytest.raises(ValueError, match="n_components must be at most the rank 2 of X_c; got 3"):
        FastICA(3).fit(uniform_grid(2))
    with pytest.raises(ValueError, match="X must vary"):
        FastICA().fit(np.full((5, 2), 0.1))
    one = FastICA(1, random_state=0).fit([[1.0], [3.0]])
    np.testing.assert_allclose(np.abs(one.transform([[5.0]])), [[3]], rtol=0, atol=1e-12)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("ica-04")
def test_ica_axes_lie_along_the_sides_and_principal_axes_are_perpendicular():
    from figures.ica import MIXING, axes_and_angles, mixed

    left, right = panels(axes_and_angles, columns=2)
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
