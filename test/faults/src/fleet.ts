import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { processTree, type RunningProcess } from "@subtext/bench/process-tree";
import { freePort, SpawnedService, sleep } from "@subtext/bench/spawned-service";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import type { SharedStores } from "./stores.ts";
import { startUnreliableBucket, type UnreliableBucket } from "./unreliable-bucket.ts";

const LOOK_EVERY_MS = 100;
const START_WITHIN_MS = 180_000;
const PRELOADS = {
  clock: new URL("shifted-clock.ts", import.meta.url).href,
  fence: new URL("broken-fence.ts", import.meta.url).href,
};

/** One process of the service, and the networks and the disk that are its own. */
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
  /** Whether it is to run: one that ends though it should not is started again, as a supervisor would. */
  wanted: boolean;
}

export interface FleetOptions {
  folder: string;
  /** Null for one process with everything inside. */
  stores: SharedStores | null;
  workers: number;
  breakFence: boolean;
  random: () => number;
}

/** The processes under test with everything between them and their dependencies. */
export class Fleet {
  readonly members: Member[] = [];
  readonly stores: SharedStores | null;
  /** Of the shared bucket; null without one. */
  unreliable: UnreliableBucket | null = null;
  /** Unexpected exits of processes that had been ready. */
  readonly collapses: string[] = [];
  /** Starts that failed, as they may while a store is away. */
  failedStarts = 0;
  /** Every child process seen so far, with its kind. */
  readonly #children = new Map<number, string>();
  readonly #options: FleetOptions;
  #supervising = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.stores = options.stores;
  }

  /** Makes the members; `start` starts them. What was made when it fails is for `close`. */
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

  /** The one that takes requests. */
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
    return { name, role, service, database, bucket, disk, logFile, wanted: false };
  }

  /** Starts all, and from then on again whichever ends by itself. */
  async start(): Promise<void> {
    await Promise.all(this.members.map((member) => this.bringUp(member)));
    this.#supervising = true;
    void this.#supervise();
  }

  /** Starts a member, again and again where its stores are away; resolves when it is ready. */
  async bringUp(member: Member): Promise<void> {
    const givesUpAt = performance.now() + START_WITHIN_MS;
    for (;;) {
      try {
        await member.service.start();
        member.wanted = true;
        return;
      } catch (error) {
        this.failedStarts += 1;
        if (performance.now() > givesUpAt) throw error;
        await sleep(500);
      }
    }
  }

  /** Ends a member and prevents that it is restarted meanwhile. */
  async takeDown(member: Member, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    member.wanted = false;
    await member.service.end(signal);
  }

  /** All of a member's processes that run now, itself first. */
  treeOf({ service }: Member): RunningProcess[] {
    const tree = service.pid === undefined || !service.running ? [] : processTree(service.pid);
    for (const { pid, command } of tree.slice(1)) this.#children.set(pid, command);
    return tree;
  }

  /** Whether a worker has begun with this video. */
  isAt(member: Member, videoId: string): boolean {
    // From a bucket, each attempt fetches its own copy; else the decoder names the recording.
    if (!this.stores)
      return this.treeOf(member).some((its) => isDecoder(its) && its.command.includes(videoId));
    const scratch = join(member.service.dataFolder, "scratch");
    try {
      return readdirSync(scratch, { recursive: true }).some((name) => String(name).includes(videoId));
    } catch {
      // It has ended meanwhile and taken its folder along.
      return false;
    }
  }

  /** Children that live though the process that made them is gone. */
  orphans(): string[] {
    const held = new Set(this.members.flatMap((member) => this.treeOf(member).map(({ pid }) => pid)));
    return [...this.#children].flatMap(([pid, command]) => {
      const [process] = held.has(pid) ? [] : processTree(pid);
      return process?.command === command ? [`${pid} ${command}`] : [];
    });
  }

  /** Whatever was bad between them and their stores is good again; clocks are right, disks have room. */
  async calm(): Promise<void> {
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
    await Promise.all(this.members.map((member) => this.takeDown(member, "SIGTERM")));
  }

  async close(): Promise<void> {
    this.#supervising = false;
    for (const member of this.members) {
      await this.takeDown(member, "SIGKILL");
      await member.database?.close();
      await member.bucket?.close();
      member.disk?.unmount();
    }
    this.unreliable?.close();
  }

  async #supervise(): Promise<void> {
    while (this.#supervising) {
      for (const member of this.members) {
        if (!member.wanted || member.service.running) continue;
        member.wanted = false;
        this.collapses.push(`${member.name} ended by itself: ${member.service.howEnded}`);
        console.log(`${member.name} ended by itself: ${member.service.howEnded}`);
        void this.bringUp(member).catch((error) => this.collapses.push(`${member.name}: ${error}`));
      }
      await sleep(LOOK_EVERY_MS);
    }
  }
}

export function isEngine({ command }: RunningProcess): boolean {
  return command.includes("processes/process-main.ts");
}

export function isDecoder(process: RunningProcess): boolean {
  return !isEngine(process) && /ffmpeg|node-av-child/.test(process.command);
}
