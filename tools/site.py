"""What mkdocs adds to the pages of tools/docs: the reference of the options, which the build makes beside the manual page,
that of the Python module, and CHANGELOG.md. RECON_MANUAL is the folder of the manual page; where it is not set, that of some build."""

import os
import pathlib
import sys
import tempfile

from mkdocs.exceptions import BuildError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
MADE = tempfile.TemporaryDirectory()  # pages that no folder has
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import python_reference  # noqa: E402 (beside this file)


def reference():
    given = os.environ.get("RECON_MANUAL")
    for page in [pathlib.Path(given, "reference.md")] if given else sorted(ROOT.glob("build/*/manual/reference.md")):
        if page.is_file():
            return page
    raise BuildError(f"there is no reference.md in {given or ROOT / 'build/*/manual'}: build the programs first")


def on_files(files, config):
    files.remove(files.get_file_from_path("make-pictures"))
    of_python = pathlib.Path(MADE.name, "python-reference.md")
    of_python.write_text(python_reference.page(), encoding="utf-8")
    for page in (reference(), of_python, ROOT / "CHANGELOG.md"):
        files.append(File(page.name, str(page.parent), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    return markdown.replace("](tools/docs/", "](") if page.file.src_uri == "CHANGELOG.md" else markdown
