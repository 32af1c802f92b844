/** The service's state, for its operators. All times are ISO 8601 UTC with milliseconds. */
export interface SystemView {
  version: string;
  /** The service's current time. Clients compute ages from it, because their own clocks may be wrong. */
  now: string;
  startedAt: string;
  queue: QueueView;
  /** The longest-running transcriptions, longest first. */
  running: RunningView[];
  /** Results per hour of the last 24 hours, oldest first; always 24 entries. */
  hours: HourView[];
  /** Completed transcriptions of the last 24 hours by engine; most media first. */
  engines: EngineView[];
  model: ModelView;
  disk: DiskView;
  machine: MachineView;
  /** The service's processes on the machine that answers; empty if unknown. */
  processes: ProcessView[];
}

export interface QueueView {
  pending: number;
  processing: number;
  /** When the oldest pending transcription was queued; null if none is pending. */
  oldestPendingAt: string | null;
}

export interface RunningView {
  videoId: string;
  environmentId: string;
  filename: string | null;
  /** 0 … 1 */
  progress: number;
  remainingSeconds: number | null;
  startedAt: string | null;
}

export interface HourView {
  completed: number;
  failed: number;
  skipped: number;
  /** Total duration of the media of completed transcriptions. */
  mediaSeconds: number;
}

export interface EngineView {
  name: string;
  completed: number;
  mediaSeconds: number;
  /** Total wall-clock time of transcribing the recordings. */
  workSeconds: number;
}

/** The multilingual speech model and its installation. */
export interface ModelView {
  wanted: string | null;
  state: "unwanted" | "installed" | "downloading" | "missing" | "failed";
  folder: string | null;
  /** Null if the model is not installed or its speed is unknown. */
  speed: ModelSpeedView | null;
  progress: {
    receivedBytes: number;
    totalBytes: number | null;
    bytesPerSecond: number | null;
    remainingSeconds: number | null;
  } | null;
  error: string | null;
  hint: string | null;
  nextTryAt: string | null;
}

export interface ModelSpeedView {
  /** Seconds of speech per second of work on the machine that answers. */
  realTime: number;
  /** Whether transcriptions have reached it, or it is an estimate. */
  isMeasured: boolean;
}

/** A speech engine that the owner can choose during setup. */
export interface EngineOptionView {
  /** `bundled` is the engine that comes with Subtext; the others are models, which are downloaded. */
  name: string;
  languages: number;
  /** Approximate; 0 for the bundled engine. */
  downloadBytes: number;
  /** Memory of a speech process with the model; null for the bundled engine. */
  memoryBytes: number | null;
  /** Estimated multiple of real time on this machine. Null for the bundled engine and until the machine is measured. */
  estimatedSpeed: number | null;
  isDefault: boolean;
}

export interface DiskView {
  folder: string;
  /** Size of the file system that contains the folder. */
  totalBytes: number;
  freeBytes: number;
  /** Measured rarely, because a measurement reads every folder. Null until the first one finishes. */
  use: DiskUseView | null;
}

export interface DiskUseView {
  measuredAt: string;
  videos: number;
  /** Total size of all uploaded recordings, wherever they are stored. */
  uploadedBytes: number;
  /** Sizes of the data folder's subfolders, largest first; includes `database` even if it is elsewhere. */
  parts: { name: string; bytes: number }[];
}

export interface MachineView {
  cores: number;
  /** Load average of the last minute: the mean number of runnable processes. */
  load: number;
  memoryBytes: number;
  freeMemoryBytes: number;
}

export interface ProcessView {
  pid: number;
  role: "service" | "speech" | "decoder";
  residentBytes: number;
}

/** The result of one health check. */
export interface FindingView {
  name: string;
  /** `missing`: the service cannot work without it. */
  status: "ok" | "warning" | "missing";
  detail: string;
  /** What to do; null if nothing is wrong. */
  remedy: string | null;
}
