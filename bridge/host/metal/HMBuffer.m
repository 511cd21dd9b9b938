#include "HMBuffer.h"
#include <Block.h>
#include "faults.h"
#include "device_limits.h"
#include "pages.h"

static MTLStorageMode storage_mode(MTLResourceOptions options) {
    return (MTLStorageMode)(options >> MTLResourceStorageModeShift & 0xf);
}

@implementation HMBuffer

@synthesize label = _label, length = _length, resourceOptions = _options;

- (instancetype)initWithDevice:(HMDevice *)device
                        length:(NSUInteger)length
                       options:(MTLResourceOptions)options {
    BOOL refused = hm_fault_fires("buffer", NULL) || length == 0 || !hm_memory_reserve(length);
    if (!refused) {
        _memory = hm_pages_map(length);
        if (!_memory) hm_memory_release(length);
    }
    if (!_memory) {
        [self release];
        return nil;
    }
    _device = device;
    _length = _end = length;
    _options = options;
    return self;
}

- (instancetype)initWithDevice:(HMDevice *)device
                        memory:(void *)memory
                        length:(NSUInteger)length
                       options:(MTLResourceOptions)options
                   deallocator:(void (^)(void *, NSUInteger))deallocator {
    BOOL isWholePages =
        memory && length && (uintptr_t)memory % HM_PAGE_SIZE == 0 && length % HM_PAGE_SIZE == 0;
    if (hm_fault_fires("nocopy", NULL) || !isWholePages || !hm_memory_reserve(length)) {
        [self release];
        return nil;
    }
    _device = device;
    _memory = memory;
    _length = _end = length;
    _options = options;
    _isWrapped = YES;
    if (deallocator) _deallocator = Block_copy(deallocator);
    return self;
}

- (void)dealloc {
    if (_memory) {
        if (!_isWrapped) hm_pages_unmap(_memory, _length);
        hm_memory_release(_length);
    }
    if (_deallocator) {
        _deallocator(_memory, _length);
        Block_release(_deallocator);
    }
    [_label release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (MTLStorageMode)storageMode {
    return storage_mode(_options);
}

- (void *)contents {
    return storage_mode(_options) == MTLStorageModePrivate ? NULL : _memory;
}

@end
