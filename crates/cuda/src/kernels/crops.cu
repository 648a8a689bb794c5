// Boxes of an image, each resized to a cell of some rows of the result.

// A pixel along an axis and the next one, with their weights.
struct CropTaps {
    u32 first;
    float weights[2];
};

// Crops::nearest and Crops::linear. U holds every product of a source coordinate and twice a side; with 32 bits, parts are
// exact in binary32, where a quotient is rounded as the one in binary64 and then to binary32.
template <class U> INLINE u32 crop_nearest(u32 i, u32 pixels, u32 cells) {
    return (u32)((2 * (U)i + 1) * pixels / (2 * (U)cells));
}
template <class U> INLINE float crop_quotient(U a, U b) {
    if constexpr (sizeof(U) == 4) return __fdiv_rn((float)a, (float)b);
    return (float)__ddiv_rn((double)a, (double)b);
}
template <class U> INLINE CropTaps crop_linear(u32 i, u32 pixels, u32 cells) {
    const U place = (2 * (U)i + 1) * pixels, parts = 2 * (U)cells;
    if (place <= cells) return {0, {1.0f, 0.0f}};
    const U first = (place - cells) / parts, rest = (place - cells) - first * parts;
    if (first + 1 >= pixels) return {pixels - 1, {1.0f, 0.0f}};
    return {(u32)first, {crop_quotient<U>(parts - rest, parts), crop_quotient<U>(rest, parts)}};
}

// Two taps; one of weight 0 is none.
INLINE float crop_sum(const float* w, float first, float second) {
    const float sum = w[0] == 0.0f ? -0.0f : w[0] * first;
    return w[1] == 0.0f ? sum : __fmaf_rn(w[1], second, sum);
}

// Pixels between two edges, of a side; none if an edge is no number.
struct CropSpan {
    u32 first, count;
};
INLINE u32 crop_edge(float v, u32 side) { return v >= 4294967296.0f ? side : v > 0.0f ? min((u32)v, side) : 0; }
INLINE CropSpan crop_span(float from, float to, u32 side) {
    if (!(from < to)) return {0, 0};
    const u32 first = crop_edge(from, side);
    return {first, crop_edge(to, side) - first};
}

// Samples of a line of the source, from a place on: the taps of a column of a cell. Taps of weight 0 are not read.
template <class Px, bool ALPHA> INLINE void crop_pair(const u8* line, i64 plane, const CropTaps& taps, float* v) {
    typedef typename Px::T T;
    const T* from = (const T*)line + (i64)taps.first * Px::STEP;
    const T* next = taps.weights[1] == 0.0f ? from : from + Px::STEP;
    float a[Px::C], b[Px::C];
#pragma unroll
    for (int c = 0; c < Px::C; c++) {
        const i64 channel = Px::PLANAR ? c * plane : (i64)(c * sizeof(T));
        a[c] = Sample<T>::widen(__ldg((const T*)((const u8*)from + channel)));
        b[c] = Sample<T>::widen(__ldg((const T*)((const u8*)next + channel)));
    }
#pragma unroll
    for (int c = 0; c < Px::C; c++) {
        if (ALPHA && c < Px::C - 1) a[c] *= a[Px::C - 1], b[c] *= b[Px::C - 1];
        v[c] = crop_sum(taps.weights, a[c], b[c]);
    }
}

// Rows of a thread, which share the places of their columns.
#define CROP_ROWS 4

template <class Px, int FILTER, bool ALPHA, class U, int A_OUT, class P> INLINE void crop_pixels(const P& p) {
    constexpr int V = Px::V, C = Px::C;
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (x >= p.width) return;
    const int n = min(V, p.width - x);
    const u32 rows = p.rows;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const Image& in = p.in[0];
        const u8* const source = in.start + f * in.frame;
        u8* out = p.out.start + f * p.out.frame;
        u32 cell = 0xFFFFFFFFu;
        CropSpan across = {0, 0}, down = {0, 0};
        CropTaps columns[V];
        const i64 step = (i64)gridDim.y * blockDim.y * CROP_ROWS;
        for (i64 top = (blockIdx.y * (i64)blockDim.y + threadIdx.y) * CROP_ROWS; top < p.height; top += step)
#pragma unroll 1
            for (i64 y = top; y < min(top + CROP_ROWS, (i64)p.height); y++) {
                const u32 here = (u32)y / rows, row = (u32)y - here * rows;
                if (here != cell) {
                    cell = here;
                    const Edges e = edges_of(box_of(p.in[1], f, here));
                    across = crop_span(e.left, e.right, p.in_width), down = crop_span(e.top, e.bottom, p.in_height);
                    // None of one axis is none of the other.
                    if (across.count == 0) down.count = 0;
                    if (down.count > 0) {
#pragma unroll
                        for (int i = 0; i < V; i++) {
                            // A vector of pixels may end behind the row.
                            const u32 column = min(x + i, p.width - 1);
                            if constexpr (FILTER == BILINEAR) {
                                columns[i] = crop_linear<U>(column, across.count, p.width);
                            } else {
                                columns[i].first = crop_nearest<U>(column, across.count, p.width);
                            }
                            columns[i].first += across.first;
                        }
                    }
                }
                u32 bits[V * C];
                if (down.count > 0) {
                    CropTaps line = {0, {1.0f, 0.0f}};
                    if constexpr (FILTER == BILINEAR) {
                        line = crop_linear<U>(row, down.count, rows);
                    } else {
                        line.first = crop_nearest<U>(row, down.count, rows);
                    }
                    const u8* const above = source + (i64)(down.first + line.first) * in.row;
                    const u8* const below = line.weights[1] == 0.0f ? above : above + in.row;
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        float v[C];
                        if constexpr (FILTER == BILINEAR) {
                            float second[C];
                            crop_pair<Px, ALPHA>(above, in.plane, columns[i], v);
                            crop_pair<Px, ALPHA>(below, in.plane, columns[i], second);
#pragma unroll
                            for (int c = 0; c < C; c++) v[c] = crop_sum(line.weights, v[c], second[c]);
                            if (ALPHA) divide_by_alpha<1, C>(v);
                        } else {
                            const typename Px::T* from = (const typename Px::T*)above + (i64)columns[i].first * Px::STEP;
#pragma unroll
                            for (int c = 0; c < C; c++) {
                                const i64 channel = Px::PLANAR ? c * in.plane : (i64)(c * sizeof(*from));
                                v[c] = Sample<typename Px::T>::widen(__ldg((const typename Px::T*)((const u8*)from + channel)));
                            }
                        }
#pragma unroll
                        for (int c = 0; c < C; c++) bits[i * C + c] = Sample<typename Px::T>::narrow(v[c]);
                    }
                } else {
#pragma unroll
                    for (int i = 0; i < V * C; i++) bits[i] = Sample<typename Px::T>::narrow(0.0f);
                }
                Px px;
                px.set(bits);
                px.template store<A_OUT>(out + y * p.out.row, p.out.plane, x, n);
            }
    }
}
