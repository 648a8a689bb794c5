// Source pixels whose column depends on the output's row, or the reverse.

// Transposed images: a block brings a square tile of the source to shared memory row by row, and writes it column by
// column, so that neighbouring threads read and write neighbouring pixels. Planar images are handled plane by plane
// (C is 1). X maps output rows to source columns, Y output columns to source rows.
template <typename T, int C, int X, int Y, int A_IN, int A_OUT, class P> INLINE void transpose_tiles(const P& p) {
    constexpr int SIDE = 32, PIXEL = C * (int)sizeof(T);
    // An odd number of words: a column of the tile lies in 32 different banks.
    constexpr int PITCH = SIDE * PIXEL + 4;
    // Words where pixels are made of them.
    constexpr int FROM = PIXEL % 4 == 0 && A_IN % 4 == 0 ? 4 : (int)sizeof(T);
    constexpr int TO = PIXEL % 4 == 0 && A_OUT % 4 == 0 ? 4 : (int)sizeof(T);
    typedef typename Piece<FROM>::Type From;
    typedef typename Piece<TO>::Type To;
    extern __shared__ uint4 shared[];
    u8* const tile = (u8*)shared;
    const i64 x0 = (i64)blockIdx.x * SIDE;
    const int columns = (int)min((i64)SIDE, p.width - x0);
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (i64 y0 = (i64)blockIdx.y * SIDE; y0 < p.height; y0 += (i64)gridDim.y * SIDE) {
            const int rows = (int)min((i64)SIDE, p.height - y0), lane = threadIdx.x;
            __syncthreads();
            // Tile row i is the source row of output column x0 + i; its pixels are the source columns of output rows.
            if (lane < rows) {
                const i64 column = axis<X>(p.x_origin, p.x_table, (u32)y0 + lane);
#pragma unroll 4
                for (int i = threadIdx.y; i < columns; i += blockDim.y) {
                    const i64 row = axis<Y>(p.y_origin, p.y_table, (u32)x0 + i);
                    const From* from = (const From*)(in + row * p.in.row + column * PIXEL);
                    From* to = (From*)(tile + i * PITCH + lane * PIXEL);
#pragma unroll
                    for (int k = 0; k < PIXEL / FROM; k++) to[k] = __ldg(from + k);
                }
            }
            __syncthreads();
            if (lane < columns) {
#pragma unroll 4
                for (int i = threadIdx.y; i < rows; i += blockDim.y) {
                    const To* from = (const To*)(tile + lane * PITCH + i * PIXEL);
                    To* to = (To*)(out + (y0 + i) * p.out.row + (x0 + lane) * PIXEL);
#pragma unroll
                    for (int k = 0; k < PIXEL / TO; k++) to[k] = from[k];
                }
            }
        }
    }
}
