import type { FastifyInstance } from "fastify";

/** `/`: tells a person who opens the address what runs here. */
export function registerHomePage(app: FastifyInstance, { version }: { version: string }): void {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Subtext</title>
<style>
  :root { color-scheme: light dark; font: 1.0625rem/1.6 system-ui, sans-serif; }
  body { max-width: 38rem; margin: 8vh auto 3rem; padding: 0 1.25rem; }
  h1 { font-size: 2.25rem; letter-spacing: -.02em; line-height: 1.1; margin: 0 0 .5rem; }
  h2 { font-size: 1rem; margin: 2.25rem 0 .5rem; }
  p { margin: .5rem 0; }
  .lead { font-size: 1.2rem; }
  .runs::before { content: "●"; color: #1a7f37; margin-right: .5em; }
  code { font: .9em ui-monospace, monospace; background: #8882; border-radius: .3em; padding: .1em .35em; }
  dl { margin: 0; }
  dd { margin: 0 0 .75rem; opacity: .8; }
  @media (prefers-color-scheme: dark) { .runs::before { color: #3fb950; } }
</style>
</head>
<body>
<main>
<h1>Subtext</h1>
<p class="lead">Every video that finishes uploading here is transcribed: captions, words with their times, and
text, announced by a signed webhook.</p>
<p class="runs">It runs, version ${version}.</p>

<h2>Begin</h2>
<dl>
<dt><code>npx subtext env create Production --transcription on</code></dt><dd>A place for videos.</dd>
<dt><code>npx subtext keys create --env Production</code></dt><dd>A key to upload and read with.</dd>
<dt><code>npx subtext doctor</code></dt><dd>Whether all is well.</dd>
</dl>

<h2>Read on</h2>
<p>How to upload, read transcripts and receive webhooks stands in <code>README.md</code>, what each error means
at <a href="/docs/errors">/docs/errors</a>.</p>

<h2>Sign in</h2>
<p>Operators sign in at <code>/internal/auth/sign-in/email</code>, with the email and password that the first
start printed to its terminal. Lost them? <code>npx subtext operator reset-password</code></p>
</main>
</body>
</html>
`;
  app.get("/", async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .headers({
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
      })
      .send(page),
  );
}
