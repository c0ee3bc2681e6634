//! 51xx: Metal.

codes! {
    MSL_NO_ENTRY_POINT = 5101, Error, "no such entry point",
        "The module has no entry point of the name that Metal text was asked for. Name one that the file declares.";
    MSL_UNSUPPORTED_TYPE = 5102, Error, "type not supported by Metal",
        "Metal has no double, no 64-bit atomics but unsigned max and min whose result is unused, and no packed 64-bit \
         integer vectors. Use a narrower type, or turn on -msl-emulate-int64 for the vectors.";
    MSL_UNSUPPORTED_SEMANTIC = 5103, Error, "semantic not supported by Metal",
        "Metal has no stage input or output for this semantic (SV_CullDistance, SV_InnerCoverage, SV_ShadingRate, \
         attributes of each vertex). Compute the value in the shader or leave it out.";
    MSL_BUFFER_LENGTH = 5104, Error, "Metal cannot ask a buffer for its length",
        "GetDimensions of structured and byte-address buffers has no counterpart in Metal. Pass the length in a constant \
         buffer, or turn on the hidden argument of buffer sizes.";
    MSL_TOO_MANY_RESOURCES = 5105, Error, "too many resources for Metal",
        "A Metal function takes 31 buffers, 128 textures and 16 samplers. Use fewer, or give each entry point its own \
         file.";
    MSL_TEXTURE_ATOMIC = 5106, Error, "atomics on textures need Metal 3.1",
        "Atomic operations on the texels of a texture or typed buffer came with Metal 3.1. Ask for that version, or use a \
         structured buffer.";
    MSL_WAVE_INTRINSIC = 5107, Error, "wave intrinsic not supported by Metal",
        "Metal has no WaveMatch and no WaveMultiPrefix functions, no functions over 64-bit integers, and no lane index or \
         count in vertex shaders. Turn on -msl-emulate-wave-match or -msl-emulate-int64, or write it with WaveReadLaneAt and WaveActiveBallot.";
    MSL_UNBOUNDED_ARRAY = 5108, Error, "array of resources without a size",
        "Arrays without a size and descriptor heaps are buffers of handles, which came with Metal 3.0 (macOS 13, iOS 16). \
         Ask for that version (-msl-version 3.0), or give the array a size.";
    MSL_CONTROL_FLOW = 5109, Error, "jump out of several structures at once",
        "Metal has neither goto nor labelled breaks, so control cannot leave several nested loops in one step, and \
         structures may be nested 250 deep. Use a flag, or a function that returns.";
    MSL_TEXTURE_COMPARE = 5110, Error, "comparison sampling of this kind of texture",
        "Metal has depth textures of two dimensions and cubes only. Use a Texture2D for shadow maps.";
    MSL_TEXTURE_OFFSET = 5111, Error, "texel offset on this kind of texture",
        "Metal takes texel offsets for 2D and 3D textures only. Change the coordinate instead.";
    MSL_LAYOUT = 5112, Error, "buffer layout that Metal cannot declare",
        "Members placed by packoffset overlap or are not aligned to their scalars. Give each its own bytes.";
    MSL_UNSUPPORTED_RESOURCE = 5113, Error, "resource not supported by the Metal backend",
        "Subpass inputs, ray-tracing acceleration structures, and resources chosen at run time in ways Metal cannot pass are \
         not supported. Choose among the elements of an array of resources by an index.";
    MSL_STAGE_FUNCTION = 5114, Error, "function not available in this stage of Metal",
        "Kernels take derivatives across quads of threads, which numthreads must allow: even sizes in x and y, or a \
         multiple of 4 in x alone. CalculateLevelOfDetail asks for a sampler's limits, which a kernel cannot see. Pass an \
         explicit level or gradient, or ask for CalculateLevelOfDetailUnclamped.";
    MSL_ATOMIC = 5115, Error, "atomic operation not supported by Metal",
        "Atomic operations work on 32-bit integers in device or threadgroup memory. Change the type of the memory.";
    MSL_BINDING = 5116, Error, "binding that Metal cannot have",
        "The binding map puts two arguments on one Metal index, or beyond the last one. Change the map.";
    MSL_TEXTURE_QUERY = 5117, Error, "texture operation that Metal lacks",
        "Metal lacks this operation for this kind of texture, such as bias or gradients of one-dimensional textures. Use \
         another kind of texture or operation.";
    MSL_RAY_QUERY = 5118, Error, "ray query method that Metal lacks",
        "Metal's intersection query cannot tell the host's offset of an instance in its table of shaders \
         (`InstanceContributionToHitGroupIndex`). Give the instance a number (`InstanceID`) and look the offset up in a \
         buffer.";
    MSL_DEBUGGING = 5119, Error, "debugging function that Metal lacks",
        "`printf` and `DebugBreak` reach a host through Vulkan's debugging extensions only. Leave them out for Metal, by \
         `#ifdef __spirv__`, or write to a buffer.";
    MSL_SPIRV = 5120, Error, "SPIR-V without a counterpart in Metal",
        "Instructions, execution modes and decorations that the program names by SPIR-V's numbers have no counterpart in \
         Metal, but for those that HLSL has as well. Choose another way for Metal, such as by #ifdef __spirv__.";
}
