"""report_test.py PROGRAM [PICTURES]: the report of scenes/demo in Chromium, on a desk and on a phone, light and dark: no
script fails, warnings are there, and the cloud's pixels are where a projection of its points by this script has them, in
the colours of the photos and of their confidence.
A browser without WebGL shows a sentence in place of the cloud.
Keeps the screenshots in the folder PICTURES."""

import base64
import json
import math
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from browser import SKIPPED, Page, check, chromium, require_chromium

ROOT = Path(__file__).resolve().parents[2]
CELL = 16  # pixels
# What is done when the script of the page has drawn it: to note by how many pixels its text sticks out at the width of a
# phone, which a window cannot have, and to show the confidence.
OVERFLOW = """<script>addEventListener("DOMContentLoaded", () => {
  document.body.style.width = "350px"
  document.body.dataset.overflow = document.body.scrollWidth - document.body.clientWidth
  document.body.style.width = ""
})</script>"""
CONFIDENCE = """<script>addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("#controls button")[1].click()
})</script>"""
SCREENS = {"desk": (1280, 1500), "phone": (390, 1800)}


def pixels(png):
    """Width, height and the rows of a PNG of 8 bits with 3 or 4 channels."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            data += body
        at += size + 12
    check(depth == 8 and colour in (2, 6), f"a PNG of depth {depth} and type {colour}")
    channels, raw, rows = (3 if colour == 2 else 4), zlib.decompress(data), []
    stride = width * channels
    before = bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - channels] if i >= channels else 0
            above, corner = before[i], before[i - channels] if i >= channels else 0
            if kind == 1:
                row[i] = row[i] + left & 255
            elif kind == 2:
                row[i] = row[i] + above & 255
            elif kind == 3:
                row[i] = row[i] + (left + above) // 2 & 255
            elif kind == 4:
                p = left + above - corner
                row[i] = row[i] + min((abs(p - left), 0, left), (abs(p - above), 1, above), (abs(p - corner), 2, corner))[2] & 255
        rows.append(row)
        before = row
    return width, height, channels, rows


def projected(page, width, height, confidence):
    """The nearest point of each pixel of the canvas and its colour, that of the photos or of its confidence, and the
    colours of all points that may be drawn over a pixel."""
    cloud = page.data("points")
    positions = base64.b64decode(cloud["positions"])
    positions = struct.unpack(f"<{len(positions) // 2}H", positions)
    colours = base64.b64decode(cloud["colours"])
    if confidence:
        palette = base64.b64decode(page.data("scene")["palette"])
        colours = b"".join(palette[3 * value:3 * value + 3] for value in base64.b64decode(cloud["confidences"]))
    m = json.loads(page.all("canvas")[0]["data-projection"])
    target = [sum(m[r + 4 * i] * value for i, value in enumerate([*cloud["target"], 1])) for r in (0, 1, 3)]
    check(target[2] > 0 and max(map(abs, target[:2])) < 1e-3 * target[2], f"the view does not look at its target: {target}")
    nearest = {}
    for i in range(len(colours) // 3):
        x, y, z = positions[3 * i:3 * i + 3]
        u, v, w = (m[r] * x + m[r + 4] * y + m[r + 8] * z + m[r + 12] for r in (0, 1, 3))
        if w <= 0:
            continue
        if abs(u) >= w or abs(v) >= w:
            continue
        pixel = int((u / w + 1) / 2 * width), int((1 - v / w) / 2 * height)
        if pixel not in nearest or w < nearest[pixel][0]:
            nearest[pixel] = w, tuple(colours[3 * i:3 * i + 3])
    # Points are drawn larger than a pixel: those just behind the edge of a surface may be covered.
    half = math.ceil(float(page.all("canvas")[0]["data-size"]) / 2)
    reach = range(-half, half + 1)
    behind = [(x, y) for (x, y), (w, _) in nearest.items()
              if any(nearest.get((x + i, y + j), (w,))[0] < 0.98 * w for i in reach for j in reach)]
    drawn_there = {pixel: [nearest[x, y][1] for x in range(pixel[0] - half, pixel[0] + half + 1)
                           for y in range(pixel[1] - half, pixel[1] + half + 1) if (x, y) in nearest]
                   for pixel in nearest}
    for pixel in behind:
        del nearest[pixel]
    return nearest, drawn_there


def border(rows, channels, begin, end):
    """The first row that is a line of one colour, which is not the background's."""
    for y, row in enumerate(rows):
        colours = {bytes(row[x * channels:x * channels + 3]) for x in range(begin, end)}
        if len(colours) == 1 and max(abs(a - b) for a, b in zip(colours.pop(), rows[2])) > 8:
            return y
    return sys.exit("failed: the canvas has no border")


def compare(page, png, name, confidence=False):
    """The pixels of the canvas with those of the projected points."""
    width, height, channels, rows = pixels(png)
    left, top, canvas_width, canvas_height = json.loads(page.all("canvas")[0]["data-place"])
    if left + canvas_width > width:
        # Chromium prints elements of a window of at least 500 pixels; its picture is narrower.
        canvas_width = width - 2 * left
        canvas_height = canvas_width * 9 / 16
        top = 1 + border(rows, channels, int(left) + 2, int(left + canvas_width) - 2)
    points, drawn_there = projected(page, canvas_width, canvas_height, confidence)
    check(len(points) > 0.02 * canvas_width * canvas_height, f"{name}: only {len(points)} pixels have points")
    cells = {}
    exact = 0
    for (x, y), (_, colour) in points.items():
        column, row = int(left + x), int(top + y)
        check(0 <= column < width and 0 <= row < height, f"{name}: the canvas is outside the picture")
        drawn = rows[row][column * channels:column * channels + 3]
        exact += any(max(abs(a - b) for a, b in zip(drawn, one)) <= 3 for one in drawn_there[x, y])
        cells.setdefault((x // CELL, y // CELL), []).append([a - b for a, b in zip(drawn, colour)])
    if confidence:  # those of neighbouring points differ more than their colours; squares may be a pixel off
        check(exact > 0.8 * len(points), f"{name}: {exact} of {len(points)} pixels have the colour of a point there")
        return
    full = [cell for cell in cells.values() if len(cell) >= CELL * CELL / 12]
    # The texture is finer than the points that are drawn: the means of cells agree, not pixels.
    right = sum(all(abs(sum(channel)) <= 12 * len(cell) for channel in zip(*cell)) for cell in full)
    check(len(full) > 20 and right > 0.95 * len(full), f"{name}: {right} of {len(full)} cells have the colour of their points")


def check_scripts(page, name):
    errors = [element["data-error"] for element in page.elements if "data-error" in element]
    check(not errors, f"{name}: {errors}")
    check("view08.jpg" in page.words, f"{name}: the warning is not shown")
    check(len(page.all("input")) == 8, f"{name}: {len(page.all('input'))} sliders")
    check("depth: far" in page.words and "near" in page.words, f"{name}: the colours are not explained")


def check_without_webgl(folder, report):
    """The page says what to do in place of the cloud, and the rest of it works."""
    text, messages = chromium(folder, report, False, "--dump-dom", webgl=False)
    page = Page(text)
    check_scripts(page, "without WebGL")
    check(not messages, f"without WebGL: {messages}")
    check(not page.all("canvas"), "without WebGL: an empty canvas")
    sentence = "This browser shows no 3D graphics (WebGL is off): open fused.ply in a viewer."
    check(sentence in page.words, f"without WebGL: {page.words[:300]}")


def main(program, pictures=None):
    require_chromium()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        warned = folder / "scene"
        shutil.copytree(ROOT / "scenes/demo", warned, ignore=shutil.ignore_patterns("gt_depth"))
        (warned / "images/view08.jpg").write_bytes(b"not a photo")
        subprocess.run([program, warned, "--output", folder / "out", "--quality", "draft", "--quiet"], check=False)
        report = folder / "out/report.html"
        text = report.read_text()
        check(not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", text.split("<script")[0]), "needs a network")
        if "id=points>" not in text:
            print("skipped: the program was built without three.js")
            sys.exit(SKIPPED)
        warnings = json.loads((folder / "out/report.json").read_text())["warnings"]
        check(any("view08.jpg" in warning for warning in warnings), f"no warning of the broken photo: {warnings}")
        report.write_text(text + OVERFLOW)
        backgrounds = {}
        for screen, (width, height) in SCREENS.items():
            for dark in (False, True):
                name = f"{screen}-{'dark' if dark else 'light'}"
                size = f"--window-size={width},{height}"
                shot = folder / f"{name}.png"
                page = Page(chromium(folder, report, dark, size, f"--screenshot={shot}", "--dump-dom")[0])
                check_scripts(page, name)
                check(page.all("body")[0]["data-overflow"] == "0", f"{name}: too wide for a phone: {page.all('body')}")
                check(page.all("canvas"), f"{name}: no canvas: {page.words[:300]}")
                check(len(page.all("button")) == 3, f"{name}: {len(page.all('button'))} buttons")
                compare(page, shot.read_bytes(), name)
                backgrounds[name] = sum(pixels(shot.read_bytes())[3][2][:3])
                if pictures:
                    shutil.copy(shot, pictures)
        report.write_text(text + CONFIDENCE)
        shot = folder / "confidence.png"
        page = Page(chromium(folder, report, False, "--window-size=1280,1500", f"--screenshot={shot}", "--dump-dom")[0])
        compare(page, shot.read_bytes(), "confidence", confidence=True)
        if pictures:
            shutil.copy(shot, pictures)
        check(all(value > 600 if name.endswith("light") else value < 200 for name, value in backgrounds.items()),
              f"light and dark: {backgrounds}")
        report.write_text(text)
        check_without_webgl(folder, report)


main(*sys.argv[1:])
