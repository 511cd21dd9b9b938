#include "execution.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "HMCommandBufferEncoderInfo.h"
#include "errors.h"
#include "faults.h"
#include "time_limit.h"

/* From a commit to the queue's thread at work and back to who waits. */
enum { WAKING_NANOSECONDS = 15000 };

/* Ctrl-C and the end of a timeout are seen so much later. */
enum { IMPATIENT_NANOSECONDS = 5000000 };

typedef struct failure {
    MTLCommandBufferError code; /* None: none */
    uint32_t encoder;           /* that it happened in */
    char text[800];
} failure;

/* What all commands of a command buffer run under. */
typedef struct execution {
    HMDevice *device;
    simt_checker *checker; /* NULL where nothing is checked */
    uint64_t deadline;     /* by hm_now; 0: none */
} execution;

static CFTimeInterval seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (CFTimeInterval)now.tv_sec + (CFTimeInterval)now.tv_nsec * 1e-9;
}

static void pause_for(long milliseconds) {
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    if (milliseconds > 0) nanosleep(&rest, NULL);
}

static MTLCommandBufferError error_code(simt_fault_kind kind) {
    switch (kind) {
    case SIMT_FAULT_NONE:
        return MTLCommandBufferErrorNone;
    case SIMT_FAULT_DIVERGENT_BARRIER: /* on a GPU the barrier waits until the watchdog barks */
    case SIMT_FAULT_TIMEOUT:
        return MTLCommandBufferErrorTimeout;
    case SIMT_FAULT_PAGE:
        return MTLCommandBufferErrorPageFault;
    case SIMT_FAULT_OUT_OF_MEMORY:
        return MTLCommandBufferErrorOutOfMemory;
    case SIMT_FAULT_MEMORY: /* on a GPU the results are wrong */
    case SIMT_FAULT_MISUSE:
        return MTLCommandBufferErrorInternal;
    }
    return MTLCommandBufferErrorInternal;
}

static simt_launch launch_of(HMDevice *device, const hm_dispatch *command) {
    simt_launch launch = {.library = command->library,
                          .kernel = command->kernel,
                          .order = device->_options.order,
                          .seed = device->_options.seed};
    for (uint32_t i = 0; i < command->binding_count; i++) {
        launch.buffers[i] = command->bindings[i].memory;
        launch.buffer_lengths[i] = command->bindings[i].length;
    }
    for (uint32_t i = 0; i < command->memory_count; i++)
        launch.threadgroup_memory[i] = hm_dispatch_memory(command)[i];
    for (int i = 0; i < 3; i++) {
        launch.threads[i] = command->threads[i];
        launch.threads_per_threadgroup[i] = command->threads_per_threadgroup[i];
    }
    return launch;
}

static void end_for_time(HMDevice *device, const char *what, failure *out) {
    out->code = MTLCommandBufferErrorTimeout;
    snprintf(out->text, sizeof out->text,
             "%s after %g seconds, the device's timeout or FLASHMETAL_TIMEOUT", what,
             (double)device->_timeLimit * 1e-9);
}

static void dispatch(const execution *run, const hm_dispatch *command, failure *out) {
    HMDevice *device = run->device;
    simt_checker *checker = run->checker;
    simt_fault fault = {.kind = SIMT_FAULT_NONE};
    simt_launch launch = launch_of(device, command);
    if (command->equivalent && native_run(command->equivalent, device->_pool, &launch)) return;
    launch.checker = checker;
    launch.deadline = run->deadline;
    if (checker && command->ordered) simt_checker_order(checker);
    simt_fault_kind kind = simt_run(device->_pool, &launch, &fault);
    if (kind == SIMT_FAULT_NONE) return;
    out->code = error_code(kind);
    snprintf(out->text, sizeof out->text, "%s", fault.message);
    if (kind == SIMT_FAULT_TIMEOUT) end_for_time(device, fault.message, out);
}

static void wait_for_event(const execution *run, const hm_event_command *command, failure *out) {
    if (!run->deadline) {
        [command->event waitUntilSignaledValue:command->value];
        return;
    }
    uint64_t now = hm_now();
    uint64_t left = now < run->deadline ? run->deadline - now : 0;
    if ([command->event waitUntilSignaledValue:command->value timeoutMS:left / 1000000 + 1]) return;
    end_for_time(run->device, "the event that is waited for had not been signalled", out);
}

static void run_command(const execution *run, const hm_command *command, failure *out) {
    const hm_event_command *event = (const hm_event_command *)command;
    /* What comes between encoders holds up the one behind it. */
    out->encoder = command->encoder + (command->kind != HM_COMMAND_DISPATCH);
    if (run->deadline && hm_now() >= run->deadline) {
        end_for_time(run->device, "commands were left", out);
        return;
    }
    switch (command->kind) {
    case HM_COMMAND_DISPATCH:
        dispatch(run, (const hm_dispatch *)command, out);
        break;
    case HM_COMMAND_SIGNAL:
        event->event.signaledValue = event->value;
        break;
    case HM_COMMAND_WAIT:
        wait_for_event(run, event, out);
        break;
    }
}

/* What fails before any command has run. */
static void fail_at_once(HMCommandBuffer *commandBuffer, failure *out) {
    hm_fault armed = {0};
    if (hm_fault_fires("hang", &armed)) pause_for(armed.milliseconds);
    if (commandBuffer->_failure) {
        out->code = MTLCommandBufferErrorInternal;
        snprintf(out->text, sizeof out->text, "%s", commandBuffer->_failure);
    } else if (hm_fault_fires("exec", &armed)) {
        pause_for(armed.milliseconds);
        out->code = armed.code ? (MTLCommandBufferError)armed.code : MTLCommandBufferErrorInternal;
        snprintf(out->text, sizeof out->text, "a fault that a test has armed");
    }
}

/* nil unless the command buffer was made with the option that asks for it. */
static NSArray *encoder_infos(HMCommandBuffer *commandBuffer, uint32_t faulted) {
    uint32_t count = commandBuffer->_encoderCount;
    if (!(commandBuffer->_errorOptions & MTLCommandBufferErrorOptionEncoderExecutionStatus))
        return nil;
    id *infos = (id *)calloc(count + 1, sizeof(id));
    if (!infos) return nil;
    for (uint32_t i = 0; i < count; i++) {
        MTLCommandEncoderErrorState state = i < faulted    ? MTLCommandEncoderErrorStateCompleted
                                            : i == faulted ? MTLCommandEncoderErrorStateFaulted
                                                           : MTLCommandEncoderErrorStatePending;
        infos[i] =
            [[[HMCommandBufferEncoderInfo alloc] initWithLabel:commandBuffer->_encoderLabels[i]
                                                    errorState:state] autorelease];
    }
    NSArray *array = [NSArray arrayWithObjects:infos count:count];
    free(infos);
    return array;
}

/* Nobody knows how long simt takes for a kernel, or a fault that a test has armed. */
static BOOL takes_at_most(HMCommandBuffer *commandBuffer, uint64_t nanoseconds) {
    HMDevice *device = (HMDevice *)commandBuffer.device;
    uint64_t left = nanoseconds;
    if (hm_faults_are_armed()) return NO;
    for (const hm_command *command = commandBuffer->_firstCommand; command;
         command = command->next) {
        if (command->kind == HM_COMMAND_SIGNAL) continue;
        const hm_dispatch *dispatched = (const hm_dispatch *)command;
        if (command->kind != HM_COMMAND_DISPATCH || !dispatched->equivalent) return NO;
        simt_launch launch = launch_of(device, dispatched);
        uint64_t estimate = native_estimate(dispatched->equivalent, &launch);
        if (estimate > left) return NO;
        left -= estimate;
    }
    return YES;
}

BOOL HMIsBrief(HMCommandBuffer *commandBuffer) {
    return takes_at_most(commandBuffer, WAKING_NANOSECONDS);
}

BOOL HMIsShort(HMCommandBuffer *commandBuffer) {
    return takes_at_most(commandBuffer, IMPATIENT_NANOSECONDS);
}

static void run_commands(HMCommandBuffer *commandBuffer, failure *out) {
    HMDevice *device = (HMDevice *)commandBuffer.device;
    HMChecks checks = device->_options.checks;
    simt_checker *checker =
        checks != HMChecksNone ? simt_checker_create(checks == HMChecksStrict) : NULL;
    if (checks != HMChecksNone && !checker) {
        out->code = MTLCommandBufferErrorOutOfMemory;
        snprintf(out->text, sizeof out->text, "no memory for checks");
    }
    const execution run = {device, checker, device->_timeLimit ? hm_now() + device->_timeLimit : 0};
    for (const hm_command *command = commandBuffer->_firstCommand; command && !out->code;
         command = command->next)
        run_command(&run, command, out);
    simt_checker_release(checker);
}

void HMExecute(HMCommandBuffer *commandBuffer) {
    failure failed = {.code = MTLCommandBufferErrorNone};
    commandBuffer->_status = MTLCommandBufferStatusScheduled;
    CFTimeInterval start = seconds();
    fail_at_once(commandBuffer, &failed);
    if (!failed.code) run_commands(commandBuffer, &failed);
    CFTimeInterval end = seconds();
    NSError *error = nil;
    if (failed.code)
        error = HMCommandBufferError(failed.code, failed.text,
                                     encoder_infos(commandBuffer, failed.encoder));
    [commandBuffer completeWithError:error start:start end:end];
}
