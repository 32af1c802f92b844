/** Checks whether an Accept-Encoding header names the encoding with a weight above zero. */
export function acceptsEncoding(header: string | string[] | undefined, encoding: string): boolean {
  return String(header ?? "")
    .split(",")
    .some((part) => {
      const [name, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}
