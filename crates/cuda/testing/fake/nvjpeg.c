/* nvJPEG's calls without a decoder: pixels are made of a file's length and their place. It holds callers to the rules of
 * its states, and writes down what it is asked for in the file that FAKE_NVJPEG_LOG names. FAKE_NVJPEG=no-hardware: a GPU
 * without engines. A file with a comment "bad" is refused where it is decoded, and a batch with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int backend, states; } Handle;
typedef struct { Handle *handle; int size, format; } State;
typedef struct { unsigned char *channel[4]; size_t pitch[4]; } Image;
typedef struct { int width, height, components, progressive, bad; } Info;

static void note(const char *text, int number) {
  const char *name = getenv("FAKE_NVJPEG_LOG");
  FILE *file = name ? fopen(name, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s %d\n", text, number);
  fclose(file);
}

/* 3: no JPEG file, 10: it ends too early. */
static int read_info(const unsigned char *file, size_t length, Info *info) {
  memset(info, 0, sizeof *info);
  if (length < 2 || file[0] != 0xFF || file[1] != 0xD8) return 3;
  for (size_t at = 2; at + 4 <= length;) {
    size_t size = (size_t)file[at + 2] << 8 | file[at + 3];
    if (at + 2 + size > length) return 10;
    if (file[at + 1] == 0xFE && size == 5 && !memcmp(file + at + 4, "bad", 3)) info->bad = 1;
    if (file[at + 1] >= 0xC0 && file[at + 1] <= 0xC2) {
      info->progressive = file[at + 1] == 0xC2;
      info->height = file[at + 5] << 8 | file[at + 6];
      info->width = file[at + 7] << 8 | file[at + 8];
      info->components = file[at + 9];
    }
    if (file[at + 1] == 0xDA) return info->width ? 0 : 3;
    at += 2 + size;
  }
  return 10;
}

static int draw(const unsigned char *file, size_t length, int format, const Image *to) {
  Info info;
  int status = read_info(file, length, &info);
  if (status) return status;
  if (info.bad) return 3;
  int samples = format == 5 ? 3 : 1;
  for (int y = 0; y < info.height; y++) {
    for (int x = 0; x < info.width * samples; x++) {
      to->channel[0][y * to->pitch[0] + x] = (unsigned char)(length + 3 * y + x);
    }
  }
  return 0;
}

int nvjpegGetProperty(int which, int *value) { *value = which == 0 ? 13 : which == 1 ? 3 : 2; return 0; }

int nvjpegCreateEx(int backend, void *device, void *pinned, unsigned flags, Handle **handle) {
  const char *mode = getenv("FAKE_NVJPEG");
  note("create", backend);
  if (mode && !strcmp(mode, "refuses")) return 8;
  if (backend == 3 && mode && !strcmp(mode, "no-hardware")) return 7;
  *handle = calloc(1, sizeof **handle);
  (*handle)->backend = backend;
  return 0;
}
int nvjpegDestroy(Handle *handle) { note("destroyed with states", handle->states); free(handle); return 0; }

int nvjpegJpegStateCreate(Handle *handle, State **state) {
  *state = calloc(1, sizeof **state);
  (*state)->handle = handle;
  __sync_fetch_and_add(&handle->states, 1);
  return 0;
}
int nvjpegJpegStateDestroy(State *state) { __sync_fetch_and_sub(&state->handle->states, 1); free(state); return 0; }

int nvjpegJpegStreamCreate(Handle *handle, Info **info) { *info = calloc(1, sizeof **info); return 0; }
int nvjpegJpegStreamDestroy(Info *info) { free(info); return 0; }
int nvjpegJpegStreamParseHeader(Handle *handle, const unsigned char *file, size_t length, Info *info) {
  return read_info(file, length, info);
}
int nvjpegDecodeBatchedSupported(Handle *handle, Info *info, int *refused) {
  if (handle->backend != 3) return 2;
  *refused = info->progressive;
  return 0;
}

int nvjpegGetImageInfo(Handle *handle, const unsigned char *file, size_t length, int *components, int *sampling,
                       int *widths, int *heights) {
  Info info;
  int status = read_info(file, length, &info);
  *components = info.components;
  *sampling = 0;
  widths[0] = info.width;
  heights[0] = info.height;
  return status;
}

int nvjpegDecode(Handle *handle, State *state, const unsigned char *file, size_t length, int format, Image *to,
                 void *stream) {
  note("single", format);
  return state->handle == handle ? draw(file, length, format, to) : 2;
}

int nvjpegDecodeBatchedInitialize(Handle *handle, State *state, int size, int threads, int format) {
  if (state->handle != handle || threads < 1 || size < 1) return 2;
  state->size = size;
  state->format = format;
  return 0;
}
int nvjpegDecodeBatched(Handle *handle, State *state, const unsigned char *const *files, const size_t *lengths, Image *to,
                        void *stream) {
  note("batch", state->size);
  if (state->handle != handle || !state->size) return 1;
  for (int i = 0; i < state->size; i++) {
    int status = draw(files[i], lengths[i], state->format, to + i);
    if (status) {
      state->size = 0; /* to be made ready anew */
      return status;
    }
  }
  return 0;
}
