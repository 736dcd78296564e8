"""Markdown with formulas in TeX, as HTML with MathML."""

import re
from functools import cache

import mistune
from math_core import LatexToMathML

ASIDE = re.compile(r"```.*?^```|`[^`\n]*`|\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)(?<!\\)\$", re.S | re.M)
LONG = 20  # characters of a formula that may scroll where the page is narrow

_converter = LatexToMathML()
_annotating = LatexToMathML(annotation=True)  # which adds the TeX, for copying
_render = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])


@cache
def mathml(tex, display=False):
    """The formula as a MathML element.

    >>> mathml("x^2").count("<mi>x</mi>")
    1
    """
    plain = re.fullmatch(r"[a-zA-Z0-9\s=<>+,()]*", tex)  # what is seen is its TeX
    converter = _converter if plain else _annotating
    element = converter.convert_with_local_state(tex.strip(), displaystyle=display)
    element = element.replace(' encoding="application/x-tex"', "")  # half a megabyte of the site
    if r"\begin{aligned}" in tex:
        element = element.replace("<math", '<math class="aligned"', 1)
        if tex.count(r"\begin{") == 1:  # the style sheet aligns the columns, in fewer bytes
            element = re.sub(r'<mtd style="[^"]*"', "<mtd", element)
    return element


def visible(html):
    """The words of the HTML: without tags, and without the TeX of its formulas.

    >>> visible("an <b>x</b><annotation>x^2</annotation>")
    'an x'
    """
    return re.sub(r"<annotation.*?</annotation>|<[^>]*>", "", html, flags=re.S)


def to_html(text):
    """Markdown as HTML. In code between backticks, a dollar is a dollar."""
    kept = []

    def keep(found):
        if found[1] is None and found[2] is None:
            return found[0]
        element = mathml(found[1] or found[2], display=found[1] is not None)
        if found[1]:
            element = f'<span class="wide">{element}</span>'
        elif len(visible(element)) > LONG:
            element = f'<span class="long">{element}</span>'
        kept.append(element)
        return f"\ue000{len(kept) - 1}\ue001"

    html = _render(ASIDE.sub(keep, text))
    return re.sub(r"\ue000(\d+)\ue001", lambda m: kept[int(m[1])], html)


def in_line(text):
    """A line of Markdown as HTML, without the paragraph around it."""
    return to_html(text).strip().removeprefix("<p>").removesuffix("</p>")
