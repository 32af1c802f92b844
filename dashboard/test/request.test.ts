import { expect, test } from "vitest";
import { ProblemError, request, urlOf } from "../src/admin-client/request.ts";

test.each([".", ".."])(
  "an id %s in the page's address, which would change the request's path, is rejected",
  async (id) => {
    const params = { environment: "env_1", video: id };
    const deleted = request("DELETE /environments/:environment/videos/:video", { params });
    await expect(deleted).rejects.toThrow(ProblemError);
  },
);

test("ids are encoded, and parameters without a value are omitted from the query", () => {
  expect(
    urlOf("GET /environments/:environment/videos", {
      params: { environment: "a/../b?c" },
      query: { limit: 1, state: undefined, cursor: ".." },
    }),
  ).toBe("/internal/environments/a%2F..%2Fb%3Fc/videos?limit=1&cursor=..");
});

test("a request with ids and a query is sent", async () => {
  const sent = request("GET /environments/:environment/videos", {
    params: { environment: "env_1" },
    query: { limit: 1 },
  });
  // Without a page, there is no address to resolve the path against.
  await expect(sent).rejects.toThrow("Can't reach the server");
});
