import { createMailer, type MailerOptions } from '../../mail/mailer';
import { type Finding, ok, warn } from './finding';

/** How long the mail server may take to let this host in, in ms. */
const LIMIT_MS = 5_000;

/** Whether the mail server takes the login of SMTP_URL. Nothing is sent. */
export async function checkMail({
  server,
  from,
}: Pick<MailerOptions, 'server' | 'from'>): Promise<Finding[]> {
  const part = 'mail';
  const target = `${server.host}:${server.port}`;
  const mailer = createMailer({ server, from, timeLimitMs: LIMIT_MS });
  try {
    await mailer.verify();
    return [ok(part, `${target} lets this host send as ${from.address}`)];
  } catch (error) {
    const todo = 'correct SMTP_URL, or see the mail server: members get no mail meanwhile';
    return [warn(part, `${target}: ${(error as Error).message}`, todo)];
  } finally {
    mailer.stop();
  }
}
