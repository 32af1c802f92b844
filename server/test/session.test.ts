import { once } from "node:events";
import { createServer } from "node:net";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { openSession } from "../src/db/session.ts";

test("a connection that is never made is an error of the opening, and of nothing else", async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").on("uncaughtException", note);
  try {
    const { port } = server.address() as { port: number };
    const databaseUrl = `postgres://user@127.0.0.1:${port}/none`;
    await expect(openSession({ databaseUrl, log: pino({ level: "silent" }) })).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of others) process.on("uncaughtException", listener);
  }
  expect(uncaught).toEqual([]);
});
