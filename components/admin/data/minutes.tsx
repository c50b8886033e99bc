"use client";

import { useState } from "react";
import type { DataMinute, DataMinutes } from "#lib/contract/portal-corrections";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { usePortal } from "../../portal/read";
import { Instant } from "../../portal/time";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Section } from "../../ui/card";
import { InstantField } from "../../ui/instant-field";
import { type Column, Table } from "../../ui/table";
import { CorrectionDialog } from "./correction-dialog";

const isoOf = (seconds: number) => new Date(seconds * SECOND_MS).toISOString();

const sourceOf = ({ kline, import: number, struck }: DataMinute) => {
  if (struck) return <Badge tone="warning">Struck out, import {number}</Badge>;
  if (kline === null) return <span className="text-ink-faint">Not stored</span>;
  return number === null ? "Feed" : `Import ${number}`;
};

const emptyText = (struck: boolean) => (struck ? "Struck out" : "–");

function columnsOf(digits: number, at: number, onCorrect: (minute: DataMinute) => void): readonly Column<DataMinute>[] {
  const price = (name: "open" | "high" | "low" | "close", head: string): Column<DataMinute> => ({
    head,
    numeric: true,
    from: "sm",
    cell: ({ kline }) => kline?.[name].toFixed(digits) ?? "–",
  });
  return [
    {
      head: "Minute",
      cell: ({ time, kline, struck }) => (
        <>
          <span className={time === at ? "font-semibold" : ""}>
            <Instant at={isoOf(time)} />
          </span>
          <span className="block font-mono text-ink-faint text-xs tabular-nums leading-5 sm:hidden">
            {kline === null
              ? emptyText(struck)
              : [kline.open, kline.high, kline.low, kline.close].map((value) => value.toFixed(digits)).join(" ")}
          </span>
        </>
      ),
    },
    price("open", "Open"),
    price("high", "High"),
    price("low", "Low"),
    price("close", "Close"),
    { head: "Ticks", numeric: true, from: "md", cell: ({ kline }) => kline?.tick_volume ?? "–" },
    { head: "Source", from: "sm", cell: sourceOf },
    {
      head: "Correct",
      cell: (minute) => (
        <Button onClick={() => onCorrect(minute)}>
          Correct…
          <span className="sr-only">
            {" "}
            <Instant at={isoOf(minute.time)} />
          </span>
        </Button>
      ),
    },
  ];
}

function Around({ ticker, digits, at, onChange }: { ticker: string; digits: number; at: number; onChange: () => void }) {
  const { data, error, mutate } = usePortal<DataMinutes>(`admin/data/${ticker}/minutes?at=${at}`);
  const [chosen, setChosen] = useState<DataMinute>();
  return (
    <>
      <Table
        caption="Minutes"
        columns={columnsOf(digits, at, setChosen)}
        rows={data?.items}
        rowKey={({ time }) => String(time)}
        empty="No minutes."
        failure={error}
        retry={() => void mutate()}
        expected={11}
      />
      {chosen === undefined ? null : (
        <CorrectionDialog
          ticker={ticker}
          digits={digits}
          minute={chosen}
          onClose={() => setChosen(undefined)}
          onChange={onChange}
        />
      )}
    </>
  );
}

/** Unix seconds of an instant, down to the minute; null for none. */
function secondsOf(instant: string): number | null {
  const ms = Date.parse(instant);
  return Number.isNaN(ms) ? null : Math.floor(ms / SECOND_MS / MINUTE_S) * MINUTE_S;
}

interface MinutesProps {
  readonly ticker: string;
  readonly digits: number;
  /** Open time of the minute that is looked at first, ISO 8601: the newest one. */
  readonly newest: string;
  readonly onChange: () => void;
}

/** The minutes around a chosen one, to correct them or strike them out. */
export function Minutes({ ticker, digits, newest, onChange }: MinutesProps) {
  const [chosen, setChosen] = useState(newest);
  const at = secondsOf(chosen);
  return (
    <Section title="Correct a minute">
      <div className="mb-3 max-w-60">
        <InstantField label="Minute" name="at" start={newest} onChange={setChosen} />
      </div>
      {at === null ? null : <Around key={at} ticker={ticker} digits={digits} at={at} onChange={onChange} />}
    </Section>
  );
}
