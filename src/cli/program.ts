import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config';
import { auditCommands } from './audit';
import { databaseCommands } from './database';
import { doctorCommand } from './doctor';
import { keyCommands } from './keys';
import { keystoreCommands } from './keystore';
import { organizationCommands } from './organizations';
import { CommandRefused } from './output';
import { proposalCommands } from './proposals';

const REFUSED = 1;
const WRONG_USE = 2;

/** The operator's commands, without running one. */
export function createProgram(): Command {
  const program = new Command('orgwallet')
    .description('Commands for whoever runs an orgwallet deployment')
    .option('--json', 'print one JSON document')
    .exitOverride()
    .showHelpAfterError('(add --help for what is possible)');
  organizationCommands(program);
  keyCommands(program);
  keystoreCommands(program);
  proposalCommands(program);
  auditCommands(program);
  databaseCommands(program);
  doctorCommand(program);
  allowJsonEverywhere(program);
  return program;
}

/** Lets `--json` stand behind the command as well as before it. */
function allowJsonEverywhere(command: Command): void {
  for (const child of command.commands) {
    child.exitOverride();
    if (child.commands.length === 0) child.option('--json', 'print one JSON document');
    allowJsonEverywhere(child);
  }
}

/** Runs one command line; returns the exit status: 0, 1 (refused) or 2 (wrong use). */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USE;
    const known = error instanceof CommandRefused || error instanceof ConfigError;
    const { message, stack } = error as Error;
    process.stderr.write(`${known ? message : explain(message, stack)}\n`);
    return REFUSED;
  }
}

/** What to say of an error that no command expected: a part that is away says so itself. */
function explain(message: string, stack: string | undefined): string {
  if (/ECONNREFUSED|ETIMEDOUT|Knex: Timeout|terminated/.test(message)) {
    return `the database cannot be reached: ${message}`;
  }
  if (/relation .* does not exist/.test(message)) return `${message}: run \`npx orgwallet db migrate\` first`;
  return stack ?? message;
}
