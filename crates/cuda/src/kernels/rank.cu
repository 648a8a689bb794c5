// Medians of squares of bytes, a word at a time: its bytes lie in the lower halves of 16 bits, two and two in a word.

// Brings of each half the smaller number to `a`, the larger one to `b`. All are below 256.
INLINE void order(u32& a, u32& b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
    u32 low, high;
    asm("min.u16x2 %0, %1, %2;" : "=r"(low) : "r"(a), "r"(b));
    asm("max.u16x2 %0, %1, %2;" : "=r"(high) : "r"(a), "r"(b));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    u32 low, high;  // subnormal numbers of binary16, in the same order
    asm("min.f16x2 %0, %1, %2;" : "=r"(low) : "r"(a), "r"(b));
    asm("max.f16x2 %0, %1, %2;" : "=r"(high) : "r"(a), "r"(b));
#else
    const u32 mask = (((a | 0x01000100u) - b) >> 8 & 0x00010001u) * 255u;  // where a is not below b
    const u32 low = (b & mask) | (a & ~mask), high = (a & mask) | (b & ~mask);
#endif
    a = low, b = high;
}

template <int SIDE> INLINE void sort(u32* v) {
    if (SIDE == 3) {
        order(v[0], v[2]), order(v[0], v[1]), order(v[1], v[2]);
    } else {
        order(v[0], v[3]), order(v[1], v[4]), order(v[0], v[2]), order(v[1], v[3]), order(v[0], v[1]);
        order(v[2], v[4]), order(v[1], v[2]), order(v[3], v[4]), order(v[2], v[3]);
    }
}

// Brings the least of COUNT to their front, the greatest to their end.
template <int COUNT> INLINE void ends(u32* v) {
    constexpr int LAST = COUNT - 1, HALF = (LAST + 1) / 2;
#pragma unroll
    for (int i = 0; i < HALF; i++) order(v[i], v[LAST - i]);
#pragma unroll
    for (int i = 1; i <= LAST / 2; i++) order(v[0], v[i]);
#pragma unroll
    for (int i = HALF; i < LAST; i++) order(v[i], v[LAST]);
}

// The median of sorted columns side by side, given by rank. Columns stay sorted when rows are; a sample with more than half of
// all above (or below) it is out.
template <int SIDE> INLINE u32 middle(u32 (*ranks)[SIDE]) {
#pragma unroll
    for (int i = 0; i < SIDE; i++) sort<SIDE>(ranks[i]);
    if (SIDE == 3) {
        u32 last[3] = {ranks[0][2], ranks[1][1], ranks[2][0]};
        sort<3>(last);
        return last[1];
    }
    const u32 *a = ranks[0], *b = ranks[1], *c = ranks[2], *d = ranks[SIDE - 2], *e = ranks[SIDE - 1];
    // Of thirteen. Whenever the least and the greatest of more than half of those that are left are out, the next one comes in.
    u32 some[8] = {a[3 % SIDE], a[4 % SIDE], b[2], b[3 % SIDE], b[4 % SIDE], c[1], c[2], c[3 % SIDE]};
    // Rows and columns are sorted: these are the only ones that can be the least or the greatest.
    order(some[0], some[2]), order(some[0], some[5]), order(some[4], some[7]);
    some[0] = d[0];
    ends<7>(some);
    some[0] = d[1];
    ends<6>(some);
    some[0] = d[2];
    ends<5>(some);
    some[0] = e[0];
    ends<4>(some);
    some[0] = e[1];
    ends<3>(some);
    return some[1];
}

// The bytes `at` and `at + 2` of a row whose words have even and odd bytes apart.
INLINE u32 pair(const u32* even, const u32* odd, int at) {
    const u32* words = (at & 1 ? odd : even) + at / 4;
    return at & 2 ? words[0] >> 16 | words[1] << 16 : words[0];
}

// A lane makes V pixels of a row, and warps `rows` rows. Planes are images of their own.
template <class G, class Out, int BORDER, int A_IN, int A_OUT, class P> INLINE void median_words(const P& p) {
    extern __shared__ uint4 shared[];
    u8* tile = (u8*)shared;
    constexpr int V = Out::V, C = G::C, R = G::RADIUS, SIDE = 2 * R + 1;
    constexpr int OWN = V * G::PIXEL, N = OWN / 4;                       // of a lane: bytes, words
    constexpr int NEAR = (R * C + 3) / 4, W = N + 2 * NEAR;              // words to each side, and all that are read
    constexpr int A = piece_of(16, OWN), BACK = round_up(4 * NEAR, A);
    const int x0 = blockIdx.x * (32 * V), x = x0 + threadIdx.x * V, n = min(V, p.width - x);
    const int block_rows = blockDim.y * p.rows;
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (i64 y0 = (i64)blockIdx.y * block_rows; y0 < p.height; y0 += (i64)gridDim.y * block_rows) {
            const int own = (int)min((i64)block_rows, p.height - y0);
            __syncthreads();
            fill_tile<G, BORDER, A_IN>(tile, in, p.in.row, 0, p.width, p.height, x0, y0 - R, own + 2 * R, p.constant);
            wait_for_copies();
            __syncthreads();
            const int first = threadIdx.y * p.rows, last = min(first + p.rows, own);
            const u8* from = tile + first * G::PITCH + G::APRON + threadIdx.x * OWN - BACK;
            u8* to = out + (y0 + first) * p.out.row;
            u32 rows[SIDE][W];
#pragma unroll 1
            for (int y = -2 * R; y < last - first; y++) {
                u32 row[2 * BACK / 4 + N];
                load_shared<2 * BACK + OWN, A>(row, from);
                from += G::PITCH;
#pragma unroll
                for (int w = 0; w < W; w++) {
#pragma unroll
                    for (int k = 0; k < SIDE - 1; k++) rows[k][w] = rows[k + 1][w];
                    rows[SIDE - 1][w] = row[BACK / 4 - NEAR + w];
                }
                if (y < 0) continue;
                u32 even[SIDE][W], odd[SIDE][W];
#pragma unroll
                for (int w = 0; w < W; w++) {
                    u32 e[SIDE], o[SIDE];
#pragma unroll
                    for (int k = 0; k < SIDE; k++) e[k] = rows[k][w] & 0x00FF00FFu, o[k] = rows[k][w] >> 8 & 0x00FF00FFu;
                    sort<SIDE>(e);
                    sort<SIDE>(o);
#pragma unroll
                    for (int k = 0; k < SIDE; k++) even[k][w] = e[k], odd[k][w] = o[k];
                }
                Out o;
#pragma unroll
                for (int w = 0; w < N; w++) {
                    u32 found[2];
#pragma unroll
                    for (int half = 0; half < 2; half++) {
                        u32 ranks[SIDE][SIDE];
#pragma unroll
                        for (int k = 0; k < SIDE; k++)
#pragma unroll
                            for (int i = 0; i < SIDE; i++)
                                ranks[k][i] = pair(even[k], odd[k], 4 * (NEAR + w) + half + (i - R) * C);
                        found[half] = middle<SIDE>(ranks);
                    }
                    o.w[w] = found[0] | found[1] << 8;
                }
                if (n > 0) o.template store<A_OUT>(to, 0, x, n);
                to += p.out.row;
            }
        }
    }
}
