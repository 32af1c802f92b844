import type { FastifyInstance, FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { Value } from "typebox/value";
import { AppError } from "../lib/errors.ts";

/**
 * Validates input without changing it. Fastify's default drops unknown fields and converts `null` to `false`, which
 * would hide client mistakes.
 */
export const validateStrictly: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = "body" }) => {
  const validator = Compile(schema);
  return (value: unknown) => {
    if (validator.Check(value)) return { value };
    const [first] = validator.Errors(value);
    const field = (httpPart === "querystring" ? "query" : httpPart) + (first?.instancePath ?? "");
    return { error: new AppError("invalid_request", `${field} ${describeViolation(first)}.`) };
  };
};

function describeViolation(error: TLocalizedValidationError | undefined): string {
  if (error?.keyword === "boolean") return "is unknown, or is not allowed here";
  if (error?.keyword === "enum") return `must be one of ${error.params.allowedValues.join(", ")}`;
  return error?.message ?? "is invalid";
}

/** Like `validateStrictly`, but first converts query parameters to the types that the schema requires. */
export const validateRequest: FastifySchemaCompiler<TSchema> = (route) => {
  const validate = validateStrictly(route);
  if (route.httpPart !== "querystring") return validate;
  return (query: unknown) => validate(Value.Convert(route.schema, query));
};

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
