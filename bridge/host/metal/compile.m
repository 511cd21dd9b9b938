#include "compile.h"
#include <stdlib.h>
#include "HMConstants.h"
#include "errors.h"

static MTLLibraryError error_code(msl_failure_kind kind) {
    switch (kind) {
    case MSL_FAILURE_SOURCE:
    case MSL_FAILURE_CONSTANT:
        return MTLLibraryErrorCompileFailure;
    case MSL_FAILURE_COMPILER:
        return MTLLibraryErrorInternal;
    case MSL_FAILURE_UNSUPPORTED:
        return MTLLibraryErrorUnsupported;
    case MSL_FAILURE_IO:
        return MTLLibraryErrorFileNotFound;
    }
    return MTLLibraryErrorInternal;
}

/* Passes `library` on, ready to run, or says why it is NULL. */
static msl_library *report(msl_library *library, msl_failure *failure, NSError **error) {
    if (library)
        msl_library_bind(library, &simt_runtime);
    else
        HMStoreError(error, MTLLibraryErrorDomain, (NSInteger)error_code(failure->kind),
                     failure->message ? failure->message : "no memory for the compiler");
    free(failure->message);
    return library;
}

/* Borrowed texts, in an array that the caller frees. */
static msl_macro *macros_of(NSDictionary *dictionary) {
    NSArray *names = dictionary.allKeys;
    msl_macro *macros = calloc(names.count + 1, sizeof *macros);
    if (!macros) return NULL;
    for (NSUInteger i = 0; i < names.count; i++) {
        NSString *name = [names objectAtIndex:i];
        macros[i].name = name.UTF8String;
        macros[i].value = [(NSString *)[dictionary objectForKey:name] UTF8String];
    }
    return macros;
}

static msl_constant *constants_of(MTLFunctionConstantValues *values, size_t *count) {
    const HMConstant *held = HMConstantsOf(values, count);
    msl_constant *constants = calloc(*count + 1, sizeof *constants);
    if (!constants) return NULL;
    for (size_t i = 0; i < *count; i++)
        constants[i] = (msl_constant){.index = held[i].index, .text = held[i].text};
    return constants;
}

typedef msl_library *(*translate)(const msl_request *request, msl_failure *failure);

/* Apple documents that a function needs the value of each constant that it reads, but ggml leaves
 * one unset whose value does not matter, and runs on Macs. So some values are enough here, and the
 * others are zero, with the failure as a warning. NULL where that fails, too. */
static msl_library *with_zeros(translate work, msl_request request, const msl_failure *failure,
                               NSError **error) {
    if (failure->kind != MSL_FAILURE_CONSTANT || request.constant_count == 0) return NULL;
    request.zero_constants = true;
    msl_failure ignored = {0};
    msl_library *library = work(&request, &ignored);
    free(ignored.message);
    if (library)
        HMStoreError(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileWarning, failure->message);
    return library;
}

static msl_library *translate_with(translate work, HMDevice *device, NSString *source,
                                   MTLCompileOptions *options, NSString *function,
                                   MTLFunctionConstantValues *values, NSError **error) {
    MTLLanguageVersion newest = [device newestLanguageVersion];
    MTLLanguageVersion version =
        options.languageVersion < newest ? options.languageVersion : newest;
    size_t constant_count = 0;
    msl_macro *macros = macros_of(options.preprocessorMacros);
    msl_constant *constants = constants_of(values, &constant_count);
    msl_failure failure = {0};
    msl_library *library = NULL;
    if (macros && constants) {
        const msl_request request = {
            .source = source.UTF8String,
            .length = [source lengthOfBytesUsingEncoding:NSUTF8StringEncoding],
            .language_version = (uint32_t)version,
            .math_mode = (msl_math_mode)options.mathMode,
            .macros = macros,
            .macro_count = options.preprocessorMacros.count,
            .constants = constants,
            .constant_count = constant_count,
            .checks = device->_options.checks != HMChecksNone,
            .tensor_api = version >= MTLLanguageVersion4_0,
            .function = function.UTF8String,
        };
        library = work(&request, &failure);
        if (!library) library = with_zeros(work, request, &failure, error);
    }
    free(macros);
    free(constants);
    return report(library, &failure, error);
}

msl_library *HMCheck(HMDevice *device, NSString *source, MTLCompileOptions *options,
                     NSError **error) {
    return translate_with(msl_check, device, source, options, nil, nil, error);
}

msl_library *HMCompile(HMDevice *device, NSString *source, MTLCompileOptions *options,
                       NSString *function, MTLFunctionConstantValues *values, NSError **error) {
    return translate_with(msl_compile, device, source, options, function, values, error);
}

msl_library *HMOpen(NSString *path, NSError **error) {
    msl_failure failure = {0};
    return report(msl_open(path.UTF8String, &failure), &failure, error);
}
