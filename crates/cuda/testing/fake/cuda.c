/* A driver whose one device has the host's memory and launches nothing, for tests of what is around kernels. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long Address;

#define OK(name) int name() { return 0; }
#define NOT_SUPPORTED(name) int name() { return 801; }
#define HANDLE(name) int name(void **handle) { *handle = malloc(1); return 0; }
#define FREE(name) int name(void *handle) { free(handle); return 0; }

static __thread void *current;

int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int error, const char **text) { *text = "CUDA_ERROR_FAKE"; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "text"; return 0; }

/* Takes as many milliseconds as FAKE_START_MS says. */
int cuInit(unsigned flags) {
  const char *wait = getenv("FAKE_START_MS");
  if (wait) usleep(atoi(wait) * 1000);
  return 0;
}
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return index == 0 ? 0 : 101; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "fake device", length); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)1 << 33; return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  /* Compute capability 9.0, 4 multiprocessors, no memory pools. */
  *value = which == 75 ? 9 : which == 16 ? 4 : 0;
  return 0;
}

int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)64; return 0; }
OK(cuDevicePrimaryCtxRelease_v2)
OK(cuDevicePrimaryCtxReset_v2)

HANDLE(cuEventCreate)
FREE(cuEventDestroy_v2)
OK(cuEventQuery)
OK(cuEventRecord)
OK(cuEventSynchronize)
int cuEventElapsedTime_v2(float *ms, void *a, void *b) { *ms = 0; return 0; }
HANDLE(cuStreamCreate)
FREE(cuStreamDestroy_v2)
OK(cuStreamQuery)
OK(cuStreamSynchronize)
OK(cuStreamWaitEvent)
int cuStreamWriteValue32_v2(void *stream, Address at, uint32_t value, unsigned flags) {
  *(uint32_t *)at = value;
  return 0;
}

int cuMemAlloc_v2(Address *address, size_t bytes) {
  *address = (Address)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *address ? 0 : 2;
}
int cuMemFree_v2(Address address) { free((void *)address); return 0; }
int cuMemGetInfo_v2(size_t *available, size_t *total) { *available = *total = (size_t)1 << 33; return 0; }
OK(cuMemHostRegister_v2)
OK(cuMemHostUnregister)
int cuMemHostGetDevicePointer_v2(Address *address, void *host, unsigned flags) {
  *address = (Address)host;
  return 0;
}
int cuPointerGetAttributes(unsigned count, int *which, void **values, Address at) {
  for (unsigned i = 0; i < count; i++) *(unsigned *)values[i] = 0;
  return 0;
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
  memmove((void *)to, (void *)from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
  memcpy(to, (void *)from, bytes);
  return 0;
}
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
  memcpy((void *)to, from, bytes);
  return 0;
}
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) { return cuMemcpyHtoDAsync_v2(to, from, bytes, 0); }
struct Side { size_t x, y; unsigned type; const void *host; Address device; void *array; size_t pitch; };
struct Copy { struct Side from, to; size_t width, height; };
int cuMemcpy2DAsync_v2(const struct Copy *copy, void *stream) {
  const char *from = copy->from.type == 1 ? copy->from.host : (void *)copy->from.device;
  char *to = copy->to.type == 1 ? (void *)copy->to.host : (void *)copy->to.device;
  for (size_t y = 0; y < copy->height; y++) {
    memcpy(to + y * copy->to.pitch, from + y * copy->from.pitch, copy->width);
  }
  return 0;
}
int cuMemsetD8Async(Address to, unsigned char value, size_t bytes, void *stream) {
  memset((void *)to, value, bytes);
  return 0;
}
NOT_SUPPORTED(cuMemAllocFromPoolAsync)
NOT_SUPPORTED(cuMemFreeAsync)
NOT_SUPPORTED(cuMemPoolCreate)
NOT_SUPPORTED(cuMemPoolDestroy)
NOT_SUPPORTED(cuMemPoolGetAttribute)
NOT_SUPPORTED(cuMemPoolSetAttribute)
NOT_SUPPORTED(cuMemPoolTrimTo)

HANDLE(cuModuleLoadData)
FREE(cuModuleUnload)
HANDLE(cuModuleGetFunction)
int cuFuncGetAttribute(int *value, int which, void *function) { *value = 16; return 0; }
OK(cuLaunchKernel)

NOT_SUPPORTED(cuGraphAddEventRecordNode)
NOT_SUPPORTED(cuGraphAddKernelNode_v2)
NOT_SUPPORTED(cuGraphCreate)
NOT_SUPPORTED(cuGraphDestroy)
NOT_SUPPORTED(cuGraphExecDestroy)
NOT_SUPPORTED(cuGraphExecKernelNodeSetParams_v2)
NOT_SUPPORTED(cuGraphInstantiateWithFlags)
NOT_SUPPORTED(cuGraphLaunch)
NOT_SUPPORTED(cuGraphUpload)
