import { randomInt } from 'node:crypto';
import { holdAdmins } from '../db/approvalLocks';
import { appendAudit } from '../db/audit';
import { type ActingMember, holdCredential } from '../db/authority';
import {
  type Channel,
  findChannel,
  insertChannel,
  listChannels,
  setCode,
  setOccasions,
  tryCode,
} from '../db/channels';
import { secretHash } from '../db/credentials';
import type { Db, Tx } from '../db/database';
import {
  type Destination,
  type DestinationChange,
  deleteDestination,
  findDestination,
  insertDestination,
  listDestinations,
  moveToEnd,
  updateDestination,
} from '../db/destinations';
import { lockFeedEnd } from '../db/feed';
import { queueAlone } from '../db/lockQueues';
import { requireRow } from '../db/rows';
import { memberActor } from '../domain/actor';
import type { JsonValue } from '../domain/canonicalJson';
import { credentialDetail, credentialEnded, requiresAdmin } from '../domain/credential';
import { CHANNEL_KINDS, type ChannelKind } from '../domain/delivery';
import type { AuditAction } from '../domain/eventTypes';
import { accept, type Result, refuse } from '../domain/refusal';
import { actionsFor, type Occasion } from '../notices/occasions';
import { MAILTO } from './noticeSending';

/** The most channels of an organization. */
const MAX_CHANNELS = 20;
/** How long a code confirms an address, and how often a wrong one can be given. */
const CODE_SECONDS = 30 * 60;
const MAX_CODE_ATTEMPTS = 5;
const CODES = 100_000_000;
const CODE_DIGITS = 8;

/** The session of a member who manages channels. */
interface ChannelSession {
  readonly organizationId: string;
  readonly sessionId: string;
}

/** A channel, whole. */
export interface WholeChannel {
  readonly destination: Destination & { readonly kind: ChannelKind };
  readonly channel: Channel;
}

/** What a channel is, as somebody gives it. */
export interface ChannelContent {
  readonly kind: ChannelKind;
  /** `mailto:` and the address, of mail. */
  readonly url: string;
  readonly chatId: string | null;
  readonly occasions: readonly Occasion[];
  readonly description: string;
  /** The own address of the member. */
  readonly own: boolean;
}

/** A new code, which is sent to an address. */
export function newCode(): string {
  return String(randomInt(CODES)).padStart(CODE_DIGITS, '0');
}

const codeHashOf = (id: string, code: string) => secretHash(`${id}/${code}`);

const notFound = () => refuse('notFound', 'channel not found');

/** Does something as a member, who stays one until it is done. */
async function asMember<T>(
  db: Db,
  { organizationId, sessionId }: ChannelSession,
  work: (tx: Tx, member: ActingMember) => Promise<Result<T>>,
): Promise<Result<T>> {
  return db.transaction(async (tx) => {
    await holdAdmins(tx, organizationId);
    await queueAlone(tx, [`${organizationId}/channels`]);
    const member = await holdCredential(tx, sessionId);
    return member ? work(tx, member) : { ok: false, refusal: credentialEnded(sessionId) };
  });
}

async function wholeOf(
  db: Db | Tx,
  organizationId: string,
  id: string,
  lock = false,
): Promise<WholeChannel | undefined> {
  const destination = await findDestination(db, id, { organizationId, kinds: CHANNEL_KINDS, lock });
  const channel = destination && (await findChannel(db, id));
  return channel && { destination: destination as WholeChannel['destination'], channel };
}

/** Why a member may not manage a channel; undefined where they may. Nobody learns of the own address of another. */
function refuseOther(
  { channel }: WholeChannel,
  member: { readonly id: string; readonly isAdmin: boolean },
  sessionId: string,
): Result<never> | undefined {
  if (channel.memberId !== null) return channel.memberId === member.id ? undefined : notFound();
  return member.isAdmin ? undefined : { ok: false, refusal: requiresAdmin(sessionId) };
}

/** What is audited of a channel: neither its URL nor its address. */
function shown({ destination, channel }: WholeChannel): { readonly [key: string]: JsonValue } {
  const { kind, description, disabledFor } = destination;
  const { occasions, memberId } = channel;
  return { kind, occasions: [...occasions], memberId, description, enabled: disabledFor === null };
}

async function audit(
  tx: Tx,
  { organizationId, sessionId }: ChannelSession,
  member: ActingMember,
  action: Extract<AuditAction, `channel.${string}`>,
  whole: WholeChannel,
): Promise<void> {
  const details = { ...shown(whole), ...credentialDetail(sessionId) };
  const entry = {
    action,
    actor: memberActor(member),
    resourceType: 'channel',
    resourceId: whole.destination.id,
  };
  await appendAudit(tx, organizationId, [{ ...entry, details }]);
}

/** Changes one channel. Refuses with notFound or forbidden. */
function changeChannel(
  db: Db,
  session: ChannelSession,
  id: string,
  change: (tx: Tx, before: WholeChannel, member: ActingMember) => Promise<Result<WholeChannel>>,
): Promise<Result<WholeChannel>> {
  const { organizationId, sessionId } = session;
  return asMember(db, session, async (tx, member) => {
    const before = await wholeOf(tx, organizationId, id, true);
    if (!before) return notFound();
    return refuseOther(before, member, sessionId) ?? change(tx, before, member);
  });
}

const reread = async (tx: Tx, { destination }: WholeChannel): Promise<WholeChannel> =>
  requireRow(await wholeOf(tx, destination.organizationId, destination.id));

/** The channels that a member may manage, newest first. */
export async function channelsOf(
  db: Db | Tx,
  { organizationId, memberId, isAdmin }: { organizationId: string; memberId: string; isAdmin: boolean },
): Promise<WholeChannel[]> {
  const destinations = await listDestinations(db, { organizationId, kinds: CHANNEL_KINDS });
  const channels = await listChannels(
    db,
    destinations.map(({ id }) => id),
  );
  return destinations.flatMap((destination) => {
    const channel = channels.get(destination.id);
    const isOwn = channel?.memberId === memberId;
    if (!channel || !(isOwn || (isAdmin && channel.memberId === null))) return [];
    return [{ destination: destination as WholeChannel['destination'], channel }];
  });
}

/** One channel that a member may manage. Refuses with notFound or forbidden. */
export async function readChannel(
  db: Db,
  { organizationId, sessionId }: ChannelSession,
  member: { readonly id: string; readonly isAdmin: boolean },
  id: string,
): Promise<Result<WholeChannel>> {
  const whole = await wholeOf(db, organizationId, id);
  if (!whole) return notFound();
  return refuseOther(whole, member, sessionId) ?? accept(whole);
}

/** Why a member may not add such a channel; undefined where they may. */
async function refuseAddition(
  tx: Tx,
  { organizationId, sessionId }: ChannelSession,
  member: ActingMember,
  own: boolean,
): Promise<Result<never> | undefined> {
  if (!own && !member.isAdmin) return { ok: false, refusal: requiresAdmin(sessionId) };
  const others = await channelsOf(tx, {
    organizationId,
    memberId: member.id,
    isAdmin: true,
  });
  const alike = others.filter(({ channel }) => (channel.memberId === member.id) === own);
  if (own && alike.length > 0)
    return refuse('conflict', 'you have an address already: remove it first', 'own');
  if (alike.length < MAX_CHANNELS) return undefined;
  return refuse('conflict', `the organization has ${alike.length} channels, the maximum`);
}

/** Adds a channel, for what happens after now; one of mail with the code that confirms it. */
export function createChannel(
  db: Db,
  session: ChannelSession,
  {
    id,
    content,
    code,
  }: { readonly id: string; readonly content: ChannelContent; readonly code: string | null },
): Promise<Result<WholeChannel>> {
  const { organizationId } = session;
  const { kind, url, chatId, occasions, description, own } = content;
  return asMember(db, session, async (tx, member) => {
    const refused = await refuseAddition(tx, session, member, own);
    if (refused) return refused;
    const place = await lockFeedEnd(tx, organizationId);
    await insertDestination(tx, {
      ...{ id, organizationId, kind, url, description, ...place },
      types: actionsFor(occasions),
      disabledFor: code === null ? null : 'request',
    });
    const codeHash = code === null ? null : codeHashOf(id, code);
    await insertChannel(
      tx,
      { id, memberId: own ? member.id : null, occasions, chatId, codeHash },
      CODE_SECONDS,
    );
    const made = requireRow(await wholeOf(tx, organizationId, id));
    await audit(tx, session, member, 'channel.created', made);
    return accept(made);
  });
}

/** Whether an address of mail waits for its code. */
export function isUnconfirmed({ destination, channel }: WholeChannel): boolean {
  return destination.kind === 'email' && channel.confirmedAt === null;
}

/** How a change enables or disables a channel; undefined where it does not. */
function switchOf(
  { destination }: WholeChannel,
  { enabled }: { readonly enabled?: boolean | undefined },
): Pick<DestinationChange, 'disabledFor'> | undefined {
  if (enabled === undefined || enabled === (destination.disabledFor === null)) return undefined;
  return { disabledFor: enabled ? null : 'request' };
}

/** Changes a channel: what `change` does not have stays. One that is enabled gets what happens from then on. */
export function updateChannel(
  db: Db,
  session: ChannelSession,
  id: string,
  wanted: {
    readonly occasions?: readonly Occasion[] | undefined;
    readonly description?: string | undefined;
    readonly enabled?: boolean | undefined;
  },
): Promise<Result<WholeChannel>> {
  return changeChannel(db, session, id, async (tx, before, member) => {
    const { occasions, ...others } = wanted;
    const switched = switchOf(before, wanted);
    if (switched && isUnconfirmed(before)) {
      return refuse('conflict', 'the address is not confirmed yet: give the code of the mail', 'enabled');
    }
    if (switched?.disabledFor === null) await moveToEnd(tx, before.destination);
    if (occasions) await setOccasions(tx, id, occasions);
    await updateDestination(tx, id, {
      ...(occasions ? { types: actionsFor(occasions) } : {}),
      ...(others.description === undefined ? {} : { description: others.description }),
      ...switched,
    });
    const after = await reread(tx, before);
    await audit(tx, session, member, 'channel.updated', after);
    return accept(after);
  });
}

/** Removes a channel. Returns what was removed. */
export function removeChannel(db: Db, session: ChannelSession, id: string): Promise<Result<WholeChannel>> {
  return changeChannel(db, session, id, async (tx, before, member) => {
    await deleteDestination(tx, id);
    await audit(tx, session, member, 'channel.removed', before);
    return accept(before);
  });
}

/** Gives an address that was read another code. Refuses one that is confirmed. */
export function renewCode(
  db: Db,
  session: ChannelSession,
  read: WholeChannel,
  code: string,
): Promise<Result<WholeChannel>> {
  return asMember(db, session, async (tx, member) => {
    const refused = refuseOther(read, member, session.sessionId);
    if (refused) return refused;
    const { id } = read.destination;
    const isSet = isUnconfirmed(read) && (await setCode(tx, id, codeHashOf(id, code), CODE_SECONDS));
    return isSet ? accept(read) : refuse('conflict', 'it has no address that waits for a code');
  });
}

/** Confirms an address with its code: from then on it gets notices. A wrong one counts. */
export function confirmChannel(
  db: Db,
  session: ChannelSession,
  id: string,
  code: string,
): Promise<Result<WholeChannel>> {
  return changeChannel(db, session, id, async (tx, before, member) => {
    const given = { codeHash: codeHashOf(id, code), maxAttempts: MAX_CODE_ATTEMPTS };
    if (!(await tryCode(tx, id, given))) {
      return refuse(
        'validationError',
        'is not the code of the mail, or it is older than 30 minutes: have another one sent',
        'code',
      );
    }
    await moveToEnd(tx, before.destination);
    await updateDestination(tx, id, { disabledFor: null });
    const after = await reread(tx, before);
    await audit(tx, session, member, 'channel.confirmed', after);
    return accept(after);
  });
}

/** Where a channel leads, without what is secret: an address of mail, or the host of a URL. */
export function targetOf({ destination }: WholeChannel): string {
  const { kind, url } = destination;
  return kind === 'email' ? url.slice(MAILTO.length) : new URL(url).host;
}
