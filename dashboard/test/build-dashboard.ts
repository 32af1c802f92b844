import { execFileSync } from "node:child_process";

/** Once before all tests: they are about the pages as their sources are now. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build", "-w", "@subtext/dashboard"], { stdio: "inherit" });
}
