#include "HMBinding.h"
#include "HMReflection.h"
#include <stdlib.h>

/* Autoreleased. */
static NSArray *bindings_of(const msl_kernel *kernel) {
    id *bindings = (id *)calloc(kernel->binding_count + 1, sizeof(id));
    if (!bindings) return [NSArray array];
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        bindings[i] = [[[HMBinding alloc] initWithBinding:&kernel->bindings[i]] autorelease];
    NSArray *array = [NSArray arrayWithObjects:bindings count:kernel->binding_count];
    free(bindings);
    return array;
}

@implementation MTLComputePipelineReflection

MTLComputePipelineReflection *HMReflect(const msl_kernel *kernel) {
    MTLComputePipelineReflection *reflection = [[MTLComputePipelineReflection new] autorelease];
    reflection->_bindings = [bindings_of(kernel) retain];
    return reflection;
}

- (void)dealloc {
    [_bindings release];
    [super dealloc];
}

- (NSArray *)bindings {
    return _bindings;
}

- (NSArray *)arguments {
    NSUInteger count = _bindings.count;
    id *arguments = (id *)calloc(count + 1, sizeof(id));
    if (!arguments) return [NSArray array];
    for (NSUInteger i = 0; i < count; i++)
        arguments[i] = HMArgumentOf([_bindings objectAtIndex:i]);
    NSArray *array = [NSArray arrayWithObjects:arguments count:count];
    free(arguments);
    return array;
}

@end
