import { z } from 'zod';
import { checksumAddress, isWellFormedAddress, isZeroAddress } from '../chain/address';
import { describeIssue, fieldIssues } from '../contract/issues';
import { nameInput } from '../contract/primitives';
import { refuseWellKnownKey } from '../domain/wellKnownKeys';
import type { NewOrganization } from '../organizations/organization';
import { readInputFile } from './inputFile';
import { CommandRefused } from './output';

const organizationFile = z.strictObject({
  name: nameInput,
  threshold: z.int().min(1),
  members: z
    .array(
      z.strictObject({
        name: nameInput,
        type: z.enum(['user', 'api']),
        walletAddress: z
          .string()
          .refine(
            isWellFormedAddress,
            'must be an address: 0x and 40 hex digits, in one case or with a right checksum',
          )
          .refine((text) => !isZeroAddress(text), 'must not be the zero address')
          .transform(checksumAddress),
        walletKind: z.enum(['key', 'contract']).default('key'),
        admin: z.boolean(),
      }),
    )
    .min(1),
  onChain: z.boolean().default(true),
});

/** Where an org.json is read. In production no member has a wallet with a well-known key. */
interface Reading {
  readonly production: boolean;
}

/** Parses the content of an org.json. Throws CommandRefused that names every bad field by its path. */
export function parseOrganization(file: string, text: string, { production }: Reading): NewOrganization {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CommandRefused(`${file}: invalid JSON: ${(error as Error).message}`);
  }
  const parsed = organizationFile.safeParse(json, { error: describeIssue });
  if (parsed.success) {
    const { members } = parsed.data;
    const demo = production && refuseWellKnownKey(members, (i) => `members[${i}].walletAddress`);
    if (demo) throw new CommandRefused(`${file}: ${demo.refusal.field}: ${demo.refusal.message}`);
    return parsed.data;
  }
  throw new CommandRefused(
    fieldIssues(parsed.error)
      .map(({ field, message }) => `${file}: ${field === 'body' ? 'the file' : field}: ${message}`)
      .join('\n'),
  );
}

/** Reads an org.json. Throws CommandRefused when it cannot be read or does not fit. */
export function readOrganizationFile(file: string, reading: Reading): NewOrganization {
  return parseOrganization(file, readInputFile(file), reading);
}

const organizationKeys = z.strictObject({
  organizationId: z.string().regex(/^org_[0-9a-z]{26}$/),
  signingKey: z.string().refine(isWellFormedAddress, 'must be an address').transform(checksumAddress),
  sealKey: z.string().refine(isWellFormedAddress, 'must be an address').transform(checksumAddress),
});

/** Reads what `signer keys` has printed. Throws CommandRefused when it cannot be read or does not fit. */
export function readOrganizationKeys(file: string): z.output<typeof organizationKeys> {
  const text = readInputFile(file);
  try {
    return organizationKeys.parse(JSON.parse(text));
  } catch (error) {
    throw new CommandRefused(
      `${file}: not the output of \`orgwallet signer keys\`: ${(error as Error).message}`,
    );
  }
}
