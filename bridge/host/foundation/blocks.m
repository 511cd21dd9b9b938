/* On Apple's systems a copied block retains the objects that it captures. libBlocksRuntime, which
 * knows no objects, leaves that out: these two stand in front of its own. */
#import <Foundation/Foundation.h>
#include <dlfcn.h>
#include <stdlib.h>

enum {
    FIELD_IS_OBJECT = 3, /* of the flags that the compiler passes: Block ABI */
    FIELD_MASK = 0xff,
};

typedef void (*assign_function)(void *destination, const void *object, int flags);
typedef void (*dispose_function)(const void *object, int flags);

static assign_function runtime_assign;
static dispose_function runtime_dispose;

__attribute__((constructor)) static void find_runtime(void) {
    runtime_assign = (assign_function)dlsym(RTLD_NEXT, "_Block_object_assign");
    runtime_dispose = (dispose_function)dlsym(RTLD_NEXT, "_Block_object_dispose");
    if (!runtime_assign || !runtime_dispose) abort();
}

void _Block_object_assign(void *destination, const void *object, const int flags);
void _Block_object_dispose(const void *object, const int flags);

void _Block_object_assign(void *destination, const void *object, const int flags) {
    if ((flags & FIELD_MASK) == FIELD_IS_OBJECT)
        *(id *)destination = [(id)object retain];
    else
        runtime_assign(destination, object, flags);
}

void _Block_object_dispose(const void *object, const int flags) {
    if ((flags & FIELD_MASK) == FIELD_IS_OBJECT)
        [(id)object release];
    else
        runtime_dispose(object, flags);
}
