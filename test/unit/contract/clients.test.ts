/** @deep */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations, sessionOperations } from '../../support/document';
import { itDeep } from '../../support/suite';

const ROOT = join(__dirname, '../../..');
/** Programs of their own, on a machine that may be busy. */
const LIMIT_MS = 120_000;
/** Of the types, schemas included: they grow with the interface, and with nothing else. */
const LINES_PER_ENDPOINT = 85;

function run(program: string, ...args: string[]): string {
  return execFileSync(process.execPath, [join(ROOT, program), ...args], { cwd: ROOT, encoding: 'utf8' });
}

/** Code of a client: each line compiles only if the type of the response or request is as exact as it can be. */
const CLIENT = `
import type { components, paths } from './api';

type Schema = components['schemas'];

export function nameOrId(proposal: Schema['AccountsProposal']): string | undefined {
  return proposal.action === 'create' ? proposal.data.items[0]?.name : proposal.data.items[0]?.id;
}
export function threshold(proposal: Schema['Proposal']): number {
  return proposal.resourceType === 'admins' ? proposal.data.threshold : proposal.threshold;
}
export function token(policy: Schema['Policy']): string | null {
  return policy.transactionType === 'TOKEN_TRANSFER' ? policy.tokenTransferCondition.tokenAddress : null;
}
export function approvals(setting: Schema['ApproverSetting']): number {
  return setting.type === 'group' ? setting.threshold : 1;
}
export const status: Schema['SignatureStatus'] = 'approvalReady';
export const policy: Schema['AddedPolicy'] = {
  name: 'Everything',
  type: 'AUTO_APPROVAL',
  transactionType: 'ANY',
  networkId: 1,
  accountIds: null,
  initiatorSetting: { type: 'group', groupId: 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz' },
};
export const request: paths['/policies/proposals/add']['post']['requestBody']['content']['application/json'] = {
  policies: [policy],
};
// @ts-expect-error: a vote is approve or reject
export const vote: Schema['VoteType'] = 'yes';
// @ts-expect-error: accountIds may be null, but never absent
export const wide: Schema['AddedPolicy'] = { ...policy, accountIds: undefined };
`;

describe('the OpenAPI document for client developers', () => {
  itDeep(
    'has no problem that Redocly or Spectral reports',
    () => {
      const problems = JSON.parse(run('test/support/lintOpenApi.mjs', 'openapi.json'));
      expect(problems).toEqual({ redocly: [], spectral: [] });
    },
    LIMIT_MS,
  );

  it(
    `gives TypeScript types of at most ${LINES_PER_ENDPOINT} lines for each endpoint that compile in strict mode`,
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'orgwallet-types-'));
      try {
        const types = join(folder, 'api.ts');
        const generate = ['node_modules/openapi-typescript/bin/cli.js', 'openapi.json'] as const;
        // What has a default may be absent from a request.
        run(...generate, '--default-non-nullable=false', '--output', types);
        const generated = readFileSync(types, 'utf8');
        const most = LINES_PER_ENDPOINT * (operations.length + sessionOperations.length);
        expect(generated.split('\n').length).toBeLessThanOrEqual(most);
        // The build writes the types of the client, with a first line of its own; this program, its comment.
        const [, ...built] = readFileSync(join(ROOT, 'client/src/openapi.ts'), 'utf8').split('\n');
        expect(generated.endsWith(`*/\n\n${built.join('\n')}`)).toBe(true);
        writeFileSync(join(folder, 'client.ts'), CLIENT);
        const compilerOptions = {
          noEmit: true,
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          skipLibCheck: true,
          target: 'es2022',
          lib: ['es2022'],
          module: 'preserve',
          types: [],
        };
        const project = join(folder, 'tsconfig.json');
        writeFileSync(project, JSON.stringify({ compilerOptions, files: ['client.ts'] }));
        expect(run('node_modules/.bin/tsc', '--project', project)).toBe('');
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    LIMIT_MS,
  );
});
