/** `1 approval`, `2 approvals`. */
export const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
