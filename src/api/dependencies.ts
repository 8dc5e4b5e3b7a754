import type { Logger } from 'pino';
import type { IdentifyVoter } from '../chain/voter';
import type { Config } from '../config';
import type { Balance } from '../contract/accounts';
import type { Account } from '../db/accounts';
import type { Db } from '../db/database';
import type { JsonValue } from '../domain/canonicalJson';
import type { ProposalAction, VoteType } from '../domain/proposal';
import type { Outcome } from '../domain/refusal';
import type { TransactionVoteType } from '../domain/transaction';
import type { Metrics } from '../metrics';
import type { Outside, ProposalKind } from '../operations/kind';
import type { MessageOutcome, ProposalAddress } from '../temporal/client';
import type { TransactionAddress, TransactionMessageOutcome } from '../temporal/transactions';

/** The messages that proposals' workflows take. Each throws TemporalUnavailable when nobody answered in time. */
export interface ProposalMessages {
  start(input: ProposalAddress & { action: ProposalAction; requestId: string }): Promise<MessageOutcome>;
  sign(
    input: ProposalAddress & {
      requestId: string;
      type: VoteType;
      signature: string;
      reason?: string;
      execute: boolean;
    },
  ): Promise<MessageOutcome>;
  execute(input: ProposalAddress & { requestId: string; type: VoteType }): Promise<MessageOutcome>;
}

/** The messages that transactions' workflows take. Each throws TemporalUnavailable when nobody answered in time. */
export interface TransactionMessages {
  start(input: TransactionAddress & { requestId: string }): Promise<TransactionMessageOutcome>;
  sign(
    input: TransactionAddress & {
      requestId: string;
      type: TransactionVoteType;
      signature: string;
      reason?: string;
      execute: boolean;
    },
  ): Promise<TransactionMessageOutcome>;
  execute(
    input: TransactionAddress & { requestId: string; type: VoteType },
  ): Promise<TransactionMessageOutcome>;
}

/** What the API is made of. */
export interface ApiDependencies {
  readonly config: Pick<
    Config,
    | 'production'
    | 'httpsPort'
    | 'httpPort'
    | 'tls'
    | 'trustedProxies'
    | 'databaseUrl'
    | 'networks'
    | 'idempotencyRetentionMs'
    | 'rateLimit'
  >;
  readonly db: Db;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly proposals: ProposalMessages;
  readonly transactions: TransactionMessages;
  /** Checks a new request against the world of now, without effect. */
  readonly planProposal: (request: {
    organizationId: string;
    kind: ProposalKind;
    body: JsonValue;
  }) => Promise<Outcome<unknown>>;
  /** Verifies a signature over a payload and the standing of its signer. */
  readonly identifyVoter: IdentifyVoter;
  /** Finds out which of several texts a wallet has signed (EIP-191); answers its place. */
  readonly findSignedMessage: (input: {
    walletAddress: string;
    signature: string;
    messages: readonly string[];
  }) => Promise<Outcome<number>>;
  readonly readToken: Outside['readToken'];
  /** The balances of an account on all its networks. */
  readonly readBalances: (account: Account) => Promise<Balance[]>;
}
