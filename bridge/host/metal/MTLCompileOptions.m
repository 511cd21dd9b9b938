#import <Metal/Metal.h>

@implementation MTLCompileOptions

@synthesize preprocessorMacros = _preprocessorMacros, mathMode = _mathMode,
            languageVersion = _languageVersion;

- (instancetype)init {
    _mathMode = MTLMathModeFast;
    _languageVersion = MTLLanguageVersion4_0;
    return self;
}

- (void)dealloc {
    [_preprocessorMacros release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    MTLCompileOptions *copy = [MTLCompileOptions new];
    copy.preprocessorMacros = _preprocessorMacros;
    copy.mathMode = _mathMode;
    copy.languageVersion = _languageVersion;
    return copy;
}

- (BOOL)fastMathEnabled {
    return _mathMode == MTLMathModeFast;
}

- (void)setFastMathEnabled:(BOOL)fastMathEnabled {
    _mathMode = fastMathEnabled ? MTLMathModeFast : MTLMathModeSafe;
}

@end
