#include "control.h"
#include "HMComputeCommandEncoder.h"
#include "diagnostics.h"
#include "executor.h"
#include "faults.h"
#include "device_limits.h"
#include "live_objects.h"
#include "msl.h"
#include "native.h"

const hm_control *hm_get_control(void) {
    static const hm_control control = {
        .faults = hm_faults_arm,
        .get_limits = hm_limits_get,
        .set_limits = hm_limits_set,
        .live_objects = hm_live_count,
        .dump_live_objects = hm_live_dump,
        .quiesce = hm_executors_quiesce,
        .get_diagnostics = hm_diagnostics_get,
        .message_count = hm_encoder_message_count,
        .set_headers = msl_set_headers,
        .set_cache = msl_set_cache,
        .set_interruption = msl_set_interruption,
        .cache = msl_cache_folder,
        .cache_fault = msl_cache_fault,
        .compiler = msl_compiler_version,
        .compile_count = msl_compile_count,
        .multiply_adds = native_multiply_adds,
        .read_rate = native_read_rate,
    };
    return &control;
}
