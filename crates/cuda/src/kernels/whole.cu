// Kernels over whole images of u8: counts of values, tables made of counts, samples looked up in tables.

#define VALUES 256

// Where the reflection of an image's last columns or rows behind its edge comes from (REFLECT101).
INLINE i64 reflected101(i64 i, i64 n) {
    if (i < n) return i;
    if (n == 1) return 0;
    const i64 period = 2 * n - 2, at = i % period;
    return at < n ? at : period - at;
}

// A block counts a tile; each of its warps has counters of its own, for COLORS of C channels side by side. Planar images are
// counted plane by plane (C is 1). Rows of the result: channel by channel, tile by tile.
template <int C, int COLORS, int REFLECTED, int A_IN, class P> INLINE void count_tiles(const P& p) {
    constexpr int WARPS = 8;
    extern __shared__ uint4 shared[];
    u32* const counts = (u32*)shared;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u32* const own = counts + warp * COLORS * VALUES;
    const u32 tiles = p.columns * p.rows;
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* const in = p.in.start + f * p.in.frame + plane * p.in.plane;
        for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const i64 left = (i64)(tile % p.columns) * p.tile_width, top = (i64)(tile / p.columns) * p.tile_height;
            const i64 right = min(left + p.tile_width, (i64)p.width);
            __syncthreads();
            for (int i = threadIdx.x; i < WARPS * COLORS * VALUES; i += WARPS * 32) counts[i] = 0;
            __syncthreads();
            const i64 bottom = REFLECTED ? top + p.tile_height : min(top + p.tile_height, (i64)p.height);
            for (i64 y = top + warp; y < bottom; y += WARPS) {
                const u8* const row = in + reflected101(y, p.height) * p.in.row;
                const auto one = [&](i64 b) {
                    const int c = (int)(b % C);
                    if (c < COLORS) atomicAdd(own + c * VALUES + __ldg(row + b), 1u);
                };
                i64 begin = left * C, end = max(right * C, left * C);
                if constexpr (A_IN >= 4) {
                    // Whole words; what is in front of the first and behind the last, by bytes.
                    const i64 first = min((begin + 3) / 4 * 4, end), last = max(end / 4 * 4, first);
                    if (begin + lane < first) one(begin + lane);
                    if (last + lane < end) one(last + lane);
#pragma unroll 4
                    for (i64 b = first + 4 * lane; b < last; b += 128) {
                        const u32 w = __ldg((const u32*)(row + b));
                        if (C == 1 && w == (w & 255u) * 0x01010101u) {
                            atomicAdd(own + (w & 255u), 4u);  // flat parts of an image would wait for one counter
                            continue;
                        }
                        int c = (int)((u32)b % C);
#pragma unroll
                        for (int k = 0; k < 4; k++) {
                            if (c < COLORS) atomicAdd(own + c * VALUES + (w >> 8 * k & 255u), 1u);
                            c = c + 1 == C ? 0 : c + 1;
                        }
                    }
                } else {
                    for (i64 b = begin + lane; b < end; b += 32) one(b);
                }
                if (REFLECTED)
                    for (i64 x = max(right, left) + lane; x < left + p.tile_width; x += 32) {
                        const i64 from = reflected101(x, p.width) * C;
                        for (int c = 0; c < COLORS; c++) one(from + c);
                    }
            }
            __syncthreads();
            for (int c = 0; c < COLORS; c++) {
                u32 sum = 0;
#pragma unroll
                for (int w = 0; w < WARPS; w++) sum += counts[(w * COLORS + c) * VALUES + threadIdx.x];
                u8* const to = p.out.start + f * p.out.frame + ((plane + c) * (i64)tiles + tile) * p.out.row;
                ((float*)to)[threadIdx.x] = (float)sum;
            }
        }
    }
}

typedef unsigned long long u64;

// Sums of all values up to each, by the 256 threads of a block.
template <class T> INLINE void scan(T* values) {
    const int v = threadIdx.x;
    for (int step = 1; step < VALUES; step *= 2) {
        const T more = v >= step ? values[v - step] : 0;
        __syncthreads();
        values[v] += more;
        __syncthreads();
    }
}

// The first value with the largest number, which is left in `best[0]`.
INLINE int first_largest(double own, double* best, int* index) {
    const int v = threadIdx.x;
    best[v] = own, index[v] = v;
    __syncthreads();
    for (int step = VALUES / 2; step > 0; step /= 2) {
        if (v < step && (best[v + step] > best[v] || (best[v + step] == best[v] && index[v + step] < index[v])))
            best[v] = best[v + step], index[v] = index[v + step];
        __syncthreads();
    }
    return index[0];
}

enum Rule { COUNTS, STATISTICS, DIFFERENCES, EQUALIZE, EQUALIZE_PILLOW, STRETCH, OTSU, TRIANGLE, CLAHE };
enum Above { BINARY, BINARY_INV, TRUNC, TO_ZERO, TO_ZERO_INV };

// A block of 256 threads makes a row of a table, thread v entry v.
template <int RULE, int ABOVE, class P> INLINE void table_rows(const P& p) {
    extern __shared__ uint4 shared[];
    u64* const s = (u64*)shared;
    double* const best = (double*)(s + VALUES);
    u32 *const h = (u32*)(best + VALUES), *const c = h + VALUES;
    int *const index = (int*)(c + VALUES), *const ends = index + VALUES;
    const int v = threadIdx.x;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        for (u32 row = blockIdx.x; row < p.rows; row += gridDim.x) {
            const u8* const in = p.in.start + f * p.in.frame + (i64)row * p.parts * p.in.row;
            u32 count = 0;
#pragma unroll 16  // many loads on their way at once
            for (u32 part = 0; part < p.parts; part++) count += (u32)__ldg((const float*)(in + part * p.in.row) + v);
            __syncthreads();
            h[v] = c[v] = count;
            if (v == 0) ends[0] = VALUES, ends[1] = -1;
            __syncthreads();
            scan(c);
            const u32 n = c[VALUES - 1], upto = c[v], before = upto - count;
            u8* const out = p.out.start + f * p.out.frame + row * p.out.row;
            if (RULE == COUNTS) {
                ((float*)out)[v] = (float)count;
                continue;
            }
            // The first and the last value when `cut` samples are left out at each end.
            u64 cut = 0;
            if (RULE == STRETCH) cut = (u64)floor(__ddiv_rn((double)n * (double)p.uniform[0], 100.0));
            if (upto > cut && before <= cut) ends[0] = v;
            if (n - before > cut && n - upto <= cut) ends[1] = v;
            __syncthreads();
            const int first = ends[0], last = ends[1];
            u8 entry = 0;
            if (RULE == STATISTICS) {
                s[v] = (u64)count * v;
                __syncthreads();
                scan(s);
                const u64 sum = s[VALUES - 1];
                const double mean = __ddiv_rn((double)sum, (double)n), away = (double)v - mean;
                best[v] = (double)count * (away * away);
                __syncthreads();
                if (v == 0) {
                    double squares = 0.0;
                    for (int i = 0; i < VALUES; i++) squares += best[i];
                    float* const to = (float*)out;
                    to[0] = (float)mean, to[1] = (float)sqrt(__ddiv_rn(squares, (double)n));
                    to[2] = (float)first, to[3] = (float)last, to[4] = (float)sum;
                }
                continue;
            } else if (RULE == DIFFERENCES) {
                u64* const squares = (u64*)best;
                s[v] = (u64)count * v, squares[v] = (u64)count * (v * v);
                __syncthreads();
                scan(s);
                scan(squares);
                if (v == 0) {
                    float* const to = (float*)out;
                    to[0] = (float)last, to[1] = (float)__ddiv_rn((double)s[VALUES - 1], (double)n);
                    to[2] = (float)__ddiv_rn((double)squares[VALUES - 1], (double)n);
                }
                continue;
            } else if (RULE == EQUALIZE) {
                const u32 lowest = h[first];
                const float scale = __fdiv_rn(255.0f, (float)(n - lowest));
                entry = lowest == n ? (u8)first : (u8)Sample<u8>::narrow((float)(v > first ? upto - lowest : 0u) * scale);
            } else if (RULE == EQUALIZE_PILLOW) {
                const u32 step = (n - h[last]) / 255u;
                entry = step == 0 ? (u8)v : (u8)min((i64)(((u64)step / 2 + before) / step), (i64)255);
            } else if (RULE == STRETCH) {
                const int whole = last - first, part = (min(max(v, first), last) - first) * 255;
                if (first < last) {
                    const int quotient = part / whole, rest = part - quotient * whole;
                    entry = (u8)(quotient + (2 * rest + (quotient & 1) > whole));
                } else {
                    entry = (u8)v;
                }
            } else if (RULE == OTSU || RULE == TRIANGLE) {
                int t;
                if (RULE == OTSU) {
                    s[v] = (u64)count * v;
                    __syncthreads();
                    scan(s);
                    double variance = -1.0;
                    if (upto > 0 && upto < n) {
                        const double below = (double)upto, above = (double)(n - upto);
                        const double apart = __ddiv_rn((double)s[v], below) - __ddiv_rn((double)(s[VALUES - 1] - s[v]), above);
                        variance = below * above * (apart * apart);
                    }
                    t = first_largest(variance, best, index);
                    if (!(best[0] > 0.0)) t = 0;
                } else {
                    int peak = first_largest((double)count, best, index);
                    const double highest = best[0];
                    __syncthreads();
                    int left = max(first - 1, 0), right = min(last + 1, VALUES - 1);
                    const bool flipped = peak - left < right - peak;
                    if (flipped) {
                        const int other = VALUES - 1 - right;
                        right = VALUES - 1 - left, left = other, peak = VALUES - 1 - peak;
                    }
                    const double own = (double)h[flipped ? VALUES - 1 - v : v];
                    const double distance = highest * (double)v + (double)(left - peak) * own;
                    t = first_largest(v > left && v <= peak ? distance : -1.0, best, index);
                    t = (best[0] > 0.0 ? t : left) - 1;
                    if (flipped) t = VALUES - 1 - t;
                }
                const u8 most = (u8)Sample<u8>::narrow(p.uniform[0]);
                const bool above = v > t;
                entry = ABOVE == BINARY       ? (above ? most : 0)
                        : ABOVE == BINARY_INV ? (above ? 0 : most)
                        : ABOVE == TRUNC      ? (above ? (u8)min(max(t, 0), 255) : (u8)v)
                        : ABOVE == TO_ZERO    ? (above ? (u8)v : 0)
                                              : (above ? 0 : (u8)v);
            } else {
                const float clip_limit = p.uniform[0];
                u32 kept = count;
                if (clip_limit > 0.0f) {
                    const double wanted = (double)clip_limit * (double)p.pixels / 256.0;
                    const u32 limit = wanted < 1.0 ? 1u : wanted < 4294967295.0 ? (u32)wanted : 4294967295u;
                    __syncthreads();
                    c[v] = count > limit ? count - limit : 0u;
                    __syncthreads();
                    scan(c);
                    const u32 excess = c[VALUES - 1], rest = excess % 256u;
                    const u32 step = rest > 0 ? 256u / rest : 1u;
                    const bool more = rest > 0 && v % step == 0 && v / step < rest;
                    kept = (count < limit ? count : limit) + excess / 256u + more;
                }
                __syncthreads();
                c[v] = kept;
                __syncthreads();
                scan(c);
                entry = (u8)Sample<u8>::narrow((float)c[v] * __fdiv_rn(255.0f, (float)p.pixels));
            }
            out[v] = entry;
        }
    }
}

// Samples looked up in a row of the table for each of COLORS of C channels; A bytes at a time, whose channels follow from
// their place. Planar images go plane by plane (C is 1, and `colors` planes are looked up).
template <int C, int COLORS, int A, class P> INLINE void lookup_rows(const P& p) {
    extern __shared__ uint4 shared[];
    u8* const tables = (u8*)shared;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* const in = p.in[0].start + f * p.in[0].frame + plane * p.in[0].plane;
        u8* const out = p.out.start + f * p.out.frame + plane * p.out.plane;
        const bool kept = plane >= p.colors;
        __syncthreads();
        for (int i = thread; i < COLORS * VALUES && !kept; i += threads)
            tables[i] = __ldg(p.in[1].start + f * p.in[1].frame + (plane + i / VALUES) * p.in[1].row + i % VALUES);
        __syncthreads();
        const auto one = [&](u32 v, int c) { return c < COLORS && !kept ? (u32)tables[c * VALUES + v] : v; };
        for (i64 y = (i64)blockIdx.y * blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y) {
            const u8* const from = in + y * p.in[0].row;
            u8* const to = out + y * p.out.row;
            for (u32 b = (blockIdx.x * blockDim.x + threadIdx.x) * A; b < p.bytes; b += gridDim.x * blockDim.x * A) {
                int c = (int)(b % C);
                if constexpr (A >= 4) {
                    if (b + A <= p.bytes) {
                        u32 w[A / 4];
                        load_global<A, A>(w, from + b);
#pragma unroll
                        for (int i = 0; i < A / 4; i++) {
                            u32 made = 0;
#pragma unroll
                            for (int k = 0; k < 4; k++) {
                                made |= one(w[i] >> 8 * k & 255u, c) << 8 * k;
                                c = c + 1 == C ? 0 : c + 1;
                            }
                            w[i] = made;
                        }
                        store_global<A, A>(w, to + b);
                        continue;
                    }
                }
                for (u32 i = b; i < b + A && i < p.bytes; i++) {
                    to[i] = (u8)one(__ldg(from + i), c);
                    c = c + 1 == C ? 0 : c + 1;
                }
            }
        }
    }
}

// The tiles whose centres lie before and behind a pixel, and the weight of the one behind.
struct Around {
    int before, behind;
    float weight;
    INLINE Around(int at, int tiles, int tile) {
        const float place = (float)at * __fdiv_rn(1.0f, (float)tile) - 0.5f, first = floorf(place);
        before = min(max((int)first, 0), tiles - 1), behind = min((int)first + 1, tiles - 1);
        weight = place - first;
    }
};

// Samples between the tables of the four tiles around, a thread for a pixel.
template <int C, int COLORS, bool PLANAR, class P> INLINE void lookup_between(const P& p) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= p.width) return;
    const Around across(x, p.columns, p.tile_width);
    const float fx = across.weight, gx = 1.0f - fx;
    const i64 tiles = (i64)p.columns * p.rows;
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const u8* const table = p.in[1].start + f * p.in[1].frame;
        for (i64 y = (i64)blockIdx.y * blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y) {
            const Around down((int)y, p.rows, p.tile_height);
            const float fy = down.weight, gy = 1.0f - fy;
            const u8* const from = p.in[0].start + f * p.in[0].frame + y * p.in[0].row;
            u8* const to = p.out.start + f * p.out.frame + y * p.out.row;
#pragma unroll
            for (int c = 0; c < C; c++) {
                const i64 in_at = PLANAR ? c * p.in[0].plane + x : (i64)x * C + c;
                const i64 out_at = PLANAR ? c * p.out.plane + x : (i64)x * C + c;
                const u8 v = __ldg(from + in_at);
                if (c >= COLORS) {
                    to[out_at] = v;
                    continue;
                }
                const auto of = [&](int row, int column) {
                    const i64 tile = c * tiles + (i64)row * p.columns + column;
                    return (float)__ldg(table + tile * p.in[1].row + v);
                };
                const float above = of(down.before, across.before) * gx + of(down.before, across.behind) * fx;
                const float below = of(down.behind, across.before) * gx + of(down.behind, across.behind) * fx;
                to[out_at] = (u8)Sample<u8>::narrow(above * gy + below * fy);
            }
        }
    }
}
