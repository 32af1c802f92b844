import { type ReceivedEvent, SubtextError, verifyWebhook } from "@subtext/client";
import { fastify } from "fastify";

/** The signing secret of your webhook endpoint, or both secrets during a rotation, separated by a space. */
const secrets = process.env.SUBTEXT_WEBHOOK_SECRET?.split(" ");
/**
 * An event may arrive more than once. In production, use a table with a unique column, and queue the event in the same
 * transaction. Otherwise, a crash loses events that were accepted.
 */
const seen = new Set<string>();

const app = fastify({ requestTimeout: 30_000 });

app.setErrorHandler((error, _request, reply) => {
  const isInvalid = error instanceof SubtextError && error.code !== "webhook_secret_invalid";
  if (!isInvalid) console.error(error);
  // The service retries unless the status is 2xx. 500 means that the error is in this program.
  return reply.code(isInvalid ? 400 : 500).send();
});

await app.register(async (webhooks) => {
  // The signature covers the raw bytes, so this plugin does not parse JSON.
  webhooks.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  webhooks.post<{ Body: Buffer }>("/webhooks/subtext", async ({ headers, body }, reply) => {
    const { id, event } = await verifyWebhook({ headers, body }, secrets);
    // Without an `await` between these lines, a concurrent duplicate cannot be handled twice.
    const isNew = !seen.has(id);
    seen.add(id);
    // Respond first: processing may take longer than the service waits.
    reply.code(204).send();
    if (isNew) {
      handleEvent(event).catch((error) => {
        // You can redeliver the event from the dashboard. In production, use a job queue that retries automatically.
        seen.delete(id);
        console.error(`handling event ${id} failed:`, error);
      });
    }
    return reply;
  });
});

async function handleEvent(event: ReceivedEvent): Promise<void> {
  if (event.type !== "transcriptions.transcription.completed") return;
  const { videoId, language, files } = event.data;
  // The URLs expire after five minutes, so download the content now.
  const file = await fetch(files.txt.url, { signal: AbortSignal.timeout(30_000) });
  if (!file.ok) throw new Error(`Fetching the transcript failed with status ${file.status}.`);
  console.log(JSON.stringify({ videoId, language, text: await file.text() }));
}

await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log(JSON.stringify({ listening: app.server.address() }));
