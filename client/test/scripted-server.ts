import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is text. */
  body?: unknown;
}

/** `cut` closes the connection without a response, `hang` never responds. */
export type Step = Answer | "cut" | "hang";

/** An HTTP server that sends scripted responses in order, then repeats the last one. */
export async function startScriptedServer(
  ...script: Step[]
): Promise<{ url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const step = script[Math.min(requests.length, script.length - 1)] ?? {};
    requests.push({ method, url, headers, body: await text(request) });
    if (step === "hang") return;
    if (step === "cut") {
      request.socket.destroy();
      return;
    }
    const { status = 200, body } = step;
    const content = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...step.headers }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export function problem(status: number, code: string, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
    body: { type: "", title: "T", status, detail: "What happened.", instance: "/", code, requestId: "r-1" },
  };
}
