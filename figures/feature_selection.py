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


@figure("irrelevant", claims=("feature_selection-05",), panels=2)
def irrelevant(more, leak):
    """Left: two normal classes in two features, 40 samples, and features of pure noise beside
    them: the test error of the nearest neighbour rises (mean and quartiles of 20 draws). Right:
    500 features of pure noise. Chosen from all samples, before cross-validation, the best of
    them seem to tell the label; chosen in each fold from its training part they do not.
    """
    errors = errors_with_irrelevant()
    more.plot(IRRELEVANT, errors.mean(axis=0), "o-", color=BLUE, ms=4)
    low, high = np.quantile(errors, (0.25, 0.75), axis=0)
    more.fill_between(IRRELEVANT, low, high, color=BLUE, alpha=0.2, lw=0)
    more.set(xlabel="irrelevant features", ylabel="test error of 1-NN", ylim=(0, 0.5))
    before, inside = errors_of_noise()
    leak.plot(KEPT, before, "s--", color=ORANGE, ms=4, label="chosen before")
    leak.plot(KEPT, inside, "o-", color=BLUE, ms=4, label="chosen in each fold")
    leak.axhline(0.5, color=GREY, lw=0.8)
    leak.set_xscale("log")
    leak.minorticks_off()
    leak.set_xticks(KEPT, KEPT)
    leak.set(xlabel="features kept, of 500", ylabel="cross-validation error", ylim=(0, 0.8))
    leak.legend(fontsize=8, loc="upper right")


if __name__ == "__main__":
    run_script(__file__)
