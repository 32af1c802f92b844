import pg from "pg";
import { isPrepared } from "./prepared.ts";

/** A connection that keeps the plans of statements that are marked as `prepared`, by a name for each. */
export class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>();

  // As Kysely calls it; every other form passes.
  override query(...args: unknown[]): never {
    const [text, values] = args;
    const asked =
      typeof text === "string" && isPrepared(text) ? [{ name: this.#nameOf(text), text, values }] : args;
    return Reflect.apply(super.query, this, asked) as never;
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `prepared_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}
