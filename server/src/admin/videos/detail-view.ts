import type { TranscriptionAttemptRow, TranscriptionRow } from "../../db/tables/transcriptions.ts";
import type { VideoRow } from "../../db/tables/videos.ts";
import { uploadedFileName } from "../../resources/serializers.ts";
import type { EventWithDeliveries } from "../../webhooks/queries.ts";
import type { VideoView } from "../contract/video.ts";
import type {
  AttemptView,
  EventView,
  MediaView,
  TimelineStep,
  TimelineStepView,
  TranscriptionDetailView,
  VideoDetailView,
} from "../contract/video-detail.ts";
import { toTranscriptionSummaryView } from "../serializers.ts";

export interface TranscriptionHistory {
  /** In order. */
  attempts: TranscriptionAttemptRow[];
  /** In order. */
  events: EventWithDeliveries[];
  /** Keyed by endpoint id. */
  endpointUrls: Map<string, string>;
}

export function toVideoDetailView(
  view: VideoView,
  known: {
    video: VideoRow;
    media: MediaView | null;
    source: VideoRow | undefined;
    transcription: (TranscriptionHistory & { row: TranscriptionRow }) | null;
  },
): VideoDetailView {
  const { video, media, source, transcription } = known;
  return {
    ...view,
    metadata: video.metadata,
    media,
    recordingDeletedAt: video.recording_deleted_at?.toISOString() ?? null,
    sourceVideo: source ? { id: source.id, filename: uploadedFileName(source.metadata) } : null,
    transcription:
      transcription &&
      toTranscriptionDetailView(transcription.row, {
        ...transcription,
        video,
        // A video that waits for a model is retried when the model is installed, not at a set time.
        hasRetryTime: view.waitsFor === null,
      }),
  };
}

function toTranscriptionDetailView(
  row: TranscriptionRow,
  known: TranscriptionHistory & {
    video: VideoRow;
    hasRetryTime: boolean;
  },
): TranscriptionDetailView {
  const { attempts, events, endpointUrls, hasRetryTime } = known;
  const last = attempts.at(-1);
  return {
    ...toTranscriptionSummaryView(row),
    engine: row.engine,
    decoder: row.decoder,
    audioTrack: row.audio_track,
    fileFormats: row.file_prefix === null ? [] : row.file_formats,
    incomplete: row.incomplete,
    languageSegments: row.language_segments,
    hasWaveform: row.waveform_prefix !== null,
    retryAt: hasRetryTime && row.status === "PENDING" && last?.retry_at ? last.retry_at.toISOString() : null,
    timeline: toTimeline(row, known),
    attempts: attempts.map((attempt, index) => toAttemptView(attempt, attempts[index - 1])),
    events: events.map((event) => toEventView(event, endpointUrls)),
  };
}

function toTimeline(
  row: TranscriptionRow,
  { video, attempts, events, endpointUrls }: TranscriptionHistory & { video: VideoRow },
): TimelineStepView[] {
  const running =
    row.status === "PENDING" ? undefined : attempts.findLast(({ number }) => number === row.attempt);
  const finished = row.finished_at;
  const timestamps: [TimelineStep, Date | null | undefined][] = [
    ["uploaded", video.uploaded_at],
    ["queued", running?.queued_at ?? row.queued_at],
    ["started", running?.started_at ?? row.started_at],
    ["prepared", running && preparedAt(row, running)],
    ["decoded", running?.decoded_at],
    ["transcribed", running?.transcribed_at],
    ["stored", row.status === "COMPLETED" ? finished : null],
    ["completed", row.status === "COMPLETED" ? finished : null],
    ["failed", row.status === "FAILED" ? finished : null],
    ["skipped", row.status === "SKIPPED" ? finished : null],
  ];
  let previous: Date | null = null;
  const steps: TimelineStepView[] = [];
  for (const [step, at] of timestamps) {
    if (!at) continue;
    steps.push({ step, at: at.toISOString(), seconds: previous && secondsBetween(previous, at) });
    previous = at;
  }
  const deliveries = finished
    ? events.filter(
        ({ created_at, type }) => created_at >= finished && type !== "transcriptions.transcription.updated",
      )
    : [];
  for (const { status, finished_at: at, endpoint_id } of deliveries.flatMap((event) => event.deliveries)) {
    if (status !== "succeeded" || !at) continue;
    steps.push({
      step: "delivered",
      at: at.toISOString(),
      seconds: secondsBetween(finished!, at),
      endpointUrl: endpointUrls.get(endpoint_id) ?? "",
    });
  }
  return steps;
}

/** Returns when the engine was ready and the recording available; null if recognition did not complete. */
function preparedAt(
  { stages }: TranscriptionRow,
  { started_at, decoded_at, transcribed_at }: TranscriptionAttemptRow,
): Date | null {
  if (!stages || !transcribed_at || !decoded_at) return null;
  const at = Math.max(started_at.getTime(), transcribed_at.getTime() - stages.total * 1000);
  return new Date(Math.min(at, decoded_at.getTime()));
}

function toAttemptView(
  row: TranscriptionAttemptRow,
  previous: TranscriptionAttemptRow | undefined,
): AttemptView {
  return {
    number: row.number,
    begunBy: begunBy(previous),
    queuedAt: row.queued_at.toISOString(),
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    outcome: row.outcome,
    failure:
      row.failure_code === null ? null : { code: row.failure_code, message: row.failure_message ?? "" },
  };
}

function begunBy(previous: TranscriptionAttemptRow | undefined): AttemptView["begunBy"] {
  switch (previous?.outcome) {
    case undefined:
      return "upload";
    case "failed":
      return "reprocess";
    case "handed_back":
    case "yielded":
      return "resumption";
    default:
      return "retry";
  }
}

function toEventView(event: EventWithDeliveries, endpointUrls: Map<string, string>): EventView {
  return {
    id: event.id,
    type: event.type,
    createdAt: event.created_at.toISOString(),
    deliveries: event.deliveries.map((delivery) => ({
      id: delivery.id,
      endpointId: delivery.endpoint_id,
      endpointUrl: endpointUrls.get(delivery.endpoint_id) ?? "",
      status: delivery.status,
      attempts: delivery.attempts,
      nextAttemptAt: delivery.next_attempt_at?.toISOString() ?? null,
      finishedAt: delivery.finished_at?.toISOString() ?? null,
    })),
  };
}

/** Returns at least 0, because the clocks of different machines may disagree. */
function secondsBetween(before: Date, after: Date): number {
  return Math.max(0, after.getTime() - before.getTime()) / 1000;
}
