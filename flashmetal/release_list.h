/* Memory of Python objects that Metal is done with. Metal's threads push, a thread with the GIL
 * takes all: lock-free, since a deallocator must not block. */
#ifndef FLASHMETAL_RELEASE_LIST_H
#define FLASHMETAL_RELEASE_LIST_H

#include <Python.h>
#include <stdbool.h>
#include <stddef.h>

/* An object's memory and what lets go of it. */
typedef struct held_memory {
    Py_buffer view;
    void (*release)(struct held_memory *); /* with the GIL */
    struct held_memory *next;
} held_memory;

typedef struct release_list {
    held_memory *first; /* atomic */
    bool closed;        /* atomic: the interpreter is going, schedule nothing */
    int schedulers;     /* atomic: threads that are about to schedule a pending call */
} release_list;

/* Where a thread that holds the GIL, or will again, collects what it releases itself. */
static _Thread_local held_memory **release_list_collector;

static inline bool release_list_collect(held_memory *held) {
    held_memory **collector = release_list_collector;
    if (!collector) return false;
    held->next = *collector;
    *collector = held;
    return true;
}

/* Whether the list was empty before. */
static inline bool release_list_push(release_list *list, held_memory *held) {
    held->next = __atomic_load_n(&list->first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&list->first, &held->next, held, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
    }
    return !held->next;
}

static inline held_memory *release_list_take(release_list *list) {
    if (!__atomic_load_n(&list->first, __ATOMIC_RELAXED)) return NULL;
    return __atomic_exchange_n(&list->first, NULL, __ATOMIC_ACQUIRE);
}

/* Py_AddPendingCall takes no GIL. When its table is full the next call of the library drains. */
static inline void release_list_schedule(release_list *list, int (*drain)(void *)) {
    __atomic_add_fetch(&list->schedulers, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&list->closed, __ATOMIC_SEQ_CST)) (void)Py_AddPendingCall(drain, NULL);
    __atomic_sub_fetch(&list->schedulers, 1, __ATOMIC_SEQ_CST);
}

/* After it no thread touches the interpreter: to be called before the interpreter goes. */
static inline void release_list_close(release_list *list) {
    __atomic_store_n(&list->closed, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&list->schedulers, __ATOMIC_SEQ_CST)) {
    }
}

#endif
