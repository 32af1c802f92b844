import type { FindingView } from "@subtext/server/admin/contract/system";
import { useQuery } from "@tanstack/react-query";
import { system as texts } from "../../messages/en/system.ts";
import { Button } from "../../ui/forms/controls.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Card, TextWithCode } from "./card.tsx";
import css from "./health.module.css";
import { doctorQuery } from "./queries.ts";

type Status = FindingView["status"];

const WORST_FIRST: Status[] = ["missing", "warning", "ok"];

export function HealthBadge() {
  const { data } = useQuery(doctorQuery);
  const status = data && WORST_FIRST.find((value) => data.some((finding) => finding.status === value));
  if (!status) return null;
  return (
    <a className={css.status} data-status={status} href="#health">
      {texts.badges[status]}
    </a>
  );
}

export function Health() {
  const doctor = useQuery(doctorQuery);
  const { data, error, isFetching, refetch } = doctor;
  const findings = data?.toSorted((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
  return (
    <Card
      isWide
      id="health"
      title={texts.health}
      aside={
        !error && (
          <Button onPress={() => refetch()} isPending={isFetching}>
            {texts.checkAgain}
          </Button>
        )
      }
    >
      {(error || (!findings && doctor.errorUpdateCount > 0)) && <LoadState query={doctor} />}
      <p className={css.summary} role="status">
        {findings ? summary(findings) : !error && texts.checking}
      </p>
      <ul className={css.list}>
        {findings?.map(({ name, status, detail, remedy }) => (
          <li key={name}>
            <span className={css.status} data-status={status}>
              {texts.statuses[status]}
            </span>
            <div>
              <h3>{texts.checks[name] ?? name.charAt(0).toUpperCase() + name.slice(1)}</h3>
              <p className={css.detail} lang="en">
                <TextWithCode text={detail} />
              </p>
              {remedy && (
                <p className={css.remedy} lang="en">
                  <TextWithCode text={remedy} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function summary(findings: FindingView[]): string {
  const missing = findings.filter(({ status }) => status === "missing").length;
  const warnings = findings.filter(({ status }) => status === "warning").length;
  if (missing > 0) return texts.degraded(missing);
  return warnings > 0 ? texts.working(warnings) : texts.allOk;
}
