// Bilinear resampling of interleaved RGB bytes by any ratio. A warp copies one source row after the other into a ring
// of its own in shared memory, so that nothing waits for the block.

// Rows of one frame from column `first` on, each as far behind a whole 16 bytes as in memory; ROOM is enough for what
// is needed of a row.
template <int ROOM> struct RgbRows {
    SharedAddress ring;      // four rows; this lane's 16 bytes
    SharedAddress asked[3];  // where the rows lie that were asked for, the newest last
    const u8* from;          // row y, the next one to be asked for; this lane's 16 bytes
    i64 row;
    int y, last;
    int bytes, further;      // in a row from this lane's first byte on, and if there is room for its second piece
    int safe;                // the first row before which bytes can be read, up to a whole 16
    bool ends;               // whether the row ends before the room for it

    // Rows from `top` to `bottom`.
    INLINE void set(u8* shared, const Image& image, u32 f, int first, int width, int top, int bottom) {
        const int lane = threadIdx.x * 16;
        ring = kept(shared + lane);
        from = image.start + f * image.frame + first * 3 + (i64)top * image.row;
        row = image.row, y = top, last = bottom, bytes = 3 * (width - first) - lane;
        further = lane + 512 < ROOM ? bytes : 0;
        ends = 3 * (width - first) < ROOM;
        // Before a row lies another one, or a part of its own; or the rows all begin at a whole 16 bytes.
        const bool all = first > 5 || (((u32)(unsigned long long)from | (u32)row) & 15u) == 0;
        safe = all ? 0 : row == width * 3 ? 1 : 0x7FFFFFFF;
        from += lane;
        take();
        take();
        take();
    }
    // Asks for row y; behind the last one for nothing.
    INLINE void ask() {
        if (y <= last) {
            const int skew = (int)((u32)(unsigned long long)from & 15u), lane = threadIdx.x * 16;
            const SharedAddress to = ring + (y & 3) * ROOM;
            asked[2] = to - lane + skew;
            if (y >= safe) {
                const u8* const piece = from - skew;
                const int near = bytes + skew, far = further + skew - 512;
                if (lane < ROOM && near >= 16) start_copy<16>(shared_at(to), piece);
                if (ROOM > 512 && far >= 16) start_copy<16>(shared_at(to + 512), piece + 512);
                if (ends) {
                    // The row's last piece is not a whole one.
                    if (lane < ROOM && near > 0 && near < 16) start_part_copy(shared_at(to), piece, near);
                    if (ROOM > 512 && far > 0 && far < 16) start_part_copy(shared_at(to + 512), piece + 512, far);
                }
            } else {
#pragma unroll 1
                for (int b = (int)threadIdx.x - lane; b < min(bytes, ROOM - 15 - lane); b += 32)
                    *shared_at(to + skew + b) = __ldg(from + b);
            }
            from += row, y++;
        }
        end_group();
    }
    // Waits for the first of the three rows asked for, and asks for another one.
    INLINE SharedAddress take() {
        wait_for_groups<2>();
        __syncwarp();
        const SharedAddress at = asked[0];
        asked[0] = asked[1], asked[1] = asked[2];
        ask();
        return at;
    }
};

// N columns of up to 32 rows. A byte in the low bits of a binary32 is the number byte * 2^-149 and needs no conversion:
// horizontal weights are scaled by 2^126, so that sums count in 2^-23, vertical ones by 2^23. Scaling by powers of two
// is exact as long as nothing underflows: weights are 0 or above 1e-20.
// SKIPS says whether source rows are left out between those of two results.
template <int N, class Rows, bool SKIPS> struct Bilinear {
    int at[N];            // bytes from a row's first pixel to the left ones
    float wx[2][N];
    float h[2][3 * N];    // horizontal sums of even and of odd source rows
    int next;             // one past the newest of them
    SharedAddress table;  // of this warp's rows: the first source row, its weight and that of the next one
    uint4 below;          // the entry of the row to come

    // `rows` rows from `row` on, not more than 32.
    INLINE void set_rows(u8* shared, const u32* starts, const float* weights, int row, int rows) {
        const int own = row + min((int)threadIdx.x, rows - 1);
        table = kept(shared);
        uint4 entry;
        entry.x = __ldg(starts + own);
        entry.y = __float_as_uint(__ldg(weights + 2 * own) * 8388608.0f);
        entry.z = __float_as_uint(__ldg(weights + 2 * own + 1) * 8388608.0f);
        entry.w = 0;
        if ((int)threadIdx.x < rows) *(uint4*)shared_at(table + threadIdx.x * 16) = entry;
        __syncwarp();
        below = row_number(0);
        next = (int)below.x;
    }
    INLINE uint4 row_number(int n) const { return *(const uint4*)shared_at(table + n * 16); }

    INLINE void set_columns(const u32* x_starts, const float* weights, int x, int outputs, int first) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int column = min(max(x + i, 0), outputs - 1);
            at[i] = ((int)__ldg(x_starts + column) - first) * 3;
#pragma unroll
            for (int k = 0; k < 2; k++) wx[k][i] = __ldg(weights + (i64)k * outputs + column) * 8.507059173023462e37f;
        }
    }
    template <int ODD> INLINE void sum(SharedAddress row) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const SharedAddress from = row + at[i];
            const u32 shift = (u32)from * 8;
            u32 raw[3], w[2];
            load_shared<12, 4>(raw, shared_at(from & ~(SharedAddress)3));
            w[0] = __funnelshift_r(raw[0], raw[1], shift), w[1] = __funnelshift_r(raw[1], raw[2], shift);
#pragma unroll
            for (int c = 0; c < 3; c++) {
                const float a = __uint_as_float(__byte_perm(w[0], 0u, 0x4440 + c));
                const float b = __uint_as_float(__byte_perm(w[(c + 3) / 4], 0u, 0x4440 + (c + 3) % 4));
                h[ODD][i * 3 + c] = __fmaf_rn(wx[1][i], b, wx[0][i] * a);
            }
        }
    }
    static INLINE void mix(float* v, const float* above, const float* below, float wa, float wb) {
#pragma unroll
        for (int s = 0; s < 3 * N; s++) v[s] = __fmaf_rn(wb, below[s], wa * above[s]);
    }
    // Row number `number` of those up to `last`; they come in ascending order.
    INLINE void result(float* v, int number, int last, Rows& rows) {
        const int start = (int)below.x;
        const float a = __uint_as_float(below.y), b = __uint_as_float(below.z);
        below = row_number(min(number + 1, last));
        // Source rows that are left out are read all the same.
        for (; SKIPS && next < start; next++) rows.take();
#pragma unroll 1
        for (; next < start + 2; next++) {
            const SharedAddress row = rows.take();
            if (next & 1) sum<1>(row);
            else sum<0>(row);
        }
        if (start & 1) mix(v, h[1], h[0], a, b);
        else mix(v, h[0], h[1], a, b);
    }
};

// Luma of N pixels of three means of bytes, which are not rounded yet.
template <int N, int R, int G, int B> INLINE void gray_of_means(float* o, const float* v) {
#pragma unroll
    for (int i = 0; i < N; i++) o[i] = gray_near(v[i * 3 + R] + MAGIC, v[i * 3 + G] + MAGIC, v[i * 3 + B] + MAGIC);
}
