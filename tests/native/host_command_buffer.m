#include "host_test.h"
#include <pthread.h>
#include <string.h>
#include <time.h>

static const MTLSize ONE = {1, 1, 1};

static void sleep_for(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static void status_follows_the_work(void) {
    control->faults("hang:ms=50");
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    CHECK(commands.status == MTLCommandBufferStatusNotEnqueued);
    CHECK(commands.device == device && commands.commandQueue == queue);
    CHECK(commands.retainedReferences && !commands.error);
    [commands commit];
    CHECK(commands.status == MTLCommandBufferStatusCommitted ||
          commands.status == MTLCommandBufferStatusScheduled);
    CHECK(commands.GPUStartTime == 0 && commands.GPUEndTime == 0);
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted && !commands.error);
    CHECK(commands.GPUEndTime - commands.GPUStartTime >= 0.045);
}

static void command_buffers_run_in_the_order_of_commits(void) {
    enum { COUNT = 40 };
    static int order[COUNT], count;
    id<MTLCommandBuffer> all[COUNT];
    count = 0;
    for (int i = 0; i < COUNT; i++)
        all[i] = [queue commandBuffer];
    for (int i = COUNT - 1; i >= 0; i--) {
        [all[i] addCompletedHandler:^(id<MTLCommandBuffer> done) {
            CHECK(done.status == MTLCommandBufferStatusCompleted);
            order[count++] = i;
        }];
        [all[i] commit];
    }
    [all[0] waitUntilCompleted];
    for (int i = 0; i < COUNT; i++)
        CHECK(order[i] == COUNT - 1 - i);
}

static void a_command_buffer_that_computes_nothing_is_done_at_its_commit(void) {
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    __block int called = 0;
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
        CHECK(done.status == MTLCommandBufferStatusCompleted && event.signaledValue == 4);
        called++;
    }];
    [commands encodeSignalEvent:event value:4];
    [commands commit];
    CHECK(called == 1 && commands.status == MTLCommandBufferStatusCompleted);
    CHECK(commands.GPUEndTime >= commands.GPUStartTime && commands.GPUStartTime > 0);
    [commands waitUntilCompleted];
}

static void it_comes_after_the_work_before_it_still(void) {
    id<MTLBuffer> buffer = host_buffer(4);
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    id<MTLCommandBuffer> slow = [queue commandBuffer], empty = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = host_encoder(slow, buffer);
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder endEncoding];
    [slow encodeWaitForEvent:event value:1];
    [empty addCompletedHandler:^(id<MTLCommandBuffer> done) {
        CHECK(done == empty && slow.status == MTLCommandBufferStatusCompleted);
    }];
    [slow commit];
    [empty commit];
    sleep_for(20);
    CHECK(empty.status < MTLCommandBufferStatusCompleted);
    event.signaledValue = 1;
    [empty waitUntilCompleted];
    CHECK(*(int *)buffer.contents == 1);
}

static void a_handler_may_commit_another_of_them(void) {
    __block int depth = 0;
    for (int i = 0; i < 3; i++) {
        id<MTLCommandBuffer> first = [queue commandBuffer], second = [queue commandBuffer];
        [second addCompletedHandler:^(id<MTLCommandBuffer> done) {
            CHECK(done == second && first.status == MTLCommandBufferStatusCompleted);
            depth--;
        }];
        [first addCompletedHandler:^(id<MTLCommandBuffer> done) {
            CHECK(done == first);
            depth++;
            [second commit];
            CHECK(depth == 1); /* its handler comes later: one at a time */
        }];
        [first commit];
        [second waitUntilCompleted];
        CHECK(depth == 0);
    }
}

static void its_handler_may_drop_the_queue(void) {
    __block id<MTLCommandQueue> own = [device newCommandQueue];
    id<MTLCommandBuffer> commands = nil;
    @autoreleasepool {
        commands = [[own commandBuffer] retain];
    }
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
        [own release];
        [done release];
    }];
    [commands commit];
}

static void handlers_are_called_before_a_wait_returns(void) {
    for (int i = 0; i < 20; i++) {
        __block int called = 0;
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        for (int j = 0; j < 3; j++)
            [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
                CHECK(done.status == MTLCommandBufferStatusCompleted && done.GPUEndTime > 0);
                sleep_for(1);
                called++;
            }];
        [commands commit];
        [commands waitUntilCompleted];
        CHECK(called == 3);
    }
}

static void a_handler_may_commit_more(void) {
    __block id<MTLCommandBuffer> second = nil;
    id<MTLCommandQueue> narrow = [device newCommandQueueWithMaxCommandBufferCount:1];
    id<MTLCommandBuffer> first = [narrow commandBuffer];
    [first addCompletedHandler:^(id<MTLCommandBuffer> done) {
        CHECK(done == first);
        second = [[narrow commandBuffer] retain];
        [second commit];
    }];
    [first commit];
    [first waitUntilCompleted];
    [second waitUntilCompleted];
    CHECK(second.status == MTLCommandBufferStatusCompleted);
    [second release];
    [narrow release];
}

static void *take_one_more(void *taken) {
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        __atomic_store_n((int *)taken, 1, __ATOMIC_SEQ_CST);
        [commands commit];
        [commands waitUntilCompleted];
    }
    return NULL;
}

static void the_65th_command_buffer_waits_for_one_to_leave(void) {
    enum { LIMIT = 64 };
    int taken = 0;
    pthread_t thread;
    id<MTLCommandBuffer> all[LIMIT];
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    for (int i = 0; i < LIMIT; i++)
        all[i] = [queue commandBuffer];
    pthread_create(&thread, NULL, take_one_more, &taken);
    sleep_for(30);
    CHECK(!__atomic_load_n(&taken, __ATOMIC_SEQ_CST));
    [all[5] commit];
    pthread_join(thread, NULL);
    CHECK(taken);
    [pool drain];
    for (int i = 0; i < LIMIT; i++)
        @autoreleasepool {
            [queue commandBuffer]; /* those that went away uncommitted have made room */
        }
}

static void faults_end_a_command_buffer_with_their_code(void) {
    static const struct {
        const char *spec;
        MTLCommandBufferError code;
        const char *text;
    } faults[] = {
        {"exec", MTLCommandBufferErrorInternal, "Internal Error"},
        {"exec:code=2:ms=5", MTLCommandBufferErrorTimeout, "Caused GPU Timeout Error (00000002)"},
        {"exec:code=3", MTLCommandBufferErrorPageFault, "Caused GPU Address Fault Error"},
        {"exec:code=8", MTLCommandBufferErrorOutOfMemory, "Insufficient Memory"},
        {"exec:code=11", MTLCommandBufferErrorDeviceRemoved, "Device Removed"},
    };
    id<MTLBuffer> buffer = host_buffer(4);
    for (size_t i = 0; i < LENGTH(faults); i++) {
        control->faults(faults[i].spec);
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = host_encoder(commands, buffer);
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        NSError *error = host_finish(commands, encoder);
        CHECK(commands.status == MTLCommandBufferStatusError);
        CHECK([error.domain isEqual:MTLCommandBufferErrorDomain]);
        CHECK(error.code == (NSInteger)faults[i].code);
        CHECK(host_contains(error.localizedDescription, faults[i].text));
        CHECK(*(int *)buffer.contents == (int)i);
        host_check_works(buffer);
    }
}

static void faults_of_kernels_are_errors_that_poison_nothing(void) {
    static const struct {
        const char *kernel;
        MTLCommandBufferError code;
        const char *text;
    } faults[] = {
        {"page_fault", MTLCommandBufferErrorPageFault, "address 0x10 of no buffer"},
        {"divergent", MTLCommandBufferErrorTimeout, "wait at different barriers"},
    };
    for (size_t i = 0; i < LENGTH(faults); i++) {
        id<MTLBuffer> buffer = host_buffer(4);
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = host_encoder(commands, buffer);
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        [encoder setComputePipelineState:host_pipeline(
                                             [NSString stringWithUTF8String:faults[i].kernel])];
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        [encoder setComputePipelineState:host_pipeline(@"add_one")];
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        NSError *error = host_finish(commands, encoder);
        CHECK(error.code == (NSInteger)faults[i].code);
        CHECK(host_contains(error.localizedDescription, faults[i].text));
        CHECK(*(int *)buffer.contents == 1); /* what came before it has run, nothing after it */
        host_check_works(buffer);
    }
}

static void errors_name_the_encoders_when_asked_to(void) {
    MTLCommandBufferDescriptor *descriptor = [[MTLCommandBufferDescriptor new] autorelease];
    descriptor.errorOptions = MTLCommandBufferErrorOptionEncoderExecutionStatus;
    id<MTLBuffer> buffer = host_buffer(4);
    id<MTLCommandBuffer> commands = [queue commandBufferWithDescriptor:descriptor];
    static NSString *const kernels[] = {@"add_one", @"page_fault", @"add_one"};
    id<MTLComputeCommandEncoder> encoder = nil;
    for (int i = 0; i < 3; i++) {
        [encoder endEncoding];
        encoder = host_encoder(commands, buffer);
        [encoder setComputePipelineState:host_pipeline(kernels[i])];
        if (i != 2) encoder.label = kernels[i];
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    }
    NSError *error = host_finish(commands, encoder);
    NSArray *infos = [error.userInfo objectForKey:MTLCommandBufferEncoderInfoErrorKey];
    CHECK(infos.count == 3);
    id<MTLCommandBufferEncoderInfo> first = [infos objectAtIndex:0];
    id<MTLCommandBufferEncoderInfo> second = [infos objectAtIndex:1];
    id<MTLCommandBufferEncoderInfo> third = [infos objectAtIndex:2];
    CHECK(first.errorState == MTLCommandEncoderErrorStateCompleted);
    CHECK(second.errorState == MTLCommandEncoderErrorStateFaulted);
    CHECK([second.label isEqual:@"page_fault"] && third.label.length == 0);
    CHECK(third.errorState == MTLCommandEncoderErrorStatePending);
}

static void unretained_command_buffers_hold_nothing(void) {
    id<MTLBuffer> buffer = [device newBufferWithLength:4 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> kept = [queue commandBuffer];
    id<MTLCommandBuffer> unretained = [queue commandBufferWithUnretainedReferences];
    id<MTLComputeCommandEncoder> encoders[] = {host_encoder(kept, buffer),
                                               host_encoder(unretained, buffer)};
    CHECK(!unretained.retainedReferences && buffer.retainCount == 2);
    for (int i = 0; i < 9; i++)
        [encoders[0] setBuffer:buffer offset:0 atIndex:1];
    CHECK(buffer.retainCount == 2); /* once for each command buffer is enough */
    for (int i = 0; i < 2; i++)
        [encoders[i] endEncoding];
    [kept commit];
    [kept waitUntilCompleted];
    CHECK(buffer.retainCount == 1);
    [buffer release];
}

static void a_queue_may_be_released_before_its_work_is_done(void) {
    for (int i = 0; i < 20; i++)
        @autoreleasepool {
            control->faults(i % 2 ? "hang:ms=1" : NULL);
            id<MTLCommandQueue> own = [device newCommandQueue];
            [[own commandBuffer] commit];
            [own release];
        }
}

static void queues_and_command_buffers_can_be_refused(void) {
    control->faults("queue;cmdbuf;encoder");
    CHECK(![device newCommandQueue]);
    CHECK(![queue commandBuffer]);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    CHECK(![commands computeCommandEncoder]);
    CHECK(![device newCommandQueueWithMaxCommandBufferCount:0]);
}

static void broken_rules_are_misuse(void) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands waitUntilCompleted];
    CHECK(host_misuses(1));
    [commands commit];
    [commands commit];
    CHECK(host_misuses(1));
    [commands waitUntilCompleted];
    CHECK(![commands computeCommandEncoder]);
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
        CHECK(!done);
    }];
    CHECK(host_misuses(2) && commands.status == MTLCommandBufferStatusCompleted);
}

static void a_commit_with_an_open_encoder_fails(void) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = host_encoder(commands, host_buffer(4));
    CHECK(![commands computeCommandEncoder] && host_misuses(1));
    [commands commit];
    CHECK(host_misuses(1));
    [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
    [encoder endEncoding];
    CHECK(host_misuses(2));
    [commands waitUntilCompleted];
    CHECK(host_contains(commands.error.localizedDescription, "an encoder was open"));
}

static void *work(void *argument) {
    for (int i = 0; i < 50; i++)
        @autoreleasepool {
            host_check_works(argument);
        }
    return NULL;
}

static void threads_share_a_queue(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    id<MTLBuffer> buffers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        buffers[i] = host_buffer(4);
        pthread_create(&threads[i], NULL, work, buffers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(*(int *)buffers[i].contents == 50);
    }
}

int main(void) {
    const host_case cases[] = {
        {"status follows the work", status_follows_the_work},
        {"command buffers run in the order of commits",
         command_buffers_run_in_the_order_of_commits},
        {"a command buffer that computes nothing is done at its commit",
         a_command_buffer_that_computes_nothing_is_done_at_its_commit},
        {"it comes after the work before it still", it_comes_after_the_work_before_it_still},
        {"a handler may commit another of them", a_handler_may_commit_another_of_them},
        {"its handler may drop the queue", its_handler_may_drop_the_queue},
        {"handlers are called before a wait returns", handlers_are_called_before_a_wait_returns},
        {"a handler may commit more", a_handler_may_commit_more},
        {"the 65th command buffer waits for one to leave",
         the_65th_command_buffer_waits_for_one_to_leave},
        {"faults end a command buffer with their code",
         faults_end_a_command_buffer_with_their_code},
        {"faults of kernels are errors that poison nothing",
         faults_of_kernels_are_errors_that_poison_nothing},
        {"errors name the encoders when asked to", errors_name_the_encoders_when_asked_to},
        {"unretained command buffers hold nothing", unretained_command_buffers_hold_nothing},
        {"a queue may be released before its work is done",
         a_queue_may_be_released_before_its_work_is_done},
        {"queues and command buffers can be refused", queues_and_command_buffers_can_be_refused},
        {"broken rules are misuse", broken_rules_are_misuse},
        {"a commit with an open encoder fails", a_commit_with_an_open_encoder_fails},
        {"threads share a queue", threads_share_a_queue},
    };
    return host_run(cases, LENGTH(cases));
}
