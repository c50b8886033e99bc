import type { TickerCoverage } from "#lib/contract/coverage";
import { countText } from "../portal/numbers";
import { Instant, TimeOfUtcDay, UtcDay } from "../portal/time";
import { Figure, Figures } from "../ui/card";
import { coveredShare, coveredText } from "./share";

/** A day in UTC, as of years and months, and the time below. */
const figureOf = (at: string | null) => ({
  value: <UtcDay at={at} />,
  note: at === null ? undefined : <TimeOfUtcDay at={at} />,
});

/** How far back a history goes, how complete it is, and when it last changed. */
export function HistoryFigures({ venue, row, calendar }: TickerCoverage) {
  const share = coveredShare(row);
  const changed =
    venue === "sandbox"
      ? "Computed on request"
      : row.changed_at && (
          <>
            Last change <Instant at={row.changed_at} />
          </>
        );
  return (
    <Figures>
      <Figure label="First kline" {...figureOf(row.first_at)} />
      <Figure label="Last kline" {...figureOf(row.last_at)} />
      <Figure label="M1 klines" value={countText(row.rows)} note={changed ?? undefined} />
      <Figure
        label="Complete"
        value={coveredText(share)}
        note={calendar === null ? "Without a calendar" : `Of the minutes in which calendar “${calendar}” is open`}
      />
    </Figures>
  );
}
