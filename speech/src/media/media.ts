import type { SkipReason } from "../transcript.ts";

/** What the headers of a file state. */
export interface Probe {
  /** Seconds of the media as shown by a player, 3 decimals; null if the container does not state it. */
  duration: number | null;
  /** Index of the audio stream to decode (the default track, else the first); null if there is none. */
  audioStream: number | null;
  /** Channels of that stream. */
  channels: number;
  /** Seconds to add to times in the audio to match the video. */
  audioOffset: number;
  /** Seconds of that stream, including gaps; null if unknown. Anything missing counts as lost. */
  audioDuration?: number | null;
  /** Number of that stream among the audio tracks, from 1; 0 if there is none. */
  audioTrack: number;
  /** The same file with each of the other audio tracks that can be decoded, in order. */
  otherTracks: readonly Probe[];
  /** Whether a track cannot be decoded, so it is unknown whether it is silent. */
  hasUndecodableTrack: boolean;
}

/** Known after the last sample. */
export interface DecodeSummary {
  /** Output samples, at 16 kHz. */
  samples: number;
  /** Seconds of the media, 3 decimals; measured if the container does not state it. */
  duration: number;
  /** Why there is nothing to transcribe; null if there is something. */
  nothing: Exclude<SkipReason, "no_audio_track"> | null;
  /** True if damaged parts were skipped. */
  incomplete: boolean;
}

/** A running decoder: 16 kHz mono samples, −1 … 1, in read-only chunks of at most a minute. */
export interface DecodedAudio {
  /** Ending the iteration ends the decoder. Throws SpeechError. */
  chunks: AsyncIterable<Float32Array>;
  /** Valid after `chunks` has been read to its end. */
  summary(): DecodeSummary;
}

export interface DecodeOptions {
  probe: Probe;
  /** Seconds; a longer recording throws `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
}

/** Reads local media files; a file cannot cause access to another file or an address. Paths are absolute. */
export interface Decoder {
  /** `ffmpeg 5.1.9` or `node-av 6.1.1`. */
  readonly name: string;
  /** @throws SpeechError `unreadable_media`, `unsupported_media`, `undecodable_audio` */
  probe(path: string, signal: AbortSignal): Promise<Probe>;
  decode(path: string, options: DecodeOptions): DecodedAudio;
}
