import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cacheFolder } from "#lib/testing/cache-folder";
import { run } from "#lib/testing/packages";
import { makeKey } from "./commands";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const GUIDE = readFileSync(new URL("../lib/docs/guides/generate-a-client.mdx", import.meta.url), "utf8");
/** What npm has installed stays here from run to run. */
const CACHE = cacheFolder("generators");
const TYPESCRIPT = resolve("node_modules/typescript/bin/tsc");
const INSTALL_MAX_MS = 240_000;
const RUN_MAX_MS = 180_000;
const FENCE = /^```(?<language>\w+)[^\n]*\n(?<code>[\s\S]*?)^```$/gm;
const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2022", "dom", "dom.iterable"],
  },
  files: ["main.ts"],
};

/** A chapter of the guide: what it types into a shell, and its files, which name themselves in their first lines. */
interface Recipe {
  readonly name: string;
  readonly installs: readonly string[];
  readonly generates: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

/** The commands at the top of the guide, with which every recipe starts. */
const [introduction = "", ...chapters] = GUIDE.split(/^## /m);
const commandsOf = (text: string) =>
  [...text.matchAll(FENCE)].flatMap(({ groups }) => (groups?.language === "bash" ? groups.code?.trim().split("\n") : []) ?? []);
const RECIPES: readonly Recipe[] = chapters
  .filter((chapter) => commandsOf(chapter).length > 0)
  .map((chapter) => {
    const commands = commandsOf(chapter);
    const files = [...chapter.matchAll(FENCE)].flatMap(({ groups: { code = "" } = {} }) => {
      const [, file] = /^\/\/ (\S+)\n/.exec(code) ?? [];
      return file === undefined ? [] : [[file, code] as const];
    });
    return {
      name: chapter.split("\n")[0] ?? "",
      installs: [...commandsOf(introduction), ...commands.filter((line) => line.startsWith("npm "))],
      generates: commands.filter((line) => line.startsWith("npx ")),
      files: Object.fromEntries(files),
    };
  });

let product: Product;
let key: string;

beforeAll(async () => {
  product = await startProduct(API_ONLY);
  key = (await makeKey(product, { venue: "sandbox", scopes: "market:read" })).text;
}, SERVER_TIMEOUT_MS);
afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

/** Text of the guide with the address and a key of the service under test, as a reader sees those of the service he reads it on. */
const shown = (text: string) => text.replaceAll("http://localhost:3000", product.baseUrl).replaceAll(/sw_test_DEMO\w+/g, key);
/** Runs a line in a folder; no generator reports that to its authors. */
const shell = (folder: string, line: string) => ["-c", `cd "$0" && export DO_NOT_TRACK=1 && ${line}`, folder];
const withDefaults = (line: string) => line.replace(/^npm install/, "npm install --no-audit --no-fund --prefer-offline");

/** Installs what a recipe needs, once for the same commands. @returns null, or why it cannot be had */
async function install(folder: string, { installs }: Pick<Recipe, "installs">): Promise<string | null> {
  if (existsSync(join(folder, "installed"))) return null;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const failure = await run("sh", shell(folder, installs.map(withDefaults).join(" && ")), INSTALL_MAX_MS);
  if (failure === null) writeFileSync(join(folder, "installed"), "");
  return failure;
}

const MODELINA_VERSION = "5.10.1";
/** Generates types of all messages of the streams, and prints their names. */
const MODELINA = {
  installs: ["npm init --yes", `npm install @asyncapi/modelina@${MODELINA_VERSION}`],
  script: `import { TypeScriptGenerator } from "@asyncapi/modelina";
const document = await (await fetch(process.argv[2])).json();
console.log(JSON.stringify((await new TypeScriptGenerator().generate(document)).map(({ modelName }) => modelName)));`,
};

test("Modelina finds a name for every type of the streams", { timeout: INSTALL_MAX_MS + RUN_MAX_MS }, async ({ skip }) => {
  const folder = join(CACHE, `modelina-${MODELINA_VERSION}`);
  const failure = await install(folder, MODELINA);
  skip(failure !== null, `npm could not install it: ${failure}`);
  writeFileSync(join(folder, "names.mjs"), MODELINA.script);
  const address = `${product.baseUrl}/asyncapi.json`;
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "names.mjs"), address], { timeout: RUN_MAX_MS });
  const names = JSON.parse(stdout) as string[];
  expect(names).toEqual(expect.arrayContaining(["QuoteMessage", "SubscribeParams", "Timeframe"]));
  expect(names.filter((name) => /anonymous/i.test(name))).toEqual([]);
});

test("the guide has a recipe for each of four generators, with exact versions", () => {
  expect(RECIPES.map(({ name }) => name)).toEqual(["openapi-typescript", "Hey API", "Orval", "Kubb"]);
  for (const { installs } of RECIPES)
    for (const line of installs.filter((one) => one.startsWith("npm install")))
      for (const name of line
        .split(" ")
        .slice(2)
        .filter((word) => !word.startsWith("-")))
        expect(name).toMatch(/.@\d+\.\d+\.\d+$/);
});

describe.each(RECIPES.map((recipe) => [recipe.name, recipe] as const))("a client generated with %s", (_, recipe) => {
  const hash = createHash("sha256").update(recipe.installs.join("\n")).digest("hex").slice(0, 16);
  const folder = join(CACHE, hash);

  test("is made from the running service, passes the strict compiler, and reads two quotes", {
    timeout: INSTALL_MAX_MS + 3 * RUN_MAX_MS,
  }, async ({ skip }) => {
    const failure = await install(folder, recipe);
    skip(failure !== null, `npm could not install it: ${failure}`);
    for (const made of ["client", "client.ts", "schema.d.ts"]) rmSync(join(folder, made), { recursive: true, force: true });
    for (const [file, code] of Object.entries(recipe.files)) writeFileSync(join(folder, file), shown(code));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(STRICT));
    for (const line of recipe.generates) expect(await run("sh", shell(folder, shown(line)), RUN_MAX_MS)).toBeNull();
    expect(await run(process.execPath, [TYPESCRIPT, "--project", folder], RUN_MAX_MS)).toBeNull();
    const printed = await promisify(execFile)("sh", shell(folder, "npx tsx main.ts"), { timeout: RUN_MAX_MS });
    expect(printed.stdout).toMatch(/^EURUSD [\d.]+ [\d.]+\nXAUUSD [\d.]+ [\d.]+\n$/);
  });

  test("does not pass the compiler with a field that no answer has", { timeout: RUN_MAX_MS }, async ({ skip }) => {
    skip(!existsSync(join(folder, "tsconfig.json")), "It could not be installed");
    const wrong = shown(recipe.files["main.ts"] ?? "").replaceAll("bid", "price");
    writeFileSync(join(folder, "wrong.ts"), wrong);
    writeFileSync(join(folder, "tsconfig.wrong.json"), JSON.stringify({ ...STRICT, files: ["wrong.ts"] }));
    const said = await run(process.execPath, [TYPESCRIPT, "--project", join(folder, "tsconfig.wrong.json")], RUN_MAX_MS);
    expect(said).toMatch(/Property 'price' does not exist/);
  });
});
