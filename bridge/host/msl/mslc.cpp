// Compiles a .metal file to a .hostlib for one level of CPU, as the build does with the shaders
// that are shipped.
#include "compiler.h"
#include "cpu_level.h"
#include "failure.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr const char *USAGE = "usage: mslc --headers DIR --level LEVEL [--math safe|relaxed|fast] "
                              "[--language 3.2] [--constant INDEX=VALUE]... -o OUT IN\n";

struct Options {
    std::string headers, level, math = "relaxed", language = "3.2", output, input;
    std::map<uint32_t, std::string> constants;  // function constants: index and text
};

// 400=32
bool read_constant(const std::string &word, std::map<uint32_t, std::string> &constants) {
    const size_t equals = word.find('=');
    if (equals == 0 || word.find_first_not_of("0123456789") != equals) return false;
    constants[uint32_t(std::stoul(word))] = word.substr(equals + 1);
    return true;
}

bool read_options(int count, char **words, Options &options) {
    const std::map<std::string, std::string *> named = {{"--headers", &options.headers},
                                                        {"--level", &options.level},
                                                        {"--math", &options.math},
                                                        {"--language", &options.language},
                                                        {"-o", &options.output}};
    for (int i = 1; i < count; i++) {
        const auto option = named.find(words[i]);
        const bool has_value = i + 1 < count;
        if (option != named.end()) {
            if (has_value) *option->second = words[++i];
        } else if (words[i] == std::string("--constant")) {
            if (!has_value || !read_constant(words[++i], options.constants)) return false;
        } else {
            options.input = words[i];
        }
    }
    return !options.headers.empty() && !options.output.empty() && !options.input.empty() &&
           msl::is_cpu_level(options.level);
}

bool read_math(const std::string &name, msl_math_mode &mode) {
    static const std::map<std::string, msl_math_mode> modes = {
        {"safe", MSL_MATH_SAFE}, {"relaxed", MSL_MATH_RELAXED}, {"fast", MSL_MATH_FAST}};
    const auto found = modes.find(name);
    if (found == modes.end()) return false;
    mode = found->second;
    return true;
}

void compile_file(const Options &options, msl_math_mode mode) {
    std::ifstream file(options.input, std::ios::binary);
    if (!file) throw msl::Failure{MSL_FAILURE_IO, "cannot read " + options.input};
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    unsigned major = 0, minor = 0;
    std::sscanf(options.language.c_str(), "%u.%u", &major, &minor);
    std::vector<msl_constant> constants;
    for (const auto &[index, text] : options.constants)
        constants.push_back({index, text.c_str()});
    msl_request request = {};
    request.source = source.data();
    request.length = source.size();
    request.language_version = major << 16 | minor;
    request.math_mode = mode;
    request.tensor_api = true;
    request.constants = constants.data();
    request.constant_count = constants.size();
    const msl::Toolchain toolchain = msl::ask_compiler(msl::find_compiler());
    const std::string library = msl::compile({request, toolchain, options.level, options.headers});
    std::ofstream output(options.output, std::ios::binary);
    if (!output.write(library.data(), std::streamsize(library.size())).flush()) {
        throw msl::Failure{MSL_FAILURE_IO, "cannot write " + options.output};
    }
}

}  // namespace

int main(int count, char **words) {
    Options options;
    msl_math_mode mode;
    if (!read_options(count, words, options) || !read_math(options.math, mode)) {
        std::fputs(USAGE, stderr);
        return 2;
    }
    try {
        compile_file(options, mode);
    } catch (const msl::Failure &failure) {
        std::fprintf(stderr, "%s: %s\n", options.input.c_str(), failure.message.c_str());
        return 1;
    }
    return 0;
}
