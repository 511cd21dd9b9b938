// Tells AddressSanitizer and ThreadSanitizer which stack runs; nothing in other builds.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define SIMT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#elif __has_feature(thread_sanitizer)
#define SIMT_TSAN 1
#endif
#endif

#if defined(SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SIMT_NO_ASAN __attribute__((no_sanitize_address))
#elif defined(SIMT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#ifndef SIMT_NO_ASAN
#define SIMT_NO_ASAN
#endif

namespace simt::sanitizer {

#if defined(SIMT_ASAN)

struct Stack {
    const void *bottom;
    size_t bytes;
    void *fake;  // where locals lie while use after return is looked for
};

inline void create(Stack &stack, char *bottom, size_t bytes) {
    stack = {bottom, bytes, nullptr};
}
inline void destroy(Stack &) {}
// What frames that never returned left behind would be taken for the redzones of the next ones.
inline void clean(const Stack &stack) {
    __asan_unpoison_memory_region(stack.bottom, stack.bytes);
}
inline void leave(Stack &from, Stack &to) {
    __sanitizer_start_switch_fiber(&from.fake, to.bottom, to.bytes);
}
inline void leave_for_good(Stack &to) {
    __sanitizer_start_switch_fiber(nullptr, to.bottom, to.bytes);
}
inline void leave_in_handler(Stack &to) {
    leave_for_good(to);
}
inline void arrive(Stack &stack) {
    __sanitizer_finish_switch_fiber(stack.fake, nullptr, nullptr);
}
// A fiber that starts; the first of a threadgroup learns where the OS thread's own stack lies.
inline void arrive_first(Stack &main) {
    const bool known = main.bottom != nullptr;
    __sanitizer_finish_switch_fiber(nullptr, known ? nullptr : &main.bottom,
                                    known ? nullptr : &main.bytes);
}

#elif defined(SIMT_TSAN)

struct Stack {
    void *fiber;
};

// A call's entry and exit must fall on the same side of the switch.
#define SIMT_INLINE inline __attribute__((always_inline))

SIMT_INLINE void create(Stack &stack, char *, size_t) {
    stack.fiber = __tsan_create_fiber(0);
}
SIMT_INLINE void destroy(Stack &stack) {
    __tsan_destroy_fiber(stack.fiber);
}
SIMT_INLINE void clean(const Stack &) {}
SIMT_INLINE void leave(Stack &from, Stack &to) {
    from.fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to.fiber, 0);
}
SIMT_INLINE void leave_for_good(Stack &to) {
    __tsan_switch_to_fiber(to.fiber, 0);
}
SIMT_INLINE void leave_in_handler(Stack &) {}
SIMT_INLINE void arrive(Stack &stack) {
    if (__tsan_get_current_fiber() != stack.fiber) __tsan_switch_to_fiber(stack.fiber, 0);
}
SIMT_INLINE void arrive_first(Stack &) {}

#else

struct Stack {};

inline void create(Stack &, char *, size_t) {}
inline void destroy(Stack &) {}
inline void clean(const Stack &) {}
inline void leave(Stack &, Stack &) {}
inline void leave_for_good(Stack &) {}
inline void leave_in_handler(Stack &) {}
inline void arrive(Stack &) {}
inline void arrive_first(Stack &) {}

#endif

}  // namespace simt::sanitizer
