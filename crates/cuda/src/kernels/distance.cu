// Distances to the nearest 0: along each column, then over the columns of each row.

#define PARTS 32  // of a column, each a thread's

INLINE float infinite() { return __uint_as_float(0x7F800000u); }

// A block takes 32 columns; thread (x, part) some rows of one.
template <class P> INLINE void distance_columns(const P& p) {
    extern __shared__ uint4 shared[];
    int *const first = (int*)shared, *const last = first + PARTS * 32;
    const int lane = threadIdx.x % 32, part = threadIdx.x / 32, none = 1 << 28;
    const int rows = (p.height + PARTS - 1) / PARTS, top = min(part * rows, p.height), bottom = min(top + rows, p.height);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 start = blockIdx.x * (i64)32; start < p.width; start += gridDim.x * (i64)32) {
            const i64 x = min(start + lane, (i64)p.width - 1);
            const u8* const in = p.in.start + f * p.in.frame + x;
            int lowest = none, highest = -none;
#pragma unroll 8
            for (int y = top; y < bottom; y++)
                if (__ldg(in + y * p.in.row) == 0) lowest = min(lowest, y), highest = y;
            __syncthreads();
            first[part * 32 + lane] = lowest, last[part * 32 + lane] = highest;
            __syncthreads();
            int above = -none, below = none;
            for (int other = 0; other < PARTS; other++) {
                if (other < part) above = max(above, last[other * 32 + lane]);
                if (other > part) below = min(below, first[other * 32 + lane]);
            }
            if (start + lane >= p.width) continue;
            float* const out = (float*)(p.out.start + f * p.out.frame) + x;
            const i64 step = p.out.row / 4;
#pragma unroll 8
            for (int y = bottom - 1; y >= top; y--) {
                if (__ldg(in + y * p.in.row) == 0) below = y;
                out[y * step] = below == none ? infinite() : (float)(below - y);
            }
#pragma unroll 8
            for (int y = top; y < bottom; y++) {
                const float down = out[y * step];
                if (down == 0.0f) above = y;
                if (above > -none && (float)(y - above) < down) out[y * step] = (float)(y - above);
            }
        }
}

enum Metric { L2, L1, LINF };

// T holds the square of a diagonal exactly.
template <int METRIC, class T, class P> INLINE void distance_rows(const P& p) {
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 y = blockIdx.y * (i64)blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y) {
            const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
            if (x >= p.width) continue;
            const float* const columns = (const float*)(p.in.start + f * p.in.frame + y * p.in.row);
            // Of k columns away; no distance is shorter than k itself.
            const auto far = [&](T k, float column) {
                const T d = (T)column;
                return METRIC == L2 ? k * k + d * d : METRIC == L1 ? k + d : (k > d ? k : d);
            };
            T best = far(0, __ldg(columns + x));
            const int end = max(x, p.width - 1 - x);
            for (int k = 1; k <= end && (METRIC == L2 ? (T)k * (T)k : (T)k) < best; k++) {
                if (k <= x) {
                    const T d = far((T)k, __ldg(columns + x - k));
                    best = d < best ? d : best;
                }
                if (x + k < p.width) {
                    const T d = far((T)k, __ldg(columns + x + k));
                    best = d < best ? d : best;
                }
            }
            // The root of a number that binary32 holds is the same rounded once or twice.
            const float root = sizeof(T) == 4 ? __fsqrt_rn((float)best) : (float)__dsqrt_rn((double)best);
            ((float*)(p.out.start + f * p.out.frame + y * p.out.row))[x] = METRIC == L2 ? root : (float)best;
        }
}
