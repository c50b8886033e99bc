import { changesOf } from "../portal/diff";
import { msText } from "../portal/numbers";
import type { Answer } from "./send";

/** Differences that are listed; further ones are counted. */
const LISTED_MAX_COUNT = 200;
/** Larger answers are not compared: a page would hang. */
const SIZE_MAX_BYTES = 500_000;

interface CompareViewProps {
  readonly before: Answer;
  readonly after: Answer;
}

/** Two answers of an operation, value by value. */
export function CompareView({ before, after }: CompareViewProps) {
  const note = "text-ink-soft text-sm leading-6";
  if (before.sizeBytes + after.sizeBytes > SIZE_MAX_BYTES)
    return <p className={note}>These answers are too large to compare. Ask for fewer rows.</p>;
  const changes = changesOf(before.body, after.body);
  const shown = changes.slice(0, LISTED_MAX_COUNT);
  return (
    <div className="flex flex-col gap-3">
      <p className={note}>
        The previous answer ({before.status}, {msText(before.tookMs)}) and this one ({after.status}, {msText(after.tookMs)}):{" "}
        {changes.length === 0 ? "no differences." : `${changes.length} ${changes.length === 1 ? "difference" : "differences"}.`}
      </p>
      {shown.length === 0 ? null : (
        <ul className="max-h-[32rem] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-[13px] leading-6">
          {shown.map(({ path, before: old, after: now }) => (
            <li key={`${path} ${old} ${now}`} className="[overflow-wrap:anywhere]">
              <span className="token-keyword">{path}</span> {old === undefined ? null : <del className="text-danger">{old}</del>}
              {old === undefined || now === undefined ? " " : " → "}
              {now === undefined ? null : <ins className="text-positive no-underline">{now}</ins>}
            </li>
          ))}
        </ul>
      )}
      {changes.length > shown.length ? <p className={note}>The first {shown.length} are shown.</p> : null}
    </div>
  );
}
