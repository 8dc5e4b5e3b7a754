// Ends the parts of the embedded stack when the process that started them is gone, however it went.
//
// The parent holds the other end of this process's stdin and writes one JSON line per change:
// {"add": pid, "signal": "SIGINT", "limitMs": 5000} or {"remove": pid}. When the pipe closes (also after a
// kill -9 of the parent) every part that is still listed gets its signal, and SIGKILL after its limit.
import { createInterface } from 'node:readline';

const parts = new Map();

// The parent's terminal signals are the parent's business.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function send(pid, signal) {
  // Each part leads its own process group; the group may hold children of the part.
  for (const target of signal === 'SIGKILL' ? [-pid, pid] : [pid]) {
    try {
      process.kill(target, signal);
    } catch {
      // already gone
    }
  }
}

async function endAll() {
  const startedAt = Date.now();
  for (const [pid, { signal }] of parts) send(pid, signal);
  while (parts.size > 0) {
    for (const [pid, { limitMs }] of parts) {
      if (!alive(pid)) parts.delete(pid);
      else if (Date.now() - startedAt > limitMs) send(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  process.exit(0);
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (message.remove !== undefined) parts.delete(message.remove);
  else parts.set(message.add, { signal: message.signal, limitMs: message.limitMs });
});
lines.on('close', endAll);
