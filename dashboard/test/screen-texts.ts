import { parseAst } from "rolldown/parseAst";

interface Node {
  type: string;
  start: number;
  [key: string]: unknown;
}

/** Attributes and properties whose value is for the program, although it may look like text. */
const TECHNICAL = new Set([
  "aria-controls",
  "aria-keyshortcuts",
  "autoComplete",
  "className",
  "containIntrinsicBlockSize",
  "d",
  "href",
  "id",
  "key",
  "placement",
  "preserveAspectRatio",
  "queryKey",
  "to",
  "viewBox",
]);

/** Names of products, keys and code, which are the same in every language. */
const NAMES =
  /^(Subtext|English|Deutsch|Firefox|Edge|Opera|Chrome|Safari|Android|Windows|Linux|Node|Python|Page|paragraph|curl .*)$/;

/** Elements that contain code. */
const CODE = new Set(["code", "pre", "kbd"]);

/** Node types whose strings are never on the page: developer errors, types, comparisons and module names. */
const SKIPPED = new Set([
  "ImportDeclaration",
  "ImportExpression",
  "ExportAllDeclaration",
  "ThrowStatement",
  "TSLiteralType",
  "BinaryExpression",
  "SwitchCase",
]);

/** Returns e.g. `12: "Sign in"` for every text for readers that is written into a source file. */
export function findScreenTexts(source: string): string[] {
  const found: string[] = [];
  const report = (node: Node, text: string) => {
    const line = source.slice(0, node.start).split("\n").length;
    const words = text.trim().replace(/\s+/g, " ");
    if (!NAMES.test(words)) found.push(`${line}: ${JSON.stringify(words)}`);
  };
  const visit = (node: Node): void => {
    if (SKIPPED.has(node.type) && !isConcatenation(node)) return;
    if (isTechnical(node)) return;
    if (node.type === "JSXText") {
      if (/\p{Letter}/u.test(String(node.value))) report(node, String(node.value));
    } else if (node.type === "Literal" && typeof node.value === "string") {
      if (looksLikeText(node.value)) report(node, node.value);
    } else if (node.type === "TemplateElement") {
      const { cooked } = node.value as { cooked: string };
      if (looksLikeText(cooked)) report(node, cooked);
    }
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child);
  };
  visit(parseAst(source, { lang: "tsx" }) as unknown as Node);
  return found;
}

/** A capitalized word, or words with spaces between them. Names of keys and codes are neither. */
function looksLikeText(text: string): boolean {
  return (
    /^\p{Lu}\p{Ll}+([ .,:…!?]|$)/u.test(text) ||
    /\p{Letter}{2,}[,.:;]? \p{Letter}{2,}/u.test(text) ||
    / \p{Ll}{2,}$|^\p{Ll}{2,} /u.test(text)
  );
}

function isTechnical({ type, name, key, callee, openingElement }: Node): boolean {
  if (type === "JSXElement") return CODE.has(String(((openingElement as Node).name as Node).name));
  if (type === "JSXAttribute") return TECHNICAL.has(String((name as Node).name));
  if (type === "Property") return TECHNICAL.has(String((key as Node).name ?? (key as Node).value));
  if (type === "CallExpression") {
    const source = callee as Node;
    return /^(addEventListener|closest|includes|listenToKeys|matches|matchMedia|querySelector|querySelectorAll|startsWith)$/.test(
      String(((source.property ?? source) as Node).name),
    );
  }
  return false;
}

function isConcatenation({ type, operator }: Node): boolean {
  return type === "BinaryExpression" && operator === "+";
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
