/* Memory that lives as long as a command buffer: its recorded commands and copied bytes. */
#ifndef HM_ARENA_H
#define HM_ARENA_H

#include <stddef.h>

typedef struct hm_arena {
    struct hm_arena_chunk *chunks; /* the newest first */
    size_t used;                   /* bytes of the newest */
} hm_arena;

/* Aligned for every MSL type; NULL: no memory. An empty arena is all zeros. */
void *hm_arena_allocate(hm_arena *arena, size_t size);
void hm_arena_free(hm_arena *arena);

#endif
