// Connected regions: a forest of pixels that belong together, and what is read off it. A forest's number n is that of the pixel
// at word n - 1 of the frame; 0 is the root of every region with a seed, BACKGROUND of no region. Roots lead to themselves.

#define BACKGROUND 0xFFFFFFFFu
#define TILE 32  // columns and rows that a block connects

// Follows numbers, `at[n]` from n, to their root.
INLINE u32 root_of(const volatile u32* at, u32 n) {
    while (n != 0) {
        const u32 next = at[n];
        if (next == n) break;
        n = next;
    }
    return n;
}

// The same, and each number on the way leads to the one after the next: whoever comes later has half as far. Numbers that are
// no roots lead to numbers of the same region, whichever, so it does not matter who writes last.
INLINE u32 root_of_shorter(volatile u32* at, u32 n) {
    while (n != 0) {
        const u32 next = at[n];
        if (next == n || next == 0) return next;
        const u32 behind = at[next];
        if (behind == next) return next;
        at[n] = behind;
        n = behind;
    }
    return n;
}

// Joins two regions: the larger root leads to the smaller one. Others may join them at the same time. SHORTER: for long ways.
template <int SHORTER> INLINE void unite(u32* at, u32 a, u32 b) {
    for (;;) {
        a = SHORTER ? root_of_shorter(at, a) : root_of(at, a);
        b = SHORTER ? root_of_shorter(at, b) : root_of(at, b);
        if (a == b) return;
        const u32 low = min(a, b), high = max(a, b), before = atomicMin(at + high, low);
        if (before == high) return;
        a = before, b = low;  // somebody else was faster
    }
}

// Unites a pixel with those above it that no neighbour of it in its row unites it with: left and right say whether those are of
// a region; `up` is what is above.
template <int EIGHT, int SHORTER, class Of> INLINE void unite_above(u32* at, u32 own, bool left, bool right, const Of& above) {
    const u32 up = above(0), up_left = above(-1);
    if (up != BACKGROUND) {
        if (!(left && up_left != BACKGROUND)) unite<SHORTER>(at, own, up);
        return;
    }
    if (!EIGHT) return;
    const u32 up_right = above(1);
    if (up_left != BACKGROUND && !left) unite<SHORTER>(at, own, up_left);
    if (up_right != BACKGROUND && !right) unite<SHORTER>(at, own, up_right);
}

// A block connects the pixels of a tile; samples above 1 are seeds if there are such.
template <int EIGHT, int SEEDS, class P> INLINE void connect_tiles(const P& p) {
    extern __shared__ uint4 shared[];
    u32* const at = (u32*)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u32 pitch = (u32)(p.out.row / 4);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const u8* const in = p.in.start + f * p.in.frame;
        u8* const out = p.out.start + f * p.out.frame;
        for (u32 band = blockIdx.y; band < p.bands; band += gridDim.y) {
            const int left = blockIdx.x * TILE, top = band * TILE, x = left + lane;
            __syncthreads();
            for (int row = warp; row < TILE; row += 8) {
                const int y = top + row;
                const u8 v = x < p.width && y < p.height ? __ldg(in + y * p.in.row + x) : 0;
                const u32 gaps = ~__ballot_sync(0xFFFFFFFFu, v != 0) & ((1u << lane) - 1u);
                const u32 start = gaps == 0 ? 0 : 32 - __clz(gaps);
                at[1 + row * TILE + lane] = v == 0 ? BACKGROUND : 1 + row * TILE + start;
                if (SEEDS) at[1 + TILE * TILE + row * TILE + lane] = v > 1;
            }
            __syncthreads();
            for (int row = warp; row < TILE; row += 8) {
                const u32 own = 1 + row * TILE + lane;
                const auto of = [&](int dx, int dy) {
                    const bool inside = (u32)(lane + dx) < TILE && row + dy >= 0;
                    return inside ? *(const volatile u32*)(at + own + dy * TILE + dx) : BACKGROUND;
                };
                if (of(0, 0) == BACKGROUND) continue;
                if (SEEDS && at[TILE * TILE + own]) unite<SEEDS>(at, own, 0);
                const auto number = [&](int dx) { return of(dx, -1) == BACKGROUND ? BACKGROUND : own - TILE + dx; };
                // Measured: edges gain by shorter ways, what is mostly foreground loses.
                unite_above<EIGHT, SEEDS>(at, own, of(-1, 0) != BACKGROUND, of(1, 0) != BACKGROUND, number);
            }
            __syncthreads();
            for (int row = warp; row < TILE; row += 8) {
                const int y = top + row;
                if (x >= p.width || y >= p.height) continue;
                u32 number = at[1 + row * TILE + lane];
                if (number != BACKGROUND) {
                    const u32 root = root_of(at, number);
                    number = root == 0 ? 0 : (top + (root - 1) / TILE) * pitch + left + (root - 1) % TILE + 1;
                }
                ((u32*)(out + y * p.out.row))[x] = number;
            }
        }
    }
}

// Unites what lies on both sides of the tiles' edges, in place.
template <int EIGHT, class P> INLINE void join_tiles(const P& p) {
    const u32 pitch = (u32)(p.out.row / 4);
    const i64 rows = (i64)((p.height - 1) / TILE) * p.width, all = rows + (i64)((p.width - 1) / TILE) * p.height;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        u32* const numbers = (u32*)(p.out.start + f * p.out.frame);
        const auto of = [&](int x, int y) {
            const bool inside = x >= 0 && y >= 0 && x < p.width && y < p.height;
            return inside ? *(const volatile u32*)(numbers + (i64)y * pitch + x) : BACKGROUND;
        };
        u32* const at = numbers - 1;
        for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < all; i += (i64)gridDim.x * blockDim.x) {
            if (i < rows) {
                const int x = (int)(i % p.width), y = ((int)(i / p.width) + 1) * TILE;
                const u32 own = of(x, y);
                if (own == BACKGROUND) continue;
                const auto above = [&](int dx) { return of(x + dx, y - 1); };
                unite_above<EIGHT, 1>(at, own, of(x - 1, y) != BACKGROUND, of(x + 1, y) != BACKGROUND, above);
            } else {
                const int y = (int)((i - rows) % p.height), x = ((int)((i - rows) / p.height) + 1) * TILE;
                const u32 own = of(x, y);
                if (own == BACKGROUND) continue;
                // As above, with columns for rows. Where four tiles meet, each edge would leave it to the other.
                const auto before = [&](int dy) { return of(x - 1, y + dy); };
                const bool over = y % TILE != 0 && of(x, y - 1) != BACKGROUND;
                unite_above<EIGHT, 1>(at, own, over, of(x, y + 1) != BACKGROUND, before);
            }
        }
    }
}

// Pixels of a row that a thread makes.
#define QUAD 4

// What `of(x, y, f)` makes of each pixel, as T.
template <class T, int A_OUT, class P, class Of> INLINE void each_pixel(const P& p, const Of& of) {
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 y = blockIdx.y * (i64)blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y) {
            const i64 x = (blockIdx.x * (i64)blockDim.x + threadIdx.x) * QUAD;
            T* const to = (T*)(p.out.start + f * p.out.frame + y * p.out.row) + x;
            if (x >= p.width) continue;
            T values[QUAD];
            const int count = (int)min((i64)QUAD, p.width - x);
            for (int k = 0; k < count; k++) values[k] = of(x + k, y, f);
            if (count == QUAD && A_OUT >= QUAD * (int)sizeof(T)) {
                u32 words[sizeof(T)];
                memcpy(words, values, sizeof values);
                store_global<QUAD * sizeof(T), QUAD * sizeof(T)>(words, (u8*)to);
            } else {
                for (int k = 0; k < count; k++) to[k] = values[k];
            }
        }
}

INLINE const u32* numbers_of(const Image& image, u32 f, i64 y) {
    return (const u32*)(image.start + f * image.frame + y * image.row);
}

// 255 in regions with a seed.
template <int A_OUT, class P> INLINE void seeded(const P& p) {
    u32 known = BACKGROUND, frame = 0;  // of the pixel before, mostly the same
    u8 result = 0;
    each_pixel<u8, A_OUT>(p, [&](i64 x, i64 y, u32 f) {
        const u32 number = __ldg(numbers_of(p.in, f, y) + x);
        if (number == BACKGROUND) return (u8)0;
        if (number != known || f != frame) {
            known = number, frame = f;
            result = root_of(numbers_of(p.in, f, 0) - 1, number) == 0 ? 255 : 0;
        }
        return result;
    });
}

// A warp counts the roots of a row.
template <int BY_AREA, class P> INLINE void rank_roots(const P& p) {
    const int lane = threadIdx.x % 32;
    const u32 pitch = (u32)(p.in[0].row / 4);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 y = blockIdx.x * 8 + threadIdx.x / 32; y < p.height; y += gridDim.x * 8) {
            const u32 *const row = numbers_of(p.in[0], f, y), first = (u32)y * pitch + 1;
            u32* const to = (u32*)(p.out.start + f * p.out.frame + y * p.out.row);
            u32 before = 0;
            for (int start = 0; start < p.width; start += 32 * QUAD) {
                bool counts[QUAD];  // loads of four on their way at once
#pragma unroll
                for (int k = 0; k < QUAD; k++) {
                    const int x = start + 32 * k + lane;
                    counts[k] = x < p.width && __ldg(row + x) == first + x;
                    if (BY_AREA) counts[k] = counts[k] && (float)__ldg(numbers_of(p.in[BY_AREA], f, y) + x) >= p.uniform[0];
                }
#pragma unroll
                for (int k = 0; k < QUAD; k++) {
                    const int x = start + 32 * k + lane;
                    const u32 roots = __ballot_sync(0xFFFFFFFFu, counts[k]);
                    if (x < p.width) to[x] = before + __popc(roots & ((2u << lane) - 1u));
                    before += __popc(roots);
                }
            }
        }
}

// A block adds the last ranks of the rows above each one.
template <class P> INLINE void row_starts(const P& p) {
    extern __shared__ uint4 shared[];
    u32* const sums = (u32*)shared;
    const int thread = threadIdx.x;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        u32* const to = (u32*)(p.out.start + f * p.out.frame);
        u32 before = 0;
        for (int start = 0; start < p.rows; start += 256) {
            const int y = start + thread;
            const u32 own = y < p.rows ? __ldg(numbers_of(p.in, f, y) + p.last) : 0;
            __syncthreads();
            sums[thread] = own;
            __syncthreads();
            for (int step = 1; step < 256; step *= 2) {
                const u32 more = thread >= step ? sums[thread - step] : 0;
                __syncthreads();
                sums[thread] += more;
                __syncthreads();
            }
            if (y < p.rows) to[y] = before + sums[thread] - own;
            before += sums[255];
        }
    }
}

// Numbers of regions by the place of their roots.
template <int A_OUT, class P> INLINE void number_regions(const P& p) {
    const u32 pitch = (u32)(p.in[0].row / 4);
    const auto label = [&](u32 number, u32 f) {
        const u32 root = root_of(numbers_of(p.in[0], f, 0) - 1, number);
        if (root == 0) return 0.0f;
        const u32 at_y = (root - 1) / pitch, at_x = (root - 1) - at_y * pitch;
        const u32* const ranks = numbers_of(p.in[1], f, at_y) + at_x;
        const u32 rank = __ldg(ranks), before = at_x == 0 ? 0 : __ldg(ranks - 1);
        return rank == before ? 0.0f : (float)(__ldg(numbers_of(p.in[2], f, 0) + at_y) + rank);
    };
    u32 known = BACKGROUND, frame = 0;  // of the pixel before, mostly the same
    float result = 0.0f;
    each_pixel<float, A_OUT>(p, [&](i64 x, i64 y, u32 f) {
        const u32 number = __ldg(numbers_of(p.in[0], f, y) + x);
        if (number == BACKGROUND) return 0.0f;
        if (number != known || f != frame) known = number, frame = f, result = label(number, f);
        return result;
    });
}

// What a region's columns within 32 columns and some rows have in common: a warp gathers them, then the first thread of each
// run of equal keys hands over what all of the run have.
struct Run {
    u32 key, top, bottom, area;
};
// Rows that a warp gathers.
#define RUN_ROWS 32

// `key(x, y, f)` of each pixel, BACKGROUND of those that do not matter; `hand_over(run, left, right, f)`.
template <class P, class Key, class HandOver>
INLINE void gather_runs(const P& p, const Key& key, const HandOver& hand_over) {
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Run* const runs = (Run*)shared + warp * 32;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (i64 top = (blockIdx.y * 8 + warp) * (i64)RUN_ROWS; top < p.height; top += (i64)gridDim.y * 8 * RUN_ROWS) {
            const i64 x = blockIdx.x * (i64)32 + lane, bottom = min(top + RUN_ROWS, (i64)p.height);
            Run own = {BACKGROUND, 0, 0, 0};
            for (i64 y = top; y < bottom; y++) {
                const u32 k = x < p.width ? key(x, y, f) : BACKGROUND;
                if (k != own.key) {
                    if (own.key != BACKGROUND) hand_over(own, (u32)x, (u32)x, f);
                    own = {k, (u32)y, (u32)y, 0};
                }
                own.bottom = (u32)y, own.area++;
            }
            runs[lane] = own;
            __syncwarp();
            if (own.key != BACKGROUND && (lane == 0 || runs[lane - 1].key != own.key)) {
                int last = lane;
                while (last < 31 && runs[last + 1].key == own.key) {
                    const Run more = runs[++last];
                    own.top = min(own.top, more.top), own.bottom = max(own.bottom, more.bottom), own.area += more.area;
                }
                hand_over(own, (u32)x, (u32)(x + last - lane), f);
            }
            __syncwarp();
        }
}

template <int A_OUT, class P> INLINE void no_areas(const P& p) {
    each_pixel<u32, A_OUT>(p, [&](i64, i64, u32) { return 0u; });
}

// Pixels of each region, at its root.
template <class P> INLINE void add_areas(const P& p) {
    gather_runs(
        p,
        [&](i64 x, i64 y, u32 f) {
            const u32 number = __ldg(numbers_of(p.in, f, y) + x);
            if (number == BACKGROUND) return BACKGROUND;
            const u32 root = root_of(numbers_of(p.in, f, 0) - 1, number);
            return root == 0 ? BACKGROUND : root;
        },
        [&](const Run& run, u32, u32, u32 f) {
            const u32 pitch = (u32)(p.in.row / 4), y = (run.key - 1) / pitch, x = (run.key - 1) - y * pitch;
            atomicAdd((u32*)(p.out.start + f * p.out.frame + y * p.out.row) + x, run.area);
        });
}

// Measures in whole numbers: first column, first row, last column, last row, area.
#define MEASURES 5

template <class P> INLINE u32* measures_of(const P& p, u32 f, i64 region) {
    return (u32*)(p.out.start + f * p.out.frame + region * p.out.row);
}

template <class P> INLINE void no_measures(const P& p) {
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (u32 region = blockIdx.x * blockDim.x + threadIdx.x; region < p.regions; region += gridDim.x * blockDim.x) {
            u32* const m = measures_of(p, f, region);
            m[0] = m[1] = 0xFFFFFFFFu, m[2] = m[3] = m[4] = 0;
        }
}

template <class P> INLINE void add_measures(const P& p) {
    gather_runs(
        p,
        [&](i64 x, i64 y, u32 f) {
            const float label = __ldg((const float*)numbers_of(p.in, f, y) + x);
            const bool counts = label >= 1.0f && label <= (float)p.regions && (float)(u32)label == label;
            return counts ? (u32)label - 1 : BACKGROUND;
        },
        [&](const Run& run, u32 left, u32 right, u32 f) {
            // Most runs lie within what is known already, and a look costs less than an atomic operation.
            u32* const m = measures_of(p, f, run.key);
            const volatile u32* const known = m;
            if (left < known[0]) atomicMin(m, left);
            if (run.top < known[1]) atomicMin(m + 1, run.top);
            if (right > known[2]) atomicMax(m + 2, right);
            if (run.bottom > known[3]) atomicMax(m + 3, run.bottom);
            atomicAdd(m + 4, run.area);
        });
}

// Whole numbers to binary32: place, size, area.
template <class P> INLINE void finish_measures(const P& p) {
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP)
        for (u32 region = blockIdx.x * blockDim.x + threadIdx.x; region < p.regions; region += gridDim.x * blockDim.x) {
            const u32* const m = measures_of(p, f, region);
            const u32 left = m[0], top = m[1], right = m[2], bottom = m[3], area = m[4];
            float* const to = (float*)m;
            const bool any = area > 0;
            to[0] = any ? (float)left : 0.0f, to[1] = any ? (float)top : 0.0f;
            to[2] = any ? (float)(right - left + 1) : 0.0f, to[3] = any ? (float)(bottom - top + 1) : 0.0f;
            to[4] = (float)area;
        }
}
