import { SubtextError, verifyWebhook } from "@subtext/client";
import express from "express";

/** Of your webhook endpoint; during a rotation the new and the old one, parted by a space. */
const secrets = (process.env.SUBTEXT_WEBHOOK_SECRET ?? "").split(" ");
/** Deliveries come at least once: what was seen is not done again. A table, in earnest. */
const seen = new Set<string>();

const app = express();

// The signature is over the bytes as they came: no `express.json()` may parse them before.
app.post("/webhooks/subtext", express.raw({ type: "application/json" }), async (request, response) => {
  const { id, event } = await verifyWebhook({ headers: request.headers, body: request.body }, secrets);
  if (!seen.has(id) && event.type === "transcriptions.transcription.completed") {
    const { videoId, language, files } = event.data;
    // The URLs live for five minutes: fetch the content now, and keep that.
    const text = await (await fetch(files.txt.url)).text();
    console.log(JSON.stringify({ videoId, language, text }));
  }
  seen.add(id);
  response.sendStatus(204);
});

app.use(((error, _request, response, _next) => {
  // Anything but 2xx makes the service try again later.
  response.sendStatus(error instanceof SubtextError ? 400 : 500);
}) satisfies express.ErrorRequestHandler);

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(JSON.stringify({ listening: server.address() }));
});
