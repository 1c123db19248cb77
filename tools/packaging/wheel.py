#!/usr/bin/env python3
"""Makes a wheel that stands alone of an installed build: module, library, programs, and the shared libraries that they need.

  wheel.py --prefix PREFIX --opencv DIR [--python PYTHON]... [--pybind11 DIR] OUTPUT
  wheel.py --prefix PREFIX --thin [--python PYTHON]... OUTPUT

PREFIX has what `cmake --install BUILD --prefix PREFIX --strip` put there. DIR is the prefix of tools/packaging/slim-opencv, whose
libraries take the place of the distribution's. The wheel has the module of the build, and one for each further PYTHON; CPython 3.12 needs pybind11 2.11, 3.13 needs 2.12: --pybind11 is a prefix that has it. The tag of the wheel says the glibc that its
files need. --thin leaves the libraries to the distribution: for this system alone. Needs patchelf, binutils and CMake.
SOURCE_DATE_EPOCH is the time of all files; the same input gives the same bytes.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile

import sbom

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("reconstruct", "reconstruct-evaluate")
# What every Linux with glibc has, as the specification of manylinux says.
OF_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|rt|util|gcc_s|stdc\+\+))\.so(\..*)?$")
# The newest libstdc++ of those systems: that of GCC 12, which Debian 12 and Ubuntu 22.04 have.
NEWEST_GLIBCXX = (3, 4, 30)


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def only(paths, what):
    paths = sorted(paths)
    if len(paths) != 1:
        sys.exit(f"wheel: {len(paths)} files instead of one for {what}")
    return paths[0]


def build_modules(prefix, pythons, pybind11, work, package):
    """Takes the module of the build, and compiles one for each other Python. @returns their tags, such as cp311"""
    tags = []
    for module in prefix.glob("lib/python3/dist-packages/*/_native*.so"):
        shutil.copy(module, package / module.name)
        tags.append("cp" + re.search(r"cpython-(\d+)", module.name)[1])
    for python in pythons:
        tag = "cp" + run(python, "-c", "import sys; print('%d%d' % sys.version_info[:2])").strip()
        if tag in tags:
            continue
        folder = work / tag
        command = ["cmake", "-S", prefix / "share/reconstruct/python", "-B", folder, "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={python}",
                   f"-DCMAKE_PREFIX_PATH={';'.join(str(it) for it in (pybind11, prefix) if it)}", "-DCMAKE_SKIP_RPATH=ON",
                   f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={folder / 'module'}", f"-DCMAKE_CXX_FLAGS=-ffile-prefix-map={folder}=. -ffile-prefix-map={prefix}=."]
        run(*command)
        run("cmake", "--build", folder)
        module = only((folder / "module").glob("_native*.so"), f"the module of {python}")
        shutil.copy(module, package / module.name)
        run("strip", "--strip-unneeded", package / module.name)
        tags.append(tag)
    return sorted(tags, key=lambda it: int(it[3:]))


def needed_by(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", file))


def locate(files, folders):
    """The libraries that files need, and those in turn, without those of every system: path by name."""
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(str(folder) for folder in folders)}
    found = {}
    for file in files:
        for name, path in re.findall(r"(\S+) => (/\S+|not found)", run("ldd", file, env=environment)):
            if OF_SYSTEM.match(name):
                continue
            if path == "not found":
                sys.exit(f"wheel: {file} needs {name}, which is not there")
            found[name] = pathlib.Path(path)
    return found


def bundle(own, libraries, native):
    """Copies libraries under names by their content, so that no other module's copy stands in for them, and lets all files find them."""
    names = {}
    for name, path in sorted(libraries.items()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        stem, dot, rest = name.partition(".so")
        names[name] = f"{stem}-{digest}{dot}{rest}"
        shutil.copy(path, native / names[name])
        (native / names[name]).chmod(0o755)
    for file in [*own, *(native / name for name in names.values())]:
        # One by one: patchelf 0.14 mixes up the texts of several changes.
        if file.name in names.values():
            run("patchelf", "--set-soname", file.name, file)
        for name in needed_by(file):
            if name in names:
                run("patchelf", "--replace-needed", name, names[name], file)
        run("patchelf", "--set-rpath", rpath_of(file, native), file)


def rpath_of(file, native):
    return "$ORIGIN" if file.parent == native else "$ORIGIN/" + native.name


def check(files, native):
    """That files need nothing but each other and what every system has, and look for it beside them alone."""
    for file in files:
        for name in needed_by(file):
            if not OF_SYSTEM.match(name) and not (native / name).exists():
                sys.exit(f"wheel: {file.name} needs {name}, which is not in the wheel")
        paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", run("readelf", "-dW", file))
        if paths != [rpath_of(file, native)]:
            sys.exit(f"wheel: {file.name} looks for libraries in {paths}")


def glibc_of(files):
    """The minor version of glibc 2 that files need."""
    newest = 17
    for file in files:
        text = run("readelf", "-VW", file)
        newest = max([newest, *(int(it) for it in re.findall(r"Name: GLIBC_2\.(\d+)", text))])
        for version in re.findall(r"Name: GLIBCXX_([0-9.]+)", text):
            if tuple(int(it) for it in version.split(".")) > NEWEST_GLIBCXX:
                sys.exit(f"wheel: {file} needs GLIBCXX_{version}, newer than that of GCC 12: build on Debian 12")
    return newest


def copy_licences(libraries, opencv, info):
    """The copyright of each bundled library, as its Debian package states it. @returns the components, for the list of them"""
    of_debian = [str(path) for path in libraries.values() if not opencv or not path.is_relative_to(opencv)]
    packages = sorted(set(sbom.packages_of(of_debian).values()))
    components = sbom.debian_components(packages)
    for package in packages:
        shutil.copy(f"/usr/share/doc/{package.split(':')[0]}/copyright", info / "licenses" / package.split(":")[0])
    if opencv:
        shutil.copy(opencv / "share/opencv4/copyright", info / "licenses/opencv")
        components.append({"name": "opencv", "version": (opencv / "share/opencv4/debian-version").read_text().strip(),
                           "comment": "core, imgproc and imgcodecs, built of the Debian source package without optional formats"})
    return components


def write_metadata(info, project, tags, platform):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {it}" for it in project["dependencies"]]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: reconstruct\nRoot-Is-Purelib: false\n" +
                                "".join(f"Tag: {tag}-none-{platform}\n" for tag in tags))
    (info / "entry_points.txt").write_text(
        "[console_scripts]\n" + "".join(f"{it} = {project['name']}._programs:{it.replace('-', '_')}\n" for it in PROGRAMS))


def pack(root, info, target):
    """Zips the folder, with the list of its files last, all of one time and in order."""
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")))[:6]
    record = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, content)

        for file in sorted(root.rglob("*"), key=lambda it: (it.is_relative_to(info), it)):
            if file.is_dir():
                continue
            name, content = file.relative_to(root).as_posix(), file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
            is_program = file.name in PROGRAMS and content[:4] == b"\x7fELF"
            add(name, content, 0o755 if is_program else 0o644)
        name = (info / "RECORD").relative_to(root).as_posix()
        add(name, "\n".join([*record, f"{name},,"]) + "\n", 0o644)


def make(options, work):
    prefix = options.prefix.resolve()
    opencv = options.opencv.resolve() if options.opencv else None
    sources = prefix / "share/reconstruct/python"
    project = tomllib.loads((sources / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    root = work / "root"
    package, info = root / project["name"], root / f"{project['name']}-{project['version']}.dist-info"
    native = package / "native"
    shutil.copytree(sources / project["name"], package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(HERE / "programs.py", package / "_programs.py")
    native.mkdir()
    (info / "licenses").mkdir(parents=True)
    (info / "sboms").mkdir()

    tags = build_modules(prefix, options.python, options.pybind11, work, package)
    modules = sorted(package.glob("_native*.so"))
    library = only((it for it in prefix.glob("lib/**/libreconstruct.so.*") if not it.is_symlink()), "the library")
    codecs = only(prefix.glob("lib/**/reconstruct_codecs.so"), "the image formats")
    programs = [prefix / "bin" / name for name in PROGRAMS]
    soname = re.search(r"\(SONAME\).*\[(.*)\]", run("readelf", "-dW", library))[1]
    for source, name in [*((it, it.name) for it in programs), (library, soname), (codecs, codecs.name)]:
        shutil.copy(source, native / name)
    own = [*modules, *native.iterdir()]

    libraries = {}
    if not options.thin:
        libraries = locate([*programs, library, codecs, *modules], [opencv / "lib", library.parent])
        libraries.pop(soname, None)
    bundle(own, libraries, native)
    if not options.thin:
        check([*modules, *native.iterdir()], native)
    components = copy_licences(libraries, opencv, info)
    shutil.copy(only(prefix.glob("share/doc/reconstruct/copyright"), "the licence"), info / "licenses/LICENSE")
    components += sbom.cuda_component([native / "reconstruct"])
    (info / "sboms" / f"{project['name']}.spdx.json").write_text(sbom.spdx(project["name"], project["version"], components))
    machine = os.uname().machine
    platform = f"linux_{machine}" if options.thin else f"manylinux_2_{glibc_of([*modules, *native.iterdir()])}_{machine}"
    write_metadata(info, project, tags, platform)
    options.output.mkdir(parents=True, exist_ok=True)
    target = options.output / f"{project['name']}-{project['version']}-{'.'.join(tags)}-none-{platform}.whl"
    pack(root, info, target)
    print(f"{target}: {target.stat().st_size >> 20} MiB, {len(libraries)} libraries")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--opencv", type=pathlib.Path)
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--pybind11", type=pathlib.Path)
    parser.add_argument("--thin", action="store_true")
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    if bool(options.opencv) == options.thin:
        parser.error("give --opencv, of tools/packaging/slim-opencv, or --thin")
    with tempfile.TemporaryDirectory() as work:
        make(options, pathlib.Path(work))


if __name__ == "__main__":
    main()
