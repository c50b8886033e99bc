"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import { useState } from "react";
import type { Instrument } from "#lib/contract/instrument";
import type { StreamName, Timeframe } from "#lib/contract/primitives";
import { urlOf } from "#lib/docs/samples/call";
import type { RestCall, StreamCall } from "#lib/docs/samples/index";
import { type Credential, type OwnKey, PAGE_CREDENTIAL } from "../portal/credential";
import { Prose } from "../ui/prose";
import { Skeleton } from "../ui/skeleton";
import { AnswerView } from "./answer-view";
import { CodePanel } from "./code-panel";
import { CurlImportButton } from "./curl-import";
import { credentialOf, KeySelect } from "./key-select";
import type { PlayOperation, Start, StreamOperation, Values } from "./model";
import { OperationList } from "./operation-list";
import { PastCalls } from "./past-calls";
import { RequestBar } from "./request-bar";
import { RequestForm } from "./request-form";
import { SavedRequests, useSavedRequests } from "./saved-requests";
import { linkTo } from "./share";
import { corrected } from "./trouble-correction";
import { Notes } from "./trouble-notice";
import { useChosenKey } from "./use-chosen-key";
import { useInstruments } from "./use-instruments";
import { usePlayground } from "./use-playground";

// Loaded when a stream is chosen.
const StreamConsole = dynamic(() => import("./stream-console").then((module) => module.StreamConsole), {
  ssr: false,
  loading: () => <Skeleton className="h-96 w-full" />,
});

interface PlaygroundProps {
  readonly operations: readonly [PlayOperation, ...PlayOperation[]];
  readonly start: Start;
  /** Base URL of the service, without a trailing slash. */
  readonly base: string;
  readonly demoKey: string | undefined;
  readonly keys: readonly OwnKey[];
  /** The id of the key that the link of this page names, or that of the demo key. */
  readonly linkedKey: string | undefined;
  /** The id of the key to begin with, unless the reader has chosen one. */
  readonly firstKey: string | undefined;
  /** The slug of the live venue's provider; null where there is none. */
  readonly provider: string | null;
  readonly signedIn: boolean;
}

const isStream = (operation: PlayOperation): operation is StreamOperation => operation.method === "STREAM";

/** The call of the form for the code samples. Only the public demo key is printed. */
function sampleOf(
  operation: PlayOperation,
  values: Values,
  base: string,
  credential: Credential | undefined,
): RestCall | StreamCall {
  const key = credential?.kind === "demo" ? credential.key : null;
  if (!isStream(operation)) return { operation, parameters: values, base, key };
  const tickers = (values.tickers ?? "").split(",").map((ticker) => ticker.trim());
  const timeframe = values.timeframe === undefined || values.timeframe === "" ? {} : { timeframe: values.timeframe as Timeframe };
  return { operation, parameters: { stream: operation.stream as StreamName, tickers, ...timeframe }, base, key };
}

/** The credential of the chart beside an answer: where pages read the sandbox themselves, only the call spends the key. */
function chartCredential(credential: Credential | undefined, demoKey: string | undefined): Credential | undefined {
  if (demoKey === undefined || credential === undefined) return credential;
  return credential.kind === "own" && credential.key.venue === "live" ? credential : PAGE_CREDENTIAL;
}

const digitsOf = (instruments: readonly Instrument[] = []) => new Map(instruments.map(({ ticker, digits }) => [ticker, digits]));

/** What an operation does, and what a call with the form's values costs. */
function OperationHead({ operation, units }: { operation: PlayOperation; units: number | undefined }) {
  return (
    <div>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 className="font-medium text-lg leading-7 tracking-tight">{operation.title}</h2>
        <Link prefetch={false} href={operation.docs} className="text-accent text-sm underline">
          Docs
        </Link>
      </div>
      <p className="mt-1 text-ink-soft text-sm leading-6">
        <Prose text={operation.description} />
      </p>
      {isStream(operation) ? null : (
        <p aria-live="polite" className="mt-1 text-ink-faint text-sm leading-6">
          {units === undefined
            ? "Its cost depends on valid values."
            : `Costs ${units === 1 ? "1 unit" : `${units} units`} of the rate limit.`}
        </p>
      )}
    </div>
  );
}

/** Tries every operation and every stream of the running service. */
export function Playground({ operations, start, base, demoKey, keys, linkedKey, firstKey, provider, signedIn }: PlaygroundProps) {
  const play = usePlayground(operations, start);
  const { operation, values, bearers } = play;
  const store = useSavedRequests();
  const [chosen, choose] = useChosenKey({ demoKey, keys, linkedKey, firstKey, scope: operation.scope });
  const [credentials] = useState(() => new Map<string, Credential | undefined>());
  if (!credentials.has(chosen)) credentials.set(chosen, credentialOf({ demoKey, keys, chosen }));
  const credential = credentials.get(chosen);
  const list = operations.find(({ id }) => id === "instruments") ?? operations[0];
  const { instruments, want } = useInstruments(
    list.path,
    bearers,
    chosen,
    // The demo key reads what pages do. A key of the reader's own may read less.
    credential?.kind === "demo" ? PAGE_CREDENTIAL : credential,
  );
  const klineStream = operations.filter(isStream).find(({ stream }) => stream === "kline");
  const rest = isStream(operation) ? undefined : operation;
  const urlWith = (parameters: Values) =>
    rest === undefined ? operation.path : urlOf({ operation: rest, parameters, base: "", key: null });
  const url = urlWith(values);
  const runWith = (given: Values) => {
    if (rest !== undefined && credential !== undefined) play.run(rest, given, urlWith(given), credential);
  };
  const run = () => runWith(values);
  const sendWith = (name: string, value: string) => {
    play.change(name, value);
    runWith({ ...values, [name]: value });
  };
  const { answered } = play;
  const past = (
    <>
      <SavedRequests store={store} operation={operation} values={values} onReopen={play.reopen} />
      <PastCalls operations={operations} calls={play.past.calls} onReopen={play.reopen} onClear={play.past.clear} />
    </>
  );
  return (
    <div className="grid items-start gap-x-8 gap-y-4 lg:grid-cols-[12rem_minmax(0,1fr)]">
      <div className="min-w-0">
        <OperationList operations={operations} chosen={operation.id} onChoose={play.choose} />
        <div className="max-lg:hidden">{past}</div>
      </div>
      <div className="min-w-0">
        <RequestBar
          operation={operation}
          url={url}
          link={base + linkTo(operation, values)}
          busy={play.busy}
          ready={credential !== undefined}
        />
        <div className="mt-6 grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)] xl:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
          <div className="flex min-w-0 flex-col gap-5">
            <OperationHead operation={operation} units={play.checked.units} />
            <div className="-mx-2 -my-3">
              <CurlImportButton
                operations={operations}
                onImport={({ operation: found, values: given, notices }) => play.take(found, given, notices)}
              />
            </div>
            <Notes notes={play.notices.map((text) => ({ text }))} />
            <RequestForm
              operation={operation}
              values={values}
              instruments={instruments}
              issues={play.checked.issues}
              onInstrumentsWanted={want}
              onChange={play.change}
              onSubmit={run}
              head={
                <KeySelect
                  demoKey={demoKey}
                  keys={keys}
                  signedIn={signedIn}
                  provider={provider}
                  chosen={chosen}
                  scope={operation.scope}
                  onChoose={choose}
                />
              }
            />
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <div className="max-lg:order-last">
              <CodePanel call={sampleOf(operation, values, base, credential)} />
            </div>
            {rest === undefined || klineStream === undefined ? (
              <StreamConsole
                key={chosen}
                operation={operation as StreamOperation}
                values={values}
                bearers={bearers}
                credential={credential}
              />
            ) : (
              <AnswerView
                operation={rest}
                outcome={answered?.outcome}
                previous={answered !== undefined && (answered.url !== url || answered.credential !== credential)}
                kept={play.kept}
                digits={digitsOf(instruments)}
                target={sampleOf(operation, values, base, credential)}
                busy={play.busy}
                again={run}
                onCorrect={(correction) =>
                  sendWith(correction.parameter, corrected(values[correction.parameter] ?? "", correction))
                }
                live={{
                  bearers,
                  credential,
                  chart: chartCredential(credential, demoKey),
                  onTimeframe: (timeframe) => sendWith("timeframe", timeframe),
                }}
              />
            )}
          </div>
          <div className="lg:hidden">{past}</div>
        </div>
      </div>
    </div>
  );
}
