import type { Recipient } from '../domain/recipient.ts';

/** Whether a recipient is known, and from where. */
export function recipientText({ owner, policies, earlier, lookedThrough }: Recipient): string {
  const known = [
    ...(owner ? [`the ${owner}`] : []),
    ...(policies.length > 0 ? [`named in ${policies.map((name) => `“${name}”`).join(', ')}`] : []),
  ];
  const history =
    earlier > 0
      ? `${earlier} completed transaction${earlier === 1 ? '' : 's'} to it before`
      : `first time: no completed transaction to it among the last ${lookedThrough}`;
  return [...(known.length > 0 ? known : ['unknown address']), history].join(', ');
}
