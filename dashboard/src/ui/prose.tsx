/** A text of the service, in which `commands` stand between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    text
      .split("`")
      // The parts at odd places stood between two.
      .map((part, index, { length }) => {
        const isCommand = index % 2 === 1 && index < length - 1;
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never change places
        return isCommand ? <code key={index}>{part}</code> : part;
      })
  );
}
