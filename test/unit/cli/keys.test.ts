import { keyState } from '../../../src/cli/keyCommands';
import { workflowLink } from '../../../src/cli/workflowLink';

describe('the state of a key', () => {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const before = new Date('2025-12-31T00:00:00.000Z');
  const after = new Date('2026-01-02T00:00:00.000Z');

  it('is one word and its time', () => {
    expect(keyState({ expiresAt: null, revokedAt: null }, now)).toBe('valid');
    expect(keyState({ expiresAt: after, revokedAt: null }, now)).toBe('expires 2026-01-02T00:00:00.000Z');
    expect(keyState({ expiresAt: now, revokedAt: null }, now)).toBe('expired 2026-01-01T00:00:00.000Z');
    expect(keyState({ expiresAt: after, revokedAt: before }, now)).toBe('revoked 2025-12-31T00:00:00.000Z');
  });
});

describe('the link to a workflow', () => {
  it('has the namespace and the id as one part of the path each', () => {
    expect(workflowLink({ uiUrl: 'http://ui:8233/', namespace: 'a b' }, 'org_1/accounts/prop_1')).toBe(
      'http://ui:8233/namespaces/a%20b/workflows/org_1%2Faccounts%2Fprop_1',
    );
  });

  it('is null where no UI is known', () => {
    expect(workflowLink({ namespace: 'default' }, 'x')).toBeNull();
    expect(workflowLink({ uiUrl: null, namespace: 'default' }, 'x')).toBeNull();
  });
});
