import Link from "next/link";
import { marketPath } from "#lib/contract/markets";
import { VENUES, type Venue } from "#lib/contract/primitives";

const LABELS: Record<Venue, string> = { sandbox: "Sandbox", live: "Live" };

/** Changes the venue of a page of the markets. The choice is in the address. */
export function VenueSwitch({ venue, ticker }: { venue: Venue; ticker?: string }) {
  return (
    <nav aria-label="Venue">
      <ul className="flex rounded-md border border-line p-0.5">
        {[...VENUES].reverse().map((one) => (
          <li key={one}>
            <Link
              prefetch={false}
              href={marketPath(one, ticker)}
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
