"""Lecture figure of the ica chapter."""

import numpy as np

from mlnotes.ica import FastICA, rotated_kurtosis
from mlnotes.pca import PCA
from mlnotes.plotting import BLUE, GREY, INK, ORANGE, draw_samples, figure, run_script, set_view

MIXING = np.array([[1.0, 0.7], [0.2, 0.8]])


def mixed(n=700):
    """Two uniform sources, mixed."""
    return np.random.default_rng(27).uniform(-1, 1, size=(n, 2)) @ MIXING.T


@figure("axes_and_angles", claims=("ica-04",), panels=2, size=(3.4, 3.0))
def axes_and_angles(left, right):
    """Left: two uniform sources, mixed, fill a parallelogram. The principal axes (blue, dashed)
    are at right angles; the independent ones (orange) lie along its sides. Right: the kurtosis of
    the whitened samples against the angle of a direction. A normal sample has 0 at every angle;
    the circles are the two directions, at right angles, that together are least normal.
    """
    X = mixed()
    pca, ica = PCA().fit(X), FastICA(fun="cube", tol=1e-10, random_state=0).fit(X)
    draw_samples(left, X, size=3)
    for axis, spread in zip(pca.components_, np.sqrt(pca.explained_variance_), strict=True):
        arrow(left, pca.mean_, 2 * spread * axis, color=BLUE, ls="--", label="principal")
    for column in ica.mixing_.T:
        arrow(left, ica.mean_, np.sqrt(3) * column, color=ORANGE, ls="-", label="independent")
    set_view(left, X)
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles[1:3], labels[1:3], loc="lower right")
    Z, degrees = (X - ica.mean_) @ ica.whitening_.T, np.linspace(0, 180, 361)
    right.plot(degrees, rotated_kurtosis(Z, np.radians(degrees)), color=INK, lw=1.4)
    right.axhline(0, color=GREY, lw=0.8, ls="--")
    right.text(178, -0.03, "normal", color=INK, ha="right", va="top")
    W = ica.components_ @ np.linalg.pinv(ica.whitening_)
    chosen = np.arctan2(W[:, 1], W[:, 0]) % np.pi
    style = {"ms": 9, "mfc": "none", "mec": ORANGE, "mew": 2}
    right.plot(np.degrees(chosen), rotated_kurtosis(Z, chosen), "o", **style)
    right.set(xlabel="angle in degrees", ylabel="kurtosis", xticks=(0, 45, 90, 135, 180))


def arrow(ax, start, along, **style):
    """A line from the mean, with a head."""
    ax.plot(*np.transpose([start, start + along]), lw=2.2, **style)
    head = {"arrowstyle": "-|>", "color": style["color"], "lw": 0}
    ax.annotate("", start + along, start + 0.85 * along, arrowprops=head)


if __name__ == "__main__":
    run_script(__file__)
