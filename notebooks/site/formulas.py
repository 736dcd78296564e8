"""Markdown with formulas in TeX, as HTML with MathML."""

import re
from functools import cache
from html import escape, unescape
from xml.etree import ElementTree

import mistune
from math_core import LatexToMathML

ASIDE = re.compile(r"```.*?^```|`[^`\n]*`|\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)(?<!\\)\$", re.S | re.M)
PLACED = re.compile("([([]?)\ue000(\\d+)\ue001([,.;:?!)\\]]*)")  # with what stays on its line
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


@cache
def spoken(element):
    r"""A MathML element as a line of plain text.

    >>> spoken(mathml(r"\frac12 x^2"))
    '1/2x²'
    """
    named = r"&(?!amp;|lt;|gt;|quot;)\w+;"  # XML knows four names of characters
    return _spoken(ElementTree.fromstring(re.sub(named, lambda m: unescape(m[0]), element)))


def _spoken(node):
    parts = [_spoken(each) for each in node]
    if node.tag == "mfrac":
        return "/".join(f"({p})" if re.search("[-+−=/]", p) else p for p in parts)
    if node.tag == "msup" and parts[1] == "2":
        return f"{parts[0]}²"
    root, end = "√" * (node.tag == "msqrt"), " " * (node.tag in ("mtd", "mtr"))
    return root + (node.text or "") + "".join(parts) + end


def to_html(text):
    """Markdown as HTML. In code between backticks, a dollar is a dollar."""
    kept = []

    def keep(found):
        if found[1] is None and found[2] is None:
            return found[0]
        element = mathml(found[1] or found[2], display=found[1] is not None)
        kept.append((element, found[1] is not None))
        return f"\ue000{len(kept) - 1}\ue001"

    def placed(found):
        before, (element, display), after = found[1], kept[int(found[2])], found[3]
        if display:
            return f'{before}<span class="wide">{element}</span>{after}'
        kind = "long" if len(visible(element)) > LONG else "nb" * bool(before or after)
        element = f"{before}{element}{after}"
        return f'<span class="{kind}">{element}</span>' if kind else element

    return PLACED.sub(placed, _render(ASIDE.sub(keep, text)))


def in_line(text):
    """A line of Markdown as HTML, without the paragraph around it."""
    return to_html(text).strip().removeprefix("<p>").removesuffix("</p>")
