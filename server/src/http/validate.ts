import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { AppError } from "../errors.ts";

/**
 * Takes what was sent as it is. Fastify's own way would drop what it does not know and make `false` of
 * `null`: a mistyped setting would be switched, not refused.
 */
export const validateStrictly: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = "body" }) => {
  const validator = Compile(schema);
  return (value: unknown) => {
    if (validator.Check(value)) return { value };
    const [first] = validator.Errors(value);
    const place = httpPart + (first?.instancePath ?? "");
    const fault = first?.keyword === "boolean" ? "is not known" : (first?.message ?? "is not acceptable");
    return { error: new AppError("invalid_request", `${place} ${fault}.`) };
  };
};

/** The same, and makes of a query's texts the numbers that its schema asks for. */
export const validateRequest: FastifySchemaCompiler<TSchema> = (route) => {
  const validate = validateStrictly(route);
  if (route.httpPart !== "querystring") return validate;
  return (query: unknown) => validate(Value.Convert(route.schema, query));
};
