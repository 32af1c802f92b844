import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { AppError } from "../lib/errors.ts";
import type { Terminal } from "./context.ts";

const LIST = new Intl.ListFormat("en", { type: "disjunction" });

/**
 * Returns the answer, normalized.
 * @throws AppError `invalid_request` if the answer is invalid
 */
type Check = (answer: string) => string;

export type Questions = ReturnType<typeof openQuestions>;

/** Reads answers from standard input, one per line. On a terminal, repeats the question after an invalid answer. */
export function openQuestions({ err, errColumns }: Terminal) {
  let isMuted = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) err(String(chunk));
      done();
    },
  });
  const isTerminal = errColumns() !== null && process.stdin.isTTY;
  const reader = createInterface({ input: process.stdin, output, terminal: isTerminal });
  // readline handles Ctrl-C itself, so it would not end the command.
  reader.on("SIGINT", () => process.exit(130));
  const lines = reader[Symbol.asyncIterator]();

  async function readValid(question: string, read: () => Promise<string>, check: Check): Promise<string> {
    for (;;) {
      reader.setPrompt(`${question}: `);
      reader.prompt();
      const answer = await read();
      try {
        return check(answer);
      } catch (error) {
        if (!isTerminal || !(error instanceof AppError)) throw error;
        err(`${error.message}\n`);
      }
    }
  }

  async function readLine(question: string): Promise<string> {
    const { value, done } = await lines.next();
    if (done) throw new Error(`No answer was given to "${question}".`);
    return value;
  }

  return {
    /** @param preset the answer if the line is empty */
    async ask(
      question: string,
      { preset = "", check = (answer) => answer }: { preset?: string; check?: Check },
    ) {
      const shown = preset === "" ? question : `${question} [${preset}]`;
      return await readValid(shown, async () => (await readLine(question)).trim() || preset, check);
    },

    /** Hides the answer on the terminal. */
    async askHidden(question: string, check: Check): Promise<string> {
      const read = async () => {
        isMuted = true;
        try {
          return await readLine(question);
        } finally {
          isMuted = false;
          err("\n");
        }
      };
      return await readValid(question, read, check);
    },

    close: () => reader.close(),
  };
}

export function oneOf(choices: readonly string[]): Check {
  return (answer) => {
    if (choices.includes(answer)) return answer;
    throw new AppError("invalid_request", `Choose ${LIST.format(choices)}.`);
  };
}
