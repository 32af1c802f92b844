import type { Locker } from "@tus/utils";
import type { FastifyInstance } from "fastify";
import { writeDownVideo } from "../audit/video-deeds.ts";
import type { Db, TranscriptionRow, VideoRow } from "../db/schema.ts";
import { listAttempts } from "../db/transcription-attempts.ts";
import { findTranscriptionOfVideo } from "../db/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { reprocess } from "../pipeline/reprocess.ts";
import type { RunningAttempts } from "../pipeline/running-attempts.ts";
import type { Queue } from "../queue/queue.ts";
import type { Sources } from "../storage/recording-store.ts";
import type { Storage } from "../storage/transcript-store.ts";
import { deleteVideo } from "../videos/delete-video.ts";
import { listWebhookEndpoints } from "../webhooks/endpoint-queries.ts";
import { listEventsOf } from "../webhooks/queries.ts";
import { authorOf } from "./author.ts";
import type { MediaView, VideoDetailView } from "./contract/video-detail.ts";
import { findVideoOf, VIDEO_PATH, type VideoParams } from "./video-address.ts";
import { viewVideoDetail } from "./video-detail-view.ts";
import { typeOfRecording } from "./video-media.ts";
import { type VideoListDeps, viewVideos } from "./videos.ts";

export interface VideoDetailDeps extends VideoListDeps {
  queue: Queue;
  clock: Clock;
  sources: Sources;
  storage: Storage;
  /** The one that serves uploads, so that what is deleted is not written to. */
  locker: Locker;
  running: RunningAttempts;
}

/** What the page of one video shows, and what an owner does there. */
export function registerVideoDetail(app: FastifyInstance, deps: VideoDetailDeps): void {
  const { db, clock } = deps;

  app.get<VideoParams>(VIDEO_PATH, async ({ params }) => await describe(deps, await findVideoOf(db, params)));

  app.delete<VideoParams>(VIDEO_PATH, async (request, reply) => {
    const { id, environment_id } = await findVideoOf(db, request.params);
    const subject = { environmentId: environment_id, videoId: id };
    await deleteVideo({ ...deps, log: request.log }, subject, (tx) =>
      writeDownVideo({ tx, clock }, authorOf(request), "video.deleted", subject),
    );
    request.log.info({ videoId: id }, "video deleted by an operator");
    return await reply.code(204).send();
  });

  app.post<VideoParams>(`${VIDEO_PATH}/reprocess`, async (request, reply) => {
    const video = await findVideoOf(db, request.params);
    const { id } = (await findTranscriptionOfVideo(db, video.id)) ?? noTranscription();
    const subject = { environmentId: video.environment_id, videoId: video.id };
    await reprocess(deps, id, (tx) =>
      writeDownVideo({ tx, clock }, authorOf(request), "transcription.reprocessed", subject),
    );
    request.log.info({ transcriptionId: id }, "transcription reopened by an operator");
    reply.code(202);
    return await describe(deps, video);
  });
}

async function describe(deps: VideoDetailDeps, video: VideoRow): Promise<VideoDetailView> {
  const { db } = deps;
  const [[view], row, media] = await Promise.all([
    viewVideos(deps, [video]),
    findTranscriptionOfVideo(db, video.id),
    viewMedia(deps, video),
  ]);
  const transcription = row && { row, ...(await historyOf(db, row)) };
  return viewVideoDetail(view!, { video, media, transcription: transcription ?? null });
}

async function historyOf(db: Db, { id, environment_id }: TranscriptionRow) {
  const [attempts, events, endpoints] = await Promise.all([
    listAttempts(db, id),
    listEventsOf(db, id),
    listWebhookEndpoints(db, environment_id),
  ]);
  return {
    attempts,
    events,
    endpointUrls: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.url])),
  };
}

async function viewMedia({ sources }: VideoDetailDeps, video: VideoRow): Promise<MediaView | null> {
  if (video.uploaded_at === null || video.recording_deleted_at !== null) return null;
  return {
    url: `/internal/environments/${video.environment_id}/videos/${video.id}/media`,
    // A page without its recording shows all the rest.
    contentType: await typeOfRecording(sources, video.id).catch(() => null),
  };
}

function noTranscription(): never {
  throw new AppError("transcription_not_found", "The video has no transcription.");
}
