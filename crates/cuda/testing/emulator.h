// Runs generated kernels on the host, thread by thread, so that their arithmetic and their addresses can be
// tested without a GPU. Barriers switch between fibers; there is one thread of execution.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>

#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 { unsigned x, y, z; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static dim3 threadIdx, blockIdx, blockDim, gridDim;
uint4 shared[48 * 1024 / 16];

template <class T> static inline T __ldg(const T* p) {
    if ((uintptr_t)p % sizeof(T)) { fprintf(stderr, "misaligned load of %zu bytes\n", sizeof(T)); abort(); }
    return *p;
}
static inline unsigned __float_as_uint(float v) { unsigned u; memcpy(&u, &v, 4); return u; }
static inline float __uint_as_float(unsigned u) { float v; memcpy(&v, &u, 4); return v; }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    const uint64_t v = (uint64_t)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= (unsigned)(v >> ((s >> 4 * i & 7) * 8) & 255) << 8 * i;
    return r;
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (s & 31));
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 255) * (b >> i & 255);
    return sum;
}
static unsigned dp2a(unsigned a, unsigned b, unsigned sum) { return sum + (a & 65535) * (b & 255) + (a >> 16) * (b >> 8 & 255); }
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) { return dp2a(a, b, sum); }
static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) { return dp2a(a, b >> 16, sum); }
static inline unsigned host_to_half(float v) {
    const _Float16 half = (_Float16)v;
    unsigned short bits;
    memcpy(&bits, &half, 2);
    return bits;
}
static inline float host_from_half(unsigned short bits) {
    _Float16 half;
    memcpy(&half, &bits, 2);
    return (float)half;
}
static unsigned emulated_half_fma(unsigned short a, unsigned short b, unsigned short c) {
    _Float16 x, y, z;
    memcpy(&x, &a, 2), memcpy(&y, &b, 2), memcpy(&z, &c, 2);
    const _Float16 r = (_Float16)fma((double)x, (double)y, (double)z);  // exact up to the last rounding
    unsigned short bits;
    memcpy(&bits, &r, 2);
    return bits;
}
static inline unsigned emulated_pair_fma(unsigned a, unsigned b, unsigned c) {
    return emulated_half_fma(a, b, c) | emulated_half_fma(a >> 16, b >> 16, c >> 16) << 16;
}
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline float __fsqrt_rn(float v) { return sqrtf(v); }
static inline float __saturatef(float v) { return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f; }
static inline double __dsqrt_rn(double v) { return sqrt(v); }
static inline int __clz(unsigned v) { return v == 0 ? 32 : __builtin_clz(v); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
template <class T> static inline T atomicMin(T* to, T other) { const T old = *to; if (other < old) *to = other; return old; }
template <class T> static inline T atomicMax(T* to, T other) { const T old = *to; if (other > old) *to = other; return old; }
template <class T> static inline T atomicAdd(T* to, T more) { const T old = *to; *to += more; return old; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline long long max(long long a, long long b) { return a > b ? a : b; }

static ucontext_t scheduler, fibers[1024];
static char stacks[1024][64 << 10];
static bool finished[1024];
static int running = -1;
static void (*kernel)(const void*);
static const void* argument;

// A set of threads that wait for each other: the block, or a warp.
struct Barrier {
    int threads, arrived;
    unsigned round;
    void pass() {
        if (arrived >= threads) arrived = 0, round++;
    }
    void wait() {
        const unsigned own = round;
        arrived++;
        pass();
        while (round == own) swapcontext(&fibers[running], &scheduler);
    }
};
static Barrier block, warps[32];
static float handed[1024];

static inline void __syncthreads() { block.wait(); }
static inline void __syncwarp() { warps[running / 32].wait(); }
static inline int __float2int_rn(float v) {
    return v != v ? 0 : v >= 2147483648.0f ? INT32_MAX : v < -2147483648.0f ? INT32_MIN : (int)rintf(v);
}
template <class T> static T exchange(T v, int step) {
    const int thread = running, lane = thread % 32, from = lane + step < 0 || lane + step > 31 ? thread : thread + step;
    static_assert(sizeof(T) == sizeof(float), "four bytes");
    T got;
    memcpy(&handed[thread], &v, sizeof v);
    warps[thread / 32].wait();
    memcpy(&got, &handed[from], sizeof got);
    warps[thread / 32].wait();
    return got;
}
template <class T> static inline T __shfl_up_sync(unsigned, T v, int by) { return exchange(v, -by); }
template <class T> static inline T __shfl_down_sync(unsigned, T v, int by) { return exchange(v, by); }
static unsigned __ballot_sync(unsigned, bool own) {
    const int thread = running, first = thread / 32 * 32;
    handed[thread] = own;
    warps[thread / 32].wait();
    unsigned mask = 0;
    for (int lane = 0; lane < 32; lane++) mask |= (unsigned)(handed[first + lane] != 0) << lane;
    warps[thread / 32].wait();
    return mask;
}
static void fiber() {
    kernel(argument);
    finished[running] = true;
    block.threads--;
    block.pass();
}

static void launch(const unsigned* shape, bool barriers, void (*k)(const void*), const void* p) {
    kernel = k, argument = p;
    gridDim = {shape[0], shape[1], shape[2]}, blockDim = {shape[3], shape[4], 1};
    const int threads = shape[3] * shape[4];
    for (blockIdx.z = 0; blockIdx.z < shape[2]; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < shape[1]; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < shape[0]; blockIdx.x++) {
                memset(shared, 0xA5, sizeof shared);
                int left = threads;
                block = {threads, 0, 0};
                for (Barrier& warp : warps) warp = {32, 0, 0};
                for (int t = 0; t < threads && barriers; t++) {
                    finished[t] = false;
                    getcontext(&fibers[t]);
                    fibers[t].uc_stack.ss_sp = stacks[t], fibers[t].uc_stack.ss_size = sizeof stacks[t];
                    fibers[t].uc_link = &scheduler;
                    makecontext(&fibers[t], fiber, 0);
                }
                while (left > 0)
                    for (int t = 0; t < threads; t++) {
                        threadIdx = {t % shape[3], t / shape[3], 0}, running = t;
                        if (!barriers) {
                            k(p);
                            left--;
                        } else if (!finished[t]) {
                            swapcontext(&scheduler, &fibers[t]);
                            left -= finished[t];
                        }
                    }
            }
}

// Memory whose last byte lies before a page that must not be touched.
extern "C" void* guarded(size_t bytes, size_t align) {
    const size_t page = 4096, room = (bytes + align - 1) / align * align, whole = (room + page - 1) / page * page;
    char* start = (char*)mmap(0, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(start, page, PROT_NONE);
    mprotect(start + page + whole, page, PROT_NONE);
    return start + page + whole - room;
}
extern "C" void release(void* memory, size_t bytes, size_t align) {
    const size_t page = 4096, room = (bytes + align - 1) / align * align, whole = (room + page - 1) / page * page;
    munmap((char*)memory + room - whole - page, whole + 2 * page);
}
