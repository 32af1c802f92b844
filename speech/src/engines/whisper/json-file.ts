import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { SpeechError } from "../../errors.ts";

/** Real files have at most 4 MB. Parsing a malicious file needs up to 60 times its size in memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A JSON object in a model's folder. Missing values are null. Values of the wrong type are errors. */
export class JsonFile {
  readonly path: string;
  readonly #fields: ReadonlyMap<string, unknown>;

  constructor(path: string, value: unknown) {
    this.path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.unusable("is not a JSON object");
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

  integer(key: string, min: number, max: number): number | null {
    const value = this.value(key);
    if (value !== null && !isIntegerIn(value, min, max)) {
      throw this.unusable(`sets ${key} to ${shortened(value)}; expected an integer from ${min} to ${max}`);
    }
    return value;
  }

  requiredInteger(key: string, min: number, max: number): number {
    const value = this.integer(key, min, max);
    if (value === null) throw this.unusable(`does not contain ${key}`);
    return value;
  }

  boolean(key: string): boolean | null {
    const value = this.value(key);
    if (value !== null && typeof value !== "boolean") {
      throw this.unusable(`sets ${key} to ${shortened(value)}; expected true or false`);
    }
    return value;
  }

  list(key: string): readonly unknown[] | null {
    const value = this.value(key);
    if (value !== null && !Array.isArray(value)) {
      throw this.unusable(`sets ${key} to ${shortened(value)}; expected a list`);
    }
    return value;
  }

  object(key: string): JsonFile | null {
    const value = this.value(key);
    if (value === null) return null;
    if (typeof value !== "object" || Array.isArray(value)) {
      throw this.unusable(`sets ${key} to ${shortened(value)}; expected an object`);
    }
    return new JsonFile(this.path, value);
  }

  entries(): [string, unknown][] {
    return [...this.#fields];
  }
}

/** @throws SpeechError `model_unusable` if the file is missing or not a JSON object */
export async function readJson(folder: string, name: string): Promise<JsonFile> {
  const file = await readJsonIfPresent(folder, name);
  if (!file) throw new SpeechError("model_unusable", `The model file ${join(folder, name)} is missing.`);
  return file;
}

/** @throws SpeechError `model_unusable` if the file is not a JSON object */
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
    // The value is nested too deeply.
    text = Array.isArray(value) ? "a list" : "an object";
  }
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
