import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { PUBLISHED_NAMES } from "../../packaging/names.ts";
import { createProgram } from "../../server/src/cli/program.ts";
import { createProgram as createSpeechProgram } from "../../speech/src/cli/program.ts";

const ROOT = join(import.meta.dirname, "../..");

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
const BEFORE = String.raw`(?:^[ \t]*|npx |&& |\| |; |\$\(|# |-- |exec (?:-T )?subtext |(?<!docker |compose )exec |run --rm |\b[A-Z_]+=\S+ |\.bin/)`;
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

/** The owner of options in a text: a command of this project, or another program. */
interface OptionOwner {
  name: string;
  has(option: string): boolean;
}

/** Options of npm that the documentation names. */
const NPM_OPTIONS = ["--omit", "--prefix"];
const SCRIPTS: Partial<Record<string, string>> = packageJson.scripts;
const OTHER_PROGRAM = /(?:^|\s)(npm (?:install|ci)\b|npm run ([\w:-]+)|node ([\w/-]+\.ts))/gm;

/**
 * Returns the options in code spans, such as `--force`, that the command beside them does not have. That is the last
 * command before the span in the same section, otherwise the next one in it, otherwise the last one of the page.
 */
export function findOptionFaults(markdown: string): string[] {
  const faults: string[] = [];
  let last: OptionOwner | null = null;
  for (const section of markdown.split(/^(?=#{1,6} )/m)) {
    const parts = [...section.matchAll(/^\s*```[^\n]*\n([\s\S]*?)^\s*```\s*$|`([^`\n]+)`/gm)].map(
      ([, block, span]) => block ?? span ?? "",
    );
    const owners = parts.map(findOwners);
    let current: OptionOwner | null = owners.find((found) => found.length > 0)?.[0] ?? last;
    for (const [index, part] of parts.entries()) {
      if (/^-{1,2}[A-Za-z]/.test(part)) {
        const [option = ""] = part.split(/[\s=]/);
        if (!current?.has(option))
          faults.push(`${option} is not an option of ${current?.name ?? "a command"}`);
      }
      current = last = owners[index]!.at(-1) ?? current;
    }
  }
  return faults;
}

/** Returns the programs that a code block or span calls, in order. */
function findOwners(code: string): OptionOwner[] {
  const isName = Object.hasOwn(PROGRAMS, code);
  const own = (isName ? [{ program: code, words: [], index: 0 }] : findCalls(code)).map((call) => {
    const command = findCommand(call);
    const has = (option: string) => findOption(command, option) !== null;
    return { index: call.index, name: pathOf(command), has };
  });
  const others = [...code.matchAll(OTHER_PROGRAM)].map(({ index, 1: name = "", 2: script, 3: path }) => {
    const file = path ?? SCRIPTS[script ?? ""]?.match(/node ([\w/-]+\.ts)$/)?.[1];
    const options = file ? optionsIn(readFileSync(join(ROOT, file), "utf8")) : NPM_OPTIONS;
    return { index, name, has: (option: string) => options.includes(option) };
  });
  return [...own, ...others].sort((one, other) => one.index - other.index);
}

/** Returns the options that a program defines for `parseArgs`. */
function optionsIn(source: string): string[] {
  const definitions = source.matchAll(/"?\b([a-z][\w-]*)"?: (?:text\(|\{ type: "(?:boolean|string)")/g);
  return [...definitions].map(([, name]) => `--${name}`);
}

/** Returns the command that the words start with. */
function findCommand({ program, words }: DocumentedCall): Command {
  let command = PROGRAMS[program]!;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) break;
    command = next;
  }
  return command;
}
