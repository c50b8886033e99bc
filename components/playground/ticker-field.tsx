"use client";

import { type KeyboardEvent, useId, useState } from "react";
import type { Instrument } from "#lib/contract/instrument";
import { nearTicker, searchInstruments } from "#lib/instrument-search";
import { CONTROL } from "../ui/field";
import { InstrumentMark } from "../ui/instrument-mark";
import { ParameterField } from "./parameter-field";
import type { FieldControlProps } from "./time-field";

/** Suggestions shown at once. */
const SHOWN_MAX_COUNT = 50;

/** The part of the text that is being typed: the text after the last comma. */
function typedPart(text: string, several: boolean): { before: string; part: string } {
  const at = several ? text.lastIndexOf(",") + 1 : 0;
  return { before: text.slice(0, at), part: text.slice(at).trim() };
}

/** What the service would say of tickers that the key cannot read; undefined when it can read all. */
function unknownIn(text: string, instruments: readonly Instrument[]): string | undefined {
  const tickers = text.split(",").map((part) => part.trim().toUpperCase());
  const [first, ...others] = tickers.filter((one) => one !== "" && !instruments.some(({ ticker }) => ticker === one));
  if (first === undefined) return undefined;
  const near = nearTicker(first, instruments);
  return `Not among your instruments: ${[first, ...others].join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`;
}

interface TickerFieldProps extends FieldControlProps {
  /** Undefined until they are loaded. */
  readonly instruments: readonly Instrument[] | undefined;
  /** Loads them; called when the field is first used. */
  readonly onWanted: () => void;
}

interface SuggestionsProps {
  readonly id: string;
  readonly options: readonly Instrument[];
  readonly active: number;
  readonly onPick: (ticker: string) => void;
}

function Suggestions({ id, options, active, onPick }: SuggestionsProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Instruments"
      // A list that scrolls would be the next stop of Tab, and be gone when Tab gets there.
      tabIndex={-1}
      className="absolute inset-x-0 top-full z-20 mt-1 max-h-64 overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-lg"
    >
      {options.map(({ ticker, name, base_currency, quote_currency }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the arrows and Enter of the field above do it
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
        <div
          key={ticker}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          ref={(node) => {
            if (index === active) node?.scrollIntoView({ block: "nearest" });
          }}
          // Otherwise the field would lose the focus, and the list would close, before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(ticker)}
          className="flex cursor-default items-center gap-3 rounded-md px-2.5 py-1 text-sm leading-6 hover:bg-sunken aria-selected:bg-sunken"
        >
          <InstrumentMark base={base_currency} quote={quote_currency} />
          <span className="font-mono text-[13px]">{ticker}</span>
          <span className="ml-auto truncate text-ink-faint text-xs">{name}</span>
        </div>
      ))}
    </div>
  );
}

/** One ticker or a list of them, with a search over the instruments of the selected key. Other text is accepted too. */
export function TickerField({ field, value, issue, onChange, instruments, onWanted }: TickerFieldProps) {
  const several = field.kind === "tickers";
  const listId = useId();
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  // While it is typed, a ticker is not finished.
  const [left, setLeft] = useState(false);
  const unknown = left && instruments !== undefined ? unknownIn(value, instruments) : undefined;
  const { before, part } = typedPart(value, several);
  const exact = instruments?.some(({ ticker }) => ticker === part) ?? false;
  const options =
    open && instruments !== undefined ? searchInstruments(instruments, exact ? "" : part).slice(0, SHOWN_MAX_COUNT) : [];
  const shown = options.length > 0;

  function pick(ticker: string): void {
    onChange(before + ticker);
    setOpen(false);
    setActive(-1);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setOpen(true);
      if (shown) setActive((active + step + options.length) % options.length);
    }
    const chosen = options[active];
    if (event.key === "Enter" && chosen !== undefined) {
      event.preventDefault();
      pick(chosen.ticker);
    }
    if (event.key === "Escape") setOpen(false);
  }

  return (
    <ParameterField field={field} issue={issue ?? unknown}>
      {(control) => (
        <div className="relative">
          <input
            {...control}
            name={field.name}
            value={value}
            role="combobox"
            aria-expanded={shown}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={shown && active >= 0 ? `${listId}-${active}` : undefined}
            onFocus={onWanted}
            onClick={() => setOpen(true)}
            // Not before the focus is where it goes: a dialog that loses nodes while nothing has the focus takes it for itself.
            onBlur={() =>
              setTimeout(() => {
                setOpen(false);
                setLeft(true);
              })
            }
            onKeyDown={onKeyDown}
            onChange={(event) => {
              onChange(event.target.value);
              setLeft(false);
              setOpen(true);
              setActive(-1);
            }}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            className={`${CONTROL} font-mono`}
          />
          {shown ? <Suggestions id={listId} options={options} active={active} onPick={pick} /> : null}
        </div>
      )}
    </ParameterField>
  );
}
