"""build_test.py MKDOCS ROOT MANUAL SITE: the site of the documents is built without a warning, and all of it is there: what
pages load, where they link to, what the search looks through. Nothing comes from another place."""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

MKDOCS, ROOT, MANUAL, SITE = (pathlib.Path(word) for word in sys.argv[1:])
# Links, which a reader may follow; pages load nothing of them.
OUTSIDE = {"https://github.com/pierotofy/drone_dataset_brighton_beach", "https://github.com/ETH3D/multi-view-evaluation",
           "https://github.com/isl-org/TanksAndTemples"}
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
COLUMNS = 100
faults = []


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.loaded, self.links, self.anchors, self.code, self.in_code = [], [], set(), "", False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get("id"))
        self.in_code |= tag == "pre"
        if LOADED.get(tag) in attributes and attributes.get("rel") != "canonical":
            self.loaded.append(attributes[LOADED[tag]])
        elif tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])

    def handle_endtag(self, tag):
        self.in_code &= tag != "pre"

    def handle_data(self, data):
        self.code += data if self.in_code else ""


def target(page, link):
    return (page.parent / urllib.parse.unquote(link)).resolve() if link else page


def check(pages, page):
    for resource in pages[page].loaded:
        address = urllib.parse.urlsplit(resource)
        if address.scheme or address.netloc:
            faults.append(f"{page.name} loads {resource}")
        elif not target(page, address.path).is_file():
            faults.append(f"{page.name} loads {resource}, which is not there")
    for link in set(pages[page].links) - OUTSIDE:
        address = urllib.parse.urlsplit(link)
        there = pages.get(target(page, address.path))
        if address.scheme or address.netloc or address.path.startswith("/"):
            faults.append(f"{page.name} links to {link}")
        elif not there and not target(page, address.path).exists():
            faults.append(f"{page.name} links to {link}, which is not there")
        elif there and address.fragment and urllib.parse.unquote(address.fragment) not in there.anchors:
            faults.append(f"{page.name} links to {link}: there is no such heading")
    for line in pages[page].code.splitlines():
        if len(line) > COLUMNS:
            faults.append(f"{page.name}: code of {len(line)} columns, more than {COLUMNS}: {line.strip()}")


done = subprocess.run([MKDOCS, "build", "--strict", "--clean", "-f", ROOT / "tools/mkdocs.yml", "-d", SITE],
                      env={**os.environ, "RECON_MANUAL": str(MANUAL)}, capture_output=True, text=True)
if done.returncode != 0 or "WARNING" in done.stderr:
    sys.exit(done.stdout + done.stderr)
pages = {path.resolve(): Page(path) for path in SITE.glob("*.html") if path.name != "404.html"}
wanted = {page.stem for page in (ROOT / "tools/docs").glob("*.md")} | {"reference", "python-reference", "CHANGELOG"}
if {page.stem for page in pages} != wanted:
    faults.append(f"pages: {sorted(page.stem for page in pages)}, and not {sorted(wanted)}")
for page in pages:
    check(pages, page)
for sheet in SITE.rglob("*.css"):
    for resource in re.findall(r"""(?:url\(\s*|@import\s+)["']?([^"')]*)""", sheet.read_text(encoding="utf-8")):
        if not resource.startswith("data:") and not (sheet.parent / resource.split("?")[0].split("#")[0]).is_file():
            faults.append(f"{sheet.name} loads {resource}")
home = pages[(SITE / "index.html").resolve()]
shown = [pathlib.Path(file).name for file in home.loaded if "pictures/" in file]
if shown[:2] != ["capture.jpg", "good.jpg"]:
    faults.append(f"the first page shows {shown}, and not first a real capture, then the rendered scene")
licence = SITE / "pictures/capture-license.txt"
if "pictures/capture-license.txt" not in home.links or "Redistribution" not in licence.read_text():
    faults.append("the licence of the capture is not beside its picture")
searched = json.loads((SITE / "search/search_index.json").read_text())["docs"]
for word in ("--point-spacing", "image_undistorter", "calib.txt"):
    if not any(word in section["text"] for section in searched):
        faults.append(f"the search does not find {word}")
sys.exit("\n".join(faults) if faults else 0)
