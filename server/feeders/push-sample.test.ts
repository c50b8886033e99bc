import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FeederService, startFeederService } from "#server/testing/mt5/feeder-service";

const GUIDE = readFileSync("lib/docs/guides/self-hosting.mdx", "utf8");
const [, SAMPLE = ""] = /^```python norun\n(.*?)^```$/ms.exec(GUIDE) ?? [];

describe("the Python sample of the guide, run against the service,", () => {
  let service: FeederService;

  beforeAll(async () => {
    service = await startFeederService();
  });
  afterAll(() => service?.close());

  /** Runs the sample with these lines as its input; returns its exit code and all that it says. */
  async function push(lines: readonly string[], key = service.key) {
    const program = SAMPLE.replaceAll("http://localhost:3000", service.url);
    const child = spawn("env", [`SPOTWIRE_KEY=${key}`, "python3", "-c", program]);
    child.stdin.end(lines.map((line) => `${line}\n`).join(""));
    const code = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, said, errors };
  }
  const ticksAt = (startMs: number) =>
    [1.085, 1.086, 1.087].map((bid, index) => ({ ticker: "EURUSD", time_msc: startMs + index, bid, ask: 1.0881 }));

  test("pushes each tick once, through a lost answer, a broken connection and an error", async () => {
    const ticks = ticksAt(service.nextScene());
    const faults = ["lost", "broken", { status: 503, retryAfterS: 0 }] as const;
    let asked = 0;
    service.fail(() => faults[asked++]);
    const { code, said } = await push(ticks.map((tick) => JSON.stringify(tick)));
    expect(code).toBe(0);
    expect(service.taken).toMatchObject(ticks);
    expect(service.requests).toHaveLength(ticks.length + faults.length);
    // The first was taken before its answer was lost.
    expect(said).toBe("1 rejected: {'duplicate': 1}\n");
  });

  test("names what is rejected, and ends when the key is refused", async () => {
    const [tick] = ticksAt(service.nextScene());
    expect(await push(["nonsense", JSON.stringify({ ...tick, ticker: "NOSUCH" })])).toEqual({
      code: 0,
      said: "1 rejected: {'malformed_line': 1}\n1 rejected: {'unknown_ticker': 1}\n",
      errors: "",
    });
    const refused = await push([JSON.stringify(tick)], "sw_live_unknown");
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("unauthorized")]);
    expect(service.taken).toEqual([]);
  });
});
