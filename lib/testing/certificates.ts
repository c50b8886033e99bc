import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A certificate for one host, and the authority that signed it. */
export interface ServerCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authority's certificate, as a file and as PEM. */
  readonly caFile: string;
  readonly ca: string;
}

/** Makes certificates in a directory of its own. */
export interface CertificateMaker {
  /** A certificate for `host` of an authority made for it. */
  issue(host: string): Promise<ServerCertificate>;
  close(): Promise<void>;
}

/** Makes a maker with openssl; undefined where there is none: tests that need it are then skipped, and say so. */
export async function certificateMaker(): Promise<CertificateMaker | undefined> {
  const found = await run("openssl", ["version"]).then(
    () => true,
    () => false,
  );
  if (!found) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-certificates-"));
  const openssl = (...args: string[]) => run("openssl", args, { cwd: folder });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  let made = 0;
  return {
    async issue(host) {
      made += 1;
      const prefix = String(made);
      const at = (end: string) => path.join(folder, `${prefix}-${end}`);
      const caFile = at("ca.pem");
      await openssl(
        "req",
        "-x509",
        ...key,
        "-subj",
        `/CN=Test CA ${prefix}`,
        "-days",
        "2",
        "-keyout",
        at("ca.key"),
        "-out",
        caFile,
      );
      await writeFile(at("names"), `subjectAltName=DNS:${host}`);
      await openssl("req", ...key, "-subj", `/CN=${host}`, "-keyout", at("server.key"), "-out", at("server.csr"));
      const signing = ["-CA", caFile, "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", at("names")];
      await openssl("x509", "-req", "-in", at("server.csr"), ...signing, "-out", at("server.pem"));
      return { certFile: at("server.pem"), keyFile: at("server.key"), caFile, ca: await readFile(caFile, "utf8") };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
