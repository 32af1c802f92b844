import { spawnSync } from "node:child_process";
import { engineDefinition } from "../engines/registry.ts";
import type { SpeechProcessConfig } from "./process-messages.ts";

/** Settings of Node for proxies and custom certificates. */
const NETWORK_SETTINGS = [
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_ENV_PROXY",
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/**
 * Environment of a speech process: no secrets of the service; a proxy's address, which may contain one, only
 * if it calls servers.
 */
export function environmentFor({ engines }: SpeechProcessConfig, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { multilingual } = engines;
  const callsServers = multilingual !== null && engineDefinition(multilingual).workers(1) === null;
  return {
    // By default glibc keeps one memory arena per thread.
    MALLOC_ARENA_MAX: "2",
    // Otherwise onnxruntime sends reports on its use to Microsoft.
    ORT_DISABLE_TELEMETRY: "1",
    // Needed to find ffmpeg.
    PATH: env.PATH ?? "",
    ...(callsServers &&
      Object.fromEntries(NETWORK_SETTINGS.filter((name) => env[name]).map((name) => [name, env[name]]))),
  };
}

/**
 * V8 of Node.js 24, with which these were measured. Node refuses to start with flags that its V8 does not
 * know.
 */
const MEASURED_V8 = "13.6.";

/**
 * Flags for a process that runs models, also in its threads. Decoding allocates and frees tensors for every
 * token. A larger heap, and accounting external memory in the heap limit instead of collecting garbage after
 * every 64 MB of it, halve the processor time of V8's own threads for some 50 MB more memory (ten minutes of
 * speech).
 */
export function heapFlags(v8Version = process.versions.v8): string[] {
  if (!v8Version.startsWith(MEASURED_V8)) return [];
  return [
    "--initial-heap-size=128",
    "--min-semi-space-size=4",
    "--external-memory-accounted-in-global-limit",
  ];
}

const END_WITH_PARENT = ["--pdeathsig", "TERM"];

/**
 * The program and the arguments that start Node.js with these flags so that it ends with this process. A speech
 * process also ends when its channel closes, but only while its JavaScript runs: Node.js can deadlock if memory runs
 * out while it starts. On systems without util-linux's `setpriv`, Node.js is started directly.
 */
export function nodeEndingWithParent(flags: readonly string[]): { execPath: string; execArgv: string[] } {
  const hasSetpriv = spawnSync("setpriv", [...END_WITH_PARENT, "true"]).status === 0;
  if (!hasSetpriv) return { execPath: process.execPath, execArgv: [...flags] };
  return { execPath: "setpriv", execArgv: [...END_WITH_PARENT, process.execPath, ...flags] };
}
