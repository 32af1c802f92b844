import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

/**
 * Takes webhooks, in a thread of its own, for receivers are elsewhere: a server accepts one connection at each
 * turn of its event loop, and those of the service are long while the embedded database works. Tells its port,
 * then when each came, in milliseconds since the epoch.
 */
const receiver = createServer((request, response) => {
  parentPort?.postMessage(performance.timeOrigin + performance.now());
  request.resume().on("end", () => response.writeHead(204).end());
});
receiver.listen(0, "127.0.0.1", () => parentPort?.postMessage((receiver.address() as AddressInfo).port));
