#ifndef HM_ERRORS_H
#define HM_ERRORS_H

#import <Metal/Metal.h>

/* The string, or one that says that `text` is not UTF-8. Autoreleased. */
NSString *HMString(const char *text);

/* Autoreleased. `extra` (may be nil) goes into the userInfo under `key`. */
NSError *HMError(NSErrorDomain domain, NSInteger code, const char *text, NSErrorUserInfoKey key,
                 id extra);

/* Stores an error where the caller asked for one. */
void HMStoreError(NSError **error, NSErrorDomain domain, NSInteger code, const char *text);

/* As Metal words it, `detail` (may be NULL) behind. */
NSError *HMCommandBufferError(MTLCommandBufferError code, const char *detail, NSArray *encoders);

#endif
