import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { generateDtsBundle } from "dts-bundle-generator";
import ts from "typescript";
import { z } from "zod";
import { createAuxiliaryTypeStore, createTypeAlias, printNode, zodToTs } from "zod-to-ts";
import { ERROR_IDS } from "#lib/contract/errors";

const CLIENT = path.join("lib", "client");
const COMPILER = path.join("node_modules", "typescript", "bin", "tsc");
const CONTRACT = path.join("lib", "contract");
const OPERATIONS = path.join("lib", "operations");
/** Matches an exported type that zod infers from the schema of the same name. */
const INFERRED_TYPE = /^export type (\w+) = z\.infer<typeof \1>;/gm;
/** Matches a literal or union type in the contract, with the comment above it. */
const PLAIN_TYPE = /^(?:\/\*\*.*\*\/\n)?export type \w+ = (?!typeof|keyof)[\w\s"|]+;/gm;

/** Modules of the package by name; each has an entry in its `exports`. */
export const CLIENT_ENTRIES = ["index", "lightweight-charts", "tradingview"] as const;
export type ClientEntry = (typeof CLIENT_ENTRIES)[number];
/** The library whose types the package refers to; its users have it. */
export const CHARTS = "lightweight-charts";

/** Emits one `.d.ts` for each source of the client. */
function emitClient(root: string, outDir: string): void {
  const project = path.join(outDir, "tsconfig.json");
  const emit = { noEmit: false, incremental: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir };
  const compilerOptions = { ...emit, typeRoots: [path.join(root, "node_modules", "@types")] };
  const files = CLIENT_ENTRIES.map((entry) => path.join(root, CLIENT, `${entry}.ts`));
  writeFileSync(project, JSON.stringify({ extends: path.join(root, "tsconfig.json"), compilerOptions, files, include: [] }));
  const { status, stdout } = spawnSync(process.execPath, [path.join(root, COMPILER), "--project", project], { encoding: "utf8" });
  if (status !== 0) throw new Error(`The client has type errors:\n${stdout}`);
}

/** The sources of the contract, and of the declarations of operations. */
function contractFiles(root: string): string[] {
  const contract = readdirSync(path.join(root, CONTRACT)).filter((name) => !name.includes(".test."));
  const operations = readdirSync(path.join(root, OPERATIONS), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [
    ...contract.map((name) => path.join(root, CONTRACT, name)),
    ...operations.map(({ name }) => path.join(root, OPERATIONS, name, "declaration.ts")),
  ];
}

/** The types of the contract without zod: each inferred type is printed from its schema, under its name and with its comments. */
async function contractTypes(root: string): Promise<string> {
  const schemas = new Map<string, z.ZodType>([["ErrorId", z.enum(ERROR_IDS)]]);
  const plain: string[] = [];
  for (const source of contractFiles(root)) {
    const text = readFileSync(source, "utf8");
    const module = (await import(pathToFileURL(source).href)) as Record<string, z.ZodType>;
    for (const [, name = ""] of text.matchAll(INFERRED_TYPE)) {
      const schema = module[name];
      if (schema !== undefined) schemas.set(name, schema);
    }
    plain.push(...(text.match(PLAIN_TYPE) ?? []));
  }
  // Enums are compared by their values, because several schemas define the error identifiers as separate enums.
  const identity = (schema: unknown) => (schema instanceof z.ZodEnum ? schema.options.join() : schema);
  const names = new Map([...schemas].map(([name, schema]) => [identity(schema), name]));
  const printed = [...schemas].map(([name, schema]) => {
    const { node } = zodToTs(schema, {
      auxiliaryTypeStore: createAuxiliaryTypeStore(),
      unrepresentable: "any",
      overrideFunction: (part) => {
        const known = names.get(identity(part));
        return known === undefined || known === name ? undefined : ts.factory.createTypeReferenceNode(known);
      },
    });
    return printNode(createTypeAlias(node, name, schema.description)).replace(/^type /m, "export type ");
  });
  return [...printed, ...plain].join("\n");
}

/**
 * The declarations of each module of the published client as one text without imports of project files or zod.
 * @param root folder of the project
 * @throws Error when the client has type errors, or a text still contains an import, but of lightweight-charts
 */
export async function clientDeclarations(root: string): Promise<Readonly<Record<ClientEntry, string>>> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-declarations-"));
  try {
    emitClient(root, folder);
    writeFileSync(path.join(folder, "contract.d.ts"), await contractTypes(root));
    const project = path.join(folder, "tsconfig.json");
    const compilerOptions = {
      target: "es2023",
      module: "esnext",
      moduleResolution: "bundler",
      strict: true,
      skipLibCheck: true,
      types: [],
      paths: {
        "#lib/contract/*": ["./contract.d.ts"],
        "#lib/operations/*": ["./contract.d.ts"],
        "#lib/instrument-search": ["./lib/instrument-search.d.ts"],
        [CHARTS]: [path.join(root, "node_modules", CHARTS)],
      },
    };
    writeFileSync(project, JSON.stringify({ compilerOptions }));
    const entries = CLIENT_ENTRIES.map((entry) => ({
      filePath: path.join(folder, CLIENT, `${entry}.d.ts`),
      output: { noBanner: true },
      libraries: { importedLibraries: [CHARTS] },
    }));
    const texts = generateDtsBundle(entries, { preferredConfigPath: project });
    for (const text of texts) {
      const stray = /import\(|from ["'](?!lightweight-charts["'])|#lib|zod|: any/i.exec(text);
      if (stray !== null)
        throw new Error(`The declarations are not self-contained: ${text.slice(stray.index - 80, stray.index + 80)}`);
    }
    return Object.fromEntries(CLIENT_ENTRIES.map((entry, index) => [entry, texts[index] ?? ""])) as Record<ClientEntry, string>;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
