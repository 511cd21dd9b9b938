# cython: binding=False, embedsignature=True, embedsignature.format=clinic
# Functions of Python's own kind are called faster.
"""BlkParams: the parameter struct of the mask-tile classifier, held as the kernel's words."""

cimport cython
from libc.stdint cimport INT32_MAX, uint32_t

from flashmetal._words cimport to_bytes, to_u32, write_words

from flashmetal._argument import MISSING
from flashmetal.errors import InvalidArgument

__all__ = ["BlkParams"]

cdef str SUBJECT = "flash_attn_prefill_blk"

# Where each field is in the struct; the last word stays zero.
cdef enum:
    SEQ_LEN_Q = 0
    SEQ_LEN_K = 1
    MASK_ROW_STRIDE = 2
    WORDS = 4


@cython.final
cdef class BlkParams:
    """Shapes of a mask and of its tiles.

    Parameters
    ----------
    seq_len_q
        Rows of the mask: queries.
    seq_len_k
        Cells of a row: keys.
    bq, bk
        Rows and cells of a tile.
    mask_row_stride
        Elements from one row of the mask to the next; `seq_len_k` when None.

    Raises
    ------
    InvalidArgument
        When an integer does not fit 32 unsigned bits.
    """

    def __init__(self, seq_len_q=MISSING, seq_len_k=MISSING, bq=MISSING, bk=MISSING,
                 mask_row_stride=None):
        stride = seq_len_k if mask_row_stride is None else mask_row_stride
        self.words[SEQ_LEN_Q] = to_u32(seq_len_q, SUBJECT, "seq_len_q")
        self.words[SEQ_LEN_K] = to_u32(seq_len_k, SUBJECT, "seq_len_k")
        self.words[MASK_ROW_STRIDE] = to_u32(stride, SUBJECT, "mask_row_stride")
        self.bq = to_u32(bq, SUBJECT, "bq")
        self.bk = to_u32(bk, SUBJECT, "bk")

    def __eq__(self, other):
        if not isinstance(other, BlkParams):
            return NotImplemented
        return self.__reduce__() == other.__reduce__()

    def __hash__(self):
        return hash(self.__reduce__())

    def __repr__(self):
        return (
            f"BlkParams(seq_len_q={self.seq_len_q}, seq_len_k={self.seq_len_k}, bq={self.bq}, "
            f"bk={self.bk}, mask_row_stride={self.mask_row_stride})"
        )

    def __reduce__(self):
        return BlkParams, (
            self.seq_len_q, self.seq_len_k, self.bq, self.bk, self.mask_row_stride
        )

    def pack(self):
        """Return the struct as the kernel reads it.

        Returns
        -------
        bytes
            16 bytes: four little-endian words.

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
            read-only, not contiguous or has fewer than 16 bytes at the offset.
        """
        self.check_i32()
        write_words(self.words, WORDS, buffer, offset, SUBJECT)

    cdef int check_i32(self) except -1:
        for i in range(WORDS):
            if self.words[i] > <uint32_t>INT32_MAX:
                raise InvalidArgument(f"{SUBJECT}: a dimension exceeds i32: {self}")
        return 0

    @property
    def seq_len_q(self):
        """Rows of the mask."""
        return self.words[SEQ_LEN_Q]

    @property
    def seq_len_k(self):
        """Cells of a row of the mask."""
        return self.words[SEQ_LEN_K]

    @property
    def mask_row_stride(self):
        """Elements from one row of the mask to the next."""
        return self.words[MASK_ROW_STRIDE]
