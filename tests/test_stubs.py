"""The stubs of the core say what the modules have at run time."""

import ast
import importlib
import pathlib

import pytest

STUBS = sorted((pathlib.Path(__file__).parent.parent / "flashmetal").glob("*.pyi"))
BASETYPE = 1 << 10  # Py_TPFLAGS_BASETYPE
PROTOCOLS = {"__init__", "__buffer__"}  # of the type system, or inherited at run time


def stub_names(body):
    """Names that a stub defines, but for its type aliases."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in body if isinstance(node, kinds)} - PROTOCOLS


def run_time_names(owner):
    return {name for name in vars(owner) if not name.startswith("_")}


def own_names(module):
    return {
        name
        for name in run_time_names(module)
        if getattr(getattr(module, name), "__module__", None) == module.__name__
    }


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.stem)
def test_stub_names_equal_run_time_names(path):
    module = importlib.import_module(f"flashmetal.{path.stem}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert set(getattr(module, "__all__", ())) <= stub_names(tree.body) <= own_names(module)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            owner = getattr(module, node.name)
            named = stub_names(node.body)
            assert {name for name in named if not name.startswith("_")} == run_time_names(owner)
            assert [name for name in named if not hasattr(owner, name)] == []


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.stem)
def test_classes_that_nobody_can_derive_from_are_final(path):
    module = importlib.import_module(f"flashmetal.{path.stem}")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            is_base = bool(getattr(module, node.name).__flags__ & BASETYPE)
            is_final = "final" in [decorator.id for decorator in node.decorator_list]
            assert is_final != is_base, node.name
