import css from "./share-bar.module.css";

export interface Share {
  name: string;
  size: number;
  text: string;
}

/** How a whole is divided; shares beyond the fourth look alike, and the rest of it stands back. */
export function ShareBar({ whole, parts, rest }: { whole: number; parts: Share[]; rest: Share | null }) {
  const shares = [
    ...parts.map((part, index) => ({ ...part, place: Math.min(index, 4) })),
    ...(rest ? [{ ...rest, place: "rest" }] : []),
  ];
  let end = 0;
  return (
    <div className={css.shares}>
      <svg className={css.bar} viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ name, size, place }) => {
          const x = end;
          end += (size / whole) * 1000;
          return <rect key={name} data-place={place} x={x} y="0" width={end - x} height="10" />;
        })}
      </svg>
      <ul className={css.legend}>
        {shares.map(({ name, text, place }) => (
          <li key={name} data-place={place}>
            <span>{name}</span>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
