import type { SkipReason } from "../transcript.ts";

/** What a look at the file's headers tells. */
export interface Probe {
  /** Seconds of the media as a player shows it, 3 decimals; null where the container does not tell. */
  duration: number | null;
  /** Index of the audio stream to decode (the default track, else the first); null where there is none. */
  audioStream: number | null;
  /** Channels of that stream, as its header tells. */
  channels: number;
  /** Seconds to add to every time heard in the audio so that it matches the picture. */
  audioOffset: number;
  /** Seconds of that stream, gaps included; null where the container does not tell. What is missing is a loss. */
  audioDuration?: number | null;
  /** Number of that stream among the audio tracks, from 1; 0 if there is none. */
  audioTrack: number;
  /** The same file with each of the other audio tracks that can be decoded, in order. */
  otherTracks: readonly Probe[];
  /** Whether a track cannot be decoded, so it is unknown whether it is silent. */
  hasUndecodableTrack: boolean;
}

/** What is known once the last sample was read. */
export interface DecodeSummary {
  /** Samples given out, at 16 kHz. */
  samples: number;
  /** Seconds of the media, 3 decimals, measured where the container did not tell. */
  duration: number;
  /** Set where there was nothing to transcribe. */
  nothing: Exclude<SkipReason, "no_audio_track"> | null;
  /** True where damaged parts were skipped. */
  incomplete: boolean;
}

/** A running decoder: 16 kHz mono samples, −1 … 1, in read-only chunks of at most a minute. */
export interface DecodedAudio {
  /** Reads to the end; breaking out of it ends the decoder. Throws SpeechError. */
  chunks: AsyncIterable<Float32Array>;
  /** Valid after `chunks` is read to its end. */
  summary(): DecodeSummary;
}

export interface DecodeOptions {
  probe: Probe;
  /** Seconds; a longer recording throws `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
}

/**
 * Reads media files on this machine; nothing inside a file can make it read another file or an address.
 * Paths are absolute.
 */
export interface Decoder {
  /** `ffmpeg 5.1.9` or `node-av 6.1.1`. */
  readonly name: string;
  /** @throws SpeechError `unreadable_media`, `unsupported_media`, `undecodable_audio` */
  probe(path: string, signal: AbortSignal): Promise<Probe>;
  decode(path: string, options: DecodeOptions): DecodedAudio;
}
