import type { Playback } from "./playback.ts";
import { bringIntoView } from "./scroll-into-view.ts";
import { clearHighlights, highlight } from "./text-highlight.ts";
import { isOn, offsetOf, placeAt, rangeOf } from "./text-ranges.ts";
import {
  type Paragraph,
  paragraphOf,
  type Transcript,
  wordAt,
  wordAtOffset,
  wordBefore,
} from "./transcript-model.ts";
import type { Match } from "./transcript-search.ts";

interface TranscriptViewOptions {
  /** Scrolls, and holds for each paragraph of the transcript one `<p>`. */
  root: HTMLElement;
  transcript: Transcript;
  playback: Playback;
  /** How much of the window's top is covered, in CSS pixels. */
  covered(): number;
  onFollowing(following: boolean): void;
  /** Told the word that the keyboard has gone to. */
  onCursor(word: number): void;
}

/**
 * What moves on a transcript that stands in the document: the word that is heard, the one under the pointer or
 * the keyboard, and what was found. It works on the text as it stands, since React would have to look at
 * thousands of words for each of them.
 */
export class TranscriptView {
  readonly #options: TranscriptViewOptions;
  readonly #texts: HTMLElement[];
  #lit = -1;
  #cursor = -1;
  #following = true;

  constructor(options: TranscriptViewOptions) {
    this.#options = options;
    this.#texts = [...options.root.querySelectorAll("p")];
  }

  /** @returns what ends it */
  start(): () => void {
    const { root, playback } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    const passive = { signal, passive: true };
    root.addEventListener("click", (event) => this.#click(event), { signal });
    root.addEventListener("keydown", (event) => this.#press(event), { signal });
    root.addEventListener("pointermove", (event) => this.#hover(event), passive);
    root.addEventListener("pointerleave", () => highlight("subtext-hover", []), { signal });
    root.addEventListener("focusout", () => highlight("subtext-cursor", []), { signal });
    for (const type of ["wheel", "touchmove"]) {
      root.addEventListener(type, () => this.follow(false), passive);
    }
    // The scroll bar is the only part of it that holds no paragraph.
    root.addEventListener("pointerdown", ({ target }) => target === root && this.follow(false), { signal });
    const stop = playback.listen((seconds, sought) => {
      this.#light(wordAt(this.#options.transcript, seconds));
      if (sought) this.follow(true);
    });
    return () => {
      controller.abort();
      stop();
      clearHighlights();
    };
  }

  /** Whether the text scrolls along with what is heard. */
  follow(following: boolean): void {
    if (following) this.#showHeard();
    if (following === this.#following) return;
    this.#following = following;
    this.#options.onFollowing(following);
  }

  showMatches(matches: readonly Match[]): void {
    highlight(
      "subtext-match",
      matches.flatMap((match) => this.#rangeOfMatch(match) ?? []),
    );
  }

  /** @param match null where there is none */
  showMatch(match: Match | null): void {
    const range = match && this.#rangeOfMatch(match);
    highlight("subtext-current-match", range ? [range] : []);
    if (!range) return;
    this.follow(false);
    this.#bring(range);
  }

  /** The first and the last word that are selected, at least in part; null where none is. */
  selectedWords(): { first: number; last: number } | null {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    const touched = this.#texts.flatMap((text, index) => (range.intersectsNode(text) ? [index] : []));
    const [from, to] = [touched[0], touched.at(-1)];
    if (from === undefined || to === undefined) return null;
    const { paragraphs } = this.#options.transcript;
    const place = (index: number, node: Node, offset: number, otherwise: number) =>
      this.#texts[index]!.contains(node) ? offsetOf(this.#texts[index]!, node, offset) : otherwise;
    const start = place(from, range.startContainer, range.startOffset, 0);
    const end = place(to, range.endContainer, range.endOffset, paragraphs[to]!.text.length);
    const first = firstEndingAfter(paragraphs[from]!, start);
    const last = wordAtOffset(paragraphs[to]!, end - 1);
    return first <= last ? { first, last } : null;
  }

  #light(word: number): void {
    if (word === this.#lit) return;
    const { transcript } = this.#options;
    const range = this.#rangeOfWord(word);
    highlight("subtext-lit", range ? [range] : []);
    // In a pause the paragraph stays the current one.
    if (word >= 0) {
      const [before, now] = [paragraphOf(transcript, this.#lit), paragraphOf(transcript, word)];
      this.#lit = word;
      if (before !== now) this.#markCurrent(this.#texts[now]);
    }
    this.#lit = word;
    if (range && this.#following) this.#bring(range);
  }

  #markCurrent(text: HTMLElement | undefined): void {
    for (const marked of this.#options.root.querySelectorAll("[aria-current]")) {
      marked.removeAttribute("aria-current");
    }
    text?.parentElement?.setAttribute("aria-current", "true");
  }

  #showHeard(): void {
    const { transcript, playback } = this.#options;
    const range = this.#rangeOfWord(Math.max(0, wordBefore(transcript, playback.seconds)));
    if (range) this.#bring(range);
  }

  #click({ target, clientX, clientY }: MouseEvent): void {
    const { transcript, playback } = this.#options;
    const button = (target as Element).closest("button");
    if (button) {
      playback.playFrom(transcript.paragraphs[Number(button.dataset.paragraph)]!.start);
      this.follow(true);
      return;
    }
    // Whoever selects text wants to copy it.
    if (getSelection()?.isCollapsed === false) return;
    const word = this.#wordUnder(clientX, clientY);
    if (word >= 0) this.#playFrom(word);
  }

  #press(event: KeyboardEvent): void {
    if (event.target !== this.#options.root || event.ctrlKey || event.metaKey || event.altKey) return;
    const { transcript } = this.#options;
    const last = transcript.wordCount - 1;
    const from = this.#cursor >= 0 ? this.#cursor : this.#beginning();
    const at = paragraphOf(transcript, from);
    const rtl = this.#texts[at] && getComputedStyle(this.#texts[at]).direction === "rtl" ? -1 : 1;
    const paragraph = (step: number) => transcript.paragraphs[at + step]?.firstWord;
    const isNew = this.#cursor < 0;
    const moves: Record<string, () => number | undefined> = {
      ArrowRight: () => (isNew ? from : from + rtl),
      ArrowLeft: () => from - rtl,
      ArrowDown: () => paragraph(1) ?? last,
      ArrowUp: () => (from > transcript.paragraphs[at]!.firstWord ? paragraph(0) : paragraph(-1)) ?? 0,
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

  /** Where the keyboard begins: at what is heard. */
  #beginning(): number {
    return Math.max(0, wordBefore(this.#options.transcript, this.#options.playback.seconds));
  }

  #moveCursor(word: number): void {
    this.#cursor = word;
    const range = this.#rangeOfWord(word);
    if (!range) return;
    highlight("subtext-cursor", [range]);
    this.follow(false);
    this.#bring(range);
    this.#options.onCursor(word);
  }

  #playFrom(word: number): void {
    const { transcript, playback } = this.#options;
    this.#cursor = word;
    playback.playFrom(transcript.starts[word]!);
    this.follow(true);
  }

  #hover({ clientX, clientY, pointerType, buttons }: PointerEvent): void {
    if (pointerType !== "mouse") return;
    const range = buttons === 0 ? this.#rangeOfWord(this.#wordUnder(clientX, clientY)) : null;
    highlight("subtext-hover", range ? [range] : []);
  }

  #wordUnder(x: number, y: number): number {
    const place = placeAt(x, y);
    const text =
      place && (place.node instanceof Element ? place.node : place.node.parentElement)?.closest("p");
    const index = text ? this.#texts.indexOf(text) : -1;
    if (!place || index < 0) return -1;
    const paragraph = this.#options.transcript.paragraphs[index]!;
    const word = wordAtOffset(paragraph, offsetOf(text!, place.node, place.offset));
    // A caret between two words belongs to whichever is under the pointer.
    for (const each of [word, word - 1]) {
      const range = each >= paragraph.firstWord ? this.#rangeOfWord(each) : null;
      if (range && isOn(range, x, y)) return each;
    }
    return -1;
  }

  #rangeOfWord(word: number): Range | null {
    const { transcript } = this.#options;
    const index = word < 0 ? -1 : paragraphOf(transcript, word);
    const [text, paragraph] = [this.#texts[index], transcript.paragraphs[index]];
    if (!text || !paragraph) return null;
    const place = word - paragraph.firstWord;
    return rangeOf(text, paragraph.froms[place]!, paragraph.tos[place]!);
  }

  #rangeOfMatch({ paragraph, from, to }: Match): Range | null {
    const text = this.#texts[paragraph];
    return text ? rangeOf(text, from, to) : null;
  }

  #bring(range: Range): void {
    const { root, covered } = this.#options;
    bringIntoView(range, { scroller: root, covered });
  }
}

function firstEndingAfter({ firstWord, tos }: Paragraph, offset: number): number {
  const index = tos.findIndex((to) => to > offset);
  return firstWord + (index < 0 ? tos.length : index);
}
