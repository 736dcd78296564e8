"""Derivatives checked against differences, and the panels of a figure.

    check_gradient(lambda w: loss(X, y, w), lambda w: loss_gradient(X, y, w), w)

A failure gives the relative error, where it is largest, and both derivatives there.
"""

import numpy as np

STEP = np.cbrt(np.finfo(np.float64).eps)  # rounding and curvature spoil a difference alike


def differences(f, x):
    """(f(x + h e_i) - f(x - h e_i)) / (2 h) for every entry i of x; f may be array-valued.

    Returns: an array of the shape of x followed by that of f(x).

    >>> differences(lambda x: x[0] * x[1], [3.0, 5.0]).round(6)
    array([5., 3.])
    """
    x = np.asarray(x, dtype=np.float64)
    rows = []
    for place in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[place] += STEP * max(1.0, abs(x[place]))
        behind[place] -= STEP * max(1.0, abs(x[place]))
        rows.append((np.asarray(f(ahead)) - f(behind)) / (ahead[place] - behind[place]))
    return np.reshape(rows, x.shape + np.shape(f(x)))


def check_gradient(f, gradient, x, *, rtol=1e-6, atol=1e-9):
    """See that gradient(x), of the shape of x, is that of f: a number, at x of any shape.

    >>> check_gradient(lambda x: x**3, lambda x: 3 * x**2, 2.0)
    >>> check_gradient(lambda x: x**3, lambda x: 2 * x**2, 2.0)
    Traceback (most recent call last):
    AssertionError: gradient, relative error 0.333 at (): 8 given, 12 by differences
    """
    _compare("gradient", np.asarray(gradient(x), dtype=np.float64), differences(f, x), rtol, atol)


def check_hessian(gradient, hessian, x, *, rtol=1e-6, atol=1e-9):
    """See that hessian(x) is that of the function whose `gradient` is given, at x (d,).

    >>> check_hessian(lambda x: x**2, lambda x: np.diag(2 * x), np.array([1.0, 2.0]))
    """
    _compare(
        "hessian", np.asarray(hessian(x), dtype=np.float64), differences(gradient, x), rtol, atol
    )


def _compare(name, given, numeric, rtol, atol):
    assert given.shape == numeric.shape, f"{name} of shape {given.shape}; must be {numeric.shape}"
    error = np.abs(given - numeric)
    size = max(np.abs(given).max(initial=0.0), np.abs(numeric).max(initial=0.0))
    if not np.all(error <= rtol * size + atol):  # so that NaN fails
        worst = tuple(int(i) for i in np.unravel_index(np.argmax(error), error.shape))
        raise AssertionError(
            f"{name}, relative error {error[worst] / size:.3g} at {worst}: "
            f"{given[worst]:.6g} given, {numeric[worst]:.6g} by differences"
        )


def panels(draw, rows=1, columns=1):
    """The axes that a lecture figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure(layout="constrained").subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes
