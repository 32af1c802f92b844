import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** Standard Webhooks requires 24 to 64 bytes. */
const NEW_SECRET_BYTES = 32;

export interface WebhookToSign {
  /** The event's id, by which a receiver recognizes duplicates. Contains no `.`. */
  id: string;
  timestamp: Date;
  /** Exactly the text that is sent. */
  body: string;
  /** `whsec_…`. After a rotation, the new and the previous one. */
  secrets: readonly string[];
}

/** A type alias, because an interface is not assignable to `Record<string, string>`. */
export type WebhookHeaders = {
  "webhook-id": string;
  /** Unix seconds. */
  "webhook-timestamp": string;
  /** `v1,<base64>` for each secret, separated by spaces. */
  "webhook-signature": string;
};

export function newSigningSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString("base64");
}

/**
 * Signs an attempt according to Standard Webhooks 1.0: HMAC-SHA256 of `id.timestamp.body`.
 *
 * @throws TypeError if there is no secret, a secret is malformed, or the id would make the signed text ambiguous
 */
export function signWebhook({ id, timestamp, body, secrets }: WebhookToSign): WebhookHeaders {
  if (secrets.length === 0) throw new TypeError("a webhook needs at least one secret");
  if (!/^[A-Za-z0-9_-]+$/.test(id)) throw new TypeError("a webhook id must consist of [A-Za-z0-9_-]");
  const seconds = Math.floor(timestamp.getTime() / 1000).toString();
  const signatures = secrets.map((secret) => {
    const hmac = createHmac("sha256", keyOf(secret)).update(`${id}.${seconds}.${body}`);
    return `v1,${hmac.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": signatures.join(" "),
  };
}

/** Checks the encoding strictly, because Node decodes malformed base64 to bytes that differ from the receiver's. */
function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  const key = Buffer.from(encoded, "base64");
  if (key.length < 24 || key.length > 64 || key.toString("base64") !== encoded) {
    throw new TypeError("a signing secret must be whsec_ and 24 to 64 bytes in base64");
  }
  return key;
}
