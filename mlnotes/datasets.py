"""Data sets: the real ones that the notes name, the examples that they print, and generators.

Every data set is a `TrainingSet`. The real sets are small text files of the package, or larger
files in a folder of yours; their bytes are checked. A generated set, from a function whose name
begins with make, also holds its truth: what it was generated from and you did not give.

Contents
    The training set     TrainingSet, encode_labels, to_signs, to_bits
    Real sets            load_iris, load_wine, load_breast_cancer, load_digits
    From a folder        load_mnist, TrainTest, load_orl_faces
    Printed examples     joint_table, five_events
    Linear models        make_linear, make_curve, make_patients, Risk
    Learning theory      make_separable, Hyperplane, make_independent_labels
    Groups and shapes    make_blobs, Blobs, make_moons, make_rings, make_annulus,
                         make_quadrants, make_three_modes
    Stories              make_emails, Words, make_fish
    Images               place, make_shifted_digits, Placements, make_faces, Faces

Symbols
    X       (n, d)    samples x, one per row; an image is a row of pixels
    y       (n,)      labels, or targets
    K       int       number of classes or groups; the labels are -1 and +1 for two classes and
                      0, ..., K - 1 for more, except where the notes have names for them
    w, b              weights (d,) and offset of f(x) = w^T x + b
    sigma   float     standard deviation of the noise
    rng     Generator source of the random numbers; the same seed gives the same set

Notes: REP "Overview", "Variable Types and Terminology"; IRHD 1.1, 1.2, 2.2, 3.1, 6; MLN "Bootstrap
Methods"; ISML "Hard cases", "Feature Extraction". REP writes x^(i) for our x_i; i is an index.
"""

import gzip
import io
import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import check_number

SIGNS = ("-1", "+1")  # names of the classes -1 and +1
DATA = files("mlnotes").joinpath("data")
SHIPPED_FILES = {  # SHA-256 of the files in DATA
    "iris.csv": "65b2317ca39acff31fda80c7d65816b35e88cdee2df0c6c65e42268ebf18a845",
    "wine.csv": "bd1c8151118f031c855f30fcc4fa72713a6fbf78309c57c9a3a4df57e44371c6",
    "breast_cancer.csv": "54534b2e62979e12d28ba7dfe8f5191f0407963e018417fff1e55315aac49782",
    "digits.csv": "1c90f102d02402dfe8723f5d0d9268ed18bbc238794d43407ea63745f99cd422",
    "orl_checksums.csv": "528964610ee2c31c86a03886aabc5589c9cecb3bd7585dbbcb72f69b4f0ed787",
}


# --- The training set ------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class TrainingSet:
    """The samples x_i with their outputs y_i: T = {(x_i, y_i), i = 1, ..., n}.

    ``len(T)`` is n, ``T[i]`` is (x_i, y_i), and ``X, y = T[:]`` takes the set apart.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    feature_names : tuple of d str; x_1, ..., x_d if not given
    class_names : tuple of K str, in the order of ``np.unique(y)``; empty for regression
    truth : what a generated set was made from; None for a real one
    image_shape : height and width of the images; empty if the samples are not images
    source : str; where the set comes from

    >>> T = TrainingSet(np.array([[5.0, 7.0], [6.0, 8.0]]), np.array([-1, 1]))
    >>> len(T), T[1], T.feature_names
    (2, (array([6., 8.]), np.int64(1)), ('x_1', 'x_2'))
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple = ()
    class_names: tuple = ()
    truth: Any = None
    image_shape: tuple = ()
    source: str = "generated"

    def __post_init__(self):
        if self.X.ndim != 2 or self.y.shape != self.X.shape[:1]:
            raise ValueError(
                f"X must have shape (n, d) and y (n,); got {self.X.shape} and {self.y.shape}"
            )
        d = self.X.shape[1]
        if not self.feature_names:
            names = tuple(f"x_{j}" for j in range(1, d + 1))
            object.__setattr__(self, "feature_names", names)
        if len(self.feature_names) != d:
            raise ValueError(f"there must be {d} feature_names; got {len(self.feature_names)}")
        if self.image_shape and prod(self.image_shape) != d:
            raise ValueError(f"image_shape must have {d} pixels; got {self.image_shape}")

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return self.X[i], self.y[i]

    def __repr__(self):
        n, d = self.X.shape
        return f"<TrainingSet of {n} samples, {d} features: {self.source}>"

    @property
    def images(self):
        """The samples as images (n, height, width)."""
        if not self.image_shape:
            raise ValueError("the samples are images only if image_shape is given; got none")
        return self.X.reshape(-1, *self.image_shape)


def encode_labels(y, codes=(-1, 1)):
    """Replace the classes of an output by numbers: class k, in sorted order, becomes codes[k].

    Returns: the numbers (n,), and the classes (K,).
    Raises: ValueError unless there are as many codes as classes.

    >>> encode_labels(["spam", "ham", "spam"])
    (array([ 1, -1,  1]), array(['ham', 'spam'], dtype='<U4'))
    """
    classes, k = np.unique(y, return_inverse=True)
    if len(classes) != len(codes):
        raise ValueError(f"there must be a code per class; got {len(codes)} for {classes}")
    return np.asarray(codes)[k], classes


def to_signs(y):
    """y' = 2 y - 1: labels 0 and 1 become -1 and +1. Others raise a ValueError.

    >>> to_signs(np.array([0, 1, 1]))
    array([-1,  1,  1])
    """
    return 2 * _signed(y, (0, 1)) - 1


def to_bits(y):
    """y = (y' + 1) / 2: labels -1 and +1 become 0 and 1. Others raise a ValueError.

    >>> to_bits(np.array([-1, 1, 1]))
    array([0, 1, 1])
    """
    return (_signed(y, (-1, 1)) + 1) // 2


def _signed(y, codes):
    """The labels, which must be among the codes; booleans and unsigned bytes become integers."""
    y = np.asarray(y)
    if not np.isin(y, codes).all():
        raise ValueError(f"the labels must be {codes[0]} or {codes[1]}; got {np.unique(y)}")
    return y.astype(int) if y.dtype.kind in "bu" else y


# --- Real sets -------------------------------------------------------------------------


def load_iris():
    """Fisher's irises: 150 flowers, 50 of each of three species, 4 lengths in cm.

    >>> load_iris()[0]
    (array([5.1, 3.5, 1.4, 0.2]), np.str_('setosa'))
    """
    return _load("iris", label=str)


def load_wine():
    """UCI Wine: 178 wines of three cultivars (labels 1, 2, 3), 13 chemical measurements.

    Errata: datasets-04 (REP announces three data sets, and uses these in a notebook, too).

    >>> load_wine().X.shape
    (178, 13)
    """
    return _load("wine", label=int)


def load_breast_cancer():
    """Wisconsin Breast Cancer (Diagnostic): 569 tumours, 30 features, benign or malignant.

    >>> load_breast_cancer().class_names
    ('benign', 'malignant')
    """
    return _load("breast_cancer", label=str)


def load_digits():
    """1797 handwritten digits of 8 x 8 pixels with grey levels 0, ..., 16.

    >>> load_digits().images.shape
    (1797, 8, 8)
    """
    return _load("digits", label=int, image_shape=(8, 8))


def _load(name, label, image_shape=()):
    """The set in data/<name>.csv: lines "# Key: value", then a row per sample, its class last."""
    lines = _shipped_lines(f"{name}.csv")
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    rows = np.array([line.split(",") for line in lines if not line.startswith("#")])
    return TrainingSet(
        rows[:, :-1].astype(float),
        rows[:, -1].astype(label),
        feature_names=tuple(head["Features"].split(", ")),
        class_names=tuple(head["Classes"].split(", ")),
        image_shape=image_shape,
        source=f"{head['Title']}; {head['Licence']}",
    )


def _shipped_lines(name):
    """The lines of a data file of the package, which must be as it was shipped."""
    path = DATA.joinpath(name)
    content = path.read_bytes().replace(b"\r\n", b"\n")  # git on Windows may write CR LF
    _check_original(path, content, SHIPPED_FILES[name])
    return content.decode("utf-8").splitlines()


def _check_original(path, content, original):
    """Raise a ValueError unless the SHA-256 of a file's content is that of the original."""
    digest = sha256(content).hexdigest()
    if digest != original:
        raise ValueError(
            f"{path}: damaged, or not the original: its SHA-256 must be {original}; got {digest}"
        )


# --- From a folder ---------------------------------------------------------------------


class TrainTest(NamedTuple):
    """A training set, and a test set that is not used for learning."""

    train: TrainingSet
    test: TrainingSet


MNIST_FILES = {  # SHA-256 of the gzipped files
    "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}


def load_mnist(folder, *, n=None):
    """MNIST: 60000 and 10000 digits of 28 x 28 = 784 pixels, grey levels scaled to [0, 1].

    `folder` holds the four original files. `n` keeps only the first n digits of each set: all take
    440 MB as floats. Returns: a `TrainTest`.

    Raises: FileNotFoundError or ValueError, naming the file and what is wrong with it.

    >>> load_mnist("nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    FileNotFoundError: ...train-images-idx3-ubyte.gz: missing: there is no folder nowhere
    """
    if n is not None:
        check_number("n", n, at_least=1, integer=True)
    parts = []
    for name, original in MNIST_FILES.items():
        path = Path(folder) / f"{name}.gz"
        content = _read(path)
        _check_original(path, content, original)
        parts.append(_idx(content)[:n])
    sets = zip(parts[::2], parts[1::2], strict=True)
    return TrainTest(*(_image_set(images / 255, y, "MNIST") for images, y in sets))


def _image_set(images, y, source):
    shape = images.shape[1:]
    return TrainingSet(
        images.reshape(len(images), -1),
        y.astype(int),
        feature_names=tuple(f"pixel_{r}_{c}" for r, c in np.ndindex(shape)),
        class_names=tuple(str(label) for label in np.unique(y)),
        image_shape=shape,
        source=source,
    )


def _idx(content):
    """The array of bytes in a gzipped IDX file, the format of MNIST.

    It holds 2048 + the number of dimensions and the sizes of the dimensions, each in four bytes,
    the most significant one first. Then come the entries, one byte each.
    """
    data = gzip.decompress(content)
    start = 4 + 4 * data[3]
    return np.frombuffer(data, np.uint8, offset=start).reshape(np.frombuffer(data[4:start], ">u4"))


def _read(path):
    """The bytes of a file; if it is missing, the message lists what the folder holds."""
    path = Path(path)
    if path.is_file():
        return path.read_bytes()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: missing: there is no folder {path.parent}")
    there = sorted(entry.name for entry in path.parent.iterdir())
    listed = ", ".join(there[:9] + ["..."] * (len(there) > 9)) or "nothing"
    raise FileNotFoundError(f"{path}: missing: the folder holds {listed}")


FACE = (112, 92)  # height and width of an ORL picture
SUBJECTS, PICTURES = 40, 10


def load_orl_faces(folder=None):
    """The ORL faces: ten pictures of each of 40 people (labels 1, ..., 40), 112 x 92 pixels.

    `folder` holds s1/1.pgm, ..., s40/10.pgm, or orl.npz with the same pictures, images
    (400, 112, 92) and subject (400,). Grey levels are scaled to [0, 1]. Without a folder the result
    is a stand-in, and its `source` says so.

    Raises: FileNotFoundError or ValueError, naming the file and what is wrong with it.

    >>> load_orl_faces().source
    'stand-in for the ORL faces: synthetic, from make_faces'
    """
    if folder is None:
        T = make_faces(SUBJECTS, PICTURES, rng=np.random.default_rng(0))
        return _image_set(T.images, T.y, "stand-in for the ORL faces: synthetic, from make_faces")
    folder, subject = Path(folder), np.repeat(np.arange(1, SUBJECTS + 1), PICTURES)
    if (folder / "s1").is_dir():
        paths = [folder / f"s{s}" / f"{i % PICTURES + 1}.pgm" for i, s in enumerate(subject)]
        images = [_read_pgm(path) for path in paths]
    else:
        paths = [folder / "orl.npz"] * len(subject)
        images = _npz_faces(paths[0], subject)
    known = _face_checksums()
    for path, image, s in zip(paths, images, subject, strict=True):
        digest = sha256(image.tobytes()).hexdigest()[:16]
        if image.shape != FACE or known.pop(digest, None) != s:
            raise ValueError(
                f"{path}: damaged, or not the original: it must show subject {s}, no picture "
                f"twice; got {image.shape} pixels, whose SHA-256 starts with {digest}"
            )
    return _image_set(np.array(images) / 255, subject, "ORL faces, AT&T Laboratories Cambridge")


def _read_pgm(path):
    """The grey levels (height, width) of a binary PGM file with one byte per pixel.

    The header is text: P5, the width, the height and the largest level. A comment starts with #.
    """
    raw = _read(path)
    gap = rb"(?:\s|#[^\n]*\n)+"
    header = re.match(rb"P5" + 3 * (gap + rb"(\d{1,9})") + rb"\s", raw)
    width, height, start = (int(header[1]), int(header[2]), header.end()) if header else (0, 0, 0)
    if header is None or len(raw) != start + width * height:
        raise ValueError(
            f"{path}: damaged, or not a binary PGM file: it must start with P5, the width, the "
            f"height and the largest level, and promise the bytes that follow; got "
            f"{raw[: start or 20]!r} and {len(raw) - start} bytes"
        )
    return np.frombuffer(raw, np.uint8, offset=start).reshape(height, width)


def _npz_faces(path, subject):
    """The pictures in an .npz file, ordered by subject."""
    content = _read(path)
    try:
        with np.load(io.BytesIO(content)) as arrays:
            images, subjects = arrays["images"], arrays["subject"]
        order = np.argsort(subjects, kind="stable")
        if images.dtype != np.uint8 or not np.array_equal(subjects[order], subject):
            raise ValueError(f"got pixels of {images.dtype}, subjects {np.unique(subjects)}")
        return images[order]
    except Exception as error:  # numpy, zipfile and zlib raise errors of many kinds
        raise ValueError(
            f"{path}: damaged, or not the original: it must hold the arrays images, {len(subject)} "
            f"of bytes, and subject, 1, ..., {SUBJECTS}, {PICTURES} times each: {error}"
        ) from error


def _face_checksums():
    """The subject of every original picture, by the checksum of its pixels."""
    lines = _shipped_lines("orl_checksums.csv")
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    return {digest: int(subject) for subject, *digests in rows for digest in digests}


# --- Printed examples ------------------------------------------------------------------


def joint_table():
    """IRHD's table 1.1: Pr(X = x_j, Y = y_i) in row y_i, column x_j; Fractions (4, 4).

    >>> [str(p) for p in joint_table().sum(axis=0)]
    ['1/2', '1/4', '1/8', '1/8']
    """
    thirty_seconds = [[4, 2, 1, 1], [2, 4, 1, 1], [2, 2, 2, 2], [8, 0, 0, 0]]
    return np.array([[Fraction(p, 32) for p in row] for row in thirty_seconds])


def five_events():
    """The five events (x, y) of IRHD's figure 2.2, which prints (y, x); X and y are Fractions.

    >>> [(int(x), int(y)) for (x,), y in five_events()]
    [(1, 1), (5, 2), (3, 3), (1, 4), (4, 5)]
    """
    events = [(1, 1), (5, 2), (3, 3), (1, 4), (4, 5)]
    X, y = zip(*[([Fraction(x)], Fraction(y)) for x, y in events], strict=True)
    return TrainingSet(np.array(X), np.array(y), source="IRHD, figure 2.2")


# --- Linear models ---------------------------------------------------------------------


def make_linear(n, w, b=0.0, *, sigma=1.0, rng):
    """A set with y = w^T x + b + noise, x from N(0, I) and noise from N(0, sigma^2).

    >>> make_linear(1, w=[2.0, -1.0], b=3.0, sigma=0.0, rng=np.random.default_rng(0))[:]
    (array([[ 0.12573022, -0.13210486]]), array([3.38356531]))
    """
    X, noise = rng.normal(size=(n, len(w))), sigma * rng.normal(size=n)
    return TrainingSet(X, X @ w + b + noise)


def make_curve(n, f, *, low=0.0, high=1.0, sigma=0.1, rng):
    """A set with y = f(x) + noise, X (n, 1) uniform on [low, high] and sorted, noise as above.

    >>> make_curve(1, np.square, sigma=0.0, rng=np.random.default_rng(0))[:]
    (array([[0.63696169]]), array([0.40572019]))
    """
    x, noise = np.sort(rng.uniform(low, high, size=n)), sigma * rng.normal(size=n)
    return TrainingSet(x[:, None], f(x) + noise)


class Risk(NamedTuple):
    """The truth of logistic regression: y = +1 with probability p = sigma(w^T x + b)."""

    w: np.ndarray  # (d,)
    b: float
    p: np.ndarray  # (n,)


def make_patients(n, b=-7.0, *, rng):
    """IRHD's patients: age, gender (0 male, 1 female), cholesterol (mg/dl); +1 for those who die.

    >>> make_patients(1, rng=np.random.default_rng(0)).X.round()
    array([[ 65.,   1., 227.]])
    """
    age, gender = rng.uniform(20, 90, size=n), rng.integers(2, size=n)
    cholesterol = 200 * np.exp(0.2 * rng.normal(size=n))
    X, w = np.column_stack([age, gender, cholesterol]), np.array([0.08, -0.8, 0.012])
    p = np.exp(-np.logaddexp(0, -(X @ w + b)))  # 1 / (1 + e^-f), without overflow
    return TrainingSet(
        X,
        to_signs((rng.uniform(size=n) < p).astype(int)),
        feature_names=("age", "gender", "cholesterol"),
        class_names=("survival", "death"),
        truth=Risk(w, b, p),
    )


# --- Learning theory -------------------------------------------------------------------


class Hyperplane(NamedTuple):
    """The truth of a separable set: y_i (w^T x_i + b) >= gap for all i, ||w|| = 1."""

    w: np.ndarray  # (d,)
    b: float
    gap: float


def make_separable(n, d=2, *, gap=0.5, rng):
    """Two classes of equal size with a strip of width 2 gap >= 0 between, around a `Hyperplane`.

    >>> T = make_separable(50, gap=0.5, rng=np.random.default_rng(0))
    >>> bool(np.min(T.y * (T.X @ T.truth.w + T.truth.b)) >= 0.5)
    True
    """
    check_number("gap", gap, at_least=0, below=np.inf)
    w, b = rng.normal(size=d), float(rng.normal())
    w = w / np.linalg.norm(w)
    y = rng.permutation(_halves(n))
    X, f = rng.normal(size=(n, d)), y * (gap + np.abs(rng.normal(size=n)))
    X = X + np.outer(f - b - X @ w, w)  # now w^T x + b = f
    return TrainingSet(X, y, class_names=SIGNS, truth=Hyperplane(w, b, gap))


def make_independent_labels(n, *, rng):
    """Labels from a fair coin, x from N(0, I) in the plane: the risk of every classifier is 1/2.

    >>> make_independent_labels(4, rng=np.random.default_rng(0)).y
    array([1, 1, 1, 1])
    """
    X, y = rng.normal(size=(n, 2)), rng.choice([-1, 1], size=n)
    return TrainingSet(X, y, class_names=SIGNS)


# --- Groups and shapes -----------------------------------------------------------------


class Blobs(NamedTuple):
    """The truth of Gaussian groups."""

    weights: np.ndarray  # (K,), the share of each group
    centers: np.ndarray  # (K, d)
    covariances: np.ndarray  # (K, d, d)


def make_blobs(sizes, centers, covariances=None, *, rng):
    """Gaussian groups 0, ..., K - 1, one after the other: sizes[k] samples from N(mu_k, Sigma_k).

    `centers` (K, d) are the means mu_k. `covariances` are the K positive definite matrices Sigma_k,
    or one for all groups, or None for the identity. The truth of the set is `Blobs`.

    >>> make_blobs([2, 1], [[0.0, 0.0], [50.0, 50.0]], rng=np.random.default_rng(0)).X.round()[2]
    array([49., 50.])
    """
    sizes, centers = np.asarray(sizes), np.asarray(centers, dtype=float)
    K, d = centers.shape
    if sizes.shape != (K,):
        raise ValueError(f"there must be a size for each of {K} centers; got {sizes}")
    Sigma = np.asarray(np.eye(d) if covariances is None else covariances, dtype=float)
    if Sigma.shape not in ((d, d), (1, d, d), (K, d, d)):
        raise ValueError(f"covariances must be of shape {(d, d)} or {(K, d, d)}; got {Sigma.shape}")
    if not np.allclose(Sigma, Sigma.swapaxes(-1, -2)):
        raise ValueError(f"covariances must be symmetric; got {covariances}")
    Sigma = np.array(np.broadcast_to(Sigma, (K, d, d)))
    roots = zip(sizes, np.linalg.cholesky(Sigma), strict=True)
    draws = [rng.normal(size=(n_k, d)) @ L.T for n_k, L in roots]
    y, truth = np.repeat(np.arange(K), sizes), Blobs(sizes / sizes.sum(), centers, Sigma)
    X = centers[y] + np.vstack(draws)
    return TrainingSet(X, y, class_names=tuple(str(k) for k in range(K)), truth=truth)


def make_moons(n, noise=0.1, *, rng):
    """Two half circles of radius 1, -1 above and +1 below, with normal noise of deviation `noise`.

    >>> make_moons(4, noise=0.0, rng=np.random.default_rng(0)).y
    array([-1, -1,  1,  1])
    """
    y, turn = _halves(n), np.pi * rng.uniform(size=n)
    upper = np.column_stack([np.cos(turn), np.sin(turn)])
    X = np.where(y[:, None] < 0, upper, [1.0, 0.5] - upper)
    return TrainingSet(X + noise * rng.normal(size=(n, 2)), y, class_names=SIGNS)


def make_rings(n, radii=(1.0, 2.0), noise=0.1, *, rng):
    """Two rings, -1 and +1: ||x|| is within `noise` of radii[0] or radii[1], any direction alike.

    If they do not overlap, a plane z = c separates them, z = x_1^2 + x_2^2 (IRHD, figure 6.2).

    >>> np.linalg.norm(make_rings(4, rng=np.random.default_rng(0)).X, axis=1).round()
    array([1., 1., 2., 2.])
    """
    y, turn = _halves(n), 2 * np.pi * rng.uniform(size=n)
    r = np.where(y < 0, *radii) + noise * rng.uniform(-1, 1, size=n)
    X = r[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return TrainingSet(X, y, class_names=SIGNS)


def make_annulus(n, *, rng):
    """ISML's ring: x uniform on [-5/2, 5/2]^2, y = +1 if 1 <= ||x|| <= 2, else -1.

    >>> make_annulus(3, rng=np.random.default_rng(0)).y
    array([ 1, -1, -1])
    """
    X = rng.uniform(-2.5, 2.5, size=(n, 2))
    r = np.linalg.norm(X, axis=1)
    return TrainingSet(X, np.where((r >= 1) & (r <= 2), 1, -1), class_names=SIGNS)


def make_quadrants(n, *, rng):
    """Parity: x uniform on [-1, 1]^2, y = sign(x_1 x_2); first and third quadrant are +1.

    >>> make_quadrants(1, rng=np.random.default_rng(0))[0]
    (array([ 0.27392337, -0.46042657]), np.int64(-1))
    """
    X = rng.uniform(-1, 1, size=(n, 2))
    return TrainingSet(X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1), class_names=SIGNS)


def make_three_modes(n, *, rng):
    """Three modes: x uniform on [-2, 2]^2, y = +1 in three discs of radius 0.7, else -1.

    >>> make_three_modes(4, rng=np.random.default_rng(0)).y
    array([ 1, -1, -1,  1])
    """
    turn = np.pi * np.array([1 / 2, 7 / 6, 11 / 6])
    centers = 1.2 * np.column_stack([np.cos(turn), np.sin(turn)])
    X = rng.uniform(-2, 2, size=(n, 2))
    distance = np.linalg.norm(X[:, None] - centers, axis=2)
    return TrainingSet(X, np.where(distance.min(axis=1) <= 0.7, 1, -1), class_names=SIGNS)


def _halves(n):
    """-1 for the first half of n samples, which has the odd one, and +1 for the other: (n,)."""
    return np.where(np.arange(n) < (n + 1) // 2, -1, 1)


# --- Stories ---------------------------------------------------------------------------


class Words(NamedTuple):
    """The truth of the e-mails: the probability of each word, independent given the class."""

    weights: np.ndarray  # (2,), the share of ham and of spam
    p: np.ndarray  # (2, d), of ham and of spam


def make_emails(n, *, rng):
    """E-mails, "spam" or "ham" with equal probability; a feature is 1 if its word occurs, else 0.

    ISML's rule, which calls spam what has "buy now", errs on 22.5 %. The truth is `Words`.

    >>> make_emails(1, rng=np.random.default_rng(0))[0]
    (array([1., 1., 1., 0., 0.]), np.str_('spam'))
    """
    words = "buy now", "free", "winner", "meeting", "report"
    p = np.array([[0.05, 0.15, 0.1, 0.4, 0.35], [0.6, 0.5, 0.4, 0.05, 0.1]])
    k = rng.integers(2, size=n)
    X, y = (rng.uniform(size=(n, len(words))) < p[k]).astype(float), np.array(["ham", "spam"])[k]
    truth = Words(np.array([0.5, 0.5]), p)
    return TrainingSet(X, y, feature_names=words, class_names=("ham", "spam"), truth=truth)


def make_fish(n, *, rng):
    """Length (cm), lightness and width (cm) of salmon and sea bass, equally many of both.

    The best rule errs with probability Phi(-Delta / 2), with Delta = 1 for the length, 2 for the
    lightness, 2.6 for lightness and width. The truth is `Blobs`, salmon first.

    >>> make_fish(4, rng=np.random.default_rng(0)).y.tolist()
    ['salmon', 'salmon', 'sea bass', 'sea bass']
    """
    centers = [[50.0, 4.0, 12.0], [62.0, 6.5, 14.5]]
    Sigma = [[144.0, 0.0, 9.0], [0.0, 1.5625, 0.0], [9.0, 0.0, 2.25]]
    names = np.array(["salmon", "sea bass"])
    T = make_blobs([(n + 1) // 2, n // 2], centers, Sigma, rng=rng)
    features = "length", "lightness", "width"
    return TrainingSet(T.X, names[T.y], features, tuple(names.tolist()), truth=T.truth)


# --- Images ----------------------------------------------------------------------------


def place(images, *, shape, zoom=1.0, angle=0.0, shift=(0.0, 0.0)):
    """`images` (..., h, w) on a canvas of `shape`: enlarged `zoom` times, turned, then shifted.

    Without a shift, an image is in the middle. `angle` is in radians, anticlockwise; `shift`
    (right, down) is in pixels of the canvas. Levels are interpolated linearly; outside they are 0.

    >>> place(np.array([[1.0], [2.0]]), shape=(1, 4), angle=np.pi / 2, shift=(1.0, 0.0)).round(9)
    array([[0., 0., 1., 2.]])
    """
    for name, number in (("angle", angle), ("shift", shift[0]), ("shift", shift[1])):
        check_number(name, number, above=-np.inf, below=np.inf)
    check_number("zoom", zoom, above=0, below=np.inf)
    h, w = images.shape[-2:]
    down, right = np.indices(shape, dtype=float)
    v, u = down - (shape[0] - 1) / 2 - shift[1], right - (shape[1] - 1) / 2 - shift[0]
    row = (u * np.sin(angle) + v * np.cos(angle)) / zoom + (h - 1) / 2
    column = (u * np.cos(angle) - v * np.sin(angle)) / zoom + (w - 1) / 2
    padded = np.pad(images, [(0, 0)] * (images.ndim - 2) + [(1, 2), (1, 2)])
    row, column = np.clip(row + 1, 0, h + 1), np.clip(column + 1, 0, w + 1)  # between four pixels
    r, c = row.astype(int), column.astype(int)
    a, b = row - r, column - c
    above = (1 - b) * padded[..., r, c] + b * padded[..., r, c + 1]
    below = (1 - b) * padded[..., r + 1, c] + b * padded[..., r + 1, c + 1]
    return (1 - a) * above + a * below


class Placements(NamedTuple):
    """The truth of shifted and rotated images: the arguments of `place`."""

    image: np.ndarray  # (h, w)
    zoom: float
    angle: np.ndarray  # (n,)
    shift: np.ndarray  # (n, 2)


def make_shifted_digits(n, *, rng):
    """One digit, a 3, at n places and angles on 100 x 100 pixels: ISML's 10000 dimensions.

    It is shifted by up to 15 pixels each way and turned by up to pi/4. The truth is `Placements`.

    >>> make_shifted_digits(3, rng=np.random.default_rng(0)).X.shape
    (3, 10000)
    """
    digits, shape = load_digits(), (100, 100)
    image, zoom = digits.images[digits.y == 3][0] / digits.X.max(), 6.0
    angle = rng.uniform(-np.pi / 4, np.pi / 4, size=n)
    shift = rng.uniform(-15, 15, size=(n, 2))
    moves = zip(angle, shift, strict=True)
    images = np.array([place(image, shape=shape, zoom=zoom, angle=a, shift=s) for a, s in moves])
    truth = Placements(image, zoom, angle, shift)
    return TrainingSet(images.reshape(n, -1), np.full(n, 3), truth=truth, image_shape=shape)


class Faces(NamedTuple):
    """The truth of the synthetic faces: X = weights @ prototypes, where the weights sum to 1."""

    weights: np.ndarray  # (n, q + 1)
    prototypes: np.ndarray  # (q + 1, d), of grey levels in [0, 1]


def make_faces(subjects=40, pictures=10, *, q=24, rng):
    """Faces of 112 x 92 pixels from q latent factors: weighted means of q + 1 drawn faces.

    Each of the `subjects`, labels 1, 2, ..., has weights of its own, and each of its `pictures`
    varies them. The truth is `Faces`.

    >>> make_faces(5, 4, q=3, rng=np.random.default_rng(0)).X.shape
    (20, 10304)
    """
    prototypes = np.array([_draw_face(rng).ravel() for _ in range(q + 1)])
    y = np.repeat(np.arange(subjects), pictures)
    own = rng.dirichlet(np.full(q + 1, 0.15), size=subjects)[y]
    change = rng.dirichlet(np.full(q + 1, 0.15), size=len(y))
    weights = 0.7 * own + 0.3 * change
    truth = Faces(weights, prototypes)
    return TrainingSet(weights @ prototypes, y + 1, truth=truth, image_shape=FACE)


def _draw_face(rng):
    """A face (112, 92): a bright oval, lit from one side, with dark hair, eyes, nose and mouth."""
    v, u = np.indices(FACE) / (FACE[0] / 2) - np.array([1, FACE[1] / FACE[0]])[:, None, None]
    height, width, light = rng.uniform([0.75, 0.5, -0.5], [0.95, 0.65, 0.5])
    low, high = [-0.25, 0.2, 0.35, -0.4, -0.7], [-0.1, 0.3, 0.5, 0.6, -0.4]
    eyes, apart, mouth, smile, hair = rng.uniform(low, high)

    def spot(x, y, wide, high):
        return np.exp(-(((u - x) / wide) ** 2) - ((v - y) / high) ** 2)

    head = 1 / (1 + np.exp(20 * ((u / width) ** 2 + (v / height) ** 2 - 1)))
    skin = 0.75 + 0.25 * light * u / width - 0.5 / (1 + np.exp(20 * (v - hair)))
    dark = sum(spot(side * apart, eyes, 0.1, 0.05) for side in (-1, 1))
    brows = sum(spot(side * apart, eyes - 0.13, 0.14, 0.03) for side in (-1, 1))
    lips = np.exp(-((u / 0.2) ** 2) - ((v - mouth + smile * u**2) / 0.04) ** 2)
    nose = spot(0.04 * np.sign(light), 0.12, 0.05, 0.12)
    face = skin - 0.15 - 0.45 * (dark + brows / 2 + lips) - 0.2 * nose
    return np.clip(0.15 + head * face, 0, 1)
