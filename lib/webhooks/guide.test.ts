import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { StatusEvent, statusEventExample } from "#lib/contract/webhooks";
import { createSecret, signatureHeaders } from "./sign";

const GUIDE = readFileSync(path.join(import.meta.dirname, "../docs/guides/webhooks.mdx"), "utf8");
const sampleOf = (language: string) =>
  new RegExp(`^\`\`\`${language} [^\\n]*\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(GUIDE)?.[1] ?? "";

const secret = createSecret();
const body = JSON.stringify({ ...statusEventExample, text: "é" });
const signed = (nowMs = Date.now()) => signatureHeaders(secret, { id: "m1", body, nowMs });
/** Headers, body, and whether they are genuine. */
const CASES: readonly (readonly [Record<string, string>, string, boolean])[] = [
  [signed(), body, true],
  [{ ...signed(), "webhook-signature": `v1,AAAA ${signed()["webhook-signature"]}` }, body, true],
  [signed(), `${body} `, false],
  [{ ...signed(), "webhook-id": "m2" }, body, false],
  [{ ...signed(), "webhook-signature": "v1," }, body, false],
  [signed(Date.now() - 600_000), body, false],
  [signatureHeaders(createSecret(), { id: "m1", body, nowMs: Date.now() }), body, false],
  [{}, body, false],
];

test("the guide shows the example of the contract", () => {
  expect(JSON.parse(sampleOf("json") || (/^```json\n([\s\S]*?)^```$/m.exec(GUIDE)?.[1] ?? ""))).toEqual(
    StatusEvent.parse(statusEventExample),
  );
});

test("the TypeScript sample of the guide accepts what is signed, and nothing else", async () => {
  const { code } = await transform(sampleOf("ts"), { loader: "ts", format: "esm" });
  const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    isGenuine(secret: string, headers: Headers, body: string): boolean;
  };
  for (const [headers, text, genuine] of CASES) expect(isGenuine(secret, new Headers(headers), text)).toBe(genuine);
});

test.runIf(spawnSync("python3", ["--version"]).status === 0)(
  "the Python sample of the guide accepts what is signed, and nothing else",
  () => {
    const program = `import json, sys\n${sampleOf("python")}
cases = json.load(sys.stdin)
print(json.dumps([is_genuine(cases["secret"], headers, body.encode()) for headers, body, _ in cases["cases"]]))`;
    const { stdout, stderr } = spawnSync("python3", ["-c", program], {
      input: JSON.stringify({ secret, cases: CASES }),
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(CASES.map(([, , genuine]) => genuine));
  },
);
