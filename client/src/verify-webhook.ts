import { requireArgument, requireObject } from "./arguments.ts";
import { SubtextError } from "./errors.ts";
import type { Completed } from "./states.ts";
import type { TranscriptionCompletedEvent, WebhookEvent } from "./types.ts";

/** Headers and raw, unparsed body, for servers without `Request`. */
export interface RawWebhook {
  headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string | Uint8Array | ArrayBuffer;
}

export interface VerifyOptions {
  /** The maximum age of a webhook, and the maximum clock skew; 300 s by default. */
  toleranceSeconds?: number | undefined;
  now?: Date | undefined;
}

/** A `WebhookEvent` whose completed transcriptions always have files. */
export type ReceivedEvent =
  | Exclude<WebhookEvent, TranscriptionCompletedEvent>
  | (Omit<TranscriptionCompletedEvent, "data"> & { data: Completed<TranscriptionCompletedEvent["data"]> });

export interface VerifiedWebhook {
  /** Identifies the event in every attempt. Use it to detect duplicates. */
  id: string;
  /** When this attempt was made. */
  sentAt: Date;
  event: ReceivedEvent;
}

/** `CryptoKey` is not a global type in every environment. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const TOLERANCE_SECONDS = 300;
/** The minimum of Standard Webhooks. A shorter secret was probably truncated when it was copied. */
const MIN_SECRET_BYTES = 24;
const SECRET_PREFIX = "whsec_";
const SIGNATURE_PREFIX = "v1,";

/**
 * Verifies a webhook according to Standard Webhooks 1.0 (HMAC-SHA256 over `id.timestamp.body`), then parses it.
 *
 * @param webhook a `Request`, whose body is consumed, or headers and raw body
 * @param secrets one `whsec_…` secret, or both during a rotation
 * @throws SubtextError `webhook_secret_invalid` if your configuration is wrong (respond with 500), another `webhook_…`
 * code if the request is invalid (respond with 400)
 */
export async function verifyWebhook(
  webhook: Request | RawWebhook,
  secrets: string | readonly string[] | undefined,
  options: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  requireObject(webhook, "webhook");
  requireObject(webhook.headers, "webhook.headers");
  requireObject(options, "options");
  const { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() } = options;
  requireArgument(toleranceSeconds >= 0, "toleranceSeconds", "a non-negative number of seconds");
  requireArgument(!Number.isNaN(now.getTime()), "now", "a valid Date");
  const keys = await Promise.all((Array.isArray(secrets) ? secrets : [secrets]).map(importKey));
  if (keys.length === 0) throw new SubtextError({ code: "webhook_secret_invalid" });
  const id = readHeader(webhook.headers, "webhook-id");
  const timestamp = readHeader(webhook.headers, "webhook-timestamp");
  const signatures = readHeader(webhook.headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp)) throw headerMissing("webhook-timestamp");
  const sentAt = new Date(Number(timestamp) * 1000);
  const body = await readBody(webhook);
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  if (!(await isSigned(signed, signatures, keys))) {
    throw new SubtextError({ code: "webhook_signature_invalid" });
  }
  if (Math.abs(now.getTime() - sentAt.getTime()) > toleranceSeconds * 1000) {
    throw new SubtextError({
      code: "webhook_too_old",
      detail: `The webhook was signed at ${sentAt.toISOString()}.`,
    });
  }
  return { id, sentAt, event: parseEvent(body) };
}

async function importKey(secret: unknown): Promise<HmacKey> {
  if (typeof secret !== "string" || secret === "") {
    throw new SubtextError({
      code: "webhook_secret_invalid",
      detail: "`secrets` contains no signing secret.",
    });
  }
  try {
    const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
    const bytes = decodeBase64(encoded);
    if (bytes.length < MIN_SECRET_BYTES) throw new TypeError("too short");
    return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  } catch {
    // Without the cause, which may contain a part of the secret.
    throw new SubtextError({ code: "webhook_secret_invalid" });
  }
}

async function isSigned(signed: Uint8Array<ArrayBuffer>, header: string, keys: HmacKey[]): Promise<boolean> {
  for (const token of header.split(" ")) {
    if (!token.startsWith(SIGNATURE_PREFIX)) continue;
    const signature = tryDecodeBase64(token.slice(SIGNATURE_PREFIX.length));
    if (!signature) continue;
    for (const key of keys) {
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return true;
    }
  }
  return false;
}

function readHeader(headers: RawWebhook["headers"], name: string): string {
  // `instanceof` would fail, because some frameworks have their own `Headers` class.
  const value =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof value !== "string" || value === "") throw headerMissing(name);
  return value;
}

function headerMissing(name: string): SubtextError {
  return new SubtextError({ code: "webhook_header_missing", detail: `\`${name}\` is missing or malformed.` });
}

async function readBody(webhook: Request | RawWebhook): Promise<Uint8Array<ArrayBuffer>> {
  const { body } = webhook;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice());
  if (ArrayBuffer.isView(body)) return new Uint8Array(body as Uint8Array);
  if ("arrayBuffer" in webhook && !webhook.bodyUsed) return new Uint8Array(await webhook.arrayBuffer());
  throw new SubtextError({
    code: "webhook_body_not_raw",
    detail: "Pass the raw body as text or bytes: a body that was parsed or read before cannot be verified.",
  });
}

function parseEvent(body: Uint8Array): ReceivedEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (typeof event === "object" && event !== null && "type" in event && typeof event.type === "string") {
      return event as ReceivedEvent;
    }
  } catch (cause) {
    throw new SubtextError({ code: "webhook_payload_invalid", cause });
  }
  throw new SubtextError({ code: "webhook_payload_invalid" });
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function tryDecodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return decodeBase64(text);
  } catch {
    return null;
  }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
