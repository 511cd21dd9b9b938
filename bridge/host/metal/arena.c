#include "arena.h"
#include <stdlib.h>

enum { ALIGNMENT = 64, CHUNK_BYTES = 32768 };

typedef struct hm_arena_chunk {
    _Alignas(ALIGNMENT) struct hm_arena_chunk *older;
    _Alignas(ALIGNMENT) unsigned char bytes[CHUNK_BYTES];
} hm_arena_chunk;

void *hm_arena_allocate(hm_arena *arena, size_t size) {
    size_t step = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (step > CHUNK_BYTES) return NULL;
    if (!arena->chunks || arena->used + step > CHUNK_BYTES) {
        hm_arena_chunk *chunk = aligned_alloc(ALIGNMENT, sizeof *chunk);
        if (!chunk) return NULL;
        chunk->older = arena->chunks;
        arena->chunks = chunk;
        arena->used = 0;
    }
    void *result = arena->chunks->bytes + arena->used;
    arena->used += step;
    return result;
}

void hm_arena_free(hm_arena *arena) {
    for (hm_arena_chunk *chunk = arena->chunks, *older; chunk; chunk = older) {
        older = chunk->older;
        free(chunk);
    }
    *arena = (hm_arena){0};
}
