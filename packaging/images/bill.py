"""What is in an image, as SPDX 2.3: `bill.py NAME PACKAGES Cargo.lock package-lock.json`.

PACKAGES has a line `KIND NAME VERSION` for each package of the image's system. The crates are those that Cargo.lock gives `cove`,
tests' among them; the npm packages those whose code is in the page.
"""
import hashlib
import json
import re
import sys
import tomllib
import urllib.parse

URLS = {"deb": "pkg:deb/debian/%s@%s", "pypi": "pkg:pypi/%s@%s", "npm": "pkg:npm/%s@%s", "cargo": "pkg:cargo/%s@%s"}

# What the page is made and tested with, and does not contain.
TOOLS = {"@types/node", "axe-core", "playwright-core", "typescript", "vite"}


def crates(lock: str):
    with open(lock, "rb") as file:
        packages = tomllib.load(file)["package"]
    by_name = {}
    for package in packages:
        by_name.setdefault(package["name"], []).append(package)
    seen, ahead = {}, [by_name["cove"][0]]
    while ahead:
        package = ahead.pop()
        key = (package["name"], package["version"])
        if key in seen:
            continue
        seen[key] = package
        for wish in package.get("dependencies", []):
            name, _, version = wish.partition(" ")
            version = version.split(" ")[0]
            ahead += [one for one in by_name[name] if not version or one["version"] == version]
    for (name, version), package in sorted(seen.items()):
        yield "cargo", name, version, package.get("checksum")


def in_the_page(lock: str):
    with open(lock, encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    wanted = packages[""]
    ahead = [name for name in (*wanted.get("dependencies", {}), *wanted["devDependencies"]) if name not in TOOLS]
    seen = set()
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        package = packages[f"node_modules/{name}"]
        ahead += package.get("dependencies", {})
        yield "npm", name, package["version"], None


def system(listed: str):
    with open(listed, encoding="utf-8") as file:
        for line in file:
            kind, name, version = line.split()
            yield kind, name, version, None


def entry(kind: str, name: str, version: str, checksum):
    quoted = [urllib.parse.quote(part, safe="/" if kind == "npm" else "") for part in (name, version)]
    words = re.sub(r"[^A-Za-z0-9.-]", "-", f"{kind}-{name}-{version}")
    found = {
        "SPDXID": f"SPDXRef-{words}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": URLS[kind] % tuple(quoted)}],
    }
    if checksum:
        found["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return found


def main():
    name, listed, cargo, npm = sys.argv[1:]
    # A package that is there twice (npm's nested ones) is one entry.
    packages = {one["SPDXID"]: one for one in (entry(*of) for of in (*system(listed), *crates(cargo), *in_the_page(npm)))}
    version = next(one["versionInfo"] for one in packages.values() if one["SPDXID"].startswith("SPDXRef-cargo-cove-") and one["name"] == "cove")
    # The same content has the same name and no time of its making, so that two lists can be compared.
    number = hashlib.sha256(json.dumps(sorted(packages)).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"urn:cove:sbom:{name}:{number}",
        "creationInfo": {"created": "1970-01-01T00:00:00Z", "creators": ["Tool: cove-packaging-images-build"]},
        "documentDescribes": sorted(packages),
        "packages": list(packages.values()),
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": one} for one in sorted(packages)
        ],
    }, sys.stdout, indent=1)


main()
