import type { Locker } from "@tus/utils";
import { recordVideoEvent } from "../../audit/audit-events.ts";
import type { Db } from "../../db/schema.ts";
import type { TranscriptionRow } from "../../db/tables/transcriptions.ts";
import type { VideoRow } from "../../db/tables/videos.ts";
import { AppError } from "../../lib/errors.ts";
import type { TranscriptStore } from "../../storage/transcript-store.ts";
import { listAttempts } from "../../transcription/attempt-queries.ts";
import { cancelTranscription } from "../../transcription/cancel.ts";
import { findTranscriptionByVideo } from "../../transcription/queries.ts";
import { reprocess } from "../../transcription/reprocess.ts";
import type { RunningAttempts } from "../../transcription/running-attempts.ts";
import { type NewVideoDeps, transcribeAsNewVideo } from "../../uploads/transcribe-as-new-video.ts";
import { deleteVideo } from "../../videos/delete-video.ts";
import { findVideo } from "../../videos/queries.ts";
import { listWebhookEndpoints } from "../../webhooks/endpoint-queries.ts";
import { listTranscriptionEvents } from "../../webhooks/queries.ts";
import { type Actor, roleIn } from "../access.ts";
import type { MediaView, VideoDetailView } from "../contract/video-detail.ts";
import { defineHandlers } from "../operation.ts";
import { toVideoDetailView } from "./detail-view.ts";
import { typeOfRecording } from "./files.ts";
import { getVideoFromParams, toVideoViews, type VideoListDeps } from "./videos.ts";

export interface VideoDetailDeps extends VideoListDeps, NewVideoDeps {
  transcripts: TranscriptStore;
  /** The lock of the upload endpoint. It prevents writes to a deleted video. */
  locker: Locker;
  running: RunningAttempts;
}

export function videoDetailHandlers(deps: VideoDetailDeps) {
  const { db, clock } = deps;
  return defineHandlers({
    "GET /environments/:environment/videos/:video": async ({ params, actor }) =>
      await describe(deps, await getVideoFromParams(db, params), actor),

    "DELETE /environments/:environment/videos/:video": async ({ params, auditActor, request }) => {
      const { id, environment_id } = await getVideoFromParams(db, params);
      const subject = { environmentId: environment_id, videoId: id };
      await deleteVideo({ ...deps, log: request.log }, subject, (tx) =>
        recordVideoEvent({ tx, clock }, auditActor, "video.deleted", subject),
      );
      request.log.info({ videoId: id }, "video deleted by an operator");
    },

    "POST /environments/:environment/videos/:video/reprocess": async ({
      params,
      actor,
      auditActor,
      request,
    }) => {
      const { video, id, subject } = await getSubject(db, params);
      await reprocess(deps, id, (tx) =>
        recordVideoEvent({ tx, clock }, auditActor, "transcription.reprocessed", subject),
      );
      request.log.info({ transcriptionId: id }, "transcription reopened by an operator");
      return await describe(deps, video, actor);
    },

    "POST /environments/:environment/videos/:video/cancel": async ({
      params,
      actor,
      auditActor,
      request,
    }) => {
      const { video, id, subject } = await getSubject(db, params);
      await cancelTranscription(deps, id, (tx) =>
        recordVideoEvent({ tx, clock }, auditActor, "transcription.canceled", subject),
      );
      request.log.info({ transcriptionId: id }, "transcription canceled by an operator");
      return await describe(deps, video, actor);
    },

    "POST /environments/:environment/videos/:video/transcribe-as-new": async ({
      params,
      auditActor,
      request,
    }) => {
      const source = await getVideoFromParams(db, params);
      const video = await transcribeAsNewVideo(deps, source, (tx, { id, environment_id }) =>
        recordVideoEvent(
          { tx, clock },
          auditActor,
          "video.copied",
          { environmentId: environment_id, videoId: id },
          { source: source.id },
        ),
      );
      request.log.info({ videoId: video.id, sourceVideoId: source.id }, "video copied by an operator");
      const [view] = await toVideoViews(deps, [video]);
      return view!;
    },
  });
}

async function describe(deps: VideoDetailDeps, video: VideoRow, actor: Actor): Promise<VideoDetailView> {
  const { db } = deps;
  const [[view], row, media, source] = await Promise.all([
    toVideoViews(deps, [video]),
    findTranscriptionByVideo(db, video.id),
    readMediaView(deps, video),
    video.source_video_id === null ? undefined : findVideo(db, video.source_video_id),
  ]);
  const transcription = row && { row, ...(await readHistory(db, row)) };
  // Editors may not see webhooks, because the URLs of endpoints are often secrets.
  if (transcription && roleIn(actor, video.environment_id) === "editor") transcription.events = [];
  return toVideoDetailView(view!, { video, media, source, transcription: transcription ?? null });
}

async function readHistory(db: Db, { id, environment_id }: TranscriptionRow) {
  const [attempts, events, endpoints] = await Promise.all([
    listAttempts(db, id),
    listTranscriptionEvents(db, id),
    listWebhookEndpoints(db, environment_id),
  ]);
  return {
    attempts,
    events,
    endpointUrls: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.url])),
  };
}

async function readMediaView({ recordings }: VideoDetailDeps, video: VideoRow): Promise<MediaView | null> {
  if (video.uploaded_at === null || video.recording_deleted_at !== null) return null;
  return {
    url: `/internal/environments/${video.environment_id}/videos/${video.id}/media`,
    // If the recording is unavailable, the page still shows the rest.
    contentType: await typeOfRecording(recordings, video.id).catch(() => null),
  };
}

/** Returns a video and the id of its transcription. `subject` is for the audit log. */
async function getSubject(db: Db, params: { environment: string; video: string }) {
  const video = await getVideoFromParams(db, params);
  const { id } = (await findTranscriptionByVideo(db, video.id)) ?? throwNoTranscription();
  return { video, id, subject: { environmentId: video.environment_id, videoId: video.id } };
}

function throwNoTranscription(): never {
  throw new AppError("transcription_not_found", "The video has no transcription.");
}
