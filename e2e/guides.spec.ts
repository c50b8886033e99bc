import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installClient } from "./client-package";
import { makeKey } from "./commands";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const ROOT = path.join(import.meta.dirname, "..");
const GUIDES = path.join(ROOT, "lib", "docs", "guides");
const FENCE = /^```(?<language>bash|ts|python)(?<meta>[^\n]*)\n(?<code>[\s\S]*?)^```$/gm;
const DEMO_KEY = /sw_test_DEMO\w+/g;
const SAMPLE_MAX_MS = 180_000;

/** How a sample of each language runs. */
const RUNNERS = {
  bash: { extension: "sh", command: (file: string) => ["bash", "-euo", "pipefail", file] },
  // Types are stripped in one process: a compiler per sample would take most of the time.
  ts: { extension: "mjs", command: (file: string) => [process.execPath, file] },
  python: { extension: "py", command: (file: string) => ["python3", file] },
} as const;

interface Sample {
  readonly name: string;
  readonly language: keyof typeof RUNNERS;
  readonly code: string;
}

/** Every sample of the guides that can run unchanged. */
const samples = readdirSync(GUIDES)
  .filter((file) => file.endsWith(".mdx"))
  .flatMap((file) =>
    [...readFileSync(path.join(GUIDES, file), "utf8").matchAll(FENCE)].map(({ groups }, index): Sample & { run: boolean } => ({
      name: `${file.replace(".mdx", "")} ${index + 1} ${groups?.language}`,
      language: groups?.language as Sample["language"],
      code: groups?.code ?? "",
      run: !/\bnorun\b/.test(groups?.meta ?? ""),
    })),
  )
  .filter(({ run }) => run);

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
const isThere = { bash: hasCurl, ts: true, python: hasPython };

let product: Product;
let key: string;
let folder: string;

beforeAll(async () => {
  product = await startProduct();
  // The samples use the demo key; all of them in one minute exceed its limit.
  key = (await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" })).text;
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-guides-"));
  installClient(folder);
  for (const name of ["ws", "socket.io-client", "@msgpack"])
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(folder, "node_modules", name));
}, SERVER_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}, SERVER_TIMEOUT_MS);

interface Outcome {
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a sample as a reader would, against the service under test. */
async function run({ name, language, code }: Sample): Promise<Outcome> {
  const { extension, command } = RUNNERS[language];
  const file = path.join(folder, `${name.replaceAll(" ", "-")}.${extension}`);
  const { host } = new URL(product.baseUrl);
  const text = code.replaceAll("localhost:3000", host).replaceAll(DEMO_KEY, key);
  writeFileSync(file, language === "ts" ? (await transform(text, { loader: "ts", format: "esm" })).code : text);
  const [program = "", ...args] = command(file);
  const child = spawn(program, args, {
    cwd: folder,
    timeout: SAMPLE_MAX_MS,
    env: { NODE_ENV: "production", PATH: process.env.PATH, SPOTWIRE_KEY: key },
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, output, errors }));
  });
}

describe("the samples of the guides", () => {
  test("the guides have samples in three languages", () => {
    for (const language of Object.keys(RUNNERS))
      expect(samples.filter((sample) => sample.language === language).length).toBeGreaterThan(5);
  });

  for (const sample of samples)
    test.runIf(isThere[sample.language]).concurrent(
      `the sample ${sample.name} runs unchanged`,
      async ({ expect }) => {
        const { exitCode, output, errors } = await run(sample);
        expect(exitCode, output + errors).toBe(0);
        expect(output + errors).not.toBe("");
        // A sample about errors shows some; none shows an internal error or a rejected key.
        expect(output).not.toMatch(/"code":(401|500)\d\d/);
      },
      SAMPLE_MAX_MS + 5_000,
    );
});
