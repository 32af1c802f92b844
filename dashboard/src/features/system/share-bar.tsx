import css from "./share-bar.module.css";

export interface Share {
  name: string;
  size: number;
  text: string;
}

/** Parts beyond the fourth share one color. */
export function ShareBar({ total, parts, rest }: { total: number; parts: Share[]; rest: Share | null }) {
  const shares = [
    ...parts.map((part, index) => ({ ...part, color: Math.min(index, 4) })),
    ...(rest ? [{ ...rest, color: "rest" }] : []),
  ];
  let end = 0;
  return (
    <div className={css.shares}>
      <svg className={css.bar} viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ name, size, color }) => {
          const x = end;
          end += (size / total) * 1000;
          return <rect key={name} data-color={color} x={x} y="0" width={end - x} height="10" />;
        })}
      </svg>
      <ul className={css.legend}>
        {shares.map(({ name, text, color }) => (
          <li key={name} data-color={color}>
            <span>{name}</span>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
