#include "HMReflection.h"

@implementation MTLArgument

MTLArgument *HMArgumentOf(id<MTLBinding> binding) {
    MTLArgument *argument = [[MTLArgument new] autorelease];
    argument->_binding = [binding retain];
    return argument;
}

- (void)dealloc {
    [_binding release];
    [super dealloc];
}

- (NSString *)name {
    return _binding.name;
}

- (MTLArgumentType)type {
    return (MTLArgumentType)_binding.type;
}

- (MTLBindingAccess)access {
    return _binding.access;
}

- (NSUInteger)index {
    return _binding.index;
}

- (BOOL)isActive {
    return _binding.used;
}

- (NSUInteger)bufferAlignment {
    return ((id<MTLBufferBinding>)_binding).bufferAlignment;
}

- (NSUInteger)bufferDataSize {
    return ((id<MTLBufferBinding>)_binding).bufferDataSize;
}

- (NSUInteger)threadgroupMemoryAlignment {
    return ((id<MTLThreadgroupBinding>)_binding).threadgroupMemoryAlignment;
}

- (NSUInteger)threadgroupMemoryDataSize {
    return ((id<MTLThreadgroupBinding>)_binding).threadgroupMemoryDataSize;
}

@end
