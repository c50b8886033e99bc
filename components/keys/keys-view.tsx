"use client";

import { type ComponentProps, useState } from "react";
import type { PortalKey } from "#lib/contract/portal";
import { KEY_USE_DAYS, type KeyUse } from "#lib/contract/portal-activity";
import { PORTAL_SCOPES } from "#lib/contract/portal-scopes";
import { SECOND_MS } from "#lib/units";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { PageHead } from "../ui/card";
import { CONTROL } from "../ui/field";
import { ActionMenu } from "../ui/menu";
import { type Column, Table } from "../ui/table";
import { arrangeKeys } from "./arrange";
import { CreateKey } from "./create-key";
import { EditKey, RevokeKey, RotateKey } from "./key-dialogs";
import { KeyMark, KeyState, keyName, LastUsed, VENUE_WORDS } from "./key-text";
import { KeyUseBars } from "./key-use";

const DIALOGS = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey } as const;
type Action = { readonly kind: keyof typeof DIALOGS; readonly key: PortalKey };

/** The keys are read again so often while the page is visible, because their last use changes. */
const USED_MS = 10 * SECOND_MS;
/** Up to this many keys there is no search field. */
const SEARCH_FROM_COUNT = 12;

function isWanted({ name, prefix, last4, agent_host }: PortalKey, wanted: string): boolean {
  return `${name} ${agent_host ?? ""} ${prefix}…${last4}`.toLowerCase().includes(wanted.trim().toLowerCase());
}

const scopeWord = (scope: string) => scope.replace("market:", "");

/** What a key is narrowed to: the origins and IP addresses that may use it, and the tickers that it reads. */
function Narrowed({ apiKey: { origins, addresses, tickers } }: { apiKey: PortalKey }) {
  const texts = [...origins, ...addresses, ...(tickers.length === 0 ? [] : [tickers.join(", ")])];
  return texts.map((text) => (
    <code key={text} title={text} className="block max-w-44 truncate font-mono text-xs leading-5">
      {text}
    </code>
  ));
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
  // An agent gets a new key when it is connected again.
  const rotate = key.agent_host === null ? [item("Rotate", "rotate")] : [];
  const changes = isOperators(key) ? [] : [item("Edit", "edit"), ...rotate];
  return [...changes, item("Revoke", "revoke")];
}

interface Row {
  readonly key: PortalKey;
  /** True for one that stands below its replacement. */
  readonly isReplaced: boolean;
}

function columns(
  keys: readonly PortalKey[],
  act: (action: Action) => void,
  callsOf: (id: string) => readonly number[] | undefined,
): readonly Column<Row>[] {
  return [
    {
      head: "Name",
      grow: true,
      cell: ({ key, isReplaced }) => (
        <div className={isReplaced ? "border-line border-l-2 pl-3" : ""}>
          <span className="block font-medium leading-5 [overflow-wrap:anywhere]">{key.name}</span>
          <KeyMark apiKey={key} />
          {key.agent_host === null ? null : (
            <span className="block text-ink-faint text-xs leading-5 [overflow-wrap:anywhere]">Agent of {key.agent_host}</span>
          )}
          <span className="block text-ink-faint text-xs leading-5 sm:hidden">
            {VENUE_WORDS[key.venue]}: {key.scopes.map(scopeWord).join(", ")}
          </span>
          {key.last_used_at === null ? null : (
            <span className="block text-ink-faint text-xs leading-5 lg:hidden">
              Used <Instant at={key.last_used_at} />
            </span>
          )}
          {isReplaced ? <span className="block text-ink-faint text-xs leading-5">Replaced by the key above</span> : null}
        </div>
      ),
    },
    {
      head: "Access",
      from: "sm",
      cell: ({ key }) => (
        <>
          <span className="block">{VENUE_WORDS[key.venue]}</span>
          <span className="block whitespace-nowrap text-ink-faint text-xs leading-5">{key.scopes.map(scopeWord).join(", ")}</span>
          <Narrowed apiKey={key} />
        </>
      ),
    },
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
          <ActionMenu label={`Actions for ${keyName(keys, key.id)}`} items={items} />
        );
      },
    },
  ];
}

interface KeysViewProps extends Pick<ComponentProps<typeof CreateKey>, "creating" | "liveFeed"> {
  readonly initial: { readonly items: readonly PortalKey[] };
  /** Whether the reader's role may make and change keys. */
  readonly mayBuild: boolean;
}

/** The keys of the user, and all actions on them. */
export function KeysView({ initial, mayBuild, ...setup }: KeysViewProps) {
  const { data, error, mutate } = usePortal<{ items: readonly PortalKey[] }>("keys", {
    fallbackData: initial,
    refreshInterval: USED_MS,
  });
  const reload = () => void mutate();
  const [action, setAction] = useState<Action>();
  const [wanted, setWanted] = useState("");
  const Open = action === undefined ? undefined : DIALOGS[action.kind];
  const many = (data?.items.length ?? 0) > SEARCH_FROM_COUNT;
  const shown = many ? data?.items.filter((key) => isWanted(key, wanted)) : data?.items;
  const arranged = shown && arrangeKeys(shown);
  const use = usePortal<{ items: readonly KeyUse[] }>("keys/use").data?.items;
  const all = columns(data?.items ?? [], setAction, (id) => use?.find(({ key_id }) => key_id === id)?.calls);
  const shape = mayBuild ? all : all.slice(0, -1);
  return (
    <>
      <PageHead
        title="Keys"
        action={mayBuild ? <CreateKey {...setup} isFirst={data?.items.length === 0} onChange={reload} /> : null}
      >
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
              {mayBuild ? (
                <p className="mt-1">
                  Create a sandbox key to get synthetic prices, 24/7. You can make your first request within a minute.
                </p>
              ) : null}
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
        <Open apiKey={action.key} keys={data?.items ?? []} onClose={() => setAction(undefined)} onChange={reload} />
      ) : null}
    </>
  );
}
