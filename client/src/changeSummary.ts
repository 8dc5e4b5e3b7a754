import { PayloadMismatch } from './errors.ts';
import type { Change, Schema } from './records.ts';
import { adminsSafeLine, isIn, QUOTED } from './summary.ts';

type Policy = Schema['ProposedPolicy'];
/** What a change adds, changes or removes. */
type Thing = { readonly name?: string; readonly walletAddress?: string };

const NOUNS: { readonly [resourceType: string]: readonly [one: string, several: string] } = {
  members: ['member', 'members'],
  groups: ['group', 'groups'],
  policies: ['policy', 'policies'],
  accounts: ['account', 'accounts'],
};

function isUnlimited(policy: Policy): boolean {
  switch (policy.transactionType) {
    case 'TOKEN_TRANSFER': {
      const { tokenAddress, amountThreshold } = policy.tokenTransferCondition;
      return tokenAddress === null || amountThreshold === null;
    }
    case 'CONTRACT_INTERACTION': {
      const rules = policy.contractInteractionCondition;
      return rules?.some(({ allowedFunctions }) => allowedFunctions.length === 0) ?? true;
    }
    case 'ANY':
      return true;
  }
}

const isAutomatic = ({ approverSetting }: Policy) => approverSetting === undefined;

/** The first line of a summary of policies, in a pattern: whether one is new, and what is dangerous about them. */
function policiesTitle(policies: readonly Policy[]): string {
  const [only, ...others] = policies;
  if (only && others.length === 0) {
    const { id, revision } = only;
    const what =
      revision === undefined
        ? `Create policy ${QUOTED}( \\(${id}\\))?`
        : `Change policy ${QUOTED} \\(${id}\\)`;
    const dangers = `${isUnlimited(only) ? ', WITHOUT LIMIT' : ''}${isAutomatic(only) ? ', approved automatically' : ''}`;
    return `${what}${dangers}(, named ${QUOTED})?`;
  }
  const count = (unlimited: boolean, automatic: boolean, words: string) => {
    const { length } = policies.filter(
      (one) => isUnlimited(one) === unlimited && isAutomatic(one) === automatic,
    );
    return length === 0 ? '' : `, ${length} ${words}`;
  };
  const both = count(true, true, 'WITHOUT LIMIT and approved automatically');
  return `${policies.length} policies${both}${count(true, false, 'WITHOUT LIMIT')}${count(false, true, 'approved automatically')}`;
}

/** The first line of a summary, in a pattern: what becomes of how many things. */
function titleOf({ resourceType, action, data }: Change, things: readonly Thing[]): string {
  if (resourceType === 'admins') {
    return `Change the admins: threshold (stays|\\d+ →) ${data.threshold}(, (add|remove) \\d+)*`;
  }
  if (resourceType === 'policies' && action !== 'remove') return policiesTitle(data.policies);
  const verb =
    resourceType === 'members' && action === 'create'
      ? 'Add'
      : `${action.charAt(0).toUpperCase()}${action.slice(1)}`;
  const [one, several] = NOUNS[resourceType] ?? [];
  return things.length === 1
    ? `${verb} ${one} ".*`
    : `${verb} ${things.length} ${several}(, \\d+ with another wallet)?`;
}

/**
 * Compares the lines of a change with its data: what becomes of how many things, their names and wallets, the threshold of the
 * admins, and what is dangerous about policies. Throws PayloadMismatch.
 */
export function checkChangeSummary(lines: readonly string[], change: Change): void {
  const { resourceType, data } = change;
  const things: readonly Thing[] = 'policies' in data ? data.policies : 'items' in data ? data.items : [];
  const summary = lines.join('\n');
  const expected = (text: string) => new PayloadMismatch('message.summary', text, summary);
  const title = titleOf(change, things);
  if (!new RegExp(`^${title}$`).test(lines[0] ?? '')) throw expected(title);
  const keepsSafe = resourceType === 'admins' && data.onChain === true;
  const safe = adminsSafeLine(resourceType === 'admins' ? data.threshold : 0);
  if (keepsSafe && !lines.some((line) => safe.fits(line))) throw expected(safe.text);
  const namesOf = ({ name, walletAddress }: Thing) => [name, walletAddress].flatMap((text) => text ?? []);
  const unnamed = things.filter((thing) => !namesOf(thing).every((name) => isIn(summary, name)));
  // It may have no room for all; of one alone it has the name.
  const [, shown = things.length] = /^(\d+) of \d+ shown: data has all$/.exec(lines.at(-1) ?? '') ?? [];
  const [first] = unnamed;
  if (first && things.length - unnamed.length < (things.length === 1 ? 1 : Number(shown)))
    throw expected(`a text that has ${namesOf(first).join(' and ')}`);
}
