import Link from "next/link";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { PathOf } from "./venue-notice";

const LABELS: Record<Venue, string> = { sandbox: "Sandbox", live: "Live" };

/** Changes the venue of a page. The choice is in the address. */
export function VenueSwitch({ venue, pathOf, ticker }: { venue: Venue; pathOf: PathOf; ticker?: string }) {
  return (
    <nav aria-label="Venue">
      <ul className="flex rounded-md border border-line p-0.5">
        {[...VENUES].reverse().map((one) => (
          <li key={one}>
            <Link
              prefetch={false}
              href={pathOf(one, ticker)}
              aria-current={one === venue ? "true" : undefined}
              className="flex min-h-8 pointer-coarse:min-h-11 items-center rounded px-3 text-ink-soft text-sm hover:text-ink aria-[current]:bg-line aria-[current]:text-ink"
            >
              {LABELS[one]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
