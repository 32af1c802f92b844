import { PGlite } from "@electric-sql/pglite";
import fastify from "fastify";

// An idle Fastify server (`fastify`) or PGlite database (`pglite FOLDER`), as a baseline for the idle service.

const [baseline, folder] = process.argv.slice(2);
if (baseline === "pglite") {
  const pglite = await PGlite.create(folder!);
  await pglite.query("select 1");
  setInterval(() => {}, 2 ** 30);
} else {
  await fastify().listen({ host: "127.0.0.1", port: 0 });
}
