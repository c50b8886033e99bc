import { execFile } from "node:child_process";
import path from "node:path";
import { describe, expect, test } from "vitest";

interface Outcome {
  readonly code: number;
  readonly lines: readonly { readonly level: string; readonly msg: string; readonly [field: string]: unknown }[];
}

/** Runs a process that prints in this way; fails unless each line on both streams is JSON. */
function printed(way: string): Promise<Outcome> {
  const script = path.resolve("server/testing/printing-process.ts");
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["--import", "tsx", script, way], (error, stdout, stderr) => {
      try {
        const lines = `${stdout}${stderr}`.split("\n").filter(Boolean);
        resolve({ code: Number(error?.code ?? 0), lines: lines.map((line) => JSON.parse(line) as Outcome["lines"][number]) });
      } catch {
        reject(new Error(`not JSON lines:\n${stdout}${stderr}`));
      }
    });
  });
}

describe("the output of a process of the service", () => {
  test.each([
    ["an object on the console", "object", "error", /^⨯ \{[\s\S]*row 99/],
    ["an error on the console", "error", "error", /^Error: of a page\n\s+at /],
    ["progress with colours", "progress", "info", /^✓ Running next\.config\.ts$/],
    ["lines on standard error", "stream", "error", /^one\ntwo$/],
    ["a warning of Node", "warning", "warn", /^old$/],
    ["a print of a thread", "thread", "error", /^from a thread\nof two lines$/],
  ])("%s is one JSON line", async (_what, way, level, words) => {
    const { code, lines } = await printed(way);
    expect(code).toBe(0);
    expect(lines).toEqual([expect.objectContaining({ level, msg: expect.stringMatching(words), service: "spotwire" })]);
  });

  test.each([
    ["an uncaught error", "thrown", "SyntaxError"],
    ["an unhandled rejection", "rejected", "TypeError"],
  ])("%s is one JSON line with its stack, and ends the process with code 1", async (_what, way, type) => {
    const { code, lines } = await printed(way);
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.objectContaining({ level: "fatal", err: expect.objectContaining({ type, stack: expect.any(String) }) }),
    ]);
  });

  test("what a child prints while it dies of exhausted memory is JSON lines of its parent", async () => {
    const { lines } = await printed("child");
    expect(lines.map(({ msg }) => msg).join("\n")).toContain("heap out of memory");
    expect(new Set(lines.map((line) => line.process))).toEqual(new Set(["child"]));
  });
});
