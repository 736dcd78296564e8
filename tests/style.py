"""How the package reads, in numbers, beside what is aimed at: python tests/style.py

The aims are no limits for a function: a literal algorithm may be longer than they say where
cutting it up would hide it.

    code       code lines of a function's body, without its docstring, comments and blank lines
    nesting    how deep its blocks stand within one another (if, for, while, with, try)
    constants  module constants that are numbers; each tunes something
    errstate   blocks that silence numpy's warnings
    out=       calls that write into an array of the caller's

What a reader must read to understand an estimator is what its `fit` reaches: the functions and
methods that it calls, those that these call, and so on, wherever they stand in the chapters.
`base` and `numerics` are not counted. A chapter has the largest numbers of its estimators.

    depth      functions on the longest chain of calls that starts at `fit`
    private    functions and methods among those reached whose names begin with an underscore
    reached    code lines of all of them together
"""

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

import numpy as np

PACKAGE = Path(__file__).resolve().parent.parent / "mlnotes"
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
SHARED = {"base", "numerics"}  # what every chapter is built on
DEEPEST, MOST_PRIVATE, MOST_REACHED = 7, 15, 240  # aims for what a `fit` reaches
HEAD = (
    *("lines", "functions", "median", "p90", "max", "docstrings", "nesting"),
    *("constants", "errstate", "out=", "depth", "private", "reached"),
)
ROW = "{:22s} {:>5} {:>9} {:>6} {:>3} {:>3} {:>10} {:>7} {:>9} {:>8} {:>4} {:>5} {:>7} {:>7}"


# ---------------------------------------------------------------------------------------
# A module
# ---------------------------------------------------------------------------------------


def docstring_lines(node):
    """The numbers of the lines of a module's, class's or function's own docstring."""
    if not isinstance(node, DOCUMENTED) or ast.get_docstring(node) is None:
        return set()
    return set(range(node.body[0].lineno, node.body[0].end_lineno + 1))


def code_lines(source):
    """The numbers of the lines that hold code, without docstrings."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return lines.difference(*map(docstring_lines, ast.walk(ast.parse(source))))


def body_lines(function, code):
    """How many of the code lines of a module belong to the body of the function."""
    return len(code & set(range(function.body[0].lineno, function.end_lineno + 1)))


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


def numeric_constants(tree):
    """The names that a module gives to numbers at its top.

    >>> numeric_constants(ast.parse("A, B = 1, 'b'\\nC = 2 * A + np.finfo(float).eps\\nD = [1]"))
    ['A', 'C']
    """
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            paired = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if paired else [(target, value)]
            found += [ast.unparse(name) for name, number in pairs if is_number(number, found)]
    return found


def is_number(node, known):
    """Whether an expression is a number: a literal, one of the `known` names, or made of these."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left, known) and is_number(node.right, known)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand, known)
    if isinstance(node, ast.Name):
        return node.id in known
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    text = ast.unparse(node)
    return isinstance(node, ast.Attribute | ast.Call) and "finfo(" in text


def measure(source):
    """The figures of one module, in the order of HEAD, up to the calls with `out=`."""
    tree, code = ast.parse(source), code_lines(source)
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, FUNCTIONS)]
    documented = set().union(*map(docstring_lines, nodes))
    lengths = [body_lines(function, code) for function in functions]
    n_lines = len(source.splitlines())
    middle, long = np.percentile(lengths or [0], (50, 90))
    deep = np.percentile([nesting(node) for node in functions] or [0], 90)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return (
        n_lines, len(functions), f"{middle:.0f}", f"{long:.0f}", max(lengths, default=0),
        f"{len(documented) / max(n_lines, 1):.0%}", f"{deep:.0f}", len(numeric_constants(tree)),
        sum(ast.unparse(call.func).endswith("errstate") for call in calls),
        sum(keyword.arg == "out" for call in calls for keyword in call.keywords),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------
# What an estimator reaches
# ---------------------------------------------------------------------------------------


class Program(NamedTuple):
    """The modules of a package as they call one another; a key is (module, name)."""

    functions: dict  # by key, the syntax tree; the name of a method is "Class.method"
    classes: dict  # by key, the keys of the classes that it inherits from
    imports: dict  # by module, the key of every imported name
    lines: dict  # by key of a function, its code lines


class Reach(NamedTuple):
    """What the `fit` of an estimator reaches."""

    estimator: str
    depth: int
    private: int
    lines: int

    @property
    def is_far(self):
        """Whether it is beyond one of the aims."""
        return (
            self.depth > DEEPEST or self.private > MOST_PRIVATE or self.lines > MOST_REACHED
        )  # fmt: skip


def read_program(folder=PACKAGE):
    """The program of the modules in a folder, without those that are shared."""
    program = Program({}, {}, {}, {})
    trees = {}
    for path in sorted(folder.glob("*.py")):
        if path.stem not in SHARED:
            source = path.read_text(encoding="utf-8")
            trees[path.stem] = ast.parse(source)
            read_definitions(program, path.stem, trees[path.stem], code_lines(source))
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                own = [resolve(program, module, ast.unparse(base)) for base in node.bases]
                program.classes[module, node.name] = own
    return program


def read_definitions(program, module, tree, code):
    """Add the functions, the methods, the classes and the imports of a module."""
    program.imports[module] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mlnotes."):
            home = node.module.removeprefix("mlnotes.")
            for alias in node.names:
                program.imports[module][alias.asname or alias.name] = (home, alias.name)
        if isinstance(node, ast.ClassDef):
            program.classes[module, node.name] = []
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for function in inner:
            if isinstance(function, FUNCTIONS):
                key = module, prefix + function.name
                program.functions[key] = function
                program.lines[key] = body_lines(function, code)


def resolve(program, module, name):
    """The key of what a module calls `name`, here or where it imports it from."""
    here = module, name
    known = here in program.functions or here in program.classes
    return here if known else program.imports[module].get(name, here)


def find_method(program, owner, name):
    """The key of the method `name` of a class, its own or inherited; None if it has none."""
    key = owner[0], f"{owner[1]}.{name}"
    if key in program.functions:
        return key
    inherited = (find_method(program, base, name) for base in program.classes.get(owner, ()))
    return next((key for key in inherited if key), None)


def called(program, key, owner):
    """What a function refers to: the keys of functions and methods, and the class of `self`.

    `owner` is the class whose `self` the function is called with, or None. A class that is
    called stands for its `__init__`.
    """
    found = {}
    for node in ast.walk(program.functions[key]):
        if isinstance(node, ast.Name):
            other = resolve(program, key[0], node.id)
            if other in program.classes:
                start = find_method(program, other, "__init__")
                found |= {(start, other): None} if start else {}
            elif other in program.functions:
                found[other, None] = None
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self" and owner:
            method = find_method(program, owner, node.attr)
            found |= {(method, owner): None} if method else {}
    return [pair for pair in found if pair[0] != key]


def reach(program, estimator):
    """What the `fit` of the class with the key `estimator` reaches."""
    depths = {}

    def explore(key, owner, above):
        if key not in depths:
            below = [
                explore(other, its_owner, above | {key})
                for other, its_owner in called(program, key, owner)
                if other not in above
            ]
            depths[key] = 1 + max(below, default=0)
        return depths[key]

    depth = explore(find_method(program, estimator, "fit"), estimator, frozenset())
    names = [name.rpartition(".")[2] for _, name in depths]
    private = sum(name.startswith("_") and not name.startswith("__") for name in names)
    return Reach(".".join(estimator), depth, private, sum(program.lines[key] for key in depths))


def estimators(program):
    """The keys of the public classes that have a `fit` in a chapter."""
    return [
        key
        for key in program.classes
        if not key[1].startswith("_") and find_method(program, key, "fit")
    ]


# ---------------------------------------------------------------------------------------
# The report
# ---------------------------------------------------------------------------------------


def main():
    """Print a line for each module, and the estimators whose `fit` reaches beyond the aims."""
    program = read_program()
    reached = [reach(program, key) for key in estimators(program)]
    print(ROW.format("module", *HEAD))
    for path in sorted(PACKAGE.glob("*.py")):
        own = [each for each in reached if each.estimator.startswith(f"{path.stem}.")]
        worst = [max(column) for column in zip(*(each[1:] for each in own), strict=True)]
        figures = measure(path.read_text(encoding="utf-8"))
        print(ROW.format(path.stem, *figures, *(worst or ("", "", ""))))
    aims = ("", "", "6", "<20", "", "30-50%", "2", "", "", "", DEEPEST, MOST_PRIVATE, MOST_REACHED)
    print(ROW.format("aims (of a chapter)", *aims))
    far = [each for each in reached if each.is_far]
    print(f"\n{len(far)} of {len(reached)} estimators are beyond an aim")
    for each in sorted(far, key=lambda each: -each.lines):
        print(
            f"    {each.estimator}: depth {each.depth}, {each.private} private, {each.lines} lines"
        )


if __name__ == "__main__":
    main()
