/* The device of Apple's Metal. */
#import "../internal.h"
#include <unistd.h>

static fm_status refuse_options(const fm_device_options *options, fm_error *error) {
    const struct {
        const char *name;
        bool given;
    } fields[] = {
        {"engine", options->engine != NULL},        {"threads", options->threads != 0},
        {"max_threads", options->max_threads != 0}, {"no_tensor_api", options->no_tensor_api},
        {"order", options->order != NULL},          {"seed", options->seed != 0},
        {"checks", options->checks != NULL},        {"timeout", options->timeout != 0},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].given)
            return fm_fail(error, FM_UNSUPPORTED,
                           "the device option %s is host Metal's; this is Apple's Metal",
                           fields[i].name);
    return FM_OK;
}

id<MTLDevice> fm_system_device(const fm_device_options *options, fm_error *error) {
    if (options && refuse_options(options, error) != FM_OK) return nil;
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (!device) { /* a login without a window server has devices, but no default */
        NSArray *all = [MTLCopyAllDevices() autorelease];
        if (all.count) device = [[all objectAtIndex:0] retain];
    }
    if (!device) fm_fail(error, FM_DEVICE_NOT_FOUND, "Metal lists no device");
    return device;
}

/* The newest Metal Shading Language of this system, major << 16 | minor. */
static uint32_t language_version(void) {
    if (@available(macOS 26.0, *)) return 4 << 16;
    if (@available(macOS 15.0, *)) return 3 << 16 | 2;
    if (@available(macOS 14.0, *)) return 3 << 16 | 1;
    if (@available(macOS 13.0, *)) return 3 << 16;
    return 2 << 16 | 4;
}

void fm_system_device_describe(id<MTLDevice> device, fm_device_info *out) {
    (void)device;
    out->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    out->language_version = language_version();
}

/* A GPU needs no help. */
void fm_system_help(id<MTLCommandQueue> queue) {
    (void)queue;
}

/* Metal has no word for it. */
void fm_system_limit_buffer(id<MTLBuffer> buffer, size_t end) {
    (void)buffer;
    (void)end;
}

const struct hm_control *fm_host_control(void) {
    return NULL;
}
