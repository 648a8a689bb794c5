// resize -> gray -> Gaussian 5 -> Sobel magnitude with NPP, frame after frame. Arguments: width, height, result's width and height,
// frames. Prints microseconds for all frames: calls, then the same calls in a CUDA graph. Run by peers.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cuda_runtime.h>
#include <npp.h>

static void check(int status, const char* what) {
    if (status != 0) {
        fprintf(stderr, "%s failed: %d\n", what, status);
        exit(1);
    }
}
#define CHECK(call) check(static_cast<int>(call), #call)

template <typename T> static T* device(size_t count) {
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    return memory;
}

static NppStreamContext context_of(cudaStream_t stream) {
    cudaDeviceProp device{};
    CHECK(cudaGetDeviceProperties(&device, 0));
    NppStreamContext context{};
    context.hStream = stream;
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    CHECK(cudaStreamGetFlags(stream, &context.nStreamFlags));
    return context;
}

// Median of seven rounds, in microseconds for one call of `run`.
static float median(cudaStream_t stream, int count, const std::function<void()>& run) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 3; i++) run();
    std::vector<float> rounds(7);
    for (float& round : rounds) {
        CHECK(cudaEventRecord(begin, stream));
        for (int i = 0; i < count; i++) run();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&round, begin, end));
        round *= 1e3f / count;
    }
    std::sort(rounds.begin(), rounds.end());
    return rounds[3];
}

int main(int count, char** values) {
    if (count != 6) {
        fprintf(stderr, "usage: npp WIDTH HEIGHT RESULT_WIDTH RESULT_HEIGHT FRAMES\n");
        return 2;
    }
    const int sw = atoi(values[1]), sh = atoi(values[2]), w = atoi(values[3]), h = atoi(values[4]), n = atoi(values[5]);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const NppStreamContext context = context_of(stream);
    const size_t from = size_t(sw) * sh * 3, to = size_t(w) * h;
    std::vector<unsigned char> noise(from * n);
    unsigned state = 1;
    for (auto& byte : noise) byte = (state = state * 1664525u + 1013904223u) >> 24;
    Npp8u *source = device<Npp8u>(from * n), *small = device<Npp8u>(to * 3 * n), *gray = device<Npp8u>(to * n);
    Npp8u *soft = device<Npp8u>(to * n), *edges = device<Npp8u>(to * n);
    Npp16s* magnitude = device<Npp16s>(to * n);
    CHECK(cudaMemcpy(source, noise.data(), noise.size(), cudaMemcpyHostToDevice));
    const NppiSize from_size{sw, sh}, size{w, h};
    const NppiRect whole{0, 0, sw, sh}, result{0, 0, w, h};
    const auto run = [&] {
        for (int i = 0; i < n; i++) {
            Npp8u *s = source + i * from, *r = small + i * to * 3, *g = gray + i * to, *b = soft + i * to;
            Npp16s* m = magnitude + i * to;
            CHECK(nppiResize_8u_C3R_Ctx(s, sw * 3, from_size, whole, r, w * 3, size, result, NPPI_INTER_LINEAR, context));
            CHECK(nppiRGBToGray_8u_C3C1R_Ctx(r, w * 3, g, w, size, context));
            CHECK(nppiFilterGaussBorder_8u_C1R_Ctx(g, w, size, {0, 0}, b, w, size, NPP_MASK_SIZE_5_X_5,
                                                   NPP_BORDER_REPLICATE, context));
            CHECK(nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(b, w, size, {0, 0}, nullptr, 0, nullptr, 0, m, w * 2, nullptr,
                                                              0, size, NPP_MASK_SIZE_3_X_3, nppiNormL2,
                                                              NPP_BORDER_REPLICATE, context));
            CHECK(nppiConvert_16s8u_C1R_Ctx(m, w * 2, edges + i * to, w, size, context));
        }
    };
    const int executions = n == 1 ? 200 : 10;
    const float calls = median(stream, executions, run);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    const float replayed = median(stream, executions, [&] { CHECK(cudaGraphLaunch(executable, stream)); });
    printf("%.2f %.2f\n", calls, replayed);
}
