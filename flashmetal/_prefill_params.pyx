# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""The parameter structs of prefill attention, held as the kernels' words."""

cimport cython
from libc.stdint cimport INT32_MAX, uint32_t
from libc.string cimport memcmp

from flashmetal._words cimport scale_of, to_bytes, to_scale_bits, to_u32, write_words

from flashmetal._argument import MISSING
from flashmetal.errors import InvalidArgument

__all__ = ["FlashAttnPrefillSimdgroupParams", "FlashAttnPrefillTensorParams", "PrefillParams"]

# Where each field is in the structs.
cdef enum:
    ROWS = 0
    N_HEADS = 1
    N_KV_HEADS = 2
    KV_PAD = 3
    Q_ROW_STRIDE = 4
    Q_HEAD_STRIDE = 5
    K_ROW_STRIDE = 6
    K_HEAD_STRIDE = 7
    V_ROW_STRIDE = 8
    V_HEAD_STRIDE = 9
    MASK_ROW_STRIDE = 10  # of the struct that has no head_dim
    HEAD_DIM = 10
    SCALE_BITS = 11
    WORDS = 12


cdef class PrefillParams:
    """Shapes of one prefill-attention dispatch: what the operations' classes share.

    Strides are in elements.

    Parameters
    ----------
    rows
        Query rows.
    n_heads
        Query heads.
    n_kv_heads
        Heads of K and V; divides `n_heads`.
    head_dim
        Elements of a head.
    kv_pad
        Rows of K and V and cells of a row of the mask, the padding included.
    q_row_stride, q_head_stride, k_row_stride, k_head_stride, v_row_stride, v_head_stride
        From one row, or head, to the next.
    scale
        Factor of q·k, rounded to f32; 1/√head_dim when None.

    Raises
    ------
    InvalidArgument
        When an integer does not fit 32 unsigned bits, or the scale a finite f32.
    """

    def __init__(self, rows=MISSING, n_heads=MISSING, n_kv_heads=MISSING, head_dim=MISSING,
                 kv_pad=MISSING, q_row_stride=MISSING, q_head_stride=MISSING, k_row_stride=MISSING,
                 k_head_stride=MISSING, v_row_stride=MISSING, v_head_stride=MISSING, scale=None):
        cdef str subject = self.subject
        if subject is None:
            raise TypeError("PrefillParams is a base: make the params of an operation")
        self.head_dim = to_u32(head_dim, subject, "head_dim")
        self.words[ROWS] = to_u32(rows, subject, "rows")
        self.words[N_HEADS] = to_u32(n_heads, subject, "n_heads")
        self.words[N_KV_HEADS] = to_u32(n_kv_heads, subject, "n_kv_heads")
        self.words[KV_PAD] = to_u32(kv_pad, subject, "kv_pad")
        self.words[Q_ROW_STRIDE] = to_u32(q_row_stride, subject, "q_row_stride")
        self.words[Q_HEAD_STRIDE] = to_u32(q_head_stride, subject, "q_head_stride")
        self.words[K_ROW_STRIDE] = to_u32(k_row_stride, subject, "k_row_stride")
        self.words[K_HEAD_STRIDE] = to_u32(k_head_stride, subject, "k_head_stride")
        self.words[V_ROW_STRIDE] = to_u32(v_row_stride, subject, "v_row_stride")
        self.words[V_HEAD_STRIDE] = to_u32(v_head_stride, subject, "v_head_stride")
        if self.has_head_dim:
            self.words[HEAD_DIM] = self.head_dim
        else:
            self.words[MASK_ROW_STRIDE] = self.words[KV_PAD]
        self.words[SCALE_BITS] = to_scale_bits(scale, self.head_dim, subject)

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        cdef PrefillParams theirs = other
        return (
            self.head_dim == theirs.head_dim
            and memcmp(self.words, theirs.words, sizeof(self.words)) == 0
        )

    def __hash__(self):
        return hash((self.head_dim, to_bytes(self.words, WORDS)))

    def __repr__(self):
        # Nine digits tell every f32 from its neighbours.
        return (
            f"{type(self).__name__}(rows={self.rows}, n_heads={self.n_heads}, "
            f"n_kv_heads={self.n_kv_heads}, head_dim={self.head_dim}, kv_pad={self.kv_pad}, "
            f"q_row_stride={self.q_row_stride}, q_head_stride={self.q_head_stride}, "
            f"k_row_stride={self.k_row_stride}, k_head_stride={self.k_head_stride}, "
            f"v_row_stride={self.v_row_stride}, v_head_stride={self.v_head_stride}, "
            f"scale={self.scale:.9g})"
        )

    def __reduce__(self):
        # The default scale of an empty head is infinite, which nobody may pass.
        scale = self.scale if self.head_dim else None
        return type(self), (
            self.rows, self.n_heads, self.n_kv_heads, self.head_dim, self.kv_pad,
            self.q_row_stride, self.q_head_stride, self.k_row_stride, self.k_head_stride,
            self.v_row_stride, self.v_head_stride, scale,
        )

    def pack(self):
        """Return the struct as the kernel reads it.

        Returns
        -------
        bytes
            48 bytes: twelve little-endian words.

        Raises
        ------
        InvalidArgument
            When an integer does not fit the kernel's 32 signed bits.
        """
        self.check_i32()
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
            When an integer does not fit the kernel's 32 signed bits, or when the buffer is
            read-only, not contiguous or has fewer than 48 bytes at the offset.
        """
        self.check_i32()
        write_words(self.words, WORDS, buffer, offset, self.subject)

    cdef int check_i32(self) except -1:
        for i in range(SCALE_BITS):
            if self.words[i] > <uint32_t>INT32_MAX:
                raise InvalidArgument(f"{self.subject}: a dimension exceeds i32: {self}")
        return 0

    @property
    def rows(self):
        """Query rows."""
        return self.words[ROWS]

    @property
    def n_heads(self):
        """Query heads."""
        return self.words[N_HEADS]

    @property
    def n_kv_heads(self):
        """Heads of K and V."""
        return self.words[N_KV_HEADS]

    @property
    def kv_pad(self):
        """Rows of K and V and cells of a row of the mask, the padding included."""
        return self.words[KV_PAD]

    @property
    def q_row_stride(self):
        """Elements from one row of q to the next."""
        return self.words[Q_ROW_STRIDE]

    @property
    def q_head_stride(self):
        """Elements from one head of q to the next."""
        return self.words[Q_HEAD_STRIDE]

    @property
    def k_row_stride(self):
        """Elements from one row of k to the next."""
        return self.words[K_ROW_STRIDE]

    @property
    def k_head_stride(self):
        """Elements from one head of k to the next."""
        return self.words[K_HEAD_STRIDE]

    @property
    def v_row_stride(self):
        """Elements from one row of v to the next."""
        return self.words[V_ROW_STRIDE]

    @property
    def v_head_stride(self):
        """Elements from one head of v to the next."""
        return self.words[V_HEAD_STRIDE]

    @property
    def scale(self):
        """Factor of q·k: the f32 that the kernel uses."""
        return scale_of(self.words[SCALE_BITS])


@cython.final
cdef class FlashAttnPrefillTensorParams(PrefillParams):
    """Shapes of one tensor dispatch; arguments and errors are those of PrefillParams."""

    def __cinit__(self):
        self.subject = "flash_attn_prefill_tensor"
        self.has_head_dim = False  # each of its kernels has one of its own


@cython.final
cdef class FlashAttnPrefillSimdgroupParams(PrefillParams):
    """Shapes of one simdgroup dispatch; arguments and errors are those of PrefillParams."""

    def __cinit__(self):
        self.subject = "flash_attn_prefill_simdgroup"
        self.has_head_dim = True
