import { adminsSafeAddresses } from '../chain/adminsSafe';
import { type Account, listAccounts } from '../db/accounts';
import { type Admins, type AdminsSafeOnNetwork, readAdmins } from '../db/members';
import { findSealedState } from '../db/seals';
import { isSameAddress } from '../domain/address';
import type { CommandContext } from './commandContext';
import { CommandRefused } from './output';
import { count, duration, table } from './text';

type Networks = ReturnType<CommandContext['config']>['networks'];

/** An account on one network where it cannot be taken over now, or was. */
interface Exception {
  readonly account: string;
  readonly networkId: number;
  readonly rescue: Account['rescues'][number];
}

const exceptionsIn = (accounts: readonly Account[]): Exception[] =>
  accounts.flatMap(({ name, networkIds, rescues }) =>
    networkIds.flatMap((networkId, i) => {
      const rescue = rescues[i] ?? 'none';
      return rescue === 'ready' ? [] : [{ account: name, networkId, rescue }];
    }),
  );

/** Owners on a network who are not admins any more. */
const formerOwners = ({ owners }: AdminsSafeOnNetwork, { members }: Admins): readonly string[] =>
  (owners ?? []).filter((owner) => !members.some((member) => isSameAddress(member.walletAddress, owner)));

/** What makes it weaker than it looks. */
function warningsOf({ members, threshold }: Admins): string[] {
  const bots = members.filter(({ type }) => type === 'api').length;
  return [
    ...(threshold === 1 ? ['threshold 1: one stolen wallet takes every account'] : []),
    ...(bots >= threshold
      ? [`${count(bots, 'admin is a bot', 'admins are bots')}: the threshold is reached without a person`]
      : []),
  ];
}

function networkRow(
  safe: AdminsSafeOnNetwork,
  {
    admins,
    accounts,
    networks,
    now,
  }: { admins: Admins; accounts: readonly Account[]; networks: Networks; now: number },
): readonly string[] {
  const { networkId, status, owners, threshold, since, reason } = safe;
  const here = accounts.filter(({ networkIds }) => networkIds.includes(networkId));
  const ready = here.filter(({ networkIds, rescues }) => rescues[networkIds.indexOf(networkId)] === 'ready');
  const former = formerOwners(safe, admins);
  const name = networks.find(({ id }) => id === networkId)?.name ?? 'network';
  return [
    `${name} (${networkId})`,
    status,
    duration(now - since.getTime()),
    owners === null ? 'not read' : `${threshold} of ${owners.length}`,
    `${ready.length} of ${here.length}`,
    [reason ?? '', former.length > 0 ? `former admins own it: ${former.join(', ')}` : '']
      .filter((text) => text !== '')
      .join('; '),
  ];
}

/** Says whether the admins of an organization can take its accounts over, network by network. Throws CommandRefused. */
export async function showRescueStatus(
  { db, config, output }: CommandContext,
  { org }: { readonly org: string },
): Promise<void> {
  if (!(await findSealedState(db(), org))) throw new CommandRefused(`organization ${org} not found`);
  const [admins, accounts] = await Promise.all([
    readAdmins(db(), org),
    listAccounts(db(), { organizationId: org }),
  ]);
  const [, adminsSafe] = adminsSafeAddresses({ signingKey: admins.signingKey, admins });
  const { onChain: enabled, threshold, members, safes } = admins;
  const networks = enabled ? safes : [];
  const exceptions = exceptionsIn(accounts);
  const warnings = enabled ? warningsOf(admins) : [];
  const of = { admins, accounts, networks: config().networks, now: Date.now() };
  const rows = networks.map((safe) => networkRow(safe, of));
  output.result(
    { enabled, adminsSafe, threshold, networks, accounts: exceptions, warnings },
    [
      enabled
        ? `admins' Safe ${adminsSafe}: ${threshold} of ${members.length} admins can take the accounts over`
        : "The admins' Safe is off: without this service nobody can move the money.",
      ...(enabled
        ? [
            table(
              ['NETWORK', 'STATUS', 'SINCE', 'OWNERS', 'ACCOUNTS READY', ''],
              rows,
              'The signer has not looked on any network yet.',
            ),
            ...exceptions.map(
              ({ account, networkId, rescue }) => `${account} on network ${networkId}: ${rescue}`,
            ),
            ...warnings.map((warning) => `warning: ${warning}`),
          ]
        : []),
    ].join('\n'),
  );
}
