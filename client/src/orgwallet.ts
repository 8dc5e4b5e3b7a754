import type { Hex } from 'viem';
import { type Api, createApi } from './api.ts';
import { type DepositOptions, type ExpectedDeposit, type Movement, waitForDeposit } from './deposits.ts';
import type { CallOptions } from './endpoints.ts';
import { ApiError, NoAnswer, NotConnected, NotPermitted, NotSigned } from './errors.ts';
import { type ActionOptions, type Connection, withDeadline } from './exchange.ts';
import { isSameAddress, match } from './expectation.ts';
import type { Before, CallIntent, Intent, OperationIntent, OperationType, TransferIntent } from './intent.ts';
import { actionOf } from './operationData.ts';
import type { VoteType } from './payload.ts';
import { type PinStore, pinInMemory } from './pins.ts';
import { verifyRecord } from './recordPayloads.ts';
import {
  type Approval,
  type Proposal,
  type RecordOf,
  readApproval,
  type Schema,
  type Status,
  sameRecord,
  type Transaction,
  type WaitOptions,
  waitFor,
} from './records.ts';
import { encodedSignature, type Wallet } from './signWith.ts';
import { callOf } from './transactionCall.ts';
import type { Verified } from './verify.ts';

/** How a vote is given. */
export interface VoteOptions extends CallOptions {
  readonly wallet: Wallet;
  /** What the caller wants: the payload is compared with it. */
  readonly intent?: Intent;
  /**
   * Is shown what the bytes do, and decides whether to sign. Needed without an intent; with one, `verified.rest` is what
   * it does not cover.
   */
  readonly confirm?: ((verified: Verified) => boolean | Promise<boolean>) | undefined;
  /** The records as they were; absent: they are read. */
  readonly before?: Before;
  /** The initiator's signature, where it is known: what an approval of a transaction has to be bound to. */
  readonly initiatorSignature?: Hex | undefined;
  readonly reason?: string;
  /** Executes the outcome as well, if its threshold is then met. */
  readonly execute?: boolean;
}

/** What every request from an account says besides its intent. */
interface Request extends CallOptions {
  /** The account: its id, or the record that was read. */
  readonly account: string | { readonly id: string; readonly address: string };
  readonly wallet: Wallet;
  readonly description?: string;
  /** Your own id of it, unique in the organization. It is not signed, and neither are metadata and tags. */
  readonly externalId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** Waits for the outcome of the execution; true by default. */
  readonly wait?: boolean;
}

/** A payment or call that is not requested yet. */
type Planned<Asked> = Asked extends Request
  ? Omit<Asked, 'wallet' | 'description' | 'externalId' | 'metadata' | 'tags' | 'wait' | 'idempotencyKey'> & {
      /** Who would initiate it: a wallet, or its address. */
      readonly initiator: Wallet | string;
    }
  : never;

export type TransferRequest = Request & Omit<TransferIntent, 'type' | 'account'>;
export type CallRequest = Request & Omit<CallIntent, 'type' | 'account'>;
export type PlannedRequest = Planned<TransferRequest | CallRequest>;

/** How a change is proposed. */
export interface ProposeOptions extends CallOptions {
  /** Approves it at once with this wallet. */
  readonly wallet?: Wallet;
  /** Decides whether to approve it, as in `VoteOptions`. */
  readonly confirm?: VoteOptions['confirm'];
  /** Executes it as well, if the threshold is then met. */
  readonly execute?: boolean;
}

/** The client: every endpoint as a method, and what takes several of them. */
export interface Orgwallet extends Api {
  /** Proposes a change, after reading what it changes; with a wallet the proposal is verified and approved. */
  propose(intent: OperationIntent, options?: ProposeOptions): Promise<Proposal>;
  /** Verifies a proposal or transaction, signs it and sends the signature. Throws PayloadMismatch and NotSigned before it signs. */
  vote<Target extends string | Approval>(
    approval: Target,
    vote: VoteType,
    options: VoteOptions,
  ): Promise<RecordOf<Target>>;
  /** Executes an outcome whose threshold is met. */
  execute<Target extends string | Approval>(
    approval: Target,
    type: 'approve' | 'reject',
    options?: CallOptions,
  ): Promise<RecordOf<Target>>;
  /**
   * Sends native currency or a token: looks for a policy that permits it, requests it, verifies and signs it as its
   * initiator, executes it where nobody has to approve, and waits for the outcome. Throws NotPermitted,
   * PayloadMismatch, NotReached.
   */
  transfer(request: TransferRequest): Promise<Transaction>;
  /** Calls a contract, in the same steps as `transfer`. */
  call(request: CallRequest): Promise<Transaction>;
  /**
   * The evaluation of the policy that `transfer` or `call` would use: of those that permit it, the one with the fewest
   * approvals. It has the approvers, their number, and what is left of the budget. Nothing is stored. Throws NotPermitted.
   */
  policyFor(request: PlannedRequest): Promise<Schema['Evaluation']>;
  /** The current state of a proposal or transaction. */
  read<Target extends string | Approval>(approval: Target, options?: CallOptions): Promise<RecordOf<Target>>;
  waitFor<Target extends string | Approval>(
    approval: Target,
    status: Status | readonly Status[],
    options?: WaitOptions,
  ): Promise<RecordOf<Target>>;
  /**
   * Waits until a deposit is confirmed: the first one of the asset, with at least the amount, in one movement. Throws NoDeposit after
   * `timeoutMs`.
   */
  waitForDeposit(deposit: ExpectedDeposit, options?: DepositOptions): Promise<Movement>;
}

/** Where the service is, and what is known of the organization. */
export interface Settings extends Connection {
  /** Where the organization's salt is remembered from the first payload on; in memory by default. */
  readonly pins?: PinStore;
}

type MethodOf<Type> = Type extends `${infer Resource}.${infer Verb}`
  ? `propose${Capitalize<Resource>}${Verb extends 'change' ? '' : Capitalize<Verb>}`
  : never;

/** The method that proposes a kind of change: `members.create` → `proposeMembersCreate`. */
function methodOf<Type extends OperationType>(type: Type): MethodOf<Type> {
  const words = type.replace('.change', '').split('.');
  return `propose${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}` as MethodOf<Type>;
}

const isTransaction = (record: Approval): record is Transaction => record.id.startsWith('txn_');

/** Options for the other calls of one action: its idempotency key belongs to its first POST. */
const withoutKey = ({ signal, timeoutMs, totalTimeoutMs, deadline }: ActionOptions): ActionOptions => ({
  signal,
  timeoutMs,
  totalTimeoutMs,
  deadline,
});

/**
 * Does an action of several calls. One without an answer is repeated by the key that creates its request, and by no key of
 * a later call: with that the request would be created a second time.
 */
async function withKey<Result>(
  options: CallOptions,
  work: (idempotencyKey: string) => Promise<Result>,
): Promise<Result> {
  const { idempotencyKey = crypto.randomUUID() } = options;
  try {
    return await work(idempotencyKey);
  } catch (error) {
    const isOpen =
      error instanceof NoAnswer ||
      error instanceof NotConnected ||
      (error instanceof ApiError && (error.isTemporary || error.idempotencyKey !== undefined));
    throw isOpen ? Object.assign(error, { idempotencyKey }) : error;
  }
}

/**
 * The evaluation of the policy to ask under: the one with the fewest approvals. What is repeated may have spent the budget
 * itself: then the policy that it names is asked all the same, and nothing is signed that was not signed before.
 */
function chosenOf(
  evaluations: readonly Schema['Evaluation'][],
  policyId: string | undefined,
  { idempotencyKey }: CallOptions,
): Schema['Evaluation'] | undefined {
  const mayBeRepeated = policyId !== undefined && idempotencyKey !== undefined;
  const isPossible = ({ allowed, failures }: Schema['Evaluation']) =>
    allowed || (mayBeRepeated && failures.every(({ condition }) => condition === 'budget'));
  return evaluations
    .filter((one) => isPossible(one) && (policyId ?? one.policy.id) === one.policy.id)
    .sort((one, two) => one.threshold - two.threshold)[0];
}

/** Whether a transaction is signed already; it is then compared with the call that was requested. Throws PayloadMismatch. */
function isSignedAlready(
  {
    data,
    ...asked
  }: Pick<Transaction, 'accountId' | 'networkId' | 'to' | 'value'> & {
    readonly data: string;
    readonly replaces: string | undefined;
  },
  current: Transaction,
): boolean {
  if (current.signatureStatus === 'pendingInitiatorSignature') return false;
  match('calldata', data.toLowerCase(), current.calldata.toLowerCase());
  for (const field of ['accountId', 'networkId', 'to', 'value', 'replaces'] as const) {
    match(field, asked[field], current[field]);
  }
  return true;
}

/** A proposal that is approved already, of the kind that was proposed. Throws PayloadMismatch for another one. */
function sameKind(intent: OperationIntent, current: Proposal): Proposal {
  match('resourceType', intent.type.split('.')[0], current.resourceType);
  match('action', actionOf(intent), current.action);
  return current;
}

/** The records that a change must leave as they are. `propose` reads them before the service knows what is asked. */
async function readBefore(api: Api, intent: Intent | undefined, options: CallOptions): Promise<Before> {
  const type = intent?.type ?? '';
  if (!['members.update', 'members.remove', 'groups.update', 'admins.update'].includes(type)) return {};
  const [members, groups, admins] = await Promise.all([
    api.listMembers({}, options),
    type === 'groups.update' ? api.listGroups({}, options) : undefined,
    type === 'admins.update' ? api.listAdmins(undefined, options) : undefined,
  ]);
  return { members, groups, admins };
}

/**
 * A client of the service for one API key, or in the browser for the session of its cookie. Nothing is signed before it is verified.
 *
 * @example
 * const orgwallet = createOrgwallet({ baseUrl: 'https://localhost:8443/api/v1', apiKey });
 * const wallet = signWith.viem(privateKeyToAccount(privateKey));
 * await orgwallet.transfer({ account, networkId: 1, to, amount: parseEther('0.05'), wallet });
 */
export function createOrgwallet(settings: Settings): Orgwallet {
  const api = createApi(settings);
  const pins = settings.pins ?? pinInMemory();
  const addresses = new Map<string, string>();

  const accountOf = async (account: Request['account'], options: CallOptions) => {
    if (typeof account === 'object') return account;
    if (!account.startsWith('acc_')) {
      throw new TypeError(`account: invalid id "${account}" (expected acc_…, or { id, address })`);
    }
    // An account has one address for ever: what was read first counts.
    const address = addresses.get(account) ?? (await api.getAccount(account, options)).address;
    addresses.set(account, address);
    return { id: account, address };
  };

  const recordOf = async (approval: string | Approval, options?: CallOptions): Promise<Approval> =>
    typeof approval === 'string' ? readApproval(api, approval, options) : approval;

  async function sendVote(
    record: Approval,
    vote: VoteType,
    signature: Hex,
    { execute = false, reason, ...options }: VoteOptions,
  ) {
    const body = { signature, execute, ...(reason === undefined ? {} : { reason }) };
    if (isTransaction(record)) return api.signTransaction(record.id, { type: vote, ...body }, options);
    return api.signProposal(record.id, { type: vote as 'approve' | 'reject', ...body }, options);
  }

  async function vote<Target extends string | Approval>(
    approval: Target,
    type: VoteType,
    options: VoteOptions,
  ) {
    const { intent, confirm, initiatorSignature } = options;
    if (!intent && !confirm) throw new TypeError('intent or confirm is required');
    const record = await recordOf(approval, withoutKey(options));
    if (type === 'initiator' && !isTransaction(record)) {
      throw new TypeError('invalid vote "initiator" for a proposal (expected approve or reject)');
    }
    const { id } = record;
    const before = options.before ?? (await readBefore(api, intent, withoutKey(options)));
    const verified = verifyRecord(record, intent, { pins, before, initiatorSignature })[type];
    if (!verified) {
      throw new NotSigned(`${id} has no ${type} payload: it is closed, or waits for another signature`);
    }
    if (confirm && !(await confirm(verified))) throw new NotSigned(`${id} was not confirmed`);
    const signature = await encodedSignature(options.wallet, verified.typedData);
    return sameRecord(id, await sendVote(record, type, signature, options)) as RecordOf<Target>;
  }

  /** A request as it is now: a key that was used before answers with what it was then. */
  const asItIs = <Target extends Approval>(created: Target, asked: CallOptions) =>
    asked.idempotencyKey === undefined ? created : readApproval(api, created, withoutKey(asked));

  async function propose(
    intent: OperationIntent,
    options: ProposeOptions,
    idempotencyKey: string,
  ): Promise<Proposal> {
    const { wallet, confirm, execute = false } = options;
    const { type, ...body } = intent;
    const before = await readBefore(api, intent, withoutKey(options));
    const create = api[methodOf(type)] as (body: object, options: CallOptions) => Promise<Proposal>;
    const proposed = await create(body, { ...options, idempotencyKey });
    if (!wallet) return proposed;
    const current = (await asItIs(proposed, options)) as Proposal;
    const own = await wallet.address();
    if (current.approvals.some(({ walletAddress }) => isSameAddress(walletAddress, own)))
      return sameKind(intent, current);
    return vote(current, 'approve', { ...withoutKey(options), wallet, intent, before, execute, confirm });
  }

  /** The request of an intent, and its evaluation by the policies. Throws NotPermitted. */
  async function evaluate(
    intent: TransferIntent | CallIntent,
    {
      accountId,
      initiator,
      description = '',
    }: { accountId: string; initiator: string; description?: string | undefined },
    asked: CallOptions,
  ) {
    const call = {
      accountId,
      networkId: intent.networkId,
      initiatorWalletAddress: initiator,
      description,
      ...callOf(intent),
      ...(intent.replaces ? { replaces: intent.replaces } : {}),
    };
    const evaluations = await api.evaluatePolicies(call, withoutKey(asked));
    const evaluation = chosenOf(evaluations, intent.policyId, asked);
    if (!evaluation) throw new NotPermitted(evaluations);
    return { call, evaluation, evaluations };
  }

  async function request(
    asked: Request & ActionOptions,
    intent: TransferIntent | CallIntent,
    accountId: string,
    idempotencyKey: string,
  ): Promise<Transaction> {
    const { wallet, description, wait = true } = asked;
    const options = withoutKey(asked);
    const of = { accountId, initiator: await wallet.address(), description };
    const { call, evaluation, evaluations } = await evaluate(intent, of, asked);
    const policyId = evaluation.policy.id;
    const { externalId, metadata, tags } = asked;
    const references = {
      ...(externalId === undefined ? {} : { externalId }),
      ...(metadata ? { metadata } : {}),
      ...(tags ? { tags: [...tags] } : {}),
    };
    const body = { ...call, ...references, policyId };
    const created = await api.createTransaction(body, { ...options, idempotencyKey });
    const current = await asItIs(created, asked);
    const isSigned = isSignedAlready({ ...call, replaces: intent.replaces }, current);
    if (!isSigned && !evaluation.allowed) throw new NotPermitted(evaluations);
    const more = { wallet, intent: { ...intent, policyId }, execute: evaluation.threshold === 0 };
    const done = isSigned ? current : await vote(current, 'initiator', { ...options, ...more });
    const goesOn = done.executionStatus === 'processing' || done.failure?.resumes;
    return wait && goesOn ? waitFor(api, done, 'completed', options) : done;
  }

  /** Requests what an intent asks of an account, which it names by its address. */
  const send = (given: Request, intentOf: (account: string) => TransferIntent | CallIntent) =>
    withKey(given, async (key) => {
      const asked = withDeadline(given, settings) as Request & ActionOptions;
      const { id, address } = await accountOf(asked.account, withoutKey(asked));
      return request(asked, intentOf(address), id, key);
    });

  async function policyFor(given: PlannedRequest): Promise<Schema['Evaluation']> {
    const { initiator } = given;
    const asked = withDeadline(given, settings);
    const { id: accountId, address: account } = await accountOf(given.account, withoutKey(asked));
    const intent =
      'data' in given
        ? ({ ...given, type: 'call', account } as const)
        : ({ ...given, type: 'transfer', account } as const);
    const of = {
      accountId,
      initiator: typeof initiator === 'string' ? initiator : await initiator.address(),
    };
    return (await evaluate(intent, of, asked)).evaluation;
  }

  return {
    ...api,
    propose: (intent, given = {}) => {
      const options: ProposeOptions = withDeadline(given, settings);
      return withKey(options, (key) => propose(intent, options, key));
    },
    vote: (approval, type, options) => vote(approval, type, withDeadline(options, settings) as VoteOptions),
    policyFor,
    execute: async (approval, type, given = {}) => {
      const id = typeof approval === 'string' ? approval : approval.id;
      const execute = id.startsWith('txn_') ? api.executeTransaction : api.executeProposal;
      const executed = await execute(id, { type }, withDeadline(given, settings));
      return sameRecord(id, executed) as RecordOf<typeof approval>;
    },
    transfer: (asked) => send(asked, (account) => ({ ...asked, type: 'transfer', account })),
    call: (asked) => send(asked, (account) => ({ ...asked, type: 'call', account })),
    read: (approval, options) => readApproval(api, approval, options),
    waitFor: (approval, status, options) => waitFor(api, approval, status, options),
    waitForDeposit: (deposit, options) => waitForDeposit(api, deposit, options),
  };
}
