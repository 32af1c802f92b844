/** One audio track as stated by the file's headers. */
export interface AudioTrack {
  /** Index among all streams of the file. */
  stream: number;
  /** Name of the codec; null if this decoder does not support it. */
  codec: string | null;
  channels: number;
  /** Samples per second; 0 if the headers do not state it. */
  sampleRate: number;
  /** Seconds on the container's clock. */
  start: number | null;
  /** Seconds. */
  duration: number | null;
  isDefault: boolean;
  encrypted: boolean;
}

/** What a decoder found in the headers of a file. */
export interface Inspection {
  /** Number of streams of any type. */
  streams: number;
  /** Seconds on the container's clock at playback time 0. */
  start: number | null;
  /** Seconds; null if the container does not state it or the decoder only estimated it from the bit rate. */
  duration: number | null;
  audio: AudioTrack[];
}

/** Contiguous decoded audio, 16 kHz. */
export interface AudioBlock {
  /** Playback time of the first sample, seconds; null if it follows the previous block. */
  at: number | null;
  /** −1 … 1, with as many interleaved channels as `DecodeRequest.channels`. */
  samples: Float32Array;
}

export interface DecodeRequest {
  stream: number;
  /** Output channels: 1 for a mono track, else 2 (left and right, or a mix to two). */
  channels: 1 | 2;
  /** Channels of the track; more than 8 have no standard layout and are mixed by their number. */
  trackChannels: number;
  /** Expected maximum duration of the recording, seconds; bounds the time of the decoder. */
  durationSeconds: number;
  signal: AbortSignal;
}

/** Statistics of decoding, known after the last block. */
export interface DecodeReport {
  /** Packets that were damaged or could not be decoded. */
  failedPackets: number;
  /** True if the container itself is damaged, or ends earlier than its headers state. */
  damaged: boolean;
  /** The decoder's last message, for error messages. */
  complaint: string | null;
}

export interface RunningDecode {
  /**
   * Blocks in the groups in which they arrived. Ending the iteration ends the decoder. Throws SpeechError
   * `decoder_crashed`.
   */
  blocks: AsyncIterable<readonly AudioBlock[]>;
  /** Valid after `blocks` has been read to its end. */
  report(): DecodeReport;
}

/**
 * What a media library must provide. `decode.ts` turns it into a `Decoder` and makes all decisions, once for
 * all libraries.
 */
export interface Backend {
  readonly name: string;
  /** @throws SpeechError `unreadable_media`, `unsupported_media` */
  inspect(path: string, signal: AbortSignal): Promise<Inspection>;
  /** Reads every packet of audio and video without decoding and returns the seconds that they span. */
  measure(path: string, signal: AbortSignal): Promise<number>;
  decode(path: string, request: DecodeRequest): RunningDecode;
}
