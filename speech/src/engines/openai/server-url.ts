import { SpeechError } from "../../errors.ts";

const PATH = "/audio/transcriptions";

/**
 * Returns the transcription URL for a base URL: `https://api.openai.com/v1`, `http://gpu1:8000/v1/`. A URL
 * without a path gets `/v1`; one that ends in `/audio/transcriptions`, or in `/inference` as for
 * whisper.cpp's server, is used as it is.
 * @throws SpeechError `engine_refused` if the URL is invalid
 */
export function transcriptionUrl(baseUrl: string): URL {
  const url = URL.parse(baseUrl.trim());
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    const shown = url === null ? "" : ` (${shownUrl(url)})`;
    throw new SpeechError("engine_refused", `The transcription server's URL is not an http(s) URL${shown}.`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = /\/(audio\/transcriptions|inference)$/.test(path) ? path : (path || "/v1") + PATH;
  return url;
}

/** A URL for messages: without password, query and fragment. */
export function shownUrl({ origin, pathname }: URL): string {
  return origin + pathname;
}
