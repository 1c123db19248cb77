"""snippets_test.py CMAKE PREFIX DOCUMENTS SCENE WORK: the code in the documents does what they say.

The programs of cpp.md, each with the CMakeLists.txt of the page, are built against the library installed in PREFIX and run; the
code of python.md is run as one session, where cv2 is. With RECON_NIGHTLY (tools/check --nightly) the meshes of recipes.md are made
too, with fewer levels, as far as their programs are installed. All in a folder with what the pages name: left.png and right.png,
and a scene.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

CMAKE, PREFIX, DOCUMENTS, SCENE, WORK = (pathlib.Path(word) for word in sys.argv[1:])


def blocks(page, language):
    text = (DOCUMENTS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def folder_of(name):
    folder = WORK / name
    folder.mkdir(parents=True)
    shutil.copytree(SCENE, folder / "scene")
    for name, view in (("left.png", "view00.png"), ("right.png", "view01.png")):
        shutil.copy(SCENE / "images" / view, folder / name)
    return folder


def expect(holds, what):
    if not holds:
        sys.exit(what)


def stop_and_go_on(folder):
    """Ctrl-C ends the program of a run with a stop token; what is finished is kept for the next one."""
    program = subprocess.Popen([folder / "build" / "my_program"], cwd=folder, stderr=subprocess.PIPE, text=True)
    while program.poll() is None and not list(folder.glob("dense/status/*")):
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    said = program.communicate()[1]
    expect(program.returncode == 130 and "the same call goes on" in said, f"ended with {program.returncode}: {said}")


def of_cpp():
    lists, programs = blocks("cpp.md", "cmake"), blocks("cpp.md", "cpp")
    expect(len(lists) == 1 and len(programs) == 3, f"cpp.md has {len(lists)} CMakeLists.txt and {len(programs)} programs")
    printed = []
    for i, program in enumerate(programs):
        folder = folder_of(f"cpp{i}")
        (folder / "CMakeLists.txt").write_text(lists[0])
        (folder / "main.cpp").write_text(program)
        run(CMAKE, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        run(CMAKE, "--build", folder / "build")
        if i == 2:
            stop_and_go_on(folder)
        printed.append(run(folder / "build" / "my_program", cwd=folder))
        if i == 0:
            expect((folder / "dense/fused.ply").stat().st_size > 10000, "the program of a scene left no cloud")
    expect("depth maps: 5 of 5" in printed[0], printed[0])
    expect(abs(float(printed[1]) - 7) < 0.1 and f"// {printed[1].strip()}," in programs[1], f"the disparity is {printed[1]}")


def of_python():
    code = "".join(blocks("python.md", "python"))
    expect(code.count("import reconstruct\n") == 1 and "reconstruct.fuse" in code, "python.md has no code")
    folder = folder_of("python")
    # What the page says of the results.
    code += """
assert disparity.dtype == np.float32 and disparity.shape == left.shape[:2] and filled.shape == full.shape == disparity.shape
assert np.isnan(disparity).any() and not np.isnan(full).any() and quick.disparity.shape == disparity.shape
assert of_opencv.shape == of_reconstruct.shape
assert result["exit_code"] == 0 and result["scenes"][0]["points"] == len(cloud) > 100
assert seen.shape[1] == 3 and 0 < len(seen) <= len(sparse.position) and reconstruct.__version__
assert points.shape == depth.shape + (3,) and starts[-1] == len(views) and report["points"] == len(cloud)
assert maps.depth.shape == reference.image.shape[:2] and len(fusion.cloud) > 100
"""
    site = PREFIX / "lib/python3/dist-packages"
    if importlib.util.find_spec("cv2") is None:
        print("cv2 (python3-opencv) is not installed: the code of python.md is not tried")
        return
    run(sys.executable, "-c", code, cwd=folder, env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"})


def fewer_levels(recipe):
    """Of the octree, where that does not ask for another trim."""
    return re.sub(r'(depth=|name="depth" type="RichInt" value=")9', r"\g<1>7", recipe)


def of_meshes():
    folder = folder_of("mesh")
    run(PREFIX / "bin/reconstruct", "scene", "--device", "cpu", "--quiet", cwd=folder)
    by_python, by_shell = blocks("recipes.md", "python"), blocks("recipes.md", "sh")
    expect(len(by_python) == 1 and len(by_shell) == 2, "recipes.md has no recipes of meshes")
    for mesher, needed, words in (("open3d", "/usr/lib/python3/dist-packages/open3d", [sys.executable, "-c", by_python[0]]),
                                  ("colmap", "/usr/bin/colmap", ["sh", "-ec", by_shell[0]]),
                                  ("meshlab", "/usr/bin/meshlabserver", ["sh", "-ec", by_shell[1]])):
        if not pathlib.Path(needed).exists():
            print(f"{needed} is not installed: its recipe is not tried")
            continue
        run(*words[:2], fewer_levels(words[2]), cwd=folder)
        header = (folder / f"mesh_{mesher}.ply").read_bytes()[:2000].decode("latin1")
        faces = int(re.search(r"element face (\d+)", header)[1])
        expect(faces > 3000, f"the mesh of {mesher} has {faces} faces")


shutil.rmtree(WORK, ignore_errors=True)
of_cpp()
if "RECON_NIGHTLY" in os.environ:
    of_meshes()
if (PREFIX / "lib/python3/dist-packages/reconstruct/__init__.py").exists():
    of_python()
