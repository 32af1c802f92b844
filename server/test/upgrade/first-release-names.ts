/** Values in the rows of `first-release.sql`; the secrets belong to nobody. */
export const FIRST_RELEASE = {
  lastMigration: "0005_dashboard",
  environmentId: "env_01jd0000000000000000000001",
  stagingId: "env_01jd0000000000000000000002",
  endpointId: "endpoint_01jd0000000000000000000001",
  apiKey: "subtext_01jd0000000000000000000001_FirstReleaseFirstReleaseFirstReleaseFirstRe3J8kWV",
  installationMark: Buffer.from("the mark of the first release...").toString("base64url"),
  operator: { email: "olive@subtext.example", password: "the first operator's password" },
  videos: {
    completed: "video_01jd0000000000000000000001",
    pending: "video_01jd0000000000000000000002",
    processing: "video_01jd0000000000000000000003",
    failed: "video_01jd0000000000000000000004",
    skipped: "video_01jd0000000000000000000005",
    untranscribed: "video_01jd0000000000000000000006",
    uploading: "video_01jd0000000000000000000007",
  },
  completedPrefix: "transcripts/transcription_01jd0000000000000000000001/1",
} as const;

/** The statements of a dump, each of which is followed by a line `--;`. */
export function statementsOf(dump: string): string[] {
  return dump
    .split("\n--;\n")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
