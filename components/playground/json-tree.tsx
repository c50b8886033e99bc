"use client";

import { useState } from "react";

/** Entries of a list or object that are shown at once; more come in folds of this size. */
const FOLD_ENTRIES = 100;
/** Levels that are open from the start. */
const OPEN_LEVELS = 3;
/** Longer lists than this are closed below their first entries. */
const OPEN_ENTRIES_MAX_COUNT = 20;

interface NodeProps {
  readonly name?: string | undefined;
  readonly value: unknown;
  readonly level: number;
  readonly open?: boolean;
}

const TONES: Readonly<Record<string, string>> = { string: "text-accent", number: "text-positive", boolean: "text-warning" };

function Leaf({ name, value }: Pick<NodeProps, "name" | "value">) {
  return (
    <div className="pl-4 [overflow-wrap:anywhere]">
      {name === undefined ? null : <span className="text-ink-soft">{name}: </span>}
      <span className={TONES[typeof value] ?? "text-ink-faint"}>{JSON.stringify(value)}</span>
    </div>
  );
}

/** Entries past the first hundred, a fold each: a page of 60,000 lines would be slow. */
function Rest({ entries, list, level }: { entries: readonly [string, unknown][]; list: boolean; level: number }) {
  const folds = Array.from({ length: Math.ceil(entries.length / FOLD_ENTRIES) }, (_, index) => index * FOLD_ENTRIES);
  return folds.map((start) => (
    <Fold
      key={start}
      label={() => `${start + FOLD_ENTRIES} … ${start + FOLD_ENTRIES + Math.min(FOLD_ENTRIES, entries.length - start) - 1}`}
      open={false}
    >
      {() =>
        entries
          .slice(start, start + FOLD_ENTRIES)
          .map(([key, item]) => <JsonNode key={key} name={list ? undefined : key} value={item} level={level + 1} open={false} />)
      }
    </Fold>
  ));
}

function Fold({
  label,
  open,
  children,
}: {
  label: (shown: boolean) => React.ReactNode;
  open: boolean;
  children: () => React.ReactNode;
}) {
  const [shown, setShown] = useState(open);
  return (
    <div>
      <button
        type="button"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
        className="flex w-full items-baseline gap-1 rounded-sm text-left hover:bg-line/50"
      >
        <span aria-hidden="true" className="w-3 shrink-0 text-center text-ink-faint text-[10px]">
          {shown ? "▾" : "▸"}
        </span>
        <span className="min-w-0 truncate text-ink-soft">{label(shown)}</span>
      </button>
      {shown ? <div className="ml-1.5 border-line border-l pl-2">{children()}</div> : null}
    </div>
  );
}

/** What an open list or object shows of itself. */
const sizeOf = (value: object, { length }: readonly unknown[]) => (Array.isArray(value) ? `[${length}]` : "{}");

/** A closed list or object in a few words. */
function brief(value: object, entries: readonly [string, unknown][]): string {
  if (Array.isArray(value)) return `[${entries.length}]`;
  const shown = entries.slice(0, 4).map(([key, item]) => `${key}: ${typeof item === "object" ? "…" : JSON.stringify(item)}`);
  return `{ ${shown.join(", ")}${entries.length > shown.length ? ", …" : ""} }`;
}

function JsonNode({ name, value, level, open }: NodeProps) {
  if (typeof value !== "object" || value === null) return <Leaf name={name} value={value} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <Leaf name={name} value={value} />;
  const list = Array.isArray(value);
  const first = entries.slice(0, FOLD_ENTRIES);
  const label = (shown: boolean) => (
    <>
      {name === undefined ? null : `${name}: `}
      <span className="text-ink-faint">{shown ? sizeOf(value, entries) : brief(value, entries)}</span>
    </>
  );
  return (
    <Fold label={label} open={open ?? level < OPEN_LEVELS}>
      {() => (
        <>
          {first.map(([key, item], index) => (
            <JsonNode
              key={key}
              name={list ? undefined : key}
              value={item}
              level={level + 1}
              open={
                level + 1 < OPEN_LEVELS ||
                (level + 1 === OPEN_LEVELS && list && index < 1 && entries.length <= OPEN_ENTRIES_MAX_COUNT)
              }
            />
          ))}
          <Rest entries={entries.slice(FOLD_ENTRIES)} list={list} level={level} />
        </>
      )}
    </Fold>
  );
}

/** JSON that can be folded; what is folded is not drawn. */
export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="max-h-[32rem] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-5.5">
      <JsonNode value={value} level={0} />
    </div>
  );
}
