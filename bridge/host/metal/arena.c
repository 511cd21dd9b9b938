#include "arena.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    CHUNK_BYTES = 32768,
    SPARE_CHUNKS = 32, /* kept: fresh memory costs a page fault every 4,096 bytes */
};

typedef struct hm_arena_chunk {
    _Alignas(HM_ARENA_ALIGNMENT) struct hm_arena_chunk *older;
    _Alignas(HM_ARENA_ALIGNMENT) unsigned char bytes[CHUNK_BYTES];
} hm_arena_chunk;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hm_arena_chunk *spare;
static int spare_count;

static hm_arena_chunk *take_chunk(void) {
    pthread_mutex_lock(&lock);
    hm_arena_chunk *chunk = spare;
    if (chunk) {
        spare = chunk->older;
        spare_count--;
    }
    pthread_mutex_unlock(&lock);
    return chunk ? chunk : aligned_alloc(HM_ARENA_ALIGNMENT, sizeof *chunk);
}

static void give_chunk(hm_arena_chunk *chunk) {
    pthread_mutex_lock(&lock);
    bool keep = spare_count < SPARE_CHUNKS;
    if (keep) {
        chunk->older = spare;
        spare = chunk;
        spare_count++;
    }
    pthread_mutex_unlock(&lock);
    if (!keep) free(chunk);
}

void *hm_arena_allocate_further(hm_arena *arena, size_t size) {
    hm_arena_chunk *chunk = size <= CHUNK_BYTES ? take_chunk() : NULL;
    if (!chunk) return NULL;
    chunk->older = arena->chunks;
    *arena = (hm_arena){.chunks = chunk, .free = chunk->bytes, .free_bytes = CHUNK_BYTES};
    return hm_arena_allocate(arena, size);
}

void hm_arena_free(hm_arena *arena) {
    for (hm_arena_chunk *chunk = arena->chunks, *older; chunk; chunk = older) {
        older = chunk->older;
        give_chunk(chunk);
    }
    *arena = (hm_arena){0};
}
