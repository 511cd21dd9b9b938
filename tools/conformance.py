"""Compares host Metal's headers with Apple's public API, as two packages for macOS describe it.

    conformance.py                                  checks the headers against the snapshot
    conformance.py --refresh METAL_CPP METADATA     makes the snapshot anew

METAL_CPP is the folder with Metal/*.hpp of metal-cpp (in the wheel mlx-metal), METADATA the file
Metal/_metadata.py of the wheel pyobjc-framework-Metal. Both are read as text; where they disagree
the snapshot is not written. It holds only what the headers declare.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SNAPSHOT = ROOT / "tests" / "metal_api.json"
INCLUDE = ROOT / "bridge" / "host" / "include"
# clang crashes when it dumps the methods of GCC's runtime; the headers are the same for both.
TARGET = ["-target", "arm64-apple-macos14", "-ffreestanding"]
OBJC_HEADERS = ("objc.h",)


# ---- ours: from clang's syntax tree -----------------------------------------------------------


def syntax_tree(clang):
    with tempfile.TemporaryDirectory() as folder:
        objc = pathlib.Path(folder) / "objc"
        objc.mkdir()
        for name in OBJC_HEADERS:
            found = run([clang, f"-print-file-name=include/objc/{name}"]).strip()
            (objc / name).symlink_to(found)
        options = ["-x", "objective-c", "-fblocks", "-w", "-fsyntax-only", f"-I{INCLUDE}"]
        command = [clang, *TARGET, *options, f"-I{folder}", "-Xclang", "-ast-dump=json", "-"]
        return json.loads(run(command, "#import <Metal/Metal.h>\n"))["inner"]


def run(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def constant_value(node):
    for child in node.get("inner", []):
        value = int(child["value"]) if child["kind"] == "ConstantExpr" else constant_value(child)
        if value is not None:
            return value
    return None


def enum_values(node):
    value = -1
    for child in node.get("inner", []):
        if child["kind"] == "EnumConstantDecl":
            given = constant_value(child)
            value = value + 1 if given is None else given
            yield child["name"], value


def method_types(node):
    parameters = [p for p in node.get("inner", []) if p["kind"] == "ParmVarDecl"]
    types = [node["returnType"], *(p["type"] for p in parameters)]
    return [our_type(kind["qualType"]) for kind in types]


def our_type(text):
    if "(^" in text or "Handler" in text:
        return "block"
    text = re.sub(r"\b(_Nonnull|_Nullable|_Null_unspecified|const|__autoreleasing)\b", "", text)
    text = re.sub(r"id<(\w+)>", r"\1 *", text)
    return re.sub(r"\s", "", text).replace("CFTimeInterval", "double")


def read_headers(clang):
    """Return the enum values, methods, constants and structs that the headers declare."""
    api = {"enums": {}, "methods": {}, "constants": [], "structs": {}}
    for node in syntax_tree(clang):
        kind, name = node["kind"], node.get("name", "")
        if kind == "EnumDecl":
            api["enums"].update(item for item in enum_values(node) if item[0].startswith("MTL"))
        elif kind in ("ObjCProtocolDecl", "ObjCInterfaceDecl") and name.startswith("MTL"):
            for child in node.get("inner", []):
                if child["kind"] == "ObjCMethodDecl":
                    api["methods"].setdefault(name, {})[child["name"]] = method_types(child)
        elif kind == "VarDecl" and name.startswith("MTL") and node.get("storageClass") == "extern":
            api["constants"].append(name)
        elif kind == "RecordDecl" and "inner" in node:
            fields = [f["name"] for f in node["inner"] if f["kind"] == "FieldDecl"]
            pending = fields
        elif kind == "TypedefDecl" and name in ("MTLSize", "MTLOrigin"):
            api["structs"][name] = pending
    api["constants"].sort()
    return api


# ---- theirs -----------------------------------------------------------------------------------


def read_pyobjc(path):
    text = path.read_text(encoding="utf-8")
    enums, constants = {}, set()
    for block in re.findall(r'enums = """(.*?)"""', text, re.S):
        enums.update((name, int(value)) for name, value in re.findall(r"\$(\w+)@(-?\d+)", block))
    for block in re.findall(r'constants = """(.*?)"""', text, re.S):
        constants.update(re.findall(r"\$(MTL\w+)", block))
    pattern = r'createStructType\(\s*"Metal\.(\w+)",\s*b"[^"]*",\s*\[(.*?)\]'
    structs = {m[1]: re.findall(r'"(\w+)"', m[2]) for m in re.finditer(pattern, text, re.S)}
    return {"enums": enums, "constants": constants, "structs": structs}


def read_metal_cpp(folder):
    headers = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("Metal/*.hpp"))]
    text = "\n".join(headers)
    selectors = dict(re.findall(r'_MTL_PRIVATE_DEF_SEL\((\w+),\s*"([^"]+)"\)', text))
    enums, methods = {}, {}
    for block in re.findall(r"_MTL_(?:ENUM|OPTIONS)\([^)]*\)\s*\{(.*?)\}", text, re.S):
        for name, value in re.findall(r"(\w+)\s*=\s*([^,\n]+)", block):
            digits = re.fullmatch(r"(-?\d+)[uUlL]*(?:\s*<<\s*(\d+))?", value.strip())
            if digits:
                enums["MTL" + name] = int(digits[1]) << int(digits[2] or 0)
    definition = r"^_MTL_INLINE ([^\n]*?)\s*MTL::(\w+)::\w+\(([^\n]*)\)[^\n{;]*\n\{(.*?)^\}"
    for returned, owner, parameters, body in re.findall(definition, text, re.S | re.M):
        for accessor in re.findall(r"_MTL_PRIVATE_SEL\((\w+)\)", body):
            kinds = (
                [returned, *re.split(r", (?![^()]*\))", parameters)] if parameters else [returned]
            )
            types = [their_type(kind) for kind in kinds]
            methods.setdefault("MTL" + owner, {})[selectors.get(accessor)] = types
    base = r"^class (\w+) : public NS::\w+<\w+, (\w+)>"
    bases = {"MTL" + name: "MTL" + parent for name, parent in re.findall(base, text, re.M)}
    return {"enums": enums, "methods": methods, "bases": bases}


def their_type(text):
    if "(^" in text or "Handler" in text:
        return "block"
    text = re.sub(r"\bconst\b", "", text).strip()
    text = re.sub(r"(?<=[\s*&])\w+$", "", text) if re.search(r"[\s*&]\w+$", text) else text
    text = text.replace("MTL::", "MTL").replace("NS::", "NS").replace("CFTimeInterval", "double")
    return re.sub(r"\s", "", text).replace("bool", "BOOL")


def find_method(metal_cpp, owner, selector):
    while owner:
        if selector in metal_cpp["methods"].get(owner, {}):
            return metal_cpp["methods"][owner][selector]
        owner = metal_cpp["bases"].get(owner)
    return None


def reference(ours, metal_cpp, pyobjc):
    """Return what Apple's API says of each thing that is in `ours`; None where it has no such."""
    enums = {}
    for name in ours["enums"]:
        values = {source["enums"].get(name) for source in (metal_cpp, pyobjc)} - {None}
        if len(values) > 1:
            sys.exit(f"{name}: the two descriptions say {sorted(values)}")
        enums[name] = values.pop() if values else None
    methods = {
        owner: {selector: find_method(metal_cpp, owner, selector) for selector in selectors}
        for owner, selectors in ours["methods"].items()
    }
    constants = [name for name in ours["constants"] if name in pyobjc["constants"]]
    structs = {name: pyobjc["structs"].get(name) for name in ours["structs"]}
    return {"enums": enums, "methods": methods, "constants": constants, "structs": structs}


# ---- comparison -------------------------------------------------------------------------------


def differences(ours, theirs):
    """Return a sentence for each thing of `ours` that Apple's API does not have so."""
    found = []
    for kind in ("enums", "structs"):
        for name, value in ours[kind].items():
            if theirs[kind].get(name) != value:
                found.append(f"{name} is {value}, Apple's is {theirs[kind].get(name)}")
    for owner, selectors in ours["methods"].items():
        for selector, types in selectors.items():
            apple = theirs["methods"].get(owner, {}).get(selector)
            if apple != types:
                found.append(f"[{owner} {selector}] has types {types}, Apple's {apple}")
    found += [
        f"{name}: no such constant" for name in ours["constants"] if name not in theirs["constants"]
    ]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--refresh", nargs=2, type=pathlib.Path, metavar=("METAL_CPP", "METADATA"))
    options = parser.parse_args()
    ours = read_headers(options.clang)
    if options.refresh:
        theirs = reference(
            ours, read_metal_cpp(options.refresh[0]), read_pyobjc(options.refresh[1])
        )
        SNAPSHOT.write_text(json.dumps(theirs, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    found = differences(ours, json.loads(SNAPSHOT.read_text(encoding="utf-8")))
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
