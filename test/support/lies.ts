import { drawn, type Falsifier, type NamedRow, namedRow } from './falsified';
import type { Answer, Fate, Interference, Statement } from './hostilePostgres';
import type { Column, Field } from './postgresMessages';
import { type Draw, drawFrom } from './random';

/** What a hostile database does with one statement, or with its answer. */
export const KINDS_OF_LIES = [
  // with what the signer sends
  'parameter',
  'lost',
  'cutBefore',
  // with what it reads
  'cell',
  'cells',
  'drop',
  'empty',
  'duplicate',
  'swap',
  'count',
  'replay',
  'replayOther',
  'delay',
  'cutAfter',
] as const;

/** One lie: about the first that it fits of the statements after `nth` of them; `sticky`: about every one. */
export interface Lie {
  readonly how: (typeof KINDS_OF_LIES)[number];
  readonly nth: number;
  /** Only of statements that name this table. */
  readonly table: string | null;
  readonly sticky: boolean;
  /** Decides about everything else. */
  readonly salt: number;
}

/** What an attacker changes first. */
const INTERESTING =
  /address|value|amount|nonce|gas|fee|hash|account|network|policy|outcome|status|kind|data|signature|relayer|attempted|reserved|executions|cancelling|record|_id$/i;

const OPENS_OR_ENDS = /^\s*(begin|rollback)/i;
const NUMERIC = 1700;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

const DELAY_MS = 3;
/** So many answers to a statement are remembered. */
const REPLAYED = 4;

interface Named {
  readonly table: string;
  readonly column: string;
}

/** Items of a list of SQL up to its end, split at commas outside of parentheses. */
function itemsOf(sql: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (const sign of sql) {
    if (sign === ')' && depth === 0) break;
    if (sign === ',' && depth === 0) {
      items.push(item.trim());
      item = '';
      continue;
    }
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    item += sign;
  }
  return [...items, item.trim()];
}

const INSERTS = /insert into "?(?<table>\w+)"? ?\((?<columns>[^)]*)\)\s*(?:values\s*\(|select\s+)/gi;
const COMPARED = /"?(?<column>\w+)"?\s*(?:=|<|>|>=|<=)\s*(?:any \()?\$(?<number>\d+)/gi;
const named = new Map<string, ReadonlyMap<number, Named>>();

/** What the parameters of a statement are, by their place from 0. */
function namesOf(text: string): ReadonlyMap<number, Named> {
  const known = named.get(text);
  if (known) return known;
  const found = new Map<number, Named>();
  for (const { groups } of text.matchAll(COMPARED)) {
    found.set(Number(groups?.number) - 1, { table: '', column: groups?.column ?? '' });
  }
  for (const match of text.matchAll(INSERTS)) {
    const columns = (match.groups?.columns ?? '')
      .split(',')
      .map((column) => column.trim().replaceAll('"', ''));
    for (const [index, item] of itemsOf(text.slice(match.index + match[0].length)).entries()) {
      const number = /^\$(\d+)/.exec(item)?.[1];
      const column = columns[index];
      if (number !== undefined && column !== undefined) {
        found.set(Number(number) - 1, { table: match.groups?.table ?? '', column });
      }
    }
  }
  named.set(text, found);
  return found;
}

/** A statement and its answer. */
interface Told {
  readonly statement: Statement;
  readonly answer: Answer;
}

type KnownColumn = Pick<Column, 'name'> & { readonly type?: number };

function shown(value: Field | undefined): string {
  return String(value).slice(0, 24);
}

/** Says that nothing was changed where something was, or the other way. */
function miscount(answer: Answer): string | undefined {
  const { columns, tag } = answer;
  if (columns.length > 0 || !/^(INSERT 0|UPDATE|DELETE) /.test(tag)) return undefined;
  answer.tag = tag.replace(/\d+$/, (count) => (count === '0' ? '1' : '0'));
  return answer.tag;
}

/** Leaves out rows, repeats one, or turns their order around. */
function rearrange(how: Lie['how'], answer: Answer, draw: Draw): string | undefined {
  const { rows, tag } = answer;
  if (rows.length === 0 || (how === 'swap' && rows.length === 1)) return undefined;
  const place = draw(rows.length);
  if (how === 'drop') answer.rows = rows.filter((_, index) => index !== place);
  else if (how === 'empty') answer.rows = [];
  else if (how === 'duplicate') answer.rows = [...rows, rows[place] ?? []];
  else if (how === 'swap') answer.rows = rows.toReversed();
  else return undefined;
  answer.tag = tag.replace(/\d+$/, String(answer.rows.length));
  return `${rows.length} -> ${answer.rows.length} rows`;
}

interface Answered {
  readonly parameters: string;
  readonly rows: readonly (readonly Field[])[];
  readonly tag: string;
}

/** Tells lies, and counts them. */
export class Liar {
  private readonly answers = new Map<string, Answered[]>();
  /** How many lies of each kind were told. */
  readonly told: Record<string, number> = {};
  /** What was told last, to be read by people. */
  readonly log: string[] = [];

  /** `hashOf`: the hash that fits the content of a row of attempts, where it has one. */
  constructor(
    readonly falsifier: Falsifier,
    private readonly hashOf: (row: NamedRow) => string | undefined,
  ) {}

  /** Tells these lies about the statements from now on. */
  telling(lies: readonly Lie[]): Interference {
    /** How many statements each could have been about. */
    const passed = new Map(lies.map((lie) => [lie, 0]));
    const due = new WeakMap<Statement, ReadonlySet<Lie>>();
    const left = new Set(lies);
    const arrive = (statement: Statement) => {
      const concerned = [...passed].filter(([{ table }]) => table === null || statement.text.includes(table));
      for (const [lie, times] of concerned) passed.set(lie, times + 1);
      due.set(statement, new Set(concerned.flatMap(([lie, times]) => (times >= lie.nth ? [lie] : []))));
    };
    const fitting = (statement: Statement) => [...left].filter((lie) => due.get(statement)?.has(lie));
    const tell = <T>(lie: Lie, statement: Statement, work: (draw: Draw) => T | undefined): T | undefined => {
      const told = work(drawFrom(lie.salt));
      if (told === undefined) return undefined;
      if (!lie.sticky) left.delete(lie);
      this.told[lie.how] = (this.told[lie.how] ?? 0) + 1;
      this.note(`${lie.how} ${String(told)}: ${statement.text.replace(/\s+/g, ' ').slice(0, 60)}`);
      return told;
    };
    return {
      before: (statement) => {
        arrive(statement);
        for (const [index, { column }] of namesOf(statement.text)) {
          this.falsifier.remember(column, statement.parameters[index] ?? null);
        }
        let fate: Fate;
        for (const lie of fitting(statement)) {
          fate ??= tell(lie, statement, (draw) => this.lieBefore(lie, statement, draw)) as Fate;
        }
        return fate === 'lost' || fate === 'cut' ? fate : undefined;
      },
      after: async (statement, answer) => {
        const asked = fitting(statement);
        this.remember(statement, answer);
        let fate: Fate;
        for (const lie of asked) {
          const told = tell(lie, statement, (draw) => this.lieAfter(lie, { statement, answer }, draw));
          if (told === 'delay') await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
          if (told === 'cut') fate = 'cut';
        }
        return fate;
      },
    };
  }

  note(text: string): void {
    this.log.push(text);
    if (this.log.length > 40) this.log.shift();
  }

  private remember({ text, parameters }: Statement, { columns, rows, tag }: Answer): void {
    for (const row of rows.slice(0, 5)) {
      for (const [index, { name }] of columns.entries()) this.falsifier.remember(name, row[index] ?? null);
    }
    if (columns.length === 0) return;
    const known = this.answers.get(text) ?? [];
    known.push({ parameters: JSON.stringify(parameters), rows: rows.map((row) => [...row]), tag });
    if (known.length > REPLAYED) known.shift();
    this.answers.set(text, known);
  }

  /** What was done; undefined where this lie cannot be told about this statement. */
  private lieBefore({ how }: Lie, statement: Statement, draw: Draw): string | undefined {
    if (how === 'cutBefore') return OPENS_OR_ENDS.test(statement.text) ? undefined : 'cut';
    if (how === 'lost') return /^\s*(commit|insert|update|with)\b/i.test(statement.text) ? 'lost' : undefined;
    if (how !== 'parameter' || !/insert|update/i.test(statement.text)) return undefined;
    return this.falsifyParameter(statement, draw);
  }

  private falsifyParameter(statement: Statement, draw: Draw): string | undefined {
    const { parameters } = statement;
    const written = [...namesOf(statement.text)].filter(([, { table }]) => table !== '');
    if (written.length === 0) return undefined;
    const interesting = written.filter(([, { column }]) => INTERESTING.test(column));
    const { table } = drawn(draw, interesting.length > 0 ? interesting : written)[1];
    const ofTable = written.filter(([, one]) => one.table === table);
    const row = () => new Map(ofTable.map(([index, { column }]) => [column, parameters[index] ?? null]));
    const before = row();
    const changed = this.falsifyRow(
      before,
      ofTable.map(([, { column }]) => ({ name: column })),
      draw,
    );
    const old = before.get('safe_tx_hash');
    for (const [index, { column }] of ofTable) parameters[index] = changed.row.get(column) ?? null;
    // What else of the statement has the hash, such as the authorization, can have the new one too.
    if (old && changed.row.get('safe_tx_hash') !== old && draw(2) === 0) {
      for (const [index, value] of parameters.entries()) {
        if (value === old) parameters[index] = changed.row.get('safe_tx_hash') ?? null;
      }
    }
    return `${table} ${changed.what}`;
  }

  /** A row with one value or several falsified, and mostly with the hash that fits them. */
  falsifyRow(
    row: NamedRow,
    columns: readonly KnownColumn[],
    draw: Draw,
    times = 1,
  ): { readonly row: NamedRow; readonly what: string } {
    const isPaying = row.has('to_address') && row.has('value') && draw(2) === 0;
    const changes = isPaying ? this.redirected(row, draw) : this.falsified(row, columns, draw, times);
    const changed = new Map([...row, ...changes]);
    const hash = this.hashOf(changed);
    if (hash !== undefined && hash !== changed.get('safe_tx_hash') && draw(4) > 0) {
      changes.set('safe_tx_hash', hash);
      changed.set('safe_tx_hash', hash);
    }
    const what = [...changes].map(([name, value]) => `${name} ${shown(row.get(name))} -> ${shown(value)}`);
    return { row: changed, what: what.join(', ') };
  }

  /** Another recipient or another value, or both. */
  private redirected(row: NamedRow, draw: Draw): Map<string, Field> {
    const to = this.falsifier.value(draw, { name: 'to_address' }, ZERO_ADDRESS);
    const value = this.falsifier.value(draw, { name: 'value', type: NUMERIC }, row.get('value') ?? '0');
    const which = draw(3);
    return new Map([
      ...(which === 1 ? [] : [['to_address', to] as const]),
      ...(which === 0 ? [] : [['value', value] as const]),
    ]);
  }

  private falsified(
    row: NamedRow,
    columns: readonly KnownColumn[],
    draw: Draw,
    times: number,
  ): Map<string, Field> {
    const interesting = columns.filter(({ name }) => INTERESTING.test(name));
    const one = (): [string, Field] => {
      const column = drawn(draw, interesting.length > 0 && draw(4) > 0 ? interesting : columns);
      return [column.name, this.falsifier.value(draw, column, row.get(column.name) ?? null)];
    };
    return new Map(Array.from({ length: times }, one));
  }

  /** What was done; undefined where this lie cannot be told about this answer. */
  private lieAfter({ how }: Lie, told: Told, draw: Draw): string | undefined {
    switch (how) {
      case 'delay':
        return 'delay';
      case 'cutAfter':
        return OPENS_OR_ENDS.test(told.statement.text) ? undefined : 'cut';
      case 'count':
        return miscount(told.answer);
      case 'replay':
      case 'replayOther':
        return this.replay(how, told, draw);
      case 'cell':
      case 'cells':
        return this.falsifyAnswer(told.answer, draw, how === 'cell' ? 1 : 1 + draw(4));
      default:
        return rearrange(how, told.answer, draw);
    }
  }

  private falsifyAnswer({ rows, columns }: Answer, draw: Draw, times: number): string | undefined {
    if (rows.length === 0 || columns.length === 0) return undefined;
    const place = draw(rows.length);
    const row = rows[place] ?? [];
    const changed = this.falsifyRow(namedRow(columns, row), columns, draw, times);
    rows[place] = columns.map(({ name }) => changed.row.get(name) ?? null);
    return changed.what;
  }

  /** An older answer to the same statement: about the same, or about anything. */
  private replay(how: Lie['how'], { statement, answer }: Told, draw: Draw): string | undefined {
    const parameters = JSON.stringify(statement.parameters);
    const older = (this.answers.get(statement.text) ?? [])
      .slice(0, -1)
      .filter((one) => (one.parameters === parameters) === (how === 'replay'));
    if (older.length === 0) return undefined;
    const one = drawn(draw, older);
    answer.rows = one.rows.map((row) => [...row]);
    answer.tag = one.tag;
    return `${one.rows.length} rows`;
  }
}
