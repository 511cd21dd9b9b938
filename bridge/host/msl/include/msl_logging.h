// <metal_logging>: messages for the host. Nobody listens here, so they cost nothing.
#pragma once

namespace metal {

struct os_log {
    constexpr os_log() = default;
    constexpr os_log(const char *, const char *) {}

#define MSL_LOG(NAME)                                                                              \
    template <class... A> constexpr void NAME(const char *, A...) const {}
    MSL_LOG(log)
    MSL_LOG(log_debug)
    MSL_LOG(log_info)
    MSL_LOG(log_error)
    MSL_LOG(log_fault)
#undef MSL_LOG
};
inline constexpr os_log os_log_default;

}  // namespace metal
