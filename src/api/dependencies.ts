import type { Logger } from 'pino';
import type { ListedToken } from '../chain/tokenList';
import type { Totals } from '../chain/totals';
import type { IdentifyVoter } from '../chain/voter';
import type { Config } from '../config';
import type { Balance } from '../contract/accountContract';
import type { ListedPart } from '../contract/partContract';
import type { TransactionSimulation } from '../contract/transactionContract';
import type { Account } from '../db/accounts';
import type { Db } from '../db/database';
import type { DeliveryAttempt, Destination } from '../db/destinations';
import type { StoredTransaction } from '../db/storedTransactions';
import type { NoticeReceiver } from '../delivery/noticeSending';
import type { Decision } from '../domain/approval';
import type { ApprovalRef, WorkflowRef } from '../domain/approvalRef';
import type { DeliveryOutcome } from '../domain/delivery';
import type { Result } from '../domain/refusal';
import type { TransactionContent } from '../domain/transactionContent';
import type { WalletKind } from '../domain/wallet';
import type { Metrics } from '../metrics';
import type { AssetStatement, Period } from '../movements/statement';
import type { Notice } from '../notices/notice';
import type { ExternalReads } from '../operations/kind';
import type { ReadPrices } from '../prices/prices';
import type { MessageOutcome, SignRequest, StartRequest } from '../temporal/approvalMessages';
import type { DeliveryRef } from '../temporal/deliveryMessages';
import type { Tracer } from '../tracing';
import type { PageAddition } from './pageAddition';

/** The messages to approval workflows. Each throws TemporalUnavailable when no worker answers in time. */
export interface ApprovalSender {
  start(ref: ApprovalRef, request: StartRequest): Promise<MessageOutcome>;
  /** Starts it again, where Temporal has an outcome and Postgres has lost the record. */
  startAnew(ref: ApprovalRef, request: StartRequest): Promise<MessageOutcome>;
  sign(ref: WorkflowRef, vote: SignRequest, updateId: string): Promise<MessageOutcome>;
  execute(
    ref: WorkflowRef,
    message: { readonly requestId: string; readonly type: Decision },
    updateId: string,
  ): Promise<MessageOutcome>;
}

/** What is done about webhooks besides their records. */
interface WebhookDeliveries {
  /** Why nothing can be sent to a URL; undefined where something can. */
  refuseUrl(url: string): Promise<string | undefined>;
  /** Starts the workflow of a new destination. What is sent meanwhile keeps its pauses. */
  start(destination: DeliveryRef): void;
  /** Has the workflow of a destination that was changed read its record again, and try at once. */
  refresh(destination: DeliveryRef): void;
  /** Sends a test event. */
  test(webhook: Destination): Promise<DeliveryAttempt>;
  secretsOf(webhook: Destination): Promise<{
    readonly secrets: { secret: string; until: string | null }[];
    readonly publicKey: string;
    readonly organizationId: string;
  }>;
  /** Sends a notice at once. */
  sendNotice(receiver: NoticeReceiver, notice: Notice, id: string): Promise<DeliveryOutcome>;
  /** Whether mail is sent here. */
  readonly sendsMail: boolean;
  /** A page of the console; null: people cannot sign in. */
  pageAt(path: string): string | null;
  /** Verifies all deliveries of the installation. */
  publicKey(): Promise<string>;
}

/** The dependencies of the API. */
export interface ApiDependencies {
  readonly config: Pick<
    Config,
    | 'production'
    | 'httpsHost'
    | 'httpsPort'
    | 'httpHost'
    | 'httpPort'
    | 'tls'
    | 'tlsEndsAtProxy'
    | 'trustedProxies'
    | 'networks'
    | 'origins'
    | 'consoleDir'
    | 'temporal'
    | 'idempotencyRetentionMs'
    | 'maxConnectionsPerAddress'
    | 'listenDatabaseUrl'
    | 'rateLimit'
  >;
  readonly db: Db;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer | undefined;
  readonly pageAddition?: PageAddition | undefined;
  readonly approvals: ApprovalSender;
  /** Verifies a signature over a payload and the eligibility of its voter. */
  readonly identifyVoter: IdentifyVoter;
  /** Finds which of several texts a wallet has signed (EIP-191); returns its index. */
  readonly findSignedMessage: (input: {
    walletAddress: string;
    walletKind: WalletKind;
    signature: string;
    messages: readonly string[];
  }) => Promise<Result<number>>;
  readonly readToken: ExternalReads['readToken'];
  /** Those of the token list. */
  readonly tokens: readonly ListedToken[];
  /** The balances of an account on all its networks. */
  readonly readBalances: (account: Account) => Promise<Balance[]>;
  /** What all accounts of an organization hold together. */
  readonly readTotals: (organizationId: string) => Promise<Totals>;
  /** Prices for display; undefined where the installation sets none. */
  readonly readPrices: ReadPrices | undefined;
  /** What moved of each asset of an account in a period, compared with the chain; or why that cannot be said yet. */
  readonly readStatement: (account: Account, period: Period) => Promise<Result<readonly AssetStatement[]>>;
  /** The parts of the installation, and whether they are available. */
  readonly readParts: () => Promise<readonly ListedPart[]>;
  /** Whether a token transfer goes to a contract; null where that does not matter. */
  readonly readRecipientCode: (transfer: {
    readonly organizationId: string;
    readonly networkId: number;
    readonly content: TransactionContent;
  }) => Promise<'contract' | 'unknown' | null>;
  readonly deliveries: WebhookDeliveries;
  /** What the call of a transaction would do now. */
  readonly simulate: (record: StoredTransaction) => Promise<TransactionSimulation>;
}
