/** How the service is doing, for its operators. All times are ISO 8601 UTC with milliseconds. */
export interface SystemView {
  version: string;
  /** The service's own time, which ages are to be told from. */
  now: string;
  startedAt: string;
  queue: QueueView;
  /** What workers are at, longest first; the first of them where there are many. */
  running: RunningView[];
  /** What came to an end in the last 24 hours, by hours before now, the oldest first; always 24. */
  hours: HourView[];
  /** Whose work the last 24 hours were; most first. */
  engines: EngineView[];
  model: ModelView;
  disk: DiskView;
  machine: MachineView;
  /** The service and what works for it, on the machine that answers; empty where that can not be told. */
  processes: ProcessView[];
}

export interface QueueView {
  pending: number;
  processing: number;
  /** Since when the transcription waits that waits longest; null where none waits. */
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
  /** Of the completed. */
  mediaSeconds: number;
}

export interface EngineView {
  name: string;
  completed: number;
  mediaSeconds: number;
  /** Wall-clock time from opening the recordings to the last word. */
  workSeconds: number;
}

/** The multilingual speech model, and how it comes to be there. */
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
  /** Of the file system that holds the folder. */
  totalBytes: number;
  freeBytes: number;
  /** Taken at times only, since every file is looked at; null until the first is done. */
  use: DiskUseView | null;
}

export interface DiskUseView {
  measuredAt: string;
  videos: number;
  /** What all videos were uploaded with, wherever they are kept. */
  uploadedBytes: number;
  /** By folder of the data folder, largest first; `database` also where it is elsewhere. */
  parts: { name: string; bytes: number }[];
}

export interface MachineView {
  cores: number;
  /** Processes that wanted to run, mean of the last minute. */
  load: number;
  memoryBytes: number;
  freeMemoryBytes: number;
}

export interface ProcessView {
  pid: number;
  role: "service" | "speech" | "decoder";
  residentBytes: number;
}

/** What the doctor says of one part. */
export interface FindingView {
  name: string;
  /** `missing`: the service can not do its work without it. */
  status: "ok" | "warning" | "missing";
  detail: string;
  remedy: string | null;
}
