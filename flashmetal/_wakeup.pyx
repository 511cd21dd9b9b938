"""Event loops that await command buffers: each polls one descriptor, which completions write to.

Metal's thread writes a byte and knows no Python; the loop then looks which work has ended.
"""

import weakref

from libc.string cimport memset

from flashmetal._bridge cimport (
    FM_ENCODER_COMMITTED, check, encoder_get_state, encoder_notify, fm_encoder, fm_error, fm_wakeup,
    wakeup_clear, wakeup_create, wakeup_descriptor, wakeup_release,
)

from flashmetal.errors import InvalidState

__all__ = []

cdef object wakeup_of_loop = weakref.WeakKeyDictionary()


cdef class Waiter:
    # One await of one encoder.
    cdef object owner            # keeps the handle alive
    cdef fm_encoder *encoder
    cdef object future

    cdef bint is_through(self):
        return self.future.done() or encoder_get_state(self.encoder) != FM_ENCODER_COMMITTED


cdef class Wakeup:
    # Of one event loop.
    cdef fm_wakeup *handle       # owned
    cdef list waiters

    def __cinit__(self):
        cdef fm_error error
        memset(&error, 0, sizeof(error))
        check(wakeup_create(&self.handle, &error), &error, NULL)
        self.waiters = []

    def __dealloc__(self):
        wakeup_release(self.handle)

    def fileno(self):
        return wakeup_descriptor(self.handle)

    def look(self):
        # Cleared first: what completes after that makes it readable again.
        cdef Waiter waiter
        wakeup_clear(self.handle)
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            if not waiter.is_through():
                self.waiters.append(waiter)
            elif not waiter.future.done():
                waiter.future.set_result(None)

    cdef object add(self, object owner, fm_encoder *encoder, object future):
        cdef Waiter waiter = Waiter.__new__(Waiter)
        cdef fm_error error
        waiter.owner = owner
        waiter.encoder = encoder
        waiter.future = future
        memset(&error, 0, sizeof(error))
        check(encoder_notify(encoder, self.handle, &error), &error, NULL)
        self.waiters.append(waiter)
        return future


cdef object future_of_end(object owner, fm_encoder *encoder):
    # Here, as importing asyncio takes longer than importing the whole package.
    import asyncio

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError as error:
        raise InvalidState(
            "completed() is awaited in an event loop of asyncio, and none is running in this "
            "thread: wait() waits without one"
        ) from error
    cdef Wakeup wakeup = wakeup_of_loop.get(loop)
    if wakeup is None:
        wakeup = open_wakeup(loop)
    return wakeup.add(owner, encoder, loop.create_future())


cdef Wakeup open_wakeup(object loop):
    # Futures that were never done keep their loop alive.
    for other in list(wakeup_of_loop):
        if other.is_closed():
            wakeup_of_loop.pop(other, None)
    cdef Wakeup wakeup = Wakeup()
    loop.add_reader(wakeup, wakeup.look)
    wakeup_of_loop[loop] = wakeup
    return wakeup
