#!/usr/bin/env node
import { runProgram } from './program';

const LEAVE_AFTER_MS = 2_000;

// A reader that closes the pipe early, such as head, is not an error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit());

void runProgram(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
  // A connection that does not close must not delay the exit.
  setTimeout(() => process.exit(status), LEAVE_AFTER_MS).unref();
});
