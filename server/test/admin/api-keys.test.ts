import { expect, test } from "vitest";
import type { ApiKeyPageView, NewApiKeyView } from "../../src/admin/contract/api-key.ts";
import type { ApiKeyState } from "../../src/db/enums.ts";
import { createTenant, MovableClock, shareService } from "../support/service.ts";
import { codeOf, sendAsCommandLine } from "./operator-requests.ts";

const clock = new MovableClock();
const subtext = shareService({ start: false, clock });

async function list(environmentId: string, query: string): Promise<ApiKeyPageView> {
  const response = await sendAsCommandLine(subtext, `/environments/${environmentId}/api-keys${query}`);
  expect(response.statusCode).toBe(200);
  return response.json<ApiKeyPageView>();
}

async function make(environmentId: string, body: object): Promise<NewApiKeyView> {
  const path = `/environments/${environmentId}/api-keys`;
  return (await sendAsCommandLine(subtext, path, { method: "POST", body })).json<NewApiKeyView>();
}

test("keys are listed by whether they are active, in pages, newest first", async () => {
  const { environmentId } = await createTenant(subtext, { clock });
  const other = await createTenant(subtext, { clock });
  const [created] = (await list(environmentId, "?state=valid")).data;
  const soon = new Date(clock.now().getTime() + 60_000).toISOString();
  const expiring = await make(environmentId, { name: "expiring", expiresAt: soon });
  const revoked = await make(environmentId, { name: "revoked" });
  const late = await make(environmentId, { name: "late", expiresAt: "2999-01-01T00:00:00.000Z" });
  await sendAsCommandLine(subtext, `/api-keys/${revoked.id}`, { method: "DELETE" });

  const ids = async (state: ApiKeyState) =>
    (await list(environmentId, `?state=${state}`)).data.map(({ id }) => id);
  expect(await ids("valid")).toEqual([late.id, expiring.id, created!.id]);
  expect(await ids("ended")).toEqual([revoked.id]);
  clock.advance(60_000);
  expect(await ids("valid")).toEqual([late.id, created!.id]);
  expect(await ids("ended")).toEqual([revoked.id, expiring.id]);

  const first = await list(environmentId, "?state=ended&limit=1");
  const second = await list(environmentId, `?state=ended&limit=1&cursor=${first.nextCursor}`);
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual([revoked.id, expiring.id]);
  expect(second.nextCursor).toBeNull();
  expect((await list(environmentId, "")).data).toHaveLength(4);
  expect((await list(other.environmentId, "?state=ended")).data).toEqual([]);
});

test("a key is identified by its prefix, which grants no access", async () => {
  const { environmentId } = await createTenant(subtext, { clock });
  const { key, prefix } = await make(environmentId, {});
  expect(key.startsWith(`${prefix}_`)).toBe(true);
  expect(prefix).toMatch(/^subtext_[0-9a-z]{26}$/);
});

test("invalid list parameters are rejected", async () => {
  const { environmentId } = await createTenant(subtext, { clock });
  const foreign = Buffer.from("video_1").toString("base64url");
  for (const query of [
    "?state=all",
    "?state=valid&limit=101",
    "?state=valid&cursor=%00",
    `?state=valid&cursor=${foreign}`,
  ]) {
    const response = await sendAsCommandLine(subtext, `/environments/${environmentId}/api-keys${query}`);
    expect(codeOf(response)).toEqual([400, "invalid_request"]);
  }
});

test("a key cannot expire in the past or in a year that the database cannot store", async () => {
  const { environmentId } = await createTenant(subtext, { clock });
  const path = `/environments/${environmentId}/api-keys`;
  for (const expiresAt of ["2020-01-01T00:00:00Z", "2999-12-31T23:59:60Z", "9999-12-31T23:59:59-23:59"]) {
    const response = await sendAsCommandLine(subtext, path, { method: "POST", body: { expiresAt } });
    expect([expiresAt, ...codeOf(response)]).toEqual([expiresAt, 400, "invalid_request"]);
  }
});
