import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../package.json" with { type: "json" };
import { PUBLISHED_NAMES } from "../packaging/names.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, ".github/workflows");
const ci = withoutOptions(readFileSync(join(ROOT, ".ci/run"), "utf8"));

interface Step {
  name?: string;
  uses?: string;
  run?: string;
}

interface Job {
  "runs-on"?: string;
  uses?: string;
  steps?: Step[];
}

const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await loadParser();

describe.each(readdirSync(FOLDER))("the workflow %s", (name) => {
  const text = readFileSync(join(FOLDER, name), "utf8");
  const jobs = Object.entries((parse(text) as { jobs: Record<string, Job> }).jobs);
  const steps = jobs.flatMap(([, { steps = [] }]) => steps);

  test("is accepted by GitHub's parser", async () => {
    expect(await findErrors(text)).toEqual([]);
    expect(await findErrors(text.replaceAll("runs-on:", "run-on:"))).not.toEqual([]);
    expect(await findErrors(text.replaceAll("vars.", "wars."))).not.toEqual([]);
  });

  test("pins actions to a major version", () => {
    const actions = [...steps, ...jobs.map(([, job]) => job)].flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(2);
    expect(actions.filter((action) => !/^(\.\/|[\w-]+\/[\w-]+@v\d+$)/.test(action))).toEqual([]);
  });

  test("names no host", () => {
    expect(text.match(/\b[\w-]+\.(io|com|org|net|dev)\b/g) ?? []).toEqual([]);
  });

  test("runs only scripts that exist", () => {
    const scripts = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script!);
    expect(scripts.filter((script) => !(script in packageJson.scripts))).toEqual([]);
  });

  test("runs only commands of .ci/run, except on other platforms and to publish and sign", () => {
    const commands = jobs
      .filter(([, job]) => !job["runs-on"]?.startsWith("macos"))
      .flatMap(([, { steps = [] }]) => steps)
      .filter((step) => step.run && !step.name?.startsWith("Publish"))
      .flatMap(({ run = "" }) => run.trim().split("\n"))
      .map((command) =>
        withoutOptions(command)
          .split(" ")
          .slice(0, 3)
          .join(" ")
          .replace(/ \S*\/tmp.*/, ""),
      )
      .filter((command) => command !== ".ci/run" && !command.startsWith("scripts/release-notes"));
    expect(commands.filter((command) => !ci.includes(command.replace(/(install) .*/, "$1")))).toEqual([]);
  });
});

describe("scripts/release-notes", () => {
  const { version } = packageJson;
  /** Returns the path of the script in a folder with this changelog. */
  const scriptWith = (changelog: string) => {
    const folder = mkdtempSync(join(tmpdir(), "subtext-notes-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "scripts"));
    for (const name of ["scripts/release-notes", "package.json"])
      cpSync(join(ROOT, name), join(folder, name));
    writeFileSync(join(folder, "CHANGELOG.md"), changelog);
    return join(folder, "scripts/release-notes");
  };

  test("prints the changelog section of the version", () => {
    const script = scriptWith(
      `# Changelog\n\n## Unreleased\n\nSoon.\n\n## ${version} (a date)\n\n### Fixed\n\n- All.\n\n## 0.0.9\n\nOld.\n`,
    );
    expect(execFileSync(script, [version], { encoding: "utf8" }).trim()).toBe("### Fixed\n\n- All.");
  });

  test.each([
    ["without that heading", version, "## Unreleased\n\nSoon.\n"],
    ["without text below it", version, `## ${version}\n\n## 0.0.9\n\nOld.\n`],
    ["of another version than package.json", "9.9.9", "## 9.9.9\n\nNew.\n"],
  ])("fails for a changelog %s", (_, requestedVersion, changelog) => {
    expect(spawnSync(scriptWith(changelog), [requestedVersion]).status).toBe(1);
  });
});

describe("packaging/publish.ts", () => {
  /** Runs the script with three tarballs and a registry that has `published`; returns what it publishes. */
  const publish = (published: Record<string, string>) => {
    const folder = mkdtempSync(join(tmpdir(), "subtext-publish-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const tarball = (path: string, manifest: object) => {
      mkdirSync(join(folder, "package"), { recursive: true });
      writeFileSync(join(folder, "package/package.json"), JSON.stringify(manifest));
      execFileSync("tar", ["-czf", join(folder, "tarballs", path), "-C", folder, "package"]);
    };
    mkdirSync(join(folder, "tarballs/other-platforms"), { recursive: true });
    tarball("a-server.tgz", { name: PUBLISHED_NAMES["@subtext/server"], version: "2.0.0" });
    tarball("b-client.tgz", { name: "client", version: "2.0.0" });
    tarball("other-platforms/c-runtime.tgz", { name: "runtime", version: "1.0.0" });
    const cases = Object.entries(published).map(
      ([id, version]) => `"view --json ${id} version") echo ${version} ;;`,
    );
    const npm = [
      "#!/bin/sh",
      'case "$*" in',
      ...cases,
      `publish*) for path; do :; done; basename "$path" >> "${folder}/log" ;;`,
      "*) echo npm error code E404 >&2; exit 1 ;;",
      "esac",
    ].join("\n");
    writeFileSync(join(folder, "npm"), npm, { mode: 0o755 });
    const { status } = spawnSync(
      process.execPath,
      [join(ROOT, "packaging/publish.ts"), join(folder, "tarballs")],
      { env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } },
    );
    const log = join(folder, "log");
    return { status, names: existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [] };
  };

  test("publishes the server after the packages that it depends on", () => {
    const { status, names } = publish({});
    expect(status).toBe(0);
    expect(names.toSorted()).toEqual(["a-server.tgz", "b-client.tgz", "c-runtime.tgz"]);
    expect(names.at(-1)).toBe("a-server.tgz");
  });

  test("skips what the registry has already", () => {
    expect(publish({ "runtime@1.0.0": '"1.0.0"', "client@2.0.0": '"2.0.0"' })).toEqual({
      status: 0,
      names: ["a-server.tgz"],
    });
  });
});

test("the chart has the version of package.json", () => {
  const { version, appVersion } = parse(readFileSync(join(ROOT, "deploy/helm/subtext/Chart.yaml"), "utf8"));
  expect([version, appVersion]).toEqual([packageJson.version, packageJson.version]);
});

/** Bundles GitHub's parser, because it imports JSON in a way that Node.js does not support. */
async function loadParser(): Promise<typeof import("@actions/workflow-parser")> {
  const bundle = await rolldown({ input: fileURLToPath(import.meta.resolve("@actions/workflow-parser")) });
  const { output } = await bundle.generate({ format: "esm" });
  return await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}

async function findErrors(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: "workflow.yml", content }, new NoOperationTraceWriter());
  if (value) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

function withoutOptions(text: string): string {
  return text.replaceAll(/ -\S+/g, "");
}
