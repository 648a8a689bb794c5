// Words, loads, stores and the two conversions that fix the numbers: widen (exact) and narrow (one rounding
// to nearest even, saturated, NaN is 0).

typedef unsigned char u8;
typedef unsigned short u16;
typedef short i16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;

// A batch of images: bytes from the first sample to the row, plane and frame of another.
struct Image {
    u8* start;
    i64 row, plane, frame;
};

// Branches of the graph that a launch is for: consecutive blocks along z are for the same frame (or plane) of each.
#ifndef BRANCHES
#define BRANCHES 1u
#endif
#define FIRST_FRAME (blockIdx.z / BRANCHES)
#define FRAME_STEP (gridDim.z / BRANCHES)
// The parameters of as many of them as there are.
template <class P> struct Branches {
    u32 count;
    alignas(8) P of[BRANCHES];
};

#define INLINE __device__ __forceinline__

// Off by less than 2 units in the last place.
INLINE float sqrt_approx(float v) {
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
#else
    return __fsqrt_rn(v);  // kernels compiled for the host, by a test
#endif
}

// Binary16 in the low half of a word, from binary32 (to nearest even) and back.
INLINE u32 to_half(float v) {
#ifdef __CUDA_ARCH__
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
    return bits;
#else
    return host_to_half(v);
#endif
}
INLINE float from_half(u32 bits) {
#ifdef __CUDA_ARCH__
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"((u16)bits));
    return v;
#else
    return host_from_half((u16)bits);
#endif
}
// A sample of binary16, which arithmetic takes as binary32.
struct f16 {
    u16 bits;
    f16() = default;
    INLINE explicit f16(float v) : bits((u16)to_half(v)) {}
    INLINE explicit operator float() const { return from_half(bits); }
};
INLINE f16 __ldg(const f16* p) {
    f16 v;
    v.bits = __ldg(&p->bits);
    return v;
}

INLINE constexpr int round_up(int value, int step) { return (value + step - 1) / step * step; }

// Whole pieces of A bytes, the widest access that the alignment allows (A is a power of two up to 16).
template <int A> struct Piece;
template <> struct Piece<1> { typedef u8 Type; };
template <> struct Piece<2> { typedef u16 Type; };
template <> struct Piece<4> { typedef u32 Type; };
template <> struct Piece<8> { typedef uint2 Type; };
template <> struct Piece<16> { typedef uint4 Type; };

INLINE void put(u32* w, int byte, u8 v) { w[byte / 4] |= (u32)v << (byte % 4 * 8); }
INLINE void put(u32* w, int byte, u16 v) { w[byte / 4] |= (u32)v << (byte % 4 * 8); }
INLINE void put(u32* w, int byte, u32 v) { w[byte / 4] = v; }
INLINE void put(u32* w, int byte, uint2 v) { w[byte / 4] = v.x, w[byte / 4 + 1] = v.y; }
INLINE void put(u32* w, int byte, uint4 v) {
    w[byte / 4] = v.x, w[byte / 4 + 1] = v.y, w[byte / 4 + 2] = v.z, w[byte / 4 + 3] = v.w;
}
INLINE void take(const u32* w, int byte, u8& v) { v = (u8)(w[byte / 4] >> (byte % 4 * 8)); }
INLINE void take(const u32* w, int byte, u16& v) { v = (u16)(w[byte / 4] >> (byte % 4 * 8)); }
INLINE void take(const u32* w, int byte, u32& v) { v = w[byte / 4]; }
INLINE void take(const u32* w, int byte, uint2& v) { v.x = w[byte / 4], v.y = w[byte / 4 + 1]; }
INLINE void take(const u32* w, int byte, uint4& v) {
    v.x = w[byte / 4], v.y = w[byte / 4 + 1], v.z = w[byte / 4 + 2], v.w = w[byte / 4 + 3];
}

template <int BYTES, int A> INLINE void load_global(u32* w, const u8* from) {
    typedef typename Piece<A>::Type P;
    if (A < 4) {
#pragma unroll
        for (int i = 0; i < BYTES / 4; i++) w[i] = 0;
    }
#pragma unroll
    for (int b = 0; b < BYTES; b += A) put(w, b, __ldg((const P*)(from + b)));
}

template <int BYTES, int A> INLINE void load_shared(u32* w, const u8* from) {
    typedef typename Piece<A>::Type P;
#pragma unroll
    for (int b = 0; b < BYTES; b += A) put(w, b, *(const P*)(from + b));
}

template <int BYTES, int A> INLINE void store_global(const u32* w, u8* to) {
    typedef typename Piece<A>::Type P;
#pragma unroll
    for (int b = 0; b < BYTES; b += A) {
        P piece;
        take(w, b, piece);
        *(P*)(to + b) = piece;
    }
}

// The largest piece that an alignment of A bytes allows for items of BYTES bytes.
INLINE constexpr int piece_of(int a, int bytes) {
    return a >= 16 && bytes % 16 == 0 ? 16 : a >= 8 && bytes % 8 == 0 ? 8 : a >= 4 && bytes % 4 == 0 ? 4
         : a >= 2 && bytes % 2 == 0 ? 2 : 1;
}

// Addresses in shared memory that are kept: the compiler would rather work them out again and again.
#ifdef __CUDA_ARCH__
typedef u32 SharedAddress;
INLINE SharedAddress kept(const u8* p) {
    u32 a = (u32)__cvta_generic_to_shared(p);
    asm volatile("" : "+r"(a));
    return a;
}
INLINE u8* shared_at(SharedAddress a) { return (u8*)__cvta_shared_to_generic(a); }
#else
typedef unsigned long long SharedAddress;
INLINE SharedAddress kept(const u8* p) { return (SharedAddress)p; }
INLINE u8* shared_at(SharedAddress a) { return (u8*)a; }
#endif

// Copies of A bytes to shared memory that run while the thread goes on, where the architecture has them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HAS_ASYNC_COPY true
template <int A> INLINE void start_copy(u8* to, const u8* from) {
    const u32 address = (u32)__cvta_generic_to_shared(to);
    if constexpr (A == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(A) : "memory");
}
INLINE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// The first `bytes` of 16 bytes; the others become anything.
INLINE void start_part_copy(u8* to, const u8* from, int bytes) {
#ifdef EXACT_COPIES
    // A memory checker takes a copy of fewer bytes for one of 16.
    for (int b = 0; b < bytes; b++) to[b] = __ldg(from + b);
#else
    const u32 address = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
#endif
}
// Ends a group of copies.
INLINE void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until no more than N groups are on their way.
template <int N> INLINE void wait_for_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
#else
#define HAS_ASYNC_COPY false
template <int A> INLINE void start_copy(u8* to, const u8* from) { *(typename Piece<A>::Type*)to = __ldg((const typename Piece<A>::Type*)from); }
INLINE void wait_for_copies() {}
INLINE void start_part_copy(u8* to, const u8* from, int bytes) {
    for (int b = 0; b < bytes; b++) to[b] = __ldg(from + b);
}
INLINE void end_group() {}
template <int N> INLINE void wait_for_groups() {}
#endif

// Copies `count` pieces of A bytes to shared memory with all threads of a block, or all lanes of a warp:
// `where(i, to, from)` names the addresses of piece i, or says no. Many loads are on their way at once.
template <int A, class Where> INLINE void copy_pieces(int first, int step, int count, Where where) {
    typedef typename Piece<A>::Type Bytes;
    constexpr int AT_ONCE = 8;
    if constexpr (HAS_ASYNC_COPY && A >= 4) {
#pragma unroll 4
        for (int i = first; i < count; i += step) {
            u8* to;
            const u8* from;
            if (where(i, to, from)) start_copy<A>(to, from);
        }
    } else {
        for (int i = first; i < count; i += step * AT_ONCE) {
            Bytes piece[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                u8* to;
                const u8* from;
                if (i + k * step < count && where(i + k * step, to, from)) piece[k] = __ldg((const Bytes*)from);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                u8* to;
                const u8* from;
                if (i + k * step < count && where(i + k * step, to, from)) *(Bytes*)to = piece[k];
            }
        }
    }
}

// 2^23: the integers 0..65535 placed in the low mantissa bits of this number count up from it, and adding it
// rounds to nearest even.
#define MAGIC 8388608.0f
#define MAGIC_BITS 0x4B000000u

// FLOAT: samples may be infinite or NaN. FULL stands for opaque alpha, FULL_BITS are its bits.
template <typename T> struct Sample;

template <> struct Sample<u8> {
    typedef u8 Raw;
    static constexpr bool FLOAT = false;
    static constexpr float FULL = 255.0f;
    static constexpr u32 FULL_BITS = 0xFFu;
    static INLINE float widen(const u32* w, int i) {
        return __uint_as_float(__byte_perm(w[i / 4], MAGIC_BITS, 0x7440 + i % 4)) - MAGIC;
    }
    static INLINE float widen(u8 v) { return __uint_as_float(MAGIC_BITS | v) - MAGIC; }
    static INLINE float rounded(float v) { return __uint_as_float(narrow(v)) - MAGIC; }
    // The result in the low 8 bits. `saturate` clamps to [0, 256] and turns NaN into 0; scaling by powers of
    // two is exact, so the only rounding is that of the addition.
    static INLINE u32 narrow(float v) {
        return __float_as_uint(fminf(__fmaf_rn(__saturatef(v * 0.00390625f), 256.0f, MAGIC), MAGIC + 255.0f));
    }
    // The same for a value known to round into 0..255.
    static INLINE u32 narrow_inside(float v) { return __float_as_uint(v + MAGIC); }
    static INLINE void pack(u32* w, const u32* bits, int n) {
#pragma unroll
        for (int i = 0; i < n; i += 4)
            w[i / 4] = __byte_perm(__byte_perm(bits[i], bits[i + 1], 0x0040),
                                   __byte_perm(bits[i + 2], bits[i + 3], 0x0040), 0x5410);
    }
    // One word from four samples of `w` by index.
    static INLINE u32 join(const u32* w, int a, int b, int c, int d) {
        return __byte_perm(__byte_perm(w[a / 4], w[b / 4], a % 4 + (4 + b % 4) * 16),
                           __byte_perm(w[c / 4], w[d / 4], c % 4 + (4 + d % 4) * 16), 0x5410);
    }
};

template <> struct Sample<u16> {
    typedef u16 Raw;
    static constexpr bool FLOAT = false;
    static constexpr float FULL = 65535.0f;
    static constexpr u32 FULL_BITS = 0xFFFFu;
    static INLINE float widen(const u32* w, int i) {
        return __uint_as_float(__byte_perm(w[i / 2], MAGIC_BITS, i % 2 ? 0x7432 : 0x7410)) - MAGIC;
    }
    static INLINE float widen(u16 v) { return __uint_as_float(MAGIC_BITS | v) - MAGIC; }
    static INLINE float rounded(float v) { return __uint_as_float(narrow(v)) - MAGIC; }
    static INLINE u32 narrow(float v) {
        const float scaled = __saturatef(v * 0.0000152587890625f);
        return __float_as_uint(fminf(__fmaf_rn(scaled, 65536.0f, MAGIC), MAGIC + 65535.0f));
    }
    static INLINE u32 narrow_inside(float v) { return __float_as_uint(v + MAGIC); }
    static INLINE void pack(u32* w, const u32* bits, int n) {
#pragma unroll
        for (int i = 0; i < n; i += 2) w[i / 2] = __byte_perm(bits[i], bits[i + 1], 0x5410);
    }
    static INLINE u32 join(const u32* w, int a, int b, int, int) {
        return __byte_perm(w[a / 2], w[b / 2], (a % 2 ? 0x32 : 0x10) + (b % 2 ? 0x7600 : 0x5400));
    }
};

// The bits of a signed sample, the upper one flipped, count up from -32768.
#define SIGNED_MAGIC (MAGIC + 32768.0f)
template <> struct Sample<i16> {
    typedef u16 Raw;
    static constexpr bool FLOAT = false;
    static constexpr float FULL = 32767.0f;
    static constexpr u32 FULL_BITS = 0x7FFFu;
    static INLINE float widen(const u32* w, int i) {
        return __uint_as_float(__byte_perm(w[i / 2] ^ 0x80008000u, MAGIC_BITS, i % 2 ? 0x7432 : 0x7410)) - SIGNED_MAGIC;
    }
    static INLINE float widen(i16 v) { return __uint_as_float(MAGIC_BITS | ((u16)v ^ 0x8000u)) - SIGNED_MAGIC; }
    // SIGNED_MAGIC + the result: NaN goes to 0 before the clamp, which would make it a bound.
    static INLINE float counted(float v) { return fminf(fmaxf(v == v ? v : 0.0f, -32768.0f), 32767.0f) + SIGNED_MAGIC; }
    static INLINE float rounded(float v) { return counted(v) - SIGNED_MAGIC; }
    static INLINE u32 narrow(float v) { return __float_as_uint(counted(v)) ^ 0x8000u; }
    static INLINE u32 narrow_inside(float v) { return __float_as_uint(v + SIGNED_MAGIC) ^ 0x8000u; }
    static INLINE void pack(u32* w, const u32* bits, int n) { Sample<u16>::pack(w, bits, n); }
    static INLINE u32 join(const u32* w, int a, int b, int c, int d) { return Sample<u16>::join(w, a, b, c, d); }
};

// 32 bits: what is above 2^24 is read as the nearest binary32. The conversion back saturates.
template <> struct Sample<i32> {
    typedef u32 Raw;
    static constexpr bool FLOAT = false;
    static constexpr float FULL = 2147483648.0f;
    static constexpr u32 FULL_BITS = 0x7FFFFFFFu;
    static INLINE float widen(const u32* w, int i) { return (float)(i32)w[i]; }
    static INLINE float widen(i32 v) { return (float)v; }
    static INLINE u32 narrow(float v) { return (u32)__float2int_rn(v == v ? v : 0.0f); }
    static INLINE u32 narrow_inside(float v) { return narrow(v); }
    static INLINE float rounded(float v) { return (float)(i32)narrow(v); }
    static INLINE void pack(u32* w, const u32* bits, int n) {
#pragma unroll
        for (int i = 0; i < n; i++) w[i] = bits[i];
    }
    static INLINE u32 join(const u32* w, int a, int, int, int) { return w[a]; }
};

template <> struct Sample<f16> {
    typedef u16 Raw;
    static constexpr bool FLOAT = true;
    static constexpr float FULL = 1.0f;
    static constexpr u32 FULL_BITS = 0x3C00u;
    static INLINE float widen(const u32* w, int i) { return from_half(i % 2 ? w[i / 2] >> 16 : w[i / 2] & 0xFFFFu); }
    static INLINE float widen(f16 v) { return from_half(v.bits); }
    static INLINE float rounded(float v) { return from_half(to_half(v)); }
    static INLINE u32 narrow(float v) { return to_half(v); }
    static INLINE u32 narrow_inside(float v) { return to_half(v); }
    static INLINE void pack(u32* w, const u32* bits, int n) { Sample<u16>::pack(w, bits, n); }
    static INLINE u32 join(const u32* w, int a, int b, int c, int d) { return Sample<u16>::join(w, a, b, c, d); }
};

template <> struct Sample<float> {
    typedef u32 Raw;
    static constexpr bool FLOAT = true;
    static constexpr float FULL = 1.0f;
    static constexpr u32 FULL_BITS = 0x3F800000u;
    static INLINE float widen(const u32* w, int i) { return __uint_as_float(w[i]); }
    static INLINE float widen(float v) { return v; }
    static INLINE float rounded(float v) { return v; }
    static INLINE u32 narrow(float v) { return __float_as_uint(v); }
    static INLINE u32 narrow_inside(float v) { return __float_as_uint(v); }
    static INLINE void pack(u32* w, const u32* bits, int n) {
#pragma unroll
        for (int i = 0; i < n; i++) w[i] = bits[i];
    }
    static INLINE u32 join(const u32* w, int a, int, int, int) { return w[a]; }
};

// (299 r + 587 g + 114 b) / 1000 to the nearest, ties to even, of numbers up to 98303.
INLINE u32 whole_luma(u32 r, u32 g, u32 b) {
    const u32 n = 299u * r + 587u * g + 114u * b, q = n / 1000u, rest = n - q * 1000u;
    return q + (rest > 500u || (rest == 500u && (q & 1u)));
}
// 32768 and the nearest of -32768..65535; NaN is 0.
INLINE u32 whole(float v) {
    return __float_as_uint(fminf(fmaxf(v == v ? v : 0.0f, -32768.0f), 65535.0f) + SIGNED_MAGIC) & 0x1FFFFu;
}
// The operation of expressions; 32768 is even, so that ties stay what they are.
INLINE float luma(float r, float g, float b) {
    return __uint_as_float(MAGIC_BITS | whole_luma(whole(r), whole(g), whole(b))) - SIGNED_MAGIC;
}

// The operation of expressions: the number of a table at an index, whose fraction is dropped; what lies outside counts as the nearest
// end, NaN as 0.
INLINE float lookup(const float* table, u32 last, float index) {
    const float above = index > 0.0f ? index : 0.0f;
    return __ldg(table + (u32)(above < (float)last ? above : (float)last));
}

// Operations of expressions: |a| = significand * 2^exponent, subnormal or not; -infinity and infinity with 1 for 0 and infinity.
INLINE float exponent_of(float a) {
    const float m = fabsf(a), infinity = __uint_as_float(0x7F800000u);
    const bool subnormal = m < 1.17549435e-38f;
    const u32 bits = __float_as_uint(subnormal ? m * 16777216.0f : m);
    const float exponent = (float)((int)(bits >> 23) - (subnormal ? 151 : 127));
    return m < infinity ? (m == 0.0f ? -infinity : exponent) : m;
}
INLINE float significand_of(float a) {
    const float m = fabsf(a);
    const u32 bits = __float_as_uint(m < 1.17549435e-38f ? m * 16777216.0f : m);
    return a == a ? __uint_as_float((bits & 0x7FFFFFu) | 0x3F800000u) : a;
}
// To the nearest whole number, ties to even; two factors, so that subnormal numbers are rounded once.
INLINE float power_of_two(float a) {
    const int n = (int)rintf(fminf(fmaxf(a, -150.0f), 128.0f));
    const float large = __uint_as_float((u32)(max(n, -126) + 127) << 23);
    return a == a ? large * __uint_as_float((u32)(min(n + 126, 0) + 127) << 23) : a;
}

// One thread's share of a row: V neighbouring pixels of C channels, packed in memory order.
template <typename T_, int C_, int V_, bool PLANAR_> struct Pixels {
    typedef T_ T;
    static constexpr int C = C_, V = V_, SAMPLES = C * V, PER_WORD = 4 / (int)sizeof(T);
    static constexpr bool PLANAR = PLANAR_;
    static constexpr int STEP = PLANAR ? 1 : C;              // samples from a pixel to the next
    static constexpr int RUNS = PLANAR ? C : 1;              // pieces of contiguous memory
    static constexpr int RUN_BYTES = V * STEP * (int)sizeof(T);
    static constexpr int WORDS = SAMPLES / PER_WORD;
    u32 w[WORDS];

    static INLINE constexpr int index(int i, int c) { return PLANAR ? c * V + i : i * C + c; }
    INLINE float get(int i, int c) const { return Sample<T>::widen(w, index(i, c)); }

    // Packs rounded bits, given at [pixel * C + channel].
    INLINE void set(const u32* bits) {
        u32 ordered[SAMPLES];
#pragma unroll
        for (int i = 0; i < V; i++)
#pragma unroll
            for (int c = 0; c < C; c++) ordered[index(i, c)] = bits[i * C + c];
        Sample<T>::pack(w, ordered, SAMPLES);
    }

    // `row` is the start of the row in the first plane, `n` the number of pixels that exist from `x` on.
    template <int A> INLINE void load(const u8* row, i64 plane, int x, int n) {
        const u8* from = row + (i64)x * (STEP * (int)sizeof(T));
        if (n >= V) {
#pragma unroll
            for (int r = 0; r < RUNS; r++)
                load_global<RUN_BYTES, piece_of(A, RUN_BYTES)>(w + r * (RUN_BYTES / 4), from + r * plane);
        } else {
            typedef typename Sample<T>::Raw Raw;
#pragma unroll
            for (int i = 0; i < WORDS; i++) w[i] = 0;
#pragma unroll
            for (int r = 0; r < RUNS; r++)
#pragma unroll
                for (int s = 0; s < V * STEP; s++)
                    if (s < n * STEP)
                        put(w + r * (RUN_BYTES / 4), s * (int)sizeof(T),
                            __ldg((const Raw*)(from + r * plane) + s));
        }
    }

    template <int A> INLINE void store(u8* row, i64 plane, int x, int n) const {
        u8* to = row + (i64)x * (STEP * (int)sizeof(T));
        if (n >= V) {
#pragma unroll
            for (int r = 0; r < RUNS; r++)
                store_global<RUN_BYTES, piece_of(A, RUN_BYTES)>(w + r * (RUN_BYTES / 4), to + r * plane);
        } else {
            typedef typename Sample<T>::Raw Raw;
#pragma unroll
            for (int r = 0; r < RUNS; r++)
#pragma unroll
                for (int s = 0; s < V * STEP; s++)
                    if (s < n * STEP) {
                        Raw v;
                        take(w + r * (RUN_BYTES / 4), s * (int)sizeof(T), v);
                        ((Raw*)(to + r * plane))[s] = v;
                    }
        }
    }
};

// Taps of a weighted sum of samples T. Those of weight 0 are none: they fill up a table's rows, and what lies there may
// be infinite or NaN. Integers are neither, and add 0.
template <typename T> INLINE float first_tap(float w, float v) { return Sample<T>::FLOAT && w == 0.0f ? -0.0f : w * v; }
template <typename T> INLINE float next_tap(float w, float v, float sum) {
    return Sample<T>::FLOAT && w == 0.0f ? sum : __fmaf_rn(w, v, sum);
}
template <typename T> INLINE double next_tap(double w, float v, double sum) {
    return Sample<T>::FLOAT && w == 0.0 ? sum : __fma_rn(w, (double)v, sum);
}
// Long sums are binary64.
template <bool LONG> struct Sum { typedef float Type; };
template <> struct Sum<true> { typedef double Type; };
