// What a check has found, in words.
#pragma once
#include "../fault_text.h"
#include "checker.h"

namespace simt {

void report_finding(Text &text, const Finding &finding, const Checker &checker);

}  // namespace simt
