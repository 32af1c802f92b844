import type { FastifySchemaCompiler } from "fastify";
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
