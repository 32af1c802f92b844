import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../server/src/config/config.ts";
import { blocksRunBy } from "./support/documented-blocks.ts";
import { readUnitCommands } from "./support/unit-commands.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, "deploy/systemd");
const UNIT = join(FOLDER, "subtext.service");
const BACKUP_UNITS = ["subtext-backup", "subtext-postgres-backup"].map((name) =>
  join(FOLDER, `${name}.service`),
);
const blocks = blocksRunBy(import.meta.filename).map(({ text }) => text);
const [
  restore = "",
  installTimer = "",
  installDumpTimer = "",
  install = "",
  upgrade = "",
  remove = "",
  ...move
] = blocks;
const MAX_EXPOSURE_TENTHS = 25;

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
const isRoot = process.getuid?.() === 0;

describe.skipIf(!hasSystemd)("the systemd units (skipped without systemd-analyze)", () => {
  test("are valid", () => {
    const folder = temporaryFolder();
    const names = readdirSync(FOLDER).filter((name) => /\.(service|timer)$/.test(name));
    expect(names).toHaveLength(5);
    for (const name of names) {
      // `verify` requires the unit's command to exist, but the service is not installed on this machine.
      const unit = readFileSync(join(FOLDER, name), "utf8").replace(
        /^ExecStart=\/opt\S+/m,
        `ExecStart=${process.execPath}`,
      );
      writeFileSync(join(folder, name), unit);
    }
    const { status, stderr } = spawnSync(
      "systemd-analyze",
      ["verify", "--man=no", "--recursive-errors=no", ...names.map((name) => join(folder, name))],
      { encoding: "utf8" },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  test.each([UNIT, ...BACKUP_UNITS])("restrict their processes: %s", (unit) => {
    const args = ["security", "--offline=true", `--threshold=${MAX_EXPOSURE_TENTHS}`, unit];
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
        expect([name, actual & 0o777, uid]).toEqual([name, mode, readUid(owner, machine)]);
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
      const [link, ...installed] = [
        "usr/local/bin/subtext",
        ...["opt/subtext", "etc/systemd/system/subtext.service", "etc/tmpfiles.d/subtext.conf"],
      ];
      for (const each of installed) expect(existsSync(path(each)), each).toBe(false);
      expect(readdirSync(dirname(path(link!)))).toEqual([]);
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

    test("restore a backup into a new folder of the service's user, and keep the old data and the models", () => {
      const machine = temporaryFolder();
      const path = (name: string) => join(machine, name);
      run(install, machine);
      installProgram(machine, `pwd; echo "$@"`);
      mkdirSync(path("var/lib/subtext/models/whisper-tiny"), { recursive: true });
      writeFileSync(path("var/lib/subtext/recording"), "bytes");
      const printed = run(restore, machine).trim().split("\n");
      expect(printed).toEqual([path("etc/subtext"), `restore ${path("var/backups/subtext/2026-11-23")}`]);
      const { mode, uid } = statSync(path("var/lib/subtext"));
      expect([mode & 0o777, uid]).toEqual([0o700, readUid("subtext", machine)]);
      expect(readdirSync(path("var/lib/subtext"))).toEqual(["models"]);
      expect(readFileSync(path("var/lib/subtext.before/recording"), "utf8")).toBe("bytes");
    });

    test("move the data with the new settings, which the service gets when the move is complete", () => {
      const machine = temporaryFolder();
      const path = (name: string) => join(machine, name);
      run(install, machine);
      installProgram(machine, `echo "$(pwd): $@"`);
      expect(move).toHaveLength(3);
      const printed = run(move.join("\n"), machine).trim().split("\n");
      const [current, next] = [path("etc/subtext"), path("etc/subtext/next")];
      expect(printed).toEqual([
        `${next}: storage create-bucket`,
        `${next}: move --dry-run`,
        ...[`${next}: move`, `${next}: move`],
        `${current}: doctor --files`,
      ]);
      expect(readdirSync(current)).toEqual([".env"]);
      expect(statSync(path("etc/subtext/.env")).mode & 0o777).toBe(0o640);
      const settings = parseEnv(readFileSync(path("etc/subtext/.env"), "utf8"));
      expect(readConfig(settings)).toMatchObject({
        dataFolder: "/var/lib/subtext",
        databaseUrl: expect.stringContaining("db.example.com"),
      });
      expect(settings.S3_BUCKET).toBe("captions");
      expect(readFileSync(path("systemctl.log"), "utf8")).toMatch(/stop subtext\nstart subtext\n$/);
    });

    test("make backups with a timer, delete old ones, and report each outcome", () => {
      const machine = temporaryFolder();
      const backups = join(machine, "var/backups/subtext");
      run(install, machine);
      run(installTimer, machine);
      const unit = readFileSync(join(machine, "etc/systemd/system/subtext-backup.service"), "utf8");
      for (const days of [20, 1]) {
        mkdirSync(join(backups, `20-${days}-days-old`));
        setAge(join(backups, `20-${days}-days-old`), days);
      }
      installProgram(machine, "exit 1");
      expect(runUnit(unit, machine)).toMatch(/^curl .* https:\/\/monitor\.example\/failed\n$/);
      expect(readdirSync(backups).sort()).toEqual(["20-1-days-old", "20-20-days-old"]);
      installProgram(machine, `mkdir "$2"`);
      expect(runUnit(unit, machine)).toMatch(/^curl .* https:\/\/monitor\.example\/done\n$/);
      expect(readdirSync(backups).sort()).toEqual([
        "20-1-days-old",
        expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}$/),
      ]);
    });

    test("make dumps of PostgreSQL with a timer, delete old ones, and report each outcome", () => {
      const machine = temporaryFolder();
      const backups = join(machine, "var/backups/subtext");
      run(install, machine);
      run(installDumpTimer, machine);
      const { mode, uid } = statSync(join(machine, "etc/subtext/pgpass"));
      expect([mode & 0o777, uid]).toEqual([0o600, readUid("subtext", machine)]);
      const unit = readFileSync(join(machine, "etc/systemd/system/subtext-postgres-backup.service"), "utf8");
      for (const days of [20, 1]) {
        writeFileSync(join(backups, `20-${days}.dump`), "");
        setAge(join(backups, `20-${days}.dump`), days);
      }
      const programs = join(machine, "usr/local/bin");
      const dump = (script: string) =>
        writeFileSync(join(programs, "pg_dump"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      writeFileSync(join(programs, "pg_restore"), '#!/bin/sh\ngrep complete "$2"\n', { mode: 0o755 });

      const write = 'echo complete > "$' + '{3#--file=}"';
      for (const failing of ["exit 1", write.replace("complete", "half")]) {
        dump(failing);
        expect(runUnit(unit, machine)).toMatch(/^curl .* https:\/\/monitor\.example\/failed\n$/);
        expect(readdirSync(backups).filter((name) => name.endsWith(".dump"))).toHaveLength(2);
      }
      dump(write);
      expect(runUnit(unit, machine)).toMatch(/^curl .* https:\/\/monitor\.example\/done\n$/);
      const dumps = readdirSync(backups).filter((name) => name.endsWith(".dump"));
      expect(dumps.sort()).toEqual(["20-1.dump", expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}\.dump$/)]);
      expect(statSync(join(backups, dumps[1]!)).mode & 0o777).toBe(0o600);
    });
  },
);

/** Installs a shell script as the program `subtext`. */
function installProgram(machine: string, script: string): void {
  const folder = join(machine, "opt/subtext/node_modules/.bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "subtext"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Runs the commands of a unit with `UMask=0077` like systemd: each only after the one before it, those of `ExecStopPost=` always. */
function runUnit(unit: string, machine: string): string {
  expect(unit).toContain("\nUMask=0077\n");
  const start = readUnitCommands(unit, "ExecStart");
  const stop = readUnitCommands(unit, "ExecStopPost");
  const addresses = ["DONE", "FAILED"].map(
    (name) => `BACKUP_${name}_URL=https://monitor.example/${name.toLowerCase()}`,
  );
  return run(
    `umask 0077; export ${addresses.join(" ")}; set +e; ( set -e\n${start}\n)
    if [ $? = 0 ]; then export SERVICE_RESULT=success; else export SERVICE_RESULT=exit-code; fi\n${stop}`,
    machine,
  );
}

function setAge(path: string, days: number): void {
  const at = new Date(Date.now() - days * 24 * 3600 * 1000);
  utimesSync(path, at, at);
}

/** Runs commands with their absolute paths moved into the folder `machine`. Records the calls of systemctl. */
function run(commands: string, machine: string): string {
  const programs = join(machine, "programs");
  const bin = join(machine, "usr/local/bin");
  for (const folder of [programs, bin]) mkdirSync(folder, { recursive: true });
  // The user and the group exist only in the folder.
  const user = existsSync(join(machine, "etc/passwd")) ? readUid("subtext", machine) : "subtext";
  const stubs = {
    sudo: '[ "$1" != -u ] || shift 2; exec "$@"',
    curl: 'echo curl "$@"',
    install: `for each; do shift; set -- "$@" "$(echo "$each" | sed 's/=subtext$/=${user}/')"; done; exec /usr/bin/install "$@"`,
    systemctl: `echo "$*" >> ${machine}/systemctl.log`,
    npm: 'mkdir -p "$3"',
    "systemd-sysusers": `exec env PATH="\${PATH#*:}" systemd-sysusers --root=${machine} "$@"`,
    "systemd-tmpfiles": `exec env PATH="\${PATH#*:}" systemd-tmpfiles --root=${machine} "$@"`,
  };
  for (const [name, script] of Object.entries(stubs))
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return execFileSync(
    "bash",
    ["-euc", commands.replaceAll(/([ "])\/(etc|opt|var|usr\/local)\//g, `$1${machine}/$2/`)],
    {
      cwd: ROOT,
      env: { ...process.env, PATH: `${programs}:${bin}:${process.env.PATH}` },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    },
  );
}

function readUid(user: string, machine: string): number {
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
