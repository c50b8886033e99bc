import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { EnvSchema, readEnv } from "#lib/env";
import { createMetrics } from "#lib/metrics";
import { backupCommand } from "#server/cli/backup";
import { DRAIN_MAX_MS } from "#server/ops/shutdown";
import { type Manifest, misfits, validateManifest } from "#server/testing/manifests";

const FOLDER = import.meta.dirname;
const ROOT = path.join(FOLDER, "..", "..", "..");
/** Not part of the installation; the first two are no manifests of Kubernetes. */
const NOT_APPLIED = ["kustomization.yaml", "prometheus-adapter.values.yaml", "pod-monitor.yaml", "secret.example.yaml"];
const NO_MANIFESTS = NOT_APPLIED.slice(0, 2);

type Labels = Readonly<Record<string, string>>;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } };
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
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

const read = (file: string) => readFileSync(path.join(FOLDER, file), "utf8");
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));
const manifestsOf = (file: string) => parseAllDocuments(read(file)).map((document) => document.toJS() as Manifest);
const manifests = files
  .filter((file) => !NO_MANIFESTS.includes(file))
  .flatMap((file) =>
    manifestsOf(file).map((manifest) => [`${file}: ${manifest.kind} ${manifest.metadata.name}`, manifest] as const),
  );

function deployment(name: string): Deployment {
  const found = manifests.find(([, { kind, metadata }]) => kind === "Deployment" && metadata.name === name);
  return found?.[1] as Deployment;
}

describe("the manifests", () => {
  test("the manifests match Kubernetes' types in every field", () => {
    expect(manifests.length).toBeGreaterThan(6);
    expect(misfits(manifests.map(([, manifest]) => manifest))).toEqual([]);
  });

  test("the check of types rejects a misspelt, missing or wrong field", () => {
    const text = read("edge.yaml");
    const broken = (from: string, to: string) => misfits([parseAllDocuments(text.replace(from, to))[0]?.toJS() as Manifest]);
    expect(broken("terminationGracePeriodSeconds", "terminationGraceSeconds")).not.toEqual([]);
    expect(broken("periodSeconds: 2", "periodSeconds: two")).not.toEqual([]);
    expect(broken("containerPort: 3000", "protocol: TCP")).not.toEqual([]);
  });

  test.each(manifests)("%s has values that Kubernetes' schema allows", async (_, manifest) => {
    await validateManifest(manifest);
    await expect(validateManifest({ ...manifest, metadata: { name: [] as unknown as string } })).rejects.toThrow();
  });

  test("the kustomization applies all manifests except the examples", () => {
    const { resources } = parse(read("kustomization.yaml")) as { resources: string[] };
    expect([...resources, ...NOT_APPLIED].sort()).toEqual([...files].sort());
  });

  test.skipIf(spawnSync("kubectl", ["version", "--client"]).status !== 0)("kustomize builds the manifests", () => {
    const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", FOLDER], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
    const made = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    const settings = made.find(({ kind }) => kind === "ConfigMap")?.metadata.name;
    expect(settings).toMatch(/^spotwire-\w+$/);
    expect(stdout.match(new RegExp(`name: ${settings}$`, "gm"))).toHaveLength(4);
  });
});

describe.each(["edge", "ingest"])("a pod of %s", (role) => {
  const { spec } = deployment(role);
  const pod = spec.template.spec;
  const [container] = pod.containers;

  test("a pod is replaced after its successor is ready, and has time to leave the load balancers and drain", () => {
    expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    const leaveMs = container.lifecycle.preStop.sleep.seconds * 1000;
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(leaveMs + DRAIN_MAX_MS);
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
  });

  test("the probes of a pod use endpoints that exist", () => {
    const { startupProbe, livenessProbe, readinessProbe, ports } = container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(existsSync(path.join(ROOT, "app", httpGet.path, "route.ts")), httpGet.path).toBe(true);
      expect(ports.map(({ name }) => name)).toContain(httpGet.port);
    }
    expect(livenessProbe.httpGet.path).toBe("/api/health");
    expect(readinessProbe.httpGet.path).toBe("/api/ready");
    expect(ports[0]?.containerPort).toBe(readEnv({}).PORT);
    const operators = ports.find(({ name }) => name === readinessProbe.httpGet.port)?.containerPort;
    expect(read("kustomization.yaml")).toContain(`- METRICS_PORT=${operators}\n`);
    const annotations = deployment(role).spec.template.metadata.annotations;
    expect(annotations["prometheus.io/port"]).toBe(String(operators));
    const [{ spec: monitor }] = manifestsOf("pod-monitor.yaml") as unknown as [
      { spec: { podMetricsEndpoints: [{ port: string }] } },
    ];
    expect(monitor.podMetricsEndpoints[0].port).toBe(readinessProbe.httpGet.port);
  });

  test("a pod has a valid configuration", () => {
    const { configMapGenerator } = parse(read("kustomization.yaml")) as { configMapGenerator: [{ literals: string[] }] };
    const { stringData } = manifestsOf("secret.example.yaml")[0] as unknown as { stringData: Record<string, string> };
    const own = container.env.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value.replace("$(POD_IP)", "10.0.0.7")]],
    );
    const literals = configMapGenerator[0].literals.map((line) => line.split(/=(.*)/s).slice(0, 2));
    const settings = { ...Object.fromEntries([...own, ...literals]), ...stringData } as Record<string, string>;
    expect(Object.keys(settings).filter((name) => !(name in EnvSchema.shape))).toEqual([]);
    expect(readEnv(settings)).toMatchObject({ ROLE: role, NODE_URL: "http://10.0.0.7:3000" });
  });

  test("a pod runs as an unprivileged user and writes only to its volumes", () => {
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(["/tmp", "/data"]);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
  });
});

describe("the network policies", () => {
  interface Policy extends Manifest {
    readonly spec: {
      readonly podSelector: { readonly matchLabels: Labels };
      readonly ingress?: readonly { readonly from: readonly object[]; readonly ports: readonly { readonly port: number }[] }[];
    };
  }
  const policies = manifestsOf("network.yaml") as Policy[];

  test("every pod has a policy, and each way in names who may use which port of the pod", () => {
    const roles = manifests.flatMap(([, { kind, metadata }]) =>
      ["Deployment", "CronJob"].includes(kind) ? [metadata.name] : [],
    );
    expect(policies.map(({ spec }) => spec.podSelector.matchLabels["app.kubernetes.io/component"]).sort()).toEqual(roles.sort());
    for (const { metadata, spec } of policies) {
      const open = metadata.name === "backup" ? [] : deployment(metadata.name).spec.template.spec.containers[0].ports;
      expect((spec.ingress ?? []).flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual(
        open.map(({ containerPort }) => containerPort),
      );
      for (const { from } of spec.ingress ?? []) expect(from.length).toBeGreaterThan(0);
    }
  });

  test("no proxy is trusted by default", () => {
    const { configMapGenerator } = parse(read("kustomization.yaml")) as { configMapGenerator: [{ literals: string[] }] };
    expect(configMapGenerator[0].literals).toContain("TRUSTED_PROXIES=");
  });
});

describe("the backups", () => {
  test("a job writes them every night, one at a time, into a volume that outlives it, and deletes old ones by the command's options", () => {
    const [job, claim] = manifestsOf("backup.yaml") as unknown as [
      {
        spec: {
          schedule: string;
          concurrencyPolicy: string;
          jobTemplate: { spec: { template: { spec: { containers: [{ command: string[] }]; volumes: object[] } } } };
        };
      },
      Manifest,
    ];
    expect(job.spec).toMatchObject({ schedule: "17 3 * * *", concurrencyPolicy: "Forbid" });
    const { containers, volumes } = job.spec.jobTemplate.spec.template.spec;
    const [, program = "", word, ...options] = containers[0].command;
    expect(program).toMatch(/\/backup\.mjs$/);
    expect(word).toBe("backup");
    expect(options).toEqual(["--folder", "/backups", "--keep-days", "14"]);
    for (const option of options.filter((word) => word.startsWith("--")))
      expect(Object.keys(backupCommand.options)).toContain(option.slice(2));
    expect(volumes).toContainEqual({ name: "backups", persistentVolumeClaim: { claimName: claim.metadata.name } });
  });
});

describe("the autoscaler", () => {
  test("the autoscaler uses a metric of the service, by the adapter's name for it", () => {
    const metrics = createMetrics();
    metrics.streamConnections(() => 0);
    const { spec } = manifestsOf("autoscaler.yaml")[0] as unknown as {
      spec: { metrics: [{ pods: { metric: { name: string } } }] };
    };
    const { name } = spec.metrics[0].pods.metric;
    expect(metrics.registry.getSingleMetric(name)).toBeDefined();
    const { rules } = parse(read("prometheus-adapter.values.yaml")) as {
      rules: { custom: [{ seriesQuery: string; name: { as: string } }] };
    };
    expect(rules.custom[0].seriesQuery.startsWith(`${name}{`)).toBe(true);
    expect(rules.custom[0].name.as).toBe(name);
  });
});
