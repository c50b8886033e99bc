"use client";

import { useId } from "react";
import { Button } from "../../ui/button";
import { CONTROL } from "../../ui/field";
import { nameOf } from "./draft";
import { DAY_NAMES, type WeeklyDefinition } from "./exceptions";

type Session = WeeklyDefinition["week"][number];
/** A session with its place in the week, by which errors name it. */
type Placed = { readonly session: Session; readonly index: number };

const DAY_HOURS = 24;
const FIRST: Pick<Session, "open" | "close"> = { open: "09:00", close: "17:00" };
const END_OF_DAY = "24:00";

/** A wall time in hours; 0 while it is not one. */
function hoursOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const at = hours + minutes / 60;
  return at >= 0 && at <= DAY_HOURS ? at : 0;
}

/** The sessions of a day on a line of 24 hours. */
function DayLine({ sessions }: { sessions: readonly Placed[] }) {
  return (
    <svg
      viewBox={`0 0 ${DAY_HOURS} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
      className="h-1 w-full rounded-full bg-sunken"
    >
      {sessions.map(({ session: { open, close }, index }) => (
        <rect
          key={index}
          x={hoursOf(open)}
          width={Math.max(0, hoursOf(close) - hoursOf(open))}
          y="0"
          height="1"
          className="fill-positive/55"
        />
      ))}
    </svg>
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly note: string;
  readonly onChange: (value: string) => void;
}

function TimeField({ label, name, value, error, note, onChange }: TimeFieldProps) {
  return (
    <input
      aria-label={label}
      name={name}
      aria-invalid={error === undefined ? undefined : true}
      aria-describedby={error === undefined ? undefined : note}
      value={value}
      placeholder="HH:MM"
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value.trim())}
      className={`${CONTROL} w-20! text-center font-mono text-[13px]! tabular-nums`}
    />
  );
}

interface SessionRowProps extends Placed {
  /** "Monday", or "Monday 2" for a second session. */
  readonly name: string;
  readonly errorOf: (end: "open" | "close") => string | undefined;
  readonly onChange: (session: Session) => void;
  readonly onRemove: () => void;
}

function SessionRow({ name, session, index, errorOf, onChange, onRemove }: SessionRowProps) {
  const note = useId();
  const { open, close } = session;
  const openError = errorOf("open");
  // Whether a session closes late enough is unknown while it does not open.
  const closeError = openError === undefined ? errorOf("close") : undefined;
  const error = openError ?? closeError;
  return (
    <div className="max-w-72">
      <div className="flex items-center gap-1.5">
        <TimeField
          label={`${name} opens`}
          name={nameOf("week", index, "open")}
          value={open}
          error={openError}
          note={note}
          onChange={(next) => onChange({ ...session, open: next })}
        />
        <span className="text-ink-faint">–</span>
        <TimeField
          label={`${name} closes`}
          name={nameOf("week", index, "close")}
          value={close}
          error={closeError}
          note={note}
          onChange={(next) => onChange({ ...session, close: next })}
        />
        <Button kind="ghost" aria-label={`Remove ${name}, ${open} to ${close}`} onClick={onRemove} className="px-2.5!">
          <span aria-hidden="true">×</span>
        </Button>
      </div>
      {error === undefined ? null : (
        <p id={note} role="alert" className="mt-1 text-danger text-xs leading-5">
          {error}
        </p>
      )}
    </div>
  );
}

interface SessionsFormProps {
  readonly week: WeeklyDefinition["week"];
  /** What is wrong with the week as a whole. */
  readonly error: string | undefined;
  readonly errorAt: (index: number, end: "open" | "close") => string | undefined;
  readonly onChange: (week: WeeklyDefinition["week"]) => void;
}

/** The sessions of a week, day by day. */
export function SessionsForm({ week, error, errorAt, onChange }: SessionsFormProps) {
  const note = useId();
  const placed: readonly Placed[] = week.map((session, index) => ({ session, index }));
  const add = (day: number, last: Session | undefined) => {
    const times = last === undefined ? FIRST : { open: last.close === END_OF_DAY ? "" : last.close, close: END_OF_DAY };
    onChange([...week, { day: day as Session["day"], ...times }].toSorted((a, b) => a.day - b.day));
  };
  return (
    <>
      {error === undefined ? null : (
        <p id={note} role="alert" className="text-danger text-xs leading-5">
          {error}
        </p>
      )}
      <ul
        aria-describedby={error === undefined ? undefined : note}
        className="divide-y divide-line rounded-md border border-line"
      >
        {DAY_NAMES.map((name, day) => {
          const own = placed.filter(({ session }) => session.day === day);
          return (
            <li
              key={name}
              className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5 px-3 py-2 sm:grid-cols-[7rem_minmax(0,1fr)_auto]"
            >
              <div className="self-center">
                <p className="font-medium text-sm leading-6">{name}</p>
                <DayLine sessions={own} />
              </div>
              <div className="flex flex-wrap items-start gap-x-4 gap-y-2 max-sm:order-3 max-sm:col-span-2">
                {own.length === 0 ? <p className="py-1.5 text-ink-faint text-sm leading-6">Closed</p> : null}
                {own.map(({ session, index }, place) => (
                  <SessionRow
                    key={index}
                    name={place === 0 ? name : `${name} ${place + 1}`}
                    session={session}
                    index={index}
                    errorOf={(end) => errorAt(index, end)}
                    onChange={(next) => onChange(week.with(index, next))}
                    onRemove={() => onChange(week.toSpliced(index, 1))}
                  />
                ))}
              </div>
              <Button kind="ghost" aria-label={`Add a session on ${name}`} onClick={() => add(day, own.at(-1)?.session)}>
                Add
              </Button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
