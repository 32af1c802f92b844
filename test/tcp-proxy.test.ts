import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startTcpProxy } from "./support/tcp-proxy.ts";

/** An echo server that closes when its client does. */
async function startBehindProxy() {
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

const failure = (socket: Socket) =>
  new Promise<string | undefined>((resolve) =>
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code)),
  );

const answerTo = async (socket: Socket, text: string) => {
  socket.write(text);
  const [piece] = (await once(socket, "data")) as [Buffer];
  return piece.toString();
};

test("carries bytes both ways, and the end of each way on its own", async () => {
  const { open } = await startBehindProxy();
  const sent = Buffer.alloc(3_000_000, "subtext");
  const socket = open();
  socket.end(sent);
  expect((await buffer(socket)).equals(sent)).toBe(true);
});

test("resets what is open when it is cut, and takes new connections", async () => {
  const { proxy, open } = await startBehindProxy();
  const socket = open();
  expect(await answerTo(socket, "a")).toBe("a");
  const failed = failure(socket);
  proxy.cut();
  expect(await failed).toBe("ECONNRESET");
  const next = open();
  expect(await answerTo(next, "b")).toBe("b");
  next.destroy();
});

test("lets nothing through while it hangs, also of new connections, and loses nothing of it", async () => {
  const { proxy, open } = await startBehindProxy();
  const before = open();
  expect(await answerTo(before, "a")).toBe("a");
  await proxy.hang();
  const during = open();
  await once(during, "connect");
  const answers = [answerTo(before, "b"), answerTo(during, "c")];
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

test("refuses connections on the port that it has, and takes them there again", async () => {
  const { proxy, open } = await startBehindProxy();
  const socket = open();
  expect(await answerTo(socket, "a")).toBe("a");
  const failed = failure(socket);
  await proxy.refuse();
  expect(await failed).toBe("ECONNRESET");
  expect(await failure(open())).toBe("ECONNREFUSED");
  await proxy.pass();
  const next = open();
  expect(await answerTo(next, "b")).toBe("b");
  next.destroy();
});

test("holds back each piece while it is slow", async () => {
  const { proxy, open } = await startBehindProxy();
  const socket = open();
  expect(await answerTo(socket, "a")).toBe("a");
  await proxy.slow(50);
  const begun = performance.now();
  expect(await answerTo(socket, "b")).toBe("b");
  expect(performance.now() - begun).toBeGreaterThan(90);
  socket.destroy();
});
