import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "#lib/testing/cache-folder";
import { CRATES, findOnPath, GO_PATH, missing, type Package, run } from "#lib/testing/packages";

/** Maximum time to compile the samples of a language; the libraries of Rust take 30 s of processor time, once. */
export const BUILD_TIMEOUT_MS = 300_000;
/** What stays from run to run: compiled libraries. */
const CACHE = cacheFolder("samples");

/** A line that no sample prints. */
export const SEPARATOR = "=====";

/** Code of samples as readers copy it, by the name of its operation, which is an identifier in every language. */
type Samples = Readonly<Record<string, string>>;
type Command = readonly [string, ...string[]];

/** The samples of a language, to be made into one program: one start, one compiler. */
interface Sources {
  /** Calls, which the program makes in this order, with SEPARATOR after each. */
  readonly calls: Samples;
  /** Streams, which it then follows all at once until it is stopped. */
  readonly streams: Samples;
}

/** A language whose compiler and libraries are packages of Debian. */
interface Toolchain {
  readonly packages: readonly Package[];
  /** Why its streams cannot run here; null where they can. */
  readonly streamless?: () => Promise<string | null>;
  /** Writes the program to an empty folder and compiles it. @returns the command that runs it @throws Error of the compiler */
  readonly build: (folder: string, sources: Sources) => Promise<Command>;
}

function writeAll(folder: string, files: Samples): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

const mapped = (samples: Samples, change: (name: string, code: string) => readonly [string, string]) =>
  Object.fromEntries(Object.entries(samples).map(([name, code]) => change(name, code)));
const listed = (samples: Samples, print: (name: string) => string) => Object.keys(samples).map(print).join(", ");

async function compile(command: string, args: string[]): Promise<void> {
  const failure = await run(command, args, BUILD_TIMEOUT_MS);
  if (failure !== null) throw new Error(`${command} ${failure}`);
}

/** Go compiles its packages without a module: those of Debian lie in a folder of their own. */
const GO: Toolchain = {
  packages: ["golang-go", "golang-github-gorilla-websocket-dev"],
  async build(folder, { calls, streams }) {
    const main = `package main

import (
	"fmt"
	"sync"
)

func main() {
	for _, call := range []func(){${listed(calls, (name) => name)}} {
		call()
		fmt.Println("${SEPARATOR}")
	}
	var all sync.WaitGroup
	for _, follow := range []func(){${listed(streams, (name) => name)}} {
		all.Add(1)
		go func(follow func()) {
			defer all.Done()
			follow()
		}(follow)
	}
	all.Wait()
}
`;
    const files = mapped({ ...calls, ...streams }, (name, code) => [`${name}.go`, code.replace("func main()", `func ${name}()`)]);
    writeAll(folder, { ...files, "main.go": main });
    const program = join(folder, "samples");
    const sources = [...Object.keys(files), "main.go"].map((file) => join(folder, file));
    await compile("env", ["GO111MODULE=off", `GOPATH=${GO_PATH}`, "go", "build", "-o", program, ...sources]);
    return [program];
  },
};

const JAVA: Toolchain = {
  packages: ["default-jdk-headless"],
  async build(folder, { calls, streams }) {
    const runner = `import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import javax.tools.ToolProvider;

public class Runner {
    static void run(String name) throws Exception {
        Path home = Path.of("${folder}", name);
        String source = home.resolve("Main.java").toString();
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", home.toString(), source);
        if (status != 0) System.exit(status);
        URLClassLoader loader = new URLClassLoader(new URL[] { home.toUri().toURL() });
        loader.loadClass("Main").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }

    public static void main(String[] names) throws Exception {
        for (String name : new String[] { ${listed(calls, JSON.stringify)} }) {
            run(name);
            System.out.println("${SEPARATOR}");
        }
        for (String name : new String[] { ${listed(streams, JSON.stringify)} })
            new Thread(() -> {
                try {
                    run(name);
                } catch (Exception error) {
                    error.printStackTrace();
                    System.exit(1);
                }
            }).start();
    }
}
`;
    for (const [name, code] of Object.entries({ ...calls, ...streams })) writeAll(join(folder, name), { "Main.java": code });
    writeAll(folder, { "Runner.java": runner });
    return ["java", join(folder, "Runner.java")];
  },
};

/**
 * A sample in the C# that Mono compiles, which is older: its statements in a method, each `using` without the disposal at its end,
 * raw texts as verbatim ones, and the namespaces that newer compilers take for granted. Every call and type stays the same.
 */
function forMono(name: string, code: string): string {
  const namespaces = ["System", "System.IO", "System.Net.Http", "System.Threading", "System.Threading.Tasks"];
  const imports = /^using ([\w.]+);$/gm;
  const all = new Set([...namespaces, ...[...code.matchAll(imports)].map(([, space = ""]) => space)]);
  const body = code
    .replace(imports, "")
    .replaceAll("using var ", "var ")
    .replace(/"""(.*?)"""/g, (_, text: string) => `@"${text.replaceAll('"', '""')}"`);
  return `${[...all].map((space) => `using ${space};`).join("\n")}

static class ${name}
{
    public static async Task Run()
    {
${body}
    }
}
`;
}

/** The .NET that Debian has is Mono. */
const CSHARP: Toolchain = {
  packages: ["mono-mcs", "libmono-system-net-http4.0-cil"],
  async build(folder, { calls, streams }) {
    const steps = Object.keys(calls).map((name) => `        await ${name}.Run();\n        Console.WriteLine("${SEPARATOR}");`);
    const runner = `using System;
using System.Threading.Tasks;

static class Runner
{
    static void Main()
    {
        Run().GetAwaiter().GetResult();
    }

    static async Task Run()
    {
${steps.join("\n")}
        await Task.WhenAll(${listed(streams, (name) => `${name}.Run()`)});
    }
}
`;
    const files = mapped({ ...calls, ...streams }, (name, code) => [`${name}.cs`, forMono(name, code)]);
    writeAll(folder, { ...files, "Runner.cs": runner });
    const sources = [...Object.keys(files), "Runner.cs"].map((file) => join(folder, file));
    const program = join(folder, "samples.exe");
    await compile("mcs", ["-langversion:latest", "-r:System.Net.Http.dll", `-out:${program}`, ...sources]);
    return ["mono", program];
  },
};

/** Rust with Debian's crates and no registry; its compiled libraries stay in the cache, and therefore its project does, too. */
const RUST: Toolchain = {
  packages: ["cargo", "rustfmt", "librust-reqwest-dev"],
  // Not every release of Debian has this package.
  streamless: async () => missing("librust-tungstenite-dev"),
  async build(_folder, { calls, streams }) {
    const function_ = "fn() -> Result<(), Box<dyn std::error::Error>>";
    const main = `${Object.keys({ ...calls, ...streams })
      .map((name) => `mod ${name};`)
      .join("\n")}

fn main() {
    let calls: Vec<${function_}> = vec![${listed(calls, (name) => `${name}::main`)}];
    for call in calls {
        call().unwrap();
        println!("${SEPARATOR}");
    }
    let streams: Vec<${function_}> = vec![${listed(streams, (name) => `${name}::main`)}];
    let all: Vec<_> = streams.into_iter().map(|follow| std::thread::spawn(move || follow().unwrap())).collect();
    for one in all {
        one.join().unwrap();
    }
}
`;
    const websocket = Object.keys(streams).length > 0 ? 'tungstenite = "*"\n' : "";
    const manifest = `[package]
name = "samples"
version = "0.0.0"
edition = "2021"

[dependencies]
reqwest = { version = "*", default-features = false, features = ["blocking"] }
${websocket}
[profile.dev]
debug = false
`;
    const project = join(CACHE, "rust");
    const source = `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${CRATES}"\n`;
    writeAll(join(project, ".cargo"), { "config.toml": source });
    writeAll(project, { "Cargo.toml": manifest });
    const files = mapped({ ...calls, ...streams }, (name, code) => [`${name}.rs`, code.replace("fn main()", "pub fn main()")]);
    writeAll(join(project, "src"), { ...files, "main.rs": main });
    // The crates may be of another release of Debian than in the last run. Cargo finds its settings from the folder it runs in.
    rmSync(join(project, "Cargo.lock"), { force: true });
    await compile("sh", ["-c", 'cd "$0" && cargo build --offline --quiet', project]);
    return [join(project, "target", "debug", "samples")];
  },
};

const PHP_VENDOR = join(CACHE, "php", "vendor");

/** Nobody has packaged PHP's library for Debian: Composer brings it where there is one that reaches its registry. */
async function phpStreamless(): Promise<string | null> {
  if (existsSync(join(PHP_VENDOR, "autoload.php"))) return null;
  if (findOnPath(["composer"]) === undefined) return "Composer is not installed";
  const folder = join(CACHE, "php");
  mkdirSync(folder, { recursive: true });
  const failure = await run("composer", ["require", "--no-interaction", `--working-dir=${folder}`, "phrity/websocket"], 60_000);
  return failure && `Composer ${failure}`;
}

const PHP: Toolchain = {
  packages: ["php-cli", "php-curl"],
  streamless: phpStreamless,
  async build(folder, { calls, streams }) {
    const quoted = (name: string) => `"${name}.php"`;
    const runner = `<?php
foreach ([${listed(calls, quoted)}] as $file) {
    (function () use ($file) { require $file; })();
    echo "${SEPARATOR}\\n";
}
$all = [];
foreach ([${listed(streams, quoted)}] as $file)
    $all[] = proc_open([PHP_BINARY, $file], [1 => STDOUT, 2 => STDERR], $pipes);
foreach ($all as $one)
    proc_close($one);
`;
    const files = mapped({ ...calls, ...streams }, (name, code) => [`${name}.php`, code]);
    writeAll(folder, { ...files, "runner.php": runner });
    if (Object.keys(streams).length > 0) symlinkSync(PHP_VENDOR, join(folder, "vendor"));
    return ["sh", "-c", 'cd "$0" && exec php runner.php', folder];
  },
};

/** By the names readers choose. */
export const TOOLCHAINS: Readonly<Record<string, Toolchain>> = { Java: JAVA, Go: GO, "C#": CSHARP, Rust: RUST, PHP };

/** A program that runs until it is stopped. */
export interface Program {
  /** Resolves with what it has printed once that matches. @throws Error when it ends before */
  until(matches: (output: string) => boolean): Promise<string>;
  /** Stops it and everything that it started. */
  stop(): void;
}

export function startProgram([command, ...args]: Command): Program {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const waiting = new Set<() => void>();
  let output = "";
  let complaint = "";
  let ended: string | undefined;
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  child.stdout.on("data", (chunk) => {
    output += chunk;
    tell();
  });
  child.stderr.on("data", (chunk) => {
    complaint += chunk;
  });
  child.on("error", ({ message }) => {
    ended = message;
    tell();
  });
  child.on("close", (status, signal) => {
    ended ??= `${command} ended with ${signal ?? status}:\n${complaint}`;
    tell();
  });
  return {
    until: (matches) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!matches(output) && ended === undefined) return;
          waiting.delete(look);
          if (matches(output)) resolve(output);
          else reject(new Error(ended));
        };
        waiting.add(look);
        look();
      }),
    stop() {
      if (ended === undefined && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    },
  };
}
