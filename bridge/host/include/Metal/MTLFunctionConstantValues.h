#ifndef METAL_MTLFUNCTIONCONSTANTVALUES_H
#define METAL_MTLFUNCTIONCONSTANTVALUES_H

#import <Metal/MTLArgument.h>

NS_ASSUME_NONNULL_BEGIN

@interface MTLFunctionConstantValues : NSObject <NSCopying> {
  @private
    struct HMConstant *_constants; /* in order of index */
    NSUInteger _count;
}
- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index;
- (void)reset;
@end

NS_ASSUME_NONNULL_END
#endif
