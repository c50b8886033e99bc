"use client";

import { useState } from "react";
import type { DataImport, DataLayer, DataLayers } from "#lib/contract/portal-data";
import { SOURCE_NAMES } from "#lib/data-words";
import { DAY_MS } from "#lib/units";
import { countText, sizeText } from "../../portal/numbers";
import { usePortal } from "../../portal/read";
import { Instant, instantText, useTimeZone } from "../../portal/time";
import { Badge } from "../../ui/badge";
import { type Column, Table } from "../../ui/table";
import { ChangeImport, type Changing, type Refusal, Refused } from "../import-change";
import { fileName } from "./file-name";

const HEIGHT = 20;
/** A leap year. */
const DAYS = 366;
/** The smallest part that is drawn, so that it is seen. */
const BAR_MIN_DAYS = 1.5;
const BAR_MIN_HEIGHT = 4;

/** What a layer said over the months of the year: as wide as its minutes reach, filled as far as they show. */
function LayerBar({ layer: { months, undone_at }, year }: { layer: DataLayer; year: number }) {
  const dayOf = (at: string) => (Date.parse(at) - Date.UTC(year, 0)) / DAY_MS;
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${DAYS} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-5 w-full rounded-sm bg-sunken"
    >
      {Array.from({ length: 11 }, (_, index) => {
        const x = dayOf(new Date(Date.UTC(year, index + 1)).toISOString());
        return <rect key={x} x={x} width={0.6} height={HEIGHT} className="fill-line" />;
      })}
      {months.map(({ month, first_at, last_at, rows, shown }) => {
        const [from, to] = [dayOf(first_at), dayOf(last_at)];
        const place = { x: from, width: Math.max(BAR_MIN_DAYS, to - from) };
        const filled = shown === 0 ? 0 : Math.max(BAR_MIN_HEIGHT, (HEIGHT * Math.min(shown, rows)) / rows);
        return (
          <g key={month}>
            <title>{`${month}: ${countText(rows)} said, ${countText(shown)} show`}</title>
            <rect {...place} height={HEIGHT} className={undone_at === null ? "fill-accent/25" : "fill-edge/60"} />
            <rect {...place} y={HEIGHT - filled} height={filled} className="fill-accent" />
          </g>
        );
      })}
    </svg>
  );
}

/** What a layer is called. */
function LayerName({ layer, year, from }: { layer: DataLayer; year: number; from: DataImport | undefined }) {
  const { number, kind, label, undone_at, months } = layer;
  const zone = useTimeZone();
  const name = number === null ? SOURCE_NAMES.feed : `${number} · ${kind === "import" ? fileName(label) : label}`;
  return (
    <div className="min-w-44 lg:min-w-72">
      <span className="[overflow-wrap:anywhere]">{name}</span>{" "}
      {undone_at === null ? null : (
        <Badge tone="neutral" title={`Undone ${instantText(undone_at, zone)}`}>
          Undone
        </Badge>
      )}
      <span className="block text-ink-faint text-xs leading-5">
        {number === null ? null : `${SOURCE_NAMES[kind]}, `}
        <Instant at={months[0]?.first_at ?? null} /> to <Instant at={months.at(-1)?.last_at ?? null} />
        {from === undefined ? null : (
          <>
            . {countText(from.stored)} added, {countText(from.overwritten)} overwritten, {countText(from.already_there)} unchanged
            {from.doubts.length === 0 ? null : (
              <span title={from.doubts.join("\n")} className="line-clamp-2 text-warning [overflow-wrap:anywhere]">
                Doubtful: {from.doubts.join("; ")}
              </span>
            )}
          </>
        )}
      </span>
      <div className="mt-1.5 sm:hidden">
        <LayerBar layer={layer} year={year} />
      </div>
    </div>
  );
}

interface LayersProps {
  readonly ticker: string;
  readonly year: number;
  readonly imports: readonly DataImport[];
  /** Called after an import was undone or put back. */
  readonly onChange: () => void;
}

function columnsOf(
  { year, imports }: LayersProps,
  changing: Changing,
  refusal: Refusal | undefined,
): readonly Column<DataLayer>[] {
  return [
    {
      head: "Layer",
      cell: (layer) => (
        <>
          <LayerName layer={layer} year={year} from={imports.find(({ number }) => number === layer.number)} />
          <Refused refusal={refusal} number={layer.number} />
        </>
      ),
    },
    {
      head: (
        <span className="flex justify-between">
          <span>January</span>
          <span>December</span>
        </span>
      ),
      grow: true,
      from: "sm",
      cell: (layer) => (
        <div className="min-w-32">
          <LayerBar layer={layer} year={year} />
        </div>
      ),
    },
    { head: "Said", numeric: true, from: "md", cell: ({ rows }) => countText(rows) },
    { head: "Show", numeric: true, cell: ({ shown }) => countText(shown) },
    { head: "Size", numeric: true, from: "lg", cell: ({ bytes }) => sizeText(bytes) },
    {
      head: "Undo",
      cell: ({ number, change }) =>
        number === null ? (
          <span className="text-ink-faint">–</span>
        ) : (
          <ChangeImport number={number} change={change} {...changing} />
        ),
    },
  ];
}

/** The layers of a year: what each said, how much of it shows, and undo and redo. */
export function Layers(props: LayersProps) {
  const { ticker, year, onChange } = props;
  const { data, error, mutate } = usePortal<DataLayers>(`admin/data/${ticker}/layers?year=${year}`);
  const [refusal, onRefused] = useState<Refusal>();
  const onDone = async () => {
    await mutate();
    onChange();
  };
  const more = data === undefined ? 0 : data.count - data.layers.length;
  return (
    <>
      <Table
        caption="Layers"
        columns={columnsOf(props, { onRefused, onDone }, refusal)}
        rows={data?.layers}
        rowKey={({ number }) => String(number)}
        empty={`No layer says anything of ${year}.`}
        failure={error}
        retry={() => void mutate()}
      />
      <p className="mt-2 text-ink-faint text-xs leading-5">
        {data !== undefined && data.open_rows > 0
          ? `${countText(data.open_rows)} minutes of the feed are in no layer yet: they are put into one once a day. `
          : null}
        {more > 0 ? `${countText(more)} older layers are not listed. ` : null}A layer shows over those below it. A bar is as wide
        as what its layer says, and filled as far as that shows.
      </p>
    </>
  );
}
