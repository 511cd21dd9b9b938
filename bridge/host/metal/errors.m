#include "errors.h"
#include <stdio.h>

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";
NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey =
    @"MTLCommandBufferEncoderInfoErrorKey";

NSString *HMString(const char *text) {
    NSString *string = [NSString stringWithUTF8String:text];
    return string ? string : @"(a text that is not valid UTF-8)";
}

NSError *HMError(NSErrorDomain domain, NSInteger code, const char *text, NSErrorUserInfoKey key,
                 id extra) {
    id<NSCopying> keys[] = {NSLocalizedDescriptionKey, key};
    id values[] = {HMString(text), extra};
    NSDictionary *info = [NSDictionary dictionaryWithObjects:values
                                                     forKeys:keys
                                                       count:extra ? 2 : 1];
    return [NSError errorWithDomain:domain code:code userInfo:info];
}

void HMStoreError(NSError **error, NSErrorDomain domain, NSInteger code, const char *text) {
    if (error) *error = HMError(domain, code, text, nil, nil);
}

static const char *command_buffer_text(MTLCommandBufferError code) {
    switch (code) {
    case MTLCommandBufferErrorTimeout:
        return "Caused GPU Timeout Error";
    case MTLCommandBufferErrorPageFault:
        return "Caused GPU Address Fault Error";
    case MTLCommandBufferErrorAccessRevoked:
        return "Ignored (for causing prior/excessive GPU errors)";
    case MTLCommandBufferErrorNotPermitted:
        return "Insufficient Permission (to submit GPU work from background)";
    case MTLCommandBufferErrorOutOfMemory:
        return "Insufficient Memory";
    case MTLCommandBufferErrorInvalidResource:
        return "Invalid Resource";
    case MTLCommandBufferErrorDeviceRemoved:
        return "Device Removed";
    case MTLCommandBufferErrorStackOverflow:
        return "Stack Overflow";
    default:
        return "Internal Error";
    }
}

NSError *HMCommandBufferError(MTLCommandBufferError code, const char *detail, NSArray *encoders) {
    char text[1024];
    snprintf(text, sizeof text, "%s (%08lx)%s%s", command_buffer_text(code), (unsigned long)code,
             detail ? ": " : "", detail ? detail : "");
    return HMError(MTLCommandBufferErrorDomain, (NSInteger)code, text,
                   MTLCommandBufferEncoderInfoErrorKey, encoders);
}
