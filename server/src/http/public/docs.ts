import { createHash } from "node:crypto";
import { openApi } from "@subtext/client/contract/openapi";
import type { FastifyInstance } from "fastify";
import { renderDocs } from "./docs-page.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { registerErrorDocs } from "./error-docs.ts";

/** `/api/openapi.json` for programs, `/docs` for people; both from the contract. */
export function registerDocs(
  app: FastifyInstance,
  { version, publicUrl }: { version: string; publicUrl: string },
): void {
  const description = JSON.stringify(openApi({ version, serverUrl: publicUrl }));
  app.get("/api/openapi.json", async (_request, reply) =>
    reply
      .type("application/json; charset=utf-8")
      // Tools that read it run in pages of their own.
      .headers({ "access-control-allow-origin": "*", "cache-control": "no-cache" })
      .send(description),
  );

  const page = renderDocs({ version, serverUrl: publicUrl });
  const styleHash = createHash("sha256").update(DOCS_STYLE).digest("base64");
  app.get("/docs", async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .headers({
        "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
      })
      .send(page),
  );
  registerErrorDocs(app);
}
