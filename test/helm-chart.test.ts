import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject";
import { PodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { Job } from "kubernetes-models/batch/v1/Job";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import { describe, expect, test } from "vitest";
import { readConfig } from "../server/src/config/config.ts";
import { SETTINGS } from "../server/src/config/settings.ts";
import { Chart, chartSkipReason, type KubernetesObject } from "./support/render-chart.ts";

const ROOT = join(import.meta.dirname, "..");
const KINDS = {
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  PodMonitor,
  ScaledObject,
  Service,
  ServiceAccount,
};

const MINIMAL_VALUES = {
  secret: "captions-secrets",
  settings: { PUBLIC_URL: "https://captions.example.com", S3_BUCKET: "captions" },
};
const ALL_VALUES = {
  ...MINIMAL_VALUES,
  image: { repository: "registry.example.com/subtext", tag: "1.2.3", pullSecrets: [{ name: "registry" }] },
  api: { nodeSelector: { disk: "ssd" }, tolerations: [{ key: "media", operator: "Exists" }] },
  models: { existingClaim: "models" },
  autoscaling: { kind: "keda", selector: 'namespace="media"' },
  podMonitor: { enabled: true, labels: { release: "prometheus" } },
  ingress: { enabled: true, className: "nginx", host: "captions.example.com", tlsSecret: "captions-tls" },
  serviceAccount: { annotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/captions" } },
  networkPolicy: {
    enabled: true,
    apiFrom: [{ namespaceSelector: { matchLabels: { name: "ingress" } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }],
    dependencies: [{ ports: [{ port: 5432 }], to: [{ ipBlock: { cidr: "10.0.0.5/32" } }] }],
  },
};

const skipReason = chartSkipReason();

// Without Helm and a cluster, these tests show only that the templates render, and that the objects match the schemas
// of Kubernetes, KEDA and the Prometheus operator.
describe.skipIf(skipReason)(`the Helm chart${skipReason ? ` (skipped: ${skipReason})` : ""}`, () => {
  const chart =
    skipReason === null ? new Chart(join(ROOT, "deploy/helm/subtext")) : (null as unknown as Chart);
  const find = (objects: KubernetesObject[], kind: string, end = "") =>
    objects.find((each) => each.kind === kind && each.metadata.name.endsWith(end)) as KubernetesObject;
  const podOf = (deployment: KubernetesObject) => deployment.spec.template.spec;

  const variants = {
    "minimal values": MINIMAL_VALUES,
    "all values": ALL_VALUES,
    "an external metric for scaling": {
      ...MINIMAL_VALUES,
      autoscaling: { kind: "hpa", hpaMetric: "subtext_recordings" },
    },
    "fixed workers that only some nodes may run": {
      ...MINIMAL_VALUES,
      worker: {
        replicas: 3,
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "cpu", operator: "In", values: ["fast"] }] }],
            },
          },
        },
      },
      serviceAccount: { create: false, name: "captions" },
      service: { type: "LoadBalancer", port: 443 },
    },
    "no optional objects": {
      ...MINIMAL_VALUES,
      migration: { enabled: false },
      serviceAccount: { create: false },
      api: { podDisruptionBudget: null },
    },
  };

  test.each(Object.entries(variants))("with %s, every object matches its schema", (_name, values) => {
    for (const object of chart.render(values)) {
      const Kind = KINDS[object.kind as keyof typeof KINDS];
      expect(Kind, object.kind).toBeDefined();
      const { apiVersion } = object;
      // biome-ignore lint/suspicious/noExplicitAny: `validate` checks the type
      const checked = new Kind(object as any);
      checked.validate();
      expect(checked.apiVersion).toBe(apiVersion);
    }
  });

  // The schemas allow unknown fields; the types do not.
  test("no object has a field that its type does not declare", () => {
    const folder = mkdtempSync(join(ROOT, "node_modules/.chart-"));
    try {
      const names = Object.keys(KINDS);
      const paths: Record<string, string> = {
        ScaledObject: "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject",
        PodMonitor: "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor",
        Deployment: "kubernetes-models/apps/v1/Deployment",
        HorizontalPodAutoscaler: "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler",
        Job: "kubernetes-models/batch/v1/Job",
        Ingress: "kubernetes-models/networking.k8s.io/v1/Ingress",
        NetworkPolicy: "kubernetes-models/networking.k8s.io/v1/NetworkPolicy",
        PodDisruptionBudget: "kubernetes-models/policy/v1/PodDisruptionBudget",
        Service: "kubernetes-models/v1/Service",
        ServiceAccount: "kubernetes-models/v1/ServiceAccount",
      };
      const compile = (objects: KubernetesObject[]) => {
        const lines = [
          ...names.map((name) => `import type { I${name} } from "${paths[name]}";`),
          ...objects.map(
            (object, index) =>
              `export const o${index}: I${object.kind} = ${JSON.stringify(object, null, 1)};`,
          ),
        ];
        writeFileSync(join(folder, "objects.ts"), lines.join("\n"));
        const options = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--types", ""];
        const module = ["--module", "esnext", "--moduleResolution", "bundler"];
        execFileSync(process.execPath, [
          join(ROOT, "node_modules/typescript/bin/tsc"),
          ...options,
          ...module,
          join(folder, "objects.ts"),
        ]);
      };
      const objects = Object.values(variants).flatMap((values) => chart.render(values));
      expect(() => compile(objects)).not.toThrow();

      const api = structuredClone(find(objects, "Deployment", "-api"));
      podOf(api).containers[0].livenesProbe = podOf(api).containers[0].livenessProbe;
      expect(() => compile([api])).toThrow();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("every process is unprivileged, on a read-only root file system", () => {
    const objects = chart.render(ALL_VALUES);
    for (const { spec } of objects.filter(({ kind }) => kind === "Deployment" || kind === "Job")) {
      expect(spec.template.spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: "RuntimeDefault" } },
      });
      expect(spec.template.spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  test.each(["api", "worker"])("the service accepts the settings of the %s deployment", (role) => {
    for (const values of [MINIMAL_VALUES, ALL_VALUES]) {
      const container = podOf(find(chart.render(values), "Deployment", `-${role}`)).containers[0];
      const env = Object.fromEntries(
        container.env.map((each: { name: string; value: string }) => [each.name, each.value]),
      );
      for (const name of Object.keys(env)) expect(Object.keys(SETTINGS)).toContain(name);
      expect(container.args).toEqual(["serve", "--role", role]);
      const config = readConfig({ ...env, ROLE: role, DATABASE_URL: "postgres://u:p@db/subtext" });
      expect(config).toMatchObject({ role, publicUrl: "https://captions.example.com" });
    }
  });

  test("selectors match only the intended pods", () => {
    const objects = chart.render(ALL_VALUES);
    const pods = objects
      .filter(({ spec }) => spec?.template?.metadata)
      .map(({ spec }) => spec.template.metadata.labels as Record<string, string>);
    const found = (selector: Record<string, string>) =>
      pods
        .filter((labels) => Object.entries(selector).every(([name, value]) => labels[name] === value))
        .map((labels) => labels["app.kubernetes.io/component"]);
    expect(found(find(objects, "Service").spec.selector)).toEqual(["api"]);
    for (const kind of ["Deployment", "PodDisruptionBudget"]) {
      for (const role of ["api", "worker"]) {
        expect(found(find(objects, kind, `-${role}`).spec.selector.matchLabels)).toEqual([role]);
      }
    }
    for (const role of ["api", "worker", "migrate"]) {
      expect(found(find(objects, "NetworkPolicy", `-${role}`).spec.podSelector.matchLabels)).toEqual([role]);
    }
    expect(find(objects, "ScaledObject").spec.scaleTargetRef.name).toBe(
      find(objects, "Deployment", "-worker").metadata.name,
    );
  });

  test("workers are scaled by a metric that the service exports", () => {
    const { query } = find(chart.render(ALL_VALUES), "ScaledObject").spec.triggers[0].metadata;
    expect(query).toBe(
      'sum(max by (status) (subtext_queue_transcriptions{status=~"waiting|processing",namespace="media"}))',
    );
    const documented = readFileSync(join(ROOT, "docs/deploy.md"), "utf8");
    expect(documented).toContain(`metricsQuery: '${query.replace(',namespace="media"', "")}'`);
    expect(() => chart.render({ ...MINIMAL_VALUES, autoscaling: { kind: "hpa" } })).toThrow("hpaMetric");
    // A fixed number of replicas would override the autoscaler at every upgrade.
    expect(find(chart.render(ALL_VALUES), "Deployment", "-worker").spec.replicas).toBeUndefined();
    expect(find(chart.render(MINIMAL_VALUES), "Deployment", "-worker").spec.replicas).toBe(1);
  });

  test("the new image migrates the database before an upgrade", () => {
    const job = find(chart.render(ALL_VALUES, { name: "captions", namespace: "media", revision: 4 }), "Job");
    expect(job.metadata).toMatchObject({
      name: "captions-migrate-4",
      annotations: { "helm.sh/hook": "pre-upgrade" },
    });
    expect(job.spec.template.spec.containers[0]).toMatchObject({
      args: ["migrate"],
      image: "registry.example.com/subtext:1.2.3",
    });
  });

  test.each([
    ["no Secret", { settings: MINIMAL_VALUES.settings }, "secret: the name of a Secret"],
    [
      "no address",
      { secret: "s", settings: { S3_BUCKET: "b" } },
      "settings.PUBLIC_URL and settings.S3_BUCKET",
    ],
    [
      "a secret among the settings",
      { ...MINIMAL_VALUES, settings: { ...MINIMAL_VALUES.settings, DATABASE_URL: "postgres://…" } },
      "DATABASE_URL",
    ],
    [
      "a number instead of a string",
      { ...MINIMAL_VALUES, worker: { settings: { SPEECH_THREADS: 2 } } },
      "must be string",
    ],
    ["a misspelled value", { ...MINIMAL_VALUES, ingres: {} }, "must NOT have additional properties"],
    ["no workers", { ...MINIMAL_VALUES, autoscaling: { minReplicas: 0 } }, "must be >= 1"],
    [
      "network policies without dependencies",
      { ...MINIMAL_VALUES, networkPolicy: { enabled: true } },
      "networkPolicy.dependencies",
    ],
  ])("rejects %s and names the value", (_name, values, message) => {
    expect(() => chart.render(values)).toThrow(message);
  });
});
