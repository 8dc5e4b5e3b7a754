import type { Address } from 'viem';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import type { SignerContext } from '../../src/signer/signerContext';
import { setBaseFee } from '../support/baseFee';
import { anAddress } from '../support/builders';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { rpc } from '../support/stack';
import { activitiesOf, envelopeOf, TransactionWorld } from './transactionWorld';

const payment = { to: anAddress() as Address, value: 5n };

let world: TransactionWorld;
let context: SignerContext;
/** Every activity of the signer. */
let signer: Readonly<Record<string, (input: never) => Promise<unknown>>>;

beforeAll(async () => {
  world = await TransactionWorld.start(41_161);
  context = world.signerContext();
  signer = activitiesOf(context);
});
afterAll(() => world?.stop());

function ask(activity: string, input: unknown): Promise<unknown> {
  const run = signer[activity];
  if (!run) throw new Error(`there is no activity ${activity}`);
  return run(input as never);
}

describe('the block from which an execution is searched', () => {
  const head = async () => BigInt(await rpc<string>(world.url, 'eth_blockNumber', []));

  async function fromBlockOf(ref: TransactionRef) {
    const { from_block } = requireRow((await world.attempts(ref))[0]);
    const known = requireRow(world.journal.authorizationOf(ref.transactionId));
    expect(known.fromBlock).toBe(BigInt(from_block ?? -1n));
    return known.fromBlock;
  }

  test.each([
    ['above', 1_000_000n],
    ['below', -1_000n],
  ])('is the head of the chain that the signer reads, where the terms say one %s it', async (_, by) => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    const read = await head();
    const asked = read + by > 0n ? read + by : 0n;
    // One that has just started has read no head before.
    const fresh = world.signerWith({});
    const fromBlock = String(asked);
    const envelopeId = envelopeOf(await fresh.signTransaction({ ...ref, terms: { ...terms, fromBlock } }));
    // A block may have been made meanwhile.
    const from = await fromBlockOf(ref);
    expect(from).toBeGreaterThanOrEqual(read);
    expect(from).toBeLessThanOrEqual(await head());
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.signer.confirmOutcome(ref)).toEqual({ outcome: 'executed' });
  });

  test('is that of the endpoint that is behind the others', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    const read = await head();
    const behind = await startRpcProxy(world.url, async (body, pass) => {
      const text = await pass();
      const { method } = JSON.parse(body);
      const answer = JSON.parse(text);
      if (method !== 'eth_getBlockByNumber' || !answer.result) return text;
      return JSON.stringify({ ...answer, result: { ...answer.result, number: '0x2' } });
    });
    try {
      const networks = [{ ...world.network, signerRpcUrls: [world.url, behind.url] }];
      const asked = { ...terms, fromBlock: String(read + 50n) };
      envelopeOf(await world.signerWith({ networks }).signTransaction({ ...ref, terms: asked }));
      expect(await fromBlockOf(ref)).toBe(2n);
    } finally {
      await behind.stop();
    }
    await world.execute(ref);
  });
});

describe('the fees of an envelope', () => {
  const HIGH = 8_000_000_000n;
  const LOW = 1_000_000_000n;

  let signerProxy: RpcProxy;
  let reads = 0;

  beforeAll(async () => {
    signerProxy = await startRpcProxy(world.url, (body, pass) => {
      const methods = [JSON.parse(body)].flat().map(({ method }: { method: string }) => method);
      reads += methods.filter((method) => method === 'eth_maxPriorityFeePerGas').length;
      return pass();
    });
  });
  afterAll(() => signerProxy?.stop());

  /** A signer that reads through the proxy, and has read nothing yet. */
  function counted() {
    reads = 0;
    return world.signerWith({ networks: [{ ...world.network, signerRpcUrls: [signerProxy.url] }] });
  }

  /** The terms that a worker asks for that has read nothing yet. */
  async function termsNow(ref: TransactionRef): Promise<TransactionTerms> {
    const key = { ...ref, networkId: world.network.id, cancel: false };
    const seen = await world.chainWith({}).prepareTransaction(key);
    if (seen.kind !== 'needsEnvelope') throw new Error(`it is ${JSON.stringify(seen)}`);
    return seen.terms;
  }

  async function signed(by: ReturnType<typeof counted>, ref: TransactionRef, terms: TransactionTerms) {
    const id = BigInt(envelopeOf(await by.signTransaction({ ...ref, terms })));
    const { max_fee_per_gas: fee } = requireRow(await world.db('chain_envelopes').where({ id }).first());
    return BigInt(fee);
  }

  test('are read once, where the signer reads them after they have fallen', async () => {
    const ref = await world.transaction(payment);
    await setBaseFee(world.url, HIGH);
    const terms = await termsNow(ref);
    await setBaseFee(world.url, LOW);
    const fee = await signed(counted(), ref, terms);
    await world.execute(ref);
    expect(fee).toBeLessThan(BigInt(terms.maxFeePerGas));
    expect(reads).toBe(1);
  });

  test('are not read again for what was read of an earlier block', async () => {
    const [first, second] = [await world.transaction(payment), await world.transaction(payment)];
    await setBaseFee(world.url, HIGH);
    const terms = { first: await termsNow(first), second: await termsNow(second) };
    await setBaseFee(world.url, LOW);
    const signer = counted();
    await signed(signer, first, terms.first);
    const fee = await signed(signer, second, terms.second);
    await world.execute(first);
    await world.execute(second);
    expect(fee).toBeLessThan(BigInt(terms.second.maxFeePerGas));
    expect(reads).toBe(1);
  });

  test('are read again where they have risen since the signer has read them', async () => {
    const [first, second] = [await world.transaction(payment), await world.transaction(payment)];
    await setBaseFee(world.url, LOW);
    const signer = counted();
    await signed(signer, first, await termsNow(first));
    await setBaseFee(world.url, HIGH);
    const terms = await termsNow(second);
    const fee = await signed(signer, second, terms);
    await setBaseFee(world.url, LOW);
    await world.execute(first);
    await world.execute(second);
    expect(fee).toBe(BigInt(terms.maxFeePerGas));
    expect(reads).toBe(2);
  });
});

const BAD_TEXTS: readonly unknown[] = [
  undefined,
  null,
  '',
  ' 1',
  '1e9',
  '0x10',
  '-1',
  '1.5',
  'NaN',
  '1'.repeat(81),
  1,
  Number.NaN,
  true,
  {},
  { toString: '1' },
  [],
  ['1'],
];
const BAD_NONCES: readonly unknown[] = [undefined, null, '1', -1, 1.5, 2 ** 53, Number.NaN, Infinity, {}, []];
const BAD_TERMS: readonly unknown[] = [undefined, null, '', 'terms', 5, true, [], {}];
const BAD_IDS: readonly unknown[] = [undefined, null, '', 5, true, {}, [], ['txn'], 'txn_\u0000'];
const BAD_INPUTS: readonly unknown[] = [undefined, null, 'x', 5, [], {}];

const REFUSED = { refused: { code: 'stale', message: expect.any(String) } };

/** Whether an answer says that nothing was done, whoever reads it. */
function isRefusal(answer: unknown): boolean {
  const { refused, held, unreachable, ok } = Object(answer);
  return refused !== undefined || held !== undefined || unreachable !== undefined || ok === false;
}

/** Asks with each input; returns those that were not refused, with what came of them. */
async function unrefused(
  activity: string,
  inputs: readonly unknown[],
  isExpected: (answer: unknown) => boolean = isRefusal,
) {
  const wrong: unknown[] = [];
  for (const input of inputs) {
    const answer = await ask(activity, input).catch((error: Error) => ({
      thrown: error.message.slice(0, 200),
    }));
    if (!isExpected(answer)) wrong.push({ input, answer });
  }
  return wrong;
}

const isRefused = (answer: unknown) => Object(Object(answer).refused).code === 'stale';

describe('malformed input', () => {
  let ref: TransactionRef;
  let terms: TransactionTerms;

  beforeAll(async () => {
    ref = await world.transaction(payment);
    terms = await world.terms(ref);
  });

  /** What each activity is asked with, beside the terms. */
  const others = (activity: string): object =>
    ({
      signTransaction: ref,
      signCancellation: ref,
      fillNonce: { networkId: world.network.id, nonce: 0 },
      signDeployment: {
        organizationId: world.org.id,
        proposalId: newId('prop'),
        accountId: newId('acc'),
        networkId: world.network.id,
      },
    })[activity] ?? ref;

  const TEXTS = ['gas', 'maxFeePerGas', 'maxPriorityFeePerGas', 'relayerAddress', 'head'];
  const OF_TRANSACTION = [...TEXTS, 'safeTxGas', 'accountNonce', 'fromBlock'];

  test.each<[string, readonly string[]]>([
    ['signTransaction', OF_TRANSACTION],
    ['signCancellation', OF_TRANSACTION],
    ['fillNonce', TEXTS],
    ['signDeployment', TEXTS],
  ])('in the terms is a refusal of %s, and nothing is stored', async (activity, fields) => {
    const of = others(activity);
    const wrong = await unrefused(
      activity,
      [
        ...fields.flatMap((field) =>
          BAD_TEXTS.map((value) => ({ ...of, terms: { ...terms, [field]: value } })),
        ),
        ...BAD_NONCES.map((chainNonce) => ({ ...of, terms: { ...terms, chainNonce } })),
        ...[null, 5, {}, []].map((replaces) => ({ ...of, terms: { ...terms, replaces } })),
        ...BAD_TERMS.map((bad) => ({ ...of, terms: bad })),
      ],
      isRefused,
    );
    expect(wrong).toEqual([]);
    expect(await world.attempts(ref)).toEqual([]);
    expect(await world.authorization(ref)).toBeUndefined();
  });

  test('that names an address that is not a relayer is a refusal', async () => {
    const addresses = ['x', '0x', anAddress(), world.relayer.toLowerCase(), `${world.relayer}00`];
    const inputs = addresses.map((relayerAddress) => ({ ...ref, terms: { ...terms, relayerAddress } }));
    expect(await unrefused('signTransaction', inputs, isRefused)).toEqual([]);
  });

  test.each(['signTransaction', 'signCancellation', 'confirmOutcome', 'recordRejection'])(
    'in place of an id is a refusal of %s',
    async (activity) => {
      const inputs = ['organizationId', 'transactionId'].flatMap((field) =>
        BAD_IDS.map((value) => ({ ...ref, terms, [field]: value })),
      );
      expect(await unrefused(activity, inputs)).toEqual([]);
    },
  );

  test('in place of an id is a refusal of signDeployment', async () => {
    const inputs = ['organizationId', 'proposalId', 'accountId'].flatMap((field) =>
      BAD_IDS.map((value) => ({ ...others('signDeployment'), terms, [field]: value })),
    );
    expect(await unrefused('signDeployment', inputs)).toEqual([]);
  });

  test('in place of an id is a refusal of sealProposal', async () => {
    const key = { organizationId: world.org.id, id: newId('prop') };
    const inputs = ['organizationId', 'id'].flatMap((field) =>
      BAD_IDS.map((value) => ({ ...key, [field]: value })),
    );
    expect(await unrefused('sealProposal', inputs)).toEqual([]);
  });

  test.each(['fillNonce', 'signDeployment'])(
    'in place of the network is a refusal of %s',
    async (activity) => {
      const inputs = [undefined, null, '1', 'x', -1, 1.5, {}, [], 2 ** 53].map((networkId) => ({
        ...others(activity),
        terms,
        networkId,
      }));
      expect(await unrefused(activity, inputs)).toEqual([]);
    },
  );

  test('in place of the nonce is a refusal of fillNonce', async () => {
    const inputs = BAD_NONCES.map((nonce) => ({ ...others('fillNonce'), terms, nonce }));
    expect(await unrefused('fillNonce', inputs, isRefused)).toEqual([]);
  });

  test.each([
    'signTransaction',
    'signCancellation',
    'fillNonce',
    'signDeployment',
    'confirmOutcome',
    'recordRejection',
    'sealProposal',
  ])('instead of everything is a refusal of %s', async (activity) => {
    expect(await unrefused(activity, BAD_INPUTS)).toEqual([]);
  });

  test('changes nothing: what is asked for properly is signed', async () => {
    expect(await ask('signTransaction', { ...ref, terms: { ...terms, gas: '1e9' } })).toEqual(REFUSED);
    expect(await ask('signTransaction', { ...ref, terms })).toEqual({ envelopeId: expect.any(String) });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});
