// Prints as JSON what Redocly (recommended rules) and Spectral (OpenAPI rules) report about an OpenAPI document. A program
// of its own, because one of them is an ES module and both are large.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { lint, loadConfig } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

const file = resolve(process.argv[2]);

/** Without what `.redocly.lint-ignore.yaml` in the working directory names. */
async function redocly() {
  const config = await loadConfig();
  const problems = await lint({ ref: file, config });
  return problems
    .filter(({ ignored }) => !ignored)
    .map(
      ({ severity, ruleId, message, location }) =>
        `${severity} ${ruleId}: ${message} (${location[0]?.pointer})`,
    );
}

async function spectral() {
  const linter = new spectralCore.Spectral();
  linter.setRuleset({ extends: [rulesets.oas] });
  const document = new spectralCore.Document(readFileSync(file, 'utf8'), parsers.Json, file);
  const problems = await linter.run(document);
  return problems.map(
    ({ severity, code, message, path }) => `${severity} ${code}: ${message} (${path.join('/')})`,
  );
}

console.log(JSON.stringify({ redocly: await redocly(), spectral: await spectral() }));
