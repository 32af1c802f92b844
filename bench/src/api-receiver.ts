import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

/**
 * Receives webhooks in a separate thread, because real receivers run elsewhere: a server accepts one connection
 * per turn of its event loop, and the service's turns are long while the embedded database works. Posts its port,
 * then the time of each webhook in milliseconds since the epoch.
 */
const receiver = createServer((request, response) => {
  parentPort?.postMessage(performance.timeOrigin + performance.now());
  request.resume().on("end", () => response.writeHead(204).end());
});
receiver.listen(0, "127.0.0.1", () => parentPort?.postMessage((receiver.address() as AddressInfo).port));
