import { describe, expect, test } from "vitest";
import { Subtext, uploadTo } from "../src/index.ts";
import { problem, type Step, startScriptedServer } from "./scripted-server.ts";

const file = new Blob(["0123456789"]);
const quick = { maxRetries: 2, firstDelayMs: 1, maxDelayMs: 1 };
const offset = (bytes: number, length = 10, headers: Record<string, string> = {}): Step => ({
  status: 200,
  headers: { "upload-offset": String(bytes), "upload-length": String(length), ...headers },
});

async function upload(script: Step[], options: Parameters<typeof uploadTo>[2] = {}, sent: Blob = file) {
  const { url, requests } = await startScriptedServer(...script);
  const outcome = await uploadTo(`${url}/api/v1/uploads/video_1`, sent, { retry: quick, ...options }).then(
    () => "uploaded",
    (error: { code?: string }) => error.code,
  );
  return { outcome, methods: requests.map(({ method }) => method) };
}

describe("uploadTo", () => {
  test("retries while another request writes to the upload", async () => {
    const { outcome, methods } = await upload([{ status: 423 }, offset(10)]);
    expect([outcome, methods]).toEqual(["uploaded", ["HEAD", "HEAD"]]);
  });

  test("reports an altered URL on the first request", async () => {
    expect((await upload([{ status: 403 }])).outcome).toBe("upload_url_invalid");
    expect((await upload([problem(403, "upload_url_invalid")], { isNew: true })).outcome).toBe(
      "upload_url_invalid",
    );
  });

  test("honors timeoutMs while bytes are sent", async () => {
    const { outcome } = await upload(["hang"], { isNew: true, timeoutMs: 30, retry: { maxRetries: 0 } });
    expect(outcome).toBe("request_timed_out");
  });

  test("refuses a URL that was created for another file", async () => {
    const named = (name: string) =>
      offset(10, 10, { "upload-metadata": `customer NDI=,filename ${btoa(name)}` });
    const sent = new File(["0123456789"], "mine.mp4");
    expect((await upload([named("mine.mp4")], {}, sent)).outcome).toBe("uploaded");
    expect((await upload([named("theirs.mp4")], {}, sent)).outcome).toBe("upload_file_differs");
    expect((await upload([offset(11, 11)])).outcome).toBe("upload_file_differs");
  });

  test("resumes a video that was created with another name than its file has", async () => {
    const created = { status: 201, body: { video: { id: "video_1" }, upload: { url: "" } } };
    const named = offset(10, 10, { "upload-metadata": `filename ${btoa("Talk.mp4")}` });
    const { url } = await startScriptedServer(created, "cut", named);
    created.body.upload.url = `${url}/api/v1/uploads/video_1`;
    const { videos } = new Subtext({ baseUrl: url, apiKey: "k", retry: quick });
    const sent = new File(["0123456789"], "IMG_0001.mp4");
    expect(await videos.upload(sent, { filename: "Talk.mp4" })).toEqual({ videoId: "video_1" });
  });

  test("completes a new empty upload by asking for its offset", async () => {
    const { outcome, methods } = await upload([offset(0, 0)], { isNew: true }, new Blob([]));
    expect([outcome, methods]).toEqual(["uploaded", ["HEAD"]]);
  });
});
