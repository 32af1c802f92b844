import type { Socket } from "node:net";

/** Ignores errors, because the server resets the connection if it did not read the whole request. */
export function readUntilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.once("close", () => resolve(received));
  });
}
