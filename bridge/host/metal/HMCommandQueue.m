#include "HMCommandQueue.h"
#include "HMCommandBuffer.h"
#include "execution.h"
#include "faults.h"

/* Takes over one reference. */
static void run(void *work) {
    @autoreleasepool {
        HMCommandBuffer *commandBuffer = work;
        HMExecute(commandBuffer);
        [commandBuffer release];
    }
}

@implementation HMCommandQueue

@synthesize label = _label;

- (instancetype)initWithDevice:(HMDevice *)device capacity:(NSUInteger)capacity {
    pthread_mutex_init(&_lock, NULL);
    pthread_cond_init(&_left, NULL);
    _device = [device retain];
    HMDeviceGainedQueue(device);
    _capacity = capacity;
    if (capacity > 0 && !hm_fault_fires("queue", NULL))
        _executor = hm_executor_create(capacity, run);
    if (_executor) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    hm_executor_destroy(_executor);
    pthread_cond_destroy(&_left);
    pthread_mutex_destroy(&_lock);
    [_label release];
    if (_device) HMDeviceLostQueue(_device);
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (id<MTLCommandBuffer>)commandBuffer {
    return [self commandBufferRetaining:YES errorOptions:MTLCommandBufferErrorOptionNone];
}

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
    return [self commandBufferRetaining:NO errorOptions:MTLCommandBufferErrorOptionNone];
}

- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor {
    return [self commandBufferRetaining:descriptor.retainedReferences
                           errorOptions:descriptor.errorOptions];
}

- (id<MTLCommandBuffer>)commandBufferRetaining:(BOOL)retaining
                                  errorOptions:(MTLCommandBufferErrorOption)errorOptions {
    if (hm_fault_fires("cmdbuf", NULL)) return nil;
    pthread_mutex_lock(&_lock);
    while (_uncompleted == _capacity)
        pthread_cond_wait(&_left, &_lock);
    _uncompleted++;
    pthread_mutex_unlock(&_lock);
    HMCommandBuffer *commandBuffer = [[HMCommandBuffer alloc] initWithQueue:self
                                                         retainedReferences:retaining
                                                               errorOptions:errorOptions];
    if (!commandBuffer) [self commandBufferLeft];
    return [commandBuffer autorelease];
}

- (BOOL)submit:(id<MTLCommandBuffer>)submitted {
    HMCommandBuffer *commandBuffer = [submitted retain];
    if (HMIsBrief(commandBuffer) && hm_executor_run(_executor, commandBuffer)) return YES;
    if (hm_executor_submit(_executor, commandBuffer)) return YES;
    [commandBuffer release];
    return NO;
}

static bool is_short(void *commandBuffer) {
    return HMIsShort((HMCommandBuffer *)commandBuffer);
}

- (void)help {
    /* Others of the device's threads would have to be woken while the queue's is, which was woken
     * by the commit: it takes longer than to let that one do it. */
    if (simt_pool_threads(_device->_pool) == 1) hm_executor_help(_executor, is_short);
}

- (void)commandBufferLeft {
    pthread_mutex_lock(&_lock);
    _uncompleted--;
    pthread_cond_signal(&_left);
    pthread_mutex_unlock(&_lock);
}

@end
