/* For every message to a class, and around every @autoreleasepool, the compiler asks GCC's runtime
 * for the class by its name, which takes longer than most messages. This stands in front of the
 * runtime's function. */
#include <objc/runtime.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SLOTS = 256 };

/* By the address of their name: the linker keeps one constant of each text. */
static _Atomic(Class) known[SLOTS];

id objc_lookup_class(const char *name);

id objc_lookup_class(const char *name) {
    _Atomic(Class) *slot = &known[(uintptr_t)name % SLOTS];
    Class class = atomic_load_explicit(slot, memory_order_acquire);
    if (class && class_getName(class) == name) return (id) class;
    class = objc_getClass(name);
    atomic_store_explicit(slot, class, memory_order_release);
    return (id) class;
}
