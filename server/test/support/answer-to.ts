import type { Socket } from "node:net";

/** All that came until the connection closed, which may be by a reset where not all that was sent was read. */
export function answerTo(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.once("close", () => resolve(answer));
  });
}
