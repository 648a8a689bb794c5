// Images beside each other.

// C samples of type T side by side. A block of 32 x 8 threads makes 32 x 32 pixels.
template <class T, int C, class P> INLINE void tile_images(const P& p) {
    typedef typename Sample<T>::Raw Raw;
    const i64 x = (i64)blockIdx.x * 32 + threadIdx.x;
    if (x >= p.width) return;
    const u32 column = (u32)x / p.step_x, at = (u32)x % p.step_x;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 band = blockIdx.y; band < p.bands; band += gridDim.y)
            for (int k = 0; k < 4; k++) {
                const i64 y = band * 32 + k * 8 + threadIdx.y;
                if (y >= p.height) break;
                const u32 row = (u32)y / p.step_y, line = (u32)y % p.step_y, i = row * p.columns + column;
                const bool covered = at < p.cell_width && line < p.cell_height && i < p.count;
                const Image& from = p.in[covered ? i : 0];
                for (u32 plane = 0; plane < p.planes; plane++) {
                    const Raw* const in = (const Raw*)(from.start + f * from.frame + plane * from.plane + (i64)line * from.row) + (i64)at * C;
                    Raw* const out = (Raw*)(p.out.start + f * p.out.frame + plane * p.out.plane + y * p.out.row) + x * C;
                    for (int c = 0; c < C; c++) out[c] = covered ? __ldg(in + c) : (Raw)Sample<T>::narrow(p.uniform[plane + c]);
                }
            }
}
