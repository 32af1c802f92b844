import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

/**
 * Receives webhooks in a separate thread, like a real receiver on another machine. In the main thread, the embedded
 * database blocks the event loop, and a server accepts only one connection per iteration. Posts its port, then the time
 * of each webhook in milliseconds since the epoch.
 */
const receiver = createServer((request, response) => {
  parentPort?.postMessage(performance.timeOrigin + performance.now());
  request.resume().on("end", () => response.writeHead(204).end());
});
receiver.listen(0, "127.0.0.1", () => parentPort?.postMessage((receiver.address() as AddressInfo).port));
