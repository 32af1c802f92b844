import { expect, test } from "vitest";
import { ProblemError, request, urlOf } from "../src/admin-client/request.ts";

test.each([".", ".."])(
  "an id %s from the page's address, which would lead to another path, is refused",
  async (id) => {
    const params = { environment: "env_1", video: id };
    const deleted = request("DELETE /environments/:environment/videos/:video", { params });
    await expect(deleted).rejects.toThrow(ProblemError);
  },
);

test("ids are encoded, and parameters without a value are left out of the query", () => {
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
  // No page is loaded here, so there is no address to resolve the path against.
  await expect(sent).rejects.toThrow("Can't reach the server");
});
