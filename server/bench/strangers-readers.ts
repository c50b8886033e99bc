import autocannon from "autocannon";
import { answerCalls } from "./stream-calls";

/** Reads pages in loops over many connections, in a process of its own. */

interface Reading {
  readonly url: string;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

answerCalls({
  async read({ url, paths, connections, seconds }: Reading) {
    const headers = { "accept-encoding": "br" };
    const requests = paths.map((path) => ({ path, headers }));
    const result = await autocannon({ url, requests, connections, duration: seconds });
    return {
      perSecond: result.requests.total / result.duration,
      p99Ms: result.latency.p99,
      failed: result["5xx"] + result.errors,
    };
  },
});
