import type { FindingView } from "@subtext/server/admin/contract/system";
import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../admin-client/request.ts";
import { Button, Notice } from "../../ui/controls.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Card } from "./card.tsx";
import css from "./health.module.css";
import { doctorQuery } from "./queries.ts";

const STATUS_NAMES: Record<FindingView["status"], string> = {
  ok: "In order",
  warning: "Worth a look",
  missing: "Missing",
};
const GRAVEST_FIRST: FindingView["status"][] = ["missing", "warning", "ok"];

/** The gravest that is the matter, beside the page's title; nothing until it is known. */
export function HealthBadge() {
  const { data } = useQuery(doctorQuery);
  const status = data && GRAVEST_FIRST.find((each) => data.some((finding) => finding.status === each));
  if (!status) return null;
  return (
    <a className={css.status} data-status={status} href="#health">
      {status === "ok" ? "All in order" : status === "warning" ? "Works, with remarks" : "Parts are missing"}
    </a>
  );
}

/** Every part that the service needs, the ailing first. */
export function Health() {
  const { data, error, isFetching, refetch } = useQuery(doctorQuery);
  const findings = data?.toSorted(
    (a, b) => GRAVEST_FIRST.indexOf(a.status) - GRAVEST_FIRST.indexOf(b.status),
  );
  return (
    <Card
      wide
      id="health"
      title="Health"
      aside={
        <Button onPress={() => refetch()} isPending={isFetching}>
          Check again
        </Button>
      }
    >
      {error && <Notice tone="bad">{messageOf(error)}</Notice>}
      <p className={css.sum} role="status">
        {findings ? sumUp(findings) : !error && "Every part is being looked at."}
      </p>
      <ul className={css.list}>
        {findings?.map(({ name, status, detail, remedy }) => (
          <li key={name}>
            <span className={css.status} data-status={status}>
              {STATUS_NAMES[status]}
            </span>
            <div>
              <h3>{name.charAt(0).toUpperCase() + name.slice(1)}</h3>
              <p className={css.detail}>
                <Prose text={detail} />
              </p>
              {remedy && (
                <p className={css.remedy}>
                  <Prose text={remedy} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function sumUp(findings: FindingView[]): string {
  const missing = findings.filter(({ status }) => status === "missing").length;
  const warnings = findings.filter(({ status }) => status === "warning").length;
  const parts = (count: number) => `${count} ${count === 1 ? "part" : "parts"}`;
  if (missing > 0) return `${parts(missing)} missing: the service can not do all its work.`;
  return warnings > 0 ? `Everything works; ${parts(warnings)} worth a look.` : "Everything is in order.";
}
