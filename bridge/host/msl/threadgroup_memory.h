// `threadgroup` variables and the attribute of the same name.
#pragma once
#include "tokens.h"

namespace msl {

// A threadgroup runs on one OS thread, so that a thread-local variable is exactly its storage.
void rewrite_threadgroup_memory(Tokens &tokens);

}  // namespace msl
