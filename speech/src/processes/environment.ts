import type { SpeechParts } from "./process-messages.ts";

/** What Node reads of proxies and of certificates that are the operator's own. */
const NETWORK_SETTINGS = [
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_ENV_PROXY",
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/** What a speech process gets: none of the service's secrets; a proxy's address, which may hold one, only where servers are to be reached. */
export function environmentFor({ engines }: SpeechParts, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const asksServers = engines.multilingual?.kind === "openai";
  return {
    // glibc keeps one pool of memory for each thread unless told otherwise.
    MALLOC_ARENA_MAX: "2",
    // Where ffmpeg is looked for.
    PATH: env.PATH ?? "",
    ...(asksServers &&
      Object.fromEntries(NETWORK_SETTINGS.filter((name) => env[name]).map((name) => [name, env[name]]))),
  };
}
