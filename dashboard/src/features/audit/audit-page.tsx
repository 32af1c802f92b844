import type { AuditEventView } from "@subtext/server/admin/contract/audit";
import { AUDIT_ACTIONS, type AuditAction } from "@subtext/server/db/enums";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { audit as texts } from "../../messages/en/audit.ts";
import { ui } from "../../messages/en/ui.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { formatMinute } from "../../ui/format.ts";
import { Select } from "../../ui/forms/form-fields.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { EmptyState, PageHeader, ShowMore } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import css from "./audit-page.module.css";
import { type AuditFilter, auditOperatorsQuery, auditQuery } from "./queries.ts";
import { actorName, entryDetails, entryTitle } from "./texts.ts";

const ALL = "all";

export function AuditPage() {
  return (
    <>
      <PageHeader title={texts.title} description={texts.description} />
      <Log />
    </>
  );
}

function Log() {
  const filter = useSearch({ from: "/signed-in/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const log = useInfiniteQuery(auditQuery(filter));
  const rows = log.data?.pages.flatMap(({ data }) => data);
  return (
    <>
      <Filters filter={filter} onFilter={(search) => navigate({ search, replace: true })} />
      <LoadState query={log} />
      {rows?.length === 0 && <EmptyState title={ui.noResults}>{texts.retentionNote}</EmptyState>}
      {rows && rows.length > 0 && (
        <DataTable label={texts.title} columns={[texts.action, texts.user, texts.ipAddress, texts.time]}>
          {rows.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </DataTable>
      )}
      <ShowMore query={log} />
    </>
  );
}

function Filters({ filter, onFilter }: { filter: AuditFilter; onFilter(filter: AuditFilter): void }) {
  const { data: operators = [] } = useQuery(auditOperatorsQuery);
  const { action = ALL, by = ALL } = filter;
  const actions: Record<AuditAction | typeof ALL, string> = { all: texts.allActions, ...texts.actions };
  const operatorNames = operators.flatMap((actor) =>
    actor.id === null ? [] : [[actor.id, actorName(actor)] as const],
  );
  const knownActors: Record<string, string> = {
    all: texts.allUsers,
    ...Object.fromEntries(operatorNames),
    ...texts.actorKinds,
  };
  // Shows the operator's ID until the names have loaded, and if the log has no events by this operator.
  const actors = Object.hasOwn(knownActors, by) ? knownActors : { ...knownActors, [by]: by };
  return (
    <div className={css.filters}>
      <Select
        label={texts.action}
        options={actions}
        value={action}
        onChange={(selected) => {
          const selectedAction = AUDIT_ACTIONS.find((each) => each === selected);
          onFilter({ ...(selectedAction && { action: selectedAction }), ...(by !== ALL && { by }) });
        }}
      />
      <Select
        label={texts.user}
        options={actors}
        value={by}
        onChange={(selected) =>
          onFilter({ ...(action !== ALL && { action }), ...(selected !== ALL && { by: selected }) })
        }
      />
    </div>
  );
}

function Entry({ entry }: { entry: AuditEventView }) {
  const { actor, address, at } = entry;
  const details = entryDetails(entry);
  return (
    <tr>
      <td>
        <div className={table.name}>{entryTitle(entry)}</div>
        {details.length > 0 && <div className={table.soft}>{details.join(" · ")}</div>}
      </td>
      <td data-column={texts.user}>
        <span className={css.user}>{actorName(actor)}</span>
      </td>
      <td data-column={texts.ipAddress}>{address ?? "–"}</td>
      <td data-column={texts.time}>
        <time className={css.time} dateTime={at} title={at}>
          {formatMinute(at)}
        </time>
      </td>
    </tr>
  );
}
