import { type Change, changesOf } from "./diff";

/** How many changes an audit log entry shows before you expand it. */
const SHOWN_MAX_COUNT = 3;

function Lines({ changes }: { changes: readonly Change[] }) {
  return changes.map(({ path, before, after }) => (
    <li key={`${path} ${before} ${after}`} className="[overflow-wrap:anywhere]">
      {path === "" ? null : <span className="text-ink-faint">{path} </span>}
      {before === undefined ? null : <del className="text-danger">{before}</del>}
      {before === undefined || after === undefined ? " " : " → "}
      {after === undefined ? null : <ins className="text-positive no-underline">{after}</ins>}
    </li>
  ));
}

interface ChangesProps {
  readonly before: unknown;
  readonly after: unknown;
  /** Changes that are shown before the rest is expanded. */
  readonly shown?: number;
}

/** What differs between two JSON values, value by value; an en dash for nothing. */
export function Changes({ before, after, shown = SHOWN_MAX_COUNT }: ChangesProps) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <span className="text-ink-faint">–</span>;
  const rest = changes.slice(shown);
  return (
    <div className="min-w-36 font-mono text-xs leading-5">
      <ul>
        <Lines changes={changes.slice(0, shown)} />
      </ul>
      {rest.length === 0 ? null : (
        <details>
          <summary className="cursor-pointer text-ink-soft hover:text-ink">{rest.length} more</summary>
          <ul>
            <Lines changes={rest} />
          </ul>
        </details>
      )}
    </div>
  );
}
