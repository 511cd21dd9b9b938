// Clang's messages about rewritten text, as messages about the user's.
#pragma once
#include <string>
#include <string_view>

namespace msl {

// How clang has to print what read_diagnostics reads.
inline constexpr const char *DIAGNOSTIC_OPTIONS[] = {
    "-fno-diagnostics-show-line-numbers", "-fdiagnostics-print-source-range-info",
    "-fno-color-diagnostics", "-fmessage-length=0", "-ftabstop=1"};

// `source`: what the user wrote; `compiled`: what the compiler read. Lines, columns and quoted text
// of the result are the source's; nothing in it points into a header of ours.
std::string clean_diagnostics(const std::string &printed, std::string_view source,
                              std::string_view compiled);

}  // namespace msl
