"""Runs prefill problems on a device, with what surrounds the inputs under the test's control."""

import itertools
from typing import NamedTuple

import numpy as np
from prefill_families import TENSOR, Family

import flashmetal as fm
from flashmetal._prefill_operation import CACHE_ROWS_PER_STEP, kv_pad
from flashmetal._prefill_params import PrefillParams
from flashmetal.ops import flash_attn_prefill_blk as blk_op
from flashmetal.reference import compare, prefill_reference

TAIL = 64  # poisoned elements after the last one that the kernel may read or write


def packed(rows, heads, width):
    return heads * width, width


def head_major(rows, heads, width):
    return width, rows * width


def with_gaps(rows, heads, width):
    return heads * (width + 8) + 12, width + 8


def fused(rows, heads, width):
    """Rows of an array that holds other heads besides."""
    return 3 * heads * width, width


LAYOUTS = {function.__name__: function for function in (packed, head_major, with_gaps, fused)}


class Call(NamedTuple):
    """The arguments of one call."""

    q: fm.Buffer
    k: fm.Buffer
    v: fm.Buffer
    mask: fm.Buffer
    blk: fm.Buffer
    out: fm.Buffer
    params: PrefillParams
    family: Family

    @property
    def queries(self):
        """Query rows of a threadgroup."""
        return self.family.op.queries_per_threadgroup(self.params.head_dim)

    @property
    def tiles(self):
        return blk_op.BlkParams(
            self.params.rows, self.params.kv_pad, self.queries, CACHE_ROWS_PER_STEP
        )

    @property
    def classes(self):
        """The tiles' classes, u8 ``[tile rows, tiles of a row]``: a view."""
        shape = blk_op.blk_shape(self.tiles)
        return np.asarray(self.blk)[: shape[0] * shape[1]].reshape(shape)

    @property
    def cells(self):
        """The mask, f16 ``[rows, kv_pad]``: a view."""
        size = self.params.rows * self.params.kv_pad
        return np.asarray(self.mask)[:size].reshape(self.params.rows, self.params.kv_pad)


class PrefillRunner:
    """A device with a family of prefill kernels."""

    def __init__(self, device, family=TENSOR):
        self.device = device
        self.family = family
        self.registry = fm.KernelRegistry(device)
        family.op.register(self.registry)
        blk_op.register(self.registry)
        # Ahead of the first test, which then keeps no objects.
        self.registry.prewarm(family.kernels)
        for queries, kernel in itertools.product((16, 32), blk_op.KERNELS.values()):
            tile = {blk_op.BQ: queries, blk_op.BK: CACHE_ROWS_PER_STEP}
            self.registry.get_pipeline(kernel, tile)

    def prepare(self, problem, layouts="packed", poison=np.nan, scale=None):
        """Make buffers of a problem; ``layouts`` are one name for q, k and v, or three.

        Whatever the kernel may not read is ``poison``, and the output is NaN. The tiles' classes
        are 1 until they are computed.
        """
        rows, n_heads, n_kv_heads, head_dim, kv_len = problem.shape
        keys = kv_pad(kv_len)
        names = [layouts] * 3 if isinstance(layouts, str) else layouts
        padding = np.zeros((keys - kv_len, n_kv_heads, head_dim), np.float16)
        arrays = [
            problem.q,
            *(np.concatenate([array, padding]) for array in (problem.k, problem.v)),
        ]
        placed = [
            self.place(array, LAYOUTS[name], poison)
            for array, name in zip(arrays, names, strict=True)
        ]
        strides = {
            f"{name}_{axis}_stride": stride
            for name, (_, pair) in zip("qkv", placed, strict=True)
            for axis, stride in zip(("row", "head"), pair, strict=True)
        }
        params = self.family.params(
            rows, n_heads, n_kv_heads, head_dim, keys, **strides, scale=scale
        )
        mask = np.full((rows, keys), -np.inf, np.float16)
        mask[:, :kv_len] = problem.mask
        queries = self.family.op.queries_per_threadgroup(head_dim)
        tile_count = -(-rows // queries) * (keys // CACHE_ROWS_PER_STEP)
        return Call(
            *(buffer for buffer, _ in placed),
            self.buffer(np.append(mask.ravel(), np.full(TAIL, poison, np.float16))),
            self.buffer(np.append(np.ones(tile_count, np.uint8), np.full(TAIL, 3, np.uint8))),
            self.buffer(np.full(rows * n_heads * head_dim + TAIL, np.nan, np.float32)),
            params,
            self.family,
        )

    def place(self, array, layout, poison):
        """Put ``[rows, heads, width]`` at a layout's strides; return the buffer and them."""
        rows, heads, width = array.shape
        row_stride, head_stride = layout(rows, heads, width)
        size = (rows - 1) * row_stride + (heads - 1) * head_stride + width
        memory = np.full(size + TAIL, poison, array.dtype)
        strides = tuple(stride * memory.itemsize for stride in (row_stride, head_stride, 1))
        np.lib.stride_tricks.as_strided(memory, array.shape, strides)[...] = array
        return self.buffer(memory), (row_stride, head_stride)

    def buffer(self, array):
        buffer = self.device.alloc(array.shape, array.dtype)
        np.asarray(buffer)[...] = array
        return buffer

    def classify(self, calls):
        with self.device.encoder() as encoder:
            for call in calls:
                self.encode_classes(encoder, call)

    def encode_classes(self, encoder, call):
        blk_op.dispatch_flash_attn_prefill_blk(
            encoder, self.registry, call.mask, call.blk, call.tiles
        )

    def attend(self, calls):
        """Run prepared calls with the classes that they have; return their outputs."""
        with self.device.encoder() as encoder:
            for call in calls:
                self.encode(encoder, call)
        return [self.output(call) for call in calls]

    def encode(self, encoder, call):
        self.family.dispatch(encoder, self.registry, *call[:-1])

    def output(self, call):
        """Copy a call's output, f32 ``[rows, n_heads, head_dim]``; what follows it is untouched."""
        shape = call.params.rows, call.params.n_heads, call.params.head_dim
        out, tail = np.split(np.asarray(call.out), [np.prod(shape)])
        assert np.isnan(tail).all(), "the kernel wrote past its output"
        assert (np.asarray(call.blk)[call.classes.size :] == 3).all(), "a class too many"
        return out.reshape(shape).copy()

    def run(self, calls):
        """Classify the masks' tiles of prepared calls and attend, in one command buffer."""
        with self.device.encoder() as encoder:
            for call in calls:
                self.encode_classes(encoder, call)
            encoder.memory_barrier()
            for call in calls:
                self.encode(encoder, call)
        return [self.output(call) for call in calls]

    def __call__(self, problem, **options):
        """Return the output of one problem; for the options see `prepare`."""
        return self.run([self.prepare(problem, **options)])[0]

    def accuracy(self, problem, **options):
        """Measure the problem's output against float64."""
        return compare(self(problem, **options), reference_of(problem, options.get("scale")))


def reference_of(problem, scale=None):
    return prefill_reference(problem.q, problem.k, problem.v, problem.mask, scale)
