import { randomUUID } from 'node:crypto';
import { Agent, type RequestOptions, request } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { encodeAbiParameters, type Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** A member, as in proposals and admins. */
export interface MemberSummary {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: Hex;
}

/** The fields of a proposal that this client uses. */
export interface Proposal {
  readonly id: string;
  readonly resourceType: string;
  readonly action: string;
  readonly summary: string;
  readonly data: unknown;
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
  readonly signatureStatus: string;
  readonly executionStatus: 'processing' | 'completed' | 'rejected' | 'failed' | 'blocked' | null;
  readonly signingPayloads?: { readonly approvePayload: string; readonly rejectPayload: string };
  readonly deployments?: readonly {
    readonly networkId: number;
    readonly status: 'pending' | 'completed' | 'failed';
    readonly transactionHash?: string;
    readonly waitingFor?: string;
  }[];
  readonly result?: {
    readonly resolution: 'approved' | 'rejected';
    readonly resources: readonly { readonly type: string; readonly id: string; readonly uri?: string }[];
  };
  readonly failure?: { readonly code: string; readonly message: string };
  readonly notes: readonly { readonly code: string; readonly message: string }[];
}

export type VoteType = 'approve' | 'reject';

/** A condition of a policy that a transaction does not meet. */
export interface ConditionFailure {
  readonly condition: string;
  readonly found: string;
  readonly wanted: string;
}

/** The service refused a request; `code` is one of docs/errors.md. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | undefined,
    readonly requestId: string | undefined,
    readonly failures: readonly ConditionFailure[],
  ) {
    super(`${status} ${code}: ${message}${field ? ` (${field})` : ''}`);
  }
}

/** The service gave no final response to any attempt; the request may still be carried out. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

const API = '/api/v1';
const ONE_TRY_MS = 30_000;
const ALL_TRIES_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

function once(url: URL, options: RequestOptions, body: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, timeout: ONE_TRY_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${ONE_TRY_MS / 1_000} s`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function apiError(answer: Answer): ApiError {
  const { error } = JSON.parse(answer.text) as {
    error: {
      code: string;
      message: string;
      details?: { field?: string; failures?: readonly ConditionFailure[] };
    };
  };
  const requestId = answer.headers['x-request-id'];
  return new ApiError(
    answer.status,
    error.code,
    error.message,
    error.details?.field,
    typeof requestId === 'string' ? requestId : undefined,
    error.details?.failures ?? [],
  );
}

/** The outcome of one attempt: the data of the response, or why it is repeated. */
type Attempt = { readonly data: unknown } | { readonly answer: Answer | undefined; readonly reason: string };

/** Sends a request once. Throws ApiError for a final refusal. */
async function attempt(url: URL, options: RequestOptions, body: string | undefined): Promise<Attempt> {
  let answer: Answer | undefined;
  try {
    answer = await once(url, options, body);
    if (answer.status >= 200 && answer.status < 300) return { data: JSON.parse(answer.text).data };
    const error = apiError(answer);
    if (error.status !== 500 && error.status !== 429) throw error;
    return { answer, reason: error.message };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    return { answer, reason: (error as Error).message || String((error as NodeJS.ErrnoException).code) };
  }
}

/** The pause before the next attempt: `Retry-After`, else twice the previous one. */
function pauseMs(answer: Answer | undefined, tries: number): number {
  const asked = Number(answer?.headers['retry-after']);
  if (Number.isFinite(asked) && asked > 0) return asked * 1_000;
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
}

/**
 * A client of the service for one API key.
 *
 * A request without a response, or with a 500 or a 429, is sent again, a mutation with the idempotency key of its first
 * attempt: it takes effect once. Throws ApiError when the service refuses, NoAnswer without a final
 * response within a minute.
 *
 * @example
 * const client = new OrgwalletClient({ origin: 'https://localhost:8443', apiKey, ca });
 * const items = [{ name: 'Treasury', networkIds: [31337, 31338] }];
 * const proposal = await client.post<Proposal>('/accounts/proposals/create', { items });
 * await client.sign(proposal, 'approve', await signPayload(alice, proposal, 'approve'));
 * await client.sign(proposal, 'approve', await signPayload(bob, proposal, 'approve'), { execute: true });
 */
export class OrgwalletClient {
  private readonly agent: Agent;

  constructor(private readonly options: { origin: string; apiKey: string; ca?: string }) {
    this.agent = new Agent({ keepAlive: true, ...(options.ca === undefined ? {} : { ca: options.ca }) });
  }

  /** Sends a mutation to a path below /api/v1; it takes effect once. */
  post<T>(path: string, body: object): Promise<T> {
    return this.ask('POST', path, body);
  }

  /** Reads a record or a list, such as `/members`. */
  read<T>(path: string): Promise<T> {
    return this.ask('GET', path);
  }

  /** Sends a signature; with `execute` the outcome is executed if the threshold is met. */
  sign(
    { id, resourceType }: Pick<Proposal, 'id' | 'resourceType'>,
    type: VoteType,
    signature: Hex,
    more: { execute?: boolean; reason?: string } = {},
  ): Promise<Proposal> {
    return this.ask('POST', `/${resourceType}/proposals/${id}/signatures`, {
      type,
      signature,
      ...more,
    });
  }

  /** Executes an outcome whose threshold is met. */
  execute({ id, resourceType }: Pick<Proposal, 'id' | 'resourceType'>, type: VoteType): Promise<Proposal> {
    return this.ask('POST', `/${resourceType}/proposals/${id}/execute`, { type });
  }

  /** The current state of a proposal. */
  getProposal({ id, resourceType }: Pick<Proposal, 'id' | 'resourceType'>): Promise<Proposal> {
    return this.ask('GET', `/${resourceType}/proposals/${id}`);
  }

  /** Waits until the execution of a proposal has ended. Throws NoAnswer after `limitMs`. */
  async untilDecided(proposal: Proposal, limitMs: number): Promise<Proposal> {
    const deadline = Date.now() + limitMs;
    let current = proposal;
    while (current.executionStatus === 'processing') {
      if (Date.now() > deadline) {
        const reasons = current.deployments?.flatMap(({ waitingFor }) => waitingFor ?? []) ?? [];
        throw new NoAnswer(
          `proposal ${proposal.id} is still being executed after ${limitMs / 1_000} s: ${reasons.join('; ') || 'no reason given'}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
      current = await this.getProposal(proposal);
    }
    return current;
  }

  /** Closes the connections. */
  close(): void {
    this.agent.destroy();
  }

  private async ask<T>(method: 'GET' | 'POST', path: string, content?: object): Promise<T> {
    const url = new URL(`${API}${path}`, this.options.origin);
    const body = content === undefined ? undefined : JSON.stringify(content);
    const headers = {
      Authorization: `Bearer ${this.options.apiKey}`,
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
      // One key for all attempts: a request is carried out once.
      ...(method === 'POST' ? { 'X-Idempotency-Key': randomUUID() } : {}),
    };
    const deadline = Date.now() + ALL_TRIES_MS;
    for (let tries = 1; ; tries += 1) {
      const tried = await attempt(url, { method, headers, agent: this.agent }, body);
      if ('data' in tried) return tried.data as T;
      const pause = pauseMs(tried.answer, tries);
      if (Date.now() + pause > deadline) throw new NoAnswer(`${method} ${url}: ${tried.reason}`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** The wallet of a private key. */
export function walletOf(privateKey: string): PrivateKeyAccount {
  return privateKeyToAccount(privateKey as Hex);
}

/**
 * Signs a proposal as a wallet does: EIP-712 over the payload, wrapped as `abi.encode(address, bytes)`. Throws when the
 * payload differs from the proposal.
 */
export async function signPayload(
  wallet: PrivateKeyAccount,
  proposal: Pick<Proposal, 'id' | 'summary' | 'data' | 'signingPayloads'>,
  type: VoteType,
): Promise<Hex> {
  const payload = proposal.signingPayloads?.[`${type}Payload`];
  if (payload === undefined) throw new Error(`proposal ${proposal.id} takes no more signatures`);
  const typedData = JSON.parse(payload);
  const { proposalId, summary, data } = typedData.message;
  const shown = [proposal.id, proposal.summary, proposal.data];
  if (!isDeepStrictEqual([proposalId, summary, JSON.parse(data)], shown)) {
    throw new Error(`the payload differs from proposal ${proposal.id}: nothing was signed`);
  }
  return signTypedData(wallet, typedData);
}

/** Signs typed data, in the form that the service accepts: `abi.encode(address signer, bytes signature)`. */
export async function signTypedData(
  wallet: PrivateKeyAccount,
  typedData: Parameters<PrivateKeyAccount['signTypedData']>[0],
): Promise<Hex> {
  const bytes = await wallet.signTypedData(typedData);
  return encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [wallet.address, bytes]);
}
