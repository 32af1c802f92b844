import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { SpeechError } from "../errors.ts";
import type {
  AudioBlock,
  Backend,
  DecodeRequest,
  Inspection,
  PictureRequest,
  RunningDecode,
} from "./backend.ts";
import { decoderOf } from "./decode.ts";
import type { DecoderLog } from "./decoder-log.ts";
import { DecoderProcess } from "./decoder-process.ts";
import { versionText } from "./ffmpeg.ts";
import { decodeTimeoutSeconds, fileBytes, pictureTimeoutSeconds } from "./limits.ts";
import { toSamples } from "./matroska-blocks.ts";
import type { Decoder } from "./media.ts";
import { BLOCK_HEADER_BYTES, type NodeAvReply, type NodeAvRequest } from "./node-av-messages.ts";
import { splitPictures } from "./poster/pictures.ts";

const CHILD = fileURLToPath(new URL("./node-av-child.ts", import.meta.url));
/** Starting Node.js and loading FFmpeg takes a second, or up to 40 s on a busy machine that emulates the processor. */
const LOAD_TIMEOUT_SECONDS = 180;

export interface NodeAvInstallation {
  version: string;
  /** Why the native part of node-av cannot be loaded; null if it can. */
  fault: string | null;
  prlimit: string | null;
}

/** Returns null if the npm package node-av is not installed or cannot be loaded. */
export async function openNodeAv(): Promise<Decoder | null> {
  const found = await findNodeAv();
  return found === null || found.fault !== null ? null : decoderOf(new NodeAvBackend(found));
}

/** Returns null if the npm package node-av is not installed. */
export async function findNodeAv(): Promise<NodeAvInstallation | null> {
  const version = installedVersion();
  if (version === null) return null;
  const prlimit = (await versionText("prlimit", ["--version"]))?.includes("util-linux") ? "prlimit" : null;
  const installation = { version, fault: null, prlimit };
  const signal = AbortSignal.timeout(LOAD_TIMEOUT_SECONDS * 1000);
  const fault = await new NodeAvBackend(installation)
    .request({ kind: "version" }, LOAD_TIMEOUT_SECONDS, signal)
    .then(
      () => null,
      // The package reports each place that it tried on its own line.
      (error: Error) => error.message.replace(/\s+/g, " ").trim(),
    );
  return { ...installation, fault };
}

function installedVersion(): string | null {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths("node-av") ?? []) {
    try {
      return (require(`${folder}/node-av/package.json`) as { version: string }).version;
    } catch {
      // Not in this folder; try the next one.
    }
  }
  return null;
}

class NodeAvBackend implements Backend {
  readonly name: string;
  readonly #prlimit: string | null;

  constructor(found: NodeAvInstallation) {
    this.name = `node-av ${found.version}`;
    this.#prlimit = found.prlimit;
  }

  async inspect(path: string, signal: AbortSignal): Promise<Inspection> {
    const seconds = decodeTimeoutSeconds(await fileBytes(path), 0);
    const { reply, log } = await this.request({ kind: "inspect", path }, seconds, signal);
    if (reply.kind !== "inspection") throw log.openError();
    return log.durationGuessed ? { ...reply.inspection, duration: null } : reply.inspection;
  }

  async measure(path: string, signal: AbortSignal): Promise<number> {
    const seconds = decodeTimeoutSeconds(await fileBytes(path), 0);
    const { reply, log } = await this.request({ kind: "measure", path }, seconds, signal);
    if (reply.kind !== "length") throw log.openError();
    return reply.seconds;
  }

  decode(path: string, request: DecodeRequest): RunningDecode {
    const { stream, channels, trackChannels, durationSeconds, signal } = request;
    let run: Run | null = null;
    let failedPackets = 0;
    const start = async () => {
      const seconds = decodeTimeoutSeconds(await fileBytes(path), durationSeconds);
      run = this.#start({ kind: "decode", path, stream, channels, trackChannels }, seconds, signal);
      return run;
    };
    return {
      blocks: (async function* () {
        const started = await start();
        yield* readBlocks(started.child.output());
        const reply = started.reply();
        if (reply.kind === "decoded") failedPackets = reply.failedPackets;
      })(),
      report: () => {
        const { log } = run!.child;
        return { failedPackets, damaged: log.damaged, lastMessage: log.last };
      },
    };
  }

  async *pictures(path: string, { signal, ...request }: PictureRequest): AsyncGenerator<Buffer> {
    const seconds = pictureTimeoutSeconds(await fileBytes(path));
    const run = this.#start({ kind: "pictures", path, ...request }, seconds, signal, { isBackground: true });
    yield* splitPictures(run.child.output());
    run.reply();
  }

  /** Sends a request that has no output besides its reply. */
  async request(
    request: NodeAvRequest,
    timeoutSeconds: number,
    signal: AbortSignal,
  ): Promise<{ reply: NodeAvReply; log: DecoderLog }> {
    const run = this.#start(request, timeoutSeconds, signal);
    await run.child.text();
    return { reply: run.reply(), log: run.child.log };
  }

  #start(
    request: NodeAvRequest,
    timeoutSeconds: number,
    signal: AbortSignal,
    { isBackground = false }: { isBackground?: boolean } = {},
  ): Run {
    let reply: NodeAvReply | null = null;
    const child = new DecoderProcess({
      command: process.execPath,
      args: ["--disable-warning=ExperimentalWarning", CHILD, JSON.stringify(request)],
      prlimit: this.#prlimit,
      memory: "data",
      timeoutSeconds,
      signal,
      isBackground,
      onMessage: (message) => {
        reply = message as NodeAvReply;
      },
    });
    return {
      child,
      reply: () => {
        if (reply === null) throw crashed(child.log.last ?? "the process exited without a reply");
        if (reply.kind === "failed") throw crashed(reply.message);
        if (reply.kind === "unloadable") throw new SpeechError("decoder_unavailable", reply.message);
        return reply;
      },
    };
  }
}

interface Run {
  child: DecoderProcess;
  /**
   * Valid after the output has been read to its end.
   * @throws SpeechError `decoder_crashed`, `decoder_unavailable`
   */
  reply(): NodeAvReply;
}

function crashed(reason: string): SpeechError {
  return new SpeechError("decoder_crashed", `node-av failed: ${reason}`);
}

/** Parses the output of `node-av-decode.ts`. */
async function* readBlocks(bytes: AsyncIterable<Buffer>): AsyncGenerator<AudioBlock[]> {
  let data: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    data = data.length === 0 ? chunk : Buffer.concat([data, chunk]);
    const blocks: AudioBlock[] = [];
    while (data.length >= BLOCK_HEADER_BYTES) {
      const at = data.readDoubleLE(0);
      const end = BLOCK_HEADER_BYTES + data.readUInt32LE(8);
      if (data.length < end) break;
      blocks.push({
        at: Number.isNaN(at) ? null : at,
        samples: toSamples(data.subarray(BLOCK_HEADER_BYTES, end)),
      });
      data = data.subarray(end);
    }
    yield blocks;
  }
}
