import type { TickerCoverage } from "#lib/contract/coverage";
import { countText } from "../portal/numbers";
import { utcText } from "../portal/utc";
import { Figure, Figures } from "../ui/card";
import { coveredShare, coveredText } from "./share";

const day = (at: string | null) => (at === null ? "–" : at.slice(0, 10));
const clock = (at: string | null) => (at === null ? undefined : `${utcText(at).slice(11)} UTC`);

/** How far back a history goes, how complete it is, and when it last changed. */
export function HistoryFigures({ venue, row, calendar }: TickerCoverage) {
  const share = coveredShare(row);
  const changed = venue === "sandbox" ? "Computed on request" : row.changed_at && `Last change ${utcText(row.changed_at)} UTC`;
  return (
    <Figures>
      <Figure label="First kline" value={day(row.first_at)} note={clock(row.first_at)} />
      <Figure label="Last kline" value={day(row.last_at)} note={clock(row.last_at)} />
      <Figure label="M1 klines" value={countText(row.rows)} note={changed ?? undefined} />
      <Figure
        label="Complete"
        value={coveredText(share)}
        note={calendar === null ? "Without a calendar" : `Of the minutes in which calendar “${calendar}” is open`}
      />
    </Figures>
  );
}
