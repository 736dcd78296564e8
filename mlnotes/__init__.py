"""Five sets of machine learning lecture notes in numpy, with one module per chapter.

`CHAPTERS` lists the chapters in reading order. ``python -m mlnotes`` prints them with what each one
holds.

How a chapter is made
---------------------

**A module** has a docstring with its contents and symbols, and two halves under ruled lines.

**The lecture**: definitions, derivations, closed forms and algorithms, in the lecture's order, as
they would stand on a blackboard. A function computes one formula, with the factors in the order of
the docstring. It takes arrays, leaves them as they are, and returns arrays or a NamedTuple. The
half has no checks of shapes and parameters, no private helpers, no weights of samples that the
lecture does not have, and nothing that tunes. Only where wrong input would give a plausible wrong
answer in silence, one line asks for it by a rule of `base`, such as ``signs(y)``.

**Algorithms** stand once. An algorithm that iterates is a generator of its states, in at most 22
lines of code. A state is a NamedTuple of

- the parameters;
- `objective`, the value at these very parameters;
- one number whose field name is the stopping rule, such as the `gain` of EM or the `violation` of
  SMO. The algorithm has converged when this number is at most the tolerance.

State 0 is the start; a number that measures the last step is inf there. A state is a snapshot: an
array is never written to after its state has been yielded. It holds what has the size of the
parameters, never a matrix (n, n). ``base.iterate(states, "gain", tol, max_iter)`` takes states
until the rule holds, and says whether it does.

**The estimators**: dataclasses, whose hyperparameters are fields. `fit` checks its input, runs the
lecture's generator, and stores what it returns. What the notebook prints is what `fit` runs. Where
scikit-learn has the same estimator, names and defaults are scikit-learn's.

**base** has what every chapter needs: the kinds of estimators, the rules that input must keep, the
loop over states, and one tolerance, ``ROUNDING``. **numerics** has what no lecture derives and at
least two chapters use. A chapter imports numpy, these two and earlier chapters. What an earlier
chapter has is imported, not written again, and a public name means one thing in all of them.

**Speed** comes from the layout of arrays, not from a second form of an algorithm. ``make bench``
compares with scikit-learn at equal objectives: 0.7 of its time in the geometric mean, and no row
above 5.

**Measures**, which ``make lint`` prints: at most 20,000 lines and 8,500 lines of code; a function
at most 25 lines of code, a `fit` at most 18.

**Claims.** ``data/claims.csv`` lists what the notes state, each statement with an id such as
``svm-40``: the chapter, and a number. Letters tell apart the derivations to walk through
(``svm-w12``), the algorithms to show (``svm-s03``) and the exercises (``svm-x01``). Its column
``owner`` names the function or class that computes a statement, such as ``svm.smo``. The form of a
statement says what delivers it:

- ``api``: its owner, and a test;
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
