import css from "./bars.module.css";

export interface Bar {
  /** What it stands for: `14:00`. */
  name: string;
  good: number;
  bad: number;
}

const [WIDTH, HEIGHT, GAP] = [720, 120, 4];
const SMALLEST = 2;

/**
 * Columns on a common ground, the bad on top of the good. Screen readers get the same as a table.
 * @param unit what is counted, in the plural
 */
export function Bars({ title, unit, bars }: { title: string; unit: string; bars: Bar[] }) {
  const highest = Math.max(1, ...bars.map(({ good, bad }) => good + bad));
  const column = (WIDTH + GAP) / bars.length;
  // A single failure among hundreds is to be seen.
  const tall = (count: number) => (count === 0 ? 0 : Math.max(SMALLEST, (count / highest) * (HEIGHT - 8)));
  return (
    <figure className={css.figure}>
      <svg
        className={css.chart}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <line className={css.ground} x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map(({ name, good, bad }, index) => {
          const [x, width] = [index * column, column - GAP];
          const [goodTall, badTall] = [tall(good), tall(bad)];
          return (
            <g key={name}>
              <title>{`${name}: ${good + bad} ${unit}${bad > 0 ? `, ${bad} failed` : ""}`}</title>
              <rect className={css.reach} x={x} y="0" width={width + GAP} height={HEIGHT} />
              <rect className={css.good} x={x} y={HEIGHT - goodTall} width={width} height={goodTall} rx="2" />
              <rect
                className={css.bad}
                x={x}
                y={HEIGHT - goodTall - badTall}
                width={width}
                height={badTall}
                rx="2"
              />
            </g>
          );
        })}
      </svg>
      <div className={css.axis} aria-hidden="true">
        <span>{bars[0]?.name}</span>
        <span>{bars[Math.floor(bars.length / 2)]?.name}</span>
        <span>now</span>
      </div>
      <table className={css.table}>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Hour from</th>
            <th scope="col">Completed</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ name, good, bad }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{good}</td>
              <td>{bad}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
