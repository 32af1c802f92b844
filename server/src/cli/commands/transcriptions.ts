import { TRANSCRIPTION_STATUSES, type TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { LanguageSegment } from "@subtext/speech/transcript";
import { type Command, Option } from "commander";
import type { QueueView, TranscriptionView } from "../../admin/contract/transcription.ts";
import type { TranscriptionSummaryView } from "../../admin/contract/video.ts";
import { environmentOption, environmentParams } from "../arguments.ts";
import { runOnService, type Terminal } from "../context.ts";
import { counted, length, properties, table, time } from "../text.ts";

export function addTranscriptions(program: Command, terminal: Terminal): void {
  const group = program.command("transcriptions").description("show and cancel transcriptions");

  runOnService(
    group
      .command("list")
      .description("list the latest transcriptions of an environment")
      .addOption(environmentOption("name or id of the environment; optional if there is only one"))
      .addOption(
        new Option("--status <status>", "only transcriptions with this status").choices(
          TRANSCRIPTION_STATUSES,
        ),
      ),
    terminal,
    async (client, { env, status }: { env?: string; status?: TranscriptionStatus }) => {
      const params = await environmentParams(client, env);
      const query = { status };
      return (await client.send("GET /environments/:environment/transcriptions", { params, query })).data;
    },
    (transcriptions) =>
      table(
        ["id", "video", "status", "length", "words", "language", "created"],
        transcriptions.map((each) => [
          each.id,
          each.videoId,
          statusOf(each),
          length(each.duration),
          each.wordCount === null ? "–" : String(each.wordCount),
          each.language ?? "–",
          time(each.createdAt),
        ]),
        "There are no transcriptions.",
      ),
  );

  runOnService(
    group.command("show <id>").description("show one transcription; also takes a video's id"),
    terminal,
    (client, id: string) => client.send("GET /transcriptions/:id", { params: { id } }),
    describe,
  );

  runOnService(
    group
      .command("cancel <id>")
      .description("cancel a waiting or running transcription; also takes a video's id"),
    terminal,
    (client, id: string) => client.send("POST /transcriptions/:id/cancel", { params: { id } }),
    (transcription) => `The transcription ${transcription.id} was canceled.`,
  );

  runOnService(
    program
      .command("reprocess <id>")
      .description("reprocess a failed transcription; also takes a video's id"),
    terminal,
    (client, id: string) => client.send("POST /transcriptions/:id/reprocess", { params: { id } }),
    (transcription) => `The transcription ${transcription.id} is PENDING again.`,
  );
}

function statusOf(transcription: TranscriptionSummaryView & QueueView): string {
  const { status, progress, remainingSeconds, failure, skipReason, startsInSeconds } = transcription;
  if (status === "PROCESSING") {
    const left = remainingSeconds === null ? "" : `, ${length(remainingSeconds)} left`;
    return `PROCESSING ${Math.floor(progress * 100)}%${left}`;
  }
  if (status === "PENDING" && startsInSeconds !== null)
    return `PENDING, starts in ${length(startsInSeconds)}`;
  if (status === "FAILED" && failure) return `FAILED ${failure.code}`;
  return status === "SKIPPED" && skipReason ? `SKIPPED ${skipReason}` : status;
}

function describe(transcription: TranscriptionView): string {
  const { failure, stages, video, events } = transcription;
  return properties([
    ["transcription", transcription.id],
    ["video", transcription.videoId],
    ["file", video.metadata.filename ?? video.metadata.name ?? null],
    ["size", video.sizeBytes === null ? null : `${video.sizeBytes} bytes`],
    ["status", statusOf(transcription)],
    ["reason", failure?.message ?? null],
    ["attempt", String(transcription.attempt)],
    ["length", length(transcription.duration)],
    ["language", transcription.language],
    ["words", transcription.wordCount === null ? null : String(transcription.wordCount)],
    ["incomplete", transcription.incomplete ? "damaged parts of the recording are missing" : null],
    ["engine", transcription.engine],
    ...(transcription.languageSegments ?? []).map((segment): [string, string] => [
      "segment",
      segmentText(segment),
    ]),
    ["decoder", transcription.decoder],
    ["stages", stages === null ? null : stageTimes(stages)],
    ["uploaded", time(video.uploadedAt)],
    ["started", time(transcription.startedAt)],
    ["finished", time(transcription.finishedAt)],
    ...events.map((event): [string, string] => [
      "event",
      [`${event.type} ${time(event.createdAt)}`, ...event.deliveries.map(deliveryText)].join(", "),
    ]),
  ]);
}

function stageTimes(stages: NonNullable<TranscriptionView["stages"]>): string {
  return Object.entries(stages)
    .map(([stage, seconds]) => `${stage} ${seconds.toFixed(2)} s`)
    .join(", ");
}

function segmentText(segment: LanguageSegment): string {
  const { start, end, language, probability, engine, words, hasEstimatedTimes } = segment;
  const confidence = `${Math.round(probability * 100)}%`;
  const times = hasEstimatedTimes ? " with estimated times" : "";
  return `${length(start)} – ${length(end)} ${language} (${confidence}) by ${engine}, ${counted(words, "word")}${times}`;
}

function deliveryText({
  endpointId,
  status,
  attempts,
}: TranscriptionView["events"][number]["deliveries"][number]) {
  return `${status} to ${endpointId} (${counted(attempts, "attempt")})`;
}
