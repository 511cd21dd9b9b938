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

static void format_long(char text[HM_CONSTANT_TEXT], int64_t value) {
    /* C++ has no literal for the least one. */
    if (value == INT64_MIN)
        snprintf(text, HM_CONSTANT_TEXT, "-%lldll-1", (long long)INT64_MAX);
    else
        snprintf(text, HM_CONSTANT_TEXT, "%lldll", (long long)value);
}

/* Bytes of one component, whose value goes to `text`; 0 for a type that no constant of ours has. */
static size_t format_scalar(char text[HM_CONSTANT_TEXT], const void *value, MTLDataType type) {
    switch (type) {
    case MTLDataTypeBool:
        snprintf(text, HM_CONSTANT_TEXT, "%s", *(const bool *)value ? "true" : "false");
        return sizeof(bool);
    case MTLDataTypeChar:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const int8_t *)value);
        return sizeof(int8_t);
    case MTLDataTypeUChar:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const uint8_t *)value);
        return sizeof(uint8_t);
    case MTLDataTypeShort:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const int16_t *)value);
        return sizeof(int16_t);
    case MTLDataTypeUShort:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const uint16_t *)value);
        return sizeof(uint16_t);
    case MTLDataTypeInt:
        snprintf(text, HM_CONSTANT_TEXT, "%d", *(const int32_t *)value);
        return sizeof(int32_t);
    case MTLDataTypeUInt:
        snprintf(text, HM_CONSTANT_TEXT, "%uu", *(const uint32_t *)value);
        return sizeof(uint32_t);
    case MTLDataTypeLong:
        format_long(text, *(const int64_t *)value);
        return sizeof(int64_t);
    case MTLDataTypeULong:
        snprintf(text, HM_CONSTANT_TEXT, "%lluull", *(const unsigned long long *)value);
        return sizeof(uint64_t);
    case MTLDataTypeHalf:
        format_float(text, *(const _Float16 *)value);
        return sizeof(_Float16);
    case MTLDataTypeFloat:
        format_float(text, *(const float *)value);
        return sizeof(float);
    default:
        return 0;
    }
}

/* The scalar of a vector's type, which Metal numbers behind it. */
static MTLDataType scalar_of(MTLDataType type, NSUInteger *components) {
    static const MTLDataType SCALARS[] = {MTLDataTypeBool,  MTLDataTypeChar,   MTLDataTypeUChar,
                                          MTLDataTypeShort, MTLDataTypeUShort, MTLDataTypeInt,
                                          MTLDataTypeUInt,  MTLDataTypeLong,   MTLDataTypeULong,
                                          MTLDataTypeHalf,  MTLDataTypeFloat};
    for (size_t i = 0; i < sizeof SCALARS / sizeof SCALARS[0]; i++) {
        if (type < SCALARS[i] || type > SCALARS[i] + 3) continue;
        *components = type - SCALARS[i] + 1;
        return SCALARS[i];
    }
    return MTLDataTypeNone;
}

/* Components with ", " between. NO for a type that no constant of ours has. */
static BOOL format_value(char text[HM_CONSTANT_TEXT], const void *value, MTLDataType type) {
    NSUInteger components = 0;
    const MTLDataType scalar = scalar_of(type, &components);
    const char *component = value;
    text[0] = '\0';
    for (NSUInteger i = 0; i < components; i++) {
        char one[HM_CONSTANT_TEXT];
        component += format_scalar(one, component, scalar);
        const size_t length = strlen(text);
        snprintf(text + length, HM_CONSTANT_TEXT - length, "%s%s", i ? ", " : "", one);
    }
    return components > 0;
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
