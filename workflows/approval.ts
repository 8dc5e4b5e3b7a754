import {
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Waiting } from '../activities/approvals/wait';
import type { LifecycleActivities } from '../activities/worker';
import type { Decision, Subject } from '../src/domain/approval';
import type { ApprovalKey } from '../src/domain/approvalRef';
import type { ApprovalState } from '../src/domain/approvalState';
import type { WorkflowGone } from '../src/domain/reconciliation';
import type { Refusal } from '../src/domain/refusal';
import { nextReminder } from '../src/domain/reminder';
import { decisionOfVote } from '../src/domain/voting';
import { executionMessageId } from '../src/temporal/ids';
import {
  approvalMessages,
  type ExecuteMessage,
  type MessageResult,
  type Parser,
  type SignMessage,
} from '../src/temporal/messages';
import {
  contentAttributes,
  type SearchAttribute,
  type SearchableContent,
  searchAttributes,
  stateAttributes,
} from '../src/temporal/searchAttributes';
import { databaseActivities, untilMs } from './databaseActivities';
import { receiveMessages } from './messages';
import { type Restartable, restartable } from './restartable';

/** The input of every approval's workflow. */
interface ApprovalInput extends ApprovalKey {
  readonly requestId?: string | undefined;
  readonly found?: WorkflowGone | undefined;
  readonly hidesAmount?: true | undefined;
  readonly queues: { readonly chain: string; readonly signer: string };
}

/** The parts of the workflow that depend on the subject. */
interface ApprovalStrategy<S extends ApprovalState> {
  readonly parseSignMessage: Parser<SignMessage>;
  /** The description for operators in the Temporal UI (Markdown). */
  readonly details: (state: S) => string;
  /** For the search attributes of the workflow: where it has its effect. */
  readonly places: (state: S) => { readonly accountIds: string[]; readonly networkIds: number[] };
  /** For the search attributes of the workflow: what it does. */
  readonly content: (state: S) => SearchableContent;
  /** Called before a rejection is executed; its refusal is the answer. */
  readonly beforeRejection?: () => Promise<Refusal | null>;
  /** Carries out the execution, and records its end; or a part of it: then it is called again. */
  readonly execute: () => Promise<void>;
  /** Waits while no execution is in progress, until a change or its expiry. */
  readonly park: () => Promise<void>;
  readonly cancel?: (messageId: string) => Promise<MessageResult<S>>;
}

// biome-ignore lint/suspicious/noExplicitAny: each subject creates with its own input
type Lifecycle<S extends ApprovalState> = LifecycleActivities<any, S, any>;

/** The activities of the shared lifecycle, with the summary of each for operators. */
function lifecycle<S extends ApprovalState>(subject: Subject) {
  return {
    create: databaseActivities<Lifecycle<S>>(`Store the ${subject}`).createApproval,
    vote: databaseActivities<Lifecycle<S>>('Verify and record a signature').recordVote,
    voteAndBegin: databaseActivities<Lifecycle<S>>(
      'Verify and record a signature, and begin the execution that it asks for',
    ).recordVote,
    begin: databaseActivities<Lifecycle<S>>('Check everything again and begin the execution').beginExecution,
    authority: databaseActivities<Lifecycle<S>>('Check the credential of the request').readAuthority,
    remind: databaseActivities<Lifecycle<S>>('Remind of missing signatures').recordReminder,
    expire: databaseActivities<Lifecycle<S>>('Expire').expireApproval,
    restored: databaseActivities<Lifecycle<S>>('Record that the workflow was restarted').recordRestored,
    read: databaseActivities<Lifecycle<S>>('Read the record').readApproval,
    wait: databaseActivities<Lifecycle<S>>('Record what the execution waits for').reportWaiting,
  };
}

/**
 * Temporal ends a workflow whose history grows without limit: what is held for days would reach it. And a history belongs to
 * the build that has made it: when another one has become current, that one begins a history of its own.
 */
function needsNewRun(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
  return continueAsNewSuggested || targetWorkerDeploymentVersionChanged;
}

/** One approval in progress: its last known state, and its changes. */
export class ApprovalRun<S extends ApprovalState> {
  private state: S | null = null;
  private inProgress: Restartable | undefined;
  private readonly activities: ReturnType<typeof lifecycle<S>>;
  private readonly key: ApprovalKey & { readonly subject: Subject };

  private readonly strategy: ApprovalStrategy<S>;

  constructor(
    private readonly subject: Subject,
    private readonly input: ApprovalInput,
    strategyOf: (run: ApprovalRun<S>) => ApprovalStrategy<S>,
  ) {
    this.activities = lifecycle<S>(subject);
    this.key = { subject, organizationId: input.organizationId, id: input.id };
    this.strategy = strategyOf(this);
  }

  /** The state, as last seen. Only once it exists. */
  get current(): S {
    if (!this.state) throw new Error(`${this.subject} ${this.key.id} is not created yet`);
    return this.state;
  }

  get isClosedOrProcessing(): boolean {
    return this.current.closed || this.current.executionStatus === 'processing';
  }

  /**
   * Runs an activity that reads the record, and adopts the state that it has read. An older one than is known now was
   * overtaken. An older one than was known before it was read proves that Postgres has lost what came since (a backup was
   * restored, a failover has lost commits): the record is right, and what is in progress begins again from it.
   */
  async adoptFrom<T>(read: () => Promise<T>, stateOf: (result: T) => S | null): Promise<T> {
    const knownBefore = this.state?.version ?? 0;
    const result = await read();
    const next = stateOf(result);
    if (next === null) return result;
    const isLoss = next.version < knownBefore;
    if (!isLoss && next.version < (this.state?.version ?? 0)) return result;
    this.adopt(next);
    if (isLoss) this.inProgress?.restart();
    return result;
  }

  /** Runs an activity that returns the state of the record, and adopts it. */
  async update(read: () => Promise<S>): Promise<void> {
    await this.adoptFrom(read, (state) => state);
  }

  /** Sends a message to the record, and adopts the state that it leads to. */
  private deliver(send: () => Promise<MessageResult<S>>): Promise<MessageResult<S>> {
    return this.adoptFrom(send, (result) => (result.ok ? result.state : null));
  }

  private adopt(next: S): void {
    this.state = next;
    setCurrentDetails(this.strategy.details(next));
    this.upsertAttributes(next);
  }

  private upsertAttributes(next: S): void {
    const { typedSearchAttributes: listed } = workflowInfo();
    // A list without elements is not stored.
    // A workflow of an earlier build has no value of this one: `none` does not count as a change.
    const unlisted = (key: SearchAttribute) => (key === searchAttributes.failureCode ? 'none' : []);
    const isNew = ({ key, value }: { readonly key: SearchAttribute; readonly value: unknown }) =>
      JSON.stringify(listed.get(key) ?? unlisted(key)) !== JSON.stringify(value);
    const changed = stateAttributes({ ...next, ...this.strategy.places(next) }).filter(isNew);
    if (changed.length === 0) return;
    // With the first change: an event of its own would say no more.
    const { operation, amount } = this.strategy.content(next);
    const content = contentAttributes({ operation, amount: this.input.hidesAmount ? null : amount });
    upsertSearchAttributes([...changed, ...content.filter(isNew)]);
  }

  /**
   * Waits until something changes or its expiry, and expires it then; meanwhile people are reminded. True when something has
   * changed.
   */
  async changedBeforeExpiry(hasChanged: () => boolean = () => this.isClosedOrProcessing): Promise<boolean> {
    const { expiresAt } = this.current;
    const due = nextReminder(this.current, Date.now());
    const reminds = due ? `Reminds at ${new Date(due.atMs).toISOString()}. ` : '';
    const changed = await condition(hasChanged, untilMs(due?.atMs ?? Date.parse(expiresAt)), {
      summary: `${reminds}Expires at ${expiresAt}`,
    });
    if (changed) return true;
    if (due) {
      await this.update(() => this.activities.remind({ ...this.key, reminder: due.reminder }));
      return hasChanged() || this.changedBeforeExpiry(hasChanged);
    }
    await this.update(() => this.activities.expire(this.key));
    return false;
  }

  async begin(
    messageId: string,
    message: ExecuteMessage & { readonly actor?: 'operator' | 'system' },
  ): Promise<MessageResult<S>> {
    const refusal = message.type === 'reject' ? await this.strategy.beforeRejection?.() : null;
    if (refusal) return { ok: false, refusal };
    return this.deliver(() => this.activities.begin({ ...this.key, ...message, messageId }));
  }

  private async sign(messageId: string, message: SignMessage): Promise<MessageResult<S>> {
    const vote = message.execute === true ? this.activities.voteAndBegin : this.activities.vote;
    const signed = await this.deliver(() => vote({ ...this.key, ...message, messageId }));
    if (!signed.ok) return signed;
    const type: Decision = decisionOfVote(message.type);
    // Not begun with the vote: a rejection, a repeated vote, an execution that is resumed, or votes that cannot be verified
    // now. One that was blocked with the vote is ready too: it is known by the id of this message.
    if (message.execute !== true || !signed.state.ready.includes(type)) return signed;
    const { requestId } = message;
    const started = await this.begin(executionMessageId(messageId), { type, requestId });
    // The signature is recorded whatever else happened meanwhile; an execution that lost a race does not make it fail.
    return started.ok ? started : signed;
  }

  private async execute(messageId: string, message: ExecuteMessage): Promise<MessageResult<S>> {
    const { type, requestId } = message;
    // What another part does before a rejection, it does for nobody whose credential has ended.
    if (type === 'reject' && this.strategy.beforeRejection && requestId !== undefined) {
      const refusal = await this.activities.authority({ ...this.key, messageId, requestId });
      if (refusal) return { ok: false, refusal };
    }
    return this.begin(messageId, message);
  }

  refresh(): Promise<void> {
    return this.update(() => this.activities.read(this.key));
  }

  /** Stores what the execution waits for. */
  reportWaiting(waiting: Waiting): Promise<void> {
    return this.update(() => this.activities.wait({ ...this.key, ...waiting }));
  }

  /** Receives messages, creates the approval, and runs it until it is closed. Null: refused. */
  async follow(): Promise<S | null> {
    let created: MessageResult<S> | undefined;
    const { cancel } = this.strategy;
    receiveMessages(approvalMessages<S>(), {
      subject: this.subject,
      parseSignMessage: this.strategy.parseSignMessage,
      state: () => this.state,
      created: () => created,
      sign: (messageId, message) => this.sign(messageId, message),
      execute: (messageId, message) => this.execute(messageId, message),
      retry: (messageId) =>
        this.begin(messageId, { type: this.current.decision ?? 'approve', actor: 'operator' }),
      refresh: () => this.refresh(),
      ...(cancel ? { cancel: (messageId) => this.deliver(() => cancel(messageId)) } : {}),
    });
    const { queues: _queues, found, ...request } = this.input;
    created = await this.activities.create({ ...request, subject: this.subject });
    if (!created.ok) {
      setCurrentDetails(`**Refused:** ${created.refusal.message}\n\nNo ${this.subject} was created.`);
      await condition(allHandlersFinished);
      return null;
    }
    this.adopt(created.state);
    if (found) {
      const { runId } = workflowInfo();
      await this.update(() => this.activities.restored({ ...this.key, found, runId }));
    }
    const ending = condition(needsNewRun);
    while (!this.current.closed) {
      await Promise.race([this.step(), ending]);
      if (needsNewRun()) await this.continueAnew();
    }
    await condition(allHandlersFinished);
    return this.current;
  }

  /** The next step, from the record; it ends as well when the record turns out to be another than was known. */
  private async step(): Promise<void> {
    const { execute, park } = this.strategy;
    this.inProgress = restartable(() => (this.current.executionStatus === 'processing' ? execute() : park()));
    await this.inProgress.ended;
  }

  /**
   * Continues in a new run with an empty history, on the current build, from the record. What is in progress is left where it is: every execution
   * goes on from any state.
   */
  private async continueAnew(): Promise<void> {
    await condition(allHandlersFinished);
    if (this.current.closed) return;
    const { requestId: _requestId, found: _found, ...input } = this.input;
    const next = makeContinueAsNewFunc<(given: typeof input) => Promise<S | null>>({
      initialVersioningBehavior: 'AUTO_UPGRADE',
    });
    await next(input);
  }
}
