import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Address,
  concat,
  encodeAbiParameters,
  type Hex,
  hashMessage,
  keccak256,
  parseAbiParameters,
  stringToBytes,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { hashesOf, statementOf } from '../../../client/src/payload';
import { readSignedData } from '../../../client/src/signedData';
import { checkDecoded } from '../../../console/src/domain/decodedCall.ts';
import { signatureHash } from '../../../src/approvals/verifiedVotes';
import { checksumAddress } from '../../../src/chain/address';
import { readCall, restrictedEncodingFault } from '../../../src/chain/decode';
import { operationDomainSalt } from '../../../src/chain/domainSalt';
import { decodeSignature, encodeSignature, verifyKeySignature } from '../../../src/chain/signatures';
import { hashTypedPayload } from '../../../src/chain/typedData';
import { canonicalJson, type JsonValue } from '../../../src/domain/canonicalJson';
import type { ProposalAction, ResourceType } from '../../../src/domain/proposal';
import { registrationMessage } from '../../../src/domain/registration';
import { signedDataText } from '../../../src/domain/signedData';
import {
  type ProposalStatement,
  proposalPayload,
  type TransactionStatement,
  transactionPayload,
} from '../../../src/domain/signing';
import { readContent } from '../../../src/domain/transactionContent';
import { transactionSummary } from '../../../src/domain/transactionText';

interface Vectors {
  readonly signer: { readonly privateKey: Hex; readonly address: Address };
  readonly domain: {
    readonly installationId: string;
    readonly organizationId: string;
    readonly text: string;
    readonly salt: Hex;
  };
  readonly proposal: {
    readonly id: string;
    readonly organizationId: string;
    readonly resourceType: ResourceType;
    readonly action: ProposalAction;
    readonly summary: string;
    readonly data: JsonValue;
    readonly expiresAt: string;
  };
  readonly statements: readonly {
    readonly primaryType: ProposalStatement;
    readonly payload: string;
    readonly domainSeparator: Hex;
    readonly typeHash: Hex;
    readonly structHash: Hex;
    readonly digest: Hex;
    readonly signature: Hex;
    readonly encoded: Hex;
  }[];
  readonly transaction: {
    readonly id: string;
    readonly accountAddress: Address;
    readonly networkId: number;
    readonly to: Address;
    readonly value: string;
    readonly calldata: Hex;
    readonly policyId: string;
    readonly summary: string;
    readonly expiresAt: string;
  };
  readonly spending: readonly {
    readonly to: string;
    readonly value: string;
    readonly data: string;
    readonly recipient: string;
    readonly token: string;
    readonly amount: string;
  }[];
  readonly approver: { readonly privateKey: Hex; readonly address: Address };
  readonly initiatorSignatureHash: Hex;
  readonly transactionStatements: readonly {
    readonly primaryType: TransactionStatement;
    readonly signer: Address;
    readonly initiatorSignatureHash: Hex | null;
    readonly payload: string;
    readonly domainSeparator: Hex;
    readonly typeHash: Hex;
    readonly structHash: Hex;
    readonly digest: Hex;
    readonly signature: Hex;
    readonly encoded: Hex;
  }[];
  readonly refused: readonly {
    readonly mistake: string;
    readonly encoded: Hex;
    readonly message: string;
  }[];
  readonly registration: {
    readonly organizationId: string;
    readonly organizationName: string;
    readonly walletAddress: string;
    readonly nonce: string;
    readonly issuedAt: string;
    readonly expiresAt: string;
    readonly message: string;
    readonly byteLength: number;
    readonly digest: Hex;
    readonly signature: Hex;
  };
  readonly canonicalJson: readonly { readonly value: JsonValue; readonly text: string }[];
  readonly encodings: readonly {
    readonly what: string;
    readonly calldata: Hex;
    readonly allowedFunctions?: readonly string[];
    readonly functionName?: string;
    readonly functionParameters?: readonly object[];
    readonly encodingFaults?: readonly string[];
    readonly summary?: string;
    readonly digest?: Hex;
    /** Field and message of the 400. */
    readonly refused?: string;
  }[];
  readonly signedData: readonly { readonly value: JsonValue; readonly text: string }[];
}

const docs = join(__dirname, '..', '..', '..', 'docs');
const page = ['signatures.md', 'test-vectors.md']
  .map((file) => readFileSync(join(docs, file), 'utf8'))
  .join('\n');
const vectors: Vectors = JSON.parse(readFileSync(join(docs, 'vectors.json'), 'utf8'));
const { signer, domain, proposal, statements, transaction, transactionStatements } = vectors;
const account = privateKeyToAccount(signer.privateKey);
const [approve] = statements;

const hashOf = (text: string) => keccak256(stringToBytes(text));
const linesHash = (lines: readonly string[]) => keccak256(concat(lines.map(hashOf)));

/** The message that a refused signature gets, or `accepted`. */
async function outcomeOf(encoded: string, hash: Hex): Promise<string> {
  try {
    const decoded = decodeSignature(encoded);
    const verified = await verifyKeySignature({ hash, ...decoded });
    return verified.valid ? 'accepted' : verified.reason;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the test vectors of the documentation', () => {
  it('have the salt that the service derives from installation and organization', () => {
    expect(domain.text).toBe(`${domain.installationId}/${domain.organizationId}`);
    expect(operationDomainSalt(domain.installationId, domain.organizationId)).toBe(domain.salt);
    expect(hashOf(domain.text)).toBe(domain.salt);
  });

  it('are signed by the key that they name', () => expect(account.address).toBe(signer.address));

  it.each(statements)('have the payload, digest, signature and encoding of $primaryType', async (vector) => {
    const { primaryType, payload, digest, signature, encoded } = vector;
    const expiresAt = new Date(proposal.expiresAt);
    expect(proposalPayload(primaryType, domain.salt, { ...proposal, expiresAt })).toBe(payload);
    expect(hashTypedPayload(payload)).toBe(digest);
    expect(await account.signTypedData(JSON.parse(payload))).toBe(signature);
    expect(encodeSignature(signer.address, signature)).toBe(encoded);
    expect(await outcomeOf(encoded, digest)).toBe('accepted');
  });

  it.each(statements)('have the digest of $primaryType as the page computes it, step by step', (vector) => {
    const { message } = JSON.parse(vector.payload);
    const fields =
      '(string organization,string proposalId,string resourceType,string action,string[] summary,string data,uint256 expiresAt)';
    const domainSeparator = keccak256(
      encodeAbiParameters(parseAbiParameters('bytes32, bytes32, bytes32, bytes32'), [
        hashOf('EIP712Domain(string name,string version,bytes32 salt)'),
        hashOf('orgwallet'),
        hashOf('1'),
        domain.salt,
      ]),
    );
    const typeHash = hashOf(`${vector.primaryType}${fields}`);
    const structHash = keccak256(
      concat([
        typeHash,
        ...['organization', 'proposalId', 'resourceType', 'action'].map((name) => hashOf(message[name])),
        linesHash(message.summary),
        hashOf(message.data),
        encodeAbiParameters(parseAbiParameters('uint256'), [BigInt(message.expiresAt)]),
      ]),
    );
    expect({ domainSeparator, typeHash, structHash }).toEqual({
      domainSeparator: vector.domainSeparator,
      typeHash: vector.typeHash,
      structHash: vector.structHash,
    });
    expect(keccak256(concat(['0x1901', domainSeparator, structHash]))).toBe(vector.digest);
    expect(page).toContain(fields);
  });

  it.each(vectors.refused)('have the message that $mistake gets', async ({ encoded, message }) => {
    expect(await outcomeOf(encoded, approve?.digest ?? '0x')).toBe(message);
    // The page writes the address of the message as a placeholder.
    expect(page).toContain(message.replace(/0x[0-9a-fA-F]{40}/, '0x…'));
  });

  it('have the text, digest and signature of a registration', async () => {
    const { message, byteLength, digest, signature, issuedAt, expiresAt, ...parts } = vectors.registration;
    const times = { issuedAt: new Date(issuedAt), expiresAt: new Date(expiresAt) };
    expect(registrationMessage({ ...parts, ...times })).toBe(message);
    expect(stringToBytes(message)).toHaveLength(byteLength);
    expect(hashMessage(message)).toBe(digest);
    expect(hashOf(`\x19Ethereum Signed Message:\n${byteLength}${message}`)).toBe(digest);
    expect(await account.signMessage({ message })).toBe(signature);
    const claim = { hash: digest, signer: signer.address, bytes: signature };
    expect(await verifyKeySignature(claim)).toEqual({ valid: true, scheme: 'eoa' });
    for (const text of [message, String(byteLength), digest, signature]) expect(page).toContain(text);
  });

  it.each(vectors.canonicalJson)('have canonical JSON $text', ({ value, text }) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each(vectors.signedData)('have the data $text', ({ value, text }) => {
    expect(signedDataText(value)).toBe(text);
    expect(readSignedData(text)).toEqual({ data: value, text });
  });

  it('are printed on the page as they are', () => {
    for (const text of [
      signer.privateKey,
      signer.address,
      domain.text,
      domain.salt,
      ...proposal.summary.split('\n'),
    ]) {
      expect(page).toContain(text);
    }
    for (const value of Object.values(approve ?? {})) expect(page).toContain(value);
  });
});

describe('the worked example of a transaction', () => {
  const [initiate, approve] = transactionStatements;
  const FIELDS =
    'string transactionId,address recipient,address token,uint256 amount,address to,uint256 value,bytes data,string policyId,string[] summary,uint256 expiresAt';

  const nativeAsset = { symbol: 'ETH', name: 'Ether', decimals: 18 };
  const calledFrom = {
    network: { id: transaction.networkId, name: 'Local Chain 1', nativeAsset },
    account: { name: 'Treasury', address: transaction.accountAddress },
    replaces: null,
    token: null,
  };

  it('has the summary that the service makes of such a call', () => {
    const { to, value, calldata: data, summary } = transaction;
    const content = readContent({ to, value: BigInt(value), data }, checksumAddress);
    if (!content.ok) throw new Error(content.refusal.message);
    const token = { symbol: 'DEMO', name: 'Demo Token', decimals: 18, logoUrl: null };
    const facts = { ...calledFrom, calldata: data, token, call: null };
    expect(transactionSummary(content.value, facts)).toBe(summary);
  });

  it.each(transactionStatements)(
    'has the payload, digest, signature and encoding of $primaryType',
    async (vector) => {
      const { primaryType, payload, digest, signature, encoded, initiatorSignatureHash } = vector;
      const signed = {
        ...transaction,
        value: BigInt(transaction.value),
        expiresAt: new Date(transaction.expiresAt),
      };
      expect(transactionPayload(primaryType, signed, initiatorSignatureHash)).toBe(payload);
      expect(hashTypedPayload(payload)).toBe(digest);
      const keys = [signer, vectors.approver].map(({ privateKey }) => privateKeyToAccount(privateKey));
      const wallet = keys.find(({ address }) => address === vector.signer);
      expect(await wallet?.signTypedData(JSON.parse(payload))).toBe(signature);
      expect(encodeSignature(vector.signer, signature)).toBe(encoded);
      expect(await outcomeOf(encoded, digest)).toBe('accepted');
    },
  );

  it.each(vectors.spending)('has recipient, token and amount of a call with $data', (vector) => {
    const { to, value, data, ...spending } = vector;
    const changed = { to, value: BigInt(value), calldata: data, expiresAt: new Date(transaction.expiresAt) };
    const { message } = JSON.parse(
      transactionPayload('InitiateTransaction', { ...transaction, ...changed }, null),
    );
    expect(message).toMatchObject(spending);
  });

  it.each(vectors.encodings)('has what is shown and signed of a call with $what', (vector) => {
    const { calldata, allowedFunctions = [], summary, digest, refused = null } = vector;
    const content = readContent({ to: transaction.to, value: 0n, data: calldata }, checksumAddress);
    const fault = content.ok ? restrictedEncodingFault(calldata) : content.refusal.message;
    expect(fault === null ? null : `data ${fault}`).toBe(refused);
    if (!content.ok || refused !== null) return;
    const call = readCall(calldata, allowedFunctions);
    const { functionName, functionParameters, encodingFaults } = vector;
    expect(call).toEqual({
      functionName,
      functionParameters,
      ...(encodingFaults ? { encodingFaults } : {}),
    });
    const nested = { calls: [], unread: false, mentions: null };
    const facts = { ...calledFrom, calldata, call, nested };
    expect(transactionSummary(content.value, facts)).toBe(summary);
    const signed = { ...transaction, value: 0n, calldata, summary: summary ?? '' };
    const payload = transactionPayload(
      'InitiateTransaction',
      { ...signed, expiresAt: new Date(transaction.expiresAt) },
      null,
    );
    expect(hashTypedPayload(payload)).toBe(digest);
    // The client and the console compute the same from the bytes.
    expect(hashesOf(statementOf(payload)).digest).toBe(digest);
    checkDecoded({ ...call, calldata, toAddress: transaction.to, networkId: 1, value: '0' } as never);
  });

  it('binds what follows to the whole encoded signature of the initiator', () => {
    expect(initiate?.initiatorSignatureHash).toBeNull();
    expect(keccak256(initiate?.encoded ?? '0x')).toBe(vectors.initiatorSignatureHash);
    expect(signatureHash(initiate?.encoded ?? '0x')).toBe(vectors.initiatorSignatureHash);
    for (const { initiatorSignatureHash } of transactionStatements.slice(1)) {
      expect(initiatorSignatureHash).toBe(vectors.initiatorSignatureHash);
    }
  });

  it.each(transactionStatements)(
    'has the digest of $primaryType as the page computes it, step by step',
    (vector) => {
      const { message } = JSON.parse(vector.payload);
      const { primaryType, initiatorSignatureHash: bound } = vector;
      const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
      const domainSeparator = keccak256(
        encodeAbiParameters(parseAbiParameters('bytes32, bytes32, bytes32, uint256, address'), [
          hashOf(domainType),
          hashOf('orgwallet'),
          hashOf('1'),
          BigInt(transaction.networkId),
          transaction.accountAddress,
        ]),
      );
      const fields = bound ? `${FIELDS},bytes32 initiatorSignatureHash` : FIELDS;
      const typeHash = hashOf(`${primaryType}(${fields})`);
      const structHash = keccak256(
        concat([
          typeHash,
          hashOf(message.transactionId),
          encodeAbiParameters(parseAbiParameters('address, address, uint256, address, uint256'), [
            message.recipient,
            message.token,
            BigInt(message.amount),
            message.to,
            BigInt(message.value),
          ]),
          keccak256(message.data),
          hashOf(message.policyId),
          linesHash(message.summary),
          encodeAbiParameters(parseAbiParameters('uint256'), [BigInt(message.expiresAt)]),
          ...(bound ? [bound] : []),
        ]),
      );
      expect({ domainSeparator, typeHash, structHash }).toEqual({
        domainSeparator: vector.domainSeparator,
        typeHash: vector.typeHash,
        structHash: vector.structHash,
      });
      expect(keccak256(concat(['0x1901', domainSeparator, structHash]))).toBe(vector.digest);
      expect(page).toContain(domainType);
      expect(page).toContain(fields);
    },
  );

  it('is printed on the page as it is', () => {
    const { expiresAt: _, ...shown } = transaction;
    const { privateKey, address } = vectors.approver;
    for (const text of [...Object.values(shown), privateKey, address, vectors.initiatorSignatureHash]) {
      for (const line of String(text).split('\n')) expect(page).toContain(line);
    }
    for (const value of Object.values(initiate ?? {})) expect(page).toContain(String(value ?? ''));
    for (const value of Object.values(approve ?? {})) expect(page).toContain(String(value));
  });
});
