#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "HMConstants.h"
#include "diagnostics.h"

static void format_float(char text[HM_CONSTANT_TEXT], double value) {
    if (isnan(value))
        snprintf(text, HM_CONSTANT_TEXT, "__builtin_nanf(\"\")");
    else if (isinf(value))
        snprintf(text, HM_CONSTANT_TEXT, "%s__builtin_inff()", value < 0 ? "-" : "");
    else /* hexadecimal keeps every bit */
        snprintf(text, HM_CONSTANT_TEXT, "%af", value);
}

/* NO for a type that no constant of ours has. */
static BOOL format_value(char text[HM_CONSTANT_TEXT], const void *value, MTLDataType type) {
    switch (type) {
    case MTLDataTypeBool:
        snprintf(text, HM_CONSTANT_TEXT, "%s", *(const bool *)value ? "true" : "false");
        return YES;
    case MTLDataTypeChar:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const int8_t *)value);
        return YES;
    case MTLDataTypeUChar:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const uint8_t *)value);
        return YES;
    case MTLDataTypeShort:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const int16_t *)value);
        return YES;
    case MTLDataTypeUShort:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const uint16_t *)value);
        return YES;
    case MTLDataTypeInt:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const int32_t *)value);
        return YES;
    case MTLDataTypeUInt:
        snprintf(text, HM_CONSTANT_TEXT, "%uu", *(const uint32_t *)value);
        return YES;
    case MTLDataTypeHalf:
        format_float(text, *(const _Float16 *)value);
        return YES;
    case MTLDataTypeFloat:
        format_float(text, *(const float *)value);
        return YES;
    default:
        return NO;
    }
}

@implementation MTLFunctionConstantValues

- (void)dealloc {
    free(_constants);
    [super dealloc];
}

/* Where the constant of this index lies, made if it is new. */
- (HMConstant *)constantAtIndex:(NSUInteger)index {
    NSUInteger place = 0;
    while (place < _count && _constants[place].index < index)
        place++;
    if (place < _count && _constants[place].index == index) return &_constants[place];
    HMConstant *larger = realloc(_constants, (_count + 1) * sizeof *larger);
    if (!larger) abort();
    memmove(&larger[place + 1], &larger[place], (_count - place) * sizeof *larger);
    larger[place] = (HMConstant){.index = (uint32_t)index};
    _constants = larger;
    _count++;
    return &larger[place];
}

- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    MTLFunctionConstantValues *copy = [MTLFunctionConstantValues new];
    for (NSUInteger i = 0; i < _count; i++)
        *[copy constantAtIndex:_constants[i].index] = _constants[i];
    return copy;
}

- (void)reset {
    free(_constants);
    _constants = NULL;
    _count = 0;
}

- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index {
    char text[HM_CONSTANT_TEXT];
    if (index > UINT16_MAX || !format_value(text, value, type)) {
        hm_misuse("a function constant at index %lu with data type %lu is not possible", index,
                  (unsigned long)type);
        return;
    }
    strcpy([self constantAtIndex:index]->text, text);
}

const HMConstant *HMConstantsOf(MTLFunctionConstantValues *values, NSUInteger *count) {
    *count = values ? values->_count : 0;
    return values ? values->_constants : NULL;
}

BOOL HMConstantsAre(MTLFunctionConstantValues *values, const char *described) {
    NSUInteger count;
    const HMConstant *constants = HMConstantsOf(values, &count);
    for (NSUInteger i = 0; i < count; i++) {
        char text[HM_CONSTANT_TEXT + 16];
        const int length = snprintf(text, sizeof text, "%s%u=%s", i ? "," : "", constants[i].index,
                                    constants[i].text);
        if (strncmp(described, text, (size_t)length) != 0) return NO;
        described += length;
    }
    return *described == '\0';
}

@end
