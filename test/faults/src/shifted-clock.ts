/**
 * Preloaded into a service process to shift its wall clock by the milliseconds in the file `CHAOS_CLOCK_FILE`. As on a
 * real machine, monotonic clocks are not shifted.
 */
import { readFileSync } from "node:fs";

const POLL_INTERVAL_MS = 100;
const path = process.env.CHAOS_CLOCK_FILE ?? "";
const RealDate = Date;
const realNow = Date.now;
let shiftMs = 0;

const readShift = () => {
  try {
    shiftMs = Number(readFileSync(path, "utf8")) || 0;
  } catch {
    shiftMs = 0;
  }
};
readShift();
setInterval(readShift, POLL_INTERVAL_MS).unref();

const now = () => realNow() + shiftMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(
      target,
      args.length === 0 ? [now()] : args,
      newTarget === globalThis.Date ? target : newTarget,
    ),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});
