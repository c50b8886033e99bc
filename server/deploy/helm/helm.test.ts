import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Ajv from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { EnvSchema } from "#lib/env";
import { SECRET_SETTINGS } from "#lib/env-feeds";
import { type Manifest, misfits, validateManifest } from "#server/testing/manifests";
import { installPackage, PACKAGE_TIMEOUT_MS } from "../../../e2e/packages";

const CHART = path.join(import.meta.dirname, "spotwire");
const KUBERNETES = path.join(import.meta.dirname, "..", "kubernetes");
const RULES = path.join(import.meta.dirname, "..", "prometheus", "rules.yaml");
/** Debian's packages of what the chart is rendered with, and where they have their sources. */
const PACKAGES = ["golang-go", "golang-github-masterminds-sprig-dev", "golang-k8s-sigs-yaml-dev"];
const SOURCES = "/usr/share/gocode";

type Tree = Readonly<Record<string, unknown>>;
const read = (...file: string[]) => readFileSync(path.join(...file), "utf8");
const values = parse(read(CHART, "values.yaml")) as Readonly<Record<string, Tree>>;
const documentsOf = (text: string) => parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

describe("the values of the chart", () => {
  const schema = new Ajv({ strict: true, strictTypes: false }).compile(parse(read(CHART, "values.schema.json")) as object);
  const isAllowed = (changed: Tree) => schema({ ...values, ...changed });

  test("the chart's own values fit its schema", () => {
    expect(isAllowed({}), JSON.stringify(schema.errors)).toBe(true);
    const settings = Object.keys(values.settings ?? {});
    expect(settings.filter((name) => !(name in EnvSchema.shape))).toEqual([]);
  });

  test.each([
    ["an unknown key", { replicas: 2 }],
    ["an image without a version of its own", { image: { repository: "spotwire", tag: "latest" } }],
    ["one edge", { edge: { autoscaling: { minReplicas: 1 } } }],
    ["a URL without a scheme", { settings: { PUBLIC_URL: "market.example.com" } }],
    ["no Secret", { existingSecret: "" }],
    ["a setting that the chart sets", { settings: { ...values.settings, ROLE: "all" } }],
    ["no settings", { settings: undefined }],
  ])("the schema rejects %s", (_, changed) => expect(isAllowed(changed)).toBe(false));

  test.each([...SECRET_SETTINGS, "OTEL_EXPORTER_OTLP_HEADERS"])(
    "%s cannot be a value, which Helm would keep with each release",
    (name) => expect(isAllowed({ settings: { ...values.settings, [name]: "x" } })).toBe(false),
  );

  test("the chart has the alert rules as they are", () => {
    expect(realpathSync(path.join(CHART, "files", "rules.yaml"))).toBe(realpathSync(RULES));
  });
});

/** Labels and annotations that only a chart has, or only the kustomization. */
const OWN =
  /^(app\.kubernetes\.io\/(name|instance|version|managed-by)|helm\.sh\/chart|checksum\/settings|helm\.sh\/resource-policy)$/;
const NAMES: Readonly<Record<string, string>> = {
  "spotwire-edge": "edge",
  "spotwire-ingest": "ingest",
  "spotwire-backup": "backup",
  "spotwire-backups": "backups",
  "spotwire-nowhere": "nowhere",
  "spotwire-settings": "spotwire",
};

/** A manifest with the names of the kustomization, and without what is the chart's own. */
function likened(value: unknown): unknown {
  if (typeof value === "string") return NAMES[value] ?? value;
  if (Array.isArray(value)) return value.map(likened);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key]) => !OWN.test(key) && key !== "imagePullPolicy");
  const made = entries.map(([key, inner]) => [key, likened(inner)] as const);
  return Object.fromEntries(
    made.filter(
      ([key, inner]) => !["labels", "annotations", "matchLabels"].includes(key) || Object.keys(inner as object).length > 0,
    ),
  );
}

describe("the chart, rendered by Go's templates and sprig, as Helm does", () => {
  const scratch = mkdtempSync(path.join(tmpdir(), "spotwire-helm-"));
  const program = path.join(scratch, "render");
  let failure: string | null = null;
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  beforeAll(async () => {
    const isThere = () =>
      spawnSync("go", ["version"]).status === 0 &&
      existsSync(`${SOURCES}/src/github.com/Masterminds/sprig`) &&
      existsSync(`${SOURCES}/src/sigs.k8s.io/yaml`);
    for (const name of isThere() ? [] : PACKAGES) failure ??= await installPackage(name);
    if (failure !== null) return;
    const settings = ["GO111MODULE=off", `GOPATH=${SOURCES}`, "GOFLAGS="];
    const main = path.join(import.meta.dirname, "render", "main.go");
    const { status, stderr } = spawnSync("env", [...settings, "go", "build", "-o", program, main], { encoding: "utf8" });
    if (status !== 0) failure = stderr;
  }, PACKAGE_TIMEOUT_MS);

  function render(changed: Tree = {}, release = "spotwire"): Manifest[] {
    const input = JSON.stringify({ release, namespace: "market", values: { ...values, ...changed } });
    const { status, stdout, stderr } = spawnSync(program, [CHART], { input, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return documentsOf(stdout);
  }
  const monitored = {
    podMonitor: { enabled: true, interval: "15s", labels: { release: "prometheus" } },
    prometheusRule: { enabled: true, labels: {} },
  };
  const reason = () => `the chart cannot be rendered here: ${failure}`;

  test("it makes what the kustomization makes, field for field", ({ skip }) => {
    skip(failure !== null, reason());
    const { resources, images, configMapGenerator } = parse(read(KUBERNETES, "kustomization.yaml")) as {
      resources: string[];
      images: [{ newName: string; newTag: string }];
      configMapGenerator: [{ literals: string[] }];
    };
    const [{ newName, newTag }] = images;
    const text = resources.map((file) => read(KUBERNETES, file)).join("\n---\n");
    const expected = documentsOf(text.replaceAll("image: spotwire", `image: ${newName}:${newTag}`)).map(likened);
    const [settings, ...others] = [...render()].sort((a, b) => Number(b.kind === "ConfigMap") - Number(a.kind === "ConfigMap"));
    const byName = (list: readonly unknown[]) =>
      Object.fromEntries((list as Manifest[]).map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));
    expect(byName(others.map(likened))).toEqual(byName(expected));
    const literals = configMapGenerator[0].literals.map((line) => line.split(/=(.*)/s).slice(0, 2));
    expect((settings as Manifest & { data: object }).data).toEqual(Object.fromEntries(literals));
  });

  test("every manifest, also those of the Prometheus operator, fits Kubernetes' types and schemas", async ({ skip }) => {
    skip(failure !== null, reason());
    const made = render(monitored);
    expect(made.map(({ kind }) => kind).sort()).toEqual([
      ...["ConfigMap", "CronJob", "Deployment", "Deployment", "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy"],
      ...["NetworkPolicy", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "PodDisruptionBudget", "PodMonitor"],
      ...["PrometheusRule", "Service", "Service"],
    ]);
    expect(misfits(made)).toEqual([]);
    for (const manifest of made) await validateManifest(manifest);
    const rule = made.find(({ kind }) => kind === "PrometheusRule") as Manifest & { spec: object };
    expect(rule.spec).toEqual(parse(readFileSync(RULES, "utf8")));
  });

  test("two releases in a namespace have nothing in common, and select their own pods", ({ skip }) => {
    skip(failure !== null, reason());
    const names = ["blue", "green"].map((release) => render({}, release).map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    expect(names[0]?.filter((name) => names[1]?.includes(name))).toEqual([]);
    const service = render({}, "blue").find(({ metadata }) => metadata.name === "blue-edge" && metadata) as Manifest;
    expect(JSON.stringify(service)).toContain('"app.kubernetes.io/instance":"blue"');
  });

  test("a change of the settings restarts the pods; without a Secret nothing is made", ({ skip }) => {
    skip(failure !== null, reason());
    const sums = (changed: Tree) => JSON.stringify(render(changed)).match(/"checksum\/settings":"\w{64}"/g);
    expect(sums({})).toHaveLength(2);
    expect(sums({})).toEqual(sums({ image: { ...values.image, tag: "0.2.0" } }));
    expect(sums({ settings: { ...values.settings, LOG_LEVEL: "debug" } })).not.toEqual(sums({}));
    expect(() => render({ existingSecret: "" })).toThrow("existingSecret names the Secret");
    expect(render({ ingress: { enabled: false } }).filter(({ kind }) => kind === "Ingress")).toEqual([]);
  });
});
