#include "HMBinding.h"
#include "errors.h"

@implementation HMBinding

@synthesize type = _type, access = _access, index = _index, used = _used;

- (instancetype)initWithBinding:(const msl_binding *)binding {
    _name = [HMString(binding->name) retain];
    _type = binding->kind == MSL_BINDING_BUFFER ? MTLBindingTypeBuffer
                                                : MTLBindingTypeThreadgroupMemory;
    _access = binding->writable ? MTLBindingAccessReadWrite : MTLBindingAccessReadOnly;
    _index = binding->index;
    _alignment = binding->alignment;
    _size = binding->size;
    _used = binding->used != 0;
    return self;
}

- (void)dealloc {
    [_name release];
    [super dealloc];
}

- (NSString *)name {
    return _name;
}

- (BOOL)isArgument {
    return YES;
}

- (NSUInteger)bufferAlignment {
    return _alignment;
}

- (NSUInteger)bufferDataSize {
    return _size;
}

- (NSUInteger)threadgroupMemoryAlignment {
    return _alignment;
}

- (NSUInteger)threadgroupMemoryDataSize {
    return _size;
}

@end
