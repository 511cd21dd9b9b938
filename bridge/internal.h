/* What the Objective-C sources of the bridge share: the bodies of the handles, and what exists once
 * for Apple's Metal (apple/) and once for host Metal (host/). */
#ifndef FM_BRIDGE_INTERNAL_H
#define FM_BRIDGE_INTERNAL_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <pthread.h>
#include <stdatomic.h>
#include "completion.h"
#include "error.h"
#include "flashmetal.h"
#include "slots.h"

#if __has_feature(objc_arc)
#error "the bridge retains and releases by hand: compile it with -fno-objc-arc"
#endif

/* ---- handles; "owned": released with the handle -------------------------------------------- */

struct fm_device {
    atomic_int references;     /* the user's and one of each encoder */
    id<MTLDevice> metal;       /* owned */
    id<MTLCommandQueue> queue; /* owned */
    id<MTLSharedEvent> event;  /* owned; each command buffer signals it at its end */
    fm_slots *slots;           /* owned reference; of the queue */
    pthread_mutex_t commit_mutex;
    uint64_t last_signal; /* guarded by the mutex */
    fm_device_info info;
};

struct fm_buffer {
    id<MTLBuffer> metal; /* owned */
    fm_use_count *uses;  /* owned reference; NULL: not tracked */
    void *contents;
    size_t length;
};

struct fm_library {
    id<MTLLibrary> metal; /* owned */
};

struct fm_pipeline {
    id<MTLComputePipelineState> metal; /* owned */
    fm_pipeline_info info;
};

/* A buffer binding, as the compute encoder has it. */
typedef struct fm_binding {
    id<MTLBuffer> buffer; /* borrowed: the command buffer retains it; nil: bytes or nothing */
    size_t offset;
} fm_binding;

struct fm_encoder {
    fm_device *device;                     /* owned reference */
    fm_completion *completion;             /* owned reference, shared with Metal's handler */
    id<MTLCommandBuffer> command_buffer;   /* owned, from begin to commit */
    id<MTLComputeCommandEncoder> commands; /* owned, from begin to commit */
    id<MTLComputePipelineState> pipeline;  /* borrowed: the command buffer retains it */
    atomic_bool committed;                 /* read by threads that wait */
    uint64_t signal;                       /* the value of the device's event once it is done */
    fm_binding bindings[FM_MAX_BUFFERS];   /* what is set, so that it is not set again */
    uint32_t threadgroup_memory[FM_MAX_BUFFERS];
};

/* ---- shared helpers ------------------------------------------------------------------------ */

/* Fills `error` (may be NULL) with the NSError's code, domain and text, or with `fallback` when
 * Metal gave none, and returns `status`. */
fm_status fm_fail_with(fm_error *error, fm_status status, NSError *cause, const char *fallback);

/* Autoreleased; nil, with `error` filled, when `text` is not UTF-8. `what` names the argument. */
NSString *fm_string(const char *text, const char *what, fm_error *error);

fm_device *fm_device_retain(fm_device *device);

void fm_set_math_mode(MTLCompileOptions *options, fm_math_mode mode);

/* Autoreleased. */
MTLFunctionConstantValues *fm_constant_values(const fm_constant *constants, size_t count);

/* Adds what is to say of the kernel's arguments to `info`, which has nothing of it yet. */
void fm_reflect(MTLComputePipelineReflection *reflection, fm_pipeline_info *info);
/* Frees what fm_reflect has allocated. */
void fm_forget_reflection(fm_pipeline_info *info);

/* How a command buffer ended. Fills `error` unless it completed; `cause` may be nil. */
fm_status fm_command_buffer_outcome(MTLCommandBufferStatus status, NSError *cause, fm_error *error);

/* ---- messages newer than macOS 12: each is guarded by respondsToSelector: -------------------
 *
 * selector      since     guarded in    otherwise
 * setMathMode:  macOS 15  library.m     fastMathEnabled
 * bindings      macOS 13  reflection.m  arguments
 * isUsed        macOS 13  reflection.m  isActive
 *
 * tests/test_bridge_selectors.py checks that this table is whole. */

/* ---- one implementation each in apple/ and host/ ------------------------------------------- */

/* The device that `options` (may be NULL) ask for, retained; nil with `error` filled. */
id<MTLDevice> fm_system_device(const fm_device_options *options, fm_error *error);

/* Fills page_size, language_version, threads, is_host and engine; device.m fills the rest. */
void fm_system_device_describe(id<MTLDevice> device, fm_device_info *out);

/* Lets a thread that is about to wait do short work of the queue itself, where that is possible. */
void fm_system_help(id<MTLCommandQueue> queue);
/* Says where the memory ends that kernels may touch. */
void fm_system_limit_buffer(id<MTLBuffer> buffer, size_t end);

/* fm_host_control of flashmetal.h is implemented there, too. */

#endif
