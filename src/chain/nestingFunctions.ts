import { zeroAddress } from 'viem';
import type { TransactionCall } from '../domain/transactionContent';
import { checksumAddress } from './address';
import { decodeCall } from './decode';
import { selectorOf } from './functions';

/** Decoded parameters, or a decoded array or tuple: of values as texts, booleans, and arrays of these. */
type Decoded = readonly unknown[];
/** The calls that a function makes; null where its parameters make something else of it. */
type Calls = readonly TransactionCall[] | null;
type Reader = (parameters: Decoded, to: string) => Calls;

const NO_BYTES = '0x';
/** The operation of a Safe, an ERC-6551 or ERC-725X account that is a call; others are delegatecalls and creations. */
const CALL = '0';

const callOf = (to: unknown, value: unknown, data: unknown): TransactionCall => ({
  to: String(to),
  value: BigInt(String(value)),
  data: String(data),
});

/** Calls of the contract's own functions, with the same sender. */
const ofItself =
  (at: number): Reader =>
  (parameters, to) =>
    (parameters[at] as Decoded).map((data) => callOf(to, 0, data));

/** One call, whose target, value and data are at these places. */
const ofOne =
  (toAt: number, valueAt: number | null, dataAt: number): Reader =>
  (parameters) => [callOf(parameters[toAt], valueAt === null ? 0 : parameters[valueAt], parameters[dataAt])];

/** Calls from the tuples of an array. */
const ofTuples =
  (at: number, read: (tuple: Decoded) => TransactionCall): Reader =>
  (parameters) =>
    (parameters[at] as readonly Decoded[]).map(read);

/** Calls from arrays of the same length. */
function zipped(targets: unknown, values: unknown, datas: unknown): Calls {
  const [to, value, data] = [targets as Decoded, values as Decoded | null, datas as Decoded];
  if (to.length !== data.length || (value !== null && value.length !== to.length)) return null;
  return to.map((address, i) => callOf(address, value === null ? 0 : value[i], data[i]));
}

/** The reader for a call only where the parameter at this place is the operation of a call. */
const whereCall =
  (at: number, reader: Reader): Reader =>
  (parameters, to) =>
    parameters[at] === CALL ? reader(parameters, to) : null;

/** A call whose function is a signature in a text of its own, unless this is empty. Source: Compound Timelock. */
function signedCall(to: unknown, value: unknown, signature: unknown, data: unknown): TransactionCall {
  const bytes = String(data);
  return callOf(
    to,
    value,
    signature === '' ? bytes : `${selectorOf(String(signature))}${bytes.slice(NO_BYTES.length)}`,
  );
}

const withoutValue = ([to, data]: Decoded) => callOf(to, 0, data);
const withValue = ([to, value, data]: Decoded) => callOf(to, value, data);

/** A transaction of MultiSend: one byte of operation, 20 of target, 32 of value, 32 of length, and the data. */
const PACKED = /^00([0-9a-f]{40})([0-9a-f]{64})([0-9a-f]{64})/;

/** Source: Safe, MultiSend and MultiSendCallOnly. */
function unpacked(transactions: string): Calls {
  const calls: TransactionCall[] = [];
  let rest = transactions.slice(NO_BYTES.length);
  while (rest !== '') {
    const [head = '', to = '', value = '', length = ''] = PACKED.exec(rest) ?? [];
    const end = head.length + 2 * Number(`0x${length || 'f'}`);
    if (head === '' || end > rest.length) return null;
    calls.push(callOf(checksumAddress(`0x${to}`), `0x${value}`, `0x${rest.slice(head.length, end)}`));
    rest = rest.slice(end);
  }
  return calls;
}

const BATCH = 'batch((address,uint256,bytes)[])';
/** A single call or a batch, which reverts or tries, without a mode of its own. Source: ERC-7579. */
const MODE = /^0x(00|01)(?:00|01)0{60}$/;
/** The target and the value of a single call, packed. */
const SINGLE = /^0x([0-9a-f]{40})([0-9a-f]{64})/;

/** Source: ERC-7579 and ERC-7821. */
function executed([mode, executionData]: Decoded): Calls {
  const [, type] = MODE.exec(String(mode)) ?? [];
  const data = String(executionData);
  if (type === '01') {
    const batch = decodeCall(`${selectorOf(BATCH)}${data.slice(NO_BYTES.length)}`, [BATCH]);
    const [calls] = batch?.functionParameters ?? [];
    return calls ? (JSON.parse(calls.value) as readonly Decoded[]).map(withValue) : null;
  }
  const [head, to, value] = SINGLE.exec(data) ?? [];
  if (type === undefined || head === undefined) return null;
  return [callOf(checksumAddress(`0x${to}`), `0x${value}`, `0x${data.slice(head.length)}`)];
}

/** A Safe pays a refund out of what it owns where there is a gas price. */
const execTransaction: Reader = (parameters, to) =>
  parameters[6] === '0' ? whereCall(3, ofOne(0, 1, 2))(parameters, to) : null;

/** Calls of governors and timelocks: of `targets`, `values` and `calldatas`. */
const ofLists: Reader = ([targets, values, datas]) => zipped(targets, values, datas);

const ofSignedLists: Reader = ([targets, values, signatures, datas]) => {
  const [to, value, data] = [targets as Decoded, values as Decoded, datas as Decoded];
  const named = signatures as Decoded;
  if ([value, named, data].some(({ length }) => length !== to.length)) return null;
  return to.map((address, i) => signedCall(address, value[i], named[i], data[i]));
};

/** With fewer bytes, the address that a forwarder writes behind the data begins or becomes the selector of the call. */
const hasSelector = ({ data }: TransactionCall) => data.length >= 10;

/** The calls of a forwarder of ERC-2771: each `from`, `to`, `value`, `gas`, nonce or deadline, `data`. */
function forwarded(requests: unknown): Calls {
  const calls = (requests as readonly Decoded[]).map(([, to, value, , , data]) => callOf(to, value, data));
  return calls.every(hasSelector) ? calls : null;
}

const forwardedOne: Reader = ([request]) => forwarded([request]);

/** Where there is a receiver of refunds, a batch sends it the value of every request that fails. Source: OpenZeppelin Contracts 5. */
const forwardedBatch: Reader = ([requests, refundReceiver]) => {
  const calls = forwarded(requests);
  return refundReceiver === zeroAddress || calls?.every(({ value }) => value === 0n) ? calls : null;
};

/** By signature. What is not here is not read: delegatecalls, creations, and programs such as those of the Universal Router. */
const BY_SIGNATURE: Readonly<Record<string, Reader>> = {
  'multicall(bytes[])': ofItself(0),
  'multicall(uint256,bytes[])': ofItself(1),
  'multicall(bytes32,bytes[])': ofItself(1),
  'multicall((bool,bytes)[])': ([calls], to) =>
    (calls as readonly Decoded[]).map(([, data]) => callOf(to, 0, data)),
  'batchCalls(bytes[])': ofItself(0),
  'batch(bytes[])': ofItself(0),
  'batch(bytes[],bool)': ofItself(0),
  'executeMetaTransaction(address,bytes,bytes32,bytes32,uint8)': ([from, data], to) =>
    forwarded([[from, to, 0, 0, 0, data]]),
  'aggregate((address,bytes)[])': ofTuples(0, withoutValue),
  'blockAndAggregate((address,bytes)[])': ofTuples(0, withoutValue),
  'tryAggregate(bool,(address,bytes)[])': ofTuples(1, withoutValue),
  'tryBlockAndAggregate(bool,(address,bytes)[])': ofTuples(1, withoutValue),
  'aggregate3((address,bool,bytes)[])': ofTuples(0, ([to, , data]) => callOf(to, 0, data)),
  'aggregate3Value((address,bool,uint256,bytes)[])': ofTuples(0, ([to, , value, data]) =>
    callOf(to, value, data),
  ),
  'aggregate((address,uint256,bytes)[])': ofTuples(0, withValue),
  'execute(address,uint256,bytes)': ofOne(0, 1, 2),
  'executeCall(address,uint256,bytes)': ofOne(0, 1, 2),
  'execute(address,uint256,bytes,uint8)': whereCall(3, ofOne(0, 1, 2)),
  'execute(uint256,address,uint256,bytes)': whereCall(0, ofOne(1, 2, 3)),
  'executeBatch((address,uint256,bytes)[])': ofTuples(0, withValue),
  'executeBatch((address,uint256,bytes)[],uint8)': whereCall(1, ofTuples(0, withValue)),
  'executeBatch(address[],bytes[])': ([targets, datas]) => zipped(targets, null, datas),
  'executeBatch(address[],uint256[],bytes[])': ofLists,
  'executeBatch(uint256[],address[],uint256[],bytes[])': ([operations, targets, values, datas]) =>
    (operations as Decoded).every((operation) => operation === CALL) &&
    (operations as Decoded).length === (targets as Decoded).length
      ? zipped(targets, values, datas)
      : null,
  'execute(bytes32,bytes)': executed,
  'executeFromExecutor(bytes32,bytes)': executed,
  'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)':
    execTransaction,
  'execTransactionFromModule(address,uint256,bytes,uint8)': whereCall(3, ofOne(0, 1, 2)),
  'execTransactionFromModuleReturnData(address,uint256,bytes,uint8)': whereCall(3, ofOne(0, 1, 2)),
  'multiSend(bytes)': ([transactions]) => unpacked(String(transactions)),
  'submitTransaction(address,uint256,bytes)': ofOne(0, 1, 2),
  'relay(address,uint256,bytes)': ofOne(0, 1, 2),
  'schedule(address,uint256,bytes,bytes32,bytes32,uint256)': ofOne(0, 1, 2),
  'execute(address,uint256,bytes,bytes32,bytes32)': ofOne(0, 1, 2),
  'scheduleBatch(address[],uint256[],bytes[],bytes32,bytes32,uint256)': ofLists,
  'executeBatch(address[],uint256[],bytes[],bytes32,bytes32)': ofLists,
  'propose(address[],uint256[],bytes[],string)': ofLists,
  'queue(address[],uint256[],bytes[],bytes32)': ofLists,
  'execute(address[],uint256[],bytes[],bytes32)': ofLists,
  'propose(address[],uint256[],string[],bytes[],string)': ofSignedLists,
  'queueTransaction(address,uint256,string,bytes,uint256)': ([to, value, signature, data]) => [
    signedCall(to, value, signature, data),
  ],
  'executeTransaction(address,uint256,string,bytes,uint256)': ([to, value, signature, data]) => [
    signedCall(to, value, signature, data),
  ],
  'execute((address,address,uint256,uint256,uint256,bytes),bytes)': forwardedOne,
  'execute((address,address,uint256,uint256,uint256,bytes,uint256),bytes)': forwardedOne,
  'execute((address,address,uint256,uint256,uint48,bytes,bytes))': forwardedOne,
  'executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)': forwardedBatch,
  'call(address,address,uint256,bytes)': ofOne(0, 2, 3),
  'batch((address,address,uint256,bytes)[])': ofTuples(0, ([to, , value, data]) => callOf(to, value, data)),
};

const BY_SELECTOR: ReadonlyMap<string, Reader> = new Map(
  Object.entries(BY_SIGNATURE).map(([signature, reader]) => [selectorOf(signature), reader]),
);

/** True for calldata of a function whose calls can be read. */
export function hasNestedCalls(data: string): boolean {
  return BY_SELECTOR.has(data.slice(0, 10).toLowerCase());
}

/**
 * The calls that the function of a call makes; null where it makes none, where they cannot be read, and where the encoding is
 * not canonical. Their content is not checked.
 */
export function readNestedCalls({ to, data }: TransactionCall): Calls {
  const reader = BY_SELECTOR.get(data.slice(0, 10).toLowerCase());
  const decoded = reader ? decodeCall(data, []) : null;
  if (!reader || !decoded) return null;
  const parameters: Decoded = decoded.functionParameters.map(({ type, value }) =>
    /[\])]$/.test(type) ? JSON.parse(value) : value,
  );
  return reader(parameters, to);
}
