import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { newSigningSecret, signWebhook } from "../../src/webhooks/sign.ts";

const run = promisify(execFile);
const id = "event_01h455vb4pex5vsknk084sn02q";
const newHeaders = (secrets: string[], body: string) =>
  signWebhook({ id, timestamp: new Date(), body, secrets });

/** A receiver in Python, written from the specification with only the standard library. */
const PYTHON_RECEIVER = `
import base64, hashlib, hmac, json, sys
sent = json.load(sys.stdin)
key = base64.b64decode(sent["secret"].removeprefix("whsec_"), validate=True)
head = sent["headers"]
signed = f'{head["webhook-id"]}.{head["webhook-timestamp"]}.{sent["body"]}'.encode()
expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
given = [s.split(",", 1) for s in head["webhook-signature"].split(" ")]
print(any(v == "v1" and hmac.compare_digest(s, expected) for v, s in given))
`;

async function pythonAccepts(secret: string, headers: object, body: string): Promise<boolean> {
  const running = run("python3", ["-X", "utf8", "-c", PYTHON_RECEIVER]);
  running.child.stdin!.end(JSON.stringify({ secret, headers, body }));
  return (await running).stdout.trim() === "True";
}

describe("a signed webhook", () => {
  it("is accepted by the Standard Webhooks library with any body", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const secret = newSigningSecret();
        const body = JSON.stringify({ text });
        expect(new Webhook(secret).verify(body, newHeaders([secret], body))).toEqual({ text });
      }),
    );
  });

  it("is accepted by a receiver written in Python", async (context) => {
    const found = await run("python3", ["-V"]).then(
      () => true,
      () => false,
    );
    if (!found) context.skip("python3 is not installed");
    const [secret, other] = [newSigningSecret(), newSigningSecret()];
    const body = JSON.stringify({ text: "¿Qué tal? 日本語 👋🏽\n" });
    const headers = newHeaders([secret], body);
    expect(await pythonAccepts(secret, headers, body)).toBe(true);
    expect(await pythonAccepts(other, headers, body)).toBe(false);
    expect(await pythonAccepts(secret, headers, `${body} `)).toBe(false);
  });

  it("is accepted with the new and the previous secret after a rotation, and with no other", () => {
    const [fresh, old, stranger] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
    const headers = newHeaders([fresh, old], "{}");
    expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    expect(new Webhook(fresh).verify("{}", headers)).toEqual({});
    expect(new Webhook(old).verify("{}", headers)).toEqual({});
    expect(() => new Webhook(stranger).verify("{}", headers)).toThrow("No matching signature");
  });

  it("is rejected if its body, id or timestamp was changed", () => {
    const secret = newSigningSecret();
    const headers = newHeaders([secret], "{}");
    const receiver = new Webhook(secret);
    expect(() => receiver.verify("{ }", headers)).toThrow();
    expect(() => receiver.verify("{}", { ...headers, "webhook-id": "event_2" })).toThrow();
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(() => receiver.verify("{}", { ...headers, "webhook-timestamp": later })).toThrow();
  });

  it("has a timestamp in whole seconds that is never in the future", () => {
    const headers = signWebhook({
      id,
      timestamp: new Date("2026-03-04T05:06:07.999Z"),
      body: "{}",
      secrets: [newSigningSecret()],
    });
    expect(headers["webhook-timestamp"]).toBe("1772600767");
  });

  it("requires an intact secret and an unambiguous id", () => {
    const secret = newSigningSecret();
    const damaged = [
      "",
      "whsec_",
      secret.slice(6),
      `${secret}=`,
      `${secret.slice(0, -5)}!aaa=`,
      "whsec_c2hvcnQ=",
    ];
    for (const one of damaged) expect(() => newHeaders([one], "{}")).toThrow(TypeError);
    expect(() => newHeaders([], "{}")).toThrow(TypeError);
    const sign = (oddId: string) =>
      signWebhook({ id: oddId, timestamp: new Date(), body: "{}", secrets: [secret] });
    for (const odd of ["", "a.b", "a\nb", "ä"]) expect(() => sign(odd)).toThrow(TypeError);
  });
});

describe("a signing secret", () => {
  it("is whsec_ and 32 random bytes in base64", () => {
    const secrets = Array.from({ length: 50 }, newSigningSecret);
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    }
  });
});
