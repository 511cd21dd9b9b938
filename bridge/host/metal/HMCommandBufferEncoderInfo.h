#ifndef HM_COMMANDBUFFERENCODERINFO_H
#define HM_COMMANDBUFFERENCODERINFO_H

#import <Metal/Metal.h>

@interface HMCommandBufferEncoderInfo : NSObject <MTLCommandBufferEncoderInfo> {
  @private
    NSString *_label; /* owned */
    MTLCommandEncoderErrorState _errorState;
}
/* `label` may be nil. */
- (instancetype)initWithLabel:(NSString *)label errorState:(MTLCommandEncoderErrorState)errorState;
@end

#endif
