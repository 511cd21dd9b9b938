/* A pipe: whoever completes work writes to one end without blocking, a loop polls the other. Both
 * ends stay open until the last completion is done with them, as their numbers would otherwise be
 * somebody else's file. */
#include "wakeup.h"
#include "error.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fm_wakeup {
    atomic_int references; /* the user's and one of each completion that it waits for */
    int reader;
    int writer;
};

static bool prepare(int descriptor) {
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_pipe(fm_wakeup *wakeup) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    wakeup->reader = ends[0];
    wakeup->writer = ends[1];
    if (prepare(ends[0]) && prepare(ends[1])) return true;
    const int cause = errno; /* closing may set another */
    close(ends[0]);
    close(ends[1]);
    errno = cause;
    return false;
}

fm_status fm_wakeup_create(fm_wakeup **out, fm_error *error) {
    fm_wakeup *wakeup = fm_allocate(sizeof *wakeup, error);
    if (!wakeup) return FM_ALLOCATION_FAILED;
    atomic_init(&wakeup->references, 1);
    if (open_pipe(wakeup)) {
        *out = wakeup;
        return FM_OK;
    }
    const int cause = errno;
    free(wakeup);
    return fm_fail(error, FM_IO_FAILED, "the system has no pipe left: %s", strerror(cause));
}

int fm_wakeup_descriptor(const fm_wakeup *wakeup) {
    return wakeup->reader;
}

void fm_wakeup_clear(fm_wakeup *wakeup) {
    char bytes[64];
    while (read(wakeup->reader, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
}

fm_wakeup *fm_wakeup_retain(fm_wakeup *wakeup) {
    atomic_fetch_add(&wakeup->references, 1);
    return wakeup;
}

void fm_wakeup_signal(fm_wakeup *wakeup) {
    const char byte = 0;
    /* A full pipe is readable already. */
    while (write(wakeup->writer, &byte, 1) < 0 && errno == EINTR)
        continue;
}

void fm_wakeup_release(fm_wakeup *wakeup) {
    if (!wakeup || atomic_fetch_sub(&wakeup->references, 1) > 1) return;
    close(wakeup->reader);
    close(wakeup->writer);
    free(wakeup);
}
