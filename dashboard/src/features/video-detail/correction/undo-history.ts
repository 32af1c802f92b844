/** Edits to one paragraph less than this far apart are undone together. */
const GROUP_MS = 1_000;
const MAX_STEPS = 500;

/** States before and after the current one, for undo and redo. */
export class UndoHistory<State> {
  #past: State[] = [];
  #future: State[] = [];
  #lastGroup: string | null = null;
  #lastAt = 0;

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  /** @param group edits of the same group in quick succession become one step; null for a step of its own */
  record(previous: State, group: string | null, nowMs: number): void {
    const continues = group !== null && group === this.#lastGroup && nowMs - this.#lastAt < GROUP_MS;
    this.#lastGroup = group;
    this.#lastAt = nowMs;
    this.#future = [];
    if (continues) return;
    this.#past.push(previous);
    if (this.#past.length > MAX_STEPS) this.#past.shift();
  }

  /** Returns the previous state; null if there is none. */
  undo(current: State): State | null {
    return this.#move(this.#past, this.#future, current);
  }

  redo(current: State): State | null {
    return this.#move(this.#future, this.#past, current);
  }

  clear(): void {
    this.#past = [];
    this.#future = [];
    this.#lastGroup = null;
  }

  #move(from: State[], to: State[], current: State): State | null {
    const state = from.pop();
    if (state === undefined) return null;
    to.push(current);
    this.#lastGroup = null;
    return state;
  }
}
