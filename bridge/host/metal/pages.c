#include "pages.h"
#include <stdint.h>
#include <sys/mman.h>
#include "device_limits.h"

enum { LARGE_BYTES = 4 << 20 };

static size_t round_up(size_t length) {
    return (length + HM_PAGE_SIZE - 1) / HM_PAGE_SIZE * HM_PAGE_SIZE;
}

void *hm_pages_map(size_t length) {
    if (length == 0 || length > SIZE_MAX / 2) return NULL;
    /* One page of slack to align the start, one that stays inaccessible behind the end. */
    size_t used = round_up(length), span = used + 2 * HM_PAGE_SIZE;
    char *base = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    char *start = base + (HM_PAGE_SIZE - (uintptr_t)base % HM_PAGE_SIZE) % HM_PAGE_SIZE;
    char *end = start + used + HM_PAGE_SIZE;
    if (start > base) munmap(base, (size_t)(start - base));
    if (base + span > end) munmap(end, (size_t)(base + span - end));
    /* Caches are read from end to end: with larger pages, where the system has them, in fewer. */
    if (used >= LARGE_BYTES) madvise(start, used, MADV_HUGEPAGE);
    if (mprotect(start, used, PROT_READ | PROT_WRITE) == 0) return start;
    munmap(start, used + HM_PAGE_SIZE);
    return NULL;
}

void hm_pages_unmap(void *pages, size_t length) {
    munmap(pages, round_up(length) + HM_PAGE_SIZE);
}
