"""Markdown with formulas in TeX, as HTML with MathML."""

import re
from functools import cache
from html import escape

import mistune
from math_core import LatexToMathML

ASIDE = re.compile(r"```.*?^```|`[^`\n]*`|\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)(?<!\\)\$", re.S | re.M)
LONG = 20  # characters of a formula that may scroll where the page is narrow

_converter = LatexToMathML()
_render = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])


@cache
def mathml(tex, display=False):
    """The formula as a MathML element, with its TeX for copying.

    >>> mathml("x^2").count("<mi>x</mi>")
    1
    """
    element = _converter.convert_with_local_state(tex.strip(), displaystyle=display)
    element = re.sub("(?<!>)\u00a0(?!<)", " ", element)  # where words may wrap
    if not re.fullmatch(r"[a-zA-Z0-9\s=<>+,()]*", tex):  # else what is seen is its TeX
        element = f'<math alttext="{escape(tex.strip())}"{element.removeprefix("<math")}'
    if r"\begin{aligned}" in tex:
        element = element.replace("<math", '<math class="aligned"', 1)
        if tex.count(r"\begin{") == 1:  # the style sheet aligns the columns, in fewer bytes
            element = re.sub(r'<mtd style="[^"]*"', "<mtd", element)
    return element


def visible(html):
    """The words of the HTML, without tags.

    >>> visible("an <b>x</b>")
    'an x'
    """
    return re.sub(r"<[^>]*>", "", html)


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
