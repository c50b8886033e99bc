"use client";

import { type ComponentProps, useState } from "react";
import type { PortalKey } from "#lib/contract/portal";
import { KEY_USE_DAYS, type KeyUse } from "#lib/contract/portal-activity";
import { PORTAL_SCOPES } from "#lib/contract/portal-scopes";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { PageHead } from "../ui/card";
import { CONTROL } from "../ui/field";
import { ActionMenu } from "../ui/menu";
import { type Column, Table } from "../ui/table";
import { arrangeKeys } from "./arrange";
import { CreateKey } from "./create-key";
import { EditKey, RevokeKey, RotateKey } from "./key-dialogs";
import { KeyMark, KeyState, LastUsed, VENUE_WORDS } from "./key-text";
import { KeyUseBars } from "./key-use";

const DIALOGS = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey } as const;
type Action = { readonly kind: keyof typeof DIALOGS; readonly key: PortalKey };

/** Up to this many keys there is no search field. */
const SEARCH_FROM_COUNT = 12;

function isWanted({ name, prefix, last4 }: PortalKey, wanted: string): boolean {
  return `${name} ${prefix}…${last4}`.toLowerCase().includes(wanted.trim().toLowerCase());
}

const scopeWord = (scope: string) => scope.replace("market:", "");

/** Where a key may be used from: its origins, then its addresses. */
function Sources({ apiKey: { origins, addresses } }: { apiKey: Pick<PortalKey, "origins" | "addresses"> }) {
  return (
    <>
      {origins.length === 0 ? <span className="whitespace-nowrap text-ink-faint">Servers only</span> : null}
      {[...origins, ...addresses].map((source) => (
        <code key={source} title={source} className="block max-w-44 truncate font-mono text-xs leading-5">
          {source}
        </code>
      ))}
    </>
  );
}

/** True when only operators may change the key, because they alone give out one of its scopes. */
const isOperators = ({ scopes }: PortalKey) => scopes.some((scope) => !PORTAL_SCOPES.some((own) => own === scope));

/** The actions that a key's state and scopes allow. */
function actionsOf(key: PortalKey, act: (action: Action) => void) {
  const item = (label: string, kind: Action["kind"]) => ({
    label,
    onSelect: () => act({ kind, key }),
    danger: kind === "revoke",
  });
  if (key.state !== "active" && key.state !== "scheduled") return key.state === "grace" ? [item("Revoke", "revoke")] : [];
  const changes = isOperators(key) ? [] : [item("Edit", "edit"), item("Rotate", "rotate")];
  return [...changes, item("Revoke", "revoke")];
}

interface Row {
  readonly key: PortalKey;
  /** True for one that stands below its replacement. */
  readonly isReplaced: boolean;
}

function columns(act: (action: Action) => void, callsOf: (id: string) => readonly number[] | undefined): readonly Column<Row>[] {
  return [
    {
      head: "Name",
      grow: true,
      cell: ({ key, isReplaced }) => (
        <div className={isReplaced ? "border-line border-l-2 pl-3" : ""}>
          <span className="line-clamp-2 font-medium leading-5 [overflow-wrap:anywhere]" title={key.name}>
            {key.name}
          </span>
          <KeyMark apiKey={key} />
          {isReplaced ? <span className="block text-ink-faint text-xs leading-5">Replaced by the key above</span> : null}
        </div>
      ),
    },
    {
      head: "Access",
      from: "sm",
      cell: ({ key: { venue, scopes, tickers } }) => (
        <>
          <span className="block">{VENUE_WORDS[venue]}</span>
          <span className="block whitespace-nowrap text-ink-faint text-xs leading-5">{scopes.map(scopeWord).join(", ")}</span>
          {tickers.length === 0 ? null : (
            <code title={tickers.join(", ")} className="block max-w-44 truncate font-mono text-xs leading-5">
              {tickers.join(", ")}
            </code>
          )}
        </>
      ),
    },
    { head: "Used from", from: "xl", cell: ({ key }) => <Sources apiKey={key} /> },
    { head: `Last ${KEY_USE_DAYS} days`, from: "lg", cell: ({ key }) => <KeyUseBars calls={callsOf(key.id)} /> },
    { head: "Last used", from: "lg", cell: ({ key }) => <LastUsed apiKey={key} /> },
    { head: "State", cell: ({ key }) => <KeyState apiKey={key} /> },
    {
      head: <span className="sr-only">Actions</span>,
      cell: ({ key }) => {
        const items = actionsOf(key, act);
        return items.length === 0 ? (
          <span className="block size-8" />
        ) : (
          <ActionMenu label={`Actions for ${key.name}`} items={items} />
        );
      },
    },
  ];
}

interface KeysViewProps extends Pick<ComponentProps<typeof CreateKey>, "creating" | "delivery" | "liveFeed"> {
  readonly initial: { readonly items: readonly PortalKey[] };
}

/** The keys of the user, and all actions on them. */
export function KeysView({ initial, ...setup }: KeysViewProps) {
  const { data, error, mutate } = usePortal<{ items: readonly PortalKey[] }>("keys", { fallbackData: initial });
  const reload = () => void mutate();
  const [action, setAction] = useState<Action>();
  const [wanted, setWanted] = useState("");
  const Open = action === undefined ? undefined : DIALOGS[action.kind];
  const many = (data?.items.length ?? 0) > SEARCH_FROM_COUNT;
  const shown = many ? data?.items.filter((key) => isWanted(key, wanted)) : data?.items;
  const arranged = shown && arrangeKeys(shown);
  const use = usePortal<{ items: readonly KeyUse[] }>("keys/use").data?.items;
  const shape = columns(setAction, (id) => use?.find(({ key_id }) => key_id === id)?.calls);
  return (
    <>
      <PageHead title="Keys" action={<CreateKey {...setup} isFirst={data?.items.length === 0} onChange={reload} />}>
        Each key belongs to one venue. All keys share your plan's limits.
      </PageHead>
      {many ? (
        <input
          type="search"
          aria-label="Find a key"
          placeholder="Name, or the start or end of the key"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          className={`${CONTROL} mb-4`}
        />
      ) : null}
      <Table
        caption="Your keys"
        columns={shape}
        rows={arranged?.current}
        rowKey={({ key }) => key.id}
        failure={error}
        retry={reload}
        empty={
          many ? (
            <p>No keys match.</p>
          ) : (
            <>
              <p className="font-medium text-ink">{data?.items.length === 0 ? "No keys yet" : "No active keys"}</p>
              <p className="mt-1">
                Create a test key to get synthetic prices around the clock. You can make your first call within a minute.
              </p>
            </>
          )
        }
      />
      {arranged === undefined || arranged.past.length === 0 ? null : (
        <details className="mt-6">
          <summary className="mb-3 cursor-pointer text-ink-soft text-sm hover:text-ink">
            {countText(arranged.past.length)} revoked or expired
          </summary>
          <Table
            caption="Revoked and expired keys"
            columns={shape}
            rows={arranged.past.map((key) => ({ key, isReplaced: false }))}
            rowKey={({ key }) => key.id}
            empty={null}
          />
        </details>
      )}
      {action !== undefined && Open !== undefined ? (
        <Open apiKey={action.key} onClose={() => setAction(undefined)} onChange={reload} />
      ) : null}
    </>
  );
}
