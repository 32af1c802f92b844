import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processTree, type RunningProcess } from "@subtext/bench/process-tree";
import { SpawnedService } from "@subtext/bench/spawned-service";
import { freePort } from "../../../server/test/support/free-port.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import type { SharedStores } from "./stores.ts";
import { startUnreliableBucket, type UnreliableBucket } from "./unreliable-bucket.ts";

const POLL_INTERVAL_MS = 100;
const START_WITHIN_MS = 180_000;
const PRELOADS = {
  clock: new URL("shifted-clock.ts", import.meta.url).href,
  fence: new URL("broken-fence.ts", import.meta.url).href,
};

export interface Member {
  name: string;
  role: "api" | "worker" | "all";
  service: SpawnedService;
  /** Null with the embedded database. */
  database: TcpProxy | null;
  /** Null if files are stored on disk. */
  bucket: TcpProxy | null;
  disk: SmallDisk | null;
  logFile: string;
  /** Whether the fleet restarts the process if it exits. */
  shouldRun: boolean;
}

export interface FleetOptions {
  folder: string;
  /** Null for one process with the embedded database. */
  stores: SharedStores | null;
  workers: number;
  breakFence: boolean;
  random: () => number;
}

/** The processes under test, and the proxies between them and their stores. */
export class Fleet {
  readonly members: Member[] = [];
  readonly stores: SharedStores | null;
  /** Null without a bucket. */
  unreliable: UnreliableBucket | null = null;
  readonly unexpectedExits: string[] = [];
  /** A start may fail while a store is unavailable. */
  failedStarts = 0;
  /** Commands of all child processes seen so far, keyed by pid. */
  readonly #children = new Map<number, string>();
  readonly #options: FleetOptions;
  #supervising = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.stores = options.stores;
  }

  /** Creates the members without starting them. Call `close` even if this throws. */
  async open(): Promise<void> {
    const { stores, random, workers } = this.#options;
    if (stores) this.unreliable = await startUnreliableBucket({ port: stores.bucketPort }, random);
    const roles = stores
      ? (["api", ...Array.from({ length: workers }, () => "worker" as const)] as const)
      : (["all"] as const);
    for (const [index, role] of roles.entries()) {
      this.members.push(await this.#newMember(role, role === "worker" ? `worker ${index}` : role));
    }
  }

  /** The process that clients call. */
  get front(): Member {
    return this.members[0]!;
  }

  get workers(): Member[] {
    return this.members.filter(({ role }) => role !== "api");
  }

  clockFile(member: Member): string {
    return join(member.service.dataFolder, "clock-shift");
  }

  async #newMember(role: Member["role"], name: string): Promise<Member> {
    const { folder, stores, breakFence } = this.#options;
    const dataFolder = join(folder, name.replace(" ", "-"));
    const logFile = `${dataFolder}.log`;
    const database = stores && (await startTcpProxy({ port: stores.databasePort }));
    const bucket = this.unreliable && (await startTcpProxy({ port: this.unreliable.port }));
    const shared =
      stores && database && bucket
        ? stores.settings({ databasePort: database.port, bucketPort: bucket.port })
        : {};
    const disk = mountSmallDisk(join(dataFolder, stores ? "scratch" : "files"));
    const settings = {
      ...shared,
      ROLE: role,
      LOG_LEVEL: "info",
      SPEECH_THREADS: "1",
      WORKER_CONCURRENCY: stores ? "1" : "2",
      SPEECH_PROCESSES: stores ? "1" : "2",
      CHAOS_CLOCK_FILE: join(dataFolder, "clock-shift"),
    };
    const preload = [PRELOADS.clock, ...(breakFence && role !== "api" ? [PRELOADS.fence] : [])];
    const service = new SpawnedService(dataFolder, await freePort(), settings, { preload, logFile });
    return { name, role, service, database, bucket, disk, logFile, shouldRun: false };
  }

  /** Starts all members and restarts those that exit unexpectedly. */
  async start(): Promise<void> {
    await Promise.all(this.members.map((member) => this.startMember(member)));
    this.#supervising = true;
    void this.#supervise();
  }

  /** Retries while the member's stores are unavailable. Resolves when the member is ready. */
  async startMember(member: Member): Promise<void> {
    const deadline = performance.now() + START_WITHIN_MS;
    for (;;) {
      try {
        await member.service.start();
        member.shouldRun = true;
        return;
      } catch (error) {
        this.failedStarts += 1;
        if (performance.now() > deadline) throw error;
        await sleep(500);
      }
    }
  }

  /** Stops a member without restarting it. */
  async stopMember(member: Member, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    member.shouldRun = false;
    await member.service.end(signal);
  }

  /** Returns the running processes of a member, starting with the member itself. */
  processTreeOf({ service }: Member): RunningProcess[] {
    const tree = service.pid === undefined || !service.isRunning ? [] : processTree(service.pid);
    for (const { pid, command } of tree.slice(1)) this.#children.set(pid, command);
    return tree;
  }

  isWorkingOn(member: Member, videoId: string): boolean {
    // Without a bucket, the decoder's command contains the video id. With a bucket, the attempt's local copy does.
    if (!this.stores)
      return this.processTreeOf(member).some((its) => isDecoder(its) && its.command.includes(videoId));
    const scratch = join(member.service.dataFolder, "scratch");
    try {
      return readdirSync(scratch, { recursive: true }).some((name) => String(name).includes(videoId));
    } catch {
      // The worker has ended and deleted the folder.
      return false;
    }
  }

  /** Returns child processes that are still running although their parent has ended. */
  orphans(): string[] {
    const attached = new Set(
      this.members.flatMap((member) => this.processTreeOf(member).map(({ pid }) => pid)),
    );
    return [...this.#children].flatMap(([pid, command]) => {
      const [process] = attached.has(pid) ? [] : processTree(pid);
      return process?.command === command ? [`${pid} ${command}`] : [];
    });
  }

  /** Restores connections, clocks and disk space. */
  async endFaults(): Promise<void> {
    if (this.unreliable) this.unreliable.failing = 0;
    for (const member of this.members) {
      await member.database?.pass();
      await member.bucket?.pass();
      member.disk?.makeRoom();
      await writeFile(this.clockFile(member), "0");
    }
  }

  async stop(): Promise<void> {
    this.#supervising = false;
    await Promise.all(this.members.map((member) => this.stopMember(member, "SIGTERM")));
  }

  async close(): Promise<void> {
    this.#supervising = false;
    for (const member of this.members) {
      await this.stopMember(member, "SIGKILL");
      await member.database?.close();
      await member.bucket?.close();
      member.disk?.unmount();
    }
    this.unreliable?.close();
  }

  async #supervise(): Promise<void> {
    while (this.#supervising) {
      for (const member of this.members) {
        if (!member.shouldRun || member.service.isRunning) continue;
        member.shouldRun = false;
        this.unexpectedExits.push(`${member.name} exited unexpectedly: ${member.service.exitDescription}`);
        console.log(`${member.name} exited unexpectedly: ${member.service.exitDescription}`);
        void this.startMember(member).catch((error) => this.unexpectedExits.push(`${member.name}: ${error}`));
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

export function isEngine({ command }: RunningProcess): boolean {
  return command.includes("processes/process-main.ts");
}

export function isDecoder(process: RunningProcess): boolean {
  return !isEngine(process) && /ffmpeg|node-av-child/.test(process.command);
}
