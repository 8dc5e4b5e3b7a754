import { Context } from '@temporalio/activity';
import type { BackfillProgress } from '../src/db/movementScans';
import type { MovementScanner } from '../src/movements/scanner';

/** Readings of one activity: then its workflow shows how far it is. */
const READINGS = 20;

/** The activities that read the movements of the past. */
export function createMovementActivities(scanners: ReadonlyMap<number, MovementScanner>) {
  return {
    /** Reads a part of the past of accounts on a network. What is read is stored: a repeated call goes on from there. */
    async backfillMovements({ networkId }: { networkId: number }): Promise<BackfillProgress | null> {
      const scanner = scanners.get(networkId);
      if (!scanner) return null;
      for (let count = 0; count < READINGS; count += 1) {
        if (!(await scanner.readPast())) return null;
        Context.current().heartbeat();
      }
      return scanner.progress();
    },
  };
}

export type MovementActivities = ReturnType<typeof createMovementActivities>;
