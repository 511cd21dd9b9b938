#include "host_test.h"

static void fault_texts_are_checked_as_a_whole(void) {
    static const char *const bad[] = {"disk",           "buffer:later=1", "buffer:count",
                                      "buffer:count=x", "buffer:ms=-1",   "buffer:code=1x",
                                      "buffer;disk"};
    CHECK(control->faults("buffer;exec:code=3:ms=1") == 2);
    for (size_t i = 0; i < LENGTH(bad); i++)
        CHECK(control->faults(bad[i]) == -1);
    CHECK(![device newBufferWithLength:4 options:0]); /* a bad text replaces nothing */
    CHECK(control->faults("") == 0 && control->faults(NULL) == 0);
    CHECK(control->faults("buffer;buffer;buffer;buffer;buffer;buffer;buffer;buffer;buffer;buffer;"
                          "buffer;buffer;buffer;buffer;buffer;buffer;buffer") == -1);
}

static void faults_come_after_and_as_often_as_told(void) {
    control->faults("event:after=2:count=2;event:after=3");
    BOOL made[6];
    for (int i = 0; i < 6; i++) {
        id<MTLSharedEvent> event = [device newSharedEvent];
        made[i] = event != nil;
        [event release];
    }
    CHECK(made[0] && made[1] && !made[2] && !made[3]);
    CHECK(made[4]); /* the second fault only counts what the first one lets through */
    CHECK(!made[5]);
}

static void limits_return_to_their_defaults(void) {
    hm_limits before, changed = {.max_buffer_length = 1, .budget = 2, .max_threadgroup_memory = 3},
                      now;
    control->get_limits(&before);
    control->set_limits(&changed);
    CHECK(device.maxThreadgroupMemoryLength == 3 && device.recommendedMaxWorkingSetSize == 2);
    control->set_limits(NULL);
    control->get_limits(&now);
    CHECK(now.max_buffer_length == before.max_buffer_length && now.budget == before.budget);
    CHECK(now.max_threadgroup_memory == 32768);
}

static void live_objects_are_counted_by_class(void) {
    long buffers = control->live_objects("HMBuffer"), all = control->live_objects(NULL);
    id<MTLBuffer> buffer = [device newBufferWithLength:4 options:0];
    CHECK(control->live_objects("HMBuffer") == buffers + 1);
    CHECK(control->live_objects(NULL) == all + 1);
    CHECK(control->live_objects("HMDevice") >= 1 && control->live_objects("nothing") == 0);
    [buffer release];
}

static void quiesce_waits_until_queues_are_idle(void) {
    control->faults("hang:ms=60");
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands commit];
    CHECK(!control->quiesce(5));
    CHECK(control->quiesce(5000) && commands.status == MTLCommandBufferStatusCompleted);
}

int main(void) {
    const host_case cases[] = {
        {"fault texts are checked as a whole", fault_texts_are_checked_as_a_whole},
        {"faults come after and as often as told", faults_come_after_and_as_often_as_told},
        {"limits return to their defaults", limits_return_to_their_defaults},
        {"live objects are counted by class", live_objects_are_counted_by_class},
        {"quiesce waits until queues are idle", quiesce_waits_until_queues_are_idle},
    };
    return host_run(cases, LENGTH(cases));
}
