// The table of equivalents.
#include "native.h"
#include "decode.h"
#include "shader_digests.h"

#include <cstring>

struct native_kernel {
    const char *name;
    const char *source_digest;
    bool (*run)(simt_pool *pool, const simt_launch &launch, uint32_t head_dim);
    uint64_t (*estimate)(const simt_launch &launch, uint32_t head_dim);
    uint32_t head_dim;  // at compile time; 0: the launch says it
};

namespace {

constexpr native_kernel KERNELS[] = {
    {"flash_attention", DIGEST_flash_attention, native::decode, native::decode_estimate, 0},
    {"flash_attention_hd64", DIGEST_flash_attention, native::decode, native::decode_estimate, 64},
    {"flash_attention_hd128", DIGEST_flash_attention, native::decode, native::decode_estimate, 128},
};

}  // namespace

const native_kernel *native_find(const char *name, const char *source_digest) {
    for (const native_kernel &kernel : KERNELS) {
        if (std::strcmp(kernel.name, name) == 0 &&
            std::strcmp(kernel.source_digest, source_digest) == 0)
            return &kernel;
    }
    return nullptr;
}

bool native_run(const native_kernel *kernel, simt_pool *pool, const simt_launch *launch) {
    return kernel->run(pool, *launch, kernel->head_dim);
}

uint64_t native_estimate(const native_kernel *kernel, const simt_launch *launch) {
    return kernel->estimate(*launch, kernel->head_dim);
}
