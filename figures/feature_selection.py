"""Lecture figures of the feature selection chapter."""

import numpy as np

from mlnotes.datasets import make_blobs
from mlnotes.decision_theory import zero_one
from mlnotes.feature_selection import SelectKBest, correlation_scores, number_of_features
from mlnotes.model_selection import cross_validation_error
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.plotting import BLUE, GREY, ORANGE, figure, run_script

IRRELEVANT = (0, 1, 2, 5, 10, 20, 35, 50)
CENTERS = np.array([[-1.0, -1.0], [1.0, 1.0]])
DRAWS, TRAIN, TEST = 20, 40, 400
KEPT = (1, 2, 5, 10, 20, 50, 100)


def two_classes(n, rng):
    """Normal classes in two dimensions, and the 50 features that have nothing to do with them."""
    T = make_blobs((n // 2, n // 2), CENTERS, rng=rng)
    return np.column_stack([T.X, rng.normal(size=(n, max(IRRELEVANT)))]), T.y


def errors_with_irrelevant():
    """Test errors (20, 8) of 1-NN: a row per draw, a column per number of irrelevant features."""
    rng = np.random.default_rng(0)
    errors = np.empty((DRAWS, len(IRRELEVANT)))
    for row in errors:
        (X, y), (Z, z) = two_classes(TRAIN, rng), two_classes(TEST, rng)
        for i, m in enumerate(IRRELEVANT):
            nearest = KNeighborsClassifier(n_neighbors=1).fit(X[:, : 2 + m], y)
            row[i] = np.mean(zero_one(nearest.predict(Z[:, : 2 + m]), z))
    return errors


def errors_of_noise():
    """Cross-validation errors where nothing can be learnt: features chosen before, in the folds."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 500)), np.arange(60) % 2
    model = KNeighborsClassifier()
    before = []
    for k in KEPT:
        chosen = SelectKBest(correlation_scores, k=k).fit_transform(X, y)
        before.append(cross_validation_error(model, chosen, y, zero_one).error)
    return before, number_of_features(model, X, y, KEPT, score_func=correlation_scores).errors


@figure("irrelevant", claims=("feature_selection-05",))
def irrelevant(ax):
    """Two normal classes in two features, 40 samples to learn from, and further features of pure
    noise. The error of the nearest neighbour on new samples rises with the number of noise
    features (dots: mean of 20 draws; band: the middle half of the draws).
    """
    errors = errors_with_irrelevant()
    ax.plot(IRRELEVANT, errors.mean(axis=0), "o-", color=BLUE, ms=4)
    low, high = np.quantile(errors, (0.25, 0.75), axis=0)
    ax.fill_between(IRRELEVANT, low, high, color=BLUE, alpha=0.2, lw=0)
    ax.set(xlabel="irrelevant features", ylabel="test error of 1-NN", ylim=(0, 0.5))


@figure("leak", claims=("feature_selection-03",))
def leak(ax):
    """Sixty samples with 500 features of pure noise, and labels that nothing tells: the true error
    of every rule is 0.5. If the best features are chosen from all samples before
    cross-validation (dashed), the estimated error is far below. If they are chosen anew in each
    fold, from its training part (solid), it stays near 0.5.
    """
    before, inside = errors_of_noise()
    ax.plot(KEPT, before, "s--", color=ORANGE, ms=4, label="chosen before")
    ax.plot(KEPT, inside, "o-", color=BLUE, ms=4, label="chosen in each fold")
    ax.axhline(0.5, color=GREY, lw=0.8)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(KEPT, KEPT)
    ax.set(xlabel="features kept, of 500", ylabel="cross-validation error", ylim=(0, 0.8))
    ax.legend(fontsize=8, loc="upper right")


if __name__ == "__main__":
    run_script(__file__)
