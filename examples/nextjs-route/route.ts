import { type ReceivedEvent, SubtextError, verifyWebhook } from "@subtext/client";

// In a Next.js app this file is `app/webhooks/subtext/route.ts`. A route handler takes a `Request` and gives a
// `Response`, and so do Cloudflare Workers, Deno, Bun, Hono, SvelteKit, Remix and Astro.

/** Deliveries come at least once: what was seen is not done again. A table, in earnest. */
const seen = new Set<string>();

export async function POST(request: Request): Promise<Response> {
  try {
    // Of your webhook endpoint; during a rotation the new and the old one, parted by a space.
    const secrets = (process.env.SUBTEXT_WEBHOOK_SECRET ?? "").split(" ");
    const { id, event } = await verifyWebhook(request, secrets);
    if (!seen.has(id)) await take(event);
    seen.add(id);
    return new Response(null, { status: 204 });
  } catch (error) {
    // Anything but 2xx makes the service try again later.
    if (error instanceof SubtextError) return new Response(error.code, { status: 400 });
    throw error;
  }
}

async function take(event: ReceivedEvent): Promise<void> {
  switch (event.type) {
    case "transcriptions.transcription.completed": {
      const { videoId, language, files } = event.data;
      // The URLs live for five minutes: fetch the content now, and keep that.
      const text = await (await fetch(files.txt.url)).text();
      console.log(JSON.stringify({ videoId, language, text }));
      break;
    }
    case "transcriptions.transcription.failed":
      console.log(JSON.stringify({ videoId: event.data.videoId, error: event.data.error.code }));
      break;
    case "transcriptions.transcription.skipped":
      console.log(JSON.stringify({ videoId: event.data.videoId, reason: event.data.reason }));
      break;
    case "webhooks.endpoint.test":
      console.log(JSON.stringify({ test: event.data.webhookEndpointId }));
  }
}
