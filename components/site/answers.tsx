import Link from "next/link";

const ANSWERS = [
  {
    question: "What is it?",
    answer:
      "A server between your data provider and your apps. It takes in ticks, and serves quotes, klines, market hours and streams to anyone with one of your API keys: your own programs, your team, or your customers.",
    href: "/docs/quickstart",
    link: "Get a first response",
  },
  {
    question: "What does it cost to run?",
    answer:
      "One machine with two cores and 1 GB of memory is enough to start, PostgreSQL included. You pay for that machine and for your provider's data. Add nodes when one is not enough.",
    href: "/docs/performance",
    link: "See what was measured",
  },
  {
    question: "How do I connect my data?",
    answer:
      "Name a provider in one setting (OANDA, cTrader, FIX and others), run the feeder for MetaTrader 5, or post ticks over HTTP. Import history from HistData, Dukascopy, MetaTrader, CSV or Parquet.",
    href: "/docs/self-hosting#provider",
    link: "Connect a provider",
  },
] as const;

/** Three questions of somebody who may run the service. */
export function Answers() {
  return (
    <section aria-label="Questions" className="mt-12 sm:mt-14">
      <dl className="grid gap-8 lg:grid-cols-3">
        {ANSWERS.map(({ question, answer, href, link }) => (
          <div key={question}>
            <dt>
              <h2 className="font-medium">{question}</h2>
            </dt>
            <dd className="mt-2 text-pretty text-ink-soft text-sm leading-6">
              {answer}{" "}
              <Link prefetch={false} href={href} className="whitespace-nowrap text-accent underline">
                {link}
              </Link>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
