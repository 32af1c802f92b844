import pg from "pg";
import { isPrepared } from "./prepared.ts";

/** A connection that prepares statements that are marked as `prepared`, each under its own name. */
export class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>();

  // The form in which Kysely calls it; every other form is passed through.
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
