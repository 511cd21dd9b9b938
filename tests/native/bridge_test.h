/* What the tests of the bridge share. A test is a program of cases; after each of them as many
 * Metal objects must be alive as before it, and Metal must not have been misused. */
#ifndef BRIDGE_TEST_H
#define BRIDGE_TEST_H

#include "control.h"
#include "flashmetal.h"

#define CHECK(condition) bridge_check(condition, #condition, __FILE__, __LINE__)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef struct bridge_case {
    const char *name;
    void (*run)(void);
} bridge_case;

/* Made before the first case and released after the last. */
extern fm_device *device;
extern fm_library *library; /* of the kernels below */
extern const hm_control *host;

/* out[i] = a[i] * factor + addend for i < count; buffers a 0 and out 1, bytes {count, addend} 2,
 * int constant 0 factor. */
extern fm_pipeline *scale_add;
/* out[threadgroup] = how many threads the threadgroup has; buffer out 1, threadgroup memory 0. */
extern fm_pipeline *count_threads;

/* The last failure; cleared before each call of `fails`. */
extern fm_error error;

bool bridge_check(bool holds, const char *text, const char *file, int line);

/* `call` must have failed so, and `error` must say `text` somewhere. */
bool fails(fm_status status, fm_status expected, const char *text);

/* The exit status of the program. */
int run_cases(const bridge_case *cases, size_t count);

fm_buffer *new_buffer(size_t length);
fm_encoder *new_encoder(void);

typedef struct scale_add_parameters {
    uint32_t count;
    float addend;
} scale_add_parameters;

/* One dispatch of scale_add over whole buffers; begins the encoder if need be. */
fm_status dispatch_scale_add(fm_encoder *encoder, fm_buffer *a, fm_buffer *out,
                             scale_add_parameters parameters);

void sleep_ms(int milliseconds);

#endif
