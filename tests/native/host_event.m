#include "host_test.h"
#include <time.h>
#include "HMDevice.h"

static void values_are_set_and_waited_for(void) {
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    CHECK(event.signaledValue == 0 && event.device == device);
    CHECK([event waitUntilSignaledValue:0 timeoutMS:0]);
    CHECK(![event waitUntilSignaledValue:1 timeoutMS:5]);
    event.signaledValue = 7;
    CHECK([event waitUntilSignaledValue:7 timeoutMS:0] && event.signaledValue == 7);
}

static void a_command_buffer_signals_when_its_work_is_done(void) {
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLBuffer> buffer = host_buffer(4);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = host_encoder(commands, buffer);
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands encodeSignalEvent:event value:3];
    [commands commit];
    CHECK([event waitUntilSignaledValue:3 timeoutMS:5000]);
    CHECK(*(int *)buffer.contents == 1);
}

static void a_command_buffer_waits_for_a_value(void) {
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands encodeWaitForEvent:event value:2];
    [commands commit];
    event.signaledValue = 1;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK(commands.status != MTLCommandBufferStatusCompleted);
    event.signaledValue = 2;
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted);
}

static void a_wait_ends_with_the_time_of_its_device(void) {
    const HMDeviceOptions options = {.timeout = 0.02};
    id<MTLDevice> impatient = [HMDeviceCreate(&options) autorelease];
    id<MTLCommandQueue> own = [[impatient newCommandQueue] autorelease];
    id<MTLSharedEvent> event = [[impatient newSharedEvent] autorelease];
    id<MTLCommandBuffer> commands = [own commandBuffer], next = [own commandBuffer];
    [commands encodeWaitForEvent:event value:1];
    [commands encodeSignalEvent:event value:2];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.error.code == MTLCommandBufferErrorTimeout);
    CHECK(host_contains(commands.error.localizedDescription,
                        "the event that is waited for had not been signalled after 0.02 seconds"));
    CHECK(event.signaledValue == 0);
    event.signaledValue = 1;
    [next encodeWaitForEvent:event value:1];
    [next commit];
    [next waitUntilCompleted];
    CHECK(next.status == MTLCommandBufferStatusCompleted);
}

static void one_queue_waits_for_another(void) {
    id<MTLSharedEvent> event = [device newSharedEvent];
    id<MTLCommandQueue> other = [device newCommandQueue];
    id<MTLCommandBuffer> waiting = [other commandBuffer], signalling = [queue commandBuffer];
    [waiting encodeWaitForEvent:event value:1];
    [signalling encodeSignalEvent:event value:1];
    [event release];
    [waiting commit];
    [signalling commit];
    [waiting waitUntilCompleted];
    CHECK(waiting.status == MTLCommandBufferStatusCompleted);
    [other release];
}

static void events_can_be_refused(void) {
    control->faults("event");
    CHECK(![device newSharedEvent]);
}

static void an_event_inside_an_encoder_is_misuse(void) {
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = host_encoder(commands, nil);
    [commands encodeSignalEvent:event value:1];
    CHECK(host_misuses(1));
    CHECK(!host_finish(commands, encoder) && event.signaledValue == 0);
}

int main(void) {
    const host_case cases[] = {
        {"values are set and waited for", values_are_set_and_waited_for},
        {"a command buffer signals when its work is done",
         a_command_buffer_signals_when_its_work_is_done},
        {"a command buffer waits for a value", a_command_buffer_waits_for_a_value},
        {"a wait ends with the time of its device", a_wait_ends_with_the_time_of_its_device},
        {"one queue waits for another", one_queue_waits_for_another},
        {"events can be refused", events_can_be_refused},
        {"an event inside an encoder is misuse", an_event_inside_an_encoder_is_misuse},
    };
    return host_run(cases, LENGTH(cases));
}
