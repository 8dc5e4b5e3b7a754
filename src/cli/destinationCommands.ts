import type { Command } from 'commander';
import { type Destination, findDestination, listDestinations } from '../db/destinations';
import { setPaused } from '../delivery/operatorPause';
import { resendTo } from '../delivery/resending';
import { OPERATOR } from '../domain/actor';
import { CHANNEL_KINDS, type DestinationKind } from '../domain/delivery';
import { refreshDelivery } from '../temporal/deliveryMessages';
import { type CommandContext, organizationsOf, type Within } from './commandContext';
import { CommandRefused } from './output';
import { count, table } from './text';

/** What commands call destinations of some kinds. */
interface Noun {
  readonly one: string;
  readonly many: string;
  readonly id: string;
  readonly kinds: readonly DestinationKind[];
}

const WEBHOOK: Noun = { one: 'webhook', many: 'webhooks', id: 'whk_…', kinds: ['webhook'] };
const CHANNEL: Noun = { one: 'channel', many: 'channels', id: 'chn_…', kinds: CHANNEL_KINDS };

function stateText({ disabledFor, pausedFor, attempts, lastFailure, nextAttemptAt }: Destination): string {
  if (disabledFor) return `disabled (${disabledFor})`;
  if (pausedFor) return `paused (${pausedFor})`;
  return attempts === 0 ? 'active' : `failing: ${lastFailure}; next attempt ${nextAttemptAt?.toISOString()}`;
}

/** A destination without what its URL may hold besides its host. */
const shown = (destination: Destination) => ({
  ...{
    id: destination.id,
    organizationId: destination.organizationId,
    kind: destination.kind,
    // An address of mail is people's own.
    host: new URL(destination.url).host || destination.kind,
  },
  ...{
    position: String(destination.position),
    state: stateText(destination),
    description: destination.description,
  },
});

function found(destination: Destination | undefined, { one }: Noun, id: string): Destination {
  if (!destination) throw new CommandRefused(`${one} ${id} not found`);
  return destination;
}

/** Notifies the workflow; without Temporal it learns of it within a second of its return. */
async function notify({ sender, output }: CommandContext, destination: Destination): Promise<void> {
  await refreshDelivery(sender(), destination).catch(() =>
    output.note('Temporal is unavailable: its workflow goes on once it is back'),
  );
}

/** `list`, `pause` and `resume` of destinations of some kinds. */
function destinationCommands(commands: Command, within: Within, noun: Noun): void {
  const { one, many, id: argument, kinds } = noun;
  commands
    .command('list')
    .description(`List ${many}: how far each is, and what it waits for`)
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        await organizationsOf(db(), options.org);
        const listed = await listDestinations(db(), { organizationId: options.org, kinds });
        const list = listed.map(shown);
        output.result(
          list,
          table(
            ['id', 'organization', 'host', 'position', 'state'],
            list.map(({ id, organizationId, host, position, state }) => [
              id,
              organizationId,
              host,
              position,
              state,
            ]),
            `There are no ${many}.`,
          ),
        );
      }),
    );

  for (const [name, isPaused, description, done] of [
    ['pause', true, 'Send nothing until it is resumed', 'is paused'],
    ['resume', false, `Let a ${one} go on: after a pause, or after the database was restored`, 'goes on'],
  ] as const) {
    commands
      .command(name)
      .description(description)
      .argument(`<${argument}>`)
      .action((id: string, _options: object, command: Command) =>
        within(command, async (context) => {
          const changed = found(await setPaused(context.db(), id, isPaused, { kinds }), noun, id);
          await notify(context, changed);
          context.output.result(shown(changed), `${id} ${done}`);
        }),
      );
  }
}

/** `webhooks list`, `webhooks pause`, `webhooks resume`, `webhooks resend`. */
export function webhookCommands(program: Command, within: Within): void {
  const webhooks = program.command('webhooks').description('Webhooks: where events are sent to');
  destinationCommands(webhooks, within, WEBHOOK);

  webhooks
    .command('resend')
    .description('Send events once more: of a range of positions, or all that were given up')
    .argument('<whk_…>')
    .option('--from <position>', 'first position')
    .option('--to <position>', 'last position')
    .action((id: string, { from, to }: { from?: string; to?: string }, command: Command) =>
      within(command, async (context) => {
        if ((from === undefined) !== (to === undefined))
          throw new CommandRefused('--from and --to belong together');
        for (const text of [from, to]) {
          if (text !== undefined && !/^\d{1,18}$/.test(text))
            throw new CommandRefused(`invalid position "${text}"`);
        }
        const selection =
          from === undefined || to === undefined
            ? ({ failed: true } as const)
            : { from: BigInt(from), to: BigInt(to) };
        const { webhook, events } = await context.db().transaction(async (tx) => {
          const { kinds } = WEBHOOK;
          const known = found(await findDestination(tx, id, { kinds, lock: true }), WEBHOOK, id);
          return { webhook: known, events: await resendTo(tx, known, selection, { actor: OPERATOR }) };
        });
        await notify(context, webhook);
        context.output.result(
          { id, events },
          `${id}: ${count(events, 'event is', 'events are')} sent once more`,
        );
      }),
    );
}

/** `channels list`, `channels pause`, `channels resume`. */
export function channelCommands(program: Command, within: Within): void {
  const channels = program.command('channels').description('Channels: where people read of events');
  destinationCommands(channels, within, CHANNEL);
}
