"""The data sets: what they hold, that they are what they say, and how damage is told."""

import gzip
import os
import re
import shutil
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from inspect import getmembers, isfunction
from itertools import pairwise
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest

from mlnotes import datasets
from mlnotes.datasets import (
    REAL_SETS,
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
    read_idx,
    read_pgm,
    to_bits,
    to_signs,
)

DATA = os.environ.get("MLNOTES_DATA")
needs_data = pytest.mark.skipif(
    DATA is None, reason="MLNOTES_DATA must name the folder of mnist/ and orl.npz"
)
GENERATORS = {
    "make_linear": lambda rng: make_linear(40, [2.0, -1.0, 0.5], 3.0, rng=rng),
    "make_curve": lambda rng: make_curve(40, np.sin, rng=rng),
    "make_patients": lambda rng: make_patients(40, rng=rng),
    "make_separable": lambda rng: make_separable(40, 3, rng=rng),
    "make_independent_labels": lambda rng: make_independent_labels(40, rng=rng),
    "make_blobs": lambda rng: make_blobs([10, 30], [[0.0, 0.0], [5.0, 5.0]], rng=rng),
    "make_moons": lambda rng: make_moons(40, rng=rng),
    "make_rings": lambda rng: make_rings(40, rng=rng),
    "make_annulus": lambda rng: make_annulus(40, rng=rng),
    "make_quadrants": lambda rng: make_quadrants(40, rng=rng),
    "make_three_modes": lambda rng: make_three_modes(40, rng=rng),
    "make_emails": lambda rng: make_emails(40, rng=rng),
    "make_fish": lambda rng: make_fish(40, rng=rng),
    "make_shifted_digits": lambda rng: make_shifted_digits(3, rng=rng),
    "make_faces": lambda rng: make_faces(3, 2, q=4, rng=rng),
}


def arrays(truth):
    """All numbers of a truth, in a row."""
    parts = [np.ravel(part) for part in truth or () if not callable(part)]
    return np.concatenate([*parts, [0.0]])


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
        np.testing.assert_array_equal(x, X[i])
        np.testing.assert_array_equal(T[i][0], X[i])
        assert output == T[i][1] == y[i]
    assert i == 6
    np.testing.assert_array_equal(T[2:5][0], X[2:5])
    np.testing.assert_array_equal(T[y > 0][1], y[y > 0])


@pytest.mark.claims("datasets-01")
@pytest.mark.parametrize("shapes", [((3, 2), (4,)), ((3,), (3,)), ((3, 2), (3, 1))])
def test_there_must_be_an_output_for_every_sample(shapes):
    X, y = map(np.zeros, shapes)
    with pytest.raises(ValueError, match=r"X must have shape \(n, d\) and y \(n,\); got"):
        TrainingSet(X, y)


@pytest.mark.claims("datasets-01")
@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_the_same_seed_gives_the_same_set_and_another_seed_another(make):
    first, again, other = (make(np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert first == again and first != other
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    np.testing.assert_array_equal(arrays(first.truth), arrays(again.truth))
    assert len(first) == len(first.y) and len(first.feature_names) == first.X.shape[1]
    assert np.isfinite(first.X).all()


def test_every_generator_is_tested_here():
    made = {name for name, _ in getmembers(datasets, isfunction) if name.startswith("make_")}
    assert made == set(GENERATORS)


def test_there_must_be_a_name_and_a_pixel_for_every_feature():
    X, y = np.zeros((6, 4)), np.zeros(6)
    with pytest.raises(ValueError, match="there must be 4 feature_names; got 1"):
        TrainingSet(X, y, ("a",))
    with pytest.raises(ValueError, match=r"image_shape must have 4 pixels; got \(3, 2\)"):
        TrainingSet(X, y, image_shape=(3, 2))  # 24 numbers would make four of these
    with pytest.raises(ValueError, match="only if image_shape is given"):
        TrainingSet(X, y).images  # noqa: B018


def test_sets_differ_in_samples_outputs_names_or_kind(rng):
    X, y = rng.normal(size=(3, 2)), np.arange(3)
    T = TrainingSet(X, y)
    assert T == TrainingSet(X.copy(), y.copy())
    for other in (TrainingSet(X + 1, y), TrainingSet(X, y + 1), TrainingSet(X, y, ("a", "b")), "X"):
        assert T != other


@pytest.mark.claims("datasets-02")
@pytest.mark.parametrize("codes", [(-1, 1), (0, 1), (1, 0), (5, 2)])
@pytest.mark.parametrize("labels", [["spam", "ham", "ham"], [7, 3, 7], [True, False, True]])
def test_labels_to_codes_to_labels_is_the_identity(labels, codes):
    coded, classes = encode_labels(labels, codes)
    assert set(coded.tolist()) == set(codes)
    assert classes[(coded == codes[1]).astype(int)].tolist() == labels


@pytest.mark.claims("datasets-02")
def test_signs_and_bits_are_the_two_codings_of_one_label():
    labels = ["spam", "ham", "spam", "spam"]
    bits, signs = encode_labels(labels, (0, 1))[0], encode_labels(labels)[0]
    assert bits.tolist() == [1, 0, 1, 1] and signs.tolist() == [1, -1, 1, 1]
    np.testing.assert_array_equal(to_signs(bits), signs)
    np.testing.assert_array_equal(to_bits(signs), bits)
    for kind in (np.uint8, bool, np.int8, float):
        np.testing.assert_array_equal(to_signs(bits.astype(kind)), signs)
    np.testing.assert_array_equal(to_bits(signs.astype(np.int8)), bits)
    for recode, labels, told in ((to_signs, signs, "0 or 1"), (to_bits, bits, "-1 or 1")):
        with pytest.raises(ValueError, match=f"the labels must be {told}; got"):
            recode(labels)  # they are what they are to become


@pytest.mark.claims("datasets-02")
def test_logistic_likelihood_is_the_same_in_both_codings(rng):
    X, w = rng.normal(size=(50, 3)), rng.normal(size=3)
    y = rng.integers(2, size=50)
    h = 1 / (1 + np.exp(-X @ w))
    in_bits = h**y * (1 - h) ** (1 - y)
    in_signs = 1 / (1 + np.exp(-to_signs(y) * (X @ w)))
    np.testing.assert_allclose(in_signs, in_bits, rtol=1e-12)
    assert np.abs(1 / (1 + np.exp(-y * (X @ w))) - in_bits).max() > 0.01  # bits taken for signs


def test_codes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="there must be a code per class; got 2 for .*'c'"):
        encode_labels(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"the codes must differ; got \(1, 1\)"):
        encode_labels(["a", "b"], (1, 1))


# --- Real sets -------------------------------------------------------------------------

SMALL = {  # n, d, samples of each class in the order of class_names
    "iris": (load_iris, 150, 4, [50, 50, 50]),
    "wine": (load_wine, 178, 13, [59, 71, 48]),
    "breast_cancer": (load_breast_cancer, 569, 30, [357, 212]),
    "digits": (load_digits, 1797, 64, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
}


def header(name):
    """The lines "# Key: value" that open a file of the package, and the number of its rows."""
    text = files("mlnotes").joinpath(f"data/{name}.csv").read_text("utf-8")
    head = [line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("#")]
    return dict(head), len(text.splitlines()) - len(head)


@pytest.mark.claims("datasets-03")
@pytest.mark.parametrize("name", SMALL)
def test_real_sets_have_the_published_sizes_and_name_their_source(name):
    load, n, d, counts = SMALL[name]
    T, (head, rows) = load(), header(name)
    assert T.X.shape == (n, d) and len(T.feature_names) == d and rows == n
    assert np.unique(T.y, return_counts=True)[1].tolist() == counts
    assert len(T.class_names) == len(counts)
    assert head["Counts"] == ", ".join(map(str, counts)) and head["Samples"] == str(n)
    assert "19" in head["Source"] and "CC BY 4.0" in head["Licence"]
    assert head["Title"] in T.source and head["Licence"] in T.source


@pytest.mark.claims("datasets-03")
def test_iris_has_the_class_means_that_fisher_printed():
    T = load_iris()
    means = [T.X[T.y == name].mean(axis=0) for name in ("setosa", "versicolor", "virginica")]
    fisher = [
        [5.006, 3.428, 1.462, 0.246],
        [5.936, 2.770, 4.260, 1.326],
        [6.588, 2.974, 5.552, 2.026],
    ]
    np.testing.assert_allclose(means, fisher, atol=1e-9)
    assert T.class_names == tuple(np.unique(T.y))


def test_iris_is_fishers_where_the_uci_copy_is_wrong():
    X = load_iris().X
    assert X[34].tolist() == [4.9, 3.1, 1.5, 0.2]  # UCI: 4.9, 3.1, 1.5, 0.1
    assert X[37].tolist() == [4.9, 3.6, 1.4, 0.1]  # UCI: 4.9, 3.1, 1.5, 0.1


def test_wine_and_cancer_have_the_published_extremes_means_and_deviations():
    X = load_wine().X
    published = {0: (11.0, 14.8, 13.0, 0.8), 4: (70, 162, 99.7, 14.3), 12: (278, 1680, 747, 315)}
    for j, expected in published.items():
        column = X[:, j]
        got = column.min(), column.max(), column.mean(), column.std(ddof=1)
        np.testing.assert_allclose(got, expected, atol=0.5 if j == 12 else 0.051)
    T = load_breast_cancer()
    column = dict(zip(T.feature_names, T.X.T, strict=True))
    for name, low, high in (
        ("mean radius", 6.981, 28.11),
        ("mean area", 143.5, 2501),
        ("area error", 6.802, 542.2),
        ("worst area", 185.2, 4254),
    ):
        assert (column[name].min(), column[name].max()) == (low, high)
    assert T.class_names == ("benign", "malignant")
    malignant = T.y == "malignant"
    assert column["mean radius"][malignant].min() > 10 > column["mean radius"][~malignant].min()


@pytest.mark.claims("datasets-01")
def test_a_loaded_set_belongs_to_the_caller_and_the_next_one_is_unchanged():
    first = load_iris()
    first.X[:] = 0
    assert load_iris() == load_iris() != first


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder with copies of the data files of the package, in its place."""
    for name in datasets.SHIPPED_FILES:
        shutil.copy(str(datasets.DATA.joinpath(name)), tmp_path)
    monkeypatch.setattr(datasets, "DATA", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", SMALL)
def test_a_damaged_file_of_the_package_is_named(shipped, rng, name):
    path, load = shipped / f"{name}.csv", SMALL[name][0]
    whole = path.read_bytes()
    place = rng.integers(len(whole))
    for damaged in (
        whole.replace(b"1", b"7", 1),
        whole.replace(b"\n", b"\n\xff", 1),
        whole + b"word",
        whole[: len(whole) // 2],
        b"",
        whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :],
    ):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=re.escape(f"{path}: damaged: its SHA-256 must be ")):
            load()
    path.unlink()
    with pytest.raises(FileNotFoundError, match=re.escape(f"{path}: missing")):
        load()


def test_files_of_the_package_may_have_the_line_ends_of_windows(shipped):
    expected = load_iris()
    path = shipped / "iris.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_iris() == expected


def test_damaged_checksums_of_the_faces_are_named(shipped):
    path = shipped / "orl_checksums.csv"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=re.escape(f"{path}: damaged")):
        datasets._face_checksums()


def test_every_data_file_of_the_package_has_a_checksum():
    there = {path.name for path in datasets.DATA.iterdir()} - {"claims.csv"}
    assert there == set(datasets.SHIPPED_FILES)


def test_digits_look_like_digits():
    T = load_digits()
    assert set(np.unique(T.X)) == set(range(17))
    zero, one = (T.images[T.y == k].mean(axis=0) for k in (0, 1))
    assert zero[3:5, 3:5].max() < 4 < 10 < one[3:5, 3:5].min()  # the hole of the 0, the 1's stem
    np.testing.assert_array_equal(T.images[7].ravel(), T.X[7])


@pytest.mark.claims("datasets-04")
def test_the_notes_use_four_sets_and_announce_three():
    printed = {"iris", "breast_cancer", "mnist"}
    assert set(REAL_SETS) != printed
    assert set(REAL_SETS) == printed | {"wine"}
    T = REAL_SETS["wine"]()
    assert T.X.shape == (178, 13)
    assert np.unique(T.y, return_counts=True)[1].tolist() == [59, 71, 48]


@pytest.mark.claims("datasets-03", "datasets-04")
@pytest.mark.parametrize("name", REAL_SETS)
def test_every_set_that_the_notes_name_loads_and_names_its_source(name):
    loaded = REAL_SETS[name]()
    T = loaded.train if name == "mnist" else loaded
    assert isinstance(T, TrainingSet) and len(T) > 100 and T.source in repr(T)
    assert ("stand-in" in repr(T)) == (name == "mnist")


# --- MNIST -----------------------------------------------------------------------------

TRAIN, TRAIN_LABELS, TEST, TEST_LABELS = datasets.MNIST_FILES


def idx(values):
    """The bytes of an IDX file."""
    dimensions = b"".join(int(n).to_bytes(4, "big") for n in values.shape)
    return bytes([0, 0, 8, values.ndim]) + dimensions + values.astype(np.uint8).tobytes()


def zipped(data):
    return gzip.compress(data, mtime=0)


@pytest.fixture
def mnist(tmp_path, monkeypatch, rng):
    """A folder with a small MNIST, 6 and 3 images, that is taken for the original."""
    expected = {}
    for name in datasets.MNIST_FILES:
        n = 6 if "train" in name else 3
        shape = (n, 28, 28) if "images" in name else (n,)
        values = rng.integers(256 if "images" in name else 10, size=shape)
        (tmp_path / name).write_bytes(raw := zipped(idx(values)))
        expected[name] = shape, sha256(raw).hexdigest()
    monkeypatch.setattr(datasets, "MNIST_FILES", expected)
    return tmp_path


def contents(path):
    """The numbers of an IDX file, read with another cursor than `read_idx`."""
    with gzip.open(path) as stream:
        dimensions = stream.read(4)[3]
        shape = [int(stream.read(4).hex(), 16) for _ in range(dimensions)]
        return np.array(list(stream.read())).reshape(shape)


@pytest.mark.claims("datasets-03")
def test_mnist_is_the_pixels_and_labels_of_its_four_files(mnist):
    train, test = load_mnist(mnist)
    for T, images, labels in ((train, TRAIN, TRAIN_LABELS), (test, TEST, TEST_LABELS)):
        np.testing.assert_array_equal(T.images * 255, contents(mnist / images))
        np.testing.assert_array_equal(T.y, contents(mnist / labels))
        assert T.X.shape[1] == 28 * 28 == len(T.feature_names) and "stand-in" not in repr(T)
    np.testing.assert_array_equal(load_mnist(mnist, n=2).train.X, train.X[:2])
    assert train == load_mnist(str(mnist)).train


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_number_of_digits_must_be_a_positive_integer(n):
    with pytest.raises(ValueError, match=f"n must be an integer >= 1; got {n}"):
        load_mnist(n=n)


def damage(mnist, name, change):
    """Change the bytes of a file and return what `load_mnist` then says of it."""
    path = mnist / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError) as told:
        load_mnist(mnist)
    message = str(told.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def inside(change):
    """The change made to what is in a .gz file."""
    return lambda raw: zipped(change(gzip.decompress(raw)))


DAMAGES = {
    "cut short": (lambda raw: raw[:-20], "truncated: the gzip stream has no end"),
    "empty": (lambda raw: b"", "not a gzip file: it must start with 1f 8b; got an empty file"),
    "unzipped": (gzip.decompress, "not a gzip file: it must start with 1f 8b; got 00 00"),
    "a picture": (lambda raw: b"\x89PNG\r\n", "not a gzip file: .* got 89 50"),
    "a bit of the end flipped": (
        lambda raw: raw[:-6] + bytes([raw[-6] ^ 1]) + raw[-5:],
        "damaged: CRC check failed",
    ),
    "a bit of the start flipped": (
        lambda raw: raw[:4] + bytes([raw[4] ^ 1]) + raw[5:],
        "not MNIST's original: SHA-256 must be [0-9a-f]{64}; got [0-9a-f]{64}$",
    ),
    "another magic number": (
        inside(lambda data: b"\x00\x00\x0d" + data[3:]),
        r"not an IDX file of bytes: .* 2049 \(labels\) or 2051 \(images\); got 33(29|31)$",
    ),
    "nothing zipped": (inside(lambda data: b""), "not an IDX file of bytes: .* got 0$"),
    "no dimensions": (inside(lambda data: data[:4]), "truncated: .* got 0$"),
    "numbers missing": (inside(lambda data: data[:-1]), r"truncated: its header promises 6.* got"),
    "numbers left over": (inside(lambda data: data + b"\x00"), "too long: its header promises 6"),
    "one sample less": (
        inside(lambda data: data[:7] + b"\x05" + data[8 : len(data) - (len(data) - 8) // 6]),
        "must hold 6 .*; got 5 ",
    ),
    "one number another": (
        inside(lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        "not MNIST's original: SHA-256 must be",
    ),
}


@pytest.mark.parametrize("change, told", DAMAGES.values(), ids=DAMAGES)
def test_damaged_labels_of_mnist_are_refused(mnist, change, told):
    message = damage(mnist, TRAIN_LABELS, change)
    assert re.match(told, message), message


@pytest.mark.parametrize("kind", set(DAMAGES) - {"one sample less"})
def test_damaged_images_of_mnist_are_refused(mnist, kind):
    change, told = DAMAGES[kind]
    message = damage(mnist, TRAIN, change)
    assert re.match(told, message), message


@pytest.mark.parametrize("other", [TRAIN_LABELS, TEST, TEST_LABELS])
def test_a_renamed_file_is_refused_with_its_own_name(mnist, other):
    message = damage(mnist, TRAIN, lambda raw: (mnist / other).read_bytes())
    assert message == f"renamed: it is MNIST's {other}"


def test_other_labels_in_the_place_of_the_images_are_refused(mnist):
    labels = zipped(idx(np.zeros(6)))
    assert damage(mnist, TRAIN, lambda raw: labels) == (
        "must hold 6 images of 28 x 28 pixels; got 6 labels"
    )


def test_fewer_images_than_labels_are_refused(mnist):
    labels = zipped(idx(np.zeros(5)))
    assert damage(mnist, TRAIN_LABELS, lambda raw: labels) == "must hold 6 labels; got 5 labels"


def test_images_of_another_size_are_refused(mnist):
    images = zipped(idx(np.zeros((6, 14, 28))))
    assert damage(mnist, TRAIN, lambda raw: images) == (
        "must hold 6 images of 28 x 28 pixels; got 6 images of 14 x 28 pixels"
    )


@pytest.mark.parametrize("name", [TRAIN, TRAIN_LABELS, TEST, TEST_LABELS])
def test_the_message_for_a_missing_file_lists_the_folder(mnist, name):
    (mnist / name).rename(mnist / name.removesuffix(".gz"))
    with pytest.raises(FileNotFoundError) as told:
        load_mnist(mnist)
    assert str(told.value).startswith(f"{mnist / name}: missing: the folder holds ")
    assert name.removesuffix(".gz") in str(told.value).partition("holds")[2]


def test_the_message_for_a_missing_an_empty_and_a_full_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing: there is no folder .*nowhere"):
        load_mnist(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="missing: the folder holds nothing"):
        load_mnist(tmp_path)
    for k in range(12):
        (tmp_path / f"file{k:02}").touch()
    with pytest.raises(FileNotFoundError, match=r"file00, .*, file08, \.\.\.$"):
        load_mnist(tmp_path)


def test_any_flipped_bit_of_a_file_is_found(mnist, rng):
    path = mnist / TEST_LABELS
    raw = path.read_bytes()
    for bit in range(8 * len(raw)):
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=TEST_LABELS):
            datasets._mnist_file(mnist, TEST_LABELS)


def test_idx_arrays_of_any_dimensions_come_back(tmp_path, rng):
    for shape in ((5,), (0,), (3, 4), (2, 3, 4), (300, 1, 2)):
        values = rng.integers(256, size=shape)
        (tmp_path / "a.gz").write_bytes(zipped(idx(values)))
        np.testing.assert_array_equal(read_idx(tmp_path / "a.gz"), values)
    for none_or_many in (np.array(7), np.ones((1, 1, 1, 1))):  # MNIST has none such
        (tmp_path / "a.gz").write_bytes(zipped(idx(none_or_many.astype(int))))
        magic = 2048 + none_or_many.ndim
        with pytest.raises(ValueError, match=f"not an IDX file of bytes: .*; got {magic}"):
            read_idx(tmp_path / "a.gz")


@pytest.mark.claims("datasets-03")
def test_the_stand_in_for_mnist_has_its_form_and_says_that_it_is_a_stand_in(mnist):
    ours, theirs = load_mnist(), load_mnist(mnist)
    for T, original in zip(ours, theirs, strict=True):
        assert "stand-in for MNIST" in T.source and "stand-in" in repr(T)
        assert T.image_shape == original.image_shape == (28, 28)
        assert T.feature_names == original.feature_names
        assert (T.X.dtype, T.y.dtype) == (original.X.dtype, original.y.dtype)
        assert T.X.min() == 0 and 0.9 < T.X.max() <= 1
        assert T.class_names == tuple("0123456789")
    assert len(ours.train) + len(ours.test) == 1797
    ink = np.array([T.images.sum(axis=(1, 2)) for T in (ours.train, ours.test)], dtype=object)
    small = load_digits().X.sum(axis=1) / 16
    np.testing.assert_allclose(np.concatenate(ink).astype(float), 2.5**2 * small, rtol=0.1)
    border = ours.train.images[:, [0, 1, -2, -1]]
    assert border.max() == 0  # 28 - 8 x 2.5 = 8 pixels are left, half of them interpolate


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
    """Two pictures of each of two subjects that are taken for the original 400."""
    images = rng.integers(256, size=(4, *datasets.FACE), dtype=np.uint8)
    known = {sha256(x.tobytes()).hexdigest()[:16]: i // 2 + 1 for i, x in enumerate(images)}
    monkeypatch.setattr(datasets, "SUBJECTS", 2)
    monkeypatch.setattr(datasets, "PICTURES", 2)
    monkeypatch.setattr(datasets, "_face_checksums", lambda: known)
    return images


@pytest.fixture
def orl(tmp_path, pictures):
    """A folder with them as PGM files."""
    for i, image in enumerate(pictures):
        path = tmp_path / f"s{i // 2 + 1}" / f"{i % 2 + 1}.pgm"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pgm(image))
    return tmp_path


def test_faces_are_the_pixels_of_their_files(orl, pictures):
    T = load_orl_faces(orl)
    np.testing.assert_array_equal(T.images * 255, pictures)
    np.testing.assert_array_equal(T.y, [1, 1, 2, 2])
    assert T.X.shape == (4, 112 * 92) and T.image_shape == (112, 92)


def test_faces_are_the_same_from_an_npz_file_in_any_order_of_subjects(tmp_path, orl, pictures):
    folder = tmp_path / "npz"
    folder.mkdir()
    for save in (np.savez, np.savez_compressed):
        save(folder / "orl.npz", images=pictures[[2, 0, 3, 1]], subject=np.array([2, 1, 2, 1]))
        assert load_orl_faces(folder) == load_orl_faces(orl)


FACES = {
    "cut short": (
        lambda raw: raw[:-1],
        "truncated: its header promises 92 x 112 pixels; got 10303",
    ),
    "too long": (lambda raw: raw + b"\x00", "too long: its header promises .* got 10305"),
    "empty": (lambda raw: b"", "not a binary PGM file: it must start with P5, .*; got b''"),
    "a picture of another kind": (lambda raw: b"\x89PNG\r\n", "not a binary PGM file: .*PN?"),
    "written as text": (lambda raw: raw.replace(b"P5", b"P2"), "not a binary PGM file: .*b'P2"),
    "a width of 4,301 digits": (
        lambda raw: raw.replace(b"92 112", b"9" * 4301 + b" 112"),
        "not a binary PGM file: .* of at most nine digits",
    ),
    "no header": (lambda raw: b"P5\n92 112\n", "not a binary PGM file"),
    "two bytes per pixel": (
        lambda raw: raw.replace(b"\n255\n", b"\n65535\n") + raw[-10304:],
        "must have one byte per pixel; got levels up to 65535",
    ),
    "a level too many": (
        lambda raw: raw.replace(b"\n255\n", b"\n256\n"),
        "must have one byte per pixel; got levels up to 256",
    ),
    "lying on its side": (
        lambda raw: raw.replace(b"92 112", b"112 92"),
        "must be 112 x 92 pixels; got 92 x 112",
    ),
    "one pixel another": (
        lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]),
        "damaged: its pixels are not those of any of the 400 originals",
    ),
}


@pytest.mark.parametrize("change, told", FACES.values(), ids=FACES)
def test_a_damaged_face_is_refused(orl, change, told):
    path = orl / "s2" / "1.pgm"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=told) as error:
        load_orl_faces(orl)
    assert str(error.value).startswith(f"{path}: ")


def test_a_renamed_face_is_refused(orl):
    raw = [(orl / f"s{s}" / f"{p}.pgm").read_bytes() for s, p in ((1, 2), (2, 1))]
    (orl / "s1" / "2.pgm").write_bytes(raw[1])
    with pytest.raises(ValueError, match=r"s1.2\.pgm: renamed: it shows subject 2, not 1"):
        load_orl_faces(orl)
    (orl / "s1" / "2.pgm").write_bytes((orl / "s1" / "1.pgm").read_bytes())
    with pytest.raises(ValueError, match=r"s1.2\.pgm: the same picture as .*s1.1\.pgm"):
        load_orl_faces(orl)


def test_missing_faces_are_named(orl, tmp_path):
    (orl / "s2" / "1.pgm").rename(orl / "s2" / "1.PGM.txt")
    with pytest.raises(FileNotFoundError, match=r"1\.pgm: missing: .* holds 1\.PGM\.txt, 2\.pgm"):
        load_orl_faces(orl)
    with pytest.raises(FileNotFoundError, match=r"orl\.npz: missing: there is no folder"):
        load_orl_faces(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"orl\.npz: missing: the folder holds"):
        load_orl_faces(orl / "s1")


def test_pgm_headers_may_hold_comments_and_any_white_space(tmp_path):
    path = tmp_path / "a.pgm"
    for head in (b"P5\n2 1\n255\n", b"P5 # made\n# by hand\n2\t1 #9 9\n 255 ", b"P5\r\n2\n1\n9\r"):
        path.write_bytes(head + b"\n#")  # pixels that look like white space and a comment
        assert read_pgm(path).tolist() == [[10, 35]]


NPZ = {
    "cut short": (lambda raw: raw[:-30], "damaged or truncated: File is not a zip file"),
    "empty": (lambda raw: b"", "not an .npz file: it must start with PK; got an empty file"),
    "a picture": (lambda raw: b"P5\n1 1\n", "not an .npz file: .* got 50 35"),
    "one pixel another": (
        lambda raw: raw[:5000] + bytes([raw[5000] ^ 1]) + raw[5001:],
        r"damaged or truncated: images\.npy does not match its checksum",
    ),
}


@pytest.mark.parametrize("change, told", NPZ.values(), ids=NPZ)
def test_a_damaged_npz_file_is_refused(tmp_path, pictures, change, told):
    path = tmp_path / "orl.npz"
    np.savez(path, images=pictures, subject=np.array([1, 1, 2, 2]))
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=told) as error:
        load_orl_faces(tmp_path)
    assert str(error.value).startswith(f"{path}: ")


def test_an_npz_file_of_other_arrays_is_refused(tmp_path, pictures):
    subject = np.array([1, 1, 2, 2])
    two_of_one = pictures[[0, 1, 2, 2]]
    for held, told in (
        ({"X": pictures}, "must hold the arrays images and subject"),
        ({"images": pictures, "subject": subject.astype(object)}, "must hold the arrays images"),
        ({"images": pictures[:3], "subject": subject}, "must be 4 x 112 x 92 of uint8; got 3 x"),
        ({"images": pictures / 255, "subject": subject}, "of uint8; got .* of float64"),
        ({"images": pictures, "subject": subject - 1}, r"subject must be 1, \.\.\., 2, 2 times"),
        ({"images": pictures, "subject": subject[:3]}, "2 times each; got 3 numbers, 2 of them"),
        ({"images": pictures[::-1], "subject": subject}, r"\(picture 0\): renamed: .* subject 2"),
        ({"images": pictures ^ 1, "subject": subject}, r"\(picture 0\): damaged: its pixels"),
        ({"images": two_of_one, "subject": subject}, r"\(picture 3\): the same picture as .* 2\)"),
    ):
        np.savez(tmp_path / "orl.npz", **held)
        with pytest.raises(ValueError, match=told):
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


@needs_data
def test_the_real_faces_load_from_pgm_files_too(tmp_path):
    T = load_orl_faces(DATA)
    for i, image in enumerate(T.images):
        folder = tmp_path / f"s{T.y[i]}"
        folder.mkdir(exist_ok=True)
        (folder / f"{i % 10 + 1}.pgm").write_bytes(pgm(np.round(255 * image).astype(np.uint8)))
    assert load_orl_faces(tmp_path) == T


# --- Printed examples ------------------------------------------------------------------


@pytest.mark.claims("datasets-05")
def test_joint_table_is_the_printed_one_and_its_margins_are_exact():
    P, F = joint_table(), Fraction
    printed = [
        [F(1, 8), F(1, 16), F(1, 32), F(1, 32)],
        [F(1, 16), F(1, 8), F(1, 32), F(1, 32)],
        [F(1, 16)] * 4,
        [F(1, 4), 0, 0, 0],
    ]
    assert P.tolist() == printed and P.sum() == 1
    assert all(isinstance(p, Fraction) for p in P.flat)
    assert P.sum(axis=0).tolist() == [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]
    assert P.sum(axis=1).tolist() == [F(1, 4)] * 4
    assert (P[1] / P[1].sum()).tolist() == [F(1, 4), F(1, 2), F(1, 8), F(1, 8)]  # footnote 5


@pytest.mark.claims("datasets-05")
def test_five_events_give_the_two_numbers_of_the_figure_only_as_pairs_y_x():
    def numbers(events, x):
        here = [y for z, y in events if z == x]
        nearest = sorted(events, key=lambda event: abs(event[0] - x))[:3]
        return Fraction(sum(here), len(here)), Fraction(sum(y for _, y in nearest), 3)

    T = five_events()
    events = [(x, y) for (x,), y in T]
    assert all(isinstance(number, Fraction) for event in events for number in event)
    assert numbers(events, 4) == (5, Fraction(10, 3))
    printed = [(1, 1), (2, 5), (3, 3), (4, 1), (5, 4)]
    assert sorted((y, x) for x, y in events) == printed
    assert numbers(printed, 4) == (1, Fraction(8, 3))


# --- Linear models ---------------------------------------------------------------------


@pytest.mark.claims("datasets-06")
def test_linear_targets_are_the_truth_plus_noise_of_the_given_variance(rng):
    n, sigma, asked = 40_000, 0.7, np.array([2.0, -1.0, 0.5])
    T = make_linear(n, asked, 3.0, sigma=sigma, rng=rng)
    w, b, noise = T.truth
    np.testing.assert_array_equal(w, asked)
    np.testing.assert_array_equal(T.X @ w + b + noise, T.y)
    assert b == 3.0 and abs(noise.mean()) <= 4 * sigma / np.sqrt(n)
    assert abs(noise.var() - sigma**2) <= 4 * sigma**2 * np.sqrt(2 / n)
    assert abs(T.X.mean()) <= 4 / np.sqrt(3 * n)
    assert (np.abs(np.corrcoef(T.X.T, noise)[-1, :-1]) <= 4 / np.sqrt(n)).all()


@pytest.mark.claims("datasets-06")
def test_a_curve_is_its_function_plus_noise_on_the_given_interval(rng):
    T = make_curve(20_000, np.square, low=-2.0, high=3.0, sigma=0.5, rng=rng)
    x = T.X[:, 0]
    np.testing.assert_array_equal(T.truth.f(x) + T.truth.noise, T.y)
    assert (np.diff(x) >= 0).all() and -2 <= x[0] < -1.99 and 2.99 < x[-1] <= 3
    assert abs(T.truth.noise.std() - 0.5) <= 4 * 0.5 / np.sqrt(2 * 20_000)
    x = make_curve(1000, np.square, rng=rng).X
    assert 0 <= x.min() < 0.02 < 0.98 < x.max() <= 1


@pytest.mark.claims("datasets-06")
def test_patients_are_in_range_and_die_as_often_as_their_risk_says(rng):
    n = 20_000
    T = make_patients(n, rng=rng)
    age, gender, cholesterol = T.X.T
    assert 20 <= age.min() < 21 < 89 < age.max() <= 90
    assert set(gender) == {0, 1} and within_standard_errors(gender.mean(), 0.5, n)
    assert cholesterol.min() > 0 and abs(np.median(cholesterol) - 200) < 2
    assert abs(np.log(cholesterol).std() - 0.2) <= 4 * 0.2 / np.sqrt(2 * n)
    w, b, p = T.truth
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-(T.X @ w + b))), rtol=1e-12)
    died = T.y == 1
    assert abs(died.mean() - p.mean()) <= 4 * np.sqrt(np.sum(p * (1 - p))) / n
    old = age > 70
    assert abs(died[old].mean() - p[old].mean()) <= 4 * np.sqrt(np.sum((p * (1 - p))[old])) / (
        old.sum()
    )
    assert died[old].mean() > 2 * died[age < 40].mean()
    assert died[gender == 0].mean() > died[gender == 1].mean()  # w_2 < 0
    sure = make_patients(9, w=(0.0, 0.0, 0.0), b=-1000.0, rng=rng)
    assert (sure.truth.p == 0).all() and (sure.y == -1).all()


# --- Learning theory -------------------------------------------------------------------


@pytest.mark.claims("datasets-07")
@pytest.mark.parametrize("n, d, gap", [(50, 2, 0.5), (7, 1, 0.0), (30, 6, 2.0), (5, 40, 1e-3)])
def test_hidden_hyperplane_separates_with_the_gap(rng, n, d, gap):
    for _ in range(20):
        T = make_separable(n, d, gap=gap, rng=rng)
        w, b, kept = T.truth
        margins = T.y * (T.X @ w + b)
        assert kept == gap and (margins >= gap).all() and margins.min() > 0
        assert np.linalg.norm(w) == pytest.approx(1, rel=1e-12)
        assert abs(np.sum(T.y)) == n % 2 and T.X.shape == (n, d)
    assert margins.min() < gap + 1  # and not by much more


@pytest.mark.parametrize("gap", [-1.0, np.nan, np.inf])
def test_a_negative_gap_is_refused(rng, gap):
    with pytest.raises(ValueError, match=f"gap must be a number >= 0 and < inf; got {gap}"):
        make_separable(10, gap=gap, rng=rng)


@pytest.mark.claims("datasets-07")
def test_the_classes_of_a_separable_set_are_shuffled(rng):
    T = make_separable(400, rng=rng)
    runs = 1 + np.sum(T.y[1:] != T.y[:-1])
    assert abs(runs - 201) <= 4 * 10  # runs of 200 and 200: mean 201, deviation 9.99


@pytest.mark.claims("datasets-07")
def test_every_classifier_errs_on_half_of_independent_labels(rng):
    n = 10_000
    T = make_independent_labels(n, 3, rng=rng)
    assert set(T.y) == {-1, 1} and T.truth.p.shape == (n,)
    w, center = rng.normal(size=3), rng.normal(size=3)
    for classifier in (
        lambda X: np.where(X @ w > 0, 1, -1),
        lambda X: np.where(np.linalg.norm(X - center, axis=1) < 1, 1, -1),
        lambda X: np.where(np.sin(50 * X[:, 0]) > 0, 1, -1),
        lambda X: np.ones(len(X), dtype=int),
    ):
        says = classifier(T.X)
        assert np.mean(np.where(says == 1, 1 - T.truth.p, T.truth.p)) == 0.5  # expected, exactly
        assert within_standard_errors(np.mean(says != T.y), 0.5, n)
    knows = make_separable(n, 3, gap=0.0, rng=rng)
    assert not within_standard_errors(np.mean(np.sign(knows.X[:, 0]) != knows.y), 0.5, n)


# --- Groups and shapes -----------------------------------------------------------------


def surrounds_origin(X):
    """Whether the convex hull holds the origin: no half plane is free of directions."""
    angles = np.sort(np.arctan2(X[:, 1], X[:, 0]))
    return bool(np.max(np.diff(angles, append=angles[0] + 2 * np.pi)) < np.pi)


def hulls_share_the_origin(T):
    return all(surrounds_origin(T.X[T.y == label]) for label in np.unique(T.y))


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


def test_what_is_left_over_goes_to_the_first_groups(rng):
    T = make_rings(5, radii=(1.0, 2.0, 3.0), rng=rng)
    np.testing.assert_array_equal(np.bincount(T.y), [2, 2, 1])


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
    T = make_rings(301, radii=(1.0, 2.0, 2.5), noise=0.2, rng=rng)
    r = np.linalg.norm(T.X, axis=1)
    bands = [(r[T.y == k].min(), r[T.y == k].max()) for k in range(3)]
    for (low, high), radius in zip(bands, (1.0, 2.0, 2.5), strict=True):
        assert radius - 0.2 <= low < radius - 0.15 and radius + 0.15 < high <= radius + 0.2
    assert all(inner[1] < outer[0] for inner, outer in pairwise(bands))
    z = T.X[:, 0] ** 2 + T.X[:, 1] ** 2
    np.testing.assert_array_equal(np.searchsorted([1.5**2, 2.25**2], z), T.y)
    assert np.bincount(T.y).tolist() == [101, 100, 100]
    wide = make_rings(301, noise=0.9, rng=rng)
    radii = np.linalg.norm(wide.X, axis=1)
    assert radii[wide.y == -1].max() > radii[wide.y == 1].min()  # then they do


def test_moons_are_half_circles_that_interlock(rng):
    T = make_moons(500, noise=0.0, rng=rng)
    upper, lower = T.X[T.y == -1], T.X[T.y == 1]
    assert set(T.y) == {-1, 1}
    np.testing.assert_allclose(np.linalg.norm(upper, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(lower - [1, 0.5], axis=1), 1, rtol=1e-12)
    assert upper[:, 1].min() >= 0 and lower[:, 1].max() <= 0.5 and len(upper) == len(lower)
    inner = lower[:, 0].min(), upper[:, 0].max()
    assert inner[0] < 0.05 < 0.95 < inner[1]  # the end of each is inside the other
    noise = make_moons(500, noise=0.3, rng=np.random.default_rng(0)).X - (
        make_moons(500, noise=0.0, rng=np.random.default_rng(0)).X
    )
    assert abs(noise.std() - 0.3) <= 4 * 0.3 / np.sqrt(2 * 1000)
    assert abs(noise.mean()) <= 4 * 0.3 / np.sqrt(1000)


@pytest.mark.parametrize("shared", [False, True])
def test_blobs_have_their_sizes_centers_and_covariances(rng, shared):
    Sigma = np.array([[4.0, 1.5], [1.5, 1.0]])
    covariances = Sigma if shared else np.array([Sigma, np.eye(2), [[1.0, -0.9], [-0.9, 1.0]]])
    sizes, centers = [20_000, 0, 10_000], np.array([[1.0, 2.0], [0.0, 0.0], [-5.0, 3.0]])
    T = make_blobs(sizes, centers, covariances, rng=rng)
    assert np.bincount(T.y, minlength=3).tolist() == sizes and (np.diff(T.y) >= 0).all()
    np.testing.assert_allclose(T.truth.weights, [2 / 3, 0, 1 / 3])
    for k in (0, 2):
        S, X = T.truth.covariances[k], T.X[T.y == k]
        np.testing.assert_array_equal(S, Sigma if shared else covariances[k])
        spread = np.sqrt(np.outer(np.diag(S), np.diag(S)) + S**2)  # of products of two entries
        assert (np.abs(X.mean(axis=0) - centers[k]) <= 4 * np.sqrt(np.diag(S) / sizes[k])).all()
        assert (np.abs(np.cov(X.T) - S) <= 4 * spread / np.sqrt(sizes[k])).all()


def test_blobs_without_covariances_are_round(rng):
    T = make_blobs([30_000], [[5.0, 0.0, 0.0]], rng=rng)
    np.testing.assert_array_equal(T.truth.covariances, [np.eye(3)])
    np.testing.assert_allclose(np.cov(T.X.T), np.eye(3), atol=4 * np.sqrt(2 / 30_000))


@pytest.mark.parametrize(
    "covariances, told",
    [
        (2.0, r"of shape \(2, 2\) or \(3, 2, 2\); got \(\)"),
        ([1.0, 4.0], r"of shape \(2, 2\) or \(3, 2, 2\); got \(2,\)"),
        (np.ones((3, 1, 1)), r"of shape \(2, 2\) or \(3, 2, 2\); got \(3, 1, 1\)"),
        ([[1.0, 5.0], [0.0, 1.0]], "symmetric; got"),
    ],
)
def test_matrices_that_are_not_covariances_are_refused(rng, covariances, told):
    with pytest.raises(ValueError, match=f"covariances must be {told}"):
        make_blobs([1, 1, 1], np.zeros((3, 2)), covariances, rng=rng)
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
@pytest.mark.parametrize("angle", [0.0, 0.4, -2.0])
@pytest.mark.parametrize("zoom, shift", [(1.0, (0.0, 0.0)), (2.5, (3.3, -1.2)), (0.6, (-5.0, 2.0))])
def test_place_is_the_image_pulled_back_pixel_by_pixel(rng, angle, zoom, shift):
    image = rng.uniform(size=(5, 7))
    how = {"shape": (16, 13), "zoom": zoom, "angle": angle, "shift": shift}
    np.testing.assert_allclose(place(image, **how), placed_by_hand(image, **how), atol=1e-12)
    assert place(image, **how).max() > 0.1


def test_place_turns_and_shifts_exactly_where_pixels_fall_on_pixels(rng):
    image = rng.uniform(size=(4, 6))
    np.testing.assert_array_equal(place(image, shape=(4, 6)), image)
    np.testing.assert_allclose(place(image, shape=(6, 4), angle=np.pi / 2), np.rot90(image))
    moved = place(image, shape=(4, 6), shift=(2.0, 1.0))
    np.testing.assert_array_equal(moved[1:, 2:], image[:-1, :-2])
    assert not moved[0].any() and not moved[:, :2].any()
    assert not place(image, shape=(4, 6), shift=(0.0, 50.0)).any()
    several = rng.uniform(size=(2, 3, 4, 6))
    stacked = place(several, shape=(9, 9), zoom=1.3, angle=0.2)
    assert stacked.shape == (2, 3, 9, 9)
    one = place(several[1, 2], shape=(9, 9), zoom=1.3, angle=0.2)
    np.testing.assert_array_equal(stacked[1, 2], one)


def test_a_zoom_or_a_shift_that_is_not_finite_is_refused():
    for how, told in (
        ({"zoom": 0}, "zoom must be a number > 0 and < inf; got 0"),
        ({"zoom": np.nan}, "zoom must be a number > 0 and < inf; got nan"),
        ({"angle": np.nan}, "angle must be a number < inf; got nan"),
        ({"shift": (0.0, np.inf)}, "shift must be a number < inf; got inf"),
        ({"shift": (-np.inf, 0.0)}, "shift must be a number < inf; got -inf"),
    ):
        with pytest.raises(ValueError, match=told):
            place(np.ones((2, 2)), shape=(3, 3), **how)


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
