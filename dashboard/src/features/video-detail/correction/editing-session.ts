import type { EditableWord, SavedWords, TranscriptWords } from "@subtext/client/contract/transcript-words";
import { isSameWord } from "./compare-words.ts";
import type { Draft, DraftStore } from "./drafts.ts";
import type { EditSession, EditSessionStore } from "./edit-session.ts";
import { type EditedTranscript, splitIntoParagraphs } from "./edited-transcript.ts";
import { type Conflict, mergeWords } from "./merge-words.ts";
import { UndoHistory } from "./undo-history.ts";

/** Delay between the last change and the save. */
const SAVE_DELAY_MS = 2_000;
/** The longest a save is postponed while the user keeps editing. */
const MAX_SAVE_DELAY_MS = 20_000;
/** Delay from the first change until a draft is stored. */
const DRAFT_DELAY_MS = 1_000;
/** A change after a break of this length starts a new revision. */
const EDIT_SESSION_MS = 10 * 60_000;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

export interface SaveRequest {
  words: readonly EditableWord[];
  editSessionId: string;
  etag: string;
}

export interface WordsApi {
  load(): Promise<TranscriptWords>;
  /** @throws an error for which `isOutdated` returns true if the words have changed in the meantime */
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
  /**
   * Passages that this user and someone else changed in different ways. The transcript keeps the changes made in this
   * session.
   */
  conflicts: readonly Conflict[];
  /** Number of times that other people's changes were merged into the transcript. */
  merges: number;
  /** Whether unsaved changes from an earlier visit were restored and are not saved yet. */
  wasRestored: boolean;
}

interface SessionOptions {
  api: WordsApi;
  drafts: DraftStore;
  editSessions: EditSessionStore;
  now?: () => number;
  onSaved?: (saved: SavedWords) => void;
}

/**
 * One user's editing session: undo, autosave, drafts, and merging of other users' changes. Changes stay in the draft until
 * the server has saved them.
 */
export class EditingSession {
  readonly #options: Required<SessionOptions>;
  readonly #history = new UndoHistory<EditedTranscript>();
  readonly #listeners = new Set<() => void>();
  #etag: string;
  #base: readonly EditableWord[];
  #state: SessionState;
  #editSession: EditSession;
  #failures = 0;
  #saveTimer: ReturnType<typeof setTimeout> | undefined;
  #draftTimer: ReturnType<typeof setTimeout> | undefined;
  /** ID of the draft that contains the unsaved changes. */
  #draftId: string | null = null;
  /** When the oldest unsaved change was made, in milliseconds since the epoch. */
  #unsavedSince = 0;
  #isClosed = false;
  #running: Promise<void> | null = null;

  /** Loads the words, and restores the draft if there is one. */
  static async open(options: SessionOptions): Promise<EditingSession> {
    const [loaded, draft] = await Promise.all([options.api.load(), options.drafts.load()]);
    const session = new EditingSession(options, loaded);
    if (draft) session.#restore(draft);
    return session;
  }

  private constructor(options: SessionOptions, { etag, words }: TranscriptWords) {
    this.#options = {
      now: Date.now,
      onSaved: () => {},
      ...options,
    };
    this.#etag = etag;
    this.#base = words;
    this.#editSession = this.#options.editSessions.load() ?? { id: randomId(), changedAtMs: 0 };
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

  /** ETag of the server's words on which the changes are based. */
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

  /** Saves immediately. Resolves when the save has succeeded or failed; see `state`. */
  async save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    await this.#runAlone(async () => {
      if (this.#state.save !== "saved") await this.#save();
    });
  }

  /**
   * Merges in the server's current words after they have changed.
   * @param isOwn whether this person changed them, for example by restoring a revision
   */
  async update({ isOwn = false } = {}): Promise<void> {
    await this.#runAlone(async () => {
      // On failure, the next save detects the change and retries the merge.
      await this.#merge({ isOwn }).catch(() => {});
    });
  }

  /**
   * Stores the draft now.
   * @param isClosing whether the page is being closed
   */
  async storeDraft({ isClosing = false } = {}): Promise<void> {
    clearTimeout(this.#draftTimer);
    this.#draftTimer = undefined;
    if (this.#state.save === "saved") return;
    this.#draftId = randomId();
    const draft = {
      id: this.#draftId,
      etag: this.#etag,
      base: this.#base,
      words: this.#state.transcript.flat(),
      editSessionId: this.#editSession.id,
    };
    await this.#options.drafts.save(draft, { isClosing });
  }

  /** Discards the unsaved changes. */
  async discard(): Promise<void> {
    clearTimeout(this.#saveTimer);
    clearTimeout(this.#draftTimer);
    this.#draftTimer = undefined;
    this.#history.clear();
    this.#set({
      transcript: splitIntoParagraphs(this.#base),
      save: "saved",
      error: null,
      wasRestored: false,
    });
    await this.#removeDraft();
  }

  /** Saves unsaved changes, and stops all timers. What cannot be saved stays in the draft. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#saveTimer);
    await this.storeDraft();
    if (this.#state.save !== "refused") await this.save();
  }

  #restore({ id, etag, base, words, editSessionId }: Draft): void {
    this.#draftId = id;
    const merged = etag === this.#etag ? { words, conflicts: [] } : mergeWords(base, words, this.#base);
    this.#editSession = { id: editSessionId, changedAtMs: this.#options.now() };
    this.#set({ wasRestored: true, conflicts: merged.conflicts });
    this.#show(splitIntoParagraphs(merged.words));
  }

  #show(transcript: EditedTranscript): void {
    const now = this.#options.now();
    const isOver = now - this.#editSession.changedAtMs >= EDIT_SESSION_MS;
    this.#editSession = { id: isOver ? randomId() : this.#editSession.id, changedAtMs: now };
    this.#options.editSessions.save(this.#editSession);
    if (this.#state.save === "saved") this.#unsavedSince = now;
    this.#set({ transcript, save: "unsaved" });
    this.#scheduleSave(Math.min(SAVE_DELAY_MS, this.#unsavedSince + MAX_SAVE_DELAY_MS - now));
    this.#draftTimer ??= setTimeout(() => void this.storeDraft(), DRAFT_DELAY_MS);
  }

  /** One save or merge runs at a time. */
  async #runAlone(work: () => Promise<void>): Promise<void> {
    while (this.#running) await this.#running;
    this.#running = work().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  #scheduleSave(delayMs: number): void {
    clearTimeout(this.#saveTimer);
    if (this.#isClosed) return;
    this.#saveTimer = setTimeout(() => void this.save(), delayMs);
  }

  async #save(): Promise<void> {
    const { api, onSaved } = this.#options;
    this.#set({ save: "saving", error: null });
    try {
      for (;;) {
        const { transcript } = this.#state;
        const words = transcript.flat();
        try {
          // After every change was undone, or if only paragraphs were joined, there is nothing to save.
          if (!isUnchanged(this.#base, words)) {
            const editSessionId = this.#editSession.id;
            const saved = await api.save({ words, editSessionId, etag: this.#etag });
            this.#etag = saved.etag;
            this.#base = words;
            onSaved(saved);
          }
          this.#failures = 0;
          if (this.#state.transcript !== transcript) {
            this.#unsavedSince = this.#options.now();
            this.#set({ save: "unsaved" });
            this.#scheduleSave(SAVE_DELAY_MS);
            return;
          }
          clearTimeout(this.#draftTimer);
          this.#draftTimer = undefined;
          this.#set({ save: "saved", wasRestored: false });
          await this.#removeDraft();
          return;
        } catch (error) {
          if (!api.isOutdated(error)) throw error;
          await this.#merge({ isOwn: false });
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

  /** Removes this session's draft. Does not remove one that another session stored later. */
  async #removeDraft(): Promise<void> {
    const id = this.#draftId;
    // Another draft may be stored during the removal.
    this.#draftId = null;
    if (id !== null) await this.#options.drafts.remove(id);
  }

  async #merge({ isOwn }: { isOwn: boolean }): Promise<void> {
    const current = await this.#options.api.load();
    if (current.etag === this.#etag) return;
    const { words, conflicts } = mergeWords(this.#base, this.#state.transcript.flat(), current.words);
    this.#etag = current.etag;
    this.#base = current.words;
    // States from before the merge lack the other person's changes, so an undo would revert those changes.
    this.#history.clear();
    this.#set({
      transcript: splitIntoParagraphs(words),
      conflicts: [...this.#state.conflicts, ...conflicts],
      merges: this.#state.merges + (isOwn ? 0 : 1),
    });
  }

  #set(change: Partial<SessionState>): void {
    const { canUndo, canRedo } = this.#history;
    this.#state = { ...this.#state, ...change, canUndo, canRedo };
    for (const listener of this.#listeners) listener();
  }
}

function isUnchanged(base: readonly EditableWord[], words: readonly EditableWord[]): boolean {
  return base.length === words.length && base.every((word, index) => isSameWord(word, words[index]!));
}

/** Unlike `crypto.randomUUID`, also works on pages without TLS. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
