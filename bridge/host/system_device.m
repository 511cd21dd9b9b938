/* The bridge's device where there is no Metal: host Metal's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#import "internal.h"
#include "HMBuffer.h"
#include "HMCommandQueue.h"
#include "HMDevice.h"
#include "control.h"
#include "device_limits.h"
#include "time_limit.h"

static const char *const ENGINE_NAMES[] = {
    [HMEngineAuto] = "auto", [HMEngineSIMT] = "simt", [HMEngineNative] = "native"};
static const char *const ORDER_NAMES[] = {
    [SIMT_HIGHEST_FIRST] = "highest", [SIMT_LOWEST_FIRST] = "lowest", [SIMT_RANDOM] = "random"};

static const char *const CHECKS_NAMES[] = {
    [HMChecksNone] = "off", [HMChecksOn] = "on", [HMChecksStrict] = "strict"};

/* The place of `name` among `count` names, 0 for NULL; -1: it is none of them. */
static int find_name(const char *name, const char *const *names, int count) {
    int place = 0;
    while (name && place < count && strcmp(name, names[place]) != 0)
        place++;
    return place < count ? place : -1;
}

static fm_status read_options(const fm_device_options *options, HMDeviceOptions *out,
                              fm_error *error) {
    int engine = find_name(options->engine, ENGINE_NAMES, 3);
    int order = find_name(options->order, ORDER_NAMES, 3);
    if (engine < 0)
        return fm_fail(error, FM_UNSUPPORTED,
                       "host Metal has no engine \"%s\": there are \"auto\", \"simt\" and "
                       "\"native\"",
                       options->engine);
    if (order < 0)
        return fm_fail(error, FM_INVALID_ARGUMENT,
                       "order must be \"highest\", \"lowest\" or \"random\", not \"%s\"",
                       options->order);
    if (options->max_threads > HM_MAX_THREADS)
        return fm_fail(error, FM_INVALID_ARGUMENT, "max_threads must be at most %d, not %u",
                       HM_MAX_THREADS, options->max_threads);
    int checks = find_name(options->checks, CHECKS_NAMES, 3);
    if (checks < 0)
        return fm_fail(error, FM_INVALID_ARGUMENT,
                       "checks must be \"off\", \"on\" or \"strict\", not \"%s\"", options->checks);
    if (checks != HMChecksNone && engine != HMEngineSIMT)
        return fm_fail(error, FM_INVALID_ARGUMENT, "checks need the engine \"simt\", not \"%s\"",
                       ENGINE_NAMES[engine]);
    if (!(options->timeout >= 0))
        return fm_fail(error, FM_INVALID_ARGUMENT, "timeout must be seconds, more than 0, not %g",
                       options->timeout);
    *out = (HMDeviceOptions){
        .engine = (HMEngine)engine,
        .threads = options->threads,
        .maxThreads = options->max_threads,
        .noTensorAPI = options->no_tensor_api,
        .order = (simt_order)order,
        .seed = options->seed,
        .checks = (HMChecks)checks,
        .timeout = options->timeout,
    };
    return FM_OK;
}

/* Takes over `fault`; NULL is none. */
static fm_status refuse_environment(char *fault, fm_error *error) {
    if (!fault) return FM_OK;
    fm_fail(error, FM_INVALID_ARGUMENT, "the environment variable %s", fault);
    free(fault);
    return FM_INVALID_ARGUMENT;
}

/* Who sets a variable means something by it; without the check a wrong one would just do nothing.
 */
static fm_status check_environment(const HMDeviceOptions *options, fm_error *error) {
    fm_status status = refuse_environment(msl_environment_fault(), error);
    if (status == FM_OK && !options->threads)
        status = refuse_environment(simt_environment_fault(), error);
    if (status == FM_OK && !options->timeout)
        status = refuse_environment(hm_time_limit_environment_fault(), error);
    return status;
}

id<MTLDevice> fm_system_device(const fm_device_options *options, fm_error *error) {
    HMDeviceOptions wanted = {0};
    if (options && read_options(options, &wanted, error) != FM_OK) return nil;
    if (check_environment(&wanted, error) != FM_OK) return nil;
    id<MTLDevice> device = HMDeviceCreate(&wanted);
    if (!device) fm_fail(error, FM_DEVICE_NOT_FOUND, "host Metal could not make a device");
    return device;
}

void fm_system_device_describe(id<MTLDevice> device, fm_device_info *out) {
    HMDevice *host = (HMDevice *)device;
    out->page_size = HM_PAGE_SIZE;
    out->language_version = (uint32_t)[host newestLanguageVersion];
    out->threads = simt_pool_threads(host->_pool);
    out->is_host = true;
    snprintf(out->engine, sizeof out->engine, "%s", ENGINE_NAMES[host->_options.engine]);
}

void fm_system_help(id<MTLCommandQueue> queue) {
    [(HMCommandQueue *)queue help];
}

void fm_system_limit_buffer(id<MTLBuffer> buffer, size_t end) {
    HMBuffer *limited = (HMBuffer *)buffer;
    if (limited->_device->_options.checks != HMChecksNone) limited->_end = end;
}

const struct hm_control *fm_host_control(void) {
    return hm_get_control();
}
