import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DockerfileParser, Keyword } from "dockerfile-ast";
import { validate as validateDockerfile } from "dockerfile-utils";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SOCKET_IO_PATH } from "#lib/contract/stream";
import { EnvSchema } from "#lib/env";
import { linkOperation } from "#lib/operations/link/declaration";
import { missing } from "#lib/testing/packages";
import { importTool } from "#lib/testing/tools";
import { readEnv } from "#server/env";
import { COMPRESSED_MIN_BYTES } from "#server/http/compression";
import { DRAIN_MAX_MS } from "#server/ops/shutdown";

const ROOT = path.join(import.meta.dirname, "..", "..");
const CADDYFILE = path.join(import.meta.dirname, "Caddyfile");

interface ComposeLinter {
  readonly DCLinter: new (config: {
    rules: object;
    quiet: boolean;
    debug: boolean;
    exclude: string[];
  }) => {
    lintFiles(
      files: string[],
      recursive: boolean,
    ): { readonly messages: readonly { readonly line: number; readonly message: string }[] }[];
  };
}
const { DCLinter } = await importTool<ComposeLinter>("dclint");

const scratch = mkdtempSync(path.join(tmpdir(), "spotwire-deploy-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const defaults = readEnv({});
/** Variables that Next and the load balancer's image read, but not the service. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  caddy: ["SITE_ADDRESS", "EDGES", "STREAM_OPTIONS"],
  postgres: ["POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"],
  valkey: ["REDISCLI_AUTH"],
};

/** Settings that compose.yaml does not pass on, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  NODE_ENV: "an image runs in production",
  PORT: "Caddy and the health check of the image use 3000; compose.yaml publishes another one of Caddy",
  HOST: "a container listens on all of its addresses",
  DATA_DIR: "the image sets it to its volume",
  NODE_URL: "containers of the network reach each other by the host name, which is the default",
  WORKERS: "must be 1 with REDIS_URL, as auto is",
  REDIS_CA_FILE: "Valkey is in the same network, without TLS",
  BACKUP_EVERY: "a container of its own makes the backups, into a volume",
  BACKUP_TO: "a container of its own makes the backups, into a volume",
  BACKUP_KEEP: "a container of its own makes the backups, into a volume",
  DATABASE_DIRECT_URL: "PostgreSQL is one of the containers, with no pooler before it",
};

interface ComposeService {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas?: number };
  readonly ports?: readonly string[];
  readonly healthcheck?: object;
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
}

const composeText = read("compose.yaml");
const { services } = parse(composeText, { merge: true }) as { services: Readonly<Record<string, ComposeService>> };

/** The linter's messages about a compose file: violations of the specification's schema and of good practice, except style. */
function lintCompose(text: string): string[] {
  const file = path.join(scratch, "compose.yaml");
  writeFileSync(file, text);
  const rules = {
    "service-keys-order": 0,
    "services-alphabetical-order": 0,
    "service-dependencies-alphabetical-order": 0,
    "top-level-properties-order": 0,
    "require-quotes-in-ports": [1, { quoteType: "double" }],
  };
  const results = new DCLinter({ rules, quiet: false, debug: false, exclude: [] }).lintFiles([file], false);
  return results.flatMap(({ messages }) => messages.map(({ line, message }) => `${line}: ${message}`));
}

/** A value that compose resolves with only the required variables in the environment. */
function filled(value: string): string {
  return value
    .replace(/\$\{\w+:-([^}]*)\}/g, "$1")
    .replace(/\$\{PUBLIC_URL:\?[^}]*\}/g, "https://market.example.com")
    .replace(/\$\{\w+:\?[^}]*\}/g, "0123456789abcdef0123456789abcdef");
}

describe("compose.yaml", () => {
  test("compose.yaml follows the Compose specification and its linter's rules", () =>
    expect(lintCompose(composeText)).toEqual([]));

  test.each([
    ["an unknown key", composeText.replace("stop_grace_period:", "stop_grace:")],
    ["a value of the wrong type", composeText.replace("init: true", "init: {}")],
    ["an image without a version", composeText.replace("caddy:2.11-alpine", "caddy")],
  ])("the linter rejects a compose.yaml with %s", (_, text) => expect(lintCompose(text)).not.toEqual([]));

  test.each(["edge", "ingest"])("compose.yaml gives %s nodes a valid configuration", (role) => {
    const { environment = {} } = services[role] ?? {};
    expect(Object.keys(environment).filter((name) => !(name in EnvSchema.shape))).toEqual([]);
    const env = readEnv(Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)])));
    expect(env).toMatchObject({ ROLE: role, REDIS_URL: expect.any(String), NEXTAUTH_SECRET: expect.any(String) });
    expect(composeText).toContain(`subnet: \${SUBNET:-${env.TRUSTED_PROXIES[0]}}`);
  });

  test.each(["edge", "ingest", "backup"])(
    "compose.yaml gives %s every setting that exists, under its own name, or says why not",
    (name) => {
      const { environment = {} } = services[name] ?? {};
      const role = name === "backup" ? ["ROLE"] : [];
      expect(
        Object.keys(EnvSchema.shape)
          .filter((setting) => !(setting in environment))
          .sort(),
      ).toEqual([...Object.keys(WITHOUT), ...role].sort());
      const asked = Object.entries(environment).flatMap(([setting, value]) =>
        [...value.matchAll(/^\$\{(\w+)/g)].map(([, variable]) => [setting, variable]),
      );
      expect(asked.filter(([setting, variable]) => setting !== variable && setting !== "TRUSTED_PROXIES")).toEqual([]);
    },
  );

  test("compose.yaml leaves each setting that is not given at the default of the service", () => {
    const { environment = {} } = services.ingest ?? {};
    const env = readEnv(Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)])));
    const own = ["ROLE", "DATABASE_URL", "REDIS_URL", "NEXTAUTH_SECRET", "PUBLIC_URL", "TRUSTED_PROXIES"];
    const others = Object.keys(EnvSchema.shape).filter((name) => !own.includes(name)) as (keyof typeof env)[];
    expect(Object.fromEntries(others.map((name) => [name, env[name]]))).toEqual(
      Object.fromEntries(others.map((name) => [name, defaults[name]])),
    );
  });

  test("a container that the guide removes takes its unnamed volume along, which nothing else would remove", () => {
    const removed = [...read("lib/docs/guides/deploy.mdx").matchAll(/docker rm\b[^;\n]*/g)].map(([command]) => command);
    expect(removed.length).toBeGreaterThan(0);
    for (const command of removed) expect(command).toContain("--volumes");
  });

  test("compose.yaml bounds the log of every container", () => {
    for (const [name, { logging }] of Object.entries(services))
      expect(logging, name).toEqual({ driver: "json-file", options: { "max-size": "10m", "max-file": "5" } });
  });

  test("compose.yaml backs up on a schedule, into a volume that the user of the image can write, and deletes old backups", () => {
    const { command = [], volumes = [] } = services.backup ?? {};
    expect(volumes).toEqual(["backups:/data/backups"]);
    expect(atRun(Keyword.RUN).join(" ")).toMatch(/install -d -o node .* \/data\/backups$/);
    const script = filled(command[2] ?? "");
    expect(script).toContain("node .next/spotwire/backup.mjs backup --folder /data/backups --keep-days 14;");
    expect(spawnSync("sh", ["-n"], { input: script }).status).toBe(0);
    expect(script).toMatch(/then sleep 86400; else sleep 3600; fi/);
  });

  test.each(Object.keys(OTHERS))("compose.yaml gives %s only variables that it reads", (name) =>
    expect(OTHERS[name]).toEqual(expect.arrayContaining(Object.keys(services[name]?.environment ?? {}))),
  );

  test("compose.yaml runs two edges and two ingests, lets them drain, and publishes only the load balancer", () => {
    for (const role of ["edge", "ingest"]) {
      expect(services[role]?.deploy?.replicas).toBe(2);
      expect(Number.parseInt(services[role]?.stop_grace_period ?? "", 10) * 1000).toBeGreaterThan(DRAIN_MAX_MS);
    }
    expect(Object.keys(services).filter((name) => services[name]?.ports !== undefined)).toEqual(["caddy"]);
  });
});

const dockerfile = DockerfileParser.parse(read("Dockerfile"));
const complaints = (text: string) => validateDockerfile(text).map(({ message }) => message);

/** The arguments of the only instruction of this kind after the last FROM; the strings of a JSON array are unchanged. */
function atRun(keyword: Keyword): string[] {
  const instructions = dockerfile.getInstructions();
  const from = instructions.findLastIndex((instruction) => instruction.getKeyword() === Keyword.FROM);
  const found = instructions.slice(from).filter((instruction) => instruction.getKeyword() === keyword);
  expect(found.length, keyword).toBe(1);
  const text = found[0]?.getArgumentsContent() ?? "";
  const list = /\[.*\]$/s.exec(text)?.[0];
  return list === undefined ? text.split(/\s+/) : (JSON.parse(list) as string[]);
}

/** Runs the image's health check against a server that responds with this status; resolves with its exit code. */
async function probe(status: number): Promise<number | null> {
  const [node, ...args] = atRun(Keyword.HEALTHCHECK);
  expect(node).toBe("node");
  const server = createServer(({ url }, response) => response.writeHead(url === "/api/health" ? status : 404).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = { PORT: String((server.address() as AddressInfo).port) } as unknown as NodeJS.ProcessEnv;
  const child = spawn(process.execPath, args, { env });
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  server.close();
  return code;
}

describe("Dockerfile", () => {
  test("the Dockerfile passes its linter", () => {
    expect(complaints(read("Dockerfile"))).toEqual([]);
    expect(complaints(read("Dockerfile").replace("EXPOSE 3000", "EXPOSE port"))).not.toEqual([]);
  });

  test("the image runs the command of `npm start` as an ordinary user, with Node as the process that receives signals", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Readonly<Record<string, string>> };
    expect(scripts.start?.endsWith(` ${atRun(Keyword.CMD).join(" ")}`)).toBe(true);
    expect(atRun(Keyword.USER)).toEqual(["node"]);
    expect(atRun(Keyword.STOPSIGNAL)).toEqual(["SIGTERM"]);
    expect(atRun(Keyword.EXPOSE)).toEqual([String(defaults.PORT)]);
  });

  test("the image sets the variables of `npm start` and settings of the service, and keeps its data on the volume", () => {
    const set = Object.fromEntries(atRun(Keyword.ENV).map((pair) => pair.split("=")));
    const { scripts } = JSON.parse(read("package.json")) as { scripts: { start: string } };
    const started = Object.fromEntries([...scripts.start.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
    expect(set).toMatchObject(started);
    expect(Object.keys(set).filter((name) => !(name in started || name in EnvSchema.shape))).toEqual([]);
    expect([set.DATA_DIR]).toEqual(atRun(Keyword.VOLUME));
  });

  test("the Dockerfile copies only folders that exist and are not ignored", () => {
    const ignored = read(".dockerignore").split("\n");
    const copied = [...read("Dockerfile").matchAll(/^COPY --from=build (.+)$/gm)].flatMap(([, line = ""]) =>
      (line.match(/\/app\/\S+/g) ?? []).map((file) => file.slice("/app/".length)),
    );
    expect(copied).toEqual(expect.arrayContaining(["app", "lib", "prisma", "server"]));
    expect(copied.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    expect(copied.filter((file) => ignored.includes(file))).toEqual([]);
  });

  test("the health check of the image distinguishes healthy from unhealthy processes", async () => {
    expect(await probe(200)).toBe(0);
    expect(await probe(503)).toBe(1);
  });
});

describe("the load balancers", () => {
  const caddy = (...settings: string[]) =>
    spawnSync("env", [`HOME=${scratch}`, ...settings, "caddy", "validate", "--adapter", "caddyfile", "--config", CADDYFILE], {
      encoding: "utf8",
    });

  test.skipIf(missing("caddy") !== null)("Caddy accepts the Caddyfile with both ways of finding edges", () => {
    for (const way of ["by_name", "fixed"]) {
      const { status, stderr } = caddy(`EDGES=${way}`, "EDGE_UPSTREAMS=10.0.0.11:3000 10.0.0.12:3000");
      expect(status, stderr).toBe(0);
    }
    expect(caddy("EDGES=guessed").status).not.toBe(0);
  });

  test.skipIf(missing("nginx") !== null)("nginx accepts nginx.conf", () => {
    const file = path.join(scratch, "nginx.conf");
    const included = path.join(import.meta.dirname, "nginx.conf");
    writeFileSync(file, `pid ${scratch}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp { include "${included}"; }\n`);
    const { status, stderr } = spawnSync("nginx", ["-t", "-c", file], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
  });

  test("nginx.conf contains every line of the guide's example", () => {
    const shown = /```nginx\n([\s\S]*?)```/.exec(read("lib/docs/guides/deploy.mdx"))?.[1]?.trim().split("\n") ?? [];
    const lines = read("server/deploy/nginx.conf").split("\n");
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter((line) => !lines.includes(line))).toEqual([]);
  });

  test("the load balancers keep Socket.IO's polling on one node and do not expose operational endpoints", () => {
    const caddyfile = readFileSync(CADDYFILE, "utf8");
    const nginx = read("server/deploy/nginx.conf");
    expect(caddyfile).toContain(`path ${SOCKET_IO_PATH}*`);
    expect(nginx).toContain(`location ${SOCKET_IO_PATH} {`);
    for (const door of ["/metrics", "/api/ready"]) {
      expect(existsSync(path.join(ROOT, "app", door, "route.ts")), door).toBe(true);
      expect(caddyfile).toMatch(new RegExp(`@inside path.* ${door}\\b`));
      expect(nginx).toContain(`location = ${door} {`);
    }
  });

  test("Caddy shows the edges' token in its health checks", () => {
    expect(readFileSync(CADDYFILE, "utf8")).toMatch(/health_headers \{\s+Authorization "Bearer \{\$METRICS_TOKEN\}"\s+\}/);
    expect("METRICS_TOKEN" in EnvSchema.shape).toBe(true);
  });

  test("the load balancers write no address of a link into an access log", () => {
    expect(readFileSync(CADDYFILE, "utf8")).not.toMatch(/^\s*log\b/m);
    expect(read("server/deploy/nginx.conf")).toContain(`location = ${linkOperation.path} {\n    access_log off;`);
  });

  test("the load balancers compress what the service sends as it is, JSON too, from the same size on", () => {
    expect(readFileSync(CADDYFILE, "utf8")).toMatch(
      new RegExp(`encode zstd gzip \\{\\s+minimum_length ${COMPRESSED_MIN_BYTES}\\s`),
    );
    const nginx = read("server/deploy/nginx.conf");
    for (const line of ["gzip on", "gzip_proxied any", `gzip_min_length ${COMPRESSED_MIN_BYTES}`])
      expect(nginx).toContain(`  ${line};`);
    expect(nginx).toMatch(/gzip_types application\/json /);
  });

  test("each load balancer closes an idle connection before the edges do", () => {
    const { KEEP_ALIVE_S } = defaults;
    const kept = [
      /keepalive_timeout (\d+)s;/.exec(read("server/deploy/nginx.conf")),
      /keepalive (\d+)s\n/.exec(readFileSync(CADDYFILE, "utf8")),
    ];
    for (const [, seconds] of kept.map((found) => found ?? [])) expect(Number(seconds)).toBeLessThan(KEEP_ALIVE_S);
    // By default, Traefik keeps them for 90 s.
    expect(Number(parse(read("server/deploy/helm/spotwire/values.yaml")).settings.KEEP_ALIVE_S)).toBeGreaterThan(90);
  });

  test("compose.yaml gives the load balancer only variables in the Caddyfile", () => {
    const asked = [...readFileSync(CADDYFILE, "utf8").matchAll(/\{\$(\w+)/g)].map(([, name]) => name);
    expect(asked).toEqual(expect.arrayContaining([...(OTHERS.caddy ?? [])]));
  });
});
