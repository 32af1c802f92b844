import { SubtextError, verifyWebhook } from "@subtext/client";
import { fastify } from "fastify";

/** Of your webhook endpoint; during a rotation the new and the old one, parted by a space. */
const secrets = (process.env.SUBTEXT_WEBHOOK_SECRET ?? "").split(" ");
/** Deliveries come at least once: what was seen is not done again. A table, in earnest. */
const seen = new Set<string>();

const app = fastify();

app.setErrorHandler((error, _request, reply) => {
  // Anything but 2xx makes the service try again later.
  return reply.code(error instanceof SubtextError ? 400 : 500).send();
});

await app.register(async (webhooks) => {
  // The signature is over the bytes as they came, so in here JSON is left unparsed.
  webhooks.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  webhooks.post<{ Body: Buffer }>("/webhooks/subtext", async ({ headers, body }, reply) => {
    const { id, event } = await verifyWebhook({ headers, body }, secrets);
    if (!seen.has(id) && event.type === "transcriptions.transcription.completed") {
      const { videoId, language, files } = event.data;
      // The URLs live for five minutes: fetch the content now, and keep that.
      const text = await (await fetch(files.txt.url)).text();
      console.log(JSON.stringify({ videoId, language, text }));
    }
    seen.add(id);
    return reply.code(204).send();
  });
});

await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log(JSON.stringify({ listening: app.server.address() }));
