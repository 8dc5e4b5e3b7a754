import { relative } from 'node:path';
import { workflowListLink } from '../../src/cli/workflowLink';
import type { NetworkConfig } from '../../src/config';
import { OPERATOR_QUERIES } from '../../src/temporal/searchAttributes';
import { dataFiles, type StackSettings } from './settings';

/** The started parts and their addresses. */
export interface RunningStack {
  readonly origin: string;
  readonly caFile: string;
  readonly operationsUrl: string;
  readonly temporal: { readonly address: string; readonly uiUrl?: string | undefined };
  readonly networks: readonly NetworkConfig[];
  /** True when demo.json has been written. */
  readonly hasDemo: boolean;
}

type Line = readonly [label: string, text: string];

function temporalLines({ temporal }: RunningStack, namespace: string): Line[] {
  const { address, uiUrl } = temporal;
  if (!uiUrl) return [['Temporal UI', `of ${address}`]];
  const list = (query: string) => workflowListLink({ uiUrl, namespace }, query);
  return [
    ['Temporal UI', uiUrl],
    ['- failed or blocked', list(OPERATOR_QUERIES.failedOrBlocked)],
    ['- in progress', list(OPERATOR_QUERIES.inProgress)],
    ['- waiting for funds', list(OPERATOR_QUERIES.awaitingFunds)],
    ['- awaiting signatures', list(OPERATOR_QUERIES.awaitingSignatures)],
  ];
}

/** The last lines of a start: the addresses of all parts, and the next step. Paths are relative to `workingDir`. */
export function board(settings: StackSettings, stack: RunningStack, workingDir: string): string {
  const { origin, caFile, operationsUrl, networks, hasDemo } = stack;
  const files = dataFiles(settings.dataDir);
  const fromHere = relative(workingDir, settings.dataDir);
  const dataDir = fromHere.startsWith('..') ? settings.dataDir : fromHere;
  const lines: Line[] = [
    ['API', `${origin}/api/v1 (certificate: ${caFile})`],
    ['Documentation', `${origin}/docs`],
    ['Console', `${origin}/${hasDemo ? ' (sign in with a demo wallet)' : ''}`],
    ...temporalLines(stack, settings.temporalNamespace),
    ...networks.map(({ id, name, rpcUrls }): Line => [name, `${rpcUrls.join(', ')} (chain id ${id})`]),
    ['Operations', `${operationsUrl}/statusz, /readyz, /healthz, /metrics`],
    ...(hasDemo ? [['Demo credentials', files.demo] as const] : []),
    ['Logs', `${files.logs}/`],
    ['Stop', 'Ctrl-C'],
  ];
  const width = Math.max(...lines.map(([label]) => label.length)) + 2;
  const shown = lines.map(
    ([label, text]) => `  ${label.padEnd(width)}${text.replace(`${settings.dataDir}/`, `${dataDir}/`)}`,
  );
  const next = hasDemo ? 'npm run demo' : './orgwallet doctor';
  return ['', 'orgwallet is ready', '', ...shown, '', `  Next, in another terminal: ${next}`, '', ''].join(
    '\n',
  );
}
