import { formatUnits } from 'viem';
import { Depends, Matcher, PartialMatch, partsOf } from './expectation.ts';
import type { Statement } from './payload.ts';
import { readSignedData } from './signedData.ts';
import { isNative, isTransfer, NATIVE_DECIMALS } from './transactionCall.ts';

/** Code points that are not seen, or that change how those around them are. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]/gu;

/** A text in which nothing is unseen, and nothing turns the direction of what is around it. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) =>
    Array.from(
      { length: found.length },
      (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** A value on one line, with nothing in it that cannot be seen. */
export const shown = (value: unknown) => visible(JSON.stringify(value));

/** The name of a field; one that is not a word could imitate other lines. */
const named = (key: string) => (/^\w+$/.test(key) ? key : shown(key));

/** Lists in which no entry means any. */
const ANY_IF_EMPTY = ['destinationAddresses', 'allowedFunctions'];

/** Every field of the data of a proposal, one line each; what permits without a limit says so. */
export function* linesOf(value: unknown, path: string): Generator<string> {
  const name = path.split('.').at(-1) ?? '';
  if (value === null) yield `${path}: any, WITHOUT LIMIT`;
  else if (Array.isArray(value) && value.length === 0)
    yield `${path}: ${ANY_IF_EMPTY.includes(name) ? 'any' : 'none'}`;
  else if (typeof value === 'object') {
    const parts = Array.isArray(value)
      ? value.map((item, i) => [`${path}[${i}]`, item])
      : Object.entries(value).map(([key, field]) => [`${path}${path === '' ? '' : '.'}${named(key)}`, field]);
    for (const [below, part] of parts) yield* linesOf(part, String(below));
  } else yield `${path}: ${shown(value)}`;
}

/** The parts of a change that nobody asked for in these words, one line each. Its revisions are not part of it. */
export function* restOf(expected: unknown, got: unknown, path = ''): Generator<string> {
  const asked = expected instanceof PartialMatch ? expected.fields : expected;
  if (got === undefined || /(^|\.)revision$/.test(path)) return;
  if (asked instanceof Depends) yield* restOf(asked.on(got), got, path);
  else if (asked === undefined || asked instanceof Matcher) yield* linesOf(got, path);
  else for (const [below, one, other] of partsOf(path, asked, got) ?? []) yield* restOf(one, other, below);
}

const HEADS = { initiator: 'Initiate', approve: 'Approve', reject: 'Reject' } as const;

function transactionLines({ message, domain }: Statement['typedData']): string[] {
  const { recipient, token = '', amount = '', to, value, data = '0x', policyId = '' } = message;
  const isCall = !isTransfer(message);
  const sent = isNative(token)
    ? `${formatUnits(BigInt(amount), NATIVE_DECIMALS)} of the native currency (with ${NATIVE_DECIMALS} decimals)`
    : `${amount} of the smallest unit of the token ${token}`;
  return [
    ...(isCall
      ? [`call: ${to}`, `function: ${data.length < 10 ? 'none' : data.slice(0, 10)}`, `calldata: ${data}`]
      : []),
    ...(isCall && value === '0' ? [] : [`sends: ${sent}`, `to: ${recipient}`]),
    `from the account: ${domain.verifyingContract}`,
    `on the network: ${domain.chainId}`,
    `under the policy: ${shown(policyId)}`,
  ];
}

/** What a payload does, line by line, made from its bytes and from nothing else. */
export function describe({ subject, vote, typedData }: Statement): string {
  const { message } = typedData;
  const { proposalId, transactionId, organization = '', resourceType = '', action = '', data = '' } = message;
  const until = new Date(Number(message.expiresAt) * 1_000);
  return [
    `${HEADS[vote]} the ${subject} ${shown(proposalId ?? transactionId)}`,
    ...(subject === 'proposal'
      ? [
          `organization: ${shown(organization)}`,
          `change: ${shown(resourceType)} ${shown(action)}`,
          ...linesOf(readSignedData(data).data, ''),
        ]
      : transactionLines(typedData)),
    `until: ${Number.isNaN(until.getTime()) ? message.expiresAt : until.toISOString()}`,
  ].join('\n');
}
