/** An audio track, as described by the file's headers. */
export interface AudioTrack {
  /** Index among all streams of the file. */
  stream: number;
  /** Null if the decoder does not support the codec. */
  codec: string | null;
  channels: number;
  /** Hertz; 0 if unknown. */
  sampleRate: number;
  /** Seconds on the container's clock. */
  start: number | null;
  /** Seconds. */
  duration: number | null;
  isDefault: boolean;
  encrypted: boolean;
}

/** A video track, as described by the file's headers. */
export interface VideoTrack {
  /** Index among all streams of the file. */
  stream: number;
  isDefault: boolean;
  /** True if the track is a single picture, such as the cover of an album. */
  isCover: boolean;
}

/** Properties of a file, from its headers. */
export interface Inspection {
  /** Number of streams of any type. */
  streams: number;
  /** Seconds on the container's clock at playback time 0. */
  start: number | null;
  /** Seconds; null if the container has no duration and the decoder can only estimate it from the bit rate. */
  duration: number | null;
  audio: AudioTrack[];
  video: VideoTrack[];
}

/** Contiguous decoded audio, 16 kHz. */
export interface AudioBlock {
  /** Playback time of the first sample, seconds; null if the block follows the previous one. */
  at: number | null;
  /** −1 … 1, with as many interleaved channels as `DecodeRequest.channels`. */
  samples: Float32Array;
}

export interface DecodeRequest {
  stream: number;
  /** Output channels: 1 for a mono track, else 2. */
  channels: 1 | 2;
  /** Channels of the track. More than 8 have no standard layout, so they are mixed equally. */
  trackChannels: number;
  /** Expected maximum duration of the recording, which determines the decoder's timeout. */
  durationSeconds: number;
  signal: AbortSignal;
}

export interface DecodeReport {
  /** Number of packets that were damaged or could not be decoded. */
  failedPackets: number;
  /** True if the container is damaged or truncated. */
  damaged: boolean;
  /** The decoder's last message, for error messages. */
  lastMessage: string | null;
}

export interface RunningDecode {
  /** Blocks in groups as they arrive. Ending the iteration stops the decoder. Throws SpeechError `decoder_crashed`. */
  blocks: AsyncIterable<readonly AudioBlock[]>;
  /** Valid after `blocks` has been read to its end. */
  report(): DecodeReport;
}

export interface PictureRequest {
  /** Index of a video track. */
  stream: number;
  /** Decoding starts at the last key frame before this time. Seconds of the media. */
  fromSeconds: number;
  /** Time after `fromSeconds` at which decoding ends. */
  seconds: number;
  maxPictures: number;
  signal: AbortSignal;
}

/** The interface to a media library. `decode.ts` turns it into a `Decoder` and makes all decisions. */
export interface Backend {
  readonly name: string;
  /** @throws SpeechError `unreadable_media`, `unsupported_media` */
  inspect(path: string, signal: AbortSignal): Promise<Inspection>;
  /** Reads all packets of audio and video without decoding and returns the seconds that they span. */
  measure(path: string, signal: AbortSignal): Promise<number>;
  decode(path: string, request: DecodeRequest): RunningDecode;
  /**
   * Decodes frames at least `PICTURE_INTERVAL_SECONDS` apart and yields them as JPEG files of at most `PICTURE_PIXELS`
   * in width and height. Runs at a lower priority than transcription. Ending the iteration stops the decoder. Frames
   * that cannot be decoded are omitted.
   * @throws SpeechError `decoder_crashed`
   */
  pictures(path: string, request: PictureRequest): AsyncIterable<Buffer>;
}
