import type { Socket } from "node:net";

/** Everything until the connection closed, by a reset if the server did not read the whole request. */
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
