/* NVDEC's calls without a decoder. A packet is one picture: a byte, "AKE", width and height (two bytes each, little endian), bits, a value that
 * samples are made of, and a mode: 'd' damaged, '4' of 4:4:4, 'x' refused when it is parsed, 'y' when it is decoded, 'n' nothing is shown. Pictures are shown by their
 * timestamps, two held back. It holds callers to the rules of its calls, and writes down what it is asked for in the file
 * that FAKE_NVDEC_LOG names. FAKE_NVDEC=small: decodes up to 64x64. AV1 is not decoded. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long Long;
typedef struct { int codec, chroma; unsigned depth, before[3]; unsigned char supported, engines; unsigned short formats; unsigned width, height, blocks; unsigned short least[2], histogram[2]; unsigned behind[10]; } Caps;
typedef struct { short left, top, right, bottom; } Area;
typedef struct { Long width, height, surfaces; int codec, chroma; Long flags, depth, intra, most[2], none; Area shown; int format, deinterlace; Long target[2], outputs; void *lock; Area area; Long behind[5]; } Create;
typedef struct { int codec; unsigned rate[2]; unsigned char progressive, luma, chroma_depth, least; unsigned width, height; int shown[4], chroma; unsigned bits; int aspect[2]; unsigned char signal[4]; unsigned length; } Format;
typedef struct { Long flags, size; const unsigned char *data; long long time; } Packet;
typedef struct { int index, progressive, top, repeat; long long time; } Shown;
typedef struct { int codec; unsigned surfaces, clock, threshold, delay, annexb, reserved[4]; void *user; int (*sequence)(void *, Format *); int (*decode)(void *, void *); int (*display)(void *, Shown *); void *point, *behind[6], *extended; } Parameters;
typedef struct { int status; unsigned reserved[31]; void *behind[8]; } Status;

enum { SURFACES = 32 };
typedef struct { int used, value, mode; long long time; } Picture;
typedef struct { Parameters parameters; Picture held[3]; int count, next, surfaces; } Parser;
typedef struct { Create create; Picture pictures[SURFACES]; int mapped; } Decoder;
typedef struct { int index; Picture picture; } Decoded;

static void note(const char *text, long number) {
  const char *name = getenv("FAKE_NVDEC_LOG");
  FILE *file = name ? fopen(name, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s %ld\n", text, number);
  fclose(file);
}

int cuvidGetDecoderCaps(Caps *caps) {
  const char *kind = getenv("FAKE_NVDEC") ? getenv("FAKE_NVDEC") : "";
  int small = !strcmp(kind, "small");
  caps->supported = caps->codec != 11 && caps->chroma == 1 && caps->depth <= 4;
  caps->engines = strcmp(kind, "one") ? 3 : 1;
  caps->width = caps->height = small ? 64 : 8192;
  return 0;
}

int cuvidCreateVideoParser(Parser **parser, Parameters *parameters) {
  *parser = calloc(1, sizeof **parser);
  (*parser)->parameters = *parameters;
  note("parser", parameters->codec);
  return 0;
}

static int show(Parser *parser) {
  int first = 0;
  for (int i = 1; i < parser->count; i++) if (parser->held[i].time < parser->held[first].time) first = i;
  Picture picture = parser->held[first];
  parser->held[first] = parser->held[--parser->count];
  Shown shown = {picture.used, 1, 0, 0, picture.time};
  return parser->parameters.display(parser->parameters.user, &shown) ? 0 : 999;
}

int cuvidParseVideoData(Parser *parser, Packet *packet) {
  Parameters *with = &parser->parameters;
  if (packet->flags & 1) {
    while (parser->count) if (show(parser)) return 999;
    return 0;
  }
  const unsigned char *data = packet->data;
  if (packet->size != 11 || memcmp(data + 1, "AKE", 3) || data[10] == 'x') return 1;
  unsigned width = data[4] | data[5] << 8, height = data[6] | data[7] << 8;
  Format format = {with->codec, {25, 1}, 1, data[8] - 8, data[8] - 8, 3};
  format.width = (width + 15) / 16 * 16;
  format.height = (height + 15) / 16 * 16;
  format.shown[2] = width;
  format.shown[3] = height;
  format.chroma = data[10] == '4' ? 3 : 1;
  parser->surfaces = with->sequence(with->user, &format);
  if (!parser->surfaces) return 999;
  if (data[10] == 'n') return 0;
  Decoded decoded = {parser->next, {1, data[9], data[10], packet->time}};
  if (!with->decode(with->user, &decoded)) return 999;
  parser->held[parser->count++] = (Picture){parser->next, 0, 0, packet->time};
  parser->next = (parser->next + 1) % parser->surfaces;
  return parser->count > 2 ? show(parser) : 0;
}
int cuvidDestroyVideoParser(Parser *parser) { free(parser); note("parser gone", 0); return 0; }

int cuvidCreateDecoder(Decoder **decoder, Create *create) {
  if (create->surfaces > SURFACES || create->target[0] % 2 || create->target[1] % 2) return 1;
  if (create->shown.right - create->shown.left != create->target[0]) return 1;
  *decoder = calloc(1, sizeof **decoder);
  (*decoder)->create = *create;
  note("decoder", create->surfaces);
  return 0;
}
int cuvidDestroyDecoder(Decoder *decoder) { note("decoder gone with surfaces", decoder->mapped); free(decoder); return 0; }
int cuvidDecodePicture(Decoder *decoder, Decoded *decoded) {
  if (decoded->picture.mode == 'y') return 1;
  decoder->pictures[decoded->index] = decoded->picture;
  return 0;
}
int cuvidGetDecodeStatus(Decoder *decoder, int index, Status *status) {
  status->status = decoder->pictures[index].mode == 'd' ? 9 : 2;
  return 0;
}

int cuvidMapVideoFrame64(Decoder *decoder, int index, unsigned long long *address, unsigned *pitch, void *parameters) {
  Create *create = &decoder->create;
  if (decoder->mapped == (int)create->outputs) return 2;
  unsigned width = create->target[0], height = create->target[1], size = create->format ? 2 : 1;
  *pitch = (width * size + 255) / 256 * 256;
  unsigned char *surface = malloc(*pitch * (height + height / 2));
  memset(surface, 0xEE, *pitch * (height + height / 2));
  for (unsigned y = 0; y < height + height / 2; y++) {
    for (unsigned x = 0; x < width; x++) {
      unsigned sample = (unsigned char)(decoder->pictures[index].value + x + 2 * y);
      unsigned char *to = surface + y * *pitch + x * size;
      if (size == 1) *to = sample;
      else *(uint16_t *)to = sample << 8;
    }
  }
  *address = (unsigned long long)surface;
  decoder->mapped++;
  return 0;
}
int cuvidUnmapVideoFrame64(Decoder *decoder, unsigned long long address) {
  free((void *)address);
  decoder->mapped--;
  return 0;
}
