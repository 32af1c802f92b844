import css from "./share-bar.module.css";

export interface Share {
  name: string;
  size: number;
  text: string;
}

/** How a whole is divided; shares beyond the fourth look alike. */
export function ShareBar({ whole, shares }: { whole: number; shares: Share[] }) {
  let end = 0;
  return (
    <div className={css.shares}>
      <svg className={css.bar} viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ name, size }, index) => {
          const x = end;
          end += (size / whole) * 1000;
          return <rect key={name} data-place={Math.min(index, 4)} x={x} y="0" width={end - x} height="10" />;
        })}
      </svg>
      <ul className={css.legend}>
        {shares.map(({ name, text }, index) => (
          <li key={name} data-place={Math.min(index, 4)}>
            <span>{name}</span>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
