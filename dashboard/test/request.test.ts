import { expect, test } from "vitest";
import { ProblemError, request } from "../src/admin-client/request.ts";

test.each(["/videos/../api-keys", "/videos/%2e%2e/api-keys", "/videos/..\\api-keys", "/videos/."])(
  "%s, which would be another path, is not asked for",
  async (path) => {
    await expect(request("DELETE", path)).rejects.toThrow(ProblemError);
  },
);

test("a path with ids and a query is asked for", async () => {
  // There is no page here whose address it could be resolved against.
  const asked = request("GET", "/environments/env_1/videos/video_1?limit=1&cursor=..");
  await expect(asked).rejects.toThrow("Can't reach the server");
});
