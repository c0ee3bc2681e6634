// Textures of the executor: reading, writing and sampling (MSL 6.12). Part of the program that runtime.c begins.
//
// A texel is four words. Levels follow each other; in a level texels are ordered by layer, z, y, x and sample.

// More textures than arguments: those that only tables hold.
enum { MAX_TEXTURES = 1024, MAX_SAMPLERS = 16, MAX_LEVELS = 16 };
enum Element { FLOATS, INTS, UINTS };
typedef struct {
  uint32_t width, height, depth, layers, levels, samples, element;
  uint32_t *texels;
  uint64_t level_start[MAX_LEVELS + 1]; // in texels
} Texture;
// The sampler and the lookup of the headers (c2_resources.h, c6_textures_detail.h).
typedef struct { uint64_t bits; } Sampler;
typedef struct {
  float coord[3], dx[3], dy[3];
  int32_t offset[3];
  uint32_t layer, dims, cube, mode;
  float lod, min_lod, reference;
  uint32_t compare, gather;
} Lookup;
typedef union { float f[4]; uint32_t u[4]; } Texel;

static Texture textures[MAX_TEXTURES];
static Sampler samplers[MAX_SAMPLERS];
static const void *sampler_table(void) { return samplers; }

static uint32_t at_level(uint32_t size, uint32_t level) { return size >> level > 0 ? size >> level : 1; }

static const Texture *texture(uint64_t handle) {
  if (handle == 0 || handle > MAX_TEXTURES || !textures[handle - 1].texels) fault(NOWHERE, 0, (int64_t)handle, 0, 0, "texture");
  return &textures[handle - 1];
}

// The texel at a place (x, y, z, layer, level, sample), or NULL outside the texture.
static uint32_t *find_texel(const Texture *t, const int32_t *p) {
  if (p[4] < 0 || (uint32_t)p[4] >= t->levels) return NULL;
  uint32_t level = (uint32_t)p[4], w = at_level(t->width, level), h = at_level(t->height, level), d = at_level(t->depth, level);
  uint32_t x = (uint32_t)p[0], y = (uint32_t)p[1], z = (uint32_t)p[2], layer = (uint32_t)p[3], sample = (uint32_t)p[5];
  if (x >= w || y >= h || z >= d || layer >= t->layers || sample >= t->samples) return NULL;
  uint64_t n = ((((uint64_t)layer * d + z) * h + y) * w + x) * t->samples + sample;
  return t->texels + 4 * (t->level_start[level] + n);
}

uint32_t __msl_texture_size(uint64_t handle, uint32_t what, uint32_t level) {
  const Texture *t = texture(handle);
  const uint32_t sizes[] = {at_level(t->width, level), at_level(t->height, level), at_level(t->depth, level), t->layers, t->levels, t->samples, t->layers / 6};
  return sizes[what];
}

// A read outside gives zero, a write outside does nothing.
void __msl_texture_read(uint64_t handle, const int32_t *place, uint32_t *out) {
  const uint32_t *texel = find_texel(texture(handle), place);
  for (int i = 0; i < 4; ++i) out[i] = texel ? texel[i] : 0;
}
void __msl_texture_write(uint64_t handle, const int32_t *place, const uint32_t *value) {
  uint32_t *texel = find_texel(texture(handle), place);
  if (texel) memcpy(texel, value, 16);
}
uint32_t __msl_texture_atomic(uint64_t handle, const int32_t *place, uint32_t operation, uint32_t v, uint32_t expected) {
  uint32_t *texel = find_texel(texture(handle), place);
  if (!texel) return 0;
  uint32_t o = *texel;
  const uint32_t results[] = {
      o + v, o - v, o & v, o | v, o ^ v, o < v ? o : v, o > v ? o : v, v, o, v,
      (int32_t)o < (int32_t)v ? o : v, (int32_t)o > (int32_t)v ? o : v, o == expected ? v : o,
  };
  *texel = results[operation];
  return o;
}

// ---- sampling ----------------------------------------------------------------------------------------------------

static uint32_t bits(const Sampler *s, int at, int n) { return (uint32_t)(s->bits >> at) & ((1u << n) - 1); }
static float lod_bound(const Sampler *s, int at) {
  uint32_t word = bits(s, at, 20) << 12;
  float bound;
  memcpy(&bound, &word, 4);
  return bound;
}

// A texel's index along an axis of `size`; -1 is the border, -2 is zero. Modes are the enumerators of `address`.
static int32_t wrap(int64_t i, uint32_t size, uint32_t mode) {
  int64_t n = size;
  switch (mode) {
    case 2: return (int32_t)(((i % n) + n) % n);
    case 3: {
      int64_t k = ((i % (2 * n)) + 2 * n) % (2 * n);
      return (int32_t)(k < n ? k : 2 * n - 1 - k);
    }
    case 0: return i < 0 || i >= n ? -2 : (int32_t)i;
    case 4: return i < 0 || i >= n ? -1 : (int32_t)i;
    default: return (int32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
  }
}

// reference OP value, with the enumerators of compare_func.
static int compares(uint32_t op, float reference, float value) {
  switch (op) {
    case 1: return reference < value;
    case 2: return reference <= value;
    case 3: return reference > value;
    case 4: return reference >= value;
    case 5: return reference == value;
    case 6: return reference != value;
    case 7: return 1;
    default: return 0;
  }
}

static Texel fetch(const Texture *t, const Sampler *s, const Lookup *q, uint32_t layer, uint32_t level, const int64_t *index) {
  const uint32_t sizes[3] = {at_level(t->width, level), at_level(t->height, level), at_level(t->depth, level)};
  int32_t place[6] = {0, 0, 0, (int32_t)layer, (int32_t)level, 0};
  Texel r = {{0, 0, 0, 0}};
  uint32_t axes = q->cube ? 2 : q->dims;
  for (uint32_t k = 0; k < axes; ++k) {
    place[k] = wrap(index[k], sizes[k], q->cube ? 1 : bits(s, 1 + 3 * (int)k, 3));
    if (place[k] == -2) return r;
    if (place[k] == -1) {
      uint32_t border = bits(s, 10, 2);
      float rgb = border == 2 ? 1.0f : 0.0f, alpha = border == 0 ? 0.0f : 1.0f;
      r = (Texel){{rgb, rgb, rgb, alpha}};
      if (q->compare) r.f[0] = (float)compares(bits(s, 18, 4), q->reference, r.f[0]);
      return r;
    }
  }
  const uint32_t *texel = find_texel(t, place);
  if (texel) memcpy(r.u, texel, 16);
  if (q->compare) r.f[0] = (float)compares(bits(s, 18, 4), q->reference, r.f[0]);
  return r;
}

// The face of a cube that a direction meets, and where (MSL 2.8 names the faces +x, -x, +y, -y, +z, -z).
static uint32_t cube_face(const float *d, float *uv) {
  float ax = fabsf(d[0]), ay = fabsf(d[1]), az = fabsf(d[2]), m, s, t;
  uint32_t face;
  if (ax >= ay && ax >= az) {
    face = d[0] < 0, m = ax, s = face ? d[2] : -d[2], t = -d[1];
  } else if (ay >= az) {
    face = 2 + (d[1] < 0), m = ay, s = d[0], t = face == 3 ? -d[2] : d[2];
  } else {
    face = 4 + (d[2] < 0), m = az, s = face == 5 ? -d[0] : d[0], t = -d[1];
  }
  uv[0] = (s / m + 1.0f) * 0.5f, uv[1] = (t / m + 1.0f) * 0.5f;
  return face;
}

// Samples one level, between texels if `linear`.
static Texel sample_level(const Texture *t, const Sampler *s, const Lookup *q, uint32_t layer, const float *coord, uint32_t level, int linear) {
  const uint32_t sizes[3] = {at_level(t->width, level), at_level(t->height, level), at_level(t->depth, level)};
  uint32_t axes = q->cube ? 2 : q->dims;
  int64_t base[3] = {0, 0, 0};
  float part[3] = {0, 0, 0};
  linear = linear && t->element == FLOATS;
  for (uint32_t k = 0; k < axes; ++k) {
    float u = bits(s, 0, 1) ? coord[k] : coord[k] * (float)sizes[k];
    if (linear || q->gather) u -= 0.5f;
    float whole = floorf(u);
    if (!(fabsf(whole) < 1e9f)) whole = 0.0f;
    base[k] = (int64_t)whole + q->offset[k];
    part[k] = linear ? u - whole : 0.0f;
  }
  if (q->gather) {
    static const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Texel r;
    for (int i = 0; i < 4; ++i) {
      int64_t index[3] = {base[0] + corners[i][0], base[1] + corners[i][1], 0};
      r.u[i] = fetch(t, s, q, layer, level, index).u[q->compare ? 0 : q->gather - 1];
    }
    return r;
  }
  if (!linear) return fetch(t, s, q, layer, level, base);
  Texel r = {{0, 0, 0, 0}};
  uint32_t reduction = bits(s, 22, 2);
  for (uint32_t corner = 0; corner < 1u << axes; ++corner) {
    float weight = 1.0f;
    int64_t index[3] = {base[0], base[1], base[2]};
    for (uint32_t k = 0; k < axes; ++k) {
      uint32_t far = corner >> k & 1;
      index[k] += far;
      weight *= far ? part[k] : 1.0f - part[k];
    }
    Texel c = fetch(t, s, q, layer, level, index);
    for (int i = 0; i < 4; ++i) {
      if (reduction == 0) r.f[i] += weight == 0.0f ? 0.0f : weight * c.f[i];
      else if (corner == 0) r.f[i] = c.f[i];
      else r.f[i] = reduction == 1 ? fminf(r.f[i], c.f[i]) : fmaxf(r.f[i], c.f[i]);
    }
  }
  return r;
}

void __msl_texture_sample(uint64_t handle, const Sampler *s, const Lookup *q, uint32_t *out) {
  const Texture *t = texture(handle);
  float coord[3] = {q->coord[0], q->coord[1], q->coord[2]};
  uint32_t layers = q->cube ? t->layers / 6 : t->layers, layer = q->layer < layers ? q->layer : layers - 1;
  if (q->cube) layer = layer * 6 + cube_face(q->coord, coord);
  float lod = 0.0f;
  if (q->mode == 1 || q->mode == 2) lod = q->lod;
  if (q->mode == 3) {
    const float sizes[3] = {(float)t->width, (float)t->height, q->cube ? (float)t->width : (float)t->depth};
    float x = 0, y = 0;
    for (uint32_t k = 0; k < q->dims; ++k) x += q->dx[k] * q->dx[k] * sizes[k] * sizes[k], y += q->dy[k] * q->dy[k] * sizes[k] * sizes[k];
    lod = 0.5f * log2f(fmaxf(fmaxf(x, y), 1e-30f));
  }
  lod = fminf(fmaxf(fmaxf(lod, lod_bound(s, 24)), q->min_lod), lod_bound(s, 44));
  lod = fminf(fmaxf(lod, -16.0f), (float)(t->levels - 1));
  int linear = bits(s, lod > 0.0f ? 14 : 12, 2) != 0;
  uint32_t mip = q->gather ? 0 : bits(s, 16, 2);
  float positive = fmaxf(lod, 0.0f);
  uint32_t level = mip == 0 ? 0 : (uint32_t)(mip == 1 ? ceilf(positive + 0.5f) - 1.0f : floorf(positive));
  Texel r = sample_level(t, s, q, layer, coord, level, linear);
  float between = positive - floorf(positive);
  if (mip == 2 && between > 0.0f && t->element == FLOATS) {
    Texel next = sample_level(t, s, q, layer, coord, level + 1, linear);
    for (int i = 0; i < 4; ++i) r.f[i] = r.f[i] * (1.0f - between) + next.f[i] * between;
  }
  memcpy(out, r.u, 16);
}

// ---- the dispatch's textures ---------------------------------------------------------------------------------------

static uint64_t texture_bytes(Texture *t) {
  uint64_t count = 0;
  for (uint32_t l = 0; l < t->levels; ++l) {
    t->level_start[l] = count;
    count += (uint64_t)at_level(t->width, l) * at_level(t->height, l) * at_level(t->depth, l) * t->layers * t->samples;
  }
  return 16 * count;
}

// Reads textures and samplers from the input; the order of textures is kept for the answer.
static uint32_t texture_order[MAX_TEXTURES], texture_count;
static void take_textures(void) {
  texture_count = take32();
  if (texture_count > MAX_TEXTURES) fault(INPUT, 0, 0, 0, 0, "too many textures");
  for (uint32_t i = 0; i < texture_count; ++i) {
    uint32_t slot = take32();
    if (slot >= MAX_TEXTURES) fault(INPUT, 0, 0, 0, 0, "a binding is out of range");
    Texture *t = &textures[slot];
    take(&t->width, 7 * sizeof(uint32_t));
    if (t->levels == 0 || t->levels > MAX_LEVELS || t->layers == 0) fault(INPUT, 0, 0, 0, 0, "a texture has too many levels, or none");
    uint64_t size = texture_bytes(t);
    t->texels = size < (uint64_t)1 << 34 ? malloc(size ? size : 1) : NULL;
    if (!t->texels) fault(INPUT, 0, 0, 0, 0, "a texture is too large");
    take(t->texels, size);
    texture_order[i] = slot;
  }
  for (uint32_t i = 0; i < MAX_SAMPLERS; ++i) samplers[i] = (Sampler){0x7f7ff00000200092};
  for (uint32_t count = take32(); count > 0; --count) {
    uint32_t slot = take32();
    if (slot >= MAX_SAMPLERS) fault(INPUT, 0, 0, 0, 0, "a binding is out of range");
    take(&samplers[slot], sizeof(Sampler));
  }
}
static void put_textures(void) {
  for (uint32_t i = 0; i < texture_count; ++i) {
    Texture *t = &textures[texture_order[i]];
    put(t->texels, texture_bytes(t));
  }
}
