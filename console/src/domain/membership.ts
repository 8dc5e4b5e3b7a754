/** Who joins and who leaves, so that the members are these. */
export function membershipUpdates(before: readonly string[], after: readonly string[]) {
  return [
    ...after.filter((id) => !before.includes(id)).map((id) => ({ action: 'addMember' as const, id })),
    ...before.filter((id) => !after.includes(id)).map((id) => ({ action: 'removeMember' as const, id })),
  ];
}
