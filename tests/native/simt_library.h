#pragma once
#include "msl.h"

constexpr size_t THREADGROUP_VARIABLE_BYTES = 1024;
extern thread_local unsigned char threadgroup_variables[THREADGROUP_VARIABLE_BYTES];

// Functions that are said to be compiled from a source.
#define OF_SOURCE __attribute__((section("of_source")))
