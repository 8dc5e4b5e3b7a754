import { randomBytes } from 'node:crypto';
import { type Address, bytesToHex, getAddress, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { genesisPayload } from '../../src/chain/genesisPayload';
import { textHash } from '../../src/chain/keccak';
import { encodeSignature, recoverSigner } from '../../src/chain/signatures';
import { signSeal } from '../../src/chain/signedSeals';
import { hashTypedPayload } from '../../src/chain/typedData';
import { createIdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import { newId } from '../../src/db/ids';
import type { MemberSummary } from '../../src/domain/approval';
import { canonicalJson, type JsonValue } from '../../src/domain/canonicalJson';
import { findResource, type OrganizationState } from '../../src/domain/governance';
import { type DecisionSeal, type GenesisSeal, NO_SEAL, type Seal } from '../../src/domain/seal';
import { proposalPayload } from '../../src/domain/signing';
import { decidedState } from '../../src/operations/change';
import { type AuthorizationLine, type HeadLine, signLine } from '../../src/proof/lines';
import { prove } from '../../src/proof/prove';
import { type Comparison, compare, type Figure, figure } from './figures';
import { timed } from './measure';

const CHANGES = 10_000;
const TRANSACTIONS = 10_000;
const MEMBERS = 100;
const AT = '2025-06-01T12:00:00.000Z';
const EXPIRES_AT = '2025-06-08T12:00:00.000Z';

const identifyVoter = createIdentifyVoter({ network: { id: 0, name: 'none' } as NetworkConfig, clients: [] });

const anAddress = (): Address => getAddress(bytesToHex(randomBytes(20)));

function aMember(name: string, walletAddress: string): MemberSummary {
  return { id: newId('mem'), name, type: 'api', walletAddress, walletKind: 'key' };
}

/** A proof as `audit export` writes it, and every signature in it. */
interface BuiltProof {
  readonly text: string;
  readonly signed: readonly { readonly hash: Hex; readonly signature: Hex }[];
}

/** Builds the proof of an organization of which two admins have changed members, and whose accounts have paid. */
async function buildProof(): Promise<BuiltProof> {
  const wallets = [1, 2].map(() => privateKeyToAccount(generatePrivateKey()));
  const sealKey = privateKeyToAccount(generatePrivateKey());
  const admins = wallets.map(({ address }, i) => aMember(`Admin ${i}`, address));
  const others = Array.from({ length: MEMBERS }, (_, i) => aMember(`Member ${i}`, anAddress()));
  const memberIds = admins.map(({ id }) => id).sort();
  const genesis: OrganizationState = {
    ...{ id: newId('org'), name: 'Acme', domainSalt: bytesToHex(randomBytes(32)), sequence: 0 },
    ...{ signingKey: anAddress(), sealKey: sealKey.address },
    members: Object.fromEntries([...admins, ...others].map((one) => [one.id, { ...one, revision: 0 }])),
    ...{ groups: {}, policies: {}, accounts: {} },
    admins: { id: newId('adm'), memberIds, threshold: 2, revision: 0 },
  };
  const signed: { hash: Hex; signature: Hex }[] = [];
  const lines: string[] = [];
  const votesOn = async (payload: string) => {
    const hash = hashTypedPayload(payload);
    return Promise.all(
      wallets.map(async (wallet, i) => {
        const bytes = await wallet.sign({ hash });
        signed.push({ hash, signature: bytes });
        const signature = encodeSignature(wallet.address, bytes);
        return {
          memberId: admins[i]?.id ?? '',
          signerAddress: wallet.address,
          scheme: 'eoa' as const,
          signature,
        };
      }),
    );
  };
  const add = async (seal: Seal): Promise<string> => {
    const { body, hash, signature } = await signSeal(sealKey, seal);
    signed.push({ hash, signature });
    lines.push(`${canonicalJson({ type: 'seal', body, hash, signature })}\n`);
    return hash;
  };
  const organizationId = genesis.id;
  const first: GenesisSeal = {
    ...{ type: 'genesis', organizationId, sequence: 0, previousHash: NO_SEAL, at: AT, state: genesis },
    votes: await votesOn(genesisPayload(genesis)),
  };
  let previousHash = await add(first);
  let state: OrganizationState = genesis;
  for (let sequence = 1; sequence <= CHANGES; sequence += 1) {
    const { id } = others[sequence % MEMBERS] ?? { id: '' };
    const member = findResource(state, 'member', id);
    if (!member) throw new Error(`there is no member ${id}`);
    const { type: _, ...item } = { ...member, name: `Member ${sequence} renamed` };
    const seal: DecisionSeal = {
      ...{ type: 'decision', organizationId, sequence, previousHash, at: AT, expiresAt: EXPIRES_AT },
      ...{ proposalId: newId('prop'), resolution: 'approved', resourceType: 'members', action: 'update' },
      summary: `Update member "${member.name}" (${id})\nChange the name to "${item.name}"`,
      data: { items: [item] } as unknown as JsonValue,
      votes: [],
      changes: [],
    };
    const decided = decidedState(state, seal);
    if (!decided.ok) throw new Error(decided.refusal.message);
    const record = { ...seal, id: seal.proposalId, expiresAt: new Date(EXPIRES_AT) };
    const votes = await votesOn(proposalPayload('ApproveProposal', state.domainSalt, record));
    previousHash = await add({ ...seal, votes, changes: decided.value.changes });
    state = decided.value.state;
  }
  const sign = (hash: Hex) => sealKey.sign({ hash });
  const addLine = async (line: AuthorizationLine | HeadLine) => {
    const whole = await signLine(sign, line);
    signed.push({ hash: textHash(canonicalJson(line)), signature: whole.signature as Hex });
    lines.push(`${canonicalJson(whole)}\n`);
  };
  const [policyId, accountId] = [newId('pol'), newId('acc')];
  for (let nonce = 0; nonce < TRANSACTIONS; nonce += 1) {
    await addLine({
      type: 'authorization',
      ...{ transactionId: newId('txn'), policyId, accountId, initiatorId: memberIds[0] ?? '', networkId: 1 },
      ...{ safeNonce: String(nonce), safeTxHash: bytesToHex(randomBytes(32)), destination: anAddress() },
      ...{ tokenAddress: anAddress(), amount: '1000000000000000000', outcome: 'executed' },
      ...{ authorizedAt: AT, blockAt: AT },
    });
  }
  const head = { organizationId, sequence: CHANGES, lines: lines.length, hash: textHash(lines.join('')) };
  await addLine({ type: 'head', ...head, at: AT });
  return { text: lines.join(''), signed };
}

/** Checks a proof of 10,000 decisions and 10,000 transactions, beside the recovery of the signatures in it. */
export async function measureProof(): Promise<readonly (Comparison | Figure)[]> {
  const { text, signed } = await buildProof();
  const product = [await timed(() => prove(text, { identifyVoter, asksContracts: false }))];
  const base = [
    await timed(async () => {
      for (const { hash, signature } of signed) await recoverSigner(hash, signature);
    }),
  ];
  return [
    compare(`a proof of ${CHANGES} + ${TRANSACTIONS} / its signatures`, 'ms', { product, base }),
    figure('its size', 'MB', [Buffer.byteLength(text) / 1_000_000]),
  ];
}
