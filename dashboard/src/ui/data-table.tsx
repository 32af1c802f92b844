import type { ReactNode } from "react";
import table from "./table.module.css";

/** @param props.hasActions adds a column without a heading, for buttons */
export function DataTable({
  label,
  columns,
  hasActions = false,
  children,
}: {
  label: string;
  columns: readonly string[];
  hasActions?: boolean;
  children: ReactNode;
}) {
  return (
    <table className={table.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {column}
            </th>
          ))}
          {hasActions && <td />}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
