import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Prints which tests this machine skips and which commands enable them. */
export function setup(): void {
  const { TEST_DATABASE_URL, TEST_S3, TEST_WHISPER_CPP } = process.env;
  const hints: [isAvailable: boolean, what: string, command: string][] = [
    [
      Boolean(TEST_DATABASE_URL),
      "on PostgreSQL",
      "TEST_DATABASE_URL=$(scripts/start-postgres /tmp/postgres) npm test",
    ],
    [Boolean(TEST_S3), "on S3", "TEST_S3=$(scripts/start-s3 /tmp/s3) npm test"],
    [
      Boolean(TEST_WHISPER_CPP),
      "with whisper.cpp's server",
      "TEST_WHISPER_CPP=<its built sources> npm run test:slow",
    ],
    [isInstalled("ffmpeg"), "that decode with ffmpeg", "apt-get install ffmpeg"],
    [
      isInstalled("go"),
      "of the Helm chart and of Go",
      "apt-get install golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev",
    ],
    [isInstalled("nginx") && isInstalled("caddy"), "behind nginx and Caddy", "apt-get install nginx caddy"],
    [isInstalled("ruby") && isInstalled("php"), "of Ruby and PHP", "apt-get install ruby php-cli"],
  ];
  for (const [isAvailable, what, command] of hints) {
    if (!isAvailable) console.log(`Tests ${what} are skipped. To enable them: ${command}`);
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
