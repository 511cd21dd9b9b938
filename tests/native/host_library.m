#include "host_test.h"
#include <string.h>

static id<MTLLibrary> compile(NSString *source, MTLCompileOptions *options) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:options error:&error];
    CHECK(library && !error);
    return [library autorelease];
}

static void options_reach_the_compiler(void) {
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    id keys[] = {@"ROWS", @"COLUMNS"}, values[] = {@"8", @"(2 * 2)"};
    options.preprocessorMacros = [NSDictionary dictionaryWithObjects:values forKeys:keys count:2];
    options.languageVersion = MTLLanguageVersion3_1;
    options.mathMode = MTLMathModeRelaxed;
    compile(@"add_one", options);
    const fake_request *request = fake_last_request();
    CHECK(strcmp(request->macros, "ROWS=8 COLUMNS=(2 * 2) ") == 0);
    CHECK(request->language_version == (3 << 16 | 1) && !request->tensor_api);
    CHECK(request->math_mode == MSL_MATH_RELAXED);
}

static void defaults_are_the_newest_language_and_fast_math(void) {
    compile(@"add_one", nil);
    const fake_request *request = fake_last_request();
    CHECK(request->language_version == 4 << 16 && request->tensor_api);
    CHECK(request->math_mode == MSL_MATH_FAST && !request->macros[0]);
}

static void fast_math_is_the_older_name_of_the_math_mode(void) {
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    CHECK(options.fastMathEnabled);
    options.fastMathEnabled = NO;
    CHECK(options.mathMode == MTLMathModeSafe);
    compile(@"add_one", options);
    CHECK(fake_last_request()->math_mode == MSL_MATH_SAFE);
}

static void changing_options_later_changes_no_library(void) {
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    options.mathMode = MTLMathModeSafe;
    id<MTLLibrary> library = compile(@"add_one function_constant", options);
    options.mathMode = MTLMathModeFast;
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    int32_t rows = 4;
    [constants setConstantValue:&rows type:MTLDataTypeInt atIndex:0];
    [[library newFunctionWithName:@"add_one" constantValues:constants error:NULL] release];
    CHECK(fake_last_request()->math_mode == MSL_MATH_SAFE);
}

static void a_source_that_does_not_compile_gives_the_compilers_text(void) {
    NSError *error = nil;
    CHECK(![device newLibraryWithSource:@"#error \"no\"" options:nil error:&error]);
    CHECK([error.domain isEqual:MTLLibraryErrorDomain]);
    CHECK(error.code == MTLLibraryErrorCompileFailure);
    CHECK(host_contains(error.localizedDescription, "program_source:1:2: error: \"no\""));
    CHECK(![device newLibraryWithSource:@"#error" options:nil error:NULL]);
}

static void a_library_knows_its_functions(void) {
    id<MTLLibrary> library = compile(@"add_one divergent", nil);
    NSArray *names = library.functionNames;
    CHECK(names.count == 2 && [[names objectAtIndex:0] isEqual:@"add_one"]);
    id<MTLFunction> function = [[library newFunctionWithName:@"divergent"] autorelease];
    CHECK([function.name isEqual:@"divergent"] && function.device == device);
    CHECK(function.functionType == MTLFunctionTypeKernel);
}

static void a_function_that_is_not_there_is_an_error(void) {
    id<MTLLibrary> library = compile(@"add_one", nil);
    MTLFunctionConstantValues *none = [[MTLFunctionConstantValues new] autorelease];
    NSError *error = nil;
    CHECK(![library newFunctionWithName:@"divergent"]);
    CHECK(![library newFunctionWithName:@"divergent" constantValues:none error:&error]);
    CHECK(error.code == MTLLibraryErrorFunctionNotFound);
    CHECK(host_contains(error.localizedDescription, "divergent"));
}

static void constants_are_compiled_in_whatever_their_order(void) {
    id<MTLLibrary> library = compile(@"add_one function_constant", nil);
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    const bool masked = true;
    const int32_t before = 1, rows = -3;
    const uint32_t columns = UINT32_MAX;
    const float scale = 0.1f;
    [constants setConstantValue:&scale type:MTLDataTypeFloat atIndex:9];
    [constants setConstantValue:&before type:MTLDataTypeInt atIndex:2];
    [constants setConstantValue:&columns type:MTLDataTypeUInt atIndex:5];
    [constants setConstantValue:&masked type:MTLDataTypeBool atIndex:0];
    [constants setConstantValue:&rows type:MTLDataTypeInt atIndex:2];
    MTLFunctionConstantValues *copy = [[constants copy] autorelease];
    [constants reset];
    uint64_t compilations = fake_last_request()->compilations;
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:@"add_one"
                                             constantValues:copy
                                                      error:&error];
    CHECK(function && !error);
    [function release];
    const fake_request *request = fake_last_request();
    CHECK(strcmp(request->constants, "0=true 2=-3 5=4294967295u 9=0x1.99999ap-4f ") == 0);
    CHECK(request->compilations == compilations + 1);
    [[library newFunctionWithName:@"add_one" constantValues:constants error:&error] release];
    CHECK(fake_last_request()->compilations == compilations + 2);
    CHECK(strcmp(fake_last_request()->constants, "") == 0);
}

static void vectors_and_long_numbers_are_constants(void) {
    id<MTLLibrary> library = compile(@"add_one function_constant", nil);
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    const int64_t least[2] = {INT64_MIN, -1};
    const uint64_t largest = UINT64_MAX;
    const bool flags[4] = {true, false, true, true};
    const _Float16 halves[2] = {(_Float16)0.5f, (_Float16)-2.0f};
    [constants setConstantValue:least type:MTLDataTypeLong2 atIndex:0];
    [constants setConstantValue:&largest type:MTLDataTypeULong atIndex:1];
    [constants setConstantValue:flags type:MTLDataTypeBool3 atIndex:2];
    [constants setConstantValue:halves type:MTLDataTypeHalf2 atIndex:3];
    [[library newFunctionWithName:@"add_one" constantValues:constants error:NULL] release];
    CHECK(strcmp(fake_last_request()->constants,
                 "0=-9223372036854775807ll-1, -1ll 1=18446744073709551615ull "
                 "2=true, false, true 3=0x1p-1f, -0x1p+1f ") == 0);
}

static void a_function_tells_its_constants_and_compiles_with_its_pipeline(void) {
    id<MTLLibrary> library = compile(@"add_one function_constant", nil);
    const uint64_t compilations = fake_last_request()->compilations;
    id<MTLFunction> function = [[library newFunctionWithName:@"add_one"] autorelease];
    NSDictionary *constants = function.functionConstantsDictionary;
    CHECK(constants.count == 3 && fake_last_request()->compilations == compilations);
    MTLFunctionConstant *tile = [constants objectForKey:@"tile"];
    CHECK([tile.name isEqual:@"tile"] && tile.index == 5 && tile.type == MTLDataTypeUShort3);
    CHECK([(MTLFunctionConstant *)[constants objectForKey:@"masked"] type] == MTLDataTypeBool);
    CHECK([(MTLFunctionConstant *)[constants objectForKey:@"odd"] type] == MTLDataTypeNone);
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function
                                                                                 error:&error];
    CHECK(pipeline && !error && fake_last_request()->compilations == compilations + 1);
    [pipeline release];
}

static void functions_that_the_library_has_compiled_are_not_compiled_again(void) {
    id<MTLLibrary> library = compile(@"add_one", nil);
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    const bool masked = true;
    [constants setConstantValue:&masked type:MTLDataTypeBool atIndex:0];
    uint64_t compilations = fake_last_request()->compilations;
    [[library newFunctionWithName:@"add_one" constantValues:constants error:NULL] release];
    [[library newFunctionWithName:@"add_one"] release];
    CHECK(fake_last_request()->compilations == compilations);
}

static void constants_of_other_types_are_misuse(void) {
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    [constants setConstantValue:"" type:MTLDataTypeNone atIndex:0];
    CHECK(host_misuses(1));
}

static void constants_without_a_value_are_zero_beside_others(void) {
    id<MTLLibrary> library = compile(@"add_one function_constant two_constants", nil);
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    NSError *error = nil;
    CHECK(![library newFunctionWithName:@"add_one" constantValues:constants error:&error]);
    CHECK(error.code == MTLLibraryErrorCompileFailure);
    const bool on = true;
    [constants setConstantValue:&on type:MTLDataTypeBool atIndex:0];
    error = nil;
    id<MTLFunction> function = [library newFunctionWithName:@"add_one"
                                             constantValues:constants
                                                      error:&error];
    CHECK(function && error.code == MTLLibraryErrorCompileWarning);
    CHECK(host_contains(error.localizedDescription, "needs function constants"));
    [function release];
    [constants setConstantValue:&on type:MTLDataTypeBool atIndex:1];
    error = nil;
    [[library newFunctionWithName:@"add_one" constantValues:constants error:&error] release];
    CHECK(!error);
}

static void libraries_are_opened_from_files(void) {
    NSError *error = nil;
    NSURL *url = [NSURL fileURLWithPath:@"/shaders/kernels.hostlib"];
    id<MTLLibrary> library = [[device newLibraryWithURL:url error:&error] autorelease];
    CHECK(library && library.functionNames.count == 6);
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    [[library newFunctionWithName:@"add_one" constantValues:constants error:&error] release];
    CHECK(!error);
    const bool masked = false;
    [constants setConstantValue:&masked type:MTLDataTypeBool atIndex:0];
    CHECK(![library newFunctionWithName:@"add_one" constantValues:constants error:&error]);
    CHECK(error.code == MTLLibraryErrorUnsupported);
    url = [NSURL fileURLWithPath:@"/missing.hostlib"];
    CHECK(![device newLibraryWithURL:url error:&error]);
    CHECK(error.code == MTLLibraryErrorFileNotFound);
    CHECK(host_contains(error.localizedDescription, "no such library"));
}

static void opened_libraries_have_the_constants_that_they_were_compiled_with(void) {
    NSError *error = nil;
    NSURL *url = [NSURL fileURLWithPath:@"/shaders/kernels.constants.hostlib"];
    id<MTLLibrary> library = [[device newLibraryWithURL:url error:&error] autorelease];
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    const bool masked = true;
    const int32_t rows = 32, other_rows = 3;
    [constants setConstantValue:&rows type:MTLDataTypeInt atIndex:400];
    CHECK(![library newFunctionWithName:@"add_one" constantValues:constants error:&error]);
    [constants setConstantValue:&masked type:MTLDataTypeBool atIndex:2];
    uint64_t compilations = fake_last_request()->compilations;
    id<MTLFunction> function = [library newFunctionWithName:@"add_one"
                                             constantValues:constants
                                                      error:NULL];
    CHECK(function && fake_last_request()->compilations == compilations);
    [function release];
    [constants setConstantValue:&other_rows type:MTLDataTypeInt atIndex:400];
    CHECK(![library newFunctionWithName:@"add_one" constantValues:constants error:&error]);
    [constants setConstantValue:&rows type:MTLDataTypeInt atIndex:400];
    [constants setConstantValue:&rows type:MTLDataTypeInt atIndex:401];
    CHECK(![library newFunctionWithName:@"add_one" constantValues:constants error:&error]);
    CHECK(error.code == MTLLibraryErrorUnsupported);
    CHECK(host_contains(error.localizedDescription, "compile it from its source"));
}

static void armed_faults_refuse_libraries_and_functions(void) {
    NSError *error = nil;
    id<MTLLibrary> library = compile(@"add_one", nil);
    MTLFunctionConstantValues *none = [[MTLFunctionConstantValues new] autorelease];
    control->faults("library:count=2;function:count=2");
    CHECK(![device newLibraryWithSource:@"add_one" options:nil error:&error]);
    CHECK(error.code == MTLLibraryErrorCompileFailure);
    CHECK(![device newLibraryWithURL:[NSURL fileURLWithPath:@"/a"] error:NULL]);
    CHECK(![library newFunctionWithName:@"add_one"]);
    CHECK(![library newFunctionWithName:@"add_one" constantValues:none error:&error]);
    CHECK(error.code == MTLLibraryErrorFunctionNotFound);
}

static void compiled_code_lives_as_long_as_its_users(void) {
    long before = fake_last_request()->live_libraries;
    id<MTLComputePipelineState> pipeline;
    @autoreleasepool {
        pipeline = [host_pipeline(@"add_one") retain];
    }
    CHECK(fake_last_request()->live_libraries == before + 1);
    [pipeline release];
    CHECK(fake_last_request()->live_libraries == before);
}

int main(void) {
    const host_case cases[] = {
        {"options reach the compiler", options_reach_the_compiler},
        {"defaults are the newest language and fast math",
         defaults_are_the_newest_language_and_fast_math},
        {"fast math is the older name of the math mode",
         fast_math_is_the_older_name_of_the_math_mode},
        {"changing options later changes no library", changing_options_later_changes_no_library},
        {"a source that does not compile gives the compiler's text",
         a_source_that_does_not_compile_gives_the_compilers_text},
        {"a library knows its functions", a_library_knows_its_functions},
        {"a function that is not there is an error", a_function_that_is_not_there_is_an_error},
        {"constants are compiled in, whatever their order",
         constants_are_compiled_in_whatever_their_order},
        {"functions that the library has compiled are not compiled again",
         functions_that_the_library_has_compiled_are_not_compiled_again},
        {"vectors and long numbers are constants", vectors_and_long_numbers_are_constants},
        {"a function tells its constants and compiles with its pipeline",
         a_function_tells_its_constants_and_compiles_with_its_pipeline},
        {"constants of other types are misuse", constants_of_other_types_are_misuse},
        {"constants without a value are zero beside others",
         constants_without_a_value_are_zero_beside_others},
        {"libraries are opened from files", libraries_are_opened_from_files},
        {"opened libraries have the constants that they were compiled with",
         opened_libraries_have_the_constants_that_they_were_compiled_with},
        {"armed faults refuse libraries and functions",
         armed_faults_refuse_libraries_and_functions},
        {"compiled code lives as long as its users", compiled_code_lives_as_long_as_its_users},
    };
    return host_run(cases, LENGTH(cases));
}
