/** What one side of a comparison took: milliseconds unless the comparison says otherwise. */
interface Sample {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly n: number;
}

/** Two things measured in turn. `ratio` is what the aim speaks of. */
export interface Comparison {
  readonly name: string;
  readonly unit: 'ms' | 'µs' | '/s' | 'MB';
  readonly product: Sample;
  /** What it is compared with. */
  readonly base: Sample;
  readonly ratio: number;
  readonly aim?: Aim;
}

type Aim = { readonly atMost: number } | { readonly atLeast: number };

/** Something measured alone. */
export interface Figure extends Pick<Comparison, 'name' | 'unit'> {
  readonly sample: Sample;
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** Median, 95th and 99th percentile, and number of some values. */
export function sampleOf(values: readonly number[]): Sample {
  const sorted = [...values].sort((one, two) => one - two);
  return {
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    n: sorted.length,
  };
}

/** Compares by the median: the product's over the base's, unless `ratio` says otherwise. */
export function compare(
  name: string,
  unit: Comparison['unit'],
  values: { readonly product: readonly number[]; readonly base: readonly number[] },
  { aim, ratio: wanted }: { readonly aim?: Aim; readonly ratio?: 'productOverBase' | 'baseOverProduct' } = {},
): Comparison {
  const product = sampleOf(values.product);
  const base = sampleOf(values.base);
  const ratio = wanted === 'baseOverProduct' ? base.p50 / product.p50 : product.p50 / base.p50;
  return { name, unit, product, base, ratio, ...(aim ? { aim } : {}) };
}

/** A figure without an aim. */
export function figure(name: string, unit: Figure['unit'], values: readonly number[]): Figure {
  return { name, unit, sample: sampleOf(values) };
}

/** Whether the aim is met; undefined when there is none. */
export function isMet({ ratio, aim }: Comparison): boolean | undefined {
  if (!aim) return undefined;
  return 'atMost' in aim ? ratio <= aim.atMost : ratio >= aim.atLeast;
}

function aimText(comparison: Comparison): string {
  const { aim } = comparison;
  if (!aim) return '';
  const wanted = 'atMost' in aim ? `<= ${aim.atMost}` : `>= ${aim.atLeast}`;
  return `${wanted} ${isMet(comparison) ? 'met' : 'NOT MET'}`;
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** The comparisons as one table of plain text. */
export function table(comparisons: readonly Comparison[]): string {
  const rows = [
    ['', 'unit', 'p50', 'p95', 'n', 'base p50', 'base p95', 'base n', 'ratio', 'aim'],
    ...comparisons.map((comparison) => [
      comparison.name,
      comparison.unit,
      ...[comparison.product, comparison.base].flatMap(({ p50, p95, n }) => [
        number(p50),
        number(p95),
        String(n),
      ]),
      number(comparison.ratio),
      aimText(comparison),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 || column === row.length - 1
            ? cell.padEnd(widths[column] ?? 0)
            : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A figure as one line. */
export function figureLine({ name, unit, sample }: Figure): string {
  return `${name}: p50 ${number(sample.p50)} ${unit}, p95 ${number(sample.p95)} ${unit}, p99 ${number(sample.p99)} ${unit} (n ${sample.n})`;
}
