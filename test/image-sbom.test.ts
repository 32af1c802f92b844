import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findMissing, findSchemaFaults } from "../packaging/check-sbom.ts";
import { listSystemComponents } from "../packaging/image-sbom.ts";

const STATUS = `Package: libc6
Status: install ok installed
Priority: optional
Architecture: amd64
Source: glibc
Version: 2.36-9+deb12u10
Description: GNU C Library: Shared libraries
 Version: of no other field

Package: libstdc++6
Status: install ok installed
Architecture: amd64
Version: 12.2.0-14+deb12u1

Package: login
Status: install ok installed
Architecture: amd64
Version: 1:4.13+dfsg1-1

Package: removed
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0
`;
const FILES = {
  "usr/lib/os-release": 'NAME="Debian GNU/Linux"\nVERSION_ID="12"\n',
  "var/lib/dpkg/status": STATUS,
  "usr/share/doc/ffmpeg/version": "7:5.1.9-0+deb12u1\n",
  "usr/share/doc/libc6/copyright": "The license is in `/usr/share/common-licenses/LGPL-2.1'.",
  "usr/share/doc/gcc-12-base/copyright":
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: GPL-3+\n text\n\nLicense: GPL-3+\n\nLicense: Expat\n",
};

test("the list of packages in the image has Debian's packages, Node.js and ffmpeg, with versions and licenses", () => {
  const components = listSystemComponents(imageFolder(), "24.21.0");
  expect(components.map(({ name, version, purl }) => ({ name, version, purl }))).toEqual([
    { name: "debian", version: "12" },
    {
      name: "libc6",
      version: "2.36-9+deb12u10",
      purl: "pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12",
    },
    {
      name: "libstdc++6",
      version: "12.2.0-14+deb12u1",
      purl: "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12",
    },
    {
      name: "login",
      version: "1:4.13+dfsg1-1",
      purl: "pkg:deb/debian/login@1:4.13%2Bdfsg1-1?arch=amd64&distro=debian-12",
    },
    {
      name: "ffmpeg",
      version: "7:5.1.9-0+deb12u1",
      purl: "pkg:deb/debian/ffmpeg@7:5.1.9-0%2Bdeb12u1?arch=source&distro=debian-12",
    },
    { name: "node", version: "24.21.0", purl: "pkg:generic/node@24.21.0" },
  ]);
  expect(components.map(({ licenses }) => licenses.map(({ license }) => Object.values(license)[0]))).toEqual([
    [],
    ["LGPL-2.1"],
    ["Expat", "GPL-3+"],
    ["see /usr/share/doc/login/copyright"],
    ["LGPL-2.1-or-later"],
    ["MIT"],
  ]);
  expect(findMissing(components, ["libc6", "ffmpeg", "debian", "removed"])).toEqual(["debian", "removed"]);
});

test("the list of packages in the image conforms to CycloneDX's schema", () => {
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    components: listSystemComponents(imageFolder(), "24.21.0"),
  };
  expect(findSchemaFaults(bom)).toBeNull();
  const [first] = bom.components;
  expect(findSchemaFaults({ ...bom, components: [first, first] } as typeof bom)).toContain("duplicate");
  Object.assign(first!, { type: "package" });
  expect(findSchemaFaults(bom)).toContain("components/0/type must be equal to one of the allowed values");
});

function imageFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "subtext-image-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  symlinkSync("gcc-12-base", join(folder, "usr/share/doc/libstdc++6"));
  return folder;
}
