// Kernels of the user's own: a function called once for each pixel of the result.

// One frame as such a function sees it.
struct View {
    u8* start;
    i64 row, plane;
    int width, height, channels;
    bool planar;

    // The address of a sample, whatever the layout. T is the image's dtype.
    template <typename T> INLINE T* at(int x, int y, int channel = 0) const {
        u8* line = start + y * row;
        return planar ? (T*)(line + channel * plane) + x : (T*)line + (i64)x * channels + channel;
    }
};

INLINE View view_of(const Image& image, i64 frame, int width, int height, int channels, bool planar) {
    return View{image.start + frame * image.frame, image.row, image.plane, width, height, channels, planar};
}

template <class Custom, int INPUTS, class Params> INLINE void custom_pixels(const Params& p) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= p.width) return;
    for (u32 frame = FIRST_FRAME; frame < p.batch; frame += FRAME_STEP) {
        View in[INPUTS], out;
        Custom::views(p, frame, in, out);
        for (i64 y = blockIdx.y * blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y)
            Custom::pixel(p, in, out, x, (int)y);
    }
}
