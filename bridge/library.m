#import "internal.h"
#include <stdio.h>
#include <stdlib.h>

/* Metal raises an exception for a version that it does not know. */
static fm_status check_language_version(const fm_device *device, uint32_t wanted, fm_error *error) {
    uint32_t newest = device->info.language_version;
    if (wanted <= newest) return FM_OK;
    return fm_fail(error, FM_UNSUPPORTED,
                   "Metal Shading Language %u.%u: this system has %u.%u at most", wanted >> 16,
                   wanted & 0xffff, newest >> 16, newest & 0xffff);
}

void fm_set_math_mode(MTLCompileOptions *options, fm_math_mode mode) {
    static const MTLMathMode MODES[] = {
        [FM_MATH_SAFE] = MTLMathModeSafe,
        [FM_MATH_RELAXED] = MTLMathModeRelaxed,
        [FM_MATH_FAST] = MTLMathModeFast,
    };
    if ([options respondsToSelector:@selector(setMathMode:)])
        options.mathMode = MODES[mode];
    else /* fast math drops infinities, so that relaxed has to do without it */
        options.fastMathEnabled = mode == FM_MATH_FAST;
}

static fm_status set_macros(MTLCompileOptions *options, const fm_macro *macros, size_t count,
                            fm_error *error) {
    NSMutableDictionary *dictionary = [NSMutableDictionary dictionary];
    for (size_t i = 0; i < count; i++) {
        NSString *name = fm_string(macros[i].name, "the name of a macro", error);
        NSString *value = name ? fm_string(macros[i].value, "the value of a macro", error) : nil;
        if (!value) return FM_INVALID_ARGUMENT;
        [dictionary setObject:value forKey:name];
    }
    options.preprocessorMacros = dictionary;
    return FM_OK;
}

static fm_status compile(fm_library *library, fm_device *device, NSString *source,
                         const fm_compile_options *options, fm_error *error) {
    MTLCompileOptions *metal = [[[MTLCompileOptions alloc] init] autorelease];
    fm_set_math_mode(metal, options->math_mode);
    if (options->language_version)
        metal.languageVersion = (MTLLanguageVersion)options->language_version;
    fm_status status = set_macros(metal, options->macros, options->macro_count, error);
    if (status != FM_OK) return status;
    NSError *cause = nil; /* warnings come here, too: only a nil library is a failure */
    library->metal = [device->metal newLibraryWithSource:source options:metal error:&cause];
    if (library->metal) return FM_OK;
    fm_status kind =
        cause.code == MTLLibraryErrorUnsupported ? FM_UNSUPPORTED : FM_COMPILATION_FAILED;
    return fm_fail_with(error, kind, cause, "Metal returned no library");
}

/* Hands `library` over, or frees it. */
static fm_status finish(fm_library *library, fm_status status, fm_library **out) {
    if (status == FM_OK)
        *out = library;
    else
        fm_library_release(library);
    return status;
}

fm_status fm_library_compile(fm_device *device, const char *source, size_t length,
                             const fm_compile_options *options, fm_library **out, fm_error *error) {
    fm_status status = check_language_version(device, options->language_version, error);
    if (status != FM_OK) return status;
    fm_library *library = fm_allocate(sizeof *library, error);
    if (!library) return FM_ALLOCATION_FAILED;
    @autoreleasepool {
        NSString *text = [[[NSString alloc] initWithBytes:source
                                                   length:length
                                                 encoding:NSUTF8StringEncoding] autorelease];
        if (text)
            status = compile(library, device, text, options, error);
        else
            status = fm_fail(error, FM_INVALID_ARGUMENT, "the source is not valid UTF-8");
    }
    return finish(library, status, out);
}

fm_status fm_library_open(fm_device *device, const char *path, fm_library **out, fm_error *error) {
    fm_status status = FM_OK;
    fm_library *library = fm_allocate(sizeof *library, error);
    if (!library) return FM_ALLOCATION_FAILED;
    @autoreleasepool {
        NSError *cause = nil;
        NSString *file = fm_string(path, "the path of the library", error);
        if (file)
            library->metal = [device->metal newLibraryWithURL:[NSURL fileURLWithPath:file]
                                                        error:&cause];
        if (!file)
            status = FM_INVALID_ARGUMENT;
        else if (!library->metal)
            status = fm_fail_with(error, FM_IO_FAILED, cause, "Metal returned no library");
    }
    return finish(library, status, out);
}

char *fm_library_copy_names(const fm_library *library) {
    size_t length = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    @autoreleasepool {
        NSArray *names = library->metal.functionNames;
        for (NSUInteger i = 0; i < names.count; i++)
            fprintf(out, "%s\n", [(NSString *)[names objectAtIndex:i] UTF8String]);
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

void fm_library_release(fm_library *library) {
    if (!library) return;
    @autoreleasepool {
        [library->metal release];
    }
    free(library);
}
