import { type CarriedCall, readContent, type TransactionCall } from '../domain/transactionContent';
import { checksumAddress } from './address';
import { decodeCall } from './decode';
import { selectorOf } from './functions';

/** A decoded array of calls: of values, addresses or bytes, or of tuples of these. */
type Decoded = readonly unknown[];
type Carried = readonly TransactionCall[];

const isList = (value: unknown): value is Decoded => Array.isArray(value);
const callOf = (to: unknown, value: unknown, data: unknown): TransactionCall => ({
  to: String(to),
  value: BigInt(String(value)),
  data: String(data),
});

/** Calls of the contract's own functions, with the same sender. */
const ofItself =
  (at: number) =>
  (to: string, parameters: Decoded): Carried =>
    (parameters[at] as Decoded).map((data) => callOf(to, 0, data));

/** Calls of other contracts, from the tuples of an array. */
const ofTuples =
  (at: number, read: (tuple: Decoded) => TransactionCall) =>
  (_: string, parameters: Decoded): Carried =>
    (parameters[at] as readonly Decoded[]).map(read);

const withoutValue = ([to, data]: Decoded) => callOf(to, 0, data);

/** Reads the calls of a function, by selector. A delegatecall to another contract cannot be read as a call. */
const READERS: ReadonlyMap<string, (to: string, parameters: Decoded) => Carried | null> = new Map(
  Object.entries({
    'multicall(bytes[])': ofItself(0),
    'multicall(uint256,bytes[])': ofItself(1),
    'multicall(bytes32,bytes[])': ofItself(1),
    'batchCalls(bytes[])': ofItself(0),
    'aggregate((address,bytes)[])': ofTuples(0, withoutValue),
    'blockAndAggregate((address,bytes)[])': ofTuples(0, withoutValue),
    'tryAggregate(bool,(address,bytes)[])': ofTuples(1, withoutValue),
    'tryBlockAndAggregate(bool,(address,bytes)[])': ofTuples(1, withoutValue),
    'aggregate3((address,bool,bytes)[])': ofTuples(0, ([to, , data]) => callOf(to, 0, data)),
    'aggregate3Value((address,bool,uint256,bytes)[])': ofTuples(0, ([to, , value, data]) =>
      callOf(to, value, data),
    ),
    'execute(address,uint256,bytes)': (_: string, [to, value, data]: Decoded) => [callOf(to, value, data)],
    'executeBatch((address,uint256,bytes)[])': ofTuples(0, ([to, value, data]) => callOf(to, value, data)),
    'executeBatch(address[],bytes[])': (_: string, [to, data]: Decoded) =>
      isList(to) && isList(data) && to.length === data.length
        ? to.map((address, i) => callOf(address, 0, data[i]))
        : null,
    'executeBatch(address[],uint256[],bytes[])': (_: string, [to, values, data]: Decoded) =>
      isList(to) && isList(values) && isList(data) && to.length === values.length && to.length === data.length
        ? to.map((address, i) => callOf(address, values[i], data[i]))
        : null,
  }).map(([signature, reader]) => [selectorOf(signature), reader]),
);

/** How deeply calls that carry calls are read: each level reads all bytes below it once more. */
const MAX_DEPTH = 4;
/** How many calls are read in all: every policy is evaluated for each of them. */
const MAX_CALLS = 256;

function readCarried(
  { to, data }: TransactionCall,
  depth: number,
  count: { left: number },
): readonly CarriedCall[] | null {
  const reader = READERS.get(data.slice(0, 10).toLowerCase());
  const decoded = reader && depth <= MAX_DEPTH ? decodeCall(data, []) : null;
  if (!reader || !decoded) return null;
  const parameters: Decoded = decoded.functionParameters.map(({ type, value }) =>
    type.endsWith(']') ? JSON.parse(value) : value,
  );
  const carried: CarriedCall[] = [];
  for (const call of reader(to, parameters) ?? [null]) {
    const content = call && readContent(call, checksumAddress);
    count.left -= 1;
    if (!call || !content?.ok || count.left < 0) return null;
    carried.push({ content: content.value, carried: readCarried(call, depth + 1, count) });
  }
  return carried;
}

/**
 * The calls that a call carries (multicall, aggregate, execute), each with those that it carries itself. Null where it carries
 * none, or where they cannot be read: the function is another one, the encoding is not canonical, a call has invalid content,
 * there are more than four levels, or more than 256 calls.
 */
export function carriedCalls(call: TransactionCall): readonly CarriedCall[] | null {
  return readCarried(call, 1, { left: MAX_CALLS });
}
