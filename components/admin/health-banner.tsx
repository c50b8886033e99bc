"use client";

import Link from "next/link";
import { wordsOf } from "#lib/check-words";
import type { HealthReport } from "#lib/contract/portal-health";
import type { IncidentNote } from "#lib/contract/uptime";
import { type Check, isCurrent, partOf } from "#lib/service-state";
import { queryOf } from "../portal/api";
import { Instant } from "../portal/time";
import { buttonClass } from "../ui/button";
import { checksOf, liveStep, toneOf, worstFirst } from "./health-checks";

const LOOKS = {
  danger: { frame: "border-danger/60", word: "Problem", text: "text-danger" },
  warning: { frame: "border-warning/60", word: "Warning", text: "text-warning" },
} as const;

/** The form of a note. */
const noteLink = (id: string) => `/admin/incidents${queryOf({ note: id })}`;

/** The form of an incident, with what is known of a problem: its cause, since when, and whom it concerns. */
function incidentLink({ name, impact, problems }: Check, since: string | undefined): string {
  const { title, incident = title, concerns } = wordsOf(name);
  const text = [...problems, `Concerns: ${concerns}`].join("\n");
  return `/admin/incidents${queryOf({ title: incident, text, impact, since, part: partOf(name) ?? undefined })}`;
}

interface ProblemProps {
  readonly check: Check;
  readonly since: string | undefined;
  /** The incident that tells readers of it. */
  readonly told: IncidentNote | undefined;
  readonly first: boolean;
}

function Problem({ check, since, told, first }: ProblemProps) {
  const { title, concerns, next, path } = wordsOf(check.name);
  const tone = toneOf(check);
  const { word, text } = LOOKS[tone === "danger" ? "danger" : "warning"];
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 px-4 py-4 sm:px-5">
      <div className="min-w-0 text-sm leading-6">
        <p className={`font-medium ${first ? "text-base" : ""}`}>
          <span className={text}>{word}:</span> {title}
          <span className="font-normal text-ink-faint">
            {since === undefined ? (
              ", since less than a minute"
            ) : (
              <>
                {" "}
                since <Instant at={since} />
              </>
            )}
          </span>
        </p>
        {check.problems.map((problem) => (
          <p key={problem} className="max-w-prose [overflow-wrap:anywhere]">
            {problem}
          </p>
        ))}
        <p className="text-ink-soft">Concerns: {concerns}</p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Link href={path} className={buttonClass(first ? "primary" : "secondary")}>
          {next}
        </Link>
        {check.impact === "warning" ? null : (
          <Link href={told === undefined ? incidentLink(check, since) : noteLink(told.id)} className={buttonClass("secondary")}>
            {told === undefined ? "Publish an incident" : "Update the incident"}
          </Link>
        )}
      </div>
    </li>
  );
}

/** What an operator told readers of the status page, which nobody ends but them. */
function Told({ note: { title, starts_at } }: { note: IncidentNote }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-4 py-4 sm:px-5">
      <div className="min-w-0 text-sm leading-6 [overflow-wrap:anywhere]">
        <p className="font-medium">
          Your note: {title}
          <span className="font-normal text-ink-faint">
            {" "}
            since <Instant at={starts_at} />
          </span>
        </p>
        <p className="text-ink-soft">The status page shows it until you end it.</p>
      </div>
      <Link href="/admin/incidents" className={buttonClass("secondary")}>
        Update or resolve it
      </Link>
    </li>
  );
}

/** What the live venue still needs. */
function NextStep({ step: { lacks, means, next }, first }: { step: NonNullable<ReturnType<typeof liveStep>>; first: boolean }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-4 py-4 sm:px-5">
      <div className="min-w-0 text-sm leading-6">
        <p className={`font-medium ${first ? "text-base" : ""}`}>{lacks}</p>
        <p className="text-ink-soft">{means}</p>
      </div>
      <Link href="/admin/feeds" className={buttonClass(first ? "primary" : "secondary")}>
        {next}
      </Link>
    </li>
  );
}

/**
 * What is wrong, since when, whom it concerns, why, and what to do next: the worst first. What the live venue still needs comes before
 * warnings, and what operators said of problems that are none any more, last.
 */
export function HealthBanner({ report }: { report: HealthReport }) {
  const checks = checksOf(report);
  const wrong = worstFirst(checks);
  const step = liveStep(checks);
  const current = report.notes.filter((note) => isCurrent(note, report.at_ms));
  const toldOf = ({ name }: Check) => current.find(({ part }) => part !== null && part === partOf(name));
  const told = current.filter(
    (note) => !note.automatic && note.impact !== "none" && !wrong.some((check) => toldOf(check) === note),
  );
  if (wrong.length === 0 && step === undefined && told.length === 0) return null;
  const failing = wrong.filter((check) => toneOf(check) === "danger");
  const warnings = wrong.slice(failing.length);
  const problem = (check: Check, first: boolean) => (
    <Problem key={check.name} check={check} since={report.since[check.name]} told={toldOf(check)} first={first} />
  );
  const frame = failing.length > 0 ? LOOKS.danger.frame : warnings.length > 0 ? LOOKS.warning.frame : "border-line";
  return (
    <ul aria-label="What to do" className={`mb-8 divide-y divide-line rounded-xl border bg-surface ${frame}`}>
      {failing.map((check, index) => problem(check, index === 0))}
      {step === undefined ? null : <NextStep step={step} first={failing.length === 0} />}
      {warnings.map((check, index) => problem(check, index === 0 && failing.length === 0 && step === undefined))}
      {told.map((note) => (
        <Told key={note.id} note={note} />
      ))}
    </ul>
  );
}
