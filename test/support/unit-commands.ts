/** Returns the shell commands that systemd runs for `ExecStart=` or `ExecStopPost=` of a unit, one per line. */
export function readUnitCommands(unit: string, setting: "ExecStart" | "ExecStopPost"): string {
  return [...unit.matchAll(new RegExp(`^${setting}=(.*)$`, "gm"))]
    .map(([, command = ""]) => command.replaceAll("%%", "%"))
    .join("\n");
}
