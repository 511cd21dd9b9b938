// Clang's messages about rewritten text, as messages about the user's.
#pragma once
#include "lines.h"

namespace msl {

// How clang has to print what clean_diagnostics reads.
inline constexpr const char *DIAGNOSTIC_OPTIONS[] = {"-fno-diagnostics-show-line-numbers",
                                                     "-fcaret-diagnostics-max-lines=1",
                                                     "-fno-elide-type",
                                                     "-fno-color-diagnostics",
                                                     "-fmessage-length=0",
                                                     "-ftabstop=1"};

// The texts that a message may be about.
struct DiagnosedText {
    std::string_view source;     // what the user wrote
    std::string_view compiled;   // what the compiler read
    std::vector<Position> glue;  // in the compiled text: where each line of the glue belongs
};

// Lines, columns and quoted text of the result are the source's; nothing in it points into a header
// of ours or into generated code.
std::string clean_diagnostics(const std::string &printed, const DiagnosedText &text);

}  // namespace msl
