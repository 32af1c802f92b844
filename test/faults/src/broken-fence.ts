/**
 * Preloaded into a worker to verify that the campaign detects broken fencing. Attempts continue after another worker
 * has taken over their job, and their writes do not check the lease.
 */
import { registerHooks } from "node:module";

/** File, original code, replacement. */
const FENCES = [
  ["/server/src/transcription/queries.ts", '.where("attempt", "=", lease.attempt)', ""],
  ["/server/src/transcription/queries.ts", '.where("status", "=", "PROCESSING");', ";"],
  [
    "/server/src/transcription/running-attempts.ts",
    "AbortSignal.any([job.signal, cancel.signal])",
    "cancel.signal",
  ],
  ["/server/src/transcription/running-attempts.ts", "named || end(running)", "named"],
] as const;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const fencesOfFile = FENCES.filter(([file]) => url.endsWith(file));
    if (fencesOfFile.length === 0) return loaded;
    let source = String(loaded.source);
    for (const [file, fence, replacement] of fencesOfFile) {
      if (!source.includes(fence)) throw new Error(`${file} does not contain ${fence}`);
      source = source.replace(fence, replacement);
    }
    return { ...loaded, source };
  },
});
