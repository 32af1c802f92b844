import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { describeProgress } from "@subtext/speech/cli/download-display";
import { CONFIGURABLE_ENGINES } from "@subtext/speech/engines/registry";
import { SpeechError } from "@subtext/speech/errors";
import { describeDecoders } from "@subtext/speech/media/open-decoder";
import { MAX_PARTS } from "@subtext/speech/processes/worker-engine";
import type { FindingView } from "../admin/contract/system.ts";
import { UNKNOWN_FILE_RETENTION_MS } from "../cleanup/sweep-stored-files.ts";
import type { Config } from "../config/config.ts";
import { settingAtFault } from "../config/config-error.ts";
import type { TracesConfig } from "../config/telemetry.ts";
import { commandLine } from "../lib/command-line.ts";
import { isAbsence, nullIfAbsent } from "../lib/files.ts";
import type { ModelsState } from "../speech/models.ts";
import type { MemoryDescription } from "../speech/speech.ts";
import { settingsPatternOf } from "../storage/backends.ts";
import { hasSpace, RESERVED_BYTES } from "../storage/disk/disk-space.ts";
import type { OwnershipState } from "../storage/ownership/store-ownership.ts";
import { type FileAccess, inspectFileAccess } from "./file-access.ts";

const LOW_SPACE_BYTES = 5 * 1024 ** 3;

const COLLECTOR_TIMEOUT_MS = 5_000;

/** Each check returns the details of its finding, or throws if the part is missing. */
export interface HealthChecks {
  database(): Promise<{ version: string; lacksTextIndex: boolean }>;
  storage(): Promise<void>;
  engine(): Promise<{ text: string; warnings: string[] }>;
  /** How many speech processes fit into memory. Throws if none fits. */
  memory(): Promise<MemoryDescription>;
  model(): ModelsState | Promise<ModelsState>;
  /** Null if the database cannot be queried. */
  workers(): Promise<WorkersState | null>;
  /** Null if the database cannot be queried. */
  cleanup(): Promise<CleanupState | null>;
  /** Result of the last check for missing files; null if the database cannot be queried. */
  files(): Promise<FilesState | null>;
}

export interface WorkersState {
  /** Null if a single process does all the work. */
  running: number | null;
  /** Number of PENDING transcriptions. */
  waiting: number;
}

export interface CleanupState {
  ownership: OwnershipState;
  unknown: { files: number; bytes: number; oldestSeenAt: Date | null; examples: string[] };
}

export interface FilesState {
  /** Numbers of videos with missing files. */
  missing: { recording: number; transcript: number };
  /** Ids of a few such videos. */
  examples: string[];
  /** When the last complete check ended; null before the first. */
  checkedAt: Date | null;
}

/** Runs all health checks independently of each other. */
export async function diagnose(config: Config, checks: HealthChecks): Promise<FindingView[]> {
  // Worker processes check their own engine, model and memory.
  const transcribes = config.role !== "api";
  return await Promise.all([
    // A version that is too old does not get here: see bin/subtext.js.
    ok("node", `Node.js ${process.versions.node}`),
    ...(transcribes
      ? [
          examineDecoders(config),
          examineEngine(config, checks),
          examineMemory(checks),
          examineProcessor(config, checks),
          examineModel(config, checks),
        ]
      : []),
    examineDatabase(config, checks),
    examine(
      "storage",
      async () => {
        await checks.storage();
        const where = config.bucket === null ? "" : ` in the bucket ${config.bucket.name}`;
        return `Files can be written, read and removed${where}.`;
      },
      storageRemedy(config),
    ),
    examineWorkers(checks),
    examineFiles(checks),
    examineCleanup(checks),
    examineDataFolder(config),
    examineFileAccess(config),
    examinePublicUrl(config),
    ...(config.traces === null ? [] : [examineTraces(config.traces)]),
  ]);
}

async function examine(name: string, check: () => Promise<string>, remedy: string): Promise<FindingView> {
  try {
    return ok(name, await check());
  } catch (error) {
    const setting = settingAtFault(error);
    const detail = messageOf(error);
    return { name, status: "missing", detail, remedy: setting === null ? remedy : `${setting}.` };
  }
}

function engineRemedy({ engine, configuredEngines, modelsFolder }: Config): string {
  const configured = CONFIGURABLE_ENGINES.find(({ kind }) => kind === configuredEngines[0]?.kind);
  if (configured) return `Check ${configured.settings.join(", ")}.`;
  return engine === "whisper"
    ? `Check ${modelsFolder} with \`${commandLine("models verify")}\`.`
    : "Reinstall Subtext, which restores the bundled model.";
}

async function examineEngine(config: Config, { engine }: HealthChecks): Promise<FindingView> {
  let warnings: string[] = [];
  let isTooLarge = false;
  const check = async () => {
    const loaded = await engine().catch((error) => {
      isTooLarge = lacksMemory(error);
      throw error;
    });
    warnings = loaded.warnings;
    return [loaded.text, ...warnings].join("; ");
  };
  const finding = await examine("engine", check, engineRemedy(config));
  if (isTooLarge) {
    return { ...finding, detail: "Not loaded, because it does not fit into memory.", remedy: "See memory." };
  }
  return warnings.length === 0 ? finding : { ...finding, status: "warning" };
}

function lacksMemory(error: unknown): error is SpeechError {
  return error instanceof SpeechError && error.code === "insufficient_memory";
}

async function examineMemory({ memory, model }: HealthChecks): Promise<FindingView> {
  const name = "memory";
  const raise = "Raise the memory limit of the container, or add memory to the machine";
  try {
    const { text, reduced } = await memory();
    if (!reduced) return ok(name, text);
    return { name, status: "warning", detail: text, remedy: `${raise}, if recordings wait for long.` };
  } catch (error) {
    if (!lacksMemory(error)) {
      return { name, status: "warning", detail: "Unknown: no engine is available.", remedy: "See engine." };
    }
    const { wanted } = await model();
    const smaller = `, or set WHISPER_MODEL to a model smaller than ${wanted}, or set ENGINE=moonshine`;
    const remedy = `${raise}${wanted === null ? "" : smaller}.`;
    return { name, status: "missing", detail: error.message, remedy };
  }
}

/** @param cores passed by tests */
export async function examineProcessor(
  { speechProcesses: processes, speechThreads: threads, configuredEngines }: Config,
  { model }: Pick<HealthChecks, "model">,
  cores = availableParallelism(),
): Promise<FindingView> {
  const name = "processor";
  if (configuredEngines.length > 0) return ok(name, counted(cores, "core", "cores"));
  const isBundledOnly = (await model()).wanted === null;
  const usefulThreads = isBundledOnly ? Math.min(threads, MAX_PARTS) : threads;
  const fitting = Math.max(1, Math.floor(cores / usefulThreads));
  const detail = `${counted(cores, "core", "cores")}; ${counted(processes, "speech process", "speech processes")} with ${counted(threads, "thread", "threads")}`;
  if (usefulThreads < threads) {
    return {
      name,
      status: "warning",
      detail: `${detail}. The bundled engine gains nothing from more than ${MAX_PARTS}.`,
      remedy: `Set SPEECH_THREADS=${MAX_PARTS}. To transcribe several recordings at the same time, set SPEECH_PROCESSES to up to ${fitting}, if memory allows.`,
    };
  }
  if (processes >= fitting) return ok(name, `${detail}.`);
  return ok(
    name,
    `${detail}. SPEECH_PROCESSES=${fitting} would transcribe ${fitting} recordings at the same time, if memory allows.`,
  );
}

/** Without an installed model, the service uses the bundled English engine. */
async function examineModel(
  { engine, configuredEngines, modelHubUrl }: Config,
  { model }: HealthChecks,
): Promise<FindingView> {
  const name = "languages";
  const { state, wanted, folder, progress, error, hint } = await model();
  switch (state) {
    case "unwanted":
      return ok(name, configuredEngines.length === 0 ? "English" : "the languages of the configured engine");
    case "installed":
      return ok(name, `all languages of ${wanted}, ${folder}`);
    case "downloading": {
      const far = progress === null ? "" : `: ${describeProgress(progress)}`;
      return ok(name, `only English until ${wanted} is downloaded from ${modelHubUrl}${far}`);
    }
    case "missing":
    case "failed": {
      const detail = `${engine === "whisper" ? "none" : "only English"}: ${error ?? `${wanted} is not installed.`}`;
      return { name, status: engine === "whisper" ? "missing" : "warning", detail, remedy: hint };
    }
  }
}

async function examineDecoders(config: Config): Promise<FindingView> {
  const decoders = await describeDecoders(
    config.ffmpegPath === null ? {} : { ffmpegPath: config.ffmpegPath },
  );
  const used = decoders.find((decoder) => decoder.usable);
  if (used) {
    const detail = `${used.name} ${used.version ?? ""}`.trim();
    if (used.advice === null) return ok("decoder", detail);
    return { name: "decoder", status: "warning", detail, remedy: used.advice };
  }
  return {
    name: "decoder",
    status: "missing",
    detail: "Recordings cannot be decoded on this machine.",
    remedy: decoders.flatMap(({ name, advice }) => (advice === null ? [] : [`${name}: ${advice}`])).join(" "),
  };
}

async function examineDatabase(config: Config, { database }: HealthChecks): Promise<FindingView> {
  let lacksIndex = false;
  const check = async () => {
    const { version, lacksTextIndex } = await database();
    lacksIndex = lacksTextIndex;
    return version;
  };
  const finding = await examine("database", check, databaseRemedy(config));
  if (!lacksIndex) return finding;
  return {
    ...finding,
    status: "warning",
    detail: `${finding.detail}; searching many videos by text is slow, because an index is missing`,
    remedy: `Run as a superuser, one after the other: ${CREATE_TEXT_INDEX}`,
  };
}

/** Migration 0010 does the same if the role is allowed to, but blocks uploads while it creates the index. */
const CREATE_TEXT_INDEX =
  "create extension if not exists pg_trgm; create index concurrently video_metadata_text on video using gin ((metadata::text) gin_trgm_ops);";

function databaseRemedy({ databaseUrl, dataFolder }: Config): string {
  return databaseUrl === null
    ? `Check that ${dataFolder} is writable and that no other process uses it.`
    : "Check that DATABASE_URL is correct and that the database responds there.";
}

function storageRemedy({ bucket, dataFolder }: Config): string {
  return bucket === null
    ? `Make sure that ${dataFolder} is writable and that its disk has space.`
    : `Check that the bucket ${bucket.name} exists, that the ${settingsPatternOf(bucket)} settings are correct, and that the key may list, read, write and delete.`;
}

async function examineDataFolder(config: Config): Promise<FindingView> {
  const { dataFolder } = config;
  const name = "data folder";
  try {
    const existing = await nearestExisting(dataFolder);
    await access(existing, constants.W_OK);
    if (!(await stat(existing)).isDirectory()) throw new Error(`${existing} is not a folder`);
    const { bavail, bsize } = await statfs(existing);
    return examineSpace(config, bavail * bsize);
  } catch (error) {
    const detail = `${dataFolder}: ${messageOf(error)}`;
    return { name, status: "missing", detail, remedy: "Set DATA_DIR to a writable folder." };
  }
}

/** @param free bytes on the disk of the data folder */
export function examineSpace({ dataFolder, bucket, role }: Config, free: number): FindingView {
  const name = "data folder";
  const detail = `${dataFolder}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
  // With a bucket, only workers need the space, for the recordings that they transcribe.
  const needsSpace = bucket === null || role !== "api";
  if (needsSpace && !hasSpace(free, 0)) {
    const stopped = bucket === null ? "Uploads are refused" : "Recordings cannot be fetched from the bucket";
    const limit = `${RESERVED_BYTES / 1024 ** 3} GiB`;
    return { name, status: "missing", detail, remedy: `${stopped} below ${limit}. Free up space.` };
  }
  if (free >= LOW_SPACE_BYTES || !needsSpace) return ok(name, detail);
  const use =
    bucket === null
      ? "recordings are stored there"
      : "workers download the recordings there to transcribe them";
  return { name, status: "warning", detail, remedy: `Free up space, because ${use}.` };
}

async function examineFileAccess({ dataFolder }: Config): Promise<FindingView> {
  const name = "file access";
  let access: FileAccess | null;
  try {
    access = await inspectFileAccess(dataFolder).catch(nullIfAbsent);
  } catch (error) {
    return {
      name,
      status: "warning",
      detail: `Not checked: ${messageOf(error)}`,
      remedy: "See data folder.",
    };
  }
  if (access === null) return ok(name, `${dataFolder} does not exist yet.`);
  const { uid, exposed, foreign } = access;
  const problems = [
    ...(exposed.length > 0
      ? [
          `Other users can access ${counted(exposed.length, "file or folder", "files or folders")} such as ${exposed[0]}.`,
        ]
      : []),
    ...(foreign.length > 0
      ? [
          `Another user owns ${counted(foreign.length, "file or folder", "files or folders")} such as ${foreign[0]}.`,
        ]
      : []),
  ];
  if (problems.length === 0) return ok(name, "Only the user of the service can access the data folder.");
  const commands = [
    ...(foreign.length > 0 ? [`chown -R ${uid} ${dataFolder}`] : []),
    ...(exposed.length > 0 ? [`chmod -R go= ${dataFolder}`] : []),
  ];
  return {
    name,
    status: "warning",
    detail: problems.join(" "),
    remedy: `Run as root: ${commands.join(" && ")}`,
  };
}

/** Without a worker, the service accepts uploads but does not transcribe them. */
async function examineWorkers({ workers }: HealthChecks): Promise<FindingView> {
  const name = "workers";
  const state = await workers().catch(() => null);
  if (!state)
    return { name, status: "warning", detail: "Not checked: the database did not respond.", remedy: null };
  const { running, waiting } = state;
  if (running === null) return ok(name, "A single process runs everything.");
  if (running > 0) return ok(name, `${counted(running, "worker is running", "workers are running")}.`);
  const queue = waiting === 0 ? "" : ` Waiting: ${counted(waiting, "video", "videos")}.`;
  return {
    name,
    status: waiting === 0 ? "warning" : "missing",
    detail: `No worker is running, so no video is transcribed and no webhook is sent.${queue}`,
    remedy: "Start a process with ROLE=worker, or check in its log why it stopped.",
  };
}

async function examineFiles({ files }: HealthChecks): Promise<FindingView> {
  const name = "files";
  const state = await files().catch(() => null);
  if (!state) {
    const detail = "Unknown: the database did not respond.";
    return { name, status: "warning", detail, remedy: "See database." };
  }
  const { missing, examples, checkedAt } = state;
  const counts = [
    missing.recording > 0 && `the recordings of ${counted(missing.recording, "video", "videos")}`,
    missing.transcript > 0 && `the transcripts of ${counted(missing.transcript, "video", "videos")}`,
  ].filter(Boolean);
  const when =
    checkedAt === null
      ? "not all files have been checked yet"
      : `the last complete check ended at ${checkedAt.toISOString()}`;
  if (counts.length === 0) return ok(name, `No files are known to be missing; ${when}.`);
  return {
    name,
    status: "warning",
    detail: `Missing: ${counts.join(", ")}, including ${examples.join(", ")}; ${when}.`,
    remedy: `Restore the files from a backup under the same names, or delete the videos. Then run \`${commandLine("doctor --files")}\`.`,
  };
}

async function examineCleanup({ cleanup }: HealthChecks): Promise<FindingView> {
  const name = "cleanup";
  const state = await cleanup().catch(() => null);
  if (!state)
    return { name, status: "warning", detail: "Not checked: the database did not respond.", remedy: null };
  const { ownership, unknown } = state;
  const { files, bytes, oldestSeenAt, examples } = unknown;
  const found =
    files === 0
      ? "The database has a record of every stored file."
      : `${counted(files, "stored file is", "stored files are")} not recorded in the database ` +
        `(${(bytes / 1024 ** 2).toFixed(1)} MiB), including ${examples.join(", ")}.`;
  if (!ownership.isOwner && ownership.reason !== "unclaimed") {
    return {
      name,
      status: "warning",
      detail: `${ownership.message} ${found}`,
      remedy: `\`${commandLine("storage accept")}\` shows what would be deleted; with \`--yes\` it resumes deletions. Stop any other service on these files first.`,
    };
  }
  if (oldestSeenAt === null) return ok(name, found);
  const deletedAt = new Date(oldestSeenAt.getTime() + UNKNOWN_FILE_RETENTION_MS);
  return {
    name,
    status: "warning",
    detail: `${found} The first will be deleted on ${deletedAt.toISOString()}.`,
    remedy: "If an older copy of the database was restored, restore the newer one before then.",
  };
}

/** Returns the folder, or its nearest parent that exists. */
async function nearestExisting(folder: string): Promise<string> {
  for (let candidate = folder; ; candidate = dirname(candidate)) {
    try {
      await access(candidate, constants.F_OK);
      return candidate;
    } catch (error) {
      if (!isAbsence(error) || candidate === dirname(candidate)) throw error;
    }
  }
}

function examinePublicUrl({ publicUrl, host, trustProxy }: Config): FindingView {
  const name = "public URL";
  const warning = (remedy: string): FindingView => ({ name, status: "warning", detail: publicUrl, remedy });
  const { protocol, hostname } = new URL(publicUrl);
  if (isLoopback(hostname)) {
    if (isLoopback(host)) return ok(name, `${publicUrl}, reachable only from this machine`);
    return warning(
      "The URLs that the service returns work only on this machine. Set PUBLIC_URL if others connect.",
    );
  }
  if (protocol === "http:") {
    return warning(
      "Keys and passwords are sent unencrypted. Put a TLS proxy in front of the service and set PUBLIC_URL=https://…",
    );
  }
  if (trustProxy === false) {
    return warning(
      "https requires a proxy in front of the service. Set TRUST_PROXY to the number of proxies. Otherwise, the log and rate limits use the proxy's address.",
    );
  }
  return ok(name, publicUrl);
}

/** Sends the collector an export request without spans. */
async function examineTraces({ endpoint, headers }: TracesConfig): Promise<FindingView> {
  const name = "traces";
  const warning = (detail: string): FindingView => {
    const remedy = "Check OTEL_EXPORTER_OTLP_…; without a collector, traces are dropped.";
    return { name, status: "warning", detail, remedy };
  };
  try {
    const response = await fetch(`${endpoint}/v1/traces`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ resourceSpans: [] }),
      signal: AbortSignal.timeout(COLLECTOR_TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.ok) return ok(name, `${endpoint} accepts traces.`);
    return warning(`${endpoint} responded with ${response.status}.`);
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    return warning(`${endpoint} is unreachable: ${messageOf(cause ?? error)}`);
  }
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
}

function ok(name: string, detail: string): FindingView {
  return { name, status: "ok", detail, remedy: null };
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
