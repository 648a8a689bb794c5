// Tiles in shared memory: rows of source samples with the columns around them that a window needs. Borders are
// settled while a tile is filled, so that what reads it has no special cases.

#define REFLECT101 0
#define REFLECT 1
#define REPLICATE 2
#define WRAP 3
#define CONSTANT 4

// The index inside 0..n that stands for i, however far outside; -1 means the constant.
template <int BORDER> INLINE i64 inside(i64 i, i64 n) {
    if (i >= 0 && i < n) return i;
    if (BORDER == REPLICATE) return i < 0 ? 0 : n - 1;
    if (BORDER == CONSTANT) return -1;
    // One step back is nearly always enough; the remainder is for radii larger than the image.
    const i64 near = BORDER == WRAP ? (i < 0 ? i + n : i - n)
                   : BORDER == REFLECT ? (i < 0 ? -1 - i : 2 * n - 1 - i) : (i < 0 ? -i : 2 * n - 2 - i);
    if (near >= 0 && near < n) return near;
    const i64 period = BORDER == WRAP ? n : BORDER == REFLECT ? 2 * n : n == 1 ? 1 : 2 * n - 2;
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : (BORDER == REFLECT ? 2 * n - 1 : period) - i;
}

// The geometry of a tile that is COLUMNS pixels wide. S is the dtype of the image, T that of the tile
// (another one only when a constant border is no value of S), C the channels of an image pixel, PLANAR whether
// they lie in planes. A tile always holds whole pixels of C channels.
template <typename S_, typename T_, int C_, bool PLANAR_, int COLUMNS_, int RADIUS_> struct Tile {
    typedef S_ S;
    typedef T_ T;
    static constexpr int C = C_, COLUMNS = COLUMNS_, RADIUS = RADIUS_;
    static constexpr bool PLANAR = PLANAR_;
    static constexpr bool COPY = sizeof(S) == sizeof(T) && !PLANAR;  // whether bytes can be copied as they are
    static constexpr int PIXEL = C * (int)sizeof(T);
    static constexpr int APRON = round_up(RADIUS * PIXEL, 16);       // bytes before the first own column
    static constexpr int PITCH = round_up(COLUMNS * PIXEL, 16) + 2 * APRON;
};

template <typename S, typename T> struct Convert {
    static INLINE T of(S v) { return (T)Sample<S>::widen(v); }
};
template <typename S> struct Convert<S, S> {
    static INLINE S of(S v) { return v; }
};

// Fills `rows` rows of a tile whose first own pixel is (x0, y0 + RADIUS_Y): the image rows from y0 on. `plane`
// is the start of the image's first plane. All threads of the block take part; the caller waits for the copies
// and synchronises.
template <class G, int BORDER, int A>
INLINE void fill_tile(u8* tile, const u8* plane, i64 row, i64 next_plane, int w, int h, int x0, i64 y0, int rows,
                      float constant) {
    typedef typename G::S S;
    typedef typename G::T T;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    const i64 left = (i64)x0 - G::RADIUS;
    const i64 right = min((i64)x0 + G::COLUMNS, (i64)w) + G::RADIUS;  // one past the last column needed
    i64 copied_to = 0, copied_bytes = 0;  // whole columns, and bytes of each row, that the fast loop covers
    if (G::COPY) {
        constexpr int PIECES = G::PITCH / A;
        const i64 first = (i64)x0 * G::PIXEL - G::APRON, end = (i64)w * G::PIXEL;
        copy_pieces<A>(thread, threads, rows * PIECES, [&](int i, u8*& to, const u8*& from) {
            const int r = i / PIECES, piece = i - r * PIECES;
            const i64 y = inside<BORDER>(y0 + r, h), b = first + piece * A;
            to = tile + r * G::PITCH + piece * A;
            from = plane + y * row + b;
            return (BORDER != CONSTANT || y >= 0) && b >= 0 && b + A <= end;
        });
        copied_bytes = end / A * A;
        copied_to = copied_bytes / G::PIXEL;
    }
    // What is left, sample by sample: columns outside the image on the left, the end of the row and the columns
    // behind it, and everything where bytes cannot be copied.
    const i64 a_end = min(max((i64)0, left), right), b_start = min(max(copied_to, left), right);
    const int a = (int)(a_end - left), b = (int)(right - b_start), columns = a + b;
    for (int i = thread; i < rows * columns * G::C; i += threads) {
        const int r = i / (columns * G::C), k = i - r * (columns * G::C);
        const int column = k / G::C, c = k - column * G::C;
        const i64 px = column < a ? left + column : b_start + (column - a);
        const i64 x = inside<BORDER>(px, w), y = inside<BORDER>(y0 + r, h);
        if (px >= 0 && x == px && y >= 0 && (px * G::C + c) * (i64)sizeof(T) < copied_bytes) continue;
        T v;
        if (BORDER == CONSTANT && (x < 0 || y < 0))
            v = (T)constant;
        else if (G::PLANAR)
            v = Convert<S, T>::of(__ldg((const S*)(plane + c * next_plane + y * row) + x));
        else
            v = Convert<S, T>::of(__ldg((const S*)(plane + y * row) + x * G::C + c));
        *(T*)(tile + r * G::PITCH + G::APRON + (int)(px - x0) * G::PIXEL + c * (int)sizeof(T)) = v;
    }
    if (BORDER == CONSTANT && G::COPY) {
        // Rows outside the image, which the fast loop left out.
        const int middle = (int)(b_start - a_end);
        for (int r = 0; r < rows; r++) {
            if (y0 + r >= 0 && y0 + r < h) continue;
            for (int k = thread; k < middle * G::C; k += threads)
                *(T*)(tile + r * G::PITCH + G::APRON + (int)(a_end - x0) * G::PIXEL + k * (int)sizeof(T)) =
                    (T)constant;
        }
    }
}

// The samples of a thread's V pixels and RADIUS pixels to each side, widened, premultiplied with ALPHA.
// `own` is the thread's first pixel in its tile row, aligned to V pixels; the V pixels meant are those SHIFT (not
// above 0) from there.
template <class G, int V, bool ALPHA, int SHIFT = 0> struct Window {
    static constexpr int C = G::C, SAMPLES = (V + 2 * G::RADIUS) * C;
    static constexpr int OWN = V * G::PIXEL;
    static constexpr int A = piece_of(16, OWN);
    static constexpr int LEFT = (G::RADIUS - SHIFT) * G::PIXEL;
    static constexpr int BACK = round_up(LEFT, A);                   // bytes read before the own pixels
    static constexpr int BYTES = BACK + round_up(OWN + (G::RADIUS + SHIFT) * G::PIXEL, A);
    static constexpr int SKIP = (BACK - LEFT) / (int)sizeof(typename G::T);
    float v[SAMPLES];

    INLINE void load(const u8* own) {
        u32 raw[BYTES / 4];
        load_shared<BYTES, A>(raw, own - BACK);
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) v[i] = Sample<typename G::T>::widen(raw, SKIP + i);
        if (ALPHA) {
#pragma unroll
            for (int i = 0; i < SAMPLES; i++)
                if (i % C != C - 1) v[i] *= v[i / C * C + C - 1];
        }
    }
};

// Undoes the premultiplication: colour divided by alpha, 0 where alpha is not above 0.
template <int V, int C> INLINE void divide_by_alpha(float* v) {
#pragma unroll
    for (int i = 0; i < V; i++) {
        const float alpha = v[i * C + C - 1];
#pragma unroll
        for (int c = 0; c < C - 1; c++) v[i * C + c] = alpha > 0.0f ? __fdiv_rn(v[i * C + c], alpha) : 0.0f;
    }
}
