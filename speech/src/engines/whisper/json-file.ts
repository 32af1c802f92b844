import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { SpeechError } from "../../errors.ts";

/** Real ones have 4 MB at most. What is made to take memory takes up to 60 times its size when it is read. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A JSON object in a model's folder. What it lacks is null; what is of another type is an error. */
export class JsonFile {
  readonly path: string;
  readonly #fields: ReadonlyMap<string, unknown>;

  constructor(path: string, value: unknown) {
    this.path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.unusable("is no JSON object");
    }
    this.#fields = new Map(Object.entries(value));
  }

  unusable(what: string): SpeechError {
    return new SpeechError("model_unusable", `The model file ${this.path} ${what}.`);
  }

  value(key: string): unknown {
    return this.#fields.get(key) ?? null;
  }

  has(key: string): boolean {
    return this.value(key) !== null;
  }

  /** A whole number from `min` to `max`; null where it is not stated. */
  integer(key: string, min: number, max: number): number | null {
    const value = this.value(key);
    if (value !== null && !isIntegerIn(value, min, max)) {
      throw this.unusable(
        `states ${key} as ${shortened(value)}; a whole number from ${min} to ${max} is due`,
      );
    }
    return value;
  }

  requiredInteger(key: string, min: number, max: number): number {
    const value = this.integer(key, min, max);
    if (value === null) throw this.unusable(`does not state ${key}`);
    return value;
  }

  boolean(key: string): boolean | null {
    const value = this.value(key);
    if (value !== null && typeof value !== "boolean") {
      throw this.unusable(`states ${key} as ${shortened(value)}; true or false is due`);
    }
    return value;
  }

  list(key: string): readonly unknown[] | null {
    const value = this.value(key);
    if (value !== null && !Array.isArray(value)) {
      throw this.unusable(`states ${key} as ${shortened(value)}; a list is due`);
    }
    return value;
  }

  object(key: string): JsonFile | null {
    const value = this.value(key);
    if (value === null) return null;
    if (typeof value !== "object" || Array.isArray(value)) {
      throw this.unusable(`states ${key} as ${shortened(value)}; an object is due`);
    }
    return new JsonFile(this.path, value);
  }

  entries(): [string, unknown][] {
    return [...this.#fields];
  }
}

/** @throws SpeechError `model_unusable` where there is no such file, or it holds no JSON object */
export async function readJson(folder: string, name: string): Promise<JsonFile> {
  const file = await readJsonIfPresent(folder, name);
  if (!file) throw new SpeechError("model_unusable", `The model file ${join(folder, name)} is missing.`);
  return file;
}

/** @throws SpeechError `model_unusable` where it cannot be read or holds no JSON object */
export async function readJsonIfPresent(folder: string, name: string): Promise<JsonFile | null> {
  const path = join(folder, name);
  let value: unknown;
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new Error(`it has ${size} bytes`);
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) {
      return null;
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new SpeechError("model_unusable", `The model file ${path} cannot be read as JSON: ${reason}.`, {
      cause: error,
    });
  }
  return new JsonFile(path, value);
}

export function isIntegerIn(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

export function shortened(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    // Nested more deeply than can be written again.
    text = Array.isArray(value) ? "a list" : "an object";
  }
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
