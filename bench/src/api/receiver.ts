import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

/**
 * Receives webhooks in a worker thread, because the embedded database blocks the main thread's event loop. Posts its
 * port, then the arrival time of each webhook in milliseconds since the epoch.
 */
const receiver = createServer((request, response) => {
  parentPort?.postMessage(performance.timeOrigin + performance.now());
  request.resume().on("end", () => response.writeHead(204).end());
});
receiver.listen(0, "127.0.0.1", () => parentPort?.postMessage((receiver.address() as AddressInfo).port));
