#include "fiber.h"
#include "frame.h"

namespace simt {

Suspended fiber_create(char *top, void (*main)()) {
    void **frame = reinterpret_cast<void **>(top - FRAME_BYTES);
    for (size_t i = 0; i < FRAME_BYTES / sizeof(void *); i++)
        frame[i] = nullptr;
    frame[FRAME_MAIN] = reinterpret_cast<void *>(main);
    frame[FRAME_RETURN] = reinterpret_cast<void *>(simt_fiber_start);
    return frame;
}

}  // namespace simt
