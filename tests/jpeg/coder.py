"""Writes JPEG files of given coefficients (ITU-T T.81), with any sampling factors, scans and restarts."""

import numpy as np

ZIGZAG = np.array([
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55,
    62, 63])

# T.81 K.3.1 and K.3.2, luma: enough for every component here.
DC_COUNTS = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
DC_SYMBOLS = list(range(12))
AC_COUNTS = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D]
AC_SYMBOLS = list(bytes.fromhex(
    "0102030004110512213141061351610722711432" "8191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435"
    "363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999a"
    "a2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"))
# A table of all 256 symbols, 8 bits and more each: progressive scans have symbols that K.3 lacks.
ALL_COUNTS = [0] * 7 + [255, 1] + [0] * 7
ALL_SYMBOLS = list(range(256))


def codes(counts, symbols):
    table, code, at = {}, 0, 0
    for length, count in enumerate(counts, 1):
        for symbol in symbols[at:at + count]:
            table[symbol] = (code, length)
            code += 1
        at += count
        code <<= 1
    return table


class Bits:
    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value, count):
        self.value = self.value << count | (value & (1 << count) - 1)
        self.count += count

    def bytes(self):
        pad = -self.count % 8
        data = (self.value << pad | (1 << pad) - 1).to_bytes((self.count + pad) // 8, "big")
        return data.replace(b"\xff", b"\xff\0")


def segment(code, body):
    return bytes([0xFF, code]) + (len(body) + 2).to_bytes(2, "big") + bytes(body)


def magnitude(value):
    size = int(abs(value)).bit_length()
    return size, value if value >= 0 else value + (1 << size) - 1


class Picture:
    """Random coefficients of a picture: `factors` are (h, v) for each component."""

    def __init__(self, width, height, factors, seed=0, quantiser=4):
        rng = np.random.default_rng(seed)
        self.width, self.height, self.factors, self.quantiser = width, height, factors, quantiser
        self.hmax, self.vmax = max(h for h, _ in factors), max(v for _, v in factors)
        self.mcus = -(-width // (8 * self.hmax)), -(-height // (8 * self.vmax))
        self.blocks, self.coefficients = [], []
        for h, v in factors:
            samples = -(-width * h // self.hmax), -(-height * v // self.vmax)
            self.blocks.append((-(-samples[0] // 8), -(-samples[1] // 8)))
            stored = np.zeros((self.mcus[1] * v, self.mcus[0] * h, 64), int)
            stored[..., 0] = rng.integers(-120, 120, stored.shape[:2])
            spread = np.maximum(1, 40 // (1 + np.arange(64)))
            wild = rng.integers(-1, 2, stored.shape) * rng.integers(0, spread + 1, stored.shape)
            keep = rng.random(stored.shape) < 0.3
            stored[..., 1:] = np.where(keep, wild, 0)[..., 1:]
            self.coefficients.append(stored)

    def units(self, parts):
        """Blocks of each MCU of a scan: lists of (component, x, y)."""
        if len(parts) == 1:
            across, down = self.blocks[parts[0]]
            return [[(parts[0], x, y)] for y in range(down) for x in range(across)]
        return [[(c, x * self.factors[c][0] + i, y * self.factors[c][1] + j) for c in parts
                 for j in range(self.factors[c][1]) for i in range(self.factors[c][0])]
                for y in range(self.mcus[1]) for x in range(self.mcus[0])]

    def frame(self, sof, ids=None, height=None, precision=8):
        ids = ids or range(1, len(self.factors) + 1)
        height = self.height if height is None else height
        body = bytes([precision]) + height.to_bytes(2, "big") + self.width.to_bytes(2, "big") + bytes([len(self.factors)])
        return segment(sof, body + b"".join(bytes([i, h << 4 | v, 0]) for i, (h, v) in zip(ids, self.factors)))

    def tables(self, progressive=False):
        dqt = segment(0xDB, bytes([0] + [self.quantiser] * 64))
        ac = (ALL_COUNTS, ALL_SYMBOLS) if progressive else (AC_COUNTS, AC_SYMBOLS)
        return dqt, segment(0xC4, bytes([0x00, *DC_COUNTS, *DC_SYMBOLS, 0x10, *ac[0], *ac[1]]))

    def header(self, parts, band=(0, 63), high=0, low=0, ids=None):
        ids = ids or range(1, len(self.factors) + 1)
        body = bytes([len(parts)]) + b"".join(bytes([ids[c], 0]) for c in parts)
        return segment(0xDA, body + bytes([*band, high << 4 | low]))

    def intervals(self, parts, coder, restart):
        units = self.units(parts)
        step = restart or len(units)
        for start in range(0, len(units), step):
            coder.start()
            for unit in units[start:start + step]:
                for c, x, y in unit:
                    coder.block(c, self.coefficients[c][y, x][ZIGZAG])
            yield coder.end()

    def scan(self, parts, restart=0, band=None, high=0, low=0, ids=None):
        """Header and intervals of a scan; `band` makes it a progressive one."""
        coder = Sequential() if band is None else Progressive(band, high, low)
        return self.header(parts, band or (0, 63), high, low, ids), list(self.intervals(parts, coder, restart))


class Sequential:
    dc, ac = codes(DC_COUNTS, DC_SYMBOLS), codes(AC_COUNTS, AC_SYMBOLS)

    def start(self):
        self.bits, self.predictions = Bits(), {}

    def block(self, c, values):
        size, bits = magnitude(int(values[0]) - self.predictions.get(c, 0))
        self.predictions[c] = int(values[0])
        self.bits.put(*self.dc[size])
        self.bits.put(bits, size)
        run = 0
        for value in map(int, values[1:]):
            if value == 0:
                run += 1
                continue
            while run > 15:
                self.bits.put(*self.ac[0xF0])
                run -= 16
            size, bits = magnitude(value)
            self.bits.put(*self.ac[run << 4 | size])
            self.bits.put(bits, size)
            run = 0
        if run:
            self.bits.put(*self.ac[0])

    def end(self):
        return self.bits.bytes()


class Progressive:
    dc, ac = codes(DC_COUNTS, DC_SYMBOLS), codes(ALL_COUNTS, ALL_SYMBOLS)

    def __init__(self, band, high, low):
        self.band, self.high, self.low = band, high, low

    def start(self):
        self.bits, self.predictions, self.run, self.kept = Bits(), {}, 0, []

    def flush(self):
        """Codes the blocks that the band's end was noted for, and the corrections kept for them."""
        if self.run:
            size = self.run.bit_length() - 1
            self.bits.put(*self.ac[size << 4])
            self.bits.put(self.run, size)
            for bit in self.kept:
                self.bits.put(bit, 1)
        self.run, self.kept = 0, []

    def block(self, c, values):
        if self.band[0] == 0:
            value = int(values[0]) >> self.low
            if self.high:
                return self.bits.put(value, 1)
            size, bits = magnitude(value - self.predictions.get(c, 0))
            self.predictions[c] = value
            self.bits.put(*self.dc[size])
            return self.bits.put(bits, size)
        values = [int(v) for v in values[self.band[0]:self.band[1] + 1]]
        shifted = [(abs(v) >> self.low) * (1 if v >= 0 else -1) for v in values]
        if self.high:
            self.refine(shifted)
        else:
            self.first(shifted)

    def first(self, values):
        run = 0
        for value in values:
            if value == 0:
                run += 1
                continue
            self.flush()
            while run > 15:
                self.bits.put(*self.ac[0xF0])
                run -= 16
            size, bits = magnitude(value)
            self.bits.put(*self.ac[run << 4 | size])
            self.bits.put(bits, size)
            run = 0
        if run:
            self.empty([])

    def refine(self, values):
        fresh = [i for i, v in enumerate(values) if abs(v) == 1]
        run, bits = 0, []
        for i, value in enumerate(values):
            if value == 0:
                run += 1
                # Sixteen zeros are coded only where a new value follows.
                if run == 16 and any(j > i for j in fresh):
                    self.flush()
                    self.bits.put(*self.ac[0xF0])
                    for bit in bits:
                        self.bits.put(bit, 1)
                    run, bits = 0, []
            elif abs(value) > 1:
                bits.append(abs(value) & 1)
            else:
                self.flush()
                self.bits.put(*self.ac[run << 4 | 1])
                self.bits.put(value > 0, 1)
                for bit in bits:
                    self.bits.put(bit, 1)
                run, bits = 0, []
        if run or bits:
            self.empty(bits)

    def empty(self, bits):
        self.run += 1
        self.kept += bits
        if self.run == 0x7FFF or len(self.kept) > 900:
            self.flush()

    def end(self):
        self.flush()
        return self.bits.bytes()


def joined(header, intervals, numbers=None):
    """A scan with its restart markers, which count as `numbers` say."""
    data = header + (intervals[0] if intervals else b"")
    for i, interval in enumerate(intervals[1:]):
        data += bytes([0xFF, 0xD0 + (numbers[i] if numbers else i % 8)]) + interval
    return data


def restart_segment(restart):
    return segment(0xDD, restart.to_bytes(2, "big")) if restart else b""


SOI, EOI = b"\xff\xd8", b"\xff\xd9"
JFIF = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")


def adobe(transform):
    return segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([transform]))


def baseline(picture, scans=None, restart=0, application=b"", ids=None, tables=True, end=EOI, height=None, dnl=b"", sof=0xC0):
    """A whole file; `scans` are lists of components, all in one when left out."""
    dqt, dht = picture.tables()
    data = SOI + application + dqt + picture.frame(sof, ids, height) + (dht if tables else b"") + restart_segment(restart)
    for i, parts in enumerate(scans or [range(len(picture.factors))]):
        data += joined(*picture.scan(list(parts), restart, ids=ids)) + (dnl if i == 0 else b"")
    return data + end


def progressive(picture, script, restart=0, application=b"", end=EOI):
    """A progressive file; `script` has (components, (first, last), high, low) for each scan."""
    data = SOI + application + b"".join(picture.tables(True)) + picture.frame(0xC2) + restart_segment(restart)
    for parts, band, high, low in script:
        data += joined(*picture.scan(list(parts), restart, band, high, low))
    return data + end
