#ifndef METAL_MTLEVENT_H
#define METAL_MTLEVENT_H

#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

@protocol MTLEvent <NSObject>
@property (nullable, readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
@end

@protocol MTLSharedEvent <MTLEvent>
@property (readwrite) uint64_t signaledValue;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
@end

NS_ASSUME_NONNULL_END
#endif
