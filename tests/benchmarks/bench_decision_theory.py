"""Benchmark rows of the decision theory chapter."""

import numpy as np
from harness import row

from mlnotes.decision_theory import BayesClassifier, posterior


@row(
    "posteriors, 500,000 x 3 (SciPy's softmax)",
    objective="sum_i q_i0",
    smaller_is_better=None,  # one and the same number
)
def posteriors():
    rng = np.random.default_rng(0)
    log_p, prior = 50 * rng.normal(size=(500_000, 3)), np.array([0.2, 0.3, 0.5])

    def ours():
        return posterior(log_p, prior)

    def theirs():
        from scipy.special import softmax

        return softmax(log_p + np.log(prior), axis=1)

    return ours, theirs, lambda q: q[:, 0].sum()


@row(
    "Bayes classifier of normal classes, 50,000 x 20",
    objective="log-loss on the training set",
    rtol=1e-4,  # their covariances are divided by n_k - 1
)
def normal_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=50_000)
    mixing = np.eye(20) + 0.2 * rng.normal(size=(3, 20, 20))
    X = np.einsum("ij,ijk->ik", rng.normal(size=(len(y), 20)), mixing[y]) + 0.3 * y[:, None]

    def ours():
        return BayesClassifier().fit(X, y).predict_proba(X)

    def theirs():
        from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

        return QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)

    return ours, theirs, lambda q: -np.log(q[np.arange(len(y)), y]).mean()
