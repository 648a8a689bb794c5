// Sums over all that lies above and to the left, modulo 2^32, in strips of rows. Each channel is an image of its own: STEP samples lie
// from a pixel to the next, and channels beside each other or in planes.

#define CHUNK 128     // columns that a warp adds up at once, four a lane
#define GROUP_ROWS 16  // rows of a block, one a warp

// Four samples, or their squares, from column x of a row on; 0 behind its end.
template <int STEP, bool SQUARED, int A> INLINE void four_of_row(u32* v, const u8* row, i64 x, i64 width) {
    if (STEP == 1 && A >= 4 && x + 4 <= width) {
        const u32 word = __ldg((const u32*)(row + x));
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = word >> 8 * i & 255u;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = x + i < width ? __ldg(row + (x + i) * STEP) : 0u;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = SQUARED ? v[i] * v[i] : v[i];
}

// The sum of the lanes before.
INLINE u32 sum_of_lanes_before(u32 own, int lane) {
    u32 sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const u32 more = __shfl_up_sync(0xFFFFFFFFu, sum, step);
        sum += lane >= step ? more : 0u;
    }
    return sum - own;
}

// The first sample of a channel of a frame.
template <int STEP, class T> INLINE T* first_of_channel(const Image& image, u32 frame, u32 channel) {
    return (T*)(image.start + frame * image.frame + (STEP == 1 ? channel * image.plane : 0)) + (STEP == 1 ? 0 : channel);
}

// What each strip of p.rows rows adds: a block of 256 threads takes a strip, a thread four columns of 1024.
template <int STEP, bool SQUARED, int A_IN, class P> INLINE void integral_strips(const P& p) {
    constexpr int WARPS = 8;
    extern __shared__ uint4 shared[];
    u32* const totals = (u32*)shared;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (u32 z = FIRST_FRAME; z < p.batch * p.channels; z += FRAME_STEP) {
        const u32 f = z / p.channels, channel = z - f * p.channels;
        const u8* const in = first_of_channel<STEP, const u8>(p.in, f, channel);
        u8* const out = (u8*)first_of_channel<STEP, u32>(p.out, f, channel);
        for (i64 strip = blockIdx.x; strip * p.rows < p.height; strip += gridDim.x) {
            const int top = (int)strip * p.rows, bottom = min(top + p.rows, p.height);
            u32* const to = (u32*)(out + strip * p.out.row);
            u32 before = 0;
            for (i64 start = 0; start <= p.width; start += WARPS * CHUNK) {
                const i64 x = start + 4 * threadIdx.x;
                u32 own[4] = {0, 0, 0, 0};
#pragma unroll 8
                for (int y = top; y < bottom; y++) {
                    u32 v[4];
                    four_of_row<STEP, SQUARED, A_IN>(v, in + y * p.in.row, x, p.width);
#pragma unroll
                    for (int i = 0; i < 4; i++) own[i] += v[i];
                }
                const u32 sum = own[0] + own[1] + own[2] + own[3];
                u32 left = sum_of_lanes_before(sum, lane);
                if (lane == 31) totals[warp] = left + sum;
                __syncthreads();
                left += before;
                for (int w = 0; w < WARPS; w++) {
                    left += w < warp ? totals[w] : 0u;
                    before += totals[w];
                }
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    if (x + i <= p.width) to[(x + i) * STEP] = left;
                    left += own[i];
                }
                __syncthreads();
            }
        }
    }
}

// All sums: a block takes a strip of the result. A warp adds up a chunk of a row from the left, then a thread a column from above.
template <int STEP, bool SQUARED, int A_IN, class P> INLINE void integral_sums(const P& p) {
    extern __shared__ uint4 shared[];
    u32 *const tile = (u32*)shared, *const carried = tile + GROUP_ROWS * CHUNK;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    for (u32 z = FIRST_FRAME; z < p.batch * p.channels; z += FRAME_STEP) {
        const u32 f = z / p.channels, channel = z - f * p.channels;
        const u8* const in = first_of_channel<STEP, const u8>(p.in[0], f, channel);
        const u8* const strips = (const u8*)first_of_channel<STEP, const u32>(p.in[1], f, channel);
        u8* const out = (u8*)first_of_channel<STEP, u32>(p.out, f, channel);
        // The result has a row more than the image.
        for (i64 strip = blockIdx.x; strip * p.rows <= p.height; strip += gridDim.x) {
            const int top = (int)strip * p.rows;
            __syncthreads();
            for (int row = thread; row < p.rows; row += GROUP_ROWS * 32) carried[row] = 0;
            __syncthreads();
            for (i64 start = 0; start <= p.width; start += CHUNK) {
                const i64 column = start + thread;
                const bool sums = thread < CHUNK && column <= p.width;
                u32 above = 0;
                if (sums) {
#pragma unroll 8
                    for (i64 s = 0; s < strip; s++) above += __ldg((const u32*)(strips + s * p.in[1].row) + column * STEP);
                }
                for (int group = 0; group < p.rows && top + group <= p.height; group += GROUP_ROWS) {
                    const int first = top + group, y = first + warp;
                    u32 v[4] = {0, 0, 0, 0};
                    if (y < p.height) four_of_row<STEP, SQUARED, A_IN>(v, in + y * p.in[0].row, start + 4 * lane, p.width);
                    const u32 sum = v[0] + v[1] + v[2] + v[3], left = sum_of_lanes_before(sum, lane) + carried[group + warp];
                    uint4 q;
                    q.x = left, q.y = left + v[0], q.z = q.y + v[1], q.w = q.z + v[2];
                    ((uint4*)tile)[warp * (CHUNK / 4) + lane] = q;
                    __syncwarp();
                    if (lane == 31) carried[group + warp] = left + sum;
                    __syncthreads();
                    if (sums) {
#pragma unroll
                        for (int r = 0; r < GROUP_ROWS; r++) {
                            if (first + r > p.height) break;
                            ((u32*)(out + (first + r) * p.out.row))[column * STEP] = above;
                            above += tile[r * CHUNK + thread];
                        }
                    }
                    __syncthreads();
                }
            }
        }
    }
}
