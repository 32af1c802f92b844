import type { NodeAvReply, NodeAvRequest } from "./node-av-messages.ts";

/*
 * Entry point of the child process that runs node-av. `node-av.ts` starts one process per request. node-av is imported
 * dynamically, so that a failure to load its native code is reported as `unloadable`.
 */

// The channel is disconnected if the parent exits.
process.once("disconnect", () => process.exit(1));

process.send!(await reply(JSON.parse(process.argv[2]!) as NodeAvRequest), () => process.exit(0));

async function reply(request: NodeAvRequest): Promise<NodeAvReply> {
  let requests: typeof import("./node-av-requests.ts");
  try {
    requests = await import("./node-av-requests.ts");
  } catch (error) {
    return { kind: "unloadable", message: messageOf(error) };
  }
  try {
    return await requests.handleRequest(request);
  } catch (error) {
    return { kind: "failed", message: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
