// What a kernel that is compiled with checks tells the engine: each access to memory, before it is
// made, and what its barriers order. Nothing, without.
#pragma once

#ifdef __MSL_MEMORY_CHECKS

namespace __msl {

MSL_UNCHECKED __attribute__((always_inline)) inline void
tell_access(const volatile void *address, size_t bytes, msl_access kind) {
    engine.access((const void *)address, bytes, kind, __builtin_return_address(0));
}
MSL_UNCHECKED __attribute__((always_inline)) inline void tell_fence(msl_fence scope, int memory) {
    engine.fence(scope, uint32_t(memory));
}

}  // namespace __msl

// What the compiler calls; it puts the calls in when all else is done.
#define MSL_CALLED extern "C" __attribute__((used, noinline)) MSL_UNCHECKED
#define MSL_ACCESSES(BYTES)                                                                        \
    MSL_CALLED void __asan_load##BYTES##_noabort(const void *address) {                            \
        __msl::engine.access(address, BYTES, MSL_ACCESS_READ, __builtin_return_address(0));        \
    }                                                                                              \
    MSL_CALLED void __asan_store##BYTES##_noabort(const void *address) {                           \
        __msl::engine.access(address, BYTES, MSL_ACCESS_WRITE, __builtin_return_address(0));       \
    }
MSL_ACCESSES(1)
MSL_ACCESSES(2)
MSL_ACCESSES(4)
MSL_ACCESSES(8)
MSL_ACCESSES(16)
#undef MSL_ACCESSES
MSL_CALLED void __asan_loadN_noabort(const void *address, size_t bytes) {
    __msl::engine.access(address, bytes, MSL_ACCESS_READ, __builtin_return_address(0));
}
MSL_CALLED void __asan_storeN_noabort(const void *address, size_t bytes) {
    __msl::engine.access(address, bytes, MSL_ACCESS_WRITE, __builtin_return_address(0));
}
MSL_CALLED void *__asan_memcpy(void *to, const void *from, size_t bytes) {
    __msl::engine.access(from, bytes, MSL_ACCESS_READ, __builtin_return_address(0));
    __msl::engine.access(to, bytes, MSL_ACCESS_WRITE, __builtin_return_address(0));
    return __builtin_memcpy(to, from, bytes);
}
MSL_CALLED void *__asan_memmove(void *to, const void *from, size_t bytes) {
    __msl::engine.access(from, bytes, MSL_ACCESS_READ, __builtin_return_address(0));
    __msl::engine.access(to, bytes, MSL_ACCESS_WRITE, __builtin_return_address(0));
    return __builtin_memmove(to, from, bytes);
}
MSL_CALLED void *__asan_memset(void *to, int value, size_t bytes) {
    __msl::engine.access(to, bytes, MSL_ACCESS_WRITE, __builtin_return_address(0));
    return __builtin_memset(to, value, bytes);
}
// Around calls that do not return.
MSL_CALLED void __asan_handle_no_return() {}
#undef MSL_CALLED

#else

namespace __msl {

inline void tell_access(const volatile void *, size_t, msl_access) {}
inline void tell_fence(msl_fence, int) {}

}  // namespace __msl

#endif

namespace __msl {

// Of a threadgroup variable's initialiser: whether it has not run in this threadgroup yet.
MSL_UNCHECKED inline bool is_unset(unsigned char &flag) {
    const bool unset = flag != 0;
    flag = 0;
    return unset;
}
MSL_UNCHECKED inline void initialise(void *variable, const void *value, size_t bytes) {
    tell_access(variable, bytes, MSL_ACCESS_INITIALISE);
    __builtin_memcpy(variable, value, bytes);
}

}  // namespace __msl
