/* Devices: what they say of themselves, options, and refusals. */
#include "bridge_test.h"
#include <stdlib.h>
#include <string.h>

static fm_device *open_device(const fm_device_options *options) {
    fm_device *opened = NULL;
    CHECK(fm_device_create(options, &opened, &error) == FM_OK);
    return opened;
}

static uint64_t registry_id(const fm_device_options *options) {
    fm_device_info info = {0};
    fm_device *opened = open_device(options);
    if (opened) fm_device_get_info(opened, &info);
    fm_device_release(opened);
    return info.registry_id;
}

static void info_is_whole(void) {
    fm_device_info info;
    fm_device_get_info(device, &info);
    CHECK(info.is_host && info.unified_memory);
    CHECK(info.name[0] && info.engine[0]);
    CHECK(info.registry_id != 0);
    CHECK(info.page_size == 16384);
    CHECK(info.max_buffer_length >= info.page_size);
    CHECK(info.max_threadgroup_memory == 32768);
    CHECK(info.max_threads_per_threadgroup == 1024);
    CHECK(info.language_version >= (3 << 16));
    CHECK(info.threads >= 1);
}

static void options_decide_the_registry_id(void) {
    const fm_device_options small = {.max_threads = 256}, no_tensor_api = {.no_tensor_api = true},
                            impatient = {.timeout = 0.5};
    CHECK(registry_id(NULL) == registry_id(&(fm_device_options){0}));
    CHECK(registry_id(&small) == registry_id(&small));
    CHECK(registry_id(&small) != registry_id(NULL));
    CHECK(registry_id(&small) != registry_id(&no_tensor_api));
    CHECK(registry_id(&impatient) != registry_id(NULL));
}

static void options_reach_the_device(void) {
    const fm_device_options options = {.engine = "simt", .threads = 1, .no_tensor_api = true};
    fm_device_info info = {0};
    fm_device *opened = open_device(&options);
    if (opened) fm_device_get_info(opened, &info);
    fm_device_release(opened);
    CHECK(info.threads == 1);
    CHECK(info.language_version < (4 << 16));
    CHECK(strcmp(info.engine, "simt") == 0);
}

static void unknown_options_are_refused(void) {
    const fm_device_options engine = {.engine = "abacus"}, order = {.order = "alphabetical"};
    fm_device *opened = NULL;
    CHECK(fails(fm_device_create(&engine, &opened, &error), FM_UNSUPPORTED, "abacus"));
    CHECK(fails(fm_device_create(&order, &opened, &error), FM_INVALID_ARGUMENT, "alphabetical"));
    const fm_device_options past = {.timeout = -1};
    CHECK(fails(fm_device_create(&past, &opened, &error), FM_INVALID_ARGUMENT, "timeout"));
    CHECK(!opened);
}

static void no_device_is_an_error(void) {
    fm_device *opened = NULL;
    CHECK(host->faults("device") == 1);
    CHECK(fails(fm_device_create(NULL, &opened, &error), FM_DEVICE_NOT_FOUND, "device"));
    CHECK(!opened);
}

static void no_queue_is_an_error(void) {
    fm_device *opened = NULL;
    CHECK(host->faults("queue") == 1);
    CHECK(fails(fm_device_create(NULL, &opened, &error), FM_ALLOCATION_FAILED, "command queue"));
    CHECK(!opened);
}

static void no_shared_event_is_an_error(void) {
    fm_device *opened = NULL;
    CHECK(host->faults("event") == 1);
    CHECK(fails(fm_device_create(NULL, &opened, &error), FM_ALLOCATION_FAILED, "shared event"));
    CHECK(!opened);
}

static void the_error_may_be_left_out(void) {
    fm_device *opened = NULL;
    host->faults("device");
    CHECK(fm_device_create(NULL, &opened, NULL) == FM_DEVICE_NOT_FOUND);
    host->faults("queue");
    CHECK(fm_device_create(NULL, &opened, NULL) == FM_ALLOCATION_FAILED);
    CHECK(!opened);
}

static void an_encoder_outlives_the_handle_of_its_device(void) {
    fm_device *opened = open_device(NULL);
    fm_encoder *encoder = NULL;
    CHECK(fm_encoder_create(opened, &encoder, &error) == FM_OK);
    CHECK(fm_encoder_begin(encoder, NULL, -1, &error) == FM_OK);
    fm_device_release(opened);
    CHECK(fm_encoder_commit(encoder, &error) == FM_OK);
    CHECK(fm_encoder_wait(encoder, -1, &error) == FM_OK);
    fm_encoder_release(encoder);
}

static void releasing_nothing_does_nothing(void) {
    fm_device_release(NULL);
    fm_buffer_release(NULL);
    fm_library_release(NULL);
    fm_pipeline_release(NULL);
    fm_encoder_release(NULL);
    fm_error_clear(NULL);
}

static void the_version_is_the_packages(void) {
    CHECK(strcmp(fm_version(), PACKAGE_VERSION) == 0);
}

static void variables_that_mean_nothing_are_refused_by_name(void) {
    const struct {
        const char *name, *value;
    } wrong[] = {{"FLASHMETAL_CPU", "abacus"},
                 {"FLASHMETAL_CACHE_DIR", "not/absolute"},
                 {"FLASHMETAL_THREADS", "many"},
                 {"FLASHMETAL_TIMEOUT", "soon"}};
    fm_device *opened = NULL;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        const char *before = getenv(wrong[i].name);
        char *kept = before ? strdup(before) : NULL;
        setenv(wrong[i].name, wrong[i].value, 1);
        CHECK(fails(fm_device_create(NULL, &opened, &error), FM_INVALID_ARGUMENT, wrong[i].name));
        CHECK(strstr(error.message, wrong[i].value) != NULL);
        kept ? setenv(wrong[i].name, kept, 1) : unsetenv(wrong[i].name);
        free(kept);
    }
    /* Where options say it, nobody asks the environment. */
    const fm_device_options said = {.threads = 2, .timeout = 60};
    setenv("FLASHMETAL_THREADS", "many", 1);
    setenv("FLASHMETAL_TIMEOUT", "soon", 1);
    fm_device_release(open_device(&said));
    unsetenv("FLASHMETAL_THREADS");
    unsetenv("FLASHMETAL_TIMEOUT");
    fm_device_release(open_device(NULL));
}

int main(void) {
    static const bridge_case CASES[] = {
        {"info is whole", info_is_whole},
        {"options decide the registry id", options_decide_the_registry_id},
        {"options reach the device", options_reach_the_device},
        {"unknown options are refused", unknown_options_are_refused},
        {"variables that mean nothing are refused by name",
         variables_that_mean_nothing_are_refused_by_name},
        {"no device is an error", no_device_is_an_error},
        {"no queue is an error", no_queue_is_an_error},
        {"no shared event is an error", no_shared_event_is_an_error},
        {"the error may be left out", the_error_may_be_left_out},
        {"an encoder outlives the handle of its device",
         an_encoder_outlives_the_handle_of_its_device},
        {"releasing nothing does nothing", releasing_nothing_does_nothing},
        {"the version is the package's", the_version_is_the_packages},
    };
    return run_cases(CASES, LENGTH(CASES));
}
