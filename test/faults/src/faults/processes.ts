import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProcess } from "@subtext/bench/process-tree";
import type { Random } from "@subtext/bench/seeded";
import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type Fleet, isDecoder, isEngine, type Member } from "../fleet.ts";
import { between, pickByShare, pickOne } from "../random.ts";
import { type Fault, isRunning, pollUntil, signal, type World } from "./fault.ts";

const KIBIBYTE = 1024;
/** Less than an engine allocates for a recording. */
const REMAINING_BYTES = 4 * 1024 ** 2;
/** Longer than the lease of a worker, so that another worker takes over its job. */
const LONG_PAUSE_MS = [12_000, 20_000] as const;
/** Includes the time until the jobs that were queued before have ended. */
const CLAIM_TIMEOUT_MS = 60_000;
/** Includes the expiry of the lease, its detection, and another attempt. */
const TAKEOVER_TIMEOUT_MS = 60_000;
const SHORT_PAUSE_MS = [1_000, 8_000] as const;
/** The longest pauses exceed the timeout after which the service considers an engine hung. */
const HANG_MS = [8_000, 40_000] as const;
const FIND_TIMEOUT_MS = 4_000;
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
  const front = oneOf((current) => [current.front], "process");
  const anyEngine = oneOf((current) => current.workers, "engine");

  const faults: Fault[] = [
    {
      name: "worker killed",
      share: 18,
      draw: anyWorker,
      apply: ({ fleet: current }, member) => stopAndStart(current, member, "SIGKILL"),
    },
    {
      name: "worker paused past its lease",
      share: 18,
      // Only one worker is paused at a time, so that another one can take over the job.
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
      apply: ({ fleet: current }, member) => stopAndStart(current, member, "SIGTERM"),
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
    { name: "clock jumped", share: 12, draw: oneOf((current) => current.members, "clock"), apply: jumpClock },
  ];
  if (!fleet.stores) return faults;
  return [
    ...faults,
    {
      name: "api killed",
      share: 8,
      draw: front,
      apply: ({ fleet: current }, member) => stopAndStart(current, member, "SIGKILL"),
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

async function stopAndStart(fleet: Fleet, member: Member, how: "SIGKILL" | "SIGTERM"): Promise<boolean> {
  if (!member.shouldRun || !isRunning(member)) return false;
  await fleet.stopMember(member, how);
  await fleet.startMember(member);
  return true;
}

/**
 * Uploads a video and pauses the worker that transcribes it until another worker has ended the job. When the first
 * worker resumes, its writes are stale. Only the fence rejects a stale SKIPPED; constraints of the database also reject
 * a stale completion.
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
  const member = await pollUntil(atWork, CLAIM_TIMEOUT_MS);
  if (member === null) return false;
  return await pause(fleet, member, random, async () => {
    // No other worker can take over the job.
    if (fleet.workers.length === 1) await sleep(between(...LONG_PAUSE_MS, random));
    else await customer.untilEnded(videoId, TAKEOVER_TIMEOUT_MS);
  });
}

/**
 * Pauses a process until `wait` resolves: either alone, so that its engine continues and sends it messages, or with all
 * its child processes, like a frozen machine.
 */
async function pause(
  fleet: Fleet,
  member: Member,
  random: Random,
  wait: () => Promise<unknown>,
): Promise<boolean> {
  if (!member.shouldRun || !isRunning(member)) return false;
  const tree = fleet.processTreeOf(member);
  const stopped = random() < 0.6 ? tree.slice(0, 1) : tree;
  if (!stopped.some(({ pid }) => signal(pid, "SIGSTOP"))) return false;
  try {
    await wait();
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
  const target = await pollUntil(() => fleet.processTreeOf(member).find(matches), FIND_TIMEOUT_MS);
  return target !== null && damage(target);
}

async function pauseFor(
  fleet: Fleet,
  member: Member,
  matches: (process: RunningProcess) => boolean,
  forMs: number,
): Promise<boolean> {
  const target = await pollUntil(() => fleet.processTreeOf(member).find(matches), FIND_TIMEOUT_MS);
  if (target === null || !signal(target.pid, "SIGSTOP")) return false;
  await sleep(forMs);
  signal(target.pid, "SIGCONT");
  return true;
}

/** Makes further allocations fail, as on a machine without free memory. */
function limitMemory(pid: number): boolean {
  try {
    const kib = Number(/^VmSize:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    execFileSync("prlimit", ["--pid", String(pid), `--as=${kib * KIBIBYTE + REMAINING_BYTES}`], {
      stdio: "ignore",
    });
    return true;
  } catch {
    // The process has ended.
    return false;
  }
}

async function jumpClock({ fleet }: { fleet: Fleet }, member: Member, random: Random): Promise<boolean> {
  await writeFile(fleet.clockFile(member), String(pickOne(CLOCK_JUMPS_MS, random)));
  await sleep(between(2_000, 10_000, random));
  await writeFile(fleet.clockFile(member), "0");
  return true;
}
