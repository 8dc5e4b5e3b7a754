import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createMetrics } from '../../src/metrics';
import { projectRoot } from '../../src/projectRoot';
import { anchorsIn } from '../support/markdown';

const read = (file: string) => readFileSync(join(projectRoot(), file), 'utf8');

/** A series that an expression asks for: histograms have three of each. */
const SERIES = /\b(up\b|(?:orgwallet|temporal|process)_[a-z_0-9]+)/g;
const baseOf = (series: string) => series.replace(/_(bucket|count|sum)$/, '');

/** What the Temporal SDK and Node export, of what is used here; seen in `/metrics` of a running service. */
const OTHERS = [
  'temporal_workflow_task_execution_failed_total',
  'temporal_workflow_task_schedule_to_start_latency_seconds',
  'temporal_worker_task_slots_available',
  'process_resident_memory_bytes',
  // Of Prometheus itself, and of what makes backups (docs/monitoring.md).
  'up',
  'orgwallet_backup_timestamp_seconds',
];

const rules: { alert: string; expr: string; labels: object; annotations: Record<string, string> }[] = parse(
  read('ops/alerts.yml'),
).groups.flatMap((group: { rules: object[] }) => group.rules);
const fired: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] = parse(
  read('ops/alerts.test.yml'),
).tests;
const panels: { title: string; targets: { expr: string }[] }[] = JSON.parse(
  read('ops/dashboard.json'),
).panels;

/** The alerts in the first table of the runbook, each with the section that its row leads to. */
const tableOfSymptoms = new Map(
  read('docs/runbook.md')
    .split('\n## ')[0]
    ?.split('\n')
    .flatMap((row) => {
      const [, section = ''] = /\]\(#([^)]+)\) *\|$/.exec(row) ?? [];
      return [...row.matchAll(/`(Orgwallet\w+)`/g)].map(([, alert = '']): [string, string] => [
        alert,
        section,
      ]);
    }),
);

let own: string[];

beforeAll(async () => {
  own = (await createMetrics(['api']).registry.getMetricsAsJSON())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('orgwallet_'));
});

/** The metrics that an expression asks for, and those of them that nothing exports. */
function metricsIn(expr: string): { asked: string[]; unknown: string[] } {
  const asked = [...expr.matchAll(SERIES)].map(([, series = '']) => baseOf(series));
  return { asked, unknown: asked.filter((name) => !own.includes(name) && !OTHERS.includes(name)) };
}

describe.each(rules.map((rule) => [rule.alert, rule] as const))('the alert %s', (_, rule) => {
  it('asks for metrics that there are', () => {
    const { asked, unknown } = metricsIn(rule.expr);
    expect(asked.length).toBeGreaterThan(0);
    expect(unknown).toEqual([]);
  });

  it('has a test that it fires, and when it does not', () => {
    const expected = fired
      .flatMap((one) => one.alert_rule_test)
      .filter(({ alertname }) => alertname === rule.alert)
      .map(({ exp_alerts }) => exp_alerts.length);
    expect(new Set(expected)).toEqual(new Set([0, 1]));
  });

  it('is linked to a section of the runbook, and says what is wrong', () => {
    const { origin, pathname, hash } = new URL(rule.annotations.runbook_url ?? '');
    expect([origin, pathname]).toEqual(['https://docs.example.com', '/orgwallet/runbook.md']);
    const [, ...sections] = anchorsIn(read('docs/runbook.md'));
    const anchor = hash.slice(1);
    expect(sections).toContain(anchor);
    expect(rule.annotations.summary).toMatch(/\.$/);
    expect(tableOfSymptoms.get(rule.alert)).toBe(anchor);
    expect(rule.labels).toEqual({ severity: expect.stringMatching(/^(page|ticket)$/) });
  });
});

it.each(panels.map((panel) => [panel.title, panel] as const))(
  'the panel %s asks for metrics that there are',
  (_, panel) => {
    const { asked, unknown } = metricsIn(panel.targets.map(({ expr }) => expr).join('\n'));
    expect(asked.length).toBeGreaterThan(0);
    expect(unknown).toEqual([]);
  },
);

it('docs/monitoring.md has a row for every metric, and for no other', () => {
  const rows = [...read('docs/monitoring.md').matchAll(/^\| `(orgwallet_\w+)` +\|/gm)].map(
    ([, name]) => name,
  );
  expect(rows.toSorted()).toEqual(own.toSorted());
});
