import { KEY_USE_DAYS } from "#lib/contract/portal-activity";
import { Bars } from "../portal/bars";
import { compactText, countText } from "../portal/numbers";

/** A key's requests by day, the last one today; undefined for a key that was not used. */
export function KeyUseBars({ calls }: { calls: readonly number[] | undefined }) {
  if (calls === undefined) return <span className="text-ink-faint">–</span>;
  const total = calls.reduce((sum, count) => sum + count, 0);
  const bars = calls.map((value, index) => {
    const ago = calls.length - 1 - index;
    return { id: String(ago), value, title: `${ago === 0 ? "Today" : `${ago} days ago`}: ${countText(value)} requests` };
  });
  return (
    <span className="flex items-center gap-2">
      <Bars bars={bars} label={`${countText(total)} requests in ${KEY_USE_DAYS} days`} className="h-6 w-20" />
      <span className="text-ink-faint text-xs tabular-nums">{compactText(total)}</span>
    </span>
  );
}
