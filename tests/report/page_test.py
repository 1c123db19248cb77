"""page_test.py PAGE: report.html as it is embedded, with data of a scene, a pair and a session, in Chromium: everything
in them is shown, and names are texts, whatever is in them."""

import base64
import json
import sys
import tempfile
from pathlib import Path

from browser import Page, check, chromium, require_chromium

ODD = """</script><script>document.documentElement.dataset.error = "a name ran"</script><img src=x onerror=document.documentElement.dataset.error=1>&amp;"'\x01\x7f"""
EVIL = "a/%3Cimg%20src%3Dx%3E.png"
PALETTE = base64.b64encode(bytes(i for colour in range(256) for i in (colour, 0, 255 - colour))).decode()
ABOUT = {"version": "1.2.3", "commit": "abc", "date": "2026-11-26T18:03:21Z", "device": "a device", "palette": PALETTE,
         "options": f"a=\"{ODD}\"", "seconds": {"total": 14.75}}
STEPS = [{"name": "reading", "seconds": 0.5, "kept": False}, {"name": "matching", "seconds": 12.25, "kept": True},
         {"name": "fusion", "seconds": 2, "kept": False}]
VIEW = {"name": ODD, "width": 96, "height": 72, "depth_min": 0.5, "depth_max": 123.456, "found_depths": [1.23456, 9],
        "planes": 64, "sources": ["b", "c"], "seconds": 1.5, "known_photometric": 0.5, "known_geometric": 0.25,
        "image": EVIL, "preview": "p.png", "confidence": "c.png", "preview_depths": [8.7654, 1.25]}
SCENE = {**ABOUT, "scene": ODD, "points": 1234, "steps": STEPS, "predicted": {"steps": {"fusion": 1.5, "matching": 7}},
         "views": [VIEW, {key: VIEW[key] for key in ("name", "width", "height", "depth_min", "depth_max", "sources")}],
         "left_out": [{"name": "lost.png", "reason": ODD}], "warnings": [ODD, "second"],
         "baselines": [[0, 2, 10], [2, 4, 0], [4, 6, 5]], "depths": [], "files": ["report.json", "report.log"],
         "tiles": {"size": 0.5, "files": ["a", "b"]}, "seen_from": ODD}
POINTS = {"colours": "AAAAAAAA", "positions": "AAAAAAAAAAAAAAAA"}
PAIR = {**ABOUT, "scene": ODD, "left": "l.png", "right": ODD, "width": 120, "height": 80, "method": "bm",
        "min_disparity": 0, "max_disparity": 16, "known": 0.869, "filled": 0.131, "warnings": [], "steps": STEPS,
        "colours": [1, 12.34567], "files": ["report.json"], "photo": "photo.jpg", "preview": "preview.png"}
CALIBRATED = {**PAIR, "calibration": {"file": "calib.txt", "format": ODD, "unit": "mm"}, "preview_depths": [None, 3.14159],
              "points": 7}
LINE = {"scene": ODD, "status": "done", "exit_code": 0, "views": 5, "points": 99, "seconds": 1.26, "elapsed": 0.5, "warnings": 0,
        "page": "a/report.html", "picture": EVIL}
SESSION = {"palette": PALETTE, "scenes": [LINE, {"scene": "b", "status": "failed", "exit_code": 3, "error": ODD, "page": "",
                                                 "picture": ""}]}


def shown(folder, text, data):
    """A page with data by their kind, as Chromium draws it."""
    for kind, content in data.items():
        content = json.dumps(content).replace("<", "\\u003c")
        text += f'<script type="application/json" id={kind}>{content}</script>\n'
    page = folder / "report.html"
    page.write_text(text)
    dump, messages = chromium(folder, page, False, "--dump-dom", webgl=False)
    dom = Page(dump)
    check(not messages and not any("data-error" in element for element in dom.elements), f"{list(data)}: {messages}")
    check(all(element.get("src") != "x" for element in dom.elements), "a name became an element")
    # The parser of this script reads what the browser prints: what is between tags is escaped there.
    check(ODD.split("&")[0] in dom.words, f"{list(data)}: the odd name is not shown: {dom.words[:500]}")
    return dom


def expect(dom, *words):
    for text in words:
        check(text in dom.words, f"'{text}' is not in: {dom.words}")


def main(page):
    require_chromium()
    text = Path(page).read_text()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        scene = shown(folder, text, {"scene": SCENE})
        expect(scene, "1234 points from 2 views, 14.8 s of work on a device.", "lost.png is left out: ", "reconstruct 1.2.3, commit abc",
               "2026-11-26 18:03 UTC, report.json, report.log", "Warnings", "second", "depth: farnear", "confidence: 01",
               "96 x 72, searched 0.5 to 123.5, first search found 1.235 to 9, 64 planes, 2 sources, 1.50 s", "depth 8.771.25",
               "known before the check 50.0 %", "agreed by other views, as shown 25.0 %", "96 x 72, searched 0.5 to 123.5, 2 sources",
               "stepsecondspredictedreading0.50matching12.25by an earlier runfusion2.001.50total14.75",
               "Angles between views and their sources0 to 2°: 102 to 4°: 04 to 6°: 50°6°")
        check([bar["height"] for bar in scene.all("rect")] == ["120", "0", "60"], f"bars: {scene.all('rect')}")
        check([a["href"] for a in scene.all("a")] == ["report.json", "report.log", EVIL, "p.png", "c.png"], "links")
        check([i["src"] for i in scene.all("img")] == [EVIL, "p.png", "c.png"] and len(scene.all("input")) == 1, "pictures")
        check("Seen from" not in scene.words and "Depths of" not in scene.words, "what the scene has not is shown")
        colours = next(element["style"] for element in scene.elements if element["tag"] == "html")
        check("right, rgb(0,0,255),rgb(15,0,240)," in colours and "rgb(255,0,0))" in colours, f"colours: {colours}")

        pair = shown(folder, text, {"pair": PAIR})
        expect(pair, "imagesl.png, ", ", 120x80", "methodbm", "disparities0 to 15", "known86.9 % of the pixels, 13.1 % filled",
               "time14.75 s of work on a device", "far: disparity 1near: disparity 12.35black: unknown", "stepsecondsreading0.50")
        check([i["src"] for i in pair.all("img")] == ["photo.jpg", "preview.png"], "pictures of a pair")
        expect(shown(folder, text, {"pair": CALIBRATED}), "calibrationcalib.txt, ", "points7",
               "far: disparity 1near: disparity 12.35, depth 3.142 mm")

        session = shown(folder, text, {"session": SESSION})
        expect(session, "2 scenesscene", "viewspointsseconds of workof them in the last runwarningsstatus", "5991.30.50done", "b-----failed: ")
        check([a["href"] for a in session.all("a")] == ["a/report.html"], "links of a session")
        check([i["src"] for i in session.all("img")] == [EVIL], "pictures of a session")

        # Without three.js nothing draws the cloud, but its place and sentence are there.
        cloud = "<script>function showCloud(box) { box.textContent = \"the cloud\"; }</script>"
        expect(shown(folder, text + cloud, {"scene": SCENE, "points": POINTS}), "the cloud", "Seen from ",
               ": 2 of 1234 points; all of them are in fused.ply, and in 2 tiles of 0.5 units in tiles.")


main(*sys.argv[1:])
