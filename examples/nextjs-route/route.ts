import { type ReceivedEvent, SubtextError, verifyWebhook } from "@subtext/client";

// In a Next.js app, this file is `app/webhooks/subtext/route.ts`. The handler also works in other frameworks with
// `Request` and `Response`, such as Cloudflare Workers, Deno, Bun, Hono, SvelteKit, Remix and Astro.

/**
 * An event may arrive more than once. In production, use a table with a unique column, and queue the event in the same
 * transaction. Otherwise, a crash loses events that were accepted.
 */
const seen = new Set<string>();

export async function POST(request: Request): Promise<Response> {
  try {
    // The signing secret of your webhook endpoint, or both secrets during a rotation, separated by a space.
    const secrets = process.env.SUBTEXT_WEBHOOK_SECRET?.split(" ");
    const { id, event } = await verifyWebhook(request, secrets);
    // Without an `await` between these lines, a concurrent duplicate cannot be handled twice.
    const isNew = !seen.has(id);
    seen.add(id);
    // Respond first: processing may take longer than the service waits. If your platform stops a function after its
    // response, pass the promise to `after` of next/server or to `waitUntil`.
    if (isNew) void handleOnce(id, event);
    return new Response(null, { status: 204 });
  } catch (error) {
    // The service retries unless the status is 2xx. 500 means that the error is in this program.
    const isInvalid = error instanceof SubtextError && error.code !== "webhook_secret_invalid";
    if (isInvalid) return new Response(error.code, { status: 400 });
    console.error(error);
    return new Response(null, { status: 500 });
  }
}

async function handleOnce(id: string, event: ReceivedEvent): Promise<void> {
  try {
    await handleEvent(event);
  } catch (error) {
    // You can redeliver the event from the dashboard. In production, use a job queue that retries automatically.
    seen.delete(id);
    console.error(`handling event ${id} failed:`, error);
  }
}

async function handleEvent(event: ReceivedEvent): Promise<void> {
  switch (event.type) {
    case "transcriptions.transcription.completed": {
      const { videoId, language, files } = event.data;
      // The URLs expire after five minutes, so download the content now.
      const file = await fetch(files.txt.url, { signal: AbortSignal.timeout(30_000) });
      if (!file.ok) throw new Error(`Fetching the transcript failed with status ${file.status}.`);
      console.log(JSON.stringify({ videoId, language, text: await file.text() }));
      break;
    }
    case "transcriptions.transcription.failed":
      console.log(JSON.stringify({ videoId: event.data.videoId, error: event.data.error.code }));
      break;
    case "transcriptions.transcription.skipped":
      console.log(JSON.stringify({ videoId: event.data.videoId, reason: event.data.reason }));
      break;
    case "transcriptions.transcription.updated":
      console.log(JSON.stringify({ videoId: event.data.videoId, updated: true }));
      break;
    case "webhooks.endpoint.test":
      console.log(JSON.stringify({ test: event.data.webhookEndpointId }));
  }
}
