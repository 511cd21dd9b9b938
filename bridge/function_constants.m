/* Function constants: the types that Metal knows of them, and values for them. */
#import "internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMPONENTS = 4 };

/* Metal numbers the vectors of a scalar behind it, by their components. */
static const struct {
    const char *spelling;
    MTLDataType type;
} SCALARS[FM_CONSTANT_TYPES] = {
    [FM_CONSTANT_BOOL] = {"bool", MTLDataTypeBool},
    [FM_CONSTANT_CHAR] = {"char", MTLDataTypeChar},
    [FM_CONSTANT_UCHAR] = {"uchar", MTLDataTypeUChar},
    [FM_CONSTANT_SHORT] = {"short", MTLDataTypeShort},
    [FM_CONSTANT_USHORT] = {"ushort", MTLDataTypeUShort},
    [FM_CONSTANT_INT] = {"int", MTLDataTypeInt},
    [FM_CONSTANT_UINT] = {"uint", MTLDataTypeUInt},
    [FM_CONSTANT_LONG] = {"long", MTLDataTypeLong},
    [FM_CONSTANT_ULONG] = {"ulong", MTLDataTypeULong},
    [FM_CONSTANT_HALF] = {"half", MTLDataTypeHalf},
    [FM_CONSTANT_FLOAT] = {"float", MTLDataTypeFloat},
};

MTLFunctionConstantValues *fm_constant_values(const fm_constant *constants, size_t count) {
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    for (size_t i = 0; i < count; i++)
        [values setConstantValue:constants[i].value
                            type:SCALARS[constants[i].type].type + constants[i].components - 1
                         atIndex:constants[i].index];
    return values;
}

static void print_type(FILE *out, MTLDataType type) {
    for (size_t i = 0; i < FM_CONSTANT_TYPES; i++) {
        if (type < SCALARS[i].type || type >= SCALARS[i].type + MOST_COMPONENTS) continue;
        fputs(SCALARS[i].spelling, out);
        if (type > SCALARS[i].type) fprintf(out, "%u", (unsigned)(type - SCALARS[i].type + 1));
        return;
    }
    fputs("?", out);
}

static void print_constants(FILE *out, id<MTLFunction> function) {
    NSDictionary *constants = function.functionConstantsDictionary;
    NSArray *names = constants.allKeys;
    for (NSUInteger i = 0; i < names.count; i++) {
        NSString *name = [names objectAtIndex:i];
        MTLFunctionConstant *constant = [constants objectForKey:name];
        fprintf(out, "%lu ", (unsigned long)constant.index);
        print_type(out, constant.type);
        fprintf(out, " %s\n", name.UTF8String);
    }
}

static void print_all_constants(FILE *out, id<MTLLibrary> library) {
    NSArray *names = library.functionNames;
    for (NSUInteger i = 0; i < names.count; i++)
        print_constants(out, [[library newFunctionWithName:[names objectAtIndex:i]] autorelease]);
}

char *fm_library_copy_constants(const fm_library *library, const char *function) {
    size_t length = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    @autoreleasepool {
        NSString *name = function ? fm_string(function, "the name of the function", NULL) : nil;
        id<MTLFunction> found =
            name ? [[library->metal newFunctionWithName:name] autorelease] : nil;
        if (found)
            print_constants(out, found);
        else
            print_all_constants(out, library->metal);
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}
