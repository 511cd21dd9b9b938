# cython: language_level=3
"""One step after the other: encoded, committed, waited for and read without Python between."""

from libc.stdint cimport int64_t, uint32_t

from flashmetal._buffer cimport Buffer, contents
from flashmetal._decode_step cimport DecodeStep
from flashmetal._device cimport Device
from flashmetal._encoder cimport CommandEncoder


cdef extern from "greatest.h" nogil:
    size_t greatest(const float *numbers, size_t count)


cdef int64_t TIMEOUT_NS = 10_000_000_000


def decode(Device device not None, DecodeStep step not None, Buffer out not None, uint32_t first,
           uint32_t count):
    """Run `count` decode steps and look at the output of each.

    Parameters
    ----------
    device
        Of the step's plans.
    step
        What a step encodes.
    out
        f32, written by the step.
    first
        seq_len of the first step; each has a row more than the one before.
    count
        Steps.

    Returns
    -------
    list of int
        The index of the greatest output after each step.
    """
    cdef CommandEncoder encoder
    cdef size_t elements = out.element_count
    cdef size_t found = 0
    cdef uint32_t turn
    result = []
    for turn in range(count):
        # The only object of a step. Errors of the calls below are raised as in Python.
        encoder = CommandEncoder(device)
        with nogil:
            step.encode_at(encoder, first + turn, 0)
            encoder.submit()
            encoder.wait_ns(TIMEOUT_NS)
            found = greatest(<const float *>contents(out), elements)
        result.append(found)
    return result
