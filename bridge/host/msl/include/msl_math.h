#pragma once
namespace metal {
inline float exp(float x) {
    return __builtin_expf(x);
}
inline float log(float x) {
    return __builtin_logf(x);
}
}  // namespace metal
