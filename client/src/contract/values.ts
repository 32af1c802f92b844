import { type TEnum, type TSchema, Type } from "typebox";

export function nullable<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

export function timestamp(description = "ISO 8601 UTC with milliseconds") {
  return Type.String({ format: "date-time", description });
}

/** A closed enum. */
export function oneOf<Value extends string>(values: readonly Value[], description?: string): TEnum<Value[]> {
  return Type.Enum([...values], { type: "string", ...(description !== undefined && { description }) });
}

/** An open enum: later releases may add values, so unknown values are valid. */
export function oneOfKnown<Value extends string>(values: readonly Value[], description: string) {
  return Type.Unsafe<Value>({ type: "string", "x-extensible-enum": values, description });
}
