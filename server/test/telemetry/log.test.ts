import { SpeechError } from "@subtext/speech/errors";
import { type RawBuilder, sql } from "kysely";
import { expect, test } from "vitest";
import { createLog } from "../../src/telemetry/log.ts";
import { shareService } from "../support/service.ts";

const service = shareService({ start: false });
const SECRET = 'the "secret" of a row';

function logged(error: unknown): { line: string; err: Record<string, unknown> } {
  let line = "";
  const write = (text: string) => {
    line += text;
  };
  createLog("info", { write }).error({ err: error }, "it failed");
  return { line, err: JSON.parse(line).err };
}

async function failureOf(query: RawBuilder<unknown>): Promise<Error> {
  try {
    await query.execute(service.service.parts.database.kysely);
  } catch (error) {
    return error as Error;
  }
  throw new Error("the query did not fail");
}

test.each([
  ["22P02", sql`select ${SECRET}::uuid`, 'invalid input syntax for type uuid: "…"'],
  ["22P02", sql`select ${`{${SECRET}`}::text[]`, 'malformed array literal: "…"'],
  [
    "22007",
    sql`select ${SECRET}::timestamptz`,
    'invalid input syntax for type timestamp with time zone: "…"',
  ],
  ["42601", sql`select ${`'${SECRET}`}::tsvector`, 'syntax error in tsvector: "…"'],
  ["23505", sql`insert into service_secret values (${SECRET}, ''), (${SECRET}, '')`, "service_secret_pkey"],
  ["23502", sql`insert into service_secret values (${SECRET}, null)`, 'column "value"'],
  ["42P01", sql`select from lost_table where a = ${SECRET}`, 'relation "lost_table"'],
] as const)(
  "the log shows a database error (%s) without values of its row or query",
  async (code, query, shown) => {
    const failure = await failureOf(query);
    const wrapped = new Error("The row cannot be written.", { cause: failure });
    // As pg-boss passes them on.
    const copy = { ...failure, message: failure.message, stack: failure.stack };
    for (const error of [failure, wrapped, new AggregateError([failure], "two ways"), copy]) {
      const { line, err } = logged(error);
      expect(line).not.toContain("of a row");
      expect(line).not.toContain('secret" of');
      expect(JSON.stringify(err)).toContain(JSON.stringify(shown).slice(1, -1));
    }
    expect(logged(failure).err.code).toBe(code);
  },
);

test("the log leaves an error message unchanged", () => {
  expect(logged(new Error('"quoted" text stays')).err.message).toBe('"quoted" text stays');
});

test("the log shows a SpeechError without a stack", () => {
  const cause = new Error("getaddrinfo ENOTFOUND hub.example.com");
  const { err } = logged(
    new SpeechError("model_download_failed", "The model cannot be downloaded.", { cause }),
  );
  expect(err).toEqual({
    type: "SpeechError",
    code: "model_download_failed",
    message: "The model cannot be downloaded: getaddrinfo ENOTFOUND hub.example.com",
  });
  expect(logged(new Error("unexpected")).err.stack).toContain("log.test.ts");
});

test("the log names levels and omits messages that a cause repeats", () => {
  const cause = new Error("connect ECONNREFUSED");
  const outage = new Error("The database is unavailable.", { cause });
  const { line, err } = logged(new Error("The database is unavailable.", { cause: outage }));
  expect(JSON.parse(line).level).toBe("error");
  expect(err.message).toBe("The database is unavailable: connect ECONNREFUSED");
});
