import { type Address, type Hex, parseTransaction } from 'viem';
import type { TransactionObservation } from '../../activities/transactions/observation';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import type { SigningResult } from '../../src/signer/refusal';
import { anAddress } from '../support/builders';
import { gate, word } from '../support/contracts';
import {
  type AskedWith,
  ETHER,
  envelopeOf,
  type TestAccount,
  type TransactionWorld,
} from './transactionWorld';
import { sendAsFunder } from './wallets';

let made = 0;

/** Payments of an account through a contract that lets them pass while it is open: each fails on chain where it is closed. */
export class GatedPayments {
  private constructor(
    private readonly world: TransactionWorld,
    readonly account: TestAccount,
    readonly payee: Address,
    private readonly gate: Address,
    private readonly value: bigint,
  ) {}

  static async open(
    world: TransactionWorld,
    { value = ETHER / 10n, account }: { value?: bigint; account?: TestAccount } = {},
  ): Promise<GatedPayments> {
    made += 1;
    const payee = anAddress() as Address;
    const place = await world.contract(`gate ${made}`, gate(payee));
    const payments = new GatedPayments(world, account ?? (await world.account()), payee, place, value);
    await payments.set(true);
    return payments;
  }

  async set(isOpen: boolean): Promise<void> {
    await sendAsFunder(this.world.url, { to: this.gate, data: word(isOpen ? 1n : 0n) });
  }

  /** Asks for the payment; its execution has begun. */
  ask(how: Omit<AskedWith, 'account'> = {}): Promise<TransactionRef> {
    const asked = { to: this.gate, value: this.value };
    return this.world.transaction(asked, { account: this.account, ...how });
  }

  /** The terms of now for whatever of it is asked for. */
  async terms(): Promise<TransactionTerms> {
    const { world, account } = this;
    const other = await GatedPayments.open(world, { value: this.value });
    return {
      ...(await world.terms(await other.ask())),
      accountNonce: String(await world.nonceOf(account)),
    };
  }

  async sign(ref: TransactionRef): Promise<SigningResult> {
    return this.world.signer.signTransaction({ ...ref, terms: await this.terms() });
  }

  /** Carries what is signed to the chain, where it fails; the signer has read it. */
  async fail(ref: TransactionRef): Promise<void> {
    await this.set(false);
    expect(await this.world.execute(ref)).toMatchObject({ outcome: { kind: 'reverted' } });
    await this.set(true);
  }

  /** Asks for it, signs it and has it fail on chain. */
  async askFailed(how: Omit<AskedWith, 'account'> = {}): Promise<TransactionRef> {
    const ref = await this.ask(how);
    envelopeOf(await this.sign(ref));
    await this.fail(ref);
    return ref;
  }

  /** Asks for it; its execution fails before anything of it is signed. */
  async askUnsigned(how: Omit<AskedWith, 'account'> = {}): Promise<TransactionRef> {
    const ref = await this.ask(how);
    await this.world.end(ref, { status: 'failed', failure: { code: 'stale', message: 'not signed' } });
    await this.world
      .db('approvals')
      .where({ id: ref.transactionId })
      .update({ closed_at: new Date(), execution_status: 'failed' });
    return ref;
  }

  async cancel(ref: TransactionRef): Promise<TransactionObservation> {
    await this.world.requestCancellation(ref);
    return this.world.execute(ref, { cancel: true });
  }

  /** How often the payee has been paid. */
  async paid(): Promise<number> {
    return Number(await this.world.balanceOf(this.payee)) / Number(this.value);
  }

  /** Sends all that was ever signed of these transactions, in their order, as whoever has seen the bytes can. */
  async sendAll(...refs: readonly TransactionRef[]): Promise<void> {
    for (const ref of refs) {
      for (const { raw_transaction: raw } of await this.world.envelopes(ref)) {
        const { to, data } = parseTransaction(raw as Hex);
        // It reverts, where its nonce is used.
        await sendAsFunder(this.world.url, { to: to as Address, data: data as Hex });
      }
    }
  }
}
