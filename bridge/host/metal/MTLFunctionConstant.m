#include <string.h>
#include "HMReflection.h"
#include "errors.h"

static const struct {
    const char *name;
    MTLDataType type;
} SCALARS[] = {
    {"bool", MTLDataTypeBool},   {"char", MTLDataTypeChar},     {"uchar", MTLDataTypeUChar},
    {"short", MTLDataTypeShort}, {"ushort", MTLDataTypeUShort}, {"int", MTLDataTypeInt},
    {"uint", MTLDataTypeUInt},   {"long", MTLDataTypeLong},     {"ulong", MTLDataTypeULong},
    {"half", MTLDataTypeHalf},   {"float", MTLDataTypeFloat},
};

/* Metal numbers the vectors of a scalar behind it, by their components. */
static MTLDataType data_type(const char *spelling) {
    for (size_t i = 0; i < sizeof SCALARS / sizeof SCALARS[0]; i++) {
        const size_t length = strlen(SCALARS[i].name);
        if (strncmp(spelling, SCALARS[i].name, length) != 0) continue;
        const char *components = spelling + length;
        if (!*components) return SCALARS[i].type;
        return SCALARS[i].type + (MTLDataType)(*components - '1');
    }
    return MTLDataTypeNone;
}

@implementation MTLFunctionConstant

@synthesize type = _type, index = _index;

MTLFunctionConstant *HMConstantOf(const msl_declared_constant *declared) {
    MTLFunctionConstant *constant = [[MTLFunctionConstant new] autorelease];
    constant->_name = [HMString(declared->name) retain];
    constant->_type = data_type(declared->type);
    constant->_index = declared->index;
    return constant;
}

- (void)dealloc {
    [_name release];
    [super dealloc];
}

- (NSString *)name {
    return _name;
}

@end
