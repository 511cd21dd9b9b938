# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""FlashAttentionParams: the parameter struct of decode attention, held as the kernel's words."""

cimport cython
from libc.string cimport memcmp

from flashmetal._words cimport scale_of, to_bytes, to_scale_bits, to_u32, write_words

from flashmetal._argument import MISSING

__all__ = ["FlashAttentionParams"]

cdef str SUBJECT = "flash_attention"


@cython.final
cdef class FlashAttentionParams:
    """Shapes of one decode-attention dispatch.

    The head counts and head_dim are fixed; `seq_len` and `scale` may be set again, so that a decode
    loop keeps one object.

    Parameters
    ----------
    n_heads
        Query heads.
    n_kv_heads
        Heads of the K/V cache; divides `n_heads`.
    head_dim
        Elements of a head.
    seq_len
        Rows of the cache to attend to.
    scale
        Factor of q·k, rounded to f32; 1/√head_dim when None.

    Raises
    ------
    InvalidArgument
        When an integer, or `kv_dim`, does not fit 32 unsigned bits, or the scale a finite f32.
    """

    def __init__(self, n_heads=MISSING, n_kv_heads=MISSING, head_dim=MISSING, seq_len=MISSING,
                 scale=None):
        self.words[N_HEADS] = to_u32(n_heads, SUBJECT, "n_heads")
        self.words[N_KV_HEADS] = to_u32(n_kv_heads, SUBJECT, "n_kv_heads")
        self.words[HEAD_DIM] = to_u32(head_dim, SUBJECT, "head_dim")
        self.words[KV_DIM] = to_u32(
            int(self.words[N_KV_HEADS]) * int(self.words[HEAD_DIM]), SUBJECT, "kv_dim"
        )
        self.words[SEQ_LEN] = to_u32(seq_len, SUBJECT, "seq_len")
        self.words[SCALE_BITS] = to_scale_bits(scale, self.words[HEAD_DIM], SUBJECT)

    def __eq__(self, other):
        if not isinstance(other, FlashAttentionParams):
            return NotImplemented
        cdef FlashAttentionParams theirs = other
        return memcmp(self.words, theirs.words, sizeof(self.words)) == 0

    # Mutable, so not hashable.
    __hash__ = None

    def __repr__(self):
        # Nine digits tell every f32 from its neighbours.
        return (
            f"FlashAttentionParams(n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}, "
            f"head_dim={self.head_dim}, seq_len={self.seq_len}, scale={self.scale:.9g})"
        )

    def __reduce__(self):
        # The default scale of an empty head is infinite, which nobody may pass.
        scale = self.scale if self.words[HEAD_DIM] else None
        return FlashAttentionParams, (
            self.n_heads, self.n_kv_heads, self.head_dim, self.seq_len, scale
        )

    def pack(self):
        """Return the struct as the kernel reads it.

        Returns
        -------
        bytes
            32 bytes: eight little-endian words.
        """
        return to_bytes(self.words, WORDS)

    def pack_into(self, buffer, offset=0):
        """Write the struct into memory that is already there.

        Parameters
        ----------
        buffer
            A writable, contiguous object of the buffer protocol.
        offset
            Of the first byte written.

        Raises
        ------
        InvalidArgument
            When the buffer is read-only, not contiguous or has fewer than 32 bytes at the offset.
        """
        write_words(self.words, WORDS, buffer, offset, SUBJECT)

    @property
    def n_heads(self):
        """Query heads."""
        return self.words[N_HEADS]

    @property
    def n_kv_heads(self):
        """Heads of the K/V cache."""
        return self.words[N_KV_HEADS]

    @property
    def head_dim(self):
        """Elements of a head."""
        return self.words[HEAD_DIM]

    @property
    def kv_dim(self):
        """Elements of a cache row: n_kv_heads · head_dim."""
        return self.words[KV_DIM]

    @property
    def seq_len(self):
        """Rows of the cache to attend to."""
        return self.words[SEQ_LEN]

    @seq_len.setter
    def seq_len(self, value):
        self.words[SEQ_LEN] = to_u32(value, SUBJECT, "seq_len")

    @property
    def scale(self):
        """Factor of q·k: the f32 that the kernel uses."""
        return scale_of(self.words[SCALE_BITS])

    @scale.setter
    def scale(self, value):
        self.words[SCALE_BITS] = to_scale_bits(value, self.words[HEAD_DIM], SUBJECT)
