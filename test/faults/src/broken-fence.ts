/**
 * Loaded before a process of the service where the campaign must show that it notices: attempts are no longer told
 * that their job was given to another worker, nor do they look whether it was, which would end them before they
 * write; and their writes no longer ask whether they still hold their transcription.
 */
import { registerHooks } from "node:module";

/** Places of the service's sources, what stands there, and what stands there instead. */
const FENCES = [
  ["/server/src/transcription/queries.ts", '.where("attempt", "=", hold.attempt)', ""],
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
    const its = FENCES.filter(([file]) => url.endsWith(file));
    if (its.length === 0) return loaded;
    let source = String(loaded.source);
    for (const [file, fence, instead] of its) {
      if (!source.includes(fence)) throw new Error(`there is no ${fence} in ${file} to break`);
      source = source.replace(fence, instead);
    }
    return { ...loaded, source };
  },
});
