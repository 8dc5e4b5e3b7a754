import { closeSync, openSync, readSync, statSync } from 'node:fs';
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  isAddressEqual,
  parseAbi,
  recoverAddress,
  type TransactionSerializableEIP1559,
  zeroAddress,
} from 'viem';
import type { SigningKey, SigningKeys } from '../../src/chain/keys';
import type { JournalLine } from '../../src/signer/journal/format';

/** A transaction of an account as its members have signed it. */
export interface Approved {
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly account: Address;
  readonly networkId: number;
  readonly policyId: string;
  readonly initiatorId: string;
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
  /** The gas that its inner call needs; more does no harm. */
  readonly safeTxGas: bigint;
  /** Whether its members have approved it, and not rejected it. */
  isApproved: boolean;
  /** An operator has asked for its cancellation. */
  isCancelling: boolean;
  /** The chain has cancelled it: its amount counts no more. */
  isCancelled: boolean;
}

/** An account that the admins have decided to deploy. */
interface DeployableAccount {
  readonly networkId: number;
  readonly to: Address;
  readonly data: Hex;
}

/** What all the rules need to know. */
interface Limits {
  readonly maxGas: bigint;
  readonly maxFeePerGas: bigint;
  /** Of one account, of a policy, in wei. */
  readonly budgets: ReadonlyMap<string, bigint>;
}

/** Something was signed that nobody has authorized. */
export class Unauthorized extends Error {
  override readonly name = 'Unauthorized';
  constructor(
    readonly invariant: string,
    message: string,
  ) {
    super(`${invariant}: ${message}`);
  }
}

/** A hash that an organization's key has signed, as the oracle knows it. */
interface SignedHash {
  readonly hash: Hex;
  readonly approved: Approved;
  readonly nonce: bigint;
  readonly cancels: boolean;
  readonly content: Content;
}

interface Content {
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly safeTxGas: bigint;
}

/** The call of an account that executes what its key has signed. */
interface SignedCall {
  readonly transactionId: string;
  readonly to: Address;
  readonly data: Hex;
  readonly cancels: boolean;
}

interface RelayerTransaction {
  readonly relayer: Address;
  readonly transaction: TransactionSerializableEIP1559;
}

/** As Safe 1.4.1 does it. */
const CANCELLATION_GAS = 50_000n;
const FILLER_GAS = 21_000n;
/** No honest nonce of a relayer is so far from the one before. */
const FARTHEST_NONCE = 50;
/** So many nonces of an account are looked at, where the journal has none. */
const NONCES = 12;

const SAFE_TX = [
  ['to', 'address'],
  ['value', 'uint256'],
  ['data', 'bytes'],
  ['operation', 'uint8'],
  ['safeTxGas', 'uint256'],
  ['baseGas', 'uint256'],
  ['gasPrice', 'uint256'],
  ['gasToken', 'address'],
  ['refundReceiver', 'address'],
  ['nonce', 'uint256'],
].map(([name, type]) => ({ name, type })) as { name: string; type: string }[];

const execution = parseAbi([
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)',
]);

/** The hash of a Safe transaction. Source: EIP-712, Safe 1.4.1. */
export function safeTxHash(
  { account, networkId }: Pick<Approved, 'account' | 'networkId'>,
  content: Content,
  nonce: bigint,
): Hex {
  const rest = {
    operation: 0,
    baseGas: 0n,
    gasPrice: 0n,
    gasToken: zeroAddress,
    refundReceiver: zeroAddress,
  };
  return hashTypedData({
    domain: { chainId: networkId, verifyingContract: account },
    types: { SafeTx: SAFE_TX },
    primaryType: 'SafeTx',
    message: { ...content, ...rest, nonce },
  });
}

function emptyCall({ account: to }: Pick<Approved, 'account'>): Content {
  return { to, value: 0n, data: '0x', safeTxGas: CANCELLATION_GAS };
}

/** The hash of the empty call that uses a nonce of an account. */
export function cancellationHash(of: Pick<Approved, 'account' | 'networkId'>, nonce: bigint): Hex {
  return safeTxHash(of, emptyCall(of), nonce);
}

/**
 * Knows what was approved, sees everything that the keys sign and what the journal has, and says whether all of it was
 * authorized. Written from the rules and not from the code.
 */
export class SignedOracle {
  private readonly approved = new Map<string, Approved>();
  private readonly deployable: DeployableAccount[] = [];
  private readonly recorded: { readonly organizationId: string; readonly hash: Hex }[] = [];
  private readonly sent: RelayerTransaction[] = [];
  private readonly signed = new Map<Hex, SignedHash>();
  /** What may be signed of what the journal has, by its hash. */
  private readonly expected = new Map<Hex, SignedHash>();
  private readonly callsSigned: SignedCall[] = [];
  /** Budgets that are known to be exceeded. */
  private readonly exceeded = new Set<string>();
  /** By account, network and nonce: the transaction. */
  private readonly takenNonces = new Map<string, string>();
  private readonly journaled = new Set<string>();
  /** By account and network: the nonce after the highest one in the journal. */
  private readonly nextNonces = new Map<string, bigint>();
  private readonly organizations = new Map<string, Address>();
  private readBytes = 0;
  private relayerNonce = 0;
  /** Of keys that fail, as one that is out of reach. */
  failing = false;

  constructor(readonly limits: Limits) {}

  approve(one: Approved): Approved {
    this.approved.set(one.transactionId, one);
    return one;
  }

  permitDeployment(one: DeployableAccount): void {
    this.deployable.push(one);
  }

  /** The nonce after those that relayers have signed for, but for those that a database has made up. */
  nextRelayerNonce(): number {
    return this.relayerNonce;
  }

  /** Keys that the oracle sees signing. */
  watching(keys: SigningKeys): SigningKeys {
    const watched = (key: SigningKey, saw: Partial<SigningKey>): SigningKey => ({ ...key, ...saw });
    const assertWorks = () => {
      if (this.failing) throw new Error('the key is out of reach');
    };
    return {
      fingerprint: keys.fingerprint,
      sealKey: (id) => keys.sealKey(id),
      organizationKey: (organizationId) => {
        const key = keys.organizationKey(organizationId);
        this.organizations.set(organizationId, key.address);
        const sign: SigningKey['sign'] = async ({ hash }) => {
          assertWorks();
          this.recorded.push({ organizationId, hash });
          return key.sign({ hash });
        };
        return watched(key, { sign });
      },
      relayerKey: (networkId, index) => {
        const key = keys.relayerKey(networkId, index);
        const signTransaction: SigningKey['signTransaction'] = async (transaction) => {
          assertWorks();
          this.sent.push({ relayer: key.address, transaction });
          const { nonce = 0 } = transaction;
          const isNear = nonce < this.relayerNonce + FARTHEST_NONCE;
          if (isNear) this.relayerNonce = Math.max(this.relayerNonce, nonce + 1);
          return key.signTransaction(transaction);
        };
        return watched(key, { signTransaction });
      },
    };
  }

  /** The calls that execute what was signed of a transaction, oldest first: anybody can send them. */
  callsOf({ transactionId }: Pick<Approved, 'transactionId'>): SignedCall[] {
    return this.callsSigned.filter((one) => one.transactionId === transactionId);
  }

  /** Whether something of a transaction was signed that pays. */
  isSigned({ transactionId }: Pick<Approved, 'transactionId'>): boolean {
    return [...this.signed.values()].some(
      ({ approved, cancels }) => !cancels && approved.transactionId === transactionId,
    );
  }

  /**
   * Throws Unauthorized unless everything since the last call was authorized: the first thing that was not, with all
   * others. `file`: the journal.
   */
  async check(file: string): Promise<void> {
    const broken: Unauthorized[] = [];
    const look = async (work: () => void | Promise<void>) => {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof Unauthorized)) throw error;
        broken.push(error);
      }
    };
    for (const line of this.newLines(file)) {
      await look(() => this.checkLine(line));
      await look(() => this.checkCancellation(line));
    }
    for (const one of this.recorded.splice(0)) await look(() => this.checkHash(one.organizationId, one.hash));
    for (const one of this.sent.splice(0)) await look(() => this.checkRelayer(one));
    await look(() => this.checkBudgets());
    const [first, ...others] = broken;
    if (!first) return;
    first.message += others.map(({ message }) => `\n${message}`).join('');
    throw first;
  }

  private contentOf({ to, value, data, safeTxGas }: Approved): Content {
    return { to, value, data, safeTxGas };
  }

  private newLines(file: string): JournalLine[] {
    const { size } = statSync(file);
    const bytes = Buffer.alloc(size - this.readBytes);
    const handle = openSync(file, 'r');
    readSync(handle, bytes, 0, bytes.length, this.readBytes);
    closeSync(handle);
    const whole = bytes.lastIndexOf('\n') + 1;
    this.readBytes += whole;
    const lines = bytes.toString('utf8', 0, whole).split('\n').slice(0, -1);
    return lines.map((text) => JSON.parse(text) as JournalLine);
  }

  /** Invariant v: what the journal says was authorized is what was approved. */
  private checkLine({ line, entry }: JournalLine): void {
    if (entry.type !== 'authorization') return;
    const { transactionId } = entry;
    const approved = this.approved.get(transactionId);
    const refuse = (what: string): never => {
      throw new Unauthorized('v', `line ${line} of the journal, ${transactionId}: ${what}`);
    };
    if (!approved) throw new Unauthorized('v', `line ${line} of the journal: nobody knows ${transactionId}`);
    const content = { ...this.contentOf(approved), safeTxGas: BigInt(entry.safeTxGas) };
    const wanted: Record<string, string> = {
      organizationId: approved.organizationId,
      accountId: approved.accountId,
      account: approved.account.toLowerCase(),
      networkId: String(approved.networkId),
      policyId: approved.policyId,
      initiatorId: approved.initiatorId,
      to: approved.to.toLowerCase(),
      destination: approved.to.toLowerCase(),
      value: String(approved.value),
      amount: String(approved.value),
      data: approved.data.toLowerCase(),
      tokenAddress: zeroAddress,
      safeTxHash: safeTxHash(approved, content, BigInt(entry.safeNonce)),
    };
    for (const [name, value] of Object.entries(wanted)) {
      const has = String(entry[name as keyof typeof entry]);
      if ((/^0x/.test(has) ? has.toLowerCase() : has) !== value) {
        refuse(`${name} is ${has}, and ${value} was approved`);
      }
    }
    if (content.safeTxGas < approved.safeTxGas || content.safeTxGas > this.limits.maxGas) {
      refuse(`safeTxGas is ${content.safeTxGas}, and it needs ${approved.safeTxGas}`);
    }
    if (!approved.isApproved) refuse('its members have not approved it');
    if (this.journaled.has(transactionId)) refuse('it is authorized a second time');
    this.journaled.add(transactionId);
    this.expect(approved, content, BigInt(entry.safeNonce));
  }

  /**
   * What the journal has of a cancellation: of what it has authorized, or of the next nonce, where a crash came between what
   * the database has and the journal. Nothing else is signed at that nonce.
   */
  private checkCancellation({ line, entry }: JournalLine): void {
    if (entry.type !== 'cancellation' || this.journaled.has(entry.transactionId)) return;
    const approved = this.approved.get(entry.transactionId);
    const nonce = BigInt(entry.safeNonce);
    const key = `${entry.accountId} ${entry.networkId}`;
    const next = this.nextNonces.get(key) ?? 0n;
    const isOwn =
      approved?.accountId === entry.accountId &&
      approved.networkId === entry.networkId &&
      entry.safeTxHash === safeTxHash(approved, emptyCall(approved), nonce);
    if (!approved || !isOwn || nonce > next || this.takenNonces.has(`${key} ${nonce}`)) {
      throw new Unauthorized(
        'v',
        `line ${line} of the journal cancels nonce ${nonce} of ${key}, not ${next}`,
      );
    }
    this.takenNonces.set(`${key} ${nonce}`, entry.transactionId);
    this.noteNonce(key, nonce);
    const content = emptyCall(approved);
    const hash = entry.safeTxHash as Hex;
    this.expected.set(hash, { hash, approved, nonce, cancels: true, content });
  }

  private noteNonce(key: string, nonce: bigint): void {
    const next = this.nextNonces.get(key) ?? 0n;
    if (nonce >= next) this.nextNonces.set(key, nonce + 1n);
  }

  private expect(approved: Approved, pays: Content, nonce: bigint): void {
    this.noteNonce(`${approved.accountId} ${approved.networkId}`, nonce);
    const empty = emptyCall(approved);
    for (const content of [pays, empty]) {
      const hash = safeTxHash(approved, content, nonce);
      this.expected.set(hash, { hash, approved, nonce, cancels: content === empty, content });
    }
  }

  /** The approved transaction whose hash at some nonce this is. */
  private findUnjournaled(organizationId: string, hash: Hex): Approved | undefined {
    return [...this.approved.values()].findLast((approved) => {
      if (approved.organizationId !== organizationId) return false;
      const content = this.contentOf(approved);
      return Array.from({ length: NONCES }, (_, nonce) => nonce).some(
        (nonce) => safeTxHash(approved, content, BigInt(nonce)) === hash,
      );
    });
  }

  /** Invariants i, ii and iii. */
  private checkHash(organizationId: string, hash: Hex): void {
    if (this.signed.has(hash)) return;
    const found = this.expected.get(hash);
    if (!found || found.approved.organizationId !== organizationId) {
      const other = this.findUnjournaled(organizationId, hash);
      if (other)
        throw new Unauthorized('v', `${other.transactionId} was signed, and the journal does not have it so`);
      throw new Unauthorized('i', `${hash} was signed, which is neither approved nor a cancellation of that`);
    }
    const { approved, nonce, cancels } = found;
    const { transactionId, accountId, networkId } = approved;
    if (cancels) {
      if (!approved.isCancelling) {
        throw new Unauthorized(
          'i',
          `${transactionId} is cancelled at nonce ${nonce}, which nobody has asked for`,
        );
      }
      this.signed.set(hash, found);
      return;
    }
    if (!approved.isApproved)
      throw new Unauthorized('iii', `${transactionId} is not approved and was signed`);
    if (this.isSigned(approved))
      throw new Unauthorized('ii', `${transactionId} was signed with a second hash`);
    const key = `${accountId} ${networkId} ${nonce}`;
    const other = this.takenNonces.get(key);
    if (other !== undefined) {
      throw new Unauthorized('ii', `nonce ${nonce} of ${accountId} is of ${other} and of ${transactionId}`);
    }
    this.takenNonces.set(key, transactionId);
    this.signed.set(hash, found);
  }

  private checkBudgets(): void {
    const spent = new Map<string, bigint>();
    for (const { approved, cancels } of this.signed.values()) {
      if (cancels || approved.isCancelled) continue;
      const limit = this.limits.budgets.get(approved.policyId);
      if (limit === undefined) continue;
      const key = `${approved.policyId} ${approved.accountId}`;
      const sum = (spent.get(key) ?? 0n) + approved.value;
      spent.set(key, sum);
      if (sum <= limit || this.exceeded.has(key)) continue;
      this.exceeded.add(key);
      throw new Unauthorized('iii', `${sum} of ${key} was signed, and its budget is ${limit}`);
    }
  }

  /** Invariant iv. */
  private async checkRelayer(sent: RelayerTransaction): Promise<void> {
    const { relayer, transaction } = sent;
    const { to, data = '0x', chainId, nonce } = transaction;
    const isPermitted =
      to &&
      this.isWithinLimits(transaction) &&
      (this.isFiller(sent) || this.isDeployment(transaction) || (await this.isExecution(transaction)));
    if (isPermitted) return;
    throw new Unauthorized(
      'iv',
      `relayer ${relayer} sends what nobody has authorized, at nonce ${nonce} on ${chainId}: ${transaction.value} wei to ${to} with ${transaction.gas} gas at ${transaction.maxFeePerGas} wei and ${data.slice(0, 10)}`,
    );
  }

  private isWithinLimits({
    value = 0n,
    gas = 0n,
    maxFeePerGas = 0n,
  }: TransactionSerializableEIP1559): boolean {
    return value === 0n && gas <= this.limits.maxGas && maxFeePerGas <= this.limits.maxFeePerGas;
  }

  private isFiller({ relayer, transaction: { to, data = '0x', gas = 0n } }: RelayerTransaction): boolean {
    return data === '0x' && isSame(relayer, to) && gas <= FILLER_GAS;
  }

  private isDeployment({ to, data, chainId }: TransactionSerializableEIP1559): boolean {
    return this.deployable.some(
      (one) => one.networkId === chainId && isSame(one.to, to) && one.data === data,
    );
  }

  /** Whether it has an account execute what its key has signed, with that signature. */
  private async isExecution({ to, data = '0x', chainId }: TransactionSerializableEIP1559): Promise<boolean> {
    const signature = signatureIn(data);
    if (!to || signature === undefined) return false;
    for (const { approved, content, hash, cancels } of this.signed.values()) {
      if (approved.networkId !== chainId || !isSame(approved.account, to)) continue;
      if (data !== executionData(content, signature)) continue;
      const signer = await recoverAddress({ hash, signature }).catch(() => zeroAddress);
      if (signer !== this.organizations.get(approved.organizationId)) continue;
      this.callsSigned.push({ transactionId: approved.transactionId, to, data, cancels });
      return true;
    }
    return false;
  }
}

function executionData({ to, value, data, safeTxGas }: Content, signature: Hex): Hex {
  const args = [to, value, data, 0, safeTxGas, 0n, 0n, zeroAddress, zeroAddress, signature] as const;
  return encodeFunctionData({ abi: execution, args });
}

function isSame(one: Address, other: Address | null | undefined): boolean {
  return other !== null && other !== undefined && isAddressEqual(one, other);
}

/** The signature in the call of an account that executes something. */
function signatureIn(data: Hex): Hex | undefined {
  try {
    return decodeFunctionData({ abi: execution, data }).args[9];
  } catch {
    return undefined;
  }
}
