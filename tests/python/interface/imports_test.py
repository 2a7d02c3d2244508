"""The package's modules import each other in one direction."""

from __future__ import annotations

import ast
import graphlib
import pathlib

import headrace

ROOT = pathlib.Path(headrace.__file__).parent


def imports_of(module, path):
    """The package's modules that are imported together with a module, without those that its functions import later."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.Lambda)):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and child.level:
                above = package.split(".")[:len(package.split(".")) - (child.level - 1)]
                base = ".".join([*above, *filter(None, [child.module])])
                found.update(x for name in child.names for x in (f"{base}.{name.name}", base))
            visit(child)

    visit(ast.parse(path.read_text()))
    return found - {module}


def test_ThereIsNoCycleOfImports():
    modules = {}
    for path in ROOT.rglob("*.py"):
        name = ".".join(["headrace", *path.relative_to(ROOT).with_suffix("").parts])
        modules[name.removesuffix(".__init__")] = path
    assert len(modules) > 50
    graph = {name: {x for x in imports_of(name, path) if x in modules and x != "headrace"}
             for name, path in modules.items()}
    tuple(graphlib.TopologicalSorter(graph).static_order())
