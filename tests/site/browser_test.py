"""browser_test.py SITE: the site in Chromium, as wide as a desk and a phone: it loads nothing from elsewhere, no page is wider
than the window, code is not cut on a desk, the search finds, and the menu of a phone opens and leads to pages."""

import http.server
import json
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading

SITE = pathlib.Path(sys.argv[1])
SKIPPED = 77  # as in CMakeLists.txt
PAGES = sorted(path.name for path in SITE.glob("*.html"))
DESK, PHONE = 1280, 390
# A page in a frame of some width, which a reader's clicks and keys change.
DRIVER = """<!doctype html><link rel=icon href="data:,"><body><script>
const pages = PAGES, widths = WIDTHS, found = {pages: {}, search: {}};
const frame = document.body.appendChild(document.createElement("iframe"));
frame.height = 900;
const view = () => frame.contentWindow, all = (selector) => [...frame.contentDocument.querySelectorAll(selector)];
const pause = () => new Promise(done => setTimeout(done, 50));
async function until(what, holds) {
  for (let i = 0; i < 400; ++i) { if (holds()) return; await pause(); }
  throw "waited in vain: " + what;
}
async function open(page, width) {
  frame.width = width;
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = "/" + page;
  await loaded;
}
// What a click in the middle of an element meets is the element.
const shown = (element) => {
  const box = element.getBoundingClientRect(), at = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const met = frame.contentDocument.elementFromPoint(...at);
  return met !== null && element.contains(met);
};
async function measure(page) {
  await open(page, widths[0]);
  const root = frame.contentDocument.documentElement, over = {}, cut = {};
  for (const width of widths) {
    frame.width = width;
    over[width] = root.scrollWidth - root.clientWidth;
    cut[width] = all("pre code").filter(it => it.scrollWidth > it.clientWidth).map(it => it.textContent.slice(0, 60));
  }
  return {loaded: view().performance.getEntriesByType("resource").map(it => it.name), over, cut};
}
async function search(width, words) {
  await open("index.html", width);
  if (width < 600) all("label.md-header__button[for=__search]")[0].click();
  const field = all("[data-md-component=search-query]")[0];
  field.focus();
  await until("the index is read", () => field.placeholder !== "" && all("[data-md-component=search-result]").length);
  field.value = words;
  const links = () => all(".md-search-result__link").filter(shown).map(it => it.href);
  await until("results for " + words, () => {
    field.dispatchEvent(new (view().Event)("keyup", {bubbles: true}));
    return links().length > 0;
  });
  return links();
}
async function menu() {
  await open("index.html", PHONE_WIDTH);
  const links = () => all(".md-sidebar--primary a.md-nav__link").filter(shown).map(it => it.textContent.trim());
  const before = links();
  all("label.md-header__button[for=__drawer]")[0].click();
  await until("the menu is open", () => links().length > 0);
  const use = all(".md-sidebar--primary label.md-nav__link").filter(it => it.textContent.trim() === "Use")[0];
  use.click();
  const first = () => all(".md-sidebar--primary a.md-nav__link").filter(it => it.textContent.trim() === "First use")[0];
  await until("its pages are shown", () => shown(first()));
  const loaded = new Promise(done => { frame.onload = done; });
  first().click();
  await loaded;
  return {before, page: view().location.pathname};
}
(async () => {
  try {
    for (const page of pages) found.pages[page] = await measure(page);
    for (const width of widths) found.search[width] = await search(width, "point-spacing");
    found.menu = await menu();
  } catch (error) { found.error = String(error); }
  fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""
results, missing = queue.Queue(), []


class Server(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *words):
        super().__init__(*words, directory=str(SITE))

    def do_GET(self):
        if self.path != "/driver":
            return super().do_GET()
        page = DRIVER.replace("PAGES", json.dumps(PAGES)).replace("WIDTHS", json.dumps([DESK, PHONE]))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.replace("PHONE_WIDTH", str(PHONE)).encode())

    def do_POST(self):
        results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def send_error(self, code, *words):
        missing.append(f"{code}: {self.path}")
        super().send_error(code, *words)

    def log_message(self, *words):
        pass


def browse(address, folder):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={folder}",
               "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--window-size=1400,1000",
               "--remote-debugging-port=0", address + "/driver"]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return results.get(timeout=240)
    except queue.Empty:
        return {"error": "the browser says nothing"}
    finally:
        browser.terminate()
        browser.wait()


if not shutil.which("chromium"):
    print("skipped: not installed: chromium")
    sys.exit(SKIPPED)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    found = browse(address, folder)
faults = [found["error"]] if "error" in found else []
faults += [f"not there: {it}" for it in missing]
for page, it in found.get("pages", {}).items():
    faults += [f"{page} loads {name}" for name in it["loaded"] if not name.startswith((address, "data:", "blob:" + address))]
    faults += [f"{page} is {over} pixels wider than a window of {width}" for width, over in it["over"].items() if over > 0]
    faults += [f"{page}: code is cut: {code}" for code in it["cut"][str(DESK)]]
for width, links in found.get("search", {}).items():
    if not any("/reference.html?" in link and "#-point-spacing" in link for link in links):
        faults.append(f"the search at {width} pixels finds {links}")
if "menu" in found and (found["menu"]["before"] or found["menu"]["page"] != "/first-use.html"):
    faults.append(f"the menu: {found['menu']}")
sys.exit("\n".join(faults) if faults else 0)
