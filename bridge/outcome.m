#import "internal.h"

static const char *status_name(MTLCommandBufferStatus status) {
    switch (status) {
    case MTLCommandBufferStatusNotEnqueued:
        return "NotEnqueued";
    case MTLCommandBufferStatusEnqueued:
        return "Enqueued";
    case MTLCommandBufferStatusCommitted:
        return "Committed";
    case MTLCommandBufferStatusScheduled:
        return "Scheduled";
    default:
        return "unknown";
    }
}

fm_status fm_command_buffer_outcome(MTLCommandBufferStatus status, NSError *cause,
                                    fm_error *error) {
    if (status == MTLCommandBufferStatusCompleted) return FM_OK;
    if (status == MTLCommandBufferStatusError)
        return fm_fail_with(error, FM_COMMAND_FAILED, cause,
                            "GPU command buffer completed with error status (no NSError)");
    return fm_fail(error, FM_COMMAND_FAILED,
                   "Unexpected command buffer status after wait: %s (%lu)", status_name(status),
                   (unsigned long)status);
}
