"""Formulas as MathML: those of the notebooks, written in TeX, and those of plain text.

Docstrings and the ledger of statements write formulas as plain text, such as
``w = (X^T X)^{-1} X^T y``. They are translated into TeX first.
"""

import re
import unicodedata
from contextlib import suppress
from functools import cache
from html import escape, unescape
from itertools import zip_longest

from latex2mathml.converter import convert

NAMES = {
    "arg": r"\operatorname{arg}",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "argmin": r"\operatorname{argmin}",
    "argmax": r"\operatorname{argmax}",
    "lVert": r"\|",
    "rVert": r"\|",
    "lvert": "|",
    "rvert": "|",
    "Vert": r"\|",
    "vert": "|",
}
SHORTER = {
    ' xmlns="http://www.w3.org/1998/Math/MathML"': "",
    ' display="inline"': "",
    '<mo fence="false" stretchy="false">‖</mo>': "<mi>‖</mi>",
    '<mo stretchy="false">|</mo>': "<mi>|</mi>",
    ' displaystyle="true" columnspacing="0em" rowspacing="3pt"': ' displaystyle="true"',
    '<mspace linebreak="newline" />': "",
    '<menclose notation="box">': '<mrow class="boxed">',
    "</menclose>": "</mrow>",
    " />": "/>",
}
STYLES = {"script": "SCRIPT", "bold": "BOLD", "double-struck": "DOUBLE-STRUCK"}
NAMED = re.compile(rf"\\({'|'.join(NAMES)})(?![a-zA-Z])")
SIZED = re.compile(r"\\[bB]igg?([lr])(?![a-zA-Z])")
LONG = 20  # characters
ASIDE = re.compile(r"```.*?^```|`[^`\n]*`|\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)(?<!\\)\$", re.S | re.M)
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
WORDS = {name: rf"\{name} " for name in [*GREEK, "sum", "prod", "int", "partial", "nabla", "ln"]}
WORDS |= {name: rf"\{name} " for name in ["log", "exp", "min", "max", "det", "sin", "cos", "tanh"]}
WORDS |= {"inf": r"\infty ", "infty": r"\infty ", "grad": r"\nabla ", "sqrt": r"\surd "}
WORDS |= {name: rf"\operatorname{{{name}}}" for name in ["argmin", "argmax", "tr", "sign", "sgn"]}
WORDS |= {name: rf"\operatorname{{{name}}}" for name in ["Var", "Cov", "cov", "diag", "rank", "Pr"]}
SIGNS = {"<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "->": r"\to ", "~": r"\sim ", "+-": r"\pm "}
SIGNS |= {"=>": r"\Rightarrow ", "<=>": r"\Leftrightarrow "}
ARROWS = {"->": "→", "<=": "≤", ">=": "≥", "!=": "≠"}
FORMULA = re.compile(rf"[\w)\]}}|'*~][_^][\w{{(+*-]|[=<>]|\b(?:{'|'.join(GREEK)})\b")
SAID = re.compile(
    r"\(?[A-Za-z]{2,}(?:-[A-Za-z]{2,})*(?:'s)?\)?[.,;:]?|a|I|A|[.,;:]|\S*[^\x00-\x7f]\S*"
)
PIECE = re.compile(
    r"sqrt\((?P<root>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)|(?P<norm>\|\|)|(?P<given> \| )"
    r"|(?P<tilde>[A-Za-z])~(?=[\s^_)\]])|\*\^(?P<star>\w+)"
    r"|(?P<script>[_^])(?:(?P<word>\d+(?=[a-z]\w*\^)|[A-Za-z0-9*]+)|\((?P<round>[^()]*)\))"
    r"|(?P<name>[A-Za-z]+)|(?P<sign><=>|=>|<=|>=|!=|->|\+-|~)|(?P<other>.)"
)


@cache
def mathml(tex, display=False):
    """The formula as a MathML element.

    >>> mathml("x^2").count("<mi>x</mi>")
    1
    """
    tex = NAMED.sub(lambda m: NAMES[m[1]] + " ", tex.strip())
    tex = re.sub(r"'\^(\{|\\[a-zA-Z]+|.)", _primed, tex)
    tex = "".join(_stretched(cell) for cell in re.split(r"(&|\\\\)", tex))
    aligned = r"\begin{aligned}" in tex
    for theirs, ours in (("aligned", "split"), ("gathered", "matrix")):
        tex = tex.replace(f"{{{theirs}}}", f"{{{ours}}}")
    element = convert(tex, display="block" if display else "inline")
    element = re.sub(r"&#x(?!0*(?:26|3C|3E);)\w+;", lambda m: unescape(m[0]), element)
    element = element.replace("<mi>&</mi>", "<mo>&amp;</mo>")
    for long, short in SHORTER.items():
        element = element.replace(long, short)
    element = re.sub(r'<m([ion]) mathvariant="([\w-]+)">([^<]*)</m\1>', _letter, element)
    element = re.sub(r"<mrow>(<m[ino]>[^<]*</m[ino]>)</mrow>", r"\1", element)
    if aligned:
        element = re.sub(r' columnalign="\w+"', "", element)
        element = element.replace("<math", '<math class="aligned"', 1)
    return element


def _stretched(cell):
    r"""The brackets \bigl( and \bigr) of a cell as \left( and \right), if they come in pairs.

    A script then belongs to all that is between them, and the brackets have its height.
    """
    sides = SIZED.findall(cell)
    if sides.count("l") != sides.count("r"):
        return cell
    return SIZED.sub(lambda m: r"\left" if m[1] == "l" else r"\right", cell)


def _letter(found):
    """Letters of a style, as the characters of Unicode that have this style."""
    style = STYLES.get(found[2])
    if style is None:
        return found[0]
    letters = "".join(styled(letter, style) for letter in found[3])
    return f"<m{found[1]}>{letters}</m{found[1]}>"


def styled(letter, style):
    """The mathematical letter of the style; the letter itself if there is none.

    >>> styled("N", "SCRIPT"), styled("B", "SCRIPT"), styled("1", "BOLD")
    ('𝒩', 'ℬ', '𝟏')
    """
    name = re.sub(r"LATIN |GREEK |LETTER ", "", unicodedata.name(letter, ""))
    for full in (f"MATHEMATICAL {style} {name}", f"{style} {name}"):
        with suppress(KeyError):
            return unicodedata.lookup(full)
    return letter


def _primed(found):
    return r"^{\prime " + (found[1] + "}" if found[1] != "{" else "")


def set_aside(text):
    """The text with a mark in place of each formula in TeX, and what the marks stand for.

    Code between backticks stays as it is: a dollar in it is a dollar.
    """
    kept = []

    def keep(found):
        if found[1] is None and found[2] is None:
            return found[0]
        element = mathml(found[1] or found[2], display=found[1] is not None)
        kept.append(f'<span class="wide">{element}</span>' if found[1] else in_line(element))
        return f"\ue000{len(kept) - 1}\ue001"

    return ASIDE.sub(keep, text), kept


def in_line(element):
    """A formula in a line of text; a long one can scroll where the page is narrow.

    >>> in_line(mathml("x")) == mathml("x")
    True
    """
    long = len(re.sub(r"<[^>]*>", "", element)) > LONG
    return f'<span class="long">{element}</span>' if long else element


def put_back(html, kept):
    """The HTML with the formulas in the places of their marks."""
    return re.sub(r"\ue000(\d+)\ue001", lambda m: kept[int(m[1])], html)


def plain_to_tex(run):
    r"""The TeX of a formula that is written as plain text.

    >>> plain_to_tex("Sigma^{-1} x_ij <= mu_k^T")
    '\\Sigma ^{-1} x_{ij} \\le  \\mu _{k}^{T}'
    """
    found = []
    for piece in PIECE.finditer(run):
        if piece["script"]:
            inner = piece["word"] if piece["word"] is not None else piece["round"]
            found.append(f"{piece['script']}{{{plain_to_tex(inner)}}}")
        elif piece["root"]:
            found.append(rf"\sqrt{{{plain_to_tex(piece['root'])}}}")
        elif piece["tilde"]:
            found.append(rf"\tilde{{{piece['tilde']}}}")
        elif piece["star"]:
            found.append(f"^{{*{piece['star']}}}")
        elif piece["norm"] or piece["given"]:
            found.append(r"\|" if piece["norm"] else r"\mid ")
        elif piece["name"]:
            name = piece["name"]
            long = rf"\text{{{name}}}" if len(name) > 2 else name
            infimum = name == "inf" and run[piece.end() :].startswith("_")  # infinity has no index
            found.append(r"\inf " if infimum else WORDS.get(name, long))
        elif piece["sign"]:
            found.append(SIGNS[piece["sign"]])
        else:
            found.append({"%": r"\%", "#": r"\#", "&": r"\&"}.get(piece["other"], piece["other"]))
    return "".join(found)


def text_to_html(text):
    """Text of the ledger or of a docstring as HTML: its formulas, in TeX or plain, as MathML."""
    plain, kept = set_aside(text)

    def keep(found):
        kept.append(f"<code>{escape(found[1], quote=False)}</code>")
        return f"\ue000{len(kept) - 1}\ue001"

    return put_back(plain_to_html(re.sub(r"`([^`]+)`", keep, plain)), kept)


def plain_to_html(text):
    """Plain text as HTML, with MathML for the formulas in it.

    A formula is a run of words that are no English words, with an index or an exponent in it.

    >>> plain_to_html("the mean of x_i").startswith("the mean of <math")
    True
    """
    found, run, words = [], [], text.split()
    for word, following in zip_longest(words, words[1:], fillvalue="."):
        bare = word.strip(".,;:()")
        name = bare in GREEK or (bare in WORDS and not SAID.fullmatch(following))
        said = SAID.fullmatch(word) and not (run and bare in ("A", "I"))
        if (said and not name) or word == "->":
            found += [*_closed(run), _prose(word)]
            run = []
        else:
            run.append(word)
            text = " ".join(run)
            if word[-1] in ".,;:" and text.count("(") <= text.count(")"):
                found += _closed(run)
                run = []
    return " ".join([*found, *_closed(run)])


def _closed(run):
    """The words of a run as a list of one formula; as prose if it is none; nothing if empty."""
    text = " ".join(run)
    body = text.rstrip(".,;:")
    if body[:1] == body[-1:] == "'":
        return (
            [f"'{_closed([body[1:-1]])[0]}'{text[len(body) :]}"] if body[1:-1] else [_prose(text)]
        )
    if body.startswith("'"):  # a quotation of several words begins
        return ["'" + "".join(_closed([text[1:]]))]
    if FORMULA.search(body):
        try:
            return [in_line(mathml(plain_to_tex(body))) + text[len(body) :]]
        except Exception:  # brackets that do not match, two indices in a row
            return [f"<code>{escape(text, quote=False)}</code>"]
    return [_prose(text)] if run else []


def _prose(text):
    text = re.sub(r"->|[<>!]=", lambda found: ARROWS[found[0]], text)
    return escape(text, quote=False)
