"""Writes the files of crates/io/tests/pictures: small pictures by programs that are not ours, and the pixels that they hold.

    python -m venv target/pictures-venv && target/pictures-venv/bin/pip install -r tests/pictures/requirements.txt
    target/pictures-venv/bin/python tests/pictures/make_cases.py

`pages.txt` lists pages and frames of files that hold several: file, number, width, height, format, sample type, milliseconds
(or -); pixels of all lie behind each other in `FILE.pages.raw`. `FILE.srgb.raw` is what Little CMS makes of a picture with an ICC profile.

`cases.txt` lists them: file, width, height, format, sample type; the pixels lie in the file's name plus `.raw`, little
endian. They are the array that was written, where the format is lossless, and what the reference decoder reads, where it
is not (JPEG in TIFF, lossy WebP).
"""

import io
import pathlib
import struct

import cv2
import numpy as np
import OpenEXR
import tifffile
from PIL import Image, ImageCms, ImageSequence

FOLDER = pathlib.Path(__file__).parents[2] / "crates/io/tests/pictures"
NAMES = {1: "gray", 3: "rgb", 4: "rgba"}
TYPES = {"uint8": "u8", "uint16": "u16", "float16": "f16", "float32": "f32"}
CASES = []
PAGES = []


def noise(height, width, channels, dtype, seed=1):
    random = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        values = random.normal(0, 3, (height, width, channels)).astype(dtype)
    else:
        values = random.integers(0, np.iinfo(dtype).max, (height, width, channels), dtype=dtype, endpoint=True)
    return values[..., 0] if channels == 1 else values


def smooth(height, width):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 255 // width, y * 255 // height, (60 + x * 3 + y * 2) % 256], -1).astype(np.uint8)


def path(name):
    return str(FOLDER / name)


def case(name, pixels):
    """Notes what a file holds."""
    pixels = np.ascontiguousarray(pixels)
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    (FOLDER / f"{name}.raw").write_bytes(pixels.astype(pixels.dtype.newbyteorder("<")).tobytes())
    CASES.append(f"{name} {width} {height} {NAMES[channels]} {TYPES[pixels.dtype.name]}")


def page(name, number, pixels, delay="-"):
    """Notes what one picture of a file is."""
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    mode = "ab" if number else "wb"
    with open(path(f"{name}.pages.raw"), mode) as file:
        file.write(np.ascontiguousarray(pixels).astype(pixels.dtype.newbyteorder("<")).tobytes())
    PAGES.append(f"{name} {number} {width} {height} {NAMES[channels]} {TYPES[pixels.dtype.name]} {delay}")


def spread(pairs):
    """Gray and alpha as rgba."""
    return np.stack([pairs[..., 0]] * 3 + [pairs[..., 1]], -1)


def pillow(name, pixels, expected=None, **options):
    Image.fromarray(pixels).save(path(name), **options)
    case(name, pixels if expected is None else expected)


def netpbm():
    gray, rgb = noise(5, 9, 1, np.uint8), noise(5, 9, 3, np.uint8)
    pillow("pillow.pgm", gray)
    pillow("pillow.ppm", rgb)
    bits = noise(5, 11, 1, np.uint8) > 127
    pillow("pillow.pbm", bits, np.where(bits, 255, 0).astype(np.uint8))
    for name, channels in (("pgm", 1), ("ppm", 3)):
        deep = noise(4, 7, channels, np.uint16, 2)
        cv2.imwrite(path(f"opencv16.{name}"), deep if channels == 1 else deep[..., ::-1])
        case(f"opencv16.{name}", deep)
        plain = noise(3, 8, channels, np.uint8, 3)
        cv2.imwrite(path(f"plain.{name}"), plain if channels == 1 else plain[..., ::-1], [cv2.IMWRITE_PXM_BINARY, 0])
        case(f"plain.{name}", plain)
    # Pillow 13 writes PAM no more than OpenCV does with alpha: by hand, as pam(5) shows it.
    for kind, channels in (("GRAYSCALE_ALPHA", 2), ("RGB_ALPHA", 4)):
        for dtype in (np.uint8, np.uint16):
            pixels, top = noise(4, 5, channels, dtype, 4), np.iinfo(dtype).max
            head = f"P7\n# by hand\nWIDTH 5\nHEIGHT 4\nDEPTH {channels}\nMAXVAL {top}\nTUPLTYPE {kind}\nENDHDR\n"
            name = f"{kind.lower()}{top.bit_length()}.pam"
            (FOLDER / name).write_bytes(head.encode() + pixels.astype(pixels.dtype.newbyteorder(">")).tobytes())
            case(name, spread(pixels) if channels == 2 else pixels)
    # Samples up to 1023 are scaled to 65535, rounded.
    ten = noise(4, 6, 1, np.uint16, 5) % 1024
    (FOLDER / "ten_bits.pgm").write_bytes(b"P5 6 4\n1023\n" + ten.astype(">u2").tobytes())
    case("ten_bits.pgm", ((ten.astype(np.uint64) * 65535 + 511) // 1023).astype(np.uint16))


def bmp_tga_qoi():
    gray, rgb, rgba = noise(5, 9, 1, np.uint8), noise(5, 9, 3, np.uint8), noise(5, 9, 4, np.uint8)
    bits = noise(5, 11, 1, np.uint8) > 127
    pillow("one_bit.bmp", bits, np.where(bits, 255, 0).astype(np.uint8))
    palette = Image.fromarray(smooth(8, 9)).quantize(13)
    palette.save(path("palette.bmp"))
    case("palette.bmp", np.array(palette.convert("RGB")))
    for kind, pixels in (("gray", gray), ("rgb", rgb), ("rgba", rgba)):
        # Of 32 bits the fourth channel has no meaning where the header does not give it one, as Pillow's does not.
        pillow(f"{kind}.bmp", pixels, rgba[..., :3] if kind == "rgba" else pixels)
        pillow(f"{kind}.tga", pixels)
        pillow(f"{kind}_runs.tga", np.repeat(pixels, 3, 1), compression="tga_rle")
        pillow(f"{kind}_top.tga", pixels, orientation=1)
    palette.save(path("palette.tga"))
    case("palette.tga", np.array(palette.convert("RGB")))
    pairs = noise(5, 9, 2, np.uint8)
    pillow("pairs.tga", pairs, spread(pairs))
    for kind, pixels in (("rgb", rgb), ("rgba", rgba)):
        pillow(f"{kind}.qoi", pixels)


def webp():
    pillow("rgb.webp", noise(9, 13, 3, np.uint8), lossless=True)
    pillow("rgba.webp", noise(9, 13, 4, np.uint8), lossless=True, exact=True)
    pillow("palette.webp", smooth(16, 16) // 64 * 64, lossless=True)
    rgb = smooth(21, 37)
    for name, pixels in (("lossy", rgb), ("lossy_alpha", np.dstack([rgb, rgb[..., 0]]))):
        Image.fromarray(pixels).save(path(f"{name}.webp"), quality=80)
        case(f"{name}.webp", np.array(Image.open(path(f"{name}.webp"))))


    frames = [Image.fromarray(smooth(8, 9)[::step].repeat(step, 0)) for step in (1, 2, 4)]
    frames[0].save(path("animated.webp"), save_all=True, append_images=frames[1:], duration=50, lossless=True)
    # Every animation says that it has alpha.
    case("animated.webp", np.array(frames[0].convert("RGBA")))


def tiff():
    for dtype in (np.uint8, np.uint16, np.float32):
        for channels in (1, 2, 3, 4):
            pixels = noise(9, 17, channels, dtype)
            photo = "minisblack" if channels < 3 else "rgb"
            extra = ["unassalpha"] if channels in (2, 4) else None
            expected = spread(pixels) if channels == 2 else pixels
            short = TYPES[np.dtype(dtype).name]
            name = f"{short}_{channels}.tif"
            tifffile.imwrite(path(name), pixels, photometric=photo, extrasamples=extra, compression="zlib", predictor=True)
            case(name, expected)
            name = f"{short}_{channels}_tiles.tif"
            tifffile.imwrite(path(name), pixels, photometric=photo, extrasamples=extra, tile=(16, 16), byteorder=">")
            case(name, expected)
            if channels > 1:
                name = f"{short}_{channels}_planes.tif"
                planes = np.moveaxis(pixels, -1, 0)
                tifffile.imwrite(path(name), planes, photometric=photo, extrasamples=extra, planarconfig="separate", rowsperstrip=5)
                case(name, expected)
    gray, rgb = noise(9, 17, 1, np.uint8), noise(9, 17, 3, np.uint8)
    tifffile.imwrite(path("big.tif"), rgb, photometric="rgb", bigtiff=True)
    case("big.tif", rgb)
    tifffile.imwrite(path("white_is_zero.tif"), 255 - gray, photometric="miniswhite")
    case("white_is_zero.tif", gray)
    for channels, name in ((1, "half_gray"), (2, "half_pairs"), (3, "half"), (4, "half_rgba")):
        half = noise(6, 7, channels, np.float16)
        extra = ["unassalpha"] if channels in (2, 4) else None
        photo = "minisblack" if channels < 3 else "rgb"
        tifffile.imwrite(path(f"{name}.tif"), half, photometric=photo, extrasamples=extra)
        case(f"{name}.tif", spread(half) if channels == 2 else half)
    planes = np.moveaxis(half, -1, 0)
    tifffile.imwrite(path("half_planes.tif"), planes, photometric="rgb", extrasamples=extra, planarconfig="separate")
    case("half_planes.tif", half)
    for method in ("tiff_lzw", "packbits", "tiff_adobe_deflate"):
        pillow(f"{method}.tif", rgb, compression=method)
    bits = noise(5, 11, 1, np.uint8) > 127
    for method in ("raw", "group4", "packbits"):
        pillow(f"bits_{method}.tif", bits, np.where(bits, 255, 0).astype(np.uint8), compression=method)
    palette = Image.fromarray(smooth(8, 9)).quantize(13)
    palette.save(path("palette.tif"))
    case("palette.tif", np.array(palette.convert("RGB")))
    cmyk = noise(6, 7, 4, np.uint8)
    Image.fromarray(cmyk, "CMYK").save(path("cmyk.tif"))
    left = (255 - cmyk[..., :3].astype(np.uint32)) * (255 - cmyk[..., 3:].astype(np.uint32))
    case("cmyk.tif", ((left + 127) // 255).astype(np.uint8))
    # Colours multiplied with alpha ("associated") are divided by it.
    multiplied = noise(6, 7, 4, np.float32)
    tifffile.imwrite(path("multiplied.tif"), multiplied, photometric="rgb", extrasamples=["assocalpha"])
    case("multiplied.tif", np.dstack([multiplied[..., :3] / multiplied[..., 3:], multiplied[..., 3:]]))
    multiplied = noise(6, 7, 4, np.float16)
    tifffile.imwrite(path("multiplied_half.tif"), multiplied, photometric="rgb", extrasamples=["assocalpha"])
    divided = multiplied[..., :3].astype(np.float32) / multiplied[..., 3:].astype(np.float32)
    case("multiplied_half.tif", np.dstack([divided.astype(np.float16), multiplied[..., 3:]]))
    turned = noise(6, 7, 3, np.uint8)
    tifffile.imwrite(path("turned.tif"), turned, photometric="rgb", extratags=[(274, "H", 1, 6, True)])
    case("turned.tif", np.rot90(turned, -1))
    with tifffile.TiffWriter(path("pages.tif")) as file:
        for page in (turned, turned[::-1], turned):
            file.write(page, photometric="rgb")
    case("pages.tif", turned)


def hdr():
    pixels = np.abs(noise(9, 17, 3, np.float32)) * 100
    cv2.imwrite(path("opencv.hdr"), pixels[..., ::-1])
    case("opencv.hdr", cv2.imread(path("opencv.hdr"), cv2.IMREAD_UNCHANGED)[..., ::-1])
    flat = np.abs(noise(3, 5, 3, np.float32))
    cv2.imwrite(path("narrow.hdr"), flat[..., ::-1])
    case("narrow.hdr", cv2.imread(path("narrow.hdr"), cv2.IMREAD_UNCHANGED)[..., ::-1])


def gif():
    palette = Image.fromarray(smooth(8, 9)).quantize(13)
    palette.save(path("plain.gif"))
    case("plain.gif", np.array(palette.convert("RGB")))
    palette.save(path("interlaced.gif"), interlace=1)
    case("interlaced.gif", np.array(palette.convert("RGB")))
    palette.save(path("transparent.gif"), transparency=2)
    rgba = np.array(Image.open(path("transparent.gif")).convert("RGBA"))
    # What lies under a transparent pixel is nothing.
    rgba[rgba[..., 3] == 0] = 0
    case("transparent.gif", rgba)
    frames = [Image.fromarray(smooth(8, 9)[::step].repeat(step, 0)).quantize(13) for step in (1, 2, 4)]
    frames[0].save(path("animated.gif"), save_all=True, append_images=frames[1:], duration=50)
    case("animated.gif", np.array(frames[0].convert("RGB")))


def npy():
    for dtype in (np.uint8, np.uint16, np.float32):
        for channels in (1, 3, 4):
            pixels = noise(5, 7, channels, dtype)
            name = f"{TYPES[np.dtype(dtype).name]}_{channels}.npy"
            np.save(path(name), pixels)
            case(name, pixels)
    big = noise(5, 7, 3, np.uint16)
    np.save(path("big_endian.npy"), big.astype(">u2"))
    case("big_endian.npy", big)
    np.save(path("batch_of_one.npy"), big[np.newaxis])
    case("batch_of_one.npy", big)
    with open(path("version_2.npy"), "wb") as file:
        np.lib.format.write_array(file, big, version=(2, 0))
    case("version_2.npy", big)


def exr():
    for kind, channels in (("RGB", 3), ("RGBA", 4)):
        pixels = noise(7, 9, channels, np.float32)
        for method in (OpenEXR.NO_COMPRESSION, OpenEXR.ZIP_COMPRESSION, OpenEXR.PIZ_COMPRESSION):
            name = f"{kind.lower()}_{method.name.split('_')[0].lower()}.exr"
            header = {"compression": method, "type": OpenEXR.scanlineimage}
            with OpenEXR.File(header, {kind: pixels}) as file:
                file.write(path(name))
            case(name, pixels)
    half = noise(7, 9, 3, np.float16)
    with OpenEXR.File({"compression": OpenEXR.ZIPS_COMPRESSION, "type": OpenEXR.scanlineimage}, {"RGB": half}) as file:
        file.write(path("half.exr"))
    case("half.exr", half)
    for name, dtype in (("gray", np.float32), ("gray_half", np.float16)):
        gray = noise(7, 9, 1, dtype)
        header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
        with OpenEXR.File(header, {"Y": gray}) as file:
            file.write(path(f"{name}.exr"))
        case(f"{name}.exr", gray)
    # Of mixed types all become f32.
    rgb = noise(7, 9, 3, np.float32)
    rgb[..., 0] = rgb[..., 0].astype(np.float16)
    channels = {name: np.ascontiguousarray(rgb[..., i]) for i, name in enumerate("RGB")}
    channels["R"] = channels["R"].astype(np.float16)
    with OpenEXR.File({"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}, channels) as file:
        file.write(path("mixed.exr"))
    case("mixed.exr", rgb)
    exr_methods()


def exr_methods():
    """Smooth, so that every method has something to save. Of a lossy one the picture is what OpenEXR itself reads."""
    y, x = np.mgrid[0:20, 0:12].astype(np.float32)
    smooth = np.stack([x / 12, y / 20, (x + y) / 32], -1)
    methods = (
        ("rle", OpenEXR.RLE_COMPRESSION, np.float16),
        ("pxr24", OpenEXR.PXR24_COMPRESSION, np.float32),
        ("b44a", OpenEXR.B44A_COMPRESSION, np.float16),
        ("dwaa", OpenEXR.DWAA_COMPRESSION, np.float16),
    )
    for name, method, dtype in methods:
        header = {"compression": method, "type": OpenEXR.scanlineimage}
        with OpenEXR.File(header, {"RGB": smooth.astype(dtype)}) as file:
            file.write(path(f"{name}.exr"))
        with OpenEXR.File(path(f"{name}.exr")) as file:
            case(f"{name}.exr", file.channels()["RGB"].pixels)
    half = smooth.astype(np.float16)
    tiles = OpenEXR.TileDescription()
    tiles.xSize = tiles.ySize = 8
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.tiledimage, "tiles": tiles}
    with OpenEXR.File(header, {"RGB": half.copy()}) as file:
        file.write(path("tiles.exr"))
    case("tiles.exr", half)
    small = half[:4, :3].copy()
    parts = []
    for name, pixels in (("a", small), ("b", -small)):
        # A part keeps its header and writes its name there.
        header = {"compression": OpenEXR.NO_COMPRESSION, "type": OpenEXR.scanlineimage}
        parts.append(OpenEXR.Part(header, {"RGB": pixels.copy()}, name))
    with OpenEXR.File(parts) as file:
        file.write(path("parts.exr"))
    case("parts.exr", small)


def tiff_pages():
    kinds = [noise(6, 7, 3, np.uint8), noise(5, 4, 1, np.uint16), noise(3, 8, 4, np.float32), noise(4, 4, 1, np.uint8)]
    for name, options in (("kinds.tif", {}), ("kinds_big.tif", {"bigtiff": True, "byteorder": ">"})):
        with tifffile.TiffWriter(path(name), **options) as file:
            for number, pixels in enumerate(kinds):
                photo = "rgb" if pixels.ndim == 3 else "minisblack"
                extra = ["unassalpha"] if pixels.shape[-1] == 4 and pixels.ndim == 3 else None
                turned = [(274, "H", 1, 6, True)] if number == 3 else []
                method = "zlib" if number % 2 else None
                file.write(pixels, photometric=photo, extrasamples=extra, compression=method, extratags=turned)
                page(name, number, np.rot90(pixels, -1) if turned else pixels)
    palettes = [Image.fromarray(smooth(8, 9)).quantize(colors) for colors in (5, 13)]
    palettes[0].save(path("palettes.tif"), save_all=True, append_images=palettes[1:])
    for number, palette in enumerate(palettes):
        page("palettes.tif", number, np.array(palette.convert("RGB")))


def animations():
    """What Pillow shows of animations that it wrote: whole frames, parts of them, holes, and every kind of disposal."""
    base = smooth(16, 20)
    moved = [base.copy() for _ in range(5)]
    for number, pixels in enumerate(moved):
        pixels[3 + number : 8 + number, 2 * number : 2 * number + 6] = [200, 30 * number, 90]
    opaque = [Image.fromarray(pixels).quantize(20) for pixels in moved]
    opaque[0].save(path("moved.gif"), save_all=True, append_images=opaque[1:], duration=[30, 70, 0, 110, 250])
    holes = []
    for number in range(5):
        pixels = np.zeros((16, 20, 4), np.uint8)
        pixels[2 * number : 2 * number + 6, 3 * number : 3 * number + 7] = [40 * number, 200 - 30 * number, 90, 255]
        holes.append(Image.fromarray(pixels))
    for disposal in (0, 1, 2, 3, [1, 3, 2, 3, 1]):
        name = f"disposal_{disposal if isinstance(disposal, int) else 'mixed'}.gif"
        holes[0].save(path(name), save_all=True, append_images=holes[1:], duration=40, disposal=disposal)
    for name in ["moved.gif", *(f"disposal_{kind}.gif" for kind in (0, 1, 2, 3, "mixed"))]:
        file = Image.open(path(name))
        for number, frame in enumerate(ImageSequence.Iterator(file)):
            rgba = np.array(frame.convert("RGBA"))
            rgba[rgba[..., 3] == 0] = 0
            pixels = rgba[..., :3] if name == "moved.gif" else rgba
            page(name, number, pixels, frame.info["duration"])


def profile(space, curve, primaries):
    """An ICC profile of version 2: gamma, and where red, green and blue lie in XYZ under D50."""
    def xyz(values):
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(value * 65536)) for value in values)

    gamma = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(curve * 256)) + b"\0\0"
    text = b"desc\0\0\0\0" + struct.pack(">I", 5) + b"test\0" + b"\0" * 78 + b"\0"
    tags = {b"desc": text, b"cprt": b"text\0\0\0\0none\0\0\0\0", b"wtpt": xyz((0.9642, 1.0, 0.8249))}
    if space == b"GRAY":
        tags[b"kTRC"] = gamma
    else:
        tags |= {b"rTRC": gamma, b"gTRC": gamma, b"bTRC": gamma}
        tags |= {name: xyz(place) for name, place in zip((b"rXYZ", b"gXYZ", b"bXYZ"), primaries)}
    body, table, start = b"", b"", 132 + 12 * len(tags)
    for name, data in tags.items():
        data += b"\0" * (-len(data) % 4)
        table += name + struct.pack(">II", start + len(body), len(data))
        body += data
    header = struct.pack(">I4sI4s4s4s", start + len(body), b"none", 0x02100000, b"mntr", space, b"XYZ ")
    header += struct.pack(">6H4s4sII4sQI", 2026, 1, 1, 0, 0, 0, b"acsp", b"none", 0, 0, b"none", 0, 0)
    header += struct.pack(">iii", 0xF6D6, 0x10000, 0xD32D)
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def icc():
    """Adobe RGB's primaries, and gray of another gamma, by Little CMS."""
    wide = profile(b"RGB ", 2.2, ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)))
    gray = profile(b"GRAY", 1.8, None)
    srgb = ImageCms.createProfile("sRGB")
    for name, pixels, icc in (("icc_rgb.png", noise(9, 11, 3, np.uint8), wide), ("icc_gray.png", noise(9, 11, 1, np.uint8), gray)):
        pillow(name, pixels, icc_profile=icc)
        given = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        made = ImageCms.profileToProfile(Image.fromarray(pixels), given, srgb, renderingIntent=1, outputMode="RGB")
        made = np.array(made) if pixels.ndim == 3 else np.array(made)[..., 0]
        (FOLDER / f"{name}.srgb.raw").write_bytes(np.ascontiguousarray(made).tobytes())


def main():
    FOLDER.mkdir(exist_ok=True)
    for make in (netpbm, bmp_tga_qoi, webp, tiff, hdr, gif, npy, exr, tiff_pages, animations, icc):
        make()
    (FOLDER / "cases.txt").write_text("\n".join(CASES) + "\n")
    (FOLDER / "pages.txt").write_text("\n".join(PAGES) + "\n")
    print(len(CASES), "files,", sum(file.stat().st_size for file in FOLDER.iterdir()), "bytes")


if __name__ == "__main__":
    main()
