#!/usr/bin/env node
// `npx orgwallet`: builds the project if needed, then runs the operator commands.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';

try {
  await bootstrap((line) => process.stderr.write(`${line}\n`));
  createRequire(import.meta.url)(join(projectDir, 'dist', 'src', 'cli', 'main.js'));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
