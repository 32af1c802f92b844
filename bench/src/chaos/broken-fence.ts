/**
 * Loaded before a process of the service where the campaign must show that it notices: the writes of an attempt no
 * longer look whether the attempt still holds its transcription.
 */
import { registerHooks } from "node:module";

const FENCED = "/server/src/db/transcriptions.ts";
const FENCES = ['    .where("attempt", "=", hold.attempt)\n', '    .where("status", "=", "PROCESSING");\n'];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(FENCED)) return loaded;
    let source = String(loaded.source);
    for (const fence of FENCES) {
      if (!source.includes(fence.trim())) throw new Error(`there is no ${fence.trim()} to break`);
      source = source.replace(fence.trim(), fence.trim().endsWith(";") ? ";" : "");
    }
    return { ...loaded, source };
  },
});
