"""Headers that a host registers: where their text goes, and what is said about mistakes in it."""

import numpy as np
import pytest

import flashmetal as fm
from flashmetal.errors import InvalidArgument, ShaderCompilationError
from flashmetal.headers import expand_headers

KERNEL = """
kernel void k(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = twice(float(i));
}
"""
TWICE = "inline float twice(float x) { return 2 * x; }"


@pytest.fixture
def registry(device):
    return fm.KernelRegistry(device)


def run(registry):
    out = registry.device.alloc((8,), "float32")
    with registry.device.encoder() as encoder:
        encoder.dispatch_threads(registry.get_pipeline("k"), {0: out}, (8, 1, 1), (8, 1, 1))
    return np.array(out)


def test_a_kernel_includes_headers_that_include_headers(registry):
    registry.register_header("a.h", '#pragma once\n#include "dir/b.h"\n')
    registry.register_header("dir/b.h", f"#pragma once\n#include <metal_stdlib>\n{TWICE}")
    registry.register_source("k", '#include "a.h"\n#include "dir/b.h"' + KERNEL)
    assert np.array_equal(run(registry), 2.0 * np.arange(8))


def test_a_mistake_in_a_header_is_placed_there(registry):
    registry.register_header("own.h", "inline float once(float x) {\n    return y;\n}\n")
    registry.register_source("k", '\n#include "own.h"\nkernel void k() { z; }\n')
    with pytest.raises(ShaderCompilationError) as caught:
        registry.get_pipeline("k")
    assert "own.h:2:12: error: use of undeclared identifier 'y'\n    return y;" in str(caught.value)
    assert "program_source:3:19: error: use of undeclared identifier 'z'" in str(caught.value)


def test_a_header_replaces_the_one_before_for_later_sources(registry):
    source = '#include "own.h"' + KERNEL
    registry.register_header("own.h", TWICE)
    registry.register_source("k", source)
    registry.register_header("own.h", TWICE.replace("2", "3"))
    assert np.array_equal(run(registry), 2.0 * np.arange(8))
    registry.register_source("k", source)
    assert np.array_equal(run(registry), 3.0 * np.arange(8))


@pytest.mark.parametrize("name", ["", 'a"b', "a\nb", "a>"])
def test_names_that_no_include_can_say(registry, name):
    with pytest.raises(InvalidArgument, match="header's name"):
        registry.register_header(name, "")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('#include "x"', '#line 1 "x"\nX\n#line 2 "program_source"'),
        ("  #  import <x> // why\nint y;", '#line 1 "x"\nX\n#line 2 "program_source"\nint y;'),
        ('#import "x"\n#import "x"', '#line 1 "x"\nX\n#line 2 "program_source"\n'),
        ('#include "own"', '#line 1 "own"\n\n#line 2 "program_source"'),
        ('#include "unknown"', '#include "unknown"'),
        ('/*\n#include "x"\n*/', '/*\n#include "x"\n*/'),
        ('// "\n#include "unknown" // "x"', '// "\n#include "unknown" // "x"'),
    ],
)
def test_expansion(source, expected):
    assert expand_headers(source, {"x": "X", "own": '#include "own"'}) == expected


def test_pragma_once_lets_a_header_in_once():
    expanded = expand_headers('#include "x"\n#include "x"', {"x": "#pragma once\nX"})
    assert expanded.count("X") == 1
