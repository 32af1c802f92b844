import { ALL_OPERATIONS, openApi } from "@subtext/client/contract/openapi";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { shareService } from "./support/service.ts";

const service = shareService({ start: false });

describe("the API's description", () => {
  test("is served to programs of any origin, with this service's address", async () => {
    const response = await fetch(`${service.url}/api/openapi.json`);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const made = openApi({ version: packageJson.version, serverUrl: service.url });
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(made)));
  });

  test("is shown as a page that loads nothing and runs nothing", async () => {
    const response = await fetch(`${service.url}/docs`);
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+';/,
    );
    const html = await response.text();
    expect(html).not.toMatch(/<script|<link|<img|\sstyle=|\son\w+=|undefined|\[object/);
    for (const { id, path } of ALL_OPERATIONS) {
      expect(html).toContain(`<section id="${id}">`);
      expect(html).toContain(path);
    }
  });

  test("has links that lead somewhere, and every anchor once", async () => {
    const html = await (await fetch(`${service.url}/docs`)).text();
    const errors = await (await fetch(`${service.url}/docs/errors`)).text();
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target = ""] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    for (const [, code] of html.matchAll(/href="\/docs\/errors#([^"]+)"/g))
      expect(errors).toContain(`id="${code}"`);
  });
});
