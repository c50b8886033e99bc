import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PORTAL_ROUTES } from "#server/pages/api";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const here = import.meta.dirname;

type Module = Record<string, (request: Request, context: unknown) => Promise<Response> | Response>;

/** Route files of Next outside /api/v1, which has its own test. */
const files = readdirSync(here, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith("/route.ts") && !file.startsWith("v1/"))
  .map((file) => file.slice(0, -"/route.ts".length));
const PORTAL = "portal/[...path]";
/** Each path with its file. One file has all of the portal's. */
const paths = files.flatMap((file) =>
  file === PORTAL
    ? [...new Set(PORTAL_ROUTES.map(({ name }) => `portal${name.split(" ")[1]}`))].map((path) => [path, file] as const)
    : [[file, file] as const],
);

describe("route files", () => {
  test.each(paths)(
    "%s answers every method, and refuses those it does not have with the envelope and Allow",
    async (path, file) => {
      const module: Module = await import(`${here}/${file}/route.ts`);
      const params = Promise.resolve({ nextauth: ["csrf"] });
      const served: string[] = [];
      const allows = new Set<string>();
      for (const method of METHODS) {
        // Next answers HEAD with the headers of GET.
        const handler = method === "HEAD" && module.HEAD === undefined ? module.GET : module[method];
        expect(handler, `${path} does not export ${method}`).toBeDefined();
        const response = await handler?.(new Request(`http://host/api/${path}`, { method }), { params });
        const allow = response?.headers.get("allow");
        if (response?.status !== 405) {
          served.push(method);
          if (method === "OPTIONS" && allow) allows.add(allow);
          continue;
        }
        allows.add(String(allow));
        expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
        const { code, data } = JSON.parse(await response.text());
        expect(code).toBe(40501);
        expect(data.request_id).toBe(response.headers.get("x-request-id"));
        expect(data.request_id).toMatch(/^req_/);
      }
      if (allows.size > 0) expect([...allows]).toEqual([served.join(", ")]);
      // Only the catch-all has no path of its own.
      else expect(path).toBe("[...rest]");
    },
  );
});
