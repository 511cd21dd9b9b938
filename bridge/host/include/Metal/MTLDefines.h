#ifndef METAL_MTLDEFINES_H
#define METAL_MTLDEFINES_H

#import <Foundation/Foundation.h>

#define MTL_EXTERN FOUNDATION_EXPORT

#endif
