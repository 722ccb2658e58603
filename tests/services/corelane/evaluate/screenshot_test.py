#!/usr/bin/env python3
"""Opens the report of an experiment in a headless Chromium, and checks on a screenshot that the figures are there.

    screenshot_test.py PROGRAM

PROGRAM is the command `corelane`. Without Chromium the test is skipped.
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter

SCENARIO = """repetitions = 20
[platform]
cores = 2
[generate]
tasks = 8
[experiment]
length = "200ms"
[[sweep]]
field = "generate.utilization"
values = [1.0, 1.4, 1.8]
"""
WIDTH, HEIGHT = 1200, 4000
# The colors of the first two curves, and of the bound that separates a page from an empty one.
CURVES = [(0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)]
TEXT = (0x1b, 0x1b, 0x1b)


def unfiltered(kind, line, above, size):
    """Undoes a filter of PNG for one line. `size`: bytes of a pixel."""
    result = bytearray(line)
    for i in range(len(result)):
        left = result[i - size] if i >= size else 0
        up = above[i]
        corner = above[i - size] if i >= size else 0
        if kind == 1:
            result[i] = (result[i] + left) & 255
        elif kind == 2:
            result[i] = (result[i] + up) & 255
        elif kind == 3:
            result[i] = (result[i] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            result[i] = (result[i] + nearest) & 255
    return bytes(result)


def colors_of(png):
    """Returns how often each color occurs in a picture in PNG with 8 bits for each channel, without interlacing."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n"), "no PNG"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
        at += length + 12
    assert depth == 8 and color in (2, 6) and interlaced == 0, (depth, color, interlaced)
    size = 3 if color == 2 else 4
    data, stride = zlib.decompress(data), width * size
    counts, above = Counter(), bytes(stride)
    for row in range(height):
        begin = row * (stride + 1)
        above = unfiltered(data[begin], data[begin + 1:begin + 1 + stride], above, size)
        counts.update(zip(above[0::size], above[1::size], above[2::size]))
    return counts


def screenshot_of(browser, page, place):
    picture = pathlib.Path(place, "report.png")
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                    f"--user-data-dir={place}/profile", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}",
                    page.as_uri()], check=True, capture_output=True, timeout=200)
    return colors_of(picture.read_bytes())


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("SKIPPED: chromium is missing (Debian: chromium)")
        return
    with tempfile.TemporaryDirectory() as place:
        scenario, report = pathlib.Path(place, "s.toml"), pathlib.Path(place, "report.html")
        scenario.write_text(SCENARIO)
        subprocess.run([sys.argv[1], "eval", scenario, "--virtual", "--output", pathlib.Path(place, "s.csv"), "--report",
                        report], check=True, capture_output=True)
        colors = screenshot_of(browser, report, place)
        report.write_text("<!DOCTYPE html><title>empty</title>")
        empty = screenshot_of(browser, report, place)
    assert len(empty) == 1, f"an empty page has {len(empty)} colors"
    assert colors[TEXT] > 1000, f"the page has {colors[TEXT]} pixels of text"
    for curve in CURVES:
        assert colors[curve] > 200, f"a curve has {colors[curve]} pixels of its color"
    print("pixels of text:", colors[TEXT], "of curves:", [colors[curve] for curve in CURVES])


if __name__ == "__main__":
    main()
