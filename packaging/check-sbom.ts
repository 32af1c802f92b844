/** Fails if a file is not a valid CycloneDX document or omits a part of the image. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";

/** Examples of each kind: an npm package, one bundled in it, Debian's packages, and programs that the image adds. */
const REQUIRED = ["subtext-transcription", "fastify", "libc6", "bash", "ffmpeg", "node"];

interface Component {
  name: string;
  version: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

/** Validates a document against the schema of its version. Returns the errors, or null if it is valid. */
export function findSchemaFaults(bom: { specVersion: string }): string | null {
  const require = createRequire(import.meta.url);
  const folder = join(dirname(require.resolve("@cyclonedx/cyclonedx-library/package.json")), "res/schema");
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  // The schemas refer to each other by these file names, not by their ids.
  for (const file of ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"]) {
    ajv.addSchema(read(file), `http://cyclonedx.org/schema/${file}`);
  }
  return ajv.validate(read(`bom-${bom.specVersion}.SNAPSHOT.schema.json`), bom) ? null : ajv.errorsText();
}

/** Returns the names that have no component with a version and a license. */
export function findMissing(components: readonly Component[], names: readonly string[]): string[] {
  const complete = components.filter(
    ({ version, licenses = [] }) =>
      version !== "" &&
      licenses.some(({ license, expression }) => license?.id ?? license?.name ?? expression),
  );
  return names.filter((name) => !complete.some((component) => component.name === name));
}

if (import.meta.main) {
  const bom = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
  const faults = findSchemaFaults(bom);
  const missing = findMissing(bom.components, REQUIRED);
  if (faults !== null) console.error(faults);
  if (missing.length > 0) console.error(`not listed with version and license: ${missing.join(", ")}`);
  process.exitCode = faults === null && missing.length === 0 ? 0 : 1;
  console.log(`${bom.components.length} components in CycloneDX ${bom.specVersion}`);
}
