import { type Hex, hashDomain, hashStruct, hashTypedData, type TypedDataDomain } from 'viem';
import { canonicalJson } from './canonicalJson.ts';
import { PayloadMismatch } from './errors.ts';
import { anyText, Matcher, match, objectIn } from './expectation.ts';

/** What a signature says. */
export type VoteType = 'initiator' | 'approve' | 'reject';

type Field = { readonly name: string; readonly type: string };

/** What a statement says: its fields of one value, and the lines of its summary. */
export type Message = {
  readonly summary: readonly string[];
  readonly expiresAt: string;
  readonly organization?: string;
  readonly proposalId?: string;
  readonly resourceType?: string;
  readonly action?: string;
  readonly data?: string;
  readonly transactionId?: string;
  readonly recipient?: string;
  readonly token?: string;
  readonly amount?: string;
  readonly to?: string;
  readonly value?: string;
  readonly policyId?: string;
  readonly initiatorSignatureHash?: string;
};

/** EIP-712 typed data, as wallets take it. */
export interface TypedData<Content = Message> {
  readonly domain: TypedDataDomain;
  readonly message: Content;
  readonly primaryType: string;
  readonly types: { readonly [type: string]: readonly Field[] };
}

/** The three hashes that hardware wallets show. */
export interface Hashes {
  readonly domainHash: Hex;
  readonly messageHash: Hex;
  /** What is signed: keccak256(0x1901, domainHash, messageHash). */
  readonly digest: Hex;
}

/** The fields of a type, from `type name` with commas between them. */
export const fieldsOf = (declaration: string): readonly Field[] =>
  declaration.split(',').map((field) => {
    const [type = '', name = ''] = field.split(' ');
    return { name, type };
  });

const NAME = 'string name,string version';
const PROPOSAL =
  'string organization,string proposalId,string resourceType,string action,string[] summary,string data,uint256 expiresAt';
const TRANSACTION =
  'string transactionId,address recipient,address token,uint256 amount,address to,uint256 value,bytes data,string policyId,string[] summary,uint256 expiresAt';

/** The six statements, by primary type. */
const STATEMENTS: {
  readonly [primaryType: string]: { subject: 'proposal' | 'transaction'; vote: VoteType };
} = {
  InitiateProposal: { subject: 'proposal', vote: 'initiator' },
  ApproveProposal: { subject: 'proposal', vote: 'approve' },
  RejectProposal: { subject: 'proposal', vote: 'reject' },
  InitiateTransaction: { subject: 'transaction', vote: 'initiator' },
  ApproveTransaction: { subject: 'transaction', vote: 'approve' },
  RejectTransaction: { subject: 'transaction', vote: 'reject' },
};

/** The types of a statement. Source: docs/signatures.md. */
function typesOf(
  primaryType: string,
  subject: 'proposal' | 'transaction',
  vote: VoteType,
): TypedData['types'] {
  if (subject === 'proposal') {
    return { EIP712Domain: fieldsOf(`${NAME},bytes32 salt`), [primaryType]: fieldsOf(PROPOSAL) };
  }
  const bound = vote === 'initiator' ? '' : ',bytes32 initiatorSignatureHash';
  return {
    EIP712Domain: fieldsOf(`${NAME},uint256 chainId,address verifyingContract`),
    [primaryType]: fieldsOf(`${TRANSACTION}${bound}`),
  };
}

/** The form of a value of each type, as the service writes it. */
const FORMS: { readonly [type: string]: RegExp } = {
  string: /^/,
  address: /^0x[0-9a-fA-F]{40}$/,
  uint256: /^(0|[1-9][0-9]{0,77})$/,
  bytes: /^0x([0-9a-fA-F]{2})*$/,
  bytes32: /^0x[0-9a-f]{64}$/,
};

/** A value in the form in which the service writes its type. */
export const formOf = ({ type }: Pick<Field, 'type'>) =>
  type === 'string'
    ? anyText
    : new Matcher(`a value of type ${type}`, (got) =>
        type === 'string[]'
          ? Array.isArray(got) && got.every(anyText.fits)
          : typeof got === 'string' && FORMS[type]?.test(got) === true,
      );

/** A payload that has the form of one of the six statements, and no other field. */
export interface Statement {
  readonly subject: 'proposal' | 'transaction';
  readonly vote: VoteType;
  readonly typedData: TypedData;
}

/**
 * Reads a payload: the text of EIP-712 typed data. Types and domain must be exactly those of its statement, and the text
 * the canonical one, so that nothing in it is read in two ways. Throws PayloadMismatch.
 */
export function statementOf(payload: string): Statement {
  const typedData = objectIn<TypedData>('payload', payload);
  const { primaryType } = typedData;
  const statement = Object.hasOwn(STATEMENTS, primaryType) ? STATEMENTS[primaryType] : undefined;
  if (!statement) throw new PayloadMismatch('primaryType', Object.keys(STATEMENTS).join(', '), primaryType);
  const { subject, vote } = statement;
  const types = typesOf(primaryType, subject, vote);
  const fields = types[primaryType] ?? [];
  const chainId = new Matcher('a chain id', (got) => Number.isSafeInteger(got) && Number(got) > 0);
  match(
    '',
    {
      primaryType,
      types,
      domain: {
        name: 'orgwallet',
        version: '1',
        ...(subject === 'proposal'
          ? { salt: formOf({ type: 'bytes32' }) }
          : { chainId, verifyingContract: formOf({ type: 'address' }) }),
      },
      message: Object.fromEntries(fields.map((field) => [field.name, formOf(field)])),
    },
    typedData,
  );
  match('payload', canonicalJson(typedData), payload);
  return { subject, vote, typedData };
}

/** The hashes of typed data. Throws PayloadMismatch for values that are none of their types, such as a wrong checksum. */
export function hashesOf({ typedData }: { readonly typedData: TypedData<object> }): Hashes {
  const { domain, primaryType, message } = typedData;
  const types = typedData.types as Record<string, Field[]>;
  try {
    return {
      domainHash: hashDomain({ domain, types }),
      messageHash: hashStruct({ data: { ...message }, primaryType, types }),
      digest: hashTypedData({ domain, types, primaryType, message: { ...message } }),
    };
  } catch (error) {
    throw new PayloadMismatch('payload', 'values that fit their types', (error as Error).message);
  }
}
