// The table of equivalents.
#include "native.h"
#include "decode.h"
#include "mask_tiles.h"
#include "prefill.h"
#include "shader_digests.h"

#include <cstring>

struct native_kernel {
    const char *name;
    const char *source_digest;
    const char *constants;
    bool (*run)(simt_pool *pool, const simt_launch &launch, uint32_t variant);
    uint64_t (*estimate)(const simt_launch &launch, uint32_t variant);
    uint32_t variant;  // what the function knows at compile time
};

namespace {

// `head_dim`: 0 where the launch says it.
constexpr native_kernel decode(const char *name, uint32_t head_dim) {
    return {name, DIGEST_flash_attention, "", native::decode, native::decode_estimate, head_dim};
}

constexpr native_kernel prefill_tensor(const char *name, uint32_t head_dim) {
    return {name,
            DIGEST_flash_attn_prefill_tensor,
            "",
            native::prefill_tensor,
            native::prefill_tensor_estimate,
            head_dim};
}

// `head_dim`: 0 where the launch says it.
constexpr native_kernel prefill_simdgroup(const char *name, uint32_t head_dim) {
    return {name,
            DIGEST_flash_attn_prefill_simdgroup,
            "",
            native::prefill_simdgroup,
            native::prefill_simdgroup_estimate,
            head_dim};
}

constexpr native_kernel mask_tiles_half(const char *constants, uint32_t tile_rows) {
    return {"flash_attn_prefill_blk_f16", DIGEST_flash_attn_prefill_blk, constants,
            native::mask_tiles_half,      native::mask_tiles_estimate,   tile_rows};
}

constexpr native_kernel mask_tiles_bfloat(const char *constants, uint32_t tile_rows) {
    return {"flash_attn_prefill_blk_bf16", DIGEST_flash_attn_prefill_blk, constants,
            native::mask_tiles_bfloat,     native::mask_tiles_estimate,   tile_rows};
}

constexpr native_kernel KERNELS[] = {
    decode("flash_attention", 0),
    decode("flash_attention_hd64", 64),
    decode("flash_attention_hd128", 128),
    mask_tiles_half("400=16,401=64", 16),
    mask_tiles_half("400=32,401=64", 32),
    mask_tiles_bfloat("400=16,401=64", 16),
    mask_tiles_bfloat("400=32,401=64", 32),
    prefill_simdgroup("flash_attn_prefill_simdgroup_f16", 0),
    prefill_simdgroup("flash_attn_prefill_simdgroup_f16_d64", 64),
    prefill_simdgroup("flash_attn_prefill_simdgroup_f16_d80", 80),
    prefill_simdgroup("flash_attn_prefill_simdgroup_f16_d96", 96),
    prefill_simdgroup("flash_attn_prefill_simdgroup_f16_d128", 128),
    prefill_simdgroup("flash_attn_prefill_simdgroup_f16_d256", 256),
    prefill_tensor("flash_attn_prefill_tensor_f16_d256", 256),
    prefill_tensor("flash_attn_prefill_tensor_f16_d512", 512),
};

bool same(const char *a, const char *b) {
    return std::strcmp(a, b) == 0;
}

}  // namespace

const native_kernel *native_find(const char *name, const char *source_digest,
                                 const char *constants) {
    for (const native_kernel &kernel : KERNELS) {
        if (same(kernel.name, name) && same(kernel.source_digest, source_digest) &&
            same(kernel.constants, constants))
            return &kernel;
    }
    return nullptr;
}

bool native_run(const native_kernel *kernel, simt_pool *pool, const simt_launch *launch) {
    return kernel->run(pool, *launch, kernel->variant);
}

uint64_t native_estimate(const native_kernel *kernel, const simt_launch *launch) {
    return kernel->estimate(*launch, kernel->variant);
}
