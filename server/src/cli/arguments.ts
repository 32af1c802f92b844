import { InvalidArgumentError, Option } from "commander";
import { commandLine } from "../lib/command-line.ts";
import { AppError } from "../lib/errors.ts";
import type { InternalClient } from "./internal-client.ts";

const DURATION_UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

export function environmentOption(description = "name or id of the environment"): Option {
  return new Option("--env <environment>", description);
}

export function transcriptionSwitch(): Option {
  return new Option("--transcription <on|off>", "whether videos are transcribed").choices(["on", "off"]);
}

/** Parses `get_video,create_video`; accepts only known words. */
export function parseList<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) => {
    const words = text.split(",").map((word) => word.trim());
    const unknown = words.find((word) => !(known as readonly string[]).includes(word));
    if (unknown !== undefined) {
      throw new InvalidArgumentError(`"${unknown}" is not one of ${known.join(", ")}.`);
    }
    return [...new Set(words)] as T[];
  };
}

/** Parses `90d` or `12h` into milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})([mhdw])$/.exec(text);
  if (!match)
    throw new InvalidArgumentError("Enter at most 6 digits, followed by m, h, d or w, such as 90d.");
  return Number(match[1]) * DURATION_UNITS_MS[match[2] as keyof typeof DURATION_UNITS_MS];
}

export function parseJsonObject(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Record<string, unknown>;
    }
  } catch {
    // Falls through to the error below.
  }
  throw new InvalidArgumentError(`Enter a JSON object, such as '{"team": "video"}'.`);
}

/** Prefers the id, because an environment's name may equal the id of another environment. */
export function findByIdOrName<Row extends { id: string; name: string }>(
  rows: readonly Row[],
  idOrName: string,
): Row | undefined {
  return rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName);
}

/**
 * Resolves an environment's id or name to the path parameter of its routes.
 * @param wanted undefined selects the only environment
 * @throws AppError `environment_not_found`
 */
export async function environmentParams(
  client: InternalClient,
  wanted: string | undefined,
): Promise<{ environment: string }> {
  const { data } = await client.send("GET /environments");
  const [first, ...others] = data;
  if (!first) {
    throw new AppError(
      "environment_not_found",
      `There are no environments yet. Create one: ${commandLine("env create <name>")}`,
    );
  }
  if (wanted === undefined && others.length === 0) return { environment: first.id };
  const found = wanted === undefined ? undefined : findByIdOrName(data, wanted);
  if (found) return { environment: found.id };
  const names = data.map(({ name }) => name).join(", ");
  throw new AppError(
    "environment_not_found",
    wanted === undefined
      ? `Choose an environment with --env. Available: ${names}`
      : `There is no environment ${wanted}. Available: ${names}`,
  );
}
