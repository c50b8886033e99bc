"use client";

import Link from "next/link";
import { wordsOf } from "#lib/check-words";
import type { HealthReport } from "#lib/contract/portal-health";
import type { Check } from "#lib/service-state";
import { queryOf } from "../portal/api";
import { Instant } from "../portal/time";
import { buttonClass } from "../ui/button";
import { checksOf, toneOf, worstFirst } from "./health-checks";

const LOOKS = {
  danger: { frame: "border-danger/60", word: "Problem", text: "text-danger" },
  warning: { frame: "border-warning/60", word: "Warning", text: "text-warning" },
} as const;

/** The form of an incident, with what is known of a problem: its cause, since when, and whom it concerns. */
function incidentLink({ name, impact, problems }: Check, since: string | undefined): string {
  const { title, concerns } = wordsOf(name);
  const text = [...problems, `Concerns: ${concerns}`].join("\n");
  return `/admin/incidents${queryOf({ title, text, impact, since })}`;
}

function Problem({ check, since, first }: { check: Check; since: string | undefined; first: boolean }) {
  const { title, concerns, next, path } = wordsOf(check.name);
  const tone = toneOf(check);
  const { word, text } = LOOKS[tone === "danger" ? "danger" : "warning"];
  const isPublic = check.impact !== "warning" && check.name !== "incident";
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
        {isPublic ? (
          <Link href={incidentLink(check, since)} className={buttonClass("secondary")}>
            Publish an incident
          </Link>
        ) : null}
      </div>
    </li>
  );
}

/** What is wrong, since when, whom it concerns, why, and what to do next: the worst first. Without a problem, what is still to be done. */
export function HealthBanner({ report }: { report: HealthReport }) {
  const wrong = worstFirst(checksOf(report));
  const [worst] = wrong;
  if (worst === undefined) {
    if (report.venues.some(({ venue, provider }) => venue === "live" && provider !== null)) return null;
    return (
      <div className="mb-8 flex flex-wrap items-center justify-between gap-4 rounded-xl border border-line bg-surface px-4 py-4 text-sm sm:px-5">
        <p>
          <span className="font-medium">No provider is bound.</span>{" "}
          <span className="text-ink-soft">The live venue has market hours, but no prices.</span>
        </p>
        <Link href="/admin/feeds" className={buttonClass("primary")}>
          Bind a provider
        </Link>
      </div>
    );
  }
  return (
    <ul
      aria-label="What is wrong"
      className={`mb-8 divide-y divide-line rounded-xl border bg-surface ${LOOKS[toneOf(worst) === "danger" ? "danger" : "warning"].frame}`}
    >
      {wrong.map((check) => (
        <Problem key={check.name} check={check} since={report.since[check.name]} first={check === worst} />
      ))}
    </ul>
  );
}
