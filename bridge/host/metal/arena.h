/* Memory that lives as long as a command buffer: its recorded commands and copied bytes. */
#ifndef HM_ARENA_H
#define HM_ARENA_H

#include <stddef.h>

enum { HM_ARENA_ALIGNMENT = 64 }; /* of every MSL type */

/* Empty: all zeros. */
typedef struct hm_arena {
    struct hm_arena_chunk *chunks; /* the newest first */
    unsigned char *free;           /* of the newest */
    size_t free_bytes;
} hm_arena;

/* From a new chunk, when the newest has no room. */
void *hm_arena_allocate_further(hm_arena *arena, size_t size);

/* Aligned; NULL: no memory. */
static inline void *hm_arena_allocate(hm_arena *arena, size_t size) {
    size_t step = (size + HM_ARENA_ALIGNMENT - 1) & ~(size_t)(HM_ARENA_ALIGNMENT - 1);
    if (step > arena->free_bytes) return hm_arena_allocate_further(arena, size);
    void *result = arena->free;
    arena->free += step;
    arena->free_bytes -= step;
    return result;
}

void hm_arena_free(hm_arena *arena);

#endif
