let armed: { readonly name: string; left: number } | undefined;

/**
 * Arms a failpoint, at which this process kills itself: `name`, or `name#3` for the third time it is reached; with `@SIGUSR2`
 * at the end, from that signal on. For tests.
 */
export function armFailpoint(setting: string | undefined): void {
  const [point = '', signal] = setting?.split('@') ?? [];
  const [name = '', times = '1'] = point.split('#');
  const left = Number(times);
  armed = name === '' ? undefined : { name, left: signal === undefined ? left : Number.POSITIVE_INFINITY };
  if (signal !== undefined) process.once('SIGUSR2', () => armFailpoint(point));
}

/** A failpoint. The process kills itself here, as by kill -9, when TEST_FAILPOINT names it. */
export function failpoint(name: string): void {
  if (armed?.name !== name) return;
  armed.left -= 1;
  if (armed.left === 0) process.kill(process.pid, 'SIGKILL');
}

/**
 * Activities with a failpoint before each of them (`part.name:before`: nothing is written yet) and one after it
 * (`part.name:after`: its transaction is committed and the result not yet reported; one that goes on without its slot
 * reaches it at its end). The same object when no failpoint is armed.
 */
export function withFailpoints<T extends object>(part: string, activities: T): T {
  if (armed === undefined) return activities;
  const wrapped = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: unknown[]) => {
      failpoint(`${part}.${name}:before`);
      const result = await activity(...args);
      failpoint(`${part}.${name}:after`);
      return result;
    },
  ]);
  return Object.fromEntries(wrapped);
}
