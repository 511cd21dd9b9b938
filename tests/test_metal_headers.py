"""Host Metal's headers declare what Apple's do: same values, same messages, same types."""

import copy
import importlib.util
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "darwin", reason="Apple's own headers are in use"),
]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


conformance = load(ROOT / "tools" / "conformance.py")
find_clang = load(ROOT / "tools" / "build" / "find_clang.py")


@pytest.fixture(scope="module")
def ours():
    return conformance.read_headers(find_clang.command())


@pytest.fixture(scope="module")
def apple():
    return json.loads(conformance.SNAPSHOT.read_text(encoding="utf-8"))


def test_headers_agree_with_apples_api(ours, apple):
    assert conformance.differences(ours, apple) == []


def test_the_comparison_covers_the_headers(ours):
    assert len(ours["enums"]) > 80
    assert sum(map(len, ours["methods"].values())) > 120
    assert len(ours["constants"]) > 2
    assert ours["structs"].keys() == {"MTLSize", "MTLOrigin"}


def change_value(api):
    api["enums"]["MTLCommandBufferErrorPageFault"] += 1


def change_argument(api):
    api["methods"]["MTLComputeCommandEncoder"]["setBytes:length:atIndex:"][2] = "int"


def misspell_message(api):
    methods = api["methods"]["MTLDevice"]
    methods["newCommandQueues"] = methods.pop("newCommandQueue")


def swap_fields(api):
    api["structs"]["MTLSize"].reverse()


def invent_constant(api):
    api["constants"].append("MTLMadeUpDomain")


@pytest.mark.parametrize(
    "mistake", [change_value, change_argument, misspell_message, swap_fields, invent_constant]
)
def test_a_mistake_is_found(ours, apple, mistake):
    wrong = copy.deepcopy(ours)
    mistake(wrong)
    assert len(conformance.differences(wrong, apple)) == 1
