import { checkMail } from '../../../src/cli/doctor/mailChecks';
import { startMailServer } from '../../support/mailServer';

const from = { name: '', address: 'wallet@example.com' };
const at = (port: number, login?: { user: string; pass: string }) => ({
  from,
  server: { host: '127.0.0.1', port, secure: false, requireTls: false, ...(login ? { login } : {}) },
});

describe('doctor and the mail server', () => {
  it('says that it can be used, and sends nothing', async () => {
    const { port, mails, stop } = await startMailServer();
    expect(await checkMail(at(port))).toMatchObject([{ part: 'mail', status: 'ok' }]);
    expect(mails).toEqual([]);
    await stop();
  });

  it('says why it cannot be used, without the password', async () => {
    const { port, stop } = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_, __, callback) => callback(new Error('not this one')),
    });
    const [refused] = await checkMail(at(port, { user: 'wallet', pass: 'hunter2' }));
    expect(refused).toMatchObject({ status: 'warn', found: expect.stringMatching(/535/) });
    expect(JSON.stringify(refused)).not.toContain('hunter2');
    await stop();
    expect(await checkMail(at(port))).toMatchObject([
      { status: 'warn', found: expect.stringMatching(/ECONNREFUSED/) },
    ]);
  });
});
