import Link from "next/link";
import type { ReactNode } from "react";
import { SOCKET_IO_NAMESPACE, STREAM_PATH } from "#lib/contract/stream";
import { generate, type RestCall, type StreamCall } from "#lib/docs/samples/index";
import { operations } from "#lib/operations/declarations";
import type { OwnKey } from "../portal/credential";
import { ApiSample } from "./api-sample";

interface SampleProps {
  readonly title: string;
  readonly call: RestCall | StreamCall;
  /** Link to the playground with the same call. */
  readonly playground: string;
  readonly children: ReactNode;
}

function Sample({ title, call, playground, children }: SampleProps) {
  return (
    <div className="flex min-w-0 flex-col overflow-hidden rounded-xl border border-line bg-surface">
      <div className="flex items-start justify-between gap-4 p-4">
        <div>
          <h3 className="font-medium text-sm">{title}</h3>
          <p className="text-ink-soft text-sm leading-6">{children}</p>
        </div>
        <Link prefetch={false} href={playground} className="whitespace-nowrap text-accent text-sm leading-6 hover:underline">
          Open in playground
        </Link>
      </div>
      <ApiSample title={title} samples={generate(call).map(({ label, code }) => ({ label, code }))} />
    </div>
  );
}

interface SameByApiProps {
  readonly ticker: string;
  readonly base: string;
  /** The public demo key, to be printed; undefined where the call needs a key of the reader's own, whose text is not known here. */
  readonly demoKey: string | undefined;
  /** The reader's own key, for the playground. */
  readonly ownKey: OwnKey | undefined;
}

/** The klines and prices of a market's page as calls, in the reader's language. */
export function SameByApi({ ticker, base, demoKey, ownKey }: SameByApiProps) {
  const key = demoKey ?? null;
  const own = ownKey === undefined ? "" : `&key=${ownKey.id}`;
  const stream = { method: "STREAM", path: STREAM_PATH, namespace: SOCKET_IO_NAMESPACE } as const;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <Sample
        title="Klines"
        call={{ operation: operations.klines, base, key, parameters: { ticker, timeframe: "H1", limit: "150" } }}
        playground={`/playground?op=klines&ticker=${ticker}&timeframe=H1&limit=150${own}`}
      >
        The candles of the chart.
      </Sample>
      <Sample
        title="Streaming prices"
        call={{ operation: stream, base, key, parameters: { stream: "snapshot", tickers: [ticker] } }}
        playground={`/playground?op=snapshotStream&tickers=${ticker}${own}`}
      >
        Each change of the quote, with the figures of the day.
      </Sample>
    </div>
  );
}
