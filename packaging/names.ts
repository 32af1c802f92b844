/** The documentation contains these names literally, and a test compares the two. */
const MAIN = "subtext-transcription";

/** The npm package of each published workspace. */
export const PUBLISHED_NAMES: Readonly<Record<string, string>> = {
  "@subtext/server": MAIN,
  "@subtext/client": `${MAIN}-client`,
  "@subtext/captions": `${MAIN}-captions`,
  "@subtext/speech": `${MAIN}-speech`,
};

/** The prefix of packages with onnxruntime for one platform, such as `linux-x64`. */
export const RUNTIME_PREFIX = `${MAIN}-onnxruntime-`;
