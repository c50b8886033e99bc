import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { REST_CALLS } from "#lib/operations/link/declaration";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const here = import.meta.dirname;

const files = readdirSync(here, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("route.ts"))
  .map((file) => `/api/v1/${file.replaceAll("\\", "/").replace(/\/route\.ts$/, "")}`);
const operationAt = (path: string) => REST_CALLS.find((operation) => operation.path === path.replace("[id]", "{id}"));

describe("route files", () => {
  test("route files exist for every operation, links and the catch-all, and for nothing else", () => {
    const paths = REST_CALLS.map(({ path }) => path.replace("{id}", "[id]"));
    expect(files.filter((path) => !path.includes("[...")).sort()).toEqual(paths.sort());
  });

  test.each(files)("the route file %s answers every method with an envelope, under any host", async (path) => {
    const module: Record<string, (request: Request, context: unknown) => Promise<Response>> = await import(
      `${here}${path.slice("/api/v1".length)}/route.ts`
    );
    const own = operationAt(path)?.method;
    if (own !== undefined)
      expect(readFileSync(`${here}${path.slice("/api/v1".length)}/route.ts`, "utf8")).toContain(
        `#lib/operations/${operationAt(path)?.id}/answer`,
      );
    for (const method of METHODS) {
      const response = await module[method]?.(new Request(`http://host${path}`, { method }), { params: Promise.resolve({}) });
      // No service runs in this test: routes answer service_unavailable before anything else.
      if (method === own) expect(response?.status, method).toBe(503);
      expect(response?.headers.get("content-type") ?? "application/json; charset=utf-8", method).toBe(
        "application/json; charset=utf-8",
      );
      expect(response?.headers.get("x-request-id"), method).toMatch(/^req_/);
    }
  });
});
