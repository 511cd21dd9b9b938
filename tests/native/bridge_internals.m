/* What no call of the C ABI can bring about or show here: what older systems lack, an error status
 * without an NSError, a status that should not be, the type of the compute encoder. */
#import "internal.h"
#include <stdio.h>
#include <string.h>

#define CHECK(condition) check(condition, #condition, __LINE__)

static int failures;

static void check(bool holds, const char *text, int line) {
    if (holds) return;
    failures++;
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, text);
}

/* Compile options before macOS 15. */
@interface OlderCompileOptions : NSObject {
    BOOL _fastMathEnabled;
}
@property (readwrite, nonatomic) BOOL fastMathEnabled;
@end

@implementation OlderCompileOptions
@synthesize fastMathEnabled = _fastMathEnabled;
@end

/* An argument before macOS 13. */
@interface OlderBinding : NSObject {
    MTLBindingType _type;
    MTLBindingAccess _access;
    NSUInteger _index;
    NSUInteger _bufferAlignment;
    NSUInteger _bufferDataSize;
    NSString *_name;
    BOOL _active;
}
@property (readonly) MTLBindingType type;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger index;
@property (readonly) NSUInteger bufferAlignment;
@property (readonly) NSUInteger bufferDataSize;
@property (readonly) NSString *name;
@property (readonly, getter=isActive) BOOL active;
- (instancetype)initWithType:(MTLBindingType)type
                       index:(NSUInteger)index
                      access:(MTLBindingAccess)access
                      active:(BOOL)active;
@end

@implementation OlderBinding
@synthesize type = _type, access = _access, index = _index, active = _active,
            bufferAlignment = _bufferAlignment, bufferDataSize = _bufferDataSize, name = _name;
- (instancetype)initWithType:(MTLBindingType)type
                       index:(NSUInteger)index
                      access:(MTLBindingAccess)access
                      active:(BOOL)active {
    self = [super init];
    if (self) {
        _type = type;
        _index = index;
        _access = access;
        _active = active;
        _bufferAlignment = 8;
        _bufferDataSize = 24;
        _name = @"rows";
    }
    return self;
}
@end

@interface OlderReflection : NSObject {
    NSArray *_arguments;
}
@property (readwrite, retain) NSArray *arguments;
@end

@implementation OlderReflection
@synthesize arguments = _arguments;
- (void)dealloc {
    [_arguments release];
    [super dealloc];
}
@end

static id binding(MTLBindingType type, NSUInteger index, MTLBindingAccess access, BOOL active) {
    return [[[OlderBinding alloc] initWithType:type index:index access:access
                                        active:active] autorelease];
}

static void older_reflection_gives_the_same_masks(void) {
    const id arguments[] = {
        binding(MTLBindingTypeBuffer, 0, MTLBindingAccessReadOnly, YES),
        binding(MTLBindingTypeBuffer, 1, MTLBindingAccessWriteOnly, YES),
        binding(MTLBindingTypeBuffer, 4, MTLBindingAccessReadWrite, NO),
        binding(MTLBindingTypeBuffer, 31, MTLBindingAccessReadWrite, YES),
        binding(MTLBindingTypeThreadgroupMemory, 1, MTLBindingAccessReadWrite, YES),
    };
    fm_pipeline_info info = {0};
    OlderReflection *reflection = [[[OlderReflection alloc] init] autorelease];
    reflection.arguments = [NSArray arrayWithObjects:arguments
                                               count:sizeof arguments / sizeof *arguments];
    fm_reflect((MTLComputePipelineReflection *)reflection, &info);
    CHECK(info.declared == 0x13 && info.used == 0x3 && info.writable == 0x12);
    CHECK(info.threadgroup_declared == 0x2);
    CHECK(info.alignment[1] == 8 && info.alignment[2] == 0);
    CHECK(info.size[1] == 24 && info.size[2] == 0 && info.size[4] == 0);
    CHECK(strcmp(info.name[1], "rows") == 0 && !info.name[2] && !info.name[4]);
    fm_forget_reflection(&info);
}

static bool older_fast_math(fm_math_mode mode) {
    OlderCompileOptions *options = [[[OlderCompileOptions alloc] init] autorelease];
    options.fastMathEnabled = YES;
    fm_set_math_mode((MTLCompileOptions *)options, mode);
    return options.fastMathEnabled;
}

static MTLMathMode math_mode(fm_math_mode mode) {
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    fm_set_math_mode(options, mode);
    return options.mathMode;
}

static void math_modes_are_translated(void) {
    CHECK(older_fast_math(FM_MATH_FAST));
    CHECK(!older_fast_math(FM_MATH_RELAXED) && !older_fast_math(FM_MATH_SAFE));
    CHECK(math_mode(FM_MATH_FAST) == MTLMathModeFast);
    CHECK(math_mode(FM_MATH_RELAXED) == MTLMathModeRelaxed);
    CHECK(math_mode(FM_MATH_SAFE) == MTLMathModeSafe);
}

static void check_outcome(MTLCommandBufferStatus status, NSError *cause, const char *text,
                          int64_t code) {
    fm_error error = {0};
    CHECK(fm_command_buffer_outcome(status, cause, &error) == FM_COMMAND_FAILED);
    CHECK(error.message && strcmp(error.message, text) == 0);
    CHECK(error.code == code);
    fm_error_clear(&error);
}

static void outcomes_are_named(void) {
    const id text = @"Caused GPU Timeout Error", key = NSLocalizedDescriptionKey;
    NSDictionary *information = [NSDictionary dictionaryWithObjects:&text forKeys:&key count:1];
    NSError *cause = [NSError errorWithDomain:MTLCommandBufferErrorDomain
                                         code:MTLCommandBufferErrorTimeout
                                     userInfo:information];
    CHECK(fm_command_buffer_outcome(MTLCommandBufferStatusCompleted, nil, NULL) == FM_OK);
    check_outcome(MTLCommandBufferStatusError, cause, "Caused GPU Timeout Error", 2);
    check_outcome(MTLCommandBufferStatusError, nil,
                  "GPU command buffer completed with error status (no NSError)", 0);
    check_outcome(MTLCommandBufferStatusScheduled, nil,
                  "Unexpected command buffer status after wait: Scheduled (3)", 0);
    check_outcome((MTLCommandBufferStatus)17, nil,
                  "Unexpected command buffer status after wait: unknown (17)", 0);
}

static void dispatches_are_concurrent(void) {
    fm_device *device = NULL;
    fm_encoder *encoder = NULL;
    CHECK(fm_device_create(NULL, &device, NULL) == FM_OK);
    CHECK(fm_encoder_create(device, &encoder, NULL) == FM_OK);
    CHECK(fm_encoder_begin(encoder, "a label", -1, NULL) == FM_OK);
    CHECK(encoder->commands.dispatchType == MTLDispatchTypeConcurrent);
    CHECK([encoder->commands.label isEqualToString:@"a label"]);
    CHECK([encoder->command_buffer.label isEqualToString:@"a label"]);
    fm_encoder_release(encoder);
    fm_device_release(device);
}

static void a_device_lets_go_of_metals(void) {
    fm_device *device = NULL, *same = NULL;
    CHECK(fm_device_create(NULL, &device, NULL) == FM_OK);
    NSUInteger before = [device->metal retainCount];
    CHECK(fm_device_create(NULL, &same, NULL) == FM_OK);
    fm_device_release(same);
    CHECK([device->metal retainCount] == before);
    fm_device_release(device);
}

int main(void) {
    @autoreleasepool {
        older_reflection_gives_the_same_masks();
        math_modes_are_translated();
        outcomes_are_named();
        dispatches_are_concurrent();
        a_device_lets_go_of_metals();
    }
    return failures != 0;
}
