import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nextPath } from "#app/next-path";
import { ERROR_IDS } from "#lib/contract/errors";
import { recipe } from "#lib/testing/recipe";
import { sharedPage } from "#server/pages/shared-pages";
import { ADMIN_PAGES, DASHBOARD_PAGES, type PageLink, sitePages } from "../../components/shell/pages";

const PAGE_RECIPE = recipe("Add a page");
const ERROR_RECIPE = recipe("Add an error");

/** A file in which a page has an entry. */
interface Place {
  readonly file: string;
  /** Whether the page belongs there. */
  needs(route: string): boolean;
  has(route: string, text: string): boolean;
}

const isOwn = (route: string) => /^\/(dashboard|admin)(\/|$)/.test(route);
const isVariable = (route: string) => route.includes("[");
const isLinked = (route: string) => route !== "/" && !isVariable(route);
const links = (pages: readonly PageLink[]) => (route: string) => pages.some(({ href }) => href === route);
/** A quoted path of the page, with any value for a variable part. */
const quoted = (route: string) => new RegExp(`"/?${route.slice(1).replace(/\[+[^\]]+\]+/g, '[^"/]+')}"`);
/** Its query changes what it shows, so that no copy of it is kept. */
const UNSHARED = "/playground";

const PLACES: readonly Place[] = [
  {
    file: "components/shell/pages.ts",
    needs: isLinked,
    has: (route) => [sitePages({ plans: true }), DASHBOARD_PAGES, ADMIN_PAGES].some((pages) => links(pages)(route)),
  },
  { file: "app/next-path.ts", needs: (route) => route !== "/", has: (route) => nextPath(route) === route },
  {
    file: "app/sitemap.xml/route.ts",
    needs: (route) => !isOwn(route) && !isVariable(route),
    has: (route, text) => quoted(route).test(text),
  },
  {
    file: "server/pages/shared-pages.ts",
    needs: (route) => !isOwn(route) && route !== UNSHARED,
    has: (route) => sharedPage(route.replace(/\[\w+\]/, "EURUSD"), "") !== undefined,
  },
  {
    file: "app/robots.txt/route.ts",
    needs: isOwn,
    has: (route, text) => text.includes(`"/${route.split("/")[1]}"`),
  },
  {
    file: "e2e/pages.spec.ts",
    needs: (route) => !/^\/admin(\/|$)/.test(route),
    has: (route, text) => quoted(route).test(text),
  },
  { file: "e2e/admin.spec.ts", needs: (route) => /^\/admin(\/|$)/.test(route), has: (route, text) => quoted(route).test(text) },
];

/** The files in which a page lacks its entry. */
function lacking(route: string): string[] {
  const lacks = ({ file, needs, has }: Place) => needs(route) && !has(route, readFileSync(file, "utf8"));
  return PLACES.filter(lacks).map(({ file }) => file);
}

/** Pages that forms and emails lead to, and the emails of a trial. */
const UNLINKED = /^\/(\(auth\)|outbox)(\/|$)/;
/** The docs list their pages themselves, and an account is opened from the list of accounts. */
const LISTED = ["/docs/[[...slug]]", "/admin/accounts/[id]"];
const ROUTES = readdirSync("app", { encoding: "utf8", recursive: true })
  .filter((file) => path.basename(file) === "page.tsx")
  .map((file) => `/${file.split(path.sep).slice(0, -1).join("/")}`)
  .filter((route) => !UNLINKED.test(route) && !LISTED.includes(route));

describe("the recipe of a page", () => {
  test.each(ROUTES)("%s has an entry everywhere", (route) => {
    expect(lacking(route)).toEqual([]);
  });

  test.each([
    [
      "/made-up",
      [
        "components/shell/pages.ts",
        "app/next-path.ts",
        "app/sitemap.xml/route.ts",
        "server/pages/shared-pages.ts",
        "e2e/pages.spec.ts",
      ],
    ],
    ["/dashboard/made-up", ["components/shell/pages.ts", "e2e/pages.spec.ts"]],
    ["/admin/made-up", ["components/shell/pages.ts", "e2e/admin.spec.ts"]],
  ])("a page %s without any entry lacks them in all files", (route, files) => {
    expect(lacking(route)).toEqual(files);
  });

  test.each(PLACES)("it names $file", ({ file }) => {
    expect(PAGE_RECIPE).toContain(`\`${file}\``);
  });
});

const NEW = "made_up";
const ENTRY = `  ${NEW}: { code: 41801, title: "Made up", cause: "The cause of it.", fix: "The fix of it." },\n`;
/** What the steps for the contract change. */
const EDITS: Readonly<Record<string, (text: string) => string>> = {
  "lib/contract/errors.ts": (text) => text.replace("export const ERRORS = {\n", `$&${ENTRY}`),
  "lib/contract/operation-errors.ts": (text) => text.replace("LIST_ERRORS = [", `$&"${NEW}", `),
  "lib/contract/stream.ts": (text) => text.replace("HANDSHAKE_ERRORS = [", `$&"${NEW}", `),
};
/** Needed by nothing that is generated from the contract. */
const NOT_COPIED = /(^|\/)lib\/(testing|generated|decisions)(\/|$)|\.test\.ts$/;
/** Prints what is generated in the copy. */
const PROBE = `
import { errorDocsPath } from "#lib/contract/errors";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { asyncApiText } from "#lib/docs/asyncapi";
import { openApiDocument } from "#lib/docs/openapi";
import { referencePages } from "#lib/docs/reference/pages";
import { CONTRACT_TABLES } from "#lib/docs/tables";
const id = ${JSON.stringify(NEW)};
const document = openApiDocument();
process.stdout.write(JSON.stringify({
  page: referencePages().find(({ path }) => "/docs/" + path === errorDocsPath(id))?.body ?? "",
  table: CONTRACT_TABLES.ErrorsTable(),
  handshake: asyncApiText(),
  operations: OPERATION_LIST.filter(({ errors }) => errors.includes(id)).map(({ method, path }) =>
    document.paths[path]?.[method.toLowerCase()]?.responses["418"]?.description ?? ""),
}));
`;

interface Generated {
  readonly page: string;
  readonly table: string;
  readonly handshake: string;
  /** Descriptions of the response with its status, of each operation that declares it. */
  readonly operations: readonly string[];
}

describe("the recipe of an error", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "recipe-"));
  let generated: Generated;
  beforeAll(() => {
    for (const file of ["CHANGELOG.md", "lib", "package.json", "tsconfig.json"])
      cpSync(file, path.join(folder, file), { recursive: true, filter: (source) => !NOT_COPIED.test(source) });
    symlinkSync(path.resolve("node_modules"), path.join(folder, "node_modules"));
    for (const [file, edit] of Object.entries(EDITS)) {
      const copy = path.join(folder, file);
      if (ERROR_RECIPE.includes(`\`${file}\``)) writeFileSync(copy, edit(readFileSync(copy, "utf8")));
    }
    const probe = path.join(folder, "probe.ts");
    writeFileSync(probe, PROBE);
    const output = execFileSync(process.execPath, ["--import", "tsx", probe], { cwd: folder, encoding: "utf8" });
    generated = JSON.parse(output) as Generated;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("its steps give the error a page, and a line in the list of errors", () => {
    expect(generated.page).toContain("The fix of it.");
    expect(generated.table).toContain(NEW);
  });

  test("its steps show the error in OpenAPI, in each operation that declares it", () => {
    expect(generated.operations.length).toBeGreaterThan(1);
    for (const description of generated.operations) expect(description).toContain(`41801 ${NEW}`);
  });

  test("its steps show the error among the refusals of a handshake in AsyncAPI", () => {
    expect(generated.handshake).toContain(`| 418 | 41801 | \`${NEW}\` | The cause of it. |`);
  });

  test("it names each file with an entry for half of the errors or more", () => {
    const named = new RegExp(`\\b(${ERROR_IDS.join("|")})\\b`, "g");
    const files = ["app", "components", "e2e", "lib", "server"]
      .flatMap((folder) => readdirSync(folder, { encoding: "utf8", recursive: true }).map((file) => `${folder}/${file}`))
      .filter((file) => /\.tsx?$/.test(file) && !file.startsWith("lib/generated/"))
      .filter((file) => new Set(readFileSync(file, "utf8").match(named)).size >= ERROR_IDS.length / 2);
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => !ERROR_RECIPE.includes(`\`${file}\``))).toEqual([]);
  });
});
