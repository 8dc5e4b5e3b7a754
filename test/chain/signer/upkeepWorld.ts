import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  parseAbi,
  zeroAddress,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { deriveAdminsSafe } from '../../../src/chain/adminsSafe';
import { readSafe } from '../../../src/chain/safeState';
import type { NetworkConfig } from '../../../src/config';
import type { AccountRescue, AdminsSafeStatus } from '../../../src/domain/adminsSafe';
import type { Edit } from '../../../src/domain/governance';
import type { SignerActivities } from '../../../src/signer/activities';
import type { UpkeepEntry } from '../../../src/signer/journal/entries';
import type { SignerContext, SignerDeps } from '../../../src/signer/signerContext';
import { keepAdminsSafes } from '../../../src/signer/upkeep/keep';
import type { TestMember } from '../../support/service';
import { until } from '../../support/until';
import { activitiesOf, type TestAccount, TransactionWorld } from '../transactionWorld';
import { sendAsFunder } from '../wallets';

const execAbi = parseAbi([
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool success)',
]);
const SAFE_TX = [
  ...(['to:address', 'value:uint256', 'data:bytes', 'operation:uint8', 'safeTxGas:uint256'] as const),
  ...(['baseGas:uint256', 'gasPrice:uint256', 'gasToken:address', 'refundReceiver:address'] as const),
  'nonce:uint256',
].map((field) => {
  const [name = '', type = ''] = field.split(':');
  return { name, type };
});

/** A call of a Safe, by MultiSendCallOnly where `operation` is 1. */
interface SafeCall {
  readonly to: Address;
  readonly data: Hex;
  readonly operation?: 0 | 1;
}

/** A chain, a database and a signer that keeps the admins' Safe of one organization. No Temporal runs, and no worker. */
export class UpkeepWorld {
  private stopKeeping: (() => Promise<void>) | undefined;
  private context: SignerContext | undefined;

  private constructor(readonly world: TransactionWorld) {}

  static async start(chainId: number, change: Partial<NetworkConfig> = {}): Promise<UpkeepWorld> {
    return new UpkeepWorld(await TransactionWorld.start(chainId, change));
  }

  async end(): Promise<void> {
    await this.stop();
    await this.world.stop();
  }

  /** The loop of a signer, with the journal that is open. */
  keep(change: Partial<SignerDeps> = {}): void {
    this.context = this.world.signerContext(change);
    this.stopKeeping = keepAdminsSafes(this.context);
  }

  /** Admins with a Safe that is current, and an account that is ready. */
  async founded(members: readonly TestMember[], threshold: number): Promise<TestAccount> {
    const account = await this.world.account();
    await this.decideAdmins(members, threshold);
    this.keep();
    await this.untilStatus('current');
    await this.untilRescue(account, 'ready');
    return account;
  }

  async stop(): Promise<void> {
    await this.stopKeeping?.();
    this.stopKeeping = undefined;
  }

  /** The process ends, and another one begins with the journal that it has left. */
  async restart(change: Partial<SignerDeps> = {}): Promise<void> {
    await this.stop();
    await this.world.restartSigner();
    this.keep(change);
  }

  /** What the signer whose loop runs answers. */
  activities(): SignerActivities {
    if (!this.context) throw new Error('no signer keeps');
    return activitiesOf(this.context);
  }

  /** Lets the signer know what is sealed, as its own seals do, and look now. */
  async wake(): Promise<void> {
    const { db, org } = this.world;
    await this.context?.readSealedState(db, org.id).catch(() => undefined);
    this.context?.upkeep.wake(org.id);
  }

  get safes() {
    return deriveAdminsSafe({
      signingKey: this.world.keystore.organizationKey(this.world.org.id).address,
      admins: { id: this.world.org.adminsId },
    });
  }

  /** Decides who the admins are, with their Safe. */
  async decideAdmins(members: readonly { readonly id: string }[], threshold: number): Promise<void> {
    const memberIds = members.map(({ id }) => id).sort();
    const id = this.world.org.adminsId;
    const after = { id, memberIds, threshold, onChain: true };
    await this.world.decide([{ type: 'admin', id, after } as Edit]);
    await this.wake();
  }

  async untilStatus(status: AdminsSafeStatus) {
    return until(`the admins' Safe is ${status}`, async () => {
      const row = await this.world.db('admins_safes').where({ organization_id: this.world.org.id }).first();
      return row?.status === status && row;
    });
  }

  async untilRescue({ id }: TestAccount, rescue: AccountRescue) {
    return until(`the account is ${rescue}`, async () => {
      const row = await this.world.db('account_rescues').where({ account_id: id }).first();
      return row?.rescue === rescue && row;
    });
  }

  async stateOf(address: string) {
    const found = await readSafe(this.world.client.rpc, address);
    if (found.kind !== 'safe') throw new Error(`${address} is ${found.kind}`);
    return found.state;
  }

  /** Waits until these own the admins' Safe, in any order. */
  async untilOwned(members: readonly Pick<TestMember, 'wallet'>[], threshold: number): Promise<void> {
    const wanted = members.map(({ wallet }) => wallet.address).sort();
    const { safe, keeper } = this.safes;
    await until(`${wanted.length} own it, of which ${threshold} sign`, async () => {
      const { owners, threshold: found } = await this.stateOf(safe.address);
      return found === threshold && [...owners].sort().join() === wanted.join();
    });
    expect((await this.stateOf(safe.address)).modules).toEqual([keeper.address]);
  }

  entries(): readonly UpkeepEntry[] {
    return this.world.journal.upkeep();
  }

  /** The envelopes of what keeps the admins' Safe, oldest first. */
  envelopes() {
    const attempts = this.world.db('chain_attempts').where({ kind: 'upkeep' }).select('id');
    return this.world.db('chain_envelopes').whereIn('attempt_id', attempts).orderBy('id');
  }

  /** Waits until nothing of it is undecided. */
  async untilDecided(): Promise<void> {
    await until('all is decided', async () => {
      const open = await this.world.db('chain_attempts').where({ kind: 'upkeep', outcome: null });
      return open.length === 0 && (await this.envelopes()).every(({ outcome }) => outcome !== null);
    });
  }

  /** The database loses every row of it, as one that is restored from a backup. */
  async loseRows(): Promise<void> {
    const { db } = this.world;
    const attempts = db('chain_attempts').where({ kind: 'upkeep' }).select('id');
    await db('chain_envelopes').whereIn('attempt_id', attempts).delete();
    await db('relayer_reservations').whereIn('attempt_id', attempts).delete();
    await db('chain_attempts').where({ kind: 'upkeep' }).delete();
  }

  hashes(): readonly string[] {
    return this.entries().map(({ safeTxHash }) => safeTxHash);
  }

  /** A call of the admins' Safe, signed by owners and sent by a stranger, as any Safe interface does it. */
  async act(by: readonly PrivateKeyAccount[], { to, data, operation = 0 }: SafeCall): Promise<boolean> {
    const address = this.safes.safe.address as Address;
    const { nonce } = await this.stateOf(address);
    const message = {
      ...{ to, value: 0n, data, operation, safeTxGas: 0n, baseGas: 0n, gasPrice: 0n },
      ...{ gasToken: zeroAddress, refundReceiver: zeroAddress, nonce },
    };
    const domain = { chainId: this.world.network.id, verifyingContract: address };
    const hash = hashTypedData({ domain, types: { SafeTx: SAFE_TX }, primaryType: 'SafeTx', message });
    const ascending = [...by].sort((one, two) => (BigInt(one.address) < BigInt(two.address) ? -1 : 1));
    const signatures = concatHex(await Promise.all(ascending.map((one) => one.sign({ hash }))));
    const args = [to, 0n, data, operation, 0n, 0n, 0n, zeroAddress, zeroAddress, signatures] as const;
    const call = encodeFunctionData({ abi: execAbi, functionName: 'execTransaction', args });
    const { status } = await sendAsFunder(this.world.url, { to: address, data: call });
    await this.world.mine(2);
    return status === '0x1';
  }

  /** A call of the admins' Safe to itself. */
  actOnItself(
    by: readonly PrivateKeyAccount[],
    signature: string,
    args: readonly unknown[],
  ): Promise<boolean> {
    const abi = parseAbi([`function ${signature}`] as readonly string[]);
    const data = encodeFunctionData({ abi, args } as never);
    return this.act(by, { to: this.safes.safe.address as Address, data });
  }
}

/** The wallets of members, who can sign. */
export const keysOf = (members: readonly TestMember[]) =>
  members.map(({ wallet }) => wallet as unknown as PrivateKeyAccount);
