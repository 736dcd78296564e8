"""The site in a real browser, opened from its files: skipped where there is none.

    pip install --editable ".[browser]"                  and Chromium, a package of the system
    python -m pytest -q tests/benchmarks/browser.py

Every page is opened several times, so this takes some ten minutes.
"""

import json
import math
import re
import shutil

import pytest
from test_site import site  # noqa: F401  (a fixture)

from mlnotes import reading

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
expect = playwright.expect
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        opened = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def tab(browser, site):  # noqa: F811
    """A page that notes errors and requests that leave the folder."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.faults = []
    page.on(
        "console", lambda m: page.faults.append(m.text) if m.type in ("error", "warning") else 0
    )
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    left = "net::ERR_ABORTED"  # the page was left before its pictures had come
    page.on("requestfailed", lambda r: r.failure == left or page.faults.append(f"failed: {r.url}"))
    inside = (site.as_uri() + "/", "data:")
    page.on(
        "request", lambda r: r.url.startswith(inside) or page.faults.append(f"outside: {r.url}")
    )
    page.folder = site
    yield page
    context.close()


def test_every_page_opens_without_a_fault_and_fits_a_phone(tab):
    tab.set_viewport_size({"width": 390, "height": 800})
    wider = {}
    for path in sorted(tab.folder.glob("*.html")):
        tab.goto(path.as_uri())
        if tab.evaluate(WIDER) > 0:
            wider[path.name] = tab.evaluate(WIDER)
    assert tab.faults == []
    assert wider == {}


def film(tab, page, name):
    """The player of a film, ready."""
    tab.goto((tab.folder / page).as_uri())
    player = tab.locator(f'[data-film="{name}"]')
    player.scroll_into_view_if_needed()
    player.and_(tab.locator("[data-ready]")).wait_for()
    return player


def count(player):
    """The number of the step, and that of the last."""
    text = player.locator(".film-step + output").inner_text()
    return tuple(int(number) for number in text.split(" / "))


TO_THE_END = """(each, n) => {
    const pictures = new Set();
    while (n--) {
        pictures.add(each.querySelector(".film-picture").innerHTML);
        each.querySelector(".step").click();
    }
    return pictures.size;
}"""
TO_THE_START = "(each, n) => { while (n--) each.querySelector('.back').click(); }"


def test_every_player_goes_to_its_end_and_back(tab):
    for path in sorted(tab.folder.glob("[0-9]*.html")):
        tab.goto(path.as_uri())
        for name in [each.get_attribute("data-film") for each in tab.locator("[data-film]").all()]:
            player = film(tab, path.name, name)
            step, words = player.locator("button.step"), player.locator(".film-words")
            first, (start, last) = words.inner_text(), count(player)
            assert player.evaluate(TO_THE_END, last + 1) > 1  # different pictures
            assert count(player) == (last, last) and last > start == 0
            assert step.get_attribute("aria-disabled") == "true"
            player.evaluate(TO_THE_START, last + 1)
            assert count(player)[0] == 0
            assert words.inner_text() == first
            for setting in player.locator("input.film-setting").all():
                setting.press("End")
                value = setting.get_attribute("aria-valuetext")
                assert setting.locator("xpath=following-sibling::output").inner_text() == value
    assert tab.faults == []


def test_keys_move_a_film_and_the_focus_stays(tab):
    player = film(tab, "05_clustering.html", "clustering/lloyd")
    step = player.locator("button.step")
    step.focus()
    for _ in range(count(player)[1] + 2):
        tab.keyboard.press("ArrowRight")
    assert count(player)[0] == count(player)[1]
    assert step.evaluate("each => each === document.activeElement")
    tab.keyboard.press("ArrowLeft")
    assert count(player)[0] == count(player)[1] - 1
    player.locator(".film-speed").select_option("fast")
    player.locator("button.play").click()
    player.get_by_role("button", name="Play").wait_for()  # it stops by itself
    assert count(player)[0] == count(player)[1]


FIRST_HITS = {  # what students type, and what the first hit must be of
    "kernel trick": "18. Kernels", "SMO": "19. Support vector machines",
    "softmax gradient": "11. Logistic", "IRHD 8.46": "svm-41", "irhd eq 8.46": "svm-41",
    "bias variance": "(3. Estimation|15. Model)", "EM convergence": "6. Mixtures",
    "k-means++": "5. Clustering", "PCA whitening": "24. .*[Ww]hiten",
    "dual problem": "(9. Optimization|19. Support).*[Dd]ual", "VC dimension": "14. Learning theory",
    "learning rate": "step size|[Ss]teps?|learning rate", "gradient decent": "radient descent",
    "how to choose k": "(5. Clustering|8. Nearest|15. Model selection)", "EM": "6. Mixtures",
    "SVM": "19. Support vector machines", "naive bayes": "7. Generative", "kmeans": "5. Clustering",
    "regularisation": "(10. Linear|15. Model)", "regularization": "(10. Linear|15. Model)",
    "kmeans_plus_plus": "5. Clustering", "overfitting": "(10. Linear|15. Model|16. Neural)",
    "cross validation": "15. Model selection", "backpropagation": "16. Neural networks",
    "support vector": "19. Support vector machines", "decision tree pruning": "21. Decision trees",
    "random forest": "22. Ensembles", "curse of dimensionality": "(4. Density|8. Nearest)",
    "maximum likelihood": "3. Estimation", "Bayes error": "2. Decision theory",
    "perceptron convergence": "perceptron-13", "lagrange multiplier": "9. Optimization",
    "hinge loss": "19. Support vector machines", "silhouette": "5. Clustering",
    "eigenfaces": "24. Principal", "FastICA": "27. Independent", "ROC curve": "2. Decision theory",
    "ridge regression": "10. Linear regression", "lasso": "10. Linear regression",
    "gini impurity": "21. Decision trees", "max pooling": "17. Convolution",
    "denoising autoencoder": "25. Autoencoders", "early stopping": "(16. Neural|18. Kernels)",
    "boosting": "22. Ensembles", "nearest neighbor": "8. Nearest neighbours",
    "parzen window": "4. Density", "newton's method": "9. Optimization",
    "mercer theorem": "18. Kernels", "bais variance": "(3. Estimation|15. Model)",
    "gausian mixture": "6. Mixtures", "back propagation": "16. Neural networks",
    "why does em converge": "6. Mixtures", "elbow method": "5. Clustering", "IRHD 3.7": "statement",
    "slack variables": "19. Support", "clustering-x05": "exercise", "optimisation": "9. Optim",
    "walk 5 svm": "19. .* Walk 5", "exercise 3 clustering": "5. .* Exercise 3", "PCA": "24. P",
    "bayes theorem": "Bayes' rule", "gradient descent": "9. Optimization Gradient",
    "overfiting": "overfit|Model|Ridge", "svn": "chapter 19", "eigenface": "24. Principal",
    "alpha_i": "^symbol .* αi coefficient",
    "R^2": "10. Linear regression coefficient of determination", "margin": "^term .* margin",
    "momentum": "16. Neural networks", "minibatch": "16. Neural networks mini-batch",
    "kernel pca": "chapter 26|26. Kernel .* Kernel PCA", "logistic regression": "chapter 11",
    "gram matrix": "18. Kernels Gram matrix", "hoeffding": "14. Learning theory Hoeffding",
    "gini": "21. Decision trees Gini", "bagging": "22. Ensembles", "neural net": "chapter 16",
    "p-value": "3. Estimation", "log likelihood": "(3. Estimation|6. Mix)", "gaussian": "1. Prob",
    "lambda": "^symbol", "mahalanobis": "Mahalanobis distance", "kurtosis": "27. Independent",
    "MAP": "3. Estimation", "OLS": "Least squares", "R2": "coefficient of determination",
    "Sigma": "^symbol .* Σ", "sigma squared": "^symbol .* σ²", "varepsilon": "^symbol .* [εϵ]",
    "lambda_1": "^symbol .* λ", "logsumexp": "log_sum_exp", "RBF kernel": "Gaussian kernel",
    "how does backprop work": "16. Neural", "difference between lda and pca": "13. .* LDA and PCA",
    "kNN classifier": "8. Nearest", "hierarchical clustering": "Agglomerative", "install": "page",
    "principle component analysis": "chapter 24", "kernel matrix": "Gram matrix", "Gauß": "Gauss",
    "one vs all": "Several classes", "minibatches": "16. Neural networks mini-batch",
    "blind source separation": "chapter 27", "notation": "page .* Symbols", "KernelPCA": "26. K",
}  # fmt: skip


def test_the_search_finds_what_students_type(tab):
    tab.goto((tab.folder / "index.html").as_uri())
    tab.focus("#query")
    tab.wait_for_function("index !== null")
    wrong = {}
    for query, right in FIRST_HITS.items():
        tab.fill("#query", query)
        first = tab.locator("#results li").first.inner_text().replace("\n", " ")
        if not re.search(right, first):
            wrong[query] = first[:90]
    assert wrong == {}
    tab.fill("#query", "IRHD 99.9")
    expect(tab.locator("#results")).to_contain_text("Nothing found. All numbers of IRHD.")
    tab.fill("#query", "IRHD 8.46")
    tab.press("#query", "Enter")
    tab.wait_for_url("**/statements_svm.html#svm-41")
    tab.keyboard.press("/")
    tab.keyboard.type("lasso")
    tab.locator("#results li").first.wait_for()
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.closest('#results') !== null")
    tab.keyboard.press("Escape")
    assert tab.locator("#results li").count() == 0
    assert tab.faults == []


def test_the_page_says_of_an_answer_what_check_says(tab):
    """Right answers and mistakes, as the student's cell judges them; and how to type a number."""
    tab.goto((tab.folder / "05_clustering.html").as_uri())
    asked = 0
    for form in tab.locator("form.check").all():
        entry = json.loads(form.get_attribute("data-check"))
        for typed, value in (("1", 1), ("[1, 2]", [1, 2]), ("3/2, -4", [1.5, -4]), ("two", "two"),
                             ("2*sqrt(2)/pi", 2 * 2**0.5 / math.pi),
                             ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]), ("", ...)):  # fmt: skip
            form.locator("input").fill(typed)
            form.locator("button").click()
            output = form.locator("output")
            tab.wait_for_function("each => each.textContent !== ''", arg=output.element_handle())
            said = reading._verdict(entry["id"], value, entry)
            if said.endswith("got text."):
                said += " Enter digits, as in 1.5, 2/3 or 1, 2, 3."
            elif "expected one number, got 2" in said:
                said += " A decimal point is a dot."
            elif "expected an array" in said:
                said += " Enter rows as [1, 2], [3, 4]."
            expect(output).to_have_text(said)
            asked += 1
    assert asked > 40


def test_the_right_answer_is_right_on_the_page(tab):
    """Forms made here, since the pages do not hold the answers."""
    cases = [(0.125, 3, "", "1/8"), (0.125, 3, "", "0.13"), ([1, -2], 1, "sign", "-1, 2"),
             ([3, 1, 2], 1, "order", "{1, 2, 3}"), ([0, 1, 1], 1, "labels", "b, a, a"),
             ([[1, 2], [3, 4]], 1, "", "(1, 3), (2, 4)"), ("Ward", 1, "words", " ward"),
             ([2.5, 1.25], 2, "", "1.25, 2.5"), ([3, 4], 2, "scale", "0.6 0.8")]  # fmt: skip
    tab.goto((tab.folder / "05_clustering.html").as_uri())
    for right, digits, kind, typed in cases:
        entry = reading._entry("clustering-x99", [(right, reading.RIGHT)], digits, kind)
        entry |= {"words": "it", "id": "clustering-x99"}
        said = tab.evaluate("([typed, entry]) => verdict(typed, entry)", [typed, entry])
        value = {"1/8": 0.125, "0.13": 0.13, "-1, 2": [-1, 2], "{1, 2, 3}": {1, 2, 3},
                 "b, a, a": ["b", "a", "a"], "(1, 3), (2, 4)": [(1, 3), (2, 4)],
                 " ward": " ward", "1.25, 2.5": [1.25, 2.5]}.get(typed)  # fmt: skip
        if value is not None:
            assert said == reading._verdict("clustering-x99", value, entry), typed
        else:
            assert said == reading._verdict("clustering-x99", [0.6, 0.8], entry), typed


def test_a_copied_formula_is_its_tex(tab):
    tab.goto((tab.folder / "05_clustering.html").as_uri())
    text = tab.evaluate("""() => {
        const math = document.querySelector("main p math"), range = document.createRange();
        range.selectNode(math);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer() });
        dispatchEvent(event);
        const tex = math.getAttribute("alttext") || math.textContent;
        return [event.clipboardData.getData("text/plain"), tex];
    }""")
    assert text[0] == f"${text[1]}$"


def test_on_a_phone_the_title_comes_first_and_reasons_stay_within_reach(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto((tab.folder / "05_clustering.html").as_uri())
    assert tab.locator("h1").bounding_box()["y"] < 120
    walk = tab.locator("math.aligned").first
    for reason in walk.locator("mtr mtd:nth-child(6)").all():
        box = reason.bounding_box()
        assert 0 <= box["x"] and box["x"] + min(box["width"], 60) <= 390


def test_the_outline_marks_where_one_is(tab):
    tab.goto((tab.folder / "05_clustering.html").as_uri())
    heading = tab.locator("h3").filter(has_text="Walk 2.")
    heading.evaluate("each => each.scrollIntoView()")
    expect(tab.locator('.outline a[aria-current="true"]')).to_contain_text("Walk 2.")


def test_print_leaves_solutions_closed(tab):
    tab.goto((tab.folder / "05_clustering.html").as_uri())
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details.solution").count() >= 8
    assert tab.locator("details.solution[open]").count() == 0
    assert tab.locator("main details:not(.solution):not([open])").count() == 0


def test_the_scheme_is_remembered(tab):
    tab.goto((tab.folder / "index.html").as_uri())
    tab.click("#scheme")
    assert tab.evaluate("document.documentElement.dataset.scheme") == "dark"
    tab.goto((tab.folder / "errata.html").as_uri())
    assert tab.evaluate("document.documentElement.dataset.scheme") == "dark"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_a_screen_reader(scheme, tab):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab.emulate_media(color_scheme=scheme)
    found = {}
    for path in sorted(tab.folder.glob("*.html")):
        tab.goto(path.as_uri())
        violations = axe.run(tab).response["violations"]
        if violations:
            found[path.name] = [(v["id"], v["nodes"][0]["html"][:200]) for v in violations]
    assert found == {}
