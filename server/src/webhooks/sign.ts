import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** Standard Webhooks asks for 24 to 64 bytes. */
const NEW_SECRET_BYTES = 32;

export interface WebhookToSign {
  /** The event's id: the same at every attempt, so that a receiver can tell a repetition. No `.` in it. */
  id: string;
  /** When this attempt is made. */
  timestamp: Date;
  /** Exactly the text that is sent. */
  body: string;
  /** `whsec_…`; after a rotation the new one and the old one. */
  secrets: readonly string[];
}

/** A type, not an interface, so that it can stand where any header fields are wanted. */
export type WebhookHeaders = {
  "webhook-id": string;
  /** Unix seconds. */
  "webhook-timestamp": string;
  /** `v1,<base64>` of each secret, parted by spaces. */
  "webhook-signature": string;
};

/** A new secret for an endpoint: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString("base64");
}

/**
 * Signs one attempt as Standard Webhooks 1.0 asks: HMAC-SHA256 over `id.timestamp.body`.
 *
 * @throws TypeError without secrets, with a malformed one, or with an id that makes the text ambiguous
 */
export function signWebhook({ id, timestamp, body, secrets }: WebhookToSign): WebhookHeaders {
  if (secrets.length === 0) throw new TypeError("a webhook needs at least one secret");
  if (!/^[A-Za-z0-9_-]+$/.test(id)) throw new TypeError("a webhook id is made of [A-Za-z0-9_-]");
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

/** Node decodes base64 leniently: a damaged secret would sign with other bytes than its owner has. */
function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  const key = Buffer.from(encoded, "base64");
  if (key.length < 24 || key.length > 64 || key.toString("base64") !== encoded) {
    throw new TypeError("a signing secret is whsec_ and 24 to 64 bytes in base64");
  }
  return key;
}
