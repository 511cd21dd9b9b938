// What a device without a screen does not have.
#pragma once
#include "tokens.h"

namespace msl {

// Throws TextError where the text uses such a thing: one clear refusal, in place of an error for
// every line that touches a texture.
void refuse_unsupported(const Tokens &tokens);

// Whether clang knows the word, and Metal does not.
bool is_foreign(std::string_view word);

}  // namespace msl
