import { randomBytes, randomUUID } from 'node:crypto';
import { encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem';
import { MAX_CALLDATA_BYTES } from '../../src/domain/transactionContent';
import { HttpsConnection, requestBytes } from './connection';
import { approval, type BenchOrganization, makeOrganization } from './organization';
import { PaymentsClient } from './paymentsClient';
import { type BenchStack, startBenchStack } from './stack';

/** A processor that does something else meanwhile is not what is measured: the shortest of so many times counts. */
const TIMES = 5;
const NETWORK_ID = 31_337;

// biome-ignore lint/suspicious/noExplicitAny: a resource as it was answered
type Shown = any;

const anAddress = (): Hex => `0x${randomBytes(20).toString('hex')}`;
const aName = () => `Largest ${randomUUID()}`;

function policyTo(destinations: number) {
  return {
    ...{ name: aName(), type: 'AUTO_APPROVAL', transactionType: 'TOKEN_TRANSFER', networkId: NETWORK_ID },
    ...{ accountIds: null, initiatorSetting: null },
    tokenTransferCondition: {
      ...{ tokenAddress: null, amountThreshold: null },
      destinationAddresses: Array.from({ length: destinations }, anAddress),
    },
  };
}

const PAY = 'function pay(address[] recipients)';
/** Beside the recipients: the selector, the offset of the list and its length. */
const RECIPIENTS = Math.floor((MAX_CALLDATA_BYTES - 68) / 32);
const CONTRACT = anAddress();

const CONTRACT_POLICY = {
  ...{ name: 'Pay', type: 'AUTO_APPROVAL', transactionType: 'CONTRACT_INTERACTION', networkId: NETWORK_ID },
  ...{ accountIds: null, initiatorSetting: null },
  contractInteractionCondition: [{ contractAddress: CONTRACT, allowedFunctions: ['pay(address[])'] }],
};

const payData = () =>
  encodeFunctionData({
    abi: parseAbi([PAY]),
    args: [Array.from({ length: RECIPIENTS }, anAddress)],
  });

/** A request that is accepted, with what signs it. */
interface Largest {
  readonly name: string;
  readonly path: string;
  body(): object;
  /** The signatures that follow, until it is executed: by which wallet, of which payload and type. */
  readonly signatures: readonly { readonly type: 'approve' | 'initiator'; readonly wallet: number }[];
  payloadOf(shown: Shown): string;
}

const PROPOSAL = {
  signatures: [
    { type: 'approve', wallet: 0 },
    { type: 'approve', wallet: 1 },
  ],
  payloadOf: ({ signingPayloads }: Shown): string => signingPayloads.approvePayload,
} as const;

/** The largest bodies that are accepted, each new. Accounts come last: they are deployed for a while. */
function largest(payments: PaymentsClient, policyId: string): readonly Largest[] {
  return [
    {
      ...PROPOSAL,
      name: '500 destinations',
      path: '/policies/proposals/add',
      body: () => ({ policies: Array.from({ length: 5 }, () => policyTo(100)) }),
    },
    {
      ...PROPOSAL,
      name: '100 groups',
      path: '/groups/proposals/create',
      body: () => ({ items: Array.from({ length: 100 }, () => ({ name: aName(), memberIds: [] })) }),
    },
    {
      name: '128 KiB of addresses',
      path: '/transactions',
      body: () => payments.transactionBody({ policyId, to: CONTRACT, value: '0', data: payData() }),
      signatures: [{ type: 'initiator', wallet: 0 }],
      payloadOf: ({ signatureData }) => signatureData.initiatorPayload,
    },
    {
      ...PROPOSAL,
      name: '100 accounts',
      path: '/accounts/proposals/create',
      body: () => ({
        items: Array.from({ length: 100 }, () => ({ name: aName(), networkIds: [NETWORK_ID, 31_338] })),
      }),
    },
  ];
}

/** For how long each request blocked the service, by its step. */
type Blocked = Map<string, number>;

async function send(
  stack: BenchStack,
  { key }: BenchOrganization,
  ask: { readonly path: string; readonly body?: object },
): Promise<{ shown: Shown; ms: number }> {
  const connection = await HttpsConnection.open(stack.httpsPort, stack.ca);
  try {
    await stack.blockedMs();
    const bytes = requestBytes({ ...ask, path: `/api/v1${ask.path}`, key });
    const { status, body } = await connection.send(bytes);
    const ms = await stack.blockedMs();
    if (status >= 300) throw new Error(`${ask.path} → ${status}: ${body.slice(0, 500)}`);
    return { shown: JSON.parse(body).data, ms };
  } finally {
    connection.close();
  }
}

async function measureOnce(
  stack: BenchStack,
  organization: BenchOrganization,
  { path, body, signatures, payloadOf }: Largest,
): Promise<Blocked> {
  const blocked: Blocked = new Map();
  const created = await send(stack, organization, { path, body: body() });
  blocked.set('create', created.ms);
  const { shown } = created;
  const own = path === '/transactions' ? `${path}/${shown.id}` : `/proposals/${shown.id}`;
  for (const { type, wallet } of signatures) {
    const by = organization.wallets[wallet];
    if (!by) throw new Error(`there is no wallet ${wallet}`);
    const signed = { type, signature: await approval(by, payloadOf(shown)) };
    const { ms } = await send(stack, organization, { path: `${own}/signatures`, body: signed });
    blocked.set('sign', Math.min(ms, blocked.get('sign') ?? ms));
  }
  const executed = await send(stack, organization, { path: `${own}/execute`, body: { type: 'approve' } });
  const read = await send(stack, organization, { path: own });
  // The page has what was created by earlier measurements too.
  const list = await send(stack, organization, { path: own.slice(0, own.lastIndexOf('/')) });
  return blocked.set('execute', executed.ms).set('read', read.ms).set('list', list.ms);
}

/** What hashing 128 KiB takes, in milliseconds: the unit that does not depend on the machine. */
function unitMs(): number {
  const bytes = randomBytes(MAX_CALLDATA_BYTES);
  const times = Array.from({ length: 10 }, () => {
    const began = performance.now();
    keccak256(bytes);
    return performance.now() - began;
  });
  return Math.min(...times);
}

/**
 * For how long the largest requests that are accepted block the service at most while they are created, signed, executed,
 * read and listed, as a table: in milliseconds, and in units of what hashing 128 KiB takes.
 */
export async function measureAccepted(
  stack: BenchStack,
  organization: BenchOrganization,
  say: (line: string) => void,
): Promise<string> {
  const payments = await PaymentsClient.start(stack, organization);
  const { id: policyId } = await payments.carryOut('policies', 'add', { policies: [CONTRACT_POLICY] });
  const unit = unitMs();
  const rows: string[] = [];
  for (const one of largest(payments, policyId)) {
    say(`Measuring ${one.name}`);
    const least: Blocked = new Map();
    for (let time = 0; time < TIMES; time += 1) {
      const blocked = await measureOnce(stack, organization, one);
      for (const [step, ms] of blocked) least.set(step, Math.min(ms, least.get(step) ?? ms));
    }
    for (const [step, ms] of least) {
      rows.push(
        `${one.name.padEnd(22)} ${step.padEnd(8)} ${ms.toFixed(1).padStart(8)} ${(ms / unit).toFixed(2).padStart(8)}`,
      );
    }
  }
  payments.close();
  const head = `${'accepted'.padEnd(22)} ${'step'.padEnd(8)} ${'ms'.padStart(8)} ${'units'.padStart(8)}`;
  return `${head}\n${rows.join('\n')}\n1 unit: keccak256 of 128 KiB, ${unit.toFixed(1)} ms\n`;
}

/** The same on a stack of its own. */
export async function measureAcceptedAlone(say: (line: string) => void): Promise<string> {
  const stack = await startBenchStack(say, { preload: 'blockingProbe' });
  try {
    return await measureAccepted(stack, await makeOrganization(stack), say);
  } finally {
    await stack.stop();
  }
}
