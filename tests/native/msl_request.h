// Requests to the MSL compiler, for tests.
#pragma once
#include "msl.h"
#include "msl_test.h"
#include "temporary_folder.h"

#include <vector>

struct Request : msl_request {
    explicit Request(const std::string &text) : msl_request{}, text_(text) {
        source = text_.data();
        length = text_.size();
        language_version = 3 << 16 | 2;
        math_mode = MSL_MATH_RELAXED;
    }
    Request(const Request &) = delete;

    // The library, or none and why.
    msl_library *compile(std::string *problem = nullptr, int *kind = nullptr) const {
        msl_failure failure = {};
        msl_library *library = msl_compile(this, &failure);
        if (problem) *problem = failure.message ? failure.message : "";
        if (kind) *kind = failure.kind;
        if (!library && !problem) std::fprintf(stderr, "%s\n", failure.message);
        std::free(failure.message);
        return library;
    }

  private:
    const std::string text_;
};

// Headers of the build, and a cache that goes with the test.
struct CompilerFolders {
    CompilerFolders() {
        msl_set_headers(MSL_HEADERS);
        msl_set_cache((temporary.path() + "/cache").c_str());
    }
    msl::TemporaryFolder temporary;
};

// Why the text is refused, in no words of ours.
inline std::string errors(const std::string &source, int wanted = MSL_FAILURE_SOURCE) {
    std::string message;
    int kind = 0;
    const Request request(source);
    if (request.compile(&message, &kind)) check_text(source, "refused", __FILE__, __LINE__);
    CHECK(kind == wanted);
    for (const char *internal : {"__msl", "_Float16", "metal_stdlib", MSL_HEADERS, "<kernels>",
                                 "thread_local", "[...]", "generated.", "<probe>", "<arguments>"}) {
        if (contains(message, internal)) check_text(message, internal, __FILE__, __LINE__);
    }
    return message;
}
