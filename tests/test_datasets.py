"""The data sets: what they hold, that they are what they say, and how damage is told."""

import gzip
import os
import re
import shutil
from fractions import Fraction
from hashlib import sha256
from inspect import getmembers, isfunction
from itertools import pairwise
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest

from mlnotes import datasets
from mlnotes.datasets import (
    TrainingSet,
    encode_labels,
    five_events,
    joint_table,
    load_breast_cancer,
    load_digits,
    load_iris,
    load_mnist,
    load_orl_faces,
    load_wine,
    make_annulus,
    make_blobs,
    make_curve,
    make_emails,
    make_faces,
    make_fish,
    make_independent_labels,
    make_linear,
    make_moons,
    make_patients,
    make_quadrants,
    make_rings,
    make_separable,
    make_shifted_digits,
    make_three_modes,
    place,
    to_bits,
    to_signs,
)

DATA = os.environ.get("MLNOTES_DATA")
needs_data = pytest.mark.skipif(
    DATA is None, reason="MLNOTES_DATA must name the folder of mnist/ and orl.npz"
)
GENERATORS = {
    name: make for name, make in getmembers(datasets, isfunction) if name.startswith("make_")
}
ARGUMENTS = {  # of the generators that need more than n = 40 and rng
    "make_linear": (40, [2.0, -1.0, 0.5]),
    "make_curve": (40, np.sin),
    "make_blobs": ([10, 30], [[0.0, 0.0], [5.0, 5.0]]),
    "make_shifted_digits": (3,),
    "make_faces": (3, 2),
}


def within_standard_errors(mean, p, n, errors=4):
    """Whether a share of n trials is within some standard errors of its probability."""
    return abs(mean - p) <= errors * np.sqrt(p * (1 - p) / n)


# --- The training set ------------------------------------------------------------------


@pytest.mark.claims("datasets-01")
def test_a_training_set_is_n_pairs_and_i_is_an_index(rng):
    X, y = rng.normal(size=(7, 3)), rng.normal(size=7)
    T = TrainingSet(X, y)
    assert len(T) == len(T.X) == len(T.y) == 7
    for i, (x, output) in enumerate(T):
        assert x.tolist() == X[i].tolist() and output == y[i]
    assert i == 6
    np.testing.assert_array_equal(T[2:5][0], X[2:5])
    np.testing.assert_array_equal(T[y > 0][1], y[y > 0])


@pytest.mark.claims("datasets-01")
@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_seed_gives_the_same_set_and_another_seed_another(name):
    make, arguments = GENERATORS[name], ARGUMENTS.get(name, (40,))
    first, again, other = (make(*arguments, rng=np.random.default_rng(s)) for s in (3, 3, 4))
    assert all(map(np.array_equal, first[:], again[:]))
    assert not np.array_equal(first.X, other.X) and np.isfinite(first.X).all()


@pytest.mark.claims("datasets-01")
def test_there_must_be_an_output_for_every_sample_and_a_name_and_a_pixel_for_every_feature():
    for X, y in (((3, 2), (4,)), ((3,), (3,)), ((3, 2), (3, 1))):
        with pytest.raises(ValueError, match=r"X must have shape \(n, d\) and y \(n,\); got"):
            TrainingSet(np.zeros(X), np.zeros(y))
    X, y = np.zeros((6, 4)), np.zeros(6)
    with pytest.raises(ValueError, match="there must be 4 feature_names; got 1"):
        TrainingSet(X, y, ("a",))
    with pytest.raises(ValueError, match=r"image_shape must have 4 pixels; got \(3, 2\)"):
        TrainingSet(X, y, image_shape=(3, 2))  # 24 numbers would make four of these
    with pytest.raises(ValueError, match="only if image_shape is given"):
        TrainingSet(X, y).images  # noqa: B018


@pytest.mark.claims("datasets-02")
def test_labels_are_coded_by_numbers_and_back():
    labels = ["spam", "ham", "spam", "spam"]
    (signs, classes), (bits, _) = encode_labels(labels), encode_labels(labels, (0, 1))
    assert bits.tolist() == [1, 0, 1, 1] and signs.tolist() == [1, -1, 1, 1]
    assert classes[bits].tolist() == labels
    for kind in (np.uint8, bool, np.int8, float):
        np.testing.assert_array_equal(to_signs(bits.astype(kind)), signs)
    np.testing.assert_array_equal(to_bits(signs.astype(np.int8)), bits)
    for recode, codes, rule in ((to_signs, signs, "0 or 1"), (to_bits, bits, "-1 or 1")):
        with pytest.raises(ValueError, match=f"the labels must be {rule}; got"):
            recode(codes)
    with pytest.raises(ValueError, match="there must be a code per class; got 2 for .*'c'"):
        encode_labels(["a", "b", "c"])


# --- Real sets -------------------------------------------------------------------------

SMALL = {  # n, d, samples of each class in the order of class_names
    "iris": (load_iris, 150, 4, [50, 50, 50]),
    "wine": (load_wine, 178, 13, [59, 71, 48]),
    "breast_cancer": (load_breast_cancer, 569, 30, [357, 212]),
    "digits": (load_digits, 1797, 64, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
}


@pytest.mark.claims("datasets-03")
@pytest.mark.parametrize("name", SMALL)
def test_real_sets_have_the_published_sizes_and_name_their_source(name):
    load, n, d, counts = SMALL[name]
    T = load()
    assert T.X.shape == (n, d) and len(T.feature_names) == d
    assert np.unique(T.y, return_counts=True)[1].tolist() == counts
    assert len(T.class_names) == len(counts)
    lines = datasets._shipped_lines(f"{name}.csv")
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    assert head["Counts"] == ", ".join(map(str, counts)) and head["Samples"] == str(n)
    assert "19" in head["Source"] and "CC BY 4.0" in head["Licence"]
    assert head["Title"] in T.source and head["Licence"] in T.source


@pytest.mark.claims("datasets-03", "datasets-04")
def test_real_sets_have_the_published_means_extremes_and_deviations():
    T = load_iris()
    assert T.class_names == tuple(np.unique(T.y)) == ("setosa", "versicolor", "virginica")
    fisher = [
        [5.006, 3.428, 1.462, 0.246],
        [5.936, 2.770, 4.260, 1.326],
        [6.588, 2.974, 5.552, 2.026],
    ]
    means = [T.X[T.y == name].mean(axis=0) for name in T.class_names]
    np.testing.assert_allclose(means, fisher, atol=1e-9)

    T = load_wine()
    assert "Wine" in T.source and T.X.shape[1] not in (4, 30, 784)  # none of the announced sets
    X = T.X[:, [0, 4]]
    got = np.transpose([X.min(axis=0), X.max(axis=0), X.mean(axis=0), X.std(axis=0, ddof=1)])
    np.testing.assert_allclose(got, [[11.0, 14.8, 13.0, 0.8], [70, 162, 99.7, 14.3]], atol=0.051)

    T = load_breast_cancer()
    for name, low, high in (("mean radius", 6.981, 28.11), ("worst area", 185.2, 4254)):
        column = T.X[:, T.feature_names.index(name)]
        assert (column.min(), column.max()) == (low, high)
    assert column[T.y == "malignant"].mean() > 2 * column[T.y == "benign"].mean()

    T = load_digits()
    assert set(np.unique(T.X)) == set(range(17))
    zero, one = (T.images[T.y == k].mean(axis=0) for k in (0, 1))
    assert zero[3:5, 3:5].max() < 4 < 10 < one[3:5, 3:5].min()  # the hole of the 0, the 1's stem
    np.testing.assert_array_equal(T.images[7].ravel(), T.X[7])


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder with copies of the data files of the package, in its place."""
    for name in datasets.SHIPPED_FILES:
        shutil.copy(str(datasets.DATA.joinpath(name)), tmp_path)
    monkeypatch.setattr(datasets, "DATA", tmp_path)
    return tmp_path


def damaged_message(path, original, got):
    must, digest = (sha256(content).hexdigest() for content in (original, got))
    return f"{path}: damaged, or not the original: its SHA-256 must be {must}; got {digest}"


@pytest.mark.parametrize("name", datasets.SHIPPED_FILES)
def test_a_damaged_file_of_the_package_is_named(shipped, rng, name):
    load = datasets._face_checksums if name == "orl_checksums.csv" else SMALL[name[:-4]][0]
    path = shipped / name
    whole = path.read_bytes().replace(b"\r\n", b"\n")
    lines = datasets._shipped_lines(name)
    path.write_bytes(whole.replace(b"\n", b"\r\n"))  # the line ends of Windows
    assert datasets._shipped_lines(name) == lines
    load()
    place = rng.integers(len(whole))
    flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    for damaged in (flipped, whole[: len(whole) // 2], b"", b"\xff" + whole):
        path.write_bytes(damaged)
        with pytest.raises(ValueError) as told:
            load()
        assert str(told.value) == damaged_message(path, whole, damaged)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=re.escape(str(path))):
        load()


def test_every_data_file_of_the_package_has_a_checksum():
    there = {path.name for path in datasets.DATA.iterdir()} - {"claims.csv"}
    assert there == set(datasets.SHIPPED_FILES)


# --- MNIST -----------------------------------------------------------------------------

TRAIN, _, _, TEST_LABELS = (f"{name}.gz" for name in datasets.MNIST_FILES)


def idx(values):
    """The bytes of a gzipped IDX file."""
    sizes = b"".join(int(n).to_bytes(4, "big") for n in values.shape)
    content = bytes([0, 0, 8, values.ndim]) + sizes + values.astype(np.uint8).tobytes()
    return gzip.compress(content, mtime=0)


@pytest.fixture
def digits(rng):
    """300 and three images with their labels."""
    shapes = (300, 28, 28), (300,), (3, 28, 28), (3,)
    return [rng.integers(256 if len(shape) > 1 else 10, size=shape) for shape in shapes]


@pytest.fixture
def mnist(tmp_path, monkeypatch, digits):
    """A folder where they are taken for the original MNIST."""
    original = {}
    for name, values in zip(datasets.MNIST_FILES, digits, strict=True):
        (tmp_path / f"{name}.gz").write_bytes(idx(values))
        original[name] = sha256(idx(values)).hexdigest()
    monkeypatch.setattr(datasets, "MNIST_FILES", original)
    return tmp_path


@pytest.mark.claims("datasets-03")
def test_mnist_is_the_pixels_and_labels_of_its_four_files(mnist, digits):
    train, test = load_mnist(mnist)
    for T, images, labels in ((train, *digits[:2]), (test, *digits[2:])):
        np.testing.assert_array_equal(T.images * 255, images)
        np.testing.assert_array_equal(T.y, labels)
        assert T.X.shape[1] == 28 * 28 == len(T.feature_names)
    np.testing.assert_array_equal(load_mnist(str(mnist), n=2).train.X, train.X[:2])
    with pytest.raises(ValueError, match="n must be an integer >= 1; got 0"):
        load_mnist(mnist, n=0)


def test_the_message_for_a_missing_file_lists_the_folder(mnist, tmp_path):
    (mnist / TRAIN).rename(mnist / "train-images")
    (empty := tmp_path / "empty").mkdir()
    (full := tmp_path / "full").mkdir()
    for k in range(10):
        (full / f"file{k}").touch()
    for folder, told in (
        (mnist, rf"{TRAIN}: missing: the folder holds empty, .*, train-images, train-labels"),
        (tmp_path / "nowhere", "missing: there is no folder .*nowhere$"),
        (empty, "missing: the folder holds nothing$"),
        (full, r"holds file0, .*, file8, \.\.\.$"),
    ):
        with pytest.raises(FileNotFoundError, match=told):
            load_mnist(folder)


def test_a_damaged_file_of_mnist_is_named(mnist):
    path = mnist / TEST_LABELS
    path.write_bytes((whole := path.read_bytes())[:-1] + b"!")
    with pytest.raises(ValueError) as told:
        load_mnist(mnist)
    assert str(told.value) == damaged_message(path, whole, path.read_bytes())


@needs_data
@pytest.mark.claims("datasets-03")
def test_the_real_mnist_has_the_published_counts():
    train, test = load_mnist(Path(DATA) / "mnist", n=None)
    assert train.X.shape == (60000, 784) and test.X.shape == (10000, 784)
    counts = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(train.y).tolist() == counts
    assert np.bincount(test.y).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert train.X.min() == 0 and train.X.max() == 1
    assert train.X.mean() == pytest.approx(0.1307, abs=5e-5)  # the constants that every
    assert train.X.std() == pytest.approx(0.3081, abs=5e-5)  # standardised MNIST is made with


# --- The ORL faces ---------------------------------------------------------------------


def pgm(image):
    return b"P5\n%d %d\n255\n" % image.shape[::-1] + image.tobytes()


@pytest.fixture
def pictures(monkeypatch, rng):
    """Two small pictures of each of two subjects that are taken for the original 400."""
    images = rng.integers(256, size=(4, 5, 3), dtype=np.uint8)
    known = [(sha256(x.tobytes()).hexdigest()[:16], i // 2 + 1) for i, x in enumerate(images)]
    for name, small in (("SUBJECTS", 2), ("PICTURES", 2), ("FACE", (5, 3))):
        monkeypatch.setattr(datasets, name, small)
    monkeypatch.setattr(datasets, "_face_checksums", lambda: dict(known))
    return images


@pytest.fixture
def orl(tmp_path, pictures):
    """A folder with them as PGM files, and in orl.npz in another order of the subjects."""
    for s, i in np.ndindex(2, 2):
        (tmp_path / f"s{s + 1}").mkdir(exist_ok=True)
        (tmp_path / f"s{s + 1}" / f"{i + 1}.pgm").write_bytes(pgm(pictures[2 * s + i]))
    (tmp_path / "npz").mkdir()
    order = [2, 0, 3, 1]
    np.savez(tmp_path / "npz" / "orl.npz", images=pictures[order], subject=[2, 1, 2, 1])
    return tmp_path


def test_faces_are_the_pixels_of_their_files(orl, pictures):
    T = load_orl_faces(orl)
    np.testing.assert_array_equal(T.images * 255, pictures)
    np.testing.assert_array_equal(T.y, [1, 1, 2, 2])
    assert T.X.shape == (4, 5 * 3)
    assert all(map(np.array_equal, load_orl_faces(orl / "npz")[:], T[:]))


@pytest.mark.parametrize("folder, name, step", [("", "s2/1.pgm", 1), ("npz", "orl.npz", 7)])
def test_any_flipped_bit_of_the_faces_is_found(orl, folder, name, step):
    path, expected, found = orl / folder / name, load_orl_faces(orl), 0
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), step):
        byte = bytes([whole[bit // 8] ^ 1 << bit % 8])
        path.write_bytes(whole[: bit // 8] + byte + whole[bit // 8 + 1 :])
        try:
            assert all(map(np.array_equal, load_orl_faces(orl / folder)[:], expected[:]))
        except ValueError as error:
            assert str(error).startswith(f"{path}: damaged, or not ")
            found += 1
    assert found >= 8 * 5 * 3  # what is not found is no pixel and no subject: a date in the .npz


def test_the_first_of_the_missing_faces_is_named(orl):
    (orl / "s2" / "1.pgm").unlink()
    with pytest.raises(FileNotFoundError, match=r"1\.pgm: missing: the folder holds 2\.pgm$"):
        load_orl_faces(orl)
    with pytest.raises(FileNotFoundError, match=r"orl\.npz: missing: there is no folder"):
        load_orl_faces(orl / "nowhere")


@pytest.mark.parametrize("shown", [0, 2], ids=["of another subject", "twice"])
def test_a_picture_of_another_subject_or_twice_is_refused(orl, pictures, shown):
    face = pictures[shown]
    np.savez(orl / "npz" / "orl.npz", images=[*pictures[:3], face], subject=[1, 1, 2, 2])
    (orl / "s2" / "2.pgm").write_bytes(pgm(face))
    for path in (orl / "npz" / "orl.npz", orl / "s2" / "2.pgm"):
        with pytest.raises(ValueError) as told:
            load_orl_faces(orl / "npz" if path.suffix == ".npz" else orl)
        assert str(told.value) == (
            f"{path}: damaged, or not the original: it must show subject 2, no picture twice; got "
            f"(5, 3) pixels, whose SHA-256 starts with {sha256(face.tobytes()).hexdigest()[:16]}"
        )


def test_pgm_headers_may_hold_comments_and_any_white_space(tmp_path):
    path = tmp_path / "a.pgm"
    for head in (b"P5\n2 1\n255\n", b"P5 # made\n# by hand\n2\t1 #9 9\n 255 ", b"P5\r\n2\n1\n9\r"):
        path.write_bytes(head + b"\n#")  # pixels that look like white space and a comment
        assert datasets._read_pgm(path).tolist() == [[10, 35]]
    for content in (b"P2\n2 1\n255\n12", b"P5\n2 1\n255\n1"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="and promise the bytes that follow; got") as told:
            datasets._read_pgm(path)
        assert str(told.value).startswith(f"{path}: damaged, or not a binary PGM file: ")


def test_an_npz_file_of_other_arrays_is_refused(tmp_path, pictures):
    path, subject = tmp_path / "orl.npz", np.array([1, 1, 2, 2])
    for held in (
        {"X": pictures, "subject": subject},
        {"images": pictures.astype(np.int8), "subject": subject},
        {"images": pictures[:3], "subject": subject},
        {"images": pictures, "subject": subject - 1},
        {"images": pictures, "subject": subject.astype(object)},
    ):
        np.savez(path, **held)
        told = f"{path}: damaged, or not the original: it must hold the arrays images, 4 "
        with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
            load_orl_faces(tmp_path)


def test_checksums_of_the_faces_are_ten_for_each_of_forty_subjects():
    known = datasets._face_checksums()
    assert np.bincount(list(known.values()))[1:].tolist() == [10] * 40
    assert all(len(digest) == 16 and int(digest, 16) for digest in known)


@needs_data
@pytest.mark.claims("datasets-10")
def test_the_real_faces_are_ten_pictures_of_forty_people_and_fewer_than_their_pixels():
    T = load_orl_faces(DATA)
    assert T.X.shape == (400, 10304) and T.X.min() == 0 and T.X.max() == 251 / 255
    assert np.bincount(T.y)[1:].tolist() == [10] * 40
    centred = T.X - T.X.mean(axis=0)
    assert np.linalg.matrix_rank(centred @ centred.T) == 399  # n - 1


# --- Printed examples ------------------------------------------------------------------


@pytest.mark.claims("datasets-05")
def test_joint_table_and_five_events_are_the_printed_ones_and_exact():
    P, F = joint_table(), Fraction
    printed = ["1/8 1/16 1/32 1/32", "1/16 1/8 1/32 1/32", "1/16 1/16 1/16 1/16", "1/4 0 0 0"]
    assert [" ".join(map(str, row)) for row in P] == printed and P.sum() == 1
    assert P.sum(axis=0).tolist() == [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]
    assert P.sum(axis=1).tolist() == [F(1, 4)] * 4
    events = [(y, x) for (x,), y in five_events()]  # the figure prints the pairs (y, x)
    assert sorted(events) == [(1, 1), (2, 5), (3, 3), (4, 1), (5, 4)]
    assert all(isinstance(number, Fraction) for number in [*P.flat, *sum(events, ())])


# --- Linear models ---------------------------------------------------------------------


@pytest.mark.claims("datasets-06")
def test_linear_targets_have_noise_of_the_given_variance(rng):
    n, sigma, w = 40_000, 0.7, np.array([2.0, -1.0, 0.5])
    T = make_linear(n, w, 3.0, sigma=sigma, rng=rng)
    noise = T.y - T.X @ w - 3.0
    assert abs(noise.mean()) <= 4 * sigma / np.sqrt(n)
    assert abs(noise.var() - sigma**2) <= 4 * sigma**2 * np.sqrt(2 / n)
    assert abs(T.X.mean()) <= 4 / np.sqrt(3 * n)
    assert (np.abs(np.corrcoef(T.X.T, noise)[-1, :-1]) <= 4 / np.sqrt(n)).all()


@pytest.mark.claims("datasets-06")
def test_a_curve_is_its_function_plus_noise_on_the_given_interval(rng):
    T = make_curve(20_000, np.square, low=-2.0, high=3.0, sigma=0.5, rng=rng)
    x = T.X[:, 0]
    noise = T.y - x**2
    assert (np.diff(x) >= 0).all() and -2 <= x[0] < -1.99 and 2.99 < x[-1] <= 3
    assert abs(noise.std() - 0.5) <= 4 * 0.5 / np.sqrt(2 * 20_000)
    assert abs(noise.mean()) <= 4 * 0.5 / np.sqrt(20_000)
    x = make_curve(1000, np.square, rng=rng).X
    assert 0 <= x.min() < 0.02 < 0.98 < x.max() <= 1


@pytest.mark.claims("datasets-06")
def test_patients_die_as_often_as_their_risk_says(rng):
    n = 20_000
    T = make_patients(n, rng=rng)
    age, gender, cholesterol = T.X.T
    assert 20 <= age.min() < 21 < 89 < age.max() <= 90
    assert set(gender) == {0, 1} and within_standard_errors(gender.mean(), 0.5, n)
    assert cholesterol.min() > 0 and abs(np.median(cholesterol) - 200) < 2
    assert abs(np.log(cholesterol).std() - 0.2) <= 4 * 0.2 / np.sqrt(2 * n)
    (w, b, p), died, old = T.truth, T.y == 1, age > 70
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-(T.X @ w + b))), rtol=1e-12)
    for group in (old, ~old):
        deviation = np.sqrt(np.sum((p * (1 - p))[group]))
        assert abs(np.sum((died - p)[group])) <= 4 * deviation
    assert (np.sign(w) == [1, -1, 1]).all() and p[old].mean() > 2 * p[~old].mean()
    sure = make_patients(9, b=-1000.0, rng=rng)
    assert (sure.truth.p == 0).all() and (sure.y == -1).all()


# --- Learning theory -------------------------------------------------------------------


@pytest.mark.claims("datasets-07")
@pytest.mark.parametrize("n, d, gap", [(50, 2, 0.5), (7, 1, 0.0), (5, 40, 1e-3)])
def test_hidden_hyperplane_separates_with_the_gap(rng, n, d, gap):
    for _ in range(20):
        T = make_separable(n, d, gap=gap, rng=rng)
        w, b, kept = T.truth
        margins = T.y * (T.X @ w + b)
        assert kept == gap and (margins >= gap).all() and margins.min() > 0
        assert np.linalg.norm(w) == pytest.approx(1, rel=1e-12)
        assert abs(np.sum(T.y)) == n % 2 and T.X.shape == (n, d)
    assert margins.min() < gap + 1  # and not by much more


@pytest.mark.claims("datasets-07")
def test_the_classes_of_a_separable_set_are_shuffled_and_its_gap_is_not_negative(rng):
    T = make_separable(400, rng=rng)
    runs = 1 + np.sum(T.y[1:] != T.y[:-1])
    assert abs(runs - 201) <= 4 * 10  # runs of 200 and 200: mean 201, deviation 9.99
    for gap in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=f"gap must be a number >= 0 and < inf; got {gap}"):
            make_separable(10, gap=gap, rng=rng)


@pytest.mark.claims("datasets-07")
def test_every_classifier_errs_on_half_of_independent_labels(rng):
    n = 10_000
    T, knows = make_independent_labels(n, rng=rng), make_separable(n, gap=0.0, rng=rng)
    assert set(T.y) == {-1, 1} and T.X.shape == (n, 2)
    w, center = rng.normal(size=2), rng.normal(size=2)
    for classifier in (
        lambda X: X @ w > 0,
        lambda X: np.linalg.norm(X - center, axis=1) < 1,
        lambda X: np.sin(50 * X[:, 0]) > 0,
    ):
        assert within_standard_errors(np.mean(classifier(T.X) != (T.y == 1)), 0.5, n)
    hidden = knows.X @ knows.truth.w > 0
    assert not within_standard_errors(np.mean(hidden != (knows.y == 1)), 0.5, n)


# --- Groups and shapes -----------------------------------------------------------------


def hulls_share_the_origin(T):
    """Whether the origin is in both hulls: for no class is a half plane free of directions."""
    for label in np.unique(T.y):
        angles = np.sort(np.arctan2(*T.X[T.y == label].T))
        if np.max(np.diff(angles, append=angles[0] + 2 * np.pi)) >= np.pi:
            return False
    return True


NOT_LINEAR = {
    "quadrants": (make_quadrants, lambda x1, x2: x1 * x2 > 0),
    "annulus": (make_annulus, lambda x1, x2: 1 <= x1**2 + x2**2 <= 4),
    "rings": (make_rings, lambda x1, x2: x1**2 + x2**2 > 1.5**2),
    "three modes": (
        make_three_modes,
        lambda x1, x2: any(
            (x1 - 1.2 * np.cos(a)) ** 2 + (x2 - 1.2 * np.sin(a)) ** 2 <= 0.7**2
            for a in np.deg2rad([90, 210, 330])
        ),
    ),
}


@pytest.mark.claims("datasets-08")
@pytest.mark.parametrize("make, rule", NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_labels_follow_their_rule_and_no_line_separates_them(rng, make, rule):
    T = make(400, rng=rng)
    assert T.y.tolist() == [1 if rule(*x) else -1 for x in T.X]
    assert hulls_share_the_origin(T)
    assert set(T.y) == {-1, 1}
    assert 0.1 < np.mean(T.y == 1) < 0.9


@pytest.mark.parametrize(
    "make, half", [(make_quadrants, 1.0), (make_annulus, 2.5), (make_three_modes, 2.0)]
)
def test_squares_are_filled_evenly(rng, make, half):
    X = make(4000, rng=rng).X / half
    assert 0.99 < X.max() <= 1 and -1 <= X.min() < -0.99
    counts = np.histogram2d(*X.T, bins=5, range=[(-1, 1)] * 2)[0]
    assert (np.abs(counts - 160) <= 4 * np.sqrt(160)).all()


def test_the_directions_of_rings_and_moons_are_uniform(rng):
    X, n = make_rings(4000, rng=rng).X, 4000
    turn = np.arctan2(X[:, 1], X[:, 0])
    for k in (1, 2, 3):
        assert abs(np.mean(np.exp(1j * k * turn))) <= 4 / np.sqrt(n)
    T = make_moons(n, noise=0.0, rng=rng)
    share = np.arctan2(T.X[:, 1], T.X[:, 0])[T.y == -1] / np.pi  # uniform on [0, 1]
    assert abs(share.mean() - 1 / 2) <= 4 / np.sqrt(12 * n / 2)
    assert abs(share.var() - 1 / 12) <= 4 / np.sqrt(180 * n / 2)


@pytest.mark.claims("datasets-08")
def test_the_certificate_is_refused_where_a_line_separates(rng):
    for _ in range(20):
        T = make_separable(400, gap=0.01, rng=rng)
        moved = T.X - rng.normal(size=2) if rng.random() < 0.5 else T.X
        assert not hulls_share_the_origin(TrainingSet(moved, T.y))


@pytest.mark.claims("datasets-08")
def test_concentric_classes_do_not_overlap_and_a_plane_separates_their_squares(rng):
    T = make_rings(301, radii=(1.0, 2.5), noise=0.2, rng=rng)
    r = np.linalg.norm(T.X, axis=1)
    for label, radius in ((-1, 1.0), (1, 2.5)):
        low, high = r[T.y == label].min(), r[T.y == label].max()
        assert radius - 0.2 <= low < radius - 0.15 and radius + 0.15 < high <= radius + 0.2
    z = T.X[:, 0] ** 2 + T.X[:, 1] ** 2
    np.testing.assert_array_equal(np.where(z > 2, 1, -1), T.y)
    assert [np.sum(T.y == -1), np.sum(T.y == 1)] == [151, 150]
    wide = make_rings(301, noise=0.9, rng=rng)
    radii = np.linalg.norm(wide.X, axis=1)
    assert radii[wide.y == -1].max() > radii[wide.y == 1].min()  # then they do


def test_moons_are_half_circles_that_interlock_with_normal_noise_of_the_given_deviation(rng):
    loud, mute = (make_moons(500, s, rng=np.random.default_rng(0)) for s in (0.3, 0.0))
    upper, lower = mute.X[mute.y == -1], mute.X[mute.y == 1]
    np.testing.assert_allclose(np.linalg.norm(upper, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(lower - [1, 0.5], axis=1), 1, rtol=1e-12)
    assert upper[:, 1].min() >= 0 and lower[:, 1].max() <= 0.5 and len(upper) == len(lower) == 250
    inner = lower[:, 0].min(), upper[:, 0].max()
    assert inner[0] < 0.05 < 0.95 < inner[1]  # the end of each is inside the other
    noise = loud.X - mute.X
    assert abs(noise.std() - 0.3) <= 4 * 0.3 / np.sqrt(2 * 1000)
    assert abs(noise.mean()) <= 4 * 0.3 / np.sqrt(1000)


@pytest.mark.parametrize("kind", ["one", "each", "none"])
def test_blobs_have_their_sizes_centers_and_covariances(rng, kind):
    Sigma, eye = np.array([[4.0, 1.5], [1.5, 1.0]]), np.eye(2)
    each = {"one": [Sigma] * 3, "each": [Sigma, eye, [[1.0, -0.9], [-0.9, 1.0]]], "none": [eye] * 3}
    given = {"one": Sigma, "each": each["each"], "none": None}[kind]
    sizes, centers = [20_000, 0, 10_000], np.array([[1.0, 2.0], [0.0, 0.0], [-5.0, 3.0]])
    T = make_blobs(sizes, centers, given, rng=rng)
    assert np.bincount(T.y, minlength=3).tolist() == sizes and (np.diff(T.y) >= 0).all()
    np.testing.assert_allclose(T.truth.weights, [2 / 3, 0, 1 / 3])
    np.testing.assert_array_equal(T.truth.covariances, each[kind])
    for k in (0, 2):
        S, X = T.truth.covariances[k], T.X[T.y == k]
        spread = np.sqrt(np.outer(np.diag(S), np.diag(S)) + S**2)  # of products of two entries
        assert (np.abs(X.mean(axis=0) - centers[k]) <= 4 * np.sqrt(np.diag(S) / sizes[k])).all()
        assert (np.abs(np.cov(X.T) - S) <= 4 * spread / np.sqrt(sizes[k])).all()


def test_matrices_that_are_not_covariances_and_sizes_of_other_groups_are_refused(rng):
    shape = r"of shape \(2, 2\) or \(3, 2, 2\)"
    for bad, rule in ((2.0, shape), (np.ones((3, 1, 1)), shape), ([[1, 5], [0, 1]], "symmetric")):
        with pytest.raises(ValueError, match=f"covariances must be {rule}; got"):
            make_blobs([1, 1, 1], np.zeros((3, 2)), bad, rng=rng)
    with pytest.raises(ValueError, match="there must be a size for each of 3 centers; got"):
        make_blobs([1, 1], np.zeros((3, 2)), rng=rng)


# --- Stories ---------------------------------------------------------------------------


def phi(z):
    """The standard normal distribution function."""
    return (1 + erf(z / sqrt(2))) / 2


@pytest.mark.claims("datasets-09")
def test_every_word_predicts_better_than_chance(rng):
    n = 20_000
    T = make_emails(n, rng=rng)
    (ham, spam), weights = T.truth.p, T.truth.weights
    means_spam = spam > ham
    wrong = np.where(means_spam, weights[0] * ham + weights[1] * (1 - spam),
                     weights[0] * (1 - ham) + weights[1] * spam)  # fmt: skip
    assert ((wrong > 0) & (wrong < 1 / 2)).all()
    assert wrong[T.feature_names.index("buy now")] == pytest.approx(0.225, abs=1e-15)
    assert set(np.unique(T.X)) == {0.0, 1.0}
    says_spam = (T.X == 1) == means_spam
    for j, error in enumerate(wrong):
        assert within_standard_errors(np.mean(says_spam[:, j] != (T.y == "spam")), error, n)
    for p, label in ((ham, "ham"), (spam, "spam")):
        X = T.X[T.y == label]
        assert all(within_standard_errors(X[:, j].mean(), p[j], len(X)) for j in range(len(p)))
        apart = np.corrcoef(X.T) - np.eye(len(p))
        assert np.abs(apart).max() <= 5 / np.sqrt(len(X))  # one word tells nothing of another


@pytest.mark.claims("datasets-09")
def test_length_tells_fish_worse_than_lightness_and_two_features_tell_them_best(rng):
    n = 40_000
    T = make_fish(n, rng=rng)
    (salmon, bass), Sigma = T.truth.centers, T.truth.covariances[0]
    np.testing.assert_array_equal(*T.truth.covariances)
    is_bass, errors = T.y == "sea bass", {}
    assert T.feature_names == ("length", "lightness", "width") and is_bass.sum() == n / 2
    assert bass[0] > salmon[0] and T.X[:, [0, 2]].min() > 0
    for features in ((0,), (1,), (2,), (1, 2), (0, 1, 2)):
        use = list(features)
        direction = np.linalg.solve(Sigma[np.ix_(use, use)], (bass - salmon)[use])
        delta = np.sqrt((bass - salmon)[use] @ direction)
        errors[features] = phi(-delta / 2)
        threshold = direction @ (bass + salmon)[use] / 2
        missed = np.mean((T.X[:, use] @ direction > threshold) != is_bass)
        assert within_standard_errors(missed, errors[features], n)
    assert errors[0,] == pytest.approx(phi(-1 / 2)) and errors[1,] == pytest.approx(phi(-1))
    assert errors[1, 2] == pytest.approx(phi(-np.sqrt(61) / 6))
    assert 1 / 2 > errors[0,] > errors[1,] > errors[1, 2] > 0
    assert errors[2,] > errors[1,] > errors[1, 2] >= errors[0, 1, 2]


# --- Images ----------------------------------------------------------------------------


@pytest.mark.claims("datasets-10")
def test_an_image_of_800_by_600_is_a_vector_of_480000_numbers():
    picture = np.arange(480_000.0).reshape(600, 800)
    T = TrainingSet(picture.reshape(1, -1), np.zeros(1), image_shape=(600, 800))
    assert T.X.shape == (1, 480_000) and T.X[0, 801] == picture[1, 1]
    np.testing.assert_array_equal(T.images[0], picture)


def placed_by_hand(image, shape, zoom, angle, shift):
    """`place`, pixel by pixel: turn every point of the canvas back into the image."""
    h, w = image.shape

    def grey(r, c):
        return image[r, c] if 0 <= r < h and 0 <= c < w else 0.0

    canvas = np.zeros(shape)
    for r, c in np.ndindex(shape):
        z = complex(c - (shape[1] - 1) / 2 - shift[0], -(r - (shape[0] - 1) / 2 - shift[1]))
        z *= np.exp(-1j * angle) / zoom  # the imaginary axis points up: anticlockwise is positive
        row, column = (h - 1) / 2 - z.imag, (w - 1) / 2 + z.real
        for r0 in (int(np.floor(row)), int(np.floor(row)) + 1):
            for c0 in (int(np.floor(column)), int(np.floor(column)) + 1):
                share = (1 - abs(row - r0)) * (1 - abs(column - c0))
                canvas[r, c] += share * grey(r0, c0)
    return canvas


@pytest.mark.claims("datasets-10")
@pytest.mark.parametrize(
    "zoom, angle, shift", [(1, 0.4, (0, 0)), (2.5, 0, (3.3, -1.2)), (0.6, -2.0, (-5.0, 2.0))]
)
def test_place_is_the_image_pulled_back_pixel_by_pixel(rng, zoom, angle, shift):
    images = rng.uniform(size=(2, 3, 5, 7))
    how = {"shape": (16, 13), "zoom": zoom, "angle": angle, "shift": shift}
    placed = place(images, **how)
    assert placed.shape == (2, 3, 16, 13) and placed.max() > 0.1
    np.testing.assert_allclose(placed[1, 2], placed_by_hand(images[1, 2], **how), atol=1e-12)


def test_place_turns_and_shifts_exactly_where_pixels_fall_on_pixels(rng):
    image = rng.uniform(size=(4, 6))
    np.testing.assert_array_equal(place(image, shape=(4, 6)), image)
    np.testing.assert_allclose(place(image, shape=(6, 4), angle=np.pi / 2), np.rot90(image))
    moved = place(image, shape=(4, 6), shift=(2.0, 1.0))
    np.testing.assert_array_equal(moved[1:, 2:], image[:-1, :-2])
    assert not moved[0].any() and not moved[:, :2].any()
    for name, bad in (("zoom", 0), ("zoom", np.inf), ("angle", np.nan), ("shift", (0.0, -np.inf))):
        with pytest.raises(ValueError, match=f"{name} must be a number .*< inf; got"):
            place(image, shape=(3, 3), **{name: bad})


@pytest.mark.claims("datasets-10")
def test_three_numbers_determine_each_shifted_digit(rng):
    T = make_shifted_digits(12, rng=rng)
    assert T.X.shape == (12, 100 * 100) and T.image_shape == (100, 100) and set(T.y) == {3}
    assert T.X.min() >= 0 and 0.9 < T.X.max() <= 1
    image, zoom, angles, shifts = T.truth
    for i in range(12):
        again = place(image, shape=(100, 100), zoom=zoom, angle=angles[i], shift=shifts[i])
        np.testing.assert_array_equal(T.images[i], again)
        assert again[[0, -1]].max() == again[:, [0, -1]].max() == 0  # none leaves the canvas
    np.testing.assert_array_equal(16 * image, load_digits().images[3])
    assert zoom == 6  # 48 of the 100 pixels
    many = make_shifted_digits(60, rng=rng).truth
    for moves, most in ((many.angle, np.pi / 4), (many.shift, 15)):
        assert -most <= moves.min() < -0.9 * most and 0.9 * most < moves.max() <= most
    others = place(image, shape=(100, 100), zoom=zoom, angle=angles[0], shift=shifts[1])
    assert np.abs(T.images[0] - others).max() > 0.5
    assert np.linalg.matrix_rank(T.X - T.X.mean(axis=0)) == 11  # flat they are not: n - 1


@pytest.mark.claims("datasets-10")
@pytest.mark.parametrize("subjects, pictures, q, rank", [(10, 6, 5, 5), (2, 3, 24, 5)])
def test_rank_of_the_faces_is_that_of_their_factors_or_of_their_number(
    rng, subjects, pictures, q, rank
):
    T = make_faces(subjects, pictures, q=q, rng=rng)
    n = subjects * pictures
    assert T.X.shape == (n, 112 * 92) == (n, 10304) and T.images.shape == (n, 112, 92)
    assert T.X.min() >= 0 and T.X.max() <= 1
    assert np.linalg.matrix_rank(T.X - T.X.mean(axis=0)) == rank == min(q, n - 1)
    np.testing.assert_array_equal(T.truth.weights @ T.truth.prototypes, T.X)
    np.testing.assert_allclose(T.truth.weights.sum(axis=1), 1, rtol=1e-12)
    assert np.bincount(T.y)[1:].tolist() == [pictures] * subjects


def test_drawn_faces_are_different_bright_ovals_with_dark_eyes_and_mouth(rng):
    faces = make_faces(1, 1, q=199, rng=rng).truth.prototypes.reshape(-1, 112, 92)
    assert faces.min() >= 0 and faces.max() <= 1 and np.ptp(faces, axis=0).max() > 0.5
    mean = faces.mean(axis=0)
    cheeks, between_eyes = mean[60:70, [26, 65]], mean[40:52, 43:49]
    eyes, mouth = mean[42:52, [32, 59]], mean[75:84, 40:52]
    corners, hair = mean[[0, 0, -1, -1], [0, -1, 0, -1]], mean[10:14, 40:52]
    assert np.ptp(corners) < 1e-3 and cheeks.min() > 0.6 > hair.max() > 1.3 * corners.max()
    assert between_eyes.min() > eyes.max() + 0.05 and cheeks.min() > mouth.mean() + 0.1
    np.testing.assert_allclose(mean, mean[:, ::-1], atol=0.15)  # light falls from either side
    assert min(np.abs(a - b).max() for a, b in pairwise(faces)) > 0.1


@pytest.mark.claims("datasets-10")
def test_the_stand_in_for_the_faces_has_their_form_and_subjects_that_differ():
    T = load_orl_faces()
    assert T.X.shape == (400, 10304) and T.image_shape == (112, 92) and "stand-in" in repr(T)
    assert np.bincount(T.y)[1:].tolist() == [10] * 40
    first, rest = T.X[::10], T.X[1::10]
    distance = np.linalg.norm(rest[:, None] - first, axis=2)
    assert np.mean(distance.argmin(axis=1) == np.arange(40)) > 0.8
