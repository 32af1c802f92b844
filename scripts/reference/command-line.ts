import { createProgram } from "../../server/src/cli/program.ts";
import { renderTable } from "./markdown.ts";

type Command = ReturnType<typeof createProgram>;

/** Renders the command line's help as a page of the documentation. */
export function renderCommandLine(): string {
  const ignore = () => true;
  const program = createProgram({ env: {}, out: ignore, err: ignore, errColumns: () => null });
  const commands = commandsOf(program);
  return `# Command line

<!-- Generated from server/src/cli by "npm run docs:reference". A test fails if this page differs. -->

${sentence(program.description())}

What to write instead of \`subtext\` [depends on the installation](quickstart.md#run-commands). With \`--json\`, a command prints
JSON instead of text. The exit code is 0 if the command succeeded, 1 if it failed, and 2 for a usage error.

${commands.map((command) => renderCommand(command, "##")).join("\n")}`;
}

function renderCommand(command: Command, heading: string): string {
  const help = command.createHelp();
  const options = command.options.filter(({ hidden }) => !hidden);
  const rows = options.map((option) => {
    const meaning = `${help.optionDescription(option)}${option.mandatory ? " (required)" : ""}`;
    return [`\`${option.flags}\``, meaning];
  });
  const table = rows.length > 0 ? `\n${renderTable(["option", "meaning"], rows)}` : "";
  const inner = commandsOf(command).map((each) => renderCommand(each, `${heading}#`));
  const names = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [
    `${heading} \`${[pathOf(command), ...names].join(" ")}\`\n\n${sentence(command.description())}\n${table}`,
    ...inner,
  ].join("\n");
}

function commandsOf(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== "help");
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
