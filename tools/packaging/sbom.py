#!/usr/bin/env python3
"""The components of a package as an SPDX 2.3 document in JSON: the shared libraries that its files need, by the Debian packages that they
are from, with version and source; and what is compiled into it.

  sbom.py NAME VERSION FILE...       FILE: programs and libraries of the package; the document goes to standard output

The same files on the same system give the same bytes: SOURCE_DATE_EPOCH is the time in it (without: that of 1980).
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# Libraries of headers alone, and static ones: they are in the programs, as nothing that is loaded.
COMPILED_IN = ["libeigen3-dev", "libcli11-dev", "libjs-three", "libxxhash-dev", "nlohmann-json3-dev"]


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def packages_of(paths):
    """The Debian package of each path that has one; asked for once, as dpkg reads all of its lists each time."""
    names = {}
    for path in paths:
        real = os.path.realpath(path)
        for name in (real, path, re.sub("^/usr", "", real), "/usr" + real):
            names.setdefault(name, path)
    if not names:
        return {}
    found = {}
    done = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        packages, _, name = line.rpartition(": ")
        if name in names and not packages.startswith("diversion "):
            found.setdefault(names[name], packages.split(", ")[0])
    return found


def libraries_of(files):
    """The paths of the shared libraries that files load, and those load in turn."""
    paths = set()
    for file in files:
        paths.update(re.findall(r"=> (/\S+)", output_of("ldd", str(file))))
    return sorted(paths)


def debian_components(packages):
    """What dpkg knows of packages; those that are not installed are left out."""
    if not packages:
        return []
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    distribution = release.get("VERSION_ID", "").strip('"')
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Homepage}\n", *packages],
                          capture_output=True, text=True, check=False)
    components = []
    for line in done.stdout.splitlines():
        name, version, source, source_version, homepage = line.split("\t")
        if not version:
            continue
        component = {"name": name, "version": version, "comment": f"Debian source package {source} {source_version}",
                     "purl": f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?distro=debian-{distribution}"}
        if homepage:
            component["homepage"] = homepage
        components.append(component)
    return components


def cuda_component(files):
    """The runtime of CUDA, which is linked into files that have kernels."""
    for file in files:
        if ".nv_fatbin" in output_of("readelf", "-SW", str(file)):
            release = re.search(rb"Cuda compilation tools, release ([0-9.]+)|cuda_(\d+\.\d+)\.r", pathlib.Path(file).read_bytes())
            version = next((part.decode() for part in release.groups() if part), "") if release else ""
            return [{"name": "cudart", "version": version or "NOASSERTION", "comment": "the static runtime of NVIDIA's CUDA toolkit"}]
    return []


def identifier(name):
    return "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name)


def spdx(name, version, components, licence="MIT", epoch=None):
    """@param components  dictionaries with name, version, and where known purl, comment, homepage"""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")) if epoch is None else epoch
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packages = [{"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION"}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", identifier(name))]
    for component in sorted(components, key=lambda it: (it["name"], it["version"])):
        entry = {"SPDXID": identifier("lib-" + component["name"]), "name": component["name"], "versionInfo": component["version"],
                 "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
                 "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"}
        if "comment" in component:
            entry["comment"] = component["comment"]
        if "homepage" in component:
            entry["homepage"] = component["homepage"]
        if "purl" in component:
            entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": component["purl"]}]
        packages.append(entry)
        relations.append((identifier(name), "DEPENDS_ON", entry["SPDXID"]))
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
                "documentNamespace": "", "creationInfo": {"created": created, "creators": ["Tool: reconstruct-sbom"]}, "packages": packages,
                "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/{name}-{version}-{digest[:16]}"
    return json.dumps(document, indent=1) + "\n"


def components_of(files):
    packages = sorted(set(packages_of(libraries_of(files)).values()))
    return debian_components(packages + COMPILED_IN) + cuda_component(files)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    name, version, *files = sys.argv[1:]
    sys.stdout.write(spdx(name, version, components_of(files)))


if __name__ == "__main__":
    main()
