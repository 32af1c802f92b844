import type { FastifyInstance } from "fastify";
import { AppError } from "../lib/errors.ts";

/** Deeper than what anybody keeps in metadata; JSON.stringify and the database call themselves once for each level. */
const MOST_LEVELS = 64;

/** Refuses bodies that are nested so deep that whatever walks through them later would run out of stack. */
export function limitBodyDepth(app: FastifyInstance): void {
  // By callback, since a promise would answer a turn later: a stop closes connections in between.
  app.addHook("preValidation", ({ body }, _reply, done) => {
    if (levelsOf(body) <= MOST_LEVELS) done();
    else done(new AppError("invalid_request", `A body may be nested ${MOST_LEVELS} levels deep.`));
  });
}

/** Counts no further than one too many, and calls itself never. */
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
