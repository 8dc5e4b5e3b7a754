import { board, type RunningStack } from '../../../tools/dev/board';
import { readStackSettings } from '../../../tools/dev/settings';

const settings = readStackSettings({
  ORGWALLET_DATA_DIR: '/project/.data',
  TEMPORAL_NAMESPACE: 'my wallets',
});

const stack: RunningStack = {
  origin: 'https://localhost:8443',
  caFile: '/project/.data/tls/cert.pem',
  operationsUrl: 'http://127.0.0.1:9090',
  temporal: { address: '127.0.0.1:7233', uiUrl: 'http://127.0.0.1:8233' },
  networks: [
    {
      id: 31337,
      name: 'Local Chain 1',
      rpcUrls: ['http://127.0.0.1:8545'],
      signerRpcUrls: [],
      relayers: 1,
      nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
      confirmations: 1,
      maxFeePerGas: 1n,
    },
  ],
  hasDemo: true,
};

/** The text on the right of a label. */
const lineOf = (text: string, label: string) =>
  text
    .split('\n')
    .find((line) => line.trimStart().startsWith(`${label}  `))
    ?.trim()
    .slice(label.length)
    .trim();

describe('the board of npm start', () => {
  it('lists all addresses, with paths relative to the working folder', () => {
    const text = board(settings, stack, '/project');
    expect(text.split('\n')).toContain('orgwallet is ready');
    expect(lineOf(text, 'API')).toBe('https://localhost:8443/api/v1 (certificate: .data/tls/cert.pem)');
    expect(lineOf(text, 'Local Chain 1')).toBe('http://127.0.0.1:8545 (chain id 31337)');
    expect(lineOf(text, 'Demo credentials')).toBe('.data/demo.json');
    expect(lineOf(board(settings, stack, '/elsewhere'), 'Logs')).toBe('/project/.data/logs/');
  });

  it('links to failed workflows and to those that await signatures', () => {
    const text = board(settings, stack, '/project');
    const base = 'http://127.0.0.1:8233/namespaces/my%20wallets/workflows';
    const queryOf = (label: string) => {
      const url = new URL(lineOf(text, label) ?? '');
      expect(`${url.origin}${url.pathname}`).toBe(base);
      return url.searchParams.get('query');
    };
    expect(lineOf(text, 'Temporal UI')).toBe('http://127.0.0.1:8233');
    expect(queryOf('- failed or blocked')).toBe(
      'ExecutionStatus="Running" AND ExecutionState IN ("failed","blocked")',
    );
    expect(queryOf('- awaiting signatures')).toContain('SignatureStatus IN ("pendingInitiatorSignature"');
  });

  it('has no links without a Temporal UI', () => {
    const text = board(settings, { ...stack, temporal: { address: 'temporal:7233' } }, '/project');
    expect(lineOf(text, 'Temporal UI')).toBe('of temporal:7233');
    expect(text).not.toContain('awaiting');
  });

  it('recommends the demo if there is one', () => {
    expect(board(settings, stack, '/project')).toContain('npm run demo');
    expect(board(settings, { ...stack, hasDemo: false }, '/project')).toContain('./orgwallet doctor');
  });
});
