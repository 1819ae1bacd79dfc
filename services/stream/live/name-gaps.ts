import type { StreamMetrics } from '../metrics.ts'
import type { Connection } from '../sockets/connection.ts'
import { messages, type SymbolGap } from '../sockets/protocol.ts'

/** Tells a socket what it may have missed, and counts it. */
export function nameGaps(
  connection: Connection,
  gaps: readonly SymbolGap[],
  metrics: Pick<StreamMetrics, 'gaps'>,
): void {
  metrics.gaps.inc(gaps.length)
  connection.send(messages.gap(gaps))
}
