/** Cells of the table beyond which two texts are laid on each other evenly: no utterance has that much text. */
const MAX_CELLS = 9_000_000;

const BOTH = 0;
const ONLY_FIRST = 1;
const ONLY_SECOND = 2;

/**
 * Lays one text on another that says nearly the same: with other punctuation, other spelling, words left out.
 * Edit distance by dynamic programming (Wagner and Fischer, 1974), where a letter never stands for a mark.
 * @param first characters without white space
 * @param second likewise
 * @returns for each character of the first the index of the one of the second that it stands for, else −1
 */
export function alignCharacters(first: readonly string[], second: readonly string[]): Int32Array {
  const [a, b] = [first, second].map((text) => text.map((character) => character.toLowerCase())) as [
    string[],
    string[],
  ];
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
