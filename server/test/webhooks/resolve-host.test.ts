import { createSocket, type RemoteInfo } from "node:dgram";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { temporaryFolder } from "../support/service.ts";

/** Answers IPv4 queries with the address given for the name; does not respond if it is undefined. */
async function startNameServer(
  answers: Record<string, string>,
): Promise<{ address: string; asked: string[] }> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query: Buffer, from: RemoteInfo) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join(".");
    asked.push(name);
    const answer = answers[name];
    if (answer === undefined) return;
    const isV4 = query.readUInt16BE(at + 1) === 1;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isV4 ? 1 : 0, 6);
    header.fill(0, 8, 12);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...answer.split(".").map(Number)]);
    socket.send(
      Buffer.concat([header, query.subarray(12, at + 5), ...(isV4 ? [record] : [])]),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked };
}

test("a name server that never responds delays neither other names nor file access, and the query times out", async () => {
  const { address, asked } = await startNameServer({ "quick.example": "192.0.2.7" });
  const resolve = createHostResolver({ servers: [address] });
  const ended: string[] = [];
  const slow = Array.from({ length: 32 }, async (_none, number) => {
    await expect(resolve(`slow${number}.example`)).rejects.toMatchObject({ code: "ETIMEOUT" });
    ended.push("slow");
  });
  expect(await resolve("quick.example")).toEqual([{ address: "192.0.2.7", family: 4 }]);
  await writeFile(join(await temporaryFolder(), "file"), "x");
  ended.push("quick");
  await Promise.all(slow);
  expect(ended[0]).toBe("quick");
  expect(new Set(asked).size).toBe(33);
});

test("the hosts file takes precedence, is case-insensitive, and its comments are ignored", async () => {
  const hostsFile = join(await temporaryFolder(), "hosts");
  await writeFile(
    hostsFile,
    "127.0.0.1 localhost\n10.1.2.3\tReceiver.internal receiver # old\n::1 receiver\n# 9.9.9.9 gone.example\n",
  );
  const { address } = await startNameServer({ "gone.example": "192.0.2.8" });
  const resolve = createHostResolver({ hostsFile, servers: [address] });
  expect(await resolve("RECEIVER")).toEqual([
    { address: "10.1.2.3", family: 4 },
    { address: "::1", family: 6 },
  ]);
  expect(await resolve("receiver.internal.")).toEqual([{ address: "10.1.2.3", family: 4 }]);
  expect(await resolve("gone.example")).toEqual([{ address: "192.0.2.8", family: 4 }]);
});
