import type { Playback } from "../player/playback.ts";
import { scrollIntoView } from "./scroll-into-view.ts";
import {
  caretAt,
  clearHighlights,
  containsPoint,
  createTextRange,
  highlight,
  textOffset,
} from "./text-ranges.ts";
import {
  type Paragraph,
  paragraphOf,
  type Transcript,
  wordAt,
  wordAtOffset,
  wordBefore,
} from "./transcript-model.ts";
import type { Match } from "./transcript-search.ts";

interface TranscriptControllerOptions {
  /** The scrolling element, with one `<p>` per paragraph. */
  root: HTMLElement;
  transcript: Transcript;
  playback: Playback;
  coveredHeight(): number;
  /** Whether to scroll with playback at first. */
  isFollowing: boolean;
  onFollowingChange(isFollowing: boolean): void;
  onCursorMove(word: number): void;
}

/**
 * Highlights the spoken word, search matches, and the words under the pointer and the keyboard cursor. Works on the
 * rendered text, because React would be too slow to render thousands of words for each change.
 */
export class TranscriptController {
  readonly #options: TranscriptControllerOptions;
  readonly #texts: HTMLElement[];
  #active = -1;
  #cursor = -1;
  #isFollowing: boolean;

  constructor(options: TranscriptControllerOptions) {
    this.#options = options;
    this.#isFollowing = options.isFollowing;
    this.#texts = [...options.root.querySelectorAll("p")];
  }

  /** @returns a function that stops the controller */
  start(): () => void {
    const { root, playback } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    const passive = { signal, passive: true };
    root.addEventListener("click", (event) => this.#onClick(event), { signal });
    root.addEventListener("keydown", (event) => this.#onKeyDown(event), { signal });
    root.addEventListener("pointermove", (event) => this.#onPointerMove(event), passive);
    root.addEventListener("pointerleave", () => highlight("subtext-hover", []), { signal });
    root.addEventListener("focusout", () => highlight("subtext-cursor", []), { signal });
    for (const type of ["wheel", "touchmove"]) {
      root.addEventListener(type, () => this.follow(false), passive);
    }
    // On the root itself, the pointer is on the scroll bar.
    root.addEventListener("pointerdown", ({ target }) => target === root && this.follow(false), { signal });
    const stop = playback.listen((seconds, isSeek) => {
      this.#setActive(wordAt(this.#options.transcript, seconds));
      if (isSeek) this.follow(true);
    });
    return () => {
      controller.abort();
      stop();
      clearHighlights();
    };
  }

  /** Starts or stops scrolling with playback. */
  follow(isFollowing: boolean): void {
    if (isFollowing) this.#showSpokenWord();
    if (isFollowing === this.#isFollowing) return;
    this.#isFollowing = isFollowing;
    this.#options.onFollowingChange(isFollowing);
  }

  showMatches(matches: readonly Match[]): void {
    highlight(
      "subtext-match",
      matches.flatMap((match) => this.#rangeOfMatch(match) ?? []),
    );
  }

  /** @param match null clears the highlight */
  showMatch(match: Match | null): void {
    const range = match && this.#rangeOfMatch(match);
    highlight("subtext-current-match", range ? [range] : []);
    if (!range) return;
    this.follow(false);
    this.#scrollTo(range);
  }

  /** Includes partially selected words. Returns null without a selection. */
  selectedWords(): { first: number; last: number } | null {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    const selected = this.#texts.flatMap((text, index) => (range.intersectsNode(text) ? [index] : []));
    const [from, to] = [selected[0], selected.at(-1)];
    if (from === undefined || to === undefined) return null;
    const { paragraphs } = this.#options.transcript;
    const offsetIn = (index: number, node: Node, offset: number, fallback: number) =>
      this.#texts[index]!.contains(node) ? textOffset(this.#texts[index]!, node, offset) : fallback;
    const start = offsetIn(from, range.startContainer, range.startOffset, 0);
    const end = offsetIn(to, range.endContainer, range.endOffset, paragraphs[to]!.text.length);
    const first = firstWordEndingAfter(paragraphs[from]!, start);
    const last = end === 0 ? paragraphs[to]!.firstWord - 1 : wordAtOffset(paragraphs[to]!, end - 1);
    return first <= last ? { first, last } : null;
  }

  #setActive(word: number): void {
    if (word === this.#active) return;
    const { transcript } = this.#options;
    const range = this.#rangeOfWord(word);
    highlight("subtext-active", range ? [range] : []);
    // Keep the paragraph current during a pause.
    if (word >= 0) {
      const [before, now] = [paragraphOf(transcript, this.#active), paragraphOf(transcript, word)];
      this.#active = word;
      if (before !== now) this.#markCurrent(this.#texts[now]);
    }
    this.#active = word;
    if (range && this.#isFollowing) this.#scrollTo(range);
  }

  #markCurrent(text: HTMLElement | undefined): void {
    for (const marked of this.#options.root.querySelectorAll("[aria-current]")) {
      marked.removeAttribute("aria-current");
    }
    text?.parentElement?.setAttribute("aria-current", "true");
  }

  #showSpokenWord(): void {
    const { transcript, playback } = this.#options;
    const range = this.#rangeOfWord(Math.max(0, wordBefore(transcript, playback.seconds)));
    if (range) this.#scrollTo(range);
  }

  #onClick({ target, clientX, clientY }: MouseEvent): void {
    const { transcript, playback } = this.#options;
    const button = (target as Element).closest("button");
    if (button) {
      playback.playFrom(transcript.paragraphs[Number(button.dataset.paragraph)]!.start);
      this.follow(true);
      return;
    }
    // The click ends a selection of text.
    if (getSelection()?.isCollapsed === false) return;
    const word = this.#wordUnder(clientX, clientY);
    if (word >= 0) this.#playFrom(word);
  }

  #onKeyDown(event: KeyboardEvent): void {
    if (event.target !== this.#options.root || event.ctrlKey || event.metaKey || event.altKey) return;
    const { transcript } = this.#options;
    const last = transcript.wordCount - 1;
    const from = this.#cursor >= 0 ? this.#cursor : this.#cursorStart();
    const current = paragraphOf(transcript, from);
    const rightStep =
      this.#texts[current] && getComputedStyle(this.#texts[current]).direction === "rtl" ? -1 : 1;
    const paragraph = (step: number) => transcript.paragraphs[current + step]?.firstWord;
    const isNew = this.#cursor < 0;
    const moves: Record<string, () => number | undefined> = {
      ArrowRight: () => (isNew ? from : from + rightStep),
      ArrowLeft: () => from - rightStep,
      ArrowDown: () => paragraph(1) ?? last,
      ArrowUp: () => (from > transcript.paragraphs[current]!.firstWord ? paragraph(0) : paragraph(-1)) ?? 0,
      Home: () => 0,
      End: () => last,
    };
    if (event.key === "Enter") this.#playFrom(from);
    else if (moves[event.key]) this.#moveCursor(Math.min(last, Math.max(0, moves[event.key]!() ?? from)));
    else {
      if (event.key.startsWith("Page")) this.follow(false);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #cursorStart(): number {
    return Math.max(0, wordBefore(this.#options.transcript, this.#options.playback.seconds));
  }

  #moveCursor(word: number): void {
    this.#cursor = word;
    const range = this.#rangeOfWord(word);
    if (!range) return;
    highlight("subtext-cursor", [range]);
    this.follow(false);
    this.#scrollTo(range);
    this.#options.onCursorMove(word);
  }

  #playFrom(word: number): void {
    const { transcript, playback } = this.#options;
    this.#cursor = word;
    playback.playFrom(transcript.starts[word]!);
    this.follow(true);
  }

  #onPointerMove({ clientX, clientY, pointerType, buttons }: PointerEvent): void {
    if (pointerType !== "mouse") return;
    const range = buttons === 0 ? this.#rangeOfWord(this.#wordUnder(clientX, clientY)) : null;
    highlight("subtext-hover", range ? [range] : []);
  }

  #wordUnder(x: number, y: number): number {
    const caret = caretAt(x, y);
    const text =
      caret && (caret.node instanceof Element ? caret.node : caret.node.parentElement)?.closest("p");
    const index = text ? this.#texts.indexOf(text) : -1;
    if (!caret || index < 0) return -1;
    const paragraph = this.#options.transcript.paragraphs[index]!;
    const word = wordAtOffset(paragraph, textOffset(text!, caret.node, caret.offset));
    // A caret between two words may belong to either.
    for (const candidate of [word, word - 1]) {
      const range = candidate >= paragraph.firstWord ? this.#rangeOfWord(candidate) : null;
      if (range && containsPoint(range, x, y)) return candidate;
    }
    return -1;
  }

  #rangeOfWord(word: number): Range | null {
    const { transcript } = this.#options;
    const index = word < 0 ? -1 : paragraphOf(transcript, word);
    const [text, paragraph] = [this.#texts[index], transcript.paragraphs[index]];
    if (!text || !paragraph) return null;
    const wordIndex = word - paragraph.firstWord;
    return createTextRange(text, paragraph.wordStarts[wordIndex]!, paragraph.wordEnds[wordIndex]!);
  }

  #rangeOfMatch({ paragraph, from, to }: Match): Range | null {
    const text = this.#texts[paragraph];
    return text ? createTextRange(text, from, to) : null;
  }

  #scrollTo(range: Range): void {
    const { root, coveredHeight } = this.#options;
    scrollIntoView(range, { scroller: root, coveredHeight });
  }
}

function firstWordEndingAfter({ firstWord, wordEnds }: Paragraph, offset: number): number {
  const index = wordEnds.findIndex((end) => end > offset);
  return firstWord + (index < 0 ? wordEnds.length : index);
}
