/** A change that breaks a critical line and that its tests must catch. */
export interface Mutation {
  file: string;
  /** The original text, which must occur in the file exactly once. */
  original: string;
  replacement: string;
  tests: string[];
}

/** Returns one mutation for each pair. Each must be caught by `tests`. */
export function mutationsOf(
  file: string,
  tests: string[],
  pairs: [original: string, replacement: string][],
): Mutation[] {
  return pairs.map(([original, replacement]) => ({ file, original, replacement, tests }));
}
