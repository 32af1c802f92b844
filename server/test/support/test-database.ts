import { Client } from "pg";

/** Makes a database on the server, where there is none of that name, and gives its URL. */
export async function makeTestDatabase(server: string, name: string): Promise<string> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
    if (!rowCount) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
