import { randomUUID } from 'node:crypto';
import { issueApiKey, revokeApiKey, rotateApiKey } from '../../src/credentials/apiKeys';
import { endSession, startSession } from '../../src/credentials/memberSessions';
import { openChallenge, registerWallet } from '../../src/credentials/walletRegistrations';
import { findAccountToDeploy } from '../../src/db/accounts';
import { guardVersion, lockExpected, undefinedOnConflict } from '../../src/db/approvalLocks';
import { insertApproval, storeApproval, updateApproval } from '../../src/db/approvals';
import { holdCredential } from '../../src/db/authority';
import { secretHash } from '../../src/db/credentials';
import { createDatabase, type Db, databaseNow, type Tx } from '../../src/db/database';
import { lockProposal } from '../../src/db/proposals';
import { insertMessage } from '../../src/db/receivedMessages';
import { requireRow } from '../../src/db/rows';
import { findSealedState } from '../../src/db/seals';
import { authenticateSessions } from '../../src/db/sessionCredentials';
import { lockTransaction, readTransactionForMessage } from '../../src/db/transactions';
import { OPERATOR } from '../../src/domain/actor';
import { anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeTransactionOf } from '../support/storedTrails';
import { storeAccount, storeTransaction } from '../support/storedTransactions';
import { until } from '../support/until';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let signer: Db;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 20 });
  signer = createDatabase(database.signerUrl, { poolMax: 4 });
});
beforeEach(async () => {
  org = await makeOrganization(owner);
});
afterAll(async () => {
  await Promise.all([owner, service, signer].map((db) => db?.destroy()));
  await database?.drop();
});

/** Whether work waits for a lock, with so many in all, or ends without. */
async function waits(work: Promise<unknown>, inAll = 1): Promise<boolean> {
  let hasEnded = false;
  const ended = () => {
    hasEnded = true;
  };
  work.then(ended, ended);
  await until('it waits for a lock, or ends', async () => {
    const { rows } = await owner.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return hasEnded || rows.length >= inAll;
  });
  return !hasEnded;
}

/** An effect, a change that waits for it, and an effect that comes after the change. */
interface Race<T> {
  readonly db: Db;
  /** Takes the locks of an effect. */
  readonly inFlight: (tx: Tx) => Promise<unknown>;
  readonly change: () => Promise<unknown>;
  readonly late: () => Promise<T>;
}

/** Whether the late effect waits behind the change, and how it ends. */
async function race<T>({ db, inFlight, change, late }: Race<T>) {
  const { changing, following, isQueued } = await db.transaction(async (tx) => {
    await inFlight(tx);
    const changing = change();
    expect(await waits(changing)).toBe(true);
    const following = late();
    return { changing, following, isQueued: await waits(following, 2) };
  });
  await changing;
  return { isQueued, result: await following };
}

const issue = async () => {
  const made = { organizationId: org.id, memberIds: [org.bot.id], actor: OPERATOR };
  return (await owner.transaction((tx) => issueApiKey(tx, made))).id;
};

const revoke = (apiKeyId: string) =>
  service.transaction((tx) => revokeApiKey(tx, { apiKeyId, actor: OPERATOR }));

async function signedIn(token: string = randomUUID(), columns: object = {}): Promise<string> {
  const id = anId('ses');
  await owner('sessions').insert({
    id,
    organization_id: org.id,
    member_id: org.alice.id,
    wallet_address: org.alice.wallet.address,
    wallet_kind: 'key',
    token_hash: secretHash(token),
    expires_at: owner.raw(`now() + interval '1 hour'`),
    ...columns,
  });
  return id;
}

/** What an effect is decided upon, requested with a credential. */
async function basisFor(credentialId: string | null) {
  const { id } = await storeTransactionOf(owner, org);
  const read = await readTransactionForMessage(service, { organizationId: org.id, id });
  return { ...requireRow(read), credentialId };
}
const idOf = ({ record: { id } }: Awaited<ReturnType<typeof basisFor>>) => ({ organizationId: org.id, id });

/** Stores a new approval; `stored`, or undefined where it was refused. */
function place(credentialId: string) {
  const id = anId('prop');
  const by = { credentialId, createdBy: credentialId, maxOpen: 10_000 };
  const made = { id, organizationId: org.id, summary: '', mentions: [], expiresAt: new Date(), position: 0n };
  const approval = insertApproval(service, 'proposal', { ...made, createdBy: credentialId });
  return storeApproval(service, { id, organizationId: org.id, claims: [], sequence: 0n, ...by }, [approval]);
}

/** Changes an approval upon what was read; whether it was changed. */
async function change(basis: Awaited<ReturnType<typeof basisFor>>): Promise<boolean> {
  const changed = await undefinedOnConflict(() => {
    const message = insertMessage(service, basis.record.id, randomUUID(), 'sign');
    return updateApproval(service, basis.record.id, {}, [message], guardVersion(service, basis));
  });
  return changed !== undefined;
}

/** The effects of a request. Each says whether it was written. */
const effects: [string, (credentialId: string) => Promise<() => Promise<boolean>>][] = [
  ['a creation', async (id) => async () => (await place(id)) === 'stored'],
  [
    'a change',
    async (id) => {
      const basis = await basisFor(id);
      return () => change(basis);
    },
  ],
  [
    'a beginning',
    async (id) => {
      const basis = await basisFor(id);
      return () => service.transaction((tx) => lockExpected(tx, basis));
    },
  ],
  [
    'what holds the credential itself',
    async (id) => async () => (await service.transaction((tx) => holdCredential(tx, id))) !== undefined,
  ],
];

/** What ends a credential. */
const ends: [string, () => Promise<string>, (id: string) => Promise<unknown>][] = [
  ['the revocation of a key', issue, (id) => revoke(id)],
  [
    'the rotation of a key',
    issue,
    (apiKeyId) => service.transaction((tx) => rotateApiKey(tx, { apiKeyId, actor: OPERATOR })),
  ],
  ['the end of a session', () => signedIn(), (id) => endSession(service, { id })],
  [
    'the end of a session by another one',
    () => signedIn(),
    async (id) => endSession(service, { id, memberId: org.alice.id, by: await signedIn() }),
  ],
];

describe.each(ends)('%s that waits for an effect in flight', (_end, begin, end) => {
  it.each(effects)('is not passed by %s, which is refused', async (_effect, prepare) => {
    const id = await begin();
    const late = await prepare(id);
    const inFlight = (tx: Tx) => holdCredential(tx, id);
    const raced = await race({ db: service, inFlight, change: () => end(id), late });
    expect(raced).toEqual({ isQueued: true, result: false });
  });
});

it('the revocation of a key ends while sixteen clients go on with it', async () => {
  const MANY = 4_000;
  const key = await issue();
  let begun = 0;
  const client = async () => {
    const basis = await basisFor(key);
    const begin = () =>
      service.transaction(async (tx) => (await lockExpected(tx, basis)) && (await databaseNow(tx)));
    while (begun < MANY && (await begin())) begun += 1;
  };
  const clients = Array.from({ length: 16 }, client);
  await until('all of them go on', async () => begun > 100);
  expect(await revoke(key)).toBe(true);
  await Promise.all(clients);
  expect(begun).toBeLessThan(MANY);
});

describe('a decision that waits for effects in flight', () => {
  const others: [string, () => Promise<() => Promise<unknown>>][] = [
    ['a creation', async () => async () => place(org.adminKeyId)],
    [
      'a change',
      async () => {
        const basis = await basisFor(null);
        return async () => change(basis);
      },
    ],
    [
      'a lock of another approval',
      async () => {
        const other = idOf(await basisFor(null));
        return () => service.transaction((tx) => lockTransaction(tx, other));
      },
    ],
    [
      'a sign-in',
      async () => () =>
        startSession(service, {
          organizationId: org.id,
          memberId: org.alice.id,
          wallet: { walletAddress: org.alice.wallet.address, walletKind: 'key' },
          nonce: 'none',
          origin: 'https://localhost',
          userAgent: null,
          browser: 'none',
        }),
    ],
    [
      'a registration',
      async () => () =>
        registerWallet(service, {
          organizationId: org.id,
          nonce: 'none',
          requestId: randomUUID(),
          credentialId: org.adminKeyId,
        }),
    ],
  ];
  it.each(others)('is not passed by %s', async (_name, prepare) => {
    const [held, decided] = [idOf(await basisFor(null)), idOf(await basisFor(null))];
    const late = await prepare();
    const { isQueued } = await race({
      db: service,
      inFlight: (tx) => lockTransaction(tx, held),
      change: () => service.transaction((tx) => lockProposal(tx, decided, { exclusive: true })),
      late,
    });
    expect(isQueued).toBe(true);
  });
});

it('a seal that waits for what is being signed is not passed by what is signed after it', async () => {
  const read = (lock: 'share' | 'update') => (tx: Tx) => findSealedState(tx, org.id, { lock });
  const { isQueued, result } = await race({
    db: signer,
    inFlight: read('share'),
    change: () => signer.transaction(read('update')),
    late: () => signer.transaction(read('share')),
  });
  expect(isQueued).toBe(true);
  expect(result).toMatchObject({ organizationId: org.id });
});

describe('what nobody changes', () => {
  it('a session that its own effects hold is authenticated at once, with all others of the lookup', async () => {
    const token = randomUUID().replaceAll('-', '').padEnd(43, 'x');
    const unused = { last_used_at: owner.raw(`now() - interval '2 minutes'`) };
    const id = await signedIn(token, unused);
    await service.transaction(async (tx) => {
      await holdCredential(tx, id);
      const found = authenticateSessions(service, [token], { countsAsUse: true });
      expect(await waits(found)).toBe(false);
      expect((await found).get(token)?.id).toBe(id);
    });
  });

  it('an account and a member are recorded while transactions of theirs are created', async () => {
    const { id: accountId } = await storeAccount(owner, org.id);
    const walletAddress = org.dave.wallet.address;
    const message = await openChallenge(service, { organizationId: org.id, walletAddress });
    const nonce = /Nonce: (\w+)/.exec(message ?? '')?.[1] ?? '';
    const { policyId } = (await basisFor(null)).record;
    await service.transaction(async (tx) => {
      await storeTransaction(tx, { organizationId: org.id, accountId, policyId, initiatorId: org.dave.id });
      const deploying = service.transaction((other) => findAccountToDeploy(other, org.id, accountId));
      expect(await waits(deploying)).toBe(false);
      const proof = { organizationId: org.id, nonce, requestId: randomUUID(), credentialId: org.adminKeyId };
      const registering = registerWallet(service, proof);
      expect(await waits(registering)).toBe(false);
      expect(await registering).toMatchObject({ walletAddress });
    });
  });
});
