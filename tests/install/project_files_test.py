"""project_files_test.py SOURCE: the workflows, issue forms and recipes are read by their programs and say what holds.

What GitHub would refuse, and scripts of the project that are not there, are found here; the recipes have the version and the dependencies
of the project.
"""

import json
import pathlib
import re
import sys
import tomllib

import yaml

SOURCE = pathlib.Path(sys.argv[1])


def expect(holds, what):
    if not holds:
        sys.exit(what)


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def check_steps(name, steps):
    expect(steps, f"{name} has no steps")
    for step in steps:
        expect(("run" in step) != ("uses" in step), f"{name}: a step has to have either run or uses: {step}")
        for script in re.findall(r"(?<![\w/.])tools/[\w./-]+", step.get("run", "")):
            expect((SOURCE / script).exists(), f"{name}: there is no {script}")
        for preset in re.findall(r"--preset (\w+)", step.get("run", "")):
            expect(preset in presets, f"{name}: there is no preset {preset}")
        if "uses" in step:
            expect(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), f"{name}: {step['uses']} has no version")


presets = {it["name"] for it in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
workflows = sorted((SOURCE / ".github/workflows").glob("*.yml"))
expect({"check", "documents", "packages", "wheel"} <= {it.stem for it in workflows}, f"workflows are missing: {workflows}")
for path in workflows:
    workflow = load(path)
    expect(True in workflow, f"{path.name} has no trigger")  # YAML takes the word `on` for true
    for job, content in workflow["jobs"].items():
        expect("runs-on" in content, f"{path.name}: {job} runs on nothing")
        check_steps(f"{path.name}: {job}", content["steps"])
        for needed in [content["needs"]] if isinstance(content.get("needs"), str) else content.get("needs", []):
            expect(needed in workflow["jobs"], f"{path.name}: {job} needs {needed}, which is no job")

forms = [load(it) for it in (SOURCE / ".github/ISSUE_TEMPLATE").glob("*.yml") if it.stem != "config"]
expect(len(forms) >= 2, "there are no issue forms")
for form in forms:
    expect({"name", "description", "body"} <= form.keys(), f"an issue form lacks a part: {form.keys()}")
    identifiers = [it["id"] for it in form["body"]]
    expect(len(set(identifiers)) == len(identifiers) and "report" in identifiers, f"{form['name']} does not ask for report.json")

citation = load(SOURCE / "CITATION.cff")
expect({"cff-version", "message", "title", "authors"} <= citation.keys(), "CITATION.cff lacks a part")

version = tomllib.loads((SOURCE / "tools/python/pyproject.toml").read_text())["project"]["version"]
recipes = SOURCE / "tools/packaging"
port = json.loads((recipes / "vcpkg/vcpkg.json").read_text())
expect(port["version"] == version, f"the port of vcpkg is of version {port['version']}")
expect(load(recipes / "conda/recipe.yaml")["context"]["version"] == version, "the recipe for conda-forge is of another version")
expect(f"v{version}.tar.gz" in (recipes / "homebrew/reconstruct.rb").read_text(), "the formula for Homebrew is of another version")

# Each library that CMakeLists.txt looks for, by its name in the four collections.
NAMES = {"TBB": ("tbb", "tbb-devel", "tbb", "tbb"), "Eigen3": ("eigen3", "eigen", "eigen", "eigen"),
         "OpenCV": ("opencv4", "libopencv", "opencv", "opencv4"), "JPEG": ("libjpeg-turbo", "libjpeg-turbo", "jpeg-turbo", "libjpeg"),
         "PNG": ("libpng",) * 4, "TIFF": ("tiff", "libtiff", "libtiff", "libtiff"), "fmt": ("fmt",) * 4, "spdlog": ("spdlog",) * 4,
         "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann-json", "nlohmann_json"), "CLI11": ("cli11",) * 4,
         "hwy": ("highway", "libhwy", "highway", "libhwy"), "tomlplusplus": ("tomlplusplus",) * 4}
texts = [(recipes / it).read_text() for it in ("vcpkg/vcpkg.json", "conda/recipe.yaml", "homebrew/reconstruct.rb", "nix/default.nix")]
needed = re.findall(r"^find_package\((\w+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)
expect(len(needed) >= 10, "CMakeLists.txt looks for no libraries")
for library in needed:
    expect(library in NAMES, f"{library} has no name here: add it, and to the recipes")
    for name, text in zip(NAMES[library], texts):
        expect(name in text, f"{library} ({name}) is missing in a recipe")
