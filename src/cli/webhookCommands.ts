import type { Command } from 'commander';
import { type Destination, findDestination, listDestinations } from '../db/destinations';
import { setPaused } from '../delivery/operatorPause';
import { resendTo } from '../delivery/resending';
import { OPERATOR } from '../domain/actor';
import { refreshDelivery } from '../temporal/deliveryMessages';
import { type CommandContext, organizationsOf, type Within } from './commandContext';
import { CommandRefused } from './output';
import { count, table } from './text';

function stateText({ disabledFor, pausedFor, attempts, lastFailure, nextAttemptAt }: Destination): string {
  if (disabledFor) return `disabled (${disabledFor})`;
  if (pausedFor) return `paused (${pausedFor})`;
  return attempts === 0 ? 'active' : `failing: ${lastFailure}; next attempt ${nextAttemptAt?.toISOString()}`;
}

/** A webhook without what its URL may hold besides its host. */
const shown = (webhook: Destination) => ({
  ...{
    id: webhook.id,
    organizationId: webhook.organizationId,
    kind: webhook.kind,
    // An address of mail is people's own.
    host: new URL(webhook.url).host || webhook.kind,
  },
  ...{ position: String(webhook.position), state: stateText(webhook), description: webhook.description },
});

function found(webhook: Destination | undefined, id: string): Destination {
  if (!webhook) throw new CommandRefused(`webhook ${id} not found`);
  return webhook;
}

/** Notifies the workflow; without Temporal it learns of it within a second of its return. */
async function notify({ sender, output }: CommandContext, webhook: Destination): Promise<void> {
  await refreshDelivery(sender(), webhook).catch(() =>
    output.note('Temporal is unavailable: its workflow goes on once it is back'),
  );
}

/** `webhooks list`, `webhooks pause`, `webhooks resume`, `webhooks resend`. */
export function webhookCommands(program: Command, within: Within): void {
  const webhooks = program.command('webhooks').description('Webhooks: where events are sent to');

  webhooks
    .command('list')
    .description('List webhooks: how far each is, and what it waits for')
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        await organizationsOf(db(), options.org);
        const list = (await listDestinations(db(), { organizationId: options.org })).map(shown);
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
            'There are no webhooks.',
          ),
        );
      }),
    );

  for (const [name, isPaused, description, done] of [
    ['pause', true, 'Send nothing until it is resumed', 'is paused'],
    ['resume', false, 'Let a webhook go on: after a pause, or after the database was restored', 'goes on'],
  ] as const) {
    webhooks
      .command(name)
      .description(description)
      .argument('<whk_…>')
      .action((id: string, _options: object, command: Command) =>
        within(command, async (context) => {
          const webhook = found(await setPaused(context.db(), id, isPaused), id);
          await notify(context, webhook);
          context.output.result(shown(webhook), `${id} ${done}`);
        }),
      );
  }

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
          const known = found(await findDestination(tx, id, { lock: true }), id);
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
