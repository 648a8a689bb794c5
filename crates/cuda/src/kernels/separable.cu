// Symmetric separable filters of small radius. A tile of source samples lies in shared memory; each warp
// slides a window down its rows with the horizontal results of the last 2 RY + 1 rows in registers.

template <class G, class Out, bool ALPHA, int RY, int BORDER, int A_IN, int A_OUT, class P>
INLINE void separable_sliding(const P& p) {
    extern __shared__ uint4 shared[];
    u8* tile = (u8*)shared;
    constexpr int V = Out::V, C = G::C, RX = G::RADIUS, ROWS = 2 * RY + 1, N = V * C;
    const int x0 = blockIdx.x * (32 * V), x = x0 + threadIdx.x * V, n = min(V, p.width - x);
    const int block_rows = blockDim.y * p.rows;
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (i64 y0 = (i64)blockIdx.y * block_rows; y0 < p.height; y0 += (i64)gridDim.y * block_rows) {
            const int own = (int)min((i64)block_rows, p.height - y0);
            __syncthreads();
            fill_tile<G, BORDER, A_IN>(tile, in, p.in.row, p.in.plane, p.width, p.height, x0, y0 - RY, own + 2 * RY,
                                       p.constant);
            wait_for_copies();
            __syncthreads();
            const int first = threadIdx.y * p.rows;              // of this warp's rows, in the tile's own rows
            const int last = min(first + p.rows, own);           // one past
            const u8* from = tile + first * G::PITCH + G::APRON + threadIdx.x * (V * G::PIXEL);
            u8* to = out + (y0 + first) * p.out.row;
            float h[ROWS][N];
            for (int base = 0; base < last - first + 2 * RY; base += ROWS) {
#pragma unroll
                for (int k = 0; k < ROWS; k++) {
                    if (base + k >= last - first + 2 * RY) break;
                    Window<G, V, ALPHA> in_row;
                    in_row.load(from);
                    from += G::PITCH;
#pragma unroll
                    for (int s = 0; s < N; s++) {
                        float sum = p.wx[0] * in_row.v[s + RX * C];
#pragma unroll
                        for (int j = 1; j <= RX; j++)
                            sum = __fmaf_rn(p.wx[j], in_row.v[s + (RX - j) * C] + in_row.v[s + (RX + j) * C], sum);
                        h[k][s] = sum;
                    }
                    if (base + k < 2 * RY) continue;
                    float v[N];
#pragma unroll
                    for (int s = 0; s < N; s++) {
                        v[s] = p.wy[0] * h[(k + ROWS - RY) % ROWS][s];
#pragma unroll
                        for (int j = 1; j <= RY; j++)
                            v[s] = __fmaf_rn(p.wy[j],
                                             h[(k + ROWS - RY - j) % ROWS][s] + h[(k + ROWS - RY + j) % ROWS][s], v[s]);
                    }
                    if (ALPHA) divide_by_alpha<V, C>(v);
                    u32 bits[N];
#pragma unroll
                    for (int s = 0; s < N; s++) bits[s] = Sample<typename Out::T>::narrow(v[s]);
                    Out o;
                    o.set(bits);
                    if (n > 0) o.template store<A_OUT>(to, p.out.plane, x, n);
                    to += p.out.row;
                }
            }
        }
    }
}
