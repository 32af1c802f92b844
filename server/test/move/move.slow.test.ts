import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const { TEST_DATABASE_URL: server, TEST_S3: s3 } = process.env;
const REHEARSAL = join(import.meta.dirname, "../../../bench/src/move.ts");

test.skipIf(!server || !s3)(
  "subtext move that is killed while it copies files, while it copies rows and after that, loses and doubles nothing",
  { timeout: 180_000 },
  async () => {
    const args = ["--database-url", server!, "--s3", s3!, "--videos", "300", "--files", "2"];
    const rehearsal = spawn(process.execPath, [REHEARSAL, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = await Promise.all([text(rehearsal.stdout), text(rehearsal.stderr)]);
    if (rehearsal.exitCode === null) await once(rehearsal, "exit");
    expect([rehearsal.exitCode, err]).toEqual([0, ""]);
    expect(out).toMatch(/^ +compare +\d/m);
  },
);
