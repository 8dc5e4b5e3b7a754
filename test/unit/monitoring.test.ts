import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createMetrics } from '../../src/metrics';
import { projectRoot } from '../../src/projectRoot';

const read = (file: string) => readFileSync(join(projectRoot(), file), 'utf8');

/** A series that an expression asks for: histograms have three of each. */
const SERIES = /\b((?:orgwallet|temporal|process)_[a-z_0-9]+)/g;
const baseOf = (series: string) => series.replace(/_(bucket|count|sum)$/, '');

/** What the Temporal SDK and Node export, of what is used here; seen in `/metrics` of a running service. */
const OTHERS = [
  'temporal_workflow_task_execution_failed_total',
  'temporal_workflow_task_schedule_to_start_latency_seconds',
  'temporal_worker_task_slots_available',
  'process_resident_memory_bytes',
];

const rules: { alert: string; expr: string; labels: object; annotations: Record<string, string> }[] = parse(
  read('ops/alerts.yml'),
).groups.flatMap((group: { rules: object[] }) => group.rules);
const panels: { title: string; targets: { expr: string }[] }[] = JSON.parse(
  read('ops/dashboard.json'),
).panels;

let own: string[];

beforeAll(async () => {
  own = (await createMetrics().registry.getMetricsAsJSON())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('orgwallet_'));
});

/** The anchor of a heading, as it is linked to. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/ /g, '-');

describe.each(rules.map((rule) => [rule.alert, rule] as const))('the alert %s', (_, rule) => {
  it('asks for metrics that there are', () => {
    const asked = [...rule.expr.matchAll(SERIES)].map(([, series = '']) => baseOf(series));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((name) => !own.includes(name) && !OTHERS.includes(name))).toEqual([]);
  });

  it('is linked to a section of the runbook, and says what is wrong', () => {
    const [page, anchor = ''] = (rule.annotations.runbook ?? '').split('#');
    expect(page).toBe('docs/runbook.md');
    const headings = [...read('docs/runbook.md').matchAll(/^##+ (.*)$/gm)].map(([, text = '']) =>
      anchorOf(text),
    );
    expect(headings).toContain(anchor);
    expect(rule.annotations.summary).toMatch(/\.$/);
    expect(rule.labels).toEqual({ severity: expect.stringMatching(/^(page|ticket)$/) });
  });
});

it.each(panels.map((panel) => [panel.title, panel] as const))(
  'the panel %s asks for metrics that there are',
  (_, panel) => {
    const asked = panel.targets.flatMap(({ expr }) => [...expr.matchAll(SERIES)]);
    expect(asked.length).toBeGreaterThan(0);
    const names = asked.map(([, series = '']) => baseOf(series));
    expect(names.filter((name) => !own.includes(name) && !OTHERS.includes(name))).toEqual([]);
  },
);

it('docs/monitoring.md has a row for every metric, and for no other', () => {
  const rows = [...read('docs/monitoring.md').matchAll(/^\| `(orgwallet_\w+)` +\|/gm)].map(
    ([, name]) => name,
  );
  expect(rows.toSorted()).toEqual(own.toSorted());
});
