/**
 * Uploads the sample to the service at ADDRESS with KEY, waits until its transcription has ended, and prints the video's
 * ID.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Subtext } from "../client/src/index.ts";

const SAMPLE = join(import.meta.dirname, "../demo/sample/sample.mp4");

const [baseUrl = "", apiKey = ""] = process.argv.slice(2);
const subtext = new Subtext({ baseUrl, apiKey });
const { videoId } = await subtext.videos.upload(new Uint8Array(readFileSync(SAMPLE)));
const { status, wordCount, language, failure } = await subtext.transcriptions.wait(videoId);
console.error(`the sample: ${status}, ${wordCount} words, language ${language}`, failure ?? "");
console.log(videoId);
if (status !== "COMPLETED") process.exitCode = 1;
