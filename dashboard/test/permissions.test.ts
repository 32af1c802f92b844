import { expect, test } from "vitest";
import { permissionName } from "../src/features/api-keys/permissions.ts";

test("a permission of a newer release is shown by its code", () => {
  expect(["get_video", "archive_video", "toString"].map(permissionName)).toEqual([
    "Read",
    "archive_video",
    "toString",
  ]);
});
