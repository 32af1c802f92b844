import type { Socket } from "node:net";
import { expect, test } from "vitest";
import type { OperatorView } from "../../src/admin/contract/operator.ts";
import { createTenant, shareService, until } from "../support/service.ts";
import { addOperator, cookieOf, sendAsCommandLine, signIn } from "./operator-requests.ts";

const subtext = shareService({ start: false });

test("a stream ends at the next heartbeat after the role in its environment was taken away", async () => {
  const { environmentId: here } = await createTenant(subtext);
  const { environmentId: there } = await createTenant(subtext);
  const environments = [here, there].map((environment) => ({ environment, role: "editor" as const }));
  const credentials = await addOperator(subtext, { email: "editor@subtext.example", environments });
  const cookie = cookieOf(await signIn(subtext, credentials));
  const open = async (environmentId: string) =>
    await fetch(`${subtext.url}/internal/environments/${environmentId}/videos/changes`, {
      headers: { cookie },
    });
  const sockets: Socket[] = [];
  subtext.service.parts.app.server.on("connection", (socket) => sockets.push(socket));
  const [lost, kept] = await Promise.all([open(here), open(there)]);
  expect([lost.status, kept.status]).toEqual([200, 200]);

  const { data } = (await sendAsCommandLine(subtext, "/operators")).json<{ data: OperatorView[] }>();
  const body = { environments: [{ environment: there, role: "viewer" }] };
  await sendAsCommandLine(subtext, `/operators/${data[0]!.id}`, { method: "PATCH", body });

  const listeners = () => sockets.reduce((sum, socket) => sum + socket.listenerCount("end"), 0);
  const before = listeners();
  expect(await untilHeartbeat(lost)).toBe("retry: 2000\n\n");
  await until(async () => listeners() === before - 1);
  expect(await untilHeartbeat(kept)).toContain(":\n\n");
  expect((await open(here)).status).toBe(404);
}, 60_000);

/** Returns what the stream sends up to its first heartbeat, or until it ends. */
async function untilHeartbeat({ body }: Response): Promise<string> {
  let received = "";
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    received += text;
    if (received.includes(":\n\n")) break;
  }
  return received;
}
