"""The answers of the exercises, from which ``mlnotes/data/answers.json`` is made.

    python notebooks/answers.py

writes the file that `mlnotes.reading.check` reads. It holds fingerprints and hints, not answers.

An answer is a generator under the id of its exercise. It first yields the right answer, computed by
the package or from first principles, and then each typical wrong one with a sentence that helps. An
answer is right if it is so when rounded to `digits` decimals; 1 is enough for whole numbers.
"""

import json
from itertools import islice, product
from math import comb, exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes import datasets
from mlnotes.reading import ANSWERS, equivalents, fingerprint

RIGHT = "Right."
CHECKS = {}


class Check(NamedTuple):
    enter: str  # what to enter, in words; the precision is added
    digits: int
    kind: str  # see `reading.equivalents`
    answers: object  # the generator


def answer(exercise, enter, digits=1, kind=""):
    """Register a generator of answers as those of an exercise, or of a part of it."""

    def register(answers):
        assert exercise not in CHECKS, exercise
        CHECKS[exercise] = Check(enter, digits, kind, answers)
        return answers

    return register


def known(exercise):
    """The (numbers, what is said) of an exercise: the right answer, then the typical wrong ones."""
    right, *wrong = CHECKS[exercise].answers()
    said = [RIGHT, *(f"Not right yet. {hint}" for _, hint in wrong)]
    values = [right, *(value for value, _ in wrong)]
    kind = CHECKS[exercise].kind
    return [(equivalents(value, kind)[0], words) for value, words in zip(values, said, strict=True)]


def phases(numbers, tol):
    """For each number the quarter of a grid step by which its grid is shifted, as digits."""
    quarters = 4 * np.ravel(numbers) / (3 * tol)
    assert np.all(np.abs(quarters % 1 - 0.5) > 1e-4), "rounding decides: choose other digits"
    return "".join(str(int(phase)) for phase in np.rint(quarters) % 4)


def precision(numbers, check):
    """In words, how precise an answer must be; nothing if it is whole or has no unit of its own."""
    if check.kind in ("scale", "words") or np.allclose(
        numbers, np.rint(numbers), rtol=0, atol=1e-9
    ):
        return ""
    if check.digits < 1:
        return ", to whole numbers" if check.digits == 0 else ""
    return f", to {check.digits} decimal{'s' * (check.digits > 1)}"


def entry(exercise):
    """What the file holds of an exercise."""
    check, answers = CHECKS[exercise], known(exercise)
    tol, shape = float(f"5e{-check.digits - 1}"), answers[0][0].shape
    assert all(numbers.shape == shape for numbers, _ in answers), exercise
    prints = []
    for numbers, said in answers:
        shifts = phases(numbers, tol)
        prints.append([shifts, fingerprint(exercise, numbers, tol, shifts), said])
    enter = check.enter + precision(answers[0][0], check)
    return {"enter": enter, "kind": check.kind, "tol": tol, "shape": shape, "known": prints}


def text():
    """The file of all answers, an exercise on a line."""
    lines = [f"{json.dumps(exercise)}: {json.dumps(entry(exercise))}" for exercise in CHECKS]
    return "{\n" + ",\n".join(lines) + "\n}\n"


# --- 1 to 5 ----------------------------------------------------------------------------


@answer("probability-x01a", "the probability of the disease after one positive test", 3)
def disease_once():
    from mlnotes.probability import bayes

    yield bayes(np.array([0.99, 0.05]), np.array([0.001, 0.999]))[0]
    yield (
        0.99,
        "This is how probable a positive test is for the ill. The question goes the other way.",
    )
    yield 0.99 * 0.001, "This is the probability of both. Divide it by that of a positive test."


@answer("probability-x01b", "the probability of the disease after two positive tests", 3)
def disease_twice():
    from mlnotes.probability import bayes

    once = bayes(np.array([0.99, 0.05]), np.array([0.001, 0.999]))
    yield bayes(np.array([0.99, 0.05]), once)[0]
    yield (
        once[0],
        "The second test starts from what the first one has taught, not from one in a thousand.",
    )
    yield (
        1 - (1 - once[0]) ** 2,
        "The tests are independent among the ill, and among the healthy only.",
    )


@answer("probability-x02a", "the distributions of the season, a row for each drink, as (4, 4)", 3)
def seasons_given_drinks():
    joint = datasets.joint_table().astype(float)
    yield (joint / joint.sum(axis=0)).T
    yield joint / joint.sum(axis=1, keepdims=True), "These are the drinks given the season."
    yield joint / joint.sum(axis=0), "The numbers are right, but the drinks should be in the rows."


@answer("probability-x02b", "the four entropies in bits, for the drinks in order", 2)
def doubt_after_drinks():
    joint = datasets.joint_table().astype(float)
    q = (joint / joint.sum(axis=0)).T
    nats = -np.sum(q * np.log(np.where(q > 0, q, 1)), axis=1)
    yield nats / log(2)
    yield nats, "These are natural logarithms. A bit needs the logarithm with base 2."


@answer("probability-x03b", "the number m of voters by Chebyshev's inequality")
def voters_by_chebyshev():
    yield 0.25 / (0.05**2 * 0.05)
    yield 0.25 / 0.05**2, "This bounds nothing: the probability of 5 % is still missing."
    yield 1 / (0.05**2 * 0.05), "How large can the variance of a single answer be?"


@answer("probability-x03c", "the number m of voters by the central limit theorem")
def voters_by_limit():
    yield (2 * 0.5 / 0.05) ** 2
    yield (0.5 / 0.05) ** 2, "This is one standard deviation. Two are asked for."
    yield (2 / 0.05) ** 2, "How large can the standard deviation of a single answer be?"
    yield 2 * 0.5 / 0.05, "This is the root of the number of voters."


@answer("probability-x04", "the probabilities of 1, 2, ..., 6 for the larger die", 4)
def larger_die():
    from mlnotes.probability import fair, push_forward

    larger = push_forward(fair(product(range(1, 7), repeat=2)), max)
    right = [float(larger[k]) for k in range(1, 7)]
    yield right
    yield np.cumsum(right), "These are the probabilities of at most k. Subtract neighbours."
    yield right[::-1], "This is the smaller of the two dice."


@answer("probability-x05a", "a vector a with two entries (any multiple counts)", 3, "scale")
def centimetres_and_inches():
    yield 1, -2.54
    yield (1, 2.54), "Then a^T x grows with the length. It should be the same for every flower."
    yield (-2.54, 1), "The factor stands at the wrong coordinate: inches are the smaller numbers."


@answer("probability-x06a", "the mean and the variance of x_1 given x_2 = 5", 3)
def condition_by_hand():
    from mlnotes.probability import conditional_normal

    found = conditional_normal(
        np.array([1.0, 2]), np.array([[4.0, 2], [2, 3]]), given=[1], value=[5.0]
    )
    mean, variance = found.mean.item(), found.covariance.item()
    yield mean, variance
    yield (mean, sqrt(variance)), "The mean is right. The second number is a standard deviation."
    yield (mean, 4), "The mean is right. Knowing x_2 makes x_1 less uncertain."
    yield (1 + 2 / 4 * 3, variance), "For the mean, divide by the variance of what is known."


@answer("probability-x06b", "the mean petal length and width, given the sepals", 2)
def condition_an_iris():
    from mlnotes.probability import conditional_normal, covariance

    X = datasets.load_iris().X
    mean, Sigma = X.mean(axis=0), covariance(np.full(150, 1 / 150), X)
    yield conditional_normal(mean, Sigma, given=[0, 1], value=[6.0, 3.0]).mean
    yield (
        mean[2:],
        "These are the means of all flowers. The sepals tell something about the petals.",
    )


@answer("probability-x08", "the probability of being above the limit, for m = 1", 3)
def tail_of_one():
    yield exp(-3)
    yield 0.0228, "This is the tail of the normal distribution. Here the density is known."
    yield exp(-2), "The limit is two standard deviations above the mean, and the mean is not 0."
    yield 1 - exp(-3), "This is the probability of being below the limit."


SALMON, BASS, SIGMA2 = 4.0, 6.5, 1.25**2


def sea_bass(believed, true):
    """The error of the cut for the believed shares among fish with the true ones; both rates."""
    from mlnotes.probability import normal_cdf

    cut = (SALMON + BASS) / 2 + SIGMA2 / (BASS - SALMON) * log(believed[0] / believed[1])
    above = 1 - normal_cdf(cut, np.array([SALMON, BASS]), SIGMA2)
    return true[0] * above[0] + true[1] * (1 - above[1]), np.dot(true, above)


OLD, NEW = (1 / 3, 2 / 3), (0.9, 0.1)


@answer("decision_theory-x01a", "the positive x at which the decision changes", 3)
def equal_densities():
    yield sqrt(9 / 4 * log(3))
    yield 9 / 4 * log(3), "This is the square of x."
    yield sqrt(9 / 8 * log(3)), "Solve for x again: the factors before x^2 are 1/2 and 1/18."


@answer("decision_theory-x01b", "the error of the Bayes classifier", 3)
def error_of_two_widths():
    from mlnotes.probability import normal_cdf

    x = sqrt(9 / 4 * log(3))
    wrong = 2 * (1 - normal_cdf(x, 0.0, 1.0)), 2 * normal_cdf(x, 0.0, 9.0) - 1
    yield sum(wrong) / 2
    yield sum(wrong), "Each class has the prior 1/2."
    yield (
        (wrong[0] + 2 * wrong[1]) / 2,
        "Class 1 is wrong between the two points only, count that once.",
    )
    yield (wrong[0] / 2 + wrong[1]) / 2, "Class 0 is wrong on both sides."


@answer("decision_theory-x02a", "the share of e-mails that are classified wrongly", 3)
def spam_error():
    from mlnotes.decision_theory import bayes_error

    words = np.log([[0.95, 0.4], [0.05, 0.6]])
    right = bayes_error(words, np.array([0.5, 0.5]), np.ones(2))
    yield right
    yield 2 * right, "Each kind of e-mail is only half of all."
    yield 0.05 / 2, "It is also wrong where the words are missing."


@answer("decision_theory-x02b", "'keep' or 'delete', with the words and without", kind="words")
def delete_or_keep():
    from mlnotes.decision_theory import bayes_action, posterior

    q = posterior(np.log([[0.05, 0.6], [0.95, 0.4]]), np.array([0.5, 0.5]))
    actions = bayes_action(q, np.array([[0.0, 1.0], [9.0, 0.0]]))
    yield ["delete" if action else "keep" for action in actions]
    yield ("keep", "keep"), "Compute the posterior of spam with the words, and the two risks."
    yield ("delete", "delete"), "Without the words, compare the two risks again."


@answer("decision_theory-x03", "how many classifiers, how many best ones, their error", 2)
def classifiers_on_cells():
    from mlnotes.decision_theory import error_probability

    cells, half = np.log([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]]), np.array([0.5, 0.5])
    rules = [np.array(rule) for rule in product((0, 1), repeat=3)]
    errors = np.array([error_probability(rule, cells, half, np.ones(3)) for rule in rules])
    least = errors.min()
    count = np.sum(errors < least + 1e-9)
    yield len(errors), count, least
    yield (len(errors), 1, least), "Is there a value where both answers cost the same?"
    yield (len(errors), count, 2 * least), "The priors belong into the error."
    yield (2 * 3, count, least), "Each of the values gets its answer independently of the others."


@answer("decision_theory-x04", "the best cut of the lightness, and its number of errors", 3)
def best_cut_of_fish():
    from mlnotes.decision_theory import best_cut

    catch = datasets.make_fish(160, rng=np.random.default_rng(21))
    is_bass = np.where(catch.y == "sea bass", 1, 0)
    cut, other = (best_cut(catch.X[:, j], is_bass) for j in (1, 0))
    yield cut.at, cut.errors
    yield (other.at, other.errors), "This is the cut of the length."


@answer("decision_theory-x05a", "the error with the old cut, where 10 % are sea bass", 3)
def old_cut():
    yield sea_bass(OLD, NEW)[0]
    yield sea_bass(OLD, OLD)[0], "This is the error where the machine was trained."
    yield (
        sea_bass(OLD[::-1], NEW)[0],
        "Most of the old fish were sea bass. Where does that move the cut?",
    )
    yield sea_bass(NEW, NEW)[0], "This is the error of the right cut."


@answer("decision_theory-x05b", "the error with the right cut", 3)
def right_cut():
    yield sea_bass(NEW, NEW)[0]
    yield sea_bass(NEW[::-1], NEW)[0], "The cut moved to the wrong side: salmon are now frequent."
    yield sea_bass((0.5, 0.5), NEW)[0], "This is the cut for equal priors."
    yield sea_bass(OLD, NEW)[0], "This is the error of the old cut."


@answer("decision_theory-x05c", "the share of answers 'sea bass' with the old cut", 3)
def share_of_answers():
    yield sea_bass(OLD, NEW)[1]
    yield 0.1, "This is the share of the fish. Some salmon are called sea bass."
    yield sea_bass(OLD, OLD)[1], "The shares of the fish are now the new ones."


@answer("estimation-x01b", "the estimate of p", 3)
def waiting():
    waits = np.array([3, 9, 1, 7])
    yield len(waits) / waits.sum()
    yield waits.mean(), "This is the mean number of throws. How does p follow from it?"
    yield 4 / (waits.sum() - 4), "The throw with the six counts as well."


@answer("estimation-x01c", "the estimate of the mean number of throws", 3)
def mean_waiting():
    yield np.mean([3, 9, 1, 7])
    yield 6, "This is what a fair die would give. Use the four people."
    yield (
        np.mean(1 / np.array([3, 9, 1, 7])),
        "Invariance speaks of the estimate of p, not of each person.",
    )


@answer("estimation-x02b", "a and b of the posterior, its mode and its mean", 3)
def medicine():
    from mlnotes.estimation import Beta

    found = Beta(2, 2).posterior(np.array([1, 1]))
    yield found.a, found.b, found.mode(), found.mean()
    yield (found.a, found.b, found.mean(), found.mode()), "The mode and the mean are exchanged."
    yield (found.a, found.b, found.mode(), found.mode()), "The mean of Beta(a, b) is a / (a + b)."
    yield (3, 1, 1, 3 / 4), "The prior is Beta(2, 2), not flat."


@answer("estimation-x02c", "the probability that both are helped", 3)
def next_two():
    from mlnotes.estimation import Beta

    third = Beta(2, 2).posterior(np.array([1, 1]))
    yield third.mean() * Beta(2, 2).posterior(np.array([1, 1, 1])).mean()
    yield third.mean() ** 2, "After the third patient, the belief about the fourth is another one."
    yield third.mode() ** 2, "The probability of the next success is the mean of the posterior."


@answer("estimation-x03", "what maximum likelihood and the flat prior say", 3)
def third_wine():
    from mlnotes.estimation import Dirichlet

    wines = np.repeat([0, 1], [5, 7])
    flat = Dirichlet(np.ones(3)).posterior(wines).mean()[2]
    yield 0, flat
    yield (
        (0, 1 / 13),
        "The prior adds something to each of the three counts, and the sum must match.",
    )
    yield (flat, 0), "The two are exchanged."
    yield (0, 1 / 14), "There are three cultivars."


@answer("estimation-x04", "the mean and the standard deviation of the posterior", 4)
def horse_kicks():
    a, b = 1 + 122, 1 + 200
    yield a / b, sqrt(a) / b
    yield (a / b, a / b**2), "The mean is right. The second number is the variance."
    yield (122 / 200, sqrt(122) / 200), "This leaves the prior out."


@answer("estimation-x05b", "the three modes, for tau = 10, 1 and 0.5", 3)
def kinked_prior():
    mean, n, tau = 0.6, 3, np.array([10, 1, 0.5])
    yield np.maximum(0, mean - 1 / (n * tau))
    yield mean - 1 / (n * tau), "On the other side of the kink the formula is another one."
    yield np.maximum(0, mean - 1 / tau), "There are three samples: how does n enter the derivative?"


@answer("estimation-x06", "for n = 10, the c without bias, and the c with the least squared error")
def divisors():
    n = 10
    yield n - 1, n + 1
    yield (n, n + 1), "With the first one the estimate is too small on average (walk 8)."
    yield (
        (n - 1, n),
        "The second one is that of maximum likelihood. It does not minimise the error.",
    )
    yield (n + 1, n - 1), "The two are exchanged."


@answer("estimation-x07b", "for n = 1, the two expected squared errors, Beta(1, 1) first", 4)
def pseudo_counts():
    p, (a, b) = np.array([0.7, 0.3]), (np.array([1, 20]), np.array([1, 20]))
    estimates = (a + np.array([[0], [1]])) / (a + b + 1)
    yield p @ (estimates - 0.3) ** 2
    yield p @ (estimates - p @ estimates) ** 2, "These are the variances. The means are off, too."


@answer("density-x01a", "the Parzen estimate at 2", 3)
def parzen_at_2():
    from mlnotes.density import parzen

    right = parzen(np.array([[2.0]]), np.array([[1.0], [2], [2.5], [5]]), 2.0)[0]
    yield right
    yield 2 * right, "Divide by the length of the window as well."
    yield 4 * right, "Divide by the number of samples as well."
    yield right / 2, "The box has the side 2; it reaches 1 to either side."


@answer("density-x01b", "the histogram estimate at 2", 3)
def histogram_at_2():
    from mlnotes.density import histogram_density

    right = histogram_density(np.array([[2.0]]), np.array([[1.0], [2], [2.5], [5]]), 2.0)[0]
    yield right
    yield 2 * right, "Divide by the width of the cell as well."
    yield right / 2, "The left end of a cell belongs to it."


@answer("density-x01c", "the k-NN estimate at 3", 3)
def nearest_at_3():
    from mlnotes.density import knn_density

    right = knn_density(np.array([[3.0]]), np.array([[1.0], [2], [2.5], [5]]), 2)[0]
    yield right
    yield 2 * right, "The interval reaches r to both sides."


@answer("density-x01d", "the posterior probabilities of A and B", 3)
def posterior_of_neighbors():
    from mlnotes.density import knn_posterior

    X, names = np.array([[1.0], [2], [2.5], [5]]), np.array(["A", "A", "B", "B"])
    right = knn_posterior(np.array([[3.2]]), X, names, 3)[0]
    yield right
    yield right[::-1], "Which are the three nearest samples?"
    yield (0.5, 0.5), "Only three of the four samples count."


@answer("density-x02a", "the two standard deviations, for V = 0.2 and V = 0.4", 3)
def slope_inside():
    V, P = np.array([0.2, 0.4]), np.array([0.6**2 - 0.4**2, 0.7**2 - 0.3**2])
    yield np.sqrt(P * (1 - P) / 50) / V
    yield np.sqrt(P * (1 - P) / 50), "This is the spread of k/n. Divide by V."
    yield P * (1 - P) / 50 / V**2, "These are the variances."


@answer("density-x02b", "the bias, with its sign", 3)
def slope_at_edge():
    right = (1 - 0.7**2) / 0.4 - 1.8
    yield right
    yield -right, "The bias is the expectation of the estimate minus the true density."
    yield 0, "Part of the interval lies beyond 1, where the density is 0."


@answer("density-x04", "the integral of the suspicious function over the plane", 3)
def suspicious_density():
    h = 0.5
    yield h * sqrt(2 * pi)
    yield 1, "This would be right for a density."
    yield (h * sqrt(2 * pi)) ** 2, "The function divides by one of the two factors already."
    yield 1 / (h * sqrt(2 * pi)), "Which of the two normalisers is larger?"


@answer("density-x05a", "the bandwidth that is chosen, in cm", 5)
def twins():
    from mlnotes.density import best_bandwidth

    petals, tried = datasets.load_iris().X[:, 2:3], [0.0001, 0.001, 0.01, 0.1, 1.0]
    yield best_bandwidth(np.repeat(petals, 2, axis=0), tried)
    yield best_bandwidth(petals, tried), "This is the choice for the petals as they are."


@answer("density-x05b", "how many lengths occur only once")
def without_a_twin():
    _, occurrences = np.unique(datasets.load_iris().X[:, 2], return_counts=True)
    yield np.sum(occurrences == 1)
    yield len(occurrences), "This is the number of different lengths."


@answer("density-x06a", "the dimension with the largest unit ball")
def largest_ball():
    from mlnotes.density import ball_volume

    yield 1 + np.argmax([ball_volume(1.0, d) for d in range(1, 31)])
    yield 6, "The factor from d - 2 to d is still above 1 there. Compare with the neighbours, too."
    yield 30, "The volume does not grow for ever."


@answer("density-x08", "the five factors, for a = 0, 1, 2, 3, 4", 1)
def silverman_of_two_peaks():
    from mlnotes.density import NormalMixture, mixture_inner_product, silverman

    def mise(h, a, n=200):
        half, means = np.array([0.5, 0.5]), np.array([-a, a])
        p = NormalMixture(half, means, np.ones(2))
        p_h = NormalMixture(half, means, np.full(2, 1 + h**2))
        others = (1 - 1 / n) * mixture_inner_product(p_h, p_h)
        own = 1 / (2 * sqrt(pi) * n * h)
        return own + others - 2 * mixture_inner_product(p_h, p) + mixture_inner_product(p, p)

    tried, a = np.geomspace(0.1, 3, 300), np.arange(5.0)
    least = np.array([min(mise(h, each) for h in tried) for each in a])
    rule = np.sqrt(1 + a**2) * silverman(200, 1)
    yield [mise(h, each) for h, each in zip(rule, a, strict=True)] / least
    narrow = [mise(silverman(200, 1), each) for each in a] / least
    yield narrow, "The spread of all samples enters the rule, and it grows with a."


SIX = np.array([[0.0], [2.0], [3.0], [7.0], [8.0], [10.0]])


@answer("clustering-x01a", "the final labels of the six samples (any two names)", kind="labels")
def labels_by_hand():
    from mlnotes.clustering import lloyd

    states = list(lloyd(SIX, np.array([[2.0], [3.0]])))
    yield states[-1].labels
    yield states[0].labels, "These are the labels of the first step. Compute the means, and go on."


@answer("clustering-x01b", "the two final centers (in any order)", 2, "order")
def centers_by_hand():
    from mlnotes.clustering import lloyd

    states = list(lloyd(SIX, np.array([[2.0], [3.0]])))
    yield states[-1].centers
    yield states[1].centers, "One more step: the labels have changed since these means."


@answer("clustering-x01c", "the between part at the end", 2)
def between_by_hand():
    from mlnotes.clustering import lloyd, scatter

    *_, state = lloyd(SIX, np.array([[2.0], [3.0]]))
    right = scatter(SIX, state.labels).between.item()
    yield right
    yield state.objective, "This is the within part."
    yield right + state.objective, "This is the total."
    yield right / 3, "Each center counts once for each of its samples."


@answer("clustering-x02", "a_1, a_2 and c of the line a_1 x_1 + a_2 x_2 = c", 3, "scale")
def border():
    yield 4, 8, 20
    yield (2, -1, 0), "This is the line through both centers. The border is perpendicular to it."
    yield (4, 8, -20), "Check the sign of c with the midpoint of the centers."
    yield (4, 8, 0), "The border goes through the midpoint of the centers, not through one of them."


def wines():
    X = datasets.load_wine().X
    return (X - X.mean(axis=0)) / X.std(axis=0)


def two_wines():
    """Flavanoids and proline of the wines, and their groups by proline."""
    two = wines()[:, [6, 12]]
    return two, np.digitize(two[:, 1], [-0.5, 0.5])


@answer("clustering-x03", "J at the end", 2)
def own_k_means():
    from mlnotes.clustering import lloyd

    Z = wines()
    *_, state = lloyd(Z, Z[[0, 60, 120]])
    distances = np.linalg.norm(Z - state.centers[state.labels], axis=1)
    yield state.objective
    yield state.objective / 178, "J is a sum over the samples, not a mean."
    yield distances.sum(), "J sums squared distances."


@answer("clustering-x04", "the right between part", 1)
def friends_between():
    from mlnotes.clustering import cluster_means, scatter

    two, labels = two_wines()
    gaps = cluster_means(two, labels, 3) - two.mean(axis=0)
    yield np.trace(scatter(two, labels).between)
    yield np.sum(gaps**2), "This is what the friend's function returns."
    yield np.sum((two - two.mean(axis=0)) ** 2), "This is the total."


@answer("clustering-x05a", "the distances, L1 and L2 in the columns, as (2, 2)", 3)
def norms_of_a_turn():
    yield [[2, sqrt(2)], [sqrt(2), sqrt(2)]]
    yield [[sqrt(2), 2], [sqrt(2), sqrt(2)]], "L1 adds the absolute values."
    yield [[2, sqrt(2)], [2, sqrt(2)]], "The second point has one entry that is not 0."


@answer("clustering-x05b", "how many labels of K-medians change")
def medians_turned():
    from mlnotes.clustering import k_medians

    two, _ = two_wines()
    c = sqrt(0.5)
    turned = two @ np.array([[c, -c], [c, c]]).T
    *_, before = k_medians(two, two[[0, 60, 120]])
    *_, after = k_medians(turned, turned[[0, 60, 120]])
    yield np.sum(before.labels != after.labels)
    yield 0, "This is so for K-means, or if the samples are not rotated."


@answer("clustering-x07", "J for the labels by_proline", 3)
def pairs_in_clusters():
    two, labels = two_wines()
    groups = [two[labels == k] for k in range(3)]
    doubled = sum(np.sum((g[:, None] - g) ** 2) / len(g) for g in groups)
    yield doubled / 2
    yield doubled, "Every pair stands twice in the double sum."


# --- 6 to 10 ---------------------------------------------------------------------------


def em_by_hand():
    """The responsibilities of exercise 1, and the new weights and components."""
    from mlnotes.mixture import e_step, gaussians, maximise

    x = np.array([[0.0], [1.0], [4.0]])
    start = gaussians([[0.0], [2.0]], [1.0, 1.0])
    R, _ = e_step(x, np.array([0.5, 0.5]), start)
    return x, R, *maximise(x, R, start)


@answer("mixture-x01a", "the responsibilities of component 1 for the three samples", 3)
def responsibilities():
    x, R, _, _ = em_by_hand()
    densities = np.exp(-(x**2) / 2) / sqrt(2 * pi)
    yield R[:, 0]
    yield R[:, 1], "These belong to component 2."
    yield densities / 2, "Divide by the sum over the two components."


@answer("mixture-x01b", "the two new weights and the two new means", 2)
def new_means():
    x, R, weights, new = em_by_hand()
    yield *weights, *new.means.ravel()
    yield (
        (*weights, *(R.T @ x[:, 0] / 3)),
        "The weights are right. Divide each mean by n_k, not by n.",
    )
    yield (*R.sum(axis=0), *new.means.ravel()), "The weights are shares: divide n_k by n."


@answer("mixture-x01c", "the two new variances", 2)
def new_variances():
    x, R, _, new = em_by_hand()
    n_k = R.sum(axis=0)
    old = np.sum(R * (x - [0, 2]) ** 2, axis=0) / n_k
    yield new.covariances.ravel()
    yield old, "Take the distances from the new means, not from the old ones."
    yield np.sqrt(new.covariances.ravel()), "These are standard deviations."


@answer("mixture-x03", "the two variances after 20 steps", 3)
def round_components():
    cancer = datasets.load_breast_cancer()
    names = "worst concave points", "worst radius"
    X = cancer.X[:, [cancer.feature_names.index(name) for name in names]] * [100, 1]
    weights, variances = np.array([0.5, 0.5]), np.array([25.0, 25.0])
    means = np.array([[5.0, 20.0], [20.0, 20.0]])
    for _ in range(20):
        squares = np.sum((X[:, None] - means) ** 2, axis=2)
        R = weights * np.exp(-squares / (2 * variances)) / variances
        R /= R.sum(axis=1, keepdims=True)
        n_k = R.sum(axis=0)
        weights, means = n_k / len(X), R.T @ X / n_k[:, None]
        squares = np.sum((X[:, None] - means) ** 2, axis=2)
        variances = np.sum(R * squares, axis=0) / (2 * n_k)
    yield variances
    yield np.sqrt(variances), "These are standard deviations."
    yield 2 * variances, "Each sample has d squares: divide by d as well."


@answer("mixture-x05", "the integral of the wrong density", 3)
def hidden_error():
    determinant = np.linalg.det([[2.0, 0.5], [0.5, 1.0]])
    yield 1 / determinant
    yield 1, "This is so for the right density only."
    yield determinant, "The integral of the exponential contains the root of the determinant below."
    yield (
        1 / sqrt(determinant),
        "One root comes from the integral, another one from the normaliser.",
    )


@answer("mixture-x09", "the numbers of steps for 10 X and for 100 X")
def steps_in_other_units():
    from mlnotes.mixture import e_step, em, gaussians

    cancer = datasets.load_breast_cancer()
    names = "worst concave points", "worst radius"
    X = cancer.X[:, [cancer.feature_names.index(name) for name in names]] * [100, 1]
    means, covariances = np.array([[18.0, 9.0], [8.0, 24.0]]), 25 * np.array([np.eye(2)] * 2)
    steps = []
    for c in (10, 100):
        before, start = np.inf, gaussians(c * means, c**2 * covariances)
        for t, state in enumerate(em(c * X, np.array([0.5, 0.5]), start)):
            total = np.exp(e_step(c * X, state.weights, state.components)[1]).sum()
            if abs(total - before) < 1e-4:
                steps.append(t)
                break
            before = total
    yield steps
    yield (29, 29), "The densities depend on the unit. Multiply the data and the start by c."
    yield (24, 24), "This is what the mended rule takes. The question is about the function."


@answer("generative-x01", "the probability of spam with alpha = 1, and with alpha = 0", 3)
def two_words():
    spam, ham = 0.4 * 4 / 6 * 1 / 6, 0.6 * 2 / 8 * 4 / 8
    yield spam / (spam + ham), 0
    yield (spam, 0), "Divide the joint density by the sum over both classes."
    yield (spam / 0.4 / (spam / 0.4 + ham / 0.6), 0), "The priors are missing."
    bare = 0.4 * 4 / 5 * 1 / 5, 0.6 * 2 / 7 * 4 / 7
    yield (bare[0] / sum(bare), 0), "A word has two values, and 1 is added to both counts."


@answer("generative-x02a", "the |x| from which it says class 1, for equal priors", 2)
def wide_class():
    yield sqrt(8 / 3 * log(2))
    yield 8 / 3 * log(2), "This is the square of x."
    yield sqrt(log(4) * 32 / 15), "4 is the variance of class 1, not its standard deviation."


@answer("generative-x02b", "the |x| from which it says class 1, for the prior 1/5", 2)
def wide_rare_class():
    yield sqrt(8 * log(2))
    yield 8 * log(2), "This is the square of x."
    yield sqrt(8 / 3 * log(2 * 5)), "The priors enter by their ratio: 4/5 to 1/5."
    yield sqrt(8 / 3 * log(2)), "This is the answer for equal priors."


@answer("generative-x02c", "the least prior of class 1 for which it always says class 1", 3)
def always_wide():
    yield 2 / 3
    yield 1 / 3, "This is the prior of the other class."
    yield 1 / 2, "At x = 0 the narrow density is twice as high."


@answer("generative-x03a", "the radius R", 3)
def ellipse():
    yield sqrt(-2 * log(0.01))
    yield -2 * log(0.01), "This is the square of R."
    yield 2.5758, "This holds in one dimension."


@answer("generative-x03b", "the share that it contains in 13 dimensions", 2)
def ellipsoid():
    from mlnotes.probability import gauss_legendre

    r, w = gauss_legendre(0, 12, 100)
    density = r**12 * np.exp(-(r**2) / 2)
    inside = r <= sqrt(-2 * log(0.01))
    yield (w * density)[inside].sum() / (w * density).sum()
    yield 0.99, "In 13 dimensions the mean of the squared length is 13."
    yield 0.99**13, "The entries of z enter together, not each with its own limit."


@answer("generative-x06a", "the mean test errors of QDA, LDA and naive Bayes", 3)
def three_models():
    from mlnotes.generative import GaussianNB, QuadraticDiscriminantAnalysis
    from mlnotes.generative import SharedCovarianceClassifier

    cancer = datasets.load_breast_cancer()
    errors = []
    for s in range(20):
        first, last = np.split(np.random.default_rng(s).permutation(569), [380])
        for make in (QuadraticDiscriminantAnalysis, SharedCovarianceClassifier, GaussianNB):
            fit = make().fit(cancer.X[first], cancer.y[first])
            errors.append([1 - fit.score(cancer.X[part], cancer.y[part]) for part in (last, first)])
    test, train = np.reshape(errors, (20, 3, 2)).mean(axis=0).T
    yield test
    yield train, "These are the errors on the tumours that the models were fitted to."


@answer("generative-x08", "how many labels change with M, for QDA, LDA and naive Bayes")
def which_models_care():
    from mlnotes.generative import GaussianNB, QuadraticDiscriminantAnalysis
    from mlnotes.generative import SharedCovarianceClassifier

    wine = datasets.load_wine()
    X, changed = wine.X[:, [0, 6]], []
    turned = X @ np.array([[1.0, 1.0], [1.0, -1.0]]).T
    for make in (QuadraticDiscriminantAnalysis, SharedCovarianceClassifier, GaussianNB):
        before, after = (make().fit(A, wine.y).predict(A) for A in (X, turned))
        changed.append(np.sum(before != after))
    yield changed
    yield (0, 0, 0), "One of the models depends on the directions of the axes."


LETTERS = np.arange(1.0, 8)[:, None], np.array(list("aababbb"))


@answer("neighbors-x01a", "the answers of 1-NN, 3-NN and 7-NN, such as 'a'", kind="words")
def seven_samples():
    from mlnotes.neighbors import knn_classify

    yield [knn_classify(np.array([[3.2]]), *LETTERS, k)[0] for k in (1, 3, 7)]
    yield ("b", "b", "b"), "Which are the three nearest, and what are their labels?"
    yield ("b", "a", "a"), "For k = 7 all samples vote."


@answer("neighbors-x01b", "the numbers of errors: left rule, right rule, smallest and largest")
def tie_rules():
    labels = LETTERS[1]
    left = np.append(labels[1], labels[:-1]) != labels
    right = np.append(labels[1:], labels[-2]) != labels
    errors = np.array([left.sum(), right.sum(), (left & right).sum(), (left | right).sum()])
    yield errors
    yield errors / 7, "Enter the numbers of errors, not the shares."
    yield errors[[0, 1, 3, 2]], "The last two are exchanged."
    yield errors[[0, 1, 0, 1]], "With fortune, each sample may take either of its neighbours."


@answer("neighbors-x02a", "the nearest for p = 1, 2 and infinity, such as 'A'", kind="words")
def three_norms():
    from mlnotes.neighbors import norm

    samples = np.array([[3.0, 3.0], [0.0, 4.1], [3.6, 1.2]])
    yield ["ABC"[norm(samples, p).argmin()] for p in (1, 2, np.inf)]
    yield ("B", "C", "B"), "For p = infinity the larger entry counts, not the smaller one."
    yield ("B", "C", "C"), "Compare the largest entries of A and C."


@answer("neighbors-x03", "the leave-one-out errors for k = 1, 2, 4, 7", 4)
def leave_a_wine_out():
    from mlnotes.neighbors import knn_classify, leave_one_out_errors

    X, y = wines(), datasets.load_wine().y
    ks = [1, 2, 4, 7]
    yield leave_one_out_errors(X, y, ks)
    seen = [np.mean(knn_classify(X, X, y, k) != y) for k in ks]
    yield seen, "Here each wine is its own neighbour: leave it out before you ask."


@answer("neighbors-x04b", "the error by reasoning, and what the function says", 2)
def doubled_points():
    yield 1, 0.5
    yield (0.5, 0.5), "What is the nearest other sample of each, and its label?"
    yield (1, 1), "What is the sorted list of the second of two equal samples?"
    yield (0.5, 1), "The two are exchanged."


@answer("neighbors-x05a", "the expected error for n = 60", 3)
def coins_and_bootstrap():
    yield (1 - 1 / 60) ** 60 / 2
    yield (1 - 1 / 60) ** 60, "A point that was not drawn is still right half of the time."
    yield 0.5, "A point that was drawn is its own nearest neighbour."
    yield (
        (1 - (1 - 1 / 60) ** 60) / 2,
        "Which points are right: those that were drawn, or the others?",
    )


@answer("neighbors-x05b", "the limit of the expected error", 3)
def coins_in_the_limit():
    yield exp(-1) / 2
    yield exp(-1), "A point that was not drawn is still right half of the time."
    yield (1 - exp(-1)) / 2, "Which points are right: those that were drawn, or the others?"
    yield (1 - 1 / 60) ** 60 / 2, "This is the value for n = 60."


@answer("neighbors-x08b", "for k = 16, the error without weights and with them", 4)
def weighted_neighbors():
    from mlnotes.neighbors import KNeighborsRegressor

    def f(x):
        return np.sin(2 * np.pi * x)

    curve = datasets.make_curve(60, f, sigma=0.3, rng=np.random.default_rng(5))
    t = np.linspace(0, 1, 201)[:, None]
    fits = [KNeighborsRegressor(n_neighbors=16, weights=w) for w in ("uniform", "distance")]
    predicted = [fit.fit(curve.X, curve.y).predict(t) for fit in fits]
    errors = np.mean((np.array(predicted) - f(t[:, 0])) ** 2, axis=1)
    yield errors
    yield errors[::-1], "The two are exchanged."
    yield np.sqrt(errors), "These are the roots of the mean squares."


def parabola(eta, start=1.0):
    """Three steps on x^2 - 6 x."""
    path = [start]
    for _ in range(3):
        path.append(path[-1] - eta * (2 * path[-1] - 6))
    return path[1:]


@answer("optimization-x01a", "x after the first, the second and the third step", 4)
def three_steps():
    yield parabola(0.25)
    yield parabola(-0.25), "These steps go uphill. What is the sign of the slope at 1?"
    yield [1, *parabola(0.25)[:2]], "The start does not count as a step."


@answer("optimization-x01b", "three steps with step size 1, then with 1.5, as (2, 3)", 4)
def too_long_steps():
    yield parabola(1), parabola(1.5)
    yield (parabola(-1), parabola(-1.5)), "These steps go uphill."
    yield (parabola(1.5), parabola(1)), "The two rows are exchanged."


@answer("optimization-x01c", "x after one step of Newton's method", 3)
def newton_by_hand():
    yield 1 - (2 * 1 - 6) / 2
    yield 1 + (2 * 1 - 6) / 2, "Subtract the slope divided by the curvature."
    yield 1 - (2 * 1 - 6), "Divide the slope by the curvature."


@answer("optimization-x01d", "whether step size 1 meets the rule, and 0.5: two of True and False")
def armijo():
    f = [(1 - 4 * -eta) ** 2 - 6 * (1 - 4 * -eta) for eta in (1, 0.5)]
    yield [value <= -5 - eta / 4 * 16 for value, eta in zip(f, (1, 0.5), strict=True)]
    yield (True, True), "The rule wants f to fall by a share of what the slope promises."
    yield (False, False), "For the smaller step, compare f there with the bound again."


@answer("optimization-x02a", "x_1, x_2 and the multiplier", 3)
def vitamins():
    from mlnotes.optimization import solve_qp

    found = solve_qp(2 * np.eye(2), np.zeros(2), G=[[1.0, 2.0]], h=[5.0])
    yield *found.x, found.lam[0]
    yield (*found.x, -found.lam[0]), "The multiplier of an inequality is not negative."
    yield (0, 0, 0), "This is the minimum without the constraint. Is it feasible?"
    yield (*found.x, found.lam[0] / 2), "The derivative of x^2 is 2 x."


@answer("optimization-x02c", "the cost of 5.1 grams by the multiplier, in euros", 3)
def vitamins_by_multiplier():
    yield 5 + 2 * 0.1
    yield 5.1**2 / 5, "This is the exact cost. The multiplier gives a straight line."
    yield 5 + 2, "Multiply by the change of the constraint."
    yield 5 - 2 * 0.1, "A stricter constraint cannot make it cheaper."


def widths():
    iris = datasets.load_iris()
    two = iris.y != "setosa"
    return iris.X[two, 3], np.where(iris.y[two] == "virginica", 1.0, -1.0)


@answer("optimization-x03", "kappa with the raw and with the centred widths", 0)
def valleys():
    from mlnotes.logistic_regression import irls, logistic_hessian

    found = []
    for x in (widths()[0], widths()[0] - widths()[0].mean()):
        A = np.column_stack([np.ones(100), x])
        least = list(irls(A, widths()[1].astype(int)))[-1].x
        bends = np.linalg.eigvalsh(logistic_hessian(A, least))
        found.append(bends[1] / bends[0])
    yield found
    yield found[::-1], "The two are exchanged."
    yield np.sqrt(found), "kappa is the ratio of the curvatures, not of the half axes."


def small_program():
    rng = np.random.default_rng(11)
    root = rng.normal(size=(3, 3))
    P, q = root @ root.T + np.eye(3), 3 * rng.normal(size=3)
    return P, q, rng.normal(size=(5, 3)), -rng.exponential(size=5)


@answer("optimization-x05", "the three entries of x", 3)
def qp_by_guessing():
    from mlnotes.optimization import solve_qp

    P, q, G, h = small_program()
    found = solve_qp(P, q, G=G, h=h)
    guess = int(np.argmax(found.lam))
    K = np.block([[P, -G[[guess]].T], [G[[guess]], np.zeros((1, 1))]])
    alone = np.linalg.solve(K, np.append(-q, h[guess]))[:3]
    yield found.x
    yield np.linalg.solve(P, -q), "This is the minimum without constraints. Is it feasible?"
    yield alone, "With this one constraint active, another one is violated."


@answer("optimization-x06b", "the two multipliers that solve_qp gives", 3)
def same_constraint_twice():
    from mlnotes.optimization import solve_qp

    right = solve_qp([[2.0]], [0.0], G=[[1.0], [1.0]], h=[1.0, 1.0]).lam
    yield right
    yield 2 * right, "The sum of both is the multiplier of a single constraint."
    yield (right.sum(), 0), "This pair is right as well, but the solver ends in the middle."
    yield (0, right.sum()), "This pair is right as well, but the solver ends in the middle."


@answer("optimization-x07c", "x after one, two and three steps of Newton's method from 0", 3)
def newton_for_ever():
    from mlnotes.optimization import newton

    way = newton(lambda x: np.exp(x[0]), np.exp, lambda x: np.diag(np.exp(x)), [0.0])
    right = [state.x[0] for state in islice(way, 1, 4)]
    yield right
    yield -np.array(right), "The slope is positive. To which side does the step go?"


@answer("optimization-x08a", "the smallest eigenvalue", 4)
def smallest_eigenvalue():
    spectrum = np.linalg.eigvalsh(np.corrcoef(datasets.load_wine().X.T))
    yield spectrum[0]
    yield spectrum[-1], "This is the largest one. The step was too long."
    yield (
        np.linalg.eigvalsh(np.cov(datasets.load_wine().X.T))[0],
        "Use correlations, not covariances.",
    )


@answer("optimization-x08b", "the eigenvalue that is found for c = 3", 4)
def overshooting():
    spectrum = np.linalg.eigvalsh(np.corrcoef(datasets.load_wine().X.T))
    yield spectrum[-1]
    yield spectrum[0], "The coordinate with the factor of largest absolute value wins."
    yield spectrum[-2], "Which of the factors is the largest in absolute value?"


FOUR = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 2.0, 5.0])


@answer("linear_regression-x01a", "w and b", 3)
def line_by_hand():
    from mlnotes.linear_regression import augment, normal_equations

    x, y = FOUR
    b, w = normal_equations(augment(x), y)
    yield w, b
    yield (b, w), "The slope comes first."
    yield (normal_equations(x, y)[0], 0), "This line is forced through the origin."
    yield (w, 2.5), "The line has the height of the mean of y at the mean of x, not at 0."


@answer("linear_regression-x01c", "the variance with n, and with n - d - 1", 3)
def noise_by_hand():
    yield 1.8 / 4, 1.8 / 2
    yield (1.8 / 2, 1.8 / 4), "The two are exchanged."
    yield (1.8 / 4, 1.8 / 3), "Two numbers were fitted: the slope and the offset."
    yield (1.8, 1.8), "This is the sum of the squares."


@answer("linear_regression-x02a", "the weights of least squares, ridge and the LASSO", 3)
def three_penalties():
    from mlnotes.linear_regression import lasso_path, normal_equations, ridge

    x, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, -1.0, 3.0])
    plain, shrunk = normal_equations(x, y)[0], ridge(x, y, 2.0)[0]
    yield plain, shrunk, lasso_path(x, y, [4.0])[0][0]
    yield (plain, shrunk, (5 - 4) / 2), "Only C/2 is subtracted: see the factor in the cost."
    yield (
        (plain, plain - 2 / 2, lasso_path(x, y, [4.0])[0][0]),
        "Ridge divides, it does not subtract.",
    )
    yield (plain, shrunk, 5 - 2), "Divide the weight of the LASSO by the square of the feature."


@answer("linear_regression-x02b", "the least C for which the LASSO weight is 0", 2)
def largest_penalty():
    from mlnotes.linear_regression import lasso_bound

    right = lasso_bound(np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, -1.0, 3.0]))
    yield right
    yield right / 2, "It is C/2 that is compared."
    yield right / 4, "This is the weight of least squares."


@answer("linear_regression-x03", "how many weights are not 0, for C = 5, 20 and 80")
def own_lasso():
    from mlnotes.linear_regression import lasso_path

    X = datasets.load_wine().X
    A, y = wines()[:, 1:], X[:, 0] - X[:, 0].mean()
    counts = [[np.count_nonzero(lasso_path(A, y, [C * c])[0]) for C in (5.0, 20.0, 80.0)]
              for c in (1, 2)]  # fmt: skip
    yield counts[0]
    yield counts[1], "Subtract C/2 from the size of rho, not C."
    yield (12, 12, 12), "A weight is exactly 0 where the size of rho is at most C/2."


@answer("linear_regression-x05", "how far the predictions move: least squares, Ridge, Lasso", 2)
def millimetres():
    from mlnotes.linear_regression import Lasso, LinearRegression, Ridge

    data = datasets.make_linear(40, w=[1.0, 1.0], sigma=0.3, rng=np.random.default_rng(1))
    moved = []
    for model in (LinearRegression(), Ridge(alpha=20.0), Lasso(alpha=0.5)):
        inputs = data.X, data.X * [1000, 1]
        before, after = (model.fit(A, data.y).predict(A) for A in inputs)
        moved.append(np.abs(before - after).max())
    yield moved
    yield (0, 0, 0), "A penalty compares weights, and their units have changed."


@answer("linear_regression-x07c", "the mean, and the least and the largest minimiser", 3)
def laplace_noise():
    y = np.sort(np.random.default_rng(4).laplace(loc=1.0, size=10))
    yield y.mean(), y[4], y[5]
    yield (y.mean(), y[:5].mean(), y[5:].mean()), "Only the two samples in the middle matter."
    yield (np.median(y), y[4], y[5]), "The first number is what least squares gives."


@answer("linear_regression-x09a", "the factor by which the cost is too large")
def half_times_n():
    yield 178**2
    yield 178, "It multiplies by n where it should divide by n. Both count."
    yield 178**2 / 2, "The half stands in both forms."
    yield 178 / 2, "Divide the suspicious cost by the right one."


@answer("linear_regression-x09c", "how many weights are 0: broken penalty, LASSO")
def selected_by_the_wrong_norm():
    from mlnotes.linear_regression import lasso_path, normal_equations, ridge

    X = datasets.load_wine().X
    A, y = wines()[:, 1:], X[:, 0] - X[:, 0].mean()
    w = normal_equations(A, y)
    for _ in range(200):
        w = ridge(A, y, 20 / (2 * np.linalg.norm(w)))
    kept = np.count_nonzero(w), np.count_nonzero(lasso_path(A, y, [20.0])[0])
    yield 12 - kept[0], 12 - kept[1]
    yield kept, "These are the weights that are not 0."
    yield (12 - kept[1], 12 - kept[1]), "The first equation is that of ridge. Are its weights 0?"


# --- 11 to 15 --------------------------------------------------------------------------


@answer("logistic_regression-x01a", "the score, the odds and the probability", 3)
def patient():
    score = -7 + 0.08 * 60 + 0.012 * 200
    odds = exp(score)
    yield score, odds, odds / (1 + odds)
    yield (score, odds, 1 / (1 + odds)), "This is the probability of survival."
    yield (score - 0.8, exp(score - 0.8), 1 / (1 + exp(0.8 - score))), "The patient is a man."
    yield (score, score, odds / (1 + odds)), "The score is the logarithm of the odds."


@answer("logistic_regression-x01b", "the number of years", 2)
def doubled_odds():
    yield log(2) / 0.08
    yield 1 / 0.08, "The odds are multiplied by e^0.08 in a year, and should be multiplied by 2."
    yield 2 / 0.08, "Take the logarithm of the factor."
    yield 0.30103 / 0.08, "The odds are a power of e: take the natural logarithm."


@answer("logistic_regression-x01c", "the age", 1)
def even_odds():
    yield (7 - 2.4) / 0.08
    yield (
        (7 + 2.4) / 0.08,
        "Cholesterol raises the score. Check the sign when you solve for the age.",
    )
    yield (7 - 2.4 - 1) / 0.08, "At a probability of 1/2 the odds are 1. What is the score?"
    yield 7 / 0.08, "The cholesterol is still 200."


@answer("logistic_regression-x01d", "the number of years", 2)
def older_woman():
    yield 0.8 / 0.08
    yield 0.8, "Divide by what one year adds to the score."
    yield exp(0.8), "Compare the scores; no exponential is needed."
    yield -0.8 / 0.08, "She must be older, not younger."


def four_scores():
    from mlnotes.linear_regression import augment
    from mlnotes.logistic_regression import (
        logistic_gradient,
        logistic_hessian,
        working_response,
    )

    A, y, zero = augment(np.array([[-2.0], [-1], [1], [2]])), np.array([-1, 1, -1, 1]), np.zeros(2)
    r, _ = working_response(A, y, zero)
    return logistic_gradient(A, y, zero), logistic_hessian(A, zero), r


@answer("logistic_regression-x02a", "the Hessian, as (2, 2)", 3)
def hessian_by_hand():
    _, H, _ = four_scores()
    yield H
    yield 4 * H, "Each sample has the weight h (1 - h)."
    yield 2 * H, "The weight of a sample is h (1 - h), not h."


@answer("logistic_regression-x02b", "b and w after the gradient step", 3)
def ascent_by_hand():
    g, _, _ = four_scores()
    yield -0.2 * g
    yield 0.2 * g, "This step makes the log-loss larger."
    yield -g, "Multiply by the step size."


@answer("logistic_regression-x02c", "b and w after the Newton step", 3)
def newton_step():
    g, H, _ = four_scores()
    yield -np.linalg.solve(H, g)
    yield np.linalg.solve(H, g), "This step makes the log-loss larger."
    yield -H @ g, "Divide by the Hessian."


@answer("logistic_regression-x02d", "the four working responses", 3)
def responses_by_hand():
    _, _, r = four_scores()
    yield r
    yield -r, "The error is z - h, not h - z."
    yield r / 4, "Divide z - h by h (1 - h)."
    yield 2 * r, "z - h is 1/2 in size."


@answer("logistic_regression-x03", "the lower end of the interval", 3)
def below_the_step():
    yield -log(exp(1) - 1)
    yield log(exp(1) - 1), "For which t is the 0-1 loss 1?"
    yield 1 - exp(1), "Take the logarithm once more."
    yield 0, "This is the upper end."


def tumours_2():
    cancer = datasets.load_breast_cancer()
    y = np.where(cancer.y == "malignant", 1, -1)
    names = ["worst radius", "worst texture"]
    two = cancer.X[:, [cancer.feature_names.index(name) for name in names]]
    return np.column_stack([np.ones(569), (two - two.mean(axis=0)) / two.std(axis=0)]), y


@answer("logistic_regression-x04", "theta after 10 steps", 3)
def own_irls():
    from mlnotes.logistic_regression import irls

    steps = [state.x for state in irls(*tumours_2())]
    yield steps[-1]
    yield steps[1], "This is theta after one step."
    yield -steps[-1], "All signs are turned: the labels 1 are the malignant ones."


@answer("logistic_regression-x05", "the right gradient at the point of the hint", 3)
def mended_gradient():
    from mlnotes.logistic_regression import logistic_gradient

    A, y = tumours_2()
    theta = np.array([0.5, -1.0, 2.0])
    right, plain = logistic_gradient(A, y, theta, 3), logistic_gradient(A, y, theta)
    yield right
    yield 2 * plain - right, "This is what the broken function returns."
    yield plain, "The penalty has a gradient, too."
    yield (right + plain) / 2, "The derivative of a square contains a factor 2."


@answer("logistic_regression-x06b", "the infimum of F", 4)
def touching_classes():
    yield 4 * log(2)
    yield 5 * log(2), "This is F at 0. The last sample can cost less."
    yield 0, "Two equal samples with opposite labels always cost something."
    yield 2 * log(2), "There are two pairs of such samples."


@answer("logistic_regression-x07", "the share of deaths among all patients, and among the women", 4)
def books_balance():
    from mlnotes.linear_regression import augment
    from mlnotes.logistic_regression import irls, sigmoid

    patients = datasets.make_patients(1000, rng=np.random.default_rng(1))
    A = augment(patients.X / [10, 1, 100])
    h, women = sigmoid(A @ list(irls(A, patients.y))[-1].x), patients.X[:, 1] == 1
    yield h.mean(), h[women].mean()
    yield (h.mean(), h[~women].mean()), "Column 2 is 1 for women: this is the share of the men."
    yield (h.mean(), h[women].sum() / 1000), "Divide by the number of women."


@answer("logistic_regression-x08a", "by how much b changes, for gamma = 0.1", 3)
def fewer_survivors():
    yield -log(0.1)
    yield log(0.1), "Among those who are kept, deaths are more frequent."
    yield 1, "Take the natural logarithm."
    yield 1 / 0.1, "The odds are multiplied by this. What happens to their logarithm?"


SIGNED = np.array([[-1.0, 2.0], [1.0, 2.0], [-3.0, 1.0], [3.0, -3.0]]), np.array([1, 1, -1, -1])


@answer("perceptron-x01a", "the last w and the number of mistakes, as three numbers")
def passes_by_hand():
    from mlnotes.perceptron import updates

    *_, last = updates(*SIGNED)
    yield *last.w, last.made
    yield (-1, 4, 3), "This is the state after one pass. Go on until a pass has no mistake."
    yield (*last.w, last.made - 1), "At w = 0 the first sample is a mistake, too."


@answer("perceptron-x01b", "the bound on the number of mistakes")
def bound_by_hand():
    from mlnotes.perceptron import mistake_bound

    yield mistake_bound(*SIGNED, np.array([2.0, 3.0]))
    yield 18 * 13 / 3, "Divide by the square of the smallest product."
    yield sqrt(18 * 13 / 9), "The bound contains squared lengths."
    yield 5 * 13 / 9, "M belongs to the longest sample."


@answer("perceptron-x02", "the bound in (a), the mistakes in (b), the bound in (c)")
def bad_start():
    from mlnotes.perceptron import mistake_bound, mistake_bound_from, updates

    x, y, w, start = np.array([[1.0]]), np.array([1]), np.array([1.0]), np.array([-5.0])
    bounds = mistake_bound(x, y, w), mistake_bound_from(x, y, w, start)
    *_, last = updates(x, y, start)
    yield bounds[0], last.made, bounds[1]
    yield (bounds[0], last.made - 1, bounds[1]), "At w = 0 the score is 0. Is that right or wrong?"
    yield (bounds[0], last.made, 2 * -start[0]), "On the right side of line (3) k occurs as well."


def setosas():
    """The rows (1, x), ten times, of setosa and versicolor, and their labels."""
    iris = datasets.load_iris()
    two = iris.y != "virginica"
    return iris.X[two][:, 2:], np.where(iris.y[two] == "setosa", 1, -1)


@answer("perceptron-x03", "the three weights and the number of mistakes")
def own_perceptron():
    from mlnotes.linear_regression import augment
    from mlnotes.perceptron import updates

    petals, y = setosas()
    *_, last = updates(np.round(10 * augment(petals)), y)
    *_, small = updates(augment(petals), y)
    yield *last.w, last.made
    yield (*small.w, small.made), "Use the rows of A, which are ten times as long."
    yield (*-last.w, last.made), "Bit 1 stands for setosa."


EIGHT = np.array([[-1.0, 3], [2, 2], [3, -1], [5, 5], [-4, 4], [3, -2], [-3, 1], [3, -3]])
EIGHT_LABELS = np.array([1, 1, 1, 1, 1, -1, -1, -1])


@answer("perceptron-x04b", "y f of the eight samples", 2)
def adaline_scores():
    A = np.column_stack([np.ones(8), EIGHT])
    f = A @ np.linalg.lstsq(A, EIGHT_LABELS, rcond=None)[0]
    yield EIGHT_LABELS * f
    yield f, "These are the scores. Multiply each by its label."
    bare = EIGHT @ np.linalg.lstsq(EIGHT, EIGHT_LABELS, rcond=None)[0]
    yield EIGHT_LABELS * bare, "The constant feature is missing."


@answer("perceptron-x04d", "the limit of the step size", 4)
def largest_step():
    from mlnotes.perceptron import adaline_max_eta

    A = np.column_stack([np.ones(8), EIGHT])
    limit = adaline_max_eta(A)
    yield limit
    yield limit / 2, "The error may also change its sign in a step, as long as it shrinks."


@answer("perceptron-x05b", "the number of mistakes and the last b, in millimetres")
def in_millimetres():
    from mlnotes.linear_regression import augment
    from mlnotes.perceptron import updates

    petals, y = setosas()
    *_, last = updates(augment(np.round(10 * petals)), y)
    *_, whole = updates(np.round(10 * augment(petals)), y)
    yield last.made, last.w[0]
    yield (whole.made, whole.w[0]), "Here the constant feature was multiplied, too. Keep it 1."
    yield (last.made, -last.w[0]), "The label 1 is setosa."


@answer("perceptron-x05d", "the number of mistakes with centred centimetres")
def centred_petals():
    from mlnotes.linear_regression import augment
    from mlnotes.perceptron import updates

    petals, y = setosas()
    yield list(updates(augment(petals - petals.mean(axis=0)), y))[-1].made
    yield list(updates(augment(petals), y))[-1].made, "This is the number without centring."


@answer("perceptron-x07", "the number of updates for tau = 0, M and 100 M")
def thresholds():
    petals, y = setosas()
    Z = y[:, None] * np.round(10 * np.column_stack([np.ones(100), petals]))

    def made(tau):
        w, count, before = np.zeros(3), 0, -1
        while count > before:
            before = count
            for z in Z:
                if w @ z <= tau:
                    w, count = w + z, count + 1
        return count

    M = np.max(np.sum(Z**2, axis=1))
    yield [made(tau) for tau in (0, M, 100 * M)]
    yield [made(tau) for tau in (0, sqrt(M), 100 * sqrt(M))], "M is the largest squared length."


def fisher_samples():
    X = np.array([[1.0, 1], [3, 2], [2, 3], [3, 2], [5, 3], [4, 4]])
    return X, np.array([0, 0, 0, 1, 1, 1])


@answer("discriminant-x01a", "Fisher's direction (any multiple counts)", 3, "scale")
def fisher_by_hand():
    from mlnotes.discriminant import class_means, fisher_direction, within_scatter

    X, y = fisher_samples()
    S, means = within_scatter(X, y), class_means(X, y)
    yield fisher_direction(S, means)
    yield means[1] - means[0], "This is the direction of the means."
    yield S @ (means[1] - means[0]), "Multiply by the inverse of the scatter matrix."
    yield (0, 1), "The entries are exchanged."


@answer("discriminant-x01b", "the ratio J for the direction of the means", 3)
def ratio_of_means():
    from mlnotes.discriminant import fisher_ratio

    X, y = fisher_samples()
    right = fisher_ratio(X, y, [2.0, 1.0])
    yield right
    yield fisher_ratio(X, y, [1.0, 0.0]), "This is J for Fisher's direction."
    yield right / 5, "The numerator is the square of the projected difference."
    yield 2 * right, "The scatter matrix is the sum over both classes."


@answer("discriminant-x01c", "the within scatter S_W, as (2, 2)", 3)
def scatter_by_hand():
    from mlnotes.discriminant import within_scatter

    X, y = fisher_samples()
    S = within_scatter(X, y)
    yield S
    yield S / 2, "Add the matrices of both classes."
    yield S / 6, "Scatter matrices are sums, not means."
    yield (
        (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)),
        "Subtract from each sample the mean of its class.",
    )


NORMALS = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[2.0, 1.0], [1.0, 1.0]])


@answer("discriminant-x02a", "w_1, w_2, b and the error", 3)
def bayes_by_hand():
    from mlnotes.discriminant import direction_error

    means, Sigma = NORMALS
    w = np.linalg.solve(Sigma, means[1])
    b, error = -w @ means[1] / 2, direction_error(w, means, Sigma)
    yield *w, b, error
    yield (*w, -b, error), "Check the sign of b: at the midpoint the score is 0."
    yield (*w, b, 0.02275), "Half of the distance enters the error."
    yield (*(Sigma @ means[1]), b, error), "Multiply the difference by the inverse of Sigma."


@answer("discriminant-x02b", "the error on the direction of the means", 3)
def means_by_hand():
    from mlnotes.discriminant import direction_error

    means, Sigma = NORMALS
    yield direction_error(means[1], means, Sigma)
    yield direction_error(np.linalg.solve(Sigma, means[1]), means, Sigma), "This is Fisher's error."
    yield 0.07865, "The cut is halfway, so half of the difference enters."


@answer("discriminant-x02c", "the score w^T x + b at the midpoint, for pi_1 = 0.1", 3)
def rare_class():
    yield log(0.1 / 0.9)
    yield -log(0.1 / 0.9), "Class 1 is the rare one."
    yield 0, "This is the score for equal priors."
    yield log(0.1), "The ratio of the priors enters."


@answer("discriminant-x03", "how many tumours are on the wrong side")
def own_fisher_rule():
    from mlnotes.discriminant import threshold_rule

    cancer = datasets.load_breast_cancer()
    y = (cancer.y == "malignant").astype(int)
    w, b = threshold_rule(cancer.X, y)
    wrong = [np.sum((cancer.X @ w + each > 0) != y) for each in (b, b - log(212 / 357))]
    yield wrong[0]
    yield wrong[1], "The logarithm of the ratio of the priors is missing in b."


@answer("discriminant-x04a", "the largest entry of S_T - S_W - S_B for broken_between", 2)
def class_sizes_off_by_one():
    from mlnotes.discriminant import between_scatter, class_means, within_scatter

    iris = datasets.load_iris()
    _, n_k = np.unique(iris.y, return_counts=True)
    means = class_means(iris.X, iris.y)
    gaps = means - iris.X.mean(axis=0)
    off = between_scatter(n_k, means) - (gaps.T * [50, 50, 0]) @ gaps
    yield np.abs(off).max()
    yield 0, "This holds for the right sizes. Which size does the last class get?"
    yield np.abs(off + within_scatter(iris.X, iris.y)).max(), "S_W belongs to the sum, too."


@answer("discriminant-x05", "the fit at the mean of all, and halfway between the class means", 4)
def label_fit():
    from mlnotes.discriminant import label_regression

    iris = datasets.load_iris()
    two = iris.y != "setosa"
    X, y = iris.X[two][:60][:, [0, 2]], (iris.y[two][:60] == "virginica").astype(int)
    w, b = label_regression(X, y, (-1, 1))
    halfway = (X[:50].mean(axis=0) + X[50:].mean(axis=0)) / 2 @ w + b
    fit = X.mean(axis=0) @ w + b
    yield fit, halfway
    yield (fit, 0), "This holds only if both classes are equally large."
    yield (-fit, -halfway), "The larger class has the target -1."


@answer("discriminant-x06", "J of the regularised direction, in cm and with 0.1 mm", 4)
def units_of_fisher():
    from mlnotes.discriminant import class_means, fisher_direction, fisher_ratio
    from mlnotes.discriminant import regularised_direction, within_scatter

    iris = datasets.load_iris()
    two = iris.y != "setosa"
    y, found = (iris.y[two] == "virginica").astype(int), []
    for unit in (1.0, 100.0):
        X = iris.X[two][:, [0, 2]] * [1.0, unit]
        S, means = within_scatter(X, y), class_means(X, y)
        directions = regularised_direction(S, means, 10.0), fisher_direction(S, means)
        found.append([fisher_ratio(X, y, w) for w in directions])
    yield np.array(found)[:, 0]
    yield np.array(found)[:, 1], "This is J of Fisher's own direction."


@answer("learning_theory-x01a", "the lower and the upper end of the interval", 3)
def one_rule():
    from mlnotes.learning_theory import uniform_radius

    t = uniform_radius(200, 0.05)
    yield 0, 0.07 + t
    yield (0.07 - t, 0.07 + t), "A risk cannot be that small."
    yield (
        (0, 0.07 + sqrt(log(20) / 400)),
        "The error may lie on both sides: 2 belongs into the logarithm.",
    )
    yield (0, 0.07 + sqrt(log(40) / 200)), "The bound has 2 n in the denominator."


@answer("learning_theory-x01b", "the number of patients")
def patients_needed():
    from mlnotes.learning_theory import hoeffding_sample_size

    right = hoeffding_sample_size(0.02, 0.05)
    yield right
    yield right - 1, "This is not quite enough: round up."
    yield (
        np.ceil(log(20) / (2 * 0.02**2)),
        "The error may lie on both sides: 2 belongs into the logarithm.",
    )
    yield np.ceil(log(40) / (2 * 0.02)), "The width enters with its square."


@answer("learning_theory-x01c", "the lower and the upper end of the interval", 3)
def best_of_fifty():
    from mlnotes.learning_theory import uniform_radius

    yield 0, 0.07 + uniform_radius(200, 0.05, m=50)
    yield (
        (0, 0.07 + uniform_radius(200, 0.05)),
        "All of the compared rules must be near their risks.",
    )
    yield (
        (0.07 - uniform_radius(200, 0.05, m=50), 0.07 + uniform_radius(200, 0.05, m=50)),
        ("A risk cannot be that small."),
    )


@answer("learning_theory-x02a", "the error of the tightest rectangle", 3)
def tight_rectangle():
    from mlnotes.learning_theory import Box, box_error, tightest_box

    X, target = (
        np.array([[2, 3], [5, 1], [4, 6]]) / 10,
        Box(np.array([0.1, 0.0]), np.array([0.6, 0.7])),
    )
    right = box_error(tightest_box(X, np.ones(3)), target)
    yield right
    yield 100 * right, "This is an area. Divide by the area of the square."
    yield 0.15, "This is the probability of the learnt rectangle."
    yield right / 0.35, "Divide by the area of the square, not of the target."


@answer("learning_theory-x02b", "the error with the fourth example", 4)
def tighter_rectangle():
    from mlnotes.learning_theory import Box, box_error, tightest_box

    X = np.array([[2, 3], [5, 1], [4, 6], [1.5, 6.5]]) / 10
    target = Box(np.array([0.1, 0.0]), np.array([0.6, 0.7]))
    yield box_error(tightest_box(X, np.ones(4)), target)
    yield box_error(tightest_box(X[:3], np.ones(3)), target), "This is the error of three examples."
    yield 0.1925, "This is the probability of the learnt rectangle."


@answer("learning_theory-x02c", "the number of examples")
def examples_of_a_rectangle():
    right = np.ceil(4 / 0.2 * log(4 / 0.1))
    yield right
    yield right - 1, "This is not quite enough: round up."
    yield np.ceil(1 / 0.2 * log(1 / 0.1)), "A rectangle has one strip at each of its sides."
    yield np.ceil(4 / 0.2 * log(4 / 0.9)), "delta is the probability of failing."


@answer("learning_theory-x03a", "the missing labelling, as three labels")
def missing_labelling():
    from mlnotes.learning_theory import box_realises, dichotomies

    table = dichotomies(np.arange(3.0)[:, None], box_realises)
    there = {tuple(row) for row in np.asarray(table, dtype=int).tolist()}
    (right,) = set(product((0, 1), repeat=3)) - there
    yield right
    yield (0, 1, 0), "An interval around the point in the middle does this."
    yield (0, 0, 0), "An interval may lie beside all points."


@answer("learning_theory-x03b", "the number of labellings of n = 10 points by intervals")
def labellings_by_intervals():
    from mlnotes.learning_theory import sauer_bound

    right = sauer_bound(10, 2)
    yield right
    yield right - 1, "The block may also be empty."
    yield right - 10, "A block may also have one point."
    yield 2**10, "Not all labellings occur: the 1s are a block of neighbours."


@answer("learning_theory-x04", "the VC dimension, and the number of labellings of seven points")
def two_intervals():
    from mlnotes.learning_theory import sauer_bound

    blocks = [sum(b > a for a, b in zip((0, *y), y)) for y in product((0, 1), repeat=7)]  # noqa: B905
    yield 4, sum(count <= 2 for count in blocks)
    yield (5, sauer_bound(7, 5)), "Of five points one labelling is missing."
    yield (4, 2**7), "Three blocks of 1s do not fit into the intervals."
    yield (2, sauer_bound(7, 2)), "This holds for one interval."


@answer("learning_theory-x06a", "the probability for n = 60 and epsilon = 0.1", 4)
def interval_learner():
    yield 0.9**60 + 60 * 0.1 * 0.9**59
    yield 0.9**60, "The second term is missing: one example may be in the gaps."
    yield 2 * 0.95**60, "This is the union bound over the two gaps. The formula is exact."
    yield 0.9**60 + 60 * 0.9**59, "The second term has a factor epsilon."


@answer("learning_theory-x06b", "the least n")
def least_examples():
    exact = [0.9**n + n * 0.1 * 0.9 ** (n - 1) for n in range(1, 100)]
    right = 1 + int(np.argmax(np.array(exact) <= 0.05))
    yield right
    yield right - 1, "This is one too few."
    yield np.ceil(20 * log(40)), "This is the bound. The exact probability needs fewer."
    yield np.ceil(log(0.05) / log(0.9)), "The second term of the formula is missing."


@answer("learning_theory-x07b", "the number of concepts for d = 10")
def conjunctions():
    yield 3**10 + 1
    yield 3**10, "The empty set is a concept, too."
    yield 4**10, "All lists with a bit and its negation are the same concept."
    yield 2**10, "Each bit may also be left free."


@answer("learning_theory-x07c", "the numbers of examples from (a), and from walk 8")
def examples_of_conjunctions():
    parts, concepts = 20 / 0.1 * log(20 / 0.05), 10 * log((3**10 + 1) / 0.05)
    yield np.ceil(parts), np.ceil(concepts)
    yield (np.floor(parts), np.floor(concepts)), "This is not quite enough: round up."
    yield (np.ceil(10 / 0.1 * log(10 / 0.05)), np.ceil(concepts)), "Each bit has two literals."


@answer("learning_theory-x08b", "the means over the smooth targets, in the order of the text", 4)
def free_lunch():
    from mlnotes.learning_theory import all_labellings, expected_errors
    from mlnotes.learning_theory import majority, memoriser, nearest_neighbor

    smooth = np.sum(np.diff(all_labellings(4), axis=1) != 0, axis=1) <= 1
    learners = memoriser, majority, nearest_neighbor
    J = np.array([expected_errors(learner, 2, np.full(4, 0.25)) for learner in learners])
    yield J[:, smooth].mean(axis=1)
    yield J[:, ~smooth].mean(axis=1), "These are the means over the other targets."
    yield J.mean(axis=1), "These are the means over all targets."


@answer("model_selection-x01", "err_1, err_2, e_cv and the plain mean", 2)
def two_parts():
    y = np.array([1.0, 2, 3, 4, 10])
    losses = np.append((y[:3] - y[3:].mean()) ** 2, (y[3:] - y[:3].mean()) ** 2)
    parts = losses[:3].mean(), losses[3:].mean()
    yield *parts, losses.mean(), np.mean(parts)
    yield (*parts, np.mean(parts), losses.mean()), "The last two are exchanged."
    own = np.append(y[:3] - y[:3].mean(), y[3:] - y[3:].mean()) ** 2
    means = own[:3].mean(), own[3:].mean()
    yield (*means, own.mean(), np.mean(means)), "Predict each part by the mean of the other one."
    yield (*parts, np.mean(parts), np.mean(parts)), "In e_cv each sample has the same weight."


@answer("model_selection-x02c", "the leave-one-out error", 2)
def leave_one_label_out():
    from mlnotes.model_selection import leave_one_out_shortcut

    y = np.array([1.0, 2.0, 6.0])
    yield leave_one_out_shortcut(np.full((3, 3), 1 / 3), y)
    yield y.var(), "This is the training error."
    yield y.var() * 3 / 2, "The factor n / (n - 1) enters with its square."
    yield 3 * y.var() * 9 / 4, "The error is a mean over the samples, not a sum."


@answer("model_selection-x03c", "the best gamma and its expected squared error", 3)
def shrunk_mean():
    gamma = 1 / (1 + 4 / 4)
    yield gamma, (1 - gamma) ** 2 + gamma**2
    yield (1, 1), "This is the mean itself. Set the derivative to 0."
    yield (1 / (1 + 4), 0.8), "The variance of a mean of n labels is smaller than that of one."
    yield (gamma, gamma**2), "The bias counts as well."


@answer("model_selection-x04", "e_cv and the plain mean of the errors", 5)
def own_cross_validation():
    from mlnotes.neighbors import KNeighborsClassifier

    iris, errors = datasets.load_iris(), []
    parts = np.array_split(np.random.default_rng(14).permutation(150), 4)
    for part in parts:
        others = np.setdiff1d(np.arange(150), part)
        model = KNeighborsClassifier(5).fit(iris.X[others], iris.y[others])
        errors.append(np.mean(model.predict(iris.X[part]) != iris.y[part]))
    pooled, plain = np.dot(errors, [len(part) for part in parts]) / 150, np.mean(errors)
    yield pooled, plain
    yield (plain, pooled), "The two are exchanged."
    yield (plain, plain), "In e_cv each sample has the same weight, and the parts differ in size."
    seen = KNeighborsClassifier(5).fit(iris.X, iris.y).score(iris.X, iris.y)
    yield (1 - seen, 1 - seen), "This is the training error."


@answer("model_selection-x06b", "the mean share of 20 samples that a right set holds", 3)
def bootstrap_share():
    yield 1 - (1 - 1 / 20) ** 20
    yield (1 - 1 / 20) ** 20, "This is the share that it does not hold."
    yield 1 - exp(-1), "This is the limit for many samples."
    yield 1, "This is so for a permutation."


@answer("model_selection-x07", "the optimism for k = 1, 3 and 5, with sigma = 0.3", 4)
def optimism_of_neighbors():
    k, sigma2 = np.array([1, 3, 5]), 0.3**2
    yield 2 * sigma2 / k
    yield sigma2 / k, "This is the variance."
    yield 2 * sigma2 / k**2, "What is the trace of S?"
    yield 2 * 0.3 / k, "The variance of the noise enters, not its standard deviation."


# --- 16 to 20 --------------------------------------------------------------------------


@answer("neural_networks-x01b", "the nine derivatives: W_1 by rows, b_1, W_2, b_2", 3)
def derivatives_by_hand():
    from mlnotes.neural_networks import RELU, backpropagate, network, pack

    layers = [(np.array([[1.0, -1], [1, 1]]), np.array([0.0, -1])), (np.array([[2.0, 1]]), 0.0)]
    x, y = np.array([[1.0, 2]]), np.array([[1.0]])
    right = pack(backpropagate(network((2, 2, 1), RELU), layers, x, y)[1])
    yield right
    yield (2, 4, 1, 2, 2, 1, 0, 2, 1), "One of the hidden units is off. What is its slope?"
    yield -right, "delta is f - y at the output."
    yield (0, 1, 0, 2, 0, 1, 0, 2, 1), "The derivatives by W_1 are transposed."


@answer("neural_networks-x01c", "the loss before and after the step", 4)
def step_by_hand():
    yield 1 / 2, (0.8 * 1.4 - 0.1 - 1) ** 2 / 2
    yield (1, (0.8 * 1.4 - 0.1 - 1) ** 2), "The loss has a factor 1/2."
    yield (1 / 2, (0.8 * 2 - 0.1 - 1) ** 2 / 2), "The first layer moves as well."
    yield (1 / 2, (1.2 * 2.6 + 0.1 - 1) ** 2 / 2), "These steps go uphill."


@answer(
    "neural_networks-x02b", "the factors of the hat's three ReLUs, for the kinks from left to right"
)
def hat():
    kinks = np.array([-1.0, 0, 1])
    points = np.array([0.0, 1, 2])
    yield np.linalg.solve(np.maximum(0, points[:, None] - kinks), np.maximum(0, 1 - points))
    yield (1, -1, 0), "Here the hat stays up. Its slope must change at all of the kinks."
    yield (1, -1, 1), "By how much does the slope change at the top?"


@answer("neural_networks-x04a", "the multiplications on the way forward")
def forward_cost():
    yield 784 * 300 + 300 * 10
    yield 784 * 300 + 300 * 10 + 310, "Leave out the biases."
    yield 784 + 300 + 10, "Every output of a layer needs all of its inputs."


@answer("neural_networks-x04b", "the multiplications on the way back")
def backward_cost():
    weights = 784 * 300 + 300 * 10
    yield weights + 300 * 10
    yield 2 * weights, "The input needs no delta."
    yield weights, "The delta of the hidden layer costs something, too."


@answer("neural_networks-x04c", "the multiplications with central differences", -6)
def difference_cost():
    weights = 784 * 300 + 300 * 10
    yield 2 * (weights + 310) * weights
    yield (weights + 310) * weights, "A central difference needs two passes."
    yield 2 * weights, "Each parameter needs passes of its own."


@answer("neural_networks-x04d", "the factor, to thousands", -3)
def difference_factor():
    weights = 784 * 300 + 300 * 10
    whole = 2 * (weights + 310) * weights
    yield whole / (2 * weights + 3000)
    yield whole / weights, "Backpropagation goes forward and back."
    yield whole / (weights + 3000), "Backpropagation goes forward and back."


@answer("neural_networks-x05a", "whether W_1, b_1, W_2 and b_2 are wrong: four of True and False")
def wrong_parts():
    from mlnotes.neural_networks import TANH, backpropagate, network, normal_start

    net, rng = network((2, 3, 1), TANH), np.random.default_rng(6)
    layers = normal_start(net.sizes, rng=rng)
    X, Y = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    (W1, b1), (W2, b2) = layers
    H = np.tanh(X @ W1.T + b1)
    D2 = (H @ W2.T + b2 - Y) / 5
    D1 = (D2 @ W2) * (1 - H) ** 2
    found = D1.T @ X, D1.sum(axis=0), D2.T @ H, D2.sum(axis=0)
    true = [part for pair in backpropagate(net, layers, X, Y)[1] for part in pair]
    wrong = [not np.allclose(a, b, atol=1e-4) for a, b in zip(found, true, strict=True)]
    yield wrong
    yield np.logical_not(wrong), "True should stand for a part that is wrong."


@answer("neural_networks-x06", "h (1 - h) for a_1 = 0.3 and a_2 = 1.1", 3)
def jacobian_of_two():
    from mlnotes.neural_networks import softmax_jacobian

    h = 1 / (1 + exp(-0.8))
    yield softmax_jacobian(np.array([1 - h, h]))[0, 0]
    yield h, "This is h, the probability of the second class."
    yield 1 - h, "This is the probability of the first class."


@answer("convolution-x01a", "the width of the maps after the two layers")
def sizes_by_hand():
    from mlnotes.convolution import Conv, MaxPool, propagate

    right = [
        shape[0]
        for shape in propagate((Conv(96, 11, stride=4), MaxPool(3, stride=2)), (227, 227, 3))[1:]
    ]
    yield right
    yield (right[0] - 1, right[1] - 1), "Count the first place as well: add 1."
    yield (227 - 11 + 1, 227 - 11 + 1 - 2), "The windows move by the stride."


@answer("convolution-x01b", "the number of parameters")
def parameters_by_hand():
    yield 96 * (11 * 11 * 3 + 1)
    yield 96 * 11 * 11 * 3, "Each filter has a bias."
    yield 96 * (11 * 11 + 1), "A filter reaches through the whole depth of the input."
    yield 96 * 11 * 11 * 3 + 1, "Each filter has a bias of its own."


@answer("convolution-x01c", "the length of the receptive field")
def field_by_hand():
    from mlnotes.convolution import Conv, MaxPool, receptive_field

    yield receptive_field((Conv(96, 11, stride=4), MaxPool(3, stride=2)))
    yield 11 + 2, "Neighbours in the first map are as far apart as the stride."
    yield 11 * 3, "The windows overlap."
    yield 11, "This is the field before the pooling."


SEQUENCE, KERNEL = np.array([2, 0, 1, 3, 1]), np.array([1, -1, 2])


@answer("convolution-x02a", "the two entries of h")
def correlation_by_hand():
    from mlnotes.convolution import convolve, correlate

    yield correlate(SEQUENCE, KERNEL, stride=2)
    yield convolve(SEQUENCE, KERNEL, stride=2), "This is the convolution: the kernel is reversed."
    yield correlate(SEQUENCE, KERNEL)[:2], "The window moves by the stride."


@answer("convolution-x02b", "the two entries of the convolution")
def convolution_by_hand():
    from mlnotes.convolution import convolve, correlate

    yield convolve(SEQUENCE, KERNEL, stride=2)
    yield correlate(SEQUENCE, KERNEL, stride=2), "This is the correlation. Reverse the kernel."
    yield convolve(SEQUENCE, KERNEL)[:2], "Every second entry is asked for."


@answer("convolution-x02c", "the gradient in x, five numbers")
def gradient_by_hand():
    from mlnotes.convolution import correlate_backward

    yield correlate_backward(np.array([1, 2]), SEQUENCE, KERNEL, stride=2)[0]
    yield (1, -1, 2, -2, 4), "Where two windows overlap, add what both give."
    yield (
        (2, -1, 5, -2, 2),
        "The kernel is not reversed on the way back: see which x_p meets which k_m.",
    )


@answer("convolution-x02d", "the gradient in k, three numbers")
def kernel_gradient():
    from mlnotes.convolution import correlate_backward

    right = correlate_backward(np.array([1, 2]), SEQUENCE, KERNEL, stride=2)[1]
    yield right
    yield right[::-1], "The order is reversed."
    yield SEQUENCE[:3] + SEQUENCE[2:], "Each window counts with its own gradient."


@answer("convolution-x03", "row 0 of map 0, three numbers", 3)
def own_layer():
    from mlnotes.convolution import conv

    rng = np.random.default_rng(0)
    V, W, b = rng.normal(size=(1, 7, 7, 2)), rng.normal(size=(3, 3, 3, 2)), rng.normal(size=3)
    yield conv(V, W, b, stride=2)[0, 0, :, 0]
    yield conv(V, W, 0 * b, stride=2)[0, 0, :, 0], "Add the bias of the map."
    yield conv(V, W[:, ::-1, ::-1], b, stride=2)[0, 0, :, 0], "The filter is not reversed."
    yield conv(V, W, b, stride=2)[0, :, 0, 0], "This is the first column."


@answer("convolution-x04", "the array W of shape (3, 2, 2, 3)", 3)
def mean_pooling():
    right = np.broadcast_to(np.eye(3)[:, None, None, :] / 4, (3, 2, 2, 3))
    yield right
    yield (
        np.full((3, 2, 2, 3), 1 / 4),
        "Map d of the output should depend on map d of the input only.",
    )
    yield np.full((3, 2, 2, 3), 1 / 12), "The maps should not be mixed."
    yield 4 * right, "A mean divides by the number of its terms."


@answer("convolution-x06a", "the number of places down and to the right, and of scores at each")
def sliding_network():
    maps = 12 // 4, 36 // 4
    yield maps[0] - 3 + 1, maps[1] - 3 + 1, 10
    yield (*maps, 10), "The last filters are as high as the maps, and have no padding."
    yield (1, 3, 10), "The windows move by one place of the maps, not by a digit."
    yield (1, 36 - 12 + 1, 10), "Two pools have made the maps smaller."


@answer("convolution-x06b", "the output columns of the three digits")
def digit_columns():
    yield np.array([0, 12, 24]) // 4
    yield (0, 12, 24), "These are pixels. How many pixels wide is a column of the maps?"
    yield (0, 1, 2), "How many columns does one digit take?"


@answer(
    "convolution-x08a",
    "what is promised for the shifts 0, 1, 2: stride 2 above stride 1, as (2, 3)",
)
def promised_shifts():
    shifts = np.arange(3)
    yield shifts % 2 == 0, shifts % 1 == 0
    yield (shifts % 1 == 0, shifts % 2 == 0), "The two rows are exchanged."
    yield (shifts >= 0, shifts >= 0), "With a stride the shift must be a multiple of it."
    yield (shifts == 0, shifts >= 0), "A shift by a multiple of the stride is promised as well."


@answer("kernels-x01b", "the Gram matrix of 0, 1 and -1, as (3, 3)", 2)
def gram_by_hand():
    from mlnotes.kernels import Polynomial

    X = np.array([[0.0], [1.0], [-1.0]])
    yield Polynomial(p=2)(X)
    yield Polynomial(p=1)(X), "The square is missing."
    yield (X @ X.T) ** 2, "The kernel adds 1 before it squares."


@answer("kernels-x01c", "the distance of the two features", 3)
def feature_distance():
    from mlnotes.kernels import Polynomial

    K = Polynomial(p=2)(np.array([[1.0], [-1.0]]))
    right = sqrt(K[0, 0] - 2 * K[0, 1] + K[1, 1])
    yield right
    yield right**2, "This is the square of the distance."
    yield 2, "This is the distance of the inputs."
    yield 4, "The middle feature has a factor that is not 2."


@answer("kernels-x02", "whether each is a kernel: five of True and False")
def kernels_or_not():
    x = np.arange(1.0, 11)
    functions = (
        lambda x, z: (x - 1) * (z - 1) - 1,  # with the point 0
        lambda x, z: np.cos(x - z),
        np.minimum,
        np.maximum,
        lambda x, z: (x * z / 100) ** 2 + 3 * np.exp(x * z / 100),
    )
    least = [np.linalg.eigvalsh(function(x[:, None], x))[0] for function in functions]
    right = np.array(least) > -1e-9
    yield right
    yield np.logical_not(right), "True should stand for a kernel."
    yield right | (np.arange(5) == 3), "Look at the function (d) on two points."
    yield right | (np.arange(5) == 0), "Look at the function (a) on the single point 0."


@answer("kernels-x03", "the number of mistakes in all")
def kernel_mistakes():
    from mlnotes.kernels import scaled_quadratic_map
    from mlnotes.perceptron import updates

    rings = datasets.make_rings(40, radii=(0.7, 1.6), noise=0.1, rng=np.random.default_rng(0))
    run = list(updates(scaled_quadratic_map(rings.X), rings.y))[1:]
    ends = [state.sample < before.sample for before, state in zip(run, run[1:], strict=False)]
    yield len(run)
    yield 1 + int(np.argmax(ends)), "This is the first pass. Go on until a pass has no mistake."


@answer("kernels-x04", "the largest violation by the colleague's code", 3)
def other_width():
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(-3, 3, size=40))
    y = np.sin(2 * x) + 0.3 * rng.normal(size=40)
    D2 = (x[:, None] - x) ** 2
    alpha = np.linalg.solve(np.exp(-D2 / 0.5) + 0.3 * np.eye(40), y)
    fit = np.exp(-D2 / 0.25) @ alpha
    yield np.abs(fit + 0.3 * alpha - y).max()
    yield 0, "This is so for the corrected code."
    yield np.abs(fit - y).max(), "The identity has a term with alpha."


@answer("kernels-x05b", "the vector q", 3)
def certificate():
    right = np.linalg.solve([[1, 1, 1], [1, 2, 3], [1, 4, 9]], [0, 1, 0])
    yield right
    yield -right, "All signs are turned: check the second equation."
    yield (
        np.linalg.solve([[1, 1, 1], [1, 2, 3], [1, 4, 9]], [0, 0, 1]),
        ("Check the second and the third equation."),
    )


@answer("kernels-x06c", "the largest difference of the two factors", 2)
def early_stopping():
    mu = np.logspace(-2, 1, 200)
    descent, ridge = 1 - (1 - 2 * 0.05 * mu) ** 10, mu / (mu + 1 / (2 * 0.05 * 10))
    yield np.abs(descent - ridge).max()
    yield mu[np.argmax(np.abs(descent - ridge))], "This is where they differ most."
    yield np.abs((1 - (1 - 0.05 * mu) ** 10) - ridge).max(), "The step has a factor 2 eta mu."


PAIR = np.array([[1.9, 0.4], [3.0, 1.1]]), np.array([-1, 1])


@answer("svm-x01a", "the multiplier alpha", 3)
def pair_multiplier():
    from mlnotes.svm import hard_margin

    right = hard_margin(*PAIR).alpha[0]
    yield right
    yield right / 2, "There are two multipliers, and each counts in the sum."
    yield 1 / right, "Set the derivative of q to 0, and solve for alpha."
    yield 2 / sqrt(1.7), "The squared distance of the flowers enters."


@answer("svm-x01b", "w_1, w_2, b and the width of the strip", 3)
def pair_machine():
    from mlnotes.svm import hard_margin

    found = hard_margin(*PAIR)
    w, width = found.w, 2 / np.linalg.norm(found.w)
    yield *w, found.b, width
    yield (*w, found.b, width / 2), "This is the distance from the line to one flower."
    yield (*w, -found.b, width), "At the flower of class +1 the score is 1. Check the sign of b."
    yield (*w, found.b, 2 / (w @ w)), "Divide by the length of w, not by its square."


@answer("svm-x02a", "the two ends of the interval", 3)
def offsets_by_hand():
    from mlnotes.svm import c_dual, offset_intervals

    x, y = np.array([0.0, 1, 0.5, 1.5]), np.array([-1.0, -1, 1, 1])
    g = y - 0.1 * x
    yield offset_intervals(g, c_dual(y, C=0.1), 0.1 * y)[0]
    yield (g[y < 0].min(), g[y > 0].max()), "All inequalities must hold: take the tighter ones."
    yield (-1, 1), "The score contains w x as well."


@answer("svm-x02b", "the objective", 4)
def objective_by_hand():
    from mlnotes.svm import erm_objective

    x, y = np.array([[0.0], [1], [0.5], [1.5]]), np.array([-1.0, -1, 1, 1])
    yield erm_objective(x, y, np.array([0.1]), 0.0, C=0.1)
    yield 3.9, "This is the sum of the slack."
    yield 0.39, "The length of w costs something, too."
    yield 0.1**2 + 0.39, "The square of w has a factor 1/2."


def overlapping():
    """The 25 flowers, standardised."""
    iris = datasets.load_iris()
    two = iris.y != "setosa"
    X = iris.X[two][:, 2:]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[::4], np.where(iris.y[two] == "versicolor", -1, 1)[::4]


@answer("svm-x03a", "the four values of b, for the orders 0, 1, 5 and 8", 3)
def offsets_of_first():
    from mlnotes.svm import soft_margin

    X, y = overlapping()
    found, offsets = soft_margin(X, y, 1.0), []
    for start in (0, 1, 5, 8):
        order = np.roll(np.arange(25), -start)
        j = order[np.flatnonzero(found.alpha[order] > 1e-6)[0]]
        offsets.append(y[j] - found.w @ X[j])
    yield offsets
    yield np.full(4, found.b), "This is the right b. What does the function return?"


@answer("svm-x03b", "the optimum of the other program", 3)
def without_the_half():
    from mlnotes.svm import c_dual, soft_margin, solve_dual

    X, y = overlapping()
    right = solve_dual(2 * X @ X.T, c_dual(y, 1.0)).objective
    yield right
    yield 2 * right, "This is the right optimum for twice the price."
    yield soft_margin(X, y, 1.0).objective, "This is the right optimum for C = 1."


@answer("svm-x04", "the steps for the five samples, and the dual of the 25 flowers", 2)
def own_smo():
    from mlnotes.svm import c_dual, smo, solve_dual

    five = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.5]])
    y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    violations = [state.violation for state in islice(smo(five @ five.T, c_dual(y, C=3.0)), 200)]
    steps = int(np.argmax(np.array(violations) < 1e-3))
    X, labels = overlapping()
    dual = solve_dual(X @ X.T, c_dual(labels, 1.0)).objective
    yield steps, dual
    yield (steps + 1, dual), "The start is not a step."
    yield (steps, -dual), "The dual is maximised."


@answer("svm-x05b", "the share of the feature with the largest variance", 3)
def share_of_proline():
    X = datasets.load_wine().X
    yield X.var(axis=0).max() / X.var(axis=0).sum()
    yield X.std(axis=0).max() / X.std(axis=0).sum(), "Squared distances are made of variances."
    yield 1 / 13, "This is so for standardised features."


@answer("svm-x06c", "the objective", 3)
def machine_without_offset():
    from mlnotes.svm import soft_margin

    X, y = overlapping()
    A, alpha, w = np.column_stack([np.ones(25), X]), np.zeros(25), np.zeros(3)
    for _ in range(500):
        for i in range(25):
            old = alpha[i]
            alpha[i] = np.clip(old + (1 - y[i] * (w @ A[i])) / (A[i] @ A[i]), 0, 1.0)
            w = w + (alpha[i] - old) * y[i] * A[i]
    yield alpha.sum() - w @ w / 2
    yield soft_margin(X, y, 1.0).objective, "Here the offset is a weight that is paid for."


@answer("svm-x07d", "b and the squared length of w", 3)
def learnt_by_heart():
    coin = np.where(np.random.default_rng(3).random(80) < 0.4, 1, -1)
    plus, minus = np.sum(coin > 0), np.sum(coin < 0)
    b, square = (plus - minus) / 80, 4 * plus * minus / 80
    yield b, square
    yield (-b, square), "Far away the machine predicts the larger class."
    yield (b, sqrt(square)), "This is the length of w."
    yield (b, 80), "The multipliers are 1 minus y b."


@answer("svm-x09b", "the four sums of alpha_i y_i, for the seeds 0 to 3", 2)
def sums_of_the_view():
    X, y = overlapping()
    K, lower, upper, sums = X @ X.T, np.where(y > 0, 0, -1), np.where(y > 0, 1, 0), []
    for seed in range(4):
        beta = np.zeros(25)
        for i, j in np.random.default_rng(seed).integers(0, 25, size=(3000, 2)):
            g, eta = y - K @ beta, max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
            least = max(lower[i] - beta[i], beta[j] - upper[j])
            most = min(upper[i] - beta[i], beta[j] - lower[j])
            beta[i] += np.clip((g[i] - g[j]) / eta, least, most)
        sums.append(beta.sum())
    yield sums
    yield np.zeros(4), "This is so for the repaired function. What does the other one return?"


def gaussian_optimum():
    """The matrix of the 25 flowers for sigma = 1, their labels, and the best beta for C = 1."""
    from mlnotes.kernels import Gaussian
    from mlnotes.svm import c_dual, solve_dual

    X, y = overlapping()
    K = Gaussian(0.5)(X)
    return X, y, K, solve_dual(K, c_dual(y, 1.0)).beta


@answer("svm-x10b", "the primal for the wrong b and for the right one", 3)
def primal_of_mean_offset():
    from mlnotes.svm import hinge

    _, y, K, beta = gaussian_optimum()
    g, size = y - K @ beta, np.abs(beta)
    free, vectors = (size > 1e-6) & (size < 1 - 1e-6), size > 1e-6

    def primal(b):
        return beta @ K @ beta / 2 + hinge(K @ beta + b, y).sum()

    wrong, right = primal(g.mean()), primal(g[free].mean())
    yield wrong, right
    yield (right, wrong), "The first number is for the mean over all samples."
    yield (wrong, primal(g[vectors].mean())), "Of the support vectors only the free ones count."


@answer("svm-x10c", "the largest difference of two scores of a training sample", 3)
def scores_of_another_kernel():
    _, _, K, beta = gaussian_optimum()
    yield np.abs((K**2 - K) @ beta).max()  # without the 2 the kernel is squared
    yield 0.0, "This is so for the repaired line."


@answer("svr-x01a", "w and b of the hard tube", 3)
def tube_by_hand():
    from mlnotes.svr import hard_tube

    found = hard_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), 0.5)
    yield found.w[0], found.b
    yield (2, 0), "The line need not go through the samples: the tube has a width."
    yield (2.5, 0), "The flattest line in the tube is asked for."


@answer("svr-x01b", "u for C = 1 and for C = 1/4", 3)
def pulls_by_hand():
    yield np.minimum(3 / 4, [1, 1 / 4])
    yield (3 / 4, 3 / 4), "The second u is not allowed."
    yield (1, 1 / 4), "The price epsilon counts, and the top may lie inside of the box."
    yield (1, 1), "The sum of the multipliers has a price."


@answer("svr-x02a", "the three slopes", 3)
def slopes_by_hand():
    residuals = np.arange(1, 11)
    right = [0.25 - np.mean(residuals > width) for width in (6.5, 7.5, 8.5)]
    yield right
    yield -np.array(right), "F rises with nu and falls with each residual above."
    yield (
        [0.25 - 10 * np.mean(residuals > width) for width in (6.5, 7.5, 8.5)],
        "Divide the count by n.",
    )


@answer("svr-x02b", "the width at the minimum")
def width_by_hand():
    from mlnotes.svr import best_epsilon

    yield best_epsilon(np.zeros(10), np.arange(1.0, 11.0), 0.25)
    yield 7, "The slope is still negative to the right of it."
    yield 9, "The slope is already positive to the left of it."
    yield 7.5, "Where does the slope change its sign?"


@answer("svr-x02c", "how many are larger, and how many at least as large")
def outside_by_hand():
    residuals, width = np.arange(1, 11), 8
    yield np.sum(residuals > width), np.sum(residuals >= width)
    yield (np.sum(residuals > width), np.sum(residuals > width)), "One residual lies on the edge."
    yield (np.sum(residuals >= width), np.sum(residuals > width)), "The two are exchanged."


@answer("svr-x02d", "the least and the largest of the best widths, for nu = 0.2")
def widths_by_hand():
    residuals = np.arange(1.0, 11.0)
    F = [0.2 * width + np.mean(np.maximum(residuals - width, 0)) for width in residuals]
    best = residuals[np.array(F) < min(F) + 1e-9]
    yield best[[0, -1]]
    yield (8, 8), "Look at the slope to the right of it."
    yield (9, 10), "Look at the slope between these two."


def fifteen_wines():
    wine = datasets.load_wine()
    light = wine.X[:, [wine.feature_names.index("od280/od315_of_diluted_wines")]]
    return light, wine.X[:, wine.feature_names.index("flavanoids")]


@answer("svr-x03", "the objective of soft_tube", 3)
def objective_of_tube():
    from mlnotes.svr import soft_tube

    light, flavanoids = fifteen_wines()
    X, y = light[::12], flavanoids[::12]
    found = soft_tube(X, y, 0.5, 1.0)
    slack = np.maximum(np.abs(y - X @ found.w - found.b) - 0.5, 0)
    yield found.objective
    yield slack.sum(), "The length of w costs something, too."
    yield found.objective + found.w @ found.w / 2, "The square of w has a factor 1/2."


@answer("svr-x05", "the slopes: tube, tube with the outlier, squared tube, the same with it", 3)
def far_outlier():
    from mlnotes.svr import soft_tube, squared_tube

    light, flavanoids = fifteen_wines()
    X, y = light[::12], flavanoids[::12]
    tube = soft_tube(X, y, 0.5, 1.0)
    higher = y + 1000 * (np.arange(15) == np.argmax(y - X @ tube.w - tube.b))
    slopes = [
        method(X, t, 0.5, 1.0).w[0] for method in (soft_tube, squared_tube) for t in (y, higher)
    ]
    yield slopes
    yield (*slopes[:3], slopes[2]), "A squared slack pulls the more, the larger it is."
    yield (*slopes[2:], *slopes[:2]), "The two tubes are exchanged."


@answer("svr-x06b", "C and epsilon", 2)
def scaled_targets():
    yield 1000 * 1, 1000 * 0.1
    yield (1, 100), "A function of the same shape needs larger pulls."
    yield (1000, 0.1), "The tube is measured in the units of the targets."
    yield (1 / 1000, 100), "The pulls must become larger, not smaller."


@answer("svr-x07c", "the share of wines between or on the curves", 3)
def between_curves():
    from mlnotes.kernels import Gaussian
    from mlnotes.svm import Dual, solve

    light, y = fifteen_wines()
    K, sides = Gaussian(1 / np.var(light))(light), []
    for tau in (0.1, 0.9):
        bounds = np.full(178, tau - 1), np.full(178, tau)
        dual = Dual(y, *bounds, np.zeros(178), np.ones((1, 178), dtype=bool))
        found = solve(K, dual, tol=1e-6, max_iter=-1)
        curve = K @ found.beta + found.certificate.offsets[0]
        sides.append(np.mean(y < curve - 1e-5 if tau < 0.5 else y > curve + 1e-5))
    yield 1 - sum(sides)
    yield sum(sides), "This is the share outside of the curves."
    yield 0.8, "This is about what (b) says. Count the wines."


# --- 21 to 27 --------------------------------------------------------------------------


MUSHROOMS = np.arange(1.0, 7)[:, None], np.array([0, 0, 1, 0, 1, 1])


@answer("trees-x01a", "n J after each of the five cuts", 2)
def sweep_by_hand():
    from mlnotes.trees import class_fractions, contributions, cut_impurities, gini

    X, y = MUSHROOMS
    right = 6 * cut_impurities(X.T, contributions(y, np.ones(6)))[0]
    sides = [[gini(class_fractions(part)) for part in (y[:r], y[r:])] for r in range(1, 6)]
    yield right
    yield right / 6, "This is J. Multiply by the number of mushrooms."
    yield 6 * np.mean(sides, axis=1), "Each side counts with its size."


@answer("trees-x01b", "the threshold that the package takes", 2)
def cut_by_hand():
    from mlnotes.trees import best_split

    yield best_split(*MUSHROOMS).threshold
    yield 4.5, "This one is equally good. Which threshold is lower?"
    yield 2, "The threshold is halfway between two neighbours."


@answer("trees-x01c", "the errors of one question, and the questions of the whole tree")
def questions_by_hand():
    from mlnotes.trees import grow

    X, y = MUSHROOMS
    whole = np.sum(grow(X, y).feature >= 0)
    yield np.sum(y != (X[:, 0] > 2.5)), whole
    yield (np.sum(y != (X[:, 0] > 2.5)), whole - 1), "Count the first question, too."
    yield (0, whole), "On the right side one label differs from the others."


@answer("trees-x02", "the entropy J after sky, wind and date", 4)
def dates():
    from mlnotes.trees import multiway_impurity

    sky = ["sun", "sun", "rain", "rain", "cloud", "cloud", "sun", "rain"]
    bite, dates = np.array([0, 0, 1, 0, 1, 1, 0, 0]), np.arange(8)
    right = [multiway_impurity(np.array(a), bite, "entropy") for a in (sky, ["c", "w"] * 4, dates)]
    yield right
    yield np.array(right) / log(2), "These are bits. The chapter's entropy has natural logarithms."
    yield (
        (*right[:2], multiway_impurity(np.zeros(8), bite, "entropy")),
        ("How many days are in each child of the date?"),
    )


@answer("trees-x03", "f, t and J of the best question", 3)
def own_split():
    from mlnotes.trees import best_split

    iris = datasets.load_iris()
    f, t, J = best_split(iris.X, np.unique(iris.y, return_inverse=True)[1])
    yield f, t, J
    yield (
        (f, iris.X[iris.X[:, f] <= t, f].max(), J),
        "The threshold is halfway between the neighbours.",
    )
    yield (f, t, 1 / 2), "Each side counts with its share of the flowers."


@answer("trees-x05b", "how many cuts fail: all flowers, not setosa, the third set")
def scores_without_sizes():
    from mlnotes.trees import class_fractions, gini

    iris = datasets.load_iris()
    petals, y = iris.X[:, 2:], np.unique(iris.y, return_inverse=True)[1]
    third = (petals[:, 0] > 2.45) & (petals[:, 1] <= 1.75)
    counts = []
    for part in (y >= 0, y > 0, third):
        x, labels = petals[part, 0], y[part]
        scores = [np.mean([gini(class_fractions(labels[side])) for side in (x <= t, x > t)])
                  for t in np.unique(x)[:-1]]  # fmt: skip
        counts.append(np.sum(np.array(scores) > gini(class_fractions(labels)) + 1e-12))
    yield counts
    yield (0, 0, 0), "Count the cuts whose score is above the impurity before."


@answer("trees-x07b", "the mean and the standard deviation", 1)
def random_labels():
    yield 100 / 2, sqrt(100 / 4)
    yield (100 / 2, 100 / 4), "The second number is the variance."
    yield (100, sqrt(200 / 4)), "Of a pair with two labels, one is called rightly."
    yield (0, 0), "Two equal inputs get the same answer."


@answer("ensemble-x01a", "the error of three jurors", 4)
def three_jurors():
    from mlnotes.ensemble import majority_error

    yield majority_error(0.2, 3)
    yield 0.2**3, "Two wrong jurors are enough for a wrong vote."
    yield 3 * 0.2**2 * 0.8, "All three may be wrong as well."
    yield 3 * 0.2**2, "The third juror must be right in these cases."


@answer("ensemble-x01b", "the error of five jurors", 4)
def five_jurors():
    from mlnotes.ensemble import majority_error

    yield majority_error(0.2, 5)
    yield comb(5, 3) * 0.2**3 * 0.8**2, "Four or five may be wrong as well."
    yield 0.104 + 3 * 0.16**2 * 0.6, "More jurors make the error smaller."


@answer("ensemble-x01c", "the error of the vote", 3)
def followers():
    yield 0.2
    yield 3 * 0.2**2 * 0.8 + 0.2**3, "This needs independent jurors."
    yield 0.2**3, "If the first one is wrong, so are the others."


def boosted_line():
    from mlnotes.ensemble import adaboost, stumps

    x, y = np.arange(1.0, 6.0)[:, None], np.array([1, 1, -1, 1, -1])
    return list(islice(adaboost(x, y, stumps(x, y)), 4))


@answer("ensemble-x02a", "the five weights D_2", 4)
def weights_by_hand():
    _, first, *_ = boosted_line()
    yield first.D
    yield np.where(np.arange(5) == 3, 0.4, 0.1), "The weights must sum to 1."
    yield first.D[[0, 1, 3, 2, 4]], "Of equally good stumps take the one with the lower threshold."
    yield (
        np.where(np.arange(5) == 3, 0.8, 0.05),
        "A wrong sample's weight is multiplied by 1/(2 epsilon).",
    )


@answer("ensemble-x02b", "alpha_1, alpha_2 and alpha_3", 3)
def votes_by_hand():
    votes = np.array([state.alpha for state in boosted_line()[1:]])
    yield votes
    yield 2 * votes, "The factor 1/2 before the logarithm is missing."
    yield votes / log(2), "Take natural logarithms."
    yield np.full(3, votes[0]), "The error changes with the weights."


@answer("ensemble-x02d", "F of the five samples after three rounds", 2)
def scores_by_hand():
    last = boosted_line()[-1]
    yield last.F
    yield np.sign(last.F), "These are the signs."
    yield 2 * last.F, "The factor 1/2 before the logarithm is missing."
    yield boosted_line()[-2].F, "These are two rounds."


@answer("ensemble-x03", "the number of rounds in (a), (b) and (c)")
def xor():
    from mlnotes.ensemble import adaboost, learner, stumps
    from mlnotes.trees import DecisionTreeClassifier

    X, y = np.array([[0.0, 0.0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
    wide = np.column_stack([X, X.sum(axis=1)])
    deep = learner(DecisionTreeClassifier(max_depth=2), X, y)
    ways = (X, stumps(X, y)), (X, deep), (wide, stumps(wide, y))
    rounds = []
    for A, learn in ways:
        states = list(islice(adaboost(A, y, learn), 10))[1:]
        wrong = [bool(np.any(np.sign(state.F) != y)) for state in states]
        rounds.append(wrong.index(False) + 1 if wrong else 0)
    yield rounds
    yield (1, 1, rounds[2]), "Can a stump have an edge here?"
    yield (*rounds[:2], 2), "After two rounds there is still a tie."


@answer("ensemble-x04", "the loss for the factors 1 and 0.2", 3)
def own_adaboost():
    from mlnotes.ensemble import stumps

    few = datasets.make_moons(60, noise=0.2, rng=np.random.default_rng(0))
    learn = stumps(few.X, few.y)

    def loss(eta, eta_of_weights):
        D, F = np.full(60, 1 / 60), np.zeros(60)
        for _ in range(8):
            said = learn(D).predict(few.X)
            error = D[said != few.y].sum()
            alpha = log((1 - error) / error) / 2
            D = D * np.exp(-eta_of_weights * alpha * few.y * said)
            D, F = D / D.sum(), F + eta * alpha * said
        return np.mean(np.exp(-few.y * F))

    yield loss(1, 1), loss(0.2, 0.2)
    yield (loss(1, 1), loss(0.2, 1)), "The weights must change with the vote that is really used."


@answer("ensemble-x05a", "the share out of bag in her forest, and the share that is right", 3)
def permuted_forest():
    yield 0, (1 - 1 / 284) ** 284
    yield (0, 1 - (1 - 1 / 284) ** 284), "The second number is the share in the bag."
    yield ((1 - 1 / 284) ** 284, 0), "How often does a permutation contain each sample?"


@answer("ensemble-x06c", "alpha and Z", 3)
def abstaining():
    right, wrong = 0.3, 0.025
    alpha, Z = log(right / wrong) / 2, 1 - right - wrong + 2 * sqrt(right * wrong)
    yield alpha, Z
    yield (2 * alpha, Z), "The factor 1/2 before the logarithm is missing."
    yield (alpha, 2 * sqrt(right * wrong)), "Mail on which the rule abstains counts in Z."
    yield (log(0.775 / 0.225) / 2, 2 * sqrt(0.225 * 0.775)), "This rule says ham instead."


@answer("ensemble-x07c", "the worst error of the vote on three samples", 3)
def worst_vote():
    votes = [np.bincount(a, minlength=3) for a in product(range(3), repeat=3)]
    yield max(np.mean(vote >= 2) for vote in votes)
    yield 2 / 3, "How many wrong votes would that take?"
    yield 1 / 2, "This is the bound. On three samples it cannot be reached."


TABLE = np.array([[0.4, 0.1], [0.1, 0.4]])


@answer("feature_selection-x01a", "H(y), H(y | x) and MI, in nats", 3)
def information_by_hand():
    from mlnotes.feature_selection import mutual_information

    H, MI = log(2), float(mutual_information(TABLE))
    right = np.array([H, H - MI, MI])
    yield right
    yield right / log(2), "These are bits. Use natural logarithms."
    yield right[[0, 2, 1]], "The last two are exchanged."
    yield (H, 2 * (H - MI), H - 2 * (H - MI)), "H(y | x) is a mean over the values of x, not a sum."


@answer("feature_selection-x01b", "the two values of MI", 3)
def two_tables():
    from mlnotes.feature_selection import mutual_information

    tables = np.full((2, 2), 0.25), np.array([[0, 0.5], [0.5, 0]])
    right = np.array([abs(float(mutual_information(table))) for table in tables])
    yield right
    yield right / log(2), "This is in bits. Use natural logarithms."
    yield right[::-1], "Which of the tables is a product?"
    yield (0, 0), "In the second table the feature determines the label."


@answer("feature_selection-x02b", "the models of forward selection for 10, 20 and 64 features")
def forward_models():
    d = np.array([10, 20, 64])
    yield d * (d + 1) / 2
    yield d, "Each round tries all features that are left."
    yield d**2, "A feature that is taken is not tried again."
    yield d * (d - 1) / 2, "Count the first round as well: it tries all features."


@answer("feature_selection-x02c", "the models of backward elimination for 10 features")
def backward_models():
    yield 1 + sum(range(2, 11))
    yield sum(range(2, 11)), "The set of all features is fitted, too."
    yield 1 + sum(range(1, 11)), "It ends when one feature is left."
    yield 10, "Each round fits a model for each feature that it may drop."


@answer("feature_selection-x03", "the three scores", 4)
def own_filter():
    from mlnotes.feature_selection import information_scores

    dice = np.random.default_rng(4).integers(1, 7, size=(2000, 3))
    right = information_scores(dice, (dice[:, 0] + dice[:, 1] // 3 >= 5).astype(int))
    yield right
    yield right / log(2), "These are bits. Use natural logarithms."


@answer("feature_selection-x05b", "the two weights theta", 3)
def thermometer():
    readings = np.array([[1.0 + 2, 2], [3 + 5, 5], [-1 + 1, 1]])
    yield np.linalg.lstsq(readings, np.array([1.0, 3, -1]), rcond=None)[0]
    yield (1, 1), "The disturbance is already in the first reading."
    yield (1, 0), "Then the disturbance stays."
    yield (-1, 1), "The signs are turned."


@answer("pca-x01", "the two eigenvalues for 0.644 (larger first), and the share of the first", 3)
def standardised_pair():
    low, high = np.linalg.eigvalsh([[1, 0.644], [0.644, 1]])
    yield high, low, high / 2
    yield (high, low, high), "A share is divided by the sum of all variances."
    yield (
        (high, low, high**2 / (high**2 + low**2)),
        "Eigenvalues are variances already: do not square.",
    )
    yield (high, low, 0.644), "This is the correlation."


@answer("pca-x02", "the first axis, of length 1", 4, "sign")
def two_scales():
    from mlnotes.pca import by_covariance

    celsius = np.array([-5.0, 3, 11, 20, 28])
    yield by_covariance(np.column_stack([celsius, 1.8 * celsius + 32])).V[:, 0]
    yield (1, 1.8), "The direction is right. Divide by its length."
    yield (sqrt(0.5), sqrt(0.5)), "This is so for standardised features."
    yield np.array([1.8, -1]) / sqrt(4.24), "In this direction there is no variance."


@answer("pca-x03", "the two largest eigenvalues", 3)
def own_pca():
    lam = np.linalg.eigvalsh(np.cov(wines().T, bias=True))
    right = lam[::-1][:2]
    yield right
    yield lam[:2], "eigh sorts from small to large."
    yield right * 178 / 177, "The covariance of the chapter divides by n, not by n - 1."
    yield np.sqrt(178 * right), "These are singular values."
    yield 178 * right, "Divide the squares of the singular values by n."


@answer("pca-x04a", "the largest k that saves space")
def picture_by_factors():
    yield np.floor(112 * 92 / (112 + 92) - 1e-9)
    yield np.ceil(112 * 92 / (112 + 92)), "This is one number too many."
    yield 92, "This is the full rank. Count the entries of both factors."
    yield np.floor(112 * 92 / (112 * 2)), "The two factors have different shapes."


@answer("pca-x06b", "the factor of I in C times the suspicious inverse, for the wines", 3)
def product_with_the_inverse():
    sigma2 = np.linalg.eigvalsh(np.cov(wines().T, bias=True))[:-2].mean()
    yield sqrt(sigma2)
    yield 1, "This is so for the right inverse."
    yield sigma2, "The function divides by the root of sigma^2."
    yield 1 / sqrt(sigma2), "Multiply by C itself."


@answer("pca-x06c", "the k that the wrong inverse chooses")
def axes_by_the_wrong_inverse():
    yield 9
    yield 3, "This is the choice of the right inverse."
    yield 1, "Look for the largest log-density, not for the least."


@answer("pca-x07b", "the number of axes that remain")
def parallel_analysis():
    from mlnotes.pca import by_svd

    rng, X = np.random.default_rng(0), wines()
    permuted = [by_svd(np.column_stack([rng.permutation(c) for c in X.T])).lam for _ in range(100)]
    above = by_svd(X).lam > np.quantile(permuted, 0.95, axis=0)
    yield np.argmin(above)
    yield 13, "Compare each axis with the same place in the permuted tables."
    yield 0, "The features of the wines are correlated."


@answer("pca-x08c", "the shares of right guesses on the raw axes 1 and 2", 1)
def hidden_classes():
    from mlnotes.probability import normal_cdf

    yield 0.5, normal_cdf(1.0, 0.0, 0.1)
    yield (normal_cdf(1.0, 0.0, 0.1), 0.5), "Which axis has the larger variance?"
    yield (0.8, 0.8), "This is so after standardising."


@answer("autoencoder-x01b", "dJ/dW above dJ/dV, as (2, 2)", 3)
def gradients_of_a_code():
    from mlnotes.autoencoder import linear_gradient

    V = np.array([[1.0, 0.0]])
    dW, dV = (part.ravel() for part in linear_gradient(np.array([[1.0, 2.0]]), V.T, V))
    yield dW, dV
    yield (-dW, dV), "The residual is the reconstruction minus the sample."
    yield (dW / 2, dV), "The derivative of a square has a factor 2."
    yield (dV, dW), "The two rows are exchanged."


@answer("autoencoder-x01c", "J after the step", 3)
def code_after_a_step():
    yield (0.4 - 2) ** 2
    yield (0.2 - 2) ** 2, "The derivative of a square has a factor 2."
    yield (-0.4 - 2) ** 2, "This step goes uphill."
    yield 2 - 0.4, "J is the square of this."


@answer("autoencoder-x02a", "the two entries of the code", 3)
def silent_units():
    right = np.maximum(0, np.array([0.2, 1.0]) - 0.3)
    yield right
    yield (0.2 - 0.3, right[1]), "A code is not negative."
    yield (0.2, 1), "This is the code without a price."
    yield np.array([0.2, 1]) / 1.3, "This is the squared price."


@answer("autoencoder-x02b", "the two entries of the code, with the squared price", 3)
def quiet_units():
    yield np.array([0.2, 1.0]) / 1.3
    yield (0, 0.7), "This is the absolute price."
    yield np.array([0.2, 1.0]) / 1.6, "The slopes of both squares have the same factor."


@answer("autoencoder-x02c", "the least beta for which both units are silent", 2)
def price_of_silence():
    yield max(0.2, 0.6 * 1 + 0.8 * 0.5)
    yield 0.2, "Here only the first unit is silent."


@answer("autoencoder-x03", "the matrix M for rho = 1/2, as (2, 2)", 3)
def half_lost():
    from mlnotes.autoencoder import linear_denoiser

    S = np.array([[1.0, 0.5], [0.5, 1.0]])
    yield linear_denoiser(S, "masking", 0.5)
    yield (
        np.eye(2),
        "This does nothing. What is the covariance of the corrupted sample with itself?",
    )
    yield S / 2 @ np.linalg.inv(S / 4), "The diagonal of the corrupted matrix has one factor 1/2."
    yield S / 2 @ np.linalg.inv(S), "The inverse is that of the corrupted matrix."


@answer("autoencoder-x04", "F at the given V_4 and W_4", 3)
def own_risk():
    from mlnotes.autoencoder import autoencoder_network, reconstruction_risk
    from mlnotes.neural_networks import RELU

    X = datasets.load_iris().X
    flowers = ((X - X.mean(axis=0)) / X.std(axis=0))[:20]
    rng = np.random.default_rng(4)
    V, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 3))
    layers, net = [(V, np.zeros(3)), (W, np.zeros(4))], autoencoder_network((4, 3), RELU)
    F, plain = (reconstruction_risk(net, layers, flowers, beta=beta)[0] for beta in (0.1, 0.0))
    yield F
    yield plain, "The price of the code is missing."
    yield F + plain, "The squared error has a factor 1/2."
    yield 20 * F, "Divide by the number of samples."


@answer("autoencoder-x05", "the denoising error of M = I, and of walk 8", 2)
def copying_denoiser():
    from mlnotes.autoencoder import denoising_error, linear_denoiser

    S = np.corrcoef(datasets.load_iris().X.T)
    kinds = np.eye(4), linear_denoiser(S, "masking", 0.3)
    errors = [denoising_error(M, S, "masking", 0.3) for M in kinds]
    yield errors
    yield (0, errors[1]), "Copying leaves the damage as it is."
    yield errors[::-1], "The two are exchanged."


@answer("kernel_pca-x01a", "the centred Gram matrix, as (3, 3)", 3)
def centred_by_hand():
    from mlnotes.kernels import centre_gram

    K = np.outer([1.0, 0, 1], [1.0, 0, 1])
    yield centre_gram(K)
    yield K, "This is the Gram matrix before it is centred."
    yield K - K.mean(axis=1, keepdims=True) - K.mean(axis=0), "Add the mean of all entries."
    yield K - K.mean(axis=0), "Subtract the means of the rows and of the columns."


@answer("kernel_pca-x01b", "mu_1 and lambda_1", 3)
def eigenvalue_by_hand():
    from mlnotes.kernel_pca import kernel_pca

    mu = kernel_pca(np.outer([1.0, 0, 1], [1.0, 0, 1])).mu[0]
    yield mu, mu / 3
    yield (mu, mu / 2), "A variance divides by n here."
    yield (mu, mu), "The variance is the eigenvalue divided by n."
    yield (9 * mu, 3 * mu), "The centred matrix has a factor 1/9."


@answer("kernel_pca-x01c", "the scores of the three samples", 3, "sign")
def scores_by_kernel():
    from mlnotes.kernel_pca import kernel_pca

    found = kernel_pca(np.outer([1.0, 0, 1], [1.0, 0, 1]))
    yield found.Z[:, 0]
    yield found.B[:, 0], "This is the eigenvector. Multiply by the root of its eigenvalue."
    yield found.mu[0] * found.B[:, 0], "Multiply by the root of the eigenvalue."


@answer("kernel_pca-x01d", "the score of the new point", 3, "sign")
def new_score():
    from mlnotes.kernel_pca import kernel_pca, new_scores

    K = np.outer([1.0, 0, 1], [1.0, 0, 1])
    found = kernel_pca(K)
    right = new_scores(np.array([[4.0, 0.0, 4.0]]), K, found.mu, found.B)
    yield right
    yield 4, "This is the feature of the new point. Subtract the mean of the samples."
    yield right * found.mu[0], "Divide by the root of the eigenvalue, not by less."


@answer("kernel_pca-x02", "the rank of K, and the number of axes with a positive variance")
def repeated_samples():
    from mlnotes.kernel_pca import kernel_pca
    from mlnotes.kernels import Gaussian

    points = np.random.default_rng(1).normal(size=(5, 2))[[0, 1, 2, 3, 4, 0, 0, 3, 3, 3]]
    K = Gaussian.of_width(1.0)(points)
    rank = np.linalg.matrix_rank(K)
    yield rank, len(kernel_pca(K).mu)
    yield (10, 9), "Equal samples have equal features."
    yield (rank, rank), "Centring takes one dimension away."


@answer(
    "kernel_pca-x04",
    "for 178 samples: how often the eigenvalue 1 occurs, and the share of one axis",
    5,
)
def narrow_kernel():
    yield 177, 1 / 177
    yield (178, 1 / 178), "What does centring do to the vector of ones?"
    yield (177, 1), "The axes share the variance."


@answer(
    "kernel_pca-x06c", "alpha for noise of standard deviation 0.1, 0.3 and 0.5, with n = 500", 2
)
def way_back():
    sigma = np.array([0.1, 0.3, 0.5])
    yield 500 * sigma**2
    yield sigma**2, "The eigenvalues of the Gram matrix are n times the variances."
    yield 500 * sigma, "The variance of the noise enters."
    yield sigma**2 / 500, "The eigenvalues of the Gram matrix are larger than the variances."


KM = np.array([
    [0, 2310, 930, 840, 1180, 520],
    [2310, 0, 1590, 2740, 1860, 2300],
    [930, 1590, 0, 1150, 1430, 1240],
    [840, 2740, 1150, 0, 2010, 1350],
    [1180, 1860, 1430, 2010, 0, 760],
    [520, 2300, 1240, 1350, 760, 0],
])  # fmt: skip


def europe():
    """The eigenvalues and eigenvectors of the centred squares, times -1/2, from small to large."""
    from mlnotes.kernels import centre_gram

    return np.linalg.eigh(-centre_gram(KM.astype(float) ** 2) / 2)


@answer("kernel_pca-x07b", "the six eigenvalues in 1000 square km (in any order)", 0, "order")
def eigenvalues_of_europe():
    from mlnotes.kernels import centre_gram

    right = europe()[0] / 1000
    yield right
    yield -2 * right, "The factor -1/2 is missing."
    yield -right, "All signs are turned."
    plain = np.linalg.eigvalsh(-centre_gram(KM.astype(float)) / 2)
    yield plain / 1000, "The entries must be squared distances."
    yield (
        np.linalg.eigvalsh(-(KM.astype(float) ** 2) / 2) / 1000,
        "Centre the matrix on both sides.",
    )


@answer("kernel_pca-x07c", "the largest error of a distance, in km", 1)
def map_of_europe():
    values, vectors = europe()
    errors = []
    for q in (2, 1):
        Z = vectors[:, ::-1][:, :q] * np.sqrt(values[::-1][:q])
        errors.append(np.abs(np.linalg.norm(Z[:, None] - Z, axis=2) - KM).max())
    yield errors[0]
    yield errors[1], "This map has one axis only."


@answer("kernel_pca-x07d", "the factor of the eigenvalues, and the factor of the map", 3)
def stretched_europe():
    yield 1.1**2, 1.1
    yield (1.1, 1.1), "The matrix contains squared distances."
    yield (1.1, 1.1**2), "The two are exchanged."
    yield (1.1**2, 1.1**2), "The scores contain the roots of the eigenvalues."


@answer("ica-x01a", "the kurtosis in (a), (b) and (c)", 2)
def kurtoses():
    right = np.array([(1 / 5) / (1 / 3) ** 2, 24 / 2**2, 1]) - 3
    yield right
    yield right + 3, "Subtract the value of the normal distribution."
    yield (1 / 5 - 3, 24 - 3, -2), "Divide by the square of the variance."


@answer("ica-x01d", "the smaller q for which the kurtosis is 0", 3)
def share_of_ink():
    right = min(np.roots([1, -1, 1 / 6]))
    yield right
    yield 1 - right, "This is right, too, but the smaller one is asked for."
    yield 1 / 6, "This is the variance q (1 - q). Solve for q."
    yield 1 / 2, "Here the kurtosis is smallest."


@answer("ica-x02b", "the Amari index", 4)
def amari_by_hand():
    from mlnotes.ica import amari_index

    right = amari_index(np.array([[2.0, 1.0], [0.0, 1.0]]))
    yield right
    yield 4 * right, "The sum of the rows and of the columns is divided."
    yield 1 / 8, "The columns count as well."
    yield 0, "The first component contains both sources."


@answer("ica-x02c", "the Amari index", 4)
def amari_of_scales():
    from mlnotes.ica import amari_index

    A, C = np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([[1.0, -1.0], [0.0, 3.0]])
    yield amari_index(C @ A)
    yield amari_index(C), "Compute the product with A first."
    yield amari_index(A), "This is the index of (b)."


@answer("ica-x04", "the limits of t in degrees for (b) and for (c)", 1)
def forgotten_term():
    limits = []
    for kappa in (-6 / 5, 3):
        t = np.radians(10)
        for _ in range(200):
            s, c = np.sin(t) ** 2, np.cos(t) ** 2
            t = np.arctan(np.tan(t) * (3 + kappa * s) / (3 + kappa * c))
        limits.append(np.degrees(t))
    yield limits
    yield (0, 0), "For a negative kurtosis, is the factor of tan t above or below 1?"
    yield limits[::-1], "The two are exchanged."
    yield (90, 0), "At an equal mixture the step changes nothing."


@answer("ica-x05c", "the correlation of the two sines", 2)
def two_sines():
    time = 2 * np.pi * np.arange(2000) / 53
    yield np.corrcoef(np.sin(time), np.sin(time + 1))[0, 1]
    yield 0, "Compute it: the sines have the same period."
    yield np.cos(np.radians(1)), "The shift is a radian, not a degree."


@answer("ica-x06", "the bound in (b) for the kurtoses -1.2, 3 and -0.4", 2)
def sum_of_squares():
    kappa = np.array([-1.2, 3.0, -0.4])
    yield np.sum(kappa**2)
    yield np.sum(kappa) ** 2, "Square each kurtosis before you add."
    yield np.sum(kappa), "The squares are added."


if __name__ == "__main__":
    ANSWERS.write_text(text(), encoding="utf-8", newline="\n")
