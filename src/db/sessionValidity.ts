import { IDLE_SECONDS } from '../domain/session';

/** SQL: whether the member of a session `s` is an admin. */
export const IS_ADMIN = `EXISTS (SELECT FROM admin_set_members a
        WHERE a.organization_id = s.organization_id AND a.member_id = s.member_id)`;

/** SQL: the wallet that signed in to a session `s` is still the one of its member `m`. */
export const SAME_WALLET = `(lower(m.wallet_address) = lower(s.wallet_address) AND m.wallet_kind = s.wallet_kind)`;
/** SQL: for how long a session may be unused. */
export const IDLE = `make_interval(secs => ${IDLE_SECONDS})`;
/** SQL: whether a session `s` of the member `m` is valid, whether or not its end is recorded. */
export const VALID = `(s.ended_at IS NULL AND s.expires_at > now() AND s.last_used_at > now() - ${IDLE}
      AND m.removed_at IS NULL AND m.type = 'user' AND ${SAME_WALLET})`;
