import type { EditableWord, SavedWords, TranscriptWords } from "@subtext/client/contract/transcript-words";
import type { Draft, DraftStore } from "./drafts.ts";
import { type EditedTranscript, splitIntoParagraphs } from "./edited-transcript.ts";
import { type Conflict, mergeWords } from "./merge-words.ts";
import { UndoHistory } from "./undo-history.ts";

/** Saves follow the last change after this time. */
const SAVE_DELAY_MS = 2_000;
const DRAFT_DELAY_MS = 1_000;
/** Changes after this time without any begin a new revision. */
const SITTING_MS = 10 * 60_000;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

export interface SaveRequest {
  words: readonly EditableWord[];
  sitting: string;
  etag: string;
}

export interface WordsApi {
  load(): Promise<TranscriptWords>;
  /** @throws the error for which `isOutdated` returns true, if the words were changed in the meantime */
  save(request: SaveRequest): Promise<SavedWords>;
  isOutdated(error: unknown): boolean;
  /** Whether the same request may succeed later. */
  isTemporary(error: unknown): boolean;
}

type SaveState = "saved" | "unsaved" | "saving" | "retrying" | "refused";

export interface SessionState {
  transcript: EditedTranscript;
  save: SaveState;
  /** Why the last save failed. */
  error: unknown;
  canUndo: boolean;
  canRedo: boolean;
  /** Places that another person changed differently. The transcript contains the changes made here. */
  conflicts: readonly Conflict[];
  /** Number of times that changes of others were merged into the transcript. */
  merges: number;
  /** Whether unsaved changes of an earlier visit were restored. */
  wasRestored: boolean;
}

interface SessionOptions {
  api: WordsApi;
  drafts: DraftStore;
  now?: () => number;
  newSitting?: () => string;
  onSaved?: (saved: SavedWords) => void;
}

/**
 * The changes of one person to a transcript: undo, autosave, drafts, and merges with the changes of others. Nothing that
 * was typed is lost unless it is undone: it is in the draft until the server has it.
 */
export class EditingSession {
  readonly #options: Required<SessionOptions>;
  readonly #history = new UndoHistory<EditedTranscript>();
  readonly #listeners = new Set<() => void>();
  #etag: string;
  #base: readonly EditableWord[];
  #state: SessionState;
  #sitting: string;
  #changedAt = 0;
  #failures = 0;
  #saveTimer: ReturnType<typeof setTimeout> | undefined;
  #draftTimer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | null = null;

  /** Loads the words and the draft. */
  static async open(options: SessionOptions): Promise<EditingSession> {
    const [loaded, draft] = await Promise.all([options.api.load(), options.drafts.load()]);
    const session = new EditingSession(options, loaded);
    if (draft) session.#restore(draft);
    return session;
  }

  private constructor(options: SessionOptions, { etag, words }: TranscriptWords) {
    this.#options = {
      now: Date.now,
      newSitting: randomId,
      onSaved: () => {},
      ...options,
    };
    this.#etag = etag;
    this.#base = words;
    this.#sitting = this.#options.newSitting();
    this.#state = {
      transcript: splitIntoParagraphs(words),
      save: "saved",
      error: null,
      canUndo: false,
      canRedo: false,
      conflicts: [],
      merges: 0,
      wasRestored: false,
    };
  }

  get state(): SessionState {
    return this.#state;
  }

  /** ETag of the words on the server that the changes are based on. */
  get etag(): string {
    return this.#etag;
  }

  /** @returns a function that removes the listener */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @param group see `UndoHistory` */
  change(transcript: EditedTranscript, group: string | null = null): void {
    const previous = this.#state.transcript;
    if (transcript === previous) return;
    this.#history.record(previous, group, this.#options.now());
    this.#show(transcript);
  }

  undo(): void {
    const previous = this.#history.undo(this.#state.transcript);
    if (previous) this.#show(previous);
  }

  redo(): void {
    const next = this.#history.redo(this.#state.transcript);
    if (next) this.#show(next);
  }

  dismissConflicts(): void {
    this.#set({ conflicts: [] });
  }

  /** Saves immediately. Resolves when the save succeeded or failed; see `state`. */
  async save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    while (this.#running) await this.#running;
    if (this.#state.save === "saved") return;
    this.#running = this.#save().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  /** Merges the current words of the server, which another person changed. */
  async update(): Promise<void> {
    while (this.#running) await this.#running;
    this.#running = this.#merge().finally(() => {
      this.#running = null;
    });
    await this.#running.catch(() => {
      // The next save finds the same words and tries again.
    });
  }

  /** Stores the draft now, for example because the page is being closed. */
  async storeDraft(): Promise<void> {
    clearTimeout(this.#draftTimer);
    if (this.#state.save === "saved") return;
    const draft = {
      etag: this.#etag,
      base: this.#base,
      words: this.#state.transcript.flat(),
      sitting: this.#sitting,
    };
    await this.#options.drafts.save(draft);
  }

  /** Forgets the unsaved changes. */
  async discard(): Promise<void> {
    clearTimeout(this.#saveTimer);
    clearTimeout(this.#draftTimer);
    this.#history.clear();
    this.#set({
      transcript: splitIntoParagraphs(this.#base),
      save: "saved",
      error: null,
      wasRestored: false,
    });
    await this.#options.drafts.remove();
  }

  /** Stops all timers. Unsaved changes stay in the draft. */
  async close(): Promise<void> {
    clearTimeout(this.#saveTimer);
    await this.storeDraft();
  }

  #restore({ etag, base, words, sitting }: Draft): void {
    const merged = etag === this.#etag ? { words, conflicts: [] } : mergeWords(base, words, this.#base);
    this.#sitting = sitting;
    this.#set({ wasRestored: true, conflicts: merged.conflicts });
    this.#show(splitIntoParagraphs(merged.words));
  }

  #show(transcript: EditedTranscript): void {
    const { now, newSitting } = this.#options;
    if (now() - this.#changedAt >= SITTING_MS && this.#changedAt > 0) this.#sitting = newSitting();
    this.#changedAt = now();
    this.#set({ transcript, save: "unsaved" });
    this.#scheduleSave(SAVE_DELAY_MS);
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => void this.storeDraft(), DRAFT_DELAY_MS);
  }

  #scheduleSave(delayMs: number): void {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = setTimeout(() => void this.save(), delayMs);
  }

  async #save(): Promise<void> {
    const { api, drafts, onSaved } = this.#options;
    this.#set({ save: "saving", error: null });
    try {
      for (;;) {
        const { transcript } = this.#state;
        const words = transcript.flat();
        try {
          const saved = await api.save({ words, sitting: this.#sitting, etag: this.#etag });
          this.#etag = saved.etag;
          this.#base = words;
          this.#failures = 0;
          onSaved(saved);
          if (this.#state.transcript !== transcript) {
            this.#set({ save: "unsaved" });
            this.#scheduleSave(SAVE_DELAY_MS);
            return;
          }
          clearTimeout(this.#draftTimer);
          this.#set({ save: "saved", wasRestored: false });
          await drafts.remove();
          return;
        } catch (error) {
          if (!api.isOutdated(error)) throw error;
          await this.#merge();
        }
      }
    } catch (error) {
      const isTemporary = this.#options.api.isTemporary(error);
      this.#set({ save: isTemporary ? "retrying" : "refused", error });
      if (!isTemporary) return;
      this.#scheduleSave(Math.min(RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS));
      this.#failures++;
    }
  }

  async #merge(): Promise<void> {
    const current = await this.#options.api.load();
    if (current.etag === this.#etag) return;
    const { words, conflicts } = mergeWords(this.#base, this.#state.transcript.flat(), current.words);
    this.#etag = current.etag;
    this.#base = current.words;
    // The states before the merge lack the changes of the other person, so an undo would revert them.
    this.#history.clear();
    this.#set({
      transcript: splitIntoParagraphs(words),
      conflicts: [...this.#state.conflicts, ...conflicts],
      merges: this.#state.merges + 1,
    });
  }

  #set(change: Partial<SessionState>): void {
    const { canUndo, canRedo } = this.#history;
    this.#state = { ...this.#state, ...change, canUndo, canRedo };
    for (const listener of this.#listeners) listener();
  }
}

/** Unlike `crypto.randomUUID`, also works on pages without TLS. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
