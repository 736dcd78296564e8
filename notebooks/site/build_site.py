"""Make the book as a folder of pages, from the notebooks, the modules and the ledger of statements.

    python notebooks/site/build_site.py [FOLDER]

The folder is ``_site`` unless it is named. A page opens by a double click: it loads nothing from
outside the folder. Notebooks are not executed; their stored outputs are shown. Films are recorded
from the generators of the package; for ``_site``, those whose sources are unchanged are kept. Two
builds give the same bytes.

Contents
    A page                 page, markdown, code_html, fold
    Chapters               Chapter, chapter_page
    Films                  player, recorded
    Modules and tests      module_page, tests_page
    What the notes state   entry, statements_page, notes_page, errata_page
    The rest               contents_page, chapter_map, gallery_page, symbols_page, search_documents
    All of it              files_of, build
"""

import ast
import base64
import gzip
import importlib
import json
import re
import shutil
import sys
from argparse import Namespace
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from hashlib import sha256
from html import escape, unescape
from io import BytesIO
from itertools import groupby, pairwise
from pathlib import Path

from formulas import in_line, spoken, to_html, visible
from PIL import Image
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from recording import choices, record
from scour import scour

from mlnotes import CHAPTERS
from mlnotes.__main__ import ID, algorithms_shown, load_claims, places, read_citations
from mlnotes.plotting import FILMS, REGISTRY
from mlnotes.reading import (
    CAPTION,
    checks,
    headings,
    is_solution,
    public_names,
    shown,
    source,
)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEPT = ROOT / ".stamps" / "site"  # recordings, by a hash of their sources, and that of the whole
NOTES = {
    "MLN": "Machine learning notes",
    "REP": "Machine learning report",
    "PRNN": "Pattern recognition and neural networks",
    "ISML": "Introduction to statistical machine learning",
    "IRHD": "Introduction, regression, high-dimensional statistics",
}
MODULES = ("base", "numerics", "datasets", "plotting", "reading", *CHAPTERS)
MENU = {
    "index.html": "Contents",
    "statements.html": "Statements",
    "errata.html": "Errata",
    "figures.html": "Figures",
    "symbols.html": "Symbols",
    "guide.html": "How to use this",
}
SMALLER = scour.sanitizeOptions(
    Namespace(
        digits=4, remove_metadata=True, strip_comments=True, strip_ids=True, shorten_ids=True,
        indent_type="none", newlines=False, strip_xml_prolog=True,
    )
)  # fmt: skip
LOOKS = ((Comment, "c"), (Keyword, "k"), (Operator.Word, "k"), (String, "s"), (Number, "n"))
HIDDEN = re.compile(
    r"<pre.*?</pre>|<form.*?</form>|<details class=.solution.*?</details>|<figure class=.film.*?"
    r"<figcaption>|<noscript.*?</noscript>|<nav.*?</nav>", re.S,
)  # fmt: skip
RULED = re.compile(r"^# (?:--- (.+?) -{5,}|={20,}\n# (.+)\n# ={20,})$", re.M)  # a section, a half


DARK = {"dark": "light", "darker": "lighter", "darkest": "lightest", "lighter": "darker",
        "lightest": "darkest", "black": "white", "white": "black"}  # fmt: skip
DARK |= {word.capitalize(): other.capitalize() for word, other in DARK.items()}
SHADES = re.compile(rf"\b({'|'.join(DARK)})\b(?! sample| coordinate| noise)")


# --- A page ----------------------------------------------------------------------------


def page(title, body, outline="", here=""):
    """A whole page of HTML."""
    current = ' aria-current="page"'
    menu = "".join(
        f'<a href="{to}"{current if to == here else ""}>{name}</a>' for to, name in MENU.items()
    )
    aside = ""
    if outline:
        aside = '<nav class="outline" aria-label="On this page"><details>'
        aside += f"<summary>On this page</summary><ul>{outline}</ul></details></nav>"
    scripts = ["page.js", "search.js"]
    scripts += [f"{name}.js" for name in ("film", "check") if f'class="{name}"' in body]
    loaded = "".join(f'<script src="{script}" defer></script>' for script in scripts)
    words = " ".join(unescape(visible(body)).split())
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{escape(words[:100])}">
<title>{escape(visible(title))} · mlnotes</title><link rel="stylesheet" href="style.css">
<link rel="icon" href="icon.svg">{loaded}</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header><details class="menu"><summary>mlnotes</summary>
<nav aria-label="The book">{menu}</nav></details>
<form role="search"><label for="query">Search</label> <input id="query" type="search"
placeholder="IRHD 8.46, smo, margin" autocomplete="off"></form>
<button id="scheme" type="button" aria-label="Dark or light"><span>Dark or light</span></button>
<div id="results" role="status" aria-live="polite"></div></header>
<div class="columns"><main id="main" tabindex="-1">
{body}
</main>{aside}</div>
</body>
</html>
"""


def link_list(links):
    """The links one after the other, each once."""
    return ", ".join(dict.fromkeys(links))


def markdown(text):
    """Markdown as HTML; links to notebooks and modules lead to their pages."""
    html = re.sub(r'(href|src)="\.\./(notebooks|figures)/', r'\1="\2/', to_html(text))
    html = re.sub(r'href="(?:\.\./)?(?:notebooks/)?(\d\d_\w+)\.ipynb', r'href="\1.html', html)
    modules = rf"<code>mlnotes[/.]({'|'.join(MODULES)})(\.py)?</code>"
    html = re.sub(modules, r'<a href="module_\1.html">\g<0></a>', html)
    html = html.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )
    # A header without words, empty or a formula alone, has no name for a screen reader.
    return re.sub(r"<th( style=\"[^\"]*\")?>((?:<math.*?</math>)?)</th>", r"<td\1>\2</td>", html)


def code_html(code, links=None):
    """Python code as HTML; the names in `links` lead to their addresses."""
    found, links = [], links or {}

    def look(token):
        kind, text = token
        if kind in Name and text in links:
            return f'a href="{links[text]}"'
        return next((f'b class="{name}"' for group, name in LOOKS if kind in group), "")

    for tag, run in groupby(PythonLexer(stripnl=False, ensurenl=False).get_tokens(code), look):
        text = escape("".join(text for _, text in run), quote=False)
        each = f"<{tag}>%s</{tag[0]}>" if tag else "%s"
        found.append("\n".join(each % line if line else "" for line in text.split("\n")))
    return "".join(found)


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
            module = node.module.removeprefix("mlnotes").removeprefix(".")
            there = definitions().get(module) or {each: f"module_{each}.html" for each in MODULES}
            for name in node.names:
                if name.name in there:
                    found[name.asname or name.name] = there[name.name]
    return found


def shaded(html):
    """The HTML of a caption, whose black is white where the picture is shown in dark colours."""
    return SHADES.sub(lambda m: f'<span class="shade" data-dark="{DARK[m[1]]}">{m[1]}</span>', html)


def slug_of(html):
    """An id from the words of a heading."""
    return re.sub(r"\W+", "-", unescape(visible(html)).lower()).strip("-")


def fold(summary, html, kind=""):
    """The HTML behind a summary that opens with a click."""
    return f'<details class="{kind}"><summary>{summary}</summary>{html}</details>'


# --- Chapters --------------------------------------------------------------------------


def file_of(chapter):
    """The name of a chapter's notebook and page: ``05_clustering``."""
    return f"{list(CHAPTERS).index(chapter) + 1:02d}_{chapter}"


@cache
def cells_of(chapter):
    """The cells of a chapter's notebook, each with its source as one text."""
    path = ROOT / "notebooks" / f"{file_of(chapter)}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


def title_of(chapter):
    """The title of a chapter as its notebook gives it: ``5. Clustering``."""
    if chapter not in CHAPTERS:
        return chapter.capitalize()
    number, title = headings(cells_of(chapter)[0])[0][1].split(" ", 1)
    return f"{int(number)}. {title}"


class Chapter:
    """The page of a notebook while it is made."""

    def __init__(self, name):
        self.file, self.title, self.cells = file_of(name), title_of(name), cells_of(name)
        self.pictures = {}  # name of the file: its bytes
        self.outline = []  # (level, id, text)
        self.shown = set()  # the algorithms whose code has been shown
        self.links = {}  # the addresses of the names that the cells import
        for cell in self.cells:
            lines = cell["source"].splitlines() if cell["cell_type"] == "code" else []
            try:
                self.links |= imported("\n".join(x for x in lines if x[:1] not in "%!"))
            except SyntaxError:  # a cell that shows an error
                continue
        self.films = defaultdict(list)  # the films that follow a cell, by its number
        for film in films_of(name):
            self.films[self.place_after(self.place_of(film))].append(film)
        self.body = "\n".join(self.parts())

    def place_of(self, film):
        """The number of the cell that shows the function of the film, or else first calls it."""
        function, calls = film.after.__name__, None
        for i, cell in enumerate(self.cells):
            if (2, "Exercises") in headings(cell):
                break
            if any(name.endswith(f".{function}") for name in shown(self.cells[: i + 1])):
                return i
            if calls is None and cell["cell_type"] == "code":
                calls = i if re.search(rf"(?<![\w.]){function}\(", cell["source"]) else None
        if calls is None:
            raise ValueError(f"{self.file} neither shows nor calls {function}, of {film.name}")
        return calls

    def place_after(self, i):
        """The number of the cell that ends what is told of cell `i` and of the run after it."""
        kind, source = zip(*((c["cell_type"], c["source"]) for c in self.cells), strict=True)
        for run in (False, True):
            while run and kind[i + 1] == "code" and "show(" not in source[i + 1]:
                i += 1
            if kind[i + 1] == "code" or not before_heading(source[i + 1])[0]:
                return i
            i += 1
            if headings(self.cells[i]):
                return i
        return i + source[i + 1].startswith("**Figure")

    def parts(self):
        """The HTML of the cells. Solutions are folded; before them stands what checks an answer."""
        for solution, group in groupby(enumerate(self.cells), lambda pair: is_solution(pair[1])):
            group = list(group)
            if solution:
                yield from (
                    answer_form(*item) for _, cell in group for item in checks(cell).items()
                )
            for text, run in groupby(group, lambda pair: pair[1]["cell_type"] == "markdown"):
                html = "".join(self.told(i, c) if text else self.code_cell(i, c) for i, c in run)
                code = solution and not text
                yield fold("Solution: the code", html, "solution") if code else html

    def told(self, i, cell):
        """A cell of text, with its films before a heading, or the words that lead to a run."""
        films = "".join(map(player, self.films[i]))
        if not films:
            return self.text(cell["source"])
        told, rest = before_heading(cell["source"])
        if not rest and self.cells[i + 1]["cell_type"] == "code" and "**Figure" not in told:
            told, _, rest = told.rpartition("\n\n") if "\n\n" in told else (told, "", "")
        return self.text(told) + films + self.text(rest)

    def text(self, source):
        """Text with an id at each heading and links to the statements at anchors."""
        html = markdown(CAPTION.sub(r'<a id="figure-\1-\2"></a>\g<0>', source))
        html = re.sub(r'<p>(<img src="(figures/.*?)".*?>)</p>', panels, html)
        html = re.sub(r'<p>((?:<a id="[^"]*"></a>\s*)+)</p>\s*(<h\d>)', r"\2\1", html)
        html = re.sub(
            r'<p><a id="(figure-\d+-\d+)"></a>(.*?)</p>',
            lambda m: f'<p class="caption" id="{m[1]}">{shaded(m[2])}</p>',
            html,
            flags=re.S,
        )
        html = re.sub(r"<h(\d)>(.*?)</h\1>", self.heading, html, flags=re.S)
        html = re.sub(r"<details(?=>\s*<summary>Sol)", '<details class="solution"', html)
        return re.sub(r'<a id="([^"]*)"></a>', lambda m: anchor(m[1]), html)

    def heading(self, found):
        """A heading with an id of its own, noted in the outline."""
        level, inner = int(found[1]), found[2]
        ids = re.findall(r'<a id="([^"]*)"></a>', inner)
        words = re.sub(r'<a id="[^"]*"></a>', "", inner).strip()
        slug = ids[0] if ids else slug_of(words)
        words = self.title if level == 1 else words
        self.outline.append((level, slug, words))
        marks = "".join(anchor(each, own=each != slug) for each in ids)
        return f'<h{level} id="{slug}">{words} {marks}</h{level}>'

    def code_cell(self, i, cell):
        """A cell of code with what it printed; after it, the films of the code that it shows."""
        text, found = cell["source"], []
        if not (text.startswith("%matplotlib") or "show(" in text and "\n" not in text):
            found.append(f'<pre class="code">{code_html(text, self.links)}</pre>')
        for j, output in enumerate(cell["outputs"]):
            found.append(self.output(f"{self.file}_{i:03d}_{j}", output))
        calls = re.compile(r"^show\(.*$", re.M)  # of the cells before, only the imports count
        before = [each | {"source": calls.sub("", each["source"])} for each in self.cells[:i]]
        here = set(algorithms_shown([*before, cell])) - self.shown
        self.shown |= here
        marks = " ".join(map(anchor, sorted(here)))
        marks, films = f"<span>{marks}</span>" * bool(here), "".join(map(player, self.films[i]))
        return f'<div class="cell">{marks}{"".join(found)}</div>{films}'

    def output(self, name, output):
        """What a cell printed, drew or showed."""
        data = output.get("data", {})
        if "image/png" in data:
            picture = Image.open(BytesIO(base64.b64decode("".join(data["image/png"]))))
            width, height = picture.size
            few = {"colors": 40, "method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
            picture.convert("RGB").quantize(**few).save(file := BytesIO(), "PNG", optimize=True)
            self.pictures[f"{name}.png"] = file.getvalue()
            alt = output["metadata"].get("image/png", {}).get("alt", "")
            return (
                f'<img src="pictures/{name}.png" alt="{escape(alt)}" width="{width}" '
                f'height="{height}">'
            )
        if "text/markdown" in data:
            code = "".join(data["text/plain"])
            return f'<pre class="code shown">{code_html(code, self.links)}</pre>'
        text = "".join(output.get("text") or data.get("text/plain") or output.get("traceback", ()))
        return f'<pre class="out">{escape(text, quote=False)}</pre>'


def before_heading(text):
    """A text before its first heading, with the anchors of this heading, and the rest."""
    found = re.search(r'^(<a id="[^"]*"></a>\s*)*#', text, re.M)
    at = found.start() if found else len(text)
    return text[:at], text[at:]


def panels(found):
    """A figure of the Markdown; one with several panels scrolls where the page is narrow."""
    head = (ROOT / found[2]).read_text(encoding="utf-8")[:1000]
    if float(re.search(r'viewBox="0 0 ([\d.]+)', head)[1]) < 500:
        return found[0]
    return f'<div class="wide panels">{found[1]}</div>'


def answer_form(exercise, entry):
    """Where a reader enters an answer; its script checks it. A function cannot be entered."""
    if entry["kind"] == "function":
        return '<p class="check">The notebook checks the function that is asked for here.</p>'
    data, words = escape(json.dumps({"id": exercise} | entry)), escape(entry["words"])
    part = f" to ({exercise[-1]})" if exercise[-1].isalpha() else ""
    return (
        f'<form class="check" data-check="{data}"><label><span>Your answer{part}: {words}</span> '
        '<input autocomplete="off" spellcheck="false"></label> <button>Check</button> '
        "<output></output></form>"
    )


def anchor(name, own=True):
    """The mark of a statement in the text, a link to the list; with `own`, it has the id."""
    mark = f' id="{name}"' if own else ""
    if name not in load_claims():
        return f"<span{mark}></span>"
    to = f"statements_{load_claims()[name].chapter}.html#{name}"
    label = f'aria-label="Statement {name}"'
    return f'<a{mark} class="permalink" href="{to}" {label}>§</a>'


def chapter_page(chapter, body, outline):
    """The page of a chapter, with the ways to its neighbours, its code and its statements."""
    order = list(CHAPTERS)
    i = order.index(chapter)
    near = [(name, k) for name, k in (("Previous", i - 1), ("Next", i + 1)) if 0 <= k < len(order)]
    links = [f'<a href="{file_of(order[k])}.html">{w}: {title_of(order[k])}</a>' for w, k in near]
    links += [f'<a href="module_{chapter}.html">The code</a>']
    links += [f'<a href="statements_{chapter}.html">The statements</a>']
    links += ['<a href="mlnotes.zip" download>Notebooks and package</a>']
    around = f'<nav class="near" aria-label="%s">{" ".join(links)}</nav>'
    items = (
        f'<li class="level{level}"><a href="#{slug}">{words}</a></li>'
        for level, slug, words in outline
        if level in (2, 3)
    )
    first, end, rest = body.partition("</h1>")
    body = first + end + around % "This chapter" + rest + around % "Other chapters"
    return page(title_of(chapter), body, "".join(items))


# --- Films -----------------------------------------------------------------------------


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


def player(film):
    """The player of a film: its script fills it from the recording."""
    settings = ""
    for name, values in choices(film).items():
        first = values.index(film.settings[name][0])
        if any(isinstance(value, str) for value in values):
            options = "".join(
                f"<option{' selected' * (k == first)}>{v}</option>" for k, v in enumerate(values)
            )
            control = f'<select class="film-setting" disabled>{options}</select>'
        else:
            control = f'<input class="film-setting" type="range" min="0" max="{len(values) - 1}" '
            control += f'value="{first}" disabled> <output>{values[first]}</output>'
        settings += f"<label>{name.replace('_', ' ')} {control}</label>"
    curve = '<svg class="film-curve" viewBox="0 0 2304 760" aria-hidden="true"></svg>'
    links = definitions()[film.algorithm.__module__.rpartition(".")[2]]
    lines = code_html(source(film.algorithm), links).split("\n")
    code = "".join(f'<span class="line">{line or " "}\n</span>' for line in lines)
    code = f'<pre class="code film-source">{code}</pre>'
    caption = shaded(in_line(" ".join(film.make.__doc__.split())))
    return f"""<figure class="film" data-film="{film.chapter}/{film.name}" tabindex="-1">
<div class="film-row"><div>
<svg class="film-picture" role="img" aria-label="The picture of the step"></svg>
{curve if film.measure else ""}</div>
<div class="film-side"><div class="film-buttons">
<button type="button" class="back" disabled>Back</button>
<button type="button" class="step" disabled>Step</button>
<button type="button" class="play" disabled>Play</button>
<label>speed <select class="film-speed" disabled><option value="1400">slow</option>
<option value="700" selected>normal</option><option value="200">fast</option></select></label></div>
<label>step <input class="film-step" type="range" min="0" max="1" value="0" disabled>
<output></output></label>
{settings}<p class="film-words" aria-live="polite"></p></div></div>
{fold("The source, with the line that yields each state", code)}
<figcaption><strong>Film.</strong> {caption}</figcaption>
<noscript><p>The film needs JavaScript.</p></noscript></figure>"""


def digest_of(*folders):
    """A hash of all files in these folders."""
    paths = (path for folder in folders for path in sorted(folder.rglob("*.*")) if path.is_file())
    kept = (path for path in paths if "__pycache__" not in path.parts)
    return sha256(b"".join(path.read_bytes() for path in kept)).hexdigest()[:16]


@cache
def digest_for_films(chapter):
    """A hash of what the films of a chapter are recorded from."""
    sources = (HERE / "recording.py", ROOT / "figures" / f"{chapter}.py")
    text = b"".join(path.read_bytes() for path in sources)
    return sha256(text + digest_of(ROOT / "mlnotes").encode()).hexdigest()[:16]


def recorded(film, keep):
    """The recording of a film as a script; with `keep`, that of unchanged sources is taken."""
    name = f"{film.chapter}.{film.name}"
    path = KEPT / f"{name}.{digest_for_films(film.chapter)}.js"
    if keep and path.exists():
        return path.read_text(encoding="utf-8")
    content = json.dumps(record(film), separators=(",", ":"), ensure_ascii=False)
    text = f'addFilm("{film.chapter}/{film.name}",{content});\n'
    if keep:
        for old in KEPT.glob(f"{name}.*"):
            old.unlink()
        KEPT.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return text


# --- Modules and tests -----------------------------------------------------------------


def module_page(module):
    """The annotated source of a module: what a docstring says, beside the code."""
    text = (ROOT / "mlnotes" / f"{module}.py").read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    loaded = importlib.import_module(f"mlnotes.{module}")
    links = imported(text) | definitions()[module]
    links |= {n.name: f"#{n.name}" for n in tree.body if hasattr(n, "name")}
    titles = {text[: m.start()].count("\n") + 1: m[1] or m[2] for m in RULED.finditer(text)}
    rows, outline, last, plain = [], [], tree.body[0].end_lineno, []

    def write_plain():
        if plain:
            rows.append(plain_block("\n".join(plain), links, public_names(loaded)))
            plain.clear()

    for node in tree.body[1:]:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        for title in [titles[line] for line in titles if last < line <= start]:
            write_plain()
            rows.append(f'<h2 id="section-{slug_of(title)}">{escape(title)}</h2>')
            outline.append(f'<li><a href="#section-{slug_of(title)}">{escape(title)}</a></li>')
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            write_plain()
            outline.append(f'<li class="level3"><a href="#{node.name}">{node.name}</a></li>')
            code = code_html(source(getattr(loaded, node.name)), links)
            rows.append(
                f'<section class="beside" id="{node.name}"><div class="said">{documented(node)}'
                f'</div><pre class="code">{code}</pre></section>'
            )
        else:
            plain += [""] * (start - last - 1) * bool(plain) + lines[start - 1 : node.end_lineno]
        last = node.end_lineno
    write_plain()
    said = docstring_html(ast.get_docstring(tree))
    names = re.compile(rf"\b({'|'.join(definitions()[module])})\b(?!</a>)")
    contents, end, rest = said.partition("</table>")  # whose second column is of names: links
    link = partial(names.sub, r'<a href="#\1"><code>\1</code></a>')
    said = re.sub("</td><td>.*?</td>", lambda m: link(m[0]), contents) + end + rest
    opening = f"<h1>mlnotes.{module}</h1>{said}"
    return page(f"mlnotes.{module}", opening + "\n".join(rows), "".join(outline))


def plain_block(code, links, public):
    """Code that is not in a function or class; the public names that it sets get ids."""
    names = [node.id for top in ast.parse(code).body if isinstance(top, (ast.Assign, ast.AnnAssign))
             for node in ast.walk(top) if isinstance(node, ast.Name)
             and isinstance(node.ctx, ast.Store) and node.id in public]  # fmt: skip
    marks = "".join(f'<span id="{name}"></span>' for name in dict.fromkeys(names))
    html = f'{marks}<pre class="code">{code_html(code, links)}</pre>'
    return fold("Imports", html) if re.match("(import|from) ", code) and not marks else html


def documented(node):
    """The docstring of a function or class, and those of its methods, as HTML."""
    found = [docstring_html(ast.get_docstring(node) or "")]
    for method in node.body if isinstance(node, ast.ClassDef) else ():
        text = ast.get_docstring(method) if isinstance(method, ast.FunctionDef) else None
        if text:
            name = f"{node.name}.{method.name}"
            found.append(f'<h3 id="{name}">{name}</h3>{docstring_html(text)}')
    return "".join(found)


def docstring_html(text):
    """A docstring as it is written, with a link at each id of a statement; words may flow."""
    return "".join(map(docstring_block, text.split("\n\n"))) if text else ""


def docstring_block(block):
    """Lines of a docstring without a gap: a table, lines with their indents, or words that flow."""
    if re.match(r"(Contents|Symbols)\n", block):
        return docstring_table(*block.split("\n"))
    section = re.fullmatch(r"(\w+)\n-+\n(.*)", block, re.S)
    if section:
        lines = re.sub(r"\n +", " ", section[2])
        return table_html(section[1], re.sub("^([^:\n]+) : ", r"`\1`\t", lines, flags=re.M))
    html = with_ids(escape(block, quote=False))
    if re.search("^(?: |>>>)", block, re.M):
        return f'<pre class="doc">{html}</pre>'
    return f'<pre class="doc words">{flowing(html)}</pre>'


def docstring_table(title, *rows):
    """Lines in columns as a table; where the columns are too narrow, two spaces part the cells."""
    starts = [tuple(m.start() for m in re.finditer(r"(?<=  )\S", x)) for x in rows if x[4] != " "]
    columns, table = max(starts, key=starts.count), []
    for row in rows:
        cells = [row[a:b] for a, b in pairwise([*columns, None])]
        if any(row[a - 1 : a].strip() for a in columns):
            name, *middle, words = re.split(" {2,}", row.strip())
            cells = [name, *(middle or [""] * (len(columns) - 2)), words]
        if row[4] == " ":  # the line goes on
            cells = [f"{x.rstrip()} {y}" for x, y in zip(table.pop(), cells, strict=True)]
        table.append(cells)
    return table_html(title, "\n".join("\t".join(cell.strip() for cell in row) for row in table))


def table_html(title, lines):
    """Lines of a docstring as the rows of a table; tabs part their cells."""
    html = flowing(with_ids(escape(re.sub(r"\S+_\{\S+", r"`\g<0>`", lines), quote=False)))
    cells = html.replace("\t", "</td><td>").replace("\n", "</td></tr><tr><td>")
    body = f"<tr><td>{cells}</td></tr>"
    return f'<table class="doc"><caption>{title}</caption>{body}</table>'


def flowing(html):
    """Words of a docstring; what stands between backticks is code."""
    return re.sub("`+([^`]+)`+", r"<code>\1</code>", html)


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
    return page(path.name, f'<h1>{path.name}</h1><pre class="code">{with_ids(text)}</pre>')


# --- What the notes state --------------------------------------------------------------


def stated(claim):
    """What a statement says as HTML; of a slip, what is printed and what is correct."""
    if not claim.correct:
        return f"<p>{in_line(claim.statement)}</p>"
    return f"<p>Printed: {in_line(claim.statement)}</p><p>Correct: {in_line(claim.correct)}</p>"


def entry(claim):
    """A statement with its sources, and what computes, checks, draws and tells it."""
    cited = read_citations()
    rows = {
        "in": "; ".join(source_link(part) for part in claim.sources.split(";")),
        "computed by": link_list([code_link(claim.owner)] if claim.owner else []),
        "checked by": link_list(test_link(name) for name in cited.tests.get(claim.id, ())),
        "drawn in": link_list(figure_link(name) for name in cited.figures.get(claim.id, ())),
        "in the chapter": link_list(passages_of().get(claim.id, ())),
        "derives": link_list(statement_link(name) for name in claim.of.split()),
        "derived or shown in": link_list(map(statement_link, derived().get(claim.id, ()))),
    }
    items = "".join(f"<dt>{what}</dt><dd>{links}</dd>" for what, links in rows.items() if links)
    return (
        f'<article id="{claim.id}"><h2><a href="#{claim.id}">{claim.id}</a> '
        f"<small>{claim.kind}</small></h2>{stated(claim)}<dl>{items}</dl></article>"
    )


@cache
def derived():
    """The walks and algorithms that belong to a statement, by its id."""
    found = defaultdict(list)
    for claim in load_claims().values():
        for name in claim.of.split():
            found[name].append(claim.id)
    return found


@cache
def passages_of():
    """The links to the passages of the chapters, by the id of the statement."""
    found = defaultdict(list)
    cited = read_citations()
    for names in (cited.notebooks, cited.walks, cited.shown):
        for claim, passages in names.items():
            for passage in passages:
                file, _, section = passage.partition(", ")
                words = in_line(section) if section else "the code on the page"
                to = f"{file.removesuffix('.ipynb')}.html#{claim}"
                found[claim].append(f'<a href="{to}">{words}</a>')
    return found


def source_link(part):
    """A source of a statement, as a link to the list of its note."""
    note, _, rest = part.strip().partition(" ")
    if note not in NOTES:
        return in_line(part)
    to = f"notes_{note}.html#{place_id(places_of(rest)[0])}"
    return f'<a href="{to}">{in_line(part.strip())}</a>'


def places_of(rest):
    """The places of one source in a note: numbered ones, or the title of the section.

    >>> places_of('"Bagging" (the weak law, stated)')
    ['Bagging']
    """
    title = re.sub(r"(^| )\(.*", "", rest).replace('"', "")
    return sorted(places(rest)) or [title or "without a number"]


def place_id(place):
    """The id of a place on the page of its note."""
    return re.sub(r"[^\w.]+", "-", place).strip("-") or "whole"


def place_order(place):
    """Numbered places by their numbers, sections before equations; then titles by the alphabet."""
    kind, _, number = place.rpartition(" ")
    if not re.fullmatch(r"\d+(\.\d+)*", number):
        return 2, (), place
    whole = "." not in number and kind != "section"  # "Step 1" says not of which section
    return (whole, tuple(map(int, number.split("."))), "" if kind == "section" else kind)


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
    claims = [claim for claim in load_claims().values() if claim.chapter == chapter]
    title = f"Statements: {title_of(chapter)}"
    links = ""
    for claim in claims:
        words = escape(" ".join(plain(stated(claim)).split()[:7]))
        links += f'<li><a href="#{claim.id}">{claim.id.rpartition("-")[2]} {words} …</a></li>'
    return page(title, f"<h1>{title}</h1>" + "\n".join(map(entry, claims)), links)


def notes_page(note):
    """The statements of one of the five notes, by its own sections and numbers.

    A statement with several numbers is written out at the first one.
    """
    at, named = defaultdict(list), {}
    for claim in load_claims().values():
        for part in claim.sources.split(";"):
            name, _, rest = part.strip().partition(" ")
            for place in places_of(rest) if name == note else ():
                named.setdefault(place_id(place), place)
                at[place_id(place)].append(claim)
    rows, links, written = [], [], set()
    for place in sorted(named, key=lambda place: place_order(named[place])):
        items = ""
        for claim in dict.fromkeys(at[place]):
            items += f"<li>{statement_link(claim.id)}"
            items += f"{'' if claim.id in written else stated(claim)}</li>"
            written.add(claim.id)
        heading = in_line(named[place][:1].upper() + named[place][1:])
        rows.append(f'<h2 id="{place}">{note} {heading}</h2><ul>{items}</ul>')
        links.append(f'<li><a href="#{place}">{heading}</a></li>')
    title = f"{note}: {NOTES[note]}"
    return page(title, f"<h1>{title}</h1>" + "".join(rows), "".join(links))


def slips_printed(chapter):
    """What the cells of the chapter's appendix print, in which the testable slips fail."""
    titles = ["## Slips in the notes" in cell["source"] for cell in cells_of(chapter)]
    cells = cells_of(chapter)[titles.index(True) :]
    return "".join("".join(o.get("text", ())) for c in cells for o in c.get("outputs", ()))


def errata_page():
    """All slips of the notes: printed beside correct, and what refutes the printed form."""
    rows, links = [], []
    for name, claims in groupby(load_claims().values(), lambda claim: claim.chapter):
        slips = [claim for claim in claims if claim.kind == "erratum"]
        if slips:
            head = f'<th scope="rowgroup" colspan="4">{title_of(name)}</th>'
            rows.append(f'<tr id="{name}">{head}</tr>')
            links.append(f'<li><a href="#{name}">{title_of(name)}</a></li>')
        for claim in slips:
            tests = [test_link(name) for name in read_citations().tests.get(claim.id, ())]
            rows.append(
                f'<tr id="{claim.id}"><td>{statement_link(claim.id)}<br>{in_line(claim.sources)}'
                f"</td><td>{in_line(claim.statement)}</td><td>{in_line(claim.correct)}</td>"
                f"<td>{link_list([*tests, *passages_of().get(claim.id, ())])}</td></tr>"
            )
        numbers = slips_printed(name) if slips and name in CHAPTERS else ""
        if numbers:
            text = f"<pre>{escape(numbers, quote=False)}</pre>"
            folded = fold(f"The numbers: {title_of(name)}", text)
            rows.append(f'<tr><td colspan="4">{folded}</td></tr>')
    head = "".join(
        f'<th scope="col">{each}</th>' for each in ("where", "printed", "correct", "shown by")
    )
    body = "<h1>Errata</h1><p>The slips of the five notes. The last column leads to the test, "
    body += "in which the printed form fails and the correct one holds, and to the passage. Below "
    body += "the slips of a chapter are the numbers that its appendix prints for both forms.</p>"
    body += f'<div class="wide"><table class="errata"><thead><tr>{head}</tr></thead><tbody>'
    body += f"{''.join(rows)}</tbody></table></div>"
    return page("Errata", body, "".join(links), here="errata.html")


# --- The rest --------------------------------------------------------------------------


def contents_page():
    """The first page: paths through the book, a film, the chapters, and what builds on what."""
    front = markdown((HERE / "front.md").read_text(encoding="utf-8"))
    film = next(film for film in films_of("clustering") if film.name == "lloyd")
    chapters = f'<ul class="chapters">{"".join(map(card, CHAPTERS))}</ul>'
    parts = {"FILM": player(film), "CHAPTERS": chapters, "MAP": chapter_map()}
    for name, html in parts.items():
        front = front.replace(f"<p>{name}</p>", html)
    return page("Contents", front, here="index.html")


def card(chapter):
    """A chapter on the first page: a picture, the title, and what it is about."""
    title, picture = title_of(chapter), f"figures/{chapter}/{FACES[chapter]}.svg"
    return (
        f'<li><a href="{file_of(chapter)}.html"><img src="{picture}" alt="">'
        f"{title}</a> {escape(CHAPTERS[chapter])}</li>"
    )


FACES = {  # the picture of a chapter on the first page
    "probability": "petal_width", "decision_theory": "regions", "estimation": "likelihood",
    "density": "growing_balls", "clustering": "cells", "mixture": "em_progress",
    "generative": "winery", "neighbors": "voronoi", "optimization": "tangent",
    "linear_regression": "corners", "logistic_regression": "irls", "perceptron": "at_work",
    "discriminant": "whitened", "learning_theory": "strips", "model_selection": "fish",
    "neural_networks": "hard_cases", "convolution": "maps", "kernels": "rings", "svm": "strip",
    "svr": "pulls", "trees": "staircase", "ensemble": "rounds", "feature_selection": "teams",
    "pca": "eigendigits", "autoencoder": "denoising", "kernel_pca": "rings", "ica": "four_views",
}  # fmt: skip


@cache
def needs():
    """The chapters that each chapter needs, as the opening of its notebook links them."""
    found = {}
    for chapter in CHAPTERS:
        _, _, text = cells_of(chapter)[0]["source"].partition("**You need**")
        names = re.findall(r"\d\d_(\w+)\.ipynb", text.partition("\n\n")[0])
        found[chapter] = [name for name in dict.fromkeys(names) if name != chapter]
    return found


def chapter_map():
    """A map of what builds on what: each chapter below all that it needs, with lines to these."""
    depth, over = {}, {}
    for chapter in CHAPTERS:  # an earlier chapter needs no later one
        before = [name for name in needs()[chapter] if name in depth]
        over[chapter] = set(before).union(*(over[name] for name in before))
        depth[chapter] = 1 + max((depth[name] for name in before), default=-1)
    rows = [[c for c in CHAPTERS if depth[c] == k] for k in range(max(depth.values()) + 1)]
    width = 160 * max(map(len, rows))
    at = {c: (round((j + 0.5) * width / len(row)), 30 + 92 * k, k) for k, row in enumerate(rows)
          for j, c in enumerate(row)}  # fmt: skip
    lines, boxes, taken = [], [], defaultdict(int)
    for chapter, (x, y, row) in at.items():
        indirect = set().union(*(over[name] for name in needs()[chapter] if name in over))
        for name in needs()[chapter]:
            if name in at and name not in indirect:
                u, v, k = at[name]
                d, v = f"M{u} {v + 20}", v + 20
                for between in range(k + 1, row):  # through a gap between the boxes of this row
                    edges = [at[each][0] + side for each in rows[between] for side in (-80, 80)]
                    there = u + (x - u) / (row - between + 1)
                    gap = min(edges, key=lambda e: abs(e - there))
                    if all(abs(at[each][0] - there) > 80 for each in rows[between]):
                        gap = round(there)
                    w = gap + (0, -5, 5, -2, 2)[taken[between, gap] % 5]
                    taken[between, gap] += 1
                    d += f"C{u} {v + 36} {w} {v + 16} {w} {v + 52}v40"
                    u, v = w, v + 92
                lines.append(f'<path d="{d}C{u} {v + 36} {x} {y - 56} {x} {y - 20}"/>')
        words = title_of(chapter).partition(". ")
        boxes.append(f'<a href="{file_of(chapter)}.html"><rect x="{x - 70}" y="{y - 20}" '
                     f'width="140" height="40" rx="5"/><text x="{x}" y="{y + 5}">'
                     f"{words[0]} {escape(SHORT.get(chapter, words[2]))}</text></a>")  # fmt: skip
    look = f'viewBox="-12 0 {width + 24} {92 * len(rows) - 32}" role="group" aria-label="Chapters"'
    return f'<div class="wide"><svg class="map" {look}>{"".join(lines + boxes)}</svg></div>'


SHORT = {  # titles that fit into a box of the map
    "density": "Densities", "mixture": "Mixtures, EM", "generative": "Generative",
    "neighbors": "Neighbours", "linear_regression": "Linear models",
    "logistic_regression": "Logistic", "discriminant": "Fisher", "neural_networks": "Networks",
    "svm": "SVM", "svr": "SV regression", "trees": "Trees",
    "pca": "PCA", "kernel_pca": "Kernel PCA", "ica": "ICA", "feature_selection": "Features",
}  # fmt: skip


def gallery_page(bodies):
    """All lecture figures with their captions, and the places where chapters show them."""
    found, outline = ["<h1>Figures</h1>"], ""
    for chapter in CHAPTERS:
        load_figures(chapter)
        outline += f'<li><a href="#{chapter}">{title_of(chapter)}</a></li>'
        title = f'<a href="{file_of(chapter)}.html">{title_of(chapter)}</a>'
        found.append(f'<h2 id="{chapter}">{title}</h2>')
        for each in [each for each in REGISTRY if each.chapter == chapter]:
            links = link_list(map(statement_link, each.claims))
            caption = in_line(" ".join(each.draw.__doc__.split()))
            slug = re.search(SHOWN.format(f"{chapter}/{each.name}"), bodies[chapter], re.S)[1]
            there = f'<a href="{file_of(chapter)}.html#{slug}">{figure_number(slug)}</a>'
            found.append(
                f'<figure id="{chapter}-{each.name}"><img src="figures/{chapter}/{each.name}.svg" '
                f'alt="{escape(unescape(visible(caption)))}" loading="lazy"><figcaption>'
                f"{there}. {shaded(caption)} <small>{links}</small></figcaption></figure>"
            )
    return page("Figures", "\n".join(found), outline, here="figures.html")


# A figure in a chapter, and the caption that follows before another figure.
SHOWN = r'src="figures/{}\.svg"(?:(?!src="figures/).)*?id="(figure-\d+-\d+)"'


def figure_number(slug):
    """The number of a figure as captions say it: "Figure 3.2" for "figure-3-2"."""
    return slug.replace("figure-", "Figure ").replace("-", ".")


@cache
def symbols():
    """What each letter means, and in which chapter: those among the chapters' symbols."""
    meanings = defaultdict(list)
    for chapter in CHAPTERS:
        words = "Symbols here and in the notes"
        cell = next(c["source"] for c in cells_of(chapter) if words in c["source"])
        for row in cell.partition("\n\n| here")[0].splitlines():
            columns = [each.strip() for each in row.strip("|").split(" | ")]
            if row.startswith("| $") and len(columns) > 1:
                meanings[columns[0]].append((markdown(columns[1])[3:-5], chapter))
    return {symbol: meanings[symbol] for symbol in sorted(meanings, key=by_letter)}


def symbols_page():
    """A table of all symbols."""
    parts, outline = "", ""
    for place, group in groupby(symbols().items(), key=lambda each: letter_of(each[0])):
        outline += f'<li><a href="#{place}">{place[-1].upper()}</a></li>'
        rows = ""
        for symbol, meanings in group:
            lines = [
                f'{text} (<a href="{file_of(chapter)}.html#symbols">'
                f"{title_of(chapter).partition('. ')[2]}</a>)"
                for text, chapter in meanings
            ]
            rows += f"<tr><td>{in_line(symbol)}</td><td>{'<br>'.join(lines)}</td></tr>"
        parts += f'<tbody id="{place}">{rows}</tbody>'
    head = '<th scope="col">symbol</th><th scope="col">meaning in the chapters</th>'
    table = f"<table><thead><tr>{head}</tr></thead>{parts}</table>"
    body = f'<h1>Symbols</h1><div class="wide">{table}</div>'
    return page("Symbols", body, outline, here="symbols.html")


def by_letter(symbol):
    """Where a symbol stands in the alphabet: by its letters, without fonts and accents."""
    bare = re.sub(r"\\(math\w*|text|operatorname|bar|hat|tilde|lVert)\b", "", symbol)
    return re.sub("[^a-z]", "", bare.lower()) or "other", symbol


def letter_of(symbol):
    """The name of the part of the page that has the symbol."""
    return f"letter-{by_letter(symbol)[0][0]}"


def statements_index():
    """The ways into the statements: by note and by chapter."""
    notes = "".join(f'<li><a href="notes_{n}.html">{n}</a>: {NOTES[n]}</li>' for n in NOTES)
    chapters = dict.fromkeys(claim.chapter for claim in load_claims().values())
    links = "".join(f'<li><a href="statements_{c}.html">{title_of(c)}</a></li>' for c in chapters)
    body = "<h1>Statements</h1><p>What the five notes define, claim, derive or draw. An entry "
    body += "leads to the function that computes it, the test, and the passage that tells it.</p>"
    body += f"<h2>By the notes</h2><ul>{notes}</ul><h2>By chapter</h2><ul>{links}</ul>"
    return page("Statements", body, here="statements.html")


def search_documents(bodies):
    """What the search looks through: [kind, title, chapter, address, text] each."""
    found, terms = [], {}
    for chapter, body in bodies.items():
        part = "chapter"
        pieces = re.split(r'<h([123]) id="([^"]*)">(.*?)</h\1>', body, flags=re.S)
        for level, slug, title, html in zip(*(pieces[k::4] for k in range(1, 5)), strict=True):
            words = title_of(chapter) if level == "1" else plain(title)
            if level == "2":
                part = {"Exercises": "exercise", "Slips in the notes": "slip"}.get(words, "section")
            if words == "Symbols":  # they have a page of their own
                continue
            html, to = HIDDEN.sub(" ", html), f"{file_of(chapter)}.html#{slug}"
            kinds = {"Walk": "walk", "In one minute": "summary"} if part == "section" else {}
            kind = kinds.get("Walk" if words.startswith("Walk") else words, part)
            found.append((kind, words, chapter, to, plain(html).partition("You need")[0]))
            if part in ("chapter", "section"):
                for term, text in terms_of(html):
                    terms.setdefault((chapter, term.lower()), ("term", term, chapter, to, text))
        for slug, text in CAPTIONS.findall(body):
            to, text = f"{file_of(chapter)}.html#{slug}", plain(text).partition(". ")[2]
            found.append(("figure", figure_number(slug), chapter, to, text))
    letters = [
        (
            "symbol",
            plain(in_line(symbol)),
            chapter,
            f"symbols.html#{letter_of(symbol)}",
            plain(text),
        )
        for symbol, meanings in symbols().items()
        for text, chapter in meanings
    ]
    found += [*terms.values(), *sorted(letters, key=lambda each: list(CHAPTERS).index(each[2]))]
    for claim in load_claims().values():
        if claim.form not in ("walk", "shown"):  # these are sections of a chapter
            kind, to = claim.kind, f"statements_{claim.chapter}.html#{claim.id}"
            kind = "slip" if kind == "erratum" else "statement"
            text = f"{plain(stated(claim))} {'; '.join(numbers_of(claim))}"
            found.append((kind, claim.id, claim.chapter, to, text))
    for module, names in definitions().items():
        for name, to in names.items():
            value = getattr(importlib.import_module(f"mlnotes.{module}"), name)
            text = (value.__doc__ or "").partition("\n\n")[0]
            found.append(("code", f"mlnotes.{module}.{name}", module, to, text))
    guide = plain(markdown((HERE / "guide.md").read_text(encoding="utf-8")))
    told = {"guide.html": guide, "symbols.html": "The notation of all chapters"}
    for to, name in MENU.items():
        found.append(("page", name, name, to, told.get(to, name)))
    for note, name in NOTES.items():
        text = "What these notes state, by their own sections and numbers"
        found.append(("page", f"{note}: {name}", "notes", f"notes_{note}.html", text))
    return [[kind, title, title_of(chapter), to, " ".join(text.split())]
            for kind, title, chapter, to, text in found]  # fmt: skip


def terms_of(html):
    """The terms in bold type, each with its paragraph as text."""
    for paragraph in re.findall("<(?:p|li)>.*?</(?:p|li)>", html, re.S):
        for term in set(TERMS.findall(paragraph)) - LABELS:
            yield term, plain(paragraph)


LABELS = {"Given", "To show", "You will see", "You need", "In the notes", "The code", "Hint"}
TERMS = re.compile(r"<strong>([A-Za-z][\w' -]{1,40})</strong>")
FORMULAS = re.compile("<math.*?</math>", re.S)
CAPTIONS = re.compile(r'<p class="caption" id="(figure-\d+-\d+)">(.*?)</p>', re.S)


def plain(html):
    """The words of the HTML as plain text."""
    apart = re.sub("</(tr|p|li|h[1-4])>", r" \g<0>", html)
    apart = FORMULAS.sub(lambda m: f" {escape(spoken(m[0]), quote=False)}", apart)
    return " ".join(unescape(visible(apart)).replace("§", "").split())


def numbers_of(claim):
    """Where a statement stands in the notes, as one asks: "IRHD equation 8.46", "IRHD 8.46"."""
    for part in claim.sources.split(";"):
        note, _, rest = part.strip().partition(" ")
        for place in sorted(places(rest)):
            yield from (f"{note} {place}", f"{note} {place.split()[-1]}")


# --- All of it -------------------------------------------------------------------------


def chapter_files(chapter, keep=False):
    """The text of a chapter, its outline, and the files of its figures, films and pictures."""
    made = Chapter(chapter)
    files = {f"pictures/{name}": content for name, content in made.pictures.items()}
    files |= {f"films/{chapter}.{f.name}.js": recorded(f, keep) for f in films_of(chapter)}
    for path in sorted((ROOT / "figures" / chapter).glob("*.svg")):
        files[f"figures/{chapter}/{path.name}"] = smaller(path.read_text(encoding="utf-8"))
    return made.body, made.outline, files


def smaller(svg):
    """A figure in fewer bytes: without what is not drawn, placed to hundredths of a point."""
    text = scour.scourString(GLYPH.sub(coarser, svg), SMALLER).replace("xlink:href", "href")
    return re.sub(r'(?<= [dxy]=)"[^"]*"', lambda m: LONG.sub(shorter, m[0]), text)


GLYPH = re.compile(r'd="([^"]*)" transform="scale\(0\.015625\)"')  # of a letter: 64 for a point


def coarser(found):
    """The outline of a letter in eighths of the units of its font: 1/256 of its height."""
    d = re.sub(r"-?[\d.]+", lambda m: str(round(float(m[0]) / 8)), found[1])
    return f'd="{d}" transform="scale(0.125)"'


LONG = re.compile(r"-?\d*\.\d{3,}")  # a number with more than two digits after the point


def shorter(found):
    """The number to hundredths."""
    return f"{round(float(found[0]), 2):g}"


def files_of(keep=False):
    """All files of the site: by name, a text or bytes."""
    read_citations()  # once for both processes
    with ProcessPoolExecutor(2) as pool:
        results = pool.map(partial(chapter_files, keep=keep), CHAPTERS)
        made = dict(zip(CHAPTERS, results, strict=True))
        modules = dict(zip(MODULES, pool.map(module_page, MODULES), strict=True))
    files = {name: content for _, _, each in made.values() for name, content in each.items()}
    for chapter, (body, outline, _) in made.items():
        files[f"{file_of(chapter)}.html"] = chapter_page(chapter, body, outline)
    files |= {f"module_{module}.html": text for module, text in modules.items()}
    cited = {name.partition("::")[0] for each in read_citations().tests.values() for name in each}
    files |= {f"{Path(n).stem}.html": tests_page(ROOT / "tests" / n) for n in sorted(cited)}
    chapters = dict.fromkeys(claim.chapter for claim in load_claims().values())
    files |= {f"statements_{chapter}.html": statements_page(chapter) for chapter in chapters}
    files |= {f"notes_{note}.html": notes_page(note) for note in NOTES}
    bodies = {chapter: body for chapter, (body, _, _) in made.items()}
    files |= {"statements.html": statements_index(), "errata.html": errata_page()}
    files |= {"figures.html": gallery_page(bodies), "symbols.html": symbols_page()}
    guide = markdown((HERE / "guide.md").read_text(encoding="utf-8"))
    files["guide.html"] = page(MENU["guide.html"], guide, here="guide.html")
    files["index.html"] = contents_page()
    files["mlnotes.zip"] = download()
    documents = search_documents(bodies)
    packed = gzip.compress(json.dumps(documents, ensure_ascii=False).encode(), mtime=0)
    files["documents.js"] = f'addDocuments("{base64.b64encode(packed).decode()}");\n'
    copied = [
        path for kind in ("js", "css", "svg", "woff2", "txt") for path in HERE.glob(f"*.{kind}")
    ]
    return files | {path.name: path.read_bytes() for path in copied}


def download():
    """The bytes of a zip file to run everything: the notebooks without outputs, and the package."""
    sys.path.append(str(HERE.parent))
    import student

    contents = student.files(solutions=True)
    for name in contents:
        if name.endswith(".ipynb"):
            notebook = json.loads(contents[name])
            for cell in notebook["cells"]:
                cell |= {"outputs": []} if "outputs" in cell else {}
            contents[name] = json.dumps(notebook, ensure_ascii=False).encode()
        elif name.endswith(".svg"):
            contents[name] = smaller(contents[name].decode()).encode()
    return student.packed(contents)


def build(folder, keep=False):
    """Write all pages into the folder; an earlier one is replaced when the new one is whole.

    With `keep`, a folder that was made from these very sources stays, and recordings are kept.
    """
    stamp = KEPT / "sources"
    sources = (ROOT / name for name in ("mlnotes", "figures", "notebooks", "tests"))
    digest = digest_of(*sources) if keep else ""
    if keep and folder.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    for name, content in files_of(keep).items():
        path = part / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    if keep:
        KEPT.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "_site", len(sys.argv) == 1)
