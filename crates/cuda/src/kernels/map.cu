// Kernels that read their own pixel. Each thread makes V pixels of ROWS rows; all its loads start before the
// first result is needed.

// The third and fourth input of an operation that has them.
template <class Op, bool MORE, int ROWS> struct MoreInputs {
    template <int A_IN, class P> INLINE void load(const P&, u32, int, u32, int, int) {}
    template <class P, class A, class B, class O> INLINE void run(const P& p, const A& a, const B& b, int, O& o, int x, int y) {
        Op::run(p, a, b, o, x, y);
    }
};
template <class Op, int ROWS> struct MoreInputs<Op, true, ROWS> {
    typename Op::In2 c[ROWS];
    typename Op::In3 d[ROWS];
    template <int A_IN, class P> INLINE void load(const P& p, u32 f, int x, u32 y, int r, int n) {
        const Image& i2 = p.in[2];
        c[r].template load<A_IN>(i2.start + f * i2.frame + y * i2.row, i2.plane, x, n);
        if (Op::INPUTS > 3) {
            const Image& i3 = p.in[Op::INPUTS - 1];
            d[r].template load<A_IN>(i3.start + f * i3.frame + y * i3.row, i3.plane, x, n);
        }
    }
    template <class P, class A, class B, class O> INLINE void run(const P& p, const A& a, const B& b, int r, O& o, int x, int y) {
        Op::run(p, a, b, c[r], d[r], o, x, y);
    }
};

template <class Op, int ROWS, int A_IN, int A_OUT, class P> INLINE void map_rows(const P& p) {
    typedef typename Op::In0 In0;
    typedef typename Op::In1 In1;
    typedef typename Op::Out Out;
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * Out::V;
    if (x >= p.width) return;
    const int n = min(Out::V, p.width - x);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        for (u32 y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS; y < p.height;
             y += gridDim.y * blockDim.y * ROWS) {
            In0 a[ROWS];
            In1 b[ROWS];
            MoreInputs<Op, (Op::INPUTS > 2), ROWS> more;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (y + r >= p.height) break;
                const Image& i0 = p.in[0];
                a[r].template load<A_IN>(i0.start + f * i0.frame + (y + r) * i0.row, i0.plane, x, n);
                if (Op::INPUTS > 1) {
                    const Image& i1 = p.in[Op::INPUTS > 1 ? 1 : 0];
                    b[r].template load<A_IN>(i1.start + f * i1.frame + (y + r) * i1.row, i1.plane, x, n);
                }
                more.template load<A_IN>(p, f, x, y + r, r, n);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (y + r >= p.height) break;
                Out o;
                more.run(p, a[r], b[r], r, o, x, (int)(y + r));
                o.template store<A_OUT>(p.out.start + f * p.out.frame + (y + r) * p.out.row, p.out.plane, x, n);
            }
        }
    }
}

// Output channel c is input channel SOURCE[c], or opaque where that is -1. No arithmetic: bits are moved.
template <class In, class Out_, int... SOURCE> struct Permute {
    typedef In In0;
    typedef In In1;
    typedef Out_ Out;
    static constexpr int INPUTS = 1;
    template <class P> static INLINE void run(const P&, const In& a, const In&, Out& o, int, int) {
        typedef Sample<typename Out::T> S;
        constexpr int source[] = {SOURCE...};
        constexpr int size = 4 / Out::PER_WORD;
#pragma unroll
        for (int j = 0; j < Out::WORDS; j++) {
            int from[4] = {0, 0, 0, 0};
            u32 opaque = 0, mask = 0;
#pragma unroll
            for (int k = 0; k < Out::PER_WORD; k++) {
                const int s = j * Out::PER_WORD + k;
                const int c = Out::PLANAR ? s / Out::V : s % Out::C;
                const int i = Out::PLANAR ? s % Out::V : s / Out::C;
                if (source[c] >= 0)
                    from[k] = In::index(i, source[c]);
                else
                    opaque |= S::FULL_BITS << (k * 8 * size), mask |= (0xFFFFFFFFu >> (32 - 8 * size)) << (k * 8 * size);
            }
            const u32 word = S::join(a.w, from[0], from[1], from[2], from[3]);
            o.w[j] = (word & ~mask) | opaque;
        }
    }
};

template <typename T> struct Luma;
// 299 R + 587 G + 114 B is below 2^18, so the sum is exact, and so is its 1024th. n / 1000 = m + 0.024 m with
// m = n / 1024: one rounding that keeps every tie (all 255,001 values are checked by a test).
template <> struct Luma<u8> {
    static INLINE u32 of(const u32* w, int r, int g, int b) {
        typedef Sample<u8> S;
        const float m = __fmaf_rn(0.2919921875f, S::widen(w, r),
                                  __fmaf_rn(0.5732421875f, S::widen(w, g), 0.111328125f * S::widen(w, b)));
        return S::narrow_inside(__fmaf_rn(m, 0.024f, m));
    }
};
template <> struct Luma<u16> {
    static INLINE u32 at(const u32* w, int i) { return i % 2 ? w[i / 2] >> 16 : w[i / 2] & 0xFFFFu; }
    static INLINE u32 of(const u32* w, int r, int g, int b) {
        return whole_luma(at(w, r), at(w, g), at(w, b));
    }
};
template <> struct Luma<float> {
    static INLINE u32 of(const u32* w, int r, int g, int b) {
        typedef Sample<float> S;
        return __float_as_uint(
            __fmaf_rn(0.114f, S::widen(w, b), __fmaf_rn(0.587f, S::widen(w, g), 0.299f * S::widen(w, r))));
    }
};

template <> struct Luma<i16> {
    static INLINE u32 of(const u32* w, int r, int g, int b) {
        typedef Sample<i16> S;
        return S::narrow_inside(luma(S::widen(w, r), S::widen(w, g), S::widen(w, b)));
    }
};

// Luma of the input channels R, G, B to one channel.
template <class In, class Out_, int R, int G, int B> struct ToGray {
    typedef In In0;
    typedef In In1;
    typedef Out_ Out;
    static constexpr int INPUTS = 1;
    template <class P> static INLINE void run(const P&, const In& a, const In&, Out& o, int, int) {
        u32 bits[Out::V];
#pragma unroll
        for (int i = 0; i < Out::V; i++)
            bits[i] = Luma<typename In::T>::of(a.w, In::index(i, R), In::index(i, G), In::index(i, B));
        o.set(bits);
    }
};

// fma(v, u[2 k], u[2 k + 1]), where k is the channel's pair of uniforms.
template <class In, class Out_, int... PAIR> struct Affine {
    typedef In In0;
    typedef In In1;
    typedef Out_ Out;
    static constexpr int INPUTS = 1;
    template <class P> static INLINE void run(const P& p, const In& a, const In&, Out& o, int, int) {
        constexpr int pair[] = {PAIR...};
        u32 bits[Out::SAMPLES];
#pragma unroll
        for (int i = 0; i < Out::V; i++)
#pragma unroll
            for (int c = 0; c < Out::C; c++)
                bits[i * Out::C + c] = Sample<typename Out::T>::narrow(
                    __fmaf_rn(a.get(i, c), p.uniform[2 * pair[c]], p.uniform[2 * pair[c] + 1]));
        o.set(bits);
    }
};

// v > t ? m : 0 in the first COLOURS channels; the others are kept.
template <class In, class Out_, int COLOURS> struct Threshold {
    typedef In In0;
    typedef In In1;
    typedef Out_ Out;
    static constexpr int INPUTS = 1;
    template <class P> static INLINE void run(const P& p, const In& a, const In&, Out& o, int, int) {
        const u32 above = Sample<typename Out::T>::narrow(p.uniform[1]);
        const u32 below = Sample<typename Out::T>::narrow(0.0f);
        u32 bits[Out::SAMPLES];
#pragma unroll
        for (int i = 0; i < Out::V; i++)
#pragma unroll
            for (int c = 0; c < Out::C; c++)
                bits[i * Out::C + c] = c >= COLOURS              ? Sample<typename Out::T>::narrow(a.get(i, c))
                                       : a.get(i, c) > p.uniform[0] ? above
                                                                    : below;
        o.set(bits);
    }
};

// fma(b, wb, a * wa).
template <class In0_, class In1_, class Out_> struct Blend {
    typedef In0_ In0;
    typedef In1_ In1;
    typedef Out_ Out;
    static constexpr int INPUTS = 2;
    template <class P> static INLINE void run(const P& p, const In0& a, const In1& b, Out& o, int, int) {
        u32 bits[Out::SAMPLES];
#pragma unroll
        for (int i = 0; i < Out::V; i++)
#pragma unroll
            for (int c = 0; c < Out::C; c++)
                bits[i * Out::C + c] = Sample<typename Out::T>::narrow(
                    __fmaf_rn(b.get(i, c), p.uniform[0], a.get(i, c) * p.uniform[1]));
        o.set(bits);
    }
};

// An expression: F::of computes the channels of a pixel.
template <class F, class Out_, int N, class In0_, class In1_, class In2_, class In3_> struct Point {
    typedef In0_ In0;
    typedef In1_ In1;
    typedef In2_ In2;
    typedef In3_ In3;
    typedef Out_ Out;
    static constexpr int INPUTS = N;
    template <class In> static INLINE void pixel(float* v, const In& in, int i) {
#pragma unroll
        for (int c = 0; c < In::C; c++) v[c] = in.get(i, c);
    }
    template <class P> static INLINE void run(const P& p, const In0& a, const In1& b, Out& o, int x, int y) {
        run(p, a, b, a, a, o, x, y);
    }
    template <class P, class C, class D>
    static INLINE void run(const P& p, const In0& a, const In1& b, const C& c, const D& d, Out& o, int x, int y) {
        u32 bits[Out::SAMPLES];
#pragma unroll
        for (int i = 0; i < Out::V; i++) {
            float va[In0::C], vb[In1::C], vc[C::C], vd[D::C], result[Out::C];
            pixel(va, a, i);
            if (N > 1) pixel(vb, b, i);
            if (N > 2) pixel(vc, c, i);
            if (N > 3) pixel(vd, d, i);
            F::of(result, va, vb, vc, vd, p.uniform, p.tables, x + i, y);
#pragma unroll
            for (int k = 0; k < Out::C; k++) bits[i * Out::C + k] = Sample<typename Out::T>::narrow(result[k]);
        }
        o.set(bits);
    }
};
