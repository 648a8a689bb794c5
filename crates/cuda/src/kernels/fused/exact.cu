// Bilinear reduction of interleaved bytes by 3:2 and by 2:1, then luma: the weights are 3/4 and 1/4, or 1/2, so
// that the weighted sums are integers and their rounding is that of a single division by 16 or by 4.

// WX0 * byte K + WX1 * byte K + 3 of a row in words, added to `sum`. Three bytes on lies the next pixel.
template <int K, u32 WX0, u32 WX1> INLINE u32 two_taps(const u32* w, u32 sum) {
    if constexpr (K % 4 == 0) return __dp4a(w[K / 4], WX0 | WX1 << 24, sum);
    else return __dp4a(w[K / 4], WX0 << (K % 4 * 8), __dp4a(w[K / 4 + 1], WX1 << ((K + 3) % 4 * 8), sum));
}

// MAGIC + n as bits to n / DIVISOR, rounded to nearest even: exact up to the addition, which rounds.
template <int DIVISOR> INLINE float divided(u32 sum) {
    return __fmaf_rn(__uint_as_float(sum), 1.0f / DIVISOR, MAGIC - MAGIC / DIVISOR) - MAGIC;
}

// Output I of a row of 3:2: source pixels 3 I / 2 and the next with weights 3, 1 (I even) or 1, 3 (odd), over
// two rows with weights WA and WB.
template <int I, int C, u32 WA, u32 WB> INLINE float sample_3_2(const u32* a, const u32* b) {
    constexpr int K = (I / 2 * 3 + I % 2) * 3 + C;
    constexpr u32 W0 = I % 2 ? 1 : 3, W1 = 4 - W0;
    return divided<16>(two_taps<K, W0 * WA, W1 * WA>(a, two_taps<K, W0 * WB, W1 * WB>(b, MAGIC_BITS)));
}
template <int I, int C> INLINE float sample_2_1(const u32* a, const u32* b) {
    return divided<4>(two_taps<I * 6 + C, 1, 1>(a, two_taps<I * 6 + C, 1, 1>(b, MAGIC_BITS)));
}

template <int I, int N, u32 WA, u32 WB, int R, int G, int B> INLINE void grays_3_2(float* o, const u32* a, const u32* b) {
    if constexpr (I < N) {
        o[I] = gray<u8>(sample_3_2<I, R, WA, WB>(a, b), sample_3_2<I, G, WA, WB>(a, b), sample_3_2<I, B, WA, WB>(a, b));
        grays_3_2<I + 1, N, WA, WB, R, G, B>(o, a, b);
    }
}
template <int I, int N, int R, int G, int B> INLINE void grays_2_1(float* o, const u32* a, const u32* b) {
    if constexpr (I < N) {
        o[I] = gray<u8>(sample_2_1<I, R>(a, b), sample_2_1<I, G>(a, b), sample_2_1<I, B>(a, b));
        grays_2_1<I + 1, N, R, G, B>(o, a, b);
    }
}

// 8 pixels of 2 rows from 12 pixels of 3 rows. `row_of(j)` is where the unit begins in its source row j.
template <class P, int R, int G, int B, int A, class RowOf> INLINE void reduce_3_2(u8* patch, RowOf row_of) {
    u32 above[9], middle[9], below[9];
    load_shared<36, 4>(above, row_of(0));
    load_shared<36, 4>(middle, row_of(1));
    float o[8];
    grays_3_2<0, 8, 3, 1, R, G, B>(o, above, middle);
    tile_store<typename P::T, 1, 4>(patch, o);
    tile_store<typename P::T, 1, 4>(patch + 4 * P::PIXEL, o + 4);
    load_shared<36, 4>(below, row_of(2));
    grays_3_2<0, 8, 1, 3, R, G, B>(o, middle, below);
    tile_store<typename P::T, 1, 4>(patch + P::PITCH, o);
    tile_store<typename P::T, 1, 4>(patch + P::PITCH + 4 * P::PIXEL, o + 4);
}

// 4 pixels from 8 pixels of 2 rows.
template <class P, int R, int G, int B, int A, class RowOf> INLINE void reduce_2_1(u8* patch, RowOf row_of) {
    u32 above[6], below[6];
    load_shared<24, piece_of(A, 8)>(above, row_of(0));
    load_shared<24, piece_of(A, 8)>(below, row_of(1));
    float o[4];
    grays_2_1<0, 4, R, G, B>(o, above, below);
    tile_store<typename P::T, 1, 4>(patch, o);
}
