// Symmetric separable filters of any radius, one channel after the other: premultiplied samples, then the
// horizontal results, lie in shared memory as binary32. 256 threads make 64 columns of 32 rows.

#define WIDE_COLUMNS 64
#define WIDE_ROWS 32
#define WIDE_STEP 8   // rows a thread makes

template <typename T, int C, bool PLANAR, bool ALPHA, int RX, int RY, int BORDER, class P>
INLINE void separable_wide(const P& p) {
    extern __shared__ uint4 shared[];
    constexpr int APRON = round_up(RX, 4), PITCH = WIDE_COLUMNS + 2 * APRON;
    constexpr int ROWS = WIDE_ROWS + 2 * RY;
    constexpr int CHANNELS = PLANAR && !ALPHA ? 1 : C;           // handled here; other planes are other blocks
    float* samples = (float*)shared;
    float* sums = samples + ROWS * PITCH;
    const int thread = threadIdx.x;
    const int x0 = blockIdx.x * WIDE_COLUMNS;
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (i64 y0 = (i64)blockIdx.y * WIDE_ROWS; y0 < p.height; y0 += (i64)gridDim.y * WIDE_ROWS) {
            float alpha[WIDE_STEP];
#pragma unroll 1
            for (int k = 0; k < CHANNELS; k++) {
                const int c = ALPHA ? C - 1 - k : k;             // alpha first: colours are divided by it
                __syncthreads();
                for (int i = thread; i < ROWS * (WIDE_COLUMNS + 2 * RX); i += 256) {
                    const int r = i / (WIDE_COLUMNS + 2 * RX), s = i - r * (WIDE_COLUMNS + 2 * RX) - RX;
                    if ((i64)x0 + s >= (i64)p.width + RX || y0 - RY + r >= (i64)p.height + RY) continue;
                    const i64 x = inside<BORDER>((i64)x0 + s, p.width), y = inside<BORDER>(y0 - RY + r, p.height);
                    float v = p.constant, a = p.constant;
                    if (BORDER != CONSTANT || (x >= 0 && y >= 0)) {
                        const u8* row = in + y * p.in.row;
                        v = Sample<T>::widen(PLANAR ? __ldg((const T*)(row + c * p.in.plane) + x)
                                                    : __ldg((const T*)row + x * C + c));
                        if (ALPHA && c < C - 1)
                            a = Sample<T>::widen(PLANAR ? __ldg((const T*)(row + (C - 1) * p.in.plane) + x)
                                                        : __ldg((const T*)row + x * C + C - 1));
                    }
                    samples[r * PITCH + APRON + s] = ALPHA && c < C - 1 ? v * a : v;
                }
                __syncthreads();
                for (int i = thread; i < ROWS * (WIDE_COLUMNS / 4); i += 256) {
                    const int r = i / (WIDE_COLUMNS / 4), x = (i - r * (WIDE_COLUMNS / 4)) * 4;
                    u32 raw[4 + 2 * APRON];
                    load_shared<16 + 8 * APRON, 16>(raw, (const u8*)(samples + r * PITCH + x));
                    float v[4 + 2 * APRON], sum[4];
#pragma unroll
                    for (int s = 0; s < 4 + 2 * APRON; s++) v[s] = __uint_as_float(raw[s]);
#pragma unroll
                    for (int s = 0; s < 4; s++) {
                        sum[s] = p.wx[0] * v[APRON + s];
#pragma unroll
                        for (int j = 1; j <= RX; j++)
                            sum[s] = __fmaf_rn(p.wx[j], v[APRON + s - j] + v[APRON + s + j], sum[s]);
                    }
                    *(float4*)(sums + r * WIDE_COLUMNS + x) = make_float4(sum[0], sum[1], sum[2], sum[3]);
                }
                __syncthreads();
                const int x = thread % WIDE_COLUMNS, step = thread / WIDE_COLUMNS * WIDE_STEP;
                float h[WIDE_STEP + 2 * RY];
#pragma unroll
                for (int j = 0; j < WIDE_STEP + 2 * RY; j++) h[j] = sums[(step + j) * WIDE_COLUMNS + x];
#pragma unroll
                for (int r = 0; r < WIDE_STEP; r++) {
                    float v = p.wy[0] * h[r + RY];
#pragma unroll
                    for (int j = 1; j <= RY; j++) v = __fmaf_rn(p.wy[j], h[r + RY - j] + h[r + RY + j], v);
                    if (ALPHA && c == C - 1) alpha[r] = v;
                    if (ALPHA && c < C - 1) v = alpha[r] > 0.0f ? __fdiv_rn(v, alpha[r]) : 0.0f;
                    const u32 bits = Sample<T>::narrow(v);
                    const i64 y = y0 + step + r;
                    if (x0 + x < p.width && y < p.height) {
                        typename Sample<T>::Raw raw;
                        take(&bits, 0, raw);
                        typename Sample<T>::Raw* row =
                            (typename Sample<T>::Raw*)(out + y * p.out.row + (PLANAR ? c * p.out.plane : 0));
                        row[PLANAR ? x0 + x : (i64)(x0 + x) * C + c] = raw;
                    }
                }
            }
        }
    }
}
