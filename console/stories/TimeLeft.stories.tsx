import { TimeLeft } from '../src/ui/TimeLeft.tsx';

export default { title: 'Time left' };

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

export const Days = { render: () => <TimeLeft until={inMinutes(9_000)} /> };
export const Minutes = { render: () => <TimeLeft until={inMinutes(20)} /> };
export const Over = { render: () => <TimeLeft until={inMinutes(-20)} /> };
