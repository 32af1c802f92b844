import type { FastifyInstance } from "fastify";
import { APP_ERRORS } from "../../errors.ts";

/** `/docs/errors`: where the `type` of every problem points. */
export function registerErrorDocs(app: FastifyInstance): void {
  const rows = Object.entries(APP_ERRORS).map(
    ([code, { status, title, retryable }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}.</td><td>${retryable ? "yes" : "no"}</td></tr>`,
  );
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Subtext: errors</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  td, th { text-align: left; padding: .3rem 1rem .3rem 0; border-bottom: 1px solid #8884; }
  tr:target { background: #fc03; }
</style>
</head>
<body>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457); its <code>code</code> is stable.</p>
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>Retry helps</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table>
</body>
</html>
`;
  app.get("/docs/errors", async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
}
