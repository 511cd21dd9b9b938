/* For every message to a class, and around every @autoreleasepool, the compiler asks GCC's runtime
 * for the class by its name, which takes longer than most messages. This stands in front of the
 * runtime's function. */
#include <objc/runtime.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SLOTS = 256 };

/* By the address of the name: the linker keeps one constant of each text. Never changes once the
 * name is there: who takes a slot first has it for ever. */
typedef struct known_class {
    _Atomic(const char *) name;
    Class class;
    atomic_bool is_taken;
} known_class;

static known_class known[SLOTS];

id objc_lookup_class(const char *name);

__attribute__((noinline)) static id find(known_class *slot, const char *name) {
    Class class = objc_getClass(name);
    if (class && !atomic_exchange(&slot->is_taken, true)) {
        slot->class = class;
        atomic_store_explicit(&slot->name, name, memory_order_release);
    }
    return (id) class;
}

id objc_lookup_class(const char *name) {
    known_class *slot = &known[(uintptr_t)name % SLOTS];
    if (atomic_load_explicit(&slot->name, memory_order_acquire) == name) return (id)slot->class;
    return find(slot, name);
}
