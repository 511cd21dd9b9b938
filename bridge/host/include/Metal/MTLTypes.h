#ifndef METAL_MTLTYPES_H
#define METAL_MTLTYPES_H

#import <Metal/MTLDefines.h>

typedef struct {
    NSUInteger x, y, z;
} MTLOrigin;

typedef struct {
    NSUInteger width, height, depth;
} MTLSize;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
    MTLSize size = {width, height, depth};
    return size;
}

#endif
