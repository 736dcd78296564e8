"""Make the book as a folder of pages, from the notebooks, the modules and the ledger of statements.

    python notebooks/site/build_site.py [FOLDER]

The folder is ``_site`` unless it is named. A page opens by a double click: it loads nothing from
outside the folder. Notebooks are not executed; their stored outputs are shown. Films are recorded
from the generators of the package. Two builds give the same bytes.

Contents
    A page                 page, link_list
    Text and code          markdown, code_html, numbered
    Chapters               chapter_page, Outline
    Films                  player, recordings
    Modules and tests      module_page, tests_page
    What the notes state   entry, statements_page, notes_page, printed_and_correct,
                           appendix_numbers, errata_page
    The rest               gallery_page, symbols_page, contents_page, search_entries, build
"""

import ast
import base64
import importlib
import json
import re
import shutil
import struct
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from html import escape, unescape
from io import BytesIO
from itertools import count, groupby
from pathlib import Path

import mistune
from formulas import put_back, set_aside, text_to_html
from PIL import Image
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from recording import record

from mlnotes import CHAPTERS
from mlnotes.__main__ import ID, algorithms_shown, load_claims, places, read_citations
from mlnotes.plotting import FILMS, REGISTRY
from mlnotes.reading import CAPTION, public_names, shown, source

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOTES = {
    "MLN": "Machine learning notes",
    "REP": "Machine learning report",
    "PRNN": "Pattern recognition and neural networks",
    "ISML": "Introduction to statistical machine learning",
    "IRHD": "Introduction, regression, high-dimensional statistics",
}
MODULES = ("base", "numerics", "datasets", "plotting", "reading", *CHAPTERS)
PAGES = {
    "index.html": "Contents",
    "statements.html": "Statements",
    "errata.html": "Errata",
    "figures.html": "Figures",
    "symbols.html": "Symbols",
    "guide.html": "How to use this",
}
LOOKS = ((Comment, "c"), (Keyword, "k"), (Operator.Word, "k"), (String, "s"), (Number, "n"))
RULED = re.compile(r"^# (?:--- (.+?) -{5,}|={20,}\n# (.+)\n# ={20,})$", re.M)  # a section, a half
PAIR = re.compile(r"\s*->\s*(?:correct:\s*)")  # between the printed and the correct form
ARROW = re.compile(r"\s+->\s+")
QUOTED = re.compile(r"(?<!\S)'[^']*'")  # an arrow in it is the notes' own


# --- A page ----------------------------------------------------------------------------


def page(title, body, outline="", scripts=(), here=""):
    """A whole page of HTML."""
    more = "".join(f'<script src="{script}" defer></script>' for script in scripts)
    current = ' aria-current="page"'
    menu = "".join(
        f'<a href="{to}"{current if to == here else ""}>{name}</a>' for to, name in PAGES.items()
    )
    aside = f'<nav class="outline" aria-label="On this page">{outline}</nav>' if outline else ""
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · mlnotes</title><link rel="stylesheet" href="style.css">
<script src="page.js"></script>{more}</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><nav aria-label="The book">{menu}</nav>
<form role="search"><label for="query">Search</label> <input id="query" type="search"
placeholder="IRHD 8.46, smo, margin" autocomplete="off"></form>
<button id="scheme" type="button">Dark or light</button>
<div id="results" role="status" aria-live="polite"></div></header>
<div class="columns">{aside}<main id="main" tabindex="-1">
{body}
</main></div>
</body>
</html>
"""


def link_list(links):
    """The links one after the other, each once."""
    return ", ".join(dict.fromkeys(links))


# --- Text and code ---------------------------------------------------------------------

_render = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])


def markdown(text):
    """Markdown as HTML: formulas as MathML, links to notebooks as links to their pages."""
    plain, kept = set_aside(text)
    html = put_back(_render(plain), kept)
    html = re.sub(r'(href|src)="\.\./(notebooks|figures)/', r'\1="\2/', html)
    html = re.sub(r'href="(?:notebooks/)?(\d\d_\w+)\.ipynb', r'href="\1.html', html)
    html = re.sub(
        r"<code>(?:mlnotes/(\w+)\.py|mlnotes\.(\w+))</code>",
        lambda m: (
            f'<a href="module_{m[1] or m[2]}.html">{m[0]}</a>'
            if (m[1] or m[2]) in MODULES
            else m[0]
        ),
        html,
    )
    html = re.sub(r"<table>", '<div class="wide"><table>', html).replace(
        "</table>", "</table></div>"
    )
    # A header without words, empty or a formula alone, has no name for a screen reader.
    return re.sub(r"<th( style=\"[^\"]*\")?>((?:<math.*?</math>)?)</th>", r"<td\1>\2</td>", html)


def code_html(code, links=None):
    """Python code as HTML; the names in `links` lead to their addresses."""
    found = []
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(code):
        look = next((name for group, name in LOOKS if kind in group), "")
        if kind in Name and links and text in links:
            found.append(f'<a href="{links[text]}">{escape(text)}</a>')
        elif look:
            parts = (f'<span class="{look}">{escape(part)}</span>' for part in text.split("\n"))
            found.append("\n".join(parts))
        else:
            found.append(escape(text, quote=False))
    return "".join(found)


def numbered(code, links=None):
    """Code with an element for each line, so that one of them can be marked."""
    lines = code_html(code, links).split("\n")
    return "".join(f'<span class="line">{line or " "}\n</span>' for line in lines)


@cache
def definitions():
    """The address of each public definition: {module: {name: address}}."""
    named = {each: public_names(importlib.import_module(f"mlnotes.{each}")) for each in MODULES}
    return {each: {name: f"module_{each}.html#{name}" for name in named[each]} for each in named}


def imported(code):
    """The addresses of the names that the code imports from the package."""
    found = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mlnotes"):
            home = node.module.removeprefix("mlnotes").removeprefix(".")
            for name in node.names:
                own = definitions().get(home, {}).get(name.name)
                if not home and name.name in MODULES:
                    own = f"module_{name.name}.html"
                if own:
                    found[name.asname or name.name] = own
    return found


# --- Chapters --------------------------------------------------------------------------


class Chapter:
    """The page of a notebook while it is made."""

    def __init__(self, number, name):
        self.name, self.file = name, f"{number:02d}_{name}"
        path = ROOT / "notebooks" / f"{self.file}.ipynb"
        self.cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        self.pictures = {}  # name of the file: its bytes
        self.outline = []  # (level, id, text)
        self.shown = set()  # the algorithms whose code has been shown
        code = [text_of(c) for c in self.cells if c["cell_type"] == "code"]
        plain = ("\n".join(x for x in each.splitlines() if x[:1] not in "%!") for each in code)
        self.links = {}
        for each in plain:
            try:
                self.links |= imported(each)
            except SyntaxError:  # a cell that shows an error
                continue

    def body(self, films):
        """The HTML of the cells. Solutions are folded, and each film stands below its source."""
        found, folded, waiting = [], [], list(films)
        for i, cell in enumerate(self.cells):
            if cell["cell_type"] == "code" and "solution" in cell["metadata"].get("tags", ()):
                folded.append(self.code_cell(i, cell))
                continue
            if folded:
                found.append(fold("Solution: the code", folded))
                folded = []
            if cell["cell_type"] == "markdown":
                found.append(self.text(text_of(cell)))
                continue
            found.append(self.code_cell(i, cell))
            for film in [f for f in waiting if home(f) in self.shown_before(i)]:
                found.append(player(film))
                waiting.remove(film)
        found += [fold("Solution: the code", folded)] if folded else []
        found += [player(film) for film in waiting]
        return "\n".join(found)

    def shown_before(self, i):
        """The functions whose source has been shown up to cell i."""
        return {name.rpartition(".")[2] for name in shown(self.cells[: i + 1])}

    def text(self, text):
        """A cell of text, with an id at each heading and links to the statements at anchors."""
        html = markdown(CAPTION.sub(r'<a id="figure-\1-\2"></a>\g<0>', text))
        html = re.sub(r'<p>((?:<a id="[^"]*"></a>\s*)+)</p>\s*(<h\d>)', r"\2\1", html)
        html = re.sub(r'<p><a id="(figure-\d+-\d+)"></a>', r'<p class="caption" id="\1">', html)
        html = re.sub(r"<h(\d)>(.*?)</h\1>", self.heading, html, flags=re.S)
        return re.sub(r'<a id="([^"]*)"></a>', lambda m: anchor(m[1]), html)

    def heading(self, found):
        """A heading with an id of its own, noted in the outline."""
        level, inner = int(found[1]), found[2]
        ids = re.findall(r'<a id="([^"]*)"></a>', inner)
        words = re.sub(r'<a id="[^"]*"></a>', "", inner).strip()
        slug = ids[0] if ids else slug_of(re.sub(r"<[^>]*>", "", words))
        self.outline.append((level, slug, words))
        marks = "".join(anchor(each, own=each != slug) for each in ids)
        return f'<h{level} id="{slug}">{words} {marks}</h{level}>'

    def code_cell(self, i, cell):
        """A cell of code with what it printed."""
        text = text_of(cell)
        found = [f'<pre class="code">{code_html(text, self.links)}</pre>']
        if text.startswith("%matplotlib") or "show(" in text and not text.count("\n"):
            found = []
        for j, output in enumerate(cell["outputs"]):
            found.append(self.output(f"{self.file}_{i:03d}_{j}", output))
        here = set(algorithms_shown([*self.imports(i), cell])) - self.shown
        self.shown |= here
        marks = " ".join(anchor(name) for name in sorted(here))
        return f'<div class="cell">{marks}{"".join(found)}</div>'

    def imports(self, i):
        """The cells before cell i, without their calls of `show`."""
        for cell in self.cells[:i]:
            if cell["cell_type"] == "code":
                lines = [x for x in text_of(cell).splitlines() if not x.startswith("show(")]
                yield cell | {"source": "\n".join(lines)}

    def output(self, name, output):
        """What a cell printed, drew or showed."""
        data = output.get("data", {})
        if "image/png" in data:
            content = base64.b64decode("".join(data["image/png"]))
            self.pictures[f"{name}.png"] = repacked(content)
            width, height = struct.unpack(">II", content[16:24])
            alt = output["metadata"].get("image/png", {}).get("alt", "")
            return (
                f'<img src="pictures/{name}.png" alt="{escape(alt)}" width="{width}" '
                f'height="{height}" loading="lazy">'
            )
        if "text/markdown" in data:
            code = "".join(data["text/plain"])
            return f'<pre class="code shown">{code_html(code, self.links)}</pre>'
        text = "".join(output.get("text") or data.get("text/plain") or output.get("traceback", ()))
        return f'<pre class="out">{escape(text, quote=False)}</pre>'

    def contents(self):
        """The outline as nested lists: sections, and the walks and exercises in them."""
        found = ["<ul>"]
        for level, slug, words in self.outline:
            if level in (2, 3):
                found.append(f'<li class="level{level}"><a href="#{slug}">{words}</a></li>')
        return "".join([*found, "</ul>"])


def repacked(png):
    """The same pixels in fewer bytes, without the channel of opacity where all is opaque."""
    picture, file = Image.open(BytesIO(png)), BytesIO()
    if picture.mode == "RGBA" and picture.getextrema()[3] == (255, 255):
        picture = picture.convert("RGB")
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def text_of(cell):
    """The source of a cell."""
    return "".join(cell["source"])


def slug_of(text):
    """An id from the words of a heading."""
    return re.sub(r"\W+", "-", unescape(text).lower()).strip("-")


def anchor(name, own=True):
    """The mark of a statement in the text, a link to the list; with `own`, it has the id."""
    mark = f' id="{name}"' if own else ""
    if name not in load_claims():
        return f"<span{mark}></span>"
    to = f"statements_{load_claims()[name].chapter}.html#{name}"
    label = f'aria-label="{name} in the list of statements"'
    return f'<a{mark} class="permalink" href="{to}" {label}>§</a>'


def fold(summary, parts):
    """The parts behind a summary that opens with a click."""
    return f"<details><summary>{summary}</summary>{''.join(parts)}</details>"


# --- Films -----------------------------------------------------------------------------


def home(film):
    """The name of the function that a film shows."""
    return film.algorithm.__name__


def player(film):
    """The player of a film: its script fills it from the recording."""
    name = f"{film.chapter}/{film.name}"
    sliders = "".join(
        f'<label>{setting} <input class="film-setting" type="range" min="0" '
        f'max="{len(values) - 1}" value="0" disabled> <output>{values[0]}</output></label>'
        for setting, values in film.settings.items()
    )
    curve = '<svg class="film-curve" viewBox="0 0 2304 640" aria-hidden="true"></svg>'
    home_of = film.algorithm.__module__.rpartition(".")[2]
    links = definitions()[home_of]
    caption = text_to_html(" ".join(film.make.__doc__.split()))
    return f"""<figure class="film" data-film="{name}"><div class="film-row"><div>
<svg class="film-picture" role="img" aria-label="The picture of the step"></svg>
{curve if film.measure else ""}</div>
<div class="film-side"><div class="film-buttons">
<button type="button" class="back" disabled>Back</button>
<button type="button" class="step" disabled>Step</button>
<button type="button" class="play" disabled>Play</button></div>
<label>step <input class="film-step" type="range" min="0" max="1" value="0" disabled></label>
{sliders}<p class="film-words" aria-live="polite"></p></div></div>
<details><summary>The source, with the line that yields each state</summary>
<pre class="code film-source">{numbered(source(film.algorithm), links)}</pre></details>
<figcaption><strong>Film.</strong> {caption}</figcaption>
<noscript><p>The film needs JavaScript.</p></noscript></figure>"""


def recordings(chapter):
    """The recordings of a chapter's films as scripts: a dictionary of their files."""
    found = {}
    for film in films_of(chapter):
        content = json.dumps(record(film), separators=(",", ":"), ensure_ascii=False)
        name = f"films/{chapter}.{film.name}.js"
        found[name] = f'addFilm("{chapter}/{film.name}",{content});\n'
    return found


def films_of(chapter):
    """The films of a chapter."""
    load_figures(chapter)
    return [film for film in FILMS if film.chapter == chapter]


@cache
def load_figures(chapter):
    """Register the figures and films of a chapter, once."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    importlib.import_module(f"figures.{chapter}")


# --- Modules and tests -----------------------------------------------------------------


def module_page(module):
    """The annotated source of a module: what a docstring says, beside the code."""
    path = ROOT / "mlnotes" / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    loaded = importlib.import_module(f"mlnotes.{module}")
    links = imported(text) | definitions()[module]
    links |= {
        n.name: f"#{n.name}" for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))
    }
    titles = {text[: m.start()].count("\n") + 1: m[1] or m[2] for m in RULED.finditer(text)}
    rows, outline, last, plain = [], [], tree.body[0].end_lineno, []
    for node in tree.body[1:]:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        ruled = [titles[line] for line in titles if last < line <= start]
        defines = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        if plain and (ruled or defines):
            rows.append(plain_block(plain, links, public_names(loaded)))
            plain = []
        for title in ruled:
            rows.append(f'<h2 id="section-{slug_of(title)}">{escape(title)}</h2>')
            outline.append(f'<li><a href="#section-{slug_of(title)}">{escape(title)}</a></li>')
        if defines:
            code = code_html(source(getattr(loaded, node.name)), links)
            rows.append(
                f'<section class="beside" id="{node.name}"><div class="said">{documented(node)}'
                f'</div><pre class="code">{code}</pre></section>'
            )
        else:
            plain += ["" for _ in range(start - last - 1) if plain] + lines[
                start - 1 : node.end_lineno
            ]
        last = node.end_lineno
    rows += [plain_block(plain, links, public_names(loaded))] if plain else []
    opening = f"<h1>mlnotes.{module}</h1>{docstring_html(ast.get_docstring(tree))}"
    return page(f"mlnotes.{module}", opening + "\n".join(rows), f"<ul>{''.join(outline)}</ul>")


def plain_block(lines, links, public):
    """Lines of a module that are not in a function or class; the public names in them get ids."""
    code = "\n".join(lines)
    names = [node.id for top in ast.parse(code).body if isinstance(top, (ast.Assign, ast.AnnAssign))
             for node in ast.walk(top) if isinstance(node, ast.Name)
             and isinstance(node.ctx, ast.Store) and node.id in public]  # fmt: skip
    marks = "".join(f'<span id="{name}"></span>' for name in dict.fromkeys(names))
    return f'{marks}<pre class="code">{code_html(code, links)}</pre>'


def documented(node):
    """The docstring of a function or class, and those of its methods, as HTML."""
    found = [docstring_html(ast.get_docstring(node) or "")]
    for method in node.body if isinstance(node, ast.ClassDef) else ():
        text = ast.get_docstring(method) if isinstance(method, ast.FunctionDef) else None
        if text:
            mark = f'id="{node.name}.{method.name}"'
            found.append(f"<h3 {mark}>{node.name}.{method.name}</h3>{docstring_html(text)}")
    return "".join(found)


def docstring_html(text):
    """A docstring as HTML: paragraphs with formulas; indented blocks and examples as they are."""
    found = []
    for block in re.split(r"\n\s*\n", text):
        if block.startswith((" ", ">>>")) or re.search(r"\n {2,}|\n-{3,}|\n\.\.\.", block):
            found.append(f"<pre>{with_ids(escape(block, quote=False))}</pre>")
        elif block.strip():
            found.append(f"<p>{with_ids(text_to_html(block.replace('``', '`')))}</p>")
    return "".join(found)


def with_ids(html):
    """The HTML with a link at each id of a statement."""
    return ID.sub(lambda m: statement_link(m[0]) if m[0] in load_claims() else m[0], html)


def statement_link(name):
    """A link to a statement in the list of its chapter."""
    return f'<a href="statements_{load_claims()[name].chapter}.html#{name}">{name}</a>'


def tests_page(path):
    """The source of a file of tests, with an id for each test."""
    text = escape(path.read_text(encoding="utf-8"), quote=False)
    text = re.sub(r"^((?:    )?)def (test_\w+)", r'\1def <span id="\2">\2</span>', text, flags=re.M)
    text = with_ids(text)
    return page(path.name, f'<h1>{path.name}</h1><pre class="code">{text}</pre>')


# --- What the notes state --------------------------------------------------------------


def entry(claim):
    """A statement with its sources, and what computes, checks, draws and tells it."""
    cited, told = read_citations(), anchored()
    rows = {
        "in": "; ".join(source_link(part) for part in claim.sources.split(";")),
        "computed by": link_list([code_link(claim.owner)] if claim.owner else []),
        "checked by": link_list(test_link(name) for name in cited.tests.get(claim.id, ())),
        "drawn in": link_list(figure_link(name) for name in cited.figures.get(claim.id, ())),
        "in the chapter": link_list(told.get(claim.id, ())),
        "derives": link_list(statement_link(name) for name in claim.of.split()),
        "derived or shown in": link_list(
            statement_link(name) for name in derived().get(claim.id, ())
        ),
    }
    items = "".join(f"<dt>{what}</dt><dd>{links}</dd>" for what, links in rows.items() if links)
    return (
        f'<article id="{claim.id}"><h2><a href="#{claim.id}">{claim.id}</a> '
        f"<small>{claim.kind}</small></h2><p>{text_to_html(claim.statement)}</p><dl>{items}</dl></article>"
    )


@cache
def anchored():
    """The links to the passages of the chapters, by the id of the statement."""
    found = defaultdict(list)
    cited = read_citations()
    for names in (cited.notebooks, cited.walks, cited.shown):
        for claim, passages in names.items():
            for passage in passages:
                file, _, section = passage.partition(", ")
                words = section or "the code on the page"
                to = f"{file.removesuffix('.ipynb')}.html#{claim}"
                found[claim].append(f'<a href="{to}">{text_to_html(words)}</a>')
    return found


@cache
def derived():
    """The walks and algorithms that belong to a statement."""
    found = defaultdict(list)
    for claim in load_claims().values():
        for name in claim.of.split():
            found[name].append(claim.id)
    return found


def source_link(part):
    """A source of a statement, as a link to the list of its note."""
    note, _, rest = part.strip().partition(" ")
    if note not in NOTES:
        return text_to_html(part)
    to = f"notes_{note}.html#{place_id(places_of(rest)[0])}"
    return f'<a href="{to}">{text_to_html(part.strip())}</a>'


def places_of(rest):
    """The places of one source in a note: numbered ones, or the title of the section."""
    return sorted(places(rest)) or [rest.strip().strip('"')]


def place_id(place):
    """The id of a place on the page of its note."""
    return re.sub(r"[^\w.]+", "-", place).strip("-") or "whole"


def breakable(name):
    """A name that may go on in a new line after an underscore or a dot."""
    return re.sub(r"([_.])", r"\1<wbr>", name)


def code_link(name):
    """A link to a function or class: ``svm.SVC.fit``."""
    module, _, rest = name.partition(".")
    return f'<a href="module_{module}.html#{rest}"><code>{breakable(name)}</code></a>'


def test_link(name):
    """A link to a test: ``test_svm.py::test_duality``."""
    file, _, test = name.partition("::")
    return f'<a href="{file.removesuffix(".py")}.html#{test}"><code>{breakable(test)}</code></a>'


def figure_link(name):
    """A link to a figure in the gallery: ``svm/margin``."""
    return f'<a href="figures.html#{name.replace("/", "-")}">{name}</a>'


def statements_page(chapter):
    """All statements, walks and algorithms of a chapter."""
    own = [claim for claim in load_claims().values() if claim.chapter == chapter]
    body = f"<h1>Statements: {title_of(chapter)}</h1>" + "\n".join(map(entry, own))
    return page(f"Statements: {title_of(chapter)}", body)


def notes_page(note):
    """The statements of one of the five notes, by its own sections and numbers.

    A statement with several numbers is written out at the first one.
    """
    at, named = defaultdict(list), {}
    for claim in load_claims().values():
        for part in claim.sources.split(";"):
            name, _, rest = part.strip().partition(" ")
            if name == note:
                for place in places_of(rest):
                    named.setdefault(place_id(place), place)
                    at[place_id(place)].append(claim)
    rows, written = [], set()
    for place in sorted(named, key=lambda place: place_order(named[place])):
        items = ""
        for claim in dict.fromkeys(at[place]):
            text = "" if claim.id in written else text_to_html(claim.statement)
            items += f"<li>{statement_link(claim.id)} {text}</li>"
            written.add(claim.id)
        heading = text_to_html(named[place][:1].upper() + named[place][1:])
        rows.append(f'<h2 id="{place}">{note} {heading}</h2><ul>{items}</ul>')
    title = f"{note}: {NOTES[note]}"
    return page(title, f"<h1>{title}</h1>" + "".join(rows))


def place_order(place):
    """Numbered places by their numbers, sections before equations; then titles by the alphabet."""
    kind, _, number = place.rpartition(" ")
    if not re.fullmatch(r"[\d.]+", number):
        return 1, (), place
    return 0, tuple(map(int, number.split("."))), "" if kind == "section" else kind


def printed_and_correct(statement):
    """What a note prints, and what is correct: the two sides of an arrow.

    >>> printed_and_correct("'x -> 0' holds -> correct: x -> 1")
    ("'x -> 0' holds", 'x -> 1')
    """
    plain = QUOTED.sub(lambda m: "'" * len(m[0]), statement)
    sides = PAIR.search(plain) or ARROW.search(plain)
    return (statement[: sides.start()], statement[sides.end() :]) if sides else (statement, "")


def appendix_numbers(chapter):
    """What the cells of the chapter's appendix print, in which the testable slips fail."""
    past, found = False, []
    for cell in chapter.cells:
        past = past or (
            cell["cell_type"] == "markdown" and "## Slips in the notes" in text_of(cell)
        )
        if past:
            found += ["".join(output.get("text", ())) for output in cell.get("outputs", ())]
    return "".join(found)


def errata_page(chapters):
    """All slips of the notes: printed beside correct, and what refutes the printed form."""
    rows, numbers = [], {chapter.name: appendix_numbers(chapter) for chapter in chapters}
    for name, claims in groupby(load_claims().values(), lambda claim: claim.chapter):
        slips = [claim for claim in claims if claim.kind == "erratum"]
        for claim in slips:
            printed, correct = printed_and_correct(claim.statement)
            printed = printed.removeprefix("Printed: ").removeprefix("Printed ")
            sides = f"<td>{text_to_html(printed)}</td><td>{text_to_html(correct)}</td>"
            if not correct:  # one sentence says both
                sides = f'<td colspan="2">{text_to_html(printed)}</td>'
            tests = [test_link(name) for name in read_citations().tests.get(claim.id, ())]
            refuted = link_list([*tests, *anchored().get(claim.id, ())])
            rows.append(
                f'<tr id="{claim.id}"><td>{statement_link(claim.id)}<br>'
                f"{text_to_html(claim.sources)}</td>"
                f"{sides}<td>{refuted}</td></tr>"
            )
        if slips and numbers.get(name):
            text = f"<pre>{escape(numbers[name], quote=False)}</pre>"
            shown_there = fold(f"The numbers: {title_of(name)}", [text])
            rows.append(f'<tr><td colspan="4">{shown_there}</td></tr>')
    head = "".join(
        f'<th scope="col">{each}</th>' for each in ("where", "printed", "correct", "shown by")
    )
    body = "<h1>Errata</h1><p>The slips of the five notes. The last column leads to the test, "
    body += "in which the printed form fails and the correct one holds, and to the passage. Below "
    body += "the slips of a chapter are the numbers that its appendix prints for both forms.</p>"
    body += f'<div class="wide"><table class="errata"><thead><tr>{head}</tr></thead><tbody>'
    body += "".join(rows)
    return page("Errata", body + "</tbody></table></div>", here="errata.html")


# --- The rest --------------------------------------------------------------------------


def title_of(chapter):
    """The title of a chapter, as its notebook gives it."""
    if chapter not in CHAPTERS:
        return chapter.capitalize()
    number = list(CHAPTERS).index(chapter) + 1
    return f"{number}. {chapter.replace('_', ' ').capitalize()}"


def file_of(chapter):
    """The page of a chapter."""
    return f"{list(CHAPTERS).index(chapter) + 1:02d}_{chapter}.html"


def caption_html(draw):
    """The caption of a figure or film, which is the docstring of the function that draws it."""
    plain, kept = set_aside(" ".join(draw.__doc__.split()))
    return put_back(escape(plain, quote=False), kept)


def gallery_page():
    """All lecture figures with their captions."""
    found = ["<h1>Figures</h1>"]
    for chapter in CHAPTERS:
        found.append(
            f'<h2 id="{chapter}"><a href="{file_of(chapter)}">{title_of(chapter)}</a></h2>'
        )
        for each in [each for each in REGISTRY if each.chapter == chapter]:
            links = link_list(map(statement_link, each.claims))
            found.append(
                f'<figure id="{chapter}-{each.name}"><img src="figures/{chapter}/{each.name}.svg" '
                f'alt="{chapter}: {each.name.replace("_", " ")}" loading="lazy"><figcaption>'
                f"{caption_html(each.draw)} <small>{links}</small></figcaption></figure>"
            )
    return page("Figures", "\n".join(found), here="figures.html")


def symbols_page(chapters):
    """The tables of symbols of all chapters, and what each letter means in each of them."""
    meanings, tables = defaultdict(list), []
    for chapter in chapters:
        cell = next(
            text_of(c) for c in chapter.cells if "Symbols here and in the notes" in text_of(c)
        )
        link = f'<a href="{chapter.file}.html">{title_of(chapter.name)}</a>'
        heading = f'<h2 id="{chapter.name}">{link}</h2>'
        tables.append(heading + re.sub(r'<a id="[^"]*"></a>', "", markdown(cell)))
        for row in cell.partition("\n\n| here")[0].splitlines():
            cells = [each.strip() for each in row.strip("|").split(" | ")]
            if row.startswith("| $") and len(cells) > 1:
                link = f'<a href="#{chapter.name}">{chapter.name.replace("_", " ")}</a>'
                meanings[cells[0]].append(f"{markdown(cells[1])[3:-5]} ({link})")
    rows = "".join(
        f"<tr><td>{markdown(symbol)[3:-5]}</td><td>{'<br>'.join(meanings[symbol])}</td></tr>"
        for symbol in sorted(meanings, key=lambda s: (re.sub(r"[^a-zA-Z]", "", s).lower(), s))
    )
    head = '<th scope="col">symbol</th><th scope="col">meaning in the chapters</th>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    body = f'<h1>Symbols</h1><div class="wide">{table}</div>'
    return page("Symbols", body + "".join(tables), here="symbols.html")


def contents_page():
    """The first page: the chapters, with their modules and statements."""
    rows = "".join(
        f'<li><a href="{file_of(c)}">{title_of(c)}</a> {escape(line)} <small>'
        f'<a href="module_{c}.html">code</a> '
        f'<a href="statements_{c}.html">statements</a></small></li>'
        for c, line in CHAPTERS.items()
    )
    body = (
        "<h1>mlnotes</h1><p>Five sets of machine learning lecture notes, derivation by derivation, "
        "in numpy. Each chapter is a page to read; its code is a module that you can import.</p>"
        f'<ul class="chapters">{rows}</ul>'
    )
    return page("Contents", body, here="index.html")


def stating():
    """The chapters, and what else has statements."""
    return dict.fromkeys(claim.chapter for claim in load_claims().values())


def statements_index():
    """The ways into the statements: by note and by chapter."""
    by_note = "".join(
        f'<li><a href="notes_{n}.html">{n}</a>: {title}</li>' for n, title in NOTES.items()
    )
    by_chapter = "".join(
        f'<li><a href="statements_{c}.html">{title_of(c)}</a></li>' for c in stating()
    )
    body = f"<h1>Statements</h1><h2>By the notes</h2><ul>{by_note}</ul>"
    body += f"<h2>By chapter</h2><ul>{by_chapter}</ul>"
    return page("Statements", body, here="statements.html")


def search_entries(chapters):
    """What the search looks through: [kind, title, words, address], statements first."""
    found = []
    for claim in load_claims().values():
        numbers = []
        for part in claim.sources.split(";"):
            note, _, rest = part.strip().partition(" ")
            for place in sorted(places(rest)):
                numbers += [f"{note} {place}", f"{note} {place.split()[-1]}"]
        words = f"{claim.id} {claim.sources} {' '.join(numbers)} {claim.statement}".lower()
        to = f"statements_{claim.chapter}.html#{claim.id}"
        plain, kept = set_aside(claim.statement)
        said = unescape(put_back(plain, [re.sub(r"<[^>]*>", "", formula) for formula in kept]))
        found.append(["statement", f"{claim.id}: {said[:120]}", words, to])
    for chapter in chapters:
        for _, slug, words in chapter.outline:
            plain = unescape(re.sub(r"<[^>]*>", "", words))
            title = f"{title_of(chapter.name)}: {plain}"
            found.append(["chapter", title, title.lower(), f"{chapter.file}.html#{slug}"])
    for module, names in definitions().items():
        for name, to in names.items():
            found.append(
                ["code", f"mlnotes.{module}.{name}", f"{module}.{name} {name}".lower(), to]
            )
    for each in REGISTRY:
        words = f"figure {each.chapter} {each.name} {each.draw.__doc__}".lower()
        to = f"figures.html#{each.chapter}-{each.name}"
        found.append(["figure", f"{each.chapter}/{each.name}", " ".join(words.split()), to])
    return found


def smaller(svg):
    """The SVG file without metadata and names, with coordinates to a hundredth of a point."""
    unused = r'<metadata>.*?</metadata>\s*|<!--.*?-->\n|(?<=<g) id="[^"]*"'
    svg = re.sub(unused, "", svg, flags=re.S)
    svg = svg.replace("STIXGeneral-", "")
    svg = re.sub(r"\n +", "\n", svg).replace("xlink:href=", "href=")
    svg = re.sub(r'(?<= style=")[^"]*', lambda m: re.sub(r"([:;]) ", r"\1", m[0]), svg)
    svg = re.sub(r'(?<=\b[xy]=")[-\d.]+(?=")', lambda m: hundredths(100 * float(m[0])), svg)
    return re.sub(r'(?<=\bd=")[^"]*', relative, svg)


def relative(found):
    """The path with each of its places as seen from the one before."""
    d, here = [], (0, 0)
    for command, numbers in re.findall(r"([MLCQz])([^MLCQz]*)", found[0]):
        places = [round(100 * float(number)) for number in numbers.split()]
        base = (0, 0) if command == "M" else here
        steps = (hundredths(place - base[i % 2]) for i, place in enumerate(places))
        d.append((command if command == "M" else command.lower()) + " ".join(steps))
        here = places[-2:] or here  # after z comes M
    return "".join(d)


def hundredths(number):
    """So many hundredths as a short text."""
    return f"{round(number) / 100:.10g}"


def chapter_page(chapter):
    """The page of a chapter, with its films."""
    body = chapter.body(films_of(chapter.name))
    names = list(CHAPTERS)
    i = names.index(chapter.name)
    near = [
        (names[k], word) for k, word in ((i - 1, "Before"), (i + 1, "Next")) if 0 <= k < len(names)
    ]
    links = "".join(f'<a href="{file_of(c)}">{word}: {title_of(c)}</a> ' for c, word in near)
    code = f'<a href="module_{chapter.name}.html">the code</a> '
    code += f'<a href="statements_{chapter.name}.html">the statements</a>'
    body += f'<nav class="near" aria-label="Other chapters">{links}{code}</nav>'
    return page(title_of(chapter.name), body, chapter.contents(), ("film.js",))


def chapter_files(number, name):
    """A chapter, and the files of its page, its figures and its films."""
    chapter = Chapter(number, name)
    files = {f"{chapter.file}.html": chapter_page(chapter)} | recordings(name)
    for path in (ROOT / "figures" / name).glob("*.svg"):
        files[f"figures/{name}/{path.name}"] = smaller(path.read_text(encoding="utf-8"))
    return chapter, files


def build(folder):
    """Write all pages into the folder; an earlier one is replaced when the new one is whole."""
    for chapter in CHAPTERS:
        load_figures(chapter)
    read_citations()  # once for both processes
    with ProcessPoolExecutor(2) as pool:
        made = list(pool.map(chapter_files, count(1), CHAPTERS))
    chapters = [chapter for chapter, _ in made]
    files = {name: text for _, each in made for name, text in each.items()}
    files |= {f"module_{module}.html": module_page(module) for module in MODULES}
    cited = {name.partition("::")[0] for each in read_citations().tests.values() for name in each}
    files |= {f"{Path(n).stem}.html": tests_page(ROOT / "tests" / n) for n in sorted(cited)}
    files |= {f"statements_{chapter}.html": statements_page(chapter) for chapter in stating()}
    files |= {f"notes_{note}.html": notes_page(note) for note in NOTES}
    files |= {"statements.html": statements_index(), "errata.html": errata_page(chapters)}
    files |= {"figures.html": gallery_page(), "symbols.html": symbols_page(chapters)}
    guide = markdown((HERE / "guide.md").read_text(encoding="utf-8"))
    files |= {
        "index.html": contents_page(),
        "guide.html": page("How to use this", guide, here="guide.html"),
    }
    index = json.dumps(search_entries(chapters), separators=(",", ":"), ensure_ascii=False)
    files["search.js"] = f"addIndex({index});\n"
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    for name in ("films", "pictures", *(f"figures/{chapter}" for chapter in CHAPTERS)):
        (part / name).mkdir(parents=True)
    for name, text in files.items():
        (part / name).write_text(text, encoding="utf-8", newline="\n")
    for chapter in chapters:
        for name, content in chapter.pictures.items():
            (part / "pictures" / name).write_bytes(content)
    for name in ("style.css", "page.js", "film.js", "STIXTwoMath.woff2", "STIXTwoMath-OFL.txt"):
        shutil.copyfile(HERE / name, part / name)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "_site")
