import type { Fetch } from "./exchange.ts";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./retry.ts";
import { Transcriptions } from "./transcriptions.ts";
import { Transport } from "./transport.ts";
import { Videos } from "./videos.ts";
import { WebhookEndpoints } from "./webhook-endpoints.ts";

export interface SubtextOptions {
  /** Where your service is: `https://subtext.example.com`. */
  baseUrl: string;
  /** `subtext_…`, of one environment. Left out where a proxy of yours adds it. Never give it to a page. */
  apiKey?: string;
  /** Instead of the global `fetch`. */
  fetch?: Fetch;
  /** For each request with its answer; 30 s unless said. */
  timeoutMs?: number;
  /** Four retries within about 10 s unless said. */
  retry?: Partial<RetryPolicy>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** A client of a Subtext service, for one API key. */
export class Subtext {
  readonly videos: Videos;
  readonly transcriptions: Transcriptions;
  readonly webhookEndpoints: WebhookEndpoints;

  /** @throws TypeError where the URL or the key can not be one */
  constructor(options: SubtextOptions) {
    const { baseUrl, apiKey = null, fetch, timeoutMs = DEFAULT_TIMEOUT_MS, retry } = options;
    const { protocol, username, password, search, hash } = new URL(baseUrl);
    if (protocol !== "https:" && protocol !== "http:") throw new TypeError("baseUrl is an http or https URL");
    if (username || password || search || hash) throw new TypeError("baseUrl is an address alone");
    if (apiKey !== null && !/^[!-~]+$/.test(apiKey)) throw new TypeError("apiKey holds what no key does");
    const transport = new Transport({
      baseUrl: baseUrl.replace(/\/+$/, ""),
      apiKey,
      // Called as a method of something else, the fetch of browsers throws.
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      timeoutMs,
      retry: { ...DEFAULT_RETRY_POLICY, ...retry },
    });
    this.videos = new Videos(transport);
    this.transcriptions = new Transcriptions(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
  }
}
