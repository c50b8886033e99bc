"use client";

import { type ReactNode, useState } from "react";

/** Entries of a list or object that are shown at once; further ones are in collapsed groups of this size. */
const FOLD_ENTRIES = 100;
/** Levels that are expanded initially. */
const OPEN_LEVELS = 3;
/** All entries of a list or object up to this size are expanded; of a longer one only the first. */
const SMALL_MAX_COUNT = 20;

type Entry = readonly [key: string, value: unknown];

interface NodeProps {
  /** Undefined for list entries and for the root. */
  readonly name?: string | undefined;
  readonly value: unknown;
  readonly open: boolean;
  readonly level: number;
  /** What follows the value: a comma, or nothing after the last. */
  readonly after: "," | "";
}

const TONES: Readonly<Record<string, string>> = {
  string: "token-string",
  number: "token-constant",
  boolean: "token-constant",
  object: "token-constant",
};

function Name({ name }: Pick<NodeProps, "name">) {
  if (name === undefined) return null;
  return (
    <>
      <span className="token-keyword">{JSON.stringify(name)}</span>
      <span className="token-punctuation">: </span>
    </>
  );
}

function Leaf({ name, value, after }: Pick<NodeProps, "name" | "value" | "after">) {
  return (
    <div className="pl-4 [overflow-wrap:anywhere]">
      <Name name={name} />
      <span className={Array.isArray(value) ? "" : TONES[typeof value]}>{JSON.stringify(value)}</span>
      {after}
    </div>
  );
}

interface FoldProps {
  readonly label: (shown: boolean) => ReactNode;
  readonly open: boolean;
  /** The closing line of an expanded list or object. */
  readonly end?: string;
  readonly children: () => ReactNode;
}

function Fold({ label, open, end, children }: FoldProps) {
  const [shown, setShown] = useState(open);
  return (
    <div>
      <button
        type="button"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
        className="flex w-full items-baseline gap-1 rounded-sm text-left hover:bg-line/50"
      >
        <span aria-hidden="true" className="w-3 shrink-0 text-center text-[10px] text-ink-faint">
          {shown ? "▾" : "▸"}
        </span>
        <span className="min-w-0 truncate text-ink-soft">{label(shown)}</span>
      </button>
      {shown ? <div className="ml-1.5 border-line border-l pl-2">{children()}</div> : null}
      {shown && end !== undefined ? <div className="pl-4 text-ink-soft">{end}</div> : null}
    </div>
  );
}

/** A collapsed list or object in a few words. */
function brief(list: boolean, count: number): string {
  const what = list ? "item" : "key";
  return `${list ? "[…]" : "{…}"} ${count} ${what}${count === 1 ? "" : "s"}`;
}

interface EntriesProps {
  readonly entries: readonly Entry[];
  readonly list: boolean;
  readonly level: number;
}

/** One group of entries, starting at a position. */
function Entries({ entries, list, level, start }: EntriesProps & { readonly start: number }) {
  return entries
    .slice(start, start + FOLD_ENTRIES)
    .map(([key, value], index) => (
      <JsonNode
        key={key}
        name={list ? undefined : key}
        value={value}
        level={level + 1}
        open={level + 1 < OPEN_LEVELS || entries.length <= SMALL_MAX_COUNT || start + index === 0}
        after={start + index + 1 < entries.length ? "," : ""}
      />
    ));
}

/** Entries after the first hundred, in groups: a page of 60,000 lines would be slow. */
function Rest(props: EntriesProps) {
  const count = props.entries.length;
  const folds = Array.from({ length: Math.ceil(count / FOLD_ENTRIES) - 1 }, (_, index) => (index + 1) * FOLD_ENTRIES);
  return folds.map((start) => (
    <Fold key={start} label={() => `${start} … ${Math.min(start + FOLD_ENTRIES, count) - 1}`} open={false}>
      {() => <Entries {...props} start={start} />}
    </Fold>
  ));
}

function JsonNode({ name, value, level, open, after }: NodeProps) {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) return <Leaf name={name} value={value} after={after} />;
  const list = Array.isArray(value);
  const label = (shown: boolean) => (
    <>
      <Name name={name} />
      {shown ? list ? "[" : "{" : <span className="text-ink-faint">{brief(list, entries.length)}</span>}
    </>
  );
  return (
    <Fold label={label} open={open} end={(list ? "]" : "}") + after}>
      {() => (
        <>
          <Entries entries={entries} list={list} level={level} start={0} />
          <Rest entries={entries} list={list} level={level} />
        </>
      )}
    </Fold>
  );
}

/** Collapsible JSON; collapsed parts are not rendered. */
export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="max-h-[32rem] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-6">
      <JsonNode value={value} level={0} open after="" />
    </div>
  );
}
