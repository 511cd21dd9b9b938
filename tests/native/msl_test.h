// What the tests of the MSL compiler share.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        if (!(__VA_ARGS__)) {                                                                      \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__);         \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(ACTUAL, EXPECTED) check_text(ACTUAL, EXPECTED, __FILE__, __LINE__)

inline void check_text(std::string_view actual, std::string_view expected, const char *file,
                       int line) {
    if (actual == expected) return;
    std::fprintf(stderr, "%s:%d: is\n%.*s\nnot\n%.*s\n", file, line, int(actual.size()),
                 actual.data(), int(expected.size()), expected.data());
    std::exit(1);
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

inline std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    CHECK(bool(file));
    return {std::istreambuf_iterator<char>(file), {}};
}
