import {
  readRetryPolicy,
  requireArgument,
  requireDuration,
  requireHttpUrl,
  requireObject,
} from "./arguments.ts";
import type { Fetch } from "./exchange.ts";
import type { RetryPolicy } from "./retry.ts";
import { Transcriptions } from "./transcriptions.ts";
import { Transport } from "./transport.ts";
import { Videos } from "./videos.ts";
import { WebhookEndpoints } from "./webhook-endpoints.ts";

export interface SubtextOptions {
  /** The address of your service without `/api/v1`: `https://subtext.example.com`. */
  baseUrl: string;
  /** An API key (`subtext_…`), or null if your own proxy adds the key. Never expose a key in a web page. */
  apiKey: string | null | undefined;
  /** Replaces the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Timeout of each request, including its response; 30 s by default. */
  timeoutMs?: number | undefined;
  /** By default up to four retries, with delays of at most 7.5 s in total unless the service requests longer ones. */
  retry?: Partial<RetryPolicy> | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

export class Subtext {
  readonly videos: Videos;
  readonly transcriptions: Transcriptions;
  readonly webhookEndpoints: WebhookEndpoints;

  /** @throws SubtextError `invalid_argument` */
  constructor(options: SubtextOptions) {
    requireObject(options, "options");
    const { baseUrl, apiKey, fetch, timeoutMs = DEFAULT_TIMEOUT_MS, retry } = options;
    const { username, password, search, hash, pathname } = requireHttpUrl(baseUrl, "baseUrl");
    const isBare = !(username || password || search || hash || /\/api\/v1\/?$/.test(pathname));
    requireArgument(isBare, "baseUrl", "a URL without user name, password, query, fragment or `/api/v1`");
    const isKey = apiKey === null || (typeof apiKey === "string" && /^[!-~]+$/.test(apiKey));
    requireArgument(isKey, "apiKey", "an API key, or null if your own proxy adds the key");
    requireDuration(timeoutMs, "timeoutMs");
    requireArgument(fetch === undefined || typeof fetch === "function", "fetch", "a function");
    const transport = new Transport({
      baseUrl: baseUrl.replace(/\/+$/, ""),
      apiKey,
      // Browsers throw if fetch is called as a method of another object.
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      timeoutMs,
      retry: readRetryPolicy(retry),
    });
    this.videos = new Videos(transport);
    this.transcriptions = new Transcriptions(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
  }
}
