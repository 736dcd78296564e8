"""Five sets of machine learning lecture notes in numpy, with one module per chapter.

`CHAPTERS` lists the chapters in reading order. ``python -m mlnotes`` prints them with what each one
holds.

How a chapter is made
---------------------

**A module** reads as the lecture runs: definitions, derivations, closed forms, algorithms,
estimators. Its docstring opens with the list of contents and the table of symbols, and the code
uses these symbols. A chapter imports numpy, `mlnotes.base`, `mlnotes.numerics` and earlier
chapters. A formula that an earlier chapter has is imported, not written again.

**Functions** are the derivations. Each computes one formula, with the factors in the order of the
docstring, takes arrays, and returns arrays or a NamedTuple. It does not change its arguments.

**Algorithms** stand once, in the lecture's form, with the lecture's names, in about 20 lines. The
notebook prints this function, and the estimator runs it. An algorithm that iterates is a generator
of its states. A state is a NamedTuple of

- the parameters;
- `objective`, the value at these very parameters;
- one number whose field name is the stopping rule, such as the `gain` of EM or the `violation` of
  SMO. The algorithm has converged when this number is at most the tolerance.

State 0 is the start. If the number measures the last step, it is inf there, because no step has
been made. A state is a snapshot: an array is never written to after its state has been yielded. It
holds the parameters and what has their size, never a matrix (n, n). ``base.iterate(states, "gain",
tol, max_iter)`` takes states until the rule holds, and says whether it does.

**Estimators** are dataclasses. Their hyperparameters are fields. `fit` checks its input, calls the
functions, and stores what they return. Where scikit-learn has the same estimator, all names and
defaults are scikit-learn's. Where the notes define something else, the docstring says so.

**base** has what every chapter needs: the kinds of estimators, the checks of X, y and weights, the
loop over states, and `by_rows`, which lets a function of rows work on blocks that fit the cache.
All limits on the size of numbers are checked there; inside a chapter nothing guards against
overflow. **numerics** has what no lecture derives and several chapters need, such as squared
distances in blocks or Lanczos vectors. Each of its functions says why it exists and is tested
against the form of the lecture.

**Speed** may cost clarity only where a measurement asks for it. A faster form than the lecture's
stands in `numerics`, with the ratio that it gains, and only if the lecture's form exceeds the
budget of ``make bench``: no row takes more than twice the time of scikit-learn (an SVC with a
linear kernel three times, digits in 45 pairs four times), and the geometric mean of all rows is at
most 0.65.

**Claims.** ``data/claims.csv`` lists what the notes state, each statement with an id such as
``svm-40``: the chapter, and a number. Letters tell apart the derivations to walk through
(``svm-w12``), the algorithms to show (``svm-s03``) and the exercises (``svm-x01``). The form of a
statement says what delivers it:

- ``api``: a function or class, named in the column ``owner``, and a test;
- ``test``: a test with the marker ``@pytest.mark.claims("svm-14")``;
- ``figure``: a lecture figure, registered with ``claims=("svm-30",)``, and a test;
- ``notebook``, ``note``: an anchor ``<a id="svm-20"></a>`` in the text of the notebook;
- ``walk``: a heading ``### Walk n. ...`` with an anchor, numbered lines, and a cell that checks
  them;
- ``shown``: a call ``show(smo)`` in the notebook, of the function that owns the algorithm.

A slip of the notes is an erratum. A test shows the printed form failing and the right one holding,
and the docstring that it concerns names it in a line ``Errata:``.

**Exercises** whose answer is a number, an array or a word have a check. ``notebooks/answers.py``
computes what is right and what is typically wrong, and writes ``data/answers.json``.

**A new chapter** needs an entry in `CHAPTERS`, rows in the ledger, a module, a test file, a script
in ``figures``, a notebook and, if it has estimators, a file in ``tests/benchmarks``. The tests say
what is missing.
"""

__version__ = "0.1.0"

CHAPTERS = {
    "probability": "events, random variables, Bayes' rule, moments, the multivariate normal",
    "decision_theory": "Bayes classifier, losses and risk, expected prediction error",
    "estimation": "maximum likelihood, Bayesian estimation, conjugate priors, MAP",
    "density": "histogram, Parzen window, Gaussian kernel estimate, k-NN density",
    "clustering": "k-means and its remedies: robust, hierarchical, spectral",
    "mixture": "mixtures, latent variables, EM, Gaussian mixtures",
    "generative": "Gaussian class-conditional classifiers, naive Bayes",
    "neighbors": "nearest neighbours, Voronoi cells, the curse of dimensionality",
    "optimization": "convexity, descent, Newton, Lagrange and KKT, duality, a QP solver",
    "linear_regression": "least squares, LMS, ridge, LASSO, the statistical view",
    "logistic_regression": "log-loss, Newton and IRLS, separability, regularisation",
    "perceptron": "perceptron, Adaline, mistake bound, margin",
    "discriminant": "Fisher's discriminant, multi-class LDA, singular scatter",
    "learning_theory": "PAC, ERM, consistency, VC dimension, no free lunch",
    "model_selection": "bias and variance, hold-out, cross-validation, bootstrap",
    "neural_networks": "neurons, feed-forward nets, backpropagation, cross-entropy",
    "convolution": "convolution, pooling, ConvNets",
    "kernels": "kernels, Gram matrices, Mercer, RKHS, kernelised least squares",
    "svm": "hard and soft margin, L2, nu; duality; SMO; kernel machines",
    "svr": "epsilon-insensitive regression: hard, soft, L2, nu",
    "trees": "decision trees, impurity, ID3, oblique splits, regression trees",
    "ensemble": "bagging, random forest, AdaBoost, combining classifiers",
    "feature_selection": "mutual information filter",
    "pca": "PCA three ways, whitening, d >> n, low rank, eigenfaces",
    "autoencoder": "linear, denoising, sparse",
    "kernel_pca": "kernel PCA",
    "ica": "independent components",
}
