/** Returns how users run the command line on the server: `subtext`, or with npx. */
export function serverCommand(): string {
  const tag = document.querySelector<HTMLMetaElement>('meta[name="subtext-command"]');
  return tag?.content ?? "subtext";
}
