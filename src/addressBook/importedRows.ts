import { checksumAddress } from '../chain/address';
import type { NetworkConfig } from '../config';
import { entryNameInput } from '../contract/addressBookContract';
import { nonzeroAddressInput } from '../contract/primitives';
import { networkOf, shortNameOf } from '../domain/chainShortName';
import { foldName } from '../domain/names';
import { accept, type FieldIssue, type Result, refuseFields } from '../domain/refusal';
import type { ImportedRow } from './bookChanges';
import { type CsvRow, readCsv, readName } from './csv';

type Networks = readonly Pick<NetworkConfig, 'id' | 'shortName'>[];
type Read<T> = { readonly value: T } | { readonly message: string };

/** The most issues of an answer. */
const MAX_ISSUES = 100;
/** An address after the short name of its network, as EIP-3770 has it. */
const PREFIXED = /^([^:]*):(.*)$/s;

const placeOf = (line: number) => `csv[line ${line}]`;

function available(networks: Networks): string {
  return networks.map((network) => shortNameOf(network) ?? network.id).join(', ');
}

function readChainId(text: string, networks: Networks): Read<number | null> {
  if (text === '') return { value: null };
  const network = /^[0-9]{1,16}$/.test(text) && networks.find(({ id }) => id === Number(text));
  return network
    ? { value: network.id }
    : {
        message: `network ${JSON.stringify(text.slice(0, 40))} is not configured (available: ${networks.map(({ id }) => id).join(', ')})`,
      };
}

/** An address with or without the short name of its network. */
function readAddress(
  text: string,
  networks: Networks,
): Read<{ address: string; networkId: number | undefined }> {
  const [, shortName, rest] = PREFIXED.exec(text) ?? [];
  const network = shortName === undefined ? undefined : networkOf(networks, shortName);
  if (shortName !== undefined && !network) {
    return {
      message: `short name ${JSON.stringify(shortName.slice(0, 40))} is of no configured network (available: ${available(networks)})`,
    };
  }
  const address = nonzeroAddressInput.safeParse(rest ?? text);
  if (!address.success) return { message: address.error.issues[0]?.message ?? 'must be an address' };
  return { value: { address: checksumAddress(address.data), networkId: network?.id } };
}

type Columns = { readonly address: number; readonly name: number; readonly chainId: number };

/** The places of the columns. Their names are in the first row, in any case and order. */
function columnsOf({ fields, line }: CsvRow): Columns | FieldIssue {
  const names = fields.map((field) => field.trim().toLowerCase());
  const [address, name] = [names.indexOf('address'), names.indexOf('name')];
  if (address >= 0 && name >= 0) return { address, name, chainId: names.indexOf('chainid') };
  return {
    field: placeOf(line),
    message: 'must name the columns: address and name, and chainId where an address is of one network',
  };
}

/** A row, or what is wrong with it. */
interface ReadRow {
  readonly row?: ImportedRow;
  readonly issues?: readonly FieldIssue[];
}

function readRow({ fields, line }: CsvRow, columns: Columns, networks: Networks): ReadRow {
  const at = placeOf(line);
  const cell = (column: number) => fields[column]?.trim() ?? '';
  const address = readAddress(cell(columns.address), networks);
  const chainId = readChainId(cell(columns.chainId), networks);
  const name = entryNameInput.safeParse(readName(fields[columns.name] ?? ''));
  const issues: FieldIssue[] = [];
  if ('message' in address) issues.push({ field: `${at}.address`, message: address.message });
  if (!name.success) {
    issues.push({ field: `${at}.name`, message: name.error.issues[0]?.message ?? 'is invalid' });
  }
  if ('message' in chainId) issues.push({ field: `${at}.chainId`, message: chainId.message });
  if ('message' in address || 'message' in chainId || !name.success) return { issues };
  const { networkId } = address.value;
  if (networkId !== undefined && chainId.value !== null && networkId !== chainId.value) {
    const message = `is ${chainId.value}, and the short name of the address is that of network ${networkId}`;
    return { issues: [{ field: `${at}.chainId`, message }] };
  }
  const row = {
    at,
    name: name.data,
    address: address.value.address,
    networkId: networkId ?? chainId.value,
  };
  return { row };
}

/** The rows that have the address or the name of an earlier one. */
function duplicates(rows: readonly ImportedRow[]): FieldIssue[] {
  const seen = new Map<string, string>();
  const issues: FieldIssue[] = [];
  for (const { at, address, name, networkId } of rows) {
    for (const [field, key] of [
      ['address', `${address}/${networkId}`],
      ['name', foldName(name)],
    ] as const) {
      const earlier = seen.get(`${field} ${key}`);
      if (earlier) issues.push({ field: `${at}.${field}`, message: `is that of ${earlier}` });
      else seen.set(`${field} ${key}`, at);
    }
  }
  return issues;
}

/**
 * The rows of a file of an address book: what `writeCsv` writes, or another program, with at least the columns `address` and `name`.
 * Refuses a file with every bad row, each with its line and field, the first 100 of them.
 */
export function readImport(csv: string, networks: Networks): Result<readonly ImportedRow[]> {
  const read = readCsv(csv);
  if ('message' in read) return refuseFields([{ field: placeOf(read.line), message: read.message }]);
  const [head, ...others] = read;
  const [first] = others;
  if (!head || !first)
    return refuseFields([{ field: 'csv', message: 'has no row below the names of its columns' }]);
  const columns = columnsOf(head);
  if ('message' in columns) return refuseFields([columns]);
  const rows = others.map((row) => readRow(row, columns, networks));
  const bad = rows.flatMap((row) => row.issues ?? []);
  const good = rows.flatMap(({ row }) => row ?? []);
  const [issue, ...more] = [...bad, ...duplicates(good)];
  return issue ? refuseFields([issue, ...more.slice(0, MAX_ISSUES - 1)]) : accept(good);
}
