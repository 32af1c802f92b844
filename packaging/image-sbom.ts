/**
 * Adds Debian's packages, Node.js and ffmpeg to the list of npm packages in the image. Takes the CycloneDX file that
 * `npm sbom` wrote, which it overwrites, and a folder with the image's `/usr/lib/os-release`, `/var/lib/dpkg/status` and
 * `/usr/share/doc`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Component {
  type: "library" | "application" | "operating-system";
  "bom-ref": string;
  name: string;
  version: string;
  purl?: string;
  licenses: { license: { id: string } | { name: string } }[];
}

interface SystemPackage {
  name: string;
  version: string;
  architecture: string;
}

/** Returns the components of the image that npm does not manage. */
export function listSystemComponents(folder: string, nodeVersion: string): Component[] {
  const release = readFileSync(join(folder, "usr/lib/os-release"), "utf8");
  const debian = /^VERSION_ID="?([^"\n]+)/m.exec(release)?.[1];
  if (debian === undefined) throw new Error("os-release has no VERSION_ID");
  const packages = parseDpkgStatus(readFileSync(join(folder, "var/lib/dpkg/status"), "utf8"));
  const ffmpeg = readFileSync(join(folder, "usr/share/doc/ffmpeg/version"), "utf8").trim();
  return [
    {
      type: "operating-system",
      "bom-ref": `debian@${debian}`,
      name: "debian",
      version: debian,
      licenses: [],
    },
    ...packages.map(({ name, version, architecture }): Component => {
      const purl = debianUrl(name, version, `arch=${architecture}&distro=debian-${debian}`);
      const licenses = readLicenses(folder, name).map((license) => ({ license: { name: license } }));
      return { type: "library", "bom-ref": purl, name, version, purl, licenses };
    }),
    {
      type: "application",
      // Compiled in the image's build from Debian's source package, without the libraries under the GPL.
      ...describe("ffmpeg", ffmpeg, debianUrl("ffmpeg", ffmpeg, `arch=source&distro=debian-${debian}`)),
      licenses: [{ license: { id: "LGPL-2.1-or-later" } }],
    },
    {
      type: "application",
      ...describe("node", nodeVersion, `pkg:generic/node@${nodeVersion}`),
      licenses: [{ license: { id: "MIT" } }],
    },
  ];
}

function describe(name: string, version: string, purl: string) {
  return { "bom-ref": purl, name, version, purl };
}

function debianUrl(name: string, version: string, qualifiers: string): string {
  const encoded = encodeURIComponent(version).replaceAll("%3A", ":");
  return `pkg:deb/debian/${encodeURIComponent(name)}@${encoded}?${qualifiers}`;
}

function parseDpkgStatus(status: string): SystemPackage[] {
  return status
    .split(/\n\n+/)
    .filter((stanza) => /^Status: install ok installed$/m.test(stanza))
    .map((stanza) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(stanza)?.[1] ?? "";
      return { name: field("Package"), version: field("Version"), architecture: field("Architecture") };
    });
}

/** Returns Debian's license names. A copyright file that is not machine-readable still refers to the full texts. */
function readLicenses(folder: string, name: string): string[] {
  const file = `usr/share/doc/${name}/copyright`;
  const text = existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "";
  const pattern = /^Format:/m.test(text)
    ? /^License: *(\S.*)$/gm
    : /\/usr\/share\/common-licenses\/([\w+-]+(?:\.\w+)*)/g;
  const names = new Set([...text.matchAll(pattern)].map(([, license = ""]) => license.trim()));
  return names.size > 0 ? [...names].sort() : [`see /${file}`];
}

if (import.meta.main) {
  const [file = "", folder = ""] = process.argv.slice(2);
  const bom = JSON.parse(readFileSync(file, "utf8"));
  bom.components.push(...listSystemComponents(folder, process.versions.node));
  writeFileSync(file, JSON.stringify(bom, null, 2));
}
