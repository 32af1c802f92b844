import type { SkipReason } from "../transcript.ts";
import type { ChannelPair } from "./channel-pair.ts";

/** Properties of a file and of the audio track to decode. */
export interface Probe {
  /** Seconds that a player would show, with 3 decimals; null if unknown. */
  duration: number | null;
  /** Index of the stream to decode: the default track, else the first. Null if there is none. */
  audioStream: number | null;
  channels: number;
  /** Seconds to add to times in the audio to match the video. */
  audioOffset: number;
  /** Seconds of the track, including gaps; null if unknown. */
  audioDuration?: number | null;
  /** Number among the audio tracks, from 1; 0 if there is none. */
  audioTrack: number;
  /** Probes of the other audio tracks that can be decoded. */
  otherTracks: readonly Probe[];
  /** True if there is an audio track that cannot be decoded. */
  hasUndecodableTrack: boolean;
}

export interface DecodeSummary {
  samples: number;
  /** Seconds of the media with 3 decimals, measured if the container has no duration. */
  duration: number;
  /** Why there is nothing to transcribe; null if there is sound. */
  skipReason: Exclude<SkipReason, "no_audio_track"> | null;
  /** True if parts of the audio are damaged or missing. */
  incomplete: boolean;
}

export interface DecodedAudio<Chunk = Float32Array> {
  /**
   * Samples at 16 kHz, −1 … 1, in chunks of at most a minute, which must not be modified. Ending the iteration stops
   * the decoder. Throws SpeechError.
   */
  chunks: AsyncIterable<Chunk>;
  /** Valid after `chunks` has been read to its end. */
  summary(): DecodeSummary;
}

export interface DecodeOptions {
  probe: Probe;
  /** Longer recordings fail with `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
}

/** What to show for a recording in a list. */
export interface Poster {
  /** False if the recording has only sound, possibly with a cover. */
  hasVideo: boolean;
  /** JPEG. Null if there is no video, or if only black or plain pictures were found. */
  frame: Buffer | null;
}

export interface PosterOptions {
  /** Null if unknown. */
  durationSeconds: number | null;
  signal: AbortSignal;
}

/** Decodes local media files. A file cannot cause access to other files or the network. Paths are absolute. */
export interface Decoder {
  /** `ffmpeg 5.1.9` or `node-av 6.1.1`. */
  readonly name: string;
  /** @throws SpeechError `unreadable_media`, `unsupported_media`, `undecodable_audio` */
  probe(path: string, signal: AbortSignal): Promise<Probe>;
  /** Decodes to mono. */
  decode(path: string, options: DecodeOptions): DecodedAudio;
  /** Decodes a track with two channels without mixing them. */
  decodeChannels(path: string, options: DecodeOptions): DecodedAudio<ChannelPair>;
  /**
   * Finds a frame after the black seconds at the beginning. Runs at a lower priority than transcription.
   * @throws SpeechError `unreadable_media`, `unsupported_media`, `decoder_crashed`
   */
  poster(path: string, options: PosterOptions): Promise<Poster>;
}
