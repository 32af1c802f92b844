import type { FastifyInstance } from "fastify";
import { AppError } from "../lib/errors.ts";

/** Deeper than realistic metadata; JSON.stringify and the database recurse for each level. */
const MOST_LEVELS = 64;

/** Refuses bodies that are nested so deeply that later recursion would overflow the stack. */
export function limitBodyDepth(app: FastifyInstance): void {
  // With a callback: a promise would resolve one turn later, and a shutdown closes connections in between.
  app.addHook("preValidation", ({ body }, _reply, done) => {
    if (levelsOf(body) <= MOST_LEVELS) done();
    else done(new AppError("invalid_request", `A body may be nested ${MOST_LEVELS} levels deep.`));
  });
}

/** Stops counting above the limit and does not recurse. */
function levelsOf(value: unknown): number {
  let level = 0;
  for (let inside = [value].filter(isNested); inside.length > 0 && level <= MOST_LEVELS; level++) {
    inside = inside.flatMap((each) => Object.values(each).filter(isNested));
  }
  return level;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
