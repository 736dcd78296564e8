"""How long the package is, in numbers, beside what is aimed at: python tests/measures.py

A code line holds code: no docstring, no comment. The two halves of a chapter begin with the ruled
lines ``# The lecture`` and ``# The estimators``.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "mlnotes"
HALF = r"^# ={{20,}}\n# {}\n# ={{20,}}$"
SILENT = {getattr(tokenize, name) for name in "COMMENT NL NEWLINE INDENT DEDENT ENDMARKER".split()}
NUMERIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.Load)


def code_lines(source):
    """The numbers of the lines that hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {k for t in tokens if t.type not in SILENT for k in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return lines


def functions(source):
    """(name, code lines of the body) of every function and method."""
    tree, code = ast.parse(source), code_lines(source)
    for owner in ast.walk(tree):
        for node in ast.iter_child_nodes(owner):
            if isinstance(node, ast.FunctionDef):
                name = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
                body = range(node.body[0].lineno, node.end_lineno + 1)
                yield name + node.name, len(code & set(body))


def constants(source):
    """The names that a module gives to numbers."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            parts = list(ast.walk(node.value))
            values = [part.value for part in parts if isinstance(part, ast.Constant)]
            if values and all(isinstance(part, NUMERIC) for part in parts):
                if all(type(value) in (int, float) for value in values):
                    yield from (n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name))


def lecture(source):
    """The lines of the lecture's half of a chapter, as a range; None if it is not divided."""
    start = re.search(HALF.format("The lecture"), source, re.M)
    end = re.search(HALF.format("The estimators"), source, re.M)
    numbers = [source[: m.start()].count("\n") + 1 if m else None for m in (start, end)]
    return numbers[0] and range(numbers[0], numbers[1] or source.count("\n") + 2)


def lonely(sources):
    """The public names of `numerics` that fewer than two modules import, unless itself uses it."""
    uses, tree = Counter(), ast.parse(sources["numerics"])
    for text in sources.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module == "mlnotes.numerics":
                uses.update(alias.name for alias in node.names)
    inside = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for name in names:
        if name[0] != "_" and uses[name] < 2 and not (uses[name] == 0 and name in inside):
            yield name


def main():
    """Print the measures, each with its aim."""
    sources = {path.stem: path.read_text("utf-8") for path in sorted(PACKAGE.glob("*.py"))}
    each = [(f"{m}.{f}", n) for m, text in sources.items() for f, n in functions(text)]
    named = [f"{module}.{name}" for module, text in sources.items() for name in constants(text)]
    chapters = [m for m, text in sources.items() if lecture(text)]
    for what, value, aim in (
        ("lines", sum(text.count("\n") for text in sources.values()), 20_000),
        ("code lines", sum(len(code_lines(text)) for text in sources.values()), 8_500),
        ("functions above 25 code lines", [name for name, n in each if n > 25], 0),
        ("fits above 18", [f for f, n in each if n > 18 and f.endswith(".fit")], 0),
        ("numeric constants", len(named), 45),
        ("lines of numerics", sources["numerics"].count("\n"), 450),
        ("names of numerics that fewer than two modules use", list(lonely(sources)), 0),
        ("chapters in two halves", len(chapters), 27),
    ):
        count = value if isinstance(value, int) else len(value)
        print(f"{count:7,} {what} (aim {aim:,})", *(value if count is not value else ()))


if __name__ == "__main__":
    main()
