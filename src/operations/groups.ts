import { z } from 'zod';
import type { MemberSummary } from '../domain/approval';
import type { GroupState } from '../domain/governance';
import { idOf, memberSummary as memberSummarySchema, revision } from '../domain/schemas';
import { listLine, quotedName } from '../domain/summary';
import { describeMembers } from './members';
import { counted, dataSummary, operationSummary } from './words';

/** Groups in the data of a proposal: as they will be, or as they were. */
export const groupsData = z
  .object({
    items: z.array(
      z
        .object({ id: idOf('grp'), revision, name: z.string(), members: z.array(memberSummarySchema) })
        .meta({ id: 'ProposedGroup', description: 'A group in a proposal.' }),
    ),
  })
  .meta({ id: 'GroupsData' });

/** An unambiguous description of a group: `"Traders" (grp_…)`. */
export function describeGroup({ id, name }: Pick<GroupState, 'id' | 'name'>): string {
  return `${quotedName(name)} (${id})`;
}

/** A group in a summary: what is said of it in a line, and its members as text, each with the verb of what happens to it. */
export interface DescribedGroup {
  readonly line: string;
  readonly members: readonly { readonly verb: string; readonly texts: readonly string[] }[];
}

/** A group with the members that it has. */
export function withMembers(described: string, members: readonly MemberSummary[]): DescribedGroup {
  return {
    line: `${described} ${members.length === 0 ? 'without members' : `with ${counted(members.length, 'member')}`}`,
    members: [{ verb: 'With', texts: describeMembers(members) }],
  };
}

/** The summary of an operation on groups: of one group a line for each of its members, of several as many as fit on one. */
export function groupsSummary(verb: string, groups: readonly DescribedGroup[]): string {
  const [first, ...others] = groups;
  if (first && others.length === 0) {
    const members = first.members.flatMap((of) => of.texts.map((text) => `${of.verb} ${text}`));
    return dataSummary(`${verb} group ${first.line}`, members);
  }
  const things = groups.map(({ line, members }): [string, ...string[]] => [
    line,
    ...members.filter(({ texts }) => texts.length > 0).map((of) => listLine(`${of.verb} `, of.texts)),
  ]);
  return operationSummary(verb, 'group', things);
}
