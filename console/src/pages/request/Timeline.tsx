import { useQuery } from '@tanstack/react-query';
import { eventsQuery } from '../../api/queries.ts';
import { dateTimeZone } from '../../text/time.ts';
import { timelineOf } from '../../text/timeline.ts';
import { classes } from '../../ui/classes.ts';
import { Section } from '../../ui/Page.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Loaded } from '../../ui/States.tsx';
import requestStyles from './request.module.css';

/** What happened to a request, from its creation on, as the audit log has it. */
export function Timeline({ id }: { readonly id: string }) {
  const query = useQuery(eventsQuery(id));
  return (
    <Section title="Timeline" id="timeline">
      <div className="card">
        <Loaded query={query} what="the timeline">
          {(entries) => (
            <ol className={requestStyles.timeline}>
              {timelineOf(id, entries).map((event) => (
                <li
                  key={event.id}
                  className={classes(requestStyles.timelineEvent, requestStyles[event.tone])}
                >
                  <p>
                    {event.text}
                    {event.transactionHash ? (
                      <>
                        {' '}
                        <ShortText text={event.transactionHash} of="transaction hash" />
                      </>
                    ) : null}
                  </p>
                  {event.reason ? <p className={requestStyles.timelineReason}>{event.reason}</p> : null}
                  <time dateTime={event.at} className="small muted">
                    {dateTimeZone(event.at)}
                  </time>
                </li>
              ))}
            </ol>
          )}
        </Loaded>
      </div>
    </Section>
  );
}
