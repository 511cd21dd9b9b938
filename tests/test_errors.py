"""flashmetal.errors: classes, texts and what a caller can read off them."""

import pickle
import sys

import pytest

from flashmetal import errors

E = errors

EXAMPLES = [
    (E.DeviceNotFound(""), RuntimeError, "No Metal GPU device found — Apple Silicon required"),
    (E.CommandBufferError("no luck", 2, "step"), RuntimeError, "Command buffer error: no luck"),
    (
        E.ShaderCompilationError("scale", "line 1\nline 2"),
        ValueError,
        "Shader compilation error for 'scale': line 1\nline 2",
    ),
    (E.BufferAllocationError(77), MemoryError, "Failed to allocate Metal buffer of 77 bytes"),
    (
        E.CacheWarning("/x: Not a directory"),
        UserWarning,
        "FLASHMETAL_CACHE_DIR keeps no compiled kernels, so that each process compiles them anew: "
        "/x: Not a directory",
    ),
    (E.InvalidArgument("n is 3"), ValueError, "Invalid argument: n is 3"),
    (E.InvalidType("n is None"), TypeError, "Invalid argument: n is None"),
    (
        E.F16Overflow(3, "v", 2, 70000.0),
        OverflowError,
        "Invalid argument: KVCache.append: layer 3: 70000 in row 2 of v is beyond the range of "
        "f16, which ends at 65504; nothing was appended",
    ),
    (E.KernelNotFound("scale"), LookupError, "Kernel not found: scale"),
    (E.UnsupportedDtype("float64"), TypeError, "Unsupported dtype: float64"),
    (E.IoError("no such file"), OSError, "I/O error: no such file"),
    (E.WaitTimeout(0.25), TimeoutError, "Wait timed out after 0.25 s"),
    (E.InvalidState("committed"), RuntimeError, "Invalid state: committed"),
    (E.UnsupportedFeature("tensors"), RuntimeError, "Unsupported feature: tensors"),
]
BY_CLASS = [pytest.param(*example, id=type(example[0]).__name__) for example in EXAMPLES]


def test_examples_are_all_classes():
    exported = {getattr(errors, name) for name in errors.__all__} - {E.FlashMetalError}
    assert {type(error) for error, _, _ in EXAMPLES} == exported


@pytest.mark.parametrize(("error", "builtin", "text"), BY_CLASS)
def test_text_and_bases(error, builtin, text):
    assert str(error) == text
    assert isinstance(error, E.FlashMetalError)
    assert isinstance(error, builtin)


@pytest.mark.parametrize(("error", "builtin", "text"), BY_CLASS)
def test_pickling_keeps_text_and_attributes(error, builtin, text):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == text
    assert vars(copy) == vars(error)


@pytest.mark.parametrize(("error", "builtin", "text"), BY_CLASS)
def test_only_command_buffer_errors_are_transient(error, builtin, text):
    assert error.is_transient == isinstance(error, E.CommandBufferError)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1, "internal"),
        (2, "timeout"),
        (3, "page_fault"),
        (4, "access_revoked"),
        (7, "not_permitted"),
        (8, "out_of_memory"),
        (9, "invalid_resource"),
        (10, "memoryless"),
        (11, "device_removed"),
        (12, "stack_overflow"),
        (14, "unknown"),
    ],
)
def test_kind_of_a_command_buffer_error(code, kind):
    error = E.CommandBufferError("text", code, "step 7")
    assert (error.kind, error.code, error.label) == (kind, code, "step 7")


def test_attributes():
    assert E.ShaderCompilationError("scale", "whole\nlog").name == "scale"
    assert E.ShaderCompilationError("scale", "whole\nlog").message == "whole\nlog"
    assert E.KernelNotFound("scale").name == "scale"
    assert E.BufferAllocationError(5).byte_len == 5
    assert E.UnsupportedDtype("int8", "use astype").dtype == "int8"
    assert E.WaitTimeout(2).seconds == 2


def test_details_follow_the_text():
    assert str(E.UnsupportedDtype("int8", "use astype")) == "Unsupported dtype: int8; use astype"
    assert str(E.BufferAllocationError(5, "too much")) == (
        "Failed to allocate Metal buffer of 5 bytes: too much"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only there is the host device the default")
def test_device_not_found_names_the_host_device_on_linux():
    text = str(E.DeviceNotFound())
    assert text.startswith("No Metal GPU device found — Apple Silicon required; ")
    assert "host device" in text
    assert "-Dmetal=host" in text
