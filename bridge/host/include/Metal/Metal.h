/* The subset of Metal that the bridge uses; names, values and types as in Apple's public API. */
#import <Metal/MTLArgument.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLComputeCommandEncoder.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLFunctionConstantValues.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>
