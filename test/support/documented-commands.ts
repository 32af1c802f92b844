import { PUBLISHED_NAMES } from "../../packaging/names.ts";
import { createProgram } from "../../server/src/cli/program.ts";
import { createProgram as createSpeechProgram } from "../../speech/src/cli/program.ts";

type Command = ReturnType<typeof createProgram>;

const silent = { out: () => true, err: () => true, errColumns: () => null, memoryLimit: () => null };
const server = createProgram({ env: {}, ...silent });
const speech = createSpeechProgram({ env: {}, ...silent }, () => {});

/** By the name that users type, with or without npx. */
const PROGRAMS: Readonly<Record<string, Command>> = {
  subtext: server,
  [PUBLISHED_NAMES["@subtext/server"] ?? ""]: server,
  "subtext-speech": speech,
  [PUBLISHED_NAMES["@subtext/speech"] ?? ""]: speech,
};

/** Options that Commander adds to every command. */
const BUILT_IN = ["--help", "-h", "--version", "-V"];

/** What can precede a program: a prompt for another shell, a variable, a container, or the folder that contains it. */
const BEFORE = String.raw`(?:^[ \t]*|npx |&& |\| |; |\$\(|# |-- |exec (?:-T )?subtext |exec |run --rm |\b[A-Z_]+=\S+ |\.bin/)`;
const CALL = new RegExp(
  String.raw`${BEFORE}(${Object.keys(PROGRAMS).join("|")})(?= (?!subtext)[^ \\])((?:"[^"\n]*"|'[^'\n]*'|[^|;\n&)"'])*)`,
  "gm",
);

/** A call of a command line of this project, and where it starts in the text. */
export interface DocumentedCall {
  program: string;
  words: string[];
  index: number;
}

/** Finds the calls in a code block or code span. */
export function findCalls(code: string): DocumentedCall[] {
  const joined = code.replaceAll(/\\\n\s*/g, (continuation) => " ".repeat(continuation.length));
  return [...joined.matchAll(CALL)].map((match) => {
    const [whole, program = "", rest = ""] = match;
    return { program, words: wordsOf(rest.replace(/\s#.*$/, "")), index: match.index + whole.length };
  });
}

function wordsOf(text: string): string[] {
  return text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
}

/** Returns the first word that the command line would refuse: an unknown command or option, or one argument too many. */
export function findCallFault({
  program,
  words: all,
}: Pick<DocumentedCall, "program" | "words">): string | null {
  let command = PROGRAMS[program]!;
  let count = 0;
  const words = [...all];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (/^-/.test(word)) {
      const option = findOption(command, word);
      if (option === null) return `${word} is not an option of ${pathOf(command)}`;
      if (option.takesValue && !word.includes("=")) words.shift();
      continue;
    }
    const next = command.commands.find((each) => each.name() === word);
    if (next && count === 0) {
      command = next;
      continue;
    }
    const known = command.registeredArguments;
    if (/^\[options\]$/.test(word) || /^\d?>/.test(word)) continue;
    count += 1;
    if (count > known.length && !known.at(-1)?.variadic) {
      const has = command.commands.length > 0 ? "has no command" : "takes no";
      return `${pathOf(command)} ${has} ${word}`;
    }
  }
  return null;
}

/** Finds an option of a command or of the commands that contain it. */
function findOption(command: Command, word: string): { takesValue: boolean } | null {
  const name = word.split("=")[0]!;
  if (BUILT_IN.includes(name)) return { takesValue: false };
  for (let each: Command | null = command; each !== null; each = each.parent) {
    const option = each.options.find(({ long, short }) => long === name || short === name);
    if (option) return { takesValue: option.required || option.optional };
  }
  return null;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
