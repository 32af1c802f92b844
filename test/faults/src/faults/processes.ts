import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { RunningProcess } from "@subtext/bench/process-tree";
import { sleep } from "@subtext/bench/spawned-service";
import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type Fleet, isDecoder, isEngine, type Member } from "../fleet.ts";
import { between, pickByShare, pickOne, type Random } from "../seeded.ts";
import { type Fault, isRunning, pollUntil, signal, type World } from "./fault.ts";

const KIBIBYTE = 1024;
/** Memory that a limited engine can still allocate: less than a recording needs. */
const LEFT_BYTES = 4 * 1024 ** 2;
/** Longer than the lease of a worker, after which another worker takes over its job. */
const LONG_PAUSE_MS = [12_000, 20_000] as const;
/** Includes the wait for all jobs that were queued before. */
const TAKEN_UP_WITHIN_MS = 60_000;
/** Includes the expiry of the lease, its detection, and another attempt. */
const TAKEN_OVER_WITHIN_MS = 60_000;
const SHORT_PAUSE_MS = [1_000, 8_000] as const;
/** The maximum exceeds the limit after which a busy engine counts as hung. */
const HANG_MS = [8_000, 40_000] as const;
const FIND_WITHIN_MS = 4_000;
const CLOCK_JUMPS_MS = [-7_200_000, -60_000, -3_000, 3_000, 60_000, 7_200_000];

export function processFaults(fleet: Fleet): Fault[] {
  const oneOf = (members: (fleet: Fleet) => Member[], kind: string): Fault["draw"] => {
    return (current, random) => {
      const member = pickOne(members(current), random);
      return { exclusive: `${kind} of ${member.name}`, member };
    };
  };
  let pauses = 0;
  const anyWorker = oneOf((current) => current.workers, "process");
  const anyMember = oneOf((current) => current.members, "process");
  const front = oneOf((of) => [of.front], "process");
  const anyEngine = oneOf((current) => current.workers, "engine");

  const faults: Fault[] = [
    {
      name: "worker killed",
      share: 18,
      draw: anyWorker,
      apply: ({ fleet: current }, member) => endAndStart(current, member, "SIGKILL"),
    },
    {
      name: "worker paused past its lease",
      share: 18,
      // One at a time, so that another process can take over the job.
      draw: (current) => ({ exclusive: "lease", member: current.front }),
      apply(world, _member, random) {
        pauses += 1;
        return pauseAtWork(world, pauses % 2 === 1 ? "SKIPPED" : "COMPLETED", random);
      },
    },
    {
      name: "restarted",
      share: 14,
      draw: anyMember,
      apply: ({ fleet: current }, member) => endAndStart(current, member, "SIGTERM"),
    },
    {
      name: "engine killed",
      share: 18,
      draw: anyEngine,
      apply: ({ fleet: current }, member) =>
        damageProcess(current, member, isEngine, ({ pid }) => signal(pid, "SIGKILL")),
    },
    {
      name: "engine hung",
      share: 12,
      draw: anyEngine,
      apply: ({ fleet: current }, member, random) =>
        pauseFor(current, member, isEngine, between(...HANG_MS, random)),
    },
    {
      name: "engine out of memory",
      share: 12,
      draw: anyEngine,
      apply: ({ fleet: current }, member) =>
        damageProcess(current, member, isEngine, ({ pid }) => limitMemory(pid)),
    },
    {
      name: "decoder killed",
      share: 12,
      draw: anyEngine,
      apply: ({ fleet: current }, member) =>
        damageProcess(current, member, isDecoder, ({ pid }) => signal(pid, "SIGKILL")),
    },
    {
      name: "decoder hung",
      share: 6,
      draw: anyEngine,
      apply: ({ fleet: current }, member, random) =>
        pauseFor(current, member, isDecoder, between(...SHORT_PAUSE_MS, random)),
    },
    { name: "clock jumped", share: 12, draw: oneOf((current) => current.members, "clock"), apply: jump },
  ];
  if (!fleet.stores) return faults;
  return [
    ...faults,
    {
      name: "api killed",
      share: 8,
      draw: front,
      apply: ({ fleet: current }, member) => endAndStart(current, member, "SIGKILL"),
    },
    {
      name: "api paused",
      share: 6,
      draw: front,
      apply: ({ fleet: current }, member, random) =>
        pause(current, member, random, () => sleep(between(...LONG_PAUSE_MS, random))),
    },
  ];
}

async function endAndStart(fleet: Fleet, member: Member, how: "SIGKILL" | "SIGTERM"): Promise<boolean> {
  if (!member.shouldRun || !isRunning(member)) return false;
  await fleet.stopMember(member, how);
  await fleet.startMember(member);
  return true;
}

/**
 * Uploads a video and pauses the worker that transcribes it until another worker has ended the job, so that the first
 * worker's writes come too late. Only the fence rejects a second SKIPPED. The database itself also rejects a second
 * completion (a transcript is indexed once) and a return to PENDING after files were written.
 */
async function pauseAtWork(
  { fleet, customer, recordings, uploads }: World,
  expectedStatus: TranscriptionStatus,
  random: Random,
): Promise<boolean> {
  const suitable = recordings.filter((recording) => recording.expectedStatus === expectedStatus);
  const upload = await customer.upload(pickByShare(suitable, random));
  uploads.push(upload);
  const { videoId } = upload;
  const atWork = () => fleet.workers.find((member) => member.shouldRun && fleet.isWorkingOn(member, videoId));
  const member = await pollUntil(atWork, TAKEN_UP_WITHIN_MS);
  if (member === null) return false;
  return await pause(fleet, member, random, async () => {
    // No other process can end the job.
    if (fleet.workers.length === 1) await sleep(between(...LONG_PAUSE_MS, random));
    else await customer.untilEnded(videoId, TAKEN_OVER_WITHIN_MS);
  });
}

/**
 * Pauses only the process, so that its engine continues and queues messages for it, or its whole process tree, like a
 * frozen machine.
 */
async function pause(
  fleet: Fleet,
  member: Member,
  random: Random,
  pass: () => Promise<unknown>,
): Promise<boolean> {
  if (!member.shouldRun || !isRunning(member)) return false;
  const tree = fleet.processTreeOf(member);
  const stopped = random() < 0.6 ? tree.slice(0, 1) : tree;
  if (!stopped.some(({ pid }) => signal(pid, "SIGSTOP"))) return false;
  try {
    await pass();
  } finally {
    for (const { pid } of stopped) signal(pid, "SIGCONT");
  }
  return true;
}

async function damageProcess(
  fleet: Fleet,
  member: Member,
  matches: (process: RunningProcess) => boolean,
  damage: (process: RunningProcess) => boolean,
): Promise<boolean> {
  const target = await pollUntil(() => fleet.processTreeOf(member).find(matches), FIND_WITHIN_MS);
  return target !== null && damage(target);
}

async function pauseFor(
  fleet: Fleet,
  member: Member,
  matches: (process: RunningProcess) => boolean,
  forMs: number,
): Promise<boolean> {
  const target = await pollUntil(() => fleet.processTreeOf(member).find(matches), FIND_WITHIN_MS);
  if (target === null || !signal(target.pid, "SIGSTOP")) return false;
  await sleep(forMs);
  signal(target.pid, "SIGCONT");
  return true;
}

/** Makes further allocations of the process fail, as on a machine without free memory. */
function limitMemory(pid: number): boolean {
  try {
    const kib = Number(/^VmSize:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    execFileSync("prlimit", ["--pid", String(pid), `--as=${kib * KIBIBYTE + LEFT_BYTES}`], {
      stdio: "ignore",
    });
    return true;
  } catch {
    // The process has just ended.
    return false;
  }
}

async function jump({ fleet }: { fleet: Fleet }, member: Member, random: Random): Promise<boolean> {
  await writeFile(fleet.clockFile(member), String(pickOne(CLOCK_JUMPS_MS, random)));
  await sleep(between(2_000, 10_000, random));
  await writeFile(fleet.clockFile(member), "0");
  return true;
}
