#!/usr/bin/env python3
"""Writes the reference of the Python package into docs/python.md, from its docstrings.

Usage: scripts/make_python_api.py [--check]   --check says whether the page is up to date instead.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "hyperatom"
PAGE = ROOT / "docs" / "python.md"
MARK = "<!-- Below: scripts/make_python_api.py, from the docstrings. -->\n"


def public_names() -> list[str]:
    for node in ast.parse((PACKAGE / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    raise SystemExit("python/hyperatom/__init__.py has no __all__")


def definitions() -> dict[str, ast.AST]:
    """Classes and functions by their public name; those of torch.py with its name."""
    found = {}
    for file in sorted(PACKAGE.glob("*.py")):
        prefix = f"{file.stem}." if not file.stem.startswith("_") else ""
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                found[prefix + node.name] = node
    return found


def signature(function: ast.FunctionDef) -> str:
    arguments = function.args
    for argument in [*arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    arguments.args = [argument for argument in arguments.args if argument.arg != "self"]
    return ast.unparse(arguments)


def entry(title: str, node: ast.AST, level: str) -> list[str]:
    return [f"{level} `{title}`", "", "```text", ast.get_docstring(node) or "", "```", ""]


def methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Public ones, with those of the bases of estimators."""
    own = [item for item in node.body if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")]
    private = {
        item.name: item
        for item in ast.parse((PACKAGE / "_estimators.py").read_text()).body
        if isinstance(item, ast.ClassDef)
    }
    for base in node.bases:
        name = ast.unparse(base)
        if name in private:
            own += methods(private[name])
    return own


def reference() -> str:
    found, lines = definitions(), []
    for name in [*public_names(), "torch.sparse_code"]:
        node = found[name]
        if isinstance(node, ast.FunctionDef):
            lines += entry(f"{name}({signature(node)})", node, "###")
            continue
        made = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
        shown = f"{name}({signature(made)})" if made and name != "SparseCode" else name
        lines += entry(shown, node, "###")
        for method in methods(node):
            lines += entry(f"{name}.{method.name}({signature(method)})", method, "####")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    head = PAGE.read_text().split(MARK)[0]
    page = head + MARK + "\n" + reference()
    if arguments == ["--check"]:
        same = page == PAGE.read_text()
        print(
            f"make_python_api: docs/python.md is {'up to date' if same else 'out of date: run scripts/make_python_api.py'}"
        )
        return 0 if same else 1
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
