import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  numberToHex,
  pad,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import {
  accountsByAddress,
  type BlockLog,
  movementFilters,
  movementsIn,
} from '../../../src/chain/movementLogs';
import { createIdentify, ZERO_ADDRESS } from '../../../src/domain/movement';
import { createPause } from '../../../src/pause';
import { random } from '../../support/random';

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event SafeReceived(address indexed sender, uint256 value)',
  'event SafeMultiSigTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures, bytes additionalInfo)',
  'event ExecutionSuccess(bytes32 indexed txHash, uint256 payment)',
  'event ExecutionFailure(bytes32 indexed txHash, uint256 payment)',
  'event SafeModuleTransaction(address module, address to, uint256 value, bytes data, uint8 operation)',
  'event ExecutionFromModuleSuccess(address indexed module)',
]);

const address = (n: number) => checksumAddress(pad(numberToHex(n), { size: 20 }));
const [OURS, OTHER_OURS, STRANGER, TOKEN, RELAYER] = [0xa1, 0xa2, 0xb1, 0xc1, 0xd1].map(
  address,
) as Address[] as [Address, Address, Address, Address, Address];
const ACCOUNTS = accountsByAddress([
  { id: 'acc_1', organizationId: 'org_1', address: OURS },
  { id: 'acc_2', organizationId: 'org_1', address: OTHER_OURS },
]);
const SAFE_TX_HASH = numberToHex(7, { size: 32 });

let logIndex = 0;
beforeEach(() => {
  logIndex = 0;
});

function log(emitter: Address, topics: readonly Hex[], data: Hex = '0x'): BlockLog {
  logIndex += 1;
  return {
    ...{ address: emitter, topics, data, logIndex },
    ...{
      blockNumber: 5n,
      blockHash: numberToHex(5, { size: 32 }),
      transactionHash: numberToHex(9, { size: 32 }),
    },
  };
}

type EventName = (typeof EVENTS)[number]['name'];

function event(
  emitter: Address,
  eventName: EventName,
  args: object,
  types = '',
  values: unknown[] = [],
): BlockLog {
  const topics = encodeEventTopics({ abi: EVENTS, eventName, args } as never) as Hex[];
  return log(
    emitter,
    topics,
    types === '' ? '0x' : encodeAbiParameters(parseAbiParameters(types), values as never),
  );
}

const transfer = (from: Address, to: Address, value: bigint, token = TOKEN) =>
  event(token, 'Transfer', { from, to }, 'uint256', [value]);
const received = (account: Address, sender: Address, value: bigint) =>
  event(account, 'SafeReceived', { sender }, 'uint256', [value]);
const success = (account: Address, payment = 0n) =>
  event(account, 'ExecutionSuccess', { txHash: SAFE_TX_HASH }, 'uint256', [payment]);
const failure = (account: Address) =>
  event(account, 'ExecutionFailure', { txHash: SAFE_TX_HASH }, 'uint256', [0n]);
const INFO = encodeAbiParameters(parseAbiParameters('uint256, address, uint256'), [0n, RELAYER, 1n]);

function begun(
  account: Address,
  of: { to?: Address; value?: bigint; operation?: number; gasPrice?: bigint },
) {
  const { to = STRANGER, value = 0n, operation = 0, gasPrice = 0n } = of;
  return event(
    account,
    'SafeMultiSigTransaction',
    {},
    'address, uint256, bytes, uint8, uint256, uint256, uint256, address, address, bytes, bytes',
    [to, value, '0x', operation, 0n, 0n, gasPrice, ZERO_ADDRESS, ZERO_ADDRESS, '0x', INFO],
  );
}

const shown = async (logs: readonly BlockLog[]) =>
  (await movementsIn(ACCOUNTS, logs, createPause())).map((one) => [
    one.accountId,
    one.direction,
    one.kind,
    one.amount,
    one.counterparty,
    ...(one.safeTxHash === null ? [] : ['ours']),
    ...(one.cause === 'fee' ? ['fee'] : []),
    ...(one.tokenId === null ? [] : [one.tokenId]),
  ]);

describe('movements in logs', () => {
  it('are native deposits, as the account itself logs them', async () => {
    expect(await shown([received(OURS, STRANGER, 5n), received(STRANGER, OURS, 6n)])).toEqual([
      ['acc_1', 'in', 'native', 5n, STRANGER],
    ]);
  });

  it('are ERC-20 transfers, once for each account', async () => {
    expect(
      await shown([transfer(STRANGER, OURS, 1n), transfer(OURS, OTHER_OURS, 2n), transfer(OURS, OURS, 3n)]),
    ).toEqual([
      ['acc_1', 'in', 'erc20', 1n, STRANGER],
      ['acc_1', 'out', 'erc20', 2n, OTHER_OURS],
      ['acc_2', 'in', 'erc20', 2n, OURS],
      ['acc_1', 'out', 'erc20', 3n, OURS],
      ['acc_1', 'in', 'erc20', 3n, OURS],
    ]);
  });

  it('are ERC-721 transfers, whose id is a topic and no amount', async () => {
    const { topics } = transfer(STRANGER, OURS, 0n);
    const one = log(TOKEN, [...topics, numberToHex(2n ** 256n - 1n, { size: 32 })]);
    expect(await shown([one])).toEqual([['acc_1', 'in', 'erc721', 1n, STRANGER, 2n ** 256n - 1n]]);
  });

  it('are ERC-1155 transfers, each of a batch', async () => {
    const of = { operator: STRANGER, from: STRANGER, to: OURS };
    expect(
      await shown([
        event(TOKEN, 'TransferSingle', of, 'uint256, uint256', [7n, 2n]),
        event(TOKEN, 'TransferBatch', of, 'uint256[], uint256[]', [
          [7n, 8n],
          [1n, 3n],
        ]),
        event(TOKEN, 'TransferBatch', of, 'uint256[], uint256[]', [[7n, 8n], [1n]]),
      ]),
    ).toEqual([
      ['acc_1', 'in', 'erc1155', 2n, STRANGER, 7n],
      ['acc_1', 'in', 'erc1155', 1n, STRANGER, 7n],
      ['acc_1', 'in', 'erc1155', 3n, STRANGER, 8n],
    ]);
  });

  it('are what an own execution pays, when it succeeds', async () => {
    expect(await shown([begun(OURS, { value: 9n }), success(OURS)])).toEqual([
      ['acc_1', 'out', 'native', 9n, STRANGER, 'ours'],
    ]);
    expect(await shown([begun(OURS, { value: 9n }), failure(OURS)])).toEqual([]);
    // A delegated call sends nothing: its value is only what the code sees.
    expect(await shown([begun(OURS, { value: 9n, operation: 1 }), success(OURS)])).toEqual([]);
  });

  it('are of the execution during which they were logged', async () => {
    expect(
      await shown([
        begun(OURS, { to: OTHER_OURS, value: 4n }),
        received(OTHER_OURS, OURS, 4n),
        transfer(OURS, STRANGER, 1n),
        success(OURS),
        transfer(STRANGER, OURS, 2n),
      ]),
    ).toEqual([
      ['acc_2', 'in', 'native', 4n, OURS, 'ours'],
      ['acc_1', 'out', 'erc20', 1n, STRANGER, 'ours'],
      ['acc_1', 'out', 'native', 4n, OTHER_OURS, 'ours'],
      ['acc_1', 'in', 'erc20', 2n, STRANGER],
    ]);
  });

  it('are the fee that an account pays whoever executes', async () => {
    expect(await shown([begun(OURS, { gasPrice: 1n }), success(OURS, 21n)])).toEqual([
      ['acc_1', 'out', 'native', 21n, RELAYER, 'ours', 'fee'],
    ]);
    expect(await shown([begun(OURS, {}), success(OURS, 21n)])).toEqual([]);
  });

  it('are what a module has an account pay', async () => {
    const call = [STRANGER, STRANGER, 3n, '0x', 0];
    expect(
      await shown([
        event(OURS, 'SafeModuleTransaction', {}, 'address, address, uint256, bytes, uint8', call),
        event(OURS, 'ExecutionFromModuleSuccess', { module: STRANGER }),
      ]),
    ).toEqual([['acc_1', 'out', 'native', 3n, STRANGER]]);
  });

  it('are not read of malformed logs, whatever they are', async () => {
    const topics = [transfer(STRANGER, OURS, 1n), begun(OURS, {}), received(OURS, STRANGER, 1n)]
      .concat(
        event(TOKEN, 'TransferBatch', { operator: OURS, from: OURS, to: OURS }, 'uint256[], uint256[]', [
          [],
          [],
        ]),
      )
      .map((one) => one.topics);
    const data = [
      '0x',
      '0xff',
      `0x${'f'.repeat(64)}`,
      `0x${'f'.repeat(640)}`,
      numberToHex(32, { size: 64 }),
    ] as Hex[];
    for (const own of topics) {
      for (const bytes of data) {
        for (let count = 0; count <= own.length; count += 1) {
          const emitter = random(2) === 0 ? OURS : TOKEN;
          await movementsIn(ACCOUNTS, [log(emitter, own.slice(0, count), bytes)], createPause());
        }
      }
    }
  });

  it('are the same of logs in any order, and twice', async () => {
    const logs = [
      begun(OURS, { value: 9n }),
      transfer(OURS, STRANGER, 1n),
      transfer(OURS, STRANGER, 1n),
      success(OURS),
    ];
    const idsOf = async (read: typeof logs) =>
      (await movementsIn(ACCOUNTS, read, createPause()))
        .map(createIdentify((content) => content))
        .map(({ id }) => id);
    const ids = await idsOf(logs);
    expect(new Set(ids).size).toBe(3);
    const again = [...logs, ...logs].sort(() => random(3) - 1);
    expect(await idsOf(again)).toEqual(ids);
  });
});

describe('the filters', () => {
  it('find each place of an account in a log', () => {
    const word = pad(OURS, { size: 32 }).toLowerCase();
    const matches = ({ address: emitter, topics }: BlockLog) =>
      movementFilters([OURS]).filter(
        (filter) =>
          (filter.address?.includes(emitter) ?? true) &&
          filter.topics.every((wanted, at) => wanted === null || wanted.includes(topics[at] as Hex)),
      ).length;
    const single = (from: Address, to: Address) =>
      event(TOKEN, 'TransferSingle', { operator: STRANGER, from, to }, 'uint256, uint256', [1n, 1n]);
    expect(word).toHaveLength(66);
    const found = [
      received(OURS, STRANGER, 1n),
      transfer(OURS, STRANGER, 1n),
      transfer(STRANGER, OURS, 1n),
      single(OURS, STRANGER),
      single(STRANGER, OURS),
    ];
    expect(found.map(matches)).toEqual([1, 1, 1, 1, 1]);
    expect([transfer(STRANGER, STRANGER, 1n), received(STRANGER, OURS, 1n)].map(matches)).toEqual([0, 0]);
  });
});
