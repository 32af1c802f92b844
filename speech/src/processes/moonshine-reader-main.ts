import { parentPort } from "node:worker_threads";
import { readMoonshine } from "../engines/moonshine/model.ts";
import { type ErrorMessage, toErrorMessage } from "./process-messages.ts";

export type FromReader =
  | { type: "read"; model: Awaited<ReturnType<typeof readMoonshine>> }
  | { type: "unusable"; error: ErrorMessage };

const answer: FromReader = await readMoonshine().then(
  (model) => ({ type: "read", model }),
  (error) => ({ type: "unusable", error: toErrorMessage(error) }),
);
parentPort!.postMessage(answer);
