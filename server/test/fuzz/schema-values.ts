import fc from "fast-check";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: Json[];
  const?: Json;
  anyOf?: Schema[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  /** A schema if the object is a map. */
  additionalProperties?: Schema | false;
  propertyNames?: { pattern: string };
}

export type Components = Record<string, Schema>;

export function validValue(schema: Schema, components: Components): fc.Arbitrary<Json> {
  const inner = (part: Schema) => validValue(part, components);
  if (schema.$ref !== undefined) return inner(components[schema.$ref.split("/").at(-1)!]!);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(inner));
  switch (schema.type) {
    case "string":
      return validText(schema);
    case "integer": {
      const { minimum: min = -1000, maximum: max = 1000 } = schema;
      const small = fc.integer({ min, max: Math.min(max, min + 1000) });
      return fc.oneof({ weight: 4, arbitrary: small }, fc.constantFrom(min, max));
    }
    case "boolean":
      return fc.boolean();
    case "array": {
      const options = { minLength: schema.minItems ?? 0, maxLength: 4 };
      const items = schema.items ? inner(schema.items) : anyJson;
      return schema.uniqueItems
        ? fc.uniqueArray(items, { ...options, selector: (item) => JSON.stringify(item) })
        : fc.array(items, options);
    }
    case "object":
      return validObject(schema, inner);
    default:
      return anyJson;
  }
}

function validText({ format, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === "date-time") {
    const date = fc.date({
      min: new Date("1970-01-01"),
      max: new Date("9999-12-31"),
      noInvalidDate: true,
    });
    return date.map((value) => value.toISOString());
  }
  return fc.string({ minLength, maxLength: Math.min(maxLength, 60), unit: "grapheme" });
}

function validObject(
  { properties, required = [], additionalProperties, propertyNames }: Schema,
  inner: (schema: Schema) => fc.Arbitrary<Json>,
): fc.Arbitrary<Json> {
  if (properties) {
    const model = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)]));
    return fc.record(model, { requiredKeys: required }) as fc.Arbitrary<Json>;
  }
  const keys = propertyNames ? fc.stringMatching(/^[a-z_]{1,12}$/) : fc.string({ maxLength: 20 });
  const values = inner(additionalProperties || {});
  return fc.dictionary(keys, values, { maxKeys: 5 }) as fc.Arbitrary<Json>;
}

/** Property names with a special meaning in JavaScript. */
const PROTOTYPE_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "toJSON",
];

const NASTY_TEXTS = [
  "",
  "\0",
  "a\0b",
  "\ud800",
  "x\udfff",
  "\u202e\u0000",
  "😀".repeat(2000),
  "x".repeat(5000),
  "' or '1'='1",
  "../../../etc/passwd",
  "%00",
  "\r\nX-Injected: 1",
  "9999-99-99T99:99:99Z",
  "+275760-09-13T00:00:00.001Z",
  "-000001-01-01T00:00:00Z",
  "2026-02-30T00:00:00Z",
  "https://[::ffff:127.0.0.1]/",
  "https://0x7f.1/",
  "https://user:pass@example.com/#f",
  "javascript:alert(1)",
  ...PROTOTYPE_KEYS,
];

const NASTY_NUMBERS = [
  -1,
  -0,
  0,
  0.1,
  1e21,
  1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_VALUE,
  -(2 ** 63),
];

export const nastyText = fc.oneof(
  fc.constantFrom(...NASTY_TEXTS),
  fc.string({ unit: "binary", maxLength: 40 }),
);

const anyJson: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;

/** Has the wrong type for most schemas. */
const nastyValue: fc.Arbitrary<Json> = fc.oneof(
  nastyText,
  fc.constantFrom<Json>(...NASTY_NUMBERS, null, true, false, [], {}, [[]], [null], { "": null }),
  anyJson,
);

/** Generates a valid value and replaces, removes or adds one part. */
export function corruptedValue(schema: Schema, components: Components): fc.Arbitrary<Json> {
  const key = fc.oneof(fc.constantFrom(...PROTOTYPE_KEYS), nastyText);
  return fc
    .record({
      value: validValue(schema, components),
      by: nastyValue,
      key,
      how: fc.constantFrom("replace", "replace", "drop", "add", "whole"),
      at: fc.nat(20),
    })
    .map(({ value, by, key, how, at }) => {
      if (how === "whole" || typeof value !== "object" || value === null || Array.isArray(value)) return by;
      const entries = Object.entries(value);
      if (how === "add") entries.push([key, by]);
      else if (entries.length > 0 && how === "drop") entries.splice(at % entries.length, 1);
      else if (entries.length > 0) entries[at % entries.length] = [entries[at % entries.length]![0], by];
      // Unlike an assignment, `fromEntries` makes `__proto__` an ordinary key.
      return Object.fromEntries(entries);
    });
}
