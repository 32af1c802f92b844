/** The package that runs the service. The other names start with it. */
const MAIN = "subtext-transcription";

/** The published name of each workspace that is published. */
export const PUBLISHED_NAMES: Readonly<Record<string, string>> = {
  "@subtext/server": MAIN,
  "@subtext/client": `${MAIN}-client`,
  "@subtext/captions": `${MAIN}-captions`,
  "@subtext/speech": `${MAIN}-speech`,
};

/** The prefix of the packages that hold onnxruntime for one platform, such as `linux-x64`. */
export const RUNTIME_PREFIX = `${MAIN}-onnxruntime-`;
