/** Started by `media-processes.test.ts`: starts to decode, reports it, and stops reading. */
import { openFfmpeg } from "../../src/media/ffmpeg.ts";
import { openNodeAv } from "../../src/media/node-av.ts";

const [name, path] = process.argv.slice(2) as [string, string];
const decoder = await (name === "ffmpeg" ? openFfmpeg() : openNodeAv());
const signal = new AbortController().signal;
const probe = await decoder!.probe(path, signal);
const { chunks } = decoder!.decode(path, { probe, maxDurationSeconds: 24 * 3600, signal });
await chunks[Symbol.asyncIterator]().next();
console.info("decoding");
setInterval(() => {}, 1000);
