"""How the package reads, in numbers, beside what is aimed at: python tests/style.py

Aims, not limits: a literal algorithm may be longer where cutting it up would hide it.

    code     code lines of a function's body, without its docstring, comments and blank lines
    nesting  how deep its blocks stand within one another (if, for, while, with, try)
"""

import ast
import io
import tokenize
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).resolve().parent.parent / "mlnotes"
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
ROW = "{:22s} {:>5} {:>9} {:>11} {:>4} {:>4} {:>10} {:>12}"


def docstring_lines(node):
    """The numbers of the lines of a module's, class's or function's own docstring."""
    if not isinstance(node, DOCUMENTED) or ast.get_docstring(node) is None:
        return set()
    return set(range(node.body[0].lineno, node.body[0].end_lineno + 1))


def code_lines(source):
    """The numbers of the lines that hold code, the lines of strings among them."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return lines


def nesting(node):
    """The depth of the deepest block under `node`; an elif is as deep as its if.

    >>> nesting(ast.parse("for x in y:\\n  if x: pass\\n  elif z: pass"))
    2
    """
    chained = node.orelse if isinstance(node, ast.If) and len(node.orelse) == 1 else []
    depths = (
        nesting(child) + (isinstance(child, BLOCKS) and child not in chained)
        for child in ast.iter_child_nodes(node)
    )
    return max(depths, default=0)


def measure(source):
    """The figures of one module: lines, functions, code (median, p90, max), share, nesting."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, FUNCTIONS)]
    documented = set().union(*map(docstring_lines, nodes))
    code = code_lines(source) - documented
    lengths = [
        len(code & set(range(node.body[0].lineno, node.end_lineno + 1))) for node in functions
    ]
    n_lines = len(source.splitlines())
    middle, long = np.percentile(lengths or [0], (50, 90))
    deep = np.percentile([nesting(node) for node in functions] or [0], 90)
    return (
        n_lines, len(functions), f"{middle:.0f}", f"{long:.0f}", max(lengths, default=0),
        f"{len(documented) / max(n_lines, 1):.0%}", f"{deep:.0f}",
    )  # fmt: skip


def main():
    """Print the report: a line per module."""
    titles = ("lines", "functions", "code median", "p90", "max", "docstrings", "nesting p90")
    print(ROW.format("module", *titles))
    for path in sorted(PACKAGE.glob("*.py")):
        print(ROW.format(path.stem, *measure(path.read_text(encoding="utf-8"))))
    print(ROW.format("aims (of a chapter)", "", "", "6", "<20", "", "30-50%", "2"))


if __name__ == "__main__":
    main()
