import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startTcpProxy } from "./support/tcp-proxy.ts";

/** The echo server ends a connection when its client does. */
async function startEchoServerBehindProxy() {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {}).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await startTcpProxy({ port: (server.address() as AddressInfo).port });
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  const open = () => connect({ port: proxy.port, allowHalfOpen: true });
  return { proxy, open };
}

const untilError = (socket: Socket) =>
  new Promise<string | undefined>((resolve) =>
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code)),
  );

const sendAndReceive = async (socket: Socket, text: string) => {
  socket.write(text);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString();
};

test("relays bytes in both directions, and ends each direction separately", async () => {
  const { open } = await startEchoServerBehindProxy();
  const sent = Buffer.alloc(3_000_000, "subtext");
  const socket = open();
  socket.end(sent);
  expect((await buffer(socket)).equals(sent)).toBe(true);
});

test("resets open connections when it is cut, and accepts new ones", async () => {
  const { proxy, open } = await startEchoServerBehindProxy();
  const socket = open();
  expect(await sendAndReceive(socket, "a")).toBe("a");
  const failed = untilError(socket);
  proxy.cut();
  expect(await failed).toBe("ECONNRESET");
  const next = open();
  expect(await sendAndReceive(next, "b")).toBe("b");
  next.destroy();
});

test("transfers nothing while it hangs, and loses no data", async () => {
  const { proxy, open } = await startEchoServerBehindProxy();
  const before = open();
  expect(await sendAndReceive(before, "a")).toBe("a");
  await proxy.hang();
  const during = open();
  await once(during, "connect");
  const answers = [sendAndReceive(before, "b"), sendAndReceive(during, "c")];
  const received = await Promise.race([
    ...answers,
    new Promise((resolve) => setTimeout(resolve, 100, "nothing")),
  ]);
  expect(received).toBe("nothing");
  await proxy.pass();
  expect(await Promise.all(answers)).toEqual(["b", "c"]);
  before.destroy();
  during.destroy();
});

test("refuses connections, then accepts them on the same port", async () => {
  const { proxy, open } = await startEchoServerBehindProxy();
  const socket = open();
  expect(await sendAndReceive(socket, "a")).toBe("a");
  const failed = untilError(socket);
  await proxy.refuse();
  expect(await failed).toBe("ECONNRESET");
  expect(await untilError(open())).toBe("ECONNREFUSED");
  await proxy.pass();
  const next = open();
  expect(await sendAndReceive(next, "b")).toBe("b");
  next.destroy();
});

test("delays each chunk while it is slow", async () => {
  const { proxy, open } = await startEchoServerBehindProxy();
  const socket = open();
  expect(await sendAndReceive(socket, "a")).toBe("a");
  await proxy.slow(50);
  const startedAt = performance.now();
  expect(await sendAndReceive(socket, "b")).toBe("b");
  expect(performance.now() - startedAt).toBeGreaterThan(90);
  socket.destroy();
});
