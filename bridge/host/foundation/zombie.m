#include "zombie.h"
#include <objc/runtime.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "diagnostics.h"
#include "live_objects.h"
#include "object_header.h"

/* Answers a release; every other message is unrecognized and aborts. */
__attribute__((objc_root_class))
@interface HMZombie {
    Class isa;
}
+ (Class)class;
@end

@implementation HMZombie

+ (Class)class {
    return (Class)self;
}

- (oneway void)release {
    hm_over_release(hm_live_name(hm_header_of(self)->live_slot));
}

@end

static atomic_bool kept;

__attribute__((constructor)) static void read_environment(void) {
    kept = getenv("HOSTMETAL_ZOMBIES") != NULL;
}

BOOL hm_zombies_are_kept(void) {
    return kept;
}

void hm_zombies_keep(BOOL keep) {
    kept = keep;
}

void hm_zombie_make(id object) {
    object_setClass(object, [HMZombie class]);
}

void hm_zombie_free(id zombie) {
    free(hm_header_of(zombie));
}
