import { Context } from '@temporalio/activity';
import type { BackfillProgress } from '../src/db/movementScans';
import type { MovementScanner } from '../src/movements/scanner';

/** Readings of one activity: then its workflow shows how far it is. */
const READINGS = 20;

/** What reads the movements of each network, by its id. */
export type Scanners = ReadonlyMap<number, MovementScanner>;

/** Reads a part of the past of accounts on a network. What is read is stored: a repeated call goes on from there. */
export async function backfillMovements(
  scanners: Scanners,
  { networkId }: { readonly networkId: number },
): Promise<BackfillProgress | null> {
  const scanner = scanners.get(networkId);
  if (!scanner) return null;
  for (let count = 0; count < READINGS; count += 1) {
    if (!(await scanner.readPast())) return null;
    Context.current().heartbeat();
  }
  return scanner.progress();
}
