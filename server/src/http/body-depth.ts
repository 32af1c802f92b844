import type { FastifyInstance } from "fastify";
import { AppError } from "../lib/errors.ts";

/** Limits recursion in JSON.stringify and the database. Realistic metadata has far fewer levels. */
const MAX_LEVELS = 64;

export function limitBodyDepth(app: FastifyInstance): void {
  // Uses the callback, because a promise would resolve a turn later, after a shutdown may have closed the connection.
  app.addHook("preValidation", ({ body }, _reply, done) => {
    if (countLevels(body) <= MAX_LEVELS) done();
    else done(new AppError("invalid_request", `A body may be nested at most ${MAX_LEVELS} levels deep.`));
  });
}

/** Counts nesting levels up to the limit, without recursion, which could overflow the stack. */
function countLevels(value: unknown): number {
  let level = 0;
  for (let inside = [value].filter(isNested); inside.length > 0 && level <= MAX_LEVELS; level++) {
    inside = inside.flatMap((each) => Object.values(each).filter(isNested));
  }
  return level;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
