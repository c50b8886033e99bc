"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import useSWR from "swr/immutable";
import type { StreamName, Timeframe } from "#lib/contract/primitives";
import { urlOf } from "#lib/docs/samples/call";
import type { RestCall, StreamCall } from "#lib/docs/samples/index";
import { Prose } from "../ui/prose";
import { Skeleton } from "../ui/skeleton";
import { AnswerView } from "./answer-view";
import { CodePanel } from "./code-panel";
import { credentialOf, DEMO, KeySelect } from "./key-select";
import type { Credential, OwnKey, PlayOperation, Start, StreamOperation, Values } from "./model";
import { OperationList } from "./operation-list";
import { PastCalls } from "./past-calls";
import { RequestBar } from "./request-bar";
import { RequestForm } from "./request-form";
import { readInstruments } from "./send";
import { linkTo } from "./share";
import { corrected } from "./trouble";
import { Notes } from "./trouble-notice";
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

function OperationHead({ operation }: { operation: PlayOperation }) {
  return (
    <div>
      <h2 className="font-medium text-lg leading-7 tracking-tight">{operation.title}</h2>
      <p className="mt-1 text-ink-soft text-sm leading-6">
        <Prose text={operation.description} />
      </p>
    </div>
  );
}

/** Tries every operation and every stream of the running service. */
export function Playground({ operations, start, base, demoKey, keys, signedIn }: PlaygroundProps) {
  const play = usePlayground(operations, start);
  const { operation, values, bearers } = play;
  const [chosen, setChosen] = useState(demoKey === undefined ? (keys[0]?.id ?? DEMO) : DEMO);
  const [credentials] = useState(() => new Map<string, Credential | undefined>());
  if (!credentials.has(chosen)) credentials.set(chosen, credentialOf({ demoKey, keys, chosen }));
  const credential = credentials.get(chosen);
  const list = operations.find(({ id }) => id === "instruments") ?? operations[0];
  const klineStream = operations.filter(isStream).find(({ stream }) => stream === "kline");
  const [wanted, setWanted] = useState(false);
  const instruments = useSWR(
    wanted && credential !== undefined ? ["instruments", chosen] : null,
    () => readInstruments(bearers, list.path, credential),
    { shouldRetryOnError: false },
  );
  // The list is loaded when a field first needs it, and again after a failure.
  const want = () => {
    setWanted(true);
    if (instruments.error !== undefined) void instruments.mutate();
  };
  const rest = isStream(operation) ? undefined : operation;
  const url = rest === undefined ? operation.path : urlOf({ operation: rest, parameters: values, base: "", key: null });
  const run = () => {
    if (rest !== undefined && credential !== undefined) play.run(rest, url, credential);
  };
  const past = <PastCalls operations={operations} calls={play.past.calls} onReopen={play.reopen} onClear={play.past.clear} />;
  return (
    <div className="grid items-start gap-x-8 gap-y-4 lg:grid-cols-[12rem_minmax(0,1fr)]">
      <div className="min-w-0">
        <OperationList operations={operations} chosen={operation.id} onChoose={play.choose} />
        <div className="max-lg:hidden">{past}</div>
      </div>
      <div className="min-w-0">
        <RequestBar
          {...{ operation, url }}
          link={base + linkTo(operation, values)}
          busy={play.busy}
          ready={credential !== undefined}
        />
        <div className="mt-6 grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)] xl:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
          <div className="flex min-w-0 flex-col gap-5">
            <OperationHead operation={operation} />
            <Notes notes={play.notices} />
            <RequestForm
              {...{ operation, values }}
              instruments={instruments.data}
              issues={play.issues}
              onInstrumentsWanted={want}
              onChange={play.change}
              onSubmit={run}
              head={<KeySelect {...{ demoKey, keys, signedIn, chosen }} scope={operation.scope} onChoose={setChosen} />}
            />
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <div className="max-lg:order-last">
              <CodePanel call={sampleOf(operation, values, base, credential)} />
            </div>
            {rest === undefined || klineStream === undefined ? (
              <StreamConsole key={chosen} operation={operation as StreamOperation} {...{ values, bearers, credential }} />
            ) : (
              <AnswerView
                operation={rest}
                outcome={play.outcome}
                busy={play.busy}
                again={run}
                onCorrect={(correction) =>
                  play.change(correction.parameter, corrected(values[correction.parameter] ?? "", correction))
                }
                live={{ bearers, credential, stream: klineStream }}
              />
            )}
          </div>
          <div className="lg:hidden">{past}</div>
        </div>
      </div>
    </div>
  );
}
