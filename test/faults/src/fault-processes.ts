import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { RunningProcess } from "@subtext/bench/process-tree";
import { sleep } from "@subtext/bench/spawned-service";
import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type Fault, isRunning, signal, soon, type World } from "./fault.ts";
import { type Fleet, isDecoder, isEngine, type Member } from "./fleet.ts";
import { between, pickByShare, pickOne, type Random } from "./seeded.ts";

const KIBIBYTE = 1024;
/** Room that an engine has left when its memory is limited: less than a recording takes. */
const LEFT_BYTES = 4 * 1024 ** 2;
/** Longer than a worker may be silent before its work is given to another. */
const LONG_PAUSE_MS = [12_000, 20_000] as const;
/** Behind all that waits. */
const TAKEN_UP_WITHIN_MS = 60_000;
/** The lease, its loss being noticed, and the work once more. */
const TAKEN_OVER_WITHIN_MS = 60_000;
const SHORT_PAUSE_MS = [1_000, 8_000] as const;
/** Also beyond the limit after which a busy engine counts as hung. */
const HANG_MS = [8_000, 40_000] as const;
const FIND_WITHIN_MS = 4_000;
const CLOCK_JUMPS_MS = [-7_200_000, -60_000, -3_000, 3_000, 60_000, 7_200_000];

export function processFaults(fleet: Fleet): Fault[] {
  const oneOf = (members: (fleet: Fleet) => Member[], kind: string): Fault["draw"] => {
    return (of, random) => {
      const member = pickOne(members(of), random);
      return { holds: `${kind} of ${member.name}`, member };
    };
  };
  let pauses = 0;
  const anyWorker = oneOf((of) => of.workers, "process");
  const anyMember = oneOf((of) => of.members, "process");
  const front = oneOf((of) => [of.front], "process");
  const anyEngine = oneOf((of) => of.workers, "engine");

  const faults: Fault[] = [
    {
      name: "worker killed",
      share: 18,
      draw: anyWorker,
      apply: ({ fleet: of }, member) => endAndStart(of, member, "SIGKILL"),
    },
    {
      name: "worker paused past its lease",
      share: 18,
      // One at a time, so that another process can take over its work.
      draw: (of) => ({ holds: "lease", member: of.front }),
      apply(world, _member, random) {
        pauses += 1;
        return pauseAtWork(world, pauses % 2 === 1 ? "SKIPPED" : "COMPLETED", random);
      },
    },
    {
      name: "ended and started again",
      share: 14,
      draw: anyMember,
      apply: ({ fleet: of }, member) => endAndStart(of, member, "SIGTERM"),
    },
    {
      name: "engine killed",
      share: 18,
      draw: anyEngine,
      apply: ({ fleet: of }, member) => hit(of, member, isEngine, ({ pid }) => signal(pid, "SIGKILL")),
    },
    {
      name: "engine hung",
      share: 12,
      draw: anyEngine,
      apply: ({ fleet: of }, member, random) => stopFor(of, member, isEngine, between(...HANG_MS, random)),
    },
    {
      name: "engine out of memory",
      share: 12,
      draw: anyEngine,
      apply: ({ fleet: of }, member) => hit(of, member, isEngine, ({ pid }) => limitMemory(pid)),
    },
    {
      name: "decoder killed",
      share: 12,
      draw: anyEngine,
      apply: ({ fleet: of }, member) => hit(of, member, isDecoder, ({ pid }) => signal(pid, "SIGKILL")),
    },
    {
      name: "decoder hung",
      share: 6,
      draw: anyEngine,
      apply: ({ fleet: of }, member, random) =>
        stopFor(of, member, isDecoder, between(...SHORT_PAUSE_MS, random)),
    },
    { name: "clock jumped", share: 12, draw: oneOf((of) => of.members, "clock"), apply: jump },
  ];
  if (!fleet.stores) return faults;
  return [
    ...faults,
    {
      name: "api killed",
      share: 8,
      draw: front,
      apply: ({ fleet: of }, member) => endAndStart(of, member, "SIGKILL"),
    },
    {
      name: "api paused",
      share: 6,
      draw: front,
      apply: ({ fleet: of }, member, random) =>
        pause(of, member, random, () => sleep(between(...LONG_PAUSE_MS, random))),
    },
  ];
}

async function endAndStart(fleet: Fleet, member: Member, how: "SIGKILL" | "SIGTERM"): Promise<boolean> {
  if (!member.wanted || !isRunning(member)) return false;
  await fleet.takeDown(member, how);
  await fleet.bringUp(member);
  return true;
}

/**
 * One that is at work, on a video that comes for this, until another has ended it: it wakes up with something to
 * say, and too late. A second completion the database refuses by itself (a transcript is indexed once), and so it
 * does a return to PENDING of what has files; a second SKIPPED nothing refuses but the fence.
 */
async function pauseAtWork(
  { fleet, customer, recordings, uploads }: World,
  ends: TranscriptionStatus,
  random: Random,
): Promise<boolean> {
  const suitable = recordings.filter((recording) => recording.ends === ends);
  const upload = await customer.upload(pickByShare(suitable, random));
  uploads.push(upload);
  const { videoId } = upload;
  const atWork = () => fleet.workers.find((member) => member.wanted && fleet.isAt(member, videoId));
  const member = await soon(atWork, TAKEN_UP_WITHIN_MS);
  if (member === null) return false;
  return await pause(fleet, member, random, async () => {
    // There is no other process.
    if (fleet.workers.length === 1) await sleep(between(...LONG_PAUSE_MS, random));
    else await customer.untilEnded(videoId, TAKEN_OVER_WITHIN_MS);
  });
}

/** Stops only the process, so that its engine continues and has messages for it when it resumes; or all, like a frozen machine. */
async function pause(
  fleet: Fleet,
  member: Member,
  random: Random,
  pass: () => Promise<unknown>,
): Promise<boolean> {
  if (!member.wanted || !isRunning(member)) return false;
  const tree = fleet.treeOf(member);
  const stopped = random() < 0.6 ? tree.slice(0, 1) : tree;
  if (!stopped.some(({ pid }) => signal(pid, "SIGSTOP"))) return false;
  try {
    await pass();
  } finally {
    for (const { pid } of stopped) signal(pid, "SIGCONT");
  }
  return true;
}

async function hit(
  fleet: Fleet,
  member: Member,
  which: (process: RunningProcess) => boolean,
  strike: (process: RunningProcess) => boolean,
): Promise<boolean> {
  const victim = await soon(() => fleet.treeOf(member).find(which), FIND_WITHIN_MS);
  return victim !== null && strike(victim);
}

async function stopFor(
  fleet: Fleet,
  member: Member,
  which: (process: RunningProcess) => boolean,
  forMs: number,
): Promise<boolean> {
  const victim = await soon(() => fleet.treeOf(member).find(which), FIND_WITHIN_MS);
  if (victim === null || !signal(victim.pid, "SIGSTOP")) return false;
  await sleep(forMs);
  signal(victim.pid, "SIGCONT");
  return true;
}

/** Rejects its further allocations, as on a machine without free memory. */
function limitMemory(pid: number): boolean {
  try {
    const kib = Number(/^VmSize:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    execFileSync("prlimit", ["--pid", String(pid), `--as=${kib * KIBIBYTE + LEFT_BYTES}`], {
      stdio: "ignore",
    });
    return true;
  } catch {
    // It has just ended.
    return false;
  }
}

async function jump({ fleet }: { fleet: Fleet }, member: Member, random: Random): Promise<boolean> {
  await writeFile(fleet.clockFile(member), String(pickOne(CLOCK_JUMPS_MS, random)));
  await sleep(between(2_000, 10_000, random));
  await writeFile(fleet.clockFile(member), "0");
  return true;
}
