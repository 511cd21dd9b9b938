#include "compiler.h"

#include "address_spaces.h"
#include "argument_spaces.h"
#include "cpu_level.h"
#include "diagnostics.h"
#include "elf_symbols.h"
#include "failure.h"
#include "function_constants.h"
#include "gaps.h"
#include "glue.h"
#include "interruption.h"
#include "intrinsics.h"
#include "linker.h"
#include "listing.h"
#include "process.h"
#include "recursion.h"
#include "rewrite.h"
#include "sha256.h"
#include "spaced_text.h"
#include "text_error.h"

#include <algorithm>
#include <future>

namespace msl {
namespace {

constexpr size_t LARGEST_BLOCK = size_t(64) << 20;  // bytes; a threadgroup may have 32 KiB
const std::string TENSOR_STUBS = "/stub_tensor", SHARED_STUBS = "/stub/simd/";
const std::string VISIBLE_FILES = "/visible_files.yaml";

// A text of so few kernels is compiled at once: reading it is most of the work.
constexpr size_t FEW_KERNELS = 4;

using Arguments = std::vector<std::string>;

void append(Arguments &to, std::initializer_list<const char *> from) {
    to.insert(to.end(), from.begin(), from.end());
}

// What both stages are told. No configuration file of the system has a say.
Arguments common_arguments(const Compilation &compilation) {
    Arguments arguments = {compilation.toolchain.compiler, "--no-default-config", "-x", "c++",
                           "-std=c++17"};
    for (const char *option : DIAGNOSTIC_OPTIONS)
        arguments.push_back(option);
    return arguments;
}

// Without the mark of UTF-8, which compilers take only where a file starts.
std::string source_text(const msl_request &request) {
    static const std::string_view mark = "\xef\xbb\xbf";
    const std::string_view text(request.source, request.length);
    return std::string(text.substr(text.substr(0, mark.size()) == mark ? mark.size() : 0));
}

// 3.2 is 320: what __METAL_VERSION__ says.
std::string version_macro(uint32_t version) {
    return std::to_string((version >> 16) * 100 + (version & 0xffff) * 10);
}

// Of a compiler that says nothing, as when it crashes, at least that it failed.
[[noreturn]] void refuse(const Finished &finished, const DiagnosedText &text) {
    const std::string said = clean_diagnostics(finished.errors, text);
    throw Failure{MSL_FAILURE_SOURCE, !said.empty()
                                          ? said
                                          : std::string(SOURCE_NAME) +
                                                ": error: the compiler failed with status " +
                                                std::to_string(finished.status) + "\n"};
}

// As clang would print it.
std::string printed(const Position &at, const std::string &problem) {
    return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
           problem + "\n";
}

[[noreturn]] void refuse(const TextError &error, const DiagnosedText &text) {
    std::string said = printed(error.position, "error: " + error.message);
    if (error.note) said += printed(error.note->position, "note: " + error.note->message);
    throw Failure{error.kind, clean_diagnostics(said, text)};
}

// Stage 1: macros and conditions, behind empty headers, so that MSL's keywords stay identifiers.
std::string preprocess(const Compilation &compilation) {
    const msl_request &request = compilation.request;
    Arguments arguments = common_arguments(compilation);
    append(arguments, {"-E", "-nostdinc", "-undef", "-D__METAL__=1", "-D__HAVE_BFLOAT__=1"});
    arguments.push_back("-D__METAL_VERSION__=" + version_macro(request.language_version));
    for (size_t i = 0; i < request.macro_count; i++) {
        const msl_macro &macro = request.macros[i];
        arguments.push_back("-D" + std::string(macro.name) + "=" +
                            (macro.value ? macro.value : ""));
    }
    // The user's text stands alone: a file beside it would be missing in the cache's key, and on
    // Metal. Clang sees none but these, whether to include, to embed or to ask for.
    append(arguments, {"-ivfsoverlay", (compilation.headers + VISIBLE_FILES).c_str()});
    arguments.push_back("-I" + compilation.headers + "/stub");
    // Without the tensor API its headers are not there, and the error about that is clang's own.
    if (request.tensor_api && request.language_version >= 4u << 16) {
        arguments.push_back("-I" + compilation.headers + TENSOR_STUBS);
    }
    arguments.push_back("-");
    const std::string source = source_text(request);
    const std::string first_line = "#line 1 \"" + std::string(SOURCE_NAME) + "\"\n";
    const Finished finished = run_program(arguments, first_line + source);
    if (finished.status != 0) refuse(finished, {source, source, {}});
    return finished.output;
}

// Whether the text includes a header: the first stage marks where each begins.
bool includes(const std::string &preprocessed, const std::string &stub) {
    return preprocessed.find(stub) != std::string::npos;
}

std::string tensor_headers(const std::string &preprocessed) {
    std::string text;
    for (const std::string name : {"metal_tensor", "metal_cooperative_tensor",
                                   "MetalPerformancePrimitives/MetalPerformancePrimitives.h"}) {
        if (includes(preprocessed, TENSOR_STUBS + "/" + name + "\""))
            text += "#include \"" + name + "\"\n";
    }
    return text;
}

// The declarations that only texts which include them may see.
std::string optional_headers(const Rewritten &rewritten) {
    std::string text = tensor_headers(rewritten.text);
    if (includes(rewritten.text, SHARED_STUBS)) text += "#include \"msl_simd.h\"\n";
    if (rewritten.uses_intrinsics) text += "#include \"" + std::string(INTRINSICS_HEADER) + "\"\n";
    return text;
}

// Without finite-math-only: kernels rely on -INFINITY.
void append_math(Arguments &arguments, msl_math_mode mode) {
    append(arguments,
           {"-fno-math-errno", "-fno-trapping-math", "-Xclang", "-ffloat16-excess-precision=none"});
    if (mode == MSL_MATH_SAFE) {
        append(arguments, {"-ffp-contract=off"});
    } else {
        // No estimates of roots: what refines them makes NaN of infinity for 0, and of 0 for it.
        append(arguments, {"-ffp-contract=fast", "-fassociative-math", "-freciprocal-math",
                           "-fno-signed-zeros", "-mrecip=none"});
    }
}

Rewritten rewrite_for(const Compilation &compilation, const std::string &preprocessed,
                      const char *only = nullptr) {
    try {
        return rewrite(preprocessed, only);
    } catch (const TextError &error) {
        const std::string source = source_text(compilation.request);
        refuse(error, {source, preprocessed, {}});
    }
}

// What goes wrong in a function of the library goes wrong where the user calls it.
const std::string LINES_OF_CALLER =
    "#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))\n";
const std::string LINES_OF_THEIR_OWN = "#pragma clang attribute pop\n";

// What stands before the user's text.
std::string prelude(const msl_request &request, const Rewritten &rewritten) {
    return "#line 1 \"<prelude>\"\n" + LINES_OF_CALLER + rewritten.swizzles +
           "#include \"metal_stdlib\"\n" + optional_headers(rewritten) +
           "#include \"msl_keywords.h\"\n" + function_constant_values(request) +
           LINES_OF_THEIR_OWN + "#line 1 \"" + std::string(SOURCE_NAME) + "\"\n";
}

// `kernels`: those that become callable.
std::string compiled_text(const Compilation &compilation, const Rewritten &rewritten,
                          const std::vector<Kernel> &kernels,
                          const std::vector<DeclaredConstant> &declared = {}) {
    const msl_request &request = compilation.request;
    const std::string source = source_text(request);
    const std::string digest = hexadecimal(Sha256::of(source));
    try {
        return prelude(request, rewritten) + rewritten.text +
               glue(kernels, {digest, describe_function_constants(request), declared});
    } catch (const TextError &error) {
        refuse(error, {source, rewritten.text, {}});
    }
}

// Each load and store calls __asan_load4_noabort and its kind, which are ours: msl_checks.h. None
// is left out because another one covers it for the sanitizer, which looks for no races; none is
// made wider than the source has it.
void append_checks(Arguments &arguments) {
    append(arguments, {"-D__MSL_MEMORY_CHECKS", "-fsanitize=kernel-address"});
    for (const char *option :
         {"-asan-instrumentation-with-call-threshold=0", "-asan-stack=0", "-asan-globals=0",
          "-asan-opt-same-temp=0", "-asan-opt-globals=0", "-asan-opt-stack=1",
          "-asan-kernel-mem-intrinsic-prefix=1", "-enable-interleaved-mem-accesses=0"})
        append(arguments, {"-mllvm", option});
    for (const char *option : GAP_OPTIONS)
        arguments.push_back(option);
}

// Of stage 2.
Arguments compile_arguments(const Compilation &compilation, const Rewritten &rewritten) {
    Arguments arguments = common_arguments(compilation);
    append(arguments,
           {"-O3", "-fPIC", "-fvisibility=hidden", "-fdeclspec", "-w",
            // Threadgroup memory is raw bytes that kernels look at as one type, then as another.
            "-fno-strict-aliasing", "-fwrapv",
            // Vectors may lie at odd addresses: see msl_vector.h.
            "-fmax-type-align=8", "-nostdlibinc",
            // A frame larger than a page must not reach past the guard of its stack.
            "-fstack-clash-protection", "-fno-exceptions",
            // As on a GPU all but the largest functions become part of their kernel, where the
            // optimiser knows the arrays that they are given: see append_bounds.
            "-mllvm", "-inline-threshold=10000"});
    append_math(arguments, compilation.request.math_mode);
    if (compilation.request.checks) append_checks(arguments);
    if (compilation.request.zero_constants) arguments.push_back("-D__MSL_ZERO_CONSTANTS");
    // The descriptor of a matmul2d is an object as a template argument.
    if (!tensor_headers(rewritten.text).empty()) arguments.push_back("-std=c++20");
    for (const std::string &option : cpu_options(compilation.cpu_level)) {
        arguments.push_back(option);
    }
    append(arguments, {"-isystem", compilation.headers.c_str()});
    return arguments;
}

// Of the text with the glue for `kernels`: whether clang has no objection, and what it prints of
// the function constants.
Finished try_syntax(const Compilation &compilation, const Rewritten &rewritten,
                    const std::string &text) {
    Arguments arguments = compile_arguments(compilation, rewritten);
    append(arguments, {"-fsyntax-only", "-D__MSL_CHECK"});
    if (!rewritten.constants.empty())
        arguments.insert(arguments.end(), DECLARED_OPTIONS.begin(), DECLARED_OPTIONS.end());
    arguments.push_back("-");
    return run_program(arguments, text);
}

bool has_place(const std::string &said) {
    const std::string unplaced = std::string(SOURCE_NAME) + ": ";
    return !said.empty() && said.compare(0, unplaced.size(), unplaced) != 0;
}

// A text that ends too early goes on with ours, where clang stumbles: then it has to read the text
// alone, and names its end.
[[noreturn]] void refuse(const Compilation &compilation, const Rewritten &rewritten,
                         const Finished &finished, const DiagnosedText &diagnosed) {
    if (!has_place(clean_diagnostics(finished.errors, diagnosed))) {
        std::string text = prelude(compilation.request, rewritten) + rewritten.text;
        text.resize(text.find_last_not_of(" \t\r\n") + 1);
        const Finished alone = try_syntax(compilation, rewritten, text);
        const std::string said = clean_diagnostics(alone.errors, {diagnosed.source, text, {}});
        if (has_place(said)) throw Failure{MSL_FAILURE_SOURCE, said};
    }
    refuse(finished, diagnosed);
}

// The instances among `kernels`, and all kernels that are none: their arguments are said with the
// text.
std::vector<Kernel> with_definitions(const std::vector<Kernel> &kernels,
                                     const std::vector<Kernel> &all) {
    std::vector<Kernel> result;
    std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(result), is_instance);
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [](const Kernel &kernel) { return !is_instance(kernel); });
    return result;
}

// C++ has one address space, so that the compiler of stage 2 sees no pointer that changes its own.
// Clang does in a text where they are an extension of it.
void check_address_spaces(const Compilation &compilation, const Rewritten &rewritten,
                          const std::vector<Kernel> &kernels) {
    const std::vector<Kernel> checked = with_definitions(kernels, rewritten.kernels);
    Arguments arguments = common_arguments(compilation);
    if (!tensor_headers(rewritten.text).empty()) arguments.push_back("-std=c++20");
    for (const char *option : SPACE_OPTIONS)
        arguments.push_back(option);
    append(arguments, {"-fdeclspec", "-nostdlibinc", "-isystem", compilation.headers.c_str(), "-"});
    const std::string text =
        spaced_text(rewritten.spaced, checked) + argument_checks(checked) + space_probe();
    const Finished finished = run_program(arguments, text);
    if (!answers_probe(finished.errors)) {
        const std::string said = finished.errors.substr(0, finished.errors.find('\n'));
        throw Failure{MSL_FAILURE_IO, "cannot check address spaces: " + arguments[0] +
                                          " failed with status " + std::to_string(finished.status) +
                                          (said.empty() ? "" : ": " + said) + "\n"};
    }
    std::optional<TextError> error = find_unspaced_argument(finished.errors, checked);
    if (!error) error = find_changed_space(finished.errors, text);
    if (error) refuse(*error, {source_text(compilation.request), text, {}});
}

void check_recursion(const Compilation &compilation, const Rewritten &rewritten,
                     const std::vector<Kernel> &kernels) {
    const std::string text = compiled_text(compilation, rewritten, kernels);
    Arguments arguments = compile_arguments(compilation, rewritten);
    for (const char *option : RECURSION_OPTIONS)
        arguments.push_back(option);
    arguments.push_back("-");
    const std::string assembly = run_program(arguments, text).output;
    const std::optional<TextError> error = find_recursion(assembly, text);
    if (error) refuse(*error, {source_text(compilation.request), text, {}});
}

// What Metal refuses and C++ does not, of a text that C++ takes. Meanwhile, since it takes the time
// of another compiler's start.
std::future<void> begin_check(const Compilation &compilation, const Rewritten &rewritten,
                              const std::vector<Kernel> &kernels) {
    Interruption *const interruption = Interruption::present();
    return std::async(std::launch::async, [&, interruption] {
        if (interruption) interruption->share();
        check_address_spaces(compilation, rewritten, kernels);
        if (rewritten.misplaced) {
            refuse(*rewritten.misplaced,
                   {source_text(compilation.request), rewritten.preprocessed, {}});
        }
        if (rewritten.may_recurse) check_recursion(compilation, rewritten, kernels);
    });
}

void finish(std::future<void> &rules) {
    if (Interruption *interruption = Interruption::present()) interruption->wait_for(rules);
    rules.get();
}

[[noreturn]] void refuse_without(const std::vector<FunctionConstant> &missing,
                                 const msl_request &request) {
    std::string names;
    for (const FunctionConstant &constant : missing) {
        names += (names.empty() ? "'" : ", '") + constant.name + "' (index " + constant.index + ")";
    }
    const std::string subject =
        request.function ? "function '" + std::string(request.function) + "'" : "the text";
    throw Failure{MSL_FAILURE_CONSTANT,
                  subject + " needs function constants that were given no value: " + names + "\n"};
}

// The lines of instructions, and no more, as line_table reads them: those that the optimiser has
// moved far have none, code without lines does not lie behind code that has some, and no caller's
// frame has gone when a function faults.
constexpr std::initializer_list<const char *> LINE_TABLE_OPTIONS = {
    "-gdwarf-4",           "-gline-directives-only",     "-mllvm", "-use-unknown-locations=Enable",
    "-ffunction-sections", "-fno-optimize-sibling-calls"};

// Of arrays that have stayed in memory when the optimiser has done most of its work, and of indices
// that it cannot tell to lie within them. The trap that follows has a number, unlike others, and
// each access has one of its own, so that there is one line to name. Calls of the C library are not
// looked at: loops are to stay loops.
void append_bounds(Arguments &arguments, const Toolchain &toolchain) {
    append(arguments, {"-fsanitize=local-bounds", "-fsanitize-trap=local-bounds", "-mllvm",
                       "-disable-loop-idiom-memset", "-mllvm", "-disable-loop-idiom-memcpy"});
    if (toolchain.major() < 20) {
        append(arguments, {"-mllvm", "-bounds-checking-unique-traps"});
    } else {
        append(arguments, {"-fno-sanitize-merge=local-bounds"});
    }
}

// Stage 2: an object file.
std::string compile_kernels(const Compilation &compilation, const Rewritten &rewritten,
                            const std::vector<Kernel> &kernels,
                            const std::vector<DeclaredConstant> &declared) {
    const std::string text = compiled_text(compilation, rewritten, kernels, declared);
    Arguments arguments = compile_arguments(compilation, rewritten);
    append(arguments, LINE_TABLE_OPTIONS);
    append_bounds(arguments, compilation.toolchain);
    append(arguments, {"-c", "-o", "-", "-"});
    const Finished finished = run_program(arguments, text);
    if (finished.status == 0) return finished.output;
    // Array bounds and template arguments: nothing but the missing values may be wrong with them.
    const std::vector<FunctionConstant> blamed =
        constants_in_error(rewritten.constants, finished.errors);
    if (!blamed.empty()) {
        const Finished syntax = try_syntax(compilation, rewritten, text);
        const std::vector<FunctionConstant> missing =
            constants_without_value(blamed, declared_constants(syntax.output), compilation.request);
        if (syntax.status == 0 && !missing.empty()) refuse_without(missing, compilation.request);
    }
    const std::string source = source_text(compilation.request);
    refuse(compilation, rewritten, finished, {source, text, glue_positions(kernels)});
}

// Each thread that runs any of the kernels gets all their threadgroup variables; the C library ends
// the process when there is no memory for them.
void refuse_giant_block(const std::string &library) {
    const size_t bytes = ElfSymbols(library).thread_local_block();
    if (bytes <= LARGEST_BLOCK) return;
    throw Failure{MSL_FAILURE_SOURCE,
                  std::string(SOURCE_NAME) +
                      ": error: the threadgroup variables of all kernels take " +
                      std::to_string(bytes) + " bytes together\n"};
}

std::string build(const Compilation &compilation, const Rewritten &rewritten,
                  const std::vector<Kernel> &kernels, bool checked,
                  const std::vector<DeclaredConstant> &declared = {}) {
    std::future<void> rules;
    if (!checked) rules = begin_check(compilation, rewritten, kernels);
    std::string object = compile_kernels(compilation, rewritten, kernels, declared);
    if (!checked) finish(rules);
    const std::vector<FunctionConstant> missing = missing_constants(ElfSymbols(object));
    if (!missing.empty()) refuse_without(missing, compilation.request);
    if (compilation.request.checks) leave_gaps(object);
    const std::string library = link(compilation.toolchain, object);
    refuse_giant_block(library);
    return library;
}

}  // namespace

std::string compile(const Compilation &compilation) {
    const char *function = compilation.request.function;
    const Rewritten rewritten = rewrite_for(compilation, preprocess(compilation), function);
    std::vector<Kernel> kernels;
    for (const Kernel &kernel : rewritten.kernels) {
        if (!function || kernel.name == function) kernels.push_back(kernel);
    }
    // All but instances of templates was checked with the text.
    const bool checked = function && std::none_of(kernels.begin(), kernels.end(), is_instance);
    std::vector<DeclaredConstant> declared;
    if (!function && !rewritten.constants.empty()) {
        const std::string text = compiled_text(compilation, rewritten, {});
        declared = declared_constants(try_syntax(compilation, rewritten, text).output);
    }
    return build(compilation, rewritten, kernels, checked, declared);
}

std::string check(const Compilation &compilation) {
    const Rewritten rewritten = rewrite_for(compilation, preprocess(compilation));
    if (rewritten.kernels.size() <= FEW_KERNELS && rewritten.constants.empty()) {
        return build(compilation, rewritten, rewritten.kernels, false);
    }
    const std::string source = source_text(compilation.request);
    const std::string text = compiled_text(compilation, rewritten, {});
    const std::vector<Kernel> none;
    std::future<void> rules = begin_check(compilation, rewritten, none);
    const Finished finished = try_syntax(compilation, rewritten, text);
    if (finished.status != 0) refuse(compilation, rewritten, finished, {source, text, {}});
    finish(rules);
    std::vector<std::string> names;
    for (const Kernel &kernel : rewritten.kernels)
        names.push_back(kernel.name);
    return list_kernels(names, hexadecimal(Sha256::of(source)),
                        declared_constants(finished.output));
}

}  // namespace msl
