// Pointers and references that change their address space.
#pragma once
#include "text_error.h"

#include <optional>

namespace msl {

// How clang has to print what find_changed_space reads.
inline constexpr const char *SPACE_OPTIONS[] = {"-fsyntax-only",
                                                "-w",
                                                "-ferror-limit=0",
                                                "-fno-spell-checking",
                                                "-fno-caret-diagnostics",
                                                "-fdiagnostics-print-source-range-info",
                                                "-ftemplate-backtrace-limit=1"};

// What stands behind a spaced text to see that clang checks it to its end: an error of the kind
// that is looked for.
std::string space_probe();

// Whether clang found it, or left off at what it says about the text itself.
bool answers_probe(const std::string &printed);

// Of what clang says about a spaced text, the first error that address spaces alone explain: those
// about types that are the same without them. The text itself is known to be right but for them.
// Where an overload may have escaped clang, or Metal's own classes decide, it is silent.
std::optional<TextError> find_changed_space(const std::string &printed, const std::string &text);

}  // namespace msl
