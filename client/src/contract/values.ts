import { type TEnum, type TSchema, Type } from "typebox";

export function nullable<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

export function timestamp(description = "ISO 8601 UTC with milliseconds") {
  return Type.String({ format: "date-time", description });
}

/** A closed enum. */
export function oneOf<Word extends string>(words: readonly Word[], description?: string): TEnum<Word[]> {
  return Type.Enum([...words], { type: "string", ...(description !== undefined && { description }) });
}

/** An open enum: later releases may add values, so unknown values are valid. */
export function oneOfKnown<Word extends string>(words: readonly Word[], description: string) {
  return Type.Unsafe<Word>({ type: "string", "x-extensible-enum": words, description });
}
