/* Zero-filled memory of buffers. */
#ifndef HM_PAGES_H
#define HM_PAGES_H

#include <stddef.h>

/* Starts on an HM_PAGE_SIZE boundary and is followed by a page that faults; NULL: no memory. */
void *hm_pages_map(size_t length);
void hm_pages_unmap(void *pages, size_t length);

#endif
