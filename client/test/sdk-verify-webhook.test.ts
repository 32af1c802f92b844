import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { EVENTS } from "../src/contract/examples.ts";
import { SubtextError } from "../src/errors.ts";
import { verifyWebhook } from "../src/verify-webhook.ts";

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const SECRET = newSecret();
const BODY = JSON.stringify(EVENTS["transcriptions.transcription.completed"]);
const NOW = new Date("2026-01-02T03:04:05.500Z");

/** Signed with the library that Standard Webhooks publishes. */
function sign(body: string, secrets = [SECRET], sentAt = NOW) {
  const id = "event_1";
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(sentAt.getTime() / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(" "),
  };
}

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof SubtextError)) throw new Error(`not a SubtextError: ${String(error)}`);
  return error.code;
};
const verify = (webhook: Parameters<typeof verifyWebhook>[0], secrets: string | string[] = SECRET) =>
  verifyWebhook(webhook, secrets, { now: NOW });

describe("a webhook", () => {
  test("is returned as a typed event, from a Request or from headers and the raw body", async () => {
    const headers = sign(BODY);
    const expected = {
      id: "event_1",
      sentAt: new Date("2026-01-02T03:04:05Z"),
      event: EVENTS["transcriptions.transcription.completed"],
    };
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    for (const webhook of [
      new Request("https://h.example/", { method: "POST", headers, body: BODY }),
      { headers, body: BODY },
      { headers: upper, body: Buffer.from(BODY) },
      { headers: new Headers(headers), body: new TextEncoder().encode(BODY) },
      { headers: { get: (name: string) => new Map(Object.entries(headers)).get(name) ?? null }, body: BODY },
      { headers, body: new TextEncoder().encode(BODY).buffer },
    ]) {
      expect(await verify(webhook)).toEqual(expected);
    }
    const { event } = await verify({ headers, body: BODY });
    if (event.type !== "transcriptions.transcription.completed") throw new Error("another event");
    expect(event.data.files.vtt.contentType).toBe("text/vtt");
  });

  test("is valid with any body if the published library signed it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme" }),
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        async (text, key) => {
          const secret = `whsec_${Buffer.from(key).toString("base64")}`;
          const body = JSON.stringify({ type: "t", text });
          const { event } = await verify({ headers: sign(body, [secret]), body }, secret);
          expect(event).toEqual({ type: "t", text });
        },
      ),
    );
  });

  test("is rejected if any bit was altered", async () => {
    const headers = sign(BODY);
    const bytes = Buffer.from(BODY);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
        const altered = Buffer.from(bytes);
        altered[at] = (altered[at] ?? 0) ^ (1 << bit);
        expect(await codeOf(verify({ headers, body: altered }))).toBe("webhook_signature_invalid");
      }),
    );
    const other = { ...headers, "webhook-id": "event_2" };
    expect(await codeOf(verify({ headers: other, body: BODY }))).toBe("webhook_signature_invalid");
    const later = { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) };
    expect(await codeOf(verify({ headers: later, body: BODY }))).toBe("webhook_signature_invalid");
  });

  test("is valid for holders of either secret during a rotation, in any order", async () => {
    const [fresh, old, stranger] = [newSecret(), newSecret(), newSecret()];
    const webhook = { headers: sign(BODY, [fresh, old]), body: BODY };
    for (const secrets of [fresh, old, [fresh, old], [stranger, old]]) {
      expect((await verify(webhook, secrets)).id).toBe("event_1");
    }
    expect(await codeOf(verify(webhook, stranger))).toBe("webhook_signature_invalid");
    expect((await verify({ headers: sign(BODY, [old]), body: BODY }, [fresh, old])).id).toBe("event_1");
  });

  test("is rejected if its timestamp is more than five minutes old or in the future", async () => {
    for (const [seconds, code] of [
      [-301, "webhook_too_old"],
      [301, "webhook_too_old"],
      [-299, "none"],
      [299, "none"],
    ] as const) {
      const sentAt = new Date(NOW.getTime() + seconds * 1000);
      const verified = verify({ headers: sign(BODY, [SECRET], sentAt), body: BODY });
      expect(await (code === "none" ? verified.then(() => "none") : codeOf(verified))).toBe(code);
    }
  });

  test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "is rejected without %s",
    async (name) => {
      const headers: Record<string, string> = sign(BODY);
      delete headers[name];
      expect(await codeOf(verify({ headers, body: BODY }))).toBe("webhook_header_missing");
    },
  );

  test.each(["", "now", "-1", "1e9", "99999999999999999999"])(
    "is rejected with the timestamp %j",
    async (timestamp) => {
      const headers = { ...sign(BODY), "webhook-timestamp": timestamp };
      expect(await codeOf(verify({ headers, body: BODY }))).toBe("webhook_header_missing");
    },
  );

  test.each(["v1,", "v1,@@@", "v2,AAAA", "v1a,AAAA", "v1"])(
    "is rejected with the signature %j",
    async (signature) => {
      const headers = { ...sign(BODY), "webhook-signature": signature };
      expect(await codeOf(verify({ headers, body: BODY }))).toBe("webhook_signature_invalid");
    },
  );

  test("is not parsed before verification", async () => {
    const headers = { ...sign("{"), "webhook-signature": sign(BODY)["webhook-signature"] };
    expect(await codeOf(verify({ headers, body: "{" }))).toBe("webhook_signature_invalid");
  });

  test.each(["{", "null", "[]", '{"type":1}', '"text"'])(
    "is rejected if its signed body (%s) is not an event",
    async (body) => {
      expect(await codeOf(verify({ headers: sign(body), body }))).toBe("webhook_payload_invalid");
    },
  );

  test("is rejected with its own code if its body was already parsed or read", async () => {
    const parsed = { headers: sign(BODY), body: JSON.parse(BODY) as string };
    expect(await codeOf(verify(parsed))).toBe("webhook_body_not_raw");
    const read = new Request("https://h.example/", { method: "POST", headers: sign(BODY), body: BODY });
    await read.text();
    expect(await codeOf(verify(read))).toBe("webhook_body_not_raw");
  });

  test.each([[[undefined]], [[]], ["whsec_*"], [""], [["whsec_"]], [SECRET.slice(0, 36)]])(
    "is rejected with the invalid secret %j",
    async (secrets) => {
      const code = await codeOf(verify({ headers: sign(BODY), body: BODY }, secrets as string[]));
      expect(code).toBe("webhook_secret_invalid");
    },
  );

  test("is rejected with its own code if no secret is given", async () => {
    const error = await verifyWebhook({ headers: sign(BODY), body: BODY }, undefined).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({
      code: "webhook_secret_invalid",
      detail: expect.stringContaining("`secrets`"),
    });
  });
});
