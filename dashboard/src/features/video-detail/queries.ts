import type { FileFormat } from "@subtext/client/contract/transcription";
import type { VideoView } from "@subtext/server/admin/contract/video";
import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { queryOptions } from "@tanstack/react-query";
import { request, urlOf } from "../../admin-client/request.ts";
import { readTranscript } from "./transcript-model.ts";
import { readWaveform } from "./waveform.ts";

const DELIVERIES_EVERY_MS = 5_000;
const OTHERWISE_EVERY_MS = 60_000;

export interface VideoAddress {
  environmentId: string;
  videoId: string;
}

export function videoParams({ environmentId, videoId }: VideoAddress) {
  return { environment: environmentId, video: videoId };
}

export function videoQuery(address: VideoAddress) {
  return queryOptions({
    queryKey: ["video", address.environmentId, address.videoId] as const,
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/videos/:video", { params: videoParams(address), signal }),
    // The stream tells of the video itself, not of its deliveries.
    refetchInterval: ({ state }) =>
      state.data && awaitsDelivery(state.data) ? DELIVERIES_EVERY_MS : OTHERWISE_EVERY_MS,
  });
}

function awaitsDelivery({ transcription }: VideoDetailView): boolean {
  const deliveries = transcription?.events.flatMap((event) => event.deliveries) ?? [];
  return deliveries.some(({ status }) => status === "pending");
}

/** The captions of a completed video, for a player. */
export function captionsUrl(address: VideoAddress): string {
  return urlOf("GET /environments/:environment/videos/:video/captions", { params: videoParams(address) });
}

/** A transcript file for download. */
export function fileUrl(address: VideoAddress, format: FileFormat): string {
  const params = { ...videoParams(address), format };
  return urlOf("GET /environments/:environment/videos/:video/files/:format", { params });
}

/** What is completed never changes. */
export function transcriptQuery(address: VideoAddress) {
  return queryOptions({
    queryKey: ["transcript", address.environmentId, address.videoId] as const,
    queryFn: async ({ signal }) =>
      readTranscript(
        await request("GET /environments/:environment/videos/:video/transcript", {
          params: videoParams(address),
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** @param finishedAt of the transcription: another round may have heard more */
export function waveformQuery(address: VideoAddress, finishedAt: string | null) {
  return queryOptions({
    queryKey: ["waveform", address.environmentId, address.videoId, finishedAt] as const,
    queryFn: async ({ signal }) =>
      readWaveform(
        await request("GET /environments/:environment/videos/:video/waveform", {
          params: videoParams(address),
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/**
 * The video after the stream has told of it: what moves while it stays in its state is taken over at once.
 * @returns null where more has changed than the stream tells, so that all of it is to be read again
 */
export function applyChange(known: VideoDetailView, now: VideoView): VideoDetailView | null {
  const { transcription } = now;
  if (known.state !== now.state || !known.transcription || !transcription) {
    return known.state === now.state && !transcription ? { ...known, ...now, transcription: null } : null;
  }
  if (known.transcription.startedAt !== transcription.startedAt) return null;
  return { ...known, ...now, transcription: { ...known.transcription, ...transcription } };
}
