"""Benchmark rows of the kernel_pca chapter: fit, and the scores of the samples."""

import numpy as np
from harness import row

from mlnotes.kernel_pca import KernelPCA
from mlnotes.kernels import centre_gram, make_kernel


def both(n, k, **how):
    """Ours, scikit-learn's, each by its own choice of solver, and their objective.

    Four groups of samples: three axes stand out, the others are hard to tell apart. Least is lost
    by the first k axes, orthogonal and of the right length.
    """
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=20) * 2 + rng.normal(size=(n // 4, 20)) for _ in range(4)])
    K = centre_gram(make_kernel(how.get("kernel", "linear"), how.get("gamma"), 3, 1.0, X)(X))
    size = np.sum(K**2)

    def ours():
        model = KernelPCA(k, **how)
        return model.fit_transform(X)

    def theirs():
        from sklearn.decomposition import KernelPCA

        return KernelPCA(k, random_state=0, **how).fit_transform(X)

    def lost(Z):
        """||H K H - Z Z^T||_F^2 / ||H K H||_F^2, least for the first k components."""
        return (size - 2 * np.sum(Z * (K @ Z)) + np.sum((Z.T @ Z) ** 2)) / size

    return ours, theirs, lost


LOST = "||HKH - Z Z^T||^2 / ||HKH||^2"


@row("kernel PCA, Gaussian, 2,000 x 20, 5 components", objective=LOST)
def few_components():
    return both(2000, 5, kernel="rbf")


@row("kernel PCA, Gaussian, 2,000 x 20, 20 components", objective=LOST)
def more_components():
    return both(2000, 20, kernel="rbf")
