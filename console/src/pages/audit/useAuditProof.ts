import type { Schema } from '@orgwallet/client';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../../api/useSession.ts';
import { type AuditBreaks, auditCheck, type Checked, type CheckedList } from '../../domain/auditCheck.ts';
import type { AuditEntries } from '../../domain/auditEntries.ts';

/** What was checked, and what of it is broken. */
export interface AuditProof {
  readonly list: CheckedList;
  readonly breaks: AuditBreaks;
}

/** How long the page checks before it draws and listens again, in ms. */
const SLICE_MS = 8;

/** Checks in small slices of time, after what is shown is drawn. Returns how to end it. */
function checkMeanwhile(
  list: CheckedList,
  checked: Checked,
  done: (breaks: AuditBreaks) => void,
): () => void {
  const check = auditCheck(list, checked);
  const goOn = () => {
    const end = performance.now() + SLICE_MS;
    do {
      const step = check.next();
      if (step.done) return done(step.value);
    } while (performance.now() < end);
    timer = setTimeout(goOn);
  };
  let timer = setTimeout(goOn);
  return () => clearTimeout(timer);
}

/**
 * Checks the entries of a list, which `name` distinguishes from others. Returns the last finished check of it: of fewer entries than
 * are shown while those that came since are checked; undefined before the first one.
 */
export function useAuditProof(
  name: string,
  shown: AuditEntries<Schema['AuditLogEntry']> | undefined,
  isFiltered: boolean,
): AuditProof | undefined {
  const { organization } = useSession();
  const organizationId = organization.id;
  const [proof, setProof] = useState<AuditProof & { readonly name: string }>();
  const checked = useRef<Checked>(new WeakMap());
  useEffect(() => {
    if (!shown) return;
    const list = { ...shown, organizationId, isFiltered };
    return checkMeanwhile(list, checked.current, (breaks) => setProof({ name, list, breaks }));
  }, [name, shown, organizationId, isFiltered]);
  return proof?.name === name ? proof : undefined;
}
