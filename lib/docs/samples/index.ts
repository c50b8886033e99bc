import type { RestCall, Sample, StreamCall } from "./call";
import { csharp } from "./csharp";
import { csharpStream } from "./csharp-stream";
import { curl } from "./curl";
import { go } from "./go";
import { goStream } from "./go-stream";
import { java } from "./java";
import { javaStream } from "./java-stream";
import { node } from "./node";
import { php } from "./php";
import { phpStream } from "./php-stream";
import { python } from "./python";
import { pythonStream } from "./python-stream";
import { rust } from "./rust";
import { rustStream } from "./rust-stream";
import { socketIo } from "./socket-io";
import { typescript } from "./typescript";
import { wscat } from "./wscat";

export type { RestCall, StreamCall } from "./call";

/** Languages of REST calls, in the order they are offered. */
export const REST_SAMPLES: readonly Sample<RestCall>[] = [curl, typescript, python, go, java, csharp, rust, php];
/** Ways to follow a stream, in the order they are offered. */
export const STREAM_SAMPLES: readonly Sample<StreamCall>[] = [
  wscat,
  node,
  pythonStream,
  goStream,
  javaStream,
  csharpStream,
  rustStream,
  phpStream,
  socketIo,
];

const isStream = (call: RestCall | StreamCall): call is StreamCall => call.operation.method === "STREAM";

/** A call in one language: what is to be installed, and the code. */
interface PrintedSample {
  readonly id: string;
  readonly label: string;
  readonly install?: string;
  readonly code: string;
}

/** The call in every language it is offered in. */
export function generate(call: RestCall | StreamCall): readonly PrintedSample[] {
  const printed = <Call>({ generate: print, ...sample }: Sample<Call>, one: Call) => ({ ...sample, code: print(one) });
  return isStream(call)
    ? STREAM_SAMPLES.map((sample) => printed(sample, call))
    : REST_SAMPLES.map((sample) => printed(sample, call));
}
