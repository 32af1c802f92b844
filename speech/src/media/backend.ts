/** One audio track as the file's headers tell. */
export interface AudioTrack {
  /** Index among all streams of the file. */
  stream: number;
  /** Name of the codec; null where this decoder has none for it. */
  codec: string | null;
  channels: number;
  /** Samples a second; 0 where the headers do not tell. */
  sampleRate: number;
  /** Seconds on the container's own clock. */
  start: number | null;
  /** Seconds. */
  duration: number | null;
  isDefault: boolean;
  encrypted: boolean;
}

/** What the headers of a file tell, as a decoder found it. */
export interface Inspection {
  /** Streams of every kind. */
  streams: number;
  /** Seconds on the container's own clock at which a player's time is 0. */
  start: number | null;
  /** Seconds; null where the container does not tell or the decoder only guessed it from the bit rate. */
  duration: number | null;
  audio: AudioTrack[];
}

/** Decoded audio that belongs together, 16 kHz. */
export interface AudioBlock {
  /** Seconds of a player's time at which the first sample stands; null where it follows the block before. */
  at: number | null;
  /** −1 … 1, channels interleaved: as many as `DecodeRequest.channels` asked for. */
  samples: Float32Array;
}

export interface DecodeRequest {
  stream: number;
  /** Channels to give out: 1 where the track has one, else 2 (left and right, or a mix to two). */
  channels: 1 | 2;
  /** Channels of the track; more than 8 have no standard places and are mixed by their number. */
  trackChannels: number;
  /** Seconds that the recording is thought to last at most; it bounds the time the decoder may take. */
  durationSeconds: number;
  signal: AbortSignal;
}

/** How the decoding went, known once the last block is read. */
export interface DecodeReport {
  /** Packets that were damaged or could not be decoded. */
  failedPackets: number;
  /** True where the container itself is broken, or ends before its headers say so. */
  damaged: boolean;
  /** The decoder's own last words, for people. */
  complaint: string | null;
}

export interface RunningDecode {
  /** As many at a time as came together. Breaking out of it ends the decoder. Throws SpeechError `decoder_crashed`. */
  blocks: AsyncIterable<readonly AudioBlock[]>;
  /** Valid after `blocks` is read to its end. */
  report(): DecodeReport;
}

/**
 * What a media library must do to become a `Decoder`; everything that is judged from it lies in
 * `decoder.ts`, once for all libraries.
 */
export interface Backend {
  readonly name: string;
  /** @throws SpeechError `unreadable_media`, `unsupported_media` */
  inspect(path: string, signal: AbortSignal): Promise<Inspection>;
  /** Reads every packet of audio and video, without decoding, and gives the seconds they span. */
  measure(path: string, signal: AbortSignal): Promise<number>;
  decode(path: string, request: DecodeRequest): RunningDecode;
}
