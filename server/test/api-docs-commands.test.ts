import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createTenant, shareService, temporaryFolder, upload } from "./support/service.ts";

const docs = readFileSync(join(import.meta.dirname, "../../docs/api.md"), "utf8");
const blocks = [...docs.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = ""]) => commands);
const service = shareService({ start: false });

test("the curl commands of docs/api.md run as they stand, in their order", async () => {
  const tenant = await createTenant(service);
  const videoId = await upload(service, tenant, Buffer.from("not media"));
  const created = await fetch(`${service.url}/api/v1/webhook-endpoints`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: '{"url":"https://example.com/hook"}',
  });
  const { id: endpointId } = (await created.json()) as { id: string };
  const home = await temporaryFolder();
  await writeFile(join(home, "meeting.mp4"), "not media either");
  await writeFile(join(home, ".curlrc"), "fail-with-body\nsilent\nshow-error\n");
  const curls = blocks.filter((block) => block.startsWith("curl "));
  expect(curls.length).toBeGreaterThan(4);
  // Not every machine has the program.
  const uuidgen = "uuidgen() { cat /proc/sys/kernel/random/uuid; }\n";
  const shell = spawn("bash", ["--norc", "-euo", "pipefail", "-c", uuidgen + curls.join("\n")], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      SUBTEXT_URL: service.url,
      SUBTEXT_KEY: tenant.key,
      VIDEO_ID: videoId,
      ENDPOINT_ID: endpointId,
    },
  });
  const [out, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  const code = shell.exitCode ?? (await once(shell, "exit"))[0];
  expect([code, errors, out]).toEqual([0, "", expect.stringContaining("video_")]);
  expect(out).not.toContain("/docs/errors#");
});
