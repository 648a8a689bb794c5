/* A compiler that makes nothing of everything, for tests of what is around kernels. */
#include <stdlib.h>
#include <string.h>

int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
const char *nvrtcGetErrorString(int result) { return "text"; }
int nvrtcCreateProgram(void **program) { *program = malloc(1); return 0; }
int nvrtcDestroyProgram(void **program) { free(*program); return 0; }
int nvrtcCompileProgram() { return 0; }
int nvrtcGetProgramLogSize(void *program, size_t *size) { *size = 1; return 0; }
int nvrtcGetProgramLog(void *program, char *log) { *log = 0; return 0; }
int nvrtcGetCUBINSize(void *program, size_t *size) { *size = 64; return 0; }
int nvrtcGetCUBIN(void *program, char *cubin) { memset(cubin, 7, 64); return 0; }
