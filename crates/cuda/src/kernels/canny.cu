// Which pixels are edges (2), may be edges (1) or are none (0).

#define CANNY_WIDTH 64
#define CANNY_HEIGHT 16

template <int SQUARED> INLINE int canny_threshold(float threshold) {
    const float limited = threshold < 32767.0f ? threshold : 32767.0f;
    const double v = limited > 0.0f ? (double)limited : 0.0;
    return (int)(SQUARED ? v * v : v);
}

// A block makes a tile, of its pixels and two more on each side.
template <int SQUARED, class P> INLINE void canny_classes(const P& p) {
    constexpr int W = CANNY_WIDTH, H = CANNY_HEIGHT, THREADS = 256;
    extern __shared__ uint4 shared[];
    int* const strength = (int*)shared;  // (H + 2) rows of W + 2
    i16* const dx = (i16*)(strength + (H + 2) * (W + 2));
    i16* const dy = dx + W * H;
    u8* const gray = (u8*)(dy + W * H);  // (H + 4) rows of W + 4
    const int a = canny_threshold<SQUARED>(p.uniform[0]), b = canny_threshold<SQUARED>(p.uniform[1]);
    const int low = min(a, b), high = max(a, b);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 band = blockIdx.y; band < p.bands; band += gridDim.y) {
            const int left = blockIdx.x * W, top = (int)band * H;
            const u8* const in = p.in.start + f * p.in.frame;
            __syncthreads();
            for (int i = threadIdx.x; i < (H + 4) * (W + 4); i += THREADS) {
                const int x = left + i % (W + 4) - 2, y = top + i / (W + 4) - 2;
                gray[i] = __ldg(in + min(max(y, 0), p.height - 1) * p.in.row + min(max(x, 0), p.width - 1));
            }
            __syncthreads();
            for (int i = threadIdx.x; i < (H + 2) * (W + 2); i += THREADS) {
                const int column = i % (W + 2), row = i / (W + 2), x = left + column - 1, y = top + row - 1;
                const u8* const g = gray + (row + 1) * (W + 4) + column + 1;
                const u8 *const above = g - (W + 4), *const below = g + (W + 4);
                const int gx = above[1] + 2 * g[1] + below[1] - above[-1] - 2 * g[-1] - below[-1];
                const int gy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
                const bool inside = (u32)x < (u32)p.width && (u32)y < (u32)p.height;
                strength[i] = inside ? (SQUARED ? gx * gx + gy * gy : abs(gx) + abs(gy)) : 0;
                if ((u32)(column - 1) < W && (u32)(row - 1) < H) {
                    const int at = (row - 1) * W + column - 1;
                    dx[at] = (i16)gx, dy[at] = (i16)gy;
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; i < W * H; i += THREADS) {
                const int column = i % W, row = i / W, x = left + column, y = top + row;
                if (x >= p.width || y >= p.height) continue;
                const int* const s = strength + (row + 1) * (W + 2) + column + 1;
                const int m = s[0], gx = dx[i], gy = dy[i], t = abs(gx) * 13573, v = abs(gy) << 15;
                int before, behind, ties = 1;  // what m must be above, and what it must not be below
                if (v < t) {
                    before = s[-1], behind = s[1];
                } else if (v > t + (abs(gx) << 16)) {
                    before = s[-(W + 2)], behind = s[W + 2];
                } else {
                    const int side = (gx ^ gy) < 0 ? -1 : 1;
                    before = s[-(W + 2) - side], behind = s[W + 2 + side], ties = 0;
                }
                const bool edge = m > low && m > before && m + ties > behind;
                p.out.start[f * p.out.frame + y * p.out.row + x] = edge ? 1 + (m > high) : 0;
            }
        }
}
