// What `compute-sanitizer --tool initcheck` makes of an asynchronous copy that asks for fewer bytes than 16.
//
//     nvcc -arch=sm_80 -o part_copy benchmarks/gpu/part_copy.cu
//     compute-sanitizer --tool initcheck ./part_copy
//
// 6 bytes are written, and 6 are asked for: cp.async reads src-size bytes and fills the rest of cp-size with zeros (PTX
// ISA, "cp.async"). What arrived is printed: zeros, where 238 would stand if the others had been read, which are 0xEE.
// An initcheck that reports a read of 16 uninitialised bytes here counts bytes that are not read.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void copy(const unsigned char* from, unsigned char* to, int bytes) {
    __shared__ uint4 piece;
    const unsigned address = (unsigned)__cvta_generic_to_shared(&piece);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < 16; i++) to[i] = ((unsigned char*)&piece)[i];
}

int main() {
    unsigned char *from, *to, got[16];
    // Freed and taken again: what nobody has written since is still there, and is uninitialised to the checker.
    cudaMalloc(&from, 16);
    cudaMemset(from, 0xEE, 16);
    cudaFree(from);
    cudaMalloc(&from, 16), cudaMalloc(&to, 16);
    cudaMemset(from, 7, 6);
    copy<<<1, 1>>>(from, to, 6);
    if (cudaMemcpy(got, to, 16, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    for (int i = 0; i < 16; i++) printf("%d ", got[i]);
    printf("\n");
    return 0;
}
