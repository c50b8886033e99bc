import { type Change, changesOf } from "./diff";

/** Changes of one entry that are shown before the rest is expanded. */
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

/** The changes of an audit log entry, value by value; an en dash for nothing. */
export function Changes({ before, after }: { before: unknown; after: unknown }) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <span className="text-ink-faint">–</span>;
  const rest = changes.slice(SHOWN_MAX_COUNT);
  return (
    <div className="min-w-36 font-mono text-xs leading-5">
      <ul>
        <Lines changes={changes.slice(0, SHOWN_MAX_COUNT)} />
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
