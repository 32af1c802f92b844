import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { commandPrefix } from "../../src/lib/command-prefix.ts";
import { temporaryFolder } from "../support/model-pulls.ts";

let folder: string;
let program: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  program = join(folder, "server/bin/subtext.js");
  await mkdir(join(folder, "server/bin"), { recursive: true });
  await writeFile(program, "");
});

/** Creates a folder for the PATH with a link to a file. */
async function folderWithLink(name: string, target = program): Promise<string> {
  const bin = join(folder, name);
  await mkdir(bin, { recursive: true });
  await symlink(target, join(bin, "subtext"));
  return bin;
}

async function describePackage(manifest: object): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
}

test("a clone runs its program with npx", async () => {
  await describePackage({ name: "subtext", private: true });
  expect(commandPrefix(program, "/usr/bin")).toBe("npx subtext");
});

test("an installed package runs by its own name, because the program's name is another package", async () => {
  await describePackage({ name: "published-name" });
  expect(commandPrefix(program, "/usr/bin")).toBe("npx published-name");
});

test("a program on the PATH needs no npx, even behind several links", async () => {
  await describePackage({ name: "published-name" });
  const first = await folderWithLink("installed/bin");
  const second = await folderWithLink("usr/local/bin", join(first, "subtext"));
  expect(commandPrefix(program, ["/usr/bin", second].join(delimiter))).toBe("subtext");
});

test("another program of that name and folders that npx adds to the PATH do not count", async () => {
  await describePackage({ name: "published-name" });
  const other = join(folder, "other.js");
  await writeFile(other, "");
  const foreign = await folderWithLink("usr/bin", other);
  const temporary = await folderWithLink("node_modules/.bin");
  expect(commandPrefix(program, ["", foreign, temporary].join(delimiter))).toBe("npx published-name");
});
