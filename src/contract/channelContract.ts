import { z } from 'zod';
import { CHANNEL_KINDS } from '../domain/delivery';
import { idOf, timestamp } from '../domain/schemas';
import { dataResponse, descriptionInput, uniqueList } from './primitives';
import { sessionEndpoint } from './sessionEndpoint';

const MAX_URL = 2_048;
const MAX_CHAT_ID = 64;
const MAX_MAIL_ADDRESS = 254;

const occasion = z.enum(['asked', 'reminder', 'decided', 'failed', 'moneyIn', 'security']).meta({
  id: 'Occasion',
  description:
    '`asked`: signatures are wanted; `reminder`: half or nine tenths of the time is over and signatures are missing; `decided`: a ' +
    'request was executed, rejected, expired or closed; `failed`: it was not executed, with what to do; `moneyIn`: an account ' +
    'received a verified asset, confirmed, from somebody else, or what it had received is no longer on the chain; `security`: admins, policies, ' +
    'members, groups, keys, webhooks and channels changed, nothing is signed (freeze), or somebody signed in from a new browser.',
});
const occasions = uniqueList(occasion, (one) => one).min(1);
const description = descriptionInput.default('');

const chatUrl = z
  .string()
  .max(MAX_URL)
  .regex(/^[!-~]+$/, 'must be a URL in ASCII')
  .meta({
    id: 'ChannelUrl',
    description:
      'Where notices are posted: the URL of an incoming webhook of Slack or of a webhook of Discord; of Telegram ' +
      '`https://api.telegram.org/bot<token>/sendMessage`. It is a secret: it is not shown again.',
    examples: ['https://hooks.slack.com/services/T00000000/B00000000/secret'],
  });

const mailInput = z
  .email('must be one address such as ada@example.com')
  .max(MAX_MAIL_ADDRESS)
  .meta({ id: 'MailAddress', description: 'One address of mail.', examples: ['ada@example.com'] });

/** The body of `POST /channels`. */
export const newChannel = z
  .discriminatedUnion('kind', [
    z
      .strictObject({ kind: z.literal('slack'), url: chatUrl, occasions, description })
      .meta({ id: 'NewSlackChannel' }),
    z
      .strictObject({ kind: z.literal('discord'), url: chatUrl, occasions, description })
      .meta({ id: 'NewDiscordChannel' }),
    z
      .strictObject({
        kind: z.literal('telegram'),
        url: chatUrl,
        chatId: z
          .string()
          .regex(
            /^(-?\d{1,20}|@\w{1,32})$/,
            'must be the id of a chat such as -1001234567890, or @ and the name of a channel',
          )
          .max(MAX_CHAT_ID)
          .meta({ description: 'Which chat the bot writes to.', examples: ['-1001234567890'] }),
        occasions,
        description,
      })
      .meta({ id: 'NewTelegramChannel' }),
    z
      .strictObject({
        kind: z.literal('email'),
        address: mailInput,
        own: z
          .boolean()
          .default(false)
          .meta({ description: 'The own address of the member, who alone manages it.' }),
        occasions,
        description,
      })
      .meta({ id: 'NewMailChannel' }),
  ])
  .meta({ id: 'NewChannelRequest' });

/** The body of `POST /channels/{channelId}/update`. */
export const channelChange = z
  .strictObject({
    occasions: occasions.optional(),
    description: descriptionInput.optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'ChannelChangeRequest', description: 'What it does not have stays as it is.' });

/** The body of `POST /channels/{channelId}/confirm`. */
export const channelCode = z
  .strictObject({
    code: z
      .string()
      .regex(/^\d{8}$/, 'must be the 8 digits of the mail')
      .meta({ description: 'The code that was sent to the address.', examples: ['01234567'] }),
  })
  .meta({ id: 'ChannelCodeRequest' });

const channel = z
  .strictObject({
    id: idOf('chn'),
    kind: z.enum(CHANNEL_KINDS).meta({ id: 'ChannelKind' }),
    own: z.boolean().meta({ description: 'The own address of the member who asks.' }),
    target: z
      .string()
      .meta({ description: 'The address of mail, or the host of the URL.', examples: ['hooks.slack.com'] }),
    occasions: z.array(occasion),
    description: z.string(),
    enabled: z.boolean(),
    status: z.enum(['active', 'unconfirmed', 'failing', 'disabled', 'paused']).meta({
      id: 'ChannelStatus',
      description:
        '`unconfirmed`: nothing is sent until the code of the mail was given; `failing`: the next notice was not taken, and is tried ' +
        'again; `paused`: an operator has to resume it.',
    }),
    reason: z
      .enum(['request', 'failing', 'gone', 'operator', 'restored'])
      .meta({ id: 'ChannelReason' })
      .nullable(),
    lastFailure: z.string().nullable(),
    nextAttemptAt: timestamp.nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'Channel', description: 'Where people read notices.' });

/** A channel in responses. */
export type ShownChannel = z.input<typeof channel>;

const channelResponse = dataResponse(channel);
const params = { channelId: 'chn' } as const;
const WHO = 'Requires the session of an admin, or of the member whose own address it is.';

export const listChannelsEndpoint = sessionEndpoint({
  id: 'listChannels',
  method: 'get',
  path: '/channels',
  summary: 'List where people read notices',
  description:
    "Returns the member's own address, and for an admin the channels of the organization, newest first.",
  response: dataResponse(z.array(channel)).meta({ id: 'ChannelsResponse' }),
});

export const createChannelEndpoint = sessionEndpoint({
  id: 'createChannel',
  method: 'post',
  path: '/channels',
  summary: 'Add a channel, or an own address',
  description:
    'It gets notices of what happens from now on. To an address of mail a code is sent, and nothing else until `confirm`. An ' +
    'organization has at most 20 channels, a member one address of their own. Audited. Requires the session of an admin; with `own` ' +
    'any session.',
  body: newChannel,
  exampleBody: {
    kind: 'slack',
    url: 'https://hooks.slack.com/services/T00000000/B00000000/secret',
    occasions: ['asked', 'reminder', 'failed', 'security'],
    description: 'Treasury',
  },
  response: channelResponse,
  status: 201,
  errors: ['unauthorized', 'conflict'],
});

export const updateChannelEndpoint = sessionEndpoint({
  id: 'updateChannel',
  method: 'post',
  path: '/channels/{channelId}/update',
  summary: 'Change a channel',
  description: `What it is for, and whether anything is sent. Audited. ${WHO}`,
  params,
  body: channelChange,
  exampleBody: { occasions: ['asked'], enabled: true },
  response: channelResponse,
  errors: ['unauthorized', 'conflict'],
});

export const removeChannelEndpoint = sessionEndpoint({
  id: 'removeChannel',
  method: 'delete',
  path: '/channels/{channelId}',
  summary: 'Remove a channel',
  description: `Returns what was removed. Audited. ${WHO}`,
  params,
  response: channelResponse,
});

export const confirmChannelEndpoint = sessionEndpoint({
  id: 'confirmChannel',
  method: 'post',
  path: '/channels/{channelId}/confirm',
  summary: 'Confirm an address of mail',
  description:
    'With the code that was sent there, within 30 minutes and five attempts. From then on it gets notices of what happens. ' +
    `Audited. ${WHO}`,
  params,
  body: channelCode,
  exampleBody: { code: '01234567' },
  response: channelResponse,
});

export const sendChannelCodeEndpoint = sessionEndpoint({
  id: 'sendChannelCode',
  method: 'post',
  path: '/channels/{channelId}/code',
  summary: 'Send another code to an address of mail',
  description: `The one before it is not taken any more. ${WHO}`,
  params,
  response: channelResponse,
  errors: ['unauthorized', 'conflict'],
});

export const testChannelEndpoint = sessionEndpoint({
  id: 'testChannel',
  method: 'post',
  path: '/channels/{channelId}/test',
  summary: 'Send a test notice',
  description: `Sends it at once, whatever the channel is for, and returns what became of it. ${WHO}`,
  params,
  response: dataResponse(
    z
      .strictObject({
        taken: z.boolean(),
        status: z.int().nullable().meta({ description: 'Of the answer; null: there was none.' }),
        message: z
          .string()
          .nullable()
          .meta({ description: 'Why there was no answer, or the beginning of one that refuses.' }),
      })
      .meta({ id: 'ChannelTest' }),
  ),
  errors: ['unauthorized', 'conflict'],
});
