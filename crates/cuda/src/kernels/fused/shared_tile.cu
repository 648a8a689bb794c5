// Shared-memory tiles: the part of a stage's result that a block needs more than once, in shared memory. A tile may reach
// outside the image; what windows read there is copied from inside, after the tile has been made.

template <typename T_, int C_, int COLUMNS_, int ROWS_> struct SharedTile {
    typedef T_ T;
    static constexpr int C = C_, COLUMNS = COLUMNS_, ROWS = ROWS_;
    static constexpr int PIXEL = C * (int)sizeof(T), PITCH = round_up(COLUMNS * PIXEL, 16);
};

// What `Window` must know of a tile.
template <class P, int RADIUS_> struct Reach {
    typedef typename P::T T;
    static constexpr int C = P::C, PIXEL = P::PIXEL, RADIUS = RADIUS_;
};

// Fills in the pixels up to RX columns and RY rows outside a w x h image, from columns and rows inside the tile;
// those whose source lies elsewhere are not needed. Whole blocks return early. The caller synchronises before and
// after.
template <class P, int BORDER, int RX, int RY>
INLINE void fill_borders(u8* tile, int x0, int y0, int w, int h, float constant) {
    typedef typename P::T T;
    if (x0 >= 0 && y0 >= 0 && x0 + P::COLUMNS <= w && y0 + P::ROWS <= h) return;
    const int first = max(0, -y0), last = min(P::ROWS, h - y0);
    if (x0 < 0 || x0 + P::COLUMNS > w) {
        // So many threads a row, each with a column of its own.
        constexpr int SIDES = RX > 8 ? 32 : RX > 4 ? 16 : 8;
        const int thread = threadIdx.y * 32 + threadIdx.x, k = thread % SIDES, far = k % (SIDES / 2);
        const int x = k < SIDES / 2 ? -1 - far : w + far, column = x - x0;
        const int source = (int)inside<BORDER>(x, w) - x0;
        if (far < RX && column >= 0 && column < P::COLUMNS
            && (BORDER == CONSTANT || (source >= 0 && source < P::COLUMNS)))
            for (int r = first + thread / SIDES; r < last; r += (int)blockDim.y * 32 / SIDES) {
                T* row = (T*)(tile + r * P::PITCH);
#pragma unroll
                for (int c = 0; c < P::C; c++)
                    row[column * P::C + c] = BORDER == CONSTANT ? (T)constant : row[source * P::C + c];
            }
        __syncthreads();
    }
    if (first == 0 && last == P::ROWS) return;
    for (int k = threadIdx.y; k < 2 * RY; k += blockDim.y) {
        const int y = k < RY ? -1 - k : h + k - RY, r = y - y0;
        const int source = (int)inside<BORDER>(y, h) - y0;
        if (r < 0 || r >= P::ROWS || (BORDER != CONSTANT && (source < first || source >= last))) continue;
        T* row = (T*)(tile + r * P::PITCH);
        const T* from = (const T*)(tile + source * P::PITCH);
        for (int s = threadIdx.x; s < P::COLUMNS * P::C; s += 32) row[s] = BORDER == CONSTANT ? (T)constant : from[s];
    }
}

// Bytes of an image as they are: `rows` rows from `first` on, each from pixel `x` on, each beginning as far
// behind a whole 16 bytes as it does in memory. Copies whole 16 bytes where they lie inside the image's row, which
// goes on for `before` and `after` bytes to both sides; at the row's ends byte by byte, since what lies beside it
// may never have been written. The caller waits for the copies and synchronises.
INLINE u32 raw_skew(const u8* start, i64 row, int y) { return (u32)((unsigned long long)start + (unsigned long long)(y * row)) & 15u; }
template <int PITCH>
INLINE void raw_fill(u8* raw, const u8* start, i64 row, int first, int rows, int bytes, int before, int after) {
    for (int r = threadIdx.y; r < rows; r += blockDim.y) {
        const u8* from = start + (first + r) * row;
        const int skew = (int)raw_skew(start, row, first + r);
        const int pieces = (skew + bytes + 15) / 16;
        copy_pieces<16>(threadIdx.x, 32, pieces, [&](int i, u8*& to, const u8*& at) {
            to = raw + r * PITCH + i * 16;
            at = from - skew + i * 16;
            return i * 16 - skew >= -before && i * 16 - skew + 16 <= bytes + after;
        });
        u8* const own = raw + r * PITCH + skew;
        const int head = skew > before ? min(16 - skew, bytes) : 0;
        const int tail = pieces * 16 - skew > bytes + after ? max(head, pieces * 16 - 16 - skew) : bytes;
        for (int b = threadIdx.x; b < head; b += 32) own[b] = __ldg(from + b);
        for (int b = tail + threadIdx.x; b < bytes; b += 32) own[b] = __ldg(from + b);
    }
}
