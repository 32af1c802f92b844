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
  const asksServers = engines.multilingual?.kind === "openai";
  return {
    // By default glibc keeps one memory arena per thread.
    MALLOC_ARENA_MAX: "2",
    // To find ffmpeg.
    PATH: env.PATH ?? "",
    ...(asksServers &&
      Object.fromEntries(NETWORK_SETTINGS.filter((name) => env[name]).map((name) => [name, env[name]]))),
  };
}
