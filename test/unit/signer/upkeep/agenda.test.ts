import pino from 'pino';
import { createMetrics } from '../../../../src/metrics';
import { UpkeepAgenda } from '../../../../src/signer/upkeep/agenda';

const NETWORK = { id: 1 };
const organizationId = 'org_1';

let agenda: UpkeepAgenda;

beforeEach(() => {
  jest.useFakeTimers();
  agenda = new UpkeepAgenda(pino({ level: 'silent' }));
});
afterEach(() => jest.useRealTimers());

describe("what is known of the admins' Safes", () => {
  it('is looked at when it is due, and at once after a seal, on every network', () => {
    agenda.postpone(1, organizationId, 60_000);
    agenda.postpone(10, `safe/${organizationId}`, 60_000);
    agenda.postpone(1, 'org_2', 60_000);
    expect(agenda.isDue(1, organizationId)).toBe(false);
    agenda.wake(organizationId);
    expect([agenda.isDue(1, organizationId), agenda.isDue(10, `safe/${organizationId}`)]).toEqual([
      true,
      true,
    ]);
    expect(agenda.isDue(1, 'org_2')).toBe(false);
    jest.advanceTimersByTime(60_000);
    expect(agenda.isDue(1, 'org_2')).toBe(true);
    expect([agenda.wakesOf(organizationId), agenda.wakesOf('org_2')]).toEqual([1, 0]);
  });

  it('counts waiting and failures by its own clock, failures of an hour', () => {
    expect(agenda.waitedMs({ id: 7n })).toBe(0);
    agenda.noteFailure('0x1', '0xa');
    jest.advanceTimersByTime(1_800_000);
    agenda.noteFailure('0x1', '0xb');
    expect([agenda.waitedMs({ id: 7n }), agenda.failuresOf('0x1')]).toEqual([1_800_000, 2]);
    jest.advanceTimersByTime(1_800_001);
    expect(agenda.failuresOf('0x1')).toBe(1);
  });

  it('counts an envelope that failed once, however often its row is set back', () => {
    for (let times = 0; times < 9; times += 1) agenda.noteFailure('0x1', '0xa');
    expect(agenda.failuresOf('0x1')).toBe(1);
    agenda.noteSettled('0x1', true);
    expect([agenda.failuresOf('0x1'), agenda.isSettled('0x1')]).toEqual([0, true]);
    agenda.noteSettled('0x1', false);
    expect(agenda.isSettled('0x1')).toBe(false);
  });

  it('is exported: statuses, for how long one is behind, and what was taken over', async () => {
    agenda.noteStatus(organizationId, NETWORK, { status: 'behind', reason: null });
    agenda.noteStatus('org_2', NETWORK, { status: 'current', reason: null });
    agenda.note(1, 'acc_1', { rescue: 'takenOver', isPossible: true });
    agenda.note(1, 'acc_2', { rescue: 'ready', isPossible: true });
    agenda.note(1, 'acc_3', { rescue: 'none', isPossible: true });
    agenda.note(1, 'acc_4', { rescue: 'none', isPossible: false });
    jest.advanceTimersByTime(90_000);
    agenda.noteStatus(organizationId, NETWORK, { status: 'behind', reason: null });
    const metrics = createMetrics(['signer']);
    metrics.watchUpkeep(agenda);
    const text = await metrics.registry.metrics();
    expect(text).toContain('orgwallet_admins_safes{network="1",status="behind"} 1');
    expect(text).toContain('orgwallet_admins_safes{network="1",status="current"} 1');
    expect(text).toContain('orgwallet_admins_safe_behind_seconds{network="1"} 90');
    expect(text).toContain('orgwallet_accounts_taken_over{network="1"} 1');
    expect(text).toContain('orgwallet_accounts_unsecured{network="1"} 1');
    expect(agenda.isTakenOver(1, 'acc_1')).toBe(true);
  });
});
