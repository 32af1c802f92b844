import { createRequire } from "node:module";
import * as player from "media-captions";
import { thousandths } from "./speech.ts";

interface StrictParser {
  parse(
    text: string,
    mode: "captions",
  ): {
    cues: { startTime: number; endTime: number; tree: { children: { type: string; value: string }[] } }[];
    errors: { message: string; line: number }[];
  };
}

// The package is CommonJS without types, and an import cannot see its exports.
const { WebVTTParser } = createRequire(import.meta.url)("webvtt-parser") as {
  WebVTTParser: new (entities: Record<string, string>) => StrictParser;
};

interface PlayerCue {
  startTime: number;
  endTime: number;
}

// The package's types re-export from paths without extensions, which Node's module resolution rejects.
const { parseText, tokenizeVTTCue } = player as unknown as {
  parseText(text: string, options: { type: "vtt"; strict: boolean }): Promise<{ cues: PlayerCue[] }>;
  tokenizeVTTCue(cue: PlayerCue): ({ type: "text"; data: string } | { type: "tag" })[];
};

/** A parsed cue: times in seconds, and unescaped text. */
export interface ReadCue {
  start: number;
  end: number;
  text: string;
}

/** Parses with the validating parser of the W3C community. Returns the cues and all syntax errors. */
export function parseStrictly(vtt: string): { cues: ReadCue[]; errors: string[] } {
  const parser = new WebVTTParser({ "&amp;": "&", "&lt;": "<", "&gt;": ">" });
  const { cues, errors } = parser.parse(vtt, "captions");
  return {
    cues: cues.map((cue) => ({
      start: thousandths(cue.startTime),
      end: thousandths(cue.endTime),
      text: cue.tree.children.map((node) => (node.type === "text" ? node.value : `[${node.type}]`)).join(""),
    })),
    errors: errors.map((error) => `${error.line}: ${error.message}`),
  };
}

/**
 * Parses with the parser of a player (Vidstack). Throws at the first error. The parser does not support times of 100
 * hours or more.
 */
export async function parseAsPlayer(vtt: string): Promise<ReadCue[]> {
  const { cues } = await parseText(vtt, { type: "vtt", strict: true });
  return cues.map((cue) => ({
    start: thousandths(cue.startTime),
    end: thousandths(cue.endTime),
    text: tokenizeVTTCue(cue)
      .map((token) => (token.type === "text" ? token.data : `[${token.type}]`))
      .join(""),
  }));
}
