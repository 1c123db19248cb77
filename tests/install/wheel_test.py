"""wheel_test.py SOURCE PREFIX VERSION WORK: a wheel of an installed build is complete, starts, and is the same bytes each time.

Bundling is tried on a program and a library made here: moved into the folder of a wheel, the program runs without the original, and one
that lacks its library is refused.
"""

import base64
import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

SOURCE, PREFIX, VERSION, WORK = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools/packaging"))
import wheel  # noqa: E402


def expect(holds, what):
    if not holds:
        sys.exit(what)


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def make(name):
    run(sys.executable, SOURCE / "tools/packaging/wheel.py", "--prefix", PREFIX, "--thin", WORK / name)
    files = list((WORK / name).iterdir())
    expect(len(files) == 1, f"there are {len(files)} wheels")
    return files[0]


def check_content(path):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        info = f"reconstruct-{VERSION}.dist-info/"
        rows = list(csv.reader(archive.read(info + "RECORD").decode().splitlines()))
        expect([row[0] for row in rows] == names, "RECORD does not list all files in order")
        for name, digest, size in rows[:-1]:
            content = archive.read(name)
            of_content = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            expect(digest == "sha256=" + of_content and int(size) == len(content), f"RECORD is wrong about {name}")
        for name in ("reconstruct/__init__.py", "reconstruct/_programs.py", "reconstruct/native/reconstruct", "reconstruct/native/reconstruct_codecs.so",
                     info + "licenses/LICENSE"):
            expect(name in names, f"{name} is not in the wheel")
        for key in ("METADATA", "WHEEL", "entry_points.txt"):
            expect(info + key in names, f"{key} is not in the wheel")
        expect(f"\nVersion: {VERSION}\n" in archive.read(info + "METADATA").decode(), "METADATA has another version")
        tags = [line.split(": ")[1] for line in archive.read(info + "WHEEL").decode().splitlines() if line.startswith("Tag: ")]
        expect(tags and all(tag.split("-")[1] == "none" for tag in tags), f"the tags are {tags}")
        for tag in tags:
            number = tag.split("-")[0][2:]
            expect(any(f"/_native.cpython-{number}-" in name for name in names), f"there is no module for {tag}")
        bill = json.loads(archive.read(info + "sboms/reconstruct.spdx.json"))
        check_bill(bill)
        archive.extractall(WORK / "site")


def check_bill(bill):
    """What SPDX 2.3 asks for."""
    for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages"):
        expect(key in bill, f"the list of components has no {key}")
    expect(bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0", "the list of components is of another form")
    identifiers = [it["SPDXID"] for it in bill["packages"]]
    expect(len(set(identifiers)) == len(identifiers), "components share an identifier")
    expect(all(it.get("versionInfo") for it in bill["packages"]), "a component has no version")
    known = {*identifiers, "SPDXRef-DOCUMENT"}
    for relation in bill["relationships"]:
        expect({relation["spdxElementId"], relation["relatedSpdxElement"]} <= known, f"{relation} is about nothing in the list")


def check_bundling():
    folder = WORK / "bundle"
    native = folder / "native"
    native.mkdir(parents=True)
    (folder / "lib.c").write_text("int value(void) { return 7; }")
    (folder / "main.c").write_text("int value(void);\nint main(void) { return value() - 7; }")
    run("cc", "-shared", "-fPIC", "-Wl,-soname,libvalue.so.1", folder / "lib.c", "-o", folder / "libvalue.so.1")
    run("cc", folder / "main.c", folder / "libvalue.so.1", f"-Wl,-rpath,{folder}", "-o", native / "main")
    # A program that still looks elsewhere is refused, and so is one without its library.
    for libraries in ({}, {"libvalue.so.1": folder / "libvalue.so.1"}):
        try:
            wheel.check([native / "main"], native)
            sys.exit("a program that needs what is not in the wheel is accepted")
        except SystemExit as refusal:
            expect("is not in the wheel" in str(refusal), f"the refusal is: {refusal}")
        wheel.bundle([native / "main"], libraries, native)
    wheel.check(list(native.iterdir()), native)
    (folder / "libvalue.so.1").unlink()
    shutil.move(native, WORK / "elsewhere")
    run(WORK / "elsewhere/main")


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
os.environ["SOURCE_DATE_EPOCH"] = "1600000000"
check_bundling()
first, second = make("first"), make("second")
expect(first.read_bytes() == second.read_bytes(), "two wheels of the same build differ")
check_content(first)
program = WORK / "site/reconstruct/native/reconstruct"
program.chmod(0o755)
expect(VERSION in run(program, "--version"), "the program of the wheel says another version")
code = "import sys; sys.argv = ['reconstruct', '--version']; from reconstruct import _programs; _programs.reconstruct()"
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(WORK / "site")})
expect(VERSION in done.stdout, f"the command of the wheel does not start the program: {done.stdout}")
bill = run(sys.executable, SOURCE / "tools/packaging/sbom.py", "reconstruct", VERSION, PREFIX / "bin/reconstruct")
check_bill(json.loads(bill))
expect("libopencv-core" in bill and "libtbb" in bill and "libc6" in bill, "the list of components lacks libraries")
