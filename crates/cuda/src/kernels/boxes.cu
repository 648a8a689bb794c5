// Boxes: rows of x, y, width, height and a score.

struct Edges {
    float left, top, right, bottom;
};
INLINE const float* box_of(const Image& list, u32 f, u32 i) {
    return (const float*)(list.start + f * list.frame + i * list.row);
}
INLINE Edges edges_of(const float* b) {
    const float x = __ldg(b), y = __ldg(b + 1), w = __ldg(b + 2), h = __ldg(b + 3);
    return {floorf(x + 0.5f), floorf(y + 0.5f), floorf(x + w + 0.5f), floorf(y + h + 0.5f)};
}
INLINE bool inside(const Edges& e, float x, float y) {
    return x >= e.left && x < e.right && y >= e.top && y < e.bottom;
}

// Pixels of a tile: a block of 32 x 8 threads, each makes 2 x 4 of them.
#define BOX_TILE_WIDTH 64
#define BOX_TILE_HEIGHT 32
// Boxes that are looked at together.
#define BOX_CHUNK 256

// Pixels within an outline get a colour, or those within a box another image's samples, C of type T side by side.
template <class T, int C, int OUTLINE, int BOXES, class P> INLINE void mark_boxes(const P& p) {
    typedef typename Sample<T>::Raw Raw;
    extern __shared__ uint4 shared[];
    Edges* const near = (Edges*)shared;
    u32* const count = (u32*)(near + BOX_CHUNK);
    const int thread = threadIdx.y * 32 + threadIdx.x;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 band = blockIdx.y; band < p.bands; band += gridDim.y) {
            const int left = blockIdx.x * BOX_TILE_WIDTH, top = (int)band * BOX_TILE_HEIGHT;
            u32 marked = 0;
            for (u32 first = 0; first < p.boxes; first += BOX_CHUNK) {
                __syncthreads();
                if (thread == 0) *count = 0;
                __syncthreads();
                if (first + thread < p.boxes) {
                    const Edges e = edges_of(box_of(p.in[BOXES], f, first + thread));
                    if (e.left < left + BOX_TILE_WIDTH && e.right > left && e.top < top + BOX_TILE_HEIGHT && e.bottom > top)
                        near[atomicAdd(count, 1u)] = e;
                }
                __syncthreads();
                for (u32 i = 0; i < *count; i++) {
                    const Edges e = near[i];
#pragma unroll
                    for (int k = 0; k < 8; k++) {
                        const float x = left + (int)threadIdx.x + k % 2 * 32, y = top + (int)threadIdx.y + k / 2 * 8;
                        bool mark = inside(e, x, y);
                        if (OUTLINE) {
                            const float t = p.uniform[0];
                            mark = mark && !inside({e.left + t, e.top + t, e.right - t, e.bottom - t}, x, y);
                        }
                        marked |= (u32)mark << k;
                    }
                }
            }
            for (int k = 0; k < 8; k++) {
                const i64 x = left + threadIdx.x + k % 2 * 32, y = top + threadIdx.y + k / 2 * 8;
                if (x >= p.width || y >= p.height) continue;
                const bool mark = marked >> k & 1;
                for (u32 plane = 0; plane < p.planes; plane++) {
                    const Image& from = mark && !OUTLINE ? p.in[BOXES - 1] : p.in[0];
                    const Raw* const in = (const Raw*)(from.start + f * from.frame + plane * from.plane + y * from.row) + x * C;
                    Raw* const out = (Raw*)(p.out.start + f * p.out.frame + plane * p.out.plane + y * p.out.row) + x * C;
                    for (int c = 0; c < C; c++)
                        out[c] = mark && OUTLINE ? (Raw)Sample<T>::narrow(p.uniform[1 + plane + c]) : __ldg(in + c);
                }
            }
        }
}

// A text at a box's corner: what it covers, and its box's place in the list.
struct LabelAt {
    int left, top, right, bottom;
    u32 order;
};

template <class P> INLINE u32 character(const P& p, u32 order, u32 words, u32 i) {
    return (u32)p.uniform[9 + order % p.texts * words + i / 3] >> i % 3 * 8 & 0xff;
}

// Texts of up to 3 WORDS characters, pixels of C samples of type T side by side. The last box's text is seen.
template <class T, int C, int WORDS, class P> INLINE void label_boxes(const P& p) {
    typedef typename Sample<T>::Raw Raw;
    extern __shared__ uint4 shared[];
    LabelAt* const near = (LabelAt*)shared;
    u32* const count = (u32*)(near + BOX_CHUNK);
    const int thread = threadIdx.y * 32 + threadIdx.x, scale = (int)p.uniform[0];
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 band = blockIdx.y; band < p.bands; band += gridDim.y) {
            const int left = blockIdx.x * BOX_TILE_WIDTH, top = (int)band * BOX_TILE_HEIGHT;
            // 0, or twice the place in the list from 1, and whether a character has the pixel.
            u32 marked[8] = {0, 0, 0, 0, 0, 0, 0, 0};
            for (u32 first = 0; first < p.boxes; first += BOX_CHUNK) {
                __syncthreads();
                if (thread == 0) *count = 0;
                __syncthreads();
                const u32 order = first + thread;
                if (order < p.boxes) {
                    const Edges e = edges_of(box_of(p.in[1], f, order));
                    const bool seen = e.left < p.width && e.top < p.height && e.right > 0.0f && e.bottom > 0.0f;
                    if (seen && e.left < e.right && e.top < e.bottom) {
                        int length = 0;
                        while (length < 3 * WORDS && character(p, order, WORDS, length)) length++;
                        const float above = e.top - 10 * scale;
                        LabelAt l;
                        l.left = e.left > 0.0f ? (int)e.left : 0, l.top = above > 0.0f ? (int)above : 0;
                        l.right = l.left + (length ? (6 * length + 1) * scale : 0), l.bottom = l.top + 10 * scale;
                        l.order = order;
                        if (l.left < left + BOX_TILE_WIDTH && l.right > left && l.top < top + BOX_TILE_HEIGHT && l.bottom > top)
                            near[atomicAdd(count, 1u)] = l;
                    }
                }
                __syncthreads();
                for (u32 i = 0; i < *count; i++) {
                    const LabelAt l = near[i];
#pragma unroll
                    for (int k = 0; k < 8; k++) {
                        const int x = left + (int)threadIdx.x + k % 2 * 32, y = top + (int)threadIdx.y + k / 2 * 8;
                        if (x < l.left || x >= l.right || y < l.top || y >= l.bottom || 2 * l.order + 2 < marked[k]) continue;
                        const int column = (x - l.left) / scale - 1, row = (y - l.top) / scale - 1;
                        u32 set = 0;
                        if (column >= 0 && column % 6 < 5 && row >= 0 && row < 8) {
                            const u32 glyph = character(p, l.order, WORDS, column / 6) - 32, bit = 5 * row + column % 6;
                            set = __ldg(p.font + 2 * glyph + bit / 32) >> bit % 32 & 1;
                        }
                        marked[k] = 2 * l.order + 2 + set;
                    }
                }
            }
#pragma unroll
            for (int k = 0; k < 8; k++) {
                const i64 x = left + threadIdx.x + k % 2 * 32, y = top + threadIdx.y + k / 2 * 8;
                if (x >= p.width || y >= p.height) continue;
                const u32 color = 1 + marked[k] % 2 * 4;
                for (u32 plane = 0; plane < p.planes; plane++) {
                    const Raw* const in = (const Raw*)(p.in[0].start + f * p.in[0].frame + plane * p.in[0].plane + y * p.in[0].row) + x * C;
                    Raw* const out = (Raw*)(p.out.start + f * p.out.frame + plane * p.out.plane + y * p.out.row) + x * C;
                    for (int c = 0; c < C; c++)
                        out[c] = marked[k] ? (Raw)Sample<T>::narrow(p.uniform[color + plane + c]) : __ldg(in + c);
                }
            }
        }
}

// As many as are sorted at once, a power of two.
#define MAX_BOXES 4096

INLINE float overlap_along(float a, float a_size, float b, float b_size) {
    const float first = a > b ? a : b, a_end = a + a_size, b_end = b + b_size, last = a_end < b_end ? a_end : b_end;
    return last - first > 0.0f ? last - first : 0.0f;
}

// A block keeps the boxes that no better one overlaps.
template <class P> INLINE void suppress_boxes(const P& p) {
    constexpr u32 THREADS = 256;
    extern __shared__ uint4 shared[];
    float* const score = (float*)shared;
    u32* const index = (u32*)(score + MAX_BOXES);
    u8* const alive = (u8*)(index + MAX_BOXES);
    u32 size = 1;  // a power of two
    while (size < p.boxes) size *= 2;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        __syncthreads();
        for (u32 i = threadIdx.x; i < size; i += THREADS) {
            index[i] = i, score[i] = 0.0f, alive[i] = 0;
            if (i >= p.boxes) continue;
            const float* const b = box_of(p.in, f, i);
            score[i] = __ldg(b + 4);
            bool counts = score[i] >= p.uniform[1] && __ldg(b + 2) > 0.0f && __ldg(b + 3) > 0.0f;
            for (int k = 0; k < 5; k++) counts = counts && __ldg(b + k) - __ldg(b + k) == 0.0f;  // finite
            alive[i] = counts;
        }
        __syncthreads();
        // What does not count comes last; then by falling score, then by row.
        const auto before = [&](u32 a, u32 b) {
            const u32 i = index[a], j = index[b];
            if (alive[i] != alive[j]) return alive[i] > alive[j];
            if (alive[i] && score[i] != score[j]) return score[i] > score[j];
            return i < j;
        };
        for (u32 run = 2; run <= size; run *= 2)
            for (u32 step = run / 2; step > 0; step /= 2) {
                for (u32 i = threadIdx.x; i < size; i += THREADS) {
                    const u32 j = i ^ step;
                    if (j > i && before(j, i) == ((i & run) == 0)) {
                        const u32 other = index[i];
                        index[i] = index[j], index[j] = other;
                    }
                }
                __syncthreads();
            }
        u32 kept = 0;
        for (u32 i = 0; i < p.boxes; i++) {
            const u32 own = index[i];
            const bool keep = alive[own];
            __syncthreads();
            if (!keep) continue;  // the same for all threads
            const float* const b = box_of(p.in, f, own);
            const float x = __ldg(b), y = __ldg(b + 1), w = __ldg(b + 2), h = __ldg(b + 3);
            if (threadIdx.x < 5) ((float*)(p.out.start + f * p.out.frame + kept * p.out.row))[threadIdx.x] = __ldg(b + threadIdx.x);
            kept++;
            for (u32 k = i + 1 + threadIdx.x; k < p.boxes; k += THREADS) {
                if (!alive[index[k]]) continue;
                const float* const o = box_of(p.in, f, index[k]);
                const float ow = __ldg(o + 2), oh = __ldg(o + 3);
                const float both = overlap_along(__ldg(o), ow, x, w) * overlap_along(__ldg(o + 1), oh, y, h);
                if (!(both / (ow * oh + w * h - both) <= p.uniform[0])) alive[index[k]] = 0;
            }
            __syncthreads();
        }
        for (u32 i = kept * 5 + threadIdx.x; i < p.boxes * 5; i += THREADS)
            ((float*)(p.out.start + f * p.out.frame + i / 5 * p.out.row))[i % 5] = 0.0f;
    }
}
