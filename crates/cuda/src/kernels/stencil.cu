// Expressions of a fixed neighbourhood, straight from memory: one pixel a thread, for every border and any reach. What fits
// into a fused kernel is computed there, from a tile.

// The pixels around one that lies far enough inside.
template <typename T, int C, bool PLANAR> struct Inner {
    const u8* own;
    i64 row, plane;
    INLINE float of(int c, int dx, int dy) const {
        const u8* at = own + dy * row + (PLANAR ? c * plane : 0);
        return Sample<T>::widen(__ldg((const T*)at + (PLANAR ? dx : dx * C + c)));
    }
};

// The pixels around any.
template <typename T, int C, bool PLANAR, int BORDER> struct Outer {
    const u8* start;
    i64 row, plane;
    int x, y, w, h;
    float constant;
    INLINE float of(int c, int dx, int dy) const {
        const i64 column = inside<BORDER>((i64)x + dx, w), line = inside<BORDER>((i64)y + dy, h);
        if (BORDER == CONSTANT && (column < 0 || line < 0)) return constant;
        const u8* at = start + line * row + (PLANAR ? c * plane : 0);
        return Sample<T>::widen(__ldg((const T*)at + (PLANAR ? column : column * C + c)));
    }
};

template <class F, typename TI, int CI, bool PI, typename TO, int CO, bool PO, int RX, int RY, int BORDER, class P>
INLINE void stencil_pixels(const P& p) {
    const i64 x = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= p.width) return;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const u8* in = p.in.start + f * p.in.frame;
        for (i64 y = (i64)blockIdx.y * blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y) {
            float v[CO];
            if (x >= RX && y >= RY && x + RX < p.width && y + RY < p.height) {
                const Inner<TI, CI, PI> near = {in + y * p.in.row + x * (PI ? 1 : CI) * (int)sizeof(TI), p.in.row, p.in.plane};
                F::of(v, near, p.uniform, p.tables, (int)x, (int)y);
            } else {
                const Outer<TI, CI, PI, BORDER> near = {in, p.in.row, p.in.plane, (int)x, (int)y, p.width, p.height, p.constant};
                F::of(v, near, p.uniform, p.tables, (int)x, (int)y);
            }
            u8* out = p.out.start + f * p.out.frame + y * p.out.row;
#pragma unroll
            for (int c = 0; c < CO; c++) {
                const u32 bits = Sample<TO>::narrow(v[c]);
                typename Sample<TO>::Raw raw;
                take(&bits, 0, raw);
                ((typename Sample<TO>::Raw*)(out + (PO ? c * p.out.plane : 0)))[PO ? x : x * CO + c] = raw;
            }
        }
    }
}
