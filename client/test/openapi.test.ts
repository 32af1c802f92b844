import { Validator } from "@seriousme/openapi-schema-validator";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import { API_ERRORS } from "../src/contract/api-errors.ts";
import { EVENTS } from "../src/contract/examples.ts";
import { ALL_OPERATIONS, openApi } from "../src/contract/openapi.ts";
import { errorCodesOf, type Operation } from "../src/contract/operation.ts";
import { PERMISSIONS } from "../src/contract/permission.ts";
import { WEBHOOK_EVENTS } from "../src/contract/webhook.ts";

const document = openApi({ version: "1.2.3", serverUrl: "https://captions.example" });
const text = JSON.stringify(document);

describe("the OpenAPI description", () => {
  test("passes an independent validator", async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test("is deterministic", () => {
    expect(JSON.stringify(openApi({ version: "1.2.3", serverUrl: "https://captions.example" }))).toBe(text);
  });

  test("references only existing schemas, and contains no unreferenced one", () => {
    const { schemas } = document.components as { schemas: Record<string, object> };
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(new Set(referred)).toEqual(new Set(Object.keys(schemas)));
    expect(text).not.toContain('"$id"');
  });

  test("has every operation once, with all of its errors", () => {
    const paths = document.paths as Record<string, Record<string, { responses: Record<string, object> }>>;
    for (const operation of ALL_OPERATIONS) {
      const described = paths[operation.path]?.[operation.method.toLowerCase()];
      const statuses = errorCodesOf(operation).map((code) => String(API_ERRORS[code].status));
      const { status, partial } = operation.success as Operation["success"];
      const successes = [String(status), ...(partial === undefined ? [] : ["206"])];
      expect(Object.keys(described?.responses ?? {}).sort()).toEqual(
        [...new Set([...statuses, ...successes])].sort(),
      );
    }
    expect(new Set(ALL_OPERATIONS.map(({ id }) => id)).size).toBe(ALL_OPERATIONS.length);
    const described = Object.values(paths).flatMap((item) => Object.keys(item));
    expect(described).toHaveLength(ALL_OPERATIONS.length);
  });

  test("gives each operation and event a unique name that is a valid identifier", () => {
    const names = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, name]) => name);
    expect(names.length).toBe(ALL_OPERATIONS.length + Object.keys(document.webhooks as object).length);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z]\w+$/i.test(name ?? ""))).toEqual([]);
  });

  test("names every permission and every event type", () => {
    for (const permission of PERMISSIONS) expect(text).toContain(`"x-permission":"${permission}"`);
    expect(Object.keys(document.webhooks as object)).toEqual(Object.keys(WEBHOOK_EVENTS));
  });

  test("allows unknown fields in every response and event, and in no request", () => {
    const { schemas } = document.components as { schemas: Record<string, unknown> };
    const isClosed = (value: unknown): boolean => {
      if (typeof value !== "object" || value === null) return false;
      const { $ref, additionalProperties } = value as Record<string, unknown>;
      if (typeof $ref === "string") return isClosed(schemas[$ref.split("/").at(-1) ?? ""]);
      return additionalProperties === false || Object.values(value).some(isClosed);
    };
    const items = Object.values(document.paths as object).flatMap((item) => Object.values(item));
    const described = items as { responses: object; requestBody?: { content: Record<string, object> } }[];
    for (const { responses } of described) expect(isClosed(responses)).toBe(false);
    expect(isClosed(document.webhooks)).toBe(false);
    const requests = described.flatMap(({ requestBody }) => requestBody?.content["application/json"] ?? []);
    expect(requests.length).toBeGreaterThan(0);
    for (const request of requests) expect(isClosed(request)).toBe(true);
  });

  test("names every variable of a path", () => {
    for (const { path, params = {} } of ALL_OPERATIONS) {
      expect(Object.keys(params)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });
});

describe("an example", () => {
  const examples: [string, TSchema, unknown][] = [
    ...ALL_OPERATIONS.flatMap(({ id, body, bodyExample, success }): [string, TSchema, unknown][] => [
      ...(body ? ([[`${id} request`, body, bodyExample]] as [string, TSchema, unknown][]) : []),
      ...(success.body
        ? ([[`${id} response`, success.body, success.example]] as [string, TSchema, unknown][])
        : []),
    ]),
    ...Object.entries(WEBHOOK_EVENTS).map(([type, schema]): [string, TSchema, unknown] => [
      type,
      schema,
      EVENTS[type as keyof typeof EVENTS],
    ]),
  ];

  test.each(examples)("of %s matches its schema", (_name, schema, example) => {
    expect([...Value.Errors(schema, example)]).toEqual([]);
  });
});
