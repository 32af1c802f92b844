export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Parses the parts of Prometheus' text format 0.0.4 that the tests need. */
export function parseMetrics(text: string): { families: Map<string, string>; samples: Sample[] } {
  const families = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\w+) (\w+)$/.exec(line);
    if (type) families.set(type[1]!, type[2]!);
    if (line === "" || line.startsWith("#")) continue;
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) throw new Error(`not a sample: ${line}`);
    const labels = [...(match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [
      key,
      value,
    ]);
    samples.push({ name: match[1]!, labels: Object.fromEntries(labels), value: Number(match[3]) });
  }
  return { families, samples };
}
