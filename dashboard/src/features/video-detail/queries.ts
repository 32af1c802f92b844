import type { FileFormat } from "@subtext/client/contract/transcription";
import type { VideoView } from "@subtext/server/admin/contract/video";
import type { SpeakerFormat, VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { queryOptions } from "@tanstack/react-query";
import { request, urlOf } from "../../admin-client/request.ts";
import { parseWaveform } from "./player/waveform.ts";
import { parseTranscript } from "./transcript/transcript-model.ts";

const DELIVERY_POLL_MS = 5_000;
const POLL_MS = 60_000;

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
    // Live updates do not include deliveries.
    refetchInterval: ({ state }) => (state.data && awaitsDelivery(state.data) ? DELIVERY_POLL_MS : POLL_MS),
  });
}

function awaitsDelivery({ transcription }: VideoDetailView): boolean {
  const deliveries = transcription?.events.flatMap((event) => event.deliveries) ?? [];
  return deliveries.some(({ status }) => status === "pending");
}

/** @param wordsEtag changes the URL with each correction, so that the player loads the captions again */
export function captionsUrl(address: VideoAddress, wordsEtag: string | null): string {
  const url = urlOf("GET /environments/:environment/videos/:video/captions", {
    params: videoParams(address),
  });
  return wordsEtag === null ? url : `${url}?etag=${encodeURIComponent(wordsEtag)}`;
}

export function fileUrl(address: VideoAddress, format: FileFormat): string {
  const params = { ...videoParams(address), format };
  return urlOf("GET /environments/:environment/videos/:video/files/:format", { params });
}

export function speakerFileUrl(address: VideoAddress, format: SpeakerFormat): string {
  const params = { ...videoParams(address), format };
  return urlOf("GET /environments/:environment/videos/:video/speaker-files/:format", { params });
}

/** @param wordsEtag part of the key, because corrections change the transcript */
export function transcriptQuery(address: VideoAddress, wordsEtag: string | null) {
  return queryOptions({
    queryKey: ["transcript", address.environmentId, address.videoId, wordsEtag] as const,
    queryFn: async ({ signal }) =>
      parseTranscript(
        await request("GET /environments/:environment/videos/:video/transcript", {
          params: videoParams(address),
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** @param finishedAt end of the transcription; part of the key, because another attempt may detect other speech */
export function waveformQuery(address: VideoAddress, finishedAt: string | null) {
  return queryOptions({
    queryKey: ["waveform", address.environmentId, address.videoId, finishedAt] as const,
    queryFn: async ({ signal }) =>
      parseWaveform(
        await request("GET /environments/:environment/videos/:video/waveform", {
          params: videoParams(address),
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Returns null if more changed than the update contains, so that the video must be refetched. */
export function applyChange(loaded: VideoDetailView, update: VideoView): VideoDetailView | null {
  const { transcription } = update;
  if (loaded.state !== update.state || !loaded.transcription || !transcription) {
    return loaded.state === update.state && !transcription
      ? { ...loaded, ...update, transcription: null }
      : null;
  }
  if (loaded.transcription.startedAt !== transcription.startedAt) return null;
  return { ...loaded, ...update, transcription: { ...loaded.transcription, ...transcription } };
}
