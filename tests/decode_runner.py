"""Runs decode problems on a device, with what surrounds the inputs under the test's control."""

import numpy as np

import flashmetal as fm
from flashmetal.ops.flash_attention import (
    FlashAttentionParams,
    encode_attention,
    kernel_name,
    register,
)
from flashmetal.reference import compare, decode_reference

THREADS = 256
KERNELS = [kernel_name(head_dim) for head_dim in (4, 64, 128)]


class DecodeRunner:
    """A device with the decode kernels."""

    def __init__(self, device):
        self.device = device
        self.registry = fm.KernelRegistry(device)
        register(self.registry)
        self.registry.prewarm(KERNELS)

    def __call__(self, problem, *, spare_rows=1, poison=np.nan, kernel=None, scale=None):
        """Return the output, f32 ``[n_heads, head_dim]``, which held NaN before.

        ``spare_rows`` follow the cache's last row, full of ``poison``. ``kernel`` names an entry
        point to dispatch directly, in place of the one that `encode_attention` picks.
        """
        q = self.buffer(problem.q)
        k, v = (self.cache(rows, spare_rows, poison) for rows in (problem.k, problem.v))
        out = self.buffer(np.full_like(problem.q, np.nan))
        params = FlashAttentionParams(**problem.shape._asdict(), scale=scale)

        encoder = self.device.encoder()
        if kernel is None:
            encode_attention(encoder, self.registry, q, k, v, out, params)
        else:
            self.dispatch(encoder, kernel, (q, k, v, out), params.pack())
        encoder.commit_and_wait()
        return np.array(out)

    def dispatch(self, encoder, kernel, buffers, params):
        """Encode an entry point with the struct's bytes as they are, unchecked."""
        arguments = dict(enumerate((*buffers, params)))
        n_heads = int.from_bytes(params[:4], "little")
        pipeline = self.registry.get_pipeline(kernel)
        encoder.dispatch(pipeline, arguments, (n_heads, 1, 1), (THREADS, 1, 1))

    def buffer(self, array):
        buffer = self.device.alloc(array.shape, array.dtype)
        np.asarray(buffer)[...] = array
        return buffer

    def cache(self, rows, spare_rows, poison):
        spare = np.full((spare_rows, *rows.shape[1:]), poison, rows.dtype)
        return self.buffer(np.concatenate([rows, spare]))

    def accuracy(self, problem, **options):
        """Measure the problem's output against float64."""
        reference = decode_reference(problem.q, problem.k, problem.v, options.get("scale"))
        return compare(self(problem, **options), reference)
