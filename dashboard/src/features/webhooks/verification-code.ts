export const LANGUAGES = ["Node", "Python"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Samples that verify a webhook, with and without the standardwebhooks package. */
export const VERIFICATION_CODE: Record<
  Language,
  { install: string; withPackage: string; standardLibrary: string }
> = {
  Node: {
    install: "npm install standardwebhooks",
    withPackage: `import { Webhook } from "standardwebhooks";

// body: the raw request body as text, before any parsing. Throws if the signature is invalid.
export function verify(secret, headers, body) {
  return new Webhook(secret).verify(body, headers);
}
`,
    standardLibrary: `import { createHmac, timingSafeEqual } from "node:crypto";

// body: the raw request body as text, before any parsing. Throws if the signature is invalid.
export function verify(secret, headers, body) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) throw new Error("timestamp too old");
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  if (key.length === 0) throw new Error("the signing secret is missing");
  const signed = \`\${id}.\${timestamp}.\${body}\`;
  const expected = Buffer.from("v1," + createHmac("sha256", key).update(signed).digest("base64"));
  const isValid = headers["webhook-signature"].split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isValid) throw new Error("invalid signature");
  return JSON.parse(body);
}
`,
  },
  Python: {
    install: "pip install standardwebhooks",
    withPackage: `from standardwebhooks import Webhook

# body: the raw request body as bytes, before any parsing. Raises if the signature is invalid.
def verify(secret, headers, body):
    return Webhook(secret).verify(body, headers)
`,
    standardLibrary: `import base64, hashlib, hmac, json, time

# body: the raw request body as bytes, before any parsing. Raises if the signature is invalid.
def verify(secret, headers, body):
    id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("timestamp too old")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        raise RuntimeError("the signing secret is missing")
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    given = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(each.encode(), expected.encode()) for each in given):
        raise ValueError("invalid signature")
    return json.loads(body)
`,
  },
};
