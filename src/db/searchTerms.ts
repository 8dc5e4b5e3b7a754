import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { foldName } from '../domain/names';
import type { Db, Tx } from './database';

/** Longer words are cut: nobody types them whole. */
const MAX_WORD = 64;
/** How much of an id keeps the terms of one organization apart from those of others in the index. */
const SCOPE = 10;

/** The words of a text, as searches compare them: lower case, letters and digits only, each once. */
function wordsOf(text: string): readonly string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => [...word].slice(0, MAX_WORD).join('')))];
}

/** Something that a request has to do with: a search finds it by this as a whole, and no word is like it. */
export type Tag = `${'to' | 'asset' | 'account' | 'policy' | 'member' | 'network' | 'tag'}:${string}`;

/** Whether a record that a proposal names is something that it is found by. */
export function isTag(name: string): name is Tag {
  return /^(account|policy|member|network):/.test(name);
}

/** The term of a tag that somebody gave, the same whatever its case: a digest, as a term has at most 2,046 bytes in Postgres. */
export function tagTerm(tag: string): Tag {
  return `tag:${createHash('sha256').update(foldName(tag)).digest('hex')}`;
}

const scoped = (organizationId: string, term: string) => `${organizationId.slice(-SCOPE)}/${term}`;

/** Without `'` and `\`, which no word, id and address has. */
const lexeme = (organizationId: string, term: string) =>
  `'${scoped(organizationId, term).replaceAll(/['\\]/g, '')}'`;

/** What a request is found by: the value of its column `terms`. */
export function storedTerms(
  db: Db | Tx,
  organizationId: string,
  { texts, tags = [] }: { readonly texts: readonly string[]; readonly tags?: readonly Tag[] },
): Knex.Raw {
  const terms = [...wordsOf(texts.join(' ')), ...tags];
  return db.raw('array_to_tsvector(?::text[])', [terms.map((term) => scoped(organizationId, term))]);
}

/** A condition with the values of its placeholders. */
export type SearchCondition = readonly [sql: string, values: readonly Knex.Value[]];

/** That something of the alias `alias` has a tag. */
export function hasTag(alias: string, organizationId: string, tag: Tag): SearchCondition {
  return [`${alias}.terms @@ ?::tsquery`, [lexeme(organizationId, tag)]];
}

/** The tags of whatever is called so now, one a row. */
const NAMED = `SELECT 'member:' || id AS tag FROM members WHERE organization_id = ? AND strpos(lower(name), lower(?)) > 0
  UNION ALL SELECT 'to:' || lower(wallet_address) FROM members
    WHERE organization_id = ? AND removed_at IS NULL AND strpos(lower(name), lower(?)) > 0
  UNION ALL SELECT unnest(ARRAY['account:' || id, 'to:' || lower(address)]) FROM accounts
    WHERE organization_id = ? AND strpos(lower(name), lower(?)) > 0
  UNION ALL SELECT 'policy:' || id FROM policies WHERE organization_id = ? AND strpos(lower(name), lower(?)) > 0`;

/**
 * That something of the alias `alias` has words that begin with those of a text, each of them; or has to do with a member,
 * account or policy whose name contains the text.
 */
export function hasText(alias: string, organizationId: string, text: string): SearchCondition {
  const words = wordsOf(text)
    .map((word) => `${lexeme(organizationId, word)}:*`)
    .join(' & ');
  const named = Array.from({ length: 4 }, () => [organizationId, text]).flat();
  return [
    `${alias}.terms @@ (SELECT coalesce(?::tsquery || string_agg(quote_literal(? || named.tag), ' | ')::tsquery, ?::tsquery)
      FROM (${NAMED}) AS named)`,
    [words, scoped(organizationId, ''), words, ...named],
  ];
}
