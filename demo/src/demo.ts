import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Word } from "@subtext/captions/words";
import type { Transcription } from "@subtext/client/contract/transcription";
import { createApiKey } from "@subtext/server/api-keys/api-keys";
import { readConfig } from "@subtext/server/config/config";
import { createEnvironment } from "@subtext/server/environments/environments";
import { systemClock } from "@subtext/server/lib/clock";
import { openService, type Service } from "@subtext/server/main";
import { createLog } from "@subtext/server/telemetry/log";
import { findTranscriptionByVideo } from "@subtext/server/transcription/queries";
import { createWebhookEndpoint } from "@subtext/server/webhooks/endpoints";
import * as tus from "tus-js-client";
import { Receiver } from "./receiver.ts";
import { printStep, printTable, progressLine } from "./terminal.ts";
import { renderWatchPage } from "./watch-page.ts";

const SAMPLE = join(import.meta.dirname, "../sample/sample.mp4");

const { values: options } = parseArgs({ options: { exit: { type: "boolean", default: false } } });
const dataFolder = await mkdtemp(join(tmpdir(), "subtext-demo-"));
const receiver = new Receiver();
let service: Service | undefined;
try {
  const baseUrl = await startService();
  await runDemo(baseUrl);
  if (!options.exit) await untilInterrupted();
} finally {
  receiver.close();
  await service?.stop();
  await rm(dataFolder, { recursive: true, force: true });
}

async function startService(): Promise<string> {
  const port = await freePort();
  const config = readConfig({
    PORT: String(port),
    DATA_DIR: dataFolder,
    FFMPEG_PATH: process.env.FFMPEG_PATH,
    // The sample is in English, so the demo does not need the multilingual model of several hundred megabytes.
    MODEL_DOWNLOAD: "off",
    LOG_LEVEL: process.env.LOG_LEVEL ?? "warn",
    // By default, webhooks to loopback addresses are blocked.
    WEBHOOK_ALLOW_HTTP: "true",
    WEBHOOK_ALLOW_NETWORKS: "127.0.0.1/32",
  });
  service = await openService({ config, log: createLog(config.logLevel) });
  await service.start();
  printStep("The service is running", config.publicUrl);
  return config.publicUrl;
}

/** Uses the HTTP API like an integrator, after creating an environment, an API key and a webhook endpoint directly. */
async function runDemo(baseUrl: string): Promise<void> {
  const { database, endpointPolicy: policy } = runningService().parts;
  const deps = { db: database.kysely, clock: systemClock, policy };
  const receiverUrl = await receiver.listen();

  const environment = await createEnvironment(deps, { name: "Demo", aiTranscription: true });
  printStep("An environment with AI Transcription on", environment.id);
  const { key } = await createApiKey(deps, {
    environmentId: environment.id,
    name: "demo",
    permissions: ["create_video", "get_video"],
    expiresAt: null,
  });
  printStep("An API key", `${key.slice(0, 20)}…`);
  const endpoint = await createWebhookEndpoint(deps, {
    environmentId: environment.id,
    url: `${receiverUrl}/webhook`,
    metadata: { receiver: "demo" },
  });
  receiver.setSecret(endpoint.secret);
  printStep("A webhook endpoint", `${receiverUrl}/webhook`);

  const videoId = await upload(baseUrl, key);
  const uploadedAtMs = performance.now();
  printStep("Uploaded over tus", videoId);
  const webhook = await waitForWebhook(videoId);
  printStep(
    "The webhook arrived with a valid signature (standardwebhooks)",
    `${webhook.payload.type}, ${webhook.id}`,
  );

  const transcription = await readTranscription(baseUrl, key, videoId);
  const { vtt, json, txt } = await fetchFiles(transcription);
  const words = JSON.parse(json) as Word[];
  printStep(
    "Read with the API key",
    `${transcription.status}, language ${transcription.language}, ${transcription.wordCount} words, ${transcription.duration} s`,
  );
  printStep(
    "Fetched from the signed URLs",
    `VTT ${vtt.length}, JSON ${json.length}, TXT ${txt.length} characters`,
  );

  console.log(`\n${txt.trim().replace(/^/gm, "    ")}\n`);
  printTable(
    ["word", "start", "end"],
    words.slice(0, 8).map(({ word, start, end }) => [word, `${start.toFixed(3)} s`, `${end.toFixed(3)} s`]),
  );
  await printTimings(videoId, { seconds: (webhook.receivedAtMs - uploadedAtMs) / 1000 });

  const video = await readFile(SAMPLE);
  receiver.show(async () => {
    const fresh = await readTranscription(baseUrl, key, videoId);
    return renderWatchPage({
      videoUrl: "/sample.mp4",
      vttUrl: fresh.files?.vtt.url ?? "",
      language: fresh.language ?? "und",
      words,
    });
  }, video);
  if (options.exit) return;
  printStep("Watch it with its captions", receiverUrl);
  console.log(`  or upload a video of your own with any tus client to ${baseUrl}/api/v1/uploads`);
  console.log(`  with the header  Authorization: Bearer ${key}`);
  console.log("  Ctrl-C stops the demo and deletes its data.");
}

async function upload(baseUrl: string, key: string): Promise<string> {
  const { size } = await stat(SAMPLE);
  const line = progressLine("Uploading");
  return await new Promise((resolve, reject) => {
    const tusUpload = new tus.Upload(createReadStream(SAMPLE), {
      endpoint: `${baseUrl}/api/v1/uploads`,
      headers: { authorization: `Bearer ${key}` },
      uploadSize: size,
      chunkSize: 128 * 1024,
      metadata: { filename: "sample.mp4", title: "The sample video" },
      onProgress: (sent, total) => line.show(sent / total),
      onError: reject,
      onSuccess: () => {
        line.end();
        resolve(tusUpload.url?.split("/").at(-1) ?? "");
      },
    });
    tusUpload.start();
  });
}

async function waitForWebhook(videoId: string) {
  const line = progressLine("Transcribing");
  const failed = Promise.withResolvers<never>();
  const check = async () => {
    const row = await findTranscriptionByVideo(runningService().parts.database.kysely, videoId);
    if (row) line.show(row.progress, row.status);
    if (row?.status !== "FAILED") return;
    throw new Error(`the transcription failed: ${row.failure_code}: ${row.failure_message}`);
  };
  const timer = setInterval(() => check().catch(failed.reject), 200);
  try {
    return await Promise.race([receiver.received, failed.promise]);
  } finally {
    clearInterval(timer);
    line.end();
  }
}

async function readTranscription(baseUrl: string, key: string, videoId: string): Promise<Transcription> {
  const response = await fetch(`${baseUrl}/api/v1/videos/${videoId}/transcription`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok)
    throw new Error(`the read endpoint responded with ${response.status}: ${await response.text()}`);
  return (await response.json()) as Transcription;
}

async function fetchFiles({ files }: Transcription): Promise<{ vtt: string; json: string; txt: string }> {
  if (!files) throw new Error("the transcription has no files");
  const [vtt, json, txt] = await Promise.all(
    [files.vtt, files.json, files.txt].map(async ({ url }) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
      return await response.text();
    }),
  );
  return { vtt: vtt ?? "", json: json ?? "", txt: txt ?? "" };
}

async function printTimings(videoId: string, total: { seconds: number }): Promise<void> {
  const row = await findTranscriptionByVideo(runningService().parts.database.kysely, videoId);
  if (!row?.stages || !row.started_at || !row.finished_at || row.duration === null) return;
  const { probe, decode, voiceActivity, engine, total: speech } = row.stages;
  const queued = (row.started_at.getTime() - row.created_at.getTime()) / 1000;
  const worked = (row.finished_at.getTime() - row.started_at.getTime()) / 1000;
  const seconds = (value: number) => `${value.toFixed(2)} s`;
  console.log();
  printTable(
    ["step", "time"],
    [
      ["queued", seconds(queued)],
      ["probe", seconds(probe)],
      [`decode (${row.decoder})`, seconds(decode)],
      ["voice activity", seconds(voiceActivity)],
      [`engine (${row.engine})`, seconds(engine)],
      ["engine start-up, captions, storage", seconds(Math.max(0, worked - Math.min(speech, worked)))],
      ["from completion to the verified webhook", seconds(Math.max(0, total.seconds - queued - worked))],
      ["total, from the last uploaded byte", seconds(total.seconds)],
    ],
  );
  console.log(
    `\n  ${(row.duration / total.seconds).toFixed(0)}× real time; the first video also waits for the model to load.\n`,
  );
}

function runningService(): Service {
  if (!service) throw new Error("The service is not running.");
  return service;
}

async function untilInterrupted(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
  console.log("\nStopping …");
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
