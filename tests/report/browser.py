"""A page in Chromium without a window."""

import html.parser
import json
import shutil
import subprocess
import sys

SKIPPED = 77


def require_chromium():
    if not shutil.which("chromium"):
        print("skipped: not installed: chromium")
        sys.exit(SKIPPED)


def check(condition, message):
    if not condition:
        sys.exit("failed: " + message)


def chromium(folder, page, dark, *arguments, webgl=True):
    """What Chromium prints for a page that does not move, and the messages of its scripts."""
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    graphics = (["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] if webgl
                else ["--disable-gpu", "--disable-3d-apis"])
    command = ["chromium", "--headless", "--no-sandbox", f"--user-data-dir={folder}/browser", *graphics,
               "--force-prefers-reduced-motion", "--force-device-scale-factor=1", "--hide-scrollbars",
               "--virtual-time-budget=10000", "--enable-logging=stderr", *scheme, *arguments, page.as_uri()]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200, check=True)
    return done.stdout.decode(), [line for line in done.stderr.decode(errors="replace").splitlines() if ":CONSOLE:" in line]


class Page(html.parser.HTMLParser):
    """The attributes of elements, the text between tags, and the data of scripts by their ids."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.texts, self.inside = [], "", {}, {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = dict(attributes, tag=tag)
        self.elements.append(self.inside)

    def handle_data(self, data):
        if self.inside.get("tag") in ("script", "style"):
            name = self.inside.get("id")
            self.texts[name] = self.texts.get(name, "") + data
        else:
            self.words += data

    def data(self, name):
        """The JSON of a name."""
        return json.loads(self.texts[name])

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]
