import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../server/src/config/config.ts";
import { blocksRunBy } from "./support/documented-blocks.ts";

const ROOT = join(import.meta.dirname, "..");
const UNIT = join(ROOT, "deploy/systemd/subtext.service");
const [install = "", upgrade = "", remove = ""] = blocksRunBy(import.meta.filename).map(({ text }) => text);
/** In tenths. */
const GREATEST_EXPOSURE = 25;

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
const isRoot = process.getuid?.() === 0;

describe.skipIf(!hasSystemd)("the systemd unit (skipped without systemd-analyze)", () => {
  test("is valid", () => {
    // The command of the unit need not be installed here.
    const folder = temporaryFolder();
    const unit = readFileSync(UNIT, "utf8").replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    writeFileSync(join(folder, "subtext.service"), unit);
    const { status, stderr } = spawnSync(
      "systemd-analyze",
      ["verify", "--man=no", "--recursive-errors=no", join(folder, "subtext.service")],
      { encoding: "utf8" },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  test("restricts the service", () => {
    const args = ["security", "--offline=true", `--threshold=${GREATEST_EXPOSURE}`, UNIT];
    const { status, stdout } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    expect(status, stdout).toBe(0);
  });
});

describe.skipIf(!hasSystemd || !isRoot)(
  "the documented commands for systemd (skipped without systemd or root)",
  () => {
    test("install, upgrade and remove the service, and never change data or settings", () => {
      const machine = temporaryFolder();
      const path = (name: string) => join(machine, name);
      run(install, machine);
      for (const [name, mode, owner] of [
        ["etc/subtext", 0o750, "root"],
        ["etc/subtext/.env", 0o640, "root"],
        ["var/lib/subtext", 0o700, "subtext"],
        ["var/backups/subtext", 0o700, "subtext"],
      ] as const) {
        const { mode: actual, uid } = statSync(path(name));
        expect([name, actual & 0o777, uid]).toEqual([name, mode, uidOf(owner, machine)]);
      }
      const settings = readFileSync(path("etc/subtext/.env"), "utf8");
      const [name, value] = settings.trimEnd().split("=") as [string, string];
      expect(readConfig({ [name]: value }).dataFolder).toBe("/var/lib/subtext");
      expect(readFileSync(UNIT, "utf8")).toContain("ReadWritePaths=-/var/backups/subtext\n");

      writeFileSync(path("etc/subtext/.env"), `${settings}PORT=8081\n`);
      writeFileSync(path("var/lib/subtext/recording"), "bytes");
      run(upgrade, machine);
      expect(existsSync(path("opt/subtext"))).toBe(true);
      run(remove, machine);
      for (const each of ["opt/subtext", "etc/systemd/system/subtext.service", "etc/tmpfiles.d/subtext.conf"])
        expect(existsSync(path(each)), each).toBe(false);
      run(install, machine);

      expect(readFileSync(path("etc/subtext/.env"), "utf8")).toBe(`${settings}PORT=8081\n`);
      expect(readFileSync(path("var/lib/subtext/recording"), "utf8")).toBe("bytes");
      expect(readFileSync(path("systemctl.log"), "utf8").trim().split("\n")).toEqual([
        ...["daemon-reload", "enable --now subtext"],
        ...["stop subtext", "daemon-reload", "start subtext"],
        ...["disable --now subtext", "daemon-reload"],
        ...["daemon-reload", "enable --now subtext"],
      ]);
    });
  },
);

/** Runs commands whose absolute paths are in the folder `machine`; it records the calls of systemctl. */
function run(commands: string, machine: string): void {
  const programs = join(machine, "programs");
  mkdirSync(programs, { recursive: true });
  const stubs = {
    sudo: 'exec "$@"',
    systemctl: `echo "$*" >> ${machine}/systemctl.log`,
    npm: 'mkdir -p "$3"',
    "systemd-sysusers": `exec env PATH="\${PATH#*:}" systemd-sysusers --root=${machine} "$@"`,
    "systemd-tmpfiles": `exec env PATH="\${PATH#*:}" systemd-tmpfiles --root=${machine} "$@"`,
  };
  for (const [name, script] of Object.entries(stubs))
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  execFileSync("bash", ["-euc", commands.replaceAll(/ \/(etc|opt|var)\//g, ` ${machine}/$1/`)], {
    cwd: ROOT,
    env: { ...process.env, PATH: `${programs}:${process.env.PATH}` },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

function uidOf(user: string, machine: string): number {
  if (user === "root") return 0;
  const line = readFileSync(join(machine, "etc/passwd"), "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${user}:`));
  return Number(line?.split(":")[2]);
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "subtext-systemd-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
