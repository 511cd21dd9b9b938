"""The stubs of the core say what the modules have at run time."""

import ast
import importlib
import inspect
import pathlib
import re

import pytest

STUBS = sorted((pathlib.Path(__file__).parent.parent / "flashmetal").glob("*.pyi"))
BASETYPE = 1 << 10  # Py_TPFLAGS_BASETYPE
SLOTS = {"__buffer__", "__eq__", "__hash__", "__len__"}  # whose arguments Python names
PROTOCOLS = {"__init__", "__buffer__"}  # of the type system, or inherited at run time


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def stub_names(body):
    """Names that a stub defines, but for its type aliases."""
    kinds = FUNCTIONS | ast.ClassDef
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


def parameters_of(signature):
    """Names, kinds and defaults, without `self`, which C's calling conventions mark."""
    return [
        (name, parameter.kind, parameter.default)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]


def stub_signature(node):
    """What a stub's definition says, with defaults as values."""
    node.decorator_list, node.returns = [], None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.body = [ast.Pass()]
    return signature_of(ast.unparse(node).removeprefix("async "))


def signature_of(definition):
    scope = {}
    exec(definition, scope)  # of this repository
    function = next(value for value in scope.values() if inspect.isfunction(value))
    return inspect.signature(function)


def constructor_signature(source, name):
    """What the source of a Cython class says: at run time its constructor has no signature."""
    body = re.split(rf"^cdef class {name}\b.*:$", source, flags=re.M)[1]
    body = re.split(r"^\S", body, maxsplit=1, flags=re.M)[0]
    found = re.search(r"^    def (?:__cinit__|__init__)\((.*?)\):$", body, re.M | re.S)
    # Without the types of C, and what Cython says of None.
    parameters = found[1].replace(" not None", "")
    parameters = re.sub(r"\b(?:\w+ )+(\w+)(?=\s*[,=]|\s*$)", r"\1", parameters)
    # What must be given has a default that is refused.
    parameters = parameters.replace("=MISSING", "")
    return signature_of(f"def constructor({parameters}): pass")


def is_function(node):
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return not any("property" in name or name.endswith("setter") for name in names)


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.stem)
def test_stub_signatures_equal_run_time_signatures(path):
    module = importlib.import_module(f"flashmetal.{path.stem}")
    source = path.with_suffix(".pyx").read_text(encoding="utf-8")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, FUNCTIONS):
            found = inspect.signature(getattr(module, node.name))
            assert parameters_of(stub_signature(node)) == parameters_of(found), node.name
        for method in node.body if isinstance(node, ast.ClassDef) else []:
            if not isinstance(method, FUNCTIONS) or not is_function(method):
                continue
            if method.name == "__init__":
                found = constructor_signature(source, node.name)
            elif method.name in SLOTS:
                continue
            else:
                found = inspect.signature(getattr(getattr(module, node.name), method.name))
            names = f"{node.name}.{method.name}"
            assert parameters_of(stub_signature(method)) == parameters_of(found), names


def test_the_comparison_of_signatures_sees_defaults_and_kinds():
    different = ["a, b=1", "a, b=2", "a, *, b=1", "a, b", "a, c=1"]
    signatures = [parameters_of(signature_of(f"def f({text}): pass")) for text in different]
    assert all(signatures.count(signature) == 1 for signature in signatures)
    source = "cdef class A:\n    def __cinit__(self, int a not None,\n                  b=1):\n"
    assert parameters_of(constructor_signature(source, "A")) == signatures[0]
