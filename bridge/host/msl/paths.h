// Folders that the compiler uses.
#pragma once
#include <string>

namespace msl {

// Of our headers; empty until msl_set_headers says it.
void set_header_folder(const char *folder);
std::string header_folder();

// Of the on-disk cache. Null: FLASHMETAL_CACHE_DIR, else flashmetal under XDG_CACHE_HOME or
// ~/.cache. Empty when none of these is an absolute path.
void set_cache_folder(const char *folder);
std::string cache_folder();
// FLASHMETAL_CACHE_DIR, where it is in use; else empty.
std::string named_cache_folder();
// What is wrong with FLASHMETAL_CACHE_DIR, which is ignored then; empty: nothing.
std::string cache_folder_fault();

}  // namespace msl
