"""Benchmark rows of the generative chapter: learn the classes, ask for all posteriors."""

import numpy as np
from harness import row

from mlnotes.generative import GaussianNB, QuadraticDiscriminantAnalysis


def classes(n, d, K):
    """Samples of K normal classes of different means and covariances, and their labels."""
    rng = np.random.default_rng(0)
    means, factors = 0.2 * rng.normal(size=(K, d)), np.eye(d) + 0.03 * rng.normal(size=(K, d, d))
    y = rng.integers(K, size=n)
    X = means[y] + rng.normal(size=(n, d))
    for k in range(K):
        X[y == k] = X[y == k] @ factors[k]
    return X, y


def fitted_and_asked(kind, X, y):
    """Fit, then the posteriors of all samples; the objective is the mean log-loss."""

    def ours():
        return kind().fit(X, y).predict_log_proba(X)

    def theirs():
        from sklearn import discriminant_analysis, naive_bayes

        home = naive_bayes if kind is GaussianNB else discriminant_analysis
        return getattr(home, kind.__name__)().fit(X, y).predict_log_proba(X)

    return ours, theirs, lambda log_q: -log_q[np.arange(len(y)), y].mean()


@row("Gaussian naive Bayes, 100,000 x 50, 4 classes", objective="-1/n sum_i ln Pr(y_i | x_i)")
def naive_bayes():
    return fitted_and_asked(GaussianNB, *classes(100_000, 50, 4))


@row("QDA, 50,000 x 30, 4 classes", objective="-1/n sum_i ln Pr(y_i | x_i)")
def quadratic():
    return fitted_and_asked(QuadraticDiscriminantAnalysis, *classes(50_000, 30, 4))
