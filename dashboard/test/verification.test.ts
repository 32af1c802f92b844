import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { newSigningSecret, signWebhook } from "../../server/src/webhooks/sign.ts";
import { VERIFICATION_CODE } from "../src/features/webhooks/verification-code.ts";

const body =
  '{"type":"transcriptions.transcription.completed","data":{"videoMetadata":{"filename":"años.mp4"}}}';
const [before, secret] = [newSigningSecret(), newSigningSecret()];
/** Signs with two secrets, as during a rotation. */
const sign = (timestamp = new Date()) =>
  signWebhook({ id: "event_1", timestamp, body, secrets: [secret, before] });

const CALLS = {
  Node: (code: string) => [
    process.execPath,
    "--input-type=module",
    "-e",
    `${code}
const [secret, headers, body] = process.argv.slice(1);
console.log(JSON.stringify(verify(secret, JSON.parse(headers), body)));`,
  ],
  Python: (code: string) => [
    "python3",
    "-c",
    `${code}
import sys
print(json.dumps(verify(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode())))`,
  ],
};

/** Runs the code in a folder with the installed packages and returns its output. */
async function run(
  command: string[],
  secret: string,
  headers: object,
  requestBody: string,
): Promise<unknown> {
  const [program = "", ...options] = command;
  const args = [...options, secret, JSON.stringify(headers), requestBody];
  const cwd = join(import.meta.dirname, "../..");
  const { stdout } = await promisify(execFile)(program, args, { cwd });
  return JSON.parse(stdout);
}

// The Python package is not installed on machines that run these tests.
describe.for([
  ["Node with the package", CALLS.Node(VERIFICATION_CODE.Node.withPackage)],
  ["Node, standard library", CALLS.Node(VERIFICATION_CODE.Node.standardLibrary)],
  ["Python, standard library", CALLS.Python(VERIFICATION_CODE.Python.standardLibrary)],
] as const)("the sample code for %s", ([, command]) => {
  test("accepts a signature of the current or the previous secret", async () => {
    expect(await run(command, secret, sign(), body)).toEqual(JSON.parse(body));
    expect(await run(command, before, sign(), body)).toEqual(JSON.parse(body));
  });

  test("rejects another body, another secret and an old timestamp", async () => {
    const old = new Date(Date.now() - 600_000);
    await expect(run(command, secret, sign(), body.replace("completed", "failed"))).rejects.toThrow();
    await expect(run(command, newSigningSecret(), sign(), body)).rejects.toThrow();
    await expect(run(command, secret, sign(old), body)).rejects.toThrow();
  });
});
