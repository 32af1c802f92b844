import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
import { temporaryFolder } from "../support/service.ts";

const run = promisify(execFile);

/** Runs a program that reads `cases.json` in its folder and prints the verification results as a JSON array. */
interface Harness {
  command: string;
  args: string[];
  /** Program that must be installed; by default `command`. */
  needs?: string;
  /** Name of the file that contains the documented code. */
  file: string;
  after?: string;
  others?: Record<string, string>;
}

const SHELL_RUNNER = `
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
const cases = JSON.parse(readFileSync("cases.json", "utf8"));
const name = (field) => "webhook-" + field;
console.log(JSON.stringify(cases.map(({ secret, headers, body }) => {
  const fields = ["id", "timestamp", "signature"].map((field) => headers[name(field)] ?? "");
  const env = { ...process.env, SECRET: secret };
  const { status } = spawnSync("sh", ["verify.sh", ...fields], { input: body, env });
  return status === 2 ? "misconfigured" : status === 0;
})));`;

const HARNESSES: Record<string, Harness> = {
  ts: {
    command: process.execPath,
    args: ["verify.ts"],
    file: "verify.ts",
    after: `
import { readFileSync } from "node:fs";
type Case = { secret: string; headers: Record<string, string>; body: string };
const cases: Case[] = JSON.parse(readFileSync("cases.json", "utf8"));
console.log(JSON.stringify(cases.map(({ secret, headers, body }) => {
  try { verifyWebhook(secret, new Headers(headers), body); return true; }
  catch (error) { return error instanceof TypeError ? "misconfigured" : false; }
})));`,
  },
  python: {
    command: "python3",
    args: ["verify.py"],
    file: "verify.py",
    after: `
def is_taken(case):
    try:
        verify_webhook(case["secret"], case["headers"], case["body"].encode())
        return True
    except ValueError:
        return False
    except RuntimeError:
        return "misconfigured"
print(json.dumps([is_taken(case) for case in json.load(open("cases.json", encoding="utf-8"))]))`,
  },
  go: {
    command: "go",
    args: ["run", "."],
    file: "webhooks/verify.go",
    others: {
      "go.mod": "module receiver\n",
      "main.go": `package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"receiver/webhooks"
)

func main() {
	var cases []struct {
		Secret, Body string
		Headers      map[string]string
	}
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	accepted := []any{}
	for _, each := range cases {
		header := http.Header{}
		for name, value := range each.Headers {
			header.Set(name, value)
		}
		err := webhooks.Verify(each.Secret, header, []byte(each.Body))
		if errors.Is(err, webhooks.ErrNoSecret) {
			accepted = append(accepted, "misconfigured")
		} else {
			accepted = append(accepted, err == nil)
		}
	}
	json.NewEncoder(os.Stdout).Encode(accepted)
}
`,
    },
  },
  ruby: {
    command: "ruby",
    args: ["-Ku", "verify.rb"],
    file: "verify.rb",
    after: `
accepted = JSON.parse(File.read("cases.json", encoding: "utf-8")).map do |one|
  verify_webhook(one["secret"], one["headers"], one["body"])
  true
rescue RuntimeError
  false
rescue ArgumentError
  "misconfigured"
end
puts JSON.generate(accepted)`,
  },
  sh: {
    command: process.execPath,
    args: ["run.mjs"],
    needs: "openssl",
    file: "verify.sh",
    others: { "run.mjs": SHELL_RUNNER },
  },
  php: {
    command: "php",
    args: ["verify.php"],
    file: "verify.php",
    after: `
echo json_encode(array_map(function ($case) {
    try {
        verify_webhook($case["secret"], $case["headers"], $case["body"]);
        return true;
    } catch (RuntimeException) {
        return false;
    } catch (LogicException) {
        return "misconfigured";
    }
}, json_decode(file_get_contents("cases.json"), true)));`,
  },
};

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;
const OTHER_SECRET = `whsec_${Buffer.from("another one of the same length!!").toString("base64")}`;
const BODY = JSON.stringify({ type: "transcriptions.transcription.completed", text: "Añadió — 字幕 ✓" });

interface Case {
  what: string;
  accepted: boolean | "misconfigured";
  secret: string;
  headers: Record<string, string>;
  body: string;
}

/** Creates valid and forged requests. The library `standardwebhooks` signs them. */
function makeCases(): Case[] {
  const now = new Date();
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  const signed = (when: Date, secret = SECRET, body = BODY) => ({
    "webhook-id": "event_1",
    "webhook-timestamp": String(Math.floor(when.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("event_1", when, body),
  });
  const good = signed(now);
  const without = (name: string) =>
    Object.fromEntries(Object.entries(good).filter(([each]) => each !== name));
  const make = (what: string, accepted: boolean, headers: Record<string, string>, body = BODY): Case => ({
    what,
    accepted,
    secret: SECRET,
    headers,
    body,
  });
  const signature = good["webhook-signature"];
  // Anyone can sign with an empty key.
  const forged = createHmac("sha256", "")
    .update(`event_1.${good["webhook-timestamp"]}.${BODY}`)
    .digest("base64");
  const withoutSecret = (secret: string): Case => ({
    ...make(`forged, and the secret is "${secret}"`, true, {
      ...good,
      "webhook-signature": `v1,${forged}`,
    }),
    accepted: "misconfigured",
    secret,
  });
  return [
    make("signed", true, good),
    make("four minutes old", true, signed(at(-240))),
    make("signed by a new secret and by ours", true, {
      ...good,
      "webhook-signature": `${signed(now, OTHER_SECRET)["webhook-signature"]} ${signature}`,
    }),
    make("with a signature of a later version too", true, {
      ...good,
      "webhook-signature": `v2,abcd ${signature}`,
    }),
    make("with another body", false, good, BODY.replace("completed", "failed")),
    make("with another id", false, { ...good, "webhook-id": "event_2" }),
    make("signed by another secret", false, signed(now, OTHER_SECRET)),
    make("ten minutes old", false, signed(at(-600))),
    make("ten minutes in the future", false, signed(at(600))),
    make("with an altered timestamp", false, {
      ...good,
      "webhook-timestamp": signed(at(-60))["webhook-timestamp"],
    }),
    make("without an id", false, without("webhook-id")),
    make("without a timestamp", false, without("webhook-timestamp")),
    make("without a signature", false, without("webhook-signature")),
    make("with an empty signature", false, { ...good, "webhook-signature": "" }),
    make("with a signature without its version", false, { ...good, "webhook-signature": signature.slice(3) }),
    make("with a truncated signature", false, { ...good, "webhook-signature": signature.slice(0, 20) }),
    make("with an invalid timestamp", false, { ...good, "webhook-timestamp": "soon" }),
    make("without any headers", false, {}),
    withoutSecret(""),
    withoutSecret("whsec_"),
  ];
}

const blocks = blocksRunBy(import.meta.filename);

test("the documentation verifies webhooks in five languages and in the shell", () => {
  expect(blocks.map(({ language }) => language).sort()).toEqual(Object.keys(HARNESSES).sort());
});

for (const { language, text } of blocks) {
  test(`the documentation's ${language} accepts only what Subtext signed`, async ({ skip }) => {
    const { command, args, file, needs = command, after = "", others = {} } = HARNESSES[language]!;
    const version = needs === "go" || needs === "openssl" ? "version" : "--version";
    const isThere = await run(needs, [version]).then(
      () => true,
      () => false,
    );
    if (!isThere) skip(`${needs} is not installed`);
    const folder = await temporaryFolder();
    const cases = makeCases();
    await mkdir(join(folder, "webhooks"));
    await writeFile(join(folder, "cases.json"), JSON.stringify(cases));
    for (const [name, program] of Object.entries({ ...others, [file]: text + after })) {
      await writeFile(join(folder, name), program);
    }
    const { stdout } = await run(command, args, {
      cwd: folder,
      env: { ...process.env, GOFLAGS: "-mod=mod" },
    });
    const accepted = JSON.parse(stdout) as Case["accepted"][];
    expect(cases.map(({ what }, place) => [what, accepted[place]])).toEqual(
      cases.map(({ what, accepted: wanted }) => [what, wanted]),
    );
  });
}
