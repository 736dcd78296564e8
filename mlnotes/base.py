"""What the chapters share: the loop, the checks of input, and the estimators' base classes.

Contents
    The loop        iterate, Run
    Memory          row_blocks, by_rows
    Rules           floats, exact, signs, bits, distribution
    Input           check_samples, check_labels, check_targets, check_weights, check_number,
                    check_choice, check_flag, check_random_state
    Labels          one_vs_rest
    Estimators      Estimator, Classifier, LinearClassifier, ProbabilisticClassifier,
                    LogProbabilisticClassifier, Regressor, Transformer, Clusterer, DensityEstimator
    Exceptions      NotFittedError, ConvergenceWarning, DataConversionWarning, shared

A rule is what a lecture's function asks of its input in one line, where wrong input would give a
plausible wrong answer. A check is what an estimator asks of what its user passes.

The range contract. Samples, targets and weights are refused where their squares leave the range
of floating point: entries beyond LARGEST in size, and columns whose values differ, but by less than
SMALLEST_SPREAD. Every estimator checks this once; inside, no formula guards against overflow.

Nothing here needs scikit-learn, and yet its clone, Pipeline, GridSearchCV and check_estimator
accept these estimators.
"""

import inspect
import sys
import warnings
from functools import cache, wraps
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

ROUNDING = 1e-12  # a difference this small, relative to its terms, is what rounding leaves

# --- The loop --------------------------------------------------------------------------


class Run(NamedTuple):
    """How an algorithm ended."""

    state: Any  # the last one
    history: np.ndarray  # (n_iter + 1,), the objective of every state, the start included
    n_iter: int  # steps taken
    converged: bool  # whether the rule was met, or the algorithm came to its own end
    reason: str = ""  # of an end before that


def iterate(states, rule, tol, max_iter, patience=inf):
    """Run an algorithm until ``state.<rule> <= tol``, for at most `max_iter` steps.

    `states` yields the start and then a state per step, each with its `objective`. The run also
    ends where `states` ends, where the objective is no longer finite, and after `patience` steps
    in a row without a new smallest value of the rule.

    Returns: a `Run`. Raises: ValueError if `tol` is nan or inf (the measure of a start may be inf).

    >>> class Halving(NamedTuple):
    ...     objective: float
    >>> run = iterate((Halving(2.0**-k) for k in range(99)), "objective", tol=0.1, max_iter=20)
    >>> run.state, run.n_iter, run.converged
    (Halving(objective=0.0625), 4, True)
    """
    if not tol < inf:
        raise ValueError(f"tol must be < inf; got {tol}")
    history, best, best_iter = [], inf, 0
    for n_iter, state in enumerate(states):
        history.append(state.objective)
        measure = getattr(state, rule)
        if measure < best:
            best, best_iter = measure, n_iter
        if measure <= tol:
            break
        reason = (
            "the objective is not finite" if not isfinite(state.objective)
            else f"max_iter = {max_iter} is reached" if n_iter == max_iter
            else f"{rule} did not fall {patience} times in a row" if n_iter - best_iter >= patience
            else ""
        )  # fmt: skip
        if reason:
            return Run(state, np.array(history), n_iter, False, reason)
    return Run(state, np.array(history), n_iter, True)


# --- Memory ----------------------------------------------------------------------------


def row_blocks(n, step):
    """Slices that share out n rows, `step` at a time and one at least.

    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, step)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


BLOCK = 2**16  # numbers worked on at a time: half a megabyte stays in a processor's cache


def by_rows(function):
    """Let a function that treats each row of X (n, d) by itself work on blocks of rows.

    The arrays of a block stay in the processor's cache, which is faster for large n.

    Returns: the function; its value has a row for each row of X.

    >>> by_rows(lambda X: X.sum(axis=1))(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([7., 2.])
    """

    @wraps(function)
    def in_blocks(X, *args, **kwargs):
        if np.size(X) <= BLOCK:
            return function(X, *args, **kwargs)
        first, *others = row_blocks(len(X), BLOCK * len(X) // np.size(X))
        value = function(X[first], *args, **kwargs)
        whole = np.empty((len(X), *value.shape[1:]), value.dtype)
        whole[first] = value
        for rows in others:
            whole[rows] = function(X[rows], *args, **kwargs)
        return whole

    return in_blocks


# --- Rules -----------------------------------------------------------------------------


def floats(*arrays):
    """The arrays in double precision, in which sums of small integers and of booleans are exact.

    Returns: the array for one, a list for several. Raises: ValueError if entries are masked.

    >>> floats(np.array([200, 100], dtype=np.uint8)).sum()
    np.float64(300.0)
    """
    return _widened(arrays, lambda array: np.float64)


def exact(*arrays):
    """The arrays as they are, with small integers, booleans and half precision in 64 bits.

    Fractions stay fractions, so that what is computed with them is exact.

    Returns: the array for one, a list for several. Raises: ValueError if entries are masked.

    >>> from fractions import Fraction
    >>> exact(np.array([Fraction(1, 3)])) * exact(np.array([3], dtype=np.uint8))
    array([Fraction(1, 1)], dtype=object)
    """
    return _widened(arrays, lambda array: np.result_type(array, np.int64))


def _widened(arrays, kind):
    for array in arrays:
        _check_unmasked("an array", array)
    arrays = [np.asarray(array) for array in arrays]
    wide = [array.astype(kind(array), copy=False) for array in arrays]
    return wide[0] if len(wide) == 1 else wide


def signs(y):
    """The labels y, each -1 or +1, in double precision.

    Raises: ValueError if there are others, such as 0 and 1.

    >>> signs([0, 1])
    Traceback (most recent call last):
    ValueError: y must hold labels -1 and +1; got 0.0: convert labels 0 and 1 by 2 * y - 1
    """
    y = floats(y)
    other = y[np.abs(y) != 1]
    if other.size:
        advice = ": convert labels 0 and 1 by 2 * y - 1" if set(y.flat) <= {0.0, 1.0} else ""
        raise ValueError(f"y must hold labels -1 and +1; got {other[0]}{advice}")
    return y


def bits(z):
    """The labels z, each 0 or 1, in double precision.

    Raises: ValueError if there are others, such as -1 and +1.

    >>> bits([-1, 1])
    Traceback (most recent call last):
    ValueError: z must hold labels 0 and 1; got -1.0: convert labels -1 and +1 by (z + 1) / 2
    """
    z = floats(z)
    other = z[(z != 0) & (z != 1)]
    if other.size:
        advice = ": convert labels -1 and +1 by (z + 1) / 2" if set(z.flat) <= {-1.0, 1.0} else ""
        raise ValueError(f"z must hold labels 0 and 1; got {other[0]}{advice}")
    return z


def distribution(p, name="p"):
    """The probabilities p of all outcomes, in double precision: >= 0, with the sum 1.

    The sum may miss 1 by 1e-6, as it does in single precision. `name` is that of messages.

    Raises: ValueError if one is < 0 or NaN, or if the sum is another.

    >>> distribution([0.5, 0.6], "prior")
    Traceback (most recent call last):
    ValueError: prior must be >= 0 with the sum 1; got a least entry 0.5 and the sum 1.1
    """
    p = np.asarray(p, dtype=np.float64)
    if not (p.min(initial=0.0) >= 0 and abs(p.sum() - 1) <= 1e-6):
        raise ValueError(
            f"{name} must be >= 0 with the sum 1; "
            f"got a least entry {p.min(initial=inf):g} and the sum {p.sum():g}"
        )
    return p


# --- Exceptions ------------------------------------------------------------------------


class _Portable:
    """An exception that can be pickled, although a class made by `shared` exists in one process."""

    def __reduce__(self):
        return _restored, (type(self).__name__, self.args)


def _restored(name, args):
    """The unpickled exception `name`; its class is made anew by `shared`."""
    return shared(globals()[name])(*args)


class NotFittedError(_Portable, ValueError, AttributeError):
    """An estimator was used before ``fit``."""


class ConvergenceWarning(_Portable, UserWarning):
    """An algorithm was stopped before its stopping rule was met."""


class DataConversionWarning(_Portable, UserWarning):
    """A column vector was read as a 1-D array."""


def shared(kind):
    """The exception class `kind`; once scikit-learn is loaded, a subclass of its namesake too.

    >>> issubclass(shared(NotFittedError), NotFittedError)
    True
    """
    theirs = getattr(sys.modules.get("sklearn.exceptions"), kind.__name__, None)
    return kind if theirs is None else _subclass_of_both(kind, theirs)


@cache
def _subclass_of_both(kind, theirs):
    return type(kind.__name__, (kind, theirs), {})


# --- Input -----------------------------------------------------------------------------

LARGEST = 1e150  # of larger numbers the square is not finite
SMALLEST_SPREAD = 1e-150  # of smaller differences the square is 0, or has lost its digits


def check_samples(X):
    """Training samples X as a float64 array of shape (n, d), a sample per row.

    Raises: TypeError or ValueError if X is sparse, text, complex, not 2-D, empty, not finite, or
    not within the range contract.

    >>> check_samples([[1, 2]])
    array([[1., 2.]])
    """
    X = _check_matrix(X)
    _check_spread("X", X)
    return X


def _check_matrix(X):
    """Samples to train on or to predict: a finite float64 array of shape (n, d)."""
    if hasattr(X, "toarray"):
        raise TypeError("X must be dense; got a sparse matrix: pass X.toarray()")
    names = _feature_names(X)
    X = _as_numbers("X", X, names)
    if X.ndim != 2:
        raise ValueError(
            f"X must be a 2-D array, a sample per row; got {X.ndim}-D of shape {X.shape}. "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample"
        )
    for count, what in zip(X.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"X has no {what}: 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
            )
    _check_range("X", X, names)
    return X


def check_labels(y, n):
    """Labels y as an array of shape (n,): classes of any kind, two of them at least.

    Raises: ValueError if they are missing, of another shape, complex, not finite, continuous or of
    one class only.

    >>> check_labels(["b", "a", "b"], 3)
    array(['b', 'a', 'b'], dtype='<U1')
    """
    y = _check_column(y, n)
    if y.dtype.kind == "c":
        _as_numbers("y", y)
    if y.dtype.kind == "f":
        _check_range("y", y)
        between = y[y != np.round(y)]
        if len(between):
            raise ValueError(
                f"Unknown label type: y must hold classes; got numbers as {between[0]:g}"
            )
    if y.dtype.kind == "O":
        missing = sum(label is None or label != label for label in y)
        kinds = sorted({type(label).__name__ for label in y})
        if missing:
            raise ValueError(f"y must not hold None or NaN; got {missing} missing label(s)")
        if not len({str if isinstance(label, str) else Real for label in y}) == 1:
            raise TypeError(f"y must hold labels of one kind; got {' and '.join(kinds)}")
    if len(np.unique(y)) < 2:
        raise ValueError(f"y must hold at least 2 classes; got 1 class: {_plain(y[0])!r}")
    return y


def check_targets(y, n):
    """Targets y as a float64 array of shape (n,).

    Raises: TypeError or ValueError if they are missing, of another shape, text, complex, not
    finite, or not within the range contract.

    >>> check_targets([1, 2], 2)
    array([1., 2.])
    """
    y = _as_numbers("y", _check_column(y, n))
    _check_range("y", y)
    _check_spread("y", y)
    return y


def check_weights(sample_weight, n):
    """The `sample_weight` as a float64 array of shape (n,); ones for None.

    Raises: TypeError or ValueError if they have another shape, are not numbers, not finite,
    negative, all zero, or larger than LARGEST.

    >>> check_weights(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n)
    weights = _as_numbers("sample_weight", sample_weight)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},); got {weights.shape}")
    _check_range("sample_weight", weights)
    if weights.min() < 0 or weights.max() == 0:
        raise ValueError(
            "sample_weight must be >= 0 and not zero everywhere; "
            f"got {weights.min():g} to {weights.max():g}"
        )
    return weights


def check_number(name, value, *, above=-inf, at_least=-inf, below=None, integer=False):
    """The `value` of the hyperparameter `name`, if it is a number in its range.

    The range is: > `above`, >= `at_least`, < `below` and, with `integer`, whole. True and False
    are not accepted as numbers. inf is, unless ``below=inf``: a hard margin has C = inf.

    Raises: ValueError if it is not.

    >>> check_number("max_iter", 0, at_least=1, integer=True)
    Traceback (most recent call last):
    ValueError: max_iter must be an integer >= 1; got 0
    """
    kind, word = (Integral, "an integer") if integer else (Real, "a number")
    number = isinstance(value, kind) and not isinstance(value, bool)
    if not (number and at_least <= value > above and (below is None or value < below)):
        low = f" > {above}" if above > -inf else f" >= {at_least}" if at_least > -inf else ""
        high = "" if below is None else f" and < {below}" if low else f" < {below}"
        raise ValueError(f"{name} must be {word}{low}{high}; got {_plain(value)!r}")
    return value


def _plain(value):
    """The value for a message: a number of Python for one of numpy."""
    return value.item() if isinstance(value, np.generic) else value


def check_choice(name, value, choices):
    """The `value` of the hyperparameter `name`, if it is one of the `choices`.

    Raises: ValueError if it is not.

    >>> check_choice("init", "best", ("k-means++", "random"))
    Traceback (most recent call last):
    ValueError: init must be one of 'k-means++', 'random'; got 'best'
    """
    if not (value is None or isinstance(value, str)) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}; got {_plain(value)!r}")
    return value


def check_flag(name, value):
    """The `value` of the hyperparameter `name`, if it is True or False.

    Raises: ValueError if it is not.

    >>> check_flag("fit_intercept", "no")
    Traceback (most recent call last):
    ValueError: fit_intercept must be True or False; got 'no'
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {_plain(value)!r}")
    return bool(value)


def check_random_state(random_state):
    """The Generator that `random_state` stands for: a new one for None or an int, or itself.

    Raises: ValueError if it is something else.

    >>> check_random_state(0).integers(10, size=3)
    array([8, 6, 5])
    """
    if isinstance(random_state, Integral) and random_state < 0:
        raise ValueError(f"random_state must be >= 0; got {_plain(random_state)!r}")
    if random_state is None or isinstance(random_state, Integral | np.random.Generator):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state must be None, an int or a numpy Generator; got {random_state!r}"
    )


def _check_column(y, n):
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    _check_unmasked("y", y)
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            f"A column-vector y was passed when a 1d array was expected; its shape {y.shape} "
            "is read as y.ravel()",
            shared(DataConversionWarning),
            stacklevel=4,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array; got shape {y.shape}")
    if len(y) != n:
        raise ValueError(f"X and y must have the same length; got {n} samples, {len(y)} of y")
    return y


def _check_unmasked(name, values):
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} must hold no masked entries; got {np.ma.count_masked(values)}: "
            "leave these samples out, or fill in values"
        )


def _as_numbers(name, values, columns=None):
    """The values in double precision; a message names the column of a table by `columns`."""
    _check_unmasked(name, values)
    values = np.asarray(values)
    if values.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} must be real; got dtype {values.dtype}"
        )
    if values.dtype.kind in "mM":
        raise TypeError(f"{name} must hold numbers; got dtype {values.dtype}")
    if values.dtype.kind in "USO":
        for place, value in np.ndenumerate(values.astype(object)):
            if isinstance(value, str | bytes):
                raise TypeError(
                    f"{name} must hold numbers; got the text {value!r:.42}"
                    f"{_column(place, columns)}: encode categories as numbers, say by "
                    "numpy.unique(..., return_inverse=True)"
                )
    try:
        return values.astype(np.float64, copy=False)
    except OverflowError:  # an integer of Python has no largest value
        raise ValueError(
            f"{name} must lie within -{LARGEST:g} and {LARGEST:g}; got an integer beyond them"
        ) from None
    except TypeError as error:
        raise TypeError(f"{name} must hold numbers: {error}") from None


def _column(place, columns):
    """Where in a table: " in column 'sex'", or " in column 3"; nothing for a vector."""
    if len(place) != 2:
        return ""
    return f" in column {place[1] if columns is None else repr(columns[place[1]])}"


def _check_range(name, values, columns=None):
    flat = values.ravel(order="K")  # as it lies in memory
    if float(np.vdot(flat, flat)) <= LARGEST**2:  # no entry can be larger, or NaN
        return
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    if not np.isfinite([low, high]).all():
        bad = np.argwhere(~np.isfinite(values))
        first = " first" * (len(bad) > 1) + _column(bad[0], columns)
        raise ValueError(
            f"{name} must be finite; it contains NaN or infinity {len(bad)} times"
            + (f",{first}" if values.ndim == 2 else "")
        )
    if low < -LARGEST or high > LARGEST:
        raise ValueError(
            f"{name} must lie within -{LARGEST:g} and {LARGEST:g}, so that squares are finite; "
            f"got {low if -low > high else high:.3g}"
        )


def _check_spread(name, values):
    tiny = np.abs(values[0]) < SMALLEST_SPREAD * 2**53  # others differ by more or not at all
    spread = np.ptp(values[..., tiny], axis=0)
    lost = np.min(spread, where=spread > 0, initial=np.inf)
    if lost < SMALLEST_SPREAD:
        raise ValueError(
            f"{name} must have values that are equal or differ by {SMALLEST_SPREAD:g} or more, so "
            f"that squares are not 0; got a range of {lost:.3g}: use another unit"
        )


# --- Labels ----------------------------------------------------------------------------


def one_vs_rest(y, classes):
    """Column k has +1 where y is class k and -1 elsewhere: one two-class problem per column.

    Returns: an array (n, K); for two classes (n, 1), the column of the second.

    >>> one_vs_rest(np.array(["b"]), ["a", "b", "c"])
    array([[-1.,  1., -1.]])
    """
    positives = classes[1:] if len(classes) == 2 else classes
    return np.where(y[:, None] == np.asarray(positives), 1.0, -1.0)


# --- Estimators ------------------------------------------------------------------------


class Estimator:
    """Hyperparameters that can be read, set and printed: the arguments of ``__init__``."""

    _kind = None  # what scikit-learn calls this kind of estimator
    _advice = "or raise {limits}"  # to whoever reads that `fit` was cut

    @classmethod
    def _defaults(cls):
        arguments = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {a.name: a.default for a in arguments}

    def get_params(self, deep=True):
        """The hyperparameters by name; with `deep`, those of an inner estimator as a__b."""
        params = {name: getattr(self, name) for name in self._defaults()}
        inner = {k: v for k, v in params.items() if deep and isinstance(v, Estimator)}
        for name, estimator in inner.items():
            params |= {f"{name}__{k}": v for k, v in estimator.get_params().items()}
        return params

    def set_params(self, **params):
        """Set hyperparameters by name and return self."""
        for name in sorted(params, key=lambda name: name.count("__")):  # an estimator first
            value, (outer, _, inner) = params[name], name.partition("__")
            if outer not in self._defaults():
                has = ", ".join(self._defaults())
                raise ValueError(f"{type(self).__name__} has no parameter {outer!r}; it has {has}")
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, outer, value)
        return self

    def __repr__(self):
        """The call that makes this estimator; defaults are left out."""
        given = {k: repr(getattr(self, k)) for k, v in self._defaults().items()}
        given = [f"{k}={v}" for k, v in given.items() if v != repr(self._defaults()[k])]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self):
        """What kind of estimator this is; only scikit-learn asks."""
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=self._kind,
            target_tags=TargetTags(required=self._kind in ("classifier", "regressor")),
            transformer_tags=TransformerTags() if isinstance(self, Transformer) else None,
            classifier_tags=ClassifierTags() if self._kind == "classifier" else None,
            regressor_tags=RegressorTags() if self._kind == "regressor" else None,
        )

    def _record(self, runs, rule, tol):
        """Keep how the run (or the list of runs) of `fit` ended; warn its caller once if cut."""
        several = [runs] if isinstance(runs, Run) else runs
        self.history_ = runs.history if isinstance(runs, Run) else [r.history for r in runs]
        self.n_iter_ = max(run.n_iter for run in several)
        self.converged_ = all(run.converged for run in several)
        if not self.converged_:
            cut = [run for run in several if not run.converged]
            worst = max(cut, key=lambda run: getattr(run.state, rule))
            limits = [k for k in ("max_iter", "n_iter_no_change") if k in self._defaults()]
            advice = self._advice.format(limits=" or ".join(limits))
            warnings.warn(
                f"{type(self).__name__} stopped after {worst.n_iter} iterations, because "
                f"{worst.reason or 'rounding hinders it'}; {rule} = "
                f"{getattr(worst.state, rule):.3g}, and should be <= {tol:g}: "
                f"see history_, {advice}",
                shared(ConvergenceWarning),
                stacklevel=3,
            )

    def _remember(self, X):
        """End `fit`: keep the number of features of its X and, of a data frame, their names."""
        self.n_features_in_ = np.asarray(X).shape[1]  # from here on it counts as fitted
        vars(self).pop("feature_names_in_", None)
        names = _feature_names(X)
        if names is not None:
            self.feature_names_in_ = names
        return self

    def _require_fit(self):
        """Refuse an estimator that is not fitted."""
        if not hasattr(self, "n_features_in_"):
            name = type(self).__name__
            raise shared(NotFittedError)(f"This {name} is not fitted yet: call fit first")

    def _check_fitted(self, X):
        """Samples for a fitted estimator: fitted it must be, and to the same features."""
        self._require_fit()
        given, known = _feature_names(X), getattr(self, "feature_names_in_", None)
        if given is not None and known is not None and list(given) != list(known):
            raise ValueError(
                "The feature names should match those that were passed during fit, in their "
                f"order: {list(known)}; got {list(given)}"
            )
        X = _check_matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return X


def _feature_names(X):
    """The column names of a data frame, if all are strings; else None."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.asarray(names, dtype=object)


def _scored(y, predicted, sample_weight):
    """y and the weights relative to the largest, checked against the shape of the predictions."""
    _check_unmasked("y", y)
    y = np.asarray(y)
    if y.shape == (*predicted.shape, 1):
        y = y[..., 0]
    if y.shape != predicted.shape:
        raise ValueError(f"y must have a value per prediction, {predicted.shape}; got {y.shape}")
    weights = check_weights(sample_weight, len(y))
    return y, weights / weights.max()  # no score depends on their unit


class Classifier(Estimator):
    """An estimator that predicts labels."""

    _kind = "classifier"

    def score(self, X, y, sample_weight=None):
        """Accuracy: the share of samples whose predicted label is right."""
        labels = self.predict(X)
        y, weights = _scored(y, labels, sample_weight)
        return float(np.average(labels == y, weights=weights))


class LinearClassifier(Classifier):
    """A classifier by scores w_k^T x + b_k, which are in its ``coef_`` and ``intercept_``."""

    def decision_function(self, X):
        """Scores (n,) for the second of two classes, or (n, K) for each of more."""
        F = self._check_fitted(X) @ self.coef_.T + self.intercept_
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X):
        """Labels (n,): the second of two classes where f > 0; of more, that of largest score."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]


class ProbabilisticClassifier(Classifier):
    """A classifier by the probabilities of the classes, which its ``predict_proba`` gives."""

    def predict_log_proba(self, X):
        """Logarithms of the probabilities, -inf for one that is 0: (n, C)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X):
        """The label of largest probability, of equals the first: (n,)."""
        P = self.predict_proba(X)
        return self.classes_[P.argmax(axis=1)]


class LogProbabilisticClassifier(Classifier):
    """A classifier by the logarithms of the probabilities, which ``predict_log_proba`` gives."""

    def predict_proba(self, X):
        """The probabilities of the classes: (n, C)."""
        return np.exp(self.predict_log_proba(X))


class Regressor(Estimator):
    """An estimator that predicts numbers."""

    _kind = "regressor"

    def score(self, X, y, sample_weight=None):
        """R^2 = 1 - sum_i (y_i - f_i)^2 / sum_i (y_i - mean y)^2; for constant y, 1 or 0."""
        f = self.predict(X)
        y, weights = _scored(y, f, sample_weight)
        y = check_targets(y, len(f))
        error = np.average((y - f) ** 2, weights=weights)
        spread = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
        constant = np.ptp(y[weights > 0]) == 0  # rounding of the mean may spread it
        return float(error == 0) if constant else float(1 - error / spread)


class Transformer(Estimator):
    """An estimator that maps samples to samples."""

    def fit_transform(self, X, y=None, **fit_params):
        """Fit to X, with what else `fit` takes, and transform it."""
        return self.fit(X, y, **fit_params).transform(X)


class Clusterer(Estimator):
    """An estimator that labels the samples it was fitted to, in ``labels_``."""

    _kind = "clusterer"

    def fit_predict(self, X, y=None, **fit_params):
        """Fit to X, with what else `fit` takes, and return its labels; y is not used."""
        return self.fit(X, **fit_params).labels_


class DensityEstimator(Estimator):
    """An estimator of the density that the samples come from."""

    _kind = "density_estimator"
