// Medians of large squares: each thread counts the samples around one column's pixels, row by row, in a histogram of its own
// in shared memory. Every lane has a bank to itself.

#define MEDIAN_THREADS 64

// Counters of a thread, of type COUNT: those of PER values in a word, a word of each lane beside each other.
template <class COUNT> struct Counters {
    static constexpr int PER = 4 / (int)sizeof(COUNT), WORDS = 256 / PER;
    u32* words;  // the lane's first
    int word;    // the one that the median was in
    u32 below;   // samples of smaller words

    INLINE explicit Counters(u32* shared)
        : words(shared + threadIdx.x / 32 * (WORDS * 32) + threadIdx.x % 32), word(0), below(0) {
        for (int i = 0; i < WORDS; i++) words[i * 32] = 0;
    }
    // One sample more (1) or less (-1).
    INLINE void count(u32 v, int change) {
        // Nobody else adds to it: an atomic operation is one that is not waited for. What is taken away has been counted, so that
        // nothing is borrowed from another counter.
        atomicAdd(words + v / PER * 32, (u32)change << (v % PER * (32 / PER)));
        below += v < (u32)(word * PER) ? change : 0;
    }
    // N samples, some of which are loaded at once.
    template <int N, class At> INLINE void count_all(int change, At at) {
        constexpr int AT_ONCE = 8;
#pragma unroll 2
        for (int start = 0; start < N; start += AT_ONCE) {
            u32 v[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (start + i < N) v[i] = at(start + i);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (start + i < N) count(v[i], change);
        }
    }
    INLINE u32 sum(u32 counts) const {
        return PER == 4 ? __dp4a(counts, 0x01010101u, 0u) : (counts & 0xFFFFu) + (counts >> 16);
    }
    // The value that so many samples come before.
    INLINE u32 median(u32 before) {
        while (below > before) below -= sum(words[--word * 32]);
        u32 counts = words[word * 32], all = sum(counts);
        while (below + all <= before) {
            below += all;
            counts = words[++word * 32];
            all = sum(counts);
        }
        u32 smaller = below, v = (u32)word * PER;
        for (int i = 0; i < PER - 1; i++) {
            smaller += counts & (PER == 4 ? 0xFFu : 0xFFFFu);
            if (smaller > before) break;
            counts >>= 32 / PER;
            v++;
        }
        return v;
    }
};

// R is half of a side; COLORS of the C channels that lie beside each other have medians, or of planes `colors`. A block makes
// columns of `strip` rows.
template <class COUNT, int R, int C, int COLORS, int BORDER, class P> INLINE void median_counts(const P& p) {
    constexpr int SIDE = 2 * R + 1;
    extern __shared__ uint4 shared[];
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* const in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* const out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (i64 band = blockIdx.y; band < p.bands; band += gridDim.y) {
            // A sample's column, of all channels'.
            const i64 column = blockIdx.x * (i64)MEDIAN_THREADS + threadIdx.x;
            const int x = (int)(column / C), c = (int)(column - (i64)x * C);
            const i64 top = band * p.strip, bottom = min(top + p.strip, (i64)p.height);
            if (x >= p.width) continue;
            if (c >= COLORS || plane >= p.colors) {
                for (i64 y = top; y < bottom; y++) out[y * p.out.row + column] = __ldg(in + y * p.in.row + column);
                continue;
            }
            Counters<COUNT> counters((u32*)shared);
            // All lanes of a warp go the same way but near the edges.
            const bool middle = x >= R && x < p.width - R;
            const auto row = [&](i64 y, int change) {
                const i64 from = inside<BORDER>(y, p.height);
                const u8* const samples = in + from * p.in.row + c;
                if (middle && (BORDER != CONSTANT || from >= 0)) {
                    const u8* const first = samples + (i64)(x - R) * C;
                    counters.template count_all<SIDE>(change, [&](int i) { return (u32)__ldg(first + i * C); });
                } else {
                    counters.template count_all<SIDE>(change, [&](int i) {
                        const i64 place = inside<BORDER>(x - R + i, p.width);
                        return BORDER == CONSTANT && (place < 0 || from < 0) ? p.constant : (u32)__ldg(samples + place * C);
                    });
                }
            };
            for (i64 y = top - R; y <= top + R; y++) row(y, 1);
            for (i64 y = top;; row(y - 1 - R, -1), row(y + R, 1)) {
                out[y * p.out.row + column] = (u8)counters.median(SIDE * SIDE / 2);
                if (++y >= bottom) break;
            }
        }
    }
}
