import { connect } from "node:net";
import { expect, test } from "vitest";
import { readUntilClosed } from "../support/read-until-closed.ts";
import { createTenant, startService, until } from "../support/service.ts";

test("a stopping service executes exactly the pipelined requests to which it responds", async () => {
  const started = await startService({ start: false, env: { DRAIN_SECONDS: "1" } });
  const { service, url } = started;
  const { key } = await createTenant(started);
  const body = '{"sizeBytes":1}';
  const post = [
    "POST /api/v1/videos HTTP/1.1",
    "Host: x",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
  const sendThrice = async () => {
    const socket = connect(service.parts.config.port, "127.0.0.1");
    socket.end(post.repeat(3));
    return (await readUntilClosed(socket)).match(/HTTP\/1\.1 201 /g)?.length;
  };
  const made = async () =>
    (await service.parts.database.kysely.selectFrom("video").select("id").execute()).length;

  expect(await sendThrice()).toBe(3);
  expect(await made()).toBe(3);

  const stopped = service.stop();
  await until(async () => (await fetch(`${url}/readyz`)).status === 503);
  expect(await sendThrice()).toBe(1);
  expect(await made()).toBe(4);
  await stopped;
});
