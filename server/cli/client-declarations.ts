import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { type ContractType, createContractPrinter } from "./client-contract";

const CLIENT = "lib/client";
const CONTRACT_IMPORT = /^#(lib\/contract\/.+)$/;

/** Where a name of the published surface is declared: a file of the client, or of the contract. */
interface Place {
  /** Project path without extension. */
  readonly file: string;
  readonly name: string;
}

/** The emitted declarations of one file of the client. */
interface Declarations {
  readonly statements: ReadonlyMap<string, ts.Statement>;
  /** What its imports and re-exports stand for, by local name. */
  readonly links: ReadonlyMap<string, Place>;
  readonly tree: ts.SourceFile;
}

function createProgram(root: string): ts.Program {
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  return ts.createProgram([path.join(root, CLIENT, "index.ts")], {
    ...options,
    noEmit: false,
    incremental: false,
    declaration: true,
    emitDeclarationOnly: true,
    removeComments: false,
    rootDir: root,
    outDir: root,
  });
}

function placeOf(from: string, specifier: string, name: string): Place | undefined {
  const contract = CONTRACT_IMPORT.exec(specifier)?.[1];
  if (contract !== undefined) return { file: contract, name };
  return specifier.startsWith(".") ? { file: path.posix.join(path.posix.dirname(from), specifier), name } : undefined;
}

/** Reads which names a file declares and which it takes from elsewhere. */
function readDeclarations(file: string, text: string): Declarations {
  const tree = ts.createSourceFile(`${file}.d.ts`, text, ts.ScriptTarget.Latest, true);
  const statements = new Map<string, ts.Statement>();
  const links = new Map<string, Place>();
  for (const statement of tree.statements) {
    const elements = ts.isImportDeclaration(statement)
      ? statement.importClause?.namedBindings
      : ts.isExportDeclaration(statement)
        ? statement.exportClause
        : undefined;
    if (elements !== undefined && (ts.isNamedImports(elements) || ts.isNamedExports(elements))) {
      const { moduleSpecifier } = statement as ts.ImportDeclaration;
      for (const { name, propertyName } of elements.elements) {
        const place = placeOf(file, (moduleSpecifier as ts.StringLiteral).text, (propertyName ?? name).text);
        if (place !== undefined) links.set(name.text, place);
      }
    } else if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) statements.set(name.getText(tree), statement);
    } else if ("name" in statement && statement.name !== undefined) {
      statements.set((statement.name as ts.Identifier).text, statement);
    }
  }
  return { statements, links, tree };
}

/** Names of a statement in places where they stand for a declaration. */
function referencesOf(statement: ts.Statement): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(statement, visit);
  return found;
}

/** An alias that only names what another expression makes (`DataOf<"klines">`): its reader wants to see the shape. */
function isComputed(statement: ts.Statement): statement is ts.TypeAliasDeclaration {
  return (
    ts.isTypeAliasDeclaration(statement) &&
    statement.typeParameters === undefined &&
    (ts.isTypeReferenceNode(statement.type) || ts.isIndexedAccessTypeNode(statement.type))
  );
}

/** The declared type behind an exported name, with the schema of the same name beside it. */
async function contractType(program: ts.Program, root: string, { file, name }: Place): Promise<ContractType> {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path.join(root, `${file}.ts`));
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const exported = module === undefined ? undefined : checker.getExportsOfModule(module).find((one) => one.name === name);
  if (exported === undefined) throw new Error(`${file} exports no ${name}.`);
  // A file may pass on what another declares.
  const symbol = (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
  const alias = symbol.declarations?.find(ts.isTypeAliasDeclaration);
  const type = alias === undefined ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeFromTypeNode(alias.type);
  const home = symbol.declarations?.[0]?.getSourceFile().fileName ?? "";
  const values = home.includes("/lib/contract/") ? ((await import(pathToFileURL(home).href)) as Record<string, unknown>) : {};
  return { name, type, comment: ts.displayPartsToString(symbol.getDocumentationComment(checker)), schema: values[symbol.name] };
}

/** The emitted declaration files of the client, read. */
function emitClient(program: ts.Program, root: string): Map<string, Declarations> {
  const files = new Map<string, Declarations>();
  const wrong = ts.getPreEmitDiagnostics(program).filter(({ file }) => file?.fileName.includes(`/${CLIENT}/`));
  if (wrong.length > 0) throw new Error(ts.formatDiagnostics(wrong, ts.createCompilerHost({})));
  program.emit(undefined, (fileName, text) => {
    const file = path
      .relative(root, fileName)
      .replaceAll(path.sep, "/")
      .replace(/\.d\.ts$/, "");
    if (file.startsWith(`${CLIENT}/`)) files.set(file, readDeclarations(file, text));
  });
  return files;
}

/** Every place the published surface reaches, in the order in which a reader meets them. */
function reachable(files: ReadonlyMap<string, Declarations>): Place[] {
  const places = new Map<string, Place>();
  const visit = (place: Place): void => {
    const file = files.get(place.file);
    const statement = file?.statements.get(place.name);
    const link = file?.links.get(place.name);
    if (statement === undefined && link !== undefined) {
      visit(link);
      return;
    }
    const known = places.get(place.name);
    if (known !== undefined && known.file !== place.file)
      throw new Error(`${place.name} is declared twice: ${known.file}, ${place.file}.`);
    if (known !== undefined) return;
    if (file !== undefined && statement === undefined) return;
    places.set(place.name, place);
    if (file === undefined || statement === undefined || isComputed(statement)) return;
    for (const name of referencesOf(statement)) {
      if (file.statements.has(name) || file.links.has(name)) visit({ file: place.file, name });
    }
  };
  const surface = [...(files.get(`${CLIENT}/index`)?.links.values() ?? [])];
  // What is called comes first, what comes back after it.
  const isOwn = ({ file }: Place) => file.startsWith(`${CLIENT}/`);
  for (const place of [...surface.filter(isOwn), ...surface.filter((other) => !isOwn(other))]) visit(place);
  return [...places.values()];
}

/** A declaration as it was emitted, with its comment, exported where the surface names it. */
function emitted({ tree }: Declarations, statement: ts.Statement): string {
  const text = statement.getFullText(tree).trim();
  return `${text.replace(/^((?:\/\*\*[\s\S]*?\*\/\s*)?)(?:export )?(?:declare )?/, "$1export ").replace(/export (class|function|const)/, "export declare $1")}\n`;
}

/**
 * The declarations of the published client as one text that needs nothing else: no project file, no zod.
 * @param root folder of the project
 * @throws Error when the client has type errors, or something in the text would still point outside
 */
export async function clientDeclarations(root: string): Promise<string> {
  const program = createProgram(root);
  const files = emitClient(program, root);
  const places = reachable(files);
  const expanded: ContractType[] = [];
  for (const place of places) {
    const statement = files.get(place.file)?.statements.get(place.name);
    if (statement !== undefined && !isComputed(statement)) continue;
    expanded.push(await contractType(program, root, place));
  }
  const printer = createContractPrinter(program.getTypeChecker(), expanded);
  const text = places
    .map((place) => {
      const type = expanded.find(({ name }) => name === place.name);
      if (type !== undefined) return printer.declaration(type);
      const file = files.get(place.file) as Declarations;
      return emitted(file, file.statements.get(place.name) as ts.Statement);
    })
    .join("\n");
  const stray = /import\(|from "|#lib|zod/i.exec(text);
  if (stray !== null)
    throw new Error(`The declarations point outside: ${text.slice(Math.max(0, stray.index - 80), stray.index + 80)}`);
  return text;
}
