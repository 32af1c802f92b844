import { PGlite } from "@electric-sql/pglite";
import fastify from "fastify";

// What an idle process costs that does nothing else: `fastify`, or `pglite` with the folder of its database.

const [peer, folder] = process.argv.slice(2);
if (peer === "pglite") {
  const pglite = await PGlite.create(folder!);
  await pglite.query("select 1");
  setInterval(() => {}, 2 ** 30);
} else {
  await fastify().listen({ host: "127.0.0.1", port: 0 });
}
