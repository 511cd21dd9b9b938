"""KernelRegistry: names, texts, options, constants, probes, and what is kept of them."""

import functools
import gc
import uuid
import weakref

import numpy as np
import pytest
from small_kernels import ADD, HEADER, OPTIONAL, PAIR

import flashmetal as fm
from flashmetal import _host, resources
from flashmetal.ops import flash_attention

MISSING_TENSOR_HEADER = HEADER + "#include <metal_tensor>\n" + ADD


@pytest.fixture
def registry(device):
    return fm.KernelRegistry(device)


def constant_kernel(name, value):
    return HEADER + (
        f"kernel void {name}(device uint *out [[buffer(0)]], "
        f"uint i [[thread_position_in_grid]]) {{ out[i] = {value}; }}\n"
    )


def run(pipeline, count=4):
    out = pipeline.device.alloc(count, "u32")
    with pipeline.device.encoder() as encoder:
        encoder.dispatch(pipeline, {0: out}, 1, count)
    return np.asarray(out).tolist()


# ---- register_source -----------------------------------------------------------------------------


def test_registering_compiles_nothing(registry):
    registry.register_source("broken", "no shader at all")
    assert (registry.source_count, registry.cached_count) == (1, 0)


def test_same_text_and_options_change_nothing(registry):
    registry.register_source("add", ADD)
    pipeline = registry.get_pipeline("add")
    registry.register_source("add", ADD, options=fm.CompileOptions())
    assert registry.get_pipeline("add") is pipeline


def test_another_text_replaces_the_kernel(registry):
    registry.register_source("fixed", constant_kernel("fixed", 1))
    old = registry.get_pipeline("fixed")
    registry.register_source("fixed", constant_kernel("fixed", 2))
    assert not registry.is_cached("fixed")
    assert run(registry.get_pipeline("fixed")) == [2, 2, 2, 2]
    # Whoever has the old one may go on with it.
    assert run(old) == [1, 1, 1, 1]


def test_other_options_replace_the_kernel(registry):
    text = constant_kernel("fixed", "VALUE")
    for value in (3, 4):
        options = fm.CompileOptions(macros={"VALUE": value})
        registry.register_source("fixed", text, options=options)
        assert run(registry.get_pipeline("fixed")) == [value] * 4


def test_replacing_a_name_leaves_other_names_alone(registry):
    registry.register_source("ones", PAIR)
    registry.register_source("twos", PAIR)
    registry.prewarm(["ones", "twos"])
    registry.register_source("ones", constant_kernel("ones", 5))
    assert registry.is_cached("twos")
    assert not registry.is_cached("ones")


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_name_that_no_function_can_have_is_refused(registry, name):
    with pytest.raises(fm.errors.InvalidArgument, match="a kernel's name must"):
        registry.register_source(name, ADD)


def test_text_that_is_not_unicode_is_refused(registry):
    with pytest.raises(fm.errors.InvalidArgument, match="add: the source is not valid Unicode"):
        registry.register_source("add", ADD + "\ud800")


def test_options_of_another_type_are_refused(registry):
    with pytest.raises(fm.errors.InvalidArgument, match=r"add: options must be .*, got dict"):
        registry.register_source("add", ADD, options={"math_mode": "fast"})


# ---- get_pipeline --------------------------------------------------------------------------------


def test_pipeline_is_made_once(registry):
    registry.register_source("add", ADD)
    pipeline = registry.get_pipeline("add")
    assert registry.get_pipeline("add") is pipeline
    assert registry.get_pipeline("add", {}) is pipeline
    assert registry.cached_count == 1


def test_pipeline_tells_what_metal_says_of_it(registry):
    registry.register_source("add", ADD)
    pipeline = registry.get_pipeline("add")
    assert pipeline.name == "add"
    assert pipeline.device is registry.device
    assert pipeline.max_threads == 1024
    assert pipeline.simd_width == 32
    assert pipeline.static_threadgroup_memory == 0
    assert pipeline.constants == {}


def test_pipelines_are_made_by_registries_only():
    for make in (fm.Pipeline, lambda: fm.Pipeline.__new__(fm.Pipeline)):
        with pytest.raises(fm.errors.InvalidArgument, match="get_pipeline"):
            make()
    with pytest.raises(TypeError):
        fm.KernelRegistry.__new__(fm.KernelRegistry)


def test_name_that_is_not_registered_is_not_found(registry):
    with pytest.raises(fm.errors.KernelNotFound) as caught:
        registry.get_pipeline("flash_attention")
    assert str(caught.value) == "Kernel not found: flash_attention"
    assert caught.value.name == "flash_attention"


def test_another_device_is_refused(registry, device):
    registry.register_source("add", ADD)
    other = fm.Device(max_threads=256)
    with pytest.raises(fm.errors.InvalidArgument) as caught:
        registry.get_pipeline("add", device=other)
    assert str(caught.value) == (
        f"Invalid argument: kernel registry is bound to Metal device {device.registry_id}, "
        f"not {other.registry_id}"
    )


def test_an_equal_device_is_the_same_device(registry):
    registry.register_source("add", ADD)
    pipeline = registry.get_pipeline("add", device=fm.Device())
    assert pipeline is registry.get_pipeline("add")


def test_names_of_one_text_share_its_library(registry):
    text = PAIR + "// compiled for this test alone\n"
    for name in ("ones", "twos"):
        registry.register_source(name, text)
    before = _host.live_objects("HMLibrary")
    assert run(registry.get_pipeline("ones")) == [1, 1, 1, 1]
    assert run(registry.get_pipeline("twos")) == [2, 2, 2, 2]
    assert _host.live_objects("HMLibrary") == before + 1


def test_replaced_texts_are_given_back(device, registry):
    registry.register_source("fixed", constant_kernel("fixed", 0))
    registry.prewarm(["fixed"])
    gc.collect()
    _host.quiesce()
    before = _host.live_objects()
    for value in range(1, 4):
        registry.register_source("fixed", constant_kernel("fixed", value))
        registry.prewarm(["fixed"])
    gc.collect()
    assert _host.live_objects() == before


def test_registry_and_its_pipelines_are_freed(device):
    registry = fm.KernelRegistry(device)
    registry.register_source("add", ADD)
    references = weakref.ref(registry), weakref.ref(registry.get_pipeline("add"))
    del registry
    gc.collect()
    assert [reference() for reference in references] == [None, None]


# ---- function constants --------------------------------------------------------------------------


def test_constants_select_pipelines_in_any_order(registry):
    registry.register_source("optional", OPTIONAL)
    pipeline = registry.get_pipeline("optional", {0: False, 1: 7})
    assert registry.get_pipeline("optional", {1: 7, 0: False}) is pipeline
    assert registry.get_pipeline("optional", {1: 8, 0: False}) is not pipeline
    assert pipeline.constants == {0: False, 1: 7}
    assert run(pipeline) == [7, 7, 7, 7]
    assert registry.cached_count == 2
    assert registry.is_cached("optional", {1: 7, 0: False})
    assert not registry.is_cached("optional")


def test_numpy_scalars_are_constants(registry):
    registry.register_source("optional", OPTIONAL)
    pipeline = registry.get_pipeline("optional", {0: np.bool_(False), np.int64(1): np.int32(-2)})
    assert pipeline is registry.get_pipeline("optional", {0: False, 1: -2})


def test_values_for_some_constants_are_not_enough(registry):
    registry.register_source("optional", OPTIONAL)
    with pytest.raises(fm.errors.ShaderCompilationError, match=r"no value: 'factor' \(index 1\)"):
        registry.get_pipeline("optional", {0: False})


def test_equal_constants_are_one_pipeline_however_they_are_spelled(registry):
    registry.register_source("optional", OPTIONAL)
    pipeline = registry.get_pipeline("optional", {0: False, 1: 1})
    for constants in ({0: 0, 1: True}, {"factor": 1, "has_extra": False}):
        assert registry.is_cached("optional", constants)
        assert registry.get_pipeline("optional", constants) is pipeline


@pytest.mark.parametrize(
    ("constants", "text"),
    [
        ({1: 2**31}, r"function constant 'factor' \(index 1, int\) must be an integer from"),
        ({1: -(2**31) - 1}, r"function constant 'factor' \(index 1, int\) must be an integer"),
        ({1: 1.0}, r"function constant 'factor' \(index 1, int\) must be an integer from"),
        ({0: 1.0}, r"function constant 'has_extra' \(index 0, bool\) must be True or False"),
        ({-1: True}, "index of a function constant must be an integer from 0 to 65535, got -1"),
        ({65536: True}, "index of a function constant must be an integer from 0 to 65535"),
        ({None: True}, "index of a function constant must be an integer from 0 to 65535"),
        ({"flag": True}, "no function constant 'flag': the text declares 'has_extra'"),
        ([1, 2], "constants must map indices or names to values"),
    ],
)
def test_constants_that_do_not_fit_are_refused(registry, constants, text):
    registry.register_source("optional", OPTIONAL)
    with pytest.raises(fm.errors.InvalidArgument, match=f"optional: {text}"):
        registry.get_pipeline("optional", constants)


# ---- probe_optional_pipeline ---------------------------------------------------------------------


def test_probe_remembers_what_is_available(registry):
    registry.register_source("add", ADD)
    assert registry.probe_optional_pipeline("add", lambda error: True) == (True, True)
    assert registry.probe_optional_pipeline("add", lambda error: True) == (True, False)
    assert registry.is_cached("add")


def test_probe_remembers_what_is_unavailable(registry):
    registry.register_source("add", "#error lacking\n" + ADD)
    asked = []

    def unavailable(error):
        asked.append(type(error))
        return True

    assert registry.probe_optional_pipeline("add", unavailable) == (False, True)
    assert registry.probe_optional_pipeline("add", unavailable) == (False, False)
    assert asked == [fm.errors.ShaderCompilationError]


def test_probe_passes_on_what_the_caller_does_not_expect(registry):
    registry.register_source("add", "#error lacking\n" + ADD)
    for _ in range(2):
        with pytest.raises(fm.errors.ShaderCompilationError, match="lacking"):
            registry.probe_optional_pipeline("add", lambda error: False)
    assert registry.probe_optional_pipeline("add", lambda error: True) == (False, True)


def test_probe_of_a_name_that_is_not_registered_is_an_error(registry):
    with pytest.raises(fm.errors.KernelNotFound):
        registry.probe_optional_pipeline("add", lambda error: True)


def test_another_text_forgets_the_verdict(registry):
    registry.register_source("add", "#error lacking\n" + ADD)
    registry.probe_optional_pipeline("add", lambda error: True)
    registry.register_source("add", ADD)
    assert registry.probe_optional_pipeline("add", lambda error: True) == (True, True)


def test_missing_tensor_header_is_a_verdict():
    registry = fm.KernelRegistry(fm.Device(tensor_api=False))
    registry.register_source("add", MISSING_TENSOR_HEADER)
    probe = functools.partial(
        registry.probe_optional_pipeline, "add", fm.is_unavailable_tensor_header
    )
    assert probe() == (False, True)
    assert probe() == (False, False)


def compilation_error(message):
    return fm.errors.ShaderCompilationError("kernel", message)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (
            compilation_error("program_source:2:10: fatal error: 'metal_tensor' file not found"),
            True,
        ),
        (compilation_error("program_source:2:10: error: 'metal_tensor' file not found"), False),
        (compilation_error("program_source:2:10: fatal error: 'metal_foo' file not found"), False),
        (compilation_error("no member named 'matmul2d' in namespace 'mpp'"), False),
        (compilation_error(""), False),
        (fm.errors.KernelNotFound("fatal error 'metal_tensor' file not found"), False),
        (ValueError("fatal error: 'metal_tensor' file not found"), False),
    ],
)
def test_only_the_missing_header_means_unavailable(error, verdict):
    assert fm.is_unavailable_tensor_header(error) is verdict


# ---- prewarm and the shipped library -------------------------------------------------------------


def test_prewarm_compiles_ahead(registry):
    registry.register_source("ones", PAIR)
    registry.register_source("twos", PAIR)
    registry.prewarm(["ones", "twos"])
    assert registry.cached_count == 2


@pytest.mark.parametrize("names", ["ones", b"ones", None, 5, ["ones", None]])
def test_prewarm_takes_names(registry, names):
    with pytest.raises(fm.errors.InvalidArgument, match="names must be a list of str, got "):
        registry.prewarm(names)


def test_prewarm_reports_what_is_missing(registry):
    with pytest.raises(fm.errors.KernelNotFound):
        registry.prewarm(["ones"])


def test_shipped_kernels_need_no_compiler(registry):
    before = _host.compile_count()
    flash_attention.register(registry)
    registry.prewarm(["flash_attention", "flash_attention_hd64", "flash_attention_hd128"])
    assert _host.compile_count() == before


def test_shipped_text_with_other_options_is_compiled(registry):
    before = _host.compile_count()
    text = resources.shader("flash_attention").read_text()
    # A macro that no cache has seen.
    options = fm.CompileOptions(macros={"UNSEEN": uuid.uuid4().int})
    registry.register_source("flash_attention", text, options=options)
    registry.prewarm(["flash_attention"])
    assert _host.compile_count() > before
