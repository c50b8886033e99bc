import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

/** Too short to say anything of speed. */
const SHORTEST = { seconds: 0.05, rounds: 1, warmUpCpuS: 0.01 };

interface Measured {
  readonly id: string;
  readonly own: number;
  readonly beside: number;
}

test.each(["rest", "fanout"])("the bench %s measures the service and all that stands beside it", async (name) => {
  const runner = fork("server/bench/runner.ts", { execArgv: ["--import", "tsx"] });
  try {
    runner.send({ id: 1, method: "run", argument: { name, effort: SHORTEST } });
    const [{ result, error }] = (await once(runner, "message")) as [{ result: Measured[]; error?: string }];
    expect(error).toBeUndefined();
    expect(result.length).toBeGreaterThan(5);
    for (const { id, own, beside } of result) {
      expect(own, id).toBeGreaterThan(0);
      expect(beside, id).toBeGreaterThan(0);
    }
  } finally {
    runner.kill();
  }
});
