import Link from "next/link";
import { TIMEFRAMES } from "#lib/contract/primitives";

interface Offer {
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly link: string;
}

/** What the service offers, one sentence each, with a link to it. */
const OFFERS: readonly Offer[] = [
  {
    title: "REST",
    text: `Quotes, snapshots and klines in ${TIMEFRAMES.length} timeframes. One response format, stable error codes, rate limits in every response header.`,
    href: "/openapi.json",
    link: "OpenAPI 3.1",
  },
  {
    title: "Streams",
    text: "WebSocket and Socket.IO with sequence numbers: a reconnecting client resumes where it left off, or learns which records it missed.",
    href: "/asyncapi.json",
    link: "AsyncAPI",
  },
  {
    title: "Market hours",
    text: "Open, closed, stale or late, and why. Includes holidays, early closes, and the next open and close.",
    href: "/status",
    link: "Current status",
  },
  {
    title: "Agents",
    text: "The same operations as Model Context Protocol tools, with the same API key and rate limits.",
    href: "/docs/mcp",
    link: "Connect to /mcp",
  },
];

/** The tools that people already work with. */
const TOOLS = [
  { name: "Python", href: "/docs/python" },
  { name: "TypeScript", href: "/docs/clients" },
  { name: "Spreadsheets", href: "/docs/spreadsheets" },
  { name: "TradingView and lightweight-charts", href: "/docs/charts" },
];
const OPERATOR_TOOLS = [{ name: "Prometheus and Grafana", href: "/docs/operate" }];

/** The four interfaces, side by side, and the tools to use them from: those of operators too where these read it. */
export function Offers({ forOperators }: { forOperators: boolean }) {
  return (
    <section aria-label="What it offers" className="mt-12 sm:mt-14">
      <ul className="grid gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-2 lg:grid-cols-4">
        {OFFERS.map(({ title, text, href, link }) => (
          <li key={title} className="flex flex-col bg-surface p-5">
            <h2 className="font-medium">{title}</h2>
            <p className="mt-2 flex-1 text-ink-soft text-sm leading-6">{text}</p>
            <p className="mt-4 text-sm">
              <a href={href} className="text-accent underline">
                {link}
              </a>
            </p>
          </li>
        ))}
      </ul>
      <div className="mt-4 flex flex-wrap items-baseline gap-x-4 gap-y-1 text-ink-soft text-sm leading-6">
        <h2>Use it from</h2>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {[...TOOLS, ...(forOperators ? OPERATOR_TOOLS : [])].map(({ name, href }) => (
            <li key={name}>
              <Link prefetch={false} href={href} className="text-accent underline">
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
