import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { thirdPartyNotices } from "#server/cli/third-party-notices";
import { NAMED_LICENCES, PERMISSIVE, WITHOUT_INTEGRITY } from "./licences";

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly inBundle?: boolean;
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** What is locked in a folder, by its place. */
function packagesOf(folder: string): Record<string, Locked> {
  return (JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> }).packages;
}

function entriesOf(packages: Record<string, Locked>) {
  return Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, entry]) => ({ name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length), ...entry }));
}

const packages = packagesOf(".");
const locked = entriesOf(packages);
const shipped = locked.filter(({ dev }) => !dev);

/** Lists of what only checks need, each with its lock file. */
const TOOLS = "lib/testing/tools";
/** What `npm ci` may bring: packages of this platform, with those of development. */
const PACKAGES_MAX_COUNT = 800;

/** npm takes two seconds on an idle machine. */
const SBOM_MAX_MS = 300_000;

/** The licences of an SPDX expression that are not permissive; "none" for a package that names none. */
function demanding(expression = "none"): string[] {
  // All of them count, even the alternatives of an OR: a package that offers a choice is rare enough to be named.
  if (PERMISSIVE.has(expression)) return [];
  const parts = expression === "SIL OPEN FONT LICENSE" ? [expression] : expression.split(/\s+(?:and|or)\s+|[()]/i);
  return parts.filter((licence) => licence !== "" && !PERMISSIVE.has(licence));
}

const named = (name: string, licence: string) =>
  NAMED_LICENCES.find((entry) => entry.name.test(name) && entry.licence === licence);

describe("the licence", () => {
  const text = readFileSync("LICENSE", "utf8");

  test("of the program is the Apache License 2.0, and package.json, the lock file and the README say so", () => {
    expect(text).toMatch(/Apache License\s+Version 2\.0[\s\S]+Copyright 2026 The Spotwire authors/);
    const { license } = JSON.parse(readFileSync("package.json", "utf8")) as Locked;
    expect([license, packages[""]?.license]).toEqual(["Apache-2.0", "Apache-2.0"]);
    expect(readFileSync("README.md", "utf8")).toContain("[Apache License 2.0](LICENSE)");
  });

  test("and the notices name every package that the program is shipped with", () => {
    const notices = thirdPartyNotices(".");
    expect(notices).toContain(text.trim());
    expect(shipped.filter(({ name, version }) => !notices.includes(`${name} ${version} (`))).toEqual([]);
  });
});

describe("the dependencies", () => {
  test("every production dependency has a permissive licence, or is named with the reason why it may be used", () => {
    const unknown = shipped.flatMap(({ name, license }) =>
      demanding(license)
        .filter((licence) => named(name, licence) === undefined)
        .map((licence) => `${name}: ${licence}`),
    );
    expect(unknown).toEqual([]);
  });

  test("no licence is named that no production dependency has", () => {
    const used = new Set(shipped.flatMap(({ name, license }) => demanding(license).map((licence) => named(name, licence))));
    expect(NAMED_LICENCES.filter((entry) => !used.has(entry)).map(({ name }) => name.source)).toEqual([]);
  });

  test.each([
    ["GPL-3.0-only", ["GPL-3.0-only"]],
    ["(MIT OR AGPL-3.0-only)", ["AGPL-3.0-only"]],
    ["MIT and ISC", []],
    ["Apache-2.0 AND LGPL-3.0-or-later AND MIT", ["LGPL-3.0-or-later"]],
    [undefined, ["none"]],
    ["SEE LICENSE IN LICENSE.md", ["SEE LICENSE IN LICENSE.md"]],
  ])("the licence %j asks for a name for %j", (expression, expected) => {
    expect(demanding(expression)).toEqual(expected);
  });

  test("every locked package comes from the registry and has an integrity, but for the named programs of other systems", () => {
    const open = locked.filter(({ integrity, inBundle }) => integrity === undefined && !inBundle);
    expect(open.map(({ name }) => name).sort()).toEqual([...WITHOUT_INTEGRITY].sort());
    expect(open.filter(({ optional }) => !optional)).toEqual([]);
    const elsewhere = locked.filter(
      ({ resolved }) => resolved !== undefined && !resolved.startsWith("https://registry.npmjs.org/"),
    );
    expect(elsewhere).toEqual([]);
    expect(locked.filter(({ integrity = "sha512-" }) => !integrity.startsWith("sha512-"))).toEqual([]);
  });

  test("npm ci brings a bounded number of packages", () => {
    const installed = locked.filter(({ optional }) => !optional).length;
    expect(installed).toBeGreaterThan(300);
    expect(installed).toBeLessThanOrEqual(PACKAGES_MAX_COUNT);
  });

  test("tools of checks have exact versions, and each of their packages an integrity", () => {
    const lists = readdirSync(TOOLS);
    expect(lists.sort()).toEqual(["bench", "check", "node-20", "node-22", "node-24", "node-26", "prisma", "tests"]);
    for (const list of lists) {
      const manifest = JSON.parse(readFileSync(join(TOOLS, list, "package.json"), "utf8")) as Manifest;
      for (const version of Object.values({ ...manifest.dependencies, ...manifest.optionalDependencies }))
        expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      const tools = packagesOf(join(TOOLS, list));
      const open = entriesOf(tools).filter(({ integrity, inBundle }) => integrity?.startsWith("sha512-") !== true && !inBundle);
      expect(open).toEqual([]);
    }
    const { version } = packages["node_modules/@prisma/client"] ?? {};
    expect(packagesOf(join(TOOLS, "prisma"))["node_modules/prisma"]?.version).toBe(version);
  });

  test(
    "npm run sbom prints every production dependency with its version, as CycloneDX",
    async () => {
      const { stdout } = await promisify(execFile)("npm", ["run", "--silent", "sbom"], { maxBuffer: 64 * 1024 * 1024 });
      const { bomFormat, components } = JSON.parse(stdout) as {
        bomFormat: string;
        components: { name: string; version: string }[];
      };
      expect(bomFormat).toBe("CycloneDX");
      const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
      const missing = shipped.map(({ name, version }) => `${name}@${version}`).filter((dependency) => !listed.has(dependency));
      expect(missing).toEqual([]);
    },
    SBOM_MAX_MS,
  );
});
