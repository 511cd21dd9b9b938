/* How many objects of each class exist. A class keeps its slot for ever. */
#ifndef HM_LIVE_OBJECTS_H
#define HM_LIVE_OBJECTS_H

#include <stdint.h>

uint32_t hm_live_slot(const char *class_name); /* the same pointer for the same class */
const char *hm_live_name(uint32_t slot);
void hm_live_add(uint32_t slot, long change);

/* NULL: of all classes but those of devices, which live as long as the process. */
long hm_live_count(const char *class_name);
void hm_live_dump(void);

#endif
