import {
  condition,
  currentUpdateInfo,
  type defineUpdate,
  log,
  type QueryDefinition,
  type SignalDefinition,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import { type ExecuteMessage, parseExecuteMessage, parseMessageId } from '../src/temporal/messages';

type Update<Result, Args extends unknown[] = []> = ReturnType<typeof defineUpdate<Result, Args>>;

/** The messages of one kind of record. */
export interface MessageDefinitions<State, Result, Sign> {
  readonly created: Update<Result>;
  readonly sign: Update<Result, [Sign]>;
  readonly signSignal: SignalDefinition<[Sign]>;
  readonly execute: Update<Result, [ExecuteMessage]>;
  readonly retryExecution: Update<Result>;
  readonly retryExecutionSignal: SignalDefinition;
  readonly refresh: SignalDefinition;
  readonly state: QueryDefinition<State | null>;
}

/** What a workflow does with its messages. Each is called once the record is there. */
export interface MessageReceiver<State, Result, Sign> {
  /** What is decided: a proposal, a transaction. */
  readonly what: string;
  /** Throws TypeError for a wrong shape. */
  readonly parseSign: (message: unknown) => Sign;
  readonly state: () => State | null;
  /** The outcome of the create; undefined before it. */
  readonly created: () => Result | undefined;
  readonly sign: (messageId: string, message: Sign) => Promise<Result>;
  readonly execute: (messageId: string, message: ExecuteMessage) => Promise<Result>;
  readonly retry: (messageId: string) => Promise<Result>;
  readonly refresh: () => Promise<void>;
}

/** The id of the update that is being handled: a text that can be stored. Throws TypeError. */
export function updateId(): string {
  return parseMessageId(currentUpdateInfo()?.id ?? uuid4());
}

/**
 * Listens to everything that a record's workflow is told. Messages come from whoever can reach Temporal: only the
 * fields that they are to have are taken from them. A record that was refused answers every message with that refusal.
 */
export function receiveMessages<State, Result extends { readonly ok: boolean }, Sign>(
  definitions: MessageDefinitions<State, Result, Sign>,
  receiver: MessageReceiver<State, Result, Sign>,
): void {
  const { what, parseSign } = receiver;

  async function wasCreated(): Promise<Result> {
    await condition(() => receiver.created() !== undefined);
    return receiver.created() as Result;
  }

  /** Hands a message on when the record is there. */
  async function whenCreated(handle: () => Promise<Result>): Promise<Result> {
    const created = await wasCreated();
    return created.ok ? handle() : created;
  }

  const sign = (messageId: string, message: Sign) => whenCreated(() => receiver.sign(messageId, message));
  const execute = (messageId: string, message: ExecuteMessage) =>
    whenCreated(() => receiver.execute(messageId, message));
  const retry = (messageId: string) => whenCreated(() => receiver.retry(messageId));

  setHandler(definitions.state, () => receiver.state(), { description: `How the ${what} stands` });
  setHandler(definitions.created, wasCreated, { description: 'Waits for the outcome of the creation' });
  setHandler(definitions.sign, (message) => sign(updateId(), parseSign(message)), {
    validator: (message) => {
      updateId();
      parseSign(message);
    },
    description: 'Sign',
  });
  setHandler(
    definitions.signSignal,
    async (message) => {
      let parsed: Sign;
      try {
        parsed = parseSign(message);
      } catch (error) {
        log.warn('a signature sent as a signal is ignored', { reason: (error as Error).message });
        return;
      }
      await sign(`signal/${uuid4()}`, parsed);
    },
    { description: 'Sign, without waiting for an answer' },
  );
  setHandler(definitions.execute, (message) => execute(updateId(), parseExecuteMessage(message)), {
    validator: (message) => {
      updateId();
      parseExecuteMessage(message);
    },
    description: 'Execute an outcome whose threshold is met',
  });
  setHandler(definitions.retryExecution, () => retry(updateId()), {
    validator: () => {
      updateId();
    },
    description: 'Try a failed or blocked execution again',
  });
  setHandler(
    definitions.retryExecutionSignal,
    async () => {
      await retry(`signal/${uuid4()}`);
    },
    { description: 'Try a failed or blocked execution again' },
  );
  setHandler(
    definitions.refresh,
    async () => {
      if ((await wasCreated()).ok) await receiver.refresh();
    },
    { description: 'Read the record again: something outside has changed' },
  );
}
