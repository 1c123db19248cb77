"""The page of the site about all names of the Python module, from its sources: their signatures, members and documentation."""

import ast
import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parent / "python" / "reconstruct"
COLUMNS = 96
# A file of the package, the heading, and which of its names are of interest; empty: all without a _ at the beginning.
PARTS = [("__init__.py", "reconstruct", ""), ("_device.py", "reconstruct.Device", "Device"), ("_device.py", "reconstruct.version", "version"),
         ("_views.py", "Views and their maps", ""), ("_live.py", "In the memory of a GPU", ""), ("pair_options.py", "reconstruct.PairOptions", "PairOptions"),
         ("scene_options.py", "reconstruct.SceneOptions", "SceneOptions"), ("errors.py", "Errors", ""), ("io.py", "reconstruct.io", ""),
         ("_gpu.py", "reconstruct.DeviceArray", "DeviceArray"), ("_model.py", "Models of reconstruct.io", "")]


def marked(text):
    """Text without what Markdown would take for a mark; what is code stays so."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else re.sub(r"([\\*_<|\[\]])", r"\\\1", part) for i, part in enumerate(parts))


def described(documentation):
    """Paragraphs, and lists of what lines such as "left, right: arrays" and those indented below them describe."""
    out = []
    for line in documentation.splitlines():
        item = re.fullmatch(r"(\w+(?:, \w+)*): (.*)", line)
        if not line.strip():
            out.append("")
        elif item and "." not in item[1]:
            out.append(f"- `{item[1]}`: {marked(item[2])}")
        elif out and out[-1]:
            out[-1] += " " + marked(line.strip())
        else:
            out.append(marked(line.strip()))
    return re.sub(r"(?m)^(?!- )(.+)\n(?=- )", r"\1\n\n", "\n".join(out))


def signature(name, function):
    arguments = function.args
    parts = [ast.unparse(it) for it in arguments.posonlyargs + arguments.args]
    for i, default in enumerate(reversed(arguments.defaults)):
        parts[-1 - i] += f" = {ast.unparse(default)}"
    if arguments.kwonlyargs:
        parts.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        parts.append(ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else ""))
    if arguments.kwarg:
        parts.append("**" + ast.unparse(arguments.kwarg))
    parts = [part for part in parts if part != "self"]
    end = f") -> {ast.unparse(function.returns)}" if function.returns and function.name != "__init__" else ")"
    if any(isinstance(it, ast.Name) and it.id == "property" for it in function.decorator_list):
        return f"{name}: {ast.unparse(function.returns)}"
    line = f"{name}({', '.join(parts)}{end}"
    return line if len(line) <= COLUMNS else f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + end


def block(code):
    return f"```python\n{code}\n```\n"


def members(node, lines):
    """Those of a named tuple, with the comments beside or above them."""
    out = []
    for it in node.body:
        if not isinstance(it, ast.AnnAssign) or it.target.id.startswith("_"):
            continue
        above, at = [], it.lineno - 2
        while lines[at].strip().startswith("#:"):
            above.insert(0, lines[at].strip()[2:].strip())
            at -= 1
        beside = re.search(r"#: (.*)", lines[it.lineno - 1])
        said = " ".join(above + ([beside[1]] if beside else []))
        out.append(f"- `{it.target.id}: {ast.unparse(it.annotation)}`" + (f": {marked(said)}" if said else ""))
    return "\n".join(out) + "\n" if out else ""


def of_node(node, lines):
    text = f"### {marked(node.name)}\n\n"
    if isinstance(node, ast.FunctionDef):
        return text + block(signature(node.name, node)) + "\n" + described(ast.get_docstring(node)) + "\n\n"
    methods = [it for it in node.body if isinstance(it, ast.FunctionDef)]
    for it in methods:
        if it.name == "__init__":
            text += block(signature(node.name, it)) + "\n"
    text += described(ast.get_docstring(node)) + "\n\n"
    if not node.name.endswith("Options"):  # whose documentation has the members
        text += members(node, lines) + "\n"
    for it in methods:
        if not it.name.startswith("_"):
            text += block(signature(it.name, it)) + "\n" + described(ast.get_docstring(it)) + "\n\n"
    return text


def page():
    text = ("# Python one by one\n\nAll names of the module `reconstruct`, as `help()` has them; [Python](python.md) shows how they are "
            "used.\n\n")
    for name, heading, only in PARTS:
        source = (PACKAGE / name).read_text(encoding="utf-8")
        text += f"## {marked(heading)}\n\n"
        for node in ast.parse(source).body:
            public = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and node.name != "fail"
            if public and only in ("", node.name):
                text += of_node(node, source.splitlines())
    return text


if __name__ == "__main__":
    print(page())
