import path from "node:path";
import ts from "typescript";
import { importTool, installTools } from "#lib/testing/tools";

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** The package that has a kind: those of the Prometheus operator have one of their own. */
function packageOf({ apiVersion }: Manifest): string {
  const models = apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  return `${models}/${apiVersion}`;
}

/**
 * The compiler's errors for manifests as literals of Kubernetes' types: fields that are missing, misspelt, of the wrong type or
 * in the wrong place. Compiles all manifests at once, because a compilation takes seconds.
 */
export async function misfits(given: readonly Manifest[]): Promise<string[]> {
  // Beside the models, so that the compiler finds them.
  const file = path.join(await installTools("tests"), "checked-manifests.ts");
  const lines = given.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as T${index} } from "${packageOf(manifest)}";\nexport const m${index}: T${index} = ${JSON.stringify(manifest)};`,
  );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const fromDisk = host.getSourceFile.bind(host);
  host.getSourceFile = (name, language, ...rest) =>
    name === file ? ts.createSourceFile(name, lines.join("\n"), language) : fromDisk(name, language, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

/** Validates a manifest with Kubernetes' schema of its kind. @throws Error that says which value is not allowed */
export async function validateManifest(manifest: Manifest): Promise<void> {
  type Model = new (data: Manifest) => { validate(): void };
  const models = await importTool<Readonly<Record<string, Model>>>(packageOf(manifest));
  const Kind = models[manifest.kind] as Model;
  new Kind(manifest).validate();
}
