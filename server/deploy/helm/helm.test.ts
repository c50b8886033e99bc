import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Ajv from "ajv";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { EnvSchema } from "#lib/env";
import { SECRET_SETTINGS } from "#lib/env-feeds";
import { createMetrics } from "#lib/metrics";
import { GO_PATH, missing } from "#lib/testing/packages";
import { backupCommand } from "#server/cli/backup";
import { readEnv } from "#server/env";
import { DRAIN_MAX_MS } from "#server/ops/shutdown";
import { type Manifest, misfits, validateManifest } from "#server/testing/manifests";

const CHART = path.join(import.meta.dirname, "spotwire");
const RULES = path.join(import.meta.dirname, "..", "prometheus", "rules.yaml");
/** Compiling Go's templates and sprig takes seconds on an idle machine. */
const COMPILE_MAX_MS = 360_000;

type Tree = Readonly<Record<string, unknown>>;
const read = (...file: string[]) => readFileSync(path.join(...file), "utf8");
const values = parse(read(CHART, "values.yaml")) as Readonly<Record<string, Tree>>;
const GUIDE = read("lib", "docs", "guides", "deploy.mdx");
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
    ["a URL with a path", { settings: { PUBLIC_URL: "https://example.com/market" } }],
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

type Labels = Readonly<Record<string, string>>;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } };
    readonly selector: { readonly matchLabels: Labels };
    readonly template: { readonly metadata: { readonly labels: Labels; readonly annotations: Labels }; readonly spec: PodSpec };
  };
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly volumes: readonly { readonly name: string }[];
  readonly containers: readonly [
    {
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly startupProbe: Probe;
      readonly livenessProbe: Probe;
      readonly readinessProbe: Probe;
      readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
      readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    },
  ];
}

interface Policy extends Manifest {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly ingress?: readonly { readonly from: readonly object[]; readonly ports: readonly { readonly port: number }[] }[];
  };
}

/** Every object that makes pods. */
interface PodMaker extends Manifest {
  readonly spec: {
    readonly template?: { readonly spec: Tree };
    readonly jobTemplate?: { readonly spec: { readonly template: { readonly spec: Tree } } };
  };
}

interface BackupJob extends Manifest {
  readonly spec: {
    readonly jobTemplate: {
      readonly spec: {
        readonly template: { readonly spec: { readonly containers: [{ command: string[] }]; readonly volumes: object[] } };
      };
    };
  };
}

const COMPONENT = "app.kubernetes.io/component";

describe("the chart, rendered by Go's templates and sprig, as Helm does", () => {
  const scratch = mkdtempSync(path.join(tmpdir(), "spotwire-helm-"));
  const program = path.join(scratch, "render");
  let failure: string | null = null;
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  beforeAll(() => {
    failure = missing("golang-go", "golang-github-masterminds-sprig-dev", "golang-k8s-sigs-yaml-dev");
    if (failure !== null) return;
    const settings = ["GO111MODULE=off", `GOPATH=${GO_PATH}`, "GOFLAGS="];
    const main = path.join(import.meta.dirname, "render", "main.go");
    const { status, stderr } = spawnSync("env", [...settings, "go", "build", "-o", program, main], { encoding: "utf8" });
    if (status !== 0) failure = stderr;
    else made = render(monitored);
  }, COMPILE_MAX_MS);
  beforeEach(({ skip }) => skip(failure !== null, `the chart cannot be rendered here: ${failure}`));

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
  /** The whole chart with its own values, and the objects of the Prometheus operator. */
  let made: Manifest[] = [];
  /** The object of this kind and name. */
  function one<Kind extends Manifest = Manifest>(kind: string, name: string): Kind {
    const found = made.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
    if (found === undefined) throw new Error(`the chart has no ${kind} ${name}`);
    return found as Kind;
  }
  const settingsOf = (manifests: readonly Manifest[]) =>
    (manifests.find(({ kind }) => kind === "ConfigMap") as Manifest & { data: Record<string, string> }).data;

  test("the check of types rejects a misspelt, missing or wrong field", async () => {
    const text = JSON.stringify(one("Deployment", "spotwire-edge"));
    const broken = (from: string, to: string) => JSON.parse(text.replace(from, to)) as Manifest;
    const found = await misfits([
      broken("terminationGracePeriodSeconds", "terminationGraceSeconds"),
      broken('"periodSeconds":2', '"periodSeconds":"two"'),
      broken('"containerPort":3000', '"protocol":"TCP"'),
    ]);
    expect(found).toEqual([
      expect.stringContaining('"terminationGraceSeconds"\' does not exist'),
      expect.stringContaining("'string' is not assignable to type 'number'"),
      expect.stringContaining('"containerPort"\' is missing'),
    ]);
  });

  describe.each(["edge", "ingest"])("a pod of %s", (role) => {
    const deployment = () => one<Deployment>("Deployment", `spotwire-${role}`).spec;

    test("a pod is replaced after its successor is ready, and has time to leave the load balancers and drain", () => {
      const { strategy, selector, template } = deployment();
      expect(strategy.rollingUpdate.maxUnavailable).toBe(0);
      const leaveMs = template.spec.containers[0].lifecycle.preStop.sleep.seconds * 1000;
      expect(template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(leaveMs + DRAIN_MAX_MS);
      expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    });

    test("the probes of a pod use endpoints that exist", () => {
      const { metadata, spec } = deployment().template;
      const { startupProbe, livenessProbe, readinessProbe, ports } = spec.containers[0];
      for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
        expect(existsSync(path.join("app", httpGet.path, "route.ts")), httpGet.path).toBe(true);
        expect(ports.map(({ name }) => name)).toContain(httpGet.port);
      }
      expect(livenessProbe.httpGet.path).toBe("/api/health");
      expect(readinessProbe.httpGet.path).toBe("/api/ready");
      expect(ports[0]?.containerPort).toBe(readEnv({}).PORT);
      const operators = String(ports.find(({ name }) => name === readinessProbe.httpGet.port)?.containerPort);
      expect(settingsOf(made).METRICS_PORT).toBe(operators);
      expect(metadata.annotations["prometheus.io/port"]).toBe(operators);
      const monitor = one<Manifest & { spec: { podMetricsEndpoints: [{ port: string }] } }>("PodMonitor", "spotwire");
      expect(monitor.spec.podMetricsEndpoints[0].port).toBe(readinessProbe.httpGet.port);
    });

    test("a pod has a valid configuration, with the Secret of the guide", () => {
      const own = deployment().template.spec.containers[0].env.flatMap(({ name, value }) =>
        value === undefined ? [] : [[name, value.replace("$(POD_IP)", "10.0.0.7")]],
      );
      const [, secret = ""] =
        /```yaml norun\n(apiVersion: v1\nkind: Secret\n.*?)```/s.exec(GUIDE.replaceAll(/^ {3}/gm, "")) ?? [];
      const { metadata, stringData } = parse(secret) as Manifest & { stringData: Record<string, string> };
      expect(metadata.name).toBe(values.existingSecret);
      const settings = { ...Object.fromEntries(own), ...settingsOf(made), ...stringData } as Record<string, string>;
      expect(Object.keys(settings).filter((name) => !(name in EnvSchema.shape))).toEqual([]);
      expect(readEnv(settings)).toMatchObject({ ROLE: role, NODE_URL: "http://10.0.0.7:3000" });
    });

    test("a pod runs as an unprivileged user and writes only to its volumes", () => {
      const { securityContext, containers, volumes } = deployment().template.spec;
      expect(securityContext.runAsNonRoot).toBe(true);
      expect(containers[0].securityContext.readOnlyRootFilesystem).toBe(true);
      expect(containers[0].volumeMounts.map(({ mountPath }) => mountPath)).toEqual(["/tmp", "/data"]);
      expect(containers[0].volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    });
  });

  test("no pod gets variables named after other Services, which could be taken for settings", () => {
    const pods = (made as PodMaker[]).flatMap(({ metadata, spec }) => {
      const pod = (spec?.jobTemplate?.spec ?? spec)?.template?.spec;
      return pod === undefined ? [] : [[metadata.name, pod.enableServiceLinks]];
    });
    expect(pods.sort()).toEqual([
      ["spotwire-backup", false],
      ["spotwire-edge", false],
      ["spotwire-ingest", false],
    ]);
  });

  test("every pod has a policy, and each way in names who may use which port of the pod", () => {
    const policies = made.filter(({ kind }) => kind === "NetworkPolicy") as Policy[];
    const roles = made.flatMap(({ kind, metadata }) => (["Deployment", "CronJob"].includes(kind) ? [metadata.name] : []));
    expect(policies.map(({ spec }) => `spotwire-${spec.podSelector.matchLabels[COMPONENT]}`).sort()).toEqual(roles.sort());
    for (const { metadata, spec } of policies) {
      const isBackup = metadata.name === "spotwire-backup";
      const open = isBackup ? [] : one<Deployment>("Deployment", metadata.name).spec.template.spec.containers[0].ports;
      expect((spec.ingress ?? []).flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(
        open.map(({ containerPort }) => containerPort),
      );
      for (const { from } of spec.ingress ?? []) expect(from.length).toBeGreaterThan(0);
    }
  });

  test("no proxy is trusted by default", () => expect(settingsOf(made).TRUSTED_PROXIES).toBe(""));

  test("a job writes backups every night, one at a time, into a volume that outlives it, and deletes old ones by the command's options", () => {
    const job = one<BackupJob>("CronJob", "spotwire-backup");
    expect(job.spec).toMatchObject({ schedule: "17 3 * * *", concurrencyPolicy: "Forbid" });
    const { containers, volumes } = job.spec.jobTemplate.spec.template.spec;
    const [, program = "", word, ...options] = containers[0].command;
    expect(program).toMatch(/\/backup\.mjs$/);
    expect(word).toBe("backup");
    expect(options).toEqual(["--folder", "/backups", "--keep-days", "14"]);
    for (const option of options.filter((word) => word.startsWith("--")))
      expect(Object.keys(backupCommand.options)).toContain(option.slice(2));
    const claim = one("PersistentVolumeClaim", "spotwire-backups");
    expect(volumes).toContainEqual({ name: "backups", persistentVolumeClaim: { claimName: claim.metadata.name } });
  });

  test("the autoscaler uses a metric of the service, by the adapter's name for it", () => {
    const metrics = createMetrics();
    metrics.streamConnections(() => 0);
    const { spec } = one<Manifest & { spec: { metrics: [{ pods: { metric: { name: string } } }] } }>(
      "HorizontalPodAutoscaler",
      "spotwire-edge",
    );
    const { name } = spec.metrics[0].pods.metric;
    expect(metrics.registry.getSingleMetric(name)).toBeDefined();
    const { rules } = parse(read(import.meta.dirname, "prometheus-adapter.values.yaml")) as {
      rules: { custom: [{ seriesQuery: string; name: { as: string } }] };
    };
    expect(rules.custom[0].seriesQuery.startsWith(`${name}{`)).toBe(true);
    expect(rules.custom[0].name.as).toBe(name);
  });

  test("every manifest, also those of the Prometheus operator, fits Kubernetes' types and schemas", async () => {
    expect(made.map(({ kind }) => kind).sort()).toEqual([
      "ConfigMap",
      "CronJob",
      "Deployment",
      "Deployment",
      "HorizontalPodAutoscaler",
      "Ingress",
      "NetworkPolicy",
      "NetworkPolicy",
      "NetworkPolicy",
      "PersistentVolumeClaim",
      "PodDisruptionBudget",
      "PodDisruptionBudget",
      "PodMonitor",
      "PrometheusRule",
      "Service",
      "Service",
    ]);
    expect(await misfits(made)).toEqual([]);
    for (const manifest of made) {
      await validateManifest(manifest);
      await expect(validateManifest({ ...manifest, metadata: { name: [] as unknown as string } })).rejects.toThrow();
    }
    const rule = made.find(({ kind }) => kind === "PrometheusRule") as Manifest & { spec: object };
    expect(rule.spec).toEqual(parse(readFileSync(RULES, "utf8")));
  });

  test("two releases in a namespace have nothing in common, and select their own pods", () => {
    const names = ["blue", "green"].map((release) => render({}, release).map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    expect(names[0]?.filter((name) => names[1]?.includes(name))).toEqual([]);
    const service = render({}, "blue").find(({ metadata }) => metadata.name === "blue-edge" && metadata) as Manifest;
    expect(JSON.stringify(service)).toContain('"app.kubernetes.io/instance":"blue"');
  });

  test("a change of the settings restarts the pods; without a Secret nothing is made", () => {
    const sums = (changed: Tree) => JSON.stringify(render(changed)).match(/"checksum\/settings":"\w{64}"/g);
    expect(sums({})).toHaveLength(2);
    expect(sums({})).toEqual(sums({ image: { ...values.image, tag: "0.2.0" } }));
    expect(sums({ settings: { ...values.settings, LOG_LEVEL: "debug" } })).not.toEqual(sums({}));
    expect(() => render({ existingSecret: "" })).toThrow("existingSecret names the Secret");
    expect(render({ ingress: { enabled: false } }).filter(({ kind }) => kind === "Ingress")).toEqual([]);
  });
});
