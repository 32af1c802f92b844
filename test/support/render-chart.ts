import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";

const RENDERER = join(import.meta.dirname, "render-chart/main.go");
/** Debian installs the sources of Go libraries here. */
const GO_LIBRARIES = "/usr/share/gocode";

/** Returns null if this machine can render charts, otherwise the reason. */
export function chartSkipReason(): string | null {
  const hasGo = spawnSync("go", ["version"]).status === 0;
  const hasLibraries = existsSync(join(GO_LIBRARIES, "src/github.com/Masterminds/sprig"));
  return hasGo && hasLibraries ? null : "golang-go and golang-github-masterminds-sprig-dev are not installed";
}

/** The contents of values.yaml, or values that override them. */
export interface ChartValues {
  [name: string]: unknown;
}

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; [name: string]: unknown };
  // biome-ignore lint/suspicious/noExplicitAny: the other fields depend on the kind
  [name: string]: any;
}

/** A Helm chart. The constructor compiles the renderer. */
export class Chart {
  readonly #folder: string;
  readonly #renderer: string;

  constructor(folder: string) {
    this.#folder = folder;
    const buildFolder = mkdtempSync(join(tmpdir(), "render-chart-"));
    this.#renderer = join(buildFolder, "render");
    execFileSync("go", ["build", "-o", this.#renderer, RENDERER], {
      env: {
        ...process.env,
        GO111MODULE: "off",
        GOPATH: GO_LIBRARIES,
        GOCACHE: join(buildFolder, "cache"),
        GOFLAGS: "",
      },
    });
  }

  /** @throws Error with the paths of values that do not match values.schema.json */
  check(values: ChartValues): ChartValues {
    const merged = overlay(this.#read("values.yaml"), values);
    const ajv = new Ajv({ allErrors: true, strict: false });
    if (ajv.validate(JSON.parse(readFileSync(join(this.#folder, "values.schema.json"), "utf8")), merged))
      return merged;
    throw new Error(ajv.errorsText());
  }

  /** Like `helm template <release> --namespace <namespace>`. */
  render(
    values: ChartValues,
    release = { name: "captions", namespace: "media", revision: 1 },
  ): KubernetesObject[] {
    const { name, version, appVersion } = this.#read("Chart.yaml");
    const { status, stdout, stderr } = spawnSync(this.#renderer, [this.#folder], {
      encoding: "utf8",
      input: JSON.stringify({
        Values: this.check(values),
        Chart: { Name: name, Version: version, AppVersion: appVersion },
        Release: {
          Name: release.name,
          Namespace: release.namespace,
          Revision: release.revision,
          Service: "Helm",
        },
      }),
    });
    if (status !== 0) throw new Error(stderr.trim());
    return Object.entries(JSON.parse(stdout) as Record<string, string>).flatMap(([file, text]) =>
      file === "NOTES.txt" ? [] : objectsOf(text, file),
    );
  }

  #read(file: string): ChartValues {
    return parse(readFileSync(join(this.#folder, file), "utf8")) as ChartValues;
  }
}

function objectsOf(text: string, file: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw new Error(`${file}: ${document.errors[0].message}\n${text}`);
    return (document.toJS() as KubernetesObject | null) ?? [];
  });
}

/** Like Helm, merges maps recursively, removes keys whose override is null, and replaces all other values. */
function overlay(base: ChartValues, over: ChartValues): ChartValues {
  const merged = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name];
    if (value === null) delete merged[name];
    else merged[name] = isMap(below) && isMap(value) ? overlay(below, value) : value;
  }
  return merged;
}

function isMap(value: unknown): value is ChartValues {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
