import { system as texts } from "../../messages/en/system.ts";
import css from "./bar-chart.module.css";

export interface Bar {
  label: string;
  completed: number;
  failed: number;
}

const [WIDTH, HEIGHT, GAP] = [720, 120, 4];
const MIN_BAR_HEIGHT = 2;

/** Renders a bar chart, and a table with the same data for screen readers. */
export function BarChart({ title, bars }: { title: string; bars: Bar[] }) {
  const highest = Math.max(1, ...bars.map(({ completed, failed }) => completed + failed));
  const column = (WIDTH + GAP) / bars.length;
  // Keep a single failure among hundreds visible.
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(MIN_BAR_HEIGHT, (count / highest) * (HEIGHT - 8));
  return (
    <figure className={css.figure}>
      <svg
        className={css.chart}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <line className={css.baseline} x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map(({ label, completed, failed }, index) => {
          const [x, width] = [index * column, column - GAP];
          const [completedHeight, failedHeight] = [heightOf(completed), heightOf(failed)];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: labels repeat when clocks are set back
            <g key={index}>
              <title>{`${label}: ${[texts.completedCount(completed), failed > 0 && texts.failedCount(failed)].filter(Boolean).join(", ")}`}</title>
              <rect className={css.hoverArea} x={x} y="0" width={width + GAP} height={HEIGHT} />
              <rect
                className={css.completed}
                x={x}
                y={HEIGHT - completedHeight}
                width={width}
                height={completedHeight}
                rx="2"
              />
              <rect
                className={css.failed}
                x={x}
                y={HEIGHT - completedHeight - failedHeight}
                width={width}
                height={failedHeight}
                rx="2"
              />
            </g>
          );
        })}
      </svg>
      <div className={css.axis} aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars[Math.floor(bars.length / 2)]?.label}</span>
        <span>{texts.now}</span>
      </div>
      <div className={css.hidden}>
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">{texts.hourFrom}</th>
              <th scope="col">{texts.completed}</th>
              <th scope="col">{texts.failed}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, completed, failed }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: labels repeat when clocks are set back
              <tr key={index}>
                <th scope="row">{label}</th>
                <td>{completed}</td>
                <td>{failed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
