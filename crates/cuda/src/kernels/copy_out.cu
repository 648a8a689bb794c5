// Copies to pinned memory over the bus: a small result is with the host some microseconds sooner than by a copy
// engine, which has to be told by the kernels' queue that they are done. A few blocks keep the bus busy.

struct Params {
    const uint4* from;
    uint4* to;
    unsigned long long bytes;
};

extern "C" __global__ void __launch_bounds__(128) copy_out(const __grid_constant__ Params p) {
    const unsigned stride = gridDim.x * 128, count = (unsigned)(p.bytes / 16), own = blockIdx.x * 128 + threadIdx.x;
    unsigned i = own;
    for (; i + 3 * stride < count; i += 4 * stride) {
        const uint4 a = p.from[i], b = p.from[i + stride], c = p.from[i + 2 * stride], d = p.from[i + 3 * stride];
        p.to[i] = a;
        p.to[i + stride] = b;
        p.to[i + 2 * stride] = c;
        p.to[i + 3 * stride] = d;
    }
    for (; i < count; i += stride) p.to[i] = p.from[i];
    const unsigned long long tail = 16ull * count + own;
    if (tail < p.bytes) ((unsigned char*)p.to)[tail] = ((const unsigned char*)p.from)[tail];
}
