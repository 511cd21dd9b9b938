#include "use_count.h"
#include "error.h"
#include <stdatomic.h>
#include <stdlib.h>

struct fm_use_count {
    atomic_int references;
    atomic_int uses;
};

fm_use_count *fm_use_count_create(fm_error *error) {
    fm_use_count *count = fm_allocate(sizeof *count, error);
    if (count) atomic_init(&count->references, 1);
    return count;
}

fm_use_count *fm_use_count_retain(fm_use_count *count) {
    if (count) atomic_fetch_add(&count->references, 1);
    return count;
}

void fm_use_count_release(fm_use_count *count) {
    if (count && atomic_fetch_sub(&count->references, 1) == 1) free(count);
}

bool fm_use_count_is_zero(const fm_use_count *count) {
    return atomic_load(&count->uses) == 0;
}

static bool has(const fm_use_list *list, const fm_use_count *count) {
    for (size_t i = 0; i < list->length; i++)
        if (list->counts[i] == count) return true;
    return false;
}

static fm_status grow(fm_use_list *list, fm_error *error) {
    size_t capacity = list->capacity ? 2 * list->capacity : 4;
    void *counts = realloc(list->counts, capacity * sizeof(fm_use_count *));
    if (!counts) return fm_fail(error, FM_ALLOCATION_FAILED, "out of memory");
    list->counts = counts;
    list->capacity = capacity;
    return FM_OK;
}

fm_status fm_use_list_add(fm_use_list *list, fm_use_count *count, fm_error *error) {
    if (has(list, count)) return FM_OK;
    fm_status status = list->length == list->capacity ? grow(list, error) : FM_OK;
    if (status != FM_OK) return status;
    atomic_fetch_add(&count->uses, 1);
    list->counts[list->length++] = fm_use_count_retain(count);
    return FM_OK;
}

void fm_use_list_end(fm_use_list *list) {
    for (size_t i = 0; i < list->length; i++) {
        atomic_fetch_sub(&list->counts[i]->uses, 1);
        fm_use_count_release(list->counts[i]);
    }
    free(list->counts);
    *list = (fm_use_list){0};
}
