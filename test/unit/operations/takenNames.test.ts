import type { Edit, OrganizationState } from '../../../src/domain/governance';
import { refuseTakenName } from '../../../src/operations/takenNames';

const group = (id: string, name: string) => ({ id, name, memberIds: [], revision: 1 });
const state = {
  members: {},
  policies: {},
  accounts: {},
  groups: { grp_1: group('grp_1', 'Traders'), grp_2: group('grp_2', 'Auditors') },
} as unknown as OrganizationState;
const edit = (id: string, name: string | null): Edit => ({
  type: 'group',
  id,
  after: name === null ? null : { id, name, memberIds: [] },
});
const refused = (...edits: Edit[]) => refuseTakenName(state, 'groups', edits);

it('names the item whose name another resource has', () => {
  expect(refused(edit('grp_3', 'New'), edit('grp_4', 'TRADERS'))).toMatchObject({
    refusal: { code: 'conflict', field: 'items[1].name', message: '"TRADERS" is the name of group grp_1' },
  });
});

it('names the second of two items with one name', () => {
  expect(refused(edit('grp_3', 'New'), edit('grp_4', 'new'))).toMatchObject({
    refusal: { field: 'items[1].name', message: '"new" is the name of items[0]' },
  });
});

it('permits a name that its holder gives up in the same request, or keeps', () => {
  expect(refused(edit('grp_1', 'Auditors'), edit('grp_2', 'Traders'))).toBeUndefined();
  expect(refused(edit('grp_1', 'traders'))).toBeUndefined();
  expect(refused(edit('grp_1', null), edit('grp_3', 'Traders'))).toBeUndefined();
});
