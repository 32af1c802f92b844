import type { NodeAvReply, NodeAvRequest } from "./node-av-messages.ts";

/*
 * Entry point of the process in which node-av decodes. `node-av.ts` starts it with one request. Imports node-av only
 * then, because its native code may not run on this machine.
 */

// The channel is disconnected if the parent exits.
process.once("disconnect", () => process.exit(1));

process.send!(await reply(JSON.parse(process.argv[2]!) as NodeAvRequest), () => process.exit(0));

async function reply(request: NodeAvRequest): Promise<NodeAvReply> {
  const requests = await import("./node-av-requests.ts").catch(messageOf);
  if (typeof requests === "string") return { kind: "unloadable", message: requests };
  return await requests
    .handleRequest(request)
    .catch((error) => ({ kind: "failed", message: messageOf(error) }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
