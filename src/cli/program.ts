import { Command, CommanderError } from 'commander';
import { versionText } from '../version';
import { auditCommands } from './auditCommands';
import { createWithin } from './commandContext';
import { databaseCommands } from './databaseCommands';
import { channelCommands, webhookCommands } from './destinationCommands';
import { doctorCommand } from './doctor';
import { freezeCommands } from './freeze';
import { keyCommands } from './keyCommands';
import { keystoreCommands } from './keystoreCommands';
import { organizationCommands } from './organizationCommands';
import { processTerminal, type Terminal } from './output';
import { exitStatus, isExpected, problemText } from './problems';
import { proposalCommands } from './proposalCommands';
import { rescueCommands } from './rescueCommands';
import { sessionCommands } from './sessionCommands';
import { signerCommands } from './signerCommands';
import { statementCommand } from './statementCommand';
import { printable } from './text';
import { transactionCommands } from './transactionCommands';
import { verifyCommand } from './verify';

const AFTER_HELP = `
Settings come from the environment, then from a stack that \`npm start\` runs (ORGWALLET_DATA_DIR).
Results go to stdout, errors to stderr. Exit status: 0, 1 (refused, or a check failed), 2 (wrong use).`;

/** Accepts `--json` after the command as well as before it. */
function allowJsonEverywhere(command: Command): void {
  for (const child of command.commands) {
    if (child.commands.length === 0) child.option('--json', 'print one JSON document');
    allowJsonEverywhere(child);
  }
}

/** Creates the operator commands. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('orgwallet')
    .description('Operator commands of an orgwallet installation')
    .version(versionText())
    .option('--json', 'print one JSON document')
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('(add --help for usage)');
  const within = createWithin(terminal);
  organizationCommands(program, within);
  keyCommands(program, within);
  sessionCommands(program, within);
  keystoreCommands(program, within);
  signerCommands(program, within);
  freezeCommands(program, within);
  proposalCommands(program, within);
  transactionCommands(program, within);
  webhookCommands(program, within);
  channelCommands(program, within);
  statementCommand(program, within);
  verifyCommand(program, within);
  auditCommands(program, within);
  rescueCommands(program, within);
  databaseCommands(program, within);
  doctorCommand(program, within);
  allowJsonEverywhere(program);
  return program;
}

/** Runs one command line; returns the exit status: 0, 1 (refused) or 2 (wrong use). Never rejects. */
export async function runProgram(
  argv: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  try {
    await createProgram(terminal).parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed what it refuses.
    if (!(error instanceof CommanderError)) {
      const text = problemText(error);
      const isExplained = isExpected(error) || text !== (error as Error).message;
      terminal.err(`${printable(isExplained ? text : ((error as Error).stack ?? text))}\n`);
    }
    return exitStatus(error);
  }
}
