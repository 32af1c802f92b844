import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ENGLISH_WORDS, JAPANESE_WORDS, SPANISH_WORDS, wavSamples, wordsOfTones } from "./tone-words.ts";
import type { RecognizedSpeech, Responder, TranscriptionRequest } from "./transcription-server-formats.ts";

/**
 * Transcription servers for tests. They transcribe the audio of the request, so that tests notice audio that was cut
 * wrongly, sent twice or put in the wrong place.
 */

/** What goes wrong with a request. */
type Fault =
  | { status: number; body?: string; headers?: Record<string, string> }
  | "cut before the response"
  | "cut in the response"
  | "never respond"
  | "never end"
  | "endless response";

export interface TranscriptionServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  requests: TranscriptionRequest[];
  /** Requests in progress, and the maximum so far. */
  inFlight: number;
  mostInFlight: number;
  /** Faults of the next requests, one each. */
  faults: Fault[];
  /** Fault of all requests after those in `faults`; null for none. */
  fault: Fault | null;
  /** Called before each response, which is sent when the promise resolves. */
  before: (parsed: TranscriptionRequest) => Promise<void>;
  stop(): Promise<void>;
}

export interface TranscriptionServerOptions {
  responder: Responder;
  /** By default, `/v1/audio/transcriptions`. */
  path?: string;
  apiKey?: string;
  maxBytes?: number;
}

export async function startTranscriptionServer(
  options: TranscriptionServerOptions,
): Promise<TranscriptionServer> {
  const http = createServer((request, response) => {
    state.inFlight++;
    state.mostInFlight = Math.max(state.mostInFlight, state.inFlight);
    response.on("close", () => state.inFlight--);
    void respond(request, response, options, state);
  });
  const state: TranscriptionServer = {
    origin: await listening(http),
    requests: [],
    inFlight: 0,
    mostInFlight: 0,
    faults: [],
    fault: null,
    before: async () => {},
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return state;
}

async function listening(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: TranscriptionServerOptions,
  state: TranscriptionServer,
): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(request)).subarray();
  const send = (status: number, value: unknown, headers: Record<string, string> = {}) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  };
  if (request.method !== "POST" || request.url !== (options.path ?? "/v1/audio/transcriptions")) {
    return send(404, { detail: "Not Found" });
  }
  if (body.length > (options.maxBytes ?? 25_000_000))
    return send(413, "<html>Request Entity Too Large</html>");
  if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
    return send(401, { error: { message: `Incorrect API key provided: ${request.headers.authorization}` } });
  }
  const type = request.headers["content-type"] ?? "";
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const audio = Buffer.from(await (form.get("file") as File).arrayBuffer());
  const text = (field: string) => form.get(field) as string | null;
  const parsed: TranscriptionRequest = {
    path: request.url,
    authorization: request.headers.authorization,
    model: text("model"),
    language: text("language"),
    responseFormat: text("response_format"),
    prompt: text("prompt"),
    granularities: form.getAll("timestamp_granularities[]") as string[],
    fields: [...form.keys()],
    audioBytes: audio.length,
  };
  state.requests.push(parsed);
  await state.before(parsed);
  const fault = state.faults.shift() ?? state.fault;
  if (fault !== null && fault !== undefined) return respondWithFault(fault, request, response, send);

  const words = wordsOfTones(wavSamples(audio));
  const count = (vocabulary: readonly string[]) =>
    words.filter(({ word }) => vocabulary.includes(word)).length;
  const languages = { english: ENGLISH_WORDS, spanish: SPANISH_WORDS, japanese: JAPANESE_WORDS };
  const [language] = Object.entries(languages).toSorted(([, a], [, b]) => count(b) - count(a))[0]!;
  const seconds = (audio.length - 44) / 32_000;
  const said = options.responder(
    { words, seconds, language: language as RecognizedSpeech["language"] },
    parsed,
  );
  if (typeof said === "string") send(400, { error: { message: said, type: "invalid_request_error" } });
  else if (Buffer.isBuffer(said)) send(200, said.toString(), { "content-type": "text/plain" });
  else send(200, said);
}

function respondWithFault(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  send: (status: number, value: unknown, headers?: Record<string, string>) => void,
): void {
  if (typeof fault === "object") {
    send(fault.status, fault.body ?? "", fault.headers);
    return;
  }
  switch (fault) {
    case "cut before the response":
      request.socket.destroy();
      break;
    case "cut in the response":
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"text": "half of');
      setImmediate(() => request.socket.destroy());
      break;
    case "never respond":
      break;
    case "never end":
      response.writeHead(200);
      response.write('{"text": "and so on');
      break;
    case "endless response": {
      response.writeHead(200);
      const more = () => {
        while (response.writable && response.write(" ".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    }
  }
}
