import Link from "next/link";

/** What readers use today, in the order of `others`. */
const KINDS = ["A hosted API", "Your own script"] as const;

const ROWS: readonly { readonly what: string; readonly here: string; readonly others: readonly [string, string] }[] = [
  {
    what: "A stream goes quiet",
    here: "Heartbeats name each quiet ticker, why, and when it opens next",
    others: ["Silence: closed, or broken?", "Silence until you notice"],
  },
  {
    what: "Klines are missing",
    here: "The calendar says how many to expect, so a gap is never taken for a closed market",
    others: ["“No data” for both", "You compare with a calendar"],
  },
  {
    what: "REST and stream",
    here: "The same record, byte for byte",
    others: ["Other fields, and at times other values", "Whatever you wrote"],
  },
  {
    what: "Testing each state",
    here: "Ten test tickers, one for each state, 24/7",
    others: ["A symbol that is always open, at best", "You wait for the weekend"],
  },
  {
    what: "Keys and a portal",
    here: "Included: keys, limits, logs and docs, also for your users as far as your provider's terms allow",
    others: ["For you; your users need a licence", "You build them"],
  },
  {
    what: "Where data lives",
    here: "On your machine, and yours to download as Parquet files",
    others: ["On theirs, as your plan allows", "On your machine"],
  },
  {
    what: "What you saw last month",
    here: "Every tick and version is kept: ask for the data as of any instant",
    others: ["Overwritten by corrections", "Overwritten by imports"],
  },
];

/** What the service does otherwise than what readers use today.
 * @param name what the service is called */
export function Comparison({ name }: { name: string }) {
  return (
    <section aria-labelledby="comparison" className="mt-12 sm:mt-14">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-2">
        <h2 id="comparison" className="font-semibold text-2xl tracking-tight">
          Why not a hosted API, or your own script?
        </h2>
        <Link prefetch={false} href="/docs/coming-from#facts-and-sources" className="text-accent text-sm underline">
          Facts, with names and sources
        </Link>
      </div>
      <div className="mt-5 overflow-hidden rounded-xl border border-line bg-surface">
        <table className="w-full text-left text-sm leading-6 max-md:block">
          <thead className="max-md:sr-only">
            <tr className="text-ink-faint">
              <td />
              <th scope="col" className="bg-accent/5 px-5 py-3 font-medium text-accent">
                {name}
              </th>
              {KINDS.map((kind) => (
                <th key={kind} scope="col" className="px-5 py-3 font-medium">
                  {kind}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="max-md:block">
            {ROWS.map(({ what, here, others }) => (
              <tr
                key={what}
                className="border-line border-t align-top max-md:block max-md:px-4 max-md:py-4 max-md:first:border-t-0"
              >
                <th scope="row" className="px-5 py-3 font-medium max-md:block max-md:p-0 md:w-48">
                  {what}
                </th>
                <td className="bg-accent/5 px-5 py-3 text-ink max-md:mt-1 max-md:block max-md:bg-transparent max-md:p-0">
                  {here}
                </td>
                {others.map((other, index) => (
                  <td key={KINDS[index]} className="px-5 py-3 text-ink-soft max-md:block max-md:p-0">
                    <span className="text-ink-faint md:hidden">{KINDS[index]}: </span>
                    {other}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
