import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME_PREFIX } from "./names.ts";

const INSTALLED = join(import.meta.dirname, "../node_modules");
const LICENSES = join(import.meta.dirname, "licenses");

/** The supported platforms, as `process.platform`-`process.arch`. */
export const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64"];

/**
 * Dependencies that are bundled instead of installed from the registry, because they run install scripts or contain far
 * more than the speech package needs. Only these parts are bundled.
 */
const BUNDLED = {
  "onnxruntime-node": { parts: ["dist"], license: join(LICENSES, "onnxruntime.txt") },
  "onnxruntime-common": {
    parts: ["dist/cjs"],
    license: join(LICENSES, "onnxruntime.txt"),
  },
  "@moonshine-ai/moonshine-js": {
    parts: ["dist/model"],
    license: join(INSTALLED, "@moonshine-ai/moonshine-js/LICENSE"),
  },
  "@ricky0123/vad-web": {
    parts: ["dist/silero_vad_v5.onnx"],
    license: join(LICENSES, "silero-vad.txt"),
  },
  "cld3-asm": {
    parts: ["dist/cjs/lib/node"],
    license: join(LICENSES, "cld3.txt"),
  },
  "node-av": {
    parts: ["dist/lib", "dist/constants", "dist/utils"],
    license: join(INSTALLED, "node-av/LICENSE.md"),
  },
};

/** Adds the bundled parts to the speech package. Returns the fields for its `package.json`. */
export function bundleParts(target: string) {
  for (const [name, { parts, license }] of Object.entries(BUNDLED)) {
    const folder = join(target, "node_modules", name);
    for (const part of parts) {
      cpSync(join(INSTALLED, name, part), join(folder, part), {
        recursive: true,
        filter: (path) => !path.endsWith(".map"),
      });
    }
    cpSync(license, join(folder, "LICENSE"));
    const { version, description, license: terms, type, main, exports } = readManifest(name);
    writeManifest(folder, { name, version, description, license: terms, type, main, exports });
  }
  patchRuntimePath(join(target, "node_modules/onnxruntime-node/dist/binding.js"));

  const { version, dependencies } = readManifest("onnxruntime-node");
  const runtimes = PLATFORMS.map((platform) => [RUNTIME_PREFIX + platform, version]);
  const nodeAv = readManifest("node-av").version;
  const decoders = PLATFORMS.map((platform) => [`@seydx/node-av-${platform}`, nodeAv]);
  return {
    bundleDependencies: Object.keys(BUNDLED),
    // npm packs a bundled package only if it is a dependency. In the workspace, node-av is an optional one.
    dependencies: { "node-av": nodeAv, "onnxruntime-common": dependencies["onnxruntime-common"] },
    optionalDependencies: Object.fromEntries([...runtimes, ...decoders]),
  };
}

/** Makes `binding.js` of onnxruntime-node load the runtime by the name of its package. */
function patchRuntimePath(file: string): void {
  const text = readFileSync(file, "utf8");
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: both are JavaScript source code
  const byPath = "../bin/napi-v6/${process.platform}/${process.arch}";
  const byName = `${RUNTIME_PREFIX}\${process.platform}-\${process.arch}`;
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: both are JavaScript source code
  if (!text.includes(byPath)) throw new Error(`${file} does not load the runtime from ${byPath}`);
  writeFileSync(file, text.replace(byPath, byName));
}

export function writeRuntime(target: string, platform: string): void {
  const [os = "", cpu = ""] = platform.split("-");
  const source = join(INSTALLED, "onnxruntime-node/bin/napi-v6", os, cpu);
  const binding = "onnxruntime_binding.node";
  // The folder may also contain copies of the library under other names, and GPU providers.
  const bindingBytes = readFileSync(join(source, binding));
  for (const file of readdirSync(source)) {
    if (file === binding || bindingBytes.includes(file)) cpSync(join(source, file), join(target, file));
  }
  cpSync(BUNDLED["onnxruntime-node"].license, join(target, "LICENSE"));
  cpSync(join(LICENSES, "onnxruntime-notices.txt"), join(target, "THIRD-PARTY-NOTICES.txt"));
  const { version, license } = readManifest("onnxruntime-node");
  writeManifest(target, {
    name: RUNTIME_PREFIX + platform,
    version,
    description: `The native part of onnxruntime-node for ${platform}, without GPU libraries.`,
    license,
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: ["glibc"] }),
    type: "commonjs",
    main: binding,
  });
}

function readManifest(name: string) {
  return JSON.parse(readFileSync(join(INSTALLED, name, "package.json"), "utf8"));
}

export function writeManifest(folder: string, manifest: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
