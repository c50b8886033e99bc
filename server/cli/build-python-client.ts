import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { zipSync } from "fflate";
import { create } from "tar";
import { PYTHON_NAME, pythonSdist, pythonWheel } from "#lib/docs/client-names";
import { pythonContract } from "./python-contract";

/**
 * Builds the Python client as a wheel and as a source distribution. Both are written here, so that a machine without Python
 * builds and serves them too; a test compares the wheel with the one that setuptools makes of the source distribution.
 */

const ROOT = path.join(import.meta.dirname, "..", "..");
const SOURCES = path.join(ROOT, "lib", "client-python");
/** Versions that mean the same to npm and to pip. */
const VERSION = /^\d+\.\d+\.\d+$/;
/** The earliest time of a zip archive, in every time zone: the same sources make the same bytes. */
const MADE_AT = new Date(1980, 0, 1);
/** A regular file that everybody may read, in the upper half of the attributes. */
const FILE_ATTRIBUTES = (0o100644 << 16) >>> 0;
const UNIX = 3;

const DISTRIBUTION = "spotwire-client";
const SUMMARY =
  "Typed client of a Spotwire market data service: quotes, snapshots, klines and market status, over REST and streams";
const REQUIRES_PYTHON = ">=3.11";
const REQUIRES = ["httpx>=0.23", "websockets>=10.4"];
const EXTRAS: Readonly<Record<string, string>> = { msgpack: "msgpack>=1.0", pandas: "pandas>=1.5" };
const KEYWORDS = ["forex", "metals", "market data", "klines", "websocket"];

const toml = (value: unknown) => JSON.stringify(value);

/** Every release of setuptools reads this form; of the newer one, old releases know nothing. */
const LICENCE = "License :: OSI Approved :: Apache Software License";

/** The pyproject.toml of the source distribution. */
function project(version: string): string {
  return `[build-system]
requires = ["setuptools>=66"]
build-backend = "setuptools.build_meta"

[project]
name = ${toml(DISTRIBUTION)}
version = ${toml(version)}
description = ${toml(SUMMARY)}
readme = "README.md"
requires-python = ${toml(REQUIRES_PYTHON)}
keywords = ${toml(KEYWORDS)}
classifiers = ${toml([LICENCE])}
dependencies = ${toml(REQUIRES)}

[project.optional-dependencies]
${Object.entries(EXTRAS)
  .map(([extra, requirement]) => `${extra} = ${toml([requirement])}\n`)
  .join("")}
[tool.setuptools]
packages = [${toml(PYTHON_NAME)}]

[tool.setuptools.package-data]
${PYTHON_NAME} = ["py.typed"]
`;
}

/** The core metadata of both packages. */
function metadata(version: string, readme: string): string {
  return [
    "Metadata-Version: 2.1",
    `Name: ${DISTRIBUTION}`,
    `Version: ${version}`,
    `Summary: ${SUMMARY}`,
    `Keywords: ${KEYWORDS.join(",")}`,
    `Classifier: ${LICENCE}`,
    `Requires-Python: ${REQUIRES_PYTHON}`,
    "Description-Content-Type: text/markdown",
    ...REQUIRES.map((requirement) => `Requires-Dist: ${requirement}`),
    ...Object.entries(EXTRAS).flatMap(([extra, requirement]) => [
      `Provides-Extra: ${extra}`,
      `Requires-Dist: ${requirement} ; extra == '${extra}'`,
    ]),
    "",
    readme,
  ].join("\n");
}

const WHEEL = "Wheel-Version: 1.0\nGenerator: spotwire\nRoot-Is-Purelib: true\nTag: py3-none-any\n";

/** A wheel of these files (PEP 427): a zip with the digests of its content. */
function wheelOf(files: Readonly<Record<string, Buffer>>, record: string): Uint8Array {
  const digests = Object.entries(files).map(
    ([name, content]) => `${name},sha256=${createHash("sha256").update(content).digest("base64url")},${content.length}\n`,
  );
  const all = { ...files, [record]: Buffer.from(`${digests.join("")}${record},,\n`) };
  return zipSync(all, { level: 9, mtime: MADE_AT, os: UNIX, attrs: FILE_ATTRIBUTES });
}

/** The source tree in a folder that exists. */
function writeSources(folder: string, version: string): void {
  const code = path.join(folder, PYTHON_NAME);
  cpSync(path.join(SOURCES, PYTHON_NAME), code, { recursive: true, filter: (file) => !file.includes("__pycache__") });
  for (const [name, text] of Object.entries(pythonContract(version))) writeFileSync(path.join(code, name), text);
  const readme = readFileSync(path.join(SOURCES, "README.md"), "utf8");
  writeFileSync(path.join(folder, "README.md"), readme);
  writeFileSync(path.join(folder, "pyproject.toml"), project(version));
  writeFileSync(path.join(folder, "PKG-INFO"), metadata(version, readme));
}

/**
 * Builds the package in a folder, which is emptied first, and packs it beside that folder.
 * @returns paths of the wheel and the source distribution
 * @throws Error for a version that pip reads differently
 */
export async function buildPythonClient(folder: string): Promise<[wheel: string, sdist: string]> {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
  if (!VERSION.test(version)) throw new Error(`pip has another form of the version ${version}.`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeSources(folder, version);

  const code = readdirSync(path.join(folder, PYTHON_NAME)).sort();
  const read = (...names: string[]) => readFileSync(path.join(folder, ...names));
  const info = `${PYTHON_NAME}-${version}.dist-info`;
  const files = {
    ...Object.fromEntries(code.map((name) => [`${PYTHON_NAME}/${name}`, read(PYTHON_NAME, name)])),
    [`${info}/METADATA`]: read("PKG-INFO"),
    [`${info}/WHEEL`]: Buffer.from(WHEEL),
    [`${info}/top_level.txt`]: Buffer.from(`${PYTHON_NAME}\n`),
  };
  const beside = path.dirname(folder);
  const wheel = path.join(beside, pythonWheel(version));
  writeFileSync(wheel, wheelOf(files, `${info}/RECORD`));

  const sdist = path.join(beside, pythonSdist(version));
  const contents = ["PKG-INFO", "README.md", "pyproject.toml", ...code.map((name) => `${PYTHON_NAME}/${name}`)];
  const portable = { portable: true, mtime: MADE_AT, prefix: `${PYTHON_NAME}-${version}` };
  await create({ file: sdist, cwd: folder, gzip: { level: 9 }, ...portable }, contents);
  return [wheel, sdist];
}
