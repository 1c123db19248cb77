"""What mkdocs adds to the pages of tools/docs: the reference of the options, which the build makes beside the manual page,
and CHANGELOG.md. RECON_MANUAL is the folder of the manual page, build/release/manual where it is not set."""

import os
import pathlib

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
MANUAL = os.environ.get("RECON_MANUAL", ROOT / "build/release/manual")


def on_files(files, config):
    files.remove(files.get_file_from_path("make-pictures"))
    for name, folder in (("reference.md", MANUAL), ("CHANGELOG.md", ROOT)):
        files.append(File(name, str(folder), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    return markdown.replace("](tools/docs/", "](") if page.file.src_uri == "CHANGELOG.md" else markdown
