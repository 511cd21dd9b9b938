"""CommandEncoder: one command buffer, encoded, committed and waited for."""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int64_t

from flashmetal cimport _device
from flashmetal._argument cimport need, need_text
from flashmetal._bridge cimport (
    FM_ENCODER_COMMITTED, FM_ENCODER_OPEN, check, check_not_forked, encoder_commit, encoder_create,
    encoder_dispatch, encoder_get_gpu_time, encoder_get_state, encoder_has_begun, encoder_release,
    encoder_wait, fm_dispatch, fm_encoder_state, fm_error, is_forked,
)
from flashmetal._device cimport Device
from flashmetal._dispatch cimport Launch, clear_launch, fill_launch
from flashmetal._exporter cimport drain
from flashmetal._pipeline cimport Pipeline
from flashmetal._wait cimport (
    AUTO, Patience, WaitMode, patience, timeout_ns, wait_for_end, wait_for_room, wait_mode,
)
from flashmetal._wakeup cimport future_of_end

from flashmetal._argument import MISSING
from flashmetal._text import to_utf8
from flashmetal.errors import InvalidState

__all__ = ["CommandEncoder"]


cdef class CommandEncoder:
    """Encodes dispatches into one command buffer, made with the first of them.

    ``Device.encoder()`` makes encoders. Nothing is ordered between two dispatches unless a
    `memory_barrier` stands between them. As a context manager it commits and waits on leaving, and
    discards what was encoded when the block raises.

    One thread at a time may encode and commit; any number may wait.

    Parameters
    ----------
    device
        Where the work runs.
    label : str, optional
        Names the work in errors and in Metal's tools.

    Attributes
    ----------
    device : Device
        Where the work runs.
    dispatch_count, barrier_count : int
        What was encoded so far.
    """

    def __cinit__(self, device=MISSING, label=None):
        cdef fm_error error
        need(device, Device, "CommandEncoder", "device")
        if label is not None:
            self.label_bytes = to_utf8(need_text(label, "CommandEncoder", "label"), "a label")
            self.label_text = PyBytes_AS_STRING(self.label_bytes)
        check_not_forked()
        error.message = NULL
        self.device = device
        self.registry_id = self.device.registry_id
        check(encoder_create(self.device.handle, &self.handle, &error), &error, NULL)

    def __dealloc__(self):
        with nogil:
            encoder_release(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        state = self.state
        if kind is None and state != "discarded":
            self.commit_and_wait()
        elif state == "open":
            self.discard()

    def __repr__(self):
        return (
            f"<flashmetal.CommandEncoder {display_name(self)} {self.state}, "
            f"{self.dispatch_count} dispatches on {self.device.name}>"
        )

    def dispatch(self, pipeline, args, threadgroups, threads_per_threadgroup,
                 threadgroup_memory=None):
        """Encode a kernel over a number of threadgroups.

        Parameters
        ----------
        pipeline
            The kernel.
        args : dict
            By binding index: a Buffer, ``(Buffer, offset)`` in bytes from the handle's first byte,
            a BufferWithOffset, or up to 4,096 bytes that are copied at once. What the kernel uses
            has, from its offset on, as many bytes as the argument's type: a whole number or struct,
            its padding included, or one element of what is pointed to.
        threadgroups, threads_per_threadgroup
            One to three dimensions: an int or a tuple.
        threadgroup_memory : dict, optional
            Bytes by threadgroup index, multiples of 16.

        Raises
        ------
        InvalidArgument
            Naming the kernel, before anything is encoded: what Metal would not take, an argument
            that is missing, too short or that the kernel does not declare, read-only memory where
            it writes.
        InvalidState
            When the encoder is committed, discarded or in use by another thread, or when too many
            encoders are uncommitted.
        """
        encode_checked(self, pipeline, args, threadgroups, threads_per_threadgroup,
                       threadgroup_memory, False)

    def dispatch_threads(self, pipeline, args, threads, threads_per_threadgroup,
                         threadgroup_memory=None):
        """Encode a kernel over an exact number of threads; the last threadgroups may be smaller.

        As `dispatch`, with `threads` in place of `threadgroups`.
        """
        encode_checked(self, pipeline, args, threads, threads_per_threadgroup, threadgroup_memory,
                       True)

    cdef int encode(self, const fm_dispatch *dispatch) except -1 nogil:
        cdef fm_error error
        cdef Patience limit
        if not encoder_has_begun(self.handle):
            limit = patience()
            begin(self, &limit)
        error.message = NULL
        check(encoder_dispatch(self.handle, dispatch, &error), &error, self.label_text)
        self.dispatch_count += 1
        return 0

    cdef bint is_recording(self) noexcept nogil:
        return (
            self.handle is not NULL and not self.busy
            and encoder_has_begun(self.handle)
            and encoder_get_state(self.handle) == FM_ENCODER_OPEN
        )

    cdef int open(self) except -1 nogil:
        cdef Patience limit = patience()
        self.enter()
        try:
            begin(self, &limit)
        finally:
            self.leave()
        return 0

    def memory_barrier(self):
        """Let what comes after see what the dispatches before have written.

        Does nothing before the first dispatch.

        Raises
        ------
        InvalidState
            When the encoder is committed, discarded or in use by another thread.
        """
        self.order()

    cdef int order(self) except -1 nogil:
        if not record_barrier(self):
            # Nothing to do before the first dispatch; other reasons raise.
            self.enter()
            self.leave()
        return 0

    def commit(self):
        """Hand the command buffer to the device. Does not wait.

        Raises
        ------
        InvalidState
            When the encoder is committed already, discarded or in use by another thread.
        """
        commit_within(self, patience())

    cdef int submit(self) except -1 nogil:
        cdef Patience limit = patience()
        self.enter()
        try:
            commit_entered(self, &limit)
        finally:
            self.leave()
        return 0

    def wait(self, timeout=None, mode="auto"):
        """Wait for the committed work, without the GIL; Ctrl-C interrupts it.

        May be called again, and by several threads.

        Parameters
        ----------
        timeout : float, optional
            Seconds; for ever when None.
        mode : {"auto", "block", "spin"}
            How: "block" sleeps until Metal reports the end. "spin" keeps a core busy looking at
            the device's event and at that report, and is the soonest to return. "auto" spins for
            as long as falling asleep would take, then sleeps.

        Raises
        ------
        WaitTimeout
            When the work is still in flight after `timeout`.
        CommandBufferError
            When the command buffer ended with an error; every wait raises it.
        InvalidArgument
            Another mode, or a timeout that is no duration.
        InvalidState
            Before commit.
        """
        finish(self, patience(timeout_ns(timeout, "wait")), wait_mode(mode, "wait"))

    cdef int wait_ns(self, int64_t duration) except -1 nogil:
        cdef Patience limit = patience(duration)
        check_waitable(self)
        wait_for_end(self.handle, &limit, AUTO)
        return raise_outcome(self)

    def commit_and_wait(self, timeout=None, mode="auto"):
        """Commit unless that is done, then `wait`.

        The timeout counts from the call on: an encoder without a dispatch may first wait for one of
        the device's command buffers. When none comes in time, nothing is committed, and the call
        can be made again.

        Raises
        ------
        WaitTimeout, CommandBufferError, InvalidArgument
            As `wait` does.
        InvalidState
            As `commit` does, but for work that is committed.
        """
        cdef Patience limit = patience(timeout_ns(timeout, "commit_and_wait"))
        cdef WaitMode how = wait_mode(mode, "commit_and_wait")
        if require_state(self) == FM_ENCODER_OPEN:
            commit_within(self, limit)
        finish(self, limit, how)

    async def completed(self):
        """Wait for the committed work in an event loop of asyncio, without a thread.

        Any number of tasks may await any number of encoders, in any order. A task that is cancelled
        leaves the work in flight.

        Raises
        ------
        CommandBufferError
            When the command buffer ended with an error.
        InvalidState
            Before commit, or in an event loop of another kind.
        """
        check_waitable(self)
        if encoder_get_state(self.handle) == FM_ENCODER_COMMITTED:
            await future_of_end(self, self.handle)
        drain()
        raise_outcome(self)

    def discard(self):
        """Throw away what was encoded and not committed.

        Raises
        ------
        InvalidState
            When the encoder is committed, discarded or in use by another thread.
        """
        self.enter()
        self.leave()
        handle = self.handle
        self.handle = NULL
        with nogil:
            encoder_release(handle)

    def gpu_time(self):
        """Return how long the device worked on the command buffer, in seconds.

        Raises
        ------
        InvalidState
            Before completion.
        """
        cdef double start = 0
        cdef double end = 0
        if require_state(self) in (FM_ENCODER_OPEN, FM_ENCODER_COMMITTED):
            raise InvalidState(f"{display_name(self)} is not completed: wait for it first")
        encoder_get_gpu_time(self.handle, &start, &end)
        return end - start

    @property
    def label(self):
        """What names the work, or None."""
        return None if self.label_bytes is None else self.label_bytes.decode()

    @property
    def state(self):
        """One of "open", "committed", "completed", "failed" and "discarded"."""
        if self.handle is NULL:
            return "discarded"
        return ("open", "committed", "completed", "failed")[<int>encoder_get_state(self.handle)]

    @property
    def command_buffer_count(self):
        """Command buffers made: 1 from the first dispatch, or commit, on."""
        return int(self.handle is not NULL and encoder_has_begun(self.handle))

    cdef int enter(self) except -1 nogil:
        if self.busy or self.handle is NULL or is_forked() or (
            encoder_get_state(self.handle) != FM_ENCODER_OPEN
        ):
            return refuse_use(self)
        self.busy = True
        return 0

    cdef void leave(self) noexcept nogil:
        self.busy = False


cdef object make_encoder(Device device, object label):
    return CommandEncoder(device, label)


_device.encoder_function = make_encoder


cdef int refuse_use(CommandEncoder encoder) except -1 with gil:
    check_not_forked()
    if not encoder.busy and require_state(encoder) != FM_ENCODER_OPEN:
        raise InvalidState(
            f"{display_name(encoder)} is committed already: device.encoder() makes a new one"
        )
    raise InvalidState(f"{display_name(encoder)} is in use by another thread")


cdef int encode_checked(CommandEncoder encoder, object pipeline, object args, object grid,
                        object threads_per_threadgroup, object threadgroup_memory,
                        bint exact_threads) except -1:
    cdef Launch launch
    need(pipeline, Pipeline, "dispatch", "pipeline")
    encoder.enter()
    try:
        fill_launch(&launch, encoder.device, pipeline, args, grid, threads_per_threadgroup,
                    threadgroup_memory, exact_threads)
        encoder.encode(&launch.dispatch)
    finally:
        clear_launch(&launch)
        encoder.leave()
    return 0


cdef int begin(CommandEncoder encoder, const Patience *limit) except -1 nogil:
    if encoder_has_begun(encoder.handle):
        return 0
    return wait_for_room(encoder.handle, encoder.label_text, limit)


cdef fm_encoder_state require_state(CommandEncoder encoder) except? FM_ENCODER_OPEN:
    if encoder.handle is NULL:
        raise InvalidState(
            f"{display_name(encoder)} is discarded: device.encoder() makes a new one"
        )
    return encoder_get_state(encoder.handle)


cdef str display_name(CommandEncoder encoder):
    return "the encoder" if encoder.label_bytes is None else f"encoder {encoder.label!r}"


cdef int commit_within(CommandEncoder encoder, Patience limit) except -1:
    # Entered with the GIL, which keeps other threads out meanwhile.
    encoder.enter()
    try:
        with nogil:
            commit_entered(encoder, &limit)
    finally:
        encoder.leave()
    return 0


cdef int commit_entered(CommandEncoder encoder, const Patience *limit) except -1 nogil:
    cdef fm_error error
    begin(encoder, limit)
    error.message = NULL
    return check(encoder_commit(encoder.handle, &error), &error, encoder.label_text)


cdef int finish(CommandEncoder encoder, Patience limit, WaitMode mode) except -1:
    check_waitable(encoder)
    if encoder_get_state(encoder.handle) == FM_ENCODER_COMMITTED:
        with nogil:
            wait_for_end(encoder.handle, &limit, mode)
    drain()
    return raise_outcome(encoder)


cdef int raise_outcome(CommandEncoder encoder) except -1 nogil:
    # The work has ended: how?
    cdef fm_error error
    error.message = NULL
    return check(encoder_wait(encoder.handle, 0, &error), &error, encoder.label_text)


cdef int check_waitable(CommandEncoder encoder) except -1 nogil:
    if encoder.handle is not NULL and not is_forked() and (
        encoder_get_state(encoder.handle) != FM_ENCODER_OPEN
    ):
        return 0
    return refuse_wait(encoder)


cdef int refuse_wait(CommandEncoder encoder) except -1 with gil:
    check_not_forked()
    require_state(encoder)
    raise InvalidState(f"{display_name(encoder)} is waited for before it is committed")
