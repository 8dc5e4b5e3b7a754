import { isSealedHead } from '../../chain/signedSeals';
import type { Db } from '../../db/database';
import { readProjected } from '../../db/decisions';
import { listOrganizations } from '../../db/organizations';
import { compareTables } from '../../db/organizationTables';
import { findSealedState } from '../../db/seals';
import type { OrganizationState } from '../../domain/governance';
import { count } from '../text';
import { type Finding, fail, ok, warn } from './finding';

const SHOWN = 5;

async function checkOrganization(db: Db, organizationId: string): Promise<Finding | undefined> {
  const part = `decisions of ${organizationId}`;
  const stored = await findSealedState(db, organizationId);
  if (!stored) {
    const todo = `./orgwallet org genesis ${organizationId}, then signer admit on the signer's host`;
    return warn(part, 'its genesis is not admitted: nothing can be proposed', todo);
  }
  const state: OrganizationState = JSON.parse(stored.state);
  if (!(await isSealedHead(state.sealKey, stored, stored.signature))) {
    return fail(
      part,
      'the row in sealed_states is not what was sealed',
      'see "The tables differ from what is sealed" in the runbook',
    );
  }
  const [projected, differences] = await db.transaction(async (tx) => [
    (await readProjected(tx, organizationId)).sequence,
    await compareTables(tx, state),
  ]);
  if (projected < state.sequence) {
    const todo = './orgwallet proposals list shows what is processing; its workflow carries it out';
    return warn(part, `the tables show ${projected} of ${state.sequence} decisions`, todo);
  }
  if (differences.length === 0) return undefined;
  const shown = differences.slice(0, SHOWN).map(({ type, id }) => `${type} ${id}`);
  return fail(
    part,
    `the tables differ from what is sealed in ${count(differences.length, 'row', 'rows')}: ${shown.join(', ')}`,
    'find out who wrote them: the signer believes only what is sealed',
  );
}

/** Compares the tables with what the signer has sealed, for every organization. */
export async function checkDecisions(db: Db): Promise<Finding[]> {
  const organizations = await listOrganizations(db);
  const findings: Finding[] = [];
  for (const { id } of organizations) {
    const finding = await checkOrganization(db, id);
    if (finding) findings.push(finding);
  }
  if (findings.length > 0) return findings;
  return [
    ok(
      'decisions',
      `the tables of ${count(organizations.length, 'organization', 'organizations')} show what is sealed`,
    ),
  ];
}
