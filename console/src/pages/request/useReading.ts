import type { Approval } from '@orgwallet/client';
import { useEffect, useMemo, useState } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { hasChanged, seenOf, seenWith } from '../../domain/seen.ts';
import { type Reading, readPayloads } from '../../signing/voting.ts';

interface Followed extends Reading {
  /** Whether something else can be signed now than what was read. */
  readonly isChanged: boolean;
  /** It has been read again. */
  readonly onRead: () => void;
}

/** What can be signed about a request, and whether it has changed since the page was opened. */
export function useReading(approval: Approval, { accounts }: Organization): Followed {
  const { organization } = useSession();
  const reading = useMemo(() => {
    const accountId = 'accountId' in approval ? approval.accountId : undefined;
    const account = accounts.find(({ id }) => id === accountId)?.address;
    return readPayloads(approval, { organization: organization.id, ...(account ? { account } : {}) });
  }, [approval, accounts, organization.id]);
  const now = seenOf(reading.payloads);
  const [seen, setSeen] = useState(now);
  const isChanged = hasChanged(seen, now);
  const merged = JSON.stringify(seenWith(seen, now));
  useEffect(() => {
    if (!isChanged) setSeen((before) => (JSON.stringify(before) === merged ? before : JSON.parse(merged)));
  }, [isChanged, merged]);
  return { ...reading, isChanged, onRead: () => setSeen(now) };
}
