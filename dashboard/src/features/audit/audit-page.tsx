import type { AuditEntryView } from "@subtext/server/admin/contract/audit";
import { AUDIT_ACTIONS, type AuditAction } from "@subtext/server/db/enums";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { messageOf } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { Button, Notice } from "../../ui/controls.tsx";
import { Choice } from "../../ui/form-fields.tsx";
import pageCss from "../../ui/page.module.css";
import { PageHeader } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import css from "./audit-page.module.css";
import { type AuditFilter, auditOperatorsQuery, auditQuery } from "./queries.ts";
import { ACTION_NAMES, ACTOR_KIND_NAMES, factsOf, nameOf, titleOf } from "./texts.ts";

const ALL = "all";

export function AuditPage() {
  const { isOwner } = useMe();
  return (
    <>
      <PageHeader
        title="Audit log"
        lead="Who changed what, and from where. For owners alone; no secret and no word of a transcript is in it."
      />
      {isOwner ? <Log /> : <Notice tone="plain">The audit log is for owners. Ask one of them.</Notice>}
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
      {log.error && <Notice tone="bad">{messageOf(log.error)}</Notice>}
      {rows?.length === 0 && (
        <div className={pageCss.empty}>
          <h2>Nothing fits this choice</h2>
          <p>Entries are kept for as long as AUDIT_LOG_DAYS says.</p>
        </div>
      )}
      {rows && rows.length > 0 && (
        <table className={table.table} aria-label="Audit log">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Who</th>
              <th scope="col">From</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </tbody>
        </table>
      )}
      {log.hasNextPage && (
        <div className={table.more}>
          <Button onPress={() => log.fetchNextPage()} isPending={log.isFetchingNextPage}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

function Filters({ filter, onFilter }: { filter: AuditFilter; onFilter(filter: AuditFilter): void }) {
  const { data: operators = [] } = useQuery(auditOperatorsQuery);
  const { action = ALL, by = ALL } = filter;
  const actions: Record<AuditAction | typeof ALL, string> = { all: "Everything", ...ACTION_NAMES };
  const people = operators.flatMap((each) => (each.id === null ? [] : [[each.id, nameOf(each)] as const]));
  const actors: Record<string, string> = {
    all: "Everybody",
    ...Object.fromEntries(people),
    ...ACTOR_KIND_NAMES,
  };
  return (
    <div className={css.filters}>
      <Choice
        label="What"
        options={actions}
        value={action}
        onChange={(chosen) => {
          const known = AUDIT_ACTIONS.find((each) => each === chosen);
          onFilter({ ...(known && { action: known }), ...(by !== ALL && { by }) });
        }}
      />
      <Choice
        label="Who"
        options={actors}
        value={by}
        onChange={(chosen) =>
          onFilter({ ...(action !== ALL && { action }), ...(chosen !== ALL && { by: chosen }) })
        }
      />
    </div>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

function Entry({ entry }: { entry: AuditEntryView }) {
  const { actor, address, at } = entry;
  const facts = factsOf(entry);
  return (
    <tr>
      <td>
        <div className={table.name}>{titleOf(entry)}</div>
        {facts.length > 0 && <div className={table.soft}>{facts.join(" · ")}</div>}
      </td>
      <td data-column="Who">
        <span className={css.who}>{nameOf(actor)}</span>
      </td>
      <td data-column="From">{address ?? "–"}</td>
      <td data-column="When">
        <time className={css.when} dateTime={at} title={at}>
          {TIME.format(new Date(at))}
        </time>
      </td>
    </tr>
  );
}
