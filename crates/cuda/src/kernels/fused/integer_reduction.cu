// Bilinear reduction of bytes by 3:2 and by 2:1, of gray or of interleaved colours and then luma: the weights are 3/4 and 1/4, or 1/2, so
// that the weighted sums are integers and their rounding is that of a single division by 16 or by 4. Straight
// from memory to a tile.

template <int BYTES, int A> INLINE void load_unit(u32* w, const u8* from) {
    if constexpr (A >= 4) load_global<BYTES, piece_of(A, BYTES % 8 ? 4 : 8)>(w, from);
    else load_anywhere<BYTES>(w, from);
}

// 3:2 in pairs of binary16. A byte in the low bits of a binary16 is the number byte * 2^-24; integers up to 2048
// of any such unit are exact. What is not scaled yet counts in 2^-24, sums count in 2^-10.
#define PAIR(half) ((half) * 0x10001u)
INLINE u32 pair_fma(u32 a, u32 b, u32 c) {
#ifdef __CUDA_ARCH__
    u32 r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
#else
    return emulated_pair_fma(a, b, c);  // kernels compiled for the host, by a test
#endif
}
// Bytes I and J of a row in words.
template <int I, int J> INLINE u32 byte_pair(const u32* w) {
    if constexpr (I / 4 == J / 4) return __byte_perm(w[I / 4], 0u, 0x4040 | I % 4 | J % 4 << 8);
    else return __byte_perm(__byte_perm(w[I / 4], w[J / 4], I % 4 | (4 + J % 4) << 4), 0u, 0x4140);
}

// Horizontal sums of 12 pixels with weights 3, 1 and 1, 3, less 512: red and green of 8 results, then the blues of
// each two.
struct Sums_3_2 {
    u32 red_green[8], blues[4];

    template <int R, int G, int B, int J = 0> INLINE void set(const u32* w) {
        if constexpr (J < 4) {
            constexpr int K = 9 * J;
            constexpr u32 ONE = PAIR(0x7400u), THREE = PAIR(0x7A00u), LESS = PAIR(0xB800u);  // 2^14, 3 * 2^14, -0.5
            const u32 middle = pair_fma(byte_pair<K + 3 + R, K + 3 + G>(w), ONE, LESS);
            const u32 blue = pair_fma(byte_pair<K + 3 + B, K + 3 + B>(w), ONE, LESS);
            red_green[2 * J] = pair_fma(byte_pair<K + R, K + G>(w), THREE, middle);
            red_green[2 * J + 1] = pair_fma(byte_pair<K + 6 + R, K + 6 + G>(w), THREE, middle);
            blues[J] = pair_fma(byte_pair<K + B, K + 6 + B>(w), THREE, blue);
            set<R, G, B, J + 1>(w);
        }
    }
};
// (3 a + b) / 16, rounded to nearest even, in the low bits: 1536 + result, where integers are neighbours.
INLINE u32 rows_3_1(u32 a, u32 b) {
    return pair_fma(pair_fma(a, PAIR(0x4200u), b), PAIR(0x5400u), PAIR(0x6680u));  // 3; 64; 1664
}
// Gray of 8 pixels from rows with weights 3 and 1.
template <class P> INLINE void grays_3_2(u8* to, const Sums_3_2& a, const Sums_3_2& b) {
    float o[8];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const u32 blues = rows_3_1(a.blues[j], b.blues[j]);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const u32 red_green = rows_3_1(a.red_green[2 * j + k], b.red_green[2 * j + k]);
            const u32 rgb = __byte_perm(red_green, blues, k ? 0x0620 : 0x0420);
            o[2 * j + k] = luma_of(__dp2a_hi(114u, rgb, __dp2a_lo(299u | 587u << 16, rgb, MAGIC_BITS)));
        }
    }
    tile_store<typename P::T, 1, 4>(to, o);
    tile_store<typename P::T, 1, 4>(to + 4 * P::PIXEL, o + 4);
}
// 8 pixels of 2 rows from 12 pixels of 3 rows.
template <class P, int R, int G, int B, int A> INLINE void reduce_3_2(u8* tile, const u8* from, i64 row) {
    u32 w[3][9];
#pragma unroll
    for (int j = 0; j < 3; j++) load_unit<36, A>(w[j], from + j * row);
    Sums_3_2 outer, middle;
    outer.set<R, G, B>(w[0]);
    middle.set<R, G, B>(w[1]);
    grays_3_2<P>(tile, outer, middle);
    outer.set<R, G, B>(w[2]);
    grays_3_2<P>(tile + P::PITCH, outer, middle);
}

// Horizontal sums of 12 gray pixels with weights 3, 1 and 1, 3, less 512: two results a word.
template <int J = 0> INLINE void gray_sums_3_2(u32* sums, const u32* w) {
    if constexpr (J < 4) {
        constexpr u32 ONE = PAIR(0x7400u), THREE = PAIR(0x7A00u), LESS = PAIR(0xB800u);
        const u32 middle = pair_fma(byte_pair<3 * J + 1, 3 * J + 1>(w), ONE, LESS);
        sums[J] = pair_fma(byte_pair<3 * J, 3 * J + 2>(w), THREE, middle);
        gray_sums_3_2<J + 1>(sums, w);
    }
}
template <class P> INLINE void gray_rows_3_2(u8* to, const u32* a, const u32* b) {
    float o[8];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const u32 pair = rows_3_1(a[j], b[j]);
        o[2 * j] = __uint_as_float(__byte_perm(pair, MAGIC_BITS, 0x7440)) - MAGIC;
        o[2 * j + 1] = __uint_as_float(__byte_perm(pair, MAGIC_BITS, 0x7442)) - MAGIC;
    }
    tile_store<typename P::T, 1, 4>(to, o);
    tile_store<typename P::T, 1, 4>(to + 4 * P::PIXEL, o + 4);
}
// 8 pixels of 2 rows from 12 pixels of 3 rows.
template <class P, int A> INLINE void reduce_gray_3_2(u8* tile, const u8* from, i64 row) {
    u32 w[3][3], outer[4], middle[4];
#pragma unroll
    for (int j = 0; j < 3; j++) load_unit<12, A>(w[j], from + j * row);
    gray_sums_3_2(outer, w[0]);
    gray_sums_3_2(middle, w[1]);
    gray_rows_3_2<P>(tile, outer, middle);
    gray_sums_3_2(outer, w[2]);
    gray_rows_3_2<P>(tile + P::PITCH, outer, middle);
}

// Bytes K and K + 3 of a row in words, added to `sum`: three bytes on lies the next pixel.
template <int K> INLINE u32 two_bytes(const u32* w, u32 sum) {
    if constexpr (K % 4 == 0) return __dp4a(w[K / 4], 0x01000001u, sum);
    else return __dp4a(w[K / 4], 1u << (K % 4 * 8), __dp4a(w[K / 4 + 1], 1u << ((K + 3) % 4 * 8), sum));
}
// MAGIC + the mean of 2 x 2 bytes, rounded to nearest even: the sum is exact, the addition rounds.
template <int K> INLINE float mean_of_four(const u32* a, const u32* b) {
    const u32 sum = two_bytes<K>(a, two_bytes<K>(b, MAGIC_BITS));
    return __fmaf_rn(__uint_as_float(sum), 0.25f, MAGIC - MAGIC / 4);
}
template <int I, int R, int G, int B> INLINE void grays_2_1(float* o, const u32* a, const u32* b) {
    if constexpr (I < 4) {
        o[I] = gray_near(mean_of_four<I * 6 + R>(a, b), mean_of_four<I * 6 + G>(a, b), mean_of_four<I * 6 + B>(a, b));
        grays_2_1<I + 1, R, G, B>(o, a, b);
    }
}
// 4 pixels from 8 pixels of 2 rows.
template <class P, int R, int G, int B, int A> INLINE void reduce_2_1(u8* tile, const u8* from, i64 row) {
    u32 above[6], below[6];
    load_unit<24, A>(above, from);
    load_unit<24, A>(below, from + row);
    float o[4];
    grays_2_1<0, R, G, B>(o, above, below);
    tile_store<typename P::T, 1, 4>(tile, o);
}
// 4 gray pixels from 8 pixels of 2 rows.
template <class P, int A> INLINE void reduce_gray_2_1(u8* tile, const u8* from, i64 row) {
    u32 above[2], below[2];
    load_unit<8, A>(above, from);
    load_unit<8, A>(below, from + row);
    float o[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const u32 ones = i % 2 ? 0x01010000u : 0x00000101u;
        const u32 sum = __dp4a(above[i / 2], ones, __dp4a(below[i / 2], ones, MAGIC_BITS));
        o[i] = __fmaf_rn(__uint_as_float(sum), 0.25f, MAGIC - MAGIC / 4) - MAGIC;
    }
    tile_store<typename P::T, 1, 4>(tile, o);
}
