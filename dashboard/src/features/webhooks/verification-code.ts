export const LANGUAGES = ["Node", "Python"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Code that checks a webhook: with the package that Standard Webhooks has for it, and without any. */
export const VERIFY_CODE: Record<Language, { install: string; withPackage: string; alone: string }> = {
  Node: {
    install: "npm install standardwebhooks",
    withPackage: `import { Webhook } from "standardwebhooks";

// body: the text as it came, before anything parsed it. Throws where the signature is wrong.
export function verify(secret, headers, body) {
  return new Webhook(secret).verify(body, headers);
}
`,
    alone: `import { createHmac, timingSafeEqual } from "node:crypto";

// body: the text as it came, before anything parsed it. Throws where the signature is wrong.
export function verify(secret, headers, body) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) throw new Error("too old");
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  if (key.length === 0) throw new Error("the signing secret is missing");
  const signed = \`\${id}.\${timestamp}.\${body}\`;
  const expected = Buffer.from("v1," + createHmac("sha256", key).update(signed).digest("base64"));
  const isRight = headers["webhook-signature"].split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isRight) throw new Error("wrong signature");
  return JSON.parse(body);
}
`,
  },
  Python: {
    install: "pip install standardwebhooks",
    withPackage: `from standardwebhooks import Webhook

# body: the bytes as they came, before anything parsed them. Raises where the signature is wrong.
def verify(secret, headers, body):
    return Webhook(secret).verify(body, headers)
`,
    alone: `import base64, hashlib, hmac, json, time

# body: the bytes as they came, before anything parsed them. Raises where the signature is wrong.
def verify(secret, headers, body):
    id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("too old")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        raise RuntimeError("the signing secret is missing")
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    given = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(each.encode(), expected.encode()) for each in given):
        raise ValueError("wrong signature")
    return json.loads(body)
`,
  },
};
