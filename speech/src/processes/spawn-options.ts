import { spawnSync } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { engineDefinition } from "../engines/registry.ts";
import type { SpeechProcessConfig } from "./process-messages.ts";

const MEBIBYTE = 1024 ** 2;

/** Node.js settings for proxies and certificates. */
const NETWORK_SETTINGS = [
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_ENV_PROXY",
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/**
 * Returns the environment of a speech process. It contains no secrets of the service. The address of a proxy, which may
 * contain a password, is included only for engines that call servers.
 */
export function environmentFor({ engines }: SpeechProcessConfig, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { multilingual } = engines;
  const compileCache = getCompileCacheDir();
  const callsServers = multilingual !== null && engineDefinition(multilingual).workers(1) === null;
  return {
    // Saves memory, because glibc otherwise uses separate arenas for each thread.
    MALLOC_ARENA_MAX: "2",
    // Keeps the memory of large tensors for the next run. Allocating it again takes 4% of the CPU time.
    MALLOC_MMAP_THRESHOLD_: String(32 * MEBIBYTE),
    MALLOC_TRIM_THRESHOLD_: String(128 * MEBIBYTE),
    // Otherwise onnxruntime sends telemetry to Microsoft.
    ORT_DISABLE_TELEMETRY: "1",
    // Needed to find ffmpeg.
    PATH: env.PATH ?? "",
    // The folder of this process, without the subfolder for its version of Node.js.
    ...(compileCache !== undefined && { NODE_COMPILE_CACHE: dirname(compileCache) }),
    ...(callsServers &&
      Object.fromEntries(NETWORK_SETTINGS.filter((name) => env[name]).map((name) => [name, env[name]]))),
  };
}

/** The V8 of Node.js 24. Node.js does not start with flags that its V8 does not support. */
const SUPPORTED_V8 = "13.6.";

/**
 * Returns V8 flags for a process that runs models. Decoding allocates and frees tensors for every token. A larger heap, and
 * no garbage collection after every 64 MB of external memory, halve the CPU time of V8's threads for about 50 MB of memory.
 */
export function heapFlags(v8Version = process.versions.v8): string[] {
  if (!v8Version.startsWith(SUPPORTED_V8)) return [];
  return [
    "--initial-heap-size=128",
    "--min-semi-space-size=4",
    "--external-memory-accounted-in-global-limit",
  ];
}

const END_WITH_PARENT = ["--pdeathsig", "TERM"];

/**
 * Returns the program and arguments that start Node.js as a process that ends with this process. Usually the closed
 * channel ends a speech process, but Node.js can deadlock if memory runs out while it starts. Without `setpriv` of
 * util-linux, Node.js is started directly.
 */
export function nodeEndingWithParent(flags: readonly string[]): { execPath: string; execArgv: string[] } {
  const hasSetpriv = spawnSync("setpriv", [...END_WITH_PARENT, "true"]).status === 0;
  if (!hasSetpriv) return { execPath: process.execPath, execArgv: [...flags] };
  return { execPath: "setpriv", execArgv: [...END_WITH_PARENT, process.execPath, ...flags] };
}
