import { useEffect, useState } from 'react';
import { dateTime, dateTimeZone, duration } from '../text/time.ts';
import styles from './time-left.module.css';

const HOUR_MS = 3_600_000;

/** The time, every second close to a deadline and every half minute before. */
export function useNow(until: number): number {
  const [now, setNow] = useState(() => Date.now());
  const isClose = until - now < HOUR_MS;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), isClose ? 1_000 : 30_000);
    return () => clearInterval(timer);
  }, [isClose]);
  return now;
}

/** How long something can still be signed. */
export function TimeLeft({ until }: { readonly until: string }) {
  const deadline = Date.parse(until);
  const now = useNow(deadline);
  if (now >= deadline) return <time dateTime={until}>expired {dateTime(until)}</time>;
  return (
    <time
      dateTime={until}
      title={dateTimeZone(until)}
      className={deadline - now < HOUR_MS ? styles.timeClose : undefined}
    >
      {duration(deadline - now)} left
    </time>
  );
}
