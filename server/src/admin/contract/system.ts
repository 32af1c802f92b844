/** The service's state, for its operators. All times are ISO 8601 UTC with milliseconds. */
export interface SystemView {
  version: string;
  /** The service's own time, the reference for ages. */
  now: string;
  startedAt: string;
  queue: QueueView;
  /** Running transcriptions, longest first; limited in number. */
  running: RunningView[];
  /** Results per hour of the last 24 hours, oldest first; always 24 entries. */
  hours: HourView[];
  /** Usage of the last 24 hours by environment; largest first. */
  engines: EngineView[];
  model: ModelView;
  disk: DiskView;
  machine: MachineView;
  /** The processes of the service on the answering machine; empty if unknown. */
  processes: ProcessView[];
}

export interface QueueView {
  pending: number;
  processing: number;
  /** When the oldest waiting transcription started to wait; null if none waits. */
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
  /** Of the completed transcriptions. */
  mediaSeconds: number;
}

export interface EngineView {
  name: string;
  completed: number;
  mediaSeconds: number;
  /** Wall-clock time from opening the recordings to the last word. */
  workSeconds: number;
}

/** The multilingual speech model and its installation. */
export interface ModelView {
  wanted: string | null;
  state: "unwanted" | "installed" | "downloading" | "missing" | "failed";
  folder: string | null;
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

export interface DiskView {
  folder: string;
  /** Of the file system that contains the folder. */
  totalBytes: number;
  freeBytes: number;
  /** Measured rarely, because every file is read; null until the first measurement is done. */
  use: DiskUseView | null;
}

export interface DiskUseView {
  measuredAt: string;
  videos: number;
  /** Total size of all uploaded recordings, wherever they are stored. */
  uploadedBytes: number;
  /** By folder of the data folder, largest first; includes `database` even if it is elsewhere. */
  parts: { name: string; bytes: number }[];
}

export interface MachineView {
  cores: number;
  /** Load average of the last minute: runnable processes. */
  load: number;
  memoryBytes: number;
  freeMemoryBytes: number;
}

export interface ProcessView {
  pid: number;
  role: "service" | "speech" | "decoder";
  residentBytes: number;
}

/** The doctor's result for one part. */
export interface FindingView {
  name: string;
  /** `missing`: the service cannot work without it. */
  status: "ok" | "warning" | "missing";
  detail: string;
  remedy: string | null;
}
