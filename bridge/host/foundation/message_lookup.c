/* For every message the compiler asks GCC's runtime for the method, which takes five loads one
 * after another. This stands in front of the runtime's function and takes two. No class here
 * changes its methods or has a +initialize to wait for, so what was found once is right from then
 * on. */
#include <dlfcn.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { SLOTS = 2048 };

/* Never changes once its class is there: who takes a slot first has it for ever. */
typedef struct known_method {
    _Alignas(32) _Atomic(Class) class;
    SEL selector;
    IMP method;
    atomic_bool is_taken;
} known_method;

typedef IMP (*lookup_function)(id receiver, SEL selector);
typedef IMP (*super_lookup_function)(struct objc_super *receiver, SEL selector);

static known_method known[SLOTS];

/* Messages are sent before constructors are called. */
static void *find_runtime(_Atomic(void *) *function, const char *name) {
    if (!*function) *function = dlsym(RTLD_NEXT, name);
    if (!*function) abort();
    return *function;
}

static known_method *slot_of(Class class, SEL selector) {
    /* Both lie in tables; the selectors of one file are 16 bytes apart. */
    uintptr_t hash = ((uintptr_t)class + (uintptr_t)selector) / 16;
    return &known[hash % SLOTS];
}

static bool knows(const known_method *slot, Class class, SEL selector) {
    return atomic_load_explicit(&slot->class, memory_order_acquire) == class &&
           slot->selector == selector;
}

static IMP remember(known_method *slot, Class class, SEL selector, IMP method) {
    if (slot->is_taken || atomic_exchange(&slot->is_taken, true)) return method;
    slot->selector = selector;
    slot->method = method;
    atomic_store_explicit(&slot->class, class, memory_order_release);
    return method;
}

__attribute__((noinline)) static IMP ask_runtime(id receiver, SEL selector) {
    static _Atomic(void *) function;
    return ((lookup_function)find_runtime(&function, "objc_msg_lookup"))(receiver, selector);
}

__attribute__((noinline)) static IMP ask_runtime_for_super(struct objc_super *receiver,
                                                           SEL selector) {
    static _Atomic(void *) function;
    void *lookup = find_runtime(&function, "objc_msg_lookup_super");
    return ((super_lookup_function)lookup)(receiver, selector);
}

IMP objc_msg_lookup(id receiver, SEL selector) {
    if (!receiver) return ask_runtime(receiver, selector);
    Class class = object_getClass(receiver);
    known_method *slot = slot_of(class, selector);
    if (knows(slot, class, selector)) return slot->method;
    return remember(slot, class, selector, ask_runtime(receiver, selector));
}

IMP objc_msg_lookup_super(struct objc_super *receiver, SEL selector) {
    Class class = receiver->super_class;
    if (!receiver->self) return ask_runtime_for_super(receiver, selector);
    known_method *slot = slot_of(class, selector);
    if (knows(slot, class, selector)) return slot->method;
    return remember(slot, class, selector, ask_runtime_for_super(receiver, selector));
}
