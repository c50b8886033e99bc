import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reservePort } from "#lib/testing/ports";

/** A proxy in front of nodes, in a process of its own. It may still be starting. */
export interface StartedProxy {
  readonly url: string;
  /** Ends it, and removes what it wrote. */
  stop(): Promise<void>;
}

/** What arrives at the other end of a wire arrives so much later, as between two machines. */
const LATENCY_MS = 15;

/** The wire between a proxy and a node. */
interface Wire {
  readonly address: string;
  /** Resolves when the first connection ends, to the side that ended it: the other one does not know of it yet. */
  readonly ended: Promise<"proxy" | "node">;
  close(): void;
}

/** Lays a wire to a node, as `host:port`. Bytes and ends take their time on it. */
export async function layWire(node: string): Promise<Wire> {
  const events = new EventEmitter();
  const ended = once(events, "ended").then(([side]) => side as "proxy" | "node");
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket, side: "proxy" | "node") => {
    sockets.add(from.once("close", () => sockets.delete(from)));
    const later = (act: () => void) => setTimeout(() => to.writable && act(), LATENCY_MS);
    from.on("data", (chunk) => later(() => to.write(chunk)));
    from.on("end", () => {
      events.emit("ended", side);
      later(() => to.end());
    });
    from.on("error", () => to.destroy());
  };
  const { hostname, port } = new URL(`http://${node}`);
  const server = createServer({ allowHalfOpen: true }, (proxy) => {
    const far = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    pass(proxy, far, "proxy");
    pass(far, proxy, "node");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ended,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The block of code of a guide that contains a text, as it stands there. @throws Error unless there is exactly one */
export async function recipeOf(guide: string, language: string, text: string): Promise<string> {
  const page = await readFile(`lib/docs/guides/${guide}.mdx`, "utf8");
  const blocks = [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\b.*\\n([\\s\\S]*?)^ *\`\`\`$`, "gm"))];
  const [found = "", ...more] = blocks.map(([, block = ""]) => block).filter((block) => block.includes(text));
  if (found === "" || more.length > 0) throw new Error(`Not one block of ${guide} contains ${JSON.stringify(text)}.`);
  return found;
}

async function begin(
  url: string,
  folder: string,
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<StartedProxy> {
  const child: ChildProcess = spawn(command, args, { stdio: "ignore", env });
  const ended = once(child, "exit");
  return {
    url,
    async stop() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "spotwire-proxy-"));
  // Workers of nginx are another user.
  await chmod(folder, 0o755);
  return folder;
}

/** Runs a command that starts Caddy, with these nodes and another address in place of its own. */
export async function startCaddy(recipe: string, nodes: readonly string[]): Promise<StartedProxy> {
  const folder = await ownFolder();
  const [port, admin] = [await reservePort(), await reservePort()];
  const site = recipe.replace(/SITE_ADDRESS=\S+/, `SITE_ADDRESS=:${port}`).replace(/EDGE_UPSTREAMS="[^"]*"/, "");
  const env = { ...process.env, HOME: folder, CADDY_ADMIN: `127.0.0.1:${admin}`, EDGE_UPSTREAMS: nodes.join(" ") };
  return begin(`http://127.0.0.1:${port}`, folder, "bash", ["-c", `exec env ${site}`], env);
}

/**
 * Runs nginx with a text of its `http` block, with these nodes, another address and another certificate in place of its own.
 * Debian's main file has the rest.
 */
export async function startNginx(
  recipe: string,
  nodes: readonly string[],
  certificate?: { readonly certFile: string; readonly keyFile: string },
): Promise<StartedProxy> {
  const folder = await ownFolder();
  const port = await reservePort();
  let text = recipe
    .replace(/^(?<begin> *listen )\d+/m, `$<begin>127.0.0.1:${port}`)
    .replace(/ssl_certificate \S+;/, `ssl_certificate ${certificate?.certFile};`)
    .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${certificate?.keyFile};`);
  for (const [index, node] of nodes.entries()) text = text.replaceAll(`10.0.0.1${index + 1}:3000`, node);
  text = text.replaceAll("127.0.0.1:3000", nodes[0] ?? "");
  const site = join(folder, "site.conf");
  await writeFile(site, text);
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temporary = kinds.map((kind) => `${kind}_temp_path "${folder}/${kind}";`).join(" ");
  const file = join(folder, "nginx.conf");
  const main = `pid "${folder}/nginx.pid";\nerror_log stderr;\ndaemon off;\nevents {}\n`;
  await writeFile(file, `${main}http { access_log off; ${temporary} include "${site}"; }\n`);
  const scheme = certificate === undefined ? "http" : "https";
  return begin(`${scheme}://127.0.0.1:${port}`, folder, "nginx", ["-p", folder, "-c", file], process.env);
}
