import { readFileSync } from 'node:fs';
import { CommandRefused } from './output';
import { fileProblem } from './problems';

/** Reads a file that a command was given. Throws CommandRefused that names it. */
export function readInputFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandRefused(`${file}: ${fileProblem(code) ?? message}`);
  }
}
