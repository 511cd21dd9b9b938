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
        ('#if __has_include("x") && __has_include(<y>)', "#if 1 && __has_include(<y>)"),
        ('#include "unknown"', '#include "unknown"'),
        ('/*\n#include "x"\n*/', '/*\n#include "x"\n*/'),
        ('// "\n#include "unknown" // "x"', '// "\n#include "unknown" // "x"'),
    ],
)
def test_expansion(source, expected):
    assert expand_headers(source, {"x": "X"}) == expected


def test_pragma_once_lets_a_header_in_once():
    expanded = expand_headers('#include "x"\n#include "x"', {"x": "#pragma once\nX"})
    assert expanded.count("X") == 1


def value_of(registry, source, **headers):
    """Return what VALUE comes to in a kernel behind `source`."""
    for name, text in headers.items():
        registry.register_header(name, text)
    kernel = "\nkernel void k(device float *out [[buffer(0)]]) { out[0] = VALUE; }\n"
    registry.register_source("k", source + kernel)
    return run(registry)[0]


@pytest.mark.parametrize(
    ("include", "header"),
    [
        ('"d.h"', "a/d.h"),
        ('"./d.h"', "a/d.h"),
        ('"../d.h"', "d.h"),
        ('"c/../d.h"', "a/d.h"),
        ('"../e/d.h"', "e/d.h"),
        ('"e/d.h"', "e/d.h"),  # not beside it: by its whole name
        ("<e/d.h>", "e/d.h"),
        ("<./e//d.h>", "e/d.h"),
        ('"../../d.h"', "../d.h"),
    ],
)
def test_a_header_includes_what_lies_beside_it(registry, include, header):
    headers = {"a/b.h": f"#include {include}", header: "#define VALUE 5"}
    assert value_of(registry, '#include "a/b.h"', **headers) == 5


def test_quotes_look_beside_the_header_first_and_brackets_do_not(registry):
    headers = {"d.h": "#define VALUE 1", "a/d.h": "#define VALUE 2"}
    quoted = {"a/b.h": '#include "d.h"'}
    assert value_of(registry, '#include "a/b.h"', **headers, **quoted) == 2
    assert value_of(registry, '#include "a/b.h"', **{"a/b.h": "#include <d.h>"}) == 1


def test_a_header_comes_in_once_by_whatever_path(registry):
    headers = {
        "a/b.h": '#include "../c/d.h"\n#include "../a/./e.h"',
        "a/e.h": '#include "c/d.h"\n#include <c/d.h>',
        "c/d.h": "#pragma once\nconstant float VALUE = 6;",
    }
    assert value_of(registry, '#include "a/b.h"', **headers) == 6


@pytest.mark.parametrize("form", ["#pragma once\n{}", "#ifndef G\n#define G\n{}\n#endif", "{}"])
def test_a_header_that_a_condition_leaves_out_comes_in_later(registry, form):
    include = "#import" if form == "{}" else "#include"
    source = f'#ifdef NO\n{include} "d.h"\n#endif\n{include} "d.h"\n{include} "d.h"'
    headers = {"d.h": form.format("constant float VALUE = 7;")}
    assert value_of(registry, source, **headers) == 7


def test_a_header_that_is_included_is_not_imported_again(registry):
    header = {"d.h": "constant float VALUE = 8;"}
    assert value_of(registry, '#include "d.h"\n#import "d.h"', **header) == 8
    conditional = '#if 1\n#include "d.h"\n#endif\n#import "d.h"'
    assert value_of(registry, conditional, **header) == 8


@pytest.mark.parametrize("guard", ["#ifndef G\n#define G\n{}\n#endif", "#pragma once\n{}"])
def test_guards_end_cycles(registry, guard):
    headers = {
        "a.h": guard.format('#include "b.h"\nconstant float A = 1;'),
        "b.h": guard.replace("G", "H").format('#include "a.h"\n#define VALUE 9 * A'),
    }
    assert value_of(registry, '#include "a.h"', **headers) == 9


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({"a.h": '\n#include "a.h"'}, "a.h:2:2: error: include cycle: a.h includes a.h"),
        (
            {"a.h": "#include <d/b.h>", "d/b.h": '#include "c.h"', "d/c.h": '#include "../a.h"'},
            "a.h:1:2: error: include cycle: a.h includes d/b.h includes d/c.h includes a.h",
        ),
    ],
)
def test_a_cycle_without_guards_is_an_error_that_shows_it(registry, headers, text):
    with pytest.raises(ShaderCompilationError) as caught:
        value_of(registry, '#include "a.h"', **headers)
    assert text in str(caught.value)


def test_many_headers_that_include_each_other_stay_small():
    names = [f"h{i}.h" for i in range(7)]
    guarded = "#ifndef G{0}\n#define G{0}\n{1}\nint x{0};\n#endif"
    includes = "\n".join(f'#include "{name}"' for name in names)
    once = dict.fromkeys(names, f"#pragma once\n{includes}\nint x;")
    assert expand_headers(includes, once).count("int x;") == 7
    chained = {
        name: guarded.format(i, "\n".join(f'#include "{n}"' for n in names[:i]))
        for i, name in enumerate(names)
    }
    assert expand_headers(includes, chained).count("int x6;") == 1


def test_a_header_that_is_missing_tells_where_it_was_looked_up(registry):
    registry.register_header("a/b.h", '\n#include "d.h"\n')
    registry.register_header("c/d.h", "")
    registry.register_source("k", '#include "a/b.h"' + KERNEL)
    with pytest.raises(ShaderCompilationError) as caught:
        registry.get_pipeline("k")
    assert "a/b.h:2:10: fatal error: 'd.h' file not found" in str(caught.value)
    assert str(caught.value).endswith(
        "\nnote: 'd.h' was looked up as a/d.h, d.h\n"
        "note: 2 headers registered before the source: a/b.h, c/d.h\n"
    )


def test_without_a_registered_header_the_error_names_the_function(registry):
    registry.register_source("k", "#include <own.h>" + KERNEL)
    with pytest.raises(ShaderCompilationError, match=r"no header is registered: .*register_header"):
        registry.get_pipeline("k")


def test_headers_of_metal_are_not_looked_up(registry):
    registry.register_source("k", "#include <metal_nonsense>" + KERNEL)
    with pytest.raises(ShaderCompilationError, match="not found") as caught:
        registry.get_pipeline("k")
    assert "note" not in str(caught.value)


def test_positions_and_file_names_behind_includes(registry):
    registry.register_header("a/b.h", '#include "d.h"\nconstant char HERE[] = __FILE__;\n')
    registry.register_header("a/d.h", "#pragma once\n#define VALUE nothing\n")
    source = (
        '#ifdef NO\n#include "a/d.h"\n#endif\n#include "a/b.h"\n'
        'static_assert(sizeof(HERE) == sizeof("a/b.h"), "");\n'
        "kernel void k() { int x = VALUE; }\n"
    )
    registry.register_source("k", source)
    with pytest.raises(ShaderCompilationError) as caught:
        registry.get_pipeline("k")
    assert "program_source:6:27: error: use of undeclared identifier 'nothing'" in str(caught.value)
    assert "static assertion failed" not in str(caught.value)
