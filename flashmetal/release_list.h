/* Exported Python memory that Metal is done with. Metal's threads push, a thread with the GIL takes
 * all: lock-free, since a deallocator must not block. */
#ifndef FLASHMETAL_RELEASE_LIST_H
#define FLASHMETAL_RELEASE_LIST_H

#include <Python.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct held_buffer {
    Py_buffer view;
    struct held_buffer *next;
} held_buffer;

typedef struct release_list {
    held_buffer *first; /* atomic */
    bool closed;        /* atomic: the interpreter is going, schedule nothing */
    int schedulers;     /* atomic: threads that are about to schedule a pending call */
} release_list;

/* Whether the list was empty before. */
static inline bool release_list_push(release_list *list, held_buffer *held) {
    held->next = __atomic_load_n(&list->first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&list->first, &held->next, held, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
    }
    return !held->next;
}

static inline held_buffer *release_list_take(release_list *list) {
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
