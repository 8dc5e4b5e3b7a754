import { z } from 'zod';
import { foldName } from '../domain/names';
import { MAX_METADATA } from '../domain/references';
import { descriptionInput, nameInput, noDuplicates, visibleText } from './primitives';

const MAX_TAGS = 20;
const MAX_TAG = 50;
const MAX_VALUE = 500;
const NOT_SIGNED = 'It is not signed, and no rule depends on it.';

/** The id of a transaction in the records of whoever requests it. */
export const externalIdInput = visibleText({
  id: 'ExternalId',
  description: `Your own id of the transaction. Unique in the organization, for ever. ${NOT_SIGNED}`,
  examples: ['invoice-2025-0042'],
});

const metadataKey = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9._-]{0,39}$/,
    'must be a letter and up to 39 letters, digits, dots, hyphens and underscores',
  );

const metadataValue = descriptionInput.max(MAX_VALUE).meta({
  id: 'MetadataValue',
  description: `0 to ${MAX_VALUE} characters. No control characters.`,
  maxLength: MAX_VALUE,
});

/** Pairs of texts that belong to a transaction, in a request. */
export const metadataInput = z
  .record(metadataKey, metadataValue)
  .check(({ value, issues }) => {
    const { pairs, bytes } = MAX_METADATA;
    const add = (message: string) => issues.push({ code: 'custom', message, input: value });
    if (Object.keys(value).length > pairs) add(`must have at most ${pairs} pairs`);
    if (new TextEncoder().encode(JSON.stringify(value)).length > bytes)
      add(`must have at most ${bytes} bytes as JSON`);
  })
  .meta({
    id: 'Metadata',
    description: `Up to ${MAX_METADATA.pairs} pairs of texts, together at most ${MAX_METADATA.bytes} bytes of JSON. ${NOT_SIGNED}`,
    maxProperties: MAX_METADATA.pairs,
    examples: [{ costCenter: '4711' }],
  });

/** A word that transactions are grouped by. */
const tagInput = nameInput.max(MAX_TAG).meta({
  id: 'Tag',
  description: `1 to ${MAX_TAG} characters, as of a name. Tags that differ only in case are the same.`,
  maxLength: MAX_TAG,
  examples: ['payroll'],
});

/** Tags in a request. */
export const tagsInput = z
  .array(tagInput)
  .max(MAX_TAGS)
  .check(noDuplicates(foldName))
  .meta({ uniqueItems: true, description: `Up to ${MAX_TAGS}. ${NOT_SIGNED}` });

/** A tag in a query. */
export const tagQuery = tagInput;

/** The references of a transaction in a response. */
export const references = {
  externalId: z
    .string()
    .optional()
    .meta({ description: `Your own id of it; absent where it was given none. ${NOT_SIGNED}` }),
  metadata: z.record(z.string(), z.string()).meta({ description: `Pairs of texts. ${NOT_SIGNED}` }),
  tags: z.array(z.string()).meta({ description: NOT_SIGNED }),
};
