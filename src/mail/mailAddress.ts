import { z } from 'zod';

/** Longest address. Source: RFC 5321, section 4.5.3.1.3, without the angle brackets. */
const MAX_LENGTH = 254;

/**
 * An address of mail: no quoted local part, comment, group or list, which parsers read in several ways, and no character that
 * could end a header.
 */
const mailAddress = z.email('must be one address such as ada@example.com').max(MAX_LENGTH);

/** Who mail comes from. */
export interface MailSender {
  readonly name: string;
  readonly address: string;
}

/** Reads `Acme wallets <wallet@example.com>`, or an address alone; undefined where it is neither. */
export function readMailSender(text: string): MailSender | undefined {
  const [, name = '', address = text.trim()] =
    /^([^<>"\\\p{Cc}]{1,100}) <([^<>]*)>$/u.exec(text.trim()) ?? [];
  return mailAddress.safeParse(address).success ? { name, address } : undefined;
}
