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
    static const struct {
        NSInteger macos;
        uint32_t major, minor;
    } NEWEST[] = {
        {16, 4, 0}, /* macOS 26 calls itself 16 to programs built for older systems */
        {15, 3, 2}, {14, 3, 1}, {13, 3, 0}, {0, 2, 4},
    };
    NSInteger macos = [[NSProcessInfo processInfo] operatingSystemVersion].majorVersion;
    size_t i = 0;
    while (macos < NEWEST[i].macos)
        i++;
    return NEWEST[i].major << 16 | NEWEST[i].minor;
}

void fm_system_device_describe(id<MTLDevice> device, fm_device_info *out) {
    (void)device;
    out->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    out->language_version = language_version();
}

const struct hm_control *fm_host_control(void) {
    return NULL;
}
