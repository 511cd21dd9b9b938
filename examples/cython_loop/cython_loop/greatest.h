#ifndef CYTHON_LOOP_GREATEST_H
#define CYTHON_LOOP_GREATEST_H

#include <stddef.h>

/* The index of the greatest of `count` > 0 numbers; the first of them where several are. */
size_t greatest(const float *numbers, size_t count);

#endif
