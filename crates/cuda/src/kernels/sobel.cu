// Gradient magnitude of one channel with the 3x3 Sobel kernels.

template <typename T> INLINE float magnitude(float square) { return __fsqrt_rn(square); }
// For u8 the square is an integer below 2^21. The square root's approximation is off by less than 2 units in
// the last place, and no integer's root lies that near to a tie of the rounding (checked by a test).
template <> INLINE float magnitude<u8>(float square) { return sqrt_approx(square); }

template <class G, class Out, bool EXACT, int BORDER, int A_IN, int A_OUT, class P> INLINE void sobel_sliding(const P& p) {
    extern __shared__ uint4 shared[];
    u8* tile = (u8*)shared;
    constexpr int V = Out::V;
    const int x0 = blockIdx.x * (32 * V), x = x0 + threadIdx.x * V, n = min(V, p.width - x);
    const int block_rows = blockDim.y * p.rows;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const u8* in = p.in.start + f * p.in.frame;
        u8* out = p.out.start + f * p.out.frame;
        for (i64 y0 = (i64)blockIdx.y * block_rows; y0 < p.height; y0 += (i64)gridDim.y * block_rows) {
            const int own = (int)min((i64)block_rows, p.height - y0);
            __syncthreads();
            fill_tile<G, BORDER, A_IN>(tile, in, p.in.row, 0, p.width, p.height, x0, y0 - 1, own + 2, p.constant);
            wait_for_copies();
            __syncthreads();
            const int first = threadIdx.y * p.rows, last = min(first + p.rows, own);
            const u8* from = tile + first * G::PITCH + G::APRON + threadIdx.x * (V * G::PIXEL);
            u8* to = out + (y0 + first) * p.out.row;
            float d[3][V], s[3][V];
            for (int base = 0; base < last - first + 2; base += 3) {
#pragma unroll
                for (int k = 0; k < 3; k++) {
                    if (base + k >= last - first + 2) break;
                    Window<G, V, false> w;
                    w.load(from);
                    from += G::PITCH;
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        d[k][i] = w.v[i + 2] - w.v[i];
                        s[k][i] = __fmaf_rn(2.0f, w.v[i + 1], w.v[i] + w.v[i + 2]);
                    }
                    if (base + k < 2) continue;
                    u32 bits[V];
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        const float gx = __fmaf_rn(2.0f, d[(k + 2) % 3][i], d[(k + 1) % 3][i] + d[k][i]);
                        const float gy = s[k][i] - s[(k + 1) % 3][i];
                        const float square = __fmaf_rn(gx, gx, gy * gy);
                        const float m = EXACT ? magnitude<typename Out::T>(square) : __fsqrt_rn(square);
                        bits[i] = Sample<typename Out::T>::narrow(m);
                    }
                    Out o;
                    o.set(bits);
                    if (n > 0) o.template store<A_OUT>(to, 0, x, n);
                    to += p.out.row;
                }
            }
        }
    }
}
