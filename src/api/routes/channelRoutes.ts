import type { z } from 'zod';
import {
  channelChange,
  channelCode,
  confirmChannelEndpoint,
  createChannelEndpoint,
  listChannelsEndpoint,
  newChannel,
  removeChannelEndpoint,
  type ShownChannel,
  sendChannelCodeEndpoint,
  testChannelEndpoint,
  updateChannelEndpoint,
} from '../../contract/channelContract';
import type { Db } from '../../db/database';
import { newId } from '../../db/ids';
import {
  type ChannelContent,
  channelsOf,
  confirmChannel,
  createChannel,
  isUnconfirmed,
  newCode,
  readChannel,
  removeChannel,
  renewCode,
  targetOf,
  updateChannel,
  type WholeChannel,
} from '../../delivery/channelChanges';
import { MAILTO } from '../../delivery/noticeSending';
import { destinationStatus } from '../../domain/delivery';
import type { Admission } from '../admission';
import { readJsonBody } from '../body';
import type { ApiDependencies } from '../dependencies';
import { parseWith } from '../query';
import { acceptOrThrow, badRequest, Refused } from '../refusals';
import type { Asked } from '../requestContext';
import { MAX_SESSION_BODY_BYTES, type SessionRoute, sessionOf, sessionRoute } from '../sessionRoute';

/** What the routes of channels depend on. */
export interface ChannelRouteDependencies {
  readonly db: Db;
  readonly config: Pick<ApiDependencies['config'], 'production'>;
  readonly admission: Pick<Admission, 'countCode'>;
  readonly deliveries: Pick<
    ApiDependencies['deliveries'],
    'refuseUrl' | 'sendNotice' | 'sendsMail' | 'start' | 'refresh' | 'pageAt'
  >;
}

function statusOf(whole: WholeChannel): ShownChannel['status'] {
  return isUnconfirmed(whole) ? 'unconfirmed' : destinationStatus(whole.destination);
}

function channelView(whole: WholeChannel): ShownChannel {
  const { destination, channel } = whole;
  const { id, kind, description, disabledFor, pausedFor, lastFailure, nextAttemptAt, createdAt } =
    destination;
  return {
    ...{ id, kind, description, lastFailure },
    own: channel.memberId !== null,
    target: targetOf(whole),
    occasions: [...channel.occasions] as ShownChannel['occasions'],
    enabled: disabledFor === null,
    status: statusOf(whole),
    reason: isUnconfirmed(whole) ? null : (disabledFor ?? pausedFor),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}

function contentOf(body: z.output<typeof newChannel>): ChannelContent {
  const { kind, occasions, description } = body;
  return {
    ...{ kind, occasions, description },
    url: body.kind === 'email' ? `${MAILTO}${body.address}` : body.url,
    chatId: body.kind === 'telegram' ? body.chatId : null,
    own: body.kind === 'email' && body.own,
  };
}

/** The session of a request, and its member as it was when the request was admitted. */
function memberOf(asked: Asked) {
  const { id: sessionId, organizationId, memberId, members } = sessionOf(asked);
  const isAdmin = members.some((member) => member.isAdmin);
  return { session: { organizationId, sessionId }, member: { id: memberId, isAdmin } };
}

const idOfPath = ({ request }: Asked) => String(request.params.channelId);

/** `/channels` and what is below it. */
export function channelRoutes({
  db,
  config,
  admission,
  deliveries,
}: ChannelRouteDependencies): SessionRoute[] {
  const bodyOf = async <Body extends z.ZodType>(schema: Body, { request }: Asked) =>
    parseWith(schema, await readJsonBody(request, MAX_SESSION_BODY_BYTES));

  /** A new code, where a member may have another one sent. Refuses without an effect. */
  async function anotherCode(asked: Asked): Promise<string> {
    if (!deliveries.sendsMail) {
      throw badRequest([
        { field: 'kind', message: 'no mail is sent here: ask the operator to set SMTP_URL' },
      ]);
    }
    await admission.countCode(sessionOf(asked).memberId);
    return newCode();
  }

  /** Sends a code to an address. Refuses where the mail server does not take it. */
  async function sendCode({ id, url }: { id: string; url: string }, code: string): Promise<void> {
    const outcome = await deliveries.sendNotice(
      { kind: 'email', url, chatId: null },
      {
        title: 'Confirm this address',
        lines: [
          'Notices of an organization wallet',
          'Enter the code in the console, under Notifications, within 30 minutes.',
          `Code: ${code}`,
          'Whoever has not asked for it ignores this mail: nothing more will come.',
        ],
        link: deliveries.pageAt('/notifications'),
      },
      `${id}.${code}`,
    );
    if (outcome.isTaken) return;
    const answer = outcome.status === null ? outcome.message : outcome.answer;
    throw badRequest([{ field: 'address', message: `the mail server did not take the mail: ${answer}` }]);
  }

  async function assertReachable({ kind, url }: ChannelContent): Promise<void> {
    if (kind === 'email') return;
    const refusal = await deliveries.refuseUrl(url);
    if (refusal !== undefined) throw badRequest([{ field: 'url', message: refusal }]);
  }

  function answerOf(whole: WholeChannel, message: 'start' | 'refresh' = 'refresh') {
    const { id, organizationId, kind } = whole.destination;
    deliveries[message]({ id, organizationId, kind });
    return { data: channelView(whole) };
  }

  return [
    sessionRoute(config, listChannelsEndpoint, async (asked) => {
      const { session, member } = memberOf(asked);
      const reader = { ...session, memberId: member.id, isAdmin: member.isAdmin };
      return { data: (await channelsOf(db, reader)).map(channelView) };
    }),
    sessionRoute(config, createChannelEndpoint, async (asked) => {
      const { session } = memberOf(asked);
      const content = contentOf(await bodyOf(newChannel, asked));
      await assertReachable(content);
      const id = newId('chn');
      const code = content.kind === 'email' ? await anotherCode(asked) : null;
      const made = acceptOrThrow(await createChannel(db, session, { id, content, code }));
      if (code === null) return answerOf(made, 'start');
      try {
        await sendCode({ id, url: content.url }, code);
      } catch (error) {
        await removeChannel(db, session, id);
        throw error;
      }
      return { data: channelView(made) };
    }),
    sessionRoute(config, updateChannelEndpoint, async (asked) => {
      const { session } = memberOf(asked);
      const change = await bodyOf(channelChange, asked);
      return answerOf(acceptOrThrow(await updateChannel(db, session, idOfPath(asked), change)));
    }),
    sessionRoute(config, removeChannelEndpoint, async (asked) => {
      const { session } = memberOf(asked);
      return answerOf(acceptOrThrow(await removeChannel(db, session, idOfPath(asked))));
    }),
    sessionRoute(config, confirmChannelEndpoint, async (asked) => {
      const { session } = memberOf(asked);
      const { code } = await bodyOf(channelCode, asked);
      return answerOf(acceptOrThrow(await confirmChannel(db, session, idOfPath(asked), code)), 'start');
    }),
    sessionRoute(config, sendChannelCodeEndpoint, async (asked) => {
      const { session, member } = memberOf(asked);
      const read = acceptOrThrow(await readChannel(db, session, member, idOfPath(asked)));
      const code = await anotherCode(asked);
      const whole = acceptOrThrow(await renewCode(db, session, read, code));
      await sendCode(whole.destination, code);
      return { data: channelView(whole) };
    }),
    sessionRoute(config, testChannelEndpoint, async (asked) => {
      const { session, member } = memberOf(asked);
      const whole = acceptOrThrow(await readChannel(db, session, member, idOfPath(asked)));
      if (isUnconfirmed(whole)) {
        const message = 'the address is not confirmed yet: give the code of the mail';
        throw new Refused({ code: 'conflict', message });
      }
      await admission.countCode(member.id);
      const { destination, channel } = whole;
      const notice = {
        title: 'A test notice',
        lines: ['Nothing has happened.'],
        link: deliveries.pageAt('/notifications'),
      };
      const receiver = { kind: destination.kind, url: destination.url, chatId: channel.chatId };
      const outcome = await deliveries.sendNotice(receiver, notice, newId('log'));
      const { isTaken: taken, status, message, answer } = outcome;
      return { data: { taken, status, message: taken ? null : (message ?? answer) } };
    }),
  ];
}
