/** If the product of their lengths is larger, two texts are aligned evenly. No real utterance is that long. */
const MAX_CELLS = 9_000_000;

const BOTH = 0;
const ONLY_FIRST = 1;
const ONLY_SECOND = 2;

/** A character that is not whitespace. */
export interface TextCharacter {
  character: string;
  startsWord: boolean;
}

/**
 * Aligns two similar texts that may differ in punctuation, spelling or omitted words. Computes the edit distance by
 * dynamic programming (Wagner and Fischer, 1974), in which letters never match punctuation. Among equally good
 * alignments, prefers one that omits whole words.
 * @returns for each character of the first text, the index of its match in the second, or −1
 */
export function alignCharacters(
  first: readonly TextCharacter[],
  second: readonly TextCharacter[],
): Int32Array {
  const [a, b] = [first, second].map((text) => text.map(({ character }) => character.toLowerCase())) as [
    string[],
    string[],
  ];
  const places = leastEdits(a, b);
  slideGaps(places, a, first);
  const inverse = inverted(places, b.length);
  slideGaps(inverse, b, second);
  return inverted(inverse, a.length);
}

function inverted(places: Int32Array, length: number): Int32Array {
  const inverse = new Int32Array(length).fill(-1);
  for (const [index, place] of places.entries()) if (place !== -1) inverse[place] = index;
  return inverse;
}

/**
 * Moves gaps toward the start of the text, to the start of a word, if the omitted letters stay the same: aligning `two
 * three` with `three` omits `two`, not `wot`.
 */
function slideGaps(places: Int32Array, letters: readonly string[], text: readonly TextCharacter[]): void {
  for (let start = 0, end = 0; start < places.length; start = end) {
    end = start + 1;
    if (places[start] !== -1) continue;
    while (places[end] === -1) end++;
    let slid = 0;
    const fits = () =>
      places[start - slid - 1] !== -1 && letters[start - slid - 1] === letters[end - slid - 1];
    while (!text[start - slid]?.startsWord && slid < start && fits()) slid++;
    if (slid === 0 || !text[start - slid]?.startsWord) continue;
    const moved = places.slice(start - slid, start);
    places.fill(-1, start - slid, end - slid);
    places.set(moved, end - slid);
  }
}

function leastEdits(a: readonly string[], b: readonly string[]): Int32Array {
  const places = new Int32Array(a.length).fill(-1);
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) places[from] = from++;

  const rows = a.length - from;
  const columns = b.length - from;
  if (rows === 0 || columns === 0) return places;
  if (rows * columns > MAX_CELLS) {
    for (let i = 0; i < rows; i++) places[from + i] = from + Math.floor((i * columns) / rows);
    return places;
  }
  const moves = cheapestMoves(a.slice(from), b.slice(from));
  for (let i = rows, j = columns; i > 0 && j > 0; ) {
    const move = moves[i * (columns + 1) + j];
    if (move === BOTH) places[from + --i] = from + --j;
    else if (move === ONLY_FIRST) i--;
    else j--;
  }
  return places;
}

function cheapestMoves(a: readonly string[], b: readonly string[]): Uint8Array {
  const width = b.length + 1;
  const moves = new Uint8Array((a.length + 1) * width);
  const isLetter = (character: string) => /[\p{L}\p{N}]/u.test(character);
  const [letterA, letterB] = [a.map(isLetter), b.map(isLetter)];
  let above = Int32Array.from({ length: width }, (_, j) => j);
  let costs = new Int32Array(width);
  for (let i = 1; i <= a.length; i++) {
    costs[0] = i;
    for (let j = 1; j < width; j++) {
      const same = a[i - 1] === b[j - 1];
      const alike = letterA[i - 1] === letterB[j - 1];
      const both = (above[j - 1] as number) + (same ? 0 : alike ? 1 : 3);
      const onlyFirst = (above[j] as number) + 1;
      const onlySecond = (costs[j - 1] as number) + 1;
      const least = Math.min(both, onlyFirst, onlySecond);
      costs[j] = least;
      moves[i * width + j] = least === both ? BOTH : least === onlyFirst ? ONLY_FIRST : ONLY_SECOND;
    }
    [above, costs] = [costs, above];
  }
  return moves;
}
