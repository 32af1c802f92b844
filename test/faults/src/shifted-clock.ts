/**
 * Loaded before a process of the service: its wall clock runs as far ahead of, or behind, the machine's as the file
 * named by `CHAOS_CLOCK_FILE` says, in milliseconds. What counts time from no date is not touched, as in life.
 */
import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 100;
const path = process.env.CHAOS_CLOCK_FILE ?? "";
const RealDate = Date;
const realNow = Date.now;
let shiftMs = 0;

const look = () => {
  try {
    shiftMs = Number(readFileSync(path, "utf8")) || 0;
  } catch {
    shiftMs = 0;
  }
};
look();
setInterval(look, LOOK_EVERY_MS).unref();

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
